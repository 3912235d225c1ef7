//! The event engine on dynamic objects: its answers are those of the semantics.
//!
//! Random threads make objects, fill them before or after others can see them, link them, follow
//! links, compare pointers, free objects and use them afterwards. Pointers point to the beginnings of
//! objects, numbers are in their first four bytes and links from byte 8 on, so that the numbers
//! of objects are opaque and the engine takes the programs; programs that observe numbers must be refused.
//! The concrete semantics, which gives new objects the lowest free numbers, is the judge.
//!
//! `MOVER_PROGRAMS` sets how many programs are tried, `MOVER_SEED` where to start.

use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, Task};
use mover_fuzz::ir::judge::judge;
use mover_fuzz::ir::memory::{dropping_program, racy_program};
use mover_fuzz::random::Random;
use mover_fuzz::{programs, setting};
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::print::print_program;
use mover_ir::program::*;
use mover_symbolic::{SymbolicOptions, Token};

const POINTER: Ty = Ty::unsigned(64);
const NUMBER: Ty = Ty::unsigned(32);
/// Locals: two pointers and a number. Globals: the same.
const V: u32 = 2;

fn local(id: u32) -> Place {
    let ty = if id == V { NUMBER } else { POINTER };
    Place::scalar(VariableRef::Local(VariableId(id)), ty)
}

fn global(id: u32) -> Place {
    let ty = if id == V { NUMBER } else { POINTER };
    Place::scalar(VariableRef::Global(VariableId(id)), ty)
}

fn assign(place: Place, value: Expr) -> Effect {
    Effect::Assign { place, value }
}

fn link_of(pointer: &Expr) -> Expr {
    Expr::binary(BinaryOp::Add, pointer.clone(), Expr::constant(8, 64))
}

fn equal(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, a, b)
}

/// One thread, statement by statement.
struct Thread<'r> {
    random: &'r mut Random,
    locations: Vec<Location>,
}

impl Thread<'_> {
    /// An edge from the last location; to the error if there is no target.
    fn edge(&mut self, guard: Expr, effects: Vec<Effect>, target: u32) {
        let last = self.locations.len() - 1;
        self.locations[last]
            .edges
            .push(Edge::new(guard, effects, target, ""));
    }

    /// A step to a new location, possible under a condition; there may be others beside it.
    fn then(&mut self, guard: Expr, effects: Vec<Effect>) {
        let next = self.locations.len() as u32;
        self.edge(guard, effects, next);
        self.locations.push(Location::default());
    }

    fn pointer(&mut self) -> Place {
        let id = self.random.below(2) as u32;
        local(id)
    }

    fn number(&mut self) -> Expr {
        Expr::constant(self.random.below(3) as i64, 32)
    }

    fn statement(&mut self) {
        let place = self.pointer();
        let pointer = Expr::Read(place.clone());
        let shared = global(self.random.below(2) as u32);
        match self.random.below(13) {
            0..=2 => {
                let site = SiteId(self.random.below(2) as u32);
                let make = Effect::Allocate {
                    site,
                    reuse: 0,
                    size: Expr::constant(16, 64),
                    result: place,
                };
                self.then(Expr::TRUE, vec![make]);
            }
            3 | 4 => {
                let value = self.number();
                let address = pointer;
                self.then(Expr::TRUE, vec![Effect::Store { address, value }]);
            }
            5 => {
                let value = Expr::Read(self.pointer());
                let address = link_of(&pointer);
                self.then(Expr::TRUE, vec![Effect::Store { address, value }]);
            }
            6 | 7 => self.then(Expr::TRUE, vec![assign(shared, pointer)]),
            8 => self.then(Expr::TRUE, vec![assign(place, Expr::Read(shared))]),
            9 => {
                let next = Expr::load(link_of(&pointer), POINTER);
                self.then(Expr::TRUE, vec![assign(place, next)]);
            }
            10 => {
                let address = pointer;
                self.then(Expr::TRUE, vec![Effect::Free { address }]);
            }
            11 => {
                // Compare and swap.
                let same = equal(Expr::Read(shared.clone()), pointer.clone());
                let next = self.locations.len() as u32;
                let other = Expr::Read(self.pointer());
                self.edge(same.clone().negate(), Vec::new(), next);
                self.then(same, vec![assign(shared, other)]);
            }
            _ => {
                // What is there, if something is, or whether it lives.
                let none = equal(pointer.clone(), Expr::constant(0, 64));
                let holds = match self.random.one_in(2) {
                    true => {
                        let value = self.number();
                        let claim = equal(Expr::load(pointer, NUMBER), value);
                        if self.random.one_in(2) {
                            claim
                        } else {
                            claim.negate()
                        }
                    }
                    false => {
                        let size = Expr::ObjectSize(Box::new(pointer));
                        Expr::binary(BinaryOp::ULt, Expr::constant(3, 64), size)
                    }
                };
                let next = self.locations.len() as u32;
                self.edge(none.clone(), Vec::new(), next);
                let fails = none.clone().negate().and(holds.clone().negate());
                self.edge(fails, Vec::new(), u32::MAX);
                self.then(none.negate().and(holds), Vec::new());
            }
        }
    }
}

fn random_program(seed: u64) -> Program {
    let mut random = Random(seed ^ 0x4EA9);
    let width = random.pick(&[8, 32, 64]);
    let site = |name: &str| AllocationSite::heap(name, Ty::unsigned(width));
    let mut program = Program {
        info: ProgramInfo::named(format!("heap {seed}")),
        globals: vec![
            Variable::scalar("gp", POINTER),
            Variable::scalar("gq", POINTER),
            Variable::scalar("gv", NUMBER),
        ],
        sites: vec![site("s"), site("t")],
        pointers_stay: true,
        max_threads: 3,
        ..Program::default()
    };
    for number in 0..2 + random.below(2) as u32 {
        let count = 3 + random.below(5);
        let mut thread = Thread {
            random: &mut random,
            locations: vec![Location::default()],
        };
        for _ in 0..count {
            thread.statement();
        }
        let mut locations = thread.locations;
        let error = locations.len() as u32;
        for edge in locations.iter_mut().flat_map(|l| &mut l.edges) {
            if edge.target == LocationId(u32::MAX) {
                edge.target = LocationId(error);
            }
        }
        if let Some(last) = locations.last_mut() {
            last.valid_end = true;
        }
        locations.push(Location::failure("found", None));
        program.templates.push(Template {
            name: format!("t{number}"),
            locals: vec![
                Variable::scalar("p", POINTER),
                Variable::scalar("q", POINTER),
                Variable::scalar("v", NUMBER),
            ],
            locations,
            ..Template::default()
        });
        program.initial.push(Instance::new(number, Vec::new()));
    }
    program
}

/// Whether there is a violation; nothing if the question is left open.
fn ask(program: &Program, patience: Duration) -> Option<bool> {
    let task = Task::unchanged(program.clone(), vec![Property::UnreachCall]);
    let engine = Token {
        options: SymbolicOptions {
            depth: Some(4),
            ..SymbolicOptions::default()
        },
        certify: true,
    };
    let control = Control::unlimited().within(patience);
    match engine.run(&task, &control, &mut |_| {}) {
        Ok(outcome) => match outcome.conclusion {
            Conclusion::Unsafe(_) => Some(true),
            Conclusion::Safe { up_to } if up_to.is_empty() => Some(false),
            _ => None,
        },
        Err(reason) => panic!("{}: {reason}", print_program(program)),
    }
}

fn compare(count: u64, generate: impl Fn(u64) -> Program) -> (u64, u64, u64) {
    let first = setting("MOVER_SEED", 1);
    let (mut safe, mut violated, mut open) = (0, 0, 0);
    for seed in first..first + programs(count) {
        let program = generate(seed);
        let Some(judgement) = judge(&program).filter(|judgement| judgement.stored < 3000) else {
            continue;
        };
        match ask(&program, Duration::from_secs(2)) {
            None => open += 1,
            Some(said) => {
                assert_eq!(
                    said,
                    judgement.error,
                    "seed {seed}\n{}",
                    print_program(&program)
                );
                *(if said { &mut violated } else { &mut safe }) += 1;
            }
        }
    }
    println!("{safe} safe, {violated} unsafe, {open} open");
    (safe, violated, open)
}

#[test]
fn random_heaps() {
    let (safe, violated, open) = compare(1500, random_program);
    assert!(safe > 500 && violated > 40, "{safe} {violated} {open}");
}

/// Objects that are made, published and used in the way of races.
#[test]
fn random_races() {
    compare(400, racy_program);
}

/// A program that observes which number an object has is not taken.
#[test]
fn observed_numbers_are_refused() {
    assert_eq!(ask(&dropping_program(), Duration::from_secs(60)), None);
}

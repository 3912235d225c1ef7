//! Edges that are said to be impossible are never taken, by exhaustive search of random programs.
//!
//! The programs are what a front end makes of recursive mutexes: threads that lock and unlock one or
//! two of them along random control flow, with all cases of the primitives, set and ask for local
//! variables, exit while they hold a mutex or not, and start others that get their numbers.

use std::collections::HashSet;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::impossible::{impossible_edges, remove_edges};
use mover_ir::program::{
    Edge, Effect, Instance, Location, LocationId, Program, Template, TemplateId, Variable,
    VariableId,
};
use mover_ir::semantics::Machine;
use mover_ir::sync::{SyncAction, SyncKind, SyncOp, mark};
use mover_ir::validate::validate;

/// Numbers as good as random ones (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

const WORD: Ty = Ty {
    width: 32,
    signed: false,
};

fn global(number: u32) -> Place {
    Place::scalar(VariableRef::Global(VariableId(number)), WORD)
}

fn local() -> Place {
    Place::scalar(VariableRef::Local(VariableId(0)), WORD)
}

fn number(value: i64) -> Expr {
    Expr::constant(value, 32)
}

fn is(place: &Place, value: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Read(place.clone()), value)
}

fn edge(guard: Expr, writes: Vec<(Place, Expr)>, target: u64) -> Edge {
    let assign = |(place, value)| Effect::Assign { place, value };
    let effects = writes.into_iter().map(assign).collect();
    Edge::new(guard, effects, target as u32, "")
}

/// An operation on the mutex whose owner and count are these cells.
fn operation(action: SyncAction, guard: Expr, write: (Place, Expr), first: u32, to: u64) -> Edge {
    Edge {
        sync: vec![SyncOp {
            kind: SyncKind::Mutex,
            action,
            cell: Expr::Read(global(first)),
            count: Some(Expr::Read(global(first + 1))),
        }],
        ..edge(guard, vec![write], to)
    }
}

fn lock(first: u32, to: u64) -> Vec<Edge> {
    let (owner, count) = (global(first), global(first + 1));
    let more = Expr::binary(BinaryOp::Add, Expr::Read(count.clone()), number(1));
    let (free, mine) = (is(&owner, number(0)), is(&owner, mark()));
    vec![
        operation(SyncAction::Acquire, free, (owner, mark()), first, to),
        operation(SyncAction::AcquireAgain, mine, (count, more), first, to),
    ]
}

fn unlock(first: u32, to: u64, random: &mut Random) -> Vec<Edge> {
    let (owner, count) = (global(first), global(first + 1));
    let fewer = Expr::binary(BinaryOp::Add, Expr::Read(count.clone()), number(-1));
    let (mine, last) = (is(&owner, mark()), is(&count, number(0)));
    let once = mine.clone().and(last.clone().negate());
    // Now and then a release that asks for less than it should, or nobody's at all.
    let releases = match random.below(12) {
        0 => mine.clone(),
        1 => last,
        _ => mine.clone().and(last),
    };
    vec![
        operation(SyncAction::Release, releases, (owner, number(0)), first, to),
        operation(SyncAction::ReleaseOnce, once, (count, fewer), first, to),
        edge(mine.negate(), Vec::new(), to),
    ]
}

fn program(random: &mut Random) -> Program {
    let scalar = |name: &str| Variable::scalar(name, WORD);
    let names = ["a", "a count", "b", "b count", "kind"];
    let mut templates = Vec::new();
    for template in 0..2 {
        let size = 3 + random.below(4);
        let mut locations = Vec::new();
        for here in 0..size {
            let mut edges = Vec::new();
            for _ in 0..=random.below(2) {
                // Mostly onwards, sometimes back.
                let to = match random.below(5) {
                    0 => random.below(size),
                    _ => (here + 1).min(size - 1),
                };
                let first = 2 * random.below(2) as u32;
                edges.extend(match random.below(10) {
                    0..=2 => lock(first, to),
                    3..=5 => unlock(first, to, random),
                    6 => vec![edge(
                        Expr::TRUE,
                        vec![(local(), number(random.below(3) as i64))],
                        to,
                    )],
                    7 => {
                        let asked = is(&local(), number(random.below(3) as i64));
                        vec![
                            edge(asked.clone(), Vec::new(), to),
                            edge(asked.negate(), Vec::new(), here),
                        ]
                    }
                    8 if template == 0 && random.below(2) == 0 => {
                        vec![edge(
                            Expr::TRUE,
                            vec![(global(4), number(random.below(2) as i64))],
                            to,
                        )]
                    }
                    8 => vec![edge(is(&global(4), number(1)), Vec::new(), to)],
                    _ if template == 0 => {
                        let mut starts = edge(Expr::TRUE, Vec::new(), to);
                        starts.effects.push(Effect::Spawn {
                            template: TemplateId(1),
                            args: Vec::new(),
                            priority: 1,
                            result: None,
                        });
                        vec![starts]
                    }
                    _ => {
                        let mut ends = edge(Expr::TRUE, Vec::new(), to);
                        ends.effects.push(Effect::Exit);
                        vec![ends]
                    }
                });
            }
            locations.push(Location::with_edges(edges));
        }
        let mut made = Template::new(format!("t{template}"), vec![scalar("l")], locations);
        made.entry = LocationId(0);
        templates.push(made);
    }
    Program {
        globals: names.iter().map(|name| scalar(name)).collect(),
        templates,
        initial: match random.below(4) {
            0 => vec![Instance::new(0, Vec::new()), Instance::new(1, Vec::new())],
            _ => vec![Instance::new(0, Vec::new())],
        },
        max_threads: 3,
        ..Program::default()
    }
}

#[test]
fn impossible_edges_are_never_taken() {
    let (mut found, mut taken, mut complete) = (0, 0, 0);
    for seed in 1..=1500 {
        let mut random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let mut program = program(&mut random);
        validate(&program).expect("a well-formed program");
        let flags = impossible_edges(&program);
        found += flags
            .iter()
            .flatten()
            .flatten()
            .filter(|flag| **flag)
            .count();
        let machine = Machine::new(&program);
        let mut seen = HashSet::from([machine.initial()]);
        let mut work = vec![machine.initial()];
        while let Some(state) = work.pop()
            && seen.len() < 3000
        {
            for (step, next) in machine.successors(&state) {
                let thread = state.threads[step.by.thread].as_ref().expect("it is there");
                let (template, location) = (thread.template.index(), thread.location.index());
                let is_flagged = flags[template][location][step.by.edge];
                assert!(
                    !is_flagged,
                    "seed {seed}: {template} {location} {}",
                    step.by.edge
                );
                taken += 1;
                if seen.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
        complete += usize::from(seen.len() < 3000);
        remove_edges(&mut program, &flags);
        validate(&program).expect("still well-formed");
    }
    // The programs are worth the search. In many of them counts grow without end.
    assert!(
        found > 1000 && taken > 100_000 && complete > 500,
        "{found} {taken} {complete}"
    );
}

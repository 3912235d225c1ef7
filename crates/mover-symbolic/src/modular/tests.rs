//! The wrong variants of such proofs, each with the smallest program that shows it; mutations of
//! the search that the certificate must notice; and random programs, judged by the concrete
//! semantics with two, three and four created threads.

use std::collections::HashSet;
use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, EngineError, Proof, Task};
use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, Ty, VariableRef};
use mover_ir::program::{
    Edge, Effect, Instance, Location, LocationId, Program, Property, Template, TemplateId,
    Variable, VariableId,
};
use mover_ir::semantics::Machine;
use mover_reduce::{Conditions, Heuristics, Reduction};

use super::certificate;
use super::rules::Rules;
use super::search::{Found, ModularSearch};
use super::views::Views;
use crate::blocks::Blocks;
use crate::layout::Bounds;
use crate::outcome::Question;
use crate::{Modular, SymbolicOptions};

/// The shared variables: numbers of two bits, a gate, and owners.
const X: u32 = 0;
const Y: u32 = 1;
const G: u32 = 2;
const M: u32 = 3;
const N: u32 = 4;
const OWN: u32 = 5;

/// A statement of a thread; it goes on to the next one.
#[derive(Clone, Copy, Debug)]
enum Do {
    Assume(u32, u64),
    AssertIs(u32, u64),
    AssertNot(u32, u64),
    Set(u32, u64),
    Add(u32),
    /// From, to; blocked otherwise.
    Cas(u32, u64, u64),
    Take(u32),
    Release(u32),
    Own,
    /// Skips the next statement if `OWN` is this thread.
    SkipIfOwn,
    /// Skips the next statement, or not.
    Maybe,
    ToLocal(u32),
    FromLocal(u32),
}

const NUMBER: Ty = Ty {
    width: 2,
    signed: false,
};
const NAME: Ty = Ty {
    width: 16,
    signed: false,
};

fn ty(variable: u32) -> Ty {
    if variable >= M { NAME } else { NUMBER }
}

fn place(variable: u32) -> Place {
    Place::scalar(VariableRef::Global(VariableId(variable)), ty(variable))
}

fn local() -> Place {
    Place::scalar(VariableRef::Local(VariableId(0)), NUMBER)
}

fn is(variable: u32, value: u64, op: BinaryOp) -> Expr {
    let value = Expr::constant(value as i64, ty(variable).width);
    Expr::binary(op, Expr::Read(place(variable)), value)
}

fn me() -> Expr {
    let number = Expr::binary(
        BinaryOp::Add,
        Expr::ThreadId,
        Expr::constant(1, INDEX_WIDTH),
    );
    Expr::Resize {
        arg: Box::new(number),
        width: NAME.width,
        signed: false,
    }
}

fn set(place: Place, value: Expr) -> Vec<Effect> {
    vec![Effect::Assign { place, value }]
}

fn locations(statements: &[Do]) -> Vec<Location> {
    let end = statements.len() as u32;
    let failed = end + 1;
    let mut all: Vec<Location> = Vec::new();
    for (number, &statement) in statements.iter().enumerate() {
        let next = number as u32 + 1;
        let after = (next + 1).min(end);
        let edge = |guard, effects, to| Edge::new(guard, effects, to, format!("{statement:?}"));
        let go = |guard, effects| vec![edge(guard, effects, next)];
        let number = |value: u64| Expr::constant(value as i64, NUMBER.width);
        let edges = match statement {
            Do::Assume(x, value) => go(is(x, value, BinaryOp::Eq), Vec::new()),
            Do::AssertIs(x, value) => vec![
                edge(is(x, value, BinaryOp::Eq), Vec::new(), next),
                edge(is(x, value, BinaryOp::Ne), Vec::new(), failed),
            ],
            Do::AssertNot(x, value) => vec![
                edge(is(x, value, BinaryOp::Ne), Vec::new(), next),
                edge(is(x, value, BinaryOp::Eq), Vec::new(), failed),
            ],
            Do::Set(x, value) => go(Expr::TRUE, set(place(x), number(value))),
            Do::Add(x) => {
                let more = Expr::binary(BinaryOp::Add, Expr::Read(place(x)), number(1));
                go(Expr::TRUE, set(place(x), more))
            }
            Do::Cas(x, from, to) => go(is(x, from, BinaryOp::Eq), set(place(x), number(to))),
            Do::Take(m) => go(is(m, 0, BinaryOp::Eq), set(place(m), me())),
            Do::Release(m) => go(Expr::TRUE, set(place(m), Expr::constant(0, NAME.width))),
            Do::Own => go(Expr::TRUE, set(place(OWN), me())),
            Do::SkipIfOwn => {
                let mine = |op| Expr::binary(op, Expr::Read(place(OWN)), me());
                vec![
                    edge(mine(BinaryOp::Eq), Vec::new(), after),
                    edge(mine(BinaryOp::Ne), Vec::new(), next),
                ]
            }
            Do::Maybe => vec![
                edge(Expr::TRUE, Vec::new(), next),
                edge(Expr::TRUE, Vec::new(), after),
            ],
            Do::ToLocal(x) => go(Expr::TRUE, set(local(), Expr::Read(place(x)))),
            Do::FromLocal(x) => go(Expr::TRUE, set(place(x), Expr::Read(local()))),
        };
        all.push(Location::with_edges(edges));
    }
    let mut gone =
        Location::with_edges(vec![Edge::new(Expr::TRUE, vec![Effect::Exit], end, "end")]);
    gone.valid_end = true;
    all.push(gone);
    all.push(Location::failure("an assertion fails", None));
    all
}

/// A program whose first thread creates threads of all templates in a loop, as many as it likes,
/// and then does something.
fn program(threads: &[&[Do]], after: &[Do]) -> Program {
    let mut templates: Vec<Template> = Vec::new();
    let mut main = locations(after);
    // The loop is before the first statement.
    for location in &mut main {
        for edge in &mut location.edges {
            edge.target = LocationId(edge.target.0 + 1);
        }
    }
    let mut head = vec![Edge::new(Expr::TRUE, Vec::new(), 1, "go on")];
    for number in 0..threads.len() {
        let spawn = Effect::Spawn {
            template: TemplateId(number as u32 + 1),
            args: Vec::new(),
            priority: 1,
            result: None,
        };
        head.push(Edge::new(Expr::TRUE, vec![spawn], 0, "create"));
    }
    main.insert(0, Location::with_edges(head));
    let locals = || vec![Variable::scalar("l", NUMBER)];
    templates.push(Template::new("main", locals(), main));
    for (number, statements) in threads.iter().enumerate() {
        let name = format!("t{number}");
        templates.push(Template::new(name, locals(), locations(statements)));
    }
    let names = ["x", "y", "g", "m", "n", "own"];
    Program {
        globals: (0..6)
            .map(|number| Variable::scalar(names[number as usize], ty(number)))
            .collect(),
        templates,
        initial: vec![Instance {
            template: TemplateId(0),
            args: Vec::new(),
            priority: 1,
        }],
        max_threads: 1_000,
        ..Program::default()
    }
}

/// Whether some run with so many created threads at a time fails; none if there are too many states.
fn fails_with(program: &Program, created: u32) -> Option<bool> {
    let few = Program {
        max_threads: 1 + created,
        ..program.clone()
    };
    let machine = Machine::new(&few);
    let mut seen = HashSet::from([machine.initial()]);
    let mut open: Vec<_> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        if machine.error(&state).is_some() {
            return Some(true);
        }
        if seen.len() > 40_000 {
            return None;
        }
        for (_, next) in machine.successors(&state) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Some(false)
}

/// Whether the engine proves the program.
fn proves(program: &Program, reduction: Reduction, patience: Duration) -> bool {
    let task = Task::new(program.clone(), vec![Property::UnreachCall]);
    let engine = Modular {
        reduction,
        ..Modular::default()
    };
    let control = Control::unlimited().within(patience);
    match engine.run(&task, &control, &mut |_| {}) {
        Ok(outcome) => matches!(outcome.conclusion, Conclusion::Safe { .. }),
        // A name that nobody takes is no owner.
        Err(EngineError::Unsupported(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

const GATE: Do = Do::Assume(G, 1);
const OPEN: &[Do] = &[Do::Set(G, 1)];
const LONG: Duration = Duration::from_secs(60);
/// Whatever would be wrongly proved would be proved soon.
const SHORT: Duration = Duration::from_secs(2);

/// Each is the smallest program that some wrong variant of the proof takes for safe.
fn unsafe_programs() -> Vec<(&'static str, Program)> {
    use Do::*;
    vec![
        (
            "a third thread is needed",
            program(&[&[GATE, Add(X), AssertNot(X, 3)]], OPEN),
        ),
        (
            "the first thread moves beside the others",
            program(&[&[AssertIs(X, 0)]], &[Set(X, 1), Set(X, 0)]),
        ),
        (
            "two threads are in the same state",
            program(&[&[GATE, Add(X), AssertNot(X, 2)]], OPEN),
        ),
        (
            "another template interferes",
            program(
                &[
                    &[GATE, Cas(X, 0, 1)],
                    &[GATE, Cas(X, 1, 2), AssertNot(X, 2)],
                ],
                OPEN,
            ),
        ),
        (
            "the owner is another thread",
            program(
                &[
                    &[GATE, Take(M), Set(X, 1), Set(X, 0), Release(M)],
                    &[GATE, AssertIs(X, 0)],
                ],
                OPEN,
            ),
        ),
        (
            "another owner is not nobody",
            program(
                &[
                    &[GATE, Take(M), Assume(X, 0), Set(X, 1), Set(X, 2)],
                    &[GATE, Assume(X, 1), AssertNot(X, 2)],
                ],
                OPEN,
            ),
        ),
        (
            "the owner is the one who interferes",
            program(
                &[&[GATE, Take(M), Add(X), Release(M), AssertNot(X, 2)]],
                OPEN,
            ),
        ),
        (
            "the owner has ended",
            program(&[&[Take(M), Set(X, 1)], &[AssertIs(X, 0)]], &[]),
        ),
        (
            "two locks have two owners",
            program(
                &[
                    &[Take(M), Set(X, 1)],
                    &[Take(N), Assume(X, 1), Set(Y, 1)],
                    &[Assume(Y, 1), AssertIs(Y, 0)],
                ],
                &[],
            ),
        ),
        (
            "a new owner takes the name from the old one",
            program(&[&[Own, SkipIfOwn, Set(X, 1), AssertIs(X, 0)]], &[]),
        ),
        (
            "the first thread does not take the lock",
            program(
                &[&[Take(M), Set(X, 0), AssertIs(X, 0), Release(M)]],
                &[Set(X, 1)],
            ),
        ),
    ]
}

#[test]
fn no_wrong_variant_is_this_one() {
    for (what, program) in unsafe_programs() {
        let failing = (1..=4).find(|&created| fails_with(&program, created) == Some(true));
        assert!(failing.is_some(), "{what}: the program is not unsafe");
        for reduction in [Reduction::None, Reduction::Static] {
            assert!(!proves(&program, reduction, SHORT), "{what}, {reduction}");
        }
    }
}

#[test]
fn what_needs_one_or_two_threads_is_proved() {
    use Do::*;
    let cas_lock: &[Do] = &[
        Cas(X, 0, 1),
        Set(Y, 1),
        AssertIs(Y, 1),
        Set(Y, 0),
        Set(X, 0),
    ];
    let programs = [
        (
            "a lock",
            program(
                &[&[GATE, Take(M), Add(X), AssertIs(X, 1), Set(X, 0), Release(M)]],
                OPEN,
            ),
        ),
        ("a lock by compare and swap", program(&[cas_lock], &[])),
        (
            "a value that only grows to a limit",
            program(&[&[Cas(X, 0, 1)], &[Cas(X, 1, 2), AssertNot(X, 0)]], &[]),
        ),
        (
            "the first thread under the lock",
            program(
                &[&[Take(M), Set(X, 1), AssertIs(X, 1), Release(M)]],
                &[Take(M), Set(X, 2), Release(M)],
            ),
        ),
    ];
    for (what, program) in programs {
        assert_eq!(fails_with(&program, 2), Some(false), "{what}");
        assert!(proves(&program, Reduction::None, LONG), "{what}");
    }
}

/// Leaves one kind of step out of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Forget {
    Interference,
    Creation,
    Own,
    First,
}

/// What certification says of an invariant that a search found which forgot something.
fn forgetful(program: &Program, forget: Forget) -> Option<Result<bool, EngineError>> {
    let control = Control::unlimited().within(LONG);
    let options = SymbolicOptions::default();
    let question = Question {
        reduction: Reduction::None,
        heuristics: Heuristics::ALL,
        peephole: false,
        unfold: false,
        errors: true,
        deadlocks: false,
        bounds: options.bounds,
        depth: None,
        contexts: None,
        certify: true,
        check_answers: false,
        carry_over: false,
        limit: control.clone(),
    };
    let rules = Rules::new(program).expect("a program for this engine");
    let conditions = Conditions::new(program, Reduction::None, Heuristics::ALL, 0);
    let bounds = Bounds {
        threads: 3,
        may_grow: false,
        ..Bounds::default()
    };
    let blocks = Blocks::new(&conditions, bounds, false, control.clone()).expect("blocks");
    let make = || {
        Views::new(&blocks, &rules, &question, 1)
            .expect("views")
            .expect("no limit")
    };
    let mut views = make();
    let created = views.created();
    let forgotten = match forget {
        Forget::Interference => views.moves(created.end - 1),
        Forget::Own => views.moves(created.start),
        Forget::Creation => views.creates(),
        Forget::First => {
            let moves = views.moves(0);
            let creates = views.creates();
            let other = views.terms.not(creates);
            views.terms.and(moves, other)
        }
    };
    let rest = views.terms.not(forgotten);
    views.possible = views.terms.and(views.possible, rest);
    let found = ModularSearch::new(&mut views, true, &control).run(&mut |_| {});
    let Found::Invariant(excluded) = found else {
        return None;
    };
    let mut proof = Proof::default();
    Some(certificate::certify(
        &mut make(),
        &question,
        &excluded,
        &mut proof,
    ))
}

#[test]
fn certification_notices_what_a_search_forgot() {
    for forget in [
        Forget::Interference,
        Forget::Creation,
        Forget::Own,
        Forget::First,
    ] {
        let mut noticed = 0;
        for (what, program) in unsafe_programs() {
            match forgetful(&program, forget) {
                // The search found nothing in spite of what it forgot.
                None => {}
                Some(Ok(_)) => panic!("{what} is certified without {forget:?}"),
                Some(Err(_)) => noticed += 1,
            }
        }
        assert!(noticed > 0, "nothing was proved without {forget:?}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % count
    }

    fn statement(&mut self) -> Do {
        let x = self.below(2) as u32;
        let value = self.below(3);
        match self.below(13) {
            0 => Do::Assume(x, value),
            1 => Do::AssertNot(x, value),
            2 => Do::AssertIs(x, value),
            3 | 4 => Do::Set(x, value),
            5 => Do::Add(x),
            6 => Do::Cas(x, value, self.below(3)),
            7 => Do::Own,
            8 => Do::SkipIfOwn,
            9 => Do::Maybe,
            10 => Do::ToLocal(x),
            11 => Do::FromLocal(x),
            _ => Do::AssertNot(x, 3),
        }
    }

    fn thread(&mut self, is_gated: bool) -> Vec<Do> {
        let mut all = Vec::new();
        if is_gated {
            all.push(GATE);
        }
        let count = 1 + self.below(4);
        let lock = [M, N][self.below(2) as usize];
        let is_locked = self.below(2) == 0;
        if is_locked {
            all.push(Do::Take(lock));
        }
        for _ in 0..count {
            all.push(self.statement());
        }
        if is_locked && self.below(5) > 0 {
            all.push(Do::Release(lock));
        }
        if self.below(3) == 0 {
            all.push(self.statement());
        }
        all
    }
}

#[test]
fn random_programs_are_judged_by_the_semantics() {
    let count = if std::env::var_os("MOVER_LONG").is_some() {
        10_000
    } else {
        150
    };
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut proved, mut safe, mut failing) = (0, 0, 0);
    for number in 0..count {
        let is_gated = random.below(5) < 2;
        let threads: Vec<Vec<Do>> = (0..1 + random.below(2))
            .map(|_| random.thread(is_gated))
            .collect();
        let mut after: Vec<Do> = (0..random.below(3)).map(|_| random.statement()).collect();
        if is_gated {
            after.push(Do::Set(G, 1));
        }
        let threads: Vec<&[Do]> = threads.iter().map(|thread| &thread[..]).collect();
        let program = program(&threads, &after);
        let fails = (1..=4).any(|created| fails_with(&program, created) == Some(true));
        let reduction = [Reduction::None, Reduction::Static][number % 2];
        let patience = Duration::from_millis(400);
        let is_proved = proves(&program, reduction, patience);
        assert!(
            !(fails && is_proved),
            "program {number} is proved but fails: {threads:?}, then {after:?}"
        );
        failing += usize::from(fails);
        safe += usize::from(!fails);
        proved += usize::from(is_proved);
    }
    println!("{failing} fail, {safe} do not with 4 threads, {proved} of these are proved");
    assert!(failing * 5 > count, "too few programs fail");
    assert!(proved * 10 > safe, "too few programs are proved");
}

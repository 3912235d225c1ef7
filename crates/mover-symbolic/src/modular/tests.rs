//! The wrong variants of such proofs, each with the smallest program that shows it; mutations of
//! the search that the certificate must notice; and random programs, judged by the concrete
//! semantics with two, three and four created threads.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use mover_engine::{Conclusion, Control, EngineError, Proof, Task};
use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, Ty, VariableRef};
use mover_ir::program::{
    Edge, Effect, Instance, Location, LocationId, Program, Property, Template, TemplateId,
    Variable, VariableId,
};
use mover_ir::semantics::{Machine, State};
use mover_reduce::{Heuristics, Reduction, ReductionPlan};

use super::configurations::{Configurations, GiveUp};
use super::handles::without_handles;
use super::rules::{Refusal, Rules};
use super::search::{Found, ModularSearch};
use super::view_sets::{Follow, ViewSets};
use super::views::Views;
use super::{by_formulas, certificate};
use crate::SymbolicOptions;
use crate::blocks::Blocks;
use crate::layout::Bounds;
use crate::outcome::Question;

/// The shared variables: numbers of two bits, a gate, and owners.
pub(super) const X: u32 = 0;
pub(super) const Y: u32 = 1;
pub(super) const G: u32 = 2;
pub(super) const M: u32 = 3;
const N: u32 = 4;
const OWN: u32 = 5;

/// A statement of a thread; it goes on to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Do {
    Assume(u32, u64),
    AssertIs(u32, u64),
    AssertNot(u32, u64),
    Set(u32, u64),
    Add(u32),
    /// From, to; blocked otherwise.
    Cas(u32, u64, u64),
    Take(u32),
    Release(u32),
    /// More by one, as long as it is below this; blocked otherwise.
    Enter(u32, u64),
    Subtract(u32),
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
            Do::Enter(x, most) => {
                let more = Expr::binary(BinaryOp::Add, Expr::Read(place(x)), number(1));
                go(is(x, most, BinaryOp::ULt), set(place(x), more))
            }
            Do::Subtract(x) => {
                let less = Expr::binary(BinaryOp::Sub, Expr::Read(place(x)), number(1));
                go(Expr::TRUE, set(place(x), less))
            }
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
pub(super) fn program(threads: &[&[Do]], after: &[Do]) -> Program {
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
pub(super) fn fails_with(program: &Program, created: u32) -> Option<bool> {
    reaches_with(program, created, |machine, state| {
        machine.error(state).is_some()
    })
}

/// Whether some run with so many created threads at a time comes to such a state before an assertion
/// fails; none if there are too many states.
pub(super) fn reaches_with(
    program: &Program,
    created: u32,
    is_bad: impl Fn(&Machine, &State) -> bool,
) -> Option<bool> {
    let few = Program {
        max_threads: program.initial.len() as u32 + created,
        ..program.clone()
    };
    let machine = Machine::new(&few);
    let mut seen = HashSet::from([machine.initial()]);
    let mut open: Vec<_> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        if is_bad(&machine, &state) {
            return Some(true);
        }
        if machine.error(&state).is_some() {
            continue;
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

pub(super) fn question(reduction: Reduction, limit: Control) -> Question {
    Question {
        reduction,
        heuristics: Heuristics::ALL,
        cheaper: false,
        peephole: false,
        unfold: false,
        errors: true,
        deadlocks: false,
        bounds: SymbolicOptions::default().bounds,
        depth: None,
        contexts: None,
        certify: true,
        check_answers: false,
        carry_over: false,
        limit,
    }
}

/// Whether formulas prove the program.
fn proves(program: &Program, reduction: Reduction, patience: Duration) -> bool {
    let task = Task::new(program.clone(), vec![Property::UnreachCall]);
    let question = question(reduction, Control::unlimited().within(patience));
    // A name that nobody takes is no owner.
    let Ok(rules) = Rules::new(program) else {
        return false;
    };
    let started = Instant::now();
    match by_formulas(&task, &question, program, &rules, &mut |_| {}, started) {
        Ok(outcome) => matches!(outcome.conclusion, Conclusion::Safe { .. }),
        Err(error) => panic!("{error}"),
    }
}

/// What the views of so many threads say; none if there are too many or the program is refused. The
/// check must agree.
fn views_prove(program: &Program, width: usize, follow: Follow) -> Option<bool> {
    let rules = Rules::new(program).ok()?;
    let configurations = Configurations::new(program, &rules, true).expect("few owners");
    let mut sets = ViewSets::new(&configurations, width);
    match sets.close(follow, &Control::unlimited()) {
        Ok(()) => {}
        Err(GiveUp::Alarm) => return Some(false),
        Err(_) => return None,
    }
    match sets.check(&Control::unlimited()) {
        Ok(is_checked) => Some(is_checked),
        Err(what) if follow == Follow::ALL => panic!("the views fail their check: {what}"),
        Err(_) => None,
    }
}

const GATE: Do = Do::Assume(G, 1);
const OPEN: &[Do] = &[Do::Set(G, 1)];
const LONG: Duration = Duration::from_secs(60);
/// Whatever would be wrongly proved would be proved soon.
const SHORT: Duration = Duration::from_secs(2);

/// Each is the smallest program that some wrong variant of the proof takes for safe.
pub(super) fn unsafe_programs() -> Vec<(&'static str, Program)> {
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
            "the number of an owner that has ended comes back",
            program(&[&[Own], &[SkipIfOwn, Assume(G, 1), AssertNot(X, 0)]], &[]),
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
        for width in 1..=3 {
            let proved = views_prove(&program, width, Follow::ALL);
            assert_eq!(proved, Some(false), "{what}, {width} threads in a view");
        }
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
        let proved = views_prove(&program, 2, Follow::ALL);
        assert_eq!(proved, Some(true), "{what}");
        assert!(proves(&program, Reduction::None, LONG), "{what}");
    }
}

/// How many threads a view must have, as the notes on such proofs have it: a mutex has an owner, so
/// one is enough; where s threads may be inside together without an owner, s + 1 are needed.
#[test]
fn the_width_that_a_proof_needs() {
    use Do::*;
    let mutex: &[Do] = &[Take(M), Set(X, 1), AssertIs(X, 1), Set(X, 0), Release(M)];
    let by_hand: &[Do] = &[
        Cas(X, 0, 1),
        Set(Y, 1),
        AssertIs(Y, 1),
        Set(Y, 0),
        Set(X, 0),
    ];
    let two_inside: &[Do] = &[Enter(X, 2), AssertNot(X, 0), Subtract(X)];
    let three_inside: &[Do] = &[Enter(X, 3), AssertNot(X, 0), Subtract(X)];
    for (thread, needed) in [(mutex, 1), (by_hand, 2), (two_inside, 3)] {
        let program = program(&[thread], &[]);
        for width in 1..=3 {
            let proved = views_prove(&program, width, Follow::ALL);
            assert_eq!(proved, Some(width >= needed), "{thread:?}, {width}");
        }
    }
    let program = program(&[three_inside], &[]);
    assert_eq!(views_prove(&program, 3, Follow::ALL), Some(false));
}

/// A fixpoint that forgot something is no fixpoint.
#[test]
fn the_check_of_views_notices_what_was_forgotten() {
    let all = Follow::ALL;
    let forgetful = [
        Follow { own: false, ..all },
        Follow {
            fixed: false,
            ..all
        },
        Follow {
            creation: false,
            ..all
        },
        Follow {
            interference: false,
            ..all
        },
        Follow {
            twins: false,
            ..all
        },
    ];
    for follow in forgetful {
        let mut noticed = 0;
        for (what, program) in unsafe_programs() {
            for width in 1..=2 {
                let proved = views_prove(&program, width, follow);
                assert_ne!(proved, Some(true), "{what} is certified with {follow:?}");
                noticed += usize::from(proved.is_none());
            }
        }
        assert!(noticed > 0, "nothing was closed with {follow:?}");
    }
}

/// The number of a thread is no constant, also not that of a thread outside of a formula.
#[test]
fn programs_that_know_the_number_of_a_thread_are_refused() {
    let mut seventh = program(&[&[Do::Own]], &[]);
    let is_seventh = is(OWN, 7, BinaryOp::Ne);
    seventh.templates[1].locations[1].edges[0].guard = is_seventh;
    assert_eq!(Rules::new(&seventh).err(), Some(Refusal::ConstantNumber));
    let mut narrow = program(&[&[Do::Own]], &[]);
    let Effect::Assign { place, value } = &mut narrow.templates[1].locations[0].edges[0].effects[0]
    else {
        panic!("an assignment");
    };
    place.ty.width = 2;
    *value = Expr::Resize {
        arg: Box::new(Expr::ThreadId),
        width: 2,
        signed: false,
    };
    assert_eq!(Rules::new(&narrow).err(), Some(Refusal::ConstantNumber));
}

/// Without handles a program has all of its behaviour: a join may go on at once.
#[test]
fn conditions_over_handles_may_hold_and_may_fail() {
    let row = Place::element(
        VariableRef::Global(VariableId(X)),
        Expr::constant(1, INDEX_WIDTH),
        NUMBER,
    );
    let ended = Expr::binary(
        BinaryOp::Eq,
        Expr::Read(row.clone()),
        Expr::constant(3, NUMBER.width),
    );
    let waits = Expr::unary(mover_ir::expr::UnaryOp::Not, ended.clone());
    let mut joining = program(&[&[Do::Set(Y, 1)]], &[Do::AssertIs(Y, 0)]);
    joining.globals[X as usize].len = 4;
    joining.presence = Some(VariableId(X));
    joining.templates[0].locations[1].edges[0].guard = ended.and(is(Y, 0, BinaryOp::Eq));
    joining.templates[0].locations[1].edges[1].guard = waits;
    let made = without_handles(&joining).expect("a program without handles");
    let edges = &made.templates[0].locations[1].edges;
    assert_eq!(edges[0].guard, is(Y, 0, BinaryOp::Eq));
    assert_eq!(edges[1].guard, Expr::TRUE);
    assert_eq!(made.globals[X as usize].len, 1);
    joining.templates[0].locations[1].atomic = true;
    let refused = without_handles(&joining).err();
    assert!(
        matches!(refused, Some(Refusal::AtomicWait(_))),
        "{refused:?}"
    );
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
    let question = question(Reduction::None, control.clone());
    let rules = Rules::new(program).expect("a program for this engine");
    let plan = ReductionPlan::new(program, Reduction::None, Heuristics::ALL, 0);
    let bounds = Bounds {
        threads: 3,
        may_grow: false,
        ..Bounds::default()
    };
    let blocks = Blocks::new(&plan, bounds, false, control.clone()).expect("blocks");
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

pub(super) struct Random(pub(super) u64);

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
        match self.below(15) {
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
            12 => Do::Subtract(x),
            13 => Do::Enter(x, value),
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

/// A random program with threads in a loop, and what is in it.
pub(super) fn random_program(random: &mut Random) -> (Program, String) {
    let is_gated = random.below(5) < 2;
    let threads: Vec<Vec<Do>> = (0..1 + random.below(2))
        .map(|_| random.thread(is_gated))
        .collect();
    let mut after: Vec<Do> = (0..random.below(3)).map(|_| random.statement()).collect();
    if is_gated {
        after.push(Do::Set(G, 1));
    }
    let threads: Vec<&[Do]> = threads.iter().map(|thread| &thread[..]).collect();
    let text = format!("{threads:?}, then {after:?}");
    (program(&threads, &after), text)
}

/// How many random programs are tried: so many, or as many in a long run.
pub(super) fn count(usual: usize, long: usize) -> usize {
    let is_long = std::env::var_os("MOVER_LONG").is_some();
    if is_long { long } else { usual }
}

#[test]
fn formulas_about_random_programs_are_judged_by_the_semantics() {
    let count = count(40, 4_000);
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut proved, mut safe, mut failing) = (0, 0, 0);
    for number in 0..count {
        let (program, text) = random_program(&mut random);
        let fails = (1..=4).any(|created| fails_with(&program, created) == Some(true));
        let reduction = [Reduction::None, Reduction::Static][number % 2];
        let patience = Duration::from_millis(400);
        let is_proved = proves(&program, reduction, patience);
        assert!(
            !(fails && is_proved),
            "program {number} is proved but fails: {text}"
        );
        failing += usize::from(fails);
        safe += usize::from(!fails);
        proved += usize::from(is_proved);
    }
    println!("{failing} fail, {safe} do not with 4 threads, {proved} of these are proved");
    assert!(failing * 5 > count, "too few programs fail");
}

#[test]
fn views_of_random_programs_are_judged_by_the_semantics() {
    let count = count(150, 10_000);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut proved, mut safe, mut failing) = ([0; 3], 0, 0);
    for number in 0..count {
        let (program, text) = random_program(&mut random);
        let fails = (1..=4).any(|created| fails_with(&program, created) == Some(true));
        for width in 1..=3 {
            let is_proved = views_prove(&program, width, Follow::ALL) == Some(true);
            assert!(
                !(fails && is_proved),
                "program {number} is proved by views of {width} threads but fails: {text}"
            );
            proved[width - 1] += usize::from(is_proved);
        }
        failing += usize::from(fails);
        safe += usize::from(!fails);
    }
    println!("{failing} fail, {safe} do not with 4 threads, {proved:?} of these are proved");
    assert!(failing * 5 > count, "too few programs fail");
    assert!(proved[1] * 2 > safe, "too few programs are proved");
}

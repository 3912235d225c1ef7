//! Facts about small programs: for each kind one that holds and one that must not be found.

mod common;
mod pieces;

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::{Edge, Effect, Program, TemplateId, VariableId};
use mover_ir::validate::validate;
use mover_reduce::facts::access::{AccessTable, EdgeRef, Object, edges};
use mover_reduce::facts::access_exprs::Touches;
use mover_reduce::facts::future_accesses::Ahead;
use mover_reduce::facts::lock_rows::LockRows;
use mover_reduce::facts::owners::{Flaw, Owners};
use mover_reduce::facts::points_to::PointsTo;
use mover_reduce::facts::quiet_exits::quiet_ends;
use mover_reduce::facts::rw_locks::Mode;
use mover_reduce::facts::single_threaded_prefix::Alone;
use mover_reduce::facts::thread_bound::most_threads;
use mover_reduce::plan::movers::Mover;
use mover_reduce::{Movers, movers};

use common::{models, read};
use pieces::{cells, instance, step, thread};

fn movers_of(text: &str) -> Movers {
    movers(&read(text)).expect("there are movers")
}

/// A stored model, which the plans show as well.
fn stored(name: &str) -> Movers {
    let model = models().into_iter().find(|model| model.name == name);
    let model = model.unwrap_or_else(|| panic!("there is a model {name}"));
    movers(&model.program).unwrap_or_else(|why| panic!("{why}\n{}", model.text))
}

/// The only edge with the text that does not lead to an error.
fn edge(program: &Program, text: &str) -> EdgeRef {
    let is_it = |(at, edge): &(EdgeRef, &Edge)| {
        let target = program.templates[at.template].location(edge.target);
        edge.text == text && target.error.is_none()
    };
    let mut found = edges(program).filter(is_it);
    let (at, _) = found
        .next()
        .unwrap_or_else(|| panic!("there is an edge `{text}`"));
    assert!(found.next().is_none(), "there is one edge `{text}`");
    at
}

fn variable(program: &Program, name: &str) -> VariableId {
    let position = program.globals.iter().position(|known| known.name == name);
    VariableId(position.expect("there is the variable") as u32)
}

fn lock_names(movers: &Movers) -> BTreeSet<String> {
    let program = &movers.fused.program;
    let locks = movers.locks.locks.iter();
    locks.map(|lock| lock.name(program)).collect()
}

#[test]
fn a_lock_is_held_between_taking_and_giving_back() {
    let movers = stored("plain_lock");
    let program = &movers.fused.program;
    assert_eq!(lock_names(&movers), BTreeSet::from(["m".to_string()]));
    let lock = Object::Cell(variable(program, "m"), 0);
    let taking = edge(program, "!m; m = true");
    let inside = edge(program, "x++");
    let giving = edge(program, "m = false");
    assert!(movers.locks.takes(taking).contains(&lock));
    assert!(movers.locks.releases(giving).contains(&lock));
    assert!(!movers.locks.held(0, taking.location).contains(&lock));
    assert!(movers.locks.held(0, inside.location).contains(&lock));
    assert!(movers.locks.held(0, giving.location).contains(&lock));
}

#[test]
fn what_looks_like_a_lock_and_is_none() {
    for (name, text) in [
        (
            "another thread releases it",
            "bool m; active proctype P() { atomic { !m -> m = true } }
             active proctype Q() { m = false }",
        ),
        (
            "it is not free at the start",
            "bool m = true; active [2] proctype P() { atomic { !m -> m = true }; m = false }",
        ),
        (
            "it is taken in two steps",
            "bool m; active [2] proctype P() { !m; m = true; m = false }",
        ),
        (
            "it is given back on a way on which it was not taken",
            "bool m; active [2] proctype P() {
               if :: atomic { !m -> m = true } :: true fi; m = false }",
        ),
    ] {
        assert_eq!(lock_names(&movers_of(text)), BTreeSet::new(), "{name}");
    }
}

#[test]
fn a_lock_that_others_observe_protects_but_does_not_move() {
    for text in [
        "bool m; byte x; byte y; active proctype P() { atomic { !m -> m = true }; y++; m = false }
         active proctype Q() { x = m }",
        "bool m; byte y; active [2] proctype P() {
           if :: atomic { !m -> m = true }; y++; m = false :: else fi }",
    ] {
        let movers = movers_of(text);
        assert_eq!(lock_names(&movers), BTreeSet::from(["m".to_string()]));
        let lock = *movers.locks.locks.first().expect("one lock");
        assert!(movers.locks.is_observed(lock), "{text}");
        for (at, mover) in all_movers(&movers) {
            let handles =
                movers.locks.takes(at).contains(&lock) || movers.locks.releases(at).contains(&lock);
            if handles {
                assert!(!mover.left && !mover.right, "{text}");
            } else if movers.locks.held(at.template, at.location).contains(&lock) {
                assert!(mover.left && mover.right, "{text}");
            }
        }
    }
}

fn all_movers(movers: &Movers) -> impl Iterator<Item = (EdgeRef, Mover)> + '_ {
    let edges = movers.table.iter().map(|(at, _)| at);
    edges.map(|at| (at, movers.edges[at.template][at.location][at.edge]))
}

const TWO_CELLS: &str = "bool w; byte r; byte x;
active [2] proctype Reader() { byte l; atomic { !w -> r++ }; l = x; r-- }
active proctype Writer() { atomic { !w && r == 0 -> w = true }; x = 1; w = false }";

#[test]
fn reader_writer_locks_of_one_cell_and_of_two() {
    for movers in [stored("rw_lock"), movers_of(TWO_CELLS)] {
        let program = &movers.fused.program;
        let [lock] = &movers.locks.rw[..] else {
            panic!("there is one lock")
        };
        let (reading, writing) = (edge(program, "l = x"), edge(program, "x = 1"));
        let held = |at: EdgeRef| lock.held(at.template, at.location);
        assert_eq!(held(reading), Some(Mode::Reads));
        assert_eq!(held(writing), Some(Mode::Writes));
        assert_eq!(lock.held(reading.template, 0), None);
        // Having it to read is enough for reading, not for writing.
        let cell = Object::Cell(lock.cells[0], 0);
        assert!(movers.locks.held_during(reading, false).contains(&cell));
        assert!(!movers.locks.held_during(reading, true).contains(&cell));
        assert!(movers.locks.held_during(writing, true).contains(&cell));
    }
}

#[test]
fn what_looks_like_a_reader_writer_lock_and_is_none() {
    for (name, text) in [
        (
            "a reader becomes a writer",
            "short rw; active [2] proctype P() {
               atomic { rw >= 0 -> rw++ }; atomic { rw == 1 -> rw = -1 }; rw = 0 }",
        ),
        (
            "a thread ends while it reads",
            "short rw; active [2] proctype P() { atomic { rw >= 0 -> rw++ } }
             active proctype Q() { atomic { rw == 0 -> rw = -1 }; rw = 0 }",
        ),
        (
            "the writer does not wait for readers",
            "bool w; byte r; active [2] proctype P() { atomic { !w -> r++ }; r-- }
             active proctype Q() { atomic { !w -> w = true }; w = false }",
        ),
        (
            "the number of readers is looked at from outside",
            "short rw; byte x; active [2] proctype P() { atomic { rw >= 0 -> rw++ }; rw-- }
             active proctype Q() { atomic { rw == 0 -> rw = -1 }; rw = 0 }
             active proctype R() { x = rw }",
        ),
    ] {
        assert!(movers_of(text).locks.rw.is_empty(), "{name}");
    }
}

fn rows_of(program: &Program) -> LockRows {
    LockRows::find(program, &Alone::find(program), |_| false)
}

#[test]
fn a_row_of_locks_is_held_by_its_index() {
    let movers = stored("lock_array_variable");
    let program = &movers.fused.program;
    let rows = rows_of(program);
    let row = variable(program, "m");
    assert!(rows.is_lock(row));
    let giving = edge(program, "m[i] = 0");
    let [held] = rows.held(giving.template, giving.location) else {
        panic!("one lock is held")
    };
    assert_eq!(held.variable, row);
    let handled = rows.handled(giving.template, giving.location, giving.edge);
    assert_eq!(handled.releases, std::slice::from_ref(held));
    assert!(rows.held(giving.template, 0).is_empty());
}

#[test]
fn what_looks_like_a_row_of_locks_and_is_none() {
    for (name, text) in [
        (
            "the index changes while the lock is held",
            "bool m[2]; active [2] proctype P() {
               byte i; atomic { m[i] == 0 -> m[i] = 1 }; i = 1; m[i] = 0 }",
        ),
        (
            "the index is shared and written",
            "bool m[2]; byte i; active [2] proctype P() {
               atomic { m[i] == 0 -> m[i] = 1 }; m[i] = 0; i = 1 }",
        ),
        (
            "another thread releases it",
            "bool m[2]; active [2] proctype P() { byte i; atomic { m[i] == 0 -> m[i] = 1 } }
             active proctype Q() { byte i; m[i] = 0 }",
        ),
        (
            "two permits",
            "byte m = 2; active [2] proctype P() { atomic { m > 0 -> m-- }; m++ }",
        ),
    ] {
        let movers = movers_of(text);
        let program = &movers.fused.program;
        assert!(!rows_of(program).is_lock(variable(program, "m")), "{name}");
    }
}

fn owners_of(program: &Program) -> Owners {
    Owners::find(program, &Alone::find(program), |_| false)
}

#[test]
fn a_lock_that_its_owner_may_take_again() {
    let movers = stored("recursive_lock");
    let program = &movers.fused.program;
    let owners = owners_of(program);
    let cell = owners
        .lock(variable(program, "m"))
        .expect("it is a lock by its value");
    assert!(cell.is_given_back_by(edge(program, "depth--; m = 0")));
    let (first, _) = edges(program).next().expect("there is an edge");
    assert!(cell.is_taken_by(first));
    assert!(!cell.is_taken_by(edge(program, "x++")));
}

#[test]
fn a_cell_that_anybody_overwrites_names_no_owner() {
    let movers = movers_of(
        "byte m; active [2] proctype P() {
           atomic { m == 0 || m == _pid + 1 -> m = _pid + 1 }; m = 0 }
         active proctype Q() { m = _pid + 1; m = 0 }",
    );
    let program = &movers.fused.program;
    assert!(owners_of(program).lock(variable(program, "m")).is_none());
}

#[test]
fn claims_of_exclusive_access_are_checked() {
    let taking = "active [2] proctype P() { atomic { o == 255 -> o = _pid }; a++; o = 255 }";
    let with = |claim: &str, rest: &str| {
        let text = format!("byte o = 255; byte a; byte b;\n/*@ {claim} */\n{taking}\n{rest}");
        owners_of(&movers_of(&text).fused.program)
    };
    let good = with("exclusive(a, o == _pid)", "");
    assert!(good.flaws.is_empty());
    assert!(good.cells.iter().any(|cell| cell.given == Some(0)));
    let flaw = |owners: Owners| match &owners.flaws[..] {
        [(0, flaw)] => flaw.clone(),
        flaws => panic!("one flaw: {flaws:?}"),
    };
    let shared = flaw(with("exclusive(a, o != _pid)", ""));
    assert!(matches!(shared, Flaw::Shared { .. }), "{shared:?}");
    let changed = flaw(with(
        "exclusive(a, o == _pid)",
        "active proctype Q() { o = _pid }",
    ));
    assert!(matches!(changed, Flaw::Changed { .. }), "{changed:?}");
    // One part that is enough is used.
    let both = with("exclusive(a, o == _pid && b == 0)", "");
    assert!(both.flaws.is_empty());
    assert!(both.cells.iter().any(|cell| cell.given == Some(0)));
    let form = flaw(with("exclusive(a, o + b == _pid)", ""));
    assert!(matches!(form, Flaw::Form), "{form:?}");
}

#[test]
fn how_many_threads_there_can_be() {
    let bound = |text: &str| most_threads(&read(text));
    assert_eq!(bound("active [2] proctype P() { skip }"), 2);
    let twice = "proctype P() { skip } init { run P(); run P() }";
    assert_eq!(bound(twice), 3);
    let nested = "proctype Q() { skip } proctype P() { run Q() } init { run P(); run P() }";
    assert_eq!(bound(nested), 5);
    // Without a bound of its own: on a cycle, or by a template that comes to start itself.
    let limit = read(twice).max_threads;
    let in_loop = "proctype P() { skip } init { do :: run P() od }";
    assert_eq!(bound(in_loop), limit);
    let itself = "proctype P() { run P() } init { run P() }";
    assert_eq!(bound(itself), limit);
}

#[test]
fn where_a_thread_is_alone() {
    let alone = |text: &str, statement: &str| {
        let movers = movers_of(text);
        let program = &movers.fused.program;
        Alone::find(program).is_alone(program, edge(program, statement))
    };
    let text = "byte x, y; proctype P() { x++ } init { x = 1; run P(); y = 2 }";
    assert!(alone(text, "x = 1"));
    assert!(!alone(text, "run P()"));
    assert!(!alone(text, "y = 2"));
    assert!(!alone(text, "x++"));
    // The way back from behind the start.
    let again = "byte x; proctype P() { x++ } init { do :: x = 1; run P() :: break od }";
    assert!(!alone(again, "x = 1"));
    let two = "byte x; proctype P() { x++ } active [2] proctype Q() { x = 1; run P() }";
    assert!(!alone(two, "x = 1"));
}

#[test]
fn what_a_thread_may_still_do() {
    let text = "byte x, y, z;
        proctype W() { z = 1 }
        active proctype P() { x = 1; y = x; run W(); skip }";
    let movers = movers_of(text);
    let program = &movers.fused.program;
    let ahead = Ahead::new(program, &Touches::new(program, &movers.table));
    let at = |statement: &str| {
        let at = edge(program, statement);
        ahead.ahead(at.template, at.location)
    };
    let id = |name: &str| variable(program, name).index();
    assert!(at("x = 1").writes.contains(id("x")) && at("x = 1").reads.contains(id("x")));
    // Past its write, but not past its read.
    assert!(!at("y = x").writes.contains(id("x")) && at("y = x").reads.contains(id("x")));
    // What a thread does that is still to be started counts.
    assert!(at("run W()").writes.contains(id("z")));
    assert!(!at("skip").writes.contains(id("z")));
    let is_alone = |statement: &str, name: &str| {
        let at = edge(program, statement);
        ahead.is_alone(program, at.template, at.location, id(name))
    };
    assert!(is_alone("run W()", "z"));
    assert!(!is_alone("skip", "z"));
    assert!(is_alone("skip", "x"));
}

const WORD: Ty = Ty::unsigned(32);
const POINTER: Ty = Ty::unsigned(64);

/// `p = …; q = p + 4` for pointers p and q and the variables x and y.
fn pointing(value: impl Fn(Expr, Expr) -> Expr, pointers_stay: bool) -> Program {
    let address = |id| Expr::Address {
        variable: VariableId(id),
        width: 64,
    };
    let local = |id| Place::scalar(VariableRef::Local(VariableId(id)), POINTER);
    let assign = |place, value| vec![Effect::Assign { place, value }];
    let moved = Expr::binary(BinaryOp::Add, Expr::Read(local(0)), Expr::constant(4, 64));
    let locals = ["p", "q"].map(|name| cells(name, POINTER, 1, 0, false));
    let program = Program {
        globals: ["x", "y"].map(|name| cells(name, WORD, 2, 0, true)).into(),
        templates: vec![thread(
            "T",
            locals.into(),
            vec![
                step(
                    Expr::TRUE,
                    assign(local(0), value(address(0), address(1))),
                    1,
                ),
                step(Expr::TRUE, assign(local(1), moved), 2),
            ],
        )],
        initial: vec![instance(0)],
        pointers_stay,
        max_threads: 1,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

#[test]
fn what_a_pointer_may_point_to() {
    let targets = |program: &Program| {
        let q = Place::scalar(VariableRef::Local(VariableId(1)), POINTER);
        let found = PointsTo::new(program).targets(0, &Expr::Read(q));
        let names = found.globals.iter();
        let names = names.map(|id| program.globals[id.index()].name.clone());
        names.collect::<Vec<String>>()
    };
    assert_eq!(targets(&pointing(|x, _| x, true)), ["x"]);
    assert_eq!(targets(&pointing(|_, y| y, true)), ["y"]);
    let either = |x, y| Expr::If(Box::new(Expr::TRUE), Box::new(x), Box::new(y));
    assert_eq!(targets(&pointing(either, true)), ["x", "y"]);
    // A number is nobody's address.
    let number = |_, _| Expr::constant(0, 64);
    assert!(targets(&pointing(number, true)).is_empty());
    // Made of an address in a way that is not followed, and without the promise.
    let mixed = |x, _| Expr::binary(BinaryOp::Xor, x, Expr::constant(1, 64));
    assert_eq!(targets(&pointing(mixed, true)), ["x", "y"]);
    assert_eq!(targets(&pointing(|x, _| x, false)), ["x", "y"]);
}

/// A thread that starts another and waits for its end: `there[1]` is 1 until then, 2 behind it.
/// The guard is that of the waiting.
fn joining(guard: impl Fn(Expr) -> Expr, presence: bool) -> Program {
    let byte = Ty::unsigned(8);
    let there = |index: Expr| Place::element(VariableRef::Global(VariableId(0)), index, byte);
    let spawn = Effect::Spawn {
        template: TemplateId(1),
        args: Vec::new(),
        priority: 0,
        result: None,
    };
    let leaves = Effect::Assign {
        place: there(Expr::ThreadId),
        value: Expr::constant(2, 8),
    };
    let program = Program {
        globals: vec![cells("there", byte, 2, 1, false)],
        templates: vec![
            thread(
                "main",
                Vec::new(),
                vec![
                    step(Expr::TRUE, vec![spawn], 1),
                    step(guard(Expr::Read(there(Expr::int(1)))), Vec::new(), 2),
                ],
            ),
            thread(
                "worker",
                Vec::new(),
                vec![step(Expr::TRUE, vec![leaves, Effect::Exit], 1)],
            ),
        ],
        initial: vec![instance(0)],
        presence: presence.then_some(VariableId(0)),
        max_threads: 2,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

#[test]
fn thread_exits_that_only_joiners_can_observe() {
    let compare = |op: BinaryOp, with: i64| {
        move |there: Expr| Expr::binary(op, there, Expr::constant(with, 8))
    };
    let ends = quiet_ends(&joining(compare(BinaryOp::Eq, 2), true));
    let end = EdgeRef {
        template: 1,
        location: 0,
        edge: 0,
    };
    assert_eq!(ends, [end]);
    // Seen by somebody who could go on before, used otherwise than by a comparison, not promised.
    assert!(quiet_ends(&joining(compare(BinaryOp::Eq, 1), true)).is_empty());
    assert!(quiet_ends(&joining(compare(BinaryOp::ULt, 2), true)).is_empty());
    assert!(quiet_ends(&joining(compare(BinaryOp::Eq, 2), false)).is_empty());
}

#[test]
fn an_edge_touches_what_decides_whether_it_is_enabled() {
    let program = read("bool stop; byte a; active proctype P() { { a = 1 } unless { stop } }");
    let table = AccessTable::new(&program);
    let accesses = table.of(edge(&program, "a = 1"));
    let cell = |name| Object::Cell(variable(&program, name), 0);
    assert_eq!(accesses.get(&cell("stop")), Some(&false));
    assert_eq!(accesses.get(&cell("a")), Some(&true));
    let program = read("bool stop; byte a; active proctype P() { a = 1; stop }");
    let table = AccessTable::new(&program);
    let stop = Object::Cell(variable(&program, "stop"), 0);
    assert!(!table.of(edge(&program, "a = 1")).contains_key(&stop));
}

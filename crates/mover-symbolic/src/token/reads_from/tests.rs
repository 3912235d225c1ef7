//! Small programs at which encodings like this one go wrong, each for its own reason, and what
//! becomes of them if a rule is left out. The concrete semantics is the judge.

use mover_engine::{Conclusion, Control, Task};
use mover_fuzz::ir::judge::judge;
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};

use mover_ir::program::{
    AllocationSite, Edge, Effect, Instance, Location, Program, Property, SiteId, Template,
    Variable, VariableId,
};
use mover_reduce::Heuristics;

use super::Rule;
use crate::layout::Bounds;
use crate::outcome::Question;
use crate::token::{Settings, check};

/// A program: its threads, each a Promela process that is there from the start, and whether an
/// assertion can fail. `LOCK` and `FREE` take and release a lock, `FAA` adds one in one step.
struct Pitfall {
    name: &'static str,
    threads: &'static [&'static str],
    fails: bool,
}

const fn pitfall(name: &'static str, threads: &'static [&'static str], fails: bool) -> Pitfall {
    Pitfall {
        name,
        threads,
        fails,
    }
}

const PITFALLS: &[Pitfall] = &[
    pitfall(
        "another write between, own thread",
        &["x = 1; x = 2; a = x; assert(a == 2)", "b = x"],
        false,
    ),
    pitfall(
        "the initial value after a write",
        &["x = 1; a = x; assert(a == 1)", "b = x"],
        false,
    ),
    pitfall(
        "writes of two threads have one order",
        &["FAA(x)", "FAA(x)", "x == 1; x == 2; c = x; assert(c != 1)"],
        false,
    ),
    pitfall(
        "a write on a branch that is not taken",
        &[
            "x = 1; b = y; if :: b == 1 -> x = 2 :: else fi; a = x; assert(a != 1)",
            "y = 2",
        ],
        true,
    ),
    pitfall(
        "a compare-and-swap that fails",
        &[
            "x = 3; atomic { if :: x == 1 -> x = 2 :: else fi }; a = x; assert(a != 3)",
            "b = x",
        ],
        true,
    ),
    pitfall(
        "a value that is never written",
        &[
            "b = y; if :: b == 1 -> x = 1 :: else fi",
            "a = x; assert(a != 1)",
            "y = 2",
        ],
        false,
    ),
    pitfall(
        "a value from the future",
        &["y == 1; x = 1", "a = x; y = 1; assert(a == 0)"],
        false,
    ),
    pitfall(
        "message passing",
        &[
            "x = 1; y = 1",
            "a = y; b = x; if :: a == 1 -> assert(b == 1) :: else fi",
        ],
        false,
    ),
    pitfall(
        "store buffering",
        &[
            "x = 1; a = y; a == 0; z = 1",
            "y = 1; b = x; b == 0; z == 1; c = z; assert(c != 1)",
        ],
        false,
    ),
    pitfall(
        "a thread waits for ever",
        &["x == 1", "x = 2", "a = y; assert(a == 1)", "y = 2"],
        true,
    ),
    pitfall(
        "a lock that is never released",
        &["LOCK(m); x = 1", "LOCK(m); x = 2", "a = x; assert(a == 0)"],
        true,
    ),
    pitfall(
        "the failing thread has the lock",
        &[
            "LOCK(m); a = x; assert(a == 1); FREE(m)",
            "LOCK(m); x = 1; FREE(m)",
        ],
        true,
    ),
    pitfall(
        "events behind a thread that waits",
        &["x == 1; y = 1", "a = y; assert(a == 0)", "x = 2"],
        false,
    ),
    pitfall(
        "an assertion that is not reached",
        &["x == 1; a = x; assert(a == 2)", "x = 2; x = 3"],
        false,
    ),
    pitfall(
        "reading and writing in one step",
        &["FAA(x); y = 1", "FAA(x); y == 1; c = x; assert(c == 2)"],
        false,
    ),
    pitfall(
        "a lock orders more than acquires",
        &[
            "LOCK(m); x = 1; x = 0; FREE(m)",
            "LOCK(m); a = x; assert(a == 0); FREE(m)",
        ],
        false,
    ),
    pitfall(
        "a thread ends and keeps the lock",
        &[
            "LOCK(m); x = 1; goto done",
            "LOCK(m); a = x; assert(a == 0); FREE(m)",
        ],
        false,
    ),
    pitfall(
        "a section that is not executed must fit nowhere",
        &[
            "x == 1; a = z; if :: a == 1 -> LOCK(m); z = 2; FREE(m) :: else fi; y = 1",
            "LOCK(m); x = 1; y == 1; b = y; assert(b != 1); FREE(m)",
        ],
        true,
    ),
    pitfall(
        "another element",
        &[
            "s[1 + y] = 1; b = s[y]; assert(b == 0)",
            "s[2] = 2",
            "y = 1",
        ],
        true,
    ),
    pitfall(
        "another element, index not changed",
        &[
            "s[1 + y] = 1; b = s[y + y]; assert(b != 1)",
            "y = 0; s[0] = 2; y = 0",
        ],
        false,
    ),
    pitfall(
        "the same element by two ways",
        &["z = y; s[y] = 3; b = s[1]; assert(b != 3)", "y = 1"],
        true,
    ),
    pitfall(
        "own writes of a section",
        &[
            "LOCK(m); x = 1; a = x; assert(a == 1); FREE(m)",
            "LOCK(m); x = 2; FREE(m)",
        ],
        false,
    ),
    pitfall(
        "writes that others never see",
        &[
            "LOCK(m); x = 1; x = 2; FREE(m)",
            "LOCK(m); a = x; assert(a != 1); FREE(m)",
        ],
        false,
    ),
    pitfall(
        "a section that is no transaction",
        &["LOCK(m); x = 1; x = 0; FREE(m)", "a = x; assert(a == 0)"],
        true,
    ),
    pitfall(
        "a section that is left early",
        &["LOCK(m); x = 1; goto done", "a = x; assert(a == 0)"],
        true,
    ),
    pitfall(
        "a section that never ends",
        &[
            "LOCK(m); x = 1; do :: x == 1 -> y = 1 :: x == 2 -> break od",
            "a = x; assert(a == 0)",
        ],
        true,
    ),
    pitfall(
        "an old value is written back",
        &[
            "a = x; y = 1; x = a; z = 1",
            "x = 1; y == 1; z == 1; b = x; assert(b == 1)",
        ],
        true,
    ),
    pitfall(
        "equal values from different writes",
        &[
            "x = 1; y = 1",
            "x = 1; z = 1",
            "y == 1; z == 1; a = x; assert(a == 1)",
        ],
        false,
    ),
    pitfall(
        "independent reads see one order",
        &[
            "x = 1",
            "y = 1",
            "a = x; b = y; a == 1; b == 0; s[0] = 1",
            "c = y; d = x; c == 1; d == 0; a = s[0]; assert(a == 0)",
        ],
        false,
    ),
    pitfall(
        "values of events that are not reached depend on each other",
        &[
            "m == 1; y = y + 1; n = 1; a = x; assert(a == 1)",
            "n == 1; y = y + 1; m = 1",
            "b = x; x = 0; assert(b == 0)",
        ],
        false,
    ),
    pitfall(
        "nothing behind a wait for oneself",
        &[
            "a = x; do :: b = s[a]; y == 1; assert(y == 0) :: break od; assert(y == 0)",
            "do :: s[b] == 0; s[b] = 2; s[b] == 0; s[b] = 2; \
             if :: s[c] != 2 :: y = y + 1; y = y + 1; b = 1 - b :: c = 1 - c fi od",
        ],
        false,
    ),
    pitfall(
        "an error while another thread runs on",
        &[
            "do :: z < 100 -> z = z + 1 :: z == 200 -> break od",
            "a = x; assert(a == 1)",
            "x = 2",
        ],
        true,
    ),
];

fn text(threads: &[&str]) -> String {
    let mut text = "byte x, y, z, m, n; byte s[4];\n".to_string();
    for (number, body) in threads.iter().enumerate() {
        let body = body
            .replace("LOCK(m)", "atomic { m == 0 -> m = 1 }")
            .replace("LOCK(n)", "atomic { n == 0 -> n = 1 }")
            .replace("FREE(m)", "m = 0")
            .replace("FREE(n)", "n = 0")
            .replace("FAA(x)", "x = x + 1");
        text +=
            &format!("active proctype T{number}() {{ byte a, b, c, d; {body};\ndone: skip }}\n");
    }
    text
}

fn program(text: &str) -> Program {
    mover_promela::parse_text("pitfall", text)
        .unwrap_or_else(|reason| panic!("{reason:?}\n{text}"))
        .program
}

/// Whether there is a violation; an error if what was found is none.
fn said(program: &Program, deadlocks: bool, without: Option<Rule>) -> Result<Option<bool>, String> {
    let property = match deadlocks {
        true => Property::NoDeadlock,
        false => Property::UnreachCall,
    };
    let task = Task::unchanged(program.clone(), [property].into_iter().collect());
    let question = Question {
        reduction: mover_reduce::Reduction::None,
        heuristics: Heuristics::ALL,
        cheaper: false,
        peephole: false,
        unfold: true,
        errors: !deadlocks,
        deadlocks,
        bounds: Bounds::default(),
        depth: Some(2),
        contexts: None,
        certify: true,
        check_answers: true,
        carry_over: false,
        limit: Control::unlimited(),
    };
    let settings = Settings {
        without,
        ..Settings::default()
    };
    let outcome =
        check(&task, &question, &settings, &mut |_| {}).map_err(|reason| reason.to_string())?;
    match outcome.conclusion {
        Conclusion::Unsafe(_) => Ok(Some(true)),
        Conclusion::Safe { up_to } if up_to.is_empty() => Ok(Some(false)),
        _ => Ok(None),
    }
}

#[test]
fn pitfalls() {
    for Pitfall {
        name,
        threads,
        fails,
    } in PITFALLS
    {
        let text = text(threads);
        let program = program(&text);
        let judgement = judge(&program).expect("a small program");
        assert_eq!(
            judgement.error, *fails,
            "{name}: the expectation is wrong\n{text}"
        );
        match said(&program, false, None) {
            Ok(Some(answer)) => assert_eq!(answer, *fails, "{name}\n{text}"),
            Ok(None) => panic!("{name} is left open\n{text}"),
            Err(reason) => panic!("{name}: {reason}\n{text}"),
        }
    }
}

#[test]
fn deadlocks() {
    for (threads, expected) in [
        (
            &[
                "LOCK(m); LOCK(n); x = 1; FREE(n); FREE(m)",
                "LOCK(n); LOCK(m); x = 2; FREE(m); FREE(n)",
            ][..],
            true,
        ),
        (
            &["LOCK(m); x == 1; FREE(m)", "LOCK(m); x = 1; FREE(m)"],
            true,
        ),
        (
            &[
                "LOCK(m); LOCK(n); x = 1; FREE(n); FREE(m)",
                "LOCK(m); LOCK(n); x = 2; FREE(n); FREE(m)",
            ],
            false,
        ),
        (&["x == 1; y = 1", "x = 1; y == 1"], false),
        (&["x == 1; x == 2", "x = 1; x = 2"], true),
        (&["LOCK(m); LOCK(m)", "x = 1"], true),
        (&["LOCK(m); goto done", "LOCK(m); x = 1"], true),
    ] {
        let text = text(threads);
        let program = program(&text);
        let judgement = judge(&program).expect("a small program");
        assert_eq!(
            judgement.deadlock, expected,
            "the expectation is wrong\n{text}"
        );
        assert_eq!(said(&program, true, None), Ok(Some(expected)), "{text}");
    }
}

/// A cell of one bit, and events that are reached with and without others before them: what a
/// thread does before its first event must not write the initial value back.
#[test]
fn single_bits_are_not_written_back() {
    let text = "chan r = [1] of { byte };\n\
        active proctype P() { byte l; do :: do :: l = 1 - l :: break od; r?l od }\n\
        active proctype Q() { r!0 }\n";
    let program = program(text);
    let judgement = judge(&program).expect("a small program");
    assert!(judgement.deadlock);
    assert_eq!(said(&program, true, None), Ok(Some(true)));
}

/// Threads that are started and waited for.
#[test]
fn started_threads() {
    for (name, main, thread, expected) in [
        (
            "a join that is not executed",
            "run T(); a = y; if :: a == 1 -> _nr_pr == 1 :: else fi; x = 1",
            "x == 1; b = x; assert(b != 1)",
            true,
        ),
        (
            "a thread that has ended",
            "run T(); _nr_pr == 1; a = x; assert(a != 1)",
            "x = 1; goto done",
            true,
        ),
        (
            "what a joined thread has written",
            "run T(); _nr_pr == 1; a = x; assert(a == 1)",
            "x = 2; x = 1",
            false,
        ),
        (
            "a thread that is never started",
            "y == 1; run T(); y = 3",
            "a = x; assert(a == 1)",
            false,
        ),
        (
            "what was written before the start",
            "x = 1; run T(); x = 2",
            "a = x; assert(a != 0)",
            false,
        ),
        (
            "two lives of one slot",
            "run T(); _nr_pr == 1; run T(); _nr_pr == 1; a = x; assert(a == 2)",
            "x = x + 1",
            false,
        ),
    ] {
        let text = format!(
            "byte x, y;\nproctype T() {{ byte a, b; {thread};\ndone: skip }}\n\
             init {{ byte a, b; {main} }}\n"
        );
        let program = program(&text);
        let judgement = judge(&program).expect("a small program");
        assert_eq!(
            judgement.error, expected,
            "{name}: the expectation is wrong\n{text}"
        );
        assert_eq!(
            said(&program, false, None),
            Ok(Some(expected)),
            "{name}\n{text}"
        );
    }
}

/// Without a rule some of these programs get a wrong answer, or a run that is none.
#[test]
fn rules_that_are_left_out_are_noticed() {
    for rule in [
        Rule::WriteTakesPlace,
        Rule::WriteComesFirst,
        Rule::FromRead,
        Rule::FromReadOfInitial,
        Rule::FromReadOfEnabled,
        Rule::NoCycle,
    ] {
        let noticed = PITFALLS.iter().filter(|pitfall| {
            let program = program(&text(pitfall.threads));
            said(&program, false, Some(rule)) != Ok(Some(pitfall.fails))
        });
        let noticed: Vec<&str> = noticed.map(|pitfall| pitfall.name).collect();
        assert!(!noticed.is_empty(), "{rule:?}");
        println!("{rule:?}: {noticed:?}");
    }
}

/// Two threads that each make an object, fill it, show it to others and look into what they have shown.
fn makers() -> Program {
    let (pointer, number) = (Ty::unsigned(64), Ty::unsigned(32));
    let own = Place::scalar(VariableRef::Local(VariableId(0)), pointer);
    let address = Expr::Read(own.clone());
    let mut program = Program {
        sites: vec![AllocationSite::heap("s", number)],
        pointers_stay: true,
        max_threads: 2,
        ..Program::default()
    };
    for thread in 0..2 {
        program
            .globals
            .push(Variable::scalar(format!("g{thread}"), pointer));
        let shown = Place::scalar(VariableRef::Global(VariableId(thread)), pointer);
        let value = Expr::constant(i64::from(thread) + 1, 32);
        let is_kept = Expr::binary(
            BinaryOp::Eq,
            Expr::load(Expr::Read(shown.clone()), number),
            value.clone(),
        );
        let allocate = Effect::Allocate {
            site: SiteId(0),
            reuse: 0,
            size: Expr::constant(4, 64),
            result: own.clone(),
        };
        let fill = Effect::Store {
            address: address.clone(),
            value,
        };
        let show = Effect::Assign {
            place: shown,
            value: address.clone(),
        };
        let mut steps: Vec<Location> = [allocate, fill, show]
            .into_iter()
            .zip(1..)
            .map(|(effect, next)| {
                Location::with_edges(vec![Edge::new(Expr::TRUE, vec![effect], next, "")])
            })
            .collect();
        steps.push(Location::with_edges(vec![
            Edge::new(is_kept.clone(), Vec::new(), 4, ""),
            Edge::new(is_kept.negate(), Vec::new(), 5, ""),
        ]));
        steps.push(Location {
            valid_end: true,
            ..Location::default()
        });
        steps.push(Location::failure("overwritten", None));
        program.templates.push(Template {
            name: format!("t{thread}"),
            locals: vec![Variable::scalar("p", pointer)],
            locations: steps,
            ..Template::default()
        });
        program.initial.push(Instance::new(thread, Vec::new()));
    }
    program
}

/// Threads whose allocations gave them one object would overwrite each other's values.
#[test]
fn objects_of_two_allocations_differ() {
    let program = makers();
    assert!(!judge(&program).expect("a small program").error);
    assert_eq!(said(&program, false, None), Ok(Some(false)));
}

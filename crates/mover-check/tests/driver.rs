//! The driver: what is computed once, who may stop whom, and what is said in the end.

use std::sync::{Arc, Mutex};

use mover_check::answer::Verdict;
use mover_check::ledger::ledger;
use mover_check::{EngineChoice, Nobody, Observer, Options, ReductionChoice, answer};
use mover_engine::{Cancel, CancelReason, Control, Engine, Task, Violation};
use mover_explicit::Ignoring;
use mover_ir::program::{Program, Property};

/// Two processes that lose an update.
const LOST_UPDATE: &str = "
    byte n, done;
    active [2] proctype P() { byte t; t = n; n = t + 1; done++ }
    active proctype C() { done == 2; assert(n == 2) }";

/// Two processes that exclude each other by a lock.
const LOCKED: &str = "
    byte n; bit lock;
    active [2] proctype P() {
        atomic { lock == 0 -> lock = 1 } n++; assert(n == 1); n--; lock = 0
    }";

/// A value that can be any of 2^31, which explicit search does not take.
const LARGE: &str = "
    int x;
    active proctype P() { int y; select(y : 0 .. 100000); x = y; assert(x <= 100000) }";

fn program(text: &str) -> Program {
    match mover_promela::parse_text("model.pml", text) {
        Ok(read) => read.program,
        Err(failure) => panic!("{:?}", failure.diagnostics),
    }
}

fn task(text: &str) -> Arc<Task> {
    Arc::new(Task::new(program(text), Property::BASIC.to_vec()))
}

fn with_engine(engine: EngineChoice) -> Options {
    Options {
        engine,
        ..Options::default()
    }
}

#[test]
fn what_several_parts_need_is_computed_once() {
    for options in [
        Options::default(),
        with_engine(EngineChoice::Bmc),
        with_engine(EngineChoice::Ic3),
        Options {
            jobs: 3,
            ..Options::default()
        },
    ] {
        let task = task(LOST_UPDATE);
        let found = answer(&task, &options, &Cancel::default(), &Nobody).expect("an answer");
        // The report's parts, too.
        let _ = ledger(&task, &found, &Control::unlimited());
        let _ = mover_check::explanation::explain(task.movers().expect("there are movers"));
        let Verdict::Unsafe(trace) = &found.verdict else {
            panic!("{}: {:?}", found.engine, found.verdict);
        };
        assert_eq!(trace.message, "assertion violated: (n == 2)");
        let computed = task.computed();
        assert_eq!(computed.movers, 1);
        assert!(
            computed.facts <= 1 && computed.unfoldings <= 1 && computed.plans <= 1,
            "{computed:?}"
        );
    }
}

/// Requests a stop, as Ctrl-C does, as soon as some engine has ended.
struct Impatient {
    cancel: Cancel,
    ended: Mutex<Vec<&'static str>>,
}

impl Observer for Impatient {
    fn end(&self, engine: &dyn Engine) {
        self.cancel.request(CancelReason::User);
        self.ended
            .lock()
            .expect("nobody panics")
            .push(engine.name());
    }
}

#[test]
fn a_signal_after_the_answer_does_not_lose_it() {
    for jobs in [1, 3] {
        let cancel = Cancel::default();
        let impatient = Impatient {
            cancel: cancel.clone(),
            ended: Mutex::default(),
        };
        let options = Options {
            jobs,
            ..Options::default()
        };
        let found = answer(&task(LOST_UPDATE), &options, &cancel, &impatient).expect("an answer");
        assert!(
            matches!(found.verdict, Verdict::Unsafe(_)),
            "{jobs} jobs: {:?}",
            found.verdict
        );
        let ended = impatient.ended.lock().expect("nobody panics");
        assert!(!ended.is_empty());
    }
}

#[test]
fn a_signal_before_the_answer_is_named_as_the_reason() {
    let cancel = Cancel::default();
    cancel.request(CancelReason::User);
    for engine in [EngineChoice::Bmc, EngineChoice::Ic3, EngineChoice::Token] {
        let found = answer(&task(LOCKED), &with_engine(engine), &cancel, &Nobody);
        match found.expect("an answer").verdict {
            Verdict::Unknown { reason, .. } => {
                assert!(reason.contains("interrupted"), "{reason}");
            }
            verdict => panic!("{verdict:?}"),
        }
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, message: &str) {
        self.0.lock().expect("nobody panics").push(message.into());
    }
}

#[test]
fn what_explicit_search_refuses_goes_to_formulas() {
    let notes = Notes::default();
    let found = answer(
        &task(LARGE),
        &Options::default(),
        &Cancel::default(),
        &notes,
    );
    let found = found.expect("an answer");
    let notes = notes.0.lock().expect("nobody panics");
    if found.engine == "explicit" {
        // It takes it after all: then nothing was refused.
        assert!(notes.is_empty(), "{notes:?}");
    } else {
        assert!(
            notes[0].contains("continuing with the engines bmc and ic3"),
            "{notes:?}"
        );
    }
    assert_eq!(found.verdict, Verdict::Safe);
}

#[test]
fn an_unsound_search_proves_nothing() {
    let options = Options {
        ignoring: Some(Ignoring::Unsound),
        reduction: Some(ReductionChoice::Static),
        ..Options::default()
    };
    let found = answer(&task(LOCKED), &options, &Cancel::default(), &Nobody);
    let found = found.expect("an answer");
    assert!(
        matches!(found.verdict, Verdict::Unknown { .. }),
        "{:?}",
        found.verdict
    );
}

#[test]
fn every_engine_proves_the_lock_and_certifies_it() {
    for engine in [
        EngineChoice::Explicit,
        EngineChoice::Bmc,
        EngineChoice::Ic3,
        EngineChoice::Token,
    ] {
        let options = Options {
            certify: true,
            ..with_engine(engine)
        };
        let found = answer(&task(LOCKED), &options, &Cancel::default(), &Nobody);
        let found = found.expect("an answer");
        assert_eq!(found.verdict, Verdict::Safe, "{engine:?}");
        let by = found.certified.expect("it was asked for").by;
        assert!(
            by.iter()
                .any(|what| what.contains("of the reference semantics")),
            "{by:?}"
        );
    }
}

#[test]
fn a_run_is_shown_in_the_transactions_of_its_search() {
    let shown = |reduction| {
        let options = Options {
            reduction: Some(reduction),
            ..with_engine(EngineChoice::Explicit)
        };
        let found = answer(&task(LOST_UPDATE), &options, &Cancel::default(), &Nobody);
        match found.expect("an answer").verdict {
            Verdict::Unsafe(trace) => trace.transactions.len(),
            verdict => panic!("{verdict:?}"),
        }
    };
    assert_eq!(shown(ReductionChoice::None), 0);
    assert!(shown(ReductionChoice::Static) > 0);
}

#[test]
fn what_is_no_violation_does_not_replay() {
    let program = program(LOCKED);
    let violation = Violation {
        property: Property::NoDeadlock,
        error: None,
        steps: Vec::new(),
    };
    assert!(violation.replay(&program).is_err());
}

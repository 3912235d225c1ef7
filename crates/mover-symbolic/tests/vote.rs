//! All engines with all reductions answer alike.
//!
//! Random programs in two styles: of the IR, with all its oddities, and small
//! multi-threaded programs with locks, compare-and-swap, loops and choices. The
//! concrete semantics is the judge; bounded model checking and IC3 must agree with
//! it under every reduction, and their counterexamples are replayed by the library
//! before it answers.
//!
//! `MOVER_PROGRAMS` sets how many programs are tried, `MOVER_SEED` where to start.

#[path = "../../mover-explicit/tests/memory/mod.rs"]
mod memory;
#[path = "../../mover-explicit/tests/mt/mod.rs"]
mod mt;
mod pointers;
#[path = "../../mover-explicit/tests/random/mod.rs"]
mod random;

use std::time::{Duration, Instant};

use mover_ir::print::print_program;
use mover_ir::program::{Program, Property};
use mover_ir::validate::validate;
use mover_reduce::{Heuristics, Reduction};
use mover_symbolic::layout::Bounds;
use mover_symbolic::outcome::{Conclusion, Failure, Outcome, Question};
use mover_symbolic::sat::Limit;
use mover_symbolic::{bmc, ic3};
use random::{Generator, Judgement, Random, judge, random_mt, setting};

fn question(
    reduction: Reduction,
    errors: bool,
    deadlocks: bool,
    bounds: Bounds,
    patience: Duration,
) -> Question {
    Question {
        reduction,
        heuristics: Heuristics::ALL,
        errors,
        deadlocks,
        bounds,
        depth: Some(12),
        contexts: None,
        certify: true,
        limit: Limit {
            interrupt: Vec::new(),
            deadline: Some(Instant::now() + patience),
        },
    }
}

/// Whether an engine found what the judge found; none if it did not come to an end.
fn agrees(outcome: Result<Outcome, Failure>, expected: bool, what: &str) -> Option<bool> {
    match outcome {
        Ok(outcome) => match outcome.conclusion {
            Conclusion::Unsafe(violation) => {
                assert!(expected, "{what}: a violation that is none: {violation:?}");
                Some(true)
            }
            Conclusion::Safe { up_to } if up_to.is_empty() => {
                assert!(!expected, "{what}: misses a violation");
                Some(false)
            }
            Conclusion::Safe { .. } | Conclusion::Unknown { .. } => None,
        },
        Err(reason) => panic!("{what}: {reason}"),
    }
}

#[derive(Default, Debug)]
struct Tally {
    /// Answers of bounded model checking, and questions it left open.
    bounded: u64,
    open: u64,
    /// Answers of IC3, and questions for which it had not enough time.
    inductive: u64,
    slow: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.bounded += other.bounded;
        self.open += other.open;
        self.inductive += other.inductive;
        self.slow += other.slow;
    }
}

fn vote(
    program: &Program,
    judgement: &Judgement,
    bounds: Bounds,
    patience: Duration,
    tally: &mut Tally,
) {
    for (errors, deadlocks, expected) in [
        (true, false, judgement.error),
        (false, true, judgement.deadlock),
    ] {
        for reduction in Reduction::ALL {
            let what = |engine: &str| {
                let property = if errors {
                    Property::UnreachCall
                } else {
                    Property::NoDeadlock
                };
                format!("{engine} {reduction} {property}")
            };
            let asked = question(reduction, errors, deadlocks, bounds, patience);
            let outcome = bmc::check(program, &asked, &mut |_| {});
            match agrees(outcome, expected, &what("bmc")) {
                Some(_) => tally.bounded += 1,
                None => tally.open += 1,
            }
            let outcome = ic3::check(program, &asked, &mut |_| {});
            match agrees(outcome, expected, &what("ic3")) {
                Some(_) => tally.inductive += 1,
                None => tally.slow += 1,
            }
        }
    }
}

fn small(judgement: &Judgement) -> bool {
    judgement.stored < 400
}

/// Asks all engines about generated programs; gives how many were small enough.
fn vote_on(
    count: u64,
    patience: Duration,
    generate: impl Fn(u64) -> (Program, String),
) -> (u64, Tally) {
    let first = setting("MOVER_SEED", 1);
    let count = setting("MOVER_PROGRAMS", count);
    let mut tally = Tally::default();
    let mut voted = 0;
    for seed in first..first + count {
        let (program, text) = generate(seed);
        assert_eq!(validate(&program), Ok(()), "{text}");
        let Some(judgement) = judge(&program).filter(small) else {
            continue;
        };
        voted += 1;
        // Tight bounds may leave questions open, but must not make answers wrong.
        let bounds = if seed % 4 == 0 {
            Bounds {
                threads: 2,
                objects: 1,
                bytes: 8,
                may_grow: false,
            }
        } else {
            Bounds::default()
        };
        let result = std::panic::catch_unwind(|| {
            let mut mine = Tally::default();
            vote(&program, &judgement, bounds, patience, &mut mine);
            mine
        });
        match result {
            Ok(mine) => tally += mine,
            Err(_) => panic!("seed {seed} disagrees\n{text}"),
        }
    }
    println!("{voted} programs: {tally:?}");
    (voted, tally)
}

fn printed(program: Program) -> (Program, String) {
    let text = print_program(&program);
    (program, text)
}

/// Odd arithmetic on wide numbers takes long and is not worth waiting for.
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(2);

/// Most questions must be answered, or the vote says little.
fn assert_answered((voted, tally): (u64, Tally)) {
    let questions = voted * 8;
    assert!(tally.inductive * 2 > questions, "{tally:?}");
    assert!(tally.bounded * 4 > questions, "{tally:?}");
}

#[test]
fn random_ir_programs() {
    assert_answered(vote_on(500, SHORT, |seed| {
        printed(Generator::program(seed))
    }));
}

#[test]
fn random_memory_programs() {
    assert_answered(vote_on(100, SHORT, |seed| printed(memory::program(seed))));
}

#[test]
fn random_threads() {
    assert_answered(vote_on(1_000, LONG, |seed| {
        let text = random_mt(&mut Random(seed ^ 0x5EED));
        (mt::parse("random", &text), text)
    }));
}

#[test]
fn random_pointers() {
    assert_answered(vote_on(400, LONG, |seed| printed(pointers::program(seed))));
}

//! All engines with all reductions answer alike.
//!
//! Random programs: of the IR, with all its oddities; with memory and races for it;
//! with pointers; with a first thread that starts the others; and small multi-threaded programs with locks, compare-and-swap,
//! loops and choices. The concrete semantics is the judge; bounded model checking and
//! IC3 must agree with it under every reduction, and their counterexamples are
//! replayed by the library before it answers. Only disagreement fails: a question for
//! which the time was too short counts as not answered.
//!
//! `MOVER_PROGRAMS` sets how many programs are tried, `MOVER_SEED` where to start.

use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, EngineError, Outcome, Task};
use mover_fuzz::ir::judge::{Judgement, judge};
use mover_fuzz::ir::{memory, mt, odd, pointers, started};
use mover_fuzz::of_seeds;
use mover_fuzz::random::Random;
use mover_ir::print::print_program;
use mover_ir::program::{Program, Property};
use mover_ir::validate::validate;
use mover_reduce::Reduction;
use mover_symbolic::{Bmc, Bounds, Ic3, SymbolicOptions};

/// Whether an engine found what the judge found; none if it did not come to an end.
fn agrees(outcome: Result<Outcome, EngineError>, expected: bool, what: &str) -> Option<bool> {
    match outcome {
        Ok(outcome) => match outcome.conclusion {
            Conclusion::Unsafe(violation) => {
                assert!(expected, "{what}: a violation that is none: {violation:?}");
                Some(true)
            }
            Conclusion::Safe { up_to, .. } if up_to.is_empty() => {
                assert!(!expected, "{what}: misses a violation");
                Some(false)
            }
            Conclusion::Safe { .. } | Conclusion::Stopped { .. } | Conclusion::Refused { .. } => {
                None
            }
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
    thorough: bool,
    tally: &mut Tally,
) {
    for (property, expected) in [
        (Property::UnreachCall, judgement.error),
        (Property::NoDeadlock, judgement.deadlock),
    ] {
        let task = Task::unchanged(program.clone(), vec![property]);
        let options = SymbolicOptions {
            depth: Some(12),
            bounds,
            ..SymbolicOptions::default()
        };
        for reduction in Reduction::ALL {
            let ask = |engine: &dyn Engine| {
                let control = Control::unlimited().within(patience);
                let outcome = engine.run(&task, &control, &mut |_| {});
                let what = format!("{} {} {property}", engine.name(), engine.reduction());
                agrees(outcome, expected, &what)
            };
            let bounded = Bmc {
                reduction,
                peephole: false,
                options: options.clone(),
                certify: thorough,
            };
            match ask(&bounded) {
                Some(_) => tally.bounded += 1,
                None => tally.open += 1,
            }
            if reduction == Reduction::None {
                let peephole = Bmc {
                    peephole: true,
                    ..bounded
                };
                match ask(&peephole) {
                    Some(_) => tally.bounded += 1,
                    None => tally.open += 1,
                }
            }
            let inductive = Ic3 {
                reduction,
                options: options.clone(),
                certify: thorough,
            };
            match ask(&inductive) {
                Some(_) => tally.inductive += 1,
                None => tally.slow += 1,
            }
        }
    }
}

fn small(judgement: &Judgement) -> bool {
    judgement.stored < 400
}

/// Asks all engines about generated programs.
fn vote_on(count: u64, patience: Duration, generate: impl Fn(u64) -> (Program, String) + Sync) {
    let tallies = of_seeds(count, |seed| {
        let (program, text) = generate(seed);
        assert_eq!(validate(&program), Ok(()), "{text}");
        let judgement = judge(&program).filter(small)?;
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
            // What a proof rests on is checked for some; the answers must be right for all.
            let thorough = seed % 4 == 1;
            vote(&program, &judgement, bounds, patience, thorough, &mut mine);
            mine
        });
        match result {
            Ok(mine) => Some(mine),
            Err(_) => panic!("seed {seed} disagrees\n{text}"),
        }
    });
    let mut tally = Tally::default();
    let mut voted = 0;
    let mut answered = 0;
    for mine in tallies.into_iter().flatten() {
        voted += 1;
        answered += u64::from(mine.bounded + mine.inductive > 0);
        tally += mine;
    }
    println!("{voted} programs, {answered} with answers: {tally:?}");
    // Without answers there is no vote. Most programs take milliseconds, so even a machine that is
    // slow and busy answers for a few; how many more is a matter of its speed and proves nothing.
    if voted >= ENOUGH_PROGRAMS {
        assert!(
            answered >= ENOUGH_ANSWERED,
            "{answered} of {voted}: {tally:?}"
        );
    }
}

fn printed(program: Program) -> (Program, String) {
    let text = print_program(&program);
    (program, text)
}

/// Odd arithmetic on wide numbers takes long and is not worth waiting for.
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(2);

/// How many programs must have answers if there are so many programs.
const ENOUGH_ANSWERED: u64 = 3;
const ENOUGH_PROGRAMS: u64 = 20;

#[test]
fn random_ir_programs() {
    vote_on(300, SHORT, |seed| printed(odd::program(seed)));
}

/// Programs that an engine was wrong about once: a thread that starts others of its own template,
/// and one that asks in an atomic sequence where it is itself.
#[test]
fn programs_that_were_wrong_once() {
    for seed in [50_000_075, 50_000_198] {
        let program = odd::program(seed);
        let judgement = judge(&program).expect("it is small");
        let mut tally = Tally::default();
        vote(
            &program,
            &judgement,
            Bounds::default(),
            LONG,
            true,
            &mut tally,
        );
        assert!(tally.bounded + tally.inductive > 0, "{seed}: {tally:?}");
    }
}

#[test]
fn random_memory_programs() {
    vote_on(40, SHORT, |seed| printed(memory::program(seed)));
}

#[test]
fn random_memory_races() {
    vote_on(40, SHORT, |seed| printed(memory::racy_program(seed)));
}

#[test]
fn dropping_a_pointer_does_not_commute_with_allocating() {
    let program = memory::dropping_program();
    let judgement = judge(&program).expect("it is small");
    assert!(judgement.error);
    let mut tally = Tally::default();
    // A tenth of a second is enough for all of it; this is for machines that stand still.
    let patience = Duration::from_secs(60);
    vote(
        &program,
        &judgement,
        Bounds::default(),
        patience,
        true,
        &mut tally,
    );
    assert!(tally.bounded > 0 && tally.inductive > 0, "{tally:?}");
}

#[test]
fn random_threads() {
    vote_on(640, LONG, |seed| {
        let text = mt::random_text(&mut Random(seed ^ 0x5EED));
        (mt::parse("random", &text), text)
    });
}

#[test]
fn random_pointers() {
    vote_on(150, LONG, |seed| printed(pointers::program(seed)));
}

#[test]
fn random_started_threads() {
    vote_on(40, LONG, |seed| printed(started::program(seed)));
}

//! Token passing answers as the semantics does.
//!
//! Random programs: small multi-threaded programs with locks, compare-and-swap, loops and
//! choices; programs of the IR with all its oddities; programs with pointers; the same with
//! a first thread that starts the others; Promela models. The concrete semantics is the judge of errors and of deadlocks, for each set of
//! pairs. Whatever is found is replayed by the library before it answers. A question that
//! is left open, because the unrolling is not complete or because the engine does not take
//! the program, does not count; there must be enough that are not.
//!
//! `MOVER_PROGRAMS` sets how many programs are tried, `MOVER_SEED` where to start;
//! `MOVER_LONG` tries six times as many.

use std::time::{Duration, Instant};

use mover_engine::{Conclusion, Control, Engine, Task};
use mover_fuzz::ir::judge::judge;
use mover_fuzz::ir::{mt, odd, pointers, started};
use mover_fuzz::promela::Model;
use mover_fuzz::random::Random;
use mover_fuzz::{programs, setting};
use mover_ir::print::print_program;
use mover_ir::program::{Program, Property};
use mover_symbolic::{Pairs, SymbolicOptions, Token};

/// Most questions take milliseconds; those that do not are not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(100);

const PAIRS: [Pairs; 4] = [Pairs::All, Pairs::Mat, Pairs::MatPrinted, Pairs::Lex];

const EVERY: [Pairs; 5] = [
    Pairs::All,
    Pairs::Mat,
    Pairs::MatPrinted,
    Pairs::Lex,
    Pairs::ReadsFrom,
];

#[derive(Default, Debug)]
struct Tally {
    /// Programs with at least one answer.
    programs: u64,
    safe: u64,
    r#unsafe: u64,
    open: u64,
}

/// What the engine says: a violation or none; nothing if it leaves the question open.
fn ask(
    program: &Program,
    (errors, deadlocks): (bool, bool),
    pairs: Pairs,
    patience: Duration,
) -> Option<bool> {
    let asked = [
        (errors, Property::UnreachCall),
        (deadlocks, Property::NoDeadlock),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    let properties = asked.map(|(_, property)| property).collect();
    let task = Task::unchanged(program.clone(), properties);
    let engine = Token {
        options: SymbolicOptions {
            depth: Some(4),
            pairs,
            ..SymbolicOptions::default()
        },
        certify: true,
    };
    let control = Control::unlimited().within(patience);
    match engine.run(&task, &control, &mut |_| {}) {
        Ok(outcome) => match outcome.conclusion {
            Conclusion::Unsafe(_) => Some(true),
            Conclusion::Safe { up_to } if up_to.is_empty() => Some(false),
            Conclusion::Safe { .. } | Conclusion::Stopped { .. } | Conclusion::Refused { .. } => {
                None
            }
        },
        Err(reason) => panic!("{} {}: {reason}", pairs.name(), program.info.name),
    }
}

/// Of a machine that stands still no more is asked than to try so many programs for each that
/// should have an answer.
const MOST_TRIES: u64 = 8;

/// Tries programs until so many have answers.
fn compare(count: u64, generate: impl Fn(u64) -> Option<(Program, String)>) {
    let first = setting("MOVER_SEED", 1);
    let count = programs(count);
    let mut tally = Tally::default();
    let mut slowest = (Duration::ZERO, 0);
    let mut seed = first;
    while tally.programs < count && seed - first < MOST_TRIES * count {
        let (program, text) = match generate(seed) {
            Some(made) => made,
            None => {
                seed += 1;
                continue;
            }
        };
        let started = Instant::now();
        if let Some(judgement) = judge(&program).filter(|j| j.stored < 3000) {
            let answers = tally.safe + tally.r#unsafe;
            for (errors, deadlocks, expected) in [
                (true, false, judgement.error),
                (false, true, judgement.deadlock),
            ] {
                // One set of pairs for each program; all of them in turn.
                for pairs in [PAIRS[seed as usize % PAIRS.len()], Pairs::ReadsFrom] {
                    let said = std::panic::catch_unwind(|| {
                        ask(&program, (errors, deadlocks), pairs, PATIENCE)
                    });
                    let said =
                        said.unwrap_or_else(|_| panic!("seed {seed}, {}\n{text}", pairs.name()));
                    if let Some(said) = said {
                        assert_eq!(
                            said,
                            expected,
                            "seed {seed}, {}, errors {errors}, deadlocks {deadlocks}\n{text}",
                            pairs.name()
                        );
                    }
                    match said {
                        Some(true) => tally.r#unsafe += 1,
                        Some(false) => tally.safe += 1,
                        None => tally.open += 1,
                    }
                }
            }
            tally.programs += u64::from(tally.safe + tally.r#unsafe > answers);
        }
        slowest = slowest.max((started.elapsed(), seed));
        seed += 1;
    }
    println!(
        "{tally:?} of {} seeds, at most {slowest:?} for a program",
        seed - first
    );
    if tally.programs >= 50 {
        assert!(tally.safe > 0 && tally.r#unsafe > 0, "{tally:?}");
    }
}

fn printed(program: Program) -> Option<(Program, String)> {
    let text = print_program(&program);
    Some((program, text))
}

#[test]
fn random_threads() {
    compare(430, |seed| {
        let text = mt::random_text(&mut Random(seed ^ 0x70CE));
        Some((mt::parse("random", &text), text))
    });
}

#[test]
fn random_ir_programs() {
    compare(100, |seed| printed(odd::program(seed)));
}

#[test]
fn random_pointers() {
    compare(150, |seed| printed(pointers::program(seed)));
}

#[test]
fn random_started_threads() {
    compare(20, |seed| printed(started::program(seed)));
}

/// What a thread is started for may be all that the others have to do with it.
#[test]
fn threads_that_are_started_and_never_end() {
    for (claim, expected) in [("x == 1", false), ("x == 2", true)] {
        let text = format!(
            "byte x; proctype P(byte a) {{ do :: x == 3 -> x = a; assert({claim}) od }}\n\
             init {{ x = 3; atomic {{ run P(1) }} }}\n"
        );
        let program = mover_promela::parse_text("started", &text).expect("a model");
        for pairs in EVERY {
            let said = ask(
                &program.program,
                (true, false),
                pairs,
                Duration::from_secs(60),
            );
            // The printed pairs may find a violation, and prove nothing.
            let expected = Some(expected).filter(|&fails| fails || pairs != Pairs::MatPrinted);
            assert_eq!(said, expected, "{claim} {}", pairs.name());
        }
    }
}

/// A rendezvous is not taken, so channels without buffer get one.
#[test]
fn random_models() {
    compare(300, |seed| {
        let text = Model::random(seed).text().replace("= [0] of", "= [1] of");
        let read = mover_promela::parse_text("random", &text).ok()?;
        Some((read.program, text))
    });
}

//! Proofs for any number of threads.
//!
//! Thread-modular verification after Flanagan and Qadeer (2003), *Thread-Modular Model Checking*,
//! and Cohen and Namjoshi (2007), *Local Proofs for Global Safety Properties*: an invariant speaks
//! about shared memory and one thread (here also two), and says the same of every thread. It must
//! survive the thread's own steps, creation, and the steps of any other thread that satisfies it,
//! too. The invariant is searched for in the manner of IC3 ([`search`]), so values are bits and
//! comparisons of the program and need not be few. Wider views are those of Abdulla, Haziza and
//! Holík (2013), *All for the Price of Few*.
//!
//! Different from these, the threads that are there from the start are part of the shared state
//! (so `main` is exact), locks have owners, and shared scalars have history variables that say who
//! changed them last ([`views`]).
//!
//! The engine proves or gives up. It never finds a violation: an alarm is a combination of views,
//! not a run. Joins are taken never to wait, so properties that hold only after a join are not
//! proved. Deadlocks are not looked for: whether all threads are blocked is no matter of views.

mod certificate;
mod houdini;
mod rules;
mod samples;
mod search;
#[cfg(test)]
mod tests;
mod trial;
mod views;
mod words;

use std::time::{Duration, Instant};

use mover_engine::{Conclusion, EngineError, Outcome, Proof, Statistics, Task, Unchecked};
use mover_ir::program::Property;
use mover_reduce::{Conditions, Reduction};

use crate::blocks::Blocks;
use crate::layout::Bounds;
use crate::outcome::{Question, stopped};
use rules::Rules;
use search::{Found, ModularSearch};
use views::Views;

/// One attempt at a proof.
struct Attempt {
    /// How many created threads an invariant speaks about.
    width: usize,
    /// Whether it may speak about single bits of wide numbers.
    bits: bool,
    /// The part of the time left that it may take.
    share: f64,
}

const ATTEMPTS: [Attempt; 4] = [
    Attempt {
        width: 1,
        bits: false,
        share: 0.4,
    },
    Attempt {
        width: 2,
        bits: false,
        share: 0.4,
    },
    Attempt {
        width: 1,
        bits: true,
        share: 0.6,
    },
    Attempt {
        width: 2,
        bits: true,
        share: 1.0,
    },
];

/// For an attempt if there is no time limit.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn check(
    task: &Task,
    question: &Question,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    let program = task.program();
    let rules = Rules::new(program).map_err(|reason| {
        EngineError::Unsupported(format!(
            "proofs for any number of threads do not take this program: {reason}"
        ))
    })?;
    // Stronger reductions ask where the other threads are, and not all of them are encoded.
    let reduction = match question.reduction {
        Reduction::None => Reduction::None,
        _ => Reduction::Static,
    };
    let mut statistics = Statistics::default();
    let mut was_stopped = false;
    for &Attempt { width, bits, share } in &ATTEMPTS {
        let left = question.limit.time_left().unwrap_or(PATIENCE);
        let limit = question.limit.within(left.mul_f64(share));
        let bounds = Bounds {
            threads: program.initial.len() + width + 1,
            may_grow: false,
            ..question.bounds
        };
        let conditions = Conditions::new(program, reduction, question.heuristics, 0);
        let blocks = Blocks::new(&conditions, bounds, false, question.limit.clone())?;
        if blocks.layout.has_all_threads {
            return Err(EngineError::Unsupported(
                "the program creates no threads in a loop, so there is nothing to prove for any \
                 number of them"
                    .into(),
            ));
        }
        let make = || Views::new(&blocks, &rules, question, width);
        let Some(mut views) = make()? else {
            return Ok(given_up(question, statistics, started, &conditions));
        };
        let terms = views.terms.len() as u64;
        let observables = views.observables.len() as u64;
        let mut search = ModularSearch::new(&mut views, bits, &limit);
        let found = search.run(&mut |so_far| {
            progress(&Statistics {
                time: started.elapsed(),
                ..*so_far
            });
        });
        let mut effort = statistics.effort;
        effort += search.effort();
        statistics = Statistics {
            time: started.elapsed(),
            depth: search.depth(),
            obligations: statistics.obligations + search.obligations,
            lemmas: search.lemmas(),
            bits: observables,
            terms,
            effort,
            ..Statistics::default()
        };
        let excluded = match found {
            Found::Invariant(excluded) => excluded,
            Found::Alarm => continue,
            Found::Stopped if question.limit.stop().is_some() => {
                return Ok(given_up(question, statistics, started, &conditions));
            }
            Found::Stopped => {
                was_stopped = true;
                continue;
            }
        };
        let mut proof = Proof {
            invariant: excluded.iter().map(|cube| views.describe(cube)).collect(),
            ..Proof::default()
        };
        let threads = if width == 1 {
            "one thread"
        } else {
            "two threads"
        };
        proof.certified.push(format!(
            "for any number of threads: the invariant of {} clauses about shared memory and {threads} \
             holds at the start, is kept by the thread's own steps, by all other threads and by \
             creation, and excludes violations",
            excluded.len()
        ));
        let Some(mut fresh) = make()? else {
            return Ok(given_up(question, statistics, started, &conditions));
        };
        if !certificate::certify(&mut fresh, question, &excluded, &mut proof)? {
            return Ok(given_up(question, statistics, started, &conditions));
        }
        let tried = trial::try_with_few_threads(program, question.errors, &question.limit)?;
        proof.certified.push(format!(
            "{tried} steps of random runs with 2, 3 and 4 created threads meet no violation"
        ));
        statistics.time = started.elapsed();
        return Ok(Outcome {
            proof: Some(proof),
            unchecked: unchecked(task),
            declined: conditions.declined.clone(),
            ..Outcome::new(
                Conclusion::Safe { up_to: Vec::new() },
                statistics,
                conditions.reduction.name(),
            )
        });
    }
    let reason = if was_stopped {
        "no proof for any number of threads was found"
    } else {
        "there is no proof for any number of threads by invariants about two of them"
    };
    statistics.time = started.elapsed();
    Ok(Outcome::new(
        Conclusion::Refused {
            reason: reason.into(),
            advice: "another --engine, and --threads with a small number".into(),
        },
        statistics,
        reduction.name(),
    ))
}

/// What such a proof says nothing about.
fn unchecked(task: &Task) -> Vec<Unchecked> {
    let reasons = [
        (
            Property::NoDeadlock,
            "whether all of any number of threads are blocked is not checked",
        ),
        (
            Property::NoDataRace,
            "data races of any number of threads are not checked",
        ),
    ];
    let asked = |property: &Property| match property {
        Property::NoDeadlock => task.asks_for_deadlocks(),
        _ => task.asks_for_races(),
    };
    reasons
        .into_iter()
        .filter(|(property, _)| asked(property))
        .map(|(property, reason)| Unchecked {
            property,
            reason: reason.into(),
            advice: "another --engine, and --threads with a small number".into(),
        })
        .collect()
}

fn given_up(
    question: &Question,
    mut statistics: Statistics,
    started: Instant,
    conditions: &Conditions,
) -> Outcome {
    statistics.time = started.elapsed();
    let so_far = format!(" with invariants of {} frames", statistics.depth);
    Outcome {
        declined: conditions.declined.clone(),
        ..Outcome::new(
            stopped(&question.limit, so_far, "another --engine"),
            statistics,
            conditions.reduction.name(),
        )
    }
}

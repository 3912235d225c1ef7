//! Proofs for any number of threads.
//!
//! Thread-modular verification after Flanagan and Qadeer (2003), *Thread-Modular Model Checking*,
//! and Cohen and Namjoshi (2007), *Local Proofs for Global Safety Properties*: an invariant speaks
//! about shared memory and one thread (here also two), and says the same of every thread. It must
//! survive the thread's own steps, creation, and the steps of any other thread that satisfies it,
//! too. First the program is freed of the handles of threads ([`handles`]), and it is checked that
//! steps depend on shared memory and their own thread only ([`rules`]). Then
//!
//! - programs with few values are tried with explicit sets of views of one, two and three threads
//!   ([`view_sets`]), after Abdulla, Haziza and Holík (2013), *All for the Price of Few*;
//! - for the others an invariant is searched for in the manner of IC3 ([`search`]), so values are
//!   bits and comparisons of the program and need not be few.
//!
//! Different from these papers, the threads that are there from the start are part of the shared
//! state (so `main` is exact), locks have owners, and in formulas shared scalars have history
//! variables that say who changed them last ([`views`]).
//!
//! The engine proves or gives up. It never finds a violation: an alarm is a combination of views,
//! not a run. Joins are taken never to wait, so properties that hold only after a join are not
//! proved.
//!
//! Data races and deadlocks are looked for in explicit views only. Two threads that race are in one
//! view. A deadlock blocks all threads of each of its views; a thread whose condition was weakened
//! (a join, a wait for a condition variable) counts as blocked there, so such programs are not
//! proved to be free of deadlocks. What is not proved is told as such.

mod certificate;
mod configurations;
mod handles;
mod houdini;
mod places;
mod rules;
mod samples;
mod search;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_threads;
mod trial;
mod view_sets;
mod view_words;
mod views;
mod words;

use std::time::{Duration, Instant};

use mover_engine::{Conclusion, EngineError, Outcome, Proof, Statistics, Task, Unchecked};
use mover_ir::program::{Program, Property};
use mover_reduce::facts::thread_bound::most_threads;
use mover_reduce::transform::dead_values::{drop_useless_globals, forget_dead_values};
use mover_reduce::{Reduction, ReductionPlan};

use crate::blocks::Blocks;
use crate::layout::Bounds;
use crate::outcome::{Question, stopped};
use configurations::{Configurations, GiveUp};
use handles::{changed_conditions, keeps_accesses, left_out, without_handles};
use places::by_places;
use rules::{Refusal, Rules};
use search::{Found, ModularSearch};
use view_sets::{Follow, ViewSets};
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

/// Threads of an explicit view, at most, and the part of the time for all such attempts.
const WIDEST: usize = 3;
const FEW_VALUES_SHARE: f64 = 0.25;
/// The part of the time left for facts at places.
const PLACES_SHARE: f64 = 0.7;

/// For an attempt if there is no time limit.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn check(
    task: &Task,
    question: &Question,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    let refused = |reason: Refusal| {
        EngineError::Unsupported(format!(
            "proofs for any number of threads do not take this program: {reason}"
        ))
    };
    let mut program = without_handles(task.program()).map_err(refused)?;
    if most_threads(&program) < program.max_threads {
        return Err(EngineError::Unsupported(
            "the program creates no threads in a loop, so there is nothing to prove for any number \
             of them"
                .into(),
        ));
    }
    let rules = Rules::new(&program).map_err(refused)?;
    if let Some(outcome) = by_few_values(task, question, &program, &rules, started)? {
        return Ok(outcome);
    }
    let places = program.templates.iter_mut().flat_map(|t| &mut t.locations);
    places.for_each(|place| place.accesses.clear());
    let share = PLACES_SHARE;
    if let Some(outcome) = by_places(task, question, &program, &rules, share, started)? {
        return Ok(outcome);
    }
    by_formulas(task, question, &program, &rules, progress, started)
}

/// A proof by an invariant over bits and comparisons.
fn by_formulas(
    task: &Task,
    question: &Question,
    program: &Program,
    rules: &Rules,
    progress: &mut dyn FnMut(&Statistics),
    started: Instant,
) -> Result<Outcome, EngineError> {
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
        let plan = ReductionPlan::new(program, reduction, question.heuristics, 0);
        let blocks = Blocks::new(&plan, bounds, false, question.limit.clone())?;
        let make = || Views::new(&blocks, rules, question, width);
        let Some(mut views) = make()? else {
            return Ok(given_up(question, statistics, started, &plan));
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
                return Ok(given_up(question, statistics, started, &plan));
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
            return Ok(given_up(question, statistics, started, &plan));
        };
        if !certificate::certify(&mut fresh, question, &excluded, &mut proof)? {
            return Ok(given_up(question, statistics, started, &plan));
        }
        let tried = trial::try_with_few_threads(task.program(), question.errors, &question.limit)?;
        proof.certified.push(trial::told(tried));
        statistics.time = started.elapsed();
        return Ok(Outcome {
            proof: Some(proof),
            unchecked: unchecked(task, program, Also::default()),
            declined: plan.declined.clone(),
            ..Outcome::new(
                Conclusion::Safe { up_to: Vec::new() },
                statistics,
                plan.reduction.name(),
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

/// A proof by explicit sets of views, for programs with few values.
fn by_few_values(
    task: &Task,
    question: &Question,
    program: &Program,
    rules: &Rules,
    started: Instant,
) -> Result<Option<Outcome>, EngineError> {
    let mut small = program.clone();
    drop_useless_globals(&mut small);
    forget_dead_values(&mut small);
    let Some(configurations) = Configurations::new(&small, rules, question.errors) else {
        return Ok(None);
    };
    let configurations = configurations.with_unsure(changed_conditions(task.program(), program));
    let races = task.asks_for_races()
        && keeps_accesses(task.program(), program)
        && rules.take_accesses_of(program);
    let left = question.limit.time_left().unwrap_or(PATIENCE);
    let limit = question.limit.within(left.mul_f64(FEW_VALUES_SHARE));
    let mut found: Option<(ViewSets, usize, Also)> = None;
    for width in 1..=WIDEST {
        let mut sets = ViewSets::new(&configurations, width);
        match sets.close(Follow::ALL, &limit) {
            Ok(()) => {}
            Err(GiveUp::Alarm) => continue,
            Err(GiveUp::TooMany | GiveUp::Stopped) => break,
        }
        let also = Also {
            races: races && width > 1 && !sets.may_race(),
            deadlocks: question.deadlocks && !sets.may_deadlock(),
        };
        let is_all = (also.races || !races) && (also.deadlocks || !question.deadlocks);
        if found
            .as_ref()
            .is_none_or(|(.., before)| also.count() > before.count())
        {
            found = Some((sets, width, also));
        }
        if is_all {
            break;
        }
    }
    if let Some((sets, width, also)) = found {
        let wrong = |what: String| {
            EngineError::Internal(format!(
                "the views for any number of threads fail their check: {what}"
            ))
        };
        if !sets.check(&question.limit).map_err(wrong)? {
            return Ok(None);
        }
        let threads = ["no thread", "one thread", "two threads", "three threads"][width];
        let mut proof = Proof {
            invariant: view_words::describe(&sets, &small, rules, width),
            ..Proof::default()
        };
        proof.certified.push(format!(
            "for any number of threads: {} views of shared memory and {threads} contain the start, \
             every step of the threads in them, of all other threads and of creation, and no violation; \
             checked again step by step",
            sets.count()
        ));
        if also.races {
            let what = "no two threads of a view are about to make conflicting accesses";
            proof.certified.push(what.into());
        }
        if also.deadlocks {
            let what = "in each view some thread can move, or all may stay where they are";
            proof.certified.push(what.into());
        }
        let tried = trial::try_with_few_threads(task.program(), question.errors, &question.limit)?;
        proof.certified.push(trial::told(tried));
        let statistics = Statistics {
            time: started.elapsed(),
            depth: width as u64,
            states: sets.count() as u64,
            ..Statistics::default()
        };
        return Ok(Some(Outcome {
            proof: Some(proof),
            unchecked: unchecked(task, program, also),
            ..Outcome::new(
                Conclusion::Safe { up_to: Vec::new() },
                statistics,
                Reduction::None.name(),
            )
        }));
    }
    Ok(None)
}

/// What a proof shows besides that no violation is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Also {
    races: bool,
    deadlocks: bool,
}

impl Also {
    fn count(self) -> u32 {
        u32::from(self.races) + u32::from(self.deadlocks)
    }
}

/// What such a proof says nothing about.
fn unchecked(task: &Task, program: &Program, also: Also) -> Vec<Unchecked> {
    let mut unchecked = Vec::new();
    let mut open = |property: Property, reason: &str| {
        unchecked.push(Unchecked {
            property,
            reason: reason.into(),
            advice: "another --engine, and --threads with a small number".into(),
        });
    };
    if task.asks_for_deadlocks() && !also.deadlocks {
        let reason = "no proof that of any number of threads not all are blocked";
        open(Property::NoDeadlock, reason);
    }
    if task.asks_for_races() && !also.races {
        let reason = "no proof that any number of threads have no data race";
        open(Property::NoDataRace, reason);
    }
    for property in left_out(task.program(), program) {
        let reason = "an error depends on which of any number of threads a handle names";
        open(property, reason);
    }
    unchecked
}

fn given_up(
    question: &Question,
    mut statistics: Statistics,
    started: Instant,
    plan: &ReductionPlan,
) -> Outcome {
    statistics.time = started.elapsed();
    let so_far = format!(" with invariants of {} frames", statistics.depth);
    Outcome {
        declined: plan.declined.clone(),
        ..Outcome::new(
            stopped(&question.limit, so_far, "another --engine"),
            statistics,
            plan.reduction.name(),
        )
    }
}

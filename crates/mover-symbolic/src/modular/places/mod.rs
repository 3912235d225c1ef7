//! Proofs for any number of threads by facts at places.
//!
//! IC3 over views ([`super::search`]) asks about a step of any thread from any place at once, and
//! builds what it says from single literals. Here control is explicit: for every combination of
//! places of the first thread and of one or two others (a [`control::Context`]) it is computed what
//! always holds there, by a thread-modular abstract interpretation over predicates of the program
//! ([`predicates`], [`facts`]). It is an analysis and not a search: it ends with the strongest facts
//! of its form, and either they exclude violations or there is no such proof.
//!
//! The facts of contexts with fewer threads hold for those with more, since a context says nothing of
//! threads that are not in it. So a step of a thread outside of a context with two threads may use the
//! facts of all pairs of the three.

mod check;
mod control;
mod facts;
mod predicates;
#[cfg(test)]
mod tests;
mod words;

use std::time::Instant;

use mover_engine::{Conclusion, Control, EngineError, Outcome, Proof, Statistics, Task};
use mover_ir::program::Program;
use mover_reduce::Reduction;
use mover_reduce::transform::dead_values::{drop_useless_globals, forget_dead_values};

use super::handles::without_arrays;
use super::rules::Rules;
use super::{Also, PATIENCE, trial, unchecked};
use crate::outcome::Question;
use check::{Claim, Claims};
use control::Ways;
use facts::{Follow, GiveUp, Search, System};
use predicates::Pool;

/// Cells of an array that is looked at.
const LONGEST_ARRAY: u32 = 16;

/// One analysis.
struct Attempt {
    /// Threads of a context besides the fixed ones.
    width: usize,
    many_guards: bool,
    /// The part of the time left that it may take.
    share: f64,
}

const ATTEMPTS: [Attempt; 3] = [
    Attempt {
        width: 1,
        many_guards: false,
        share: 0.45,
    },
    Attempt {
        width: 2,
        many_guards: false,
        share: 0.65,
    },
    Attempt {
        width: 2,
        many_guards: true,
        share: 1.0,
    },
];

/// The facts of a program with contexts of so many threads, or why there are none.
fn find(
    program: &Program,
    rules: &Rules,
    pool: &Pool,
    width: usize,
    errors: bool,
    follow: Follow,
    limit: &Control,
) -> Result<Result<(Claims, Statistics), GiveUp>, EngineError> {
    let Some(ways) = Ways::new(program, width, errors, limit)? else {
        return Ok(Err(GiveUp::Unsuited));
    };
    let mut system = System::new(ways, pool, rules);
    let mut search = Search::new(&mut system, limit);
    if let Err(none) = search.run(follow) {
        return Ok(Err(none));
    }
    let claims: Claims = search
        .found()
        .map(|(context, held)| {
            let claim = Claim {
                predicates: held.predicates.clone(),
                facts: held.facts(),
            };
            (context.clone(), claim)
        })
        .collect();
    let statistics = Statistics {
        depth: width as u64,
        obligations: search.questions,
        lemmas: claims.values().map(|claim| claim.facts.len() as u64).sum(),
        terms: search.terms() as u64,
        effort: search.effort(),
        ..Statistics::default()
    };
    Ok(Ok((claims, statistics)))
}

/// Checks claims with everything made anew; what to tell of it, or none if a limit was reached.
fn certify(
    program: &Program,
    rules: &Rules,
    pool: &Pool,
    width: usize,
    claims: &Claims,
    question: &Question,
) -> Result<Option<Vec<String>>, EngineError> {
    let limit = &question.limit;
    let Some(ways) = Ways::new(program, width, question.errors, limit)? else {
        return Ok(None);
    };
    let mut system = System::new(ways, pool, rules);
    let Some(steps) = check::check(&mut system, claims, question.solver(), limit)? else {
        return Ok(None);
    };
    let states = check::tried(&mut system, program, claims, limit)?;
    let facts: usize = claims.values().map(|claim| claim.facts.len()).sum();
    Ok(Some(vec![
        format!(
            "for any number of threads: {facts} facts at {} combinations of places hold at the start and \
             are kept by each of {steps} steps of the threads there, of all other threads and of \
             creation, and exclude violations",
            claims.len()
        ),
        format!("the facts hold in {states} states of random runs with 2, 3 and 4 created threads"),
    ]))
}

/// A proof by facts at places, if there is one.
pub fn by_places(
    task: &Task,
    question: &Question,
    program: &Program,
    rules: &Rules,
    share: f64,
    started: Instant,
) -> Result<Option<Outcome>, EngineError> {
    let without = without_arrays(program, LONGEST_ARRAY);
    let mut small = without.unwrap_or_else(|_| program.clone());
    drop_useless_globals(&mut small);
    forget_dead_values(&mut small);
    let Some(mut pool) = Pool::new(&small, rules) else {
        return Ok(None);
    };
    let left = question.limit.time_left().unwrap_or(PATIENCE);
    let limit = question.limit.within(left.mul_f64(share));
    for attempt in &ATTEMPTS {
        let width = attempt.width;
        pool.many_guards = attempt.many_guards;
        let left = limit.time_left().unwrap_or(PATIENCE);
        let limit = limit.within(left.mul_f64(attempt.share));
        let all = Follow::ALL;
        let found = find(&small, rules, &pool, width, question.errors, all, &limit)?;
        let (claims, mut statistics) = match found {
            Ok(found) => found,
            Err(GiveUp::Unsuited) => return Ok(None),
            Err(GiveUp::Alarm | GiveUp::Stopped) => continue,
        };
        let Some(certified) = certify(&small, rules, &pool, width, &claims, question)? else {
            return Ok(None);
        };
        let mut proof = Proof {
            invariant: words::describe(&small, &pool, &claims),
            certified,
            ..Proof::default()
        };
        let tried = trial::try_with_few_threads(task.program(), question.errors, &question.limit)?;
        proof.certified.push(trial::told(tried));
        statistics.time = started.elapsed();
        statistics.states = claims.len() as u64;
        return Ok(Some(Outcome {
            proof: Some(proof),
            unchecked: unchecked(task, program, Also::default()),
            ..Outcome::new(
                Conclusion::Safe { up_to: Vec::new() },
                statistics,
                Reduction::None.name(),
            )
        }));
    }
    Ok(None)
}

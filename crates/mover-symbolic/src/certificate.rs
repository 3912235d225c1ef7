//! Certification of proofs.
//!
//! An invariant is checked by a solver that shares nothing with the search: it holds initially,
//! every block preserves it, and it excludes all bad states. The transition relation is also
//! rebuilt for the check. If the program was reduced, the invariant is one of the states
//! between transactions, and the relation is that of blocks; the single steps inside a
//! transaction need not preserve it.
//!
//! Such a proof depends on the reduction. It no longer does if it can be *carried over* to
//! single steps: the clauses that single steps preserve are kept, and IC3 searches for the
//! missing ones, which describe threads in the middle of a transaction. The resulting invariant
//! is then checked in the same way. This can take as long as a proof without reduction, so it
//! has a limit.

use std::time::Instant;

use mover_engine::{EngineError, Proof, Task};
use mover_reduce::Reduction;
use rustc_hash::FxHashMap;

use crate::Prepared;
use crate::blast::Blaster;
use crate::ic3::{self, Cube, Found};
use crate::outcome::{Question, note_checks};
use crate::sat::Answer;
use crate::system::refine::{Comparison, Side};
use crate::system::{AlsoBad, Source, System};
use crate::term::{Evaluation, Term, Terms, Var};

/// The proof that the excluded cubes give, certified if that was asked for; none if
/// a limit was reached.
pub fn prove(
    system: &System,
    question: &Question,
    also_bad: &AlsoBad,
    excluded: &[Cube],
) -> Result<Option<Proof>, EngineError> {
    let said = excluded.iter().filter_map(|cube| system.describe(cube));
    let invariant = said
        .map(|parts| format!("not ({})", parts.join(" && ")))
        .collect();
    let mut proof = Proof {
        invariant,
        ..Proof::default()
    };
    if question.certify {
        let mut checks = Proof::default();
        if !certify_anew(system, question, also_bad, excluded, &mut checks)? {
            return Ok(None);
        }
        proof.certified.push(format!(
            "the invariant of {} clauses holds initially, is kept by every block and excludes violations",
            excluded.len()
        ));
        proof.certified.append(&mut checks.certified);
    }
    Ok(Some(proof))
}

/// An invariant of transactions.
pub struct Proved<'s, 'a, 'p> {
    pub system: &'s System<'a, 'p>,
    pub excluded: &'s [Cube],
    pub also_bad: &'s AlsoBad,
}

/// Makes a proof about transactions one about single steps and adds to it whether that was
/// possible. An error if single steps can do what the proof says cannot happen.
pub fn carry_over(
    task: &Task,
    question: &Question,
    proved: &Proved,
    proof: &mut Proof,
) -> Result<(), EngineError> {
    let question = Question {
        reduction: Reduction::None,
        ..question.clone()
    };
    let prepared = Prepared::new(task, &question)?;
    let blocks = prepared.blocks(&question)?;
    let started = Instant::now();
    let mut not_done = |reason: Option<&str>| {
        let time = started.elapsed().as_secs_f64();
        let not_found = format!("none was found in {time:.1} s");
        let reason = reason.unwrap_or(&not_found);
        proof
            .uncertified
            .push(format!("by an invariant of single steps: {reason}"));
        Ok(())
    };
    let Some(mut system) = System::new(&blocks, &question, proved.also_bad, true) else {
        return not_done(None);
    };
    let carried = translate(proved, &mut system);
    let excluded = match ic3::prove(&mut system, &question, carried.clone()) {
        Found::Stopped => return not_done(None),
        // Transactions may have fewer threads and objects at a time than single steps.
        Found::Run { beyond: true, .. } => {
            return not_done(Some(
                "they need more threads or objects than there is room for",
            ));
        }
        Found::Run { .. } => {
            return Err(EngineError::Internal(
                "the invariant over transactions is wrong: single steps lead to a violation".into(),
            ));
        }
        Found::Invariant(found) => found,
    };
    let mut checks = Proof::default();
    if !certify_anew(&system, &question, proved.also_bad, &excluded, &mut checks)? {
        return not_done(None);
    }
    let kept = excluded.iter().filter(|cube| carried.contains(cube));
    let kept = kept.count();
    proof.certified.push(format!(
        "without reduction, {} of its clauses and {} others hold initially, are kept by every single step and exclude violations",
        kept,
        excluded.len() - kept
    ));
    proof.certified.append(&mut checks.certified);
    Ok(())
}

/// The clauses in terms of another system of the same program, as far as it has these terms.
fn translate(proved: &Proved, system: &mut System) -> Vec<Cube> {
    let old = proved.system;
    let cells: FxHashMap<usize, usize> = old
        .blocks
        .layout
        .cells
        .iter()
        .enumerate()
        .filter_map(|(number, cell)| {
            let mut cells = system.blocks.layout.cells.iter();
            Some((number, cells.position(|other| other == cell)?))
        })
        .collect();
    let side = |side: Side| match side {
        Side::Cell(cell) => cells.get(&cell).map(|&cell| Side::Cell(cell)),
        Side::Value(_) => Some(side),
    };
    for comparison in &old.refinements {
        if let (Some(left), Some(right)) = (side(comparison.left), side(comparison.right)) {
            system.add_comparison(Comparison {
                left,
                right,
                ..*comparison
            });
        }
    }
    let observables: Vec<Option<usize>> = old
        .observables
        .iter()
        .map(|o| match o.source {
            Source::Bit { cell, bit } => {
                let cell = *cells.get(&cell)?;
                let mut all = system.observables.iter();
                all.position(|other| other.source == Source::Bit { cell, bit })
            }
            Source::Predicate(number) => {
                let name = &old.predicates[number].name;
                let mut all = system.predicates.iter();
                let same = all.position(|other| other.name == *name)?;
                let mut all = system.observables.iter();
                all.position(|other| other.source == Source::Predicate(same))
            }
        })
        .collect();
    let translated = |cube: &Cube| -> Option<Cube> {
        let literals = cube
            .iter()
            .map(|&(observable, value)| Some((observables[observable]?, value)));
        let mut cube: Cube = literals.collect::<Option<_>>()?;
        cube.sort_unstable();
        Some(cube)
    };
    proved.excluded.iter().filter_map(translated).collect()
}

/// Checks an invariant on a formula that is made for it.
fn certify_anew(
    system: &System,
    question: &Question,
    also_bad: &AlsoBad,
    excluded: &[Cube],
    checks: &mut Proof,
) -> Result<bool, EngineError> {
    let Some(mut again) = System::new(system.blocks, question, also_bad, true) else {
        return Ok(false);
    };
    for &comparison in &system.refinements {
        again.add_comparison(comparison);
    }
    certify(&again, question, excluded, checks)
}

/// The clause of an excluded cube over given values of the observables.
fn clause(terms: &mut Terms, cube: &Cube, observable: impl Fn(usize) -> (Term, u8)) -> Term {
    let mut parts = Vec::new();
    for &(number, value) in cube {
        let (term, bit) = observable(number);
        let width = terms.width(term);
        let by = terms.constant(bit.into(), width);
        let shifted = terms.lshr(term, by);
        let is_set = terms.resize(shifted, 1, false);
        parts.push(if value { terms.not(is_set) } else { is_set });
    }
    terms.any(parts)
}

/// The clauses of the invariant, now and after the next block.
fn clauses(system: &System, terms: &mut Terms, excluded: &[Cube]) -> (Vec<Term>, Vec<Term>) {
    let observable = |number: usize| &system.observables[number];
    excluded
        .iter()
        .map(|cube| {
            let now = clause(terms, cube, |n| (observable(n).now, observable(n).bit));
            let next = clause(terms, cube, |n| (observable(n).next, observable(n).bit));
            (now, next)
        })
        .unzip()
}

/// That the invariant admits a violation or is broken by a block.
pub fn broken(system: &System, excluded: &[Cube]) -> (Terms, Term) {
    let mut terms = system.terms.clone();
    let (now, next) = clauses(system, &mut terms, excluded);
    let holds = terms.all(now);
    let kept = terms.all(next);
    let not_kept = terms.not(kept);
    let breaks = terms.and(system.block.possible, not_kept);
    let fails = terms.or(system.bad, breaks);
    let broken = terms.and(holds, fails);
    (terms, broken)
}

fn certify(
    system: &System,
    question: &Question,
    excluded: &[Cube],
    checks: &mut Proof,
) -> Result<bool, EngineError> {
    let (mut terms, broken) = broken(system, excluded);
    let (now, _) = clauses(system, &mut terms, excluded);
    for start in &system.starts {
        let values = system.assignment(&start.state);
        let initial = |var: Var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&terms, &initial);
        if !now.iter().all(|&clause| evaluation.holds(clause)) {
            return Err(EngineError::Internal(
                "the invariant does not hold initially".into(),
            ));
        }
    }
    let mut blaster = Blaster::new(question.solver());
    match blaster.check(&terms, &[broken]) {
        Answer::Unsat => {
            note_checks(checks, &blaster.solver)?;
            Ok(true)
        }
        Answer::Sat => Err(EngineError::Internal(
            "the invariant found is not inductive or admits a violation".into(),
        )),
        Answer::Stopped => Ok(false),
    }
}

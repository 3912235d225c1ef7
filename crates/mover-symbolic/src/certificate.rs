//! Proofs that are checked again.
//!
//! An invariant is checked by a solver that has seen nothing of the search: it
//! holds initially, every block keeps it, and it excludes all bad states. The
//! relation is made anew for it, too. If the program was reduced, the invariant is
//! one of the states between transactions, and the relation is that of blocks; the
//! single steps inside of a transaction do not keep it and need not.

use crate::blast::Blaster;
use crate::ic3::Cube;
use crate::outcome::{Failure, Proof, Question};
use crate::sat::Answer;
use crate::system::System;
use crate::term::{Evaluation, Term, Terms, Var};

/// The proof that the excluded cubes give, certified if that was asked for; none if
/// a limit was reached.
pub fn prove(
    system: &System,
    question: &Question,
    beyond: bool,
    excluded: &[Cube],
) -> Result<Option<Proof>, Failure> {
    let invariant = excluded
        .iter()
        .map(|cube| {
            let parts = system.describe(cube);
            format!("not ({})", parts.join(" && "))
        })
        .collect();
    let mut proof = Proof {
        invariant,
        certified: Vec::new(),
    };
    if question.certify {
        let Some(again) = System::new(system.blocks, question, beyond, true) else {
            return Ok(None);
        };
        let mut checks = Proof::default();
        if !certify(&again, question, excluded, &mut checks)? {
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
) -> Result<bool, Failure> {
    let (mut terms, broken) = broken(system, excluded);
    let (now, _) = clauses(system, &mut terms, excluded);
    for start in &system.starts {
        let values = system.assignment(&start.state);
        let initial = |var: Var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&terms, &initial);
        if !now.iter().all(|&clause| evaluation.holds(clause)) {
            return Err(Failure::Internal(
                "the invariant does not hold initially".into(),
            ));
        }
    }
    let mut blaster = Blaster::new(question.solver());
    match blaster.check(&terms, &[broken]) {
        Answer::Unsat => {
            checks.note_checks(&blaster.solver)?;
            Ok(true)
        }
        Answer::Sat => Err(Failure::Internal("the invariant found is none".into())),
        Answer::Stopped => Ok(false),
    }
}

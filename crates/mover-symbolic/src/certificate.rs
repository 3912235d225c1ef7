//! Proofs that are checked again.
//!
//! An invariant is checked by a solver that has seen nothing of the search: it
//! holds initially, every block keeps it, and it excludes all bad states. The
//! relation is made anew for it, too. If the program was reduced, the invariant is
//! one of the states between transactions, and the relation is that of blocks; the
//! single steps inside of a transaction do not keep it and need not.

use crate::blast::Blaster;
use crate::ic3::Cube;
use crate::outcome::{Proof, Question};
use crate::sat::{Answer, Solver};
use crate::system::System;
use crate::term::{Evaluation, Term, Terms, Var};

/// The proof that the excluded cubes give, certified if that was asked for.
pub fn prove(system: &System, question: &Question, excluded: &[Cube]) -> Result<Proof, String> {
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
        let again = System::new(system.blocks, question, false, true);
        certify(&again, question, excluded)?;
        proof.certified.push(format!(
            "the invariant of {} clauses holds initially, is kept by every block and excludes violations",
            excluded.len()
        ));
    }
    Ok(proof)
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

fn certify(system: &System, question: &Question, excluded: &[Cube]) -> Result<(), String> {
    let mut terms = system.terms.clone();
    let now: Vec<Term> = excluded
        .iter()
        .map(|cube| {
            clause(&mut terms, cube, |number| {
                let o = &system.observables[number];
                (o.now, o.bit)
            })
        })
        .collect();
    let next: Vec<Term> = excluded
        .iter()
        .map(|cube| {
            clause(&mut terms, cube, |number| {
                let o = &system.observables[number];
                (o.next, o.bit)
            })
        })
        .collect();
    let initial = |var: Var| system.initial_value(var);
    let mut evaluation = Evaluation::new(&terms, &initial);
    if !now.iter().all(|&clause| evaluation.holds(clause)) {
        return Err("the invariant does not hold initially".into());
    }
    let mut blaster = Blaster::new(Solver::new(question.limit.clone()));
    for &clause in &now {
        blaster.assert(&terms, clause);
    }
    match blaster.check(&terms, &[system.bad]) {
        Answer::Unsat => {}
        Answer::Sat => return Err("the invariant admits a violation".into()),
        Answer::Stopped => return Err("a limit was reached before the proof was certified".into()),
    }
    let kept = terms.all(next);
    let broken = terms.not(kept);
    match blaster.check(&terms, &[system.block.possible, broken]) {
        Answer::Unsat => Ok(()),
        Answer::Sat => Err("the invariant is not inductive".into()),
        Answer::Stopped => Err("a limit was reached before the proof was certified".into()),
    }
}

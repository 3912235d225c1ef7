//! Certification of proofs for any number of threads.
//!
//! The relation is built anew, and a fresh solver answers each of these questions separately.
//!
//! - *Start*: every view of the initial state satisfies the invariant. (Evaluated, not solved.)
//! - *Own*: a step of a created thread keeps the invariant in the views that it is part of.
//! - *Interference*: the same in the views that it is not part of.
//! - *Fixed*: a step of a fixed thread that creates nothing keeps it in every view.
//! - *Creation*: a step of a fixed thread that creates a thread keeps it in every view, with the
//!   new thread and without.
//! - *Safety*: no state all of whose views satisfy the invariant is bad, and none has a step that
//!   leaves what is encoded.
//!
//! Each question is asked of every seating of all slots, also of those that are equal by symmetry,
//! so no argument about symmetry is needed.

use mover_engine::{EngineError, Proof};

use super::search::Cube;
use super::views::{Seats, Views};
use crate::blast::Blaster;
use crate::outcome::{Question, note_checks};
use crate::sat::Answer;
use crate::term::{Evaluation, Term, Terms};

/// The checks, by name; tests leave single ones out of a search and see that the others notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    Own,
    Interference,
    Fixed,
    Creation,
    Safety,
}

impl Check {
    pub const ALL: [Check; 5] = [
        Check::Own,
        Check::Interference,
        Check::Fixed,
        Check::Creation,
        Check::Safety,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Check::Own => "own steps",
            Check::Interference => "interference",
            Check::Fixed => "steps of the first thread",
            Check::Creation => "creation",
            Check::Safety => "safety",
        }
    }
}

/// Checks the invariant; false if a limit was reached.
pub fn certify(
    views: &mut Views,
    question: &Question,
    excluded: &[Cube],
    proof: &mut Proof,
) -> Result<bool, EngineError> {
    let seatings = views.seatings(views.created());
    let now: Vec<Term> = seatings
        .iter()
        .map(|seats| invariant(views, false, seats, excluded))
        .collect();
    let values = views.initial();
    let at = |var| values.get(&var).copied().unwrap_or(0);
    let mut evaluation = Evaluation::new(&views.terms, &at);
    if !now.iter().all(|&holds| evaluation.holds(holds)) {
        return Err(EngineError::Internal(
            "the invariant does not hold at the start".into(),
        ));
    }
    let mut all = vec![views.domain];
    all.extend(&now);
    let holds = views.terms.all(all);
    let next: Vec<Term> = seatings
        .iter()
        .map(|seats| invariant(views, true, seats, excluded))
        .collect();
    for check in Check::ALL {
        let broken = broken(views, check, &seatings, &next);
        let mut blaster = Blaster::new(question.solver());
        match blaster.check(&views.terms, &[holds, broken]) {
            Answer::Unsat => {
                let mut checks = Proof::default();
                note_checks(&mut checks, &blaster.solver)?;
                let name = check.name();
                proof
                    .certified
                    .push(format!("any number of threads: {name} checked"));
                proof.certified.append(&mut checks.certified);
            }
            Answer::Sat => {
                return Err(EngineError::Internal(format!(
                    "the invariant for any number of threads fails its check of {}",
                    check.name()
                )));
            }
            Answer::Stopped => return Ok(false),
        }
    }
    Ok(true)
}

/// The condition that breaks a check, provided that the invariant holds now.
fn broken(views: &mut Views, check: Check, seatings: &[Seats], next: &[Term]) -> Term {
    if check == Check::Safety {
        return views.bad;
    }
    let created = views.created();
    let creates = views.creates();
    let mut cases = Vec::new();
    for slot in 0..created.end {
        let moves = views.moves(slot);
        let is_fixed = slot < created.start;
        for (seats, &kept) in seatings.iter().zip(next) {
            let is_own = seats.contains(&Some(slot));
            let applies = match check {
                Check::Own => !is_fixed && is_own,
                Check::Interference => !is_fixed && !is_own,
                Check::Fixed | Check::Creation => is_fixed,
                Check::Safety => false,
            };
            if !applies {
                continue;
            }
            let terms = &mut views.terms;
            let lost = terms.not(kept);
            let mut case = terms.and(moves, lost);
            if is_fixed {
                let this = if check == Check::Creation {
                    creates
                } else {
                    terms.not(creates)
                };
                case = terms.and(case, this);
            }
            cases.push(case);
        }
    }
    let any = views.terms.any(cases);
    views.terms.and(views.possible, any)
}

/// The invariant of one view.
fn invariant(views: &mut Views, is_next: bool, seats: &Seats, excluded: &[Cube]) -> Term {
    let observed = views.observe(is_next, seats);
    let terms = &mut views.terms;
    let mut clauses = Vec::new();
    for cube in excluded {
        let mut parts = Vec::new();
        for &(number, value) in cube {
            let (term, bit) = observed[number];
            let is_set = bit_of(terms, term, bit);
            parts.push(if value { terms.not(is_set) } else { is_set });
        }
        clauses.push(terms.any(parts));
    }
    terms.all(clauses)
}

fn bit_of(terms: &mut Terms, term: Term, bit: u8) -> Term {
    let width = terms.width(term);
    let by = terms.constant(bit.into(), width);
    let shifted = terms.lshr(term, by);
    terms.resize(shifted, 1, false)
}

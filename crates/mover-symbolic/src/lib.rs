//! Symbolic engines.
//!
//! After paper 001, *Dynamic Reductions for Model Checking Concurrent Software*: a
//! program is a transition relation whose steps are transactions ([`blocks`]),
//! written down as bit-vector [`term`]s over the cells of a state ([`layout`]), by a
//! counterpart of the concrete semantics ([`machine`]). Two engines ask questions
//! about it:
//!
//! - [`bmc`] unrolls the relation from the initial state: it finds shallow
//!   violations fast, and proves programs whose runs all end;
//! - [`ic3`] looks for an inductive invariant, and proves programs that run for ever.
//!
//! Questions go to a SAT solver that is linked in ([`sat`]), by way of circuits
//! ([`blast`]), or to any other as SMT-LIB ([`smtlib`]). A violation is a list of
//! steps that the concrete semantics has confirmed; a proof can be checked again by
//! a solver that shares nothing with the one that found it.

pub mod blast;
pub mod blocks;
pub mod bmc;
pub mod certificate;
pub mod ic3;
pub mod layout;
pub mod machine;
pub mod outcome;
pub mod sat;
pub mod smtlib;
pub mod system;
pub mod term;

use mover_ir::program::{Program, Property};
use mover_reduce::Conditions;

use blocks::Blocks;
use layout::Layout;
use outcome::Question;
use term::{Term, Terms};

/// The mover conditions of a program for the threads that are encoded.
fn conditions(program: &Program, question: &Question) -> Result<Conditions, String> {
    let threads = Layout::new(program, question.threads)?.slots.len();
    Ok(Conditions::new(
        program,
        question.reduction,
        question.heuristics,
        threads,
    ))
}

/// That a state violates what is asked for.
fn bad(blocks: &Blocks, question: &Question, terms: &mut Terms, state: &[Term]) -> Term {
    let counts = |property: Property| property != Property::UnreachCall || question.errors;
    let error = blocks.somebody_at(terms, state, |location| {
        location.error.as_ref().is_some_and(|mark| counts(mark.property))
    });
    if !question.deadlocks {
        return error;
    }
    let deadlock = blocks.deadlock(terms, state);
    terms.or(error, deadlock)
}

fn thread_bound(blocks: &Blocks) -> String {
    format!("{} threads at a time", blocks.layout.slots.len())
}

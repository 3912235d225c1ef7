//! Symbolic engines.
//!
//! After Günther et al. (2017), *Dynamic Reductions for Model Checking Concurrent Software*: a
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
mod constant_bits;
pub mod ic3;
mod initial_prefix;
pub mod layout;
pub mod machine;
mod memory;
pub mod outcome;
mod peephole;
pub mod rup;
pub mod sat;
pub mod smtlib;
pub mod system;
pub mod term;
pub mod token;

use mover_ir::program::{BoundMet, LocationId, Program, Property, TemplateId};
use mover_ir::semantics::Step;
use mover_reduce::Conditions;
use mover_reduce::facts::pointer_provenance::pointers_stay;
use mover_reduce::transform::unfold::{Unfolded, unfold};

use blocks::Blocks;
use layout::Layout;
use outcome::{Failure, Outcome, Question, RunEnd, Statistics};
use term::{Term, Terms};

/// A program made ready for an engine.
struct Prepared {
    unfolded: Option<Unfolded>,
    /// The mover conditions for the threads that are encoded.
    conditions: Conditions,
}

impl Prepared {
    fn new(original: &Program, question: &Question) -> Result<Prepared, Failure> {
        let unfolded = if question.unfold {
            unfold(original)
        } else {
            None
        };
        let program = unfolded.as_ref().map_or(original, |u| &u.program);
        let staying;
        let program = if !program.pointers_stay && pointers_stay(program) {
            staying = Program {
                pointers_stay: true,
                ..program.clone()
            };
            &staying
        } else {
            program
        };
        let layout = Layout::new(program, question.bounds).map_err(Failure::Unsupported)?;
        let threads = layout.slots.len();
        let conditions = Conditions::new(program, question.reduction, question.heuristics, threads);
        Ok(Prepared {
            unfolded,
            conditions,
        })
    }

    fn blocks(&self, question: &Question) -> Result<Blocks<'_>, Failure> {
        Blocks::new(
            &self.conditions,
            question.bounds,
            question.deadlocks,
            question.limit.clone(),
        )
        .map_err(Failure::Unsupported)
    }

    /// The bounds of the program that is encoded, each with the one of the original that it is.
    fn bounds(&self) -> Vec<(BoundMet, BoundMet)> {
        let mut bounds = Vec::new();
        for (template, body) in self.conditions.program.templates.iter().enumerate() {
            for (location, place) in body.locations.iter().enumerate() {
                if place.bound.is_none() {
                    continue;
                }
                let here = BoundMet {
                    template: TemplateId(template as u32),
                    location: LocationId(location as u32),
                };
                let original = match &self.unfolded {
                    Some(unfolded) => unfolded.original_bound(here),
                    None => Some(here),
                };
                bounds.extend(original.map(|original| (here, original)));
            }
        }
        bounds
    }

    /// Runs what an engine found on the semantics of the original.
    fn confirm(&self, original: &Program, steps: Vec<Step>) -> Result<RunEnd, Failure> {
        let steps = match &self.unfolded {
            Some(unfolded) => unfolded
                .original_steps(original, &steps)
                .map_err(Failure::Internal)?,
            None => steps,
        };
        outcome::confirm(original, steps)
    }
}

/// That a state violates what is asked for.
fn bad(blocks: &Blocks, question: &Question, terms: &mut Terms, state: &[Term]) -> Term {
    let counts = |property: Property| property != Property::UnreachCall || question.errors;
    let error = blocks.somebody_at(terms, state, |_, location| {
        location
            .error
            .as_ref()
            .is_some_and(|mark| counts(mark.property))
    });
    if !question.deadlocks {
        return error;
    }
    let deadlock = blocks.deadlock(terms, state);
    terms.or(error, deadlock)
}

/// Terms are deep; so are the functions that walk them.
const STACK: usize = 1 << 30;

/// Runs on a stack that is deep enough.
fn with_stack<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| Failure::Internal(format!("no thread can be started: {error}")))?;
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Bounded model checking. An error says why the program cannot be encoded.
pub fn check_bounded(
    program: &Program,
    question: &Question,
    progress: &mut (dyn FnMut(&Statistics) + Send),
) -> Result<Outcome, Failure> {
    with_stack(|| bmc::check(program, question, progress))
}

/// IC3. An error says why the program cannot be encoded.
pub fn check_inductive(
    program: &Program,
    question: &Question,
    progress: &mut (dyn FnMut(&Statistics) + Send),
) -> Result<Outcome, Failure> {
    with_stack(|| ic3::check(program, question, progress))
}

/// Token passing. An error says why the program cannot be encoded.
pub fn check_token(
    program: &Program,
    question: &Question,
    settings: &token::Settings,
    progress: &mut (dyn FnMut(&Statistics) + Send),
) -> Result<Outcome, Failure> {
    with_stack(|| token::check(program, question, settings, progress))
}

/// The question whether a violation is within the depth asked for, in SMT-LIB.
pub fn dump_bounded(program: &Program, question: &Question) -> Result<String, Failure> {
    with_stack(|| bmc::dump(program, question))
}

/// The question whether the invariant that IC3 finds can be broken, in SMT-LIB.
pub fn dump_invariant(program: &Program, question: &Question) -> Result<String, Failure> {
    with_stack(|| ic3::dump(program, question))
}

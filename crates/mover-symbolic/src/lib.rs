//! Symbolic engines.
//!
//! After Günther et al. (2017), *Dynamic Reductions for Model Checking Concurrent Software*: a
//! program is a transition relation whose steps are transactions ([`blocks`]), expressed as
//! bit-vector [`term`]s over the cells of a state ([`layout`]), by a counterpart of the
//! concrete semantics ([`machine`]). Two engines use it:
//!
//! - [`bmc`] unrolls the relation from the initial state: it finds shallow violations fast, and
//!   proves programs whose runs all end;
//! - [`ic3`] searches for an inductive invariant, and proves programs that run for ever.
//!
//! Queries go to a built-in SAT solver ([`sat`]) as circuits ([`blast`]), or to any other
//! solver as SMT-LIB ([`smtlib`]). A violation is a list of steps that the concrete semantics
//! has confirmed; a proof can be checked again by a solver that shares nothing with the one
//! that found it.

pub mod blast;
mod blocks;
mod bmc;
mod certificate;
mod constant_bits;
mod engine;
mod ic3;
mod initial_prefix;
mod layout;
mod machine;
mod memory;
mod modular;
mod order;
mod outcome;
mod peephole;
mod rup;
pub mod sat;
pub mod smtlib;
mod system;
pub mod term;
pub mod token;

pub use engine::{Bmc, Ic3, Modular, SymbolicOptions, Token};
pub use layout::Bounds;
pub use token::encode::ContextBound;
pub use token::pairs::Pairs;

use std::sync::Arc;

use mover_engine::{EngineError, PlanKey, Task};
use mover_ir::program::{BoundMet, LocationId, Program, Property, TemplateId};
use mover_ir::semantics::Step;
use mover_reduce::ReductionPlan;
use mover_reduce::transform::unfold::Unfolded;

use blocks::Blocks;
use layout::Layout;
use outcome::{Question, RunEnd};
use term::{Term, Terms};

/// A program made ready for an engine.
struct Prepared<'t> {
    unfolded: Option<&'t Unfolded>,
    /// For the threads that are encoded.
    plan: Arc<ReductionPlan>,
    /// Whether the plan has a form without conditions on places.
    has_cheaper_plan: bool,
}

impl<'t> Prepared<'t> {
    fn new(task: &'t Task, question: &Question) -> Result<Prepared<'t>, EngineError> {
        let unfolded = question.unfold.then(|| task.unfolded()).flatten();
        let layout = Layout::new(task.program_to_encode(question.unfold), question.bounds)?;
        let plan = task.plan_to_encode(PlanKey {
            unfold: question.unfold,
            reduction: question.reduction,
            heuristics: question.heuristics,
            threads: layout.slots.len(),
        });
        let cheaper = plan.without_conditions_on_places();
        Ok(Prepared {
            unfolded,
            has_cheaper_plan: cheaper.is_some(),
            plan: match cheaper {
                Some(cheaper) if question.cheaper => Arc::new(cheaper),
                _ => plan,
            },
        })
    }

    fn blocks(&self, question: &Question) -> Result<Blocks<'_>, EngineError> {
        Blocks::new(
            &self.plan,
            question.bounds,
            question.deadlocks,
            question.limit.clone(),
        )
    }

    /// The bounds of the program that is encoded, each with the one of the original that it is.
    fn bounds(&self) -> Vec<(BoundMet, BoundMet)> {
        let mut bounds = Vec::new();
        for (template, body) in self.plan.program.templates.iter().enumerate() {
            for (location, place) in body.locations.iter().enumerate() {
                if place.bound.is_none() {
                    continue;
                }
                let here = BoundMet {
                    template: TemplateId(template as u32),
                    location: LocationId(location as u32),
                };
                let original = match self.unfolded {
                    Some(unfolded) => unfolded.original_bound(here),
                    None => Some(here),
                };
                bounds.extend(original.map(|original| (here, original)));
            }
        }
        bounds
    }

    /// Runs what an engine found on the semantics of the original.
    fn confirm(&self, original: &Program, steps: Vec<Step>) -> Result<RunEnd, EngineError> {
        let steps = match self.unfolded {
            Some(unfolded) => unfolded
                .original_steps(original, &steps)
                .map_err(|reason| EngineError::Internal(reason.to_string()))?,
            None => steps,
        };
        outcome::confirm(original, steps)
    }
}

/// The condition that a state violates a property.
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

//! Static analysis of what commutes, and the reductions that follow from it.
//!
//! Lipton's theory of reduction (Lipton 1975), after Flanagan and Qadeer (2003) and Levin,
//! Palmer, Qadeer and Rajamani (2005): if most steps of a thread commute with the steps of the
//! other threads, then runs with few context switches already contain every error. This crate
//! determines what commutes; the engines decide how to use it.
//!
//! - [`facts`]: properties of a program: accesses, points-to sets, locks, owners, reachability;
//! - [`transform`]: equivalent programs that are easier to reduce;
//! - [`plan`]: which steps are movers, and under which conditions;
//! - [`present`]: the plan next to the source and along a run.

pub mod facts;
pub mod plan;
pub mod present;
pub mod transform;

pub use plan::dynamic::Heuristics;
pub use plan::movers::{Mover, Movers, NoMovers, Protection, forgetful_movers, movers};
pub use plan::movers::{movers_between_timeouts, movers_up_to_numbers, offers};
pub use plan::phase::PhaseFacts;
pub use plan::reduction_plan::{Class, EdgePlan, Reduction, ReductionPlan};

//! What commutes with what.
//!
//! Lipton's theory of reduction (Lipton 1975), after Flanagan and Qadeer (2003) and Levin, Palmer,
//! Qadeer and Rajamani (2005): if most steps of a thread commute with the steps of the
//! others, then runs in which threads switch rarely already show every error. This crate finds out
//! what commutes; the engines decide what to do with it.
//!
//! - [`facts`]: what is true of a program: accesses, points-to sets, locks, owners, reachability;
//! - [`transform`]: programs with the same behaviour that are easier to reduce;
//! - [`plan`]: which steps move, and when;
//! - [`present`]: the plan beside the source and along a run.

pub mod facts;
pub mod plan;
pub mod present;
pub mod transform;

pub use plan::conditions::{Condition, Conditions, Reduction};
pub use plan::dynamic::Heuristics;
pub use plan::movers::{Mover, Movers, NoMovers, Protection, forgetful_movers, movers};
pub use plan::phase::PhaseFacts;

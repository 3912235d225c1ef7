//! The reduction plan: which steps are movers, and under which conditions.
//!
//! - [`mod@movers`]: edges that are left or right movers in every state, and why;
//! - [`reduction_plan`]: for each edge and direction when it moves, for all engines;
//! - [`dynamic`]: conditions on other threads under which an edge moves (Günther et al. 2017);
//! - [`phase`]: the facts with which explicit search decides about what a plan assumes;
//! - [`transactions`]: where transactions begin, commit and end.

pub mod dynamic;
pub mod movers;
pub mod phase;
pub mod reduction_plan;
mod spots;
pub mod transactions;

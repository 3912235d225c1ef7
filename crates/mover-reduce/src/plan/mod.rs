//! The reduction plan: which steps are movers, and under which conditions.
//!
//! - [`mod@movers`]: edges that are left or right movers in every state, and why;
//! - [`phase`]: the facts with which explicit search classifies steps while it runs;
//! - [`conditions`]: mover conditions as expressions over the state; [`dynamic`]: edges that
//!   are movers in some states only (Günther et al. 2017);
//! - [`transactions`]: where transactions begin, commit and end.

pub mod conditions;
pub mod dynamic;
pub mod movers;
pub mod phase;
pub mod transactions;

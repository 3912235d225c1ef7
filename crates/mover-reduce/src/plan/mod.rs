//! Which steps move, and when.
//!
//! - [`mod@movers`]: edges that move left or right in every state, and why;
//! - [`phase`]: what explicit search needs to classify steps while it runs;
//! - [`conditions`]: when each edge moves, as expressions over the state; [`dynamic`]: edges that
//!   move in some states only (Günther et al. 2017);
//! - [`transactions`]: where transactions begin, commit and end.

pub mod conditions;
pub mod dynamic;
pub mod movers;
pub mod phase;
pub mod transactions;

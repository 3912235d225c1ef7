//! Explicit-state search.
//!
//! [`explore`] takes a program and visits every state that it can reach, one
//! step of one thread at a time, until it has seen all of them, has found a
//! violation, or has to give up. See [`search`](crate::Options) for what can be
//! asked, the module `layout` for how states are packed and `store` for how they
//! are kept.

mod blocks;
mod check_movers;
pub mod checkpoint;
mod classify;
mod code;
mod compile;
mod completion;
mod expand;
mod guards;
mod layout;
mod machine;
mod memory;
mod objects;
mod parallel;
mod search;
mod store;
mod successors;
mod way;

pub use check_movers::{Claim, Defect, MoverCheck, NotAMover, Taken, check_movers};
pub use classify::BrokenClaim;
pub use completion::{Ignoring, explore_with};
pub use search::{
    Options, Order, Outcome, RunTime, Statistics, Stop, Violation, explore,
    explore_with_checkpoints,
};

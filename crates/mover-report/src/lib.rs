//! What the user gets to see.
//!
//! Engines answer in steps and numbers; this crate re-checks the answer and
//! tells it. [`trace`] replays a counterexample on the concrete semantics and
//! describes each step ([`memory`]: in the words of the source); [`shorten`] looks for
//! a run with fewer context switches; [`story`] says what went wrong; [`verdict`] holds the answer; [`text`] and [`json`] put
//! it into words and data; [`diagnostics`] shows remarks on the input.

pub mod diagnostics;
pub mod json;
pub mod memory;
pub mod shorten;
pub mod story;
pub mod text;
pub mod trace;
pub mod verdict;

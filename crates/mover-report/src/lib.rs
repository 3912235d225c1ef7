//! What the user gets to see.
//!
//! Engines answer in steps and numbers; this crate re-checks the answer and
//! tells it. [`trace`] replays a counterexample on the concrete semantics and
//! describes each step ([`memory`]: in the words of the source); [`shorten`] looks for
//! a run with fewer context switches; [`story`] says what went wrong; [`verdict`] holds the answer; [`text`], [`json`] and [`html`] put
//! it into words, data and pages; [`diagnostics`] shows remarks on the input.

pub mod diagnostics;
pub mod html;
pub mod json;
pub mod memory;
pub mod shorten;
pub mod story;
pub mod text;
pub mod trace;
pub mod verdict;

//! What the user gets to see.
//!
//! Engines answer in steps and numbers; this crate re-checks the answer and
//! tells it. [`trace`] replays a counterexample on the concrete semantics and
//! describes each step ([`memory`]: in the words of the source); [`shorten`] looks for
//! a run with fewer context switches; [`story`] says what went wrong; [`verdict`] holds
//! the answer; [`text`], [`json`] and [`html`] put it into words, data and pages.
//!
//! For other tools: [`witness`] (SV-COMP), [`sarif`] (editors, code hosts), [`trail`]
//! (SPIN) and [`graph`] (Graphviz); [`run`] has what they share.

mod forgotten;
pub mod graph;
pub mod html;
pub mod json;
pub mod memory;
pub mod recheck;
pub mod run;
pub mod sarif;
pub mod shorten;
pub mod story;
pub mod text;
pub mod trace;
pub mod trail;
pub mod verdict;
pub mod witness;

//! Rendering of answers.
//!
//! An answer comes re-checked from `mover-check`, and this crate renders it as text ([`text`]),
//! data ([`json`]) and pages ([`html`]); [`mod@explain`] shows mover classes, [`mover_trial`]
//! the result of testing them. For other tools: [`witness`] (SV-COMP), [`sarif`] (editors, code
//! hosts), [`trail`] (SPIN) and [`graph`] (Graphviz).

pub mod explain;
pub mod graph;
pub mod html;
pub mod json;
pub mod mover_trial;
pub mod sarif;
pub mod text;
pub mod trail;
pub mod unreached;
pub mod witness;

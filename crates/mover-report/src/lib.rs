//! What the user gets to see.
//!
//! Rendering only: an answer comes re-checked from `mover-check`, and this crate puts it into words
//! ([`text`]), data ([`json`]) and pages ([`html`]); [`mod@explain`] shows what moves, [`mover_trial`]
//! what came of trying it.
//! For other tools: [`witness`] (SV-COMP), [`sarif`] (editors, code hosts), [`trail`] (SPIN) and
//! [`graph`] (Graphviz).

pub mod explain;
pub mod graph;
pub mod html;
pub mod json;
pub mod mover_trial;
pub mod sarif;
pub mod text;
pub mod trail;
pub mod witness;

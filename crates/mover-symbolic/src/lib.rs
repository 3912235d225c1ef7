//! Symbolic engines.

pub mod blast;
pub mod sat;
pub mod smtlib;
pub mod term;

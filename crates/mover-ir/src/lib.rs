//! The one intermediate language of mover and its one concrete meaning.

pub mod diagnostic;
pub mod source;

//! Places in the user's text and remarks about them.
//!
//! A [`SourceMap`] holds the files that a front end has read, a [`Span`] names a range of bytes in
//! one of them, and a [`diagnostic::Diagnostic`] says what is wrong there. Everything that reads a
//! language uses this crate; it depends on no other crate of mover.

pub mod diagnostic;
mod map;

pub use map::*;

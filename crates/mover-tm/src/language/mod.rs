//! The language in which a TM algorithm is written down (`.tm` files).
//!
//! It is the notation of the paper's listings with the bookkeeping taken out:
//! a file declares the state (of each thread, of each variable, global), says
//! for each command which extended commands may be executed, when, with which
//! response and with what effect, and says what an abort undoes and when a
//! conflict is put to a contention manager. What Section 3 demands of every
//! algorithm (the pending function, that aborts answer 0, that a command with
//! no enabled step can abort) is not written but holds by construction.
//!
//! Nothing in the language can name a particular thread or variable, so every
//! algorithm treats all of them alike; see [`crate::layout`] for what that is
//! worth. The one way to be partial would be a loop whose outcome depends on
//! the order in which it visits threads, and such a loop is refused when met.
//!
//! [`lexer`] and [`parser`] build the [`syntax`] tree, [`resolve`] checks names
//! and types and yields a [`program::Program`].

pub mod lexer;
pub mod order;
pub mod parser;
pub mod program;
pub mod resolve;
mod resolve_expr;
pub mod syntax;

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, SourceMap};

/// Reads a `.tm` file that is already in the source map.
pub fn load(sources: &SourceMap, file: FileId) -> Result<program::Program, Vec<Diagnostic>> {
    let tree = parser::parse(&sources.file(file).text, file)?;
    resolve::resolve(&tree)
}

//! The one intermediate language of mover and its one concrete meaning.
//!
//! - [`program`]: what a program is made of, [`expr`]: its expressions;
//! - [`validate`]: which programs are well-formed;
//! - [`semantics`]: what a program does, state by state;
//! - [`print`]: programs as text, [`literal`]: guards taken apart;
//! - [`source`] and [`diagnostic`]: places in the user's text and remarks about them.

pub mod diagnostic;
pub mod expr;
pub mod literal;
pub mod print;
pub mod program;
pub mod semantics;
pub mod source;
pub mod validate;

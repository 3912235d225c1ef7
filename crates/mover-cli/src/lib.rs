//! What the command lines of mover share.
//!
//! A command ends in an [`Exit`], which is its answer, or in a [`CliError`], which says why there
//! is none. Only `main` turns either into the number that the process exits with ([`process`]);
//! scripts rely on these numbers.
//!
//! The programs are `mover`, the product, and `mover-bench` and `mover-fuzz`, which measure and
//! test it; [`sibling`] finds one from another.

// What cannot be printed must not end the program: `output` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Prints to standard error, as `eprint!` does; what cannot be written is lost.
#[macro_export]
macro_rules! stderr {
    ($($text:tt)*) => {
        $crate::output::write_stderr(format_args!($($text)*))
    };
}

/// The same with the end of the line.
#[macro_export]
macro_rules! stderr_line {
    () => {
        $crate::stderr!("\n")
    };
    ($($text:tt)*) => {
        $crate::stderr!("{}\n", format_args!($($text)*))
    };
}

pub mod diagnostics;
mod error;
pub mod output;
pub mod process;
pub mod quantities;
pub mod resources;
pub mod sibling;

pub use error::{Cause, CliError, Exit};

//! What the command lines of mover share.
//!
//! A command ends in an [`Exit`], which is its answer, or in a [`CliError`], which says why there
//! is none. Only `main` turns either into the number that the process exits with; scripts rely on
//! these numbers.

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

mod error;
pub mod output;
pub mod resources;
pub mod seconds;

pub use error::{CliError, Exit};

//! `mover bench` and `mover fuzz`: commands that are programs of their own.
//!
//! What measures and tests mover is as large as what checks programs, and no user of mover runs it
//! along the way. So it is not in this program; the commands run `mover-bench` and `mover-fuzz`,
//! with the same arguments, standard streams and exit code. On Unix the other program takes the
//! place of this process, so that signals reach it and no process waits for it.

use std::ffi::OsString;
use std::process::Command;

use clap::Args;
use mover_cli::{CliError, Exit, sibling};

#[derive(Args)]
pub struct DelegateArgs {
    /// What to do; `--help` tells what there is
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// A program beside this one, and the package that it is built from.
pub struct Program {
    name: &'static str,
    package: &'static str,
}

pub const BENCH: Program = Program {
    name: "mover-bench",
    package: "mover-bench",
};

pub const FUZZ: Program = Program {
    name: "mover-fuzz",
    package: "mover-campaign",
};

pub fn run(program: &Program, args: &DelegateArgs) -> Result<Exit, CliError> {
    let Program { name, package } = program;
    let file = sibling::find(name).ok_or_else(|| {
        CliError::usage(
            "U012",
            format!(
                "the program `{name}` is neither next to mover nor in a directory of PATH; \
                 `cargo build --release --package {package}` builds it"
            ),
        )
    })?;
    let mut command = Command::new(&file);
    command.args(&args.arguments);
    end_as(&mut command)
        .map_err(|error| CliError::usage("U012", format!("cannot run {}: {error}", file.display())))
}

/// Replaces this process by the command.
#[cfg(unix)]
fn end_as(command: &mut Command) -> std::io::Result<Exit> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the command and ends with its exit code.
#[cfg(not(unix))]
fn end_as(command: &mut Command) -> std::io::Result<Exit> {
    let status = command.status()?;
    std::process::exit(
        status
            .code()
            .unwrap_or(CliError::internal("").code().into()),
    )
}

//! The command line.
//!
//! Reads options, calls the front ends and engines, prints what they say. The
//! meaning of exit codes, of the JSON and of the last line is fixed: scripts
//! rely on them.
//!
//! Every command is a function that returns its answer or an error ([`mover_cli`]); `main` alone
//! prints the error and ends the process.

// What cannot be printed must not end the program: `mover_cli::output` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "c")]
macro_rules! c_feature {
    () => {
        ", C (feature `c`: LLVM 19)"
    };
}
#[cfg(not(feature = "c"))]
macro_rules! c_feature {
    () => {
        " (built without feature `c`)"
    };
}

mod batch;
mod check;
mod compile_commands;
mod compiler_flags;
mod delegate;
mod errors;
mod explain;
mod explore;
mod guard;
mod input;
mod mat;
#[cfg(feature = "c")]
mod native;
mod progress;
mod replay;
mod shell;
mod signals;
mod simulate;
mod tm;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use mover_cli::output;
use mover_cli::process::{exit_code, on_large_stack, parse_from};
use mover_cli::{CliError, Exit};

#[derive(Parser)]
#[command(
    name = "mover",
    version,
    long_version = shell::VERSION,
    arg_required_else_help = true,
    about = "A model checker for concurrent software",
    after_help = "Exit codes: 0 safe, 10 unsafe, 5 unknown, 1 usage, 2 input that cannot be read \
                  or is not supported, 6 internal error."
)]
struct CommandLine {
    /// Explain an error by its code, as in `mover --explain-error P020`
    #[arg(long, value_name = "CODE", exclusive = true)]
    explain_error: Option<String>,

    /// Colours: `auto` is with colours on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN"
    )]
    color: ColorChoice,

    #[command(subcommand)]
    command: Option<Command>,
}

/// When to colour what is printed.
#[derive(Clone, Copy, ValueEnum)]
enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    /// Check a program; if it is unsafe, print a run that shows it.
    Check(Box<check::CheckArgs>),
    /// Check many programs or entry points and print one summary.
    Batch(batch::BatchArgs),
    /// Show locks, what they protect, and the mover class of each statement.
    Explain(explain::ExplainArgs),
    /// Replay a counterexample written with `check --trace`.
    Replay(replay::ReplayArgs),
    /// Run a program once, with random choices or with yours.
    Simulate(simulate::SimulateArgs),
    /// Walk the state space of a program in a browser.
    Explore(explore::ExploreArgs),
    /// Check transactional memories: algorithms, words and recorded histories.
    Tm(tm::TmArgs),
    /// Run benchmarks, compared with other tools and with published figures.
    #[command(disable_help_flag = true)]
    Bench(delegate::DelegateArgs),
    /// Fuzz the engines: check random programs with all of them and compare the answers.
    #[command(disable_help_flag = true)]
    Fuzz(delegate::DelegateArgs),
    /// Print completions for a shell.
    Completions(shell::CompletionsArgs),
    /// Print the man page, of mover or of one of its commands.
    Man(shell::ManArgs),
}

/// What happens inside is logged to standard error where `MOVER_LOG` asks for it, as in
/// `MOVER_LOG=info` (stages, engines, sizes) or `MOVER_LOG=mover_check=debug`.
fn log_where_asked() {
    if std::env::var_os("MOVER_LOG").is_some() {
        tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_env("MOVER_LOG"))
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
    }
}

fn main() -> ExitCode {
    log_where_asked();
    let arguments = compiler_flags::rewrite(std::env::args_os().collect());
    if let Some(error) = command_missing(&arguments) {
        return exit_code(Err(error));
    }
    exit_code(match parse_from::<CommandLine>(arguments) {
        Ok(Some(command_line)) => run(command_line),
        Ok(None) => Ok(Exit::Success),
        Err(error) => Err(error),
    })
}

/// A file where the command should be.
fn command_missing(arguments: &[OsString]) -> Option<CliError> {
    let first = arguments.get(1)?;
    let name = first.to_string_lossy();
    let command = CommandLine::command();
    let is_command = command.find_subcommand(first).is_some();
    if name.starts_with('-') || is_command || !Path::new(first).is_file() {
        return None;
    }
    let command = match name.ends_with(".tm") {
        true => "tm check",
        false => "check",
    };
    let message = format!("`{name}` is not a command; did you mean `mover {command} {name}`?");
    Some(CliError::usage("U001", message))
}

fn run(command_line: CommandLine) -> Result<Exit, CliError> {
    output::choose_color(match command_line.color {
        ColorChoice::Auto => None,
        ColorChoice::Always => Some(true),
        ColorChoice::Never => Some(false),
    });
    if let Some(code) = &command_line.explain_error {
        return errors::explain(code);
    }
    let Some(command) = command_line.command else {
        let message = "there is nothing to do; see `mover --help`";
        return Err(CliError::usage("U001", message));
    };
    on_large_stack(|| match command {
        Command::Check(args) => check::run(*args),
        Command::Batch(args) => batch::run(&args),
        Command::Explain(args) => explain::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Explore(args) => explore::run(args),
        Command::Tm(args) => tm::run(args),
        Command::Bench(args) => delegate::run(&delegate::BENCH, &args),
        Command::Fuzz(args) => delegate::run(&delegate::FUZZ, &args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    })
}

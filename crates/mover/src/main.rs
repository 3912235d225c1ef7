//! The command line.
//!
//! Reads options, calls the front ends and engines, prints what they say. The
//! meaning of exit codes, of the JSON and of the last line is fixed: scripts
//! rely on them.

// What cannot be printed must not end the program: `output` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Prints to standard error, as `eprint!` does; what cannot be written is lost.
macro_rules! stderr {
    ($($text:tt)*) => {
        $crate::output::write_stderr(format_args!($($text)*))
    };
}

/// The same with the end of the line.
macro_rules! stderr_line {
    () => {
        stderr!("\n")
    };
    ($($text:tt)*) => {
        stderr!("{}\n", format_args!($($text)*))
    };
}

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

mod bench;
mod certify;
mod check;
mod check_movers;
mod checkpoint;
mod errors;
mod exclusive;
mod explain;
mod formats;
mod fuzz;
mod input;
mod mat;
#[cfg(feature = "c")]
mod native;
mod output;
mod progress;
mod property_file;
mod replay;
mod report;
mod resources;
mod seconds;
mod shell;
mod shortest;
mod symbolic;
mod tm;
mod tm_report;
mod watch;

use std::process::ExitCode;
use std::sync::Mutex;

use clap::{Parser, Subcommand};

/// Exit codes.
pub const UNSAFE: u8 = 10;
pub const UNKNOWN: u8 = 5;
pub const USAGE: u8 = 1;
pub const BAD_INPUT: u8 = 2;
pub const INTERNAL_ERROR: u8 = 6;

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

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Check a program: is it safe, and if not, by which run?
    Check(Box<check::CheckArgs>),
    /// Show what commutes: locks, what they protect, and the mover class of each statement.
    Explain(explain::ExplainArgs),
    /// Run a counterexample, written with `check --trace`, on the program again.
    Replay(replay::ReplayArgs),
    /// Check transactional memories: algorithms, words and recorded histories.
    Tm(tm::TmArgs),
    /// Measure mover beside another tool on the same models.
    Bench(bench::BenchArgs),
    /// Search random programs in all ways and look for two that disagree.
    Fuzz(fuzz::FuzzArgs),
    /// Print completions for a shell.
    Completions(shell::CompletionsArgs),
    /// Print the man page, of mover or of one of its commands.
    Man(shell::ManArgs),
}

fn main() -> ExitCode {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                errors::complain("U001", "this command line is not understood");
                return ExitCode::from(USAGE);
            }
            let help = error.render();
            let help = if output::stdout_color() {
                help.ansi().to_string()
            } else {
                help.to_string()
            };
            return ExitCode::from(output::print(&help).err().unwrap_or(0));
        }
    };
    if let Some(code) = &command_line.explain_error {
        return ExitCode::from(errors::explain(code));
    }
    let Some(command) = command_line.command else {
        errors::complain("U001", "there is nothing to do; see `mover --help`");
        return ExitCode::from(USAGE);
    };
    ExitCode::from(on_large_stack(|| match command {
        Command::Check(args) => check::run(*args),
        Command::Explain(args) => explain::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Tm(args) => tm::run(args),
        Command::Bench(args) => bench::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }))
}

/// Expressions are as deep as their authors like, and those who go down them need room for it. It is
/// taken from the system only as far as it is used; where the first is refused, the next is tried.
const STACKS_BYTES: [usize; 3] = [1 << 30, 1 << 27, 1 << 24];

fn on_large_stack(work: impl FnOnce() -> u8 + Send) -> u8 {
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().ok().and_then(|mut work| work.take());
        work.map(|work| work())
    };
    let code = std::thread::scope(|scope| {
        let mut workers = STACKS_BYTES.into_iter().filter_map(|bytes| {
            let thread = std::thread::Builder::new().name("main".into());
            thread.stack_size(bytes).spawn_scoped(scope, run).ok()
        });
        workers.next().and_then(|worker| worker.join().ok())
    });
    code.flatten().unwrap_or_else(|| {
        stderr_line!("mover: internal error; please report it with the input that led to it");
        INTERNAL_ERROR
    })
}

//! `mover tm …`: the command line of the transactional memories.
//!
//! Reads options and files, calls `mover-tm`, prints. The last line on standard
//! output is the verdict in words, unless JSON is asked for; everything that is
//! not the answer goes to standard error.
//!
//! Each command is a module: algorithms ([`check`], told by [`answer`] and [`page`]), words,
//! recorded histories, the specifications themselves, and mutants of an algorithm.

mod answer;
mod check;
mod history;
mod history_page;
mod mutate;
mod page;
mod specification;
mod word;

use clap::{Args, Subcommand};
use mover_cli::diagnostics::show;
use mover_cli::output::print;
use mover_cli::{Cause, CliError, Exit};
use mover_source::SourceMap;
use mover_source::diagnostic::Diagnostic;
use mover_tm::language;
use mover_tm::language::program::Program;
use mover_tm::word::MAX_INDEX;

#[derive(Args)]
pub struct TmArgs {
    #[command(subcommand)]
    command: TmCommand,
}

#[derive(Subcommand)]
enum TmCommand {
    /// Check an algorithm (a .tm file) for properties
    Check(check::CheckArgs),
    /// Judge words such as '(r,1)_1 (w,1)_2 c_2 c_1'
    Word(word::WordArgs),
    /// Judge a recorded history: which isolation level explains it?
    History(history::HistoryArgs),
    /// Sizes and equivalence of the specification automata
    Spec(specification::SpecArgs),
    /// Check single-statement mutants of an algorithm
    Mutate(mutate::MutateArgs),
}

pub fn run(args: TmArgs) -> Result<Exit, CliError> {
    match args.command {
        TmCommand::Check(args) => check::run(&args),
        TmCommand::Word(args) => word::run(&args),
        TmCommand::History(args) => history::run(&args),
        TmCommand::Spec(args) => specification::run(&args),
        TmCommand::Mutate(args) => mutate::run(&args),
    }
}

/// A number of threads or variables that cannot be searched.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("must be between 1 and {MAX_INDEX}")]
struct CountError;

fn parse_count(text: &str) -> Result<usize, CountError> {
    match text.parse() {
        Ok(count @ 1..=MAX_INDEX) => Ok(count),
        _ => Err(CountError),
    }
}

/// Prints one line.
fn say(line: &str) -> Result<(), CliError> {
    print(&format!("{line}\n"))
}

/// Prints what is wrong with the input; there is no more to say.
fn refuse(diagnostics: &[Diagnostic], sources: &SourceMap) -> CliError {
    show(sources, diagnostics);
    CliError::Reported(Cause::Input)
}

fn read(file: &str, sources: &mut SourceMap) -> Result<mover_source::FileId, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::input("U010", format!("cannot read {file}: {error}")))?;
    Ok(sources.add(file, text))
}

fn load(file: &str, sources: &mut SourceMap) -> Result<Program, CliError> {
    let id = read(file, sources)?;
    language::load(sources, id).map_err(|errors| refuse(&errors, sources))
}

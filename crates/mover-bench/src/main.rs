//! `mover bench`: mover beside other tools and beside the papers it rests on.
//!
//! A figure from last year, from another machine or from a paper says little.
//! So the peer is run here and now, in turns with mover, and both are measured
//! in the same way: as child processes, one at a time.
//!
//! Each measurement is a module: a struct for a row of its CSV file, a function that
//! measures rows, and one that turns rows into a [`Section`]. [`records`] keeps the rows,
//! [`page`] makes `BENCHMARKS.md` of the files.
//!
//! This is a program of its own, so that mover does not carry what measures it. `mover bench` runs
//! it, and it runs the `mover` that lies beside it ([`ask`]).

// What cannot be printed must not end the program: `mover_cli::output` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod ask;
mod bounds;
mod child;
mod cores;
mod cpc;
mod dynamic;
mod error;
mod histories;
mod holds;
mod ltl;
mod mat;
mod page;
mod pan;
mod plot;
mod records;
mod reduced;
mod reductions;
mod searches;
mod section;
mod spin;
mod svcomp;
mod symbolic;
mod table;
mod threads;
mod tm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use error::BenchError;
use mover_cli::output::print;
use mover_cli::process::{exit_code, on_large_stack, parse};
use mover_cli::{CliError, Exit};
use section::Section;

/// Run benchmarks, compared with other tools and with published figures.
#[derive(Parser)]
#[command(name = "mover-bench", bin_name = "mover bench", version)]
struct CommandLine {
    #[command(subcommand)]
    peer: Peer,
}

#[derive(Subcommand)]
enum Peer {
    /// States per second and bytes per state, compared with SPIN's verifier, without reduction.
    Spin(spin::SpinArgs),
    /// States, time and memory with reduction, compared with SPIN's verifier with and without its own
    /// partial-order reduction.
    Reduced(reduced::ReducedArgs),
    /// States and time for temporal claims, compared with SPIN's verifier.
    Ltl(ltl::LtlArgs),
    /// Table 1 of "Sound Transaction-based Reduction without Cycle Detection": states stored by
    /// each solution of the ignoring problem, compared with the paper's figures.
    Cpc(cpc::CpcArgs),
    /// Section 6 of "Dynamic Reductions for Model Checking Concurrent Software": how many threads
    /// BMC and IC3 reach with each reduction, compared with the paper's findings.
    Dynamic(dynamic::DynamicArgs),
    /// Table 1 of "Reduction of Verification Conditions for Concurrent System using Mutually Atomic
    /// Transactions": pairs, sizes and times, compared with the paper's figures.
    Mat(mat::MatArgs),
    /// Tables 2 and 3 of "Model checking transactional memories", compared with the paper's figures.
    Tm(tm::BenchTmArgs),
    /// Recorded histories: operations per second by size and isolation level.
    Histories(histories::HistoriesArgs),
    /// Explicit search with increasing numbers of threads, compared with SPIN.
    Threads(threads::ThreadsArgs),
    /// Bounded model checking with increasing bounds.
    Bounds(bounds::BoundsArgs),
    /// Explicit search with one job and with several.
    Cores(cores::CoresArgs),
    /// How far the reduction takes hold on the C programs of a directory: mutexes recognised, accesses that
    /// move, transactions, stored states by reduction.
    Holds(holds::HoldsArgs),
    /// How many threads each symbolic engine reaches with each reduction on ten textbook programs, and how
    /// large its formulas are.
    Symbolic(symbolic::SymbolicArgs),
    /// Figure 11 of "Dynamic Reductions for Model Checking Concurrent Software": run times of BMC and IC3 with each
    /// reduction on the tasks of a checkout of SV-COMP's benchmarks.
    Reductions(reductions::ReductionsArgs),
    /// Verdicts on the tasks of a checkout of SV-COMP's benchmarks.
    Svcomp(svcomp::SvcompArgs),
    /// Generate BENCHMARKS.md, its plots and the figures in README.md from the files in bench/results.
    Page(page::PageArgs),
}

fn main() -> ExitCode {
    exit_code(match parse::<CommandLine>() {
        Ok(Some(command_line)) => on_large_stack(|| run(&command_line.peer)),
        Ok(None) => Ok(Exit::Success),
        Err(error) => Err(error),
    })
}

fn run(peer: &Peer) -> Result<Exit, CliError> {
    let section = match peer {
        Peer::Spin(args) => spin::run(args),
        Peer::Reduced(args) => reduced::run(args),
        Peer::Ltl(args) => ltl::run(args),
        Peer::Cpc(args) => cpc::run(args),
        Peer::Dynamic(args) => dynamic::run(args),
        Peer::Mat(args) => mat::run(args),
        Peer::Tm(args) => tm::run(args),
        Peer::Histories(args) => histories::run(args),
        Peer::Threads(args) => threads::run(args),
        Peer::Bounds(args) => bounds::run(args),
        Peer::Cores(args) => cores::run(args),
        Peer::Holds(args) => holds::run(args),
        Peer::Symbolic(args) => symbolic::run(args),
        Peer::Reductions(args) => reductions::run(args),
        Peer::Svcomp(args) => svcomp::run(args),
        Peer::Page(args) => page::run(args).map(|()| Section::default()),
    }?;
    if !section.blocks.is_empty() {
        print(&section.plain())?;
    }
    Ok(Exit::Success)
}

/// Whether a name is among those asked for: all are, if none is.
fn is_wanted(name: &str, words: &[String]) -> bool {
    let name = name.to_lowercase();
    words.is_empty() || words.iter().any(|word| name.contains(&word.to_lowercase()))
}

/// A directory for temporary files.
fn scratch() -> Result<tempfile::TempDir, BenchError> {
    tempfile::Builder::new()
        .prefix("mover-bench-")
        .tempdir()
        .map_err(BenchError::NoScratch)
}

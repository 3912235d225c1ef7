//! The command line.

mod bench_tm;
mod tm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "mover",
    version,
    about = "A model checker for concurrent software"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Transactional memories
    Tm(tm::TmArgs),
    /// Measurements
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
}

#[derive(Subcommand)]
enum Bench {
    /// Tables 2 and 3 of "Model checking transactional memories"
    Tm(bench_tm::BenchTmArgs),
}

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => match cli.command {
            Command::Tm(args) => tm::run(args),
            Command::Bench {
                what: Bench::Tm(args),
            } => bench_tm::run(&args),
        },
        Err(error) => {
            // Nothing is left to do if even this cannot be printed.
            let _ = error.print();
            match error.use_stderr() {
                true => ExitCode::from(tm::EXIT_USAGE),
                false => ExitCode::SUCCESS,
            }
        }
    }
}

//! `mover bench`: mover beside other tools, on the same models in one run.
//!
//! A figure from last year, from another machine or from a paper says little.
//! So the peer is run here and now, in turns with mover, and both are measured
//! in the same way: as child processes, one at a time, the median of several
//! runs.

mod child;
mod pan;
mod spin;
mod table;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    peer: Peer,
}

#[derive(Subcommand)]
enum Peer {
    /// States per second and bytes per state beside SPIN's verifier, without reduction.
    Spin(spin::SpinArgs),
}

pub fn run(args: &BenchArgs) -> u8 {
    match &args.peer {
        Peer::Spin(args) => spin::run(args),
    }
}

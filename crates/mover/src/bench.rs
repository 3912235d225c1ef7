//! `mover bench`: mover beside other tools and beside the papers it rests on.
//!
//! A figure from last year, from another machine or from a paper says little.
//! So the peer is run here and now, in turns with mover, and both are measured
//! in the same way: as child processes, one at a time, the median of several
//! runs.

mod child;
mod cpc;
mod dynamic;
mod mat;
mod pan;
mod plot;
mod reduced;
mod spin;
mod table;
mod tm;

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
    /// Table 1 of "Sound Transaction-based Reduction without Cycle Detection": states stored by
    /// each solution of the ignoring problem, the paper's figures beside ours.
    Cpc(cpc::CpcArgs),
    /// Section 6 of "Dynamic Reductions for Model Checking Concurrent Software": how many threads
    /// BMC and IC3 reach with each reduction, the paper's findings beside ours.
    Dynamic(dynamic::DynamicArgs),
    /// Table 1 of "Reduction of Verification Conditions for Concurrent System using Mutually Atomic
    /// Transactions": pairs, sizes and times, the paper's figures beside ours.
    Mat(mat::MatArgs),
    /// Tables 2 and 3 of "Model checking transactional memories", the paper's figures beside ours.
    Tm(tm::BenchTmArgs),
}

pub fn run(args: &BenchArgs) -> u8 {
    match &args.peer {
        Peer::Spin(args) => spin::run(args),
        Peer::Cpc(args) => cpc::run(args),
        Peer::Dynamic(args) => dynamic::run(args),
        Peer::Mat(args) => mat::run(args),
        Peer::Tm(args) => tm::run(args),
    }
}

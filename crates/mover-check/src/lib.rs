//! The driver of mover: from a question about a program to a re-checked answer.
pub mod answer;
mod bounds;
mod claims;
mod driver;
mod engines;
pub mod fold;
mod forgotten;
pub mod ledger;
pub mod memory;
pub mod moments;
pub mod mover_trial;
mod observer;
mod options;
pub mod recheck;
pub mod shorten;
pub mod story;
pub mod strategy;
pub mod trace;
pub mod watch;
pub mod words;

pub use mover_reduce::present::explain as explanation;

pub use driver::{CheckError, answer};
pub use engines::{dump_bounded, dump_invariant};
pub use observer::{Nobody, Observer};
pub use options::{EngineChoice, Options, ReductionChoice};
pub use strategy::Strategy;

pub use mover_explicit::CheckpointOptions;
pub use mover_symbolic::SymbolicOptions;

/// The largest memory that the process has had, in megabytes, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kilobytes / 1024.0 * 10.0).round() / 10.0)
}

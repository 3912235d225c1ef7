//! The answer to a question about a program.

use std::time::Duration;

use mover_ir::program::Property;

use crate::trace::Trace;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// For all runs.
    Safe,
    /// Some run violates a property; this one was replayed.
    Unsafe(Box<Trace>),
    /// Not known, and why, and what to try.
    Unknown { reason: String, advice: String },
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe(_) => "unsafe",
            Verdict::Unknown { .. } => "unknown",
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Verdict::Safe => 0,
            Verdict::Unsafe(_) => 10,
            Verdict::Unknown { .. } => 5,
        }
    }
}

/// A verdict with what it rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    pub verdict: Verdict,
    /// What was asked.
    pub properties: Vec<Property>,
    pub engine: &'static str,
    pub reduction: &'static str,
    /// How a reduction solved the ignoring problem.
    pub ignoring: Option<&'static str>,
    pub states: u64,
    pub transitions: u64,
    pub depth: u64,
    /// Bytes of the state store.
    pub store_bytes: u64,
    /// How many violations were met, where the search went on behind the first.
    pub violations: u64,
    pub time: Duration,
    /// Largest memory of the process, in megabytes, where the system tells.
    pub peak_mb: Option<f64>,
    /// What the verdict does not cover.
    pub caveats: Vec<String>,
}

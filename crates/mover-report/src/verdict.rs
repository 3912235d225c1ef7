//! The answer to a question about a program.

use std::time::Duration;

use mover_ir::program::Property;

use crate::trace::Trace;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// For all runs.
    Safe,
    /// For all runs within these bounds.
    SafeUpTo(Vec<String>),
    /// Some run violates a property; this one was replayed.
    Unsafe(Box<Trace>),
    /// Not known, and why, and what to try.
    Unknown { reason: String, advice: String },
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::SafeUpTo(_) => "safe up to",
            Verdict::Unsafe(_) => "unsafe",
            Verdict::Unknown { .. } => "unknown",
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
    /// What a symbolic engine did; such engines count no states.
    pub symbolic: Option<SymbolicFigures>,
    /// How the answer was checked again, if that was asked for.
    pub certified: Option<Certified>,
}

/// How an answer was checked again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certified {
    /// What was checked. If nothing could be, the answer is not certified.
    pub by: Vec<String>,
    /// What could not be checked, and why.
    pub not_by: Vec<String>,
}

/// What a symbolic engine did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SymbolicFigures {
    /// What `depth` counts: `blocks`, `frames` or `repetitions`.
    pub unit: &'static str,
    /// Events of the threads, and pairs of them between which a token may be passed.
    pub events: u64,
    pub pairs: u64,
    /// Bits of a state in the formula.
    pub bits: u64,
    pub predicates: u64,
    pub terms: u64,
    pub variables: u64,
    pub clauses: u64,
    pub questions: u64,
    pub conflicts: u64,
    pub obligations: u64,
    pub lemmas: u64,
    /// The invariant, one clause in each line.
    pub invariant: Vec<String>,
}

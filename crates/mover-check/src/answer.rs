//! The answer to a question about a program.

use std::time::Duration;

use mover_engine::{Statistics, UpTo};
use mover_ir::program::Property;
use mover_source::diagnostic::Diagnostic;

use crate::temporal::ClaimAnswer;
use crate::trace::Trace;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// For all runs.
    Safe,
    /// For all runs within these bounds.
    SafeUpTo(Vec<UpTo>),
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

    /// Whether the answer is final: `safe` for all runs, or a violation.
    pub fn is_final(&self) -> bool {
        matches!(self, Verdict::Safe | Verdict::Unsafe(_))
    }
}

/// Why a property is open where the search went no further.
pub const STOPPED_AT_FIRST: &str = "the search stopped at the first violation";

/// What is known of one of the properties asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyAnswer {
    pub property: Property,
    pub verdict: Verdict,
}

/// A verdict with what it rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Of all properties together: the first violation, or else the weakest answer.
    pub verdict: Verdict,
    /// What was asked.
    pub properties: Vec<Property>,
    /// The same for each property asked for, in the same order.
    pub by_property: Vec<PropertyAnswer>,
    pub engine: &'static str,
    /// The reduction that was used.
    pub reduction: &'static str,
    /// How a reduction solved the ignoring problem.
    pub ignoring: Option<&'static str>,
    pub statistics: Statistics,
    /// What [`Statistics::depth`] counts: `steps`, `blocks`, `frames` or `repetitions`.
    pub unit: &'static str,
    /// From the start of the first engine to the answer of the last.
    pub time: Duration,
    /// Largest memory of the process, in megabytes, where the system tells.
    pub peak_mb: Option<f64>,
    /// What the verdict does not cover.
    pub caveats: Vec<String>,
    /// The temporal claims of the program, if they were asked about, each with its verdict.
    pub claims: Vec<ClaimAnswer>,
    /// Remarks on the input that the search led to.
    pub warnings: Vec<Diagnostic>,
    /// The invariant of a proof, one clause in each line.
    pub invariant: Vec<String>,
    /// How the answer was checked again, if that was asked for.
    pub certified: Option<Certified>,
}

impl Answer {
    /// Before any claim was checked: nothing speaks against the program.
    pub fn about_claims(properties: Vec<Property>) -> Answer {
        Answer {
            verdict: Verdict::Safe,
            properties,
            by_property: Vec::new(),
            engine: "explicit",
            reduction: "none",
            ignoring: None,
            statistics: Statistics::default(),
            unit: "steps",
            time: Duration::ZERO,
            peak_mb: None,
            caveats: Vec::new(),
            claims: Vec::new(),
            warnings: Vec::new(),
            invariant: Vec::new(),
            certified: None,
        }
    }

    /// Whether it comes from an engine that stores states; the others count formulas.
    pub fn is_explicit(&self) -> bool {
        self.unit == "steps"
    }
}

/// How an answer was checked again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certified {
    /// What was checked. If nothing could be, the answer is not certified.
    pub by: Vec<String>,
    /// What could not be checked, and why.
    pub not_by: Vec<String>,
}

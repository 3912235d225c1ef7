//! The verdict of a program whose translation cuts off some runs.

use mover_ir::program::{BoundMet, Program};

use crate::answer::Verdict;

/// The verdict where no run violates anything, but some are cut off at bounds.
pub fn verdict(program: &Program, first: BoundMet, more: usize) -> Verdict {
    let (message, advice) = match program.bound(first) {
        Some(mark) => (mark.message.as_str(), mark.kind.advice()),
        None => ("a run is cut off", "a smaller program"),
    };
    let others = match more {
        0 => String::new(),
        1 => " (and another bound)".into(),
        more => format!(" (and {more} other bounds)"),
    };
    Verdict::Unknown {
        reason: format!("{message}{others}; no violation in the runs that stay within this bound"),
        advice: advice.into(),
    }
}

//! The verdict of a program whose translation cuts off some runs.

use mover_ir::program::{BoundMet, Program};

use crate::answer::Verdict;

/// The verdict where no run violates anything, but some are cut off at bounds.
pub fn verdict(program: &Program, first: BoundMet, more: usize) -> Verdict {
    let (message, advice) = match program.bound(first) {
        Some(mark) => (mark.message.as_str(), mark.kind.advice()),
        None => ("a run is cut off", "a smaller program"),
    };
    let reason = match more {
        0 => format!("{message}; no violation in the runs that stay within this bound"),
        1 => format!(
            "{message}, and one more bound is met; no violation in the runs that stay within \
             these bounds"
        ),
        more => format!(
            "{message}, and {more} more bounds are met; no violation in the runs that stay within \
             these bounds"
        ),
    };
    Verdict::Unknown {
        reason,
        advice: advice.into(),
    }
}

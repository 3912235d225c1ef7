//! The verdict of a program whose translation cuts off some runs.

use std::collections::BTreeSet;

use mover_ir::program::{BoundMark, BoundMet, Program};

use crate::answer::Verdict;

/// The verdict where no run violates anything, but some are cut off at bounds. A bound that several
/// places of the program share counts once.
pub fn verdict(program: &Program, met: &[BoundMet]) -> Verdict {
    let marks: Vec<&BoundMark> = met.iter().filter_map(|&met| program.bound(met)).collect();
    let (message, advice) = match marks.first() {
        Some(mark) => (mark.message.as_str(), mark.kind.advice()),
        None => ("a run is cut off", "a smaller program"),
    };
    let messages: BTreeSet<&str> = marks.iter().map(|mark| mark.message.as_str()).collect();
    let more = messages.len().saturating_sub(1);
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

//! The verdict of a program whose translation cuts off some runs.
//!
//! A run is cut off where it exceeds a bound (recursion depth, number of threads), or where it
//! comes to something that the front end does not translate. Code that no run reaches costs
//! nothing: the second kind is an error only if the search meets it.

use std::collections::BTreeSet;

use mover_ir::program::{BoundMark, BoundMet, Program};
use mover_source::diagnostic::Diagnostic;

use crate::answer::Verdict;

/// The verdict where no run violates anything, but some are cut off at bounds. A bound that several
/// places of the program share counts once.
pub fn verdict(program: &Program, met: &[BoundMet]) -> Verdict {
    let mut marks: Vec<&BoundMark> = met.iter().filter_map(|&met| program.bound(met)).collect();
    // What is not supported at all comes before what a larger bound would show.
    marks.sort_by_key(|mark| mark.kind.code().is_none());
    let (message, advice) = match marks.first() {
        Some(mark) => (mark.message.as_str(), mark.kind.advice()),
        None => ("a run is cut off", "a smaller program"),
    };
    let is_refused = marks.first().is_some_and(|mark| mark.kind.code().is_some());
    let messages: BTreeSet<&str> = marks.iter().map(|mark| mark.message.as_str()).collect();
    let more = messages.len().saturating_sub(1);
    let reason = match more {
        0 if is_refused => {
            format!("{message}, which a run reaches; no violation in the other runs")
        }
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

/// An error for each construct that is not supported and that some run reaches.
pub fn refusals(program: &Program, met: &[BoundMet]) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for &met in met {
        let Some(mark) = program.bound(met) else {
            continue;
        };
        let Some(code) = mark.kind.code() else {
            continue;
        };
        let mut error = Diagnostic::coded(code, mark.message.clone())
            .help(format!("try {}", mark.kind.advice()));
        let template = &program.templates[met.template.index()];
        if let Some(span) = template.location(met.location).span {
            error = error.at(span, "");
        }
        if !found.contains(&error) {
            found.push(error);
        }
    }
    found
}

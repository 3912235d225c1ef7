//! What each reduction would have stored: measured, not estimated.
//!
//! Explicit search runs once with each reduction, within a time limit, and its figures are
//! shown next to those of the run that gave the answer.

use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, Task};
use mover_explicit::{Explicit, Order};
use mover_reduce::Reduction;

use crate::answer::{Answer, Verdict};

/// For each search.
const TIME_LIMIT: Duration = Duration::from_millis(1500);

/// Bytes for each search.
const MEMORY_LIMIT: usize = 1 << 30;

/// One search of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRow {
    pub technique: String,
    pub states: u64,
    pub transitions: u64,
    pub seconds: f64,
    /// What it found; empty if it did not end.
    pub outcome: String,
    /// Whether it is the run that the answer is about.
    pub is_this: bool,
}

/// The run of an answer and, if it was explicit search, one with each other reduction.
pub fn ledger(task: &Task, answer: &Answer, control: &Control) -> Vec<LedgerRow> {
    if answer.engine != "explicit" {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for reduction in [
        Reduction::None,
        Reduction::Static,
        Reduction::Phase,
        Reduction::Dynamic,
    ] {
        let technique = reduction.name();
        let is_this =
            answer.reduction == technique && matches!(answer.ignoring, None | Some("blocks"));
        if is_this {
            rows.push(LedgerRow {
                technique: technique.into(),
                states: answer.statistics.states,
                transitions: answer.statistics.transitions,
                seconds: answer.time.as_secs_f64(),
                outcome: match &answer.verdict {
                    Verdict::Unknown { .. } => String::new(),
                    verdict => verdict.name().into(),
                },
                is_this,
            });
            continue;
        }
        if reduction != Reduction::None && task.movers().is_err() {
            continue;
        }
        let is_run_time = matches!(reduction, Reduction::Phase | Reduction::Dynamic);
        // What a user claims wrongly is no ground for a reduction.
        let claims_hold = || {
            task.facts()
                .is_some_and(|facts| facts.owners.flaws.is_empty())
        };
        if is_run_time && !claims_hold() {
            continue;
        }
        let search = Explicit {
            reduction,
            order: Order::BreadthFirst,
            ..Explicit::default()
        };
        let control = control.clone().with_deadline(None).within(TIME_LIMIT);
        let control = control.with_memory(Some(MEMORY_LIMIT));
        let Ok(outcome) = search.run(task, &control, &mut |_| ()) else {
            continue;
        };
        rows.push(LedgerRow {
            technique: technique.into(),
            states: outcome.statistics.states,
            transitions: outcome.statistics.transitions,
            seconds: outcome.statistics.time.as_secs_f64(),
            outcome: match outcome.conclusion {
                Conclusion::Unsafe(_) => "unsafe".into(),
                Conclusion::Safe { .. } => "no violation".into(),
                Conclusion::Stopped { .. } | Conclusion::Refused { .. } => String::new(),
            },
            is_this,
        });
    }
    rows
}

//! Divides a run into transactions, for readable traces.
//!
//! The transactions shown are those of the reduction that the search used. Without a reduction there
//! are none: every step is shown. With `phase` and `dynamic` more may move in a given state than is
//! known beforehand; what is shown is what the plan knows in every state.

use mover_engine::Task;
use mover_ir::semantics::Step;
use mover_reduce::present::run_transactions::place;

use crate::trace::{Trace, Transaction};

/// The transactions of a trace by the reduction of this name; none if no step of the program moves.
pub fn transactions(task: &Task, trace: &Trace, reduction: &str) -> Vec<Transaction> {
    let Ok(movers) = task.movers() else {
        return Vec::new();
    };
    let left_only = match reduction {
        "none" | "peephole" => return Vec::new(),
        "left" => Some(movers.clone().left_only()),
        _ => None,
    };
    let movers = left_only.as_ref().unwrap_or(movers);
    let steps: Vec<Step> = trace.steps.iter().map(|step| step.step).collect();
    let mut transactions: Vec<Transaction> = Vec::new();
    let placed = place(task.program(), movers, &steps);
    for (step, placed) in placed.into_iter().enumerate() {
        match transactions.last_mut() {
            Some(transaction) if !placed.begins => transaction.parts.push(placed.part),
            _ => transactions.push(Transaction {
                first: step,
                parts: vec![placed.part],
            }),
        }
    }
    transactions
}

//! Divides a run into transactions, for readable traces.

use mover_engine::Task;
use mover_ir::semantics::Step;
use mover_reduce::present::run_transactions::{self, place};

use crate::trace::{Phase, Trace, Transaction};

/// The transactions of a trace, by the movers of its task; none if no step of the program moves.
pub fn transactions(task: &Task, trace: &Trace) -> Vec<Transaction> {
    let Ok(movers) = task.movers() else {
        return Vec::new();
    };
    let steps: Vec<Step> = trace.steps.iter().map(|step| step.step).collect();
    let mut transactions: Vec<Transaction> = Vec::new();
    let placed = place(task.program(), movers, &steps);
    for (step, placed) in placed.into_iter().enumerate() {
        let phase = match placed.phase {
            run_transactions::Phase::Before => Phase::Before,
            run_transactions::Phase::Commit => Phase::Commit,
            run_transactions::Phase::After => Phase::After,
        };
        match transactions.last_mut() {
            Some(transaction) if !placed.begins => transaction.phases.push(phase),
            _ => transactions.push(Transaction {
                first: step,
                phases: vec![phase],
            }),
        }
    }
    transactions
}

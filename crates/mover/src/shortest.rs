//! From the violation that an engine found to the one that is told: with as few context switches
//! as can be found, and cut into transactions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mover_ir::program::Program;
use mover_ir::semantics::Step;
use mover_reduce::movers;
use mover_reduce::present::run_transactions::{self, place};
use mover_report::shorten::Effort;
use mover_report::trace::{Phase, Trace, Transaction};
use mover_report::verdict::{Answer, Verdict};

use mover_cli::CliError;

use crate::check::Told;

/// However slow the machine is, an answer does not wait longer for its story.
const LONGEST: Duration = Duration::from_secs(2);

/// Cuts the trace of an answer into transactions, as far as it is known what moves.
pub fn fold(program: &Program, answer: &mut Answer) {
    if let Verdict::Unsafe(trace) = &mut answer.verdict {
        trace.transactions = transactions(program, trace);
    }
}

/// The transactions of a trace; none if no step of the program moves.
pub fn transactions(program: &Program, trace: &Trace) -> Vec<Transaction> {
    let Ok(movers) = movers(program) else {
        return Vec::new();
    };
    let steps: Vec<Step> = trace.steps.iter().map(|step| step.step).collect();
    let mut transactions: Vec<Transaction> = Vec::new();
    for (step, placed) in place(program, &movers, &steps).into_iter().enumerate() {
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

/// Replaces a counterexample by the shortest that can be found in about a second. A signal ends
/// that with the best one so far.
pub fn shortest(program: &Program, told: Told, interrupt: &AtomicBool) -> Result<Told, CliError> {
    let Told {
        mut answer,
        error,
        invariant,
        is_refused,
    } = told;
    let Verdict::Unsafe(trace) = answer.verdict else {
        return Ok(Told {
            answer,
            error,
            invariant,
            is_refused,
        });
    };
    // Engines that race stop each other by it.
    interrupt.store(false, Ordering::Relaxed);
    let effort = Effort {
        work: Effort::USUAL_WORK,
        deadline: Some(Instant::now() + LONGEST),
        interrupt: Some(interrupt),
    };
    match trace.shortened(program, error, &effort) {
        Ok((trace, error)) => {
            answer.verdict = Verdict::Unsafe(Box::new(trace));
            Ok(Told {
                answer,
                error,
                invariant,
                is_refused,
            })
        }
        Err(reason) => Err(CliError::internal(format!(
            "the shortened run does not replay: {reason}"
        ))),
    }
}

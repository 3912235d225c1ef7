//! `--report`: what the page of an answer shows besides the answer itself.
//!
//! The movers are those of `mover explain`. The ledger is measured, not estimated: explicit search
//! runs once with each reduction, within a limit of time, and what it stored is written beside the
//! run that the report is about.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mover_explicit::{Options, Order, RunTime, explore};
use mover_ir::program::{Program, Property};
use mover_reduce::present::explain::explain;
use mover_reduce::{Movers, PhaseFacts, movers};
use mover_report::html::{LedgerRow, MoverRow, MoverTable, Page};
use mover_report::verdict::{Answer, Verdict};

use crate::explain::{object_text, transaction_text};
use mover_cli::output::write_file;

/// For each search of the ledger.
const TIME_LIMIT: Duration = Duration::from_millis(1500);

/// Bytes for each search of the ledger.
const MEMORY_LIMIT: usize = 1 << 30;

/// Writes the report; `searched` are the movers that explicit search goes by.
pub fn write(
    path: &Path,
    program: &Program,
    answer: &Answer,
    searched: Option<&Movers>,
    interrupt: &AtomicBool,
) -> Result<(), String> {
    let table = movers(program).ok().as_ref().map(mover_table);
    let ledger = ledger(program, searched, answer, interrupt);
    let page = Page::of_answer(answer, program, table, ledger);
    write_file(path, &page.html())
}

fn mover_table(movers: &Movers) -> MoverTable {
    let explanation = explain(movers);
    let (alone, longer): (Vec<_>, Vec<_>) = explanation
        .transactions
        .iter()
        .partition(|transaction| transaction.lines.len() == 1);
    let mut transactions: Vec<String> = longer.into_iter().map(transaction_text).collect();
    if !alone.is_empty() {
        transactions.push(format!(
            "{} lines are transactions of their own",
            alone.len()
        ));
    }
    if !explanation.atomic.is_empty() {
        let names = explanation.atomic.join(", ");
        transactions.push(format!("atomic as a whole: {names}"));
    }
    MoverTable {
        objects: explanation
            .objects
            .iter()
            .filter(|object| !object.name.starts_with('%'))
            .map(|object| (object.name.clone(), object_text(object)))
            .collect(),
        statements: explanation
            .statements
            .into_iter()
            .map(|statement| MoverRow {
                file: statement.file,
                line: statement.line,
                thread: statement.thread,
                text: statement.text,
                class: statement.class,
                commits: statement.commits,
                reasons: statement.reasons,
            })
            .collect(),
        transactions,
    }
}

/// The run itself and, if it was explicit search, one with each other reduction.
fn ledger(
    program: &Program,
    movers: Option<&Movers>,
    answer: &Answer,
    interrupt: &AtomicBool,
) -> Vec<LedgerRow> {
    if answer.engine != "explicit" {
        return Vec::new();
    }
    // What a user claims wrongly is no ground for a reduction.
    let facts = movers
        .map(PhaseFacts::new)
        .filter(|facts| facts.owners.flaws.is_empty());
    let mut rows = Vec::new();
    for technique in ["none", "static", "phase", "dynamic"] {
        let is_this =
            answer.reduction == technique && matches!(answer.ignoring, None | Some("blocks"));
        if is_this {
            rows.push(LedgerRow {
                technique: technique.into(),
                states: answer.states,
                transitions: answer.transitions,
                seconds: answer.time.as_secs_f64(),
                outcome: match &answer.verdict {
                    Verdict::Unknown { .. } => String::new(),
                    verdict => verdict.name().into(),
                },
                is_this,
            });
            continue;
        }
        let movers = match (technique, movers) {
            ("none", _) => None,
            (_, Some(movers)) => Some(movers),
            (_, None) => continue,
        };
        let is_run_time = matches!(technique, "phase" | "dynamic");
        if is_run_time && facts.is_none() {
            continue;
        }
        let run_time = facts.as_ref().filter(|_| is_run_time).map(|facts| RunTime {
            facts,
            by_reach: technique == "dynamic",
        });
        let options = Options {
            order: Order::BreadthFirst,
            movers,
            run_time,
            jobs: 1,
            errors: answer.properties.contains(&Property::UnreachCall),
            deadlocks: answer.properties.contains(&Property::NoDeadlock),
            keep_going: false,
            timeout: Some(TIME_LIMIT),
            memory: Some(MEMORY_LIMIT),
            interrupt,
            progress: &mut |_| (),
        };
        let Ok(outcome) = explore(program, options) else {
            continue;
        };
        rows.push(LedgerRow {
            technique: technique.into(),
            states: outcome.statistics.states,
            transitions: outcome.statistics.transitions,
            seconds: outcome.statistics.elapsed.as_secs_f64(),
            outcome: match (&outcome.violation, outcome.stopped) {
                (Some(_), _) => "unsafe".into(),
                (None, None) => "no violation".into(),
                (None, Some(_)) => String::new(),
            },
            is_this,
        });
    }
    rows
}

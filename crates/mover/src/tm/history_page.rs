//! `mover tm history --report`: the anomalies of a history as lanes over time.
//!
//! There may be millions of transactions; a page shows those of the anomalies only, one run for each
//! anomaly. The lanes are the processes, the boxes the transactions, in the order of their beginnings.
//! An arrow leads from the operation of a transaction that must come first to the operation that
//! says so, so that a cycle of arrows is the cycle of the argument. Above that the same transactions are
//! bars over time, among those around them; the page zooms from the cycle to all of these.

use mover_check::story::{Arrow, ArrowKind};
use mover_check::words::grouped;
use mover_report::html::timeline::{Bar, Timeline};
use mover_report::html::{Lane, Page, Run, RunBox, RunStep};
use mover_tm::check::Verdict;
use mover_tm::recorded::verdict::Judgement;
use mover_tm::recorded::words::{Anomaly, Step};
use mover_tm::recorded::{Effect, Recorded};

/// More transactions of one anomaly are not drawn.
const SHOWN: usize = 40;
/// More transactions beside those of the anomaly are not drawn over time.
const NEIGHBOURS: usize = 250;
/// Events before and after a short cycle, in fifths, of which transactions are drawn.
const AROUND: u32 = 20;

pub fn page(file: &str, recorded: &Recorded, judgement: &Judgement, line: &str) -> Page {
    let has = |wanted: Verdict| judgement.levels.iter().any(|l| l.verdict == wanted);
    let (kind, verdict) = if has(Verdict::Violated) {
        ("violated", "violated")
    } else if has(Verdict::Unknown) {
        ("unknown", "unknown")
    } else {
        ("holds", "holds")
    };
    let mut page = Page {
        name: file.to_string(),
        kind,
        verdict: verdict.to_string(),
        line: line.to_string(),
        ..Page::default()
    };
    for level in &judgement.levels {
        let why = match (&level.reason, level.anomaly) {
            (Some(reason), _) => format!(": {reason}"),
            (None, Some(at)) => format!(" by {}", judgement.anomalies[at].name),
            (None, None) => String::new(),
        };
        page.rests.push((
            level.level.name().to_string(),
            format!("{}{why}", level.verdict.name()),
        ));
    }
    for (guarantee, verdict, broken) in &judgement.sessions {
        let why = broken
            .as_ref()
            .map_or(String::new(), |broken| format!(": {}", broken.words));
        page.rests.push((
            guarantee.name().to_string(),
            format!("{}{why}", verdict.name()),
        ));
    }
    for (what, count) in [
        ("transactions", recorded.transactions.len()),
        ("operations", recorded.operations.len()),
        ("keys", recorded.key_names.len()),
        ("processes", recorded.process_names.len()),
    ] {
        page.figures.push((what.to_string(), grouped(count as u64)));
    }
    page.runs = judgement
        .anomalies
        .iter()
        .map(|anomaly| run(recorded, anomaly))
        .collect();
    page
}

fn run(recorded: &Recorded, anomaly: &Anomaly) -> Run {
    let title = match anomaly.also {
        Some(also) => format!("{} ({also})", anomaly.name),
        None => anomaly.name.clone(),
    };
    let mut run = Run {
        title,
        words: vec![anomaly.words.clone()],
        ..Run::default()
    };
    let mut shown: Vec<usize> = anomaly.transactions.clone();
    shown.sort_unstable();
    shown.dedup();
    shown.truncate(SHOWN);
    shown.sort_by_key(|&x| recorded.transactions[x].lines);
    let mut processes: Vec<u32> = shown
        .iter()
        .map(|&x| recorded.transactions[x].process)
        .collect();
    processes.sort_unstable();
    processes.dedup();
    for &process in &processes {
        let name = &recorded.process_names[process as usize];
        run.lanes.push(Lane {
            name: format!("process {name}"),
            ..Lane::default()
        });
    }
    // The step of each operation shown.
    let mut places: Vec<(usize, usize, usize)> = Vec::new();
    for &x in &shown {
        let transaction = &recorded.transactions[x];
        let lane = processes
            .binary_search(&transaction.process)
            .unwrap_or_default();
        let first = run.steps.len();
        let lines = transaction.lines;
        for (at, operation) in recorded.operations_of(x).iter().enumerate() {
            places.push((x, at, run.steps.len()));
            run.steps.push(RunStep {
                lane,
                text: format!(
                    "{}: {}",
                    recorded.name(x),
                    recorded.operation_text(operation)
                ),
                note: (at == 0).then(|| match lines {
                    (a, b) if a == b => format!("line {a} of the history"),
                    (a, b) => format!("lines {a} to {b} of the history"),
                }),
                ..RunStep::default()
            });
        }
        if run.steps.len() > first {
            run.boxes.push(RunBox {
                first,
                phases: vec!["plain"; run.steps.len() - first],
            });
        }
    }
    for step in &anomaly.steps {
        add_arrow(&mut run, recorded, &places, step);
    }
    if let Some(last) = run.steps.last_mut() {
        last.fails = true;
    }
    run.timeline = timeline(recorded, anomaly, &shown);
    run
}

/// When a transaction was called and answered; the lines of the file where no times were recorded.
fn times(recorded: &Recorded, x: usize) -> (u32, Option<u32>) {
    let transaction = &recorded.transactions[x];
    match (transaction.start, transaction.end) {
        (None, None) => (transaction.lines.0, Some(transaction.lines.1)),
        (start, end) => (start.or(end).unwrap_or_default(), end),
    }
}

/// The transactions of an anomaly, and the nearest of those around them in time.
fn timeline(recorded: &Recorded, anomaly: &Anomaly, shown: &[usize]) -> Option<Timeline> {
    let spans = shown.iter().map(|&x| times(recorded, x));
    let from = spans.clone().map(|(from, _)| from).min()?;
    let to = spans.map(|(from, to)| to.unwrap_or(from)).max()?;
    let middle = from + (to - from) / 2;
    let around = (to - from).max(AROUND).saturating_mul(5);
    let (first, last) = (from.saturating_sub(around), to.saturating_add(around));
    let mut near: Vec<(u32, usize)> = (0..recorded.transactions.len())
        .filter(|x| !shown.contains(x))
        .map(|x| (x, times(recorded, x)))
        .filter(|(_, (start, end))| *start <= last && end.unwrap_or(u32::MAX) >= first)
        .map(|(x, (start, _))| (start.abs_diff(middle), x))
        .collect();
    near.sort_unstable();
    near.truncate(NEIGHBOURS);
    let mut drawn: Vec<usize> = near.into_iter().map(|(_, x)| x).collect();
    drawn.extend(shown);
    drawn.sort_by_key(|&x| times(recorded, x));
    let mut processes: Vec<u32> = (drawn.iter())
        .map(|&x| recorded.transactions[x].process)
        .collect();
    processes.sort_unstable();
    processes.dedup();
    let bars = drawn.iter().map(|&x| {
        let (from, to) = times(recorded, x);
        let process = recorded.transactions[x].process;
        Bar {
            lane: processes.binary_search(&process).unwrap_or_default(),
            name: recorded.name(x),
            text: recorded.transaction_text(x),
            from,
            to,
            matters: shown.contains(&x),
        }
    });
    let bars = bars.collect();
    let place = |x: usize| drawn.iter().position(|&y| y == x);
    let arrows = anomaly
        .steps
        .iter()
        .filter_map(|step| Some((place(step.from)?, place(step.to)?, step.because.clone())));
    Some(Timeline {
        lanes: (processes.iter())
            .map(|&process| format!("process {}", recorded.process_names[process as usize]))
            .collect(),
        bars,
        arrows: arrows.collect(),
    })
}

/// The operation of a transaction that a dependency speaks of.
fn place(
    recorded: &Recorded,
    places: &[(usize, usize, usize)],
    x: usize,
    step: &Step,
    reads: bool,
) -> Option<usize> {
    let mut of_transaction = places.iter().filter(|(y, _, _)| *y == x);
    let fits = |&&(y, at, _): &&(usize, usize, usize)| {
        let operation = &recorded.operations_of(y)[at];
        let is_write = matches!(operation.effect, Effect::Write(_));
        let key = &recorded.key_names[operation.key as usize];
        step.key.as_ref().is_none_or(|wanted| wanted == key) && is_write != reads
    };
    let exact = of_transaction.clone().find(fits);
    exact
        .or_else(|| of_transaction.next())
        .map(|&(_, _, place)| place)
}

fn add_arrow(run: &mut Run, recorded: &Recorded, places: &[(usize, usize, usize)], step: &Step) {
    let from = place(recorded, places, step.from, step, step.kind == "rw");
    let to = place(recorded, places, step.to, step, step.kind == "wr");
    let (Some(from), Some(to)) = (from, to) else {
        return;
    };
    let what = format!(
        "{} before {} ({}): {}",
        recorded.name(step.from),
        recorded.name(step.to),
        step.kind,
        step.because
    );
    let note = run.steps[from].note.get_or_insert_default();
    if !note.is_empty() {
        note.push_str("; ");
    }
    note.push_str(&what);
    run.arrows.push(Arrow {
        from,
        to,
        kind: ArrowKind::Order,
        what,
    });
}

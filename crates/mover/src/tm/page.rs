//! `mover tm check --report`: words with their explanations.
//!
//! A word is a sequence of the threads' statements. A violation is a cycle of transactions each
//! of which must come before the next; the page draws an arrow for each of these orders, from
//! the statement to the one that it must precede.

use mover_check::story::{Arrow, ArrowKind};
use mover_check::words::grouped;
use mover_report::html::{Lane, Page, Run, RunBox, RunStep};
use mover_source::SourceMap;
use mover_tm::check::{Report, Verdict};
use mover_tm::conflict_graph::{ConflictGraph, Reason};
use mover_tm::explain::transaction_names;
use mover_tm::language::program::Program;
use mover_tm::property::Property;
use mover_tm::word::{Action, Extra, Statement};

pub fn page(program: &Program, file: &str, sources: &SourceMap, reports: &[(Report, f64)]) -> Page {
    let chosen = reports
        .iter()
        .find(|(report, _)| report.verdict == Verdict::Violated)
        .or_else(|| reports.iter().find(|(r, _)| r.verdict == Verdict::Unknown))
        .or(reports.first());
    let (kind, verdict) = match chosen.map(|(report, _)| report.verdict) {
        Some(Verdict::Violated) => ("violated", "violated"),
        Some(Verdict::Holds) => ("holds", "holds"),
        Some(Verdict::Unknown) | None => ("unknown", "unknown"),
    };
    let mut page = Page {
        name: file.to_string(),
        kind,
        verdict: verdict.to_string(),
        line: chosen.map_or(String::new(), |(report, _)| {
            format!("{}, {}", report.property, report.scope)
        }),
        files: sources
            .files()
            .map(|(_, file)| (file.name.clone(), file.text.clone()))
            .collect(),
        ..Page::default()
    };
    for (report, seconds) in reports {
        let name = report.property.to_string();
        page.rests.push((
            name.clone(),
            format!("{}: {}", report.verdict.name(), report.scope),
        ));
        page.figures.push((
            format!("{name}: threads, variables"),
            format!("{}, {}", report.threads, report.variables),
        ));
        for (what, count) in [
            ("states of the algorithm", report.states),
            ("states of the specification", report.spec_states),
            ("pairs searched", report.product_states),
        ] {
            if let Some(count) = count {
                page.figures
                    .push((format!("{name}: {what}"), grouped(count as u64)));
            }
        }
        page.figures
            .push((format!("{name}: time"), format!("{seconds:.3} s")));
        page.runs.push(run(program, report));
    }
    if kind == "violated" {
        page.rests.push((
            "checked by".into(),
            "every run below was replayed on the algorithm; the conflict graph of its word was asked \
             as well"
                .into(),
        ));
    }
    page
}

fn run(program: &Program, report: &Report) -> Run {
    let mut run = Run {
        title: report.property.to_string(),
        words: vec![report.explanation.clone()],
        ..Run::default()
    };
    if report.verdict != Verdict::Violated {
        run.words
            .insert(0, format!("{}: {}", report.verdict.name(), report.scope));
        return run;
    }
    match (&report.word, &report.cycle) {
        (_, Some(cycle)) => add_loop(&mut run, report, cycle),
        (Some(word), None) => add_word(&mut run, program, report, word),
        (None, None) => {}
    }
    run
}

fn lanes(threads: usize) -> Vec<Lane> {
    (1..=threads)
        .map(|thread| Lane {
            name: format!("thread {thread}"),
            ..Lane::default()
        })
        .collect()
}

/// A statement in words.
fn said(action: Action) -> String {
    match action {
        Action::Read(v) => format!("read variable {}", v + 1),
        Action::Write(v) => format!("write variable {}", v + 1),
        Action::Commit => "commit".into(),
        Action::Abort => "abort".into(),
        Action::Extra(extra) => match extra {
            Extra::Begin => "begin".into(),
            Extra::BeginReadOnly => "begin read-only".into(),
            Extra::Snapshot => "take a new snapshot".into(),
            Extra::OldRead(v) => format!("read variable {} as of the snapshot", v + 1),
            Extra::PlainRead(v) => format!("read variable {} outside of a transaction", v + 1),
            Extra::PlainWrite(v) => format!("write variable {} outside of a transaction", v + 1),
            Extra::Nest => "begin a nested transaction".into(),
            Extra::Merge => "merge the nested transaction".into(),
            Extra::Undo => "undo the nested transaction".into(),
            Extra::Retry => "retry".into(),
        },
    }
}

fn add_word(run: &mut Run, program: &Program, report: &Report, word: &[Statement]) {
    run.lanes = lanes(report.threads);
    for (statement, name) in word.iter().zip(transaction_names(word)) {
        run.steps.push(RunStep {
            lane: statement.thread.into(),
            text: format!("{name}: {}", said(statement.action)),
            ..RunStep::default()
        });
    }
    for (position, statement) in word.iter().enumerate() {
        let phase = match statement.action {
            Action::Commit => "commit",
            _ => "plain",
        };
        let goes_on = position > 0
            && word[position - 1].thread == statement.thread
            && !word[position - 1].action.is_finishing();
        match run.boxes.last_mut() {
            Some(last) if goes_on => last.phases.push(phase),
            _ => run.boxes.push(RunBox {
                first: position,
                phases: vec![phase],
            }),
        }
    }
    if let Property::Safety(safety) = report.property {
        let graph = ConflictGraph::of(word, safety, program.update);
        for edge in graph.shortest_cycle().unwrap_or_default() {
            add_order(run, &graph.edges[edge].reason);
        }
    }
    if let Some(last) = run.steps.last_mut() {
        last.fails = true;
    }
}

/// Draws why one transaction must come before another.
fn add_order(run: &mut Run, reason: &Reason) {
    let (from, to) = match *reason {
        Reason::Conflict { earlier, later, .. } => (earlier.1, later.1),
        Reason::InTime { end, begin } => (end, begin),
        Reason::FirstCommitter { first, second, .. } => (first, second),
        Reason::InThread | Reason::SnapshotFirst | Reason::OwnWriteMissed { .. } => return,
    };
    if from >= run.steps.len() || to >= run.steps.len() {
        return;
    }
    // The step's text begins with the name of its transaction.
    let whose = run.steps[to].text.split(':').next().unwrap_or_default();
    let what = format!("must come before {whose} (statement {})", to + 1);
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

/// The way to a loop, and what is repeated.
fn add_loop(run: &mut Run, report: &Report, cycle: &[String]) {
    run.lanes = lanes(report.threads);
    let first = report.run.len();
    for (position, text) in report.run.iter().chain(cycle).enumerate() {
        // `(own,1)_2`: the thread's number is at the end.
        let thread = text
            .rsplit_once('_')
            .and_then(|(_, number)| number.parse::<usize>().ok())
            .map_or(0, |number| number.saturating_sub(1).min(report.threads - 1));
        run.steps.push(RunStep {
            lane: thread,
            text: text.clone(),
            note: (position >= first).then(|| "repeated for ever".to_string()),
            ..RunStep::default()
        });
        run.boxes.push(RunBox {
            first: position,
            phases: vec!["plain"],
        });
    }
}

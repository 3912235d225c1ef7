//! Answers as text.
//!
//! A trace is a table: one row for each step with the thread, the place, the statement, and only
//! what the step changed, or read if it changed nothing. Steps of a thread on one line that follow
//! each other are one row, unless the story speaks of them; so a library call is one row. In long
//! traces whole transactions and the rounds of loops are one row. Rows fit 80 columns: what does
//! not fit beside the statement is printed below it. The last line is always the verdict.

use std::fmt::Write;
use std::ops::Range;

use mover_check::answer::{Answer, PropertyAnswer, STOPPED_AT_FIRST, Verdict};
use mover_check::temporal::ClaimAnswer;
use mover_check::trace::{Change, Trace, TraceStep};
use mover_check::words::grouped;
use mover_engine::UpTo;
use mover_ir::program::Property;

/// How to mark what stands out.
#[derive(Clone, Copy)]
pub struct Style {
    pub color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_string()
        }
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Each thread keeps its colour through the trace.
    fn thread(self, number: usize, text: &str) -> String {
        const COLORS: [&str; 6] = ["36", "35", "33", "34", "32", "91"];
        self.paint(COLORS[number % COLORS.len()], text)
    }
}

/// Which rows the table of a trace has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// One for each step.
    Steps,
    /// Steps on one line are one row, and in long traces of several threads so are steps of a
    /// transaction that do not matter, and the rounds of a loop.
    Folded,
}

/// The whole answer; ends with the verdict line.
pub fn answer(answer: &Answer, style: Style, rows: Rows, show_invariant: bool) -> String {
    let mut out = String::new();
    if let Verdict::Unsafe(trace) = &answer.verdict {
        out += &story_text(trace, style);
        out += &trace_table(trace, style, rows);
        out.push('\n');
    }
    out += &other_properties(answer, style, rows);
    for caveat in &answer.caveats {
        out += &format!("note: {caveat}\n");
    }
    for claim in &answer.claims {
        out += &claim_line(claim);
    }
    if show_invariant {
        for clause in &answer.invariant {
            out += &format!("invariant: {clause}\n");
        }
    }
    if let Some(certified) = &answer.certified {
        for by in &certified.by {
            out += &format!("certified: {by}\n");
        }
        for not_by in &certified.not_by {
            out += &format!("not certified: {not_by}\n");
        }
    }
    out += &style.dim(&statistics(answer));
    out.push('\n');
    if let Verdict::Unknown { advice, .. } = &answer.verdict {
        out += &format!("try: {advice}\n");
    }
    // What a program says in a message cannot add a line after this one.
    let verdict = verdict_line(answer).replace(char::is_control, " ");
    let color = match answer.verdict {
        Verdict::Safe => "1;32",
        Verdict::Unsafe(_) => "1;31",
        Verdict::SafeUpTo(_) | Verdict::Unknown { .. } => "1;33",
    };
    out += &style.paint(color, &verdict);
    out.push('\n');
    out
}

/// What the verdict leaves unsaid of single properties: the runs of further violations, which
/// properties hold beside a violation, and which are open for a reason of their own.
fn other_properties(answer: &Answer, style: Style, rows: Rows) -> String {
    let told_first = match &answer.verdict {
        Verdict::Unsafe(trace) => Some(trace),
        _ => None,
    };
    let is_mixed = |one: &PropertyAnswer| one.verdict != answer.verdict;
    if !answer.by_property.iter().any(is_mixed) {
        return String::new();
    }
    let mut out = String::new();
    let mut held: Vec<&str> = Vec::new();
    let mut open: Vec<(String, Vec<&str>)> = Vec::new();
    for PropertyAnswer { property, verdict } in &answer.by_property {
        let reason = match verdict {
            Verdict::Safe => {
                held.push(property.name());
                continue;
            }
            Verdict::Unsafe(trace) if Some(trace) == told_first => continue,
            Verdict::Unsafe(trace) => {
                let place = trace
                    .place()
                    .map_or(String::new(), |place| format!(" at {place}"));
                let told = format!("also violated: {property}: {}{place}", trace.message);
                out += &format!("{}\n\n", wrapped(&told, WIDTH).join("\n"));
                if trace.story.sentence != trace.message {
                    out += &story_text(trace, style);
                }
                out += &trace_table(trace, style, rows);
                out.push('\n');
                continue;
            }
            Verdict::SafeUpTo(bounds) => format!("holds up to {}", UpTo::list(bounds, ", ")),
            Verdict::Unknown { reason, .. } if reason == STOPPED_AT_FIRST => continue,
            Verdict::Unknown { reason, .. } => format!("open: {reason}"),
        };
        match open.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(property.name()),
            None => open.push((reason, vec![property.name()])),
        }
    }
    if !held.is_empty() {
        out += &format!("holds: {}\n", held.join(", "));
    }
    for (reason, names) in open {
        out += &format!("{}: {reason}\n", names.join(", "));
    }
    out
}

fn symbolic_statistics(answer: &Answer) -> String {
    let figures = &answer.statistics;
    let mut parts = vec![format!("{} {}", grouped(figures.depth), answer.unit)];
    if answer.unit == "frames" {
        parts.push(format!("{} obligations", grouped(figures.obligations)));
        parts.push(format!("{} lemmas", grouped(figures.lemmas)));
        parts.push(format!("{} bits", grouped(figures.bits)));
        parts.push(format!("{} predicates", grouped(figures.predicates)));
    }
    if answer.unit == "repetitions" {
        parts.push(format!("{} events", grouped(figures.events)));
        parts.push(format!("{} pairs", grouped(figures.pairs)));
    }
    parts.push(format!("{} terms", grouped(figures.terms)));
    parts.push(format!("{} clauses", grouped(figures.effort.clauses)));
    parts.push(format!("{} questions", grouped(figures.effort.questions)));
    parts.push(format!("{} conflicts", grouped(figures.effort.conflicts)));
    parts.push(format!("{:.2} s", answer.time.as_secs_f64()));
    if let Some(peak) = answer.peak_mb {
        parts.push(format!("{peak:.0} MB"));
    }
    format!(
        "{} engine, {} {}: {}",
        answer.engine,
        if answer.unit == "repetitions" {
            "pairs"
        } else {
            "reduction"
        },
        answer.reduction,
        parts.join(", ")
    )
}

fn statistics(answer: &Answer) -> String {
    if !answer.is_explicit() {
        return symbolic_statistics(answer);
    }
    let figures = &answer.statistics;
    let mut parts = vec![
        format!("{} states", grouped(figures.states)),
        format!("{} steps", grouped(figures.transitions)),
        format!("depth {}", grouped(figures.depth)),
        format!("{:.2} s", answer.time.as_secs_f64()),
    ];
    let seconds = answer.time.as_secs_f64();
    if seconds > 0.1 {
        parts.push(format!(
            "{} states/s",
            grouped((figures.states as f64 / seconds) as u64)
        ));
    }
    if figures.states > 1000 {
        parts.push(format!("{} bytes/state", figures.bytes / figures.states));
    }
    if let Some(peak) = answer.peak_mb {
        parts.push(format!("{peak:.0} MB"));
    }
    if figures.violations > 1 {
        parts.push(format!("{} violations met", grouped(figures.violations)));
    }
    // Chain blocks are the rule and need no mention.
    let ignoring = answer.ignoring.filter(|&ignoring| ignoring != "blocks");
    format!(
        "{} engine, reduction {}{}: {}",
        answer.engine,
        answer.reduction,
        ignoring.map_or(String::new(), |name| format!(", ignoring {name}")),
        parts.join(", ")
    )
}

/// What is known of one claim.
fn claim_line(claim: &ClaimAnswer) -> String {
    let words = &claim.words;
    let states = grouped(claim.statistics.states);
    match &claim.verdict {
        Verdict::Safe => format!("claim: {words} holds, {states} states\n"),
        Verdict::SafeUpTo(bounds) => {
            let bounds = UpTo::list(bounds, " and ");
            format!("claim: {words} holds up to {bounds}\n")
        }
        Verdict::Unsafe(_) => format!("claim: {words} is violated, {states} states\n"),
        Verdict::Unknown { reason, .. } => {
            format!("claim: {words} is not checked: {reason}\n")
        }
    }
}

/// The verdict in one line of words.
pub fn verdict_line(answer: &Answer) -> String {
    let uncovered = match answer.caveats.len() {
        0 => String::new(),
        1 | 2 => format!(" (but {})", answer.caveats.join("; ")),
        many => format!(" (but {many} things are not covered, see the notes above)"),
    };
    match &answer.verdict {
        Verdict::Safe | Verdict::SafeUpTo(_) => {
            let bounds = match &answer.verdict {
                Verdict::SafeUpTo(bounds) => format!(" up to {}", UpTo::list(bounds, " and ")),
                _ => String::new(),
            };
            let claims: Vec<&str> = answer
                .properties
                .iter()
                .map(|property| match property {
                    Property::UnreachCall => "no assertion can fail",
                    Property::NoDeadlock => "no deadlock is reachable",
                    Property::MemorySafety => "memory is accessed and freed properly",
                    Property::MemoryCleanup => "all memory is freed at the end",
                    Property::NoOverflow => "no signed computation overflows",
                    Property::MutexMisuse => "locks are used correctly",
                    Property::NoDataRace => "no data race is possible",
                    Property::Claims => "all claims hold",
                    Property::Termination => "every fair run ends",
                })
                .collect();
            // Of a modular proof that is the point.
            let any_number = match answer.engine {
                "modular" => " for any number of threads",
                _ => "",
            };
            let claims = claims.join(" and ");
            format!("safe{bounds}: {claims}{any_number}{uncovered}")
        }
        Verdict::Unsafe(trace) => {
            let place = trace
                .place()
                .map_or(String::new(), |place| format!(" at {place}"));
            format!("unsafe: {}{place} ({})", trace.message, trace.property)
        }
        Verdict::Unknown { reason, .. } => format!("unknown: {reason}"),
    }
}

/// What went wrong, in a sentence.
pub fn story_text(trace: &Trace, style: Style) -> String {
    if trace.story.sentence.is_empty() {
        return String::new();
    }
    let sentence = wrapped(&capital(&trace.story.sentence), WIDTH);
    let lines: Vec<String> = sentence.iter().map(|line| style.bold(line)).collect();
    format!("{}\n\n", lines.join("\n"))
}

/// The columns that text should fit into.
const WIDTH: usize = 80;

/// The width of the column of statements. Longer ones have no changes beside them.
const STATEMENT: usize = 26;

/// Breaks a text between words. A word that is too long has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn capital(text: &str) -> String {
    // A name stays as it is.
    match text.strip_prefix("circular wait:") {
        Some(rest) => format!("Circular wait:{rest}"),
        None => text.to_string(),
    }
}

/// Traces up to this length are shown whole.
const SHORT: usize = 20;

/// Fewer steps than this are not worth folding.
const FEWEST_FOLDED: usize = 3;

/// What a row of a table stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RowKind {
    /// A step, or several on one line.
    Line,
    /// A part of a transaction.
    Transaction,
    /// So many rounds of a loop.
    Loop(usize),
}

/// The steps that each row of a table stands for.
fn folded(trace: &Trace, rows: Rows) -> Vec<(Range<usize>, RowKind)> {
    let mut threads: Vec<usize> = trace.steps.iter().map(|s| s.step.by.thread).collect();
    threads.dedup();
    let single = |step: usize| (step..step + 1, RowKind::Line);
    if rows == Rows::Steps {
        return (0..trace.steps.len()).map(single).collect();
    }
    let is_marked = |step: usize| trace.story.marks.iter().any(|mark| mark.step == step);
    let by_line = |steps: Range<usize>| {
        let mut found: Vec<Range<usize>> = Vec::new();
        for step in steps {
            let is_same = |last: &&mut Range<usize>| {
                let (before, now) = (&trace.steps[step - 1], &trace.steps[step]);
                last.end == step
                    && before.step.by.thread == now.step.by.thread
                    && (&before.file, before.line) == (&now.file, now.line)
                    && now.line.is_some()
                    && now.partner.is_none()
                    && !is_marked(step - 1)
                    && !is_marked(step)
                    && trace.loop_start != Some(step)
            };
            match found.last_mut().filter(is_same) {
                Some(last) => last.end = step + 1,
                None => found.push(step..step + 1),
            }
        }
        found.into_iter().map(|range| (range, RowKind::Line))
    };
    let lines: Vec<(Range<usize>, RowKind)> = by_line(0..trace.steps.len()).collect();
    if lines.len() <= SHORT {
        return lines;
    }
    let lines = fold_loops(trace, lines, &is_marked);
    if lines.len() <= SHORT || threads.len() < 2 {
        return lines;
    }
    let mut ranges: Vec<(Range<usize>, RowKind)> = Vec::new();
    let mut next = 0;
    for transaction in &trace.transactions {
        let steps = transaction.steps();
        let mut step = steps.start.max(next);
        while step < steps.end {
            let end = (step..steps.end)
                .find(|&s| is_marked(s))
                .unwrap_or(steps.end);
            let first_lines = by_line(step..end).count();
            if first_lines >= FEWEST_FOLDED {
                ranges.push((step..end, RowKind::Transaction));
                step = end;
            } else {
                ranges.extend(by_line(step..end));
                ranges.extend((end..steps.end.min(end + 1)).map(single));
                step = end + 1;
            }
        }
        next = step.min(steps.end).max(next);
    }
    ranges.extend(by_line(next..trace.steps.len()));
    ranges
}

/// Fewer rounds of a loop than this are not worth folding.
const FEWEST_ROUNDS: usize = 3;

/// The most rows of one round of a loop that is recognised.
const LONGEST_ROUND: usize = 40;

/// Replaces rows of one thread that are repeated by one row.
fn fold_loops(
    trace: &Trace,
    rows: Vec<(Range<usize>, RowKind)>,
    is_marked: &dyn Fn(usize) -> bool,
) -> Vec<(Range<usize>, RowKind)> {
    let place = |row: &(Range<usize>, RowKind)| {
        let step = &trace.steps[row.0.start];
        (step.step.by.thread, step.file.as_deref(), step.line)
    };
    // Rounds of a loop are alike, and neither the story nor another thread has a part in them.
    let rounds = |at: usize, period: usize| {
        let same = |row: usize| {
            let (here, first) = (&rows[row], &rows[at + (row - at) % period]);
            place(here) == place(first)
                && place(here).0 == place(&rows[at]).0
                && place(here).2.is_some()
                && !is_marked(here.0.start)
        };
        let end = (at..rows.len()).find(|&row| !same(row));
        (end.unwrap_or(rows.len()) - at) / period
    };
    let mut out = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let best = (1..=LONGEST_ROUND)
            .filter(|&period| at + FEWEST_ROUNDS * period <= rows.len())
            .map(|period| (rounds(at, period), period))
            .filter(|&(rounds, _)| rounds >= FEWEST_ROUNDS)
            .max_by_key(|&(rounds, period)| (rounds * period, rounds));
        match best {
            Some((rounds, period)) => {
                let end = at + rounds * period;
                let steps = rows[at].0.start..rows[end - 1].0.end;
                out.push((steps, RowKind::Loop(rounds)));
                at = end;
            }
            None => {
                out.push(rows[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// What several steps change together.
pub fn net_changes(steps: &[TraceStep]) -> Vec<Change> {
    let mut net: Vec<Change> = Vec::new();
    for change in steps.iter().flat_map(|step| &step.changes) {
        let known = net
            .iter_mut()
            .find(|known| known.name == change.name && !known.from.is_empty());
        match known {
            Some(known) if !change.from.is_empty() => known.to = change.to.clone(),
            _ => net.push(change.clone()),
        }
    }
    net.retain(|change| change.from != change.to);
    // The handle of a thread that is started says nothing more.
    let started: Vec<String> = net
        .iter()
        .filter(|change| change.to == "started")
        .filter_map(|change| {
            let number = change.name.strip_suffix(']')?.rsplit_once('[')?.1;
            Some((number.parse::<u64>().ok()? + 1).to_string())
        })
        .collect();
    net.retain(|change| {
        let is_handle =
            ["0", "NULL"].contains(&change.from.as_str()) && started.contains(&change.to);
        !(is_handle && steps.iter().any(|step| step.text.contains("create")))
    });
    net
}

/// `7`, `3–9`, with the file's name if there are several.
fn place_of(steps: &[TraceStep], has_files: bool) -> String {
    let file = steps.iter().find_map(|step| step.file.as_deref());
    let lines = steps
        .iter()
        .filter(|step| step.file.as_deref() == file)
        .filter_map(|step| step.line);
    let (first, last) = (lines.clone().min(), lines.max());
    let lines = match (first, last) {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) => format!("{first}–{last}"),
        _ => return String::new(),
    };
    match file.filter(|_| has_files) {
        Some(file) => format!("{}:{lines}", short_name(file)),
        None => lines,
    }
}

/// The steps of a counterexample as a table.
pub fn trace_table(trace: &Trace, style: Style, rows: Rows) -> String {
    struct Line {
        thread: usize,
        cells: [String; 4],
        changes: String,
        note: String,
    }
    let mut files: Vec<&str> = trace
        .steps
        .iter()
        .filter_map(|s| s.file.as_deref())
        .collect();
    files.sort_unstable();
    files.dedup();
    let has_files = files.len() > 1;
    let rows = folded(trace, rows);
    let is_folded = rows.iter().any(|(_, kind)| *kind != RowKind::Line);
    let lines: Vec<Line> = rows
        .into_iter()
        .map(|(range, kind)| {
            let steps = &trace.steps[range.clone()];
            let step = &steps[0];
            let thread = match &step.partner {
                Some(partner) => format!("{} → {partner}", step.thread),
                None => step.thread.clone(),
            };
            let mark = trace
                .story
                .marks
                .iter()
                .find(|mark| mark.step == range.start);
            let mut changes: Vec<String> = ranged(net_changes(steps))
                .iter()
                .map(|change| change_text(change, &step.thread))
                .collect();
            if changes.len() > MOST_CHANGES + 1 {
                let more = changes.len() - MOST_CHANGES;
                changes.truncate(MOST_CHANGES);
                changes.push(format!("{more} more"));
            }
            let output: String = steps.iter().map(|step| step.output.as_str()).collect();
            if !output.is_empty() {
                changes.push(format!("prints {output:?}"));
            }
            if changes.is_empty() && mark.is_none() && kind == RowKind::Line {
                changes.extend(reads_text(steps));
            }
            let number = match range.len() {
                1 => (range.start + 1).to_string(),
                _ => format!("{}–{}", range.start + 1, range.end),
            };
            let statement = match kind {
                RowKind::Line => one_line(&step.text),
                RowKind::Transaction => format!("{} steps as one transaction", range.len()),
                RowKind::Loop(rounds) => format!("loop, {rounds} times"),
            };
            Line {
                thread: step.step.by.thread,
                cells: [number, thread, place_of(steps, has_files), statement],
                changes: changes.join(", "),
                note: mark.map_or(String::new(), |mark| format!("◀ {}", mark.note)),
            }
        })
        .collect();
    const TITLES: [&str; 4] = ["step", "thread", "line", "statement"];
    let mut widths = TITLES.map(|title| title.chars().count());
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(&line.cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths[3] = widths[3].min(STATEMENT);
    let pad = |text: &str, width: usize| {
        let missing = width.saturating_sub(text.chars().count());
        format!("{text}{}", " ".repeat(missing))
    };
    let mut out = String::new();
    let titles: Vec<String> = TITLES.iter().zip(widths).map(|(t, w)| pad(t, w)).collect();
    let _ = writeln!(
        out,
        "{}",
        style.bold(&format!("{}  changes", titles.join("  ")))
    );
    for line in &lines {
        let cells: Vec<String> = line
            .cells
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let cell = pad(cell, width);
                match column {
                    0 | 2 => style.dim(&cell),
                    1 => style.thread(line.thread, &cell),
                    _ => cell,
                }
            })
            .collect();
        let indent: usize = widths[..3].iter().map(|width| width + 2).sum();
        let length = |text: &str| text.chars().count();
        // What does not fit beside the statement stands below it.
        let mut row = cells.join("  ");
        let mut used = indent + length(&line.cells[3]).max(widths[3]);
        let below = " ".repeat(indent + 2);
        let room = WIDTH.saturating_sub(indent + 2).max(WIDTH / 3);
        let mut is_beside = length(&line.cells[3]) <= widths[3];
        let mut rest = Vec::new();
        for (text, is_note) in [(&line.changes, false), (&line.note, true)] {
            if text.is_empty() {
                continue;
            }
            is_beside &= used + 2 + length(text) <= WIDTH;
            let shown = |text: &str| match is_note {
                true => style.bold(text),
                false => text.to_string(),
            };
            if is_beside {
                row += &format!("  {}", shown(text));
                used += 2 + length(text);
            } else {
                let parts = wrapped(text, room);
                rest.extend(parts.iter().map(|part| format!("{below}{}", shown(part))));
            }
        }
        let _ = writeln!(out, "{}", row.trim_end());
        for part in rest {
            let _ = writeln!(out, "{part}");
        }
    }
    if is_folded {
        out += &style.dim("(--all-steps shows what is folded)");
        out.push('\n');
    }
    if let Some(length) = length_text(trace) {
        out += &style.dim(&length);
        out.push('\n');
    }
    out += &standings_text(trace, style);
    out
}

/// How the trace compares with others.
pub fn length_text(trace: &Trace) -> Option<String> {
    let length = trace.length?;
    let switches = |number: usize| match number {
        1 => "1 context switch".to_string(),
        _ => format!("{number} context switches"),
    };
    let steps = |number: usize| match number {
        1 => "1 step".to_string(),
        _ => format!("{number} steps"),
    };
    let now = (trace.context_switches(), trace.steps.len());
    let rank = if length.is_shortest && now.0 == 0 {
        "; no violation takes fewer steps".to_string()
    } else if length.is_shortest {
        "; no violation has fewer".to_string()
    } else if length.found > now {
        let (then, long) = length.found;
        format!("; found with {}, {}", switches(then), steps(long))
    } else {
        String::new()
    };
    Some(format!("{}, {}{rank}", switches(now.0), steps(now.1)))
}

/// For a deadlock: where everybody stands and what for.
fn standings_text(trace: &Trace, style: Style) -> String {
    if trace.property != mover_ir::program::Property::NoDeadlock {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.bold("where the threads are"));
    let steps = trace.steps.iter().filter_map(|step| step.file.as_ref());
    let standings = trace.standings.iter().filter_map(|s| s.file.as_ref());
    let files: std::collections::BTreeSet<&String> = steps.chain(standings).collect();
    for standing in &trace.standings {
        let place = match (&standing.file, standing.line) {
            (_, Some(line)) if files.len() == 1 => format!(" at line {line}"),
            (Some(file), Some(line)) => format!(" at {}:{line}", short_name(file)),
            _ => String::new(),
        };
        let state = if standing.at_proper_end {
            "is at a valid end".to_string()
        } else if standing.waits_for.is_empty() {
            "can never continue".to_string()
        } else {
            let statements: Vec<String> = standing.waits_for.iter().map(|s| one_line(s)).collect();
            format!("waits for {}", statements.join(" or "))
        };
        let told = format!("{}{place} {state}", standing.thread);
        out += &format!("  {}\n", wrapped(&told, WIDTH - 4).join("\n    "));
    }
    out
}

/// More changes of a row are counted only.
const MOST_CHANGES: usize = 6;

/// Changes of neighbouring elements by the same are one: `buffer[0–23]: 0 → 1`.
fn ranged(changes: Vec<Change>) -> Vec<Change> {
    fn split(name: &str) -> Option<(&str, u64)> {
        let (array, index) = name.strip_suffix(']')?.rsplit_once('[')?;
        Some((array, index.parse().ok()?))
    }
    let mut out: Vec<(Change, Option<(u64, u64)>)> = Vec::new();
    for change in changes {
        let Some((array, index)) = split(&change.name).filter(|_| !change.from.is_empty()) else {
            out.push((change, None));
            continue;
        };
        match out.last_mut() {
            Some((last, Some((_, end))))
                if *end + 1 == index
                    && split(&last.name).is_some_and(|(known, _)| known == array)
                    && (&last.from, &last.to) == (&change.from, &change.to) =>
            {
                *end = index;
            }
            _ => out.push((change, Some((index, index)))),
        }
    }
    out.into_iter()
        .map(|(change, range)| match (range, split(&change.name)) {
            (Some((first, last)), Some((array, _))) if first < last => Change {
                name: format!("{array}[{first}–{last}]"),
                ..change
            },
            _ => change,
        })
        .collect()
}

/// What one of the steps of a row reads, if that is not too much.
fn reads_text(steps: &[TraceStep]) -> Option<String> {
    const MOST: usize = 2;
    let mut reads: Vec<&str> = Vec::new();
    for read in steps.iter().flat_map(|step| &step.reads) {
        if !reads.contains(&read.as_str()) {
            reads.push(read);
        }
    }
    (!reads.is_empty() && reads.len() <= MOST).then(|| format!("reads {}", reads.join(", ")))
}

/// A change as the thread that makes it would put it: without its name before its own variables.
fn change_text(change: &Change, thread: &str) -> String {
    let own = change.name.strip_prefix(thread);
    let name = own
        .and_then(|name| name.strip_prefix(':'))
        .unwrap_or(&change.name);
    match (change.from.as_str(), change.to.as_str()) {
        ("" | "free", to) => format!("{name} {to}"),
        (from, "free") if from.starts_with("held by ") => format!("{name} free"),
        (from, to) => format!("{name}: {from} → {to}"),
    }
}

fn short_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A statement on one line, cut if it is long.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 44;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    let cut: String = text.chars().take(LONGEST - 1).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_change_alike_are_one_change() {
        let change = |name: &str, to: &str| Change {
            name: name.into(),
            from: "0".into(),
            to: to.into(),
        };
        let told = ranged(vec![
            change("a[0]", "1"),
            change("a[1]", "1"),
            change("a[2]", "2"),
            change("b", "1"),
        ]);
        let names: Vec<&str> = told.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["a[0–1]", "a[2]", "b"]);
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable x", 4), ["unbreakable", "x"]);
    }

    #[test]
    fn long_statements_are_cut_to_one_line() {
        assert_eq!(one_line("a\n  b"), "a b");
        assert_eq!(one_line(&"x".repeat(60)).chars().count(), 44);
    }
}

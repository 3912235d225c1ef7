//! Answers as text.
//!
//! A trace is a table: one line for each step with the thread, the place, the statement, and
//! only what the step changed. The last line is always the verdict.

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
    /// In long traces of several threads, steps of a transaction that do not matter are one.
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
                out += &format!("also violated: {property}: {}{place}\n\n", trace.message);
                out += &story_text(trace, style);
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
    format!("{}\n\n", style.bold(&capital(&trace.story.sentence)))
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

/// The steps that each row of a table stands for.
fn folded(trace: &Trace, rows: Rows) -> Vec<Range<usize>> {
    let mut threads: Vec<usize> = trace.steps.iter().map(|s| s.step.by.thread).collect();
    threads.dedup();
    if rows == Rows::Steps || trace.steps.len() <= SHORT || threads.len() < 2 {
        return (0..trace.steps.len()).map(|step| step..step + 1).collect();
    }
    let is_marked = |step: usize| trace.story.marks.iter().any(|mark| mark.step == step);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut next = 0;
    for transaction in &trace.transactions {
        let steps = transaction.steps();
        let mut step = steps.start.max(next);
        while step < steps.end {
            let end = (step..steps.end)
                .find(|&s| is_marked(s))
                .unwrap_or(steps.end);
            if end - step >= FEWEST_FOLDED {
                ranges.push(step..end);
                step = end;
            } else {
                ranges.push(step..step + 1);
                step += 1;
            }
        }
        next = step;
    }
    ranges.extend((next..trace.steps.len()).map(|step| step..step + 1));
    ranges
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
    net
}

/// `line 7`, `lines 3–9`, with the file's name.
fn place_of(steps: &[TraceStep]) -> String {
    let file = steps.iter().find_map(|step| step.file.as_deref());
    let lines = steps
        .iter()
        .filter(|step| step.file.as_deref() == file)
        .filter_map(|step| step.line);
    let (first, last) = (lines.clone().min(), lines.max());
    match (file, first, last) {
        (Some(file), Some(first), Some(last)) if first == last => {
            format!("{}:{first}", short_name(file))
        }
        (Some(file), Some(first), Some(last)) => format!("{}:{first}–{last}", short_name(file)),
        _ => String::new(),
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
    let mut is_folded = false;
    let lines: Vec<Line> = folded(trace, rows)
        .into_iter()
        .map(|range| {
            let steps = &trace.steps[range.clone()];
            let step = &steps[0];
            let thread = match &step.partner {
                Some(partner) => format!("{} → {partner}", step.thread),
                None => step.thread.clone(),
            };
            let mut changes: Vec<String> = net_changes(steps).iter().map(change_text).collect();
            let output: String = steps.iter().map(|step| step.output.as_str()).collect();
            if !output.is_empty() {
                changes.push(format!("prints {output:?}"));
            }
            let number = range.start + 1;
            let (number, statement) = match range.len() {
                1 => (number.to_string(), one_line(&step.text)),
                many => {
                    is_folded = true;
                    (
                        format!("{number}–{}", range.end),
                        format!("{many} steps as one transaction"),
                    )
                }
            };
            let mark = trace
                .story
                .marks
                .iter()
                .find(|mark| mark.step == range.start);
            Line {
                thread: step.step.by.thread,
                cells: [number, thread, place_of(steps), statement],
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
        let gap = match (line.changes.is_empty(), line.note.is_empty()) {
            (false, false) => "  ",
            _ => "",
        };
        let note = style.bold(&line.note);
        let text = format!("{}  {}{gap}{note}", cells.join("  "), line.changes);
        let _ = writeln!(out, "{}", text.trim_end());
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
    for standing in &trace.standings {
        let place = match (&standing.file, standing.line) {
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
        let _ = writeln!(out, "  {}{place} {state}", standing.thread);
    }
    out
}

fn change_text(change: &Change) -> String {
    if change.from.is_empty() {
        format!("{} {}", change.name, change.to)
    } else {
        format!("{}: {} → {}", change.name, change.from, change.to)
    }
}

fn short_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A statement on one line, cut if it is long.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 48;
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
    fn long_statements_are_cut_to_one_line() {
        assert_eq!(one_line("a\n  b"), "a b");
        assert_eq!(one_line(&"x".repeat(60)).chars().count(), 48);
    }
}

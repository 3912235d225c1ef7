//! The report: one self-contained HTML file.
//!
//! The page is complete without a script: verdict and evidence, the steps, the source, the
//! movers and the figures are plain HTML, so that it can be printed, searched and read aloud.
//! The embedded script draws the lanes, steps through the run and follows it in the source.
//!
//! Everything that comes from a user, from names to source text, goes through [`escape`], or
//! into the data of the script, where no `<` is left that could end it ([`data_text`]). The
//! page's security policy forbids loading anything.

pub mod explorer;
mod run;
pub mod timeline;

use std::fmt::Write;

use mover_engine::UpTo;
use mover_ir::program::Program;
use serde_json::Value;

pub use self::run::{Lane, Run, RunBox, RunStep, Spot};
use crate::text::{length_text, verdict_line};
use mover_check::answer::{Answer, Verdict};
use mover_check::ledger::LedgerRow;
use mover_check::story::Link;
use mover_check::trace::Change;
use mover_check::words::grouped;

const STYLE: &str = include_str!("html/style.css");
/// Light or dark, as the reader likes.
const THEME: &str = include_str!("html/theme.js");
const SCRIPT: &str = include_str!("html/script.js");

/// What a report shows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The program.
    pub name: String,
    /// `unsafe`, `safe`, `bounded` or `unknown`; for transactional memories `violated` or `holds`.
    pub kind: &'static str,
    /// The verdict in a word.
    pub verdict: String,
    /// The same in a line.
    pub line: String,
    /// What went wrong, in a sentence.
    pub story: String,
    /// The phrases of the story that are about steps of the first run.
    pub links: Vec<Link>,
    /// What the verdict rests on: what, and how.
    pub rests: Vec<(String, String)>,
    pub notes: Vec<String>,
    pub runs: Vec<Run>,
    /// Name and text.
    pub files: Vec<(String, String)>,
    pub movers: Option<MoverTable>,
    pub ledger: Vec<LedgerRow>,
    pub figures: Vec<(String, String)>,
    pub invariant: Vec<String>,
}

/// What commutes, and why.
#[derive(Clone, Debug, Default)]
pub struct MoverTable {
    /// Name and how it is protected.
    pub objects: Vec<(String, String)>,
    pub statements: Vec<MoverRow>,
    pub transactions: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct MoverRow {
    pub file: String,
    pub line: usize,
    pub thread: String,
    pub text: String,
    /// `both mover`, `right mover`, `left mover`, `non-mover`.
    pub class: &'static str,
    pub commits: bool,
    pub reasons: Vec<String>,
}

/// Text as HTML, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are not text; a browser would drop or mend them.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON for a script element: nothing in it can end the element or open a comment.
pub fn data_text(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

impl Page {
    /// The page of an answer. `movers` and `ledger` come from who knows them.
    pub fn of_answer(
        answer: &Answer,
        program: &Program,
        movers: Option<MoverTable>,
        ledger: Vec<LedgerRow>,
    ) -> Page {
        let files = files(program, answer, movers.as_ref());
        let file_of = |name: &str| files.iter().position(|(known, _)| known == name);
        let mut page = Page {
            name: program.info.name.clone(),
            kind: match answer.verdict {
                Verdict::Safe => "safe",
                Verdict::SafeUpTo(_) => "bounded",
                Verdict::Unsafe(_) => "unsafe",
                Verdict::Unknown { .. } => "unknown",
            },
            verdict: answer.verdict.name().to_string(),
            line: verdict_line(answer),
            rests: rests(answer),
            notes: answer.caveats.clone(),
            movers,
            ledger,
            figures: figures(answer),
            invariant: clauses(&answer.invariant),
            ..Page::default()
        };
        // The badge says the first word.
        if let Some(rest) = page.line.strip_prefix(&page.verdict) {
            page.line = rest.trim_start_matches([':', ' ']).to_string();
        }
        if let Verdict::Unsafe(trace) = &answer.verdict {
            page.story = trace.story.sentence.clone();
            page.links = trace.story.links.clone();
            page.runs = vec![Run::of_trace(trace, file_of)];
        }
        page.files = files;
        page
    }

    pub fn html(&self) -> String {
        let mut out = String::new();
        let title = escape(&format!("{}: {}", self.name, self.verdict));
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
             <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#summary\">Skip to the verdict</a>\n"
        );
        self.header(&mut out);
        out += "<main class=\"wide\">\n";
        self.summary(&mut out);
        for (number, run) in self.runs.iter().enumerate() {
            self.run(&mut out, number, run);
        }
        if self.shows_program_alone() {
            out += "<section class=\"card\" id=\"source\" aria-labelledby=\"source-title\">\n\
                    <h2 id=\"source-title\">The program</h2>\n<div class=\"scroll code-view\" \
                    tabindex=\"0\" role=\"region\" aria-label=\"Source\">\n";
            for file in 0..self.files.len() {
                self.source_table(&mut out, file, false);
            }
            out += "</div>\n</section>\n";
        }
        self.movers_section(&mut out);
        self.figures_section(&mut out);
        out += "</main>\n<footer class=\"wide\">Written by mover. The file needs no network and \
                nothing beside it.</footer>\n";
        let runs: Vec<Value> = (self.runs.iter().enumerate())
            .filter(|(_, run)| !run.steps.is_empty())
            .map(|(number, run)| run.data(number))
            .collect();
        let _ = write!(
            out,
            "<script type=\"application/json\" id=\"data\">{}</script>\n\
             <script>\n{THEME}{SCRIPT}</script>\n</body>\n</html>\n",
            data_text(&Value::from(runs))
        );
        out
    }

    /// Whether the source is not beside a run.
    fn shows_program_alone(&self) -> bool {
        let mut steps = self.runs.iter().flat_map(|run| &run.steps);
        !self.files.is_empty() && steps.all(|step| step.spot.is_none())
    }

    fn header(&self, out: &mut String) {
        let _ = write!(
            out,
            "<header class=\"top\"><div class=\"wide\">\n<span class=\"brand\">mover</span>\n\
             <h1>{}</h1>\n<nav aria-label=\"Contents\">\n<a href=\"#summary\">Verdict</a>\n",
            escape(&self.name)
        );
        for (number, run) in self.runs.iter().enumerate() {
            let _ = writeln!(out, "<a href=\"#run-{number}\">{}</a>", escape(&run.title));
        }
        if self.shows_program_alone() {
            *out += "<a href=\"#source\">Program</a>\n";
        }
        if self.movers.is_some() {
            *out += "<a href=\"#movers\">Movers</a>\n";
        }
        *out += "<a href=\"#figures\">Figures</a>\n</nav>\n\
                 <button type=\"button\" id=\"theme\" hidden>Dark</button>\n</div></header>\n";
    }

    fn summary(&self, out: &mut String) {
        let _ = write!(
            out,
            "<section class=\"card {}\" id=\"summary\" aria-labelledby=\"summary-title\">\n\
             <h2 id=\"summary-title\" class=\"hush\">Verdict</h2>\n<p class=\"verdict\">\
             <strong class=\"badge\">{}</strong> <span class=\"what\">{}</span></p>\n",
            self.kind,
            escape(&self.verdict),
            escape(&self.line)
        );
        if !self.story.is_empty() {
            let _ = writeln!(out, "<p class=\"story\">{}</p>", self.story_html());
        }
        self.why_safe(out);
        *out += "<h3>Evidence</h3>\n<dl class=\"rests\">\n";
        for (what, how) in &self.rests {
            let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(what), escape(how));
        }
        *out += "</dl>\n";
        if !self.notes.is_empty() {
            *out += "<ul class=\"notes\">\n";
            for note in &self.notes {
                let _ = writeln!(out, "<li>{}</li>", escape(note));
            }
            *out += "</ul>\n";
        }
        if !self.invariant.is_empty() {
            let _ = writeln!(
                out,
                "<details><summary>The invariant, {} clauses</summary><pre class=\"word\">{}</pre></details>",
                self.invariant.len(),
                escape(&self.invariant.join("\n"))
            );
        }
        *out += "</section>\n";
    }

    /// The story, with its phrases as links to their steps.
    fn story_html(&self) -> String {
        let mut out = String::new();
        let mut done = 0;
        for Link { phrase, step } in &self.links {
            let (Some(before), Some(text)) = (
                self.story.get(done..phrase.start),
                self.story.get(phrase.clone()),
            ) else {
                continue;
            };
            let _ = write!(
                out,
                "{}<a href=\"#run-0-step-{}\">{}</a>",
                escape(before),
                step + 1,
                escape(text)
            );
            done = phrase.end;
        }
        out + &escape(self.story.get(done..).unwrap_or_default())
    }

    /// What excludes the bad interleavings: the locks with what they protect, and the rest.
    fn why_safe(&self, out: &mut String) {
        let Some(movers) = self.movers.as_ref().filter(|_| self.kind == "safe") else {
            return;
        };
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, how) in &movers.objects {
            let how = how.split(';').next().unwrap_or(how);
            match by_reason.iter_mut().find(|(known, _)| *known == how) {
                Some((_, names)) => names.push(name),
                None => by_reason.push((how, vec![name])),
            }
        }
        by_reason.retain(|(how, _)| *how != "a lock");
        if by_reason.is_empty() {
            return;
        }
        *out += "<h3>Why it is safe</h3>\n<ul class=\"why\">\n";
        for (how, names) in by_reason {
            let _ = writeln!(
                out,
                "<li><b>{}</b>: {}</li>",
                escape(&names.join(", ")),
                escape(how)
            );
        }
        *out += "</ul>\n<p class=\"keys\">What is unprotected can change between two steps of a thread.</p>\n";
    }

    fn run(&self, out: &mut String, number: usize, run: &Run) {
        let _ = write!(
            out,
            "<section class=\"card run\" id=\"run-{number}\" aria-labelledby=\"run-{number}-title\">\n\
             <h2 id=\"run-{number}-title\">{}</h2>\n",
            escape(&run.title)
        );
        for words in &run.words {
            let _ = writeln!(out, "<p>{}</p>", escape(words));
        }
        if run.steps.is_empty() {
            *out += "</section>\n";
            return;
        }
        run.waits_html(out);
        run.legend(out);
        if let Some(timeline) = &run.timeline {
            timeline.html(out);
        }
        let _ = write!(
            out,
            "<div class=\"bar\" role=\"group\" aria-label=\"Go through the run\" hidden>\n\
             <button type=\"button\" data-go=\"first\" aria-label=\"To the start\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M3 3h2v10H3zM13 3v10L6 8z\"/></svg></button>\n\
             <button type=\"button\" data-go=\"back\" aria-label=\"One step back\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M12 3v10L4 8z\"/></svg></button>\n\
             <button type=\"button\" data-go=\"forward\" aria-label=\"One step on\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M4 3v10l8-5z\"/></svg></button>\n\
             <button type=\"button\" data-go=\"last\" aria-label=\"To the end\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M11 3h2v10h-2zM3 3v10l7-5z\"/></svg></button>\n\
             <button type=\"button\" data-go=\"key\">Next that matters</button>\n\
             <input type=\"range\" min=\"0\" max=\"{}\" value=\"0\" step=\"1\" aria-label=\"Step\">\n\
             <output class=\"where\"></output>\n\
             <span class=\"keys\"><kbd>←</kbd> <kbd>→</kbd> step, <kbd>n</kbd> <kbd>p</kbd> what matters, \
             <kbd>Home</kbd> <kbd>End</kbd></span>\n</div>\n",
            run.steps.len()
        );
        let has_source = run.steps.iter().any(|step| step.spot.is_some());
        let has_values = run.steps.iter().any(|step| !step.changes.is_empty());
        let _ = write!(
            out,
            "<div class=\"filter\" role=\"group\" aria-label=\"Choose steps\" hidden>\n\
             <input type=\"search\" placeholder=\"Search: variable, statement, value\" aria-label=\"Search steps\">\n\
             <select aria-label=\"Thread\"><option value=\"\">all threads</option>"
        );
        for (number, lane) in run.lanes.iter().enumerate() {
            let _ = write!(
                out,
                "<option value=\"{number}\">{}</option>",
                escape(&lane.name)
            );
        }
        *out += "</select>\n<output class=\"found\"></output>\n</div>\n";
        let single = if has_source || has_values {
            ""
        } else {
            " single"
        };
        let _ = write!(
            out,
            "<div class=\"panes{single}\">\n<div class=\"scroll track\" tabindex=\"-1\">\
             <div class=\"lanes\" style=\"--lanes-width: 0px\">\n<ol class=\"steps\" aria-label=\"Steps\">\n"
        );
        for (position, step) in run.steps.iter().enumerate() {
            self.step(out, number, position, step, run);
        }
        *out += "</ol>\n</div></div>\n";
        if has_source || has_values {
            *out += "<div class=\"side\">\n";
            if has_source {
                self.source(out);
            }
            if has_values {
                *out += "<div class=\"scroll values-view\" tabindex=\"0\" role=\"region\" \
                         aria-label=\"Values\"><table class=\"values\"><thead><tr>\
                         <th scope=\"col\">variable</th><th scope=\"col\">value</th></tr></thead>\
                         <tbody></tbody></table></div>\n";
            }
            *out += "</div>\n";
        }
        *out += "</div>\n";
        if has_values {
            *out += "<details class=\"over-time\"><summary>Values over time</summary>\
                     <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Values over time\">\
                     </div></details>\n";
        }
        *out += "<p class=\"live hush\" role=\"status\" aria-live=\"polite\"></p>\n</section>\n";
    }

    fn step(&self, out: &mut String, number: usize, position: usize, step: &RunStep, run: &Run) {
        let who = match step.partner {
            Some(partner) => format!(
                "{} → {}",
                run.lanes[step.lane].name, run.lanes[partner].name
            ),
            None => run.lanes[step.lane].name.clone(),
        };
        let at = step.spot.map_or(String::new(), |spot| {
            let file = &self.files[spot.file].0;
            let short = file.rsplit('/').next().unwrap_or(file);
            match self.files.len() {
                1 => format!("line {}", spot.line),
                _ => format!("{short}:{}", spot.line),
            }
        });
        let text = step.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut does = String::new();
        if let Some(note) = &step.note {
            let _ = write!(does, "<span class=\"note\">{}</span>", escape(note));
        }
        let mut told: Vec<String> = step.changes.iter().map(change_html).collect();
        if told.is_empty() && step.note.is_none() && !step.reads.is_empty() {
            told.push(format!("reads {}", escape(&step.reads.join(", "))));
        }
        does += &told.join(", ");
        if !step.output.is_empty() {
            let gap = if told.is_empty() { "" } else { ", " };
            let _ = write!(
                does,
                "{gap}prints {}",
                escape(&format!("{:?}", step.output))
            );
        }
        let marked = if step.note.is_some() { " marked" } else { "" };
        let _ = writeln!(
            out,
            "<li id=\"run-{number}-step-{}\"{}><button type=\"button\" class=\"step{marked}\" style=\"--lane: var(--t{})\">\
             <span class=\"what\"><span class=\"no\">{}</span><span class=\"who\">{}</span>\
             <span class=\"at\">{}</span><code>{}</code></span>\
             <span class=\"does\">{does}</span></button></li>",
            position + 1,
            match run.loop_start {
                Some(start) if start <= position => " class=\"loop\"",
                _ => "",
            },
            step.lane % 8,
            position + 1,
            escape(&who),
            escape(&at),
            escape(&text),
        );
    }

    fn source(&self, out: &mut String) {
        *out += "<div>\n";
        if self.files.len() > 1 {
            *out += "<div class=\"tabs\" role=\"tablist\" aria-label=\"Files\">\n";
            for (number, (name, _)) in self.files.iter().enumerate() {
                let _ = writeln!(
                    out,
                    "<button type=\"button\" role=\"tab\" aria-selected=\"{}\" tabindex=\"{}\">{}</button>",
                    number == 0,
                    if number == 0 { 0 } else { -1 },
                    escape(name.rsplit('/').next().unwrap_or(name))
                );
            }
            *out += "</div>\n";
        }
        *out += "<div class=\"scroll code-view\" tabindex=\"0\" role=\"region\" aria-label=\"Source\">\n";
        for file in 0..self.files.len() {
            self.source_table(out, file, file > 0);
        }
        *out += "</div>\n</div>\n";
    }

    fn source_table(&self, out: &mut String, file: usize, hidden: bool) {
        let (name, text) = &self.files[file];
        let _ = writeln!(
            out,
            "<table class=\"source\" aria-label=\"{}\"{}><tbody>",
            escape(name),
            if hidden { " hidden" } else { "" }
        );
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let _ = writeln!(
                out,
                "<tr><td class=\"n\">{}</td><td class=\"c\">{}</td><td class=\"c\"></td><td>{}</td></tr>",
                number + 1,
                self.mover_chips(name, number + 1),
                escape(line)
            );
        }
        *out += "</tbody></table>\n";
    }

    /// The classes of a line's statements, each once.
    fn mover_chips(&self, file: &str, line: usize) -> String {
        let rows = self.movers.iter().flat_map(|movers| &movers.statements);
        let rows: Vec<&MoverRow> = rows
            .filter(|row| row.line == line && row.file == file)
            .collect();
        let mut out = String::new();
        for (class, style, letter) in CLASSES {
            let mut reasons: Vec<String> = Vec::new();
            for row in rows.iter().filter(|row| row.class == class) {
                let reason = format!("{}: {}", row.thread, row.reasons.join(", "));
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            if !reasons.is_empty() {
                let _ = write!(
                    out,
                    "<abbr class=\"mv {style}\" title=\"{}\">{letter}</abbr>",
                    escape(&format!("{class}; {}", reasons.join("; ")))
                );
            }
        }
        out
    }

    fn movers_section(&self, out: &mut String) {
        let Some(movers) = &self.movers else {
            return;
        };
        *out += "<section class=\"card\" id=\"movers\" aria-labelledby=\"movers-title\">\n\
                 <h2 id=\"movers-title\">What commutes</h2>\n\
                 <p>A <em>right mover</em> commutes with the next step of any other thread, a <em>left \
                 mover</em> with the previous one. Right movers, one step of any kind (the commit \
                 point) and left movers form a transaction, which need not be interleaved with other \
                 threads. The letters next to the source are the classes: \
                 <abbr class=\"mv right\" title=\"right mover\">R</abbr>\
                 <abbr class=\"mv left\" title=\"left mover\">L</abbr>\
                 <abbr class=\"mv both\" title=\"both mover\">B</abbr>\
                 <abbr class=\"mv non\" title=\"non-mover\">N</abbr>.</p>\n<div class=\"grid2\">\n";
        if !movers.objects.is_empty() {
            *out += "<div class=\"over\"><h3>Shared objects</h3><table class=\"plain\"><thead><tr>\
                     <th scope=\"col\">object</th><th scope=\"col\">protection</th></tr></thead><tbody>\n";
            for (name, how) in &movers.objects {
                let _ = writeln!(
                    out,
                    "<tr><th scope=\"row\" class=\"mono\">{}</th><td>{}</td></tr>",
                    escape(name),
                    escape(how)
                );
            }
            *out += "</tbody></table></div>\n";
        }
        if !movers.transactions.is_empty() {
            *out += "<div><h3>Transactions</h3><ul class=\"notes\">\n";
            for transaction in &movers.transactions {
                let _ = writeln!(out, "<li>{}</li>", escape(transaction));
            }
            *out += "</ul></div>\n";
        }
        *out += "</div>\n<details><summary>All statements</summary><div class=\"over\">\
                 <table class=\"plain\"><thead><tr><th scope=\"col\">line</th><th scope=\"col\">thread</th>\
                 <th scope=\"col\">class</th><th scope=\"col\">statement</th><th scope=\"col\">why</th>\
                 </tr></thead><tbody>\n";
        for row in &movers.statements {
            let (style, letter) = CLASSES
                .iter()
                .find(|(class, _, _)| *class == row.class)
                .map_or(("", ""), |(_, style, letter)| (*style, *letter));
            let _ = writeln!(
                out,
                "<tr><td class=\"num\">{}</td><td>{}</td><td><span class=\"mv {style}\">{letter}</span> {}{}</td>\
                 <td><code>{}</code></td><td>{}</td></tr>",
                row.line,
                escape(&row.thread),
                row.class,
                if row.commits { ", commits" } else { "" },
                escape(&row.text.split_whitespace().collect::<Vec<_>>().join(" ")),
                escape(&row.reasons.join(", "))
            );
        }
        *out += "</tbody></table></div></details>\n</section>\n";
    }

    fn figures_section(&self, out: &mut String) {
        *out += "<section class=\"card\" id=\"figures\" aria-labelledby=\"figures-title\">\n\
                 <h2 id=\"figures-title\">Figures</h2>\n<div class=\"grid2\">\n<div><h3>This run</h3>\
                 <table class=\"plain\"><tbody>\n";
        for (what, value) in &self.figures {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td></tr>",
                escape(what),
                escape(value)
            );
        }
        *out += "</tbody></table></div>\n";
        if !self.ledger.is_empty() {
            self.ledger_table(out);
        }
        *out += "</div>\n</section>\n";
    }

    fn ledger_table(&self, out: &mut String) {
        *out += "<div class=\"over\"><h3>What reductions save</h3><table class=\"plain\"><thead><tr>\
                 <th scope=\"col\">reduction</th><th scope=\"col\" class=\"num\">states</th>\
                 <th scope=\"col\" class=\"num\">saved</th><th scope=\"col\" class=\"num\">time</th>\
                 <th scope=\"col\">verdict</th></tr></thead><tbody>\n";
        let all = self
            .ledger
            .iter()
            .find(|row| row.technique == "none" && !row.outcome.is_empty())
            .map(|row| row.states);
        for row in &self.ledger {
            let saved = match all {
                Some(all) if all > 0 && row.technique != "none" && !row.outcome.is_empty() => {
                    format!("{:.0} %", 100.0 - 100.0 * row.states as f64 / all as f64)
                }
                _ => "–".into(),
            };
            let outcome = match row.outcome.as_str() {
                "" => "cut off",
                outcome => outcome,
            };
            let _ = writeln!(
                out,
                "<tr{}><th scope=\"row\">{}{}</th><td class=\"num\">{}</td><td class=\"num\">{saved}</td>\
                 <td class=\"num\">{:.3} s</td><td>{}</td></tr>",
                if row.is_this { " class=\"this\"" } else { "" },
                escape(&row.technique),
                if row.is_this { " (this run)" } else { "" },
                grouped(row.states),
                row.seconds,
                escape(outcome)
            );
        }
        *out += "</tbody></table><p class=\"keys\">Explicit search on one core, each with a limit of \
                 its own; a violation ends a search.</p></div>\n";
    }
}

const CLASSES: [(&str, &str, &str); 4] = [
    ("right mover", "right", "R"),
    ("left mover", "left", "L"),
    ("both mover", "both", "B"),
    ("non-mover", "non", "N"),
];

/// The clauses of an invariant that say something.
fn clauses(invariant: &[String]) -> Vec<String> {
    let says = |clause: &&String| !matches!(clause.trim(), "" | "()" | "true");
    invariant.iter().filter(says).cloned().collect()
}

fn change_html(change: &Change) -> String {
    let (name, to) = (escape(&change.name), escape(&change.to));
    if change.from.is_empty() {
        format!("<b>{name}</b> {to}")
    } else {
        format!("<b>{name}</b> {} → {to}", escape(&change.from))
    }
}

/// The files that the trace and the movers speak of, the program's first.
fn files(program: &Program, answer: &Answer, movers: Option<&MoverTable>) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    if let Verdict::Unsafe(trace) = &answer.verdict {
        let steps = trace.steps.iter().filter_map(|step| step.file.as_deref());
        let stands = trace.standings.iter().filter_map(|s| s.file.as_deref());
        names.extend(steps.chain(stands));
    }
    let rows = movers.into_iter().flat_map(|movers| &movers.statements);
    names.extend(rows.map(|row| row.file.as_str()));
    program
        .info
        .sources
        .files()
        .map(|(_, file)| file)
        .filter(|file| names.contains(&file.name.as_str()))
        .map(|file| (file.name.clone(), file.text.clone()))
        .collect()
}

fn rests(answer: &Answer) -> Vec<(String, String)> {
    let asked: Vec<&str> = answer.properties.iter().map(|p| p.name()).collect();
    let mut rests = vec![("asked".to_string(), asked.join(", "))];
    let engine = match (answer.engine, answer.reduction, answer.ignoring) {
        (engine, "none", _) => format!("{engine} engine, all interleavings"),
        (engine, reduction, None | Some("blocks")) => {
            format!("{engine} engine, transactions by reduction {reduction}")
        }
        (engine, reduction, Some(ignoring)) => {
            format!("{engine} engine, transactions by reduction {reduction}, ignoring {ignoring}")
        }
    };
    rests.push(("found by".into(), engine));
    match &answer.verdict {
        Verdict::Unsafe(trace) => {
            rests.push((
                "checked by".into(),
                "the run below was replayed step by step on the reference semantics".into(),
            ));
            if let Some(length) = length_text(trace) {
                rests.push(("shown with".into(), length));
            }
        }
        Verdict::Safe | Verdict::SafeUpTo(_) => {
            let certified = answer.certified.iter().flat_map(|certified| &certified.by);
            rests.extend(certified.map(|what| ("certified".to_string(), what.clone())));
            if answer.is_explicit() {
                let states = grouped(answer.statistics.states);
                rests.push((
                    "complete".into(),
                    match answer.reduction {
                        "none" => format!("all {states} states were visited"),
                        _ => format!(
                            "all {states} states between transactions were visited; the omitted \
                             states differ only in the order of commuting steps"
                        ),
                    },
                ));
            }
            if let Verdict::SafeUpTo(bounds) = &answer.verdict {
                rests.push(("only up to".into(), UpTo::list(bounds, ", ")));
            }
        }
        Verdict::Unknown { reason, advice } => {
            rests.push(("unknown because".into(), reason.clone()));
            rests.push(("try".into(), advice.clone()));
        }
    }
    rests
}

fn figures(answer: &Answer) -> Vec<(String, String)> {
    let mut figures: Vec<(String, String)> = Vec::new();
    let mut add = |what: &str, value: String| figures.push((what.to_string(), value));
    let count = |number: u64| grouped(number);
    let statistics = &answer.statistics;
    if answer.is_explicit() {
        add("states", count(statistics.states));
        add("steps between them", count(statistics.transitions));
        if statistics.persistent > 0 {
            let sets = count(statistics.persistent);
            add("states expanded by persistent sets", sets);
        }
        add("depth", count(statistics.depth));
        if let Some(each) = statistics.bytes.checked_div(statistics.states) {
            add("bytes for a state", count(each));
        }
        if statistics.violations > 1 {
            add("violations met", count(statistics.violations));
        }
    } else {
        add(answer.unit, count(statistics.depth));
        add("bits of a state", count(statistics.bits));
        add("predicates", count(statistics.predicates));
        add("terms", count(statistics.terms));
        add(
            "variables of the formula",
            count(statistics.effort.variables),
        );
        add("clauses", count(statistics.effort.clauses));
        add(
            "questions to the solver",
            count(statistics.effort.questions),
        );
        add("conflicts", count(statistics.effort.conflicts));
        if answer.unit == "frames" {
            add("obligations", count(statistics.obligations));
            add("lemmas", count(statistics.lemmas));
        }
    }
    add("time", format!("{:.3} s", answer.time.as_secs_f64()));
    if let Some(peak) = answer.peak_mb {
        add("memory", format!("{peak:.0} MB"));
    }
    if let Verdict::Unsafe(trace) = &answer.verdict {
        if let Some(length) = trace.length {
            add("context switches, as found", length.found.0.to_string());
            add("steps, as found", length.found.1.to_string());
        }
        add("context switches", trace.context_switches().to_string());
        add("steps of the run", trace.steps.len().to_string());
    }
    figures
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::timeline::Timeline;
    use super::*;

    #[test]
    fn what_could_be_markup_is_text() {
        assert_eq!(
            escape("<script>alert('1 & \"2\"')</script>"),
            "&lt;script&gt;alert(&#39;1 &amp; &quot;2&quot;&#39;)&lt;/script&gt;"
        );
        assert_eq!(escape("a\tb\nc\u{1b}[0m"), "a\tb\nc\u{fffd}[0m");
        let data = data_text(&json!({"text": "</script><!-- <b>"}));
        assert!(!data.contains('<'), "{data}");
        let back: Value = serde_json::from_str(&data).expect("JSON");
        assert_eq!(back["text"], "</script><!-- <b>");
    }

    /// Hostile names and texts everywhere: the only elements are those of the page itself.
    #[test]
    fn no_text_of_a_user_becomes_an_element() {
        let evil = "</title></td></script><script>bad()</script><img src=x onerror='bad()'>\"'";
        let page = Page {
            name: evil.into(),
            kind: "unsafe",
            verdict: "unsafe".into(),
            line: evil.into(),
            story: evil.into(),
            rests: vec![(evil.into(), evil.into())],
            notes: vec![evil.into()],
            runs: vec![Run {
                title: evil.into(),
                words: vec![evil.into()],
                lanes: vec![Lane {
                    name: evil.into(),
                    ..Lane::default()
                }],
                steps: vec![RunStep {
                    text: evil.into(),
                    spot: Some(Spot { file: 0, line: 1 }),
                    changes: vec![Change {
                        name: evil.into(),
                        from: evil.into(),
                        to: evil.into(),
                    }],
                    reads: vec![evil.into()],
                    output: evil.into(),
                    note: Some(evil.into()),
                    ..RunStep::default()
                }],
                arrows: Vec::new(),
                boxes: vec![RunBox {
                    first: 0,
                    phases: vec!["commit"],
                }],
                timeline: Some(Timeline {
                    lanes: vec![evil.into()],
                    bars: vec![timeline::Bar {
                        lane: 0,
                        name: evil.into(),
                        text: evil.into(),
                        from: 0,
                        to: None,
                        matters: true,
                    }],
                    arrows: vec![(0, 0, evil.into())],
                }),
                loop_start: Some(0),
                waits: vec![mover_check::story::WaitFor {
                    thread: evil.into(),
                    on: vec!["other".into()],
                    what: evil.into(),
                }],
            }],
            files: vec![(evil.into(), evil.into())],
            movers: Some(MoverTable {
                objects: vec![(evil.into(), evil.into())],
                statements: vec![MoverRow {
                    file: evil.into(),
                    line: 1,
                    thread: evil.into(),
                    text: evil.into(),
                    class: "non-mover",
                    commits: true,
                    reasons: vec![evil.into()],
                }],
                transactions: vec![evil.into()],
            }),
            ledger: vec![LedgerRow {
                technique: evil.into(),
                states: 1,
                transitions: 1,
                seconds: 0.0,
                outcome: evil.into(),
                is_this: true,
            }],
            figures: vec![(evil.into(), evil.into())],
            invariant: vec![evil.into()],
            links: vec![Link {
                phrase: 0..evil.len(),
                step: 0,
            }],
        };
        let html = page.html();
        assert!(!html.contains("<img"), "an element got through");
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("</title>").count(), 1);
    }
}

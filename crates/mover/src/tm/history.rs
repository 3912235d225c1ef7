//! `mover tm history`: a recorded history, judged level by level.
//!
//! Reads what Jepsen, Porcupine or mover's own recorder wrote, and says which isolation levels explain it.
//! Without `--isolation` all levels are asked and the strongest that holds is the verdict. Opacity
//! is asked then only if the format tells what aborted transactions read.

use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use mover_cli::output::write_file;
use mover_cli::{CliError, Exit};
use mover_source::diagnostic::Diagnostic;
use mover_source::{SourceMap, Span};
use mover_tm::check::Verdict;
use mover_tm::recorded::levels::Level;
use mover_tm::recorded::reader::syntax::ReadError;
use mover_tm::recorded::reader::{Format, Wanted, read};
use mover_tm::recorded::verdict::{Judgement, Limits, judge};
use mover_tm::recorded::words::Anomaly;
use mover_tm::recorded::{Model, Recorded};
use serde_json::{Value, json};

use super::history_page;
use super::{refuse, say};

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    /// mover's own JSON lines
    Mover,
    /// Jepsen and Elle: EDN or JSON
    Jepsen,
    /// Porcupine's operations in JSON
    Porcupine,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModelArg {
    /// A key holds the last value written
    RwRegister,
    /// A key holds the list of all values appended
    ListAppend,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum LevelArg {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    SnapshotIsolation,
    StrongSessionSnapshotIsolation,
    Serializable,
    StrongSessionSerializable,
    StrictSerializable,
    Opacity,
}

impl LevelArg {
    fn level(self) -> Level {
        match self {
            LevelArg::ReadUncommitted => Level::ReadUncommitted,
            LevelArg::ReadCommitted => Level::ReadCommitted,
            LevelArg::RepeatableRead => Level::RepeatableRead,
            LevelArg::SnapshotIsolation => Level::SnapshotIsolation,
            LevelArg::StrongSessionSnapshotIsolation => Level::StrongSessionSnapshotIsolation,
            LevelArg::Serializable => Level::Serializable,
            LevelArg::StrongSessionSerializable => Level::StrongSessionSerializable,
            LevelArg::StrictSerializable => Level::StrictSerializable,
            LevelArg::Opacity => Level::Opacity,
        }
    }
}

#[derive(Args)]
pub struct HistoryArgs {
    /// The history; `-` for standard input
    file: String,
    /// The format; found out from the first operation if not given
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// What a key holds; found out from the operations if not given
    #[arg(long, value_enum)]
    model: Option<ModelArg>,
    /// Ask for one level: exit code 0 if it holds and 10 if not
    #[arg(long, value_enum, value_name = "LEVEL")]
    isolation: Option<LevelArg>,
    /// Give up after this many search steps
    #[arg(long, default_value_t = 20_000_000)]
    max_steps: usize,
    /// Write an HTML report
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &HistoryArgs) -> Result<Exit, CliError> {
    let wanted = Wanted {
        format: args.format.map(|format| match format {
            FormatArg::Mover => Format::Mover,
            FormatArg::Jepsen => Format::Jepsen,
            FormatArg::Porcupine => Format::Porcupine,
        }),
        model: args.model.map(|model| match model {
            ModelArg::RwRegister => Model::RwRegister,
            ModelArg::ListAppend => Model::ListAppend,
        }),
    };
    let started = Instant::now();
    let history = match args.file.as_str() {
        "-" => read(std::io::stdin().lock(), wanted),
        file => {
            let open = File::open(file)
                .map_err(|error| CliError::input("U010", format!("cannot read {file}: {error}")))?;
            read(open, wanted)
        }
    };
    let (recorded, format) = history.map_err(|error| unreadable(&args.file, &error))?;
    let read_in = started.elapsed().as_secs_f64();
    let asked = args.isolation.map(LevelArg::level);
    let wanted = match asked {
        Some(level) => vec![level],
        None if recorded.aborted_reads_recorded => vec![Level::Opacity],
        None => vec![Level::StrictSerializable],
    };
    let limits = Limits {
        max_steps: args.max_steps,
        sessions: asked.is_none(),
        ..Limits::default()
    };
    let judgement = judge(&recorded, &wanted, limits);
    let answer = Answer {
        file: &args.file,
        format,
        recorded: &recorded,
        judgement: &judgement,
        asked,
        seconds: started.elapsed().as_secs_f64(),
        read_in,
    };
    if let Some(path) = &args.report {
        let page = history_page::page(&args.file, &recorded, &judgement, &answer.verdict_line());
        write_file(path, &page.html()).map_err(|reason| CliError::output("U003", reason))?;
    }
    if args.json {
        say(&answer.json().to_string())?;
    } else {
        say(&answer.text())?;
    }
    Ok(answer.exit())
}

/// Shows the line of an unreadable history. The file is not in memory, so a source of blank lines
/// stands for what comes before.
fn unreadable(file: &str, error: &ReadError) -> CliError {
    let mut sources = SourceMap::default();
    let before = error.line - 1;
    let id = sources.add(file, format!("{}{}", "\n".repeat(before), error.excerpt));
    let at = before + error.column.min(error.excerpt.len());
    let end = (at + 1).min(before + error.excerpt.len()).max(at);
    let diagnostic =
        Diagnostic::coded("T030", error.message.clone()).at(Span::new(id, at, end), "");
    refuse(&[diagnostic], &sources)
}

struct Answer<'a> {
    file: &'a str,
    format: Format,
    recorded: &'a Recorded,
    judgement: &'a Judgement,
    asked: Option<Level>,
    seconds: f64,
    read_in: f64,
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Unknown => "unknown",
    }
}

impl Answer<'_> {
    fn exit(&self) -> Exit {
        let verdict = match self.asked {
            Some(level) => self.judgement.verdict(level),
            // The strongest level that was asked for decides.
            None => self
                .judgement
                .levels
                .iter()
                .max_by_key(|verdict| verdict.level)
                .map_or(Verdict::Unknown, |verdict| verdict.verdict),
        };
        match verdict {
            Verdict::Holds => Exit::Success,
            Verdict::Violated => Exit::Unsafe,
            Verdict::Unknown => Exit::Unknown,
        }
    }

    fn counts(&self) -> String {
        format!(
            "{} operations in {} transactions",
            self.recorded.operations.len(),
            self.recorded.transactions.len()
        )
    }

    fn verdict_line(&self) -> String {
        let counts = self.counts();
        if let Some(level) = self.asked {
            return match self.judgement.verdict(level) {
                Verdict::Holds => format!("{counts}: {level} holds"),
                Verdict::Violated => format!("{counts}: {level} is violated"),
                Verdict::Unknown => format!("{counts}: {level} is unknown"),
            };
        }
        let strongest = match self.judgement.strongest() {
            Some(level) => format!("the strongest level that holds is {level}"),
            None => "no level holds".to_string(),
        };
        let unknown: Vec<&str> = self
            .judgement
            .levels
            .iter()
            .filter(|verdict| verdict.verdict == Verdict::Unknown)
            .map(|verdict| verdict.level.name())
            .collect();
        if unknown.is_empty() {
            format!("{counts}: {strongest}")
        } else {
            format!("{counts}: {strongest}; unknown: {}", unknown.join(", "))
        }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for verdict in &self.judgement.levels {
            let why = match (&verdict.reason, verdict.anomaly) {
                (Some(reason), _) => format!(": {reason}"),
                (None, Some(at)) => format!(" by {}", title(&self.judgement.anomalies[at])),
                (None, None) => String::new(),
            };
            lines.push(format!(
                "{:<34}{}{why}",
                verdict.level.name(),
                mark(verdict.verdict)
            ));
        }
        for (guarantee, verdict, broken) in &self.judgement.sessions {
            let why = broken
                .as_ref()
                .map_or(String::new(), |broken| format!(": {}", broken.words));
            lines.push(format!("{:<34}{}{why}", guarantee.name(), mark(*verdict)));
        }
        for anomaly in &self.judgement.anomalies {
            lines.push(String::new());
            lines.push(format!("{}:", title(anomaly)));
            for &x in anomaly.transactions.iter().take(12) {
                lines.push(format!("  {}", describe(self.recorded, x)));
            }
            lines.push(format!("  {}", anomaly.words));
        }
        if !self.judgement.anomalies.is_empty() {
            lines.push(String::new());
        }
        lines.push(self.verdict_line());
        lines.join("\n")
    }

    fn json(&self) -> Value {
        let truth = |level: Level| match self.judgement.verdict(level) {
            Verdict::Holds => json!(true),
            Verdict::Violated => json!(false),
            Verdict::Unknown => Value::Null,
        };
        let name = |x: usize| self.recorded.name(x);
        let levels: serde_json::Map<String, Value> = self
            .judgement
            .levels
            .iter()
            .map(|verdict| {
                let by = verdict
                    .anomaly
                    .map(|at| self.judgement.anomalies[at].name.clone());
                let entry = json!({
                    "verdict": mark(verdict.verdict),
                    "anomaly": by,
                    "reason": verdict.reason,
                });
                (verdict.level.name().to_string(), entry)
            })
            .collect();
        let sessions: serde_json::Map<String, Value> = self
            .judgement
            .sessions
            .iter()
            .map(|(guarantee, verdict, broken)| {
                let entry = json!({
                    "verdict": mark(*verdict),
                    "reason": broken.as_ref().map(|broken| broken.words.clone()),
                });
                (guarantee.name().to_string(), entry)
            })
            .collect();
        let anomalies: Vec<Value> = self
            .judgement
            .anomalies
            .iter()
            .map(|anomaly| {
                let steps: Vec<Value> = anomaly
                    .steps
                    .iter()
                    .map(|step| {
                        json!({
                            "from": name(step.from),
                            "to": name(step.to),
                            "kind": step.kind,
                            "key": step.key,
                            "because": step.because,
                        })
                    })
                    .collect();
                let transactions: Vec<Value> = anomaly
                    .transactions
                    .iter()
                    .map(|&x| {
                        let transaction = &self.recorded.transactions[x];
                        json!({
                            "name": name(x),
                            "process": self.recorded.process_names[transaction.process as usize],
                            "lines": [transaction.lines.0, transaction.lines.1],
                            "operations": self.recorded.transaction_text(x),
                        })
                    })
                    .collect();
                json!({
                    "name": anomaly.name,
                    "also": anomaly.also,
                    "refutes": anomaly.level.name(),
                    "transactions": transactions,
                    "steps": steps,
                    "words": anomaly.words,
                })
            })
            .collect();
        json!({
            "file": self.file,
            "format": self.format.name(),
            "model": self.recorded.model().name(),
            "operations": self.recorded.operations.len(),
            "transactions": self.recorded.transactions.len(),
            "strictly_serializable": truth(Level::StrictSerializable),
            "opaque": truth(Level::Opacity),
            "asked": self.asked.map(Level::name),
            "strongest": self.judgement.strongest().map(Level::name),
            "levels": levels,
            "sessions": sessions,
            "anomalies": anomalies,
            "explanation": self.judgement.anomalies.first().map(|anomaly| anomaly.words.clone()),
            "seconds": self.seconds,
            "seconds_reading": self.read_in,
        })
    }
}

fn title(anomaly: &Anomaly) -> String {
    match anomaly.also {
        Some(also) => format!("{} ({also})", anomaly.name),
        None => anomaly.name.clone(),
    }
}

/// A transaction in one line.
fn describe(recorded: &Recorded, x: usize) -> String {
    let transaction = &recorded.transactions[x];
    format!(
        "{} = process {}, lines {} to {}: {}",
        recorded.name(x),
        recorded.process_names[transaction.process as usize],
        transaction.lines.0,
        transaction.lines.1,
        recorded.transaction_text(x)
    )
}

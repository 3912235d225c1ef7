//! `mover tm history`: a recorded history, with values.
//!
//! A recording has operations with the values that were read and written; the question is whether
//! some order of the transactions explains the values. Opacity is asked only where strict
//! serializability is not refused, for it implies it.

use std::time::Instant;

use clap::Args;
use mover_cli::{CliError, Exit};
use mover_source::SourceMap;
use mover_tm::check::Verdict;
use mover_tm::history::History;
use mover_tm::property::Safety;
use serde_json::{Value, json};

use super::{refuse, say};

#[derive(Args)]
pub struct HistoryArgs {
    /// The history, one JSON object per line; `-` for standard input
    file: String,
    /// Give up after this many search steps
    #[arg(long, default_value_t = 20_000_000)]
    max_steps: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &HistoryArgs) -> Result<Exit, CliError> {
    let text = match args.file.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()),
        file => std::fs::read_to_string(file),
    };
    let text = text
        .map_err(|error| CliError::input("U010", format!("cannot read {}: {error}", args.file)))?;
    let mut sources = SourceMap::default();
    let file = sources.add(args.file.clone(), text);
    let history = History::parse(&sources.file(file).text, file)
        .map_err(|error| refuse(&[*error], &sources))?;
    let started = Instant::now();
    let strict = history.check(Safety::StrictSerializability, args.max_steps);
    let opaque = match strict.verdict {
        // A history that is not strictly serializable is not opaque either.
        Verdict::Violated => strict.clone(),
        _ => history.check(Safety::Opacity, args.max_steps),
    };
    let seconds = started.elapsed().as_secs_f64();
    let told = match (strict.verdict, opaque.verdict) {
        (Verdict::Holds, _) => &opaque,
        _ => &strict,
    };
    let truth = |verdict: Verdict| match verdict {
        Verdict::Holds => json!(true),
        Verdict::Violated => json!(false),
        Verdict::Unknown => Value::Null,
    };
    if args.json {
        say(&json!({
            "file": args.file,
            "operations": history.operations,
            "transactions": history.transactions.len(),
            "strictly_serializable": truth(strict.verdict),
            "opaque": truth(opaque.verdict),
            "explanation": told.explanation,
            "seconds": seconds,
        })
        .to_string())?;
    } else {
        say(&told.explanation)?;
        let word = |verdict: Verdict, what: &str| match verdict {
            Verdict::Holds => what.to_string(),
            Verdict::Violated => format!("not {what}"),
            Verdict::Unknown => format!("unknown whether {what}"),
        };
        say(&format!(
            "{} operations in {} transactions: {}, {}",
            history.operations,
            history.transactions.len(),
            word(strict.verdict, "strictly serializable"),
            word(opaque.verdict, "opaque")
        ))?;
    }
    Ok(match (strict.verdict, opaque.verdict) {
        (Verdict::Violated, _) | (_, Verdict::Violated) => Exit::Unsafe,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => Exit::Unknown,
        _ => Exit::Success,
    })
}

//! `mover explain --mat`: between which accesses a token may be passed.
//!
//! Two pieces of different threads are *mutually atomic transactions* if only their last accesses
//! conflict; it is enough to pass control at the ends of such pieces (Ganai and Kundu 2009). The
//! table names accesses as the paper does, by number and thread.

use std::fmt::Write;

use mover_ir::program::Program;
use mover_symbolic::token::pairs::Id;
use mover_symbolic::token::survey::{Survey, survey};
use serde_json::{Value, json};

use mover_cli::{Cause, CliError};
use mover_engine::EngineError;

/// What there is to tell, as text or as JSON.
pub fn explain(name: &str, program: &Program, as_json: bool) -> Result<String, CliError> {
    let found = survey(program, false).map_err(|error| {
        let cause = match &error {
            EngineError::Unsupported(_) => Cause::Input,
            EngineError::Internal(_) => Cause::Internal,
        };
        CliError::uncoded(cause, format!("{name}: {error}"))
    })?;
    Ok(if as_json {
        format!("{}\n", json(&found))
    } else {
        text(&found)
    })
}

fn text(found: &Survey) -> String {
    let mut out = String::new();
    for (number, thread) in found.threads.iter().enumerate() {
        let _ = writeln!(out, "{}", thread.name);
        for (event, facts) in thread.events.iter().enumerate() {
            let id = Id {
                thread: number,
                event,
            };
            let file = facts.file.rsplit('/').next().unwrap_or("");
            let place = match facts.line {
                0 => String::new(),
                line => format!("{file}:{line}"),
            };
            let _ = writeln!(out, "  {:<4} {place:<20} {}", label(id), facts.text);
        }
    }
    out += "\nmutually atomic transactions\n";
    for mat in &found.mats {
        let half = |half: usize| match (mat.from[half], mat.to[half]) {
            (from, to) if from == to => label(from),
            (from, to) => format!("{}..{}", label(from), label(to)),
        };
        let _ = writeln!(out, "  {} | {}", half(0), half(1));
    }
    out += "\nthe token may be passed\n";
    for &(from, to) in &found.mat {
        let _ = writeln!(out, "  {} -> {}", label(from), label(to));
    }
    let _ = writeln!(
        out,
        "\n{} transactions; {} constraints instead of {}, {} with `--pairs lex`",
        found.mats.len(),
        found.mat.len(),
        found.all,
        found.lex
    );
    if found.is_cut {
        out += "loops that are not bounded by constants are repeated once\n";
    }
    out
}

/// The paper's way to name accesses: `1a`, `2a`, …, `1b`.
fn label(id: Id) -> String {
    let letter = match u8::try_from(id.thread) {
        Ok(thread) if thread < 26 => char::from(b'a' + thread).to_string(),
        _ => format!("t{}.", id.thread),
    };
    format!("{}{letter}", id.event + 1)
}

fn json(found: &Survey) -> Value {
    let threads: Vec<Value> = found
        .threads
        .iter()
        .map(|thread| {
            let event = |facts: &mover_symbolic::token::survey::EventFacts| {
                json!({"file": facts.file, "line": facts.line, "text": facts.text})
            };
            let events: Vec<Value> = thread.events.iter().map(event).collect();
            json!({"name": thread.name, "events": events})
        })
        .collect();
    let mats: Vec<Value> = found
        .mats
        .iter()
        .map(|mat| json!({"from": mat.from.map(label), "to": mat.to.map(label)}))
        .collect();
    let pairs: Vec<Value> = found
        .mat
        .iter()
        .map(|&(from, to)| json!([label(from), label(to)]))
        .collect();
    json!({
        "threads": threads,
        "transactions": mats,
        "pairs": pairs,
        "all_pairs": found.all,
        "lex_pairs": found.lex,
        "is_cut": found.is_cut,
    })
}

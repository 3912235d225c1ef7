//! `mover explain --mat`: between which events a token may be passed.
//!
//! Two pieces of different threads are *mutually atomic transactions* if only their last accesses
//! conflict; it is enough to pass control at the ends of such pieces (Ganai and Kundu 2009). The
//! table shows what the engine takes for events: a critical section is one. It names them as the
//! paper does its accesses, by number and thread.

use std::fmt::Write;

use clap::ValueEnum;
use mover_ir::program::Program;
use mover_symbolic::token::pairs::Id;
use mover_symbolic::token::survey::{Accesses, EventFacts, Survey, survey};
use serde_json::{Value, json};

use mover_cli::{Cause, CliError};
use mover_engine::EngineError;

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Events {
    /// What the engine uses
    Transactions,
    /// Single accesses, as the paper counts them
    Accesses,
}

/// What there is to tell, as text or as JSON.
pub fn explain(
    name: &str,
    program: &Program,
    events: Events,
    as_json: bool,
) -> Result<String, CliError> {
    let accesses = match events {
        Events::Transactions => Accesses::Engine,
        Events::Accesses => Accesses::All,
    };
    let found = survey(program, accesses, &[]).map_err(|error| {
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
            let place = place(facts);
            let _ = writeln!(out, "  {:<4} {place:<20} {}", label(id), steps(facts));
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
        "\n{} transactions; {} constraints instead of {}, {} with `--pairs mat-printed`, {} with \
         `--pairs lex`",
        found.mats.len(),
        found.mat.len(),
        found.all,
        found.printed.len(),
        found.lex.len()
    );
    if found.is_cut {
        out += "loops that are not bounded by constants are repeated once\n";
    }
    out
}

/// The lines of an event.
fn place(facts: &EventFacts) -> String {
    let file = facts.file.rsplit('/').next().unwrap_or("");
    match (facts.line, facts.last_line) {
        (0, _) => String::new(),
        (first, last) if first == last => format!("{file}:{first}"),
        (first, last) => format!("{file}:{first}-{last}"),
    }
}

/// The steps of an event; of many the first and the last.
fn steps(facts: &EventFacts) -> String {
    match &facts.steps[..] {
        [first, second, .., last] if facts.steps.len() > 3 => {
            format!("{first}; {second}; …; {last}")
        }
        steps => steps.join("; "),
    }
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
            let event = |facts: &EventFacts| {
                json!({
                    "file": facts.file,
                    "line": facts.line,
                    "last_line": facts.last_line,
                    "text": facts.steps.join("; "),
                })
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
        "printed_pairs": found.printed.len(),
        "lex_pairs": found.lex.len(),
        "is_cut": found.is_cut,
    })
}

//! Statements that no run reaches.

use std::fmt::Write;

use mover_check::unreached::Unreached;
use serde_json::{Value, json};

/// As SPIN's verifier lists them.
pub fn text(processes: &[Unreached]) -> String {
    let mut out = String::new();
    for process in processes {
        let _ = writeln!(out, "unreached in {}", process.process);
        for statement in &process.statements {
            let (file, line, text) = (&statement.file, statement.line, &statement.text);
            let _ = writeln!(out, "  {file}:{line}: {text}");
        }
        let count = process.statements.len();
        let _ = writeln!(out, "  ({count} of {} statements)", process.of);
    }
    out
}

pub fn json(processes: &[Unreached]) -> Value {
    let process = |process: &Unreached| {
        let statements: Vec<Value> = (process.statements.iter())
            .map(|one| json!({ "file": one.file, "line": one.line, "text": one.text }))
            .collect();
        json!({ "process": process.process, "of": process.of, "statements": statements })
    };
    processes.iter().map(process).collect()
}

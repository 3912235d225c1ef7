//! Mover classes next to the source: as text, as JSON and as a part of a report.

use std::collections::BTreeMap;
use std::fmt::Write;

use mover_check::explanation::{Explanation, ObjectFacts, OwnerFacts, TransactionFacts};
use serde_json::{Value, json};

use crate::html::{MoverRow, MoverTable};

/// What the translation of C calls whether a thread runs or has ended, in words.
fn readable(text: &str) -> String {
    text.replace("%thread_status", "which threads run")
}

/// The explanation for people.
pub fn text(explanation: &Explanation) -> String {
    let mut out = String::from("shared objects\n");
    for object in &explanation.objects {
        let _ = writeln!(out, "  {}: {}", readable(&object.name), object_text(object));
        for missing in missing_text(object) {
            let _ = writeln!(out, "    {missing}");
        }
    }
    for mutex in &explanation.mutexes {
        if let Some(why) = &mutex.why {
            let _ = writeln!(
                out,
                "  {}: a mutex that is not recognised as a lock: {why}",
                mutex.name
            );
        }
    }
    if !explanation.owners.is_empty() {
        out += "\nexclusive access indicated by a value (for --reduce phase and dynamic)\n";
    }
    for owner in &explanation.owners {
        let _ = writeln!(out, "  {}", owner_text(owner));
    }
    out += "\nstatements\n";
    let rows: Vec<[String; 5]> = explanation
        .statements
        .iter()
        .map(|statement| {
            let file = statement.file.rsplit('/').next().unwrap_or("");
            [
                format!("{file}:{}", statement.line),
                statement.thread.clone(),
                statement.class.to_string(),
                if statement.commits { "commits" } else { "" }.to_string(),
                statement
                    .text
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
            ]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..5).map(|c| width(c).unwrap_or(0).min(48)).collect();
    for (row, statement) in rows.iter().zip(&explanation.statements) {
        out.push_str("  ");
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(out, "{cell:width$}  ");
        }
        out += &readable(&statement.reasons.join(", "));
        out.push('\n');
    }
    out += "\ntransactions\n";
    for transaction in &explanation.transactions {
        let _ = writeln!(out, "  {}", transaction_text(transaction));
    }
    let atomic = match &explanation.atomic[..] {
        [] => "nothing".to_string(),
        names => names.join(", "),
    };
    let _ = writeln!(out, "\natomic as a whole: {atomic}");
    out
}

fn owner_text(owner: &OwnerFacts) -> String {
    let OwnerFacts {
        name, predicate, ..
    } = owner;
    let kind = if owner.is_lock {
        format!("{name}: a lock, held if {predicate}")
    } else {
        format!("{name}: no lock, but exclusive access if {predicate}")
    };
    match (&owner.protects, owner.line) {
        (Some(protects), Some(line)) if owner.holds => {
            format!("{kind}; given for {protects} in line {line} and checked")
        }
        (Some(protects), Some(line)) => {
            format!(
                "{protects}: {predicate}, given in line {line}, breaks the conditions on such predicates"
            )
        }
        _ => kind,
    }
}

fn transaction_text(transaction: &TransactionFacts) -> String {
    let thread = &transaction.thread;
    let lines = line_ranges(&transaction.lines);
    let what = match (&transaction.lines[..], &transaction.commits_at[..]) {
        ([_], _) => "alone".to_string(),
        (_, []) => "as one transaction that never commits".to_string(),
        (_, at) => {
            let at: Vec<String> = at.iter().map(usize::to_string).collect();
            format!("as one transaction, committed at line {}", at.join(" or "))
        }
    };
    let again = if transaction.repeats {
        ", repeatedly"
    } else {
        ""
    };
    format!("{thread}: {lines} {what}{again}")
}

/// Lines in order, those that follow each other as ranges.
fn line_ranges(lines: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let range = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    let words: Vec<String> = ranges.iter().map(range).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", words.join(", "))
}

/// The accesses that keep an object from being protected: each line once, as a write if it is one.
fn missing_text(object: &ObjectFacts) -> Vec<String> {
    let Some(lock) = &object.lock else {
        return Vec::new();
    };
    let mut lines: BTreeMap<usize, bool> = BTreeMap::new();
    for missing in &object.missing {
        *lines.entry(missing.line).or_default() |= missing.writes;
    }
    let text = |(line, writes): (usize, bool)| {
        let does = if writes { "writes" } else { "reads" };
        format!("line {line} {does} {} without {lock}", object.name)
    };
    lines.into_iter().map(text).collect()
}

fn object_text(object: &ObjectFacts) -> String {
    if let (Some(fields), "unprotected") = (&object.fields, object.kind) {
        return fields.clone();
    }
    match (object.kind, &object.lock) {
        ("lock", _) => "a lock".into(),
        ("one-thread", _) => "used by one thread only".into(),
        ("never-written", _) => "never written".into(),
        ("protected", Some(lock)) => {
            format!("protected by {lock} at all {} accesses", object.accesses)
        }
        (_, Some(lock)) => format!(
            "protected by {lock} at {} of {} accesses; unprotected at {}",
            object.with_lock,
            object.accesses,
            line_ranges(&object.lines_without)
        ),
        (_, None) => format!("unprotected at {}", line_ranges(&object.lines_without)),
    }
}

/// The explanation as JSON.
pub fn json(explanation: &Explanation) -> Value {
    let objects: Vec<Value> = explanation
        .objects
        .iter()
        .map(|object| {
            let missing: Vec<Value> = (object.missing.iter())
                .map(|it| json!({"line": it.line, "writes": it.writes, "thread": it.thread}))
                .collect();
            json!({
                "name": object.name,
                "kind": object.kind,
                "lock": object.lock,
                "accesses": object.accesses,
                "with_lock": object.with_lock,
                "lines_without": object.lines_without,
                "missing": missing,
                "fields": object.fields,
            })
        })
        .collect();
    let statements: Vec<Value> = explanation
        .statements
        .iter()
        .map(|statement| {
            json!({
                "file": statement.file,
                "line": statement.line,
                "thread": statement.thread,
                "text": statement.text,
                "class": statement.class,
                "commits": statement.commits,
                "reasons": statement.reasons,
            })
        })
        .collect();
    let transactions: Vec<Value> = explanation
        .transactions
        .iter()
        .map(|transaction| {
            json!({
                "thread": transaction.thread,
                "lines": transaction.lines,
                "commits_at": transaction.commits_at,
                "repeats": transaction.repeats,
            })
        })
        .collect();
    let owners: Vec<Value> = explanation
        .owners
        .iter()
        .map(|owner| {
            json!({
                "name": owner.name,
                "predicate": owner.predicate,
                "is_lock": owner.is_lock,
                "protects": owner.protects,
                "line": owner.line,
                "holds": owner.holds,
            })
        })
        .collect();
    let mutexes: Vec<Value> = explanation
        .mutexes
        .iter()
        .map(|mutex| {
            json!({
                "name": mutex.name,
                "lines": mutex.lines,
                "recognised": mutex.is_recognised,
                "observed": mutex.is_observed,
                "why": mutex.why,
            })
        })
        .collect();
    let shares = &explanation.shares;
    json!({
        "objects": objects,
        "owners": owners,
        "statements": statements,
        "transactions": transactions,
        "atomic": explanation.atomic,
        "mutexes": mutexes,
        "accesses": {
            "always": shares.always,
            "one_side": shares.one_side,
            "sometimes": shares.sometimes,
            "never": shares.never,
        },
    })
}

/// The explanation as a part of a report.
pub fn table(explanation: Explanation) -> MoverTable {
    let (alone, longer): (Vec<_>, Vec<_>) = explanation
        .transactions
        .iter()
        .partition(|transaction| transaction.lines.len() == 1);
    let mut transactions: Vec<String> = longer.into_iter().map(transaction_text).collect();
    if !alone.is_empty() {
        transactions.push(format!(
            "{} lines are transactions of their own",
            alone.len()
        ));
    }
    if !explanation.atomic.is_empty() {
        let names = explanation.atomic.join(", ");
        transactions.push(format!("atomic as a whole: {names}"));
    }
    MoverTable {
        objects: explanation
            .objects
            .iter()
            .filter(|object| !object.name.starts_with('%'))
            .map(|object| {
                let missing = missing_text(object).into_iter();
                let told: Vec<String> = std::iter::once(object_text(object))
                    .chain(missing)
                    .collect();
                (object.name.clone(), told.join("; "))
            })
            .collect(),
        statements: explanation
            .statements
            .into_iter()
            .map(|statement| MoverRow {
                file: statement.file,
                line: statement.line,
                thread: statement.thread,
                text: statement.text,
                class: statement.class,
                commits: statement.commits,
                reasons: (statement.reasons.iter())
                    .map(|reason| readable(reason))
                    .collect(),
            })
            .collect(),
        transactions,
    }
}

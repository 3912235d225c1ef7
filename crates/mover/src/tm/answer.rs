//! The answers of `mover tm check`, as text and as JSON.
//!
//! The text ends in the verdict. A violation is shown twice: as the word that the specification
//! rejects and as the run of the algorithm that produces it.

use mover_tm::check::{Report, Verdict};
use mover_tm::word::print_word;
use serde_json::{Value, json};

pub fn report_text(report: &Report) -> String {
    let mut lines = Vec::new();
    let count = |n: Option<usize>| n.map_or("too many".to_string(), |n| n.to_string());
    lines.push(format!(
        "property: {}; manager: {}; states: {}",
        report.property,
        report.manager,
        count(report.states)
    ));
    if let Some(pairs) = report.product_states {
        let spec = report
            .spec_states
            .map_or(String::new(), |n| format!(" of {n}"));
        lines.push(format!(
            "specification{spec} states; pairs searched: {pairs}"
        ));
    }
    if let (Some(word), None) = (&report.word, &report.cycle) {
        lines.push(format!("word: {}", print_word(word)));
        lines.push(format!("run:  {}", report.run.join(" ")));
    }
    if let Some(cycle) = &report.cycle {
        lines.push(format!("path to the loop: {}", report.run.join(" ")));
        lines.push(format!("loop: {}", cycle.join(" ")));
    }
    if let Some(table) = &report.table {
        lines.push(String::new());
        lines.push(table.clone());
        lines.push(String::new());
    }
    lines.push(report.explanation.clone());
    lines.push(match report.verdict {
        Verdict::Holds => format!("{} holds for {}", report.property, report.scope),
        Verdict::Violated => format!("{} is violated at {}", report.property, report.scope),
        Verdict::Unknown => format!("{} is unknown: {}", report.property, report.scope),
    });
    lines.join("\n")
}

fn report_json(report: &Report, seconds: f64) -> Value {
    json!({
        "property": report.property.name(),
        "verdict": report.verdict.name(),
        "scope": report.scope,
        "threads": report.threads,
        "variables": report.variables,
        "manager": report.manager,
        "states": report.states,
        "spec_states": report.spec_states,
        "product_states": report.product_states,
        "word": report.word.as_ref().map(|word| print_word(word)),
        "run": report.run,
        "loop": report.cycle,
        "explanation": report.explanation,
        "table": report.table,
        "seconds": seconds,
    })
}

/// One property: its object. Several: the object of the first that is violated
/// or else of the last, with all of them beside it.
pub fn reports_json(reports: &[(Report, f64)]) -> Value {
    let objects: Vec<Value> = reports.iter().map(|(r, s)| report_json(r, *s)).collect();
    let chosen = reports
        .iter()
        .position(|(report, _)| report.verdict == Verdict::Violated)
        .unwrap_or(reports.len() - 1);
    let mut top = objects[chosen].clone();
    if objects.len() > 1 {
        top["results"] = Value::Array(objects);
    }
    top
}

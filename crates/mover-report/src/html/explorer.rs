//! The page of `mover explore`, and what it is told.
//!
//! The page has the style of reports. It knows no program: it sends the schedule that its user has
//! chosen, and shows the [`Situation`] that it gets. Everything it is told goes into the page as
//! text, never as HTML, and its security policy lets it talk to the server it came from alone.

use std::collections::HashSet;

use mover_check::explore::{Ending, Found, Placed, Possible, Situation, Value as Watched};
use mover_check::trace::{Standing, TraceStep};
use mover_ir::program::Program;
use mover_ir::semantics::Step;
use mover_source::FileId;
use serde_json::{Value, json};

use super::{STYLE, THEME, data_text, escape};

const SCRIPT: &str = include_str!("explorer.js");
const OWN_STYLE: &str = include_str!("explorer.css");
const BODY: &str = include_str!("explorer.html");

/// The page. `start` is a schedule to begin with.
pub fn page(program: &Program, start: &[Step]) -> String {
    let has_steps = files_with_steps(program);
    let files: Vec<Value> = (program.info.sources.files())
        .filter(|(id, _)| has_steps.contains(id))
        .map(|(_, file)| json!({ "name": file.name, "text": file.text }))
        .collect();
    let data = json!({
        "files": files,
        "start": start.iter().map(|&step| step_data(step)).collect::<Vec<_>>(),
    });
    let name = escape(&program.info.name);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{name}: explore</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n\
         <header class=\"top\"><div class=\"wide\"><span class=\"brand\">mover</span>\n<h1>{name}</h1>\n\
         <button type=\"button\" id=\"theme\" hidden>Dark</button></div></header>\n{BODY}\
         <script type=\"application/json\" id=\"data\">{}</script>\n\
         <script>\n{THEME}{SCRIPT}</script>\n</body>\n</html>\n",
        data_text(&data)
    )
}

/// The files in which threads can be; headers of the system are not among them.
fn files_with_steps(program: &Program) -> HashSet<FileId> {
    let locations = (program.templates.iter()).flat_map(|template| &template.locations);
    let edges = locations.flat_map(|location| &location.edges);
    edges.filter_map(|edge| Some(edge.span?.file)).collect()
}

/// A step as the page sends it back. The numbers of a script have 53 bits, so a choice is text.
fn step_data(step: Step) -> Value {
    json!({
        "thread": step.by.thread,
        "edge": step.by.edge,
        "choice": step.choice.to_string(),
        "with": step.with.map(|with| json!({ "thread": with.thread, "edge": with.edge })),
    })
}

pub fn situation(situation: &Situation) -> Value {
    let (kind, property, message) = match &situation.end {
        Ending::Open => ("open", None, None),
        Ending::Proper => ("proper", None, None),
        Ending::Bound(message) => ("bound", None, Some(message)),
        Ending::Violated(property, message) => ("violated", Some(property.name()), Some(message)),
    };
    let steps = situation.steps.iter().enumerate();
    json!({
        "steps": steps
            .map(|(number, step)| told(step, situation.placed.get(number)))
            .collect::<Vec<_>>(),
        "threads": situation.threads.iter().map(standing).collect::<Vec<_>>(),
        "values": situation.values,
        "next": situation.next.iter().map(possible).collect::<Vec<_>>(),
        "end": { "kind": kind, "property": property, "message": message },
    })
}

fn possible(possible: &Possible) -> Value {
    let mut value = told(&possible.told, possible.placed.as_ref());
    value["last_choice"] = json!(possible.last_choice.map(|last| last.to_string()));
    value
}

fn told(step: &TraceStep, placed: Option<&Placed>) -> Value {
    let changes = step.changes.iter();
    json!({
        "step": step_data(step.step),
        "thread": step.thread,
        "partner": step.partner,
        "file": step.file,
        "line": step.line,
        "text": step.text,
        "reads": step.reads,
        "changes": changes.map(|change| [&change.name, &change.from, &change.to]).collect::<Vec<_>>(),
        "output": step.output,
        "begins": placed.map(|placed| placed.begins),
        "part": placed.map(|placed| placed.part.name()),
        "class": placed.map(class),
    })
}

fn class(placed: &Placed) -> &'static str {
    match (placed.is_left, placed.is_right) {
        (true, true) => "both mover",
        (false, true) => "right mover",
        (true, false) => "left mover",
        (false, false) => "non-mover",
    }
}

fn standing(standing: &Standing) -> Value {
    json!({
        "thread": standing.thread,
        "file": standing.file,
        "line": standing.line,
        "waits_for": standing.waits_for,
    })
}

/// What an expression is in each state.
pub fn watched(values: &[Watched]) -> Value {
    let text = |value: &Watched| match value {
        Watched::Number(number) => number.to_string(),
        Watched::Truth(truth) => truth.to_string(),
    };
    values.iter().map(text).collect()
}

pub fn found(found: &Found) -> Value {
    match found {
        Found::Steps(steps) => {
            json!({ "steps": steps.iter().map(|&step| step_data(step)).collect::<Vec<_>>() })
        }
        Found::Nowhere { states } => {
            json!({ "nowhere": true, "states": states })
        }
        Found::NotTried { states, why } => {
            json!({ "nowhere": false, "states": states, "why": why })
        }
    }
}

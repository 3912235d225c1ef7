//! Answers and traces as JSON.
//!
//! The fields of an answer are fixed: scripts rely on them. A trace written
//! with `--trace` can be read back and replayed.

use mover_engine::{UpTo, Violation};
use mover_ir::program::{LocationId, Property, TemplateId, UnknownProperty};
use mover_ir::semantics::{Move, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use mover_check::answer::{Answer, PropertyAnswer, Verdict};
use mover_check::temporal::ClaimAnswer;
use mover_check::trace::{Trace, TraceStep};

/// The one object that `mover check --json` prints.
pub fn answer(answer: &Answer, show_invariant: bool) -> Value {
    let statistics = &answer.statistics;
    let asked: Vec<&str> = answer.properties.iter().map(|p| p.name()).collect();
    let (property, reason, trace) = match &answer.verdict {
        Verdict::Safe | Verdict::SafeUpTo(_) => (asked.join(","), Value::Null, Value::Null),
        Verdict::Unsafe(trace) => (
            trace.property.name().to_string(),
            Value::from(trace.message.clone()),
            Value::from(trace.steps.iter().map(step).collect::<Vec<_>>()),
        ),
        Verdict::Unknown { reason, .. } => {
            (asked.join(","), Value::from(reason.clone()), Value::Null)
        }
    };
    let bound = match &answer.verdict {
        Verdict::SafeUpTo(bounds) => Value::from(UpTo::list(bounds, ", ")),
        _ => Value::Null,
    };
    let mut told = json!({
        "verdict": answer.verdict.name(),
        "property": property,
        "properties": answer.by_property.iter().map(property_answer).collect::<Vec<_>>(),
        "engine": answer.engine,
        "reduction": answer.reduction,
        "ignoring": answer.ignoring,
        "bound": bound,
        "reason": reason,
        "caveats": answer.caveats,
        "states": statistics.states,
        "transitions": statistics.transitions,
        "depth": statistics.depth,
        "violations": statistics.violations,
        "store_bytes": if answer.is_explicit() { statistics.bytes } else { 0 },
        "time_s": (answer.time.as_secs_f64() * 1e6).round() / 1e6,
        "peak_mb": answer.peak_mb,
        "certified": answer.certified.as_ref().map(|certified| !certified.by.is_empty()),
        "trace": trace,
    });
    if statistics.persistent > 0 {
        told["persistent"] = statistics.persistent.into();
    }
    if let Some(certified) = &answer.certified {
        told["certificate"] = json!({ "by": certified.by, "not_by": certified.not_by });
    }
    if let Verdict::Unsafe(trace) = &answer.verdict {
        told["story"] = story(trace);
    }
    if !answer.claims.is_empty() {
        told["claims"] = answer.claims.iter().map(claim).collect();
    }
    if !answer.is_explicit() {
        told["symbolic"] = json!({
            "unit": answer.unit,
            "events": statistics.events,
            "pairs": statistics.pairs,
            "bits": statistics.bits,
            "predicates": statistics.predicates,
            "terms": statistics.terms,
            "variables": statistics.effort.variables,
            "clauses": statistics.effort.clauses,
            "formula_bytes": statistics.effort.bytes,
            "questions": statistics.effort.questions,
            "conflicts": statistics.effort.conflicts,
            "obligations": statistics.obligations,
            "lemmas": statistics.lemmas,
            "certified": answer.certified.as_ref().map_or(&[][..], |certified| &certified.by),
            "invariant": if show_invariant { &answer.invariant[..] } else { &[] },
        });
    }
    told
}

/// What is known of one property: it holds, is violated (with its run), or is open (with the
/// reason).
fn property_answer(answer: &PropertyAnswer) -> Value {
    let mut told = json!({ "property": answer.property.name() });
    match &answer.verdict {
        Verdict::Safe => told["status"] = "holds".into(),
        Verdict::SafeUpTo(bounds) => {
            told["status"] = "holds up to".into();
            told["bound"] = UpTo::list(bounds, ", ").into();
        }
        Verdict::Unsafe(trace) => {
            told["status"] = "violated".into();
            told["reason"] = trace.message.clone().into();
            told["trace"] = trace.steps.iter().map(step).collect::<Vec<_>>().into();
            told["story"] = story(trace);
        }
        Verdict::Unknown { reason, advice } => {
            told["status"] = "open".into();
            told["reason"] = reason.clone().into();
            told["advice"] = advice.clone().into();
        }
    }
    told
}

/// The verdict on one temporal claim.
fn claim(claim: &ClaimAnswer) -> Value {
    let reason = match &claim.verdict {
        Verdict::Unknown { reason, .. } => Some(reason),
        _ => None,
    };
    json!({
        "kind": claim.kind.words(),
        "name": claim.name,
        "line": claim.line,
        "verdict": claim.verdict.name(),
        "reason": reason,
        "states": claim.statistics.states,
        "transitions": claim.statistics.transitions,
        "time_s": (claim.time.as_secs_f64() * 1e6).round() / 1e6,
    })
}

/// What matters in a trace; steps are counted from 1.
fn story(trace: &Trace) -> Value {
    let marks: Vec<Value> = trace
        .story
        .marks
        .iter()
        .map(|mark| json!({"step": mark.step + 1, "note": mark.note}))
        .collect();
    let transactions: Vec<Value> = trace
        .transactions
        .iter()
        .map(|transaction| {
            let steps = transaction.steps();
            json!({"first": steps.start + 1, "last": steps.end})
        })
        .collect();
    json!({
        "sentence": trace.story.sentence,
        "marks": marks,
        "context_switches": trace.context_switches(),
        "is_shortest": trace.length.map(|length| length.is_shortest),
        "found_context_switches": trace.length.map(|length| length.found.0),
        "found_steps": trace.length.map(|length| length.found.1),
        "transactions": transactions,
        "loop": trace.loop_start.map(|first| json!({
            "first": first + 1,
            "last": trace.steps.len(),
        })),
    })
}

fn step(step: &TraceStep) -> Value {
    let changes: Vec<Value> = step
        .changes
        .iter()
        .map(|change| json!({"name": change.name, "from": change.from, "to": change.to}))
        .collect();
    json!({
        "thread": step.step.by.thread,
        "name": step.thread,
        "file": step.file,
        "line": step.line,
        "text": step.text,
        "changes": changes,
        "reads": step.reads,
        "output": Some(&step.output).filter(|output| !output.is_empty()),
        "edge": step.step.by.edge,
        "choice": step.step.choice,
        "with": step.step.with.map(|with| json!({
            "thread": with.thread,
            "edge": with.edge,
            "name": step.partner,
        })),
    })
}

/// Names the format of trace files, so that a reader can refuse others.
const FORMAT: &str = "mover-trace-1";

/// A counterexample as a file that `mover replay` accepts.
/// `properties` is what was asked: a front end may leave out errors that are not.
pub fn trace_file(program: &str, trace: &Trace, properties: &[Property]) -> Value {
    let asked: Vec<&str> = properties.iter().map(|p| p.name()).collect();
    json!({
        "format": FORMAT,
        "program": program,
        "property": trace.property.name(),
        "properties": asked,
        "message": trace.message,
        "loop_start": trace.loop_start,
        "error": trace.error.map(|(template, location)| json!({
            "template": template.0,
            "location": location.0,
        })),
        "steps": trace.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

#[derive(Deserialize, Serialize)]
struct FileMove {
    thread: usize,
    edge: usize,
}

#[derive(Deserialize)]
struct FileStep {
    #[serde(flatten)]
    by: FileMove,
    with: Option<FileMove>,
    /// Not in the files of programs without choices by earlier versions.
    #[serde(default)]
    choice: u64,
}

#[derive(Deserialize)]
struct FileError {
    template: u32,
    location: u32,
}

#[derive(Deserialize)]
struct TraceFile {
    format: String,
    property: String,
    #[serde(default)]
    properties: Vec<String>,
    error: Option<FileError>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    loop_start: Option<usize>,
    steps: Vec<FileStep>,
}

/// What a trace file claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// What was asked when it was found.
    pub properties: Vec<Property>,
    pub violation: Violation,
    /// What went wrong, in words; for a temporal property they say which claim is violated.
    pub message: String,
    /// The steps from here on are repeated for ever.
    pub loop_start: Option<usize>,
}

/// Why a text is not read as a trace file.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    #[error("not a trace file of mover: {0}")]
    NotATrace(#[from] serde_json::Error),
    #[error("format `{0}` is not the `{FORMAT}` that this version reads")]
    OtherFormat(String),
    #[error(transparent)]
    Property(#[from] UnknownProperty),
}

/// Reads a trace file.
pub fn read_trace_file(text: &str) -> Result<Claim, TraceFileError> {
    let file: TraceFile = serde_json::from_str(text)?;
    if file.format != FORMAT {
        return Err(TraceFileError::OtherFormat(file.format));
    }
    let taken = |by: FileMove| Move {
        thread: by.thread,
        edge: by.edge,
    };
    Ok(Claim {
        message: file.message,
        loop_start: file.loop_start,
        properties: file
            .properties
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_, _>>()?,
        violation: Violation {
            property: file.property.parse()?,
            error: file
                .error
                .map(|error| (TemplateId(error.template), LocationId(error.location))),
            steps: file
                .steps
                .into_iter()
                .map(|step| Step {
                    by: taken(step.by),
                    with: step.with.map(taken),
                    choice: step.choice,
                })
                .collect(),
        },
    })
}

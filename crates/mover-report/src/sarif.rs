//! SARIF 2.1.0, the format in which editors and code hosts show findings.
//!
//! A violation is one result at the place where it shows, with the run as a *code
//! flow*: one *thread flow* for each thread, whose locations carry the number of
//! the step in the whole run (`executionOrder`), so that a viewer can step through
//! the threads together. The state beside a location is what the step changed. The
//! message is the story of the run. A *fingerprint* of the property, the file and the text of the
//! line stays the same when lines above it are added, so that a code host recognises the finding
//! in the next run. A program without a violation is a run of the tool without results.

use std::path::Path;

use mover_engine::UpTo;
use mover_ir::program::{Program, Property};
use serde_json::{Map, Value, json};

use mover_check::answer::{Answer, Verdict};
use mover_check::moments::{Moment, Spot, moments};
use mover_check::trace::Trace;

/// The finding in words for people who see only the rule.
fn rule(property: Property) -> (&'static str, &'static str) {
    match property {
        Property::UnreachCall => (
            "FailedAssertion",
            "An assertion fails or a run-time error happens in some run.",
        ),
        Property::NoDeadlock => (
            "Deadlock",
            "Some run reaches a state in which no thread can take a step and not all have exited.",
        ),
        Property::MemorySafety => (
            "MemorySafety",
            "Some run accesses memory outside of live objects or frees it wrongly.",
        ),
        Property::MemoryCleanup => (
            "MemoryCleanup",
            "Some run ends with memory that was allocated and not freed.",
        ),
        Property::NoOverflow => (
            "SignedOverflow",
            "Some run computes a signed value that its type cannot hold.",
        ),
        Property::MutexMisuse => ("MutexMisuse", "Some run uses a lock against its rules."),
        Property::NoDataRace => (
            "DataRace",
            "Two threads can access the same memory at once without synchronisation.",
        ),
        Property::Termination => ("Termination", "Some run never ends."),
        Property::Claims => ("Claims", "Some run violates a temporal claim of the model."),
    }
}

/// What to do about a finding.
fn help(property: Property) -> &'static str {
    match property {
        Property::UnreachCall => {
            "Follow the code flow: it is a shortest run that fails. The message names the accesses \
             of other threads that came in between; protect both with one lock, or make them atomic."
        }
        Property::NoDeadlock => {
            "The message says what each thread waits for. Take locks in one order everywhere, test \
             conditions under the lock of the condition variable, and signal after every change."
        }
        Property::MemorySafety => {
            "The message names the object, who allocated and who freed it. Keep what protects the \
             object until the last use, or count references."
        }
        Property::MemoryCleanup => {
            "The message names the object and where it was allocated. Free it on the path of the \
             code flow."
        }
        Property::NoOverflow => "Test the operands before the computation, or use a wider type.",
        Property::MutexMisuse => {
            "The message names the lock and who holds it. Unlock in the thread that has locked, and \
             destroy after the last join."
        }
        Property::NoDataRace => {
            "The message names both accesses and the locks held. Protect both with the same lock, \
             or make both atomic."
        }
        Property::Termination => "The code flow ends in a loop that is repeated for ever.",
        Property::Claims => "The code flow is a run that the claim forbids.",
    }
}

/// What went wrong, with its story.
fn message(trace: &Trace) -> String {
    let (message, story) = (&trace.message, &trace.story.sentence);
    if story.is_empty() || story.contains(message.as_str()) {
        return if story.is_empty() { message } else { story }.clone();
    }
    format!("{message}: {story}")
}

/// The number that identifies a finding: FNV-1a of the property, the file and the line's text.
fn fingerprint(program: &Program, property: Property, spot: Option<&Spot>) -> String {
    let sources = &program.info.sources;
    let line = spot.and_then(|spot| {
        let mut files = sources.files();
        let (_, file) = files.find(|(_, file)| file.name == spot.file)?;
        let text = file.text.lines().nth(spot.line.checked_sub(1)?)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    let file = spot.map_or("", |spot| spot.file.rsplit('/').next().unwrap_or(""));
    let parts = [property.name(), file, line.as_deref().unwrap_or("")];
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.join("\n").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// A file name as the path of a URI.
fn uri(file: &str) -> String {
    let mut out = String::new();
    if Path::new(file).is_absolute() {
        out.push_str("file://");
    }
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn location(spot: &Spot, message: Option<&str>) -> Value {
    let mut region = json!({"startLine": spot.line, "startColumn": spot.column});
    if let Some(end) = spot.end_column {
        region["endColumn"] = Value::from(end);
    }
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&spot.file)},
            "region": region,
        },
    });
    if let Some(message) = message {
        location["message"] = json!({"text": message});
    }
    location
}

fn thread_flow_location(number: usize, moment: &Moment, is_last: bool) -> Option<Value> {
    let spot = moment.spot.as_ref()?;
    let told = moment.told;
    let mut state = Map::new();
    for change in &told.changes {
        state.insert(change.name.clone(), json!({"text": change.to}));
    }
    let text = if told.text.is_empty() {
        format!("{} goes on", told.thread)
    } else {
        format!("{}: {}", told.thread, told.text)
    };
    let mut entry = json!({
        "location": location(spot, Some(&text)),
        "executionOrder": number,
        "importance": if is_last { "essential" } else { "important" },
    });
    if !state.is_empty() {
        entry["state"] = Value::Object(state);
    }
    Some(entry)
}

fn result(program: &Program, trace: &Trace) -> Value {
    let moments = moments(program, trace);
    let mut flows: Vec<(usize, String, Vec<Value>)> = Vec::new();
    for (index, moment) in moments.iter().enumerate() {
        let is_last = index + 1 == moments.len();
        let Some(entry) = thread_flow_location(index + 1, moment, is_last) else {
            continue;
        };
        match flows.iter_mut().find(|(life, ..)| *life == moment.life) {
            Some((_, _, entries)) => entries.push(entry),
            None => flows.push((moment.life, moment.told.thread.clone(), vec![entry])),
        }
    }
    flows.sort_by_key(|(life, ..)| *life);
    let thread_flows: Vec<Value> = flows
        .into_iter()
        .map(|(life, name, locations)| {
            json!({
                "id": format!("thread {life}"),
                "message": {"text": format!("what {name} does")},
                "locations": locations,
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": trace.property.name(),
        "ruleIndex": 0,
        "level": "error",
        "kind": "fail",
        "message": {"text": message(trace)},
    });
    let place = moments.iter().rev().find_map(|moment| moment.spot.as_ref());
    result["partialFingerprints"] = json!({
        "moverViolation/v1": fingerprint(program, trace.property, place),
    });
    if let Some(spot) = place {
        result["locations"] = json!([location(spot, None)]);
    }
    if !thread_flows.is_empty() {
        result["codeFlows"] = json!([{
            "message": {"text": "a run that ends in the violation"},
            "threadFlows": thread_flows,
        }]);
    }
    result
}

/// The answer as a SARIF log.
pub fn log(program: &Program, answer: &Answer, version: &str) -> Value {
    let (rules, results): (Vec<Property>, Vec<Value>) = match &answer.verdict {
        Verdict::Unsafe(trace) => (vec![trace.property], vec![result(program, trace)]),
        _ => (answer.properties.clone(), Vec::new()),
    };
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|property| {
            let (name, text) = rule(property);
            json!({
                "id": property.name(),
                "name": name,
                "shortDescription": {"text": text},
                "fullDescription": {"text": text},
                "help": {"text": help(property)},
                "defaultConfiguration": {"level": "error"},
            })
        })
        .collect();
    let mut notifications: Vec<Value> = answer
        .caveats
        .iter()
        .map(|caveat| json!({"level": "note", "message": {"text": caveat}}))
        .collect();
    let told = match &answer.verdict {
        Verdict::Unknown { reason, .. } => Some(format!("unknown: {reason}")),
        Verdict::SafeUpTo(bounds) => Some(format!("safe up to {}", UpTo::list(bounds, ", "))),
        Verdict::Safe => Some("safe".to_string()),
        Verdict::Unsafe(_) => None,
    };
    notifications.extend(told.map(|text| json!({"level": "note", "message": {"text": text}})));
    let artifacts: Vec<Value> = program
        .info
        .sources
        .files()
        .map(|(_, file)| json!({"location": {"uri": uri(&file.name)}}))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "mover", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "artifacts": artifacts,
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn names_of_files_become_uris() {
        assert_eq!(uri("a b/ä.c"), "a%20b/%C3%A4.c");
        assert_eq!(uri("/x/y.c"), "file:///x/y.c");
    }
}

//! Witnesses for the validators of the competition SV-COMP.
//!
//! A witness lets another tool check a verdict. Two formats are in use: the YAML
//! format (2.0, and 2.2 with threads), a list of *waypoints* that the run passes,
//! and GraphML (1.0), an automaton whose edges are statements. Both name the task
//! in the same words: its files with their SHA-256, the specification, the sizes
//! of C's types, and who wrote the witness.
//!
//! What goes into a violation witness is what a validator needs to find the run
//! again: in which order the threads passed which statements, and what the inputs
//! were. A line that a thread passes in several accesses is one waypoint as long
//! as no other thread comes between.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use mover_ir::program::{Program, Property};
use sha2::{Digest, Sha256};

use mover_check::moments::{Moment, moments, number};
use mover_check::trace::Trace;

/// What a witness says about the task.
pub struct Task<'a> {
    pub program: &'a Program,
    /// The files as they were given, with their contents.
    pub files: Vec<(String, Vec<u8>)>,
    pub properties: &'a [Property],
    pub is_32_bit: bool,
    pub version: &'a str,
    /// When it was written; a fixed time makes the file reproducible.
    pub written: SystemTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YamlVersion {
    /// Without threads.
    V2_0,
    /// With the thread of each waypoint.
    V2_2,
}

impl YamlVersion {
    fn name(self) -> &'static str {
        match self {
            YamlVersion::V2_0 => "2.0",
            YamlVersion::V2_2 => "2.2",
        }
    }
}

/// An invariant of the program, as C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    pub expression: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub function: Option<String>,
}

/// The formula that SV-COMP has for a property; mover's other properties have
/// names only.
pub fn specification(property: Property) -> &'static str {
    match property {
        Property::UnreachCall => "G ! call(reach_error())",
        Property::MemorySafety => "G valid-deref",
        Property::MemoryCleanup => "G valid-memcleanup",
        Property::NoOverflow => "G ! overflow",
        Property::NoDataRace => "G ! data-race",
        Property::NoDeadlock => "G ! deadlock",
        Property::MutexMisuse => "G ! mutex-misuse",
        Property::Claims => "claims",
        Property::Termination => "F end",
    }
}

/// The lines of the property file for what was asked.
fn specifications(task: &Task) -> String {
    let lines: Vec<String> = task
        .properties
        .iter()
        .map(|&property| format!("CHECK( init(main()), LTL({}) )", specification(property)))
        .collect();
    lines.join("\n")
}

fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// `2026-11-16T05:30:00Z`.
pub fn timestamp(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date, by eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// A number for this witness in the form of a UUID (version 8: made from a hash).
fn uuid(content: &str, written: SystemTime) -> String {
    let text = hash(format!("{content}{}", timestamp(written)).as_bytes());
    let variant = ["8", "9", "a", "b"][usize::from(text.as_bytes()[16]) % 4];
    format!(
        "{}-{}-8{}-{variant}{}-{}",
        &text[0..8],
        &text[8..12],
        &text[13..16],
        &text[17..20],
        &text[20..32]
    )
}

/// A string as YAML and JSON write it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn metadata(task: &Task, version: YamlVersion, content: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "  metadata:");
    let _ = writeln!(out, "    format_version: {}", quoted(version.name()));
    let _ = writeln!(out, "    uuid: {}", quoted(&uuid(content, task.written)));
    let _ = writeln!(
        out,
        "    creation_time: {}",
        quoted(&timestamp(task.written))
    );
    let _ = writeln!(out, "    producer:");
    let _ = writeln!(out, "      name: \"mover\"");
    let _ = writeln!(out, "      version: {}", quoted(task.version));
    let _ = writeln!(out, "    task:");
    let _ = writeln!(out, "      input_files:");
    for (name, _) in &task.files {
        let _ = writeln!(out, "      - {}", quoted(name));
    }
    let _ = writeln!(out, "      input_file_hashes:");
    for (name, bytes) in &task.files {
        let _ = writeln!(out, "        {}: {}", quoted(name), quoted(&hash(bytes)));
    }
    let _ = writeln!(
        out,
        "      specification: {}",
        quoted(&specifications(task))
    );
    let model = if task.is_32_bit { "ILP32" } else { "LP64" };
    let _ = writeln!(out, "      data_model: {}", quoted(model));
    let _ = writeln!(out, "      language: \"C\"");
    out
}

struct Waypoint {
    kind: &'static str,
    constraint: Option<(String, &'static str)>,
    file: String,
    line: usize,
    column: usize,
    thread: usize,
}

fn waypoints(program: &Program, trace: &Trace) -> Vec<Waypoint> {
    let moments = moments(program, trace);
    let mut waypoints: Vec<Waypoint> = Vec::new();
    for (index, moment) in moments.iter().enumerate() {
        let Some(spot) = &moment.spot else { continue };
        let is_last = index + 1 == moments.len();
        if let Some((function, column)) = input_call(moment) {
            let (value, width) = moment.input.unwrap_or((0, 32));
            let is_signed = !function.contains("_nondet_u") && !function.ends_with("_bool");
            waypoints.push(Waypoint {
                kind: "function_return",
                constraint: Some((
                    format!("\\result == {}", number(value, width, is_signed)),
                    "acsl_expression",
                )),
                file: spot.file.clone(),
                line: spot.line,
                column,
                thread: moment.life,
            });
        } else if !is_last {
            let is_repeated = waypoints.last().is_some_and(|last| {
                last.kind == "assumption"
                    && (last.thread, last.line) == (moment.life, spot.line)
                    && last.file == spot.file
            });
            if !is_repeated {
                waypoints.push(Waypoint {
                    kind: "assumption",
                    constraint: Some(("1".to_string(), "c_expression")),
                    file: spot.file.clone(),
                    line: spot.line,
                    column: spot.line_start,
                    thread: moment.life,
                });
            }
        }
        if is_last {
            waypoints.push(Waypoint {
                kind: "target",
                constraint: None,
                file: spot.file.clone(),
                line: spot.line,
                column: spot.line_start,
                thread: moment.life,
            });
        }
    }
    waypoints
}

/// The input function that a step calls, and the column of its closing parenthesis.
pub fn input_call<'m>(moment: &'m Moment) -> Option<(&'m str, usize)> {
    moment.input?;
    let spot = moment.spot.as_ref()?;
    let text = &spot.line_text;
    let from = text
        .char_indices()
        .nth(spot.column.saturating_sub(1))
        .map_or(0, |(at, _)| at);
    let name_start = text[from..]
        .find("__VERIFIER_nondet_")
        .map(|at| at + from)
        .or_else(|| text.find("__VERIFIER_nondet_"))?;
    let name_end = text[name_start..].find('(')? + name_start;
    let close = text[name_end..].find(')')? + name_end;
    Some((
        text[name_start..name_end].trim_end(),
        text[..close].chars().count() + 1,
    ))
}

/// A violation witness in YAML.
pub fn violation_yaml(task: &Task, trace: &Trace, version: YamlVersion) -> String {
    let mut content = String::from("  content:\n");
    for waypoint in waypoints(task.program, trace) {
        let _ = writeln!(content, "  - segment:");
        let _ = writeln!(content, "    - waypoint:");
        let _ = writeln!(content, "        type: {}", quoted(waypoint.kind));
        let _ = writeln!(content, "        action: \"follow\"");
        if version == YamlVersion::V2_2 {
            let _ = writeln!(content, "        thread_id: {}", waypoint.thread);
        }
        if let Some((value, format)) = &waypoint.constraint {
            let _ = writeln!(content, "        constraint:");
            let _ = writeln!(content, "          value: {}", quoted(value));
            let _ = writeln!(content, "          format: {}", quoted(format));
        }
        let _ = writeln!(content, "        location:");
        let _ = writeln!(content, "          file_name: {}", quoted(&waypoint.file));
        let _ = writeln!(content, "          line: {}", waypoint.line);
        let _ = writeln!(content, "          column: {}", waypoint.column);
    }
    let metadata = metadata(task, version, &content);
    format!("- entry_type: \"violation_sequence\"\n{metadata}{content}")
}

/// A correctness witness in YAML.
pub fn correctness_yaml(task: &Task, invariants: &[Invariant], version: YamlVersion) -> String {
    let mut content = String::from("  content:");
    content.push_str(if invariants.is_empty() { " []\n" } else { "\n" });
    for invariant in invariants {
        let _ = writeln!(content, "  - invariant:");
        let _ = writeln!(content, "      type: \"location_invariant\"");
        let _ = writeln!(content, "      location:");
        let _ = writeln!(content, "        file_name: {}", quoted(&invariant.file));
        let _ = writeln!(content, "        line: {}", invariant.line);
        let _ = writeln!(content, "        column: {}", invariant.column);
        if let Some(function) = &invariant.function {
            let _ = writeln!(content, "        function: {}", quoted(function));
        }
        let _ = writeln!(content, "      value: {}", quoted(&invariant.expression));
        let _ = writeln!(content, "      format: \"c_expression\"");
    }
    let metadata = metadata(task, version, &content);
    format!("- entry_type: \"invariant_set\"\n{metadata}{content}")
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Other control characters cannot be said in XML 1.0.
            c if c < ' ' && !matches!(c, '\n' | '\t') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The keys of the GraphML format that are used: name, type, of what.
const KEYS: [(&str, &str, &str); 20] = [
    ("witness-type", "string", "graph"),
    ("sourcecodelang", "string", "graph"),
    ("producer", "string", "graph"),
    ("specification", "string", "graph"),
    ("programfile", "string", "graph"),
    ("programhash", "string", "graph"),
    ("architecture", "string", "graph"),
    ("creationtime", "string", "graph"),
    ("entry", "boolean", "node"),
    ("violation", "boolean", "node"),
    ("invariant", "string", "node"),
    ("invariant.scope", "string", "node"),
    ("startline", "int", "edge"),
    ("endline", "int", "edge"),
    ("originFileName", "string", "edge"),
    ("threadId", "string", "edge"),
    ("createThread", "string", "edge"),
    ("enterFunction", "string", "edge"),
    ("assumption", "string", "edge"),
    ("assumption.scope", "string", "edge"),
];

fn graphml(task: &Task, kind: &str, body: &str) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n",
    );
    for (name, ty, of) in KEYS {
        let _ = write!(
            out,
            " <key id=\"{name}\" attr.name=\"{name}\" attr.type=\"{ty}\" for=\"{of}\""
        );
        match name {
            "entry" | "violation" => {
                let _ = writeln!(out, "><default>false</default></key>");
            }
            _ => {
                let _ = writeln!(out, "/>");
            }
        }
    }
    let _ = writeln!(out, " <graph edgedefault=\"directed\">");
    let (file, bytes) = match task.files.first() {
        Some((file, bytes)) => (file.as_str(), bytes.as_slice()),
        None => ("", &[][..]),
    };
    let architecture = if task.is_32_bit { "32bit" } else { "64bit" };
    for (key, value) in [
        ("witness-type", kind),
        ("sourcecodelang", "C"),
        ("producer", &format!("mover {}", task.version)),
        ("specification", &specifications(task)),
        ("programfile", file),
        ("programhash", &hash(bytes)),
        ("architecture", architecture),
        ("creationtime", &timestamp(task.written)),
    ] {
        let _ = writeln!(out, "  <data key=\"{key}\">{}</data>", escaped(value));
    }
    out.push_str(body);
    out.push_str(" </graph>\n</graphml>\n");
    out
}

/// A violation witness in GraphML: a chain with one edge for each step.
pub fn violation_graphml(task: &Task, trace: &Trace) -> String {
    let moments = moments(task.program, trace);
    let mut body = String::from("  <node id=\"N0\"><data key=\"entry\">true</data></node>\n");
    for (index, moment) in moments.iter().enumerate() {
        let to = index + 1;
        if to == moments.len() {
            let _ = writeln!(
                body,
                "  <node id=\"N{to}\"><data key=\"violation\">true</data></node>"
            );
        } else {
            let _ = writeln!(body, "  <node id=\"N{to}\"/>");
        }
        let _ = writeln!(
            body,
            "  <edge id=\"E{index}\" source=\"N{index}\" target=\"N{to}\">"
        );
        let mut data = |key: &str, value: &str| {
            let _ = writeln!(body, "   <data key=\"{key}\">{}</data>", escaped(value));
        };
        if let Some(spot) = &moment.spot {
            data("startline", &spot.line.to_string());
            data("endline", &spot.line.to_string());
            data("originFileName", &spot.file);
        }
        data("threadId", &moment.life.to_string());
        if let Some(started) = moment.starts {
            data("createThread", &started.to_string());
        }
        if let (Some((function, _)), Some((value, width))) = (input_call(moment), moment.input) {
            let is_signed = !function.contains("_nondet_u") && !function.ends_with("_bool");
            let value = number(value, width, is_signed);
            data("assumption", &format!("\\result == {value};"));
        }
        let _ = writeln!(body, "  </edge>");
    }
    if moments.is_empty() {
        body = "  <node id=\"N0\"><data key=\"entry\">true</data>\
                <data key=\"violation\">true</data></node>\n"
            .to_string();
    }
    graphml(task, "violation_witness", &body)
}

/// A correctness witness in GraphML: one node with everything that always holds.
pub fn correctness_graphml(task: &Task, invariants: &[Invariant]) -> String {
    let mut body = String::from("  <node id=\"N0\">\n   <data key=\"entry\">true</data>\n");
    // Here an invariant has no place of its own, so only what holds everywhere counts.
    let mut expressions: Vec<&str> = invariants.iter().map(|i| i.expression.as_str()).collect();
    expressions.sort_unstable();
    expressions.dedup();
    if !expressions.is_empty() {
        let all = format!("({})", expressions.join(") && ("));
        let _ = writeln!(body, "   <data key=\"invariant\">{}</data>", escaped(&all));
    }
    body.push_str("  </node>\n");
    graphml(task, "correctness_witness", &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_dates() {
        let at = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_794_805_833), "2026-11-16T05:10:33Z");
    }

    #[test]
    fn hashes_and_numbers_have_their_form() {
        assert_eq!(
            hash(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let id = uuid("x", UNIX_EPOCH);
        assert_eq!(id.len(), 36);
        assert_eq!(
            id.split('-').map(str::len).collect::<Vec<_>>(),
            [8, 4, 4, 4, 12]
        );
        assert_eq!(&id[14..15], "8");
    }

    #[test]
    fn marks_of_xml_are_escaped() {
        assert_eq!(
            escaped("a<b && \"c\"\u{1}"),
            "a&lt;b &amp;&amp; &quot;c&quot; "
        );
    }
}

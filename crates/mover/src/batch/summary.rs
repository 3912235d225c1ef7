//! The answers of a batch together: as a table, as JSON, as JUnit XML.

use serde_json::{Value, json};

use super::{Row, Verdict};

pub(super) fn count(rows: &[Row], verdict: Verdict) -> usize {
    rows.iter().filter(|row| row.verdict == verdict).count()
}

const VERDICTS: [Verdict; 4] = [
    Verdict::Safe,
    Verdict::Unsafe,
    Verdict::Unknown,
    Verdict::Error,
];

pub(super) fn table(rows: &[Row]) -> String {
    let longest = rows.iter().map(|row| row.name.chars().count()).max();
    let width = longest.unwrap_or(0).max("program".len());
    let mut out = format!("verdict  {:width$}  reason, time\n", "program");
    for row in rows {
        let (verdict, seconds) = (row.verdict.name(), row.seconds);
        let missing = " ".repeat(width.saturating_sub(row.name.chars().count()));
        let reason = match row.reason.is_empty() {
            true => String::new(),
            false => format!("{missing}  {}", row.reason.replace(char::is_control, " ")),
        };
        out += &format!("{verdict:7}  {}{reason}, {seconds:.2} s\n", row.name);
    }
    let counts: Vec<String> = VERDICTS
        .iter()
        .map(|&verdict| format!("{} {}", count(rows, verdict), verdict.name()))
        .collect();
    out += &format!("{} programs: {}\n", rows.len(), counts.join(", "));
    out
}

pub(super) fn json(rows: &[Row]) -> Value {
    let programs: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "program": row.name,
                "verdict": row.verdict.name(),
                "property": row.property,
                "reason": Some(&row.reason).filter(|reason| !reason.is_empty()),
                "story": Some(&row.story).filter(|story| !story.is_empty()),
                "time_s": row.seconds,
                "exit_code": row.exit,
            })
        })
        .collect();
    let mut counts = serde_json::Map::new();
    for verdict in VERDICTS {
        counts.insert(verdict.name().into(), Value::from(count(rows, verdict)));
    }
    json!({ "programs": programs, "counts": counts })
}

/// Text for XML. Characters that XML cannot hold are left out.
fn xml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out += "&#10;",
            c if c < ' ' || ('\u{7f}'..='\u{9f}').contains(&c) => {}
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

pub(super) fn junit(rows: &[Row]) -> String {
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        rows.len(),
        count(rows, Verdict::Unsafe),
        count(rows, Verdict::Error),
        count(rows, Verdict::Unknown),
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n\
         <testsuite name=\"mover\" {counts}>\n"
    );
    for row in rows {
        let property = row.property.as_deref().unwrap_or("unsafe");
        let reason = xml(&row.reason);
        let inside = match row.verdict {
            Verdict::Safe => String::new(),
            Verdict::Unsafe => format!(
                "<failure type=\"{}\" message=\"{reason}\">{}</failure>",
                xml(property),
                xml(&row.story)
            ),
            Verdict::Unknown => format!("<skipped message=\"{reason}\"/>"),
            Verdict::Error => format!("<error message=\"{reason}\"/>"),
        };
        out += &format!(
            "<testcase classname=\"mover\" name=\"{}\" time=\"{:.3}\">{inside}</testcase>\n",
            xml(&row.name),
            row.seconds
        );
    }
    out + "</testsuite>\n</testsuites>\n"
}

//! The result of testing the movers.

use std::fmt::Write;

use mover_check::mover_trial::{Claim, Defect, NotAMover, Taken};
use mover_check::words::grouped;
use mover_ir::program::Program;
use serde_json::{Value, json};

/// What is said where not all could be tried.
pub fn not_done(why: &str, states: u64) -> String {
    format!(
        "not all movers could be tried: {why} after {} states, all pairs so far commute",
        grouped(states)
    )
}

fn whereabouts(program: &Program, taken: &Taken) -> (String, usize, String, String) {
    let template = program.template(taken.template);
    let edge = &template.location(taken.location).edges[taken.edge];
    let (file, line) = match edge.span {
        Some(span) => {
            let place = program.info.sources.locate(span);
            (place.file.to_string(), place.line)
        }
        None => (program.info.name.clone(), 0),
    };
    let thread = format!("{}[{}]", template.name, taken.thread);
    let words: Vec<&str> = edge.text.split_whitespace().collect();
    (file, line, thread, words.join(" "))
}

fn step_text(program: &Program, taken: &Taken) -> String {
    let (file, line, thread, text) = whereabouts(program, taken);
    let file = file.rsplit('/').next().unwrap_or("");
    format!("{file}:{line}  {thread}  {text}")
}

fn claim_words(claim: Claim) -> &'static str {
    match claim {
        Claim::RightMover => "right mover",
        Claim::LeftMover => "left mover",
    }
}

fn defect_words(defect: Defect) -> &'static str {
    match defect {
        Defect::Impossible => "one order is possible and the other is not",
        Defect::Ceases => "after the other step it is no longer one",
        Defect::OtherState => "the two orders lead to different states",
    }
}

/// A step that does not commute as declared, for people.
pub fn wrong_text(program: &Program, wrong: &NotAMover) -> String {
    let mut out = format!(
        "mover: internal error: not a mover: this is taken for a {}\n",
        claim_words(wrong.claim)
    );
    let list = |out: &mut String, steps: &[Taken]| {
        for taken in steps {
            let _ = writeln!(out, "    {}", step_text(program, taken));
        }
    };
    list(&mut out, &wrong.mover);
    out += "  but does not commute with\n";
    list(&mut out, &wrong.other);
    let _ = writeln!(out, "  ({})", defect_words(wrong.defect));
    if wrong.path.is_empty() {
        out += "  in the initial state\n";
    } else {
        out += "  in the state after\n";
        list(&mut out, &wrong.path);
    }
    out
}

/// The same as JSON.
pub fn wrong_json(program: &Program, wrong: &NotAMover) -> Value {
    let steps = |steps: &[Taken]| -> Vec<Value> {
        let step = |taken: &Taken| {
            let (file, line, thread, text) = whereabouts(program, taken);
            json!({
                "thread": taken.thread,
                "name": thread,
                "file": file,
                "line": line,
                "text": text,
            })
        };
        steps.iter().map(step).collect()
    };
    json!({
        "verdict": "internal error",
        "reason": format!("not a mover: {}", defect_words(wrong.defect)),
        "not_a_mover": {
            "claim": claim_words(wrong.claim),
            "mover": steps(&wrong.mover),
            "other": steps(&wrong.other),
            "path": steps(&wrong.path),
        },
    })
}

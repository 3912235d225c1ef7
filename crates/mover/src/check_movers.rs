//! `mover check --check-movers`: what the reduction counts on, tried out.

use std::fmt::Write;

use mover_explicit::{Claim, Defect, NotAMover, Options, Stop, Taken, check_movers};
use mover_ir::program::Program;
use mover_reduce::Movers;
use mover_report::text::grouped;
use serde_json::{Value, json};

use mover_cli::CliError;
use mover_cli::output::print;

/// How many steps were tried, and where.
pub struct Tried {
    states: u64,
    pairs: u64,
}

impl Tried {
    pub fn text(&self) -> String {
        format!(
            "movers: {} pairs of steps commute as declared, in {} states\n",
            grouped(self.pairs),
            grouped(self.states)
        )
    }

    pub fn json(&self) -> Value {
        json!({ "states": self.states, "pairs": self.pairs })
    }
}

/// Tries the movers. None if not all could be tried: then the answer is `unknown`, and has been
/// printed.
pub fn run(
    file: &str,
    movers: &Movers,
    options: Options,
    as_json: bool,
) -> Result<Option<Tried>, CliError> {
    let checked = check_movers(movers, options)
        .map_err(|reason| CliError::input("U009", format!("{file}: {reason}")))?;
    if let Some(wrong) = &checked.wrong {
        let program = &movers.fused.program;
        if as_json {
            print(&format!("{}\n", wrong_json(program, wrong)))?;
        }
        return Err(CliError::internal(wrong_text(program, wrong)));
    }
    let Some(stop) = checked.stopped else {
        return Ok(Some(Tried {
            states: checked.states,
            pairs: checked.pairs,
        }));
    };
    let why = match (stop, checked.refusal) {
        (_, Some(refusal)) => refusal,
        (Stop::Timeout, None) => "the time limit was reached".into(),
        (Stop::Memory, None) => "the memory limit was reached".into(),
        (Stop::Interrupt, None) => "the search was interrupted".into(),
        (Stop::StoreFull, None) => "there are too many states".into(),
        (Stop::Refused, None) => "something was met that explicit search does not take".into(),
    };
    let reason = format!(
        "not all movers could be tried: {why} after {} states, all pairs so far commute",
        grouped(checked.states)
    );
    let told = if as_json {
        let tried = json!({ "states": checked.states, "pairs": checked.pairs });
        let answer = json!({ "verdict": "unknown", "reason": reason, "movers_checked": tried });
        format!("{answer}\n")
    } else {
        format!("unknown: {reason}\n")
    };
    print(&told)?;
    Ok(None)
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
        Defect::Ceases => "behind the other step it is not one any more",
        Defect::OtherState => "the two orders lead to different states",
    }
}

fn wrong_text(program: &Program, wrong: &NotAMover) -> String {
    let mut out = format!(
        "not a mover: this is taken for a {}\n",
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
        out += "  in the initial state";
    } else {
        out += "  in the state after\n";
        list(&mut out, &wrong.path);
    }
    // The error ends the last line.
    out.truncate(out.trim_end().len());
    out
}

fn wrong_json(program: &Program, wrong: &NotAMover) -> Value {
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

//! The answer, printed and written to files.

use mover_check::answer::{Answer, Verdict};
use mover_check::explanation::explain;
use mover_check::ledger::ledger;
use mover_check::words::grouped;
use mover_cli::output::{print, stdout_color, write_file};
use mover_cli::{Cause, CliError, Exit, stderr_line};
use mover_engine::{Cancel, Control, Task};
use mover_report::html::Page;
use mover_report::text::{Rows, Style};
use mover_report::{explain, json, text, unreached};
use serde_json::Value;

use super::formats::{FormatError, Told};
use super::{Besides, CheckArgs};

/// Which rows the table of a trace has.
pub fn rows(all_steps: bool) -> Rows {
    if all_steps { Rows::Steps } else { Rows::Folded }
}

/// Prints the answer and writes the files. If one cannot be written, the answer is still told: it
/// may have taken hours.
pub(super) fn tell(
    args: &CheckArgs,
    task: &Task,
    numbers: Option<&mover_promela::StatementNumbers>,
    answer: &Answer,
    besides: Besides,
    cancel: &Cancel,
) -> Result<Exit, CliError> {
    let Besides {
        trial,
        unreached: never_reached,
    } = besides;
    let mut is_file_lost = false;
    let mut note = |written: Result<(), FormatError>| {
        if let Err(error) = written {
            stderr_line!("mover: {error} [U003]");
            is_file_lost = true;
        }
    };
    let program = task.program();
    if let Some(path) = &args.report {
        let control = Control::cancelled_by(cancel);
        let movers = task
            .movers()
            .ok()
            .map(|movers| explain::table(explain(movers)));
        let mut page = Page::of_answer(answer, program, movers, ledger(task, answer, &control));
        if args.symbolic.show_invariant {
            page.invariant = answer.invariant.clone();
        }
        note(write_file(path, &page.html()).map_err(FormatError::from));
    }
    let files = Told {
        program,
        answer,
        numbers,
    };
    for written in args.formats.write(&args.input, &files) {
        note(written);
    }
    if let (Some(path), Verdict::Unsafe(trace)) = (&args.trace, &answer.verdict) {
        let file = json::trace_file(&program.info.name, trace, &answer.properties);
        note(write_file(path, &format!("{file:#}\n")).map_err(FormatError::from));
    }
    let show_invariant = args.symbolic.show_invariant;
    let told = if args.json {
        let mut object = json::answer(answer, show_invariant);
        if let Some(tried) = &trial {
            object["movers_checked"] = tried.json();
        }
        if let Some(found) = &never_reached {
            object["unreached"] = match found {
                Ok(processes) => unreached::json(processes),
                Err(_) => Value::Null,
            };
        }
        format!("{object}\n")
    } else {
        let style = Style {
            color: stdout_color(),
        };
        let tried = trial.map_or(String::new(), |tried| {
            format!(
                "movers: {} pairs of steps commute as declared, in {} states\n",
                grouped(tried.pairs),
                grouped(tried.states)
            )
        });
        let never_reached = match &never_reached {
            None => String::new(),
            Some(Ok(processes)) => unreached::text(processes),
            Some(Err(reason)) => format!("unreached statements: not known, {reason}\n"),
        };
        tried + &never_reached + &text::answer(answer, style, rows(args.all_steps), show_invariant)
    };
    print(&told)?;
    if is_file_lost {
        return Err(CliError::Reported(Cause::Output));
    }
    // The errors have been shown: some run reaches what is not supported.
    if answer.warnings.iter().any(|warning| warning.is_error()) {
        return Err(CliError::Reported(Cause::Input));
    }
    Ok(match answer.verdict {
        Verdict::Safe => Exit::Success,
        Verdict::Unsafe(_) => Exit::Unsafe,
        Verdict::SafeUpTo(_) | Verdict::Unknown { .. } => Exit::Unknown,
    })
}

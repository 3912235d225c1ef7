//! `mover replay`.

use std::path::PathBuf;

use clap::Args;
use mover_ir::program::Property;
use mover_report::json::read_trace_file;
use mover_report::text::{Style, story_text, trace_table};
use mover_report::trace::Trace;

use crate::BAD_INPUT;
use crate::check::rows;
use crate::input::{self, InputArgs};
use crate::output::{print, stdout_color};
use crate::shortest::transactions;

#[derive(Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    input: InputArgs,

    /// The counterexample, written with `mover check --trace`
    trace: PathBuf,

    /// Show every step of a long counterexample, instead of one line for steps that belong together
    #[arg(long)]
    all_steps: bool,
}

pub fn run(args: &ReplayArgs) -> u8 {
    let name = args.trace.display();
    let claim = std::fs::read_to_string(&args.trace)
        .map_err(|error| error.to_string())
        .and_then(|text| read_trace_file(&text));
    let claim = match claim {
        Ok(claim) => claim,
        Err(reason) => {
            eprintln!("mover: {name}: {reason}");
            return BAD_INPUT;
        }
    };
    let mut program = match input::read(&args.input, &claim.properties) {
        Ok(input) => input.program,
        Err(code) => return code,
    };
    if claim.property == Property::NoDeadlock {
        program.resume_after_errors();
    }
    match Trace::replay(&program, &claim.steps, claim.property, claim.error) {
        Ok(mut trace) => {
            trace.transactions = transactions(&program, &trace);
            let style = Style {
                color: stdout_color(),
            };
            let told = format!(
                "{}{}\nunsafe: the run is possible and ends in {}\n",
                story_text(&trace, style),
                trace_table(&trace, style, rows(args.all_steps)),
                trace.message
            );
            match print(&told) {
                Ok(()) => 10,
                Err(code) => code,
            }
        }
        Err(reason) => {
            eprintln!("mover: {name}: not a run of this program: {reason}");
            BAD_INPUT
        }
    }
}

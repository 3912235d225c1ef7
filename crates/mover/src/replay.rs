//! `mover replay`.

use std::path::PathBuf;

use clap::Args;
use mover_ir::program::Property;
use mover_report::json::read_trace_file;
use mover_report::text::{Style, story_text, trace_table};
use mover_report::trace::Trace;

use crate::check::rows;
use crate::errors::complain;
use crate::input::{self, InputArgs};
#[cfg(feature = "c")]
use crate::native;
use crate::output::{print, stdout_color};
use crate::shortest::transactions;
use crate::{BAD_INPUT, USAGE};

#[derive(Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    input: InputArgs,

    /// The counterexample, written with `mover check --trace`
    trace: PathBuf,

    /// C: run the program itself, compiled by clang, with real threads on this schedule
    #[arg(long)]
    native: bool,

    /// With `--native`: leave the process stopped where the violation shows, for gdb
    #[arg(long, requires = "native")]
    gdb: bool,
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
            complain("U004", format!("{name}: {reason}"));
            return BAD_INPUT;
        }
    };
    if args.native && !args.input.is_c() {
        complain("U002", "--native is for C programs");
        return USAGE;
    }
    let input = match input::read(&args.input, &claim.properties) {
        Ok(input) => input,
        Err(code) => return code,
    };
    let mut program = input.program;
    if claim.property == Property::NoDeadlock {
        program.resume_after_errors();
    }
    match Trace::replay(&program, &claim.steps, claim.property, claim.error) {
        #[cfg(feature = "c")]
        Ok(trace) if args.native => {
            native::run(&args.input, &program, &trace, &input.sites, args.gdb)
        }
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
            complain(
                "U005",
                format!("{name}: not a run of this program: {reason}"),
            );
            BAD_INPUT
        }
    }
}

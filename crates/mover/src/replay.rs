//! `mover replay`: replays a recorded counterexample on the program.
//!
//! A trace file claims that certain steps are a run of the program and end in a violation. The
//! claim is checked step by step on the concrete semantics, so a file that was edited, or
//! belongs to another version of the program, is refused. With `--native` the schedule is then
//! tried on real threads (`native`).

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use mover_check::Fairness;
use mover_check::fold::transactions;
use mover_check::forbidden::{self, ForbiddenRun, NotForbidden};
use mover_check::spin_trail;
use mover_check::trace::Trace;
use mover_engine::{ReplayError, Task};
use mover_ir::claim::{Check, Claim};
use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_report::json::{Claim as Recorded, read_trace_file};
use mover_report::text::{Style, story_text, trace_table};

use mover_cli::output::{print, stdout_color};
#[cfg(feature = "c")]
use mover_cli::stderr_line;
use mover_cli::{CliError, Exit};

use crate::check::rows;
use crate::input::{self, InputArgs};
#[cfg(feature = "c")]
use crate::native;
use crate::signals::end_on_signal;

#[derive(Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    input: InputArgs,

    /// The counterexample, written with `mover check --trace`, or a trail of SPIN's verifier
    trace: PathBuf,

    /// C: compile the program with clang and run it with real threads on this schedule. This
    /// executes the program on this machine
    #[arg(long)]
    native: bool,

    /// With `--native`: the program may be executed
    #[arg(long, requires = "native")]
    yes: bool,

    /// With `--native`: leave the process stopped at the violation, for gdb
    #[arg(long, requires = "native")]
    gdb: bool,

    /// Show every step of a long counterexample, instead of one line for each transaction
    #[arg(long)]
    all_steps: bool,
}

pub fn run(mut args: ReplayArgs) -> Result<Exit, CliError> {
    args.input.complete()?;
    end_on_signal();
    let name = args.trace.display();
    let no_trace = |error: &dyn Error| CliError::input("U004", format!("{name}: {error}"));
    let text = std::fs::read_to_string(&args.trace).map_err(|error| no_trace(&error))?;
    if !args.input.is_c() && spin_trail::is_trail(&text) {
        return replay_trail(&args, &text);
    }
    let claim = read_trace_file(&text).map_err(|error| no_trace(&error))?;
    if args.native && !args.input.is_c() {
        return Err(CliError::usage("U002", "--native is for C programs"));
    }
    if args.native && !args.yes {
        let message = format!(
            "--native executes {} on this machine, with your rights; add `--yes` if you trust it",
            args.input.name()
        );
        return Err(CliError::usage("U014", message));
    }
    let formula = formula_of(&claim.message).map(str::to_string);
    if !args.input.is_c() {
        args.input.formulas.extend(formula.clone());
    }
    let mut input = input::read(&args.input, &claim.properties)?;
    if args.input.is_c()
        && let Some(formula) = formula
    {
        let claim = mover_check::formula::claim(&input.program, &formula)
            .map_err(|reason| CliError::input("U005", format!("{name}: {reason}")))?;
        input.program.info_mut().claims.push(claim);
    }
    // A run into a deadlock may have been found with failed assertions passed over.
    let properties = match claim.violation.property {
        property if property == Property::NoDeadlock || property.is_temporal() => vec![property],
        _ => input.properties,
    };
    let task = Task::new(input.program, properties);
    let program = task.program();
    let replayed = if claim.violation.property.is_temporal() {
        replay_forbidden(program, &claim)
    } else {
        Trace::replay(program, &claim.violation).map_err(NotReplayed::from)
    };
    let mut trace = replayed.map_err(|error| {
        let message = format!("{name}: not a run of this program: {error}");
        CliError::input("U005", message)
    })?;
    #[cfg(feature = "c")]
    if args.native {
        stderr_line!("mover: compiling {} and executing it", args.input.name());
        return native::run(&args.input, program, &trace, &input.sites, args.gdb);
    }
    if !trace.property.is_temporal() {
        trace.transactions = transactions(&task, &trace, "static");
    }
    tell(&args, &trace)
}

/// Prints a run that was replayed.
fn tell(args: &ReplayArgs, trace: &Trace) -> Result<Exit, CliError> {
    let how = match trace.loop_start {
        None => format!("ends in {}", trace.message),
        Some(_) => format!("goes on for ever: {}", trace.message),
    };
    let style = Style {
        color: stdout_color(),
    };
    print(&format!(
        "{}{}\nunsafe: the run is possible and {how}\n",
        story_text(trace, style),
        trace_table(trace, style, rows(args.all_steps)),
    ))?;
    Ok(Exit::Unsafe)
}

/// A trail that SPIN's verifier wrote.
fn replay_trail(args: &ReplayArgs, text: &str) -> Result<Exit, CliError> {
    let no_run = |reason: String| {
        let name = args.trace.display();
        CliError::input(
            "U005",
            format!("{name}: not a run of this program: {reason}"),
        )
    };
    if args.native {
        return Err(CliError::usage("U002", "--native is for C programs"));
    }
    let input = input::read(&args.input, &[])?;
    let Some(numbers) = &input.numbers else {
        let reason = "SPIN numbers processes differently in a model with a claim";
        return Err(no_run(reason.into()));
    };
    let number = |template: TemplateId, location: LocationId, edge: usize| {
        let edges = numbers.get(template.index())?.get(location.index())?;
        *edges.get(edge)?
    };
    let violation = spin_trail::violation(&input.program, text, number)
        .map_err(|error| no_run(error.to_string()))?;
    let task = Task::new(
        input.program,
        vec![Property::UnreachCall, Property::NoDeadlock],
    );
    let mut trace =
        Trace::replay(task.program(), &violation).map_err(|error| no_run(error.to_string()))?;
    trace.transactions = transactions(&task, &trace, "static");
    tell(args, &trace)
}

/// Why a file's steps are not a run that violates something.
#[derive(Debug, thiserror::Error)]
enum NotReplayed {
    #[error(transparent)]
    Run(#[from] ReplayError),
    #[error(transparent)]
    Forbidden(#[from] NotForbidden),
    #[error("it has no such claim: {0}")]
    NoClaim(String),
    #[error("{0} is not checked")]
    Unchecked(String),
}

/// The formula of the command line that a run violates, by what the file says of it. A claim of a
/// model has a line.
fn formula_of(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("the ltl formula `")?;
    rest.strip_suffix("` is violated")
}

/// A run that a temporal claim forbids; the words of the file say which claim.
fn replay_forbidden(program: &Program, recorded: &Recorded) -> Result<Trace, NotReplayed> {
    let mut claims = program.info.claims.clone();
    claims.push(Claim::termination());
    let claim = (claims.iter()).find(|claim| claim.violation() == recorded.message);
    let Some(claim) = claim else {
        return Err(NotReplayed::NoClaim(recorded.message.clone()));
    };
    let Check::Forbidden(monitor) = &claim.check else {
        return Err(NotReplayed::Unchecked(claim.words()));
    };
    let run = ForbiddenRun {
        steps: &recorded.violation.steps,
        loop_start: recorded.loop_start,
        fairness: Fairness::None,
    };
    Ok(forbidden::replay(program, claim, monitor, run)?)
}

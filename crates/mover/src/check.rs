//! `mover check`: builds a task, has it answered, prints the answer.

mod approximate;
mod checkpoint;
mod choices;
mod effects;
mod formats;
mod ltl;
mod option_error;
mod options;
mod outputs;
mod processes;
mod properties;
mod property_file;
mod symbolic;

use std::sync::Arc;

use mover_check::mover_trial::{MoverTrial, try_movers};
use mover_check::unreached::{Unreached, unreached};
use mover_check::{CheckError, Features, Options, Strategy};
use mover_cli::diagnostics::show;
use mover_cli::output::print;
use mover_cli::{Cause, CliError, Exit, stderr, stderr_line};
use mover_engine::{Cancel, Conclusion, Control, EngineError, Task};
use mover_explicit::reached::NotAll;
use mover_ir::print::print_program;
use mover_report::mover_trial;
use serde_json::{Value, json};

use choices::{Dump, Engine};
pub use options::CheckArgs;
pub use outputs::rows;
use properties::Asked;

use crate::guard::{Guard, Limits};
use crate::input::Input;
use crate::progress::Watcher;

pub fn run(mut args: CheckArgs) -> Result<Exit, CliError> {
    args.input.complete()?;
    args.check()
        .map_err(|reason| CliError::usage("U002", reason))?;
    effects::check(&args).map_err(|error| CliError::usage("U002", error))?;
    let mut from_files = Vec::new();
    let mut tracks_memory = false;
    for file in &args.property_file {
        let asked = property_file::read(file)
            .map_err(|reason| CliError::input("U006", format!("{}: {reason}", file.display())))?;
        from_files.extend(asked.properties);
        tracks_memory |= asked.tracks_memory;
    }
    let (every, usual) = args.input.properties();
    let asked = properties::resolve(&args.properties, &from_files, every, usual);
    // A model's own claims are asked about, too, unless properties are selected.
    let is_selected = properties::is_selected(&args.properties, &from_files);
    let is_usual = asked == usual && (!is_selected || args.properties.contains(&Asked::All));
    let cancel = Cancel::default();
    let limits = Limits {
        timeout: args.timeout,
        memory: args.memory_limit(),
        json: args.json,
        properties: asked.clone(),
    };
    let guard = Guard::begin(limits, &cancel);
    let Input {
        mut program,
        properties,
        numbers,
        ..
    } = ltl::read(&mut args, if is_usual { Vec::new() } else { asked })?;
    ltl::select(&args, &mut program)?;
    if args.fair.is_some() && !properties.iter().any(|property| property.is_temporal()) {
        let reason =
            "--fair is about temporal claims and `--property termination`; none is asked about";
        return Err(CliError::usage("U002", reason));
    }
    if args.input.any_number() && properties.iter().any(|property| property.is_temporal()) {
        let reason = "`--threads any` is not about temporal claims and termination; choose others with `--property`";
        return Err(CliError::usage("U002", reason));
    }
    if args.dump == Some(Dump::Ir) {
        print(&print_program(&program))?;
        return Ok(Exit::Success);
    }
    let task = if args.input.any_number() {
        Task::for_any_number(program, properties)
    } else {
        Task::new(program, properties)
    };
    let task = Arc::new(task.keep_dead_values(args.keep_dead_values));
    if args.dump == Some(Dump::Smt2) {
        return dump_smt2(&args, &task);
    }
    guard.searching();
    let watcher = args.watcher();
    let mut trial = None;
    if args.check_movers {
        // All states, with their dead values: the trial leaves nothing out.
        let whole = Task::unchanged(task.program().clone(), task.properties().to_vec());
        let whole = whole.keep_dead_values(true);
        match trial_of_movers(&args, &whole, &cancel, &watcher)? {
            Trial::Done(done) => trial = done,
            Trial::Unfinished => return Ok(Exit::Unknown),
        }
    }
    let mut options = args.driver_options(&task)?;
    options.timeout = guard.time_left();
    options.tracks_memory = tracks_memory;
    if args.verbose {
        let features = Features::of(&task);
        stderr_line!("mover: {}", Strategy::new(&options, features));
    }
    // Kept until there is an answer: processes that were started here end with it.
    let joined = args.join(&task, &mut options, &cancel)?;
    if args.processes.is_other() {
        return take_part(&args, &task, &options, &cancel);
    }
    let answer = mover_check::answer(&task, &options, &cancel, &watcher)
        .map_err(|error| told(&args, &task, error))?;
    drop(joined);
    show(&task.program().info.sources, &answer.warnings);
    let unreached = args.unreached.then(|| {
        let control = Control::cancelled_by(&cancel).with_memory(args.memory_limit());
        let control = match guard.time_left() {
            Some(left) => control.within(left),
            None => control,
        };
        unreached(&task, &control)
    });
    guard.answering();
    let besides = Besides { trial, unreached };
    outputs::tell(&args, &task, numbers.as_ref(), &answer, besides, &cancel)
}

/// The part of a process that leaves the answer to process 0.
fn take_part(
    args: &CheckArgs,
    task: &Arc<Task>,
    options: &Options,
    cancel: &Cancel,
) -> Result<Exit, CliError> {
    let outcome = mover_check::take_part(task, options, cancel);
    let outcome = outcome.map_err(|error| told(args, task, error))?;
    match outcome.conclusion {
        Conclusion::Refused { reason, .. } => stderr_line!("mover: {reason}"),
        _ => stderr_line!("mover: this process has done its part; process 0 has the answer"),
    }
    // It says nothing of the program, so it is no success either.
    Ok(Exit::Unknown)
}

/// What was asked for besides the answer.
struct Besides {
    trial: Option<Tried>,
    unreached: Option<Result<Vec<Unreached>, NotAll>>,
}

/// An error of the driver, with what it says printed.
fn told(args: &CheckArgs, task: &Task, error: CheckError) -> CliError {
    match error {
        CheckError::WrongClaims(claims) => {
            show(&task.program().info.sources, &claims);
            CliError::Reported(Cause::Input)
        }
        CheckError::Unsupported(reason) => {
            CliError::input("U009", format!("{}: {reason}", args.input.name()))
        }
        CheckError::Internal(reason) => CliError::internal(reason),
    }
}

/// How many steps were tried, and where.
struct Tried {
    states: u64,
    pairs: u64,
}

impl Tried {
    fn json(&self) -> Value {
        json!({ "states": self.states, "pairs": self.pairs })
    }
}

/// What came of trying the movers.
enum Trial {
    /// None if there are no movers to try.
    Done(Option<Tried>),
    /// The answer is `unknown` and has been printed.
    Unfinished,
}

fn trial_of_movers(
    args: &CheckArgs,
    task: &Task,
    cancel: &Cancel,
    watcher: &Watcher,
) -> Result<Trial, CliError> {
    let limits = Control::cancelled_by(cancel).with_memory(args.memory_limit());
    let control = match args.timeout {
        Some(timeout) => limits.within(timeout),
        None => limits,
    };
    let line = watcher.line("check-movers", "steps");
    let trial = try_movers(task, args.trial_reduction(), &control, &mut |statistics| {
        line.show(statistics);
    });
    line.finish();
    let trial = trial.map_err(|error| told(args, task, error))?;
    match trial {
        MoverTrial::NoMovers(reason) => {
            stderr_line!("mover: no movers to check: {reason}");
            Ok(Trial::Done(None))
        }
        MoverTrial::Commute { states, pairs } => Ok(Trial::Done(Some(Tried { states, pairs }))),
        MoverTrial::Wrong(wrong) => {
            let program = match task.movers() {
                Ok(movers) => &movers.fused.program,
                Err(_) => task.program(),
            };
            if args.json {
                print(&format!("{}\n", mover_trial::wrong_json(program, &wrong)))?;
            }
            stderr!("{}", mover_trial::wrong_text(program, &wrong));
            Err(CliError::Reported(Cause::Internal))
        }
        MoverTrial::NotDone {
            reason,
            states,
            pairs,
        } => {
            let reason = mover_trial::not_done(&reason, states);
            let told = if args.json {
                let tried = Tried { states, pairs }.json();
                let answer =
                    json!({ "verdict": "unknown", "reason": reason, "movers_checked": tried });
                format!("{answer}\n")
            } else {
                format!("unknown: {reason}\n")
            };
            print(&told)?;
            Ok(Trial::Unfinished)
        }
    }
}

fn dump_smt2(args: &CheckArgs, task: &Task) -> Result<Exit, CliError> {
    let options = args.driver_options(task)?;
    let script = match args.engine {
        Engine::Ic3 => mover_check::dump_invariant(task, &options),
        _ => mover_check::dump_bounded(task, &options),
    };
    match script {
        Ok(script) => {
            print(&script)?;
            Ok(Exit::Success)
        }
        Err(EngineError::Unsupported(reason)) => {
            stderr_line!("mover: {}: {reason} [U009]", args.input.name());
            Ok(Exit::Unknown)
        }
        Err(EngineError::Internal(reason)) => Err(CliError::internal(reason)),
    }
}

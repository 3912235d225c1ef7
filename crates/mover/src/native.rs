//! `mover replay --native`: the recorded schedule on real threads.
//!
//! The program is compiled with a runtime that lets one thread at a time proceed, in the order
//! of the trace; sanitizers and assertions then show the violation outside of mover. Inputs
//! that the trace does not record are guessed, with a few attempts. A run that differs does not
//! refute the violation: compiled code may order accesses differently, so the answer is
//! `unknown`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mover_c::Sites;
use mover_c::native::{Native, NativeStep, build};
use mover_check::moments::moments;
use mover_check::trace::Trace;
use mover_ir::program::Program;
use mover_ir::semantics::Machine;
use mover_report::text::{Rows, Style, trace_table};
use mover_tools::child::Kept;
use mover_tools::scratch::Scratch;
use mover_tools::visible;

use mover_cli::diagnostics::refuse;
use mover_cli::output::{print, stdout_color};
use mover_cli::{CliError, Exit, stderr};

use crate::input::InputArgs;

/// How the runtime ends the program (see `mover-native.c`).
const REPRODUCED: i32 = 99;
const DIFFERS: i32 = 98;

/// Longest time that a run may take; the runtime gives up by itself after ten
/// seconds without a step.
const PATIENCE: Duration = Duration::from_secs(120);

/// What came of a run.
enum NativeOutcome {
    Reproduced(String),
    Differs(String),
    /// Stopped at the violation, by its number.
    Stopped(u32, String),
}

pub fn run(
    input: &InputArgs,
    program: &Program,
    trace: &Trace,
    sites: &Sites,
    gdb: bool,
) -> Result<Exit, CliError> {
    let folder = Scratch::new().map_err(|error| {
        CliError::output("U010", format!("no place for temporary files: {error}"))
    })?;
    let options = input.c_options(&[trace.property]);
    let native =
        build(&input.files, &options, trace.property, folder.path()).map_err(|failure| {
            stderr!("{}", failure.compiler);
            refuse(&input.name(), &failure.sources, &failure.diagnostics)
        })?;
    let steps = steps(program, trace, sites);
    let came = try_inputs(&native, &steps, trace, folder.path(), gdb)
        .map_err(|reason| CliError::input("U010", reason))?;
    let style = Style {
        color: stdout_color(),
    };
    let table = trace_table(trace, style, Rows::Steps);
    let (told, exit) = match came {
        NativeOutcome::Reproduced(what) => (
            format!("{table}\nunsafe: reproduced on real threads: {what}\n"),
            Exit::Unsafe,
        ),
        NativeOutcome::Differs(what) => (
            format!(
                "{table}\nunknown: the recorded run is possible, but the native run differs: {what}\n"
            ),
            Exit::Unknown,
        ),
        NativeOutcome::Stopped(process, what) => {
            // The debugger needs the executable as long as the process lives.
            let kept = folder.keep();
            (
                format!(
                    "{table}\nunsafe: reproduced on real threads: {what}\nprocess {process} is \
                     stopped there; inspect it with: gdb -p {process} {}\n",
                    kept.join("program").display()
                ),
                Exit::Unsafe,
            )
        }
    };
    print(&told)?;
    Ok(exit)
}

/// The steps with their source locations.
fn steps(program: &Program, trace: &Trace, sites: &Sites) -> Vec<NativeStep> {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    let mut steps = Vec::new();
    for moment in moments(program, trace) {
        let by = moment.step.by;
        let site = state.threads[by.thread].as_ref().and_then(|thread| {
            let edges = sites
                .get(thread.template.index())?
                .get(thread.location.index())?;
            edges.get(by.edge)?.clone()
        });
        steps.push(NativeStep {
            life: moment.life,
            site,
            starts: moment.starts,
            ends: moment.ends,
            input: moment
                .input
                .map(|(value, _)| (value, moment.spot.as_ref().map_or(0, |spot| spot.line))),
        });
        state = machine.apply(&state, moment.step);
    }
    steps
}

/// Most inputs that are guessed.
const MOST_GUESSES: u32 = 6;

/// Runs the program, and again with other inputs where the run does not record them.
fn try_inputs(
    native: &Native,
    steps: &[NativeStep],
    trace: &Trace,
    folder: &Path,
    gdb: bool,
) -> Result<NativeOutcome, String> {
    let (mut came, mut guesses) = follow(native, steps, trace, folder, gdb, 0)?;
    let mut guess = 1;
    while matches!(came, NativeOutcome::Differs(_)) && guess < 1 << guesses.min(MOST_GUESSES) {
        (came, guesses) = follow(native, steps, trace, folder, gdb, guess)?;
        guess += 1;
    }
    Ok(came)
}

/// Runs the program on the schedule; also how many inputs it guessed.
fn follow(
    native: &Native,
    steps: &[NativeStep],
    trace: &Trace,
    folder: &Path,
    gdb: bool,
    guess: u64,
) -> Result<(NativeOutcome, u32), String> {
    let schedule = folder.join("schedule");
    let report = folder.join("report");
    std::fs::write(
        &schedule,
        native.schedule(steps, trace.property, gdb, guess),
    )
    .map_err(|error| format!("cannot write {}: {error}", schedule.display()))?;
    // What an earlier run said, not what this one may have said already.
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(&native.executable);
    command
        .env("MOVER_NATIVE_SCHEDULE", &schedule)
        .env("MOVER_NATIVE_REPORT", &report)
        .stdin(Stdio::null())
        // What the program prints is not the answer.
        .stdout(std::io::stderr());
    let mut child = Kept::spawn(&mut command)
        .map_err(|error| format!("the instrumented program cannot be started: {error}"))?;
    let started = Instant::now();
    let said = || {
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        let (what, guesses) = text.trim_end().rsplit_once('\n').unwrap_or((&text, ""));
        let what = what.split_once(' ').map_or("", |(_, what)| what);
        // Some of it is said by the program.
        let what = visible::name(what).into_owned();
        (what, guesses.parse::<u32>().unwrap_or(0))
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let (what, guesses) = said();
                let came = match status.code() {
                    Some(REPRODUCED) => NativeOutcome::Reproduced(what),
                    Some(DIFFERS) => NativeOutcome::Differs(what),
                    _ => NativeOutcome::Differs(format!("the program ended with {status}")),
                };
                return Ok((came, guesses));
            }
            Ok(None) if gdb && is_stopped(child.id()) => {
                let stopped = NativeOutcome::Stopped(child.id(), said().0);
                child.release();
                return Ok((stopped, 0));
            }
            Ok(None) if started.elapsed() > PATIENCE => {
                // Dropped, the program ends with all that it has started.
                let came = NativeOutcome::Differs("it takes longer than two minutes".into());
                return Ok((came, 0));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(format!("waiting for the program: {error}")),
        }
    }
}

/// Whether a process is stopped by a signal.
fn is_stopped(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    // The state comes after the name, which is in parentheses.
    status
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

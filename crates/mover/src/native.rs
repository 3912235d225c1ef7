//! `mover replay --native`: the recorded schedule on real threads.
//!
//! The program is compiled with a runtime that lets one thread at a time proceed, in the order
//! of the trace; sanitizers and assertions then show the violation outside of mover. Inputs
//! that the trace does not record are guessed, with a few attempts. A run that differs does not
//! refute the violation: compiled code may order accesses differently, so the answer is
//! `unknown`.

use mover_c::Sites;
use mover_c::native::{NativeOutcome, NativeStep, build};
use mover_check::moments::moments;
use mover_check::trace::Trace;
use mover_ir::program::{Effect, Program, SiteKind};
use mover_ir::semantics::Machine;
use mover_report::text::{Rows, Style, trace_table};
use mover_tools::scratch::Scratch;

use mover_cli::diagnostics::refuse;
use mover_cli::output::{print, stdout_color};
use mover_cli::{CliError, Exit, stderr};

use crate::input::InputArgs;

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
    let came = native
        .follow(&steps, trace.property, folder.path(), gdb)
        .map_err(|error| CliError::input("U010", error))?;
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
        NativeOutcome::Stopped { process, what } => {
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
            let edge = &program.templates[thread.template.index()].locations
                [thread.location.index()]
            .edges[by.edge];
            // A program has no instruction where a variable's lifetime begins, and nobody can
            // notice when it does.
            if edge
                .effects
                .iter()
                .any(|effect| begins_lifetime(program, effect))
            {
                return None;
            }
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

/// Whether an effect makes the object of a variable on the stack.
fn begins_lifetime(program: &Program, effect: &Effect) -> bool {
    matches!(effect, Effect::Allocate { site, .. }
        if program.sites[site.index()].kind == SiteKind::Stack)
}

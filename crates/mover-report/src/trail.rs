//! A counterexample as a trail that SPIN plays (`spin -t -p model.pml`).
//!
//! A line of a trail is `depth:process:statement`. Statements have the numbers in
//! which SPIN's parser makes them, which the Promela front end counts along; SPIN
//! puts the process to the statement and executes it, so what is not a step of its
//! own in SPIN (the inside of a `d_step`) is left out. A rendezvous is two lines,
//! sender first. There is no line for statement merging, so SPIN merges nothing.

use std::fmt::Write as _;

use mover_ir::program::{LocationId, Program, TemplateId};
use mover_ir::semantics::{Machine, Move, State};

use mover_check::trace::Trace;

/// The trail; `number` is SPIN's number of the statement of an edge.
pub fn trail(
    program: &Program,
    trace: &Trace,
    number: impl Fn(TemplateId, LocationId, usize) -> Option<u32>,
) -> String {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    let mut out = String::new();
    let mut depth = 0;
    let statement = |state: &State, by: Move| {
        let thread = state.threads.get(by.thread)?.as_ref()?;
        number(thread.template, thread.location, by.edge)
    };
    for told in &trace.steps {
        let movers = [Some(told.step.by), told.step.with];
        for by in movers.into_iter().flatten() {
            if let Some(number) = statement(&state, by) {
                depth += 1;
                let _ = writeln!(out, "{depth}:{}:{number}", by.thread);
            }
        }
        state = machine.apply(&state, told.step);
    }
    out
}

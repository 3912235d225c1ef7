//! The state space of a small program as a graph for people (Graphviz's DOT).
//!
//! Every state that the concrete semantics reaches, without reduction, with the
//! values that differ from the initial ones; errors and deadlocks are coloured, and
//! the run of a counterexample is drawn bold. Larger graphs than a few hundred
//! states are unreadable, so there is a limit.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;

use mover_ir::program::Program;
use mover_ir::semantics::{Machine, State};

use mover_check::trace::{Trace, changes, thread_name};

/// There are more states than this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge(pub usize);

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The graph of all states, at most `limit`.
pub fn dot(program: &Program, trace: Option<&Trace>, limit: usize) -> Result<String, TooLarge> {
    let machine = Machine::new(program);
    let initial = machine.initial();
    let mut numbers: HashMap<State, usize> = HashMap::from([(initial.clone(), 0)]);
    let mut queue = VecDeque::from([initial.clone()]);
    let shown = shown_steps(&machine, &initial, trace);
    let mut nodes = String::new();
    let mut edges = String::new();
    while let Some(state) = queue.pop_front() {
        let number = numbers[&state];
        let _ = writeln!(
            nodes,
            "  s{number} [label={}{}];",
            quoted(&label(program, &initial, &state, number)),
            colours(&machine, &state, number)
        );
        for (step, next) in machine.successors(&state) {
            let known = numbers.len();
            let to = match numbers.get(&next) {
                Some(&to) => to,
                None if known == limit => return Err(TooLarge(limit)),
                None => {
                    numbers.insert(next.clone(), known);
                    queue.push_back(next.clone());
                    known
                }
            };
            let is_shown = shown.contains(&(state.clone(), next));
            let text = state.threads[step.by.thread].as_ref().map(|thread| {
                let location = program.template(thread.template).location(thread.location);
                let edge = &location.edges[step.by.edge];
                let line = edge.span.map(|span| program.info.sources.locate(span).line);
                let line = line.map_or(String::new(), |line| format!(" {line}"));
                let text: String = edge.text.chars().take(40).collect();
                let name = thread_name(program, &state, step.by.thread);
                format!("{name}{line}: {text}")
            });
            let _ = writeln!(
                edges,
                "  s{number} -> s{to} [label={}{}];",
                quoted(&text.unwrap_or_default()),
                if is_shown { ", penwidth=3" } else { "" }
            );
        }
    }
    Ok(format!(
        "digraph states {{\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  \
         edge [fontname=\"monospace\", fontsize=9];\n{nodes}{edges}}}\n"
    ))
}

/// The steps of the counterexample, as pairs of states.
fn shown_steps(
    machine: &Machine,
    initial: &State,
    trace: Option<&Trace>,
) -> HashSet<(State, State)> {
    let mut shown = HashSet::new();
    let mut state = initial.clone();
    for told in trace.iter().flat_map(|trace| &trace.steps) {
        let next = machine.apply(&state, told.step);
        shown.insert((state, next.clone()));
        state = next;
    }
    shown
}

fn label(program: &Program, initial: &State, state: &State, number: usize) -> String {
    let mut label = format!("{number}");
    for (thread, alive) in state.threads.iter().enumerate() {
        let Some(alive) = alive else { continue };
        let location = program.template(alive.template).location(alive.location);
        let span = location
            .edges
            .iter()
            .find_map(|edge| edge.span)
            .or(location.span);
        let line = span.map_or(0, |span| program.info.sources.locate(span).line);
        let _ = write!(label, "\n{}: {line}", thread_name(program, state, thread));
    }
    for change in changes(program, initial, state) {
        if !change.to.is_empty() && change.to != "started" && change.to != "ended" {
            let _ = write!(label, "\n{} = {}", change.name, change.to);
        }
    }
    label
}

fn colours(machine: &Machine, state: &State, number: usize) -> &'static str {
    if machine.error(state).is_some() {
        ", style=filled, fillcolor=\"#f4b6b6\", tooltip=\"error\""
    } else if machine.is_deadlock(state) {
        ", style=filled, fillcolor=\"#f8d9a0\", tooltip=\"deadlock\""
    } else if number == 0 {
        ", style=bold, tooltip=\"initial\""
    } else {
        ""
    }
}

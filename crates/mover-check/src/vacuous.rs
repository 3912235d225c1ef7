//! `safe` that says nothing: no run starts a thread.
//!
//! A program that starts threads but is run without the arguments it wants ends before it starts
//! any, typically after its usage text. Then everything holds. The verdict is right, but it is not
//! what the user wanted to know, so it is told. The states before the first thread are few and
//! belong to one thread, so they are inspected on the reference semantics, whatever engine answered.

use std::collections::HashSet;

use mover_ir::program::{Edge, Effect, Program};
use mover_ir::semantics::{Machine, State, Step};

/// States to look at; a program that is still alone after as many is not told anything.
const MOST_STATES: usize = 2_000;

/// Whether the program could start threads and no run does. False where that is not known.
pub fn starts_no_thread(program: &Program) -> bool {
    let starts = |edge: &Edge| {
        let mut effects = edge.effects.iter();
        effects.any(|effect| matches!(effect, Effect::Spawn { .. }))
    };
    let templates = program.templates.iter();
    let mut edges = templates.flat_map(|template| &template.locations);
    if program.initial.len() != 1 || !edges.any(|location| location.edges.iter().any(starts)) {
        return false;
    }
    let machine = Machine::new(program);
    let initial = machine.initial();
    let mut seen: HashSet<State> = HashSet::from([initial.clone()]);
    let mut waiting = vec![initial];
    while let Some(state) = waiting.pop() {
        if machine.bound(&state).is_some() {
            return false;
        }
        for step in machine.undecided_steps(&state) {
            let choices = machine.choices(&state, step).unwrap_or(0);
            if choices >= MOST_STATES as u64 {
                return false;
            }
            for choice in 0..=choices {
                let next = machine.apply(&state, Step { choice, ..step });
                let threads = next.threads.iter().flatten().count();
                if threads > 1 || seen.len() >= MOST_STATES {
                    return false;
                }
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
    }
    true
}

//! Re-checks `safe` on the reference semantics.
//!
//! Engines are fast because they pack states, omit interleavings, fuse steps or solve formulas,
//! and each of these can be wrong. For small programs none of it is needed: this module visits
//! all states of the concrete semantics, one step of one thread at a time, and keeps each state
//! whole in a set of the standard library. It shares only the semantics with the engines, and
//! is simple enough to be reviewed by reading. Beyond a number of states it gives up and says
//! so.

use std::collections::HashSet;

use mover_engine::{Control, Task};
use mover_ir::program::{BoundKind, Program, Property};
use mover_ir::semantics::{Machine, Message, State, Step};

use crate::CheckError;
use crate::answer::Certified;
use crate::words::grouped;

/// What the walk came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recheck {
    /// All states were seen, so many, and none violates anything.
    Holds { states: usize },
    /// Not all states were seen; why.
    NotDone { reason: String },
    /// The verdict is wrong; what is violated.
    Fails { what: String },
}

/// Steps between two checks of the clock.
const LOOK_EVERY: u64 = 256;

/// How much the walk may take.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub states: usize,
    /// About, for the states that are kept.
    pub bytes: usize,
}

/// Maximum number of states of the definition that are walked through.
const MOST_STATES: usize = 200_000;

/// Created threads at a time where a proof is for any number of them.
const CREATED: u32 = 2;

/// Maximum number of bytes that they may take.
const MOST_BYTES: usize = 1 << 30;

/// Adds to a `safe` answer what the walk says of it; fails if it is wrong.
pub fn certify(
    task: &Task,
    certified: &mut Certified,
    control: &Control,
) -> Result<(), CheckError> {
    let most = Most {
        states: MOST_STATES,
        bytes: control.memory.unwrap_or(MOST_BYTES).min(MOST_BYTES),
    };
    let is_over = || control.is_over();
    match recheck(task.program(), task.properties(), most, &is_over) {
        Recheck::Holds { states } => certified.by.push(format!(
            "a search of all {} states of the reference semantics, without reduction, found no violation",
            grouped(states as u64)
        )),
        Recheck::NotDone { reason } => certified.not_by.push(format!(
            "by a search of all states of the reference semantics: {reason}"
        )),
        Recheck::Fails { what } => {
            return Err(CheckError::Internal(format!(
                "the verdict is safe, but in the reference semantics {what}"
            )));
        }
    }
    Ok(())
}

/// The same for a proof for any number of threads, with two created threads at a time.
pub fn certify_any_number(
    task: &Task,
    certified: &mut Certified,
    control: &Control,
) -> Result<(), CheckError> {
    let program = task.program();
    let mut few = Program {
        max_threads: program.initial.len() as u32 + CREATED,
        ..program.clone()
    };
    // The bound on handles is one of the translation and not of the proof.
    let places = few.templates.iter_mut().flat_map(|t| &mut t.locations);
    for place in places {
        place.bound.take_if(|mark| mark.kind == BoundKind::Threads);
    }
    // The other created threads are missing, so those that wait for them wait for ever.
    let mut properties = task.properties().to_vec();
    properties.retain(|&property| property != Property::NoDeadlock);
    let most = Most {
        states: MOST_STATES,
        bytes: control.memory.unwrap_or(MOST_BYTES).min(MOST_BYTES),
    };
    let is_over = || control.is_over();
    let what = format!("by all states of the reference semantics with {CREATED} created threads");
    match recheck(&few, &properties, most, &is_over) {
        Recheck::Holds { states } => certified.by.push(format!(
            "a search of all {} states of the reference semantics with {CREATED} created threads at a \
             time found no violation",
            grouped(states as u64)
        )),
        Recheck::NotDone { reason } => certified.not_by.push(format!("{what}: {reason}")),
        Recheck::Fails { what } => {
            return Err(CheckError::Internal(format!(
                "the verdict is safe for any number of threads, but with {CREATED} of them {what}"
            )));
        }
    }
    Ok(())
}

/// Inspects all states, if there are not too many, for violations of the properties and for bounds
/// that are met, since `safe` says that there is none. `is_over` is asked from time to time.
pub fn recheck(
    program: &Program,
    properties: &[Property],
    limit: Most,
    is_over: &dyn Fn() -> bool,
) -> Recheck {
    let machine = Machine::new(program);
    let mut seen: HashSet<State> = HashSet::new();
    let mut waiting = vec![machine.initial()];
    let (mut bytes, mut steps) = (0, 0u64);
    seen.extend(waiting.iter().cloned());
    while let Some(state) = waiting.pop() {
        if let Some(what) = violated(&machine, &state, properties) {
            return Recheck::Fails { what };
        }
        for step in machine.undecided_steps(&state) {
            let choices = machine.choices(&state, step).unwrap_or(0);
            if choices >= limit.states as u64 {
                let reason = format!("a step has {} choices", grouped(choices.saturating_add(1)));
                return Recheck::NotDone { reason };
            }
            for choice in 0..=choices {
                steps += 1;
                if steps.is_multiple_of(LOOK_EVERY) && is_over() {
                    let reason = "a limit was reached".into();
                    return Recheck::NotDone { reason };
                }
                let next = machine.apply(&state, Step { choice, ..step });
                if seen.contains(&next) {
                    continue;
                }
                if seen.len() >= limit.states {
                    let reason = format!(
                        "there are more than {} states",
                        grouped(limit.states as u64)
                    );
                    return Recheck::NotDone { reason };
                }
                bytes += size_of_state(&next);
                if bytes > limit.bytes {
                    let reason = "the states take too much memory".into();
                    return Recheck::NotDone { reason };
                }
                seen.insert(next.clone());
                waiting.push(next);
            }
        }
    }
    Recheck::Holds { states: seen.len() }
}

fn violated(machine: &Machine, state: &State, properties: &[Property]) -> Option<String> {
    if properties.contains(&Property::NoDataRace) && machine.race(state).is_some() {
        return Some("a data race is reachable".into());
    }
    if let Some((_, mark)) = machine.error(state) {
        let counts =
            mark.property != Property::UnreachCall || properties.contains(&Property::UnreachCall);
        return counts.then(|| mark.message.clone());
    }
    if let Some((_, mark)) = machine.bound(state) {
        return Some(format!("a bound is met: {}", mark.message));
    }
    let is_deadlock = properties.contains(&Property::NoDeadlock) && machine.is_deadlock(state);
    is_deadlock.then(|| "a deadlock is reachable".into())
}

/// About what a state takes twice, in the set and on the stack.
fn size_of_state(state: &State) -> usize {
    let in_channels = |channels: &[Vec<Message>]| -> usize {
        let messages = channels.iter().flatten();
        channels.len() * 24
            + messages
                .map(|message| message.len() * 8 + 24)
                .sum::<usize>()
    };
    let threads = state.threads.iter().flatten();
    let threads: usize = threads
        .map(|thread| thread.locals.len() * 8 + in_channels(&thread.channels) + 96)
        .sum();
    let objects = state.heap.iter().flatten();
    let heap: usize = objects.map(|object| object.cells.len() * 8 + 64).sum();
    2 * (state.globals.len() * 8 + in_channels(&state.channels) + threads + heap + 128)
}

//! Trails that SPIN's verifier wrote, as runs of the program.
//!
//! A line of a trail is `depth:process:statement`; lines with negative numbers are remarks. A line stands for one step of the
//! process, except that SPIN *merges* statements that access only local variables with the one before them, and that
//! a `d_step` is one line: then further steps of the process come before its next line, or after the last line. A
//! rendezvous is two lines, the sender's first. Which further steps are meant is not written, so they are searched for:
//! depth first, what the next line says before anything else.

use std::collections::HashSet;

use mover_engine::Violation;
use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_ir::semantics::{Machine, Move, State, Step};

/// A line of a trail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    process: usize,
    statement: u32,
}

/// Why a trail is not replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrailError {
    #[error("line {0} is not of the form depth:process:statement")]
    Malformed(usize),
    #[error("it is a run that goes on for ever; these are not read")]
    Cycle,
    #[error("step {0} of the trail is not possible")]
    Impossible(usize),
    #[error("the run violates nothing that is asked for")]
    NoViolation,
    #[error("it leaves too many ways open")]
    TooManyWays,
}

/// States that are looked at before the search gives up.
const MOST_STATES: usize = 200_000;

/// Whether a text looks like a trail.
pub fn is_trail(text: &str) -> bool {
    let mut lines = text.lines();
    let is_number = |part: &str| part.trim().parse::<i64>().is_ok();
    lines.next().is_some_and(|line| {
        let parts: Vec<&str> = line.split(':').collect();
        parts.len() == 3 && parts.into_iter().all(is_number)
    })
}

fn lines(text: &str) -> Result<Vec<Line>, TrailError> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parts: Option<Vec<i64>> =
            (line.split(':').map(|part| part.trim().parse().ok())).collect();
        let Some([depth, process, statement]) = parts.as_deref() else {
            return Err(TrailError::Malformed(number + 1));
        };
        match (*depth, usize::try_from(*process), u32::try_from(*statement)) {
            (-1, _, _) => return Err(TrailError::Cycle),
            (0.., Ok(process), Ok(statement)) => lines.push(Line { process, statement }),
            (0.., _, _) => return Err(TrailError::Malformed(number + 1)),
            _ => {}
        }
    }
    Ok(lines)
}

/// A state on the way, and how it was reached.
struct Node {
    state: State,
    /// Lines that are done.
    done: usize,
    by: Option<(usize, Step)>,
}

/// The run of a trail and what it violates; `number` is SPIN's number of the statement of an edge.
pub fn violation(
    program: &Program,
    text: &str,
    number: impl Fn(TemplateId, LocationId, usize) -> Option<u32>,
) -> Result<Violation, TrailError> {
    let lines = lines(text)?;
    let machine = Machine::new(program);
    let is_line = |state: &State, by: Move, line: Option<&Line>| {
        let thread = state.threads.get(by.thread).and_then(Option::as_ref);
        let (Some(thread), Some(line)) = (thread, line) else {
            return false;
        };
        by.thread == line.process
            && number(thread.template, thread.location, by.edge) == Some(line.statement)
    };
    let mut nodes = vec![Node {
        state: machine.initial(),
        done: 0,
        by: None,
    }];
    let mut seen: HashSet<(usize, State)> = HashSet::new();
    let mut open = vec![0];
    let mut furthest = 0;
    while let Some(at) = open.pop() {
        let (state, done) = (nodes[at].state.clone(), nodes[at].done);
        furthest = furthest.max(done);
        if done == lines.len()
            && let Some((property, error)) = violated(&machine, &state)
        {
            let mut steps = Vec::new();
            let mut here = nodes[at].by;
            while let Some((before, step)) = here {
                steps.push(step);
                here = nodes[before].by;
            }
            steps.reverse();
            return Ok(Violation {
                property,
                error,
                steps,
            });
        }
        if !seen.insert((done, state.clone())) {
            continue;
        }
        if nodes.len() > MOST_STATES {
            return Err(TrailError::TooManyWays);
        }
        // After the last line, only the process that moved last goes on.
        let line = lines.get(done);
        let own = line.or(lines.last()).map(|line| line.process);
        let own = state.exclusive.or(own);
        let (mut meant, mut further) = (Vec::new(), Vec::new());
        for step in machine.steps(&state) {
            let partner = step.with.map(|with| (with, lines.get(done + 1)));
            let is_both = partner.is_none_or(|(with, line)| is_line(&state, with, line));
            if is_line(&state, step.by, line) && is_both {
                meant.push((step, done + 1 + usize::from(step.with.is_some())));
            } else if step.with.is_none() && Some(step.by.thread) == own {
                further.push((step, done));
            }
        }
        // The last to be pushed is the first to be tried.
        for (step, done) in further.into_iter().chain(meant) {
            open.push(nodes.len());
            nodes.push(Node {
                state: machine.apply(&state, step),
                done,
                by: Some((at, step)),
            });
        }
    }
    match furthest == lines.len() {
        true => Err(TrailError::NoViolation),
        false => Err(TrailError::Impossible(furthest + 1)),
    }
}

type ErrorPlace = Option<(TemplateId, LocationId)>;

/// What a state violates.
fn violated(machine: &Machine, state: &State) -> Option<(Property, ErrorPlace)> {
    if let Some((thread, mark)) = machine.error(state) {
        let thread = state.threads[thread].as_ref()?;
        return Some((mark.property, Some((thread.template, thread.location))));
    }
    (machine.is_deadlock(state)).then_some((Property::NoDeadlock, None))
}

//! The states of a program according to the concrete semantics.

use std::collections::{HashMap, HashSet, VecDeque};

use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State};

/// What the semantics says of a program.
pub struct Judgement {
    pub stored: usize,
    pub error_depth: Option<u64>,
    pub deadlock: bool,
    pub error: bool,
    /// Whether there is an error that ends the run whatever is asked, such as a wrong access to memory.
    pub fatal_error: bool,
    /// Whether a run meets a bound.
    pub bound: bool,
}

pub const MOST_STATES: usize = 4_000;
pub const MOST_OBJECTS: usize = 20;

/// Explores by the definition; none if the program is too large.
pub fn judge(program: &Program) -> Option<Judgement> {
    let machine = Machine::new(program);
    let mut depth: HashMap<State, u64> = HashMap::new();
    let mut queue = VecDeque::new();
    let initial = machine.initial();
    depth.insert(initial.clone(), 0);
    queue.push_back(initial);
    let mut judgement = Judgement {
        stored: 0,
        error_depth: None,
        deadlock: false,
        error: false,
        fatal_error: false,
        bound: false,
    };
    let mut inner = 0;
    while let Some(state) = queue.pop_front() {
        judgement.stored += 1;
        let level = depth[&state];
        if machine.is_deadlock(&state) {
            judgement.deadlock = true;
            judgement.error_depth.get_or_insert(level);
            judgement.error_depth = judgement.error_depth.min(Some(level));
        }
        // The atomic sequences that start here, walked to their ends.
        let mut passed = HashSet::new();
        let mut chain = vec![state.clone()];
        while let Some(state) = chain.pop() {
            for (_, next) in machine.successors(&state) {
                inner += 1;
                let is_large = depth.len() > MOST_STATES || next.heap.len() > MOST_OBJECTS;
                if inner > 40 * MOST_STATES || is_large {
                    return None;
                }
                if let Some((_, error)) = machine.error(&next) {
                    judgement.error = true;
                    judgement.fatal_error |= error.property != Property::UnreachCall;
                    let here = level + 1;
                    judgement.error_depth =
                        Some(judgement.error_depth.map_or(here, |best| best.min(here)));
                } else if machine.bound(&next).is_some() {
                    judgement.bound = true;
                } else if next.exclusive.is_some() {
                    if passed.insert(next.clone()) {
                        chain.push(next);
                    }
                } else {
                    if !depth.contains_key(&next) {
                        depth.insert(next.clone(), level + 1);
                        queue.push_back(next);
                    }
                }
            }
        }
    }
    Some(judgement)
}

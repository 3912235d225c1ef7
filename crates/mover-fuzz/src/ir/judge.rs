//! The states of a program according to the concrete semantics.

use std::collections::{HashMap, HashSet, VecDeque};

use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State, Step};

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
/// Also of one step's choices: an input of 32 bits that nothing restricts has too many to list.
const MOST_STEPS: u64 = 40 * MOST_STATES as u64;
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
            for step in machine.undecided_steps(&state) {
                let last = machine.choices(&state, step).unwrap_or(0);
                if last > MOST_STEPS {
                    return None;
                }
                for choice in 0..=last {
                    let next = machine.apply(&state, Step { choice, ..step });
                    inner += 1;
                    let is_large = depth.len() > MOST_STATES || next.heap.len() > MOST_OBJECTS;
                    if inner > MOST_STEPS || is_large {
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
                    } else if !depth.contains_key(&next) {
                        depth.insert(next.clone(), level + 1);
                        queue.push_back(next);
                    }
                }
            }
        }
    }
    Some(judgement)
}

#[cfg(test)]
mod tests {
    use mover_ir::builder::ProgramBuilder;
    use mover_ir::expr::Ty;

    use super::*;

    /// An input of 32 bits has more choices than there is memory for.
    #[test]
    fn steps_with_too_many_choices_are_not_listed() {
        let program = |restricted: bool| {
            let mut model = ProgramBuilder::new("input");
            let x = model.global("x", Ty::INT);
            model.main(|t| match restricted {
                true => t.pick(x, 3),
                false => t.havoc(x),
            });
            model.build().expect("a valid program")
        };
        assert!(judge(&program(false)).is_none());
        assert_eq!(judge(&program(true)).map(|it| it.stored), Some(4));
    }
}

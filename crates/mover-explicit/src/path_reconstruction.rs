//! Reconstruction of the steps of a counterexample.
//!
//! A search stores for each state only its predecessor. When a violation is found, the states
//! on the path are known but not the steps between them; these are recomputed, one pair of
//! states at a time.

use std::ops::ControlFlow;

use mover_ir::semantics;
use mover_reduce::Movers;

use crate::blocks::{Blocks, same_state};
use crate::expand::{Event, Expander, Path, Visitor};
use crate::machine::{Machine, Step, Workspace};
use crate::search::unfuse;

/// The steps of the original program through the states, and then `last`.
pub fn steps_through(
    machine: &Machine,
    movers: Option<&Movers>,
    go_on: bool,
    states: &[Vec<u64>],
    last: &[Step],
) -> Vec<semantics::Step> {
    let mut expander = Expander::new(machine, go_on);
    let mut blocks = movers.map(|_| Blocks::new(machine, None, false));
    let mut work = Workspace::default();
    let mut steps = Vec::new();
    for pair in states.windows(2) {
        let by_one_thread = match &mut blocks {
            Some(blocks) => blocks.find_way(&pair[0], &pair[1]),
            None => None,
        };
        let way = match by_one_thread {
            Some(way) => way,
            // Without blocks, and for a step that waits for `timeout`.
            None => {
                let mut finder = Finder {
                    wanted: &pair[1],
                    steps: Vec::new(),
                };
                expander.work.lanes.clone_from(&pair[0]);
                expander.expand(&mut finder);
                finder.steps
            }
        };
        work.lanes.clone_from(&pair[0]);
        translate(machine, movers, &mut work, &way, &mut steps);
    }
    if let Some(end) = states.last() {
        work.lanes.clone_from(end);
        translate(machine, movers, &mut work, last, &mut steps);
    }
    steps
}

fn translate(
    machine: &Machine,
    movers: Option<&Movers>,
    work: &mut Workspace,
    steps: &[Step],
    translated: &mut Vec<semantics::Step>,
) {
    for &step in steps {
        let original = machine.original_step(&work.lanes, step);
        match movers {
            Some(movers) => {
                let here = machine.location_of(&work.lanes, original.by.thread);
                translated.extend(unfuse(movers, here, original));
            }
            None => translated.push(original),
        }
        machine.apply(work, step);
    }
}

/// Searches for the steps that lead to one particular state.
struct Finder<'a> {
    wanted: &'a [u64],
    steps: Vec<Step>,
}

impl Visitor for Finder<'_> {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        match event {
            Event::Successor if same_state(&work.lanes, self.wanted) => {
                self.steps = path.steps().collect();
                ControlFlow::Break(())
            }
            Event::Successor | Event::RunEnd(_) => ControlFlow::Continue(()),
        }
    }

    fn tick(&mut self, _bytes: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

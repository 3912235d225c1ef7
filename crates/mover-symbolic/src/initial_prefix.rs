//! The initial states of a proof by induction.
//!
//! As long as only one thread can run there is nothing to interleave: what a C program does
//! before its threads run can be executed once, in advance. The search for an invariant then
//! begins in the states in which this prefix ends, a few if the thread makes choices. An
//! invariant need not describe the prefix, and the locations of the prefix are omitted from the
//! formula.

use mover_ir::program::{Effect, LocationId};
use mover_ir::semantics::Step;
use rustc_hash::FxHashSet;

use crate::blast::Blaster;
use crate::blocks::{Blocks, Inputs};
use crate::outcome::Question;
use crate::sat::{Answer, Solver};
use crate::term::{Evaluation, Term, Terms, Var};

/// A state from which a search begins, and how a run gets there.
#[derive(Clone)]
pub struct Start {
    pub state: Vec<u64>,
    pub steps: Vec<Step>,
}

/// More states to begin with are not better than one.
const MOST_STARTS: usize = 16;
/// Blocks that are run in advance, at most.
const MOST_BLOCKS: usize = 256;

/// The states in which more than one thread can move for the first time; the initial state
/// alone if these are too many or too far away. No state on the way is bad.
pub fn starts(blocks: &Blocks, question: &Question) -> Vec<Start> {
    let initial = Start {
        state: blocks.layout.initial(),
        steps: Vec::new(),
    };
    let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
    seen.insert(initial.state.clone());
    let mut found = Vec::new();
    let mut open = vec![initial.clone()];
    for _ in 0..MOST_BLOCKS {
        let Some(start) = open.pop() else {
            // A thread that runs alone for ever has no such state.
            return if found.is_empty() {
                vec![initial]
            } else {
                found
            };
        };
        match successors(blocks, question, &start) {
            Some(next) if !next.is_empty() => {
                for start in next {
                    if seen.insert(start.state.clone()) {
                        open.push(start);
                    }
                }
            }
            _ => found.push(start),
        }
        if found.len() + open.len() > MOST_STARTS {
            return vec![initial];
        }
    }
    vec![initial]
}

/// All that can follow a state in which one thread can move; nothing if others can, too.
fn successors(blocks: &Blocks, question: &Question, from: &Start) -> Option<Vec<Start>> {
    let mut terms = Terms::new();
    let widths = &blocks.layout.widths;
    let state: Vec<Term> = from
        .state
        .iter()
        .zip(widths)
        .map(|(&value, &width)| terms.constant(value, width))
        .collect();
    let bad = crate::bad(blocks, question, &mut terms, &state);
    let beyond = blocks.beyond(&mut terms, &state);
    if bad != Terms::FALSE || beyond != Terms::FALSE {
        return None;
    }
    let mut inputs = Inputs::new("");
    let block = blocks.block(&mut terms, &state, &mut inputs);
    if block.is_cut || block.possible == Terms::FALSE {
        return None;
    }
    let mut blaster = Blaster::new(Solver::new(question.limit.clone()));
    blaster.assert(&terms, block.possible);
    let mut next: Vec<Start> = Vec::new();
    loop {
        match blaster.check(&terms, &[]) {
            Answer::Sat => {}
            Answer::Unsat => return Some(next),
            Answer::Stopped => return None,
        }
        if next.len() >= MOST_STARTS {
            return None;
        }
        let values = blaster.assignment(&terms, inputs.all.iter().copied());
        let value = |var: Var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&terms, &value);
        let who = evaluation.eval(block.who);
        let after: Vec<u64> = block
            .next
            .iter()
            .map(|&cell| evaluation.eval(cell))
            .collect();
        let mut steps = from.steps.clone();
        steps.extend(blocks.steps(&block, &mut evaluation));
        if next.is_empty() {
            let same = terms.equals(block.who, who);
            let other = terms.not(same);
            if blaster.check(&terms, &[other]) != Answer::Unsat {
                return None;
            }
        }
        let mut differs = Vec::new();
        for (&cell, &value) in block.next.iter().zip(&after) {
            let same = terms.equals(cell, value);
            differs.push(terms.not(same));
        }
        let differs = terms.any(differs);
        next.push(Start {
            state: after,
            steps,
        });
        if differs == Terms::FALSE {
            return Some(next);
        }
        blaster.assert(&terms, differs);
    }
}

/// The locations, by slot and number, that threads can reach from these states.
pub fn places(blocks: &Blocks, starts: &[Start]) -> FxHashSet<(usize, u64)> {
    let layout = &blocks.layout;
    let program = layout.program;
    let mut found: FxHashSet<(usize, u64)> = FxHashSet::default();
    let mut work: Vec<(usize, u64)> = Vec::new();
    for start in starts {
        for (slot, cells) in layout.slots.iter().enumerate() {
            work.push((slot, start.state[cells.place]));
        }
    }
    while let Some((slot, place)) = work.pop() {
        if !found.insert((slot, place)) {
            continue;
        }
        let Some((template, location)) = layout.standing(slot, place) else {
            continue;
        };
        for edge in &program.template(template).location(location).edges {
            let mut reach = |slot: usize, template: usize, location: LocationId| {
                work.extend(
                    layout
                        .place_value(slot, template, location)
                        .map(|place| (slot, place)),
                );
            };
            reach(slot, template.index(), edge.target);
            for effect in &edge.effects {
                if let Effect::Spawn { template, .. } = effect {
                    let entry = program.template(*template).entry;
                    for other in 0..layout.slots.len() {
                        reach(other, template.index(), entry);
                    }
                }
            }
        }
    }
    found
}

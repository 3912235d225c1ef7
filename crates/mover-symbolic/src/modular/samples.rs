//! Views of states that can be reached.
//!
//! Random runs of the concrete semantics, with as many created threads as the formula has. A
//! candidate for the invariant that fails in one of their views is none, and finding that out here
//! is much cheaper than by the solver.

use mover_engine::Control;
use mover_ir::program::Program;
use mover_ir::semantics::Machine;

use super::trial::Random;
use super::views::Views;
use crate::term::Evaluation;

const WALKS: usize = 24;
const STEPS: usize = 120;

/// The values of the observables in each view met.
pub fn samples(views: &mut Views, limit: &Control) -> Vec<Vec<bool>> {
    let seatings = views.seatings(views.created());
    let observed: Vec<_> = seatings.iter().map(|s| views.observe(false, s)).collect();
    let layout = &views.blocks.layout;
    let program = Program {
        max_threads: layout.slots.len() as u32,
        ..layout.program.clone()
    };
    let machine = Machine::new(&program);
    let mut random = Random::new();
    let mut found = Vec::new();
    let cells = views.changed_cells().to_vec();
    let forgotten = layout.slots.len() as u64 + 1;
    for _ in 0..WALKS {
        let mut state = machine.initial();
        let mut last = layout.encode(&state);
        let mut changers = vec![0; cells.len()];
        for _ in 0..STEPS {
            if limit.is_over() {
                return found;
            }
            let steps = machine.undecided_steps(&state);
            if steps.is_empty() || machine.bound(&state).is_some() {
                break;
            }
            let mut step = steps[random.below(steps.len() as u64) as usize];
            step.choice = random.choice(machine.choices(&state, step).unwrap_or(0));
            state = machine.apply(&state, step);
            // Inside of an atomic sequence there is nothing to see.
            if state.exclusive.is_some() {
                continue;
            }
            let here = layout.encode(&state);
            for (changer, &cell) in changers.iter_mut().zip(&cells) {
                if here[cell] != last[cell] {
                    *changer = step.by.thread as u64 + 1;
                }
                let gone = *changer > 0
                    && *changer < forgotten
                    && here[layout.slots[*changer as usize - 1].place] == 0;
                if gone && *changer as usize > views.created().start {
                    *changer = forgotten;
                }
            }
            let values = views.values(&here, &changers);
            let at = |var| values.get(&var).copied().unwrap_or(0);
            let mut evaluation = Evaluation::new(&views.terms, &at);
            for of_view in &observed {
                let bits = of_view
                    .iter()
                    .map(|&(term, bit)| evaluation.eval(term) >> bit & 1 == 1);
                found.push(bits.collect());
            }
            last = here;
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

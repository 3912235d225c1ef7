//! The steps of each event in the run that a solver found.

use std::collections::BTreeMap;

use mover_ir::semantics::{Move, Step};

use crate::term::Evaluation;
use crate::token::unroll::Unrolled;

/// By template, location and edge of the program with fused steps: the steps that it was made of.
pub type MadeOf = Vec<Vec<Vec<Vec<mover_reduce::transform::fuse::Part>>>>;

pub struct Words {
    /// Steps of threads before their first events.
    pub before: Vec<Step>,
    /// By thread: the steps of each of its events that take place, by number of the event.
    pub of_events: Vec<BTreeMap<usize, Vec<Step>>>,
}

/// Reads the steps of the program off an assignment.
pub fn words(unrolled: &Unrolled, evaluation: &mut Evaluation, made_of: &MadeOf) -> Words {
    let mut before: Vec<Step> = Vec::new();
    let mut of_events: Vec<BTreeMap<usize, Vec<Step>>> = Vec::new();
    for thread in &unrolled.threads {
        let mut of_thread: BTreeMap<usize, Vec<Step>> = BTreeMap::new();
        let mut event = 0;
        let mut last = None;
        for node in &thread.nodes {
            if node.is_event {
                if evaluation.holds(node.reach) {
                    last = Some(event);
                    of_thread.insert(event, Vec::new());
                }
                event += 1;
            }
            for take in &node.takes {
                let Some(edge) = take.edge else { continue };
                if !evaluation.holds(take.condition) {
                    continue;
                }
                let choice = take.choice.map_or(0, |choice| evaluation.eval(choice));
                let parts = &made_of[edge.template][edge.location][edge.edge];
                let steps = parts.iter().map(|part| Step {
                    by: Move {
                        thread: thread.slot,
                        edge: part.edge,
                    },
                    with: None,
                    choice: if part.chooses { choice } else { 0 },
                });
                // Before its first event a thread needs no other.
                match last.and_then(|last| of_thread.get_mut(&last)) {
                    Some(word) => word.extend(steps),
                    None => before.extend(steps),
                }
            }
        }
        of_events.push(of_thread);
    }
    Words { before, of_events }
}

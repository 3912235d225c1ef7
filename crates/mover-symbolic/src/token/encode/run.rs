//! The run that a solver found: the steps of each thread, combined along the path of the token.

use std::collections::BTreeMap;

use mover_ir::semantics::{Move, Step};

use super::Encoding;
use crate::blast::Blaster;
use crate::term::{Evaluation, Terms};
use crate::token::pairs::Id;

type MadeOf = Vec<Vec<Vec<Vec<mover_reduce::transform::fuse::Part>>>>;

impl Encoding<'_, '_> {
    /// The steps of the run that the solver found, as far as they are the program's.
    pub fn steps(&self, terms: &Terms, blaster: &Blaster, made_of: &MadeOf) -> Vec<Step> {
        let values = blaster.assignment(terms, self.inputs.iter().copied());
        let value = |var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(terms, &value);
        let mut before: Vec<Step> = Vec::new();
        // By thread: the steps of each of its events.
        let mut words: Vec<BTreeMap<usize, Vec<Step>>> = Vec::new();
        for thread in &self.unrolled.threads {
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
                    // Before its first event a thread does not need the token.
                    match last.and_then(|last| of_thread.get_mut(&last)) {
                        Some(word) => word.extend(steps),
                        None => before.extend(steps),
                    }
                }
            }
            words.push(of_thread);
        }
        // The way of the token.
        let mut steps = before;
        let mut thread = (0..words.len()).find(|&thread| evaluation.holds(self.starts[thread]));
        let passed = |from: Id| {
            let to_all = self.passes.range((from, Id::FIRST)..=(from, Id::LAST));
            let mut taken = to_all.filter(|(_, lit)| blaster.solver.value(**lit));
            taken.next().map(|(&(_, to), _)| to)
        };
        while let Some(number) = thread {
            thread = None;
            while let Some((event, word)) = words[number].pop_first() {
                steps.extend(word);
                let from = Id {
                    thread: number,
                    event,
                };
                if evaluation.holds(self.passings[number][event].gives) {
                    thread = passed(from).map(|to| to.thread);
                    break;
                }
            }
        }
        steps
    }
}

//! The run that a solver found: the steps of each thread, combined along the path of the token.

use mover_ir::semantics::Step;

use super::Encoding;
use crate::blast::Blaster;
use crate::term::{Evaluation, Terms};
use crate::token::pairs::Id;
use crate::token::words::{MadeOf, Words, words};

impl Encoding<'_, '_> {
    /// The steps of the run that the solver found, as far as they are the program's.
    pub fn steps(&self, terms: &Terms, blaster: &Blaster, made_of: &MadeOf) -> Vec<Step> {
        let values = blaster.assignment(terms, self.inputs.iter().copied());
        let value = |var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(terms, &value);
        let Words {
            before,
            mut of_events,
        } = words(&self.unrolled, &mut evaluation, made_of);
        // The way of the token.
        let mut steps = before;
        let mut thread = (0..of_events.len()).find(|&thread| evaluation.holds(self.starts[thread]));
        let passed = |from: Id| {
            let to_all = self.passes.range((from, Id::FIRST)..=(from, Id::LAST));
            let mut taken = to_all.filter(|(_, lit)| blaster.solver.value(**lit));
            taken.next().map(|(&(_, to), _)| to)
        };
        while let Some(number) = thread {
            thread = None;
            while let Some((event, word)) = of_events[number].pop_first() {
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

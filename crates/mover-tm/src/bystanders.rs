//! The effect of additional threads and variables that no statement uses.
//!
//! The proof of Theorem 1 (Section 4) reduces a wrong word of many threads and variables to one
//! with two of each, and then treats it as a word of the memory *for* two of each. The paper
//! takes that step for granted, because a memory is one set of words there. An algorithm
//! differs for every number of threads, and it can observe that number: by a quantifier
//! (`exists u != t : status(u) = finished`), and by steps that are not statements of the word.
//! A third thread that acquires a lock with `do pending` and makes no statement can enable
//! steps of the other two that are not possible without it.
//!
//! So that step is checked, for one more thread and one more variable: every run of the larger
//! algorithm whose word contains only the first few threads and variables must have a word of
//! the smaller one. Words with aborts do not count: P1 has removed all aborts from the word
//! before this step of the proof, and there would be too many of them, since a lock held by a
//! third thread is sufficient reason for an abort that would not occur with two threads alone.

use mover_source::diagnostic::Diagnostic;

use crate::algorithm::{Algorithm, Successors};
use crate::automaton::Automaton;
use crate::store::StateStore;
use crate::word::{Action, Statement, Word, symbol_of};

/// What the larger algorithm has.
#[derive(Debug)]
pub enum Surplus {
    Nothing,
    /// A word that the smaller one does not have.
    Word(Word),
    /// More pairs of states than allowed.
    TooLarge,
    /// The larger algorithm is in error.
    Error(Box<Diagnostic>),
}

/// Whether `larger` has a word without aborts of the threads and variables of
/// `smaller` that `smaller` does not have.
pub fn surplus(larger: &Algorithm<'_>, smaller: &Automaton, max_pairs: usize) -> Surplus {
    let size = larger.layout.size();
    let pair = |state: &[u8], reached: u32| [state, &reached.to_le_bytes()[..]].concat();
    let mut pairs = StateStore::new(size + size_of::<u32>());
    pairs.insert(&pair(&larger.initial(), 0));
    let mut came_from: Vec<(u32, Option<Statement>)> = vec![(0, None)];
    let mut successors = Successors::default();
    let mut at = 0;
    while (at as usize) < pairs.len() {
        if pairs.len() > max_pairs {
            return Surplus::TooLarge;
        }
        let (state, reached) = pairs.get(at).split_at(size);
        let reached = u32::from_le_bytes(std::array::from_fn(|byte| reached[byte]));
        if let Err(error) = larger.successors(state, &mut successors) {
            return Surplus::Error(Box::new(error));
        }
        for (transition, target) in successors.iter(size) {
            let reached = match transition.statement {
                None => reached,
                Some(statement) if !is_of(statement, smaller) => continue,
                Some(statement) => {
                    match smaller.step(reached, symbol_of(statement, smaller.variables)) {
                        Some(next) => next,
                        None => return Surplus::Word(word_to(&came_from, at, statement)),
                    }
                }
            };
            if pairs.insert(&pair(target, reached)).1 {
                came_from.push((at, transition.statement));
            }
        }
        at += 1;
    }
    Surplus::Nothing
}

/// Whether a statement is no abort and one of an automaton's threads and variables.
fn is_of(statement: Statement, automaton: &Automaton) -> bool {
    let known = match statement.action {
        Action::Read(v) | Action::Write(v) => usize::from(v) < automaton.variables,
        Action::Commit => true,
        Action::Abort | Action::Extra(_) => false,
    };
    known && usize::from(statement.thread) < automaton.threads
}

fn word_to(came_from: &[(u32, Option<Statement>)], mut at: u32, last: Statement) -> Word {
    let mut word = vec![last];
    while at != 0 {
        let (before, statement) = came_from[at as usize];
        word.extend(statement);
        at = before;
    }
    word.reverse();
    word
}

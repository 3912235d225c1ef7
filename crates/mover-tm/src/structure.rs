//! The structural conditions P1–P3, checked on the language of an algorithm.
//!
//! Theorem 1 carries a verdict for two threads and two variables over to all
//! numbers, provided that the memory's words are closed under four operations
//! (Section 4). Each operation, applied to a regular language, is decided by
//! running the least automaton of the algorithm beside itself: one copy reads
//! the given word, the other the word that the operation makes of it, and if
//! the second gets stuck the condition fails, with both words as a witness.
//! That is exact for the numbers of threads and variables checked, and a
//! check, not a proof, for all others; the verdict says so.
//!
//! P1, P2 and P3 are taken as printed. P4 is in [`crate::monotonicity`]: its
//! operation reorders whole words, which no finite automaton can follow. For
//! opacity it is also where the print has to be mended. P5 and P6 speak of
//! infinite words; see [`crate::check`] for what is done.
//!
//! What the paper takes for granted besides is in [`crate::bystanders`].

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::automaton::Automaton;
use crate::word::{Action, Statement, Word, symbol_of};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    TransactionProjection,
    ThreadSymmetry,
    VariableProjection,
}

impl Condition {
    pub const ALL: [Condition; 3] = [
        Condition::TransactionProjection,
        Condition::ThreadSymmetry,
        Condition::VariableProjection,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Condition::TransactionProjection => "P1",
            Condition::ThreadSymmetry => "P2",
            Condition::VariableProjection => "P3",
        }
    }
}

/// A word of the language and what an operation makes of it, which is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub word: Word,
    pub image: Word,
}

/// None if the condition holds for the automaton's threads and variables.
pub fn refute(automaton: &Automaton, condition: Condition) -> Option<Witness> {
    match condition {
        Condition::TransactionProjection => refute_by(automaton, &drop_unfinished),
        Condition::ThreadSymmetry if automaton.threads < 2 => None,
        Condition::ThreadSymmetry => refute_by(automaton, &merge_two_threads),
        Condition::VariableProjection => (0..automaton.variables as u8)
            .find_map(|kept| refute_by(automaton, &|memory, s| keep_variables(memory, s, kept))),
    }
}

/// What an operation remembers of the word: a few bits for each thread.
type Memory = u32;

/// The ways to treat the next statement: new memory and what is put out. An
/// empty list means that the operation does not apply to such a word.
type Operation<'o> = dyn Fn(Memory, Statement) -> Vec<(Memory, Option<Statement>)> + 'o;

const IDLE: Memory = 0;
const KEPT: Memory = 1;
const DROPPED: Memory = 2;

fn fate(memory: Memory, thread: u8) -> Memory {
    memory >> (2 * thread) & 3
}

fn with_fate(memory: Memory, thread: u8, fate: Memory) -> Memory {
    memory & !(3 << (2 * thread)) | fate << (2 * thread)
}

/// P1: keeps the committing transactions and any of the unfinished ones.
fn drop_unfinished(memory: Memory, s: Statement) -> Vec<(Memory, Option<Statement>)> {
    let choices: &[Memory] = match fate(memory, s.thread) {
        IDLE => &[KEPT, DROPPED],
        KEPT => &[KEPT],
        _ => &[DROPPED],
    };
    let mut ways = Vec::new();
    for &choice in choices {
        let after = if s.action.is_finishing() {
            IDLE
        } else {
            choice
        };
        let allowed = match s.action {
            Action::Commit => choice == KEPT,
            Action::Abort => choice == DROPPED,
            Action::Read(_) | Action::Write(_) | Action::Extra(_) => true,
        };
        if allowed {
            let out = (choice == KEPT).then_some(s);
            ways.push((with_fate(memory, s.thread, after), out));
        }
    }
    ways
}

/// P2: gives the transactions of the second thread to the first, where no two
/// of theirs overlap; for words without aborts.
fn merge_two_threads(memory: Memory, s: Statement) -> Vec<(Memory, Option<Statement>)> {
    if s.action == Action::Abort {
        return Vec::new();
    }
    if s.thread > 1 {
        return vec![(memory, Some(s))];
    }
    // The memory is 1 more than the thread whose transaction is in progress.
    let own = Memory::from(s.thread) + 1;
    if memory != 0 && memory != own {
        return Vec::new();
    }
    let after = if s.action == Action::Commit { 0 } else { own };
    vec![(after, Some(Statement::new(s.action, 0)))]
}

/// P3: drops the accesses of all variables but the first few; for words
/// without aborts.
fn keep_variables(memory: Memory, s: Statement, kept: u8) -> Vec<(Memory, Option<Statement>)> {
    match s.action {
        Action::Abort => Vec::new(),
        Action::Read(v) | Action::Write(v) if v >= kept => vec![(memory, None)],
        _ => vec![(memory, Some(s))],
    }
}

fn refute_by(automaton: &Automaton, operation: &Operation<'_>) -> Option<Witness> {
    type Place = (u32, Memory, u32);
    let start: Place = (0, 0, 0);
    let mut came_from: HashMap<Place, (Place, Statement, Option<Statement>), FxBuildHasher> =
        HashMap::default();
    let mut queue = VecDeque::from([start]);
    while let Some(place) = queue.pop_front() {
        let (given, memory, made) = place;
        for (symbol, &statement) in automaton.statements.iter().enumerate() {
            let Some(given) = automaton.step(given, symbol) else {
                continue;
            };
            for (memory, out) in operation(memory, statement) {
                let made = match out {
                    None => made,
                    Some(out) => {
                        let symbol = symbol_of(out, automaton.variables);
                        match automaton.step(made, symbol) {
                            Some(made) => made,
                            None => {
                                let mut steps = vec![(statement, Some(out))];
                                let mut at = place;
                                while let Some(&(previous, s, o)) = came_from.get(&at) {
                                    steps.push((s, o));
                                    at = previous;
                                }
                                steps.reverse();
                                return Some(Witness {
                                    word: steps.iter().map(|(s, _)| *s).collect(),
                                    image: steps.iter().filter_map(|(_, o)| *o).collect(),
                                });
                            }
                        }
                    }
                };
                let next = (given, memory, made);
                if next != start && !came_from.contains_key(&next) {
                    came_from.insert(next, (place, statement, out));
                    queue.push_back(next);
                }
            }
        }
    }
    None
}

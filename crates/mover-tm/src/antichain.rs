//! Language inclusion in a nondeterministic automaton, by antichains.
//!
//! To see whether every word of a deterministic automaton is one of a
//! nondeterministic automaton, run both: the second in all its states at once.
//! Of two sets reached with the same state of the first, the larger can be
//! dropped: if the larger gets stuck, so does the smaller. What is kept for a
//! state are sets none of which contains another, an antichain (De Wulf, Doyen,
//! Henzinger, Raskin, CAV 2006, the algorithm behind the tool that the paper
//! uses in Section 5.3). All states accept, so stuck means that the set is
//! empty.

use std::collections::VecDeque;

use crate::automaton::Automaton;
use crate::spec_nondet::NondeterministicSpec;
use crate::store::StateStore;
use crate::word::{Statement, Word, alphabet};

/// A nondeterministic specification, explored: targets by state and statement,
/// before serializing, and what each state can become by serializing.
pub struct Explored {
    pub statements: Vec<Statement>,
    targets: Vec<Option<u32>>,
    closure: Vec<Box<[u32]>>,
}

impl Explored {
    /// None if there are more states than allowed.
    pub fn new(
        spec: &NondeterministicSpec,
        (threads, variables): (usize, usize),
        max_states: usize,
    ) -> Option<Explored> {
        let statements = alphabet(threads, variables);
        let mut states = StateStore::new(spec.state_size());
        states.insert(&vec![0; spec.state_size()]);
        let mut targets = Vec::new();
        let mut silent: Vec<Vec<u32>> = Vec::new();
        let mut at = 0;
        while at < states.len() {
            let state = states.get(at as u32).to_vec();
            for &statement in &statements {
                let mut next = state.clone();
                let moved = spec.step(&mut next, statement);
                targets.push(moved.then(|| states.insert(&next).0));
            }
            let mut steps = Vec::new();
            for thread in 0..threads {
                let mut next = state.clone();
                if spec.serialize(&mut next, thread) {
                    steps.push(states.insert(&next).0);
                }
            }
            silent.push(steps);
            if states.len() > max_states {
                return None;
            }
            at += 1;
        }
        let closure = (0..silent.len() as u32)
            .map(|state| {
                let mut found = vec![state];
                let mut at = 0;
                while at < found.len() {
                    for &next in &silent[found[at] as usize] {
                        if !found.contains(&next) {
                            found.push(next);
                        }
                    }
                    at += 1;
                }
                found.into_boxed_slice()
            })
            .collect();
        Some(Explored {
            statements,
            targets,
            closure,
        })
    }

    pub fn len(&self) -> usize {
        self.closure.len()
    }

    pub fn is_empty(&self) -> bool {
        self.closure.is_empty()
    }

    fn target(&self, state: u32, symbol: usize) -> Option<u32> {
        self.targets[state as usize * self.statements.len() + symbol]
    }

    /// All states reachable from a set by a statement and serializations.
    fn after(&self, set: &[u32], symbol: usize) -> Vec<u32> {
        let mut next: Vec<u32> = set
            .iter()
            .filter_map(|&state| self.target(state, symbol))
            .flat_map(|state| self.closure[state as usize].iter().copied())
            .collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// A word that this accepts and the automaton does not.
    pub fn word_not_in(&self, automaton: &Automaton) -> Option<Word> {
        let mut queue: VecDeque<(u32, u32, usize)> = VecDeque::new();
        let mut seen = std::collections::HashSet::new();
        let mut steps: Vec<(usize, Statement)> = Vec::new();
        const ROOT: usize = usize::MAX;
        for &state in &self.closure[0] {
            seen.insert((state, 0));
            queue.push_back((state, 0, ROOT));
        }
        while let Some((state, other, came)) = queue.pop_front() {
            for (symbol, &statement) in self.statements.iter().enumerate() {
                let Some(next) = self.target(state, symbol) else {
                    continue;
                };
                steps.push((came, statement));
                let step = steps.len() - 1;
                let Some(other) = automaton.step(other, symbol) else {
                    return Some(trace(&steps, step));
                };
                for &next in &self.closure[next as usize] {
                    if seen.insert((next, other)) {
                        queue.push_back((next, other, step));
                    }
                }
            }
        }
        None
    }

    /// A word that the automaton accepts and this does not.
    pub fn word_missing_from(&self, automaton: &Automaton) -> Option<Word> {
        struct Pair {
            state: u32,
            set: Vec<u32>,
            step: usize,
            covered: bool,
        }
        const ROOT: usize = usize::MAX;
        let mut pairs: Vec<Pair> = Vec::new();
        let mut smallest: Vec<Vec<usize>> = vec![Vec::new(); automaton.len()];
        let mut steps: Vec<(usize, Statement)> = Vec::new();
        let mut set = self.closure[0].to_vec();
        set.sort_unstable();
        pairs.push(Pair {
            state: 0,
            set,
            step: ROOT,
            covered: false,
        });
        smallest[0].push(0);
        let mut at = 0;
        while at < pairs.len() {
            if pairs[at].covered {
                at += 1;
                continue;
            }
            for (symbol, &statement) in self.statements.iter().enumerate() {
                let Some(state) = automaton.step(pairs[at].state, symbol) else {
                    continue;
                };
                let set = self.after(&pairs[at].set, symbol);
                steps.push((pairs[at].step, statement));
                let step = steps.len() - 1;
                if set.is_empty() {
                    return Some(trace(&steps, step));
                }
                let rivals = &mut smallest[state as usize];
                if rivals
                    .iter()
                    .any(|&rival| is_subset(&pairs[rival].set, &set))
                {
                    continue;
                }
                rivals.retain(|&rival| {
                    let loses = is_subset(&set, &pairs[rival].set);
                    pairs[rival].covered |= loses;
                    !loses
                });
                rivals.push(pairs.len());
                pairs.push(Pair {
                    state,
                    set,
                    step,
                    covered: false,
                });
            }
            pairs[at].set.shrink_to_fit();
            at += 1;
        }
        None
    }
}

fn trace(steps: &[(usize, Statement)], last: usize) -> Word {
    let mut word = Vec::new();
    let mut at = last;
    while let Some(&(previous, statement)) = steps.get(at) {
        word.push(statement);
        at = previous;
    }
    word.reverse();
    word
}

/// Both sorted.
fn is_subset(small: &[u32], large: &[u32]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut rest = large.iter();
    small
        .iter()
        .all(|member| rest.by_ref().find(|&other| other >= member) == Some(member))
}

/// A word on which two deterministic automata differ.
pub fn difference(left: &Automaton, right: &Automaton) -> Option<Word> {
    word_lost(left, right, |_| true).or_else(|| word_lost(right, left, |_| true))
}

/// A word of the first automaton that is not one of the second, among the words
/// made of the wanted statements.
pub fn word_lost(
    from: &Automaton,
    to: &Automaton,
    wanted: impl Fn(Statement) -> bool,
) -> Option<Word> {
    let mut seen = std::collections::HashSet::from([(0, 0)]);
    let mut queue = VecDeque::from([(0, 0, usize::MAX)]);
    let mut steps: Vec<(usize, Statement)> = Vec::new();
    while let Some((a, b, came)) = queue.pop_front() {
        for (symbol, &statement) in from.statements.iter().enumerate() {
            let Some(a) = from.step(a, symbol).filter(|_| wanted(statement)) else {
                continue;
            };
            steps.push((came, statement));
            let Some(b) = to.step(b, symbol) else {
                return Some(trace(&steps, steps.len() - 1));
            };
            if seen.insert((a, b)) {
                queue.push_back((a, b, steps.len() - 1));
            }
        }
    }
    None
}

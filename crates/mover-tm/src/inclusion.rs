//! Safety: is the language of an algorithm included in a specification?
//!
//! The specification is deterministic and all its states accept, so inclusion
//! is reachability in the product (Section 5.4): a pair is a state of the
//! algorithm and the state of the specification after the word so far. The
//! search goes by the length of the word (steps that add nothing to it cost
//! nothing), so the first refusal found is a shortest counterexample.
//!
//! The specification is built as far as it is met, its transitions and
//! renamings remembered in tables, so a step of the product is two look-ups.
//! Under symmetry reduction the algorithm's state is kept least; among the
//! renamings that leave it alone the one that gives the least number to the
//! specification's state is taken.
//!
//! A counterexample is replayed on the algorithm without reduction before it is
//! returned.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::algorithm::{Algorithm, Successors, Transition};
use crate::graph::AlgorithmGraph;
use crate::layout::Renaming;
use crate::monitor::Specification;
use crate::store::StateStore;
use crate::word::{Statement, Word, alphabet, symbol_of};

const UNKNOWN: u32 = u32::MAX;
const REFUSED: u32 = u32::MAX - 1;

/// A specification, built as far as it is met.
pub struct SpecificationTable<'s> {
    specification: &'s dyn Specification,
    states: StateStore,
    variables: usize,
    symbols: usize,
    steps: Vec<u32>,
    renamed: Vec<u32>,
    renamings: usize,
    buffer: Vec<u8>,
}

impl<'s> SpecificationTable<'s> {
    pub fn new(specification: &'s dyn Specification, renamings: usize) -> Self {
        let layout = specification.layout();
        let mut table = SpecificationTable {
            specification,
            states: StateStore::new(layout.size()),
            variables: layout.variables,
            symbols: alphabet(layout.threads, layout.variables).len(),
            steps: Vec::new(),
            renamed: Vec::new(),
            renamings,
            buffer: Vec::new(),
        };
        table.intern(&specification.initial());
        table
    }

    fn intern(&mut self, state: &[u8]) -> u32 {
        let (id, new) = self.states.insert(state);
        if new {
            self.steps.resize(self.states.len() * self.symbols, UNKNOWN);
            self.renamed
                .resize(self.states.len() * self.renamings, UNKNOWN);
        }
        id
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The state after a statement; none if it is refused.
    pub fn step(&mut self, state: u32, statement: Statement) -> Option<u32> {
        let at = state as usize * self.symbols + symbol_of(statement, self.variables);
        if self.steps[at] == UNKNOWN {
            let mut next = std::mem::take(&mut self.buffer);
            next.clear();
            next.extend_from_slice(self.states.get(state));
            let target = if self.specification.step(&mut next, statement) {
                self.intern(&next)
            } else {
                REFUSED
            };
            self.steps[at] = target;
            self.buffer = next;
        }
        Some(self.steps[at]).filter(|&target| target != REFUSED)
    }

    fn rename(&mut self, state: u32, index: u16, renamings: &[Renaming]) -> u32 {
        if index == 0 {
            return state;
        }
        let at = state as usize * self.renamings + index as usize;
        if self.renamed[at] == UNKNOWN {
            let mut target = vec![0; self.specification.layout().size()];
            self.specification.layout().rename(
                self.states.get(state),
                &renamings[index as usize],
                &mut target,
            );
            let id = self.intern(&target);
            self.renamed[at] = id;
        }
        self.renamed[at]
    }
}

/// A run of the algorithm whose word is refused.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub run: Vec<Transition>,
    pub word: Word,
}

#[derive(Debug)]
pub enum InclusionOutcome {
    Included,
    Violated(Counterexample),
    /// The search was given up at this many pairs.
    Limit,
}

pub struct Inclusion {
    pub outcome: InclusionOutcome,
    /// Pairs of algorithm and specification state met.
    pub pairs: usize,
    /// States of the specification met.
    pub specification_states: usize,
}

struct Pair {
    algorithm: u32,
    specification: u32,
    parent: u32,
    length: u32,
    expanded: bool,
}

/// Checks inclusion; the specification must be for the graph's numbers of
/// threads and variables.
pub fn check(
    graph: &AlgorithmGraph<'_>,
    specification: &dyn Specification,
    max_pairs: usize,
) -> Inclusion {
    let mut table = SpecificationTable::new(specification, graph.renamings.len());
    let mut search = Search {
        graph,
        pairs: Vec::new(),
        index: HashMap::default(),
        queue: VecDeque::new(),
    };
    search.reach(0, 0, UNKNOWN, 0);
    let mut outcome = InclusionOutcome::Included;
    'search: while let Some(at) = search.queue.pop_front() {
        let Pair {
            algorithm,
            specification: spec_state,
            length,
            expanded,
            ..
        } = search.pairs[at as usize];
        if expanded {
            continue;
        }
        search.pairs[at as usize].expanded = true;
        for edge in graph.edges(algorithm) {
            let (target, cost) = match edge.transition.statement {
                None => (spec_state, 0),
                Some(statement) => match table.step(spec_state, statement) {
                    Some(target) => (target, 1),
                    None => {
                        let path = search.path_to(at);
                        let found = search.replay(&path, specification, &mut table);
                        outcome = InclusionOutcome::Violated(found);
                        break 'search;
                    }
                },
            };
            let target = search.representative(edge.target, edge.renaming, target, &mut table);
            search.reach(edge.target, target, at, length + cost);
        }
        if search.pairs.len() > max_pairs {
            outcome = InclusionOutcome::Limit;
            break;
        }
    }
    Inclusion {
        outcome,
        pairs: search.pairs.len(),
        specification_states: table.len(),
    }
}

struct Search<'g, 'p> {
    graph: &'g AlgorithmGraph<'p>,
    pairs: Vec<Pair>,
    index: HashMap<(u32, u32), u32, FxBuildHasher>,
    queue: VecDeque<u32>,
}

impl Search<'_, '_> {
    fn reach(&mut self, algorithm: u32, specification: u32, parent: u32, length: u32) {
        let known = *self
            .index
            .entry((algorithm, specification))
            .or_insert(self.pairs.len() as u32);
        if known as usize == self.pairs.len() {
            self.pairs.push(Pair {
                algorithm,
                specification,
                parent,
                length,
                expanded: false,
            });
        } else if self.pairs[known as usize].length > length {
            self.pairs[known as usize].length = length;
            self.pairs[known as usize].parent = parent;
        } else {
            return;
        }
        let silent = parent != UNKNOWN && self.pairs[parent as usize].length == length;
        if silent {
            self.queue.push_front(known);
        } else {
            self.queue.push_back(known);
        }
    }

    /// The number of the specification's state once the algorithm's state has
    /// been renamed to the one that is kept.
    fn representative(
        &self,
        algorithm: u32,
        renaming: u16,
        specification: u32,
        table: &mut SpecificationTable<'_>,
    ) -> u32 {
        let renamed = table.rename(specification, renaming, &self.graph.renamings);
        self.graph
            .stabilizer(algorithm)
            .iter()
            .map(|&other| table.rename(renamed, other, &self.graph.renamings))
            .fold(renamed, u32::min)
    }

    fn path_to(&self, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        while let Some(&at) = path.last() {
            let parent = self.pairs[at as usize].parent;
            if parent == UNKNOWN {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Finds the run of the unreduced algorithm that follows a path of pairs
    /// and whose next statement is refused.
    fn replay(
        &self,
        path: &[u32],
        specification: &dyn Specification,
        table: &mut SpecificationTable<'_>,
    ) -> Counterexample {
        let algorithm = &self.graph.algorithm;
        let mut run = Vec::new();
        let mut word = Vec::new();
        let mut state = algorithm.initial();
        let mut judged = specification.initial();
        for step in 1..=path.len() {
            let wanted = path.get(step).map(|&at| &self.pairs[at as usize]);
            let taken = concrete_steps(algorithm, &state, specification, &judged)
                .into_iter()
                .find(|(_, next, after)| match (wanted, after) {
                    (None, None) => true,
                    (Some(pair), Some(after)) => {
                        self.graph.find(next).is_some_and(|(id, renaming)| {
                            let after = table.intern(after);
                            id == pair.algorithm
                                && self.representative(id, renaming, after, table)
                                    == pair.specification
                        })
                    }
                    _ => false,
                });
            let Some((transition, next, after)) = taken else {
                // Unreachable as long as renaming is an automorphism; the
                // caller notices that the word is not refused.
                break;
            };
            run.push(transition);
            word.extend(transition.statement);
            state = next;
            judged = after.unwrap_or_default();
        }
        Counterexample { run, word }
    }
}

type ConcreteStep = (Transition, Vec<u8>, Option<Vec<u8>>);

/// The transitions out of a state with their targets and what becomes of the
/// specification's state: none if it refuses.
fn concrete_steps(
    algorithm: &Algorithm<'_>,
    state: &[u8],
    specification: &dyn Specification,
    judged: &[u8],
) -> Vec<ConcreteStep> {
    let mut successors = Successors::default();
    if algorithm.successors(state, &mut successors).is_err() {
        return Vec::new();
    }
    successors
        .iter(algorithm.layout.size())
        .map(|(transition, target)| {
            let mut after = judged.to_vec();
            let accepted = match transition.statement {
                Some(statement) => specification.step(&mut after, statement),
                None => true,
            };
            (*transition, target.to_vec(), accepted.then_some(after))
        })
        .collect()
}

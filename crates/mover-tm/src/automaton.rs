//! Deterministic automata whose states all accept, and the least one.
//!
//! The language of an algorithm is closed under prefixes, so a deterministic
//! automaton for it needs no final states: a word is rejected where no
//! transition is left. Such an automaton is built from an algorithm's graph by
//! the subset construction over its silent steps, or from a specification; the
//! least one (partition refinement) is what [`crate::structure`] works with,
//! and its size is a check on a specification that depends on no encoding.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::graph::AlgorithmGraph;
use crate::inclusion::SpecificationTable;
use crate::monitor::Specification;
use crate::word::{Action, Statement, alphabet, symbol_of};

/// No transition.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Automaton {
    pub threads: usize,
    pub variables: usize,
    pub statements: Vec<Statement>,
    /// For each state and each statement the target or [`NONE`]; state 0 is
    /// initial.
    table: Vec<u32>,
}

impl Automaton {
    pub fn len(&self) -> usize {
        self.table.len() / self.statements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub fn step(&self, state: u32, symbol: usize) -> Option<u32> {
        if symbol >= self.statements.len() {
            return None;
        }
        let target = self.table[state as usize * self.statements.len() + symbol];
        (target != NONE).then_some(target)
    }

    /// Whether a word is in the language.
    pub fn accepts(&self, word: &[Statement]) -> bool {
        let mut state = Some(0);
        for &statement in word {
            state = state.and_then(|s| self.step(s, symbol_of(statement, self.variables)));
        }
        state.is_some()
    }

    /// The language of an algorithm; none if there are more subsets than
    /// allowed, or statements that the paper does not have.
    pub fn of_algorithm(graph: &AlgorithmGraph<'_>, max_states: usize) -> Option<Automaton> {
        let (threads, variables) = (graph.algorithm.threads(), graph.algorithm.variables());
        let statements = alphabet(threads, variables);
        let mut subsets: Vec<Box<[u32]>> = Vec::new();
        let mut index: HashMap<Box<[u32]>, u32, FxBuildHasher> = HashMap::default();
        let mut closure = Closure {
            graph,
            mark: vec![0; graph.states.len()],
            round: 0,
        };
        let mut intern = |subset: Box<[u32]>, subsets: &mut Vec<Box<[u32]>>| {
            *index.entry(subset).or_insert_with_key(|subset| {
                subsets.push(subset.clone());
                subsets.len() as u32 - 1
            })
        };
        intern(closure.of(vec![0]), &mut subsets);
        let mut table = Vec::new();
        let mut members = 0;
        let mut at = 0;
        while at < subsets.len() {
            let mut targets = vec![Vec::new(); statements.len()];
            for &state in &subsets[at] {
                for edge in graph.edges(state) {
                    if let Some(statement) = edge.transition.statement {
                        if matches!(statement.action, Action::Extra(_)) {
                            return None;
                        }
                        targets[symbol_of(statement, variables)].push(edge.target);
                    }
                }
            }
            for target in targets {
                table.push(if target.is_empty() {
                    NONE
                } else {
                    intern(closure.of(target), &mut subsets)
                });
            }
            members += subsets[at].len();
            if subsets.len() > max_states || members > 100 * max_states {
                return None;
            }
            at += 1;
        }
        Some(Automaton {
            threads,
            variables,
            statements,
            table,
        })
    }

    /// All of a specification; none if there are more states than allowed.
    pub fn of_specification(
        specification: &dyn Specification,
        max_states: usize,
    ) -> Option<Automaton> {
        let layout = specification.layout();
        let statements = alphabet(layout.threads, layout.variables);
        let mut states = SpecificationTable::new(specification, 1);
        let mut table = Vec::new();
        let mut at = 0;
        while at < states.len() {
            for &statement in &statements {
                table.push(states.step(at as u32, statement).unwrap_or(NONE));
            }
            if states.len() > max_states {
                return None;
            }
            at += 1;
        }
        Some(Automaton {
            threads: layout.threads,
            variables: layout.variables,
            statements,
            table,
        })
    }

    /// The least automaton for the same language, by refining the partition of
    /// the states until transitions no longer tell members of a class apart.
    pub fn minimized(&self) -> Automaton {
        let symbols = self.statements.len();
        let mut class = vec![0u32; self.len()];
        let mut classes = 1;
        loop {
            let mut index: HashMap<Vec<u32>, u32, FxBuildHasher> = HashMap::default();
            let mut refined = Vec::with_capacity(class.len());
            for state in 0..self.len() {
                let row = &self.table[state * symbols..(state + 1) * symbols];
                let signature = std::iter::once(class[state])
                    .chain(row.iter().map(|&target| match target {
                        NONE => NONE,
                        target => class[target as usize],
                    }))
                    .collect();
                let next = index.len() as u32;
                refined.push(*index.entry(signature).or_insert(next));
            }
            class = refined;
            if index.len() == classes {
                break;
            }
            classes = index.len();
        }
        // The class of the initial state is numbered first, so it stays 0.
        let mut table = vec![NONE; classes * symbols];
        for state in 0..self.len() {
            for symbol in 0..symbols {
                let target = self.table[state * symbols + symbol];
                if target != NONE {
                    table[class[state] as usize * symbols + symbol] = class[target as usize];
                }
            }
        }
        Automaton {
            table,
            ..self.clone()
        }
    }
}

/// Everything reachable by silent steps.
struct Closure<'g, 'p> {
    graph: &'g AlgorithmGraph<'p>,
    mark: Vec<u32>,
    round: u32,
}

impl Closure<'_, '_> {
    fn of(&mut self, mut states: Vec<u32>) -> Box<[u32]> {
        self.round += 1;
        let mut found = Vec::new();
        while let Some(state) = states.pop() {
            if self.mark[state as usize] == self.round {
                continue;
            }
            self.mark[state as usize] = self.round;
            found.push(state);
            for edge in self.graph.edges(state) {
                if edge.transition.statement.is_none() {
                    states.push(edge.target);
                }
            }
        }
        found.sort_unstable();
        found.into_boxed_slice()
    }
}

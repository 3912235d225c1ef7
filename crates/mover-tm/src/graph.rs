//! The reachable states of an algorithm, as a graph.
//!
//! With symmetry reduction one state of each class under renaming is kept, the
//! least in the order of bytes; an edge then also says which renaming takes its
//! target to the state kept. The number of states of the algorithm itself is
//! still exact: a class has as many members as there are renamings that do not
//! leave the state alone, counted by their cosets.

use mover_source::diagnostic::Diagnostic;

use crate::algorithm::{Algorithm, Answer, Successors, Transition};
use crate::layout::{Layout, Renaming, renamings};
use crate::store::StateStore;
use crate::word::{Action, Extra};

#[derive(Clone, Copy, Debug)]
pub struct GraphEdge {
    pub transition: Transition,
    pub target: u32,
    /// Index of the renaming that takes the target to the state kept.
    pub renaming: u16,
}

pub struct AlgorithmGraph<'p> {
    pub algorithm: Algorithm<'p>,
    pub states: StateStore,
    edges: Vec<GraphEdge>,
    /// Where the edges of each state begin; one more than there are states.
    first_edge: Vec<usize>,
    pub renamings: Vec<Renaming>,
    /// For each state, the renamings other than the identity that leave it
    /// alone.
    stabilizers: Vec<Vec<u16>>,
    /// The first state in which some command of a thread has no step at all.
    pub blocked: Option<(u32, u8)>,
    pub unjustified_choice: Option<Diagnostic>,
}

/// Why a graph was not built.
#[derive(Debug)]
pub enum Incomplete {
    /// The algorithm itself is in error.
    Error(Box<Diagnostic>),
    /// There are more states than allowed.
    Limit { states: usize },
}

impl<'p> AlgorithmGraph<'p> {
    pub fn build(
        algorithm: Algorithm<'p>,
        symmetric: bool,
        max_states: usize,
    ) -> Result<AlgorithmGraph<'p>, Incomplete> {
        let mut renamings = renamings(algorithm.threads(), algorithm.variables());
        if !symmetric {
            renamings.truncate(1);
        }
        let size = algorithm.layout.size();
        let mut states = StateStore::new(size);
        let mut stabilizers = Vec::new();
        let mut canonical = Canonical::new(size);
        canonical.of(&algorithm.layout, &renamings, &algorithm.initial());
        states.insert(&canonical.least);
        stabilizers.push(canonical.stabilizer(&algorithm.layout, &renamings));
        let mut edges = Vec::new();
        let mut first_edge = vec![0];
        let mut successors = Successors::default();
        let mut blocked = None;
        let mut at = 0;
        while at < states.len() {
            let state = states.get(at as u32).to_vec();
            algorithm
                .successors(&state, &mut successors)
                .map_err(|error| Incomplete::Error(Box::new(error)))?;
            if blocked.is_none() {
                blocked = successors.blocked.map(|thread| (at as u32, thread));
            }
            for (transition, target) in successors.iter(size) {
                let renaming = canonical.of(&algorithm.layout, &renamings, target);
                let (target, new) = states.insert(&canonical.least);
                if new {
                    stabilizers.push(canonical.stabilizer(&algorithm.layout, &renamings));
                }
                edges.push(GraphEdge {
                    transition: *transition,
                    target,
                    renaming,
                });
            }
            first_edge.push(edges.len());
            if states.len() > max_states {
                return Err(Incomplete::Limit {
                    states: states.len(),
                });
            }
            at += 1;
        }
        Ok(AlgorithmGraph {
            algorithm,
            states,
            edges,
            first_edge,
            renamings,
            stabilizers,
            blocked,
            unjustified_choice: successors.unjustified_choice.take(),
        })
    }

    /// For each state, the threads that will abort before they commit, and
    /// those that will abort before they read or commit.
    pub fn hopeless_threads(&self) -> Vec<(u8, u8)> {
        let count = self.states.len();
        let all = ((1u16 << self.algorithm.threads()) - 1) as u8;
        let mut hope = vec![(0u8, 0u8); count];
        let mut changed = true;
        while changed {
            changed = false;
            for state in (0..count as u32).rev() {
                let (mut commit, mut read) = hope[state as usize];
                for edge in self.edges(state) {
                    let actor = 1 << edge.transition.thread;
                    let renaming = &self.renamings[edge.renaming as usize];
                    let (later_commit, later_read) = hope[edge.target as usize];
                    // An abort of the actor ends its transaction.
                    let aborts = edge.transition.answer == Answer::Aborted
                        || edge.transition.statement.map(|s| s.action) == Some(Action::Abort);
                    let goes_on = if aborts { all & !actor } else { all };
                    commit |= goes_on & renaming.threads_before(later_commit);
                    read |= goes_on & renaming.threads_before(later_read);
                    match edge.transition.statement.map(|s| s.action) {
                        Some(Action::Commit) => commit |= actor,
                        Some(Action::Read(_) | Action::Extra(Extra::OldRead(_))) => read |= actor,
                        _ => {}
                    }
                }
                changed |= hope[state as usize] != (commit, read);
                hope[state as usize] = (commit, read);
            }
        }
        hope.iter()
            .map(|(commit, read)| (all & !commit, all & !commit & !read))
            .collect()
    }

    pub fn edges(&self, state: u32) -> &[GraphEdge] {
        let state = state as usize;
        &self.edges[self.first_edge[state]..self.first_edge[state + 1]]
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    pub fn stabilizer(&self, state: u32) -> &[u16] {
        &self.stabilizers[state as usize]
    }

    /// The number of states of the algorithm, whether reduced or not.
    pub fn unreduced_states(&self) -> usize {
        self.stabilizers
            .iter()
            .map(|stabilizer| self.renamings.len() / (stabilizer.len() + 1))
            .sum()
    }
}

/// Room for computing the least renamed state.
struct Canonical {
    least: Vec<u8>,
    other: Vec<u8>,
}

impl Canonical {
    fn new(size: usize) -> Self {
        Canonical {
            least: vec![0; size],
            other: vec![0; size],
        }
    }

    /// Puts the least renamed state into `least` and returns the renaming.
    fn of(&mut self, layout: &Layout, renamings: &[Renaming], state: &[u8]) -> u16 {
        self.least.copy_from_slice(state);
        let mut chosen = 0;
        // The first renaming is the identity.
        for (index, renaming) in renamings.iter().enumerate().skip(1) {
            layout.rename(state, renaming, &mut self.other);
            if self.other < self.least {
                std::mem::swap(&mut self.least, &mut self.other);
                chosen = index as u16;
            }
        }
        chosen
    }

    /// The renamings other than the identity that leave `least` alone.
    fn stabilizer(&mut self, layout: &Layout, renamings: &[Renaming]) -> Vec<u16> {
        let mut found = Vec::new();
        for (index, renaming) in renamings.iter().enumerate().skip(1) {
            layout.rename(&self.least, renaming, &mut self.other);
            if self.other == self.least {
                found.push(index as u16);
            }
        }
        found
    }
}

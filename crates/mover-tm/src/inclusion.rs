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
//! The algorithm knows more than the specification: a transaction that it has
//! already aborted will not commit whatever the specification remembers of it.
//! So what cannot matter about such transactions is dropped from the pair
//! ([`AlgorithmGraph::hopeless_threads`], [`Specification::forget_hopeless`]),
//! which for DSTM with three threads leaves a small part of the pairs.
//!
//! A counterexample is given as a run of the algorithm without reduction; the
//! caller replays it ([`is_run`]).

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::algorithm::{Algorithm, Successors, Transition};
use crate::graph::{AlgorithmGraph, GraphEdge};
use crate::layout::Renaming;
use crate::monitor::Specification;
use crate::store::StateStore;
use crate::word::{Action, Extra, Statement, Word, alphabet, symbol_of};

const UNKNOWN: u32 = u32::MAX;
const REFUSED: u32 = u32::MAX - 1;

/// A specification, built as far as it is met.
pub struct SpecificationTable<'s> {
    specification: &'s dyn Specification,
    states: StateStore,
    variables: usize,
    symbols: usize,
    /// Those of them that are not extra ones; they come first.
    paper_symbols: usize,
    steps: Vec<u32>,
    renamed: Vec<u32>,
    renamings: usize,
    without_hopeless: HashMap<(u32, u8, u8), u32, FxBuildHasher>,
    buffer: Vec<u8>,
}

impl<'s> SpecificationTable<'s> {
    pub fn new(specification: &'s dyn Specification, renamings: usize) -> Self {
        let layout = specification.layout();
        let mut table = SpecificationTable {
            specification,
            states: StateStore::new(layout.size()),
            variables: layout.variables,
            symbols: alphabet(layout.threads, layout.variables).len()
                + match specification.takes_extra_statements() {
                    true => layout.threads * Extra::all(layout.variables).len(),
                    false => 0,
                },
            paper_symbols: alphabet(layout.threads, layout.variables).len(),
            steps: Vec::new(),
            renamed: Vec::new(),
            renamings,
            without_hopeless: HashMap::default(),
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
        let symbol = match statement.action {
            Action::Extra(_) if self.symbols == self.paper_symbols => return None,
            Action::Extra(extra) => {
                let each = Extra::all(self.variables).len();
                self.paper_symbols + statement.thread as usize * each + extra.position()
            }
            _ => symbol_of(statement, self.variables),
        };
        let at = state as usize * self.symbols + symbol;
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

    fn forget_hopeless(&mut self, state: u32, (no_commit, no_read): (u8, u8)) -> u32 {
        if no_commit == 0 {
            return state;
        }
        let key = (state, no_commit, no_read);
        if let Some(&known) = self.without_hopeless.get(&key) {
            return known;
        }
        let mut target = self.states.get(state).to_vec();
        self.specification
            .forget_hopeless(&mut target, no_commit, no_read);
        let id = self.intern(&target);
        self.without_hopeless.insert(key, id);
        id
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
    let mut search = InclusionSearch {
        graph,
        pairs: Vec::new(),
        hopeless: graph.hopeless_threads(),
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
                        let found = search.run_along(&path, edge.transition, &mut table);
                        outcome = InclusionOutcome::Violated(found);
                        break 'search;
                    }
                },
            };
            let (target, _) = search.representative(edge, target, &mut table);
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

struct InclusionSearch<'g, 'p> {
    graph: &'g AlgorithmGraph<'p>,
    hopeless: Vec<(u8, u8)>,
    pairs: Vec<Pair>,
    index: HashMap<(u32, u32), u32, FxBuildHasher>,
    queue: VecDeque<u32>,
}

impl InclusionSearch<'_, '_> {
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

    /// The number of the specification's state once the target of an edge has
    /// been renamed to the state that is kept, and the renaming after that.
    fn representative(
        &self,
        edge: &GraphEdge,
        specification: u32,
        table: &mut SpecificationTable<'_>,
    ) -> (u32, u16) {
        let renamed = table.rename(specification, edge.renaming, &self.graph.renamings);
        let renamed = table.forget_hopeless(renamed, self.hopeless[edge.target as usize]);
        self.graph
            .stabilizer(edge.target)
            .iter()
            .map(|&other| (table.rename(renamed, other, &self.graph.renamings), other))
            .fold((renamed, 0), |least, found| least.min(found))
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

    /// The run of the unreduced algorithm that follows a path of pairs and then
    /// takes a transition: at each state kept, `actual` says which thread and
    /// variable of the run each of its threads and variables is.
    fn run_along(
        &self,
        path: &[u32],
        last: Transition,
        table: &mut SpecificationTable<'_>,
    ) -> Counterexample {
        let mut thread: Vec<u8> = (0..self.graph.algorithm.threads() as u8).collect();
        let mut variable: Vec<u8> = (0..self.graph.algorithm.variables() as u8).collect();
        let mut run = Vec::new();
        for step in path.windows(2) {
            let [from, to] = [step[0], step[1]].map(|at| &self.pairs[at as usize]);
            for edge in self.graph.edges(from.algorithm) {
                let after = match edge.transition.statement {
                    Some(statement) => table.step(from.specification, statement),
                    None => Some(from.specification),
                };
                let Some(after) = after.filter(|_| edge.target == to.algorithm) else {
                    continue;
                };
                let (after, then) = self.representative(edge, after, table);
                if after != to.specification {
                    continue;
                }
                run.push(renamed_transition(&edge.transition, &thread, &variable));
                for index in [edge.renaming, then] {
                    let renaming = &self.graph.renamings[index as usize];
                    thread = moved(&thread, &renaming.thread);
                    variable = moved(&variable, &renaming.variable);
                }
                break;
            }
        }
        run.push(renamed_transition(&last, &thread, &variable));
        let word = run.iter().filter_map(|step| step.statement).collect();
        Counterexample { run, word }
    }
}

/// What stood for each index, once the indices have been renamed.
fn moved(actual: &[u8], renaming: &[u8]) -> Vec<u8> {
    let mut after = actual.to_vec();
    for (&index, &to) in actual.iter().zip(renaming) {
        after[to as usize] = index;
    }
    after
}

fn renamed_transition(transition: &Transition, thread: &[u8], variable: &[u8]) -> Transition {
    let action = |action: Action| action.renamed(|v| variable[v as usize]);
    let actor = thread[transition.thread as usize];
    Transition {
        thread: actor,
        command: action(transition.command),
        variable: transition.variable.map(|v| variable[v as usize]),
        statement: transition
            .statement
            .map(|s| Statement::new(action(s.action), actor)),
        ..*transition
    }
}

/// Whether an algorithm can take these transitions one after the other.
pub fn is_run(algorithm: &Algorithm<'_>, run: &[Transition]) -> bool {
    let mut state = algorithm.initial();
    let mut successors = Successors::default();
    run.iter().all(|wanted| {
        if algorithm.successors(&state, &mut successors).is_err() {
            return false;
        }
        let found = successors
            .iter(algorithm.layout.size())
            .find(|(transition, _)| *transition == wanted)
            .map(|(_, target)| target.to_vec());
        match found {
            Some(target) => {
                state = target;
                true
            }
            None => false,
        }
    })
}

/// A run of fewest steps with exactly this word; none if it is not found among
/// so many states. The search for a wrong word does not count steps that add
/// nothing to it, so the run it finds may have some that nothing needs.
pub fn shortest_run(
    algorithm: &Algorithm<'_>,
    word: &[Statement],
    max_states: usize,
) -> Option<Vec<Transition>> {
    let size = algorithm.layout.size();
    let place = |state: &[u8], at: u32| [state, &at.to_le_bytes()[..]].concat();
    let mut places = StateStore::new(size + size_of::<u32>());
    places.insert(&place(&algorithm.initial(), 0));
    let mut came_from: Vec<Option<(u32, Transition)>> = vec![None];
    let mut successors = Successors::default();
    let mut next = 0;
    while (next as usize) < places.len() && places.len() <= max_states {
        let (state, at) = places.get(next).split_at(size);
        let at = u32::from_le_bytes(std::array::from_fn(|byte| at[byte]));
        algorithm.successors(state, &mut successors).ok()?;
        for (transition, target) in successors.iter(size) {
            let at = match transition.statement {
                None => at,
                Some(statement) if statement == word[at as usize] => at + 1,
                Some(_) => continue,
            };
            if at as usize == word.len() {
                let mut run = vec![*transition];
                let mut place = next;
                while let Some((before, step)) = came_from[place as usize] {
                    run.push(step);
                    place = before;
                }
                run.reverse();
                return Some(run);
            }
            if places.insert(&place(target, at)).1 {
                came_from.push(Some((next, *transition)));
            }
        }
        next += 1;
    }
    None
}

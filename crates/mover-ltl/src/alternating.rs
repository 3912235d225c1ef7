//! A formula as a very weak alternating automaton, after Gastin and Oddoux (2001).
//!
//! The states are the subformulas whose main operator is temporal, and the literals. A transition
//! of a state has a label (a conjunction of literals that the next letter must satisfy) and a set
//! of states that must all accept the rest of the run; the empty set accepts everything. The
//! automaton is *very weak*: apart from loops at one state, transitions lead to smaller formulas.
//! A run must not stay in an until for ever.

use std::collections::HashMap;

use crate::buchi::Label;
use crate::formula::{Formula, Formulas, Node};

/// A conjunction of states: sorted, each once.
pub type Set = Vec<u32>;

/// One way to read a letter.
pub type Transition = (Label, Set);

#[derive(Clone, Debug, Default)]
pub struct Alternating {
    /// The transitions of each state.
    pub transitions: Vec<Vec<Transition>>,
    /// The states that are untils.
    pub untils: Vec<u32>,
    /// The run must be accepted by all states of one of these sets.
    pub initial: Vec<Set>,
}

struct Builder<'a> {
    formulas: &'a Formulas,
    numbers: HashMap<Formula, u32>,
    /// States whose transitions are still to be made.
    pending: Vec<Formula>,
    automaton: Alternating,
}

impl Alternating {
    pub fn new(formulas: &Formulas, formula: Formula) -> Alternating {
        let mut builder = Builder {
            formulas,
            numbers: HashMap::new(),
            pending: Vec::new(),
            automaton: Alternating::default(),
        };
        builder.automaton.initial = builder.alternatives(formula);
        while let Some(state) = builder.pending.pop() {
            let transitions = builder.transitions(state);
            let number = builder.numbers[&state] as usize;
            builder.automaton.transitions[number] = transitions;
        }
        builder.automaton.untils.sort_unstable();
        builder.automaton
    }
}

impl Builder<'_> {
    fn state(&mut self, formula: Formula) -> u32 {
        if let Some(&number) = self.numbers.get(&formula) {
            return number;
        }
        let number = self.automaton.transitions.len() as u32;
        self.numbers.insert(formula, number);
        self.automaton.transitions.push(Vec::new());
        if matches!(self.formulas.node(formula), Node::Until(..)) {
            self.automaton.untils.push(number);
        }
        self.pending.push(formula);
        number
    }

    /// The formula as a disjunction of conjunctions of states.
    fn alternatives(&mut self, formula: Formula) -> Vec<Set> {
        match self.formulas.node(formula) {
            Node::True => vec![Vec::new()],
            Node::False => Vec::new(),
            Node::Or(a, b) => {
                let mut sets = self.alternatives(a);
                sets.extend(self.alternatives(b));
                sets
            }
            Node::And(a, b) => {
                let (left, right) = (self.alternatives(a), self.alternatives(b));
                left.iter()
                    .flat_map(|a| right.iter().map(move |b| union(a, b)))
                    .collect()
            }
            _ => vec![vec![self.state(formula)]],
        }
    }

    /// The ways in which a run can begin to satisfy the formula.
    fn transitions(&mut self, formula: Formula) -> Vec<Transition> {
        match self.formulas.node(formula) {
            Node::True => vec![(Label::TRUE, Vec::new())],
            Node::False => Vec::new(),
            Node::Literal {
                proposition,
                positive,
            } => vec![(Label::literal(proposition, positive), Vec::new())],
            Node::And(a, b) => {
                let (left, right) = (self.transitions(a), self.transitions(b));
                product(&left, &right)
            }
            Node::Or(a, b) => {
                let mut all = self.transitions(a);
                all.extend(self.transitions(b));
                all
            }
            Node::Next(a) => {
                let sets = self.alternatives(a);
                sets.into_iter().map(|set| (Label::TRUE, set)).collect()
            }
            Node::Until(a, b) => {
                let stays = vec![(Label::TRUE, vec![self.state(formula)])];
                let left = self.transitions(a);
                let mut all = self.transitions(b);
                all.extend(product(&left, &stays));
                all
            }
            Node::Release(a, b) => {
                let mut released = self.transitions(a);
                released.push((Label::TRUE, vec![self.state(formula)]));
                let right = self.transitions(b);
                product(&right, &released)
            }
        }
    }
}

/// Both at once, in all combinations that do not contradict each other.
pub fn product(left: &[Transition], right: &[Transition]) -> Vec<Transition> {
    let mut both = Vec::new();
    for (label, set) in left {
        for (other_label, other_set) in right {
            if let Some(label) = label.and(*other_label) {
                both.push((label, union(set, other_set)));
            }
        }
    }
    both
}

fn union(a: &[u32], b: &[u32]) -> Set {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

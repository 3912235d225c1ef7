//! Büchi automata whose edges are labelled with conjunctions of literals.
//!
//! An automaton begins in state 0, before the first letter. It accepts a run if it can read it
//! such that it is in accepting states infinitely often.

use crate::generalised::Generalised;

/// A conjunction of literals: bits of propositions that must hold, and that must not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label {
    pub positive: u64,
    pub negative: u64,
}

impl Label {
    pub const TRUE: Label = Label {
        positive: 0,
        negative: 0,
    };

    /// How many propositions there can be.
    pub const PROPOSITIONS: usize = 64;

    pub fn literal(proposition: u32, positive: bool) -> Label {
        let bit = 1 << proposition;
        if positive {
            Label {
                positive: bit,
                negative: 0,
            }
        } else {
            Label {
                positive: 0,
                negative: bit,
            }
        }
    }

    /// None if they contradict each other.
    pub fn and(self, other: Label) -> Option<Label> {
        let both = Label {
            positive: self.positive | other.positive,
            negative: self.negative | other.negative,
        };
        (both.positive & both.negative == 0).then_some(both)
    }

    pub fn implies(self, other: Label) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }

    /// Whether a letter, the set of propositions that hold, satisfies it.
    pub fn holds(self, letter: u64) -> bool {
        letter & self.positive == self.positive && letter & self.negative == 0
    }

    /// One label for both if they differ in the sign of one literal only.
    pub(crate) fn without_sign(self, other: Label) -> Option<Label> {
        let flipped = self.positive ^ other.positive;
        let same_elsewhere = self.negative ^ other.negative == flipped;
        (flipped.count_ones() == 1 && same_elsewhere).then_some(Label {
            positive: self.positive & !flipped,
            negative: self.negative & !flipped,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edge {
    pub label: Label,
    pub target: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub accepting: bool,
    pub edges: Vec<Edge>,
}

/// State 0 is the initial one; there is always one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buchi {
    pub states: Vec<State>,
}

impl Buchi {
    /// One set of accepting states instead of several of transitions: a copy of the automaton for
    /// each set that is waited for, and an accepting one that all sets were met on the way to.
    pub fn from_generalised(generalised: &Generalised) -> Buchi {
        let levels = generalised.sets as usize + 1;
        let last = levels - 1;
        let mut states = vec![State::default()];
        for transitions in &generalised.transitions {
            for level in 0..levels {
                let first = if level == last { 0 } else { level };
                let after = |accepts: u64| {
                    (first..last)
                        .find(|&set| accepts & (1 << set) == 0)
                        .unwrap_or(last)
                };
                let edges = transitions.iter().map(|transition| Edge {
                    label: transition.label,
                    target: 1 + transition.target * levels + after(transition.accepts),
                });
                states.push(State {
                    accepting: level == last,
                    edges: edges.collect(),
                });
            }
        }
        let initial = generalised.initial.iter();
        states[0].edges = initial
            .flat_map(|&state| states[1 + state * levels].edges.clone())
            .collect();
        Buchi { states }
    }

    /// Whether the state accepts whatever follows.
    pub fn accepts_all(&self, state: usize) -> bool {
        let State { accepting, edges } = &self.states[state];
        let stays = |edge: &Edge| edge.target == state && edge.label == Label::TRUE;
        *accepting && edges.iter().any(stays)
    }

    /// Whether a run is accepted if and only if the automaton comes to a state that accepts
    /// whatever follows: then a finite beginning of the run decides.
    pub fn is_terminal(&self) -> bool {
        let components = crate::reduce::components(self);
        (0..self.states.len()).all(|state| {
            !self.states[state].accepting
                || !components.is_on_cycle(state)
                || self.accepts_all(state)
        })
    }
}

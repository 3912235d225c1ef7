//! The generalised Büchi automaton of a very weak alternating automaton.
//!
//! A state is a set of states of the alternating automaton, all of which must accept the rest of
//! the run. There is one set of accepting transitions for each until: those after which the run
//! does not wait for it, or which could have fulfilled it. A run is accepted if it takes
//! transitions of every such set infinitely often (Gastin and Oddoux 2001, Section 3).
//!
//! A transition is left out if another one of the same state has a weaker label, fewer states
//! and at least its acceptance. States with the same transitions are one.

use std::collections::HashMap;

use crate::TooLarge;
use crate::alternating::{Alternating, Set, product};
use crate::buchi::Label;

/// A formula with a larger automaton is refused. Formulas that people write have less than a
/// hundred states.
const MOST_STATES: usize = 5000;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Transition {
    pub label: Label,
    pub target: usize,
    /// Bit k: whether it is in the set of until k.
    pub accepts: u64,
}

#[derive(Clone, Debug)]
pub struct Generalised {
    pub transitions: Vec<Vec<Transition>>,
    pub initial: Vec<usize>,
    /// How many sets of accepting transitions there are.
    pub sets: u32,
}

impl Generalised {
    pub fn new(alternating: &Alternating) -> Result<Generalised, TooLarge> {
        if alternating.untils.len() > u64::BITS as usize {
            return Err(TooLarge);
        }
        let mut numbers: HashMap<Set, usize> = HashMap::new();
        let mut sets: Vec<Set> = Vec::new();
        let mut number = |set: Set, sets: &mut Vec<Set>| {
            *numbers.entry(set.clone()).or_insert_with(|| {
                sets.push(set);
                sets.len() - 1
            })
        };
        let initial = alternating.initial.iter();
        let initial: Vec<usize> = initial.map(|set| number(set.clone(), &mut sets)).collect();
        let mut transitions = Vec::new();
        let mut next = 0;
        while next < sets.len() {
            if sets.len() > MOST_STATES {
                return Err(TooLarge);
            }
            let found = of_set(alternating, &sets[next]);
            let numbered = found.into_iter().map(|(label, set, accepts)| Transition {
                label,
                target: number(set, &mut sets),
                accepts,
            });
            transitions.push(numbered.collect());
            next += 1;
        }
        let mut automaton = Generalised {
            transitions,
            initial,
            sets: alternating.untils.len() as u32,
        };
        automaton.merge_equal_states();
        Ok(automaton)
    }

    fn merge_equal_states(&mut self) {
        let mut classes: Vec<usize> = vec![0; self.transitions.len()];
        let mut count = 1;
        loop {
            let mut known: HashMap<Vec<Transition>, usize> = HashMap::new();
            let refined: Vec<usize> = (self.transitions.iter())
                .map(|transitions| {
                    let key = renumbered(transitions, &classes);
                    let next = known.len();
                    *known.entry(key).or_insert(next)
                })
                .collect();
            let is_stable = known.len() == count;
            (classes, count) = (refined, known.len());
            if is_stable {
                break;
            }
        }
        let mut merged = vec![Vec::new(); count];
        for (state, transitions) in self.transitions.iter().enumerate() {
            merged[classes[state]] = renumbered(transitions, &classes);
        }
        self.transitions = merged;
        self.initial = self.initial.iter().map(|&state| classes[state]).collect();
        self.initial.sort_unstable();
        self.initial.dedup();
    }
}

fn renumbered(transitions: &[Transition], classes: &[usize]) -> Vec<Transition> {
    let mut key: Vec<Transition> = (transitions.iter())
        .map(|transition| Transition {
            target: classes[transition.target],
            ..transition.clone()
        })
        .collect();
    key.sort_unstable();
    key.dedup();
    key
}

/// The transitions of a conjunction of states, with their acceptance.
fn of_set(alternating: &Alternating, set: &Set) -> Vec<(Label, Set, u64)> {
    let mut all = vec![(Label::TRUE, Vec::new())];
    for &state in set {
        all = product(&all, &alternating.transitions[state as usize]);
        all.sort_unstable();
        all.dedup();
    }
    let with_acceptance: Vec<(Label, Set, u64)> = (all.into_iter())
        .map(|(label, target)| {
            let accepts = acceptance(alternating, label, &target);
            (label, target, accepts)
        })
        .collect();
    let dominates = |one: &(Label, Set, u64), other: &(Label, Set, u64)| {
        one != other
            && other.0.implies(one.0)
            && is_subset(&one.1, &other.1)
            && other.2 & !one.2 == 0
    };
    let kept = with_acceptance
        .iter()
        .filter(|&transition| !(with_acceptance.iter()).any(|other| dominates(other, transition)));
    kept.cloned().collect()
}

fn acceptance(alternating: &Alternating, label: Label, target: &Set) -> u64 {
    let mut accepts = 0;
    for (bit, until) in alternating.untils.iter().enumerate() {
        let could_end = || {
            let transitions = &alternating.transitions[*until as usize];
            transitions.iter().any(|(weaker, states)| {
                label.implies(*weaker) && !states.contains(until) && is_subset(states, target)
            })
        };
        if !target.contains(until) || could_end() {
            accepts |= 1 << bit;
        }
    }
    accepts
}

fn is_subset(small: &Set, large: &Set) -> bool {
    small.iter().all(|state| large.contains(state))
}

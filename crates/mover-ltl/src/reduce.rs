//! Smaller automata with the same language.
//!
//! States that are not reachable or from which no accepting cycle is are removed. Whether a state
//! that is on no cycle accepts does not matter, and in a component whose every cycle passes an
//! accepting state all states may accept; both are used to make states alike. Then states are
//! compared by direct simulation (Etessami, Wilke and Schuller 2001; Somenzi and Bloem 2000): `q` is
//! simulated by `r` if `r` accepts whenever `q` does and can follow each edge of `q` by one with a
//! weaker label to a state that simulates again. States that simulate each other are one, and an
//! edge is superfluous beside one with a weaker label to a state that simulates its target.

use crate::buchi::{Buchi, Edge, State};

/// Simulation compares all pairs of states; beyond this many it is left out.
const MOST_STATES_COMPARED: usize = 400;

pub fn reduce(mut automaton: Buchi) -> Buchi {
    loop {
        let before = size(&automaton);
        automaton = without_dead_states(automaton);
        settle_acceptance(&mut automaton);
        join_labels(&mut automaton);
        if automaton.states.len() <= MOST_STATES_COMPARED {
            automaton = quotient(automaton);
        }
        automaton = without_dead_states(automaton);
        if size(&automaton) >= before {
            settle_acceptance(&mut automaton);
            return automaton;
        }
    }
}

fn size(automaton: &Buchi) -> (usize, usize) {
    let edges = automaton.states.iter().map(|state| state.edges.len());
    (automaton.states.len(), edges.sum())
}

/// The strongly connected components.
pub struct Components {
    pub of_state: Vec<usize>,
    is_cyclic: Vec<bool>,
}

impl Components {
    pub fn is_on_cycle(&self, state: usize) -> bool {
        self.is_cyclic[self.of_state[state]]
    }
}

/// Tarjan's algorithm, without recursion. A component has a larger number than those it reaches.
pub fn components(automaton: &Buchi) -> Components {
    components_where(automaton, |_| true)
}

fn components_where(automaton: &Buchi, keep: impl Fn(usize) -> bool) -> Components {
    let count = automaton.states.len();
    let mut index = vec![usize::MAX; count];
    let mut low = vec![0; count];
    let mut of_state = vec![usize::MAX; count];
    let mut is_cyclic = Vec::new();
    let (mut stack, mut next) = (Vec::new(), 0);
    for root in (0..count).filter(|&state| keep(state)) {
        if index[root] != usize::MAX {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some(&mut (state, ref mut edge)) = calls.last_mut() {
            if *edge == 0 {
                index[state] = next;
                low[state] = next;
                next += 1;
                stack.push(state);
            }
            if let Some(&Edge { target, .. }) = automaton.states[state].edges.get(*edge) {
                *edge += 1;
                if !keep(target) {
                    // Not a part of the graph.
                } else if index[target] == usize::MAX {
                    calls.push((target, 0));
                } else if of_state[target] == usize::MAX {
                    low[state] = low[state].min(index[target]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent] = low[parent].min(low[state]);
            }
            if low[state] == index[state] {
                let first = stack.iter().rposition(|&other| other == state);
                let members = stack.split_off(first.unwrap_or(0));
                let loops = |&member: &usize| {
                    let mut edges = automaton.states[member].edges.iter();
                    edges.any(|edge| edge.target == member)
                };
                is_cyclic.push(members.len() > 1 || members.iter().any(loops));
                for member in members {
                    of_state[member] = is_cyclic.len() - 1;
                }
            }
        }
    }
    Components {
        of_state,
        is_cyclic,
    }
}

/// Keeps the initial state, and what is between it and an accepting cycle.
fn without_dead_states(automaton: Buchi) -> Buchi {
    let count = automaton.states.len();
    let found = components(&automaton);
    let mut is_live: Vec<bool> = (0..count)
        .map(|state| automaton.states[state].accepting && found.is_on_cycle(state))
        .collect();
    loop {
        let mut changed = false;
        for state in 0..count {
            let mut edges = automaton.states[state].edges.iter();
            if !is_live[state] && edges.any(|edge| is_live[edge.target]) {
                is_live[state] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut is_reached = vec![false; count];
    is_reached[0] = true;
    let mut pending = vec![0];
    while let Some(state) = pending.pop() {
        for edge in &automaton.states[state].edges {
            if is_live[edge.target] && !is_reached[edge.target] {
                is_reached[edge.target] = true;
                pending.push(edge.target);
            }
        }
    }
    let kept: Vec<usize> = (0..count).filter(|&state| is_reached[state]).collect();
    let mut number = vec![usize::MAX; count];
    for (new, &old) in kept.iter().enumerate() {
        number[old] = new;
    }
    let states = kept.iter().map(|&old| {
        let State { accepting, edges } = &automaton.states[old];
        let edges = edges.iter().filter(|edge| is_live[edge.target]);
        State {
            accepting: *accepting,
            edges: edges
                .map(|edge| Edge {
                    target: number[edge.target],
                    ..*edge
                })
                .collect(),
        }
    });
    Buchi {
        states: states.collect(),
    }
}

fn settle_acceptance(automaton: &mut Buchi) {
    let all = components(automaton);
    let accepting: Vec<bool> = (automaton.states.iter())
        .map(|state| state.accepting)
        .collect();
    let avoiding = components_where(automaton, |state| !accepting[state]);
    // Components with a cycle through no accepting state.
    let mut can_avoid = vec![false; all.is_cyclic.len()];
    for state in 0..automaton.states.len() {
        if !accepting[state] && avoiding.is_on_cycle(state) {
            can_avoid[all.of_state[state]] = true;
        }
    }
    for (number, state) in automaton.states.iter_mut().enumerate() {
        if !all.is_on_cycle(number) {
            state.accepting = false;
        } else if !can_avoid[all.of_state[number]] {
            state.accepting = true;
        }
    }
}

/// Edges to the same state whose labels differ in the sign of a literal are one edge, and an edge
/// is left out beside one with a weaker label to the same state.
fn join_labels(automaton: &mut Buchi) {
    for state in &mut automaton.states {
        let edges = &mut state.edges;
        edges.sort_unstable();
        edges.dedup();
        'again: loop {
            for first in 0..edges.len() {
                for second in first + 1..edges.len() {
                    let (one, other) = (edges[first], edges[second]);
                    if one.target != other.target {
                        continue;
                    }
                    let superfluous = if other.label.implies(one.label) {
                        Some(second)
                    } else if one.label.implies(other.label) {
                        Some(first)
                    } else {
                        None
                    };
                    if let Some(superfluous) = superfluous {
                        edges.remove(superfluous);
                        continue 'again;
                    }
                    if let Some(label) = one.label.without_sign(other.label) {
                        edges[first].label = label;
                        edges.remove(second);
                        continue 'again;
                    }
                }
            }
            break;
        }
    }
}

/// `simulates[r][q]`: whether `r` simulates `q`.
fn simulation(automaton: &Buchi) -> Vec<Vec<bool>> {
    let states = &automaton.states;
    let mut simulates: Vec<Vec<bool>> = (states.iter())
        .map(|r| states.iter().map(|q| r.accepting || !q.accepting).collect())
        .collect();
    loop {
        let mut changed = false;
        for r in 0..states.len() {
            for q in 0..states.len() {
                if !simulates[r][q] || r == q {
                    continue;
                }
                let follows = |edge: &Edge| {
                    let mut others = states[r].edges.iter();
                    others.any(|other| {
                        edge.label.implies(other.label) && simulates[other.target][edge.target]
                    })
                };
                if !states[q].edges.iter().all(follows) {
                    simulates[r][q] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return simulates;
        }
    }
}

fn quotient(mut automaton: Buchi) -> Buchi {
    let simulates = simulation(&automaton);
    let count = automaton.states.len();
    let representative: Vec<usize> = (0..count)
        .map(|state| {
            let mut before = 0..state;
            let alike = |&other: &usize| simulates[other][state] && simulates[state][other];
            before.find(alike).unwrap_or(state)
        })
        .collect();
    for state in &mut automaton.states {
        for edge in &mut state.edges {
            edge.target = representative[edge.target];
        }
        state.edges.sort_unstable();
        state.edges.dedup();
        let all = state.edges.clone();
        let is_superfluous = |edge: &Edge| {
            all.iter().any(|other| {
                other != edge
                    && edge.label.implies(other.label)
                    && simulates[other.target][edge.target]
            })
        };
        state.edges.retain(|edge| !is_superfluous(edge));
    }
    automaton
}

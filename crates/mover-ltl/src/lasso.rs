//! Runs of the form stem·loop^ω, and what formulas and automata say of them, by definition.

use crate::buchi::Buchi;
use crate::formula::{Formula, Formulas, Node};

/// A letter is the set of propositions that hold. The loop is not empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    pub stem: Vec<u64>,
    pub cycle: Vec<u64>,
}

impl Lasso {
    fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    fn letter(&self, position: usize) -> u64 {
        match self.stem.get(position) {
            Some(&letter) => letter,
            None => self.cycle[position - self.stem.len()],
        }
    }

    fn after(&self, position: usize) -> usize {
        if position + 1 < self.len() {
            position + 1
        } else {
            self.stem.len()
        }
    }

    /// Whether the run satisfies the formula.
    pub fn satisfies(&self, formulas: &Formulas, formula: Formula) -> bool {
        self.truth(formulas, formula)[0]
    }

    /// The truth of the formula at each position. Until is a least fixed point, release a
    /// greatest.
    fn truth(&self, formulas: &Formulas, formula: Formula) -> Vec<bool> {
        let positions = 0..self.len();
        let of = |part| self.truth(formulas, part);
        let fixed_point = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
            let mut truth = vec![start; self.len()];
            loop {
                let next: Vec<bool> = (0..self.len())
                    .map(|position| step(position, truth[self.after(position)]))
                    .collect();
                if next == truth {
                    return truth;
                }
                truth = next;
            }
        };
        match formulas.node(formula) {
            Node::True => vec![true; self.len()],
            Node::False => vec![false; self.len()],
            Node::Literal {
                proposition,
                positive,
            } => positions
                .map(|position| (self.letter(position) >> proposition & 1 == 1) == positive)
                .collect(),
            Node::And(a, b) => {
                let (a, b) = (of(a), of(b));
                positions
                    .map(|position| a[position] && b[position])
                    .collect()
            }
            Node::Or(a, b) => {
                let (a, b) = (of(a), of(b));
                positions
                    .map(|position| a[position] || b[position])
                    .collect()
            }
            Node::Next(a) => {
                let a = of(a);
                positions.map(|position| a[self.after(position)]).collect()
            }
            Node::Until(a, b) => {
                let (a, b) = (of(a), of(b));
                fixed_point(false, &|position, after| {
                    b[position] || a[position] && after
                })
            }
            Node::Release(a, b) => {
                let (a, b) = (of(a), of(b));
                fixed_point(true, &|position, after| {
                    b[position] && (a[position] || after)
                })
            }
        }
    }

    /// Whether the automaton accepts the run: whether it can come to an accepting state, at a
    /// position, from which it can come back to the same state and position.
    pub fn is_accepted(&self, automaton: &Buchi) -> bool {
        let reachable = |from: Vec<(usize, usize)>| {
            let mut seen: Vec<(usize, usize)> = Vec::new();
            let mut pending = from;
            while let Some((state, position)) = pending.pop() {
                let letter = self.letter(position);
                for edge in &automaton.states[state].edges {
                    let next = (edge.target, self.after(position));
                    if edge.label.holds(letter) && !seen.contains(&next) {
                        seen.push(next);
                        pending.push(next);
                    }
                }
            }
            seen
        };
        let all = reachable(vec![(0, 0)]);
        all.iter().any(|&place| {
            automaton.states[place.0].accepting && reachable(vec![place]).contains(&place)
        })
    }
}

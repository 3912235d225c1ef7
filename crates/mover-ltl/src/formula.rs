//! Formulas in negation normal form.
//!
//! Negation is only at propositions; the operators are `∧`, `∨`, `X`, `U` and its dual `R`
//! (release, `V` in SPIN). Everything else is made of these. [`Formulas`] keeps one copy of each
//! formula and simplifies while formulas are built, by the rewriting rules of Somenzi and Bloem
//! (2000) and Etessami and Holzmann (2000) that need no automaton: constants, idempotence,
//! implied conjuncts and disjuncts, and formulas whose truth does not depend on any finite
//! beginning of the run (`□◇a`), which absorb temporal operators.

use std::collections::HashMap;

/// A formula of a [`Formulas`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Formula(u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    True,
    False,
    /// A proposition or its negation.
    Literal {
        proposition: u32,
        positive: bool,
    },
    And(Formula, Formula),
    Or(Formula, Formula),
    Next(Formula),
    Until(Formula, Formula),
    Release(Formula, Formula),
}

impl Formula {
    pub const FALSE: Formula = Formula(0);
    pub const TRUE: Formula = Formula(1);
}

/// How deep the syntactic test for implication looks.
const IMPLICATION_DEPTH: u32 = 5;

#[derive(Clone, Debug)]
pub struct Formulas {
    nodes: Vec<Node>,
    known: HashMap<Node, Formula>,
}

impl Default for Formulas {
    fn default() -> Self {
        let mut formulas = Formulas {
            nodes: Vec::new(),
            known: HashMap::new(),
        };
        formulas.intern(Node::False);
        formulas.intern(Node::True);
        formulas
    }
}

impl Formulas {
    pub fn node(&self, formula: Formula) -> Node {
        self.nodes[formula.0 as usize]
    }

    fn intern(&mut self, node: Node) -> Formula {
        if let Some(&formula) = self.known.get(&node) {
            return formula;
        }
        let formula = Formula(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, formula);
        formula
    }

    pub fn literal(&mut self, proposition: u32, positive: bool) -> Formula {
        self.intern(Node::Literal {
            proposition,
            positive,
        })
    }

    pub fn and(&mut self, left: Formula, right: Formula) -> Formula {
        if self.implies(left, right) {
            return left;
        }
        if self.implies(right, left) {
            return right;
        }
        if self.contradict(left, right) {
            return Formula::FALSE;
        }
        match (self.node(left), self.node(right)) {
            // X a ∧ X b = X (a ∧ b)
            (Node::Next(a), Node::Next(b)) => {
                let both = self.and(a, b);
                self.next(both)
            }
            // (a R b) ∧ (a R c) = a R (b ∧ c)
            (Node::Release(a, b), Node::Release(same, c)) if a == same => {
                let both = self.and(b, c);
                self.release(a, both)
            }
            // (a U c) ∧ (b U c) = (a ∧ b) U c
            (Node::Until(a, c), Node::Until(b, same)) if c == same => {
                let both = self.and(a, b);
                self.until(both, c)
            }
            _ => self.intern(Node::And(left.min(right), left.max(right))),
        }
    }

    pub fn or(&mut self, left: Formula, right: Formula) -> Formula {
        if self.implies(left, right) {
            return right;
        }
        if self.implies(right, left) {
            return left;
        }
        let (not_left, not_right) = (self.negation(left), self.negation(right));
        if self.contradict(not_left, not_right) {
            return Formula::TRUE;
        }
        match (self.node(left), self.node(right)) {
            (Node::Next(a), Node::Next(b)) => {
                let either = self.or(a, b);
                self.next(either)
            }
            (Node::Until(a, b), Node::Until(same, c)) if a == same => {
                let either = self.or(b, c);
                self.until(a, either)
            }
            (Node::Release(a, c), Node::Release(b, same)) if c == same => {
                let either = self.or(a, b);
                self.release(either, c)
            }
            _ => self.intern(Node::Or(left.min(right), left.max(right))),
        }
    }

    pub fn next(&mut self, operand: Formula) -> Formula {
        if matches!(operand, Formula::TRUE | Formula::FALSE) || self.ignores_beginning(operand) {
            return operand;
        }
        self.intern(Node::Next(operand))
    }

    pub fn until(&mut self, left: Formula, right: Formula) -> Formula {
        if matches!(right, Formula::TRUE | Formula::FALSE)
            || left == Formula::FALSE
            || self.implies(left, right)
            || self.ignores_beginning(right)
        {
            return right;
        }
        let not_left = self.negation(left);
        if left != Formula::TRUE && self.implies(not_left, right) {
            // ¬a → b makes a U b the same as ◇b.
            return self.until(Formula::TRUE, right);
        }
        match (self.node(left), self.node(right)) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.until(a, b);
                self.next(inner)
            }
            // ◇ X a = X ◇ a
            (Node::True, Node::Next(a)) => {
                let inner = self.until(Formula::TRUE, a);
                self.next(inner)
            }
            // a U (b U c) = b U c if a implies b
            (_, Node::Until(b, _)) if self.implies(left, b) => right,
            // ◇ (a U b) = ◇ b
            (Node::True, Node::Until(_, b)) => self.until(Formula::TRUE, b),
            // ◇ (a ∧ □◇b) = ◇a ∧ □◇b
            (Node::True, Node::And(a, b)) if self.ignores_beginning(b) => {
                let inner = self.until(Formula::TRUE, a);
                self.and(inner, b)
            }
            (Node::True, Node::And(a, b)) if self.ignores_beginning(a) => {
                let inner = self.until(Formula::TRUE, b);
                self.and(a, inner)
            }
            // ◇ (a ∨ b) = ◇a ∨ ◇b helps if one of them ignores the beginning.
            (Node::True, Node::Or(a, b))
                if self.ignores_beginning(a) || self.ignores_beginning(b) =>
            {
                let (a, b) = (self.until(Formula::TRUE, a), self.until(Formula::TRUE, b));
                self.or(a, b)
            }
            _ => self.intern(Node::Until(left, right)),
        }
    }

    pub fn release(&mut self, left: Formula, right: Formula) -> Formula {
        // By duality, so that the rules are written once.
        let (not_left, not_right) = (self.negation(left), self.negation(right));
        let until = self.until_or_known(not_left, not_right);
        match until {
            Some(until) => self.negation(until),
            None => self.intern(Node::Release(left, right)),
        }
    }

    /// What `left U right` simplifies to; nothing if it stays an until.
    fn until_or_known(&mut self, left: Formula, right: Formula) -> Option<Formula> {
        let made = self.until(left, right);
        (self.node(made) != Node::Until(left, right)).then_some(made)
    }

    pub fn eventually(&mut self, operand: Formula) -> Formula {
        self.until(Formula::TRUE, operand)
    }

    pub fn always(&mut self, operand: Formula) -> Formula {
        self.release(Formula::FALSE, operand)
    }

    /// `left W right`: left holds until right does, which may be never.
    pub fn weak_until(&mut self, left: Formula, right: Formula) -> Formula {
        let either = self.or(left, right);
        self.release(right, either)
    }

    pub fn implication(&mut self, left: Formula, right: Formula) -> Formula {
        let not_left = self.negation(left);
        self.or(not_left, right)
    }

    pub fn equivalence(&mut self, left: Formula, right: Formula) -> Formula {
        let (not_left, not_right) = (self.negation(left), self.negation(right));
        let (both, neither) = (self.and(left, right), self.and(not_left, not_right));
        self.or(both, neither)
    }

    pub fn negation(&mut self, formula: Formula) -> Formula {
        // Built without simplification: the dual of what is simple is simple.
        let node = match self.node(formula) {
            Node::True => Node::False,
            Node::False => Node::True,
            Node::Literal {
                proposition,
                positive,
            } => Node::Literal {
                proposition,
                positive: !positive,
            },
            Node::And(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                Node::Or(a.min(b), a.max(b))
            }
            Node::Or(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                Node::And(a.min(b), a.max(b))
            }
            Node::Next(a) => Node::Next(self.negation(a)),
            Node::Until(a, b) => Node::Release(self.negation(a), self.negation(b)),
            Node::Release(a, b) => Node::Until(self.negation(a), self.negation(b)),
        };
        self.intern(node)
    }

    /// Whether the truth of the formula does not change when states are added to or removed from
    /// the beginning of a run: `□◇a`, `◇□a` and what is made of them.
    fn ignores_beginning(&self, formula: Formula) -> bool {
        match self.node(formula) {
            Node::True | Node::False => true,
            Node::Literal { .. } => false,
            Node::And(a, b) | Node::Or(a, b) => {
                self.ignores_beginning(a) && self.ignores_beginning(b)
            }
            Node::Next(a) => self.ignores_beginning(a),
            Node::Until(a, b) => {
                let is_always =
                    matches!(self.node(b), Node::Release(left, _) if left == Formula::FALSE);
                a == Formula::TRUE && is_always || self.ignores_beginning(b)
            }
            Node::Release(a, b) => {
                let is_eventually =
                    matches!(self.node(b), Node::Until(left, _) if left == Formula::TRUE);
                a == Formula::FALSE && is_eventually || self.ignores_beginning(b)
            }
        }
    }

    /// Whether the first formula implies the second, as far as their syntax shows.
    pub fn implies(&self, a: Formula, b: Formula) -> bool {
        self.implies_within(a, b, IMPLICATION_DEPTH)
    }

    fn implies_within(&self, a: Formula, b: Formula, depth: u32) -> bool {
        if a == b || a == Formula::FALSE || b == Formula::TRUE {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let implies = |a, b| self.implies_within(a, b, depth - 1);
        match (self.node(a), self.node(b)) {
            (Node::Or(c, d), _) => implies(c, b) && implies(d, b),
            (_, Node::And(c, d)) => implies(a, c) && implies(a, d),
            (Node::And(c, d), _) if implies(c, b) || implies(d, b) => true,
            (_, Node::Or(c, d)) if implies(a, c) || implies(a, d) => true,
            (Node::Until(c, d), Node::Until(e, f)) if implies(c, e) && implies(d, f) => true,
            (Node::Release(c, d), Node::Release(e, f)) if implies(c, e) && implies(d, f) => true,
            (Node::Next(c), Node::Next(d)) => implies(c, d),
            (Node::Until(c, d), _) if implies(c, b) && implies(d, b) => true,
            (Node::Release(_, d), _) if implies(d, b) => true,
            (_, Node::Until(_, d)) if implies(a, d) => true,
            (_, Node::Release(c, d)) if implies(a, c) && implies(a, d) => true,
            _ => false,
        }
    }

    /// Whether the two exclude each other, as far as their syntax shows.
    fn contradict(&mut self, a: Formula, b: Formula) -> bool {
        let not_b = self.negation(b);
        self.implies(a, not_b)
    }

    /// Whether the formula says nothing of the next state: repeating a state of a run then does
    /// not change whether the run satisfies it (Lamport 1983).
    pub fn is_stutter_invariant(&self, formula: Formula) -> bool {
        match self.node(formula) {
            Node::True | Node::False | Node::Literal { .. } => true,
            Node::Next(_) => false,
            Node::And(a, b) | Node::Or(a, b) | Node::Until(a, b) | Node::Release(a, b) => {
                self.is_stutter_invariant(a) && self.is_stutter_invariant(b)
            }
        }
    }

    /// The formula as text; propositions as `name` calls them.
    pub fn text(&self, formula: Formula, name: &dyn Fn(u32) -> String) -> String {
        let binary = |a, operator: &str, b| {
            format!("({} {operator} {})", self.text(a, name), self.text(b, name))
        };
        match self.node(formula) {
            Node::True => "true".into(),
            Node::False => "false".into(),
            Node::Literal {
                proposition,
                positive: true,
            } => name(proposition),
            Node::Literal { proposition, .. } => format!("!{}", name(proposition)),
            Node::And(a, b) => binary(a, "&&", b),
            Node::Or(a, b) => binary(a, "||", b),
            Node::Next(a) => format!("X {}", self.text(a, name)),
            Node::Until(Formula::TRUE, b) => format!("<> {}", self.text(b, name)),
            Node::Release(Formula::FALSE, b) => format!("[] {}", self.text(b, name)),
            Node::Until(a, b) => binary(a, "U", b),
            Node::Release(a, b) => binary(a, "V", b),
        }
    }
}

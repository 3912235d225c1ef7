//! Comparisons that determine the program's comparisons one block later.
//!
//! `while (*p < 1024) (*p)++; assert(*p == 1024)` compares what was read through a pointer. The
//! facts that are needed about the cells themselves, and about the copy that is to be written
//! back, appear nowhere in the program: `cells[0] < 1024`, `copy + 1 == 1024`. The engine of
//! Günther et al. (2017) finds such predicates when a proof fails without them; here they are
//! derived in advance. A comparison after a block is a term over the state before it; the
//! comparisons in that term, with one of the values that each side can have, serve as weakest
//! preconditions without the conditions.

use rustc_hash::FxHashSet;

use super::System;
use crate::term::{Node, Term, Terms, Var};

/// How many blocks to look back.
const ROUNDS: usize = 3;

/// Most predicates that are added.
const MOST_ADDED: usize = 48;

/// Most terms that a predicate consists of.
const MOST_TERMS: usize = 12;

/// Maximum number of values that one side of a comparison is taken to have.
const MOST_VALUES: usize = 8;

impl System<'_, '_> {
    /// Adds predicates about the state a block before those that there are.
    pub(super) fn predicates_before(&mut self) {
        let numbers = self.numbers();
        let mut known: FxHashSet<Term> = FxHashSet::default();
        known.extend(self.predicates.iter().map(|p| positive(&self.terms, p.now)));
        let most = self.predicates.len() + MOST_ADDED;
        let mut from = 0;
        for _ in 0..ROUNDS {
            let to = self.predicates.len();
            for number in from..to {
                let roots = [self.predicates[number].now, self.predicates[number].next];
                for comparison in self.comparisons(&roots, &numbers) {
                    let comparison = positive(&self.terms, comparison);
                    if self.predicates.len() < most
                        && !self.is_plain(comparison)
                        && known.insert(comparison)
                    {
                        let next = self.a_block_later(comparison);
                        let name = words(&self.terms, comparison);
                        self.add_predicate(name, comparison, next);
                    }
                }
            }
            from = to;
        }
    }

    /// The variables of cells that matter and hold numbers rather than places.
    fn numbers(&self) -> FxHashSet<Var> {
        let places: FxHashSet<Var> = (0..self.state.len())
            .filter(|&cell| self.holds_place(cell))
            .filter_map(|cell| self.variable_of(self.state[cell]))
            .collect();
        let observed = self.observables.iter();
        observed
            .filter_map(|o| self.variable_of(o.now))
            .filter(|var| !places.contains(var))
            .collect()
    }

    /// The comparisons that terms consist of, with single values on both sides.
    fn comparisons(&mut self, roots: &[Term], numbers: &FxHashSet<Var>) -> Vec<Term> {
        let mut found = Vec::new();
        for term in self.terms.below(roots) {
            let node = self.terms.node(term);
            let (Node::Eq(a, b) | Node::ULt(a, b) | Node::SLt(a, b)) = node else {
                continue;
            };
            if self.terms.width(a) == 1 {
                continue;
            }
            for a in self.values(a, numbers) {
                for b in self.values(b, numbers) {
                    let comparison = match node {
                        Node::Eq(..) => self.terms.eq(a, b),
                        Node::ULt(..) => self.terms.ult(a, b),
                        _ => self.terms.slt(a, b),
                    };
                    if self.terms.as_const(comparison).is_none() {
                        found.push(comparison);
                    }
                }
            }
        }
        found
    }

    /// The values that a term chooses from, as far as they are simple and about numbers.
    fn values(&self, term: Term, numbers: &FxHashSet<Var>) -> Vec<Term> {
        let mut values = Vec::new();
        let mut work = vec![term];
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        while let Some(term) = work.pop() {
            if !seen.insert(term) || values.len() >= MOST_VALUES {
                continue;
            }
            if let Node::Ite(_, then, otherwise) = self.terms.node(term) {
                work.extend([otherwise, then]);
                continue;
            }
            let below = self.terms.below(&[term]);
            let has_choice = |&part: &Term| matches!(self.terms.node(part), Node::Ite(..));
            if below.len() <= MOST_TERMS
                && !below.iter().any(has_choice)
                && self.depends_only_on(term, numbers)
            {
                values.push(term);
            }
        }
        values
    }

    /// What a term over the state becomes after a block.
    fn a_block_later(&mut self, term: Term) -> Term {
        let cells: Vec<(Var, usize)> = (0..self.state.len())
            .filter_map(|cell| Some((self.variable_of(self.state[cell])?, cell)))
            .collect();
        let below = self.terms.below(&[term]);
        let mut next = Vec::new();
        for variable in below {
            let Some(var) = self.terms.as_var(variable) else {
                continue;
            };
            if let Some(&(_, cell)) = cells.iter().find(|(of, _)| *of == var) {
                // High bits that are always zero have no place in the variable.
                let width = self.terms.width(variable);
                let value = self.terms.resize(self.block.next[cell], width, false);
                next.push((var, value));
            }
        }
        self.terms.substitute(term, |var| {
            let found = next.iter().find(|(of, _)| *of == var);
            found.map(|(_, value)| *value)
        })
    }
}

fn positive(terms: &Terms, term: Term) -> Term {
    match terms.node(term) {
        Node::Not(inner) => inner,
        _ => term,
    }
}

/// A small term in words.
fn words(terms: &Terms, term: Term) -> String {
    let two =
        |a: Term, op: &str, b: Term| format!("({} {op} {})", words(terms, a), words(terms, b));
    match terms.node(term) {
        Node::Const(value) => value.to_string(),
        Node::Var(var) => terms.name(var).to_string(),
        Node::Not(a) => format!("~{}", words(terms, a)),
        Node::And(a, b) => two(a, "&", b),
        Node::Xor(a, b) => two(a, "^", b),
        Node::Add(a, b) => two(a, "+", b),
        Node::Sub(a, b) => two(a, "-", b),
        Node::Mul(a, b) => two(a, "*", b),
        Node::UDiv(a, b) => two(a, "/u", b),
        Node::URem(a, b) => two(a, "%u", b),
        Node::Shl(a, b) => two(a, "<<", b),
        Node::LShr(a, b) => two(a, ">>u", b),
        Node::AShr(a, b) => two(a, ">>", b),
        Node::Eq(a, b) => two(a, "==", b),
        Node::ULt(a, b) => two(a, "<u", b),
        Node::SLt(a, b) => two(a, "<", b),
        Node::Ite(a, b, c) => {
            let [a, b, c] = [a, b, c].map(|part| words(terms, part));
            format!("({a} ? {b} : {c})")
        }
        Node::Low(a) | Node::ZeroExtend(a) | Node::SignExtend(a) => {
            format!("{}:{}", words(terms, a), terms.width(term))
        }
    }
}

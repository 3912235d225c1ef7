//! Predicates that are added during the search for a proof.
//!
//! Günther et al. (2017) prove with CTIGAR (Birgmeier, Bradley and Weissenbacher 2014,
//! *Counterexample to Induction-Guided Abstraction-Refinement*): where the predicates cannot
//! distinguish a counterexample to induction from the reachable states, a predicate is added
//! that can. There it comes from an interpolant. Here the bits of the state can always
//! distinguish the two, so the sign of a missing predicate is a lemma over single bits of a
//! number; and the state that the lemma excludes is the source of candidates: how a cell
//! compares with its neighbours there, and that it is at least, or at most, as large as there.
//! The solver decides which candidate works ([`crate::ic3`]).
//!
//! Locations are numbered in the order of the source, so a range of them would be a section of
//! code; but such predicates made proofs longer more often than shorter.

use rustc_hash::FxHashSet;

use super::System;
use crate::layout::Cell;
use crate::term::{Node, Term, Var};

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    Equal,
    Less { signed: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    Cell(usize),
    Value(u64),
}

/// A comparison of cells that is not in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Comparison {
    pub relation: Relation,
    pub left: Side,
    pub right: Side,
}

/// Cells that a cell is compared with, at most.
const MOST_NEIGHBOURS: usize = 6;

impl System<'_, '_> {
    /// Comparisons of a cell that are true of the state with these values of the cells, the most
    /// telling first.
    pub fn comparisons_of(
        &self,
        cell: usize,
        near: &[usize],
        value_of: impl Fn(usize) -> u64,
    ) -> Vec<Comparison> {
        let value = value_of(cell);
        let width = self.blocks.layout.widths[cell];
        let signed = self.is_compared_with_sign(cell);
        let less = Relation::Less { signed };
        let mut found = Vec::new();
        for other in self.neighbours(cell, near) {
            let (this, that) = (Side::Cell(cell), Side::Cell(other));
            let (relation, left, right) = match value_of(other) {
                same if same == value => (Relation::Equal, this, that),
                more if below(value, more, width, signed) => (less, this, that),
                _ => (less, that, this),
            };
            found.push(Comparison {
                relation,
                left,
                right,
            });
        }
        let (least, most) = ends(width, signed);
        if value != least {
            found.push(Comparison {
                relation: less,
                left: Side::Value(wrapped(value.wrapping_sub(1), width)),
                right: Side::Cell(cell),
            });
        }
        if value != most {
            found.push(Comparison {
                relation: less,
                left: Side::Cell(cell),
                right: Side::Value(wrapped(value.wrapping_add(1), width)),
            });
        }
        found
    }

    /// Makes a comparison a predicate, unless there is one of this meaning already.
    pub fn add_comparison(&mut self, comparison: Comparison) -> bool {
        let now = self.compared(comparison, true);
        let has_same = |predicate: &super::Predicate| {
            predicate.now == now || self.terms.node(predicate.now) == Node::Not(now)
        };
        if self.terms.as_const(now).is_some() || self.predicates.iter().any(has_same) {
            return false;
        }
        let next = self.compared(comparison, false);
        let name = self.comparison_in_words(comparison);
        self.add_predicate(name, now, next);
        self.refinements.push(comparison);
        true
    }

    /// Takes back the comparison that was added last.
    pub fn drop_comparison(&mut self) {
        self.refinements.pop();
        self.predicates.pop();
        self.observables.pop();
    }

    fn compared(&mut self, comparison: Comparison, now: bool) -> Term {
        let Comparison {
            relation,
            left,
            right,
        } = comparison;
        let width_of = |side| match side {
            Side::Cell(cell) => Some(self.blocks.layout.widths[cell]),
            Side::Value(_) => None,
        };
        let width = width_of(left).or(width_of(right)).unwrap_or(1);
        let cells = if now { &self.state } else { &self.block.next };
        let [left, right] = [left, right].map(|side| match side {
            Side::Cell(cell) => cells[cell],
            Side::Value(value) => self.terms.constant(value, width),
        });
        match relation {
            Relation::Equal => self.terms.eq(left, right),
            Relation::Less { signed: false } => self.terms.ult(left, right),
            Relation::Less { signed: true } => self.terms.slt(left, right),
        }
    }

    fn comparison_in_words(&self, comparison: Comparison) -> String {
        let layout = &self.blocks.layout;
        let [left, right] = [comparison.left, comparison.right].map(|side| match side {
            Side::Cell(cell) => layout.name(cell),
            Side::Value(value) => value.to_string(),
        });
        let sign = match comparison.relation {
            Relation::Equal => "==",
            Relation::Less { signed: false } => "<u",
            Relation::Less { signed: true } => "<",
        };
        format!("({left} {sign} {right})")
    }

    /// Whether a cell contains a location, and not a number.
    pub fn holds_place(&self, cell: usize) -> bool {
        matches!(
            self.blocks.layout.cells[cell],
            Cell::Place { .. } | Cell::Turn
        )
    }

    /// Cells of the same width, those nearby first.
    fn neighbours(&self, cell: usize, near: &[usize]) -> Vec<usize> {
        let layout = &self.blocks.layout;
        let width = layout.widths[cell];
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let observed = self.observables.iter().filter_map(|o| o.source.cell());
        near.iter()
            .copied()
            .chain(observed)
            .filter(|&other| {
                other != cell
                    && layout.widths[other] == width
                    && !self.holds_place(other)
                    && seen.insert(other)
            })
            .take(MOST_NEIGHBOURS)
            .collect()
    }

    /// Whether the program compares the cell as a number that may be negative.
    fn is_compared_with_sign(&self, cell: usize) -> bool {
        let Some(var) = self.variable_of(self.state[cell]) else {
            return false;
        };
        let is_variable = |term: &Term| self.terms.as_var(*term) == Some::<Var>(var);
        let all: Vec<Term> = self.predicates.iter().map(|p| p.now).collect();
        self.terms.below(&all).into_iter().any(|term| {
            let Node::SLt(a, b) = self.terms.node(term) else {
                return false;
            };
            self.terms.below(&[a, b]).iter().any(is_variable)
        })
    }
}

fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width))
}

fn wrapped(value: u64, width: u8) -> u64 {
    value & mask(width)
}

/// The least and the greatest number.
fn ends(width: u8, signed: bool) -> (u64, u64) {
    if signed {
        let sign = 1 << (width - 1);
        (sign, mask(width) ^ sign)
    } else {
        (0, mask(width))
    }
}

fn below(a: u64, b: u64, width: u8, signed: bool) -> bool {
    let flip = if signed { 1 << (width - 1) } else { 0 };
    (a ^ flip) < (b ^ flip)
}

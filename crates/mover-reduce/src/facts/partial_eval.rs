//! Partial evaluation of expressions.
//!
//! Some cells are inspected for the meaning of their value: which thread holds a lock, how many
//! threads read. Here an expression is evaluated for one value of such a cell (or of two) and
//! one thread; everything else that it reads may have any value. The result is the set of
//! values that the expression can have.

use mover_ir::eval::{ValueSet, ValueSets};
use mover_ir::expr::{Expr, INDEX_WIDTH, VariableRef, mask};
use mover_ir::program::{Edge, Effect};

/// Expressions with more values count as unconstrained.
const DOMAIN: ValueSets = ValueSets { most: 16 };

/// What is known during evaluation: the values of one or two cells, and the thread.
#[derive(Clone, Copy)]
pub(crate) struct KnownCells {
    cell: VariableRef,
    value: u64,
    beside: Option<(VariableRef, u64)>,
    thread: u32,
}

impl KnownCells {
    pub fn new(cell: VariableRef, value: u64, thread: u32) -> KnownCells {
        KnownCells {
            cell,
            value,
            beside: None,
            thread,
        }
    }

    /// The same with another known cell.
    pub fn with(self, cell: VariableRef, value: u64) -> KnownCells {
        let beside = Some((cell, value));
        KnownCells { beside, ..self }
    }

    fn known(&self, variable: VariableRef) -> Option<u64> {
        if variable == self.cell {
            return Some(self.value);
        }
        let (_, value) = self.beside.filter(|&(cell, _)| cell == variable)?;
        Some(value)
    }

    /// The values that an expression can have; `None` if it can have any.
    pub fn results(&self, expr: &Expr) -> ValueSet {
        let thread = u64::from(self.thread) & mask(INDEX_WIDTH);
        DOMAIN.eval(expr, |read| match read {
            Expr::ThreadId => Some(vec![thread]),
            Expr::Read(place) => Some(vec![self.known(place.variable)?]),
            _ => None,
        })
    }

    pub fn may_hold(&self, condition: &Expr) -> bool {
        self.results(condition)
            .is_none_or(|results| results.iter().any(|&result| result != 0))
    }

    /// The values that the cell can have after the effects; `None` if any.
    pub fn after(&self, effects: &[Effect]) -> ValueSet {
        let mut values = vec![self.value];
        for effect in effects {
            if !effect
                .written_places()
                .iter()
                .any(|place| place.variable == self.cell)
            {
                continue;
            }
            let Effect::Assign { value, .. } = effect else {
                return None;
            };
            let mut next = Vec::new();
            for before in values {
                let known_cells = KnownCells {
                    value: before,
                    ..*self
                };
                next.extend(known_cells.results(value)?);
            }
            next.sort_unstable();
            next.dedup();
            values = next;
        }
        Some(values)
    }
}

/// Whether an edge reads or writes a cell.
pub(crate) fn touches(edge: &Edge, cell: VariableRef) -> bool {
    let mut found = false;
    let mut visit = |expr: &Expr| {
        found |= matches!(expr, Expr::Read(place) if place.variable == cell);
    };
    edge.guard.walk(&mut visit);
    edge.effects
        .iter()
        .for_each(|effect| effect.walk(&mut visit));
    found || writes(edge, cell)
}

pub(crate) fn writes(edge: &Edge, cell: VariableRef) -> bool {
    let mut places = edge.effects.iter().flat_map(Effect::written_places);
    places.any(|place| place.variable == cell)
}

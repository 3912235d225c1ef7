//! Expressions in the eyes of somebody who knows little.
//!
//! Some cells are looked at for what their value means: who has a lock, how many
//! read. Here an expression is worked out for one value of such a cell (or of two)
//! and one thread; whatever else is in it can be anything. The result is the set
//! of values that the expression can have.

use mover_ir::expr::{Expr, INDEX_WIDTH, VariableRef, mask, resize};
use mover_ir::program::{Edge, Effect};

/// Most values of an expression before it can be anything.
const MOST_RESULTS: usize = 16;

/// What is known when expressions are looked at: a cell or two, and the thread.
#[derive(Clone, Copy)]
pub(crate) struct Eyes {
    cell: VariableRef,
    value: u64,
    beside: Option<(VariableRef, u64)>,
    thread: u32,
}

impl Eyes {
    pub fn new(cell: VariableRef, value: u64, thread: u32) -> Eyes {
        Eyes {
            cell,
            value,
            beside: None,
            thread,
        }
    }

    /// The same with another cell known.
    pub fn beside(self, cell: VariableRef, value: u64) -> Eyes {
        let beside = Some((cell, value));
        Eyes { beside, ..self }
    }

    fn known(&self, variable: VariableRef) -> Option<u64> {
        if variable == self.cell {
            return Some(self.value);
        }
        let (_, value) = self.beside.filter(|&(cell, _)| cell == variable)?;
        Some(value)
    }

    /// The values that an expression can have; `None` if it can have any.
    pub fn results(&self, expr: &Expr) -> Option<Vec<u64>> {
        let found = self.some_results(expr);
        match found {
            None if expr.width() == 1 => Some(vec![0, 1]),
            known => known,
        }
    }

    fn some_results(&self, expr: &Expr) -> Option<Vec<u64>> {
        let mut found = match expr {
            Expr::Const { value, .. } => vec![*value],
            Expr::ThreadId => vec![u64::from(self.thread) & mask(INDEX_WIDTH)],
            Expr::Read(place) => vec![self.known(place.variable)?],
            Expr::Unary(op, arg) => {
                let width = arg.width();
                let args = self.results(arg)?;
                args.into_iter().map(|arg| op.apply(arg, width)).collect()
            }
            Expr::Binary(op, lhs, rhs) => {
                let width = lhs.width();
                let (lhs, rhs) = (self.results(lhs)?, self.results(rhs)?);
                let pairs = lhs.iter().flat_map(|&a| rhs.iter().map(move |&b| (a, b)));
                pairs.map(|(a, b)| op.apply(a, b, width)).collect()
            }
            Expr::If(condition, then, otherwise) => {
                let mut found = Vec::new();
                for holds in self.results(condition)? {
                    let chosen = if holds != 0 { then } else { otherwise };
                    found.extend(self.results(chosen)?);
                }
                found
            }
            Expr::Resize { arg, width, signed } => {
                let from = arg.width();
                let args = self.results(arg)?;
                args.into_iter()
                    .map(|arg| resize(arg, from, *width, *signed))
                    .collect()
            }
            _ => return None,
        };
        found.sort_unstable();
        found.dedup();
        (found.len() <= MOST_RESULTS).then_some(found)
    }

    pub fn may_hold(&self, condition: &Expr) -> bool {
        self.results(condition)
            .is_none_or(|results| results.iter().any(|&result| result != 0))
    }

    /// The values that the cell can have after the effects; `None` if any.
    pub fn after(&self, effects: &[Effect]) -> Option<Vec<u64>> {
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
                let eyes = Eyes {
                    value: before,
                    ..*self
                };
                next.extend(eyes.results(value)?);
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

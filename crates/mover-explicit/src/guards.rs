//! The guards of a location as a decision tree.
//!
//! The edges of a location often test the same conditions: one option requires a condition, the
//! next its negation; an edge that computes something is preceded by edges to errors that test
//! whether an index is out of bounds. Evaluating edge by edge would repeat the same comparison.
//! So the guards of each priority are split into conjunctions and combined into a decision tree
//! in which no condition is tested twice on the path to an edge. Expressions are total and have
//! no effects, so the order of the tests is free.

use mover_ir::expr::Expr;
use mover_ir::literal::{Literal, conjunction, flatten};
use mover_ir::simplify::assuming;

use crate::code::{Code, Compiler, View};

/// What to do next while looking for the edges whose guards hold.
#[derive(Debug)]
pub enum Decision {
    /// The guard of this edge holds.
    Take(u16),
    Test {
        condition: Code,
        then: Vec<Decision>,
        otherwise: Vec<Decision>,
    },
}

/// An edge with what is still to be asked for it.
struct Pending {
    edge: u16,
    literals: Vec<Literal>,
}

/// Builds the tree for edges given by number and guard.
pub fn decide<'e>(
    compiler: &Compiler,
    guards: impl IntoIterator<Item = (u16, &'e Expr)>,
) -> Vec<Decision> {
    let pending = guards
        .into_iter()
        .map(|(edge, guard)| Pending {
            edge,
            literals: conjunction(guard),
        })
        .collect();
    build(compiler, pending, &mut Vec::new())
}

fn build(
    compiler: &Compiler,
    mut pending: Vec<Pending>,
    known: &mut Vec<Literal>,
) -> Vec<Decision> {
    let mut decisions = Vec::new();
    while !pending.is_empty() {
        let first = &mut pending[0];
        let Some(literal) = first.literals.first() else {
            decisions.push(Decision::Take(first.edge));
            pending.remove(0);
            continue;
        };
        let condition = assuming(&literal.condition, known);
        if condition != literal.condition {
            // Known in part or in whole: ask for what is left of it.
            let holds = literal.holds;
            let mut literals = Vec::new();
            flatten(&condition, holds, &mut literals);
            literals.extend_from_slice(&first.literals[1..]);
            first.literals = literals;
            if matches!(condition, Expr::Const { .. }) {
                resolve_constant(&mut pending);
            }
            continue;
        }
        match compiler.expr(&condition) {
            Code::Const(_) if matches!(condition, Expr::Const { .. }) => {
                resolve_constant(&mut pending);
            }
            Code::Const(value) => {
                let holds = value != 0;
                if first.literals[0].holds == holds {
                    first.literals.remove(0);
                } else {
                    pending.remove(0);
                }
            }
            code => {
                let (mut then, mut otherwise, mut rest) = (Vec::new(), Vec::new(), Vec::new());
                for mut item in pending {
                    let asks = |literal: &Literal| literal.condition == condition;
                    let Some(position) = item.literals.iter().position(asks) else {
                        rest.push(item);
                        continue;
                    };
                    let holds = item.literals[position].holds;
                    let contradicts = item.literals.iter().any(|l| asks(l) && l.holds != holds);
                    item.literals.retain(|literal| !asks(literal));
                    match (contradicts, holds) {
                        (true, _) => {}
                        (false, true) => then.push(item),
                        (false, false) => otherwise.push(item),
                    }
                }
                let mut branch = |items: Vec<Pending>, holds: bool| {
                    known.push(Literal {
                        condition: condition.clone(),
                        holds,
                    });
                    let built = build(compiler, items, known);
                    known.pop();
                    built
                };
                decisions.push(Decision::Test {
                    condition: code,
                    then: branch(then, true),
                    otherwise: branch(otherwise, false),
                });
                pending = rest;
            }
        }
    }
    decisions
}

/// Removes a constant that stands first: from the edge, or the edge with it.
fn resolve_constant(pending: &mut Vec<Pending>) {
    let Some(literal) = pending[0].literals.first() else {
        return;
    };
    if let Expr::Const { value, .. } = literal.condition {
        if (value != 0) == literal.holds {
            pending[0].literals.remove(0);
        } else {
            pending.remove(0);
        }
    }
}

/// Calls `take` with the edges whose guards hold.
#[inline]
pub fn walk(decisions: &[Decision], view: &View, take: &mut impl FnMut(u16)) {
    for decision in decisions {
        match decision {
            Decision::Take(edge) => take(*edge),
            Decision::Test {
                condition,
                then,
                otherwise,
            } => {
                let branch = if view.holds(condition) {
                    then
                } else {
                    otherwise
                };
                walk(branch, view, take);
            }
        }
    }
}

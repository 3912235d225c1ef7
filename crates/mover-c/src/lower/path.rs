//! Paths of the symbolic execution from a location, and what is known about values on them.

use std::collections::{BTreeSet, HashMap};

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::program::Effect;
use mover_ir::sync::SyncOp;

use super::Mode;
use crate::expr_builder::not;
use crate::ssa::*;

/// One scalar in its two readings.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    pub now: Expr,
    pub(super) before: Before,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Before {
    Same,
    Is(Expr),
    /// It depends on what the edge has done already.
    Lost,
}

impl Part {
    pub fn same(now: Expr) -> Part {
        Part {
            now,
            before: Before::Same,
        }
    }

    /// What the edge itself has put into memory.
    pub fn lost(now: Expr) -> Part {
        Part {
            now,
            before: Before::Lost,
        }
    }

    pub fn pre(&self) -> Option<&Expr> {
        match &self.before {
            Before::Same => Some(&self.now),
            Before::Is(expr) => Some(expr),
            Before::Lost => None,
        }
    }

    pub fn combine(parts: &[&Part], f: impl Fn(&[Expr]) -> Expr) -> Part {
        let now: Vec<Expr> = parts.iter().map(|part| part.now.clone()).collect();
        let before = if parts.iter().all(|part| part.before == Before::Same) {
            Before::Same
        } else {
            let pre: Option<Vec<Expr>> = parts.iter().map(|part| part.pre().cloned()).collect();
            match pre {
                Some(pre) => Before::Is(f(&pre)),
                None => Before::Lost,
            }
        };
        Part {
            now: f(&now),
            before,
        }
    }

    pub fn map(&self, f: impl Fn(Expr) -> Expr) -> Part {
        Part::combine(&[self], |args| f(args[0].clone()))
    }
}

/// A run of the code from a location on.
#[derive(Clone)]
pub struct Path {
    pub(super) block: BlockId,
    pub(super) index: usize,
    pub(super) mode: Mode,
    pub(super) env: HashMap<ValueId, Vec<Part>>,
    pub guard: Expr,
    pub effects: Vec<Effect>,
    /// The operations on synchronisation objects that the edge is.
    pub sync: Vec<SyncOp>,
    /// Whether the edge has its shared access.
    pub(super) accessed: bool,
    pub(super) has_havoc: bool,
    /// Memory that the edge has written.
    pub(super) written: BTreeSet<VariableRef>,
    pub(super) wrote_memory: bool,
    /// Whether the instruction that the path is at is done again by the next edge.
    pub(super) is_again: bool,
    pub(super) temps: Vec<usize>,
    pub(super) passed: Vec<BlockId>,
    pub loc: Option<Loc>,
    pub(super) loc_of_access: bool,
    /// Source location of the shared access.
    pub(super) access: Option<Loc>,
}

impl Path {
    /// Adds to the guard what it does not say already.
    pub fn assume(&mut self, condition: Expr) {
        let mut parts = Vec::new();
        conjuncts(&self.guard, &mut parts);
        let mut more = Vec::new();
        conjuncts(&condition, &mut more);
        for part in more {
            if parts.contains(&part) {
                continue;
            }
            if parts.contains(&not(part.clone())) {
                self.guard = Expr::FALSE;
                return;
            }
            parts.push(part);
        }
        self.guard = parts.into_iter().fold(Expr::TRUE, Expr::and);
    }

    /// What a value that the path has computed is.
    pub fn known(&self, value: ValueId) -> Option<Part> {
        self.env.get(&value)?.first().cloned()
    }
}

fn conjuncts(expr: &Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Binary(BinaryOp::And, lhs, rhs) if lhs.width() == 1 => {
            conjuncts(lhs, out);
            conjuncts(rhs, out);
        }
        Expr::Const { value: 1, width: 1 } => {}
        _ => out.push(expr.clone()),
    }
}

//! Static facts with which explicit search classifies steps while it runs.
//!
//! With the reductions `phase` and `dynamic` the class of a step depends on the state: which
//! cell it accesses, which locks its thread holds, and which threads have been observed to
//! access the cell so far (Flanagan and Qadeer 2003, Section 6). This module collects the
//! static part of that, for a program whose atomic sequences have been fused.

use mover_ir::expr::Expr;
use mover_ir::program::{Program, VariableId};

use crate::facts::access::{Accesses, EdgeRef, Object};
use crate::facts::access_exprs::Touches;
use crate::facts::future_accesses::Ahead;
use crate::facts::lock_rows::{LockRows, is_own, never_written};
use crate::facts::object_locks::ObjectLocks;
use crate::facts::opaque_numbers::numbers_are_opaque;
use crate::facts::owners::Owners;
use crate::facts::quiet_exits::quiet_ends;
use crate::facts::rw_locks::RwLock;
use crate::plan::movers::Movers;

pub struct PhaseFacts {
    pub touches: Touches,
    pub locks: LockRows,
    /// Reader-writer locks.
    pub rw: Vec<RwLock>,
    /// Locks inside objects that are reached through pointers.
    pub object_locks: ObjectLocks,
    pub owners: Owners,
    pub ahead: Ahead,
    /// By template, location and edge; see [`Movers::offers`].
    pub offers: Vec<Vec<Vec<bool>>>,
    /// Exit edges that only joiners can observe.
    pub quiet_ends: Vec<EdgeRef>,
    /// Whether the numbers of dynamic objects are not observed
    /// ([`crate::facts::opaque_numbers`]); then what an edge does to them does not count.
    pub opaque_numbers: bool,
    never_written: Vec<bool>,
}

impl PhaseFacts {
    pub fn new(movers: &Movers) -> Self {
        let program: &Program = &movers.fused.program;
        let alone = &movers.alone;
        let takes_numbers = |(edge, accesses): (EdgeRef, &Accesses)| {
            accesses.get(&Object::Numbers) == Some(&true) && !alone.is_only(program, edge)
        };
        let opaque_numbers = movers.table.iter().any(takes_numbers) && numbers_are_opaque(program);
        let mut touches = Touches::new(program, &movers.table);
        if opaque_numbers {
            touches.forget_numbers();
        }
        let locks = LockRows::find(program, alone, |variable| movers.locks.is_rw(variable));
        PhaseFacts {
            owners: Owners::find(program, alone, |variable| {
                locks.is_lock(variable) || movers.locks.is_rw(variable)
            }),
            rw: (movers.locks.rw.iter())
                .filter(|lock| !lock.cells.iter().any(|&cell| locks.is_lock(cell)))
                .cloned()
                .collect(),
            object_locks: movers.object_locks.clone(),
            locks,
            ahead: Ahead::new(program, &touches),
            touches,
            opaque_numbers,
            offers: movers.offers.clone(),
            quiet_ends: quiet_ends(program),
            never_written: never_written(program),
        }
    }

    pub fn is_rw(&self, variable: VariableId) -> bool {
        self.rw.iter().any(|lock| lock.cells.contains(&variable))
    }

    /// Whether only the thread itself can change the value of an expression.
    pub fn is_own(&self, expr: &Expr) -> bool {
        is_own(expr, &self.never_written)
    }
}

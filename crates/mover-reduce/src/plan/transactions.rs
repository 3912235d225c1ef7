//! Transactions that are known before a search.
//!
//! A transaction (Levin et al. 2005, Flanagan and Qadeer 2003) is a sequence of right movers,
//! one step of any kind, its *commit point*, and a sequence of left movers. The position of a
//! thread within a transaction depends on the path it took, so a template's graph is traversed
//! in two phases: from a location between transactions in phase *pre* as long as right movers
//! follow, and after the first other step in phase *post* as long as only left movers can
//! follow. Where post ends, the next transaction begins.
//!
//! The classes are those of `movers` and the additions of `lock_rows`: locks selected at run
//! time (`fork[left]`), semaphores, and data protected by these. A search with `phase` or
//! `dynamic` has more information, because it sees the states; so one transaction here is at
//! most one transaction there, and two here may be one there.
//!
//! The exit of a thread is observed by other threads, so its last step is never part of a
//! longer transaction; it is omitted here.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Effect, Program};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::access_exprs::{Touch, Touches};
use crate::facts::lock_rows::{LockPlace, LockRows, changes};
use crate::facts::locks::LockSet;
use crate::plan::movers::{Movers, Protection};

/// One transaction of a template's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    pub template: usize,
    /// The location where it begins.
    pub start: usize,
    pub edges: BTreeSet<EdgeRef>,
    /// The edges among them by which it commits.
    pub commits: BTreeSet<EdgeRef>,
    /// The locations where it ends.
    pub ends: BTreeSet<usize>,
}

/// The movers of a program with the additions from arrays of locks.
pub struct Classes<'a> {
    pub movers: &'a Movers,
    pub rows: LockRows,
    touches: Touches,
    /// Locks from arrays that protect objects without another lock.
    by_row: BTreeMap<Object, Object>,
}

/// Before an edge or after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl<'a> Classes<'a> {
    pub fn new(movers: &'a Movers) -> Self {
        let program = &movers.fused.program;
        let mut classes = Classes {
            movers,
            rows: LockRows::find(program, &movers.alone, |variable| {
                movers.locks.is_rw(variable)
            }),
            touches: Touches::new(program, &movers.table),
            by_row: BTreeMap::new(),
        };
        classes.by_row = classes.protected_by_rows(&movers.table);
        classes
    }

    fn program(&self) -> &'a Program {
        &self.movers.fused.program
    }

    /// The lock that protects an object, of whatever kind.
    pub fn protection(&self, object: Object) -> Protection {
        match &self.movers.protection[&object] {
            Protection::Unprotected if self.is_row(object) => Protection::Lock,
            Protection::Unprotected => match self.by_row.get(&object) {
                Some(&lock) => Protection::By(lock),
                None => Protection::Unprotected,
            },
            known => known.clone(),
        }
    }

    /// Whether the object belongs to an array of locks.
    fn is_row(&self, object: Object) -> bool {
        match object {
            Object::Cell(variable, _) | Object::Variable(variable) => self.rows.is_lock(variable),
            _ => false,
        }
    }

    /// Locks held while an edge is executed, as far as their cell is known and they protect what it
    /// reads or what it writes.
    pub fn held_during(&self, at: EdgeRef, writes: bool) -> LockSet {
        let mut locks = self.movers.locks.held_during(at, writes);
        let held = self.rows.held(at.template, at.location).iter();
        let taken = &self.rows.handled(at.template, at.location, at.edge).takes;
        locks.extend(held.chain(taken).filter_map(known_cell));
        locks
    }

    fn protected_by_rows(&self, table: &AccessTable) -> BTreeMap<Object, Object> {
        let mut common: BTreeMap<Object, LockSet> = BTreeMap::new();
        for (edge, accesses) in table.iter() {
            for (&object, &written) in accesses {
                let locks = self.held_during(edge, written);
                let is_data = matches!(object, Object::Cell(..) | Object::Variable(_));
                if is_data && self.movers.protection[&object] == Protection::Unprotected {
                    common
                        .entry(object)
                        .and_modify(|known| known.retain(|lock| locks.contains(lock)))
                        .or_insert_with(|| locks.clone());
                }
            }
        }
        common
            .into_iter()
            .filter_map(|(object, locks)| Some((object, *locks.first()?)))
            .collect()
    }

    pub fn is_left(&self, at: EdgeRef) -> bool {
        self.moves(at, Side::Before)
    }

    pub fn is_right(&self, at: EdgeRef) -> bool {
        self.moves(at, Side::After)
    }

    /// Whether the thread has exclusive access to everything that the edge accesses, before or after it.
    fn moves(&self, at: EdgeRef, side: Side) -> bool {
        let offers = self.movers.offers[at.template][at.location][at.edge];
        let withdraws = self.movers.meets[at.template][at.location];
        if withdraws || (offers && side == Side::Before) {
            return false;
        }
        let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
        if side == Side::After && at.of(self.program()).effects.iter().any(spawns) {
            // The steps of the new thread cannot come before it.
            return false;
        }
        let left = side == Side::Before;
        let mut accessed = self.movers.table.of(at).keys();
        accessed.all(|&object| self.exclusive(at, object, left) == Expr::TRUE)
    }

    /// When the thread has exclusive access to an object, in the state before the edge or in the one after
    /// it; as far as that follows from locks.
    pub(crate) fn exclusive(&self, at: EdgeRef, object: Object, left: bool) -> Expr {
        let rows: &[LockPlace] = match left {
            true => self.rows.held(at.template, at.location),
            false => {
                let target = at.of(self.program()).target.index();
                self.rows.held(at.template, target)
            }
        };
        let locks = &self.movers.locks;
        let is_exclusive = match self.protection(object) {
            Protection::OneThread | Protection::NeverWritten => true,
            Protection::By(lock) => {
                let held = match left {
                    true => locks.held_before(at),
                    false => locks.held_after(at),
                };
                held.contains(&lock) || rows.iter().filter_map(known_cell).any(|held| held == lock)
            }
            Protection::Lock if locks.locks.contains(&object) => locks.lock_moves(at, object, left),
            Protection::Lock => return self.has_cells(at, object, rows, left),
            Protection::Unprotected => self.movers.object_locks.moves(at, object, left),
        };
        if is_exclusive {
            Expr::TRUE
        } else {
            Expr::FALSE
        }
    }

    /// When all accessed cells of an array of locks are held: those that the thread must hold at its
    /// location, and those that have its mark.
    fn has_cells(&self, at: EdgeRef, object: Object, held: &[LockPlace], left: bool) -> Expr {
        let (Object::Cell(row, _) | Object::Variable(row)) = object else {
            return Expr::FALSE;
        };
        let edge = at.of(self.program());
        let touches = self.touches.of(at.template, at.location, at.edge).iter();
        let cells = touches.filter_map(|touch| match touch {
            Touch::Cells {
                variable, index, ..
            } if *variable == row => Some(index.as_ref()),
            _ => None,
        });
        let mut all = None;
        for index in cells {
            let is_held = match (index, self.rows.mark(row)) {
                (Some(index), _)
                    if (held.iter())
                        .any(|place| place.variable == row && place.index == *index) =>
                {
                    Expr::TRUE
                }
                (Some(index), Some(mark)) if left || !changes(edge, index) => {
                    let ty = self.program().globals[row.index()].ty;
                    let cell = Place::element(VariableRef::Global(row), index.clone(), ty);
                    let mark = mark.clone().resize(ty.width, false);
                    Expr::binary(BinaryOp::Eq, Expr::Read(cell), mark)
                }
                _ => Expr::FALSE,
            };
            all = Some(all.unwrap_or(Expr::TRUE).and(is_held));
        }
        all.unwrap_or(Expr::FALSE)
    }

    /// The transactions of a template, in the order of discovery.
    pub fn transactions(&self, template: usize) -> Vec<Transaction> {
        let body = &self.program().templates[template];
        let mut starts = vec![body.entry.index()];
        let mut found = Vec::new();
        let mut next = 0;
        while next < starts.len() {
            let start = starts[next];
            next += 1;
            if self.is_over(template, start) {
                continue;
            }
            let transaction = self.transaction(template, start);
            for &end in &transaction.ends {
                if !starts.contains(&end) {
                    starts.push(end);
                }
            }
            found.push(transaction);
        }
        found
    }

    /// Whether a thread there can only exit.
    fn is_over(&self, template: usize, location: usize) -> bool {
        let location = &self.program().templates[template].locations[location];
        let mut edges = location.edges.iter();
        location.ends_run() || edges.all(|edge| edge.effects == [Effect::Exit])
    }

    fn transaction(&self, template: usize, start: usize) -> Transaction {
        let body = &self.program().templates[template];
        let mut found = Transaction {
            template,
            start,
            edges: BTreeSet::new(),
            commits: BTreeSet::new(),
            ends: BTreeSet::new(),
        };
        let mut seen = BTreeSet::from([(start, false)]);
        let mut work = vec![(start, false)];
        while let Some((location, post)) = work.pop() {
            let edges = (0..body.locations[location].edges.len()).map(|edge| EdgeRef {
                template,
                location,
                edge,
            });
            let is_first = (location, post) == (start, false);
            let is_met = self.movers.meets[template][location];
            let goes_on = if post {
                !is_met && edges.clone().all(|edge| self.is_left(edge))
            } else {
                is_first || !is_met
            };
            if !goes_on || self.is_over(template, location) {
                found.ends.insert(location);
                continue;
            }
            for at in edges {
                found.edges.insert(at);
                let commits = !post && !self.is_right(at);
                if commits {
                    found.commits.insert(at);
                }
                let to = (at.of(self.program()).target.index(), post || commits);
                if seen.insert(to) {
                    work.push(to);
                }
            }
        }
        found
    }
}

/// A lock of an array as an object, if its index is known statically.
fn known_cell(place: &LockPlace) -> Option<Object> {
    let index = u32::try_from(place.index.as_const()?).ok()?;
    Some(Object::Cell(place.variable, index))
}

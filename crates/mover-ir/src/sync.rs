//! Synchronisation objects and the operations on them, as front ends declare them.
//!
//! A front end that knows what a mutex is says so: an edge that performs an operation on a
//! synchronisation object carries a [`SyncOp`] with the kind of the object, what is done to it, and
//! the cell that represents it. The cell may be anywhere: a variable, an element of an array, a
//! field of an object on the heap. Whatever else a front end merges into the edge, the operation
//! stays visible.
//!
//! The meaning of the program does not depend on declarations: [`crate::semantics`] does not read
//! them. A declaration is a claim about what the edge does to the cell, and [`SyncOp::breach`] checks
//! it on the edge itself. [`crate::validate`] accepts no program with a declaration that does not hold, so
//! analyses may rely on them. What is not declared must still be understood from what edges do:
//! Promela has no mutexes, and programs build spin locks from atomic operations.
//!
//! **Locks** contain the *mark* of the thread that holds them, its number plus 1 ([`mark`]), or
//! another value while nobody does. A recursive mutex has a second cell that counts how many times
//! more than once its holder has locked it.

use crate::expr::{BinaryOp, Expr, Place, VariableRef};
use crate::literal::{Literal, conjunction};
use crate::program::{Edge, Effect};

/// Kinds of synchronisation objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SyncKind {
    Mutex,
    SpinLock,
    /// Its writer's cell contains a mark, its readers' cell a number.
    ReadWriteLock,
    Condition,
    Semaphore,
    Barrier,
    Once,
}

impl SyncKind {
    pub fn name(self) -> &'static str {
        match self {
            SyncKind::Mutex => "mutex",
            SyncKind::SpinLock => "spin lock",
            SyncKind::ReadWriteLock => "read-write lock",
            SyncKind::Condition => "condition variable",
            SyncKind::Semaphore => "semaphore",
            SyncKind::Barrier => "barrier",
            SyncKind::Once => "once flag",
        }
    }
}

/// What an edge does to a synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SyncAction {
    /// Finds a lock free and writes the thread's mark into it.
    Acquire,
    /// Locks a recursive mutex that the thread holds once more.
    AcquireAgain,
    /// Finds that an operation is not possible, and changes nothing.
    Fail,
    /// Replaces the mark in a lock by a constant.
    Release,
    /// Unlocks a recursive mutex that stays locked.
    ReleaseOnce,
    /// One reader more.
    AcquireShared,
    /// One reader less.
    ReleaseShared,
    /// Any other operation: waiting, waking, signalling, arriving, initialising, destroying.
    Other,
}

/// An operation on a synchronisation object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SyncOp {
    pub kind: SyncKind,
    pub action: SyncAction,
    /// The content of the object's cell before the edge: a read or a load.
    pub cell: Expr,
    /// Of a mutex that may be recursive: the cell that counts.
    pub count: Option<Expr>,
}

/// What the cell of a lock contains while the executing thread holds it.
pub fn mark() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1))
}

impl SyncOp {
    /// In what the edge does not do what is declared.
    pub fn breach(&self, edge: &Edge) -> Option<&'static str> {
        let mut cells = std::iter::once(&self.cell).chain(&self.count);
        let is_cell = |cell: &Expr| match cell {
            Expr::Read(place) => matches!(place.variable, VariableRef::Global(_)),
            Expr::Load { .. } => true,
            _ => false,
        };
        if !cells.all(is_cell) {
            return Some("the object of an operation is no cell of shared memory");
        }
        let written = written_values(edge, &self.cell);
        let literals = conjunction(&edge.guard);
        let plus = |cell: &Expr, by: i64| {
            let by = Expr::constant(by, cell.width());
            Expr::binary(BinaryOp::Add, cell.clone(), by)
        };
        let counts = |by: i64| {
            self.count
                .as_ref()
                .is_some_and(|count| written_values(edge, count) == [&plus(count, by)])
        };
        let finds_count = |holds: bool| {
            let zero = |count: &Expr| Expr::constant(0, count.width());
            let is_zero = |count: &Expr| finds(&literals, count, &zero(count), holds);
            self.count.as_ref().is_some_and(is_zero)
        };
        let is_free = literals.iter().any(|literal| {
            literal.holds
                && compared_with(literal, &self.cell).is_some_and(|it| it.as_const().is_some())
        });
        let is_mine = finds(&literals, &self.cell, &mark(), true);
        let holds = match self.action {
            SyncAction::Acquire => is_free && written == [&mark()],
            SyncAction::AcquireAgain => is_mine && written.is_empty() && counts(1),
            SyncAction::ReleaseOnce => {
                is_mine && finds_count(false) && written.is_empty() && counts(-1)
            }
            SyncAction::Fail => written.is_empty(),
            SyncAction::Release => matches!(written[..], [value] if value.as_const().is_some()),
            SyncAction::AcquireShared => written == [&plus(&self.cell, 1)],
            SyncAction::ReleaseShared => written == [&plus(&self.cell, -1)],
            SyncAction::Other => true,
        };
        (!holds).then_some(match self.action {
            SyncAction::Acquire => "does not write its mark into a lock that it finds free",
            SyncAction::AcquireAgain => "does not count a lock that it holds up",
            SyncAction::ReleaseOnce => "does not count a lock that it holds down",
            SyncAction::Fail => "changes an object although the operation fails",
            SyncAction::Release => "does not write a constant into the lock that it releases",
            SyncAction::AcquireShared => "does not add a reader",
            SyncAction::ReleaseShared => "does not remove a reader",
            SyncAction::Other => "does something else",
        })
    }
}

/// The values that the effects of an edge write into a cell, as far as they name it by the same
/// expression.
fn written_values<'e>(edge: &'e Edge, cell: &Expr) -> Vec<&'e Expr> {
    let of = |effect: &'e Effect| match (effect, cell) {
        (Effect::Assign { place, value }, Expr::Read(it)) if place == it => Some(value),
        (Effect::Store { address, value }, Expr::Load { address: it, .. }) if address == &**it => {
            Some(value)
        }
        _ => None,
    };
    edge.effects.iter().filter_map(of).collect()
}

/// What a literal compares a cell with.
fn compared_with<'l>(literal: &'l Literal, cell: &Expr) -> Option<&'l Expr> {
    match &literal.condition {
        Expr::Binary(BinaryOp::Eq, lhs, rhs) if **lhs == *cell => Some(rhs),
        Expr::Binary(BinaryOp::Eq, lhs, rhs) if **rhs == *cell => Some(lhs),
        _ => None,
    }
}

/// Whether one of the literals says that a cell has a value, or that it has not.
pub(crate) fn finds(literals: &[Literal], cell: &Expr, value: &Expr, holds: bool) -> bool {
    literals
        .iter()
        .any(|literal| literal.holds == holds && compared_with(literal, cell) == Some(value))
}

/// The cell of a variable without an address that an expression reads, if it is always the same.
pub(crate) fn fixed_cell(cell: &Expr) -> Option<&Place> {
    match cell {
        Expr::Read(place) if place.index.as_const().is_some() => Some(place),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Ty;
    use crate::program::VariableId;

    fn cell(number: u32) -> Place {
        Place::scalar(VariableRef::Global(VariableId(number)), Ty::unsigned(32))
    }

    fn op(action: SyncAction) -> SyncOp {
        SyncOp {
            kind: SyncKind::Mutex,
            action,
            cell: Expr::Read(cell(0)),
            count: Some(Expr::Read(cell(1))),
        }
    }

    fn edge(guard: Expr, writes: Vec<(u32, Expr)>) -> Edge {
        let assign = |(number, value)| Effect::Assign {
            place: cell(number),
            value,
        };
        Edge::new(guard, writes.into_iter().map(assign).collect(), 0, "")
    }

    fn is(number: u32, value: Expr) -> Expr {
        Expr::binary(BinaryOp::Eq, Expr::Read(cell(number)), value)
    }

    fn number(value: i64) -> Expr {
        Expr::constant(value, 32)
    }

    #[test]
    fn an_edge_must_do_what_is_declared() {
        let more = |by| Expr::binary(BinaryOp::Add, Expr::Read(cell(1)), number(by));
        let acquires = edge(is(0, number(0)), vec![(0, mark())]);
        let again = edge(is(0, mark()), vec![(1, more(1))]);
        let once = edge(
            is(0, mark()).and(is(1, number(0)).negate()),
            vec![(1, more(-1))],
        );
        let releases = edge(is(0, mark()).and(is(1, number(0))), vec![(0, number(0))]);
        let fails = edge(is(0, number(0)).negate(), Vec::new());
        let edges = [
            (SyncAction::Acquire, &acquires),
            (SyncAction::AcquireAgain, &again),
            (SyncAction::ReleaseOnce, &once),
            (SyncAction::Release, &releases),
            (SyncAction::Fail, &fails),
        ];
        for (action, _) in edges {
            for (does, edge) in edges {
                // Whoever leaves the owner alone may also be said to fail.
                let leaves = action == SyncAction::Fail
                    && matches!(does, SyncAction::AcquireAgain | SyncAction::ReleaseOnce);
                let holds = op(action).breach(edge).is_none();
                assert_eq!(holds, action == does || leaves, "{action:?} {does:?}");
            }
        }
    }

    #[test]
    fn a_lock_is_acquired_by_who_finds_it_free() {
        let blind = edge(Expr::TRUE, vec![(0, mark())]);
        let held = edge(is(0, number(0)).negate(), vec![(0, mark())]);
        let other = edge(is(0, number(0)), vec![(0, number(1))]);
        let twice = edge(is(0, number(0)), vec![(0, mark()), (0, number(0))]);
        for edge in [blind, held, other, twice] {
            assert!(op(SyncAction::Acquire).breach(&edge).is_some(), "{edge:?}");
        }
    }
}

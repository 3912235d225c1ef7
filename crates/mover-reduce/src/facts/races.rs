//! Data races that locks rule out.
//!
//! Where data races are checked, a thread that is about to access memory has edges to error
//! locations, each guarded by the condition that another thread is about to access the same
//! memory. Threads then read the locations of other threads, which leaves little to reduce. If
//! both threads hold the same lock at these locations ([`Locks::held`]) they are never there at
//! the same time, and the condition is false. Replacing it by `false` removes the read. So
//! programs that protect their data by locks pay nothing for the check.
//!
//! Nothing else changes: steps keep their numbers, and the program has the same runs.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{Program, Property};

use crate::facts::access::{AccessTable, EdgeRef, Object, edges};
use crate::facts::locks::{LockSet, Locks};
use crate::facts::single_threaded_prefix::Alone;

/// Replaces the race conditions that locks rule out by `false`; returns their number.
pub fn rule_out(program: &mut Program) -> usize {
    let watchers: Vec<EdgeRef> = edges(program)
        .filter(|(at, edge)| {
            let target = &program.templates[at.template].locations[edge.target.index()];
            let mark = target.error.as_ref();
            mark.is_some_and(|mark| mark.property == Property::NoDataRace)
        })
        .map(|(at, _)| at)
        .collect();
    if watchers.is_empty() {
        return 0;
    }
    let alone = Alone::find(program);
    let locks = Locks::find(program, &AccessTable::new(program), &alone);
    let excluded: Vec<EdgeRef> = watchers
        .into_iter()
        .filter(|&at| {
            let held = exclusive(&locks, at.template, at.location);
            !held.is_empty() && is_impossible(&at.of(program).guard, &held, &locks)
        })
        .collect();
    for at in &excluded {
        let location = &mut program.templates[at.template].locations[at.location];
        location.edges[at.edge].guard = Expr::FALSE;
    }
    excluded.len()
}

/// The locks that a thread holds there and that no other thread can hold at the same time.
fn exclusive(locks: &Locks, template: usize, location: usize) -> LockSet {
    let can_be_shared = |lock: &Object| match lock {
        Object::Cell(id, _) => locks.is_rw(*id),
        _ => true,
    };
    let held = locks.held(template, location).iter();
    held.filter(|lock| !can_be_shared(lock)).copied().collect()
}

/// Whether a condition of a thread that holds these locks is false because another thread would
/// have to hold them as well.
fn is_impossible(condition: &Expr, held: &LockSet, locks: &Locks) -> bool {
    match condition {
        Expr::Const { value: 0, .. } => true,
        Expr::Binary(BinaryOp::Or, a, b) if condition.width() == 1 => {
            is_impossible(a, held, locks) && is_impossible(b, held, locks)
        }
        Expr::Binary(BinaryOp::And, ..) if condition.width() == 1 => {
            let mut parts = Vec::new();
            conjuncts(condition, &mut parts);
            let excludes = |part: &&Expr| match part {
                Expr::ThreadAt {
                    thread,
                    template,
                    locations,
                } => {
                    let has_one_too = |location: usize| {
                        let theirs = exclusive(locks, template.index(), location);
                        !theirs.is_disjoint(held)
                    };
                    parts.iter().any(|part| is_another(part, thread))
                        && locations.iter().all(|at| has_one_too(at.index()))
                }
                part => is_impossible(part, held, locks),
            };
            parts.iter().any(excludes)
        }
        _ => false,
    }
}

/// The conjuncts of a condition.
fn conjuncts<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, parts);
            conjuncts(b, parts);
        }
        part => parts.push(part),
    }
}

/// Whether a condition says that a thread is not the executing one.
fn is_another(condition: &Expr, thread: &Expr) -> bool {
    matches!(condition, Expr::Binary(BinaryOp::Ne, a, b)
        if **a == *thread && **b == Expr::ThreadId || **a == Expr::ThreadId && **b == *thread)
}

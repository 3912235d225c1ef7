//! Data races that locks rule out.
//!
//! Where data races are asked for, a thread that is about to access memory has steps into errors,
//! each on the condition that another thread is about to access the same. Threads then look at
//! where others stand, which leaves little to reduce. If both have the same lock in hand at these
//! places ([`Locks::held`]) they are never there at the same time, and the condition is false; put
//! in its place, `false` makes nobody look. What programs do by the book then costs nothing.
//!
//! Nothing else changes: steps keep their numbers, and the program has the same runs.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{Program, Property};

use crate::facts::access::{AccessTable, EdgeRef, Object, edges};
use crate::facts::locks::{LockSet, Locks};
use crate::facts::single_threaded_prefix::Alone;

/// Puts `false` in place of the conditions of races that locks rule out; how many these are.
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

/// The locks that a thread has there and that no other can have at the same time.
fn exclusive(locks: &Locks, template: usize, location: usize) -> LockSet {
    let can_be_shared = |lock: &Object| match lock {
        Object::Cell(id, _) => locks.is_rw(*id),
        _ => true,
    };
    let held = locks.held(template, location).iter();
    held.filter(|lock| !can_be_shared(lock)).copied().collect()
}

/// Whether a truth value of a thread that has these locks cannot hold because others would have
/// to have them, too.
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

/// The parts of a conjunction, none of which is one itself.
fn conjuncts<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, parts);
            conjuncts(b, parts);
        }
        part => parts.push(part),
    }
}

/// Whether a condition says that a thread is not the one that asks.
fn is_another(condition: &Expr, thread: &Expr) -> bool {
    matches!(condition, Expr::Binary(BinaryOp::Ne, a, b)
        if **a == *thread && **b == Expr::ThreadId || **a == Expr::ThreadId && **b == *thread)
}

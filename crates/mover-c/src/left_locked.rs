//! Threads that may exit while holding a lock.
//!
//! A mutex contains the number of its owner (`actions`), and numbers are reused: a thread that
//! is created after the owner has exited may count as the owner. In C it would not: unlocking
//! the mutex is an error, and locking it, if it is recursive, blocks for ever. So where a
//! thread can exit while holding a lock, the verdict says so ([`find`]); and if there are
//! recursive or error-checking mutexes, which check their owner when they are locked, the run
//! is not continued ([`cut`]).
//!
//! Over all paths to a location the analysis counts how often, at most, the thread may have
//! acquired each lock without releasing it: one more where it writes its mark into a lock or
//! increments the count of a recursive lock, one less in the reverse case. Guards refine the
//! count: finding the thread's mark in a lock that it cannot hold is impossible, and where it
//! finds another value it does not hold the lock. The locks of an array are counted together, and
//! so are those accessed through pointers with those that have an address; their guards are
//! ignored. A lock whose owner nobody asks for makes no difference: plain mutexes, unless their
//! misuse is searched for.

use std::collections::{BTreeSet, HashMap, HashSet};

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::literal::{Literal, conjunction};
use mover_ir::program::{
    BoundKind, BoundMark, Edge, Effect, Location, LocationId, Template, Variable,
};
use mover_source::Span;

use crate::actions::me;

/// What is taken more often than this is not distinguished.
const MOST: u32 = 8;

/// Locks that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Locks {
    Variable(VariableRef),
    ReachedByPointers,
}

/// How often a thread may have taken them. What is not there it does not have.
type HeldCounts = HashMap<Locks, u32>;

/// Where a thread exits that may hold a lock whose owner some thread asks for.
pub fn find(templates: &[Template], globals: &[Variable]) -> Option<Option<Span>> {
    let asked: HashSet<Locks> = templates
        .iter()
        .flat_map(|template| &template.locations)
        .flat_map(|location| &location.edges)
        .flat_map(|edge| conjunction(&edge.guard))
        .filter_map(|literal| match question(&literal)? {
            (cell, Asks::IsMine) => locks_of(cell, globals),
            _ => None,
        })
        .collect();
    templates.iter().find_map(|template| {
        let ends = ends(template, globals, |locks| asked.contains(&locks));
        let (location, edge) = *ends.first()?;
        Some(template.locations[location].edges[edge].span)
    })
}

/// Redirects exits while holding a lock to a bound; returns whether there are such exits.
pub fn cut(template: &mut Template, globals: &[Variable], message: &str) -> bool {
    let ends = ends(template, globals, |_| true);
    let Some(&(location, edge)) = ends.first() else {
        return false;
    };
    let span = template.locations[location].edges[edge].span;
    let target = LocationId(template.locations.len() as u32);
    for &(location, edge) in &ends {
        let edge = &mut template.locations[location].edges[edge];
        edge.effects.clear();
        edge.sync.clear();
        edge.target = target;
    }
    template.locations.push(Location {
        bound: Some(BoundMark {
            kind: BoundKind::ExitWithLock,
            message: message.to_string(),
        }),
        span,
        ..Location::default()
    });
    true
}

/// The edges by which a thread ends that may have a lock in hand: location and number.
fn ends(
    template: &Template,
    globals: &[Variable],
    matters: impl Fn(Locks) -> bool,
) -> Vec<(usize, usize)> {
    let mut held: Vec<Option<HeldCounts>> = vec![None; template.locations.len()];
    held[template.entry.index()] = Some(HeldCounts::new());
    let mut work = vec![template.entry.index()];
    let mut found = BTreeSet::new();
    while let Some(location) = work.pop() {
        let Some(before) = held[location].clone() else {
            continue;
        };
        for (number, edge) in template.locations[location].edges.iter().enumerate() {
            let Some(after) = pass(edge, before.clone(), globals) else {
                continue;
            };
            let mut held_after = after.iter();
            if edge.effects.contains(&Effect::Exit)
                && held_after.any(|(&locks, &count)| count > 0 && matters(locks))
            {
                found.insert((location, number));
            }
            let target = edge.target.index();
            let is_first = held[target].is_none();
            let known = held[target].get_or_insert_default();
            let mut has_grown = is_first;
            for (locks, count) in after {
                let most = known.entry(locks).or_insert(0);
                has_grown |= *most < count;
                *most = count.max(*most);
            }
            if has_grown {
                work.push(target);
            }
        }
    }
    found.into_iter().collect()
}

/// The locks held after an edge; `None` if no thread can pass it.
fn pass(edge: &Edge, mut held: HeldCounts, globals: &[Variable]) -> Option<HeldCounts> {
    let literals = conjunction(&edge.guard);
    let mut asked = Vec::new();
    for literal in &literals {
        let Some((cell, asks)) = question(literal) else {
            continue;
        };
        let Some(locks) = locks_of(cell, globals) else {
            continue;
        };
        let is_single = is_single(locks, globals);
        let count = held.entry(locks).or_insert(0);
        match asks {
            Asks::IsMine if is_single && *count == 0 => return None,
            Asks::IsMine => asked.push(locks),
            Asks::IsNotMine if is_single => *count = 0,
            Asks::IsNotMine => {}
        }
    }
    for effect in &edge.effects {
        let (cell, value) = match effect {
            Effect::Assign { place, value } if matches!(place.variable, VariableRef::Global(_)) => {
                (Expr::Read(place.clone()), value)
            }
            Effect::Store { address, value } => {
                let ty = Ty::unsigned(value.width());
                (Expr::load(address.clone(), ty), value)
            }
            _ => continue,
        };
        let Some(locks) = locks_of(&cell, globals) else {
            continue;
        };
        if without_resize(value) == &me() {
            let count = held.entry(locks).or_insert(0);
            *count = (*count + 1).min(MOST);
        } else if value.as_const() == Some(0)
            && (asked.contains(&locks) || is_single(locks, globals))
        {
            let count = held.entry(locks).or_insert(0);
            *count = count.saturating_sub(1);
            if is_single(locks, globals) {
                *count = 0;
            }
        } else if let (Some(step), Some(&of)) = (step(&cell, value), asked.first()) {
            let count = held.entry(of).or_insert(0);
            if step == 1 {
                *count = (*count + 1).min(MOST);
            } else if is_single(of, globals) && *count < 2 {
                return None;
            } else {
                *count = count.saturating_sub(1);
            }
        }
    }
    Some(held)
}

enum Asks {
    IsMine,
    IsNotMine,
}

/// The cell that a condition compares with the thread's mark, or with the free value.
fn question(literal: &Literal) -> Option<(&Expr, Asks)> {
    let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), lhs, rhs) = &literal.condition else {
        return None;
    };
    let is_equal = literal.holds == (*op == BinaryOp::Eq);
    let (lhs, rhs) = (without_resize(lhs), without_resize(rhs));
    let (cell, other) = if lhs == &me() || lhs.as_const().is_some() {
        (rhs, lhs)
    } else {
        (lhs, rhs)
    };
    match other {
        other if other == &me() && is_equal => Some((cell, Asks::IsMine)),
        other if other == &me() => Some((cell, Asks::IsNotMine)),
        other if other.as_const() == Some(0) && is_equal => Some((cell, Asks::IsNotMine)),
        _ => None,
    }
}

fn locks_of(cell: &Expr, globals: &[Variable]) -> Option<Locks> {
    match cell {
        Expr::Read(Place {
            variable: VariableRef::Global(id),
            ..
        }) if globals[id.index()].addressable => Some(Locks::ReachedByPointers),
        Expr::Read(Place { variable, .. }) => Some(Locks::Variable(*variable)),
        Expr::Load { .. } => Some(Locks::ReachedByPointers),
        _ => None,
    }
}

/// Whether the guards say all there is to know: it is one cell, and nothing else leads to it.
fn is_single(locks: Locks, globals: &[Variable]) -> bool {
    match locks {
        Locks::Variable(VariableRef::Global(id)) => {
            let variable = &globals[id.index()];
            variable.len == 1
        }
        Locks::Variable(VariableRef::Local(_)) | Locks::ReachedByPointers => false,
    }
}

/// 1 or -1 if the value is that of the cell and one more or less.
fn step(cell: &Expr, value: &Expr) -> Option<i64> {
    let Expr::Binary(op, lhs, rhs) = value else {
        return None;
    };
    let one = Expr::constant(1, value.width());
    let minus_one = Expr::constant(-1, value.width());
    let is_cell = |expr: &Expr| match (expr, cell) {
        (Expr::Load { address, .. }, Expr::Load { address: of, .. }) => address == of,
        _ => expr == cell,
    };
    match op {
        BinaryOp::Add if is_cell(lhs) && **rhs == one => Some(1),
        BinaryOp::Add if is_cell(lhs) && **rhs == minus_one => Some(-1),
        BinaryOp::Sub if is_cell(lhs) && **rhs == one => Some(-1),
        _ => None,
    }
}

fn without_resize(expr: &Expr) -> &Expr {
    match expr {
        Expr::Resize { arg, .. } => without_resize(arg),
        _ => expr,
    }
}

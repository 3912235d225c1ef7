//! How far the reduction takes hold on a program, in figures.
//!
//! Transactions form where locks are recognised and data is found to be protected. This module
//! says which mutexes a program has, which of them the plan knows as locks, and how many shared
//! accesses move. `mover explain` prints what is missing, `mover bench holds` counts it over many
//! programs.
//!
//! **Mutexes.** A front end lets a thread that acquires a mutex write its own mark, its number
//! plus 1, into a cell that it finds to be 0. No other construct of C does that, so the cells
//! that are written in this way, by a thread that is not the only one, are the mutexes of the
//! program. They are found here without the rules by which [`crate::facts::locks`],
//! [`crate::facts::lock_rows`] and [`crate::facts::object_locks`] recognise locks: what those miss
//! is what this module is for.
//!
//! **Accesses.** Counted are the edges that access something shared while there are several
//! threads: those that always move to both sides, to one side, in some states only
//! (`--reduce dynamic`), and never.

use std::collections::BTreeMap;

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::literal::conjunction;
use mover_ir::program::{Effect, Program};

use crate::facts::access::{EdgeRef, Object};
use crate::facts::lock_rows::own_mark;
use crate::facts::object_locks::FieldProtection;
use crate::facts::owners::Owners;
use crate::facts::points_to::PointsTo;
use crate::plan::dynamic::Heuristics;
use crate::plan::reduction_plan::{Reduction, ReductionPlan};
use crate::plan::transactions::Classes;

/// A mutex of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MutexFacts {
    pub name: String,
    /// The lines where it is acquired.
    pub lines: Vec<usize>,
    /// Whether the plan knows it as a lock.
    pub is_recognised: bool,
    /// Whether threads that do not hold it test it, as a failing `trylock` does.
    pub is_observed: bool,
    /// Why it is not recognised.
    pub why: Option<String>,
}

/// Edges with shared accesses by class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessShares {
    /// Both movers.
    pub always: usize,
    /// Right movers or left movers.
    pub one_side: usize,
    /// Movers in some states.
    pub sometimes: usize,
    pub never: usize,
}

/// Where a mutex is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MutexPlace {
    Named(Object),
    /// In an object that is reached by pointers, at an offset.
    Inside(Object, u64),
    /// At an address of which nothing is known.
    Somewhere,
}

/// The mutexes of a program, by name.
pub(super) fn mutexes(classes: &Classes) -> Vec<MutexFacts> {
    let program = &classes.movers.fused.program;
    let points_to = PointsTo::new(program);
    let mut takings: BTreeMap<MutexPlace, Vec<EdgeRef>> = BTreeMap::new();
    let alone = &classes.movers.alone;
    for (at, _) in classes.movers.table.iter() {
        if alone.is_only(program, at) {
            continue;
        }
        for place in taken(program, &points_to, at) {
            takings.entry(place).or_default().push(at);
        }
    }
    let owners = Owners::find(program, alone, |variable| {
        classes.rows.is_lock(variable) || classes.movers.locks.is_rw(variable)
    });
    takings
        .into_iter()
        .map(|(place, edges)| mutex_facts(classes, &owners, place, &edges))
        .collect()
}

/// The cells into which an edge writes the thread's mark after it has found them to be 0.
fn taken(program: &Program, points_to: &PointsTo, at: EdgeRef) -> Vec<MutexPlace> {
    let edge = at.of(program);
    let literals = conjunction(&edge.guard);
    let finds_free = |reads: &dyn Fn(&Expr) -> bool| {
        literals.iter().any(|literal| {
            let mut is_read = false;
            literal.condition.walk(&mut |part| is_read |= reads(part));
            is_read
        })
    };
    let mut found = Vec::new();
    for effect in &edge.effects {
        match effect {
            Effect::Assign { place, value } if own_mark(value).is_some() => {
                let is_tested = finds_free(&|part| matches!(part, Expr::Read(it) if it == place));
                if is_tested && let Some(object) = named(place) {
                    found.push(MutexPlace::Named(object));
                }
            }
            Effect::Store { address, value } if own_mark(value).is_some() => {
                let reads = |part: &Expr| matches!(part, Expr::Load { address: at, .. } if **at == *address);
                if !finds_free(&reads) {
                    continue;
                }
                let Some(offset) = points_to.offset(at.template, address) else {
                    found.push(MutexPlace::Somewhere);
                    continue;
                };
                let targets = points_to.targets(at.template, address);
                let globals = targets.globals.into_iter().map(Object::Variable);
                let sites = targets.sites.into_iter().map(Object::Site);
                let objects = globals.chain(sites);
                found.extend(objects.map(|object| MutexPlace::Inside(object, offset)));
            }
            _ => {}
        }
    }
    found
}

fn named(place: &Place) -> Option<Object> {
    let VariableRef::Global(id) = place.variable else {
        return None;
    };
    Some(match place.index.as_const() {
        Some(index) => Object::Cell(id, index as u32),
        None => Object::Variable(id),
    })
}

fn mutex_facts(
    classes: &Classes,
    owners: &Owners,
    place: MutexPlace,
    edges: &[EdgeRef],
) -> MutexFacts {
    let movers = classes.movers;
    let program = &movers.fused.program;
    let known = match place {
        MutexPlace::Named(object) if movers.locks.locks.contains(&object) => {
            Some(movers.locks.is_observed(object))
        }
        MutexPlace::Named(Object::Cell(id, _) | Object::Variable(id)) => {
            // A recursive mutex is held by whom its cell names.
            let by_owner = owners.lock(id).map(|_| false);
            classes.rows.excludes(id).or(by_owner)
        }
        MutexPlace::Named(_) | MutexPlace::Somewhere => None,
        MutexPlace::Inside(object, offset) => {
            let fields = movers.object_locks.fields.get(&object);
            let mut at = fields.into_iter().flatten();
            let field = at.find(|field| field.offset == offset);
            field.and_then(|field| match field.protection {
                FieldProtection::Lock { is_observed } => Some(is_observed),
                _ => None,
            })
        }
    };
    let name = match place {
        MutexPlace::Named(object) => object.name(program),
        MutexPlace::Inside(object, offset) => format!("{}+{offset}", object.name(program)),
        MutexPlace::Somewhere => "a mutex reached through a pointer".into(),
    };
    let mut lines: Vec<usize> = (edges.iter())
        .filter_map(|at| at.of(program).span)
        .map(|span| program.info.sources.locate(span).line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    MutexFacts {
        name,
        lines,
        is_recognised: known.is_some(),
        is_observed: known == Some(true),
        why: match known {
            Some(_) => None,
            None => Some(why_not(classes, place)),
        },
    }
}

fn why_not(classes: &Classes, place: MutexPlace) -> String {
    let movers = classes.movers;
    let program = &movers.fused.program;
    if let (MutexPlace::Inside(..) | MutexPlace::Somewhere, Some(reason)) =
        (place, movers.object_locks.declined)
    {
        return reason.into();
    }
    let breach = match place {
        MutexPlace::Named(object @ Object::Cell(..)) => {
            movers
                .locks
                .breach(program, &movers.table, &movers.alone, object)
        }
        MutexPlace::Named(_) => None,
        MutexPlace::Inside(object, _) => {
            let found = movers.object_locks.breaches.get(&object);
            found.map(|breach| (breach.at, breach.reason))
        }
        MutexPlace::Somewhere => return "nothing is known of the pointer".into(),
    };
    let Some((at, reason)) = breach else {
        return "no rule for locks fits all of its accesses".into();
    };
    match at.of(program).span {
        Some(span) => {
            let place = program.info.sources.locate(span);
            format!("line {} {reason}", place.line)
        }
        None => format!("{} {reason}", program.templates[at.template].name),
    }
}

/// The edges with shared accesses by class.
pub(super) fn access_shares(classes: &Classes) -> AccessShares {
    let movers = classes.movers;
    let program = &movers.fused.program;
    let alone = &movers.alone;
    let plan = ReductionPlan::of(movers, Reduction::Dynamic, Heuristics::ALL, None);
    let mut shares = AccessShares::default();
    for (at, accesses) in movers.table.iter() {
        if accesses.is_empty() || alone.is_only(program, at) {
            continue;
        }
        let mover = &movers.edges[at.template][at.location][at.edge];
        let left = mover.left || classes.is_left(at);
        let right = mover.right || classes.is_right(at);
        let is_sometimes = || plan.edge(at).left.may_hold() || plan.edge(at).right.may_hold();
        let share = match (left, right) {
            (true, true) => &mut shares.always,
            (false, false) if is_sometimes() => &mut shares.sometimes,
            (false, false) => &mut shares.never,
            _ => &mut shares.one_side,
        };
        *share += 1;
    }
    shares
}

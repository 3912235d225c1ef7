//! Static movers.
//!
//! An edge is a *right mover* if it commutes to the right of every step that another thread may
//! take directly after it, and a *left mover* if it commutes to the left of every step that
//! another thread may take directly before it. After Flanagan and Qadeer (2003, Section 4) this
//! follows from exclusive access to the objects that the edge accesses: in the state after the
//! edge for a right mover, in the state before it for a left mover.
//!
//! - A lock is exclusive to the thread that holds it. So acquiring is a right mover and
//!   releasing is a left mover, unless other threads test the lock without holding it
//!   ([`crate::facts::locks`]).
//! - An object that only one thread ever accesses is exclusive to that thread.
//! - An object that every edge accesses while holding one common lock is exclusive to the
//!   thread that holds that lock.
//! - The same holds for a field of an object that is accessed only while holding a lock in the
//!   same object ([`crate::facts::object_locks`]), and for a reader-writer lock, where holding it for reading is sufficient for
//!   reads ([`crate::facts::rw_locks`]).
//! - Accesses to an object that is never written do not conflict.
//! - Where a thread is the only one ([`crate::facts::single_threaded_prefix`]) everything is
//!   exclusive to it.
//! - Starting a thread takes the lowest free number. If only one thread starts others and none
//!   exits, no other thread affects that number, and starting is a left mover. It is never a
//!   right mover, because the steps of the new thread cannot come before it.
//!
//! A thread at an unbuffered receive offers a rendezvous, and withdraws the offer by any other
//! step; other threads can get stuck by that. So edges from such a location are non-movers,
//! whatever they access. An edge that leads to such a location makes the offer. That other
//! threads can accept it is harmless, but in three ways they can also observe that it was *not*
//! made: by an `else` next to the send, by a statement that the send would interrupt
//! (`unless`), and by an atomic sequence that blocks before the send. In programs with one of
//! these such an edge is not a left mover.
//!
//! All other objects are exclusive to no thread, and the edges that access them are non-movers.
//! Everything here is static: the classes hold in every state. This is the reduction called
//! `static`.

use std::collections::BTreeMap;

use mover_ir::expr::Expr;
use mover_ir::program::{Edge, Effect, Program, Template};

use crate::facts::access::{AccessTable, EdgeRef, Object, edges};
use crate::facts::locks::{LockSet, Locks};
use crate::facts::object_locks::ObjectLocks;
use crate::facts::opaque_numbers::numbers_are_opaque;
use crate::facts::pointer_provenance::pointers_stay;
use crate::facts::single_threaded_prefix::Alone;
use crate::transform::dead_values::{drop_useless_globals, forget_dead_values};
use crate::transform::fuse::{Fused, fuse};

/// Why an object is exclusive to a thread, or `Unprotected`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Protection {
    /// It is a lock itself.
    Lock,
    /// Only one thread accesses it.
    OneThread,
    NeverWritten,
    /// Accessed only while holding this lock.
    By(Object),
    /// Accessed by several threads without a common lock.
    Unprotected,
}

/// The class of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mover {
    pub left: bool,
    pub right: bool,
    pub takes_lock: bool,
    pub releases_lock: bool,
}

impl Mover {
    const BOTH: Mover = Mover {
        left: true,
        right: true,
        takes_lock: false,
        releases_lock: false,
    };
}

/// The movers of a program whose atomic sequences have been fused.
#[derive(Clone)]
pub struct Movers {
    pub fused: Fused,
    /// By template, location and edge.
    pub edges: Vec<Vec<Vec<Mover>>>,
    /// Locations at which a thread can be the receiver of a rendezvous.
    pub meets: Vec<Vec<bool>>,
    /// Edges that make an offer, in programs where a missing offer is observable.
    pub offers: Vec<Vec<Vec<bool>>>,
    pub protection: BTreeMap<Object, Protection>,
    pub locks: Locks,
    /// Locks inside objects that are reached through pointers.
    pub object_locks: ObjectLocks,
    /// Where a thread is the only one.
    pub alone: Alone,
    pub table: AccessTable,
}

impl Movers {
    /// The same without right movers: the reduction of Stoller and Cohen, as described by Flanagan and
    /// Qadeer (2003, Section 7). A transaction then begins with a step of any kind and continues with
    /// left movers.
    pub fn left_only(mut self) -> Movers {
        for mover in self.edges.iter_mut().flatten().flatten() {
            mover.right = false;
        }
        self
    }
}

/// Why a program has no movers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoMovers {
    #[error("`timeout` depends on all threads, so no step is a mover")]
    Timeout,
    #[error("with priorities every step can block the others, so no step is a mover")]
    Priorities,
}

/// Finds the movers; the error says why a program has none.
pub fn movers(original: &Program) -> Result<Movers, NoMovers> {
    check_for_movers(original)?;
    Ok(movers_of(fuse(original), false))
}

/// The same up to the numbers of dynamic objects, if the program cannot observe them
/// ([`crate::facts::opaque_numbers`]): then an allocation is a mover. For engines that represent a
/// state by any of those that differ in these numbers alone.
pub fn movers_up_to_numbers(original: &Program) -> Result<Option<Movers>, NoMovers> {
    check_for_movers(original)?;
    let mut fused = fuse(original);
    fused.program.pointers_stay = pointers_stay(&fused.program);
    let is_opaque = numbers_are_opaque(&fused.program);
    Ok(is_opaque.then(|| movers_of(fused, true)))
}

/// The same for the program with dead values reset: fewer states for searches that store them.
pub fn forgetful_movers(original: &Program) -> Result<Movers, NoMovers> {
    check_for_movers(original)?;
    let mut fused = fuse(original);
    drop_useless_globals(&mut fused.program);
    forget_dead_values(&mut fused.program);
    Ok(movers_of(fused, false))
}

/// The movers of the program in which `timeout` is always false.
///
/// A step that waits for `timeout` is taken only in a state in which no other step is possible. So a
/// run consists of parts in which `timeout` is false, each of them but the last followed by one
/// such step. Within a part the steps commute as in the program without `timeout`; a step beyond a
/// part never has to commute with anything. A search that stores every state in which no step is
/// possible, and takes the steps that wait for `timeout` from there alone, can go by these movers.
///
/// The facts are computed from all edges, those that wait for `timeout` among them. The value of
/// `timeout` may be a part of guards only.
pub fn movers_between_timeouts(
    original: &Program,
    keep_dead_values: bool,
) -> Result<Movers, NoMovers> {
    let mut in_effects = false;
    for (_, edge) in edges(original) {
        for effect in &edge.effects {
            effect.walk(&mut |expr| in_effects |= matches!(expr, Expr::Timeout));
        }
    }
    if in_effects {
        return Err(NoMovers::Timeout);
    }
    if original.uses_priorities() {
        return Err(NoMovers::Priorities);
    }
    let mut fused = fuse(original);
    if !keep_dead_values {
        drop_useless_globals(&mut fused.program);
        forget_dead_values(&mut fused.program);
    }
    Ok(movers_of(fused, false))
}

fn check_for_movers(original: &Program) -> Result<(), NoMovers> {
    if original.uses_timeout() {
        return Err(NoMovers::Timeout);
    }
    if original.uses_priorities() {
        return Err(NoMovers::Priorities);
    }
    Ok(())
}

/// What edges do to the numbers of dynamic objects may be left out.
fn movers_of(mut fused: Fused, forget_numbers: bool) -> Movers {
    // Front ends whose addresses are plain integers do not promise it, but often it can be proved.
    fused.program.pointers_stay = pointers_stay(&fused.program);
    let program = &fused.program;
    let mut table = AccessTable::new(program);
    if forget_numbers {
        table.forget(Object::Numbers);
    }
    let alone = Alone::find(program);
    let locks = Locks::find(program, &table, &alone);
    let object_locks = ObjectLocks::find(program, &table, &alone);
    let protection = protections(program, &table, &locks, &alone);
    let meets = meeting_points(program);
    let offers = noticed_offers(program, &meets);
    let classes = program
        .templates
        .iter()
        .enumerate()
        .map(|(template, body)| {
            let of_location = |location: usize| {
                (0..body.locations[location].edges.len())
                    .map(|edge| {
                        let offers = offers[template][location][edge];
                        let edge = EdgeRef {
                            template,
                            location,
                            edge,
                        };
                        let mover = if alone.is_only(program, edge) {
                            Mover::BOTH
                        } else {
                            let facts = (&table, &locks, &object_locks);
                            classify(program, facts, &protection, edge)
                        };
                        let withdraws = meets[template][location];
                        Mover {
                            left: mover.left && !withdraws && !offers,
                            right: mover.right && !withdraws,
                            ..mover
                        }
                    })
                    .collect()
            };
            (0..body.locations.len()).map(of_location).collect()
        })
        .collect();
    Movers {
        edges: classes,
        meets,
        offers,
        protection,
        locks,
        object_locks,
        alone,
        table,
        fused,
    }
}

fn protections(
    program: &Program,
    table: &AccessTable,
    locks: &Locks,
    alone: &Alone,
) -> BTreeMap<Object, Protection> {
    struct Use {
        templates: Vec<usize>,
        written: bool,
        common: LockSet,
    }
    let mut uses: BTreeMap<Object, Use> = BTreeMap::new();
    let not_alone = |edge: EdgeRef| !alone.is_only(program, edge);
    for (edge, accesses) in table.iter().filter(|(edge, _)| not_alone(*edge)) {
        for (&object, &written) in accesses {
            let held = locks.held_during(edge, written);
            let found = uses.entry(object).or_insert_with(|| Use {
                templates: Vec::new(),
                written: false,
                common: held.clone(),
            });
            if !found.templates.contains(&edge.template) {
                found.templates.push(edge.template);
            }
            found.written |= written;
            found.common = found.common.intersection(&held).copied().collect();
        }
    }
    let mut protection: BTreeMap<Object, Protection> = uses
        .into_iter()
        .map(|(object, found)| {
            let is_lock = locks.locks.contains(&object);
            let protection = if is_lock && !locks.is_observed(object) {
                Protection::Lock
            } else if !found.written {
                Protection::NeverWritten
            } else if matches!(object, Object::Inside(_)) {
                Protection::Unprotected
            } else if let [template] = found.templates[..]
                && runs_once(program, template)
            {
                Protection::OneThread
            } else if object == Object::Threads {
                Protection::Unprotected
            } else if let Some(&lock) = found.common.iter().find(|&&lock| lock != object) {
                Protection::By(lock)
            } else if is_lock {
                Protection::Lock
            } else {
                Protection::Unprotected
            };
            (object, protection)
        })
        .collect();
    // Objects accessed only in the single-threaded prefix.
    for (_, accesses) in table.iter() {
        for &object in accesses.keys() {
            protection.entry(object).or_insert(Protection::OneThread);
        }
    }
    protection
}

/// Whether a template has exactly one thread in every run.
pub(crate) fn runs_once(program: &Program, template: usize) -> bool {
    let instances = program
        .initial
        .iter()
        .filter(|instance| instance.template.index() == template)
        .count();
    let spawned = program
        .templates
        .iter()
        .flat_map(|template| &template.locations)
        .flat_map(|location| &location.edges)
        .flat_map(|edge| &edge.effects)
        .any(|effect| matches!(effect, Effect::Spawn { template: t, .. } if t.index() == template));
    instances == 1 && !spawned
}

fn classify(
    program: &Program,
    (table, locks, object_locks): (&AccessTable, &Locks, &ObjectLocks),
    protection: &BTreeMap<Object, Protection>,
    edge: EdgeRef,
) -> Mover {
    let before = locks.held_before(edge);
    let after = locks.held_after(edge);
    let exclusive = |object: &Object, left: bool| match &protection[object] {
        Protection::Lock => locks.lock_moves(edge, *object, left),
        Protection::OneThread | Protection::NeverWritten => true,
        Protection::By(lock) => if left { &before } else { &after }.contains(lock),
        Protection::Unprotected => object_locks.moves(edge, *object, left),
    };
    let accesses = table.of(edge);
    let is_spawn = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    let spawns = edge.of(program).effects.iter().any(is_spawn);
    Mover {
        left: accesses.keys().all(|object| exclusive(object, true)),
        // The steps of a new thread cannot come before it.
        right: !spawns && accesses.keys().all(|object| exclusive(object, false)),
        takes_lock: !locks.takes(edge).is_empty() || object_locks.takes(edge),
        releases_lock: !locks.releases(edge).is_empty() || object_locks.releases(edge),
    }
}

/// Locations of receives that may be unbuffered, where a thread may be the receiver of a rendezvous.
fn meeting_points(program: &Program) -> Vec<Vec<bool>> {
    let has_rendezvous = program.has_rendezvous();
    program
        .templates
        .iter()
        .map(|template| {
            let receives = |effect: &Effect| matches!(effect, Effect::Receive { .. });
            template
                .locations
                .iter()
                .map(|location| {
                    has_rendezvous
                        && location
                            .edges
                            .iter()
                            .any(|edge| edge.effects.first().is_some_and(receives))
                })
                .collect()
        })
        .collect()
}

/// By template, location and edge: edges that make an offer of a rendezvous, in programs where a missing
/// offer is observable.
pub fn offers(program: &Program) -> Vec<Vec<Vec<bool>>> {
    noticed_offers(program, &meeting_points(program))
}

/// The edges that lead to such a location, if a missing offer is observable.
fn noticed_offers(program: &Program, meets: &[Vec<bool>]) -> Vec<Vec<Vec<bool>>> {
    let mut locations = program.templates.iter().flat_map(|t| &t.locations);
    let is_noticed = locations.any(|location| {
        location.edges.iter().any(|edge| {
            let sends = |effect: &Effect| matches!(effect, Effect::Send { .. });
            let mut others = location.edges.iter();
            edge.effects.iter().any(sends)
                && (location.atomic || others.any(|other| other.priority < edge.priority))
        })
    });
    let of_template = |(template, body): (usize, &Template)| {
        let makes = |edge: &Edge| is_noticed && meets[template][edge.target.index()];
        let locations = body.locations.iter();
        locations
            .map(|location| location.edges.iter().map(makes).collect())
            .collect()
    };
    program
        .templates
        .iter()
        .enumerate()
        .map(of_template)
        .collect()
}

//! Locks that are accessed through pointers.
//!
//! In the dynamic-locking example of Günther et al. (2017) the lock is selected at run time,
//! and a thread knows it only by a pointer in a local variable. Objects that are locks are
//! found as for named locks: every edge that accesses one
//!
//! - acquires it: finds 0 there and stores the thread's number plus 1; or
//! - releases it: finds its own number plus 1 there and stores 0, or stores 0 where the thread
//!   must hold it (as in programs that are not checked for misuse of locks); or
//! - tests whether it holds it: compares it with its own number plus 1.
//!
//! So an object that contains a thread's number is changed by no other thread, and the tests of
//! the other threads have the same result whether the lock is free or held by that thread. The
//! addresses of the locks that a thread holds are computed by a must-analysis over its graph,
//! as long as the local variables in the address do not change.
//!
//! In the paper's program the pointer itself is a global variable, which main sets before it starts the
//! threads. A compiler reads it again for each use, into a register that ends with the use. So a local
//! variable that holds the value of a *settled* global, one that no thread writes while there are several,
//! is replaced by the global in the addresses of held locks. Such an address is the same for all threads, and
//! none of them can change it.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::literal::{Literal, conjunction};
use mover_ir::program::{Edge, Effect, Program, VariableId};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::object_locks::settled;
use crate::facts::points_to::PointsTo;
use crate::facts::single_threaded_prefix::Alone;

/// What an edge does with a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Handling {
    Takes(Expr),
    GivesBack(Expr),
    /// Stores 0 without a test; a release if the thread holds the lock.
    Clears(Expr),
    /// Tests it, or does not access it.
    Asks,
    Other,
}

pub struct PointerLocks {
    /// The objects that are locks.
    pub objects: BTreeSet<Object>,
    /// By template and location.
    standings: Vec<Vec<Standing>>,
}

/// What is known of a thread at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Standing {
    /// Addresses of locks that it holds.
    held: Vec<Expr>,
    /// Local variables with the value of a global variable that no longer changes.
    values: BTreeMap<VariableId, Expr>,
}

impl Standing {
    fn joined(&self, other: &Standing) -> Standing {
        let mut both = self.clone();
        both.held.retain(|address| other.held.contains(address));
        both.values
            .retain(|local, value| other.values.get(local) == Some(value));
        both
    }

    /// An address in terms of global variables that no longer change, as far as it has their values.
    fn settled(&self, address: &Expr) -> Expr {
        address.rewrite(&mut |part| match part {
            Expr::Read(place) => match place.variable {
                VariableRef::Local(id) => self.values.get(&id).cloned(),
                VariableRef::Global(_) => None,
            },
            _ => None,
        })
    }
}

impl PointerLocks {
    pub fn find(
        program: &Program,
        table: &AccessTable,
        points_to: &PointsTo,
        alone: &Alone,
    ) -> PointerLocks {
        let mut objects: BTreeSet<Object> = BTreeSet::new();
        if points_to.is_known() {
            for (at, _) in table.iter() {
                if let Handling::Takes(address) = handling(at.of(program)) {
                    let targets = points_to.targets(at.template, &address);
                    if targets.sites.is_empty() {
                        objects.extend(targets.globals.into_iter().map(Object::Variable));
                    }
                }
            }
        }
        // Objects of one cell may be accessed by name.
        let named: Vec<Object> = table
            .iter()
            .flat_map(|(_, accesses)| accesses.keys().copied())
            .filter(|object| {
                matches!(object, Object::Cell(id, _) if objects.contains(&Object::Variable(*id)))
            })
            .collect();
        objects.extend(named);
        let settled = settled(program, table, alone);
        let standings: Vec<Vec<Standing>> = (0..program.templates.len())
            .map(|template| must_hold(program, template, alone, &settled))
            .collect();
        objects.retain(|&object| {
            let mut touching = table
                .iter()
                .filter(|(_, accesses)| accesses.contains_key(&object));
            touching.all(|(at, _)| {
                let standing = &standings[at.template][at.location];
                is_proper(program, points_to, at, object, standing)
            })
        });
        PointerLocks { objects, standings }
    }

    /// Addresses of locks that a thread at the location holds.
    pub fn held(&self, template: usize, location: usize) -> &[Expr] {
        &self.standings[template][location].held
    }

    pub fn takes(&self, edge: &Edge) -> bool {
        matches!(handling(edge), Handling::Takes(_))
    }

    pub fn releases(&self, edge: &Edge) -> bool {
        matches!(handling(edge), Handling::GivesBack(_) | Handling::Clears(_))
    }
}

/// The value by which a thread marks the locks it holds.
pub fn own_mark(width: u8) -> Expr {
    let mark = Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1));
    mark.resize(width, false)
}

/// Whether an address consists of local variables, so that it can be compared.
pub(crate) fn is_local(expr: &Expr) -> bool {
    let mut local = true;
    expr.walk(&mut |expr| {
        local &= match expr {
            Expr::Const { .. } | Expr::Address { .. } | Expr::Binary(..) | Expr::Resize { .. } => {
                true
            }
            Expr::Read(place) => matches!(place.variable, VariableRef::Local(_)),
            _ => false,
        };
    });
    local
}

/// The address and the value that a literal compares.
pub(crate) fn compared(literal: &Literal) -> Option<(&Expr, &Expr)> {
    let Expr::Binary(BinaryOp::Eq, a, b) = &literal.condition else {
        return None;
    };
    match (&**a, &**b) {
        (Expr::Load { address, .. }, value) | (value, Expr::Load { address, .. }) => {
            Some((address, value))
        }
        _ => None,
    }
}

pub(crate) fn is_own_mark(expr: &Expr) -> bool {
    *expr == own_mark(expr.width())
}

fn handling(edge: &Edge) -> Handling {
    let mut stores = edge.effects.iter().filter_map(|effect| match effect {
        Effect::Store { address, value } => Some((address, value)),
        _ => None,
    });
    let (Some((address, value)), None) = (stores.next(), stores.next()) else {
        return Handling::Asks;
    };
    if !is_local(address) {
        return Handling::Other;
    }
    // The address when the guard is evaluated: nothing may change it before.
    let before = edge
        .effects
        .iter()
        .take_while(|effect| !matches!(effect, Effect::Store { .. }))
        .flat_map(Effect::written_places);
    let read = locals(address);
    if before
        .into_iter()
        .any(|place| matches!(place.variable, VariableRef::Local(id) if read.contains(&id)))
    {
        return Handling::Other;
    }
    let finds = |wanted: &dyn Fn(&Expr) -> bool| {
        conjunction(&edge.guard).iter().any(|literal| {
            literal.holds
                && compared(literal).is_some_and(|(at, found)| at == address && wanted(found))
        })
    };
    if is_own_mark(value) && finds(&|found| found.as_const() == Some(0)) {
        Handling::Takes(address.clone())
    } else if value.as_const() == Some(0) && finds(&is_own_mark) {
        Handling::GivesBack(address.clone())
    } else if value.as_const() == Some(0) {
        Handling::Clears(address.clone())
    } else {
        Handling::Other
    }
}

/// Whether all accesses of an edge to a lock are allowed.
fn is_proper(
    program: &Program,
    points_to: &PointsTo,
    at: EdgeRef,
    lock: Object,
    standing: &Standing,
) -> bool {
    let (Object::Variable(id) | Object::Cell(id, _)) = lock else {
        return false;
    };
    let edge = at.of(program);
    let may_be = |address: &Expr| {
        points_to
            .targets(at.template, address)
            .globals
            .contains(&id)
    };
    let names = |expr: &Expr| {
        let mut found = false;
        expr.walk(&mut |expr| {
            found |= matches!(expr, Expr::Read(p) if p.variable == VariableRef::Global(id));
        });
        found
    };
    let (address, is_taking) = match handling(edge) {
        Handling::Takes(address) => (Some(address), true),
        Handling::GivesBack(address) => (Some(address), false),
        Handling::Clears(address) if standing.held.contains(&standing.settled(&address)) => {
            (Some(address), false)
        }
        Handling::Clears(_) => return false,
        Handling::Asks => (None, false),
        Handling::Other => return false,
    };
    // It is never accessed by name.
    let named = names(&edge.guard)
        || edge.effects.iter().any(|effect| {
            let mut found = false;
            effect.walk(&mut |expr| found |= names(expr));
            found
                || effect
                    .written_places()
                    .iter()
                    .any(|p| p.variable == VariableRef::Global(id))
        });
    if named {
        return false;
    }
    // Loads occur only in comparisons with the thread's mark, or with 0 where the lock is acquired.
    let is_allowed = |literal: &Literal| {
        let mut loads = 0;
        literal.condition.walk(&mut |expr| {
            loads += u32::from(matches!(expr, Expr::Load { address, .. } if may_be(address)));
        });
        loads == 0
            || loads == 1
                && compared(literal).is_some_and(|(at, found)| {
                    is_own_mark(found)
                        || is_taking
                            && literal.holds
                            && found.as_const() == Some(0)
                            && Some(at) == address.as_ref()
                })
    };
    let location = &program.templates[at.template].locations[at.location];
    let guards = location
        .edges
        .iter()
        .filter(|other| std::ptr::eq(*other, edge) || other.priority > edge.priority);
    let mut proper = guards
        .flat_map(|other| conjunction(&other.guard))
        .all(|literal| is_allowed(&literal));
    for effect in &edge.effects {
        effect.walk(&mut |expr| {
            proper &= !matches!(expr, Expr::Load { address, .. } if may_be(address));
        });
    }
    // An acquisition that blocks inside an atomic sequence is observable.
    proper && !(is_taking && location.atomic)
}

pub(crate) fn locals(expr: &Expr) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    expr.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
        {
            found.insert(id);
        }
    });
    found
}

/// For each location what is known on every path to it.
fn must_hold(
    program: &Program,
    template: usize,
    alone: &Alone,
    settled: &BTreeSet<VariableId>,
) -> Vec<Standing> {
    let body = &program.templates[template];
    let mut known: Vec<Option<Standing>> = vec![None; body.locations.len()];
    known[body.entry.index()] = Some(Standing::default());
    let mut work = vec![body.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = known[location].clone() else {
            continue;
        };
        for (number, edge) in body.locations[location].edges.iter().enumerate() {
            let at = EdgeRef {
                template,
                location,
                edge: number,
            };
            let mut after = before.clone();
            match handling(edge) {
                Handling::Takes(address) => after.held.push(before.settled(&address)),
                // Another address may denote the same lock.
                Handling::GivesBack(_) | Handling::Clears(_) | Handling::Other => {
                    after.held.clear();
                }
                Handling::Asks => {}
            }
            for effect in &edge.effects {
                for place in effect.written_places() {
                    let VariableRef::Local(local) = place.variable else {
                        continue;
                    };
                    after
                        .held
                        .retain(|address| !locals(address).contains(&local));
                    after.values.remove(&local);
                    if let Effect::Assign { value, .. } = effect
                        && body.locals[local.index()].len == 1
                        && is_settled(value, settled)
                    {
                        after.values.insert(local, value.clone());
                    }
                }
            }
            if alone.is_alone(program, at) {
                // Global variables may still change.
                after.values.clear();
                after.held.retain(is_local);
            }
            let target = edge.target.index();
            let joined = match &known[target] {
                None => after,
                Some(there) => there.joined(&after),
            };
            if known[target].as_ref() != Some(&joined) {
                known[target] = Some(joined);
                work.push(target);
            }
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// Whether an expression is a global variable that no longer changes.
fn is_settled(expr: &Expr, settled: &BTreeSet<VariableId>) -> bool {
    match expr {
        Expr::Read(place) => {
            matches!(place.variable, VariableRef::Global(id) if settled.contains(&id))
        }
        _ => false,
    }
}

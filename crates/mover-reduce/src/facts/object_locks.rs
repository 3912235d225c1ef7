//! Locks inside objects: `q->m` protects `q->n`.
//!
//! Real programs keep a mutex in the structure whose data it protects, and reach both through
//! pointers. The object is then known only at run time, but the *distance* between data and
//! lock is known before. This module finds such locks and the fields they protect, for the
//! dynamic objects of an allocation site and for globals accessed through pointers (a
//! *family*), from three facts: the offsets at which pointers point into objects
//! ([`PointsTo::offset`]), the addresses of the locks that a thread must hold at a location,
//! and the offsets of all accesses to the family.
//!
//! **Locks.** An offset c of a family is a lock if every access that overlaps its four bytes,
//! by a thread that is not the only one, is one of the following: it acquires the lock (finds 0
//! and stores the thread's mark, its number plus 1), releases it (finds the mark and stores 0,
//! or stores 0 where the thread must hold it), compares it with the thread's mark, or only
//! reads it. New objects contain 0. So in every object at most one thread holds the lock at c,
//! and no other thread changes it. If it is only acquired, released and compared with marks,
//! acquiring is a right mover and releasing is a left mover; if somebody reads it otherwise, the
//! lock is *observed* and both are non-movers, as in [`crate::facts::locks`].
//!
//! **Same object.** Let a thread hold the lock at address H, and access the address A. Both are
//! a common base plus constants, so A - H is known; and they are at known offsets h and a of
//! their objects, which begin at H - h and A - a. If A - H = a - h, the objects begin at the
//! same address: they are one object. The base consists of local variables that do not change
//! in between, and of global variables that no thread writes while there are several.
//!
//! **Fields.** The accesses to a family are grouped by the bytes they overlap. A field is
//! exclusive to a thread if it is never written, if only one thread accesses it, or if every
//! access is made while holding the lock at one offset c *of the same object*: two accesses to
//! the same bytes then need the same lock.
//!
//! **What is not followed.** A write at an unknown offset can hit any field and any lock, and a
//! free by a thread that is not the only one ends the life that every access relies on: such
//! families have no locks. An access by a thread that is the only one
//! ([`crate::facts::single_threaded_prefix`]) conflicts with nothing and does not count.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::literal::{Literal, conjunction};
use mover_ir::program::{Edge, Effect, Program, VariableId};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::locks::{abandons_run, is_beside};
use crate::facts::pointer_locks::{compared, is_local, is_own_mark, locals};
use crate::facts::points_to::PointsTo;
use crate::facts::single_threaded_prefix::Alone;
use crate::plan::movers::runs_once;

/// Bytes of a lock.
const LOCK: u64 = 4;

/// How an access treats the lock whose bytes it overlaps, if they are a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Takes,
    /// Stores 0 where the guard requires the thread's mark.
    Releases,
    /// Stores 0 without a test.
    Clears,
    /// Compares with the thread's mark.
    Asks,
    /// Ends the run in a way that observes nothing ([`crate::facts::locks`]).
    Ends,
    Reads,
    Writes,
}

#[derive(Clone, Debug)]
struct Access {
    families: BTreeSet<Object>,
    /// From the beginning of the object.
    offset: Option<u64>,
    bytes: u64,
    usage: Use,
    /// The address over what does not change, if it is of that kind.
    address: Option<Address>,
}

impl Access {
    fn writes(&self) -> bool {
        matches!(
            self.usage,
            Use::Takes | Use::Releases | Use::Clears | Use::Writes
        )
    }

    fn overlaps(&self, first: u64, bytes: u64) -> bool {
        self.offset
            .is_none_or(|offset| offset < first + bytes && first < offset + self.bytes)
    }
}

/// An address as a base plus a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Address {
    base: Expr,
    plus: u64,
}

impl Address {
    fn new(expr: &Expr) -> Address {
        if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), lhs, rhs) = expr
            && let Some(by) = rhs.as_const()
        {
            let Address { base, plus } = Address::new(lhs);
            let plus = match op {
                BinaryOp::Add => plus.wrapping_add(by),
                _ => plus.wrapping_sub(by),
            };
            return Address { base, plus };
        }
        Address {
            base: expr.clone(),
            plus: 0,
        }
    }

    fn uses(&self, local: VariableId) -> bool {
        locals(&self.base).contains(&local)
    }

    fn with(&self, from: VariableId, to: &Expr) -> Address {
        let base = self.base.rewrite(&mut |expr| match expr {
            Expr::Read(place) if place.variable == VariableRef::Local(from) => Some(to.clone()),
            _ => None,
        });
        Address {
            base,
            plus: self.plus,
        }
    }
}

/// A lock that a thread holds: its address, and its offset in the object.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Held {
    address: Address,
    offset: u64,
}

impl Held {
    /// Whether the lock is in the object that is accessed.
    fn is_beside(&self, access: &Access) -> bool {
        let (Some(offset), Some(address)) = (access.offset, &access.address) else {
            return false;
        };
        address.base == self.address.base
            && address.plus.wrapping_sub(self.address.plus) == offset.wrapping_sub(self.offset)
    }
}

/// What is known of a thread at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Standing {
    held: Vec<Held>,
    /// Local variables that have the value of an expression over global variables that no longer
    /// change.
    values: BTreeMap<VariableId, Expr>,
}

impl Standing {
    fn joined(mut self, other: &Standing) -> Standing {
        self.held.retain(|held| other.held.contains(held));
        self.values
            .retain(|local, value| other.values.get(local) == Some(value));
        self
    }

    fn value(&self, expr: &Expr) -> Expr {
        expr.rewrite(&mut |part| match part {
            Expr::Read(place) => match place.variable {
                VariableRef::Local(id) => self.values.get(&id).cloned(),
                VariableRef::Global(_) => None,
            },
            _ => None,
        })
    }
}

/// The locks that an edge is taken with.
struct During {
    before: Vec<Held>,
    /// Before it or acquired by it.
    during: Vec<Held>,
    after: Vec<Held>,
}

/// Whether an access moves to the left and to the right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sides {
    left: bool,
    right: bool,
}

/// What protects a field of the objects of a family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldProtection {
    Lock {
        is_observed: bool,
    },
    NeverWritten,
    OneThread,
    /// The lock at this offset of the same object.
    By(u64),
    Unprotected,
}

/// Bytes of the objects of a family that are accessed together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub offset: u64,
    pub bytes: u64,
    pub protection: FieldProtection,
}

#[derive(Clone, Debug, Default)]
pub struct ObjectLocks {
    /// The fields of each family that has a lock.
    pub fields: BTreeMap<Object, Vec<Field>>,
    sides: BTreeMap<(EdgeRef, Object), Sides>,
    takes: BTreeSet<EdgeRef>,
    releases: BTreeSet<EdgeRef>,
    /// Locations at which a thread holds such a lock.
    holding: BTreeSet<(usize, usize)>,
    /// Why a family has no lock, or not all of its mutexes are locks.
    pub breaches: BTreeMap<Object, Breach>,
    /// Why there are no such locks at all.
    pub declined: Option<&'static str>,
}

/// What keeps the mutexes of a family from being locks: a reason, and the edge that is it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Breach {
    pub at: EdgeRef,
    pub reason: &'static str,
}

impl ObjectLocks {
    pub fn find(program: &Program, table: &AccessTable, alone: &Alone) -> ObjectLocks {
        let points_to = PointsTo::new(program);
        // An edge that waits for others to be disabled reads what those read.
        let has_priorities = (program.templates.iter())
            .flat_map(|template| &template.locations)
            .any(|location| {
                let first = location.edges.first().map(|edge| edge.priority);
                location
                    .edges
                    .iter()
                    .any(|edge| Some(edge.priority) != first)
            });
        let declined = match (points_to.is_known(), has_priorities) {
            (false, _) => Some("integers may be used as pointers, so every access may hit it"),
            (true, true) => Some("edges with priorities read what others read"),
            (true, false) => None,
        };
        if declined.is_some() {
            return ObjectLocks {
                declined,
                ..ObjectLocks::default()
            };
        }
        let mut search = ObjectLockSearch {
            program,
            alone,
            points_to,
            settled: settled(program, table, alone),
            accesses: BTreeMap::new(),
            during: BTreeMap::new(),
            holding: BTreeSet::new(),
        };
        search.look();
        search.found(table)
    }

    /// Whether the edge's accesses to the family commute with the steps of other threads: to the
    /// left, by the state before it, or to the right, by the state after it.
    pub fn moves(&self, edge: EdgeRef, family: Object, left: bool) -> bool {
        let sides = self.sides.get(&(edge, family));
        sides.is_some_and(|sides| if left { sides.left } else { sides.right })
    }

    pub fn takes(&self, edge: EdgeRef) -> bool {
        self.takes.contains(&edge)
    }

    pub fn releases(&self, edge: EdgeRef) -> bool {
        self.releases.contains(&edge)
    }

    /// Whether a thread at the location holds a lock of this kind.
    pub fn holds(&self, template: usize, location: usize) -> bool {
        self.holding.contains(&(template, location))
    }

    /// What protects the fields of a family, in words.
    pub fn words(&self, family: Object) -> Option<String> {
        let fields = self.fields.get(&family)?.iter();
        let words = fields.map(|field| {
            let what = match &field.protection {
                FieldProtection::Lock { is_observed: false } => "lock".into(),
                FieldProtection::Lock { is_observed: true } => "lock, observed".into(),
                FieldProtection::NeverWritten => "never written".into(),
                FieldProtection::OneThread => "accessed by one thread".into(),
                FieldProtection::By(lock) => format!("protected by the lock at {lock}"),
                FieldProtection::Unprotected => "not protected".into(),
            };
            format!("byte {}: {what}", field.offset)
        });
        Some(words.collect::<Vec<_>>().join("; "))
    }
}

struct ObjectLockSearch<'p> {
    program: &'p Program,
    alone: &'p Alone,
    points_to: PointsTo<'p>,
    /// Global scalars that no thread writes while there are several.
    settled: BTreeSet<VariableId>,
    /// Of edges of threads that are not the only one.
    accesses: BTreeMap<EdgeRef, Vec<Access>>,
    during: BTreeMap<EdgeRef, During>,
    holding: BTreeSet<(usize, usize)>,
}

impl ObjectLockSearch<'_> {
    /// Collects accesses and held locks, template by template.
    fn look(&mut self) {
        for template in 0..self.program.templates.len() {
            let body = &self.program.templates[template];
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
                    let after = self.follow(at, edge, &before);
                    let target = edge.target.index();
                    let joined = match &known[target] {
                        None => after,
                        Some(there) => after.joined(there),
                    };
                    if known[target].as_ref() != Some(&joined) {
                        known[target] = Some(joined);
                        work.push(target);
                    }
                }
            }
            for (location, standing) in known.into_iter().enumerate() {
                // Nothing is ever done at a location that is not reached.
                let Some(standing) = standing else { continue };
                if !standing.held.is_empty() {
                    self.holding.insert((template, location));
                }
                for (number, edge) in body.locations[location].edges.iter().enumerate() {
                    let at = EdgeRef {
                        template,
                        location,
                        edge: number,
                    };
                    if self.alone.is_only(self.program, at) {
                        continue;
                    }
                    let accesses = self.accesses_of(at, edge, &standing);
                    let during = self.locks_of(at, edge, &standing);
                    self.accesses.insert(at, accesses);
                    self.during.insert(at, during);
                }
            }
        }
    }

    /// What is known after an edge.
    fn follow(&self, at: EdgeRef, edge: &Edge, before: &Standing) -> Standing {
        if self.alone.is_alone(self.program, at) {
            // Global variables may still change.
            return Standing::default();
        }
        let mut after = Standing {
            held: self.locks_of(at, edge, before).after,
            values: before.values.clone(),
        };
        for effect in &edge.effects {
            for place in effect.written_places() {
                let VariableRef::Local(local) = place.variable else {
                    continue;
                };
                let value = match effect {
                    Effect::Assign { value, .. } if self.is_scalar(at.template, local) => {
                        Some(after.value(value))
                    }
                    _ => None,
                };
                // A copy of another local variable is another name for what that one points to.
                let copied = value.as_ref().and_then(|value| match value {
                    Expr::Read(from) => match from.variable {
                        VariableRef::Local(id) if id != local => Some(id),
                        _ => None,
                    },
                    _ => None,
                });
                after.held.retain(|held| !held.address.uses(local));
                if let Some(from) = copied {
                    let name = Expr::Read(place.clone());
                    let renamed = after.held.iter().filter(|held| held.address.uses(from));
                    let renamed: Vec<Held> = renamed
                        .map(|held| Held {
                            address: held.address.with(from, &name),
                            offset: held.offset,
                        })
                        .collect();
                    after.held.extend(renamed);
                }
                after.values.remove(&local);
                if let Some(value) = value.filter(|value| self.is_settled(value)) {
                    after.values.insert(local, value);
                }
            }
        }
        after
    }

    fn is_scalar(&self, template: usize, local: VariableId) -> bool {
        self.program.templates[template].locals[local.index()].len == 1
    }

    /// Whether an expression reads nothing but global variables that no longer change.
    fn is_settled(&self, expr: &Expr) -> bool {
        let mut is = true;
        expr.walk(&mut |part| {
            is &= match part {
                Expr::Const { .. } | Expr::Address { .. } => true,
                Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => true,
                Expr::Read(place) => {
                    matches!(place.variable, VariableRef::Global(id) if self.settled.contains(&id))
                }
                _ => false,
            };
        });
        is
    }

    /// The address over local variables and global variables that no longer change.
    fn address(&self, address: &Expr, standing: &Standing) -> Option<Address> {
        let value = standing.value(address);
        let mut is_stable = true;
        value.walk(&mut |part| {
            is_stable &= match part {
                Expr::Const { .. } | Expr::Address { .. } => true,
                Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => true,
                Expr::Read(place) => match place.variable {
                    VariableRef::Local(_) => place.index.as_const() == Some(0),
                    VariableRef::Global(id) => self.settled.contains(&id),
                },
                _ => false,
            };
        });
        is_stable.then(|| Address::new(&value))
    }

    fn lock(&self, at: EdgeRef, address: &Expr, standing: &Standing) -> Option<Held> {
        Some(Held {
            address: self.address(address, standing)?,
            offset: self.points_to.offset(at.template, address)?,
        })
    }

    /// The locks held before, during and after an edge, whenever it is enabled.
    fn locks_of(&self, at: EdgeRef, edge: &Edge, standing: &Standing) -> During {
        let mut before = standing.held.clone();
        for literal in conjunction(&edge.guard).iter().filter(|l| l.holds) {
            if let Some((address, found)) = compared(literal)
                && is_own_mark(found)
                && let Some(held) = self.lock(at, address, standing)
                && !before.contains(&held)
            {
                before.push(held);
            }
        }
        let mut during = before.clone();
        let mut after = before.clone();
        for (address, usage) in stores(edge) {
            let lock = self.lock(at, address, standing);
            match usage {
                Use::Takes => {
                    during.extend(lock.clone());
                    after.extend(lock);
                }
                // Two locks that are held at a time are different ones.
                Use::Releases | Use::Clears => match lock {
                    Some(given) if before.contains(&given) => after.retain(|held| *held != given),
                    _ => after.retain(|held| self.is_elsewhere(at, held, address)),
                },
                _ => {}
            }
        }
        During {
            before,
            during,
            after,
        }
    }

    /// Whether a store of at most eight bytes cannot hit a lock that is held.
    fn is_elsewhere(&self, at: EdgeRef, held: &Held, address: &Expr) -> bool {
        let offset = self.points_to.offset(at.template, address);
        offset.is_some_and(|offset| offset >= held.offset + LOCK || held.offset >= offset + 8)
    }

    /// The accesses of an edge to memory with addresses.
    fn accesses_of(&self, at: EdgeRef, edge: &Edge, standing: &Standing) -> Vec<Access> {
        let stored = stores(edge);
        let mut reader = Reader {
            search: self,
            at,
            standing,
            changed: BTreeSet::new(),
            found: Vec::new(),
        };
        for literal in conjunction(&edge.guard) {
            let asked = allowed(&literal, &stored);
            let ended = self.ends(at, edge, &literal);
            literal.condition.walk(&mut |part| {
                let is_it = |asked: Option<&Expr>| {
                    matches!(part, Expr::Load { address, .. } if Some(&**address) == asked)
                };
                let usage = match (is_it(asked), is_it(ended)) {
                    (true, _) => Use::Asks,
                    (false, true) => Use::Ends,
                    (false, false) => Use::Reads,
                };
                reader.read(part, usage);
            });
        }
        for effect in &edge.effects {
            effect.walk(&mut |expr| reader.read(expr, Use::Reads));
            if let Effect::Store { address, value } = effect {
                let usage = stored.iter().find(|(it, _)| std::ptr::eq(*it, address));
                let usage = usage.map_or(Use::Writes, |(_, usage)| *usage);
                reader.access(address, value.width(), usage);
            }
            for place in effect.written_places() {
                match place.variable {
                    VariableRef::Local(id) => {
                        reader.changed.insert(id);
                    }
                    VariableRef::Global(_) => self.named(place, Use::Writes, &mut reader.found),
                }
            }
        }
        reader.found
    }

    /// The address of the lock that a literal is about, if the edge ends the run without storing
    /// anything and observes nothing by it ([`crate::facts::locks`]): it abandons the run, or it finds
    /// the lock free and is beside an edge that acquires it.
    fn ends<'l>(&self, at: EdgeRef, edge: &Edge, literal: &'l Literal) -> Option<&'l Expr> {
        let template = &self.program.templates[at.template];
        let (address, found) = compared(literal)?;
        if abandons_run(template, edge) && stores(edge).is_empty() {
            return Some(address);
        }
        let is_free = literal.holds && found.as_const() == Some(0);
        if !is_free || !template.location(edge.target).ends_run() || !stores(edge).is_empty() {
            return None;
        }
        let takes = |beside: &Edge| {
            let mut stored = stores(beside).into_iter();
            stored.any(|(it, usage)| it == address && usage == Use::Takes)
        };
        let mut beside = template.locations[at.location].edges.iter();
        beside.any(takes).then_some(address)
    }

    /// The access to a global variable by its name.
    fn named(&self, place: &mover_ir::expr::Place, usage: Use, found: &mut Vec<Access>) {
        let VariableRef::Global(id) = place.variable else {
            return;
        };
        if !self.program.globals[id.index()].addressable {
            return;
        }
        let bytes = u64::from(place.ty.width.div_ceil(8));
        let offset = place.index.as_const().map(|index| index * bytes);
        found.push(Access {
            families: BTreeSet::from([Object::Variable(id)]),
            offset,
            bytes,
            usage,
            address: offset.map(|plus| Address {
                base: self.program.address_of(id),
                plus,
            }),
        });
    }

    fn all(&self, family: Object) -> impl Iterator<Item = (EdgeRef, &Access)> {
        self.accesses
            .iter()
            .flat_map(|(at, accesses)| accesses.iter().map(move |access| (*at, access)))
            .filter(move |(_, access)| access.families.contains(&family))
    }

    /// An edge on account of which a family is not followed: its objects are freed by a thread that
    /// is not the only one, or written who knows where.
    fn obstacle(&self, family: Object) -> Option<Breach> {
        let frees = |at: &EdgeRef| {
            let mut effects = at.of(self.program).effects.iter();
            effects.any(|effect| match effect {
                Effect::Free { address } => {
                    let targets = self.points_to.targets(at.template, address);
                    matches!(family, Object::Site(site) if targets.sites.contains(&site))
                }
                _ => false,
            })
        };
        if let Some(&at) = self.accesses.keys().find(|at| frees(at)) {
            let reason = "frees the object while there are other threads";
            return Some(Breach { at, reason });
        }
        let mut all = self.all(family);
        let (at, _) = all.find(|(_, access)| access.offset.is_none() && access.writes())?;
        let reason = "writes at an offset that is not known";
        Some(Breach { at, reason })
    }

    /// If all accesses to the bytes at an offset treat them as a lock: whether somebody reads it.
    fn as_lock(&self, family: Object, offset: u64) -> Result<bool, Breach> {
        let mut is_observed = false;
        for (at, access) in self.all(family).filter(|(_, a)| a.overlaps(offset, LOCK)) {
            let is_whole = access.offset == Some(offset) && access.bytes == LOCK;
            let location = &self.program.templates[at.template].locations[at.location];
            let obeys = match access.usage {
                Use::Takes => is_whole && !location.atomic,
                Use::Releases | Use::Asks | Use::Ends => is_whole,
                Use::Clears => is_whole && self.holds(&self.during[&at].before, access, offset),
                Use::Reads => {
                    is_observed |=
                        !is_whole || !self.holds(&self.during[&at].before, access, offset);
                    true
                }
                Use::Writes => false,
            };
            if !obeys {
                let reason = "writes it, but neither acquires it nor releases it while holding it";
                return Err(Breach { at, reason });
            }
        }
        Ok(is_observed)
    }

    /// Whether the lock at the offset of the accessed object is among those held.
    fn holds(&self, held: &[Held], access: &Access, lock: u64) -> bool {
        held.iter()
            .any(|held| held.offset == lock && held.is_beside(access))
    }

    fn found(self, table: &AccessTable) -> ObjectLocks {
        let mut found = ObjectLocks {
            holding: self.holding.clone(),
            ..ObjectLocks::default()
        };
        let families: BTreeSet<Object> = self
            .accesses
            .values()
            .flatten()
            .filter(|access| access.usage == Use::Takes)
            .flat_map(|access| access.families.iter().copied())
            .collect();
        for family in families {
            if let Some(obstacle) = self.obstacle(family) {
                found.breaches.insert(family, obstacle);
                continue;
            }
            let taken: BTreeSet<u64> = self
                .all(family)
                .filter(|(_, access)| access.usage == Use::Takes)
                .filter_map(|(_, access)| access.offset)
                .collect();
            let mut locks: BTreeMap<u64, bool> = BTreeMap::new();
            for offset in taken {
                match self.as_lock(family, offset) {
                    Ok(is_observed) => {
                        locks.insert(offset, is_observed);
                    }
                    Err(breach) => {
                        found.breaches.insert(family, breach);
                    }
                }
            }
            if locks.is_empty() {
                continue;
            }
            let fields = self.fields(family, &locks);
            for (at, _) in table.iter().filter(|(_, a)| a.contains_key(&family)) {
                let Some(accesses) = self.accesses.get(&at) else {
                    continue;
                };
                let mut sides = Sides {
                    left: true,
                    right: true,
                };
                for access in accesses.iter().filter(|a| a.families.contains(&family)) {
                    for field in &fields {
                        if access.overlaps(field.offset, field.bytes) {
                            let here = self.sides(at, access, field);
                            sides.left &= here.left;
                            sides.right &= here.right;
                        }
                    }
                    let is_lock = access.offset.is_some_and(|at| locks.contains_key(&at));
                    match access.usage {
                        Use::Takes if is_lock => {
                            found.takes.insert(at);
                        }
                        Use::Releases | Use::Clears if is_lock => {
                            found.releases.insert(at);
                        }
                        _ => {}
                    }
                }
                found.sides.insert((at, family), sides);
            }
            found.fields.insert(family, fields);
        }
        found
    }

    /// The bytes of a family that are accessed together, and what protects them.
    fn fields(&self, family: Object, locks: &BTreeMap<u64, bool>) -> Vec<Field> {
        let mut bounds: Vec<(u64, u64)> = self
            .all(family)
            .filter_map(|(_, access)| Some((access.offset?, access.bytes)))
            .collect();
        bounds.sort_unstable();
        let mut groups: Vec<(u64, u64)> = Vec::new();
        for (first, bytes) in bounds {
            match groups.last_mut() {
                Some((begin, length)) if first < *begin + *length => {
                    *length = (*length).max(first + bytes - *begin);
                }
                _ => groups.push((first, bytes)),
            }
        }
        groups
            .into_iter()
            .map(|(offset, bytes)| Field {
                offset,
                bytes,
                protection: match locks.get(&offset) {
                    Some(&is_observed) if bytes == LOCK => FieldProtection::Lock { is_observed },
                    _ => self.protection(family, locks, offset, bytes),
                },
            })
            .collect()
    }

    fn protection(
        &self,
        family: Object,
        locks: &BTreeMap<u64, bool>,
        offset: u64,
        bytes: u64,
    ) -> FieldProtection {
        let mut written = false;
        let mut templates: BTreeSet<usize> = BTreeSet::new();
        let mut common: BTreeSet<u64> = locks.keys().copied().collect();
        for (at, access) in self.all(family).filter(|(_, a)| a.overlaps(offset, bytes)) {
            written |= access.writes();
            templates.insert(at.template);
            let during = &self.during[&at].during;
            common.retain(|&lock| self.holds(during, access, lock));
        }
        let one = templates.len() == 1
            && templates
                .iter()
                .all(|&template| runs_once(self.program, template));
        if !written {
            FieldProtection::NeverWritten
        } else if one {
            FieldProtection::OneThread
        } else if let Some(&lock) = common.first() {
            FieldProtection::By(lock)
        } else {
            FieldProtection::Unprotected
        }
    }

    fn sides(&self, at: EdgeRef, access: &Access, field: &Field) -> Sides {
        let During { before, after, .. } = &self.during[&at];
        let both = |moves: bool| Sides {
            left: moves,
            right: moves,
        };
        match &field.protection {
            FieldProtection::Lock { is_observed } => match access.usage {
                Use::Takes => Sides {
                    left: false,
                    right: !is_observed,
                },
                Use::Releases | Use::Clears => Sides {
                    left: !is_observed,
                    right: false,
                },
                Use::Asks => both(true),
                Use::Reads => both(
                    access.offset.is_some()
                        && self.holds(before, access, field.offset)
                        && self.holds(after, access, field.offset),
                ),
                Use::Ends | Use::Writes => both(false),
            },
            FieldProtection::NeverWritten | FieldProtection::OneThread => both(true),
            FieldProtection::By(lock) => Sides {
                left: self.holds(before, access, *lock),
                right: self.holds(after, access, *lock),
            },
            FieldProtection::Unprotected => both(false),
        }
    }
}

/// Collects the accesses of an edge.
struct Reader<'a, 'p> {
    search: &'a ObjectLockSearch<'p>,
    at: EdgeRef,
    standing: &'a Standing,
    /// Local variables that the edge has written so far: their values are not those before it.
    changed: BTreeSet<VariableId>,
    found: Vec<Access>,
}

impl Reader<'_, '_> {
    fn read(&mut self, expr: &Expr, usage: Use) {
        match expr {
            Expr::Load { address, ty } => self.access(address, ty.width, usage),
            Expr::Read(place) => self.search.named(place, usage, &mut self.found),
            _ => {}
        }
    }

    fn access(&mut self, address: &Expr, width: u8, usage: Use) {
        // Nothing is at address 0: this accesses the other address, or nothing.
        let address = match (address, usage) {
            (Expr::If(_, other, nothing), Use::Reads | Use::Writes)
                if nothing.as_const() == Some(0) =>
            {
                other
            }
            _ => address,
        };
        let search = self.search;
        let targets = search.points_to.targets(self.at.template, address);
        let globals = targets.globals.into_iter().map(Object::Variable);
        let is_old = locals(address).is_disjoint(&self.changed);
        let known = is_old.then(|| search.address(address, self.standing));
        self.found.push(Access {
            families: globals
                .chain(targets.sites.into_iter().map(Object::Site))
                .collect(),
            offset: search.points_to.offset(self.at.template, address),
            bytes: u64::from(width.div_ceil(8)),
            usage,
            address: known.flatten(),
        });
    }
}

/// The stores of an edge by their addresses, each as what it is if it concerns a lock.
fn stores(edge: &Edge) -> Vec<(&Expr, Use)> {
    let literals = conjunction(&edge.guard);
    let finds = |address: &Expr, wanted: &dyn Fn(&Expr) -> bool| {
        let mut equal = literals.iter().filter(|literal| literal.holds);
        equal.any(|literal| {
            compared(literal).is_some_and(|(at, found)| at == address && wanted(found))
        })
    };
    // Effects that can block or start a thread are not beside an acquisition.
    let is_simple = edge.effects.iter().all(is_beside);
    let mut changed: BTreeSet<VariableId> = BTreeSet::new();
    let mut found: Vec<(&Expr, Use)> = Vec::new();
    for effect in &edge.effects {
        if let Effect::Store { address, value } = effect {
            let is_old = locals(address).is_disjoint(&changed)
                && !found.iter().any(|(other, _)| *other == address);
            let usage = if !is_old || !is_simple || !is_local(address) {
                Use::Writes
            } else if is_own_mark(value) && finds(address, &|found| found.as_const() == Some(0)) {
                Use::Takes
            } else if value.as_const() == Some(0) && finds(address, &is_own_mark) {
                Use::Releases
            } else if value.as_const() == Some(0) {
                Use::Clears
            } else {
                Use::Writes
            };
            found.push((address, usage));
        }
        for place in effect.written_places() {
            if let VariableRef::Local(id) = place.variable {
                changed.insert(id);
            }
        }
    }
    found
}

/// The address of the load in a literal of the guard that only concerns the thread itself: a
/// comparison with its mark, or the test for 0 of an acquisition.
fn allowed<'l>(literal: &'l Literal, stored: &[(&Expr, Use)]) -> Option<&'l Expr> {
    let (address, found) = compared(literal)?;
    let is_taken = stored
        .iter()
        .any(|(it, usage)| *it == address && *usage == Use::Takes);
    let takes = is_taken && literal.holds && found.as_const() == Some(0);
    (is_own_mark(found) || takes).then_some(address)
}

/// Global scalars that no thread writes while there are several.
pub(crate) fn settled(
    program: &Program,
    table: &AccessTable,
    alone: &Alone,
) -> BTreeSet<VariableId> {
    let mut settled: BTreeSet<VariableId> = (0..program.globals.len() as u32)
        .map(VariableId)
        .filter(|id| program.globals[id.index()].len == 1)
        .collect();
    for (_, accesses) in table.iter().filter(|(at, _)| !alone.is_only(program, *at)) {
        for (&object, &written) in accesses {
            if let (Object::Cell(id, _) | Object::Variable(id), true) = (object, written) {
                settled.remove(&id);
            }
        }
    }
    settled
}

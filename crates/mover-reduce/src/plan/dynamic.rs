//! Edges that are movers in some states only.
//!
//! After Günther et al. (2017), Section 4.1 and Table 2. An edge α that accesses an unprotected
//! object is not a static mover, because some edge β of another thread conflicts with it. In a
//! given state no such β may be reachable any more. For each other thread j and each
//! conflicting β one of these conditions must hold:
//!
//! - *reachability*: j is at a location from which β is unreachable, and j cannot spawn a
//!   thread that reaches β;
//! - *static pointer dereference*: α and β select what they access of the object by local
//!   variables (an address or an index), the two parts do not overlap, and j cannot change its
//!   local variables before it reaches β;
//! - *monotonic atomic*: α only reads a cell, or is itself a compare-and-swap that expects c
//!   there; β writes the object only by compare-and-swap that expects c; and the cell contains
//!   a value other than c.
//!
//! - *locks through pointers*: both edges are taken while holding a lock that is given by an
//!   address in local variables ([`crate::facts::pointer_locks`]); the addresses are equal,
//!   this thread holds the lock, and j can no longer change its own address.
//!
//! Each of these conditions, once it holds, prevents β from accessing what α accesses for as
//! long as all of them hold, so no step of another thread makes the conjunction false again
//! (Definition 12). This is the argument in which the paper's statements need care, and ours
//! differ: β may be any mixture of the kinds (the paper requires all conflicts to be of one
//! kind); plain accesses next to dereferences and plain writers next to compare-and-swap count
//! as conflicts that must be unreachable; a compare-and-swap that would write its own expected
//! value is harmless, so there is no condition on the value written; and a step that writes the
//! cell is not a right mover, whatever the cell contains afterwards.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, Ty, VariableRef, mask};
use mover_ir::graph::{FixedBitSet, control_flow, reaches};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, LocationId, Program, TemplateId, VariableId};

use crate::facts::access::{EdgeRef, Object};
use crate::facts::pointer_locks::{PointerLocks, own_mark};
use crate::facts::points_to::PointsTo;
use crate::plan::movers::{Movers, Protection};

/// Which of the conditions are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heuristics {
    pub reachability: bool,
    pub pointers: bool,
    pub monotonic: bool,
}

impl Heuristics {
    pub const ALL: Heuristics = Heuristics {
        reachability: true,
        pointers: true,
        monotonic: true,
    };
}

pub struct Dynamic<'m> {
    movers: &'m Movers,
    program: &'m Program,
    heuristics: Heuristics,
    threads: usize,
    /// By template and location: the reachable locations.
    reach: Vec<Vec<FixedBitSet>>,
    points_to: PointsTo<'m>,
    locks: PointerLocks,
}

/// A part of an object that an edge accesses, selected by local variables.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Spot {
    /// The address of the first byte, or, in a variable without address, the index.
    at: Expr,
    /// Bytes from the address on; 0 for an index.
    bytes: u64,
    /// The value that is there.
    value: Expr,
    written: bool,
}

/// An edge that conflicts.
struct Conflict {
    by: EdgeRef,
    /// The accessed parts of the object, if selected only by local variables.
    spots: Option<Vec<Spot>>,
}

impl<'m> Dynamic<'m> {
    pub fn new(movers: &'m Movers, heuristics: Heuristics, threads: usize) -> Self {
        let program = &movers.fused.program;
        let points_to = PointsTo::new(program);
        Dynamic {
            locks: PointerLocks::find(program, &movers.table, &points_to),
            movers,
            program,
            heuristics,
            threads,
            reach: program
                .templates
                .iter()
                .map(|body| reaches(&control_flow(body)))
                .collect(),
            points_to,
        }
    }

    /// When the edge is a left mover, evaluated before it is taken.
    pub fn left(&self, at: EdgeRef) -> Expr {
        let held = self.movers.locks.held_before(at);
        self.all_objects(at, |object| self.exclusive(at, object, &held, true), true)
    }

    /// When the edge was a right mover, evaluated after it was taken.
    pub fn right(&self, at: EdgeRef) -> Expr {
        let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
        if at.of(self.program).effects.iter().any(spawns) {
            // The steps of the new thread cannot come before it.
            return Expr::FALSE;
        }
        let held = self.movers.locks.held_after(at);
        self.all_objects(at, |object| self.exclusive(at, object, &held, false), false)
    }

    /// Whether the edge acquires a lock given by an address.
    pub fn takes_lock(&self, at: EdgeRef) -> bool {
        let touches = self.movers.table.of(at).keys();
        self.locks.takes(at.of(self.program))
            && touches
                .into_iter()
                .any(|object| self.locks.objects.contains(object))
    }

    fn exclusive(&self, at: EdgeRef, object: Object, held: &BTreeSet<Object>, left: bool) -> bool {
        match &self.movers.protection[&object] {
            Protection::Lock => self.movers.locks.lock_moves(at, object, left),
            Protection::OneThread | Protection::NeverWritten => true,
            Protection::By(lock) => held.contains(lock),
            Protection::Unprotected => self.movers.object_locks.moves(at, object, left),
        }
    }

    fn all_objects(&self, at: EdgeRef, exclusive: impl Fn(Object) -> bool, left: bool) -> Expr {
        let accesses = self.movers.table.of(at);
        let mut all = Expr::TRUE;
        for (&object, &written) in accesses {
            if !exclusive(object) {
                all = all.and(self.alone(at, object, written, left));
                if all == Expr::FALSE {
                    break;
                }
            }
        }
        all
    }

    /// The condition that no other thread interferes with the edge's access to the object.
    fn alone(&self, at: EdgeRef, object: Object, written: bool, left: bool) -> Expr {
        if self.heuristics.pointers && self.locks.objects.contains(&object) {
            let edge = at.of(self.program);
            let moves = if self.locks.takes(edge) {
                !left
            } else if self.locks.releases(edge) {
                left
            } else {
                !self.locks.held(at.template, at.location).is_empty()
            };
            if moves {
                return Expr::TRUE;
            }
        }
        let conflicts: Vec<Conflict> = self
            .movers
            .table
            .iter()
            .filter(|(_, accesses)| {
                accesses
                    .get(&object)
                    .is_some_and(|&writes| writes || written)
            })
            .map(|(by, _)| Conflict {
                by,
                spots: self.spots(by, object),
            })
            .collect();
        let plain = self.out_of_reach(at, object, &conflicts, left);
        let Some((spots, expected)) = self.monotone_spots(at, object, written, left) else {
            return plain;
        };
        // The remaining writers are those that are not a compare-and-swap with that value.
        let rest: Vec<Conflict> = conflicts
            .into_iter()
            .filter(|conflict| {
                let writes = self.movers.table.of(conflict.by)[&object];
                writes && !self.expects(conflict.by, object, &spots[0], expected)
            })
            .collect();
        let mut settled = self.out_of_reach(at, object, &rest, left);
        for spot in spots {
            let value = Expr::constant(expected as i64, spot.value.width());
            settled = settled.and(Expr::binary(BinaryOp::Ne, spot.value, value));
        }
        plain.or(settled)
    }

    /// The condition that every other thread is past all conflicting edges, or accesses other parts.
    fn out_of_reach(
        &self,
        at: EdgeRef,
        object: Object,
        conflicts: &[Conflict],
        left: bool,
    ) -> Expr {
        if conflicts.is_empty() {
            return Expr::TRUE;
        }
        let mine = Some(at)
            .filter(|_| self.heuristics.pointers && !matches!(object, Object::Cell(..)))
            .and_then(|at| self.spots(at, object))
            .filter(|spots| left || self.outlast(at, spots));
        // Edges whose parts can be compared are grouped by the expressions that select the parts.
        let mut compared: BTreeMap<(usize, String), (Vec<Spot>, Vec<EdgeRef>)> = BTreeMap::new();
        let mut locked: BTreeMap<(usize, String), (Expr, Vec<EdgeRef>)> = BTreeMap::new();
        let held_during = self.lock_held(at, left);
        let mut dangerous: Vec<EdgeRef> = Vec::new();
        for conflict in conflicts {
            let theirs = self
                .locks
                .held(conflict.by.template, conflict.by.location)
                .first();
            if let (Some(_), Some(theirs)) = (&held_during, theirs) {
                let key = (conflict.by.template, format!("{theirs:?}"));
                let group = locked
                    .entry(key)
                    .or_insert_with(|| (theirs.clone(), Vec::new()));
                group.1.push(conflict.by);
                continue;
            }
            match (&mine, &conflict.spots) {
                (Some(_), Some(spots)) => {
                    let key = (conflict.by.template, format!("{spots:?}"));
                    let group = compared
                        .entry(key)
                        .or_insert_with(|| (spots.clone(), Vec::new()));
                    group.1.push(conflict.by);
                }
                _ => dangerous.push(conflict.by),
            }
        }
        if !dangerous.is_empty() && !self.heuristics.reachability {
            return Expr::FALSE;
        }
        let away = self.before(&dangerous);
        let mut all = match &held_during {
            Some(address) if !locked.is_empty() => {
                let lock = Expr::load(address.clone(), Ty::unsigned(32));
                Expr::binary(BinaryOp::Eq, lock, own_mark(32))
            }
            _ => Expr::TRUE,
        };
        for thread in 0..self.threads {
            let mut harmless = self.not_at(thread, &away);
            for ((template, _), (spots, edges)) in &compared {
                harmless = harmless.and(self.not_at(thread, &self.before_spawn(edges)));
                let mut beside = Expr::TRUE;
                for theirs in spots {
                    for own in mine.iter().flatten() {
                        if own.written || theirs.written {
                            let template = TemplateId(*template as u32);
                            beside = beside.and(apart(own, &remote_spot(theirs, thread, template)));
                        }
                    }
                }
                let changes = self.changers(*template, spots, edges);
                beside = beside.and(self.not_at(thread, &self.before_within(&changes)));
                let past = if self.heuristics.reachability {
                    self.not_at(thread, &self.before_within(edges))
                } else {
                    // Without it only threads of other templates are known to be past the edges.
                    let everywhere = self.everywhere(*template);
                    self.not_at(thread, &everywhere)
                };
                harmless = harmless.and(past.or(beside));
            }
            for ((template, _), (theirs, edges)) in &locked {
                let Some(own) = &held_during else { continue };
                harmless = harmless.and(self.not_at(thread, &self.before_spawn(edges)));
                let id = TemplateId(*template as u32);
                let same = Expr::binary(BinaryOp::Eq, own.clone(), remote(theirs, thread, id));
                let spot = Spot {
                    at: theirs.clone(),
                    bytes: 0,
                    value: theirs.clone(),
                    written: false,
                };
                let changes = self.changers(*template, &[spot], edges);
                let stays = self.not_at(thread, &self.before_within(&changes));
                let past = if self.heuristics.reachability {
                    self.not_at(thread, &self.before_within(edges))
                } else {
                    self.not_at(thread, &self.everywhere(*template))
                };
                harmless = harmless.and(past.or(same.and(stays)));
            }
            let itself = Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(thread as i64));
            all = all.and(itself.or(harmless));
        }
        all
    }

    /// The address of a lock that the thread holds before and after the edge.
    fn lock_held(&self, at: EdgeRef, left: bool) -> Option<Expr> {
        if !self.heuristics.pointers || self.locks.objects.is_empty() {
            return None;
        }
        let edge = at.of(self.program);
        let lock = self.locks.held(at.template, at.location).first()?;
        let targets = self.points_to.targets(at.template, lock);
        let is_lock = |id| self.locks.objects.contains(&Object::Variable(id));
        let after = self.locks.held(at.template, edge.target.index());
        (targets.globals.into_iter().all(is_lock)
            && targets.sites.is_empty()
            && (left || after.contains(lock)))
        .then(|| lock.clone())
    }

    /// By template: locations from which one of the edges can be reached, also by threads spawned on the
    /// path.
    fn before(&self, edges: &[EdgeRef]) -> Vec<Vec<LocationId>> {
        let mut sources: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.reach.len()];
        for edge in edges {
            sources[edge.template].insert(edge.location);
        }
        self.close_under_spawns(&mut sources);
        self.reaching(&sources)
    }

    /// The same without spawned threads.
    fn before_within(&self, edges: &[EdgeRef]) -> Vec<Vec<LocationId>> {
        let mut sources: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.reach.len()];
        for edge in edges {
            sources[edge.template].insert(edge.location);
        }
        self.reaching(&sources)
    }

    /// Locations from which a thread can be spawned that reaches one of the edges.
    fn before_spawn(&self, edges: &[EdgeRef]) -> Vec<Vec<LocationId>> {
        let mut sources: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.reach.len()];
        for edge in edges {
            sources[edge.template].insert(edge.location);
        }
        let plain = sources.clone();
        self.close_under_spawns(&mut sources);
        for (all, plain) in sources.iter_mut().zip(plain) {
            *all = all.difference(&plain).copied().collect();
        }
        // A location that both spawns and has one of the edges counts as spawning.
        for (template, body) in self.program.templates.iter().enumerate() {
            for (location, place) in body.locations.iter().enumerate() {
                let spawns = place
                    .edges
                    .iter()
                    .flat_map(|edge| &edge.effects)
                    .any(|effect| matches!(effect, Effect::Spawn { .. }));
                if spawns {
                    sources[template].insert(location);
                }
            }
        }
        self.reaching(&sources)
    }

    fn everywhere(&self, template: usize) -> Vec<Vec<LocationId>> {
        let mut all = vec![Vec::new(); self.reach.len()];
        all[template] = (0..self.reach[template].len() as u32)
            .map(LocationId)
            .collect();
        all
    }

    fn close_under_spawns(&self, sources: &mut [BTreeSet<usize>]) {
        loop {
            let danger = self.reaching(sources);
            let mut grew = false;
            for (template, body) in self.program.templates.iter().enumerate() {
                for (location, place) in body.locations.iter().enumerate() {
                    for effect in place.edges.iter().flat_map(|edge| &edge.effects) {
                        if let Effect::Spawn { template: made, .. } = effect {
                            let entry = self.program.template(*made).entry;
                            if danger[made.index()].contains(&entry) {
                                grew |= sources[template].insert(location);
                            }
                        }
                    }
                }
            }
            if !grew {
                return;
            }
        }
    }

    fn reaching(&self, sources: &[BTreeSet<usize>]) -> Vec<Vec<LocationId>> {
        self.reach
            .iter()
            .zip(sources)
            .map(|(reach, sources)| {
                (0..reach.len())
                    .filter(|&from| sources.iter().any(|&to| reach[from].contains(to)))
                    .map(|location| LocationId(location as u32))
                    .collect()
            })
            .collect()
    }

    fn not_at(&self, thread: usize, locations: &[Vec<LocationId>]) -> Expr {
        locations
            .iter()
            .enumerate()
            .filter(|(_, locations)| !locations.is_empty())
            .fold(Expr::TRUE, |all, (template, locations)| {
                let at = Expr::ThreadAt {
                    thread: Box::new(Expr::constant(thread as i64, INDEX_WIDTH)),
                    template: TemplateId(template as u32),
                    locations: locations.clone(),
                };
                all.and(at.negate())
            })
    }

    /// Edges of a template that write a local variable of the spots and can be followed by one of the
    /// edges that access them.
    fn changers(&self, template: usize, spots: &[Spot], edges: &[EdgeRef]) -> Vec<EdgeRef> {
        let read: BTreeSet<VariableId> =
            spots.iter().flat_map(|spot| locals_of(&spot.at)).collect();
        let mut found = Vec::new();
        for (location, place) in self.program.templates[template]
            .locations
            .iter()
            .enumerate()
        {
            for (edge, body) in place.edges.iter().enumerate() {
                let changes = written_locals(body)
                    .iter()
                    .any(|local| read.contains(local));
                let reach = &self.reach[template][body.target.index()];
                if changes && edges.iter().any(|edge| reach.contains(edge.location)) {
                    found.push(EdgeRef {
                        template,
                        location,
                        edge,
                    });
                }
            }
        }
        found
    }

    /// Whether the edge does not change the local variables of its own spots.
    fn outlast(&self, at: EdgeRef, spots: &[Spot]) -> bool {
        let written = written_locals(at.of(self.program));
        let mut read = spots.iter().flat_map(|spot| locals_of(&spot.at));
        !read.any(|local| written.contains(&local))
    }

    /// The parts of an object that an edge or its enabledness accesses; `None` unless all of them are
    /// selected by local variables with their values before the edge. Whether an object is alive is
    /// read by every access and changed only by edges that allocate or free, for which the result is
    /// `None`.
    fn spots(&self, at: EdgeRef, object: Object) -> Option<Vec<Spot>> {
        if !matches!(
            object,
            Object::Cell(..) | Object::Variable(_) | Object::Site(_)
        ) {
            return None;
        }
        let location = &self.program.templates[at.template].locations[at.location];
        let edge = at.of(self.program);
        let mut spots = Vec::new();
        for other in location
            .edges
            .iter()
            .filter(|other| other.priority > edge.priority)
        {
            self.read_spots(at.template, object, &other.guard, &[], &mut spots)?;
            for effect in &other.effects {
                // The accesses that determine enabledness are among those of the evaluation.
                let mut known = Some(());
                effect.walk(&mut |expr| {
                    if known.is_some() {
                        known = self.spot_of(at.template, object, expr, &[], &mut spots);
                    }
                });
                known?;
            }
        }
        self.read_spots(at.template, object, &edge.guard, &[], &mut spots)?;
        let mut changed: Vec<VariableId> = Vec::new();
        for effect in &edge.effects {
            let mut known = Some(());
            effect.walk(&mut |expr| {
                if known.is_some() {
                    known = self.spot_of(at.template, object, expr, &changed, &mut spots);
                }
            });
            known?;
            match effect {
                Effect::Allocate { .. } | Effect::Free { .. }
                    if matches!(object, Object::Site(_)) =>
                {
                    return None;
                }
                Effect::Store { address, value } if self.may_be(at.template, address, object) => {
                    let ty = Ty::unsigned(value.width());
                    self.address_spot(address, ty, true, &changed, &mut spots)?;
                }
                _ => {}
            }
            for place in effect.written_places() {
                self.place_spot(place, object, true, &changed, &mut spots)?;
                if let VariableRef::Local(id) = place.variable {
                    changed.push(id);
                }
            }
        }
        Some(spots)
    }

    fn read_spots(
        &self,
        template: usize,
        object: Object,
        expr: &Expr,
        changed: &[VariableId],
        spots: &mut Vec<Spot>,
    ) -> Option<()> {
        let mut known = Some(());
        expr.walk(&mut |expr| {
            if known.is_some() {
                known = self.spot_of(template, object, expr, changed, spots);
            }
        });
        known
    }

    fn spot_of(
        &self,
        template: usize,
        object: Object,
        expr: &Expr,
        changed: &[VariableId],
        spots: &mut Vec<Spot>,
    ) -> Option<()> {
        match expr {
            Expr::Read(place) => self.place_spot(place, object, false, changed, spots),
            Expr::Load { address, ty } if self.may_be(template, address, object) => {
                self.address_spot(address, *ty, false, changed, spots)
            }
            _ => Some(()),
        }
    }

    /// Whether an address may point into the object.
    fn may_be(&self, template: usize, address: &Expr, object: Object) -> bool {
        let targets = self.points_to.targets(template, address);
        match object {
            Object::Cell(id, _) | Object::Variable(id) => targets.globals.contains(&id),
            Object::Site(site) => targets.sites.contains(&site),
            _ => false,
        }
    }

    fn place_spot(
        &self,
        place: &Place,
        object: Object,
        written: bool,
        changed: &[VariableId],
        spots: &mut Vec<Spot>,
    ) -> Option<()> {
        let VariableRef::Global(id) = place.variable else {
            return Some(());
        };
        if variable_of(object) != Some(id) {
            return Some(());
        }
        let index = &*place.index;
        if !is_picked_before(index, changed) {
            return None;
        }
        let (at, bytes) = if self.program.globals[id.index()].addressable {
            let width = self.program.pointers.width;
            let bytes = u64::from(place.ty.width / 8);
            let offset = Expr::binary(
                BinaryOp::Mul,
                index.clone().resize(width, false),
                Expr::constant(bytes as i64, width),
            );
            let base = self.program.address_of(id);
            (Expr::binary(BinaryOp::Add, base, offset), bytes)
        } else {
            (index.clone(), 0)
        };
        spots.push(Spot {
            at,
            bytes,
            value: Expr::Read(place.clone()),
            written,
        });
        Some(())
    }

    fn address_spot(
        &self,
        address: &Expr,
        ty: Ty,
        written: bool,
        changed: &[VariableId],
        spots: &mut Vec<Spot>,
    ) -> Option<()> {
        if !is_picked_before(address, changed) {
            return None;
        }
        spots.push(Spot {
            at: address.clone(),
            bytes: u64::from(ty.width / 8),
            value: Expr::load(address.clone(), ty),
            written,
        });
        Some(())
    }

    /// Whether an edge writes the object only by a compare-and-swap that expects the
    /// value, in a part that is the spot's or does not overlap with it.
    fn expects(&self, at: EdgeRef, object: Object, spot: &Spot, expected: u64) -> bool {
        match self.swapped(at, object) {
            Some((swapped, value)) => {
                // Aligned parts of one size are equal or disjoint.
                let fits = swapped.bytes == 0
                    || swapped.bytes == spot.bytes
                        && is_multiple(&swapped.at, spot.bytes)
                        && is_multiple(&spot.at, spot.bytes);
                fits && value == expected
            }
            None => false,
        }
    }

    /// The part that an edge writes by compare-and-swap, and the value it expects there.
    fn swapped(&self, at: EdgeRef, object: Object) -> Option<(Spot, u64)> {
        let spots = self.spots(at, object)?;
        let mut written = spots.into_iter().filter(|spot| spot.written);
        let (Some(spot), None) = (written.next(), written.next()) else {
            return None;
        };
        let edge = at.of(self.program);
        let assigns = edge.effects.iter().any(|effect| match effect {
            Effect::Assign { place, .. } => Expr::Read(place.clone()) == spot.value,
            Effect::Store { address, .. } => *address == spot.at,
            _ => false,
        });
        let value = expected_value(&edge.guard, &spot.value)?;
        assigns.then_some((spot, value))
    }

    /// The parts of the object that an edge reads, and the value that compare-and-swaps expect, if the
    /// edge does not write them itself or writes them only by such a compare-and-swap (which is then
    /// disabled).
    fn monotone_spots(
        &self,
        at: EdgeRef,
        object: Object,
        written: bool,
        left: bool,
    ) -> Option<(Vec<Spot>, u64)> {
        if !self.heuristics.monotonic || (written && !left) {
            return None;
        }
        let spots = self.spots(at, object)?;
        if spots.is_empty() || (!left && !self.outlast(at, &spots)) {
            return None;
        }
        let expected = if written {
            self.swapped(at, object)?.1
        } else {
            let mut writers = self
                .movers
                .table
                .iter()
                .filter(|(_, accesses)| accesses.get(&object).is_some_and(|&writes| writes));
            writers.find_map(|(by, _)| self.swapped(by, object))?.1
        };
        let mut distinct: Vec<Spot> = Vec::new();
        for spot in spots {
            let is_alike = spot.bytes == 0 || is_multiple(&spot.at, spot.bytes);
            if !is_alike
                || distinct
                    .first()
                    .is_some_and(|first| first.bytes != spot.bytes)
            {
                return None;
            }
            if !distinct.iter().any(|known| known.value == spot.value) {
                distinct.push(spot);
            }
        }
        Some((distinct, expected))
    }
}

/// Whether an expression consists of local variables that have not been changed yet.
fn is_picked_before(expr: &Expr, changed: &[VariableId]) -> bool {
    is_local(expr) && !locals_of(expr).iter().any(|local| changed.contains(local))
}

/// Whether an address is certainly a multiple of a power of two.
fn is_multiple(expr: &Expr, of: u64) -> bool {
    match expr {
        Expr::Const { value, .. } => value.is_multiple_of(of),
        Expr::Address { .. } => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            is_multiple(a, of) && is_multiple(b, of)
        }
        Expr::Binary(BinaryOp::Mul, a, b) => is_multiple(a, of) || is_multiple(b, of),
        Expr::Binary(BinaryOp::Shl, a, b) => {
            is_multiple(a, of)
                || b.as_const()
                    .is_some_and(|by| by < 64 && (1u64 << by).is_multiple_of(of))
        }
        Expr::Resize { arg, .. } => is_multiple(arg, of),
        Expr::If(_, a, b) => is_multiple(a, of) && is_multiple(b, of),
        _ => of == 1,
    }
}

/// The condition that two parts of an object do not overlap.
fn apart(a: &Spot, b: &Spot) -> Expr {
    if a.bytes == 0 || b.bytes == 0 {
        return differ(a.at.clone(), b.at.clone());
    }
    // Neither begins inside the other; differences wrap around.
    let distance = |from: &Expr, to: &Expr| Expr::binary(BinaryOp::Sub, to.clone(), from.clone());
    let width = a.at.width();
    let bytes = |count: u64| Expr::constant(count as i64, width);
    let behind = Expr::binary(BinaryOp::ULe, bytes(a.bytes), distance(&a.at, &b.at));
    let before = Expr::binary(BinaryOp::ULe, bytes(b.bytes), distance(&b.at, &a.at));
    behind.and(before)
}

fn remote_spot(spot: &Spot, thread: usize, template: TemplateId) -> Spot {
    Spot {
        at: remote(&spot.at, thread, template),
        ..spot.clone()
    }
}

fn variable_of(object: Object) -> Option<VariableId> {
    match object {
        Object::Cell(id, _) | Object::Variable(id) => Some(id),
        _ => None,
    }
}

/// Whether an expression consists of constants, the thread's number and local scalars or arrays.
fn is_local(expr: &Expr) -> bool {
    let mut local = true;
    expr.walk(&mut |expr| {
        local &= match expr {
            Expr::Const { .. }
            | Expr::Address { .. }
            | Expr::ThreadId
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => true,
            Expr::Read(place) => matches!(place.variable, VariableRef::Local(_)),
            _ => false,
        };
    });
    local
}

fn locals_of(expr: &Expr) -> Vec<VariableId> {
    let mut locals = Vec::new();
    expr.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
        {
            locals.push(id);
        }
    });
    locals
}

fn written_locals(edge: &Edge) -> Vec<VariableId> {
    edge.effects
        .iter()
        .flat_map(Effect::written_places)
        .filter_map(|place| match place.variable {
            VariableRef::Local(id) => Some(id),
            VariableRef::Global(_) => None,
        })
        .collect()
}

/// The expression with local variables read from another thread.
fn remote(expr: &Expr, thread: usize, template: TemplateId) -> Expr {
    let number = || Expr::constant(thread as i64, INDEX_WIDTH);
    expr.rewrite(&mut |expr| match expr {
        Expr::ThreadId => Some(number()),
        Expr::Read(place) => match place.variable {
            VariableRef::Local(variable) => Some(Expr::RemoteRead {
                thread: Box::new(number()),
                template,
                variable,
                index: Box::new(remote(&place.index, thread, template)),
                ty: place.ty,
            }),
            VariableRef::Global(_) => Some(expr.clone()),
        },
        _ => None,
    })
}

/// The condition that two indices differ, whatever their widths.
fn differ(a: Expr, b: Expr) -> Expr {
    let width = a.width().max(b.width());
    Expr::binary(BinaryOp::Ne, a.resize(width, false), b.resize(width, false))
}

/// The constant to which the guard equates a value in memory.
fn expected_value(guard: &Expr, there: &Expr) -> Option<u64> {
    let is_there = |expr: &Expr| match (expr, there) {
        (Expr::Read(a), Expr::Read(b)) => a == b,
        (Expr::Load { address: a, ty: s }, Expr::Load { address: b, ty: t }) => {
            a == b && s.width == t.width
        }
        _ => false,
    };
    let reads = |expr: &Expr| match expr {
        Expr::Resize {
            arg,
            width,
            signed: false,
        } => is_there(arg) && arg.width() <= *width,
        _ => is_there(expr),
    };
    conjunction(guard)
        .iter()
        .find_map(|literal| match &literal.condition {
            Expr::Binary(BinaryOp::Eq, a, b) if literal.holds => {
                let value = if reads(a) {
                    b.as_const()
                } else if reads(b) {
                    a.as_const()
                } else {
                    None
                };
                value.filter(|&value| value <= mask(there.width()))
            }
            condition if condition.width() == 1 && is_there(condition) => {
                Some(u64::from(literal.holds))
            }
            _ => None,
        })
}

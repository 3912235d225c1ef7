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
//!   address in local variables, or in global variables that no longer change
//!   ([`crate::facts::pointer_locks`]); the addresses are equal, this thread holds the lock, and j can no
//!   longer change its own address.
//!
//! A conflict counts only if another thread can have it: not the edges of a template that one thread
//! runs, once, for that thread itself, and not the edges that a thread takes while it is the only one, before
//! it starts others or after it has joined them ([`crate::facts::single_threaded_prefix::Alone::is_only`]). Such an edge is never enabled in a
//! state in which α's thread exists, so it is neither the step before α nor the one after it. The form of the plan for readers has no condition that never
//! holds, because an initial thread stays for ever where it can reach a conflicting edge.
//!
//! Each of these conditions, once it holds, prevents β from accessing what α accesses for as
//! long as all of them hold, so no step of another thread makes the conjunction false again
//! (Definition 12). This is the argument in which the paper's statements need care, and ours
//! differ: β may be any mixture of the kinds (the paper requires all conflicts to be of one
//! kind); plain accesses next to dereferences and plain writers next to compare-and-swap count
//! as conflicts that must be unreachable; a compare-and-swap that would write its own expected
//! value is harmless, so there is no condition on the value written; and a step that writes the
//! cell is not a right mover, whatever the cell contains afterwards.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, Ty, VariableRef};
use mover_ir::graph::{FixedBitSet, control_flow, reaches};
use mover_ir::program::{Edge, Effect, LocationId, Program, TemplateId, VariableId};
use mover_ir::simplify::fold_binary;

use crate::facts::access::{EdgeRef, Object, edges as all_edges};
use crate::facts::pointer_locks::{PointerLocks, own_mark};
use crate::facts::points_to::PointsTo;
use crate::facts::thread_bound::starts;
use crate::plan::movers::Movers;
use crate::plan::spots::{
    Spot, apart, expected_value, is_multiple, is_picked_before, locals_of, remote, remote_spot,
    written_locals,
};

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
    /// Whether every thread may run every template, so that the same is said of all threads.
    is_generic: bool,
    /// By template and location: the reachable locations.
    reach: Vec<Vec<FixedBitSet>>,
    /// Templates that at most one thread runs in the course of a run.
    is_single: Vec<bool>,
    /// Templates that are started during a run.
    is_spawned: Vec<bool>,
    points_to: PointsTo<'m>,
    locks: PointerLocks,
    /// What was found by [`Dynamic::spots`].
    spots: RefCell<KnownSpots>,
}

/// The parts of an object that an edge accesses.
struct Spots {
    spots: Vec<Spot>,
    /// The same for the same parts.
    text: String,
}

type KnownSpots = BTreeMap<(EdgeRef, Object), Option<Rc<Spots>>>;

/// Parts and the edges that access them, by template and text.
type Compared<'c> = BTreeMap<(usize, &'c str), (&'c [Spot], Vec<EdgeRef>)>;

/// An edge that conflicts.
struct Conflict {
    by: EdgeRef,
    /// The accessed parts of the object, if selected only by local variables.
    spots: Option<Rc<Spots>>,
}

/// Locations by template, see [`Dynamic::ways`].
struct Ways {
    coming: Vec<Vec<LocationId>>,
    changing: Vec<Vec<LocationId>>,
}

impl<'m> Dynamic<'m> {
    /// For so many thread numbers; for two arbitrary ones if there is no number.
    pub fn new(movers: &'m Movers, heuristics: Heuristics, threads: Option<usize>) -> Self {
        let program = &movers.fused.program;
        let points_to = PointsTo::new(program);
        let started = starts(program);
        let mut is_spawned = vec![false; program.templates.len()];
        for (_, edge) in all_edges(program) {
            for template in spawned(edge) {
                is_spawned[template.index()] = true;
            }
        }
        Dynamic {
            is_single: (0..program.templates.len())
                .map(|template| (started.as_ref()).is_some_and(|counts| counts[template] <= 1))
                .collect(),
            is_spawned,
            locks: PointerLocks::find(program, &movers.table, &points_to, &movers.alone),
            movers,
            program,
            heuristics,
            threads: threads.unwrap_or(2),
            is_generic: threads.is_none(),
            reach: program
                .templates
                .iter()
                .map(|body| reaches(&control_flow(body)))
                .collect(),
            points_to,
            spots: RefCell::default(),
        }
    }

    /// Whether the edge acquires a lock given by an address.
    pub fn takes_lock(&self, at: EdgeRef) -> bool {
        let touches = self.movers.table.of(at).keys();
        self.locks.takes(at.of(self.program))
            && touches
                .into_iter()
                .any(|object| self.locks.objects.contains(object))
    }

    /// The condition that no other thread interferes with the edge's access to the object, in the state
    /// before a left mover or in the one after a right mover.
    pub fn alone(&self, at: EdgeRef, object: Object, written: bool, left: bool) -> Expr {
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
            .filter(|(by, accesses)| {
                let is_own = by.template == at.template && self.is_single[at.template];
                let accessed = accesses.get(&object);
                let is_only = self.movers.alone.is_only(self.program, *by);
                !is_own && !is_only && accessed.is_some_and(|&writes| writes || written)
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
        if settled == plain {
            // The value makes no difference.
            return plain;
        }
        for spot in spots {
            let value = Expr::constant(expected as i64, spot.value.width());
            settled = settled.and(fold_binary(BinaryOp::Ne, spot.value, value));
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
            .filter(|known| left || self.outlast(at, &known.spots));
        // Edges whose parts can be compared are grouped by the expressions that select the parts.
        let mut compared: Compared = BTreeMap::new();
        let mut locked: BTreeMap<(usize, String), (Expr, Vec<EdgeRef>)> = BTreeMap::new();
        let held_during = self.lock_held(at, left);
        let mut dangerous: Vec<EdgeRef> = Vec::new();
        let mut needs_lock = false;
        for conflict in conflicts {
            let theirs = self
                .locks
                .held(conflict.by.template, conflict.by.location)
                .first();
            if let (Some(own), Some(theirs)) = (&held_during, theirs) {
                needs_lock = true;
                // One lock for all threads, also for those that are started later.
                if own == theirs && locals_of(own).is_empty() {
                    continue;
                }
                let key = (conflict.by.template, format!("{theirs:?}"));
                let group = locked
                    .entry(key)
                    .or_insert_with(|| (theirs.clone(), Vec::new()));
                group.1.push(conflict.by);
                continue;
            }
            match (&mine, &conflict.spots) {
                (Some(_), Some(known)) => {
                    let key = (conflict.by.template, known.text.as_str());
                    let group = compared.entry(key);
                    group
                        .or_insert((&known.spots, Vec::new()))
                        .1
                        .push(conflict.by);
                }
                _ => dangerous.push(conflict.by),
            }
        }
        if !dangerous.is_empty() && !self.heuristics.reachability {
            return Expr::FALSE;
        }
        let mut away = self.before(&dangerous);
        let compared = compared.iter();
        let compared: Vec<(usize, &[Spot], Ways)> = compared
            .map(|(&(template, _), (spots, edges))| {
                join(&mut away, self.before_spawn(edges));
                (template, *spots, self.ways(template, spots, edges))
            })
            .collect();
        let locked: Vec<(usize, &Expr, Ways)> = locked
            .iter()
            .map(|((template, _), (theirs, edges))| {
                join(&mut away, self.before_spawn(edges));
                let spot = Spot {
                    at: theirs.clone(),
                    bytes: 0,
                    value: theirs.clone(),
                    written: false,
                };
                (*template, theirs, self.ways(*template, &[spot], edges))
            })
            .collect();
        // Readers are spared conditions that never hold. Engines are not yet: that a step may move also
        // decides where blocks cut loops, and proofs by induction depend on it.
        if self.is_generic && self.somebody_stays(at.template, &away) {
            return Expr::FALSE;
        }
        let mut all = match &held_during {
            Some(address) if needs_lock => {
                let lock = Expr::load(address.clone(), Ty::unsigned(32));
                Expr::binary(BinaryOp::Eq, lock, own_mark(32))
            }
            _ => Expr::TRUE,
        };
        for thread in 0..self.threads {
            if self.is_always_own(at.template, thread) {
                continue;
            }
            let mut harmless = self.not_at(thread, &away);
            for (template, spots, ways) in &compared {
                let id = TemplateId(*template as u32);
                let mut beside = Expr::TRUE;
                for theirs in *spots {
                    for own in mine.iter().flat_map(|mine| &mine.spots) {
                        if own.written || theirs.written {
                            beside = beside.and(apart(own, &remote_spot(theirs, thread, id)));
                        }
                    }
                }
                let stays = self.not_at(thread, &ways.changing);
                let past = self.not_at(thread, &ways.coming);
                harmless = harmless.and(past.or(beside.and(stays)));
            }
            for (template, theirs, ways) in &locked {
                let Some(own) = &held_during else { continue };
                let id = TemplateId(*template as u32);
                let same = fold_binary(BinaryOp::Eq, own.clone(), remote(theirs, thread, id));
                let stays = self.not_at(thread, &ways.changing);
                let past = self.not_at(thread, &ways.coming);
                harmless = harmless.and(past.or(same.and(stays)));
            }
            if self.may_be(at.template, thread) {
                let itself = Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(thread as i64));
                harmless = itself.or(harmless);
            }
            all = all.and(harmless);
        }
        all
    }

    /// Where a thread of the template can still reach one of the edges itself, and where it can still change
    /// the local variables that the spots are selected by before it does.
    fn ways(&self, template: usize, spots: &[Spot], edges: &[EdgeRef]) -> Ways {
        Ways {
            coming: match self.heuristics.reachability {
                true => self.before_within(edges),
                // Without it only threads of other templates are known to be past the edges.
                false => self.everywhere(template),
            },
            changing: self.before_within(&self.changers(template, spots, edges)),
        }
    }

    /// Whether a thread with this number can run the template.
    fn may_be(&self, template: usize, thread: usize) -> bool {
        let initial = self.program.initial.get(thread);
        self.is_generic
            || self.is_spawned[template]
            || initial.is_some_and(|first| first.template.index() == template)
    }

    /// Whether a thread that runs the template has this number.
    fn is_always_own(&self, template: usize, thread: usize) -> bool {
        self.is_single[template]
            && !self.is_spawned[template]
            && !self.is_generic
            && self.may_be(template, thread)
    }

    /// Whether besides a thread of the template there is always another one at one of the locations: an
    /// initial thread that never leaves them. Then the condition that nobody is there never holds.
    fn somebody_stays(&self, template: usize, locations: &[Vec<LocationId>]) -> bool {
        let mut ever = 0;
        for instance in &self.program.initial {
            let number = instance.template.index();
            let body = &self.program.templates[number];
            let reach = &self.reach[number][body.entry.index()];
            let stays = (body.locations.iter().enumerate()).all(|(location, place)| {
                let exits = |edge: &Edge| edge.effects.contains(&Effect::Exit);
                let is_inside = locations[number].contains(&LocationId(location as u32))
                    && !place.edges.iter().any(exits);
                let is_reached = location == body.entry.index() || reach.contains(location);
                !is_reached || is_inside || place.ends_run()
            });
            // One of those that run the template itself may be the thread in question.
            ever += match (stays, number == template) {
                (true, true) => 1,
                (true, false) => 2,
                (false, _) => 0,
            };
        }
        ever >= 2
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
        self.close_under_spawns(&mut sources);
        let danger = self.reaching(&sources);
        let mut spawners: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.reach.len()];
        for (at, edge) in all_edges(self.program) {
            if spawned(edge).any(|made| self.is_entered(&danger, made)) {
                spawners[at.template].insert(at.location);
            }
        }
        self.reaching(&spawners)
    }

    /// Whether a new thread of the template begins at one of the locations.
    fn is_entered(&self, locations: &[Vec<LocationId>], made: TemplateId) -> bool {
        locations[made.index()].contains(&self.program.template(made).entry)
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
            for (at, edge) in all_edges(self.program) {
                if spawned(edge).any(|made| self.is_entered(&danger, made)) {
                    grew |= sources[at.template].insert(at.location);
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

    /// The condition that a thread is at none of the locations.
    fn not_at(&self, thread: usize, locations: &[Vec<LocationId>]) -> Expr {
        let mut all = Expr::TRUE;
        for (template, locations) in locations.iter().enumerate() {
            if locations.is_empty() || !self.may_be(template, thread) {
                continue;
            }
            let at = Expr::ThreadAt {
                thread: Box::new(Expr::constant(thread as i64, INDEX_WIDTH)),
                template: TemplateId(template as u32),
                locations: locations.clone(),
            };
            all = all.and(at.negate());
        }
        all
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
    fn spots(&self, at: EdgeRef, object: Object) -> Option<Rc<Spots>> {
        let key = (at, object);
        if let Some(known) = self.spots.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find_spots(at, object).map(|spots| {
            let text = format!("{spots:?}");
            Rc::new(Spots { spots, text })
        });
        self.spots.borrow_mut().insert(key, found.clone());
        found
    }

    fn find_spots(&self, at: EdgeRef, object: Object) -> Option<Vec<Spot>> {
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
                Effect::Store { address, value }
                    if self.may_point_to(at.template, address, object) =>
                {
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
            Expr::Load { address, ty } if self.may_point_to(template, address, object) => {
                self.address_spot(address, *ty, false, changed, spots)
            }
            _ => Some(()),
        }
    }

    /// Whether an address may point into the object.
    fn may_point_to(&self, template: usize, address: &Expr, object: Object) -> bool {
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
        let known = self.spots(at, object)?;
        let mut written = known.spots.iter().filter(|spot| spot.written).cloned();
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
        let spots = &self.spots(at, object)?.spots;
        if spots.is_empty() || (!left && !self.outlast(at, spots)) {
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
                distinct.push(spot.clone());
            }
        }
        Some((distinct, expected))
    }
}

/// Adds locations to others, by template.
fn join(all: &mut [Vec<LocationId>], more: Vec<Vec<LocationId>>) {
    for (all, more) in all.iter_mut().zip(more) {
        all.extend(more);
        all.sort_unstable();
        all.dedup();
    }
}

/// The templates that an edge starts threads of.
fn spawned(edge: &Edge) -> impl Iterator<Item = TemplateId> + '_ {
    edge.effects.iter().filter_map(|effect| match effect {
        Effect::Spawn { template, .. } => Some(*template),
        _ => None,
    })
}

fn variable_of(object: Object) -> Option<VariableId> {
    match object {
        Object::Cell(id, _) | Object::Variable(id) => Some(id),
        _ => None,
    }
}

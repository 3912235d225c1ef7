//! Locks, recognised by how they are used.
//!
//! A cell is a lock if it is initially free and every edge that accesses it does one of three
//! things: it acquires the lock (its guard requires the cell to be free, its effect makes it
//! not free), releases it (makes it free again, and on every path to the edge the thread has
//! acquired it), or reads it while its thread holds it. The spelling in the source does not
//! matter.
//!
//! What counts is what an edge does to the cell under its guard. What else it does, such as
//! choosing a value or computing local variables, does not matter; only effects that can block,
//! start a thread or end one are not accepted beside it.
//!
//! **Marks.** A lock may name its owner: every acquisition stores the thread's number plus a
//! constant. Then comparing the cell with the thread's own mark has the same result whatever
//! other threads do, so it is harmless wherever it occurs, and a guard that requires the mark
//! says that the thread holds the lock, whatever path led there. Mutexes in C are of this form.
//!
//! **Observed locks.** An edge that is enabled because a lock is *not* free (an `else` next to
//! the acquisition, a failing `trylock`, a test by a thread that does not hold it) observes who
//! holds the lock. Then neither acquiring nor releasing commutes with that edge, and both are
//! non-movers. But only the holder writes the cell while it is not free, so at most one thread
//! holds the lock, and data that is accessed only while holding it is still exclusive to the
//! holder. The holder's own tests of the lock commute with the tests of others.
//!
//! **Failing acquisitions.** A front end merges an acquisition with the checks that follow it. If a
//! check can fail, there are two edges with the acquisition's guard: one acquires the lock, the
//! other leads to an error. The other one does not observe who holds the lock: it is possible only
//! while nobody does, so it follows no acquisition of another thread directly and precedes no
//! release. It is a non-mover itself.
//!
//! **Abandoned runs.** `assume(m == 0); m = 1` in an atomic section acquires a lock, too. A run in which
//! the assumption fails is abandoned: its thread goes to a location from which it takes empty steps
//! for ever, and no other thread moves any more ([`abandons_run`]). Such an edge observes that the
//! lock is held, but nothing follows from it: a run that contains it violates no property, so no
//! step has to commute with it. It stays an edge of the program, so that a state in which it is
//! possible is no deadlock, and it is a non-mover.
//!
//! The acquisition must be the first step of an atomic sequence: a sequence that has begun and
//! finds the lock held blocks in the middle.
//!
//! Which locks a thread must hold at a location ([`Locks::held`]) is a must-analysis over the
//! template's graph. The analysis and the choice of cells depend on each other: start with all
//! candidates and drop those that violate the rules until none does. Reader-writer locks are
//! added afterwards ([`crate::facts::rw_locks`]); a thread that holds one for reading may rely
//! on it for reading data, but not for writing. Observed locks come last, so that a cell of a
//! reader-writer lock is not taken for one.

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Init, Program, Template, VariableId};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::lock_rows::{asked_mark, compared_mark, own_mark};
use crate::facts::rw_locks::{self, Mode, RwLock};
use crate::facts::single_threaded_prefix::Alone;

pub type LockSet = BTreeSet<Object>;

/// What an edge does to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handling {
    Takes,
    GivesBack,
    /// Ends the run in a way that observes nothing: see *failing acquisitions* and *abandoned runs*.
    Ends,
    /// Any other access.
    Looks,
}

/// The use of a lock by an edge, with the thread's mark: what a taking stores, what the guard of a
/// release requires, and what every other access compares with.
struct Use {
    handling: Handling,
    mark: Option<Expr>,
}

#[derive(Clone)]
pub struct Locks {
    /// The cells that are locks.
    pub locks: LockSet,
    /// Those among them that threads test without holding them.
    observed: LockSet,
    /// By template and location: locks that a thread there holds.
    held: Vec<Vec<LockSet>>,
    /// By template, location and edge.
    takes: Vec<Vec<Vec<LockSet>>>,
    releases: Vec<Vec<Vec<LockSet>>>,
    /// Locks that the edge accesses only by comparing them with the thread's mark, or by releasing
    /// them under a guard that requires it.
    asks: Vec<Vec<Vec<LockSet>>>,
    /// Locks that the guard of the edge says the thread holds.
    confirms: Vec<Vec<Vec<LockSet>>>,
    /// The reader-writer locks among them.
    pub rw: Vec<RwLock>,
}

impl Locks {
    pub fn find(program: &Program, table: &AccessTable, alone: &Alone) -> Locks {
        let mut taken: LockSet = table
            .iter()
            .flat_map(|(_, accesses)| accesses.keys())
            .copied()
            .filter(|object| free_value(program, *object).is_some())
            .collect();
        taken.retain(|&lock| {
            let is_taken = |edge| usage(program, lock, edge).handling == Handling::Takes;
            let mut touching = table
                .iter()
                .filter(|(edge, a)| a.contains_key(&lock) && !alone.is_only(program, *edge));
            touching.any(|(edge, _)| is_taken(edge))
        });
        let strict = Locks::obeying(program, table, alone, &LockSet::new(), taken.clone(), false);
        let known = |variable: VariableId| {
            let is_it = |lock: &Object| matches!(lock, Object::Cell(id, _) if *id == variable);
            strict.locks.iter().any(is_it)
        };
        let rw = rw_locks::find(program, alone, known);
        let halves: LockSet = rw.iter().flat_map(objects).collect();
        taken.retain(|lock| !strict.locks.contains(lock) && !halves.contains(lock));
        let mut locks = Locks::obeying(program, table, alone, &strict.locks, taken, true);
        locks.observed = locks.locks.difference(&strict.locks).copied().collect();
        locks.with_rw(rw)
    }

    /// The locks among the candidates that all edges treat as such, besides those that are known.
    fn obeying(
        program: &Program,
        table: &AccessTable,
        alone: &Alone,
        known: &LockSet,
        mut candidates: LockSet,
        may_be_observed: bool,
    ) -> Locks {
        loop {
            let all = known.union(&candidates).copied().collect();
            let locks = Locks::with(program, table, alone, all);
            let before = candidates.len();
            candidates.retain(|&lock| locks.obeys(program, table, alone, lock, may_be_observed));
            if candidates.len() == before {
                return locks;
            }
        }
    }

    fn with(program: &Program, table: &AccessTable, alone: &Alone, locks: LockSet) -> Locks {
        let empty = || -> Vec<Vec<Vec<LockSet>>> {
            let of_template = |template: &mover_ir::program::Template| {
                let locations = template.locations.iter();
                locations
                    .map(|location| vec![LockSet::new(); location.edges.len()])
                    .collect()
            };
            program.templates.iter().map(of_template).collect()
        };
        let mut found = Locks {
            held: Vec::new(),
            locks,
            observed: LockSet::new(),
            takes: empty(),
            releases: empty(),
            asks: empty(),
            confirms: empty(),
            rw: Vec::new(),
        };
        for &lock in &found.locks {
            let uses: Vec<(EdgeRef, Use)> = table
                .iter()
                .filter(|(edge, a)| a.contains_key(&lock) && !alone.is_only(program, *edge))
                .map(|(edge, _)| (edge, usage(program, lock, edge)))
                .collect();
            let is_taking = |(_, found): &&(EdgeRef, Use)| found.handling == Handling::Takes;
            let mut marks = uses.iter().filter(is_taking).map(|(_, found)| &found.mark);
            let first = marks.next().cloned().flatten();
            let mark = first.filter(|first| marks.all(|other| other.as_ref() == Some(first)));
            for (edge, found_use) in uses {
                let at = |sets: &mut Vec<Vec<Vec<LockSet>>>| {
                    sets[edge.template][edge.location][edge.edge].insert(lock)
                };
                let has_mark = mark.is_some() && found_use.mark == mark;
                match found_use.handling {
                    Handling::Takes => at(&mut found.takes),
                    Handling::GivesBack => at(&mut found.releases),
                    Handling::Ends | Handling::Looks => false,
                };
                if has_mark && found_use.handling != Handling::Takes {
                    at(&mut found.asks);
                }
                if let (Some(mark), Some(place)) = (&mark, place_of(program, lock, edge))
                    && asked_mark(edge.of(program), &place).as_ref() == Some(mark)
                {
                    at(&mut found.confirms);
                }
            }
        }
        found.held = (0..program.templates.len())
            .map(|template| found.must_hold(program, template))
            .collect();
        found
    }

    fn with_rw(mut self, rw: Vec<RwLock>) -> Locks {
        for lock in rw {
            let objects: LockSet = objects(&lock).collect();
            for (template, held) in self.held.iter_mut().enumerate() {
                for (location, held) in held.iter_mut().enumerate() {
                    if lock.held(template, location).is_some() {
                        held.extend(&objects);
                    }
                }
            }
            for (at, _) in &lock.takes {
                self.takes[at.template][at.location][at.edge].extend(&objects);
            }
            for at in &lock.releases {
                self.releases[at.template][at.location][at.edge].extend(&objects);
            }
            self.locks.extend(&objects);
            self.rw.push(lock);
        }
        self
    }

    /// For each location the locks held on every path to it; all locks at unreachable locations.
    fn must_hold(&self, program: &Program, template: usize) -> Vec<LockSet> {
        let body = &program.templates[template];
        let mut held: Vec<Option<LockSet>> = vec![None; body.locations.len()];
        held[body.entry.index()] = Some(LockSet::new());
        let mut work = vec![body.entry.index()];
        while let Some(location) = work.pop() {
            let Some(before) = held[location].clone() else {
                continue;
            };
            for (number, edge) in body.locations[location].edges.iter().enumerate() {
                let mut after = before.clone();
                after.extend(&self.takes[template][location][number]);
                after.extend(&self.confirms[template][location][number]);
                for lock in &self.releases[template][location][number] {
                    after.remove(lock);
                }
                let target = edge.target.index();
                let joined = match &held[target] {
                    None => after,
                    Some(known) => known.intersection(&after).copied().collect(),
                };
                if held[target].as_ref() != Some(&joined) {
                    held[target] = Some(joined);
                    work.push(target);
                }
            }
        }
        held.into_iter()
            .map(|held| held.unwrap_or_else(|| self.locks.clone()))
            .collect()
    }

    /// Whether all edges treat the cell as a lock.
    fn obeys(
        &self,
        program: &Program,
        table: &AccessTable,
        alone: &Alone,
        lock: Object,
        may_be_observed: bool,
    ) -> bool {
        let breach = self.offender(program, table, alone, lock, may_be_observed);
        breach.is_none()
    }

    /// An edge that does not treat the cell as a lock, and how.
    fn offender(
        &self,
        program: &Program,
        table: &AccessTable,
        alone: &Alone,
        lock: Object,
        may_be_observed: bool,
    ) -> Option<(EdgeRef, &'static str)> {
        let mut touching = table.iter().filter(|(edge, accesses)| {
            accesses.contains_key(&lock) && !alone.is_only(program, *edge)
        });
        touching.find_map(|(edge, _)| {
            let location = &program.templates[edge.template].locations[edge.location];
            let has = self.held[edge.template][edge.location].contains(&lock);
            let asks = self.set(&self.asks, edge).contains(&lock);
            let reason = match usage(program, lock, edge).handling {
                Handling::Takes if location.atomic => "acquires it within an atomic sequence",
                Handling::Takes if has => "acquires it while holding it",
                Handling::GivesBack if !has && !asks => {
                    "releases it, but may not hold it on some path"
                }
                Handling::Looks if writes(program, lock, edge) => {
                    "writes it, but neither acquires nor releases it"
                }
                Handling::Looks if !has && !asks && !may_be_observed => {
                    "tests it without holding it"
                }
                _ => return None,
            };
            Some((edge, reason))
        })
    }

    /// Why a cell is no lock: an edge that does not treat it as one.
    pub fn breach(
        &self,
        program: &Program,
        table: &AccessTable,
        alone: &Alone,
        lock: Object,
    ) -> Option<(EdgeRef, &'static str)> {
        let mut all = self.locks.clone();
        all.insert(lock);
        let tried = Locks::with(program, table, alone, all);
        tried.offender(program, table, alone, lock, true)
    }

    fn set<'a>(&self, sets: &'a [Vec<Vec<LockSet>>], edge: EdgeRef) -> &'a LockSet {
        &sets[edge.template][edge.location][edge.edge]
    }

    /// Whether threads test the lock without holding it.
    pub fn is_observed(&self, lock: Object) -> bool {
        self.observed.contains(&lock)
    }

    /// Whether the edge's access to the lock commutes with the steps of other threads: to the left,
    /// by the state before it, or to the right, by the state after it.
    pub fn lock_moves(&self, edge: EdgeRef, lock: Object, left: bool) -> bool {
        if self.takes(edge).contains(&lock) {
            !left && !self.is_observed(lock)
        } else if self.releases(edge).contains(&lock) {
            left && !self.is_observed(lock)
        } else {
            self.set(&self.asks, edge).contains(&lock)
                || self.held(edge.template, edge.location).contains(&lock)
        }
    }

    /// Locks that the thread holds before the edge, whenever the edge is enabled.
    pub fn held_before(&self, edge: EdgeRef) -> LockSet {
        let mut set = self.held(edge.template, edge.location).clone();
        set.extend(self.set(&self.confirms, edge));
        set
    }

    /// Locks that the thread holds after the edge.
    pub fn held_after(&self, edge: EdgeRef) -> LockSet {
        let mut set = self.held_during(edge, false);
        for lock in self.releases(edge) {
            set.remove(lock);
        }
        set
    }

    /// Whether the variable is a reader-writer lock, or half of one.
    pub fn is_rw(&self, variable: VariableId) -> bool {
        self.rw.iter().any(|lock| lock.cells.contains(&variable))
    }

    /// Locks that a thread at the location holds.
    pub fn held(&self, template: usize, location: usize) -> &LockSet {
        &self.held[template][location]
    }

    /// Locks held while an edge is executed: those held before it and those it acquires, as far as they
    /// protect what it reads or what it writes.
    pub fn held_during(&self, edge: EdgeRef, writes: bool) -> LockSet {
        let mut set = self.held_before(edge);
        set.extend(self.takes(edge));
        if writes {
            for lock in &self.rw {
                let held = lock.held(edge.template, edge.location);
                if held.or(lock.taken_by(edge)) == Some(Mode::Reads) {
                    objects(lock).for_each(|object| {
                        set.remove(&object);
                    });
                }
            }
        }
        set
    }

    pub fn takes(&self, edge: EdgeRef) -> &LockSet {
        &self.takes[edge.template][edge.location][edge.edge]
    }

    pub fn releases(&self, edge: EdgeRef) -> &LockSet {
        &self.releases[edge.template][edge.location][edge.edge]
    }
}

fn objects(lock: &RwLock) -> impl Iterator<Item = Object> + '_ {
    lock.cells.iter().map(|&cell| Object::Cell(cell, 0))
}

/// The initial value of a cell.
fn free_value(program: &Program, object: Object) -> Option<u64> {
    let Object::Cell(id, index) = object else {
        return None;
    };
    match &program.globals[id.index()].init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => values.get(index as usize).copied(),
        Init::Channels(_) => None,
    }
}

fn is_place(place: &Place, object: Object) -> bool {
    matches!(
        (object, place.variable),
        (Object::Cell(id, index), VariableRef::Global(other))
            if id == other && place.index.as_const() == Some(index.into())
    )
}

fn writes(program: &Program, lock: Object, edge: EdgeRef) -> bool {
    let edge = edge.of(program);
    edge.effects
        .iter()
        .flat_map(Effect::written_places)
        .any(|place| is_place(place, lock))
}

/// Effects that can be beside the handling of a lock: they neither block nor change which threads
/// there are.
pub(crate) fn is_beside(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Assign { .. }
            | Effect::Havoc { .. }
            | Effect::Allocate { .. }
            | Effect::Store { .. }
            | Effect::Free { .. }
            | Effect::Print { .. }
    )
}

/// The place by which an edge accesses the cell.
fn place_of(program: &Program, lock: Object, at: EdgeRef) -> Option<Place> {
    let edge = at.of(program);
    let mut found = None;
    let mut visit = |expr: &Expr| {
        if let Expr::Read(place) = expr
            && is_place(place, lock)
        {
            found = Some(place.clone());
        }
    };
    edge.guard.walk(&mut visit);
    edge.effects
        .iter()
        .for_each(|effect| effect.walk(&mut visit));
    found.or_else(|| {
        let mut written = edge.effects.iter().flat_map(Effect::written_places);
        written.find(|place| is_place(place, lock)).cloned()
    })
}

/// What an edge does to a cell, if the cell is a lock.
fn usage(program: &Program, lock: Object, at: EdgeRef) -> Use {
    let edge = at.of(program);
    let place = place_of(program, lock, at);
    let looks = || {
        let location = &program.templates[at.template].locations[at.location];
        // An edge that is enabled only if others are not also reads what those read.
        let waits = location
            .edges
            .iter()
            .any(|other| other.priority > edge.priority);
        let place = place.as_ref().filter(|_| !waits);
        Use {
            handling: Handling::Looks,
            mark: place.and_then(|place| compared_mark(edge, place.variable, &place.index)),
        }
    };
    let Some(free) = free_value(program, lock) else {
        return looks();
    };
    let mut written = edge.effects.iter().filter(|effect| {
        let mut places = effect.written_places().into_iter();
        places.any(|place| is_place(place, lock))
    });
    let first = written.next();
    let template = &program.templates[at.template];
    let is_abandoned = abandons_run(template, edge);
    if first.is_none() && (is_abandoned || fails_to_take(program, lock, at, free)) {
        return Use {
            handling: Handling::Ends,
            mark: None,
        };
    }
    let (Some(Effect::Assign { place, value }), None) = (first, written.next()) else {
        return looks();
    };
    if !edge.effects.iter().all(is_beside) {
        return looks();
    }
    if value.as_const() == Some(free) {
        return Use {
            handling: Handling::GivesBack,
            mark: asked_mark(edge, place),
        };
    }
    let (least, most) = range(program, value);
    let never_free = free < least || free > most;
    if never_free && guard_says_free(&edge.guard, lock, free) {
        Use {
            handling: Handling::Takes,
            mark: own_mark(value).cloned(),
        }
    } else {
        looks()
    }
}

/// Whether an edge leads to a location at which its thread stays for ever, by empty steps of an atomic
/// sequence, so that no other thread moves and nothing changes.
pub(crate) fn abandons_run(template: &Template, edge: &Edge) -> bool {
    let end = template.location(edge.target);
    let stays = |next: &Edge| next.target == edge.target && next.effects.is_empty();
    end.atomic
        && !end.ends_run()
        && end.accesses.is_empty()
        && matches!(&end.edges[..], [only] if stays(only) && only.guard == Expr::TRUE)
}

/// Whether the edge, which does not write the cell, ends the run, is possible only while the cell is
/// free, and is beside an edge that acquires it.
fn fails_to_take(program: &Program, lock: Object, at: EdgeRef, free: u64) -> bool {
    let template = &program.templates[at.template];
    let edge = at.of(program);
    if !template.location(edge.target).ends_run() || !guard_says_free(&edge.guard, lock, free) {
        return false;
    }
    (0..template.locations[at.location].edges.len()).any(|number| {
        let beside = EdgeRef { edge: number, ..at };
        writes(program, lock, beside) && usage(program, lock, beside).handling == Handling::Takes
    })
}

/// Whether the guard implies that the cell holds the value.
fn guard_says_free(guard: &Expr, lock: Object, free: u64) -> bool {
    let reads = |expr: &Expr| match expr {
        Expr::Read(place) => is_place(place, lock),
        // Zero extension keeps the value.
        Expr::Resize {
            arg,
            width,
            signed: false,
        } => {
            matches!(&**arg, Expr::Read(place) if is_place(place, lock) && place.ty.width <= *width)
        }
        _ => false,
    };
    conjunction(guard).iter().any(|literal| {
        match &literal.condition {
            Expr::Binary(BinaryOp::Eq, lhs, rhs) if literal.holds => {
                let says = |a: &Expr, b: &Expr| reads(a) && b.as_const() == Some(free);
                says(lhs, rhs) || says(rhs, lhs)
            }
            // A one-bit cell used as a Boolean.
            condition @ Expr::Read(_) if condition.width() == 1 => {
                reads(condition) && u64::from(literal.holds) == free
            }
            _ => false,
        }
    })
}

/// The range of an expression, as unsigned numbers.
pub(crate) fn range(program: &Program, expr: &Expr) -> (u64, u64) {
    let all = (0, mask(expr.width()));
    match expr {
        Expr::Const { value, .. } => (*value, *value),
        Expr::ThreadId => (0, u64::from(program.max_threads.saturating_sub(1))),
        Expr::Binary(BinaryOp::Add, lhs, rhs) => {
            let (a, b) = (range(program, lhs), range(program, rhs));
            match a.1.checked_add(b.1) {
                Some(most) if most <= all.1 => (a.0 + b.0, most),
                _ => all,
            }
        }
        Expr::Resize { arg, width, signed } => {
            let inner = range(program, arg);
            let keeps = inner.1 <= mask(*width);
            let negative = *signed && inner.1 > mask(arg.width()) / 2;
            if keeps && !negative { inner } else { all }
        }
        Expr::If(_, then, otherwise) => {
            let (a, b) = (range(program, then), range(program, otherwise));
            (a.0.min(b.0), a.1.max(b.1))
        }
        _ => all,
    }
}

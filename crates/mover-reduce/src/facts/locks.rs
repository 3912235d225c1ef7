//! Locks, recognised by how they are used.
//!
//! A cell is a lock if it is initially free and every edge that accesses it does one of three
//! things: it acquires the lock (its guard requires the cell to be free, its effect makes it
//! not free), releases it (makes it free again, and on every path to the edge the thread has
//! acquired it), or reads it while its thread holds it. The spelling in the source does not
//! matter.
//!
//! Two conditions are easily overlooked. An edge that is enabled because a lock is *not* free
//! (an `else` next to the acquisition, a test by a thread that does not hold it) observes who
//! holds the lock; then acquiring does not commute with that edge and the cell is not treated
//! as a lock. And the acquisition must be the first step of an atomic sequence: a sequence that
//! has begun and finds the lock held blocks in the middle, which is also an observation.
//!
//! Which locks a thread must hold at a location ([`Locks::held`]) is a must-analysis over the
//! template's graph. The analysis and the choice of cells depend on each other: start with all
//! candidates and drop those that violate the rules until none does. Reader-writer locks are
//! added afterwards ([`crate::facts::rw_locks`]); a thread that holds one for reading may rely
//! on it for reading data, but not for writing.

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Effect, Init, Program, VariableId};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::rw_locks::{self, Mode, RwLock};
use crate::facts::single_threaded_prefix::Alone;

pub type LockSet = BTreeSet<Object>;

/// What an edge does to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handling {
    Takes,
    GivesBack,
    /// Any other access.
    Looks,
}

#[derive(Clone)]
pub struct Locks {
    /// The cells that are locks.
    pub locks: LockSet,
    /// By template and location: locks that a thread there holds.
    held: Vec<Vec<LockSet>>,
    /// By template, location and edge.
    takes: Vec<Vec<Vec<LockSet>>>,
    releases: Vec<Vec<Vec<LockSet>>>,
    /// The reader-writer locks among them.
    pub rw: Vec<RwLock>,
}

impl Locks {
    pub fn find(program: &Program, table: &AccessTable, alone: &Alone) -> Locks {
        let mut candidates: LockSet = table
            .iter()
            .flat_map(|(_, accesses)| accesses.keys())
            .copied()
            .filter(|object| free_value(program, *object).is_some())
            .collect();
        candidates.retain(|&lock| {
            let is_taken = |edge| handling(program, lock, edge) == Handling::Takes;
            let mut touching = table
                .iter()
                .filter(|(edge, a)| a.contains_key(&lock) && !alone.is_alone(program, *edge));
            touching.any(|(edge, _)| is_taken(edge))
        });
        loop {
            let locks = Locks::with(program, table, alone, candidates.clone());
            let broken: Vec<Object> = candidates
                .iter()
                .copied()
                .filter(|&lock| !locks.obeys(program, table, alone, lock))
                .collect();
            if broken.is_empty() {
                return locks.with_rw(program, alone);
            }
            candidates.retain(|lock| !broken.contains(lock));
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
        let (mut takes, mut releases) = (empty(), empty());
        let not_alone = |edge: EdgeRef| !alone.is_alone(program, edge);
        for (edge, accesses) in table.iter().filter(|(edge, _)| not_alone(*edge)) {
            for &lock in accesses.keys().filter(|object| locks.contains(object)) {
                let set = match handling(program, lock, edge) {
                    Handling::Takes => &mut takes,
                    Handling::GivesBack => &mut releases,
                    Handling::Looks => continue,
                };
                set[edge.template][edge.location][edge.edge].insert(lock);
            }
        }
        let mut found = Locks {
            held: Vec::new(),
            locks,
            takes,
            releases,
            rw: Vec::new(),
        };
        found.held = (0..program.templates.len())
            .map(|template| found.must_hold(program, template))
            .collect();
        found
    }

    fn with_rw(mut self, program: &Program, alone: &Alone) -> Locks {
        let known = |variable: VariableId| {
            let is_it = |lock: &Object| matches!(lock, Object::Cell(id, _) if *id == variable);
            self.locks.iter().any(is_it)
        };
        for lock in rw_locks::find(program, alone, known) {
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
    fn obeys(&self, program: &Program, table: &AccessTable, alone: &Alone, lock: Object) -> bool {
        table
            .iter()
            .filter(|(edge, accesses)| {
                accesses.contains_key(&lock) && !alone.is_alone(program, *edge)
            })
            .all(|(edge, _)| {
                let location = &program.templates[edge.template].locations[edge.location];
                let has = self.held[edge.template][edge.location].contains(&lock);
                match handling(program, lock, edge) {
                    Handling::Takes => !location.atomic && !has,
                    Handling::GivesBack => has,
                    Handling::Looks => has && !writes(program, lock, edge),
                }
            })
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
        let mut set = self.held(edge.template, edge.location).clone();
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

/// What an edge does to a cell, if the cell is a lock.
fn handling(program: &Program, lock: Object, at: EdgeRef) -> Handling {
    let edge = at.of(program);
    let Some(free) = free_value(program, lock) else {
        return Handling::Looks;
    };
    let mut assigned = edge.effects.iter().filter_map(|effect| match effect {
        Effect::Assign { place, value } if is_place(place, lock) => Some(value),
        _ => None,
    });
    let (Some(value), None) = (assigned.next(), assigned.next()) else {
        return Handling::Looks;
    };
    let other_writes = edge
        .effects
        .iter()
        .any(|effect| !matches!(effect, Effect::Assign { .. } | Effect::Print { .. }));
    if other_writes {
        return Handling::Looks;
    }
    if value.as_const() == Some(free) {
        return Handling::GivesBack;
    }
    let (least, most) = range(program, value);
    let never_free = free < least || free > most;
    if never_free && guard_says_free(&edge.guard, lock, free) {
        Handling::Takes
    } else {
        Handling::Looks
    }
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

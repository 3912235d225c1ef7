//! Edges that move in some states only.
//!
//! After paper 001, Section 4.1 and Table 2. An edge α that touches an
//! unprotected object does not move statically, because some edge β of another
//! thread conflicts with it. In a given state no such β may be left. For each
//! other thread j and each conflicting β one of these must hold:
//!
//! - *reachability*: j stands where β cannot be reached any more, and can spawn no
//!   thread that could;
//! - *static pointer dereference*: α and β pick their cells of the object by local
//!   variables, the two differ, and j can change its own no more;
//! - *monotonic atomic*: α only looks at a cell, or is itself a compare-and-swap
//!   that expects c there; β writes the object only by compare-and-swap that
//!   expects c; and the cell holds something else than c.
//!
//! Each of the three, once it holds, keeps β from touching what α touches for as
//! long as all of them hold, so no step of another thread makes the conjunction
//! false again (Definition 12). That is the argument in which the paper's
//! statements need care, and ours differ: β may be any mixture of the three kinds
//! (the paper wants all conflicts to be of one); plain accesses beside
//! dereferences and plain writers beside compare-and-swap count as conflicts that
//! must be out of reach; a compare-and-swap that would write its own expected
//! value is harmless, so nothing is asked of the value written; and a step that
//! writes the cell is no right mover however the cell looks afterwards.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, VariableRef};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, LocationId, Program, TemplateId, VariableId};

use crate::access::{EdgeRef, Object};
use crate::feedback::{Bits, reaches};
use crate::movers::{Movers, Protection};

/// Which of the three are used.
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
    /// By template and location: where a thread can come to.
    reach: Vec<Vec<Bits>>,
}

/// The cells of an array that an edge may touch, by expressions over locals.
type Indices = BTreeSet<Vec<u8>>;

/// An edge that conflicts.
struct Conflict {
    by: EdgeRef,
    /// How it picks its cells, if only by local variables.
    indices: Option<Vec<Expr>>,
}

impl<'m> Dynamic<'m> {
    pub fn new(movers: &'m Movers, heuristics: Heuristics, threads: usize) -> Self {
        let program = &movers.fused.program;
        Dynamic {
            movers,
            program,
            heuristics,
            threads,
            reach: program.templates.iter().map(reaches).collect(),
        }
    }

    /// When the edge is a left mover, asked before it is taken.
    pub fn left(&self, at: EdgeRef) -> Expr {
        let held = self.movers.locks.held(at.template, at.location).clone();
        self.all_objects(at, |object| self.exclusive(object, &held), true)
    }

    /// When the edge was a right mover, asked after it was taken.
    pub fn right(&self, at: EdgeRef) -> Expr {
        let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
        if at.of(self.program).effects.iter().any(spawns) {
            // What the new thread does cannot come before it.
            return Expr::FALSE;
        }
        let mut held = self.movers.locks.held(at.template, at.location).clone();
        held.extend(self.movers.locks.takes(at));
        for lock in self.movers.locks.gives_back(at) {
            held.remove(lock);
        }
        self.all_objects(at, |object| self.exclusive(object, &held), false)
    }

    fn exclusive(&self, object: Object, held: &BTreeSet<Object>) -> bool {
        match &self.movers.protection[&object] {
            Protection::Lock => held.contains(&object),
            Protection::OneThread | Protection::NeverWritten => true,
            Protection::By(lock) => held.contains(lock),
            Protection::Unprotected => false,
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

    /// That no other thread interferes with what the edge does to the object.
    fn alone(&self, at: EdgeRef, object: Object, written: bool, left: bool) -> Expr {
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
                indices: variable_of(object).and_then(|id| self.local_indices(by, id)),
            })
            .collect();
        let plain = self.out_of_reach(at, object, &conflicts);
        let Some((cells, expected)) = self.monotone_cells(at, object, written, left) else {
            return plain;
        };
        // Of the writers only those that are no compare-and-swap with that value are left.
        let rest: Vec<Conflict> = conflicts
            .into_iter()
            .filter(|conflict| {
                let writes = self.movers.table.of(conflict.by)[&object];
                writes && self.expected_by(conflict.by, object) != Some(expected)
            })
            .collect();
        let mut settled = self.out_of_reach(at, object, &rest);
        for cell in cells {
            let value = Expr::constant(expected as i64, cell.ty.width);
            settled = settled.and(Expr::binary(BinaryOp::Ne, Expr::Read(cell), value));
        }
        plain.or(settled)
    }

    /// That every other thread is past all of the conflicting edges, or picks other cells.
    fn out_of_reach(&self, at: EdgeRef, object: Object, conflicts: &[Conflict]) -> Expr {
        if conflicts.is_empty() {
            return Expr::TRUE;
        }
        let mine = variable_of(object)
            .filter(|_| self.heuristics.pointers && matches!(object, Object::Variable(_)))
            .and_then(|id| self.local_indices(at, id));
        // Edges whose cells can be compared are treated apart, together with those
        // that pick by the same expressions.
        let mut compared: BTreeMap<(usize, String), (Vec<Expr>, Vec<EdgeRef>)> = BTreeMap::new();
        let mut dangerous: Vec<EdgeRef> = Vec::new();
        for conflict in conflicts {
            match (&mine, &conflict.indices) {
                (Some(_), Some(indices)) => {
                    let key = (conflict.by.template, format!("{indices:?}"));
                    let group = compared
                        .entry(key)
                        .or_insert_with(|| (indices.clone(), Vec::new()));
                    group.1.push(conflict.by);
                }
                _ => dangerous.push(conflict.by),
            }
        }
        if !dangerous.is_empty() && !self.heuristics.reachability {
            return Expr::FALSE;
        }
        let away = self.before(&dangerous);
        let mut all = Expr::TRUE;
        for thread in 0..self.threads {
            let mut harmless = self.not_at(thread, &away);
            for ((template, _), (indices, edges)) in &compared {
                harmless = harmless.and(self.not_at(thread, &self.before_spawn(edges)));
                let mut beside = Expr::TRUE;
                for theirs in indices {
                    for own in mine.iter().flatten() {
                        let theirs = remote(theirs, thread, TemplateId(*template as u32));
                        beside = beside.and(differ(own.clone(), theirs));
                    }
                }
                let changes = self.changers(*template, indices);
                beside = beside.and(self.not_at(thread, &self.before_within(&changes)));
                let past = if self.heuristics.reachability {
                    self.not_at(thread, &self.before_within(edges))
                } else {
                    // Without it only threads of other templates are known to be past.
                    let everywhere = self.everywhere(*template);
                    self.not_at(thread, &everywhere)
                };
                harmless = harmless.and(past.or(beside));
            }
            let itself = Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(thread as i64));
            all = all.and(itself.or(harmless));
        }
        all
    }

    /// By template: locations from which one of the edges can be reached, also by
    /// threads that are spawned on the way.
    fn before(&self, edges: &[EdgeRef]) -> Vec<Vec<LocationId>> {
        let mut sources: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.reach.len()];
        for edge in edges {
            sources[edge.template].insert(edge.location);
        }
        self.close_under_spawns(&mut sources);
        self.reaching(&sources)
    }

    /// The same without what the threads spawn.
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
                let spawns = place.edges.iter().flat_map(|edge| &edge.effects).any(
                    |effect| matches!(effect, Effect::Spawn { .. }),
                );
                if spawns {
                    sources[template].insert(location);
                }
            }
        }
        self.reaching(&sources)
    }

    fn everywhere(&self, template: usize) -> Vec<Vec<LocationId>> {
        let mut all = vec![Vec::new(); self.reach.len()];
        all[template] = (0..self.reach[template].len() as u32).map(LocationId).collect();
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

    /// Edges of a template that write a local variable of the expressions.
    fn changers(&self, template: usize, indices: &[Expr]) -> Vec<EdgeRef> {
        let read: BTreeSet<VariableId> = indices.iter().flat_map(locals_of).collect();
        let mut found = Vec::new();
        for (location, place) in self.program.templates[template].locations.iter().enumerate() {
            for (edge, body) in place.edges.iter().enumerate() {
                if written_locals(body).iter().any(|local| read.contains(local)) {
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

    /// How an edge picks its cells of a variable, if only by local variables that
    /// it does not change itself.
    fn local_indices(&self, at: EdgeRef, id: VariableId) -> Option<Vec<Expr>> {
        if self.program.globals[id.index()].addressable {
            return None;
        }
        let places = self.places(at, id);
        let written = written_locals(at.of(self.program));
        let mut seen = Indices::new();
        let mut indices = Vec::new();
        for place in places {
            let index = &*place.index;
            if !is_local(index) || locals_of(index).iter().any(|local| written.contains(local)) {
                return None;
            }
            if seen.insert(format!("{index:?}").into_bytes()) {
                indices.push(index.clone());
            }
        }
        Some(indices)
    }

    /// All places of a variable that an edge names, and those that decide whether
    /// it is enabled.
    fn places(&self, at: EdgeRef, id: VariableId) -> Vec<Place> {
        let location = &self.program.templates[at.template].locations[at.location];
        let edge = at.of(self.program);
        let mut places = Vec::new();
        let mut visit = |expr: &Expr| {
            if let Expr::Read(place) = expr
                && place.variable == VariableRef::Global(id)
            {
                places.push(place.clone());
            }
        };
        for other in &location.edges {
            if std::ptr::eq(other, edge) || other.priority > edge.priority {
                other.guard.walk(&mut visit);
                other.effects.iter().for_each(|effect| effect.walk(&mut visit));
            }
        }
        for effect in &edge.effects {
            for place in effect.written_places() {
                if place.variable == VariableRef::Global(id) {
                    places.push(place.clone());
                }
            }
        }
        places
    }

    /// The value that a writer expects in the cell before it writes, if it is a
    /// compare-and-swap.
    fn expected_by(&self, at: EdgeRef, object: Object) -> Option<u64> {
        let id = variable_of(object)?;
        if self.program.globals[id.index()].addressable {
            return None;
        }
        let edge = at.of(self.program);
        let written: Vec<&Place> = edge
            .effects
            .iter()
            .flat_map(Effect::written_places)
            .filter(|place| place.variable == VariableRef::Global(id))
            .collect();
        let [place] = written[..] else { return None };
        let assigns = edge
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Assign { place: p, .. } if p == place));
        if !assigns || !is_local(&place.index) {
            return None;
        }
        let changed = written_locals(edge);
        if locals_of(&place.index).iter().any(|local| changed.contains(local)) {
            return None;
        }
        expected_value(&edge.guard, place)
    }

    /// The cells of the object that an edge looks at, and the value that all its
    /// compare-and-swaps expect, if the edge does not write the cells itself or
    /// writes them only by such a one (for then it is not enabled).
    fn monotone_cells(
        &self,
        at: EdgeRef,
        object: Object,
        written: bool,
        left: bool,
    ) -> Option<(Vec<Place>, u64)> {
        if !self.heuristics.monotonic || (written && !left) {
            return None;
        }
        let id = variable_of(object)?;
        self.local_indices(at, id)?;
        let expected = if written {
            self.expected_by(at, object)?
        } else {
            let writers = self.movers.table.iter().filter(|(_, accesses)| {
                accesses.get(&object).is_some_and(|&writes| writes)
            });
            let mut expected = writers.filter_map(|(by, _)| self.expected_by(by, object));
            expected.next()?
        };
        let mut cells: Vec<Place> = Vec::new();
        for place in self.places(at, id) {
            if !cells.contains(&place) {
                cells.push(place);
            }
        }
        Some((cells, expected))
    }
}

fn variable_of(object: Object) -> Option<VariableId> {
    match object {
        Object::Cell(id, _) | Object::Variable(id) => Some(id),
        _ => None,
    }
}

/// Whether an expression is made of constants, the thread's number and local scalars or rows.
fn is_local(expr: &Expr) -> bool {
    let mut local = true;
    expr.walk(&mut |expr| {
        local &= match expr {
            Expr::Const { .. }
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

/// The expression as another thread sees its own variables.
fn remote(expr: &Expr, thread: usize, template: TemplateId) -> Expr {
    let again = |expr: &Expr| Box::new(remote(expr, thread, template));
    let number = || Box::new(Expr::constant(thread as i64, INDEX_WIDTH));
    match expr {
        Expr::ThreadId => *number(),
        Expr::Read(place) => match place.variable {
            VariableRef::Local(variable) => Expr::RemoteRead {
                thread: number(),
                template,
                variable,
                index: again(&place.index),
                ty: place.ty,
            },
            VariableRef::Global(_) => expr.clone(),
        },
        Expr::Unary(op, arg) => Expr::Unary(*op, again(arg)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, again(a), again(b)),
        Expr::If(c, a, b) => Expr::If(again(c), again(a), again(b)),
        Expr::Resize { arg, width, signed } => Expr::Resize {
            arg: again(arg),
            width: *width,
            signed: *signed,
        },
        other => other.clone(),
    }
}

/// That two indices are different numbers, whatever their widths.
fn differ(a: Expr, b: Expr) -> Expr {
    let width = a.width().max(b.width());
    Expr::binary(BinaryOp::Ne, a.resize(width, false), b.resize(width, false))
}

/// The constant that the guard makes the cell equal to.
fn expected_value(guard: &Expr, place: &Place) -> Option<u64> {
    let reads = |expr: &Expr| match expr {
        Expr::Read(other) => other == place,
        Expr::Resize {
            arg,
            width,
            signed: false,
        } => matches!(&**arg, Expr::Read(other) if other == place && other.ty.width <= *width),
        _ => false,
    };
    conjunction(guard).iter().find_map(|literal| match &literal.condition {
        Expr::Binary(BinaryOp::Eq, a, b) if literal.holds => {
            let value = if reads(a) {
                b.as_const()
            } else if reads(b) {
                a.as_const()
            } else {
                None
            };
            value.filter(|&value| value <= mover_ir::expr::mask(place.ty.width))
        }
        condition @ Expr::Read(_) if condition.width() == 1 && reads(condition) => {
            Some(u64::from(literal.holds))
        }
        _ => None,
    })
}

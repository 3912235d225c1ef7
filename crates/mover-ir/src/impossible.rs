//! Edges that no thread can ever take.
//!
//! A front end that translates instruction by instruction makes edges for cases that do not occur
//! at that point of the program: a mutex that may be recursive can be found free, held once, or
//! held more often, each with an edge of its own; a variable that may be read before it is written gets a
//! choice of its value. Such edges never run, but analyses that follow control flow, or do not
//! follow it at all, take them for real: after unlocking a recursive mutex a thread may or may
//! not hold it any more, and a pointer that may have any value may point anywhere. This module
//! finds edges whose guards are false in every reachable state. Removing them does not change what
//! the program does.
//!
//! It is a forward analysis of each template, with these facts at a location:
//!
//! - **Constants.** Scalar local variables that have one value on every path, by assignments and by
//!   guards that ask for equality.
//! - **Settled globals.** Scalar global variables without an address that only the first thread
//!   writes, and only before it starts another one. For the first thread they are like locals.
//!   After its first spawn they do not change any more, so for the others they have the value
//!   they have at that spawn; if it differs between the spawns, nothing is known.
//! - **Depths.** How often the thread has locked a recursive mutex without unlocking it.
//!
//! **Why depths are right.** They are followed for mutexes whose cells are two scalars without an
//! address, the owner o and the count c, both 0 at first, that no edge writes except by a declared
//! operation ([`crate::sync`]) of one of four forms (edges that the constants rule out do not count), with m the mark of the thread: it acquires (o = 0 → o := m),
//! locks again (o = m → c := c + 1), unlocks once (o = m, c ≠ 0 → c := c - 1), or releases (o = m, c
//! = 0 → o := 0); and except by initialisations of both to 0 by the first thread before it starts
//! another one. Then in every reachable state o = 0 implies c = 0: only a release makes o 0, and it
//! needs c = 0, and c changes only while o is a mark. A thread that has acquired the mutex finds c = 0,
//! and from then on, as long as o is its mark, no other thread passes one of these guards: marks of
//! different threads differ and are not 0. So o = m and c = d - 1 where a thread has depth d ≥ 1.
//! Where it has depth 0, o is not its mark: it was not at the beginning of the thread, or the thread has
//! released it, and only a thread itself writes its mark. The beginning is the point to prove: numbers of
//! threads are used again, and a thread that exits while it holds a mutex leaves its mark to its successor. So that
//! threads begin with depth 0 is assumed first, and withdrawn if some thread may exit with another depth. (In
//! the run up to the first such exit the assumption holds, so the analysis is right about that exit.)

use std::collections::BTreeMap;

use crate::expr::{BinaryOp, Expr, VariableRef};
use crate::graph::{control_flow, reachable};
use crate::literal::{Literal, conjunction};
use crate::program::{Edge, Effect, Init, Program, VariableId};
use crate::simplify::fold_parts;
use crate::sync::{SyncAction, SyncOp, finds, fixed_cell, mark};

/// By template, location and edge.
pub type EdgeFlags = Vec<Vec<Vec<bool>>>;

/// A mutex whose depths are followed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Recursive {
    owner: VariableId,
    count: VariableId,
}

/// What is known at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Known {
    constants: BTreeMap<VariableRef, u64>,
    /// By the mutex's number.
    depths: BTreeMap<usize, u32>,
}

impl Known {
    fn joined(mut self, other: &Known) -> Known {
        self.constants
            .retain(|variable, value| other.constants.get(variable) == Some(value));
        self.depths
            .retain(|mutex, depth| other.depths.get(mutex) == Some(depth));
        self
    }
}

/// Which edges no thread can ever take.
pub fn impossible_edges(program: &Program) -> EdgeFlags {
    let mut search = Search::new(program);
    let by_constants = search.run();
    search.find_mutexes(&by_constants);
    if search.mutexes.is_empty() {
        return by_constants;
    }
    let mut flags = search.run();
    if search.exits_with_mutex {
        search.begins_free = false;
        flags = search.run();
    }
    flags
}

/// Removes edges, and those of locations that nothing leads to any more.
pub fn remove_edges(program: &mut Program, flags: &EdgeFlags) {
    for (template, flags) in program.templates.iter_mut().zip(flags) {
        for (location, flags) in template.locations.iter_mut().zip(flags) {
            let mut number = 0;
            location.edges.retain(|_| {
                number += 1;
                !flags[number - 1]
            });
        }
        let reached = reachable(&control_flow(template), [template.entry.index()]);
        let resumed: Vec<usize> = (template.locations.iter())
            .filter_map(|location| Some(location.error.as_ref()?.resume?.index()))
            .collect();
        for location in reached.zeroes().filter(|at| !resumed.contains(at)) {
            template.locations[location].accesses.clear();
        }
    }
}

struct Search<'p> {
    program: &'p Program,
    /// The template of the only thread at the start, if there is one and it runs once.
    first: Option<usize>,
    /// By location of the first thread: whether it has started no other one there.
    prefix: Vec<bool>,
    mutexes: Vec<Recursive>,
    /// Whether threads are assumed to begin without a mutex.
    begins_free: bool,
    exits_with_mutex: bool,
    /// Initial values of global variables that only the first thread writes, before others run.
    settled: BTreeMap<VariableId, u64>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Search<'p> {
        let first = match &program.initial[..] {
            [only] if !spawned(program, only.template.index()) => Some(only.template.index()),
            _ => None,
        };
        let mut search = Search {
            program,
            first,
            prefix: prefix(program, first),
            mutexes: Vec::new(),
            begins_free: true,
            exits_with_mutex: false,
            settled: BTreeMap::new(),
        };
        let mut settled: BTreeMap<VariableId, u64> = (0..program.globals.len())
            .map(|number| VariableId(number as u32))
            .filter_map(|id| Some((id, initial(program, id)?)))
            .collect();
        for (template, location, edge) in search.edges() {
            let is_first = search.is_first(template, location, edge);
            for place in edge.effects.iter().flat_map(Effect::written_places) {
                if let VariableRef::Global(id) = place.variable
                    && !is_first
                {
                    settled.remove(&id);
                }
            }
        }
        search.settled = settled;
        search
    }

    fn edges(&self) -> impl Iterator<Item = (usize, usize, &'p Edge)> + use<'p> {
        let templates = self.program.templates.iter().enumerate();
        templates.flat_map(|(template, body)| {
            let locations = body.locations.iter().enumerate();
            locations.flat_map(move |(location, at)| {
                at.edges.iter().map(move |edge| (template, location, edge))
            })
        })
    }

    /// Whether an edge is the first thread's while it is alone.
    fn is_first(&self, template: usize, location: usize, edge: &Edge) -> bool {
        Some(template) == self.first && self.prefix[location] && !spawns(edge)
    }

    /// The mutexes that all edges treat as the analysis requires, except those that are never taken.
    fn find_mutexes(&mut self, impossible: &EdgeFlags) {
        let mut mutexes = declared(self.program);
        let flags = impossible.iter().flatten().flatten();
        for ((template, location, edge), _) in self.edges().zip(flags).filter(|(_, flag)| !**flag) {
            let is_first = self.is_first(template, location, edge);
            mutexes.retain(|mutex| mutex.is_kept_by(edge, is_first));
        }
        self.mutexes = mutexes;
    }

    fn run(&mut self) -> EdgeFlags {
        let program = self.program;
        let mut flags: EdgeFlags = vec![Vec::new(); program.templates.len()];
        // The first thread tells what the others find.
        let mut globals: Option<BTreeMap<VariableRef, u64>> = None;
        let own = (self.settled.iter()).map(|(&id, &value)| (VariableRef::Global(id), value));
        let own: BTreeMap<VariableRef, u64> = own.collect();
        let first = self.first;
        let others = (0..program.templates.len()).filter(|&template| Some(template) != first);
        let order = first.into_iter().chain(others);
        for template in order {
            let found = match &globals {
                // Without a first thread nothing is ever written.
                None => own.clone(),
                Some(found) => found.clone(),
            };
            let known = self.locations(template, found);
            flags[template] = self.flags(template, &known);
            if Some(template) == self.first {
                let edges = program.templates[template].locations.iter().zip(&known);
                let starts = edges.filter(|(at, _)| at.edges.iter().any(spawns));
                let values = starts.filter_map(|(_, known)| known.as_ref());
                let mut values = values.map(|known| known.constants.clone());
                let mut common = values.next().unwrap_or_default();
                for other in values {
                    common.retain(|variable, value| other.get(variable) == Some(value));
                }
                common.retain(|variable, _| matches!(variable, VariableRef::Global(_)));
                globals = Some(common);
            }
        }
        flags
    }

    /// What is known at the locations of a template that its threads can reach.
    fn locations(
        &self,
        template: usize,
        globals: BTreeMap<VariableRef, u64>,
    ) -> Vec<Option<Known>> {
        let body = &self.program.templates[template];
        let mut start = Known {
            constants: globals,
            depths: BTreeMap::new(),
        };
        for (number, variable) in body.locals.iter().enumerate().skip(body.params as usize) {
            if let (Init::All(value), 1) = (&variable.init, variable.len) {
                let local = VariableRef::Local(VariableId(number as u32));
                start.constants.insert(local, *value);
            }
        }
        if self.begins_free {
            start.depths = (0..self.mutexes.len()).map(|mutex| (mutex, 0)).collect();
        }
        let mut known: Vec<Option<Known>> = vec![None; body.locations.len()];
        known[body.entry.index()] = Some(start);
        let mut work = vec![body.entry.index()];
        while let Some(location) = work.pop() {
            let Some(before) = known[location].clone() else {
                continue;
            };
            for edge in &body.locations[location].edges {
                let Some(after) = self.follow(edge, &before) else {
                    continue;
                };
                let error = body.location(edge.target).error.as_ref();
                let resume = error.and_then(|error| error.resume);
                for target in [Some(edge.target), resume].into_iter().flatten() {
                    let target = target.index();
                    let joined = match &known[target] {
                        None => after.clone(),
                        Some(there) => after.clone().joined(there),
                    };
                    if known[target].as_ref() != Some(&joined) {
                        known[target] = Some(joined);
                        work.push(target);
                    }
                }
            }
        }
        known
    }

    fn flags(&mut self, template: usize, known: &[Option<Known>]) -> Vec<Vec<bool>> {
        let program = self.program;
        let body = &program.templates[template];
        let mut flags = Vec::new();
        for (location, known) in body.locations.iter().zip(known) {
            let mut of_location = Vec::new();
            for edge in &location.edges {
                let after = known.as_ref().and_then(|known| self.follow(edge, known));
                of_location.push(after.is_none());
                if let (Some(after), true) = (after, edge.effects.contains(&Effect::Exit)) {
                    let is_free = |mutex| after.depths.get(&mutex) == Some(&0);
                    self.exits_with_mutex |= !(0..self.mutexes.len()).all(is_free);
                }
            }
            // Where a thread is stuck, its edges say what it waits for.
            if known.is_some() && of_location.iter().all(|flag| *flag) {
                of_location.fill(false);
            }
            flags.push(of_location);
        }
        flags
    }

    /// What is known after an edge; nothing if it is never enabled.
    fn follow(&self, edge: &Edge, before: &Known) -> Option<Known> {
        let guard = self.folded(&edge.guard, before);
        if guard.as_const() == Some(0) || contradicts_itself(&guard) {
            return None;
        }
        let mut after = before.clone();
        for literal in conjunction(&edge.guard) {
            if let Expr::Binary(BinaryOp::Eq, lhs, rhs) = &literal.condition
                && literal.holds
                && let Expr::Read(place) = &**lhs
                && let Some(value) = self.folded(rhs, before).as_const()
                && self.is_followed(place.variable)
                && place.index.as_const() == Some(0)
            {
                after.constants.insert(place.variable, value);
            }
        }
        for (number, mutex) in self.mutexes.iter().enumerate() {
            let depth = before.depths.get(&number).copied();
            let depth = match mutex.operation(edge) {
                Some(SyncAction::Acquire) => Some(1),
                Some(SyncAction::AcquireAgain) => depth.and_then(|depth| depth.checked_add(1)),
                Some(SyncAction::ReleaseOnce) => depth.and_then(|depth| depth.checked_sub(1)),
                Some(SyncAction::Release) => Some(0),
                _ if mutex.is_written_by(edge) => Some(0),
                _ => continue,
            };
            match depth {
                Some(depth) => after.depths.insert(number, depth),
                None => after.depths.remove(&number),
            };
        }
        for effect in &edge.effects {
            let value = match effect {
                Effect::Assign { value, .. } => self.folded_constants(value, &after).as_const(),
                _ => None,
            };
            for place in effect.written_places() {
                if !self.is_followed(place.variable) {
                    continue;
                }
                match value.filter(|_| place.index.as_const() == Some(0)) {
                    Some(value) => after.constants.insert(place.variable, value),
                    None => after.constants.remove(&place.variable),
                };
            }
        }
        Some(after)
    }

    /// Whether constants of the variable are followed.
    fn is_followed(&self, variable: VariableRef) -> bool {
        match variable {
            VariableRef::Local(_) => true,
            VariableRef::Global(id) => self.settled.contains_key(&id),
        }
    }

    /// An expression in a state before an edge.
    fn folded(&self, expr: &Expr, known: &Known) -> Expr {
        for (&mutex, &depth) in &known.depths {
            if let Some(value) = self.mutexes[mutex].value(expr, depth) {
                return value;
            }
        }
        if let Some(constant) = constant(expr, known) {
            return constant;
        }
        fold_parts(expr, &mut |part| self.folded(part, known))
    }

    /// An expression after some of the effects of an edge.
    fn folded_constants(&self, expr: &Expr, known: &Known) -> Expr {
        match constant(expr, known) {
            Some(constant) => constant,
            None => fold_parts(expr, &mut |part| self.folded_constants(part, known)),
        }
    }
}

/// Whether a conjunction asks for a condition and for its negation.
fn contradicts_itself(guard: &Expr) -> bool {
    let literals = conjunction(guard);
    let is_denied = |literal: &Literal| {
        let mut others = literals.iter();
        others.any(|other| other.holds != literal.holds && other.condition == literal.condition)
    };
    literals.iter().any(is_denied)
}

fn constant(expr: &Expr, known: &Known) -> Option<Expr> {
    let Expr::Read(place) = expr else {
        return None;
    };
    let value = *known.constants.get(&place.variable)?;
    let width = place.ty.width;
    (place.index.as_const() == Some(0)).then_some(Expr::Const { value, width })
}

impl Recursive {
    fn is_cell(&self, id: VariableId) -> bool {
        id == self.owner || id == self.count
    }

    fn reads(&self, expr: &Expr, id: VariableId) -> bool {
        fixed_cell(expr).is_some_and(|place| place.variable == VariableRef::Global(id))
    }

    /// The declared operation on it that changes one of its cells.
    fn operation(&self, edge: &Edge) -> Option<SyncAction> {
        let concerns = |op: &&SyncOp| {
            self.reads(&op.cell, self.owner)
                && (op.count.as_ref()).is_some_and(|count| self.reads(count, self.count))
        };
        let op = edge.sync.iter().find(concerns)?;
        let is_breach = op.breach(edge).is_some();
        (!is_breach && self.is_written_by(edge)).then_some(op.action)
    }

    fn written<'e>(&self, edge: &'e Edge) -> impl Iterator<Item = (VariableId, &'e Effect)> {
        let mutex = self.clone();
        let cells = |effect: &'e Effect| {
            let places = effect.written_places().into_iter();
            places.filter_map(move |place| match place.variable {
                VariableRef::Global(id) => Some((id, effect)),
                VariableRef::Local(_) => None,
            })
        };
        let all = edge.effects.iter().flat_map(cells);
        all.filter(move |(id, _)| mutex.is_cell(*id))
    }

    fn is_written_by(&self, edge: &Edge) -> bool {
        self.written(edge).next().is_some()
    }

    /// Whether an edge treats it as the analysis requires.
    fn is_kept_by(&self, edge: &Edge, is_first: bool) -> bool {
        let written: Vec<VariableId> = self.written(edge).map(|(id, _)| id).collect();
        let writes_only = |id: VariableId| written == [id];
        let is_zero = |effect: &Effect| matches!(effect, Effect::Assign { value, .. } if value.as_const() == Some(0));
        match self.operation(edge) {
            _ if written.is_empty() => true,
            Some(SyncAction::Acquire) => {
                // Not one that a dead owner has left.
                writes_only(self.owner) && self.finds(edge, self.owner, &Expr::constant(0, 32))
            }
            Some(SyncAction::AcquireAgain | SyncAction::ReleaseOnce) => writes_only(self.count),
            Some(SyncAction::Release) => {
                let gives_free = self.written(edge).all(|(_, effect)| is_zero(effect));
                writes_only(self.owner)
                    && gives_free
                    && self.finds(edge, self.owner, &mark())
                    && self.finds(edge, self.count, &Expr::constant(0, 32))
            }
            _ => {
                let both = [self.owner, self.count];
                is_first
                    && both.iter().all(|id| written.contains(id))
                    && self.written(edge).all(|(_, effect)| is_zero(effect))
            }
        }
    }

    fn finds(&self, edge: &Edge, cell: VariableId, value: &Expr) -> bool {
        let literals = conjunction(&edge.guard);
        let of_edge = edge.sync.iter();
        let mut cells = of_edge.flat_map(|op| std::iter::once(&op.cell).chain(&op.count));
        cells.any(|it| self.reads(it, cell) && finds(&literals, it, value, true))
    }

    /// The value of an expression about it for a thread that has locked it so often.
    fn value(&self, expr: &Expr, depth: u32) -> Option<Expr> {
        let truth = |holds: bool| if holds { Expr::TRUE } else { Expr::FALSE };
        match expr {
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), lhs, rhs) => {
                let other = match (self.reads(lhs, self.owner), self.reads(rhs, self.owner)) {
                    (true, _) => rhs,
                    (_, true) => lhs,
                    _ => return None,
                };
                let is_equal = if **other == mark() {
                    depth > 0
                } else if other.as_const() == Some(0) && depth > 0 {
                    false
                } else {
                    return None;
                };
                Some(truth(is_equal == (*op == BinaryOp::Eq)))
            }
            expr if depth > 0 && self.reads(expr, self.count) => {
                Some(Expr::constant(i64::from(depth) - 1, expr.width()))
            }
            _ => None,
        }
    }
}

/// The mutexes that are locked again somewhere, as far as their cells are scalars without an address
/// that are 0 at first.
fn declared(program: &Program) -> Vec<Recursive> {
    let id = |cell: &Expr| match fixed_cell(cell)?.variable {
        VariableRef::Global(id) if initial(program, id) == Some(0) => Some(id),
        _ => None,
    };
    let mut found: Vec<Recursive> = (program.templates.iter())
        .flat_map(|template| &template.locations)
        .flat_map(|location| &location.edges)
        .flat_map(|edge| &edge.sync)
        .filter(|op| op.action == SyncAction::AcquireAgain)
        .filter_map(|op| {
            Some(Recursive {
                owner: id(&op.cell)?,
                count: id(op.count.as_ref()?)?,
            })
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The initial value of a scalar without an address.
fn initial(program: &Program, id: VariableId) -> Option<u64> {
    let variable = &program.globals[id.index()];
    if variable.len != 1 || variable.addressable {
        return None;
    }
    match &variable.init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => values.first().copied(),
        Init::Channels(_) => None,
    }
}

fn spawns(edge: &Edge) -> bool {
    let is_spawn = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    edge.effects.iter().any(is_spawn)
}

fn spawned(program: &Program, template: usize) -> bool {
    program.effects().any(
        |effect| matches!(effect, Effect::Spawn { template: made, .. } if made.index() == template),
    )
}

fn prefix(program: &Program, first: Option<usize>) -> Vec<bool> {
    let Some(first) = first else {
        return Vec::new();
    };
    let template = &program.templates[first];
    let edges = template.locations.iter().flat_map(|at| &at.edges);
    let started: Vec<usize> = edges
        .filter(|edge| spawns(edge))
        .map(|edge| edge.target.index())
        .collect();
    let after = reachable(&control_flow(template), started);
    (0..template.locations.len())
        .map(|location| !after.contains(location))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Place, Ty};
    use crate::program::{Instance, Location, Template, Variable};
    use crate::sync::SyncKind;

    fn cell(number: u32) -> Place {
        Place::scalar(VariableRef::Global(VariableId(number)), Ty::unsigned(32))
    }

    fn number(value: i64) -> Expr {
        Expr::constant(value, 32)
    }

    fn is(place: Place, value: Expr) -> Expr {
        Expr::binary(BinaryOp::Eq, Expr::Read(place), value)
    }

    fn operation(action: SyncAction, guard: Expr, write: (u32, Expr), target: u32) -> Edge {
        let effects = vec![Effect::Assign {
            place: cell(write.0),
            value: write.1,
        }];
        Edge {
            sync: vec![SyncOp {
                kind: SyncKind::Mutex,
                action,
                cell: Expr::Read(cell(0)),
                count: Some(Expr::Read(cell(1))),
            }],
            ..Edge::new(guard, effects, target, "")
        }
    }

    fn counted(by: i64) -> Expr {
        Expr::binary(BinaryOp::Add, Expr::Read(cell(1)), number(by))
    }

    fn lock(target: u32) -> Vec<Edge> {
        vec![
            operation(
                SyncAction::Acquire,
                is(cell(0), number(0)),
                (0, mark()),
                target,
            ),
            operation(
                SyncAction::AcquireAgain,
                is(cell(0), mark()),
                (1, counted(1)),
                target,
            ),
        ]
    }

    fn unlock(target: u32) -> Vec<Edge> {
        let (mine, last) = (is(cell(0), mark()), is(cell(1), number(0)));
        let releases = mine.clone().and(last.clone());
        let once = mine.and(last.negate());
        vec![
            operation(SyncAction::Release, releases, (0, number(0)), target),
            operation(SyncAction::ReleaseOnce, once, (1, counted(-1)), target),
        ]
    }

    fn exits() -> Vec<Edge> {
        vec![Edge::new(Expr::TRUE, vec![Effect::Exit], 0, "")]
    }

    /// Two threads of one template, with edges by location.
    fn program(locations: Vec<Vec<Edge>>) -> Program {
        let scalar = |name: &str| Variable::scalar(name, Ty::unsigned(32));
        let locations = locations.into_iter().map(Location::with_edges).collect();
        Program {
            globals: vec![scalar("owner"), scalar("count")],
            templates: vec![Template::new("t", vec![scalar("l")], locations)],
            initial: vec![Instance::new(0, Vec::new()), Instance::new(0, Vec::new())],
            max_threads: 2,
            ..Program::default()
        }
    }

    fn flags(program: &Program) -> Vec<Vec<bool>> {
        impossible_edges(program).remove(0)
    }

    #[test]
    fn depths_of_recursive_mutexes_are_followed() {
        let nested = program(vec![lock(1), lock(2), unlock(3), unlock(4), exits()]);
        let expected = [
            vec![false, true],
            vec![true, false],
            vec![true, false],
            vec![false, true],
            vec![false],
        ];
        assert_eq!(flags(&nested), expected);
    }

    #[test]
    fn who_exits_with_a_mutex_leaves_its_mark() {
        let left = program(vec![lock(1), lock(2), unlock(3), exits()]);
        assert!(flags(&left).iter().flatten().all(|flag| !flag));
    }

    #[test]
    fn a_write_without_a_declaration_ends_what_is_known() {
        let mut other = exits();
        other[0].effects.insert(
            0,
            Effect::Assign {
                place: cell(0),
                value: number(0),
            },
        );
        let broken = program(vec![lock(1), lock(2), unlock(3), unlock(4), other]);
        assert!(flags(&broken).iter().flatten().all(|flag| !flag));
        // A release that does not ask for the count.
        let mut hasty = unlock(2);
        hasty[0].guard = is(cell(0), mark());
        let hasty = program(vec![lock(1), hasty, exits()]);
        assert!(flags(&hasty).iter().flatten().all(|flag| !flag));
    }

    #[test]
    fn paths_with_different_depths_meet() {
        // Location 1 is come to after locking once and after locking twice.
        let mut twice = lock(2);
        twice.extend(lock(1));
        let meets = program(vec![twice, unlock(3), lock(1), Vec::new()]);
        let found = flags(&meets);
        assert_eq!(found[1], [false, false]);
        assert_eq!(found[2], [true, false]);
    }

    #[test]
    fn constants_of_locals_and_settled_globals_decide_guards() {
        let local = Place::scalar(VariableRef::Local(VariableId(0)), Ty::unsigned(32));
        let set = |place: &Place, value| Effect::Assign {
            place: place.clone(),
            value: number(value),
        };
        let asks = |place: &Place| {
            vec![
                Edge::new(is(place.clone(), number(7)), Vec::new(), 2, ""),
                Edge::new(is(place.clone(), number(7)).negate(), Vec::new(), 2, ""),
            ]
        };
        let sets = |effect| vec![Edge::new(Expr::TRUE, vec![effect], 1, "")];
        let of_local = program(vec![sets(set(&local, 7)), asks(&local), exits()]);
        assert_eq!(flags(&of_local)[1], [false, true]);
        // A global that a thread writes beside others is not settled.
        let of_global = program(vec![sets(set(&cell(0), 7)), asks(&cell(0)), exits()]);
        assert_eq!(flags(&of_global)[1], [false, false]);
        // One thread that starts others only later is alone.
        let mut only = of_global.clone();
        only.initial.pop();
        assert_eq!(flags(&only)[1], [false, true]);
    }
}

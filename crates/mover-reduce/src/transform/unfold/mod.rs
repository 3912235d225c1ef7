//! Unfolding of statically known control flow.
//!
//! Most C programs begin with a thread that initialises data, starts workers in a loop and
//! joins them in another. Everything about these loops is known before the search: the number
//! of iterations, the argument of each worker, the cell that records its exit. In the original
//! program none of it can be used: transactions end at the loops, every worker may be in every
//! slot, and an index that is constant in each iteration is a variable to every analysis. The
//! tool of Günther et al. (2017) reads programs whose threads are started one by one; here
//! [`unfold`] obtains such programs by partial evaluation:
//!
//! - A location of the first thread's template becomes one location for each tuple of known
//!   values of its local variables. The contents of memory are known as well, as a small set of
//!   values for each cell: what the thread itself has written, and everything that the threads
//!   started so far may write at any time.
//! - Each start of a thread gets its own template, in which the arguments are constants as far
//!   as they are known; it is unfolded in the same way.
//! - Edges whose guards cannot hold are removed, and known values are substituted.
//! - Where one location has several copies as successors, their known values are joined, so
//!   that a choice that is only stored does not double what follows. A variable with too many
//!   values is treated as unknown, and the template is unfolded again.
//!
//! **Exits.** A thread that exits frees its number, and the next thread gets it: so starting a
//! thread does not commute with the exit of another, although in C no thread can observe which
//! number a thread has. With a known number of starts, threads keep their numbers here and stay
//! at a final location of their own. The result is the same program up to thread numbers if
//! these are only used to mark what a thread holds (as locks do), and no thread exits while
//! such a mark exists. Programs for which this is not established are not unfolded.
//!
//! [`Unfolded::original_steps`] translates a run of the unfolded program into one of the
//! original.

mod suited;
mod values;

use std::collections::BTreeMap;

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::program::{
    BoundMet, Edge, Effect, Init, Location, LocationId, Program, Template, TemplateId, Variable,
    VariableId,
};
use mover_ir::semantics::{Machine, Move, Step};

use crate::facts::points_to::PointsTo;
use suited::{effects_of, has_repeated_spawn, is_suited};
use values::{Env, Values, join};

/// Maximum number of copies of one location.
const MOST_COPIES: usize = 72;
/// Maximum number of locations of one template.
const MOST_LOCATIONS: usize = 4_000;
/// Maximum number of cells that are tracked individually.
const MOST_CELLS: usize = 512;

/// An unfolded program, with the origin of its locations and edges.
pub struct Unfolded {
    pub program: Program,
    /// By template, location and edge: the number of the edge in the original.
    edges: Vec<Vec<Vec<usize>>>,
    /// By template and location, which location of the original it is a copy of.
    places: Vec<Vec<(TemplateId, LocationId)>>,
}

/// Unfolds a program; `None` if nothing is gained or if the result is not known to be equivalent.
pub fn unfold(original: &Program) -> Option<Unfolded> {
    let [first] = &original.initial[..] else {
        return None;
    };
    if !is_suited(original, first.template) {
        return None;
    }
    let points_to = PointsTo::new(original);
    let state = Machine::new(original).initial();
    let thread = state.threads.first()?.as_ref()?;
    let locals: Vec<Values> = thread
        .locals
        .iter()
        .map(|&value| Some(vec![value]))
        .collect();
    let mut globals: Vec<Values> = state.globals.iter().map(|&v| Some(vec![v])).collect();
    if globals.len() > MOST_CELLS {
        globals = vec![None; globals.len()];
    }
    let mut unfolding = Unfolding {
        original,
        points_to,
        global_offsets: offsets(&original.globals),
        started: Vec::new(),
        numbers: BTreeMap::new(),
    };
    let knowledge = Knowledge {
        locals,
        globals: Some(globals),
        starts: Vec::new(),
    };
    let main = unfolding.template(first.template, knowledge)?;
    if unfolding.started.is_empty() || has_repeated_spawn(&main.template) {
        return None;
    }
    let most = main.most_starts();
    if most + 1 > original.max_threads as usize {
        return None;
    }
    let mut program = original.clone();
    let mut edges = vec![main.edges];
    let mut places = vec![main.places];
    program.templates = vec![main.template];
    for worker in unfolding.started {
        places.push(worker.copy.places);
        program.templates.push(worker.copy.template);
        edges.push(worker.copy.edges);
    }
    program.initial[0].template = TemplateId(0);
    // Facts about thread numbers and comparing guards concern the original only.
    program.info_mut().exclusive.clear();
    program.presence = None;
    if mover_ir::validate::validate(&program).is_err() {
        return None;
    }
    Some(Unfolded {
        program,
        edges,
        places,
    })
}

/// Why steps of the unfolded program are no run of the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotARun {
    #[error("a step of the unfolded program is not possible")]
    Impossible,
    #[error("a thread of the unfolded program is not known")]
    UnknownThread,
    #[error("a step of the unfolded program is none of the original")]
    NotOfTheOriginal,
    #[error("a thread was started in the unfolded program only")]
    StartedHereOnly,
}

impl Unfolded {
    /// The location of the original that a bound here is a copy of.
    pub fn original_bound(&self, met: BoundMet) -> Option<BoundMet> {
        let of_template = &self.places[met.template.index()];
        let &(template, location) = of_template.get(met.location.index())?;
        Some(BoundMet { template, location })
    }

    /// The steps of the original program that correspond to a run of the unfolded one.
    pub fn original_steps(&self, original: &Program, steps: &[Step]) -> Result<Vec<Step>, NotARun> {
        let (machine, judge) = (Machine::new(&self.program), Machine::new(original));
        let (mut state, mut known) = (machine.initial(), judge.initial());
        // The number in the original of each thread here.
        let mut numbers: Vec<usize> = vec![0];
        let mut told = Vec::new();
        for &step in steps {
            if !machine.can_take(&state, step) {
                return Err(NotARun::Impossible);
            }
            let told_move = |by: Move| -> Option<Move> {
                let thread = state.threads.get(by.thread)?.as_ref()?;
                let of_location = &self.edges[thread.template.index()][thread.location.index()];
                Some(Move {
                    thread: *numbers.get(by.thread)?,
                    edge: *of_location.get(by.edge)?,
                })
            };
            let by = told_move(step.by).ok_or(NotARun::UnknownThread)?;
            let with = match step.with {
                Some(with) => Some(told_move(with).ok_or(NotARun::UnknownThread)?),
                None => None,
            };
            let step_there = Step {
                by,
                with,
                choice: step.choice,
            };
            if !judge.can_take(&known, step_there) {
                return Err(NotARun::NotOfTheOriginal);
            }
            let after = machine.apply(&state, step);
            let after_there = judge.apply(&known, step_there);
            if after.threads.len() > numbers.len() {
                let is_new = |number: &usize| {
                    let before = known.threads.get(*number).is_some_and(Option::is_some);
                    !before && after_there.threads[*number].is_some()
                };
                let new = (0..after_there.threads.len()).find(is_new);
                numbers.push(new.ok_or(NotARun::StartedHereOnly)?);
            }
            told.push(step_there);
            (state, known) = (after, after_there);
        }
        Ok(told)
    }
}

fn offsets(variables: &[Variable]) -> Vec<usize> {
    let mut next = 0;
    let mut first = Vec::new();
    for variable in variables {
        first.push(next);
        next += variable.len as usize;
    }
    first.push(next);
    first
}

/// What is known at a location.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Knowledge {
    locals: Vec<Values>,
    /// Of the first thread only.
    globals: Option<Vec<Values>>,
    /// Templates of the threads started so far.
    starts: Vec<usize>,
}

/// A copy of a template, with what it may write.
struct CopiedTemplate {
    template: Template,
    edges: Vec<Vec<usize>>,
    /// By location.
    starts: Vec<usize>,
    /// By location; the final location, which comes last, is not a copy.
    places: Vec<(TemplateId, LocationId)>,
}

impl CopiedTemplate {
    fn most_starts(&self) -> usize {
        self.starts.iter().copied().max().unwrap_or(0)
    }
}

struct Worker {
    copy: CopiedTemplate,
    /// Cells of globals, and the values that may be written there.
    writes: Vec<(usize, Values)>,
}

struct Unfolding<'p> {
    original: &'p Program,
    points_to: PointsTo<'p>,
    global_offsets: Vec<usize>,
    started: Vec<Worker>,
    /// The copy for a template with these arguments.
    numbers: BTreeMap<(usize, Vec<Values>), usize>,
}

/// Why a template must be unfolded again, or cannot be unfolded.
enum Trouble {
    /// These local variables take too many values.
    Locals(Vec<usize>),
    Globals,
    Hopeless,
}

impl Unfolding<'_> {
    fn template(&mut self, id: TemplateId, start: Knowledge) -> Option<CopiedTemplate> {
        let body = self.original.template(id);
        let first = offsets(&body.locals);
        let mut given_up: Vec<bool> = (0..body.locals.len())
            .map(|local| first[local + 1] - first[local] > MOST_CELLS)
            .collect();
        let mut start = start;
        loop {
            for (local, _) in given_up.iter().enumerate().filter(|(_, gone)| **gone) {
                start.locals[first[local]..first[local + 1]].fill(None);
            }
            match self.explore(id, &start, &given_up) {
                Ok(copy) => return Some(copy),
                Err(Trouble::Locals(more)) => {
                    for local in more {
                        given_up[local] = true;
                    }
                }
                Err(Trouble::Globals) => {
                    let globals = start.globals.as_mut()?;
                    globals.fill(None);
                }
                Err(Trouble::Hopeless) => return None,
            }
        }
    }

    fn explore(
        &mut self,
        id: TemplateId,
        start: &Knowledge,
        given_up: &[bool],
    ) -> Result<CopiedTemplate, Trouble> {
        let original = self.original;
        let body = original.template(id);
        let first = offsets(&body.locals);
        let mut nodes: Vec<(LocationId, Knowledge)> = vec![(body.entry, start.clone())];
        let mut numbers: BTreeMap<(LocationId, Knowledge), usize> = BTreeMap::new();
        numbers.insert(nodes[0].clone(), 0);
        let mut copies: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
        copies.entry(body.entry).or_default().push(0);
        let mut locations: Vec<Location> = Vec::new();
        let mut edges: Vec<Vec<usize>> = Vec::new();
        let mut end: Option<LocationId> = None;
        // After the last step, which may also start threads.
        let mut starts_at_end = 0;
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut number = 0;
        while number < nodes.len() {
            let (at, known) = nodes[number].clone();
            let place = body.location(at);
            let mut copy = Location {
                edges: Vec::new(),
                ..place.clone()
            };
            let mut of_location = Vec::new();
            // Successors by location, joined.
            let mut after: Vec<(LocationId, Knowledge, Vec<usize>)> = Vec::new();
            for (edge_number, edge) in place.edges.iter().enumerate() {
                let env = Env {
                    unfolding: self,
                    template: id,
                    first: &first,
                    known: &known,
                };
                let guard = env.fold(&edge.guard);
                if guard == Expr::FALSE {
                    continue;
                }
                let (effects, next, is_end) = self.effects(id, &first, &known, edge, given_up)?;
                let position = copy.edges.len();
                copy.edges.push(Edge {
                    guard,
                    effects,
                    // They name cells as the edge did before.
                    sync: Vec::new(),
                    ..edge.clone()
                });
                of_location.push(edge_number);
                if is_end {
                    ends.push((number, position));
                    starts_at_end = starts_at_end.max(next.starts.len());
                    continue;
                }
                let same = after.iter_mut().find(|(target, known, _)| {
                    *target == edge.target && known.starts == next.starts
                });
                match same {
                    Some((_, known, positions)) => {
                        known.join(&next);
                        positions.push(position);
                    }
                    None => after.push((edge.target, next, vec![position])),
                }
            }
            for (target, mut known, positions) in after {
                if body.location(target).bound.is_some() {
                    // Nothing follows, so one copy is sufficient.
                    known.forget_values();
                }
                let key = (target, known);
                let successor = match numbers.get(&key) {
                    Some(&found) => found,
                    None => {
                        let new = nodes.len();
                        nodes.push(key.clone());
                        let of_target = copies.entry(target).or_default();
                        of_target.push(new);
                        numbers.insert(key, new);
                        if of_target.len() > MOST_COPIES || nodes.len() > MOST_LOCATIONS {
                            let rows: Vec<&Knowledge> =
                                of_target.iter().map(|&n| &nodes[n].1).collect();
                            return Err(trouble(&rows, &first));
                        }
                        new
                    }
                };
                for position in positions {
                    copy.edges[position].target = LocationId(successor as u32);
                }
            }
            locations.push(copy);
            edges.push(of_location);
            number += 1;
        }
        let mut starts: Vec<usize> = nodes.iter().map(|(_, k)| k.starts.len()).collect();
        for (location, edge) in ends {
            let end = *end.get_or_insert_with(|| {
                locations.push(Location {
                    valid_end: true,
                    ..Location::default()
                });
                edges.push(Vec::new());
                starts.push(starts_at_end);
                LocationId(locations.len() as u32 - 1)
            });
            locations[location].edges[edge].target = end;
        }
        // Where a search that continues after errors would resume is not known here.
        for location in &mut locations {
            if let Some(mark) = &mut location.error {
                mark.resume = None;
            }
        }
        let template = Template {
            locations,
            entry: LocationId(0),
            ..body.clone()
        };
        Ok(CopiedTemplate {
            template,
            edges,
            starts,
            places: nodes.iter().map(|(at, _)| (id, *at)).collect(),
        })
    }

    /// The effects of an edge with known values substituted, and what is known after them.
    fn effects(
        &mut self,
        id: TemplateId,
        first: &[usize],
        known: &Knowledge,
        edge: &Edge,
        given_up: &[bool],
    ) -> Result<(Vec<Effect>, Knowledge, bool), Trouble> {
        let mut next = known.clone();
        let mut effects = Vec::new();
        let mut is_end = false;
        for effect in &edge.effects {
            let env = Env {
                unfolding: self,
                template: id,
                first,
                known: &next,
            };
            let folded = env.fold_effect(effect);
            let mut updates: Vec<(VariableRef, Expr, Values)> = Vec::new();
            match &folded {
                Effect::Assign { place, value } => {
                    updates.push((place.variable, (*place.index).clone(), env.values(value)));
                }
                Effect::Store { address, value } => {
                    let stored = env.values(value);
                    for (variable, index, values) in env.stored(address, value.width(), stored) {
                        updates.push((VariableRef::Global(variable), index, values));
                    }
                }
                Effect::Exit => is_end = true,
                other => {
                    for place in other.written_places() {
                        updates.push((place.variable, (*place.index).clone(), None));
                    }
                }
            }
            if let Effect::Spawn {
                template,
                args,
                priority,
                result,
            } = &folded
            {
                let args: Vec<Values> = args.iter().map(|arg| env.single(arg)).collect();
                let copy = self.start(*template, args)?;
                let Effect::Spawn { args, .. } = &folded else {
                    continue;
                };
                effects.push(Effect::Spawn {
                    template: TemplateId(copy as u32 + 1),
                    args: args.clone(),
                    priority: *priority,
                    result: result.clone(),
                });
                next.starts.push(copy);
            } else if folded != Effect::Exit {
                effects.push(folded);
            }
            for (variable, index, values) in updates {
                self.update(first, &mut next, variable, &index, values, given_up);
            }
            // Other threads may write at any time.
            if let Some(globals) = &mut next.globals {
                for &copy in &next.starts {
                    for (cell, values) in &self.started[copy].writes {
                        join(&mut globals[*cell], values);
                    }
                }
            }
        }
        if is_end {
            // Nothing remains of a thread that has exited.
            let body = self.original.template(id);
            for (local, variable) in body.locals.iter().enumerate() {
                for index in 0..variable.len {
                    let place = Place::element(
                        VariableRef::Local(VariableId(local as u32)),
                        Expr::int(index.into()),
                        variable.ty,
                    );
                    effects.push(Effect::Assign {
                        value: Expr::constant(0, variable.ty.width),
                        place,
                    });
                }
            }
        }
        Ok((effects, next, is_end))
    }

    /// The number of the copy for a thread with these arguments.
    fn start(&mut self, id: TemplateId, args: Vec<Values>) -> Result<usize, Trouble> {
        let key = (id.index(), args.clone());
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let body = self.original.template(id);
        let mut locals: Vec<Values> = Vec::new();
        for variable in &body.locals {
            for index in 0..variable.len as usize {
                locals.push(match &variable.init {
                    Init::All(value) => Some(vec![*value]),
                    Init::Cells(values) => Some(vec![values[index]]),
                    Init::Channels(_) => None,
                });
            }
        }
        let first = offsets(&body.locals);
        for (param, values) in args.into_iter().enumerate() {
            locals[first[param]] = values;
        }
        let knowledge = Knowledge {
            locals,
            globals: None,
            starts: Vec::new(),
        };
        let copy = self.template(id, knowledge).ok_or(Trouble::Hopeless)?;
        let writes = self.writes(id, &copy.template);
        let number = self.started.len();
        self.started.push(Worker { copy, writes });
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// The cells of globals that a copy may write, and what.
    fn writes(&self, id: TemplateId, copy: &Template) -> Vec<(usize, Values)> {
        let mut writes: BTreeMap<usize, Values> = BTreeMap::new();
        let mut note = |cells: std::ops::Range<usize>, values: Values| {
            for cell in cells {
                let known = writes.entry(cell).or_insert_with(|| Some(Vec::new()));
                join(known, &values);
            }
        };
        for effect in effects_of(copy) {
            if let Effect::Store { address, .. } = effect {
                for variable in self.pointed_at(id, address) {
                    note(self.cells_of(variable), None);
                }
            }
            for place in effect.written_places() {
                let VariableRef::Global(variable) = place.variable else {
                    continue;
                };
                let cells = self.cells_of(variable);
                let cells = match place.index.as_const() {
                    Some(index) if (index as usize) < cells.len() => {
                        cells.start + index as usize..cells.start + index as usize + 1
                    }
                    _ => cells,
                };
                let values = match effect {
                    Effect::Assign { value, .. } => value.as_const().map(|value| vec![value]),
                    _ => None,
                };
                note(cells, values);
            }
        }
        writes.into_iter().collect()
    }

    fn cells_of(&self, variable: VariableId) -> std::ops::Range<usize> {
        self.global_offsets[variable.index()]..self.global_offsets[variable.index() + 1]
    }

    /// The addressable globals that an address may point into.
    fn pointed_at(&self, id: TemplateId, address: &Expr) -> Vec<VariableId> {
        if self.points_to.is_known() {
            let targets = self.points_to.targets(id.index(), address);
            return targets.globals.into_iter().collect();
        }
        let globals = self.original.globals.iter().enumerate();
        globals
            .filter(|(_, variable)| variable.addressable)
            .map(|(number, _)| VariableId(number as u32))
            .collect()
    }

    fn update(
        &self,
        first: &[usize],
        known: &mut Knowledge,
        variable: VariableRef,
        index: &Expr,
        values: Values,
        given_up: &[bool],
    ) {
        let (cells, range) = match variable {
            VariableRef::Local(id) => {
                let range = first[id.index()]..first[id.index() + 1];
                (&mut known.locals, range)
            }
            VariableRef::Global(id) => match &mut known.globals {
                Some(globals) => (globals, self.cells_of(id)),
                None => return,
            },
        };
        let is_local = matches!(variable, VariableRef::Local(_));
        let values = match variable {
            VariableRef::Local(id) if given_up[id.index()] => None,
            // A local variable has one value or any: each value has its own copy.
            _ if is_local => values.filter(|values| values.len() == 1),
            _ => values,
        };
        match index.as_const() {
            // Writing outside an array has no effect.
            Some(index) if index as usize >= range.len() => {}
            Some(index) => cells[range.start + index as usize] = values,
            None => {
                for cell in range {
                    if is_local {
                        cells[cell] = None;
                    } else {
                        join(&mut cells[cell], &values);
                    }
                }
            }
        }
    }
}

/// The variables that make the tuples of one location grow without bound.
fn trouble(rows: &[&Knowledge], first: &[usize]) -> Trouble {
    let differs = |cell: usize| {
        rows.iter()
            .any(|row| row.locals[cell] != rows[0].locals[cell])
    };
    let locals: Vec<usize> = (0..first.len() - 1)
        .filter(|&local| (first[local]..first[local + 1]).any(differs))
        .collect();
    if !locals.is_empty() {
        return Trouble::Locals(locals);
    }
    let is_known = |row: &&Knowledge| row.globals.iter().flatten().any(Option::is_some);
    if rows.iter().any(is_known) && rows.iter().any(|row| row.globals != rows[0].globals) {
        return Trouble::Globals;
    }
    Trouble::Hopeless
}

impl Knowledge {
    fn join(&mut self, other: &Knowledge) {
        for (mine, theirs) in self.locals.iter_mut().zip(&other.locals) {
            if mine != theirs {
                *mine = None;
            }
        }
        if let (Some(mine), Some(theirs)) = (&mut self.globals, &other.globals) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                join(mine, theirs);
            }
        }
    }

    /// Drops everything except the threads that were started.
    fn forget_values(&mut self) {
        self.locals.fill(None);
        if let Some(globals) = &mut self.globals {
            globals.fill(None);
        }
    }
}

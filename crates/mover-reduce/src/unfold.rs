//! Programs with their known control flow unfolded.
//!
//! Most C programs begin with a thread that initialises data, starts workers in a
//! loop and joins them in another. Everything about these loops is known before any
//! search: how often they run, which argument each worker gets, which cell tells of
//! its end. As the program stands, none of it can be used: the loops are cut where
//! transactions could go on, every worker may be in every slot, and an index that is
//! a constant in each round is a variable to every analysis. Paper 001's tool reads
//! programs whose threads are started one by one by hand; here [`unfold`] gets there
//! by partial evaluation:
//!
//! - A location of the first thread's template becomes one for each row of values
//!   that its local variables are known to have there. What memory holds is known,
//!   too, as a small set of values for each cell: what the thread itself has written,
//!   and whatever those started so far may write at any time.
//! - Each start of a thread gets a template of its own, in which the arguments are
//!   constants as far as they are known, treated in the same way.
//! - Edges whose guards cannot hold are dropped, and what is known is put in.
//! - Where one location has several successors at another, what they know is joined,
//!   so that a choice that is only carried along does not double what follows.
//!   A variable that takes too many values is given up, and the template is done again.
//!
//! **Ends.** A thread that ends gives its number back, and the next thread gets it:
//! so starting a thread does not commute with the end of another, although in C
//! nobody can see which number a thread has. With the number of starts known, threads
//! keep their numbers here and stay at an end of their own. That is the same program up to the
//! numbers of threads if these are only used to mark what a thread holds (as locks do),
//! and no thread ends with such a mark left behind; programs for which this is not
//! clear are not unfolded.
//!
//! A run of the unfolded program is told as one of the original by [`Unfolded::original_steps`].

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Place, ReceiveArg, UnaryOp, VariableRef};
use mover_ir::program::{
    Edge, Effect, Init, Location, LocationId, Program, Template, TemplateId, Variable, VariableId,
};
use mover_ir::semantics::{Machine, Move, Step};

use crate::pointer_locks::own_mark;
use crate::points_to::PointsTo;

/// More values than these of one cell are any.
const MOST_VALUES: usize = 4;
/// More copies of one location are too many.
const MOST_COPIES: usize = 72;
/// More locations of one template are too many.
const MOST_LOCATIONS: usize = 4_000;
/// More cells than these are not followed one by one.
const MOST_CELLS: usize = 512;

/// An unfolded program, with where everything comes from.
pub struct Unfolded {
    pub program: Program,
    /// By template, location and edge: the number of the edge in the original.
    edges: Vec<Vec<Vec<usize>>>,
    /// The locations of the original that are left.
    places: BTreeSet<(TemplateId, LocationId)>,
}

/// What is known of a cell: one of these values, or nothing.
type Values = Option<Vec<u64>>;

/// Unfolds a program; nothing if there is nothing to gain or it is not clear that the
/// result is the same program.
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
    let mut places = main.places;
    program.templates = vec![main.template];
    for worker in unfolding.started {
        places.extend(worker.copy.places);
        program.templates.push(worker.copy.template);
        edges.push(worker.copy.edges);
    }
    program.initial[0].template = TemplateId(0);
    // What was said of the numbers of threads and of guards that compare was said of the original.
    program.exclusive.clear();
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

impl Unfolded {
    /// Whether a thread of the original may come to a location.
    pub fn reaches(&self, template: TemplateId, location: LocationId) -> bool {
        self.places.contains(&(template, location))
    }

    /// The steps of the original program that a run of the unfolded one stands for.
    pub fn original_steps(&self, original: &Program, steps: &[Step]) -> Result<Vec<Step>, String> {
        let (machine, judge) = (Machine::new(&self.program), Machine::new(original));
        let (mut state, mut known) = (machine.initial(), judge.initial());
        // The number in the original of each thread here.
        let mut numbers: Vec<usize> = vec![0];
        let mut told = Vec::new();
        for &step in steps {
            if !machine.can_take(&state, step) {
                return Err("a step of the unfolded program is not possible".into());
            }
            let told_move = |by: Move| -> Option<Move> {
                let thread = state.threads.get(by.thread)?.as_ref()?;
                let of_location = &self.edges[thread.template.index()][thread.location.index()];
                Some(Move {
                    thread: *numbers.get(by.thread)?,
                    edge: *of_location.get(by.edge)?,
                })
            };
            let by = told_move(step.by).ok_or("a thread of the unfolded program is not known")?;
            let with = match step.with {
                Some(with) => {
                    Some(told_move(with).ok_or("a thread of the unfolded program is not known")?)
                }
                None => None,
            };
            let step_there = Step {
                by,
                with,
                choice: step.choice,
            };
            if !judge.can_take(&known, step_there) {
                return Err("a step of the unfolded program is none of the original".into());
            }
            let after = machine.apply(&state, step);
            let after_there = judge.apply(&known, step_there);
            if after.threads.len() > numbers.len() {
                let is_new = |number: &usize| {
                    let before = known.threads.get(*number).is_some_and(Option::is_some);
                    !before && after_there.threads[*number].is_some()
                };
                let new = (0..after_there.threads.len()).find(is_new);
                numbers.push(new.ok_or("a thread was started in the unfolded program only")?);
            }
            told.push(step_there);
            (state, known) = (after, after_there);
        }
        Ok(told)
    }
}

/// Whether the program is of the kind that can be unfolded.
fn is_suited(program: &Program, first: TemplateId) -> bool {
    let spawns = |template: &Template| {
        let mut effects = effects_of(template);
        effects.any(|effect| matches!(effect, Effect::Spawn { .. }))
    };
    let others = program.templates.iter().enumerate();
    let mut others = others.filter(|(number, _)| *number != first.index());
    let is_started_again =
        |effect: &Effect| matches!(effect, Effect::Spawn { template, .. } if *template == first);
    let looks_at_threads = program.any_expr(|expr| {
        matches!(
            expr,
            Expr::ThreadCount
                | Expr::ThreadAt { .. }
                | Expr::RemoteRead { .. }
                | Expr::ThreadPriority(_)
                | Expr::Timeout
        )
    });
    let exits = program.effects().any(|effect| *effect == Effect::Exit);
    spawns(program.template(first))
        && !others.any(|(_, template)| spawns(template))
        && !program.effects().any(is_started_again)
        && program.templates.iter().all(|t| t.channels.is_empty())
        && !program.uses_priorities()
        && !looks_at_threads
        && (!exits || has_marks_only(program) && program.templates.iter().all(forgets_its_number))
}

fn effects_of(template: &Template) -> impl Iterator<Item = &Effect> {
    let edges = template.locations.iter().flat_map(|l| &l.edges);
    edges.flat_map(|edge| &edge.effects)
}

/// What a thread has put its mark on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Marked {
    /// As printed for the order: an address or a place.
    At(String, BTreeSet<u32>),
}

/// Whether numbers of threads are nothing but marks: stored in globals, and looked at only
/// by asking whether there is none or the own one. Who has which number then makes no
/// difference.
fn has_marks_only(program: &Program) -> bool {
    let known = Program {
        pointers_stay: crate::staying::pointers_stay(program),
        ..program.clone()
    };
    let points_to = PointsTo::new(&known);
    // Variables that may hold a mark, and whether dynamic objects may.
    let mut marked: BTreeSet<VariableId> = BTreeSet::new();
    let mut in_objects = false;
    for (template, body) in program.templates.iter().enumerate() {
        for effect in effects_of(body) {
            match effect {
                Effect::Assign { place, value } if is_mark(value) => match place.variable {
                    VariableRef::Global(id) => {
                        marked.insert(id);
                    }
                    VariableRef::Local(_) => return false,
                },
                Effect::Store { address, value } if is_mark(value) => {
                    let targets = points_to.targets(template, address);
                    in_objects |= !targets.sites.is_empty();
                    marked.extend(targets.globals);
                }
                Effect::Spawn {
                    result: Some(_), ..
                } => return false,
                _ => {}
            }
        }
    }
    let is_none = |expr: &Expr| expr.as_const() == Some(0);
    for (template, body) in program.templates.iter().enumerate() {
        let holds_mark = |expr: &Expr| match expr {
            Expr::Read(place) => {
                matches!(place.variable, VariableRef::Global(id) if marked.contains(&id))
            }
            Expr::Load { address, .. } => {
                let targets = points_to.targets(template, address);
                in_objects && !targets.sites.is_empty()
                    || targets.globals.iter().any(|id| marked.contains(id))
            }
            _ => false,
        };
        // How often numbers and marks are there, and how often in a question that is allowed.
        let (mut there, mut allowed) = (0usize, 0usize);
        let mut look = |expr: &Expr| {
            there += usize::from(*expr == Expr::ThreadId || holds_mark(expr));
            if let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) = expr {
                if holds_mark(a) && is_mark(b) || is_mark(a) && holds_mark(b) {
                    allowed += 2;
                } else if holds_mark(a) && is_none(b) || is_none(a) && holds_mark(b) {
                    allowed += 1;
                }
            }
        };
        for edge in body.locations.iter().flat_map(|l| &l.edges) {
            edge.guard.walk(&mut look);
            for effect in &edge.effects {
                effect.walk(&mut look);
            }
        }
        let stored = effects_of(body).filter(|effect| {
            matches!(effect, Effect::Assign { value, .. } | Effect::Store { value, .. } if is_mark(value))
        });
        if there != allowed + stored.count() {
            return false;
        }
    }
    true
}

/// Whether a thread has taken all of its marks back where it ends.
fn forgets_its_number(template: &Template) -> bool {
    let gives_number = |effect: &Effect| {
        matches!(
            effect,
            Effect::Spawn {
                result: Some(_),
                ..
            }
        )
    };
    if effects_of(template).any(gives_number) {
        return false;
    }
    // Which marks there may be at each location.
    let mut marks: Vec<Option<BTreeSet<Marked>>> = vec![None; template.locations.len()];
    marks[template.entry.index()] = Some(BTreeSet::new());
    let mut work = vec![template.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = marks[location].clone() else {
            continue;
        };
        for edge in &template.locations[location].edges {
            let mut after = before.clone();
            for effect in &edge.effects {
                let target = match effect {
                    Effect::Assign { place, value }
                        if matches!(place.variable, VariableRef::Global(_)) =>
                    {
                        let name = format!("{:?} {:?}", place.variable, place.index);
                        Some((Marked::At(name, locals_in(&place.index)), value))
                    }
                    Effect::Store { address, value } => {
                        let name = format!("{address:?}");
                        Some((Marked::At(name, locals_in(address)), value))
                    }
                    _ => None,
                };
                if let Some((target, value)) = target {
                    if is_mark(value) {
                        after.insert(target);
                    } else {
                        after.remove(&target);
                    }
                }
                for place in effect.written_places() {
                    let VariableRef::Local(id) = place.variable else {
                        continue;
                    };
                    // A mark whose place is not known any more stays for ever.
                    let lost: Vec<Marked> = after
                        .iter()
                        .filter(|Marked::At(_, locals)| locals.contains(&id.0))
                        .cloned()
                        .collect();
                    for Marked::At(name, locals) in lost {
                        after.remove(&Marked::At(name.clone(), locals));
                        after.insert(Marked::At(format!("{name} lost"), BTreeSet::new()));
                    }
                }
                if *effect == Effect::Exit && !after.is_empty() {
                    return false;
                }
            }
            let target = edge.target.index();
            let joined = match &marks[target] {
                None => after,
                Some(known) => known.union(&after).cloned().collect(),
            };
            if marks[target].as_ref() != Some(&joined) {
                marks[target] = Some(joined);
                work.push(target);
            }
        }
    }
    true
}

fn is_mark(expr: &Expr) -> bool {
    *expr == own_mark(expr.width())
}

fn locals_in(expr: &Expr) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    expr.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
        {
            found.insert(id.0);
        }
    });
    found
}

/// Whether an edge that spawns is on a cycle.
fn has_repeated_spawn(template: &Template) -> bool {
    let reach = crate::control::reaches(template);
    let mut locations = template.locations.iter().enumerate();
    locations.any(|(from, location)| {
        location.edges.iter().any(|edge| {
            edge.effects
                .iter()
                .any(|effect| matches!(effect, Effect::Spawn { .. }))
                && reach[edge.target.index()].contains(from)
        })
    })
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

/// What is known where a thread stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Knowledge {
    locals: Vec<Values>,
    /// Of the first thread only.
    globals: Option<Vec<Values>>,
    /// Templates of the threads started so far.
    starts: Vec<usize>,
}

/// A copy of a template, with what it may write.
struct Copy_ {
    template: Template,
    edges: Vec<Vec<usize>>,
    /// By location.
    starts: Vec<usize>,
    places: BTreeSet<(TemplateId, LocationId)>,
}

impl Copy_ {
    fn most_starts(&self) -> usize {
        self.starts.iter().copied().max().unwrap_or(0)
    }
}

struct Worker {
    copy: Copy_,
    /// Cells of globals, and the values that may come to be there.
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

/// Why a template has to be done again, or cannot be done at all.
enum Trouble {
    /// These local variables take too many values.
    Locals(Vec<usize>),
    Globals,
    Hopeless,
}

impl Unfolding<'_> {
    fn template(&mut self, id: TemplateId, start: Knowledge) -> Option<Copy_> {
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
    ) -> Result<Copy_, Trouble> {
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
        // Behind the last step, which may start threads, too.
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
            for (target, known, positions) in after {
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
        // Where a search that goes on past errors would resume is not known here.
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
        Ok(Copy_ {
            template,
            edges,
            starts,
            places: nodes.iter().map(|(at, _)| (id, *at)).collect(),
        })
    }

    /// The effects of an edge with what is known put in, and what is known after them.
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
            // What the others may do, they may do at any time.
            if let Some(globals) = &mut next.globals {
                for &copy in &next.starts {
                    for (cell, values) in &self.started[copy].writes {
                        join(&mut globals[*cell], values);
                    }
                }
            }
        }
        if is_end {
            // Nothing is left of a thread that has ended.
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
            // A local variable has one value or any: copies are made for each.
            _ if is_local => values.filter(|values| values.len() == 1),
            _ => values,
        };
        match index.as_const() {
            // Writing outside of a row has no effect.
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

/// Which variables have the rows of one location grow without end.
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
}

fn join(mine: &mut Values, theirs: &Values) {
    let Some(theirs) = theirs else {
        *mine = None;
        return;
    };
    if let Some(values) = mine {
        for value in theirs {
            if let Err(position) = values.binary_search(value) {
                values.insert(position, *value);
            }
        }
        if values.len() > MOST_VALUES {
            *mine = None;
        }
    }
}

/// Expressions where something is known.
#[derive(Clone, Copy)]
struct Env<'e, 'p> {
    unfolding: &'e Unfolding<'p>,
    template: TemplateId,
    first: &'e [usize],
    known: &'e Knowledge,
}

impl Env<'_, '_> {
    /// The value, if there is one only.
    fn single(&self, expr: &Expr) -> Values {
        self.values(expr).filter(|values| values.len() == 1)
    }

    fn read(&self, place: &Place) -> Values {
        let index = self.single(&place.index)?[0] as usize;
        let (cells, range) = match place.variable {
            VariableRef::Local(id) => (
                &self.known.locals,
                self.first[id.index()]..self.first[id.index() + 1],
            ),
            VariableRef::Global(id) => (self.known.globals.as_ref()?, self.unfolding.cells_of(id)),
        };
        if index >= range.len() {
            return Some(vec![0]);
        }
        cells[range.start + index].clone()
    }

    /// The values that an expression may have.
    fn values(&self, expr: &Expr) -> Values {
        match expr {
            Expr::Const { value, .. } => Some(vec![*value]),
            Expr::Read(place) => self.read(place),
            Expr::Unary(op, arg) => {
                let width = arg.width();
                let values = self.values(arg)?;
                collected(values.into_iter().map(|value| op.apply(value, width)))
            }
            Expr::Binary(op, a, b) => {
                let width = a.width();
                let (known_a, known_b) = (self.values(a), self.values(b));
                if width == 1 || !op.is_comparison() {
                    let zero = Some(vec![0]);
                    let absorbs = match op {
                        BinaryOp::And => known_a == zero || known_b == zero,
                        _ => false,
                    };
                    if absorbs {
                        return zero;
                    }
                    let one = Some(vec![1]);
                    if width == 1 && *op == BinaryOp::Or && (known_a == one || known_b == one) {
                        return one;
                    }
                }
                let (known_a, known_b) = (known_a?, known_b?);
                collected(
                    known_a
                        .iter()
                        .flat_map(|&x| known_b.iter().map(move |&y| op.apply(x, y, width))),
                )
            }
            Expr::If(condition, then, otherwise) => match self.values(condition)?[..] {
                [0] => self.values(otherwise),
                [_] => self.values(then),
                _ => {
                    let mut all = self.values(then)?;
                    all.extend(self.values(otherwise)?);
                    collected(all.into_iter())
                }
            },
            Expr::Resize { arg, width, signed } => {
                let from = arg.width();
                let values = self.values(arg)?;
                collected(
                    values
                        .into_iter()
                        .map(|value| mover_ir::expr::resize(value, from, *width, *signed)),
                )
            }
            Expr::Address { variable, .. } => {
                let program = self.unfolding.original;
                Some(vec![program.pointers.address(program.object_of(*variable))])
            }
            Expr::Load { address, ty } => {
                let address = self.single(address)?[0];
                let (variable, index, width) = self.cell_at(address)?;
                if width != ty.width {
                    return None;
                }
                let cells = self.unfolding.cells_of(variable);
                self.known.globals.as_ref()?[cells.start + index].clone()
            }
            _ => None,
        }
    }

    /// The cell of a global that begins at an address.
    fn cell_at(&self, address: u64) -> Option<(VariableId, usize, u8)> {
        let program = self.unfolding.original;
        let object = program.pointers.object(address);
        let offset = program.pointers.offset(address);
        let mut addressable = program
            .globals
            .iter()
            .enumerate()
            .filter(|(_, v)| v.addressable);
        let (number, variable) = addressable.nth(usize::try_from(object).ok()?.checked_sub(1)?)?;
        let bytes = u64::from(variable.ty.width / 8);
        let index = offset / bytes;
        let is_cell = offset.is_multiple_of(bytes) && index < u64::from(variable.len);
        is_cell.then_some((VariableId(number as u32), index as usize, variable.ty.width))
    }

    /// What a store may change: variables, indices and values; an index that is no constant stands
    /// for any cell.
    fn stored(&self, address: &Expr, width: u8, values: Values) -> Vec<(VariableId, Expr, Values)> {
        if let Some(known) = self.single(address)
            && let Some((variable, index, cell_width)) = self.cell_at(known[0])
            && width == cell_width
        {
            return vec![(variable, Expr::int(index as i64), values)];
        }
        let anywhere = Expr::ThreadId;
        let variables = self.unfolding.pointed_at(self.template, address);
        variables
            .into_iter()
            .map(|variable| (variable, anywhere.clone(), None))
            .collect()
    }

    /// The truth of a condition that looks at one cell of several values, if it is the
    /// same for all of them.
    fn decided(&self, expr: &Expr) -> Option<u64> {
        if expr.width() != 1 {
            return None;
        }
        let mut cell: Option<Place> = None;
        let mut is_one = true;
        expr.walk(&mut |expr| {
            if let Expr::Read(place) = expr
                && self.values(expr).is_none_or(|values| values.len() > 1)
            {
                is_one &= cell.as_ref().is_none_or(|known| known == place);
                cell = Some(place.clone());
            }
        });
        let place = cell.filter(|_| is_one)?;
        let VariableRef::Global(id) = place.variable else {
            return None;
        };
        let index = self.single(&place.index)?[0] as usize;
        let number = self.unfolding.cells_of(id).start + index;
        let mut decided = None;
        for value in self.read(&place)? {
            let mut known = self.known.clone();
            known.globals.as_mut()?[number] = Some(vec![value]);
            let case = Env {
                known: &known,
                ..*self
            };
            let truth = case.single(expr)?[0];
            if decided.is_some_and(|other| other != truth) {
                return None;
            }
            decided = Some(truth);
        }
        decided
    }

    /// The expression with what is known put in.
    fn fold(&self, expr: &Expr) -> Expr {
        if let Some(truth) = self.decided(expr) {
            return Expr::constant(truth as i64, 1);
        }
        // Addresses and marks stay readable to the analyses.
        if !matches!(expr, Expr::Address { .. })
            && let Some(values) = self.single(expr)
            && !mentions_address(expr)
        {
            return Expr::Const {
                value: values[0],
                width: expr.width(),
            };
        }
        let again = |expr: &Expr| Box::new(self.fold(expr));
        match expr {
            Expr::Read(place) => Expr::Read(self.fold_place(place)),
            Expr::Unary(UnaryOp::Not, arg) if arg.width() == 1 => self.fold(arg).negate(),
            Expr::Unary(op, arg) => Expr::Unary(*op, again(arg)),
            Expr::Binary(BinaryOp::And, a, b) if a.width() == 1 => self.fold(a).and(self.fold(b)),
            Expr::Binary(BinaryOp::Or, a, b) if a.width() == 1 => self.fold(a).or(self.fold(b)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, again(a), again(b)),
            Expr::If(condition, then, otherwise) => match self.fold(condition).as_const() {
                Some(0) => self.fold(otherwise),
                Some(_) => self.fold(then),
                None => Expr::If(again(condition), again(then), again(otherwise)),
            },
            Expr::Resize { arg, width, signed } => self.fold(arg).resize(*width, *signed),
            Expr::Load { address, ty } => Expr::load(self.fold(address), *ty),
            Expr::ObjectSize(arg) => Expr::ObjectSize(again(arg)),
            Expr::ObjectSite { address, sites } => Expr::ObjectSite {
                address: again(address),
                sites: sites.clone(),
            },
            Expr::ChannelExists(arg) => Expr::ChannelExists(again(arg)),
            Expr::ChannelLen(arg) => Expr::ChannelLen(again(arg)),
            Expr::ChannelCapacity(arg) => Expr::ChannelCapacity(again(arg)),
            other => other.clone(),
        }
    }

    fn fold_place(&self, place: &Place) -> Place {
        Place {
            index: Box::new(self.fold(&place.index)),
            ..place.clone()
        }
    }

    fn fold_effect(&self, effect: &Effect) -> Effect {
        match effect {
            Effect::Assign { place, value } => Effect::Assign {
                place: self.fold_place(place),
                value: self.fold(value),
            },
            Effect::Store { address, value } => Effect::Store {
                address: self.fold(address),
                value: self.fold(value),
            },
            Effect::Havoc { place, values } => Effect::Havoc {
                place: self.fold_place(place),
                values: *values,
            },
            Effect::Allocate { site, size, result } => Effect::Allocate {
                site: *site,
                size: self.fold(size),
                result: self.fold_place(result),
            },
            Effect::Free { address } => Effect::Free {
                address: self.fold(address),
            },
            Effect::Spawn {
                template,
                args,
                priority,
                result,
            } => Effect::Spawn {
                template: *template,
                args: args.iter().map(|arg| self.fold(arg)).collect(),
                priority: *priority,
                result: result.as_ref().map(|place| self.fold_place(place)),
            },
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => Effect::Receive {
                channel: channel.clone(),
                args: args
                    .iter()
                    .map(|arg| match arg {
                        ReceiveArg::Store(place) => ReceiveArg::Store(self.fold_place(place)),
                        other => other.clone(),
                    })
                    .collect(),
                random: *random,
                peek: *peek,
            },
            other => other.clone(),
        }
    }
}

fn mentions_address(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| found |= matches!(expr, Expr::Address { .. }));
    found && expr.width() > 1
}

fn collected(values: impl Iterator<Item = u64>) -> Values {
    let set: BTreeSet<u64> = values.collect();
    (set.len() <= MOST_VALUES).then(|| set.into_iter().collect())
}

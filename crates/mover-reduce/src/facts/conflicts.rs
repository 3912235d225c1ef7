//! Conflicts between a step of one thread and anything that another thread may still do.
//!
//! Persistent sets (Godefroid 1996) need a static bound on the future of each thread: for every
//! location the objects that are read and written on some path from it, by the thread itself or by
//! threads started on the path. They also need the objects that each step accesses, and a *rank* of
//! each location for the proviso. All of it is static; nothing here depends on what a search
//! believes.
//!
//! **Objects** are numbered. A global variable that is reached only by name has one number for each
//! cell if it is small, so that constant indices are told apart; any other variable has one number.
//! All other objects (channels, the number of threads, the inside of threads, memory of an
//! allocation site) are those of `access`.
//!
//! **A step** is an edge and, if it leads into an atomic sequence, everything that the sequence may
//! do. Four things are added to what the edge accesses.
//!
//! - *Offers of a rendezvous.* An edge that leads to a location with a receive makes an offer, and an
//!   edge that leaves one withdraws it. Both write the channels of that location.
//! - *Presence.* An access counts for the inference of locks only while there is another thread
//!   ([`Program::presence`]). So every access reads which threads there are: who changes it changes
//!   what is inferred.
//! - *Races ahead.* A location may list an access that comes after its next step
//!   ([`MemoryAccess::ahead`](mover_ir::program::MemoryAccess::ahead)). Its edges count as all of the future.
//! - *What is not understood* counts as an access to every object.
//!
//! **Ranks.** The rank of a location is 1 plus the greatest sum of ranks that an edge leads to: of its
//! target and of the entries of the threads that it starts. Edges that close a cycle do not count,
//! nor do cycles of templates that start each other. The rank of a state is the sum over its threads;
//! so it falls along every step that closes no cycle. (Any other function of states would be as
//! sound; this one falls often.)

use std::collections::BTreeMap;
use std::ops::Range;

use mover_ir::graph::{FixedBitSet, control_flow, from_successors, include, reverse_postorder};
use mover_ir::program::{Effect, Location, Program};

use crate::facts::access::{EdgeRef, Object};
use crate::facts::access_exprs::Touch;
use crate::plan::movers::Movers;
use crate::plan::phase::PhaseFacts;

/// A variable with more cells is one object.
const MOST_CELLS: u32 = 64;

/// The objects that are accessed, by their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AccessSets {
    /// Read or written.
    pub touched: FixedBitSet,
    pub written: FixedBitSet,
}

impl AccessSets {
    pub fn empty(objects: usize) -> Self {
        AccessSets {
            touched: FixedBitSet::with_capacity(objects),
            written: FixedBitSet::with_capacity(objects),
        }
    }

    pub fn clear(&mut self) {
        self.touched.clear();
        self.written.clear();
    }

    pub fn add(&mut self, other: &AccessSets) {
        self.touched.union_with(&other.touched);
        self.written.union_with(&other.written);
    }

    /// Whether some object is accessed by both and written by one of them.
    pub fn conflicts(&self, other: &AccessSets) -> bool {
        !self.written.is_disjoint(&other.touched) || !self.touched.is_disjoint(&other.written)
    }

    /// Adds a set; whether anything was new.
    fn include(&mut self, other: &AccessSets) -> bool {
        let touched = include(&mut self.touched, &other.touched);
        include(&mut self.written, &other.written) || touched
    }

    fn read(&mut self, objects: Range<usize>) {
        self.touched.insert_range(objects);
    }

    fn write(&mut self, objects: Range<usize>) {
        self.touched.insert_range(objects.clone());
        self.written.insert_range(objects);
    }
}

/// What is known of a location.
#[derive(Clone, Debug)]
pub struct LocationConflicts {
    pub rank: u64,
    /// Accesses on some path from here.
    pub ahead: AccessSets,
    /// Accesses of the step that begins with each edge.
    pub steps: Vec<AccessSets>,
}

pub struct Conflicts {
    /// How many objects there are.
    pub objects: usize,
    /// By template and location.
    pub locations: Vec<Vec<LocationConflicts>>,
}

/// Gives numbers to objects.
struct Numbers {
    /// For each global variable its objects.
    cells: Vec<Range<usize>>,
    others: BTreeMap<Object, usize>,
    count: usize,
}

impl Numbers {
    fn new(program: &Program) -> Self {
        let mut count = 0;
        let cells = program.globals.iter().map(|variable| {
            let is_one = variable.addressable || variable.len > MOST_CELLS;
            let first = count;
            count += if is_one { 1 } else { variable.len as usize };
            first..count
        });
        let cells = cells.collect();
        Numbers {
            cells,
            others: BTreeMap::new(),
            count,
        }
    }

    fn other(&mut self, object: Object) -> usize {
        let next = self.count;
        let number = *self.others.entry(object).or_insert(next);
        self.count = self.count.max(number + 1);
        number
    }

    /// The cells of a variable with this index, all of them if it is not known.
    fn cells(&self, variable: usize, index: Option<u64>) -> Range<usize> {
        let all = self.cells[variable].clone();
        match index {
            Some(index) if (index as usize) < all.len() && all.len() > 1 => {
                let cell = all.start + index as usize;
                cell..cell + 1
            }
            _ => all,
        }
    }
}

impl Conflicts {
    pub fn new(movers: &Movers, facts: &PhaseFacts) -> Self {
        let program = &movers.fused.program;
        let mut numbers = Numbers::new(program);
        for (_, accesses) in movers.table.iter() {
            for &object in accesses.keys() {
                if !matches!(object, Object::Cell(..) | Object::Variable(_)) {
                    numbers.other(object);
                }
            }
        }
        let survey = Survey {
            program,
            movers,
            facts,
            numbers,
        };
        let mut locations: Vec<Vec<LocationConflicts>> = (program.templates.iter().enumerate())
            .map(|(template, body)| {
                (0..body.locations.len())
                    .map(|location| survey.location(template, location))
                    .collect()
            })
            .collect();
        follow_sequences(program, &mut locations);
        look_ahead(program, &mut locations);
        for (body, found) in program.templates.iter().zip(&mut locations) {
            for (location, found) in body.locations.iter().zip(found) {
                if location.accesses.iter().any(|access| access.ahead) {
                    let ahead = &found.ahead;
                    found.steps.iter_mut().for_each(|step| step.add(ahead));
                }
            }
        }
        rank(program, &mut locations);
        Conflicts {
            objects: survey.numbers.count,
            locations,
        }
    }
}

struct Survey<'a> {
    program: &'a Program,
    movers: &'a Movers,
    facts: &'a PhaseFacts,
    numbers: Numbers,
}

impl Survey<'_> {
    /// What the single edges of a location access.
    fn location(&self, template: usize, location: usize) -> LocationConflicts {
        let empty = AccessSets::empty(self.numbers.count);
        let edges = &self.program.templates[template].locations[location].edges;
        let steps = (0..edges.len()).map(|edge| {
            self.edge(EdgeRef {
                template,
                location,
                edge,
            })
        });
        LocationConflicts {
            rank: 0,
            ahead: empty,
            steps: steps.collect(),
        }
    }

    fn edge(&self, at: EdgeRef) -> AccessSets {
        let mut sets = AccessSets::empty(self.numbers.count);
        for touch in self.facts.touches.of(at.template, at.location, at.edge) {
            if let Touch::Cells {
                variable,
                index,
                writes,
            } = touch
            {
                let index = index.as_ref().and_then(|index| index.as_const());
                let cells = self.numbers.cells(variable.index(), index);
                match writes {
                    true => sets.write(cells),
                    false => sets.read(cells),
                }
            }
        }
        for (&object, &writes) in self.movers.table.of(at) {
            let numbers = match object {
                Object::Numbers if self.facts.opaque_numbers => continue,
                Object::Cell(variable, _) | Object::Variable(variable) => {
                    if !self.program.globals[variable.index()].addressable {
                        continue;
                    }
                    self.numbers.cells(variable.index(), None)
                }
                other => {
                    let number = self.numbers.others[&other];
                    number..number + 1
                }
            };
            match writes {
                true => sets.write(numbers),
                false => sets.read(numbers),
            }
        }
        let edge = at.of(self.program);
        self.offers(at.template, at.location, &mut sets);
        self.offers(at.template, edge.target.index(), &mut sets);
        if let Some(presence) = self.program.presence
            && !sets.touched.is_clear()
        {
            sets.read(self.numbers.cells(presence.index(), None));
        }
        let is_unknown = |effect: &Effect| matches!(effect, Effect::SetPriority { .. });
        if edge.effects.iter().any(is_unknown) {
            sets.write(0..self.numbers.count);
        }
        sets
    }

    /// Adds the channels on which a thread at a location can be met.
    fn offers(&self, template: usize, location: usize, sets: &mut AccessSets) {
        if !self.movers.meets[template][location] {
            return;
        }
        let edges = &self.program.templates[template].locations[location].edges;
        for (edge, found) in edges.iter().enumerate() {
            let receives = |effect: &Effect| matches!(effect, Effect::Receive { .. });
            if !found.effects.iter().any(receives) {
                continue;
            }
            let at = EdgeRef {
                template,
                location,
                edge,
            };
            for object in self.movers.table.of(at).keys() {
                if matches!(object, Object::Channel(_) | Object::AnyChannel) {
                    let number = self.numbers.others[object];
                    sets.write(number..number + 1);
                }
            }
        }
    }
}

/// Adds to each edge what an atomic sequence that it begins may access.
fn follow_sequences(program: &Program, locations: &mut [Vec<LocationConflicts>]) {
    for (body, found) in program.templates.iter().zip(locations) {
        let into_sequences: Vec<(usize, usize, usize)> = (body.locations.iter().enumerate())
            .flat_map(|(from, location)| {
                let edges = location.edges.iter().enumerate();
                edges.map(move |(number, edge)| (from, number, edge.target.index()))
            })
            .filter(|&(_, _, target)| body.locations[target].atomic)
            .collect();
        let mut changed = !into_sequences.is_empty();
        while changed {
            changed = false;
            for &(from, number, target) in into_sequences.iter().rev() {
                let mut later = found[from].steps[number].clone();
                for step in &found[target].steps {
                    later.add(step);
                }
                changed |= found[from].steps[number].include(&later);
            }
        }
    }
}

/// Finds what each location can still access.
fn look_ahead(program: &Program, locations: &mut [Vec<LocationConflicts>]) {
    let mut changed = true;
    while changed {
        changed = false;
        for (template, body) in program.templates.iter().enumerate() {
            for (number, location) in body.locations.iter().enumerate().rev() {
                let mut ahead = locations[template][number].ahead.clone();
                for (edge, step) in location
                    .edges
                    .iter()
                    .zip(&locations[template][number].steps)
                {
                    ahead.add(step);
                    ahead.add(&locations[template][edge.target.index()].ahead);
                    for started in started(edge.effects.iter()) {
                        let entry = program.templates[started].entry.index();
                        ahead.add(&locations[started][entry].ahead);
                    }
                }
                if let Some(resume) = location.error.as_ref().and_then(|error| error.resume) {
                    ahead.add(&locations[template][resume.index()].ahead);
                }
                changed |= locations[template][number].ahead.include(&ahead);
            }
        }
    }
}

/// The templates of which threads are started.
fn started<'a>(effects: impl Iterator<Item = &'a Effect>) -> impl Iterator<Item = usize> {
    effects.filter_map(|effect| match effect {
        Effect::Spawn { template, .. } => Some(template.index()),
        _ => None,
    })
}

fn rank(program: &Program, locations: &mut [Vec<LocationConflicts>]) {
    let count = program.templates.len();
    let effects = |location: &Location| -> Vec<usize> {
        let edges = location.edges.iter();
        started(edges.flat_map(|edge| &edge.effects)).collect()
    };
    let starts = from_successors(count, |template| {
        let body = &program.templates[template].locations;
        body.iter().flat_map(effects).collect::<Vec<usize>>()
    });
    let order = reverse_postorder(&starts, 0..count);
    let mut is_ranked = vec![false; count];
    for &template in order.iter().rev() {
        let body = &program.templates[template];
        let all = std::iter::once(body.entry.index()).chain(0..body.locations.len());
        let order = reverse_postorder(&control_flow(body), all);
        let mut position = vec![0; body.locations.len()];
        for (at, &location) in order.iter().enumerate() {
            position[location] = at;
        }
        for &location in order.iter().rev() {
            let edges = body.locations[location].edges.iter();
            let forward = edges.filter(|edge| position[edge.target.index()] > position[location]);
            let ranks = forward.map(|edge| {
                let target = locations[template][edge.target.index()].rank;
                let children = started(edge.effects.iter()).filter(|&child| is_ranked[child]);
                children.fold(target, |sum, child| {
                    let entry = program.templates[child].entry.index();
                    sum.saturating_add(locations[child][entry].rank)
                })
            });
            let highest = ranks.max().unwrap_or(0);
            locations[template][location].rank = highest.saturating_add(1);
        }
        is_ranked[template] = true;
    }
}

//! Each thread on its own, unrolled.
//!
//! A thread becomes a graph without cycles: a node is a location together with the
//! number of repetitions so far, an edge a step of the program. Shared cells are local
//! copies. At an *event*, a node at which the thread needs the token, all of them take
//! any value ([`Node::received`]); the constraints of `encode` make the copies agree.
//! Between events the copies belong to the thread alone.
//!
//! **What is an event.** With one event for each access (`--pairs all`) every location
//! that touches something shared is one. Otherwise events are transactions: a thread
//! keeps the token through right movers up to its first other step, and from there on
//! through left movers; an event begins where that ends. That contains what the paper
//! gets from lock sets, mutual exclusion and lock acquisition patterns (its step 3): a
//! critical section is a single event. An atomic sequence never gives the token away.
//!
//! **Ghosts.** A thread may be blocked for ever, and sets of pairs are adequate for whole
//! schedules only. So a thread that stops goes on as a *ghost*: it walks some way to its
//! end, and what it passes has no effect. Where a ghost is, a node is reached but not alive.
//! Threads stop only where they can never go on ([`Plan::maximal`]): every run can be
//! continued until that is so, also past an error, since the trace is cut off there. They
//! may stop anywhere if changes of hands are counted, and if going on could lead to where the
//! encoding ends in the middle of something ([`Thread::broken`]).
//!
//! **What an event touches** is found on the terms: it reads a cell if the copy it got
//! occurs in a guard or in a value that it leaves behind, and writes one if the cell is
//! another term afterwards. So indices and pointers that are constant in this unrolling
//! tell cells apart.
//!
//! **How far.** Repetitions are free where the exit of the loop was excluded by
//! constants alone, such as `for (i = 0; i < 3; i++)`, and the constants are not those of
//! an earlier repetition. Of all others each thread gets as many as are asked for; what
//! lies beyond is a [`Cut`].

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mover_ir::expr::{ChannelRef, mask};
use mover_ir::program::{Edge, Effect, LocationId, Template};
use mover_reduce::access::{EdgeRef, Object};
use mover_reduce::alone::Alone;
use mover_reduce::control::{Bits, reaches};
use mover_reduce::{Movers, Protection};

use crate::layout::{ChannelLayout, Layout, bits_for};
use crate::machine::{Performer, Readiness, Symbols, View, initial_cell};
use crate::outcome::Failure;
use crate::sat::Limit;
use crate::term::{Node as TermNode, Term, Terms};

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Standing {
    /// It has not been started, or not again.
    Unborn,
    At {
        template: usize,
        location: usize,
    },
    Gone,
}

/// A step that a thread may take at a node.
pub struct Take {
    pub condition: Term,
    /// None if the thread only begins.
    pub edge: Option<EdgeRef>,
    pub choice: Option<Term>,
}

pub struct Node {
    pub standing: Standing,
    /// Whether the token can come and go here.
    pub is_event: bool,
    /// Whether the thread passes here, alive or as a ghost.
    pub reach: Term,
    pub live: Term,
    /// Where the thread comes from, and when.
    pub incoming: Vec<(Term, usize)>,
    pub state: Symbols,
    /// At an event: the shared cells as the thread left them last.
    pub flow: Vec<Term>,
    /// At an event: the shared cells as they are now.
    pub received: Vec<Term>,
    pub takes: Vec<Take>,
    /// Whether the thread takes a step here.
    pub goes: Term,
    /// Whether it may stop here although it could take a step.
    pub is_free: bool,
    /// Whether no way goes on from here.
    pub is_leaf: bool,
    /// The events that may be the last before this node, or this one.
    pub sources: BTreeSet<usize>,
    /// Whether the thread may not have had the token yet.
    pub is_outside: bool,
    /// At an event: places among the shared cells that it reads and writes until the next.
    pub reads: BTreeSet<usize>,
    pub writes: Writes,
}

/// Why a run is not followed any further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// More repetitions than were asked for.
    Depth,
    /// More threads or objects than are encoded.
    Bounds,
    /// An atomic sequence that cannot go on and has to let others pass.
    AtomicBlocks(usize, usize),
}

pub struct Thread {
    pub slot: usize,
    /// In an order in which every node comes after those that lead to it.
    pub nodes: Vec<Node>,
    /// Steps into errors that count.
    pub errors: Vec<Term>,
    pub cuts: Vec<(Cut, Term)>,
    /// Nodes at which the unrolling ends before a thread that somebody may start.
    pub unborn: Vec<usize>,
    /// What the thread writes to shared cells before it needs the token.
    pub early: Writes,
    /// When the run is no run any more: the thread stands where nobody else may move, or the run
    /// is beyond the bounds.
    pub broken: Vec<Term>,
}

/// Places among the shared cells with the values that may be written, if they are known.
pub type Writes = BTreeMap<usize, Option<BTreeSet<u64>>>;

/// Adds what one may write to what another may.
fn add_writes(to: &mut Writes, writes: &Writes) {
    for (&position, values) in writes {
        let known = to.entry(position).or_insert(Some(BTreeSet::new()));
        *known = known.take().zip(values.clone()).map(|(mut known, values)| {
            known.extend(values);
            known
        });
    }
}

pub struct Unrolled {
    pub threads: Vec<Thread>,
    /// The cells that threads share.
    pub shared: Vec<usize>,
    /// What holds of the free variables.
    pub assumptions: Vec<Term>,
    /// All free variables.
    pub inputs: Vec<Term>,
}

/// What is asked of the unrolling.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Repetitions that are not excluded or forced by constants.
    pub depth: u64,
    /// Whether events are transactions.
    pub transactions: bool,
    /// Whether errors of `unreach-call` count.
    pub errors: bool,
    /// Whether it matters where in a transaction a thread stops.
    pub stops: bool,
    /// Whether a thread stops only where it can never go on.
    pub maximal: bool,
    /// Whether reading what nobody writes is an event, too.
    pub unwritten: bool,
}

/// Most nodes of a thread.
const MOST_NODES: usize = 20_000;

/// Most repetitions of a thread that are free.
const MOST_FREE: usize = 250;

/// What is known of the program before threads are unrolled.
pub struct Unroller<'p> {
    pub layout: &'p Layout<'p>,
    movers: &'p Movers,
    plan: Plan,
    alone: Alone,
    /// By template and location: whether a thread touches there what others touch, too, up to
    /// the end of an atomic sequence.
    contended: Vec<Vec<bool>>,
    /// Templates whose threads others look into.
    observed: Vec<bool>,
    spawned: Vec<bool>,
    /// By template and location: whether all that can happen up to the end of an atomic
    /// sequence moves left.
    left: Vec<Vec<bool>>,
    /// By template and location: a number that grows along every way but at loops.
    rank: Vec<Vec<usize>>,
    reach: Vec<Vec<Bits>>,
    shared: Vec<usize>,
}

impl<'p> Unroller<'p> {
    /// The layout must be that of the movers' program.
    pub fn new(layout: &'p Layout<'p>, movers: &'p Movers, plan: Plan) -> Self {
        let program = &movers.fused.program;
        let contended: BTreeSet<Object> = movers
            .protection
            .iter()
            .filter(|(object, protection)| match protection {
                // Who is started looks at the number of threads without saying so.
                Protection::OneThread => **object == Object::Threads,
                Protection::NeverWritten => plan.unwritten,
                _ => true,
            })
            .map(|(object, _)| *object)
            .collect();
        let mut observed = vec![false; program.templates.len()];
        for (_, accesses) in movers.table.iter() {
            for object in accesses.keys() {
                if let Object::Inside(template) = object {
                    observed[template.index()] = true;
                }
            }
        }
        let mut spawned = vec![false; program.templates.len()];
        for effect in program.effects() {
            if let Effect::Spawn { template, .. } = effect {
                spawned[template.index()] = true;
            }
        }
        let mut unroller = Unroller {
            layout,
            movers,
            plan,
            alone: Alone::find(program),
            contended: Vec::new(),
            observed,
            spawned,
            left: Vec::new(),
            rank: program.templates.iter().map(ranks).collect(),
            reach: program.templates.iter().map(reaches).collect(),
            shared: Vec::new(),
        };
        unroller.contended = (0..program.templates.len())
            .map(|template| unroller.contended_through(template, &contended))
            .collect();
        unroller.left = (0..program.templates.len())
            .map(|template| unroller.left_through(template))
            .collect();
        unroller.shared = unroller.shared_cells();
        unroller
    }

    fn template(&self, template: usize) -> &'p Template {
        &self.layout.program.templates[template]
    }

    /// Whether all steps from a location move left, to the end of an atomic sequence.
    fn left_through(&self, template: usize) -> Vec<bool> {
        let body = self.template(template);
        let movers = &self.movers.edges[template];
        let mut left: Vec<bool> = movers
            .iter()
            .map(|edges| edges.iter().all(|mover| mover.left))
            .collect();
        loop {
            let mut changed = false;
            for (number, location) in body.locations.iter().enumerate() {
                let stops = |edge: &Edge| {
                    let target = edge.target.index();
                    body.locations[target].atomic && !left[target]
                };
                if left[number] && location.edges.iter().any(stops) {
                    left[number] = false;
                    changed = true;
                }
            }
            if !changed {
                return left;
            }
        }
    }

    /// The cells that more than one thread touches and some thread writes.
    fn shared_cells(&self) -> Vec<usize> {
        let program = self.layout.program;
        let mut uses: BTreeMap<Object, (BTreeSet<usize>, bool)> = BTreeMap::new();
        for (edge, accesses) in self.movers.table.iter() {
            for (&object, &writes) in accesses {
                let (templates, written) = uses.entry(object).or_default();
                templates.insert(edge.template);
                *written |= writes;
            }
        }
        let runs_once = |template: usize| {
            let instances = program.initial.iter();
            let count = instances.filter(|i| i.template.index() == template);
            count.count() == 1 && !self.spawned[template]
        };
        let mut cells = BTreeSet::new();
        for (object, (templates, written)) in uses {
            let is_own = templates.len() == 1 && templates.iter().all(|&t| runs_once(t));
            // Who is started looks at the number of threads without saying so.
            if !written || is_own && object != Object::Threads {
                continue;
            }
            match object {
                Object::Cell(variable, index) => {
                    cells.insert(self.layout.globals[variable.index()] + index as usize);
                }
                Object::Variable(variable) => {
                    let first = self.layout.globals[variable.index()];
                    let len = program.globals[variable.index()].len as usize;
                    cells.extend(first..first + len);
                }
                Object::Channel(_) | Object::AnyChannel => {
                    let handle = match object {
                        Object::Channel(number) => {
                            Some(program.channel_handle(ChannelRef::Global(number), 0))
                        }
                        _ => None,
                    };
                    let channels = self.layout.channels.iter();
                    let is_meant = |channel: &ChannelLayout| {
                        handle.is_none_or(|handle| channel.handle == handle)
                    };
                    for channel in channels.filter(|channel| is_meant(channel)) {
                        let fields = channel.capacity() * channel.decl.fields.len();
                        if channel.capacity() > 0 {
                            cells.extend(channel.first..=channel.first + fields);
                        }
                    }
                }
                Object::Threads => {
                    for slot in &self.layout.slots {
                        cells.insert(slot.place);
                        for (template, resident) in slot.residents.iter().enumerate() {
                            if let Some(resident) = resident
                                && self.spawned[template]
                            {
                                let params = self.template(template).params as usize;
                                cells.extend(&resident.locals[..params]);
                            }
                        }
                    }
                }
                Object::Inside(template) => {
                    for slot in &self.layout.slots {
                        let Some(resident) = &slot.residents[template.index()] else {
                            continue;
                        };
                        cells.insert(slot.place);
                        let locals = &self.template(template.index()).locals;
                        for (variable, &first) in locals.iter().zip(&resident.locals) {
                            cells.extend(first..first + variable.len as usize);
                        }
                    }
                }
                // Programs with dynamic objects are not taken.
                Object::Site(_) | Object::Numbers => {}
            }
        }
        cells.into_iter().collect()
    }

    /// Whether a thread at a location touches one of the objects, or does so before it lets
    /// others pass.
    fn contended_through(&self, template: usize, objects: &BTreeSet<Object>) -> Vec<bool> {
        let body = self.template(template);
        let touches = |location: usize, edge: usize| {
            let edge = EdgeRef {
                template,
                location,
                edge,
            };
            let mut accesses = self.movers.table.of(edge).keys();
            !self.alone.is_alone(self.layout.program, edge)
                && accesses.any(|object| objects.contains(object))
        };
        let mut contended: Vec<bool> = (0..body.locations.len())
            .map(|location| {
                let count = body.locations[location].edges.len();
                (0..count).any(|edge| touches(location, edge))
            })
            .collect();
        loop {
            let mut changed = false;
            for (number, location) in body.locations.iter().enumerate() {
                let leads = |edge: &Edge| {
                    let target = edge.target.index();
                    body.locations[target].atomic && contended[target]
                };
                if !contended[number] && location.edges.iter().any(leads) {
                    contended[number] = true;
                    changed = true;
                }
            }
            if !changed {
                return contended;
            }
        }
    }

    /// Whether taking the edge leads to no violation: it changes nothing, or ends the run.
    pub fn is_useless(&self, template: usize, location: usize, edge: &Edge) -> bool {
        if edge.effects.contains(&Effect::Exit) {
            return false;
        }
        let target = &self.template(template).locations[edge.target.index()];
        if let Some(mark) = &target.error {
            return !self.plan.errors && mark.property == mover_ir::program::Property::UnreachCall;
        }
        is_idle(location, edge) || halts(target, edge.target)
    }

    /// Unrolls all threads, unless a limit is reached.
    pub fn unroll(&self, terms: &mut Terms, limit: &Limit) -> Result<Option<Unrolled>, Failure> {
        let mut unrolled = Unrolled {
            threads: Vec::new(),
            shared: self.shared.clone(),
            assumptions: Vec::new(),
            inputs: Vec::new(),
        };
        for slot in 0..self.layout.slots.len() {
            let thread = Unrolling {
                of: self,
                terms,
                slot,
                pending: BTreeMap::new(),
                thread: Thread {
                    slot,
                    nodes: Vec::new(),
                    errors: Vec::new(),
                    cuts: Vec::new(),
                    unborn: Vec::new(),
                    early: Writes::new(),
                    broken: Vec::new(),
                },
                assumptions: &mut unrolled.assumptions,
                inputs: &mut unrolled.inputs,
                repeated: HashSet::new(),
            };
            match thread.run(limit)? {
                Some(thread) => unrolled.threads.push(thread),
                None => return Ok(None),
            }
        }
        Ok(Some(unrolled))
    }

    /// Whether a loop is left by an edge. The loop is that of a step back to `head`.
    fn leaves(&self, template: usize, from: usize, head: usize, at: (usize, usize)) -> bool {
        let target = self.template(template).locations[at.0].edges[at.1].target;
        self.is_in_loop(template, from, head, at.0)
            && !self.is_in_loop(template, from, head, target.index())
    }

    fn is_in_loop(&self, template: usize, from: usize, head: usize, location: usize) -> bool {
        let reach = &self.reach[template];
        reach[head].contains(location) && reach[location].contains(from)
    }
}

/// Whether an edge leaves everything as it is.
fn is_idle(location: usize, edge: &Edge) -> bool {
    let is_print = |effect: &Effect| matches!(effect, Effect::Print { .. });
    edge.target.index() == location && edge.effects.iter().all(is_print)
}

/// Whether a thread that comes to a location keeps all others from moving for ever.
fn halts(location: &mover_ir::program::Location, id: LocationId) -> bool {
    let idle = |edge: &Edge| is_idle(id.index(), edge);
    let always = |edge: &Edge| edge.guard == mover_ir::expr::Expr::TRUE;
    location.atomic && location.edges.iter().all(idle) && location.edges.iter().any(always)
}

/// A number for each location that is smaller than that of its successors, except along
/// steps back.
fn ranks(template: &Template) -> Vec<usize> {
    let count = template.locations.len();
    let mut rank = vec![count; count];
    let mut seen = vec![false; count];
    let mut next = count;
    let entry = template.entry.index();
    seen[entry] = true;
    let mut stack = vec![(entry, 0)];
    while let Some((location, edge)) = stack.last_mut() {
        match template.locations[*location].edges.get(*edge) {
            Some(out) => {
                *edge += 1;
                let target = out.target.index();
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
            None => {
                next -= 1;
                rank[*location] = next;
                stack.pop();
            }
        }
    }
    rank
}

/// Orders nodes: repetitions, then the beginning, then locations, then the end.
type Key = (usize, usize, usize, Standing);

/// A way into a node that has not been made yet.
struct Arrival {
    condition: Term,
    is_live: bool,
    from: Option<usize>,
    state: Symbols,
}

/// What is known of a node before it is made.
#[derive(Default)]
struct Pending {
    arrivals: Vec<Arrival>,
    /// Whether the thread may have no token here.
    outside: bool,
    /// Whether the transaction may have committed.
    committed: bool,
    /// Fewest repetitions that were counted on a way here.
    spent: Option<u64>,
    /// Edges that constants excluded, as location and edge.
    excluded: BTreeSet<(usize, usize)>,
}

/// The thread in the making.
struct Unrolling<'u, 'p> {
    of: &'u Unroller<'p>,
    terms: &'u mut Terms,
    slot: usize,
    pending: BTreeMap<Key, Pending>,
    thread: Thread,
    assumptions: &'u mut Vec<Term>,
    inputs: &'u mut Vec<Term>,
    /// The constants with which loops were repeated for free, by template and head.
    repeated: HashSet<(usize, usize, Vec<Option<u64>>)>,
}

/// A node that steps are taken from.
struct Origin {
    number: usize,
    repetitions: usize,
    outside: bool,
    committed: bool,
    spent: u64,
    excluded: BTreeSet<(usize, usize)>,
}

/// A step that may be taken, and what it leaves.
struct Option_ {
    enabled: Term,
    edge: Option<EdgeRef>,
    choice: Option<Term>,
    state: Symbols,
    target: Standing,
    right: bool,
    beyond: Term,
}

impl<'p> Unrolling<'_, 'p> {
    fn run(mut self, limit: &Limit) -> Result<Option<Thread>, Failure> {
        let program = self.of.layout.program;
        let initial = self.of.layout.initial();
        let standing = match program.initial.get(self.slot) {
            Some(instance) => Standing::At {
                template: instance.template.index(),
                location: program.template(instance.template).entry.index(),
            },
            None => Standing::Unborn,
        };
        let state = initial
            .iter()
            .zip(&self.of.layout.widths)
            .map(|(&value, &width)| self.terms.constant(value, width))
            .collect();
        let first = Pending {
            arrivals: vec![Arrival {
                condition: Terms::TRUE,
                is_live: true,
                from: None,
                state,
            }],
            outside: true,
            committed: false,
            spent: Some(0),
            excluded: BTreeSet::new(),
        };
        self.pending.insert(self.key(0, standing), first);
        while let Some((key, pending)) = self.pending.pop_first() {
            if limit.is_reached() {
                return Ok(None);
            }
            self.node(key, pending)?;
        }
        Ok(Some(self.thread))
    }

    fn key(&self, repetitions: usize, standing: Standing) -> Key {
        match standing {
            Standing::Unborn => (repetitions, 0, 0, standing),
            Standing::At { template, location } => {
                let rank = self.of.rank[template][location];
                (repetitions, 1 + template, rank, standing)
            }
            Standing::Gone => (repetitions, usize::MAX, 0, standing),
        }
    }

    fn input(&mut self, name: &str, node: usize, width: u8) -> Term {
        let name = format!("{name} {}.{node}", self.slot);
        let term = self.terms.variable(name, width);
        self.inputs.push(term);
        term
    }

    fn node(&mut self, key: Key, pending: Pending) -> Result<(), Failure> {
        let standing = key.3;
        let number = self.thread.nodes.len();
        let reach = self.terms.any(pending.arrivals.iter().map(|a| a.condition));
        let alive = pending.arrivals.iter().filter(|arrival| arrival.is_live);
        let live = self.terms.any(alive.map(|arrival| arrival.condition));
        let mut state = self.merge(&pending.arrivals);
        let is_contended = match standing {
            Standing::Unborn => true,
            Standing::At { template, location } => self.of.contended[template][location],
            Standing::Gone => false,
        };
        let spent = pending.spent.unwrap_or(0);
        let is_cut = spent > self.of.plan.depth || number >= MOST_NODES;
        let is_held = self.is_held(standing, &pending);
        let is_event = !is_cut && is_contended && self.begins_event(standing, &pending, is_held);
        let flow: Vec<Term> = self.of.shared.iter().map(|&cell| state[cell]).collect();
        let mut received = Vec::new();
        let mut sources: BTreeSet<usize> = BTreeSet::new();
        if is_event {
            for position in 0..self.of.shared.len() {
                let cell = self.of.shared[position];
                let name = self.of.layout.name(cell);
                let value = self.input(&name, number, self.of.layout.widths[cell]);
                state[cell] = value;
                received.push(value);
            }
            sources.insert(number);
        } else {
            for from in pending.arrivals.iter().filter_map(|arrival| arrival.from) {
                sources.extend(&self.thread.nodes[from].sources);
            }
        }
        self.thread.nodes.push(Node {
            standing,
            is_event,
            reach,
            live,
            incoming: pending
                .arrivals
                .iter()
                .filter_map(|arrival| Some((arrival.condition, arrival.from?)))
                .collect(),
            state,
            flow,
            received,
            takes: Vec::new(),
            goes: Terms::FALSE,
            is_free: false,
            is_leaf: true,
            sources,
            is_outside: pending.outside && !is_event,
            reads: BTreeSet::new(),
            writes: BTreeMap::new(),
        });
        if is_cut {
            match standing {
                Standing::Unborn => self.thread.unborn.push(number),
                Standing::At { .. } => {
                    self.thread.cuts.push((Cut::Depth, live));
                    if is_held {
                        self.thread.broken.push(live);
                    }
                }
                Standing::Gone => {}
            }
            return Ok(());
        }
        let origin = Origin {
            number,
            repetitions: key.0,
            outside: pending.outside && !is_event,
            committed: pending.committed && !is_event,
            spent,
            excluded: pending.excluded,
        };
        match standing {
            Standing::Unborn => self.begin(origin),
            Standing::At { template, location } => {
                let may_stop = is_event || is_contended && self.of.plan.stops;
                let is_free = may_stop && !is_held;
                self.steps(origin, template, location, is_free, is_held)?;
            }
            Standing::Gone => {}
        }
        Ok(())
    }

    fn location(&self, template: usize, location: usize) -> &'p mover_ir::program::Location {
        &self.of.template(template).locations[location]
    }

    /// Whether the thread keeps the others from moving: it has come to an atomic location by a
    /// step. Who begins at one does not.
    fn is_held(&self, standing: Standing, pending: &Pending) -> bool {
        let Standing::At { template, location } = standing else {
            return false;
        };
        let mut from = pending.arrivals.iter().filter_map(|arrival| arrival.from);
        self.location(template, location).atomic
            && from.any(|from| self.thread.nodes[from].standing != Standing::Unborn)
    }

    /// Whether the thread needs the token anew to go on.
    fn begins_event(&self, standing: Standing, pending: &Pending, is_held: bool) -> bool {
        match standing {
            Standing::Unborn => true,
            Standing::Gone => false,
            Standing::At { template, location } => {
                if is_held && !pending.outside {
                    return false;
                }
                !self.of.plan.transactions
                    || pending.outside
                    || pending.committed && !self.of.left[template][location]
            }
        }
    }

    /// The state in which a node is reached. What a ghost has of its own does not matter.
    fn merge(&mut self, arrivals: &[Arrival]) -> Symbols {
        let mut alive = arrivals.iter().rev().filter(|arrival| arrival.is_live);
        let Some(last) = alive.next().or(arrivals.last()) else {
            return Vec::new();
        };
        let mut merged = last.state.clone();
        for arrival in alive {
            for (cell, &value) in merged.iter_mut().zip(&arrival.state) {
                if *cell != value {
                    *cell = self.terms.ite(arrival.condition, value, *cell);
                }
            }
        }
        for ghost in arrivals.iter().filter(|arrival| !arrival.is_live) {
            for &cell in &self.of.shared {
                let value = ghost.state[cell];
                if merged[cell] != value {
                    merged[cell] = self.terms.ite(ghost.condition, value, merged[cell]);
                }
            }
        }
        merged
    }

    /// A thread that somebody may have started begins.
    fn begin(&mut self, origin: Origin) {
        let layout = self.of.layout;
        let state = self.thread.nodes[origin.number].state.clone();
        let mut options = Vec::new();
        let mut guards = Vec::new();
        for (template, resident) in layout.slots[self.slot].residents.iter().enumerate() {
            let Some(resident) = resident else { continue };
            if !self.of.spawned[template] {
                continue;
            }
            let body = self.of.template(template);
            let place = state[layout.slots[self.slot].place];
            let entry = resident.first_place + u64::from(body.entry.0);
            let is_here = self.terms.equals(place, entry);
            guards.push(is_here);
            let mut begun = state.clone();
            for (position, (variable, &first)) in
                body.locals.iter().zip(&resident.locals).enumerate()
            {
                if position < body.params as usize {
                    continue;
                }
                for index in 0..variable.len as usize {
                    let value = initial_cell(layout.program, variable, index, self.slot);
                    begun[first + index] = self.terms.constant(value, variable.ty.width);
                }
            }
            options.push(Option_ {
                enabled: is_here,
                edge: None,
                choice: None,
                state: begun,
                target: Standing::At {
                    template,
                    location: body.entry.index(),
                },
                right: true,
                beyond: Terms::FALSE,
            });
        }
        self.take(origin, options, &guards, true);
    }

    fn steps(
        &mut self,
        mut origin: Origin,
        template: usize,
        location: usize,
        is_free: bool,
        is_held: bool,
    ) -> Result<(), Failure> {
        let place = self.location(template, location);
        let state = self.thread.nodes[origin.number].state.clone();
        let view = View {
            layout: self.of.layout,
            state: &state,
            slot: self.slot,
            template,
            timeout: Terms::FALSE,
        };
        let mut ready = Vec::new();
        for edge in &place.edges {
            match view.readiness(self.terms, edge) {
                Readiness::Alone(condition) => ready.push(condition),
                Readiness::Offers { .. } => {
                    let reason = format!("`{}` may be a rendezvous", edge.text);
                    return Err(Failure::Unsupported(reason));
                }
            }
        }
        let mut options = Vec::new();
        // When steps that lead to nothing are possible.
        let mut ends = Vec::new();
        for (number, edge) in place.edges.iter().enumerate() {
            let higher: Vec<Term> = place
                .edges
                .iter()
                .zip(&ready)
                .filter(|(other, _)| other.priority > edge.priority)
                .map(|(_, &ready)| ready)
                .collect();
            let higher = self.terms.any(higher);
            let highest = self.terms.not(higher);
            let enabled = self.terms.and(ready[number], highest);
            if enabled == Terms::FALSE {
                origin.excluded.insert((location, number));
                continue;
            }
            if self.of.is_useless(template, location, edge) {
                ends.push(enabled);
                continue;
            }
            options.push(self.option(
                EdgeRef {
                    template,
                    location,
                    edge: number,
                },
                edge,
                enabled,
                &state,
                origin.number,
            ));
        }
        if is_held && !place.edges.is_empty() {
            let any = self.terms.any(ready.iter().copied());
            let none = self.terms.not(any);
            let stuck = self.terms.and(self.thread.nodes[origin.number].live, none);
            if stuck != Terms::FALSE {
                let cut = Cut::AtomicBlocks(template, location);
                self.thread.cuts.push((cut, stuck));
            }
        }
        let number = origin.number;
        self.take(origin, options, &ready, is_free);
        let can_end = self.terms.any(ends);
        if is_held && can_end != Terms::FALSE {
            // Nobody else may move while the run can end here.
            let node = &self.thread.nodes[number];
            let stays = self.terms.not(node.goes);
            let waits = self.terms.all([node.live, can_end, stays]);
            self.thread.broken.push(waits);
        }
        Ok(())
    }

    fn option(
        &mut self,
        at: EdgeRef,
        edge: &Edge,
        enabled: Term,
        state: &Symbols,
        node: usize,
    ) -> Option_ {
        let layout = self.of.layout;
        let choice = edge.effects.iter().find_map(|effect| match effect {
            Effect::Havoc { place, values } => Some((place.ty.width, *values)),
            _ => None,
        });
        let choice = choice.map(|(width, values)| {
            let choice = self.input(&format!("choice {}", at.edge), node, width);
            if values != 0 && values <= mask(width) {
                let end = self.terms.constant(values, width);
                let fits = self.terms.ult(choice, end);
                self.assumptions.push(fits);
            }
            choice
        });
        let mut performer = Performer {
            layout,
            state: state.clone(),
            beyond: Terms::FALSE,
        };
        performer.perform(self.terms, self.slot, at.template, edge, None, choice);
        let exits = edge.effects.contains(&Effect::Exit);
        let place = layout.slots[self.slot].place;
        if !exits && !self.of.observed[at.template] {
            // Nobody else looks there; that the thread lives is all that counts.
            performer.state[place] = state[place];
        }
        let residents = &layout.slots[self.slot].residents;
        let can_return = || {
            let spawned = self.of.spawned.iter();
            let mut both = spawned.zip(residents);
            both.any(|(&spawned, resident)| spawned && resident.is_some())
        };
        let target = if !exits {
            Standing::At {
                template: at.template,
                location: edge.target.index(),
            }
        } else if can_return() {
            Standing::Unborn
        } else {
            Standing::Gone
        };
        Option_ {
            enabled,
            edge: Some(at),
            choice,
            state: performer.state,
            target,
            right: self.of.movers.edges[at.template][at.location][at.edge].right,
            beyond: performer.beyond,
        }
    }

    /// Lets the thread take one of the options, or none and be a ghost from here on.
    fn take(&mut self, origin: Origin, options: Vec<Option_>, guards: &[Term], is_free: bool) {
        let node = origin.number;
        let is_open = options.iter().any(|option| option.enabled == Terms::TRUE);
        let is_free = is_free && !(self.of.plan.maximal && is_open);
        self.thread.nodes[node].is_free = is_free;
        let live = self.thread.nodes[node].live;
        self.note_accesses(node, &options, guards);
        let mut may_go = live;
        if is_free {
            let go = self.input("go", node, 1);
            may_go = self.terms.and(live, go);
        }
        let is_exclusive = (1..options.len()).all(|later| {
            let mut before = options[..later].iter();
            before
                .all(|other| self.terms.and(other.enabled, options[later].enabled) == Terms::FALSE)
        });
        let select =
            (!is_exclusive).then(|| self.input("which", node, bits_for(options.len() as u64)));
        let mut taken = Vec::new();
        for (number, option) in options.iter().enumerate() {
            let mut condition = self.terms.and(may_go, option.enabled);
            if let Some(select) = select {
                let this = self.terms.equals(select, number as u64);
                condition = self.terms.and(condition, this);
            }
            taken.push(condition);
        }
        let goes = self.terms.any(taken.iter().copied());
        if select.is_some() && !is_free {
            // Choosing what is not possible is no way to stop.
            let possible = self.terms.any(options.iter().map(|option| option.enabled));
            let must = self.terms.and(live, possible);
            let does = self.terms.implies(must, goes);
            self.assumptions.push(does);
        }
        let stays = self.terms.not(goes);
        let reach = self.thread.nodes[node].reach;
        let ghost = self.terms.and(reach, stays);
        // A ghost takes the way that looks shortest.
        let ghost_way = (0..options.len())
            .filter(|&number| taken[number] != Terms::FALSE)
            .min_by_key(|&number| {
                let key = self.target_key(&origin, &options[number]);
                (key.0, usize::MAX - key.2, number)
            });
        let here = self.thread.nodes[node].state.clone();
        for (number, option) in options.into_iter().enumerate() {
            let condition = taken[number];
            if condition == Terms::FALSE {
                continue;
            }
            self.thread.nodes[node].is_leaf = false;
            self.thread.nodes[node].takes.push(Take {
                condition,
                edge: option.edge,
                choice: option.choice,
            });
            let leaves = self.terms.and(condition, option.beyond);
            if leaves != Terms::FALSE {
                self.thread.cuts.push((Cut::Bounds, leaves));
                self.thread.broken.push(leaves);
            }
            self.arrive(
                &origin,
                option,
                condition,
                ghost_way == Some(number),
                ghost,
                &here,
            );
        }
        self.thread.nodes[node].goes = goes;
    }

    /// Where an option leads.
    fn target_key(&self, origin: &Origin, option: &Option_) -> Key {
        let here = self.thread.nodes[origin.number].standing;
        let target = self.key(origin.repetitions, option.target);
        if target <= self.key(origin.repetitions, here) {
            self.key(origin.repetitions + 1, option.target)
        } else {
            target
        }
    }

    fn arrive(
        &mut self,
        origin: &Origin,
        option: Option_,
        condition: Term,
        is_ghost_way: bool,
        ghost: Term,
        here: &Symbols,
    ) {
        let key = self.target_key(origin, &option);
        let mut spent = origin.spent;
        let mut excluded = origin.excluded.clone();
        if key.0 > origin.repetitions {
            let is_free = match (option.edge, option.target) {
                (Some(edge), Standing::At { template, location }) => {
                    let is_forced = origin
                        .excluded
                        .iter()
                        .any(|&at| self.of.leaves(template, edge.location, location, at));
                    excluded.retain(|&(at, _)| {
                        !self.of.is_in_loop(template, edge.location, location, at)
                    });
                    is_forced && self.goes_on(template, location, &option.state)
                }
                _ => {
                    excluded.clear();
                    false
                }
            };
            spent += u64::from(!is_free);
        }
        if option.edge.is_none() {
            excluded.clear();
        }
        if let Standing::At { template, location } = option.target
            && self.location(template, location).error.is_some()
        {
            self.thread.errors.push(condition);
        }
        let pending = self.pending.entry(key).or_default();
        pending.arrivals.push(Arrival {
            condition,
            is_live: true,
            from: Some(origin.number),
            state: option.state,
        });
        if is_ghost_way && ghost != Terms::FALSE {
            pending.arrivals.push(Arrival {
                condition: ghost,
                is_live: false,
                from: Some(origin.number),
                state: here.clone(),
            });
        }
        pending.outside |= origin.outside;
        pending.committed |= origin.committed || !option.right && !origin.outside;
        pending.spent = Some(pending.spent.map_or(spent, |other| other.min(spent)));
        pending.excluded.extend(excluded);
    }

    /// Whether the thread was never here with the same constants, and not too often.
    fn goes_on(&mut self, template: usize, location: usize, state: &Symbols) -> bool {
        let shared = &self.of.shared;
        let constants = state
            .iter()
            .enumerate()
            .filter(|(cell, _)| shared.binary_search(cell).is_err())
            .map(|(_, &term)| self.terms.as_const(term))
            .collect();
        self.repeated.len() < MOST_FREE && self.repeated.insert((template, location, constants))
    }

    /// What the steps of a node read and write of the shared cells.
    fn note_accesses(&mut self, node: usize, options: &[Option_], guards: &[Term]) {
        let sources = self.thread.nodes[node].sources.clone();
        let before = &self.thread.nodes[node].state;
        let mut roots: Vec<Term> = guards.to_vec();
        let mut writes = Writes::new();
        for option in options {
            roots.push(option.enabled);
            for (&old, &new) in before.iter().zip(&option.state) {
                if old != new {
                    roots.push(new);
                }
            }
            for (position, &cell) in self.of.shared.iter().enumerate() {
                if before[cell] != option.state[cell] {
                    let values = written(self.terms, option.state[cell], before[cell]);
                    add_writes(&mut writes, &Writes::from([(position, values)]));
                }
            }
        }
        if self.thread.nodes[node].is_outside {
            add_writes(&mut self.thread.early, &writes);
        }
        let oldest = sources.first().map(|&oldest| &self.thread.nodes[oldest]);
        let Some(&mark) = oldest.and_then(|oldest| oldest.received.first()) else {
            return;
        };
        // Terms that are older than the copies cannot depend on them.
        let mut seen = BTreeSet::new();
        let mut variables = BTreeSet::new();
        while let Some(term) = roots.pop() {
            if term < mark || !seen.insert(term) {
                continue;
            }
            if let TermNode::Var(_) = self.terms.node(term) {
                variables.insert(term);
            }
            self.terms.children(term, |child| roots.push(child));
        }
        for source in sources {
            let event = &mut self.thread.nodes[source];
            let received = event.received.iter().enumerate();
            event.reads.extend(
                received
                    .filter(|(_, term)| variables.contains(term))
                    .map(|(position, _)| position),
            );
            add_writes(&mut event.writes, &writes);
        }
    }
}

/// The constants that a choice between constants and the old value can be.
fn written(terms: &Terms, new: Term, old: Term) -> Option<BTreeSet<u64>> {
    let mut values = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![new];
    while let Some(term) = work.pop() {
        if term == old || !seen.insert(term) {
            continue;
        }
        match terms.node(term) {
            TermNode::Const(value) => {
                values.insert(value);
            }
            TermNode::Ite(_, then, otherwise) => work.extend([then, otherwise]),
            _ => return None,
        }
    }
    Some(values)
}

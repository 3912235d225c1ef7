//! Unrolling of each thread on its own.
//!
//! A thread becomes an acyclic graph: a node is a location together with the number of loop
//! iterations so far, an edge is a step of the program. Shared cells are local copies. At an
//! *event*, a node at which the thread needs the token, all of them take any value
//! ([`Node::received`]); the constraints of `encode` make the copies agree. Between events the
//! copies belong to the thread alone.
//!
//! **What is an event.** With one event for each access (`--pairs all`) every location with a
//! shared access is one. Otherwise events are transactions: a thread keeps the token through
//! right movers up to its first other step, and from there on through left movers; the next
//! event begins where that ends. This subsumes what the paper derives from lock sets, mutual
//! exclusion and lock acquisition patterns (its step 3): a critical section is a single event.
//! An atomic sequence never passes the token.
//!
//! **Ghosts.** A thread may be blocked for ever, and sets of pairs are adequate for whole
//! schedules only. So a thread that stops continues as a *ghost*: it takes some path to its
//! end, and its steps have no effect. Where a ghost is, a node is reached but not alive.
//! Threads stop only where they can never continue ([`Plan::maximal`]): every run can be
//! extended until that is so, also past an error, because the trace is cut off there. They may
//! stop anywhere if passes of the token are counted, and if continuing could lead to where the
//! encoding ends in the middle of something ([`Thread::broken`]).
//!
//! The accesses of an event are determined on the terms ([`touched`]).
//!
//! **Objects.** A node is passed at most once in a run, so an allocation there makes an object of
//! its own, with its own number ([`pool`]). Its address is a constant, it is nobody else's before,
//! and the step touches nothing that threads share. That is right only if the program cannot observe
//! the numbers of objects (`mover_reduce::facts::opaque_numbers`).
//!
//! **How far.** Iterations are free where the exit of the loop was excluded by constants alone,
//! such as `for (i = 0; i < 3; i++)`, and the constants are not those of an earlier iteration.
//! Of all other iterations each thread gets the requested number; what lies beyond is a
//! [`Cut`].

mod ground;
mod pool;
mod touched;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mover_ir::expr::mask;
use mover_ir::program::{BoundMet, Edge, Effect, LocationId, TemplateId};
use mover_reduce::facts::access::EdgeRef;

pub use ground::Unroller;
pub use pool::Pool;
pub use touched::Writes;

use crate::layout::bits_for;
use crate::machine::{Performer, Readiness, Symbols, View, initial_cell};
use crate::term::{Term, Terms};
use mover_engine::Control;
use mover_engine::EngineError;

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
    /// Whether no way continues from here.
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
    /// More nodes than a thread may have, however many repetitions are asked for.
    Size,
    /// More threads or objects than are encoded.
    Bounds,
    /// An atomic sequence that cannot continue and has to let others pass.
    AtomicBlocks(usize, usize),
}

pub struct Thread {
    pub slot: usize,
    /// In an order in which every node comes after those that lead to it.
    pub nodes: Vec<Node>,
    /// Steps into errors that count.
    pub errors: Vec<Term>,
    /// Steps into bounds of the program.
    pub bounds: Vec<(BoundMet, Term)>,
    pub cuts: Vec<(Cut, Term)>,
    /// Nodes at which the unrolling ends before a thread that may be started.
    pub unborn: Vec<usize>,
    /// What the thread writes to shared cells before it needs the token.
    pub early: Writes,
    /// When the run is not a run any more: the thread is where no other thread may move, or the run
    /// is beyond the bounds.
    pub broken: Vec<Term>,
}

pub struct Unrolled {
    pub threads: Vec<Thread>,
    /// The cells that threads share.
    pub shared: Vec<usize>,
    /// What holds of the free variables.
    pub assumptions: Vec<Term>,
    /// All free variables.
    pub inputs: Vec<Term>,
    /// Which dynamic objects are made.
    pub pool: Pool,
}

/// Options of the unrolling.
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
    /// Whether a thread stops only where it can never continue.
    pub maximal: bool,
    /// Whether reading a cell that is never written is an event.
    pub unwritten: bool,
    /// Whether a thread that stops continues as a ghost.
    pub ghosts: bool,
}

/// Maximum number of nodes of a thread.
pub const MOST_NODES: usize = 20_000;

/// Why nothing follows a node that was cut off.
pub fn cut_at(number: usize) -> Cut {
    if number >= MOST_NODES {
        Cut::Size
    } else {
        Cut::Depth
    }
}

/// Most repetitions of a thread that are free.
const MOST_FREE: usize = 250;

impl Unroller<'_> {
    /// Unrolls all threads, unless a limit is reached.
    pub fn unroll(
        &self,
        terms: &mut Terms,
        limit: &Control,
    ) -> Result<Option<Unrolled>, EngineError> {
        let mut unrolled = Unrolled {
            threads: Vec::new(),
            shared: self.shared.clone(),
            assumptions: Vec::new(),
            inputs: Vec::new(),
            pool: Pool::new(self.layout),
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
                    bounds: Vec::new(),
                    cuts: Vec::new(),
                    unborn: Vec::new(),
                    early: Writes::new(),
                    broken: Vec::new(),
                },
                assumptions: &mut unrolled.assumptions,
                inputs: &mut unrolled.inputs,
                pool: &mut unrolled.pool,
                repeated: HashSet::new(),
            };
            match thread.run(limit)? {
                Some(thread) => unrolled.threads.push(thread),
                None => return Ok(None),
            }
        }
        Ok(Some(unrolled))
    }
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
    pool: &'u mut Pool,
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
    fn run(mut self, limit: &Control) -> Result<Option<Thread>, EngineError> {
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
            if limit.is_over() {
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

    fn node(&mut self, key: Key, pending: Pending) -> Result<(), EngineError> {
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
                    self.thread.cuts.push((cut_at(number), live));
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
                // A run that meets a bound ends there. So that it hides nothing that others do,
                // its thread may stop before.
                let edges = &self.location(template, location).edges;
                let nears_bound = edges.iter().any(|e| self.of.may_meet_bound(template, e));
                let may_stop = is_event || is_contended && self.of.plan.stops || nears_bound;
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

    /// Whether the thread needs the token anew to continue.
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

    /// A thread that may have been started begins.
    fn begin(&mut self, origin: Origin) {
        // Another life: its loops are not repetitions of earlier ones. Each life costs a counted
        // repetition, so this ends.
        self.repeated.clear();
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
    ) -> Result<(), EngineError> {
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
                    return Err(EngineError::Unsupported(reason));
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
            // No other thread may move while the run can end here.
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
            made: Some(self.pool.take(edge)),
        };
        performer.perform(self.terms, self.slot, at.template, edge, None, choice);
        let exits = edge.effects.contains(&Effect::Exit);
        let place = layout.slots[self.slot].place;
        if !exits && !self.of.observed[at.template] {
            // No other thread looks there; that the thread lives is all that counts.
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
        let is_forced = |option: &Option_| match (option.edge, option.target) {
            (Some(_), Standing::At { template, location }) => {
                !self.of.meets_bound[template][location]
            }
            _ => true,
        };
        let is_open = options
            .iter()
            .any(|option| option.enabled == Terms::TRUE && is_forced(option));
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
        let ghost = match self.of.plan.ghosts {
            true => self.terms.and(reach, stays),
            false => Terms::FALSE,
        };
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
        if let Standing::At { template, location } = option.target {
            let place = self.location(template, location);
            if place.error.is_some() {
                self.thread.errors.push(condition);
            }
            if place.bound.is_some() {
                let met = BoundMet {
                    template: TemplateId(template as u32),
                    location: LocationId(location as u32),
                };
                self.thread.bounds.push((met, condition));
            }
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
}

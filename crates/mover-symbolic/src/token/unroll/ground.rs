//! Static facts about a program that are needed to unroll its threads.
//!
//! The cells that threads share, the locations at which they access something that other
//! threads also access, the left movers from there, the steps that lead nowhere, and the
//! successor relation of locations.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::ChannelRef;
use mover_ir::graph::{FixedBitSet, control_flow, reaches, reverse_postorder};
use mover_ir::program::{Edge, Effect, LocationId, Template};
use mover_reduce::facts::access::{EdgeRef, Object};
use mover_reduce::facts::single_threaded_prefix::Alone;
use mover_reduce::{Movers, Protection};

use super::{Plan, Standing};
use crate::layout::{ChannelLayout, Layout, ObjectHome};

/// What is known of the program before threads are unrolled.
pub struct Unroller<'p> {
    pub layout: &'p Layout<'p>,
    pub(super) movers: &'p Movers,
    pub(super) plan: Plan,
    pub(super) alone: Alone,
    /// By template and location: whether a thread accesses there what others access, too, up to
    /// the end of an atomic sequence.
    pub(super) contended: Vec<Vec<bool>>,
    /// Templates whose threads others look into.
    pub(super) observed: Vec<bool>,
    pub(super) spawned: Vec<bool>,
    /// By template and location: whether all that can happen up to the end of an atomic
    /// sequence moves left.
    pub(super) left: Vec<Vec<bool>>,
    /// By template and location: a number that grows along every way but at loops.
    pub(super) rank: Vec<Vec<usize>>,
    pub(super) reach: Vec<Vec<FixedBitSet>>,
    /// By template and location: whether a thread that comes there may meet a bound before it
    /// lets others pass.
    pub(super) meets_bound: Vec<Vec<bool>>,
    pub(super) shared: Vec<usize>,
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
            reach: program
                .templates
                .iter()
                .map(|body| reaches(&control_flow(body)))
                .collect(),
            meets_bound: program.templates.iter().map(bounds_through).collect(),
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

    /// Locks that a thread there has, and that no other thread can have at the same time.
    pub fn locks_at(&self, standing: Standing) -> BTreeSet<Object> {
        let Standing::At { template, location } = standing else {
            return BTreeSet::new();
        };
        let locks = &self.movers.locks;
        let is_shared = |lock: &Object| match lock {
            Object::Cell(id, _) | Object::Variable(id) => locks.is_rw(*id),
            _ => true,
        };
        let held = locks.held(template, location).iter();
        held.filter(|lock| !is_shared(lock)).copied().collect()
    }

    pub(super) fn template(&self, template: usize) -> &'p Template {
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

    /// The cells that more than one thread accesses and some thread writes.
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
                // Numbers are fixed; objects are below.
                Object::Site(_) | Object::Numbers => {}
            }
        }
        // An object that its thread alone knows is no access of a shared object while it is filled,
        // and may be read by others later. So all objects are shared.
        for object in &self.layout.objects {
            if let ObjectHome::Made(_) = object.home {
                cells.extend(object.first..object.first + object.cells);
                cells.extend(object.site);
                cells.extend(object.size);
            }
        }
        cells.into_iter().collect()
    }

    /// Whether a thread at a location accesses one of the objects, or does so before it lets
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

    /// Whether the edge may lead to a bound before other threads may run. It need not be taken.
    pub fn may_meet_bound(&self, template: usize, edge: &Edge) -> bool {
        self.meets_bound[template][edge.target.index()]
    }

    /// Whether taking the edge leads to no violation and no bound: it changes nothing, or ends the
    /// run.
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

    /// Whether a loop is left by an edge. The loop is that of a step back to `head`.
    pub(super) fn leaves(
        &self,
        template: usize,
        from: usize,
        head: usize,
        at: (usize, usize),
    ) -> bool {
        let target = self.template(template).locations[at.0].edges[at.1].target;
        self.is_in_loop(template, from, head, at.0)
            && !self.is_in_loop(template, from, head, target.index())
    }

    pub(super) fn is_in_loop(
        &self,
        template: usize,
        from: usize,
        head: usize,
        location: usize,
    ) -> bool {
        let reach = &self.reach[template];
        reach[head].contains(location) && reach[location].contains(from)
    }
}

/// Whether an edge leaves everything as it is.
fn is_idle(location: usize, edge: &Edge) -> bool {
    let is_print = |effect: &Effect| matches!(effect, Effect::Print { .. });
    edge.target.index() == location && edge.effects.iter().all(is_print)
}

/// Whether a thread that reaches a location keeps all others from moving for ever.
fn halts(location: &mover_ir::program::Location, id: LocationId) -> bool {
    let idle = |edge: &Edge| is_idle(id.index(), edge);
    let always = |edge: &Edge| edge.guard == mover_ir::expr::Expr::TRUE;
    location.atomic && location.edges.iter().all(idle) && location.edges.iter().any(always)
}

/// For each location whether it is a bound or in an atomic sequence that can reach one.
fn bounds_through(template: &Template) -> Vec<bool> {
    let mut meets: Vec<bool> = template
        .locations
        .iter()
        .map(|location| location.bound.is_some())
        .collect();
    loop {
        let mut changed = false;
        for (number, location) in template.locations.iter().enumerate() {
            let mut edges = location.edges.iter();
            let leads = location.atomic && edges.any(|edge| meets[edge.target.index()]);
            if leads && !meets[number] {
                meets[number] = true;
                changed = true;
            }
        }
        if !changed {
            return meets;
        }
    }
}

/// A number for each location that is smaller than that of its successors, except along
/// steps back.
fn ranks(template: &Template) -> Vec<usize> {
    let count = template.locations.len();
    let mut rank = vec![count; count];
    let order = reverse_postorder(&control_flow(template), [template.entry.index()]);
    // The last come last, whatever the number of those that are not reached.
    let first = count - order.len();
    for (position, location) in order.into_iter().enumerate() {
        rank[location] = first + position;
    }
    rank
}

//! The shared objects that each edge accesses.
//!
//! The unit is an [`Object`]: a cell of a global variable, a whole variable where some edge
//! computes the index of the cell at run time, a channel, or one of two observable things that
//! are not memory: the number of threads, and the locations of the threads of a template. An
//! edge accesses what its guard and effects read and write. It also reads what the guards of
//! the higher-priority edges at its location read, because it is enabled only if those edges
//! are not.
//!
//! Through a pointer an edge accesses whatever `points_to` reports: globals as a whole, and for
//! dynamic objects all objects of an allocation site together. Objects whose address no other thread
//! has do not count (`unpublished`). Whether an object is alive
//! counts as part of its contents, so freeing an object writes it. An allocation accesses no
//! object, because no thread can have had its address before, unless it reuses addresses: then it
//! writes the objects of all sites. There is one exception: the
//! *number* of a new object is the lowest number that no object has and that no cell mentions
//! ([`Object::Numbers`]). A thread that drops the last pointer to a freed object therefore
//! changes the number that another thread's allocation gets. So in programs that allocate, an
//! edge that may change which numbers are mentioned accesses the numbers. Two such changes
//! commute with each other, but not with an allocation; so an allocation writes the numbers and
//! the other changes read them.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{ChannelRef, Expr, VariableRef};
use mover_ir::program::{ChannelDecl, Edge, Effect, Init, Program, SiteId, TemplateId, VariableId};

use crate::facts::non_pointer_ints::SmallVariables;
use crate::facts::points_to::{PointsTo, Targets};
use crate::facts::unpublished::{Standing, Unpublished};

/// A shared object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    Cell(VariableId, u32),
    /// All cells of a variable whose index is computed at run time by some edge.
    Variable(VariableId),
    Channel(u32),
    /// All channels, where some edge computes the channel at run time.
    AnyChannel,
    /// How many threads there are and which numbers they have.
    Threads,
    /// The locations and local variables of a template's threads, where other threads read them.
    Inside(TemplateId),
    /// The contents of the dynamic objects of an allocation site, and which of them are alive.
    Site(SiteId),
    /// Which numbers dynamic objects have and cells mention.
    Numbers,
}

impl Object {
    /// The object's name in the source.
    pub fn name(self, program: &Program) -> String {
        match self {
            Object::Cell(id, index) => {
                let variable = &program.globals[id.index()];
                if variable.is_array {
                    format!("{}[{index}]", variable.name)
                } else {
                    variable.name.clone()
                }
            }
            Object::Variable(id) => program.globals[id.index()].name.clone(),
            Object::Channel(index) => program.channels[index as usize].name.clone(),
            Object::AnyChannel => "the channels".into(),
            Object::Threads => "the number of threads".into(),
            Object::Inside(template) => {
                format!("the inside of {}", program.template(template).name)
            }
            Object::Site(site) => format!("objects of {}", program.site(site).name),
            Object::Numbers => "the numbers of objects".into(),
        }
    }
}

/// The objects that an edge accesses, each with whether it may be written.
pub type Accesses = BTreeMap<Object, bool>;

/// An edge of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EdgeRef {
    pub template: usize,
    pub location: usize,
    pub edge: usize,
}

/// All edges of a program.
pub fn edges(program: &Program) -> impl Iterator<Item = (EdgeRef, &Edge)> {
    program
        .templates
        .iter()
        .enumerate()
        .flat_map(|(template, body)| {
            body.locations
                .iter()
                .enumerate()
                .flat_map(move |(location, here)| {
                    here.edges.iter().enumerate().map(move |(edge, found)| {
                        let at = EdgeRef {
                            template,
                            location,
                            edge,
                        };
                        (at, found)
                    })
                })
        })
}

impl EdgeRef {
    pub fn of(self, program: &Program) -> &Edge {
        &program.templates[self.template].locations[self.location].edges[self.edge]
    }
}

#[derive(Clone)]
pub struct AccessTable {
    /// By template, location and edge.
    accesses: Vec<Vec<Vec<Accesses>>>,
}

impl AccessTable {
    pub fn new(program: &Program) -> Self {
        let survey = Survey::new(program);
        let unpublished = Unpublished::find(program, &survey.points_to);
        let accesses = program
            .templates
            .iter()
            .enumerate()
            .map(|(template, body)| {
                let of_edge = |location: usize, edges: &[Edge], edge: &Edge| {
                    let standing = unpublished.at(template, location);
                    let mut accesses = Accesses::new();
                    let mut at = At {
                        template: TemplateId(template as u32),
                        standing: standing.clone(),
                    };
                    for other in edges.iter().filter(|other| other.priority > edge.priority) {
                        survey.enabledness(program, &at, other, &mut accesses);
                    }
                    survey.edge(program, &mut at, edge, &mut accesses);
                    accesses
                };
                body.locations
                    .iter()
                    .enumerate()
                    .map(|(number, location)| {
                        let edges = &location.edges;
                        let accesses = edges.iter().map(|edge| of_edge(number, edges, edge));
                        accesses.collect()
                    })
                    .collect()
            })
            .collect();
        AccessTable { accesses }
    }

    /// The table without the accesses of an object, for those to whom they do not matter.
    pub fn forget(&mut self, object: Object) {
        for accesses in self.accesses.iter_mut().flatten().flatten() {
            accesses.remove(&object);
        }
    }

    pub fn of(&self, edge: EdgeRef) -> &Accesses {
        &self.accesses[edge.template][edge.location][edge.edge]
    }

    /// All edges with their accesses.
    pub fn iter(&self) -> impl Iterator<Item = (EdgeRef, &Accesses)> {
        self.accesses
            .iter()
            .enumerate()
            .flat_map(|(template, locations)| {
                locations
                    .iter()
                    .enumerate()
                    .flat_map(move |(location, edges)| {
                        edges.iter().enumerate().map(move |(edge, accesses)| {
                            let edge = EdgeRef {
                                template,
                                location,
                                edge,
                            };
                            (edge, accesses)
                        })
                    })
            })
    }
}

/// Where an expression is evaluated.
struct At {
    template: TemplateId,
    /// What is known of the thread's local variables there.
    standing: Standing,
}

/// Facts about the whole program that are needed to name an access.
struct Survey<'p> {
    points_to: PointsTo<'p>,
    /// Whether the numbers of objects matter: whether the program allocates.
    allocates: bool,
    /// Pointer-sized variables that never mention a dynamic object: globals, and locals by template.
    small: SmallVariables,
    /// Variables with an index that is computed at run time.
    picked: BTreeSet<VariableId>,
    written: BTreeSet<VariableId>,
    channels_picked: bool,
    /// Templates whose threads are observed by others.
    observed: BTreeSet<TemplateId>,
}

impl<'p> Survey<'p> {
    fn new(program: &'p Program) -> Self {
        let allocates = |effect| matches!(effect, &Effect::Allocate { .. });
        let mut survey = Survey {
            points_to: PointsTo::new(program),
            allocates: program.effects().any(allocates),
            small: SmallVariables::new(program),
            picked: BTreeSet::new(),
            written: BTreeSet::new(),
            channels_picked: false,
            observed: BTreeSet::new(),
        };
        let edges: Vec<&Edge> = program
            .templates
            .iter()
            .flat_map(|template| &template.locations)
            .flat_map(|location| &location.edges)
            .collect();
        for edge in &edges {
            for effect in &edge.effects {
                for place in effect.written_places() {
                    if let VariableRef::Global(id) = place.variable {
                        survey.written.insert(id);
                        survey.note_index(id, &place.index);
                    }
                }
            }
        }
        for edge in &edges {
            let mut channels: Vec<Expr> = edge
                .effects
                .iter()
                .filter_map(|effect| match effect {
                    Effect::Send { channel, .. } | Effect::Receive { channel, .. } => {
                        Some(channel.clone())
                    }
                    _ => None,
                })
                .collect();
            let mut visit = |expr: &Expr| match expr {
                Expr::Read(place) => {
                    if let VariableRef::Global(id) = place.variable {
                        survey.note_index(id, &place.index);
                    }
                }
                Expr::ThreadAt { template, .. } | Expr::RemoteRead { template, .. } => {
                    survey.observed.insert(*template);
                }
                Expr::ChannelExists(channel)
                | Expr::ChannelLen(channel)
                | Expr::ChannelCapacity(channel)
                | Expr::CanReceive { channel, .. } => channels.push((**channel).clone()),
                _ => {}
            };
            edge.guard.walk(&mut visit);
            edge.effects
                .iter()
                .for_each(|effect| effect.walk(&mut visit));
            survey.channels_picked |= channels
                .iter()
                .any(|channel| survey.static_channel(program, channel).is_none());
        }
        survey.note_pointed_at(program);
        // The channels of a thread disappear when it exits.
        survey.channels_picked |= program.channels_per_thread() > 0;
        survey
    }

    /// Objects accessed through a pointer are accessed as a whole.
    fn note_pointed_at(&mut self, program: &Program) {
        for (template, body) in program.templates.iter().enumerate() {
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                let (points_to, picked) = (&self.points_to, &mut self.picked);
                let mut visit = |expr: &Expr| {
                    if let Expr::Load { address, .. } = expr {
                        picked.extend(points_to.targets(template, address).globals);
                    }
                };
                edge.guard.walk(&mut visit);
                edge.effects
                    .iter()
                    .for_each(|effect| effect.walk(&mut visit));
                for effect in &edge.effects {
                    if let Effect::Store { address, .. } = effect {
                        let targets = points_to.targets(template, address);
                        self.written.extend(targets.globals.iter().copied());
                        picked.extend(targets.globals);
                    }
                }
            }
        }
    }

    fn note_index(&mut self, id: VariableId, index: &Expr) {
        if index.as_const().is_none() {
            self.picked.insert(id);
        }
    }

    /// The channel that an expression always refers to.
    fn static_channel(&self, program: &Program, channel: &Expr) -> Option<u32> {
        match channel {
            Expr::Channel(ChannelRef::Global(index)) => Some(*index),
            Expr::Read(place) => {
                let VariableRef::Global(id) = place.variable else {
                    return None;
                };
                let variable = &program.globals[id.index()];
                match (&variable.init, place.index.as_const()) {
                    (Init::Channels(channels), Some(index)) if !self.written.contains(&id) => {
                        match channels.get(index as usize)? {
                            ChannelRef::Global(index) => Some(*index),
                            ChannelRef::Local(_) => None,
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn channel_object(&self, program: &Program, channel: &Expr) -> Object {
        match self.static_channel(program, channel) {
            Some(index) if !self.channels_picked => Object::Channel(index),
            _ => Object::AnyChannel,
        }
    }

    fn cell(&self, id: VariableId, index: &Expr) -> Object {
        match index.as_const() {
            Some(index) if !self.picked.contains(&id) => Object::Cell(id, index as u32),
            _ => Object::Variable(id),
        }
    }

    fn edge(&self, program: &Program, at: &mut At, edge: &Edge, accesses: &mut Accesses) {
        let template = at.template;
        self.reads(program, at, &edge.guard, accesses);
        if self.observed.contains(&template) {
            accesses.insert(Object::Inside(template), true);
        }
        for effect in &edge.effects {
            effect.walk(&mut |expr| self.read(program, at, expr, accesses));
            if self.allocates && self.changes_mentions(program, template, effect) {
                accesses.entry(Object::Numbers).or_insert(false);
            }
            for place in effect.written_places() {
                if let VariableRef::Global(id) = place.variable {
                    accesses.insert(self.cell(id, &place.index), true);
                }
            }
            match effect {
                Effect::Send { channel, .. } | Effect::Receive { channel, .. } => {
                    accesses.insert(self.channel_object(program, channel), true);
                }
                Effect::Spawn { template, .. } => {
                    accesses.insert(Object::Threads, true);
                    if self.observed.contains(template) {
                        accesses.insert(Object::Inside(*template), true);
                    }
                }
                Effect::Store { address, .. } => {
                    let targets = self.pointed_at(at, address, accesses);
                    let globals = targets.globals.into_iter().map(Object::Variable);
                    let sites = targets.sites.into_iter().map(Object::Site);
                    accesses.extend(globals.chain(sites).map(|object| (object, true)));
                }
                Effect::Free { address } => {
                    let targets = self.pointed_at(at, address, accesses);
                    let sites = targets.sites.into_iter().map(Object::Site);
                    accesses.extend(sites.map(|object| (object, true)));
                }
                Effect::Allocate { reuse, .. } => {
                    accesses.insert(Object::Numbers, true);
                    if *reuse > 0 {
                        // Other threads may have its address already.
                        let sites = (0..program.sites.len() as u32).map(SiteId);
                        accesses.extend(sites.map(|site| (Object::Site(site), true)));
                    }
                }
                Effect::Exit => {
                    accesses.insert(Object::Threads, true);
                    if program.channels_per_thread() > 0 {
                        accesses.insert(Object::AnyChannel, true);
                    }
                }
                _ => {}
            }
            // Groups of allocations matter only from one location to another.
            (at.standing).follow(
                program,
                &self.points_to,
                template.index(),
                effect,
                usize::MAX,
            );
        }
    }

    /// The objects that an address may point into. Where nothing is known about addresses, it may also
    /// point to an object that is not alive yet. Objects that only the thread itself knows do not count.
    fn pointed_at(&self, at: &At, address: &Expr, accesses: &mut Accesses) -> Targets {
        let template = at.template.index();
        if (at.standing).is_unpublished(&self.points_to, template, address) {
            return Targets::default();
        }
        if self.allocates && !self.points_to.is_known() {
            accesses.entry(Object::Numbers).or_insert(false);
        }
        self.points_to.targets(template, address)
    }

    /// Whether an effect may change which numbers of objects the state mentions.
    fn changes_mentions(&self, program: &Program, template: TemplateId, effect: &Effect) -> bool {
        let width = program.pointers.width;
        let is_wide = |channel: &ChannelDecl| channel.fields.iter().any(|f| f.ty.width == width);
        let writes = effect.written_places().into_iter().any(|place| {
            let variable = match place.variable {
                VariableRef::Global(id) => &program.globals[id.index()],
                VariableRef::Local(id) => &program.template(template).locals[id.index()],
            };
            // Adjacent narrow cells of an object can together mention a number.
            variable.addressable
                || (variable.ty.width == width
                    && !self.small.contains(template.index(), place.variable))
        });
        match effect {
            Effect::Store { .. } | Effect::Free { .. } | Effect::Exit | Effect::Spawn { .. } => {
                true
            }
            Effect::Send { .. } | Effect::Receive { .. } => {
                let own = program.templates.iter().flat_map(|t| &t.channels);
                writes || program.channels.iter().chain(own).any(is_wide)
            }
            _ => writes,
        }
    }

    /// What decides whether an edge is enabled.
    fn enabledness(&self, program: &Program, at: &At, edge: &Edge, accesses: &mut Accesses) {
        self.reads(program, at, &edge.guard, accesses);
        for effect in &edge.effects {
            let object = match effect {
                Effect::Send {
                    channel, values, ..
                } => {
                    for value in values {
                        self.reads(program, at, value, accesses);
                    }
                    self.reads(program, at, channel, accesses);
                    self.channel_object(program, channel)
                }
                Effect::Receive { channel, args, .. } => {
                    for arg in args {
                        arg.parts(&mut |part| {
                            part.walk(&mut |expr| self.read(program, at, expr, accesses))
                        });
                    }
                    self.reads(program, at, channel, accesses);
                    self.channel_object(program, channel)
                }
                Effect::Spawn { .. } => Object::Threads,
                _ => continue,
            };
            accesses.entry(object).or_insert(false);
        }
    }

    fn reads(&self, program: &Program, at: &At, expr: &Expr, accesses: &mut Accesses) {
        expr.walk(&mut |expr| self.read(program, at, expr, accesses));
    }

    fn read(&self, program: &Program, at: &At, expr: &Expr, accesses: &mut Accesses) {
        let object = match expr {
            Expr::Read(place) => match place.variable {
                VariableRef::Global(id) => self.cell(id, &place.index),
                VariableRef::Local(_) => return,
            },
            Expr::ThreadCount => Object::Threads,
            Expr::ThreadAt { template, .. } | Expr::RemoteRead { template, .. } => {
                accesses.entry(Object::Threads).or_insert(false);
                Object::Inside(*template)
            }
            Expr::ChannelExists(channel)
            | Expr::ChannelLen(channel)
            | Expr::ChannelCapacity(channel)
            | Expr::CanReceive { channel, .. } => self.channel_object(program, channel),
            Expr::Load { address, .. } => {
                let targets = self.pointed_at(at, address, accesses);
                let globals = targets.globals.into_iter().map(Object::Variable);
                let sites = targets.sites.into_iter().map(Object::Site);
                for object in globals.chain(sites) {
                    accesses.entry(object).or_insert(false);
                }
                return;
            }
            // Globals are always alive.
            Expr::ObjectSize(address) | Expr::ObjectSite { address, .. } => {
                let targets = self.pointed_at(at, address, accesses);
                for site in targets.sites {
                    accesses.entry(Object::Site(site)).or_insert(false);
                }
                return;
            }
            _ => return,
        };
        accesses.entry(object).or_insert(false);
    }
}

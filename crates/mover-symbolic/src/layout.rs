//! The state of a program as a vector of bit-vectors.
//!
//! A state has a cell for each cell of the global variables, for the lengths and messages of
//! the channels, for the location and the local variables of each thread, and one for the
//! thread that must run next, if any. Threads are created and exit, so they live in *slots*:
//! slot k is the thread with number k, and its location is 0 while there is none. The number of
//! slots follows from the program if its spawns are not in loops; otherwise it is a bound, and
//! the state has a sink for runs that would need more ([`Layout::is_exact`]). Dynamic objects
//! live in slots of the same kind.

use std::collections::BTreeSet;

use mover_engine::{EngineError, UpTo};
use mover_ir::expr::ChannelRef;
use mover_ir::graph::{control_flow, reaches};
use mover_ir::program::{ChannelDecl, Edge, Effect, LocationId, Program, SiteId, TemplateId};
use mover_ir::semantics::{Machine, State};
use mover_reduce::facts::points_to::PointsTo;

/// What a cell of the state is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Global {
        variable: usize,
        index: usize,
    },
    ChannelLen {
        channel: usize,
    },
    ChannelField {
        channel: usize,
        message: usize,
        field: usize,
    },
    Place {
        slot: usize,
    },
    Local {
        slot: usize,
        template: usize,
        variable: usize,
        index: usize,
    },
    Priority {
        slot: usize,
    },
    /// The site at which a dynamic object was made, plus 1; 0 if there is none.
    ObjectSite {
        object: usize,
    },
    ObjectSize {
        object: usize,
    },
    InObject {
        object: usize,
        index: usize,
    },
    Turn,
}

/// Where an object that has an address is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectHome {
    /// In a global variable.
    Global(usize),
    /// In a slot for dynamic objects.
    Dynamic,
    /// In cells of its own: the object that one step of an unrolling makes at this site.
    Made(SiteId),
}

/// An object that may live.
#[derive(Clone, Debug)]
pub struct ObjectLayout {
    /// Its number in addresses.
    pub number: u64,
    pub home: ObjectHome,
    pub cell_width: u8,
    pub first: usize,
    pub cells: usize,
    /// Of a dynamic object: the cell that tells whether it lives, and unless it is
    /// [`ObjectHome::Made`], at which site it was made.
    pub site: Option<usize>,
    /// The cell of its size, unless that is known.
    pub size: Option<usize>,
}

impl ObjectLayout {
    /// Bytes that it has room for.
    pub fn bytes(&self) -> u64 {
        self.cells as u64 * u64::from(self.cell_width / 8)
    }
}

/// How much of what a program makes at run time is encoded, where the program
/// itself sets no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Threads alive at a time.
    pub threads: usize,
    /// Dynamic objects alive at a time.
    pub objects: usize,
    /// Bytes of a dynamic object.
    pub bytes: u64,
    /// Whether the engines may take more if runs need it.
    pub may_grow: bool,
}

impl Bounds {
    /// The next larger bounds, if there are any to be tried.
    pub fn grown(self) -> Option<Bounds> {
        const MOST: usize = 16;
        (self.may_grow && self.threads < MOST).then(|| Bounds {
            threads: self.threads * 2,
            objects: self.objects * 2,
            bytes: self.bytes * 2,
            may_grow: true,
        })
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            threads: 4,
            objects: 4,
            bytes: 64,
            may_grow: true,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelOwner {
    Program,
    Thread { slot: usize, template: usize },
}

/// A channel that may exist.
#[derive(Clone, Debug)]
pub struct ChannelLayout {
    pub owner: ChannelOwner,
    /// The number that refers to it.
    pub handle: u64,
    pub decl: ChannelDecl,
    /// The cell of its length, then the fields of each message; nothing for a rendezvous.
    pub first: usize,
}

impl ChannelLayout {
    pub fn capacity(&self) -> usize {
        self.decl.capacity as usize
    }

    pub fn field(&self, message: usize, field: usize) -> usize {
        self.first + 1 + message * self.decl.fields.len() + field
    }
}

/// A template that can run in a slot.
#[derive(Clone, Debug)]
pub struct Resident {
    /// The place of the template's first location; the others follow.
    pub first_place: u64,
    /// The first cell of each local variable.
    pub locals: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Slot {
    pub place: usize,
    pub priority: Option<usize>,
    /// By template.
    pub residents: Vec<Option<Resident>>,
    /// Number of places; 0 is "no thread".
    pub places: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Every thread is between transactions.
    Anyone,
    /// The thread is in the middle of an atomic sequence and can move.
    Exclusive(usize),
    /// The thread is in a transaction that has not committed; the engine continues with it only.
    Uncommitted { slot: usize, took_lock: bool },
    /// The run has left what the bounds allow.
    Beyond,
}

pub struct Layout<'p> {
    pub program: &'p Program,
    pub cells: Vec<Cell>,
    pub widths: Vec<u8>,
    pub globals: Vec<usize>,
    pub channels: Vec<ChannelLayout>,
    pub slots: Vec<Slot>,
    pub turn: usize,
    /// Whether no run can need more threads than there are slots.
    pub has_all_threads: bool,
    /// Objects by ascending number.
    pub objects: Vec<ObjectLayout>,
    pub points_to: PointsTo<'p>,
}

/// More cells than this would make formulas that no solver takes.
const MOST_CELLS: usize = 50_000;

impl<'p> Layout<'p> {
    /// The bounds are for programs that make threads and objects without a visible bound.
    pub fn new(program: &'p Program, bounds: Bounds) -> Result<Self, EngineError> {
        Self::build(program, bounds, None)
    }

    /// The layout in which each dynamic object is made by one step alone, at the site given. It
    /// lives from the beginning: nobody has its address before that step.
    pub fn with_objects(
        program: &'p Program,
        bounds: Bounds,
        made: &[SiteId],
    ) -> Result<Self, EngineError> {
        Self::build(program, bounds, Some(made))
    }

    fn build(
        program: &'p Program,
        bounds: Bounds,
        made: Option<&[SiteId]>,
    ) -> Result<Self, EngineError> {
        refuse(program)?;
        let totals = totals(program);
        let limit = program.max_threads as usize;
        let highest = spawn_numbers(program).map(|all| all.into_iter().flatten().max());
        let (count, has_all_threads) = match (highest, totals.threads) {
            (Some(highest), _) => (highest.unwrap_or(0) + 1, true),
            (None, Some(most)) => (most.min(limit), true),
            (None, None) if limit <= bounds.threads => (limit, true),
            (None, None) => (bounds.threads.max(program.initial.len()), false),
        };
        let mut layout = Layout {
            program,
            cells: Vec::new(),
            widths: Vec::new(),
            globals: Vec::new(),
            channels: Vec::new(),
            slots: Vec::new(),
            turn: 0,
            has_all_threads,
            objects: Vec::new(),
            points_to: PointsTo::new(program),
        };
        for (number, variable) in program.globals.iter().enumerate() {
            layout.globals.push(layout.cells.len());
            for index in 0..variable.len as usize {
                let cell = Cell::Global {
                    variable: number,
                    index,
                };
                layout.push(cell, variable.ty.width)?;
            }
        }
        layout.global_objects();
        match made {
            Some(sites) => layout.made_objects(sites, bounds)?,
            None => layout.objects(totals.objects, bounds)?,
        }
        for (number, decl) in program.channels.iter().enumerate() {
            let handle = program.channel_handle(ChannelRef::Global(number as u32), 0);
            layout.channel(ChannelOwner::Program, handle, decl)?;
        }
        let spawned = spawned_templates(program);
        let numbers = spawn_numbers(program);
        let exits = program.effects().any(|effect| *effect == Effect::Exit);
        for slot in 0..count {
            layout.slot(slot, &spawned, exits, numbers.as_deref())?;
        }
        layout.turn = layout.cells.len();
        let values = layout.turn_value(Turn::Beyond) + 1;
        layout.push(Cell::Turn, bits_for(values))?;
        Ok(layout)
    }

    fn push(&mut self, cell: Cell, width: u8) -> Result<usize, EngineError> {
        if self.cells.len() >= MOST_CELLS {
            return unsupported(format!(
                "the program's state has more than {MOST_CELLS} cells, too many for a formula"
            ));
        }
        self.cells.push(cell);
        self.widths.push(width);
        Ok(self.cells.len() - 1)
    }

    fn global_objects(&mut self) {
        let program = self.program;
        for (variable, decl) in program.globals.iter().enumerate() {
            if decl.addressable {
                self.objects.push(ObjectLayout {
                    number: self.objects.len() as u64 + 1,
                    home: ObjectHome::Global(variable),
                    cell_width: decl.ty.width,
                    first: self.globals[variable],
                    cells: decl.len as usize,
                    site: None,
                    size: None,
                });
            }
        }
    }

    /// Sizes that are allocated, at one site or at all; none where one is not known.
    fn allocated_sizes(&self, of: Option<SiteId>) -> Vec<Option<u64>> {
        let effects = self.program.effects();
        let sizes = effects.filter_map(|effect| match effect {
            Effect::Allocate { site, size, .. } if of.is_none_or(|of| of == *site) => {
                Some(size.as_const())
            }
            _ => None,
        });
        sizes.collect()
    }

    /// Objects that are made by one step each. What is the same for all objects of a site needs
    /// no cell: their size, and that they live if none is ever freed.
    fn made_objects(&mut self, sites: &[SiteId], bounds: Bounds) -> Result<(), EngineError> {
        let program = self.program;
        let limit = program.pointers.max_object_size();
        let mut freed: BTreeSet<SiteId> = BTreeSet::new();
        for (template, body) in program.templates.iter().enumerate() {
            let edges = body.locations.iter().flat_map(|location| &location.edges);
            for effect in edges.flat_map(|edge| &edge.effects) {
                if let Effect::Free { address } = effect {
                    freed.extend(self.points_to.targets(template, address).sites);
                }
            }
        }
        for &made in sites {
            let object = self.objects.len();
            let number = object as u64 + 1;
            if number > program.pointers.last_dynamic_object() {
                return unsupported("the program makes more objects than there are numbers".into());
            }
            let cell_width = program.site(made).cell.width;
            let cell_bytes = u64::from(cell_width / 8);
            let sizes = self.allocated_sizes(Some(made));
            let largest = sizes.iter().flatten().filter(|size| **size <= limit).max();
            let largest = largest.copied().unwrap_or(0);
            let is_known = sizes.iter().all(|size| *size == Some(largest))
                && largest.is_multiple_of(cell_bytes);
            let bytes = match sizes.iter().all(Option::is_some) {
                true => largest,
                false => largest.max(bounds.bytes),
            };
            let site = match freed.contains(&made) {
                true => Some(self.push(Cell::ObjectSite { object }, 1)?),
                false => None,
            };
            let size = match is_known {
                true => None,
                false => Some(self.push(Cell::ObjectSize { object }, bits_for(bytes + 1))?),
            };
            let first = self.cells.len();
            let cells = bytes.div_ceil(cell_bytes) as usize;
            for index in 0..cells {
                self.push(Cell::InObject { object, index }, cell_width)?;
            }
            self.objects.push(ObjectLayout {
                number,
                home: ObjectHome::Made(made),
                cell_width,
                first,
                cells,
                site,
                size,
            });
        }
        Ok(())
    }

    fn objects(&mut self, most: Option<usize>, bounds: Bounds) -> Result<(), EngineError> {
        let program = self.program;
        let sizes = self.allocated_sizes(None);
        if sizes.is_empty() {
            return Ok(());
        }
        let limit = program.pointers.max_object_size();
        let known = sizes
            .iter()
            .flatten()
            .filter(|size| **size <= limit)
            .max()
            .copied();
        let bytes = if sizes.iter().all(Option::is_some) {
            known.unwrap_or(0)
        } else {
            known.unwrap_or(0).max(bounds.bytes)
        };
        let cell_width = match &program.sites[..] {
            [first, rest @ ..] if rest.iter().all(|site| site.cell.width == first.cell.width) => {
                first.cell.width
            }
            _ => 8,
        };
        let size_bits = bits_for(bytes + 1);
        for _ in 0..most.unwrap_or(bounds.objects) {
            let object = self.objects.len();
            let site = self.push(
                Cell::ObjectSite { object },
                bits_for(program.sites.len() as u64 + 1),
            )?;
            let size = self.push(Cell::ObjectSize { object }, size_bits)?;
            let first = self.cells.len();
            let cells = bytes.div_ceil(u64::from(cell_width / 8)) as usize;
            for index in 0..cells {
                self.push(Cell::InObject { object, index }, cell_width)?;
            }
            self.objects.push(ObjectLayout {
                number: object as u64 + 1,
                home: ObjectHome::Dynamic,
                cell_width,
                first,
                cells,
                site: Some(site),
                size: Some(size),
            });
        }
        Ok(())
    }

    fn dynamic_objects(&self) -> impl Iterator<Item = &ObjectLayout> {
        self.objects
            .iter()
            .filter(|object| !matches!(object.home, ObjectHome::Global(_)))
    }

    /// Whether it is clear that no run can leave what is encoded. Numbers that cells
    /// mention are not given to new objects, so of objects this is never clear.
    pub fn is_exact(&self) -> bool {
        self.has_all_threads && self.dynamic_objects().next().is_none()
    }

    /// What is encoded, in words, where runs may need more.
    pub fn bounds(&self) -> Vec<UpTo> {
        let mut bounds = Vec::new();
        if !self.has_all_threads {
            bounds.push(UpTo::Threads(self.slots.len()));
        }
        if let Some(object) = self.dynamic_objects().next() {
            let count = self.dynamic_objects().count();
            bounds.push(UpTo::Objects {
                count,
                bytes: object.bytes(),
            });
        }
        bounds
    }

    /// Whether a cell as wide as a pointer counts as one by itself; cells of
    /// objects count by groups of bytes.
    pub fn counts_alone(&self, cell: usize) -> bool {
        match self.cells[cell] {
            Cell::Global { variable, .. } => !self.program.globals[variable].addressable,
            Cell::Local { .. } | Cell::ChannelField { .. } => true,
            _ => false,
        }
    }

    fn channel(
        &mut self,
        owner: ChannelOwner,
        handle: u64,
        decl: &ChannelDecl,
    ) -> Result<(), EngineError> {
        let channel = self.channels.len();
        let first = self.cells.len();
        if decl.capacity > 0 {
            let length = bits_for(u64::from(decl.capacity) + 1);
            self.push(Cell::ChannelLen { channel }, length)?;
            for message in 0..decl.capacity as usize {
                for (field, ty) in decl.fields.iter().enumerate() {
                    let cell = Cell::ChannelField {
                        channel,
                        message,
                        field,
                    };
                    self.push(cell, ty.ty.width)?;
                }
            }
        }
        self.channels.push(ChannelLayout {
            owner,
            handle,
            decl: decl.clone(),
            first,
        });
        Ok(())
    }

    fn slot(
        &mut self,
        slot: usize,
        spawned: &[bool],
        exits: bool,
        numbers: Option<&[Vec<usize>]>,
    ) -> Result<(), EngineError> {
        let program = self.program;
        let initial = program.initial.get(slot).map(|i| i.template.index());
        // A thread that is there from the start makes room for others only by going.
        let can_hold = |template: usize| {
            initial == Some(template)
                || spawned[template]
                    && (initial.is_none() || exits)
                    && numbers.is_none_or(|numbers| numbers[template].contains(&slot))
        };
        let mut residents = Vec::new();
        let mut places = 1;
        for template in 0..program.templates.len() {
            let resident = can_hold(template).then(|| Resident {
                first_place: places,
                locals: Vec::new(),
            });
            if resident.is_some() {
                places += program.templates[template].locations.len() as u64;
            }
            residents.push(resident);
        }
        let place = self.push(Cell::Place { slot }, bits_for(places))?;
        for (template, resident) in residents.iter_mut().enumerate() {
            let Some(resident) = resident else { continue };
            let body = &program.templates[template];
            for (variable, local) in body.locals.iter().enumerate() {
                resident.locals.push(self.cells.len());
                for index in 0..local.len as usize {
                    let cell = Cell::Local {
                        slot,
                        template,
                        variable,
                        index,
                    };
                    self.push(cell, local.ty.width)?;
                }
            }
            for (number, decl) in body.channels.iter().enumerate() {
                let handle = program.channel_handle(ChannelRef::Local(number as u32), slot);
                self.channel(ChannelOwner::Thread { slot, template }, handle, decl)?;
            }
        }
        let priority = if program.uses_priorities() {
            Some(self.push(Cell::Priority { slot }, 8)?)
        } else {
            None
        };
        self.slots.push(Slot {
            place,
            priority,
            residents,
            places,
        });
        Ok(())
    }

    pub fn turn_value(&self, turn: Turn) -> u64 {
        let slots = self.slots.len() as u64;
        match turn {
            Turn::Anyone => 0,
            Turn::Exclusive(slot) => 1 + slot as u64,
            Turn::Uncommitted { slot, took_lock } => {
                1 + slots + slot as u64 + if took_lock { slots } else { 0 }
            }
            Turn::Beyond => 1 + 3 * slots,
        }
    }

    pub fn place_value(&self, slot: usize, template: usize, location: LocationId) -> Option<u64> {
        let resident = self.slots[slot].residents[template].as_ref()?;
        Some(resident.first_place + u64::from(location.0))
    }

    /// Who stands where in a slot whose place has this value.
    pub fn standing(&self, slot: usize, place: u64) -> Option<(TemplateId, LocationId)> {
        let residents = self.slots[slot].residents.iter().enumerate();
        residents
            .filter_map(|(template, resident)| Some((template, resident.as_ref()?)))
            .find_map(|(template, resident)| {
                let location = place.checked_sub(resident.first_place)?;
                let count = self.program.templates[template].locations.len() as u64;
                (location < count)
                    .then_some((TemplateId(template as u32), LocationId(location as u32)))
            })
    }

    /// The same for people: `worker:4 (line 12)`.
    pub fn describe_place(&self, slot: usize, place: u64) -> String {
        let Some((template, location)) = self.standing(slot, place) else {
            return "no place".into();
        };
        let body = self.program.template(template);
        let line = body.location(location).span.map(|span| {
            let line = self.program.info.sources.locate(span).line;
            format!(" (line {line})")
        });
        let (name, number) = (&body.name, location.index());
        format!("{name}:{number}{}", line.unwrap_or_default())
    }

    /// The cells of the initial state.
    pub fn initial(&self) -> Vec<u64> {
        let mut cells = self.encode(&Machine::new(self.program).initial());
        for object in &self.objects {
            if let (ObjectHome::Made(_), Some(lives)) = (object.home, object.site) {
                cells[lives] = 1;
            }
        }
        cells
    }

    /// A concrete state as values of the cells.
    pub fn encode(&self, state: &State) -> Vec<u64> {
        let thread = |slot: usize| state.threads.get(slot).and_then(Option::as_ref);
        let buffer = |channel: usize| {
            let layout = &self.channels[channel];
            let first = self.channels[..channel]
                .iter()
                .filter(|other| other.owner == layout.owner)
                .count();
            match layout.owner {
                ChannelOwner::Program => state.channels.get(first),
                ChannelOwner::Thread { slot, template } => thread(slot)
                    .filter(|thread| thread.template.index() == template)
                    .and_then(|thread| thread.channels.get(first)),
            }
        };
        let globals = self.program.addressable_globals() as usize;
        let object = |number: usize| {
            let slot = number.checked_sub(globals)?;
            state.heap.get(slot)?.as_ref()
        };
        let mut local_offset = 0;
        let mut last_local = None;
        self.cells
            .iter()
            .map(|&cell| match cell {
                Cell::Global { variable, index } => state.globals[self.globals[variable] + index],
                Cell::ChannelLen { channel } => buffer(channel).map_or(0, |b| b.len() as u64),
                Cell::ChannelField {
                    channel,
                    message,
                    field,
                } => buffer(channel)
                    .and_then(|buffer| buffer.get(message))
                    .map_or(0, |message| message[field]),
                Cell::Place { slot } => thread(slot)
                    .and_then(|t| self.place_value(slot, t.template.index(), t.location))
                    .unwrap_or(0),
                Cell::Local { slot, template, .. } => {
                    if last_local != Some((slot, template)) {
                        last_local = Some((slot, template));
                        local_offset = 0;
                    }
                    local_offset += 1;
                    thread(slot)
                        .filter(|thread| thread.template.index() == template)
                        .map_or(0, |thread| thread.locals[local_offset - 1])
                }
                Cell::Priority { slot } => thread(slot).map_or(0, |t| t.priority.into()),
                Cell::ObjectSite { object: number } => {
                    object(number).map_or(0, |object| u64::from(object.site.0) + 1)
                }
                Cell::ObjectSize { object: number } => object(number).map_or(0, |o| o.size),
                Cell::InObject {
                    object: number,
                    index,
                } => object(number).map_or(0, |object| {
                    let from = self.program.site(object.site).cell.width;
                    cell_of(&object.cells, from, self.objects[number].cell_width, index)
                }),
                Cell::Turn => match state.exclusive {
                    Some(slot) => self.turn_value(Turn::Exclusive(slot)),
                    None => 0,
                },
            })
            .collect()
    }

    /// A cell in the words of the source.
    pub fn name(&self, cell: usize) -> String {
        let program = self.program;
        let element = |name: &str, is_array: bool, index: usize| {
            if is_array {
                format!("{name}[{index}]")
            } else {
                name.to_string()
            }
        };
        let thread =
            |slot: usize, template: usize| format!("{}[{slot}]", program.templates[template].name);
        let channel = |number: usize| {
            let layout: &ChannelLayout = &self.channels[number];
            match layout.owner {
                ChannelOwner::Program => layout.decl.name.clone(),
                ChannelOwner::Thread { slot, template } => {
                    format!("{}:{}", thread(slot, template), layout.decl.name)
                }
            }
        };
        match self.cells[cell] {
            Cell::Global { variable, index } => {
                let decl = &program.globals[variable];
                element(&decl.name, decl.is_array, index)
            }
            Cell::ChannelLen { channel: c } => format!("len({})", channel(c)),
            Cell::ChannelField {
                channel: c,
                message,
                field,
            } => {
                format!("{}[{message}].{field}", channel(c))
            }
            Cell::Place { slot } => format!("thread {slot}"),
            Cell::Local {
                slot,
                template,
                variable,
                index,
            } => {
                let decl = &program.templates[template].locals[variable];
                let name = element(&decl.name, decl.is_array, index);
                format!("{}:{name}", thread(slot, template))
            }
            Cell::Priority { slot } => format!("priority of thread {slot}"),
            Cell::ObjectSite { object } => format!("site of object {}", object + 1),
            Cell::ObjectSize { object } => format!("size of object {}", object + 1),
            Cell::InObject { object, index } => {
                let bytes = usize::from(self.objects[object].cell_width / 8);
                format!("object {}+{}", object + 1, index * bytes)
            }
            Cell::Turn => "turn".into(),
        }
    }
}

/// What the encoding does not cover is an error that says so.
/// The program cannot be encoded; why.
fn unsupported<T>(reason: String) -> Result<T, EngineError> {
    Err(EngineError::Unsupported(reason))
}

fn refuse(program: &Program) -> Result<(), EngineError> {
    let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    for template in &program.templates {
        for edge in template
            .locations
            .iter()
            .flat_map(|location| &location.edges)
        {
            let operates = edge.effects.iter().any(Effect::is_channel_operation);
            if operates && edge.effects.iter().any(spawns) {
                return unsupported(format!(
                    "`{}` sends or receives and starts a thread in one step",
                    edge.text
                ));
            }
        }
    }
    Ok(())
}

/// Bits that can tell so many values apart.
pub fn bits_for(values: u64) -> u8 {
    (64 - values.saturating_sub(1).leading_zeros()).max(1) as u8
}

/// A cell of one width out of a row of cells of another.
fn cell_of(cells: &[u64], from: u8, to: u8, index: usize) -> u64 {
    if from == to {
        return cells.get(index).copied().unwrap_or(0);
    }
    let (from, to) = (usize::from(from / 8), usize::from(to / 8));
    (0..to).fold(0, |value, byte| {
        let offset = index * to + byte;
        let cell = cells.get(offset / from).copied().unwrap_or(0);
        value | (cell >> (offset % from * 8) & 0xFF) << (byte * 8)
    })
}

fn spawned_templates(program: &Program) -> Vec<bool> {
    let mut spawned = vec![false; program.templates.len()];
    for effect in program.effects() {
        if let Effect::Spawn { template, .. } = effect {
            spawned[template.index()] = true;
        }
    }
    spawned
}

/// By template the numbers that its threads can have, where only the first thread starts
/// others, none of them of its own template, each of its places has so many starts after it,
/// and no thread ends.
fn spawn_numbers(program: &Program) -> Option<Vec<Vec<usize>>> {
    const MOST: usize = 64;
    let [first] = &program.initial[..] else {
        return None;
    };
    let body = program.template(first.template);
    let starts = |edge: &Edge| -> Vec<TemplateId> {
        let effects = edge.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Spawn { template, .. } => Some(*template),
                _ => None,
            })
            .collect()
    };
    let others = program.templates.iter().enumerate();
    let others = others.filter(|(number, _)| *number != first.template.index());
    let mut edges = others.flat_map(|(_, t)| t.locations.iter().flat_map(|l| &l.edges));
    let starts_its_like = |effect: &Effect| matches!(effect, Effect::Spawn { template, .. } if *template == first.template);
    if program
        .effects()
        .any(|effect| *effect == Effect::Exit || starts_its_like(effect))
        || edges.any(|edge| !starts(edge).is_empty())
    {
        return None;
    }
    // How many threads there may be at each location.
    let mut counts: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); body.locations.len()];
    let mut numbers = vec![Vec::new(); program.templates.len()];
    let mut work = vec![(body.entry, 1)];
    while let Some((location, count)) = work.pop() {
        if !counts[location.index()].insert(count) {
            continue;
        }
        if count > MOST {
            return None;
        }
        for edge in &body.location(location).edges {
            let started = starts(edge);
            for (position, template) in started.iter().enumerate() {
                numbers[template.index()].push(count + position);
            }
            work.push((edge.target, count + started.len()));
        }
    }
    Some(numbers)
}

/// How many threads and objects can be made in all; none if without bound.
struct Totals {
    threads: Option<usize>,
    objects: Option<usize>,
}

/// Counts spawns and allocations that happen at most once in their thread.
fn totals(program: &Program) -> Totals {
    let templates = program.templates.len();
    // How often a thread of a template spawns each template and allocates; none if without bound.
    let mut spawns: Vec<Vec<Option<usize>>> = vec![vec![Some(0); templates]; templates];
    let mut allocates: Vec<Option<usize>> = vec![Some(0); templates];
    for (number, template) in program.templates.iter().enumerate() {
        let reach = reaches(&control_flow(template));
        for (from, location) in template.locations.iter().enumerate() {
            for edge in &location.edges {
                let repeats = reach[edge.target.index()].contains(from);
                for effect in &edge.effects {
                    let count = match effect {
                        Effect::Spawn { template: made, .. } => &mut spawns[number][made.index()],
                        Effect::Allocate { .. } => &mut allocates[number],
                        _ => continue,
                    };
                    *count = if repeats { None } else { count.map(|n| n + 1) };
                }
            }
        }
    }
    let made = made_threads(program, &spawns);
    let objects = made.as_ref().and_then(|made| {
        let mut total = 0usize;
        for (count, each) in made.iter().zip(&allocates) {
            if *count > 0 {
                total = total.checked_add(count.checked_mul((*each)?)?)?;
            }
        }
        Some(total)
    });
    Totals {
        threads: made.map(|made| made.iter().sum()),
        objects,
    }
}

/// How many threads of each template there are in all.
fn made_threads(program: &Program, spawns: &[Vec<Option<usize>>]) -> Option<Vec<usize>> {
    let templates = program.templates.len();
    let mut made = vec![0usize; templates];
    for instance in &program.initial {
        made[instance.template.index()] += 1;
    }
    let mut total = made.clone();
    // Each round follows the spawns by one generation; a chain longer than the
    // templates repeats one of them.
    for _ in 0..=templates {
        let mut next = vec![0usize; templates];
        for (by, &count) in made.iter().enumerate().filter(|(_, count)| **count > 0) {
            for (template, times) in spawns[by].iter().enumerate() {
                next[template] = next[template].checked_add(count.checked_mul((*times)?)?)?;
            }
        }
        if next.iter().all(|&count| count == 0) {
            return Some(total);
        }
        for (total, next) in total.iter_mut().zip(&next) {
            *total = total.checked_add(*next)?;
        }
        made = next;
    }
    None
}

//! The state of a program as a row of bit-vectors.
//!
//! A state has a cell for each cell of the global variables, for the lengths and
//! messages of the channels, for the place and the local variables of each thread,
//! and one that says whose turn it is. Threads come and go, so they live in
//! *slots*: slot k is the thread with number k, and its place is 0 while there is
//! none. How many slots there are follows from the program if its spawns are not
//! in loops; otherwise it is a bound, and the state has a sink for runs that would
//! need more ([`Layout::is_exact`]).

use mover_ir::expr::{ChannelRef, Expr};
use mover_ir::program::{ChannelDecl, Effect, LocationId, Program, TemplateId};
use mover_ir::semantics::{Machine, State};

/// What a cell of the state is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Global { variable: usize, index: usize },
    ChannelLen { channel: usize },
    ChannelField { channel: usize, message: usize, field: usize },
    Place { slot: usize },
    Local { slot: usize, template: usize, variable: usize, index: usize },
    Priority { slot: usize },
    Turn,
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
    /// The thread is in a transaction that has not committed; the engine goes on with it only.
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
    pub is_exact: bool,
}

/// More cells than this would make formulas that no solver takes.
const MOST_CELLS: usize = 50_000;

impl<'p> Layout<'p> {
    /// `threads` bounds the threads of programs that spawn without a visible bound.
    pub fn new(program: &'p Program, threads: usize) -> Result<Self, String> {
        refuse(program)?;
        let most = most_threads(program);
        let limit = program.max_threads as usize;
        let (count, is_exact) = match most {
            Some(most) => (most.min(limit), true),
            None if limit <= threads => (limit, true),
            None => (threads.max(program.initial.len()), false),
        };
        let mut layout = Layout {
            program,
            cells: Vec::new(),
            widths: Vec::new(),
            globals: Vec::new(),
            channels: Vec::new(),
            slots: Vec::new(),
            turn: 0,
            is_exact,
        };
        for (number, variable) in program.globals.iter().enumerate() {
            layout.globals.push(layout.cells.len());
            for index in 0..variable.len as usize {
                let cell = Cell::Global { variable: number, index };
                layout.push(cell, variable.ty.width)?;
            }
        }
        for (number, decl) in program.channels.iter().enumerate() {
            let handle = program.channel_handle(ChannelRef::Global(number as u32), 0);
            layout.channel(ChannelOwner::Program, handle, decl)?;
        }
        let spawned = spawned_templates(program);
        let exits = program.effects().any(|effect| *effect == Effect::Exit);
        for slot in 0..count {
            layout.slot(slot, &spawned, exits)?;
        }
        layout.turn = layout.cells.len();
        let values = layout.turn_value(Turn::Beyond) + 1;
        layout.push(Cell::Turn, bits_for(values))?;
        Ok(layout)
    }

    fn push(&mut self, cell: Cell, width: u8) -> Result<usize, String> {
        if self.cells.len() >= MOST_CELLS {
            return Err(format!(
                "the program's state has more than {MOST_CELLS} cells, too many for a formula"
            ));
        }
        self.cells.push(cell);
        self.widths.push(width);
        Ok(self.cells.len() - 1)
    }

    fn channel(&mut self, owner: ChannelOwner, handle: u64, decl: &ChannelDecl) -> Result<(), String> {
        let channel = self.channels.len();
        let first = self.cells.len();
        if decl.capacity > 0 {
            let length = bits_for(u64::from(decl.capacity) + 1);
            self.push(Cell::ChannelLen { channel }, length)?;
            for message in 0..decl.capacity as usize {
                for (field, ty) in decl.fields.iter().enumerate() {
                    let cell = Cell::ChannelField { channel, message, field };
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

    fn slot(&mut self, slot: usize, spawned: &[bool], exits: bool) -> Result<(), String> {
        let program = self.program;
        let initial = program.initial.get(slot).map(|i| i.template.index());
        // A thread that is there from the start makes room for others only by going.
        let can_hold = |template: usize| {
            initial == Some(template) || spawned[template] && (initial.is_none() || exits)
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
                    let cell = Cell::Local { slot, template, variable, index };
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

    /// The cells of the initial state.
    pub fn initial(&self) -> Vec<u64> {
        self.encode(&Machine::new(self.program).initial())
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
        let mut local_offset = 0;
        let mut last_local = None;
        self.cells
            .iter()
            .map(|&cell| match cell {
                Cell::Global { variable, index } => state.globals[self.globals[variable] + index],
                Cell::ChannelLen { channel } => buffer(channel).map_or(0, |b| b.len() as u64),
                Cell::ChannelField { channel, message, field } => buffer(channel)
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
        let thread = |slot: usize, template: usize| {
            format!("{}[{slot}]", program.templates[template].name)
        };
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
            Cell::ChannelField { channel: c, message, field } => {
                format!("{}[{message}].{field}", channel(c))
            }
            Cell::Place { slot } => format!("thread {slot}"),
            Cell::Local { slot, template, variable, index } => {
                let decl = &program.templates[template].locals[variable];
                let name = element(&decl.name, decl.is_array, index);
                format!("{}:{name}", thread(slot, template))
            }
            Cell::Priority { slot } => format!("priority of thread {slot}"),
            Cell::Turn => "turn".into(),
        }
    }
}

/// What the encoding does not cover is an error that says so.
fn refuse(program: &Program) -> Result<(), String> {
    let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    for template in &program.templates {
        for edge in template.locations.iter().flat_map(|location| &location.edges) {
            let operates = edge.effects.iter().any(Effect::is_channel_operation);
            if operates && edge.effects.iter().any(spawns) {
                return Err(format!(
                    "`{}` sends or receives and starts a thread in one step",
                    edge.text
                ));
            }
        }
    }
    let addresses = |effect: &Effect| {
        matches!(
            effect,
            Effect::Store { .. } | Effect::Allocate { .. } | Effect::Free { .. }
        )
    };
    let looks = |expr: &Expr| {
        matches!(
            expr,
            Expr::Load { .. } | Expr::ObjectSize(_) | Expr::ObjectSite { .. }
        )
    };
    if program.effects().any(addresses) || program.any_expr(looks) {
        return Err("memory with addresses is not part of the symbolic engines yet".into());
    }
    Ok(())
}

/// Bits that can tell so many values apart.
pub fn bits_for(values: u64) -> u8 {
    (64 - values.saturating_sub(1).leading_zeros()).max(1) as u8
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

/// How many threads can be made in all, if each spawn happens at most once in its thread.
fn most_threads(program: &Program) -> Option<usize> {
    let templates = program.templates.len();
    // How often a thread of a template spawns each template; none if without bound.
    let mut spawns: Vec<Vec<Option<usize>>> = vec![vec![Some(0); templates]; templates];
    for (number, template) in program.templates.iter().enumerate() {
        let reach = mover_reduce::feedback::reaches(template);
        for (from, location) in template.locations.iter().enumerate() {
            for edge in &location.edges {
                for effect in &edge.effects {
                    if let Effect::Spawn { template: made, .. } = effect {
                        let repeats = reach[edge.target.index()].contains(from);
                        let count = &mut spawns[number][made.index()];
                        *count = if repeats { None } else { count.map(|n| n + 1) };
                    }
                }
            }
        }
    }
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
            return Some(total.iter().sum());
        }
        for (total, next) in total.iter_mut().zip(&next) {
            *total = total.checked_add(*next)?;
        }
        made = next;
    }
    None
}

//! Steps on packed states.
//!
//! This is the second implementation of `mover_ir::semantics`, optimised for speed: a state is
//! changed in place and restored, nothing is allocated for a step, and edges are sorted by
//! priority so that the rule "only the highest enabled priority" is a loop that ends early.
//! Tests compare both implementations.
//!
//! Every write goes through [`Workspace::write`], which records the old lane. The list of
//! recorded lanes serves both to undo the step and to tell the store which lanes have changed.

mod effects;
mod portable;
mod renaming;
mod step_cache;

use mover_engine::EngineError;
use mover_ir::expr::{Expr, resize};
use mover_ir::program::{BoundMet, Init, LocationId, Program, Property, TemplateId};
use mover_ir::semantics;
use mover_reduce::Movers;
use mover_reduce::facts::access::EdgeRef;

use crate::classify::PhaseTables;
use crate::code::{Code, CodeArg, Compiler, Target, View};
use crate::compile::{compile_image, compile_location};
use crate::guards::{Decision, walk};
use crate::layout::{Cell, Layout};
use crate::memory::{Memory, Mentions};
use crate::objects;
use crate::races::CompiledAccess;
use crate::search::RunTime;

pub use step_cache::{Reads, StepCache};

/// One step: an edge of a thread and, for a rendezvous, one of its partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    thread: u16,
    /// Position among the compiled edges of the location.
    edge: u16,
    partner: Option<(u16, u16)>,
    /// The value that its havoc takes.
    choice: u16,
    pub moves: Moves,
}

impl Step {
    /// Position among the compiled edges of its location.
    pub fn edge(self) -> usize {
        self.edge as usize
    }

    pub fn thread(self) -> usize {
        self.thread as usize
    }

    /// The receiver of a rendezvous and the position of its edge.
    pub fn partner(self) -> Option<(usize, usize)> {
        let (thread, edge) = self.partner?;
        Some((thread as usize, edge as usize))
    }

    /// Whether a thread takes it, or takes part in it.
    pub fn involves(self, thread: usize) -> bool {
        let is = |other: u16| usize::from(other) == thread;
        is(self.thread) || self.partner.is_some_and(|(partner, _)| is(partner))
    }
}

/// How a step commutes with what other threads do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moves {
    pub left: bool,
    pub right: bool,
    pub takes_lock: bool,
    pub releases_lock: bool,
}

impl Moves {
    /// A step that commutes with nothing, as far as is known.
    pub const NONE: Moves = Moves {
        left: false,
        right: false,
        takes_lock: false,
        releases_lock: false,
    };

    /// Nothing at all has been done yet.
    pub const START: Moves = Moves {
        left: true,
        right: true,
        takes_lock: false,
        releases_lock: false,
    };

    /// The mover class of two consecutive steps of a thread as one step.
    pub fn then(self, next: Moves) -> Moves {
        Moves {
            left: self.left && next.left,
            right: self.right && next.right,
            takes_lock: self.takes_lock || next.takes_lock,
            releases_lock: self.releases_lock || next.releases_lock,
        }
    }
}

/// What a reduction needs to know about a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Some edge here is not a left mover, or there is none.
    pub ends_transaction: bool,
    /// A thread here can be the receiver of a rendezvous.
    pub is_met: bool,
    /// A lock is taken here.
    pub takes_lock: bool,
    /// A thread here has a lock for certain.
    pub has_lock: bool,
}

#[derive(Debug)]
pub enum Operation {
    /// Enabled by its guard alone.
    Plain,
    Send {
        channel: Code,
        values: Vec<(Code, u8)>,
        sorted: bool,
    },
    Receive {
        channel: Code,
        args: Vec<CodeArg>,
        random: bool,
        peek: bool,
    },
}

#[derive(Debug)]
pub enum Action {
    Assign(Target, Code),
    Spawn {
        template: usize,
        args: Vec<Code>,
        priority: u8,
        result: Option<Target>,
    },
    Exit,
    SetPriority {
        thread: Code,
        priority: Code,
    },
    /// So many bytes at an address.
    Store {
        address: Code,
        value: Code,
        bytes: u8,
    },
    Havoc(Target),
    Allocate {
        site: u32,
        /// Which freed address comes back; 0 if none does.
        reuse: u32,
        size: Code,
        result: Target,
        /// The statement, as the beginning of a sentence about it.
        whereabouts: String,
    },
    Free(Code),
}

/// Maximum number of choices that one edge may have.
pub const MAX_CHOICES: u16 = 4096;

/// How many choices are still tried where there are too many again: first so many, so often, and then one.
/// The search is about to end; in an atomic sequence all of them together must not take for ever.
const FURTHER_CHOICES: u16 = 16;
const FURTHER_TIMES: usize = 64;

/// How many steps an edge is.
#[derive(Debug)]
pub enum Choices {
    /// One.
    None,
    All(u16),
    /// More than can be taken one by one, and what to say then.
    TooMany(String),
}

#[derive(Debug)]
pub struct CompiledEdge {
    pub priority: i32,
    pub guard: Code,
    pub operation: Operation,
    pub actions: Vec<Action>,
    pub spawns: bool,
    pub choices: Choices,
    pub moves: Moves,
    pub target_pc: u64,
    /// Position in the location's list of the IR.
    pub original: usize,
}

#[derive(Debug)]
pub struct CompiledLocation {
    /// Highest priority first, else in the order of the IR.
    pub edges: Vec<CompiledEdge>,
    /// The guards of the edges of each priority, highest first.
    pub decisions: Vec<Vec<Decision>>,
    pub receives: bool,
    pub atomic: bool,
    pub valid_end: bool,
    /// What a thread may be about to access here, for data races.
    pub accesses: Vec<CompiledAccess>,
    pub place: Place,
    /// Set if the run ends here.
    pub run_end: Option<RunEnd>,
    /// What its enabled edges can be remembered by.
    pub reads: Option<Reads>,
}

/// A location where the whole run ends, an error or a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunEnd {
    /// What the error violates; none at a bound.
    pub violates: Option<Property>,
    pub template: TemplateId,
    pub location: LocationId,
    /// Where a search that continues after errors resumes.
    pub resume_pc: Option<u64>,
}

impl RunEnd {
    pub fn bound_met(self) -> BoundMet {
        BoundMet {
            template: self.template,
            location: self.location,
        }
    }
}

/// What a new thread's slot holds.
#[derive(Debug)]
pub struct Image {
    pub lanes: Vec<u64>,
    pub params: Vec<Cell>,
    /// Cells that refer to the thread's own channels.
    pub own_channels: Vec<(Cell, u32)>,
}

/// A program made ready for packed states.
pub struct Machine {
    layout: Layout,
    memory: Memory,
    mentions: Mentions,
    /// By program counter; 0 is no location.
    locations: Vec<CompiledLocation>,
    images: Vec<Image>,
    initial: Vec<u64>,
    channels_per_thread: usize,
    max_threads: usize,
    uses_timeout: bool,
    priority_scheduling: bool,
    pointer_width: u8,
}

/// The lanes of one state, changed in place, with the way back.
#[derive(Default)]
pub struct Workspace {
    pub lanes: Vec<u64>,
    undo: Vec<(u32, u64)>,
    message: Vec<u64>,
    /// The words of an object, or the objects that are mentioned.
    object: Vec<u64>,
}

impl Workspace {
    pub fn zeros(lanes: usize) -> Self {
        Workspace {
            lanes: vec![0; lanes],
            ..Workspace::default()
        }
    }

    #[inline]
    pub fn write(&mut self, base: usize, cell: Cell, value: u64) {
        let lane = base + cell.lane as usize;
        let old = self.lanes[lane];
        let new = cell.put(old, value);
        if new != old {
            self.undo.push((lane as u32, old));
            self.lanes[lane] = new;
        }
    }

    fn write_lane(&mut self, lane: usize, value: u64) {
        let old = self.lanes[lane];
        if value != old {
            self.undo.push((lane as u32, old));
            self.lanes[lane] = value;
        }
    }

    /// Makes the present state the one that nothing goes back from.
    pub fn forget(&mut self) {
        self.undo.clear();
    }

    /// A point to go back to.
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    pub fn back_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            if let Some((lane, old)) = self.undo.pop() {
                self.lanes[lane as usize] = old;
            }
        }
    }

    /// The lanes written since the workspace was loaded; some more than once.
    pub fn dirty(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.undo.iter().map(|&(lane, _)| lane as usize)
    }
}

/// Maximum number of lanes that a state may have: half a mebibyte.
pub const MAX_LANES: usize = 1 << 16;

/// The program does not fit explicit search; why.
fn unsupported<T>(reason: String) -> Result<T, EngineError> {
    Err(EngineError::Unsupported(reason))
}

impl Machine {
    /// The program must be valid. Fails if a state would be too large.
    pub fn new(program: &Program) -> Result<Machine, EngineError> {
        Machine::compile(program, None)
    }

    /// The machine of a program with fused atomic sequences, which knows its movers.
    pub fn with_movers(movers: &Movers) -> Result<Machine, EngineError> {
        Machine::compile(&movers.fused.program, Some(movers))
    }

    fn compile(program: &Program, movers: Option<&Movers>) -> Result<Machine, EngineError> {
        let layout = Layout::new(program);
        let lanes = layout.lanes(program.initial.len());
        if lanes > MAX_LANES {
            return unsupported(format!(
                "a state takes {} KiB, more than the {} KiB that explicit search supports",
                lanes / 128,
                MAX_LANES / 128
            ));
        }
        let most = usize::from(u16::MAX);
        let too_many_edges = program
            .templates
            .iter()
            .flat_map(|template| &template.locations)
            .any(|location| location.edges.len() > most);
        if too_many_edges || program.max_threads as usize > most {
            return unsupported(format!(
                "explicit search supports at most {most} threads and {most} choices at a place"
            ));
        }
        let memory = Memory::new(program, &layout);
        let mut compiler = Compiler::new(program, &layout, &memory);
        let mut locations = vec![CompiledLocation {
            edges: Vec::new(),
            decisions: Vec::new(),
            receives: false,
            atomic: false,
            valid_end: true,
            accesses: Vec::new(),
            place: Place {
                ends_transaction: true,
                is_met: false,
                takes_lock: false,
                has_lock: false,
            },
            run_end: None,
            reads: None,
        }];
        let mut images = Vec::new();
        for (number, template) in program.templates.iter().enumerate() {
            compiler.template = number;
            let id = TemplateId(number as u32);
            for location in 0..template.locations.len() {
                let location = LocationId(location as u32);
                locations.push(compile_location(&compiler, movers, id, location));
            }
            images.push(compile_image(program, &layout, id));
        }
        let mut machine = Machine {
            locations,
            images,
            initial: Vec::new(),
            channels_per_thread: program.channels_per_thread() as usize,
            max_threads: program.max_threads as usize,
            uses_timeout: program.uses_timeout(),
            priority_scheduling: program.priority_scheduling,
            pointer_width: program.pointers.width,
            mentions: Mentions::new(program, &layout),
            memory,
            layout,
        };
        machine.initial = machine.initial_lanes(program);
        Ok(machine)
    }

    /// What run-time classification needs, for the program this machine was made of.
    pub(crate) fn phase_tables(&self, program: &Program, run_time: RunTime) -> PhaseTables {
        let RunTime { facts, plan } = run_time;
        let locations = &self.locations;
        PhaseTables::new(program, &self.layout, &self.memory, facts, plan, locations)
    }

    fn initial_lanes(&self, program: &Program) -> Vec<u64> {
        let mut work = Workspace::zeros(self.layout.slots_start);
        for (variable, row) in program.globals.iter().zip(&self.layout.globals) {
            for index in 0..u64::from(variable.len) {
                let value = match &variable.init {
                    Init::All(value) => *value,
                    Init::Cells(values) => values[index as usize],
                    Init::Channels(channels) => program.channel_handle(channels[index as usize], 0),
                };
                if let Some(cell) = row.cell(index) {
                    work.write(0, cell, value);
                }
            }
        }
        for instance in &program.initial {
            let template = instance.template.index();
            self.start(&mut work, template, &instance.args, instance.priority);
        }
        work.lanes
    }

    /// Why not everything was explored, if something was met that cannot be.
    pub fn refusal(&self) -> Option<&str> {
        self.memory.refusal()
    }

    /// Bytes taken by what dynamic objects hold.
    pub fn object_bytes(&self) -> usize {
        self.memory.objects.bytes()
    }

    /// What dynamic objects hold, for checkpoints.
    pub fn objects(&self) -> &objects::Objects {
        &self.memory.objects
    }

    pub fn initial(&self) -> &[u64] {
        &self.initial
    }

    pub fn view<'a>(&self, lanes: &'a [u64], thread: usize, timeout: bool) -> View<'a, '_> {
        View {
            layout: &self.layout,
            memory: &self.memory,
            channels_per_thread: self.channels_per_thread,
            lanes,
            thread,
            slot: self.layout.slot(thread),
            timeout,
        }
    }

    /// Expressions of the program that this machine was made of, ready to be evaluated.
    pub fn compile_exprs(&self, program: &Program, exprs: &[&Expr]) -> Vec<Code> {
        let compiler = Compiler::new(program, &self.layout, &self.memory);
        exprs.iter().map(|expr| compiler.expr(expr)).collect()
    }

    /// The same for an expression of a template, which may read variables of the executing thread.
    pub fn compile_expr_of(&self, program: &Program, template: TemplateId, expr: &Expr) -> Code {
        let mut compiler = Compiler::new(program, &self.layout, &self.memory);
        compiler.template = template.index();
        compiler.expr(expr)
    }

    /// Whether a channel is one of the program's own, which exist all the time.
    pub fn is_global_channel(&self, handle: u64) -> bool {
        (1..=self.layout.channels.len() as u64).contains(&handle)
    }

    /// How many program counters there are, with 0 for no location.
    pub fn program_counters(&self) -> usize {
        self.locations.len()
    }

    pub fn counter_of(&self, template: TemplateId, location: LocationId) -> usize {
        self.layout.pc_of(template, location) as usize
    }

    fn slots(&self, lanes: &[u64]) -> usize {
        self.layout.slots(lanes.len())
    }

    #[inline]
    fn location(&self, lanes: &[u64], thread: usize) -> &CompiledLocation {
        let pc = self.layout.pc.get(lanes, self.layout.slot(thread));
        &self.locations[pc as usize]
    }

    /// What a thread may be about to access where it is.
    #[inline]
    pub fn accesses(&self, lanes: &[u64], thread: usize) -> &[CompiledAccess] {
        &self.location(lanes, thread).accesses
    }

    /// Whether some access may be part of a data race.
    pub fn has_accesses(&self) -> bool {
        self.locations.iter().any(|at| !at.accesses.is_empty())
    }

    /// Whether some step waits for `timeout`.
    pub fn uses_timeout(&self) -> bool {
        self.uses_timeout
    }

    pub fn pointer_width(&self) -> u8 {
        self.pointer_width
    }

    /// Appends all steps of the state.
    pub fn steps(&self, lanes: &[u64], steps: &mut Vec<Step>) {
        self.steps_where(lanes, false, steps);
        if self.uses_timeout && steps.is_empty() {
            self.steps_where(lanes, true, steps);
        }
    }

    /// The same, with what is remembered of other states.
    pub fn steps_by(&self, lanes: &[u64], cache: &mut StepCache, steps: &mut Vec<Step>) {
        if self.priority_scheduling {
            self.steps(lanes, steps);
            return;
        }
        for thread in 0..self.slots(lanes) {
            self.remembered_steps(lanes, thread, cache, steps);
        }
        if self.uses_timeout && steps.is_empty() {
            self.steps_where(lanes, true, steps);
        }
    }

    fn steps_where(&self, lanes: &[u64], timeout: bool, steps: &mut Vec<Step>) {
        let first = steps.len();
        let by_priority = self.layout.priority.filter(|_| self.priority_scheduling);
        let Some(priority) = by_priority else {
            for thread in 0..self.slots(lanes) {
                self.thread_steps(lanes, thread, timeout, steps);
            }
            return;
        };
        let mut highest = 0;
        for thread in 0..self.slots(lanes) {
            let own = priority.get(lanes, self.layout.slot(thread));
            let before = steps.len();
            if before > first && own < highest {
                continue;
            }
            self.thread_steps(lanes, thread, timeout, steps);
            if steps.len() > before && (before == first || own > highest) {
                steps.drain(first..before);
                highest = own;
            }
        }
    }

    /// Appends the steps that a thread can start.
    pub fn thread_steps(&self, lanes: &[u64], thread: usize, timeout: bool, steps: &mut Vec<Step>) {
        let location = self.location(lanes, thread);
        let view = self.view(lanes, thread, timeout);
        let before = steps.len();
        for decisions in &location.decisions {
            walk(decisions, &view, &mut |index| {
                self.try_edge(&view, location, index, steps);
            });
            if steps.len() > before {
                return;
            }
        }
    }

    /// Appends the steps of an edge whose guard holds.
    #[inline]
    fn try_edge(
        &self,
        view: &View,
        location: &CompiledLocation,
        index: u16,
        steps: &mut Vec<Step>,
    ) {
        let edge = &location.edges[index as usize];
        let step = Step {
            thread: view.thread as u16,
            edge: index,
            partner: None,
            choice: 0,
            moves: edge.moves,
        };
        let possible = match &edge.operation {
            Operation::Plain => true,
            Operation::Send {
                channel, values, ..
            } => {
                let handle = view.eval(channel);
                match view.channel(handle) {
                    None => false,
                    Some((shape, _)) if shape.capacity == 0 => {
                        self.offer(view, handle, values, step, steps);
                        false
                    }
                    Some((shape, base)) => {
                        shape.len.get(view.lanes, base) < u64::from(shape.capacity)
                    }
                }
            }
            Operation::Receive {
                channel,
                args,
                random,
                ..
            } => view
                .find_message(view.eval(channel), args, *random)
                .is_some(),
        };
        if possible && (!edge.spawns || view.thread_count() < self.max_threads) {
            match &edge.choices {
                Choices::None => steps.push(step),
                choices => self.choose(choices, step, steps),
            }
        }
    }

    /// Appends a step for each choice. Of too many it takes as many as it can:
    /// what is found after them is true, only the search is not complete.
    #[cold]
    fn choose(&self, choices: &Choices, step: Step, steps: &mut Vec<Step>) {
        let count = match choices {
            Choices::None => 1,
            Choices::All(count) => *count,
            Choices::TooMany(reason) => match self.memory.refuse(|| reason.clone()) {
                0 => MAX_CHOICES,
                1..=FURTHER_TIMES => FURTHER_CHOICES,
                _ => 1,
            },
        };
        steps.extend((0..count).map(|choice| Step { choice, ..step }));
    }

    /// Appends a step for each receive that can take the message of a rendezvous.
    fn offer(
        &self,
        sender: &View,
        handle: u64,
        values: &[(Code, u8)],
        step: Step,
        steps: &mut Vec<Step>,
    ) {
        let lanes = sender.lanes;
        for thread in (0..sender.slots()).filter(|&thread| thread != sender.thread) {
            let location = self.location(lanes, thread);
            if !location.receives {
                continue;
            }
            let view = self.view(lanes, thread, sender.timeout);
            let mut found: Option<i32> = None;
            for (index, edge) in location.edges.iter().enumerate() {
                if found.is_some_and(|priority| priority > edge.priority) {
                    break;
                }
                let Operation::Receive { channel, args, .. } = &edge.operation else {
                    continue;
                };
                let takes = view.holds(&edge.guard)
                    && view.eval(channel) == handle
                    && view.matches(args, |position| {
                        let (shape, _) = sender.channel(handle)?;
                        let ty = shape.types.get(position)?;
                        let value = values.get(position).map_or(0, |(value, width)| {
                            resize(sender.eval(value), *width, ty.width, true)
                        });
                        Some(ty.number(value))
                    });
                if takes {
                    found = Some(edge.priority);
                    steps.push(Step {
                        partner: Some((thread as u16, index as u16)),
                        moves: Moves::NONE,
                        ..step
                    });
                }
            }
        }
    }

    pub fn is_possible(&self, lanes: &[u64], step: Step) -> bool {
        let thread = usize::from(step.thread);
        let mut steps = Vec::new();
        if thread < self.slots(lanes) {
            self.thread_steps(lanes, thread, false, &mut steps);
        }
        steps.contains(&step)
    }

    /// The numbers of a step by which it is found again.
    pub fn numbers_of(step: Step) -> [u32; 4] {
        let partner = step.partner.map_or(u32::MAX, |(thread, edge)| {
            u32::from(thread) << 16 | u32::from(edge)
        });
        let [thread, edge, choice] = [step.thread, step.edge, step.choice].map(u32::from);
        [thread, edge, choice, partner]
    }

    /// The step with these numbers, if it is possible.
    pub fn step_with(&self, lanes: &[u64], numbers: [u32; 4]) -> Option<Step> {
        let mut steps = Vec::new();
        self.steps(lanes, &mut steps);
        let thread = numbers[0] as usize;
        if thread < self.slots(lanes) {
            self.thread_steps(lanes, thread, false, &mut steps);
        }
        let mut steps = steps.into_iter();
        steps.find(|&step| Machine::numbers_of(step) == numbers)
    }

    pub fn is_atomic(&self, lanes: &[u64], thread: usize) -> bool {
        self.location(lanes, thread).atomic
    }

    /// What a reduction needs to know about the thread's location.
    pub fn place(&self, lanes: &[u64], thread: usize) -> Place {
        self.location(lanes, thread).place
    }

    /// The template and the location of a thread that is alive.
    pub fn location_of(&self, lanes: &[u64], thread: usize) -> (TemplateId, LocationId) {
        let pc = self.layout.pc.get(lanes, self.layout.slot(thread));
        let template = TemplateId(self.layout.template_of(pc).unwrap_or(0) as u32);
        let first = self.layout.pc_of(template, LocationId(0));
        (template, LocationId((pc as u32).saturating_sub(first)))
    }

    /// What belongs to a thread; nothing if there is no such thread.
    pub fn slot_lanes<'a>(&self, lanes: &'a [u64], thread: usize) -> &'a [u64] {
        let slot = self.layout.slot(thread);
        lanes
            .get(slot..slot + self.layout.slot_lanes)
            .unwrap_or(&[])
    }

    /// The program counter of a thread; 0 for one that is not alive.
    pub fn pc(&self, lanes: &[u64], thread: usize) -> usize {
        self.layout.pc.get(lanes, self.layout.slot(thread)) as usize
    }

    /// Whether an edge takes a lock, as far as is known before the search.
    pub fn takes_lock(&self, pc: usize, edge: usize) -> bool {
        self.locations[pc].edges[edge].moves.takes_lock
    }

    /// Whether a thread has a step.
    pub fn can_move(&self, lanes: &[u64], thread: usize) -> bool {
        let mut steps = Vec::new();
        self.thread_steps(lanes, thread, false, &mut steps);
        !steps.is_empty()
    }

    /// The numbers in the program of the compiled edges of a location.
    pub fn original_edges(&self, pc: usize) -> impl Iterator<Item = usize> + '_ {
        self.locations[pc].edges.iter().map(|edge| edge.original)
    }

    /// An edge of a thread's location, by its number in the program.
    pub fn edge_at(&self, lanes: &[u64], thread: usize, edge: usize) -> EdgeRef {
        let (template, location) = self.location_of(lanes, thread);
        EdgeRef {
            template: template.index(),
            location: location.index(),
            edge: self.location(lanes, thread).edges[edge].original,
        }
    }

    pub fn guard_holds(&self, view: &View, edge: usize) -> bool {
        view.holds(&self.location(view.lanes, view.thread).edges[edge].guard)
    }

    /// Whether a receive will find what it finds now, whatever is sent: there
    /// is a message and it does not look past the oldest, or it finds one.
    pub fn finds_message(&self, view: &View, edge: usize) -> bool {
        match &self.location(view.lanes, view.thread).edges[edge].operation {
            Operation::Receive {
                channel,
                args,
                random: true,
                ..
            } => view.find_message(view.eval(channel), args, true).is_some(),
            _ => true,
        }
    }

    /// Whether only the thread itself can change that a channel exists or does not.
    pub fn exists_for_good(&self, handle: u64, thread: usize) -> bool {
        match (handle as usize).checked_sub(1 + self.layout.channels.len()) {
            None => true,
            Some(number) => number.checked_div(self.channels_per_thread) == Some(thread),
        }
    }

    /// The channels that belong to a thread.
    pub fn own_channels(&self, lanes: &[u64], thread: usize) -> impl Iterator<Item = u64> {
        let pc = self.layout.pc.get(lanes, self.layout.slot(thread));
        let count = self
            .layout
            .template_of(pc)
            .map_or(0, |template| self.layout.templates[template].channels.len());
        let first = (1 + self.layout.channels.len() + thread * self.channels_per_thread) as u64;
        (0..count as u64).map(move |index| first + index)
    }

    pub fn threads(&self, lanes: &[u64]) -> usize {
        self.slots(lanes)
    }

    /// How many threads are alive.
    pub fn live_threads(&self, lanes: &[u64]) -> usize {
        let is_alive = |&thread: &usize| self.pc(lanes, thread) != 0;
        (0..self.slots(lanes)).filter(is_alive).count()
    }

    /// The error or the bound that the thread has run into.
    pub fn run_end(&self, lanes: &[u64], thread: usize) -> Option<RunEnd> {
        self.location(lanes, thread).run_end
    }

    /// Whether the program has such a bound.
    pub fn is_bound(&self, met: BoundMet) -> bool {
        let mut ends = self.locations.iter().filter_map(|place| place.run_end);
        ends.any(|end| end.violates.is_none() && end.bound_met() == met)
    }

    /// Sends a thread on from an error to where the program would continue.
    pub fn resume(&self, work: &mut Workspace, thread: usize, pc: u64) {
        self.move_to(work, thread, pc);
    }

    /// Whether all threads of a state are at proper ends.
    pub fn is_proper_end(&self, lanes: &[u64]) -> bool {
        (0..self.slots(lanes)).all(|thread| self.is_at_proper_end(lanes, thread))
    }

    /// Whether a thread may stay where it is for ever; one that is gone may.
    pub fn is_at_proper_end(&self, lanes: &[u64], thread: usize) -> bool {
        self.location(lanes, thread).valid_end
    }

    /// The step in the terms of the IR, for the state it is taken in.
    pub fn original_step(&self, lanes: &[u64], step: Step) -> semantics::Step {
        let original = |thread: u16, edge: u16| semantics::Move {
            thread: thread as usize,
            edge: self.location(lanes, thread as usize).edges[edge as usize].original,
        };
        semantics::Step {
            by: original(step.thread, step.edge),
            with: step.partner.map(|(thread, edge)| original(thread, edge)),
            choice: step.choice.into(),
        }
    }
}

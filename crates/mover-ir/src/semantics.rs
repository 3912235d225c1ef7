//! What a program does: the concrete successor function.
//!
//! This is the one definition of meaning. It is written to be read, not to be
//! fast: a [`State`] is plain vectors, every step copies it. Engines have
//! machines of their own and are tested against this one, and every
//! counterexample is replayed here before anybody sees it.
//!
//! A step is one edge of one thread or, for a rendezvous, a send of one thread
//! and a receive of another. Which steps a state has:
//!
//! 1. If a thread is exclusive (it has moved to an atomic location and can
//!    move), the steps of that thread; otherwise the steps of all threads, or,
//!    with priority scheduling, of those threads whose priority is highest among
//!    the threads that have steps.
//! 2. If there are none, the same with [`Expr::Timeout`] true.
//! 3. If a thread has run into an error, there are none: the program has aborted.
//!
//! A step whose edge lets a cell take any value ([`Effect::Havoc`]) is one step
//! for each value; the step says which.
//!
//! **Memory.** An object is a row of bytes, whatever the cells that represent it:
//! a load puts bytes together, a store takes them apart. The addressable globals
//! live among the other globals, the dynamic objects in [`State::heap`]. A new
//! object takes the lowest number that is free *and* that nothing in the state
//! mentions. So a pointer to an object that is gone never comes to life again,
//! and yet a program with a bounded heap has finitely many states.
//!
//! A state without steps and without error is a proper end if every thread stands at a location
//! marked as valid end, else a deadlock.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::expr::{ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef, mask, resize};
use crate::print::format_output;
use crate::program::{
    ChannelDecl, Edge, Effect, ErrorMark, Init, LocationId, Program, SiteId, TemplateId, Variable,
};

/// One message of a channel: a value for each field.
pub type Message = Vec<u64>;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    pub template: TemplateId,
    pub location: LocationId,
    /// The cells of the local variables, one variable after the other.
    pub locals: Vec<u64>,
    /// The messages in each of the thread's own channels.
    pub channels: Vec<Vec<Message>>,
    /// 0 in programs where priorities make no difference.
    pub priority: u8,
}

/// A live dynamic object.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HeapObject {
    pub site: SiteId,
    /// In bytes, as it was asked for.
    pub size: u64,
    /// Cells of the site's type, as many as it takes.
    pub cells: Vec<u64>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The cells of the global variables, one variable after the other.
    pub globals: Vec<u64>,
    /// The messages in each global channel.
    pub channels: Vec<Vec<Message>>,
    /// A thread's number is its position; the last one is alive.
    pub threads: Vec<Option<Thread>>,
    /// The thread that alone may move; always one that can.
    pub exclusive: Option<usize>,
    /// The dynamic objects: position k has the number of the last addressable
    /// global plus 1 + k; the last one is alive.
    pub heap: Vec<Option<HeapObject>>,
}

/// Which edge of the thread's present location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Move {
    pub thread: usize,
    pub edge: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Step {
    pub by: Move,
    /// The receiving side of a rendezvous.
    pub with: Option<Move>,
    /// The value that the edge's havoc takes; 0 if it has none.
    pub choice: u64,
}

/// Something that a step can read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Thing {
    /// A global variable, by its position.
    Global(usize),
    Local {
        thread: usize,
        variable: usize,
    },
    /// What the dynamic object at this position of the heap holds.
    Object(usize),
    /// Whether there is an object at this position of the heap.
    Life(usize),
    /// A channel, by the value that refers to it.
    Channel(u64),
    /// Whether and where a thread is.
    Thread(usize),
}

/// That a step reads or writes some bits of a thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Access {
    pub by: usize,
    pub thing: Thing,
    pub first_bit: u64,
    pub bits: u64,
    pub is_write: bool,
    /// What is read or written, where it is a number.
    pub value: u64,
}

/// What a step reads and writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accesses {
    /// What decides whether the step is possible.
    pub guards: Vec<Access>,
    /// In the order in which it is done.
    pub effects: Vec<Access>,
}

impl Accesses {
    pub fn iter(&self) -> impl Iterator<Item = &Access> {
        self.guards.iter().chain(&self.effects)
    }
}

impl Access {
    /// Whether the two have a bit in common.
    pub fn overlaps(&self, other: &Access) -> bool {
        self.thing == other.thing
            && self.first_bit < other.first_bit + other.bits
            && other.first_bit < self.first_bit + self.bits
    }
}

/// Why a channel operation or a whole edge is or is not possible.
enum Readiness {
    Blocked,
    Ready,
    /// A send on a channel without buffer, ready if somebody takes the message.
    Offers {
        channel: u64,
        message: Message,
    },
}

/// The message of a rendezvous. It is delivered even if the sender, and with
/// it the channel, is gone by then.
type Offer<'p> = (&'p ChannelDecl, Message);

#[derive(Clone)]
pub struct Machine<'p> {
    program: &'p Program,
    global_offsets: Vec<usize>,
    local_offsets: Vec<Vec<usize>>,
    uses_timeout: bool,
    uses_priorities: bool,
    /// The addressable globals; object number 1 comes first.
    addressable: Vec<usize>,
    /// Where accesses are noted, if anybody wants to know.
    record: Option<RefCell<Vec<Access>>>,
}

fn offsets(variables: &[Variable]) -> Vec<usize> {
    variables
        .iter()
        .scan(0, |next, variable| {
            let offset = *next;
            *next += variable.len as usize;
            Some(offset)
        })
        .collect()
}

impl<'p> Machine<'p> {
    /// The program must be valid (see [`crate::validate`]).
    pub fn new(program: &'p Program) -> Self {
        Machine {
            program,
            global_offsets: offsets(&program.globals),
            local_offsets: program
                .templates
                .iter()
                .map(|template| offsets(&template.locals))
                .collect(),
            uses_timeout: program.uses_timeout(),
            uses_priorities: program.uses_priorities(),
            addressable: (0..program.globals.len())
                .filter(|&global| program.globals[global].addressable)
                .collect(),
            record: None,
        }
    }

    /// What a step that is possible reads and writes.
    pub fn accesses(&self, state: &State, step: Step) -> Accesses {
        let guards = self.recorded(|recording| {
            for by in [Some(step.by), step.with].into_iter().flatten() {
                View::new(recording, state, by.thread, false).holds(&self.edge(state, by).guard);
            }
        });
        let effects = self.recorded(|recording| {
            recording.perform_step(state, step);
        });
        Accesses { guards, effects }
    }

    /// What is read to find out whether a thread can go on.
    pub fn waits_on(&self, state: &State, thread: usize) -> Vec<Access> {
        self.recorded(|recording| {
            recording.thread_steps(state, thread, false);
        })
    }

    fn recorded(&self, work: impl FnOnce(&Machine)) -> Vec<Access> {
        let recording = Machine {
            record: Some(RefCell::default()),
            ..self.clone()
        };
        work(&recording);
        recording
            .record
            .map_or_else(Vec::new, |record| record.into_inner())
    }

    fn note(&self, access: Access) {
        if let Some(record) = &self.record {
            record.borrow_mut().push(access);
        }
    }

    /// Notes that something is read or written as a whole.
    fn note_whole(&self, by: usize, thing: Thing, is_write: bool, value: u64) {
        self.note(Access {
            by,
            thing,
            first_bit: 0,
            bits: u64::MAX / 2,
            is_write,
            value,
        });
    }

    pub fn program(&self) -> &'p Program {
        self.program
    }

    pub fn initial(&self) -> State {
        let mut state = State {
            globals: self.initial_cells(&self.program.globals, 0),
            channels: vec![Vec::new(); self.program.channels.len()],
            threads: Vec::new(),
            exclusive: None,
            heap: Vec::new(),
        };
        for instance in &self.program.initial {
            self.start(
                &mut state,
                instance.template,
                &instance.args,
                instance.priority,
            );
        }
        state
    }

    fn initial_cells(&self, variables: &[Variable], thread: usize) -> Vec<u64> {
        let mut cells = Vec::new();
        for variable in variables {
            match &variable.init {
                Init::All(value) => {
                    cells.extend(std::iter::repeat_n(*value, variable.len as usize))
                }
                Init::Cells(values) => cells.extend(values),
                Init::Channels(channels) => cells.extend(
                    channels
                        .iter()
                        .map(|&channel| self.program.channel_handle(channel, thread)),
                ),
            }
        }
        cells
    }

    /// Adds a thread at the lowest free number and gives that number.
    fn start(&self, state: &mut State, id: TemplateId, args: &[u64], priority: u8) -> usize {
        let template = self.program.template(id);
        let number = state
            .threads
            .iter()
            .position(Option::is_none)
            .unwrap_or(state.threads.len());
        let mut locals = self.initial_cells(&template.locals, number);
        for (param, &arg) in args.iter().enumerate() {
            locals[self.local_offsets[id.index()][param]] = arg;
        }
        let thread = Some(Thread {
            template: id,
            location: template.entry,
            locals,
            channels: vec![Vec::new(); template.channels.len()],
            priority: if self.uses_priorities { priority } else { 0 },
        });
        if number == state.threads.len() {
            state.threads.push(thread);
        } else {
            state.threads[number] = thread;
        }
        number
    }

    /// All steps that are possible in the state; none once a thread has run into an error.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for step in self.undecided_steps(state) {
            match self.choices(state, step) {
                None => steps.push(step),
                Some(last) => steps.extend((0..=last).map(|choice| Step { choice, ..step })),
            }
        }
        steps
    }

    /// Whether a step is one of the state's; quick where it has many choices.
    pub fn can_take(&self, state: &State, step: Step) -> bool {
        let undecided = Step { choice: 0, ..step };
        self.undecided_steps(state).contains(&undecided)
            && step.choice <= self.choices(state, undecided).unwrap_or(0)
    }

    /// The steps with the first of their choices only.
    pub fn undecided_steps(&self, state: &State) -> Vec<Step> {
        if self.error(state).is_some() {
            return Vec::new();
        }
        let steps = self.steps_where(state, false);
        if steps.is_empty() && self.uses_timeout {
            return self.steps_where(state, true);
        }
        steps
    }

    /// The last choice of a step that has choices.
    pub fn choices(&self, state: &State, step: Step) -> Option<u64> {
        let effects = &self.edge(state, step.by).effects;
        effects.iter().find_map(|effect| match effect {
            Effect::Havoc { place, values: 0 } => Some(mask(place.ty.width)),
            Effect::Havoc { values, .. } => Some(values - 1),
            _ => None,
        })
    }

    pub fn successors(&self, state: &State) -> Vec<(Step, State)> {
        self.steps(state)
            .into_iter()
            .map(|step| (step, self.apply(state, step)))
            .collect()
    }

    fn steps_where(&self, state: &State, timeout: bool) -> Vec<Step> {
        if let Some(thread) = state.exclusive {
            let steps = self.thread_steps(state, thread, timeout);
            if !steps.is_empty() {
                return steps;
            }
        }
        let mut steps: Vec<Step> = (0..state.threads.len())
            .flat_map(|thread| self.thread_steps(state, thread, timeout))
            .collect();
        if self.program.priority_scheduling {
            let priority = |step: &Step| state.threads[step.by.thread].as_ref().map(|t| t.priority);
            let highest = steps.iter().map(priority).max().flatten();
            steps.retain(|step| priority(step) == highest);
        }
        steps
    }

    /// The steps that a thread can start, in the order of its edges.
    fn thread_steps(&self, state: &State, number: usize, timeout: bool) -> Vec<Step> {
        let Some(thread) = &state.threads[number] else {
            return Vec::new();
        };
        let edges = &self
            .program
            .template(thread.template)
            .location(thread.location)
            .edges;
        let mut steps: Vec<(i32, Step)> = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            let by = Move {
                thread: number,
                edge: index,
            };
            match self.readiness(state, number, edge, timeout) {
                Readiness::Blocked => {}
                Readiness::Ready => steps.push((
                    edge.priority,
                    Step {
                        by,
                        with: None,
                        choice: 0,
                    },
                )),
                Readiness::Offers { channel, message } => steps.extend(
                    self.takers(state, number, channel, &message, timeout)
                        .into_iter()
                        .map(|taker| {
                            let with = Some(taker);
                            let choice = 0;
                            (edge.priority, Step { by, with, choice })
                        }),
                ),
            }
        }
        let highest = steps.iter().map(|(priority, _)| *priority).max();
        steps
            .into_iter()
            .filter(|(priority, _)| Some(*priority) == highest)
            .map(|(_, step)| step)
            .collect()
    }

    /// The receives of other threads that can take a message without a buffer.
    fn takers(
        &self,
        state: &State,
        sender: usize,
        channel: u64,
        message: &Message,
        timeout: bool,
    ) -> Vec<Move> {
        let mut takers = Vec::new();
        for number in (0..state.threads.len()).filter(|&number| number != sender) {
            let Some(thread) = &state.threads[number] else {
                continue;
            };
            let view = View::new(self, state, number, timeout);
            let edges = &self
                .program
                .template(thread.template)
                .location(thread.location)
                .edges;
            let takes = |edge: &Edge| match edge.effects.first() {
                Some(Effect::Receive {
                    channel: from,
                    args,
                    ..
                }) => {
                    view.holds(&edge.guard)
                        && view.eval(from) == channel
                        && view
                            .channel(channel)
                            .is_some_and(|(decl, _)| view.matches(decl, args, message))
                }
                _ => false,
            };
            let ready: Vec<usize> = (0..edges.len()).filter(|&i| takes(&edges[i])).collect();
            let highest = ready.iter().map(|&i| edges[i].priority).max();
            takers.extend(
                ready
                    .into_iter()
                    .filter(|&i| Some(edges[i].priority) == highest)
                    .map(|edge| Move {
                        thread: number,
                        edge,
                    }),
            );
        }
        takers
    }

    fn readiness(&self, state: &State, thread: usize, edge: &Edge, timeout: bool) -> Readiness {
        let view = View::new(self, state, thread, timeout);
        if !view.holds(&edge.guard) {
            return Readiness::Blocked;
        }
        for effect in &edge.effects {
            let possible = match effect {
                Effect::Send {
                    channel, values, ..
                } => {
                    let handle = view.eval(channel);
                    view.note_whole(Thing::Channel(handle), 0);
                    match view.channel(handle) {
                        None => false,
                        Some((decl, _)) if decl.capacity == 0 => {
                            return Readiness::Offers {
                                channel: handle,
                                message: view.message(decl, values),
                            };
                        }
                        Some((decl, buffer)) => buffer.len() < decl.capacity as usize,
                    }
                }
                Effect::Receive {
                    channel,
                    args,
                    random,
                    ..
                } => view.find_message(channel, args, *random).is_some(),
                Effect::Spawn { .. } => {
                    state.threads.iter().flatten().count() < self.program.max_threads as usize
                }
                _ => true,
            };
            if !possible {
                return Readiness::Blocked;
            }
        }
        Readiness::Ready
    }

    /// The state after a step that is possible.
    pub fn apply(&self, state: &State, step: Step) -> State {
        self.apply_with_output(state, step).0
    }

    /// The state after a step that is possible, and what the step prints.
    pub fn apply_with_output(&self, state: &State, step: Step) -> (State, String) {
        let (mut next, output) = self.perform_step(state, step);
        let last = step.with.unwrap_or(step.by).thread;
        if self.is_atomic(&next, last) && !self.thread_steps(&next, last, false).is_empty() {
            next.exclusive = Some(last);
        }
        (next, output)
    }

    /// The same without who may go on alone.
    fn perform_step(&self, state: &State, step: Step) -> (State, String) {
        let mut next = state.clone();
        next.exclusive = None;
        let mut output = String::new();
        let offered: Option<Offer<'p>> = step.with.and_then(|_| {
            let edge = self.edge(state, step.by);
            let view = View::new(self, state, step.by.thread, false);
            match edge.effects.first() {
                Some(Effect::Send {
                    channel, values, ..
                }) => {
                    let (decl, _) = view.channel(view.eval(channel))?;
                    Some((decl, view.message(decl, values)))
                }
                _ => None,
            }
        });
        let mut sides = Sides {
            offered: offered.as_ref(),
            choice: step.choice,
            output: &mut output,
        };
        self.perform(&mut next, state, step.by, &mut sides);
        if let Some(with) = step.with {
            self.perform(&mut next, state, with, &mut sides);
        }
        while matches!(next.heap.last(), Some(None)) {
            next.heap.pop();
        }
        while matches!(next.threads.last(), Some(None)) {
            next.threads.pop();
        }
        (next, output)
    }

    fn edge(&self, state: &State, by: Move) -> &'p Edge {
        let thread = state.threads[by.thread]
            .as_ref()
            .expect("a thread that moves is alive");
        &self
            .program
            .template(thread.template)
            .location(thread.location)
            .edges[by.edge]
    }

    fn is_atomic(&self, state: &State, number: usize) -> bool {
        match state.threads.get(number) {
            Some(Some(thread)) => {
                self.program
                    .template(thread.template)
                    .location(thread.location)
                    .atomic
            }
            _ => false,
        }
    }

    /// Does one side of a step: `before` tells which edge, `next` is changed.
    fn perform(&self, next: &mut State, before: &State, by: Move, sides: &mut Sides<'_, 'p>) {
        let edge = self.edge(before, by);
        if let Some(thread) = &mut next.threads[by.thread] {
            thread.location = edge.target;
        }
        for effect in &edge.effects {
            self.perform_effect(next, by.thread, effect, sides);
        }
    }

    fn perform_effect(
        &self,
        next: &mut State,
        number: usize,
        effect: &Effect,
        sides: &mut Sides<'_, 'p>,
    ) {
        let view = View::new(self, next, number, false);
        match effect {
            Effect::Assign { place, value } => {
                let value = view.eval(value);
                self.store(next, number, place, value);
            }
            Effect::Store { address, value } => {
                let (address, bytes) = (view.eval(address), value.width() / 8);
                let value = view.eval(value);
                view.note_bytes(address, bytes.into(), true, value);
                self.store_bytes(next, address, bytes.into(), value);
            }
            Effect::Havoc { place, .. } => self.store(next, number, place, sides.choice),
            Effect::Allocate { site, size, result } => {
                let size = view.eval(size);
                let address = self.allocate(next, *site, size);
                if let Some(slot) = self.slot(address) {
                    self.note_whole(number, Thing::Life(slot), true, 1);
                    self.note_whole(number, Thing::Object(slot), true, 0);
                }
                self.store(next, number, result, address);
            }
            Effect::Free { address } => {
                if let Some(Home::Dynamic(slot)) = view.home(view.eval(address)) {
                    self.note_whole(number, Thing::Life(slot), true, 0);
                    next.heap[slot] = None;
                }
            }
            Effect::Send { .. } if sides.offered.is_some() => {}
            Effect::Send {
                channel,
                values,
                sorted,
            } => {
                let handle = view.eval(channel);
                let Some((decl, buffer)) = view.channel(handle) else {
                    return;
                };
                let message = view.message(decl, values);
                self.note_whole(
                    number,
                    Thing::Channel(handle),
                    true,
                    message_value(&message),
                );
                let position = if *sorted {
                    let key = |m: &Message| -> Vec<i64> {
                        let fields = decl.fields.iter().zip(m);
                        fields.map(|(f, &v)| f.ty.number(v)).collect()
                    };
                    let mine = key(&message);
                    buffer.iter().take_while(|m| key(m) <= mine).count()
                } else {
                    buffer.len()
                };
                if let Some(buffer) = self.buffer_mut(next, handle) {
                    buffer.insert(position, message);
                }
            }
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => {
                let (decl, message) = match sides.offered {
                    Some((decl, message)) => (*decl, message.clone()),
                    None => {
                        let handle = view.eval(channel);
                        let Some((decl, _)) = view.channel(handle) else {
                            return;
                        };
                        let Some(position) = view.find_message(channel, args, *random) else {
                            return;
                        };
                        let Some(buffer) = self.buffer_mut(next, handle) else {
                            return;
                        };
                        let message = if *peek {
                            buffer[position].clone()
                        } else {
                            buffer.remove(position)
                        };
                        if !*peek {
                            let value = message_value(&message);
                            self.note_whole(number, Thing::Channel(handle), true, value);
                        }
                        (decl, message)
                    }
                };
                for ((arg, field), value) in args.iter().zip(&decl.fields).zip(message) {
                    if let ReceiveArg::Store(place) = arg {
                        let value = resize(value, field.ty.width, place.ty.width, field.ty.signed);
                        self.store(next, number, place, value);
                    }
                }
            }
            Effect::Spawn {
                template,
                args,
                priority,
                result,
            } => {
                let args: Vec<u64> = args.iter().map(|arg| view.eval(arg)).collect();
                let started = self.start(next, *template, &args, *priority);
                self.note_whole(number, Thing::Thread(started), true, 1);
                if let Some(place) = result {
                    let value = started as u64 & mask(place.ty.width);
                    self.store(next, number, place, value);
                }
            }
            Effect::Exit => {
                self.note_whole(number, Thing::Thread(number), true, 0);
                next.threads[number] = None;
            }
            Effect::SetPriority { thread, priority } => {
                let thread = view.eval(thread) as usize;
                let priority = view.eval(priority) as u8;
                if let Some(Some(thread)) = next.threads.get_mut(thread) {
                    thread.priority = priority;
                }
            }
            Effect::Print { format, args } => {
                let values: Vec<(u64, Ty, _)> = args
                    .iter()
                    .map(|arg| {
                        let ty = Ty::signed(arg.value.width());
                        (view.eval(&arg.value), ty, arg.symbols)
                    })
                    .collect();
                let text = format_output(self.program, format, &values);
                sides.output.push_str(&text);
            }
        }
    }

    /// Writes bytes at an address, all of them or none.
    fn store_bytes(&self, state: &mut State, address: u64, count: u64, value: u64) {
        let view = View::new(self, state, 0, false);
        let Some((home, offset)) = view.range(address, count) else {
            return;
        };
        let (cells, width) = match home {
            Home::Global(global) => {
                let first = self.global_offsets[global];
                let variable = &self.program.globals[global];
                let cells = &mut state.globals[first..first + variable.len as usize];
                (cells, variable.ty.width)
            }
            Home::Dynamic(slot) => match &mut state.heap[slot] {
                Some(object) => (
                    &mut object.cells[..],
                    self.program.site(object.site).cell.width,
                ),
                None => return,
            },
        };
        for byte in 0..count {
            let (cell, shift) = byte_place(offset + byte, width);
            let cell = &mut cells[cell];
            *cell = *cell & !(0xFF << shift) | ((value >> (8 * byte)) & 0xFF) << shift;
        }
    }

    /// Makes a new object and gives its address, 0 if there can be none.
    fn allocate(&self, state: &mut State, site: SiteId, size: u64) -> u64 {
        let layout = self.program.pointers;
        let globals = self.addressable.len() as u64;
        let mentioned = self.mentioned_objects(state);
        let is_free = |slot: &usize| {
            !matches!(state.heap.get(*slot), Some(Some(_)))
                && !mentioned.contains(&(globals + 1 + *slot as u64))
        };
        let slot = (0..).find(is_free).unwrap_or(usize::MAX);
        let number = globals + 1 + slot as u64;
        if size > layout.max_object_size() || number > layout.last_dynamic_object() {
            return 0;
        }
        if slot >= state.heap.len() {
            state.heap.resize(slot + 1, None);
        }
        let cell_bytes = u64::from(self.program.site(site).cell.width / 8);
        state.heap[slot] = Some(HeapObject {
            site,
            size,
            cells: vec![0; size.div_ceil(cell_bytes) as usize],
        });
        layout.address(number)
    }

    /// The numbers of objects that a pointer somewhere in the state may hold:
    /// the object parts of all cells that are as wide as a pointer, and in
    /// objects of all aligned groups of as many bytes.
    fn mentioned_objects(&self, state: &State) -> BTreeSet<u64> {
        let layout = self.program.pointers;
        let mut numbers = BTreeSet::new();
        let mut mention = |ty: Ty, values: &[u64]| {
            if ty.width == layout.width {
                numbers.extend(values.iter().map(|&value| layout.object(value)));
            }
        };
        let rows = |variables: &[Variable], cells: &[u64], mention: &mut dyn FnMut(Ty, &[u64])| {
            let mut first = 0;
            for variable in variables {
                let len = variable.len as usize;
                mention(variable.ty, &cells[first..first + len]);
                first += len;
            }
        };
        let buffers = |channels: &[ChannelDecl],
                       buffers: &[Vec<Message>],
                       mention: &mut dyn FnMut(Ty, &[u64])| {
            for (channel, buffer) in channels.iter().zip(buffers) {
                for message in buffer {
                    for (field, &value) in channel.fields.iter().zip(message) {
                        mention(field.ty, &[value]);
                    }
                }
            }
        };
        rows(&self.program.globals, &state.globals, &mut mention);
        buffers(&self.program.channels, &state.channels, &mut mention);
        for thread in state.threads.iter().flatten() {
            let template = self.program.template(thread.template);
            rows(&template.locals, &thread.locals, &mut mention);
            buffers(&template.channels, &thread.channels, &mut mention);
        }
        let view = View::new(self, state, 0, false);
        let globals = self.addressable.len() as u64;
        for number in 1..=globals + state.heap.len() as u64 {
            let base = layout.address(number);
            let bytes = u64::from(layout.width / 8);
            for group in 0..view.object_size(base) / bytes {
                numbers.insert(layout.object(view.load(base + group * bytes, bytes)));
            }
        }
        numbers
    }

    fn store(&self, state: &mut State, number: usize, place: &Place, value: u64) {
        let index = View::new(self, state, number, false).eval(&place.index);
        let cell = match place.variable {
            VariableRef::Global(id) => {
                let len = u64::from(self.program.globals[id.index()].len);
                let offset = self.global_offsets[id.index()];
                (index < len).then(|| &mut state.globals[offset + index as usize])
            }
            VariableRef::Local(id) => state.threads[number].as_mut().and_then(|thread| {
                let template = thread.template;
                let len = u64::from(self.program.template(template).locals[id.index()].len);
                let offset = self.local_offsets[template.index()][id.index()];
                (index < len).then(|| &mut thread.locals[offset + index as usize])
            }),
        };
        if let Some(cell) = cell {
            *cell = value;
            let (thing, width) = self.thing(place.variable, number, state);
            self.note(Access {
                by: number,
                thing,
                first_bit: index * width,
                bits: width,
                is_write: true,
                value,
            });
        }
    }

    /// The thing that a variable is, and how wide its cells are.
    fn thing(&self, variable: VariableRef, thread: usize, state: &State) -> (Thing, u64) {
        match variable {
            VariableRef::Global(id) => (
                Thing::Global(id.index()),
                self.program.globals[id.index()].ty.width.into(),
            ),
            VariableRef::Local(id) => {
                let variable = id.index();
                let width = state.threads[thread].as_ref().map_or(0, |alive| {
                    let template = self.program.template(alive.template);
                    template.locals[variable].ty.width
                });
                (Thing::Local { thread, variable }, width.into())
            }
        }
    }

    /// The position of the heap that an address of a dynamic object names.
    fn slot(&self, address: u64) -> Option<usize> {
        let number = self.program.pointers.object(address).checked_sub(1)?;
        usize::try_from(number)
            .ok()?
            .checked_sub(self.addressable.len())
    }

    fn buffer_mut<'s>(&self, state: &'s mut State, handle: u64) -> Option<&'s mut Vec<Message>> {
        match self.program.resolve_channel(handle)? {
            ChannelHome::Global(index) => state.channels.get_mut(index),
            ChannelHome::Thread { thread, index } => state
                .threads
                .get_mut(thread)?
                .as_mut()?
                .channels
                .get_mut(index),
        }
    }

    /// The error that some thread has run into.
    pub fn error(&self, state: &State) -> Option<(usize, &'p ErrorMark)> {
        state
            .threads
            .iter()
            .enumerate()
            .find_map(|(number, thread)| {
                let thread = thread.as_ref()?;
                let location = self
                    .program
                    .template(thread.template)
                    .location(thread.location);
                Some((number, location.error.as_ref()?))
            })
    }

    /// Whether no thread can move although some thread is not at a proper end.
    pub fn is_deadlock(&self, state: &State) -> bool {
        self.error(state).is_none()
            && !self.stuck_threads(state).is_empty()
            && self.undecided_steps(state).is_empty()
    }

    /// The threads that are not at a proper end.
    pub fn stuck_threads(&self, state: &State) -> Vec<usize> {
        let stuck = |thread: &Thread| {
            !self
                .program
                .template(thread.template)
                .location(thread.location)
                .valid_end
        };
        (0..state.threads.len())
            .filter(|&number| state.threads[number].as_ref().is_some_and(stuck))
            .collect()
    }

    /// The value of an expression for a thread of a state.
    pub fn eval(&self, state: &State, thread: usize, expr: &Expr) -> u64 {
        View::new(self, state, thread, false).eval(expr)
    }
}

/// What besides the edge decides what a step does, and where its output goes.
struct Sides<'a, 'p> {
    offered: Option<&'a Offer<'p>>,
    choice: u64,
    output: &'a mut String,
}

/// Where a live object is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    /// Which global variable.
    Global(usize),
    /// Which position of the heap.
    Dynamic(usize),
}

/// The cell that a byte of an object lies in, and by how much it is shifted there.
fn byte_place(offset: u64, cell_width: u8) -> (usize, u64) {
    let bytes = u64::from(cell_width / 8);
    ((offset / bytes) as usize, offset % bytes * 8)
}

/// Up to eight bytes of a row of cells as a number; all must be within.
pub fn bytes_at(cells: &[u64], cell_width: u8, offset: u64, count: u64) -> u64 {
    (0..count).fold(0, |value, byte| {
        let (cell, shift) = byte_place(offset + byte, cell_width);
        value | ((cells[cell] >> shift) & 0xFF) << (8 * byte)
    })
}

/// Whose channel a reference refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelHome {
    Global(usize),
    Thread { thread: usize, index: usize },
}

impl Program {
    /// The value that refers to a channel: 0 is none, then come the global
    /// ones, then those of each thread number in turn.
    pub fn channel_handle(&self, channel: ChannelRef, thread: usize) -> u64 {
        match channel {
            ChannelRef::Global(index) => 1 + u64::from(index),
            ChannelRef::Local(index) => {
                let before = thread as u64 * u64::from(self.channels_per_thread());
                1 + self.channels.len() as u64 + before + u64::from(index)
            }
        }
    }

    pub fn resolve_channel(&self, handle: u64) -> Option<ChannelHome> {
        let number = handle.checked_sub(1)? as usize;
        let Some(local) = number.checked_sub(self.channels.len()) else {
            return Some(ChannelHome::Global(number));
        };
        let each = self.channels_per_thread() as usize;
        Some(ChannelHome::Thread {
            thread: local.checked_div(each)?,
            index: local % each,
        })
    }
}

/// A state as one thread sees it.
struct View<'a, 'p> {
    machine: &'a Machine<'p>,
    state: &'a State,
    thread: usize,
    timeout: bool,
}

impl<'a, 'p> View<'a, 'p> {
    fn new(machine: &'a Machine<'p>, state: &'a State, thread: usize, timeout: bool) -> Self {
        View {
            machine,
            state,
            thread,
            timeout,
        }
    }

    fn holds(&self, guard: &Expr) -> bool {
        self.eval(guard) != 0
    }

    fn eval(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Const { value, .. } => *value,
            Expr::Read(place) => {
                let index = self.eval(&place.index);
                let value = match place.variable {
                    VariableRef::Global(id) => {
                        let len = self.machine.program.globals[id.index()].len;
                        let offset = self.machine.global_offsets[id.index()];
                        cell(&self.state.globals, offset, len, index)
                    }
                    VariableRef::Local(id) => match &self.state.threads[self.thread] {
                        Some(thread) => self.local(thread, id.index(), index),
                        None => 0,
                    },
                };
                if self.machine.record.is_some() {
                    let machine = self.machine;
                    let (thing, width) = machine.thing(place.variable, self.thread, self.state);
                    self.note_read(thing, index.saturating_mul(width), width, value);
                }
                value
            }
            Expr::Unary(op, arg) => op.apply(self.eval(arg), arg.width()),
            Expr::Binary(op, lhs, rhs) => op.apply(self.eval(lhs), self.eval(rhs), lhs.width()),
            Expr::If(condition, then, otherwise) => {
                if self.holds(condition) {
                    self.eval(then)
                } else {
                    self.eval(otherwise)
                }
            }
            Expr::Resize { arg, width, signed } => {
                resize(self.eval(arg), arg.width(), *width, *signed)
            }
            Expr::ThreadId => self.thread as u64,
            Expr::ThreadCount => self.state.threads.iter().flatten().count() as u64,
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => {
                let is_there =
                    u64::from(self.thread(thread).is_some_and(|t| {
                        t.template == *template && locations.contains(&t.location)
                    }));
                if self.machine.record.is_some() {
                    let number = self.eval(thread) as usize;
                    self.note_whole(Thing::Thread(number), is_there);
                }
                is_there
            }
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => match self.thread(thread) {
                Some(alive) if alive.template == *template => {
                    let (index, variable) = (self.eval(index), variable.index());
                    let value = self.local(alive, variable, index);
                    if self.machine.record.is_some() {
                        let thread = self.eval(thread) as usize;
                        let local = &self.machine.program.template(*template).locals[variable];
                        let width = u64::from(local.ty.width);
                        let thing = Thing::Local { thread, variable };
                        self.note_read(thing, index.saturating_mul(width), width, value);
                    }
                    value
                }
                _ => 0,
            },
            Expr::ThreadPriority(thread) => self
                .thread(thread)
                .map_or(0, |thread| thread.priority.into()),
            Expr::Channel(channel) => self.machine.program.channel_handle(*channel, self.thread),
            Expr::ChannelExists(channel) => u64::from(self.channel(self.eval(channel)).is_some()),
            Expr::ChannelLen(channel) => {
                let handle = self.eval(channel);
                let length = self
                    .channel(handle)
                    .map_or(0, |(_, buffer)| buffer.len() as u64);
                self.note_whole(Thing::Channel(handle), length);
                length
            }
            Expr::ChannelCapacity(channel) => self
                .channel(self.eval(channel))
                .map_or(0, |(decl, _)| decl.capacity.into()),
            Expr::CanReceive {
                channel,
                args,
                random,
            } => u64::from(self.find_message(channel, args, *random).is_some()),
            Expr::Timeout => u64::from(self.timeout),
            Expr::Address { variable, .. } => {
                let program = self.machine.program;
                program.pointers.address(program.object_of(*variable))
            }
            Expr::Load { address, ty } => {
                let (address, bytes) = (self.eval(address), (ty.width / 8).into());
                let value = self.load(address, bytes);
                self.note_bytes(address, bytes, false, value);
                value
            }
            Expr::ObjectSize(address) => {
                let address = self.eval(address);
                let size = self.object_size(address);
                if let Some(slot) = self.machine.slot(address) {
                    self.note_whole(Thing::Life(slot), u64::from(size > 0));
                }
                size
            }
            Expr::ObjectSite { address, sites } => match self.home(self.eval(address)) {
                Some(Home::Dynamic(slot)) => {
                    let object = self.state.heap[slot].as_ref();
                    u64::from(object.is_some_and(|object| sites.contains(&object.site)))
                }
                _ => 0,
            },
        }
    }

    fn note_read(&self, thing: Thing, first_bit: u64, bits: u64, value: u64) {
        self.machine.note(Access {
            by: self.thread,
            thing,
            first_bit,
            bits,
            is_write: false,
            value,
        });
    }

    /// Notes that something is read as a whole.
    fn note_whole(&self, thing: Thing, value: u64) {
        self.machine.note_whole(self.thread, thing, false, value);
    }

    /// Notes an access to bytes that are all within a live object.
    fn note_bytes(&self, address: u64, count: u64, is_write: bool, value: u64) {
        if self.machine.record.is_none() {
            return;
        }
        if let Some((home, offset)) = self.range(address, count) {
            let thing = match home {
                Home::Global(global) => Thing::Global(global),
                Home::Dynamic(slot) => Thing::Object(slot),
            };
            self.machine.note(Access {
                by: self.thread,
                thing,
                first_bit: offset * 8,
                bits: count * 8,
                is_write,
                value,
            });
        }
    }

    /// The live object that an address points into, whatever the offset.
    fn home(&self, address: u64) -> Option<Home> {
        let number = self
            .machine
            .program
            .pointers
            .object(address)
            .checked_sub(1)?;
        let number = usize::try_from(number).ok()?;
        if let Some(&global) = self.machine.addressable.get(number) {
            return Some(Home::Global(global));
        }
        let slot = number - self.machine.addressable.len();
        self.state.heap.get(slot)?.as_ref()?;
        Some(Home::Dynamic(slot))
    }

    fn object_size(&self, address: u64) -> u64 {
        match self.home(address) {
            Some(Home::Global(global)) => self.machine.program.globals[global].bytes(),
            Some(Home::Dynamic(slot)) => self.state.heap[slot].as_ref().map_or(0, |o| o.size),
            None => 0,
        }
    }

    /// The object and the offset of bytes that are all within it.
    fn range(&self, address: u64, count: u64) -> Option<(Home, u64)> {
        let home = self.home(address)?;
        let offset = self.machine.program.pointers.offset(address);
        let end = offset.checked_add(count)?;
        (end <= self.object_size(address)).then_some((home, offset))
    }

    /// The bytes at an address as a number; 0 unless all are within a live object.
    fn load(&self, address: u64, count: u64) -> u64 {
        let Some((home, offset)) = self.range(address, count) else {
            return 0;
        };
        let program = self.machine.program;
        let (cells, width) = match home {
            Home::Global(global) => {
                let first = self.machine.global_offsets[global];
                let width = program.globals[global].ty.width;
                (&self.state.globals[first..], width)
            }
            Home::Dynamic(slot) => match &self.state.heap[slot] {
                Some(object) => (&object.cells[..], program.site(object.site).cell.width),
                None => return 0,
            },
        };
        bytes_at(cells, width, offset, count)
    }

    fn thread(&self, number: &Expr) -> Option<&'a Thread> {
        let number = usize::try_from(self.eval(number)).ok()?;
        self.state.threads.get(number)?.as_ref()
    }

    fn local(&self, thread: &Thread, variable: usize, index: u64) -> u64 {
        let template = thread.template;
        let len = self.machine.program.template(template).locals[variable].len;
        let offset = self.machine.local_offsets[template.index()][variable];
        cell(&thread.locals, offset, len, index)
    }

    fn channel(&self, handle: u64) -> Option<(&'p ChannelDecl, &'a Vec<Message>)> {
        let program = self.machine.program;
        match program.resolve_channel(handle)? {
            ChannelHome::Global(index) => Some((
                program.channels.get(index)?,
                self.state.channels.get(index)?,
            )),
            ChannelHome::Thread { thread, index } => {
                let thread = self.state.threads.get(thread)?.as_ref()?;
                let decl = program.template(thread.template).channels.get(index)?;
                Some((decl, thread.channels.get(index)?))
            }
        }
    }

    /// The message that a send of these values puts into the channel.
    fn message(&self, decl: &ChannelDecl, values: &[Expr]) -> Message {
        let mut values = values.iter();
        decl.fields
            .iter()
            .map(|field| {
                values.next().map_or(0, |value| {
                    resize(self.eval(value), value.width(), field.ty.width, true)
                })
            })
            .collect()
    }

    fn matches(&self, decl: &ChannelDecl, args: &[ReceiveArg], message: &Message) -> bool {
        args.iter()
            .zip(&decl.fields)
            .zip(message)
            .all(|((arg, field), &value)| match arg {
                ReceiveArg::Match(wanted) => {
                    Ty::signed(wanted.width()).number(self.eval(wanted)) == field.ty.number(value)
                }
                ReceiveArg::Store(_) | ReceiveArg::Ignore => true,
            })
    }

    /// The position of the message that a receive takes.
    fn find_message(&self, channel: &Expr, args: &[ReceiveArg], random: bool) -> Option<usize> {
        let handle = self.eval(channel);
        self.note_whole(Thing::Channel(handle), 0);
        let (decl, buffer) = self.channel(handle)?;
        let candidates = if random { buffer.len() } else { 1 };
        buffer
            .iter()
            .take(candidates)
            .position(|message| self.matches(decl, args, message))
    }
}

/// What a message says, as far as one number can.
fn message_value(message: &Message) -> u64 {
    message.first().copied().unwrap_or(0)
}

fn cell(cells: &[u64], offset: usize, len: u32, index: u64) -> u64 {
    if index < u64::from(len) {
        cells[offset + index as usize]
    } else {
        0
    }
}

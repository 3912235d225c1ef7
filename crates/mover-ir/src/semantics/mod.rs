//! What a program does: the concrete successor function.
//!
//! This is the one definition of meaning. It is written to be read, not to be
//! fast: a [`State`] is plain vectors, every step copies it. Engines have
//! machines of their own and are tested against this one, and every
//! counterexample is replayed here before it is shown.
//!
//! A step is one edge of one thread or, for a rendezvous, a send of one thread
//! and a receive of another. Which steps a state has:
//!
//! 1. If a thread is exclusive (it has moved to an atomic location and can
//!    move), the steps of that thread; otherwise the steps of all threads, or,
//!    with priority scheduling, of those threads whose priority is highest among
//!    the threads that have steps.
//! 2. If there are none, the same with [`Expr::Timeout`] true.
//! 3. If a thread has run into an error, there are none: the program has aborted. The same if a
//!    thread has met a bound: what the run would do is not known from there on.
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
//! A state without steps, error and bound is a proper end if every thread is at a location
//! marked as valid end, else a deadlock.
//!
//! This file says which steps there are; `effects` what a step does, `values` what expressions
//! are, `memory` and `channels` what these two speak of, and `accesses` listens to them. `races`
//! says what a data race is.

mod accesses;
mod channels;
mod effects;
mod memory;
mod races;
mod values;

use std::cell::RefCell;

use crate::expr::{Expr, mask};
use crate::program::{
    BoundMark, BoundMet, Edge, Effect, ErrorMark, Init, LocationId, Program, SiteId, TemplateId,
    Variable,
};

pub use accesses::{Access, Accesses, Thing};
pub use channels::{ChannelHome, MessageEvent};
pub use memory::bytes_at;
pub use races::{AccessedBytes, NextAccess};

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

/// Why a channel operation or a whole edge is or is not possible.
enum Readiness {
    Blocked,
    Ready,
    /// A send on an unbuffered channel, enabled if a receiver is ready.
    Offers {
        channel: u64,
        message: Message,
    },
}

#[derive(Clone)]
pub struct Machine<'p> {
    program: &'p Program,
    global_offsets: Vec<usize>,
    local_offsets: Vec<Vec<usize>>,
    uses_timeout: bool,
    uses_priorities: bool,
    /// The addressable globals; object number 1 comes first.
    addressable: Vec<usize>,
    /// Where accesses are recorded, if they are requested.
    record: Option<RefCell<Vec<Access>>>,
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

    /// All steps that are possible in the state; none once a thread has run into an error or a
    /// bound.
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
        if self.error(state).is_some() || self.bound(state).is_some() {
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

    /// The bound that some thread has met.
    pub fn bound(&self, state: &State) -> Option<(BoundMet, &'p BoundMark)> {
        state.threads.iter().flatten().find_map(|thread| {
            let template = self.program.template(thread.template);
            let mark = template.location(thread.location).bound.as_ref()?;
            let met = BoundMet {
                template: thread.template,
                location: thread.location,
            };
            Some((met, mark))
        })
    }

    /// Whether no thread can move although some thread is not at a proper end.
    pub fn is_deadlock(&self, state: &State) -> bool {
        self.error(state).is_none()
            && self.bound(state).is_none()
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

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
//! A state without steps and without error is a proper end if every thread stands at a location
//! marked as valid end, else a deadlock.

use crate::expr::{ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef, mask, resize};
use crate::print::format_output;
use crate::program::{
    ChannelDecl, Edge, Effect, ErrorMark, Init, LocationId, Program, TemplateId, Variable,
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

pub struct Machine<'p> {
    program: &'p Program,
    global_offsets: Vec<usize>,
    local_offsets: Vec<Vec<usize>>,
    uses_timeout: bool,
    uses_priorities: bool,
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
        if self.error(state).is_some() {
            return Vec::new();
        }
        let steps = self.steps_where(state, false);
        if steps.is_empty() && self.uses_timeout {
            return self.steps_where(state, true);
        }
        steps
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
                Readiness::Ready => steps.push((edge.priority, Step { by, with: None })),
                Readiness::Offers { channel, message } => steps.extend(
                    self.takers(state, number, channel, &message, timeout)
                        .into_iter()
                        .map(|taker| {
                            let with = Some(taker);
                            (edge.priority, Step { by, with })
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
        self.perform(&mut next, state, step.by, offered.as_ref(), &mut output);
        let mut last = step.by.thread;
        if let Some(with) = step.with {
            self.perform(&mut next, state, with, offered.as_ref(), &mut output);
            last = with.thread;
        }
        while matches!(next.threads.last(), Some(None)) {
            next.threads.pop();
        }
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

    /// Does one side of a step: `before` tells which edge, `next` is changed.
    fn perform(
        &self,
        next: &mut State,
        before: &State,
        by: Move,
        offered: Option<&Offer<'p>>,
        output: &mut String,
    ) {
        let edge = self.edge(before, by);
        if let Some(thread) = &mut next.threads[by.thread] {
            thread.location = edge.target;
        }
        for effect in &edge.effects {
            self.perform_effect(next, by.thread, effect, offered, output);
        }
    }

    fn perform_effect(
        &self,
        next: &mut State,
        number: usize,
        effect: &Effect,
        offered: Option<&Offer<'p>>,
        output: &mut String,
    ) {
        let view = View::new(self, next, number, false);
        match effect {
            Effect::Assign { place, value } => {
                let value = view.eval(value);
                self.store(next, number, place, value);
            }
            Effect::Send { .. } if offered.is_some() => {}
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
                let (decl, message) = match offered {
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
                if let Some(place) = result {
                    let value = started as u64 & mask(place.ty.width);
                    self.store(next, number, place, value);
                }
            }
            Effect::Exit => next.threads[number] = None,
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
                output.push_str(&format_output(self.program, format, &values));
            }
        }
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
        }
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
            && self.steps(state).is_empty()
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
                match place.variable {
                    VariableRef::Global(id) => {
                        let len = self.machine.program.globals[id.index()].len;
                        let offset = self.machine.global_offsets[id.index()];
                        cell(&self.state.globals, offset, len, index)
                    }
                    VariableRef::Local(id) => match &self.state.threads[self.thread] {
                        Some(thread) => self.local(thread, id.index(), index),
                        None => 0,
                    },
                }
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
            } => u64::from(
                self.thread(thread)
                    .is_some_and(|t| t.template == *template && locations.contains(&t.location)),
            ),
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => match self.thread(thread) {
                Some(thread) if thread.template == *template => {
                    self.local(thread, variable.index(), self.eval(index))
                }
                _ => 0,
            },
            Expr::ThreadPriority(thread) => self
                .thread(thread)
                .map_or(0, |thread| thread.priority.into()),
            Expr::Channel(channel) => self.machine.program.channel_handle(*channel, self.thread),
            Expr::ChannelExists(channel) => u64::from(self.channel(self.eval(channel)).is_some()),
            Expr::ChannelLen(channel) => self
                .channel(self.eval(channel))
                .map_or(0, |(_, buffer)| buffer.len() as u64),
            Expr::ChannelCapacity(channel) => self
                .channel(self.eval(channel))
                .map_or(0, |(decl, _)| decl.capacity.into()),
            Expr::CanReceive {
                channel,
                args,
                random,
            } => u64::from(self.find_message(channel, args, *random).is_some()),
            Expr::Timeout => u64::from(self.timeout),
        }
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
        let (decl, buffer) = self.channel(self.eval(channel))?;
        let candidates = if random { buffer.len() } else { 1 };
        buffer
            .iter()
            .take(candidates)
            .position(|message| self.matches(decl, args, message))
    }
}

fn cell(cells: &[u64], offset: usize, len: u32, index: u64) -> u64 {
    if index < u64::from(len) {
        cells[offset + index as usize]
    } else {
        0
    }
}

//! The story of a violation: what went wrong, in a sentence.
//!
//! A trace says what happened; the story selects the two or three accesses that caused the
//! failure, and gives their order.
//!
//! The concrete semantics determines the cells that each step reads and writes. So from the
//! failing statement one can follow data dependencies backwards, through the thread's own
//! variables, to the shared cells on which it depends, and to the steps that wrote them. In
//! addition the story looks for atomicity violations: two accesses of one thread to the same
//! cell with one of another thread between them, in one of the orders that no serial run has
//! (read–write–write: an update is lost; read–write–read and write–write–read: the cell has
//! changed between the two accesses; write–read–write: an intermediate value was read), and
//! reads whose value was out of date when the thread acted on it (Lu, Tucek, Qin and Zhou 2006,
//! AVIO). Of several, the one closest to the failure is reported. Cells that are used like
//! locks, by a step that waits for their value and changes it, provide the exclusion and are
//! ignored.
//!
//! For a deadlock the story says which thread waits for which: what the guards of a stuck
//! thread read, and who wrote it last; if these form a cycle, the cycle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Access, Accesses, ChannelHome, Machine, Message, State, Thing};

use crate::memory::{access_text, channel_name};
use crate::trace::{TraceStep, thread_name};

/// A step that matters, and in what way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The position of the step.
    pub step: usize,
    pub note: String,
}

/// What goes from one step to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ArrowKind {
    /// A value, through a shared cell.
    Value,
    /// A cell that is taken like a lock, from who gave it back.
    Lock,
    /// A message, through a channel.
    Message,
    /// A thread, from who started it.
    Start,
    /// An order: the transaction of the one must come before that of the other.
    Order,
}

impl ArrowKind {
    pub fn name(self) -> &'static str {
        match self {
            ArrowKind::Value => "reads-from",
            ArrowKind::Lock => "lock",
            ArrowKind::Message => "message",
            ArrowKind::Start => "start",
            ArrowKind::Order => "order",
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    pub kind: ArrowKind,
    /// The cell or channel.
    pub what: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Story {
    /// Which threads, which lines, which order.
    pub sentence: String,
    /// In the order of the steps, at most one for each.
    pub marks: Vec<Mark>,
    pub arrows: Vec<Arrow>,
}

/// A longer story would not be readable, and takes time and memory to compute.
pub const LONGEST: usize = 5000;

/// A run that was replayed: one state more than steps.
pub struct Run<'a> {
    pub program: &'a Program,
    pub machine: &'a Machine<'a>,
    pub states: &'a [State],
    pub steps: &'a [TraceStep],
}

/// Some bits of a shared thing.
type Key = (Thing, u64, u64);

fn key(access: &Access) -> Key {
    (access.thing, access.first_bit, access.bits)
}

/// What one unit (a step, or an atomic sequence of them) does to a cell.
#[derive(Clone, Copy, Debug)]
struct Touch {
    by: usize,
    unit: usize,
    /// The step that reads, unless the unit has written before, and the value.
    read: Option<(usize, u64)>,
    /// The step that writes last, and the value.
    write: Option<(usize, u64)>,
    /// Whether it waits for the value and then changes it.
    takes: bool,
}

impl Touch {
    fn last_step(&self) -> usize {
        let step = |part: Option<(usize, u64)>| part.map_or(0, |(step, _)| step);
        step(self.read).max(step(self.write))
    }
}

/// What a thread waits for when it is stuck.
struct Wait {
    what: String,
    /// The step that wrote it last.
    writer: Option<usize>,
    /// Whether that step took it like a lock.
    is_lock: bool,
}

/// What came between two accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    LostUpdate,
    ChangedBetweenReads,
    ChangedAfterWrite,
    SeenBetweenWrites,
    OutOfDate,
}

#[derive(Clone, Copy, Debug)]
struct Conflict {
    pattern: Pattern,
    key: Key,
    first: (usize, u64),
    between: (usize, u64),
    /// None if the thread does not look again.
    second: Option<(usize, u64)>,
    score: u32,
}

pub fn tell(run: &Run, property: Property, message: &str) -> Story {
    let teller = Teller::new(run);
    let mut marks = BTreeMap::new();
    let sentence = match property {
        Property::NoDeadlock => teller.deadlock(&mut marks),
        // The message says it all.
        Property::NoDataRace => message.to_string(),
        _ => teller.failure(message, &mut marks),
    };
    Story {
        sentence,
        marks: marks
            .into_iter()
            .map(|(step, note)| Mark { step, note })
            .collect(),
        arrows: teller.arrows(),
    }
}

struct Teller<'a> {
    run: &'a Run<'a>,
    accesses: Vec<Accesses>,
    /// For each thing, the steps that write it with what they write, in order.
    writes: HashMap<Thing, Vec<(usize, Access)>>,
    /// The first step of the unit that a step belongs to.
    unit: Vec<usize>,
    touches: BTreeMap<Key, Vec<Touch>>,
    messages: BTreeSet<Arrow>,
    has_files: bool,
}

impl<'a> Teller<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        let accesses: Vec<Accesses> = run
            .steps
            .iter()
            .zip(run.states)
            .map(|(step, state)| run.machine.accesses(state, step.step))
            .collect();
        let mut writes: HashMap<Thing, Vec<(usize, Access)>> = HashMap::new();
        for (step, accesses) in accesses.iter().enumerate() {
            for access in accesses.effects.iter().filter(|access| access.is_write) {
                let known = writes.entry(access.thing).or_default();
                known.push((step, *access));
            }
        }
        let mut unit: Vec<usize> = Vec::new();
        for step in 0..run.steps.len() {
            let goes_on = step > 0
                && run.states[step].exclusive == Some(run.steps[step].step.by.thread)
                && run.steps[step - 1].exclusive;
            unit.push(if goes_on { unit[step - 1] } else { step });
        }
        let files: BTreeSet<_> = run.steps.iter().filter_map(|s| s.file.as_ref()).collect();
        let mut teller = Teller {
            run,
            accesses,
            writes,
            unit,
            touches: BTreeMap::new(),
            messages: messages(run),
            has_files: files.len() > 1,
        };
        teller.touches = teller.find_touches();
        teller
    }

    fn is_shared(&self, access: &Access) -> bool {
        match access.thing {
            Thing::Global(global) => !self.run.program.globals[global].name.starts_with('%'),
            Thing::Object(_) => true,
            _ => false,
        }
    }

    fn find_touches(&self) -> BTreeMap<Key, Vec<Touch>> {
        let mut touches: BTreeMap<Key, Vec<Touch>> = BTreeMap::new();
        for (step, accesses) in self.accesses.iter().enumerate() {
            let guards = accesses.guards.len();
            for (position, access) in accesses.iter().enumerate() {
                if !self.is_shared(access) {
                    continue;
                }
                let unit = self.unit[step];
                let known = touches.entry(key(access)).or_default();
                let is_new = known
                    .last()
                    .is_none_or(|touch| touch.unit != unit || touch.by != access.by);
                if is_new {
                    known.push(Touch {
                        by: access.by,
                        unit,
                        read: None,
                        write: None,
                        takes: false,
                    });
                }
                let Some(touch) = known.last_mut() else {
                    continue;
                };
                if access.is_write {
                    touch.write = Some((step, access.value));
                    touch.takes &= touch.read.is_some();
                } else if touch.write.is_none() && touch.read.is_none() {
                    touch.read = Some((step, access.value));
                    touch.takes = position < guards;
                }
            }
        }
        for touch in touches.values_mut().flatten() {
            touch.takes &= touch.write.is_some();
        }
        touches
    }

    /// The last step before this one that writes what is read.
    fn writer(&self, step: usize, read: &Access) -> Option<usize> {
        let writes = self.writes.get(&read.thing)?;
        let before = writes.partition_point(|(at, _)| *at < step);
        writes[..before]
            .iter()
            .rfind(|(_, write)| write.overlaps(read))
            .map(|(at, _)| *at)
    }

    /// The shared reads that what a step does depends on, through its thread's own variables; the
    /// latest first.
    fn sources(&self, step: usize) -> Vec<(usize, Access)> {
        let mut found: BTreeSet<(usize, Access)> = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let reads = |step: usize| {
            let reads = self.accesses[step].iter().filter(|access| !access.is_write);
            reads.map(move |access| (step, *access))
        };
        let mut work: Vec<(usize, Access)> = reads(step).collect();
        while let Some((at, read)) = work.pop() {
            if !seen.insert((at, read)) {
                continue;
            }
            if let Thing::Local { .. } = read.thing {
                work.extend(self.writer(at, &read).into_iter().flat_map(reads));
            } else if self.is_shared(&read) || is_gone(&read) {
                found.insert((at, read));
            }
        }
        found.into_iter().rev().collect()
    }

    fn thread(&self, step: usize) -> &str {
        &self.run.steps[step].thread
    }

    fn place(&self, step: usize) -> String {
        let step = &self.run.steps[step];
        match (&step.file, step.line) {
            (Some(file), Some(line)) if self.has_files => {
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{file}:{line}")
            }
            (_, Some(line)) => format!("line {line}"),
            _ => "a step of its own".into(),
        }
    }

    /// The name of what an access of a step refers to, and the value.
    fn name(&self, step: usize, access: &Access) -> Option<(String, String)> {
        let program = self.run.program;
        if let Thing::Life(slot) | Thing::Object(slot) = access.thing {
            // What is gone is called as it was called while it was there.
            let is_there = |state: &&State| matches!(state.heap.get(slot), Some(Some(_)));
            let states = self.run.states[..=step].iter().rev();
            if let Some(state) = states.into_iter().find(is_there) {
                return access_text(program, state, access);
            }
        }
        // An object that a step makes is there after it.
        access_text(program, &self.run.states[step], access)
            .or_else(|| access_text(program, &self.run.states[step + 1], access))
    }

    fn key_name(&self, key: Key, (step, value): (usize, u64)) -> (String, String) {
        let access = Access {
            by: self.run.steps[step].step.by.thread,
            thing: key.0,
            first_bit: key.1,
            bits: key.2,
            is_write: false,
            value,
        };
        self.name(step, &access).unwrap_or_default()
    }

    fn failure(&self, message: &str, marks: &mut BTreeMap<usize, String>) -> String {
        let Some(last) = self.run.steps.len().checked_sub(1) else {
            return message.to_string();
        };
        let sources = self.sources(last);
        let mut sentence = String::new();
        if let Some(conflict) = self.conflict(last, &sources) {
            sentence = format!("{}. Then ", self.conflict_text(&conflict, marks));
        }
        let mut seen = BTreeSet::new();
        let mut values = Vec::new();
        for (step, read) in &sources {
            if values.len() == 2 || !seen.insert(key(read)) {
                continue;
            }
            let Some((name, value)) = self.name(*step, read) else {
                continue;
            };
            let writer = self.writer(*step, read);
            let from = match writer {
                Some(writer) if self.run.steps[writer].step.by.thread != read.by => {
                    format!(" from {} at {}", self.thread(writer), self.place(writer))
                }
                Some(_) => String::new(),
                None => ", as at the start".into(),
            };
            let found = match read.thing {
                Thing::Life(_) => format!("{name} {value}"),
                _ => format!("{name} = {value}"),
            };
            let told = format!("{found}{from}");
            marks
                .entry(*step)
                .or_insert_with(|| format!("finds {found}"));
            if let Some(writer) = writer {
                marks
                    .entry(writer)
                    .or_insert_with(|| format!("makes {name} {value}"));
            }
            values.push(told);
        }
        if values.is_empty() {
            values = self.own_values(last, marks);
        }
        let thread = self.thread(last);
        let place = self.place(last);
        let finds = match values.len() {
            0 => String::new(),
            _ => format!(" finds {}", values.join(" and ")),
        };
        let fails = match finds.is_empty() {
            true => format!("{thread} fails at {place}"),
            false => format!("{thread}{finds}, and fails at {place}"),
        };
        marks.insert(
            last,
            match marks.get(&last) {
                Some(note) => format!("{note}, and fails"),
                None => "fails".into(),
            },
        );
        format!("{sentence}{fails}: {message}")
    }

    /// The thread's own variables that a step reads, with the message that a value came by.
    fn own_values(&self, step: usize, marks: &mut BTreeMap<usize, String>) -> Vec<String> {
        let mut values = Vec::new();
        let mut seen = BTreeSet::new();
        for read in self.accesses[step].iter().filter(|access| !access.is_write) {
            let Thing::Local { .. } = read.thing else {
                continue;
            };
            let Some((name, value)) = self.name(step, read) else {
                continue;
            };
            if values.len() == 2 || !seen.insert(name.clone()) {
                continue;
            }
            let name = name.rsplit(':').next().unwrap_or(&name).to_string();
            let sent = self.writer(step, read).and_then(|receive| {
                let mut messages = self.messages.iter();
                let message = messages.find(|arrow| arrow.to == receive)?;
                marks
                    .entry(receive)
                    .or_insert_with(|| format!("receives {name} = {value}"));
                Some(message.from)
            });
            let from = sent.map_or(String::new(), |sent| {
                marks
                    .entry(sent)
                    .or_insert_with(|| format!("sends {value}"));
                format!(" sent by {} at {}", self.thread(sent), self.place(sent))
            });
            values.push(format!("{name} = {value}{from}"));
        }
        values
    }

    /// The order of accesses that explains most.
    fn conflict(&self, last: usize, sources: &[(usize, Access)]) -> Option<Conflict> {
        let close: BTreeSet<Key> = sources.iter().map(|(_, read)| key(read)).collect();
        let near: BTreeSet<Key> = sources
            .iter()
            .filter_map(|(step, read)| self.writer(*step, read))
            .flat_map(|writer| self.sources(writer))
            .map(|(_, read)| key(&read))
            .collect();
        let failing = self.run.steps[last].step.by.thread;
        let mut best: Option<Conflict> = None;
        for (&key, touches) in &self.touches {
            if touches.iter().any(|touch| touch.takes) {
                continue;
            }
            for mut conflict in self.conflicts_of(key, touches) {
                let thread = self.run.steps[conflict.first.0].step.by.thread;
                let is_read_at_end = sources.iter().any(|(step, read)| {
                    crate::story::key(read) == key && Some(*step) == conflict.second.map(|s| s.0)
                });
                conflict.score += 4 * u32::from(close.contains(&key))
                    + 2 * u32::from(near.contains(&key))
                    + u32::from(thread == failing)
                    + 2 * u32::from(is_read_at_end);
                let rank = |c: &Conflict| (c.score, c.second.map_or(c.between.0, |s| s.0));
                if best
                    .as_ref()
                    .is_none_or(|best| rank(best) < rank(&conflict))
                {
                    best = Some(conflict);
                }
            }
        }
        best.filter(|conflict| conflict.score >= 4)
    }

    fn conflicts_of(&self, key: Key, touches: &[Touch]) -> Vec<Conflict> {
        let mut found = Vec::new();
        for (position, first) in touches.iter().enumerate() {
            let rest = &touches[position + 1..];
            let again = rest.iter().position(|touch| touch.by == first.by);
            let second = again.map(|at| &rest[at]);
            let between = &rest[..again.unwrap_or(rest.len())];
            for other in between {
                let changes = |from: u64| other.write.filter(|(_, value)| *value != from);
                let mut add = |pattern, first, between, second, score| {
                    found.push(Conflict {
                        pattern,
                        key,
                        first,
                        between,
                        second,
                        score,
                    });
                };
                match (first.read, first.write, second) {
                    (Some(read), None, Some(second)) => {
                        let Some(change) = changes(read.1) else {
                            continue;
                        };
                        match (second.read, second.write) {
                            (None, Some(write)) => {
                                add(Pattern::LostUpdate, read, change, Some(write), 6);
                            }
                            (Some(again), _) if again.1 != read.1 => {
                                let pattern = Pattern::ChangedBetweenReads;
                                add(pattern, read, change, Some(again), 4);
                            }
                            _ => {}
                        }
                    }
                    (_, Some(write), Some(second)) => match (second.read, other.read) {
                        (Some(again), _) if again.1 != write.1 => {
                            if let Some(change) = changes(write.1) {
                                let pattern = Pattern::ChangedAfterWrite;
                                add(pattern, write, change, Some(again), 4);
                            }
                        }
                        (None, Some(seen)) if seen.1 == write.1 => {
                            let pattern = Pattern::SeenBetweenWrites;
                            add(pattern, write, seen, second.write, 3);
                        }
                        _ => {}
                    },
                    (Some(read), None, None) => {
                        let acts = self.run.steps[other.last_step() + 1..]
                            .iter()
                            .any(|step| step.step.by.thread == first.by);
                        if let Some(change) = changes(read.1).filter(|_| acts) {
                            add(Pattern::OutOfDate, read, change, None, 3);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn conflict_text(&self, conflict: &Conflict, marks: &mut BTreeMap<usize, String>) -> String {
        let (first, between) = (conflict.first, conflict.between);
        let (name, before) = self.key_name(conflict.key, first);
        let (_, other) = self.key_name(conflict.key, between);
        let (one, two) = (self.thread(first.0), self.thread(between.0));
        let (at_first, at_between) = (self.place(first.0), self.place(between.0));
        let second = conflict.second.map(|second| {
            let (_, value) = self.key_name(conflict.key, second);
            (second.0, value, self.place(second.0))
        });
        let (step, value, at_second) = second.unwrap_or_default();
        let mut mark = |step: usize, note: String| {
            marks.entry(step).or_insert(note);
        };
        match conflict.pattern {
            Pattern::LostUpdate => {
                mark(first.0, format!("reads {name} = {before}"));
                mark(between.0, format!("writes {name} = {other} in between"));
                mark(step, format!("writes {name} = {value} over it"));
                format!(
                    "{one} reads {name} = {before} at {at_first}; before it writes {name} = \
                     {value} at {at_second}, {two} writes {name} = {other} at {at_between}, and \
                     that is lost"
                )
            }
            Pattern::ChangedBetweenReads => {
                mark(first.0, format!("reads {name} = {before}"));
                mark(between.0, format!("writes {name} = {other} in between"));
                mark(step, format!("reads {name} again: {value}"));
                format!(
                    "{one} reads {name} = {before} at {at_first}; {two} writes {name} = {other} \
                     at {at_between}; {one} reads {name} again at {at_second} and finds {value}"
                )
            }
            Pattern::ChangedAfterWrite => {
                mark(first.0, format!("writes {name} = {before}"));
                mark(between.0, format!("writes {name} = {other} in between"));
                mark(step, format!("reads {name} = {value}"));
                format!(
                    "{one} writes {name} = {before} at {at_first}; {two} writes {name} = {other} \
                     at {at_between}; {one} reads {name} at {at_second} and finds {value}"
                )
            }
            Pattern::SeenBetweenWrites => {
                mark(first.0, format!("writes {name} = {before}"));
                mark(between.0, format!("reads {name} = {other} in between"));
                mark(step, format!("writes {name} = {value}"));
                format!(
                    "{two} reads {name} = {other} at {at_between}, between the writes of {one} \
                     at {at_first} and at {at_second}"
                )
            }
            Pattern::OutOfDate => {
                mark(first.0, format!("reads {name} = {before}"));
                mark(
                    between.0,
                    format!("writes {name} = {other} in the meantime"),
                );
                format!(
                    "{one} reads {name} = {before} at {at_first}; before it acts on that, {two} \
                     writes {name} = {other} at {at_between}"
                )
            }
        }
    }

    /// What a stuck thread waits for.
    fn waits_for(&self, state: &State, thread: usize) -> Option<Wait> {
        let end = self.run.steps.len();
        let mut best: Option<(u32, Wait)> = None;
        for access in self.run.machine.waits_on(state, thread) {
            let Some((name, value)) = access_text(self.run.program, state, &access) else {
                continue;
            };
            let writer = match access.thing {
                Thing::Channel(_) => None,
                _ => self.writer(end, &access),
            };
            let is_lock = writer.is_some_and(|writer| {
                let touches = self.touches.get(&key(&access)).into_iter().flatten();
                let unit = self.unit[writer];
                touches
                    .clone()
                    .any(|touch| touch.unit == unit && touch.takes)
            });
            let what = match access.thing {
                Thing::Local { thread: whose, .. } if whose == thread => continue,
                Thing::Channel(handle) => self.channel_wait(state, handle, &name),
                Thing::Thread(_) => name,
                _ => match name.split_once('+') {
                    // Something within a lock or the like that the source has no name for.
                    Some((whole, _)) => whole.to_string(),
                    None if is_lock => name,
                    None => format!("{name}, which is {value}"),
                },
            };
            // What another thread has done says more than what the thread itself has.
            let rank = match (access.thing, writer) {
                (Thing::Channel(_), _) => 3,
                (_, Some(writer)) if self.run.steps[writer].step.by.thread != thread => 3,
                (_, Some(_)) => 2,
                (Thing::Thread(_), None) => 1,
                _ => 0,
            };
            if best.as_ref().is_none_or(|(known, _)| *known < rank) {
                let wait = Wait {
                    what,
                    writer,
                    is_lock,
                };
                best = Some((rank, wait));
            }
        }
        best.map(|(_, wait)| wait)
    }

    fn channel_wait(&self, state: &State, handle: u64, name: &str) -> String {
        let program = self.run.program;
        let declaration = match program.resolve_channel(handle) {
            Some(ChannelHome::Global(index)) => program.channels.get(index),
            Some(ChannelHome::Thread { thread, index }) => state
                .threads
                .get(thread)
                .and_then(Option::as_ref)
                .and_then(|alive| program.template(alive.template).channels.get(index)),
            None => None,
        };
        let capacity = declaration.map_or(0, |declaration| declaration.capacity as usize);
        let buffers = buffers(program, state);
        let length = buffers
            .iter()
            .find(|(known, _)| *known == handle)
            .map_or(0, |(_, messages)| messages.len());
        if capacity == 0 {
            format!("a partner at {name}")
        } else if length == capacity {
            format!("room in {name}")
        } else {
            format!("a message in {name}")
        }
    }

    fn deadlock(&self, marks: &mut BTreeMap<usize, String>) -> String {
        let Some(state) = self.run.states.last() else {
            return String::new();
        };
        let stuck = self.run.machine.stuck_threads(state);
        let waits: BTreeMap<usize, Wait> = stuck
            .iter()
            .filter_map(|&thread| Some((thread, self.waits_for(state, thread)?)))
            .collect();
        let next = |thread: usize| -> Option<usize> {
            let writer = waits.get(&thread)?.writer?;
            Some(self.run.steps[writer].step.by.thread)
        };
        // A thread that waits for itself is a story only if it has the lock.
        let is_told = |circle: &Vec<usize>| match circle[..] {
            [only] => waits.get(&only).is_some_and(|wait| wait.is_lock),
            _ => true,
        };
        let circle = circle(&stuck, next).filter(is_told);
        let shown = circle.as_ref().unwrap_or(&stuck);
        const MOST: usize = 4;
        let mut parts = Vec::new();
        for &thread in shown.iter().take(MOST) {
            let name = thread_name(self.run.program, state, thread);
            let place = self
                .standing_line(state, thread)
                .map_or(String::new(), |line| format!(" at line {line}"));
            let wait = match waits.get(&thread) {
                None => format!("{name} is stuck{place}"),
                Some(wait) => {
                    let what = &wait.what;
                    let doing = wait.writer.map_or(String::new(), |writer| {
                        let at = self.place(writer);
                        let is_own = self.run.steps[writer].step.by.thread == thread;
                        let who = if is_own { "it" } else { self.thread(writer) };
                        let by = if is_own {
                            "itself"
                        } else {
                            self.thread(writer)
                        };
                        let note = if wait.is_lock {
                            format!("takes {what}, for which {name} will wait")
                        } else {
                            format!("{name} will wait for this to change")
                        };
                        marks.entry(writer).or_insert(note);
                        if wait.is_lock {
                            format!(", which {who} has held since {at}")
                        } else {
                            format!(", last changed by {by} at {at}")
                        }
                    });
                    format!("{name} waits{place} for {what}{doing}")
                }
            };
            parts.push(wait);
        }
        if shown.len() > MOST {
            parts.push(format!("{} more wait", shown.len() - MOST));
        }
        let parts = parts.join("; ");
        match circle {
            Some(circle) if circle.len() > 1 => format!("circular wait: {parts}"),
            _ => parts,
        }
    }

    fn standing_line(&self, state: &State, thread: usize) -> Option<usize> {
        let alive = state.threads.get(thread)?.as_ref()?;
        let template = self.run.program.template(alive.template);
        let location = template.location(alive.location);
        let mut spans = location.edges.iter().filter_map(|edge| edge.span);
        let span = spans.next().or(location.span)?;
        Some(self.run.program.info.sources.locate(span).line)
    }

    fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = BTreeSet::new();
        for (step, accesses) in self.accesses.iter().enumerate() {
            for read in accesses.iter().filter(|access| !access.is_write) {
                let Some(writer) = self.writer(step, read) else {
                    continue;
                };
                let is_other = self.run.steps[writer].step.by.thread != read.by;
                let is_value = matches!(
                    read.thing,
                    Thing::Global(_) | Thing::Object(_) | Thing::Life(_)
                );
                if !is_other || !is_value {
                    continue;
                }
                let Some((what, _)) = self.name(step, read) else {
                    continue;
                };
                let takes = self.touches.get(&key(read)).is_some_and(|touches| {
                    let unit = self.unit[step];
                    touches.iter().any(|t| t.unit == unit && t.takes)
                });
                arrows.insert(Arrow {
                    from: writer,
                    to: step,
                    kind: if takes {
                        ArrowKind::Lock
                    } else {
                        ArrowKind::Value
                    },
                    what,
                });
            }
        }
        arrows.extend(self.messages.iter().cloned());
        self.add_starts(&mut arrows);
        arrows.into_iter().collect()
    }

    /// From where a thread is started to its first step.
    fn add_starts(&self, arrows: &mut BTreeSet<Arrow>) {
        let mut started: HashMap<usize, usize> = HashMap::new();
        for (step, accesses) in self.accesses.iter().enumerate() {
            let by = self.run.steps[step].step.by.thread;
            if let Some(from) = started.remove(&by) {
                arrows.insert(Arrow {
                    from,
                    to: step,
                    kind: ArrowKind::Start,
                    what: self.thread(step).to_string(),
                });
            }
            for access in &accesses.effects {
                if let Thing::Thread(thread) = access.thing
                    && access.is_write
                    && access.value == 1
                {
                    started.insert(thread, step);
                }
            }
        }
    }
}

/// From each send to the receive that takes the message.
fn messages(run: &Run) -> BTreeSet<Arrow> {
    let mut arrows = BTreeSet::new();
    let mut senders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (step, pair) in run.states.windows(2).enumerate() {
        let before: HashMap<u64, _> = buffers(run.program, &pair[0]).into_iter().collect();
        for (handle, new) in buffers(run.program, &pair[1]) {
            let Some(old) = before.get(&handle).filter(|old| **old != new) else {
                continue;
            };
            let queue = senders.entry(handle).or_default();
            let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            if new.len() > old.len() {
                queue.insert(same.min(queue.len()), step);
            } else if same < queue.len() {
                arrows.insert(Arrow {
                    from: queue.remove(same),
                    to: step,
                    kind: ArrowKind::Message,
                    what: channel_name(run.program, &pair[0], handle).unwrap_or_default(),
                });
            }
        }
    }
    arrows
}

/// Whether an access finds that there is no object.
fn is_gone(access: &Access) -> bool {
    matches!(access.thing, Thing::Life(_)) && access.value == 0
}

/// Threads that wait for each other in a circle; a thread can wait for itself.
fn circle(stuck: &[usize], next: impl Fn(usize) -> Option<usize>) -> Option<Vec<usize>> {
    for &start in stuck {
        let mut way = vec![start];
        while let Some(to) = next(way[way.len() - 1]).filter(|to| stuck.contains(to)) {
            if let Some(at) = way.iter().position(|&known| known == to) {
                return Some(way[at..].to_vec());
            }
            way.push(to);
        }
    }
    None
}

/// All channels of a state with the values that refer to them.
fn buffers<'s>(program: &Program, state: &'s State) -> Vec<(u64, &'s Vec<Message>)> {
    use mover_ir::expr::ChannelRef;
    let mut found = Vec::new();
    for (index, buffer) in state.channels.iter().enumerate() {
        let channel = ChannelRef::Global(index as u32);
        found.push((program.channel_handle(channel, 0), buffer));
    }
    for (thread, alive) in state.threads.iter().enumerate() {
        for (index, buffer) in alive
            .iter()
            .flat_map(|alive| alive.channels.iter().enumerate())
        {
            let channel = ChannelRef::Local(index as u32);
            found.push((program.channel_handle(channel, thread), buffer));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_waiting_threads_is_found() {
        let waits = |thread: usize| match thread {
            0 => Some(1),
            1 => Some(2),
            2 => Some(1),
            _ => None,
        };
        assert_eq!(circle(&[0, 1, 2, 3], waits), Some(vec![1, 2]));
        assert_eq!(circle(&[0, 3], waits), None);
        assert_eq!(circle(&[5], |_| Some(5)), Some(vec![5]));
    }
}

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
//! For a deadlock the story says what each thread waits for ([`waiting`]); for a memory error, which
//! object was allocated, freed and used by whom ([`memory_error`]).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Access, Accesses, Machine, State, Step, Thing};

use crate::memory::{access_text, known_bytes, object_name};
use crate::sync_objects::{self, Role, SyncObjects};
use crate::trace::TraceStep;

mod arrows;
pub mod memory_error;
mod waiting;

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
    /// The phrases of the sentence that are about a step: byte ranges, in their order.
    pub links: Vec<Link>,
    /// Who waits for whom at a deadlock.
    pub waits: Vec<WaitFor>,
}

/// A phrase of the sentence and the step that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    pub phrase: std::ops::Range<usize>,
    pub step: usize,
}

/// A thread that waits at a deadlock, and the threads that would have to do something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitFor {
    pub thread: String,
    pub on: Vec<String>,
    /// The lock, channel or variable; empty if it waits for a thread to end.
    pub what: String,
}

/// A phrase about a step, until the sentence is complete: opened, number of the step, phrase, closed.
const OPEN: char = '\u{1}';
const STEP: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// Takes the marks of phrases out of a sentence.
fn linked(marked: &str, steps: usize) -> (String, Vec<Link>) {
    let mut sentence = String::new();
    let mut links = Vec::new();
    let mut rest = marked;
    while let Some((before, after)) = rest.split_once(OPEN) {
        sentence += before;
        rest = after;
        let Some((number, phrase)) = after.split_once(STEP) else {
            continue;
        };
        let (Ok(step), Some((phrase, after))) = (number.parse(), phrase.split_once(CLOSE)) else {
            continue;
        };
        let start = sentence.len();
        sentence += phrase;
        if step < steps {
            let phrase = start..sentence.len();
            links.push(Link { phrase, step });
        }
        rest = after;
    }
    sentence += rest;
    (sentence, links)
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

/// What came between two accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    LostUpdate,
    ChangedBetweenReads,
    ChangedAfterWrite,
    SeenBetweenWrites,
    OutOfDate,
    /// A compare-and-swap succeeds, because a value that was changed has come back.
    CameBack,
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

impl Conflict {
    /// The read at its end, whose value it tells.
    fn read_last(&self) -> Option<(usize, Key)> {
        let is_read = matches!(
            self.pattern,
            Pattern::ChangedBetweenReads | Pattern::ChangedAfterWrite
        );
        let (step, _) = self.second.filter(|_| is_read)?;
        Some((step, self.key))
    }
}

/// The synchronisation objects of a run, with the accesses of its steps.
pub fn objects(run: &Run) -> SyncObjects {
    let steps: Vec<Step> = run.steps.iter().map(|step| step.step).collect();
    let accesses = accesses(run);
    SyncObjects::find(run.program, run.machine, run.states, &steps, &accesses)
}

fn accesses(run: &Run) -> Vec<Accesses> {
    run.steps
        .iter()
        .zip(run.states)
        .map(|(step, state)| run.machine.accesses(state, step.step))
        .collect()
}

/// What a step reads of what threads share, without synchronisation objects.
pub fn reads(run: &Run, objects: &SyncObjects, step: usize) -> Vec<String> {
    let state = &run.states[step];
    let accesses = run.machine.accesses(state, run.steps[step].step);
    let mut reads: Vec<String> = Vec::new();
    for access in accesses.iter().filter(|access| !access.is_write) {
        let is_data = matches!(access.thing, Thing::Global(_) | Thing::Object(_));
        if !is_data || objects.role(access).is_some() {
            continue;
        }
        if let Some((name, value)) = access_text(run.program, state, access) {
            let read = format!("{name} = {}", gone_named(run, step, &value));
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
    }
    reads
}

/// What a thread waits for at the end of a run, as far as there is a word for it: `waits at line 7 for m, which
/// P[1] has held since line 3`.
pub fn wait_at_end(run: &Run, objects: &SyncObjects, thread: usize) -> Option<String> {
    let wait = Teller::new(run, objects).waits_for(run.states.last()?, thread)?;
    Some(linked(&wait.text, run.steps.len()).0)
}

/// What the steps from one on read of what threads share, if they change nothing of it, with who wrote it last:
/// a loop that waits for something.
pub fn reads_in_vain(run: &Run, objects: &SyncObjects, start: usize) -> Vec<String> {
    let changes_nothing = run.states.windows(2).skip(start).all(|pair| {
        let [before, after] = [&pair[0], &pair[1]];
        before.globals == after.globals && before.heap == after.heap
    });
    if !changes_nothing {
        return Vec::new();
    }
    let teller = Teller::new(run, objects);
    let mut told: Vec<String> = Vec::new();
    for (step, accesses) in teller.accesses.iter().enumerate().skip(start) {
        for access in accesses.iter().filter(|access| !access.is_write) {
            let is_data = matches!(access.thing, Thing::Global(_) | Thing::Object(_));
            if !is_data || objects.role(access).is_some() {
                continue;
            }
            let Some((name, value)) = teller.name(step, access) else {
                continue;
            };
            let from = match teller.writer(start, access) {
                Some(writer) => {
                    format!(
                        " from {} at {}",
                        teller.thread(writer),
                        teller.place(writer)
                    )
                }
                None => ", as at the start".into(),
            };
            let text = linked(&format!("{name} = {value}{from}"), run.steps.len()).0;
            if !told.contains(&text) {
                told.push(text);
            }
        }
    }
    told
}

pub fn tell(run: &Run, objects: &SyncObjects, property: Property, message: &str) -> Story {
    let teller = Teller::new(run, objects);
    let mut marks = BTreeMap::new();
    let mut waits = Vec::new();
    let sentence = match property {
        Property::NoDeadlock => teller.deadlock(&mut marks, &mut waits),
        // The message says it all.
        Property::NoDataRace => message.to_string(),
        _ => teller.failure(property, message, &mut marks),
    };
    let (sentence, links) = linked(&sentence, run.steps.len());
    Story {
        sentence,
        marks: marks
            .into_iter()
            .map(|(step, note)| Mark { step, note })
            .collect(),
        arrows: teller.arrows(),
        links,
        waits,
    }
}

struct Teller<'a> {
    run: &'a Run<'a>,
    objects: &'a SyncObjects,
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
    fn new(run: &'a Run<'a>, objects: &'a SyncObjects) -> Self {
        let accesses = accesses(run);
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
            objects,
            accesses,
            writes,
            unit,
            touches: BTreeMap::new(),
            messages: arrows::messages(run),
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
            if self.is_carried(&read) {
                work.extend(self.writer(at, &read).into_iter().flat_map(reads));
            } else if self.is_shared(&read) || is_gone(&read) {
                found.insert((at, read));
            }
        }
        found.into_iter().rev().collect()
    }

    /// Whether a value is only passed on: by a variable of a thread, or by what the front end keeps
    /// the result of a thread in for who joins it.
    fn is_carried(&self, access: &Access) -> bool {
        match access.thing {
            Thing::Local { .. } => true,
            Thing::Global(global) => self.run.program.globals[global].name == "%thread_result",
            _ => false,
        }
    }

    fn thread(&self, step: usize) -> &str {
        &self.run.steps[step].thread
    }

    /// Where a step is, as a phrase that leads to it.
    fn place(&self, step: usize) -> String {
        let told = &self.run.steps[step];
        let place = match told.line {
            Some(line) => self.place_text(told.file.as_ref(), line),
            None => "a step of its own".into(),
        };
        format!("{OPEN}{step}{STEP}{place}{CLOSE}")
    }

    fn place_text(&self, file: Option<&String>, line: usize) -> String {
        match file.filter(|_| self.has_files) {
            Some(file) => {
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{file}:{line}")
            }
            None => format!("line {line}"),
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
                let (name, value) = access_text(program, state, access)?;
                return Some((name, gone_named(self.run, step, &value)));
            }
        }
        // An object that a step makes is there after it.
        let (name, value) = access_text(program, &self.run.states[step], access)
            .or_else(|| access_text(program, &self.run.states[step + 1], access))?;
        Some((name, gone_named(self.run, step, &value)))
    }

    /// The steps that allocated and freed the object that was last at a position of the heap.
    fn life(&self, slot: usize) -> (Option<usize>, Option<usize>) {
        let is_there = |state: &State| matches!(state.heap.get(slot), Some(Some(_)));
        let changes = |from: bool, to: bool| {
            self.run
                .states
                .windows(2)
                .rposition(|pair| is_there(&pair[0]) == from && is_there(&pair[1]) == to)
        };
        (changes(false, true), changes(true, false))
    }

    /// Who allocated and who freed what the last step uses or frees.
    fn gone_object(&self, last: usize, marks: &mut BTreeMap<usize, String>) -> Option<String> {
        let run = self.run;
        let step = run.steps[last].step;
        let error = memory_error::find(run.program, run.machine, &run.states[..=last], step)?;
        let slot = error.gone?;
        let (allocated, freed) = self.life(slot);
        let (allocated, freed) = (allocated?, freed?);
        let object = run.states[freed].heap.get(slot)?.as_ref()?;
        let name = object_name(run.program, slot, object);
        let is_heap = run.program.site(object.site).kind == mover_ir::program::SiteKind::Heap;
        let (made, ended) = match is_heap {
            true => ("allocates", "frees"),
            false => ("declares", "ends the lifetime of"),
        };
        marks
            .entry(allocated)
            .or_insert_with(|| format!("{made} {name}"));
        marks.insert(freed, format!("{ended} {name}"));
        let does = if error.frees { "frees" } else { "uses" };
        marks.insert(last, format!("{does} {name}: fails"));
        let (made, ended) = match is_heap {
            true => ("allocated", "freed"),
            false => ("declared", "left"),
        };
        let bytes = known_bytes(run.program, object);
        Some(format!(
            "{} {does} {name} ({bytes} bytes) at {}, which {} {made} at {} and {} {ended} at {}",
            self.thread(last),
            self.place(last),
            self.thread(allocated),
            self.place(allocated),
            self.thread(freed),
            self.place(freed)
        ))
    }

    /// Whether the message says what the failing step has computed from its variables.
    fn is_memory_error(&self, last: usize) -> bool {
        let run = self.run;
        let step = run.steps[last].step;
        memory_error::find(run.program, run.machine, &run.states[last..=last], step).is_some()
    }

    /// What is still allocated when the program ends, and who allocated it.
    fn leak(&self, last: usize, marks: &mut BTreeMap<usize, String>) -> Option<String> {
        const MOST: usize = 2;
        let state = &self.run.states[last];
        let mut told = Vec::new();
        let objects = memory_error::allocated(self.run.program, state);
        for (slot, object) in objects.take(MOST) {
            let step = self.life(slot).0?;
            let name = object_name(self.run.program, slot, object);
            marks
                .entry(step)
                .or_insert_with(|| format!("allocates {name}"));
            told.push(format!(
                "{name}, which {} allocated at {}",
                self.thread(step),
                self.place(step)
            ));
        }
        if told.is_empty() {
            return None;
        }
        marks.insert(last, "ends the program: fails".into());
        Some(format!(
            "{} ends the program at {} and nobody has freed {}",
            self.thread(last),
            self.place(last),
            told.join(", nor ")
        ))
    }

    /// What another thread has done to a thread, such as to detach it, before a use that fails.
    fn status_before(&self, last: usize, marks: &mut BTreeMap<usize, String>) -> Option<String> {
        let program = self.run.program;
        let mut reads = self.accesses[last].guards.iter();
        let (read, writer) = reads.find_map(|read| match read.thing {
            Thing::Global(global) if program.globals[global].name == "%thread_status" => {
                Some((read, self.writer(last, read)?))
            }
            _ => None,
        })?;
        // One that has merely been started would be no reason.
        if read.value == 1 {
            return None;
        }
        let text = self.run.steps[writer].text.trim().trim_end_matches(';');
        marks
            .entry(writer)
            .or_insert("changes the status of the thread".into());
        Some(format!(
            "{} has done {text} at {}",
            self.thread(writer),
            self.place(writer)
        ))
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

    fn failure(
        &self,
        property: Property,
        message: &str,
        marks: &mut BTreeMap<usize, String>,
    ) -> String {
        let Some(last) = self.run.steps.len().checked_sub(1) else {
            return message.to_string();
        };
        let sources = self.sources(last);
        let mut sentence = String::new();
        // A read of which the sentence has told already.
        let mut told_read = None;
        if let Some(wait) = self.untested_wait(last, &sources, marks) {
            sentence = format!("{wait}. Then ");
        } else if let Some(conflict) = self.conflict(last, &sources) {
            sentence = format!("{}. Then ", self.conflict_text(&conflict, marks));
            told_read = conflict.read_last();
        }
        if let Some(told) = self.gone_object(last, marks) {
            return format!("{sentence}{told}: {message}");
        }
        if property == Property::MemoryCleanup
            && let Some(told) = self.leak(last, marks)
        {
            return told;
        }
        let mut seen = BTreeSet::new();
        let mut values = Vec::new();
        for (step, read) in &sources {
            if values.len() == 2 || !seen.insert(key(read)) {
                continue;
            }
            if told_read == Some((*step, key(read))) {
                continue;
            }
            let Some((name, value)) = self.name(*step, read) else {
                continue;
            };
            let writer = self.writer(*step, read);
            let role = self.objects.role(read);
            let (name, value) = match role {
                Some(role) => match self.objects.words(role, read.value) {
                    Some(words) => (sync_objects::object_name(&name), words),
                    None => continue,
                },
                None => (name, value),
            };
            let failing = self.run.steps[last].step.by.thread;
            let from = match writer {
                _ if read.by != failing => {
                    format!(
                        ", which {} read at {}",
                        self.thread(*step),
                        self.place(*step)
                    )
                }
                Some(writer) if role == Some(Role::Owner) => {
                    format!(" since {}", self.place(writer))
                }
                Some(writer) if self.run.steps[writer].step.by.thread != read.by => {
                    format!(" from {} at {}", self.thread(writer), self.place(writer))
                }
                Some(_) => String::new(),
                None => ", as at the start".into(),
            };
            let found = match (read.thing, role) {
                (Thing::Life(_), _) | (_, Some(_)) => format!("{name} {value}"),
                _ => format!("{name} = {value}"),
            };
            let told = format!("{found}{from}");
            marks
                .entry(*step)
                .or_insert_with(|| format!("finds {found}"));
            if let Some(writer) = writer {
                marks.entry(writer).or_insert_with(|| match role {
                    Some(Role::Owner) if read.value != 0 => format!("takes {name}"),
                    Some(Role::Owner) if self.run.steps[writer].text.contains("_init") => {
                        format!("makes {name} free, whoever holds it")
                    }
                    Some(Role::Owner) => format!("releases {name}"),
                    _ => format!("makes {name} {value}"),
                });
            }
            values.push(told);
        }
        if values.is_empty()
            && told_read.is_none()
            && let Some(before) = self.status_before(last, marks)
        {
            sentence += &format!("{before}. Then ");
        } else if values.is_empty() && told_read.is_none() && !self.is_memory_error(last) {
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
            let is_relevant = close.contains(&key) || near.contains(&key);
            let conflicts = match touches.iter().any(|touch| touch.takes) {
                true if is_relevant => came_back(key, touches),
                true => continue,
                false => self.conflicts_of(key, touches),
            };
            for mut conflict in conflicts {
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
                        // Before the other thread is there, the write only sets an initial value.
                        (Some(again), _)
                            if again.1 != write.1 && self.is_there(write.0, other.by) =>
                        {
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

    /// Whether a thread has been started when a step is taken.
    fn is_there(&self, step: usize, thread: usize) -> bool {
        matches!(self.run.states[step].threads.get(thread), Some(Some(_)))
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
            Pattern::CameBack => {
                mark(first.0, format!("reads {name} = {before}"));
                mark(between.0, format!("makes {name} {other} again"));
                mark(step, format!("finds {name} = {before} as before"));
                format!(
                    "{one} reads {name} = {before} at {at_first}; {two} changes {name} and makes \
                     it {other} again at {at_between}; so the compare-and-swap of {one} at \
                     {at_second} succeeds, as if nothing had changed (ABA)"
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
}

/// A value that one thread reads, others change and bring back, and the thread then finds when it
/// compares and swaps.
fn came_back(key: Key, touches: &[Touch]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (position, first) in touches.iter().enumerate() {
        let (Some(read), None) = (first.read, first.write) else {
            continue;
        };
        let rest = &touches[position + 1..];
        let Some(again) = rest.iter().position(|touch| touch.by == first.by) else {
            continue;
        };
        let second = &rest[again];
        let mut writes = rest[..again].iter().filter_map(|touch| touch.write);
        let is_changed = writes.clone().any(|(_, value)| value != read.1);
        let (Some(back), true) = (writes.next_back(), is_changed) else {
            continue;
        };
        let succeeds = second.takes && second.read.map(|(_, value)| value) == Some(read.1);
        if back.1 == read.1 && succeeds {
            found.push(Conflict {
                pattern: Pattern::CameBack,
                key,
                first: read,
                between: back,
                second: second.write,
                score: 4,
            });
        }
    }
    found
}

/// Replaces what is gone by what it was called while it was there: `gone#1` by `node#1`.
pub fn gone_named(run: &Run, step: usize, text: &str) -> String {
    let Some(at) = text.find("gone#") else {
        return text.to_string();
    };
    let digits = text[at + 5..].bytes().take_while(u8::is_ascii_digit);
    let end = at + 5 + digits.count();
    let Ok(number) = text[at + 5..end].parse::<usize>() else {
        return text.to_string();
    };
    let slot = number.saturating_sub(1);
    let mut states = run.states[..=step].iter().rev();
    match states.find_map(|state| state.heap.get(slot)?.as_ref()) {
        Some(object) => {
            let name = object_name(run.program, slot, object);
            format!("{}{name}{} (freed)", &text[..at], &text[end..])
        }
        None => text.to_string(),
    }
}

/// Whether an access finds that there is no object.
fn is_gone(access: &Access) -> bool {
    matches!(access.thing, Thing::Life(_)) && access.value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_lead_to_their_steps() {
        let marked = format!("a at {OPEN}4{STEP}line 7{CLOSE}; b at {OPEN}9{STEP}line 8{CLOSE}.");
        let (sentence, links) = linked(&marked, 6);
        assert_eq!(sentence, "a at line 7; b at line 8.");
        let phrase = 5..11;
        assert_eq!(links, [Link { phrase, step: 4 }], "step 9 does not exist");
        let (sentence, links) = linked(&format!("cut {OPEN}off"), 6);
        assert_eq!((sentence.as_str(), links.len()), ("cut off", 0));
    }
}

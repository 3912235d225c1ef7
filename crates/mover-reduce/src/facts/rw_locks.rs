//! Reader-writer locks, recognised by what is done with them.
//!
//! Many threads may have such a lock to read, or one to write. It is kept in one
//! cell (`rw >= 0 -> rw++` and `rw--`, `rw == 0 -> rw = -1` and `rw = 0`) or in
//! two, the writer and the number of readers (`!writer -> readers++` and
//! `readers--`, `!writer && readers == 0 -> writer = 1` and `writer = 0`), as
//! `pthread_rwlock_t` is lowered. The rest of the text calls what the cells hold
//! their *value*: `k` readers, or written by `t`.
//!
//! **What is checked.** To each location a mode is given: its threads have nothing,
//! have the lock to read, or have it to write; entries have nothing. An edge that
//! touches a cell is then worked out ([`crate::facts::partial_eval`]) for every value that the
//! lock can have while a thread is there, for every thread:
//!
//! - where a thread has nothing: `0` to `N - 1` readers, or written by another one
//!   (N threads there are at most);
//! - where it reads: `1` to `N` readers;
//! - where it writes: written by it.
//!
//! The edge must take the lock to read (possible for any number of readers and
//! never while somebody writes; one reader more), take it to write (possible for 0
//! readers and for nothing else; written by the thread), give it back (possible
//! for every value of its mode; one reader less, or 0 readers), be impossible for
//! all values of its mode, or be possible for all of them alike, change nothing and
//! use the value for nothing else. Its mode is that of the location where it begins, and the mode
//! behind it must be that of the location where it ends. Anything else, a
//! look from outside, an upgrade or a thread that exits with the lock, and the
//! cells are ordinary variables.
//!
//! By induction over steps: in every reachable state the lock is written by the one
//! thread at a location of that mode, and nobody reads; or nobody writes and the
//! number of readers is the number of threads at locations that read. Each
//! thread counts once, so there are at most N readers, and the cell is wide enough for
//! that: nothing wraps around.
//!
//! **What follows.** Let t take a step and u the next one.
//!
//! - *Taking to read moves right.* Behind it t reads, so u neither writes nor
//!   begins to, nor was it written before. If u takes or gives back to read, each of the two steps is possible for
//!   any number of readers, and plus and minus one commute.
//! - *Giving back to read moves left.* Before it t reads, so u's step does not touch the lock, or takes it or gives
//!   it back to read, which commutes as above; and what u can do while
//!   t reads it can do after t has stopped.
//! - Taking to write moves right and giving back moves left, for while t writes
//!   nobody else can touch the lock at all.
//! - A cell of data that is only read with the lock in hand, in either way, and only
//!   written with the lock to write in hand: while t reads, nobody writes it; while
//!   t writes, nobody touches it. So accesses to it move both ways.
//!
//! Nothing moves that does not move for a mutex in its place, so where
//! transactions end and how deadlocks are kept needs no other argument: either
//! way of taking counts as taking a lock.
//!
//! As with other locks, the taking must not be in the middle of an atomic sequence, and
//! an edge that is possible just because another one is not looks at what the
//! other one looks at.

use std::collections::BTreeSet;

use mover_ir::expr::{Expr, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Program, VariableId};

use crate::facts::access::{EdgeRef, edges};
use crate::facts::owners::{MOST_THREADS, initial_value, is_single_cell};
use crate::facts::partial_eval::{Eyes, touches, writes};
use crate::facts::single_threaded_prefix::Alone;
use crate::facts::thread_bound::most_threads;

/// How a thread has the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mode {
    Reads,
    Writes,
}

/// A reader-writer lock.
#[derive(Clone, Debug)]
pub struct RwLock {
    /// One cell, or the writer's and the readers'.
    pub cells: Vec<VariableId>,
    /// By template and location; `None` also where nobody comes.
    held: Vec<Vec<Option<Mode>>>,
    pub takes: Vec<(EdgeRef, Mode)>,
    pub gives_back: Vec<EdgeRef>,
}

impl RwLock {
    /// How a thread at the location has the lock.
    pub fn held(&self, template: usize, location: usize) -> Option<Mode> {
        self.held[template][location]
    }

    /// How the thread has it behind an edge that takes it.
    pub fn taken_by(&self, edge: EdgeRef) -> Option<Mode> {
        let mut takes = self.takes.iter();
        let (_, mode) = takes.find(|(taking, _)| *taking == edge)?;
        Some(*mode)
    }
}

/// All reader-writer locks among the variables that are not known to be something else.
pub fn find(
    program: &Program,
    alone: &Alone,
    is_other: impl Fn(VariableId) -> bool,
) -> Vec<RwLock> {
    let threads = most_threads(program);
    let mut found: Vec<RwLock> = Vec::new();
    if threads > MOST_THREADS {
        return found;
    }
    for cells in candidates(program, threads, is_other) {
        let is_used = |lock: &RwLock| {
            let mut used = lock.cells.iter();
            used.any(|&cell| cells.variables().contains(&cell))
        };
        if found.iter().any(is_used) {
            continue;
        }
        found.extend(Examination::new(program, alone, threads, cells).run());
    }
    found
}

/// The cells of what may be a lock, and what they hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Cells {
    writer: VariableId,
    /// What the writer's cell holds if nobody writes; with one cell: and nobody reads.
    free: u64,
    /// What a thread writes to it when it begins to write.
    written: Vec<u64>,
    /// The cell that counts readers and what it holds if there are none.
    readers: Option<(VariableId, u64)>,
}

/// A value of the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Readers(u64),
    WrittenBy(u32),
}

impl Cells {
    fn variables(&self) -> Vec<VariableId> {
        let readers = self.readers.map(|(variable, _)| variable);
        std::iter::once(self.writer).chain(readers).collect()
    }

    /// What the writer's and the readers' cell hold.
    fn contents(&self, value: Value) -> (u64, u64) {
        match (value, self.readers) {
            (Value::Readers(count), None) => (self.free + count, 0),
            (Value::WrittenBy(thread), None) => (self.written[thread as usize], 0),
            (Value::Readers(count), Some((_, none))) => (self.free, none + count),
            (Value::WrittenBy(thread), Some((_, none))) => (self.written[thread as usize], none),
        }
    }

    fn eyes(&self, contents: (u64, u64), thread: u32) -> Eyes {
        let eyes = Eyes::new(VariableRef::Global(self.writer), contents.0, thread);
        match self.readers {
            Some((readers, _)) => eyes.beside(VariableRef::Global(readers), contents.1),
            None => eyes,
        }
    }

    fn are_touched_by(&self, edge: &Edge) -> bool {
        let mut variables = self.variables().into_iter();
        variables.any(|variable| touches(edge, VariableRef::Global(variable)))
    }

    fn are_read_in(&self, expr: &Expr) -> bool {
        let variables = self.variables();
        let mut found = false;
        expr.walk(&mut |part| {
            if let Expr::Read(place) = part
                && let VariableRef::Global(id) = place.variable
            {
                found |= variables.contains(&id);
            }
        });
        found
    }

    fn are_written_by(&self, edge: &Edge) -> bool {
        let mut variables = self.variables().into_iter();
        variables.any(|variable| writes(edge, VariableRef::Global(variable)))
    }

    /// Whether different values look different and the readers fit in.
    fn are_wide_enough(&self, program: &Program, threads: u32) -> bool {
        let most = |variable: VariableId| mask(program.globals[variable.index()].ty.width);
        let fits = |none: u64, variable| {
            let last = none.checked_add(threads.into());
            last.is_some_and(|last| last <= most(variable))
        };
        match self.readers {
            Some((readers, none)) => fits(none, readers) && !self.written.contains(&self.free),
            None => {
                let counts = self.free..=self.free.saturating_add(threads.into());
                let apart = self.written.iter().all(|value| !counts.contains(value));
                fits(self.free, self.writer) && apart
            }
        }
    }
}

/// What could be a lock, by the edges that look like taking it to write.
fn candidates(
    program: &Program,
    threads: u32,
    is_other: impl Fn(VariableId) -> bool,
) -> BTreeSet<Cells> {
    let may_be = |variable| is_single_cell(program, variable) && !is_other(variable);
    let mut found = BTreeSet::new();
    for (_, edge) in edges(program) {
        let mut asked = BTreeSet::new();
        edge.guard.walk(&mut |part| {
            if let Expr::Read(place) = part
                && let VariableRef::Global(id) = place.variable
            {
                asked.insert(id);
            }
        });
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                continue;
            };
            let VariableRef::Global(writer) = place.variable else {
                continue;
            };
            if !asked.contains(&writer) || !may_be(writer) {
                continue;
            }
            let Some(free) = initial_value(program, writer) else {
                continue;
            };
            let by_thread = |thread| {
                let eyes = Eyes::new(place.variable, free, thread);
                match eyes.results(value).as_deref() {
                    Some(&[only]) if only != free => Some(only),
                    _ => None,
                }
            };
            let Some(written) = (0..threads).map(by_thread).collect::<Option<Vec<u64>>>() else {
                continue;
            };
            let alone = std::iter::once(None);
            let others = asked.iter().filter(|&&id| id != writer && may_be(id));
            let others = others.filter_map(|&id| Some((id, initial_value(program, id)?)));
            for readers in alone.chain(others.map(Some)) {
                let written = written.clone();
                let cells = Cells {
                    writer,
                    free,
                    written,
                    readers,
                };
                if cells.are_wide_enough(program, threads) {
                    found.insert(cells);
                }
            }
        }
    }
    found
}

/// What an edge is for the values that the lock can have there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Impossible,
    Leaves,
    Takes(Mode),
    GivesBack,
}

/// The cells are no lock.
struct Broken;

struct Examination<'a> {
    program: &'a Program,
    alone: &'a Alone,
    threads: u32,
    cells: Cells,
    /// By template and location, where somebody comes.
    modes: Vec<Vec<Option<Option<Mode>>>>,
}

impl<'a> Examination<'a> {
    fn new(program: &'a Program, alone: &'a Alone, threads: u32, cells: Cells) -> Self {
        let templates = program.templates.iter();
        Examination {
            program,
            alone,
            threads,
            cells,
            modes: templates
                .map(|body| vec![None; body.locations.len()])
                .collect(),
        }
    }

    fn run(mut self) -> Option<RwLock> {
        let mut takes = Vec::new();
        let mut gives_back = Vec::new();
        let mut work = Vec::new();
        for (template, body) in self.program.templates.iter().enumerate() {
            self.modes[template][body.entry.index()] = Some(None);
            work.push((template, body.entry.index()));
        }
        while let Some((template, location)) = work.pop() {
            let mode = self.modes[template][location]?;
            let here = &self.program.templates[template].locations[location];
            for (number, edge) in here.edges.iter().enumerate() {
                let at = EdgeRef {
                    template,
                    location,
                    edge: number,
                };
                let after = match self.step(at, mode).ok()? {
                    Step::Impossible => continue,
                    Step::Leaves => mode,
                    Step::Takes(mode) => {
                        takes.push((at, mode));
                        Some(mode)
                    }
                    Step::GivesBack => {
                        gives_back.push(at);
                        None
                    }
                };
                if after.is_some() && edge.effects.contains(&Effect::Exit) {
                    return None;
                }
                let known = &mut self.modes[template][edge.target.index()];
                match *known {
                    None => {
                        *known = Some(after);
                        work.push((template, edge.target.index()));
                    }
                    Some(known) if known != after => return None,
                    Some(_) => {}
                }
            }
        }
        let is_taken = |mode| takes.iter().any(|&(_, taken)| taken == mode);
        let is_one = is_taken(Mode::Reads) && is_taken(Mode::Writes);
        let modes = self.modes.into_iter();
        is_one.then(|| RwLock {
            cells: self.cells.variables(),
            held: modes
                .map(|modes| modes.into_iter().map(Option::flatten).collect())
                .collect(),
            takes,
            gives_back,
        })
    }

    /// What the lock can be for a thread at a place of this mode.
    fn values(&self, at: EdgeRef, mode: Option<Mode>, thread: u32) -> Vec<Value> {
        let readers = |range: std::ops::Range<u32>| range.map(|count| Value::Readers(count.into()));
        match mode {
            // Nobody is there to have it.
            None if self.alone.is_alone(self.program, at) => vec![Value::Readers(0)],
            None => {
                let others = (0..self.threads).filter(|&other| other != thread);
                let written = others.map(Value::WrittenBy);
                readers(0..self.threads).chain(written).collect()
            }
            Some(Mode::Reads) => readers(1..self.threads + 1).collect(),
            Some(Mode::Writes) => vec![Value::WrittenBy(thread)],
        }
    }

    fn step(&self, at: EdgeRef, mode: Option<Mode>) -> Result<Step, Broken> {
        let here = &self.program.templates[at.template].locations[at.location];
        let edge = at.of(self.program);
        let mut above = here.edges.iter();
        let looks = above.any(|other| {
            other.priority > edge.priority && self.cells.are_touched_by(other) && {
                let same =
                    (0..self.threads).map(|thread| self.is_same_for_all(at, other, mode, thread));
                !same.into_iter().all(|same| same)
            }
        });
        if looks {
            return Err(Broken);
        }
        if !self.cells.are_touched_by(edge) {
            return Ok(Step::Leaves);
        }
        let is_plain =
            |effect: &Effect| matches!(effect, Effect::Assign { .. } | Effect::Print { .. });
        if self.cells.are_written_by(edge) && !edge.effects.iter().all(is_plain) {
            return Err(Broken);
        }
        let mut step = None;
        for thread in 0..self.threads {
            let of_thread = self.step_of(at, edge, mode, thread)?;
            if step.is_some_and(|step| step != of_thread) {
                return Err(Broken);
            }
            step = Some(of_thread);
        }
        let step = step.ok_or(Broken)?;
        // One that has begun and finds the lock taken stops in the middle, for all to see.
        if matches!(step, Step::Takes(_)) && here.atomic {
            return Err(Broken);
        }
        Ok(step)
    }

    /// Whether an edge is possible for all values alike, as far as the lock has a say in it.
    fn is_same_for_all(&self, at: EdgeRef, edge: &Edge, mode: Option<Mode>, thread: u32) -> bool {
        let mut first = None;
        self.values(at, mode, thread).into_iter().all(|value| {
            let possible = self.is_possible(edge, value, thread);
            possible.is_ok_and(|possible| *first.get_or_insert(possible) == possible)
        })
    }

    /// Whether the lock lets the edge be taken.
    fn is_possible(&self, edge: &Edge, value: Value, thread: u32) -> Result<bool, Broken> {
        let eyes = self.cells.eyes(self.cells.contents(value), thread);
        let mut is_certain = true;
        for literal in conjunction(&edge.guard) {
            if !self.cells.are_read_in(&literal.condition) {
                continue;
            }
            match eyes.results(&literal.condition).as_deref() {
                Some(&[result]) if (result != 0) == literal.holds => {}
                Some(&[_]) => return Ok(false),
                _ => is_certain = false,
            }
        }
        if is_certain { Ok(true) } else { Err(Broken) }
    }

    fn step_of(
        &self,
        at: EdgeRef,
        edge: &Edge,
        mode: Option<Mode>,
        thread: u32,
    ) -> Result<Step, Broken> {
        let mut possible = Vec::new();
        let mut impossible = Vec::new();
        for value in self.values(at, mode, thread) {
            if self.is_possible(edge, value, thread)? {
                possible.push(value);
            } else {
                impossible.push(value);
            }
        }
        if possible.is_empty() {
            return Ok(Step::Impossible);
        }
        let reads = |value: &Value| matches!(value, Value::Readers(_));
        let is_alone = self.alone.is_alone(self.program, at);
        // The value is known, so it may be used for anything.
        if self.uses_value(edge) && mode != Some(Mode::Writes) && !is_alone {
            return Err(Broken);
        }
        let all_become = |change: &dyn Fn(u64) -> Value| {
            possible.iter().all(|&value| match value {
                Value::Readers(count) => {
                    self.after(edge, value, thread) == Some(self.cells.contents(change(count)))
                }
                Value::WrittenBy(_) => false,
            })
        };
        let unchanged = possible
            .iter()
            .all(|&value| self.after(edge, value, thread) == Some(self.cells.contents(value)));
        if unchanged && impossible.is_empty() {
            return Ok(Step::Leaves);
        }
        match mode {
            None if !impossible.iter().any(reads)
                && all_become(&|count| Value::Readers(count + 1)) =>
            {
                Ok(Step::Takes(Mode::Reads))
            }
            None if possible == [Value::Readers(0)]
                && all_become(&|_| Value::WrittenBy(thread)) =>
            {
                Ok(Step::Takes(Mode::Writes))
            }
            Some(Mode::Reads)
                if impossible.is_empty()
                    && all_become(&|count| Value::Readers(count.saturating_sub(1))) =>
            {
                Ok(Step::GivesBack)
            }
            Some(Mode::Writes) => {
                let free = Some(self.cells.contents(Value::Readers(0)));
                let written = Value::WrittenBy(thread);
                if self.after(edge, written, thread) == free {
                    Ok(Step::GivesBack)
                } else {
                    Err(Broken)
                }
            }
            _ => Err(Broken),
        }
    }

    /// Whether the cells are read for something else than what they hold next.
    fn uses_value(&self, edge: &Edge) -> bool {
        let variables = self.cells.variables();
        let is_cell = |variable: VariableRef| matches!(variable, VariableRef::Global(id) if variables.contains(&id));
        edge.effects.iter().any(|effect| {
            if let Effect::Assign { place, .. } = effect
                && is_cell(place.variable)
            {
                return false;
            }
            let mut found = false;
            effect.walk(&mut |part| {
                found |= matches!(part, Expr::Read(place) if is_cell(place.variable));
            });
            found
        })
    }

    /// What the cells hold behind an edge, if that is certain.
    fn after(&self, edge: &Edge, value: Value, thread: u32) -> Option<(u64, u64)> {
        let mut contents = self.cells.contents(value);
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                continue;
            };
            let VariableRef::Global(id) = place.variable else {
                continue;
            };
            let eyes = self.cells.eyes(contents, thread);
            let is_readers = |(readers, _)| readers == id;
            if id == self.cells.writer {
                contents.0 = only(eyes.results(value))?;
            } else if self.cells.readers.is_some_and(is_readers) {
                contents.1 = only(eyes.results(value))?;
            }
        }
        Some(contents)
    }
}

fn only(results: Option<Vec<u64>>) -> Option<u64> {
    match results?[..] {
        [result] => Some(result),
        _ => None,
    }
}

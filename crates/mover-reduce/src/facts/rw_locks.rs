//! Reader-writer locks, recognised by how they are used.
//!
//! Many threads may hold such a lock for reading, or one for writing. It is stored in one cell
//! (`rw >= 0 -> rw++` and `rw--`, `rw == 0 -> rw = -1` and `rw = 0`) or in two, the writer and
//! the number of readers (`!writer -> readers++` and `readers--`, `!writer && readers == 0 ->
//! writer = 1` and `writer = 0`), which is how `pthread_rwlock_t` is lowered. Below, the
//! *value* of the lock is what its cells encode: `k` readers, or written by `t`.
//!
//! **What is checked.** Each location gets a mode: its threads hold nothing, hold the lock for
//! reading, or hold it for writing; threads start in the mode "nothing". An edge that accesses
//! a cell is then evaluated ([`crate::facts::partial_eval`]) for every thread and for every
//! value that the lock can have while the thread is there:
//!
//! - where a thread holds nothing: `0` to `N - 1` readers, or written by another thread (N is
//!   the maximum number of threads);
//! - where it holds the lock for reading: `1` to `N` readers;
//! - where it holds the lock for writing: written by it.
//!
//! The edge must do one of the following. It acquires the lock for reading: it is enabled for
//! any number of readers and never while a thread writes, and adds one reader. It acquires the
//! lock for writing: it is enabled for 0 readers only, and the lock is then written by the
//! thread. It releases the lock: it is enabled for every value of its mode, and leaves one
//! reader less, or 0 readers. It is disabled for all values of its mode. Or it is enabled for
//! all of them alike, changes nothing and does not use the value otherwise. The mode of an edge
//! is that of its source location, and the resulting mode must be that of its target location.
//! If any edge does something else (a test by a thread that does not hold the lock, an upgrade,
//! a thread that exits while holding it), the cells are ordinary variables.
//!
//! By induction over steps: in every reachable state either the lock is written by the one
//! thread at a location of that mode and no thread reads, or no thread writes and the number of
//! readers is the number of threads at locations that read. Each thread counts once, so there
//! are at most N readers, and the cell is checked to be wide enough for N: nothing wraps
//! around.
//!
//! **What follows.** Let t take a step and u the next one.
//!
//! - *Acquiring for reading is a right mover.* After it t reads, so u neither writes nor starts
//!   to write, and no thread wrote before. If u acquires or releases for reading, each of the
//!   two steps is enabled for any number of readers, and the increments and decrements commute.
//! - *Releasing after reading is a left mover.* Before it t reads, so u's step does not access
//!   the lock, or acquires or releases it for reading, which commutes as above; and what u can
//!   do while t reads it can do after t has released the lock.
//! - Acquiring for writing is a right mover and releasing is a left mover, because while t
//!   writes no other thread can access the lock at all.
//! - A data cell that is only read while holding the lock, in either mode, and only written
//!   while holding it for writing: while t reads, no thread writes the cell; while t writes, no
//!   other thread accesses it. So accesses to it are both movers.
//!
//! Every mover here would also be a mover if the lock were a mutex. So the arguments about
//! where transactions end and how deadlocks are preserved need no change: acquiring in either
//! mode counts as acquiring a lock.
//!
//! As with other locks, the acquisition must not be in the middle of an atomic sequence, and an
//! edge that is enabled only if another edge is disabled reads what that edge reads.

use std::collections::BTreeSet;

use mover_ir::expr::{Expr, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Program, VariableId};

use crate::facts::access::{EdgeRef, edges};
use crate::facts::owners::{MOST_THREADS, initial_value, is_single_cell};
use crate::facts::partial_eval::{KnownCells, touches, writes};
use crate::facts::single_threaded_prefix::Alone;
use crate::facts::thread_bound::most_threads;

/// How a thread holds the lock.
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
    /// By template and location; `None` also at unreachable locations.
    held: Vec<Vec<Option<Mode>>>,
    pub takes: Vec<(EdgeRef, Mode)>,
    pub releases: Vec<EdgeRef>,
}

impl RwLock {
    /// How a thread at the location holds the lock.
    pub fn held(&self, template: usize, location: usize) -> Option<Mode> {
        self.held[template][location]
    }

    /// How the thread holds it after an edge that acquires it.
    pub fn taken_by(&self, edge: EdgeRef) -> Option<Mode> {
        let mut takes = self.takes.iter();
        let (_, mode) = takes.find(|(taking, _)| *taking == edge)?;
        Some(*mode)
    }
}

/// All reader-writer locks among the variables that are not yet classified.
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

/// The cells of a lock candidate, and the encoding of its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Cells {
    writer: VariableId,
    /// The content of the writer's cell if no thread writes; with one cell: and none reads.
    free: u64,
    /// The value that a thread stores there when it acquires the lock for writing.
    written: Vec<u64>,
    /// The cell that counts readers and its content if there are none.
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

    /// The contents of the writer's and the readers' cell.
    fn contents(&self, value: Value) -> (u64, u64) {
        match (value, self.readers) {
            (Value::Readers(count), None) => (self.free + count, 0),
            (Value::WrittenBy(thread), None) => (self.written[thread as usize], 0),
            (Value::Readers(count), Some((_, none))) => (self.free, none + count),
            (Value::WrittenBy(thread), Some((_, none))) => (self.written[thread as usize], none),
        }
    }

    fn known_cells(&self, contents: (u64, u64), thread: u32) -> KnownCells {
        let known_cells = KnownCells::new(VariableRef::Global(self.writer), contents.0, thread);
        match self.readers {
            Some((readers, _)) => known_cells.with(VariableRef::Global(readers), contents.1),
            None => known_cells,
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

    /// Whether different values have different encodings and the number of readers fits.
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

/// Lock candidates, from the edges that look like acquisitions for writing.
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
                let known_cells = KnownCells::new(place.variable, free, thread);
                match known_cells.results(value).as_deref() {
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

/// The operation of an edge on the values that the lock can have there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Impossible,
    Leaves,
    Takes(Mode),
    GivesBack,
}

/// The cells are not a lock.
struct Broken;

struct Examination<'a> {
    program: &'a Program,
    alone: &'a Alone,
    threads: u32,
    cells: Cells,
    /// By template and reachable location.
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
        let mut releases = Vec::new();
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
                        releases.push(at);
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
            releases,
        })
    }

    /// The values of the lock for a thread at a location of this mode.
    fn values(&self, at: EdgeRef, mode: Option<Mode>, thread: u32) -> Vec<Value> {
        let readers = |range: std::ops::Range<u32>| range.map(|count| Value::Readers(count.into()));
        match mode {
            // There is no other thread that could hold it.
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
        // A sequence that has begun and finds the lock held blocks in the middle, which is observable.
        if matches!(step, Step::Takes(_)) && here.atomic {
            return Err(Broken);
        }
        Ok(step)
    }

    /// Whether the lock enables the edge for all values alike.
    fn is_same_for_all(&self, at: EdgeRef, edge: &Edge, mode: Option<Mode>, thread: u32) -> bool {
        let mut first = None;
        self.values(at, mode, thread).into_iter().all(|value| {
            let possible = self.is_possible(edge, value, thread);
            possible.is_ok_and(|possible| *first.get_or_insert(possible) == possible)
        })
    }

    /// Whether the lock enables the edge.
    fn is_possible(&self, edge: &Edge, value: Value, thread: u32) -> Result<bool, Broken> {
        let known_cells = self.cells.known_cells(self.cells.contents(value), thread);
        let mut is_certain = true;
        for literal in conjunction(&edge.guard) {
            if !self.cells.are_read_in(&literal.condition) {
                continue;
            }
            match known_cells.results(&literal.condition).as_deref() {
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

    /// Whether the cells are read for anything other than computing their next content.
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

    /// The contents of the cells after an edge, if they are determined.
    fn after(&self, edge: &Edge, value: Value, thread: u32) -> Option<(u64, u64)> {
        let mut contents = self.cells.contents(value);
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                continue;
            };
            let VariableRef::Global(id) = place.variable else {
                continue;
            };
            let known_cells = self.cells.known_cells(contents, thread);
            let is_readers = |(readers, _)| readers == id;
            if id == self.cells.writer {
                contents.0 = only(known_cells.results(value))?;
            } else if self.cells.readers.is_some_and(is_readers) {
                contents.1 = only(known_cells.results(value))?;
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

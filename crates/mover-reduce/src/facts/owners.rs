//! Exclusive access that is determined by the value of a cell.
//!
//! An exclusive access predicate (Flanagan and Qadeer 2003, Section 4.1) says for a state
//! whether a thread has exclusive access to something. The predicates here range over one cell
//! and the thread's number: `m == _pid + 1`. They have two sources. The user can give them with
//! the program; and a cell that names its owner is found by its pattern of use, also where it
//! is not recognised as a plain lock because the owner may acquire it again (re-entrant locks,
//! Section 5.2) or because not every path to a location acquires it. Of a predicate over several
//! cells that the user gives, a part over one cell is used if it satisfies the conditions alone;
//! the whole is checked at every access ([`crate::transform::claim_edges`]).
//!
//! The paper *assumes* two conditions on a predicate. Here they are checked before the search,
//! for all values that the cell can have and for all threads:
//!
//! 1. it never holds for two threads at once;
//! 2. no thread changes it for another thread, neither from false to true nor from true to
//!    false.
//!
//! The values are computed by following the assignments to the cell from its initial value; an
//! expression over anything other than the cell and the thread's number may have any value. The
//! analysis also tracks whether a thread holds the cell at a location: a release need not test
//! for the owner if every path to it has established ownership. This may use the second
//! condition, because the check concerns the first step that violates it.
//!
//! If in addition every thread that accesses the cell waits until no other thread holds it, the
//! cell is a lock: acquiring it is a right mover, releasing it is a left mover, and an access
//! by its owner is a both mover. (The paper calls such actions safe.) An edge that is enabled
//! only if another edge is disabled reads the cells of that edge, and an atomic sequence that
//! blocks after its first step is observable.

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Init, Program, VariableId};

use crate::facts::access::{EdgeRef, edges};
use crate::facts::partial_eval::{KnownCells, touches, writes};
use crate::facts::single_threaded_prefix::Alone;
use crate::facts::thread_bound::most_threads;

/// Maximum number of values of a cell that are distinguished.
const MOST_VALUES: usize = 300;

/// With more threads, owners are not searched for; given predicates are still checked.
pub(crate) const MOST_THREADS: u32 = 64;

/// A cell whose value determines which thread has exclusive access.
#[derive(Clone, Debug)]
pub struct OwnerCell {
    pub variable: VariableId,
    /// Over the cell and the thread's number: whether the thread holds it.
    pub predicate: Expr,
    /// The number in [`ProgramInfo::exclusive`](mover_ir::program::ProgramInfo::exclusive) if the user has given it.
    pub given: Option<usize>,
    /// Whether all accesses of the cell are lock operations.
    pub is_lock: bool,
    /// Edges after which the thread must hold it.
    takes: Vec<EdgeRef>,
    /// Edges after which the thread may no longer hold it.
    releases: Vec<EdgeRef>,
}

impl OwnerCell {
    pub fn is_taken_by(&self, edge: EdgeRef) -> bool {
        self.takes.contains(&edge)
    }

    pub fn is_given_back_by(&self, edge: EdgeRef) -> bool {
        self.releases.contains(&edge)
    }
}

/// Why a predicate that the user has given cannot be used.
#[derive(Clone, PartialEq, Debug)]
pub enum Flaw {
    /// No part of it is about one cell that nothing points to and the thread's number. It is
    /// checked, but not used.
    Form,
    /// The cell can have too many values to check them all.
    Values,
    /// It holds for two threads at once if the cell has this value.
    Shared { value: u64, threads: (u32, u32) },
    /// A step of the first thread may change it for the second.
    Changed { edge: EdgeRef, threads: (u32, u32) },
}

pub struct Owners {
    pub cells: Vec<OwnerCell>,
    /// By number in [`ProgramInfo::exclusive`](mover_ir::program::ProgramInfo::exclusive).
    pub flaws: Vec<(usize, Flaw)>,
}

impl Owners {
    /// `is_lock` says which variables are already known to be locks.
    pub fn find(program: &Program, alone: &Alone, is_lock: impl Fn(VariableId) -> bool) -> Owners {
        let threads = most_threads(program);
        let mut owners = Owners {
            cells: Vec::new(),
            flaws: Vec::new(),
        };
        for (number, exclusive) in program.info.exclusive.iter().enumerate() {
            match examine_given(program, alone, threads, &exclusive.predicate) {
                Ok(cell) => owners.cells.push(OwnerCell {
                    given: Some(number),
                    is_lock: cell.is_lock && !is_lock(cell.variable),
                    ..cell
                }),
                Err(flaw) => owners.flaws.push((number, flaw)),
            }
        }
        if threads > MOST_THREADS {
            return owners;
        }
        for number in 0..program.globals.len() {
            let variable = VariableId(number as u32);
            let is_known = |cell: &OwnerCell| cell.variable == variable && cell.is_lock;
            if is_lock(variable)
                || !is_single_cell(program, variable)
                || owners.cells.iter().any(is_known)
            {
                continue;
            }
            if let Some(predicate) = owner_in_value(program, threads, variable)
                && let Ok(cell) = examine(program, alone, threads, variable, &predicate)
                && cell.is_lock
            {
                owners.cells.push(cell);
            }
        }
        owners
    }

    /// The lock that a variable is.
    pub fn lock(&self, variable: VariableId) -> Option<&OwnerCell> {
        let mut cells = self.cells.iter();
        cells.find(|cell| cell.variable == variable && cell.is_lock)
    }
}

/// Whether a variable is one cell that is accessed only by name.
pub(crate) fn is_single_cell(program: &Program, variable: VariableId) -> bool {
    let declared = &program.globals[variable.index()];
    declared.len == 1 && !declared.addressable && initial_value(program, variable).is_some()
}

pub(crate) fn initial_value(program: &Program, variable: VariableId) -> Option<u64> {
    match &program.globals[variable.index()].init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => values.first().copied(),
        Init::Channels(_) => None,
    }
}

/// The cell of an expression that otherwise contains only the thread's number.
fn only_cell(program: &Program, predicate: &Expr) -> Option<VariableId> {
    let mut found = None;
    let mut fits = true;
    predicate.walk(&mut |part| match part {
        Expr::Read(place) => match place.variable {
            VariableRef::Global(id) if found.is_none_or(|known| known == id) => found = Some(id),
            _ => fits = false,
        },
        Expr::Const { .. }
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::If(..)
        | Expr::Resize { .. }
        | Expr::ThreadId => {}
        _ => fits = false,
    });
    found.filter(|&variable| fits && is_single_cell(program, variable))
}

/// Examines a predicate that a user has given. Of a conjunction a part over one cell suffices: who
/// has access by the whole has it by the part.
fn examine_given(
    program: &Program,
    alone: &Alone,
    threads: u32,
    predicate: &Expr,
) -> Result<OwnerCell, Flaw> {
    if let Some(variable) = only_cell(program, predicate) {
        return examine(program, alone, threads, variable, predicate);
    }
    let mut parts = conjunction(predicate).into_iter().filter_map(|literal| {
        let part = match literal.holds {
            true => literal.condition,
            false => literal.condition.negate(),
        };
        let variable = only_cell(program, &part)?;
        examine(program, alone, threads, variable, &part).ok()
    });
    parts.next().ok_or(Flaw::Form)
}

/// The predicate that the cell contains the value that a thread writes to claim it.
fn owner_in_value(program: &Program, threads: u32, variable: VariableId) -> Option<Expr> {
    let cell = VariableRef::Global(variable);
    let free = initial_value(program, variable)?;
    let assigned = edges(program)
        .flat_map(|(_, edge)| &edge.effects)
        .filter_map(|effect| match effect {
            Effect::Assign { place, value } if place.variable == cell => Some((place, value)),
            _ => None,
        });
    let mut owner: Option<(&Place, &Expr)> = None;
    for (place, value) in assigned {
        let mut names_thread = false;
        value.walk(&mut |part| names_thread |= matches!(part, Expr::ThreadId));
        if !names_thread {
            continue;
        }
        if owner.is_some_and(|(_, known)| known != value) {
            return None;
        }
        owner = Some((place, value));
    }
    let (place, value) = owner?;
    let mut numbers = Vec::new();
    for thread in 0..threads {
        let known_cells = KnownCells::new(cell, free, thread);
        match known_cells.results(value).as_deref() {
            Some(&[number]) if number != free && !numbers.contains(&number) => numbers.push(number),
            _ => return None,
        }
    }
    Some(Expr::binary(
        BinaryOp::Eq,
        Expr::Read(place.clone()),
        value.clone(),
    ))
}

/// The values that a cell can have, over all threads and edges.
fn values_of(program: &Program, threads: u32, variable: VariableId) -> Option<Vec<u64>> {
    let cell = VariableRef::Global(variable);
    let mut values = vec![initial_value(program, variable)?];
    let writing: Vec<&Edge> = edges(program)
        .map(|(_, edge)| edge)
        .filter(|edge| writes(edge, cell))
        .collect();
    let mut next = 0;
    while next < values.len() {
        for edge in &writing {
            for thread in 0..threads {
                let known_cells = KnownCells::new(cell, values[next], thread);
                if !known_cells.may_hold(&edge.guard) {
                    continue;
                }
                let width = program.globals[variable.index()].ty.width;
                match known_cells.after(&edge.effects) {
                    Some(after) => {
                        for value in after {
                            if !values.contains(&value) {
                                values.push(value);
                            }
                        }
                    }
                    None if width <= 8 => return Some((0..=mask(width)).collect()),
                    None => return None,
                }
                if values.len() > MOST_VALUES {
                    return None;
                }
            }
        }
        next += 1;
    }
    Some(values)
}

/// Whether the thread may not hold it, and whether it may hold it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Possible {
    without: bool,
    with: bool,
}

impl Possible {
    fn allows(self, has: bool) -> bool {
        if has { self.with } else { self.without }
    }

    fn add(&mut self, has: bool) -> bool {
        let before = *self;
        if has {
            self.with = true;
        } else {
            self.without = true;
        }
        *self != before
    }
}

/// Checks the conditions on a predicate and derives its consequences.
fn examine(
    program: &Program,
    alone: &Alone,
    threads: u32,
    variable: VariableId,
    predicate: &Expr,
) -> Result<OwnerCell, Flaw> {
    let values = values_of(program, threads, variable).ok_or(Flaw::Values)?;
    let cell = VariableRef::Global(variable);
    let mut owner = Vec::new();
    for &value in &values {
        let mut of_value = None;
        for thread in 0..threads {
            let known_cells = KnownCells::new(cell, value, thread);
            if !known_cells.may_hold(predicate) {
                continue;
            }
            match of_value {
                None => of_value = Some(thread),
                Some(first) => {
                    let threads = (first, thread);
                    return Err(Flaw::Shared { value, threads });
                }
            }
        }
        owner.push(of_value);
    }
    let mut examination = Examination {
        program,
        alone,
        threads,
        cell,
        values,
        owner,
        possible: Vec::new(),
    };
    examination.follow();
    examination.judge(variable, predicate)
}

struct Examination<'a> {
    program: &'a Program,
    alone: &'a Alone,
    /// Maximum number of threads.
    threads: u32,
    cell: VariableRef,
    values: Vec<u64>,
    /// By index of the value: the thread that holds the cell.
    owner: Vec<Option<u32>>,
    /// By template, location and thread.
    possible: Vec<Vec<Vec<Possible>>>,
}

/// A step of a thread, restricted to the cell.
struct Change {
    before: usize,
    after: usize,
}

impl Examination<'_> {
    fn has(&self, value: usize, thread: u32) -> bool {
        self.owner[value] == Some(thread)
    }

    /// The changes that an edge can make to the cell for a thread that may or may not hold it.
    fn changes(&self, at: EdgeRef, thread: u32, possible: Possible) -> Vec<Change> {
        let edge = at.of(self.program);
        // No other thread exists that could hold it.
        let is_alone = self.alone.is_alone(self.program, at);
        let mut changes = Vec::new();
        for (before, &value) in self.values.iter().enumerate() {
            let known_cells = KnownCells::new(self.cell, value, thread);
            let is_others = self.owner[before].is_some_and(|owner| owner != thread);
            if !possible.allows(self.has(before, thread))
                || is_alone && is_others
                || !known_cells.may_hold(&edge.guard)
            {
                continue;
            }
            let after: Vec<usize> = match known_cells.after(&edge.effects) {
                Some(after) => after
                    .iter()
                    .filter_map(|value| self.values.iter().position(|known| known == value))
                    .collect(),
                None => (0..self.values.len()).collect(),
            };
            changes.extend(after.into_iter().map(|after| Change { before, after }));
        }
        changes
    }

    /// Computes where a thread holds it.
    fn follow(&mut self) {
        let program = self.program;
        let threads = self.threads as usize;
        self.possible = program
            .templates
            .iter()
            .map(|body| vec![vec![Possible::default(); threads]; body.locations.len()])
            .collect();
        let mut work = Vec::new();
        for (template, body) in program.templates.iter().enumerate() {
            for thread in 0..threads {
                let entry = body.entry.index();
                // Values are listed from the initial one on.
                let has = self.has(0, thread as u32);
                self.possible[template][entry][thread].add(has);
                work.push((template, entry, thread));
            }
        }
        while let Some((template, location, thread)) = work.pop() {
            let possible = self.possible[template][location][thread];
            let edges = &program.templates[template].locations[location].edges;
            for (number, edge) in edges.iter().enumerate() {
                let at = EdgeRef {
                    template,
                    location,
                    edge: number,
                };
                let mut after = Possible::default();
                if writes(edge, self.cell) || touches(edge, self.cell) {
                    for change in self.changes(at, thread as u32, possible) {
                        after.add(self.has(change.after, thread as u32));
                    }
                } else {
                    after = possible;
                }
                let leaves = edge.effects.contains(&Effect::Exit);
                // The next thread with this number inherits the state of the cell.
                let targets: Vec<(usize, usize)> = if leaves {
                    let bodies = program.templates.iter().enumerate();
                    bodies
                        .map(|(number, body)| (number, body.entry.index()))
                        .collect()
                } else {
                    vec![(template, edge.target.index())]
                };
                for (template, location) in targets {
                    let known = &mut self.possible[template][location][thread];
                    let mut has_grown = false;
                    for has in [false, true] {
                        has_grown |= after.allows(has) && known.add(has);
                    }
                    if has_grown {
                        work.push((template, location, thread));
                    }
                }
            }
        }
    }

    /// Whether an edge ends the run, and what it reads of the cell is whether the predicate holds.
    fn only_asks(&self, at: EdgeRef, predicate: &Expr) -> bool {
        let edge = at.of(self.program);
        let body = &self.program.templates[at.template];
        let negated = predicate.clone().negate();
        let mut without = edge.clone();
        without.guard = edge.guard.rewrite(&mut |part| match part {
            part if part == predicate => Some(Expr::TRUE),
            part if *part == negated => Some(Expr::FALSE),
            _ => None,
        });
        body.location(edge.target).error.is_some() && !touches(&without, self.cell)
    }

    fn judge(&self, variable: VariableId, predicate: &Expr) -> Result<OwnerCell, Flaw> {
        let mut found = OwnerCell {
            variable,
            predicate: predicate.clone(),
            given: None,
            is_lock: true,
            takes: Vec::new(),
            releases: Vec::new(),
        };
        for (at, edge) in edges(self.program) {
            let here = &self.program.templates[at.template].locations[at.location];
            let looks_at_other = here
                .edges
                .iter()
                .any(|other| other.priority > edge.priority && touches(other, self.cell));
            if !looks_at_other && !touches(edge, self.cell) {
                continue;
            }
            // Whether it is possible is up to the thread itself, by the second condition.
            if !looks_at_other && self.only_asks(at, predicate) {
                continue;
            }
            let (mut ends_with, mut ends_without, mut begins_without) = (false, false, false);
            for thread in 0..self.threads {
                let possible = self.possible[at.template][at.location][thread as usize];
                found.is_lock &= !(here.atomic && possible.without);
                for change in self.changes(at, thread, possible) {
                    let of = (self.owner[change.before], self.owner[change.after]);
                    let other = |owner: Option<u32>| owner.filter(|&owner| owner != thread);
                    if other(of.0) != other(of.1) {
                        let other = other(of.0).or(other(of.1)).unwrap_or(thread);
                        let threads = (thread, other);
                        return Err(Flaw::Changed { edge: at, threads });
                    }
                    found.is_lock &= other(of.0).is_none();
                    begins_without |= of.0 != Some(thread);
                    ends_with |= of.1 == Some(thread);
                    ends_without |= of.1 != Some(thread);
                }
            }
            if begins_without && ends_with && !ends_without {
                found.takes.push(at);
            }
            if ends_without && writes(edge, self.cell) {
                found.releases.push(at);
            }
        }
        Ok(found)
    }
}

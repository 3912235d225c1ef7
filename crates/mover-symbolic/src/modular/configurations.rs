//! Configurations for explicit views: shared memory, and threads that are not numbered.
//!
//! *Shared* is a state of the concrete semantics with the fixed threads only. A *member* is a
//! created thread with the owner cells that name it. Owner cells of the shared part hold constants,
//! the number of a fixed thread, or one of two numbers that no thread has here: *some* (a created
//! thread that is alive, perhaps outside of the view) and *dead* (one that has ended). A number
//! comes back: a new thread may be the one that a dead owner's number names, so it is created with
//! and without that name.
//!
//! A *step* of a thread is one edge, or an atomic sequence from its first edge to where others may
//! move again.

use std::collections::BTreeSet;

use mover_ir::program::{BoundKind, Program, Property};
use mover_ir::semantics::{Machine, State, Step, Thread};
use mover_reduce::transform::repeated_creation::only_creates;
use rustc_hash::FxHashSet;

use super::rules::{Owner, Rules};

/// A created thread, and the owner cells that name it, as bits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Member {
    pub thread: Thread,
    pub owns: u64,
}

/// Why the sets of views are of no use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GiveUp {
    /// A violation by views; there may be no run that has it.
    Alarm,
    /// There are too many values, views or owners.
    TooMany,
    /// A limit was reached.
    Stopped,
}

/// A configuration after a step.
#[derive(Clone, Debug)]
pub struct After {
    pub shared: State,
    /// The members as they are now; none has ended.
    pub members: Vec<Option<Member>>,
    pub created: Vec<Member>,
    /// The owner cells that still name whom they named, if that is a thread outside.
    pub kept: u64,
}

struct OwnerCell<'r> {
    /// Its position among the global cells.
    cell: usize,
    owner: &'r Owner,
    some: u64,
    dead: u64,
}

/// How configurations move.
pub struct Configurations<'r, 'p> {
    machine: Machine<'p>,
    pub fixed: usize,
    owners: Vec<OwnerCell<'r>>,
    /// Whether errors of `unreach-call` count.
    errors: bool,
    /// The edges that may be impossible in the original program although they are possible here.
    unsure: BTreeSet<(usize, usize, usize)>,
}

/// Values of an input, at most.
const MOST_CHOICES: u64 = 300;
/// States inside of one atomic sequence, at most.
const LONGEST_SEQUENCE: usize = 5_000;
/// Dead owners at a creation, at most.
const MOST_DEAD: u32 = 4;
/// Numbers that no thread of a configuration has.
const SOME: u64 = 150;
const DEAD: u64 = 151;

impl<'r, 'p> Configurations<'r, 'p> {
    /// For a program without handles; none if it has too many owners.
    pub fn new(program: &'p Program, rules: &'r Rules, errors: bool) -> Option<Self> {
        let mut owners = Vec::new();
        let mut offset = 0;
        for (number, variable) in program.globals.iter().enumerate() {
            if let Some(owner) = rules.owners.get(&number) {
                for cell in offset..offset + variable.len as usize {
                    owners.push(OwnerCell {
                        cell,
                        owner,
                        some: owner.value_of(SOME)?,
                        dead: owner.value_of(DEAD)?,
                    });
                }
            }
            offset += variable.len as usize;
        }
        let fixed = program.initial.len();
        (owners.len() <= 64 && fixed < 100).then(|| Configurations {
            machine: Machine::new(program),
            fixed,
            owners,
            errors,
            unsure: BTreeSet::new(),
        })
    }

    /// The same where these edges, by template, location and number, may be impossible in the
    /// original program although they are possible here.
    pub fn with_unsure(self, unsure: BTreeSet<(usize, usize, usize)>) -> Self {
        Configurations { unsure, ..self }
    }

    /// Whether two of these threads are about to make conflicting accesses.
    pub fn has_race(&self, shared: &State, members: &[&Member]) -> bool {
        self.machine.race(&self.compose(shared, members)).is_some()
    }

    /// Whether a thread can move for certain: by an edge whose condition is that of the original
    /// program, and that does more than create threads beside it.
    pub fn surely_moves(&self, shared: &State, members: &[&Member], mover: usize) -> bool {
        let state = self.compose(shared, members);
        let Some(Some(thread)) = state.threads.get(mover) else {
            return false;
        };
        let program = self.machine.program();
        let body = program.template(thread.template);
        let place = body.location(thread.location);
        let steps = self.machine.undecided_steps(&state).into_iter();
        let mut own = steps.filter(|step| step.by.thread == mover);
        own.any(|step| {
            let number = step.by.edge;
            let edge = &place.edges[number];
            // The original either goes on or meets the bound, which the proof does not have.
            let mark = body.location(edge.target).bound.as_ref();
            let is_bound = mark.is_some_and(|mark| mark.kind == BoundKind::Threads);
            let here = (thread.template.index(), thread.location.index(), number);
            (is_bound || !self.unsure.contains(&here)) && !only_creates(edge, thread.location)
        })
    }

    /// Whether a thread may not stay where it is for ever.
    pub fn must_move(&self, thread: &Thread) -> bool {
        let body = self.machine.program().template(thread.template);
        !body.location(thread.location).valid_end
    }

    /// The owner cells that name a created thread, as bits.
    pub fn held(&self, shared: &State) -> u64 {
        let names_one = |owner: &OwnerCell| shared.globals[owner.cell] == owner.some;
        let held = self.owners.iter().enumerate();
        held.filter(|(_, owner)| names_one(owner))
            .fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    /// Where the program begins.
    pub fn initial(&self) -> State {
        self.split(&self.machine.initial(), self.machine.initial(), 0)
            .shared
    }

    /// A state in which the members follow the fixed threads.
    pub fn compose(&self, shared: &State, members: &[&Member]) -> State {
        let mut state = shared.clone();
        for (number, member) in members.iter().enumerate() {
            state.threads.push(Some(member.thread.clone()));
            for (bit, owner) in self.owners.iter().enumerate() {
                if member.owns >> bit & 1 == 1
                    && let Some(value) = owner.owner.value_of((self.fixed + number) as u64)
                {
                    state.globals[owner.cell] = value;
                }
            }
        }
        while let Some(None) = state.threads.last() {
            state.threads.pop();
        }
        state
    }

    /// The parts of a state that came by a step from one with so many members.
    fn split(&self, before: &State, mut after: State, members: usize) -> After {
        let slots = self.fixed..self.fixed + members;
        let mut threads = std::mem::take(&mut after.threads);
        let was_there = |slot: usize| matches!(before.threads.get(slot), Some(Some(_)));
        let mut created = Vec::new();
        for (slot, thread) in threads.iter_mut().enumerate() {
            if !was_there(slot) {
                created.extend(thread.take().map(|thread| Member { thread, owns: 0 }));
            }
        }
        threads.resize(threads.len().max(slots.end), None);
        let mut found: Vec<Option<Member>> = threads[slots.clone()]
            .iter()
            .map(|thread| {
                let thread = thread.clone()?;
                Some(Member { thread, owns: 0 })
            })
            .collect();
        threads.truncate(self.fixed);
        after.threads = threads;
        let mut kept = 0;
        for (bit, owner) in self.owners.iter().enumerate() {
            let value = after.globals[owner.cell];
            let names = |slot: usize| owner.owner.value_of(slot as u64) == Some(value);
            if owner.owner.constants.contains(&value) || (0..self.fixed).any(names) {
                continue;
            }
            if value == owner.some {
                kept |= 1 << bit;
                continue;
            }
            let mut now = owner.dead;
            if let Some(slot) = slots.clone().find(|&slot| names(slot))
                && let Some(member) = &mut found[slot - self.fixed]
            {
                member.owns |= 1 << bit;
                now = owner.some;
            }
            after.globals[owner.cell] = now;
        }
        After {
            shared: after,
            members: found,
            created,
            kept,
        }
    }

    /// The steps of a thread of a configuration; of a fixed one by its number, of a member by its
    /// number after these.
    pub fn steps(
        &self,
        shared: &State,
        members: &[&Member],
        mover: usize,
    ) -> Result<Vec<After>, GiveUp> {
        let start = self.compose(shared, members);
        if mover >= start.threads.len() {
            return Ok(Vec::new());
        }
        let mut seen: FxHashSet<State> = FxHashSet::default();
        let mut open = vec![start.clone()];
        let mut found = Vec::new();
        while let Some(state) = open.pop() {
            for step in self.machine.undecided_steps(&state) {
                if step.by.thread != mover {
                    continue;
                }
                let last = self.machine.choices(&state, step).unwrap_or(0);
                if last >= MOST_CHOICES {
                    return Err(GiveUp::TooMany);
                }
                for choice in 0..=last {
                    let next = self.machine.apply(&state, Step { choice, ..step });
                    if let Some((_, mark)) = self.machine.error(&next)
                        && (self.errors || mark.property != Property::UnreachCall)
                    {
                        return Err(GiveUp::Alarm);
                    }
                    if let Some((_, mark)) = self.machine.bound(&next) {
                        // The same creation goes on without the bound.
                        if mark.kind == BoundKind::Threads {
                            continue;
                        }
                        return Err(GiveUp::Alarm);
                    }
                    if next.exclusive.is_none() {
                        found.push(next);
                    } else if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            if seen.len() > LONGEST_SEQUENCE {
                return Err(GiveUp::TooMany);
            }
        }
        let mut all = Vec::new();
        for state in found {
            let after = self.split(&start, state, members.len());
            self.name_created(after, &mut all)?;
        }
        Ok(all)
    }

    /// New threads with and without the numbers of dead owners.
    fn name_created(&self, after: After, all: &mut Vec<After>) -> Result<(), GiveUp> {
        let dead = self.owners.iter().enumerate().filter(|(_, owner)| {
            !after.created.is_empty() && after.shared.globals[owner.cell] == owner.dead
        });
        let dead: Vec<usize> = dead.map(|(bit, _)| bit).collect();
        // The number of a fixed thread that has ended comes back, too.
        let gone = |slot: usize| after.shared.threads[slot].is_none();
        let names_gone = |owner: &OwnerCell| {
            let value = after.shared.globals[owner.cell];
            (0..self.fixed)
                .any(|slot| gone(slot) && owner.owner.value_of(slot as u64) == Some(value))
        };
        let has_created = !after.created.is_empty();
        if has_created && self.owners.iter().any(names_gone)
            || dead.len() as u32 > MOST_DEAD
            || !dead.is_empty() && after.created.len() > 1
        {
            return Err(GiveUp::TooMany);
        }
        for subset in 0..1u32 << dead.len() {
            let mut one = after.clone();
            for (number, &bit) in dead.iter().enumerate() {
                if subset >> number & 1 == 1 {
                    let owner = &self.owners[bit];
                    one.shared.globals[owner.cell] = owner.some;
                    one.created[0].owns |= 1 << bit;
                }
            }
            all.push(one);
        }
        Ok(())
    }
}

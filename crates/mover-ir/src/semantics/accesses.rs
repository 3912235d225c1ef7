//! The reads and writes of a step.
//!
//! Reports show which accesses of a counterexample depend on each other. There is no second
//! list of the accesses of an expression for that purpose: the machine executes the step once
//! more and records its accesses during evaluation.

use std::cell::RefCell;

use super::memory::Home;
use super::{Machine, State, Step, View};
use crate::expr::VariableRef;

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

impl<'p> Machine<'p> {
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

    /// What is read to find out whether a thread can continue.
    pub fn waits_on(&self, state: &State, thread: usize) -> Vec<Access> {
        self.recorded(|recording| {
            recording.thread_steps(state, thread, false);
        })
    }

    pub(super) fn recorded(&self, work: impl FnOnce(&Machine)) -> Vec<Access> {
        let recording = Machine {
            record: Some(RefCell::default()),
            ..self.clone()
        };
        work(&recording);
        recording
            .record
            .map_or_else(Vec::new, |record| record.into_inner())
    }

    pub(super) fn note(&self, access: Access) {
        if let Some(record) = &self.record {
            record.borrow_mut().push(access);
        }
    }

    /// Notes that something is read or written as a whole.
    pub(super) fn note_whole(&self, by: usize, thing: Thing, is_write: bool, value: u64) {
        self.note(Access {
            by,
            thing,
            first_bit: 0,
            bits: u64::MAX / 2,
            is_write,
            value,
        });
    }

    /// The thing that a variable is, and how wide its cells are.
    pub(super) fn thing(
        &self,
        variable: VariableRef,
        thread: usize,
        state: &State,
    ) -> (Thing, u64) {
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
}

impl<'a, 'p> View<'a, 'p> {
    pub(super) fn note_read(&self, thing: Thing, first_bit: u64, bits: u64, value: u64) {
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
    pub(super) fn note_whole(&self, thing: Thing, value: u64) {
        self.machine.note_whole(self.thread, thing, false, value);
    }

    /// Notes an access to bytes that are all within a live object.
    pub(super) fn note_bytes(&self, address: u64, count: u64, is_write: bool, value: u64) {
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
}

//! Data races: two threads about to make conflicting accesses.
//!
//! Two accesses *conflict* if they have a byte in common, at least one writes, and not both are
//! atomic. A state has a *data race* if two threads are about to make conflicting accesses: each
//! stands at a location whose list has the access, with its guard true. Nothing orders the two
//! then, since either can come first.
//!
//! Under sequential consistency this is all there is to find: a program that has, in some run,
//! conflicting accesses that no synchronisation orders has also a run to a state in which both are
//! next, with no race before it (Adve and Hill 1990; for C11, Boehm and Adve 2008). It takes every
//! pair of synchronising operations as an ordering in both directions. What C11 orders in one
//! direction only is outside of the definition: a failed `trylock`, and atomic accesses weaker than
//! sequential consistency, order less than they seem to.
//!
//! A race does not end the run. What follows is explored as if memory were sequentially
//! consistent, so that a race hides no other error.

use super::{Access, Machine, State, Thing, View};
use crate::expr::mask;
use crate::program::{MemoryAccess, VariableId};

/// The bytes of an access, or the cells of a variable that has no address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AccessedBytes {
    pub variable: Option<VariableId>,
    pub first: u64,
    pub count: u64,
}

impl AccessedBytes {
    /// Whether two accesses have a byte in common; addresses wrap around at their width.
    pub fn overlaps(self, other: AccessedBytes, width: u8) -> bool {
        let ahead = other.first.wrapping_sub(self.first) & mask(width);
        let behind = self.first.wrapping_sub(other.first) & mask(width);
        self.variable == other.variable && (ahead < self.count || behind < other.count)
    }
}

/// An access that a thread is about to make.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NextAccess<'p> {
    pub thread: usize,
    pub access: &'p MemoryAccess,
    pub bytes: AccessedBytes,
}

impl NextAccess<'_> {
    fn conflicts(&self, other: &NextAccess, width: u8) -> bool {
        let (one, two) = (self.access, other.access);
        (one.writes || two.writes)
            && !(one.atomic && two.atomic)
            && !(one.ahead && two.ahead)
            && self.bytes.overlaps(other.bytes, width)
    }
}

impl<'p> Machine<'p> {
    /// The accesses that a thread is about to make.
    pub fn next_accesses(&self, state: &State, thread: usize) -> Vec<NextAccess<'p>> {
        let Some(Some(alive)) = state.threads.get(thread) else {
            return Vec::new();
        };
        let template = self.program.template(alive.template);
        let view = View::new(self, state, thread, false);
        let accesses = template.location(alive.location).accesses.iter();
        let next = accesses.filter(|access| view.holds(&access.guard));
        next.map(|access| {
            let (variable, first, count) = self.program.bytes_of(&access.memory);
            let first = view.eval(&first);
            NextAccess {
                thread,
                access,
                bytes: AccessedBytes {
                    variable,
                    first,
                    count,
                },
            }
        })
        .collect()
    }

    /// A data race of the state: two threads about to make conflicting accesses.
    pub fn race(&self, state: &State) -> Option<[NextAccess<'p>; 2]> {
        let width = self.program.pointers.width;
        let mut before: Vec<NextAccess> = Vec::new();
        for thread in 0..state.threads.len() {
            let next = self.next_accesses(state, thread);
            for two in &next {
                if let Some(one) = before.iter().find(|one| one.conflicts(two, width)) {
                    return Some([*one, *two]);
                }
            }
            before.extend(next);
        }
        None
    }

    /// What an access goes to, to name it by; nothing outside of live objects.
    pub fn accessed(&self, state: &State, next: &NextAccess) -> Option<Access> {
        let AccessedBytes {
            variable,
            first,
            count,
        } = next.bytes;
        let is_write = next.access.writes;
        let by = next.thread;
        if let Some(variable) = variable {
            let width = u64::from(self.program.globals[variable.index()].ty.width);
            return Some(Access {
                by,
                thing: Thing::Global(variable.index()),
                first_bit: first * width,
                bits: count * width,
                is_write,
                value: 0,
            });
        }
        let recording = self.recorded(|recording| {
            View::new(recording, state, by, false).note_bytes(first, count, is_write, 0);
        });
        recording.into_iter().next()
    }
}

//! Data races during a search.
//!
//! A state has a data race if two threads are about to make conflicting accesses
//! (`mover_ir::semantics::Machine::race` defines it). Without a reduction every state is stored,
//! and each is inspected when it is expanded. Inside of an atomic sequence only the accesses of
//! the thread that moves are new; they are compared with those of the threads that stand still.
//!
//! **With transactions** only states are stored in which all threads are external, and a state
//! with a race need not be among them: both threads may be in the middle of a transaction. No
//! further states are stored for that. Let *s* be a reachable state in which *t* is about to make
//! access *a* and *u* a conflicting access *b*.
//!
//! 1. Neither *a* nor *b* is a mover in *s*, whatever the reduction. What makes an access to data a
//!    mover (a lock that all hold, an owner, a variable that others do not access any more, only
//!    one thread, no writer) says in each case that no other thread is about to make a conflicting
//!    access; in *s* one is. A belief that is kept to the end says it of all accesses that were
//!    met, and both were: they are counted at every place that a block comes to. (A read whose value
//!    nobody uses counts, too: see `mover_reduce::facts::races`.)
//! 2. So each of *t* and *u* is in *s* either external or has taken only right movers since its
//!    transaction began, since a transaction takes only left movers after its commit and ends where
//!    something else may come next.
//! 3. Finish the transactions of the other threads that have committed by left movers, which
//!    commute to the left, and move the right movers of the others to the right, out of the run.
//!    This gives a state *S* with all threads external, which is stored, and from there a run *R*
//!    of right movers of *t* and one *Q* of *u* such that *S R Q* has *t* before *a* and *u* before
//!    *b*: the steps left out are of other threads and change neither place nor registers of *t*
//!    and *u*.
//! 4. Right movers of *u* do not need those of *t*: by moving *R* to the right, *Q* is possible
//!    from *S* itself. So the block of *t* from *S* passes *S R* before its commit, and the block of
//!    *u* passes *S Q*.
//!
//! Hence it suffices to record, for each stored state, the accesses that each thread is about to
//! make before the commit of its block, and to compare those of different threads. Two that
//! conflict are a race if the runs are possible one after the other; they are not if both acquire
//! the same lock. This is the same idea by which deadlocks are found inside of transactions.
//!
//! A state of which only one thread is expanded (by left movers alone) is not compared: its
//! successors have the same race.
//!
//! A place whose steps are all right movers is skipped, by (1). Blocks that relied on
//! a belief for that are run again if it turns out wrong, with those of all threads of the state.

use std::ops::Range;

use mover_ir::semantics::AccessedBytes;

use crate::code::Code;
use crate::machine::{Machine, Step, Workspace};

/// An access of a location, ready to be evaluated.
#[derive(Debug)]
pub struct CompiledAccess {
    pub guard: Code,
    pub bytes: AccessedBytes,
    /// Where it begins; the bytes above have only their number.
    pub first: Code,
    pub writes: bool,
    pub atomic: bool,
    pub ahead: bool,
}

/// An access that a thread is about to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next {
    pub thread: usize,
    pub bytes: AccessedBytes,
    pub writes: bool,
    pub atomic: bool,
    pub ahead: bool,
}

impl Next {
    fn conflicts(&self, other: &Next, width: u8) -> bool {
        self.thread != other.thread
            && (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && !(self.ahead && other.ahead)
            && self.bytes.overlaps(other.bytes, width)
    }
}

impl Machine {
    /// The accesses that a thread is about to make.
    pub fn next_accesses<'a>(
        &'a self,
        lanes: &'a [u64],
        thread: usize,
    ) -> impl Iterator<Item = Next> + 'a {
        let accesses = self.accesses(lanes, thread).iter();
        let view = self.view(lanes, thread, false);
        accesses.filter_map(move |access| {
            if !view.holds(&access.guard) {
                return None;
            }
            Some(Next {
                thread,
                bytes: AccessedBytes {
                    first: view.eval(&access.first),
                    ..access.bytes
                },
                writes: access.writes,
                atomic: access.atomic,
                ahead: access.ahead,
            })
        })
    }

    /// Whether a thread is about to make an access that conflicts with one of another thread.
    pub fn is_in_race(&self, lanes: &[u64], thread: usize) -> bool {
        if self.accesses(lanes, thread).is_empty() {
            return false;
        }
        let width = self.pointer_width();
        let others = |next: Next| {
            (0..self.threads(lanes))
                .filter(move |&other| other != thread)
                .flat_map(move |other| self.next_accesses(lanes, other))
                .any(move |other| next.conflicts(&other, width))
        };
        self.next_accesses(lanes, thread).any(others)
    }

    /// Whether the state has a data race.
    pub fn has_race(&self, lanes: &[u64]) -> bool {
        (1..self.threads(lanes)).any(|thread| self.is_in_race(lanes, thread))
    }
}

/// An access that a block comes to before its commit, and how.
#[derive(Clone)]
struct Reached {
    next: Next,
    /// The steps from the block's start.
    steps: Range<usize>,
    /// Whether that is in the middle of an atomic sequence: then no other thread moves after it.
    is_inside: bool,
}

/// The accesses that the blocks of one state come to before their commits.
#[derive(Default)]
pub struct RaceWatch {
    /// Whether races are wanted.
    pub is_on: bool,
    reached: Vec<Reached>,
    steps: Vec<Step>,
}

impl RaceWatch {
    /// Begins a new state.
    pub fn clear(&mut self) {
        self.reached.clear();
        self.steps.clear();
    }

    /// Forgets what the last block of a thread came to; it is run again.
    pub fn forget(&mut self, thread: usize) {
        self.reached.retain(|reached| reached.next.thread != thread);
    }

    /// Records what a thread is about to access after these steps.
    pub fn note(
        &mut self,
        machine: &Machine,
        lanes: &[u64],
        thread: usize,
        steps: impl FnOnce() -> Vec<Step>,
        is_inside: bool,
    ) {
        let first = self.reached.len();
        let empty = 0..0;
        self.reached
            .extend(machine.next_accesses(lanes, thread).map(|next| Reached {
                next,
                steps: empty.clone(),
                is_inside,
            }));
        if self.reached.len() > first {
            let start = self.steps.len();
            self.steps.extend(steps());
            let taken = start..self.steps.len();
            for reached in &mut self.reached[first..] {
                reached.steps = taken.clone();
            }
        }
    }

    /// Steps from the state to a race, if the blocks of two threads come to one.
    pub fn race(&self, machine: &Machine, lanes: &[u64]) -> Option<Vec<Step>> {
        let width = machine.pointer_width();
        for (position, one) in self.reached.iter().enumerate() {
            for two in &self.reached[position + 1..] {
                if !one.next.conflicts(&two.next, width) || one.is_inside && two.is_inside {
                    continue;
                }
                let (first, second) = if one.is_inside {
                    (two, one)
                } else {
                    (one, two)
                };
                let mut steps = self.steps[first.steps.clone()].to_vec();
                steps.extend_from_slice(&self.steps[second.steps.clone()]);
                if ends_in_race(machine, lanes, &steps) {
                    return Some(steps);
                }
            }
        }
        None
    }
}

/// Whether the steps are possible one after the other and lead to a race. (That they do not disturb
/// each other may be a belief that turned out wrong.)
fn ends_in_race(machine: &Machine, lanes: &[u64], steps: &[Step]) -> bool {
    let mut work = Workspace::default();
    work.lanes.extend_from_slice(lanes);
    for &step in steps {
        if !machine.is_possible(&work.lanes, step) {
            return false;
        }
        machine.apply(&mut work, step);
    }
    machine.has_race(&work.lanes)
}

//! Snapshot isolation as a deterministic automaton.
//!
//! A committing transaction x has a snapshot point S(x) and a later commit
//! point C(x). Reading v before y commits a write to it puts S(x) before C(y),
//! reading it afterwards puts C(y) before S(x); of two transactions that write
//! the same variable the later one's snapshot comes after the earlier one's
//! commit ("first committer wins"); and whatever begins after C(y) in time has
//! its snapshot after it. The word is snapshot isolated iff this graph has no
//! cycle. Edges lead only to points of transactions that have not yet
//! committed, so as in [`crate::monitor`] it suffices to sum up, for each
//! unfinished transaction, what its snapshot point precedes. The paper does
//! not treat this property.

use crate::layout::{Cell, Layout};
use crate::monitor::Specification;
use crate::word::{Action, Statement};

pub struct SnapshotMonitor {
    layout: Layout,
}

const LIVE: u8 = 1;
/// The snapshot would have to come after a commit that must follow it.
const DOOMED: u8 = 2;

const FLAGS: usize = 0;
const READS: usize = 1;
const WRITES: usize = 2;
/// Unfinished transactions whose snapshot comes after this one's.
const BEFORE: usize = 3;
/// Variables written by committed transactions whose commit comes after.
const STORED: usize = 4;
/// Variables read by committed transactions whose snapshot comes after.
const READ_LATER: usize = 5;
/// Whether any commit point comes after.
const FINISHED: usize = 6;
const BLOCK: usize = 7;

impl SnapshotMonitor {
    pub fn new(threads: usize, variables: usize) -> Self {
        SnapshotMonitor {
            layout: Layout {
                threads,
                variables,
                global: Vec::new(),
                per_variable: Vec::new(),
                per_thread: vec![
                    Cell::Plain,
                    Cell::VariableSet,
                    Cell::VariableSet,
                    Cell::ThreadSet,
                    Cell::VariableSet,
                    Cell::VariableSet,
                    Cell::Plain,
                ],
            },
        }
    }

    fn threads(&self) -> std::ops::Range<usize> {
        0..self.layout.threads
    }

    /// Puts the snapshots of all threads that satisfy a test before that of
    /// `target`.
    fn order_before(&self, state: &mut [u8], target: usize, test: impl Fn(&[u8]) -> bool) {
        for thread in self.threads() {
            let block = &mut state[thread * BLOCK..(thread + 1) * BLOCK];
            if test(block) {
                block[BEFORE] |= 1 << target;
            }
        }
    }

    fn commit(&self, state: &mut [u8], thread: usize) -> bool {
        let own: [u8; BLOCK] = std::array::from_fn(|at| state[thread * BLOCK + at]);
        if own[FLAGS] & DOOMED != 0 || own[STORED] & own[WRITES] != 0 {
            return false;
        }
        for other in self.threads().filter(|&other| other != thread) {
            let block = &mut state[other * BLOCK..(other + 1) * BLOCK];
            let before_snapshot =
                block[BEFORE] >> thread & 1 == 1 || block[STORED] & own[WRITES] != 0;
            let before_commit =
                before_snapshot || (block[READS] | block[READ_LATER]) & own[WRITES] != 0;
            if before_snapshot {
                block[BEFORE] |= own[BEFORE];
                block[STORED] |= own[STORED];
                block[READ_LATER] |= own[READ_LATER] | own[READS];
                block[FINISHED] |= own[FINISHED];
            }
            if before_commit {
                block[STORED] |= own[WRITES];
                block[FINISHED] = 1;
            }
        }
        self.forget(state, thread);
        true
    }

    fn forget(&self, state: &mut [u8], thread: usize) {
        for other in self.threads() {
            state[other * BLOCK + BEFORE] &= !(1 << thread);
        }
        state[thread * BLOCK..(thread + 1) * BLOCK].fill(0);
    }

    fn normalise(&self, state: &mut [u8]) {
        for thread in self.threads() {
            let start = thread * BLOCK;
            let doomed = state[start + FLAGS] & DOOMED != 0
                || state[start + BEFORE] >> thread & 1 == 1
                || state[start + STORED] & state[start + WRITES] != 0;
            if doomed {
                self.forget(state, thread);
                state[start + FLAGS] = LIVE | DOOMED;
            }
        }
    }
}

impl Specification for SnapshotMonitor {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn forget_hopeless(&self, state: &mut [u8], no_commit: u8, _no_read_or_commit: u8) {
        for thread in self.threads() {
            let flags = &mut state[thread * BLOCK + FLAGS];
            if *flags & LIVE != 0 && no_commit >> thread & 1 == 1 {
                *flags |= DOOMED;
            }
        }
        self.normalise(state);
    }

    fn step(&self, state: &mut [u8], statement: Statement) -> bool {
        let thread = statement.thread as usize;
        let start = thread * BLOCK;
        if state[start + FLAGS] & LIVE == 0 {
            state[start + FLAGS] = LIVE;
            self.order_before(state, thread, |block| block[FINISHED] != 0);
        }
        match statement.action {
            Action::Read(v) => {
                if state[start + WRITES] >> v & 1 == 0 {
                    state[start + READS] |= 1 << v;
                    self.order_before(state, thread, |block| block[STORED] >> v & 1 == 1);
                }
            }
            Action::Write(v) => state[start + WRITES] |= 1 << v,
            Action::Commit => {
                if !self.commit(state, thread) {
                    return false;
                }
            }
            Action::Abort => self.forget(state, thread),
            // See `extended_monitor`.
            Action::Extra(_) => return false,
        }
        self.normalise(state);
        true
    }
}

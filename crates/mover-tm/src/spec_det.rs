//! The paper's deterministic specification (Algorithm 6), corrected.
//!
//! Per thread it keeps what the unfinished transaction has read and written,
//! what it must no longer read or write, its weak predecessors (who must come
//! first if both commit) and its strong ones (who must come first anyway).
//!
//! The print disagrees with Section 2.3. Corrected here: (1) *pending* is a
//! flag beside the status, and a commit always sets it for its predecessors;
//! (2) the loop of the read case runs over the other threads; (3) in the write
//! case the line for opacity is nested under `v ∈ rs(u)`; (4) the block that
//! starts a transaction has its own set names. That is exact for two threads.
//! Opacity with more threads also needs: (5) a new strong predecessor u of x
//! must not write what x has read; (6) the effects of a commit go to all of U;
//! (7) when a variable becomes prohibited for u, whoever writes it has u as a
//! weak predecessor. [`crate::monitor`] is simpler and is what checks use; this
//! is kept to compare with the paper's sizes.

use crate::layout::{Cell, Layout};
use crate::monitor::Specification;
use crate::property::Safety;
use crate::word::{Action, Statement};

pub struct DeterministicSpec {
    opacity: bool,
    layout: Layout,
}

const STARTED: u8 = 1;
const INVALID: u8 = 2;
const PENDING: u8 = 4;

const STATUS: usize = 0;
const RS: usize = 1;
const WS: usize = 2;
const PRS: usize = 3;
const PWS: usize = 4;
const WP: usize = 5;
const SP: usize = 6;
const BLOCK: usize = 7;

impl DeterministicSpec {
    /// For strict serializability or opacity.
    pub fn new(property: Safety, threads: usize, variables: usize) -> Self {
        DeterministicSpec {
            opacity: property == Safety::Opacity,
            layout: Layout {
                threads,
                variables,
                global: Vec::new(),
                per_variable: Vec::new(),
                per_thread: vec![
                    Cell::Plain,
                    Cell::VariableSet,
                    Cell::VariableSet,
                    Cell::VariableSet,
                    Cell::VariableSet,
                    Cell::ThreadSet,
                    Cell::ThreadSet,
                ],
            },
        }
    }

    fn threads(&self) -> std::ops::Range<usize> {
        0..self.layout.threads
    }

    fn others(&self, thread: usize) -> impl Iterator<Item = usize> {
        self.threads().filter(move |&u| u != thread)
    }

    fn get(state: &[u8], thread: usize, what: usize) -> u8 {
        state[thread * BLOCK + what]
    }

    fn add(state: &mut [u8], thread: usize, what: usize, members: u8) {
        state[thread * BLOCK + what] |= members;
    }

    fn has(state: &[u8], thread: usize, what: usize, member: usize) -> bool {
        Self::get(state, thread, what) >> member & 1 == 1
    }

    fn set_of(&self, test: impl Fn(usize) -> bool) -> u8 {
        self.threads()
            .filter(|&u| test(u))
            .fold(0, |set, u| set | 1 << u)
    }

    fn reset(&self, state: &mut [u8], thread: usize) {
        state[thread * BLOCK..(thread + 1) * BLOCK].fill(0);
        for u in self.threads() {
            state[u * BLOCK + WP] &= !(1 << thread);
            state[u * BLOCK + SP] &= !(1 << thread);
        }
    }

    fn start(&self, state: &mut [u8], thread: usize) {
        if Self::get(state, thread, STATUS) != 0 {
            return;
        }
        let pending = |state: &[u8], u| Self::get(state, u, STATUS) & PENDING != 0;
        let now = self.set_of(|u| pending(state, u));
        let before = self.set_of(|u| {
            self.threads()
                .any(|x| pending(state, x) && Self::has(state, x, SP, u))
        });
        Self::add(state, thread, WP, now);
        Self::add(state, thread, SP, now | before);
        Self::add(state, thread, STATUS, STARTED);
    }

    /// Correction (7).
    fn prohibit_writes(&self, state: &mut [u8], thread: usize, variables: u8) {
        let new = variables & !Self::get(state, thread, PWS);
        Self::add(state, thread, PWS, new);
        for x in self.others(thread) {
            if self.opacity && Self::get(state, x, WS) & new != 0 {
                Self::add(state, x, WP, 1 << thread);
            }
        }
    }

    /// Adds strong predecessors, with correction (5).
    fn add_strong(&self, state: &mut [u8], thread: usize, before: u8) {
        let new = before & !Self::get(state, thread, SP);
        Self::add(state, thread, SP, new);
        if self.layout.threads == 2 {
            // Not needed then, and the paper's 2272 states come out without.
            return;
        }
        let read = Self::get(state, thread, RS);
        for u in self.threads().filter(|u| new >> u & 1 == 1) {
            self.prohibit_writes(state, u, read);
            if Self::get(state, u, WS) & read != 0 {
                Self::add(state, u, STATUS, INVALID);
            }
        }
    }

    fn read(&self, state: &mut [u8], t: usize, v: u8) -> bool {
        let bit = 1 << v;
        if Self::get(state, t, WS) & bit != 0 {
            return true;
        }
        let mut prohibiting = 0;
        if self.opacity {
            let prohibits = |u: usize| Self::get(state, u, PRS) & bit != 0;
            prohibiting = self.set_of(|u| {
                prohibits(u)
                    || self
                        .threads()
                        .any(|x| prohibits(x) && Self::has(state, x, SP, u))
            });
            if prohibiting >> t & 1 == 1 {
                return false;
            }
        }
        self.start(state, t);
        Self::add(state, t, RS, bit);
        if Self::get(state, t, PRS) & bit != 0 {
            Self::add(state, t, STATUS, INVALID);
        }
        for u in self.others(t) {
            if Self::get(state, u, WS) & bit != 0 {
                Self::add(state, u, WP, 1 << t);
            }
            if Self::get(state, u, PRS) & bit != 0 {
                Self::add(state, t, WP, 1 << u);
            }
        }
        if !self.opacity {
            return true;
        }
        for u in self.threads() {
            if u == t || Self::has(state, u, SP, t) {
                self.add_strong(state, u, prohibiting);
            }
        }
        for u in self
            .threads()
            .filter(|&u| Self::has(state, t, SP, u))
            .collect::<Vec<_>>()
        {
            self.prohibit_writes(state, u, bit);
            if Self::get(state, u, WS) & bit != 0 {
                Self::add(state, u, STATUS, INVALID);
            }
        }
        true
    }

    fn write(&self, state: &mut [u8], t: usize, v: u8) {
        let bit = 1 << v;
        self.start(state, t);
        Self::add(state, t, WS, bit);
        if Self::get(state, t, PWS) & bit != 0 {
            Self::add(state, t, STATUS, INVALID);
        }
        for u in self.others(t) {
            if Self::get(state, u, RS) & bit != 0 {
                Self::add(state, t, WP, 1 << u);
                if self.opacity && Self::has(state, u, SP, t) {
                    Self::add(state, t, STATUS, INVALID);
                }
            }
            if Self::get(state, u, PWS) & bit != 0 {
                Self::add(state, t, WP, 1 << u);
            }
        }
    }

    fn commit(&self, state: &mut [u8], t: usize) -> bool {
        let weak = Self::get(state, t, WP);
        if weak >> t & 1 == 1 || Self::get(state, t, STATUS) & INVALID != 0 {
            return false;
        }
        let mut before = weak;
        if self.opacity {
            let among_weak = |x: usize| weak >> x & 1 == 1;
            before |= self.set_of(|u| {
                self.threads()
                    .any(|x| among_weak(x) && Self::has(state, x, SP, u))
            });
            if before >> t & 1 == 1 {
                return false;
            }
        }
        let own = |what| state[t * BLOCK + what];
        let (rs, ws, prs, pws) = (own(RS), own(WS), own(PRS), own(PWS));
        for u in self.threads().filter(|u| before >> u & 1 == 1) {
            if Self::get(state, u, WS) & ws != 0 {
                Self::add(state, u, STATUS, INVALID);
            }
            Self::add(state, u, STATUS, PENDING);
            Self::add(state, u, PRS, prs | ws);
            self.prohibit_writes(state, u, pws | ws | rs);
            for x in self.threads() {
                if Self::has(state, x, WP, t) || Self::get(state, x, WS) & ws != 0 {
                    Self::add(state, x, WP, 1 << u);
                }
            }
        }
        if self.opacity {
            for u in self.threads() {
                if u == t || Self::has(state, u, SP, t) {
                    self.add_strong(state, u, before);
                }
            }
        }
        self.reset(state, t);
        true
    }
}

impl Specification for DeterministicSpec {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn forget_hopeless(&self, _state: &mut [u8], _no_commit: u8, _no_read_or_commit: u8) {}

    fn step(&self, state: &mut [u8], statement: Statement) -> bool {
        let thread = statement.thread as usize;
        match statement.action {
            Action::Read(v) => return self.read(state, thread, v),
            Action::Write(v) => self.write(state, thread, v),
            Action::Commit => return self.commit(state, thread),
            Action::Abort => self.reset(state, thread),
            // The print knows no others.
            Action::Extra(_) => return false,
        }
        true
    }
}

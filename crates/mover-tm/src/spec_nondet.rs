//! The paper's nondeterministic specification (Algorithm 5), corrected.
//!
//! Every transaction guesses when it serializes (an ε step) and is from then on
//! held to the guess. Corrected: *invalid* is a flag beside the status instead
//! of a status; a transaction that serializes (only if it is started and valid)
//! takes all serialized threads as its predecessors, the invalid ones included,
//! and has no predecessors before that. Printed, the one for opacity accepts
//! `(r,1)_1 (w,2)_1 (w,1)_2 (r,2)_2 c_1 (r,2)_2`, which is not opaque. For two
//! threads and two variables this has 12346 states for strict serializability
//! and 8746 for opacity; the paper reports 12345 and 9202.

use crate::property::Safety;
use crate::word::{Action, Statement};

pub struct NondeterministicSpec {
    opacity: bool,
    threads: usize,
}

const FINISHED: u8 = 0;
const STARTED: u8 = 1;
const SERIALIZED: u8 = 2;
/// A flag beside the status.
const INVALID: u8 = 4;

const STATUS: usize = 0;
const RS: usize = 1;
const WS: usize = 2;
const PRS: usize = 3;
const PWS: usize = 4;
const SP: usize = 5;
const BLOCK: usize = 6;

impl NondeterministicSpec {
    /// For strict serializability or opacity.
    pub fn new(property: Safety, threads: usize) -> Self {
        NondeterministicSpec {
            opacity: property == Safety::Opacity,
            threads,
        }
    }

    pub fn state_size(&self) -> usize {
        self.threads * BLOCK
    }

    fn is_serialized(state: &[u8], thread: usize) -> bool {
        state[thread * BLOCK + STATUS] & SERIALIZED != 0
    }

    fn is_valid(state: &[u8], thread: usize) -> bool {
        state[thread * BLOCK + STATUS] & INVALID == 0
    }

    fn invalidate(&self, state: &mut [u8], thread: usize) {
        state[thread * BLOCK + STATUS] |= INVALID;
    }

    fn serialized(&self, state: &[u8]) -> u8 {
        (0..self.threads)
            .filter(|&u| Self::is_serialized(state, u))
            .fold(0, |set, u| set | 1 << u)
    }

    fn start(&self, state: &mut [u8], thread: usize) -> bool {
        if state[thread * BLOCK + STATUS] != FINISHED {
            return false;
        }
        state[thread * BLOCK + STATUS] = STARTED;
        true
    }

    fn reset(&self, state: &mut [u8], thread: usize) {
        state[thread * BLOCK..(thread + 1) * BLOCK].fill(0);
        for u in 0..self.threads {
            state[u * BLOCK + SP] &= !(1 << thread);
        }
    }

    /// Moves along a statement; false if there is no such transition.
    pub fn step(&self, state: &mut [u8], statement: Statement) -> bool {
        let t = statement.thread as usize;
        let own = t * BLOCK;
        match statement.action {
            Action::Read(v) => {
                let bit = 1 << v;
                if state[own + WS] & bit != 0 {
                    return true;
                }
                self.start(state, t);
                state[own + RS] |= bit;
                let prohibited = state[own + PRS] & bit != 0;
                if !self.opacity {
                    if Self::is_serialized(state, t) && prohibited {
                        self.invalidate(state, t);
                    }
                    return true;
                }
                if prohibited {
                    return false;
                }
                for u in (0..self.threads).filter(|&u| u != t) {
                    let block = u * BLOCK;
                    let held = Self::is_serialized(state, u) && Self::is_valid(state, u);
                    if held && state[block + SP] >> t & 1 == 0 {
                        if state[block + WS] & bit != 0 {
                            self.invalidate(state, u);
                        } else {
                            state[block + PWS] |= bit;
                        }
                    }
                }
            }
            Action::Write(v) => {
                let bit = 1 << v;
                let started = self.start(state, t);
                if !started && Self::is_serialized(state, t) && state[own + PWS] & bit != 0 {
                    self.invalidate(state, t);
                }
                state[own + WS] |= bit;
            }
            Action::Commit => {
                let status = state[own + STATUS];
                if status & STARTED != 0 || !Self::is_valid(state, t) {
                    return false;
                }
                let (rs, ws, sp) = (state[own + RS], state[own + WS], state[own + SP]);
                for u in (0..self.threads).filter(|&u| u != t) {
                    let block = u * BLOCK;
                    if sp >> u & 1 == 1 {
                        state[block + PRS] |= ws;
                        state[block + PWS] |= rs | ws;
                        if state[block + WS] & (ws | rs) != 0 {
                            self.invalidate(state, u);
                        }
                    } else if ws & state[block + RS] != 0 {
                        self.invalidate(state, u);
                    }
                }
                self.reset(state, t);
            }
            Action::Abort => self.reset(state, t),
            // The print knows no others.
            Action::Extra(_) => return false,
        }
        true
    }

    /// Serializes a thread; false if it cannot now.
    pub fn serialize(&self, state: &mut [u8], t: usize) -> bool {
        let own = t * BLOCK;
        if state[own + STATUS] != STARTED {
            return false;
        }
        state[own + SP] = self.serialized(state);
        state[own + STATUS] = SERIALIZED;
        if !self.opacity {
            return true;
        }
        for u in (0..self.threads).filter(|&u| u != t) {
            let block = u * BLOCK;
            if state[block + STATUS] & STARTED != 0 {
                if state[block + RS] & state[own + WS] != 0 {
                    self.invalidate(state, t);
                }
                state[own + PWS] |= state[block + RS];
            }
            if Self::is_serialized(state, u) && Self::is_valid(state, u) {
                if state[block + WS] & state[own + RS] != 0 {
                    self.invalidate(state, u);
                }
                state[block + PWS] |= state[own + RS];
            }
        }
        true
    }
}

//! States as rows of bytes, and what a renaming does to them.
//!
//! Algorithms and specifications alike keep a few bytes per thread, a few per
//! variable and a few global ones. A byte is a plain value, a set of variables,
//! a set of threads, a thread or none, or a pending command. Knowing which, a
//! renaming of threads and variables can be applied to any state. Nothing in an
//! algorithm or in a specification names a particular thread or variable, so
//! a renamed state behaves like the state itself; the search at larger sizes
//! keeps one state of each class (the least) and explores that.

use crate::word::{Action, Extra, MAX_INDEX, Statement};

/// What a byte of a state means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Plain,
    VariableSet,
    ThreadSet,
    /// 0 for none, else the thread's index plus 1.
    ThreadOrNone,
    /// 0 for none, 1 for commit, then reads, then writes by variable.
    Command,
}

/// The cells of a state: global ones, then a block per variable, then a block
/// per thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub threads: usize,
    pub variables: usize,
    pub global: Vec<Cell>,
    pub per_variable: Vec<Cell>,
    pub per_thread: Vec<Cell>,
}

impl Layout {
    pub fn size(&self) -> usize {
        self.global.len()
            + self.variables * self.per_variable.len()
            + self.threads * self.per_thread.len()
    }

    pub fn variable_block(&self, v: usize) -> usize {
        self.global.len() + v * self.per_variable.len()
    }

    pub fn thread_block(&self, t: usize) -> usize {
        self.variable_block(self.variables) + t * self.per_thread.len()
    }

    /// Writes the renamed state to `target`.
    pub fn rename(&self, source: &[u8], renaming: &Renaming, target: &mut [u8]) {
        for (at, cell) in self.global.iter().enumerate() {
            target[at] = renaming.value(*cell, source[at]);
        }
        for v in 0..self.variables {
            let (from, to) = (
                self.variable_block(v),
                self.variable_block(renaming.variable[v] as usize),
            );
            for (at, cell) in self.per_variable.iter().enumerate() {
                target[to + at] = renaming.value(*cell, source[from + at]);
            }
        }
        for t in 0..self.threads {
            let (from, to) = (
                self.thread_block(t),
                self.thread_block(renaming.thread[t] as usize),
            );
            for (at, cell) in self.per_thread.iter().enumerate() {
                target[to + at] = renaming.value(*cell, source[from + at]);
            }
        }
    }
}

const COMMIT_CODE: u8 = 1;
const FIRST_READ_CODE: u8 = 2;
const FIRST_WRITE_CODE: u8 = FIRST_READ_CODE + MAX_INDEX as u8;
const FIRST_EXTRA_CODE: u8 = FIRST_WRITE_CODE + MAX_INDEX as u8;

/// The byte for a pending command; an abort is never pending.
pub fn command_code(command: Action) -> u8 {
    match command {
        Action::Commit | Action::Abort => COMMIT_CODE,
        Action::Read(v) => FIRST_READ_CODE + v,
        Action::Write(v) => FIRST_WRITE_CODE + v,
        Action::Extra(extra) => FIRST_EXTRA_CODE + extra.position() as u8,
    }
}

pub fn command_of_code(code: u8) -> Option<Action> {
    match code {
        0 => None,
        COMMIT_CODE => Some(Action::Commit),
        code if code < FIRST_WRITE_CODE => Some(Action::Read(code - FIRST_READ_CODE)),
        code if code < FIRST_EXTRA_CODE => Some(Action::Write(code - FIRST_WRITE_CODE)),
        code => Extra::all(MAX_INDEX)
            .get(usize::from(code - FIRST_EXTRA_CODE))
            .map(|&extra| Action::Extra(extra)),
    }
}

/// A permutation of the threads and one of the variables.
#[derive(Clone, Debug)]
pub struct Renaming {
    pub thread: Vec<u8>,
    pub variable: Vec<u8>,
    thread_sets: Box<[u8; 256]>,
    variable_sets: Box<[u8; 256]>,
}

impl Renaming {
    fn new(thread: Vec<u8>, variable: Vec<u8>) -> Self {
        let table = |map: &[u8]| {
            let mut sets = Box::new([0; 256]);
            for set in 0..256usize {
                let images = map.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                sets[set] = images.fold(0, |image, (_, to)| image | 1 << to);
            }
            sets
        };
        Renaming {
            thread_sets: table(&thread),
            variable_sets: table(&variable),
            thread,
            variable,
        }
    }

    fn value(&self, cell: Cell, value: u8) -> u8 {
        match cell {
            Cell::Plain => value,
            Cell::VariableSet => self.variable_sets[value as usize],
            Cell::ThreadSet => self.thread_sets[value as usize],
            Cell::ThreadOrNone => match value.checked_sub(1) {
                Some(thread) => self.thread[thread as usize] + 1,
                None => 0,
            },
            Cell::Command => {
                command_of_code(value).map_or(0, |command| command_code(self.action(command)))
            }
        }
    }

    /// The threads that are renamed into a set.
    pub fn threads_before(&self, set: u8) -> u8 {
        (self.thread.iter().enumerate())
            .filter(|(_, to)| set >> **to & 1 == 1)
            .fold(0, |threads, (from, _)| threads | 1 << from)
    }

    pub fn action(&self, action: Action) -> Action {
        action.renamed(|v| self.variable[v as usize])
    }

    pub fn statement(&self, statement: Statement) -> Statement {
        Statement {
            action: self.action(statement.action),
            thread: self.thread[statement.thread as usize],
        }
    }
}

/// All renamings of this many threads and variables, the identity first.
pub fn renamings(threads: usize, variables: usize) -> Vec<Renaming> {
    let mut all = Vec::new();
    for thread in permutations(threads) {
        for variable in permutations(variables) {
            all.push(Renaming::new(thread.clone(), variable));
        }
    }
    all
}

fn permutations(of: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for _ in 0..of {
        all = all
            .into_iter()
            .flat_map(|prefix: Vec<u8>| {
                (0..of as u8)
                    .filter(|next| !prefix.contains(next))
                    .map(|next| [prefix.clone(), vec![next]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renaming_moves_blocks_and_members() {
        let layout = Layout {
            threads: 2,
            variables: 2,
            global: vec![Cell::ThreadOrNone],
            per_variable: vec![Cell::Plain],
            per_thread: vec![Cell::VariableSet, Cell::ThreadSet, Cell::Command],
        };
        let all = renamings(2, 2);
        assert_eq!(all.len(), 4);
        let read_1 = command_code(Action::Read(0));
        let state = [1, 7, 9, 0b01, 0b10, read_1, 0b11, 0, 0];
        let mut same = [0; 9];
        layout.rename(&state, &all[0], &mut same);
        assert_eq!(same, state);
        let swap_both = all
            .iter()
            .find(|r| r.thread == [1, 0] && r.variable == [1, 0])
            .unwrap();
        let mut swapped = [0; 9];
        layout.rename(&state, swap_both, &mut swapped);
        let read_2 = command_code(Action::Read(1));
        assert_eq!(swapped, [2, 9, 7, 0b11, 0, 0, 0b10, 0b01, read_2]);
    }
}

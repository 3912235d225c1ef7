//! States that are known to be reachable.
//!
//! Before the search for a proof, the relation is executed on random choices. That is cheap,
//! and the states it reaches are used twice. A lemma must not exclude any of them: such a lemma
//! would be dropped some frames later, so generalisation avoids it without a solver query. And
//! if a reached state is in a set of states from which a violation is inevitable, there is a
//! violation: the walk to it is the beginning of the run (compare Ivrii and Gurfinkel 2015,
//! *Pushing to the Top*, where such states come from the proof itself).
//!
//! Common properties of the reached states (bits that never change, facts that hold while a
//! thread is at a location) were tried as guesses at an invariant; finding the inductive ones
//! took as long as it saved in the proofs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Choices, Cube};
use crate::system::System;
use crate::term::{Circuit, Term, Var};
use mover_engine::Control;

/// Terms that are evaluated in all.
const MOST_WORK: usize = 15_000_000;

/// Maximum number of states that are kept.
const MOST_STATES: usize = 2_000;

/// The walk is over when so many choices in a row, for each state there is, led to nothing new.
const FRUITLESS: usize = 8;

/// Tries between two checks of the clock.
const BETWEEN_LOOKS: usize = 64;

pub struct Reached {
    states: Vec<Vec<u64>>,
    /// Which state each was reached from, and how; none for those that the search begins with.
    from: Vec<Option<(usize, Choices)>>,
    /// For each observable, a bit for each state.
    rows: Vec<Vec<u64>>,
}

impl Reached {
    /// Walks at random.
    pub fn new(system: &System, limit: &Control) -> Reached {
        let states: Vec<Vec<u64>> = system.starts.iter().map(|s| s.state.clone()).collect();
        let mut reached = Reached {
            from: vec![None; states.len()],
            states,
            rows: Vec::new(),
        };
        reached.walk(system, limit);
        reached.observe(system);
        reached
    }

    fn walk(&mut self, system: &System, limit: &Control) {
        let mut runner = Runner::new(system);
        let mut seen: FxHashSet<Vec<u64>> = self.states.iter().cloned().collect();
        let tries = MOST_WORK / runner.circuit.len().max(1);
        let mut fruitless = 0;
        let mut last = 0;
        for number in 0..tries {
            let is_late = number % BETWEEN_LOOKS == 0 && limit.is_over();
            let is_fruitless = fruitless > FRUITLESS * (self.states.len() + 8);
            if is_late || is_fruitless || self.states.len() >= MOST_STATES {
                break;
            }
            // Further on from where the walk is, or from anywhere, to see what is near and what is far.
            let from = match runner.random() {
                r if r & 1 == 0 => last,
                r => (r >> 1) as usize % self.states.len(),
            };
            fruitless += 1;
            if let Some((next, seed)) = runner.step(&self.states[from])
                && seen.insert(next.clone())
            {
                fruitless = 0;
                last = self.states.len();
                self.states.push(next);
                self.from.push(Some((from, runner.choices(seed))));
            }
        }
    }

    /// Inspects the states for observables that are new.
    pub fn observe(&mut self, system: &System) {
        let first = self.rows.len();
        let observables = &system.observables[first..];
        let mut rows = vec![vec![0u64; self.states.len().div_ceil(64)]; observables.len()];
        let roots: Vec<Term> = observables.iter().map(|o| o.now).collect();
        let mut circuit = Circuit::new(&system.terms, &roots);
        let cells = cells_by_variable(system);
        for (number, state) in self.states.iter().enumerate() {
            circuit.run(|var| cells.get(&var).map_or(0, |&cell| state[cell]));
            for (row, o) in rows.iter_mut().zip(observables) {
                row[number / 64] |= (circuit.value(o.now) >> o.bit & 1) << (number % 64);
            }
        }
        self.rows.append(&mut rows);
    }

    /// Forgets the last observable.
    pub fn forget(&mut self) {
        self.rows.pop();
    }

    pub fn value(&self, observable: usize, state: usize) -> bool {
        self.rows[observable][state / 64] >> (state % 64) & 1 == 1
    }

    /// A state that is in the cube.
    pub fn find(&self, cube: &Cube) -> Option<usize> {
        (0..self.states.len().div_ceil(64)).find_map(|word| {
            let mut left = self.word_of_all(word);
            for &(observable, value) in cube {
                let row = self.rows[observable][word];
                left &= if value { row } else { !row };
                if left == 0 {
                    return None;
                }
            }
            Some(word * 64 + left.trailing_zeros() as usize)
        })
    }

    /// The states that there are among the 64 of a word.
    fn word_of_all(&self, word: usize) -> u64 {
        match self.states.len() - word * 64 {
            rest @ 0..64 => (1 << rest) - 1,
            _ => u64::MAX,
        }
    }

    /// The state that the walk to a state began with, and its choices.
    pub fn walk_to(&self, mut state: usize) -> (usize, Vec<Choices>) {
        let mut choices = Vec::new();
        while let Some((before, choice)) = &self.from[state] {
            choices.push(choice.clone());
            state = *before;
        }
        choices.reverse();
        (state, choices)
    }
}

fn cells_by_variable(system: &System) -> FxHashMap<Var, usize> {
    let cells = 0..system.state.len();
    cells
        .filter_map(|cell| Some((system.variable_of(system.state[cell])?, cell)))
        .collect()
}

/// Blocks that are run by random choices.
struct Runner<'s, 'a, 'p> {
    system: &'s System<'a, 'p>,
    circuit: Circuit<'s>,
    cells: FxHashMap<Var, usize>,
    noise: u64,
}

impl<'s, 'a, 'p> Runner<'s, 'a, 'p> {
    fn new(system: &'s System<'a, 'p>) -> Self {
        let mut roots = system.block.next.clone();
        roots.push(system.block.possible);
        Runner {
            circuit: Circuit::new(&system.terms, &roots),
            cells: cells_by_variable(system),
            system,
            noise: 1,
        }
    }

    /// What a state becomes by a block with some choices, if these are possible. A number tells
    /// the choices ([`Self::choices`]).
    fn step(&mut self, state: &[u64]) -> Option<(Vec<u64>, u64)> {
        let seed = self.random();
        self.circuit.run(|var| match self.cells.get(&var) {
            Some(&cell) => state[cell],
            None => choice(seed, var),
        });
        let block = &self.system.block;
        if self.circuit.value(block.possible) == 0 {
            return None;
        }
        let next = block.next.iter();
        Some((next.map(|&cell| self.circuit.value(cell)).collect(), seed))
    }

    fn choices(&self, seed: u64) -> Choices {
        let inputs = self.system.inputs.iter();
        inputs
            .filter_map(|&input| self.system.terms.as_var(input))
            .map(|var| (var, choice(seed, var)))
            .collect()
    }

    fn random(&mut self) -> u64 {
        self.noise = self.noise.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scrambled(self.noise)
    }
}

fn choice(seed: u64, var: Var) -> u64 {
    some_value(scrambled(seed ^ u64::from(var.0)))
}

/// The output function of splitmix.
fn scrambled(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Small numbers are the more interesting ones.
fn some_value(random: u64) -> u64 {
    match random & 3 {
        0 => random >> 2,
        1 => u64::MAX,
        _ => random >> 2 & 3,
    }
}

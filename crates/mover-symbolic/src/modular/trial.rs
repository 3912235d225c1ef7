//! A proof for any number of threads, tried with a few.
//!
//! The program is run by the concrete semantics with two, three and four created threads at a
//! time, on random schedules. That proves nothing. But it knows nothing of views, owners and
//! formulas either, so a violation that it meets is a mistake of the proof.

use mover_ir::program::Program;
use mover_ir::semantics::Machine;

use mover_engine::{Control, EngineError};

/// Created threads at a time.
const THREADS: std::ops::RangeInclusive<usize> = 2..=4;
const WALKS: u64 = 60;
const STEPS: usize = 400;

/// An error if some walk runs into a violation; otherwise the number of steps tried.
pub fn try_with_few_threads(
    program: &Program,
    errors: bool,
    limit: &Control,
) -> Result<u64, EngineError> {
    let mut taken = 0;
    let mut random = Random::new();
    for threads in THREADS {
        let few = Program {
            max_threads: (program.initial.len() + threads) as u32,
            ..program.clone()
        };
        let machine = Machine::new(&few);
        for _ in 0..WALKS {
            let mut state = machine.initial();
            for _ in 0..STEPS {
                if limit.is_over() {
                    return Ok(taken);
                }
                let steps = machine.undecided_steps(&state);
                if steps.is_empty() || machine.bound(&state).is_some() {
                    break;
                }
                let mut step = steps[random.below(steps.len() as u64) as usize];
                step.choice = random.choice(machine.choices(&state, step).unwrap_or(0));
                state = machine.apply(&state, step);
                taken += 1;
                if let Some((_, mark)) = machine.error(&state)
                    && (errors || mark.property != mover_ir::program::Property::UnreachCall)
                {
                    return Err(EngineError::Internal(format!(
                        "the proof for any number of threads is wrong: {threads} threads lead to: {}",
                        mark.message
                    )));
                }
            }
        }
    }
    Ok(taken)
}

/// What so many steps of a trial say.
pub fn told(tried: u64) -> String {
    format!("{tried} steps of random runs with 2, 3 and 4 created threads meet no violation")
}

/// Xorshift, after Marsaglia (2003); the same numbers every time.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9E37_79B9_7F4A_7C15)
    }

    /// A choice up to the last one; small ones and the last are likely.
    pub fn choice(&mut self, last: u64) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => last,
            2 => self.below(last.min(7) + 1),
            _ => self.up_to(last),
        }
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(count) => self.below(count),
            None => self.next(),
        }
    }
}

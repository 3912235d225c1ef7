//! Random programs of the intermediate representation.
//!
//! Front ends produce programs of a few shapes; engines must be right for all programs. So
//! these programs are generated without a front end. Each family covers another area: [`odd`]
//! has shapes that no front end produces, [`memory`] has addresses and races for what they
//! point to, [`mt`] the locks and loops of the papers, [`pointers`] locks and data behind
//! pointers, [`started`] threads that are started, record their presence, and exit. Half of all
//! programs are then [`spiced`](spice): a feature of another family is added.
//!
//! All families use the same `pieces`. [`mod@judge`] computes what a program does by the
//! concrete semantics, [`smaller`] minimises programs.

pub mod file;
pub mod judge;
pub mod memory;
pub mod mt;
pub mod odd;
mod pieces;
pub mod pointers;
pub mod smaller;
pub mod spice;
pub mod started;

use mover_ir::program::Program;
use mover_ir::validate::validate;

use crate::random::Random;

/// All families; a new one joins by a line here.
pub const FAMILIES: &[fn(u64) -> Program] = &[
    odd::program,
    memory::program,
    memory::racy_program,
    mt::program,
    pointers::program,
    started::program,
];

pub fn random(seed: u64) -> Program {
    let mut random = Random(seed ^ 0x1234_5678);
    let plain = random.pick(FAMILIES)(random.number() >> 16);
    if random.one_in(2) {
        return plain;
    }
    let mut spiced = plain.clone();
    spice::spice(&mut random, &mut spiced);
    match validate(&spiced) {
        Ok(()) => spiced,
        Err(_) => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_valid_and_the_same_for_the_same_seed() {
        for seed in 0..500 {
            let program = random(seed);
            assert_eq!(validate(&program), Ok(()), "seed {seed}");
            let again = random(seed);
            let print = mover_ir::print::print_program;
            assert_eq!(print(&program), print(&again));
        }
    }

    #[test]
    fn smaller_programs_come_to_an_end() {
        for seed in 0..20 {
            let mut program = random(seed);
            let mut steps = 0;
            while let Some(less) = smaller::smaller(&program).into_iter().next() {
                assert_eq!(validate(&less), Ok(()), "seed {seed}");
                program = less;
                steps += 1;
                assert!(steps < 2000, "seed {seed}");
            }
            assert_eq!(program.initial.len(), 1);
            assert!(program.templates.iter().all(|body| {
                let mut edges = body.locations.iter().flat_map(|at| &at.edges);
                edges.next().is_none()
            }));
        }
    }
}

//! The symbolic engines with all their options, compared with explicit search.
//!
//! Bounded model checking and IC3 with every reduction, token passing with every set of pairs.
//! An engine may give no answer, because of a time limit or a missing feature; its answers must
//! be those of the search of all interleavings. Counterexamples are replayed by the engines
//! themselves before they answer, proofs of IC3 are certified. A new engine or option is added
//! by a line in [`VOTERS`].

use std::fmt;
use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, EngineError, Outcome, Task};
use mover_ir::program::{Program, Property};
use mover_reduce::Reduction;
use mover_symbolic::{Bmc, Ic3, Pairs, SymbolicOptions, Token};

use crate::compare::{Mismatch, Tally};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Voter {
    Bmc(Reduction),
    /// Bounded model checking with peephole constraints.
    Peephole,
    Ic3(Reduction),
    Token(Pairs),
}

pub const VOTERS: &[Voter] = &[
    Voter::Bmc(Reduction::None),
    Voter::Bmc(Reduction::Static),
    Voter::Bmc(Reduction::Phase),
    Voter::Bmc(Reduction::Dynamic),
    Voter::Peephole,
    Voter::Ic3(Reduction::None),
    Voter::Ic3(Reduction::Static),
    Voter::Ic3(Reduction::Phase),
    Voter::Ic3(Reduction::Dynamic),
    Voter::Token(Pairs::All),
    Voter::Token(Pairs::Mat),
    Voter::Token(Pairs::Lex),
];

impl fmt::Display for Voter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Voter::Bmc(reduction) => write!(f, "bmc, {reduction}"),
            Voter::Peephole => write!(f, "bmc, peephole"),
            Voter::Ic3(reduction) => write!(f, "ic3, {reduction}"),
            Voter::Token(pairs) => write!(f, "token, {}", pairs.name()),
        }
    }
}

/// Blocks that are unrolled at most.
const DEPTH: u64 = 16;

/// Asks all engines whether a property holds, and if so whether runs meet a bound; returns what each
/// made of it.
pub fn vote(
    program: &Program,
    property: Property,
    expected: bool,
    meets_bound: bool,
    patience: Duration,
) -> Result<Vec<Tally>, Mismatch> {
    let task = Task::new(program.clone(), vec![property]);
    let mut tallies = vec![Tally::default(); VOTERS.len()];
    for (voter, tally) in VOTERS.iter().zip(&mut tallies) {
        let fails = |what: String| Mismatch {
            property: property.to_string(),
            way: voter.to_string(),
            what,
        };
        let outcome = match ask(&task, *voter, patience) {
            Ok(outcome) => outcome,
            Err(EngineError::Unsupported(_)) => {
                tally.unsupported += 1;
                continue;
            }
            Err(EngineError::Internal(reason)) => return Err(fails(reason)),
        };
        let bounds = outcome.bounds;
        match outcome.conclusion {
            Conclusion::Unsafe(_) if !expected => {
                return Err(fails("a violation is made up".into()));
            }
            Conclusion::Safe { up_to } if up_to.is_empty() && expected => {
                return Err(fails("a violation is missed".into()));
            }
            Conclusion::Safe { .. } if !expected && !meets_bound && !bounds.is_empty() => {
                return Err(fails("a bound is made up".into()));
            }
            Conclusion::Safe { up_to } if up_to.is_empty() && meets_bound && bounds.is_empty() => {
                return Err(fails("a bound is missed".into()));
            }
            Conclusion::Safe { up_to } if !up_to.is_empty() => tally.unfinished += 1,
            Conclusion::Stopped { .. } | Conclusion::Refused { .. } => tally.unfinished += 1,
            Conclusion::Unsafe(_) | Conclusion::Safe { .. } => tally.answered += 1,
        }
    }
    Ok(tallies)
}

fn ask(task: &Task, voter: Voter, patience: Duration) -> Result<Outcome, EngineError> {
    let options = SymbolicOptions {
        depth: Some(DEPTH),
        ..SymbolicOptions::default()
    };
    let control = Control::unlimited().within(patience);
    let silent = &mut |_: &_| {};
    match voter {
        Voter::Bmc(reduction) => Bmc {
            reduction,
            options,
            ..Bmc::default()
        }
        .run(task, &control, silent),
        Voter::Peephole => Bmc {
            peephole: true,
            options,
            ..Bmc::default()
        }
        .run(task, &control, silent),
        Voter::Ic3(reduction) => Ic3 {
            reduction,
            options,
            certify: false,
        }
        .run(task, &control, silent),
        Voter::Token(pairs) => Token {
            options: SymbolicOptions { pairs, ..options },
            certify: false,
        }
        .run(task, &control, silent),
    }
}

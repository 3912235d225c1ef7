//! The symbolic engines in all their ways, compared with explicit search.
//!
//! Bounded model checking and IC3 with every reduction, token passing with every set of
//! pairs. An engine may leave a question open, for want of time or of support; what it
//! answers must be what the search of all interleavings says. Counterexamples are replayed
//! by the engines themselves before they answer, proofs of IC3 are certified. A new engine
//! or option joins by a line in [`VOTERS`].

use std::fmt;
use std::time::{Duration, Instant};

use mover_ir::program::{Program, Property};
use mover_reduce::{Heuristics, Reduction};
use mover_symbolic::layout::Bounds;
use mover_symbolic::outcome::{Conclusion, Failure, Question};
use mover_symbolic::sat::Limit;
use mover_symbolic::token::Settings;
use mover_symbolic::token::pairs::Pairs;

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

/// Asks all engines whether a property holds, and if so whether runs meet a bound; gives what each
/// made of it.
pub fn vote(
    program: &Program,
    property: Property,
    expected: bool,
    meets_bound: bool,
    patience: Duration,
) -> Result<Vec<Tally>, Mismatch> {
    let mut tallies = vec![Tally::default(); VOTERS.len()];
    for (voter, tally) in VOTERS.iter().zip(&mut tallies) {
        let fails = |what: String| Mismatch {
            property: property.to_string(),
            way: voter.to_string(),
            what,
        };
        let conclusion = match ask(program, property, *voter, patience) {
            Ok(conclusion) => conclusion,
            Err(Failure::Unsupported(_)) => {
                tally.unsupported += 1;
                continue;
            }
            Err(Failure::Internal(reason)) => return Err(fails(reason)),
        };
        match conclusion {
            Conclusion::Unsafe(_) if !expected => {
                return Err(fails("a violation is made up".into()));
            }
            Conclusion::Safe { up_to, .. } if up_to.is_empty() && expected => {
                return Err(fails("a violation is missed".into()));
            }
            Conclusion::Safe { bounds, .. } if !expected && !meets_bound && !bounds.is_empty() => {
                return Err(fails("a bound is made up".into()));
            }
            Conclusion::Safe { up_to, bounds }
                if up_to.is_empty() && meets_bound && bounds.is_empty() =>
            {
                return Err(fails("a bound is missed".into()));
            }
            Conclusion::Safe { up_to, .. } if !up_to.is_empty() => tally.unfinished += 1,
            Conclusion::Unknown { .. } => tally.unfinished += 1,
            Conclusion::Unsafe(_) | Conclusion::Safe { .. } => tally.answered += 1,
        }
    }
    Ok(tallies)
}

fn ask(
    program: &Program,
    property: Property,
    voter: Voter,
    patience: Duration,
) -> Result<Conclusion, Failure> {
    let question = Question {
        reduction: match voter {
            Voter::Bmc(reduction) | Voter::Ic3(reduction) => reduction,
            Voter::Peephole | Voter::Token(_) => Reduction::None,
        },
        peephole: voter == Voter::Peephole,
        heuristics: Heuristics::ALL,
        unfold: true,
        errors: property != Property::NoDeadlock,
        deadlocks: property == Property::NoDeadlock,
        bounds: Bounds::default(),
        depth: Some(DEPTH),
        contexts: None,
        certify: true,
        check_answers: false,
        carry_over: false,
        limit: Limit {
            interrupt: Vec::new(),
            deadline: Some(Instant::now() + patience),
        },
    };
    let silent = &mut |_: &_| {};
    let outcome = match voter {
        Voter::Bmc(_) | Voter::Peephole => {
            mover_symbolic::check_bounded(program, &question, silent)
        }
        Voter::Ic3(_) => mover_symbolic::check_inductive(program, &question, silent),
        Voter::Token(pairs) => {
            let settings = Settings {
                pairs,
                contexts: None,
            };
            mover_symbolic::check_token(program, &question, &settings, silent)
        }
    };
    Ok(outcome?.conclusion)
}

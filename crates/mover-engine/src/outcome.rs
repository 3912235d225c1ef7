//! The result of an engine.

use std::fmt;
use std::time::Duration;

use mover_ir::program::{BoundMet, LocationId, Program, Property, TemplateId};
use mover_ir::semantics::{Machine, State, Step};
use mover_reduce::facts::access::EdgeRef;

use crate::Stop;

/// A run that violates a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub property: Property,
    /// The error location; none for a deadlock and a data race.
    pub error: Option<(TemplateId, LocationId)>,
    /// From the initial state.
    pub steps: Vec<Step>,
}

/// Why a claimed counterexample is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The step with this number, from 1, cannot be taken.
    #[error("step {0} is not possible")]
    Impossible(usize),
    #[error("the run does not end in the error claimed")]
    NoError,
    #[error("the run does not end in a deadlock")]
    NoDeadlock,
    #[error("the run does not end in a data race")]
    NoRace,
}

impl Violation {
    /// Whether the steps are a run of the concrete semantics that ends in what is claimed.
    pub fn replay(&self, program: &Program) -> Result<(), ReplayError> {
        let machine = Machine::new(program);
        let mut state = machine.initial();
        for (number, &step) in self.steps.iter().enumerate() {
            if !machine.can_take(&state, step) {
                return Err(ReplayError::Impossible(number + 1));
            }
            state = machine.apply(&state, step);
        }
        self.ends_in(&machine, &state)
    }

    /// Whether this state is what is claimed.
    pub fn ends_in(&self, machine: &Machine, state: &State) -> Result<(), ReplayError> {
        if self.property == Property::NoDataRace {
            return match machine.race(state) {
                Some(_) => Ok(()),
                None => Err(ReplayError::NoRace),
            };
        }
        let Some(claimed) = self.error else {
            return if machine.is_deadlock(state) {
                Ok(())
            } else {
                Err(ReplayError::NoDeadlock)
            };
        };
        let (thread, mark) = machine.error(state).ok_or(ReplayError::NoError)?;
        let thread = state.threads[thread].as_ref().ok_or(ReplayError::NoError)?;
        if (thread.template, thread.location) == claimed && mark.property == self.property {
            Ok(())
        } else {
            Err(ReplayError::NoError)
        }
    }
}

/// What `safe` is limited to where an engine did not look at all runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UpTo {
    /// Transactions unrolled.
    Blocks(u64),
    ContextSwitches(u64),
    /// Repetitions of loops in each thread.
    Repetitions(u64),
    /// How often each thread is given the token, least and most; and whether only schedules that
    /// represent others are counted.
    TokenPasses {
        bounds: Vec<(u64, u64)>,
        representatives: bool,
    },
    /// Threads at a time.
    Threads(usize),
    /// Dynamic objects at a time, each of this many bytes.
    Objects {
        count: usize,
        bytes: u64,
    },
}

impl UpTo {
    /// Several, in words.
    pub fn list(bounds: &[UpTo], between: &str) -> String {
        let words: Vec<String> = bounds.iter().map(UpTo::to_string).collect();
        words.join(between)
    }
}

impl fmt::Display for UpTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpTo::Blocks(count) => write!(f, "{count} blocks"),
            UpTo::ContextSwitches(count) => write!(f, "{count} context switches"),
            UpTo::Repetitions(1) => write!(f, "1 repetition of loops in each thread"),
            UpTo::Repetitions(count) => write!(f, "{count} repetitions of loops in each thread"),
            UpTo::TokenPasses {
                bounds,
                representatives,
            } => {
                let one = |&(least, most): &(u64, u64)| match least {
                    0 => most.to_string(),
                    least => format!("{least} to {most}"),
                };
                let counts: Vec<String> = bounds.iter().map(one).collect();
                // A reduced set keeps a schedule of each class, not the one with the fewest changes.
                let of = if *representatives {
                    " in the representative schedules"
                } else {
                    ""
                };
                write!(
                    f,
                    "{} passes of the token to a thread{of}",
                    counts.join(", ")
                )
            }
            UpTo::Threads(count) => write!(f, "{count} threads at a time"),
            UpTo::Objects { count, bytes } => {
                write!(f, "{count} dynamic objects of {bytes} bytes")
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// No run violates a property; what that is limited to, if anything.
    Safe {
        up_to: Vec<UpTo>,
    },
    Unsafe(Violation),
    /// It was stopped. `so_far` says how far it had come and follows the reason in a sentence.
    Stopped {
        stop: Stop,
        so_far: String,
        advice: String,
    },
    /// It met something that it does not take, or cannot decide.
    Refused {
        reason: String,
        advice: String,
    },
}

/// What a solver did.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SolverEffort {
    pub variables: u64,
    pub clauses: u64,
    /// Size of all clauses that were given, as DIMACS text.
    pub bytes: u64,
    pub questions: u64,
    pub conflicts: u64,
}

impl std::ops::AddAssign for SolverEffort {
    fn add_assign(&mut self, other: SolverEffort) {
        self.variables += other.variables;
        self.clauses += other.clauses;
        self.bytes += other.bytes;
        self.questions += other.questions;
        self.conflicts += other.conflicts;
    }
}

/// How far an engine has come. An engine leaves at 0 what it does not count.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    pub time: Duration,
    /// What it counts is [`crate::Engine::unit`].
    pub depth: u64,
    /// States stored.
    pub states: u64,
    /// Steps between stored states; an atomic sequence counts as one.
    pub transitions: u64,
    /// States found but not yet expanded.
    pub frontier: u64,
    /// Stored states of which only a persistent set of threads was expanded.
    pub persistent: u64,
    /// Bytes taken by the store and the frontier.
    pub bytes: u64,
    /// How many violations were met; more than one only if the search kept going.
    pub violations: u64,
    /// States to be blocked that IC3 inspected, and clauses that it has learnt.
    pub obligations: u64,
    pub lemmas: u64,
    /// Bits of a state in the formula, and predicates beside them.
    pub bits: u64,
    pub predicates: u64,
    /// Events of the threads, and pairs of them between which the token may be passed.
    pub events: u64,
    pub pairs: u64,
    /// Different terms made.
    pub terms: u64,
    pub effort: SolverEffort,
}

/// Why a proof can be believed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// The invariant, each line one clause in the words of the source.
    pub invariant: Vec<String>,
    /// What a fresh solver has confirmed.
    pub certified: Vec<String>,
    /// What could not be confirmed, and why.
    pub uncertified: Vec<String>,
}

/// A claim of the user on exclusive access, and an access that does not keep to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BrokenClaim {
    /// The number among the program's claims.
    pub given: usize,
    /// In the program with atomic sequences fused.
    pub edge: EdgeRef,
}

/// A property that an engine did not check, and why, and what to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unchecked {
    pub property: Property,
    pub reason: String,
    pub advice: String,
}

/// What an engine found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub conclusion: Conclusion,
    /// Where a violation was found: violations of other properties, at most one of each.
    pub further: Vec<Violation>,
    /// Where a violation was found and the search continued: what it came to for the properties
    /// without a violation. None if it stopped there.
    pub others: Option<Conclusion>,
    /// The properties asked for that the engine did not check.
    pub unchecked: Vec<Unchecked>,
    /// Bounds that some run meets: such runs are cut off there, so `safe` is not said of them.
    pub bounds: Vec<BoundMet>,
    pub statistics: Statistics,
    /// The reduction that was used, by name.
    pub reduction: &'static str,
    /// How it solved the ignoring problem.
    pub ignoring: Option<&'static str>,
    /// Why it is not the reduction that was asked for.
    pub declined: Option<String>,
    pub proof: Option<Proof>,
    pub broken_claims: Vec<BrokenClaim>,
}

impl Outcome {
    /// All violations, the first one first.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.violation().into_iter().chain(&self.further)
    }

    /// The violation that was found, if one was.
    pub fn violation(&self) -> Option<&Violation> {
        match &self.conclusion {
            Conclusion::Unsafe(violation) => Some(violation),
            _ => None,
        }
    }

    pub fn new(conclusion: Conclusion, statistics: Statistics, reduction: &'static str) -> Outcome {
        Outcome {
            conclusion,
            further: Vec::new(),
            others: None,
            unchecked: Vec::new(),
            bounds: Vec::new(),
            statistics,
            reduction,
            ignoring: None,
            declined: None,
            proof: None,
            broken_claims: Vec::new(),
        }
    }
}

/// Why an engine has no outcome.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The program does not fit the engine.
    #[error("{0}")]
    Unsupported(String),
    /// A claim of the engine did not stand up to its check.
    #[error("internal error: {0}")]
    Internal(String),
}

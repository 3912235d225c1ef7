//! What an engine is asked and what it answers.

use std::time::Duration;

use mover_ir::program::{BoundMet, LocationId, Program, Property, TemplateId};
use mover_ir::semantics::{Machine, Step};
use mover_reduce::{Heuristics, Reduction};

use crate::layout::Bounds;
use crate::rup::Checked;
use crate::sat::{Effort, Limit, Solver};

/// What to look for and how far to go.
#[derive(Clone)]
pub struct Question {
    pub reduction: Reduction,
    pub heuristics: Heuristics,
    /// Whether bounded model checking leaves out runs that differ only in the order of
    /// neighbours; only without another reduction.
    pub peephole: bool,
    /// Whether loops and starts of threads that are known beforehand are unfolded.
    pub unfold: bool,
    /// Whether errors of `unreach-call` count; those of other properties always do.
    pub errors: bool,
    pub deadlocks: bool,
    /// How much is encoded of what the program makes without bound.
    pub bounds: Bounds,
    /// How many blocks bounded model checking goes, at most.
    pub depth: Option<u64>,
    /// How often bounded model checking lets another thread take over, at most.
    pub contexts: Option<u64>,
    /// Whether proofs are checked by a solver of their own.
    pub certify: bool,
    /// Whether every unsatisfiable answer that a verdict rests on is checked from its proof.
    pub check_answers: bool,
    /// Whether a proof about transactions is carried over to single steps, if that can be done.
    pub carry_over: bool,
    pub limit: Limit,
}

impl Question {
    /// A solver for questions whose answers the verdict rests on.
    pub fn solver(&self) -> Solver {
        if self.check_answers {
            Solver::checked(self.limit.clone())
        } else {
            Solver::new(self.limit.clone())
        }
    }
}

/// How far an engine has come.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Blocks unrolled, or frames, or repetitions of loops.
    pub depth: u64,
    /// States to be blocked that IC3 looked at.
    pub obligations: u64,
    /// Clauses that IC3 has learnt.
    pub lemmas: u64,
    /// Predicates beside the bits of the state.
    pub predicates: u64,
    /// Bits of a state, or those that go with the token.
    pub bits: u64,
    /// Events of the threads, and pairs of them between which the token may be passed.
    pub events: u64,
    pub pairs: u64,
    /// Different terms made.
    pub terms: u64,
    pub effort: Effort,
    pub time: Duration,
}

/// A run that violates a property, confirmed by the semantics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub property: Property,
    /// The error location; none for a deadlock.
    pub error: Option<(TemplateId, LocationId)>,
    pub steps: Vec<Step>,
}

/// What an engine found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// No run violates a property.
    Safe {
        /// The bounds of the search that this rests on, if any.
        up_to: Vec<String>,
        /// The bounds of the program that runs meet, in ascending order; what lies beyond them was
        /// not seen.
        bounds: Vec<BoundMet>,
    },
    Unsafe(Violation),
    Unknown {
        reason: String,
        advice: String,
    },
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

impl Proof {
    /// What was checked of a solver's answers; an error if one of them was wrong.
    pub fn note_checks(&mut self, solver: &Solver) -> Result<(), Failure> {
        let checked = solver
            .checks()
            .map_err(|flaw| Failure::Internal(flaw.into()))?;
        self.certified.extend(checked.map(describe));
        Ok(())
    }
}

fn describe(checked: Checked) -> String {
    let Checked {
        given,
        learnt,
        claims,
    } = checked;
    let (answers, follow) = match claims {
        1 => ("answer", "follows"),
        _ => ("answers", "follow"),
    };
    format!(
        "{claims} unsatisfiable {answers} of the solver {follow} from the {given} clauses given to it, \
         checked by reverse unit propagation through {learnt} learnt clauses"
    )
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The program cannot be encoded.
    Unsupported(String),
    /// A claim of an engine did not stand up to its check.
    Internal(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Unsupported(reason) => f.write_str(reason),
            Failure::Internal(reason) => write!(f, "internal error: {reason}"),
        }
    }
}

impl std::error::Error for Failure {}

pub struct Outcome {
    pub conclusion: Conclusion,
    pub statistics: Statistics,
    /// The reduction that was used.
    pub reduction: Reduction,
    /// Why it is not the one asked for.
    pub declined: Option<String>,
    pub proof: Option<Proof>,
}

/// How a run ends that an engine found.
pub enum RunEnd {
    Violation(Violation),
    Bound(BoundMet),
}

/// Runs the steps that an engine found and says what they violate, or which bound they meet.
pub fn confirm(program: &Program, steps: Vec<Step>) -> Result<RunEnd, Failure> {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    for (number, &step) in steps.iter().enumerate() {
        if !machine.can_take(&state, step) {
            let number = number + 1;
            return Err(Failure::Internal(format!(
                "step {number} of the counterexample is not possible"
            )));
        }
        state = machine.apply(&state, step);
    }
    if let Some((thread, mark)) = machine.error(&state) {
        let error = state.threads[thread].as_ref();
        return Ok(RunEnd::Violation(Violation {
            property: mark.property,
            error: error.map(|thread| (thread.template, thread.location)),
            steps,
        }));
    }
    if let Some((met, _)) = machine.bound(&state) {
        return Ok(RunEnd::Bound(met));
    }
    if machine.is_deadlock(&state) {
        return Ok(RunEnd::Violation(Violation {
            property: Property::NoDeadlock,
            error: None,
            steps,
        }));
    }
    Err(Failure::Internal(
        "the counterexample violates nothing".into(),
    ))
}

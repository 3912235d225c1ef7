//! Options of the symbolic engines, and how a run that they find ends.

use mover_engine::{Conclusion, Control, EngineError, Proof, Stop, Violation};
use mover_ir::program::{BoundMet, Program, Property};
use mover_ir::semantics::{Machine, Step};
use mover_reduce::{Heuristics, Reduction};

use crate::layout::Bounds;
use crate::rup::Checked;
use crate::sat::Solver;

/// What to look for and how far to go.
#[derive(Clone)]
pub struct Question {
    pub reduction: Reduction,
    pub heuristics: Heuristics,
    /// Whether the cheaper form of the plan is used, if it has one.
    pub cheaper: bool,
    /// Whether bounded model checking leaves out runs that differ only in the order of
    /// neighbours; only without another reduction.
    pub peephole: bool,
    /// Whether loops and starts of threads that are known in advance are unfolded.
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
    pub limit: Control,
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

/// Adds what was checked of a solver's answers to a proof; an error if one of them was wrong.
pub fn note_checks(proof: &mut Proof, solver: &Solver) -> Result<(), EngineError> {
    let checked = solver
        .checks()
        .map_err(|flaw| EngineError::Internal(flaw.into()))?;
    proof.certified.extend(checked.map(describe));
    Ok(())
}

fn describe(checked: Checked) -> String {
    let Checked {
        given,
        learnt,
        claims,
        cycles,
    } = checked;
    let (answers, follow) = match claims {
        1 => ("answer", "follows"),
        _ => ("answers", "follow"),
    };
    let and_cycles = match cycles {
        0 => String::new(),
        _ => format!(" and {cycles} lemmas about the order of events, each checked to be a cycle"),
    };
    format!(
        "{claims} unsatisfiable {answers} of the solver {follow} from the {given} clauses given to \
         it{and_cycles}, checked by reverse unit propagation through {learnt} learnt clauses"
    )
}

/// That an engine was stopped, `so_far` as in [`Conclusion::Stopped`].
pub fn stopped(control: &Control, so_far: String, or: &str) -> Conclusion {
    let stop = control.stop().unwrap_or(Stop::Time);
    Conclusion::Stopped {
        stop,
        so_far,
        advice: format!("{}, or {or}", stop.advice()),
    }
}

/// How a run ends that an engine found.
pub enum RunEnd {
    Violation(Violation),
    Bound(BoundMet),
}

/// Runs the steps that an engine found and says what they violate, or which bound they meet.
pub fn confirm(program: &Program, steps: Vec<Step>) -> Result<RunEnd, EngineError> {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    for (number, &step) in steps.iter().enumerate() {
        if !machine.can_take(&state, step) {
            let number = number + 1;
            return Err(EngineError::Internal(format!(
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
    Err(EngineError::Internal(
        "the counterexample violates nothing".into(),
    ))
}

//! The symbolic engines, selected by their options.

use mover_engine::{Conclusion, Control, Engine, EngineError, Outcome, Progress, Task, Unchecked};
use mover_ir::program::Property;
use mover_reduce::{Heuristics, Reduction};

use crate::layout::Bounds;
use crate::outcome::Question;
use crate::token::encode::ContextBound;
use crate::token::pairs::Pairs;
use crate::token::{self, Settings};
use crate::{bmc, ic3, modular};

/// What can be asked of the symbolic engines; each takes of it what it knows.
#[derive(Clone, Debug)]
pub struct SymbolicOptions {
    /// How many blocks `bmc` unrolls at most, or how many repetitions of loops `token`.
    pub depth: Option<u64>,
    /// How often `bmc` lets another thread take over, at most.
    pub contexts: Option<u64>,
    /// Between which accesses `token` lets control change hands.
    pub pairs: Pairs,
    /// How often `token` lets each thread take over; the last bound is that of all further threads.
    pub context_bound: Option<Vec<ContextBound>>,
    /// Numbers of threads that come first in the order of threads that `token` uses.
    pub thread_order: Vec<usize>,
    /// Whether `token` first tries runs in which each thread gets the token once.
    pub few_passes_first: bool,
    /// How much is encoded of what the program makes without bound.
    pub bounds: Bounds,
    /// When steps move, besides statically, with `Dynamic`.
    pub heuristics: Heuristics,
    /// Whether loops and starts of threads that are known in advance are unfolded.
    pub unfold: bool,
}

impl Default for SymbolicOptions {
    fn default() -> Self {
        SymbolicOptions {
            depth: None,
            contexts: None,
            pairs: Pairs::ReadsFrom,
            context_bound: None,
            thread_order: Vec::new(),
            few_passes_first: true,
            bounds: Bounds::default(),
            heuristics: Heuristics::ALL,
            unfold: true,
        }
    }
}

/// Bounded model checking: finds shallow violations, proves programs whose runs all end.
#[derive(Clone, Debug, Default)]
pub struct Bmc {
    pub reduction: Reduction,
    /// Whether runs are left out that differ only in the order of neighbours; only without another
    /// reduction.
    pub peephole: bool,
    pub options: SymbolicOptions,
    /// Whether everything that the answer rests on is checked once more.
    pub certify: bool,
}

/// IC3: proves programs that run for ever.
#[derive(Clone, Debug, Default)]
pub struct Ic3 {
    pub reduction: Reduction,
    pub options: SymbolicOptions,
    pub certify: bool,
}

/// Proofs for any number of threads.
#[derive(Clone, Debug, Default)]
pub struct Modular {
    pub reduction: Reduction,
    pub options: SymbolicOptions,
    pub certify: bool,
}

/// Token passing: each thread unrolled on its own.
#[derive(Clone, Debug, Default)]
pub struct Token {
    pub options: SymbolicOptions,
    pub certify: bool,
}

impl SymbolicOptions {
    /// A bound on how often threads take over is about passes of the token.
    fn pairs_used(&self) -> Pairs {
        match self.pairs {
            Pairs::ReadsFrom if self.context_bound.is_some() => Pairs::Lex,
            pairs => pairs,
        }
    }

    fn question(
        &self,
        task: &Task,
        reduction: Reduction,
        certify: bool,
        control: &Control,
    ) -> Question {
        Question {
            reduction,
            heuristics: self.heuristics,
            cheaper: false,
            peephole: false,
            unfold: self.unfold,
            errors: task.asks_for_errors(),
            deadlocks: task.asks_for_deadlocks(),
            bounds: self.bounds,
            depth: self.depth,
            contexts: self.contexts,
            certify: true,
            check_answers: certify,
            carry_over: certify,
            limit: control.clone(),
        }
    }
}

/// Terms are deep; so are the functions that walk them.
const STACK: usize = 1 << 30;

/// Runs on a stack that is deep enough.
fn with_stack<T: Send>(
    work: impl FnOnce() -> Result<T, EngineError> + Send,
) -> Result<T, EngineError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| EngineError::Internal(format!("no thread can be started: {error}")))?;
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lets an engine work on the program with its data races as errors, if they are asked for. If there
/// is no such program, it checks the other properties.
fn with_races(
    task: &Task,
    work: impl FnOnce(&Task) -> Result<Outcome, EngineError>,
) -> Result<Outcome, EngineError> {
    if !task.asks_for_races() {
        return work(task);
    }
    match task.races_as_errors() {
        Ok(with_errors) => {
            let mut outcome = work(with_errors)?;
            if let Conclusion::Unsafe(violation) = &mut outcome.conclusion
                && violation.property == Property::NoDataRace
            {
                // The last step is the one into the error.
                violation.steps.pop();
                violation.error = None;
            }
            Ok(outcome)
        }
        Err(reason) => {
            let mut outcome = work(task)?;
            outcome.unchecked.push(Unchecked {
                property: Property::NoDataRace,
                reason: reason.to_string(),
                advice: "--engine explicit".into(),
            });
            Ok(outcome)
        }
    }
}

impl Bmc {
    fn question(&self, task: &Task, control: &Control) -> Question {
        Question {
            peephole: self.peephole,
            ..self
                .options
                .question(task, self.reduction, self.certify, control)
        }
    }

    /// The question whether a violation is within the depth asked for, in SMT-LIB.
    pub fn dump(&self, task: &Task, control: &Control) -> Result<String, EngineError> {
        let task = task.races_as_errors().unwrap_or(task);
        with_stack(|| bmc::dump(task, &self.question(task, control)))
    }
}

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    fn reduction(&self) -> &'static str {
        if self.peephole {
            "peephole"
        } else {
            self.reduction.name()
        }
    }

    fn unit(&self) -> &'static str {
        "blocks"
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        with_races(task, |task| {
            with_stack(|| bmc::check(task, &self.question(task, control), progress))
        })
    }
}

impl Ic3 {
    fn question(&self, task: &Task, control: &Control) -> Question {
        self.options
            .question(task, self.reduction, self.certify, control)
    }

    /// The question whether the invariant that is found can be broken, in SMT-LIB.
    pub fn dump(&self, task: &Task, control: &Control) -> Result<String, EngineError> {
        let task = task.races_as_errors().unwrap_or(task);
        with_stack(|| ic3::dump(task, &self.question(task, control)))
    }
}

impl Engine for Ic3 {
    fn name(&self) -> &'static str {
        "ic3"
    }

    fn reduction(&self) -> &'static str {
        self.reduction.name()
    }

    fn unit(&self) -> &'static str {
        "frames"
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        with_races(task, |task| {
            with_stack(|| ic3::check(task, &self.question(task, control), progress))
        })
    }
}

impl Engine for Modular {
    fn name(&self) -> &'static str {
        "modular"
    }

    fn reduction(&self) -> &'static str {
        self.reduction.name()
    }

    fn unit(&self) -> &'static str {
        "frames"
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        let options = &self.options;
        let question = options.question(task, self.reduction, self.certify, control);
        with_stack(|| modular::check(task, &question, progress))
    }
}

impl Engine for Token {
    fn name(&self) -> &'static str {
        "token"
    }

    /// Its reduction is the set of pairs.
    fn reduction(&self) -> &'static str {
        self.options.pairs_used().name()
    }

    fn unit(&self) -> &'static str {
        "repetitions"
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        let options = &self.options;
        let settings = Settings {
            pairs: options.pairs_used(),
            contexts: options.context_bound.clone(),
            thread_order: options.thread_order.clone(),
            few_passes_first: options.few_passes_first,
            without: None,
        };
        with_races(task, |task| {
            let question = options.question(task, Reduction::None, self.certify, control);
            with_stack(|| token::check(task, &question, &settings, progress))
        })
    }
}

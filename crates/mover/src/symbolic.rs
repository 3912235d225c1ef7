//! The symbolic engines on the command line.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, ValueEnum};
use mover_ir::program::{Program, Property};
use mover_reduce::Heuristics;
use mover_report::trace::Trace;
use mover_report::verdict::{Answer, Certified, SymbolicFigures, Verdict};
use mover_symbolic::layout::Bounds;
use mover_symbolic::outcome::{Conclusion, Failure, Outcome, Question, Statistics};
use mover_symbolic::token::Settings;
use mover_symbolic::token::encode::ContextBound;
use mover_symbolic::token::pairs::Pairs;

use mover_cli::Cause;
use mover_cli::resources::peak_mb;

use crate::check::Told;
use crate::watch::{Ended, Limits, Over, watch};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Heuristic {
    /// Nobody can reach a conflicting step any more
    Reachability,
    /// Pointers and indices that differ and stay as they are
    Pointers,
    /// Cells that compare-and-swap will not change any more
    Monotonic,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairSet {
    /// Between all
    All,
    /// At the ends of mutually atomic transactions
    Mat,
    /// Where the least schedule of each class changes hands
    Lex,
}

/// Reads `2` or `1..3`.
fn context_bound(text: &str) -> Result<ContextBound, String> {
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|&number| number < 1 << 32)
            .ok_or_else(|| format!("`{text}` is no number of passes"))
    };
    let (least, most) = match text.split_once("..") {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (0, number(text)?),
    };
    if least > most {
        return Err(format!("`{text}` allows nothing"));
    }
    Ok(ContextBound { least, most })
}

#[derive(Args)]
pub struct SymbolicArgs {
    /// With `--engine bmc`: how many blocks (transactions) to unroll at most; with `--engine token`:
    /// how many repetitions of loops in each thread
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,

    /// With `--engine bmc`: how often another thread may take over at most
    #[arg(long, value_name = "N")]
    pub contexts: Option<u64>,

    /// With `--engine token`: between which accesses control may change hands (default: lex)
    #[arg(long, value_enum, value_name = "SET")]
    pub pairs: Option<PairSet>,

    /// With `--engine token`: how often each thread may be given the token at most; also with a
    /// least number, and one bound for each thread: `2`, `1..3`, `0,1,1`
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = context_bound)]
    pub context_bound: Option<Vec<ContextBound>>,

    /// How many threads there may be at a time where the program itself sets no bound
    /// (default: 4, and more if runs need it)
    #[arg(long, value_name = "N")]
    pub thread_slots: Option<usize>,

    /// How many dynamic objects there may be at a time where the program itself sets no bound
    /// (default: 4, and more if runs need it)
    #[arg(long, value_name = "N")]
    pub object_slots: Option<usize>,

    /// How large a dynamic object may be where the program itself sets no bound
    /// (default: 64, and more if runs need it)
    #[arg(long, value_name = "BYTES")]
    pub object_bytes: Option<u64>,

    /// With `--reduce dynamic` and a symbolic engine: when steps move, besides statically
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    heuristics: Option<Vec<Heuristic>>,

    /// With a symbolic engine: do not unfold loops and starts of threads that are known beforehand
    #[arg(long)]
    pub no_unfold: bool,

    /// Have the answer checked again: unsatisfiable answers from their proofs, invariants by a
    /// fresh solver, and `safe` for small programs by walking through all states of the definition
    #[arg(long)]
    pub certify: bool,

    /// With `--engine ic3`: print the invariant
    #[arg(long)]
    pub show_invariant: bool,
}

impl SymbolicArgs {
    /// Options that do not fit the engine are mistakes.
    pub fn check(&self, engine: Option<SymbolicEngine>) -> Result<(), String> {
        let is_bounded = engine == Some(SymbolicEngine::Bmc);
        let is_token = engine == Some(SymbolicEngine::Token);
        if !is_bounded && self.contexts.is_some() {
            return Err("--contexts goes with `--engine bmc`".into());
        }
        if !is_bounded && !is_token && self.depth.is_some() {
            return Err("--depth goes with `--engine bmc` or `--engine token`".into());
        }
        if !is_token && (self.pairs.is_some() || self.context_bound.is_some()) {
            return Err("--pairs and --context-bound go with `--engine token`".into());
        }
        if self
            .thread_slots
            .is_some_and(|threads| threads == 0 || threads > 255)
        {
            return Err("--thread-slots needs a number from 1 to 255".into());
        }
        Ok(())
    }

    pub fn bounds(&self) -> Bounds {
        let usual = Bounds::default();
        let is_free = self.thread_slots.is_none()
            && self.object_slots.is_none()
            && self.object_bytes.is_none();
        Bounds {
            threads: self.thread_slots.unwrap_or(usual.threads),
            objects: self.object_slots.unwrap_or(usual.objects),
            bytes: self.object_bytes.unwrap_or(usual.bytes),
            may_grow: is_free,
        }
    }

    pub fn token(&self) -> Settings {
        Settings {
            pairs: match self.pairs {
                Some(PairSet::All) => Pairs::All,
                Some(PairSet::Mat) => Pairs::Mat,
                Some(PairSet::Lex) | None => Pairs::Lex,
            },
            contexts: self.context_bound.clone(),
        }
    }

    pub fn heuristics(&self) -> Heuristics {
        match &self.heuristics {
            None => Heuristics::ALL,
            Some(names) => Heuristics {
                reachability: names.contains(&Heuristic::Reachability),
                pointers: names.contains(&Heuristic::Pointers),
                monotonic: names.contains(&Heuristic::Monotonic),
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SymbolicEngine {
    Bmc,
    Ic3,
    Token,
}

impl SymbolicEngine {
    pub fn name(self) -> &'static str {
        match self {
            SymbolicEngine::Bmc => "bmc",
            SymbolicEngine::Ic3 => "ic3",
            SymbolicEngine::Token => "token",
        }
    }

    /// What its depth counts.
    fn unit(self) -> &'static str {
        match self {
            SymbolicEngine::Bmc => "blocks",
            SymbolicEngine::Ic3 => "frames",
            SymbolicEngine::Token => "repetitions",
        }
    }
}

/// A question about a program.
pub struct Asked<'a> {
    pub program: &'a Program,
    pub properties: &'a [Property],
    pub question: &'a Question,
    pub token: &'a Settings,
    pub limits: Limits,
    pub show_invariant: bool,
    pub certify: bool,
}

/// What is said of an engine that was not let go on.
fn given_up(over: Over) -> Conclusion {
    let (reason, advice) = match over {
        Over::Time => ("the time limit was reached", "a longer --timeout"),
        Over::Memory => ("the memory limit was reached", "a larger --memory"),
        Over::Told => ("the search was interrupted", "letting it run on"),
    };
    Conclusion::Unknown {
        reason: reason.into(),
        advice: format!("{advice}, or another --engine"),
    }
}

/// Whose fault it is that an engine has no answer.
pub fn cause_of(failure: &Failure) -> Cause {
    match failure {
        Failure::Unsupported(_) => Cause::Input,
        Failure::Internal(_) => Cause::Internal,
    }
}

/// What an engine is given, so that it can go on even if nobody waits for it any more.
struct Work {
    engine: SymbolicEngine,
    program: Program,
    question: Question,
    token: Settings,
}

impl Work {
    fn outcome(&self, progress: &mut (dyn FnMut(&Statistics) + Send)) -> Result<Outcome, Failure> {
        let Work {
            engine,
            program,
            question,
            token,
        } = self;
        match engine {
            SymbolicEngine::Bmc => mover_symbolic::check_bounded(program, question, progress),
            SymbolicEngine::Ic3 => mover_symbolic::check_inductive(program, question, progress),
            SymbolicEngine::Token => {
                mover_symbolic::check_token(program, question, token, progress)
            }
        }
    }
}

impl Asked<'_> {
    pub fn answer(
        &self,
        engine: SymbolicEngine,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(&Statistics),
    ) -> Result<Told, Failure> {
        let full = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            engine,
            program: self.program.clone(),
            question: self.question.clone(),
            token: self.token.clone(),
        };
        work.question.limit.interrupt.push(Arc::clone(&full));
        let mut last = Statistics::default();
        let started = Instant::now();
        let ended = watch(
            self.limits,
            stop,
            &full,
            move |tell: &mut (dyn FnMut(Statistics) + Send)| {
                work.outcome(&mut |figures| tell(*figures))
            },
            |figures| {
                progress(&figures);
                last = figures;
            },
        );
        match ended {
            Ended::Answered(outcome) => self.told(engine, outcome?),
            Ended::Filled(outcome) => {
                let mut outcome = outcome?;
                if matches!(outcome.conclusion, Conclusion::Unknown { .. }) {
                    outcome.conclusion = given_up(Over::Memory);
                }
                self.told(engine, outcome)
            }
            Ended::LeftBehind(over) => {
                let outcome = Outcome {
                    conclusion: given_up(over),
                    statistics: Statistics {
                        time: started.elapsed(),
                        ..last
                    },
                    reduction: self.question.reduction,
                    declined: None,
                    proof: None,
                };
                self.told(engine, outcome)
            }
        }
    }

    fn told(&self, engine: SymbolicEngine, outcome: Outcome) -> Result<Told, Failure> {
        let (verdict, error) = self.verdict(&outcome)?;
        let statistics = outcome.statistics;
        let proof = outcome.proof.unwrap_or_default();
        let is_peephole = self.question.peephole && outcome.declined.is_none();
        let mut caveats = self.program.info.caveats.clone();
        caveats.extend(
            outcome
                .declined
                .map(|reason| format!("checked without reduction: {reason}")),
        );
        Ok(Told {
            answer: Answer {
                verdict,
                properties: self.properties.to_vec(),
                engine: engine.name(),
                reduction: match engine {
                    SymbolicEngine::Token => self.token.pairs.name(),
                    SymbolicEngine::Bmc if is_peephole => "peephole",
                    _ => outcome.reduction.name(),
                },
                ignoring: None,
                states: 0,
                transitions: 0,
                depth: statistics.depth,
                store_bytes: 0,
                violations: u64::from(error.is_some()),
                time: statistics.time,
                peak_mb: peak_mb(),
                caveats,
                symbolic: Some(SymbolicFigures {
                    unit: engine.unit(),
                    events: statistics.events,
                    pairs: statistics.pairs,
                    bits: statistics.bits,
                    predicates: statistics.predicates,
                    terms: statistics.terms,
                    variables: statistics.effort.variables,
                    clauses: statistics.effort.clauses,
                    questions: statistics.effort.questions,
                    conflicts: statistics.effort.conflicts,
                    obligations: statistics.obligations,
                    lemmas: statistics.lemmas,
                    invariant: if self.show_invariant {
                        proof.invariant.clone()
                    } else {
                        Vec::new()
                    },
                }),
                certified: self.certify.then_some(Certified {
                    by: proof.certified,
                    not_by: proof.uncertified,
                }),
            },
            error,
            invariant: proof.invariant,
            is_refused: false,
        })
    }

    /// A violation counts once it has been replayed.
    fn verdict(&self, outcome: &Outcome) -> Result<(Verdict, ErrorLocation), Failure> {
        Ok(match &outcome.conclusion {
            Conclusion::Unsafe(violation) => {
                let trace = Trace::replay(
                    self.program,
                    &violation.steps,
                    violation.property,
                    violation.error,
                )
                .map_err(|error| {
                    Failure::Internal(format!("the counterexample does not replay: {error}"))
                })?;
                (Verdict::Unsafe(Box::new(trace)), violation.error)
            }
            Conclusion::Safe { up_to } if up_to.is_empty() => (Verdict::Safe, None),
            Conclusion::Safe { up_to } => (Verdict::SafeUpTo(up_to.clone()), None),
            Conclusion::Unknown { reason, advice } => (
                Verdict::Unknown {
                    reason: reason.clone(),
                    advice: advice.clone(),
                },
                None,
            ),
        })
    }
}

type ErrorLocation = Option<(mover_ir::program::TemplateId, mover_ir::program::LocationId)>;

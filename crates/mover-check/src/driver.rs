//! The driver: from a task to an answer.
//!
//! The stages of the [strategy](crate::strategy) run one after the other until one has a final
//! answer. The result is re-checked here, whatever engine it comes from: a violation is
//! confirmed on the concrete semantics, shortened, replayed and divided into transactions;
//! `safe` is certified if that was requested.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mover_engine::words::grouped;
use mover_engine::{
    Cancel, CancelReason, Conclusion, Control, Engine, EngineError, Outcome, Statistics, Stop,
    Task, Unchecked, UpTo, Violation,
};
use mover_ir::program::{BoundMet, Program, Property, SiteKind};
use mover_reduce::transform::repeated_creation::with_copies;
use mover_source::diagnostic::Diagnostic;
use tracing::{debug, info};

use crate::answer::{Answer, Certified, PropertyAnswer, STOPPED_AT_FIRST, Verdict};
use crate::engines::engine;
use crate::observer::Observer;
use crate::options::{EngineChoice, Options, ReductionChoice};
use crate::recheck;
use crate::shorten::{self, Effort};
use crate::strategy::{Features, Hunt, Run, Stage, Strategy, When};
use crate::trace::{Length, Trace};
use crate::watch::{Ended, watch};
use crate::{bounds, claims, fold, sequential, temporal, vacuous};

/// However slow the machine is, an answer does not wait longer for its story.
const LONGEST_SHORTENING: Duration = Duration::from_secs(2);

/// What a proof for any number of threads is about, if the program creates a certain number.
const EACH_STANDS_FOR_MANY: &str = "each creation of a thread stands for any number of creations with \
                                    the same arguments";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// What the user claims of exclusive access cannot serve as such a claim.
    #[error("a claim of exclusive access is wrong")]
    WrongClaims(Vec<Diagnostic>),
    /// No engine takes the program.
    #[error("{0}")]
    Unsupported(String),
    /// mover has made a mistake, and has noticed.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<EngineError> for CheckError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Unsupported(reason) => CheckError::Unsupported(reason),
            EngineError::Internal(reason) => CheckError::Internal(reason),
        }
    }
}

/// An engine's outcome, with what it took.
struct Finished {
    /// What it was about.
    task: Arc<Task>,
    engine: Arc<dyn Engine>,
    outcome: Outcome,
    time: Duration,
    hunt: Option<Hunt>,
}

impl Finished {
    /// Whether the answer is final, with or without a proof for any number of threads ahead.
    fn is_final(&self, features: Features, ahead: bool) -> bool {
        match &self.outcome.conclusion {
            Conclusion::Safe { .. } if self.leaves_runs_out() || self.is_about_less(features) => {
                false
            }
            // Bounds that are met are met in every search, but not in such a proof.
            Conclusion::Safe { up_to } => {
                let may_be_proved = ahead && !self.outcome.bounds.is_empty();
                up_to.is_empty() && self.outcome.unchecked.is_empty() && !may_be_proved
            }
            Conclusion::Unsafe(_) => true,
            Conclusion::Stopped { .. } | Conclusion::Refused { .. } => false,
        }
    }

    /// Whether it is about as many threads as written, and asked is for any number of them.
    fn is_about_less(&self, features: Features) -> bool {
        features.asks_for_any && self.engine.name() != EngineChoice::Modular.name()
    }

    /// Whether it says nothing but what it found.
    fn leaves_runs_out(&self) -> bool {
        matches!(self.hunt, Some(Hunt::FewThreads(_)))
    }

    /// Whether all runs were seen, up to bounds.
    fn has_seen_all(&self, features: Features) -> bool {
        !self.leaves_runs_out()
            && !self.is_about_less(features)
            && matches!(&self.outcome.conclusion, Conclusion::Safe { up_to } if up_to.is_empty())
    }

    /// How much it did in which time, in words.
    fn reached(&self) -> String {
        let Statistics { states, depth, .. } = self.outcome.statistics;
        let much = match &self.outcome.conclusion {
            Conclusion::Safe { .. } => "no violation".into(),
            Conclusion::Unsafe(_) => "a violation".into(),
            Conclusion::Refused { .. } => "no answer".into(),
            Conclusion::Stopped { .. } if states > 0 => format!("{} states", grouped(states)),
            Conclusion::Stopped { .. } => format!("{} {}", grouped(depth), self.engine.unit()),
        };
        let seconds = self.time.as_secs_f64();
        format!("{}: {much} in {seconds:.1} s", self.name())
    }

    fn name(&self) -> String {
        match self.hunt {
            None => self.engine.name().to_string(),
            Some(Hunt::DepthFirst) => format!("{} depth first", self.engine.name()),
            Some(Hunt::FewThreads(count)) => {
                format!("{} with {count} created threads", self.engine.name())
            }
        }
    }

    /// How far it came, in words.
    fn progress(&self) -> String {
        let name = self.name();
        match &self.outcome.conclusion {
            Conclusion::Safe { up_to } if up_to.is_empty() => format!("{name}: no violation"),
            Conclusion::Safe { up_to } => {
                format!("{name}: no violation up to {}", UpTo::list(up_to, ", "))
            }
            Conclusion::Unsafe(_) => format!("{name}: a violation"),
            Conclusion::Stopped { stop, so_far, .. } => {
                format!("{name}: {}{so_far}", stop.reason())
            }
            Conclusion::Refused { reason, .. } => format!("{name}: {reason}"),
        }
    }

    /// No violation with as many threads as written is no proof for any number of them.
    fn say_that_it_is_about_less(&mut self, without_proof: Option<String>) {
        let reason = match &self.outcome.conclusion {
            Conclusion::Unsafe(_) => return,
            _ => without_proof.unwrap_or_else(|| {
                let name = self.engine.name();
                format!("{name} gives no proof for any number of threads")
            }),
        };
        self.outcome.conclusion = Conclusion::Refused {
            reason: format!("{reason}; with the threads as written, {}", self.progress()),
            advice: "--threads with a number, or without it".into(),
        };
    }

    /// Whether it says more than another one that is not final either.
    fn is_better_than(&self, other: &Finished, features: Features) -> bool {
        let is_longer = self.engine.name() == other.engine.name()
            && self.hunt.is_none()
            && self.time > other.time;
        (self.has_seen_all(features) || is_longer) && !other.has_seen_all(features)
    }
}

/// Answers the task. The request `cancel` ends the search with what is known by then.
pub fn answer(
    task: &Arc<Task>,
    options: &Options,
    cancel: &Cancel,
    observer: &dyn Observer,
) -> Result<Answer, CheckError> {
    let deadline = options.timeout.map(|timeout| Instant::now() + timeout);
    let control = Control::cancelled_by(cancel)
        .with_deadline(deadline)
        .with_memory(options.memory);
    let mut answer = if temporal::is_all(task.properties()) {
        Answer::about_claims(task.properties().to_vec())
    } else {
        answer_by_engines(task, options, &control, observer)?
    };
    temporal::add_to(&mut answer, task, options, &control)?;
    if options.tracks_memory {
        leave_tracking_open(task, &mut answer);
    }
    Ok(answer)
}

/// Takes part in a search that another process began and concludes: the outcome says only whether that went well.
pub fn take_part(
    task: &Arc<Task>,
    options: &Options,
    cancel: &Cancel,
) -> Result<Outcome, CheckError> {
    let deadline = options.timeout.map(|timeout| Instant::now() + timeout);
    let control = Control::cancelled_by(cancel)
        .with_deadline(deadline)
        .with_memory(options.memory);
    let strategy = Strategy::new(options, Features::of(task));
    let run = strategy.stages.first().and_then(|stage| stage.runs.first());
    let run = run.ok_or_else(|| CheckError::Internal("a strategy without a stage".into()))?;
    Ok(engine(run, options).run(task, &control, &mut |_| ())?)
}

/// No proof covers that memory stays reachable, unless there is none to lose.
fn leave_tracking_open(task: &Task, answer: &mut Answer) {
    let mut sites = task.program().sites.iter();
    let allocates = sites.any(|site| site.kind == SiteKind::Heap);
    if allocates && matches!(answer.verdict, Verdict::Safe | Verdict::SafeUpTo(_)) {
        answer.verdict = Verdict::Unknown {
            reason: "valid-memtrack is not decided for programs that allocate memory".into(),
            advice: "--property memory-safety, or memory-cleanup for leaks at the end".into(),
        };
    }
}

/// The answer to all questions but those about temporal claims.
fn answer_by_engines(
    task: &Arc<Task>,
    options: &Options,
    control: &Control,
    observer: &dyn Observer,
) -> Result<Answer, CheckError> {
    let features = Features::of(task);
    let strategy = Strategy::new(options, features);
    info!(%strategy, "strategy");
    let is_run_time = |run: &Run| {
        run.engine == EngineChoice::Explicit
            && matches!(
                run.reduction,
                ReductionChoice::Phase | ReductionChoice::Dynamic
            )
    };
    let mut runs = strategy.stages.iter().flat_map(|stage| &stage.runs);
    if runs.any(is_run_time) {
        claims::check(task)?;
    }
    let mut finished: Option<Finished> = None;
    let mut without_proof: Option<String> = None;
    let mut told: Vec<String> = Vec::new();
    for (number, stage) in strategy.stages.iter().enumerate() {
        let ahead = strategy.stages[number..].iter().any(Stage::may_prove);
        if let Some(before) = &finished {
            if before.is_final(features, ahead) || control.cancelled().is_some() {
                break;
            }
            match (stage.when, &before.outcome.conclusion) {
                (When::Always, _) => {}
                (When::AfterRefusal, Conclusion::Refused { reason, .. }) => {
                    observer.note(&format!("{reason}; continuing with {}", stage.engines()));
                }
                (When::AfterRefusal, _) => continue,
                (When::Unfinished, _) if before.has_seen_all(features) => continue,
                (When::Unfinished, _) => {}
            }
        }
        let control = match stage.budget {
            Some(budget) => control.within(budget),
            None => control.clone(),
        };
        let next = match run_stage(task, options, stage, (features, ahead), &control, observer) {
            // What the stage before said stands; a mistake of mover is never passed over.
            Err(CheckError::Unsupported(reason)) if finished.is_some() => {
                debug!(%reason, "a later stage does not take the program");
                if stage.is_proof() {
                    without_proof.get_or_insert(reason);
                }
                continue;
            }
            next => next?,
        };
        info!("{}", next.progress());
        told.push(next.reached());
        if stage.is_proof() && !next.is_final(features, ahead) {
            without_proof.get_or_insert(next.progress());
        }
        // The first stage's result stays if no stage has an answer or says more.
        let says_more = match &finished {
            None => true,
            Some(before) => next.is_final(features, ahead) || next.is_better_than(before, features),
        };
        if says_more {
            finished = Some(next);
        }
    }
    let mut finished =
        finished.ok_or_else(|| CheckError::Internal("a strategy without a stage".into()))?;
    if let Conclusion::Stopped { so_far, .. } = &mut finished.outcome.conclusion
        && told.len() > 1
    {
        so_far.push_str(&format!(" ({})", told.join("; ")));
    }
    if finished.is_about_less(features) {
        finished.say_that_it_is_about_less(without_proof);
    }
    conclude(task, options, finished, control, observer)
}

/// The task of a run: a hunt with few threads has a program in which no more can be created, or with
/// so many from the start if any number of them is asked about, and does not ask whether that leaves others waiting.
fn task_of(run: &Run, task: &Arc<Task>) -> Result<Arc<Task>, CheckError> {
    if run.engine == EngineChoice::Modular
        && let Some(for_any) = task.any_number()
    {
        return for_any.cloned().map_err(|reason| {
            let what = "there is no program with any number of threads";
            CheckError::Unsupported(format!("{what}: {reason}"))
        });
    }
    let Some(Hunt::FewThreads(created)) = run.hunt else {
        return Ok(Arc::clone(task));
    };
    let mut program = match task.any_number() {
        None => task.program().clone(),
        Some(_) => with_copies(task.program(), created as usize),
    };
    let most = program.initial.len() as u32 + created;
    program.max_threads = program.max_threads.min(most);
    let properties = task.properties().iter().copied();
    let properties = properties.filter(|&property| property != Property::NoDeadlock);
    Ok(Arc::new(Task::unchanged(program, properties.collect())))
}

/// Lets the runs of a stage race for the answer; the first to have one stops the others. If nobody
/// has one, it stays with what the first says, which runs in this thread.
fn run_stage(
    task: &Arc<Task>,
    options: &Options,
    stage: &Stage,
    (features, ahead): (Features, bool),
    control: &Control,
    observer: &dyn Observer,
) -> Result<Finished, CheckError> {
    let contestants: Vec<Contestant> = stage
        .runs
        .iter()
        .map(|run| {
            Ok(Contestant {
                task: task_of(run, task)?,
                engine: engine(run, options),
                hunt: run.hunt,
            })
        })
        .collect::<Result<_, CheckError>>()?;
    let [first, others @ ..] = &contestants[..] else {
        return Err(CheckError::Internal("a stage without a run".into()));
    };
    let (race, win) = control.child();
    let winner: Mutex<Option<Finished>> = Mutex::new(None);
    let lock = || winner.lock().unwrap_or_else(PoisonError::into_inner);
    // What is not an answer comes back.
    let arrive = |finished: Result<Finished, CheckError>| match finished {
        Ok(finished) if finished.is_final(features, ahead) => {
            win.request(CancelReason::Answered);
            lock().get_or_insert(finished);
            None
        }
        finished => Some(finished),
    };
    let unanswered = std::thread::scope(|scope| {
        for other in others {
            let (arrive, race) = (&arrive, &race);
            scope.spawn(move || arrive(run(other, race, observer)));
        }
        arrive(run(first, &race, observer))
    });
    if let Some(winner) = lock().take() {
        return Ok(winner);
    }
    match unanswered {
        Some(result) => result,
        None => Err(CheckError::Internal("an answer was lost".into())),
    }
}

/// An engine with its task.
struct Contestant {
    task: Arc<Task>,
    engine: Arc<dyn Engine>,
    hunt: Option<Hunt>,
}

/// Runs an engine, within its limits.
fn run(
    contestant: &Contestant,
    control: &Control,
    observer: &dyn Observer,
) -> Result<Finished, CheckError> {
    let Contestant { task, engine, hunt } = contestant;
    let started = Instant::now();
    observer.begin(&**engine);
    let outcome = if engine.keeps_limits() {
        engine.run(task, control, &mut |statistics| {
            observer.progress(&**engine, statistics);
        })
    } else {
        run_watched(task, engine, control, observer)
    };
    observer.end(&**engine);
    let mut outcome = outcome?;
    if hunt.is_some() {
        // What it did not find is not known to be absent.
        outcome.others = None;
        let asked = task.properties();
        let is_asked = |violation: &Violation| asked.contains(&violation.property);
        if matches!(outcome.conclusion, Conclusion::Unsafe(_))
            && !outcome.violations().any(is_asked)
        {
            outcome.further.clear();
            outcome.conclusion = Conclusion::Refused {
                reason: "it found only errors that were not asked for".into(),
                advice: "--property all".into(),
            };
        }
    }
    info!(
        engine = engine.name(),
        reduction = outcome.reduction,
        seconds = started.elapsed().as_secs_f64(),
        statistics = ?outcome.statistics,
        "engine ended"
    );
    Ok(Finished {
        task: Arc::clone(task),
        engine: Arc::clone(engine),
        outcome,
        time: started.elapsed(),
        hunt: *hunt,
    })
}

fn run_watched(
    task: &Arc<Task>,
    engine: &Arc<dyn Engine>,
    control: &Control,
    observer: &dyn Observer,
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    let mut last = Statistics::default();
    let worker = Arc::clone(engine);
    let work_on = Arc::clone(task);
    let ended = watch(
        control,
        move |control, tell: &mut (dyn FnMut(Statistics) + Send)| {
            worker.run(&work_on, control, &mut |statistics| tell(*statistics))
        },
        |statistics| {
            observer.progress(&**engine, &statistics);
            last = statistics;
        },
    );
    let stopped = |stop: Stop| Conclusion::Stopped {
        stop,
        so_far: String::new(),
        advice: format!("{}, or another --engine", stop.advice()),
    };
    match ended {
        Ended::Answered(outcome) => outcome,
        Ended::OutOfMemory(outcome) => {
            let mut outcome = outcome?;
            if matches!(
                outcome.conclusion,
                Conclusion::Stopped { .. } | Conclusion::Refused { .. }
            ) {
                outcome.conclusion = stopped(Stop::Memory);
            }
            Ok(outcome)
        }
        Ended::Abandoned(stop) => {
            let statistics = Statistics {
                time: started.elapsed(),
                ..last
            };
            Ok(Outcome::new(stopped(stop), statistics, engine.reduction()))
        }
    }
}

/// The answer that an outcome comes to, re-checked.
fn conclude(
    task: &Task,
    options: &Options,
    finished: Finished,
    control: &Control,
    observer: &dyn Observer,
) -> Result<Answer, CheckError> {
    let Finished {
        task: searched,
        engine,
        outcome,
        time,
        ..
    } = finished;
    let program = task.program();
    let mut caveats = program.info.caveats.clone();
    if let Some(reason) = &outcome.declined {
        if engine.keeps_limits() {
            // Nobody who did not choose a reduction waits for one; the statistics name the one used.
            match options.reduction {
                Some(_) => observer.note(&format!("searching without reduction: {reason}")),
                None => info!("searched without reduction: {reason}"),
            }
        } else {
            caveats.push(format!("checked without reduction: {reason}"));
        }
    }
    let mut warnings = claims::broken(task, &outcome.broken_claims);
    let proof = outcome.proof.clone().unwrap_or_default();
    let mut certified = options.certify.then_some(Certified {
        by: proof.certified,
        not_by: proof.uncertified,
    });
    let mut traces: Vec<Trace> = Vec::new();
    for violation in outcome.violations() {
        let trace = told(
            &searched,
            options,
            outcome.reduction,
            violation.clone(),
            control,
        )?;
        traces.push(trace);
    }
    let rest = match (&outcome.conclusion, &outcome.others) {
        (Conclusion::Unsafe(_), None) => Verdict::Unknown {
            reason: STOPPED_AT_FIRST.into(),
            advice: "correcting that first, or asking for this property alone".into(),
        },
        (Conclusion::Unsafe(_), Some(conclusion)) | (conclusion, _) => {
            without_violation(program, conclusion, &outcome.bounds)
        }
    };
    let properties = task.properties().iter().copied();
    let asked: Vec<Property> = properties
        .filter(|property| !property.is_temporal())
        .collect();
    let by_property = by_property(&asked, &outcome.unchecked, &traces, &rest);
    let verdict = together(&asked, &by_property, &traces);
    match &verdict {
        Verdict::Unknown { .. } if matches!(outcome.conclusion, Conclusion::Safe { .. }) => {
            warnings.extend(bounds::refusals(program, &outcome.bounds));
        }
        Verdict::Safe if vacuous::starts_no_thread(program) => {
            let what = "no run starts a thread, so nothing concurrent was checked";
            let help = "does the program want arguments? it ends before it starts a thread";
            warnings.push(Diagnostic::warning(what).help(help));
            caveats.push("no run starts a thread".into());
        }
        _ => {}
    }
    if matches!(verdict, Verdict::Safe | Verdict::SafeUpTo(_)) {
        caveats.extend(sequential::caveat(task, time, control)?);
    }
    if matches!(verdict, Verdict::Safe) && task.any_number().is_some() {
        caveats.push(EACH_STANDS_FOR_MANY.into());
    }
    match (&verdict, &mut certified) {
        (Verdict::Unsafe(_), Some(certified)) => {
            certified.by = vec!["the run was replayed on the reference semantics".into()];
        }
        (Verdict::Safe, Some(certified)) if engine.name() == EngineChoice::Modular.name() => {
            let proved = task.any_number().and_then(Result::ok);
            let proved = proved.map_or(task, |task| &**task);
            recheck::certify_any_number(proved, certified, control)?;
        }
        (Verdict::Safe, Some(certified)) => recheck::certify(task, certified, control)?,
        (Verdict::Unknown { .. }, _) => certified = None,
        _ => {}
    }
    Ok(Answer {
        verdict,
        properties: task.properties().to_vec(),
        by_property,
        engine: engine.name(),
        reduction: outcome.reduction,
        ignoring: outcome.ignoring,
        statistics: outcome.statistics,
        unit: engine.unit(),
        time,
        peak_mb: crate::peak_mb(),
        caveats,
        claims: Vec::new(),
        warnings,
        invariant: proof.invariant,
        certified,
    })
}

/// What a search says of the properties for which it found no violation.
fn without_violation(program: &Program, conclusion: &Conclusion, met: &[BoundMet]) -> Verdict {
    match conclusion {
        Conclusion::Safe { .. } if !met.is_empty() => bounds::verdict(program, met),
        Conclusion::Safe { up_to } if !up_to.is_empty() => Verdict::SafeUpTo(up_to.clone()),
        Conclusion::Safe { .. } => Verdict::Safe,
        Conclusion::Stopped {
            stop,
            so_far,
            advice,
        } => Verdict::Unknown {
            reason: format!("{}{so_far}", stop.reason()),
            advice: advice.clone(),
        },
        Conclusion::Refused { reason, advice } => Verdict::Unknown {
            reason: reason.clone(),
            advice: advice.clone(),
        },
        Conclusion::Unsafe(_) => Verdict::Unknown {
            reason: "another property is violated".into(),
            advice: "asking for this property alone".into(),
        },
    }
}

/// The answer for each property. An error of a property that was not asked for ends its run, so
/// that nothing is known of what would have followed.
fn by_property(
    asked: &[Property],
    unchecked: &[Unchecked],
    traces: &[Trace],
    rest: &Verdict,
) -> Vec<PropertyAnswer> {
    let cut_off = traces.iter().find(|trace| !asked.contains(&trace.property));
    let of = |&property: &Property| {
        let violated = traces.iter().find(|trace| trace.property == property);
        let skipped = unchecked.iter().find(|one| one.property == property);
        let verdict = match (violated, skipped, cut_off) {
            (Some(trace), _, _) => Verdict::Unsafe(Box::new(trace.clone())),
            (None, Some(skipped), _) => Verdict::Unknown {
                reason: skipped.reason.clone(),
                advice: skipped.advice.clone(),
            },
            (None, None, Some(trace)) => {
                let place = trace
                    .place()
                    .map_or(String::new(), |place| format!(" at {place}"));
                Verdict::Unknown {
                    reason: format!(
                        "some runs end in an error that was not asked for: {}{place} ({}); no \
                         violation in the others",
                        trace.message, trace.property
                    ),
                    advice: format!("--property {}, which shows such a run", trace.property),
                }
            }
            (None, None, None) => rest.clone(),
        };
        PropertyAnswer { property, verdict }
    };
    asked.iter().map(of).collect()
}

/// The answer for all properties together: the first violation, or else the weakest answer.
fn together(asked: &[Property], each: &[PropertyAnswer], traces: &[Trace]) -> Verdict {
    let violated = traces.iter().find(|trace| asked.contains(&trace.property));
    if let Some(trace) = violated {
        return Verdict::Unsafe(Box::new(trace.clone()));
    }
    let is_unknown = |verdict: &&Verdict| matches!(verdict, Verdict::Unknown { .. });
    let is_bounded = |verdict: &&Verdict| matches!(verdict, Verdict::SafeUpTo(_));
    let mut verdicts = each.iter().map(|one| &one.verdict);
    let weakest = verdicts.clone().find(is_unknown);
    let weakest = weakest.or_else(|| verdicts.find(is_bounded));
    weakest.cloned().unwrap_or(Verdict::Safe)
}

/// The violation as it is told: confirmed, with few context switches, replayed, and cut into
/// transactions.
fn told(
    task: &Task,
    options: &Options,
    reduction: &str,
    found: Violation,
    control: &Control,
) -> Result<Trace, CheckError> {
    let program = task.program();
    let mut violation = found;
    violation.replay(program).map_err(|error| {
        CheckError::Internal(format!("the counterexample does not replay: {error}"))
    })?;
    let mut length = None;
    if !options.as_found {
        // A search that took all of its time has still this much for its story.
        let deadline = Instant::now() + LONGEST_SHORTENING;
        let effort = Effort {
            work: Effort::USUAL_WORK,
            control: control.clone().with_deadline(Some(deadline)),
        };
        let better = shorten::shorten(program, &violation.steps, violation.property, &effort);
        length = Some(Length {
            found: shorten::cost(&violation.steps),
            is_shortest: better.is_shortest,
        });
        violation.steps = better.steps;
        violation.error = better.error;
    }
    let mut trace = Trace::replay(program, &violation).map_err(|error| {
        CheckError::Internal(format!("the shortened run does not replay: {error}"))
    })?;
    trace.length = length;
    trace.transactions = fold::transactions(task, &trace, reduction);
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_explicit::Explicit;

    fn safe(hunt: Option<Hunt>) -> Finished {
        let conclusion = Conclusion::Safe { up_to: Vec::new() };
        Finished {
            task: Arc::new(Task::new(Program::default(), Vec::new())),
            engine: Arc::new(Explicit::default()),
            outcome: Outcome::new(conclusion, Statistics::default(), "none"),
            time: Duration::ZERO,
            hunt,
        }
    }

    #[test]
    fn a_hunt_that_leaves_runs_out_proves_nothing() {
        for any_number in [false, true] {
            let features = Features {
                any_number,
                ..Features::default()
            };
            assert!(safe(None).is_final(features, any_number));
            assert!(safe(Some(Hunt::DepthFirst)).is_final(features, any_number));
            let few = safe(Some(Hunt::FewThreads(2)));
            assert!(!few.is_final(features, any_number) && !few.has_seen_all(features));
        }
    }
}

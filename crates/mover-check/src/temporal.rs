//! Temporal claims: each is checked on its own, and together they decide the verdict.
//!
//! Claims are checked by explicit search, whatever engine answers the other questions. A claim that
//! forbids states is an assertion, and is checked with the reduction ([`crate::invariant`]). For all
//! others local steps may go first ([`mover_explicit::liveness`]).

use std::time::{Duration, Instant};

use mover_engine::{Conclusion, Control, Outcome, Statistics, Task};
use mover_explicit::liveness::{Fairness, Found, find_forbidden_run};
use mover_ir::claim::{Check, Claim, ClaimKind, Monitor};
use mover_ir::program::Property;

use crate::answer::{Answer, PropertyAnswer, STOPPED_AT_FIRST, Verdict};
use crate::bounds;
use crate::driver::CheckError;
use crate::engines::engine;
use crate::forbidden::{ForbiddenRun, replay};
use crate::invariant::instrument;
use crate::options::{EngineChoice, Options, ReductionChoice};
use crate::strategy::Run;

/// The verdict on one claim.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimAnswer {
    /// The property that it is a part of.
    pub property: Property,
    pub kind: ClaimKind,
    pub name: Option<String>,
    pub line: Option<usize>,
    /// The claim as messages call it.
    pub words: String,
    pub verdict: Verdict,
    pub statistics: Statistics,
    /// The reduction of the search, by name.
    pub reduction: &'static str,
    pub time: Duration,
}

/// Whether nothing else is asked about.
pub fn is_all(properties: &[Property]) -> bool {
    properties.iter().all(|property| property.is_temporal())
}

/// The claims that are asked about.
fn asked(task: &Task) -> Vec<Claim> {
    let properties = task.properties();
    let claims = task.program().info.claims.iter();
    let mut claims: Vec<Claim> = claims
        .filter(|claim| properties.contains(&claim.property()))
        .cloned()
        .collect();
    if properties.contains(&Property::Termination) {
        claims.push(Claim::termination());
    }
    claims
}

/// Checks the claims and lets them count in the answer to the other questions.
pub fn add_to(
    answer: &mut Answer,
    task: &Task,
    options: &Options,
    control: &Control,
) -> Result<(), CheckError> {
    let is_unsafe = matches!(answer.verdict, Verdict::Unsafe(_));
    let claims = asked(task);
    for (number, claim) in claims.iter().enumerate() {
        let checked = if is_unsafe {
            let advice = "correcting that first, or asking for this property alone";
            unchecked(claim, STOPPED_AT_FIRST, advice)
        } else if options.approximate.is_some() {
            let reason = "temporal claims are not searched approximately";
            unchecked(claim, reason, "a search that stores states")
        } else {
            // What a claim does not use of its share of the time is left to those after it.
            let control = match control.time_left() {
                Some(left) => control.within(left / (claims.len() - number) as u32),
                None => control.clone(),
            };
            check(claim, task, options, &control)?
        };
        answer.claims.push(checked);
    }
    if is_all(task.properties()) {
        // Nothing else was searched.
        for claim in &answer.claims {
            let (sum, part) = (&mut answer.statistics, &claim.statistics);
            sum.states += part.states;
            sum.transitions += part.transitions;
            sum.violations += part.violations;
            sum.depth = sum.depth.max(part.depth);
            sum.bytes = sum.bytes.max(part.bytes);
            answer.time += claim.time;
        }
        let mut reductions: Vec<&str> = answer.claims.iter().map(|one| one.reduction).collect();
        reductions.dedup();
        // Several claims may be searched in several ways; then each line says its own.
        answer.reduction = match answer.claims.first() {
            Some(first) if reductions.len() == 1 => first.reduction,
            _ => answer.reduction,
        };
        answer.peak_mb = crate::peak_mb();
    }
    for &property in task.properties() {
        if property.is_temporal() {
            let verdict = together(property, &answer.claims);
            answer
                .by_property
                .push(PropertyAnswer { property, verdict });
        }
    }
    answer.by_property.sort_by_key(|one| one.property);
    if is_unsafe || answer.claims.is_empty() {
        return Ok(());
    }
    // The other questions have no violation; one of a claim counts, then whatever is weaker.
    let temporal = answer
        .by_property
        .iter()
        .filter(|one| one.property.is_temporal());
    let verdicts: Vec<Verdict> = temporal.map(|one| one.verdict.clone()).collect();
    let weight = |verdict: &Verdict| match verdict {
        Verdict::Safe => 0,
        Verdict::SafeUpTo(_) => 1,
        Verdict::Unknown { .. } => 2,
        Verdict::Unsafe(_) => 3,
    };
    for verdict in verdicts {
        if weight(&verdict) > weight(&answer.verdict) {
            answer.verdict = verdict;
        }
    }
    match (&answer.verdict, &mut answer.certified) {
        (Verdict::Unknown { .. }, _) => answer.certified = None,
        (Verdict::Unsafe(_), Some(certified)) => {
            certified.by = vec!["the run was replayed on the reference semantics".into()];
            certified.not_by.clear();
        }
        (_, Some(certified)) => {
            let what = "the temporal claims, which only the search has checked";
            certified.not_by.push(what.into());
        }
        _ => {}
    }
    Ok(())
}

/// What is known of all claims of a property together: the first violation, or else the first that
/// is open.
fn together(property: Property, claims: &[ClaimAnswer]) -> Verdict {
    let of_property = |claim: &&ClaimAnswer| claim.property == property;
    let is_violated = |claim: &&ClaimAnswer| matches!(claim.verdict, Verdict::Unsafe(_));
    let is_open = |claim: &&ClaimAnswer| !claim.verdict.is_final();
    let claims: Vec<&ClaimAnswer> = claims.iter().filter(of_property).collect();
    if let Some(violated) = claims.iter().copied().find(is_violated) {
        return violated.verdict.clone();
    }
    let Some(open) = claims.iter().copied().find(is_open) else {
        return Verdict::Safe;
    };
    let more = match claims.iter().copied().filter(is_open).count() - 1 {
        0 => String::new(),
        1 => "; nor is one other claim".into(),
        others => format!("; nor are {others} other claims"),
    };
    match &open.verdict {
        Verdict::Unknown { reason, .. } if reason == STOPPED_AT_FIRST => open.verdict.clone(),
        Verdict::Unknown { reason, advice } => Verdict::Unknown {
            reason: format!("{} is not checked: {reason}{more}", open.words),
            advice: advice.clone(),
        },
        verdict => verdict.clone(),
    }
}

fn unchecked(claim: &Claim, reason: &str, advice: &str) -> ClaimAnswer {
    let verdict = Verdict::Unknown {
        reason: reason.into(),
        advice: advice.into(),
    };
    answered(claim, verdict, Statistics::default(), Duration::ZERO)
}

fn answered(
    claim: &Claim,
    verdict: Verdict,
    statistics: Statistics,
    time: Duration,
) -> ClaimAnswer {
    ClaimAnswer {
        property: claim.property(),
        kind: claim.kind,
        name: claim.name.clone(),
        line: claim.line,
        words: claim.words(),
        verdict,
        statistics,
        reduction: "none",
        time,
    }
}

/// What to try if a claim is not translated.
const LEAVE_ASIDE: &str =
    "--property unreach-call --property no-deadlock, which leaves the claims aside";

fn check(
    claim: &Claim,
    task: &Task,
    options: &Options,
    control: &Control,
) -> Result<ClaimAnswer, CheckError> {
    let monitor = match &claim.check {
        Check::Forbidden(monitor) => monitor,
        Check::Untranslated(reason) => return Ok(unchecked(claim, reason, LEAVE_ASIDE)),
    };
    let started = Instant::now();
    let program = task.program();
    let fairness = match claim.kind {
        ClaimKind::Termination if options.fairness == Fairness::None => Fairness::Weak,
        _ => options.fairness,
    };
    if let Some(verdict) = as_assertion(claim, monitor, task, options, control)? {
        let (verdict, statistics, reduction) = verdict;
        let answer = answered(claim, verdict, statistics, started.elapsed());
        return Ok(ClaimAnswer {
            reduction,
            ..answer
        });
    }
    let reduce = options.explicit_reduction() != ReductionChoice::None;
    let searched = find_forbidden_run(program, monitor, fairness, reduce, control, &mut |_| ())?;
    let forbidden = |steps: &[_], loop_start| {
        let run = ForbiddenRun {
            steps,
            loop_start,
            fairness,
        };
        let trace = replay(program, claim, monitor, run).map_err(|reason| {
            CheckError::Internal(format!("a forbidden run does not replay: {reason}"))
        })?;
        Ok::<Verdict, CheckError>(Verdict::Unsafe(Box::new(trace)))
    };
    let verdict = match &searched.found {
        Found::Nothing if !searched.bounds.is_empty() => bounds::verdict(program, &searched.bounds),
        Found::Nothing => Verdict::Safe,
        Found::Prefix(steps) => forbidden(steps, None)?,
        Found::Lasso { steps, loop_start } => forbidden(steps, Some(*loop_start))?,
        Found::Stopped(stop) => Verdict::Unknown {
            reason: stop.reason().into(),
            advice: stop.advice().into(),
        },
        Found::Refused(reason) => Verdict::Unknown {
            reason: reason.clone(),
            advice: LEAVE_ASIDE.into(),
        },
    };
    let answer = answered(claim, verdict, searched.statistics, started.elapsed());
    Ok(ClaimAnswer {
        reduction: if searched.is_reduced {
            "static"
        } else {
            "none"
        },
        ..answer
    })
}

/// The verdict on a claim that forbids states, by the search that finds errors; none if the claim is
/// of another kind, or if that search does not answer.
fn as_assertion(
    claim: &Claim,
    monitor: &Monitor,
    task: &Task,
    options: &Options,
    control: &Control,
) -> Result<Option<(Verdict, Statistics, &'static str)>, CheckError> {
    let reduction = options.explicit_reduction();
    if reduction == ReductionChoice::None {
        return Ok(None);
    }
    let program = task.program();
    let Some(instrumented) = instrument(program, monitor) else {
        return Ok(None);
    };
    let (steps, outcome) = if instrumented.fails_at_once {
        let outcome = Outcome::new(
            Conclusion::Safe { up_to: Vec::new() },
            Statistics::default(),
            "none",
        );
        (Some(Vec::new()), outcome)
    } else {
        let asked = vec![Property::UnreachCall];
        let with_test = Task::unchanged(instrumented.program.clone(), asked);
        let run = Run {
            engine: EngineChoice::Explicit,
            reduction,
            jobs: options.jobs,
            hunt: None,
        };
        let plain = Options {
            first: true,
            keep_going: false,
            checkpoints: None,
            ..options.clone()
        };
        let outcome = match engine(&run, &plain).run(&with_test, control, &mut |_| ()) {
            Ok(outcome) => outcome,
            Err(_) => return Ok(None),
        };
        let found = outcome.violation().map(|violation| &violation.steps);
        match found.map(|steps| instrumented.original_steps(steps)) {
            Some(None) => return Ok(None),
            found => (found.flatten(), outcome),
        }
    };
    let verdict = match (&steps, &outcome.conclusion) {
        (Some(steps), _) => {
            let run = ForbiddenRun {
                steps,
                loop_start: None,
                fairness: options.fairness,
            };
            match replay(program, claim, monitor, run) {
                Ok(trace) => Verdict::Unsafe(Box::new(trace)),
                Err(_) => return Ok(None),
            }
        }
        (None, Conclusion::Safe { up_to }) if up_to.is_empty() => {
            match &instrumented.original_bounds(&outcome.bounds)[..] {
                [] => Verdict::Safe,
                met => bounds::verdict(program, met),
            }
        }
        (None, Conclusion::Stopped { stop, .. }) => Verdict::Unknown {
            reason: stop.reason().into(),
            advice: stop.advice().into(),
        },
        _ => return Ok(None),
    };
    Ok(Some((verdict, outcome.statistics, outcome.reduction)))
}

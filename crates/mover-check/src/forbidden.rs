//! Runs that a temporal claim forbids, confirmed before they are shown.
//!
//! A search claims that some steps are a run, that the last of them lead back to where the loop
//! began, and that the run violates the claim. [`replay`] runs the steps on the concrete semantics,
//! compares the states at both ends of the loop, and evaluates the claim on the run by definition:
//! a formula by [`mover_ltl::lasso`], which knows no automaton; other claims by their automaton.
//! With fairness, it also checks that every thread moves in the loop or cannot move somewhere in it.

use std::collections::BTreeSet;

use mover_explicit::liveness::{Fairness, is_process_end};
use mover_ir::claim::{Claim, Monitor, Proposition};
use mover_ir::program::Program;
use mover_ir::semantics::{Machine, State, Step};
use mover_ltl::lasso::Lasso;

use crate::story::{self, Mark, Run, Story};
use crate::sync_objects::SyncObjects;
use crate::trace::{Trace, TraceStep, describe_step, list, reworded, standings, thread_name};

/// The steps of a forbidden run.
#[derive(Clone, Copy, Debug)]
pub struct ForbiddenRun<'a> {
    pub steps: &'a [Step],
    /// The steps from here on are repeated for ever; if there are none, the last state is. None if
    /// the run is forbidden however it goes on.
    pub loop_start: Option<usize>,
    pub fairness: Fairness,
}

/// Why the steps are no run that the claim forbids.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotForbidden {
    /// The step with this number, from 1, cannot be taken.
    #[error("step {0} is not possible")]
    Impossible(usize),
    #[error("the run ends in an error")]
    CutOff,
    #[error("the run ends, which the claim does not speak of")]
    Finite,
    #[error("the run does not end where it is said to")]
    GoesOn,
    #[error("the loop does not end where it begins")]
    NoLoop,
    #[error("the loop does not end with the step that it begins after")]
    OtherLastThread,
    #[error("no state of the loop is seen by the claim")]
    Unseen,
    #[error("the run does not violate the claim")]
    NoViolation,
    #[error("thread {0} is treated unfairly")]
    Unfair(usize),
}

/// Whether the process has ended: its threads take empty steps for ever.
pub(crate) fn has_ended(program: &Program, state: &State) -> bool {
    state.threads.iter().flatten().any(|thread| {
        let template = program.template(thread.template);
        is_process_end(thread.location, template.location(thread.location))
    })
}

struct Replayed<'p> {
    program: &'p Program,
    machine: Machine<'p>,
    /// One more than steps.
    states: Vec<State>,
    steps: Vec<TraceStep>,
}

/// Runs the steps and checks that the claim forbids the run; the error says why not.
pub fn replay(
    program: &Program,
    claim: &Claim,
    monitor: &Monitor,
    run: ForbiddenRun,
) -> Result<Trace, NotForbidden> {
    let machine = Machine::new(program);
    let mut states = vec![machine.initial()];
    let mut told = Vec::new();
    for (number, &step) in run.steps.iter().enumerate() {
        let before = &states[number];
        if !machine.can_take(before, step) {
            return Err(NotForbidden::Impossible(number + 1));
        }
        let (next, output) = machine.apply_with_output(before, step);
        told.push(describe_step(program, before, &next, step, output));
        states.push(next);
    }
    let replayed = Replayed {
        program,
        machine,
        states,
        steps: told,
    };
    replayed.check(monitor, run)?;
    let Replayed {
        machine,
        states,
        steps,
        ..
    } = &replayed;
    let last = &states[steps.len()];
    let standings = standings(program, machine, last);
    let told = Run {
        program,
        machine,
        states,
        steps,
    };
    let objects = (steps.len() <= story::LONGEST).then(|| story::objects(&told));
    let story = replayed.story(
        run.loop_start,
        objects.as_ref().map(|objects| (&told, objects)),
    );
    let reworded = objects.map(|objects| reworded(&told, &objects));
    Ok(Trace {
        property: claim.property(),
        error: None,
        message: claim.violation(),
        standings,
        story,
        length: None,
        transactions: Vec::new(),
        loop_start: run.loop_start,
        steps: reworded.unwrap_or(replayed.steps),
    })
}

impl Replayed<'_> {
    fn check(&self, monitor: &Monitor, run: ForbiddenRun) -> Result<(), NotForbidden> {
        let count = self.steps.len();
        let last = &self.states[count];
        let is_cut_off =
            |state| self.machine.error(state).is_some() || self.machine.bound(state).is_some();
        if is_cut_off(last) {
            return Err(NotForbidden::CutOff);
        }
        // However the run goes on, so also if its last state is repeated.
        let loop_start = run.loop_start.unwrap_or(count);
        let loops = loop_start < count;
        if run.loop_start == Some(count) {
            if !monitor.extends_finite_runs {
                return Err(NotForbidden::Finite);
            }
            if !self.machine.undecided_steps(last).is_empty() && !self.has_ended(count) {
                return Err(NotForbidden::GoesOn);
            }
        }
        if loops && self.states[loop_start] != *last {
            return Err(NotForbidden::NoLoop);
        }
        if monitor.uses_last && loops && self.last_thread(loop_start) != self.last_thread(count) {
            return Err(NotForbidden::OtherLastThread);
        }
        let letters = |range: std::ops::Range<usize>| -> Vec<u64> {
            range
                .filter(|&position| self.is_seen(position))
                .map(|position| self.letter(monitor, position))
                .collect()
        };
        let lasso = if loops {
            Lasso {
                stem: letters(0..loop_start),
                cycle: letters(loop_start..count),
            }
        } else {
            Lasso {
                stem: letters(0..count),
                cycle: letters(count..count + 1),
            }
        };
        if lasso.cycle.is_empty() {
            return Err(NotForbidden::Unseen);
        }
        let is_forbidden = match &monitor.formula {
            Some((formulas, formula)) => lasso.satisfies(formulas, *formula),
            None => lasso.is_accepted(&monitor.automaton),
        };
        if !is_forbidden {
            return Err(NotForbidden::NoViolation);
        }
        if run.fairness != Fairness::None && loops {
            self.check_fairness(loop_start, run.fairness)?;
        }
        Ok(())
    }

    /// Whether claims see the state at a position: not in the middle of an atomic sequence.
    fn is_seen(&self, position: usize) -> bool {
        self.states[position].exclusive.is_none() || self.has_ended(position)
    }

    /// Whether the process has ended.
    fn has_ended(&self, position: usize) -> bool {
        has_ended(self.program, &self.states[position])
    }

    /// The thread that moved last before a position.
    fn last_thread(&self, position: usize) -> usize {
        match position.checked_sub(1) {
            None => 0,
            Some(before) => {
                let step = self.steps[before].step;
                step.with.unwrap_or(step.by).thread
            }
        }
    }

    fn letter(&self, monitor: &Monitor, position: usize) -> u64 {
        let state = &self.states[position];
        let last = self.last_thread(position);
        let holds = |proposition: &Proposition| match proposition {
            Proposition::Holds(expr) => self.machine.eval(state, last, expr) != 0,
            Proposition::SomeThreadAt(places) => (state.threads.iter().flatten())
                .any(|thread| places.contains(&(thread.template, thread.location))),
            Proposition::Enabled(thread) => {
                let thread = self.machine.eval(state, last, thread) as usize;
                self.movers(state).contains(&thread)
            }
            Proposition::NoneEnabled => self.movers(state).is_empty(),
        };
        let bits = monitor.propositions.iter().enumerate();
        bits.filter(|(_, proposition)| holds(proposition))
            .fold(0, |letter, (bit, _)| letter | 1 << bit)
    }

    /// The threads that can move.
    fn movers(&self, state: &State) -> BTreeSet<usize> {
        let steps = self.machine.undecided_steps(state);
        steps.iter().flat_map(|&step| threads_of(step)).collect()
    }

    fn check_fairness(&self, loop_start: usize, fairness: Fairness) -> Result<(), NotForbidden> {
        let moved: BTreeSet<usize> = (self.steps[loop_start..].iter())
            .flat_map(|told| threads_of(told.step))
            .collect();
        let threads = self.states[loop_start..]
            .iter()
            .map(|state| state.threads.len());
        for thread in 0..threads.max().unwrap_or(0) {
            let mut seen = (loop_start..self.steps.len()).filter(|&at| self.is_seen(at));
            let can_move = |position: usize| self.movers(&self.states[position]).contains(&thread);
            let is_treated_fairly = moved.contains(&thread)
                || match fairness {
                    Fairness::Strong => !seen.any(can_move),
                    Fairness::Weak | Fairness::None => seen.any(|position| !can_move(position)),
                };
            if !is_treated_fairly {
                return Err(NotForbidden::Unfair(thread));
            }
        }
        Ok(())
    }

    /// Which threads move for ever, and what the others do.
    fn story(&self, loop_start: Option<usize>, told: Option<(&Run, &SyncObjects)>) -> Story {
        let count = self.steps.len();
        let Some(start) = loop_start else {
            let sentence = match count {
                0 => "The initial state violates the claim, whatever follows.".into(),
                _ => format!("After step {count} the claim is violated, whatever follows."),
            };
            return Story {
                sentence,
                ..Story::default()
            };
        };
        if start == count && self.has_ended(count) {
            let sentence = format!("With step {count} the process ends, and no state follows.");
            return Story {
                sentence,
                ..Story::default()
            };
        }
        if start == count {
            let sentence = match count {
                0 => "No thread can ever move, and the state stays as it is for ever.".into(),
                _ => format!(
                    "After step {count} no thread can move, and the state stays as it is for ever."
                ),
            };
            return Story {
                sentence,
                ..Story::default()
            };
        }
        let in_loop = &self.steps[start..];
        let moved: BTreeSet<usize> = (in_loop.iter())
            .flat_map(|told| threads_of(told.step))
            .collect();
        let names: Vec<String> = (moved.iter())
            .map(|&thread| thread_name(self.program, &self.states[start], thread))
            .collect();
        let mut sentence = match &names[..] {
            [only] => format!("From step {} on, only {only} moves, for ever", start + 1),
            _ => format!(
                "From step {} on, {} take turns for ever",
                start + 1,
                list(&names)
            ),
        };
        let reads = told.map(|(run, objects)| story::reads_in_vain(run, objects, start));
        if let Some(reads) = reads.filter(|reads| !reads.is_empty()) {
            let who = if moved.len() == 1 {
                "it finds"
            } else {
                "they find"
            };
            sentence += &format!(", and nothing shared changes: {who} {}", list(&reads));
        }
        for (number, thread) in self.states[start].threads.iter().enumerate() {
            let Some(thread) = thread else { continue };
            let location = (self.program.template(thread.template)).location(thread.location);
            if moved.contains(&number) || location.edges.is_empty() {
                continue;
            }
            let name = thread_name(self.program, &self.states[start], number);
            let mut texts: Vec<String> = Vec::new();
            for edge in &location.edges {
                if !texts.contains(&edge.text) {
                    texts.push(edge.text.clone());
                }
            }
            let can_move = (start..count).any(|at| self.movers(&self.states[at]).contains(&number));
            let is_at_end = texts.iter().any(|text| text == "-end-");
            let what = texts.join(" or ");
            if is_at_end {
                continue;
            }
            let wait = || told.and_then(|(run, objects)| story::wait_at_end(run, objects, number));
            sentence += &if let (false, Some(wait)) = (can_move, wait()) {
                format!("; {name} {wait}")
            } else if can_move {
                format!("; {name} could do {what}, but is never scheduled")
            } else {
                format!("; {name} waits for {what}")
            };
        }
        sentence.push('.');
        let note = match count - start {
            1 => "the loop: this step repeats for ever".into(),
            _ => format!(
                "the loop begins: steps {} to {count} repeat for ever",
                start + 1
            ),
        };
        Story {
            sentence,
            marks: vec![Mark { step: start, note }],
            ..Story::default()
        }
    }
}

fn threads_of(step: Step) -> impl Iterator<Item = usize> {
    [Some(step.by), step.with]
        .into_iter()
        .flatten()
        .map(|taken| taken.thread)
}

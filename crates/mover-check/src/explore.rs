//! A program walked by hand.
//!
//! A *schedule* is the list of steps from the initial state that somebody has chosen. [`Explorer`]
//! runs a schedule on the concrete semantics and tells what the user needs to choose the next step:
//! where the threads stand, what everything is, which steps are possible and how each of them fits
//! into a transaction ([`Situation`]). Expressions are evaluated in every state of the run, and the
//! nearest state in which a condition holds is found by breadth-first search from the present one.
//!
//! Nothing is proved here. What is shown can happen, because only steps of the semantics are taken.

use std::collections::HashSet;

use mover_engine::{Control, ReplayError, Stop, Task, Violation};
use mover_ir::claim::Proposition;
use mover_ir::expr::Expr;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State, Step};
use mover_ltl::{Formula, Formulas, Node};
use mover_reduce::present::run_transactions::place;

pub use mover_reduce::present::run_transactions::Placed;

use crate::forbidden::has_ended;
use crate::formula::{FormulaError, Read};
use crate::races;
use crate::story::{self, Run};
use crate::sync_objects::SyncObjects;
use crate::trace::{
    Standing, Trace, TraceStep, changes, describe_step, list, reworded, standings, thread_name,
};

/// A step that has more choices is tried with the first of them only when a condition is looked for.
const TRIED_CHOICES: u64 = 16;

/// Where a schedule has led.
pub struct Situation {
    /// The steps so far.
    pub steps: Vec<TraceStep>,
    /// For each step its place in a transaction; empty if there is no plan.
    pub placed: Vec<Placed>,
    pub threads: Vec<Standing>,
    /// Name and value.
    pub values: Vec<(String, String)>,
    pub next: Vec<Possible>,
    pub end: Ending,
}

/// A step that is possible.
pub struct Possible {
    pub told: TraceStep,
    /// The largest value of its input, if it has one.
    pub last_choice: Option<u64>,
    pub placed: Option<Placed>,
}

/// What is to be said of the last state of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// There are further steps.
    Open,
    /// Nothing can move, and every thread is at a proper end.
    Proper,
    /// What the program would do is not known.
    Bound(String),
    /// A property is violated; after a data race there may be further steps.
    Violated(Property, String),
}

/// What an expression is in one state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Number(i64),
    Truth(bool),
}

/// The result of looking for a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// The steps that lead there from the present state.
    Steps(Vec<Step>),
    /// No state that can be reached from the present one satisfies the condition.
    Nowhere { states: usize },
    /// Not among the states that were tried.
    NotTried { states: usize, why: &'static str },
}

/// An expression over the states of a program.
pub struct Observed {
    number: Option<Expr>,
    propositions: Vec<Proposition>,
    formulas: Formulas,
    formula: Formula,
}

impl Observed {
    /// Reads `count`, `a + b`, `x == 1 && worker@31`.
    pub fn read(program: &Program, text: &str) -> Result<Observed, FormulaError> {
        let Read {
            propositions,
            formulas,
            formula,
            number,
        } = Read::of(program, text)?;
        if is_temporal(&formulas, formula) {
            return Err(FormulaError::Temporal);
        }
        Ok(Observed {
            number,
            propositions,
            formulas,
            formula,
        })
    }

    pub fn value(&self, machine: &Machine, state: &State) -> Value {
        match &self.number {
            // The numbers of formulas have 64 bits and a sign.
            Some(number) => Value::Number(machine.eval(state, 0, number).cast_signed()),
            None => Value::Truth(self.holds(machine, state)),
        }
    }

    pub fn holds(&self, machine: &Machine, state: &State) -> bool {
        self.is_true(machine, state, self.formula)
    }

    fn is_true(&self, machine: &Machine, state: &State, formula: Formula) -> bool {
        match self.formulas.node(formula) {
            Node::True => true,
            Node::False => false,
            Node::Literal {
                proposition,
                positive,
            } => holds(machine, state, &self.propositions[proposition as usize]) == positive,
            Node::And(a, b) => self.is_true(machine, state, a) && self.is_true(machine, state, b),
            Node::Or(a, b) => self.is_true(machine, state, a) || self.is_true(machine, state, b),
            // Refused when the text was read.
            Node::Next(_) | Node::Until(..) | Node::Release(..) => false,
        }
    }
}

fn is_temporal(formulas: &Formulas, formula: Formula) -> bool {
    match formulas.node(formula) {
        Node::True | Node::False | Node::Literal { .. } => false,
        Node::And(a, b) | Node::Or(a, b) => is_temporal(formulas, a) || is_temporal(formulas, b),
        Node::Next(_) | Node::Until(..) | Node::Release(..) => true,
    }
}

fn holds(machine: &Machine, state: &State, proposition: &Proposition) -> bool {
    match proposition {
        Proposition::Holds(expr) => machine.eval(state, 0, expr) != 0,
        Proposition::SomeThreadAt(places) => (state.threads.iter().flatten())
            .any(|thread| places.contains(&(thread.template, thread.location))),
        Proposition::NoneEnabled => machine.undecided_steps(state).is_empty(),
        Proposition::Enabled(thread) => {
            let thread = machine.eval(state, 0, thread) as usize;
            let steps = machine.undecided_steps(state);
            steps.iter().any(|step| {
                step.by.thread == thread || step.with.is_some_and(|with| with.thread == thread)
            })
        }
    }
}

/// A program and the run that was chosen so far.
pub struct Explorer<'t> {
    task: &'t Task,
    machine: Machine<'t>,
    /// One more than steps.
    states: Vec<State>,
    steps: Vec<TraceStep>,
}

impl<'t> Explorer<'t> {
    pub fn new(task: &'t Task) -> Explorer<'t> {
        let machine = Machine::new(task.program());
        let states = vec![machine.initial()];
        Explorer {
            task,
            machine,
            states,
            steps: Vec::new(),
        }
    }

    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// Makes this the run. What it has in common with the one before is kept; if a step is not
    /// possible, so is what comes before it.
    pub fn follow(&mut self, schedule: &[Step]) -> Result<(), ReplayError> {
        let known = (self.steps.iter().zip(schedule))
            .take_while(|(told, step)| told.step == **step)
            .count();
        self.steps.truncate(known);
        self.states.truncate(known + 1);
        for (number, &step) in schedule.iter().enumerate().skip(known) {
            if !self.machine.can_take(self.state(), step) {
                return Err(ReplayError::Impossible(number + 1));
            }
            let (next, output) = self.machine.apply_with_output(self.state(), step);
            let told = describe_step(self.task.program(), self.state(), &next, step, output);
            self.steps.push(told);
            self.states.push(next);
        }
        Ok(())
    }

    pub fn schedule(&self) -> Vec<Step> {
        self.steps.iter().map(|told| told.step).collect()
    }

    pub fn situation(&self) -> Situation {
        let program = self.task.program();
        let run = Run {
            program,
            machine: &self.machine,
            states: &self.states,
            steps: &self.steps,
        };
        let objects = story::objects(&run);
        let mut values = changes(program, &inverted(self.state()), self.state());
        objects.reword(&mut values);
        let schedule = self.schedule();
        let placed = self.placed(&schedule);
        let undecided = match has_ended(program, self.state()) {
            true => Vec::new(),
            false => self.machine.undecided_steps(self.state()),
        };
        let next = undecided.into_iter().map(|step| {
            let after = self.machine.apply(self.state(), step);
            let mut told = describe_step(program, self.state(), &after, step, String::new());
            objects.reword(&mut told.changes);
            let mut longer = schedule.clone();
            longer.push(step);
            Possible {
                told,
                last_choice: self.machine.choices(self.state(), step),
                placed: self.placed(&longer).pop(),
            }
        });
        Situation {
            next: next.collect(),
            steps: reworded(&run, &objects),
            placed,
            threads: standings(program, &self.machine, self.state()),
            values: (values.into_iter())
                .map(|change| (change.name, change.to))
                .collect(),
            end: self.ending(&objects),
        }
    }

    fn placed(&self, schedule: &[Step]) -> Vec<Placed> {
        match self.task.movers() {
            Ok(movers) => place(self.task.program(), movers, schedule),
            Err(_) => Vec::new(),
        }
    }

    fn ending(&self, objects: &SyncObjects) -> Ending {
        let (program, state) = (self.task.program(), self.state());
        if let Some((_, mark)) = self.machine.error(state) {
            return Ending::Violated(mark.property, mark.message.clone());
        }
        if let Some((_, mark)) = self.machine.bound(state) {
            return Ending::Bound(mark.message.clone());
        }
        if self.task.asks_for_races()
            && let Some(race) = self.machine.race(state)
        {
            let message = races::message(program, &self.machine, state, race, Some(objects));
            return Ending::Violated(Property::NoDataRace, message);
        }
        if self.machine.is_deadlock(state) {
            let stuck = self.machine.stuck_threads(state).into_iter();
            let stuck: Vec<String> = stuck.map(|at| thread_name(program, state, at)).collect();
            let message = format!("deadlock: {} cannot go on", list(&stuck));
            return Ending::Violated(Property::NoDeadlock, message);
        }
        match has_ended(program, state) || self.machine.undecided_steps(state).is_empty() {
            true => Ending::Proper,
            false => Ending::Open,
        }
    }

    /// The run as a counterexample, if it ends in a violation.
    pub fn counterexample(&self) -> Option<Trace> {
        let Ending::Violated(property, _) = self.ending(&SyncObjects::default()) else {
            return None;
        };
        let error = self.machine.error(self.state()).and_then(|(thread, _)| {
            let thread = self.state().threads.get(thread)?.as_ref()?;
            Some((thread.template, thread.location))
        });
        let violation = Violation {
            property,
            error,
            steps: self.schedule(),
        };
        Trace::replay(self.task.program(), &violation).ok()
    }

    /// What an expression is in each state of the run.
    pub fn watch(&self, text: &str) -> Result<Vec<Value>, FormulaError> {
        let observed = Observed::read(self.task.program(), text)?;
        let states = self.states.iter();
        Ok(states
            .map(|state| observed.value(&self.machine, state))
            .collect())
    }

    /// The nearest state after the present one in which a condition holds.
    pub fn find(
        &self,
        text: &str,
        most_states: usize,
        control: &Control,
    ) -> Result<Found, FormulaError> {
        let condition = Observed::read(self.task.program(), text)?;
        let machine = &self.machine;
        // Each state with the step to it and the position of the state before.
        let mut reached: Vec<(State, Option<(Step, usize)>)> = vec![(self.state().clone(), None)];
        let mut known: HashSet<State> = HashSet::from([self.state().clone()]);
        let mut leaves_out = None;
        let mut at = 0;
        while at < reached.len() {
            if control.stop().is_some_and(|stop| stop != Stop::Memory) {
                leaves_out = Some("the time for looking is over");
                break;
            }
            let state = reached[at].0.clone();
            for step in machine.undecided_steps(&state) {
                let last = machine.choices(&state, step).unwrap_or(0);
                if last >= TRIED_CHOICES {
                    leaves_out = Some("an input has more values than are tried");
                }
                for choice in 0..=last.min(TRIED_CHOICES - 1) {
                    let step = Step { choice, ..step };
                    let next = machine.apply(&state, step);
                    if known.contains(&next) {
                        continue;
                    }
                    let is_it = condition.holds(machine, &next);
                    reached.push((next.clone(), Some((step, at))));
                    if is_it {
                        return Ok(Found::Steps(path(&reached)));
                    }
                    known.insert(next);
                }
            }
            if reached.len() > most_states {
                leaves_out = Some("there are more states than are tried");
                break;
            }
            at += 1;
        }
        let states = reached.len();
        Ok(match leaves_out {
            Some(why) => Found::NotTried { states, why },
            None => Found::Nowhere { states },
        })
    }
}

/// The steps from the first state to the last.
fn path(reached: &[(State, Option<(Step, usize)>)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = reached.len() - 1;
    while let Some((step, before)) = reached[at].1 {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}

/// A state that differs from this one in every cell and channel, so that a comparison of the two
/// names everything.
fn inverted(state: &State) -> State {
    let mut other = state.clone();
    let invert = |cells: &mut Vec<u64>| {
        for cell in cells {
            *cell = !*cell;
        }
    };
    let fill = |channels: &mut Vec<Vec<Vec<u64>>>| {
        for channel in channels {
            match channel.is_empty() {
                true => channel.push(Vec::new()),
                false => channel.clear(),
            }
        }
    };
    invert(&mut other.globals);
    fill(&mut other.channels);
    for thread in other.threads.iter_mut().flatten() {
        invert(&mut thread.locals);
        fill(&mut thread.channels);
    }
    for object in other.heap.iter_mut().flatten() {
        invert(&mut object.cells);
    }
    other
}

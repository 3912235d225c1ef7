//! Counterexamples, replayed before they are shown.
//!
//! [`Trace::replay`] runs the steps that an engine claims on the concrete semantics. It fails
//! if a step is not enabled there or if the run does not end in the claimed violation; such a
//! claim is a defect of the engine and is never shown as an answer. During the replay it
//! records for each step its source location and what it changed.

use std::collections::{HashMap, HashSet};

use mover_engine::{ReplayError, Violation};
use mover_ir::print::print_value;
use mover_ir::program::{
    ChannelDecl, LocationId, Program, Property, TemplateId, Variable, VariableId,
};
use mover_ir::semantics::{Machine, Message, State, Step};
use mover_reduce::present::run_transactions::TransactionPart;

use crate::forgotten::is_forgotten;
use crate::memory::{Between, Row, source_name};
use crate::races;
use crate::story::{self, Run, Story, memory_error};
use crate::sync_objects::SyncObjects;

/// One cell, channel or thread that a step changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub name: String,
    pub from: String,
    pub to: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStep {
    pub step: Step,
    /// `P[1]`: the template and the number of the thread.
    pub thread: String,
    /// The receiver of a rendezvous.
    pub partner: Option<String>,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub text: String,
    pub changes: Vec<Change>,
    /// What it reads of what threads share: `counter = 0`.
    pub reads: Vec<String>,
    /// What the step prints.
    pub output: String,
    /// Whether the thread keeps the others from moving after it.
    pub exclusive: bool,
}

/// Where a thread stands when it all ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    pub thread: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// The statements it waits for.
    pub waits_for: Vec<String>,
    pub at_proper_end: bool,
}

/// A run of the program that violates a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    pub property: Property,
    /// The error location it ends in; none for a deadlock and a data race.
    pub error: Option<(TemplateId, LocationId)>,
    /// What went wrong: `assertion violated: x == 1`.
    pub message: String,
    pub steps: Vec<TraceStep>,
    pub standings: Vec<Standing>,
    /// What matters in it.
    pub story: Story,
    /// What is known about its length, if shortening was tried.
    pub length: Option<Length>,
    /// The transactions of the run, in order; empty if they were not computed.
    pub transactions: Vec<Transaction>,
    /// The steps from here on are repeated for ever. If there are none, the run ends, and its last
    /// state counts for ever.
    pub loop_start: Option<usize>,
}

/// Steps of one thread that no other thread's could come between to any effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// The position of its first step.
    pub first: usize,
    /// One for each step.
    pub parts: Vec<TransactionPart>,
}

impl Transaction {
    pub fn steps(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.parts.len()
    }
}

/// How a trace compares with others of the same property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length {
    /// Context switches and steps of the run that the engine found.
    pub found: (usize, usize),
    /// Whether no violation of the property has fewer context switches, or as few and fewer steps.
    pub is_shortest: bool,
}

/// What went wrong in the last state of a run that ends as claimed.
fn message(
    program: &Program,
    machine: &Machine,
    state: &State,
    before: Option<(&[State], Step)>,
    objects: Option<&SyncObjects>,
    property: Property,
) -> String {
    if let (Property::MemorySafety, Some((states, step))) = (property, before)
        && let Some(error) = memory_error::find(program, machine, states, step)
    {
        return error.message;
    }
    if let (Property::MemoryCleanup, Some((_, mark))) = (property, machine.error(state))
        && let Some(objects) = memory_error::leaked(program, state)
    {
        return format!("{}: {objects}", mark.message);
    }
    if property == Property::NoDataRace
        && let Some(race) = machine.race(state)
    {
        return races::message(program, machine, state, race, objects);
    }
    match machine.error(state) {
        Some((_, mark)) => mark.message.clone(),
        None => {
            let stuck: Vec<String> = machine
                .stuck_threads(state)
                .into_iter()
                .map(|thread| thread_name(program, state, thread))
                .collect();
            format!(
                "deadlock: no thread can move, and {} cannot end here",
                list(&stuck)
            )
        }
    }
}

impl Trace {
    /// Runs the steps of a violation.
    pub fn replay(program: &Program, violation: &Violation) -> Result<Trace, ReplayError> {
        let &Violation {
            property,
            error,
            ref steps,
        } = violation;
        let machine = Machine::new(program);
        let mut state = machine.initial();
        let mut told = Vec::new();
        let keeps_states = steps.len() <= story::LONGEST;
        let mut states: Vec<State> = Vec::new();
        for (number, &step) in steps.iter().enumerate() {
            if !machine.can_take(&state, step) {
                return Err(ReplayError::Impossible(number + 1));
            }
            let (next, output) = machine.apply_with_output(&state, step);
            told.push(describe_step(program, &state, &next, step, output));
            let before = std::mem::replace(&mut state, next);
            if !keeps_states {
                states.clear();
            }
            states.push(before);
        }
        violation.ends_in(&machine, &state)?;
        let standings = standings(program, &machine, &state);
        states.push(state);
        let run = Run {
            program,
            machine: &machine,
            states: &states,
            steps: &told,
        };
        let objects = keeps_states.then(|| story::objects(&run));
        let (message, story) = {
            let (last, earlier) = states.split_last().ok_or(ReplayError::Impossible(0))?;
            let before = steps.last().map(|&step| (earlier, step));
            let message = message(program, &machine, last, before, objects.as_ref(), property);
            let tell = |objects| story::tell(&run, objects, property, &message);
            let story = objects.as_ref().map(tell).unwrap_or_default();
            (message, story)
        };
        if let Some(objects) = &objects {
            told = reworded(&run, objects);
        }
        Ok(Trace {
            property,
            error,
            message,
            steps: told,
            standings,
            story,
            length: None,
            transactions: Vec::new(),
            loop_start: None,
        })
    }

    /// Where the last step is in the source, if that is where it went wrong.
    pub fn place(&self) -> Option<String> {
        let is_elsewhere = matches!(self.property, Property::NoDeadlock | Property::NoDataRace);
        if is_elsewhere || self.property.is_temporal() {
            return None;
        }
        let last = self.steps.last()?;
        Some(format!("{}:{}", last.file.as_ref()?, last.line?))
    }

    /// The number of context switches.
    pub fn context_switches(&self) -> usize {
        self.steps
            .windows(2)
            .filter(|pair| pair[0].step.by.thread != pair[1].step.by.thread)
            .count()
    }
}

/// The steps of a run with the names that people have for what changes.
pub(crate) fn reworded(run: &Run, objects: &SyncObjects) -> Vec<TraceStep> {
    let mut steps = run.steps.to_vec();
    for (number, step) in steps.iter_mut().enumerate() {
        step.reads = story::reads(run, objects, number);
        objects.reword(&mut step.changes);
        for change in &mut step.changes {
            change.from = story::gone_named(run, number, &change.from);
            change.to = story::gone_named(run, number, &change.to);
        }
    }
    hide_unnamed(run.program, &mut steps);
    move_to_own_lines(&mut steps);
    move_early_handles(&mut steps);
    name_handles(&mut steps);
    for step in &mut steps {
        drop_repeated(&mut step.changes);
    }
    steps
}

/// A front end may keep a variable of the source in several places, under the same name. What changes in
/// all of them to the same value is told once.
fn drop_repeated(changes: &mut Vec<Change>) {
    let mut seen: HashSet<(String, String)> = HashSet::new();
    changes.retain(|change| seen.insert((change.name.clone(), change.to.clone())));
}

/// Shows thread handles by the threads that they stand for.
///
/// A handle is a number that the source never sees as such. The step that starts a thread names the
/// variable of its handle in its first argument; from then on, that variable with that value is
/// shown as the thread. A front end may store the handle in a step of its own, before or after the
/// thread is started.
fn name_handles(steps: &mut [TraceStep]) {
    let mut handles: HashMap<String, (String, String)> = HashMap::new();
    let mut calls: HashMap<usize, Creation> = HashMap::new();
    for number in 0..steps.len() {
        let step = &steps[number];
        let by = step.step.by.thread;
        match handle_argument(&step.text) {
            None => {
                calls.remove(&by);
            }
            Some(variable) => {
                let call = calls.entry(by).or_default();
                call.note(number, step, variable);
                if let Some((at, name, value, thread)) = call.finished() {
                    for change in &mut steps[at].changes {
                        if change.name == name && change.to == value {
                            thread.clone_into(&mut change.to);
                        }
                    }
                    handles.insert(name, (value, thread));
                }
            }
        }
        let step = &mut steps[number];
        for change in &mut step.changes {
            let Some((value, thread)) = handles.get(&change.name) else {
                continue;
            };
            for text in [&mut change.from, &mut change.to] {
                if text == value {
                    thread.clone_into(text);
                }
            }
        }
        for read in &mut step.reads {
            let Some((name, value)) = read.split_once(" = ") else {
                continue;
            };
            if let Some((known, thread)) = handles.get(name)
                && known == value
            {
                *read = format!("{name} = {thread}");
            }
        }
    }
}

/// Shows a handle with the call that starts its thread. Where several threads are started in a row, a front
/// end may join the store of the next handle to the step before.
fn move_early_handles(steps: &mut [TraceStep]) {
    let starts = |step: &TraceStep| {
        let is_start = |change: &&Change| change.from.is_empty() && change.to == "started";
        let started = step.changes.iter().find(is_start)?;
        let number = started.name.rsplit_once('[')?.1.strip_suffix(']')?;
        Some((started.name.clone(), number.parse::<u64>().ok()?))
    };
    for number in 0..steps.len() {
        let by = steps[number].step.by.thread;
        let Some((_, own)) = starts(&steps[number]) else {
            continue;
        };
        let next = (number + 1..steps.len()).find(|&at| steps[at].step.by.thread == by);
        let Some((next, (thread, later))) =
            next.and_then(|next| Some((next, starts(&steps[next])?)))
        else {
            continue;
        };
        // The handle of a thread is one more than its number.
        let handle = (later + 1).to_string();
        let is_early = |change: &Change| {
            let variable = variable_of(&change.name);
            let is_named = identifiers(&steps[next].text).any(|word| word == variable);
            later != own && change.to == handle && is_named
        };
        let changes = steps[number].changes.iter().cloned();
        let (early, kept): (Vec<Change>, Vec<Change>) = changes.partition(is_early);
        let has_own = (steps[next].changes.iter())
            .any(|change| early.iter().any(|early| early.name == change.name));
        if early.len() == 1 && !has_own {
            steps[number].changes = kept;
            let moved = early.into_iter().map(|change| Change {
                to: thread.clone(),
                ..change
            });
            steps[next].changes.splice(0..0, moved);
        }
    }
}

/// What is known of a call that starts a thread.
#[derive(Default)]
struct Creation {
    thread: Option<String>,
    /// The step that stores the handle, the variable and the value.
    handle: Option<(usize, String, String)>,
}

impl Creation {
    fn note(&mut self, number: usize, step: &TraceStep, variable: &str) {
        for change in &step.changes {
            if change.from.is_empty() && change.to == "started" {
                self.thread = Some(change.name.clone());
            }
        }
        let is_handle = |change: &&Change| {
            let is_number = change.to.parse::<u64>().is_ok_and(|number| number > 0);
            let name = &change.name;
            is_number && (variable_of(name) == variable || field_of(name) == variable)
        };
        if let Some(change) = step.changes.iter().find(is_handle) {
            self.handle = Some((number, change.name.clone(), change.to.clone()));
        }
    }

    /// The step, variable and value of the handle, and its thread, if both are known now.
    fn finished(&mut self) -> Option<(usize, String, String, String)> {
        if self.thread.is_none() || self.handle.is_none() {
            return None;
        }
        let Creation { thread, handle } = std::mem::take(self);
        let (at, name, value) = handle?;
        Some((at, name, value, thread?))
    }
}

/// The variable or field that a call which starts a thread keeps the handle in: `t` of
/// `pthread_create(&t[i], …`, `thread` of `pthread_create(&pool->thread, …`.
fn handle_argument(text: &str) -> Option<&str> {
    let (_, arguments) = text.split_once("_create(")?;
    let argument = arguments.split(',').next()?;
    let argument = argument.split(['[', '+']).next()?;
    identifiers(argument).filter(|word| !word.is_empty()).last()
}

/// The last field of what a change is of: `thread` of `pool#1.thread[2]`.
fn field_of(name: &str) -> &str {
    let name = name.rsplit_once('.').map_or("", |(_, field)| field);
    name.split('[').next().unwrap_or(name)
}

/// The words of a statement.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The variable that a change is of: `b` of `main[0]:b[1].next`.
fn variable_of(name: &str) -> &str {
    let name = name.rsplit_once("]:").map_or(name, |(_, name)| name);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    &name[..end.unwrap_or(name.len())]
}

/// Shows assignments on the step whose line makes them.
///
/// A front end joins an assignment that only its thread can observe to the step before it. Such a
/// change is shown with the thread's next step, if that step's line speaks of the variable and the
/// line of its own step does not. If the thread has no further step, the run ends before the line,
/// and the change is not shown.
fn move_to_own_lines(steps: &mut [TraceStep]) {
    for number in 0..steps.len() {
        let thread = steps[number].step.by.thread;
        let own = format!("{}:", steps[number].thread);
        let next = (number + 1..steps.len()).find(|&at| steps[at].step.by.thread == thread);
        let between = number + 1..next.unwrap_or(steps.len());
        let is_elsewhere = |change: &Change| {
            let variable = variable_of(&change.name);
            let is_number = change.to.parse::<i64>().is_ok();
            let speaks = |at: usize| identifiers(&steps[at].text).any(|word| word == variable);
            // Of something shared, nobody may see it earlier.
            let sees = |at: usize| {
                let step = &steps[at];
                step.reads.iter().any(|read| read.starts_with(&change.name))
                    || step.changes.iter().any(|other| other.name == change.name)
            };
            let is_own = change.name.starts_with(&own);
            (is_own || is_number && !change.name.contains(']'))
                && !speaks(number)
                && next.is_none_or(speaks)
                && (is_own || !between.clone().any(sees))
        };
        let has_text = !steps[number].text.is_empty();
        if !has_text {
            continue;
        }
        let (moved, kept) = (steps[number].changes.iter().cloned()).partition(is_elsewhere);
        steps[number].changes = kept;
        let moved: Vec<Change> = moved;
        if let Some(next) = next {
            steps[next].changes.splice(0..0, moved);
        }
    }
}

/// Leaves out variables of functions that the front end adds to a C program.
fn hide_unnamed(program: &Program, steps: &mut [TraceStep]) {
    let is_c = |step: &TraceStep| {
        let file = step.file.as_deref().unwrap_or_default();
        file.ends_with(".c") || file.ends_with(".h")
    };
    let words: HashSet<&str> = program
        .info
        .sources
        .files()
        .flat_map(|(_, file)| identifiers(&file.text))
        .collect();
    for step in steps.iter_mut().filter(|step| is_c(step)) {
        step.changes.retain(|change| {
            !change.name.contains("]:") || words.contains(variable_of(&change.name))
        });
    }
}

/// `a`, `a and b`, `a, b and c`; long lists are cut.
pub(crate) fn list(items: &[String]) -> String {
    const SHOWN: usize = 5;
    match items {
        [] => String::new(),
        [only] => only.clone(),
        _ if items.len() > SHOWN => {
            let shown = items[..SHOWN].join(", ");
            format!("{shown} and {} others", items.len() - SHOWN)
        }
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

pub fn thread_name(program: &Program, state: &State, thread: usize) -> String {
    match state.threads.get(thread) {
        Some(Some(alive)) => format!("{}[{thread}]", program.template(alive.template).name),
        _ => format!("[{thread}]"),
    }
}

pub(crate) fn standings(program: &Program, machine: &Machine, state: &State) -> Vec<Standing> {
    let stuck = machine.stuck_threads(state);
    let mut standings = Vec::new();
    for (number, thread) in state.threads.iter().enumerate() {
        let Some(thread) = thread else { continue };
        let location = program.template(thread.template).location(thread.location);
        if location.error.is_some() {
            continue;
        }
        let span = location
            .edges
            .iter()
            .find_map(|edge| edge.span)
            .or(location.span);
        let place = span.map(|span| program.info.sources.locate(span));
        let mut waits_for: Vec<String> = Vec::new();
        for edge in &location.edges {
            if !waits_for.contains(&edge.text) {
                waits_for.push(edge.text.clone());
            }
        }
        standings.push(Standing {
            thread: thread_name(program, state, number),
            file: place.map(|place| place.file.to_string()),
            line: place.map(|place| place.line),
            waits_for,
            at_proper_end: !stuck.contains(&number),
        });
    }
    standings
}

/// A step as it is shown: who, where, what changed, what was printed.
pub fn describe_step(
    program: &Program,
    before: &State,
    after: &State,
    step: Step,
    output: String,
) -> TraceStep {
    let edge = before.threads[step.by.thread].as_ref().map(|thread| {
        &program
            .template(thread.template)
            .location(thread.location)
            .edges[step.by.edge]
    });
    let place = edge
        .and_then(|edge| edge.span)
        .map(|span| program.info.sources.locate(span));
    TraceStep {
        step,
        thread: thread_name(program, before, step.by.thread),
        partner: step
            .with
            .map(|partner| thread_name(program, before, partner.thread)),
        file: place.map(|place| place.file.to_string()),
        line: place.map(|place| place.line),
        text: edge.map_or(String::new(), |edge| edge.text.clone()),
        changes: changes(program, before, after),
        reads: Vec::new(),
        output,
        exclusive: after.exclusive.is_some(),
    }
}

/// Everything that differs between two states and has a name.
pub fn changes(program: &Program, before: &State, after: &State) -> Vec<Change> {
    let mut changes = Vec::new();
    let between = Between {
        program,
        before,
        after,
    };
    let (old, new) = (&before.globals, &after.globals);
    compare_cells(
        &between,
        "",
        &program.globals,
        old,
        new,
        &mut changes,
        |_| false,
    );
    compare_channels(
        program,
        "",
        &program.channels,
        &before.channels,
        &after.channels,
        &mut changes,
    );
    between.compare_heap(&mut changes);
    for number in 0..before.threads.len().max(after.threads.len()) {
        let old = before.threads.get(number).and_then(Option::as_ref);
        let new = after.threads.get(number).and_then(Option::as_ref);
        match (old, new) {
            (Some(old), Some(new)) if old.template == new.template => {
                let template = program.template(new.template);
                let prefix = format!("{}[{number}]:", template.name);
                compare_cells(
                    &between,
                    &prefix,
                    &template.locals,
                    &old.locals,
                    &new.locals,
                    &mut changes,
                    |local| is_forgotten(template, new.location, local),
                );
                compare_channels(
                    program,
                    &prefix,
                    &template.channels,
                    &old.channels,
                    &new.channels,
                    &mut changes,
                );
            }
            _ => {
                for (state, thread, to) in [(before, old, "ended"), (after, new, "started")] {
                    if thread.is_some() {
                        changes.push(Change {
                            name: thread_name(program, state, number),
                            from: String::new(),
                            to: to.to_string(),
                        });
                    }
                }
            }
        }
    }
    changes
}

fn compare_cells(
    between: &Between,
    prefix: &str,
    variables: &[Variable],
    old: &[u64],
    new: &[u64],
    changes: &mut Vec<Change>,
    is_forgotten: impl Fn(VariableId) -> bool,
) {
    let mut first = 0;
    for (number, variable) in variables.iter().enumerate() {
        let cells = first..first + variable.len as usize;
        let row = Row {
            name: format!("{prefix}{}", source_name(&variable.name)),
            ty: variable.ty,
            is_array: variable.is_array,
            is_object: false,
            symbols: variable.symbols,
            names: &variable.names,
            old: &old[cells.clone()],
            new: &new[cells.clone()],
        };
        // A name that no source can have is a front end's own.
        let is_cleared = || row.new.iter().all(|&cell| cell == 0) && row.old != row.new;
        let is_hidden = variable.name.starts_with('%')
            || is_cleared() && is_forgotten(VariableId(number as u32));
        if !is_hidden {
            between.compare_row(&row, changes);
        }
        first = cells.end;
    }
}

fn compare_channels(
    program: &Program,
    prefix: &str,
    declarations: &[ChannelDecl],
    old: &[Vec<Message>],
    new: &[Vec<Message>],
    changes: &mut Vec<Change>,
) {
    for (declaration, (old, new)) in declarations.iter().zip(old.iter().zip(new)) {
        if old != new {
            changes.push(Change {
                name: format!("{prefix}{}", declaration.name),
                from: buffer_text(program, declaration, old),
                to: buffer_text(program, declaration, new),
            });
        }
    }
}

fn buffer_text(program: &Program, declaration: &ChannelDecl, messages: &[Message]) -> String {
    let message = |message: &Message| {
        let fields: Vec<String> = declaration
            .fields
            .iter()
            .zip(message)
            .map(|(field, &value)| print_value(program, field.ty, field.symbols, value))
            .collect();
        fields.join(",")
    };
    let messages: Vec<String> = messages.iter().map(message).collect();
    format!("[{}]", messages.join(" | "))
}

//! The transition relation of a TM algorithm (Section 3).
//!
//! An [`Algorithm`] is a program for a number of threads and variables, with
//! or without a contention manager. A state holds the fields of the program
//! and, for each thread, its pending command: the pending function is no
//! function of the fields (for 2PL and DSTM, two different commands can be
//! pending with the same locks held), so it has to be kept.
//!
//! Most rules of Section 3 hold by construction. Two are checked as states are
//! met: that a command, extended command and thread determine the transition
//! (rule 7, an error), and that without a conflict there is one way to continue
//! (rule 8, a remark: the print's own 2PL and TL2 break it, and all ways are
//! explored).
//!
//! A statement may take effect before the command is answered (Section 3.2:
//! successful although the response is ⊥, if the answer follows): `do commit
//! pending`. Then the word has the statement at that step, the command must not
//! abort any more, and some later step answers `done`.
//!
//! Contention managers as in Section 3.1, except that a command with no
//! enabled step may always abort: taken literally, the aggressive manager
//! would keep a transaction that was already aborted from aborting.

use std::fmt;

use mover_source::diagnostic::Diagnostic;

use crate::evaluate::{Environment, Evaluator};
use crate::language::program::*;
use crate::language::syntax::Place;
use crate::layout::{Cell, Layout, command_code, command_of_code};
use crate::times;
use crate::word::{Action, Extra, MAX_INDEX, Statement};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Manager {
    /// No manager: every choice is explored, so the answer is for all managers.
    #[default]
    Any,
    Aggressive,
    Polite,
    /// Index into [`Program::managers`].
    Own(usize),
}

impl Manager {
    pub fn find(program: &Program, name: &str) -> Option<Manager> {
        match name {
            "aggressive" => Some(Manager::Aggressive),
            "polite" => Some(Manager::Polite),
            _ => program
                .managers
                .iter()
                .position(|manager| manager.name == name)
                .map(Manager::Own),
        }
    }
}

/// The answer to a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    Pending,
    Aborted,
    Done,
}

/// One transition, without its target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transition {
    pub thread: u8,
    /// The command it is a step of.
    pub command: Action,
    /// Index into [`Program::step_names`]; none for abort.
    pub step: Option<u16>,
    pub variable: Option<u8>,
    pub answer: Answer,
    /// What it adds to the word.
    pub statement: Option<Statement>,
}

/// Transitions out of a state, with their targets side by side.
#[derive(Default)]
pub struct Successors {
    pub transitions: Vec<Transition>,
    pub states: Vec<u8>,
    /// A thread with a command that the contention manager leaves no step for.
    pub blocked: Option<u8>,
    /// The first choice met that no conflict justifies (rule 8).
    pub unjustified_choice: Option<Diagnostic>,
}

impl Successors {
    pub fn clear(&mut self) {
        self.transitions.clear();
        self.states.clear();
        self.blocked = None;
    }

    pub fn iter(&self, size: usize) -> impl Iterator<Item = (&Transition, &[u8])> {
        self.transitions.iter().zip(self.states.chunks_exact(size))
    }
}

/// Which extra statements are part of the words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// Begins: without, a transaction begins with its first access. That makes
    /// more pairs of transactions follow one another in time, so a property
    /// that holds without them holds with them.
    pub begins: bool,
    /// Accesses outside of transactions: without, only transactions are judged
    /// (weak isolation).
    pub plain: bool,
}

impl View {
    pub const FULL: View = View {
        begins: true,
        plain: true,
    };

    fn shows(self, statement: Statement) -> bool {
        match statement.action {
            Action::Extra(Extra::Begin | Extra::BeginReadOnly) => self.begins,
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_)) => self.plain,
            _ => true,
        }
    }
}

/// What a thread is doing, for programs with extra commands.
const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const READING_ONLY: u8 = 2;
/// Added while a nested transaction is open.
const NESTED: u8 = 4;

pub struct Algorithm<'p> {
    pub program: &'p Program,
    pub manager: Manager,
    pub layout: Layout,
    evaluator: Evaluator<'p>,
    pending: usize,
    /// Whether the pending command's statement has taken effect.
    took_effect: usize,
    /// Where it is kept what a thread is doing, if that matters.
    mode: Option<usize>,
    view: View,
    /// Whether times are put down as they are, see [`times`].
    concrete_times: bool,
}

impl<'p> Algorithm<'p> {
    /// Threads and variables must be between 1 and [`MAX_INDEX`].
    pub fn new(program: &'p Program, threads: usize, variables: usize, manager: Manager) -> Self {
        debug_assert!((1..=MAX_INDEX).contains(&threads));
        debug_assert!((1..=MAX_INDEX).contains(&variables));
        let used = |field: &Field| match (field.manager, manager) {
            (None, _) => true,
            (Some(owner), Manager::Own(chosen)) => owner == chosen,
            (Some(_), _) => false,
        };
        let cells = |place: Place| -> Vec<Cell> {
            let fields = program
                .fields
                .iter()
                .filter(|f| used(f) && f.place == place);
            fields.map(|f| f.ty.cell()).collect()
        };
        let mut per_thread = cells(Place::Thread);
        let pending = per_thread.len();
        per_thread.extend([Cell::Command, Cell::Plain]);
        let mode = program.is_extended().then_some(per_thread.len());
        if mode.is_some() {
            per_thread.push(Cell::Plain);
        }
        let layout = Layout {
            threads,
            variables,
            global: cells(Place::Global),
            per_variable: cells(Place::Variable),
            per_thread,
        };
        let mut next = [0, layout.variable_block(0), layout.thread_block(0)];
        let mut base = Vec::new();
        let mut stride = Vec::new();
        for field in &program.fields {
            let place = match field.place {
                Place::Global => 0,
                Place::Variable => 1,
                Place::Thread => 2,
            };
            base.push(next[place]);
            stride.push([0, layout.per_variable.len(), layout.per_thread.len()][place]);
            next[place] += usize::from(used(field));
        }
        let mut time_bytes = Vec::new();
        for (index, field) in program.fields.iter().enumerate() {
            if field.ty == Type::Time && used(field) {
                let copies = match field.place {
                    Place::Global => 1,
                    Place::Variable => variables,
                    Place::Thread => threads,
                };
                time_bytes.extend((0..copies).map(|copy| base[index] + copy * stride[index]));
            }
        }
        Algorithm {
            program,
            manager,
            layout,
            evaluator: Evaluator {
                program,
                threads,
                variables,
                base,
                stride,
                times: time_bytes,
            },
            pending,
            took_effect: pending + 1,
            mode,
            view: View::FULL,
            concrete_times: false,
        }
    }

    /// Leaves statements out of the words.
    pub fn with_view(mut self, view: View) -> Self {
        self.view = view;
        self
    }

    /// Without the abstraction of clocks, for comparison: clocks grow until
    /// they leave a byte, which is an error.
    pub fn with_concrete_times(mut self) -> Self {
        self.concrete_times = true;
        self
    }

    pub fn threads(&self) -> usize {
        self.layout.threads
    }

    pub fn variables(&self) -> usize {
        self.layout.variables
    }

    fn is_used(&self, field: &Field) -> bool {
        match (field.manager, self.manager) {
            (None, _) => true,
            (Some(owner), Manager::Own(chosen)) => owner == chosen,
            (Some(_), _) => false,
        }
    }

    pub fn initial(&self) -> Vec<u8> {
        let mut state = vec![0; self.layout.size()];
        for (index, field) in self.program.fields.iter().enumerate() {
            if !self.is_used(field) {
                continue;
            }
            let value = match field.initial {
                Initial::Constant(value) => value,
                Initial::Everything => match field.ty {
                    Type::ThreadSet => ((1u32 << self.threads()) - 1) as u8,
                    _ => ((1u32 << self.variables()) - 1) as u8,
                },
            };
            let copies = match field.place {
                Place::Global => 1,
                Place::Variable => self.variables(),
                Place::Thread => self.threads(),
            };
            for copy in 0..copies {
                state[self.evaluator.base[index] + copy * self.evaluator.stride[index]] = value;
            }
        }
        state
    }

    pub fn pending_command(&self, state: &[u8], thread: usize) -> Option<Action> {
        command_of_code(state[self.layout.thread_block(thread) + self.pending])
    }

    fn commands(&self, state: &[u8], thread: usize) -> Vec<Action> {
        if let Some(pending) = self.pending_command(state, thread) {
            return vec![pending];
        }
        let variables = || 0..self.variables() as u8;
        let block = self.layout.thread_block(thread);
        let mode = self.mode.map_or(OUTSIDE, |at| state[block + at]);
        let declared = |command: ExtraCommand| self.program.extra(command).is_some();
        let mut commands = Vec::new();
        if mode == OUTSIDE && declared(ExtraCommand::Begin) {
            commands.push(Action::Extra(Extra::Begin));
            if declared(ExtraCommand::BeginReadOnly) {
                commands.push(Action::Extra(Extra::BeginReadOnly));
            }
        } else {
            commands.extend(variables().map(Action::Read));
            if mode & READING_ONLY == 0 {
                commands.extend(variables().map(Action::Write));
            }
            if mode & NESTED == 0 {
                commands.push(Action::Commit);
            }
        }
        if mode == OUTSIDE {
            if declared(ExtraCommand::PlainRead) {
                commands.extend(variables().map(|v| Action::Extra(Extra::PlainRead(v))));
            }
            if declared(ExtraCommand::PlainWrite) {
                commands.extend(variables().map(|v| Action::Extra(Extra::PlainWrite(v))));
            }
        } else if mode & NESTED != 0 {
            commands.extend([Action::Extra(Extra::Merge), Action::Extra(Extra::Undo)]);
        } else {
            if declared(ExtraCommand::Nest) {
                commands.push(Action::Extra(Extra::Nest));
            }
            if declared(ExtraCommand::Retry) {
                commands.push(Action::Extra(Extra::Retry));
            }
        }
        commands
    }

    fn code_of(&self, command: Action) -> &'p CommandCode {
        match command {
            Action::Read(_) => &self.program.read,
            Action::Write(_) => &self.program.write,
            Action::Commit | Action::Abort => &self.program.commit,
            Action::Extra(extra) => {
                let command = match extra {
                    Extra::BeginReadOnly => ExtraCommand::BeginReadOnly,
                    Extra::PlainRead(_) => ExtraCommand::PlainRead,
                    Extra::PlainWrite(_) => ExtraCommand::PlainWrite,
                    Extra::Nest => ExtraCommand::Nest,
                    Extra::Merge => ExtraCommand::Merge,
                    Extra::Undo => ExtraCommand::Undo,
                    Extra::Retry => ExtraCommand::Retry,
                    Extra::Begin | Extra::Snapshot | Extra::OldRead(_) => ExtraCommand::Begin,
                };
                // Only declared commands are ever asked for.
                self.program.extra(command).unwrap_or(&self.program.commit)
            }
        }
    }

    /// All transitions out of a state.
    pub fn successors(&self, state: &[u8], out: &mut Successors) -> Result<(), Diagnostic> {
        out.clear();
        for thread in 0..self.threads() {
            for command in self.commands(state, thread) {
                self.command_successors(state, thread as u8, command, out)?;
            }
        }
        Ok(())
    }

    fn command_successors(
        &self,
        state: &[u8],
        thread: u8,
        command: Action,
        out: &mut Successors,
    ) -> Result<(), Diagnostic> {
        let code = self.code_of(command);
        let mut environment: Environment = [0; MAX_SLOTS];
        environment[ACTING_THREAD] = thread;
        if let Some(v) = command.variable() {
            environment[COMMAND_VARIABLE] = v;
        }
        let first = out.transitions.len();
        let mut spans = Vec::new();
        for step in &code.steps {
            let choices = if step.chooses_variable {
                self.variables()
            } else {
                1
            };
            for choice in 0..choices {
                let variable = step.param.map(|slot| {
                    if step.chooses_variable {
                        environment[slot] = choice as u8;
                    }
                    environment[slot]
                });
                if !self.evaluator.holds(&step.guard, state, &mut environment) {
                    continue;
                }
                let start = out.states.len();
                out.states.extend_from_slice(state);
                let transition = self.take_step(
                    step,
                    (thread, command, variable),
                    &mut out.states[start..],
                    &mut environment,
                )?;
                if self.is_repeated(out, first, start, &transition, step, &spans)? {
                    out.states.truncate(start);
                } else {
                    out.transitions.push(transition);
                    spans.push(step.span);
                }
            }
        }
        let abort_enabled = out.transitions.len() == first;
        let conflict = self
            .evaluator
            .holds(&code.conflict, state, &mut environment);
        if spans.len() > 1 && !conflict && out.unjustified_choice.is_none() {
            out.unjustified_choice = Some(
                Diagnostic::note(
                    "two steps are enabled although there is no conflict (rule 8 of Section 3); all ways are explored",
                )
                .at(spans[0], "enabled")
                .related(spans[1], "enabled as well"),
            );
        }
        if abort_enabled || conflict {
            self.refuse_impossible_abort(command, code)?;
            let start = out.states.len();
            out.states.extend_from_slice(state);
            let target = &mut out.states[start..];
            self.evaluator
                .execute(&self.program.abort, target, &mut environment)?;
            self.refuse_late_abort(state, thread, code)?;
            self.set_pending(target, thread, None, false);
            self.set_mode(target, thread, |_| OUTSIDE);
            self.settle_times(target);
            out.transitions.push(Transition {
                thread,
                command,
                step: None,
                variable: None,
                answer: Answer::Aborted,
                statement: Some(Statement::new(Action::Abort, thread)),
            });
        }
        self.consult_manager(state, first, abort_enabled, conflict, out, &mut environment)?;
        if out.transitions.len() == first {
            out.blocked = Some(thread);
        }
        Ok(())
    }

    fn refuse_late_abort(
        &self,
        state: &[u8],
        thread: u8,
        code: &CommandCode,
    ) -> Result<(), Diagnostic> {
        let block = self.layout.thread_block(thread as usize);
        if state[block + self.took_effect] != 0 {
            return Err(Diagnostic::coded(
                "T020",
                "a command can abort here after its statement has taken effect",
            )
            .at(
                code.span,
                "after `pending` on the command itself, some step must be enabled",
            )
            .help("let a step be enabled until one answers `done`"));
        }
        Ok(())
    }

    fn refuse_impossible_abort(
        &self,
        command: Action,
        code: &CommandCode,
    ) -> Result<(), Diagnostic> {
        let what = match command {
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_)) => {
                "an access outside of transactions cannot abort, but no step of it is enabled here"
            }
            Action::Extra(Extra::Undo) => {
                "a nested transaction can always be undone, but no step of `undo` is enabled here"
            }
            _ => return Ok(()),
        };
        Err(Diagnostic::coded("T020", what)
            .at(code.span, "")
            .help("let a step with answer `pending` wait until it can go on"))
    }

    fn set_mode(&self, state: &mut [u8], thread: u8, change: impl Fn(u8) -> u8) {
        if let Some(at) = self.mode {
            let at = self.layout.thread_block(thread as usize) + at;
            state[at] = change(state[at]);
        }
    }

    fn settle_times(&self, state: &mut [u8]) {
        if !self.concrete_times {
            let far = if self.program.asks_distance { 2 } else { 1 };
            times::settle(&self.evaluator.times, state, far);
        }
    }

    /// What a thread is doing after a step of a command.
    fn follow_mode(&self, state: &mut [u8], thread: u8, command: Action, answer: Answer) {
        let done = answer == Answer::Done;
        self.set_mode(state, thread, |mode| match command {
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_)) => mode,
            Action::Extra(Extra::Begin) if done => INSIDE,
            Action::Extra(Extra::BeginReadOnly) if done => READING_ONLY,
            Action::Extra(Extra::Begin | Extra::BeginReadOnly) => mode,
            Action::Commit | Action::Extra(Extra::Retry) if done => OUTSIDE,
            Action::Extra(Extra::Nest) if done => mode | NESTED,
            Action::Extra(Extra::Merge | Extra::Undo) if done => mode & !NESTED,
            _ if mode == OUTSIDE => INSIDE,
            _ => mode,
        });
    }

    fn set_pending(&self, state: &mut [u8], thread: u8, command: Option<Action>, effect: bool) {
        let block = self.layout.thread_block(thread as usize);
        state[block + self.pending] = command.map_or(0, command_code);
        state[block + self.took_effect] = u8::from(effect);
    }

    fn take_step(
        &self,
        step: &Step,
        (thread, command, variable): (u8, Action, Option<u8>),
        target: &mut [u8],
        environment: &mut Environment,
    ) -> Result<Transition, Diagnostic> {
        if command == Action::Extra(Extra::Retry) && step.is_command() {
            self.evaluator
                .execute(&self.program.abort, target, environment)?;
        }
        self.evaluator.execute(&step.effects, target, environment)?;
        self.settle_times(target);
        let block = self.layout.thread_block(thread as usize);
        let took_effect = target[block + self.took_effect] != 0;
        if step.is_command() && took_effect {
            return Err(Diagnostic::coded(
                "T020",
                "the command is executed twice before its answer",
            )
            .at(step.span, ""));
        }
        let effective = took_effect || step.is_command();
        let answer = match step.response {
            Response::Pending => {
                self.set_pending(target, thread, Some(command), effective);
                Answer::Pending
            }
            Response::Done if effective => {
                self.set_pending(target, thread, None, false);
                Answer::Done
            }
            Response::Done => {
                return Err(Diagnostic::coded(
                    "T020",
                    "this answers `done` although the command itself was not executed",
                )
                .at(step.span, "")
                .help("execute the command first: `do commit pending`, then this step"));
            }
        };
        self.follow_mode(target, thread, command, answer);
        let action = match (step.emits, command) {
            (Emits::Nothing, _) => None,
            (Emits::Command, Action::Extra(Extra::Retry)) => Some(Action::Abort),
            (Emits::Command, _) => Some(command),
            (Emits::OldRead, _) => (command.variable()).map(|v| Action::Extra(Extra::OldRead(v))),
            (Emits::Snapshot, _) => Some(Action::Extra(Extra::Snapshot)),
        };
        Ok(Transition {
            thread,
            command,
            step: Some(step.name as u16),
            variable,
            answer,
            statement: action
                .map(|action| Statement::new(action, thread))
                .filter(|&statement| self.view.shows(statement)),
        })
    }

    /// Whether the same step is already there; an error if it leads elsewhere.
    fn is_repeated(
        &self,
        out: &Successors,
        first: usize,
        start: usize,
        transition: &Transition,
        step: &Step,
        spans: &[mover_source::Span],
    ) -> Result<bool, Diagnostic> {
        let size = self.layout.size();
        for (known, &span) in (first..).zip(spans) {
            let other = &out.transitions[known];
            if (other.step, other.variable) != (transition.step, transition.variable) {
                continue;
            }
            let same = other == transition
                && out.states[known * size..(known + 1) * size] == out.states[start..];
            if same {
                return Ok(true);
            }
            return Err(Diagnostic::coded(
                "T020",
                "the same step is enabled twice with different outcomes (rule 7 of Section 3)",
            )
            .at(step.span, "enabled here")
            .related(span, "and here, in the same state"));
        }
        Ok(false)
    }

    /// Keeps what the contention manager allows, and moves its state.
    fn consult_manager(
        &self,
        state: &[u8],
        first: usize,
        abort_enabled: bool,
        conflict: bool,
        out: &mut Successors,
        environment: &mut Environment,
    ) -> Result<(), Diagnostic> {
        let size = self.layout.size();
        let must_ask = conflict && !abort_enabled;
        let mut kept = first;
        for at in first..out.transitions.len() {
            let transition = out.transitions[at];
            let offers = match self.manager {
                Manager::Any => true,
                Manager::Aggressive => transition.step.is_some(),
                Manager::Polite => transition.step.is_none(),
                Manager::Own(index) => {
                    let target = &mut out.states[at * size..(at + 1) * size];
                    self.react(
                        &self.program.managers[index],
                        &transition,
                        state,
                        target,
                        environment,
                    )?
                }
            };
            if !must_ask || offers {
                out.transitions[kept] = transition;
                out.states
                    .copy_within(at * size..(at + 1) * size, kept * size);
                kept += 1;
            }
        }
        out.transitions.truncate(kept);
        out.states.truncate(kept * size);
        Ok(())
    }

    fn react(
        &self,
        manager: &ManagerCode,
        transition: &Transition,
        state: &[u8],
        target: &mut [u8],
        environment: &mut Environment,
    ) -> Result<bool, Diagnostic> {
        for reaction in &manager.reactions {
            let about = match (reaction.pattern, transition.step) {
                (StepPattern::Abort, step) => step.is_none(),
                (StepPattern::AnyButAbort, step) => step.is_some(),
                (StepPattern::Named(name), step) => step == Some(name as u16),
            };
            if !about {
                continue;
            }
            if let (Some(slot), Some(variable)) = (reaction.param, transition.variable) {
                environment[slot] = variable;
            }
            if self.evaluator.holds(&reaction.guard, state, environment) {
                // The guard sees the state before the step, and so do the
                // effects: what they assign is the manager's own.
                let mut moved = state.to_vec();
                self.evaluator
                    .execute(&reaction.effects, &mut moved, environment)?;
                self.copy_manager_state(&moved, target);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn copy_manager_state(&self, from: &[u8], to: &mut [u8]) {
        for (index, field) in self.program.fields.iter().enumerate() {
            if field.manager.is_none() || !self.is_used(field) {
                continue;
            }
            let copies = match field.place {
                Place::Global => 1,
                Place::Variable => self.variables(),
                Place::Thread => self.threads(),
            };
            for copy in 0..copies {
                let at = self.evaluator.base[index] + copy * self.evaluator.stride[index];
                to[at] = from[at];
            }
        }
    }

    /// The transition in the notation of Table 1, as `(own,1)_2`.
    pub fn label(&self, transition: &Transition) -> String {
        let thread = transition.thread + 1;
        match (transition.step, transition.statement) {
            (None, _) => format!("a_{thread}"),
            (Some(_), Some(statement)) => statement.to_string(),
            (Some(step), None) => {
                let name = &self.program.step_names[step as usize];
                match transition.variable {
                    Some(v) => format!("({name},{})_{thread}", v + 1),
                    None => format!("{name}_{thread}"),
                }
            }
        }
    }

    /// A state in words, for pictures and messages.
    pub fn describe(&self, state: &[u8]) -> String {
        StateText {
            algorithm: self,
            state,
        }
        .to_string()
    }
}

struct StateText<'a> {
    algorithm: &'a Algorithm<'a>,
    state: &'a [u8],
}

impl fmt::Display for StateText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.algorithm;
        let members = |set: u8| {
            let numbers: Vec<String> = (0..8)
                .filter(|i| set >> i & 1 == 1)
                .map(|i| (i + 1).to_string())
                .collect();
            format!("{{{}}}", numbers.join(","))
        };
        let mut parts = Vec::new();
        for (index, field) in algorithm.program.fields.iter().enumerate() {
            if !algorithm.is_used(field) {
                continue;
            }
            let copies = match field.place {
                Place::Global => 1,
                Place::Variable => algorithm.variables(),
                Place::Thread => algorithm.threads(),
            };
            for copy in 0..copies {
                let evaluator = &algorithm.evaluator;
                let value = self.state[evaluator.base[index] + copy * evaluator.stride[index]];
                let text = match &field.ty {
                    Type::Enumeration(names) => names[value as usize].clone(),
                    Type::VariableSet | Type::ThreadSet => members(value),
                    Type::Bool => (value != 0).to_string(),
                    Type::Range { .. } | Type::Time => value.to_string(),
                    Type::ThreadOrNone if value == 0 => "none".to_string(),
                    Type::ThreadOrNone => value.to_string(),
                };
                parts.push(match field.place {
                    Place::Global => format!("{}={text}", field.name),
                    _ => format!("{}({})={text}", field.name, copy + 1),
                });
            }
        }
        for thread in 0..algorithm.threads() {
            if let Some(command) = algorithm.pending_command(self.state, thread) {
                parts.push(format!(
                    "pending({})={}",
                    thread + 1,
                    match command {
                        Action::Read(v) => format!("read {}", v + 1),
                        Action::Write(v) => format!("write {}", v + 1),
                        Action::Commit | Action::Abort => "commit".to_string(),
                        Action::Extra(_) => Statement::new(command, thread as u8).to_string(),
                    }
                ));
            }
        }
        f.write_str(&parts.join(" "))
    }
}

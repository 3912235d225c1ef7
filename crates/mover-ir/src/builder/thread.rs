//! The statements of a thread.
//!
//! Every statement is one step, with three exceptions: the conditions of `if_else` and `while_`
//! are steps of their own, `break_`, `continue_` and `finish` are none, and an `atomic` section is
//! as many steps as it has statements, between which no other thread moves as long as the thread
//! itself can.
//!
//! A statement that has no meaning in a state (an index outside of its array, a division by zero)
//! is an error there, found like a failed assertion.

use std::collections::HashSet;
use std::panic::Location as Caller;

use super::automaton::{Automaton, CallerRef, Draft};
use super::error::FaultKind;
use super::value::{
    Array, Cell, Channel, Check, Lock, Lowered, Pattern, Scope, Value, Var, reference,
};
use super::{ProgramBuilder, Thread};
use crate::expr::{BinaryOp, Expr, Place, ReceiveArg, Ty, VariableRef, mask};
use crate::program::{Effect, ErrorMark, Init, LocationId, Property, Variable, VariableId};

type Outcome<T> = Result<T, FaultKind>;

/// A thread that was spawned by the thread that is being written; see [`ThreadBuilder::join`].
#[derive(Clone, Copy, Debug)]
pub struct Spawned {
    model: u32,
    /// Who spawned it.
    by: u32,
    site: usize,
}

/// A spawn statement.
struct SpawnSite {
    spawned: Thread,
    edge: (Draft, usize),
    /// Where the thread's number is stored, once it is needed.
    number: Option<Var>,
}

struct Loop {
    head: Draft,
    exit: Draft,
}

/// Writes one thread, statement by statement.
pub struct ThreadBuilder<'m> {
    model: &'m mut ProgramBuilder,
    id: u32,
    locals: Vec<Variable>,
    params: u32,
    automaton: Automaton,
    /// Where the next statement begins.
    here: Draft,
    entry: Draft,
    end: Draft,
    loops: Vec<Loop>,
    /// Locations at which several branches begin.
    choices: HashSet<Draft>,
    /// How many atomic sections the next statement stands in.
    atomic_depth: u32,
    sites: Vec<SpawnSite>,
    spawns: Vec<Spawn>,
    exits: bool,
    names: HashSet<String>,
}

/// Which threads a thread may spawn.
#[derive(Clone, Copy)]
pub(super) struct Spawn {
    pub thread: Thread,
    pub in_loop: bool,
}

/// What is known of a thread that has been written.
pub(super) struct Written {
    pub end: LocationId,
    pub exits: bool,
    pub spawns: Vec<Spawn>,
    pub callers: Vec<Vec<CallerRef>>,
}

/// A guard and effects in the making: one step.
struct Action {
    /// What must hold for the step, with all checks.
    guard: Expr,
    /// When it fails instead, and with which words.
    failures: Vec<(Expr, Check)>,
    effects: Vec<Effect>,
    texts: Vec<String>,
    written: Vec<VariableRef>,
}

impl Action {
    fn new() -> Action {
        Action {
            guard: Expr::TRUE,
            failures: Vec::new(),
            effects: Vec::new(),
            texts: Vec::new(),
            written: Vec::new(),
        }
    }

    /// Guards are tried before the effects, so they may not depend on them.
    fn reads_nothing_written(&self, condition: &Expr, text: &str) -> Outcome<()> {
        let mut reads = false;
        condition.walk(&mut |expr| {
            reads |= matches!(expr, Expr::Read(place) if self.written.contains(&place.variable));
        });
        match reads {
            true => Err(FaultKind::CheckAfterWrite { text: text.into() }),
            false => Ok(()),
        }
    }

    fn check(&mut self, checks: Vec<Check>, text: &str) -> Outcome<()> {
        for check in checks {
            self.reads_nothing_written(&check.safe, text)?;
            let fails = self.guard.clone().and(check.safe.clone().negate());
            self.guard = self.guard.clone().and(check.safe.clone());
            self.failures.push((fails, check));
        }
        Ok(())
    }

    fn require(&mut self, condition: Lowered, text: String) -> Outcome<()> {
        self.check(condition.checks, &text)?;
        self.reads_nothing_written(&condition.expr, &text)?;
        self.guard = self.guard.clone().and(condition.expr);
        self.texts.push(text);
        Ok(())
    }

    fn assign(&mut self, scope: &Scope, cell: &Cell, value: &Value) -> Outcome<()> {
        let text = format!("{} = {}", scope.cell_text(cell), scope.text(value));
        let (place, checks) = scope.place(cell)?;
        self.check(checks, &text)?;
        let value = scope.lower_as(value, place.ty, || text.clone())?;
        self.check(value.checks, &text)?;
        self.written.push(place.variable);
        self.effects.push(Effect::Assign {
            place,
            value: value.expr,
        });
        self.texts.push(text);
        Ok(())
    }
}

/// A condition and assignments that make one step; see [`ThreadBuilder::step`].
pub struct Step<'s> {
    scope: Scope<'s>,
    action: Action,
    fault: Option<FaultKind>,
}

impl Step<'_> {
    /// The step is possible only where the condition holds.
    pub fn when(&mut self, condition: impl Into<Value>) {
        let condition = condition.into();
        let text = format!("wait({})", self.scope.text(&condition));
        let lowered = self.scope.condition(&condition);
        let result = lowered.and_then(|condition| self.action.require(condition, text));
        self.note(result);
    }

    /// Sees the assignments before it.
    pub fn assign(&mut self, cell: impl Into<Cell>, value: impl Into<Value>) {
        let (cell, value) = (cell.into(), value.into());
        let result = self.action.assign(&self.scope, &cell, &value);
        self.note(result);
    }

    fn note(&mut self, result: Outcome<()>) {
        if let Err(kind) = result {
            self.fault.get_or_insert(kind);
        }
    }
}

/// The branches of a choice; see [`ThreadBuilder::choose`].
pub struct Choice<'c, 'm> {
    thread: &'c mut ThreadBuilder<'m>,
    from: Draft,
    after: Draft,
}

impl<'m> Choice<'_, 'm> {
    /// Can be taken where its first statement is possible.
    #[track_caller]
    pub fn branch(&mut self, body: impl FnOnce(&mut ThreadBuilder<'m>)) {
        self.thread.here = self.from;
        body(self.thread);
        self.thread.go_to(self.after, "skip", Caller::caller());
    }
}

impl<'m> ThreadBuilder<'m> {
    pub(super) fn new(model: &'m mut ProgramBuilder, id: u32) -> Self {
        let mut automaton = Automaton::default();
        let (entry, end) = (automaton.location(false), automaton.location(false));
        automaton.get(end).valid_end = true;
        ThreadBuilder {
            model,
            id,
            locals: Vec::new(),
            params: 0,
            automaton,
            here: entry,
            entry,
            end,
            loops: Vec::new(),
            choices: HashSet::new(),
            atomic_depth: 0,
            sites: Vec::new(),
            spawns: Vec::new(),
            exits: false,
            names: HashSet::new(),
        }
    }

    pub(super) fn write(mut self, name: &str, caller: CallerRef) {
        self.go_to(self.end, "return", caller);
        let finished = self.automaton.finish(self.entry, self.end);
        let template = &mut self.model.program.templates[self.id as usize];
        template.name = name.to_string();
        template.params = self.params;
        template.locals = self.locals;
        template.locations = finished.locations;
        template.entry = finished.entry;
        self.model.threads[self.id as usize].written = Some(Written {
            end: finished.end,
            exits: self.exits,
            spawns: self.spawns,
            callers: finished.callers,
        });
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            model: self.model.id,
            thread: self.id,
            globals: &self.model.program.globals,
            locals: &self.locals,
            channels: &self.model.program.channels,
        }
    }

    fn declare(&mut self, name: &str, ty: Ty, len: Option<u32>, init: Init, at: CallerRef) -> Var {
        if !self.names.insert(name.to_string()) {
            self.model.fault(at, FaultKind::SameName(name.into()));
        }
        self.locals.push(Variable {
            len: len.unwrap_or(1),
            is_array: len.is_some(),
            init,
            ..Variable::scalar(name, ty)
        });
        Var {
            model: self.model.id,
            thread: Some(self.id),
            id: self.locals.len() as u32 - 1,
            ty,
        }
    }

    /// A parameter, whose value whoever starts or spawns the thread gives; before all locals.
    #[track_caller]
    pub fn param(&mut self, name: &str, ty: Ty) -> Var {
        let at = Caller::caller();
        if self.params as usize != self.locals.len() {
            self.model.fault(at, FaultKind::LateParameter(name.into()));
        }
        self.params += 1;
        self.declare(name, ty, None, Init::All(0), at)
    }

    /// A variable of its own for each thread, at first 0.
    #[track_caller]
    pub fn local(&mut self, name: &str, ty: Ty) -> Var {
        self.declare(name, ty, None, Init::All(0), Caller::caller())
    }

    #[track_caller]
    pub fn local_with(&mut self, name: &str, ty: Ty, first: impl Into<i128>) -> Var {
        let at = Caller::caller();
        let first = self.model.initial(first.into(), ty, at);
        self.declare(name, ty, None, Init::All(first), at)
    }

    /// A row of cells of its own for each thread, at first 0.
    #[track_caller]
    pub fn local_array(&mut self, name: &str, ty: Ty, len: u32) -> Array {
        Array(self.declare(name, ty, Some(len), Init::All(0), Caller::caller()))
    }

    /// Names the place before the next statement.
    pub fn label(&mut self, name: &str) {
        let here = self.automaton.resolve(self.here);
        self.automaton.get(here).labels.push(name.into());
    }

    /// A thread that waits for ever before the next statement is no deadlock.
    pub fn valid_end(&mut self) {
        let here = self.automaton.resolve(self.here);
        self.automaton.get(here).valid_end = true;
    }

    /// `cell = value`.
    #[track_caller]
    pub fn assign(&mut self, cell: impl Into<Cell>, value: impl Into<Value>) {
        let (cell, value) = (cell.into(), value.into());
        self.act(Caller::caller(), |scope, action| {
            action.assign(scope, &cell, &value)
        });
    }

    /// Several assignments, and the condition under which they are done, in one step.
    #[track_caller]
    pub fn step(&mut self, body: impl FnOnce(&mut Step)) {
        let at = Caller::caller();
        let mut step = Step {
            scope: self.scope(),
            action: Action::new(),
            fault: None,
        };
        body(&mut step);
        let Step { action, fault, .. } = step;
        match fault {
            Some(kind) => self.model.fault(at, kind),
            None => {
                self.emit(action, at);
            }
        }
    }

    /// The cell takes any value of its type.
    #[track_caller]
    pub fn havoc(&mut self, cell: impl Into<Cell>) {
        self.any_value(cell.into(), 0, Caller::caller());
    }

    /// The cell takes any value below `values`.
    #[track_caller]
    pub fn pick(&mut self, cell: impl Into<Cell>, values: u64) {
        let (cell, at) = (cell.into(), Caller::caller());
        if values == 0 || values - 1 > mask(cell.variable.ty.width) {
            let name = self.scope().cell_text(&cell);
            self.model
                .fault(at, FaultKind::WrongChoice { name, values });
            return;
        }
        self.any_value(cell, values, at);
    }

    fn any_value(&mut self, cell: Cell, values: u64, at: CallerRef) {
        self.act(at, |scope, action| {
            let name = scope.cell_text(&cell);
            let (place, checks) = scope.place(&cell)?;
            action.check(checks, &name)?;
            action.texts.push(match values {
                0 => format!("{name} = any value"),
                _ => format!("{name} = any value below {values}"),
            });
            action.effects.push(Effect::Havoc { place, values });
            Ok(())
        });
    }

    /// Blocks until the condition holds.
    #[track_caller]
    pub fn wait(&mut self, condition: impl Into<Value>) {
        let condition = condition.into();
        self.act(Caller::caller(), |scope, action| {
            let text = format!("wait({})", scope.text(&condition));
            action.require(scope.condition(&condition)?, text)
        });
    }

    /// A step that does nothing.
    #[track_caller]
    pub fn skip(&mut self) {
        self.act(Caller::caller(), |_, action| {
            action.texts.push("skip".into());
            Ok(())
        });
    }

    /// Only runs in which the condition holds here count: where it does not, the whole program
    /// ends without an error.
    #[track_caller]
    pub fn assume(&mut self, condition: impl Into<Value>) {
        let (condition, at) = (condition.into(), Caller::caller());
        let text = format!("assume({})", self.scope().text(&condition));
        let (holds, fails) = self.fork(&condition, [text.clone(), text], at);
        let ended = self.automaton.get(fails);
        ended.atomic = true;
        ended.valid_end = true;
        let text = "the run does not count".into();
        let automaton = &mut self.automaton;
        automaton.edge((fails, fails), Expr::TRUE, Vec::new(), text, at);
        self.here = holds;
    }

    /// It is an error if the condition does not hold; the message says what was expected.
    #[track_caller]
    pub fn assert(&mut self, condition: impl Into<Value>, message: &str) {
        let condition = condition.into();
        self.act(Caller::caller(), |scope, action| {
            let text = format!("assert({})", scope.text(&condition));
            let condition = scope.condition(&condition)?;
            action.check(condition.checks, &text)?;
            let assertion = Check {
                resumes: true,
                ..Check::new(condition.expr, message)
            };
            action.check(vec![assertion], &text)?;
            action.texts.push(text);
            Ok(())
        });
    }

    /// Blocks until no thread holds the mutex, and takes it. A thread that holds it already waits
    /// for ever.
    #[track_caller]
    pub fn lock(&mut self, lock: impl Into<Lock>) {
        let Lock(cell) = lock.into();
        self.act(Caller::caller(), |scope, action| {
            let text = format!("lock({})", scope.cell_text(&cell));
            let (place, checks) = scope.place(&cell)?;
            let is_free = equal(Expr::Read(place.clone()), Expr::int(0));
            let (expr, ty) = (is_free, Ty::BOOL);
            action.require(Lowered { expr, ty, checks }, text)?;
            let value = own_mark();
            action.effects.push(Effect::Assign { place, value });
            Ok(())
        });
    }

    /// Releases the mutex; an error of [`Property::MutexMisuse`] if the thread does not hold it.
    #[track_caller]
    pub fn unlock(&mut self, lock: impl Into<Lock>) {
        let Lock(cell) = lock.into();
        self.act(Caller::caller(), |scope, action| {
            let name = scope.cell_text(&cell);
            let (place, mut checks) = scope.place(&cell)?;
            checks.push(Check {
                property: Property::MutexMisuse,
                ..Check::new(
                    equal(Expr::Read(place.clone()), own_mark()),
                    format!("`{name}` is unlocked by a thread that does not hold it"),
                )
            });
            action.check(checks, &name)?;
            let value = Expr::int(0);
            action.effects.push(Effect::Assign { place, value });
            action.texts.push(format!("unlock({name})"));
            Ok(())
        });
    }

    /// Blocks while the channel is full; without a buffer, until another thread receives.
    #[track_caller]
    pub fn send(&mut self, channel: Channel, values: impl IntoIterator<Item: Into<Value>>) {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        self.act(Caller::caller(), |scope, action| {
            let decl = scope.channel(channel)?;
            let texts: Vec<String> = values.iter().map(|value| scope.text(value)).collect();
            let text = format!("send({}: {})", decl.name, texts.join(", "));
            expect_count(&decl.name, decl.fields.len(), values.len())?;
            let mut sent = Vec::new();
            for (value, field) in values.iter().zip(&decl.fields) {
                let value = scope.lower_as(value, field.ty, || text.clone())?;
                action.check(value.checks, &text)?;
                sent.push(value.expr);
            }
            action.effects.push(Effect::Send {
                channel: reference(channel),
                values: sent,
                sorted: false,
            });
            action.texts.push(text);
            Ok(())
        });
    }

    /// Blocks until the oldest message matches, and takes it.
    #[track_caller]
    pub fn receive(&mut self, channel: Channel, parts: impl IntoIterator<Item: Into<Pattern>>) {
        let parts: Vec<Pattern> = parts.into_iter().map(Into::into).collect();
        self.act(Caller::caller(), |scope, action| {
            let decl = scope.channel(channel)?;
            let part_text = |part: &Pattern| match part {
                Pattern::Store(cell) => scope.cell_text(cell),
                Pattern::Equals(value) => format!("== {}", scope.text(value)),
                Pattern::Any => "_".into(),
            };
            let texts: Vec<String> = parts.iter().map(part_text).collect();
            let text = format!("receive({}: {})", decl.name, texts.join(", "));
            expect_count(&decl.name, decl.fields.len(), parts.len())?;
            let mut args = Vec::new();
            for (part, field) in parts.iter().zip(&decl.fields) {
                args.push(match part {
                    Pattern::Any => ReceiveArg::Ignore,
                    Pattern::Store(cell) => {
                        let (place, checks) = scope.place(cell)?;
                        if place.ty != field.ty {
                            return Err(FaultKind::TypesDiffer {
                                text,
                                left: field.ty,
                                right: place.ty,
                            });
                        }
                        action.check(checks, &text)?;
                        ReceiveArg::Store(place)
                    }
                    Pattern::Equals(value) => {
                        let value = scope.lower_as(value, field.ty, || text.clone())?;
                        action.check(value.checks, &text)?;
                        // The match compares numbers, and takes the value for a signed one.
                        ReceiveArg::Match(value.expr.resize(64, field.ty.signed))
                    }
                });
            }
            action.effects.push(Effect::Receive {
                channel: reference(channel),
                args,
                random: false,
                peek: false,
            });
            action.texts.push(text);
            Ok(())
        });
    }

    /// Starts another thread.
    #[track_caller]
    pub fn spawn(&mut self, thread: Thread) -> Spawned {
        self.spawn_at(thread, Vec::new(), Caller::caller())
    }

    /// Starts another thread with values for its parameters.
    #[track_caller]
    pub fn spawn_with(
        &mut self,
        thread: Thread,
        args: impl IntoIterator<Item: Into<Value>>,
    ) -> Spawned {
        let args = args.into_iter().map(Into::into).collect();
        self.spawn_at(thread, args, Caller::caller())
    }

    fn spawn_at(&mut self, thread: Thread, args: Vec<Value>, at: CallerRef) -> Spawned {
        let spawned = Spawned {
            model: self.model.id,
            by: self.id,
            site: self.sites.len(),
        };
        let from = self.here;
        let edge = match self.spawn_action(thread, &args) {
            Ok(action) => self.emit(action, at),
            Err(kind) => {
                self.model.fault(at, kind);
                return spawned;
            }
        };
        self.sites.push(SpawnSite {
            spawned: thread,
            edge: (from, edge),
            number: None,
        });
        self.spawns.push(Spawn {
            thread,
            in_loop: !self.loops.is_empty(),
        });
        spawned
    }

    fn spawn_action(&self, thread: Thread, values: &[Value]) -> Outcome<Action> {
        let (scope, mut action) = (self.scope(), Action::new());
        let template = self.model.template(thread)?;
        let texts: Vec<String> = values.iter().map(|value| scope.text(value)).collect();
        let text = format!("spawn {}({})", template.name, texts.join(", "));
        expect_count(&template.name, template.params as usize, values.len())?;
        let mut args = Vec::new();
        for (value, param) in values.iter().zip(&template.locals) {
            let value = scope.lower_as(value, param.ty, || text.clone())?;
            action.check(value.checks, &text)?;
            args.push(value.expr);
        }
        action.effects.push(Effect::Spawn {
            template: thread.template(),
            args,
            priority: 0,
            result: None,
        });
        action.texts.push(text);
        Ok(action)
    }

    /// Blocks until the thread has finished.
    #[track_caller]
    pub fn join(&mut self, spawned: Spawned) {
        let at = Caller::caller();
        if let Err(kind) = self.join_at(spawned, at) {
            self.model.fault(at, kind);
        }
    }

    fn join_at(&mut self, spawned: Spawned, at: CallerRef) -> Outcome<()> {
        if spawned.model != self.model.id {
            return Err(FaultKind::ForeignModel);
        }
        if spawned.by != self.id {
            return Err(FaultKind::ForeignLocal);
        }
        let Some(&SpawnSite {
            spawned: thread,
            edge: (location, edge),
            number,
        }) = self.sites.get(spawned.site)
        else {
            // The spawn itself is at fault, which is known already.
            return Ok(());
        };
        let name = self.model.template(thread)?.name.clone();
        let written = self.model.written(thread)?;
        if written.exits {
            return Err(FaultKind::JoinedThreadExits(name));
        }
        let locations = vec![written.end];
        let label = format!("{name}#{}", spawned.site + 1);
        let number = match number {
            Some(number) => number,
            None => {
                let number = self.declare(&label, Ty::INT, None, Init::All(0), at);
                let place = Place::scalar(VariableRef::Local(VariableId(number.id)), Ty::INT);
                let edge = &mut self.automaton.get(location).edges[edge];
                if let Some(Effect::Spawn { result, .. }) = edge.effects.last_mut() {
                    *result = Some(place);
                }
                edge.text = format!("{label} = {}", edge.text);
                self.sites[spawned.site].number = Some(number);
                number
            }
        };
        let place = Place::scalar(VariableRef::Local(VariableId(number.id)), Ty::INT);
        let mut action = Action::new();
        action.guard = Expr::ThreadAt {
            thread: Box::new(Expr::Read(place)),
            template: thread.template(),
            locations,
        };
        action.texts.push(format!("join({label})"));
        self.emit(action, at);
        Ok(())
    }

    /// The thread finishes here, as at the end of its closure: it stays there and can be joined.
    #[track_caller]
    pub fn finish(&mut self) {
        self.leave(self.end, "return", Caller::caller());
    }

    /// The thread has exited: its number can be reused, and no thread can join it.
    #[track_caller]
    pub fn exit(&mut self) {
        let mut action = Action::new();
        action.effects.push(Effect::Exit);
        action.texts.push("exit".into());
        self.emit(action, Caller::caller());
        self.exits = true;
        self.here = self.location();
    }

    #[track_caller]
    pub fn if_(&mut self, condition: impl Into<Value>, then: impl FnOnce(&mut Self)) {
        self.branch(condition.into(), then, |_| {}, Caller::caller());
    }

    #[track_caller]
    pub fn if_else(
        &mut self,
        condition: impl Into<Value>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        self.branch(condition.into(), then, otherwise, Caller::caller());
    }

    fn branch(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
        at: CallerRef,
    ) {
        let scope = self.scope();
        let yes = format!("if {}", scope.text(&condition));
        let no = format!("if {}", scope.text(&!condition.clone()));
        let (holds, fails) = self.fork(&condition, [yes, no], at);
        let after = self.location();
        self.here = holds;
        then(self);
        self.go_to(after, "skip", at);
        self.here = fails;
        otherwise(self);
        self.go_to(after, "skip", at);
        self.here = after;
    }

    #[track_caller]
    pub fn while_(&mut self, condition: impl Into<Value>, body: impl FnOnce(&mut Self)) {
        let (condition, at) = (condition.into(), Caller::caller());
        let head = self.loop_head();
        let text = format!("while {}", self.scope().text(&condition));
        let (holds, exit) = self.fork(&condition, [text.clone(), format!("leave {text}")], at);
        self.here = holds;
        self.loops.push(Loop { head, exit });
        body(self);
        self.loops.pop();
        self.go_to(head, "skip", at);
        self.here = exit;
    }

    /// For ever, or until [`ThreadBuilder::break_`].
    #[track_caller]
    pub fn repeat(&mut self, body: impl FnOnce(&mut Self)) {
        let head = self.loop_head();
        let exit = self.location();
        self.loops.push(Loop { head, exit });
        body(self);
        self.loops.pop();
        self.go_to(head, "skip", Caller::caller());
        self.here = exit;
    }

    /// Leaves the innermost loop.
    #[track_caller]
    pub fn break_(&mut self) {
        let exit = self.loops.last().map(|inner| inner.exit);
        self.leave_loop(exit, "break", Caller::caller());
    }

    /// Goes to the beginning of the innermost loop.
    #[track_caller]
    pub fn continue_(&mut self) {
        let head = self.loops.last().map(|inner| inner.head);
        self.leave_loop(head, "continue", Caller::caller());
    }

    fn leave_loop(&mut self, to: Option<Draft>, word: &'static str, at: CallerRef) {
        match to {
            Some(to) => self.leave(to, word, at),
            None => self.model.fault(at, FaultKind::NotInLoop(word)),
        }
    }

    /// One of the branches is taken: any of those whose first statement is possible.
    pub fn choose(&mut self, body: impl FnOnce(&mut Choice<'_, 'm>)) {
        let from = self.here;
        let after = self.location();
        self.choices.insert(from);
        body(&mut Choice {
            thread: self,
            from,
            after,
        });
        self.here = after;
    }

    /// The statements follow each other without a step of another thread between them, unless one
    /// of them blocks.
    pub fn atomic(&mut self, body: impl FnOnce(&mut Self)) {
        self.atomic_depth += 1;
        body(self);
        self.atomic_depth -= 1;
        if self.atomic_depth == 0 {
            let here = self.automaton.resolve(self.here);
            self.automaton.get(here).atomic = false;
        }
    }

    fn location(&mut self) -> Draft {
        self.automaton.location(self.atomic_depth > 0)
    }

    /// Writes one step that begins here.
    fn act(&mut self, at: CallerRef, write: impl FnOnce(&Scope, &mut Action) -> Outcome<()>) {
        let mut action = Action::new();
        match write(&self.scope(), &mut action) {
            Ok(()) => {
                self.emit(action, at);
            }
            Err(kind) => self.model.fault(at, kind),
        }
    }

    /// Returns the number of the edge.
    fn emit(&mut self, action: Action, at: CallerRef) -> usize {
        let (from, next) = (self.here, self.location());
        let text = action.texts.join("; ");
        let (guard, effects) = (action.guard, action.effects);
        let automaton = &mut self.automaton;
        let edge = automaton.edge((from, next), guard, effects, text.clone(), at);
        for (guard, check) in action.failures {
            let error = self.automaton.error(ErrorMark {
                property: check.property,
                message: check.message,
                resume: check.resumes.then_some(LocationId(next as u32)),
            });
            let automaton = &mut self.automaton;
            automaton.edge((from, error), guard, Vec::new(), text.clone(), at);
        }
        self.here = next;
        edge
    }

    /// Two steps, one for each outcome of the condition; returns where they lead.
    fn fork(&mut self, condition: &Value, texts: [String; 2], at: CallerRef) -> (Draft, Draft) {
        let from = self.here;
        let [yes, no] = texts;
        let mut sides = [(condition.clone(), yes), (!condition.clone(), no)].map(|(side, text)| {
            let mut action = Action::new();
            let result = self.scope().condition(&side);
            (result.and_then(|side| action.require(side, text)), action)
        });
        // Both sides fail in the same states.
        sides[1].1.failures.clear();
        let [first, second] = sides.map(|(result, action)| {
            self.here = from;
            match result {
                Ok(()) => {
                    self.emit(action, at);
                }
                Err(kind) => {
                    self.model.fault(at, kind);
                    self.here = self.location();
                }
            }
            self.here
        });
        (first, second)
    }

    /// A location that loops lead back to.
    fn loop_head(&mut self) -> Draft {
        let here = self.here;
        // Coming back is not the same as choosing anew, or as not having begun an atomic section.
        let begins_atomic = self.atomic_depth > 0 && !self.automaton.get(here).atomic;
        if self.choices.contains(&here) || begins_atomic {
            let head = self.location();
            self.automaton.copy_later(here, head);
            self.here = head;
        }
        self.here
    }

    /// What follows here is what follows there. It takes a step only where it has to: as the only
    /// statement of a branch, or of a loop.
    fn go_to(&mut self, to: Draft, text: &str, at: CallerRef) {
        let here = self.here;
        if self.choices.contains(&here) || !self.automaton.unite(here, to) {
            let automaton = &mut self.automaton;
            automaton.edge((here, to), Expr::TRUE, Vec::new(), text.into(), at);
        }
    }

    /// The same, with nothing after it.
    fn leave(&mut self, to: Draft, text: &str, at: CallerRef) {
        self.go_to(to, text, at);
        self.here = self.location();
    }
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, left, right)
}

/// What a thread writes into a mutex that it takes.
fn own_mark() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1))
}

fn expect_count(name: &str, expected: usize, given: usize) -> Outcome<()> {
    if expected == given {
        return Ok(());
    }
    let name = name.to_string();
    Err(FaultKind::WrongCount {
        name,
        expected,
        given,
    })
}

//! Basic statements: each is one step.
//!
//! An [`Action`] says when a step can be taken and what it does. Two notions of
//! "can be taken" meet here. The real one is the guard together with the
//! channel operation among the effects. The other, `executable`, is what SPIN
//! consults where it must know in advance (the first choice of a `d_step`):
//! there a rendezvous does not count, since its partner is found only later.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty};
use mover_ir::program::{Effect, PrintArg, TemplateId};
use mover_ir::simplify::fold_binary;
use mover_source::Span;

use crate::ast::{
    ChannelEnd, Expr as Syntax, ExprKind, Name, Path, ReceiveArgument, StatementKind,
};
use crate::context::{Context, PROCESS_LIMIT};
use crate::paths::{ChannelUse, Found};
use crate::substitute::at_creation;
use crate::values::{Check, MessageShape, Value, cell_value, has_room, stored};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Sender,
    Receiver,
}

/// A step that SPIN's verifier takes and reports as an error: a message with too few or too many
/// fields, or a value for `_pid`.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Width 1.
    pub guard: Expr,
    pub effects: Vec<Effect>,
    pub message: String,
    /// Whether the process can go on behind it.
    pub resumes: bool,
}

#[derive(Clone, Debug)]
pub struct Action {
    /// Width 1.
    pub guard: Expr,
    pub effects: Vec<Effect>,
    pub checks: Vec<Check>,
    /// For an assertion: what to say if the guard does not hold.
    pub assertion: Option<String>,
    /// Ways to take the step that are errors.
    pub mistakes: Vec<Mistake>,
    /// Width 1: whether the step is possible, rendezvous apart.
    pub executable: Expr,
    /// The side of a rendezvous that it could be.
    pub rendezvous: Option<Side>,
    /// A condition, a send or a receive.
    pub is_guard: bool,
    /// `skip`, `true` or `1`, which SPIN drops in some places.
    pub is_skip: bool,
    pub is_print: bool,
    pub text: String,
    pub span: Span,
}

impl Action {
    fn always(effects: Vec<Effect>, checks: Vec<Check>, text: String, span: Span) -> Action {
        Action {
            guard: Expr::TRUE,
            effects,
            checks,
            assertion: None,
            mistakes: Vec::new(),
            executable: Expr::TRUE,
            rendezvous: None,
            is_guard: false,
            is_skip: false,
            is_print: false,
            text,
            span,
        }
    }

    /// A step without effect, as `skip` is.
    pub fn skip(text: impl Into<String>, span: Span) -> Action {
        Action {
            is_guard: true,
            is_skip: true,
            ..Action::always(Vec::new(), Vec::new(), text.into(), span)
        }
    }

    pub fn condition(value: Value, text: String, span: Span) -> Action {
        let checks = value.checks.clone();
        let guard = value.into_truth();
        Action {
            executable: guard.clone(),
            is_guard: true,
            guard,
            ..Action::always(Vec::new(), checks, text, span)
        }
    }

    /// Whether the guard is the constant false, which SPIN drops from choices.
    pub fn is_never(&self) -> bool {
        self.guard == Expr::FALSE && self.assertion.is_none() && self.mistakes.is_empty()
    }
}

impl Context<'_> {
    /// The step of a basic statement; an invalid one becomes a `skip`.
    pub fn action(&mut self, statement: &StatementKind, span: Span) -> Action {
        let text = self.text(span);
        match statement {
            StatementKind::Assign { target, value } => self.assignment(target, value, text, span),
            StatementKind::Step { target, by } => self.increment(target, *by, text, span),
            StatementKind::Send {
                channel,
                sorted,
                arguments,
            } => self.send(channel, *sorted, arguments, text, span),
            StatementKind::Receive {
                channel,
                random,
                peek,
                arguments,
            } => self.receive(channel, *random, *peek, arguments, text, span),
            StatementKind::Expression(syntax) => {
                if let ExprKind::Run {
                    proctype,
                    arguments,
                    priority,
                } = &syntax.kind
                {
                    return self.run(proctype, arguments, *priority, None, text, span);
                }
                let is_skip = matches!(syntax.kind, ExprKind::Number(1));
                let value = self.value(syntax);
                Action {
                    is_skip,
                    ..Action::condition(value, text, span)
                }
            }
            StatementKind::Assert(syntax) => {
                let value = self.value(syntax);
                let checks = value.checks.clone();
                let condition = self.text(syntax.span);
                Action {
                    guard: value.into_truth(),
                    assertion: Some(format!("assertion violated: {condition}")),
                    ..Action::always(Vec::new(), checks, text, span)
                }
            }
            StatementKind::Print { format, arguments } => {
                let mut args = Vec::new();
                let mut checks = Vec::new();
                for argument in arguments {
                    let value = self.value(argument);
                    checks.extend(value.checks.clone());
                    args.push(PrintArg {
                        symbols: value.symbols,
                        value: value.into_number(),
                    });
                }
                let format = unescape(format);
                Action {
                    is_print: true,
                    ..Action::always(vec![Effect::Print { format, args }], checks, text, span)
                }
            }
            StatementKind::PrintMtype(syntax) => {
                let value = self.value(syntax);
                let checks = value.checks.clone();
                let arg = PrintArg {
                    symbols: value.symbols,
                    value: value.into_number(),
                };
                let print = Effect::Print {
                    format: "%e\n".to_string(),
                    args: vec![arg],
                };
                Action {
                    is_print: true,
                    ..Action::always(vec![print], checks, text, span)
                }
            }
            StatementKind::SetPriority { process, priority } => {
                self.uses_priorities = true;
                let (process, priority_value) = (self.value(process), self.value(priority));
                let mut checks = process.checks.clone();
                checks.extend(priority_value.checks.clone());
                let thread = process.into_number();
                let priority_number = priority_value.into_number();
                checks.extend(priority_check(&priority_number, priority.span));
                let effect = Effect::SetPriority {
                    thread,
                    priority: stored(priority_number, Ty::BYTE),
                };
                Action::always(vec![effect], checks, text, span)
            }
            _ => Action::skip(text, span),
        }
    }

    fn assignment(&mut self, target: &Path, syntax: &Syntax, text: String, span: Span) -> Action {
        if self.is_read_only(target) {
            return Action::skip(text, span);
        }
        let name = &target.elements[0].name.text;
        if let ExprKind::Run {
            proctype,
            arguments,
            priority,
        } = &syntax.kind
        {
            if &**name == "_" {
                return self.run(proctype, arguments, *priority, None, text, span);
            }
            let Some(cell) = self.cell(target) else {
                return Action::skip(text, span);
            };
            let mut action = self.run(proctype, arguments, *priority, Some(cell.place), text, span);
            action.checks.splice(0..0, cell.checks);
            return action;
        }
        let value = self.value(syntax);
        if &**name == "_" {
            return Action::always(Vec::new(), value.checks, text, span);
        }
        if &**name == "_priority" {
            self.uses_priorities = true;
            let mut checks = value.checks.clone();
            let number = value.into_number();
            checks.extend(priority_check(&number, syntax.span));
            let effect = Effect::SetPriority {
                thread: Expr::ThreadId,
                priority: stored(number, Ty::BYTE),
            };
            return Action::always(vec![effect], checks, text, span);
        }
        let Some(cell) = self.cell(target) else {
            return Action::skip(text, span);
        };
        self.store(cell.place, cell.checks, value, text, span)
    }

    /// A step that stores a value in a cell.
    pub fn store(
        &mut self,
        place: Place,
        mut checks: Vec<Check>,
        value: Value,
        text: String,
        span: Span,
    ) -> Action {
        checks.extend(value.checks.clone());
        let value = value.into_stored(place.ty);
        Action::always(vec![Effect::Assign { place, value }], checks, text, span)
    }

    /// `x++`, `x--` and the counting of loops.
    pub fn increment(&mut self, target: &Path, by: i32, text: String, span: Span) -> Action {
        if self.is_read_only(target) {
            return Action::skip(text, span);
        }
        let Some(cell) = self.cell(target) else {
            return Action::skip(text, span);
        };
        if cell.is_channel {
            self.error(span, "a channel cannot be used in arithmetic");
            return Action::skip(text, span);
        }
        let place = cell.place.clone();
        let old = cell_value(cell);
        let checks = old.checks.clone();
        let sum = fold_binary(BinaryOp::Add, old.into_number(), Expr::int(i64::from(by)));
        self.store(place, checks, Value::number(sum), text, span)
    }

    fn send(
        &mut self,
        path: &Path,
        sorted: bool,
        arguments: &[Syntax],
        text: String,
        span: Span,
    ) -> Action {
        let mut values = Vec::new();
        let mut checks = Vec::new();
        for argument in arguments {
            for value in self.message_values(argument) {
                checks.extend(value.checks.clone());
                values.push(value.into_number());
            }
        }
        let Some(channel) = self.channel(path) else {
            return Action::skip(text, span);
        };
        let others = self.wrong_channels(&channel, values.len());
        let mut mistakes = Vec::new();
        for (other, shape) in &others {
            let wanted = shape.fields;
            if values.len() > wanted && channel.shape.is_some() {
                let message = arity_message(wanted, values.len());
                let mut diagnostic =
                    mover_source::diagnostic::Diagnostic::coded("P035", message).at(span, "");
                if let Some(declared) = shape.span {
                    diagnostic = diagnostic.related(declared, "the channel is declared here");
                }
                self.report(diagnostic);
                return Action::skip(text, span);
            }
            let mut filled = values.clone();
            filled.resize(wanted, Expr::int(0));
            // A rendezvous fails before a partner is looked for.
            let send = Effect::Send {
                channel: channel.expr.clone(),
                values: filled,
                sorted,
            };
            let is_buffered = shape.capacity > 0;
            mistakes.push(Mistake {
                guard: other.clone(),
                effects: if is_buffered { vec![send] } else { Vec::new() },
                message: arity_message(wanted, values.len()),
                resumes: is_buffered,
            });
        }
        let guard = none_of(&others);
        let action = self.send_action(channel, values, sorted, checks, text, span);
        Action {
            guard,
            mistakes,
            ..action
        }
    }

    pub fn send_action(
        &mut self,
        channel: ChannelUse,
        values: Vec<Expr>,
        sorted: bool,
        value_checks: Vec<Check>,
        text: String,
        span: Span,
    ) -> Action {
        let executable = has_room(&channel).and(is_buffered(&channel));
        let rendezvous = may_be_unbuffered(&channel).then_some(Side::Sender);
        let mut checks = channel.checks;
        checks.extend(self.exclusive_checks(&channel.expr, &[ChannelEnd::Send], span));
        checks.extend(value_checks);
        let effect = Effect::Send {
            channel: channel.expr,
            values,
            sorted,
        };
        Action {
            executable,
            rendezvous,
            is_guard: true,
            ..Action::always(vec![effect], checks, text, span)
        }
    }

    /// The values that an argument of a message or a `run` contributes: one,
    /// or all those of a structure.
    fn message_values(&mut self, argument: &Syntax) -> Vec<Value> {
        if let ExprKind::Variable(path) = &argument.kind
            && self.find(&path.elements[0].name.text).is_some()
        {
            return match self.lookup(path) {
                Some(Found::Cell(cell)) => vec![cell_value(cell)],
                Some(Found::Structure(cells)) => cells.into_iter().map(cell_value).collect(),
                None => Vec::new(),
            };
        }
        vec![self.value(argument)]
    }

    fn receive(
        &mut self,
        path: &Path,
        random: bool,
        peek: bool,
        arguments: &[ReceiveArgument],
        text: String,
        span: Span,
    ) -> Action {
        let channel = self.channel(path);
        let (args, value_checks) = self.receive_arguments(arguments, true);
        let Some(channel) = channel else {
            return Action::skip(text, span);
        };
        let mut others = self.wrong_channels(&channel, args.len());
        if peek {
            others.retain(|(_, shape)| args.len() > shape.fields);
        }
        let mut mistakes: Vec<Mistake> = (others.iter())
            .map(|(other, shape)| Mistake {
                guard: other.clone(),
                effects: vec![Effect::Receive {
                    channel: channel.expr.clone(),
                    args: args.iter().take(shape.fields).cloned().collect(),
                    random,
                    peek,
                }],
                message: arity_message(shape.fields, args.len()),
                resumes: args.len() < shape.fields,
            })
            .collect();
        let mut guard = none_of(&others);
        let is_own_number = |argument: &ReceiveArgument| match argument {
            ReceiveArgument::Path(path) => &*path.elements[0].name.text == "_pid",
            _ => false,
        };
        if arguments.iter().any(is_own_number) {
            mistakes.push(Mistake {
                guard,
                effects: vec![Effect::Receive {
                    channel: channel.expr.clone(),
                    args: args.clone(),
                    random,
                    peek,
                }],
                message: "`_pid` cannot be changed".to_string(),
                resumes: false,
            });
            guard = Expr::FALSE;
        }
        let rendezvous = may_be_unbuffered(&channel).then_some(Side::Receiver);
        let executable = Expr::CanReceive {
            channel: Box::new(channel.expr.clone()),
            args: args.clone(),
            random,
        };
        let mut checks = channel.checks.clone();
        checks.extend(self.exclusive_checks(&channel.expr, &[ChannelEnd::Receive], span));
        if peek {
            checks.extend(poll_check(&channel, span));
        }
        checks.extend(value_checks);
        let effect = Effect::Receive {
            channel: channel.expr,
            args,
            random,
            peek,
        };
        Action {
            guard,
            mistakes,
            executable,
            rendezvous,
            is_guard: true,
            ..Action::always(vec![effect], checks, text, span)
        }
    }

    fn run(
        &mut self,
        proctype: &Name,
        arguments: &[Syntax],
        priority: Option<(i32, Span)>,
        result: Option<Place>,
        text: String,
        span: Span,
    ) -> Action {
        let mut values = Vec::new();
        for argument in arguments {
            values.extend(self.message_values(argument));
        }
        if let Some((number, span)) = priority {
            self.uses_priorities = true;
            if !(1..=255).contains(&number) {
                self.error(span, "a priority is between 1 and 255");
            }
        }
        let Some(&process) = self.process_names.get(&proctype.text) else {
            let mut diagnostic = mover_source::diagnostic::Diagnostic::coded(
                "P031",
                format!("there is no proctype `{}`", proctype.text),
            )
            .at(proctype.span, "");
            let names = self.process_names.keys().map(|name| &**name);
            if let Some(near) = crate::scopes::nearest(&proctype.text, names) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            self.report(diagnostic);
            return Action::skip(text, span);
        };
        let target = &self.processes[process];
        if values.len() != target.parameters {
            let message = format!(
                "`{}` takes {} arguments, but {} are given",
                proctype.text,
                target.parameters,
                values.len()
            );
            let diagnostic = mover_source::diagnostic::Diagnostic::coded("P035", message)
                .at(span, "")
                .related(target.span, "declared here");
            self.report(diagnostic);
            return Action::skip(text, span);
        }
        let mut checks: Vec<Check> = values
            .iter()
            .flat_map(|value| value.checks.clone())
            .collect();
        let mut args: Vec<Expr> = values
            .into_iter()
            .zip(&target.locals)
            .map(|(value, parameter)| value.into_stored(parameter.ty))
            .collect();
        for (_, initial) in &target.computed {
            args.push(at_creation(
                initial,
                &args,
                &target.locals,
                &Expr::ThreadCount,
            ));
        }
        let room = Expr::binary(
            BinaryOp::ULt,
            Expr::ThreadCount,
            Expr::int(i64::from(PROCESS_LIMIT)),
        );
        checks.push(Check {
            holds: room,
            message: format!("too many processes: at most {PROCESS_LIMIT} can be alive at a time"),
            span,
        });
        let (declarations, mut effects) = self.exclusive_at_creation(process, &args);
        checks.extend(declarations);
        effects.push(Effect::Spawn {
            template: TemplateId(process as u32),
            args,
            priority: priority.map_or(1, |(number, _)| number.clamp(1, 255) as u8),
            result,
        });
        Action::always(effects, checks, text, span)
    }
}

/// What the other channels have in common: none of these is meant.
pub fn none_of(others: &[(Expr, MessageShape)]) -> Expr {
    let conditions = others.iter().map(|(is_other, _)| is_other.clone().negate());
    conditions.fold(Expr::TRUE, Expr::and)
}

pub fn arity_message(wanted: usize, given: usize) -> String {
    format!("the channel takes messages of {wanted} fields, but {given} are given")
}

/// SPIN stops where a message is searched for in a channel that keeps none.
pub fn poll_check(channel: &ChannelUse, span: Span) -> Option<Check> {
    let holds = is_buffered(channel);
    (holds != Expr::TRUE).then(|| Check {
        holds,
        message: "a channel without a buffer holds no message to poll".to_string(),
        span,
    })
}

fn may_be_unbuffered(channel: &ChannelUse) -> bool {
    channel
        .shape
        .as_ref()
        .is_none_or(|shape| shape.capacity == 0)
}

fn is_buffered(channel: &ChannelUse) -> Expr {
    match &channel.shape {
        Some(shape) => Expr::constant(i64::from(shape.capacity > 0), 1),
        None => {
            let capacity = Expr::ChannelCapacity(Box::new(channel.expr.clone()));
            Expr::binary(BinaryOp::Ne, capacity, Expr::int(0))
        }
    }
}

fn priority_check(number: &Expr, span: Span) -> Option<Check> {
    let above = fold_binary(BinaryOp::SLt, Expr::int(0), number.clone());
    let below = fold_binary(BinaryOp::SLt, number.clone(), Expr::int(256));
    let holds = above.and(below);
    (holds != Expr::TRUE).then(|| Check {
        holds,
        message: "a priority is between 1 and 255".to_string(),
        span,
    })
}

/// The escapes of C strings that `printf` formats use.
fn unescape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            result.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some(other) => result.push(other),
            None => result.push('\\'),
        }
    }
    result
}

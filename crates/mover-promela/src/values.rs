//! Expressions: from Promela's `int` to bit-vectors.
//!
//! Every operator works on C's `int`, so a variable is widened to 32 bits when
//! read and cut to its own width when stored. Truth values are kept at width 1
//! as long as their number is not used.
//!
//! What C leaves undefined or SPIN's verifier stops at is a run-time error
//! here. The expression itself yields *some* value then, and beside it come
//! [`Check`]s: conditions that must hold for the value to mean anything. They
//! honour short circuits: in `i < 3 && a[i]` the index is checked only if
//! `i < 3`.

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, INDEX_WIDTH, ReceiveArg, Ty, UnaryOp};
use mover_ir::program::SymbolSetId;
use mover_ir::simplify::{fold_binary, fold_unary};
use mover_source::Span;

use crate::actions::{arity_message, none_of, poll_check};
use crate::ast::{
    BinaryOperator, ChannelEnd, Expr as Syntax, ExprKind, Path, Probe, ReceiveArgument,
    UnaryOperator,
};
use crate::context::Context;
use crate::paths::{Cell, ChannelUse, Found};

const BOTH_ENDS: [ChannelEnd; 2] = [ChannelEnd::Receive, ChannelEnd::Send];

/// Something that must hold where an expression is evaluated.
#[derive(Clone, Debug)]
pub struct Check {
    /// Width 1.
    pub holds: Expr,
    /// What is wrong if it does not.
    pub message: String,
    pub span: Span,
}

/// A lowered expression.
#[derive(Clone, Debug)]
pub struct Value {
    /// Width 1 or 32.
    expr: Expr,
    pub checks: Vec<Check>,
    pub symbols: Option<SymbolSetId>,
}

impl Value {
    pub fn number(expr: Expr) -> Value {
        Value {
            expr,
            checks: Vec::new(),
            symbols: None,
        }
    }

    pub fn constant(number: i32) -> Value {
        Value::number(Expr::int(i64::from(number)))
    }

    pub fn with(self, checks: Vec<Check>) -> Value {
        Value { checks, ..self }
    }

    /// As a number of 32 bits.
    pub fn into_number(self) -> Expr {
        self.expr.resize(32, false)
    }

    /// As a truth value of width 1.
    pub fn into_truth(self) -> Expr {
        truth(self.expr)
    }

    /// As something to put into a cell of a type.
    pub fn into_stored(self, ty: Ty) -> Expr {
        stored(self.expr, ty)
    }
}

fn truth(expr: Expr) -> Expr {
    match expr {
        Expr::Const { value, .. } => Expr::constant(i64::from(value != 0), 1),
        _ if expr.width() == 1 => expr,
        Expr::Resize { arg, width, .. } if arg.width() <= width => truth(*arg),
        _ => {
            let zero = Expr::constant(0, expr.width());
            Expr::binary(BinaryOp::Ne, expr, zero)
        }
    }
}

/// A number cut or widened to a cell; a read of such a cell stays bare.
pub fn stored(expr: Expr, ty: Ty) -> Expr {
    match expr {
        Expr::Resize { arg, .. } if arg.width() == ty.width => *arg,
        _ => {
            let signed = expr.width() > 1;
            expr.resize(ty.width, signed)
        }
    }
}

pub fn guard_checks(checks: Vec<Check>, condition: &Expr) -> Vec<Check> {
    checks
        .into_iter()
        .map(|check| Check {
            holds: condition.clone().negate().or(check.holds),
            ..check
        })
        .collect()
}

impl Context<'_> {
    pub fn value(&mut self, syntax: &Syntax) -> Value {
        match &syntax.kind {
            ExprKind::Number(number) => Value::constant(*number),
            ExprKind::Variable(path) => self.variable(path),
            ExprKind::Unary(operator, operand) => {
                let operand = self.value(operand);
                let checks = operand.checks.clone();
                let expr = match operator {
                    UnaryOperator::Not => operand.into_truth().negate(),
                    UnaryOperator::Negate => fold_unary(UnaryOp::Neg, operand.into_number()),
                    UnaryOperator::Complement => fold_unary(UnaryOp::Not, operand.into_number()),
                };
                Value::number(expr).with(checks)
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right_value) = (self.value(left), self.value(right));
                binary(*operator, left, right_value, right.span)
            }
            ExprKind::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = self.value(condition);
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                let mut checks = condition.checks.clone();
                let condition = condition.into_truth();
                checks.extend(guard_checks(then.checks.clone(), &condition));
                checks.extend(guard_checks(
                    otherwise.checks.clone(),
                    &condition.clone().negate(),
                ));
                let symbols = then.symbols;
                let expr = Expr::If(
                    Box::new(condition),
                    Box::new(then.into_number()),
                    Box::new(otherwise.into_number()),
                );
                Value {
                    expr,
                    checks,
                    symbols,
                }
            }
            ExprKind::Run { .. } => {
                self.unsupported(
                    syntax.span,
                    "`run` within an expression or as an initial value is not supported: it must be a statement or all that an assignment assigns",
                );
                Value::constant(0)
            }
            ExprKind::Length(path) => match self.channel(path) {
                Some(mut channel) => {
                    let both = self.exclusive_checks(&channel.expr, &BOTH_ENDS, path.span);
                    channel.checks.extend(both);
                    Value::number(Expr::ChannelLen(Box::new(channel.expr))).with(channel.checks)
                }
                None => Value::constant(0),
            },
            ExprKind::Probe(probe, path) => self.probe(*probe, path),
            ExprKind::Poll {
                channel,
                random,
                arguments,
            } => self.poll(channel, *random, arguments),
            ExprKind::Timeout => Value::number(Expr::Timeout),
            ExprKind::GetPriority(process) => {
                self.uses_priorities = true;
                let process = self.value(process);
                let checks = process.checks.clone();
                let priority = Expr::ThreadPriority(Box::new(process.into_number()));
                Value::number(priority.resize(32, false)).with(checks)
            }
            ExprKind::Enabled(inner) | ExprKind::PcValue(inner) => {
                self.value(inner);
                let what = match syntax.kind {
                    ExprKind::Enabled(_) => "enabled",
                    _ => "pc_value",
                };
                self.only_in_monitors(syntax.span, what);
                Value::constant(0)
            }
            ExprKind::NonProgress => {
                self.only_in_monitors(syntax.span, "np_");
                Value::constant(0)
            }
            ExprKind::RemoteLabel {
                proctype,
                process,
                label,
            } => self.remote_label(proctype, process.as_deref(), label, syntax.span),
            ExprKind::RemoteVariable {
                proctype,
                process,
                variable,
            } => self.remote_variable(proctype, process.as_deref(), variable, syntax.span),
            ExprKind::Temporal(operator, operands) => {
                for operand in operands {
                    self.value(operand);
                }
                self.note_claim_problem(syntax.span, &format!("`{operator}` in an expression"));
                Value::constant(0)
            }
            ExprKind::Invalid => Value::constant(0),
        }
    }

    fn only_in_monitors(&mut self, span: Span, what: &str) {
        if self.in_monitor {
            self.note_claim_problem(span, &format!("`{what}`"));
        } else {
            self.unsupported(span, format!("`{what}` is not supported in a process"));
        }
    }

    fn variable(&mut self, path: &Path) -> Value {
        if let Some(value) = self.predefined(path) {
            return value;
        }
        match self.lookup(path) {
            Some(Found::Cell(cell)) => cell_value(cell),
            Some(Found::Structure(_)) => {
                self.error(path.span, "a structure cannot be used as a value");
                Value::constant(0)
            }
            None => Value::constant(0),
        }
    }

    /// Constants of an mtype and the names that SPIN provides.
    fn predefined(&mut self, path: &Path) -> Option<Value> {
        let [element] = path.elements.as_slice() else {
            return None;
        };
        let name = &element.name;
        if element.index.is_some() {
            return None;
        }
        if let Some(constant) = self.mtype(&name.text) {
            let mut value = Value::constant(constant.value);
            value.symbols = Some(constant.set);
            return Some(value);
        }
        match &*name.text {
            "_last" if self.in_monitor => Some(Value::number(Expr::ThreadId)),
            "_pid" => {
                if self.in_monitor {
                    self.note_claim_problem(name.span, "`_pid`");
                }
                Some(Value::number(Expr::ThreadId))
            }
            "_nr_pr" => Some(Value::number(Expr::ThreadCount)),
            "_priority" => {
                self.uses_priorities = true;
                let priority = Expr::ThreadPriority(Box::new(Expr::ThreadId));
                Some(Value::number(priority.resize(32, false)))
            }
            "_last" => {
                self.only_in_monitors(name.span, "_last");
                Some(Value::constant(0))
            }
            "_" => {
                self.error(name.span, "`_` can be written, but not read");
                Some(Value::constant(0))
            }
            _ => None,
        }
    }

    fn probe(&mut self, probe: Probe, path: &Path) -> Value {
        let Some(mut channel) = self.channel(path) else {
            return Value::constant(0);
        };
        let ends: &[ChannelEnd] = match probe {
            Probe::Full | Probe::Empty => &BOTH_ENDS,
            Probe::NotFull => &[ChannelEnd::Send],
            Probe::NotEmpty => &[ChannelEnd::Receive],
        };
        let owners = self.exclusive_checks(&channel.expr, ends, path.span);
        channel.checks.extend(owners);
        let truth = match probe {
            Probe::Full => has_room(&channel).negate(),
            Probe::NotFull => has_room(&channel),
            Probe::Empty => is_empty(&channel.expr),
            Probe::NotEmpty => is_empty(&channel.expr).negate(),
        };
        Value::number(truth).with(channel.checks)
    }

    fn poll(&mut self, path: &Path, random: bool, arguments: &[ReceiveArgument]) -> Value {
        let channel = self.channel(path);
        let (args, mut checks) = self.receive_arguments(arguments, false);
        let Some(channel) = channel else {
            return Value::constant(0);
        };
        // Too few fields are allowed here.
        let mut others = self.wrong_channels(&channel, args.len());
        others.retain(|(_, shape)| args.len() > shape.fields);
        let too_many = others.iter().map(|(other, shape)| {
            let matches = Expr::CanReceive {
                channel: Box::new(channel.expr.clone()),
                args: args.iter().take(shape.fields).cloned().collect(),
                random,
            };
            Check {
                holds: other.clone().and(matches).negate(),
                message: arity_message(shape.fields, args.len()),
                span: path.span,
            }
        });
        checks.extend(too_many);
        let none_other = none_of(&others);
        let owners = self.exclusive_checks(&channel.expr, &BOTH_ENDS, path.span);
        let polls = poll_check(&channel, path.span);
        let first = channel.checks.into_iter().chain(owners).chain(polls);
        checks.splice(0..0, first);
        let matches = Expr::CanReceive {
            channel: Box::new(channel.expr),
            args,
            random,
        };
        Value::number(none_other.and(matches)).with(checks)
    }

    /// The fields that a receive names. A poll stores nothing.
    pub fn receive_arguments(
        &mut self,
        arguments: &[ReceiveArgument],
        stores: bool,
    ) -> (Vec<ReceiveArg>, Vec<Check>) {
        let mut args = Vec::new();
        let mut checks = Vec::new();
        for argument in arguments {
            match argument {
                ReceiveArgument::Number(number, _) => {
                    args.push(ReceiveArg::Match(Expr::int(i64::from(*number))));
                }
                ReceiveArgument::Eval(syntax) => {
                    let value = self.value(syntax);
                    checks.extend(value.checks.clone());
                    args.push(ReceiveArg::Match(value.into_number()));
                }
                ReceiveArgument::Path(path) => {
                    let single = path.elements.len() == 1 && path.elements[0].index.is_none();
                    let first = path.elements[0].name.text.clone();
                    if single && let Some(constant) = self.mtype(&first) {
                        args.push(ReceiveArg::Match(Expr::int(i64::from(constant.value))));
                        continue;
                    }
                    if single && &*first == "_" {
                        args.push(ReceiveArg::Ignore);
                        continue;
                    }
                    if single && stores && &*first == "_pid" {
                        // The statement is an error as soon as it is executed.
                        args.push(ReceiveArg::Ignore);
                        continue;
                    }
                    if self.is_read_only(path) {
                        continue;
                    }
                    let cells = match self.lookup(path) {
                        Some(Found::Cell(cell)) => vec![cell],
                        Some(Found::Structure(cells)) => cells,
                        None => continue,
                    };
                    for cell in cells {
                        if stores {
                            checks.extend(cell.checks);
                            args.push(ReceiveArg::Store(cell.place));
                        } else {
                            args.push(ReceiveArg::Ignore);
                        }
                    }
                }
            }
        }
        (args, checks)
    }

    /// The channels with another number of fields than given that may be meant here, each with the
    /// condition that it is. Only global channels and one that is known can be told apart; for
    /// channels of processes see [`crate::channel_flow`].
    pub fn wrong_channels(&self, channel: &ChannelUse, given: usize) -> Vec<(Expr, MessageShape)> {
        if let Some(shape) = &channel.shape {
            let found = MessageShape {
                fields: shape.fields.len(),
                capacity: shape.capacity,
                span: Some(shape.span),
            };
            let is_wrong = found.fields != given;
            return Vec::from_iter(is_wrong.then_some((Expr::TRUE, found)));
        }
        let wrong =
            (self.channels.iter().enumerate()).filter(|(_, other)| other.fields.len() != given);
        wrong
            .map(|(number, other)| {
                let known = Expr::Channel(ChannelRef::Global(number as u32));
                let is_other = Expr::binary(BinaryOp::Eq, channel.expr.clone(), known);
                let shape = MessageShape {
                    fields: other.fields.len(),
                    capacity: other.capacity,
                    span: other.span,
                };
                (is_other, shape)
            })
            .collect()
    }
}

/// What a message of a channel must look like.
pub struct MessageShape {
    pub fields: usize,
    pub capacity: u32,
    /// Where the channel is declared.
    pub span: Option<Span>,
}

/// Whether a message can be put in: SPIN counts a channel without buffer as
/// one that has room.
pub fn has_room(channel: &ChannelUse) -> Expr {
    let length = Expr::ChannelLen(Box::new(channel.expr.clone()));
    match &channel.shape {
        Some(shape) if shape.capacity == 0 => Expr::TRUE,
        Some(shape) => {
            let capacity = Expr::int(i64::from(shape.capacity));
            Expr::binary(BinaryOp::ULt, length, capacity)
        }
        None => {
            let capacity = Expr::ChannelCapacity(Box::new(channel.expr.clone()));
            let unbuffered = Expr::binary(
                BinaryOp::Eq,
                capacity.clone(),
                Expr::constant(0, INDEX_WIDTH),
            );
            unbuffered.or(Expr::binary(BinaryOp::ULt, length, capacity))
        }
    }
}

fn is_empty(channel: &Expr) -> Expr {
    let length = Expr::ChannelLen(Box::new(channel.clone()));
    Expr::binary(BinaryOp::Eq, length, Expr::constant(0, INDEX_WIDTH))
}

pub fn cell_value(cell: Cell) -> Value {
    let ty = cell.place.ty;
    let read = match cell.fixed {
        Some(channel) => Expr::Channel(channel),
        None => Expr::Read(cell.place),
    };
    Value {
        symbols: cell.symbols,
        ..widened(read, ty).with(cell.checks)
    }
}

/// A cell's content as an `int`; single bits stay truth values.
pub fn widened(read: Expr, ty: Ty) -> Value {
    if ty == Ty::BOOL {
        Value::number(read)
    } else {
        Value::number(read.resize(32, ty.signed))
    }
}

fn binary(operator: BinaryOperator, left: Value, right: Value, right_span: Span) -> Value {
    use BinaryOperator as B;
    let mut checks = left.checks.clone();
    let right_checks = right.checks.clone();
    let arithmetic = |operator, left: Value, right: Value| {
        fold_binary(operator, left.into_number(), right.into_number())
    };
    let expr = match operator {
        B::And | B::Or => {
            let (left, right) = (left.into_truth(), right.into_truth());
            let evaluated = if operator == B::And {
                left.clone()
            } else {
                left.clone().negate()
            };
            checks.extend(guard_checks(right_checks, &evaluated));
            let expr = if operator == B::And {
                left.and(right)
            } else {
                left.or(right)
            };
            return Value::number(expr).with(checks);
        }
        B::Divide | B::Modulo => {
            let (left, right) = (left.into_number(), right.into_number());
            checks.extend(right_checks);
            let holds = truth(right.clone());
            let operator = if operator == B::Divide {
                BinaryOp::SDiv
            } else {
                BinaryOp::SRem
            };
            if holds != Expr::TRUE {
                checks.push(Check {
                    holds,
                    message: "division by zero".to_string(),
                    span: right_span,
                });
            }
            return Value::number(fold_binary(operator, left, right)).with(checks);
        }
        B::ShiftLeft | B::ShiftRight => {
            let (left, right) = (left.into_number(), right.into_number());
            checks.extend(right_checks);
            let holds = fold_binary(BinaryOp::ULt, right.clone(), Expr::int(32));
            if holds != Expr::TRUE {
                checks.push(Check {
                    holds,
                    message: "shift by less than 0 or more than 31 bits".to_string(),
                    span: right_span,
                });
            }
            let operator = if operator == B::ShiftLeft {
                BinaryOp::Shl
            } else {
                BinaryOp::AShr
            };
            return Value::number(fold_binary(operator, left, right)).with(checks);
        }
        B::Add => arithmetic(BinaryOp::Add, left, right),
        B::Subtract => arithmetic(BinaryOp::Sub, left, right),
        B::Multiply => arithmetic(BinaryOp::Mul, left, right),
        B::BitAnd => arithmetic(BinaryOp::And, left, right),
        B::BitXor => arithmetic(BinaryOp::Xor, left, right),
        B::BitOr => arithmetic(BinaryOp::Or, left, right),
        B::Equal => arithmetic(BinaryOp::Eq, left, right),
        B::NotEqual => arithmetic(BinaryOp::Ne, left, right),
        B::Less => arithmetic(BinaryOp::SLt, left, right),
        B::Greater => arithmetic(BinaryOp::SLt, right, left),
        B::LessEqual => arithmetic(BinaryOp::SLe, left, right),
        B::GreaterEqual => arithmetic(BinaryOp::SLe, right, left),
    };
    checks.extend(right_checks);
    Value::number(expr).with(checks)
}

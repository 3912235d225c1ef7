//! Handles, and the values that operators make of them.
//!
//! A [`Value`] is a tree that knows neither widths nor names: a number has the type of what it is
//! combined with, which is known only when the statement is complete. [`Scope::lower`] then gives
//! the expression, its type, and the conditions under which it means something (an index is inside
//! its array, a divisor is not 0); [`Scope::text`] gives the text that traces show.

use std::ops;

use super::error::FaultKind;
use crate::expr::{BinaryOp, ChannelRef, Expr, INDEX_WIDTH, Place, Ty, UnaryOp, VariableRef, mask};
use crate::program::{ChannelDecl, Property, Variable, VariableId};

/// The model that a handle belongs to, so that handles of two models are not mixed up.
pub(super) type ModelId = u32;

/// A variable of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Var {
    pub(super) model: ModelId,
    /// The thread whose local it is; none for a global.
    pub(super) thread: Option<u32>,
    pub(super) id: u32,
    pub(super) ty: Ty,
}

/// A row of cells; [`Array::at`] is one of them.
#[derive(Clone, Copy, Debug)]
pub struct Array(pub(super) Var);

impl Array {
    pub fn at(self, index: impl Into<Value>) -> Cell {
        Cell {
            variable: self.0,
            index: Some(Box::new(index.into())),
        }
    }
}

/// A place that holds a value: a variable or an element of an array.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(super) variable: Var,
    pub(super) index: Option<Box<Value>>,
}

impl From<Var> for Cell {
    fn from(variable: Var) -> Cell {
        Cell {
            variable,
            index: None,
        }
    }
}

/// A lock that one thread can hold at a time.
#[derive(Clone, Copy, Debug)]
pub struct Mutex(pub(super) Var);

/// A row of mutexes.
#[derive(Clone, Copy, Debug)]
pub struct MutexArray(pub(super) Array);

impl MutexArray {
    pub fn at(self, index: impl Into<Value>) -> Lock {
        Lock(self.0.at(index))
    }
}

/// A mutex or an element of a row of mutexes.
#[derive(Clone, Debug)]
pub struct Lock(pub(super) Cell);

impl From<Mutex> for Lock {
    fn from(mutex: Mutex) -> Lock {
        Lock(mutex.0.into())
    }
}

/// A channel of messages.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    pub(super) model: ModelId,
    pub(super) id: u32,
}

impl Channel {
    /// How many messages wait in it.
    pub fn len(self) -> Value {
        Value(Node::Len(self))
    }

    /// Whether no message waits in it.
    pub fn is_empty(self) -> Value {
        self.len().eq(0)
    }
}

/// An expression over variables and numbers. Arithmetic wraps at the width of the operands.
#[derive(Clone, Debug)]
pub struct Value(Node);

#[derive(Clone, Debug)]
enum Node {
    Number(i128),
    Truth(bool),
    Read(Cell),
    Not(Box<Value>),
    Neg(Box<Value>),
    Binary(Op, Box<Value>, Box<Value>),
    Select(Box<Value>, Box<Value>, Box<Value>),
    Cast(Box<Value>, Ty),
    Me,
    ThreadCount,
    Len(Channel),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    fn is_comparison(self) -> bool {
        matches!(self, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
    }

    /// The operator on operands of a type, and whether they change sides.
    fn on(self, ty: Ty) -> (BinaryOp, bool) {
        let by_sign = |signed, unsigned| if ty.signed { signed } else { unsigned };
        match self {
            Op::Add => (BinaryOp::Add, false),
            Op::Sub => (BinaryOp::Sub, false),
            Op::Mul => (BinaryOp::Mul, false),
            Op::Div => (by_sign(BinaryOp::SDiv, BinaryOp::UDiv), false),
            Op::Rem => (by_sign(BinaryOp::SRem, BinaryOp::URem), false),
            Op::And => (BinaryOp::And, false),
            Op::Or => (BinaryOp::Or, false),
            Op::Xor => (BinaryOp::Xor, false),
            Op::Shl => (BinaryOp::Shl, false),
            Op::Shr => (by_sign(BinaryOp::AShr, BinaryOp::LShr), false),
            Op::Eq => (BinaryOp::Eq, false),
            Op::Ne => (BinaryOp::Ne, false),
            Op::Lt => (by_sign(BinaryOp::SLt, BinaryOp::ULt), false),
            Op::Le => (by_sign(BinaryOp::SLe, BinaryOp::ULe), false),
            Op::Gt => (by_sign(BinaryOp::SLt, BinaryOp::ULt), true),
            Op::Ge => (by_sign(BinaryOp::SLe, BinaryOp::ULe), true),
        }
    }

    /// How Rust writes it, and how tightly it binds.
    fn symbol(self, on_truth: bool) -> (&'static str, u8) {
        match self {
            Op::Or if on_truth => ("||", 1),
            Op::And if on_truth => ("&&", 2),
            Op::Eq => ("==", 3),
            Op::Ne => ("!=", 3),
            Op::Lt => ("<", 3),
            Op::Le => ("<=", 3),
            Op::Gt => (">", 3),
            Op::Ge => (">=", 3),
            Op::Or => ("|", 4),
            Op::Xor => ("^", 5),
            Op::And => ("&", 6),
            Op::Shl => ("<<", 7),
            Op::Shr => (">>", 7),
            Op::Add => ("+", 8),
            Op::Sub => ("-", 8),
            Op::Mul => ("*", 9),
            Op::Div => ("/", 9),
            Op::Rem => ("%", 9),
        }
    }
}

const CAST: u8 = 10;
const UNARY: u8 = 11;
const ATOM: u8 = 12;

impl Value {
    /// The number of the thread that evaluates it; threads count from 0 as they are started.
    pub fn me() -> Value {
        Value(Node::Me)
    }

    /// How many threads there are, with those that have finished but not those that are gone.
    pub fn thread_count() -> Value {
        Value(Node::ThreadCount)
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Value {
            fn from(number: $ty) -> Value {
                Value(Node::Number(number.into()))
            }
        }
    )*};
}
numbers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value(Node::Number(number as i128))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value(Node::Truth(truth))
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Value {
        Value(Node::Read(cell))
    }
}

impl From<Var> for Value {
    fn from(variable: Var) -> Value {
        Cell::from(variable).into()
    }
}

fn binary(op: Op, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    let (left, right) = (Box::new(left.into()), Box::new(right.into()));
    Value(Node::Binary(op, left, right))
}

macro_rules! operators {
    ($on:ty: $($operator:ident $method:ident $op:ident,)*) => {$(
        impl<R: Into<Value>> ops::$operator<R> for $on {
            type Output = Value;

            fn $method(self, other: R) -> Value {
                binary(Op::$op, self, other)
            }
        }
    )*};
}

macro_rules! comparisons {
    ($($method:ident $op:ident,)*) => {$(
        pub fn $method(self, other: impl Into<Value>) -> Value {
            binary(Op::$op, self, other)
        }
    )*};
}

macro_rules! operand {
    ($on:ty) => {
        operators! {
            $on:
            Add add Add,
            Sub sub Sub,
            Mul mul Mul,
            Div div Div,
            Rem rem Rem,
            BitAnd bitand And,
            BitOr bitor Or,
            BitXor bitxor Xor,
            Shl shl Shl,
            Shr shr Shr,
        }

        impl ops::Not for $on {
            type Output = Value;

            fn not(self) -> Value {
                Value(Node::Not(Box::new(self.into())))
            }
        }

        impl ops::Neg for $on {
            type Output = Value;

            fn neg(self) -> Value {
                Value(Node::Neg(Box::new(self.into())))
            }
        }

        impl $on {
            comparisons! { eq Eq, ne Ne, lt Lt, le Le, gt Gt, ge Ge, }

            /// The number in another type: cut off, or extended as its own type says.
            pub fn cast(self, ty: Ty) -> Value {
                Value(Node::Cast(Box::new(self.into()), ty))
            }

            /// The one value if this condition holds, else the other.
            pub fn select(self, then: impl Into<Value>, otherwise: impl Into<Value>) -> Value {
                let (then, otherwise) = (Box::new(then.into()), Box::new(otherwise.into()));
                Value(Node::Select(Box::new(self.into()), then, otherwise))
            }
        }
    };
}
operand!(Var);
operand!(Cell);
operand!(Value);

/// What a receive does with one part of the message.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// It is stored.
    Store(Cell),
    /// Only messages in which it equals the value are received.
    Equals(Value),
    Any,
}

impl From<Var> for Pattern {
    fn from(variable: Var) -> Pattern {
        Pattern::Store(variable.into())
    }
}

impl From<Cell> for Pattern {
    fn from(cell: Cell) -> Pattern {
        Pattern::Store(cell)
    }
}

impl From<Value> for Pattern {
    fn from(value: Value) -> Pattern {
        Pattern::Equals(value)
    }
}

/// A condition that must hold, and what to say where it does not.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub safe: Expr,
    pub message: String,
    pub property: Property,
    /// Whether a search that keeps going after errors continues after it, as after an assertion.
    pub resumes: bool,
}

impl Check {
    pub fn new(safe: Expr, message: impl Into<String>) -> Check {
        Check {
            safe,
            message: message.into(),
            property: Property::UnreachCall,
            resumes: false,
        }
    }
}

/// A value as an expression.
pub(super) struct Lowered {
    pub expr: Expr,
    pub ty: Ty,
    /// In the order in which they are to be tried.
    pub checks: Vec<Check>,
}

impl Lowered {
    fn new(expr: Expr, ty: Ty) -> Lowered {
        let checks = Vec::new();
        Lowered { expr, ty, checks }
    }

    /// The checks of a part that is inspected only where the condition holds.
    fn add_checks_where(&mut self, condition: &Expr, checks: Vec<Check>) {
        self.checks.extend(checks.into_iter().map(|check| Check {
            safe: condition.clone().negate().or(check.safe),
            ..check
        }));
    }
}

type Outcome<T> = Result<T, FaultKind>;

/// What names mean at a place of the model.
pub(super) struct Scope<'a> {
    pub model: ModelId,
    pub thread: u32,
    pub globals: &'a [Variable],
    pub locals: &'a [Variable],
    pub channels: &'a [ChannelDecl],
}

impl Scope<'_> {
    fn variable(&self, variable: Var) -> Outcome<(&Variable, VariableRef)> {
        if variable.model != self.model {
            return Err(FaultKind::ForeignModel);
        }
        let id = VariableId(variable.id);
        match variable.thread {
            None => Ok((&self.globals[id.index()], VariableRef::Global(id))),
            Some(thread) if thread == self.thread => {
                Ok((&self.locals[id.index()], VariableRef::Local(id)))
            }
            Some(_) => Err(FaultKind::ForeignLocal),
        }
    }

    pub fn channel(&self, channel: Channel) -> Outcome<&ChannelDecl> {
        if channel.model != self.model {
            return Err(FaultKind::ForeignModel);
        }
        Ok(&self.channels[channel.id as usize])
    }

    /// The type of a value; none if it is a number that takes any.
    fn type_of(&self, value: &Value) -> Option<Ty> {
        match &value.0 {
            Node::Number(_) => None,
            Node::Truth(_) => Some(Ty::BOOL),
            Node::Read(cell) => Some(cell.variable.ty),
            Node::Not(arg) | Node::Neg(arg) => self.type_of(arg),
            Node::Binary(op, ..) if op.is_comparison() => Some(Ty::BOOL),
            Node::Binary(_, left, right) | Node::Select(_, left, right) => {
                self.type_of(left).or_else(|| self.type_of(right))
            }
            Node::Cast(_, ty) => Some(*ty),
            Node::Me | Node::ThreadCount | Node::Len(_) => Some(Ty::INT),
        }
    }

    /// A cell, with the checks of its index.
    pub fn place(&self, cell: &Cell) -> Outcome<(Place, Vec<Check>)> {
        let (variable, at) = self.variable(cell.variable)?;
        let Some(index) = &cell.index else {
            return Ok((Place::scalar(at, variable.ty), Vec::new()));
        };
        let mut index = self.lower(index, None)?;
        let (name, len) = (&variable.name, u64::from(variable.len));
        if let Some(number) = index.expr.as_const() {
            if number >= len {
                let name = name.clone();
                return Err(FaultKind::IndexOutside {
                    name,
                    index: number,
                });
            }
        } else if index.ty.signed || mask(index.ty.width) >= len {
            let width = index.ty.width.max(INDEX_WIDTH);
            let wide = index.expr.clone().resize(width, index.ty.signed);
            let safe = Expr::binary(BinaryOp::ULt, wide, Expr::constant(len as i64, width));
            let message = format!("index outside of `{name}`");
            index.checks.push(Check::new(safe, message));
        }
        let index_expr = index.expr.resize(INDEX_WIDTH, index.ty.signed);
        Ok((Place::element(at, index_expr, variable.ty), index.checks))
    }

    /// A value of the type.
    pub fn lower_as(
        &self,
        value: &Value,
        ty: Ty,
        text: impl FnOnce() -> String,
    ) -> Outcome<Lowered> {
        let lowered = self.lower(value, Some(ty))?;
        if lowered.ty != ty {
            return Err(FaultKind::TypesDiffer {
                text: text(),
                left: ty,
                right: lowered.ty,
            });
        }
        Ok(lowered)
    }

    pub fn condition(&self, value: &Value) -> Outcome<Lowered> {
        let lowered = self.lower(value, Some(Ty::BOOL))?;
        if lowered.ty != Ty::BOOL {
            let text = self.text(value);
            return Err(FaultKind::NotACondition { text });
        }
        Ok(lowered)
    }

    /// `wanted` is the type of numbers that nothing else gives a type.
    fn lower(&self, value: &Value, wanted: Option<Ty>) -> Outcome<Lowered> {
        Ok(match &value.0 {
            Node::Number(number) => {
                let ty = wanted.unwrap_or(Ty::INT);
                Lowered::new(Expr::constant(fitting(*number, ty)? as i64, ty.width), ty)
            }
            Node::Truth(truth) => {
                Lowered::new(if *truth { Expr::TRUE } else { Expr::FALSE }, Ty::BOOL)
            }
            Node::Read(cell) => {
                let (place, checks) = self.place(cell)?;
                let ty = place.ty;
                let expr = Expr::Read(place);
                Lowered { expr, ty, checks }
            }
            Node::Not(arg) => {
                let arg = self.lower(arg, wanted)?;
                let expr = if arg.ty == Ty::BOOL {
                    arg.expr.negate()
                } else {
                    Expr::unary(UnaryOp::Not, arg.expr)
                };
                Lowered { expr, ..arg }
            }
            Node::Neg(arg) => {
                let arg = self.lower(arg, wanted)?;
                let expr = Expr::unary(UnaryOp::Neg, arg.expr);
                Lowered { expr, ..arg }
            }
            Node::Binary(op, left, right) => {
                let by_context = if op.is_comparison() { None } else { wanted };
                let ty = self.type_of(left).or_else(|| self.type_of(right));
                let ty = ty.or(by_context);
                let (left, right) = (self.lower(left, ty)?, self.lower(right, ty)?);
                self.binary(value, *op, left, right)?
            }
            Node::Select(condition, then, otherwise) => {
                let mut condition = self.condition(condition)?;
                let ty = self.type_of(then).or_else(|| self.type_of(otherwise));
                let ty = ty.or(wanted);
                let (then, otherwise) = (self.lower(then, ty)?, self.lower(otherwise, ty)?);
                self.same_types(value, &then, &otherwise)?;
                let holds = condition.expr.clone();
                condition.add_checks_where(&holds, then.checks);
                condition.add_checks_where(&holds.negate(), otherwise.checks);
                let parts = (Box::new(then.expr), Box::new(otherwise.expr));
                Lowered {
                    expr: Expr::If(Box::new(condition.expr), parts.0, parts.1),
                    ty: then.ty,
                    checks: condition.checks,
                }
            }
            Node::Cast(arg, ty) => {
                let arg = self.lower(arg, None)?;
                Lowered {
                    expr: arg.expr.resize(ty.width, arg.ty.signed),
                    ty: *ty,
                    checks: arg.checks,
                }
            }
            Node::Me => Lowered::new(Expr::ThreadId, Ty::INT),
            Node::ThreadCount => Lowered::new(Expr::ThreadCount, Ty::INT),
            Node::Len(channel) => {
                self.channel(*channel)?;
                Lowered::new(Expr::ChannelLen(Box::new(reference(*channel))), Ty::INT)
            }
        })
    }

    fn same_types(&self, value: &Value, left: &Lowered, right: &Lowered) -> Outcome<()> {
        if left.ty == right.ty {
            return Ok(());
        }
        Err(FaultKind::TypesDiffer {
            text: self.text(value),
            left: left.ty,
            right: right.ty,
        })
    }

    fn binary(&self, value: &Value, op: Op, left: Lowered, right: Lowered) -> Outcome<Lowered> {
        self.same_types(value, &left, &right)?;
        let ty = left.ty;
        let mut result = Lowered {
            expr: Expr::FALSE,
            ty: if op.is_comparison() { Ty::BOOL } else { ty },
            checks: left.checks,
        };
        // As Rust's `&&` and `||`, the right one is inspected only where it matters.
        match op {
            Op::And if ty == Ty::BOOL => {
                result.add_checks_where(&left.expr, right.checks);
                result.expr = left.expr.and(right.expr);
                return Ok(result);
            }
            Op::Or if ty == Ty::BOOL => {
                result.add_checks_where(&left.expr.clone().negate(), right.checks);
                result.expr = left.expr.or(right.expr);
                return Ok(result);
            }
            _ => result.checks.extend(right.checks),
        }
        if matches!(op, Op::Div | Op::Rem) && right.expr.as_const().is_none_or(|by| by == 0) {
            let zero = Expr::constant(0, ty.width);
            let safe = Expr::binary(BinaryOp::Ne, right.expr.clone(), zero);
            result.checks.push(Check::new(safe, "division by zero"));
        }
        let (operator, changes_sides) = op.on(ty);
        result.expr = if changes_sides {
            Expr::binary(operator, right.expr, left.expr)
        } else {
            Expr::binary(operator, left.expr, right.expr)
        };
        Ok(result)
    }

    pub fn text(&self, value: &Value) -> String {
        self.text_within(value, 0)
    }

    pub fn cell_text(&self, cell: &Cell) -> String {
        let name = match self.variable(cell.variable) {
            Ok((variable, _)) => &variable.name,
            Err(_) => "?",
        };
        match &cell.index {
            None => name.to_string(),
            Some(index) => format!("{name}[{}]", self.text(index)),
        }
    }

    /// In parentheses if it binds less tightly than what it is in.
    fn text_within(&self, value: &Value, outer: u8) -> String {
        let (text, binding) = match &value.0 {
            Node::Number(number) => (number.to_string(), if *number < 0 { UNARY } else { ATOM }),
            Node::Truth(truth) => (truth.to_string(), ATOM),
            Node::Read(cell) => (self.cell_text(cell), ATOM),
            Node::Not(arg) => (format!("!{}", self.text_within(arg, UNARY)), UNARY),
            Node::Neg(arg) => (format!("-{}", self.text_within(arg, UNARY)), UNARY),
            Node::Binary(op, left, right) => {
                let is_truth = [left, right]
                    .map(|side| self.type_of(side))
                    .contains(&Some(Ty::BOOL));
                let (symbol, binding) = op.symbol(is_truth);
                let left_needs = if op.is_comparison() {
                    binding + 1
                } else {
                    binding
                };
                let left = self.text_within(left, left_needs);
                let right = self.text_within(right, binding + 1);
                (format!("{left} {symbol} {right}"), binding)
            }
            Node::Select(condition, then, otherwise) => {
                let [condition, then, otherwise] =
                    [condition, then, otherwise].map(|part| self.text(part));
                let text = format!("if {condition} {{ {then} }} else {{ {otherwise} }}");
                (text, 0)
            }
            Node::Cast(arg, ty) => {
                let arg = self.text_within(arg, CAST);
                let text = format!("{arg} as {}", super::error::type_name(*ty));
                (text, CAST)
            }
            Node::Me => ("me".into(), ATOM),
            Node::ThreadCount => ("threads".into(), ATOM),
            Node::Len(channel) => {
                let name = self.channel(*channel).map_or("?", |decl| &decl.name);
                (format!("len({name})"), ATOM)
            }
        };
        if binding < outer {
            format!("({text})")
        } else {
            text
        }
    }
}

/// A reference to a channel.
pub(super) fn reference(channel: Channel) -> Expr {
    Expr::Channel(ChannelRef::Global(channel.id))
}

/// A number as a cell of the type holds it.
pub(super) fn fitting(number: i128, ty: Ty) -> Outcome<u64> {
    let bits = u32::from(ty.width.clamp(1, 64));
    let fits = if ty.signed {
        (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&number)
    } else {
        (0..1i128 << bits).contains(&number)
    };
    if !fits {
        return Err(FaultKind::DoesNotFit { number, ty });
    }
    Ok(number as u64 & mask(ty.width))
}

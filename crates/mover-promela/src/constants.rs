//! Values that are known statically.
//!
//! There are two kinds: the constant expressions of the grammar (lengths of arrays,
//! capacities), folded from the syntax tree, and initial values, which may refer to variables
//! that have initial values themselves.

use mover_ir::eval::ValueSets;
use mover_ir::expr::{Expr, Place, VariableRef, mask};
use mover_ir::program::{Init, Variable};

use crate::ast::{BinaryOperator, Expr as Syntax, ExprKind, UnaryOperator};

/// A constant expression as SPIN's grammar has it: numbers, signs, `+ - * / %`.
/// Names are given by `name`.
pub fn fold(expression: &Syntax, name: &impl Fn(&str) -> Option<i32>) -> Option<i32> {
    match &expression.kind {
        ExprKind::Number(number) => Some(*number),
        ExprKind::Variable(path) => match path.elements.as_slice() {
            [element] if element.index.is_none() => name(&element.name.text),
            _ => None,
        },
        ExprKind::Unary(UnaryOperator::Negate, operand) => fold(operand, name)?.checked_neg(),
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (fold(left, name)?, fold(right, name)?);
            match operator {
                BinaryOperator::Add => left.checked_add(right),
                BinaryOperator::Subtract => left.checked_sub(right),
                BinaryOperator::Multiply => left.checked_mul(right),
                BinaryOperator::Divide => left.checked_div(right),
                BinaryOperator::Modulo => left.checked_rem(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What an initial value may look at.
pub struct InitialState<'a> {
    pub globals: &'a [Variable],
    pub locals: &'a [Variable],
    /// The number of the process whose variables are initialised.
    pub thread: Option<u32>,
}

/// The value of an expression in the initial state; `None` if it depends on
/// anything but constants and initialised variables.
pub fn evaluate(expression: &Expr, state: &InitialState<'_>) -> Option<u64> {
    let single = ValueSets { most: 1 };
    let values = single.eval(expression, |part| match part {
        Expr::Read(place) => Some(vec![read(place, state)?]),
        Expr::ThreadId => Some(vec![state.thread?.into()]),
        _ => None,
    });
    Some(values?[0])
}

fn read(place: &Place, state: &InitialState<'_>) -> Option<u64> {
    let index = evaluate(&place.index, state)?;
    let variable = match place.variable {
        VariableRef::Global(id) => state.globals.get(id.index())?,
        VariableRef::Local(id) => state.locals.get(id.index())?,
    };
    if index >= u64::from(variable.len) {
        return None;
    }
    match &variable.init {
        Init::All(value) => Some(*value & mask(place.ty.width)),
        Init::Cells(values) => values.get(usize::try_from(index).ok()?).copied(),
        Init::Channels(_) => None,
    }
}

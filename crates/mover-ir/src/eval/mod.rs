//! One evaluator of expressions, for any domain of values.
//!
//! A *domain* is a set of values with the operators of expressions on them: numbers, sets of
//! numbers, ranges, bits of which some are known, terms of a solver, code of a small machine, or
//! expressions themselves. An *abstract* domain is one whose values stand for sets of numbers; it is
//! sound if an operator's result stands for every number that the concrete operator yields on
//! numbers that its operands stand for (Cousot and Cousot 1977).
//!
//! [`eval`] goes down an expression and applies the domain's operators. What an expression reads
//! from the state (cells, threads, channels, memory) is not the domain's matter: it is given by a
//! function, since the same domain serves callers who know different things about the state. Where
//! the domain knows the truth of a condition only the chosen branch is evaluated.
//!
//! The operators on numbers are defined once, by `apply` of [`UnaryOp`] and [`BinaryOp`] and by
//! [`resize`]; all domains fall back on them where values are known.

mod known_bits;
mod range;
mod value_set;

pub use known_bits::{KnownBits, KnownBitsDomain};
pub use range::{Range, Ranges};
pub use value_set::{ValueSet, ValueSets};

use crate::expr::{BinaryOp, Expr, UnaryOp, resize};

/// A kind of values that expressions can be evaluated to.
pub trait Domain {
    type Value;

    fn constant(&mut self, value: u64, width: u8) -> Self::Value;

    fn unary(&mut self, op: UnaryOp, arg: Self::Value, width: u8) -> Self::Value;

    /// `width` is that of the operands; a comparison yields width 1.
    fn binary(
        &mut self,
        op: BinaryOp,
        lhs: Self::Value,
        rhs: Self::Value,
        width: u8,
    ) -> Self::Value;

    fn resize(&mut self, arg: Self::Value, from: u8, to: u8, signed: bool) -> Self::Value;

    /// Whether a condition holds, if that is known.
    fn truth(&self, condition: &Self::Value) -> Option<bool>;

    /// One of two values, by a condition whose truth is not known.
    fn choose(
        &mut self,
        condition: Self::Value,
        then: Self::Value,
        otherwise: Self::Value,
    ) -> Self::Value;
}

/// The value of an expression. `read` gives that of an expression that reads the state.
pub fn eval<D: Domain>(
    domain: &mut D,
    expr: &Expr,
    read: &mut impl FnMut(&mut D, &Expr) -> D::Value,
) -> D::Value {
    match eval_top(domain, expr, &mut |domain, part| eval(domain, part, read)) {
        Some(value) => value,
        None => read(domain, expr),
    }
}

/// The value of an expression whose parts are evaluated by `part`; none if the expression reads
/// the state.
pub fn eval_top<D: Domain>(
    domain: &mut D,
    expr: &Expr,
    part: &mut impl FnMut(&mut D, &Expr) -> D::Value,
) -> Option<D::Value> {
    Some(match expr {
        Expr::Const { value, width } => domain.constant(*value, *width),
        Expr::Unary(op, arg) => {
            let value = part(domain, arg);
            domain.unary(*op, value, arg.width())
        }
        Expr::Binary(op, lhs, rhs) => {
            let (left, right) = (part(domain, lhs), part(domain, rhs));
            domain.binary(*op, left, right, lhs.width())
        }
        Expr::If(condition, then, otherwise) => {
            let condition = part(domain, condition);
            match domain.truth(&condition) {
                Some(true) => part(domain, then),
                Some(false) => part(domain, otherwise),
                None => {
                    let (then, otherwise) = (part(domain, then), part(domain, otherwise));
                    domain.choose(condition, then, otherwise)
                }
            }
        }
        Expr::Resize { arg, width, signed } => {
            let value = part(domain, arg);
            domain.resize(value, arg.width(), *width, *signed)
        }
        _ => return None,
    })
}

/// Numbers: the domain of the concrete semantics.
pub struct Concrete;

impl Domain for Concrete {
    type Value = u64;

    fn constant(&mut self, value: u64, _: u8) -> u64 {
        value
    }

    fn unary(&mut self, op: UnaryOp, arg: u64, width: u8) -> u64 {
        op.apply(arg, width)
    }

    fn binary(&mut self, op: BinaryOp, lhs: u64, rhs: u64, width: u8) -> u64 {
        op.apply(lhs, rhs, width)
    }

    fn resize(&mut self, arg: u64, from: u8, to: u8, signed: bool) -> u64 {
        resize(arg, from, to, signed)
    }

    fn truth(&self, condition: &u64) -> Option<bool> {
        Some(*condition != 0)
    }

    fn choose(&mut self, condition: u64, then: u64, otherwise: u64) -> u64 {
        if condition != 0 { then } else { otherwise }
    }
}

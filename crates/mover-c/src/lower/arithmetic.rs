//! The results of instructions, and when they are defined.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::Property;

use super::Check;
use super::path::Part;
use crate::expr_builder::{binary, choose, constant, equal, not, resize};
use crate::ssa::*;

pub(super) fn operator(kind: BinaryKind) -> BinaryOp {
    match kind {
        BinaryKind::Add => BinaryOp::Add,
        BinaryKind::Sub => BinaryOp::Sub,
        BinaryKind::Mul => BinaryOp::Mul,
        BinaryKind::UDiv => BinaryOp::UDiv,
        BinaryKind::SDiv => BinaryOp::SDiv,
        BinaryKind::URem => BinaryOp::URem,
        BinaryKind::SRem => BinaryOp::SRem,
        BinaryKind::And => BinaryOp::And,
        BinaryKind::Or => BinaryOp::Or,
        BinaryKind::Xor => BinaryOp::Xor,
        BinaryKind::Shl => BinaryOp::Shl,
        BinaryKind::LShr => BinaryOp::LShr,
        BinaryKind::AShr => BinaryOp::AShr,
    }
}

pub fn compare(predicate: Predicate, lhs: Expr, rhs: Expr) -> Expr {
    match predicate {
        Predicate::Eq => binary(BinaryOp::Eq, lhs, rhs),
        Predicate::Ne => binary(BinaryOp::Ne, lhs, rhs),
        Predicate::Ult => binary(BinaryOp::ULt, lhs, rhs),
        Predicate::Ule => binary(BinaryOp::ULe, lhs, rhs),
        Predicate::Ugt => binary(BinaryOp::ULt, rhs, lhs),
        Predicate::Uge => binary(BinaryOp::ULe, rhs, lhs),
        Predicate::Slt => binary(BinaryOp::SLt, lhs, rhs),
        Predicate::Sle => binary(BinaryOp::SLe, lhs, rhs),
        Predicate::Sgt => binary(BinaryOp::SLt, rhs, lhs),
        Predicate::Sge => binary(BinaryOp::SLe, rhs, lhs),
    }
}

/// What is known of a computation that may leave its type.
#[derive(Clone, Copy)]
pub(super) struct Overflow {
    /// Whether that is to be found.
    pub is_asked_for: bool,
    /// Whether it must not happen.
    pub nsw: bool,
}

impl Overflow {
    fn is_wrong(self) -> bool {
        self.is_asked_for && self.nsw
    }
}

/// That a number has an absolute value of its type.
pub(super) fn has_absolute_value(arg: &Part) -> Check {
    let width = arg.now.width();
    Check {
        holds: arg.map(|arg| binary(BinaryOp::Ne, arg, constant(1 << (width - 1), width))),
        property: Property::NoOverflow,
        message: "signed overflow".into(),
    }
}

/// That a number has a first and a last bit that is set.
pub(super) fn has_set_bit(arg: &Part) -> Check {
    let width = arg.now.width();
    Check {
        holds: arg.map(|arg| binary(BinaryOp::Ne, arg, constant(0, width))),
        property: Property::UnreachCall,
        message: "the leading or trailing zeros of 0 are counted (undefined behaviour)".into(),
    }
}

/// What must hold of the operands.
pub(super) fn checks_of(
    kind: BinaryKind,
    overflow: Overflow,
    lhs: &Part,
    rhs: &Part,
    out: &mut Vec<Check>,
) {
    let width = lhs.now.width();
    let least = 1u64 << (width - 1);
    match kind {
        BinaryKind::UDiv | BinaryKind::SDiv | BinaryKind::URem | BinaryKind::SRem => {
            out.push(Check {
                holds: rhs.map(|rhs| binary(BinaryOp::Ne, rhs, constant(0, width))),
                property: Property::UnreachCall,
                message: "division by zero".into(),
            });
            if matches!(kind, BinaryKind::SDiv | BinaryKind::SRem) {
                let holds = Part::combine(&[lhs, rhs], |args| {
                    let least = equal(args[0].clone(), constant(least, width));
                    let minus_one = equal(args[1].clone(), constant(u64::MAX, width));
                    not(least.and(minus_one))
                });
                // It ends the program on most machines, so it counts in either case.
                out.push(Check {
                    holds,
                    property: if overflow.is_asked_for {
                        Property::NoOverflow
                    } else {
                        Property::UnreachCall
                    },
                    message: "the smallest number is divided by -1".into(),
                });
            }
        }
        BinaryKind::Shl | BinaryKind::LShr | BinaryKind::AShr => out.push(Check {
            holds: rhs.map(|rhs| binary(BinaryOp::ULt, rhs, constant(width.into(), width))),
            property: Property::UnreachCall,
            message: "shift by the width of the type or more".into(),
        }),
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul if overflow.is_wrong() => {
            out.push(Check {
                holds: Part::combine(&[lhs, rhs], |args| {
                    not(overflows(kind, true, args[0].clone(), args[1].clone()))
                }),
                property: Property::NoOverflow,
                message: "signed overflow".into(),
            })
        }
        _ => {}
    }
}

/// Whether a sum, difference or product does not fit the type.
pub(super) fn overflows(kind: BinaryKind, signed: bool, lhs: Expr, rhs: Expr) -> Expr {
    use BinaryOp::*;
    let width = lhs.width();
    let zero = || constant(0, width);
    let negative = |expr: Expr| binary(SLt, expr, zero());
    let result = binary(operator(kind), lhs.clone(), rhs.clone());
    match (kind, signed) {
        (BinaryKind::Add, true) => {
            let a = binary(Xor, lhs, result.clone());
            let b = binary(Xor, rhs, result);
            negative(binary(And, a, b))
        }
        (BinaryKind::Sub, true) => {
            let a = binary(Xor, lhs.clone(), rhs);
            let b = binary(Xor, lhs, result);
            negative(binary(And, a, b))
        }
        (BinaryKind::Add, false) => binary(ULt, result, lhs),
        (BinaryKind::Sub, false) => binary(ULt, lhs, rhs),
        // Twice the width holds any product.
        (_, signed) if width <= 32 => {
            let wide = |expr: Expr| resize(expr, 64, signed);
            let exact = binary(Mul, wide(lhs), wide(rhs));
            binary(Ne, exact, wide(result))
        }
        (_, true) => {
            let back = binary(SDiv, result, lhs.clone());
            let minus_one = equal(lhs.clone(), constant(u64::MAX, width));
            let least = equal(rhs.clone(), constant(1 << (width - 1), width));
            let wrong = binary(Ne, back, rhs).or(minus_one.and(least));
            binary(Ne, lhs, zero()).and(wrong)
        }
        (_, false) => {
            let back = binary(UDiv, result, lhs.clone());
            binary(Ne, lhs, zero()).and(binary(Ne, back, rhs))
        }
    }
}

pub(super) fn modified(kind: RmwKind, old: Expr, value: Expr) -> Expr {
    let pick = |predicate: Predicate, old: Expr, value: Expr| {
        let keeps = compare(predicate, old.clone(), value.clone());
        choose(keeps, old, value)
    };
    match kind {
        RmwKind::Exchange => value,
        RmwKind::Add => binary(BinaryOp::Add, old, value),
        RmwKind::Sub => binary(BinaryOp::Sub, old, value),
        RmwKind::And => binary(BinaryOp::And, old, value),
        RmwKind::Nand => not(binary(BinaryOp::And, old, value)),
        RmwKind::Or => binary(BinaryOp::Or, old, value),
        RmwKind::Xor => binary(BinaryOp::Xor, old, value),
        RmwKind::Max => pick(Predicate::Sgt, old, value),
        RmwKind::Min => pick(Predicate::Sle, old, value),
        RmwKind::UMax => pick(Predicate::Ugt, old, value),
        RmwKind::UMin => pick(Predicate::Ule, old, value),
    }
}

pub(super) fn bits(kind: BitsKind, arg: &Expr) -> Expr {
    let width = arg.width();
    let bit = |at: u8| {
        let moved = binary(BinaryOp::LShr, arg.clone(), constant(at.into(), width));
        binary(BinaryOp::And, moved, constant(1, width))
    };
    let is_set = |at: u8| binary(BinaryOp::Ne, bit(at), constant(0, width));
    match kind {
        BitsKind::Population => (0..width)
            .map(bit)
            .reduce(|a, b| binary(BinaryOp::Add, a, b))
            .unwrap_or_else(|| constant(0, width)),
        BitsKind::TrailingZeros => (0..width)
            .rev()
            .fold(constant(width.into(), width), |rest, at| {
                choose(is_set(at), constant(at.into(), width), rest)
            }),
        BitsKind::LeadingZeros => (0..width).fold(constant(width.into(), width), |rest, at| {
            choose(is_set(at), constant((width - 1 - at).into(), width), rest)
        }),
        BitsKind::ByteSwap => (0..width / 8)
            .map(|byte| {
                let from = constant((8 * byte).into(), width);
                let to = constant((width - 8 - 8 * byte).into(), width);
                let low = binary(
                    BinaryOp::And,
                    binary(BinaryOp::LShr, arg.clone(), from),
                    constant(255, width),
                );
                binary(BinaryOp::Shl, low, to)
            })
            .reduce(|a, b| binary(BinaryOp::Or, a, b))
            .unwrap_or_else(|| arg.clone()),
    }
}

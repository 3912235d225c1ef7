//! Construction of normalised expressions.
//!
//! LLVM makes every conversion explicit; during translation into the IR most of them cancel.
//! The rules are those of [`mover_ir::simplify`]; here they have the short names that lowering
//! uses.

use mover_ir::expr::{BinaryOp, Expr, UnaryOp, mask};
use mover_ir::simplify::fold_unary;
pub use mover_ir::simplify::{choose, normal_binary as binary, normal_resize as resize};

pub fn constant(value: u64, width: u8) -> Expr {
    Expr::Const {
        value: value & mask(width),
        width,
    }
}

pub fn not(arg: Expr) -> Expr {
    fold_unary(UnaryOp::Not, arg)
}

pub fn neg(arg: Expr) -> Expr {
    fold_unary(UnaryOp::Neg, arg)
}

pub fn equal(lhs: Expr, rhs: Expr) -> Expr {
    binary(BinaryOp::Eq, lhs, rhs)
}

/// How many nodes an expression has.
pub fn size(expr: &Expr) -> usize {
    let mut nodes = 0;
    expr.walk(&mut |_| nodes += 1);
    nodes
}

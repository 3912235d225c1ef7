//! Conjunctions as lists of literals.
//!
//! Guards are usually conjunctions. Two parts of mover decompose them: explicit search shares
//! the tests of a location's edges, and the reductions derive what a guard implies (that a lock
//! is free, that an index is within bounds). Both work on this form.

use crate::expr::{BinaryOp, Expr, UnaryOp};

/// A condition or its negation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    pub condition: Expr,
    pub holds: bool,
}

/// The literals of a truth value; their conjunction is equivalent to it.
pub fn conjunction(expr: &Expr) -> Vec<Literal> {
    let mut literals = Vec::new();
    flatten(expr, true, &mut literals);
    literals
}

/// Appends the literals of a truth value or of its negation. A negated
/// disjunction is a conjunction too, and an inequality a negated equality.
pub fn flatten(expr: &Expr, holds: bool, literals: &mut Vec<Literal>) {
    match (expr, holds) {
        (Expr::Unary(UnaryOp::Not, arg), _) if arg.width() == 1 => flatten(arg, !holds, literals),
        (Expr::Binary(BinaryOp::And, lhs, rhs), true)
        | (Expr::Binary(BinaryOp::Or, lhs, rhs), false)
            if lhs.width() == 1 =>
        {
            flatten(lhs, holds, literals);
            flatten(rhs, holds, literals);
        }
        (Expr::Binary(BinaryOp::Ne, lhs, rhs), _) => literals.push(Literal {
            condition: Expr::Binary(BinaryOp::Eq, lhs.clone(), rhs.clone()),
            holds: !holds,
        }),
        _ => literals.push(Literal {
            condition: expr.clone(),
            holds,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(value: i64) -> Expr {
        Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(value))
    }

    #[test]
    fn conjunctions_come_apart() {
        let expr = is(1).and(is(2).or(is(3).negate()).negate());
        let literals = conjunction(&expr);
        let held: Vec<bool> = literals.iter().map(|literal| literal.holds).collect();
        assert_eq!(held, [true, false, true]);
        assert_eq!(literals[2].condition, is(3));
    }
}

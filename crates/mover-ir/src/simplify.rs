//! The one simplifier of expressions.
//!
//! Every rule here holds for all values of what it leaves open, so a simplified expression yields
//! the same value in every state. It may read less of the state. There are two strengths:
//!
//! - *folding* computes constants and drops neutral, absorbing and equal operands. What remains has
//!   the shape it was given, so it still reads like the source. [`fold_unary`], [`fold_binary`],
//!   [`choose`], and [`Expr::and`], [`Expr::or`], [`Expr::negate`], [`Expr::resize`].
//! - *normalising* ([`normal_binary`], [`normal_resize`]) folds and also brings sums, comparisons
//!   and changes of width into one form. LLVM spells out every conversion; on the way into the IR
//!   most of them cancel.
//!
//! Folding a whole expression is evaluating it in the domain of expressions ([`Folding`]).
//! [`assuming`] folds a truth value under literals that are known to hold.

use crate::eval::{Domain, eval_top};
use crate::expr::{BinaryOp, Expr, UnaryOp, mask, resize};
use crate::literal::Literal;

fn constant(value: u64, width: u8) -> Expr {
    Expr::Const {
        value: value & mask(width),
        width,
    }
}

fn truth(value: bool) -> Expr {
    if value { Expr::TRUE } else { Expr::FALSE }
}

impl Expr {
    /// Conjunction of truth values.
    pub fn and(self, other: Expr) -> Expr {
        fold_binary(BinaryOp::And, self, other)
    }

    /// Disjunction of truth values.
    pub fn or(self, other: Expr) -> Expr {
        fold_binary(BinaryOp::Or, self, other)
    }

    /// Negation of a truth value.
    pub fn negate(self) -> Expr {
        fold_unary(UnaryOp::Not, self)
    }

    /// Changes the width; the expression itself if it has that width already.
    pub fn resize(self, width: u8, signed: bool) -> Expr {
        let from = self.width();
        match self {
            _ if from == width => self,
            Expr::Const { value, .. } => constant(resize(value, from, width, signed), width),
            _ => Expr::Resize {
                arg: Box::new(self),
                width,
                signed,
            },
        }
    }
}

pub fn fold_unary(op: UnaryOp, arg: Expr) -> Expr {
    match arg {
        Expr::Const { value, width } => constant(op.apply(value, width), width),
        Expr::Unary(inner, arg) if inner == op => *arg,
        Expr::Binary(BinaryOp::Eq, a, b) if op == UnaryOp::Not => Expr::Binary(BinaryOp::Ne, a, b),
        Expr::Binary(BinaryOp::Ne, a, b) if op == UnaryOp::Not => Expr::Binary(BinaryOp::Eq, a, b),
        other => Expr::unary(op, other),
    }
}

pub fn fold_binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
    use BinaryOp::*;
    let width = lhs.width();
    let all = mask(width);
    let result = if op.is_comparison() { 1 } else { width };
    match (op, lhs.as_const(), rhs.as_const()) {
        (_, Some(a), Some(b)) => constant(op.apply(a, b, width), result),
        (Add | Or | Xor, Some(0), _) | (Mul, Some(1), _) => rhs,
        (Add | Sub | Or | Xor | Shl | LShr | AShr, _, Some(0)) => lhs,
        (Mul | UDiv, _, Some(1)) => lhs,
        // At width 1 the constant is -1.
        (SDiv, _, Some(1)) if width > 1 => lhs,
        (Mul | And, Some(0), _) => lhs,
        (Mul | And, _, Some(0)) => rhs,
        (And, Some(ones), _) | (Or, _, Some(ones)) if ones == all => rhs,
        (Or, Some(ones), _) | (And, _, Some(ones)) if ones == all => lhs,
        (ULt, _, Some(0)) => Expr::FALSE,
        (Eq | ULe | SLe, ..) if lhs == rhs => Expr::TRUE,
        (Ne | ULt | SLt, ..) if lhs == rhs => Expr::FALSE,
        (Sub | Xor, ..) if lhs == rhs => constant(0, width),
        (And | Or, ..) if lhs == rhs => lhs,
        _ => Expr::binary(op, lhs, rhs),
    }
}

pub fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.as_const() {
        Some(0) => otherwise,
        Some(_) => then,
        None if then == otherwise => then,
        None if then == Expr::TRUE => condition.or(otherwise),
        None if otherwise == Expr::FALSE => condition.and(then),
        None => Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

/// The domain of expressions: operators build what they stand for, folded.
pub struct Folding;

impl Domain for Folding {
    type Value = Expr;

    fn constant(&mut self, value: u64, width: u8) -> Expr {
        constant(value, width)
    }

    fn unary(&mut self, op: UnaryOp, arg: Expr, _: u8) -> Expr {
        fold_unary(op, arg)
    }

    fn binary(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, _: u8) -> Expr {
        fold_binary(op, lhs, rhs)
    }

    fn resize(&mut self, arg: Expr, _: u8, to: u8, signed: bool) -> Expr {
        arg.resize(to, signed)
    }

    fn truth(&self, condition: &Expr) -> Option<bool> {
        condition.as_const().map(|value| value != 0)
    }

    fn choose(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        choose(condition, then, otherwise)
    }
}

/// The expression with each of its parts changed by `part`, folded.
pub fn fold_parts(expr: &Expr, part: &mut impl FnMut(&Expr) -> Expr) -> Expr {
    let folded = eval_top(&mut Folding, expr, &mut |_, expr| part(expr));
    folded.unwrap_or_else(|| {
        let mut copy = expr.clone();
        copy.parts_mut(&mut |below| *below = part(below));
        copy
    })
}

/// A truth value where the literals are known to hold, folded; other expressions as they are.
pub fn assuming(expr: &Expr, known: &[Literal]) -> Expr {
    if expr.width() != 1 {
        return expr.clone();
    }
    let holds = |condition: &Expr| {
        let literal = known.iter().find(|known| known.condition == *condition)?;
        Some(literal.holds)
    };
    if let Some(value) = holds(expr) {
        return truth(value);
    }
    if let Expr::Binary(BinaryOp::Ne, lhs, rhs) = expr
        && let Some(equal) = holds(&Expr::Binary(BinaryOp::Eq, lhs.clone(), rhs.clone()))
    {
        return truth(!equal);
    }
    fold_parts(expr, &mut |part| assuming(part, known))
}

pub fn normal_binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
    use BinaryOp::*;
    let (op, lhs, rhs) = match fold_binary(op, lhs, rhs) {
        Expr::Binary(op, lhs, rhs) => (op, *lhs, *rhs),
        folded => return folded,
    };
    let width = lhs.width();
    // Constants of sums and equations are on the right.
    if matches!(op, Add | Eq | Ne) && lhs.as_const().is_some() {
        return normal_binary(op, rhs, lhs);
    }
    let Some(value) = rhs.as_const() else {
        return Expr::binary(op, lhs, rhs);
    };
    // Constants that are added come together.
    if let (Add | Eq | Ne, Expr::Binary(Add, base, added)) = (op, &lhs)
        && let Some(added) = added.as_const()
    {
        let value = if op == Add {
            value.wrapping_add(added)
        } else {
            value.wrapping_sub(added)
        };
        return normal_binary(op, (**base).clone(), constant(value, width));
    }
    match (op, lhs) {
        (Sub, lhs) => normal_binary(Add, lhs, constant(value.wrapping_neg(), width)),
        (Eq | Ne, lhs) if width == 1 => {
            if (op == Eq) == (value == 1) {
                lhs
            } else {
                lhs.negate()
            }
        }
        (Xor, lhs) if width == 1 => lhs.negate(),
        // A widened value against a constant: compare what was widened.
        (Eq | Ne, Expr::Resize { arg, signed, .. }) if arg.width() < width => {
            let narrow = arg.width();
            if resize(value & mask(narrow), narrow, width, signed) == value {
                normal_binary(op, *arg, constant(value, narrow))
            } else {
                truth(op == Ne)
            }
        }
        (Eq | Ne, Expr::If(condition, then, otherwise))
            if then.as_const().is_some() && otherwise.as_const().is_some() =>
        {
            let holds = |side: &Expr| (side.as_const() == Some(value)) == (op == Eq);
            match (holds(&then), holds(&otherwise)) {
                (true, false) => *condition,
                (false, true) => condition.negate(),
                (both, _) => truth(both),
            }
        }
        (op, lhs) => Expr::binary(op, lhs, rhs),
    }
}

pub fn normal_resize(arg: Expr, width: u8, signed: bool) -> Expr {
    let from = arg.width();
    match arg {
        // The low bits of something widened or cut are its own low bits, or those of the same
        // widening to fewer bits. Widened twice, zeros stay zeros, and a sign is spread further.
        Expr::Resize {
            arg: inner,
            signed: inner_signed,
            ..
        } if width < from || width > from && inner.width() < from && (!inner_signed || signed) => {
            normal_resize(*inner, width, inner_signed)
        }
        arg => arg.resize(width, signed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Concrete, KnownBits, KnownBitsDomain, Range, Ranges, ValueSets, eval};
    use crate::expr::{Place, Ty, VariableRef};
    use crate::literal::conjunction;
    use crate::program::VariableId;
    use proptest::prelude::*;

    const VARIABLES: usize = 3;

    fn variable(number: usize, width: u8) -> Expr {
        let variable = VariableRef::Local(VariableId(number as u32));
        Expr::Read(Place::scalar(variable, Ty::unsigned(width)))
    }

    fn number(expr: &Expr) -> usize {
        match expr {
            Expr::Read(place) => match place.variable {
                VariableRef::Local(id) | VariableRef::Global(id) => id.index(),
            },
            other => panic!("{other:?} reads no variable"),
        }
    }

    fn value(expr: &Expr, values: [u64; VARIABLES]) -> u64 {
        eval(&mut Concrete, expr, &mut |_, read| {
            values[number(read)] & mask(read.width())
        })
    }

    const WIDTHS: [u8; 7] = [1, 2, 7, 8, 16, 32, 64];

    fn number_near_edges() -> impl Strategy<Value = u64> {
        prop_oneof![
            0u64..4,
            any::<u64>(),
            (0u64..4).prop_map(u64::wrapping_neg),
            (0u32..64).prop_map(|bit| 1 << bit),
        ]
    }

    /// An expression of this width, made plainly. Small constants and few variables make operands
    /// meet that are equal or special.
    fn expr(width: u8, depth: u32) -> BoxedStrategy<Expr> {
        let leaf = prop_oneof![
            (0..VARIABLES).prop_map(move |number| variable(number, width)),
            number_near_edges().prop_map(move |value| constant(value, width)),
        ];
        if depth == 0 {
            return leaf.boxed();
        }
        let below = move |width| expr(width, depth - 1);
        let widths = proptest::sample::select(&WIDTHS[..]);
        let operators = {
            use BinaryOp::*;
            proptest::sample::select(vec![
                Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr,
            ])
        };
        let operation =
            (operators, below(width), below(width)).prop_map(|(op, a, b)| Expr::binary(op, a, b));
        let choice = (below(1), below(width), below(width))
            .prop_map(|(c, a, b)| Expr::If(Box::new(c), Box::new(a), Box::new(b)));
        let resized = (widths.clone().prop_flat_map(below), any::<bool>())
            .prop_map(move |(arg, signed)| arg.resize(width, signed));
        let negated = (any::<bool>(), below(width))
            .prop_map(|(not, arg)| Expr::unary(if not { UnaryOp::Not } else { UnaryOp::Neg }, arg));
        let compared = {
            use BinaryOp::*;
            let operators = proptest::sample::select(vec![Eq, Ne, ULt, ULe, SLt, SLe]);
            let operands = widths.prop_flat_map(move |of| (below(of), below(of)));
            (operators, operands)
                .prop_map(move |(op, (a, b))| Expr::binary(op, a, b).resize(width, false))
        };
        prop_oneof![
            leaf,
            operation.clone(),
            operation,
            choice,
            resized,
            negated,
            compared
        ]
        .boxed()
    }

    fn any_expr() -> impl Strategy<Value = Expr> {
        proptest::sample::select(&WIDTHS[..]).prop_flat_map(|width| expr(width, 4))
    }

    fn folded(expr: &Expr) -> Expr {
        fold_parts(expr, &mut folded)
    }

    fn normal(expr: &Expr) -> Expr {
        match expr {
            Expr::Binary(op, a, b) => normal_binary(*op, normal(a), normal(b)),
            Expr::Resize { arg, width, signed } => normal_resize(normal(arg), *width, *signed),
            other => fold_parts(other, &mut normal),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn simplified_expressions_mean_the_same(
            plain in any_expr(),
            values in proptest::array::uniform3(number_near_edges()),
        ) {
            for simplified in [folded(&plain), normal(&plain)] {
                prop_assert_eq!(simplified.width(), plain.width());
                prop_assert_eq!(value(&simplified, values), value(&plain, values), "{:?}", simplified);
            }
        }

        #[test]
        fn assumptions_that_hold_change_nothing(
            plain in expr(1, 3),
            assumption in expr(1, 2),
            values in proptest::array::uniform3(number_near_edges()),
        ) {
            let assumption = if value(&assumption, values) == 1 { assumption } else { assumption.negate() };
            let both = plain.clone().and(assumption.clone());
            for expr in [plain, both] {
                let simplified = assuming(&expr, &conjunction(&assumption));
                prop_assert_eq!(value(&simplified, values), value(&expr, values), "{:?}", simplified);
            }
        }

        /// What abstract domains say of an expression holds for the values that they were told of.
        #[test]
        fn abstract_values_contain_the_concrete_ones(
            plain in any_expr(),
            values in proptest::array::uniform3(number_near_edges()),
            unknown in proptest::array::uniform3(number_near_edges()),
            others in proptest::array::uniform3(number_near_edges()),
        ) {
            let exact = value(&plain, values);
            let at = |read: &Expr| (number(read), mask(read.width()));
            let bits = eval(&mut KnownBitsDomain, &plain, &mut |_, read| {
                let (number, mask) = at(read);
                KnownBits::new(unknown[number] & mask, values[number] & mask)
            });
            prop_assert_eq!(exact & !bits.unknown(), bits.value());
            let range = eval(&mut Ranges, &plain, &mut |_, read| {
                let (number, mask) = at(read);
                Range::exactly(values[number] & mask).join(Range::exactly(others[number] & mask))
            });
            prop_assert!(range.least <= exact && exact <= range.most);
            prop_assert!(range.most <= mask(plain.width()));
            for most in [1, 4] {
                let domain = ValueSets { most };
                let set = domain.eval(&plain, |read| {
                    let (number, mask) = at(read);
                    if others[number] == 0 {
                        return None;
                    }
                    domain.collect([values[number] & mask, others[number] & mask])
                });
                prop_assert!(set.is_none_or(|set| set.contains(&exact) && set.len() <= most));
            }
        }
    }

    #[test]
    fn what_is_known_disappears() {
        let is = |value| Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(value));
        let known = conjunction(&is(1).and(is(2).negate()));
        assert_eq!(assuming(&is(1), &known), Expr::TRUE);
        assert_eq!(assuming(&is(2).negate(), &known), Expr::TRUE);
        assert_eq!(assuming(&is(2).or(is(7)), &known), is(7));
        assert_eq!(assuming(&is(1).and(is(2)), &known), Expr::FALSE);
    }

    #[test]
    fn conversions_and_constants_cancel() {
        let x = || variable(0, 8);
        let wide = normal_resize(normal_resize(x(), 32, true), 64, true);
        assert_eq!(wide, x().resize(64, true));
        let sum = normal_binary(BinaryOp::Sub, wide, constant(3, 64));
        let minus_one = constant(u64::MAX, 64);
        let is = normal_binary(BinaryOp::Eq, minus_one, sum);
        assert_eq!(is, Expr::binary(BinaryOp::Eq, x(), constant(2, 8)));
        assert_eq!(normal_binary(BinaryOp::SLe, x(), x()), Expr::TRUE);
    }
}

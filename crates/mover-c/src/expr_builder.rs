//! Expressions, simplified as they are made.
//!
//! LLVM spells out every conversion; on the way into the IR most of them cancel.
//! Only rewriting that is right for every value is done here.

use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, mask, resize as resize_value};

pub fn constant(value: u64, width: u8) -> Expr {
    Expr::Const {
        value: value & mask(width),
        width,
    }
}

pub fn binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
    use BinaryOp::*;
    let width = lhs.width();
    if let (Some(a), Some(b)) = (lhs.as_const(), rhs.as_const()) {
        let value = op.apply(a, b, width);
        return constant(value, if op.is_comparison() { 1 } else { width });
    }
    let all = mask(width);
    match (op, lhs.as_const(), rhs.as_const()) {
        (Add | Or | Xor, Some(0), _) => return rhs,
        (Add | Sub | Or | Xor | Shl | LShr | AShr, _, Some(0)) => return lhs,
        (Mul, Some(1), _) => return rhs,
        (Mul | UDiv | SDiv, _, Some(1)) if width > 1 => return lhs,
        (Mul | And, _, Some(0)) | (Mul | And, Some(0), _) => return constant(0, width),
        (And, Some(mask), _) if mask == all => return rhs,
        (And, _, Some(mask)) if mask == all => return lhs,
        (ULt, _, Some(0)) => return Expr::FALSE,
        _ => {}
    }
    // Sums keep their constant on the right.
    if op == Add && lhs.as_const().is_some() {
        return binary(Add, rhs, lhs);
    }
    if op == Sub
        && let Some(b) = rhs.as_const()
    {
        return binary(Add, lhs, constant(b.wrapping_neg(), width));
    }
    if let (Add, Expr::Binary(Add, a, b), Some(c)) = (op, &lhs, rhs.as_const())
        && let Some(b) = b.as_const()
    {
        return binary(Add, (**a).clone(), constant(b.wrapping_add(c), width));
    }
    if width == 1 {
        match (op, &lhs, rhs.as_const()) {
            (Eq, _, Some(1)) | (Ne, _, Some(0)) => return lhs,
            (Eq, _, Some(0)) | (Ne, _, Some(1)) | (Xor, _, Some(1)) => return not(lhs),
            (And, ..) => return lhs.and(rhs),
            (Or, ..) => return lhs.or(rhs),
            _ => {}
        }
    }
    if matches!(op, Eq | Ne) {
        if lhs == rhs {
            return constant(u64::from(op == Eq), 1);
        }
        if let Some(value) = rhs.as_const() {
            match &lhs {
                // A widened value against a constant: compare what was widened.
                Expr::Resize { arg, signed, .. } if arg.width() < width => {
                    let narrow = arg.width();
                    let back = resize_value(value & mask(narrow), narrow, width, *signed);
                    return if back == value {
                        binary(op, (**arg).clone(), constant(value, narrow))
                    } else {
                        constant(u64::from(op == Ne), 1)
                    };
                }
                // x + c == k.
                Expr::Binary(Add, a, c) => {
                    if let Some(c) = c.as_const() {
                        let value = value.wrapping_sub(c);
                        return binary(op, (**a).clone(), constant(value, width));
                    }
                }
                Expr::If(condition, then, otherwise)
                    if then.as_const().is_some() && otherwise.as_const().is_some() =>
                {
                    let holds = |side: &Expr| (side.as_const() == Some(value)) == (op == Eq);
                    return match (holds(then), holds(otherwise)) {
                        (true, true) => Expr::TRUE,
                        (false, false) => Expr::FALSE,
                        (true, false) => (**condition).clone(),
                        (false, true) => not((**condition).clone()),
                    };
                }
                _ => {}
            }
        } else if lhs.as_const().is_some() {
            return binary(op, rhs, lhs);
        }
    }
    Expr::binary(op, lhs, rhs)
}

pub fn not(arg: Expr) -> Expr {
    if arg.width() == 1 {
        return arg.negate();
    }
    match arg.as_const() {
        Some(value) => constant(!value, arg.width()),
        None => Expr::unary(UnaryOp::Not, arg),
    }
}

pub fn neg(arg: Expr) -> Expr {
    match arg.as_const() {
        Some(value) => constant(value.wrapping_neg(), arg.width()),
        None => Expr::unary(UnaryOp::Neg, arg),
    }
}

pub fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.as_const() {
        Some(0) => otherwise,
        Some(_) => then,
        None if then == otherwise => then,
        None if then.width() == 1 && then.as_const() == Some(1) => condition.or(otherwise),
        None if then.width() == 1 && otherwise.as_const() == Some(0) => condition.and(then),
        None => Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

pub fn resize(arg: Expr, width: u8, signed: bool) -> Expr {
    let from = arg.width();
    if from == width {
        return arg;
    }
    if let Expr::Resize {
        arg: inner,
        signed: inner_signed,
        ..
    } = &arg
    {
        let first = inner.width();
        // The low bits of something widened or cut are its own low bits, or those
        // of the same widening to fewer bits.
        if width < from {
            return resize((**inner).clone(), width, *inner_signed);
        }
        // Widened twice: zeros stay zeros, and a sign is spread further.
        if first < from && (!*inner_signed || signed) {
            return resize((**inner).clone(), width, *inner_signed);
        }
    }
    arg.resize(width, signed)
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

/// The expression with every part replaced that `replace` knows better, from the
/// leaves up.
pub fn rewrite(expr: &Expr, replace: &mut impl FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(other) = replace(expr) {
        return other;
    }
    let mut below = |arg: &Expr| Box::new(rewrite(arg, replace));
    match expr {
        Expr::Read(place) => Expr::Read(Place {
            index: below(&place.index),
            ..place.clone()
        }),
        Expr::Unary(op, arg) => Expr::Unary(*op, below(arg)),
        Expr::Binary(op, lhs, rhs) => {
            let lhs = below(lhs);
            Expr::Binary(*op, lhs, below(rhs))
        }
        Expr::If(condition, then, otherwise) => {
            let condition = below(condition);
            let then = below(then);
            Expr::If(condition, then, below(otherwise))
        }
        Expr::Resize { arg, width, signed } => Expr::Resize {
            arg: below(arg),
            width: *width,
            signed: *signed,
        },
        Expr::Load { address, ty } => Expr::Load {
            address: below(address),
            ty: *ty,
        },
        Expr::ObjectSize(arg) => Expr::ObjectSize(below(arg)),
        Expr::ObjectSite { address, sites } => Expr::ObjectSite {
            address: below(address),
            sites: sites.clone(),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_ir::expr::{Ty, VariableRef};
    use mover_ir::program::VariableId;

    fn variable(number: u32, width: u8) -> Expr {
        let variable = VariableRef::Local(VariableId(number));
        Expr::Read(Place::scalar(variable, Ty::unsigned(width)))
    }

    /// The value of an expression over two variables.
    fn eval(expr: &Expr, values: [u64; 2]) -> u64 {
        match expr {
            Expr::Const { value, .. } => *value,
            Expr::Read(place) => match place.variable {
                VariableRef::Local(id) => values[id.index()] & mask(place.ty.width),
                VariableRef::Global(_) => 0,
            },
            Expr::Unary(op, arg) => op.apply(eval(arg, values), arg.width()),
            Expr::Binary(op, lhs, rhs) => {
                op.apply(eval(lhs, values), eval(rhs, values), lhs.width())
            }
            Expr::If(c, a, b) => eval(if eval(c, values) != 0 { a } else { b }, values),
            Expr::Resize { arg, width, signed } => {
                resize_value(eval(arg, values), arg.width(), *width, *signed)
            }
            _ => 0,
        }
    }

    /// Small generator of numbers.
    struct Random(u64);

    impl Random {
        fn next(&mut self, below: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % below
        }

        fn width(&mut self) -> u8 {
            [1, 8, 16, 32, 64][self.next(5) as usize]
        }

        /// The same random expression, made plainly and made with simplification.
        fn expr(&mut self, width: u8, depth: u32) -> (Expr, Expr) {
            use BinaryOp::*;
            if depth == 0 || self.next(4) == 0 {
                let leaf = match self.next(3) {
                    0 => variable(self.next(2) as u32, width),
                    1 => constant(self.next(3), width),
                    _ => constant(self.next(u64::MAX), width),
                };
                return (leaf.clone(), leaf);
            }
            match self.next(5) {
                0 => {
                    let from = self.width();
                    let signed = self.next(2) == 0;
                    let (plain, made) = self.expr(from, depth - 1);
                    (plain.resize(width, signed), resize(made, width, signed))
                }
                1 => {
                    let (c, c2) = self.expr(1, depth - 1);
                    let (a, a2) = self.expr(width, depth - 1);
                    let (b, b2) = self.expr(width, depth - 1);
                    let plain = Expr::If(Box::new(c), Box::new(a), Box::new(b));
                    (plain, choose(c2, a2, b2))
                }
                2 if width == 1 => {
                    let of = self.width();
                    let op = [Eq, Ne, ULt, ULe, SLt, SLe][self.next(6) as usize];
                    let (a, a2) = self.expr(of, depth - 1);
                    let (b, b2) = self.expr(of, depth - 1);
                    (Expr::binary(op, a, b), binary(op, a2, b2))
                }
                3 => {
                    let (a, a2) = self.expr(width, depth - 1);
                    (Expr::unary(UnaryOp::Not, a), not(a2))
                }
                _ => {
                    let ops = [
                        Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr,
                    ];
                    let op = ops[self.next(13) as usize];
                    let (a, a2) = self.expr(width, depth - 1);
                    let (b, b2) = self.expr(width, depth - 1);
                    (Expr::binary(op, a, b), binary(op, a2, b2))
                }
            }
        }
    }

    #[test]
    fn simplified_expressions_mean_the_same() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for round in 0..40_000 {
            let width = random.width();
            let (plain, made) = random.expr(width, 4);
            assert_eq!(plain.width(), made.width());
            for _ in 0..4 {
                let values = [random.next(u64::MAX), random.next(4)];
                assert_eq!(
                    eval(&plain, values),
                    eval(&made, values),
                    "round {round}: {plain:?} became {made:?} for {values:?}"
                );
            }
        }
    }
}

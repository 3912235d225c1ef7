//! The abstract domain of small sets of numbers.

use super::{Domain, eval};
use crate::expr::{BinaryOp, Expr, UnaryOp, resize};

/// The numbers that a value may be, in order; `None` if it may be any.
pub type ValueSet = Option<Vec<u64>>;

/// The domain of sets of at most `most` numbers; what has more may be any number. A truth value of
/// which nothing is known is the set of both.
#[derive(Clone, Copy)]
pub struct ValueSets {
    pub most: usize,
}

impl ValueSets {
    /// The numbers that an expression may yield; `read` says which an expression that reads the
    /// state may yield.
    pub fn eval(mut self, expr: &Expr, mut read: impl FnMut(&Expr) -> ValueSet) -> ValueSet {
        eval(&mut self, expr, &mut |domain, expr| {
            read(expr).or_else(|| domain.unknown(expr.width()))
        })
    }

    fn unknown(self, width: u8) -> ValueSet {
        (width == 1 && self.most > 1).then(|| vec![0, 1])
    }

    /// The set of these numbers; any number if there are too many.
    pub fn collect(self, values: impl IntoIterator<Item = u64>) -> ValueSet {
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        (values.len() <= self.most).then_some(values)
    }

    pub fn join(self, a: &ValueSet, b: &ValueSet) -> ValueSet {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        self.collect(a.iter().chain(b).copied())
    }
}

impl Domain for ValueSets {
    type Value = ValueSet;

    fn constant(&mut self, value: u64, _: u8) -> ValueSet {
        Some(vec![value])
    }

    fn unary(&mut self, op: UnaryOp, arg: ValueSet, width: u8) -> ValueSet {
        self.collect(arg?.into_iter().map(|value| op.apply(value, width)))
    }

    fn binary(&mut self, op: BinaryOp, lhs: ValueSet, rhs: ValueSet, width: u8) -> ValueSet {
        let is_zero = |set: &ValueSet| set.as_deref() == Some(&[0]);
        if op == BinaryOp::And && (is_zero(&lhs) || is_zero(&rhs)) {
            return Some(vec![0]);
        }
        let result = if op.is_comparison() { 1 } else { width };
        let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
            return self.unknown(result);
        };
        let pairs = lhs.iter().flat_map(|&a| rhs.iter().map(move |&b| (a, b)));
        self.collect(pairs.map(|(a, b)| op.apply(a, b, width)))
    }

    fn resize(&mut self, arg: ValueSet, from: u8, to: u8, signed: bool) -> ValueSet {
        match arg {
            Some(values) => self.collect(
                values
                    .into_iter()
                    .map(|value| resize(value, from, to, signed)),
            ),
            None => self.unknown(to),
        }
    }

    fn truth(&self, condition: &ValueSet) -> Option<bool> {
        match condition.as_deref()? {
            [value] => Some(*value != 0),
            _ => None,
        }
    }

    fn choose(&mut self, _: ValueSet, then: ValueSet, otherwise: ValueSet) -> ValueSet {
        self.join(&then, &otherwise)
    }
}

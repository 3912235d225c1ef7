//! The abstract domain of ranges of unsigned numbers.

use super::Domain;
use crate::expr::{BinaryOp, UnaryOp, mask, resize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub least: u64,
    pub most: u64,
}

impl Range {
    pub fn exactly(value: u64) -> Range {
        Range {
            least: value,
            most: value,
        }
    }

    /// A number of this width that is at most so large.
    pub fn up_to(most: u64, width: u8) -> Range {
        Range {
            least: 0,
            most: most.min(mask(width)),
        }
    }

    /// Any number of this width.
    pub fn all(width: u8) -> Range {
        Range::up_to(u64::MAX, width)
    }

    pub fn join(self, other: Range) -> Range {
        Range {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn value(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }
}

/// The domain of ranges. Sums and products may wrap, so nothing is said of them unless the
/// operands are known; masks, remainders and changes of width are what bounds a value in practice.
pub struct Ranges;

impl Domain for Ranges {
    type Value = Range;

    fn constant(&mut self, value: u64, _: u8) -> Range {
        Range::exactly(value)
    }

    fn unary(&mut self, op: UnaryOp, arg: Range, width: u8) -> Range {
        match arg.value() {
            Some(value) => Range::exactly(op.apply(value, width)),
            None => Range::all(width),
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: Range, rhs: Range, width: u8) -> Range {
        if let (Some(a), Some(b)) = (lhs.value(), rhs.value()) {
            return Range::exactly(op.apply(a, b, width));
        }
        match op {
            BinaryOp::And => Range::up_to(lhs.most.min(rhs.most), width),
            BinaryOp::URem if rhs.least > 0 => Range::up_to(lhs.most.min(rhs.most - 1), width),
            _ if op.is_comparison() => Range::all(1),
            _ => Range::all(width),
        }
    }

    fn resize(&mut self, arg: Range, from: u8, to: u8, signed: bool) -> Range {
        let may_be_negative = signed && to > from && arg.most > mask(from) / 2;
        match arg.value() {
            Some(value) => Range::exactly(resize(value, from, to, signed)),
            None if may_be_negative || arg.most > mask(to) => Range::all(to),
            None => arg,
        }
    }

    fn truth(&self, condition: &Range) -> Option<bool> {
        condition.value().map(|value| value != 0)
    }

    fn choose(&mut self, _: Range, then: Range, otherwise: Range) -> Range {
        then.join(otherwise)
    }
}

//! The abstract domain of values with some known bits.

use super::Domain;
use crate::expr::{BinaryOp, UnaryOp, mask, sign_extend};

/// A bit-vector of which some bits are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownBits {
    unknown: u64,
    /// The known bits that are 1.
    value: u64,
}

impl KnownBits {
    /// The bits that are not in `unknown` are those of `value`.
    pub fn new(unknown: u64, value: u64) -> KnownBits {
        KnownBits {
            unknown,
            value: value & !unknown,
        }
    }

    pub fn nothing(width: u8) -> KnownBits {
        KnownBits::new(mask(width), 0)
    }

    pub fn exactly(value: u64) -> KnownBits {
        KnownBits::new(0, value)
    }

    pub fn has(self, bit: u8) -> bool {
        self.unknown >> bit & 1 == 0
    }

    pub fn unknown(self) -> u64 {
        self.unknown
    }

    pub fn value(self) -> u64 {
        self.value
    }

    pub fn truncated(self, width: u8) -> KnownBits {
        KnownBits::new(self.unknown & mask(width), self.value & mask(width))
    }

    /// What is known if both are true.
    pub fn meet(self, other: KnownBits) -> KnownBits {
        KnownBits {
            unknown: self.unknown & other.unknown,
            value: self.value | other.value,
        }
    }

    /// What both have in common.
    pub fn join(self, other: KnownBits) -> KnownBits {
        let unknown = self.unknown | other.unknown | (self.value ^ other.value);
        KnownBits::new(unknown, self.value)
    }

    fn complement(self, width: u8) -> KnownBits {
        KnownBits::new(self.unknown, !self.value & mask(width))
    }

    fn as_value(self) -> Option<u64> {
        (self.unknown == 0).then_some(self.value)
    }

    fn most(self) -> u64 {
        self.value | self.unknown
    }

    fn bit(self, bit: u64) -> Option<bool> {
        (self.unknown & bit == 0).then_some(self.value & bit != 0)
    }

    /// Bit by bit, with a carry that may be unknown.
    fn sum(self, other: KnownBits, mut carry: Option<bool>, width: u8) -> KnownBits {
        let mut result = KnownBits::exactly(0);
        for place in 0..width {
            let bit = 1u64 << place;
            let bits = [self.bit(bit), other.bit(bit), carry];
            let ones = bits.iter().filter(|b| **b == Some(true)).count();
            let zeros = bits.iter().filter(|b| **b == Some(false)).count();
            if ones + zeros < 3 {
                result.unknown |= bit;
            } else if ones % 2 == 1 {
                result.value |= bit;
            }
            carry = match (ones, zeros) {
                (2.., _) => Some(true),
                (_, 2..) => Some(false),
                _ => None,
            };
        }
        result
    }

    /// Whether the first is less than the second, as unsigned numbers.
    fn less(self, other: KnownBits) -> Option<bool> {
        if self.most() < other.value {
            Some(true)
        } else if self.value >= other.most() {
            Some(false)
        } else {
            None
        }
    }

    fn equal(self, other: KnownBits) -> Option<bool> {
        let unknown = self.unknown | other.unknown;
        if (self.value ^ other.value) & !unknown != 0 {
            Some(false)
        } else {
            (unknown == 0).then_some(true)
        }
    }
}

/// The domain of bit-vectors of which some bits are known.
pub struct KnownBitsDomain;

impl Domain for KnownBitsDomain {
    type Value = KnownBits;

    fn constant(&mut self, value: u64, _: u8) -> KnownBits {
        KnownBits::exactly(value)
    }

    fn unary(&mut self, op: UnaryOp, arg: KnownBits, width: u8) -> KnownBits {
        let complement = arg.complement(width);
        match op {
            UnaryOp::Not => complement,
            UnaryOp::Neg => KnownBits::exactly(0).sum(complement, Some(true), width),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: KnownBits, b: KnownBits, width: u8) -> KnownBits {
        use BinaryOp::*;
        if let (Some(a), Some(b)) = (a.as_value(), b.as_value()) {
            return KnownBits::exactly(op.apply(a, b, width));
        }
        let truth = |known: Option<bool>| match known {
            Some(value) => KnownBits::exactly(value.into()),
            None => KnownBits::nothing(1),
        };
        let shift = b.as_value().filter(|&by| by < u64::from(width));
        match op {
            And => KnownBits::new(
                a.most() & b.most() & !(a.value & b.value),
                a.value & b.value,
            ),
            Or => {
                let ones = a.value | b.value;
                KnownBits::new((a.unknown | b.unknown) & !ones, ones)
            }
            Xor => KnownBits::new(a.unknown | b.unknown, a.value ^ b.value),
            Add => a.sum(b, Some(false), width),
            Sub => a.sum(b.complement(width), Some(true), width),
            Shl => match shift {
                Some(by) => KnownBits::new(a.unknown << by, a.value << by).truncated(width),
                None => KnownBits::nothing(width),
            },
            LShr => match shift {
                Some(by) => KnownBits::new(a.unknown >> by, a.value >> by),
                None => KnownBits::nothing(width),
            },
            Eq => truth(a.equal(b)),
            Ne => truth(a.equal(b).map(|equal| !equal)),
            ULt => truth(a.less(b)),
            ULe => truth(b.less(a).map(|greater| !greater)),
            SLt | SLe => KnownBits::nothing(1),
            Mul | UDiv | SDiv | URem | SRem | AShr => KnownBits::nothing(width),
        }
    }

    /// The sign, known or not, becomes all the bits above it.
    fn resize(&mut self, arg: KnownBits, from: u8, to: u8, signed: bool) -> KnownBits {
        let wide = |bits: u64| {
            if signed {
                sign_extend(bits, from) as u64
            } else {
                bits
            }
        };
        KnownBits::new(wide(arg.unknown), wide(arg.value)).truncated(to)
    }

    fn truth(&self, condition: &KnownBits) -> Option<bool> {
        condition.as_value().map(|value| value != 0)
    }

    fn choose(&mut self, _: KnownBits, then: KnownBits, otherwise: KnownBits) -> KnownBits {
        then.join(otherwise)
    }
}

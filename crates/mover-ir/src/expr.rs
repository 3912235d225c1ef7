//! Expressions: bit-vectors with a width and no undefined results.
//!
//! Every expression has a width of 1 to 64 bits and yields a value for every
//! state. Truth is the bit-vector 1 of width 1. Values are kept as `u64` with
//! all bits above the width zero; signedness belongs to the operator, as in
//! SMT-LIB, not to the value. Where a source language has undefined results
//! (division by zero, an index out of bounds) the front end puts an edge to an
//! error location beside the edge that computes; the expression itself is total
//! and follows SMT-LIB, so that the concrete semantics and a bit-blaster agree
//! bit for bit:
//!
//! - `x / 0` is all ones (unsigned) or `x < 0 ? 1 : -1` (signed), `x % 0` is `x`;
//! - the smallest signed number divided by -1 is itself;
//! - a shift by the width or more gives 0, or the sign for `AShr`;
//! - a read outside of a variable gives 0, and so does a load of which a byte is
//!   outside of a live object.
//!
//! Addresses are bit-vectors like all others (see
//! [`PointerLayout`](crate::program::PointerLayout)), so pointer arithmetic and
//! comparison need no operators of their own.

use crate::program::{LocationId, SiteId, TemplateId, VariableId};

/// The type of a scalar cell: how many bits, and how a front end widens it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ty {
    pub width: u8,
    pub signed: bool,
}

impl Ty {
    pub const BOOL: Ty = Ty::unsigned(1);
    pub const BYTE: Ty = Ty::unsigned(8);
    pub const SHORT: Ty = Ty::signed(16);
    pub const INT: Ty = Ty::signed(32);
    /// A reference to a channel; 0 refers to none.
    pub const CHANNEL: Ty = Ty::unsigned(16);

    pub const fn unsigned(width: u8) -> Ty {
        Ty {
            width,
            signed: false,
        }
    }

    pub const fn signed(width: u8) -> Ty {
        Ty {
            width,
            signed: true,
        }
    }

    /// A stored value as the number it stands for.
    pub fn number(self, value: u64) -> i64 {
        if self.signed {
            sign_extend(value, self.width)
        } else {
            value as i64
        }
    }
}

/// The width of thread numbers, counts and channel lengths.
pub const INDEX_WIDTH: u8 = 32;

pub fn mask(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1u64 << width) - 1
    }
}

pub fn sign_extend(value: u64, width: u8) -> i64 {
    let unused = 64 - u32::from(width);
    ((value << unused) as i64) >> unused
}

/// A change of width: truncates, or extends with the sign or with zeros.
pub fn resize(value: u64, from: u8, to: u8, signed: bool) -> u64 {
    let wide = if signed {
        sign_extend(value, from) as u64
    } else {
        value
    };
    wide & mask(to)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UnaryOp {
    /// Bitwise complement; logical negation at width 1.
    Not,
    /// Two's complement.
    Neg,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    Eq,
    Ne,
    ULt,
    ULe,
    SLt,
    SLe,
}

impl BinaryOp {
    /// Comparisons yield width 1, all others the width of their operands.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | ULt | ULe | SLt | SLe)
    }

    pub fn apply(self, a: u64, b: u64, width: u8) -> u64 {
        use BinaryOp::*;
        let signed = |value| sign_extend(value, width);
        let result = match self {
            Add => a.wrapping_add(b),
            Sub => a.wrapping_sub(b),
            Mul => a.wrapping_mul(b),
            UDiv => a.checked_div(b).unwrap_or(u64::MAX),
            URem => a.checked_rem(b).unwrap_or(a),
            SDiv if b == 0 => {
                if signed(a) < 0 {
                    1
                } else {
                    u64::MAX
                }
            }
            SDiv => signed(a).wrapping_div(signed(b)) as u64,
            SRem if b == 0 => a,
            SRem => signed(a).wrapping_rem(signed(b)) as u64,
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Shl if b >= u64::from(width) => 0,
            Shl => a << b,
            LShr if b >= u64::from(width) => 0,
            LShr => a >> b,
            AShr => (signed(a) >> b.min(63)) as u64,
            Eq => u64::from(a == b),
            Ne => u64::from(a != b),
            ULt => u64::from(a < b),
            ULe => u64::from(a <= b),
            SLt => u64::from(signed(a) < signed(b)),
            SLe => u64::from(signed(a) <= signed(b)),
        };
        if self.is_comparison() {
            result
        } else {
            result & mask(width)
        }
    }
}

impl UnaryOp {
    pub fn apply(self, a: u64, width: u8) -> u64 {
        let result = match self {
            UnaryOp::Not => !a,
            UnaryOp::Neg => a.wrapping_neg(),
        };
        result & mask(width)
    }
}

/// Which memory a variable lives in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableRef {
    Global(VariableId),
    /// A variable of the executing thread.
    Local(VariableId),
}

/// A cell of memory: a variable and the number of the cell in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    pub variable: VariableRef,
    pub index: Box<Expr>,
    /// The cell's type, repeated here so that an expression knows its width
    /// without the program; the validator checks that it is true.
    pub ty: Ty,
}

impl Place {
    pub fn scalar(variable: VariableRef, ty: Ty) -> Place {
        Place::element(variable, Expr::int(0), ty)
    }

    pub fn element(variable: VariableRef, index: Expr, ty: Ty) -> Place {
        Place {
            variable,
            index: Box::new(index),
            ty,
        }
    }
}

/// Where a channel comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ChannelRef {
    /// The n-th channel of the program.
    Global(u32),
    /// The n-th channel that was created with the executing thread.
    Local(u32),
}

/// What a receive does with one field of the message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReceiveArg {
    /// The field, widened by its own type, must equal the value, widened with
    /// its sign.
    Match(Expr),
    /// The field is stored, resized by its own type.
    Store(Place),
    Ignore,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Expr {
    Const {
        value: u64,
        width: u8,
    },
    Read(Place),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Condition (width 1), value if it holds, value if not.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Resize {
        arg: Box<Expr>,
        width: u8,
        signed: bool,
    },
    /// The number of the executing thread; width [`INDEX_WIDTH`].
    ThreadId,
    /// How many threads are alive; width [`INDEX_WIDTH`].
    ThreadCount,
    /// Whether a thread is alive, runs the template and stands at one of the locations.
    ThreadAt {
        thread: Box<Expr>,
        template: TemplateId,
        locations: Vec<LocationId>,
    },
    /// A local variable of another thread; 0 if that thread is not alive or
    /// runs another template.
    RemoteRead {
        thread: Box<Expr>,
        template: TemplateId,
        variable: VariableId,
        index: Box<Expr>,
        ty: Ty,
    },
    /// The scheduling priority of a thread; width 8; 0 if it is not alive.
    ThreadPriority(Box<Expr>),
    /// A reference to a channel; width of [`Ty::CHANNEL`].
    Channel(ChannelRef),
    /// Whether a reference refers to a channel that exists.
    ChannelExists(Box<Expr>),
    /// Messages in the channel; 0 if there is none such; width [`INDEX_WIDTH`].
    ChannelLen(Box<Expr>),
    /// Messages that fit; 0 if there is none such; width [`INDEX_WIDTH`].
    ChannelCapacity(Box<Expr>),
    /// Whether a receive of this form finds a message in the channel's buffer.
    CanReceive {
        channel: Box<Expr>,
        args: Vec<ReceiveArg>,
        /// Look at all messages, not only at the oldest.
        random: bool,
    },
    /// No thread can move while this is false.
    Timeout,
    /// The address of an addressable global variable; `width` is that of pointers.
    Address {
        variable: VariableId,
        width: u8,
    },
    /// The bytes at an address, little-endian; 8, 16, 32 or 64 bits. 0 if one of the
    /// bytes is outside of a live object.
    Load {
        address: Box<Expr>,
        ty: Ty,
    },
    /// Bytes of the live object that the address points into, whatever the offset;
    /// 0 if there is none; width of a pointer.
    ObjectSize(Box<Expr>),
    /// Whether the address points into a live dynamic object of one of these
    /// sites, whatever the offset.
    ObjectSite {
        address: Box<Expr>,
        sites: Vec<SiteId>,
    },
}

impl Expr {
    pub const TRUE: Expr = Expr::Const { value: 1, width: 1 };
    pub const FALSE: Expr = Expr::Const { value: 0, width: 1 };

    pub fn constant(value: i64, width: u8) -> Expr {
        Expr::Const {
            value: value as u64 & mask(width),
            width,
        }
    }

    /// A constant of width 32.
    pub fn int(value: i64) -> Expr {
        Expr::constant(value, 32)
    }

    pub fn unary(op: UnaryOp, arg: Expr) -> Expr {
        Expr::Unary(op, Box::new(arg))
    }

    pub fn binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
        Expr::Binary(op, Box::new(lhs), Box::new(rhs))
    }

    pub fn load(address: Expr, ty: Ty) -> Expr {
        Expr::Load {
            address: Box::new(address),
            ty,
        }
    }

    pub fn as_const(&self) -> Option<u64> {
        match self {
            Expr::Const { value, .. } => Some(*value),
            _ => None,
        }
    }

    pub fn width(&self) -> u8 {
        match self {
            Expr::Const { width, .. }
            | Expr::Resize { width, .. }
            | Expr::Address { width, .. } => *width,
            Expr::Read(place) => place.ty.width,
            Expr::RemoteRead { ty, .. } | Expr::Load { ty, .. } => ty.width,
            Expr::Unary(_, arg) | Expr::ObjectSize(arg) => arg.width(),
            Expr::Binary(op, lhs, _) => {
                if op.is_comparison() {
                    1
                } else {
                    lhs.width()
                }
            }
            Expr::If(_, then, _) => then.width(),
            Expr::ThreadId | Expr::ThreadCount | Expr::ChannelLen(_) | Expr::ChannelCapacity(_) => {
                INDEX_WIDTH
            }
            Expr::ThreadPriority(_) => 8,
            Expr::Channel(_) => Ty::CHANNEL.width,
            Expr::ThreadAt { .. }
            | Expr::ChannelExists(_)
            | Expr::CanReceive { .. }
            | Expr::ObjectSite { .. }
            | Expr::Timeout => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The operators on 8, 16, 32 and 64 bits, done by Rust's own integers.
    macro_rules! judge {
        ($name:ident, $unsigned:ty, $signed:ty) => {
            fn $name(op: BinaryOp, a: $unsigned, b: $unsigned) -> u64 {
                use BinaryOp::*;
                let (sa, sb) = (a as $signed, b as $signed);
                let width = <$unsigned>::BITS as u64;
                let shift = if (b as u64) < width {
                    Some(b as u32)
                } else {
                    None
                };
                let bits: $unsigned = match op {
                    Add => a.wrapping_add(b),
                    Sub => a.wrapping_sub(b),
                    Mul => a.wrapping_mul(b),
                    UDiv => {
                        if b == 0 {
                            <$unsigned>::MAX
                        } else {
                            a / b
                        }
                    }
                    URem => {
                        if b == 0 {
                            a
                        } else {
                            a % b
                        }
                    }
                    SDiv if sb == 0 => {
                        if sa < 0 {
                            1
                        } else {
                            <$unsigned>::MAX
                        }
                    }
                    SDiv => sa.wrapping_div(sb) as $unsigned,
                    SRem if sb == 0 => a,
                    SRem => sa.wrapping_rem(sb) as $unsigned,
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl => shift.map_or(0, |s| a << s),
                    LShr => shift.map_or(0, |s| a >> s),
                    AShr => (sa >> shift.unwrap_or(<$unsigned>::BITS - 1)) as $unsigned,
                    Eq => (a == b) as $unsigned,
                    Ne => (a != b) as $unsigned,
                    ULt => (a < b) as $unsigned,
                    ULe => (a <= b) as $unsigned,
                    SLt => (sa < sb) as $unsigned,
                    SLe => (sa <= sb) as $unsigned,
                };
                bits as u64
            }
        };
    }
    judge!(judge8, u8, i8);
    judge!(judge16, u16, i16);
    judge!(judge32, u32, i32);
    judge!(judge64, u64, i64);

    const ALL: [BinaryOp; 19] = {
        use BinaryOp::*;
        [
            Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Ne, ULt, ULe,
            SLt, SLe,
        ]
    };

    /// Numbers near the edges of each width are where mistakes live.
    fn operand() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            0u64..70,
            (0u32..64).prop_map(|bit| 1u64 << bit),
            (0u32..64).prop_map(|bit| (1u64 << bit).wrapping_sub(1)),
            (0u64..4).prop_map(|n| n.wrapping_neg()),
        ]
    }

    proptest! {
        #[test]
        fn binary_operators_are_rusts(a in operand(), b in operand(), which in 0..ALL.len()) {
            let op = ALL[which];
            prop_assert_eq!(op.apply(a & 0xff, b & 0xff, 8), judge8(op, a as u8, b as u8));
            prop_assert_eq!(op.apply(a & 0xffff, b & 0xffff, 16), judge16(op, a as u16, b as u16));
            prop_assert_eq!(
                op.apply(a & mask(32), b & mask(32), 32),
                judge32(op, a as u32, b as u32)
            );
            prop_assert_eq!(op.apply(a, b, 64), judge64(op, a, b));
        }

        /// Odd widths, judged by arithmetic in i128 where nothing wraps.
        #[test]
        fn odd_widths_wrap_like_unbounded_arithmetic(a in operand(), b in operand(), width in 1u8..=64) {
            let (a, b) = (a & mask(width), b & mask(width));
            let modulus = 1i128 << width;
            let value = |x: u64| i128::from(x);
            let signed = |x: u64| if value(x) >= modulus / 2 { value(x) - modulus } else { value(x) };
            let wrap = |x: i128| x.rem_euclid(modulus) as u64;
            prop_assert_eq!(BinaryOp::Add.apply(a, b, width), wrap(value(a) + value(b)));
            prop_assert_eq!(BinaryOp::Sub.apply(a, b, width), wrap(value(a) - value(b)));
            prop_assert_eq!(BinaryOp::Mul.apply(a, b, width), wrap(signed(a) * signed(b)));
            prop_assert_eq!(BinaryOp::SLt.apply(a, b, width), u64::from(signed(a) < signed(b)));
            prop_assert_eq!(BinaryOp::ULe.apply(a, b, width), u64::from(value(a) <= value(b)));
            if b != 0 {
                prop_assert_eq!(BinaryOp::UDiv.apply(a, b, width), wrap(value(a) / value(b)));
                prop_assert_eq!(BinaryOp::SDiv.apply(a, b, width), wrap(signed(a) / signed(b)));
                prop_assert_eq!(BinaryOp::SRem.apply(a, b, width), wrap(signed(a) % signed(b)));
            }
            let shift = b.min(64) as u32;
            prop_assert_eq!(BinaryOp::Shl.apply(a, b, width), wrap(if shift >= 64 { 0 } else { value(a) << shift }));
            prop_assert_eq!(BinaryOp::LShr.apply(a, b, width), wrap(value(a) >> shift));
            prop_assert_eq!(BinaryOp::AShr.apply(a, b, width), wrap(signed(a) >> shift));
            prop_assert_eq!(UnaryOp::Neg.apply(a, width), wrap(-value(a)));
            prop_assert_eq!(UnaryOp::Not.apply(a, width), wrap(-value(a) - 1));
        }

        #[test]
        fn resizing_keeps_the_number_where_it_fits(value in any::<i64>(), from in 1u8..=64, to in 1u8..=64, signed in any::<bool>()) {
            let ty = Ty { width: from, signed };
            let stored = value as u64 & mask(from);
            let resized = resize(stored, from, to, signed);
            prop_assert_eq!(resized & !mask(to), 0);
            if to >= from {
                prop_assert_eq!(Ty { width: to, signed }.number(resized), ty.number(stored));
            } else {
                prop_assert_eq!(resized, stored & mask(to));
            }
        }
    }
}

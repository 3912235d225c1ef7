//! Floating point: each operation is a call of the runtime library, which has IEEE arithmetic on
//! integers (`runtime/float.c`). So every engine has it, with the same result on every machine.

use super::{Flat, Flattener};
use crate::ssa::*;

impl Flattener<'_> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn float(
        &mut self,
        mut at: BlockId,
        result: Option<ValueId>,
        kind: FloatKind,
        mut args: Vec<Operand>,
        from: u8,
        to: u8,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        use FloatKind::*;
        let is_single = to == 32;
        for arg in &mut args {
            match kind {
                FromSigned | FromUnsigned => {
                    let extension = match kind {
                        FromSigned => Extension::Sign,
                        _ => Extension::Zero,
                    };
                    let wide = Kind::Pure(Pure::Resize {
                        arg: arg.clone(),
                        width: 64,
                        extension,
                    });
                    *arg = self.value(at, 64, wide, loc);
                }
                _ if from == 32 => {
                    (at, *arg) = self.float_call(at, "float_extend", vec![arg.clone()], 64, loc)?;
                }
                _ => {}
            }
        }
        let (name, width) = match kind {
            Add => ("float_add", 64),
            Sub => ("float_sub", 64),
            Mul => ("float_mul", 64),
            Div => ("float_div", 64),
            Compare { .. } => ("float_compare", 32),
            FromSigned if is_single => ("float_single_from_signed", 32),
            FromUnsigned if is_single => ("float_single_from_unsigned", 32),
            FromSigned => ("float_from_signed", 64),
            FromUnsigned => ("float_from_unsigned", 64),
            ToSigned => ("float_to_signed", 64),
            ToUnsigned => ("float_to_unsigned", 64),
            Convert if is_single => ("float_truncate", 32),
            Convert => ("", 64),
        };
        let mut value = match (kind, args.first()) {
            // Extended above.
            (Convert, Some(arg)) if !is_single => arg.clone(),
            _ => {
                let called;
                (at, called) = self.float_call(at, name, args, width, loc)?;
                called
            }
        };
        match kind {
            Add | Sub | Mul | Div if is_single => {
                (at, value) = self.float_call(at, "float_truncate", vec![value], 32, loc)?;
            }
            ToSigned | ToUnsigned => value = self.resized(at, value, to, loc),
            Compare { outcomes } => value = self.is_among(at, value, outcomes, loc),
            _ => {}
        }
        if let Some(result) = result {
            self.emit(at, Some(result), Kind::Pure(Pure::Copy(value)), loc);
        }
        Ok(at)
    }

    fn float_call(
        &mut self,
        at: BlockId,
        name: &str,
        args: Vec<Operand>,
        width: u8,
        loc: Option<Loc>,
    ) -> Flat<(BlockId, Operand)> {
        let value = self.new_value(vec![width], "");
        let at = self.runtime(at, name, args, Some(value), loc)?;
        Ok((at, Operand::Value(value)))
    }

    /// Whether a comparison came out as one of these: equal, greater, less, not comparable.
    fn is_among(&mut self, at: BlockId, found: Operand, outcomes: u8, loc: Option<Loc>) -> Operand {
        let numbers = [0u64, 1, u64::from(u32::MAX), 2];
        let mut among = Operand::Int { value: 0, width: 1 };
        for (bit, value) in numbers.into_iter().enumerate() {
            if outcomes & 1 << bit == 0 {
                continue;
            }
            let is_it = Kind::Pure(Pure::Compare {
                predicate: Predicate::Eq,
                lhs: found.clone(),
                rhs: Operand::Int { value, width: 32 },
            });
            let is_it = self.value(at, 1, is_it, loc);
            among = self.binary(at, BinaryKind::Or, among, is_it, 1, loc);
        }
        among
    }
}

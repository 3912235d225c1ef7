//! All instructions except calls.
//!
//! Instructions that only compute are [`Pure`] and can also occur in constants. An instruction
//! that is not understood is translated into one that says so; it is an error only if it is
//! reachable.

use std::collections::HashMap;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind,
};

use super::types::{Step, steps};
use super::{Reader, Values, printed};
use crate::ssa::{
    BinaryKind, DebugType, Extension, FloatKind, Kind, Operand, Predicate, Pure, RmwKind,
};

impl Reader {
    unsafe fn note_ordering(&mut self, ordering: LLVMAtomicOrdering, inst: LLVMValueRef) {
        use LLVMAtomicOrdering::*;
        let is_weak = !matches!(
            ordering,
            LLVMAtomicOrderingNotAtomic | LLVMAtomicOrderingSequentiallyConsistent
        );
        if is_weak && self.out.weak_ordering.is_none() {
            self.out.weak_ordering = Some(unsafe { self.loc(inst) });
        }
    }

    /// The instruction; none if it does nothing.
    pub(super) unsafe fn inst(
        &mut self,
        inst: LLVMValueRef,
        values: &Values,
        debug_types: &HashMap<LLVMValueRef, DebugType>,
    ) -> Option<Kind> {
        use LLVMOpcode::*;
        unsafe {
            let unsupported = || Some(Kind::Unsupported(unsupported(inst)));
            let ty = LLVMTypeOf(inst);
            let opcode = LLVMGetInstructionOpcode(inst);
            let Some(shape) = self.shape(ty) else {
                return unsupported();
            };
            let operand_of = |index: u32| LLVMGetOperand(inst, index);
            Some(match opcode {
                LLVMPHI => Kind::Phi(
                    (0..LLVMCountIncoming(inst))
                        .map(|index| {
                            (
                                self.operand(LLVMGetIncomingValue(inst, index), values),
                                values.blocks[&LLVMGetIncomingBlock(inst, index)],
                            )
                        })
                        .collect(),
                ),
                LLVMLoad => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    Kind::Load {
                        pointer: self.operand(operand_of(0), values),
                        shape,
                        atomic: is_atomic(LLVMGetOrdering(inst)),
                    }
                }
                LLVMStore => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    let value = operand_of(0);
                    let Some(shape) = self.shape(LLVMTypeOf(value)) else {
                        return unsupported();
                    };
                    Kind::Store {
                        pointer: self.operand(operand_of(1), values),
                        value: self.operand(value, values),
                        shape,
                        atomic: is_atomic(LLVMGetOrdering(inst)),
                    }
                }
                LLVMAtomicRMW => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    use LLVMAtomicRMWBinOp::*;
                    let kind = match LLVMGetAtomicRMWBinOp(inst) {
                        LLVMAtomicRMWBinOpXchg => RmwKind::Exchange,
                        LLVMAtomicRMWBinOpAdd => RmwKind::Add,
                        LLVMAtomicRMWBinOpSub => RmwKind::Sub,
                        LLVMAtomicRMWBinOpAnd => RmwKind::And,
                        LLVMAtomicRMWBinOpNand => RmwKind::Nand,
                        LLVMAtomicRMWBinOpOr => RmwKind::Or,
                        LLVMAtomicRMWBinOpXor => RmwKind::Xor,
                        LLVMAtomicRMWBinOpMax => RmwKind::Max,
                        LLVMAtomicRMWBinOpMin => RmwKind::Min,
                        LLVMAtomicRMWBinOpUMax => RmwKind::UMax,
                        LLVMAtomicRMWBinOpUMin => RmwKind::UMin,
                        _ => return unsupported(),
                    };
                    Kind::Rmw {
                        kind,
                        pointer: self.operand(operand_of(0), values),
                        value: self.operand(operand_of(1), values),
                        width: *shape.first()?,
                    }
                }
                LLVMAtomicCmpXchg => {
                    self.note_ordering(LLVMGetCmpXchgSuccessOrdering(inst), inst);
                    self.note_ordering(LLVMGetCmpXchgFailureOrdering(inst), inst);
                    Kind::CompareExchange {
                        pointer: self.operand(operand_of(0), values),
                        expected: self.operand(operand_of(1), values),
                        new: self.operand(operand_of(2), values),
                        width: *shape.first()?,
                        is_weak: LLVMGetWeak(inst) != 0,
                    }
                }
                LLVMFence => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    return None;
                }
                LLVMAlloca => {
                    let ty = LLVMGetAllocatedType(inst);
                    let count = self.operand(operand_of(0), values);
                    let times = match count {
                        Operand::Int { value, .. } => value,
                        _ => 1,
                    };
                    match self.too_large(ty, times) {
                        Some(reason) => Kind::Unsupported(reason),
                        None => Kind::Alloca {
                            layout: self.layout(ty),
                            count,
                            debug: debug_types.get(&inst).cloned().unwrap_or_default(),
                        },
                    }
                }
                LLVMCall => return self.call(inst, shape, values),
                LLVMLandingPad => Kind::LandingPad(self.clauses(inst, values)),
                LLVMExtractValue | LLVMInsertValue => {
                    let indices = std::slice::from_raw_parts(
                        LLVMGetIndices(inst),
                        LLVMGetNumIndices(inst) as usize,
                    );
                    let aggregate = operand_of(0);
                    let Some((first, count)) = self.part(LLVMTypeOf(aggregate), indices) else {
                        return unsupported();
                    };
                    Kind::Pure(if opcode == LLVMExtractValue {
                        Pure::Extract {
                            from: self.operand(aggregate, values),
                            first,
                            count,
                        }
                    } else {
                        Pure::Insert {
                            into: self.operand(aggregate, values),
                            value: self.operand(operand_of(1), values),
                            first,
                        }
                    })
                }
                _ => match self.pure(inst, opcode, values) {
                    Some(pure) => Kind::Pure(pure),
                    None if is_floating(opcode) => match self.float(inst, opcode, &shape, values) {
                        Some(kind) => kind,
                        None => {
                            let what = "floating point other than `float` and `double`, or `fmod`";
                            return Some(Kind::Unsupported(what.into()));
                        }
                    },
                    None => return unsupported(),
                },
            })
        }
    }

    /// Arithmetic, comparison, conversion, addresses: of instructions and constants.
    pub(super) unsafe fn pure(
        &mut self,
        value: LLVMValueRef,
        opcode: LLVMOpcode,
        values: &Values,
    ) -> Option<Pure> {
        use LLVMOpcode::*;
        unsafe {
            let operand_of = |index: u32| LLVMGetOperand(value, index);
            let binary = match opcode {
                LLVMAdd => Some(BinaryKind::Add),
                LLVMSub => Some(BinaryKind::Sub),
                LLVMMul => Some(BinaryKind::Mul),
                LLVMUDiv => Some(BinaryKind::UDiv),
                LLVMSDiv => Some(BinaryKind::SDiv),
                LLVMURem => Some(BinaryKind::URem),
                LLVMSRem => Some(BinaryKind::SRem),
                LLVMAnd => Some(BinaryKind::And),
                LLVMOr => Some(BinaryKind::Or),
                LLVMXor => Some(BinaryKind::Xor),
                LLVMShl => Some(BinaryKind::Shl),
                LLVMLShr => Some(BinaryKind::LShr),
                LLVMAShr => Some(BinaryKind::AShr),
                _ => None,
            };
            if let Some(kind) = binary {
                let has_flag = matches!(opcode, LLVMAdd | LLVMSub | LLVMMul);
                return Some(Pure::Binary {
                    kind,
                    nsw: has_flag && LLVMGetNSW(value) != 0,
                    lhs: self.operand(operand_of(0), values),
                    rhs: self.operand(operand_of(1), values),
                });
            }
            let integral = |ty: LLVMTypeRef| {
                matches!(
                    LLVMGetTypeKind(ty),
                    LLVMTypeKind::LLVMIntegerTypeKind | LLVMTypeKind::LLVMPointerTypeKind
                )
            };
            Some(match opcode {
                LLVMICmp => {
                    use LLVMIntPredicate::*;
                    let predicate = match LLVMGetICmpPredicate(value) {
                        LLVMIntEQ => Predicate::Eq,
                        LLVMIntNE => Predicate::Ne,
                        LLVMIntUGT => Predicate::Ugt,
                        LLVMIntUGE => Predicate::Uge,
                        LLVMIntULT => Predicate::Ult,
                        LLVMIntULE => Predicate::Ule,
                        LLVMIntSGT => Predicate::Sgt,
                        LLVMIntSGE => Predicate::Sge,
                        LLVMIntSLT => Predicate::Slt,
                        LLVMIntSLE => Predicate::Sle,
                    };
                    Pure::Compare {
                        predicate,
                        lhs: self.operand(operand_of(0), values),
                        rhs: self.operand(operand_of(1), values),
                    }
                }
                LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr
                | LLVMAddrSpaceCast => Pure::Resize {
                    width: *self.shape(LLVMTypeOf(value))?.first()?,
                    arg: self.operand(operand_of(0), values),
                    extension: if opcode == LLVMSExt {
                        Extension::Sign
                    } else {
                        Extension::Zero
                    },
                },
                // Between a float and an integer of the same size: the bits stay.
                LLVMBitCast => Pure::Copy(self.operand(operand_of(0), values)),
                LLVMFreeze => Pure::Copy(self.operand(operand_of(0), values)),
                LLVMSelect if integral(LLVMTypeOf(operand_of(0))) => Pure::Select {
                    condition: self.operand(operand_of(0), values),
                    then: self.operand(operand_of(1), values),
                    otherwise: self.operand(operand_of(2), values),
                },
                LLVMGetElementPtr => self.address(value, values)?,
                _ => return None,
            })
        }
    }

    /// Floating point of the two formats that are supported.
    unsafe fn float(
        &mut self,
        inst: LLVMValueRef,
        opcode: LLVMOpcode,
        shape: &[u8],
        values: &Values,
    ) -> Option<Kind> {
        use LLVMOpcode::*;
        unsafe {
            let first = LLVMGetOperand(inst, 0);
            let &[from] = &self.shape(LLVMTypeOf(first))?[..] else {
                return None;
            };
            let &[to] = shape else {
                return None;
            };
            let kind = match opcode {
                LLVMFNeg => {
                    let lhs = self.operand(first, values);
                    let value = 1 << (to - 1);
                    return Some(Kind::Pure(Pure::Binary {
                        kind: BinaryKind::Xor,
                        nsw: false,
                        lhs,
                        rhs: Operand::Int { value, width: to },
                    }));
                }
                LLVMFAdd => FloatKind::Add,
                LLVMFSub => FloatKind::Sub,
                LLVMFMul => FloatKind::Mul,
                LLVMFDiv => FloatKind::Div,
                // LLVM numbers its predicates by these bits.
                LLVMFCmp => FloatKind::Compare {
                    outcomes: LLVMGetFCmpPredicate(inst) as u8,
                },
                LLVMFPExt | LLVMFPTrunc => FloatKind::Convert,
                LLVMSIToFP => FloatKind::FromSigned,
                LLVMUIToFP => FloatKind::FromUnsigned,
                LLVMFPToSI => FloatKind::ToSigned,
                LLVMFPToUI => FloatKind::ToUnsigned,
                _ => return None,
            };
            let count = LLVMGetNumOperands(inst) as u32;
            let operands: Vec<LLVMValueRef> = (0..count)
                .map(|index| LLVMGetOperand(inst, index))
                .collect();
            let args = operands
                .into_iter()
                .map(|arg| self.operand(arg, values))
                .collect();
            Some(Kind::Float {
                kind,
                args,
                from,
                to,
            })
        }
    }

    pub(super) unsafe fn address(&mut self, value: LLVMValueRef, values: &Values) -> Option<Pure> {
        unsafe {
            let mut offset = 0i64;
            let mut terms = Vec::new();
            let mut moves_base = false;
            for (index, step) in steps(self.data, value)?.into_iter().enumerate() {
                match step {
                    Step::Bytes(by) => offset = offset.checked_add(by)?,
                    Step::Times(by, stride) => {
                        terms.push((self.operand(by, values), stride));
                        moves_base |= index == 0;
                    }
                }
            }
            Some(Pure::Gep {
                base: self.operand(LLVMGetOperand(value, 0), values),
                offset,
                terms,
                moves_base,
            })
        }
    }
}

pub(super) fn is_floating(opcode: LLVMOpcode) -> bool {
    use LLVMOpcode::*;
    matches!(
        opcode,
        LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMFCmp
            | LLVMFPExt
            | LLVMFPTrunc
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMSIToFP
            | LLVMUIToFP
    )
}

/// The words for an instruction that is not translated: its type, if that is the reason.
unsafe fn unsupported(inst: LLVMValueRef) -> String {
    unsafe {
        let operands = (0..LLVMGetNumOperands(inst) as u32).map(|at| LLVMGetOperand(inst, at));
        let mut types = std::iter::once(inst)
            .chain(operands)
            .map(|value| LLVMTypeOf(value));
        let named = types.find_map(|ty| match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMX86_FP80TypeKind | LLVMTypeKind::LLVMFP128TypeKind => {
                Some("floating point of type `long double`".to_string())
            }
            LLVMTypeKind::LLVMHalfTypeKind => Some("floating point of 16 bits".to_string()),
            LLVMTypeKind::LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) > 64 => {
                Some(format!("integers of {} bits", LLVMGetIntTypeWidth(ty)))
            }
            LLVMTypeKind::LLVMVectorTypeKind => Some("vectors".to_string()),
            _ => None,
        });
        named.unwrap_or_else(|| printed(inst))
    }
}

fn is_atomic(ordering: LLVMAtomicOrdering) -> bool {
    !matches!(ordering, LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic)
}

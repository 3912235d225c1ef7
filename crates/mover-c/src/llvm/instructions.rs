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
use crate::ssa::{BinaryKind, DebugType, Extension, Kind, Predicate, Pure, RmwKind};

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

    unsafe fn note_volatile(&mut self, inst: LLVMValueRef, pointer: LLVMValueRef) {
        unsafe {
            let is_plain = LLVMGetVolatile(inst) != 0 && !is_atomic(LLVMGetOrdering(inst));
            let is_own = !LLVMIsAAllocaInst(pointer).is_null();
            if is_plain && !is_own && self.out.volatile_access.is_none() {
                self.out.volatile_access = Some(self.loc(inst));
            }
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
            let unsupported = || Some(Kind::Unsupported(printed(inst)));
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
                    self.note_volatile(inst, operand_of(0));
                    Kind::Load {
                        pointer: self.operand(operand_of(0), values),
                        shape,
                        atomic: is_atomic(LLVMGetOrdering(inst)),
                    }
                }
                LLVMStore => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    self.note_volatile(inst, operand_of(1));
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
                LLVMAlloca => Kind::Alloca {
                    layout: self.layout(LLVMGetAllocatedType(inst)),
                    count: self.operand(operand_of(0), values),
                    debug: debug_types.get(&inst).cloned().unwrap_or_default(),
                },
                LLVMCall => return self.call(inst, shape, values),
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
                    None if is_floating(opcode) => {
                        return Some(Kind::Unsupported(
                            "floating-point computation with values that are not constant".into(),
                        ));
                    }
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

fn is_floating(opcode: LLVMOpcode) -> bool {
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

fn is_atomic(ordering: LLVMAtomicOrdering) -> bool {
    !matches!(ordering, LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic)
}

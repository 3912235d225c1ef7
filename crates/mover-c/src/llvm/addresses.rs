//! Where a program uses addresses as integers.
//!
//! The values of addresses depend on the machine; here they consist of the object's number and
//! the offset, and are always the same. A program that computes with them, beyond the
//! difference of two addresses in one object, may fail elsewhere and not here, and an integer
//! can be the address of an object here but not there. So the verdict says where that begins.
//! Integers that are only passed on as pointers, as arguments of threads often are, are
//! harmless.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

use super::lists::{all_instructions, functions};
use super::{Reader, value_name};

impl Reader {
    /// Notes the first instruction that computes with the number of an address or goes to one.
    pub(super) unsafe fn note_numbers_of_addresses(&mut self) {
        unsafe {
            for function in functions(self.module) {
                if value_name(function).starts_with("__mover_") {
                    continue;
                }
                let found = all_instructions(function).find(|&inst| takes_for_number(inst));
                if let Some(inst) = found {
                    self.out.numbered_addresses = Some(self.loc(inst));
                    return;
                }
            }
        }
    }
}

unsafe fn takes_for_number(inst: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    unsafe {
        let operand = |number| LLVMGetOperand(inst, number);
        match LLVMGetInstructionOpcode(inst) {
            LLVMSub => match (object(operand(0)), object(operand(1))) {
                (Some(one), Some(other)) => one != other,
                (Some(_), None) => !is_address(operand(1)),
                (None, Some(_)) => !is_address(operand(0)),
                (None, None) => false,
            },
            LLVMAdd | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr
            | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => {
                object(operand(0)).is_some() || object(operand(1)).is_some()
            }
            LLVMTrunc => object(operand(0)).is_some(),
            // Which of two objects comes first.
            LLVMICmp => {
                let asks_order = !matches!(
                    LLVMGetICmpPredicate(inst),
                    LLVMIntPredicate::LLVMIntEQ | LLVMIntPredicate::LLVMIntNE
                );
                match (pointed_to(operand(0)), pointed_to(operand(1))) {
                    (Some(one), Some(other)) => asks_order && one != other,
                    _ => false,
                }
            }
            LLVMIntToPtr => is_gone_to(inst) && !is_made_of_address(operand(0), FARTHEST),
            _ => false,
        }
    }
}

/// The opcode of an instruction or of a constant expression.
unsafe fn opcode(value: LLVMValueRef) -> Option<LLVMOpcode> {
    unsafe {
        if !LLVMIsAInstruction(value).is_null() {
            Some(LLVMGetInstructionOpcode(value))
        } else if !LLVMIsAConstantExpr(value).is_null() {
            Some(LLVMGetConstOpcode(value))
        } else {
            None
        }
    }
}

unsafe fn is_address(value: LLVMValueRef) -> bool {
    unsafe { opcode(value) == Some(LLVMOpcode::LLVMPtrToInt) }
}

/// The variable or the allocation of which a number is the address, if that is plain.
unsafe fn object(value: LLVMValueRef) -> Option<LLVMValueRef> {
    unsafe {
        if is_address(value) {
            pointed_to(LLVMGetOperand(value, 0))
        } else {
            None
        }
    }
}

/// The variable or the allocation that a pointer points into, if that is plain.
unsafe fn pointed_to(mut pointer: LLVMValueRef) -> Option<LLVMValueRef> {
    unsafe {
        while opcode(pointer) == Some(LLVMOpcode::LLVMGetElementPtr) {
            pointer = LLVMGetOperand(pointer, 0);
        }
        let is_call = opcode(pointer) == Some(LLVMOpcode::LLVMCall)
            && LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMTypeKind::LLVMPointerTypeKind;
        let is_object = is_call
            || !LLVMIsAGlobalVariable(pointer).is_null()
            || opcode(pointer) == Some(LLVMOpcode::LLVMAlloca);
        is_object.then_some(pointer)
    }
}

/// Whether memory is accessed through a pointer, or one that begins with it.
unsafe fn is_gone_to(pointer: LLVMValueRef) -> bool {
    unsafe {
        let mut next = LLVMGetFirstUse(pointer);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            next = LLVMGetNextUse(next);
            let is_access = match opcode(user) {
                Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMGetElementPtr) => true,
                Some(LLVMOpcode::LLVMStore) => LLVMGetOperand(user, 1) == pointer,
                _ => false,
            };
            if is_access {
                return true;
            }
        }
        false
    }
}

/// How many steps back a number is followed.
const FARTHEST: usize = 8;

/// Whether the number of an address goes into a number. What atomic operations yield is a number for
/// LLVM also where it is a pointer in C.
unsafe fn is_made_of_address(value: LLVMValueRef, steps: usize) -> bool {
    unsafe {
        let is_atomic = match opcode(value) {
            Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMExtractValue) => true,
            Some(LLVMOpcode::LLVMLoad) => {
                LLVMGetOrdering(value) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            }
            _ => false,
        };
        let is_computed = matches!(
            opcode(value),
            Some(
                LLVMOpcode::LLVMAdd
                    | LLVMOpcode::LLVMSub
                    | LLVMOpcode::LLVMAnd
                    | LLVMOpcode::LLVMOr
                    | LLVMOpcode::LLVMXor
                    | LLVMOpcode::LLVMPHI
                    | LLVMOpcode::LLVMSelect
            )
        );
        is_atomic
            || is_address(value)
            || is_computed
                && steps > 0
                && (0..LLVMGetNumOperands(value) as u32)
                    .any(|number| is_made_of_address(LLVMGetOperand(value, number), steps - 1))
    }
}

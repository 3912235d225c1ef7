//! `volatile` as atomic (`--volatile-atomic`).
//!
//! Code from before C11 uses `volatile` for variables that threads share. In C11 that is a data race, and
//! mover says so. Where a compiler and machine are trusted to do such accesses at once and in order, the
//! accesses of the program that are `volatile` and of a size that a machine accesses at once become
//! sequentially consistent atomics, before anything else is done with the module.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};

use super::lists::{all_instructions, functions};

/// Makes volatile loads and stores of scalars atomic.
pub(super) unsafe fn make_atomic(module: LLVMModuleRef) {
    unsafe {
        for function in functions(module) {
            for inst in all_instructions(function) {
                let ty = match LLVMGetInstructionOpcode(inst) {
                    LLVMOpcode::LLVMLoad => LLVMTypeOf(inst),
                    LLVMOpcode::LLVMStore => LLVMTypeOf(LLVMGetOperand(inst, 0)),
                    _ => continue,
                };
                let is_plain =
                    LLVMGetOrdering(inst) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
                if LLVMGetVolatile(inst) != 0 && is_plain && is_accessed_at_once(ty) {
                    LLVMSetOrdering(
                        inst,
                        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
                    );
                }
            }
        }
    }
}

unsafe fn is_accessed_at_once(ty: LLVMTypeRef) -> bool {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind => {
                matches!(LLVMGetIntTypeWidth(ty), 8 | 16 | 32 | 64)
            }
            LLVMTypeKind::LLVMPointerTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind => true,
            _ => false,
        }
    }
}

//! Atomic operations on 16 bytes.
//!
//! The IR has no integers of 128 bits. An atomic operation on one becomes the call of libatomic that
//! clang makes for larger structures, which works on memory: operands are stored in variables first, and
//! what the operation yields is loaded afterwards. Sums and the like are a load and a store in an atomic
//! section. These loads and stores are lowered with all others (`wide`).

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMOpcode};

use super::lists::{all_instructions, functions};
use super::wide::is_wide;

/// Replaces atomic operations on integers of 128 bits.
pub(super) unsafe fn call_library(module: LLVMModuleRef) {
    unsafe {
        let mut found = Vec::new();
        for function in functions(module) {
            found.extend(all_instructions(function).filter(|&inst| is_candidate(inst)));
        }
        for inst in found {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
            Rewriter { module, builder }.rewrite(inst);
            LLVMDisposeBuilder(builder);
        }
    }
}

unsafe fn is_plain(inst: LLVMValueRef) -> bool {
    unsafe { LLVMGetOrdering(inst) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
}

unsafe fn is_candidate(inst: LLVMValueRef) -> bool {
    unsafe {
        match LLVMGetInstructionOpcode(inst) {
            LLVMOpcode::LLVMLoad => is_wide(LLVMTypeOf(inst)) && !is_plain(inst),
            LLVMOpcode::LLVMStore => {
                is_wide(LLVMTypeOf(LLVMGetOperand(inst, 0))) && !is_plain(inst)
            }
            LLVMOpcode::LLVMAtomicRMW => is_wide(LLVMTypeOf(inst)),
            LLVMOpcode::LLVMAtomicCmpXchg => is_wide(LLVMTypeOf(LLVMGetOperand(inst, 1))),
            _ => false,
        }
    }
}

unsafe fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    unsafe {
        let mut all = Vec::new();
        let mut next = LLVMGetFirstUse(value);
        while !next.is_null() {
            all.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
        all
    }
}

struct Rewriter {
    module: LLVMModuleRef,
    builder: LLVMBuilderRef,
}

impl Rewriter {
    unsafe fn rewrite(&self, inst: LLVMValueRef) {
        unsafe {
            let operand = |index| LLVMGetOperand(inst, index);
            match LLVMGetInstructionOpcode(inst) {
                LLVMOpcode::LLVMStore => {
                    let new = self.stored(operand(0), inst);
                    self.call("__atomic_store", &[operand(1), new], 1);
                }
                LLVMOpcode::LLVMLoad => {
                    let old = self.variable(inst);
                    self.before(inst);
                    self.call("__atomic_load", &[operand(0), old], 1);
                    LLVMReplaceAllUsesWith(inst, self.loaded(old));
                }
                LLVMOpcode::LLVMAtomicRMW
                    if LLVMGetAtomicRMWBinOp(inst)
                        != LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg =>
                {
                    if !self.update(inst) {
                        return;
                    }
                }
                LLVMOpcode::LLVMAtomicRMW => {
                    let old = self.variable(inst);
                    let new = self.stored(operand(1), inst);
                    self.call("__atomic_exchange", &[operand(0), new, old], 1);
                    LLVMReplaceAllUsesWith(inst, self.loaded(old));
                }
                _ => {
                    if !self.compare_exchange(inst) {
                        return;
                    }
                }
            }
            LLVMInstructionEraseFromParent(inst);
        }
    }

    /// Whether it was replaced: what it yields is looked at in parts.
    unsafe fn compare_exchange(&self, inst: LLVMValueRef) -> bool {
        unsafe {
            let parts = users(inst);
            if parts
                .iter()
                .any(|&part| LLVMIsAExtractValueInst(part).is_null())
            {
                return false;
            }
            let old = self.stored(LLVMGetOperand(inst, 1), inst);
            let new = self.stored(LLVMGetOperand(inst, 2), inst);
            // A weak one may fail although the values are equal.
            let name = match LLVMGetWeak(inst) {
                0 => "__atomic_compare_exchange",
                _ => "__atomic_compare_exchange_weak",
            };
            let is_equal = self.call(name, &[LLVMGetOperand(inst, 0), old, new], 2);
            let value = self.loaded(old);
            for part in parts {
                let replaced = match *LLVMGetIndices(part) {
                    0 => value,
                    _ => is_equal,
                };
                LLVMReplaceAllUsesWith(part, replaced);
                LLVMInstructionEraseFromParent(part);
            }
            true
        }
    }

    /// A sum or the like, as a load and a store that nothing comes between. False if it is none.
    unsafe fn update(&self, inst: LLVMValueRef) -> bool {
        use LLVMAtomicRMWBinOp::*;
        unsafe {
            let (at, by) = (LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1));
            let build = match LLVMGetAtomicRMWBinOp(inst) {
                LLVMAtomicRMWBinOpAdd => LLVMBuildAdd,
                LLVMAtomicRMWBinOpSub => LLVMBuildSub,
                LLVMAtomicRMWBinOpAnd => LLVMBuildAnd,
                LLVMAtomicRMWBinOpOr => LLVMBuildOr,
                LLVMAtomicRMWBinOpXor => LLVMBuildXor,
                _ => return false,
            };
            self.before(inst);
            self.mark("__VERIFIER_atomic_begin");
            let old = self.loaded(at);
            let new = build(self.builder, old, by, c"".as_ptr());
            LLVMSetAlignment(LLVMBuildStore(self.builder, new, at), 16);
            self.mark("__VERIFIER_atomic_end");
            LLVMReplaceAllUsesWith(inst, old);
            true
        }
    }

    /// Calls a function without arguments.
    unsafe fn mark(&self, name: &str) {
        unsafe {
            let nothing = LLVMVoidTypeInContext(LLVMGetModuleContext(self.module));
            let ty = LLVMFunctionType(nothing, std::ptr::null_mut(), 0, 0);
            let callee = self.function(name, ty);
            LLVMBuildCall2(
                self.builder,
                ty,
                callee,
                std::ptr::null_mut(),
                0,
                c"".as_ptr(),
            );
        }
    }

    unsafe fn function(&self, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
        unsafe {
            let mut text = name.as_bytes().to_vec();
            text.push(0);
            let known = LLVMGetNamedFunction(self.module, text.as_ptr().cast());
            match known.is_null() {
                true => LLVMAddFunction(self.module, text.as_ptr().cast(), ty),
                false => known,
            }
        }
    }

    /// A variable with a value; the builder is before the instruction afterwards.
    unsafe fn stored(&self, value: LLVMValueRef, inst: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            let variable = self.variable(inst);
            self.before(inst);
            LLVMSetAlignment(LLVMBuildStore(self.builder, value, variable), 16);
            variable
        }
    }

    unsafe fn loaded(&self, variable: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            let load = LLVMBuildLoad2(self.builder, self.int(128), variable, c"".as_ptr());
            LLVMSetAlignment(load, 16);
            load
        }
    }

    unsafe fn before(&self, inst: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, inst);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(inst));
        }
    }

    /// A variable of the function, for an operand or what the operation yields.
    unsafe fn variable(&self, inst: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
            let first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
            self.before(first);
            let ty = LLVMArrayType2(self.int(64), 2);
            let variable = LLVMBuildAlloca(self.builder, ty, c"".as_ptr());
            LLVMSetAlignment(variable, 16);
            variable
        }
    }

    unsafe fn int(&self, width: u32) -> LLVMTypeRef {
        unsafe { LLVMIntTypeInContext(LLVMGetModuleContext(self.module), width) }
    }

    /// Calls a function of libatomic with the size, pointers and as many orderings.
    unsafe fn call(&self, name: &str, pointers: &[LLVMValueRef], orderings: usize) -> LLVMValueRef {
        unsafe {
            let context = LLVMGetModuleContext(self.module);
            let sequentially_consistent = LLVMConstInt(self.int(32), 5, 0);
            let mut args = vec![LLVMConstInt(self.int(64), 16, 0)];
            args.extend(pointers);
            args.extend(std::iter::repeat_n(sequentially_consistent, orderings));
            let mut types: Vec<LLVMTypeRef> = args.iter().map(|&arg| LLVMTypeOf(arg)).collect();
            let result = match orderings {
                1 => LLVMVoidTypeInContext(context),
                _ => self.int(1),
            };
            let count = args.len() as u32;
            let ty = LLVMFunctionType(result, types.as_mut_ptr(), count, 0);
            let callee = self.function(name, ty);
            LLVMBuildCall2(
                self.builder,
                ty,
                callee,
                args.as_mut_ptr(),
                count,
                c"".as_ptr(),
            )
        }
    }
}

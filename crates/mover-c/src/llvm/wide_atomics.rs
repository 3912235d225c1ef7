//! Atomic operations on 16 bytes.
//!
//! For an `_Atomic` structure of 16 bytes clang loads the operand as an integer of 128 bits and uses that
//! integer once, in the atomic operation; what the operation yields is only stored. The IR has no such
//! integers. So the operation becomes the call of libatomic that clang makes for larger structures,
//! which works on memory, and the integers disappear. An operation whose integers are used otherwise
//! stays as it is, and is refused where a run reaches it.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMOpcode, LLVMTypeKind};

use super::lists::{all_instructions, functions};

/// Replaces atomic operations on integers of 128 bits that only pass through.
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

unsafe fn is_wide(ty: LLVMTypeRef) -> bool {
    unsafe {
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 128
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
            LLVMOpcode::LLVMAtomicRMW => {
                is_wide(LLVMTypeOf(inst))
                    && LLVMGetAtomicRMWBinOp(inst) == LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg
            }
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

/// The load that a value comes from, if nothing writes between it and its only use.
unsafe fn source(value: LLVMValueRef, at: LLVMValueRef) -> Option<LLVMValueRef> {
    unsafe {
        if LLVMIsALoadInst(value).is_null() || !is_plain(value) || users(value).len() != 1 {
            return None;
        }
        let mut next = LLVMGetNextInstruction(value);
        while !next.is_null() && next != at {
            let opcode = LLVMGetInstructionOpcode(next);
            if !matches!(
                opcode,
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast
            ) {
                return None;
            }
            next = LLVMGetNextInstruction(next);
        }
        (next == at).then_some(value)
    }
}

/// Whether all that is done with a value is to store it.
unsafe fn is_only_stored(value: LLVMValueRef) -> bool {
    unsafe {
        users(value).into_iter().all(|user| {
            !LLVMIsAStoreInst(user).is_null()
                && is_plain(user)
                && LLVMGetOperand(user, 0) == value
                && LLVMGetOperand(user, 1) != value
        })
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
                    let Some(from) = source(operand(0), inst) else {
                        return;
                    };
                    self.before(inst);
                    self.call("__atomic_store", &[operand(1), LLVMGetOperand(from, 0)], 1);
                    LLVMInstructionEraseFromParent(inst);
                    LLVMInstructionEraseFromParent(from);
                }
                LLVMOpcode::LLVMLoad if is_only_stored(inst) => {
                    let old = self.variable(inst);
                    self.before(inst);
                    self.call("__atomic_load", &[operand(0), old], 1);
                    self.store_instead(inst, old);
                    LLVMInstructionEraseFromParent(inst);
                }
                LLVMOpcode::LLVMAtomicRMW if is_only_stored(inst) => {
                    let Some(from) = source(operand(1), inst) else {
                        return;
                    };
                    let old = self.variable(inst);
                    self.before(inst);
                    let new = LLVMGetOperand(from, 0);
                    self.call("__atomic_exchange", &[operand(0), new, old], 1);
                    self.store_instead(inst, old);
                    LLVMInstructionEraseFromParent(inst);
                    LLVMInstructionEraseFromParent(from);
                }
                LLVMOpcode::LLVMAtomicCmpXchg => self.compare_exchange(inst),
                _ => {}
            }
        }
    }

    unsafe fn compare_exchange(&self, inst: LLVMValueRef) {
        unsafe {
            let expected = source(LLVMGetOperand(inst, 1), inst);
            let new = source(LLVMGetOperand(inst, 2), inst);
            let (Some(expected), Some(new)) = (expected, new) else {
                return;
            };
            let parts = users(inst);
            let index = |part| match LLVMIsAExtractValueInst(part).is_null() {
                true => None,
                false => Some(*LLVMGetIndices(part)),
            };
            let is_known = |&part: &LLVMValueRef| match index(part) {
                Some(0) => is_only_stored(part),
                Some(1) => true,
                _ => false,
            };
            if !parts.iter().all(is_known) {
                return;
            }
            let old = self.variable(inst);
            self.before(inst);
            self.copy(LLVMGetOperand(expected, 0), old);
            // A weak one may fail although the values are equal.
            let name = match LLVMGetWeak(inst) {
                0 => "__atomic_compare_exchange",
                _ => "__atomic_compare_exchange_weak",
            };
            let pointers = [LLVMGetOperand(inst, 0), old, LLVMGetOperand(new, 0)];
            let is_equal = self.call(name, &pointers, 2);
            for part in parts {
                match index(part) {
                    Some(1) => LLVMReplaceAllUsesWith(part, is_equal),
                    _ => self.store_instead(part, old),
                }
                LLVMInstructionEraseFromParent(part);
            }
            for inst in [inst, expected, new] {
                LLVMInstructionEraseFromParent(inst);
            }
        }
    }

    unsafe fn before(&self, inst: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, inst);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(inst));
        }
    }

    /// A variable of the function, for what the operation yields.
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

    /// Copies 16 bytes.
    unsafe fn copy(&self, from: LLVMValueRef, to: LLVMValueRef) {
        unsafe {
            for half in 0..2 {
                let place = |base| {
                    let mut index = LLVMConstInt(self.int(64), half, 0);
                    let (ty, none) = (self.int(64), c"".as_ptr());
                    LLVMBuildInBoundsGEP2(self.builder, ty, base, &mut index, 1, none)
                };
                let word = LLVMBuildLoad2(self.builder, self.int(64), place(from), c"".as_ptr());
                LLVMBuildStore(self.builder, word, place(to));
            }
        }
    }

    /// Stores what a variable contains where a value was stored.
    unsafe fn store_instead(&self, value: LLVMValueRef, variable: LLVMValueRef) {
        unsafe {
            for store in users(value) {
                self.before(store);
                self.copy(variable, LLVMGetOperand(store, 1));
                LLVMInstructionEraseFromParent(store);
            }
        }
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
            let mut text = name.as_bytes().to_vec();
            text.push(0);
            let mut callee = LLVMGetNamedFunction(self.module, text.as_ptr().cast());
            if callee.is_null() {
                callee = LLVMAddFunction(self.module, text.as_ptr().cast(), ty);
            }
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

//! Variables whose lifetime is the block that declares them.
//!
//! clang is asked to mark the beginning and the end of the lifetime of each local variable.
//! Markers of variables of a whole function are removed before inlining: inlining creates such
//! markers again, and the variables of a function that is never inlined, such as `main`, live
//! as long as it runs and need no allocation. Markers of variables in inner blocks stay, so
//! that a pointer that outlives its block dangles. Compound literals get their marks in
//! `literals`. The temporary objects of C++ to which references are bound live until the end of the
//! expression, or as long as the reference. Other variables that are not declared in the
//! source, such as the target of a structure that a call returns, count as variables of the
//! function.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMDIVariableGetScope, LLVMGetMetadataKind, LLVMMetadataKind};
use inkwell::llvm_sys::prelude::*;

use super::lists::{all_instructions, functions};
use super::{LLVMSetIsNewDbgInfoFormat, literals, value_name};

/// What clang calls the temporary objects that references are bound to.
const TEMPORARY: &str = "ref.tmp";

/// Keeps the marks of variables that are declared in inner blocks and of temporary objects, and no others.
pub(super) unsafe fn keep_inner_lifetimes(module: LLVMModuleRef) {
    unsafe {
        LLVMSetIsNewDbgInfoFormat(module, 0);
        for function in functions(module) {
            let insts: Vec<LLVMValueRef> = all_instructions(function).collect();
            let declarations = insts
                .iter()
                .filter(|&&inst| is_call_of(inst, "llvm.dbg.declare"));
            let scopes: HashMap<LLVMValueRef, LLVMMetadataRef> =
                declarations.filter_map(|&inst| declared(inst)).collect();
            for &inst in &insts {
                if is_call_of(inst, "llvm.lifetime.") {
                    let variable = LLVMGetOperand(inst, 1);
                    let is_short = match scopes.get(&variable) {
                        Some(&scope) => is_inner(scope),
                        None => value_name(variable).starts_with(TEMPORARY),
                    };
                    if !is_short {
                        LLVMInstructionEraseFromParent(inst);
                    }
                }
            }
            literals::mark_lives(module, function, &scopes);
        }
    }
}

pub(super) unsafe fn is_call_of(inst: LLVMValueRef, prefix: &str) -> bool {
    unsafe {
        LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMCall
            && value_name(LLVMGetCalledValue(inst)).starts_with(prefix)
    }
}

/// The variable on the stack that a declaration is about, and the block that it is in.
unsafe fn declared(declaration: LLVMValueRef) -> Option<(LLVMValueRef, LLVMMetadataRef)> {
    unsafe {
        let wrapped = LLVMGetOperand(declaration, 0);
        if LLVMGetMDNodeNumOperands(wrapped) != 1 {
            return None;
        }
        let mut variable = std::ptr::null_mut();
        LLVMGetMDNodeOperands(wrapped, &mut variable);
        let described = LLVMValueAsMetadata(LLVMGetOperand(declaration, 1));
        let scope = LLVMDIVariableGetScope(described);
        (!variable.is_null() && !scope.is_null()).then_some((variable, scope))
    }
}

/// Whether a scope is a block within a function.
pub(super) unsafe fn is_inner(scope: LLVMMetadataRef) -> bool {
    matches!(
        unsafe { LLVMGetMetadataKind(scope) },
        LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
            | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
    )
}

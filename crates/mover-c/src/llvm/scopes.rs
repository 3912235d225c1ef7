//! Variables that live only as long as the block that declares them.
//!
//! clang is told to mark where each local variable begins and ends to live. Marks of variables of a
//! whole function are taken away before calls are put in line: who puts a call in line makes such
//! marks anew, and what belongs to a function that is never put in line, such as `main`, lives as long
//! as it runs anyway and needs no allocation. Marks of variables in inner blocks stay, so that a
//! pointer that outlives its block dangles. What is not declared in the source, such as the target of
//! a structure that a call returns, counts as a variable of the function.
//!
//! `sroa` would put such a variable into a register although a pointer outlives it, for to use that
//! pointer is undefined. So where the address of a variable goes to one that is declared further out,
//! it is stored there by a volatile store, which `sroa` leaves alone.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMDIVariableGetScope, LLVMGetMetadataKind, LLVMMetadataKind};
use inkwell::llvm_sys::prelude::*;

use super::lists::{all_instructions, functions};
use super::{LLVMSetIsNewDbgInfoFormat, value_name};

/// How many steps back an address is followed.
const FARTHEST: usize = 16;

/// Keeps the marks of variables that are declared in inner blocks, and no others.
pub(super) unsafe fn keep_inner_lifetimes(module: LLVMModuleRef) {
    unsafe {
        LLVMSetIsNewDbgInfoFormat(module, 0);
        let context = LLVMGetModuleContext(module);
        for function in functions(module) {
            let insts: Vec<LLVMValueRef> = all_instructions(function).collect();
            let declarations = insts
                .iter()
                .filter(|&&inst| is_call_of(inst, "llvm.dbg.declare"));
            let scopes: HashMap<LLVMValueRef, LLVMMetadataRef> =
                declarations.filter_map(|&inst| declared(inst)).collect();
            for &inst in &insts {
                if LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMStore {
                    let target = base(LLVMGetOperand(inst, 1));
                    let Some(&to) = target.and_then(|target| scopes.get(&target)) else {
                        continue;
                    };
                    let mut addresses = Vec::new();
                    variables_of(LLVMGetOperand(inst, 0), FARTHEST, &mut addresses);
                    let outlived = addresses.iter().filter_map(|address| scopes.get(address));
                    let mut outlived = outlived;
                    if outlived.any(|&from| is_inner(from) && !is_within(context, to, from)) {
                        LLVMSetVolatile(inst, 1);
                    }
                } else if is_call_of(inst, "llvm.lifetime.") {
                    let scope = scopes.get(&LLVMGetOperand(inst, 1));
                    if !scope.is_some_and(|&scope| is_inner(scope)) {
                        LLVMInstructionEraseFromParent(inst);
                    }
                }
            }
        }
    }
}

unsafe fn is_call_of(inst: LLVMValueRef, prefix: &str) -> bool {
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
unsafe fn is_inner(scope: LLVMMetadataRef) -> bool {
    matches!(
        unsafe { LLVMGetMetadataKind(scope) },
        LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
            | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
    )
}

/// Whether a scope is another one or inside of it.
unsafe fn is_within(
    context: LLVMContextRef,
    scope: LLVMMetadataRef,
    outer: LLVMMetadataRef,
) -> bool {
    unsafe {
        let mut scope = scope;
        while scope != outer {
            if !is_inner(scope) {
                return false;
            }
            // A file, and the scope around it.
            let node = LLVMMetadataAsValue(context, scope);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            match operands.get(1) {
                Some(&around) if !around.is_null() => scope = LLVMValueAsMetadata(around),
                _ => return false,
            }
        }
        true
    }
}

/// The variable on the stack that an address of a part of it begins with.
unsafe fn base(address: LLVMValueRef) -> Option<LLVMValueRef> {
    unsafe {
        let mut address = address;
        loop {
            if LLVMIsAInstruction(address).is_null() {
                return None;
            }
            match LLVMGetInstructionOpcode(address) {
                LLVMOpcode::LLVMAlloca => return Some(address),
                LLVMOpcode::LLVMGetElementPtr => address = LLVMGetOperand(address, 0),
                _ => return None,
            }
        }
    }
}

/// The variables whose address a value may be.
unsafe fn variables_of(value: LLVMValueRef, steps: usize, found: &mut Vec<LLVMValueRef>) {
    unsafe {
        if let Some(variable) = base(value) {
            found.push(variable);
        } else if steps > 0 && !LLVMIsAInstruction(value).is_null() {
            match LLVMGetInstructionOpcode(value) {
                LLVMOpcode::LLVMSelect => {
                    variables_of(LLVMGetOperand(value, 1), steps - 1, found);
                    variables_of(LLVMGetOperand(value, 2), steps - 1, found);
                }
                LLVMOpcode::LLVMPHI => {
                    for number in 0..LLVMCountIncoming(value) {
                        variables_of(LLVMGetIncomingValue(value, number), steps - 1, found);
                    }
                }
                LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast => {
                    variables_of(LLVMGetOperand(value, 0), steps - 1, found);
                }
                _ => {}
            }
        }
    }
}

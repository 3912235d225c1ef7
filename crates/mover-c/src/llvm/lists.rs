//! LLVM's lists as iterators.
//!
//! LLVM links the elements of a module in lists, with access to the first element and to the
//! successor of each. The successor is read before an element is returned; so a visitor may
//! insert something before the current element, but must not change what follows it.

use std::iter::successors;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

type Next<T> = unsafe extern "C" fn(*mut T) -> *mut T;

unsafe fn list<T>(first: *mut T, next: Next<T>) -> impl Iterator<Item = *mut T> {
    let some = |at: *mut T| (!at.is_null()).then_some(at);
    // SAFETY: `next` is LLVM's own for elements of this list.
    successors(some(first), move |&at| some(unsafe { next(at) }))
}

pub(super) unsafe fn globals(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    unsafe { list(LLVMGetFirstGlobal(module), LLVMGetNextGlobal) }
}

pub(super) unsafe fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    unsafe { list(LLVMGetFirstFunction(module), LLVMGetNextFunction) }
}

pub(super) unsafe fn blocks(function: LLVMValueRef) -> impl Iterator<Item = LLVMBasicBlockRef> {
    unsafe { list(LLVMGetFirstBasicBlock(function), LLVMGetNextBasicBlock) }
}

pub(super) unsafe fn instructions(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    unsafe { list(LLVMGetFirstInstruction(block), LLVMGetNextInstruction) }
}

/// All instructions of a function.
pub(super) unsafe fn all_instructions(
    function: LLVMValueRef,
) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the blocks are those of the function.
    unsafe { blocks(function).flat_map(|block| instructions(block)) }
}

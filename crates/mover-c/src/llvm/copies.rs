//! Copies between local variables and other memory, scalar by scalar.
//!
//! clang copies structures by `llvm.memcpy`. If one side is a local variable, `sroa`
//! makes one wide load or store of that, as wide as it likes: two fields of a shared
//! structure would be read in one step, and a reader that gets one of them old and
//! the other new would be missed. So before `sroa` runs each such copy is split into
//! a load and a store for each scalar of the variable's type. Where the scalars are
//! not known or too many, the copy is made volatile, which `sroa` leaves alone.

use std::ffi::c_uint;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use super::value_name;

/// Copies of more scalars stay as they are.
const MOST_SCALARS: usize = 64;

/// A scalar of a variable: its first byte and its type.
type Scalar = (u64, LLVMTypeRef);

pub(super) unsafe fn split(module: LLVMModuleRef) {
    unsafe {
        let data = LLVMGetModuleDataLayout(module);
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    let next = LLVMGetNextInstruction(inst);
                    if is_copy(inst) {
                        split_copy(data, inst);
                    }
                    inst = next;
                }
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

unsafe fn is_copy(inst: LLVMValueRef) -> bool {
    unsafe {
        if LLVMIsACallInst(inst).is_null() {
            return false;
        }
        let name = value_name(LLVMGetCalledValue(inst));
        name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.")
    }
}

unsafe fn split_copy(data: LLVMTargetDataRef, inst: LLVMValueRef) {
    unsafe {
        let (to, from, size) = (
            LLVMGetOperand(inst, 0),
            LLVMGetOperand(inst, 1),
            LLVMGetOperand(inst, 2),
        );
        let is_local = |pointer| !LLVMIsAAllocaInst(strip_offsets(pointer)).is_null();
        if !is_local(to) && !is_local(from) {
            return;
        }
        let scalars = if LLVMIsAConstantInt(size).is_null() {
            None
        } else {
            let bytes = LLVMConstIntGetZExtValue(size);
            match (scalars_at(data, to, bytes), scalars_at(data, from, bytes)) {
                (Some(to), Some(from)) if same_places(data, &to, &from) => Some(to),
                (Some(only), None) | (None, Some(only)) => Some(only),
                _ => None,
            }
        };
        let context = LLVMGetTypeContext(LLVMTypeOf(inst));
        let Some(scalars) = scalars else {
            LLVMSetOperand(inst, 3, LLVMConstInt(LLVMInt1TypeInContext(context), 1, 0));
            return;
        };
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, inst);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(inst));
        let byte = LLVMInt8TypeInContext(context);
        let word = LLVMIntPtrTypeInContext(context, data);
        let place = |pointer: LLVMValueRef, offset: u64| {
            if offset == 0 {
                return pointer;
            }
            let mut index = LLVMConstInt(word, offset, 0);
            LLVMBuildInBoundsGEP2(builder, byte, pointer, &mut index, 1, c"".as_ptr())
        };
        // All is read before anything is written: the two may overlap.
        let values: Vec<LLVMValueRef> = scalars
            .iter()
            .map(|&(offset, ty)| {
                let load = LLVMBuildLoad2(builder, ty, place(from, offset), c"".as_ptr());
                LLVMSetAlignment(load, 1);
                load
            })
            .collect();
        for (&(offset, _), value) in scalars.iter().zip(values) {
            let store = LLVMBuildStore(builder, value, place(to, offset));
            LLVMSetAlignment(store, 1);
        }
        LLVMDisposeBuilder(builder);
        LLVMInstructionEraseFromParent(inst);
    }
}

/// The variable below constant offsets.
unsafe fn strip_offsets(mut pointer: LLVMValueRef) -> LLVMValueRef {
    unsafe {
        while !LLVMIsAGetElementPtrInst(pointer).is_null() {
            pointer = LLVMGetOperand(pointer, 0);
        }
        pointer
    }
}

/// The scalars of the type of a variable, if the pointer is one to all of it.
unsafe fn scalars_at(
    data: LLVMTargetDataRef,
    pointer: LLVMValueRef,
    bytes: u64,
) -> Option<Vec<Scalar>> {
    unsafe {
        let ty = if !LLVMIsAAllocaInst(pointer).is_null() {
            LLVMGetAllocatedType(pointer)
        } else if !LLVMIsAGlobalVariable(pointer).is_null() {
            LLVMGlobalGetValueType(pointer)
        } else if !LLVMIsAGetElementPtrInst(pointer).is_null() {
            LLVMGetGEPSourceElementType(pointer)
        } else {
            return None;
        };
        let ty = if LLVMIsAGetElementPtrInst(pointer).is_null() {
            ty
        } else {
            element_type(pointer, ty)?
        };
        let mut found = Vec::new();
        (LLVMABISizeOfType(data, ty) == bytes && scalars(data, ty, 0, &mut found)).then_some(found)
    }
}

/// The type that an address with indices points to.
unsafe fn element_type(pointer: LLVMValueRef, source: LLVMTypeRef) -> Option<LLVMTypeRef> {
    unsafe {
        let mut ty = source;
        for index in 2..LLVMGetNumOperands(pointer) as c_uint {
            ty = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(ty),
                LLVMTypeKind::LLVMStructTypeKind => {
                    let field = LLVMGetOperand(pointer, index);
                    if LLVMIsAConstantInt(field).is_null() {
                        return None;
                    }
                    LLVMStructGetTypeAtIndex(ty, LLVMConstIntGetZExtValue(field) as c_uint)
                }
                _ => return None,
            };
        }
        Some(ty)
    }
}

/// Collects the scalars of a type; false if one cannot be loaded by itself, or if
/// there are too many.
unsafe fn scalars(
    data: LLVMTargetDataRef,
    ty: LLVMTypeRef,
    base: u64,
    out: &mut Vec<Scalar>,
) -> bool {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMPointerTypeKind => {
                out.push((base, ty));
                out.len() <= MOST_SCALARS
            }
            // Copied as the integer that its bytes are.
            LLVMTypeKind::LLVMIntegerTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind => {
                let bits = LLVMSizeOfTypeInBits(data, ty) as c_uint;
                out.push((base, LLVMIntTypeInContext(LLVMGetTypeContext(ty), bits)));
                matches!(bits, 8 | 16 | 32 | 64) && out.len() <= MOST_SCALARS
            }
            LLVMTypeKind::LLVMStructTypeKind => (0..LLVMCountStructElementTypes(ty)).all(|field| {
                let at = LLVMOffsetOfElement(data, ty, field);
                scalars(data, LLVMStructGetTypeAtIndex(ty, field), base + at, out)
            }),
            LLVMTypeKind::LLVMArrayTypeKind => {
                let element = LLVMGetElementType(ty);
                let stride = LLVMABISizeOfType(data, element);
                (0..LLVMGetArrayLength2(ty))
                    .all(|index| scalars(data, element, base + index * stride, out))
            }
            _ => false,
        }
    }
}

unsafe fn same_places(data: LLVMTargetDataRef, a: &[Scalar], b: &[Scalar]) -> bool {
    let place = |&(at, ty): &Scalar| (at, unsafe { LLVMABISizeOfType(data, ty) });
    a.iter().map(place).eq(b.iter().map(place))
}

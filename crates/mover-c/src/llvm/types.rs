//! Types: their layout in memory, and the scalars of their values.
//!
//! Memory consists of bytes and offsets ([`Layout`]), registers of sequences of numbers
//! ([`Shape`]); an aggregate in a register is the sequence of its scalars, and a part of it a
//! range of that sequence.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use super::Reader;
use super::lists::{all_instructions, functions};
use super::wide::is_wide;
use crate::ssa::{Layout, Shape};

/// Bytes of the largest variable. Of a larger one not even the state could be stored.
const LARGEST_VARIABLE: u64 = 1 << 28;
/// Whether the program sets a field of a mutex to something other than 0, as the initialisers of
/// recursive and error-checking mutexes do.
pub(super) unsafe fn sets_mutex_fields(module: LLVMModuleRef) -> bool {
    unsafe {
        let is_field = |pointer: LLVMValueRef| {
            if LLVMIsAGetElementPtrInst(pointer).is_null() {
                return false;
            }
            let ty = LLVMGetGEPSourceElementType(pointer);
            if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMStructTypeKind {
                return false;
            }
            let name = LLVMGetStructName(ty);
            !name.is_null() && CStr::from_ptr(name) == c"struct.__pthread_mutex_s"
        };
        let mut all = functions(module).flat_map(|function| all_instructions(function));
        all.any(|inst| {
            !LLVMIsAStoreInst(inst).is_null()
                && is_field(LLVMGetOperand(inst, 1))
                && LLVMIsNull(LLVMGetOperand(inst, 0)) == 0
        })
    }
}

/// What one index of a `getelementptr` adds to the address.
pub(super) enum Step {
    Bytes(i64),
    /// So many bytes times a value that is known only at run time.
    Times(LLVMValueRef, i64),
}

/// The steps of a `getelementptr`, instruction or constant; none if they do not fit a number.
pub(super) unsafe fn steps(data: LLVMTargetDataRef, address: LLVMValueRef) -> Option<Vec<Step>> {
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(address);
        let mut steps = Vec::new();
        for index in 1..LLVMGetNumOperands(address) as u32 {
            let by = LLVMGetOperand(address, index);
            let is_constant = !LLVMIsAConstantInt(by).is_null();
            if index > 1 && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                if !is_constant {
                    return None;
                }
                let field = LLVMConstIntGetZExtValue(by) as u32;
                let at = LLVMOffsetOfElement(data, ty, field);
                steps.push(Step::Bytes(i64::try_from(at).ok()?));
                ty = LLVMStructGetTypeAtIndex(ty, field);
                continue;
            }
            if index > 1 {
                ty = LLVMGetElementType(ty);
            }
            let stride = i64::try_from(LLVMABISizeOfType(data, ty)).ok()?;
            steps.push(if is_constant {
                Step::Bytes(LLVMConstIntGetSExtValue(by).checked_mul(stride)?)
            } else {
                Step::Times(by, stride)
            });
        }
        Some(steps)
    }
}

/// The offset of a `getelementptr` in bytes, if it is constant.
pub(super) unsafe fn constant_offset(
    data: LLVMTargetDataRef,
    address: LLVMValueRef,
) -> Option<i64> {
    let steps = unsafe { steps(data, address)? };
    steps.into_iter().try_fold(0i64, |offset, step| match step {
        Step::Bytes(by) => offset.checked_add(by),
        Step::Times(..) => None,
    })
}

impl Reader {
    // Types.

    /// Why so many values of a type are no variable that is supported, if they are not.
    pub(super) unsafe fn too_large(&self, ty: LLVMTypeRef, times: u64) -> Option<String> {
        // SAFETY: the type is one of the module.
        let is_sized = unsafe { LLVMTypeIsSized(ty) } != 0;
        let one = if is_sized {
            // SAFETY: it has a size.
            unsafe { LLVMABISizeOfType(self.data, ty) }
        } else {
            0
        };
        let bytes = one.saturating_mul(times);
        (bytes > LARGEST_VARIABLE).then(|| {
            let megabytes = LARGEST_VARIABLE >> 20;
            format!("a variable of {bytes} bytes, which is more than {megabytes} MB")
        })
    }

    pub(super) unsafe fn bytes_of(&self, ty: LLVMTypeRef) -> u64 {
        unsafe { LLVMABISizeOfType(self.data, ty) }
    }

    pub(super) unsafe fn layout(&self, ty: LLVMTypeRef) -> Layout {
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) <= 64 => {
                    Layout::Scalar {
                        bytes: self.bytes_of(ty),
                    }
                }
                // A low and a high word.
                LLVMTypeKind::LLVMIntegerTypeKind if is_wide(ty) => Layout::Array {
                    element: Box::new(Layout::Scalar { bytes: 8 }),
                    count: 2,
                    stride: 8,
                },
                LLVMTypeKind::LLVMPointerTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind => Layout::Scalar {
                    bytes: self.bytes_of(ty),
                },
                LLVMTypeKind::LLVMArrayTypeKind => {
                    let element = LLVMGetElementType(ty);
                    Layout::Array {
                        element: Box::new(self.layout(element)),
                        count: LLVMGetArrayLength2(ty),
                        stride: self.bytes_of(element),
                    }
                }
                LLVMTypeKind::LLVMStructTypeKind => {
                    let name = LLVMGetStructName(ty);
                    let name = if name.is_null() {
                        String::new()
                    } else {
                        CStr::from_ptr(name).to_string_lossy().into_owned()
                    };
                    let fields = if LLVMIsOpaqueStruct(ty) != 0 {
                        Vec::new()
                    } else {
                        (0..LLVMCountStructElementTypes(ty))
                            .map(|index| {
                                let field = LLVMStructGetTypeAtIndex(ty, index);
                                (
                                    LLVMOffsetOfElement(self.data, ty, index),
                                    self.layout(field),
                                )
                            })
                            .collect()
                    };
                    let bytes = if LLVMIsOpaqueStruct(ty) != 0 {
                        0
                    } else {
                        self.bytes_of(ty)
                    };
                    Layout::Struct {
                        name,
                        fields,
                        bytes,
                    }
                }
                _ if LLVMTypeIsSized(ty) != 0 => Layout::Opaque {
                    bytes: self.bytes_of(ty),
                },
                _ => Layout::Opaque { bytes: 0 },
            }
        }
    }

    /// The scalars of a first-class value; none where it is not supported.
    pub(super) unsafe fn shape(&self, ty: LLVMTypeRef) -> Option<Shape> {
        unsafe {
            Some(match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMVoidTypeKind => Vec::new(),
                LLVMTypeKind::LLVMIntegerTypeKind => match LLVMGetIntTypeWidth(ty) {
                    width @ 1..=64 => vec![width as u8],
                    _ => return None,
                },
                LLVMTypeKind::LLVMPointerTypeKind => vec![self.out.pointer_width()],
                LLVMTypeKind::LLVMFloatTypeKind => vec![32],
                LLVMTypeKind::LLVMDoubleTypeKind => vec![64],
                LLVMTypeKind::LLVMStructTypeKind => {
                    let mut all = Vec::new();
                    for index in 0..LLVMCountStructElementTypes(ty) {
                        all.extend(self.shape(LLVMStructGetTypeAtIndex(ty, index))?);
                    }
                    all
                }
                LLVMTypeKind::LLVMArrayTypeKind if LLVMGetArrayLength2(ty) <= 16 => {
                    let element = self.shape(LLVMGetElementType(ty))?;
                    let count = LLVMGetArrayLength2(ty) as usize;
                    element.repeat(count)
                }
                LLVMTypeKind::LLVMMetadataTypeKind | LLVMTypeKind::LLVMLabelTypeKind => Vec::new(),
                _ => return None,
            })
        }
    }

    /// Where in the scalars of an aggregate the part with these indices lies.
    pub(super) unsafe fn part(
        &self,
        mut ty: LLVMTypeRef,
        indices: &[u32],
    ) -> Option<(usize, usize)> {
        unsafe {
            let mut first = 0;
            for &index in indices {
                if LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMArrayTypeKind {
                    let element = LLVMGetElementType(ty);
                    first += index as usize * self.shape(element)?.len();
                    ty = element;
                } else {
                    for before in 0..index {
                        first += self.shape(LLVMStructGetTypeAtIndex(ty, before))?.len();
                    }
                    ty = LLVMStructGetTypeAtIndex(ty, index);
                }
            }
            Some((first, self.shape(ty)?.len()))
        }
    }
}

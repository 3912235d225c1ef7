//! Accesses to structures, scalar by scalar.
//!
//! In C a structure is copied field by field, as far as other threads can observe. LLVM uses
//! wider accesses: clang copies by `llvm.memcpy`, which `sroa` turns into one load or store of
//! any width, and to pass a structure by value clang loads it as one or two integers. Two
//! fields of a shared structure would be read in one step, and a reader that gets one of them
//! old and the other new would be missed. So before `sroa` runs such accesses are split into
//! the scalars of the type.
//!
//! LLVM's pointers have no types, so the type is inferred: a variable has one, the address of a
//! field or an element implies one, the local that receives a loaded value has one. If both
//! ends of a copy are unknown, all structures of the module with its size are considered. An
//! access is also split where it is wider than its alignment. Splitting too much is harmless
//! except for steps that no machine takes; where nothing is known about a copy with a local at
//! one end, it is made volatile, which `sroa` leaves unchanged.

use std::collections::{BTreeSet, HashSet};
use std::ffi::c_uint;
use std::ops::Range;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};

use super::lists::{all_instructions, functions, globals};
use super::passes::is_cpp;
use super::types::constant_offset;
use super::value_name;

/// Copies of more pieces stay as they are.
const MOST_PIECES: usize = 64;

/// How many steps back an address is followed.
const FARTHEST: usize = 16;

pub(super) unsafe fn split(module: LLVMModuleRef) {
    unsafe {
        let splitter = Splitter {
            data: LLVMGetModuleDataLayout(module),
            structures: structures(module),
            context: LLVMGetModuleContext(module),
            is_cpp: is_cpp(module),
        };
        // Loads that are made for copies are cut already, so these come later.
        for inst in instructions(module) {
            match LLVMGetInstructionOpcode(inst) {
                LLVMOpcode::LLVMLoad => splitter.split_load(inst),
                LLVMOpcode::LLVMStore => splitter.split_store(inst),
                _ => {}
            }
        }
        for inst in instructions(module) {
            if is_copy(inst) {
                splitter.split_copy(inst);
            }
        }
    }
}

/// All at once, for what is found is replaced.
unsafe fn instructions(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    unsafe {
        functions(module)
            .flat_map(|function| all_instructions(function))
            .collect()
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

/// The structures that variables and addresses of the module speak of.
unsafe fn structures(module: LLVMModuleRef) -> Vec<LLVMTypeRef> {
    unsafe {
        let mut types: Vec<LLVMTypeRef> = globals(module)
            .map(|global| LLVMGlobalGetValueType(global))
            .collect();
        for inst in instructions(module) {
            if !LLVMIsAAllocaInst(inst).is_null() {
                types.push(LLVMGetAllocatedType(inst));
            } else if is_address(inst) {
                types.push(LLVMGetGEPSourceElementType(inst));
            }
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some(ty) = types.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind => types.push(LLVMGetElementType(ty)),
                LLVMTypeKind::LLVMStructTypeKind => {
                    let fields = 0..LLVMCountStructElementTypes(ty);
                    types.extend(fields.map(|field| LLVMStructGetTypeAtIndex(ty, field)));
                    if LLVMIsLiteralStruct(ty) == 0 {
                        found.push(ty);
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether a value is a base plus indices, as an instruction or as a constant.
unsafe fn is_address(value: LLVMValueRef) -> bool {
    unsafe {
        !LLVMIsAGetElementPtrInst(value).is_null()
            || (!LLVMIsAConstantExpr(value).is_null()
                && matches!(LLVMGetConstOpcode(value), LLVMOpcode::LLVMGetElementPtr))
    }
}

/// Where an access is cut: first bytes of scalars, and which of them are pointers.
#[derive(Default)]
struct Cuts {
    starts: BTreeSet<u64>,
    pointers: BTreeSet<u64>,
    /// Something of which the scalars are not known.
    is_unknown: bool,
}

impl Cuts {
    /// Whether an access of this many bytes is cut at all.
    fn are_inside(&self, bytes: u64) -> bool {
        self.starts.range(1..bytes).next().is_some()
    }

    /// The pieces of this many bytes: first byte, bytes, whether it is a pointer.
    fn pieces(&self, bytes: u64, pointer_bytes: u64) -> Vec<(u64, u64, bool)> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < bytes {
            let end = self.starts.range(at + 1..).next().copied();
            let end = end.unwrap_or(bytes).min(bytes);
            let whole = [8, 4, 2, 1].into_iter().find(|size| at + size <= end);
            let size = whole.unwrap_or(1);
            let is_pointer = self.pointers.contains(&at) && size == pointer_bytes;
            pieces.push((at, size, is_pointer));
            at += size;
        }
        pieces
    }
}

struct Splitter {
    data: LLVMTargetDataRef,
    structures: Vec<LLVMTypeRef>,
    context: LLVMContextRef,
    is_cpp: bool,
}

impl Splitter {
    unsafe fn bytes_of(&self, ty: LLVMTypeRef) -> u64 {
        unsafe { LLVMABISizeOfType(self.data, ty) }
    }

    /// The bytes of an integer that is accessed plainly, and how it is aligned.
    unsafe fn plain_integer(&self, inst: LLVMValueRef, ty: LLVMTypeRef) -> Option<(u64, u64)> {
        unsafe {
            let is_plain = matches!(
                LLVMGetOrdering(inst),
                LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            );
            if !is_plain || LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMIntegerTypeKind {
                return None;
            }
            let bits = LLVMGetIntTypeWidth(ty);
            let is_wide = bits > 8 && bits.is_multiple_of(8) && bits <= 64;
            is_wide.then(|| (u64::from(bits / 8), u64::from(LLVMGetAlignment(inst))))
        }
    }

    unsafe fn split_load(&self, load: LLVMValueRef) {
        unsafe {
            let ty = LLVMTypeOf(load);
            let Some((bytes, alignment)) = self.plain_integer(load, ty) else {
                return;
            };
            let pointer = LLVMGetOperand(load, 0);
            let mut cuts = self.cuts_at(pointer, bytes).unwrap_or_default();
            for target in stored_to(load) {
                let more = self.cuts_at(target, bytes).unwrap_or_default();
                cuts.starts.extend(more.starts);
            }
            cut_by_alignment(&mut cuts, bytes, alignment);
            if !cuts.are_inside(bytes) {
                return;
            }
            let builder = Builder::before(load, self.data);
            let mut whole = LLVMConstInt(ty, 0, 0);
            for (at, size, _) in cuts.pieces(bytes, 0) {
                let part = builder.load(builder.integer(size), pointer, at);
                let part = LLVMBuildZExt(builder.raw, part, ty, c"".as_ptr());
                let shift = LLVMConstInt(ty, 8 * at, 0);
                let part = LLVMBuildShl(builder.raw, part, shift, c"".as_ptr());
                whole = LLVMBuildOr(builder.raw, whole, part, c"".as_ptr());
            }
            LLVMReplaceAllUsesWith(load, whole);
            LLVMInstructionEraseFromParent(load);
        }
    }

    unsafe fn split_store(&self, store: LLVMValueRef) {
        unsafe {
            let (value, pointer) = (LLVMGetOperand(store, 0), LLVMGetOperand(store, 1));
            let Some((bytes, alignment)) = self.plain_integer(store, LLVMTypeOf(value)) else {
                return;
            };
            let mut cuts = self.cuts_at(pointer, bytes).unwrap_or_default();
            cut_by_alignment(&mut cuts, bytes, alignment);
            if !cuts.are_inside(bytes) {
                return;
            }
            let builder = Builder::before(store, self.data);
            for (at, size, _) in cuts.pieces(bytes, 0) {
                let shift = LLVMConstInt(LLVMTypeOf(value), 8 * at, 0);
                let part = LLVMBuildLShr(builder.raw, value, shift, c"".as_ptr());
                let part = LLVMBuildTrunc(builder.raw, part, builder.integer(size), c"".as_ptr());
                builder.store(part, pointer, at);
            }
            LLVMInstructionEraseFromParent(store);
        }
    }

    unsafe fn split_copy(&self, inst: LLVMValueRef) {
        unsafe {
            let (to, from, size) = (
                LLVMGetOperand(inst, 0),
                LLVMGetOperand(inst, 1),
                LLVMGetOperand(inst, 2),
            );
            let pieces = if LLVMIsAConstantInt(size).is_null() {
                None
            } else {
                self.pieces_of_copy(to, from, LLVMConstIntGetZExtValue(size))
            };
            let pieces = pieces.map(|mut pieces| {
                if let Some(fields) = self.fields_of_copy(inst) {
                    pieces.retain(|(at, size, _)| {
                        let ends = at + size;
                        fields
                            .iter()
                            .any(|field| field.start < ends && *at < field.end)
                    });
                }
                pieces
            });
            let is_local = |pointer| !LLVMIsAAllocaInst(base(pointer)).is_null();
            let Some(pieces) = pieces else {
                if is_local(to) || is_local(from) {
                    let bit = LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst)));
                    LLVMSetOperand(inst, 3, LLVMConstInt(bit, 1, 0));
                }
                return;
            };
            let builder = Builder::before(inst, self.data);
            // All is read before anything is written: the two may overlap.
            let values: Vec<LLVMValueRef> = pieces
                .iter()
                .map(|&(at, size, is_pointer)| {
                    let ty = if is_pointer {
                        LLVMPointerTypeInContext(builder.context, 0)
                    } else {
                        builder.integer(size)
                    };
                    builder.load(ty, from, at)
                })
                .collect();
            for (&(at, ..), value) in pieces.iter().zip(values) {
                builder.store(value, to, at);
            }
            LLVMInstructionEraseFromParent(inst);
        }
    }

    /// The bytes of a copy of an object of C++ that are not padding, where clang says them. It does so
    /// for the copies of the language only: what is in padding after one of these is unspecified, so
    /// padding, which is mostly undefined, is left out.
    unsafe fn fields_of_copy(&self, inst: LLVMValueRef) -> Option<Vec<Range<u64>>> {
        unsafe {
            if !self.is_cpp {
                return None;
            }
            let kind = LLVMGetMDKindIDInContext(self.context, c"tbaa.struct".as_ptr(), 11);
            let node = LLVMGetMetadata(inst, kind);
            if node.is_null() {
                return None;
            }
            let count = LLVMGetMDNodeNumOperands(node) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            // Triples of first byte, bytes and type.
            let number = |value: LLVMValueRef| {
                let is_number = !value.is_null() && !LLVMIsAConstantInt(value).is_null();
                is_number.then(|| LLVMConstIntGetZExtValue(value))
            };
            operands
                .chunks(3)
                .map(|field| {
                    let (at, bytes) = (number(*field.first()?)?, number(*field.get(1)?)?);
                    Some(at..at.checked_add(bytes)?)
                })
                .collect()
        }
    }

    /// The pieces of a copy; none if nothing is known of it or if there are too many.
    unsafe fn pieces_of_copy(
        &self,
        to: LLVMValueRef,
        from: LLVMValueRef,
        bytes: u64,
    ) -> Option<Vec<(u64, u64, bool)>> {
        unsafe {
            if bytes > 8 * MOST_PIECES as u64 {
                return None;
            }
            let known = [self.cuts_at(to, bytes), self.cuts_at(from, bytes)];
            // A local that is one integer is no more than room for a structure.
            let says_much = |cuts: &&Cuts| cuts.starts.len() > 1;
            let mut all = Cuts::default();
            if !known.iter().flatten().any(|cuts| says_much(&cuts)) {
                for &ty in &self.structures {
                    if self.bytes_of(ty) == bytes {
                        self.cut(ty, 0, &(0..bytes), &mut all);
                    }
                }
            }
            for cuts in known.into_iter().flatten() {
                all.starts.extend(cuts.starts);
                all.pointers.extend(cuts.pointers);
                all.is_unknown |= cuts.is_unknown;
            }
            if all.starts.is_empty() || all.is_unknown {
                return None;
            }
            let pointer_bytes = u64::from(LLVMPointerSize(self.data));
            let pieces = all.pieces(bytes, pointer_bytes);
            (pieces.len() <= MOST_PIECES).then_some(pieces)
        }
    }

    /// Where the type at an address is cut, from the address on; none if no type is known.
    unsafe fn cuts_at(&self, pointer: LLVMValueRef, bytes: u64) -> Option<Cuts> {
        unsafe {
            let (ty, offset) = self.type_at(pointer, bytes)?;
            let range = offset..offset + bytes;
            let mut cuts = Cuts::default();
            self.cut(ty, 0, &range, &mut cuts);
            let shifted = |starts: BTreeSet<u64>| {
                let from = starts.into_iter().filter(|&at| at >= offset);
                from.map(|at| at - offset).collect()
            };
            Some(Cuts {
                starts: shifted(cuts.starts),
                pointers: shifted(cuts.pointers),
                is_unknown: cuts.is_unknown,
            })
        }
    }

    /// A type that holds this many bytes at an address, and where in it the address is.
    unsafe fn type_at(&self, pointer: LLVMValueRef, bytes: u64) -> Option<(LLVMTypeRef, u64)> {
        unsafe {
            let mut pointer = pointer;
            let mut offset = 0i64;
            for _ in 0..FARTHEST {
                let fits = |ty| {
                    let at = u64::try_from(offset).ok()?;
                    (at + bytes <= self.bytes_of(ty)).then_some((ty, at))
                };
                if !LLVMIsAAllocaInst(pointer).is_null() {
                    return fits(LLVMGetAllocatedType(pointer));
                }
                if !LLVMIsAGlobalVariable(pointer).is_null() {
                    return fits(LLVMGlobalGetValueType(pointer));
                }
                if !is_address(pointer) {
                    return None;
                }
                let source = LLVMGetGEPSourceElementType(pointer);
                // A structure without a name is how clang passes others by value.
                let is_passing = LLVMGetTypeKind(source) == LLVMTypeKind::LLVMStructTypeKind
                    && LLVMIsLiteralStruct(source) != 0;
                if !is_passing
                    && let Some(element) = element_type(pointer, source)
                    && let Some(found) = fits(element)
                {
                    return Some(found);
                }
                offset = offset.checked_add(constant_offset(self.data, pointer)?)?;
                pointer = LLVMGetOperand(pointer, 0);
            }
            None
        }
    }

    /// Notes where the scalars of a type begin that lie in a range.
    unsafe fn cut(&self, ty: LLVMTypeRef, base: u64, range: &Range<u64>, cuts: &mut Cuts) {
        unsafe {
            if base + self.bytes_of(ty) <= range.start || range.end <= base {
                return;
            }
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMPointerTypeKind => {
                    cuts.starts.insert(base);
                    cuts.pointers.insert(base);
                }
                LLVMTypeKind::LLVMIntegerTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind => {
                    cuts.starts.insert(base);
                }
                LLVMTypeKind::LLVMStructTypeKind => {
                    for field in 0..LLVMCountStructElementTypes(ty) {
                        let at = LLVMOffsetOfElement(self.data, ty, field);
                        let field = LLVMStructGetTypeAtIndex(ty, field);
                        self.cut(field, base + at, range, cuts);
                    }
                }
                LLVMTypeKind::LLVMArrayTypeKind => {
                    let element = LLVMGetElementType(ty);
                    let stride = self.bytes_of(element).max(1);
                    let first = range.start.saturating_sub(base) / stride;
                    let end = (range.end - base).div_ceil(stride);
                    for index in first..end.min(LLVMGetArrayLength2(ty)) {
                        self.cut(element, base + index * stride, range, cuts);
                    }
                }
                _ => cuts.is_unknown = true,
            }
        }
    }
}

fn cut_by_alignment(cuts: &mut Cuts, bytes: u64, alignment: u64) {
    if alignment > 0 && alignment < bytes {
        let steps = (0..bytes).step_by(alignment as usize);
        cuts.starts.extend(steps);
    }
}

/// Where a loaded value is stored: by this function, or by one that it is handed to.
unsafe fn stored_to(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    unsafe {
        let mut found = Vec::new();
        let mut open = vec![value];
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            if !seen.insert(value) || seen.len() > FARTHEST {
                continue;
            }
            let mut using = LLVMGetFirstUse(value);
            while !using.is_null() {
                let user = LLVMGetUser(using);
                using = LLVMGetNextUse(using);
                if !LLVMIsAStoreInst(user).is_null() && LLVMGetOperand(user, 0) == value {
                    found.push(LLVMGetOperand(user, 1));
                } else if !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null() {
                    let callee = LLVMGetCalledValue(user);
                    if LLVMIsAFunction(callee).is_null() || LLVMIsDeclaration(callee) != 0 {
                        continue;
                    }
                    let params = LLVMCountParams(callee).min(LLVMGetNumArgOperands(user));
                    let handed = (0..params).filter(|&n| LLVMGetOperand(user, n) == value);
                    open.extend(handed.map(|n| LLVMGetParam(callee, n)));
                }
            }
        }
        found
    }
}

/// The variable below indices.
unsafe fn base(mut pointer: LLVMValueRef) -> LLVMValueRef {
    unsafe {
        while is_address(pointer) {
            pointer = LLVMGetOperand(pointer, 0);
        }
        pointer
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

/// Makes instructions in front of one that they replace.
struct Builder {
    raw: LLVMBuilderRef,
    context: LLVMContextRef,
    word: LLVMTypeRef,
}

impl Builder {
    unsafe fn before(inst: LLVMValueRef, data: LLVMTargetDataRef) -> Builder {
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(inst));
            let raw = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(raw, inst);
            LLVMSetCurrentDebugLocation2(raw, LLVMInstructionGetDebugLoc(inst));
            Builder {
                raw,
                context,
                word: LLVMIntPtrTypeInContext(context, data),
            }
        }
    }

    unsafe fn integer(&self, bytes: u64) -> LLVMTypeRef {
        unsafe { LLVMIntTypeInContext(self.context, 8 * bytes as c_uint) }
    }

    unsafe fn place(&self, pointer: LLVMValueRef, offset: u64) -> LLVMValueRef {
        unsafe {
            if offset == 0 {
                return pointer;
            }
            let byte = LLVMInt8TypeInContext(self.context);
            let mut index = LLVMConstInt(self.word, offset, 0);
            LLVMBuildInBoundsGEP2(self.raw, byte, pointer, &mut index, 1, c"".as_ptr())
        }
    }

    unsafe fn load(&self, ty: LLVMTypeRef, pointer: LLVMValueRef, offset: u64) -> LLVMValueRef {
        unsafe {
            let place = self.place(pointer, offset);
            let load = LLVMBuildLoad2(self.raw, ty, place, c"".as_ptr());
            LLVMSetAlignment(load, 1);
            load
        }
    }

    unsafe fn store(&self, value: LLVMValueRef, pointer: LLVMValueRef, offset: u64) {
        unsafe {
            let store = LLVMBuildStore(self.raw, value, self.place(pointer, offset));
            LLVMSetAlignment(store, 1);
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: made by `before` and disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}

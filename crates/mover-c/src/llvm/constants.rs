//! Globals and their initial values; constant operands.
//!
//! An initial value is a sequence of bytes, except for the addresses in it: these are known
//! only when the objects have numbers. Functions that run before `main` are found here as well,
//! because LLVM stores them as the initial value of a global.

use std::collections::HashMap;
use std::ffi::CStr;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMTypeKind};

use super::{Reader, Values, lists, printed, value_name, wide};
use crate::ssa::{DebugType, FunctionId, Global, Initial, Loc, Operand};

/// When the functions of a section of the program are called.
enum Runs {
    BeforeMain,
    AtExit,
}

/// What the loader does with a section, and the place in the order of its functions: those with a
/// number in the section's name come before those without.
fn startup_section(name: &str) -> Option<(Runs, u64)> {
    let (runs, rest) = if let Some(rest) = name.strip_prefix(".preinit_array") {
        return Some((Runs::BeforeMain, 0)).filter(|_| rest.is_empty());
    } else if let Some(rest) = name.strip_prefix(".init_array") {
        (Runs::BeforeMain, rest)
    } else if let Some(rest) = name.strip_prefix(".fini_array") {
        (Runs::AtExit, rest)
    } else {
        return None;
    };
    let priority = match rest.strip_prefix('.') {
        Some(number) => number.parse().ok()?,
        None if rest.is_empty() => 65_535,
        None => return None,
    };
    Some((runs, priority))
}

/// Whether a declared function is one that the C library defines, so that it has an address also
/// where the program says that it need not be there.
fn is_of_library(name: &str) -> bool {
    crate::runtime::has(name) || crate::flatten::is_known(name)
}

impl Reader {
    /// Functions that run before `main` and after it.
    pub(super) unsafe fn constructors(&mut self) {
        unsafe {
            let mut before = self.listed(c"llvm.global_ctors");
            let mut after = self.listed(c"llvm.global_dtors");
            for global in lists::globals(self.module) {
                let section = LLVMGetSection(global);
                if section.is_null() {
                    continue;
                }
                let section = CStr::from_ptr(section).to_string_lossy().into_owned();
                let functions = self.functions_in(global);
                match startup_section(&section) {
                    Some((Runs::BeforeMain, priority)) => {
                        before.extend(functions.into_iter().map(|id| (priority, id)));
                    }
                    Some((Runs::AtExit, priority)) => {
                        after.extend(functions.into_iter().map(|id| (priority, id)));
                    }
                    None => {}
                }
            }
            let in_order = |mut all: Vec<(u64, FunctionId)>| {
                all.sort_by_key(|(priority, _)| *priority);
                all.into_iter().map(|(_, function)| function).collect()
            };
            self.out.constructors = in_order(before);
            // Those that begin last end first.
            self.out.destructors = in_order(after);
            self.out.destructors.reverse();
        }
    }

    /// The functions whose addresses are the initial value of a global.
    unsafe fn functions_in(&self, global: LLVMValueRef) -> Vec<FunctionId> {
        let Some(&id) = self.globals.get(&global) else {
            return Vec::new();
        };
        let Some(Initial::Bytes { addresses, .. }) = &self.out.globals[id].initial else {
            return Vec::new();
        };
        let function = |(_, address): &(u64, Operand)| match address {
            Operand::Function(id) => Some(*id),
            _ => None,
        };
        addresses.iter().filter_map(function).collect()
    }

    /// What is in a list of triples of priority, function and data; with the priorities.
    unsafe fn listed(&self, name: &CStr) -> Vec<(u64, FunctionId)> {
        unsafe {
            let list = LLVMGetNamedGlobal(self.module, name.as_ptr());
            if list.is_null() {
                return Vec::new();
            }
            let initial = LLVMGetInitializer(list);
            if initial.is_null() {
                return Vec::new();
            }
            let count = LLVMGetArrayLength2(LLVMGlobalGetValueType(list));
            let mut found = Vec::new();
            for index in 0..count as u32 {
                let entry = LLVMGetAggregateElement(initial, index);
                let priority = LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0));
                if let Some(&function) = self.functions.get(&LLVMGetOperand(entry, 1)) {
                    found.push((priority, function));
                }
            }
            found
        }
    }

    // Globals.

    pub(super) unsafe fn global(&mut self, global: LLVMValueRef) -> Global {
        unsafe {
            let ty = LLVMGlobalGetValueType(global);
            let (mut debug, mut loc) = (DebugType::default(), None);
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
            for index in 0..count as u32 {
                let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
                if !matches!(
                    LLVMGetMetadataKind(node),
                    LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind
                ) {
                    continue;
                }
                let Some(variable) = self.node_operand(node, 0) else {
                    continue;
                };
                // Scope, name, file, type, …
                if let Some(ty) = self.node_operand(variable, 3) {
                    debug = self.debug_type(ty);
                    if self.string_operand(variable, 1).is_none() {
                        debug = DebugType::default();
                    }
                }
                let file = LLVMDIVariableGetFile(variable);
                if !file.is_null()
                    && let Some(file) = self.file(file)
                    && Some(file) != self.runtime_file
                {
                    let line = LLVMDIVariableGetLine(variable);
                    loc = Some(Loc {
                        file,
                        line,
                        column: 1,
                    });
                }
            }
            if !entries.is_null() {
                LLVMDisposeValueMetadataEntries(entries);
            }
            let initial = LLVMGetInitializer(global);
            let name = value_name(global);
            let initial = match initial.is_null() {
                // Only their addresses matter: what describes types, and whose destructors run.
                true if name.starts_with("_ZT") || name == "__dso_handle" => Some(Initial::Zero),
                true => None,
                false => Some(self.initial(ty, initial)),
            };
            Global {
                name,
                layout: self.layout(ty),
                debug,
                initial,
                thread_local: LLVMIsThreadLocal(global) != 0,
                is_constant: LLVMIsGlobalConstant(global) != 0,
                loc,
            }
        }
    }

    unsafe fn initial(&mut self, ty: LLVMTypeRef, value: LLVMValueRef) -> Initial {
        unsafe {
            if LLVMIsNull(value) != 0 {
                return Initial::Zero;
            }
            let size = self.bytes_of(ty);
            if size > 1 << 24 {
                return Initial::Unsupported(format!("an initial value of {size} bytes"));
            }
            let mut bytes = vec![0u8; size as usize];
            let mut addresses = Vec::new();
            match self.fill(ty, value, 0, &mut bytes, &mut addresses) {
                Ok(()) => Initial::Bytes { bytes, addresses },
                Err(reason) => Initial::Unsupported(reason),
            }
        }
    }

    /// Writes a constant's bytes; the error is the part of it that is not supported, as LLVM prints
    /// it.
    unsafe fn fill(
        &mut self,
        ty: LLVMTypeRef,
        value: LLVMValueRef,
        at: u64,
        bytes: &mut [u8],
        addresses: &mut Vec<(u64, Operand)>,
    ) -> Result<(), String> {
        unsafe {
            if LLVMIsNull(value) != 0 || LLVMIsUndef(value) != 0 {
                return Ok(());
            }
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind => {
                    let element = LLVMGetElementType(ty);
                    let stride = self.bytes_of(element);
                    for index in 0..LLVMGetArrayLength2(ty) {
                        let part = LLVMGetAggregateElement(value, index as u32);
                        if part.is_null() {
                            return Err(printed(value));
                        }
                        self.fill(element, part, at + index * stride, bytes, addresses)?;
                    }
                    Ok(())
                }
                LLVMTypeKind::LLVMStructTypeKind => {
                    for index in 0..LLVMCountStructElementTypes(ty) {
                        let part = LLVMGetAggregateElement(value, index);
                        if part.is_null() {
                            return Err(printed(value));
                        }
                        let field = LLVMStructGetTypeAtIndex(ty, index);
                        let offset = LLVMOffsetOfElement(self.data, ty, index);
                        self.fill(field, part, at + offset, bytes, addresses)?;
                    }
                    Ok(())
                }
                LLVMTypeKind::LLVMIntegerTypeKind if wide::is_wide(ty) => {
                    let words = wide::words_of_constant(value).ok_or_else(|| printed(value))?;
                    let target = bytes
                        .get_mut(at as usize..at as usize + 16)
                        .ok_or("an initial value past the end")?;
                    target[..8].copy_from_slice(&words[0].to_le_bytes());
                    target[8..].copy_from_slice(&words[1].to_le_bytes());
                    Ok(())
                }
                _ => {
                    let none = Values {
                        numbers: HashMap::new(),
                        blocks: HashMap::new(),
                    };
                    match self.operand(value, &none) {
                        Operand::Int { value, .. } => {
                            let size = self.bytes_of(ty).min(8) as usize;
                            let target = bytes
                                .get_mut(at as usize..at as usize + size)
                                .ok_or("an initial value past the end")?;
                            target.copy_from_slice(&value.to_le_bytes()[..size]);
                            Ok(())
                        }
                        Operand::Unsupported(what) => Err(what),
                        address => {
                            addresses.push((at, address));
                            Ok(())
                        }
                    }
                }
            }
        }
    }

    pub(super) unsafe fn operand(&mut self, value: LLVMValueRef, values: &Values) -> Operand {
        unsafe {
            if let Some(&number) = values.numbers.get(&value) {
                return Operand::Value(number);
            }
            let is_missing = !LLVMIsAGlobalValue(value).is_null()
                && LLVMGetLinkage(value) == LLVMLinkage::LLVMExternalWeakLinkage
                && !is_of_library(&value_name(value));
            if is_missing {
                let width = self.out.pointer_width();
                return Operand::Int { value: 0, width };
            }
            if let Some(&global) = self.globals.get(&value) {
                return Operand::Global(global);
            }
            if let Some(&function) = self.functions.get(&value) {
                return Operand::Function(function);
            }
            let ty = LLVMTypeOf(value);
            let Some(shape) = self.shape(ty) else {
                return Operand::Unsupported(printed(value));
            };
            if !LLVMIsAConstantInt(value).is_null() {
                return Operand::Int {
                    value: LLVMConstIntGetZExtValue(value),
                    width: shape[0],
                };
            }
            if LLVMIsUndef(value) != 0 {
                return Operand::Undef(shape);
            }
            if LLVMIsNull(value) != 0 {
                let zero = |&width: &u8| Operand::Int { value: 0, width };
                return match &shape[..] {
                    [width] => zero(width),
                    _ => Operand::Aggregate(shape.iter().map(zero).collect()),
                };
            }
            if !LLVMIsAConstantFP(value).is_null() {
                let mut inexact = 0;
                let number = LLVMConstRealGetDouble(value, &mut inexact);
                let value = match shape[0] {
                    32 => u64::from((number as f32).to_bits()),
                    _ => number.to_bits(),
                };
                return Operand::Int {
                    value,
                    width: shape[0],
                };
            }
            if !LLVMIsAGlobalAlias(value).is_null() {
                return self.operand(LLVMAliasGetAliasee(value), values);
            }
            if !LLVMIsAConstantExpr(value).is_null()
                && let Some(pure) = self.pure(value, LLVMGetConstOpcode(value), values)
            {
                return Operand::Pure(Box::new(pure));
            }
            if !LLVMIsAConstantStruct(value).is_null() || !LLVMIsAConstantArray(value).is_null() {
                let mut parts = Vec::new();
                for index in 0..LLVMGetNumOperands(value) as u32 {
                    match self.operand(LLVMGetOperand(value, index), values) {
                        Operand::Aggregate(below) => parts.extend(below),
                        part => parts.push(part),
                    }
                }
                return Operand::Aggregate(parts);
            }
            Operand::Unsupported(printed(value))
        }
    }
}

//! Debug information: source locations of instructions, and source names of values and bytes.
//!
//! Checking does not depend on it; it makes counterexamples readable. LLVM's C interface has
//! getters for little of it, so the operands of metadata nodes are read by position, and tags
//! are those of the DWARF standard.

use std::collections::HashMap;
use std::path::Path;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;

use mover_tools::visible;

use super::lists::all_instructions;
use super::{Reader, Values, printed, text, value_name};
use crate::ssa::{DebugField, DebugType, Loc, Pointee, ValueInfo};

const ARRAY: u16 = 0x01;
const ENUMERATION: u16 = 0x04;
const MEMBER: u16 = 0x0d;
const POINTER: u16 = 0x0f;
const STRUCTURE: u16 = 0x13;
const TYPEDEF: u16 = 0x16;
const UNION: u16 = 0x17;
const BASE: u16 = 0x24;
const CONST: u16 = 0x26;
const VOLATILE: u16 = 0x35;
const RESTRICT: u16 = 0x37;
const ATOMIC: u16 = 0x47;

impl Reader {
    // Debug information.

    pub(super) unsafe fn file(&mut self, scope: LLVMMetadataRef) -> Option<u32> {
        unsafe {
            let file = LLVMDIScopeGetFile(scope);
            if file.is_null() {
                return None;
            }
            let mut length = 0;
            let start = LLVMDIFileGetFilename(file, &mut length);
            let name = text(start, length as usize);
            let mut length = 0;
            let start = LLVMDIFileGetDirectory(file, &mut length);
            let directory = text(start, length as usize);
            // Headers are found by their full name; the user's files as named by the user.
            let name = if name.starts_with('/') || Path::new(&name).exists() || directory.is_empty()
            {
                name
            } else {
                format!("{directory}/{name}")
            };
            if let Some(&known) = self.files.get(&name) {
                return Some(known);
            }
            let number = self.out.files.len() as u32;
            if name.ends_with(crate::RUNTIME_NAME) {
                self.runtime_file = Some(number);
            }
            if is_of_system(&name) {
                self.system_files.insert(number);
            }
            self.files.insert(name.clone(), number);
            self.out.files.push(name);
            Some(number)
        }
    }

    /// The source location of an instruction; what comes from the runtime library stands
    /// where it was called.
    pub(super) unsafe fn loc(&mut self, inst: LLVMValueRef) -> Option<Loc> {
        unsafe {
            let mut location = LLVMInstructionGetDebugLoc(inst);
            while !location.is_null() {
                let line = LLVMDILocationGetLine(location);
                let scope = LLVMDILocationGetScope(location);
                let file = if scope.is_null() {
                    None
                } else {
                    self.file(scope)
                };
                match file {
                    Some(file)
                        if Some(file) != self.runtime_file
                            && !self.system_files.contains(&file)
                            && line > 0 =>
                    {
                        return Some(Loc {
                            file,
                            line,
                            column: LLVMDILocationGetColumn(location),
                        });
                    }
                    _ => location = LLVMDILocationGetInlinedAt(location),
                }
            }
            None
        }
    }

    pub(super) unsafe fn node_operands(&self, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
        unsafe {
            let value = LLVMMetadataAsValue(self.context, node);
            let count = LLVMGetMDNodeNumOperands(value) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands
        }
    }

    pub(super) unsafe fn node_operand(
        &self,
        node: LLVMMetadataRef,
        index: usize,
    ) -> Option<LLVMMetadataRef> {
        unsafe {
            let value = *self.node_operands(node).get(index)?;
            (!value.is_null()).then(|| LLVMValueAsMetadata(value))
        }
    }

    pub(super) unsafe fn string_operand(
        &self,
        node: LLVMMetadataRef,
        index: usize,
    ) -> Option<String> {
        unsafe {
            let value = *self.node_operands(node).get(index)?;
            if value.is_null() {
                return None;
            }
            let mut length = 0;
            let start = LLVMGetMDString(value, &mut length);
            (!start.is_null()).then(|| visible::name(&text(start, length as usize)).into_owned())
        }
    }

    unsafe fn type_name(&self, ty: LLVMMetadataRef) -> String {
        unsafe {
            let mut length = 0;
            let start = LLVMDITypeGetName(ty, &mut length);
            visible::name(&text(start, length)).into_owned()
        }
    }

    /// The type below typedefs and qualifiers.
    unsafe fn plain_type(&self, mut ty: LLVMMetadataRef) -> Option<LLVMMetadataRef> {
        unsafe {
            for _ in 0..32 {
                match LLVMGetDINodeTag(ty) {
                    TYPEDEF | CONST | VOLATILE | RESTRICT | ATOMIC => {
                        ty = self.node_operand(ty, 3)?
                    }
                    _ => return Some(ty),
                }
            }
            None
        }
    }

    unsafe fn pointee(&self, ty: LLVMMetadataRef) -> Option<Pointee> {
        unsafe {
            let pointer = self.plain_type(ty)?;
            if LLVMGetDINodeTag(pointer) != POINTER {
                return None;
            }
            let named = self.node_operand(pointer, 3)?;
            let target = self.plain_type(named)?;
            let name = match self.type_name(target) {
                name if name.is_empty() => self.type_name(named),
                name => name,
            };
            let bytes = LLVMDITypeGetSizeInBits(target) / 8;
            (bytes > 0 && !name.is_empty()).then(|| Pointee {
                name,
                bytes,
                debug: self.debug_type(target),
            })
        }
    }

    pub(super) unsafe fn debug_type(&self, ty: LLVMMetadataRef) -> DebugType {
        let mut out = DebugType::default();
        unsafe { self.debug_fields(ty, 0, "", 0, &mut out.fields) };
        out
    }

    /// The bytes of a type that is a name for another one, of which LLVM does not tell them.
    unsafe fn named_size(&self, mut ty: LLVMMetadataRef) -> u64 {
        unsafe {
            for _ in 0..32 {
                let bytes = LLVMDITypeGetSizeInBits(ty) / 8;
                match self.node_operand(ty, 3) {
                    Some(base) if bytes == 0 && LLVMGetDINodeTag(ty) == TYPEDEF => ty = base,
                    _ => return bytes,
                }
            }
            0
        }
    }

    /// Flattens a type of the source to its scalar fields.
    unsafe fn debug_fields(
        &self,
        ty: LLVMMetadataRef,
        offset: u64,
        path: &str,
        depth: usize,
        out: &mut Vec<DebugField>,
    ) {
        if depth > 32 || out.len() >= DebugType::MOST_FIELDS {
            return;
        }
        unsafe {
            let bytes = LLVMDITypeGetSizeInBits(ty) / 8;
            let leaf = |signed: bool| DebugField {
                offset,
                bytes,
                path: path.to_string(),
                signed,
                is_pointer: LLVMGetDINodeTag(ty) == POINTER,
                extent: bytes,
                enumerators: Vec::new(),
            };
            match LLVMGetDINodeTag(ty) {
                ENUMERATION => {
                    let enumerators = self.enumerators(ty);
                    let signed = enumerators.iter().any(|(value, _)| *value < 0);
                    out.push(DebugField {
                        enumerators,
                        ..leaf(signed)
                    });
                }
                BASE => {
                    let name = self.type_name(ty);
                    let signed = !name.starts_with("unsigned") && name != "_Bool";
                    out.push(leaf(signed));
                }
                POINTER => out.push(leaf(false)),
                // Those of the thread library are not looked into.
                TYPEDEF if is_library_type(&self.type_name(ty)) => {
                    let extent = self.named_size(ty);
                    out.push(DebugField {
                        extent,
                        ..leaf(false)
                    });
                }
                TYPEDEF | CONST | VOLATILE | RESTRICT | ATOMIC => {
                    if let Some(base) = self.node_operand(ty, 3) {
                        self.debug_fields(base, offset, path, depth + 1, out);
                    }
                }
                ARRAY => {
                    if let Some(base) = self.node_operand(ty, 3) {
                        let first = out.len();
                        self.debug_fields(base, offset, path, depth + 1, out);
                        for field in &mut out[first..] {
                            // An array without a length has no bytes.
                            let end = (offset + bytes).saturating_sub(field.offset);
                            field.extent = field.extent.max(end);
                        }
                    }
                }
                STRUCTURE | UNION => {
                    let Some(elements) = self.node_operand(ty, 4) else {
                        return;
                    };
                    for member in self.node_operands(elements) {
                        if member.is_null() {
                            continue;
                        }
                        let member = LLVMValueAsMetadata(member);
                        if LLVMGetDINodeTag(member) != MEMBER {
                            continue;
                        }
                        let at = LLVMDITypeGetOffsetInBits(member);
                        let name = self.type_name(member);
                        let below = if name.is_empty() {
                            path.to_string()
                        } else {
                            format!("{path}.{name}")
                        };
                        if let Some(base) = self.node_operand(member, 3) {
                            self.debug_fields(base, offset + at / 8, &below, depth + 1, out);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The names of an enumeration's values. LLVM's C interface has no getter for
    /// the values, so they are read from the text.
    unsafe fn enumerators(&self, ty: LLVMMetadataRef) -> Vec<(i64, String)> {
        unsafe {
            let Some(elements) = self.node_operand(ty, 4) else {
                return Vec::new();
            };
            self.node_operands(elements)
                .into_iter()
                .filter(|element| !element.is_null())
                .filter_map(|element| {
                    let text = printed(element);
                    let (_, value) = text.split_once("value: ")?;
                    let digits = value
                        .split(|c: char| c != '-' && !c.is_ascii_digit())
                        .next()?;
                    let name = self.string_operand(LLVMValueAsMetadata(element), 0)?;
                    Some((digits.parse().ok()?, name))
                })
                .collect()
        }
    }

    /// Which variable of the source each value belongs to.
    pub(super) unsafe fn names(
        &mut self,
        function: LLVMValueRef,
        values: &Values,
        infos: &mut [ValueInfo],
        debug_types: &mut HashMap<LLVMValueRef, DebugType>,
    ) {
        unsafe {
            for inst in all_instructions(function) {
                let is_debug = LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMCall
                    && value_name(LLVMGetCalledValue(inst)).starts_with("llvm.dbg.")
                    && LLVMGetNumOperands(inst) >= 2;
                if is_debug {
                    self.note_variable(inst, values, infos, debug_types);
                }
            }
        }
    }

    /// Whether a type is an integer that is meant to hold an address.
    unsafe fn is_address(&self, ty: LLVMMetadataRef) -> bool {
        unsafe {
            LLVMGetDINodeTag(ty) == TYPEDEF
                && matches!(&*self.type_name(ty), "uintptr_t" | "intptr_t")
        }
    }

    unsafe fn note_variable(
        &mut self,
        inst: LLVMValueRef,
        values: &Values,
        infos: &mut [ValueInfo],
        debug_types: &mut HashMap<LLVMValueRef, DebugType>,
    ) {
        unsafe {
            let wrapped = LLVMGetOperand(inst, 0);
            if LLVMGetMDNodeNumOperands(wrapped) != 1 {
                return;
            }
            let mut value = std::ptr::null_mut();
            LLVMGetMDNodeOperands(wrapped, &mut value);
            if value.is_null() {
                return;
            }
            let Some(&number) = values.numbers.get(&value) else {
                return;
            };
            let variable = LLVMValueAsMetadata(LLVMGetOperand(inst, 1));
            let Some(name) = self.string_operand(variable, 1) else {
                return;
            };
            let ty = self.node_operand(variable, 3);
            let debug = ty.map(|ty| self.debug_type(ty)).unwrap_or_default();
            let pointee = ty.and_then(|ty| self.pointee(ty));
            let info = &mut infos[number];
            if !info.is_variable {
                info.name = name;
                info.is_variable = true;
                info.signed = debug.fields.first().is_some_and(|field| field.signed);
                info.pointee = pointee;
                if let [field] = &debug.fields[..] {
                    info.enumerators = field.enumerators.clone();
                    info.is_number = !field.is_pointer && !ty.is_some_and(|ty| self.is_address(ty));
                }
            }
            debug_types.entry(value).or_insert(debug);
        }
    }
}

/// The name without what passes append: `x.addr`, `x.0.i`.
pub(super) fn plain_name(name: &str) -> String {
    let mut name = name;
    while let Some((head, tail)) = name.rsplit_once('.') {
        let appended = tail.chars().all(|c| c.is_ascii_digit())
            || tail == "addr"
            || tail.starts_with('i') && tail[1..].chars().all(|c| c.is_ascii_digit())
            || tail == "sroa";
        if head.is_empty() || !appended {
            break;
        }
        name = head;
    }
    name.to_string()
}

/// Whether a file is a header of the compiler, the C++ library or the system.
fn is_of_system(name: &str) -> bool {
    const FOLDERS: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/c++/"];
    // A compiler in /opt has its library there, but so may a project.
    let is_of_other_compiler = name.starts_with("/opt/") && name.contains("/include/c++/");
    name.contains(crate::clang::OWN_HEADERS)
        || is_of_other_compiler
        || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Types of the thread library, which are modelled and not looked into.
pub fn is_library_type(name: &str) -> bool {
    const TYPES: [&str; 13] = [
        "pthread_mutex_t",
        "pthread_cond_t",
        "pthread_rwlock_t",
        "pthread_barrier_t",
        "pthread_spinlock_t",
        "pthread_mutexattr_t",
        "pthread_attr_t",
        "pthread_once_t",
        "sem_t",
        "mtx_t",
        "cnd_t",
        "once_flag",
        "pthread_condattr_t",
    ];
    TYPES.contains(&name)
}

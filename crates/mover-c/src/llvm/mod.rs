//! Reading LLVM's modules: the only place that touches LLVM.
//!
//! Modules are parsed, linked into one, prepared by two passes and then copied
//! into [`crate::ssa`]. LLVM's C interface is used directly for the walk, for
//! Rust's safe wrapper lacks several getters that are needed here (orderings of
//! compare-and-exchange, debug information); everything unsafe is in this module.
//!
//! **Passes.** C programs race, and most of what an optimiser may do to a
//! program without races changes what a racy one can show. So only two passes
//! run, and both leave every access to memory that can be shared where it is:
//! `always-inline` copies the bodies of functions to where they are called (all
//! but recursive ones), and `sroa` keeps local variables whose address does not
//! escape in registers. Between the two, copies of structures are split into their
//! scalars (`copies`), which `sroa` would otherwise merge. No load or store of a global, of the heap or of an
//! escaping local is moved, merged or removed.

mod copies;

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use inkwell::llvm_sys::transforms::pass_builder::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind,
};
use inkwell::memory_buffer::MemoryBuffer;

use crate::ssa::*;

unsafe extern "C" {
    /// Not in llvm-sys. With the old format, debug variables are calls again.
    fn LLVMSetIsNewDbgInfoFormat(module: LLVMModuleRef, on: i32);
}

/// Reads and links the files and prepares them; the error is for the user. The
/// runtime library is compiled only for programs that need it.
pub fn read(
    files: &[&Path],
    runtime: impl FnOnce() -> Result<PathBuf, String>,
) -> Result<Module, String> {
    let context = Context::create();
    let mut linked: Option<inkwell::module::Module> = None;
    for file in files {
        let buffer = MemoryBuffer::create_from_file(file)
            .map_err(|error| format!("{}: {}", file.display(), first_line(&error.to_string())))?;
        let module = parse(&context, buffer, file)?;
        match &linked {
            None => linked = Some(module),
            Some(all) => link(all, module, file)?,
        }
    }
    let module = linked.ok_or("no input")?;
    // SAFETY: the module is valid.
    if unsafe { needs_runtime(module.as_mut_ptr()) } {
        let file = runtime()?;
        let buffer = MemoryBuffer::create_from_file(&file).map_err(|error| error.to_string())?;
        link(&module, parse(&context, buffer, &file)?, &file)?;
    }
    module
        .verify()
        .map_err(|error| format!("broken LLVM IR: {}", first_line(&error.to_string())))?;
    // SAFETY: the module is valid and lives until the end of this function, and
    // nothing of what is copied from it refers to it.
    unsafe {
        let raw = module.as_mut_ptr();
        prepare(raw)?;
        LLVMSetIsNewDbgInfoFormat(raw, 0);
        Reader::new(raw).module()
    }
}

fn parse<'c>(
    context: &'c Context,
    buffer: MemoryBuffer,
    file: &Path,
) -> Result<inkwell::module::Module<'c>, String> {
    context.create_module_from_ir(buffer).map_err(|error| {
        format!(
            "{}: not LLVM IR that LLVM 19 can read: {}",
            file.display(),
            first_line(&error.to_string())
        )
    })
}

fn link<'c>(
    all: &inkwell::module::Module<'c>,
    module: inkwell::module::Module<'c>,
    file: &Path,
) -> Result<(), String> {
    let layout = |module: &inkwell::module::Module| module.get_data_layout().as_str().to_owned();
    if layout(all) != layout(&module) {
        return Err(format!(
            "{} is for another machine than the files before it",
            file.display()
        ));
    }
    all.link_in_module(module)
        .map_err(|error| format!("linking {}: {error}", file.display()))
}

/// Whether a function is missing that the runtime library has, or may be needed to
/// pass a structure by value.
unsafe fn needs_runtime(module: LLVMModuleRef) -> bool {
    unsafe {
        let by_value = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            let name = value_name(function);
            let has_structure = (0..LLVMCountParams(function))
                .any(|param| !LLVMGetEnumAttributeAtIndex(function, param + 1, by_value).is_null());
            let is_missing = LLVMIsDeclaration(function) != 0
                && (name.starts_with("llvm.mem")
                    || name.ends_with("_chk")
                    || crate::RUNTIME.contains(&format!("__mover_{name}(")));
            if has_structure || is_missing {
                return true;
            }
            function = LLVMGetNextFunction(function);
        }
        false
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

/// Marks everything for inlining and runs the two passes.
unsafe fn prepare(module: LLVMModuleRef) -> Result<(), String> {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let kind = |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let inline = LLVMCreateEnumAttribute(context, kind("alwaysinline"), 0);
        let on_function = u32::MAX;
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            if LLVMIsDeclaration(function) == 0 {
                for unwanted in ["noinline", "optnone"] {
                    LLVMRemoveEnumAttributeAtIndex(function, on_function, kind(unwanted));
                }
                // These are known by name, whatever their bodies are.
                let name = value_name(function);
                let is_marker = name.starts_with("__VERIFIER_atomic")
                    || matches!(&*name, "reach_error" | "__VERIFIER_error");
                if !is_marker {
                    LLVMAddAttributeAtIndex(function, on_function, inline);
                }
            }
            function = LLVMGetNextFunction(function);
        }
        run_passes(module, c"always-inline")?;
        copies::split(module);
        run_passes(module, c"function(sroa)")
    }
}

unsafe fn run_passes(module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module, passes.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = inkwell::llvm_sys::error::LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        inkwell::llvm_sys::error::LLVMDisposeErrorMessage(message);
        Err(format!("LLVM cannot prepare the program: {text}"))
    }
}

unsafe fn is_x86(module: LLVMModuleRef) -> bool {
    // SAFETY: the target is a string that lives as long as the module.
    let target = unsafe { CStr::from_ptr(LLVMGetTarget(module)) };
    let target = target.to_string_lossy();
    ["x86_64", "i386", "i486", "i586", "i686"]
        .iter()
        .any(|name| target.starts_with(name))
}

unsafe fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: LLVM gives the start of so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe fn value_name(value: LLVMValueRef) -> String {
    unsafe {
        let mut length = 0;
        let start = LLVMGetValueName2(value, &mut length);
        text(start, length)
    }
}

unsafe fn printed(value: LLVMValueRef) -> String {
    unsafe {
        let message = LLVMPrintValueToString(value);
        let text = CStr::from_ptr(message).to_string_lossy().trim().to_string();
        LLVMDisposeMessage(message);
        text.chars().take(120).collect()
    }
}

struct Reader {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    data: LLVMTargetDataRef,
    globals: HashMap<LLVMValueRef, GlobalId>,
    functions: HashMap<LLVMValueRef, FunctionId>,
    out: Module,
    files: HashMap<String, u32>,
    /// Files of runtime functions have no place in the user's source.
    runtime_file: Option<u32>,
}

/// The values of one function.
struct Values {
    numbers: HashMap<LLVMValueRef, ValueId>,
    blocks: HashMap<LLVMBasicBlockRef, BlockId>,
}

impl Reader {
    unsafe fn new(module: LLVMModuleRef) -> Reader {
        unsafe {
            let data = LLVMGetModuleDataLayout(module);
            Reader {
                module,
                context: LLVMGetModuleContext(module),
                data,
                globals: HashMap::new(),
                functions: HashMap::new(),
                out: Module {
                    pointer_bytes: u64::from(LLVMPointerSize(data)),
                    is_x86: is_x86(module),
                    ..Module::default()
                },
                files: HashMap::new(),
                runtime_file: None,
            }
        }
    }

    unsafe fn module(mut self) -> Result<Module, String> {
        unsafe {
            if !matches!(self.out.pointer_bytes, 4 | 8) {
                return Err(format!(
                    "pointers of {} bytes are not supported",
                    self.out.pointer_bytes
                ));
            }
            if LLVMByteOrder(self.data) as u32 != 1 {
                return Err("only little-endian machines are supported".into());
            }
            let mut global = LLVMGetFirstGlobal(self.module);
            let mut all_globals = Vec::new();
            while !global.is_null() {
                self.globals.insert(global, all_globals.len());
                all_globals.push(global);
                global = LLVMGetNextGlobal(global);
            }
            let mut function = LLVMGetFirstFunction(self.module);
            let mut all_functions = Vec::new();
            while !function.is_null() {
                self.functions.insert(function, all_functions.len());
                all_functions.push(function);
                function = LLVMGetNextFunction(function);
            }
            for &global in &all_globals {
                let read = self.global(global);
                self.out.globals.push(read);
            }
            for &function in &all_functions {
                let read = self.function(function);
                self.out.functions.push(read);
            }
            self.constructors();
            Ok(self.out)
        }
    }

    /// `llvm.global_ctors`: triples of priority, function and data.
    unsafe fn constructors(&mut self) {
        unsafe {
            let list = LLVMGetNamedGlobal(self.module, c"llvm.global_ctors".as_ptr());
            if list.is_null() {
                return;
            }
            let initial = LLVMGetInitializer(list);
            if initial.is_null() {
                return;
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
            found.sort_by_key(|(priority, _)| *priority);
            self.out.constructors = found.into_iter().map(|(_, function)| function).collect();
        }
    }

    // Types.

    unsafe fn bytes_of(&self, ty: LLVMTypeRef) -> u64 {
        unsafe { LLVMABISizeOfType(self.data, ty) }
    }

    unsafe fn layout(&self, ty: LLVMTypeRef) -> Layout {
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) <= 64 => {
                    Layout::Scalar {
                        bytes: self.bytes_of(ty),
                    }
                }
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
    unsafe fn shape(&self, ty: LLVMTypeRef) -> Option<Shape> {
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
    unsafe fn part(&self, mut ty: LLVMTypeRef, indices: &[u32]) -> Option<(usize, usize)> {
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

    // Debug information.

    unsafe fn file(&mut self, scope: LLVMMetadataRef) -> Option<u32> {
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
            self.files.insert(name.clone(), number);
            self.out.files.push(name);
            Some(number)
        }
    }

    /// Where an instruction stands; what comes from the runtime library stands
    /// where it was called.
    unsafe fn loc(&mut self, inst: LLVMValueRef) -> Option<Loc> {
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
                    Some(file) if Some(file) != self.runtime_file && line > 0 => {
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

    unsafe fn node_operands(&self, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
        unsafe {
            let value = LLVMMetadataAsValue(self.context, node);
            let count = LLVMGetMDNodeNumOperands(value) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands
        }
    }

    unsafe fn node_operand(&self, node: LLVMMetadataRef, index: usize) -> Option<LLVMMetadataRef> {
        unsafe {
            let value = *self.node_operands(node).get(index)?;
            (!value.is_null()).then(|| LLVMValueAsMetadata(value))
        }
    }

    unsafe fn string_operand(&self, node: LLVMMetadataRef, index: usize) -> Option<String> {
        unsafe {
            let value = *self.node_operands(node).get(index)?;
            if value.is_null() {
                return None;
            }
            let mut length = 0;
            let start = LLVMGetMDString(value, &mut length);
            (!start.is_null()).then(|| text(start, length as usize))
        }
    }

    unsafe fn type_name(&self, ty: LLVMMetadataRef) -> String {
        unsafe {
            let mut length = 0;
            let start = LLVMDITypeGetName(ty, &mut length);
            text(start, length)
        }
    }

    /// The type below typedefs and qualifiers.
    unsafe fn plain_type(&self, mut ty: LLVMMetadataRef) -> Option<LLVMMetadataRef> {
        unsafe {
            for _ in 0..32 {
                match LLVMGetDINodeTag(ty) {
                    0x16 | 0x26 | 0x35 | 0x37 | 0x47 => ty = self.node_operand(ty, 3)?,
                    _ => return Some(ty),
                }
            }
            None
        }
    }

    unsafe fn pointee(&self, ty: LLVMMetadataRef) -> Option<Pointee> {
        unsafe {
            let pointer = self.plain_type(ty)?;
            if LLVMGetDINodeTag(pointer) != 0x0f {
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

    unsafe fn debug_type(&self, ty: LLVMMetadataRef) -> DebugType {
        let mut out = DebugType::default();
        unsafe { self.debug_fields(ty, 0, "", 0, &mut out.fields) };
        out
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
                is_pointer: LLVMGetDINodeTag(ty) == 0x0f,
                extent: bytes,
                enumerators: Vec::new(),
            };
            match LLVMGetDINodeTag(ty) {
                // Enumeration, base type, pointer.
                0x04 => {
                    let enumerators = self.enumerators(ty);
                    let signed = enumerators.iter().any(|(value, _)| *value < 0);
                    out.push(DebugField {
                        enumerators,
                        ..leaf(signed)
                    });
                }
                0x24 => {
                    let name = self.type_name(ty);
                    let signed = !name.starts_with("unsigned") && name != "_Bool";
                    out.push(leaf(signed));
                }
                0x0f => out.push(leaf(false)),
                // Typedef: those of the thread library are not looked into.
                0x16 if is_library_type(&self.type_name(ty)) => out.push(leaf(false)),
                // Typedef, const, volatile, restrict, atomic: the type below.
                0x16 | 0x26 | 0x35 | 0x37 | 0x47 => {
                    if let Some(base) = self.node_operand(ty, 3) {
                        self.debug_fields(base, offset, path, depth + 1, out);
                    }
                }
                // Array: its element.
                0x01 => {
                    if let Some(base) = self.node_operand(ty, 3) {
                        let first = out.len();
                        self.debug_fields(base, offset, path, depth + 1, out);
                        for field in &mut out[first..] {
                            field.extent = field.extent.max(offset + bytes - field.offset);
                        }
                    }
                }
                // Structure, union: members.
                0x13 | 0x17 => {
                    let Some(elements) = self.node_operand(ty, 4) else {
                        return;
                    };
                    for member in self.node_operands(elements) {
                        if member.is_null() {
                            continue;
                        }
                        let member = LLVMValueAsMetadata(member);
                        if LLVMGetDINodeTag(member) != 0x0d {
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

    // Globals.

    unsafe fn global(&mut self, global: LLVMValueRef) -> Global {
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
            let initial = (!initial.is_null()).then(|| self.initial(ty, initial));
            Global {
                name: value_name(global),
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

    // Functions.

    unsafe fn function(&mut self, function: LLVMValueRef) -> Function {
        unsafe {
            let ty = LLVMGlobalGetValueType(function);
            let mut values = Values {
                numbers: HashMap::new(),
                blocks: HashMap::new(),
            };
            let mut infos = Vec::new();
            let params = LLVMCountParams(function) as usize;
            let mut problem = None;
            for index in 0..params as u32 {
                let param = LLVMGetParam(function, index);
                values.numbers.insert(param, infos.len());
                let shape = self.shape(LLVMTypeOf(param));
                if shape.is_none() {
                    problem = Some("a parameter of a type that is not supported".to_string());
                }
                infos.push(ValueInfo {
                    shape: shape.unwrap_or_default(),
                    name: plain_name(&value_name(param)),
                    ..ValueInfo::default()
                });
            }
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                values.blocks.insert(block, values.blocks.len());
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    let kind = LLVMGetTypeKind(LLVMTypeOf(inst));
                    if kind != LLVMTypeKind::LLVMVoidTypeKind {
                        values.numbers.insert(inst, infos.len());
                        let shape = self.shape(LLVMTypeOf(inst));
                        let name = value_name(inst);
                        infos.push(ValueInfo {
                            shape: shape.unwrap_or_default(),
                            name: plain_name(&name),
                            ..ValueInfo::default()
                        });
                    }
                    inst = LLVMGetNextInstruction(inst);
                }
                block = LLVMGetNextBasicBlock(block);
            }
            let mut debug_types = HashMap::new();
            self.names(function, &values, &mut infos, &mut debug_types);
            let mut blocks = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                blocks.push(self.block(block, &values, &debug_types));
                block = LLVMGetNextBasicBlock(block);
            }
            if let (Some(problem), Some(first)) = (problem, blocks.first_mut()) {
                first.insts.insert(
                    0,
                    Inst {
                        result: None,
                        kind: Kind::Unsupported(problem),
                        loc: None,
                    },
                );
            }
            let byval_kind = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
            let by_value = (0..params as u32)
                .map(|index| {
                    let attribute = LLVMGetEnumAttributeAtIndex(function, index + 1, byval_kind);
                    (!attribute.is_null())
                        .then(|| self.bytes_of(LLVMGetTypeAttributeValue(attribute)))
                })
                .collect();
            let subprogram = LLVMGetSubprogram(function);
            let (mut loc, mut is_runtime) = (None, false);
            if !subprogram.is_null()
                && let Some(file) = self.file(subprogram)
            {
                is_runtime = Some(file) == self.runtime_file;
                loc = Some(Loc {
                    file,
                    line: LLVMDISubprogramGetLine(subprogram),
                    column: 1,
                });
            }
            Function {
                name: value_name(function),
                params,
                values: infos,
                blocks,
                return_shape: self.shape(LLVMGetReturnType(ty)).unwrap_or_default(),
                is_variadic: LLVMIsFunctionVarArg(ty) != 0,
                by_value,
                is_runtime,
                loc: loc.filter(|_| !is_runtime),
            }
        }
    }

    /// Which variable of the source each value belongs to.
    unsafe fn names(
        &mut self,
        function: LLVMValueRef,
        values: &Values,
        infos: &mut [ValueInfo],
        debug_types: &mut HashMap<LLVMValueRef, DebugType>,
    ) {
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    let is_debug = LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMCall
                        && value_name(LLVMGetCalledValue(inst)).starts_with("llvm.dbg.")
                        && LLVMGetNumOperands(inst) >= 2;
                    if is_debug {
                        self.note_variable(inst, values, infos, debug_types);
                    }
                    inst = LLVMGetNextInstruction(inst);
                }
                block = LLVMGetNextBasicBlock(block);
            }
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
                }
            }
            debug_types.entry(value).or_insert(debug);
        }
    }

    unsafe fn block(
        &mut self,
        block: LLVMBasicBlockRef,
        values: &Values,
        debug_types: &HashMap<LLVMValueRef, DebugType>,
    ) -> Block {
        unsafe {
            let mut insts = Vec::new();
            let terminator = LLVMGetBasicBlockTerminator(block);
            let mut inst = LLVMGetFirstInstruction(block);
            while !inst.is_null() && inst != terminator {
                if let Some(kind) = self.inst(inst, values, debug_types) {
                    insts.push(Inst {
                        result: values.numbers.get(&inst).copied(),
                        kind,
                        loc: self.loc(inst),
                    });
                }
                inst = LLVMGetNextInstruction(inst);
            }
            Block {
                insts,
                end: self.terminator(terminator, values),
                end_loc: self.loc(terminator),
            }
        }
    }

    unsafe fn terminator(&mut self, inst: LLVMValueRef, values: &Values) -> Terminator {
        unsafe {
            let target = |index: u32| values.blocks[&LLVMGetSuccessor(inst, index)];
            match LLVMGetInstructionOpcode(inst) {
                LLVMOpcode::LLVMRet => Terminator::Return(
                    (LLVMGetNumOperands(inst) > 0)
                        .then(|| self.operand(LLVMGetOperand(inst, 0), values)),
                ),
                LLVMOpcode::LLVMBr if LLVMIsConditional(inst) != 0 => Terminator::Branch {
                    condition: self.operand(LLVMGetCondition(inst), values),
                    then: target(0),
                    otherwise: target(1),
                },
                LLVMOpcode::LLVMBr => Terminator::Jump(target(0)),
                LLVMOpcode::LLVMSwitch => {
                    let value = LLVMGetOperand(inst, 0);
                    if self.shape(LLVMTypeOf(value)).is_none() {
                        return Terminator::Unsupported(printed(inst));
                    }
                    let cases = (1..LLVMGetNumSuccessors(inst))
                        .map(|index| {
                            let case = LLVMGetOperand(inst, 2 * index);
                            (LLVMConstIntGetZExtValue(case), target(index))
                        })
                        .collect();
                    Terminator::Switch {
                        value: self.operand(value, values),
                        cases,
                        default: target(0),
                    }
                }
                LLVMOpcode::LLVMUnreachable => Terminator::Unreachable,
                _ => Terminator::Unsupported(printed(inst)),
            }
        }
    }

    unsafe fn note_ordering(&mut self, ordering: LLVMAtomicOrdering, inst: LLVMValueRef) {
        use LLVMAtomicOrdering::*;
        let is_weak = !matches!(
            ordering,
            LLVMAtomicOrderingNotAtomic | LLVMAtomicOrderingSequentiallyConsistent
        );
        if is_weak && self.out.weak_ordering.is_none() {
            self.out.weak_ordering = Some(unsafe { self.loc(inst) });
        }
    }

    /// The instruction; none if it does nothing.
    unsafe fn inst(
        &mut self,
        inst: LLVMValueRef,
        values: &Values,
        debug_types: &HashMap<LLVMValueRef, DebugType>,
    ) -> Option<Kind> {
        use LLVMOpcode::*;
        unsafe {
            let unsupported = || Some(Kind::Unsupported(printed(inst)));
            let ty = LLVMTypeOf(inst);
            let opcode = LLVMGetInstructionOpcode(inst);
            let Some(shape) = self.shape(ty) else {
                return unsupported();
            };
            let operand_of = |index: u32| LLVMGetOperand(inst, index);
            Some(match opcode {
                LLVMPHI => Kind::Phi(
                    (0..LLVMCountIncoming(inst))
                        .map(|index| {
                            (
                                self.operand(LLVMGetIncomingValue(inst, index), values),
                                values.blocks[&LLVMGetIncomingBlock(inst, index)],
                            )
                        })
                        .collect(),
                ),
                LLVMLoad => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    Kind::Load {
                        pointer: self.operand(operand_of(0), values),
                        shape,
                        atomic: is_atomic(LLVMGetOrdering(inst)),
                    }
                }
                LLVMStore => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    let value = operand_of(0);
                    let Some(shape) = self.shape(LLVMTypeOf(value)) else {
                        return unsupported();
                    };
                    Kind::Store {
                        pointer: self.operand(operand_of(1), values),
                        value: self.operand(value, values),
                        shape,
                        atomic: is_atomic(LLVMGetOrdering(inst)),
                    }
                }
                LLVMAtomicRMW => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    use LLVMAtomicRMWBinOp::*;
                    let kind = match LLVMGetAtomicRMWBinOp(inst) {
                        LLVMAtomicRMWBinOpXchg => RmwKind::Exchange,
                        LLVMAtomicRMWBinOpAdd => RmwKind::Add,
                        LLVMAtomicRMWBinOpSub => RmwKind::Sub,
                        LLVMAtomicRMWBinOpAnd => RmwKind::And,
                        LLVMAtomicRMWBinOpNand => RmwKind::Nand,
                        LLVMAtomicRMWBinOpOr => RmwKind::Or,
                        LLVMAtomicRMWBinOpXor => RmwKind::Xor,
                        LLVMAtomicRMWBinOpMax => RmwKind::Max,
                        LLVMAtomicRMWBinOpMin => RmwKind::Min,
                        LLVMAtomicRMWBinOpUMax => RmwKind::UMax,
                        LLVMAtomicRMWBinOpUMin => RmwKind::UMin,
                        _ => return unsupported(),
                    };
                    Kind::Rmw {
                        kind,
                        pointer: self.operand(operand_of(0), values),
                        value: self.operand(operand_of(1), values),
                        width: *shape.first()?,
                    }
                }
                LLVMAtomicCmpXchg => {
                    self.note_ordering(LLVMGetCmpXchgSuccessOrdering(inst), inst);
                    self.note_ordering(LLVMGetCmpXchgFailureOrdering(inst), inst);
                    Kind::CompareExchange {
                        pointer: self.operand(operand_of(0), values),
                        expected: self.operand(operand_of(1), values),
                        new: self.operand(operand_of(2), values),
                        width: *shape.first()?,
                    }
                }
                LLVMFence => {
                    self.note_ordering(LLVMGetOrdering(inst), inst);
                    return None;
                }
                LLVMAlloca => Kind::Alloca {
                    layout: self.layout(LLVMGetAllocatedType(inst)),
                    count: self.operand(operand_of(0), values),
                    debug: debug_types.get(&inst).cloned().unwrap_or_default(),
                },
                LLVMCall => return self.call(inst, shape, values),
                LLVMExtractValue | LLVMInsertValue => {
                    let indices = std::slice::from_raw_parts(
                        LLVMGetIndices(inst),
                        LLVMGetNumIndices(inst) as usize,
                    );
                    let aggregate = operand_of(0);
                    let Some((first, count)) = self.part(LLVMTypeOf(aggregate), indices) else {
                        return unsupported();
                    };
                    Kind::Pure(if opcode == LLVMExtractValue {
                        Pure::Extract {
                            from: self.operand(aggregate, values),
                            first,
                            count,
                        }
                    } else {
                        Pure::Insert {
                            into: self.operand(aggregate, values),
                            value: self.operand(operand_of(1), values),
                            first,
                        }
                    })
                }
                _ => match self.pure(inst, opcode, values) {
                    Some(pure) => Kind::Pure(pure),
                    None if is_floating(opcode) => {
                        return Some(Kind::Unsupported(
                            "floating-point computation with values that are not constant".into(),
                        ));
                    }
                    None => return unsupported(),
                },
            })
        }
    }

    /// Arithmetic, comparison, conversion, addresses: of instructions and constants.
    unsafe fn pure(
        &mut self,
        value: LLVMValueRef,
        opcode: LLVMOpcode,
        values: &Values,
    ) -> Option<Pure> {
        use LLVMOpcode::*;
        unsafe {
            let operand_of = |index: u32| LLVMGetOperand(value, index);
            let binary = match opcode {
                LLVMAdd => Some(BinaryKind::Add),
                LLVMSub => Some(BinaryKind::Sub),
                LLVMMul => Some(BinaryKind::Mul),
                LLVMUDiv => Some(BinaryKind::UDiv),
                LLVMSDiv => Some(BinaryKind::SDiv),
                LLVMURem => Some(BinaryKind::URem),
                LLVMSRem => Some(BinaryKind::SRem),
                LLVMAnd => Some(BinaryKind::And),
                LLVMOr => Some(BinaryKind::Or),
                LLVMXor => Some(BinaryKind::Xor),
                LLVMShl => Some(BinaryKind::Shl),
                LLVMLShr => Some(BinaryKind::LShr),
                LLVMAShr => Some(BinaryKind::AShr),
                _ => None,
            };
            if let Some(kind) = binary {
                let has_flag = matches!(opcode, LLVMAdd | LLVMSub | LLVMMul);
                return Some(Pure::Binary {
                    kind,
                    nsw: has_flag && LLVMGetNSW(value) != 0,
                    lhs: self.operand(operand_of(0), values),
                    rhs: self.operand(operand_of(1), values),
                });
            }
            let integral = |ty: LLVMTypeRef| {
                matches!(
                    LLVMGetTypeKind(ty),
                    LLVMTypeKind::LLVMIntegerTypeKind | LLVMTypeKind::LLVMPointerTypeKind
                )
            };
            Some(match opcode {
                LLVMICmp => {
                    use LLVMIntPredicate::*;
                    let predicate = match LLVMGetICmpPredicate(value) {
                        LLVMIntEQ => Predicate::Eq,
                        LLVMIntNE => Predicate::Ne,
                        LLVMIntUGT => Predicate::Ugt,
                        LLVMIntUGE => Predicate::Uge,
                        LLVMIntULT => Predicate::Ult,
                        LLVMIntULE => Predicate::Ule,
                        LLVMIntSGT => Predicate::Sgt,
                        LLVMIntSGE => Predicate::Sge,
                        LLVMIntSLT => Predicate::Slt,
                        LLVMIntSLE => Predicate::Sle,
                    };
                    Pure::Compare {
                        predicate,
                        lhs: self.operand(operand_of(0), values),
                        rhs: self.operand(operand_of(1), values),
                    }
                }
                LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr
                | LLVMAddrSpaceCast => Pure::Resize {
                    width: *self.shape(LLVMTypeOf(value))?.first()?,
                    arg: self.operand(operand_of(0), values),
                    extension: if opcode == LLVMSExt {
                        Extension::Sign
                    } else {
                        Extension::Zero
                    },
                },
                // Between a float and an integer of the same size: the bits stay.
                LLVMBitCast => Pure::Copy(self.operand(operand_of(0), values)),
                LLVMFreeze => Pure::Copy(self.operand(operand_of(0), values)),
                LLVMSelect if integral(LLVMTypeOf(operand_of(0))) => Pure::Select {
                    condition: self.operand(operand_of(0), values),
                    then: self.operand(operand_of(1), values),
                    otherwise: self.operand(operand_of(2), values),
                },
                LLVMGetElementPtr => self.address(value, values)?,
                _ => return None,
            })
        }
    }

    unsafe fn address(&mut self, value: LLVMValueRef, values: &Values) -> Option<Pure> {
        unsafe {
            let mut ty = LLVMGetGEPSourceElementType(value);
            let mut offset = 0i64;
            let mut terms = Vec::new();
            let mut moves_base = false;
            for index in 1..LLVMGetNumOperands(value) as u32 {
                let by = LLVMGetOperand(value, index);
                if index > 1 && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                    let field = LLVMConstIntGetZExtValue(by) as u32;
                    let at = LLVMOffsetOfElement(self.data, ty, field);
                    offset = offset.checked_add_unsigned(at)?;
                    ty = LLVMStructGetTypeAtIndex(ty, field);
                    continue;
                }
                if index > 1 {
                    ty = LLVMGetElementType(ty);
                }
                let stride = i64::try_from(self.bytes_of(ty)).ok()?;
                if LLVMIsAConstantInt(by).is_null() {
                    terms.push((self.operand(by, values), stride));
                    moves_base |= index == 1;
                } else {
                    let by = LLVMConstIntGetSExtValue(by);
                    offset = offset.checked_add(by.checked_mul(stride)?)?;
                }
            }
            Some(Pure::Gep {
                base: self.operand(LLVMGetOperand(value, 0), values),
                offset,
                terms,
                moves_base,
            })
        }
    }

    unsafe fn operand(&mut self, value: LLVMValueRef, values: &Values) -> Operand {
        unsafe {
            if let Some(&number) = values.numbers.get(&value) {
                return Operand::Value(number);
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

    unsafe fn call(&mut self, inst: LLVMValueRef, shape: Shape, values: &Values) -> Option<Kind> {
        unsafe {
            let callee = LLVMGetCalledValue(inst);
            let count = LLVMGetNumArgOperands(inst);
            if !LLVMIsAInlineAsm(callee).is_null() {
                let mut length = 0;
                let start = LLVMGetInlineAsmAsmString(callee, &mut length);
                let code = text(start, length);
                // A barrier for the compiler only.
                if code.trim().is_empty() && shape.is_empty() {
                    return None;
                }
                return Some(Kind::Unsupported(format!("inline assembly `{code}`")));
            }
            let name = value_name(callee);
            if name.starts_with("llvm.dbg.") {
                return None;
            }
            let mut args = Vec::new();
            let mut arg_shapes = Vec::new();
            for index in 0..count {
                let arg = LLVMGetOperand(inst, index);
                if LLVMGetTypeKind(LLVMTypeOf(arg)) == LLVMTypeKind::LLVMMetadataTypeKind {
                    return None;
                }
                // What a call does with an argument of another kind is its own matter.
                let arg_shape = self.shape(LLVMTypeOf(arg));
                args.push(match arg_shape {
                    Some(_) => self.operand(arg, values),
                    None => Operand::Unsupported(printed(arg)),
                });
                arg_shapes.push(arg_shape.unwrap_or_default());
            }
            if let Some(kind) = self.intrinsic(&name, &args, &shape) {
                return kind;
            }
            let byval_kind = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
            let by_value = (0..count)
                .map(|index| {
                    let attribute = LLVMGetCallSiteEnumAttribute(inst, index + 1, byval_kind);
                    (!attribute.is_null())
                        .then(|| self.bytes_of(LLVMGetTypeAttributeValue(attribute)))
                })
                .collect();
            let callee = match self.operand(callee, values) {
                Operand::Function(id) => Callee::Function(id),
                other => Callee::Indirect(other),
            };
            Some(Kind::Call {
                callee,
                args,
                by_value,
                shape,
                arg_shapes,
            })
        }
    }

    /// LLVM's own functions; the outer none leaves it a call, the inner one drops it.
    fn intrinsic(&self, name: &str, args: &[Operand], shape: &Shape) -> Option<Option<Kind>> {
        let rest = name.strip_prefix("llvm.")?;
        let arg = |index: usize| args.get(index).cloned();
        let is = |prefix: &str| rest == prefix || rest.starts_with(&format!("{prefix}."));
        let pure = |pure: Pure| Some(Some(Kind::Pure(pure)));
        const OVERFLOWS: [(&str, BinaryKind, bool); 6] = [
            ("sadd.with.overflow", BinaryKind::Add, true),
            ("uadd.with.overflow", BinaryKind::Add, false),
            ("ssub.with.overflow", BinaryKind::Sub, true),
            ("usub.with.overflow", BinaryKind::Sub, false),
            ("smul.with.overflow", BinaryKind::Mul, true),
            ("umul.with.overflow", BinaryKind::Mul, false),
        ];
        for (prefix, kind, signed) in OVERFLOWS {
            if is(prefix) {
                return pure(Pure::WithOverflow {
                    kind,
                    signed,
                    lhs: arg(0)?,
                    rhs: arg(1)?,
                });
            }
        }
        const CHOICES: [(&str, Predicate); 4] = [
            ("smax", Predicate::Sgt),
            ("smin", Predicate::Slt),
            ("umax", Predicate::Ugt),
            ("umin", Predicate::Ult),
        ];
        for (prefix, predicate) in CHOICES {
            if is(prefix) {
                return pure(Pure::MinMax {
                    predicate,
                    lhs: arg(0)?,
                    rhs: arg(1)?,
                });
            }
        }
        const BITS: [(&str, BitsKind); 4] = [
            ("ctpop", BitsKind::Population),
            ("ctlz", BitsKind::LeadingZeros),
            ("cttz", BitsKind::TrailingZeros),
            ("bswap", BitsKind::ByteSwap),
        ];
        for (prefix, kind) in BITS {
            if is(prefix) {
                return pure(Pure::Bits { kind, arg: arg(0)? });
            }
        }
        if is("lifetime.start") || is("lifetime.end") {
            return Some(Some(Kind::Lifetime {
                pointer: arg(1)?,
                begins: is("lifetime.start"),
            }));
        }
        if is("abs") {
            return pure(Pure::Abs(arg(0)?));
        }
        if is("expect") || is("threadlocal.address") || is("ptr.annotation") || is("ssa.copy") {
            return pure(Pure::Copy(arg(0)?));
        }
        if is("is.constant") {
            return pure(Pure::Copy(Operand::Int { value: 0, width: 1 }));
        }
        if is("objectsize") {
            let unknown = matches!(args.get(1), Some(Operand::Int { value: 0, .. }));
            let value = if unknown { u64::MAX } else { 0 };
            let width = *shape.first()?;
            return pure(Pure::Copy(Operand::Int {
                value: value & mover_ir::expr::mask(width),
                width,
            }));
        }
        let nothing = [
            "assume",
            "donothing",
            "stackrestore",
            "var.annotation",
            "prefetch",
            "experimental.noalias.scope.decl",
            "sideeffect",
            "invariant.start",
            "invariant.end",
        ];
        if nothing.iter().any(|name| is(name)) {
            return Some(None);
        }
        if is("stacksave") {
            let width = self.out.pointer_width();
            return pure(Pure::Copy(Operand::Int { value: 0, width }));
        }
        None
    }
}

fn is_floating(opcode: LLVMOpcode) -> bool {
    use LLVMOpcode::*;
    matches!(
        opcode,
        LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMFCmp
            | LLVMFPExt
            | LLVMFPTrunc
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMSIToFP
            | LLVMUIToFP
    )
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

/// The name without what passes append: `x.addr`, `x.0.i`.
fn plain_name(name: &str) -> String {
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

/// Functions of the C library that the runtime of native replay stands in for.
const REPLACED: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_unlock",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
    "mtx_unlock",
    "pthread_spin_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "sem_wait",
    "sem_timedwait",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "cnd_wait",
    "cnd_timedwait",
    "cnd_signal",
    "cnd_broadcast",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_once",
    "call_once",
    "pthread_create",
    "thrd_create",
    "pthread_join",
    "thrd_join",
    "pthread_detach",
    "thrd_detach",
    "malloc",
    "__VERIFIER_nondet_int",
    "__VERIFIER_nondet_uint",
    "__VERIFIER_nondet_long",
    "__VERIFIER_nondet_ulong",
    "__VERIFIER_nondet_short",
    "__VERIFIER_nondet_ushort",
    "__VERIFIER_nondet_char",
    "__VERIFIER_nondet_uchar",
    "__VERIFIER_nondet_bool",
    "__VERIFIER_nondet__Bool",
    "__VERIFIER_nondet_unsigned",
    "__VERIFIER_nondet_unsigned_int",
    "__VERIFIER_nondet_longlong",
    "__VERIFIER_nondet_ulonglong",
    "__VERIFIER_nondet_size_t",
    "__VERIFIER_nondet_u8",
    "__VERIFIER_nondet_u16",
    "__VERIFIER_nondet_u32",
    "__VERIFIER_assert",
    "pthread_exit",
    "thrd_exit",
    "__VERIFIER_assume",
    "__VERIFIER_atomic_begin",
    "__VERIFIER_atomic_end",
    "__assert_fail",
];

/// What is called before an instruction, to tell the runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hook {
    /// One access.
    Access,
    /// Many accesses of a library function.
    Bulk,
    /// The function called asks for its turn itself.
    Site,
    /// The violation itself.
    Error,
}

/// Puts calls before accesses for native replay and writes the module; gives the
/// places of the source that the calls name by number.
pub fn instrument(
    files: &[&Path],
    output: &Path,
    checks_memory: bool,
) -> Result<Vec<crate::Site>, String> {
    let context = Context::create();
    let mut linked: Option<inkwell::module::Module> = None;
    for file in files {
        let buffer = MemoryBuffer::create_from_file(file)
            .map_err(|error| format!("{}: {}", file.display(), first_line(&error.to_string())))?;
        let module = parse(&context, buffer, file)?;
        match &linked {
            None => linked = Some(module),
            Some(all) => link(all, module, file)?,
        }
    }
    let module = linked.ok_or("no input")?;
    // SAFETY: the module is valid and lives until the end of this function.
    let sites = unsafe {
        let raw = module.as_mut_ptr();
        prepare(raw)?;
        let sites = Reader::new(raw).instrument();
        if checks_memory {
            ask_for_address_sanitizer(raw);
        }
        sites
    };
    module
        .verify()
        .map_err(|error| format!("instrumented wrongly: {}", first_line(&error.to_string())))?;
    if module.write_bitcode_to_path(output) {
        Ok(sites)
    } else {
        Err(format!("cannot write {}", output.display()))
    }
}

unsafe fn ask_for_address_sanitizer(module: LLVMModuleRef) {
    unsafe {
        let name = "sanitize_address";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            if LLVMIsDeclaration(function) == 0 {
                LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

impl Reader {
    unsafe fn instrument(&mut self) -> Vec<crate::Site> {
        unsafe {
            let void = LLVMVoidTypeInContext(self.context);
            let int = LLVMInt32TypeInContext(self.context);
            let mut with_site = [int];
            let takes_site = LLVMFunctionType(void, with_site.as_mut_ptr(), 1, 0);
            let takes_nothing = LLVMFunctionType(void, std::ptr::null_mut(), 0, 0);
            let functions = [
                (Hook::Access, c"mover_native_access", takes_site),
                (Hook::Bulk, c"mover_native_bulk", takes_site),
                (Hook::Site, c"mover_native_site", takes_site),
                (Hook::Error, c"mover_native_error", takes_nothing),
            ]
            .map(|(hook, name, ty)| (hook, LLVMAddFunction(self.module, name.as_ptr(), ty), ty));
            let mut numbers: HashMap<Loc, u32> = HashMap::new();
            let mut order: Vec<Loc> = Vec::new();
            let builder = LLVMCreateBuilderInContext(self.context);
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                let mut block = LLVMGetFirstBasicBlock(function);
                while !block.is_null() {
                    let mut inst = LLVMGetFirstInstruction(block);
                    while !inst.is_null() {
                        let hook = hook(inst);
                        if let (Some(hook), Some(loc)) = (hook, self.loc(inst)) {
                            let number = *numbers.entry(loc).or_insert_with(|| {
                                order.push(loc);
                                order.len() as u32 - 1
                            });
                            let called = functions.iter().find(|(of, ..)| *of == hook);
                            if let Some(&(_, called, ty)) = called {
                                LLVMPositionBuilderBefore(builder, inst);
                                LLVMSetCurrentDebugLocation2(
                                    builder,
                                    LLVMInstructionGetDebugLoc(inst),
                                );
                                let mut args = [LLVMConstInt(int, u64::from(number), 0)];
                                let count = u32::from(hook != Hook::Error);
                                LLVMBuildCall2(
                                    builder,
                                    ty,
                                    called,
                                    args.as_mut_ptr(),
                                    count,
                                    c"".as_ptr(),
                                );
                            }
                        }
                        inst = LLVMGetNextInstruction(inst);
                    }
                    block = LLVMGetNextBasicBlock(block);
                }
                function = LLVMGetNextFunction(function);
            }
            LLVMDisposeBuilder(builder);
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                let name = value_name(function);
                if LLVMIsDeclaration(function) != 0 && REPLACED.contains(&&*name) {
                    let name = format!("mover_native_{name}");
                    LLVMSetValueName2(function, name.as_ptr().cast(), name.len());
                }
                function = LLVMGetNextFunction(function);
            }
            let files = &self.out.files;
            order
                .into_iter()
                .map(|loc| crate::Site {
                    file: files.get(loc.file as usize).cloned().unwrap_or_default(),
                    line: loc.line,
                    column: loc.column,
                })
                .collect()
        }
    }
}

/// What the runtime is to be told before an instruction.
unsafe fn hook(inst: LLVMValueRef) -> Option<Hook> {
    unsafe {
        match LLVMGetInstructionOpcode(inst) {
            LLVMOpcode::LLVMLoad
            | LLVMOpcode::LLVMStore
            | LLVMOpcode::LLVMAtomicRMW
            | LLVMOpcode::LLVMAtomicCmpXchg
            | LLVMOpcode::LLVMFence => Some(Hook::Access),
            LLVMOpcode::LLVMCall => {
                let callee = LLVMGetCalledValue(inst);
                if LLVMIsAFunction(callee).is_null() {
                    return None;
                }
                let name = value_name(callee);
                if matches!(&*name, "reach_error" | "__VERIFIER_error") {
                    return Some(Hook::Error);
                }
                if LLVMIsDeclaration(callee) == 0 {
                    return None;
                }
                if name.starts_with("llvm.mem")
                    || name.ends_with("_init") && !REPLACED.contains(&&*name)
                    || crate::RUNTIME.contains(&format!("__mover_{name}(")) && name != "free"
                {
                    return Some(Hook::Bulk);
                }
                if name.starts_with("llvm.") {
                    return None;
                }
                if REPLACED.contains(&&*name) {
                    return Some(Hook::Site);
                }
                Some(Hook::Access)
            }
            _ => None,
        }
    }
}

fn is_atomic(ordering: LLVMAtomicOrdering) -> bool {
    !matches!(ordering, LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic)
}

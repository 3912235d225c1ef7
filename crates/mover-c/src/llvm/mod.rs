//! Reading LLVM's modules: the only place that accesses LLVM.
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
//! but recursive ones, and those that would become too large, `sizes`), and `sroa` keeps local variables whose address does not
//! escape in registers. Between the two, copies of structures are split into their
//! scalars (`copies`), which `sroa` would otherwise merge. No load or store of a global, of the heap or of an
//! escaping local is moved, merged or removed.
//!
//! **Parts.** `passes` links and prepares. The reader copies: `types`, `constants`,
//! `functions`, `instructions` and `calls` have each what their names say, `wide` and `wide_atomics` replace integers of 128 bits and atomic operations on them, `debug` says what
//! things are called and where they are in the source. `instrument` changes a module for native replay.

mod addresses;
mod callbacks;
mod calls;
mod classes;
mod constants;
mod copies;
mod debug;
mod demangle;
mod error;
mod exceptions;
mod functions;
mod instructions;
mod instrument;
mod lists;
mod literals;
mod passes;
mod registers;
mod scopes;
mod sizes;
mod types;
mod volatile;
mod wide;
mod wide_atomics;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use mover_tools::visible;

use crate::flatten::{is_output, is_sleep, plain_name};
use crate::ssa::{BlockId, FunctionId, GlobalId, Module, ValueId};
use passes::{first_line, link, prepare, read_all};

pub use demangle::{short, thread_name};
pub use error::{LlvmError, RuntimeError};
pub use instrument::instrument;

unsafe extern "C" {
    /// Not in llvm-sys. With the old format, debug variables are calls again.
    fn LLVMSetIsNewDbgInfoFormat(module: LLVMModuleRef, on: i32);
}

/// Reads and links the files and prepares them. The runtime library is compiled only for programs that need it.
pub fn read(
    files: &[&Path],
    volatile_atomic: bool,
    checks_overflow: bool,
    entry: Option<&str>,
    runtime: impl FnOnce(&[String]) -> Result<PathBuf, RuntimeError>,
) -> Result<Module, LlvmError> {
    let context = Context::create();
    let module = read_all(&context, files)?;
    if volatile_atomic {
        // SAFETY: the module is valid.
        unsafe { volatile::make_atomic(module.as_mut_ptr()) };
    }
    // SAFETY: the module is valid.
    let divides_wide = unsafe {
        wide_atomics::call_library(module.as_mut_ptr());
        wide::lower(module.as_mut_ptr(), checks_overflow)
    };
    if let Some(entry) = entry {
        // SAFETY: the module is valid.
        unsafe { keep(module.as_mut_ptr(), entry) };
    }
    // SAFETY: the module is valid.
    if let Some(missing) = unsafe { needed_of_runtime(module.as_mut_ptr(), divides_wide) } {
        link(&context, &module, &runtime(&missing)?)?;
    }
    module
        .verify()
        .map_err(|error| LlvmError::Broken(first_line(&error.to_string())))?;
    // SAFETY: the module is valid and lives until the end of this function, and
    // nothing of what is copied from it refers to it.
    unsafe {
        let raw = module.as_mut_ptr();
        // Before passes simplify addresses.
        let sets_mutex_fields = types::sets_mutex_fields(raw);
        prepare(raw)?;
        LLVMSetIsNewDbgInfoFormat(raw, 0);
        let mut read = Reader::new(raw).module()?;
        read.sets_mutex_fields = sets_mutex_fields;
        Ok(read)
    }
}

/// Keeps a function that nobody calls and other files cannot see.
unsafe fn keep(module: LLVMModuleRef, name: &str) {
    unsafe {
        for function in lists::functions(module).filter(|&function| value_name(function) == name) {
            if LLVMIsDeclaration(function) == 0 {
                LLVMSetLinkage(
                    function,
                    inkwell::llvm_sys::LLVMLinkage::LLVMExternalLinkage,
                );
            }
        }
    }
}

/// The first line of the assembly that stands outside of functions.
unsafe fn file_scope_assembly(module: LLVMModuleRef) -> Option<String> {
    unsafe {
        let mut length = 0;
        let start = LLVMGetModuleInlineAsm(module, &mut length);
        let code = text(start, length);
        let mut lines = code.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_string)
    }
}

/// What is missing that the runtime library has; none if nothing of it is needed, not even to pass
/// a structure by value.
unsafe fn needed_of_runtime(module: LLVMModuleRef, divides_wide: bool) -> Option<Vec<String>> {
    unsafe {
        let by_value = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
        let mut is_needed = false;
        let mut missing = Vec::new();
        for function in lists::functions(module) {
            let name = value_name(function);
            is_needed |= (0..LLVMCountParams(function))
                .any(|param| !LLVMGetEnumAttributeAtIndex(function, param + 1, by_value).is_null());
            if LLVMIsDeclaration(function) == 0 {
                continue;
            }
            let plain = plain_name(&name);
            is_needed |= name.starts_with("llvm.mem") || name.ends_with("_chk");
            let is_ignored = (is_output(plain) || is_sleep(plain)) && !is_result_used(function);
            if !is_ignored && crate::runtime::has(plain) {
                missing.push(plain.to_string());
            }
        }
        let mut all =
            lists::functions(module).flat_map(|function| lists::all_instructions(function));
        if all.any(|inst| instructions::is_floating(LLVMGetInstructionOpcode(inst))) {
            missing.push("float_add".into());
        }
        if divides_wide {
            missing.push("wide_udiv".into());
        }
        if lists::functions(module).any(|function| passes_floating_point(function)) {
            missing.push("format_double".into());
        }
        for global in lists::globals(module) {
            let name = value_name(global);
            if LLVMIsDeclaration(global) != 0 && crate::runtime::has(&name) {
                missing.push(name);
            }
        }
        (is_needed || !missing.is_empty()).then_some(missing)
    }
}

/// Whether the program looks at what some call of the function returns.
unsafe fn is_result_used(function: LLVMValueRef) -> bool {
    unsafe {
        let mut next = LLVMGetFirstUse(function);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            let is_call = !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
            let is_ignored = is_call && LLVMGetFirstUse(user).is_null();
            if !is_ignored {
                return true;
            }
            next = LLVMGetNextUse(next);
        }
        false
    }
}

/// Whether a function passes floating point among variable arguments, other than to print it.
unsafe fn passes_floating_point(function: LLVMValueRef) -> bool {
    unsafe {
        lists::all_instructions(function).any(|inst| {
            if LLVMIsACallInst(inst).is_null()
                || LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(inst)) == 0
            {
                return false;
            }
            let name = value_name(LLVMGetCalledValue(inst));
            let is_printed = is_output(plain_name(&name)) && LLVMGetFirstUse(inst).is_null();
            let is_double = |arg| {
                let kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(inst, arg)));
                kind == inkwell::llvm_sys::LLVMTypeKind::LLVMDoubleTypeKind
            };
            !is_printed && (0..LLVMGetNumArgOperands(inst)).any(is_double)
        })
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
    // SAFETY: LLVM gives the start of this many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe fn value_name(value: LLVMValueRef) -> String {
    unsafe {
        let mut length = 0;
        let start = LLVMGetValueName2(value, &mut length);
        // Names in LLVM IR can have any characters, and they are shown.
        let name = text(start, length);
        match visible::name(&name) {
            Cow::Borrowed(_) => name,
            Cow::Owned(shown) => shown,
        }
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
    /// Headers of the system: what they do is shown where the program calls it.
    system_files: HashSet<u32>,
    class_numbers: classes::Classes,
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
                system_files: HashSet::new(),
                class_numbers: classes::Classes::new(),
            }
        }
    }

    unsafe fn module(mut self) -> Result<Module, LlvmError> {
        unsafe {
            if !matches!(self.out.pointer_bytes, 4 | 8) {
                return Err(LlvmError::PointerBytes(self.out.pointer_bytes));
            }
            if LLVMByteOrder(self.data) as u32 != 1 {
                return Err(LlvmError::BigEndian);
            }
            self.globals = lists::globals(self.module).zip(0..).collect();
            self.functions = lists::functions(self.module).zip(0..).collect();
            for global in lists::globals(self.module) {
                if let Some(reason) = self.too_large(LLVMGlobalGetValueType(global), 1) {
                    let name = value_name(global);
                    return Err(LlvmError::Global { name, reason });
                }
                let read = self.global(global);
                self.out.globals.push(read);
            }
            self.classes();
            for function in lists::functions(self.module) {
                let read = self.function(function);
                self.out.functions.push(read);
            }
            self.out.file_scope_assembly = file_scope_assembly(self.module);
            self.constructors();
            self.note_numbers_of_addresses();
            self.note_assumptions();
            Ok(self.out)
        }
    }
}

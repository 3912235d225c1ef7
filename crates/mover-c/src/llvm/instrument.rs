//! The module for native replay: a call to the runtime before each access.
//!
//! The instructions are those that checking has read, because the same passes have run; the
//! calls name source locations, and these are all that a counterexample and the running program
//! have to agree on.

use std::collections::HashMap;
use std::path::Path;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;

use super::lists::{all_instructions, functions};
use super::passes::{first_line, prepare, read_all};
use super::{LlvmError, Reader, value_name};
use crate::flatten::is_output;
use crate::ssa::Loc;

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
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
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
    /// Variables die, each in a step of its own: another thread may use one of them afterwards.
    Ends,
    /// The function called asks for its turn itself.
    Site,
    /// The violation itself.
    Error,
}

/// Puts calls before accesses for native replay and writes the module; returns the
/// places of the source that the calls name by number.
pub fn instrument(
    files: &[&Path],
    output: &Path,
    checks_memory: bool,
) -> Result<Vec<crate::Site>, LlvmError> {
    let context = Context::create();
    let module = read_all(&context, files)?;
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
        .map_err(|error| LlvmError::Instrumented(first_line(&error.to_string())))?;
    if module.write_bitcode_to_path(output) {
        Ok(sites)
    } else {
        Err(LlvmError::Unwritable(output.to_path_buf()))
    }
}

unsafe fn ask_for_address_sanitizer(module: LLVMModuleRef) {
    unsafe {
        let name = "sanitize_address";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
        for function in functions(module) {
            if LLVMIsDeclaration(function) == 0 {
                LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
            }
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
            let hooks = [
                (Hook::Access, c"mover_native_access", takes_site),
                (Hook::Bulk, c"mover_native_bulk", takes_site),
                (Hook::Ends, c"mover_native_ends", takes_site),
                (Hook::Site, c"mover_native_site", takes_site),
                (Hook::Error, c"mover_native_error", takes_nothing),
            ]
            .map(|(hook, name, ty)| (hook, LLVMAddFunction(self.module, name.as_ptr(), ty), ty));
            let mut numbers: HashMap<Loc, u32> = HashMap::new();
            let mut order: Vec<Loc> = Vec::new();
            let builder = LLVMCreateBuilderInContext(self.context);
            // Variables that die together have one hook: a second one would say that the steps
            // are done while some of the variables live.
            let mut dying_at = None;
            for inst in functions(self.module).flat_map(|function| all_instructions(function)) {
                let (Some(hook), Some(loc)) = (hook(inst), self.loc(inst)) else {
                    continue;
                };
                let number = *numbers.entry(loc).or_insert_with(|| {
                    order.push(loc);
                    order.len() as u32 - 1
                });
                let dies_at = (hook == Hook::Ends).then_some(number);
                if dies_at.is_some() && dies_at == dying_at {
                    continue;
                }
                dying_at = dies_at;
                let called = hooks.iter().find(|(of, ..)| *of == hook);
                if let Some(&(_, called, ty)) = called {
                    LLVMPositionBuilderBefore(builder, inst);
                    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(inst));
                    let mut args = [LLVMConstInt(int, u64::from(number), 0)];
                    let count = u32::from(hook != Hook::Error);
                    LLVMBuildCall2(builder, ty, called, args.as_mut_ptr(), count, c"".as_ptr());
                }
            }
            LLVMDisposeBuilder(builder);
            for function in functions(self.module) {
                let name = value_name(function);
                if LLVMIsDeclaration(function) != 0 && REPLACED.contains(&&*name) {
                    let name = format!("mover_native_{name}");
                    LLVMSetValueName2(function, name.as_ptr().cast(), name.len());
                }
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
            LLVMOpcode::LLVMRet => Some(Hook::Ends),
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
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
                    || crate::runtime::has(&name) && !is_output(&name) && name != "free"
                {
                    return Some(Hook::Bulk);
                }
                if name.starts_with("llvm.lifetime.end") {
                    return Some(Hook::Ends);
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

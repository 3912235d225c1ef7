//! What is done to a module before it is read: linking and the two passes.
//!
//! Reading and native replay both begin here, so that they see the same instructions and a
//! step of a counterexample can be found again in the program that runs.

use std::ffi::CStr;
use std::path::Path;

use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::transforms::pass_builder::*;
use inkwell::memory_buffer::MemoryBuffer;

use super::{copies, value_name};

pub(super) fn parse<'c>(
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

pub(super) fn link<'c>(
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

pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

/// Marks everything for inlining and runs the two passes.
pub(super) unsafe fn prepare(module: LLVMModuleRef) -> Result<(), String> {
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

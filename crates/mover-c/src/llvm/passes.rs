//! Preparation of a module before it is read: linking and the two passes.
//!
//! Reading and native replay both begin here, so that they see the same instructions and a step
//! of a counterexample can be found in the running program.

use std::ffi::CStr;
use std::path::Path;

use inkwell::context::Context;
use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::transforms::pass_builder::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};
use inkwell::memory_buffer::MemoryBuffer;

use super::lists::{all_instructions, functions, globals};
use crate::flatten::is_stream_output;

use super::{LlvmError, callbacks, classes, copies, registers, scopes, sizes, value_name};

/// What is called where a constant is not defined; `mover-native.c` has it.
const UNDEFINED: &CStr = c"mover_undefined_constant";

/// Reads the files and links them to one module.
pub(super) fn read_all<'c>(
    context: &'c Context,
    files: &[&Path],
) -> Result<inkwell::module::Module<'c>, LlvmError> {
    let (first, others) = files.split_first().ok_or(LlvmError::NoInput)?;
    let all = parse(context, first)?;
    for file in others {
        link(context, &all, file)?;
    }
    Ok(all)
}

fn parse<'c>(context: &'c Context, file: &Path) -> Result<inkwell::module::Module<'c>, LlvmError> {
    let buffer = MemoryBuffer::create_from_file(file).map_err(|error| LlvmError::Unreadable {
        file: file.to_path_buf(),
        said: first_line(&error.to_string()),
    })?;
    let module = context.create_module_from_ir(buffer);
    module.map_err(|error| LlvmError::NotIr {
        file: file.to_path_buf(),
        said: first_line(&error.to_string()),
    })
}

/// Reads one more file into a module.
pub(super) fn link<'c>(
    context: &'c Context,
    all: &inkwell::module::Module<'c>,
    file: &Path,
) -> Result<(), LlvmError> {
    let module = parse(context, file)?;
    let layout = |module: &inkwell::module::Module| module.get_data_layout().as_str().to_owned();
    if layout(all) != layout(&module) {
        return Err(LlvmError::OtherMachine(file.to_path_buf()));
    }
    all.link_in_module(module).map_err(|error| LlvmError::Link {
        file: file.to_path_buf(),
        said: error.to_string(),
    })
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or(text).to_string()
}

/// Marks everything for inlining and runs the two passes.
pub(super) unsafe fn prepare(module: LLVMModuleRef) -> Result<(), LlvmError> {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let kind = |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let inline = LLVMCreateEnumAttribute(context, kind("alwaysinline"), 0);
        let on_function = u32::MAX;
        let large = sizes::too_large_to_inline(module);
        for function in functions(module) {
            // The body of an `inline` function is the program's own, whoever else may have one.
            if LLVMGetLinkage(function) == LLVMLinkage::LLVMAvailableExternallyLinkage {
                LLVMSetLinkage(function, LLVMLinkage::LLVMLinkOnceODRLinkage);
            }
            if LLVMIsDeclaration(function) == 0 {
                for unwanted in ["noinline", "optnone"] {
                    LLVMRemoveEnumAttributeAtIndex(function, on_function, kind(unwanted));
                }
                // These are known by name, whatever their bodies are.
                let name = value_name(function);
                let is_marker = is_stream_output(&name)
                    || name.starts_with("__VERIFIER_atomic")
                    || matches!(&*name, "reach_error" | "__VERIFIER_error");
                if large.contains(&function) {
                    LLVMRemoveEnumAttributeAtIndex(function, on_function, kind("alwaysinline"));
                } else if !is_marker {
                    LLVMAddAttributeAtIndex(function, on_function, inline);
                }
            }
        }
        classes::mark_calls(module);
        callbacks::mark(module);
        tell_of_undefined_constants(module);
        scopes::keep_inner_lifetimes(module);
        run_passes(module, c"always-inline")?;
        if is_cpp(module) {
            hide(module);
            run_passes(module, c"globaldce")?;
        }
        copies::split(module);
        registers::promote(module, || run_passes(module, c"function(sroa)"))
    }
}

/// Whether the program has code of C++: its functions name how exceptions are handled, or its names are
/// those of C++.
pub(super) unsafe fn is_cpp(module: LLVMModuleRef) -> bool {
    unsafe { functions(module).any(|function| value_name(function).starts_with("_Z")) }
}

/// Lets only what is looked for by its name be seen from outside. Inlining leaves copies behind, and
/// headers of C++ define more than a program uses: without this every pass and every call through a
/// pointer would have to do with all of it.
unsafe fn hide(module: LLVMModuleRef) {
    unsafe {
        let hide = |value: LLVMValueRef| {
            if LLVMIsDeclaration(value) == 0
                && LLVMGetLinkage(value) != LLVMLinkage::LLVMAppendingLinkage
            {
                LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
                LLVMSetComdat(value, std::ptr::null_mut());
            }
        };
        for function in functions(module) {
            let name = value_name(function);
            let is_known = name.starts_with("__mover_")
                || name.starts_with("__VERIFIER_")
                || name == "reach_error"
                || LLVMGetLinkage(function) == LLVMLinkage::LLVMExternalLinkage
                    && !name.starts_with('_');
            if !is_known {
                hide(function);
            }
        }
        for global in globals(module) {
            if value_name(global).starts_with("_Z") {
                hide(global);
            }
        }
    }
}

/// What clang makes of `1 / 0` is a constant that is not defined. Before an instruction that takes
/// one comes a call which says so; passes would only spread it.
unsafe fn tell_of_undefined_constants(module: LLVMModuleRef) {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let noundef = LLVMGetEnumAttributeKindForName(c"noundef".as_ptr(), 7);
        let takes = |inst: LLVMValueRef, number: u32| match LLVMGetInstructionOpcode(inst) {
            // These begin with nothing, or only hand on.
            LLVMOpcode::LLVMInsertValue
            | LLVMOpcode::LLVMInsertElement
            | LLVMOpcode::LLVMShuffleVector
            | LLVMOpcode::LLVMPHI
            | LLVMOpcode::LLVMFreeze => false,
            // Optimised IR has such arguments for parameters that are never read.
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                !LLVMGetCallSiteEnumAttribute(inst, number + 1, noundef).is_null()
            }
            _ => true,
        };
        let is_undefined = |&inst: &LLVMValueRef| {
            let mut operands = 0..LLVMGetNumOperands(inst) as u32;
            operands.any(|number| {
                LLVMIsPoison(LLVMGetOperand(inst, number)) != 0 && takes(inst, number)
            })
        };
        let all = functions(module).flat_map(|function| all_instructions(function));
        let found: Vec<LLVMValueRef> = all.filter(is_undefined).collect();
        if found.is_empty() {
            return;
        }
        let nothing = LLVMVoidTypeInContext(context);
        let ty = LLVMFunctionType(nothing, std::ptr::null_mut(), 0, 0);
        let tell = LLVMAddFunction(module, UNDEFINED.as_ptr(), ty);
        let builder = LLVMCreateBuilderInContext(context);
        for inst in found {
            LLVMPositionBuilderBefore(builder, inst);
            LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(inst));
            LLVMBuildCall2(builder, ty, tell, std::ptr::null_mut(), 0, c"".as_ptr());
        }
        LLVMDisposeBuilder(builder);
    }
}

unsafe fn run_passes(module: LLVMModuleRef, passes: &CStr) -> Result<(), LlvmError> {
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
        Err(LlvmError::Passes(text))
    }
}

//! Functions that a program registers with the library, to be called later.
//!
//! The destructor of an exception, an exit handler and the destructor of thread-specific data are kept in memory
//! of the runtime library, which calls them through pointers. By their types they could be any
//! function whose address is taken, and in C++ nearly all destructors have one type. But such a pointer
//! can only be what was registered: where every registration names its function, the call
//! reaches these functions only. And a function whose address is used for nothing else is no target of any other
//! call through a pointer.
//!
//! This is found out before inlining, which dissolves registrations into stores, and kept as attributes
//! of the functions and of the calls.

use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

use super::classes::users;
use super::lists::{all_instructions, functions};
use super::value_name;

/// What is registered together: the function of the runtime that calls it, and those that register it, with
/// the number of the argument.
struct Group {
    caller: &'static str,
    registered_by: &'static [(&'static str, u32)],
}

const GROUPS: [Group; 4] = [
    Group {
        caller: "__mover_release_exception",
        registered_by: &[
            ("__cxa_throw", 2),
            ("__cxa_init_primary_exception", 2),
            ("__mover_throw_coded", 5),
        ],
    },
    Group {
        caller: "__mover_run_handlers",
        registered_by: &[("atexit", 0), ("__cxa_atexit", 0), ("on_exit", 0)],
    },
    Group {
        caller: "__mover_run_thread_exits",
        registered_by: &[("__cxa_thread_atexit", 0)],
    },
    Group {
        caller: "__mover_leave_thread",
        registered_by: &[("pthread_key_create", 1), ("tss_create", 1)],
    },
];

/// The attribute of a call of the runtime: its group. Functions have one attribute for each group that they are
/// registered in.
const GROUP: &str = "mover-callback";

/// The attribute of a function whose address is used only to register it.
const ONLY: &str = "mover-only-callback";

unsafe fn attribute(context: LLVMContextRef, name: &str, value: &str) -> LLVMAttributeRef {
    unsafe {
        LLVMCreateStringAttribute(
            context,
            name.as_ptr().cast(),
            name.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        )
    }
}

unsafe fn is_call_of(user: LLVMValueRef, callee: LLVMValueRef) -> bool {
    unsafe {
        let is_call = !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
        is_call && LLVMGetCalledValue(user) == callee
    }
}

/// Whether a function is that of the library, and not the program's own by the same name.
unsafe fn is_library(function: LLVMValueRef) -> bool {
    unsafe {
        let name = value_name(function);
        LLVMIsDeclaration(function) != 0
            || name.starts_with("__cxa_")
            || name.starts_with("__mover_")
    }
}

/// The functions that a group can call; none if some registration does not name its function.
unsafe fn registered(module: LLVMModuleRef, group: &Group) -> Option<Vec<LLVMValueRef>> {
    unsafe {
        let mut found = Vec::new();
        for function in functions(module) {
            let name = value_name(function);
            let by = group.registered_by.iter().find(|(by, _)| *by == name);
            let Some(&(_, index)) = by else { continue };
            if !is_library(function) {
                continue;
            }
            for user in users(function) {
                if !is_call_of(user, function) || index >= LLVMGetNumArgOperands(user) {
                    return None;
                }
                // One that registers hands on what it was given.
                let caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
                let caller_name = value_name(caller);
                let is_handed_on = group.registered_by.iter().any(|(by, _)| *by == caller_name);
                if is_handed_on && is_library(caller) {
                    continue;
                }
                let arg = LLVMGetOperand(user, index);
                if !LLVMIsAFunction(arg).is_null() {
                    found.push(arg);
                } else if LLVMIsNull(arg) == 0 {
                    return None;
                }
            }
        }
        Some(found)
    }
}

/// Whether a use of a function registers it, calls it, or puts it into a table of virtual functions, where only
/// virtual calls find it.
unsafe fn is_harmless(user: LLVMValueRef, function: LLVMValueRef) -> bool {
    unsafe {
        if is_call_of(user, function) {
            // Not among the arguments as well.
            let count = LLVMGetNumArgOperands(user);
            return (0..count).all(|index| LLVMGetOperand(user, index) != function);
        }
        if LLVMIsACallInst(user).is_null() && LLVMIsAInvokeInst(user).is_null() {
            return is_in_table(user);
        }
        let callee = LLVMGetCalledValue(user);
        if LLVMIsAFunction(callee).is_null() || !is_library(callee) {
            return false;
        }
        let name = value_name(callee);
        let mut by = GROUPS.iter().flat_map(|group| group.registered_by);
        by.any(|(by, index)| {
            *by == name
                && (0..LLVMGetNumArgOperands(user))
                    .all(|at| at == *index || LLVMGetOperand(user, at) != function)
        })
    }
}

/// Whether a constant is only part of tables of virtual functions.
unsafe fn is_in_table(user: LLVMValueRef) -> bool {
    unsafe {
        if !LLVMIsAGlobalVariable(user).is_null() {
            return crate::flatten::is_table(&value_name(user));
        }
        let is_part =
            !LLVMIsAConstantStruct(user).is_null() || !LLVMIsAConstantArray(user).is_null();
        is_part && users(user).into_iter().all(|user| is_in_table(user))
    }
}

/// Marks what the groups call, and the calls.
pub(super) unsafe fn mark(module: LLVMModuleRef) {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let only = attribute(context, ONLY, "");
        let mut all = Vec::new();
        for (number, group) in GROUPS.iter().enumerate() {
            let Some(caller) = functions(module).find(|&f| value_name(f) == group.caller) else {
                continue;
            };
            let Some(found) = registered(module, group) else {
                continue;
            };
            let of_function = attribute(context, &format!("{GROUP}-{number}"), "");
            for &function in &found {
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, of_function);
            }
            let of_call = attribute(context, GROUP, &number.to_string());
            for inst in all_instructions(caller) {
                let is_call =
                    !LLVMIsACallInst(inst).is_null() || !LLVMIsAInvokeInst(inst).is_null();
                if is_call && LLVMIsAFunction(LLVMGetCalledValue(inst)).is_null() {
                    LLVMAddCallSiteAttribute(inst, LLVMAttributeFunctionIndex, of_call);
                }
            }
            all.extend(found);
        }
        for function in all {
            if users(function)
                .into_iter()
                .all(|user| is_harmless(user, function))
            {
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, only);
            }
        }
    }
}

/// The group of a call through a pointer, if it is one of the runtime's.
pub(super) unsafe fn group_of(call: LLVMValueRef) -> Option<usize> {
    unsafe {
        let name = GROUP.as_ptr().cast();
        let found = LLVMGetCallSiteStringAttribute(
            call,
            LLVMAttributeFunctionIndex,
            name,
            GROUP.len() as u32,
        );
        if found.is_null() {
            return None;
        }
        let mut length = 0;
        let start = LLVMGetStringAttributeValue(found, &mut length);
        super::text(start, length as usize).parse().ok()
    }
}

/// The groups that can call a function.
pub(super) unsafe fn groups(function: LLVMValueRef) -> Vec<usize> {
    unsafe {
        let is_in = |number: &usize| has(function, &format!("{GROUP}-{number}"));
        (0..GROUPS.len()).filter(is_in).collect()
    }
}

/// Whether the address of a function is used only to register it.
pub(super) unsafe fn is_only_registered(function: LLVMValueRef) -> bool {
    unsafe { has(function, ONLY) }
}

unsafe fn has(function: LLVMValueRef, name: &str) -> bool {
    unsafe {
        let start = name.as_ptr().cast();
        let length = name.len() as u32;
        !LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, start, length)
            .is_null()
    }
}

//! How large functions become when calls are inlined.
//!
//! Each function that calls the one before twice doubles the size: 25 of them are 33 million
//! instructions. The size after inlining is the function's own plus those of its callees, so it is
//! known without inlining anything. What would become too large keeps its calls; flattening follows
//! them from `main` only, and says where its own limit is met.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

use super::lists::{all_instructions, functions};

/// Sizes of functions that are inlined; the largest is tried first.
const LARGEST: [u64; 5] = [100_000, 20_000, 5_000, 1_000, 200];
/// Instructions of all functions together, after inlining.
const ALL: u64 = 1_000_000;

struct Calls {
    own: u64,
    callees: Vec<LLVMValueRef>,
}

/// The functions that are not inlined.
pub(super) unsafe fn too_large_to_inline(module: LLVMModuleRef) -> HashSet<LLVMValueRef> {
    let mut calls = HashMap::new();
    // SAFETY: the module is valid and is not changed.
    unsafe {
        for function in functions(module) {
            if LLVMIsDeclaration(function) == 0 {
                calls.insert(function, calls_of(function));
            }
        }
    }
    let mut chosen = HashSet::new();
    for largest in LARGEST {
        let mut sizes = HashMap::new();
        for &function in calls.keys() {
            size(function, largest, &calls, &mut sizes);
        }
        let sum = sizes
            .values()
            .fold(0, |sum: u64, &size| sum.saturating_add(size));
        let is_large = |(_, size): &(&LLVMValueRef, &u64)| **size > largest;
        chosen = sizes
            .iter()
            .filter(is_large)
            .map(|(&function, _)| function)
            .collect();
        if sum <= ALL {
            break;
        }
    }
    chosen
}

unsafe fn calls_of(function: LLVMValueRef) -> Calls {
    let (mut own, mut callees) = (0, Vec::new());
    // SAFETY: the function is one of the module.
    unsafe {
        for inst in all_instructions(function) {
            own += 1;
            let opcode = LLVMGetInstructionOpcode(inst);
            if matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
                callees.push(LLVMGetCalledValue(inst));
            }
        }
    }
    Calls { own, callees }
}

/// The size after inlining what is not larger than `largest`. Functions that call themselves are
/// not inlined.
fn size(
    function: LLVMValueRef,
    largest: u64,
    calls: &HashMap<LLVMValueRef, Calls>,
    sizes: &mut HashMap<LLVMValueRef, u64>,
) -> u64 {
    if let Some(&known) = sizes.get(&function) {
        return known;
    }
    let Some(of) = calls.get(&function) else {
        return 0;
    };
    // For those that call it while it is not known: it is recursive.
    sizes.insert(function, 0);
    let mut sum = of.own;
    for &callee in &of.callees {
        let callee = size(callee, largest, calls, sizes);
        if callee <= largest {
            sum = sum.saturating_add(callee);
        }
    }
    sizes.insert(function, sum);
    sum
}

//! Which stack variables become registers.
//!
//! `sroa` splits local variables and puts them into registers; without it everything would be
//! memory. But it is an optimisation, and treats undefined behaviour as impossible: an access
//! past the end of an array disappears, a pointer may still be used after the function of its
//! variable has returned, and of two values one of which is undefined it chooses the other. All
//! these are errors that we search for. So a variable is left to `sroa` only where nothing can
//! go wrong with it: its address is not stored, every access is at a constant offset inside it,
//! and every path to an access passes the marker of the beginning of its lifetime and not the
//! marker of its end. Every value that is read is first given a fixed undefined value
//! (`freeze`), so that `lower::undefined` sees it. All other variables are kept from `sroa` by
//! a call that might do anything with their address, which is removed afterwards.
//!
//! Addresses that were stored in variables become visible when these have become registers; so
//! this is repeated until nothing changes.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use super::lists::{all_instructions, blocks, functions, instructions};
use super::types::constant_offset;
use super::{LlvmError, value_name};
use crate::lifetimes::{Event, Life, Predecessors};

/// Pointers to pointers to pointers need one round each; whoever has more of them keeps the rest
/// in memory.
const MOST_ROUNDS: usize = 32;

/// Lets `sroa` work as long as it finds variables that may become registers.
pub(super) unsafe fn promote(
    module: LLVMModuleRef,
    sroa: impl Fn() -> Result<(), LlvmError>,
) -> Result<(), LlvmError> {
    unsafe {
        let mut rounds = Rounds {
            data: LLVMGetModuleDataLayout(module),
            context: LLVMGetModuleContext(module),
            keep: std::ptr::null_mut(),
        };
        for _ in 0..MOST_ROUNDS {
            rounds.keep = rounds.declare_keep(module);
            let mut chosen = 0;
            let mut variables = 0;
            for function in functions(module) {
                let map = Map::of(function);
                for &variable in &map.variables {
                    variables += 1;
                    match rounds.harmless(&map, variable) {
                        Some(uses) => {
                            rounds.give_first_values(variable, &uses);
                            chosen += 1;
                        }
                        None => rounds.keep(variable),
                    }
                }
            }
            let result = if chosen > 0 { sroa() } else { Ok(()) };
            rounds.let_go();
            result?;
            let left = functions(module).map(|function| variables_of(function).count());
            if chosen == 0 || left.sum::<usize>() >= variables {
                break;
            }
        }
        forget_first_values(module);
        Ok(())
    }
}

/// What is done with a variable with which nothing can go wrong.
struct Uses {
    /// From which byte on, and what.
    reads: Vec<(i64, LLVMTypeRef)>,
    /// Where its life begins, if that is marked.
    begins: Vec<LLVMValueRef>,
}

/// Where the instructions of a function stand.
struct Map {
    variables: Vec<LLVMValueRef>,
    places: HashMap<LLVMValueRef, (LLVMBasicBlockRef, usize)>,
    predecessors: Predecessors<LLVMBasicBlockRef>,
    entry: LLVMBasicBlockRef,
}

unsafe fn variables_of(function: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    unsafe {
        let is_variable = |inst: &LLVMValueRef| !LLVMIsAAllocaInst(*inst).is_null();
        all_instructions(function).filter(is_variable)
    }
}

impl Map {
    unsafe fn of(function: LLVMValueRef) -> Map {
        unsafe {
            let mut map = Map {
                variables: variables_of(function).collect(),
                places: HashMap::new(),
                predecessors: HashMap::new(),
                entry: LLVMGetFirstBasicBlock(function),
            };
            for block in blocks(function) {
                for (number, inst) in instructions(block).enumerate() {
                    map.places.insert(inst, (block, number));
                }
                let end = LLVMGetBasicBlockTerminator(block);
                for number in 0..LLVMGetNumSuccessors(end) {
                    let next = LLVMGetSuccessor(end, number);
                    map.predecessors.entry(next).or_default().push(block);
                }
            }
            map
        }
    }
}

struct Rounds {
    data: LLVMTargetDataRef,
    context: LLVMContextRef,
    /// The function that might do anything.
    keep: LLVMValueRef,
}

impl Rounds {
    unsafe fn declare_keep(&self, module: LLVMModuleRef) -> LLVMValueRef {
        unsafe {
            let mut pointer = LLVMPointerTypeInContext(self.context, 0);
            let nothing = LLVMVoidTypeInContext(self.context);
            let ty = LLVMFunctionType(nothing, &mut pointer, 1, 0);
            LLVMAddFunction(module, c"mover.keep".as_ptr(), ty)
        }
    }

    unsafe fn keep(&self, variable: LLVMValueRef) {
        unsafe {
            let builder = LLVMCreateBuilderInContext(self.context);
            LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(variable));
            let mut argument = variable;
            let ty = LLVMGlobalGetValueType(self.keep);
            LLVMBuildCall2(builder, ty, self.keep, &mut argument, 1, c"".as_ptr());
            LLVMDisposeBuilder(builder);
        }
    }

    /// Removes what kept variables.
    unsafe fn let_go(&self) {
        unsafe {
            loop {
                let call = LLVMGetFirstUse(self.keep);
                if call.is_null() {
                    break;
                }
                LLVMInstructionEraseFromParent(LLVMGetUser(call));
            }
            LLVMDeleteFunction(self.keep);
        }
    }

    /// What is done with a variable if nothing can go wrong with it.
    unsafe fn harmless(&self, map: &Map, variable: LLVMValueRef) -> Option<Uses> {
        unsafe {
            let count = LLVMGetOperand(variable, 0);
            if LLVMIsAConstantInt(count).is_null() {
                return None;
            }
            let element = LLVMABISizeOfType(self.data, LLVMGetAllocatedType(variable));
            let bytes = LLVMConstIntGetZExtValue(count).checked_mul(element)?;
            let bytes = i64::try_from(bytes).ok()?;
            let mut uses = Uses {
                reads: Vec::new(),
                begins: Vec::new(),
            };
            let mut life = Life::default();
            let mut note = |inst, event| {
                if let Some(&(block, number)) = map.places.get(&inst) {
                    life.note(block, number, event);
                }
            };
            let mut addresses = vec![(variable, 0)];
            while let Some((address, offset)) = addresses.pop() {
                let is_inside = |size: u64| {
                    offset >= 0 && i64::try_from(size).is_ok_and(|s| s <= bytes - offset)
                };
                let mut next = LLVMGetFirstUse(address);
                while !next.is_null() {
                    let user = LLVMGetUser(next);
                    next = LLVMGetNextUse(next);
                    match LLVMGetInstructionOpcode(user) {
                        LLVMOpcode::LLVMLoad => {
                            let ty = LLVMTypeOf(user);
                            let size = LLVMStoreSizeOfType(self.data, ty);
                            if LLVMGetVolatile(user) != 0 || !is_inside(size) {
                                return None;
                            }
                            if !uses.reads.contains(&(offset, ty)) {
                                uses.reads.push((offset, ty));
                            }
                            note(user, Event::Access);
                        }
                        LLVMOpcode::LLVMStore => {
                            let value = LLVMGetOperand(user, 0);
                            let size = LLVMStoreSizeOfType(self.data, LLVMTypeOf(value));
                            if value == address || LLVMGetVolatile(user) != 0 || !is_inside(size) {
                                return None;
                            }
                            note(user, Event::Access);
                        }
                        LLVMOpcode::LLVMGetElementPtr => {
                            let by = constant_offset(self.data, user)?;
                            addresses.push((user, offset.checked_add(by)?));
                        }
                        LLVMOpcode::LLVMBitCast => addresses.push((user, offset)),
                        LLVMOpcode::LLVMCall => {
                            let name = value_name(LLVMGetCalledValue(user));
                            if name.starts_with("llvm.lifetime.") {
                                let begins = name.starts_with("llvm.lifetime.start");
                                if begins {
                                    uses.begins.push(user);
                                }
                                let event = if begins { Event::Begins } else { Event::Ends };
                                note(user, event);
                            } else if self.is_filling(user, &name, address, is_inside) {
                                note(user, Event::Access);
                            } else {
                                return None;
                            }
                        }
                        _ => return None,
                    }
                }
            }
            life.has_all_accesses(&map.predecessors, map.entry)
                .then_some(uses)
        }
    }

    /// Whether a call writes a constant number of bytes to an address, and does nothing else with it.
    unsafe fn is_filling(
        &self,
        call: LLVMValueRef,
        name: &str,
        address: LLVMValueRef,
        is_inside: impl Fn(u64) -> bool,
    ) -> bool {
        unsafe {
            let is_known = ["llvm.memset.", "llvm.memcpy.", "llvm.memmove."]
                .iter()
                .any(|known| name.starts_with(known));
            if !is_known || LLVMGetOperand(call, 0) != address || LLVMGetOperand(call, 1) == address
            {
                return false;
            }
            let constant = |number| {
                let operand = LLVMGetOperand(call, number);
                (!LLVMIsAConstantInt(operand).is_null()).then(|| LLVMConstIntGetZExtValue(operand))
            };
            constant(2).is_some_and(is_inside) && constant(3) == Some(0)
        }
    }

    /// Where a life begins everything that is read is undefined.
    unsafe fn give_first_values(&self, variable: LLVMValueRef, uses: &Uses) {
        unsafe {
            let builder = LLVMCreateBuilderInContext(self.context);
            let begins = if uses.begins.is_empty() {
                std::slice::from_ref(&variable)
            } else {
                &uses.begins[..]
            };
            for &begin in begins {
                LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(begin));
                for &(offset, ty) in &uses.reads {
                    let byte = LLVMInt8TypeInContext(self.context);
                    let word = LLVMIntPtrTypeInContext(self.context, self.data);
                    let mut index = LLVMConstInt(word, offset as u64, 0);
                    let place = LLVMBuildGEP2(builder, byte, variable, &mut index, 1, c"".as_ptr());
                    let anything = LLVMBuildFreeze(builder, LLVMGetUndef(ty), c"".as_ptr());
                    let store = LLVMBuildStore(builder, anything, place);
                    LLVMSetAlignment(store, 1);
                }
            }
            LLVMDisposeBuilder(builder);
        }
    }
}

/// Removes the initial values of variables that have stayed in memory, and those that are never read.
unsafe fn forget_first_values(module: LLVMModuleRef) {
    unsafe {
        let opcode = |inst: LLVMValueRef| LLVMGetInstructionOpcode(inst);
        let is_anything = |value: LLVMValueRef| {
            !LLVMIsAInstruction(value).is_null()
                && opcode(value) == LLVMOpcode::LLVMFreeze
                && LLVMIsUndef(LLVMGetOperand(value, 0)) != 0
        };
        for function in functions(module) {
            let insts: Vec<LLVMValueRef> = all_instructions(function).collect();
            // Later ones first, for values are made before they are stored.
            for &inst in insts.iter().rev() {
                let is_forgotten = match opcode(inst) {
                    LLVMOpcode::LLVMStore => {
                        is_anything(LLVMGetOperand(inst, 0)) && is_on_stack(LLVMGetOperand(inst, 1))
                    }
                    LLVMOpcode::LLVMFreeze => is_anything(inst) && LLVMGetFirstUse(inst).is_null(),
                    _ => false,
                };
                if is_forgotten {
                    LLVMInstructionEraseFromParent(inst);
                }
            }
        }
    }
}

/// Whether an address is that of a variable on the stack or of a part of one.
unsafe fn is_on_stack(address: LLVMValueRef) -> bool {
    unsafe {
        let mut address = address;
        while !LLVMIsAGetElementPtrInst(address).is_null() {
            address = LLVMGetOperand(address, 0);
        }
        !LLVMIsAAllocaInst(address).is_null()
    }
}

//! Which virtual functions a call can reach, by the class hierarchy.
//!
//! An object of C++ points into a table of virtual functions, at an *address point*. With opaque pointers
//! nothing in a virtual call says whose table that can be, so each table with a function of that type in the
//! same place would be a target, and the libraries of C++ have many: the deleter of a shared pointer would
//! be a task, and the task the deleter. clang knows the class that the caller names, and
//! tells it for optimisations of whole programs (`-fwhole-program-vtables`; Bounov, Kıcı and Lerner 2016
//! describe the scheme): a *type test* behind the load of the pointer names the class, and
//! each table names, for itself and its bases, its address points. A call can then reach what stands in the
//! tables of the class and of what is derived from it; an object of another class there is undefined
//! behaviour, and a violation here, because no target fits.
//!
//! A test is not kept, as no machine has it: the call itself gets its class as an attribute, which inlining copies.
//! Tables that say nothing of classes are those of the runtime library, which is C; for them the
//! descriptions of types tell the bases ([`crate::flatten`]).

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

use super::lists::{functions, globals};
use super::{Reader, text, value_name};
use crate::ssa::{AddressPoint, Class};

/// The attribute that names the class of a virtual call. Metadata would be lost where inlining makes an
/// `invoke` of a call.
const CLASS: &str = "mover-class";

/// How virtual calls and tables name a class: by the name of its description, or by the address of a
/// node, for one that other files cannot see.
unsafe fn identifier(context: LLVMContextRef, class: LLVMMetadataRef) -> String {
    unsafe {
        let mut length = 0;
        let start = LLVMGetMDString(LLVMMetadataAsValue(context, class), &mut length);
        match start.is_null() {
            false => text(start, length as usize),
            true => format!("{class:p}"),
        }
    }
}

pub(super) unsafe fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    unsafe {
        let mut all = Vec::new();
        let mut next = LLVMGetFirstUse(value);
        while !next.is_null() {
            all.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
        all
    }
}

/// Moves what type tests say to the calls, and removes the tests.
pub(super) unsafe fn mark_calls(module: LLVMModuleRef) {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let is_test = |&function: &LLVMValueRef| {
            let name = value_name(function);
            matches!(&*name, "llvm.type.test" | "llvm.public.type.test")
        };
        let tests: Vec<LLVMValueRef> = functions(module)
            .filter(is_test)
            .flat_map(|function| users(function))
            .collect();
        for test in tests {
            let table = LLVMGetOperand(test, 0);
            let class = identifier(context, LLVMValueAsMetadata(LLVMGetOperand(test, 1)));
            let attribute = LLVMCreateStringAttribute(
                context,
                CLASS.as_ptr().cast(),
                CLASS.len() as u32,
                class.as_ptr().cast(),
                class.len() as u32,
            );
            let is_load = |value: &LLVMValueRef| !LLVMIsALoadInst(*value).is_null();
            let is_place = |value: &LLVMValueRef| !LLVMIsAGetElementPtrInst(*value).is_null();
            let uses = users(table);
            let places = uses.iter().copied().filter(is_place);
            let mut entries: Vec<LLVMValueRef> = places.flat_map(|place| users(place)).collect();
            entries.extend(&uses);
            for entry in entries.into_iter().filter(is_load) {
                for user in users(entry) {
                    let is_call =
                        !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
                    if is_call && LLVMGetCalledValue(user) == entry {
                        LLVMAddCallSiteAttribute(user, LLVMAttributeFunctionIndex, attribute);
                    }
                }
            }
            let holds = LLVMConstInt(LLVMTypeOf(test), 1, 0);
            LLVMReplaceAllUsesWith(test, holds);
            LLVMInstructionEraseFromParent(test);
        }
    }
}

/// Numbers of classes, by their identifiers.
pub(super) type Classes = HashMap<String, usize>;

impl Reader {
    /// Reads the address points that tables of virtual functions have for each class.
    pub(super) unsafe fn classes(&mut self) {
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context, c"type".as_ptr(), 4);
            for global in globals(self.module) {
                let table = self.globals[&global];
                let mut count = 0;
                let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
                for index in 0..count as u32 {
                    if LLVMValueMetadataEntriesGetKind(entries, index) != kind {
                        continue;
                    }
                    let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
                    let operands = self.node_operands(node);
                    let (Some(&offset), Some(class)) =
                        (operands.first(), self.node_operand(node, 1))
                    else {
                        continue;
                    };
                    if LLVMIsAConstantInt(offset).is_null() {
                        continue;
                    }
                    let offset = LLVMConstIntGetZExtValue(offset);
                    let number = self.class_number(identifier(self.context, class));
                    let point = AddressPoint { table, offset };
                    self.out.classes[number].points.push(point);
                }
                if !entries.is_null() {
                    LLVMDisposeValueMetadataEntries(entries);
                }
            }
        }
    }

    /// The class that a virtual call names, if it does.
    pub(super) unsafe fn class_of(&mut self, call: LLVMValueRef) -> Option<usize> {
        unsafe {
            let attribute = LLVMGetCallSiteStringAttribute(
                call,
                LLVMAttributeFunctionIndex,
                CLASS.as_ptr().cast(),
                CLASS.len() as u32,
            );
            if attribute.is_null() {
                return None;
            }
            let mut length = 0;
            let start = LLVMGetStringAttributeValue(attribute, &mut length);
            Some(self.class_number(text(start, length as usize)))
        }
    }

    fn class_number(&mut self, name: String) -> usize {
        if let Some(&number) = self.class_numbers.get(&name) {
            return number;
        }
        let number = self.out.classes.len();
        self.out.classes.push(Class {
            name: name.clone(),
            points: Vec::new(),
        });
        self.class_numbers.insert(name, number);
        number
    }
}

//! What C++ adds to calls: exceptions and virtual functions.
//!
//! clang follows the Itanium C++ ABI. A call in the scope of a handler or of a destructor is an
//! `invoke`, with a second way out to a *landing pad*. The landing pad yields the exception and the
//! number of the handler that catches it; without one the function runs its destructors and resumes. An
//! `invoke` is read as a call that knows its landing pad and ends its block;
//! [`crate::flatten`] connects throws with landing pads, for it knows all callers.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

use super::types::constant_offset;
use super::{Reader, Values};
use crate::ssa::{Clause, Kind, Operand};

impl Reader {
    /// Where in a table of virtual functions the called one stands; none if it is not from there.
    pub(super) unsafe fn virtual_slot(&self, callee: LLVMValueRef) -> Option<i64> {
        unsafe {
            let is_load = |value: LLVMValueRef| !LLVMIsALoadInst(value).is_null();
            if !is_load(callee) {
                return None;
            }
            let (mut table, mut slot) = (LLVMGetOperand(callee, 0), 0);
            if !LLVMIsAGetElementPtrInst(table).is_null() {
                slot = constant_offset(self.data, table)?;
                table = LLVMGetOperand(table, 0);
            }
            (is_load(table) && self.is_table_pointer(table)).then_some(slot)
        }
    }

    /// Whether a load is marked as that of the pointer to a table of virtual functions.
    unsafe fn is_table_pointer(&self, load: LLVMValueRef) -> bool {
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context, c"tbaa".as_ptr(), 4);
            let tag = LLVMGetMetadata(load, kind);
            if tag.is_null() {
                return false;
            }
            let tag = LLVMValueAsMetadata(tag);
            let Some(accessed) = self.node_operand(tag, 1) else {
                return false;
            };
            self.string_operand(accessed, 0).as_deref() == Some("vtable pointer")
        }
    }

    /// The call of an `invoke`; none if the called intrinsic does nothing.
    pub(super) unsafe fn invoke(&mut self, inst: LLVMValueRef, values: &Values) -> Option<Kind> {
        unsafe {
            let Some(shape) = self.shape(LLVMTypeOf(inst)) else {
                let what = "a call whose result is of a type that is not supported";
                return Some(Kind::Unsupported(what.into()));
            };
            let to = values.blocks[&LLVMGetUnwindDest(inst)];
            let mut kind = self.call(inst, shape, values)?;
            if let Kind::Call { unwind, .. } = &mut kind {
                *unwind = Some(to);
            }
            Some(kind)
        }
    }

    /// What a landing pad catches.
    pub(super) unsafe fn clauses(&mut self, inst: LLVMValueRef, values: &Values) -> Vec<Clause> {
        unsafe {
            (0..LLVMGetNumClauses(inst))
                .map(|number| {
                    let clause = LLVMGetClause(inst, number);
                    match self.operand(clause, values) {
                        _ if LLVMIsNull(clause) != 0 => Clause::CatchAll,
                        Operand::Global(id) => Clause::Catch(id),
                        _ => Clause::Filter,
                    }
                })
                .collect()
        }
    }
}

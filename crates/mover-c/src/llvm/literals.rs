//! Compound literals live as long as the block that they stand in (C11 6.5.2.5, paragraph 5), but clang marks
//! neither the beginning nor the end of their lives. The marks are made here, from the debug
//! information: the scope of the first instruction that touches a literal is its block. Its life begins before
//! that instruction, and ends before the first instruction behind it that is of no such scope.
//!
//! The body of a loop is a block even without braces, but no scope. The source range of the loop stands in
//! for it; then each evaluation makes a new object. A literal that jumps evaluate again within its block stays the
//! same object: it gets no marks, and lives until the function returns.
//!
//! Branches have the place of the whole statement and touch no variable, so they are passed over. What runs at the end
//! of a block (functions of the attribute `cleanup`) has a place behind it, but comes before
//! the ends of the block's variables.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

use super::lists::{all_instructions, blocks, instructions};
use super::scopes::{is_call_of, is_inner};
use super::value_name;

/// What clang calls the variables on the stack that hold compound literals.
const NAME: &str = ".compoundliteral";

/// A place in the source, in the scope of which a loop stands.
#[derive(Clone, Copy)]
struct Range {
    scope: LLVMMetadataRef,
    start: (u32, u32),
    end: (u32, u32),
}

/// The block of a literal.
struct Region {
    scope: LLVMMetadataRef,
    /// The innermost loop in the scope that the literal stands in.
    body: Option<Range>,
}

/// Marks where the lives of a function's compound literals begin and end. `declared` has the scopes of its
/// variables.
pub(super) unsafe fn mark_lives(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    declared: &HashMap<LLVMValueRef, LLVMMetadataRef>,
) {
    unsafe {
        let literals: Vec<LLVMValueRef> = all_instructions(function)
            .filter(|&inst| !LLVMIsAAllocaInst(inst).is_null())
            .filter(|&inst| value_name(inst).starts_with(NAME))
            .collect();
        if literals.is_empty() {
            return;
        }
        let context = LLVMGetModuleContext(module);
        let loops = loops(module, function);
        for literal in literals {
            if let Some(first) = first_use(function, literal)
                && let Some(region) = region(context, first, &loops)
            {
                mark(module, function, literal, first, &region, declared);
            }
        }
    }
}

/// The instruction that touches the literal first, in the order of the source.
unsafe fn first_use(function: LLVMValueRef, literal: LLVMValueRef) -> Option<LLVMValueRef> {
    unsafe {
        let mut users = HashSet::new();
        let mut next = LLVMGetFirstUse(literal);
        while !next.is_null() {
            users.insert(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
        let first = all_instructions(function).find(|inst| users.contains(inst))?;
        LLVMIsAPHINode(first).is_null().then_some(first)
    }
}

/// The loops of a function: clang notes their places at the branches back.
unsafe fn loops(module: LLVMModuleRef, function: LLVMValueRef) -> Vec<Range> {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let name = "llvm.loop";
        let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
        let range = |inst| {
            let noted = LLVMGetMetadata(inst, kind);
            let places: Vec<LLVMMetadataRef> = operands(noted)
                .into_iter()
                .filter(|&operand| {
                    matches!(
                        LLVMGetMetadataKind(operand),
                        LLVMMetadataKind::LLVMDILocationMetadataKind
                    )
                })
                .collect();
            let [start, end] = places[..] else {
                return None;
            };
            Some(Range {
                scope: LLVMDILocationGetScope(start),
                start: position(start),
                end: position(end),
            })
        };
        all_instructions(function).filter_map(range).collect()
    }
}

unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMMetadataRef> {
    unsafe {
        if node.is_null() {
            return Vec::new();
        }
        let mut values = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, values.as_mut_ptr());
        let present = values.into_iter().filter(|value| !value.is_null());
        present.map(|value| LLVMValueAsMetadata(value)).collect()
    }
}

unsafe fn position(place: LLVMMetadataRef) -> (u32, u32) {
    unsafe { (LLVMDILocationGetLine(place), LLVMDILocationGetColumn(place)) }
}

/// The scope around a block, whose first operand is its file.
unsafe fn outer(context: LLVMContextRef, scope: LLVMMetadataRef) -> Option<LLVMMetadataRef> {
    unsafe {
        operands(LLVMMetadataAsValue(context, scope))
            .get(1)
            .copied()
    }
}

/// The block that an instruction is in; none if it is that of the whole function.
unsafe fn region(context: LLVMContextRef, inst: LLVMValueRef, loops: &[Range]) -> Option<Region> {
    unsafe {
        let place = LLVMInstructionGetDebugLoc(inst);
        if place.is_null() || LLVMDILocationGetLine(place) == 0 {
            return None;
        }
        let scope = LLVMDILocationGetScope(place);
        // What `for` declares has a scope of its own within that of the loop.
        let outer = is_inner(scope).then(|| outer(context, scope)).flatten();
        let at = position(place);
        let around = |range: &&Range| {
            let is_near = range.scope == scope || Some(range.scope) == outer;
            is_near && range.start <= at && at <= range.end
        };
        let body = loops.iter().filter(around).max_by_key(|range| range.start);
        (body.is_some() || is_inner(scope)).then_some(Region {
            scope,
            body: body.copied(),
        })
    }
}

impl Region {
    /// Whether an instruction is in the block; none if it does not tell.
    unsafe fn has(&self, context: LLVMContextRef, inst: LLVMValueRef) -> Option<bool> {
        unsafe {
            let place = LLVMInstructionGetDebugLoc(inst);
            if place.is_null()
                || LLVMDILocationGetLine(place) == 0
                || !LLVMIsATerminatorInst(inst).is_null()
                || is_call_of(inst, "llvm.dbg.")
            {
                return None;
            }
            let at = position(place);
            let is_in_body = (self.body).is_none_or(|body| body.start <= at && at <= body.end);
            let mut scope = LLVMDILocationGetScope(place);
            while scope != self.scope && is_inner(scope) {
                match outer(context, scope) {
                    Some(outer) => scope = outer,
                    None => break,
                }
            }
            Some(is_in_body && scope == self.scope)
        }
    }
}

/// Where a life begins and where it ends: before these instructions.
unsafe fn mark(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    literal: LLVMValueRef,
    first: LLVMValueRef,
    region: &Region,
    declared: &HashMap<LLVMValueRef, LLVMMetadataRef>,
) {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let ends_variable = |inst: LLVMValueRef| {
            is_call_of(inst, "llvm.lifetime.end")
                && declared.get(&LLVMGetOperand(inst, 1)) == Some(&region.scope)
        };
        // For each block the instructions that tell whether they are in the region, in order.
        let mut told: HashMap<LLVMBasicBlockRef, Vec<(LLVMValueRef, bool)>> = HashMap::new();
        for block in blocks(function) {
            let mut found: Vec<(LLVMValueRef, bool)> = Vec::new();
            for inst in instructions(block).filter(|&inst| LLVMIsAAllocaInst(inst).is_null()) {
                if ends_variable(inst) {
                    found.iter_mut().for_each(|(_, inside)| *inside = true);
                    found.push((inst, true));
                } else if let Some(inside) = region.has(context, inst) {
                    found.push((inst, inside));
                }
            }
            told.insert(block, found);
        }
        let home = LLVMGetInstructionParent(first);
        let mut ends = Vec::new();
        let mut is_evaluated_again = false;
        let mut seen = HashSet::new();
        // Ways on from the evaluation, each up to the first instruction outside.
        let mut open = vec![(home, Some(first))];
        while let Some((block, from)) = open.pop() {
            let mut rest = told[&block].iter();
            if let Some(from) = from {
                rest.find(|(inst, _)| *inst == from);
            } else {
                let mut before = rest.clone().take_while(|(inst, _)| *inst != first);
                is_evaluated_again |= block == home && before.all(|(_, inside)| *inside);
            }
            if let Some((inst, _)) = rest.find(|(_, inside)| !inside) {
                ends.push(*inst);
                continue;
            }
            let end = LLVMGetBasicBlockTerminator(block);
            for number in 0..LLVMGetNumSuccessors(end) {
                let next = LLVMGetSuccessor(end, number);
                if seen.insert(next) {
                    open.push((next, None));
                }
            }
        }
        if is_evaluated_again && region.body.is_none() {
            return;
        }
        let marker = Marker::new(module, literal);
        for end in ends {
            marker.put(end, "llvm.lifetime.end");
        }
        if is_evaluated_again {
            marker.put(first, "llvm.lifetime.end");
        }
        marker.put(first, "llvm.lifetime.start");
        LLVMDisposeBuilder(marker.builder);
    }
}

struct Marker {
    module: LLVMModuleRef,
    builder: LLVMBuilderRef,
    literal: LLVMValueRef,
}

impl Marker {
    unsafe fn new(module: LLVMModuleRef, literal: LLVMValueRef) -> Marker {
        Marker {
            module,
            builder: unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(module)) },
            literal,
        }
    }

    unsafe fn put(&self, before: LLVMValueRef, name: &str) {
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let mut of = [LLVMTypeOf(self.literal)];
            let function = LLVMGetIntrinsicDeclaration(self.module, id, of.as_mut_ptr(), 1);
            let ty = LLVMGlobalGetValueType(function);
            let data = LLVMGetModuleDataLayout(self.module);
            let bytes = LLVMABISizeOfType(data, LLVMGetAllocatedType(self.literal));
            let long = LLVMInt64TypeInContext(LLVMGetModuleContext(self.module));
            let mut args = [LLVMConstInt(long, bytes, 0), self.literal];
            LLVMPositionBuilderBefore(self.builder, before);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(before));
            LLVMBuildCall2(
                self.builder,
                ty,
                function,
                args.as_mut_ptr(),
                2,
                c"".as_ptr(),
            );
        }
    }
}

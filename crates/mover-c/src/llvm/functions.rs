//! Functions: values are numbered, then blocks are read one by one.
//!
//! A value can be used before its definition is read (by a phi of a loop), so all are numbered
//! first.

use std::collections::HashMap;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::debug::plain_name;
use super::lists::{blocks, instructions};
use super::{Reader, Values, callbacks, printed, value_name};
use crate::ssa::{Block, Callback, DebugType, Function, Inst, Kind, Loc, Terminator, ValueInfo};

impl Reader {
    // Functions.

    pub(super) unsafe fn function(&mut self, function: LLVMValueRef) -> Function {
        unsafe {
            let ty = LLVMGlobalGetValueType(function);
            let mut values = Values {
                numbers: HashMap::new(),
                blocks: HashMap::new(),
            };
            let mut infos = Vec::new();
            let params = LLVMCountParams(function) as usize;
            let mut problem = None;
            for index in 0..params as u32 {
                let param = LLVMGetParam(function, index);
                values.numbers.insert(param, infos.len());
                let shape = self.shape(LLVMTypeOf(param));
                if shape.is_none() {
                    problem = Some("a parameter of a type that is not supported".to_string());
                }
                infos.push(ValueInfo {
                    shape: shape.unwrap_or_default(),
                    name: plain_name(&value_name(param)),
                    ..ValueInfo::default()
                });
            }
            for block in blocks(function) {
                values.blocks.insert(block, values.blocks.len());
                for inst in instructions(block) {
                    let kind = LLVMGetTypeKind(LLVMTypeOf(inst));
                    if kind != LLVMTypeKind::LLVMVoidTypeKind {
                        values.numbers.insert(inst, infos.len());
                        let shape = self.shape(LLVMTypeOf(inst));
                        let name = value_name(inst);
                        infos.push(ValueInfo {
                            shape: shape.unwrap_or_default(),
                            name: plain_name(&name),
                            ..ValueInfo::default()
                        });
                    }
                }
            }
            let mut debug_types = HashMap::new();
            self.names(function, &values, &mut infos, &mut debug_types);
            let mut blocks: Vec<Block> = blocks(function)
                .map(|block| self.block(block, &values, &debug_types))
                .collect();
            if let (Some(problem), Some(first)) = (problem, blocks.first_mut()) {
                first.insts.insert(
                    0,
                    Inst {
                        result: None,
                        kind: Kind::Unsupported(problem),
                        loc: None,
                    },
                );
            }
            let byval_kind = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
            let by_value = (0..params as u32)
                .map(|index| {
                    let attribute = LLVMGetEnumAttributeAtIndex(function, index + 1, byval_kind);
                    (!attribute.is_null())
                        .then(|| self.bytes_of(LLVMGetTypeAttributeValue(attribute)))
                })
                .collect();
            let subprogram = LLVMGetSubprogram(function);
            let (mut loc, mut is_runtime, mut is_system) = (None, false, false);
            if !subprogram.is_null()
                && let Some(file) = self.file(subprogram)
            {
                is_runtime = Some(file) == self.runtime_file;
                is_system = self.system_files.contains(&file);
                loc = Some(Loc {
                    file,
                    line: LLVMDISubprogramGetLine(subprogram),
                    column: 1,
                });
            }
            Function {
                name: value_name(function),
                params,
                values: infos,
                blocks,
                return_shape: self.shape(LLVMGetReturnType(ty)).unwrap_or_default(),
                is_variadic: LLVMIsFunctionVarArg(ty) != 0,
                by_value,
                is_runtime,
                is_system,
                callback: Callback {
                    groups: callbacks::groups(function),
                    is_only: callbacks::is_only_registered(function),
                },
                loc: loc.filter(|_| !is_runtime && !is_system),
            }
        }
    }

    unsafe fn block(
        &mut self,
        block: LLVMBasicBlockRef,
        values: &Values,
        debug_types: &HashMap<LLVMValueRef, DebugType>,
    ) -> Block {
        unsafe {
            let mut insts = Vec::new();
            let terminator = LLVMGetBasicBlockTerminator(block);
            for inst in instructions(block).take_while(|&inst| inst != terminator) {
                if let Some(kind) = self.inst(inst, values, debug_types) {
                    insts.push(Inst {
                        result: values.numbers.get(&inst).copied(),
                        kind,
                        loc: self.loc(inst),
                    });
                }
            }
            if LLVMGetInstructionOpcode(terminator) == LLVMOpcode::LLVMInvoke
                && let Some(kind) = self.invoke(terminator, values)
            {
                insts.push(Inst {
                    result: values.numbers.get(&terminator).copied(),
                    kind,
                    loc: self.loc(terminator),
                });
            }
            Block {
                insts,
                end: self.terminator(terminator, values),
                end_loc: self.loc(terminator),
            }
        }
    }

    unsafe fn terminator(&mut self, inst: LLVMValueRef, values: &Values) -> Terminator {
        unsafe {
            let target = |index: u32| values.blocks[&LLVMGetSuccessor(inst, index)];
            match LLVMGetInstructionOpcode(inst) {
                LLVMOpcode::LLVMRet => Terminator::Return(
                    (LLVMGetNumOperands(inst) > 0)
                        .then(|| self.operand(LLVMGetOperand(inst, 0), values)),
                ),
                LLVMOpcode::LLVMBr if LLVMIsConditional(inst) != 0 => Terminator::Branch {
                    condition: self.operand(LLVMGetCondition(inst), values),
                    then: target(0),
                    otherwise: target(1),
                },
                LLVMOpcode::LLVMBr => Terminator::Jump(target(0)),
                LLVMOpcode::LLVMSwitch => {
                    let value = LLVMGetOperand(inst, 0);
                    if self.shape(LLVMTypeOf(value)).is_none() {
                        return Terminator::Unsupported(printed(inst));
                    }
                    let cases = (1..LLVMGetNumSuccessors(inst))
                        .map(|index| {
                            let case = LLVMGetOperand(inst, 2 * index);
                            (LLVMConstIntGetZExtValue(case), target(index))
                        })
                        .collect();
                    Terminator::Switch {
                        value: self.operand(value, values),
                        cases,
                        default: target(0),
                    }
                }
                // What it calls is the last instruction of the block.
                LLVMOpcode::LLVMInvoke => Terminator::Jump(values.blocks[&LLVMGetNormalDest(inst)]),
                LLVMOpcode::LLVMResume => {
                    Terminator::Resume(self.operand(LLVMGetOperand(inst, 0), values))
                }
                LLVMOpcode::LLVMUnreachable => Terminator::Unreachable,
                _ => Terminator::Unsupported(printed(inst)),
            }
        }
    }
}

//! Values of registers that nobody set: any value.
//!
//! A local variable that is read before it is set, and the result of a function that ends without
//! `return`, are `undef` in LLVM's registers. In C they are indeterminate, and a checker that takes
//! them for 0 misses what other values would do. So each such value that some instruction reads
//! ([`crate::lower::Undefined`]) becomes an input: the environment chooses it, once, where the
//! variable begins to live. A value that nothing reads costs nothing.
//!
//! Values that are undefined on some of several ways that join are first looked at by
//! [`crate::unread`], and only those are left that some way reads. If there are too many ways for that,
//! a value that is undefined on some of the ways out of a block of the source (clang selects by a number
//! how to go on there) is zero, and the verdict says so: most such values are not read.
//!
//! Variables that are memory (arrays with an index that is not constant, whatever has an address,
//! blocks from `malloc`) are in [`crate::shadow`].

use std::collections::{HashMap, HashSet};

use crate::few_values::ANY;
use crate::flatten::Body;
use crate::lower::Undefined;
use crate::ssa::*;

/// Makes inputs of the undefined values that a body reads.
/// If it is known that all operands of phis that are undefined may be read
/// ([`crate::unread`]), all of them are chosen.
pub fn make_inputs(body: &mut Body, returns_are_read: bool, are_all_read: bool) {
    let undefined = Undefined::find(body);
    let definitions: HashMap<ValueId, Kind> = all(body)
        .filter_map(|inst| Some((inst.result?, inst.kind.clone())))
        .collect();
    let mut work: Vec<ValueId> = Vec::new();
    for inst in all(body).filter(|inst| undefined.is_read_by(&inst.kind)) {
        values_of(&inst.kind, &mut work);
    }
    for block in &body.blocks {
        let read = match &block.end {
            Terminator::EndThread(value) => Some(value).filter(|_| returns_are_read),
            Terminator::Return(Some(value))
            | Terminator::Branch {
                condition: value, ..
            }
            | Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if let Some(value) = read {
            value.values(&mut |id| work.push(id));
        }
    }
    // Back to where the value comes from. A word that is composed of parts begins with undefined
    // bits that are all replaced, so only whole values are followed.
    let is_followed = |kind: &Kind| matches!(kind, Kind::Pure(Pure::Copy(_)) | Kind::Phi(_));
    let ways_out: HashSet<ValueId> = body
        .blocks
        .iter()
        .filter(|block| !are_all_read && is_way_out(block, &undefined))
        .flat_map(|block| &block.insts)
        .filter(|inst| matches!(inst.kind, Kind::Phi(_)))
        .filter_map(|inst| inst.result)
        .collect();
    let mut read: HashSet<ValueId> = HashSet::new();
    while let Some(id) = work.pop() {
        if undefined.is_in(&Operand::Value(id))
            && read.insert(id)
            && !ways_out.contains(&id)
            && let Some(kind) = definitions.get(&id).filter(|kind| is_followed(kind))
        {
            values_of(kind, &mut work);
        }
    }
    let takes = |inst: &Inst| {
        undefined.is_read_by(&inst.kind)
            || is_followed(&inst.kind) && inst.result.is_some_and(|id| read.contains(&id))
    };
    // What a phi takes is chosen in the block that it comes from.
    let mut at_ends: Vec<(BlockId, Inst)> = Vec::new();
    let mut values = std::mem::take(&mut body.values);
    for block in &mut body.blocks {
        let mut insts = Vec::with_capacity(block.insts.len());
        let is_way_out = !are_all_read && is_way_out(block, &undefined);
        for mut inst in std::mem::take(&mut block.insts) {
            if takes(&inst) {
                let loc = inst.loc;
                if let Kind::Phi(incoming) = &mut inst.kind {
                    for (operand, from) in incoming.iter_mut().filter(|_| !is_way_out) {
                        let mut chosen = Vec::new();
                        choose(operand, loc, &mut values, &mut chosen);
                        at_ends.extend(chosen.into_iter().map(|inst| (*from, inst)));
                    }
                } else {
                    for operand in inst.kind.operands_mut() {
                        choose(operand, loc, &mut values, &mut insts);
                    }
                }
            }
            insts.push(inst);
        }
        let loc = block.end_loc;
        let end = match &mut block.end {
            Terminator::EndThread(value) => Some(value).filter(|_| returns_are_read),
            Terminator::Return(Some(value))
            | Terminator::Branch {
                condition: value, ..
            }
            | Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if let Some(value) = end {
            choose(value, loc, &mut values, &mut insts);
        }
        block.insts = insts;
    }
    for (block, inst) in at_ends {
        body.blocks[block].insts.push(inst);
    }
    body.values = values;
}

/// Whether several ways out of a block of the source may meet here.
fn is_way_out(block: &Block, undefined: &Undefined) -> bool {
    let is_number = |(operand, _): &(Operand, BlockId)| matches!(operand, Operand::Int { .. });
    let is_undefined = |(operand, _): &(Operand, BlockId)| undefined.is_in(operand);
    let selects = |inst: &Inst| match &inst.kind {
        Kind::Phi(incoming) => incoming.iter().any(is_number) && !incoming.iter().any(is_undefined),
        _ => false,
    };
    matches!(
        block.end,
        Terminator::Switch { .. } | Terminator::Branch { .. }
    ) && block.insts.iter().any(selects)
}

fn all(body: &Body) -> impl Iterator<Item = &Inst> {
    body.blocks.iter().flat_map(|block| &block.insts)
}

fn values_of(kind: &Kind, out: &mut Vec<ValueId>) {
    for operand in kind.operands() {
        operand.values(&mut |id| out.push(id));
    }
}

/// Replaces what is undefined in an operand by values that are chosen before.
fn choose(
    operand: &mut Operand,
    loc: Option<Loc>,
    values: &mut Vec<ValueInfo>,
    before: &mut Vec<Inst>,
) {
    match operand {
        Operand::Undef(shape) => {
            let mut parts: Vec<Operand> = Vec::new();
            for &width in shape.iter() {
                values.push(ValueInfo {
                    shape: vec![width],
                    ..ValueInfo::default()
                });
                let id = values.len() - 1;
                parts.push(Operand::Value(id));
                let kind = Kind::Library {
                    name: ANY.into(),
                    args: vec![Operand::Int {
                        value: 0,
                        width: 64,
                    }],
                    arg_shapes: vec![vec![64]],
                    shape: vec![width],
                };
                before.push(Inst {
                    result: Some(id),
                    kind,
                    loc,
                });
            }
            *operand = match &parts[..] {
                [only] => only.clone(),
                _ => Operand::Aggregate(parts),
            };
        }
        Operand::Pure(pure) => {
            for operand in pure.operands_mut() {
                choose(operand, loc, values, before);
            }
        }
        Operand::Aggregate(parts) => {
            for part in parts {
                choose(part, loc, values, before);
            }
        }
        _ => {}
    }
}

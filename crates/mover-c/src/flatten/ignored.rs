//! Values that a program computes and never looks at.
//!
//! Programs read clocks and process numbers only to print them, and what is printed nobody reads. An
//! input that nobody looks at is no choice: without this, every such program would have as many
//! successors there as a clock has values. A value is looked at if an instruction with an effect,
//! a branch or a return needs it; being printed is no effect. A computation that may fail (a division, a
//! shift, a signed sum where overflows are looked for) looks at its operands, even if nobody looks at
//! its result. A variable on the stack counts as one value, if it is only loaded, stored and filled by
//! inputs.

use std::collections::{HashMap, HashSet};

use mover_ir::expr::mask;

use super::library_names::{is_output, plain_name, takes_no_notice};
use crate::ssa::*;

/// The values of a function that nobody looks at, and variables whose content nobody looks at.
///
/// `wants_overflow`: whether signed overflows are violations.
pub fn values(module: &Module, function: &Function, wants_overflow: bool) -> HashSet<ValueId> {
    let variables = variables(module, function);
    let mut seen = Vec::new();
    let mut computed: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    for block in &function.blocks {
        for inst in &block.insts {
            let mut uses = Vec::new();
            let operands = inst.kind.operands();
            operands.iter().for_each(|arg| note(arg, &mut uses));
            let into = match &inst.kind {
                Kind::Lifetime { .. } | Kind::Alloca { .. } => continue,
                Kind::Pure(pure) if may_fail(pure, wants_overflow) => None,
                Kind::Pure(_) | Kind::Phi(_) | Kind::Float { .. } => inst.result,
                Kind::Load { pointer, .. } if variables.of(pointer).is_some() => inst.result,
                Kind::Store { pointer, .. } if variables.of(pointer).is_some() => {
                    variables.of(pointer)
                }
                kind if is_printing(module, kind) => match inst.result {
                    Some(id) => Some(id),
                    None => continue,
                },
                kind => match target(&module.functions, kind) {
                    Some(to) if variables.of(to).is_some() => continue,
                    _ => None,
                },
            };
            match into {
                Some(id) => computed.entry(id).or_default().extend(uses),
                None => seen.extend(uses),
            }
        }
        end_uses(&block.end, &mut seen);
    }
    let mut used = HashSet::new();
    while let Some(id) = seen.pop() {
        if used.insert(id)
            && let Some(uses) = computed.get(&id)
        {
            seen.extend(uses);
        }
    }
    let results = function.blocks.iter().flat_map(|block| &block.insts);
    let results = results.filter_map(|inst| inst.result);
    results.filter(|id| !used.contains(id)).collect()
}

/// Whether there are operands for which a computation is undefined, and that is a violation.
fn may_fail(pure: &Pure, wants_overflow: bool) -> bool {
    match pure {
        Pure::Binary { kind, nsw, rhs, .. } => match kind {
            BinaryKind::UDiv | BinaryKind::SDiv | BinaryKind::URem | BinaryKind::SRem => {
                // The smallest number is divided by -1, or anything by 0.
                !matches!(rhs, Operand::Int { value, width } if *value != 0 && *value != mask(*width))
            }
            BinaryKind::Shl | BinaryKind::LShr | BinaryKind::AShr => {
                !matches!(rhs, Operand::Int { value, width } if *value < u64::from(*width))
            }
            _ => *nsw && wants_overflow,
        },
        Pure::Abs(_) => wants_overflow,
        Pure::Bits { takes_zero, .. } => !takes_zero,
        // An address far outside of its object.
        Pure::Gep { terms, .. } => !terms.is_empty(),
        _ => false,
    }
}

/// Whether an instruction only reads an input that nobody looks at.
pub fn is_input(
    functions: &[Function],
    kind: &Kind,
    function: &Function,
    ignored: &HashSet<ValueId>,
) -> bool {
    let Some(to) = target(functions, kind) else {
        return false;
    };
    root(to, &addresses(function)).is_some_and(|id| ignored.contains(&id))
}

/// Where a call that reads a clock puts the time. Its result, 0, is nothing to look at.
fn target<'k>(functions: &[Function], kind: &'k Kind) -> Option<&'k Operand> {
    let Kind::Call {
        callee: Callee::Function(id),
        args,
        ..
    } = kind
    else {
        return None;
    };
    if !functions[*id].blocks.is_empty() {
        return None;
    }
    match functions[*id].name.as_str() {
        "clock_gettime" => args.get(1),
        "gettimeofday" => args.first(),
        _ => None,
    }
}

/// Whether a call leaves its arguments unobserved: it prints them, sleeps, or sets a seed.
fn is_printing(module: &Module, kind: &Kind) -> bool {
    matches!(kind, Kind::Call { callee: Callee::Function(id), .. }
        if is_output(plain_name(&module.functions[*id].name))
            || takes_no_notice(&module.functions[*id].name))
}

fn note(operand: &Operand, out: &mut Vec<ValueId>) {
    match operand {
        Operand::Value(id) => out.push(*id),
        Operand::Pure(pure) => pure.operands().iter().for_each(|arg| note(arg, out)),
        Operand::Aggregate(parts) => parts.iter().for_each(|part| note(part, out)),
        _ => {}
    }
}

fn end_uses(end: &Terminator, out: &mut Vec<ValueId>) {
    match end {
        Terminator::Return(Some(value)) => note(value, out),
        Terminator::Branch { condition, .. } => note(condition, out),
        Terminator::Switch { value, .. } => note(value, out),
        _ => {}
    }
}

/// Values that are addresses within others, by constant steps.
pub(super) fn addresses(function: &Function) -> HashMap<ValueId, Operand> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let found = insts.filter_map(|inst| match &inst.kind {
        Kind::Pure(Pure::Gep { base, terms, .. }) if terms.is_empty() => {
            Some((inst.result?, base.clone()))
        }
        _ => None,
    });
    found.collect()
}

/// The value that an address is derived from.
pub(super) fn root(operand: &Operand, addresses: &HashMap<ValueId, Operand>) -> Option<ValueId> {
    match operand {
        Operand::Value(id) => match addresses.get(id) {
            Some(base) => root(base, addresses),
            None => Some(*id),
        },
        Operand::Pure(pure) => match &**pure {
            Pure::Gep { base, terms, .. } if terms.is_empty() => root(base, addresses),
            _ => None,
        },
        _ => None,
    }
}

/// Variables on the stack that are only loaded, stored and filled by inputs.
struct Variables {
    addresses: HashMap<ValueId, Operand>,
    private: HashSet<ValueId>,
}

impl Variables {
    fn of(&self, pointer: &Operand) -> Option<ValueId> {
        root(pointer, &self.addresses).filter(|id| self.private.contains(id))
    }
}

fn variables(module: &Module, function: &Function) -> Variables {
    let addresses = addresses(function);
    let mut private = HashSet::new();
    let mut escaping = Vec::new();
    for block in &function.blocks {
        for inst in &block.insts {
            match (&inst.kind, inst.result) {
                (Kind::Alloca { .. }, Some(id)) => {
                    private.insert(id);
                }
                (Kind::Load { .. } | Kind::Lifetime { .. }, _) => {}
                (Kind::Store { value, .. }, _) => note(value, &mut escaping),
                (Kind::Pure(Pure::Gep { terms, .. }), _) if terms.is_empty() => {}
                (kind, _) => {
                    let fills = target(&module.functions, kind);
                    for operand in kind.operands() {
                        if fills.is_none_or(|to| !std::ptr::eq(to, operand)) {
                            note(operand, &mut escaping);
                        }
                    }
                }
            }
        }
        end_uses(&block.end, &mut escaping);
    }
    for id in escaping {
        if let Some(variable) = root(&Operand::Value(id), &addresses) {
            private.remove(&variable);
        }
    }
    Variables { addresses, private }
}

//! Which bits of values are undefined.
//!
//! A variable that is read before it is set is `undef` in LLVM's registers. But LLVM also
//! creates undefined values where the program reads none: two fields that are combined into one
//! word begin with an undefined word whose bits are replaced one after the other. So the bits
//! are tracked through operations that only move them, and a value counts as read where
//! something else is done with it: a sum, a comparison, a store. There undefined bits are
//! assumed to be zero, and the verdict says so.

use std::collections::HashMap;

use mover_ir::expr::mask;

use crate::flatten::Body;
use crate::ssa::*;

/// By value, for each of its scalars: the bits that are not determined.
#[derive(Default)]
pub struct Undefined(HashMap<ValueId, Vec<u64>>);

impl Undefined {
    pub fn find(code: &Body) -> Undefined {
        let mut found = Undefined::default();
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for inst in code.blocks.iter().flat_map(|block| &block.insts) {
                let (Some(id), Some(bits)) = (inst.result, found.result(&inst.kind)) else {
                    continue;
                };
                if bits.iter().any(|&bits| bits != 0) && found.0.get(&id) != Some(&bits) {
                    found.0.insert(id, bits);
                    is_stable = false;
                }
            }
        }
        found
    }

    /// Whether an instruction reads bits that are not determined.
    pub fn is_read_by(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Phi(_) => false,
            Kind::Pure(pure) => self.is_read_by_pure(pure),
            _ => kind
                .operands()
                .into_iter()
                .any(|operand| self.is_in(operand)),
        }
    }

    fn is_read_by_pure(&self, pure: &Pure) -> bool {
        match self.moved(pure) {
            Some(_) => match pure {
                Pure::Select { condition, .. } => self.is_in(condition),
                _ => false,
            },
            None => pure
                .operands()
                .into_iter()
                .any(|operand| self.is_in(operand)),
        }
    }

    /// Whether an operand has such bits.
    pub fn is_in(&self, operand: &Operand) -> bool {
        self.bits(operand).iter().any(|&bits| bits != 0)
    }

    fn result(&self, kind: &Kind) -> Option<Vec<u64>> {
        match kind {
            Kind::Phi(incoming) => {
                let all = incoming.iter().map(|(operand, _)| self.bits(operand));
                all.reduce(|a, b| either(&a, &b))
            }
            Kind::Pure(pure) => self.moved(pure),
            _ => None,
        }
    }

    fn bits(&self, operand: &Operand) -> Vec<u64> {
        match operand {
            Operand::Undef(shape) => shape.iter().map(|&width| mask(width)).collect(),
            Operand::Value(id) => self.0.get(id).cloned().unwrap_or_default(),
            Operand::Pure(pure) => match self.moved(pure) {
                Some(bits) => bits,
                None if self.is_read_by_pure(pure) => vec![u64::MAX],
                None => Vec::new(),
            },
            Operand::Aggregate(parts) => {
                let first = |operand| self.bits(operand).first().copied().unwrap_or(0);
                parts.iter().map(first).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bits of the result if the computation only moves bits about.
    fn moved(&self, pure: &Pure) -> Option<Vec<u64>> {
        let first = |operand: &Operand| self.bits(operand).first().copied().unwrap_or(0);
        let one = |bits: u64| Some(vec![bits]);
        match pure {
            Pure::Copy(arg) => Some(self.bits(arg)),
            Pure::Binary { kind, lhs, rhs, .. } => {
                let constant = |operand: &Operand| match operand {
                    Operand::Int { value, .. } => Some(*value),
                    _ => None,
                };
                match (kind, constant(lhs), constant(rhs)) {
                    (BinaryKind::And, _, Some(kept)) => one(first(lhs) & kept),
                    (BinaryKind::And, Some(kept), _) => one(first(rhs) & kept),
                    (BinaryKind::Or, _, Some(set)) => one(first(lhs) & !set),
                    (BinaryKind::Or, None, None) => one(first(lhs) | first(rhs)),
                    (BinaryKind::Shl, _, Some(by)) if by < 64 => one(first(lhs) << by),
                    (BinaryKind::LShr, _, Some(by)) if by < 64 => one(first(lhs) >> by),
                    _ => None,
                }
            }
            Pure::Resize {
                arg,
                width,
                extension: Extension::Zero,
            } => one(first(arg) & mask(*width)),
            Pure::Select {
                then, otherwise, ..
            } => Some(either(&self.bits(then), &self.bits(otherwise))),
            Pure::Extract { from, first, count } => {
                let bits = self.bits(from);
                let part = |index: usize| bits.get(index).copied().unwrap_or(0);
                Some((*first..first + count).map(part).collect())
            }
            Pure::Insert { into, value, first } => {
                let mut bits = self.bits(into);
                let inserted = self.bits(value);
                let count = inserted.len().max(1);
                bits.resize(bits.len().max(first + count), 0);
                for (offset, target) in bits[*first..first + count].iter_mut().enumerate() {
                    *target = inserted.get(offset).copied().unwrap_or(0);
                }
                Some(bits)
            }
            _ => None,
        }
    }
}

fn either(a: &[u64], b: &[u64]) -> Vec<u64> {
    let part = |of: &[u64], index: usize| of.get(index).copied().unwrap_or(0);
    (0..a.len().max(b.len()))
        .map(|index| part(a, index) | part(b, index))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u64) -> Operand {
        Operand::Int { value, width: 64 }
    }

    fn body(kinds: Vec<Pure>) -> Body {
        let insts = kinds.into_iter().enumerate().map(|(id, pure)| Inst {
            result: Some(id),
            kind: Kind::Pure(pure),
            loc: None,
        });
        Body {
            name: "f".into(),
            is_main: true,
            params: 0,
            values: Vec::new(),
            blocks: vec![Block {
                insts: insts.collect(),
                end: Terminator::EndProcess,
                end_loc: None,
            }],
            entry: 0,
            loc: None,
        }
    }

    fn binary(kind: BinaryKind, lhs: Operand, rhs: Operand) -> Pure {
        Pure::Binary {
            kind,
            nsw: false,
            lhs,
            rhs,
        }
    }

    #[test]
    fn a_word_that_is_put_together_is_determined_when_all_of_it_is() {
        use BinaryKind::{Add, And, Or};
        let half = 0xffff_ffff;
        let code = body(vec![
            binary(And, Operand::Undef(vec![64]), int(half)),
            binary(Or, Operand::Value(0), int(7 << 32)),
            binary(And, Operand::Value(1), int(!half)),
            binary(Or, Operand::Value(2), int(5)),
        ]);
        let undefined = Undefined::find(&code);
        assert!(undefined.is_in(&Operand::Value(1)));
        assert!(!undefined.is_in(&Operand::Value(3)));
        let read = |value| Kind::Pure(binary(Add, Operand::Value(value), int(1)));
        assert!(undefined.is_read_by(&read(1)));
        assert!(!undefined.is_read_by(&read(3)));
    }
}

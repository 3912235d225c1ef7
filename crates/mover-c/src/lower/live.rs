//! Which values must be kept across a location.
//!
//! A value is live if some path from there uses it before it is computed again. Addresses of
//! variables are not values here: they are known by their form. A value that can be recomputed
//! from something that is live anyway is recomputed instead of being kept twice.

use std::collections::BTreeSet;
use std::rc::Rc;

use mover_ir::program::Property;

use super::{Builder, Path};
use crate::ssa::*;

/// What is live is remembered every so many instructions of a block, so that a long one is not
/// walked as a whole for each of them.
const MILESTONE: usize = 64;

impl Builder<'_, '_> {
    /// The values that must be at hand to know an operand.
    pub(super) fn needs(&self, operand: &Operand, out: &mut Vec<ValueId>) {
        if let Some(form) = self.world.objects.form(self.body, operand) {
            for (term, _) in &form.terms {
                self.needs(term, out);
            }
            return;
        }
        match operand {
            Operand::Value(id) => match self.recomputed(*id) {
                Some(again) => {
                    for operand in again.operands() {
                        self.needs(operand, out);
                    }
                }
                None => out.push(*id),
            },
            Operand::Pure(pure) => {
                for operand in pure.operands() {
                    self.needs(operand, out);
                }
            }
            Operand::Aggregate(parts) => parts.iter().for_each(|part| self.needs(part, out)),
            _ => {}
        }
    }

    /// What a value is computed from again wherever it is needed, instead of being
    /// kept: constants, and what tells neither more nor less than its operand.
    pub(super) fn recomputed(&self, value: ValueId) -> Option<Kind> {
        if let Some(known) = self.recomputed_cache.borrow().get(&value) {
            return known.clone();
        }
        let found = self.find_recomputed(value);
        let mut cache = self.recomputed_cache.borrow_mut();
        cache.insert(value, found.clone());
        found
    }

    pub(super) fn find_recomputed(&self, value: ValueId) -> Option<Kind> {
        let inst = self.world.objects.definition(self.body, value)?;
        let is_constant = |operand: &Operand| {
            let mut needed = Vec::new();
            self.needs(operand, &mut needed);
            needed.is_empty()
                && !matches!(operand, Operand::Undef(_) | Operand::Aggregate(_))
                && self.world.objects.form(self.body, operand).is_none()
        };
        match &inst.kind {
            Kind::Library { name, .. } if name == "thread_reserve" => {
                let fixed = self.world.threads.fixed.get(&(self.body, value))?;
                Some(Kind::Pure(Pure::Copy(Operand::Int {
                    value: *fixed,
                    width: self.world.module.pointer_width(),
                })))
            }
            Kind::Pure(pure) => {
                let keeps_all = match pure {
                    Pure::Copy(arg) => self.world.objects.form(self.body, arg).is_none(),
                    Pure::Resize { arg, width, .. } => {
                        let from = match arg {
                            Operand::Value(id) => self.code.values[*id].shape.first(),
                            _ => None,
                        };
                        from.is_some_and(|from| from <= width) || is_constant(arg)
                    }
                    Pure::Binary {
                        kind: BinaryKind::Add | BinaryKind::Sub | BinaryKind::Xor,
                        nsw,
                        lhs,
                        rhs,
                    } => {
                        let is_checked = *nsw && self.world.wants(Property::NoOverflow);
                        !is_checked && (is_constant(rhs) || is_constant(lhs))
                    }
                    Pure::Gep { terms, .. } => terms.is_empty(),
                    Pure::Compare { lhs, rhs, .. } => is_constant(lhs) && is_constant(rhs),
                    _ => false,
                };
                keeps_all.then(|| inst.kind.clone())
            }
            _ => None,
        }
    }

    pub(super) fn needs_of(&self, inst: &Inst) -> Vec<ValueId> {
        let mut out = Vec::new();
        let is_recomputed = inst.result.is_some_and(|id| self.recomputed(id).is_some());
        let is_only_known = self.is_address(inst) && !self.may_lead_astray(inst);
        if is_only_known || is_recomputed || matches!(inst.kind, Kind::Phi(_)) {
            return out;
        }
        for operand in inst.kind.operands() {
            self.needs(operand, &mut out);
        }
        out
    }

    /// Whether the instruction only computes an address that is known by its form.
    pub(super) fn is_address(&self, inst: &Inst) -> bool {
        match (&inst.kind, inst.result) {
            (Kind::Pure(_), Some(id)) => self
                .world
                .objects
                .form(self.body, &Operand::Value(id))
                .is_some(),
            _ => false,
        }
    }

    /// Whether an address of a variable in memory is computed that may be one of another variable.
    pub(super) fn may_lead_astray(&self, inst: &Inst) -> bool {
        let Kind::Pure(Pure::Gep {
            base,
            offset,
            terms,
            ..
        }) = &inst.kind
        else {
            return false;
        };
        let objects = &self.world.objects;
        let is_in_memory = |operand: &Operand| {
            let form = objects.form(self.body, operand);
            form.is_some_and(|form| objects.is_addressed(form.object))
        };
        (!terms.is_empty() || self.is_far(*offset)) && is_in_memory(base)
    }

    pub(super) fn needs_of_end(&self, end: &Terminator) -> Vec<ValueId> {
        let mut out = Vec::new();
        match end {
            Terminator::Return(Some(value)) => self.needs(value, &mut out),
            Terminator::EndThread(value) if self.world.threads.results.is_some() => {
                self.needs(value, &mut out);
            }
            Terminator::Branch { condition, .. } => self.needs(condition, &mut out),
            Terminator::Switch { value, .. } => self.needs(value, &mut out),
            _ => {}
        }
        out
    }

    /// Whether something is done with the result of the instruction that a path is at.
    pub fn is_used(&self, path: &Path, result: Option<ValueId>) -> bool {
        let live = self.live_before(path.block, path.index + 1);
        result.is_some_and(|id| live.contains(&id))
    }

    pub(super) fn live_before(&self, block: BlockId, index: usize) -> Rc<BTreeSet<ValueId>> {
        if let Some(known) = self.live_cache.borrow().get(&(block, index)) {
            return Rc::clone(known);
        }
        let insts = &self.code.blocks[block].insts;
        let milestone = (index / MILESTONE + 1) * MILESTONE;
        let (mut live, from) = if milestone < insts.len() {
            ((*self.live_before(block, milestone)).clone(), milestone)
        } else {
            (self.live_at_end(block), insts.len())
        };
        // A path may stand after the end of its block already.
        self.go_back(&insts[index.min(from)..from], &mut live);
        let live = Rc::new(live);
        let mut cache = self.live_cache.borrow_mut();
        cache.insert((block, index), Rc::clone(&live));
        live
    }

    fn live_at_end(&self, block: BlockId) -> BTreeSet<ValueId> {
        let mut live = self.live_out[block].clone();
        live.extend(self.needs_of_end(&self.code.blocks[block].end));
        live
    }

    /// From what is live after instructions to what is live before them.
    fn go_back(&self, insts: &[Inst], live: &mut BTreeSet<ValueId>) {
        for inst in insts.iter().rev() {
            if let Some(id) = inst.result {
                live.remove(&id);
            }
            live.extend(self.needs_of(inst));
        }
    }

    pub(super) fn liveness(&mut self) -> Vec<BTreeSet<ValueId>> {
        let code = self.code;
        let count = code.blocks.len();
        self.live_out = vec![BTreeSet::new(); count];
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (number, block) in code.blocks.iter().enumerate() {
            for next in block.end.successors() {
                predecessors[next].push(number);
            }
        }
        let mut work: Vec<BlockId> = (0..count).collect();
        while let Some(block) = work.pop() {
            let mut live = self.live_at_end(block);
            self.go_back(&code.blocks[block].insts, &mut live);
            for &from in &predecessors[block] {
                let mut coming = live.clone();
                for inst in &code.blocks[block].insts {
                    let Kind::Phi(incoming) = &inst.kind else {
                        break;
                    };
                    for (operand, source) in incoming {
                        if *source == from {
                            let mut needed = Vec::new();
                            self.needs(operand, &mut needed);
                            coming.extend(needed);
                        }
                    }
                }
                let known = self.live_out[from].len();
                self.live_out[from].extend(coming);
                if self.live_out[from].len() > known {
                    work.push(from);
                }
            }
        }
        std::mem::take(&mut self.live_out)
    }
}

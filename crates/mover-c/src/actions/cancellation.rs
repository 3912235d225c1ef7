//! Requests to cancel a thread.
//!
//! A request is a cell of the target's handle. The target reads it at cancellation points
//! (`flatten::cancellation`), and primitives that block have a way out while it is set.

use mover_ir::expr::Expr;
use mover_ir::sync::SyncAction;

use super::threads::{DETACHED, ESRCH, FINISHED, RUNNING};
use super::{Way, both, is, is_zero, negated};
use crate::expr_builder::{constant, resize};
use crate::flatten::Problem;
use crate::lower::{Builder, Lowered, Part, Path};
use crate::ssa::*;

impl Builder<'_, '_> {
    /// Asks that a thread be cancelled. One that has ended and was not joined is still a thread.
    pub(super) fn thread_cancel(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let Some(requests) = self.world.threads.cancel_requests else {
            return Err(Problem::new("a request without a row", path.loc).code("C099"));
        };
        let (status_cell, known, index) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &status_cell);
        let alive = Part::combine(&[&is(&status, RUNNING), &is(&status, DETACHED)], |args| {
            args[0].clone().or(args[1].clone())
        });
        let alive = both(&known, &alive);
        let finished = both(&known, &is(&status, FINISHED));
        let neither = both(&negated(&alive), &negated(&finished));
        let message = "a thread that does not exist any more is cancelled";
        let Some(path) = self.rule(path, negated(&neither), message) else {
            return Ok(Vec::new());
        };
        let request = self.global_cell(requests, index);
        let way = |condition: &Part, asks: bool, result: u64| Way {
            condition: condition.clone(),
            writes: match asks {
                true => vec![(&request, constant(1, 8))],
                false => Vec::new(),
            },
            result,
            action: SyncAction::Other,
        };
        let mut ways = vec![
            way(&alive, true, 0),
            way(&finished, false, 0),
            way(&neither, false, ESRCH),
        ];
        if self.is_used(&path, result) {
            ways.push(way(&finished, false, ESRCH));
        }
        self.ways(path, &[], ways, result)
    }

    /// Whether the executing thread was asked to end.
    pub(super) fn cancel_requested(
        &mut self,
        mut path: Path,
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let asked = self.own_request(&path).unwrap_or(Part::same(Expr::FALSE));
        if let Some(id) = result {
            self.define(&mut path, id, vec![asked]);
        }
        Ok(vec![path])
    }

    /// When a primitive that blocks is ended by cancellation; `enabled` is there if it can be.
    pub(super) fn is_cancelled(
        &mut self,
        path: &mut Path,
        enabled: Option<&Operand>,
    ) -> Lowered<Option<Part>> {
        let Some(enabled) = enabled else {
            return Ok(None);
        };
        let enabled = negated(&is_zero(&self.scalar(path, enabled)?));
        let asked = self.own_request(path);
        Ok(asked.map(|asked| both(&enabled, &asked)))
    }

    fn own_request(&mut self, path: &Path) -> Option<Part> {
        let row = self.world.threads.cancel_requests?;
        let index = Part::same(resize(self.own_handle(), 32, false));
        let cell = self.global_cell(row, index);
        Some(negated(&is_zero(&self.read(path, &cell))))
    }
}

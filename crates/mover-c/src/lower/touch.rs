//! Shared memory accesses, as needed for data races.
//!
//! An edge has at most one such access. It is recorded in terms of the state before the edge:
//! the condition under which the edge makes the access, and its address.

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::AccessedMemory;

use super::memory::CellKind;
use super::{Builder, Cell, Lowered, Mode, Path};
use crate::ssa::Loc;

/// What an instruction does with a cell.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) atomic: bool,
}

/// An access that a thread may be about to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Touch {
    /// When the next thing that the thread does is this access.
    pub guard: Expr,
    pub memory: AccessedMemory,
    pub writes: bool,
    /// Whether it is no race if the other access is atomic, too.
    pub atomic: bool,
    pub loc: Option<Loc>,
}

impl Builder<'_, '_> {
    /// Begins an access that counts for data races. None if the edge had to end first.
    pub(super) fn reach_noted(
        &mut self,
        path: Path,
        cell: &Cell,
        access: Access,
    ) -> Lowered<Option<Path>> {
        let mode = path.mode;
        if !cell.shared {
            return Ok(self.reach(path, cell));
        }
        let memory = match &cell.kind {
            CellKind::Row {
                variable: VariableRef::Global(variable),
                index,
                ..
            } => index.pre().map(|index| AccessedMemory::Cell {
                variable: *variable,
                index: index.clone(),
            }),
            CellKind::Row { .. } => return Ok(self.reach(path, cell)),
            CellKind::Memory { address } => address.pre().map(|address| AccessedMemory::Bytes {
                address: address.clone(),
                count: u64::from(cell.width / 8),
            }),
        };
        // An address that depends on a store of this edge is unknown before it: the edge ends here, and the
        // access begins the next one. Where races are not asked for, too: a proof then says whether it
        // relies on their absence.
        let Some(memory) = memory else {
            self.finish(path);
            return Ok(None);
        };
        let Some(path) = self.reach(path, cell) else {
            return Ok(None);
        };
        let touch = Touch {
            guard: path.guard.clone(),
            memory,
            writes: access.writes,
            atomic: access.atomic || mode != Mode::Outside,
            loc: path.loc,
        };
        if !self.touches.contains(&(self.from, touch.clone())) {
            self.touches.push((self.from, touch));
        }
        Ok(Some(path))
    }
}

//! Shared memory accesses, as needed for data races.
//!
//! An edge has at most one such access. It is recorded in terms of the state before the edge:
//! the condition under which the edge makes the access, and its address.

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{AccessedMemory, Property};

use super::memory::CellKind;
use super::{Builder, Cell, Lowered, Mode, Path};
use crate::flatten::Problem;
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
        let Some(path) = self.reach(path, cell) else {
            return Ok(None);
        };
        let is_asked = self.world.wants(Property::NoDataRace);
        if !cell.shared || !is_asked {
            return Ok(Some(path));
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
            CellKind::Row { .. } => return Ok(Some(path)),
            CellKind::Memory { address } => address.pre().map(|address| AccessedMemory::Bytes {
                address: address.clone(),
                count: u64::from(cell.width / 8),
            }),
        };
        let Some(memory) = memory else {
            let message = "`no-data-race`: the address is only known after another store";
            return Err(Problem::new(message, path.loc));
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

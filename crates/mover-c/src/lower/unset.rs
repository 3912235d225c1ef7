//! Reading memory that may not have been written: see [`crate::shadow`].
//!
//! A read of a cell with a shadow has two ways. If all of the shadow is set, it is a plain read. If not,
//! an edge of its own chooses a value for the bytes that are not set, writes it and sets the
//! shadow; then the thread is before the same read again.

use mover_ir::expr::{BinaryOp, Expr, Ty, VariableRef, mask};
use mover_ir::program::{Effect, VariableId};

use super::memory::CellKind;
use super::{Builder, Cell, LocalKind, Part, Path};
use crate::expr_builder::{binary, choose, constant, equal, not};
use crate::objects::Object;

/// Where it is kept whether a cell has been written. Bits that are set are those that were.
#[derive(Clone)]
pub enum Shadow {
    /// A cell of a variable that is as wide.
    Row {
        variable: VariableRef,
        index: Part,
        ty: Ty,
    },
    /// Memory behind the object; and whether the object has a shadow at all.
    Memory { address: Part, exists: Part },
}

impl Builder<'_, '_> {
    /// The shadow of a cell of a local variable without addresses.
    pub(super) fn row_shadow(
        &mut self,
        object: Object,
        row: usize,
        index: &Part,
    ) -> Option<Shadow> {
        if !self.world.shadows.variables.contains(&object) {
            return None;
        }
        let local = match self.shadow_rows.get(&row) {
            Some(&known) => known,
            None => {
                let (ty, len) = (self.locals[row].ty, self.locals[row].len);
                let name = format!("%written {}", self.locals[row].name);
                let ty = Ty::unsigned(ty.width);
                let fresh = self.new_local(LocalKind::Row, &name, ty, len);
                self.shadow_rows.insert(row, fresh);
                fresh
            }
        };
        Some(Shadow::Row {
            variable: VariableRef::Local(VariableId(local as u32)),
            index: index.clone(),
            ty: self.locals[local].ty,
        })
    }

    /// The shadow of memory at an address, if there can be one.
    pub(super) fn memory_shadow(&self, known: Option<Object>, address: &Part) -> Option<Shadow> {
        let exists = match known {
            Some(object) if self.world.shadows.variables.contains(&object) => {
                Part::same(Expr::TRUE)
            }
            Some(_) => return None,
            None if self.world.has_no_shadowed_memory() => return None,
            None => address.map(|address| self.world.has_shadow(address)),
        };
        let distance = constant(
            self.world.shadows.distance,
            self.world.module.pointer_width(),
        );
        let address = address.map(|address| binary(BinaryOp::Add, address, distance.clone()));
        Some(Shadow::Memory { address, exists })
    }

    /// Continues where all of a cell has been written. None if there is no such way from here.
    pub(super) fn settle(&mut self, path: Path, cell: &Cell) -> Option<Path> {
        let Some(shadow) = &cell.shadow else {
            return Some(path);
        };
        let ones = constant(mask(cell.width), cell.width);
        let written = self.written_bits(&path, shadow, cell.width);
        let is_written = written.map(|bits| equal(bits, ones.clone()));
        let is_settled = match shadow {
            Shadow::Row { .. } => is_written,
            Shadow::Memory { exists, .. } => Part::combine(&[exists, &is_written], |args| {
                not(args[0].clone()).or(args[1].clone())
            }),
        };
        let is_open = is_settled.map(not);
        let mut paths = self.split(path, &[is_open, is_settled])?.into_iter();
        let open = paths.next()?;
        let settled = paths.next()?;
        if open.guard != Expr::FALSE
            && let Some(mut open) = self.set_havoc(open)
        {
            let temp = self.temp(&mut open, cell.width);
            open.effects.push(Effect::Havoc {
                place: self.temp_place(temp),
                values: 0,
            });
            let kept = self.read(&open, cell).now;
            let bits = self.written_bits(&open, shadow, cell.width).now;
            let kept = binary(BinaryOp::And, kept, bits.clone());
            let chosen = binary(BinaryOp::And, self.local_read(temp), not_bits(bits));
            open.effects.push(Effect::Assign {
                place: self.temp_place(temp),
                value: binary(BinaryOp::Or, kept, chosen),
            });
            let value = self.local_read(temp);
            open.is_again = true;
            self.write_and_mark(&mut open, cell, value);
            self.finish(open);
        }
        (settled.guard != Expr::FALSE).then_some(settled)
    }

    /// Writes a cell and notes that it is written.
    pub(super) fn write_and_mark(&mut self, path: &mut Path, cell: &Cell, value: Expr) {
        if let Some(shadow) = &cell.shadow {
            let mut of_shadow = shadow_cell(shadow, cell.width);
            // A store to nowhere has no effect.
            if let (CellKind::Memory { address }, Shadow::Memory { exists, .. }) =
                (&mut of_shadow.kind, shadow)
            {
                let nowhere = constant(0, self.world.module.pointer_width());
                *address = Part::combine(&[exists, address], |args| {
                    choose(args[0].clone(), args[1].clone(), nowhere.clone())
                });
            }
            let ones = constant(mask(cell.width), cell.width);
            self.write(path, &of_shadow, ones);
        }
        self.write(path, cell, value);
    }

    fn written_bits(&self, path: &Path, shadow: &Shadow, width: u8) -> Part {
        self.read(path, &shadow_cell(shadow, width))
    }
}

fn shadow_cell(shadow: &Shadow, width: u8) -> Cell {
    Cell {
        kind: match shadow {
            Shadow::Row {
                variable,
                index,
                ty,
            } => CellKind::Row {
                variable: *variable,
                index: index.clone(),
                ty: *ty,
            },
            Shadow::Memory { address, .. } => CellKind::Memory {
                address: address.clone(),
            },
        },
        valid: Part::same(Expr::TRUE),
        shared: true,
        width,
        shadow: None,
    }
}

fn not_bits(bits: Expr) -> Expr {
    let width = bits.width();
    binary(BinaryOp::Xor, bits, constant(mask(width), width))
}

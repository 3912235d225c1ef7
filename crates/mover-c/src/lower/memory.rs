//! Cells of memory: their addresses, bounds checks, reads and writes.

use std::collections::HashSet;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef, mask};
use mover_ir::program::{Effect, Property, VariableId};

use super::path::{Before, Part, Path};
use super::unset::Shadow;
use super::{Builder, Check, LocalKind, Lowered};
use crate::expr_builder::{binary, choose, constant, resize};
use crate::flatten::Problem;
use crate::objects::Object;
use crate::ssa::*;

/// A cell of memory that an instruction accesses.
pub struct Cell {
    pub(super) kind: CellKind,
    /// Whether the access is within an object.
    pub valid: Part,
    pub shared: bool,
    pub width: u8,
    /// Whether it has been written, if that is not certain.
    pub(super) shadow: Option<Shadow>,
}

pub(super) enum CellKind {
    Row {
        variable: VariableRef,
        index: Part,
        ty: Ty,
    },
    Memory {
        address: Part,
    },
}

impl Cell {
    pub(super) fn complaint(&self) -> String {
        match self.kind {
            CellKind::Row { .. } => "index out of bounds".into(),
            CellKind::Memory { .. } => {
                "access outside of a live object (null, dangling or out of bounds)".into()
            }
        }
    }
}

impl Builder<'_, '_> {
    /// The cell that an access of this many bytes through a pointer refers to.
    pub fn cell(
        &mut self,
        path: &mut Path,
        pointer: &Operand,
        at: i64,
        width: u8,
    ) -> Lowered<Cell> {
        let bytes = u64::from(width / 8);
        if !matches!(width, 8 | 16 | 32 | 64) {
            let message = format!("an access to memory of {width} bits is not supported");
            return Err(Problem::new(message, path.loc));
        }
        let form = self.world.objects.form(self.body, pointer).map(|mut form| {
            form.offset += at;
            form
        });
        if let Some(form) = &form
            && !self.world.objects.is_addressed(form.object)
        {
            return self.row_cell(path, form, bytes, width);
        }
        let pointer_width = self.world.module.pointer_width();
        let address = match &form {
            Some(form) => self.address(path, form)?,
            None => {
                let base = self.scalar(path, pointer)?;
                base.map(|base| binary(BinaryOp::Add, base, constant(at as u64, pointer_width)))
            }
        };
        if let Some(form) = &form
            && form.terms.is_empty()
            && let Some(&id) = self.world.memory.get(&form.object)
        {
            let more_bytes = self.world.shadows.more_bytes(form.object);
            let variable = &self.world.globals[id.index()];
            let size = variable.bytes() - more_bytes;
            let inside = form.offset >= 0 && form.offset as u64 + bytes <= size;
            let cell_bytes = u64::from(variable.ty.width / 8);
            let ty = variable.ty;
            if inside && cell_bytes == bytes && (form.offset as u64).is_multiple_of(bytes) {
                let at = form.offset / bytes as i64;
                let shadow = (more_bytes > 0).then(|| Shadow::Row {
                    variable: VariableRef::Global(id),
                    index: Part::same(Expr::int(at + (more_bytes / bytes) as i64)),
                    ty,
                });
                return Ok(Cell {
                    kind: CellKind::Row {
                        variable: VariableRef::Global(id),
                        index: Part::same(Expr::int(at)),
                        ty,
                    },
                    valid: Part::same(Expr::TRUE),
                    shared: true,
                    width,
                    shadow,
                });
            }
            let valid = Part::same(constant(u64::from(inside), 1));
            let shadow = self.memory_shadow(Some(form.object), &address);
            return Ok(Cell {
                kind: CellKind::Memory { address },
                valid,
                shared: true,
                width,
                shadow,
            });
        }
        let shadow = self.memory_shadow(form.map(|form| form.object), &address);
        let exists = match &shadow {
            Some(Shadow::Memory { exists, .. }) => exists.clone(),
            _ => Part::same(Expr::FALSE),
        };
        let distance = self.world.shadows.distance;
        let offset_mask = mask(self.world.pointers().offset_bits);
        let valid = Part::combine(&[&address, &exists], |args| {
            let address = args[0].clone();
            let offset = binary(
                BinaryOp::And,
                address.clone(),
                constant(offset_mask, pointer_width),
            );
            // The shadow comes behind what the program knows of.
            let beyond = |more: u64| constant(bytes + more, pointer_width);
            let beyond = choose(args[1].clone(), beyond(distance), beyond(0));
            let end = binary(BinaryOp::Add, offset, beyond);
            if address.as_const().is_some() {
                return Expr::FALSE;
            }
            binary(BinaryOp::ULe, end, Expr::ObjectSize(Box::new(address)))
        });
        Ok(Cell {
            kind: CellKind::Memory { address },
            valid,
            shared: true,
            width,
            shadow,
        })
    }

    /// Continues where what is to be written is not a constant.
    pub(super) fn require_variable(
        &mut self,
        path: Path,
        pointer: &Operand,
        cell: &Cell,
    ) -> Option<Path> {
        let form = self.world.objects.form(self.body, pointer);
        let holds = match (form.map(|form| form.object), &cell.kind) {
            (Some(Object::Global(id)), _) => {
                let is_variable = !self.world.module.globals[id].is_constant;
                Part::same(constant(is_variable.into(), 1))
            }
            (None, CellKind::Memory { address }) if self.world.constants > 0 => {
                let layout = self.world.pointers();
                let first = layout.address(self.world.constants + 1);
                let (width, none) = (layout.width, layout.address(1));
                address.map(|address| {
                    let is_below = binary(BinaryOp::ULt, address.clone(), constant(none, width));
                    is_below.or(binary(BinaryOp::ULe, constant(first, width), address))
                })
            }
            _ => Part::same(Expr::TRUE),
        };
        let check = Check {
            holds,
            property: Property::MemorySafety,
            message: "a constant is written".into(),
        };
        self.require(path, &check)
    }

    pub(super) fn row_cell(
        &mut self,
        path: &mut Path,
        form: &crate::objects::Form,
        bytes: u64,
        width: u8,
    ) -> Lowered<Cell> {
        let Some(leaf) = self.world.objects.leaf(form, bytes) else {
            let name = self.world.objects.name(form.object);
            let message = format!("an access to `{name}` that its type does not have");
            return Err(Problem::new(message, path.loc));
        };
        self.world.check_size(form.object)?;
        let pointer = self.world.module.pointer_width();
        let mut index = Part::same(constant(0, pointer));
        let mut valid = Part::same(Expr::TRUE);
        for dimension in &leaf.dimensions {
            let zero = Part::same(constant(0, pointer));
            let here = self.displaced(path, zero, dimension.constant, &dimension.terms, pointer)?;
            let count = constant(dimension.count, pointer);
            valid = Part::combine(&[&valid, &here], |args| {
                let inside = binary(BinaryOp::ULt, args[1].clone(), count.clone());
                args[0].clone().and(inside)
            });
            index = Part::combine(&[&index, &here], |args| {
                let scaled = binary(BinaryOp::Mul, args[0].clone(), count.clone());
                binary(BinaryOp::Add, scaled, args[1].clone())
            });
        }
        let index = index.map(|index| resize(index, 32, false));
        let is_thread_local = match form.object {
            Object::Global(id) => self.world.module.globals[id].thread_local,
            Object::Local(..) => true,
        };
        let mut row = None;
        let (variable, ty, shared, len) = if is_thread_local {
            let local = self.local_row(form.object, &leaf);
            row = Some(local);
            let len = self.locals[local].len;
            let variable = VariableRef::Local(VariableId(local as u32));
            (variable, self.locals[local].ty, false, len)
        } else {
            let Some(id) = self.world.row(form.object, &leaf) else {
                let name = self.world.objects.name(form.object);
                let message = format!("the variable `{name}` is declared but not defined");
                return Err(Problem::new(message, path.loc)
                    .code("C011")
                    .help("also pass the file that defines it"));
            };
            let shared = !self.world.is_private(form.object);
            let variable = &self.world.globals[id.index()];
            (VariableRef::Global(id), variable.ty, shared, variable.len)
        };
        // A constant index outside is an error, and no index of the row.
        let index = match index.now.as_const() {
            Some(constant) if constant >= u64::from(len) => Part::same(Expr::int(0)),
            _ => index,
        };
        let shadow = row.and_then(|row| self.row_shadow(form.object, row, &index));
        Ok(Cell {
            kind: CellKind::Row {
                variable,
                index,
                ty,
            },
            valid,
            shared,
            width,
            shadow,
        })
    }

    /// The row of a local or thread-local variable that has no address.
    pub(super) fn local_row(&mut self, object: Object, leaf: &crate::objects::Leaf) -> usize {
        if let Some(&known) = self.rows.get(&(object, leaf.offset)) {
            return known;
        }
        let (variable, init) = self.world.row_variable(object, leaf);
        let local = self.new_local(LocalKind::Row, &variable.name, variable.ty, variable.len);
        let fresh = &mut self.locals[local];
        fresh.is_array = variable.is_array;
        fresh.init = init;
        fresh.names = variable.names;
        fresh.symbols = variable.symbols;
        fresh.span = variable.span;
        self.rows.insert((object, leaf.offset), local);
        local
    }

    pub fn read(&self, path: &Path, cell: &Cell) -> Part {
        match &cell.kind {
            CellKind::Row {
                variable,
                index,
                ty,
            } => {
                let (variable, ty) = (*variable, *ty);
                let mut part = index.map(|index| Expr::Read(Place::element(variable, index, ty)));
                if path.written.contains(&variable) {
                    part.before = Before::Lost;
                }
                part
            }
            CellKind::Memory { address } => {
                let ty = Ty::unsigned(cell.width);
                let mut part = address.map(|address| Expr::load(address, ty));
                if path.wrote_memory {
                    part.before = Before::Lost;
                }
                part
            }
        }
    }

    pub fn write(&mut self, path: &mut Path, cell: &Cell, value: Expr) {
        match &cell.kind {
            CellKind::Row {
                variable,
                index,
                ty,
            } => {
                let written = *variable;
                let is_object = matches!(written, VariableRef::Global(id)
                    if self.world.globals[id.index()].addressable);
                self.keep(path, |expr| match expr {
                    Expr::Read(place) => place.variable == written,
                    Expr::Load { .. } | Expr::ObjectSize(_) => is_object,
                    _ => false,
                });
                path.written.insert(written);
                path.wrote_memory |= is_object;
                path.effects.push(Effect::Assign {
                    place: Place::element(written, index.now.clone(), *ty),
                    value,
                });
            }
            CellKind::Memory { address } => {
                self.keep_memory(path);
                path.effects.push(Effect::Store {
                    address: address.now.clone(),
                    value,
                });
            }
        }
    }

    /// Before memory behind a pointer changes.
    pub fn keep_memory(&mut self, path: &mut Path) {
        let objects: HashSet<VariableId> = self.world.memory.values().copied().collect();
        self.keep(path, |expr| match expr {
            Expr::Load { .. } | Expr::ObjectSize(_) | Expr::ObjectSite { .. } => true,
            Expr::Read(place) => {
                matches!(place.variable, VariableRef::Global(id) if objects.contains(&id))
            }
            _ => false,
        });
        path.wrote_memory = true;
        path.written
            .extend(objects.into_iter().map(VariableRef::Global));
    }

    pub fn row_of_keys(&mut self, count: u32) -> usize {
        if let Some(row) = self.key_row {
            return row;
        }
        let ty = Ty::unsigned(self.world.module.pointer_width());
        let row = self.new_local(LocalKind::Row, "pthread_specific", ty, count);
        self.locals[row].is_array = true;
        self.key_row = Some(row);
        row
    }

    pub fn row_cell_at(&self, local: usize, index: Part, valid: Part) -> Cell {
        let ty = self.locals[local].ty;
        Cell {
            kind: CellKind::Row {
                variable: VariableRef::Local(VariableId(local as u32)),
                index,
                ty,
            },
            valid,
            shared: false,
            width: ty.width,
            shadow: None,
        }
    }

    /// A cell of a global row that the model itself keeps.
    pub fn global_cell(&self, id: VariableId, index: Part) -> Cell {
        let ty = self.world.globals[id.index()].ty;
        Cell {
            kind: CellKind::Row {
                variable: VariableRef::Global(id),
                index,
                ty,
            },
            valid: Part::same(Expr::TRUE),
            shared: true,
            width: ty.width,
            shadow: None,
        }
    }
}

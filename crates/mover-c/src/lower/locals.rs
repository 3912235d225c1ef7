//! The local variables of a template: slots for values, temporaries, and slots for the
//! addresses of objects that the thread creates for itself.
//!
//! They are created on demand; which slots can share one variable is decided when the template
//! is complete (`finish`).

use mover_ir::expr::{Expr, Place, Ty, VariableRef};
use mover_ir::program::{CellNames, Init, VariableId};

use super::{Builder, Local, LocalKind, Path};
use crate::objects::Object;
use crate::ssa::ValueId;

impl<'w, 'a> Builder<'w, 'a> {
    pub(super) fn new_local(&mut self, kind: LocalKind, name: &str, ty: Ty, len: u32) -> usize {
        self.locals.push(Local {
            kind,
            name: name.to_string(),
            ty,
            len,
            is_array: len != 1,
            init: Init::All(0),
            names: CellNames::default(),
            symbols: None,
            span: None,
        });
        self.locals.len() - 1
    }

    /// Assigns a slot for its address to each object that the thread creates for itself.
    pub(super) fn pin_objects(&mut self) {
        let width = self.world.module.pointer_width();
        let own: Vec<Object> = self
            .world
            .objects
            .facts
            .iter()
            .filter(|(object, facts)| facts.is_addressed && self.is_made_by_thread(**object))
            .map(|(object, _)| *object)
            .collect();
        for object in own {
            let name = format!("%&{}", self.world.objects.name(object));
            let local = self.new_local(LocalKind::Row, &name, Ty::unsigned(width), 1);
            self.locals[local].names = self.world.pointer_names();
            self.pinned.insert(object, local);
        }
    }

    /// Whether an addressed variable of this body is made anew by each thread.
    fn is_made_by_thread(&self, object: Object) -> bool {
        match object {
            Object::Global(id) => {
                self.world.module.globals[id].thread_local
                    && self
                        .world
                        .objects
                        .facts(object)
                        .is_some_and(|facts| facts.bodies.contains(&self.body))
            }
            Object::Local(body, _) => body == self.body && !self.world.memory.contains_key(&object),
        }
    }

    pub(super) fn slot(&mut self, value: ValueId, part: usize) -> usize {
        if let Some(&known) = self.slots.get(&(value, part)) {
            return known;
        }
        let info = &self.code.values[value];
        let ty = Ty {
            width: info.shape[part],
            signed: info.signed,
        };
        let name = if info.is_variable {
            info.name.clone()
        } else {
            format!("%{}", ty.width)
        };
        let local = self.new_local(LocalKind::Slot(value), &name, ty, 1);
        if ty.width == self.world.module.pointer_width() && !ty.signed && !info.is_number {
            self.locals[local].names = self.world.pointer_names();
        }
        self.locals[local].symbols = self.world.enumeration(&info.enumerators);
        self.slots.insert((value, part), local);
        local
    }

    pub fn temp(&mut self, path: &mut Path, width: u8) -> usize {
        let ty = Ty::unsigned(width);
        let free = (0..self.locals.len()).find(|&local| {
            self.locals[local].kind == LocalKind::Temporary
                && self.locals[local].ty == ty
                && !path.temps.contains(&local)
        });
        let name = format!("%tmp{width}");
        let local = free.unwrap_or_else(|| self.new_local(LocalKind::Temporary, &name, ty, 1));
        path.temps.push(local);
        local
    }

    pub fn temp_place(&self, local: usize) -> Place {
        self.local_place(local, Expr::int(0))
    }

    pub(super) fn local_place(&self, local: usize, index: Expr) -> Place {
        let variable = VariableRef::Local(VariableId(local as u32));
        Place::element(variable, index, self.locals[local].ty)
    }

    pub fn local_read(&self, local: usize) -> Expr {
        Expr::Read(self.local_place(local, Expr::int(0)))
    }
}

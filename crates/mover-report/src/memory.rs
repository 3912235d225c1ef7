//! Memory in the words of the source.
//!
//! A trace shows what a step changed. Of a variable these are its cells; of an
//! object, or of anything that the front end has given [`CellNames`], its fields:
//! `node#2.next` is the field `next` of the second dynamic object, which the
//! statement called `node` made, and an address is told by what it points to.
//! Bytes that no field covers are told by their offset (`node#2+8`).

use mover_ir::expr::Ty;
use mover_ir::print::print_value;
use mover_ir::program::{CellName, CellNames, Program, SymbolSetId, VariableId};
use mover_ir::semantics::{HeapObject, State, bytes_at};

use crate::trace::Change;

/// A row of cells in two states, with what is needed to tell about it.
pub struct Row<'a> {
    pub name: String,
    pub ty: Ty,
    pub is_array: bool,
    /// Whether cells without a name are told by offset rather than by index.
    pub is_object: bool,
    pub symbols: Option<SymbolSetId>,
    pub names: &'a CellNames,
    pub old: &'a [u64],
    pub new: &'a [u64],
}

/// Two states between which changes are told.
pub struct Between<'a> {
    pub program: &'a Program,
    pub before: &'a State,
    pub after: &'a State,
}

impl Between<'_> {
    /// Appends what has changed in a row.
    pub fn compare_row(&self, row: &Row, changes: &mut Vec<Change>) {
        if row.old == row.new {
            return;
        }
        let bytes = usize::from(row.ty.width / 8);
        let has_fields = row.ty.width.is_multiple_of(8) && !row.names.fields.is_empty();
        let mut told = vec![false; row.new.len() * bytes.max(1)];
        if has_fields {
            self.compare_fields(row, &mut told, changes);
        }
        for (index, (&old, &new)) in row.old.iter().zip(row.new).enumerate() {
            let is_told = has_fields && told[index * bytes..(index + 1) * bytes].contains(&true);
            if old == new || is_told {
                continue;
            }
            let part = if has_fields || (row.is_object && row.new.len() > 1) {
                format!("+{}", index * bytes)
            } else if row.is_array && !row.is_object {
                format!("[{index}]")
            } else {
                String::new()
            };
            let text = |value| print_value(self.program, row.ty, row.symbols, value);
            changes.push(Change {
                name: format!("{}{part}", row.name),
                from: text(old),
                to: text(new),
            });
        }
    }

    /// Appends the fields that have changed and marks their bytes as told.
    fn compare_fields(&self, row: &Row, told: &mut [bool], changes: &mut Vec<Change>) {
        let size = told.len() as u64;
        let stride = if row.names.stride == 0 {
            size
        } else {
            row.names.stride
        };
        for element in 0..size.div_ceil(stride.max(1)) {
            for field in &row.names.fields {
                let (offset, count) = (
                    element * stride + field.offset,
                    u64::from(field.ty.width / 8),
                );
                let end = offset.saturating_add(count);
                if end > size || !matches!(field.ty.width, 8 | 16 | 32 | 64) {
                    continue;
                }
                told[offset as usize..end as usize].fill(true);
                let value = |cells| bytes_at(cells, row.ty.width, offset, count);
                let (old, new) = (value(row.old), value(row.new));
                if old != new {
                    let part = part_name(row.is_array, element, field);
                    changes.push(Change {
                        name: format!("{}{part}", row.name),
                        from: self.field_value(field, self.before, old),
                        to: self.field_value(field, self.after, new),
                    });
                }
            }
        }
    }

    fn field_value(&self, field: &CellName, state: &State, value: u64) -> String {
        if field.is_pointer {
            address_text(self.program, &state.heap, value)
        } else {
            print_value(self.program, field.ty, None, value)
        }
    }

    /// Appends which dynamic objects came, went and changed.
    pub fn compare_heap(&self, changes: &mut Vec<Change>) {
        let (old, new) = (&self.before.heap, &self.after.heap);
        for slot in 0..old.len().max(new.len()) {
            let old = old.get(slot).and_then(Option::as_ref);
            let new = new.get(slot).and_then(Option::as_ref);
            match (old, new) {
                (Some(old), Some(new)) if (old.site, old.size) == (new.site, new.size) => {
                    self.compare_object(slot, old, new, changes);
                }
                _ => {
                    let news = [
                        old.map(|old| (old, "freed".to_string())),
                        new.map(|new| (new, format!("allocated, {} bytes", new.size))),
                    ];
                    for (object, to) in news.into_iter().flatten() {
                        changes.push(Change {
                            name: object_name(self.program, slot, object),
                            from: String::new(),
                            to,
                        });
                    }
                }
            }
        }
    }

    fn compare_object(
        &self,
        slot: usize,
        old: &HeapObject,
        new: &HeapObject,
        changes: &mut Vec<Change>,
    ) {
        let site = self.program.site(new.site);
        let names = &site.names;
        let is_array = names.stride > 0 && new.size > names.stride;
        self.compare_row(
            &Row {
                name: object_name(self.program, slot, new),
                ty: site.cell,
                is_array,
                is_object: true,
                symbols: None,
                names,
                old: &old.cells,
                new: &new.cells,
            },
            changes,
        );
    }
}

fn part_name(is_array: bool, element: u64, field: &CellName) -> String {
    let index = if is_array {
        format!("[{element}]")
    } else {
        String::new()
    };
    let dot = if field.name.is_empty() { "" } else { "." };
    format!("{index}{dot}{}", field.name)
}

/// `node#2`: the second dynamic object, made at the site `node`.
fn object_name(program: &Program, slot: usize, object: &HeapObject) -> String {
    format!("{}#{}", program.site(object.site).name, slot + 1)
}

/// An address by what it points to.
pub fn address_text(program: &Program, heap: &[Option<HeapObject>], address: u64) -> String {
    let layout = program.pointers;
    let (number, offset) = (layout.object(address), layout.offset(address));
    if number == 0 {
        return match offset {
            0 => "NULL".into(),
            offset => offset.to_string(),
        };
    }
    let globals = (0..program.globals.len() as u32).map(VariableId);
    let mut addressable = globals.filter(|id| program.globals[id.index()].addressable);
    let position = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let name = match addressable.nth(position) {
        Some(global) => program.globals[global.index()].name.clone(),
        None => {
            let slot = position - program.addressable_globals() as usize;
            match heap.get(slot) {
                Some(Some(object)) => object_name(program, slot, object),
                _ => format!("gone#{}", slot + 1),
            }
        }
    };
    match offset {
        0 => format!("&{name}"),
        offset => format!("&{name}+{offset}"),
    }
}

//! Memory in the terms of the source.
//!
//! A trace shows what a step changed. For a variable these are its cells; for an object, or
//! anything else with [`CellNames`] from the front end, its fields: `node#2.next` is the field
//! `next` of the second dynamic object, created by the statement called `node`, and an address
//! is printed as what it points to. Bytes that no field covers are printed by their offset
//! (`node#2+8`).

use mover_ir::expr::Ty;
use mover_ir::print::print_value;
use mover_ir::program::{CellName, CellNames, Program, SiteKind, SymbolSetId, Variable};
use mover_ir::semantics::{Access, ChannelHome, HeapObject, State, Thing, bytes_at};

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
        let bytes = usize::from(row.ty.width / 8);
        let hidden = row.names.hidden_bytes as usize / bytes.max(1);
        let shown = row.new.len().saturating_sub(hidden);
        let row = &Row {
            name: row.name.clone(),
            old: &row.old[..shown.min(row.old.len())],
            new: &row.new[..shown],
            ..*row
        };
        if row.old == row.new {
            return;
        }
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
                    let part = part_name(row.is_array && row.names.stride != 0, element, field);
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
        field_text(self.program, state, field, value)
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
                    let is_heap =
                        |object: &HeapObject| self.program.site(object.site).kind == SiteKind::Heap;
                    let ends = |object| match is_heap(object) {
                        true => "freed".to_string(),
                        false => "out of scope".to_string(),
                    };
                    let begins = |object| match is_heap(object) {
                        true => format!("allocated, {} bytes", self.shown_bytes(object)),
                        false => "in scope".to_string(),
                    };
                    let news = [
                        old.map(|old| (old, ends(old))),
                        new.map(|new| (new, begins(new))),
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

    fn shown_bytes(&self, object: &HeapObject) -> u64 {
        known_bytes(self.program, object)
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
        let is_array = names.stride > 0 && self.shown_bytes(new) > names.stride;
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

/// `node#2`: the second dynamic object, made at the site `node`. An object of unknown type, whose
/// site is called after its line, is a block.
pub fn object_name(program: &Program, slot: usize, object: &HeapObject) -> String {
    let site = &program.site(object.site).name;
    let name = match site.starts_with("heap@") || site == "heap" {
        true => "block",
        false => site,
    };
    format!("{name}#{}", slot + 1)
}

/// The bytes of an object that the program knows of.
pub fn known_bytes(program: &Program, object: &HeapObject) -> u64 {
    let hidden = program.site(object.site).names.hidden_bytes;
    object.size.saturating_sub(hidden)
}

/// The name of a variable in the source. Where several have the same name, a front end numbers
/// them: `i'2`.
pub fn source_name(name: &str) -> &str {
    match name.rsplit_once('\'') {
        Some((source, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => source,
        _ => name,
    }
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
    let position = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let mut part = String::new();
    let name = match addressable(program).nth(position) {
        Some(variable) => {
            part = part_at(&variable.names, variable.is_array, offset).unwrap_or_else(|| {
                let bytes = u64::from(variable.ty.width / 8).max(1);
                match offset > 0
                    && variable.is_array
                    && variable.names.fields.is_empty()
                    && offset % bytes == 0
                {
                    true => format!("[{}]", offset / bytes),
                    false => format!("+{offset}"),
                }
            });
            source_name(&variable.name).to_string()
        }
        None => {
            let slot = position - program.addressable_globals() as usize;
            match heap.get(slot) {
                Some(Some(object)) => {
                    let names = &program.site(object.site).names;
                    let is_array = names.stride > 0 && known_bytes(program, object) > names.stride;
                    if offset > 0 {
                        part = part_at(names, is_array, offset).unwrap_or_default();
                    }
                    object_name(program, slot, object)
                }
                _ => format!("gone#{}", slot + 1),
            }
        }
    };
    match offset {
        0 if !part.starts_with('[') => format!("&{name}"),
        offset if part.is_empty() => format!("&{name}+{offset}"),
        _ => format!("&{name}{part}"),
    }
}

/// The global variables that have an address, in the order of their addresses.
pub fn addressable(program: &Program) -> impl Iterator<Item = &Variable> {
    program
        .globals
        .iter()
        .filter(|variable| variable.addressable)
}

/// The element or field at an offset that is not 0: `[1]`, `.next`, `[1].next`.
fn part_at(names: &CellNames, is_array: bool, offset: u64) -> Option<String> {
    let (element, within) = match names.stride {
        0 => (0, offset),
        stride => (offset / stride, offset % stride),
    };
    let is_element = is_array && names.stride != 0;
    if is_element && within == 0 {
        return Some(format!("[{element}]"));
    }
    let mut fields = names.fields.iter();
    let field = fields.find(|field| field.offset == within && !field.name.is_empty())?;
    Some(part_name(is_element, element, field))
}

/// The source name of what an access refers to, and the value it reads or writes there.
/// Nothing for what the source has no name for.
pub fn access_text(program: &Program, state: &State, access: &Access) -> Option<(String, String)> {
    match access.thing {
        Thing::Global(global) => {
            let variable = &program.globals[global];
            row_access(program, state, "", variable, access)
        }
        Thing::Local { thread, variable } => {
            let alive = state.threads.get(thread)?.as_ref()?;
            let template = program.template(alive.template);
            let prefix = format!("{}[{thread}]:", template.name);
            row_access(program, state, &prefix, &template.locals[variable], access)
        }
        Thing::Object(slot) => {
            let object = state.heap.get(slot)?.as_ref()?;
            let site = program.site(object.site);
            let name = object_name(program, slot, object);
            let shown = object.size.saturating_sub(site.names.hidden_bytes);
            if access.first_bit / 8 >= shown {
                return None;
            }
            let is_array = site.names.stride > 0 && shown > site.names.stride;
            match named_field(&site.names, is_array, access) {
                Some((part, field)) => {
                    let value = field_text(program, state, field, access.value);
                    Some((format!("{name}{part}"), value))
                }
                None => {
                    let offset = access.first_bit / 8;
                    let value = print_value(program, site.cell, None, access.value);
                    Some((format!("{name}+{offset}"), value))
                }
            }
        }
        Thing::Life(slot) => {
            let value = if access.value == 0 { "gone" } else { "there" };
            let name = match state.heap.get(slot) {
                Some(Some(object)) => object_name(program, slot, object),
                _ => format!("object #{}", slot + 1),
            };
            Some((name, value.into()))
        }
        Thing::Channel(handle) => Some((channel_name(program, state, handle)?, String::new())),
        Thing::Thread(thread) => {
            let alive = state.threads.get(thread)?.as_ref()?;
            let name = format!("{}[{thread}]", program.template(alive.template).name);
            Some((name, String::new()))
        }
    }
}

fn row_access(
    program: &Program,
    state: &State,
    prefix: &str,
    variable: &Variable,
    access: &Access,
) -> Option<(String, String)> {
    // A name that no source can have is a front end's own.
    if variable.name.starts_with('%') {
        return None;
    }
    if access.first_bit / 8 >= variable.bytes().saturating_sub(variable.names.hidden_bytes)
        && variable.names.hidden_bytes > 0
    {
        return None;
    }
    let name = format!("{prefix}{}", source_name(&variable.name));
    if let Some((part, field)) = named_field(&variable.names, variable.is_array, access) {
        let value = field_text(program, state, field, access.value);
        return Some((format!("{name}{part}"), value));
    }
    let width = u64::from(variable.ty.width).max(1);
    let part = if variable.is_array || variable.len > 1 {
        format!("[{}]", access.first_bit / width)
    } else {
        String::new()
    };
    let value = print_value(program, variable.ty, variable.symbols, access.value);
    Some((format!("{name}{part}"), value))
}

/// The field that an access covers exactly.
fn named_field<'a>(
    names: &'a CellNames,
    is_array: bool,
    access: &Access,
) -> Option<(String, &'a CellName)> {
    let offset = access.first_bit / 8;
    let (element, within) = match names.stride {
        0 => (0, offset),
        stride => (offset / stride, offset % stride),
    };
    let field = names
        .fields
        .iter()
        .find(|field| field.offset == within && u64::from(field.ty.width) == access.bits)?;
    Some((
        part_name(is_array && names.stride != 0, element, field),
        field,
    ))
}

fn field_text(program: &Program, state: &State, field: &CellName, value: u64) -> String {
    let is_named = program
        .symbol(field.symbols, field.ty.number(value))
        .is_some();
    if field.is_pointer && !is_named {
        address_text(program, &state.heap, value)
    } else {
        print_value(program, field.ty, field.symbols, value)
    }
}

/// What a channel is called.
pub fn channel_name(program: &Program, state: &State, handle: u64) -> Option<String> {
    match program.resolve_channel(handle)? {
        ChannelHome::Global(index) => Some(program.channels.get(index)?.name.clone()),
        ChannelHome::Thread { thread, index } => {
            let alive = state.threads.get(thread)?.as_ref()?;
            let template = program.template(alive.template);
            let name = &template.channels.get(index)?.name;
            Some(format!("{}[{thread}]:{name}", template.name))
        }
    }
}

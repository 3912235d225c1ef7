//! Addressable memory: objects as sequences of bytes.
//!
//! Objects are stored as cells, and loaded and stored as bytes; this module converts between
//! the two. It also determines the number of a new object, which depends on the whole state.

use std::collections::BTreeSet;

use super::{HeapObject, Machine, Message, State, View};
use crate::expr::Ty;
use crate::program::{ChannelDecl, REUSED_NUMBERS, SiteId, Variable};

/// Where a live object is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Which global variable.
    Global(usize),
    /// Which position of the heap.
    Dynamic(usize),
}

/// The cell that a byte of an object lies in, and by how much it is shifted there.
fn byte_place(offset: u64, cell_width: u8) -> (usize, u64) {
    let bytes = u64::from(cell_width / 8);
    ((offset / bytes) as usize, offset % bytes * 8)
}

/// Up to eight bytes of a row of cells as a number; all must be within.
pub fn bytes_at(cells: &[u64], cell_width: u8, offset: u64, count: u64) -> u64 {
    (0..count).fold(0, |value, byte| {
        let (cell, shift) = byte_place(offset + byte, cell_width);
        value | ((cells[cell] >> shift) & 0xFF) << (8 * byte)
    })
}

impl<'p> Machine<'p> {
    /// Writes bytes at an address, all of them or none.
    pub(super) fn store_bytes(&self, state: &mut State, address: u64, count: u64, value: u64) {
        let view = View::new(self, state, 0, false);
        let Some((home, offset)) = view.range(address, count) else {
            return;
        };
        let (cells, width) = match home {
            Home::Global(global) => {
                let first = self.global_offsets[global];
                let variable = &self.program.globals[global];
                let cells = &mut state.globals[first..first + variable.len as usize];
                (cells, variable.ty.width)
            }
            Home::Dynamic(slot) => match &mut state.heap[slot] {
                Some(object) => (
                    &mut object.cells[..],
                    self.program.site(object.site).cell.width,
                ),
                None => return,
            },
        };
        for byte in 0..count {
            let (cell, shift) = byte_place(offset + byte, width);
            let cell = &mut cells[cell];
            *cell = *cell & !(0xFF << shift) | ((value >> (8 * byte)) & 0xFF) << shift;
        }
    }

    /// Makes a new object and gives its address, 0 if there can be none.
    pub(super) fn allocate(&self, state: &mut State, site: SiteId, reuse: u32, size: u64) -> u64 {
        let layout = self.program.pointers;
        let globals = self.addressable.len() as u64;
        let mentioned = self.mentioned_objects(state);
        let is_dead = |slot: &usize| !matches!(state.heap.get(*slot), Some(Some(_)));
        let is_free =
            |slot: &usize| is_dead(slot) && !mentioned.contains(&(globals + 1 + *slot as u64));
        let fresh = || (0..).find(is_free).unwrap_or(usize::MAX);
        let mut left = mentioned
            .range(globals + 1..=globals + REUSED_NUMBERS)
            .map(|number| (number - globals - 1) as usize)
            .filter(is_dead);
        let again = (reuse as usize)
            .checked_sub(1)
            .and_then(|nth| left.nth(nth));
        let slot = again.unwrap_or_else(fresh);
        let number = globals + 1 + slot as u64;
        if size > layout.max_object_size() || number > layout.last_dynamic_object() {
            return 0;
        }
        if slot >= state.heap.len() {
            state.heap.resize(slot + 1, None);
        }
        let cell_bytes = u64::from(self.program.site(site).cell.width / 8);
        state.heap[slot] = Some(HeapObject {
            site,
            size,
            cells: vec![0; size.div_ceil(cell_bytes) as usize],
        });
        layout.address(number)
    }

    /// The numbers of objects that a pointer somewhere in the state may hold:
    /// the object parts of all cells that are as wide as a pointer, and in
    /// objects of all aligned groups of as many bytes.
    fn mentioned_objects(&self, state: &State) -> BTreeSet<u64> {
        let layout = self.program.pointers;
        let mut numbers = BTreeSet::new();
        let mut mention = |ty: Ty, values: &[u64]| {
            if ty.width == layout.width {
                numbers.extend(values.iter().map(|&value| layout.object(value)));
            }
        };
        let rows = |variables: &[Variable], cells: &[u64], mention: &mut dyn FnMut(Ty, &[u64])| {
            let mut first = 0;
            for variable in variables {
                let len = variable.len as usize;
                mention(variable.ty, &cells[first..first + len]);
                first += len;
            }
        };
        let buffers = |channels: &[ChannelDecl],
                       buffers: &[Vec<Message>],
                       mention: &mut dyn FnMut(Ty, &[u64])| {
            for (channel, buffer) in channels.iter().zip(buffers) {
                for message in buffer {
                    for (field, &value) in channel.fields.iter().zip(message) {
                        mention(field.ty, &[value]);
                    }
                }
            }
        };
        rows(&self.program.globals, &state.globals, &mut mention);
        buffers(&self.program.channels, &state.channels, &mut mention);
        for thread in state.threads.iter().flatten() {
            let template = self.program.template(thread.template);
            rows(&template.locals, &thread.locals, &mut mention);
            buffers(&template.channels, &thread.channels, &mut mention);
        }
        let view = View::new(self, state, 0, false);
        let globals = self.addressable.len() as u64;
        for number in 1..=globals + state.heap.len() as u64 {
            let base = layout.address(number);
            let bytes = u64::from(layout.width / 8);
            for group in 0..view.object_size(base) / bytes {
                numbers.insert(layout.object(view.load(base + group * bytes, bytes)));
            }
        }
        numbers
    }

    /// The position of the heap that an address of a dynamic object names.
    pub(super) fn slot(&self, address: u64) -> Option<usize> {
        let number = self.program.pointers.object(address).checked_sub(1)?;
        usize::try_from(number)
            .ok()?
            .checked_sub(self.addressable.len())
    }
}

impl<'a, 'p> View<'a, 'p> {
    /// The live object that an address points into, whatever the offset.
    pub(super) fn home(&self, address: u64) -> Option<Home> {
        let number = self
            .machine
            .program
            .pointers
            .object(address)
            .checked_sub(1)?;
        let number = usize::try_from(number).ok()?;
        if let Some(&global) = self.machine.addressable.get(number) {
            return Some(Home::Global(global));
        }
        let slot = number - self.machine.addressable.len();
        self.state.heap.get(slot)?.as_ref()?;
        Some(Home::Dynamic(slot))
    }

    pub(super) fn object_size(&self, address: u64) -> u64 {
        match self.home(address) {
            Some(Home::Global(global)) => self.machine.program.globals[global].bytes(),
            Some(Home::Dynamic(slot)) => self.state.heap[slot].as_ref().map_or(0, |o| o.size),
            None => 0,
        }
    }

    /// The object and the offset of bytes that are all within it.
    pub(super) fn range(&self, address: u64, count: u64) -> Option<(Home, u64)> {
        let home = self.home(address)?;
        let offset = self.machine.program.pointers.offset(address);
        let end = offset.checked_add(count)?;
        (end <= self.object_size(address)).then_some((home, offset))
    }

    /// The bytes at an address as a number; 0 unless all are within a live object.
    pub(super) fn load(&self, address: u64, count: u64) -> u64 {
        let Some((home, offset)) = self.range(address, count) else {
            return 0;
        };
        let program = self.machine.program;
        let (cells, width) = match home {
            Home::Global(global) => {
                let first = self.machine.global_offsets[global];
                let width = program.globals[global].ty.width;
                (&self.state.globals[first..], width)
            }
            Home::Dynamic(slot) => match &self.state.heap[slot] {
                Some(object) => (&object.cells[..], program.site(object.site).cell.width),
                None => return 0,
            },
        };
        bytes_at(cells, width, offset, count)
    }
}

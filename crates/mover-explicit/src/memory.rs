//! Address resolution in a packed state.
//!
//! The object part of an address selects an addressable global, which is stored in the lanes
//! like all variables, or a dynamic object, whose lane contains the number of its content (see
//! `objects`). A load or store within one cell of a global accesses some bits of a lane; only
//! an access that straddles cells is done byte by byte.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use mover_ir::program::{PointerLayout, Program};

use crate::layout::{Cell, ChannelShape, Layout, Row, TemplateLayout};
use crate::objects::{Object, Objects};

/// What memory with addresses needs besides the lanes.
pub struct Memory {
    pub pointers: PointerLayout,
    /// The addressable globals; object number 1 comes first.
    pub globals: Vec<Row>,
    pub objects: Objects,
    /// Why the search cannot be complete, once that is known.
    refusal: OnceLock<String>,
    refusals: AtomicUsize,
}

/// A live object.
pub enum Home<'a> {
    Global(Row),
    Dynamic { lane: usize, object: Object<'a> },
}

impl Home<'_> {
    /// In bytes.
    pub fn size(&self) -> u64 {
        match self {
            Home::Global(row) => u64::from(row.len) << cell_bytes_log2(row),
            Home::Dynamic { object, .. } => object.size(),
        }
    }
}

fn cell_bytes_log2(row: &Row) -> u32 {
    u32::from(row.width() / 8).trailing_zeros()
}

/// The bits of some bytes of a row, if they lie within one of its cells.
#[inline]
pub fn part(row: &Row, offset: u64, count: u64) -> Option<Cell> {
    let log2 = cell_bytes_log2(row);
    let within = offset & ((1 << log2) - 1);
    if within + count > 1 << log2 {
        return None;
    }
    let cell = row.cell(offset >> log2)?;
    Some(Cell {
        lane: cell.lane,
        shift: cell.shift + 8 * within as u8,
        width: 8 * count as u8,
    })
}

/// Where pointers can be, to find the numbers that no new object may get.
pub struct Mentions {
    /// Rows of global variables and channels that are as wide as a pointer.
    globals: Vec<Row>,
    /// The same in the slot of a thread, by template.
    locals: Vec<Vec<Row>>,
}

impl Mentions {
    pub fn new(program: &Program, layout: &Layout) -> Mentions {
        let width = program.pointers.width;
        let wide = |variables: &[Row], channels: &[ChannelShape]| -> Vec<Row> {
            let buffers = channels.iter().flat_map(|channel| &channel.rows);
            let rows = variables.iter().chain(buffers).copied();
            rows.filter(|row| row.width() == width).collect()
        };
        let of_template = |template: &TemplateLayout| wide(&template.locals, &template.channels);
        Mentions {
            globals: wide(&layout.globals, &layout.channels),
            locals: layout.templates.iter().map(of_template).collect(),
        }
    }

    /// Appends the numbers of all dynamic objects that the state mentions, and others.
    pub fn collect(&self, memory: &Memory, layout: &Layout, lanes: &[u64], found: &mut Vec<u64>) {
        let pointers = memory.pointers;
        let last_global = memory.globals.len() as u64;
        let mut mention = |value: u64| {
            let number = pointers.object(value);
            if number > last_global {
                found.push(number);
            }
        };
        let mut scan = |rows: &[Row], base: usize| {
            for row in rows {
                let cells = (0..u64::from(row.len)).filter_map(|index| row.cell(index));
                cells.for_each(|cell| mention(cell.get(lanes, base)));
            }
        };
        scan(&self.globals, 0);
        for thread in 0..layout.slots(lanes.len()) {
            let slot = layout.slot(thread);
            if let Some(template) = layout.template_of(layout.pc.get(lanes, slot)) {
                scan(&self.locals[template], slot);
            }
        }
        let bytes = u64::from(pointers.width / 8);
        let objects = last_global + layout.heap_room(lanes.len());
        for number in 1..=objects {
            let base = pointers.address(number);
            // Those of the width of a pointer are scanned as rows already.
            let is_scanned = memory
                .global(number)
                .is_some_and(|row| row.width() == pointers.width);
            if let Some(home) = memory.home(layout, lanes, base).filter(|_| !is_scanned) {
                for group in 0..home.size() / bytes {
                    mention(memory.load(layout, lanes, base + group * bytes, bytes));
                }
            }
        }
    }
}

impl Memory {
    pub fn new(program: &Program, layout: &Layout) -> Memory {
        let rows = program.globals.iter().zip(&layout.globals);
        Memory {
            pointers: program.pointers,
            globals: rows
                .filter(|(variable, _)| variable.addressable)
                .map(|(_, row)| *row)
                .collect(),
            objects: Objects::default(),
            refusal: OnceLock::new(),
            refusals: AtomicUsize::new(0),
        }
    }

    /// The addressable global with an object number.
    pub fn global(&self, number: u64) -> Option<&Row> {
        self.globals
            .get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The live object that an address points into, whatever the offset.
    #[inline]
    pub fn home(&self, layout: &Layout, lanes: &[u64], address: u64) -> Option<Home<'_>> {
        let number = self.pointers.object(address);
        if let Some(row) = self.global(number) {
            return Some(Home::Global(*row));
        }
        let slot = number.checked_sub(1 + self.globals.len() as u64)?;
        let lane = layout.heap_lane(lanes.len(), slot)?;
        let object = self.objects.get(lanes[lane])?;
        Some(Home::Dynamic { lane, object })
    }

    /// The bytes at an address as a number; 0 unless all are within a live object.
    pub fn load(&self, layout: &Layout, lanes: &[u64], address: u64, count: u64) -> u64 {
        let offset = self.pointers.offset(address);
        match self.home(layout, lanes, address) {
            Some(Home::Dynamic { object, .. }) => object.load(offset, count).unwrap_or(0),
            Some(home @ Home::Global(row)) => {
                if let Some(cell) = part(&row, offset, count) {
                    return cell.get(lanes, 0);
                }
                if offset + count > home.size() {
                    return 0;
                }
                (0..count).fold(0, |value, byte| {
                    let cell = part(&row, offset + byte, 1);
                    value | cell.map_or(0, |cell| cell.get(lanes, 0)) << (8 * byte)
                })
            }
            None => 0,
        }
    }

    /// Notes why not everything can be explored.
    /// Returns how often that has been done before.
    pub fn refuse(&self, reason: impl FnOnce() -> String) -> usize {
        self.refusal.get_or_init(reason);
        self.refusals.fetch_add(1, Ordering::Relaxed)
    }

    pub fn refusal(&self) -> Option<&str> {
        self.refusal.get().map(String::as_str)
    }
}

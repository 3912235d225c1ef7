//! How a state is packed into machine words.
//!
//! A state is an array of 64-bit *lanes*. Cells never straddle a lane, so a read is a load, a
//! shift and a mask, and a step changes few lanes: the store only re-examines the lanes that a
//! step wrote.
//!
//! The lanes are, in order: the global variables and channels, then one *slot* for each thread
//! number. All slots have the same number of lanes, so the position of a slot follows from the
//! thread's number, and a thread's cells have fixed addresses relative to it. The first cell of
//! a slot is the program counter: a number over the locations of all templates, 0 for a slot
//! without a thread. A slot without a thread is all zeros. New slots are appended, so the array
//! grows as threads are spawned and no address ever changes. In programs that allocate, each
//! slot is followed by a few lanes for dynamic objects (see `objects`); together they are a
//! *page*, and the array grows by pages.
//!
//! Arrays whose cells fit one lane share it with others; longer ones get their own lanes, with
//! a power of two of cells in each, so that finding a cell takes shifts and no division.

use mover_ir::expr::Ty;
use mover_ir::program::{ChannelDecl, LocationId, Program, TemplateId, Variable};

/// A scalar cell: which lane, relative to its area, and which bits of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    pub lane: u32,
    pub shift: u8,
    pub width: u8,
}

impl Cell {
    #[inline]
    pub fn get(self, lanes: &[u64], base: usize) -> u64 {
        (lanes[base + self.lane as usize] >> self.shift) & self.bits()
    }

    /// As many ones as the cell is wide; cells are at least one bit wide.
    #[inline]
    fn bits(self) -> u64 {
        u64::MAX >> (64 - u32::from(self.width))
    }

    /// The lane's value with the cell replaced.
    #[inline]
    pub fn put(self, lane: u64, value: u64) -> u64 {
        let bits = self.bits();
        lane & !(bits << self.shift) | (value & bits) << self.shift
    }
}

/// A row of cells of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    first: Cell,
    /// Cells in each lane, as a power of two; more than there are if one lane holds all.
    per_lane_log2: u8,
    pub len: u32,
}

impl Row {
    pub fn width(&self) -> u8 {
        self.first.width
    }

    /// The lanes that its cells lie in.
    pub fn lanes(&self) -> std::ops::Range<u32> {
        let last = self.len.saturating_sub(1) >> self.per_lane_log2;
        self.first.lane..self.first.lane + last + 1
    }

    #[inline]
    pub fn cell(&self, index: u64) -> Option<Cell> {
        if index >= u64::from(self.len) {
            return None;
        }
        let index = index as u32;
        let within = index & ((1 << self.per_lane_log2) - 1);
        Some(Cell {
            lane: self.first.lane + (index >> self.per_lane_log2),
            shift: self.first.shift + within as u8 * self.first.width,
            width: self.first.width,
        })
    }
}

/// Where a channel keeps its length and, field by field, its messages.
#[derive(Clone, Debug)]
pub struct ChannelShape {
    pub capacity: u32,
    pub len: Cell,
    pub types: Vec<Ty>,
    /// The messages, a row for each field; none without a buffer.
    pub rows: Vec<Row>,
}

/// Hands out cells one after the other.
#[derive(Default)]
struct Packer {
    lane: u32,
    used: u32,
}

impl Packer {
    fn cell(&mut self, width: u8) -> Cell {
        if self.used + u32::from(width) > 64 {
            self.next_lane();
        }
        let cell = Cell {
            lane: self.lane,
            shift: self.used as u8,
            width,
        };
        self.used += u32::from(width);
        cell
    }

    fn row(&mut self, width: u8, len: u32) -> Row {
        let bits = u64::from(len) * u64::from(width);
        if bits <= 64 {
            if u64::from(self.used) + bits > 64 {
                self.next_lane();
            }
            let first = Cell {
                lane: self.lane,
                shift: self.used as u8,
                width,
            };
            self.used += bits as u32;
            return Row {
                first,
                per_lane_log2: 7,
                len,
            };
        }
        if self.used > 0 {
            self.next_lane();
        }
        let per_lane_log2 = (64 / u32::from(width)).ilog2();
        let first = Cell {
            lane: self.lane,
            shift: 0,
            width,
        };
        self.lane += len.div_ceil(1 << per_lane_log2);
        Row {
            first,
            per_lane_log2: per_lane_log2 as u8,
            len,
        }
    }

    fn rows(&mut self, variables: &[Variable]) -> Vec<Row> {
        variables
            .iter()
            .map(|variable| self.row(variable.ty.width, variable.len))
            .collect()
    }

    fn channels(&mut self, channels: &[ChannelDecl]) -> Vec<ChannelShape> {
        let bits_for = |largest: u32| (32 - largest.leading_zeros()).max(1) as u8;
        channels
            .iter()
            .map(|channel| ChannelShape {
                capacity: channel.capacity,
                len: self.cell(bits_for(channel.capacity)),
                types: channel.fields.iter().map(|field| field.ty).collect(),
                rows: channel
                    .fields
                    .iter()
                    .filter(|_| channel.capacity > 0)
                    .map(|field| self.row(field.ty.width, channel.capacity))
                    .collect(),
            })
            .collect()
    }

    fn next_lane(&mut self) {
        self.lane += 1;
        self.used = 0;
    }

    fn lanes(&self) -> usize {
        self.lane as usize + usize::from(self.used > 0)
    }
}

/// Where a template keeps its variables, relative to the thread's slot.
#[derive(Debug)]
pub struct TemplateLayout {
    pub locals: Vec<Row>,
    pub channels: Vec<ChannelShape>,
    /// The program counter of the template's location 0.
    first_pc: u32,
}

/// Dynamic objects for each thread slot, in programs that have any.
const HEAP_LANES: usize = 8;

/// The shape of all states of a program.
#[derive(Debug)]
pub struct Layout {
    pub globals: Vec<Row>,
    pub channels: Vec<ChannelShape>,
    pub templates: Vec<TemplateLayout>,
    /// Lanes before the first slot.
    pub slots_start: usize,
    /// Lanes of each slot.
    pub slot_lanes: usize,
    /// Lanes for dynamic objects after each slot.
    heap_lanes: usize,
    /// Cell of the program counter in a slot.
    pub pc: Cell,
    /// Cell of the priority in a slot, if priorities can make a difference.
    pub priority: Option<Cell>,
}

impl Layout {
    pub fn new(program: &Program) -> Layout {
        let mut packer = Packer::default();
        let globals = packer.rows(&program.globals);
        let channels = packer.channels(&program.channels);
        let slots_start = packer.lanes();

        let locations: usize = program.templates.iter().map(|t| t.locations.len()).sum();
        let pc_width = (usize::BITS - locations.leading_zeros()).max(1) as u8;
        let uses_priorities = program.uses_priorities();
        let mut slot_lanes = 1;
        let mut first_pc = 1;
        let mut templates = Vec::new();
        for template in &program.templates {
            let mut packer = Packer::default();
            packer.cell(pc_width);
            if uses_priorities {
                packer.cell(8);
            }
            templates.push(TemplateLayout {
                locals: packer.rows(&template.locals),
                channels: packer.channels(&template.channels),
                first_pc,
            });
            first_pc += template.locations.len() as u32;
            slot_lanes = slot_lanes.max(packer.lanes());
        }
        Layout {
            globals,
            channels,
            templates,
            slots_start,
            slot_lanes,
            heap_lanes: if program.sites.is_empty() {
                0
            } else {
                HEAP_LANES
            },
            pc: Cell {
                lane: 0,
                shift: 0,
                width: pc_width,
            },
            priority: uses_priorities.then_some(Cell {
                lane: 0,
                shift: pc_width,
                width: 8,
            }),
        }
    }

    #[inline]
    pub fn slot(&self, thread: usize) -> usize {
        self.slots_start + thread * (self.slot_lanes + self.heap_lanes)
    }

    /// How many slots a row of this many lanes has.
    #[inline]
    pub fn slots(&self, lanes: usize) -> usize {
        (lanes - self.slots_start) / (self.slot_lanes + self.heap_lanes)
    }

    /// How many dynamic objects a row of this many lanes has room for.
    pub fn heap_room(&self, lanes: usize) -> u64 {
        (self.slots(lanes) * self.heap_lanes) as u64
    }

    /// The lane of a dynamic object, if a row of this many lanes has it.
    #[inline]
    pub fn heap_lane(&self, lanes: usize, object: u64) -> Option<usize> {
        if object >= self.heap_room(lanes) {
            return None;
        }
        let (page, within) = (
            object as usize / self.heap_lanes,
            object as usize % self.heap_lanes,
        );
        Some(self.slot(page) + self.slot_lanes + within)
    }

    /// Whether a lane is that of a dynamic object.
    #[inline]
    pub fn is_heap_lane(&self, lane: usize) -> bool {
        let page = self.slot_lanes + self.heap_lanes;
        lane >= self.slots_start && (lane - self.slots_start) % page >= self.slot_lanes
    }

    /// Whether a row of this many lanes consists of whole pages.
    pub fn is_whole(&self, lanes: usize) -> bool {
        let pages = lanes.checked_sub(self.slots_start);
        pages.is_some_and(|lanes| lanes.is_multiple_of(self.slot_lanes + self.heap_lanes))
    }

    pub fn pc_of(&self, template: TemplateId, location: LocationId) -> u32 {
        self.templates[template.index()].first_pc + location.0
    }

    /// The template that a program counter belongs to; none for an empty slot.
    pub fn template_of(&self, pc: u64) -> Option<usize> {
        self.templates
            .partition_point(|template| u64::from(template.first_pc) <= pc)
            .checked_sub(1)
    }

    /// Lanes of a state with this many slots.
    pub fn lanes(&self, threads: usize) -> usize {
        self.slot(threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_overlap_and_do_not_straddle() {
        let mut packer = Packer::default();
        let mut taken = std::collections::HashSet::new();
        for (width, len) in [
            (1, 3),
            (8, 7),
            (8, 9),
            (5, 40),
            (64, 2),
            (1, 1),
            (33, 3),
            (1, 65),
        ] {
            let row = packer.row(width, len);
            for index in 0..u64::from(len) {
                let cell = row.cell(index).expect("within the row");
                assert!(u32::from(cell.shift) + u32::from(cell.width) <= 64);
                for bit in cell.shift..cell.shift + cell.width {
                    assert!(taken.insert((cell.lane, bit)), "{width}x{len} at {index}");
                }
                assert!((cell.lane as usize) < packer.lanes());
            }
            assert_eq!(row.cell(u64::from(len)), None);
        }
    }

    #[test]
    fn put_replaces_only_its_bits() {
        let cell = Cell {
            lane: 0,
            shift: 60,
            width: 4,
        };
        assert_eq!(cell.put(u64::MAX, 0), u64::MAX >> 4);
        let all = Cell {
            lane: 0,
            shift: 0,
            width: 64,
        };
        assert_eq!(all.put(5, u64::MAX), u64::MAX);
    }
}

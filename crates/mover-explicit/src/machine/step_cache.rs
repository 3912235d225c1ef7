//! Which edges of a thread are enabled, remembered.
//!
//! Without a reduction every thread of every state is asked which steps it can take, and its guards are
//! evaluated although most neighbouring states do not differ in what the guards read. So each location has the lanes
//! that its guards and channel operations may read, found from their code. A small private table, indexed by a hash of
//! the thread, its location and the values of these lanes, has the edges that were enabled when they were asked for
//! last. This is the transition cache of LTSmin (Blom, van de Pol and Weber 2010), at the grain of one thread and for
//! guards only.
//!
//! The values are compared, so a hit is never wrong. A location whose guards read other threads, dynamic objects or a
//! rendezvous, or more than a few lanes, has no entry; nor has one whose guards are cheaper than the look-up.

use super::{Choices, CompiledEdge, Machine, Moves, Operation, Step};
use crate::code::{Area, Code, CodeArg, Compiler};
use crate::guards::Decision;
use crate::layout::Row;

/// At most so many lanes are compared.
const MOST_LANES: usize = 5;

/// At most so many enabled edges are remembered.
const MOST_EDGES: usize = 4;

/// Guards with fewer nodes are evaluated.
const LEAST_NODES: usize = 7;

const ENTRIES_LOG2: u32 = 11;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The lanes that decide which edges of a location are enabled: global ones, and of the thread's own slot.
#[derive(Default, Debug)]
pub struct Reads {
    global: Vec<u32>,
    own: Vec<u32>,
}

/// Gathers what code reads.
struct Reader<'a> {
    compiler: &'a Compiler<'a>,
    reads: Reads,
    nodes: usize,
}

/// The code reads what is not in a known lane.
struct Elsewhere;

impl Reads {
    /// Of a location; none if its edges are not to be remembered.
    pub fn of(
        compiler: &Compiler,
        decisions: &[Vec<Decision>],
        edges: &[CompiledEdge],
    ) -> Option<Reads> {
        let mut reader = Reader {
            compiler,
            reads: Reads::default(),
            nodes: 0,
        };
        for decision in decisions.iter().flatten() {
            reader.decision(decision).ok()?;
        }
        for edge in edges {
            if edge.spawns || !matches!(edge.choices, Choices::None) {
                return None;
            }
            reader.operation(&edge.operation).ok()?;
        }
        let Reader {
            mut reads, nodes, ..
        } = reader;
        for lanes in [&mut reads.global, &mut reads.own] {
            lanes.sort_unstable();
            lanes.dedup();
        }
        let count = reads.global.len() + reads.own.len();
        (count <= MOST_LANES && nodes >= LEAST_NODES).then_some(reads)
    }
}

impl Reader<'_> {
    fn decision(&mut self, decision: &Decision) -> Result<(), Elsewhere> {
        match decision {
            Decision::Take(_) => Ok(()),
            Decision::Test {
                condition,
                then,
                otherwise,
            } => {
                self.code(condition)?;
                let mut branches = then.iter().chain(otherwise);
                branches.try_for_each(|branch| self.decision(branch))
            }
        }
    }

    fn operation(&mut self, operation: &Operation) -> Result<(), Elsewhere> {
        match operation {
            Operation::Plain => Ok(()),
            // The message itself does not matter.
            Operation::Send { channel, .. } => self.channel(channel, false),
            Operation::Receive { channel, args, .. } => {
                self.channel(channel, true)?;
                args.iter().try_for_each(|arg| match arg {
                    CodeArg::Match { value, .. } => self.code(value),
                    CodeArg::Store(_) | CodeArg::Ignore => Ok(()),
                })
            }
        }
    }

    /// The length of a global channel with a buffer, and its messages.
    fn channel(&mut self, channel: &Code, messages: bool) -> Result<(), Elsewhere> {
        let &Code::Const(handle) = channel else {
            return Err(Elsewhere);
        };
        let shape = self.compiler.global_channel(handle).ok_or(Elsewhere)?;
        if shape.capacity == 0 {
            return Err(Elsewhere);
        }
        self.nodes += 1;
        self.reads.global.push(shape.len.lane);
        if messages {
            self.nodes += shape.rows.len();
            shape
                .rows
                .iter()
                .for_each(|row| self.row(Area::Global, row));
        }
        Ok(())
    }

    fn row(&mut self, area: Area, row: &Row) {
        match area {
            Area::Global => self.reads.global.extend(row.lanes()),
            Area::Own => self.reads.own.extend(row.lanes()),
        }
    }

    fn code(&mut self, code: &Code) -> Result<(), Elsewhere> {
        self.nodes += 1;
        match code {
            // The thread is a part of the key.
            Code::Const(_) | Code::ThreadId => Ok(()),
            Code::Cell(area, cell) | Code::CellEq(area, cell, _) | Code::CellNe(area, cell, _) => {
                match area {
                    Area::Global => self.reads.global.push(cell.lane),
                    Area::Own => self.reads.own.push(cell.lane),
                }
                Ok(())
            }
            Code::Element(area, row, index) => {
                self.row(*area, row);
                self.code(index)
            }
            Code::All(parts) | Code::Any(parts) => {
                parts.iter().try_for_each(|part| self.code(part))
            }
            Code::If(parts) => parts.iter().try_for_each(|part| self.code(part)),
            Code::LogicalNot(arg)
            | Code::Unary(_, _, arg)
            | Code::SignExtend { arg, .. }
            | Code::Truncate(arg, _) => self.code(arg),
            Code::Eq(lhs, rhs)
            | Code::Ne(lhs, rhs)
            | Code::Less(lhs, rhs)
            | Code::LessEq(lhs, rhs)
            | Code::Add(lhs, rhs, _)
            | Code::Sub(lhs, rhs, _)
            | Code::Binary(_, _, lhs, rhs) => {
                self.code(lhs)?;
                self.code(rhs)
            }
            Code::ThreadCount
            | Code::ThreadAt { .. }
            | Code::RemoteRead { .. }
            | Code::ThreadPriority(_)
            | Code::OwnChannel(_)
            | Code::ChannelExists(_)
            | Code::ChannelLen(_)
            | Code::ChannelCapacity(_)
            | Code::CanReceive { .. }
            | Code::Timeout
            | Code::Load(..)
            | Code::ObjectSize(_)
            | Code::ObjectSite(..) => Err(Elsewhere),
        }
    }
}

/// One cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Entry {
    lanes: [u64; MOST_LANES],
    /// Program counter and thread; 0 if there is nothing yet, since no location has counter 0.
    whose: u64,
    edges: [u16; MOST_EDGES],
    count: u8,
}

impl Entry {
    const NOTHING: Entry = Entry {
        lanes: [0; MOST_LANES],
        whose: 0,
        edges: [0; MOST_EDGES],
        count: 0,
    };
}

/// What one search remembers.
pub struct StepCache {
    entries: Box<[Entry]>,
}

impl Default for StepCache {
    fn default() -> Self {
        StepCache {
            entries: vec![Entry::NOTHING; 1 << ENTRIES_LOG2].into(),
        }
    }
}

impl Machine {
    /// Appends the steps that a thread can start, as [`Machine::thread_steps`] without `timeout` does.
    #[inline]
    pub fn remembered_steps(
        &self,
        lanes: &[u64],
        thread: usize,
        cache: &mut StepCache,
        steps: &mut Vec<Step>,
    ) {
        let slot = self.layout.slot(thread);
        let pc = self.layout.pc.get(lanes, slot);
        let location = &self.locations[pc as usize];
        let Some(reads) = &location.reads else {
            self.thread_steps(lanes, thread, false, steps);
            return;
        };
        let whose = pc << 16 | thread as u64;
        let mut key = [0; MOST_LANES];
        let mut hash = whose.wrapping_mul(GOLDEN);
        let global = reads.global.iter().map(|&lane| lane as usize);
        let own = reads.own.iter().map(|&lane| slot + lane as usize);
        for (part, lane) in key.iter_mut().zip(global.chain(own)) {
            *part = lanes[lane];
            hash = (hash.rotate_left(25) ^ *part).wrapping_mul(GOLDEN);
        }
        let entry = &mut cache.entries[(hash >> (64 - ENTRIES_LOG2)) as usize];
        let step = |edge: u16, moves: Moves| Step {
            thread: thread as u16,
            edge,
            partner: None,
            choice: 0,
            moves,
        };
        if entry.whose == whose && entry.lanes == key {
            for &edge in &entry.edges[..entry.count.into()] {
                steps.push(step(edge, location.edges[edge as usize].moves));
            }
            return;
        }
        let before = steps.len();
        self.thread_steps(lanes, thread, false, steps);
        let found = &steps[before..];
        if found.len() <= MOST_EDGES {
            entry.whose = whose;
            entry.lanes = key;
            entry.count = found.len() as u8;
            for (edge, step) in entry.edges.iter_mut().zip(found) {
                *edge = step.edge;
            }
        }
    }
}

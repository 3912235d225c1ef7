//! Expressions compiled for packed states.
//!
//! The IR's expressions name variables; [`Code`] names lanes and bits. Everything known at
//! compile time is resolved: conversions that do nothing disappear, variables that no edge
//! writes become constants, and the most common guards (a cell compared with a constant) are
//! one node each. Evaluation is a match over a small tree; `&&` and `||` stop early, which is
//! not observable because expressions are total.

use mover_ir::eval::{Domain, eval};
use mover_ir::expr::{
    BinaryOp, ChannelRef, Expr, Place, ReceiveArg, UnaryOp, VariableRef, mask, resize, sign_extend,
};
use mover_ir::program::{Effect, Init, Program};
use mover_ir::semantics::ChannelHome;

use crate::layout::{Cell, ChannelShape, Layout, Row};
use crate::memory::{Home, Memory, part};

/// Where a variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Area {
    Global,
    /// In the slot of the executing thread.
    Own,
}

/// What a field of a received message is compared with or stored to.
#[derive(Debug)]
pub enum CodeArg {
    Match { value: Code, width: u8 },
    Store(Target),
    Ignore,
}

/// A cell to be written.
#[derive(Debug)]
pub struct Target {
    pub area: Area,
    pub cell: TargetCell,
    pub width: u8,
}

#[derive(Debug)]
pub enum TargetCell {
    Known(Cell),
    Computed(Row, Code),
}

#[derive(Debug)]
pub enum Code {
    Const(u64),
    Cell(Area, Cell),
    Element(Area, Row, Box<Code>),
    CellEq(Area, Cell, u64),
    CellNe(Area, Cell, u64),
    /// Logical operators at width 1.
    All(Vec<Code>),
    Any(Vec<Code>),
    LogicalNot(Box<Code>),
    Eq(Box<Code>, Box<Code>),
    Ne(Box<Code>, Box<Code>),
    /// Unsigned; signed comparisons of numbers that are never negative become this.
    Less(Box<Code>, Box<Code>),
    LessEq(Box<Code>, Box<Code>),
    /// Modulo a power of two, given by its mask.
    Add(Box<Code>, Box<Code>, u64),
    Sub(Box<Code>, Box<Code>, u64),
    Unary(UnaryOp, u8, Box<Code>),
    Binary(BinaryOp, u8, Box<Code>, Box<Code>),
    If(Box<[Code; 3]>),
    SignExtend {
        arg: Box<Code>,
        from: u8,
        to: u8,
    },
    Truncate(Box<Code>, u8),
    ThreadId,
    ThreadCount,
    ThreadAt {
        thread: Box<Code>,
        pcs: Vec<u64>,
    },
    RemoteRead {
        thread: Box<Code>,
        pcs: std::ops::Range<u64>,
        row: Row,
        index: Box<Code>,
    },
    ThreadPriority(Box<Code>),
    OwnChannel(u32),
    ChannelExists(Box<Code>),
    ChannelLen(Box<Code>),
    ChannelCapacity(Box<Code>),
    CanReceive {
        channel: Box<Code>,
        args: Vec<CodeArg>,
        random: bool,
    },
    Timeout,
    /// So many bytes at an address.
    Load(Box<Code>, u8),
    ObjectSize(Box<Code>),
    ObjectSite(Box<Code>, Vec<u32>),
}

/// What compiling an expression needs to know.
pub struct Compiler<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    memory: &'a Memory,
    /// Initial values of the global variables that nothing writes.
    constants: Vec<Option<Vec<u64>>>,
    /// The template whose expressions are compiled.
    pub template: usize,
    /// No thread has this number or a higher one.
    thread_bound: u64,
}

impl<'a> Compiler<'a> {
    pub fn new(program: &'a Program, layout: &'a Layout, memory: &'a Memory) -> Self {
        let stores = |effect| matches!(effect, &Effect::Store { .. });
        let has_stores = program.effects().any(stores);
        let globals = program.globals.iter();
        let mut written: Vec<bool> = globals
            .map(|variable| variable.addressable && has_stores)
            .collect();
        let mut write = |place: &Place| {
            if let VariableRef::Global(id) = place.variable {
                written[id.index()] = true;
            }
        };
        let mut spawns = false;
        for effect in program.effects() {
            spawns |= matches!(effect, Effect::Spawn { .. });
            effect.written_places().into_iter().for_each(&mut write);
        }
        let constants = program
            .globals
            .iter()
            .zip(written)
            .map(|(variable, written)| {
                let len = variable.len as usize;
                (!written).then(|| match &variable.init {
                    Init::All(value) => vec![*value; len],
                    Init::Cells(values) => values.clone(),
                    Init::Channels(channels) => channels
                        .iter()
                        .map(|&channel| program.channel_handle(channel, 0))
                        .collect(),
                })
            })
            .collect();
        Compiler {
            program,
            layout,
            memory,
            constants,
            template: 0,
            thread_bound: if spawns {
                program.max_threads.into()
            } else {
                program.initial.len() as u64
            },
        }
    }

    fn row(&self, variable: VariableRef) -> (Area, Row) {
        match variable {
            VariableRef::Global(id) => (Area::Global, self.layout.globals[id.index()]),
            VariableRef::Local(id) => (
                Area::Own,
                self.layout.templates[self.template].locals[id.index()],
            ),
        }
    }

    pub fn target(&self, place: &Place) -> Target {
        let (area, row) = self.row(place.variable);
        let index = self.expr(&place.index);
        let known = match index {
            Code::Const(index) => row.cell(index),
            _ => None,
        };
        Target {
            area,
            cell: match known {
                Some(cell) => TargetCell::Known(cell),
                None => TargetCell::Computed(row, index),
            },
            width: place.ty.width,
        }
    }

    pub fn args(&self, args: &[ReceiveArg]) -> Vec<CodeArg> {
        args.iter()
            .map(|arg| match arg {
                ReceiveArg::Match(value) => CodeArg::Match {
                    value: self.expr(value),
                    width: value.width(),
                },
                ReceiveArg::Store(place) => CodeArg::Store(self.target(place)),
                ReceiveArg::Ignore => CodeArg::Ignore,
            })
            .collect()
    }

    fn boxed(&self, expr: &Expr) -> Box<Code> {
        Box::new(self.expr(expr))
    }

    pub fn expr(&self, expr: &Expr) -> Code {
        eval(&mut { self }, expr, &mut |_, expr| self.state_read(expr))
    }

    /// The code of an expression that reads the state.
    fn state_read(&self, expr: &Expr) -> Code {
        match expr {
            Expr::Read(place) => self.read(place),
            Expr::ThreadId => Code::ThreadId,
            Expr::ThreadCount => Code::ThreadCount,
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => Code::ThreadAt {
                thread: self.boxed(thread),
                pcs: locations
                    .iter()
                    .map(|&location| self.layout.pc_of(*template, location).into())
                    .collect(),
            },
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => {
                let first = u64::from(
                    self.layout
                        .pc_of(*template, mover_ir::program::LocationId(0)),
                );
                let count = self.program.template(*template).locations.len() as u64;
                Code::RemoteRead {
                    thread: self.boxed(thread),
                    pcs: first..first + count,
                    row: self.layout.templates[template.index()].locals[variable.index()],
                    index: self.boxed(index),
                }
            }
            Expr::ThreadPriority(thread) => Code::ThreadPriority(self.boxed(thread)),
            Expr::Channel(channel @ ChannelRef::Global(_)) => {
                Code::Const(self.program.channel_handle(*channel, 0))
            }
            Expr::Channel(ChannelRef::Local(index)) => Code::OwnChannel(*index),
            Expr::ChannelExists(channel) => match self.expr(channel) {
                Code::Const(handle) if self.global_channel(handle).is_some() => Code::Const(1),
                channel => Code::ChannelExists(Box::new(channel)),
            },
            Expr::ChannelLen(channel) => match self.expr(channel) {
                Code::Const(handle) => match self.global_channel(handle) {
                    Some(shape) => Code::Cell(Area::Global, shape.len),
                    None => Code::ChannelLen(Box::new(Code::Const(handle))),
                },
                channel => Code::ChannelLen(Box::new(channel)),
            },
            Expr::ChannelCapacity(channel) => match self.expr(channel) {
                Code::Const(handle) => match self.global_channel(handle) {
                    Some(shape) => Code::Const(shape.capacity.into()),
                    None => Code::ChannelCapacity(Box::new(Code::Const(handle))),
                },
                channel => Code::ChannelCapacity(Box::new(channel)),
            },
            Expr::CanReceive {
                channel,
                args,
                random,
            } => Code::CanReceive {
                channel: self.boxed(channel),
                args: self.args(args),
                random: *random,
            },
            Expr::Timeout => Code::Timeout,
            Expr::Address { variable, .. } => {
                let number = self.program.object_of(*variable);
                Code::Const(self.program.pointers.address(number))
            }
            Expr::Load { address, ty } => self.load(self.expr(address), ty.width / 8),
            Expr::ObjectSize(address) => match self.expr(address) {
                Code::Const(address) if self.global_object(address).is_some() => {
                    let home = self.global_object(address).map(|row| Home::Global(*row));
                    Code::Const(home.map_or(0, |home| home.size()))
                }
                address => Code::ObjectSize(Box::new(address)),
            },
            Expr::ObjectSite { address, sites } => match self.expr(address) {
                Code::Const(address) if self.global_object(address).is_some() => Code::Const(0),
                address => {
                    let sites = sites.iter().map(|site| site.0).collect();
                    Code::ObjectSite(Box::new(address), sites)
                }
            },
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => self.expr(expr),
        }
    }

    fn global_object(&self, address: u64) -> Option<&Row> {
        self.memory.global(self.memory.pointers.object(address))
    }

    /// A load; one from a known place of a global is a cell.
    fn load(&self, address: Code, bytes: u8) -> Code {
        if let Code::Const(address) = address
            && let Some(row) = self.global_object(address)
            && let Some(cell) = part(row, self.memory.pointers.offset(address), bytes.into())
        {
            return Code::Cell(Area::Global, cell);
        }
        Code::Load(Box::new(address), bytes)
    }

    /// Where a store to a known place of a global goes.
    pub fn known_target(&self, address: &Code, bytes: u8) -> Option<Target> {
        let &Code::Const(address) = address else {
            return None;
        };
        let row = self.global_object(address)?;
        let cell = part(row, self.memory.pointers.offset(address), bytes.into())?;
        Some(Target {
            area: Area::Global,
            cell: TargetCell::Known(cell),
            width: 8 * bytes,
        })
    }

    pub fn global_channel(&self, handle: u64) -> Option<&ChannelShape> {
        match self.program.resolve_channel(handle)? {
            ChannelHome::Global(index) => self.layout.channels.get(index),
            ChannelHome::Thread { .. } => None,
        }
    }

    /// No value of the code, which has this width, is larger.
    fn largest(&self, code: &Code, width: u8) -> u64 {
        let largest = match code {
            Code::Const(value) => *value,
            Code::Cell(_, cell) => mask(cell.width),
            Code::Element(_, row, _) | Code::RemoteRead { row, .. } => mask(row.width()),
            Code::CellEq(..)
            | Code::CellNe(..)
            | Code::All(_)
            | Code::Any(_)
            | Code::LogicalNot(_)
            | Code::Eq(..)
            | Code::Ne(..)
            | Code::Less(..)
            | Code::LessEq(..)
            | Code::ThreadAt { .. }
            | Code::ChannelExists(_)
            | Code::CanReceive { .. }
            | Code::Timeout => 1,
            Code::Add(lhs, rhs, _) => self
                .largest(lhs, width)
                .saturating_add(self.largest(rhs, width)),
            Code::Binary(BinaryOp::And, _, lhs, rhs) => {
                self.largest(lhs, width).min(self.largest(rhs, width))
            }
            Code::Binary(BinaryOp::URem, _, _, rhs) => match **rhs {
                Code::Const(divisor) if divisor > 0 => divisor - 1,
                _ => u64::MAX,
            },
            Code::Binary(BinaryOp::UDiv, _, lhs, rhs) => match **rhs {
                Code::Const(divisor) if divisor > 0 => self.largest(lhs, width) / divisor,
                _ => u64::MAX,
            },
            Code::If(parts) => self
                .largest(&parts[1], width)
                .max(self.largest(&parts[2], width)),
            Code::Truncate(_, width) => mask(*width),
            Code::Load(_, bytes) => mask(8 * bytes),
            Code::ObjectSite(..) => 1,
            Code::ObjectSize(_) => self.memory.pointers.max_object_size(),
            Code::ThreadId => self.thread_bound.saturating_sub(1),
            Code::ThreadCount => self.thread_bound,
            _ => u64::MAX,
        };
        largest.min(mask(width))
    }

    fn read(&self, place: &Place) -> Code {
        let (area, row) = self.row(place.variable);
        match self.expr(&place.index) {
            Code::Const(index) => {
                if let VariableRef::Global(id) = place.variable
                    && let Some(values) = &self.constants[id.index()]
                {
                    return Code::Const(values.get(index as usize).copied().unwrap_or(0));
                }
                match row.cell(index) {
                    Some(cell) => Code::Cell(area, cell),
                    None => Code::Const(0),
                }
            }
            index => Code::Element(area, row, Box::new(index)),
        }
    }
}

/// The domain of code: operators build the code that applies them, with what is known computed.
impl Domain for &Compiler<'_> {
    type Value = Code;

    fn constant(&mut self, value: u64, _: u8) -> Code {
        Code::Const(value)
    }

    fn unary(&mut self, op: UnaryOp, arg: Code, width: u8) -> Code {
        match (op, arg) {
            (_, Code::Const(value)) => Code::Const(op.apply(value, width)),
            (UnaryOp::Not, arg) if width == 1 => Code::LogicalNot(Box::new(arg)),
            (_, arg) => Code::Unary(op, width, Box::new(arg)),
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: Code, rhs: Code, width: u8) -> Code {
        use BinaryOp::*;
        let (most_left, most_right) = (self.largest(&lhs, width), self.largest(&rhs, width));
        // Numbers that are never negative need no signed operator.
        let never_negative = most_left.max(most_right) <= mask(width) / 2;
        let op = match op {
            SLt if never_negative => ULt,
            SLe if never_negative => ULe,
            SDiv if never_negative => UDiv,
            SRem if never_negative => URem,
            op => op,
        };
        match (op, lhs, rhs) {
            (_, Code::Const(a), Code::Const(b)) => Code::Const(op.apply(a, b, width)),
            (Eq, Code::Cell(area, cell), Code::Const(value))
            | (Eq, Code::Const(value), Code::Cell(area, cell)) => Code::CellEq(area, cell, value),
            (Ne, Code::Cell(area, cell), Code::Const(value))
            | (Ne, Code::Const(value), Code::Cell(area, cell)) => Code::CellNe(area, cell, value),
            (ULt, _, Code::Const(bound)) if most_left < bound => Code::Const(1),
            (ULe, _, Code::Const(bound)) if most_left <= bound => Code::Const(1),
            (And, Code::All(mut all), rhs) if width == 1 => {
                all.push(rhs);
                Code::All(all)
            }
            (And, lhs, rhs) if width == 1 => Code::All(vec![lhs, rhs]),
            (Or, Code::Any(mut any), rhs) if width == 1 => {
                any.push(rhs);
                Code::Any(any)
            }
            (Or, lhs, rhs) if width == 1 => Code::Any(vec![lhs, rhs]),
            (op, lhs, rhs) => {
                let (lhs, rhs) = (Box::new(lhs), Box::new(rhs));
                match op {
                    Eq => Code::Eq(lhs, rhs),
                    Ne => Code::Ne(lhs, rhs),
                    ULt => Code::Less(lhs, rhs),
                    ULe => Code::LessEq(lhs, rhs),
                    Add => Code::Add(lhs, rhs, mask(width)),
                    Sub => Code::Sub(lhs, rhs, mask(width)),
                    op => Code::Binary(op, width, lhs, rhs),
                }
            }
        }
    }

    fn resize(&mut self, arg: Code, from: u8, to: u8, signed: bool) -> Code {
        match arg {
            Code::Const(value) => Code::Const(resize(value, from, to, signed)),
            arg if self.largest(&arg, from) <= mask(to) && to < from => arg,
            arg if to < from => Code::Truncate(Box::new(arg), to),
            arg if !signed || self.largest(&arg, from) <= mask(from) / 2 => arg,
            arg => Code::SignExtend {
                arg: Box::new(arg),
                from,
                to,
            },
        }
    }

    fn truth(&self, condition: &Code) -> Option<bool> {
        match condition {
            Code::Const(value) => Some(*value != 0),
            _ => None,
        }
    }

    fn choose(&mut self, condition: Code, then: Code, otherwise: Code) -> Code {
        Code::If(Box::new([condition, then, otherwise]))
    }
}

/// A packed state as one thread sees it.
#[derive(Clone, Copy)]
pub struct View<'a, 'm> {
    pub layout: &'m Layout,
    pub memory: &'m Memory,
    pub channels_per_thread: usize,
    pub lanes: &'a [u64],
    pub thread: usize,
    /// First lane of the thread's slot.
    pub slot: usize,
    pub timeout: bool,
}

impl<'m> View<'_, 'm> {
    #[inline]
    fn base(&self, area: Area) -> usize {
        match area {
            Area::Global => 0,
            Area::Own => self.slot,
        }
    }

    #[inline]
    pub fn holds(&self, code: &Code) -> bool {
        self.eval(code) != 0
    }

    /// Evaluates what is most often a constant or a cell, without a call if it is.
    #[inline]
    pub fn operand(&self, code: &Code) -> u64 {
        match code {
            Code::Const(value) => *value,
            Code::Cell(Area::Own, cell) => cell.get(self.lanes, self.slot),
            Code::Cell(Area::Global, cell) => cell.get(self.lanes, 0),
            Code::ThreadId => self.thread as u64,
            _ => self.eval(code),
        }
    }

    pub fn eval(&self, code: &Code) -> u64 {
        match code {
            Code::Const(value) => *value,
            Code::Cell(area, cell) => cell.get(self.lanes, self.base(*area)),
            Code::Element(area, row, index) => match row.cell(self.operand(index)) {
                Some(cell) => cell.get(self.lanes, self.base(*area)),
                None => 0,
            },
            Code::CellEq(area, cell, value) => {
                u64::from(cell.get(self.lanes, self.base(*area)) == *value)
            }
            Code::CellNe(area, cell, value) => {
                u64::from(cell.get(self.lanes, self.base(*area)) != *value)
            }
            Code::All(all) => u64::from(all.iter().all(|code| self.holds(code))),
            Code::Any(any) => u64::from(any.iter().any(|code| self.holds(code))),
            Code::LogicalNot(arg) => 1 - self.eval(arg),
            Code::Eq(lhs, rhs) => u64::from(self.operand(lhs) == self.operand(rhs)),
            Code::Ne(lhs, rhs) => u64::from(self.operand(lhs) != self.operand(rhs)),
            Code::Less(lhs, rhs) => u64::from(self.operand(lhs) < self.operand(rhs)),
            Code::LessEq(lhs, rhs) => u64::from(self.operand(lhs) <= self.operand(rhs)),
            Code::Add(lhs, rhs, mask) => self.operand(lhs).wrapping_add(self.operand(rhs)) & mask,
            Code::Sub(lhs, rhs, mask) => self.operand(lhs).wrapping_sub(self.operand(rhs)) & mask,
            Code::Unary(op, width, arg) => op.apply(self.eval(arg), *width),
            Code::Binary(op, width, lhs, rhs) => op.apply(self.eval(lhs), self.eval(rhs), *width),
            Code::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if self.holds(condition) {
                    self.eval(then)
                } else {
                    self.eval(otherwise)
                }
            }
            Code::SignExtend { arg, from, to } => {
                sign_extend(self.eval(arg), *from) as u64 & mask(*to)
            }
            Code::Truncate(arg, width) => self.eval(arg) & mask(*width),
            Code::ThreadId => self.thread as u64,
            Code::ThreadCount => self.thread_count() as u64,
            Code::ThreadAt { thread, pcs } => match self.slot_of(thread) {
                Some(slot) => u64::from(pcs.contains(&self.layout.pc.get(self.lanes, slot))),
                None => 0,
            },
            Code::RemoteRead {
                thread,
                pcs,
                row,
                index,
            } => match (self.slot_of(thread), row.cell(self.eval(index))) {
                (Some(slot), Some(cell)) if pcs.contains(&self.layout.pc.get(self.lanes, slot)) => {
                    cell.get(self.lanes, slot)
                }
                _ => 0,
            },
            Code::ThreadPriority(thread) => match (self.slot_of(thread), self.layout.priority) {
                (Some(slot), Some(cell)) => cell.get(self.lanes, slot),
                _ => 0,
            },
            Code::OwnChannel(index) => self.own_channel(*index),
            Code::ChannelExists(channel) => u64::from(self.channel(self.eval(channel)).is_some()),
            Code::ChannelLen(channel) => match self.channel(self.eval(channel)) {
                Some((shape, base)) => shape.len.get(self.lanes, base),
                None => 0,
            },
            Code::ChannelCapacity(channel) => match self.channel(self.eval(channel)) {
                Some((shape, _)) => shape.capacity.into(),
                None => 0,
            },
            Code::CanReceive {
                channel,
                args,
                random,
            } => u64::from(
                self.find_message(self.eval(channel), args, *random)
                    .is_some(),
            ),
            Code::Timeout => u64::from(self.timeout),
            Code::Load(address, bytes) => {
                let address = self.operand(address);
                self.memory
                    .load(self.layout, self.lanes, address, u64::from(*bytes))
            }
            Code::ObjectSize(address) => self.home(address).map_or(0, |home| home.size()),
            Code::ObjectSite(address, sites) => match self.home(address) {
                Some(Home::Dynamic { object, .. }) => u64::from(sites.contains(&object.site())),
                _ => 0,
            },
        }
    }

    /// The live object that an address points into.
    pub fn home(&self, address: &Code) -> Option<Home<'m>> {
        self.memory
            .home(self.layout, self.lanes, self.operand(address))
    }

    pub fn slots(&self) -> usize {
        self.layout.slots(self.lanes.len())
    }

    pub fn thread_count(&self) -> usize {
        (0..self.slots())
            .filter(|&thread| self.layout.pc.get(self.lanes, self.layout.slot(thread)) != 0)
            .count()
    }

    /// The slot of a thread that is alive.
    fn slot_of(&self, thread: &Code) -> Option<usize> {
        let thread = self.eval(thread) as usize;
        let slot = self.layout.slot(thread);
        (thread < self.slots() && self.layout.pc.get(self.lanes, slot) != 0).then_some(slot)
    }

    fn own_channel(&self, index: u32) -> u64 {
        (1 + self.layout.channels.len() + self.thread * self.channels_per_thread) as u64
            + u64::from(index)
    }

    /// A channel that exists, with the lane its addresses are relative to.
    pub fn channel(&self, handle: u64) -> Option<(&'m ChannelShape, usize)> {
        let number = (handle as usize).checked_sub(1)?;
        let layout = self.layout;
        let Some(number) = number.checked_sub(layout.channels.len()) else {
            return Some((&layout.channels[number], 0));
        };
        let thread = number.checked_div(self.channels_per_thread)?;
        if thread >= self.slots() {
            return None;
        }
        let slot = layout.slot(thread);
        let pc = layout.pc.get(self.lanes, slot);
        let template = layout.template_of(pc)?;
        let shape = layout.templates[template]
            .channels
            .get(number % self.channels_per_thread)?;
        Some((shape, slot))
    }

    /// Whether the fields of a message, given by position, match.
    pub fn matches(&self, args: &[CodeArg], mut field: impl FnMut(usize) -> Option<i64>) -> bool {
        args.iter().enumerate().all(|(position, arg)| match arg {
            CodeArg::Match { value, width } => {
                field(position).is_none_or(|field| sign_extend(self.eval(value), *width) == field)
            }
            CodeArg::Store(_) | CodeArg::Ignore => true,
        })
    }

    /// The channel and the position of the message that a receive takes.
    pub fn find_message(
        &self,
        handle: u64,
        args: &[CodeArg],
        random: bool,
    ) -> Option<(&'m ChannelShape, usize, u64)> {
        let (shape, base) = self.channel(handle)?;
        let len = shape.len.get(self.lanes, base);
        let candidates = if random { len } else { len.min(1) };
        (0..candidates)
            .find(|&position| {
                self.matches(args, |index| {
                    let cell = shape.rows.get(index)?.cell(position)?;
                    Some(shape.types[index].number(cell.get(self.lanes, base)))
                })
            })
            .map(|position| (shape, base, position))
    }
}

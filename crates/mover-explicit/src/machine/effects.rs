//! What a step does to a state: channels, assignments, objects, threads.

use mover_ir::expr::{Ty, mask, resize};
use mover_ir::program::REUSED_NUMBERS;

use super::{Action, MAX_LANES, Machine, Operation, Step, Workspace};
use crate::code::{Area, Code, CodeArg, Target, TargetCell};
use crate::layout::{Cell, ChannelShape};
use crate::memory::{Home, part};
use crate::objects;

impl Machine {
    /// Does a step that is possible; returns the thread whose location decides
    /// who may move next.
    pub fn apply(&self, work: &mut Workspace, step: Step) -> usize {
        let thread = step.thread as usize;
        let edge = &self.location(&work.lanes, thread).edges[step.edge as usize];
        let Some((partner, partner_edge)) = step.partner else {
            self.move_to(work, thread, edge.target_pc);
            self.operate(work, thread, &edge.operation);
            self.act(work, thread, &edge.actions, step.choice);
            return thread;
        };
        let partner = partner as usize;
        let taking = &self.location(&work.lanes, partner).edges[partner_edge as usize];
        let shape = self.evaluate_message(work, thread, &edge.operation);
        self.move_to(work, thread, edge.target_pc);
        self.act(work, thread, &edge.actions, 0);
        self.move_to(work, partner, taking.target_pc);
        if let (Operation::Receive { args, .. }, Some((shape, _))) = (&taking.operation, shape) {
            for (position, (arg, ty)) in args.iter().zip(&shape.types).enumerate() {
                let value = work.message[position];
                self.receive_field(work, partner, arg, *ty, value);
            }
        }
        self.act(work, partner, &taking.actions, 0);
        partner
    }

    #[inline]
    pub(super) fn move_to(&self, work: &mut Workspace, thread: usize, pc: u64) {
        work.write(self.layout.slot(thread), self.layout.pc, pc);
    }

    /// Puts the message of a send into the workspace and gives its channel.
    fn evaluate_message<'m>(
        &'m self,
        work: &mut Workspace,
        thread: usize,
        send: &Operation,
    ) -> Option<(&'m ChannelShape, usize)> {
        let Operation::Send {
            channel, values, ..
        } = send
        else {
            return None;
        };
        let mut message = std::mem::take(&mut work.message);
        message.clear();
        let view = self.view(&work.lanes, thread, false);
        let found = view.channel(view.eval(channel));
        if let Some((shape, _)) = found {
            for (position, ty) in shape.types.iter().enumerate() {
                message.push(values.get(position).map_or(0, |(value, width)| {
                    resize(view.eval(value), *width, ty.width, true)
                }));
            }
        }
        work.message = message;
        found
    }

    fn operate(&self, work: &mut Workspace, thread: usize, operation: &Operation) {
        match operation {
            Operation::Plain => {}
            Operation::Send { sorted, .. } => {
                let Some((shape, base)) = self.evaluate_message(work, thread, operation) else {
                    return;
                };
                let len = shape.len.get(&work.lanes, base);
                let position = if *sorted {
                    (0..len)
                        .find(|&at| sorts_after(work, shape, base, at))
                        .unwrap_or(len)
                } else {
                    len
                };
                for (field, row) in shape.rows.iter().enumerate() {
                    for at in (position..len).rev() {
                        copy_cell(work, base, row.cell(at), row.cell(at + 1));
                    }
                    let value = work.message[field];
                    if let Some(cell) = row.cell(position) {
                        work.write(base, cell, value);
                    }
                }
                work.write(base, shape.len, len + 1);
            }
            Operation::Receive {
                channel,
                args,
                random,
                peek,
            } => {
                let view = self.view(&work.lanes, thread, false);
                let Some((shape, base, position)) =
                    view.find_message(view.eval(channel), args, *random)
                else {
                    return;
                };
                let len = shape.len.get(&work.lanes, base);
                let mut message = std::mem::take(&mut work.message);
                message.clear();
                for row in &shape.rows {
                    let cell = row.cell(position);
                    message.push(cell.map_or(0, |cell| cell.get(&work.lanes, base)));
                }
                if !peek {
                    for row in &shape.rows {
                        for at in position + 1..len {
                            copy_cell(work, base, row.cell(at), row.cell(at - 1));
                        }
                        if let Some(cell) = row.cell(len - 1) {
                            work.write(base, cell, 0);
                        }
                    }
                    work.write(base, shape.len, len - 1);
                }
                for ((arg, ty), &value) in args.iter().zip(&shape.types).zip(&message) {
                    self.receive_field(work, thread, arg, *ty, value);
                }
                work.message = message;
            }
        }
    }

    fn receive_field(
        &self,
        work: &mut Workspace,
        thread: usize,
        arg: &CodeArg,
        ty: Ty,
        value: u64,
    ) {
        if let CodeArg::Store(target) = arg {
            let value = resize(value, ty.width, target.width, ty.signed);
            self.store(work, thread, target, value);
        }
    }

    fn store(&self, work: &mut Workspace, thread: usize, target: &Target, value: u64) {
        let cell = match &target.cell {
            TargetCell::Known(cell) => Some(*cell),
            TargetCell::Computed(row, index) => {
                row.cell(self.view(&work.lanes, thread, false).eval(index))
            }
        };
        let base = match target.area {
            Area::Global => 0,
            Area::Own => self.layout.slot(thread),
        };
        if let Some(cell) = cell {
            work.write(base, cell, value);
        }
    }

    fn act(&self, work: &mut Workspace, thread: usize, actions: &[Action], choice: u16) {
        for action in actions {
            let view = self.view(&work.lanes, thread, false);
            match action {
                Action::Assign(target, value) => {
                    let value = view.eval(value);
                    self.store(work, thread, target, value);
                }
                Action::Spawn {
                    template,
                    args,
                    priority,
                    result,
                } => {
                    let args: Vec<u64> = args.iter().map(|arg| view.eval(arg)).collect();
                    let started = self.start(work, *template, &args, *priority);
                    if let Some(target) = result {
                        self.store(work, thread, target, started as u64 & mask(target.width));
                    }
                }
                Action::Exit => {
                    let slot = self.layout.slot(thread);
                    for lane in slot..slot + self.layout.slot_lanes {
                        work.write_lane(lane, 0);
                    }
                }
                Action::SetPriority { thread, priority } => {
                    let thread = view.eval(thread) as usize;
                    let value = view.eval(priority);
                    let alive = thread < view.slots()
                        && self.layout.pc.get(&work.lanes, self.layout.slot(thread)) != 0;
                    if let (Some(cell), true) = (self.layout.priority, alive) {
                        work.write(self.layout.slot(thread), cell, value);
                    }
                }
                Action::Store {
                    address,
                    value,
                    bytes,
                } => {
                    let (address, value) = (view.eval(address), view.eval(value));
                    self.store_bytes(work, address, u64::from(*bytes), value);
                }
                Action::Havoc(target) => self.store(work, thread, target, choice.into()),
                Action::Allocate {
                    site,
                    reuse,
                    size,
                    result,
                    whereabouts,
                } => {
                    let size = view.eval(size);
                    let address = self.allocate(work, *site, *reuse, size);
                    if address == 0 {
                        self.memory.refuse(|| {
                            format!(
                                "{whereabouts}allocates {size} bytes, and there is no room \
                                 for such an object (maximum size: {} bytes)",
                                self.memory.pointers.max_object_size()
                            )
                        });
                    }
                    self.store(work, thread, result, address);
                }
                Action::Free(address) => {
                    if let Some(Home::Dynamic { lane, .. }) = view.home(address) {
                        work.write_lane(lane, 0);
                    }
                }
            }
        }
    }

    /// Writes bytes at an address, all of them or none.
    fn store_bytes(&self, work: &mut Workspace, address: u64, count: u64, value: u64) {
        let offset = self.memory.pointers.offset(address);
        let Some(home) = self.memory.home(&self.layout, &work.lanes, address) else {
            return;
        };
        if offset + count > home.size() {
            return;
        }
        match home {
            Home::Global(row) => {
                if let Some(cell) = part(&row, offset, count) {
                    work.write(0, cell, value);
                    return;
                }
                for byte in 0..count {
                    if let Some(cell) = part(&row, offset + byte, 1) {
                        work.write(0, cell, value >> (8 * byte));
                    }
                }
            }
            Home::Dynamic { lane, object } => {
                let mut words = std::mem::take(&mut work.object);
                words.clear();
                words.extend_from_slice(object.words());
                objects::write(&mut words, offset, count, value);
                self.keep_object(work, lane, &words);
                work.object = words;
            }
        }
    }

    /// Makes the words the content of the object in a lane.
    fn keep_object(&self, work: &mut Workspace, lane: usize, words: &[u64]) {
        match self.memory.objects.intern(words) {
            Some(number) => work.write_lane(lane, number),
            None => {
                self.memory.refuse(|| {
                    "dynamic objects have more than 4 billion different contents".into()
                });
            }
        }
    }

    /// Makes a new object and gives its address, 0 if there can be none.
    fn allocate(&self, work: &mut Workspace, site: u32, reuse: u32, size: u64) -> u64 {
        let pointers = self.memory.pointers;
        let globals = self.memory.globals.len() as u64;
        let mut mentioned = std::mem::take(&mut work.object);
        mentioned.clear();
        self.mentions
            .collect(&self.memory, &self.layout, &work.lanes, &mut mentioned);
        mentioned.sort_unstable();
        let is_alive = |work: &Workspace, slot: u64| {
            let lane = self.layout.heap_lane(work.lanes.len(), slot);
            lane.is_some_and(|lane| work.lanes[lane] != 0)
        };
        let again = (reuse as usize).checked_sub(1).and_then(|nth| {
            mentioned.dedup();
            let slots = mentioned.iter().map(|number| number - globals - 1);
            let mut left = slots.filter(|&slot| slot < REUSED_NUMBERS && !is_alive(work, slot));
            left.nth(nth)
        });
        let slot = again.unwrap_or_else(|| {
            let mut slot = 0;
            while is_alive(work, slot) || mentioned.binary_search(&(globals + 1 + slot)).is_ok() {
                slot += 1;
            }
            slot
        });
        let number = globals + 1 + slot;
        let is_possible =
            size <= pointers.max_object_size() && number <= pointers.last_dynamic_object();
        while is_possible && slot >= self.layout.heap_room(work.lanes.len()) {
            let slots = self.slots(&work.lanes);
            if self.layout.lanes(slots + 1) > MAX_LANES {
                break;
            }
            work.lanes.resize(self.layout.lanes(slots + 1), 0);
        }
        let address = match self.layout.heap_lane(work.lanes.len(), slot) {
            Some(lane) if is_possible => {
                objects::fresh(site, size, &mut mentioned);
                self.keep_object(work, lane, &mentioned);
                pointers.address(number)
            }
            _ => 0,
        };
        work.object = mentioned;
        address
    }

    /// Fills the lowest free slot, adding one at the end if there is none.
    pub(super) fn start(
        &self,
        work: &mut Workspace,
        template: usize,
        args: &[u64],
        priority: u8,
    ) -> usize {
        let slots = self.slots(&work.lanes);
        let free = |&thread: &usize| self.layout.pc.get(&work.lanes, self.layout.slot(thread)) == 0;
        let thread = (0..slots).find(free).unwrap_or(slots);
        let slot = self.layout.slot(thread);
        if thread == slots {
            work.lanes.resize(self.layout.lanes(slots + 1), 0);
        }
        let image = &self.images[template];
        for (lane, &value) in image.lanes.iter().enumerate() {
            work.write_lane(slot + lane, value);
        }
        for (&cell, &arg) in image.params.iter().zip(args) {
            work.write(slot, cell, arg);
        }
        for &(cell, index) in &image.own_channels {
            let view = self.view(&work.lanes, thread, false);
            let handle = view.eval(&Code::OwnChannel(index));
            work.write(slot, cell, handle);
        }
        if let Some(cell) = self.layout.priority {
            work.write(slot, cell, priority.into());
        }
        thread
    }
}

/// Whether the message at a position of the buffer is greater than the one in the workspace.
fn sorts_after(work: &Workspace, shape: &ChannelShape, base: usize, at: u64) -> bool {
    for (field, row) in shape.rows.iter().enumerate() {
        let ty = shape.types[field];
        let there = row.cell(at).map_or(0, |cell| cell.get(&work.lanes, base));
        let (there, mine) = (ty.number(there), ty.number(work.message[field]));
        if there != mine {
            return there > mine;
        }
    }
    false
}

fn copy_cell(work: &mut Workspace, base: usize, from: Option<Cell>, to: Option<Cell>) {
    if let (Some(from), Some(to)) = (from, to) {
        let value = from.get(&work.lanes, base);
        work.write(base, to, value);
    }
}

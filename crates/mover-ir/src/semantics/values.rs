//! The value of an expression in a state, for one thread.
//!
//! Expressions are total: what is out of bounds, freed or absent reads as 0.

use super::memory::Home;
use super::{Thing, Thread, View};
use crate::eval::{Concrete, eval};
use crate::expr::{Expr, VariableRef};

impl<'a, 'p> View<'a, 'p> {
    pub(super) fn holds(&self, guard: &Expr) -> bool {
        self.eval(guard) != 0
    }

    pub(super) fn eval(&self, expr: &Expr) -> u64 {
        eval(&mut Concrete, expr, &mut |_, expr| self.read(expr))
    }

    /// The value of an expression that reads the state.
    fn read(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Read(place) => {
                let index = self.eval(&place.index);
                let value = match place.variable {
                    VariableRef::Global(id) => {
                        let len = self.machine.program.globals[id.index()].len;
                        let offset = self.machine.global_offsets[id.index()];
                        cell(&self.state.globals, offset, len, index)
                    }
                    VariableRef::Local(id) => match &self.state.threads[self.thread] {
                        Some(thread) => self.local(thread, id.index(), index),
                        None => 0,
                    },
                };
                if self.machine.record.is_some() {
                    let machine = self.machine;
                    let (thing, width) = machine.thing(place.variable, self.thread, self.state);
                    self.note_read(thing, index.saturating_mul(width), width, value);
                }
                value
            }
            Expr::ThreadId => self.thread as u64,
            Expr::ThreadCount => self.state.threads.iter().flatten().count() as u64,
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => {
                let is_there =
                    u64::from(self.thread(thread).is_some_and(|t| {
                        t.template == *template && locations.contains(&t.location)
                    }));
                if self.machine.record.is_some() {
                    let number = self.eval(thread) as usize;
                    self.note_whole(Thing::Thread(number), is_there);
                }
                is_there
            }
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => match self.thread(thread) {
                Some(alive) if alive.template == *template => {
                    let (index, variable) = (self.eval(index), variable.index());
                    let value = self.local(alive, variable, index);
                    if self.machine.record.is_some() {
                        let thread = self.eval(thread) as usize;
                        let local = &self.machine.program.template(*template).locals[variable];
                        let width = u64::from(local.ty.width);
                        let thing = Thing::Local { thread, variable };
                        self.note_read(thing, index.saturating_mul(width), width, value);
                    }
                    value
                }
                _ => 0,
            },
            Expr::ThreadPriority(thread) => self
                .thread(thread)
                .map_or(0, |thread| thread.priority.into()),
            Expr::Channel(channel) => self.machine.program.channel_handle(*channel, self.thread),
            Expr::ChannelExists(channel) => u64::from(self.channel(self.eval(channel)).is_some()),
            Expr::ChannelLen(channel) => {
                let handle = self.eval(channel);
                let length = self
                    .channel(handle)
                    .map_or(0, |(_, buffer)| buffer.len() as u64);
                self.note_whole(Thing::Channel(handle), length);
                length
            }
            Expr::ChannelCapacity(channel) => self
                .channel(self.eval(channel))
                .map_or(0, |(decl, _)| decl.capacity.into()),
            Expr::CanReceive {
                channel,
                args,
                random,
            } => u64::from(self.find_message(channel, args, *random).is_some()),
            Expr::Timeout => u64::from(self.timeout),
            Expr::Address { variable, .. } => {
                let program = self.machine.program;
                program.pointers.address(program.object_of(*variable))
            }
            Expr::Load { address, ty } => {
                let (address, bytes) = (self.eval(address), (ty.width / 8).into());
                let value = self.load(address, bytes);
                self.note_bytes(address, bytes, false, value);
                value
            }
            Expr::ObjectSize(address) => {
                let address = self.eval(address);
                let size = self.object_size(address);
                if let Some(slot) = self.machine.slot(address) {
                    self.note_whole(Thing::Life(slot), u64::from(size > 0));
                }
                size
            }
            Expr::ObjectSite { address, sites } => match self.home(self.eval(address)) {
                Some(Home::Dynamic(slot)) => {
                    let object = self.state.heap[slot].as_ref();
                    u64::from(object.is_some_and(|object| sites.contains(&object.site)))
                }
                _ => 0,
            },
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => self.eval(expr),
        }
    }

    fn thread(&self, number: &Expr) -> Option<&'a Thread> {
        let number = usize::try_from(self.eval(number)).ok()?;
        self.state.threads.get(number)?.as_ref()
    }

    fn local(&self, thread: &Thread, variable: usize, index: u64) -> u64 {
        let template = thread.template;
        let len = self.machine.program.template(template).locals[variable].len;
        let offset = self.machine.local_offsets[template.index()][variable];
        cell(&thread.locals, offset, len, index)
    }
}

fn cell(cells: &[u64], offset: usize, len: u32, index: u64) -> u64 {
    if index < u64::from(len) {
        cells[offset + index as usize]
    } else {
        0
    }
}

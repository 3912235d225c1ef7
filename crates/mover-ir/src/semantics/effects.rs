//! The effects of a step, one after the other.
//!
//! An effect sees the state after the previous effects. The two sides of a rendezvous are
//! executed in turn, sender first; the message has been assembled before.

use super::accesses::Access;
use super::channels::message_value;
use super::memory::Home;
use super::{Machine, Message, Move, State, Step, Thing, View};
use crate::expr::{Place, ReceiveArg, Ty, VariableRef, mask, resize};
use crate::print::format_output;
use crate::program::{ChannelDecl, Effect};

/// The message of a rendezvous. It is delivered even if the sender, and with
/// it the channel, is gone by then.
type Offer<'p> = (&'p ChannelDecl, Message);

/// What besides the edge decides what a step does, and where its output goes.
struct Sides<'a, 'p> {
    offered: Option<&'a Offer<'p>>,
    choice: u64,
    output: &'a mut String,
}

impl<'p> Machine<'p> {
    /// The same without who may continue alone.
    pub(super) fn perform_step(&self, state: &State, step: Step) -> (State, String) {
        let mut next = state.clone();
        next.exclusive = None;
        let mut output = String::new();
        let offered: Option<Offer<'p>> = step.with.and_then(|_| {
            let edge = self.edge(state, step.by);
            let view = View::new(self, state, step.by.thread, false);
            match edge.effects.first() {
                Some(Effect::Send {
                    channel, values, ..
                }) => {
                    let (decl, _) = view.channel(view.eval(channel))?;
                    Some((decl, view.message(decl, values)))
                }
                _ => None,
            }
        });
        let mut sides = Sides {
            offered: offered.as_ref(),
            choice: step.choice,
            output: &mut output,
        };
        self.perform(&mut next, state, step.by, &mut sides);
        if let Some(with) = step.with {
            self.perform(&mut next, state, with, &mut sides);
        }
        while matches!(next.heap.last(), Some(None)) {
            next.heap.pop();
        }
        while matches!(next.threads.last(), Some(None)) {
            next.threads.pop();
        }
        (next, output)
    }

    /// Does one side of a step: `before` tells which edge, `next` is changed.
    fn perform(&self, next: &mut State, before: &State, by: Move, sides: &mut Sides<'_, 'p>) {
        let edge = self.edge(before, by);
        if let Some(thread) = &mut next.threads[by.thread] {
            thread.location = edge.target;
        }
        for effect in &edge.effects {
            self.perform_effect(next, by.thread, effect, sides);
        }
    }

    fn perform_effect(
        &self,
        next: &mut State,
        number: usize,
        effect: &Effect,
        sides: &mut Sides<'_, 'p>,
    ) {
        let view = View::new(self, next, number, false);
        match effect {
            Effect::Assign { place, value } => {
                let value = view.eval(value);
                self.store(next, number, place, value);
            }
            Effect::Store { address, value } => {
                let (address, bytes) = (view.eval(address), value.width() / 8);
                let value = view.eval(value);
                view.note_bytes(address, bytes.into(), true, value);
                self.store_bytes(next, address, bytes.into(), value);
            }
            Effect::Havoc { place, .. } => self.store(next, number, place, sides.choice),
            Effect::Allocate {
                site,
                reuse,
                size,
                result,
            } => {
                let size = view.eval(size);
                let address = self.allocate(next, *site, *reuse, size);
                if let Some(slot) = self.slot(address) {
                    self.note_whole(number, Thing::Life(slot), true, 1);
                    self.note_whole(number, Thing::Object(slot), true, 0);
                }
                self.store(next, number, result, address);
            }
            Effect::Free { address } => {
                if let Some(Home::Dynamic(slot)) = view.home(view.eval(address)) {
                    self.note_whole(number, Thing::Life(slot), true, 0);
                    next.heap[slot] = None;
                }
            }
            Effect::Send { .. } if sides.offered.is_some() => {}
            Effect::Send {
                channel,
                values,
                sorted,
            } => {
                let handle = view.eval(channel);
                let Some((decl, buffer)) = view.channel(handle) else {
                    return;
                };
                let message = view.message(decl, values);
                self.note_whole(
                    number,
                    Thing::Channel(handle),
                    true,
                    message_value(&message),
                );
                let position = if *sorted {
                    let key = |m: &Message| -> Vec<i64> {
                        let fields = decl.fields.iter().zip(m);
                        fields.map(|(f, &v)| f.ty.number(v)).collect()
                    };
                    let mine = key(&message);
                    buffer.iter().take_while(|m| key(m) <= mine).count()
                } else {
                    buffer.len()
                };
                if let Some(buffer) = self.buffer_mut(next, handle) {
                    buffer.insert(position, message);
                }
            }
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => {
                let (decl, message) = match sides.offered {
                    Some((decl, message)) => (*decl, message.clone()),
                    None => {
                        let handle = view.eval(channel);
                        let Some((decl, _)) = view.channel(handle) else {
                            return;
                        };
                        let Some(position) = view.find_message(channel, args, *random) else {
                            return;
                        };
                        let Some(buffer) = self.buffer_mut(next, handle) else {
                            return;
                        };
                        let message = if *peek {
                            buffer[position].clone()
                        } else {
                            buffer.remove(position)
                        };
                        if !*peek {
                            let value = message_value(&message);
                            self.note_whole(number, Thing::Channel(handle), true, value);
                        }
                        (decl, message)
                    }
                };
                for ((arg, field), value) in args.iter().zip(&decl.fields).zip(message) {
                    if let ReceiveArg::Store(place) = arg {
                        let value = resize(value, field.ty.width, place.ty.width, field.ty.signed);
                        self.store(next, number, place, value);
                    }
                }
            }
            Effect::Spawn {
                template,
                args,
                priority,
                result,
            } => {
                let args: Vec<u64> = args.iter().map(|arg| view.eval(arg)).collect();
                let started = self.start(next, *template, &args, *priority);
                self.note_whole(number, Thing::Thread(started), true, 1);
                if let Some(place) = result {
                    let value = started as u64 & mask(place.ty.width);
                    self.store(next, number, place, value);
                }
            }
            Effect::Exit => {
                self.note_whole(number, Thing::Thread(number), true, 0);
                next.threads[number] = None;
            }
            Effect::SetPriority { thread, priority } => {
                let thread = view.eval(thread) as usize;
                let priority = view.eval(priority) as u8;
                if let Some(Some(thread)) = next.threads.get_mut(thread) {
                    thread.priority = priority;
                }
            }
            Effect::Print { format, args } => {
                let values: Vec<(u64, Ty, _)> = args
                    .iter()
                    .map(|arg| {
                        let ty = Ty::signed(arg.value.width());
                        (view.eval(&arg.value), ty, arg.symbols)
                    })
                    .collect();
                let text = format_output(self.program, format, &values);
                sides.output.push_str(&text);
            }
        }
    }

    fn store(&self, state: &mut State, number: usize, place: &Place, value: u64) {
        let index = View::new(self, state, number, false).eval(&place.index);
        let cell = match place.variable {
            VariableRef::Global(id) => {
                let len = u64::from(self.program.globals[id.index()].len);
                let offset = self.global_offsets[id.index()];
                (index < len).then(|| &mut state.globals[offset + index as usize])
            }
            VariableRef::Local(id) => state.threads[number].as_mut().and_then(|thread| {
                let template = thread.template;
                let len = u64::from(self.program.template(template).locals[id.index()].len);
                let offset = self.local_offsets[template.index()][id.index()];
                (index < len).then(|| &mut thread.locals[offset + index as usize])
            }),
        };
        if let Some(cell) = cell {
            *cell = value;
            let (thing, width) = self.thing(place.variable, number, state);
            self.note(Access {
                by: number,
                thing,
                first_bit: index * width,
                bits: width,
                is_write: true,
                value,
            });
        }
    }
}

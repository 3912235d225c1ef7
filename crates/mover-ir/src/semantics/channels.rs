//! Channels: the channel that a value refers to, and the messages in it.
//!
//! Channels are values that programs copy and send; a thread's own channels disappear when it
//! exits. So a reference is a number, and it is resolved at each use.

use super::{Machine, Message, Move, State, Step, Thing, View};
use crate::expr::{ChannelRef, Expr, ReceiveArg, Ty, resize};
use crate::program::{ChannelDecl, Effect, Program};

/// Whose channel a reference refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelHome {
    Global(usize),
    Thread { thread: usize, index: usize },
}

impl Program {
    /// The value that refers to a channel: 0 is none, then come the global
    /// ones, then those of each thread number in turn.
    pub fn channel_handle(&self, channel: ChannelRef, thread: usize) -> u64 {
        match channel {
            ChannelRef::Global(index) => 1 + u64::from(index),
            ChannelRef::Local(index) => {
                let before = thread as u64 * u64::from(self.channels_per_thread());
                1 + self.channels.len() as u64 + before + u64::from(index)
            }
        }
    }

    pub fn resolve_channel(&self, handle: u64) -> Option<ChannelHome> {
        let number = handle.checked_sub(1)? as usize;
        let Some(local) = number.checked_sub(self.channels.len()) else {
            return Some(ChannelHome::Global(number));
        };
        let each = self.channels_per_thread() as usize;
        Some(ChannelHome::Thread {
            thread: local.checked_div(each)?,
            index: local % each,
        })
    }
}

/// A message on its way through a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageEvent<'p> {
    pub channel: &'p ChannelDecl,
    pub message: Message,
    /// The threads that send and receive it in this step; both in a rendezvous.
    pub sender: Option<usize>,
    pub receiver: Option<usize>,
}

impl<'p> Machine<'p> {
    /// The message that a possible step sends or receives, if it does.
    pub fn message_of(&self, state: &State, step: Step) -> Option<MessageEvent<'p>> {
        let moves = [Some(step.by), step.with].into_iter().flatten();
        let events = moves.filter_map(|by| self.message_by(state, by));
        // In a rendezvous the sender knows the message.
        let mut event = events.max_by_key(|event| event.sender.is_some())?;
        if step.with.is_some() {
            let threads = [Some(step.by), step.with].into_iter().flatten();
            let mut others = threads.map(|by| by.thread);
            event.receiver = others.find(|&thread| Some(thread) != event.sender);
        }
        Some(event)
    }

    fn message_by(&self, state: &State, by: Move) -> Option<MessageEvent<'p>> {
        let view = View::new(self, state, by.thread, false);
        let event = |channel, message, sends: bool| MessageEvent {
            channel,
            message,
            sender: sends.then_some(by.thread),
            receiver: (!sends).then_some(by.thread),
        };
        self.edge(state, by)
            .effects
            .iter()
            .find_map(|effect| match effect {
                Effect::Send {
                    channel, values, ..
                } => {
                    let (declared, _) = view.channel(view.eval(channel))?;
                    Some(event(declared, view.message(declared, values), true))
                }
                Effect::Receive {
                    channel,
                    args,
                    random,
                    ..
                } => {
                    let (declared, buffer) = view.channel(view.eval(channel))?;
                    let found = view.find_message(channel, args, *random);
                    // In a rendezvous there is nothing in the channel.
                    let message = found.map_or(Message::default(), |at| buffer[at].clone());
                    Some(event(declared, message, false))
                }
                _ => None,
            })
    }

    pub(super) fn buffer_mut<'s>(
        &self,
        state: &'s mut State,
        handle: u64,
    ) -> Option<&'s mut Vec<Message>> {
        match self.program.resolve_channel(handle)? {
            ChannelHome::Global(index) => state.channels.get_mut(index),
            ChannelHome::Thread { thread, index } => state
                .threads
                .get_mut(thread)?
                .as_mut()?
                .channels
                .get_mut(index),
        }
    }
}

impl<'a, 'p> View<'a, 'p> {
    pub(super) fn channel(&self, handle: u64) -> Option<(&'p ChannelDecl, &'a Vec<Message>)> {
        let program = self.machine.program;
        match program.resolve_channel(handle)? {
            ChannelHome::Global(index) => Some((
                program.channels.get(index)?,
                self.state.channels.get(index)?,
            )),
            ChannelHome::Thread { thread, index } => {
                let thread = self.state.threads.get(thread)?.as_ref()?;
                let decl = program.template(thread.template).channels.get(index)?;
                Some((decl, thread.channels.get(index)?))
            }
        }
    }

    /// The message that a send of these values puts into the channel.
    pub(super) fn message(&self, decl: &ChannelDecl, values: &[Expr]) -> Message {
        let mut values = values.iter();
        decl.fields
            .iter()
            .map(|field| {
                values.next().map_or(0, |value| {
                    resize(self.eval(value), value.width(), field.ty.width, true)
                })
            })
            .collect()
    }

    pub(super) fn matches(
        &self,
        decl: &ChannelDecl,
        args: &[ReceiveArg],
        message: &Message,
    ) -> bool {
        args.iter()
            .zip(&decl.fields)
            .zip(message)
            .all(|((arg, field), &value)| match arg {
                ReceiveArg::Match(wanted) => {
                    Ty::signed(wanted.width()).number(self.eval(wanted)) == field.ty.number(value)
                }
                ReceiveArg::Store(_) | ReceiveArg::Ignore => true,
            })
    }

    /// The position of the message that a receive takes.
    pub(super) fn find_message(
        &self,
        channel: &Expr,
        args: &[ReceiveArg],
        random: bool,
    ) -> Option<usize> {
        let handle = self.eval(channel);
        self.note_whole(Thing::Channel(handle), 0);
        let (decl, buffer) = self.channel(handle)?;
        let candidates = if random { buffer.len() } else { 1 };
        buffer
            .iter()
            .take(candidates)
            .position(|message| self.matches(decl, args, message))
    }
}

/// What a message says, as far as one number can.
pub(super) fn message_value(message: &Message) -> u64 {
    message.first().copied().unwrap_or(0)
}

//! What goes from one step of a run to another: values through shared cells, locks, messages,
//! and the start of threads.

use std::collections::{BTreeSet, HashMap};

use mover_ir::program::Program;
use mover_ir::semantics::{Message, State, Thing};

use super::{Arrow, ArrowKind, Run, Teller, key};
use crate::memory::channel_name;

impl Teller<'_> {
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = BTreeSet::new();
        for (step, accesses) in self.accesses.iter().enumerate() {
            for read in accesses.iter().filter(|access| !access.is_write) {
                let Some(writer) = self.writer(step, read) else {
                    continue;
                };
                let is_other = self.run.steps[writer].step.by.thread != read.by;
                let is_value = matches!(
                    read.thing,
                    Thing::Global(_) | Thing::Object(_) | Thing::Life(_)
                );
                if !is_other || !is_value {
                    continue;
                }
                let Some((what, _)) = self.name(step, read) else {
                    continue;
                };
                let takes = self.touches.get(&key(read)).is_some_and(|touches| {
                    let unit = self.unit[step];
                    touches.iter().any(|t| t.unit == unit && t.takes)
                });
                arrows.insert(Arrow {
                    from: writer,
                    to: step,
                    kind: if takes {
                        ArrowKind::Lock
                    } else {
                        ArrowKind::Value
                    },
                    what,
                });
            }
        }
        arrows.extend(self.messages.iter().cloned());
        self.add_starts(&mut arrows);
        arrows.into_iter().collect()
    }

    /// From where a thread is started to its first step.
    fn add_starts(&self, arrows: &mut BTreeSet<Arrow>) {
        let mut started: HashMap<usize, usize> = HashMap::new();
        for (step, accesses) in self.accesses.iter().enumerate() {
            let by = self.run.steps[step].step.by.thread;
            if let Some(from) = started.remove(&by) {
                arrows.insert(Arrow {
                    from,
                    to: step,
                    kind: ArrowKind::Start,
                    what: self.thread(step).to_string(),
                });
            }
            for access in &accesses.effects {
                if let Thing::Thread(thread) = access.thing
                    && access.is_write
                    && access.value == 1
                {
                    started.insert(thread, step);
                }
            }
        }
    }
}

/// From each send to the receive that takes the message.
pub(super) fn messages(run: &Run) -> BTreeSet<Arrow> {
    let mut arrows = BTreeSet::new();
    let mut senders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (step, pair) in run.states.windows(2).enumerate() {
        let before: HashMap<u64, _> = buffers(run.program, &pair[0]).into_iter().collect();
        for (handle, new) in buffers(run.program, &pair[1]) {
            let Some(old) = before.get(&handle).filter(|old| **old != new) else {
                continue;
            };
            let queue = senders.entry(handle).or_default();
            let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            if new.len() > old.len() {
                queue.insert(same.min(queue.len()), step);
            } else if same < queue.len() {
                arrows.insert(Arrow {
                    from: queue.remove(same),
                    to: step,
                    kind: ArrowKind::Message,
                    what: channel_name(run.program, &pair[0], handle).unwrap_or_default(),
                });
            }
        }
    }
    arrows
}

/// All channels of a state with the values that refer to them.
pub(super) fn buffers<'s>(program: &Program, state: &'s State) -> Vec<(u64, &'s Vec<Message>)> {
    use mover_ir::expr::ChannelRef;
    let mut found = Vec::new();
    for (index, buffer) in state.channels.iter().enumerate() {
        let channel = ChannelRef::Global(index as u32);
        found.push((program.channel_handle(channel, 0), buffer));
    }
    for (thread, alive) in state.threads.iter().enumerate() {
        for (index, buffer) in alive
            .iter()
            .flat_map(|alive| alive.channels.iter().enumerate())
        {
            let channel = ChannelRef::Local(index as u32);
            found.push((program.channel_handle(channel, thread), buffer));
        }
    }
    found
}

//! The events of an unrolling as a system of accesses, and what is known about their order.
//!
//! Some events can only happen after others: a thread begins after it was started,
//! `pthread_join` returns after the thread has exited. Such an event is recognised by its
//! guard: it is false for every value that the cell can have had before the other thread wrote
//! it ([`ordered`]). Pairs against the order are omitted and such conflicts do not count,
//! because their order is already determined.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{Readiness, View};
use crate::term::Terms;
use crate::token::pairs::{Event, Id, System};
use crate::token::unroll::{Standing, Thread, Unrolled, Unroller, Writes};

/// An event that can happen only after one of others.
pub struct Wait {
    pub waiting: Id,
    /// Those that may write what it waits for.
    pub openers: Vec<Id>,
}

/// The events of an unrolling.
pub struct Events {
    /// What they touch and what follows what.
    pub system: System,
    /// Their nodes, by thread.
    pub nodes: Vec<Vec<usize>>,
    pub waits: Vec<Wait>,
}

/// By thread: the nodes that are events.
pub fn event_nodes(unrolled: &Unrolled) -> Vec<Vec<usize>> {
    let of_thread = |thread: &Thread| {
        let nodes = thread.nodes.iter().enumerate();
        let events = nodes.filter(|(_, node)| node.is_event);
        events.map(|(number, _)| number).collect()
    };
    unrolled.threads.iter().map(of_thread).collect()
}

/// The events of the threads.
pub fn events(unroller: &Unroller, unrolled: &Unrolled, terms: &mut Terms) -> Events {
    let events = event_nodes(unrolled);
    let threads: Vec<Vec<Event>> = unrolled
        .threads
        .iter()
        .zip(&events)
        .map(|(thread, events)| {
            let position = |node: usize| events.binary_search(&node).ok();
            let mut made: Vec<Event> = events
                .iter()
                .map(|&node| Event {
                    reads: thread.nodes[node].reads.clone(),
                    writes: thread.nodes[node].writes.keys().copied().collect(),
                    ..Event::default()
                })
                .collect();
            for (number, node) in thread.nodes.iter().enumerate() {
                let from = node.incoming.iter().map(|(_, from)| *from);
                if let Some(event) = position(number) {
                    let mut before: BTreeSet<usize> = BTreeSet::new();
                    for from in from {
                        made[event].may_begin |= thread.nodes[from].is_outside;
                        before.extend(&thread.nodes[from].sources);
                    }
                    made[event].may_begin |= node.incoming.is_empty();
                    for before in before.into_iter().filter_map(position) {
                        made[before].next.push(event);
                    }
                }
                if node.is_leaf {
                    for event in node.sources.iter().copied().filter_map(position) {
                        made[event].may_end = true;
                    }
                }
            }
            made
        })
        .collect();
    let waits = waits(unroller, unrolled, terms, &events);
    let ordered = ordered(&waits, &threads);
    Events {
        system: System::new(threads, &ordered),
        nodes: events,
        waits,
    }
}

/// The events that wait for a value that only certain events write.
pub fn waits(
    unroller: &Unroller,
    unrolled: &Unrolled,
    terms: &mut Terms,
    events: &[Vec<usize>],
) -> Vec<Wait> {
    let initial = unroller.layout.initial();
    let mut waits = Vec::new();
    for (waiter, waiting) in unrolled.threads.iter().enumerate() {
        for (event, &node) in events[waiter].iter().enumerate() {
            for position in waiting.nodes[node].reads.clone() {
                let cell = unrolled.shared[position];
                let opens = |terms: &mut Terms, value: u64| {
                    is_open(unroller, waiting, node, terms, cell, value)
                };
                let may_open = |writes: &Writes, terms: &mut Terms| match writes.get(&position) {
                    None => false,
                    Some(None) => true,
                    Some(Some(values)) => values.iter().any(|&value| opens(terms, value)),
                };
                let mut early = unrolled.threads.iter().map(|thread| &thread.early);
                if opens(terms, initial[cell]) || early.any(|early| may_open(early, terms)) {
                    continue;
                }
                // Who else may write something that lets the event happen?
                let mut openers: Vec<Id> = Vec::new();
                for (writer, thread) in unrolled.threads.iter().enumerate() {
                    for (number, &written) in events[writer].iter().enumerate() {
                        if may_open(&thread.nodes[written].writes, terms) {
                            openers.push(Id {
                                thread: writer,
                                event: number,
                            });
                        }
                    }
                }
                waits.push(Wait {
                    waiting: Id {
                        thread: waiter,
                        event,
                    },
                    openers,
                });
            }
        }
    }
    waits
}

/// Pairs of events of different threads the first of which always comes before the second.
fn ordered(waits: &[Wait], threads: &[Vec<Event>]) -> Vec<(Id, Id)> {
    let mut ordered = Vec::new();
    for Wait { waiting, openers } in waits {
        let waiter = waiting.thread;
        let Some(&Id { thread: writer, .. }) = openers.first() else {
            continue;
        };
        if writer == waiter || openers.iter().any(|id| id.thread != writer) {
            continue;
        }
        let opening: BTreeSet<usize> = openers.iter().map(|id| id.event).collect();
        let before = surely_before(&threads[writer], &opening);
        let after = surely_after(&threads[waiter], waiting.event);
        for &first in &before {
            ordered.extend(after.iter().map(|&second| {
                let first = Id {
                    thread: writer,
                    event: first,
                };
                let second = Id {
                    thread: waiter,
                    event: second,
                };
                (first, second)
            }));
        }
    }
    // Threads that wait for each other have no order that all ghosts can keep.
    if is_acyclic(threads, &ordered) {
        ordered
    } else {
        Vec::new()
    }
}

/// Whether the first step of an event may be possible when a cell has a value.
fn is_open(
    unroller: &Unroller,
    thread: &Thread,
    node: usize,
    terms: &mut Terms,
    cell: usize,
    value: u64,
) -> bool {
    let layout = unroller.layout;
    let node = &thread.nodes[node];
    let mut state = node.state.clone();
    state[cell] = terms.constant(value, layout.widths[cell]);
    match node.standing {
        Standing::Gone => false,
        Standing::Unborn => {
            let place = layout.slots[thread.slot].place;
            terms.as_const(state[place]) != Some(0)
        }
        Standing::At { template, location } => {
            let view = View {
                layout,
                state: &state,
                slot: thread.slot,
                template,
                timeout: Terms::FALSE,
            };
            let edges = &layout.program.templates[template].locations[location].edges;
            edges.iter().any(|edge| match view.readiness(terms, edge) {
                Readiness::Alone(condition) => condition != Terms::FALSE,
                Readiness::Offers { .. } => true,
            })
        }
    }
}

/// Events after which every way passes one of the openers, and before which none does.
pub fn surely_before(events: &[Event], opening: &BTreeSet<usize>) -> Vec<usize> {
    let mut leads = vec![false; events.len()];
    let mut comes_after = vec![false; events.len()];
    for event in (0..events.len()).rev() {
        let body = &events[event];
        leads[event] = opening.contains(&event)
            || !body.may_end && !body.next.is_empty() && body.next.iter().all(|&next| leads[next]);
    }
    for (event, body) in events.iter().enumerate() {
        if opening.contains(&event) || comes_after[event] {
            body.next.iter().for_each(|&next| comes_after[next] = true);
        }
    }
    (0..events.len())
        .filter(|&event| leads[event] && !comes_after[event])
        .collect()
}

/// An event and all those that come only after it.
pub fn surely_after(events: &[Event], waiting: usize) -> Vec<usize> {
    let mut reached = vec![false; events.len()];
    for (event, body) in events.iter().enumerate() {
        reached[event] |= body.may_begin;
        if event == waiting {
            reached[event] = false;
        }
        if reached[event] {
            body.next.iter().for_each(|&next| reached[next] = true);
        }
    }
    let mut after = vec![false; events.len()];
    after[waiting] = true;
    for (event, body) in events.iter().enumerate() {
        if after[event] {
            body.next.iter().for_each(|&next| after[next] = true);
        }
    }
    (0..events.len())
        .filter(|&event| after[event] && !reached[event])
        .collect()
}

/// Whether program order and the order found fit together.
pub fn is_acyclic(threads: &[Vec<Event>], ordered: &[(Id, Id)]) -> bool {
    let mut follows: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    let mut waits_for: BTreeMap<Id, usize> = BTreeMap::new();
    let mut edges: BTreeSet<(Id, Id)> = ordered.iter().copied().collect();
    for (thread, events) in threads.iter().enumerate() {
        for (event, body) in events.iter().enumerate() {
            waits_for.insert(Id { thread, event }, 0);
            for &next in &body.next {
                let next = Id {
                    thread,
                    event: next,
                };
                edges.insert((Id { thread, event }, next));
            }
        }
    }
    for &(from, to) in &edges {
        follows.entry(from).or_default().push(to);
        *waits_for.entry(to).or_insert(0) += 1;
    }
    let mut free: Vec<Id> = waits_for
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    let mut done = 0;
    while let Some(id) = free.pop() {
        done += 1;
        for next in follows.remove(&id).unwrap_or_default() {
            if let Some(count) = waits_for.get_mut(&next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    done == waits_for.len()
}

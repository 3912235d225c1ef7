//! The order of events, as literals.
//!
//! The clock of Ganai and Kundu (2009) is a counter. A solver learns little about numbers
//! before it knows them; it learns about the order of two events at once. So there is a literal
//! for each two events of different threads, and clauses that make these literals an order. A
//! counter is used only if there are too many events for that.

use std::collections::{BTreeMap, BTreeSet};

use mover_reduce::facts::access::Object;
use rustc_hash::FxHashMap;

use super::Encoding;
use crate::blast::Blaster;
use crate::sat::Lit;
use crate::term::Terms;
use crate::token::pairs::Id;

/// What keeps the token from going round in circles.
pub(super) enum Order {
    Clock,
    /// For events of different threads, the thread with the smaller number first: whether
    /// they come in this order.
    Literals(FxHashMap<(Id, Id), Lit>),
}

/// What a thread does from one event to the next.
struct Stretch {
    from: Id,
    to: Id,
    /// Whether the thread reaches the second event from the first only.
    is_only_way: bool,
}

/// Maximum number of clauses that make an order of literals.
const MOST_ORDER_CLAUSES: usize = 3_000_000;

impl Encoding<'_, '_> {
    fn ids(&self) -> Vec<Id> {
        let threads = self.system.threads.iter().enumerate();
        threads
            .flat_map(|(thread, events)| (0..events.len()).map(move |event| Id { thread, event }))
            .collect()
    }

    /// That an event comes before one of another thread.
    pub(super) fn comes_first(&self, a: Id, b: Id) -> Lit {
        let Order::Literals(literals) = &self.order else {
            unreachable!("a clock has no literals");
        };
        if a.thread < b.thread {
            literals[&(a, b)]
        } else {
            !literals[&(b, a)]
        }
    }

    /// Makes an order of all events, if that is not too much.
    pub(super) fn order(&mut self, blaster: &mut Blaster) {
        let counts: Vec<usize> = self.system.threads.iter().map(Vec::len).collect();
        let mut clauses = 0;
        for (i, &one) in counts.iter().enumerate() {
            for (j, &two) in counts.iter().enumerate().skip(i + 1) {
                let rest: usize = counts[j + 1..].iter().sum();
                clauses += one * two * (2 + 2 * rest);
            }
        }
        if clauses > MOST_ORDER_CLAUSES {
            return;
        }
        let ids = self.ids();
        let mut literals = FxHashMap::default();
        for &a in &ids {
            for &b in ids.iter().filter(|b| b.thread > a.thread) {
                literals.insert((a, b), blaster.solver.new_lit());
            }
        }
        self.order = Order::Literals(literals);
        for &a in &ids {
            for &b in ids.iter().filter(|b| b.thread > a.thread) {
                let first = self.comes_first(a, b);
                // Each thread in its own order.
                if let Some(event) = a.event.checked_sub(1) {
                    let before = self.comes_first(Id { event, ..a }, b);
                    blaster.solver.add(&[!first, before]);
                }
                if b.event + 1 < counts[b.thread] {
                    let event = b.event + 1;
                    let after = self.comes_first(a, Id { event, ..b });
                    blaster.solver.add(&[!first, after]);
                }
                for &c in ids.iter().filter(|c| c.thread > b.thread) {
                    let (b_c, a_c) = (self.comes_first(b, c), self.comes_first(a, c));
                    blaster.solver.add(&[!first, !b_c, a_c]);
                    blaster.solver.add(&[first, b_c, !a_c]);
                }
            }
        }
    }

    /// Who has a lock keeps others from having it: of two stretches between neighbouring events
    /// with the same lock in hand, one ends before the other begins. That follows from the
    /// values of the lock, but only once they are known; said of the order it is known at once.
    pub(super) fn locks_exclude(&self, terms: &mut Terms, blaster: &mut Blaster) {
        let Order::Literals(_) = &self.order else {
            return;
        };
        let stretches = self.locked_stretches();
        let clauses: usize = stretches.values().map(|of_lock| of_lock.len().pow(2)).sum();
        if clauses > MOST_ORDER_CLAUSES {
            return;
        }
        for of_lock in stretches.values() {
            for (number, one) in of_lock.iter().enumerate() {
                for other in of_lock[number + 1..].iter() {
                    if one.from.thread == other.from.thread {
                        continue;
                    }
                    let mut clause = vec![
                        self.comes_first(one.to, other.from),
                        self.comes_first(other.to, one.from),
                    ];
                    for stretch in [one, other] {
                        clause.push(!blaster.lit(terms, self.node_of(stretch.to).live));
                        if !stretch.is_only_way {
                            clause.push(!blaster.lit(terms, self.node_of(stretch.from).reach));
                        }
                    }
                    blaster.solver.add(&clause);
                }
            }
        }
    }

    /// By lock, the stretches between neighbouring events all along which a thread has it.
    fn locked_stretches(&self) -> BTreeMap<Object, Vec<Stretch>> {
        let mut stretches: BTreeMap<Object, Vec<Stretch>> = BTreeMap::new();
        for to in self.ids() {
            let locks = self.unroller.locks_at(self.node_of(to).standing);
            if locks.is_empty() {
                continue;
            }
            let previous: Vec<Id> = self.system.previous(to).collect();
            for &from in &previous {
                // If there are other ways from there, who was at both need not be a neighbour.
                let mut others = previous.iter().filter(|&&other| other != from);
                if others.any(|&other| self.system.reaches(from, other)) {
                    continue;
                }
                for &lock in &locks {
                    stretches.entry(lock).or_default().push(Stretch {
                        from,
                        to,
                        is_only_way: previous.len() == 1 && !self.system.event(to).may_begin,
                    });
                }
            }
        }
        stretches
    }

    /// The events that can come between two others.
    ///
    /// Of the thread that gives the token away those after it, of the one that gets it those
    /// before it; what a thread passes in any case makes clear where all beyond it are.
    fn possibly_between(&self, from: Id, to: Id) -> Vec<Id> {
        let mut between = Vec::new();
        let is_sure = |id: Id| self.node_of(id).reach == Terms::TRUE;
        let id = |thread: usize, event: usize| Id { thread, event };
        for (thread, events) in self.passings.iter().enumerate() {
            if thread == from.thread {
                for event in from.event + 1..events.len() {
                    between.push(id(thread, event));
                    if is_sure(id(thread, event)) {
                        break;
                    }
                }
            } else if thread == to.thread {
                for event in (0..to.event).rev() {
                    between.push(id(thread, event));
                    if is_sure(id(thread, event)) {
                        break;
                    }
                }
            } else {
                between.extend((0..events.len()).map(|event| id(thread, event)));
            }
        }
        between
    }

    /// Whether it is not too much to say of all pairs that nothing comes between.
    pub(super) fn can_say_what_is_between(&self, pairs: &BTreeSet<(Id, Id)>) -> bool {
        let mut clauses = 0;
        pairs.iter().all(|&(from, to)| {
            clauses += self.possibly_between(from, to).len();
            clauses <= MOST_ORDER_CLAUSES
        })
    }

    /// When the token goes from one event to another, no third one comes between them.
    pub(super) fn nothing_between(
        &self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        from: Id,
        to: Id,
        passes: Lit,
    ) {
        for id in self.possibly_between(from, to) {
            let reach = blaster.lit(terms, self.node_of(id).reach);
            let mut clause = vec![!passes, !reach];
            if id.thread != from.thread {
                clause.push(self.comes_first(id, from));
            }
            if id.thread != to.thread {
                clause.push(self.comes_first(to, id));
            }
            blaster.solver.add(&clause);
        }
    }
}

//! Between which accesses the token may be passed.
//!
//! Ganai and Kundu (2009) reduces the pairs of accesses between which control may change hands.
//! A set of pairs is *adequate* if every schedule has an equivalent one (in the sense
//! of Mazurkiewicz: swap neighbours that do not conflict) that changes hands at these
//! pairs only; it is *optimal* if there is exactly one. The sets:
//!
//! - [`Pairs::All`]: every pair, the model that the paper starts from. Adequate by
//!   definition.
//! - [`Pairs::MatPrinted`]: the ends of *mutually atomic transactions* and GenExtraTP's pairs, as
//!   the paper has them ([`mats`]). That is adequate for two threads of which none waits for the
//!   other (Theorem 3). For more it is not: Theorem 4 is false. `a: W(x)`,
//!   `b: R(x) R(x)`, `c: R(x) R(x)` loses the class of 1b 1c 1a 2b 2c whatever the priorities. So
//!   nothing is called safe on account of this set.
//! - [`Pairs::Mat`]: the same for two threads without waits, and for all other systems `lex`. To add
//!   what is missing to the printed set would be adequate as well, but worse: on three threads
//!   R(x) W(x) R(y) W(y) the printed set has 54 of 96 pairs, `lex` 66, both together 84.
//! - [`Pairs::Lex`]: what the lexicographically least schedule of a class needs.
//!
//! The order of the threads can be chosen ([`System::with_order`]): GenMAT gives priority to the
//! later of two threads, `lex` begins with the first.
//!
//! **Why `lex` is adequate.** Order the threads. The least schedule of a class takes at
//! each point the smallest thread whose next access is minimal among those that are
//! left. Let it change from access `l` to access `f` of another thread. If that thread
//! is smaller (*down*), `l` and `f` conflict, or swapping them would give a smaller
//! schedule. If it is larger (*up*), the access that follows `l` in its own thread was
//! not minimal: it conflicts with one that is still to come, of a third thread or at or
//! after `f`. And `f` was not taken earlier: it is its thread's first, or it conflicts
//! with one that came since, of a third thread or at or before `l`, or its thread had
//! been left by a change down, which is a conflict of the access before `f` with a
//! smaller thread. With branches a condition counts if it holds for one of the ways.
//! Nothing here depends on what the accesses do, so it holds for every relation of
//! conflicts, and the tests confirm it by enumerating all schedules of small systems.

mod mats;

use std::collections::BTreeSet;

pub use mats::Mat;
use mover_ir::graph::FixedBitSet;

/// Which pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    All,
    Mat,
    /// Not adequate for three and more threads.
    MatPrinted,
    Lex,
    /// No token is passed: reads take their values from writes (see `reads_from`).
    ReadsFrom,
}

impl Pairs {
    pub fn name(self) -> &'static str {
        match self {
            Pairs::All => "all",
            Pairs::Mat => "mat",
            Pairs::MatPrinted => "mat-printed",
            Pairs::Lex => "lex",
            Pairs::ReadsFrom => "reads-from",
        }
    }
}

/// An access, or a transaction that counts as one.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// Positions in the thread of the events that may follow; all are larger.
    pub next: Vec<usize>,
    /// Whether the thread may have no event after this one.
    pub may_end: bool,
    /// Whether the thread may begin with it.
    pub may_begin: bool,
    pub reads: BTreeSet<usize>,
    pub writes: BTreeSet<usize>,
}

impl Event {
    fn conflicts(&self, other: &Event) -> bool {
        !self.writes.is_disjoint(&other.writes)
            || !self.writes.is_disjoint(&other.reads)
            || !self.reads.is_disjoint(&other.writes)
    }

    /// The places on which two events conflict.
    fn contested<'e>(&'e self, other: &'e Event) -> impl Iterator<Item = usize> + 'e {
        let reads_here = self.reads.intersection(&other.writes);
        let writes_here = self
            .writes
            .iter()
            .filter(|&place| other.reads.contains(place) || other.writes.contains(place));
        reads_here.chain(writes_here).copied()
    }
}

/// An event of a system: its thread and its position there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    pub thread: usize,
    pub event: usize,
}

impl Id {
    pub const FIRST: Id = Id {
        thread: 0,
        event: 0,
    };
    pub const LAST: Id = Id {
        thread: usize::MAX,
        event: usize::MAX,
    };
}

/// Threads that do nothing but access shared places.
pub struct System {
    pub threads: Vec<Vec<Event>>,
    /// By thread: its place in the order of the threads.
    rank: Vec<usize>,
    /// The number of a thread's first event among all events.
    first: Vec<usize>,
    /// By number: the events of other threads that it conflicts with.
    touching: Vec<FixedBitSet>,
    /// The same without those whose order is clear.
    conflicts: Vec<FixedBitSet>,
    /// By number: the events of its own thread that can come after it, or it itself.
    reach: Vec<FixedBitSet>,
    /// By number: events of other threads that always come later.
    later: Vec<FixedBitSet>,
    total: usize,
}

impl System {
    /// `ordered` lists pairs of events of different threads the first of which always
    /// comes before the second; between them nothing needs to be decided.
    pub fn new(threads: Vec<Vec<Event>>, ordered: &[(Id, Id)]) -> Self {
        let mut first = Vec::new();
        let mut total = 0;
        for thread in &threads {
            first.push(total);
            total += thread.len();
        }
        let mut system = System {
            rank: (0..threads.len()).collect(),
            first,
            touching: vec![FixedBitSet::with_capacity(total); total],
            conflicts: vec![FixedBitSet::with_capacity(total); total],
            reach: vec![FixedBitSet::with_capacity(total); total],
            later: vec![FixedBitSet::with_capacity(total); total],
            total,
            threads,
        };
        for &(before, after) in ordered {
            let (before, after) = (system.number(before), system.number(after));
            system.later[before].insert(after);
        }
        for (thread, events) in system.threads.iter().enumerate() {
            let base = system.first[thread];
            for (event, body) in events.iter().enumerate().rev() {
                let mut reach = FixedBitSet::with_capacity(total);
                reach.insert(base + event);
                for &next in &body.next {
                    reach.union_with(&system.reach[base + next]);
                }
                system.reach[base + event] = reach;
                for (other, others) in system.threads.iter().enumerate() {
                    if other == thread {
                        continue;
                    }
                    for (position, theirs) in others.iter().enumerate() {
                        let number = system.first[other] + position;
                        let is_decided = system.later[base + event].contains(number)
                            || system.later[number].contains(base + event);
                        if body.conflicts(theirs) {
                            system.touching[base + event].insert(number);
                            if !is_decided {
                                system.conflicts[base + event].insert(number);
                            }
                        }
                    }
                }
            }
        }
        system
    }

    /// Orders the threads: those that are listed come first, in this order, then the others by
    /// number.
    pub fn with_order(mut self, first: &[usize]) -> Self {
        let count = self.threads.len();
        let others = (0..count).filter(|thread| !first.contains(thread));
        let listed = first.iter().copied().filter(|&thread| thread < count);
        for (rank, thread) in listed.chain(others).enumerate() {
            self.rank[thread] = rank;
        }
        self
    }

    /// All pairs of threads, the one that is first in the order first.
    fn ordered_pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let threads = || 0..self.threads.len();
        threads()
            .flat_map(move |one| threads().map(move |other| (one, other)))
            .filter(|&(one, other)| self.rank[one] < self.rank[other])
    }

    fn number(&self, id: Id) -> usize {
        self.first[id.thread] + id.event
    }

    pub fn event(&self, id: Id) -> &Event {
        &self.threads[id.thread][id.event]
    }

    fn ids(&self, thread: usize) -> impl Iterator<Item = Id> + '_ {
        (0..self.threads[thread].len()).map(move |event| Id { thread, event })
    }

    /// Whether the events conflict and either may come first.
    pub fn conflicts(&self, a: Id, b: Id) -> bool {
        self.conflicts[self.number(a)].contains(self.number(b))
    }

    /// Whether the events conflict and the first may come first.
    fn holds_up(&self, first: Id, second: Id) -> bool {
        let (first, second) = (self.number(first), self.number(second));
        self.touching[first].contains(second) && !self.later[second].contains(first)
    }

    /// Whether the first can come before the second in their thread, or is the same.
    pub fn reaches(&self, a: Id, b: Id) -> bool {
        self.reach[self.number(a)].contains(self.number(b))
    }

    pub fn previous(&self, event: Id) -> impl Iterator<Item = Id> + '_ {
        self.ids(event.thread)
            .filter(move |id| self.event(*id).next.contains(&event.event))
    }

    /// Whether the token can go from the first event to the second at all: what follows
    /// the one in its thread may come later, and what precedes the other may be over.
    fn is_possible(&self, from: Id, to: Id) -> bool {
        let comes_first = |a: Id, b: Id| self.later[self.number(a)].contains(self.number(b));
        let next = |event: usize| Id {
            thread: from.thread,
            event,
        };
        let (last, first) = (self.event(from), self.event(to));
        let can_wait = || last.next.iter().any(|&event| !comes_first(next(event), to));
        let can_be_over = || self.previous(to).any(|before| !comes_first(from, before));
        !comes_first(to, from) && (last.may_end || can_wait()) && (first.may_begin || can_be_over())
    }

    /// The pairs between which the token may be passed.
    pub fn pairs(&self, which: Pairs) -> BTreeSet<(Id, Id)> {
        match which {
            Pairs::All => self.all(),
            Pairs::Lex => self.lex(),
            Pairs::MatPrinted => self.printed(),
            Pairs::Mat if self.threads.len() > 2 || self.has_waits() => self.lex(),
            Pairs::Mat => self.printed(),
            Pairs::ReadsFrom => BTreeSet::new(),
        }
        .into_iter()
        .filter(|&(from, to)| self.is_possible(from, to))
        .collect()
    }

    /// Whether the order of some events of different threads is known.
    fn has_waits(&self) -> bool {
        self.later.iter().any(|later| !later.is_clear())
    }

    fn all(&self) -> BTreeSet<(Id, Id)> {
        let mut pairs = BTreeSet::new();
        for from in (0..self.threads.len()).flat_map(|thread| self.ids(thread)) {
            for other in (0..self.threads.len()).filter(|&other| other != from.thread) {
                pairs.extend(self.ids(other).map(|to| (from, to)));
            }
        }
        pairs
    }

    fn lex(&self) -> BTreeSet<(Id, Id)> {
        let mut pairs = BTreeSet::new();
        for (small, large) in self.ordered_pairs() {
            for low in self.ids(small) {
                for high in self.ids(large) {
                    if self.holds_up(high, low) {
                        pairs.insert((high, low));
                    }
                    if self.leaves_upwards(low, high) && self.is_put_off(low, high) {
                        pairs.insert((low, high));
                    }
                }
            }
        }
        pairs
    }

    /// Whether the access after `last` may have to wait when `first` comes next.
    fn leaves_upwards(&self, last: Id, first: Id) -> bool {
        let waits = |next: usize| {
            let next = Id {
                thread: last.thread,
                event: next,
            };
            (0..self.threads.len())
                .filter(|&other| other != last.thread)
                .flat_map(|other| self.ids(other))
                .filter(|&other| other.thread != first.thread || self.reaches(first, other))
                .any(|other| self.holds_up(other, next))
        };
        let event = self.event(last);
        event.may_end || event.next.iter().any(|&next| waits(next))
    }

    /// Whether `first` may not have been taken before `last`.
    fn is_put_off(&self, last: Id, first: Id) -> bool {
        let waited = || {
            (0..self.threads.len())
                .filter(|&other| other != first.thread)
                .flat_map(|other| self.ids(other))
                .filter(|&other| other.thread != last.thread || self.reaches(other, last))
                .any(|other| self.holds_up(other, first))
        };
        let was_left = || {
            let mut before = self.previous(first);
            before.any(|before| {
                let is_smaller = |other: &usize| self.rank[*other] < self.rank[first.thread];
                let mut smaller = (0..self.threads.len())
                    .filter(is_smaller)
                    .flat_map(|smaller| self.ids(smaller));
                smaller.any(|other| self.holds_up(before, other))
            })
        };
        self.event(first).may_begin || waited() || was_left()
    }

    pub fn events(&self) -> usize {
        self.total
    }
}

/// The system of the paper's Figure 1, with its variables x, y, z as places 0, 1, 2.
pub fn figure_1() -> System {
    const R: bool = false;
    const W: bool = true;
    let [x, y, z] = [0, 1, 2];
    let straight = |accesses: &[(bool, usize)]| {
        let last = accesses.len() - 1;
        let events = accesses.iter().enumerate();
        events
            .map(|(position, &(writes, place))| {
                let mut event = Event {
                    next: if position < last {
                        vec![position + 1]
                    } else {
                        Vec::new()
                    },
                    may_end: position == last,
                    may_begin: position == 0,
                    ..Event::default()
                };
                if writes {
                    event.writes.insert(place);
                } else {
                    event.reads.insert(place);
                }
                event
            })
            .collect()
    };
    System::new(
        vec![
            straight(&[(W, y), (R, x), (R, z), (R, y)]),
            straight(&[(R, x), (W, z), (R, x), (W, y)]),
        ],
        &[],
    )
}

#[cfg(test)]
mod tests;

//! Between which accesses the token may be passed.
//!
//! Ganai and Kundu (2009) reduces the pairs of accesses between which control may change hands.
//! A set of pairs is *adequate* if every schedule has an equivalent one (in the sense
//! of Mazurkiewicz: swap neighbours that do not conflict) that changes hands at these
//! pairs only; it is *optimal* if there is exactly one. Three sets:
//!
//! - [`Pairs::All`]: every pair, the model that the paper starts from. Adequate by
//!   definition.
//! - [`Pairs::Mat`]: the ends of *mutually atomic transactions*, by the paper's GenMAT
//!   with branches as its Section 2.2 demands, one choice for each combination of
//!   ways. The printed construction is adequate for two threads only (Theorem 4 is
//!   false: `a: W(x)`, `b: R(x) R(x)`, `c: R(x) R(x)` loses a class whatever the
//!   priorities). In the form used here two accesses count as dependent also if each
//!   of them conflicts with some third thread. As long as any order is possible no system
//!   was found for which that is inadequate, but there is no proof either; and where events
//!   wait for others, so that conflicts are left out as decided, classes are lost. So nothing
//!   is called safe on account of this set alone (see the engine).
//! - [`Pairs::Lex`]: what the lexicographically least schedule of a class needs.
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

use std::collections::{BTreeSet, HashSet};

use mover_ir::graph::FixedBitSet;

/// Which pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    All,
    Mat,
    Lex,
    /// No token is passed: reads take their values from writes (see `reads_from`).
    ReadsFrom,
}

impl Pairs {
    pub fn name(self) -> &'static str {
        match self {
            Pairs::All => "all",
            Pairs::Mat => "mat",
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

/// A mutually atomic transaction: the first and last events of its two halves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mat {
    pub from: [Id; 2],
    pub to: [Id; 2],
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

    /// Whether the event conflicts with some event of a thread.
    fn conflicts_with(&self, event: Id, thread: usize) -> bool {
        self.ids(thread).any(|other| self.conflicts(event, other))
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
            Pairs::Mat => pairs_of(&self.mats()),
            Pairs::ReadsFrom => BTreeSet::new(),
        }
        .into_iter()
        .filter(|&(from, to)| self.is_possible(from, to))
        .collect()
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
        for small in 0..self.threads.len() {
            for large in small + 1..self.threads.len() {
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
                let mut smaller = (0..first.thread).flat_map(|smaller| self.ids(smaller));
                smaller.any(|other| self.holds_up(before, other))
            })
        };
        self.event(first).may_begin || waited() || was_left()
    }

    /// The mutually atomic transactions of all pairs of threads. The thread with the
    /// larger number has priority, as in the paper's Figure 4.
    pub fn mats(&self) -> BTreeSet<Mat> {
        let mut mats = BTreeSet::new();
        for low in 0..self.threads.len() {
            for high in low + 1..self.threads.len() {
                self.mats_of(low, high, &mut mats);
            }
        }
        mats
    }

    /// Algorithm 1 (GenMAT): `high` is the thread with priority.
    fn mats_of(&self, low: usize, high: usize, mats: &mut BTreeSet<Mat>) {
        let dependent = self.dependent(low, high);
        let begins = |thread: usize| {
            let ids = self.ids(thread).filter(|&id| self.event(id).may_begin);
            ids.map(|id| id.event).collect::<Vec<_>>()
        };
        let mut work: Vec<(usize, usize)> = Vec::new();
        for from in begins(low) {
            work.extend(begins(high).into_iter().map(|other| (from, other)));
        }
        let mut seen: HashSet<(usize, usize)> = work.iter().copied().collect();
        while let Some((from, other)) = work.pop() {
            let id = |thread, event| Id { thread, event };
            for (to, other_to) in self.ends(low, high, from, other, &dependent) {
                mats.insert(Mat {
                    from: [id(low, from), id(high, other)],
                    to: [id(low, to), id(high, other_to)],
                });
                let next = &self.threads[low][to].next;
                let other_next = &self.threads[high][other_to].next;
                let mut add = |pair| {
                    if seen.insert(pair) {
                        work.push(pair);
                    }
                };
                for &next in next {
                    add((next, other));
                    other_next.iter().for_each(|&other| add((next, other)));
                }
                other_next.iter().for_each(|&other| add((from, other)));
            }
        }
    }

    /// Whether the second event waits for the first, and the token may go straight from the
    /// one to the other.
    fn hands_over(&self, first: Id, second: Id) -> bool {
        let (before, after) = (self.number(first), self.number(second));
        self.later[before].contains(after)
            && self.touching[before].contains(after)
            && self.is_possible(first, second)
    }

    /// Which events of two threads GenMAT takes for dependent: by event of the second
    /// thread those of the first. Besides conflicts whose order is open: an event and the one
    /// that waits for it, and events that each conflict with a third thread.
    fn dependent(&self, low: usize, high: usize) -> Vec<FixedBitSet> {
        let third = |event: Id| {
            (0..self.threads.len())
                .filter(|&other| other != low && other != high)
                .any(|other| self.conflicts_with(event, other))
        };
        let lows: Vec<(Id, bool)> = self.ids(low).map(|id| (id, third(id))).collect();
        self.ids(high)
            .map(|other| {
                let other_third = third(other);
                let mut bits = FixedBitSet::with_capacity(self.threads[low].len());
                for &(id, is_third) in &lows {
                    if self.conflicts(id, other)
                        || self.hands_over(id, other)
                        || self.hands_over(other, id)
                        || is_third && other_third
                    {
                        bits.insert(id.event);
                    }
                }
                bits
            })
            .collect()
    }

    /// The last events of the transactions that begin at a pair of events: for each
    /// combination of ways the pair of dependent events, all before it independent,
    /// that comes first in the thread with priority.
    fn ends(
        &self,
        low: usize,
        high: usize,
        from: usize,
        other: usize,
        dependent: &[FixedBitSet],
    ) -> BTreeSet<(usize, usize)> {
        let count = self.threads[low].len();
        let all: Vec<bool> = (0..count).map(|_| true).collect();
        let mut found = BTreeSet::new();
        let mut seen: HashSet<(usize, Vec<bool>)> = HashSet::new();
        let mut work = vec![(other, self.open(low, from, &all))];
        while let Some((event, open)) = work.pop() {
            if !seen.insert((event, open.clone())) {
                continue;
            }
            let body = &self.threads[high][event];
            // Along each open way of the lower thread, the first that depends.
            let depends = |position: usize| dependent[event].contains(position);
            let mut reached = vec![false; count];
            reached[from] = open[from];
            for position in from..count {
                if !reached[position] {
                    continue;
                }
                let last = &self.threads[low][position];
                if depends(position) || body.may_end && last.may_end {
                    found.insert((position, event));
                }
                if !depends(position) {
                    for &next in &last.next {
                        reached[next] |= open[next];
                    }
                }
            }
            // Ways of the lower thread that have nothing to do with this event.
            let rest: Vec<bool> = (0..count)
                .map(|position| open[position] && !depends(position))
                .collect();
            let rest = self.open(low, from, &rest);
            if rest[from] {
                work.extend(body.next.iter().map(|&next| (next, rest.clone())));
            }
        }
        found
    }

    /// The events that lie on ways from an event to an end through allowed events.
    fn open(&self, thread: usize, from: usize, allowed: &[bool]) -> Vec<bool> {
        let events = &self.threads[thread];
        let mut ends = vec![false; events.len()];
        for position in (0..events.len()).rev() {
            let event = &events[position];
            ends[position] =
                allowed[position] && (event.may_end || event.next.iter().any(|&next| ends[next]));
        }
        let mut open = vec![false; events.len()];
        open[from] = ends[from];
        for position in from..events.len() {
            if open[position] {
                for &next in &events[position].next {
                    open[next] |= ends[next];
                }
            }
        }
        open
    }

    pub fn events(&self) -> usize {
        self.total
    }
}

/// The pairs that a set of transactions allows.
pub fn pairs_of(mats: &BTreeSet<Mat>) -> BTreeSet<(Id, Id)> {
    mats.iter()
        .flat_map(|mat| [(mat.to[0], mat.from[1]), (mat.to[1], mat.from[0])])
        .collect()
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

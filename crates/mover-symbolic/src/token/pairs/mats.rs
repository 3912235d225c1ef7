//! Mutually atomic transactions: GenMAT and GenExtraTP of Ganai and Kundu (2009).
//!
//! A transaction of two threads consists of a piece of each, such that only the last accesses of
//! the two pieces conflict. Control need change hands at the ends of such pieces only: from the last access
//! of the one to the first of the other (Section 4). GenMAT (Algorithm 1) makes the
//! transactions of each pair of threads, with branches as the paper's Section 2.2 demands: one
//! choice for each combination of ways. GenExtraTP (Section 6.1) adds pairs where a thread may be left for a third one
//! in the middle of a transaction of two others.
//!
//! As printed, with the misprints that contradict the paper's own Figure 4 corrected: the last
//! accesses of the threads depend on each other, the queue begins with the first accesses, and the loop
//! runs while something new is in it.

use std::collections::{BTreeSet, HashSet};

use mover_ir::graph::FixedBitSet;

use super::{Id, System};

/// A mutually atomic transaction: the first and last events of its two halves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mat {
    pub from: [Id; 2],
    pub to: [Id; 2],
}

impl System {
    /// The mutually atomic transactions of all pairs of threads. Of two threads the later in the
    /// order of the threads has priority, as in the paper's Figure 4.
    pub fn mats(&self) -> BTreeSet<Mat> {
        let mut mats = BTreeSet::new();
        for (low, high) in self.ordered_pairs() {
            self.mats_of(low, high, &mut mats);
        }
        mats
    }

    /// The paper's set: the ends of the transactions, and what GenExtraTP adds.
    pub(super) fn printed(&self) -> BTreeSet<(Id, Id)> {
        let mats = self.mats();
        let mut pairs = pairs_of(&mats);
        pairs.extend(self.extra(&mats));
        pairs
    }

    /// GenExtraTP: where a thread may be left within its half of a transaction of two threads for a
    /// third one, the other of the two may pass the token to what follows. The two halves of
    /// the paper's definition are independent of each other; with branches, what follows is
    /// each of the next events.
    fn extra(&self, mats: &BTreeSet<Mat>) -> BTreeSet<(Id, Id)> {
        let ends = pairs_of(mats);
        let mut left_for: BTreeSet<(Id, usize)> = BTreeSet::new();
        for (from, to) in ends {
            left_for.insert((from, to.thread));
        }
        let mut extra = BTreeSet::new();
        for mat in mats {
            let threads = mat.from.map(|id| id.thread);
            if self.share_all(threads[0], threads[1]) {
                continue;
            }
            for (half, other) in [(0, 1), (1, 0)] {
                let (first, last) = (mat.from[half], mat.to[half]);
                let inside = self
                    .ids(threads[half])
                    .filter(|&id| id != last && self.reaches(first, id) && self.reaches(id, last));
                for middle in inside {
                    let is_left_for_third = (0..self.threads.len())
                        .filter(|third| !threads.contains(third))
                        .any(|third| left_for.contains(&(middle, third)));
                    if !is_left_for_third || left_for.contains(&(middle, threads[other])) {
                        continue;
                    }
                    for &event in &self.event(middle).next {
                        let next = Id { event, ..middle };
                        extra.insert((mat.to[other], next));
                    }
                }
            }
        }
        extra
    }

    /// Whether two threads have conflicts with each other on every place on which one of them has
    /// a conflict: GenExtraTP applies only where `Sh_ij` is smaller than `Sh_i` and `Sh_j` together.
    fn share_all(&self, one: usize, other: usize) -> bool {
        let between = |a: usize, b: usize| {
            let mut places = BTreeSet::new();
            for (mine, theirs) in self.ids(a).flat_map(|a| self.ids(b).map(move |b| (a, b))) {
                if self.conflicts(mine, theirs) {
                    places.extend(self.event(mine).contested(self.event(theirs)));
                }
            }
            places
        };
        let own = between(one, other);
        [one, other].into_iter().all(|thread| {
            let mut others = (0..self.threads.len()).filter(|&third| third != thread);
            others.all(|third| between(thread, third).is_subset(&own))
        })
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
    /// that waits for it.
    fn dependent(&self, low: usize, high: usize) -> Vec<FixedBitSet> {
        self.ids(high)
            .map(|other| {
                let mut bits = FixedBitSet::with_capacity(self.threads[low].len());
                for id in self.ids(low) {
                    if self.conflicts(id, other)
                        || self.hands_over(id, other)
                        || self.hands_over(other, id)
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
}

/// The pairs that a set of transactions allows.
pub fn pairs_of(mats: &BTreeSet<Mat>) -> BTreeSet<(Id, Id)> {
    mats.iter()
        .flat_map(|mat| [(mat.to[0], mat.from[1]), (mat.to[1], mat.from[0])])
        .collect()
}

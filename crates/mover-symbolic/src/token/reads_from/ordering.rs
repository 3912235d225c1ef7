//! The points of the order and the literals that compare them.
//!
//! Each thread has a point for what it does before its first event, then one for each event in
//! the order of the unrolling; both branches of a choice are in one row, which does no harm
//! since they exclude each other. The last point of all is the end.
//!
//! Some of the order is known: a thread that was started, or that has waited for another to end,
//! comes after what opened its way. That removes most of what could be read before a start or
//! after a join.

use mover_ir::graph::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::order::Point;
use crate::sat::{Lit, Solver};
use crate::token::events::Wait;
use crate::token::unroll::Unrolled;

pub struct Ordering {
    /// By thread: its first point.
    first: Vec<Point>,
    /// By point: its thread; the end has none.
    thread: Vec<usize>,
    end: Point,
    /// Whether all threads begin after the first point of the first.
    is_alone: bool,
    /// By point: the points of its thread that all ways there pass.
    passed: Vec<FixedBitSet>,
    /// By point: the points of its thread that some way there passes.
    possible: Vec<FixedBitSet>,
    /// By point: the points that take place before it in every run that has it.
    sure: Vec<FixedBitSet>,
    /// Those of them that their threads have passed, so that all that they do is done.
    done: Vec<FixedBitSet>,
    /// By point and thread: up to which of the thread's points all come before it that take
    /// place, in every run that has it; one more than the position.
    known: Vec<Vec<usize>>,
    /// For two points, the smaller first: that they come in this order.
    literals: FxHashMap<(Point, Point), Lit>,
}

impl Ordering {
    pub fn new(unrolled: &Unrolled, waits: &[Wait], is_alone: bool) -> Self {
        let mut ordering = Ordering {
            first: Vec::new(),
            thread: Vec::new(),
            end: 0,
            is_alone,
            passed: Vec::new(),
            possible: Vec::new(),
            sure: Vec::new(),
            done: Vec::new(),
            known: Vec::new(),
            literals: FxHashMap::default(),
        };
        for (number, thread) in unrolled.threads.iter().enumerate() {
            let first = ordering.thread.len();
            ordering.first.push(first as Point);
            ordering.thread.push(number);
            let count = 1 + thread.nodes.iter().filter(|node| node.is_event).count();
            let start = FixedBitSet::with_capacity(count);
            ordering.passed.push(start.clone());
            ordering.possible.push(start.clone());
            // By node: what is surely and possibly passed on the way there, itself excluded;
            // then itself.
            let mut passed: Vec<FixedBitSet> = Vec::new();
            let mut possible: Vec<FixedBitSet> = Vec::new();
            let mut own = 0;
            for node in &thread.nodes {
                let mut surely = start.clone();
                let mut maybe = start.clone();
                surely.insert(0);
                maybe.insert(0);
                for (position, &(_, from)) in node.incoming.iter().enumerate() {
                    match position {
                        0 => surely = passed[from].clone(),
                        _ => surely.intersect_with(&passed[from]),
                    }
                    maybe.union_with(&possible[from]);
                }
                if node.is_event {
                    own += 1;
                    ordering.thread.push(number);
                    ordering.passed.push(surely.clone());
                    ordering.possible.push(maybe.clone());
                    surely.insert(own);
                    maybe.insert(own);
                }
                passed.push(surely);
                possible.push(maybe);
            }
        }
        ordering.end = ordering.thread.len() as Point;
        ordering.follow(waits);
        ordering
    }

    /// Draws conclusions from events that wait for others.
    fn follow(&mut self, waits: &[Wait]) {
        let count = self.end as usize;
        self.known = vec![vec![0; self.first.len()]; count + 1];
        for point in 0..count {
            let first = self.first[self.thread[point]] as usize;
            let mut sure = FixedBitSet::with_capacity(count);
            sure.extend(self.passed[point].ones().map(|own| first + own));
            self.sure.push(sure);
        }
        self.sure.push(FixedBitSet::with_capacity(count));
        self.done = self.sure.clone();
        // Each wait with the thread that ends it, the first of its points that can, and the only
        // one if there is one.
        let mut opened: Vec<(usize, usize, usize, Option<usize>)> = Vec::new();
        for Wait { waiting, openers } in waits {
            let Some(first) = openers.first() else {
                continue;
            };
            if openers.iter().any(|opener| opener.thread != first.thread)
                || first.thread == waiting.thread
            {
                continue;
            }
            let least = openers.iter().map(|opener| opener.event).min();
            let only = (openers.len() == 1).then(|| self.point(first.thread, first.event));
            opened.push((
                self.point(waiting.thread, waiting.event) as usize,
                first.thread,
                1 + least.unwrap_or(0),
                only.map(|point| point as usize),
            ));
        }
        // What is known of an opener is known of all that comes after it.
        let mut changed = true;
        while changed {
            changed = false;
            for &(waiting, thread, least, only) in &opened {
                let own = waiting - self.first[self.thread[waiting]] as usize;
                for point in waiting + 1..count {
                    if self.thread[point] != self.thread[waiting]
                        || !self.passed[point].contains(own)
                    {
                        continue;
                    }
                    let mut news = self.known[point].clone();
                    let mut sure = self.sure[point].clone();
                    let mut done = self.done[point].clone();
                    news[thread] = news[thread].max(least + 1);
                    if let Some(only) = only {
                        sure.insert(only);
                        sure.union_with(&self.sure[only]);
                        done.union_with(&self.done[only]);
                        for (mine, other) in news.iter_mut().zip(&self.known[only]) {
                            *mine = (*mine).max(*other);
                        }
                    }
                    changed |= news != self.known[point] || sure != self.sure[point];
                    changed |= done != self.done[point];
                    self.known[point] = news;
                    self.sure[point] = sure;
                    self.done[point] = done;
                }
            }
        }
    }

    /// Whether the first point takes place, and before the second, in every run that has the second.
    pub fn is_sure(&self, a: Point, b: Point) -> bool {
        a != self.end && self.sure[b as usize].contains(a as usize)
    }

    /// Whether, moreover, the thread of the first has passed it.
    pub fn is_done(&self, a: Point, b: Point) -> bool {
        a != self.end && self.done[b as usize].contains(a as usize)
    }

    /// Whether a point comes before another in every run that has both.
    pub fn comes_first(&self, a: Point, b: Point) -> bool {
        if self.is_before(a, b) {
            return true;
        }
        if a == self.end {
            return false;
        }
        let thread = self.thread[a as usize];
        let position = (a - self.first[thread]) as usize;
        position < self.known[b as usize][thread]
    }

    /// Number of points that are events.
    pub fn events(&self) -> usize {
        self.thread.len() - self.first.len()
    }

    /// What a thread does before its first event.
    pub fn root(&self, thread: usize) -> Point {
        self.first[thread]
    }

    pub fn point(&self, thread: usize, event: usize) -> Point {
        self.first[thread] + 1 + event as Point
    }

    pub fn end(&self) -> Point {
        self.end
    }

    /// The position of a point in its thread, if another point is of the same thread.
    fn own(&self, a: Point, b: Point) -> Option<usize> {
        if a == self.end || b == self.end {
            return None;
        }
        let thread = self.thread[a as usize];
        let is_same = thread == self.thread[b as usize];
        is_same.then(|| (a - self.first[thread]) as usize)
    }

    /// Whether no run has both: they are on different branches of a thread.
    pub fn excludes(&self, a: Point, b: Point) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        let own = self.own(a, b);
        a != b && own.is_some_and(|own| !self.possible[b as usize].contains(own))
    }

    /// Whether a point comes before another in any case.
    pub fn is_before(&self, a: Point, b: Point) -> bool {
        if a == b || a == self.end {
            return false;
        }
        if b == self.end || self.is_alone && a == 0 {
            return true;
        }
        self.thread[a as usize] == self.thread[b as usize] && a < b
    }

    /// The literal that says that a point comes before another, if that is open.
    pub fn literal(&mut self, solver: &mut Solver, a: Point, b: Point, has_edges: bool) -> Lit {
        let (low, high) = (a.min(b), a.max(b));
        let literal = *self.literals.entry((low, high)).or_insert_with(|| {
            let literal = solver.new_lit();
            if has_edges {
                solver.edge(Some(literal), low, high);
                solver.edge(Some(!literal), high, low);
            }
            literal
        });
        if a == low { literal } else { !literal }
    }

    /// The edges that are always there.
    fn always(&self) -> Vec<(Point, Point)> {
        let mut edges = Vec::new();
        for point in 1..self.end {
            if self.thread[point as usize] == self.thread[point as usize - 1] {
                edges.push((point - 1, point));
            } else if self.is_alone {
                edges.push((0, point));
            }
        }
        edges
    }

    pub fn assert_threads(&self, solver: &mut Solver) {
        for (from, to) in self.always() {
            solver.edge(None, from, to);
        }
    }

    /// The points in an order that fits the literals of the last model.
    pub fn sorted(&self, solver: &Solver) -> Vec<Point> {
        let mut edges = self.always();
        for (&(low, high), &literal) in &self.literals {
            edges.push(match solver.value(literal) {
                true => (low, high),
                false => (high, low),
            });
        }
        let mut incoming = vec![0u32; self.end as usize];
        let mut outgoing: Vec<Vec<Point>> = vec![Vec::new(); self.end as usize];
        for (from, to) in edges {
            incoming[to as usize] += 1;
            outgoing[from as usize].push(to);
        }
        let mut free: Vec<Point> = (0..self.end)
            .rev()
            .filter(|&point| incoming[point as usize] == 0)
            .collect();
        let mut sorted = Vec::new();
        while let Some(point) = free.pop() {
            sorted.push(point);
            for &next in outgoing[point as usize].iter().rev() {
                incoming[next as usize] -= 1;
                if incoming[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        sorted
    }
}

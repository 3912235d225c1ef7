//! The points of the order and the literals that compare them.
//!
//! Each thread has a point for what it does before its first event, then one for each event in
//! the order of the unrolling; both branches of a choice are in one row, which does no harm
//! since they exclude each other. The last point of all is the end.

use mover_ir::graph::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::order::Point;
use crate::sat::{Lit, Solver};
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
    /// For two points, the smaller first: that they come in this order.
    literals: FxHashMap<(Point, Point), Lit>,
}

impl Ordering {
    pub fn new(unrolled: &Unrolled, is_alone: bool) -> Self {
        let mut ordering = Ordering {
            first: Vec::new(),
            thread: Vec::new(),
            end: 0,
            is_alone,
            passed: Vec::new(),
            possible: Vec::new(),
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
        ordering
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

    fn own(&self, a: Point, b: Point) -> Option<(usize, usize, usize)> {
        if a == self.end || b == self.end {
            return None;
        }
        let thread = self.thread[a as usize];
        let first = self.first[thread];
        let is_same = thread == self.thread[b as usize];
        is_same.then(|| (thread, (a - first) as usize, (b - first) as usize))
    }

    /// Whether a thread that reaches the second point has passed the first, both its own.
    pub fn passes(&self, a: Point, b: Point) -> bool {
        let own = self.own(a, b);
        own.is_some_and(|(_, first, _)| self.passed[b as usize].contains(first))
    }

    /// Whether no run has both: they are on different branches of a thread.
    pub fn excludes(&self, a: Point, b: Point) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        let own = self.own(a, b);
        a != b && own.is_some_and(|(_, first, _)| !self.possible[b as usize].contains(first))
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

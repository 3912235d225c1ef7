//! A theory of order inside the SAT solver: edges between points, no cycle.
//!
//! Some edges are there always, such as the order of a thread's own events; others belong to a
//! literal and are there while it is true. The theory rejects an assignment whose edges have a
//! cycle. Clauses for the same (an order literal for each two points, transitivity for each
//! three) are cubic in the number of points; the theory adds a clause only for a cycle that the
//! search came across.
//!
//! **Algorithm.** Pearce and Kelly (2006), *A Dynamic Topological Sort Algorithm for Directed
//! Acyclic Graphs*: each point has a rank that grows along all edges. An edge that fits the
//! ranks costs nothing. Otherwise the points between the two ranks that lie behind its target
//! are visited, then those that lead to its source, and the ranks of both are rearranged.
//! Removing edges leaves the ranks as they are; they stay valid.
//!
//! **Explanations.** A cycle is a conflict: not all literals of its edges are true. A literal
//! that is still open and has an edge from a point behind the target to a point before the
//! source would close a cycle, so it is false; the literals of the two paths and of the new edge
//! are the reason. Only points visited anyway are considered for that. The reason is stored when
//! the literal is propagated: a path searched later may use edges that are younger.
//!
//! Every lemma is right exactly if the edges of its negated literals and those that are there
//! always have a cycle. [`Graph`] checks that by a topological sort and shares nothing with the
//! search.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use batsat::{Lit, Theory, TheoryArg, lbool};
use rustc_hash::FxHashMap;

/// A point of the order.
pub type Point = u32;

/// Lemmas that have not been looked at by a checker.
pub type Log = Rc<RefCell<Vec<Vec<Lit>>>>;

/// Edges and the literals they belong to, to check lemmas against.
#[derive(Default)]
pub struct Graph {
    points: usize,
    always: Vec<(Point, Point)>,
    by_literal: FxHashMap<Lit, Vec<(Point, Point)>>,
}

impl Graph {
    pub fn edge(&mut self, literal: Option<Lit>, from: Point, to: Point) {
        self.points = self.points.max(from.max(to) as usize + 1);
        match literal {
            None => self.always.push((from, to)),
            Some(literal) => self.by_literal.entry(literal).or_default().push((from, to)),
        }
    }

    /// Whether a clause holds because its literals cannot all be false: their edges would have a
    /// cycle.
    pub fn is_lemma(&self, clause: &[Lit]) -> bool {
        let negated = clause.iter().filter_map(|&lit| self.by_literal.get(&!lit));
        let edges = || self.always.iter().chain(negated.clone().flatten());
        let mut incoming = vec![0u32; self.points];
        let mut outgoing: Vec<Vec<Point>> = vec![Vec::new(); self.points];
        for &(from, to) in edges() {
            incoming[to as usize] += 1;
            outgoing[from as usize].push(to);
        }
        let mut free: Vec<Point> = (0..self.points as Point)
            .filter(|&point| incoming[point as usize] == 0)
            .collect();
        let mut sorted = 0;
        while let Some(point) = free.pop() {
            sorted += 1;
            for &next in &outgoing[point as usize] {
                incoming[next as usize] -= 1;
                if incoming[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        sorted < self.points
    }
}

/// An edge that is there now; no literal if it always is.
#[derive(Clone, Copy)]
struct Link {
    to: Point,
    literal: Option<Lit>,
}

/// How a point was reached by a search, and in which search.
#[derive(Clone, Copy, Default)]
struct Visit {
    search: u32,
    from: Point,
    literal: Option<Lit>,
}

/// What the theory did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrderEffort {
    /// Literals that have edges.
    pub literals: u64,
    pub cycles: u64,
    pub propagations: u64,
}

#[derive(Default)]
pub struct Order {
    outgoing: Vec<Vec<Link>>,
    incoming: Vec<Vec<Link>>,
    /// All edges that belong to literals, by source.
    possible: Vec<Vec<(Point, Lit)>>,
    /// By number of the literal, one more than its place in `edges`; 0 if it has none.
    place: Vec<u32>,
    edges: Vec<Vec<(Point, Point)>>,
    rank: Vec<u32>,
    /// Literals of the trail that have been followed.
    followed: usize,
    /// The edges of literals that are there, in the order in which they came.
    present: Vec<(Point, Point)>,
    /// By level: what had been followed and was present when it began.
    levels: Vec<(usize, usize)>,
    reasons: FxHashMap<Lit, Vec<Lit>>,
    behind: Vec<Visit>,
    before: Vec<Visit>,
    search: u32,
    log: Option<Log>,
    /// Whether the edges that are always there have a cycle.
    is_broken: bool,
    pub effort: OrderEffort,
}

impl Order {
    /// Lemmas are logged from now on.
    pub fn log(&mut self) -> Log {
        Rc::clone(self.log.get_or_insert_with(Log::default))
    }

    fn make_room(&mut self, point: Point) {
        while self.rank.len() <= point as usize {
            self.rank.push(self.rank.len() as u32);
            self.outgoing.push(Vec::new());
            self.incoming.push(Vec::new());
            self.possible.push(Vec::new());
            self.behind.push(Visit::default());
            self.before.push(Visit::default());
        }
    }

    /// Adds an edge that is there while the literal is true, or always. Only between questions.
    pub fn edge(&mut self, literal: Option<Lit>, from: Point, to: Point) {
        debug_assert!(self.levels.is_empty());
        self.make_room(from.max(to));
        // Edges of literals come back when the next question begins.
        self.begin();
        let Some(literal) = literal else {
            if self.insert(None, from, to).is_err() {
                self.is_broken = true;
            } else {
                // It is there for good.
                self.present.pop();
            }
            return;
        };
        self.possible[from as usize].push((to, literal));
        let number = number(literal);
        if self.place.len() <= number {
            self.place.resize(number + 1, 0);
        }
        if self.place[number] == 0 {
            self.edges.push(Vec::new());
            self.place[number] = self.edges.len() as u32;
            self.effort.literals += 1;
        }
        self.edges[self.place[number] as usize - 1].push((from, to));
    }

    /// Whether the edges that are always there have a cycle. There is no lemma for that.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Forgets what it knows of the assignment, which is followed again from its beginning.
    pub fn begin(&mut self) {
        self.levels.clear();
        self.remove(0);
        self.followed = 0;
    }

    fn remove(&mut self, present: usize) {
        for (from, to) in self.present.drain(present..) {
            self.outgoing[from as usize].pop();
            self.incoming[to as usize].pop();
        }
    }

    /// Adds an edge; the literals of a path back, if there is one. If there is none, what was
    /// visited is given back.
    fn insert(
        &mut self,
        literal: Option<Lit>,
        from: Point,
        to: Point,
    ) -> Result<Option<(Vec<Point>, Vec<Point>)>, Vec<Lit>> {
        let mut visited = None;
        if from == to {
            return Err(Vec::new());
        }
        if self.rank[from as usize] > self.rank[to as usize] {
            self.search += 1;
            let behind = self.points_behind(to, from)?;
            let before = self.points_before(from, self.rank[to as usize]);
            self.rearrange(&before, &behind);
            visited = Some((before, behind));
        }
        self.outgoing[from as usize].push(Link { to, literal });
        self.incoming[to as usize].push(Link { to: from, literal });
        self.present.push((from, to));
        Ok(visited)
    }

    /// The points behind one, up to the rank of another; the path there if that is one of them.
    fn points_behind(&mut self, start: Point, end: Point) -> Result<Vec<Point>, Vec<Lit>> {
        let most = self.rank[end as usize];
        let mut found = Vec::new();
        let mut work = VecDeque::from([start]);
        self.behind[start as usize] = Visit {
            search: self.search,
            from: start,
            literal: None,
        };
        while let Some(point) = work.pop_front() {
            found.push(point);
            for at in 0..self.outgoing[point as usize].len() {
                let Link { to, literal } = self.outgoing[point as usize][at];
                let visit = &mut self.behind[to as usize];
                if self.rank[to as usize] > most || visit.search == self.search {
                    continue;
                }
                *visit = Visit {
                    search: self.search,
                    from: point,
                    literal,
                };
                if to == end {
                    let mut path = Vec::new();
                    self.path_to(end, start, &mut path);
                    return Err(path);
                }
                // Edges that are always there cost nothing, so short explanations come first.
                match literal {
                    None => work.push_front(to),
                    Some(_) => work.push_back(to),
                }
            }
        }
        Ok(found)
    }

    fn points_before(&mut self, start: Point, least: u32) -> Vec<Point> {
        let mut found = Vec::new();
        let mut work = VecDeque::from([start]);
        self.before[start as usize] = Visit {
            search: self.search,
            from: start,
            literal: None,
        };
        while let Some(point) = work.pop_front() {
            found.push(point);
            for &Link { to, literal } in &self.incoming[point as usize] {
                let visit = &mut self.before[to as usize];
                if self.rank[to as usize] < least || visit.search == self.search {
                    continue;
                }
                *visit = Visit {
                    search: self.search,
                    from: point,
                    literal,
                };
                match literal {
                    None => work.push_front(to),
                    Some(_) => work.push_back(to),
                }
            }
        }
        found
    }

    /// The literals of the path that the last search found from its start.
    fn path_to(&self, mut point: Point, start: Point, path: &mut Vec<Lit>) {
        while point != start {
            let visit = self.behind[point as usize];
            path.extend(visit.literal);
            point = visit.from;
        }
    }

    fn path_from(&self, mut point: Point, end: Point, path: &mut Vec<Lit>) {
        while point != end {
            let visit = self.before[point as usize];
            path.extend(visit.literal);
            point = visit.from;
        }
    }

    /// Gives the ranks of all these points to those before first.
    fn rearrange(&mut self, before: &[Point], behind: &[Point]) {
        let rank = |point: &Point| self.rank[*point as usize];
        let mut before = before.to_vec();
        let mut behind = behind.to_vec();
        before.sort_unstable_by_key(rank);
        behind.sort_unstable_by_key(rank);
        before.extend(behind);
        let mut ranks: Vec<u32> = before.iter().map(rank).collect();
        ranks.sort_unstable();
        for (point, rank) in before.into_iter().zip(ranks) {
            self.rank[point as usize] = rank;
        }
    }

    fn note(&self, lemma: Vec<Lit>) {
        if let Some(log) = &self.log {
            log.borrow_mut().push(lemma);
        }
    }

    /// Follows what is new on the trail.
    fn follow(&mut self, acts: &mut TheoryArg) {
        while let Some(&literal) = acts.model().get(self.followed) {
            let place = self.place.get(number(literal)).copied().unwrap_or(0);
            if place == 0 {
                self.followed += 1;
                continue;
            }
            let place = place as usize - 1;
            for at in 0..self.edges[place].len() {
                let (from, to) = self.edges[place][at];
                match self.insert(Some(literal), from, to) {
                    Ok(None) => {}
                    Ok(Some((before, behind))) => {
                        self.propagate(acts, literal, (from, to), &before, &behind);
                    }
                    Err(path) => {
                        // The literal is followed again if it stays.
                        let mut lemma: Vec<Lit> = path.into_iter().map(|lit| !lit).collect();
                        lemma.push(!literal);
                        lemma.sort_unstable();
                        lemma.dedup();
                        self.effort.cycles += 1;
                        acts.raise_conflict(&lemma, false);
                        self.note(lemma);
                        return;
                    }
                }
            }
            self.followed += 1;
        }
    }

    /// Literals that would close a cycle with a new edge are false.
    fn propagate(
        &mut self,
        acts: &mut TheoryArg,
        literal: Lit,
        (from, to): (Point, Point),
        before: &[Point],
        behind: &[Point],
    ) {
        // Searching from the smaller side is not possible: edges are known by their source.
        if before.is_empty() {
            return;
        }
        for &last in behind {
            for at in 0..self.possible[last as usize].len() {
                let (first, open) = self.possible[last as usize][at];
                let is_before = self.before[first as usize].search == self.search;
                if !is_before || acts.value(open.var()) != lbool::UNDEF {
                    continue;
                }
                let mut reason = vec![literal];
                self.path_to(last, to, &mut reason);
                self.path_from(first, from, &mut reason);
                reason.sort_unstable();
                reason.dedup();
                self.effort.propagations += 1;
                if self.log.is_some() {
                    let mut lemma: Vec<Lit> = reason.iter().map(|&lit| !lit).collect();
                    lemma.push(!open);
                    self.note(lemma);
                }
                self.reasons.insert(!open, reason);
                acts.propagate(!open);
            }
        }
    }
}

/// A number for each literal.
fn number(literal: Lit) -> usize {
    (literal.var().idx() << 1 | u32::from(!literal.sign())) as usize
}

impl Theory for Order {
    fn final_check(&mut self, acts: &mut TheoryArg) {
        self.follow(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.followed, self.present.len()));
    }

    fn pop_levels(&mut self, n: usize) {
        let left = self.levels.len().saturating_sub(n);
        if let Some(&(followed, present)) = self.levels.get(left) {
            self.levels.truncate(left);
            self.followed = followed;
            self.remove(present);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg) {
        self.follow(acts);
    }

    fn explain_propagation(&mut self, p: Lit) -> &[Lit] {
        self.reasons.get(&p).map_or(&[], Vec::as_slice)
    }
}

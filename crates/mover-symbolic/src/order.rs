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

    /// Adds an edge. If there is a path back, its literals are an error; if not, the points behind
    /// the edge are given that were visited.
    fn insert(
        &mut self,
        literal: Option<Lit>,
        from: Point,
        to: Point,
    ) -> Result<Vec<Point>, Vec<Lit>> {
        let mut visited = Vec::new();
        if from == to {
            return Err(Vec::new());
        }
        if self.rank[from as usize] > self.rank[to as usize] {
            self.search += 1;
            let behind = self.points_behind(to, from)?;
            let before = self.points_before(from, self.rank[to as usize]);
            self.rearrange(&before, &behind);
            visited = behind;
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
                    Ok(behind) => self.propagate(acts, literal, (from, to), &behind),
                    Err(path) => {
                        // The literal is followed again if it stays.
                        let mut lemma: Vec<Lit> = path.into_iter().map(|lit| !lit).collect();
                        lemma.push(!literal);
                        lemma.sort_unstable();
                        lemma.dedup();
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
        behind: &[Point],
    ) {
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

#[cfg(test)]
mod tests {
    use mover_engine::Control;

    use super::*;
    use crate::sat::{Answer, Lit as SolverLit, Solver};

    fn is_cyclic(points: usize, edges: &[(Point, Point)]) -> bool {
        let mut reaches = vec![vec![false; points]; points];
        for &(from, to) in edges {
            reaches[from as usize][to as usize] = true;
        }
        for via in 0..points {
            for from in 0..points {
                for to in 0..points {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        (0..points).any(|point| reaches[point][point])
    }

    /// Random edges, fixed and of literals of either sign, with random clauses and assumptions
    /// added between questions: each answer is that of enumeration, models have no cycle, and
    /// each lemma is one.
    #[test]
    fn answers_are_those_of_enumeration() {
        let mut random = 7u64;
        let mut below = |bound: usize| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as usize % bound
        };
        let (mut sat, mut unsat, mut lemmas) = (0, 0, 0);
        for _ in 0..400 {
            let points = 4 + below(3);
            let mut solver = Solver::checked(Control::unlimited());
            let literals: Vec<SolverLit> = (0..9).map(|_| solver.new_lit()).collect();
            let pick = |(var, sign): (usize, bool)| match sign {
                true => literals[var],
                false => !literals[var],
            };
            // Fixed edges go up, so they have no cycle.
            let mut always = Vec::new();
            for _ in 0..2 {
                let from = below(points - 1);
                let to = from + 1 + below(points - from - 1);
                always.push((from as Point, to as Point));
                solver.edge(None, from as Point, to as Point);
            }
            let mut owned: Vec<((usize, bool), (Point, Point))> = Vec::new();
            let mut formula: Vec<Vec<(usize, bool)>> = Vec::new();
            for _ in 0..4 {
                for _ in 0..4 {
                    let (from, to) = (below(points), below(points));
                    if from == to {
                        continue;
                    }
                    let literal = (below(9), below(4) > 0);
                    let edge = (from as Point, to as Point);
                    owned.push((literal, edge));
                    solver.edge(Some(pick(literal)), edge.0, edge.1);
                }
                for _ in 0..4 {
                    let clause: Vec<(usize, bool)> =
                        (0..2).map(|_| (below(9), below(4) > 0)).collect();
                    solver.add(&clause.iter().map(|&lit| pick(lit)).collect::<Vec<_>>());
                    formula.push(clause);
                }
                let assumed: Vec<(usize, bool)> =
                    (0..below(3)).map(|_| (below(9), below(2) == 0)).collect();
                let fits = |bits: u32| {
                    let is_true = |&(var, sign): &(usize, bool)| (bits >> var & 1 == 1) == sign;
                    let present = owned.iter().filter(|(literal, _)| is_true(literal));
                    let mut edges = always.clone();
                    edges.extend(present.map(|(_, edge)| *edge));
                    assumed.iter().all(is_true)
                        && formula.iter().all(|clause| clause.iter().any(is_true))
                        && !is_cyclic(points, &edges)
                };
                let expected = (0..1u32 << 9).any(fits);
                let assumptions: Vec<SolverLit> = assumed.iter().map(|&lit| pick(lit)).collect();
                let answer = solver.solve(&assumptions);
                assert_eq!(answer == Answer::Sat, expected);
                if expected {
                    sat += 1;
                    let model = literals.iter().enumerate();
                    let bits = model.fold(0, |bits, (number, &literal)| {
                        bits | u32::from(solver.value(literal)) << number
                    });
                    assert!(fits(bits));
                } else {
                    unsat += 1;
                }
            }
            let checked = solver.checks().expect("nothing is wrong");
            lemmas += checked.map_or(0, |checked| checked.cycles);
        }
        assert!(
            sat > 200 && unsat > 200 && lemmas > 500,
            "{sat} {unsat} {lemmas}"
        );
    }

    /// A lemma that is no cycle is refused.
    #[test]
    fn a_lemma_that_is_no_cycle_is_noticed() {
        let mut solver = Solver::checked(Control::unlimited());
        let [a, b, c] = std::array::from_fn(|_| solver.new_lit());
        let mut graph = Graph::default();
        for (literal, from, to) in [(a, 0, 1), (b, 1, 2), (c, 2, 0)] {
            solver.edge(Some(literal), from, to);
            graph.edge(Some(literal.inner()), from, to);
        }
        graph.edge(None, 0, 3);
        let clause = |literals: &[SolverLit]| -> Vec<Lit> {
            literals.iter().map(|&literal| (!literal).inner()).collect()
        };
        assert!(graph.is_lemma(&clause(&[a, b, c])));
        assert!(!graph.is_lemma(&clause(&[a, b])));
        assert!(!graph.is_lemma(&clause(&[a, b, !c])));
        assert_eq!(solver.solve(&[a, b, c]), Answer::Unsat);
        assert!(solver.checks().is_ok());
        solver.claim(&[!a, !b]);
        assert_eq!(solver.solve(&[a, b, c]), Answer::Unsat);
        assert!(solver.checks().is_err());
    }
}

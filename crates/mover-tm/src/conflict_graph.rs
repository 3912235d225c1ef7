//! The conflict graph of a word, with the reason for every edge.
//!
//! Section 5 recalls the classical test: a word is strictly serializable iff
//! the graph of its committing transactions has no cycle; over all its
//! transactions the same decides opacity. Here the graph is built in full,
//! every edge keeps the statements it comes from, and a shortest cycle is
//! turned into an argument: "T1 before T2, because …; T2 before T1, because …".
//! It is the third decision procedure beside the judge and the monitor, the
//! only one that explains itself.
//!
//! The print directs an edge from the later to the earlier transaction; ours
//! lead from what must come first. For snapshot isolation a transaction has
//! two nodes, its snapshot and its commit.

use std::collections::{HashSet, VecDeque};

use crate::extended::{Translation, has_extra, translate};
use crate::judge::relevant_part;
use crate::property::{Safety, Update};
use crate::word::{Action, Outcome, Statement, Transaction, Word, transactions};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    Whole,
    Snapshot,
    Commit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Index into [`ConflictGraph::transactions`].
    pub transaction: usize,
    pub point: Point,
}

/// How a statement accesses a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    CommitWrite,
    Write,
    Undo,
}

/// Why one node comes before another. Positions are those of the word asked
/// about, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    Conflict {
        variable: u8,
        earlier: (Access, usize),
        later: (Access, usize),
    },
    InTime {
        end: usize,
        begin: usize,
    },
    InThread,
    /// A snapshot is taken before its own commit.
    SnapshotFirst,
    /// Two transactions that write the same variable may not overlap.
    FirstCommitter {
        variable: u8,
        first: usize,
        second: usize,
    },
    /// A read of an old version after an own write: no serial execution has it.
    OwnWriteMissed {
        variable: u8,
        read: usize,
    },
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub reason: Reason,
}

pub struct ConflictGraph {
    pub transactions: Vec<Transaction>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

struct Builder<'a> {
    word: &'a [Statement],
    property: Safety,
    update: Update,
    graph: ConflictGraph,
    known: HashSet<(usize, usize)>,
}

impl ConflictGraph {
    /// The graph of a word, or of what it means ([`crate::extended`]).
    pub fn of(word: &[Statement], property: Safety, update: Update) -> ConflictGraph {
        if !has_extra(word) {
            return ConflictGraph::of_translated(word, &[], property, update);
        }
        let Translation {
            word: translated,
            origin,
            wrong_reads,
        } = translate(word);
        let mut graph = ConflictGraph::of_translated(&translated, &wrong_reads, property, update);
        for transaction in &mut graph.transactions {
            for at in &mut transaction.statements {
                *at = origin[*at];
            }
            transaction.statements.sort_unstable();
            transaction.statements.dedup();
        }
        for edge in &mut graph.edges {
            match &mut edge.reason {
                Reason::Conflict { earlier, later, .. } => {
                    earlier.1 = origin[earlier.1];
                    later.1 = origin[later.1];
                }
                Reason::InTime { end, begin } => {
                    *end = origin[*end];
                    *begin = origin[*begin];
                }
                Reason::FirstCommitter { first, second, .. } => {
                    *first = origin[*first];
                    *second = origin[*second];
                }
                Reason::OwnWriteMissed { read, .. } => *read = origin[*read],
                Reason::InThread | Reason::SnapshotFirst => {}
            }
        }
        graph
    }

    fn of_translated(
        word: &[Statement],
        wrong_reads: &[usize],
        property: Safety,
        update: Update,
    ) -> ConflictGraph {
        let whole_word_counts = relevant_part(word, property, update).len() == word.len();
        let counted: Vec<Transaction> = transactions(word)
            .into_iter()
            .filter(|x| whole_word_counts || x.outcome == Outcome::Committing)
            .collect();
        let points: &[Point] = match property {
            Safety::SnapshotIsolation => &[Point::Snapshot, Point::Commit],
            _ => &[Point::Whole],
        };
        let nodes = (0..counted.len())
            .flat_map(|transaction| points.iter().map(move |&point| Node { transaction, point }))
            .collect();
        let mut builder = Builder {
            word,
            property,
            update,
            graph: ConflictGraph {
                transactions: counted,
                nodes,
                edges: Vec::new(),
            },
            known: HashSet::new(),
        };
        builder.add_edges();
        for &read in wrong_reads {
            let of = |x: &Transaction| x.statements.contains(&read);
            if let (Some(x), Action::Read(variable)) = (
                builder.graph.transactions.iter().position(of),
                word[read].action,
            ) {
                let reason = Reason::OwnWriteMissed { variable, read };
                builder.add((x, points[0]), (x, points[0]), reason);
            }
        }
        builder.graph
    }

    /// A shortest cycle, as indices of edges that follow one another.
    pub fn shortest_cycle(&self) -> Option<Vec<usize>> {
        let mut outgoing = vec![Vec::new(); self.nodes.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            outgoing[edge.from].push(index);
        }
        let mut best: Option<Vec<usize>> = None;
        for start in 0..self.nodes.len() {
            let mut reached_by = vec![None; self.nodes.len()];
            let mut queue = VecDeque::from([start]);
            while let Some(node) = queue.pop_front() {
                for &index in &outgoing[node] {
                    let to = self.edges[index].to;
                    if reached_by[to].is_none() {
                        reached_by[to] = Some(index);
                        queue.push_back(to);
                    }
                }
            }
            let mut cycle = Vec::new();
            let mut at = start;
            while let Some(index) = reached_by[at] {
                cycle.push(index);
                at = self.edges[index].from;
                if at == start {
                    cycle.reverse();
                    if best.as_ref().is_none_or(|best| cycle.len() < best.len()) {
                        best = Some(cycle);
                    }
                    break;
                }
            }
        }
        best
    }

    /// The transactions in an order that respects every edge; none if there is
    /// a cycle. For snapshot isolation, the order of the commits.
    pub fn serial_order(&self) -> Option<Vec<usize>> {
        let mut missing = vec![0usize; self.nodes.len()];
        for edge in &self.edges {
            missing[edge.to] += 1;
        }
        let mut placed = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        for _ in 0..self.nodes.len() {
            let next = (0..self.nodes.len()).find(|&n| !placed[n] && missing[n] == 0)?;
            placed[next] = true;
            if self.nodes[next].point != Point::Snapshot {
                order.push(self.nodes[next].transaction);
            }
            for edge in self.edges.iter().filter(|edge| edge.from == next) {
                missing[edge.to] -= 1;
            }
        }
        Some(order)
    }
}

impl Builder<'_> {
    fn node(&self, transaction: usize, point: Point) -> usize {
        match point {
            Point::Whole => transaction,
            Point::Snapshot => 2 * transaction,
            Point::Commit => 2 * transaction + 1,
        }
    }

    fn add(&mut self, (x, from): (usize, Point), (y, to): (usize, Point), reason: Reason) {
        let (from, to) = (self.node(x, from), self.node(y, to));
        // One reason for an edge is enough.
        if self.known.insert((from, to)) {
            self.graph.edges.push(Edge { from, to, reason });
        }
    }

    fn add_edges(&mut self) {
        let snapshots = self.property == Safety::SnapshotIsolation;
        let accesses: Vec<_> = (0..self.graph.transactions.len())
            .map(|x| self.accesses(x))
            .collect();
        for x in 0..self.graph.transactions.len() {
            if snapshots {
                self.add(
                    (x, Point::Snapshot),
                    (x, Point::Commit),
                    Reason::SnapshotFirst,
                );
            }
            for y in (0..self.graph.transactions.len()).filter(|&y| y != x) {
                self.add_conflicts((x, &accesses[x]), (y, &accesses[y]));
                self.add_time(x, y);
            }
        }
    }

    /// The accesses of a transaction that can conflict, in order.
    fn accesses(&self, x: usize) -> Vec<(Access, u8, usize)> {
        let transaction = &self.graph.transactions[x];
        let reads_count =
            self.property == Safety::Opacity || transaction.outcome == Outcome::Committing;
        let mut found = Vec::new();
        let mut written = Vec::new();
        for &at in &transaction.statements {
            match self.word[at].action {
                Action::Read(v) => {
                    if reads_count && !written.contains(&v) {
                        found.push((Access::Read, v, at));
                    }
                }
                Action::Write(v) => {
                    if self.update == Update::Direct {
                        found.push((Access::Write, v, at));
                    }
                    if !written.contains(&v) {
                        written.push(v);
                    }
                }
                Action::Commit if self.update == Update::Deferred => {
                    found.extend(written.iter().map(|&v| (Access::CommitWrite, v, at)));
                }
                Action::Abort if self.update == Update::Direct => {
                    found.extend(written.iter().map(|&v| (Access::Undo, v, at)));
                }
                Action::Commit | Action::Abort | Action::Extra(_) => {}
            }
        }
        found
    }

    fn add_conflicts(
        &mut self,
        (x, by_x): (usize, &[(Access, u8, usize)]),
        (y, by_y): (usize, &[(Access, u8, usize)]),
    ) {
        for &(first, v, i) in by_x {
            for &(second, same, j) in by_y {
                if same != v || i >= j || (first == Access::Read && second == Access::Read) {
                    continue;
                }
                let reason = Reason::Conflict {
                    variable: v,
                    earlier: (first, i),
                    later: (second, j),
                };
                if self.property != Safety::SnapshotIsolation {
                    self.add((x, Point::Whole), (y, Point::Whole), reason);
                    continue;
                }
                match (first, second) {
                    (Access::Read, _) => {
                        self.add((x, Point::Snapshot), (y, Point::Commit), reason);
                    }
                    (_, Access::Read) => {
                        self.add((x, Point::Commit), (y, Point::Snapshot), reason);
                    }
                    _ => self.add(
                        (x, Point::Commit),
                        (y, Point::Snapshot),
                        Reason::FirstCommitter {
                            variable: v,
                            first: i,
                            second: j,
                        },
                    ),
                }
            }
        }
    }

    fn add_time(&mut self, x: usize, y: usize) {
        let (earlier, later) = (&self.graph.transactions[x], &self.graph.transactions[y]);
        let (end, begin) = (earlier.last(), later.first());
        if end >= begin || earlier.outcome == Outcome::Unfinished {
            return;
        }
        let reason = match self.property {
            Safety::Serializability if earlier.thread != later.thread => return,
            Safety::Serializability => Reason::InThread,
            _ => Reason::InTime { end, begin },
        };
        match self.property {
            Safety::SnapshotIsolation => {
                self.add((x, Point::Commit), (y, Point::Snapshot), reason);
            }
            _ => self.add((x, Point::Whole), (y, Point::Whole), reason),
        }
    }
}

/// Whether a word has a property, by its conflict graph.
pub fn is_acyclic(word: &[Statement], property: Safety, update: Update) -> bool {
    ConflictGraph::of(word, property, update)
        .shortest_cycle()
        .is_none()
}

/// The sequential word that puts the transactions in a given order.
pub fn laid_out(word: &[Statement], graph: &ConflictGraph, order: &[usize]) -> Word {
    order
        .iter()
        .flat_map(|&x| &graph.transactions[x].statements)
        .map(|&at| word[at])
        .collect()
}

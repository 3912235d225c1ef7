//! The dependency graph of a view, as one level sees it.
//!
//! A level holds if and only if its graph has no cycle, for some order of the chains of each key.
//! The nodes are the transactions; under snapshot isolation a transaction has two, the moment at
//! which it reads and the moment at which it commits. Then ww and wr lead from the commit
//! of the one to the start of the other and rw leads from the start of the one to the commit of the
//! other, so a cycle has no two adjacent rw (Cerone and Gotsman 2018, Theorem 4.1 in this form).
//!
//! Two relations would be quadratic as edges and are led through nodes of their own: the order in
//! time, an edge from each end to the next *moment* at which something starts; and the order between
//! the first chain of a key and all others, a *fan*.

use super::levels::Level;
use super::versions::{ExternalRead, Role, View};
use super::{Key, Model, Recorded};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    WriteWrite,
    WriteRead,
    ReadWrite,
    Process,
    Time,
    /// From the start of a transaction to its commit.
    Own,
    /// The second half of an edge that leads through a node of its own; the kind is that of the
    /// first half.
    Onwards,
    /// An order of chains that was chosen or follows; see [`super::resolve`].
    Ordered,
    OrderedRead,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub kind: Kind,
    pub key: Key,
}

/// Edges sorted by where they begin.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: usize,
    pub is_split: bool,
    transactions: usize,
    pub edges: Vec<Edge>,
    first: Vec<u32>,
}

impl Graph {
    pub fn out(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// The transaction of a node: none for the nodes of time and of fans.
    pub fn transaction(&self, node: u32) -> Option<usize> {
        let x = node as usize / if self.is_split { 2 } else { 1 };
        (x < self.transactions).then_some(x)
    }

    /// Where dependencies on a transaction's commit begin.
    pub fn commit(&self, x: u32) -> u32 {
        if self.is_split { 2 * x + 1 } else { x }
    }

    pub fn start(&self, x: u32) -> u32 {
        if self.is_split { 2 * x } else { x }
    }

    /// A graph of nodes that are no transactions.
    pub fn of_edges(nodes: usize, edges: Vec<Edge>) -> Graph {
        let mut graph = Graph {
            nodes,
            edges,
            ..Graph::default()
        };
        graph.sort();
        graph
    }

    /// The same graph with more edges.
    pub fn with(&self, more: &[Edge]) -> Graph {
        let mut edges = self.edges.clone();
        edges.extend_from_slice(more);
        let mut graph = Graph {
            nodes: self.nodes,
            is_split: self.is_split,
            transactions: self.transactions,
            edges,
            first: Vec::new(),
        };
        graph.sort();
        graph
    }

    fn sort(&mut self) {
        let mut first = vec![0u32; self.nodes + 1];
        for edge in &self.edges {
            first[edge.from as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut sorted = self.edges.clone();
        for edge in &self.edges {
            let place = &mut next[edge.from as usize];
            sorted[*place as usize] = *edge;
            *place += 1;
        }
        self.edges = sorted;
        self.first = first;
    }

    /// What a level demands of a view, without an order of the chains.
    pub fn of(recorded: &Recorded, view: &View, level: Level) -> Graph {
        let transactions = recorded.transactions.len();
        let mut graph = Graph {
            nodes: transactions * if level.is_split() { 2 } else { 1 },
            is_split: level.is_split(),
            transactions,
            ..Graph::default()
        };
        if graph.is_split {
            for x in 0..transactions as u32 {
                if view.counts(x as usize) {
                    graph.add(2 * x, 2 * x + 1, Kind::Own, 0);
                }
            }
        }
        graph.add_versions(recorded, view, level);
        if level.has_sessions() {
            graph.add_processes(recorded, view);
        }
        if level.has_time() {
            graph.add_time(recorded, view);
        }
        graph.sort();
        graph
    }

    fn add(&mut self, from: u32, to: u32, kind: Kind, key: Key) {
        self.edges.push(Edge {
            from,
            to,
            kind,
            key,
        });
    }

    fn add_node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes as u32 - 1
    }

    pub fn write_edge(&self, from: u32, to: u32, kind: Kind, key: Key) -> Edge {
        Edge {
            from: self.commit(from),
            to: self.start(to),
            kind,
            key,
        }
    }

    pub fn read_write_edge(&self, from: u32, to: u32, kind: Kind, key: Key) -> Edge {
        Edge {
            from: self.start(from),
            to: self.commit(to),
            kind,
            key,
        }
    }

    fn add_versions(&mut self, recorded: &Recorded, view: &View, level: Level) {
        // Below snapshot isolation the order of a register's versions is free: along any order
        // of the transactions that agrees with who read from whom there is no cycle.
        let ordered = recorded.model() == Model::ListAppend || level.has_anti_dependencies();
        for (key, chains) in view.chains.iter().enumerate().filter(|_| ordered) {
            for chain in chains {
                for pair in chain.windows(2) {
                    if pair[0].writer != pair[1].writer {
                        let edge = self.write_edge(
                            pair[0].writer,
                            pair[1].writer,
                            Kind::WriteWrite,
                            key as Key,
                        );
                        self.edges.push(edge);
                    }
                }
            }
            if let (Some(last), true) = (chains[0].last(), chains.len() > 1) {
                let fan = self.add_node();
                self.add(self.commit(last.writer), fan, Kind::WriteWrite, key as Key);
                for chain in &chains[1..] {
                    let head = chain[0].writer;
                    if head != last.writer {
                        self.add(fan, self.start(head), Kind::Onwards, key as Key);
                    }
                }
            }
        }
        if !level.has_reads() {
            return;
        }
        let mut fans: Vec<Option<u32>> = vec![None; view.chains.len()];
        for read in &view.reads {
            let chains = &view.chains[read.key as usize];
            let chain = &chains[read.chain as usize];
            if let Some(version) = (read.place as usize)
                .checked_sub(1)
                .and_then(|before| chain.get(before))
                && version.writer != read.transaction
            {
                let edge =
                    self.write_edge(version.writer, read.transaction, Kind::WriteRead, read.key);
                self.edges.push(edge);
            }
            if !level.has_anti_dependencies() {
                continue;
            }
            match chain.get(read.place as usize) {
                Some(next) if next.writer != read.transaction => {
                    let edge = self.read_write_edge(
                        read.transaction,
                        next.writer,
                        Kind::ReadWrite,
                        read.key,
                    );
                    self.edges.push(edge);
                }
                Some(_) => {}
                None if read.chain == 0 && chains.len() > 1 => {
                    self.read_fan(&mut fans, read, view);
                }
                None => {}
            }
        }
    }

    /// Who read the end of the first chain comes before the writers of all other chains.
    fn read_fan(&mut self, fans: &mut [Option<u32>], read: &ExternalRead, view: &View) {
        let chains = &view.chains[read.key as usize];
        if view.begins.contains(&(read.transaction, read.key)) {
            // Not through the common node: it would lead back to the reader.
            for chain in &chains[1..] {
                let head = chain[0].writer;
                if head != read.transaction {
                    let edge =
                        self.read_write_edge(read.transaction, head, Kind::ReadWrite, read.key);
                    self.edges.push(edge);
                }
            }
            return;
        }
        let fan = match fans[read.key as usize] {
            Some(fan) => fan,
            None => {
                let fan = self.add_node();
                fans[read.key as usize] = Some(fan);
                for chain in &chains[1..] {
                    self.add(fan, self.commit(chain[0].writer), Kind::Onwards, read.key);
                }
                fan
            }
        };
        self.add(self.start(read.transaction), fan, Kind::ReadWrite, read.key);
    }

    fn add_processes(&mut self, recorded: &Recorded, view: &View) {
        let mut last: Vec<Option<u32>> = vec![None; recorded.process_names.len()];
        for (x, transaction) in recorded.transactions.iter().enumerate() {
            if !view.counts(x) {
                continue;
            }
            let previous = last[transaction.process as usize].replace(x as u32);
            if let Some(previous) = previous {
                let edge = self.write_edge(previous, x as u32, Kind::Process, 0);
                self.edges.push(edge);
            }
        }
    }

    fn add_time(&mut self, recorded: &Recorded, view: &View) {
        // Moments are lines, so no two are the same; ends sort before starts all the same.
        let mut moments: Vec<(u32, bool, u32)> = Vec::new();
        for (x, transaction) in recorded.transactions.iter().enumerate() {
            if view.roles[x] == Role::Absent {
                continue;
            }
            moments.extend(transaction.start.map(|start| (start, true, x as u32)));
            moments.extend(transaction.end.map(|end| (end, false, x as u32)));
        }
        moments.sort_unstable();
        let mut moment: Option<u32> = None;
        let mut ended: Vec<u32> = Vec::new();
        for (_, is_start, x) in moments {
            if !is_start {
                ended.push(x);
                continue;
            }
            if !ended.is_empty() {
                let next = self.add_node();
                if let Some(moment) = moment {
                    self.add(moment, next, Kind::Onwards, 0);
                }
                for x in ended.drain(..) {
                    self.add(self.commit(x), next, Kind::Time, 0);
                }
                moment = Some(next);
            }
            if let Some(moment) = moment {
                self.add(moment, self.start(x), Kind::Onwards, 0);
            }
        }
    }
}

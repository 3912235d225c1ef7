//! The exact specification for words with extra statements.
//!
//! As in [`crate::monitor`] and [`crate::snapshot`], the graph of a word is
//! summed up in what can still matter, with one addition. A read of an old
//! version may happen long after the writers that follow it have finished, so
//! edges no longer lead only to unfinished transactions. The remedy: when a
//! transaction takes its snapshot, every variable is read at once, each by a
//! *possible read*, a node of its own that counts for nothing yet. Such a node
//! collects predecessors and successors like any other. When the transaction
//! does read the old version, the node is joined with the transaction's; when
//! it ends or takes a new snapshot, its remaining ones are dropped.
//!
//! Nested writes are kept apart until they merge. An access outside of
//! transactions is a transaction of one access. Deferred update only.
//!
//! The judge is [`crate::judge`] on the translation ([`crate::extended`]).

use crate::layout::{Cell, Layout};
use crate::monitor::Specification;
use crate::property::Safety;
use crate::word::{Action, Extra, Statement};

/// More nodes do not fit a set.
pub const MAX_NODES: usize = 32;

pub struct ExtendedMonitor {
    property: Safety,
    layout: Layout,
    threads: usize,
    variables: usize,
}

/// A transaction, or a possible read.
#[derive(Clone, Copy, Default)]
struct Node {
    live: bool,
    /// Cannot commit any more.
    doomed: bool,
    /// A possible read that became a read.
    done: bool,
    /// In a nested transaction.
    nesting: bool,
    reads: u8,
    writes: u8,
    /// Written by the nested transaction.
    nested: u8,
    /// Nodes that come after.
    before: u32,
    /// Of finished transactions that come after: variables stored, accessed
    /// (for snapshot isolation: read), and the threads.
    stored: u8,
    accessed: u8,
    finished: u8,
}

const NODE_BYTES: usize = 11;

impl Node {
    fn absorb(&mut self, other: &Node) {
        self.before |= other.before;
        self.stored |= other.stored;
        self.accessed |= other.accessed;
        self.finished |= other.finished;
    }

    fn load(bytes: &[u8]) -> Node {
        Node {
            live: bytes[0] & 1 != 0,
            doomed: bytes[0] & 2 != 0,
            done: bytes[0] & 4 != 0,
            nesting: bytes[0] & 8 != 0,
            reads: bytes[1],
            writes: bytes[2],
            nested: bytes[3],
            before: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            stored: bytes[8],
            accessed: bytes[9],
            finished: bytes[10],
        }
    }

    fn save(&self, bytes: &mut [u8]) {
        let flags = [self.live, self.doomed, self.done, self.nesting];
        bytes[0] = (0..)
            .zip(flags)
            .fold(0, |byte, (bit, set)| byte | u8::from(set) << bit);
        bytes[1] = self.reads;
        bytes[2] = self.writes;
        bytes[3] = self.nested;
        bytes[4..8].copy_from_slice(&self.before.to_le_bytes());
        bytes[8] = self.stored;
        bytes[9] = self.accessed;
        bytes[10] = self.finished;
    }
}

impl ExtendedMonitor {
    /// None if there are more nodes than a set holds.
    pub fn new(property: Safety, threads: usize, variables: usize) -> Option<Self> {
        let nodes = threads * (1 + variables);
        (nodes <= MAX_NODES).then(|| ExtendedMonitor {
            property,
            threads,
            variables,
            // Nodes are numbered by thread and variable, which no renaming of
            // cells follows; searches with this specification are not reduced
            // by symmetry.
            layout: Layout {
                threads,
                variables,
                global: vec![Cell::Plain; nodes * NODE_BYTES],
                per_variable: Vec::new(),
                per_thread: Vec::new(),
            },
        })
    }

    fn possible_read(&self, thread: usize, v: usize) -> usize {
        self.threads + thread * self.variables + v
    }

    fn is_of(&self, node: usize, thread: usize) -> bool {
        node == thread || (node >= self.threads && (node - self.threads) / self.variables == thread)
    }

    /// Whether paths through a node count at once.
    fn is_definite(&self, node: usize) -> bool {
        self.property == Safety::Opacity && node < self.threads
    }

    fn mark(&self, thread: usize) -> u8 {
        match self.property {
            Safety::Serializability => 1 << thread,
            _ => 1,
        }
    }

    /// Adds edges to a node from those that satisfy a test; false if there is
    /// a cycle that counts.
    fn add_edges(
        &self,
        nodes: &mut [Node],
        target: usize,
        test: impl Fn(usize, &Node) -> bool,
    ) -> bool {
        let direct = (0..nodes.len())
            .filter(|&i| nodes[i].live && test(i, &nodes[i]))
            .fold(0u32, |set, i| set | 1 << i);
        let definite = (0..nodes.len())
            .filter(|&i| self.is_definite(i))
            .fold(0u32, |set, i| set | 1 << i);
        let mut gained = Node {
            before: 1 << target,
            ..Node::default()
        };
        if self.is_definite(target) {
            gained.absorb(&nodes[target]);
        }
        for (i, node) in nodes.iter_mut().enumerate() {
            if direct >> i & 1 == 1 || node.before & direct & definite != 0 {
                node.absorb(&gained);
            }
        }
        self.no_definite_cycle(nodes)
    }

    fn no_definite_cycle(&self, nodes: &[Node]) -> bool {
        (0..self.threads).all(|i| !self.is_definite(i) || nodes[i].before >> i & 1 == 0)
    }

    fn start(&self, nodes: &mut [Node], thread: usize) -> bool {
        if nodes[thread].live {
            return true;
        }
        nodes[thread].live = true;
        let mark = self.mark(thread);
        self.add_edges(nodes, thread, |_, node| node.finished & mark != 0)
    }

    fn read(&self, nodes: &mut [Node], reader: usize, v: u8) -> bool {
        nodes[reader].reads |= 1 << v;
        self.add_edges(nodes, reader, |_, node| node.stored >> v & 1 == 1)
    }

    fn snapshot(&self, nodes: &mut [Node], thread: usize) -> bool {
        for v in 0..self.variables {
            let node = self.possible_read(thread, v);
            forget(nodes, node);
            nodes[node].live = true;
            if !self.read(nodes, node, v as u8) {
                return false;
            }
        }
        true
    }

    fn old_read(&self, nodes: &mut [Node], thread: usize, v: u8) -> bool {
        if (nodes[thread].writes | nodes[thread].nested) >> v & 1 == 1 {
            nodes[thread].doomed = true;
            return self.property != Safety::Opacity;
        }
        let possible = self.possible_read(thread, v as usize);
        if nodes[possible].done {
            return true;
        }
        if !nodes[possible].live {
            return self.read(nodes, thread, v);
        }
        let own = 1 << thread | 1 << possible;
        let mut joined = nodes[thread];
        joined.absorb(&nodes[possible]);
        let cycle = joined.before & own != 0;
        if cycle && self.property == Safety::Opacity {
            return false;
        }
        joined.before &= !own;
        joined.reads |= 1 << v;
        joined.doomed |= cycle;
        nodes[thread] = joined;
        for (i, node) in nodes.iter_mut().enumerate() {
            if node.before & own != 0 && i != thread && i != possible {
                node.before = node.before & !own | 1 << thread;
                if self.is_definite(thread) {
                    node.absorb(&joined);
                }
            }
        }
        nodes[possible] = Node {
            done: true,
            ..Node::default()
        };
        self.no_definite_cycle(nodes)
    }

    fn commit(&self, nodes: &mut [Node], thread: usize) -> bool {
        if nodes[thread].doomed {
            return false;
        }
        let writes = nodes[thread].writes | nodes[thread].nested;
        if self.property == Safety::SnapshotIsolation {
            return self.commit_snapshot(nodes, thread, writes);
        }
        let follows = |i: usize, node: &Node| {
            (!self.is_of(i, thread) && node.reads & writes != 0) || node.accessed & writes != 0
        };
        if !self.add_edges(nodes, thread, follows) || nodes[thread].before >> thread & 1 == 1 {
            return false;
        }
        let mut summary = nodes[thread];
        summary.stored |= writes;
        summary.accessed |= writes | summary.reads;
        summary.finished |= self.mark(thread);
        self.end(nodes, thread, &summary);
        self.no_definite_cycle(nodes)
    }

    /// Sums a transaction up in all that precede it, and forgets it.
    fn end(&self, nodes: &mut [Node], thread: usize, summary: &Node) {
        for node in nodes.iter_mut() {
            if node.before >> thread & 1 == 1 {
                node.absorb(summary);
            }
        }
        self.drop_thread(nodes, thread);
    }

    fn drop_thread(&self, nodes: &mut [Node], thread: usize) {
        for node in 0..nodes.len() {
            if self.is_of(node, thread) {
                forget(nodes, node);
            }
        }
    }

    /// The commit of [`crate::snapshot`]: a node is a snapshot point.
    fn commit_snapshot(&self, nodes: &mut [Node], thread: usize, writes: u8) -> bool {
        let own = nodes[thread];
        if own.stored & writes != 0 || own.before >> thread & 1 == 1 {
            return false;
        }
        for (i, node) in nodes.iter_mut().enumerate() {
            if self.is_of(i, thread) || !node.live {
                continue;
            }
            let before_snapshot = node.before >> thread & 1 == 1 || node.stored & writes != 0;
            let before_commit = before_snapshot || (node.reads | node.accessed) & writes != 0;
            if before_snapshot {
                node.absorb(&own);
                node.accessed |= own.reads;
            }
            if before_commit {
                node.stored |= writes;
                node.finished = 1;
            }
        }
        self.drop_thread(nodes, thread);
        true
    }

    fn abort(&self, nodes: &mut [Node], thread: usize) {
        if self.property == Safety::Opacity {
            let mut summary = nodes[thread];
            summary.accessed |= summary.reads;
            summary.finished |= self.mark(thread);
            self.end(nodes, thread, &summary);
        } else {
            self.drop_thread(nodes, thread);
        }
    }

    /// Forgets what no longer matters about transactions that cannot commit.
    fn normalise(&self, nodes: &mut [Node]) {
        if self.property == Safety::Opacity {
            return;
        }
        for thread in 0..self.threads {
            let node = &nodes[thread];
            // A nested write may still be undone, so it does not count here.
            let overtaken =
                self.property == Safety::SnapshotIsolation && node.stored & node.writes != 0;
            if node.doomed || overtaken || node.before >> thread & 1 == 1 {
                self.drop_thread(nodes, thread);
                nodes[thread].live = true;
                nodes[thread].doomed = true;
            }
        }
    }

    fn access(&self, nodes: &mut [Node], statement: Statement) -> bool {
        let thread = statement.thread as usize;
        let doomed = nodes[thread].doomed;
        match statement.action {
            Action::Read(v) => {
                let valid = (nodes[thread].writes | nodes[thread].nested) >> v & 1 == 1;
                valid || doomed || self.read(nodes, thread, v)
            }
            Action::Write(v) => {
                let node = &mut nodes[thread];
                match (doomed, node.nesting) {
                    (true, _) => {}
                    (false, true) => node.nested |= 1 << v,
                    (false, false) => node.writes |= 1 << v,
                }
                true
            }
            Action::Commit => self.commit(nodes, thread),
            Action::Abort => {
                self.abort(nodes, thread);
                true
            }
            Action::Extra(extra) => match extra {
                Extra::Begin | Extra::BeginReadOnly | Extra::Snapshot => {
                    doomed || self.snapshot(nodes, thread)
                }
                Extra::OldRead(v) => doomed || self.old_read(nodes, thread, v),
                Extra::PlainRead(v) => self.read(nodes, thread, v) && self.commit(nodes, thread),
                Extra::PlainWrite(v) => {
                    nodes[thread].writes |= 1 << v;
                    self.commit(nodes, thread)
                }
                Extra::Nest => {
                    nodes[thread].nesting = !doomed;
                    true
                }
                Extra::Merge | Extra::Undo => {
                    let node = &mut nodes[thread];
                    if extra == Extra::Merge {
                        node.writes |= node.nested;
                    }
                    node.nested = 0;
                    node.nesting = false;
                    true
                }
                Extra::Retry => true,
            },
        }
    }
}

fn forget(nodes: &mut [Node], which: usize) {
    nodes[which] = Node::default();
    for node in nodes.iter_mut() {
        node.before &= !(1 << which);
    }
}

impl Specification for ExtendedMonitor {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn takes_extra_statements(&self) -> bool {
        true
    }

    fn forget_hopeless(&self, state: &mut [u8], no_commit: u8, _no_read_or_commit: u8) {
        if self.property == Safety::Opacity {
            return;
        }
        let mut nodes: Vec<Node> = state.chunks_exact(NODE_BYTES).map(Node::load).collect();
        for (thread, node) in nodes.iter_mut().enumerate().take(self.threads) {
            node.doomed |= node.live && no_commit >> thread & 1 == 1;
        }
        self.normalise(&mut nodes);
        for (node, bytes) in nodes.iter().zip(state.chunks_exact_mut(NODE_BYTES)) {
            node.save(bytes);
        }
    }

    fn step(&self, state: &mut [u8], statement: Statement) -> bool {
        let mut nodes: Vec<Node> = state.chunks_exact(NODE_BYTES).map(Node::load).collect();
        let thread = statement.thread as usize;
        let accepted = self.start(&mut nodes, thread) && self.access(&mut nodes, statement);
        if accepted {
            self.normalise(&mut nodes);
            for (node, bytes) in nodes.iter().zip(state.chunks_exact_mut(NODE_BYTES)) {
                node.save(bytes);
            }
        }
        accepted
    }
}

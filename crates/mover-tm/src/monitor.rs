//! The exact specification for any number of threads and variables.
//!
//! A word has a property iff its conflict graph has no cycle (Section 5): the
//! nodes are transactions, the edges say which must come first, by a conflict
//! or by the order in time. The graph grows with the word; this monitor keeps
//! of it what can still matter. An edge always leads *to* a transaction that
//! is still unfinished when the edge appears. So a finished transaction gets
//! no new predecessors, and it suffices to know, for each unfinished
//! transaction, which unfinished ones it must precede, and what it must
//! precede among the finished ones, summed up as:
//!
//! * `stored`: variables stored by such a transaction (the paper's `prs`),
//! * `accessed`: variables read or stored by such a transaction (`pws`),
//! * `finished`: the threads of such transactions.
//!
//! For opacity every transaction counts from its first statement: its node is
//! *definite* and paths through it are closed at once. For strict
//! serializability a transaction counts only if it commits: its node is
//! *conditional*, and paths through it are closed at its commit. With direct
//! update the writes count at once and the reads only at the commit, so strict
//! serializability keeps a node of each kind per thread, which the commit
//! joins.
//!
//! The print's deterministic specification (Algorithm 6) aims at the same
//! automaton; it is in [`crate::spec_det`], with its corrections.

use crate::extended_monitor::ExtendedMonitor;
use crate::layout::{Cell, Layout};
use crate::property::{Safety, Update, is_defined};
use crate::snapshot::SnapshotMonitor;
use crate::word::{Action, Statement};

/// A deterministic automaton all of whose states accept; a word is rejected
/// when a step is refused.
pub trait Specification {
    fn layout(&self) -> &Layout;

    /// Moves `state` along a statement; false if the word is now rejected, and
    /// then `state` means nothing.
    fn step(&self, state: &mut [u8], statement: Statement) -> bool;

    /// Forgets what cannot matter about threads (given as sets) that will abort
    /// before they commit, or before they commit or read.
    fn forget_hopeless(&self, state: &mut [u8], no_commit: u8, no_read_or_commit: u8);

    /// Whether it knows the statements that the paper does not have.
    fn takes_extra_statements(&self) -> bool {
        false
    }

    /// Every specification begins with nothing remembered.
    fn initial(&self) -> Vec<u8> {
        vec![0; self.layout().size()]
    }

    /// How many statements of a word are accepted.
    fn accepted_prefix(&self, word: &[Statement]) -> usize {
        let mut state = self.initial();
        word.iter()
            .position(|&statement| !self.step(&mut state, statement))
            .unwrap_or(word.len())
    }
}

/// The exact specification of a property; none where it has no meaning.
pub fn specification(
    property: Safety,
    update: Update,
    threads: usize,
    variables: usize,
) -> Option<Box<dyn Specification>> {
    if !is_defined(property, update) {
        return None;
    }
    Some(match property {
        Safety::SnapshotIsolation => Box::new(SnapshotMonitor::new(threads, variables)),
        _ => Box::new(Monitor::new(property, update, threads, variables)),
    })
}

/// The exact specification of a property for words with extra statements;
/// none for numbers that it has no room for.
pub fn extended_specification(
    property: Safety,
    threads: usize,
    variables: usize,
) -> Option<Box<dyn Specification>> {
    let monitor = ExtendedMonitor::new(property, threads, variables)?;
    Some(Box::new(monitor))
}

pub struct Monitor {
    update: Update,
    /// Whether transactions count before they commit (opacity).
    definite_reads: bool,
    /// Whether the order in time is kept between threads.
    strict: bool,
    layout: Layout,
    nodes_per_thread: usize,
}

/// Flags of a thread.
const LIVE: u8 = 1;
/// The transaction is on a cycle of committed ones and can no longer commit.
const DOOMED: u8 = 2;

const FLAGS: usize = 0;
const READS: usize = 1;
const WRITES: usize = 2;
const FIRST_NODE: usize = 3;

/// What a node precedes. Nodes are numbered by thread, definite ones first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reach {
    nodes: u16,
    stored: u8,
    accessed: u8,
    finished: u8,
}

impl Reach {
    fn absorb(&mut self, other: Reach) {
        self.nodes |= other.nodes;
        self.stored |= other.stored;
        self.accessed |= other.accessed;
        self.finished |= other.finished;
    }
}

/// Conditional nodes are numbered from here on.
const CONDITIONAL: usize = 8;
const NODES: usize = 16;

/// A state of the monitor, unpacked.
struct Graph {
    flags: [u8; 8],
    reads: [u8; 8],
    writes: [u8; 8],
    reach: [Reach; NODES],
}

impl Graph {
    /// Adds edges from `sources` (closed under predecessors) to a node and to
    /// what the node is known to precede; false on a definite cycle.
    fn add_edges(&mut self, sources: u16, target: usize) -> bool {
        let mut gained = Reach {
            nodes: 1 << target,
            ..Reach::default()
        };
        if target < CONDITIONAL {
            gained.absorb(self.reach[target]);
        }
        self.extend(sources, gained)
    }

    fn extend(&mut self, sources: u16, gained: Reach) -> bool {
        for node in members(sources) {
            self.reach[node].absorb(gained);
        }
        (0..CONDITIONAL).all(|node| self.reach[node].nodes >> node & 1 == 0)
    }

    /// The nodes that satisfy a test, with all nodes known to precede those of
    /// them that are definite.
    fn sources(&self, direct: u16, through_finished: impl Fn(&Reach) -> bool) -> u16 {
        let definite = direct & ((1 << CONDITIONAL) - 1);
        (0..NODES).fold(direct, |set, node| {
            let reach = &self.reach[node];
            let source = through_finished(reach) || reach.nodes & definite != 0;
            set | u16::from(source) << node
        })
    }

    fn predecessors(&self, node: usize) -> u16 {
        (0..NODES).fold(0, |set, other| {
            set | (self.reach[other].nodes >> node & 1) << other
        })
    }

    fn forget(&mut self, node: usize) {
        self.reach[node] = Reach::default();
        for reach in &mut self.reach {
            reach.nodes &= !(1 << node);
        }
    }
}

fn members(set: u16) -> impl Iterator<Item = usize> {
    (0..NODES).filter(move |node| set >> node & 1 == 1)
}

impl Monitor {
    pub fn new(property: Safety, update: Update, threads: usize, variables: usize) -> Self {
        let definite_reads = property == Safety::Opacity;
        let strict = property != Safety::Serializability;
        let nodes_per_thread = match (definite_reads, update) {
            (false, Update::Direct) => 2,
            _ => 1,
        };
        let mut per_thread = vec![Cell::Plain, Cell::VariableSet, Cell::VariableSet];
        for _ in 0..nodes_per_thread {
            per_thread.extend(vec![Cell::ThreadSet; nodes_per_thread]);
            per_thread.extend([Cell::VariableSet, Cell::VariableSet]);
            per_thread.push(if strict { Cell::Plain } else { Cell::ThreadSet });
        }
        Monitor {
            update,
            definite_reads,
            strict,
            nodes_per_thread,
            layout: Layout {
                threads,
                variables,
                global: Vec::new(),
                per_variable: Vec::new(),
                per_thread,
            },
        }
    }

    /// The node at which a thread's reads and commit take part.
    fn read_node(&self, thread: usize) -> usize {
        if self.definite_reads {
            thread
        } else {
            CONDITIONAL + thread
        }
    }

    /// The node at which a thread's stores take part.
    fn store_node(&self, thread: usize) -> usize {
        match self.update {
            Update::Direct => thread,
            Update::Deferred => self.read_node(thread),
        }
    }

    /// The nodes of a thread, in the order in which they are packed.
    fn nodes(&self, thread: usize) -> Vec<usize> {
        match self.nodes_per_thread {
            2 => vec![thread, CONDITIONAL + thread],
            _ => vec![self.read_node(thread)],
        }
    }

    fn unpack(&self, state: &[u8]) -> Graph {
        let mut graph = Graph {
            flags: [0; 8],
            reads: [0; 8],
            writes: [0; 8],
            reach: [Reach::default(); NODES],
        };
        for thread in 0..self.layout.threads {
            let block = &state[self.layout.thread_block(thread)..];
            graph.flags[thread] = block[FLAGS];
            graph.reads[thread] = block[READS];
            graph.writes[thread] = block[WRITES];
            let mut at = FIRST_NODE;
            for node in self.nodes(thread) {
                let mut sets = [0u16; 2];
                for set in sets.iter_mut().take(self.nodes_per_thread) {
                    *set = u16::from(block[at]);
                    at += 1;
                }
                let nodes = match (self.nodes_per_thread, self.definite_reads) {
                    (2, _) => sets[0] | sets[1] << CONDITIONAL,
                    (_, true) => sets[0],
                    (_, false) => sets[0] << CONDITIONAL,
                };
                graph.reach[node] = Reach {
                    nodes,
                    stored: block[at],
                    accessed: block[at + 1],
                    finished: block[at + 2],
                };
                at += 3;
            }
        }
        graph
    }

    fn pack(&self, graph: &Graph, state: &mut [u8]) {
        for thread in 0..self.layout.threads {
            let start = self.layout.thread_block(thread);
            let block = &mut state[start..start + self.layout.per_thread.len()];
            block[FLAGS] = graph.flags[thread];
            block[READS] = graph.reads[thread];
            block[WRITES] = graph.writes[thread];
            let mut at = FIRST_NODE;
            for node in self.nodes(thread) {
                let reach = graph.reach[node];
                let definite = reach.nodes as u8;
                let conditional = (reach.nodes >> CONDITIONAL) as u8;
                match (self.nodes_per_thread, self.definite_reads) {
                    (2, _) => {
                        block[at] = definite;
                        block[at + 1] = conditional;
                        at += 2;
                    }
                    (_, true) => {
                        block[at] = definite;
                        at += 1;
                    }
                    (_, false) => {
                        block[at] = conditional;
                        at += 1;
                    }
                }
                block[at] = reach.stored;
                block[at + 1] = reach.accessed;
                block[at + 2] = reach.finished;
                at += 3;
            }
        }
    }

    /// How a finished transaction of a thread is remembered.
    fn finished_mark(&self, thread: usize) -> u8 {
        if self.strict { 1 } else { 1 << thread }
    }

    fn start(&self, graph: &mut Graph, thread: usize) -> bool {
        if graph.flags[thread] & LIVE != 0 {
            return true;
        }
        graph.flags[thread] |= LIVE;
        let mark = self.finished_mark(thread);
        self.nodes(thread).into_iter().all(|node| {
            let sources = graph.sources(0, |reach| reach.finished & mark != 0);
            graph.add_edges(sources, node)
        })
    }

    /// Edges from every other access of a variable to a store of it.
    fn store(&self, graph: &mut Graph, thread: usize, variables: u8) -> bool {
        let mut direct = 0;
        for other in (0..self.layout.threads).filter(|&other| other != thread) {
            if graph.reads[other] & variables != 0 {
                direct |= 1 << self.read_node(other);
            }
            if self.update == Update::Direct && graph.writes[other] & variables != 0 {
                direct |= 1 << self.store_node(other);
            }
        }
        let sources = graph.sources(direct, |reach| reach.accessed & variables != 0);
        graph.add_edges(sources, self.store_node(thread))
    }

    fn read(&self, graph: &mut Graph, thread: usize, variable: u8) -> bool {
        let mut direct = 0;
        if self.update == Update::Direct {
            for other in (0..self.layout.threads).filter(|&other| other != thread) {
                if graph.writes[other] & variable != 0 {
                    direct |= 1 << self.store_node(other);
                }
            }
        }
        graph.reads[thread] |= variable;
        let sources = graph.sources(direct, |reach| reach.stored & variable != 0);
        graph.add_edges(sources, self.read_node(thread))
    }

    /// Sums a transaction up in all that precede it, and forgets it.
    fn finish(&self, graph: &mut Graph, thread: usize, reads_count: bool, stores: u8) {
        let reads = if reads_count { graph.reads[thread] } else { 0 };
        let summary = Reach {
            nodes: 0,
            stored: stores,
            accessed: stores | reads,
            finished: self.finished_mark(thread),
        };
        for node in self.nodes(thread) {
            for before in members(graph.predecessors(node)) {
                graph.reach[before].absorb(summary);
            }
        }
        self.drop_thread(graph, thread);
    }

    fn drop_thread(&self, graph: &mut Graph, thread: usize) {
        for node in self.nodes(thread) {
            graph.forget(node);
        }
        graph.flags[thread] = 0;
        graph.reads[thread] = 0;
        graph.writes[thread] = 0;
    }

    fn commit(&self, graph: &mut Graph, thread: usize) -> bool {
        if graph.flags[thread] & DOOMED != 0 {
            return false;
        }
        let writes = graph.writes[thread];
        if self.update == Update::Deferred && !self.store(graph, thread, writes) {
            return false;
        }
        if !self.definite_reads {
            let own = self
                .nodes(thread)
                .into_iter()
                .fold(0, |set, node| set | 1 << node);
            let mut joined = Reach::default();
            let mut before = 0;
            for node in members(own) {
                joined.absorb(graph.reach[node]);
                before |= graph.predecessors(node);
            }
            if joined.nodes & own != 0 {
                return false;
            }
            // Whoever precedes either node now precedes both.
            joined.nodes |= own;
            if !graph.extend(before, joined) {
                return false;
            }
        }
        self.finish(graph, thread, true, writes);
        true
    }

    fn abort(&self, graph: &mut Graph, thread: usize) -> bool {
        let writes = graph.writes[thread];
        match (self.update, self.definite_reads) {
            (Update::Deferred, true) => self.finish(graph, thread, true, 0),
            (Update::Deferred, false) => self.drop_thread(graph, thread),
            (Update::Direct, definite) => {
                if writes != 0 && !self.store(graph, thread, writes) {
                    return false;
                }
                if !definite {
                    // Only what precedes the stores may inherit their summary.
                    graph.forget(CONDITIONAL + thread);
                }
                self.finish(graph, thread, definite, writes);
            }
        }
        true
    }

    /// Marks transactions that can no longer commit, and forgets what no
    /// longer matters about them, so that equal futures get equal states.
    fn normalise(&self, graph: &mut Graph) {
        if self.definite_reads {
            return;
        }
        for thread in 0..self.layout.threads {
            let node = CONDITIONAL + thread;
            let own = self
                .nodes(thread)
                .into_iter()
                .fold(0, |set, n| set | 1 << n);
            let joined = graph.reach[node].nodes;
            let via_store = match self.nodes_per_thread {
                2 => graph.reach[thread].nodes >> node & 1 == 1,
                _ => false,
            };
            if joined & own != 0 || via_store || graph.flags[thread] & DOOMED != 0 {
                graph.flags[thread] |= DOOMED;
                graph.forget(node);
                graph.reads[thread] = 0;
                if self.update == Update::Deferred {
                    graph.writes[thread] = 0;
                }
            }
        }
    }
}

impl Specification for Monitor {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn forget_hopeless(&self, state: &mut [u8], no_commit: u8, no_read_or_commit: u8) {
        let mut graph = self.unpack(state);
        for thread in 0..self.layout.threads {
            if graph.flags[thread] & LIVE == 0 {
                continue;
            }
            if !self.definite_reads {
                // What does not commit does not count, except for its stores.
                if no_commit >> thread & 1 == 1 {
                    graph.flags[thread] |= DOOMED;
                }
            } else if self.update == Update::Deferred && no_read_or_commit >> thread & 1 == 1 {
                // Nothing will come before it any more, so what it precedes
                // matters only to those it is already known to follow; and if
                // there are none, its reads do not matter either.
                graph.writes[thread] = 0;
                graph.reach[thread] = Reach::default();
                if graph.predecessors(thread) == 0 {
                    graph.reads[thread] = 0;
                }
            }
        }
        self.normalise(&mut graph);
        self.pack(&graph, state);
    }

    fn step(&self, state: &mut [u8], statement: Statement) -> bool {
        let mut graph = self.unpack(state);
        let thread = statement.thread as usize;
        if !self.start(&mut graph, thread) {
            return false;
        }
        let doomed = graph.flags[thread] & DOOMED != 0;
        let accepted = match statement.action {
            Action::Read(v) => {
                let local = graph.writes[thread] >> v & 1 == 1;
                local || doomed || self.read(&mut graph, thread, 1 << v)
            }
            Action::Write(v) => {
                let stored =
                    self.update == Update::Deferred || self.store(&mut graph, thread, 1 << v);
                if !doomed || self.update == Update::Direct {
                    graph.writes[thread] |= 1 << v;
                }
                stored
            }
            Action::Commit => self.commit(&mut graph, thread),
            Action::Abort => self.abort(&mut graph, thread),
            // See `extended_monitor`.
            Action::Extra(_) => false,
        };
        if accepted {
            self.normalise(&mut graph);
            self.pack(&graph, state);
        }
        accepted
    }
}

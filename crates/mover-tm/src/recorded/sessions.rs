//! The session guarantees of Terry et al. (1994), for transactions.
//!
//! A session is a process. Each guarantee says that versions of a key come in some order: what a
//! session reads is no older than what it wrote (*read your writes*) and than what it read
//! (*monotonic reads*); what it writes is newer than what it wrote (*monotonic writes*) and read
//! (*writes follow reads*). A guarantee holds if some order of the versions of each key
//! agrees with all it says: if "no older than" leads from no version over another back to
//! itself. The order of a list's versions was read; of a register's it is known only that the initial one is
//! first.

use rustc_hash::FxHashMap;

use super::cycles::components;
use super::dependencies::{Edge, Graph, Kind};
use super::versions::{ExternalRead, Role, View};
use super::{Effect, Key, Model, Recorded};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarantee {
    ReadYourWrites,
    MonotonicReads,
    MonotonicWrites,
    WritesFollowReads,
}

impl Guarantee {
    pub const ALL: [Guarantee; 4] = [
        Guarantee::ReadYourWrites,
        Guarantee::MonotonicReads,
        Guarantee::MonotonicWrites,
        Guarantee::WritesFollowReads,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Guarantee::ReadYourWrites => "read-your-writes",
            Guarantee::MonotonicReads => "monotonic-reads",
            Guarantee::MonotonicWrites => "monotonic-writes",
            Guarantee::WritesFollowReads => "writes-follow-reads",
        }
    }

    fn remembers_writes(self) -> bool {
        matches!(self, Guarantee::ReadYourWrites | Guarantee::MonotonicWrites)
    }

    fn concerns_reads(self) -> bool {
        matches!(self, Guarantee::ReadYourWrites | Guarantee::MonotonicReads)
    }
}

/// What breaks a guarantee: an earlier and a later transaction of a process, and the words.
#[derive(Clone, Debug)]
pub struct Broken {
    pub earlier: usize,
    pub later: usize,
    pub words: String,
}

/// The versions of all keys as numbers: the initial ones first.
struct Versions {
    first: Vec<Vec<u32>>,
    count: u32,
}

impl Versions {
    fn of(view: &View) -> Versions {
        let mut count = view.chains.len() as u32;
        let mut first = Vec::with_capacity(view.chains.len());
        for chains in &view.chains {
            let mut row = Vec::with_capacity(chains.len());
            for chain in chains {
                row.push(count);
                count += chain.len() as u32;
            }
            first.push(row);
        }
        Versions { first, count }
    }

    fn read(&self, read: &ExternalRead) -> u32 {
        match read.place {
            0 => read.key,
            place => self.first[read.key as usize][read.chain as usize] + place - 1,
        }
    }
}

fn edge(from: u32, to: u32, key: Key) -> Edge {
    Edge {
        from,
        to,
        kind: Kind::Process,
        key,
    }
}

/// What is known of the order of versions without any guarantee.
fn known_order(recorded: &Recorded, view: &View, versions: &Versions) -> Vec<Edge> {
    let is_list = recorded.model() == Model::ListAppend;
    let mut edges = Vec::new();
    for (key, chains) in view.chains.iter().enumerate() {
        let key = key as Key;
        for (c, chain) in chains.iter().enumerate() {
            let first = versions.first[key as usize][c];
            for at in 0..chain.len() as u32 {
                match at {
                    0 if is_list && c > 0 && !chains[0].is_empty() => {
                        let last = versions.first[key as usize][0] + chains[0].len() as u32 - 1;
                        edges.push(edge(last, first, key));
                    }
                    at if at > 0 && is_list => edges.push(edge(first + at - 1, first + at, key)),
                    at => edges.push(edge(key, first + at, key)),
                }
            }
        }
    }
    edges
}

/// One occasion at which a session's memory is extended or asked.
#[derive(Clone, Copy)]
struct Occasion {
    transaction: u32,
    version: u32,
    /// The node of the session's memory of the key.
    memory: u32,
}

/// Decides a guarantee.
pub fn check(recorded: &Recorded, view: &View, guarantee: Guarantee) -> Option<Broken> {
    let versions = Versions::of(view);
    let mut edges = known_order(recorded, view, &versions);
    let mut reads_of: Vec<Vec<u32>> = vec![Vec::new(); recorded.transactions.len()];
    for (at, read) in view.reads.iter().enumerate() {
        reads_of[read.transaction as usize].push(at as u32);
    }
    // The final version that a transaction wrote of a key.
    let mut written: FxHashMap<(u32, Key), u32> = FxHashMap::default();
    for (key, chains) in view.chains.iter().enumerate() {
        for (c, chain) in chains.iter().enumerate() {
            for (at, version) in chain.iter().enumerate() {
                let number = versions.first[key][c] + at as u32;
                written.insert((version.writer, key as Key), number);
            }
        }
    }
    let mut nodes = versions.count;
    let mut memory: FxHashMap<(u32, Key), u32> = FxHashMap::default();
    let mut put: Vec<Occasion> = Vec::new();
    let mut asked: Vec<Occasion> = Vec::new();
    for (x, transaction) in recorded.transactions.iter().enumerate() {
        if view.roles[x] == Role::Absent {
            continue;
        }
        let process = transaction.process;
        let reads: Vec<(Key, u32)> = reads_of[x]
            .iter()
            .map(|&at| &view.reads[at as usize])
            .map(|read| (read.key, versions.read(read)))
            .collect();
        let mut writes: Vec<(Key, u32)> = recorded
            .operations_of(x)
            .iter()
            .filter(|operation| matches!(operation.effect, Effect::Write(_)))
            .filter_map(|o| Some((o.key, *written.get(&(x as u32, o.key))?)))
            .collect();
        writes.dedup();
        let mut remember = |what: &[(Key, u32)],
                            edges: &mut Vec<Edge>,
                            memory: &mut FxHashMap<(u32, Key), u32>| {
            for &(key, version) in what {
                let node = nodes;
                nodes += 1;
                if let Some(before) = memory.insert((process, key), node) {
                    edges.push(edge(before, node, key));
                }
                edges.push(edge(version, node, key));
                put.push(Occasion {
                    transaction: x as u32,
                    version,
                    memory: node,
                });
            }
        };
        // Writes follow the reads of the same transaction as well.
        if guarantee == Guarantee::WritesFollowReads {
            remember(&reads, &mut edges, &mut memory);
        }
        let concerned = if guarantee.concerns_reads() {
            &reads
        } else {
            &writes
        };
        for &(key, version) in concerned {
            if let Some(&node) = memory.get(&(process, key)) {
                edges.push(edge(node, version, key));
                asked.push(Occasion {
                    transaction: x as u32,
                    version,
                    memory: node,
                });
            }
        }
        if guarantee != Guarantee::WritesFollowReads {
            let what = if guarantee.remembers_writes() {
                &writes
            } else {
                &reads
            };
            remember(what, &mut edges, &mut memory);
        }
    }
    let graph = Graph::of_edges(nodes as usize, edges);
    let found = components(&graph);
    let component = found
        .cyclic
        .iter()
        .find(|component| component.iter().filter(|&&n| n < versions.count).count() > 1)?;
    let inside = |node: u32| component.contains(&node);
    let pair = asked
        .iter()
        .filter(|a| inside(a.version) && inside(a.memory))
        .find_map(|a| {
            let process = recorded.transactions[a.transaction as usize].process;
            let p = put.iter().find(|p| {
                inside(p.version)
                    && p.version != a.version
                    && p.memory <= a.memory
                    && recorded.transactions[p.transaction as usize].process == process
            })?;
            Some((p.transaction as usize, a.transaction as usize))
        });
    let (earlier, later) = pair.unwrap_or((0, 0));
    let (did, then) = match guarantee {
        Guarantee::ReadYourWrites => ("wrote", "read an older version"),
        Guarantee::MonotonicReads => ("read", "read an older version"),
        Guarantee::MonotonicWrites => ("wrote", "wrote an older version"),
        Guarantee::WritesFollowReads => ("read", "wrote an older version"),
    };
    let process = &recorded.process_names[recorded.transactions[earlier].process as usize];
    let words = format!(
        "process {process}: {} {did} a key of which {} then {then} ({}; {})",
        recorded.name(earlier),
        recorded.name(later),
        recorded.transaction_text(earlier),
        recorded.transaction_text(later)
    );
    Some(Broken {
        earlier,
        later,
        words,
    })
}

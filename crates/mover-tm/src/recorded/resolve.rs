//! An order of versions where reads do not tell it.
//!
//! A register that is written without being read has several chains of versions
//! ([`super::versions`]), and their order is free. To decide a level is to find an order without a
//! cycle, which is NP-complete in general for serializability (Papadimitriou 1979) and for snapshot isolation
//! (Biswas and Enea 2019). Three steps, from cheap to dear:
//!
//! 1. A cycle without any order of chains refutes the level.
//! 2. Chains in the order of a topological sort that prefers what ended early. If there is no cycle, this is
//!    an order; the histories of correct systems nearly always end here.
//! 3. Otherwise the orders within the cyclic components are searched exactly: an order that closes a cycle is
//!    impossible, so the other one is forced; where neither is forced, both are tried. If the
//!    components have no order, the whole has none, for their dependencies are a part of the whole's. If they have
//!    one, step 2 is repeated with it, and new components join the old ones.
//!
//! A list's chains beside the first were never read. For them step 2 cannot fail, except under
//! snapshot isolation.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use super::cycles::{Components, Dependency, components, dependencies, shortest};
use super::dependencies::{Edge, Graph, Kind};
use super::levels::Level;
use super::versions::View;
use super::{Key, Model, Recorded};

/// Larger components are not searched.
const MAX_COMPONENT: usize = 2_000;
const MAX_PAIRS: usize = 60_000;
const MAX_ROUNDS: usize = 60;
const MAX_DEPTH: usize = 150;

pub enum Resolution {
    /// Some order of the versions has no cycle.
    Acyclic,
    /// Every order has this cycle.
    Cycle(Vec<Dependency>),
    /// Every order has a cycle: the two cycles of the two orders of a pair of writers, or nothing if
    /// more had to be tried.
    Impossible {
        transactions: Vec<usize>,
        key: Key,
        pair: (usize, usize),
        cycles: Option<[Vec<Dependency>; 2]>,
    },
    Unknown(String),
}

/// A chain of a key.
type Chain = (Key, u32);

pub struct Resolver<'v> {
    recorded: &'v Recorded,
    view: &'v View,
    graph: &'v Graph,
    /// Who read the last version of a chain.
    end_readers: FxHashMap<Chain, Vec<u32>>,
    /// Orders that an exact search chose: the first of the pair first.
    chosen: FxHashMap<(Key, u32, u32), bool>,
    steps: usize,
}

pub fn resolve(
    recorded: &Recorded,
    view: &View,
    level: Level,
    graph: &Graph,
    max_steps: usize,
) -> Resolution {
    let found = components(graph);
    if !found.cyclic.is_empty() {
        return Resolution::Cycle(cycle_of(graph, &found));
    }
    let is_list = recorded.model() == Model::ListAppend;
    let free = if is_list {
        !level.is_split()
    } else {
        !level.has_anti_dependencies()
    };
    if free || view.chains.iter().all(|chains| chains.len() < 2) {
        return Resolution::Acyclic;
    }
    let mut resolver = Resolver {
        recorded,
        view,
        graph,
        end_readers: FxHashMap::default(),
        chosen: FxHashMap::default(),
        steps: max_steps,
    };
    for read in &view.reads {
        let chains = &view.chains[read.key as usize];
        if read.chain > 0 && chains[read.chain as usize].len() == read.place as usize {
            let readers = resolver.end_readers.entry((read.key, read.chain));
            readers.or_default().push(read.transaction);
        }
    }
    resolver.run()
}

fn cycle_of(graph: &Graph, found: &Components) -> Vec<Dependency> {
    shortest(graph, found).map_or(Vec::new(), |cycle| dependencies(graph, &cycle))
}

impl Resolver<'_> {
    fn run(&mut self) -> Resolution {
        let mut involved: BTreeSet<u32> = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            // The choices alone may close a cycle with what they did not know of; if not, the order
            // of all chains is made to agree with them.
            let chosen = self.graph.with(&self.chosen_edges());
            let mut found = components(&chosen);
            if found.cyclic.is_empty() {
                let orders = self.candidate(&chosen);
                found = components(&self.graph.with(&orders));
                if found.cyclic.is_empty() {
                    return Resolution::Acyclic;
                }
            }
            // Components of earlier rounds stay: what one forbids the next must know.
            involved.extend(found.cyclic.iter().flatten());
            let nodes: Vec<u32> = involved.iter().copied().collect();
            if let Err(resolution) = self.search(&nodes) {
                return resolution;
            }
        }
        Resolution::Unknown(
            "the order of versions is not recorded, and the search for one did not come to an end; \
             writes that first read the key, or lists, make it known"
                .to_string(),
        )
    }

    fn head(&self, chain: Chain) -> u32 {
        self.view.chains[chain.0 as usize][chain.1 as usize][0].writer
    }

    /// What follows if the one chain comes before the other.
    fn order_edges(&self, first: Chain, second: Chain, edges: &mut Vec<Edge>) {
        let head = self.head(second);
        let chain = &self.view.chains[first.0 as usize][first.1 as usize];
        if let Some(last) = chain.last().filter(|last| last.writer != head) {
            edges.push(
                self.graph
                    .write_edge(last.writer, head, Kind::Ordered, first.0),
            );
        }
        for &reader in self.end_readers.get(&first).into_iter().flatten() {
            if reader != head {
                edges.push(
                    self.graph
                        .read_write_edge(reader, head, Kind::OrderedRead, first.0),
                );
            }
        }
    }

    /// What follows from the orders that a search chose.
    fn chosen_edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (&(key, a, b), &first) in &self.chosen {
            let (a, b) = if first { (a, b) } else { (b, a) };
            self.order_edges((key, a), (key, b), &mut edges);
        }
        edges
    }

    /// The chains of each key in the order of a topological sort of a graph without cycles.
    fn candidate(&self, graph: &Graph) -> Vec<Edge> {
        let place = self.topological(graph);
        let mut edges = Vec::new();
        for (key, chains) in self.view.chains.iter().enumerate() {
            let mut order: Vec<u32> = (1..chains.len() as u32).collect();
            order.sort_by_key(|&chain| {
                place[self.graph.commit(self.head((key as Key, chain))) as usize]
            });
            for pair in order.windows(2) {
                self.order_edges((key as Key, pair[0]), (key as Key, pair[1]), &mut edges);
            }
        }
        edges
    }

    /// A place for each node, in agreement with the edges; what ended early comes early.
    fn topological(&self, graph: &Graph) -> Vec<u32> {
        let mut missing = vec![0u32; graph.nodes];
        for edge in &graph.edges {
            missing[edge.to as usize] += 1;
        }
        let time = |node: u32| match graph.transaction(node) {
            None => 0,
            Some(x) => {
                let transaction = &self.recorded.transactions[x];
                let is_start = graph.is_split && node.is_multiple_of(2);
                let start = transaction.start.unwrap_or(transaction.lines.0);
                if is_start {
                    start
                } else {
                    transaction.end.unwrap_or(transaction.lines.1)
                }
            }
        };
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> = (0..graph.nodes as u32)
            .filter(|&node| missing[node as usize] == 0)
            .map(|node| Reverse((time(node), node)))
            .collect();
        let mut place = vec![0; graph.nodes];
        let mut next = 0;
        while let Some(Reverse((_, node))) = ready.pop() {
            place[node as usize] = next;
            next += 1;
            for edge in graph.out(node) {
                missing[edge.to as usize] -= 1;
                if missing[edge.to as usize] == 0 {
                    ready.push(Reverse((time(edge.to), edge.to)));
                }
            }
        }
        place
    }

    /// Searches the orders of the chains among these nodes exactly.
    fn search(&mut self, component: &[u32]) -> Result<(), Resolution> {
        if component.len() > MAX_COMPONENT {
            return Err(Resolution::Unknown(format!(
                "the order of versions is not recorded, and {} transactions depend on it together",
                component.len()
            )));
        }
        let mut local: FxHashMap<u32, usize> = FxHashMap::default();
        for (at, &node) in component.iter().enumerate() {
            local.insert(node, at);
        }
        let mut edges: Vec<Edge> = Vec::new();
        for &node in component {
            edges.extend(
                self.graph
                    .out(node)
                    .iter()
                    .filter(|edge| local.contains_key(&edge.to)),
            );
        }
        let mut pairs = self.pairs(&local);
        if pairs.len() > MAX_PAIRS {
            return Err(Resolution::Unknown(format!(
                "the order of versions is not recorded, and {} pairs of writes depend on it together",
                pairs.len()
            )));
        }
        let mut closure = Closure::new(component.len());
        for edge in &edges {
            closure.add(local[&edge.from], local[&edge.to]);
        }
        match propagate(
            &mut closure,
            &mut pairs,
            &local,
            &mut edges,
            &mut self.steps,
        ) {
            Propagated::Open => {}
            Propagated::Conflict(at) => {
                return Err(self.both_impossible(component, &pairs[at], &edges));
            }
            Propagated::OutOfSteps => return Err(out_of_steps()),
        }
        let mut solver = Solver {
            local: &local,
            steps: &mut self.steps,
        };
        match solver.solve(closure, pairs.clone(), 0) {
            Solved::Order(decided) => {
                for pair in decided {
                    if let Some(first) = pair.decided {
                        self.chosen.insert((pair.key, pair.a, pair.b), first);
                    }
                }
                Ok(())
            }
            Solved::None => Err(Resolution::Impossible {
                transactions: self.transactions(component),
                key: pairs.first().map_or(0, |pair| pair.key),
                pair: pairs.first().map_or((0, 0), |pair| self.writers(pair)),
                cycles: None,
            }),
            Solved::OutOfSteps => Err(out_of_steps()),
        }
    }

    fn transactions(&self, component: &[u32]) -> Vec<usize> {
        let mut found: Vec<usize> = component
            .iter()
            .filter_map(|&node| self.graph.transaction(node))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn writers(&self, pair: &Pair) -> (usize, usize) {
        (
            self.head((pair.key, pair.a)) as usize,
            self.head((pair.key, pair.b)) as usize,
        )
    }

    /// The pairs of chains whose order matters in a component.
    fn pairs(&self, local: &FxHashMap<u32, usize>) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (key, chains) in self.view.chains.iter().enumerate() {
            let key = key as Key;
            let touches = |chain: u32| {
                let versions = &chains[chain as usize];
                let ends = [versions.first(), versions.last()];
                ends.into_iter().flatten().any(|version| {
                    local.contains_key(&self.graph.commit(version.writer))
                        || local.contains_key(&self.graph.start(version.writer))
                })
            };
            if chains.len() < 3 {
                continue;
            }
            let inside: Vec<bool> = (0..chains.len() as u32).map(touches).collect();
            for a in 1..chains.len() as u32 {
                for b in a + 1..chains.len() as u32 {
                    if !inside[a as usize] && !inside[b as usize] {
                        continue;
                    }
                    let mut options = [Vec::new(), Vec::new()];
                    self.order_edges((key, a), (key, b), &mut options[0]);
                    self.order_edges((key, b), (key, a), &mut options[1]);
                    for option in &mut options {
                        option.retain(|edge| {
                            local.contains_key(&edge.from) && local.contains_key(&edge.to)
                        });
                    }
                    if options.iter().any(|option| !option.is_empty()) {
                        pairs.push(Pair {
                            key,
                            a,
                            b,
                            options,
                            decided: None,
                        });
                    }
                    if pairs.len() > MAX_PAIRS {
                        return pairs;
                    }
                }
            }
        }
        pairs
    }

    /// The two cycles of a pair of which neither order is possible.
    fn both_impossible(&self, component: &[u32], pair: &Pair, edges: &[Edge]) -> Resolution {
        let cycle = |option: &[Edge]| {
            option.iter().find_map(|closing| {
                let mut path = path(edges, closing.to, closing.from)?;
                path.push(*closing);
                Some(dependencies(self.graph, &path))
            })
        };
        let cycles = match (cycle(&pair.options[0]), cycle(&pair.options[1])) {
            (Some(first), Some(second)) => Some([first, second]),
            _ => None,
        };
        Resolution::Impossible {
            transactions: self.transactions(component),
            key: pair.key,
            pair: self.writers(pair),
            cycles,
        }
    }
}

fn out_of_steps() -> Resolution {
    Resolution::Unknown(
        "the order of versions is not recorded, and the search for one took too many steps; raise --max-steps"
            .to_string(),
    )
}

/// A shortest path by edges.
fn path(edges: &[Edge], from: u32, to: u32) -> Option<Vec<Edge>> {
    let mut out: FxHashMap<u32, Vec<Edge>> = FxHashMap::default();
    for edge in edges {
        out.entry(edge.from).or_default().push(*edge);
    }
    let mut came: FxHashMap<u32, Option<Edge>> = FxHashMap::default();
    came.insert(from, None);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = Vec::new();
            let mut at = to;
            while let Some(Some(edge)) = came.get(&at) {
                path.push(*edge);
                at = edge.from;
            }
            path.reverse();
            return Some(path);
        }
        for edge in out.get(&node).into_iter().flatten() {
            came.entry(edge.to).or_insert_with(|| {
                queue.push_back(edge.to);
                Some(*edge)
            });
        }
    }
    None
}

/// Two chains of a key and what either order brings with it.
#[derive(Clone)]
struct Pair {
    key: Key,
    a: u32,
    b: u32,
    options: [Vec<Edge>; 2],
    decided: Option<bool>,
}

/// Which node reaches which.
#[derive(Clone)]
struct Closure {
    words: usize,
    rows: Vec<u64>,
}

impl Closure {
    fn new(size: usize) -> Closure {
        let words = size.div_ceil(64);
        Closure {
            words,
            rows: vec![0; words * size],
        }
    }

    fn size(&self) -> usize {
        self.rows.len().checked_div(self.words).unwrap_or(0)
    }

    fn reaches(&self, a: usize, b: usize) -> bool {
        self.rows[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    /// Whether the edge closes no cycle; then it is added.
    fn add(&mut self, a: usize, b: usize) -> bool {
        if a == b || self.reaches(b, a) {
            return false;
        }
        if self.reaches(a, b) {
            return true;
        }
        let mut below: Vec<u64> = self.rows[b * self.words..(b + 1) * self.words].to_vec();
        below[b / 64] |= 1 << (b % 64);
        for p in 0..self.size() {
            if p == a || self.reaches(p, a) {
                let row = &mut self.rows[p * self.words..(p + 1) * self.words];
                for (word, more) in row.iter_mut().zip(&below) {
                    *word |= more;
                }
            }
        }
        true
    }

    fn allows(&self, option: &[Edge], local: &FxHashMap<u32, usize>) -> bool {
        option.iter().all(|edge| {
            let (a, b) = (local[&edge.from], local[&edge.to]);
            a != b && !self.reaches(b, a)
        })
    }
}

enum Propagated {
    Open,
    /// Neither order of this pair is possible.
    Conflict(usize),
    OutOfSteps,
}

/// Decides every pair of which one order closes a cycle.
fn propagate(
    closure: &mut Closure,
    pairs: &mut [Pair],
    local: &FxHashMap<u32, usize>,
    edges: &mut Vec<Edge>,
    steps: &mut usize,
) -> Propagated {
    let mut changed = true;
    while changed {
        changed = false;
        for (at, pair) in pairs.iter_mut().enumerate() {
            if pair.decided.is_some() {
                continue;
            }
            if *steps == 0 {
                return Propagated::OutOfSteps;
            }
            *steps -= 1;
            let possible = [
                closure.allows(&pair.options[0], local),
                closure.allows(&pair.options[1], local),
            ];
            let forced = match possible {
                [true, true] => continue,
                [false, false] => return Propagated::Conflict(at),
                [first, _] => first,
            };
            pair.decided = Some(forced);
            let option = &pair.options[usize::from(!forced)];
            for edge in option {
                if !closure.add(local[&edge.from], local[&edge.to]) {
                    return Propagated::Conflict(at);
                }
            }
            edges.extend_from_slice(option);
            changed = true;
        }
    }
    Propagated::Open
}

enum Solved {
    Order(Vec<Pair>),
    None,
    OutOfSteps,
}

struct Solver<'s> {
    local: &'s FxHashMap<u32, usize>,
    steps: &'s mut usize,
}

impl Solver<'_> {
    fn solve(&mut self, closure: Closure, pairs: Vec<Pair>, depth: usize) -> Solved {
        if let Some(order) = self.complete(&closure, &pairs) {
            return Solved::Order(order);
        }
        let Some(at) = pairs.iter().position(|pair| pair.decided.is_none()) else {
            return Solved::None;
        };
        if depth > MAX_DEPTH {
            return Solved::OutOfSteps;
        }
        for first in [true, false] {
            let mut closure = closure.clone();
            let mut pairs = pairs.clone();
            pairs[at].decided = Some(first);
            let added = pairs[at].options[usize::from(!first)]
                .iter()
                .all(|edge| closure.add(self.local[&edge.from], self.local[&edge.to]));
            if !added {
                continue;
            }
            match propagate(
                &mut closure,
                &mut pairs,
                self.local,
                &mut Vec::new(),
                self.steps,
            ) {
                Propagated::Conflict(_) => continue,
                Propagated::OutOfSteps => return Solved::OutOfSteps,
                Propagated::Open => {}
            }
            match self.solve(closure, pairs, depth + 1) {
                Solved::None => {}
                other => return other,
            }
        }
        Solved::None
    }

    /// Tries the order of a topological sort for all open pairs.
    fn complete(&mut self, closure: &Closure, pairs: &[Pair]) -> Option<Vec<Pair>> {
        let size = closure.size();
        let before: Vec<usize> = (0..size)
            .map(|b| (0..size).filter(|&a| closure.reaches(a, b)).count())
            .collect();
        let mut closure = closure.clone();
        let mut pairs = pairs.to_vec();
        for pair in pairs.iter_mut().filter(|pair| pair.decided.is_none()) {
            let place = |option: &[Edge]| {
                option
                    .first()
                    .map_or(usize::MAX, |edge| before[self.local[&edge.to]])
            };
            // The order whose later writer has more before it.
            let first =
                place(&pair.options[0]) >= place(&pair.options[1]) || pair.options[1].is_empty();
            for first in [first, !first] {
                let option = &pair.options[usize::from(!first)];
                if closure.allows(option, self.local) {
                    pair.decided = Some(first);
                    break;
                }
            }
            let first = pair.decided?;
            for edge in &pair.options[usize::from(!first)] {
                if !closure.add(self.local[&edge.from], self.local[&edge.to]) {
                    return None;
                }
            }
        }
        Some(pairs)
    }
}

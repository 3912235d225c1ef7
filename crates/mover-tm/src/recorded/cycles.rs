//! Cycles of a dependency graph.
//!
//! Strongly connected components by Tarjan (1972), without recursion. A component that is not a single
//! node has a cycle; a short one is found by breadth-first searches from some of its nodes, and
//! edges that lead through nodes of time or fans are put together again.

use std::collections::VecDeque;

use super::Key;
use super::dependencies::{Edge, Graph, Kind};

/// More starting nodes are not tried when a short cycle is wanted.
const STARTS: usize = 200;

/// The strongly connected components with a cycle, and an order of the nodes that agrees with all edges
/// if there is none.
pub struct Components {
    pub cyclic: Vec<Vec<u32>>,
    /// By node: its place in a topological order of the components.
    pub rank: Vec<u32>,
}

pub fn components(graph: &Graph) -> Components {
    const NEW: u32 = u32::MAX;
    let nodes = graph.nodes;
    let mut index = vec![NEW; nodes];
    let mut low = vec![0u32; nodes];
    let mut on_stack = vec![false; nodes];
    let mut stack: Vec<u32> = Vec::new();
    let mut work: Vec<(u32, u32)> = Vec::new();
    let mut rank = vec![0u32; nodes];
    let mut cyclic = Vec::new();
    let mut count = 0;
    // Tarjan finishes components in reverse topological order.
    let mut finished = nodes as u32;
    for root in 0..nodes as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        work.push((root, 0));
        while let Some((node, next)) = work.pop() {
            let v = node as usize;
            if next == 0 {
                index[v] = count;
                low[v] = count;
                count += 1;
                stack.push(node);
                on_stack[v] = true;
            }
            let out = graph.out(node);
            let mut descended = false;
            for (at, edge) in out.iter().enumerate().skip(next as usize) {
                let w = edge.to as usize;
                if index[w] == NEW {
                    work.push((node, at as u32 + 1));
                    work.push((edge.to, 0));
                    descended = true;
                    break;
                }
                if on_stack[w] {
                    low[v] = low[v].min(index[w]);
                }
            }
            if descended {
                continue;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
            if low[v] == index[v] {
                let mut component = Vec::new();
                while let Some(w) = stack.pop() {
                    on_stack[w as usize] = false;
                    component.push(w);
                    if w == node {
                        break;
                    }
                }
                finished -= component.len() as u32;
                for &w in &component {
                    rank[w as usize] = finished;
                }
                if component.len() > 1 || out.iter().any(|edge| edge.to == node) {
                    cyclic.push(component);
                }
            }
        }
    }
    Components { cyclic, rank }
}

/// One dependency of a cycle between transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub key: Key,
}

/// A short cycle, by edges; the graph must have one.
pub fn shortest(graph: &Graph, components: &Components) -> Option<Vec<Edge>> {
    let component = components.cyclic.iter().min_by_key(|c| c.len())?;
    let mut inside = vec![false; graph.nodes];
    for &node in component {
        inside[node as usize] = true;
    }
    let mut came: Vec<Option<Edge>> = vec![None; graph.nodes];
    let mut starts: Vec<u32> = component
        .iter()
        .copied()
        .filter(|&node| graph.transaction(node).is_some())
        .collect();
    starts.sort_unstable();
    let stride = starts.len().div_ceil(STARTS).max(1);
    let mut best: Option<Vec<Edge>> = None;
    for start in starts.into_iter().step_by(stride) {
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        let found = cycle_from(graph, &inside, start, limit, &mut came);
        if let Some(found) = found {
            best = Some(found);
        }
    }
    best
}

/// A shortest cycle through a node, if it is shorter than the limit.
fn cycle_from(
    graph: &Graph,
    inside: &[bool],
    start: u32,
    limit: usize,
    came: &mut [Option<Edge>],
) -> Option<Vec<Edge>> {
    let mut touched = vec![start];
    let mut queue = VecDeque::from([(start, 0usize)]);
    let mut found = None;
    'search: while let Some((node, depth)) = queue.pop_front() {
        if depth + 1 >= limit {
            break;
        }
        for edge in graph.out(node) {
            if !inside[edge.to as usize] {
                continue;
            }
            if edge.to == start {
                let mut cycle = vec![*edge];
                let mut at = node;
                while at != start {
                    let Some(edge) = came[at as usize] else { break };
                    cycle.push(edge);
                    at = edge.from;
                }
                cycle.reverse();
                found = Some(cycle);
                break 'search;
            }
            if came[edge.to as usize].is_none() {
                came[edge.to as usize] = Some(*edge);
                touched.push(edge.to);
                queue.push_back((edge.to, depth + 1));
            }
        }
    }
    for node in touched {
        came[node as usize] = None;
    }
    found
}

/// A cycle in terms of transactions.
pub fn dependencies(graph: &Graph, cycle: &[Edge]) -> Vec<Dependency> {
    // Begin where a dependency begins.
    let begin = cycle
        .iter()
        .position(|edge| graph.transaction(edge.from).is_some() && edge.kind != Kind::Onwards)
        .unwrap_or(0);
    let mut found: Vec<Dependency> = Vec::new();
    let mut open: Option<(usize, Kind, Key)> = None;
    for edge in cycle[begin..].iter().chain(&cycle[..begin]) {
        if edge.kind == Kind::Own {
            continue;
        }
        let (from, kind, key) = match open.take() {
            Some(open) => open,
            None => match graph.transaction(edge.from) {
                Some(from) => (from, edge.kind, edge.key),
                None => continue,
            },
        };
        match graph.transaction(edge.to) {
            Some(to) => found.push(Dependency {
                from,
                to,
                kind,
                key,
            }),
            None => open = Some((from, kind, key)),
        }
    }
    found
}

//! Graph algorithms, also for control flow.
//!
//! Nodes are numbers from 0; edges keep the order in which they were given. Searches follow the
//! edges of a node in that order, without recursion, because templates can be long.
//!
//! - reachability: [`reachable`], [`reaches`];
//! - nodes on cycles: [`on_cycles`];
//! - orders: [`reverse_postorder`], in which a node comes before its successors except along
//!   edges that close a cycle;
//! - feedback sets: sets of nodes that contain at least one node of every cycle. A minimum
//!   feedback set is hard to compute (Karp 1972) and not needed. [`back_edge_targets`] is a
//!   feedback set: depth-first search meets every cycle at an edge back to a node that is still
//!   open; in the graphs of structured programs these are the loop heads. [`feedback_set`]
//!   prefers cheap nodes.

use std::ops::ControlFlow;

pub use fixedbitset::FixedBitSet;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use crate::program::Template;

pub type Graph = DiGraph<(), ()>;

/// The graph of so many nodes with these successors.
pub fn from_successors<S>(count: usize, successors: impl Fn(usize) -> S) -> Graph
where
    S: IntoIterator<Item = usize, IntoIter: DoubleEndedIterator>,
{
    let mut graph = Graph::with_capacity(count, count);
    for _ in 0..count {
        graph.add_node(());
    }
    for node in 0..count {
        // The library lists the edges of a node last first.
        for next in successors(node).into_iter().rev() {
            graph.add_edge(NodeIndex::new(node), NodeIndex::new(next), ());
        }
    }
    graph
}

/// The locations of a template and the edges between them.
pub fn control_flow(template: &Template) -> Graph {
    from_successors(template.locations.len(), |location| {
        let edges = template.locations[location].edges.iter();
        edges.map(|edge| edge.target.index())
    })
}

/// Adds a set to another; whether anything was new.
pub fn include(set: &mut FixedBitSet, other: &FixedBitSet) -> bool {
    let grows = !other.is_subset(set);
    if grows {
        set.union_with(other);
    }
    grows
}

/// The nodes that can be reached from these, themselves among them.
pub fn reachable(graph: &Graph, from: impl IntoIterator<Item = usize>) -> FixedBitSet {
    let mut search = Dfs::empty(graph);
    for root in from {
        search.move_to(NodeIndex::new(root));
        while search.next(graph).is_some() {}
    }
    search.discovered
}

/// For each node those that can be reached from it, itself among them.
pub fn reaches(graph: &Graph) -> Vec<FixedBitSet> {
    let count = graph.node_count();
    let mut reach = vec![FixedBitSet::new(); count];
    // Components come after those that can be reached from them.
    for component in kosaraju_scc(graph) {
        let mut reached = FixedBitSet::with_capacity(count);
        for &node in &component {
            reached.insert(node.index());
        }
        for &node in &component {
            for next in graph.neighbors(node) {
                reached.union_with(&reach[next.index()]);
            }
        }
        for node in component {
            reach[node.index()] = reached.clone();
        }
    }
    reach
}

/// The nodes that can be reached from themselves by at least one edge.
pub fn on_cycles(graph: &Graph) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.node_count());
    for component in kosaraju_scc(graph) {
        if component.len() > 1 || graph.contains_edge(component[0], component[0]) {
            found.extend(component.into_iter().map(NodeIndex::index));
        }
    }
    found
}

enum Event<'a> {
    /// An edge leads back to a node on the path; the path from there on.
    Back(&'a [usize]),
    /// All that is behind a node has been seen.
    Done(usize),
}

/// Depth-first search from these roots that enters no node of `closed`.
fn depth_first(
    graph: &Graph,
    roots: impl IntoIterator<Item = usize>,
    closed: &FixedBitSet,
    mut visit: impl FnMut(Event<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut seen = FixedBitSet::with_capacity(graph.node_count());
    let mut is_open = seen.clone();
    for root in roots {
        if seen.put(root) {
            continue;
        }
        is_open.insert(root);
        let edges = |node| graph.neighbors(NodeIndex::new(node)).detach();
        let mut path = vec![root];
        let mut rest = vec![edges(root)];
        while let (Some(&node), Some(more)) = (path.last(), rest.last_mut()) {
            let Some(next) = more.next_node(graph).map(NodeIndex::index) else {
                is_open.set(node, false);
                path.pop();
                rest.pop();
                visit(Event::Done(node))?;
                continue;
            };
            if closed.contains(next) {
                continue;
            }
            if is_open.contains(next) {
                let begin = path.iter().rposition(|&node| node == next).unwrap_or(0);
                visit(Event::Back(&path[begin..]))?;
            } else if !seen.put(next) {
                is_open.insert(next);
                path.push(next);
                rest.push(edges(next));
            }
        }
    }
    ControlFlow::Continue(())
}

/// The nodes that can be reached from these roots; every node comes before its successors, except
/// along edges that close a cycle.
pub fn reverse_postorder(graph: &Graph, roots: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut order = Vec::new();
    let _ = depth_first(graph, roots, &FixedBitSet::new(), |event| {
        if let Event::Done(node) = event {
            order.push(node);
        }
        ControlFlow::Continue(())
    });
    order.reverse();
    order
}

/// The nodes that depth-first search from a root comes back to.
pub fn back_edge_targets(graph: &Graph, root: usize) -> FixedBitSet {
    let mut targets = FixedBitSet::with_capacity(graph.node_count());
    let _ = depth_first(graph, [root], &FixedBitSet::new(), |event| {
        if let Event::Back(cycle) = event {
            targets.insert(cycle[0]);
        }
        ControlFlow::Continue(())
    });
    targets
}

/// Nodes that cut all cycles of a graph. Of the nodes on a cycle that was found the one for which
/// `cost` is least is taken; of equals the one where the search entered the cycle.
pub fn feedback_set(graph: &Graph, cost: impl Fn(usize) -> u32) -> FixedBitSet {
    let mut cut = FixedBitSet::with_capacity(graph.node_count());
    while let Some(node) = cheapest_on_a_cycle(graph, &cut, &cost) {
        cut.insert(node);
    }
    cut
}

/// The cheapest node of a cycle that no cut node is on.
fn cheapest_on_a_cycle(
    graph: &Graph,
    cut: &FixedBitSet,
    cost: impl Fn(usize) -> u32,
) -> Option<usize> {
    let mut found = None;
    let _ = depth_first(graph, 0..graph.node_count(), cut, |event| match event {
        Event::Back(cycle) => {
            found = cycle.iter().copied().min_by_key(|&node| cost(node));
            ControlFlow::Break(())
        }
        Event::Done(_) => ControlFlow::Continue(()),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(successors: &[Vec<usize>]) -> Graph {
        from_successors(successors.len(), |node| successors[node].clone())
    }

    #[test]
    fn every_cycle_is_cut_once_is_enough() {
        let looped = graph(&[vec![1], vec![2], vec![1, 3], vec![0, 3]]);
        let cut = feedback_set(&looped, |_| 1);
        assert!(cut.contains(3) && cut.count_ones(..) <= 3);
        // A cheaper node on the cycle is preferred.
        let ring = graph(&[vec![1], vec![2], vec![0]]);
        let cut = feedback_set(&ring, |node| 3 - node as u32);
        assert_eq!(cut.ones().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn searches_follow_the_order_of_edges() {
        let fork = graph(&[vec![1, 2], vec![3], vec![3], vec![]]);
        assert_eq!(reverse_postorder(&fork, [0]), [0, 2, 1, 3]);
        let diamond = graph(&[vec![2, 1], vec![2], vec![1]]);
        let targets = back_edge_targets(&diamond, 0);
        assert_eq!(targets.ones().collect::<Vec<_>>(), [2]);
    }

    /// The nodes reachable in at least one step, by Warshall's algorithm.
    fn closure(successors: &[Vec<usize>], removed: &FixedBitSet) -> Vec<Vec<bool>> {
        let count = successors.len();
        let stays = |node: usize| !removed.contains(node);
        let mut reach = vec![vec![false; count]; count];
        for (node, next) in successors.iter().enumerate() {
            for &next in next.iter().filter(|&&next| stays(next) && stays(node)) {
                reach[node][next] = true;
            }
        }
        for middle in 0..count {
            for from in 0..count {
                for to in 0..count {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        reach
    }

    fn successors() -> impl Strategy<Value = Vec<Vec<usize>>> {
        (1usize..9).prop_flat_map(|count| {
            let next = proptest::collection::vec(0..count, 0..3);
            proptest::collection::vec(next, count)
        })
    }

    proptest! {
        #[test]
        fn answers_are_those_of_the_transitive_closure(successors in successors()) {
            let graph = graph(&successors);
            let count = successors.len();
            let none = FixedBitSet::new();
            let expected = closure(&successors, &none);
            let reach = reaches(&graph);
            let cycles = on_cycles(&graph);
            for from in 0..count {
                prop_assert_eq!(cycles.contains(from), expected[from][from]);
                prop_assert_eq!(&reachable(&graph, [from]), &reach[from]);
                for (to, &comes) in expected[from].iter().enumerate() {
                    prop_assert_eq!(reach[from].contains(to), from == to || comes);
                }
            }
            let order = reverse_postorder(&graph, 0..count);
            let place = |node| order.iter().position(|&other| other == node);
            for (node, next) in successors.iter().enumerate() {
                for &next in next.iter().filter(|&&next| !expected[next][node]) {
                    prop_assert!(place(node) < place(next));
                }
            }
            let cut = feedback_set(&graph, |node| node as u32 % 3);
            let without = closure(&successors, &cut);
            prop_assert!((0..count).all(|node| !without[node][node]));
            let heads = back_edge_targets(&graph, 0);
            let without = closure(&successors, &heads);
            prop_assert!(reach[0].ones().all(|node| !without[node][node]));
        }
    }
}

//! Liveness: obstruction, livelock and wait freedom by searching for loops.
//!
//! Section 6: a memory ensures obstruction freedom iff its algorithm has no
//! loop with statements of one thread only, with an abort and no commit;
//! livelock freedom iff there is no loop without a commit in which every thread
//! that takes part aborts. Wait freedom the paper names but does not define by
//! a formula; ours is that a thread which aborts infinitely often also commits
//! infinitely often, so a violation is a loop with an abort of a thread and no
//! commit of it, whatever the others do. Each implies the one before it.
//!
//! Loops are over extended statements, as in Table 3, and the one found is as
//! short as any; the way to it is as short as any way to that loop.
//!
//! Two ways to make no progress have no place in the definition, which speaks
//! of infinite words: a thread that, left alone, is for ever answered
//! "pending", and a thread with a command that has no step at all because its
//! contention manager allows none (against rule 5 of Section 3). Both are reported as violations. A pending loop in
//! which the thread also has another step is not: the algorithm may take that.

use std::collections::VecDeque;

use hashbrown::HashMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxBuildHasher;

use crate::algorithm::{Answer, Transition};
use crate::graph::{AlgorithmGraph, GraphEdge};
use crate::property::Liveness;
use crate::word::Action;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// It aborts again and again.
    Aborting,
    /// It is answered "pending" for ever.
    Spinning,
    /// One of its commands has no step.
    Blocked,
}

/// An infinite run that violates a property: a way to a loop, and the loop.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub kind: Stuck,
    /// The threads that make no progress.
    pub threads: Vec<u8>,
    pub stem: Vec<Transition>,
    /// Empty if the thread is blocked.
    pub cycle: Vec<Transition>,
}

/// Edges that follow one another, each with the state that it leaves.
type Cycle = Vec<(u32, GraphEdge)>;

/// Searches an unreduced graph for a shortest lasso; none if the property holds.
pub fn find_lasso(graph: &AlgorithmGraph<'_>, property: Liveness) -> Option<Lasso> {
    let threads = graph.algorithm.threads();
    let mut best: Option<(Cycle, Vec<u8>)> = None;
    let mut consider = |found: Option<Cycle>, stuck: Vec<u8>| {
        if let Some(cycle) = found
            && best
                .as_ref()
                .is_none_or(|(known, _)| cycle.len() < known.len())
        {
            best = Some((cycle, stuck));
        }
    };
    match property {
        Liveness::ObstructionFreedom => {
            for thread in 0..threads as u8 {
                let only = |edge: &GraphEdge| edge.transition.thread == thread && !commits(edge);
                consider(shortest_cycle(graph, &only, 1 << thread), vec![thread]);
            }
        }
        Liveness::LivelockFreedom => {
            for group in 1u8..(1u16 << threads).min(256) as u8 {
                let within =
                    |edge: &GraphEdge| group >> edge.transition.thread & 1 == 1 && !commits(edge);
                let stuck = (0..threads as u8).filter(|t| group >> t & 1 == 1).collect();
                consider(shortest_cycle(graph, &within, group), stuck);
            }
        }
        Liveness::WaitFreedom => {
            for thread in 0..threads as u8 {
                let others = |edge: &GraphEdge| edge.transition.thread != thread || !commits(edge);
                consider(shortest_cycle(graph, &others, 1 << thread), vec![thread]);
            }
        }
    }
    match best {
        Some((cycle, stuck)) => Some(with_stem(graph, &cycle, Stuck::Aborting, stuck)),
        None => find_without_answer(graph),
    }
}

fn commits(edge: &GraphEdge) -> bool {
    matches!(edge.transition.statement, Some(s) if s.action == Action::Commit)
}

fn aborting_thread(edge: &GraphEdge) -> Option<u8> {
    (edge.transition.answer == Answer::Aborted).then_some(edge.transition.thread)
}

/// A shortest cycle of allowed edges in which each wanted thread aborts.
fn shortest_cycle(
    graph: &AlgorithmGraph<'_>,
    allowed: &dyn Fn(&GraphEdge) -> bool,
    wanted: u8,
) -> Option<Cycle> {
    let component = components(graph, allowed);
    let mut aborts = HashMap::<u32, u8, FxBuildHasher>::default();
    for state in 0..graph.states.len() as u32 {
        for edge in graph.edges(state).iter().filter(|edge| allowed(edge)) {
            if component[state as usize] == component[edge.target as usize]
                && let Some(thread) = aborting_thread(edge)
            {
                *aborts.entry(component[state as usize]).or_default() |= 1 << thread;
            }
        }
    }
    let promising = |state: u32| {
        aborts
            .get(&component[state as usize])
            .is_some_and(|a| a & wanted == wanted)
    };
    let first_wanted = wanted.trailing_zeros() as u8;
    let mut best: Option<Cycle> = None;
    for state in (0..graph.states.len() as u32).filter(|&state| promising(state)) {
        // Every such cycle has an abort of the first wanted thread: begin there.
        let begins = graph
            .edges(state)
            .iter()
            .any(|edge| allowed(edge) && aborting_thread(edge) == Some(first_wanted));
        if begins {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            if let Some(found) = cycle_from(graph, allowed, wanted, state, limit) {
                let shortest_possible = found.len() == wanted.count_ones() as usize;
                best = Some(found);
                if shortest_possible {
                    break;
                }
            }
        }
    }
    best
}

/// A shortest cycle through a state, shorter than the limit: breadth first over
/// pairs of a state and the wanted threads that have aborted on the way.
fn cycle_from(
    graph: &AlgorithmGraph<'_>,
    allowed: &dyn Fn(&GraphEdge) -> bool,
    wanted: u8,
    start: u32,
    limit: usize,
) -> Option<Cycle> {
    type Reached = (u32, u8);
    let mut came_from: HashMap<Reached, (Reached, GraphEdge), FxBuildHasher> = HashMap::default();
    let mut queue = VecDeque::from([((start, 0u8), 0usize)]);
    while let Some((at, depth)) = queue.pop_front() {
        if depth + 1 >= limit {
            return None;
        }
        for edge in graph.edges(at.0).iter().filter(|edge| allowed(edge)) {
            let aborted = aborting_thread(edge).map_or(0, |thread| 1 << thread) & wanted;
            let next = (edge.target, at.1 | aborted);
            if next == (start, wanted) {
                let mut cycle = vec![(at.0, *edge)];
                let mut back = at;
                while back != (start, 0) {
                    let (previous, edge) = came_from[&back];
                    cycle.push((previous.0, edge));
                    back = previous;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if next != (start, 0) && !came_from.contains_key(&next) {
                came_from.insert(next, (at, *edge));
                queue.push_back((next, depth + 1));
            }
        }
    }
    None
}

/// For each state the number of its strongly connected component.
fn components(graph: &AlgorithmGraph<'_>, allowed: &dyn Fn(&GraphEdge) -> bool) -> Vec<u32> {
    let count = graph.states.len();
    let mut steps: DiGraph<(), ()> = DiGraph::with_capacity(count, graph.edge_count());
    for _ in 0..count {
        steps.add_node(());
    }
    for state in 0..count as u32 {
        for edge in graph.edges(state).iter().filter(|edge| allowed(edge)) {
            steps.add_edge(state.into(), edge.target.into(), ());
        }
    }
    let mut component = vec![0; count];
    for (number, members) in kosaraju_scc(&steps).into_iter().enumerate() {
        for member in members {
            component[member.index()] = number as u32;
        }
    }
    component
}

/// A thread that is blocked, or that spins when left alone.
fn find_without_answer(graph: &AlgorithmGraph<'_>) -> Option<Lasso> {
    if let Some((state, thread)) = graph.blocked {
        return Some(Lasso {
            kind: Stuck::Blocked,
            threads: vec![thread],
            stem: way_to(graph, |s| s == state).0,
            cycle: Vec::new(),
        });
    }
    for thread in 0..graph.algorithm.threads() as u8 {
        // The only step of the thread in a state, if it is answered "pending".
        let mut forced: Vec<Option<GraphEdge>> = Vec::with_capacity(graph.states.len());
        for state in 0..graph.states.len() as u32 {
            let own: Vec<&GraphEdge> = graph
                .edges(state)
                .iter()
                .filter(|edge| edge.transition.thread == thread)
                .collect();
            match own[..] {
                [edge] if edge.transition.answer == Answer::Pending => forced.push(Some(*edge)),
                _ => forced.push(None),
            }
        }
        let mut visited = vec![0u32; forced.len()];
        for start in 0..forced.len() as u32 {
            let mark = start + 1;
            let mut at = start;
            while let Some(edge) = forced[at as usize] {
                if visited[at as usize] == mark {
                    let mut cycle = vec![(at, edge)];
                    let mut next = edge.target;
                    while next != at {
                        let Some(edge) = forced[next as usize] else {
                            break;
                        };
                        cycle.push((next, edge));
                        next = edge.target;
                    }
                    return Some(with_stem(graph, &cycle, Stuck::Spinning, vec![thread]));
                }
                if visited[at as usize] != 0 {
                    break;
                }
                visited[at as usize] = mark;
                at = edge.target;
            }
        }
    }
    None
}

/// Turns a cycle so that it begins at the state that is reached first.
fn with_stem(
    graph: &AlgorithmGraph<'_>,
    cycle: &[(u32, GraphEdge)],
    kind: Stuck,
    threads: Vec<u8>,
) -> Lasso {
    let (stem, entered) = way_to(graph, |state| cycle.iter().any(|(s, _)| *s == state));
    let turn = cycle
        .iter()
        .position(|(state, _)| Some(*state) == entered)
        .unwrap_or(0);
    let mut cycle: Vec<Transition> = cycle.iter().map(|(_, edge)| edge.transition).collect();
    cycle.rotate_left(turn);
    Lasso {
        kind,
        threads,
        stem,
        cycle,
    }
}

/// A shortest way from the initial state to a wanted one, and where it ends.
fn way_to(
    graph: &AlgorithmGraph<'_>,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Transition>, Option<u32>) {
    let mut came_from: Vec<Option<(u32, Transition)>> = vec![None; graph.states.len()];
    let mut queue = VecDeque::from([0u32]);
    while let Some(state) = queue.pop_front() {
        if wanted(state) {
            let mut way = Vec::new();
            let mut at = state;
            while at != 0 {
                let Some((previous, transition)) = came_from[at as usize] else {
                    break;
                };
                way.push(transition);
                at = previous;
            }
            way.reverse();
            return (way, Some(state));
        }
        for edge in graph.edges(state) {
            if edge.target != 0 && came_from[edge.target as usize].is_none() {
                came_from[edge.target as usize] = Some((state, edge.transition));
                queue.push_back(edge.target);
            }
        }
    }
    (Vec::new(), None)
}

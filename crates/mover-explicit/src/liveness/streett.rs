//! Cycles that treat threads strongly fairly: a thread that can move infinitely often does.
//!
//! For each thread this is a Streett condition, a pair of sets of which the second must be passed
//! infinitely often if the first is. Conditions of this form cannot be decided by collecting marks,
//! as those of weak fairness can. A component in which a thread can move but never does within the
//! component may still contain a fair cycle, which then avoids the states in which the thread can
//! move. So these states are taken away and the rest is searched again for components (Emerson and
//! Lei 1987). Each round takes states away, so this ends. The whole product is built first.

use mover_engine::{Control, Statistics};

use super::Found;
use super::lasso;
use super::product::{ACCEPTING, Marks, Pair, Product};

struct Node {
    /// The threads that can move.
    enabled: Marks,
    is_accepting: bool,
    edges: Vec<(u32, Marks)>,
}

pub fn search(
    product: &mut Product,
    control: &Control,
    progress: &mut dyn FnMut(&Statistics),
) -> Found {
    let start = product.initial();
    product.number(start);
    let mut nodes: Vec<Node> = Vec::new();
    while let Some(&pair) = product.pairs.get(nodes.len()) {
        let (cannot_move, successors) = product.expand(pair.state);
        if let Some(interruption) = product.interruption(control, progress) {
            return interruption;
        }
        let mut edges = Vec::new();
        for claim in product.claim_successors(pair) {
            for successor in &successors {
                let state = successor.state;
                let (target, _) = product.number(Pair { state, claim });
                edges.push((target, successor.marks));
            }
        }
        nodes.push(Node {
            enabled: product.wanted() & !ACCEPTING & !cannot_move,
            is_accepting: product.is_accepting(pair),
            edges,
        });
    }
    // Which search a node belongs to; 0 if it was taken away.
    let mut group = vec![1u32; nodes.len()];
    let mut groups = 1;
    let mut open: Vec<Vec<u32>> = vec![(0..nodes.len() as u32).collect()];
    while let Some(members) = open.pop() {
        for component in components(&nodes, &group, &members) {
            groups += 1;
            for &member in &component {
                group[member as usize] = groups;
            }
            let within = |target: u32| group[target as usize] == groups;
            let mut moved = 0;
            let mut has_edge = false;
            for node in component.iter().map(|&member| &nodes[member as usize]) {
                for &(target, marks) in &node.edges {
                    if within(target) {
                        moved |= marks;
                        has_edge = true;
                    }
                }
            }
            let members = component.iter().map(|&member| &nodes[member as usize]);
            let accepts = members.clone().any(|node| node.is_accepting);
            let enabled = members.fold(0, |all, node| all | node.enabled);
            if !has_edge || !accepts {
                continue;
            }
            let starved = enabled & !moved;
            if starved == 0 {
                return lasso::through_with(product, &component, moved | ACCEPTING);
            }
            let (rest, gone): (Vec<u32>, Vec<u32>) = (component.iter())
                .partition(|&&member| nodes[member as usize].enabled & starved == 0);
            for member in gone {
                group[member as usize] = 0;
            }
            open.push(rest);
        }
    }
    Found::Nothing
}

/// The strongly connected components among these nodes, which are of one group (Tarjan 1972).
fn components(nodes: &[Node], group: &[u32], members: &[u32]) -> Vec<Vec<u32>> {
    let Some(&first) = members.first() else {
        return Vec::new();
    };
    let own = group[first as usize];
    let mut numbers: Vec<u32> = vec![0; nodes.len()];
    let mut lowest: Vec<u32> = vec![0; nodes.len()];
    let mut is_open: Vec<bool> = vec![false; nodes.len()];
    let mut stack: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    let mut count = 0;
    for &root in members {
        if numbers[root as usize] != 0 {
            continue;
        }
        let mut frames: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some(&mut (node, ref mut next)) = frames.last_mut() {
            let at = node as usize;
            if *next == 0 {
                count += 1;
                numbers[at] = count;
                lowest[at] = count;
                is_open[at] = true;
                stack.push(node);
            }
            if let Some(&(target, _)) = nodes[at].edges.get(*next) {
                *next += 1;
                let to = target as usize;
                if group[to] != own {
                    continue;
                }
                if numbers[to] == 0 {
                    frames.push((target, 0));
                } else if is_open[to] {
                    lowest[at] = lowest[at].min(numbers[to]);
                }
                continue;
            }
            frames.pop();
            if let Some(&(before, _)) = frames.last() {
                let before = before as usize;
                lowest[before] = lowest[before].min(lowest[at]);
            }
            if lowest[at] == numbers[at] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    is_open[member as usize] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}

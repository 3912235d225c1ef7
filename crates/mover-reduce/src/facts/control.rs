//! Where control flow can go, and where loops can be cut.
//!
//! A *location feedback set* (Günther et al. 2017, Definition 2) has a location on every
//! loop. Finding the smallest is hard and not needed: depth-first search meets
//! every loop at an edge back to a node that is still open, and the targets of
//! such edges are a feedback set. For the graphs of structured programs these are
//! the loop heads.

use mover_ir::program::Template;

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bits(Vec<u64>);

impl Bits {
    pub fn new(size: usize) -> Self {
        Bits(vec![0; size.div_ceil(64)])
    }

    pub fn insert(&mut self, item: usize) {
        self.0[item / 64] |= 1 << (item % 64);
    }

    pub fn remove(&mut self, item: usize) {
        self.0[item / 64] &= !(1 << (item % 64));
    }

    pub fn contains(&self, item: usize) -> bool {
        self.0[item / 64] >> (item % 64) & 1 == 1
    }

    /// Adds another set; whether anything was new.
    pub fn join(&mut self, other: &Bits) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            grew |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        grew
    }
}

/// For each location those that a thread there can come to, itself among them.
pub fn reaches(template: &Template) -> Vec<Bits> {
    let count = template.locations.len();
    let mut reach: Vec<Bits> = (0..count)
        .map(|location| {
            let mut bits = Bits::new(count);
            bits.insert(location);
            bits
        })
        .collect();
    let mut grew = true;
    while grew {
        grew = false;
        for location in (0..count).rev() {
            for edge in &template.locations[location].edges {
                let target = reach[edge.target.index()].clone();
                grew |= reach[location].join(&target);
            }
        }
    }
    reach
}

/// Nodes that cut all cycles of a graph, given by its roots and successors. Of the
/// nodes on a cycle that was found the one for which `cost` is least is taken.
pub fn feedback_set(
    count: usize,
    roots: &[usize],
    successors: impl Fn(usize) -> Vec<usize>,
    cost: impl Fn(usize) -> u32,
) -> Vec<bool> {
    let mut cut = vec![false; count];
    while let Some(cycle) = find_cycle(count, roots, &successors, &cut) {
        // The first of equals: the head of the loop as the search met it.
        if let Some(&node) = cycle.iter().min_by_key(|&&node| cost(node)) {
            cut[node] = true;
        }
    }
    cut
}

/// A cycle that no cut node is on, from where the search entered it.
fn find_cycle(
    count: usize,
    roots: &[usize],
    successors: &impl Fn(usize) -> Vec<usize>,
    cut: &[bool],
) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; count];
    // A cut node is entered only from outside, so it begins a path and ends none.
    let starts = roots
        .iter()
        .copied()
        .chain((0..count).filter(|&node| cut[node]));
    for root in starts {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, successors(root))];
        while let Some((node, rest)) = stack.last_mut() {
            let Some(next) = rest.pop() else {
                marks[*node] = Mark::Done;
                stack.pop();
                continue;
            };
            if cut[next] {
                continue;
            }
            match marks[next] {
                Mark::Done => {}
                Mark::New => {
                    marks[next] = Mark::Open;
                    let after = successors(next);
                    stack.push((next, after));
                }
                Mark::Open => {
                    let path = stack.iter().map(|(node, _)| *node);
                    return Some(path.skip_while(|&node| node != next).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_is_cut_once_is_enough() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3 -> 0, 3 -> 3
        let edges = [vec![1], vec![2], vec![1, 3], vec![0, 3]];
        let cut = feedback_set(4, &[0], |node| edges[node].clone(), |_| 1);
        assert!(find_cycle(4, &[0], &|node: usize| edges[node].clone(), &cut).is_none());
        assert!(cut.iter().filter(|&&c| c).count() <= 3 && cut[3]);
        // A cheaper node on the cycle is preferred.
        let cut = feedback_set(3, &[0], |node| vec![(node + 1) % 3], |node| 3 - node as u32);
        assert_eq!(cut, [false, false, true]);
    }
}

//! Breadth-first search for a beginning of a run that the claim forbids however it goes on.

use std::collections::VecDeque;

use mover_engine::{Control, Statistics};

use super::Found;
use super::lasso::steps_along;
use super::product::{Pair, Product, Successor};

pub fn search(
    product: &mut Product,
    control: &Control,
    progress: &mut dyn FnMut(&Statistics),
) -> Found {
    let start = product.initial();
    product.number(start);
    // How each pair was first reached.
    let mut reached_by: Vec<Option<(u32, Successor)>> = vec![None];
    let mut queue = VecDeque::from([(0, 0)]);
    while let Some((number, depth)) = queue.pop_front() {
        product.depth = depth;
        let pair = product.pairs[number as usize];
        let (_, successors) = product.expand(pair.state);
        if let Some(interruption) = product.interruption(control, progress) {
            return interruption;
        }
        for claim in product.claim_successors(pair) {
            if product.automaton.accepts_all(claim as usize) {
                // What the program has done so far is enough.
                let mut path = Vec::new();
                let mut here = number;
                while let Some((before, by)) = reached_by[here as usize] {
                    path.push((product.pairs[before as usize].state, by));
                    here = before;
                }
                path.reverse();
                return Found::Prefix(steps_along(product, &path));
            }
            for &successor in &successors {
                let target = Pair {
                    state: successor.state,
                    claim,
                };
                let (target, is_new) = product.number(target);
                if is_new {
                    reached_by.push(Some((number, successor)));
                    queue.push_back((target, depth + 1));
                }
            }
        }
    }
    Found::Nothing
}

//! Strongly connected components of the product, on the fly, after Couvreur (1999).
//!
//! A depth-first search keeps the components of what it has seen so far: a stack of roots, each
//! with the marks of its component. An edge back to a state that is not finished merges the
//! components from there on. As soon as a component has all marks it contains a cycle that is
//! wanted. Pairs are numbered in the order in which they are found.

use mover_engine::{Control, Statistics};

use super::Found;
use super::lasso;
use super::product::{ACCEPTING, Marks, Pair, Product};

/// A component that is not finished.
struct Root {
    /// Its first pair.
    number: u32,
    marks: Marks,
    /// The marks of the edge that led to it.
    entered_by: Marks,
}

/// A pair that is being expanded; its edges lie on a common stack.
struct Frame {
    number: u32,
    first: usize,
}

struct Edge {
    target: Pair,
    marks: Marks,
}

pub fn search(
    product: &mut Product,
    control: &Control,
    progress: &mut dyn FnMut(&Statistics),
) -> Found {
    let wanted = product.wanted();
    let mut roots: Vec<Root> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    // Pairs of components that are not finished, and whether a pair's component is finished.
    let mut active: Vec<u32> = Vec::new();
    let mut is_finished: Vec<bool> = Vec::new();
    // Whether a pair is being expanded.
    let mut on_stack: Vec<bool> = Vec::new();
    let mut next = Some((product.initial(), 0));
    loop {
        if let Some((pair, entered_by)) = next.take() {
            let (number, _) = product.number(pair);
            let first = edges.len();
            on_stack.push(true);
            // A local step that closes a cycle would let it ignore the other threads.
            let local = product.expand_locally(pair.state).filter(|successors| {
                let is_on_stack = |state, claim| {
                    let known = product.known(Pair { state, claim });
                    known.is_some_and(|number| on_stack[number as usize])
                };
                let mut claims = product.claim_successors(pair);
                !claims.any(|claim| {
                    let mut states = successors.iter().map(|successor| successor.state);
                    states.any(|state| is_on_stack(state, claim))
                })
            });
            let (mut marks, successors) = match local {
                Some(successors) => {
                    product.note_local(&successors);
                    (0, successors)
                }
                None => product.expand(pair.state),
            };
            if let Some(interruption) = product.interruption(control, progress) {
                return interruption;
            }
            if product.is_accepting(pair) {
                marks |= ACCEPTING;
            }
            for claim in product.claim_successors(pair) {
                let targets = successors.iter().map(|successor| Edge {
                    target: Pair {
                        state: successor.state,
                        claim,
                    },
                    marks: successor.marks,
                });
                edges.extend(targets);
            }
            roots.push(Root {
                number,
                marks,
                entered_by,
            });
            frames.push(Frame { number, first });
            active.push(number);
            is_finished.push(false);
            product.depth = product.depth.max(frames.len() as u64);
        }
        let Some(frame) = frames.last() else {
            return Found::Nothing;
        };
        if edges.len() > frame.first
            && let Some(Edge { target, marks }) = edges.pop()
        {
            let Some(number) = product.known(target) else {
                next = Some((target, marks));
                continue;
            };
            if is_finished[number as usize] {
                continue;
            }
            let mut merged = marks;
            while let Some(root) = roots.pop_if(|root| root.number > number) {
                merged |= root.marks | root.entered_by;
            }
            let Some(root) = roots.last_mut() else {
                continue;
            };
            root.marks |= merged;
            if root.marks & wanted == wanted {
                let first = root.number;
                let members = active.iter().copied().filter(|&number| number >= first);
                let members: Vec<u32> = members.collect();
                return lasso::through(product, &members);
            }
            continue;
        }
        let number = frame.number;
        on_stack[number as usize] = false;
        frames.pop();
        if roots.pop_if(|root| root.number == number).is_some() {
            while let Some(member) = active.pop_if(|&mut member| member >= number) {
                is_finished[member as usize] = true;
            }
        }
    }
}

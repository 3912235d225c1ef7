//! A run through a component: a shortest way to it, and a loop in it that has all marks.

use mover_ir::semantics::Step;
use rustc_hash::{FxHashMap, FxHashSet};

use super::product::{ACCEPTING, Marks, Pair, Product, Successor};
use super::{Fairness, Found};

/// A step of a path: the state it starts in, and where it leads.
type PathStep = (u32, Successor);

/// A run into the component with these pairs, by number, and around in it for ever.
pub fn through(product: &mut Product, members: &[u32]) -> Found {
    let wanted = product.wanted();
    through_with(product, members, wanted)
}

/// The same with a loop that has these marks.
pub fn through_with(product: &mut Product, members: &[u32], wanted: Marks) -> Found {
    let pairs: FxHashSet<Pair> = members
        .iter()
        .map(|&number| product.pairs[number as usize])
        .collect();
    let start = product.initial();
    let into = Goal::AnyOf(&pairs);
    let way_in = if pairs.contains(&start) {
        Some((Vec::new(), start))
    } else {
        shortest(product, start, None, &into)
    };
    let Some((stem, entry)) = way_in else {
        return Found::Refused("the way to a cycle was lost".into());
    };
    let around =
        |product: &mut Product, from, goal: &Goal| shortest(product, from, Some(&pairs), goal);
    let mut cycle: Vec<PathStep> = Vec::new();
    let mut here = entry;
    let mut missing = wanted & !marks_of(product, here);
    while missing != 0 {
        let Some((path, end)) = around(product, here, &Goal::Marked(missing)) else {
            return Found::Refused("a cycle was lost".into());
        };
        for (_, successor) in &path {
            missing &= !successor.marks;
        }
        missing &= !marks_of(product, end);
        cycle.extend(path);
        here = end;
    }
    if here != entry || cycle.is_empty() {
        match around(product, here, &Goal::At(entry)) {
            Some((path, _)) => cycle.extend(path),
            None => return Found::Refused("the way around a cycle was lost".into()),
        }
    }
    let mut steps = steps_along(product, &stem);
    let loop_start = steps.len();
    steps.extend(steps_along(product, &cycle));
    Found::Lasso { steps, loop_start }
}

fn marks_of(product: &mut Product, pair: Pair) -> Marks {
    let accepting = if product.is_accepting(pair) {
        ACCEPTING
    } else {
        0
    };
    if product.fairness == Fairness::Strong {
        // That a thread cannot move somewhere does not excuse that it does not move elsewhere.
        return accepting;
    }
    product.expand(pair.state).0 | accepting
}

/// Where a path is to end.
enum Goal<'a> {
    /// At one of these pairs.
    AnyOf(&'a FxHashSet<Pair>),
    At(Pair),
    /// After a step or at a pair that has one of these marks.
    Marked(Marks),
}

impl Goal<'_> {
    fn is_met(&self, product: &mut Product, step: Successor, target: Pair) -> bool {
        match *self {
            Goal::AnyOf(pairs) => pairs.contains(&target),
            Goal::At(pair) => target == pair,
            Goal::Marked(marks) => {
                step.marks & marks != 0 || marks_of(product, target) & marks != 0
            }
        }
    }
}

/// A shortest path of at least one step, through these pairs if they are given.
fn shortest(
    product: &mut Product,
    from: Pair,
    within: Option<&FxHashSet<Pair>>,
    goal: &Goal,
) -> Option<(Vec<PathStep>, Pair)> {
    let mut reached_by: FxHashMap<Pair, (Pair, Successor)> = FxHashMap::default();
    let mut level = vec![from];
    while !level.is_empty() {
        let mut next = Vec::new();
        for pair in level {
            let (_, successors) = product.expand(pair.state);
            for claim in product.claim_successors(pair) {
                for &successor in &successors {
                    let target = Pair {
                        state: successor.state,
                        claim,
                    };
                    if within.is_some_and(|pairs| !pairs.contains(&target)) {
                        continue;
                    }
                    if goal.is_met(product, successor, target) {
                        let mut path = vec![(pair.state, successor)];
                        let mut here = pair;
                        while here != from {
                            let (before, by) = reached_by[&here];
                            path.push((before.state, by));
                            here = before;
                        }
                        path.reverse();
                        return Some((path, target));
                    }
                    if target != from && !reached_by.contains_key(&target) {
                        reached_by.insert(target, (pair, successor));
                        next.push(target);
                    }
                }
            }
        }
        level = next;
    }
    None
}

/// The steps of the program along a path.
pub fn steps_along(product: &mut Product, path: &[PathStep]) -> Vec<Step> {
    (path.iter())
        .flat_map(|&(state, successor)| product.steps_to(state, successor))
        .collect()
}

//! The simple part of an invariant, all at once.
//!
//! After Flanagan and Leino (2001), *Houdini, an Annotation Assistant*: begin with many candidate
//! clauses and drop those that the start or a step from a state in which all others hold breaks,
//! until none is broken. What is left is the largest set of candidates that is inductive.
//!
//! Candidates are: a literal holds everywhere; it holds where a thread stands at a place; of two
//! literals about shared memory one holds; two threads of a view are not at two places at once.
//! That is what most programs need. For the rest the search begins with these facts.

use mover_engine::Control;

use super::search::{Cube, Relation};
use super::views::{Observable, Views};
use crate::sat::{Answer, Lit};

/// Pairs of literals about shared memory, at most.
const MOST_PAIRS: usize = 4_000;
/// Candidates of one kind, at most.
const MOST_PLACED: usize = 60_000;

/// The candidates, as cubes to be excluded, that hold at the start.
fn candidates(views: &Views, initial: &[bool]) -> Vec<Cube> {
    let mut places = Vec::new();
    let mut others = Vec::new();
    let mut shared = Vec::new();
    for (number, observable) in views.observables.iter().enumerate() {
        if views.is_wide(number) {
            continue;
        }
        match observable {
            Observable::At { place, .. } => {
                if *place > 0 {
                    places.push(number);
                }
            }
            Observable::Turn { .. } => others.push(number),
            _ => others.push(number),
        }
        if views.is_shared(number) {
            shared.push(number);
        }
    }
    let mut all: Vec<Cube> = Vec::new();
    for &number in places.iter().chain(&others) {
        all.push(vec![(number, !initial[number])]);
    }
    for &place in &places {
        for &other in &others {
            if all.len() < MOST_PLACED && views.may_meet(place, other) {
                for value in [false, true] {
                    all.push(vec![(place, true), (other, value)]);
                }
            }
        }
        for &other in &places {
            if place < other && views.position(place) != views.position(other) {
                all.push(vec![(place, true), (other, true)]);
            }
        }
    }
    let mut pairs = 0;
    for (index, &one) in shared.iter().enumerate() {
        for &other in &shared[index + 1..] {
            for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
                if pairs < MOST_PAIRS {
                    pairs += 1;
                    all.push(vec![(one, a), (other, b)]);
                }
            }
        }
    }
    for cube in &mut all {
        cube.sort_unstable();
    }
    all.retain(|cube| !cube.iter().all(|&(number, value)| initial[number] == value));
    all.sort_unstable();
    all.dedup();
    all
}

struct Candidate {
    cube: Cube,
    /// Assumed: it holds now.
    holds: Lit,
    /// Implies that it is broken next, in one of the views.
    broken: Vec<Lit>,
}

/// Cubes that no view is in; those found so far to be inductive if a limit was reached are none.
pub fn simple_invariant(
    views: &Views,
    mut relation: Relation,
    initial: &[bool],
    limit: &Control,
) -> Vec<Cube> {
    let mut left: Vec<Candidate> = Vec::new();
    for cube in candidates(views, initial) {
        let holds = relation.blaster.solver.new_lit();
        for lits in &relation.now {
            let mut clause = vec![!holds];
            clause.extend(cube.iter().map(|&(n, value)| if value { !lits[n] } else { lits[n] }));
            relation.blaster.solver.add(&clause);
        }
        let mut broken = Vec::new();
        for lits in &relation.next {
            let it = relation.blaster.solver.new_lit();
            for &(n, value) in &cube {
                let lit = if value { lits[n] } else { !lits[n] };
                relation.blaster.solver.add(&[!it, lit]);
            }
            broken.push(it);
        }
        left.push(Candidate {
            cube,
            holds,
            broken,
        });
    }
    loop {
        if limit.is_over() {
            return Vec::new();
        }
        let solver = &mut relation.blaster.solver;
        let switch = solver.new_lit();
        let mut some = vec![!switch];
        let mut assumptions = vec![switch, relation.possible];
        for candidate in &left {
            assumptions.push(candidate.holds);
            some.extend(&candidate.broken);
        }
        solver.add(&some);
        match solver.solve(&assumptions) {
            Answer::Unsat => return left.into_iter().map(|candidate| candidate.cube).collect(),
            Answer::Stopped => return Vec::new(),
            Answer::Sat => {}
        }
        let relation_ = &relation;
        let is_kept = |candidate: &Candidate| {
            relation_.next.iter().all(|lits| {
                !candidate.cube.iter().all(|&(n, value)| {
                    relation_.blaster.solver.value(lits[n]) == value
                })
            })
        };
        left.retain(is_kept);
        relation.blaster.solver.add(&[!switch]);
    }
}

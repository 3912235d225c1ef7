//! The simple part of an invariant, all at once.
//!
//! After Flanagan and Leino (2001), *Houdini, an Annotation Assistant*: begin with many candidate
//! clauses and drop those that the start or a step from a state in which all others hold breaks,
//! until none is broken. What is left is the largest set of candidates that is inductive.
//!
//! Candidates are: a literal holds everywhere; it holds where a thread stands at a place; of two
//! literals about shared memory one holds; two threads of a view are not at two places at once.
//! That is what most programs need. For the rest the search begins with these facts. A candidate
//! that the solver cannot decide soon is dropped, too, and so is one that fails in a state that is
//! known to be reachable ([`super::samples`]).

use mover_engine::Control;

use super::search::{Cube, Relation};
use super::views::{Observable, Views};
use crate::sat::{Answer, Lit};

/// Pairs of literals about shared memory, at most.
const MOST_PAIRS: usize = 4_000;
/// Candidates of one kind, at most.
const MOST_PLACED: usize = 60_000;

/// Conflicts of the solver after which candidates are looked at one by one, and for each of them.
const PATIENCE: u64 = 1_000;
const PATIENCE_EACH: u64 = 100;

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
            // Where a fixed thread stands matters rarely to a created one.
            Observable::Shared { .. } if !views.is_shared(number) => {}
            Observable::Comparison {
                who: super::views::Who::Fixed(_),
                ..
            } => {}
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

/// Cubes that no view is in; none if a limit was reached.
pub fn simple_invariant(
    views: &Views,
    mut relation: Relation,
    initial: &[bool],
    samples: &[Vec<bool>],
    limit: &Control,
) -> Vec<Cube> {
    let mut left: Vec<Candidate> = Vec::new();
    for cube in candidates(views, initial) {
        let is_in = |sample: &Vec<bool>| cube.iter().all(|&(n, value)| sample[n] == value);
        if samples.iter().any(is_in) {
            continue;
        }
        let holds = relation.blaster.solver.new_lit();
        for lits in &relation.now {
            let mut clause = vec![!holds];
            clause.extend(
                cube.iter()
                    .map(|&(n, value)| if value { !lits[n] } else { lits[n] }),
            );
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
        let answer = solver.solve_within(PATIENCE, &assumptions);
        match answer {
            Answer::Unsat => return left.into_iter().map(|candidate| candidate.cube).collect(),
            Answer::Sat => drop_broken(&relation, &mut left),
            Answer::Stopped => {}
        }
        relation.blaster.solver.add(&[!switch]);
        if answer == Answer::Stopped && !one_by_one(&mut relation, &mut left, limit) {
            return left.into_iter().map(|candidate| candidate.cube).collect();
        }
    }
}

/// Drops what the step that the solver found breaks.
fn drop_broken(relation: &Relation, left: &mut Vec<Candidate>) {
    let solver = &relation.blaster.solver;
    left.retain(|candidate| {
        relation.next.iter().all(|lits| {
            let mut cube = candidate.cube.iter();
            !cube.all(|&(n, value)| solver.value(lits[n]) == value)
        })
    });
}

/// Asks for each candidate alone and drops it also if that is too hard. Whether any was dropped.
fn one_by_one(relation: &mut Relation, left: &mut Vec<Candidate>, limit: &Control) -> bool {
    let mut changed = false;
    let mut number = 0;
    while number < left.len() {
        let mut assumptions = vec![relation.possible];
        assumptions.extend(left.iter().map(|candidate| candidate.holds));
        let mut keeps = true;
        for &broken in &left[number].broken.clone() {
            assumptions.push(broken);
            let answer = relation
                .blaster
                .solver
                .solve_within(PATIENCE_EACH, &assumptions);
            assumptions.pop();
            match answer {
                Answer::Unsat => {}
                Answer::Sat => {
                    drop_broken(relation, left);
                    (keeps, changed) = (false, true);
                    break;
                }
                Answer::Stopped => {
                    left.remove(number);
                    (keeps, changed) = (false, true);
                    break;
                }
            }
        }
        if limit.is_over() {
            left.clear();
            return false;
        }
        if keeps {
            number += 1;
        }
    }
    changed
}

/// Those of the cubes that the proof needs: what excludes bad states, what keeps that, and so on.
pub fn needed(mut relation: Relation, cubes: Vec<Cube>) -> Vec<Cube> {
    let holds: Vec<Lit> = cubes
        .iter()
        .map(|cube| {
            let holds = relation.blaster.solver.new_lit();
            for lits in &relation.now {
                let mut clause = vec![!holds];
                clause.extend(
                    cube.iter()
                        .map(|&(n, v)| if v { !lits[n] } else { lits[n] }),
                );
                relation.blaster.solver.add(&clause);
            }
            holds
        })
        .collect();
    let mut is_needed = vec![false; cubes.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut questions = vec![vec![relation.bad]];
    loop {
        for question in std::mem::take(&mut questions) {
            let mut assumptions = question;
            assumptions.extend(&holds);
            if relation.blaster.solver.solve(&assumptions) != Answer::Unsat {
                return cubes;
            }
            for (number, &lit) in holds.iter().enumerate() {
                if !is_needed[number] && relation.blaster.solver.in_core(lit) {
                    is_needed[number] = true;
                    open.push(number);
                }
            }
        }
        let Some(number) = open.pop() else {
            break;
        };
        for lits in &relation.next {
            let mut question = vec![relation.possible];
            let cube = cubes[number].iter();
            question.extend(cube.map(|&(n, value)| if value { lits[n] } else { !lits[n] }));
            questions.push(question);
        }
    }
    let kept = cubes.into_iter().zip(is_needed);
    kept.filter(|(_, needed)| *needed)
        .map(|(cube, _)| cube)
        .collect()
}

//! An upper bound on the number of threads.
//!
//! The limit of the language is generous (255 processes in Promela), but most programs start a
//! handful. Each template is run by its initial instances and by one more thread for each
//! `spawn` of it; a spawn on a cycle, or in a template that can directly or indirectly spawn
//! itself, has no bound of its own. A new thread gets the lowest free number, so the bound also
//! limits the thread numbers.

use mover_ir::program::{Effect, Program, Template};

/// Upper bound on the number of threads, at most the program's limit.
pub fn most_threads(program: &Program) -> u32 {
    match starts(program) {
        Some(started) => {
            let all: u64 = started.iter().sum();
            all.min(u64::from(program.max_threads)) as u32
        }
        None => program.max_threads,
    }
}

/// By template: how many threads run it in the course of a run, or some number greater than 1 if
/// that is not known; none if templates start each other in a cycle.
pub fn starts(program: &Program) -> Option<Vec<u64>> {
    let limit = u64::from(program.max_threads.max(2));
    let mut started: Vec<u64> = vec![0; program.templates.len()];
    for instance in &program.initial {
        started[instance.template.index()] += 1;
    }
    let spawns: Vec<(usize, usize, bool)> = program
        .templates
        .iter()
        .enumerate()
        .flat_map(|(number, body)| {
            let of_body = spawns_of(body).into_iter();
            of_body.map(move |(spawned, repeats)| (number, spawned, repeats))
        })
        .collect();
    let at_start = started.clone();
    // Without a cycle among the templates this many iterations are enough.
    for _ in 0..=program.templates.len() {
        let mut next = at_start.clone();
        for &(by, spawned, repeats) in &spawns {
            let times = match (started[by], repeats) {
                (0, _) => 0,
                (_, true) => limit,
                (count, false) => count,
            };
            next[spawned] = (next[spawned] + times).min(limit);
        }
        if next == started {
            return Some(started);
        }
        started = next;
    }
    None
}

/// The templates that a template spawns, one entry per edge, with whether the edge can be taken
/// repeatedly.
fn spawns_of(body: &Template) -> Vec<(usize, bool)> {
    let mut spawns = Vec::new();
    for (location, here) in body.locations.iter().enumerate() {
        for edge in &here.edges {
            for effect in &edge.effects {
                if let Effect::Spawn { template, .. } = effect {
                    let repeats = reaches(body, edge.target.index(), location);
                    spawns.push((template.index(), repeats));
                }
            }
        }
    }
    spawns
}

fn reaches(body: &Template, from: usize, to: usize) -> bool {
    let mut seen = vec![false; body.locations.len()];
    let mut work = vec![from];
    while let Some(location) = work.pop() {
        if location == to {
            return true;
        }
        if !std::mem::replace(&mut seen[location], true) {
            let edges = &body.locations[location].edges;
            work.extend(edges.iter().map(|edge| edge.target.index()));
        }
    }
    false
}

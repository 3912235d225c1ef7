//! Why an edge moves or does not, for people.
//!
//! The facts that the reduction uses, put beside the source: for each shared
//! object how it is protected and where it is not, for each statement its class
//! and the objects that decide it.

use std::collections::BTreeSet;

use mover_ir::program::Program;

use crate::access::{EdgeRef, Object};
use crate::movers::{Movers, Protection, in_hand};

/// What is known of one shared object.
pub struct ObjectFacts {
    pub name: String,
    /// `lock`, `one-thread`, `never-written`, `protected`, `unprotected`.
    pub kind: &'static str,
    /// The lock that protects it, or the one that comes closest.
    pub lock: Option<String>,
    pub accesses: usize,
    /// Accesses with that lock in hand.
    pub with_lock: usize,
    /// Lines of the accesses without it.
    pub lines_without: Vec<usize>,
}

/// What is known of one statement.
pub struct StatementFacts {
    pub file: String,
    pub line: usize,
    pub thread: String,
    pub text: String,
    /// `both mover`, `right mover`, `left mover`, `non-mover`.
    pub class: &'static str,
    /// The shared objects it touches and what they are.
    pub reasons: Vec<String>,
}

pub struct Explanation {
    pub objects: Vec<ObjectFacts>,
    pub statements: Vec<StatementFacts>,
}

pub fn explain(movers: &Movers) -> Explanation {
    let program = &movers.fused.program;
    Explanation {
        objects: movers
            .protection
            .iter()
            .map(|(&object, protection)| object_facts(movers, object, protection))
            .collect(),
        statements: movers
            .table
            .iter()
            .filter_map(|(edge, _)| statement_facts(program, movers, edge))
            .collect(),
    }
}

fn line_of(program: &Program, edge: EdgeRef) -> Option<usize> {
    let span = edge.of(program).span?;
    Some(program.sources.locate(span).line)
}

fn object_facts(movers: &Movers, object: Object, protection: &Protection) -> ObjectFacts {
    let program = &movers.fused.program;
    let edges: Vec<EdgeRef> = movers
        .table
        .iter()
        .filter(|(_, accesses)| accesses.contains_key(&object))
        .map(|(edge, _)| edge)
        .collect();
    let holds = |edge: EdgeRef, lock: Object| in_hand(&movers.locks, edge).contains(&lock);
    let count = |lock: Object| edges.iter().filter(|&&edge| holds(edge, lock)).count();
    let lock = match protection {
        Protection::By(lock) => Some(*lock),
        Protection::Unprotected => movers
            .locks
            .locks
            .iter()
            .copied()
            .max_by_key(|&lock| count(lock))
            .filter(|&lock| count(lock) > 0),
        _ => None,
    };
    let without: BTreeSet<usize> = edges
        .iter()
        .filter(|&&edge| !lock.is_some_and(|lock| holds(edge, lock)))
        .filter_map(|&edge| line_of(program, edge))
        .collect();
    ObjectFacts {
        name: object.name(program),
        kind: match protection {
            Protection::Lock => "lock",
            Protection::OneThread => "one-thread",
            Protection::NeverWritten => "never-written",
            Protection::By(_) => "protected",
            Protection::Unprotected => "unprotected",
        },
        lock: lock.map(|lock| lock.name(program)),
        accesses: edges.len(),
        with_lock: lock.map_or(0, count),
        lines_without: without.into_iter().collect(),
    }
}

fn statement_facts(program: &Program, movers: &Movers, at: EdgeRef) -> Option<StatementFacts> {
    let edge = at.of(program);
    let template = &program.templates[at.template];
    if template.location(edge.target).error.is_some() {
        return None;
    }
    let place = program.sources.locate(edge.span?);
    let mover = movers.edges[at.template][at.location][at.edge];
    let mut reasons = Vec::new();
    for lock in movers.locks.takes(at) {
        reasons.push(format!("takes {}", lock.name(program)));
    }
    for lock in movers.locks.gives_back(at) {
        reasons.push(format!("gives {} back", lock.name(program)));
    }
    for object in movers.table.of(at).keys() {
        let name = object.name(program);
        reasons.push(match &movers.protection[object] {
            Protection::Lock => continue,
            Protection::OneThread => format!("{name}: one thread only"),
            Protection::NeverWritten => format!("{name}: never written"),
            Protection::By(lock) => format!("{name}: protected by {}", lock.name(program)),
            Protection::Unprotected => format!("{name}: not protected"),
        });
    }
    if movers.meets[at.template][at.location] {
        reasons.push("leaves a place where a rendezvous is offered".into());
    }
    if reasons.is_empty() {
        reasons.push("touches nothing shared".into());
    }
    Some(StatementFacts {
        file: place.file.to_string(),
        line: place.line,
        thread: template.name.clone(),
        text: edge.text.clone(),
        class: match (mover.left, mover.right) {
            (true, true) => "both mover",
            (false, true) => "right mover",
            (true, false) => "left mover",
            (false, false) => "non-mover",
        },
        reasons,
    })
}

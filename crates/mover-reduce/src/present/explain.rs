//! Explains why an edge is a mover or not.
//!
//! The facts that the reduction uses are shown next to the source: for each shared object how
//! it is protected and where it is not, for each statement its class and the objects that
//! determine it, and the resulting transactions.

use std::collections::BTreeSet;

use mover_ir::print::print_expr;
use mover_ir::program::Program;

use crate::facts::access::{EdgeRef, Object};
use crate::facts::lock_rows::{LockPlace, LockRows, without_resize};
use crate::facts::locks::LockSet;
use crate::facts::owners::Owners;
use crate::facts::rw_locks::Mode;
use crate::facts::single_threaded_prefix::Alone;
use crate::plan::movers::{Movers, Protection};
use crate::plan::transactions::{Classes, Transaction};
use crate::present::holding::{AccessShares, MutexFacts, access_shares, mutexes};

/// Facts about one shared object.
pub struct ObjectFacts {
    pub name: String,
    /// `lock`, `one-thread`, `never-written`, `protected`, `unprotected`.
    pub kind: &'static str,
    /// The lock that protects it, or the one that protects most accesses.
    pub lock: Option<String>,
    pub accesses: usize,
    /// Number of accesses while holding that lock.
    pub with_lock: usize,
    /// Lines of the accesses without it.
    pub lines_without: Vec<usize>,
    /// Of an object that is not protected, but accessed with a lock somewhere: the accesses by
    /// several threads without it. With the lock there, the object would be protected.
    pub missing: Vec<Unlocked>,
    /// What protects the fields of objects that are reached through pointers and have a lock inside.
    pub fields: Option<String>,
}

/// An access without the lock that protects other accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Unlocked {
    pub line: usize,
    pub writes: bool,
    pub thread: String,
}

/// Facts about one statement.
pub struct StatementFacts {
    pub file: String,
    pub line: usize,
    pub thread: String,
    pub text: String,
    /// `both mover`, `right mover`, `left mover`, `non-mover`.
    pub class: &'static str,
    /// Whether it is the commit point of a transaction.
    pub commits: bool,
    /// The shared objects it accesses and their protection.
    pub reasons: Vec<String>,
}

/// A transaction of a thread.
pub struct TransactionFacts {
    pub thread: String,
    /// The lines of all its statements, in order.
    pub lines: Vec<usize>,
    /// The lines where it can commit.
    pub commits_at: Vec<usize>,
    /// Whether it can end where it began.
    pub repeats: bool,
}

/// A cell whose value determines which thread has exclusive access.
pub struct OwnerFacts {
    pub name: String,
    /// When a thread holds it.
    pub predicate: String,
    /// Whether it is a lock that is identified by its value.
    pub is_lock: bool,
    /// The variable that the user says it protects.
    pub protects: Option<String>,
    /// The line where the user says so.
    pub line: Option<usize>,
    /// Whether the conditions on such predicates hold.
    pub holds: bool,
}

pub struct Explanation {
    pub objects: Vec<ObjectFacts>,
    pub owners: Vec<OwnerFacts>,
    pub statements: Vec<StatementFacts>,
    pub transactions: Vec<TransactionFacts>,
    /// Threads that are one transaction from their first statement to their last.
    pub atomic: Vec<String>,
    /// Mutexes that are acquired while there are several threads.
    pub mutexes: Vec<MutexFacts>,
    /// Statements with shared accesses by class.
    pub shares: AccessShares,
}

pub fn explain(movers: &Movers) -> Explanation {
    let program = &movers.fused.program;
    let classes = Classes::new(movers);
    let by_template: Vec<Vec<Transaction>> = (0..program.templates.len())
        .map(|template| classes.transactions(template))
        .collect();
    let commits: BTreeSet<EdgeRef> = by_template
        .iter()
        .flatten()
        .flat_map(|transaction| transaction.commits.iter().copied())
        .collect();
    let is_atomic = |transactions: &&Vec<Transaction>| match &transactions[..] {
        [only] => !only.ends.contains(&only.start),
        _ => false,
    };
    Explanation {
        objects: movers
            .protection
            .keys()
            .map(|&object| object_facts(&classes, object))
            .collect(),
        owners: owner_facts(movers),
        statements: movers
            .table
            .iter()
            .filter_map(|(edge, _)| statement_facts(&classes, edge, commits.contains(&edge)))
            .collect(),
        transactions: by_template
            .iter()
            .flatten()
            .map(|transaction| transaction_facts(program, transaction))
            .filter(|transaction| !transaction.lines.is_empty())
            .collect(),
        atomic: by_template
            .iter()
            .filter(is_atomic)
            .flatten()
            .map(|transaction| program.templates[transaction.template].name.clone())
            .collect(),
        mutexes: mutexes(&classes),
        shares: access_shares(&classes),
    }
}

pub(super) fn owner_facts(movers: &Movers) -> Vec<OwnerFacts> {
    let program = &movers.fused.program;
    let alone = Alone::find(program);
    let rows = LockRows::find(program, &alone, |variable| movers.locks.is_rw(variable));
    let owners = Owners::find(program, &alone, |variable| {
        rows.is_lock(variable) || movers.locks.is_rw(variable)
    });
    let line = |given: usize| {
        program
            .info
            .sources
            .locate(program.info.exclusive[given].span)
            .line
    };
    let protects = |given: usize| {
        let variable = program.info.exclusive[given].variable;
        program.globals[variable.index()].name.clone()
    };
    let found = owners.cells.iter().map(|cell| OwnerFacts {
        name: program.globals[cell.variable.index()].name.clone(),
        predicate: print_expr(program, None, &cell.predicate),
        is_lock: cell.is_lock,
        protects: cell.given.map(protects),
        line: cell.given.map(line),
        holds: true,
    });
    let refused = owners.flaws.iter().map(|&(given, _)| OwnerFacts {
        name: protects(given),
        predicate: print_expr(program, None, &program.info.exclusive[given].predicate),
        is_lock: false,
        protects: Some(protects(given)),
        line: Some(line(given)),
        holds: false,
    });
    found.chain(refused).collect()
}

fn transaction_facts(program: &Program, transaction: &Transaction) -> TransactionFacts {
    let lines = |edges: &BTreeSet<EdgeRef>| -> Vec<usize> {
        let shown = edges
            .iter()
            .filter(|&&edge| !ends_run(program, edge))
            .filter_map(|&edge| line_of(program, edge));
        let lines: BTreeSet<usize> = shown.collect();
        lines.into_iter().collect()
    };
    TransactionFacts {
        thread: program.templates[transaction.template].name.clone(),
        lines: lines(&transaction.edges),
        commits_at: lines(&transaction.commits),
        repeats: transaction.ends.contains(&transaction.start),
    }
}

/// The source name of a lock in an array.
fn place_name(program: &Program, template: usize, place: &LockPlace) -> String {
    let row = &program.globals[place.variable.index()];
    if !row.is_array {
        return row.name.clone();
    }
    let template = Some(&program.templates[template]);
    let index = print_expr(program, template, without_resize(&place.index));
    format!("{}[{index}]", row.name)
}

fn line_of(program: &Program, edge: EdgeRef) -> Option<usize> {
    let span = edge.of(program).span?;
    Some(program.info.sources.locate(span).line)
}

/// Whether an edge is a failed check or a bound; the statement is counted by its other edge.
fn ends_run(program: &Program, edge: EdgeRef) -> bool {
    let template = &program.templates[edge.template];
    template.location(edge.of(program).target).ends_run()
}

fn object_facts(classes: &Classes, object: Object) -> ObjectFacts {
    let movers = classes.movers;
    let program = &movers.fused.program;
    let edges: Vec<EdgeRef> = movers
        .table
        .iter()
        .filter(|(edge, accesses)| accesses.contains_key(&object) && !ends_run(program, *edge))
        .map(|(edge, _)| edge)
        .collect();
    let held_during: Vec<_> = edges
        .iter()
        .map(|&edge| classes.held_during(edge, movers.table.of(edge)[&object]))
        .collect();
    let count = |lock: Object| {
        held_during
            .iter()
            .filter(|held| held.contains(&lock))
            .count()
    };
    let protection = classes.protection(object);
    let lock = match protection {
        Protection::By(lock) => Some(lock),
        Protection::Unprotected => {
            let known: BTreeSet<Object> = held_during.iter().flatten().copied().collect();
            known.into_iter().max_by_key(|&lock| count(lock))
        }
        _ => None,
    };
    let without: BTreeSet<usize> = edges
        .iter()
        .zip(&held_during)
        .filter(|(_, held)| !lock.is_some_and(|lock| held.contains(&lock)))
        .filter_map(|(&edge, _)| line_of(program, edge))
        .collect();
    let alone = Alone::find(program);
    let missing: BTreeSet<Unlocked> = edges
        .iter()
        .zip(&held_during)
        .filter(|(edge, held)| {
            let is_missing = lock.is_some_and(|lock| !held.contains(&lock));
            protection == Protection::Unprotected && is_missing && !alone.is_only(program, **edge)
        })
        .filter_map(|(&edge, _)| {
            Some(Unlocked {
                line: line_of(program, edge)?,
                writes: movers.table.of(edge)[&object],
                thread: program.templates[edge.template].name.clone(),
            })
        })
        .collect();
    ObjectFacts {
        missing: missing.into_iter().collect(),
        fields: movers.object_locks.words(object),
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

fn statement_facts(classes: &Classes, at: EdgeRef, commits: bool) -> Option<StatementFacts> {
    let program = &classes.movers.fused.program;
    let edge = at.of(program);
    let template = &program.templates[at.template];
    if ends_run(program, at) {
        return None;
    }
    let place = program.info.sources.locate(edge.span?);
    Some(StatementFacts {
        file: place.file.to_string(),
        line: place.line,
        thread: template.name.clone(),
        text: edge.text.clone(),
        class: class_name(classes.is_left(at), classes.is_right(at)),
        commits,
        reasons: reasons(classes, at),
    })
}

pub(super) fn class_name(left: bool, right: bool) -> &'static str {
    match (left, right) {
        (true, true) => "both mover",
        (false, true) => "right mover",
        (true, false) => "left mover",
        (false, false) => "non-mover",
    }
}

/// The shared objects that an edge accesses and their protection.
pub(super) fn reasons(classes: &Classes, at: EdgeRef) -> Vec<String> {
    let movers = classes.movers;
    let program = &movers.fused.program;
    let handled = classes.rows.handled(at.template, at.location, at.edge);
    let from_row = |place: &LockPlace| place_name(program, at.template, place);
    let name = |lock: &Object| lock.name(program);
    let is_rw = |lock: &Object| matches!(lock, Object::Cell(cell, _) if movers.locks.is_rw(*cell));
    let names = |known: &LockSet, rows: &[LockPlace]| -> BTreeSet<String> {
        known
            .iter()
            .filter(|lock| !is_rw(lock))
            .map(name)
            .chain(rows.iter().map(from_row))
            .collect()
    };
    let mut reasons = Vec::new();
    for lock in names(movers.locks.takes(at), &handled.takes) {
        reasons.push(format!("takes {lock}"));
    }
    for lock in names(movers.locks.releases(at), &handled.releases) {
        reasons.push(format!("releases {lock}"));
    }
    for lock in &movers.locks.rw {
        let name = &program.globals[lock.cells[0].index()].name;
        match lock.taken_by(at) {
            Some(Mode::Reads) => reasons.push(format!("takes {name} to read")),
            Some(Mode::Writes) => reasons.push(format!("takes {name} to write")),
            None if lock.releases.contains(&at) => reasons.push(format!("releases {name}")),
            None => {}
        }
    }
    for object in movers.table.of(at).keys() {
        let name = object.name(program);
        reasons.push(match classes.protection(*object) {
            Protection::Lock if !reasons.is_empty() => continue,
            Protection::Lock => format!("reads {name}, a lock"),
            Protection::OneThread => format!("{name}: one thread only"),
            Protection::NeverWritten => format!("{name}: never written"),
            Protection::By(lock) => format!("{name}: protected by {}", lock.name(program)),
            Protection::Unprotected => format!("{name}: not protected"),
        });
    }
    if movers.meets[at.template][at.location] {
        reasons.push("leaves a place where a rendezvous is offered".into());
    }
    if movers.offers[at.template][at.location][at.edge] {
        reasons.push("offers a rendezvous".into());
    }
    if reasons.is_empty() {
        reasons.push("accesses nothing shared".into());
    }
    reasons
}

//! The plan of a program as text.
//!
//! The text contains for each shared object how it is protected, for each edge of the fused
//! program its class under `static`, what the reductions `phase` and `dynamic` add to it, with the
//! conditions, and where transactions begin, commit and end. What explicit search may assume beyond
//! that is omitted: it follows from the objects that are not protected. How the
//! facts are derived is omitted, so the text changes only if the plan changes. It is used by
//! snapshot tests, and by engineers who want to know why a search stores a state.
//!
//! A location is its number in the template. An edge is written as `l1 -> l2`, with a letter
//! after the first number where the location has several edges (`l1b` is the second of them).
//! Conditions say the same about every other thread, so they are written once, for a thread
//! `j`.

use std::collections::BTreeSet;
use std::fmt::Write;

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::print::print_expr;
use mover_ir::program::{Program, Template};

use crate::facts::access::EdgeRef;
use crate::facts::thread_bound::most_threads;
use crate::plan::dynamic::Heuristics;
use crate::plan::movers::{Protection, movers};
use crate::plan::reduction_plan::{Class, Reduction, ReductionPlan};
use crate::plan::transactions::{Classes, Transaction};
use crate::present::explain::{class_name, owner_facts, reasons};

/// The plan of a program; the same text for the same program.
pub fn plan_text(program: &Program) -> String {
    let movers = match movers(program) {
        Ok(movers) => movers,
        Err(reason) => return format!("no movers: {reason}\n"),
    };
    let classes = Classes::new(&movers);
    let plan = |reduction| ReductionPlan::of(&movers, reduction, Heuristics::ALL, None);
    let plans = [plan(Reduction::Phase), plan(Reduction::Dynamic)];
    let mut text = format!("threads: {} at most\n", most_threads(program));
    write_objects(&mut text, &classes);
    for template in 0..program.templates.len() {
        write_template(&mut text, &classes, &plans, template);
    }
    text
}

fn write_objects(text: &mut String, classes: &Classes) {
    let movers = classes.movers;
    let program = &movers.fused.program;
    text.push_str("\nobjects\n");
    for &object in movers.protection.keys() {
        let protection = match classes.protection(object) {
            Protection::Lock if movers.locks.is_observed(object) => {
                "lock, observed by threads that do not hold it".to_string()
            }
            Protection::Lock => "lock".to_string(),
            Protection::OneThread => "one thread only".to_string(),
            Protection::NeverWritten => "never written".to_string(),
            Protection::By(lock) => format!("protected by {}", lock.name(program)),
            Protection::Unprotected => match movers.object_locks.words(object) {
                Some(words) => words,
                None => "not protected".to_string(),
            },
        };
        line(text, 2, &format!("{}: {protection}", object.name(program)));
    }
    for owner in owner_facts(movers) {
        let what = match (&owner.protects, owner.is_lock) {
            (Some(variable), _) => format!("{variable} is exclusive"),
            (None, true) => format!("{} is a lock and held", owner.name),
            (None, false) => format!("{} is owned", owner.name),
        };
        let holds = if owner.holds { "" } else { " (refused)" };
        line(text, 2, &format!("{what} if {}{holds}", owner.predicate));
    }
}

fn write_template(
    text: &mut String,
    classes: &Classes,
    plans: &[ReductionPlan; 2],
    template: usize,
) {
    let movers = classes.movers;
    let program = &movers.fused.program;
    let body = &program.templates[template];
    let transactions = classes.transactions(template);
    let commits: BTreeSet<EdgeRef> = transactions
        .iter()
        .flat_map(|transaction| transaction.commits.iter().copied())
        .collect();
    let _ = writeln!(text, "\nthread {}, from l{}", body.name, body.entry.index());
    for (location, place) in body.locations.iter().enumerate() {
        for (number, edge) in place.edges.iter().enumerate() {
            let at = EdgeRef {
                template,
                location,
                edge: number,
            };
            let target = body.location(edge.target);
            let marks = [
                (place.atomic, " (atomic)"),
                (target.error.is_some(), " (error)"),
            ];
            let marks: String = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
            let head = format!(
                "{} -> l{}{marks}: {}",
                edge_name(program, at),
                edge.target.index(),
                edge.text
            );
            line(text, 2, &head);
            let mover = &movers.edges[template][location][number];
            let class = class_name(mover.left, mover.right);
            let commits = match commits.contains(&at) {
                true => ", commits",
                false => "",
            };
            let reasons = reasons(classes, at).join("; ");
            line(text, 6, &format!("{class}{commits} [{reasons}]"));
            let [phase, dynamic] = plans.each_ref().map(|plan| plan.edge(at));
            for (side, known, [phase, dynamic]) in [
                ("left", mover.left, [&phase.left, &dynamic.left]),
                ("right", mover.right, [&phase.right, &dynamic.right]),
            ] {
                let mut write = |reduction: &str, class: &Class| match class {
                    Class::Always => line(text, 6, &format!("{reduction}: {side}")),
                    Class::When(condition) => {
                        let when = condition_text(program, body, condition);
                        line(text, 6, &format!("{reduction}: {side} when {when}"));
                    }
                    Class::Never | Class::Assume(_) => {}
                };
                if !known {
                    write("phase", phase);
                    if dynamic != phase {
                        write("dynamic", dynamic);
                    }
                }
            }
        }
    }
    for transaction in &transactions {
        line(text, 2, &transaction_text(program, transaction));
    }
}

/// A condition for two threads, with the part that repeats for each of them written once.
fn condition_text(program: &Program, body: &Template, expr: &Expr) -> String {
    let print = |expr: &Expr| condition_text(program, body, expr);
    let Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) = expr else {
        return print_expr(program, Some(body), expr);
    };
    if *op == BinaryOp::And
        && let Some(second) = of_thread(1, b)
    {
        let (before, first) = match &**a {
            Expr::Binary(BinaryOp::And, before, first) if of_thread(0, a).is_none() => {
                (Some(before), of_thread(0, first))
            }
            first => (None, of_thread(0, first)),
        };
        if let Some(first) = first {
            let any = any_thread(&print(first), &print(second));
            let rest = before.map_or(String::new(), |before| format!("{} & ", print(before)));
            return format!("{rest}(each other j: {any})");
        }
    }
    let sign = if *op == BinaryOp::And { '&' } else { '|' };
    format!("({} {sign} {})", print(a), print(b))
}

/// The part about the thread in a condition of the form `self == thread | …`.
fn of_thread(thread: i64, expr: &Expr) -> Option<&Expr> {
    let itself = Expr::binary(BinaryOp::Eq, Expr::ThreadId, Expr::int(thread));
    match expr {
        Expr::Binary(BinaryOp::Or, a, b) if **a == itself => Some(b),
        _ => None,
    }
}

/// Merges a text about thread 0 and the same about thread 1 into one about `j`.
fn any_thread(first: &str, second: &str) -> String {
    let pairs = first.chars().zip(second.chars());
    pairs.map(|(a, b)| if a == b { a } else { 'j' }).collect()
}

fn transaction_text(program: &Program, transaction: &Transaction) -> String {
    let names = |edges: &BTreeSet<EdgeRef>| -> String {
        let names = edges.iter().map(|&at| edge_name(program, at));
        names.collect::<Vec<_>>().join(" ")
    };
    let ends: Vec<String> = (transaction.ends.iter())
        .map(|location| format!("l{location}"))
        .collect();
    let mut text = format!(
        "transaction from l{}: {}",
        transaction.start,
        names(&transaction.edges)
    );
    if !transaction.commits.is_empty() {
        let _ = write!(text, ", commits at {}", names(&transaction.commits));
    }
    if !ends.is_empty() {
        let _ = write!(text, ", ends at {}", ends.join(" "));
    }
    text
}

/// `l3`, or `l3b` for the second of several edges.
fn edge_name(program: &Program, at: EdgeRef) -> String {
    let several = program.templates[at.template].locations[at.location]
        .edges
        .len()
        > 1;
    match (several, u8::try_from(at.edge)) {
        (false, _) => format!("l{}", at.location),
        (true, Ok(number)) if number < 26 => {
            format!("l{}{}", at.location, char::from(b'a' + number))
        }
        (true, _) => format!("l{}#{}", at.location, at.edge),
    }
}

fn line(text: &mut String, indent: usize, content: &str) {
    let _ = writeln!(text, "{:indent$}{content}", "");
}

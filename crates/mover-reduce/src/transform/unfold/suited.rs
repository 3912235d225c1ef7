//! Which programs can be unfolded.
//!
//! One thread starts all others, no thread reads the number or the locations of threads, and
//! the number of a thread is used only as a mark in what it holds: so it makes no difference
//! that threads keep their numbers when they exit.

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::graph::{control_flow, reaches};
use mover_ir::program::{Effect, Program, Template, TemplateId, VariableId};

use crate::facts::pointer_locks::own_mark;
use crate::facts::points_to::PointsTo;

/// Whether the program can be unfolded.
pub(super) fn is_suited(program: &Program, first: TemplateId) -> bool {
    let spawns = |template: &Template| {
        let mut effects = effects_of(template);
        effects.any(|effect| matches!(effect, Effect::Spawn { .. }))
    };
    let others = program.templates.iter().enumerate();
    let mut others = others.filter(|(number, _)| *number != first.index());
    let is_started_again =
        |effect: &Effect| matches!(effect, Effect::Spawn { template, .. } if *template == first);
    let looks_at_threads = program.any_expr(|expr| {
        matches!(
            expr,
            Expr::ThreadCount
                | Expr::ThreadAt { .. }
                | Expr::RemoteRead { .. }
                | Expr::ThreadPriority(_)
                | Expr::Timeout
        )
    });
    let exits = program.effects().any(|effect| *effect == Effect::Exit);
    spawns(program.template(first))
        && !others.any(|(_, template)| spawns(template))
        && !program.effects().any(is_started_again)
        && program.templates.iter().all(|t| t.channels.is_empty())
        && !program.uses_priorities()
        && !looks_at_threads
        && (!exits || has_marks_only(program) && program.templates.iter().all(forgets_its_number))
}

pub(super) fn effects_of(template: &Template) -> impl Iterator<Item = &Effect> {
    let edges = template.locations.iter().flat_map(|l| &l.edges);
    edges.flat_map(|edge| &edge.effects)
}

/// An object that a thread has marked: its printed address or place, and the locals in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Marked(String, BTreeSet<u32>);

/// Whether thread numbers are used only as marks: stored in globals, and compared only with "none"
/// or the thread's own number. The assignment of numbers to threads then makes no difference.
fn has_marks_only(program: &Program) -> bool {
    let known = Program {
        pointers_stay: crate::facts::pointer_provenance::pointers_stay(program),
        ..program.clone()
    };
    let points_to = PointsTo::new(&known);
    // Variables that may hold a mark, and whether dynamic objects may.
    let mut marked: BTreeSet<VariableId> = BTreeSet::new();
    let mut in_objects = false;
    for (template, body) in program.templates.iter().enumerate() {
        for effect in effects_of(body) {
            match effect {
                Effect::Assign { place, value } if is_mark(value) => match place.variable {
                    VariableRef::Global(id) => {
                        marked.insert(id);
                    }
                    VariableRef::Local(_) => return false,
                },
                Effect::Store { address, value } if is_mark(value) => {
                    let targets = points_to.targets(template, address);
                    in_objects |= !targets.sites.is_empty();
                    marked.extend(targets.globals);
                }
                Effect::Spawn {
                    result: Some(_), ..
                } => return false,
                _ => {}
            }
        }
    }
    let is_none = |expr: &Expr| expr.as_const() == Some(0);
    for (template, body) in program.templates.iter().enumerate() {
        let holds_mark = |expr: &Expr| match expr {
            Expr::Read(place) => {
                matches!(place.variable, VariableRef::Global(id) if marked.contains(&id))
            }
            Expr::Load { address, .. } => {
                let targets = points_to.targets(template, address);
                in_objects && !targets.sites.is_empty()
                    || targets.globals.iter().any(|id| marked.contains(id))
            }
            _ => false,
        };
        // The occurrences of numbers and marks, and those in comparisons that are allowed.
        let (mut there, mut allowed) = (0usize, 0usize);
        let mut look = |expr: &Expr| {
            there += usize::from(*expr == Expr::ThreadId || holds_mark(expr));
            if let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) = expr {
                if holds_mark(a) && is_mark(b) || is_mark(a) && holds_mark(b) {
                    allowed += 2;
                } else if holds_mark(a) && is_none(b) || is_none(a) && holds_mark(b) {
                    allowed += 1;
                }
            }
        };
        for edge in body.locations.iter().flat_map(|l| &l.edges) {
            edge.guard.walk(&mut look);
            for effect in &edge.effects {
                effect.walk(&mut look);
            }
        }
        let stored = effects_of(body).filter(|effect| {
            matches!(effect, Effect::Assign { value, .. } | Effect::Store { value, .. } if is_mark(value))
        });
        if there != allowed + stored.count() {
            return false;
        }
    }
    true
}

/// Whether a thread has removed all of its marks when it exits.
fn forgets_its_number(template: &Template) -> bool {
    let gives_number = |effect: &Effect| {
        matches!(
            effect,
            Effect::Spawn {
                result: Some(_),
                ..
            }
        )
    };
    if effects_of(template).any(gives_number) {
        return false;
    }
    // The marks that may exist at each location.
    let mut marks: Vec<Option<BTreeSet<Marked>>> = vec![None; template.locations.len()];
    marks[template.entry.index()] = Some(BTreeSet::new());
    let mut work = vec![template.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = marks[location].clone() else {
            continue;
        };
        for edge in &template.locations[location].edges {
            let mut after = before.clone();
            for effect in &edge.effects {
                let target = match effect {
                    Effect::Assign { place, value }
                        if matches!(place.variable, VariableRef::Global(_)) =>
                    {
                        let name = format!("{:?} {:?}", place.variable, place.index);
                        Some((Marked(name, locals_in(&place.index)), value))
                    }
                    Effect::Store { address, value } => {
                        let name = format!("{address:?}");
                        Some((Marked(name, locals_in(address)), value))
                    }
                    _ => None,
                };
                if let Some((target, value)) = target {
                    if is_mark(value) {
                        after.insert(target);
                    } else {
                        after.remove(&target);
                    }
                }
                for place in effect.written_places() {
                    let VariableRef::Local(id) = place.variable else {
                        continue;
                    };
                    // A mark whose place is no longer known stays for ever.
                    let lost: Vec<Marked> = after
                        .iter()
                        .filter(|Marked(_, locals)| locals.contains(&id.0))
                        .cloned()
                        .collect();
                    for Marked(name, locals) in lost {
                        after.remove(&Marked(name.clone(), locals));
                        after.insert(Marked(format!("{name} lost"), BTreeSet::new()));
                    }
                }
                if *effect == Effect::Exit && !after.is_empty() {
                    return false;
                }
            }
            let target = edge.target.index();
            let joined = match &marks[target] {
                None => after,
                Some(known) => known.union(&after).cloned().collect(),
            };
            if marks[target].as_ref() != Some(&joined) {
                marks[target] = Some(joined);
                work.push(target);
            }
        }
    }
    true
}

fn is_mark(expr: &Expr) -> bool {
    *expr == own_mark(expr.width())
}

fn locals_in(expr: &Expr) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    expr.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
        {
            found.insert(id.0);
        }
    });
    found
}

/// Whether an edge that spawns is on a cycle.
pub(super) fn has_repeated_spawn(template: &Template) -> bool {
    let reach = reaches(&control_flow(template));
    let mut locations = template.locations.iter().enumerate();
    locations.any(|(from, location)| {
        location.edges.iter().any(|edge| {
            edge.effects
                .iter()
                .any(|effect| matches!(effect, Effect::Spawn { .. }))
                && reach[edge.target.index()].contains(from)
        })
    })
}

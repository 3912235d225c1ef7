//! Data races as errors of the program, for engines that know only errors.
//!
//! A thread at a location with accesses gets an edge to an error location, guarded by the condition
//! that another thread is about to make a conflicting access. There is one such edge and one
//! condition for each location; the accesses that cannot race were removed before
//! ([`crate::facts::races`]). The steps up to that edge lead to a state with a race, and there is
//! such a run if and only if there is a race (`mover_ir::semantics::Machine::race`): of two threads
//! in a race at least one may move.
//!
//! The condition reads the locations and registers of other threads, which leaves less to reduce,
//! and grows with the pairs of accesses. Explicit search therefore looks at the states instead.

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, VariableRef};
use mover_ir::program::{
    Edge, ErrorMark, Location, LocationId, MemoryAccess, Program, Property, TemplateId, VariableId,
};

/// Pairs of accesses, counted for each thread, up to which the conditions are built.
const MOST_PAIRS: usize = 20_000;

/// An access and where it is.
struct Place<'p> {
    template: TemplateId,
    location: LocationId,
    access: &'p MemoryAccess,
}

/// The program with its data races as errors would be too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the condition for data races has {pairs} parts, more than this engine takes")]
pub struct TooManyRaces {
    pub pairs: usize,
}

/// The program with its data races as errors.
pub fn race_edges(original: &Program) -> Result<Program, TooManyRaces> {
    let mut places: Vec<Place> = Vec::new();
    for (template, body) in original.templates.iter().enumerate() {
        for (location, here) in body.locations.iter().enumerate() {
            places.extend(here.accesses.iter().map(|access| Place {
                template: TemplateId(template as u32),
                location: LocationId(location as u32),
                access,
            }));
        }
    }
    let pairs = places.len() * places.len() * original.max_threads as usize;
    if pairs > MOST_PAIRS {
        return Err(TooManyRaces { pairs });
    }
    let mut program = original.clone();
    for (template, body) in program.templates.iter_mut().enumerate() {
        for location in 0..original.templates[template].locations.len() {
            let here = &original.templates[template].locations[location];
            body.locations[location].accesses.clear();
            let mut condition = Expr::FALSE;
            for own in &here.accesses {
                for other in &places {
                    for thread in 0..original.max_threads {
                        condition = condition.or(meets(original, own, other, thread));
                    }
                }
            }
            if condition == Expr::FALSE {
                continue;
            }
            let target = LocationId(body.locations.len() as u32);
            let span = here.accesses[0].span;
            body.locations.push(Location {
                error: Some(ErrorMark {
                    property: Property::NoDataRace,
                    message: "data race".into(),
                    resume: None,
                }),
                span,
                ..Location::default()
            });
            let highest = here.edges.iter().map(|edge| edge.priority).max();
            body.locations[location].edges.push(Edge {
                priority: highest.unwrap_or(0),
                guard: condition,
                effects: Vec::new(),
                target,
                span,
                text: "data race".into(),
                sync: Vec::new(),
            });
        }
    }
    Ok(program)
}

/// When a thread is about to make the other access, and that conflicts.
fn meets(program: &Program, own: &MemoryAccess, other: &Place, thread: u32) -> Expr {
    let theirs = other.access;
    let is_harmless =
        !own.writes && !theirs.writes || own.atomic && theirs.atomic || own.ahead && theirs.ahead;
    if is_harmless {
        return Expr::FALSE;
    }
    let (variable, first, count) = program.bytes_of(&own.memory);
    let (other_variable, second, other_count) = program.bytes_of(&theirs.memory);
    if variable != other_variable {
        return Expr::FALSE;
    }
    let number = Expr::constant(thread.into(), INDEX_WIDTH);
    let seen = |expr: &Expr| seen_from(expr, &number, other.template);
    let second = seen(&second);
    // Each begins before the other ends.
    let begins_in = |from: &Expr, to: &Expr, count: u64| {
        let distance = Expr::binary(BinaryOp::Sub, to.clone(), from.clone());
        let width = from.width();
        Expr::binary(BinaryOp::ULt, distance, Expr::constant(count as i64, width))
    };
    let overlap = begins_in(&first, &second, count).or(begins_in(&second, &first, other_count));
    let is_other = Expr::binary(BinaryOp::Ne, number.clone(), Expr::ThreadId);
    let stands = Expr::ThreadAt {
        thread: Box::new(number.clone()),
        template: other.template,
        locations: vec![other.location],
    };
    let guards = own.guard.clone().and(is_other).and(stands);
    guards.and(seen(&theirs.guard)).and(overlap)
}

/// What an expression is for another thread.
fn seen_from(expr: &Expr, thread: &Expr, template: TemplateId) -> Expr {
    expr.rewrite(&mut |expr| match expr {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(variable) => Some(Expr::RemoteRead {
                thread: Box::new(thread.clone()),
                template,
                variable: VariableId(variable.0),
                index: Box::new(seen_from(&place.index, thread, template)),
                ty: place.ty,
            }),
            VariableRef::Global(_) => None,
        },
        Expr::ThreadId => Some(thread.clone()),
        _ => None,
    })
}

//! Data races as errors of the program.
//!
//! Two threads race if both are about to access the same memory, at least one of them writes,
//! and not both accesses are atomic: then nothing orders the two accesses. Under sequential
//! consistency every program with a data race has a run to a state in which two threads are
//! about to make conflicting accesses, with no race before it, so it is sufficient to search
//! for such states.
//!
//! A thread that is about to make an access gets an edge to an error location for each access
//! of another thread with which it can race, guarded by the condition that the other thread is
//! at that location and accesses the same memory. So every engine finds races, replays them and
//! reports them like any other error. The price is that threads read the locations of other
//! threads, which leaves less to reduce.
//!
//! The C library's own memory accesses (locks, `free`) are not accesses in this sense.

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, VariableRef};
use mover_ir::program::{
    Edge, ErrorMark, Location, LocationId, Program, Property, TemplateId, VariableId,
};

use crate::Sites;
use crate::expr_builder::{binary, constant, equal};
use crate::lower::{Memory, Touch};
use crate::ssa::Loc;

/// The accesses of a template, each with where the thread is before it.
pub type Touches = Vec<(LocationId, Touch)>;

/// Adds the steps into races.
pub fn watch(
    program: &mut Program,
    touches: &[Touches],
    sites: &mut Sites,
    tell: impl Fn(Option<Loc>) -> String,
) {
    let all: Vec<(usize, LocationId, &Touch)> = touches
        .iter()
        .enumerate()
        .flat_map(|(template, touches)| touches.iter().map(move |(at, t)| (template, *at, t)))
        .collect();
    for (number, &one) in all.iter().enumerate() {
        // Each two accesses are watched from one side: from the one that can move, if the
        // other thread is in the middle of an atomic section.
        for &two in &all[number..] {
            let is_turned = two.2.is_alone;
            let (watcher, watched) = if is_turned { (two, one) } else { (one, two) };
            let (template, location, touch) = watcher;
            let (other, other_location, other_touch) = watched;
            if other_touch.is_alone {
                continue;
            }
            if !touch.writes && !other_touch.writes || touch.atomic && other_touch.atomic {
                continue;
            }
            let meet = (0..program.max_threads)
                .map(|thread| {
                    let place = (thread, TemplateId(other as u32), other_location);
                    meets(program, touch, other_touch, place)
                })
                .fold(Expr::FALSE, Expr::or);
            if meet == Expr::FALSE {
                continue;
            }
            let name = named(program, &touch.memory).or(named(program, &other_touch.memory));
            let message = format!(
                "data race{}: {} here while another thread {}{}",
                name.map_or(String::new(), |name| format!(" for `{name}`")),
                does(touch),
                does(other_touch),
                tell(other_touch.loc)
            );
            let body = &mut program.templates[template];
            let target = LocationId(body.locations.len() as u32);
            let (span, text) = body.locations[location.index()]
                .edges
                .first()
                .map_or((None, String::new()), |edge| (edge.span, edge.text.clone()));
            body.locations.push(Location {
                error: Some(ErrorMark {
                    property: Property::NoDataRace,
                    message,
                    resume: None,
                }),
                span,
                ..Location::default()
            });
            body.locations[location.index()].edges.push(Edge {
                priority: 0,
                guard: touch.guard.clone().and(meet),
                effects: Vec::new(),
                target,
                span,
                text,
            });
            sites[template].push(Vec::new());
            sites[template][location.index()].push(None);
        }
    }
}

fn does(touch: &Touch) -> &'static str {
    match (touch.writes, touch.atomic) {
        (true, false) => "writes",
        (false, false) => "reads",
        (true, true) => "writes (atomically)",
        (false, true) => "reads (atomically)",
    }
}

/// The variable that an access is certainly for.
fn named<'p>(program: &'p Program, memory: &Memory) -> Option<&'p str> {
    let variable = match memory {
        Memory::Cell { variable, .. } => variable,
        Memory::Bytes { address, .. } => match address {
            Expr::Address { variable, .. } => variable,
            Expr::Binary(BinaryOp::Add, base, _) => match &**base {
                Expr::Address { variable, .. } => variable,
                _ => return None,
            },
            _ => return None,
        },
    };
    Some(&program.globals[variable.index()].name)
}

/// When a thread is about to do the other access, to the same memory.
fn meets(
    program: &Program,
    own: &Touch,
    other: &Touch,
    (thread, template, location): (u32, TemplateId, LocationId),
) -> Expr {
    let number = Expr::constant(thread.into(), INDEX_WIDTH);
    let seen = |expr: &Expr| seen_from(expr, &number, template);
    let overlap = match (&own.memory, &other.memory) {
        (
            Memory::Cell { variable, index },
            Memory::Cell {
                variable: other,
                index: other_index,
            },
        ) => {
            if variable != other {
                return Expr::FALSE;
            }
            equal(index.clone(), seen(other_index))
        }
        (own, other) => {
            let (Some((first, count)), Some((second, other_count))) =
                (bytes(program, own), bytes(program, other))
            else {
                return Expr::FALSE;
            };
            let second = seen(&second);
            // Each begins before the other ends.
            let width = program.pointers.width;
            let ahead = binary(BinaryOp::Sub, second.clone(), first.clone());
            let behind = binary(BinaryOp::Sub, first, second);
            let ahead = binary(BinaryOp::ULt, ahead, constant(count, width));
            let behind = binary(BinaryOp::ULt, behind, constant(other_count, width));
            ahead.or(behind)
        }
    };
    if overlap == Expr::FALSE {
        return Expr::FALSE;
    }
    let is_other = Expr::binary(BinaryOp::Ne, number.clone(), Expr::ThreadId);
    let stands = Expr::ThreadAt {
        thread: Box::new(number.clone()),
        template,
        locations: vec![location],
    };
    is_other.and(stands).and(seen(&other.guard)).and(overlap)
}

/// The first byte of an access and how many there are; none if the variable has no address.
fn bytes(program: &Program, memory: &Memory) -> Option<(Expr, u64)> {
    match memory {
        Memory::Bytes { address, count } => Some((address.clone(), *count)),
        Memory::Cell { variable, index } => {
            let decl = &program.globals[variable.index()];
            if !decl.addressable {
                return None;
            }
            let width = program.pointers.width;
            let count = u64::from(decl.ty.width / 8);
            let offset = binary(
                BinaryOp::Mul,
                crate::expr_builder::resize(index.clone(), width, false),
                constant(count, width),
            );
            let base = program.address_of(*variable);
            Some((binary(BinaryOp::Add, base, offset), count))
        }
    }
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

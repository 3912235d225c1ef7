//! Breaches of claimed exclusive access as errors of the program.
//!
//! A user can say of a shared variable when a thread has exclusive access to it
//! ([`ProgramInfo::exclusive`](mover_ir::program::ProgramInfo::exclusive)): E(t, x), an *exclusive
//! access predicate* (Flanagan and Qadeer 2003, Section 4.1), over global variables, cells of
//! arrays and the number of the thread. The paper does not require that E holds where x is
//! accessed; it instruments the program with assertions, and the search shows that none fails.
//! This is that instrumentation. Every edge of t that accesses x gets a twin that leads to an
//! error, possible where the edge is, if
//!
//! - E(t, x) holds neither before the edge nor after it (an edge may acquire the access and use it
//!   in one step); or
//! - E(u, x) holds for another thread u.
//!
//! The second part is the paper's condition (i), at accesses. It is left out where the condition
//! has been shown for all values before ([`crate::facts::owners`]). The paper's condition (ii), that
//! no thread gives the access to another or takes it away, is shown there or not at all; a reduction
//! uses a claim only if both are shown.
//!
//! What a thread does while it is the only one ([`crate::facts::single_threaded_prefix`]) needs no
//! claim. A variable that has an address is also accessed through pointers; the twin then compares
//! the address before the edge.
//!
//! The twins are edges like others, so every engine and every reduction checks claims, and a breach
//! comes with a run.

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, VariableRef};
use mover_ir::print::print_expr;
use mover_ir::program::{
    BoundKind, BoundMark, Edge, Effect, ErrorMark, Exclusive, Location, LocationId, Program,
    Property,
};

use crate::facts::access::EdgeRef;
use crate::facts::owners::Owners;
use crate::facts::single_threaded_prefix::Alone;
use crate::facts::thread_bound::most_threads;

/// With more threads, the conditions of the second part are too large for the analyses that read them. Then
/// an access under a claim whose condition (i) is not shown before is a bound.
const MOST_THREADS: u32 = 64;

/// A twin of an edge.
struct Twin {
    at: EdgeRef,
    guard: Expr,
    end: End,
}

/// Where a twin leads.
enum End {
    Breach(String),
    Bound(String),
}

impl End {
    fn message(&self) -> &str {
        let (End::Breach(message) | End::Bound(message)) = self;
        message
    }
}

/// Adds the breaches of all claims to a program.
pub fn claim_edges(program: &mut Program) {
    if program.info.exclusive.is_empty() {
        return;
    }
    let alone = Alone::find(program);
    let owners = Owners::find(program, &alone, |_| false);
    let threads = most_threads(program);
    let mut twins = Vec::new();
    for (number, claim) in program.info.exclusive.iter().enumerate() {
        let is_shown = owners.cells.iter().any(|cell| {
            // A part of the predicate that excludes others does so for the whole.
            cell.given == Some(number)
        });
        let others = match is_shown {
            true => 0,
            false => threads,
        };
        for (template, body) in program.templates.iter().enumerate() {
            for (location, here) in body.locations.iter().enumerate() {
                for (edge, found) in here.edges.iter().enumerate() {
                    let at = EdgeRef {
                        template,
                        location,
                        edge,
                    };
                    if !alone.is_only(program, at) {
                        breaches(program, claim, at, found, others, &mut twins);
                    }
                }
            }
        }
    }
    for Twin { at, guard, end } in twins {
        let original = at.of(program).clone();
        let body = &mut program.templates[at.template];
        let target = LocationId(body.locations.len() as u32);
        let message = end.message().to_string();
        let (error, bound) = match end {
            End::Breach(message) => {
                let error = ErrorMark {
                    property: Property::UnreachCall,
                    message,
                    resume: None,
                };
                (Some(error), None)
            }
            End::Bound(message) => {
                let kind = BoundKind::Claim;
                (None, Some(BoundMark { kind, message }))
            }
        };
        body.locations.push(Location {
            error,
            bound,
            span: original.span,
            ..Location::default()
        });
        // Whether the edge is possible may be up to its effects.
        let can_block = |effect: &Effect| {
            matches!(
                effect,
                Effect::Send { .. } | Effect::Receive { .. } | Effect::Spawn { .. }
            )
        };
        let effects = match original.effects.iter().any(can_block) {
            true => original.effects,
            false => Vec::new(),
        };
        body.locations[at.location].edges.push(Edge {
            guard,
            effects,
            target,
            text: format!("{}; {message}", original.text),
            sync: Vec::new(),
            ..original
        });
    }
}

fn breaches(
    program: &Program,
    claim: &Exclusive,
    at: EdgeRef,
    edge: &Edge,
    others: u32,
    twins: &mut Vec<Twin>,
) {
    let accessed = accessed(program, claim, edge);
    if accessed == Expr::FALSE {
        return;
    }
    let guard = edge.guard.clone().and(accessed);
    let name = &program.globals[claim.variable.index()].name;
    let predicate = words(program, claim);
    let lacks = claim.predicate.clone().negate();
    let lacks = match after(&claim.predicate, &edge.effects) {
        Some(later) if later != claim.predicate => lacks.and(later.negate()),
        _ => lacks,
    };
    twins.push(Twin {
        at,
        guard: guard.clone().and(lacks),
        end: End::Breach(format!(
            "`{name}` is accessed while {predicate} does not hold"
        )),
    });
    if others > MOST_THREADS {
        twins.push(Twin {
            at,
            guard,
            end: End::Bound(format!(
                "whether {predicate} holds for another of {others} threads is not checked"
            )),
        });
        return;
    }
    let mut shared = Expr::FALSE;
    for thread in 0..others {
        let number = Expr::constant(i64::from(thread), INDEX_WIDTH);
        let is_other = Expr::binary(BinaryOp::Ne, Expr::ThreadId, number.clone());
        let theirs = claim.predicate.rewrite(&mut |part| match part {
            Expr::ThreadId => Some(number.clone()),
            _ => None,
        });
        shared = shared.or(is_other.and(theirs));
    }
    if shared != Expr::FALSE {
        twins.push(Twin {
            at,
            guard: guard.and(shared),
            end: End::Breach(format!(
                "`{name}` is accessed while {predicate} holds for another thread"
            )),
        });
    }
}

/// The predicate as the source has it, or else as the program has it.
fn words(program: &Program, claim: &Exclusive) -> String {
    let text = program.info.sources.text(claim.span);
    let written = text
        .split_once(',')
        .and_then(|(_, predicate)| predicate.rsplit_once(')'));
    match written {
        Some((predicate, _)) => format!("`{}`", predicate.trim()),
        None => print_expr(program, None, &claim.predicate),
    }
}

/// When an edge accesses the variable of a claim.
fn accessed(program: &Program, claim: &Exclusive, edge: &Edge) -> Expr {
    let variable = VariableRef::Global(claim.variable);
    let declared = &program.globals[claim.variable.index()];
    let bytes = u64::from(declared.len) * u64::from(declared.ty.width.div_ceil(8));
    let mut when = Expr::FALSE;
    let through = |address: &Expr| {
        if !declared.addressable {
            return Expr::FALSE;
        }
        let distance = Expr::binary(
            BinaryOp::Sub,
            address.clone(),
            program.address_of(claim.variable),
        );
        let width = distance.width();
        Expr::binary(BinaryOp::ULt, distance, Expr::constant(bytes as i64, width))
    };
    let mut by_name = false;
    let mut pointers = Vec::new();
    let mut look = |part: &Expr| match part {
        Expr::Read(place) => by_name |= place.variable == variable,
        Expr::Load { address, .. } => pointers.push(through(address)),
        _ => {}
    };
    edge.guard.walk(&mut look);
    for effect in &edge.effects {
        effect.walk(&mut look);
    }
    for effect in &edge.effects {
        let mut places = effect.written_places().into_iter();
        by_name |= places.any(|place| place.variable == variable);
        if let Effect::Store { address, .. } = effect {
            pointers.push(through(address));
        }
    }
    if by_name {
        return Expr::TRUE;
    }
    for pointer in pointers {
        when = when.or(pointer);
    }
    when
}

/// A predicate after some effects, in terms of the state before them; none if that is not known.
fn after(predicate: &Expr, effects: &[Effect]) -> Option<Expr> {
    let mut later = predicate.clone();
    for effect in effects.iter().rev() {
        let reads = |variable: VariableRef| {
            let mut found = false;
            later.walk(&mut |part| {
                found |= matches!(part, Expr::Read(place) if place.variable == variable);
            });
            found
        };
        let written = effect.written_places();
        if !written.iter().any(|place| reads(place.variable)) {
            continue;
        }
        let Effect::Assign { place, value } = effect else {
            return None;
        };
        let index = place.index.as_const()?;
        if value.width() != place.ty.width {
            return None;
        }
        let mut is_known = true;
        later = later.rewrite(&mut |part| match part {
            Expr::Read(read) if read.variable == place.variable => match read.index.as_const() {
                Some(other) if other == index => Some(value.clone()),
                Some(_) => None,
                None => {
                    is_known = false;
                    None
                }
            },
            _ => None,
        });
        if !is_known {
            return None;
        }
    }
    Some(later)
}

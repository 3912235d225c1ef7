//! Atomic sequences as single edges.
//!
//! `atomic { m == 0 -> m = 1 }` is two edges with an atomic location between
//! them. Nobody else can move there and the second edge cannot block, so the two
//! are one action, and only seen as one does it take a lock. [`fuse`] joins an
//! edge with the one behind it where the location between is atomic and exactly
//! one of its edges is possible whatever the state, given what the guard before
//! it has made known.
//!
//! An edge that may be one half of a rendezvous is not joined with what follows:
//! after it the right to go on is the receiver's.
//!
//! Locations keep their numbers. Each fused edge remembers the edges it is made
//! of, so that a run of the fused program can be told as a run of the original.

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::literal::{Literal, conjunction, simplify};
use mover_ir::program::{Edge, Effect, LocationId, Program, Template};

/// A program whose atomic sequences are joined as far as possible.
pub struct Fused {
    pub program: Program,
    /// By template, location and edge: the edges of the original, each at the
    /// location where the one before it leads.
    pub made_of: Vec<Vec<Vec<Vec<usize>>>>,
}

/// Longest sequence that is joined into one edge.
const LONGEST: usize = 64;

pub fn fuse(original: &Program) -> Fused {
    let mut program = original.clone();
    let has_rendezvous = original.has_rendezvous();
    let mut made_of = Vec::new();
    for (template, fused) in original.templates.iter().zip(&mut program.templates) {
        let mut of_template = Vec::new();
        for (location, fused) in template.locations.iter().zip(&mut fused.locations) {
            let mut of_location = Vec::new();
            for (number, edge) in location.edges.iter().enumerate() {
                let mut parts = vec![number];
                if !(has_rendezvous && edge.effects.iter().any(Effect::is_channel_operation)) {
                    fused.edges[number] = fuse_edge(template, edge, &mut parts);
                }
                of_location.push(parts);
            }
            of_template.push(of_location);
        }
        made_of.push(of_template);
    }
    Fused { program, made_of }
}

fn fuse_edge(template: &Template, first: &Edge, parts: &mut Vec<usize>) -> Edge {
    let mut fused = first.clone();
    let mut known = conjunction(&first.guard);
    known.retain(|literal| survives(literal, &first.effects));
    let mut passed: Vec<LocationId> = Vec::new();
    let is_gone = fused.effects.last() == Some(&Effect::Exit);
    while !is_gone && parts.len() < LONGEST && !passed.contains(&fused.target) {
        let between = template.location(fused.target);
        if !between.atomic || between.error.is_some() {
            break;
        }
        let Some(next) = only_possible(template, fused.target, &known) else {
            break;
        };
        let edge = &between.edges[next];
        if template.location(edge.target).error.is_some() {
            break;
        }
        passed.push(fused.target);
        parts.push(next);
        fused.effects.extend(edge.effects.iter().cloned());
        fused.target = edge.target;
        fused.text = format!("{}; {}", fused.text, edge.text);
        known.retain(|literal| survives(literal, &edge.effects));
    }
    fused
}

/// The edge of a location that is always possible and the only one that ever is.
fn only_possible(template: &Template, location: LocationId, known: &[Literal]) -> Option<usize> {
    let mut possible = template
        .location(location)
        .edges
        .iter()
        .enumerate()
        .map(|(number, edge)| (number, edge, simplify(&edge.guard, known)))
        .filter(|(_, _, guard)| *guard != Expr::FALSE);
    let (number, edge, guard) = possible.next()?;
    let blocks = |effect: &Effect| {
        effect.is_channel_operation() || matches!(effect, Effect::Spawn { .. } | Effect::Exit)
    };
    let certain = guard == Expr::TRUE && !edge.effects.iter().any(blocks);
    (certain && possible.next().is_none()).then_some(number)
}

/// Whether a literal still holds after the effects.
fn survives(literal: &Literal, effects: &[Effect]) -> bool {
    let written: Option<Vec<&Place>> = effects
        .iter()
        .map(|effect| match effect {
            Effect::Assign { place, .. } => Some(Some(place)),
            Effect::Print { .. } => Some(None),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|places| places.into_iter().flatten().collect());
    let Some(written) = written else {
        return false;
    };
    let touches = |variable: VariableRef| written.iter().any(|place| place.variable == variable);
    let mut safe = true;
    literal.condition.walk(&mut |expr| match expr {
        Expr::Read(place) => safe &= !touches(place.variable),
        Expr::ThreadAt { .. } | Expr::RemoteRead { .. } | Expr::Timeout => safe = false,
        _ => {}
    });
    safe
}

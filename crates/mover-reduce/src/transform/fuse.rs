//! Atomic sequences as single edges.
//!
//! `atomic { m == 0 -> m = 1 }` is two edges with an atomic location between them. No other
//! thread can run there and the second edge cannot block, so the two are one action, and only
//! as one action do they acquire a lock. [`fuse`] joins an edge with the following one where
//! the location between them is atomic and exactly one of its edges is enabled in every state,
//! given the guard before it.
//!
//! An edge that may be one half of a rendezvous is not joined with its successor: after it,
//! control passes to the receiver. Nor is an edge whose effects depend on the locations of
//! threads of its own template: the thread itself may be one of them, and in the joined edge it
//! would be at another location while they are evaluated.
//!
//! Locations keep their numbers. Each fused edge records the edges it consists of, so that a
//! run of the fused program can be translated into a run of the original.

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::graph::{control_flow, reachable};
use mover_ir::literal::{Literal, conjunction};
use mover_ir::program::{Edge, Effect, LocationId, Program, Template};
use mover_ir::simplify::assuming;

/// A program whose atomic sequences are joined as far as possible.
#[derive(Clone)]
pub struct Fused {
    pub program: Program,
    /// By template, location and edge: the original edges, each at the target location of the previous
    /// one.
    pub made_of: Vec<Vec<Vec<Vec<Part>>>>,
}

/// An edge of the original within a fused one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub edge: usize,
    /// Whether this edge makes the choice of the fused edge.
    pub chooses: bool,
}

impl Part {
    pub fn new(number: usize, edge: &Edge) -> Part {
        Part {
            edge: number,
            chooses: has_choice(edge),
        }
    }
}

fn has_choice(edge: &Edge) -> bool {
    let is_choice = |effect| matches!(effect, &Effect::Havoc { .. });
    edge.effects.iter().any(is_choice)
}

/// Longest sequence that is joined into one edge.
const LONGEST: usize = 64;

pub fn fuse(original: &Program) -> Fused {
    let mut program = original.clone();
    let has_rendezvous = original.has_rendezvous();
    let mut made_of = Vec::new();
    for (id, (template, fused)) in
        (original.templates.iter().zip(&mut program.templates)).enumerate()
    {
        let asks_for_itself = |edge: &Edge| asks_for_places_of(id, edge);
        let mut of_template = Vec::new();
        for (location, fused) in template.locations.iter().zip(&mut fused.locations) {
            let mut of_location = Vec::new();
            for (number, edge) in location.edges.iter().enumerate() {
                let mut parts = vec![Part::new(number, edge)];
                let may_meet =
                    has_rendezvous && edge.effects.iter().any(Effect::is_channel_operation);
                if !may_meet && !asks_for_itself(edge) {
                    fused.edges[number] = fuse_edge(template, edge, &asks_for_itself, &mut parts);
                }
                of_location.push(parts);
            }
            of_template.push(of_location);
        }
        made_of.push(of_template);
    }
    program.templates.iter_mut().for_each(clear_unreachable);
    Fused { program, made_of }
}

/// Removes the edges of locations that have become unreachable, so that their accesses do not count.
fn clear_unreachable(template: &mut Template) {
    let reached = reachable(&control_flow(template), [template.entry.index()]);
    for location in reached.zeroes() {
        template.locations[location].edges.clear();
    }
}

/// Whether the effects depend on the locations of a template's threads.
fn asks_for_places_of(id: usize, edge: &Edge) -> bool {
    let mut asks = false;
    for effect in &edge.effects {
        effect.walk(&mut |expr| {
            asks |= matches!(expr, Expr::ThreadAt { template, .. } if template.index() == id);
        });
    }
    asks
}

fn fuse_edge(
    template: &Template,
    first: &Edge,
    may_not_join: &dyn Fn(&Edge) -> bool,
    parts: &mut Vec<Part>,
) -> Edge {
    let mut fused = first.clone();
    let mut known = conjunction(&first.guard);
    known.retain(|literal| survives(literal, &first.effects));
    let mut passed: Vec<LocationId> = Vec::new();
    let is_gone = fused.effects.last() == Some(&Effect::Exit);
    while !is_gone && parts.len() < LONGEST && !passed.contains(&fused.target) {
        let between = template.location(fused.target);
        // Where an access may race, the location before it counts.
        if !between.atomic || between.ends_run() || !between.accesses.is_empty() {
            break;
        }
        let Some(next) = only_possible(template, fused.target, &known) else {
            break;
        };
        let edge = &between.edges[next];
        if template.location(edge.target).ends_run() || may_not_join(edge) {
            break;
        }
        // A step has at most one choice, and none together with a channel operation.
        let mut effects = fused.effects.iter();
        let is_taken = has_choice(&fused) || effects.any(Effect::is_channel_operation);
        if is_taken && has_choice(edge) {
            break;
        }
        passed.push(fused.target);
        parts.push(Part::new(next, edge));
        fused.effects.extend(edge.effects.iter().cloned());
        fused.target = edge.target;
        fused.text = format!("{}; {}", fused.text, edge.text);
        known.retain(|literal| survives(literal, &edge.effects));
    }
    // What follows may undo it.
    let mut declared = std::mem::take(&mut fused.sync);
    declared.retain(|op| op.breach(&fused).is_none());
    fused.sync = declared;
    fused
}

/// The only edge of a location that is ever enabled, if it is always enabled.
fn only_possible(template: &Template, location: LocationId, known: &[Literal]) -> Option<usize> {
    let mut possible = template
        .location(location)
        .edges
        .iter()
        .enumerate()
        .map(|(number, edge)| (number, edge, assuming(&edge.guard, known)))
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
        Expr::ThreadAt { .. }
        | Expr::RemoteRead { .. }
        | Expr::Timeout
        | Expr::Load { .. }
        | Expr::ObjectSize(_)
        | Expr::ObjectSite { .. } => safe = false,
        _ => {}
    });
    safe
}

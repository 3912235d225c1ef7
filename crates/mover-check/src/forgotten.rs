//! Locals that are set to 0 only because nobody needs them any more.
//!
//! A front end that keeps values of its own making in locals (registers, in C) clears
//! them where they are dead, so that states which differ in nothing that matters are
//! one. To a reader of a trace that is no change: the variable of the source still
//! has its value. A local that has a place in the source was declared there and is
//! shown whatever happens to it.

use std::collections::HashSet;

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::program::{Edge, LocationId, Template, VariableId};

/// Whether a local of a thread that stands here holds nothing that can be read.
pub fn is_forgotten(template: &Template, here: LocationId, local: VariableId) -> bool {
    if template.locals[local.index()].span.is_some() {
        return false;
    }
    let mut seen = HashSet::from([here]);
    let mut open = vec![here];
    while let Some(location) = open.pop() {
        for edge in &template.location(location).edges {
            if reads(edge, local) {
                return false;
            }
            if !overwrites(template, edge, local) && seen.insert(edge.target) {
                open.push(edge.target);
            }
        }
    }
    true
}

fn is_it(place: &Place, local: VariableId) -> bool {
    place.variable == VariableRef::Local(local)
}

fn reads(edge: &Edge, local: VariableId) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| found |= matches!(expr, Expr::Read(place) if is_it(place, local));
    edge.guard.walk(&mut look);
    edge.effects
        .iter()
        .for_each(|effect| effect.walk(&mut look));
    found
}

fn overwrites(template: &Template, edge: &Edge, local: VariableId) -> bool {
    template.locals[local.index()].len == 1
        && edge
            .effects
            .iter()
            .flat_map(|effect| effect.written_places())
            .any(|place| is_it(place, local))
}

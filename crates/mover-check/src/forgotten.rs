//! Locals that are reset to 0 only because they are dead.
//!
//! A front end that keeps its own temporaries in locals (registers, in C) resets them where
//! they are dead, so that states which differ only in dead values are equal. For the reader of
//! a trace that is not a change: the variable of the source still has its value. A local with a
//! source location was declared in the source, and all its changes are shown.

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

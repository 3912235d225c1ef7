//! What follows a `trylock` that fails, as needed for data races.
//!
//! A failed try shows that the lock was held, but in C11 it does not synchronise (Boehm 2007 explains
//! why): in `x = 1; lock(m)` beside `if (trylock(m)) read x` nothing orders the two accesses. Under
//! sequential consistency no state has both of them next. So the access that comes right after a
//! failure counts as about to be made already where the lock is tried.
//!
//! Two lifted accesses do not race: of two threads that try once, one fails only because the other
//! does not.
//!
//! An access is lifted like this if its address does not depend on what the try assigns. Accesses
//! further behind are not: a branch in between may depend on the value of the first one.

use std::collections::BTreeSet;

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{Effect, Location, LocationId, MemoryAccess};

/// Adds to the locations of tries the accesses that follow a failure.
pub(super) fn lift(locations: &mut [Location], tries: impl Iterator<Item = LocationId>) {
    for at in tries {
        let mut lifted = Vec::new();
        for edge in &locations[at.index()].edges {
            let mut assigned = BTreeSet::new();
            let is_failure = edge.effects.iter().all(|effect| match effect {
                Effect::Assign { place, .. } => match place.variable {
                    VariableRef::Local(id) => {
                        assigned.insert(id);
                        true
                    }
                    VariableRef::Global(_) => false,
                },
                _ => false,
            });
            if !is_failure || edge.target == at {
                continue;
            }
            let next = locations[edge.target.index()].accesses.iter();
            let known = next.filter(|access| !depends(access, &assigned));
            lifted.extend(known.map(|access| MemoryAccess {
                ahead: true,
                ..access.clone()
            }));
        }
        let accesses = &mut locations[at.index()].accesses;
        lifted.retain(|access| !accesses.contains(access));
        accesses.extend(lifted);
    }
}

fn depends(access: &MemoryAccess, assigned: &BTreeSet<mover_ir::program::VariableId>) -> bool {
    let mut found = false;
    for expr in access.exprs() {
        expr.walk(&mut |expr| {
            if let Expr::Read(place) = expr
                && let VariableRef::Local(id) = place.variable
            {
                found |= assigned.contains(&id);
            }
        });
    }
    found
}

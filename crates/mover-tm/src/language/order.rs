//! Whether the visits of a loop commute, as far as the text shows it.
//!
//! If a loop body assigns only fields at the loop's own index, and reads an
//! assigned field only there, then no visit sees or undoes what another did.
//! Any other loop is tried in several orders each time it is executed (see
//! [`crate::evaluate`]).

use super::program::{Code, Effect, Range};

pub fn visits_commute(slot: usize, body: &[Effect]) -> bool {
    let mut assigned = Vec::new();
    let mut at_own_index = true;
    collect_assigned(body, &mut |field, index| {
        at_own_index &= index == Some(slot);
        assigned.push(field);
    });
    let mut reads_own = true;
    visit_loads(body, &mut |field, index| {
        reads_own &= index == Some(slot) || !assigned.contains(&field);
    });
    at_own_index && reads_own
}

/// Calls back for every assignment in a block.
pub fn collect_assigned(body: &[Effect], found: &mut dyn FnMut(usize, Option<usize>)) {
    for effect in body {
        match effect {
            Effect::Assign { field, index, .. } => found(*field, *index),
            Effect::If {
                then, otherwise, ..
            } => {
                collect_assigned(then, found);
                collect_assigned(otherwise, found);
            }
            Effect::For { body, .. } => collect_assigned(body, found),
        }
    }
}

fn visit_loads(body: &[Effect], found: &mut dyn FnMut(usize, Option<usize>)) {
    for effect in body {
        match effect {
            Effect::Assign { value, .. } => loads(value, found),
            Effect::If {
                condition,
                then,
                otherwise,
            } => {
                loads(condition, found);
                visit_loads(then, found);
                visit_loads(otherwise, found);
            }
            Effect::For {
                range,
                condition,
                body,
                ..
            } => {
                range_loads(range, found);
                loads(condition, found);
                visit_loads(body, found);
            }
        }
    }
}

fn range_loads(range: &Range, found: &mut dyn FnMut(usize, Option<usize>)) {
    if let Range::Members(set) = range {
        loads(set, found);
    }
}

/// Calls back for every field that an expression reads.
pub fn loads(code: &Code, found: &mut dyn FnMut(usize, Option<usize>)) {
    match code {
        Code::Constant(_) | Code::Slot(_) | Code::Everything(_) => {}
        Code::Load { field, index } => found(*field, *index),
        Code::Singleton(a) | Code::Not(a) | Code::Size(a) => loads(a, found),
        Code::And(a, b)
        | Code::Or(a, b)
        | Code::Equal(a, b)
        | Code::Less(a, b)
        | Code::LessOrEqual(a, b)
        | Code::Plus(a, b)
        | Code::Minus(a, b)
        | Code::BitOr(a, b)
        | Code::BitAnd(a, b)
        | Code::BitAndNot(a, b)
        | Code::Min(a, b)
        | Code::Max(a, b)
        | Code::Contains { element: a, set: b } => {
            loads(a, found);
            loads(b, found);
        }
        Code::Exists { range, body, .. } => {
            range_loads(range, found);
            loads(body, found);
        }
    }
}

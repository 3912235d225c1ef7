//! Thread exits that only joiners can observe.
//!
//! A thread that exits records this for the threads that wait for it. The waiting threads were
//! blocked before, and if no other thread can distinguish the two states, the exit is a left
//! mover: whatever another thread did before it, that thread can do after it as well, with the
//! same effect. So a transaction can extend to the exit of its thread.
//!
//! The exit is recorded in an array of cells that the front end names ([`Program::presence`]).
//! Whether other threads can observe it is decided edge by edge: the comparisons of such a cell
//! with constants are evaluated once for a running thread and once for a thread that has
//! exited, and the guard must have the same value in both cases, or be false while the thread
//! runs. An edge that is enabled only if another edge is disabled, and an atomic sequence that
//! blocks after its first step, read the array in ways that are not analysed here: if there is
//! one, no exit is quiet.

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::literal::Literal;
use mover_ir::program::{Edge, Effect, Init, Program, VariableId};
use mover_ir::simplify::assuming;

use crate::facts::access::{EdgeRef, edges};

/// The exit edges that only joiners can observe.
pub fn quiet_ends(program: &Program) -> Vec<EdgeRef> {
    let Some(row) = program.presence else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut ended = Vec::new();
    for (at, edge) in edges(program) {
        if let Some(value) = end_value(edge, row) {
            found.push(at);
            if !ended.contains(&value) {
                ended.push(value);
            }
        }
    }
    let Some(values) = values(program, row) else {
        return Vec::new();
    };
    let nobody_tells =
        |&ended: &u64| edges(program).all(|(_, edge)| !tells(edge, row, &values, ended));
    if !is_read_indirectly(program, row) && ended.iter().all(nobody_tells) {
        found
    } else {
        Vec::new()
    }
}

/// Whether the array is read inside an atomic sequence, or by an edge with others of lower priority.
fn is_read_indirectly(program: &Program, row: VariableId) -> bool {
    let mut locations = program.templates.iter().flat_map(|body| &body.locations);
    locations.any(|location| {
        location.edges.iter().any(|edge| {
            let is_below = |other: &Edge| other.priority < edge.priority;
            reads(edge, row) > 0 && (location.atomic || location.edges.iter().any(is_below))
        })
    })
}

/// The values that the cells of the array can have, if they are known.
fn values(program: &Program, row: VariableId) -> Option<Vec<u64>> {
    let mut values = match &program.globals[row.index()].init {
        Init::All(value) => vec![*value],
        Init::Cells(values) => values.clone(),
        Init::Channels(_) => return None,
    };
    for (_, edge) in edges(program) {
        for effect in &edge.effects {
            let mut places = effect.written_places().into_iter();
            if !places.any(|place| is_row(place.variable, row)) {
                continue;
            }
            match effect {
                Effect::Assign { value, .. } => constants(value, &mut values)?,
                _ => return None,
            }
        }
    }
    Some(values)
}

/// The constants that an expression can evaluate to.
fn constants(expr: &Expr, found: &mut Vec<u64>) -> Option<()> {
    match expr {
        Expr::Const { value, .. } => found.push(*value),
        Expr::If(_, then, otherwise) => {
            constants(then, found)?;
            constants(otherwise, found)?;
        }
        _ => return None,
    }
    Some(())
}

fn is_row(variable: VariableRef, row: VariableId) -> bool {
    variable == VariableRef::Global(row)
}

/// The value that an exit edge writes into the array without reading it.
fn end_value(edge: &Edge, row: VariableId) -> Option<u64> {
    if !edge.effects.contains(&Effect::Exit) || reads(edge, row) > 0 {
        return None;
    }
    let mut values = edge.effects.iter().filter_map(|effect| match effect {
        Effect::Assign { place, value } if is_row(place.variable, row) => Some(value.as_const()),
        _ => None,
    });
    match (values.next(), values.next()) {
        (Some(Some(value)), None) if value != 0 => Some(value),
        _ => None,
    }
}

/// Number of reads of the array by an edge.
fn reads(edge: &Edge, row: VariableId) -> usize {
    let mut count = 0;
    walk(edge, &mut |expr| {
        count += usize::from(matches!(expr, Expr::Read(place) if is_row(place.variable, row)));
    });
    count
}

fn walk(edge: &Edge, visit: &mut impl FnMut(&Expr)) {
    edge.guard.walk(visit);
    for effect in &edge.effects {
        effect.walk(visit);
    }
}

/// The index and constant of a comparison of a cell of the array with a constant.
fn comparison(expr: &Expr, row: VariableId) -> Option<(&Expr, u64)> {
    let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, lhs, rhs) = expr else {
        return None;
    };
    match (&**lhs, rhs.as_const()) {
        (Expr::Read(place), Some(constant)) if is_row(place.variable, row) => {
            Some((&place.index, constant))
        }
        _ => None,
    }
}

/// Whether an edge distinguishes a running thread from one that has exited.
fn tells(edge: &Edge, row: VariableId, values: &[u64], ended: u64) -> bool {
    let mut compared = Vec::new();
    walk(edge, &mut |expr| {
        compared.extend(comparison(expr, row).map(|(index, constant)| (index.clone(), constant)));
    });
    if compared.len() != reads(edge, row) {
        return true;
    }
    let mut in_effects = Vec::new();
    for effect in &edge.effects {
        effect.walk(&mut |expr| in_effects.extend(comparison(expr, row).map(|found| found.1)));
    }
    let indices: Vec<&Expr> = compared.iter().map(|(index, _)| index).collect();
    values
        .iter()
        .filter(|&&value| value != 0 && value != ended)
        .any(|&value| {
            indices.iter().any(|index| {
                let before = decided(&edge.guard, row, index, value);
                let after = decided(&edge.guard, row, index, ended);
                let matters = |constant: &u64| *constant == value || *constant == ended;
                before != Expr::FALSE && (before != after || in_effects.iter().any(matters))
            })
        })
}

/// A guard with the comparisons of one cell evaluated for a value.
fn decided(guard: &Expr, row: VariableId, index: &Expr, value: u64) -> Expr {
    let mut known = Vec::new();
    guard.walk(&mut |expr| {
        if let (Expr::Binary(_, lhs, rhs), Some((found, constant))) = (expr, comparison(expr, row))
            && found == index
        {
            known.push(Literal {
                condition: Expr::Binary(BinaryOp::Eq, lhs.clone(), rhs.clone()),
                holds: constant == value,
            });
        }
    });
    assuming(guard, &known)
}

//! Threads that end with nobody the wiser.
//!
//! A thread that ends leaves word of it for whoever waits for it. Those who wait
//! could not go on before, and if nobody else can tell the two states apart, the
//! end of a thread moves left: whatever another thread did before it, it can do
//! after it as well and with the same effect. So a transaction can go on to the
//! very end of its thread.
//!
//! The word is left in a row of cells that the front end names
//! ([`Program::presence`]). Whether others can tell is found out edge by edge: the
//! comparisons of such a cell with constants are decided once for a thread that
//! is there and once for one that has ended, and the guard must be the same both
//! times, or be false as long as the thread is there. An edge that is possible just
//! because another is not, and an atomic sequence that has to wait in its middle,
//! look at the row in ways that are not followed here: then no end is quiet.

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::literal::Literal;
use mover_ir::program::{Edge, Effect, Init, Program, VariableId};
use mover_ir::simplify::assuming;

use crate::facts::access::{EdgeRef, edges};

/// The edges by which a thread ends and nobody can tell but those who wait for it.
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
    if !looks_aside(program, row) && ended.iter().all(nobody_tells) {
        found
    } else {
        Vec::new()
    }
}

/// Whether the row is looked at inside of an atomic sequence, or by an edge that
/// has others below it.
fn looks_aside(program: &Program, row: VariableId) -> bool {
    let mut locations = program.templates.iter().flat_map(|body| &body.locations);
    locations.any(|location| {
        location.edges.iter().any(|edge| {
            let is_below = |other: &Edge| other.priority < edge.priority;
            reads(edge, row) > 0 && (location.atomic || location.edges.iter().any(is_below))
        })
    })
}

/// What the cells of the row can be, if that is known.
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

/// The constants that an expression chooses from.
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

/// What an edge that ends its thread writes into the row, without looking at it.
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

/// How often an edge reads the row.
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

/// The comparison of a cell of the row with a constant: index and constant.
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

/// Whether an edge does anything with a cell of a thread that is there that it
/// would not do with one of a thread that has ended.
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

/// A guard with the comparisons of one cell decided for a value.
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

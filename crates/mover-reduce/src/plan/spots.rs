//! Parts of objects that edges select by local variables.
//!
//! Two threads that access one object do not conflict if they access parts of it that do not
//! overlap. Which part that is follows from the state if an address or an index consists of
//! constants, the thread's number and its local variables: then it can be compared with that of
//! another thread, whose local variables are read from outside ([`remote`]).

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, VariableRef, mask};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, TemplateId, VariableId};
use mover_ir::simplify::fold_binary;

/// A part of an object that an edge accesses, selected by local variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    /// The address of the first byte, or, in a variable without address, the index.
    pub(super) at: Expr,
    /// Bytes from the address on; 0 for an index.
    pub(super) bytes: u64,
    /// The value that is there.
    pub(super) value: Expr,
    pub(super) written: bool,
}

/// Whether an expression consists of local variables that have not been changed yet.
pub(super) fn is_picked_before(expr: &Expr, changed: &[VariableId]) -> bool {
    is_local(expr) && !locals_of(expr).iter().any(|local| changed.contains(local))
}

/// Whether an address is certainly a multiple of a power of two.
pub(super) fn is_multiple(expr: &Expr, of: u64) -> bool {
    match expr {
        Expr::Const { value, .. } => value.is_multiple_of(of),
        Expr::Address { .. } => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            is_multiple(a, of) && is_multiple(b, of)
        }
        Expr::Binary(BinaryOp::Mul, a, b) => is_multiple(a, of) || is_multiple(b, of),
        Expr::Binary(BinaryOp::Shl, a, b) => {
            is_multiple(a, of)
                || b.as_const()
                    .is_some_and(|by| by < 64 && (1u64 << by).is_multiple_of(of))
        }
        Expr::Resize { arg, .. } => is_multiple(arg, of),
        Expr::If(_, a, b) => is_multiple(a, of) && is_multiple(b, of),
        _ => of == 1,
    }
}

/// The condition that two parts of an object do not overlap.
pub(super) fn apart(a: &Spot, b: &Spot) -> Expr {
    if a.bytes == 0 || b.bytes == 0 {
        return differ(a.at.clone(), b.at.clone());
    }
    // Neither begins inside the other; differences wrap around.
    let distance = |from: &Expr, to: &Expr| fold_binary(BinaryOp::Sub, to.clone(), from.clone());
    let width = a.at.width();
    let bytes = |count: u64| Expr::constant(count as i64, width);
    let behind = fold_binary(BinaryOp::ULe, bytes(a.bytes), distance(&a.at, &b.at));
    let before = fold_binary(BinaryOp::ULe, bytes(b.bytes), distance(&b.at, &a.at));
    behind.and(before)
}

pub(super) fn remote_spot(spot: &Spot, thread: usize, template: TemplateId) -> Spot {
    Spot {
        at: remote(&spot.at, thread, template),
        ..spot.clone()
    }
}

/// Whether an expression consists of constants, the thread's number and local scalars or arrays.
pub(super) fn is_local(expr: &Expr) -> bool {
    let mut local = true;
    expr.walk(&mut |expr| {
        local &= match expr {
            Expr::Const { .. }
            | Expr::Address { .. }
            | Expr::ThreadId
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => true,
            Expr::Read(place) => matches!(place.variable, VariableRef::Local(_)),
            _ => false,
        };
    });
    local
}

pub(super) fn locals_of(expr: &Expr) -> Vec<VariableId> {
    let mut locals = Vec::new();
    expr.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
        {
            locals.push(id);
        }
    });
    locals
}

pub(super) fn written_locals(edge: &Edge) -> Vec<VariableId> {
    edge.effects
        .iter()
        .flat_map(Effect::written_places)
        .filter_map(|place| match place.variable {
            VariableRef::Local(id) => Some(id),
            VariableRef::Global(_) => None,
        })
        .collect()
}

/// The expression with local variables read from another thread.
pub(super) fn remote(expr: &Expr, thread: usize, template: TemplateId) -> Expr {
    let number = || Expr::constant(thread as i64, INDEX_WIDTH);
    expr.rewrite(&mut |expr| match expr {
        Expr::ThreadId => Some(number()),
        Expr::Read(place) => match place.variable {
            VariableRef::Local(variable) => Some(Expr::RemoteRead {
                thread: Box::new(number()),
                template,
                variable,
                index: Box::new(remote(&place.index, thread, template)),
                ty: place.ty,
            }),
            VariableRef::Global(_) => Some(expr.clone()),
        },
        _ => None,
    })
}

/// The condition that two indices differ, whatever their widths.
pub(super) fn differ(a: Expr, b: Expr) -> Expr {
    let width = a.width().max(b.width());
    fold_binary(BinaryOp::Ne, a.resize(width, false), b.resize(width, false))
}

/// The constant to which the guard equates a value in memory.
pub(super) fn expected_value(guard: &Expr, there: &Expr) -> Option<u64> {
    let is_there = |expr: &Expr| match (expr, there) {
        (Expr::Read(a), Expr::Read(b)) => a == b,
        (Expr::Load { address: a, ty: s }, Expr::Load { address: b, ty: t }) => {
            a == b && s.width == t.width
        }
        _ => false,
    };
    let reads = |expr: &Expr| match expr {
        Expr::Resize {
            arg,
            width,
            signed: false,
        } => is_there(arg) && arg.width() <= *width,
        _ => is_there(expr),
    };
    conjunction(guard)
        .iter()
        .find_map(|literal| match &literal.condition {
            Expr::Binary(BinaryOp::Eq, a, b) if literal.holds => {
                let value = if reads(a) {
                    b.as_const()
                } else if reads(b) {
                    a.as_const()
                } else {
                    None
                };
                value.filter(|&value| value <= mask(there.width()))
            }
            condition if condition.width() == 1 && is_there(condition) => {
                Some(u64::from(literal.holds))
            }
            _ => None,
        })
}

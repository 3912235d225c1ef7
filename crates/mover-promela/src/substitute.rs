//! Initial values that depend on the moment of creation.
//!
//! `byte y = x + g` in a proctype means: when a process is created, `y` starts
//! as the parameter `x` plus the global `g` of that moment. The IR knows only
//! constant initial values, so such a variable becomes a hidden parameter, and
//! whoever creates the process passes its value: the initial value with each
//! parameter replaced by its argument.

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::program::{Init, Variable};

/// An initial value of the new process as an expression of its creator. The
/// first locals of the new process have the values `known`; its other locals
/// have constant initial values; its number is `number`.
pub fn at_creation(initial: &Expr, known: &[Expr], locals: &[Variable], number: &Expr) -> Expr {
    initial.rewrite(&mut |expr| match expr {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(id) => Some(match known.get(id.index()) {
                Some(value) => value.clone(),
                None => constant_of(&locals[id.index()], place),
            }),
            VariableRef::Global(_) => None,
        },
        Expr::ThreadId => Some(number.clone()),
        _ => None,
    })
}

/// The initial content of a cell of a local with constant initial values.
fn constant_of(variable: &Variable, place: &Place) -> Expr {
    let width = place.ty.width;
    let cell = |index: u64| match &variable.init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => values.get(index as usize).copied(),
        Init::Channels(_) => None,
    };
    let value = place.index.as_const().and_then(cell).unwrap_or(0);
    Expr::Const { value, width }
}

/// Whether [`at_creation`] can express an initial value exactly.
pub fn is_expressible(initial: &Expr, locals: &[Variable]) -> bool {
    let mut expressible = true;
    initial.walk(&mut |expr| match expr {
        Expr::Read(place) => {
            if let VariableRef::Local(id) = place.variable {
                let variable = &locals[id.index()];
                expressible &=
                    place.index.as_const().is_some() && !matches!(variable.init, Init::Channels(_));
            }
        }
        Expr::Const { .. }
        | Expr::ThreadId
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::If(..)
        | Expr::Resize { .. }
        | Expr::Channel(mover_ir::expr::ChannelRef::Global(_)) => {}
        _ => expressible = false,
    });
    expressible
}

//! The pieces that every family builds its programs from.
//!
//! The intermediate language has a field for whatever some front end needs; a random program
//! sets a few of them. The constructors of [`mover_ir::program`] leave out the rest; here is what
//! only random programs need. Nothing in here draws a number but [`locations`], so what a seed stands for is
//! decided by the families alone.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;

use crate::random::Random;

/// A program without anything in it.
pub fn empty(name: String) -> Program {
    Program {
        info: ProgramInfo::named(name),
        max_threads: 1,
        ..Program::default()
    }
}

pub fn variable(name: String, ty: Ty, len: u32, init: Init) -> Variable {
    Variable {
        len,
        is_array: len > 1,
        init,
        ..Variable::scalar(name, ty)
    }
}

/// Locations without edges, one in `atomic` of them atomic.
pub fn locations(random: &mut Random, count: usize, atomic: u64) -> Vec<Location> {
    (0..count)
        .map(|_| Location {
            atomic: random.one_in(atomic),
            valid_end: random.one_in(3),
            ..Location::default()
        })
        .collect()
}

pub fn global(id: u32, ty: Ty) -> Place {
    Place::scalar(VariableRef::Global(VariableId(id)), ty)
}

pub fn local(id: u32, ty: Ty) -> Place {
    Place::scalar(VariableRef::Local(VariableId(id)), ty)
}

pub fn assign(place: Place, value: Expr) -> Effect {
    Effect::Assign { place, value }
}

pub fn equal(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, a, b)
}

/// What threads write into the locks that they take.
pub fn own_mark() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1))
}

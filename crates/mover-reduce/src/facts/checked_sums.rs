//! Sums of which a guard says that they stay with their object.
//!
//! Where a front end cannot rule out that an index leads from one object into another, it emits a
//! check. Let B be the number of bits of an offset, a an address and x a number. Then
//!
//! ```text
//! ((a + c) ^ (a + x + c)) < 2^B
//! ```
//!
//! says that a + c and a + x + c have the same object number. With c = [`PointerLayout::room_before`]
//! the addresses in front of an object, as far as c reaches, count as its own. So if a is in the
//! *window* from c bytes in front of an object to 2^B - c bytes behind its beginning, then a + x is
//! in the same window. No other object has bytes there.
//!
//! [`PointerLayout::room_before`]: mover_ir::program::PointerLayout::room_before

use mover_ir::expr::{BinaryOp, Expr, VariableRef, mask};
use mover_ir::literal::flatten;
use mover_ir::program::{Effect, Program};

/// A sum: its terms without constants, and the constants together.
#[derive(Clone, Debug)]
pub struct Sum {
    pub terms: Vec<Expr>,
    pub plus: u64,
}

impl Sum {
    pub fn new(expr: &Expr) -> Sum {
        let mut all = Vec::new();
        terms(expr, &mut all);
        let constants = all.iter().filter_map(|term| term.as_const());
        Sum {
            plus: constants.fold(0, u64::wrapping_add) & mask(expr.width()),
            terms: (all.into_iter())
                .filter(|term| term.as_const().is_none())
                .cloned()
                .collect(),
        }
    }

    fn less(mut self, by: u64, width: u8) -> Sum {
        self.plus = self.plus.wrapping_sub(by) & mask(width);
        self
    }

    /// Whether all terms of another sum are among its own.
    fn includes(&self, other: &Sum) -> bool {
        let mut rest: Vec<&Expr> = self.terms.iter().collect();
        other.terms.iter().all(|term| {
            let found = rest.iter().position(|own| *own == term);
            found.map(|at| rest.swap_remove(at)).is_some()
        })
    }

    fn is(&self, other: &Sum) -> bool {
        self.plus == other.plus && self.terms.len() == other.terms.len() && self.includes(other)
    }
}

/// A sum that was checked, and the address that it stays with.
#[derive(Clone, Debug)]
pub struct Checked {
    pub base: Sum,
    pub sum: Sum,
}

/// The sums that the guard of an edge has checked, as far as they are still what they were.
pub struct CheckedSums {
    checked: Vec<Checked>,
}

impl CheckedSums {
    pub fn of_guard(program: &Program, guard: &Expr) -> CheckedSums {
        let mut literals = Vec::new();
        flatten(guard, true, &mut literals);
        let (room, width) = (program.pointers.room_before(), program.pointers.width);
        let mut checked = Vec::new();
        for literal in literals.iter().filter(|literal| literal.holds) {
            if let Some((a, b)) = sides_of_check(program, &literal.condition) {
                let base = Sum::new(a).less(room, width);
                let sum = Sum::new(b).less(room, width);
                if sum.includes(&base) {
                    checked.push(Checked { base, sum });
                }
            }
        }
        CheckedSums { checked }
    }

    /// The check of a sum, if there is one.
    pub fn of(&self, expr: &Expr) -> Option<&Checked> {
        if !matches!(expr, Expr::Binary(BinaryOp::Add, ..)) {
            return None;
        }
        let sum = Sum::new(expr);
        self.checked.iter().find(|checked| checked.sum.is(&sum))
    }

    /// What an effect of the edge leaves of it: the guard has checked the values before the edge.
    pub fn after(&mut self, effect: &Effect) {
        self.checked.retain(|checked| {
            checked
                .sum
                .terms
                .iter()
                .all(|term| is_unchanged(term, effect))
        });
    }
}

/// Whether an expression has the same value before and after an effect.
pub fn is_unchanged(expr: &Expr, effect: &Effect) -> bool {
    let written: Vec<VariableRef> = (effect.written_places().iter())
        .map(|place| place.variable)
        .collect();
    let stores = matches!(effect, Effect::Store { .. } | Effect::Free { .. });
    let mut stays = true;
    expr.walk(&mut |part| match part {
        Expr::Read(place) => stays &= !written.contains(&place.variable),
        Expr::Load { .. } => stays &= !stores && written.is_empty(),
        _ => {}
    });
    stays
}

/// The two sides of a comparison of object numbers, `a ^ b < 2^B`.
pub fn sides_of_check<'e>(program: &Program, expr: &'e Expr) -> Option<(&'e Expr, &'e Expr)> {
    let Expr::Binary(BinaryOp::ULt, lhs, rhs) = expr else {
        return None;
    };
    let bound = rhs.as_const()?;
    match &**lhs {
        Expr::Binary(BinaryOp::Xor, a, b)
            if bound == 1u64.checked_shl(program.pointers.offset_bits.into())? =>
        {
            Some((a, b))
        }
        _ => None,
    }
}

/// The terms of a sum.
pub fn terms<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(BinaryOp::Add, lhs, rhs) => {
            terms(lhs, found);
            terms(rhs, found);
        }
        _ => found.push(expr),
    }
}

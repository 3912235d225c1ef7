//! Bits that have the same value in all reachable states.
//!
//! The formula of a block is evaluated on bits that are 0, 1 or unknown, starting from the
//! initial state, until no cell loses a known bit any more. The remaining known bits hold in
//! every state: the upper bits of a thread's number, the object part of a pointer into one
//! array, cells that are never written. Such bits need no variables, and IC3 need not learn
//! them.

use mover_ir::eval::{KnownBits, KnownBitsDomain};
use mover_ir::expr::mask;
use rustc_hash::FxHashMap;

use crate::term::{Term, Terms};
use mover_engine::Control;

/// A term with a variable for the bits that are unknown.
pub fn variable(known: KnownBits, terms: &mut Terms, name: String, width: u8) -> Term {
    if known.unknown() == 0 {
        return terms.constant(known.value(), width);
    }
    let narrow = 64 - known.unknown().leading_zeros() as u8;
    let variable = terms.variable(name, narrow);
    let wide = terms.resize(variable, width, false);
    let free = terms.constant(known.unknown() | !mask(narrow), width);
    let fixed = terms.constant(known.value(), width);
    let masked = terms.and(wide, free);
    terms.or(masked, fixed)
}

/// Terms between two checks of the clock.
const TERMS_PER_LOOK: usize = 1 << 12;

/// What is known of each cell after any number of blocks from one of these states.
/// Nothing if a limit was reached.
pub fn reachable_bits(
    terms: &Terms,
    state: &[Term],
    next: &[Term],
    initial: &[&[u64]],
    limit: &Control,
) -> Option<Vec<KnownBits>> {
    let order = terms.below(next);
    let mut cells: Vec<KnownBits> = initial[0].iter().map(|&v| KnownBits::exactly(v)).collect();
    for state in &initial[1..] {
        for (cell, &value) in cells.iter_mut().zip(*state) {
            *cell = cell.join(KnownBits::exactly(value));
        }
    }
    // The variable that encodes each cell; the cell's other bits are constants of the term.
    let variables: Vec<Option<Term>> = state
        .iter()
        .map(|&cell| {
            let below = terms.below(&[cell]);
            below.into_iter().find(|&term| terms.as_var(term).is_some())
        })
        .collect();
    loop {
        let mut values: FxHashMap<Term, KnownBits> = FxHashMap::default();
        for (variable, cell) in variables.iter().zip(&cells) {
            if let Some(variable) = variable {
                values.insert(*variable, cell.truncated(terms.width(*variable)));
            }
        }
        for (number, &term) in order.iter().enumerate() {
            if number.is_multiple_of(TERMS_PER_LOOK) && limit.is_over() {
                return None;
            }
            if !values.contains_key(&term) {
                let value = match terms.as_var(term) {
                    Some(_) => KnownBits::nothing(terms.width(term)),
                    None => terms.apply(&mut KnownBitsDomain, term, |child| values[&child]),
                };
                values.insert(term, value);
            }
        }
        let mut changed = false;
        for (cell, term) in cells.iter_mut().zip(next) {
            let joined = cell.join(values[term]);
            changed |= joined != *cell;
            *cell = joined;
        }
        if !changed {
            return Some(cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_bits_of_a_wrapping_counter_are_known() {
        let mut terms = Terms::new();
        let cell = terms.variable("counter", 32);
        let one = terms.constant(1, 32);
        let more = terms.add(cell, one);
        let three = terms.constant(3, 32);
        let next = terms.and(more, three);
        let known = reachable_bits(&terms, &[cell], &[next], &[&[8]], &Control::unlimited());
        let known = known.expect("there is no limit");
        // 8, then 1, 2, 3, 0, …
        assert_eq!(known[0].unknown(), 0b1011);
        assert_eq!(known[0].value(), 0);
    }

    #[test]
    fn what_is_not_known_has_a_variable() {
        let mut terms = Terms::new();
        let known = KnownBits::new(0b0110, 0b1000);
        let term = variable(known, &mut terms, "v".into(), 8);
        for value in 0..8u64 {
            let assignment = |_| value;
            let mut evaluation = crate::term::Evaluation::new(&terms, &assignment);
            assert_eq!(evaluation.eval(term), value & 0b0110 | 0b1000);
        }
    }
}

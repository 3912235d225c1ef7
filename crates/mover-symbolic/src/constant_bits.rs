//! Bits that have one value in all reachable states.
//!
//! The formula of a block is run on bits that are 0, 1 or unknown, from the initial
//! state on, until no cell loses a bit any more. What is then still known holds in
//! every state: the upper bits of a thread's number, the object of a pointer that
//! points into one array, whatever nobody writes. Such bits need no variables, and
//! IC3 need not learn them.

use mover_ir::expr::mask;
use rustc_hash::FxHashMap;

use crate::term::{Node, Term, Terms};
use mover_engine::Control;

/// A bit-vector of which some bits are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// Bits that are unknown.
    unknown: u64,
    /// The known bits that are 1.
    value: u64,
}

impl Known {
    pub fn nothing(width: u8) -> Known {
        Known {
            unknown: mask(width),
            value: 0,
        }
    }

    fn exactly(value: u64) -> Known {
        Known { unknown: 0, value }
    }

    pub fn has(&self, bit: u8) -> bool {
        self.unknown >> bit & 1 == 0
    }

    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    pub fn value(&self) -> u64 {
        self.value
    }

    /// What is known if both are true.
    pub fn meet(self, other: Known) -> Known {
        Known {
            unknown: self.unknown & other.unknown,
            value: self.value | other.value,
        }
    }

    /// What both have in common.
    fn join(self, other: Known) -> Known {
        let unknown = self.unknown | other.unknown | (self.value ^ other.value);
        Known {
            unknown,
            value: self.value & !unknown,
        }
    }

    fn certainly(self, bit: u64) -> Option<bool> {
        (self.unknown & bit == 0).then_some(self.value & bit != 0)
    }

    /// A term with a variable for the bits that are unknown.
    pub fn variable(&self, terms: &mut Terms, name: String, width: u8) -> Term {
        if self.unknown == 0 {
            return terms.constant(self.value, width);
        }
        let narrow = 64 - self.unknown.leading_zeros() as u8;
        let variable = terms.variable(name, narrow);
        let wide = terms.resize(variable, width, false);
        let free = terms.constant(self.unknown | !mask(narrow), width);
        let fixed = terms.constant(self.value, width);
        let masked = terms.and(wide, free);
        terms.or(masked, fixed)
    }
}

/// Terms between two looks at the clock.
const TERMS_PER_LOOK: usize = 1 << 12;

/// What is known of each cell after any number of blocks from one of these states.
/// Nothing if a limit was reached.
pub fn reachable_bits(
    terms: &Terms,
    state: &[Term],
    next: &[Term],
    initial: &[&[u64]],
    limit: &Control,
) -> Option<Vec<Known>> {
    let order = terms.below(next);
    let mut cells: Vec<Known> = initial[0].iter().map(|&v| Known::exactly(v)).collect();
    for state in &initial[1..] {
        for (cell, &value) in cells.iter_mut().zip(*state) {
            *cell = cell.join(Known::exactly(value));
        }
    }
    // The variable behind each cell; the cell's other bits are constants of the term.
    let variables: Vec<Option<Term>> = state
        .iter()
        .map(|&cell| {
            let below = terms.below(&[cell]);
            below.into_iter().find(|&term| terms.as_var(term).is_some())
        })
        .collect();
    loop {
        let mut values: FxHashMap<Term, Known> = FxHashMap::default();
        for (variable, cell) in variables.iter().zip(&cells) {
            if let Some(variable) = variable {
                let bits = mask(terms.width(*variable));
                let known = Known {
                    unknown: cell.unknown & bits,
                    value: cell.value & bits,
                };
                values.insert(*variable, known);
            }
        }
        for (number, &term) in order.iter().enumerate() {
            if number.is_multiple_of(TERMS_PER_LOOK) && limit.is_over() {
                return None;
            }
            if !values.contains_key(&term) {
                let value = evaluate(terms, term, |child| values[&child]);
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

fn evaluate(terms: &Terms, term: Term, of: impl Fn(Term) -> Known) -> Known {
    let width = terms.width(term);
    let nothing = Known::nothing(width);
    match terms.node(term) {
        Node::Const(value) => Known::exactly(value),
        Node::Not(a) => {
            let a = of(a);
            Known {
                unknown: a.unknown,
                value: !a.value & !a.unknown & mask(width),
            }
        }
        Node::And(a, b) => {
            let (a, b) = (of(a), of(b));
            let ones = a.value & b.value;
            let maybe = (a.value | a.unknown) & (b.value | b.unknown);
            Known {
                unknown: maybe & !ones,
                value: ones,
            }
        }
        Node::Xor(a, b) => {
            let (a, b) = (of(a), of(b));
            let unknown = a.unknown | b.unknown;
            Known {
                unknown,
                value: (a.value ^ b.value) & !unknown,
            }
        }
        Node::Add(a, b) => sum(of(a), of(b), Some(false), width),
        Node::Sub(a, b) => {
            let b = of(b);
            let negated = Known {
                unknown: b.unknown,
                value: !b.value & !b.unknown & mask(width),
            };
            sum(of(a), negated, Some(true), width)
        }
        Node::Shl(a, by) => match of(by) {
            Known { unknown: 0, value } if value < u64::from(width) => {
                let a = of(a);
                Known {
                    unknown: a.unknown << value & mask(width),
                    value: a.value << value & mask(width),
                }
            }
            _ => nothing,
        },
        Node::LShr(a, by) => match of(by) {
            Known { unknown: 0, value } if value < u64::from(width) => {
                let a = of(a);
                Known {
                    unknown: a.unknown >> value,
                    value: a.value >> value,
                }
            }
            _ => nothing,
        },
        Node::Eq(a, b) => {
            let (a, b) = (of(a), of(b));
            let known = !(a.unknown | b.unknown);
            if (a.value ^ b.value) & known != 0 {
                Known::exactly(0)
            } else if a.unknown | b.unknown == 0 {
                Known::exactly(1)
            } else {
                nothing
            }
        }
        Node::ULt(a, b) => {
            let (a, b) = (of(a), of(b));
            let (least_a, most_a) = (a.value, a.value | a.unknown);
            let (least_b, most_b) = (b.value, b.value | b.unknown);
            if most_a < least_b {
                Known::exactly(1)
            } else if least_a >= most_b {
                Known::exactly(0)
            } else {
                nothing
            }
        }
        Node::Ite(c, a, b) => match of(c).certainly(1) {
            Some(true) => of(a),
            Some(false) => of(b),
            None => of(a).join(of(b)),
        },
        Node::Low(a) => {
            let a = of(a);
            Known {
                unknown: a.unknown & mask(width),
                value: a.value & mask(width),
            }
        }
        Node::ZeroExtend(a) => of(a),
        Node::SignExtend(a) => {
            let from = terms.width(a);
            let a = of(a);
            let upper = mask(width) & !mask(from);
            match a.certainly(1 << (from - 1)) {
                Some(false) => a,
                Some(true) => Known {
                    unknown: a.unknown,
                    value: a.value | upper,
                },
                None => Known {
                    unknown: a.unknown | upper,
                    value: a.value,
                },
            }
        }
        Node::Var(_)
        | Node::Mul(..)
        | Node::UDiv(..)
        | Node::URem(..)
        | Node::AShr(..)
        | Node::SLt(..) => {
            let children_known = {
                let mut all = !matches!(terms.node(term), Node::Var(_));
                terms.children(term, |child| all &= of(child).unknown == 0);
                all
            };
            if children_known {
                Known::exactly(terms.apply(term, |child| of(child).value))
            } else {
                nothing
            }
        }
    }
}

/// Bit by bit, with a carry that may be unknown.
fn sum(a: Known, b: Known, mut carry: Option<bool>, width: u8) -> Known {
    let mut result = Known {
        unknown: 0,
        value: 0,
    };
    for place in 0..width {
        let bit = 1u64 << place;
        let bits = [a.certainly(bit), b.certainly(bit), carry];
        let ones = bits.iter().filter(|b| **b == Some(true)).count();
        let zeros = bits.iter().filter(|b| **b == Some(false)).count();
        if ones + zeros == 3 {
            if ones % 2 == 1 {
                result.value |= bit;
            }
        } else {
            result.unknown |= bit;
        }
        carry = if ones >= 2 {
            Some(true)
        } else if zeros >= 2 {
            Some(false)
        } else {
            None
        };
    }
    result
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
        let known = Known {
            unknown: 0b0110,
            value: 0b1000,
        };
        let term = known.variable(&mut terms, "v".into(), 8);
        for value in 0..8u64 {
            let assignment = |_| value;
            let mut evaluation = crate::term::Evaluation::new(&terms, &assignment);
            assert_eq!(evaluation.eval(term), value & 0b0110 | 0b1000);
        }
    }
}

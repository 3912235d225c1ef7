//! Evaluates expressions and executes effects on a state.
//!
//! A state is a row of bytes (see [`crate::layout`]). Two things can go wrong
//! while an algorithm runs, and both are errors of the algorithm: a number
//! leaves its declared range, or the outcome of a loop depends on the order of
//! its visits. The second would let an algorithm favour one thread over
//! another, against which the search relies (renamed states are merged).

use mover_source::diagnostic::Diagnostic;

use crate::language::program::{Code, Effect, MAX_SLOTS, Program, Range, Type};
use crate::language::syntax::IndexKind;
use crate::times;

pub type Environment = [u8; MAX_SLOTS];

/// Where the fields of a program lie in a state.
pub struct Evaluator<'p> {
    pub program: &'p Program,
    pub threads: usize,
    pub variables: usize,
    /// Offset of each field's first byte.
    pub base: Vec<usize>,
    /// Distance between the bytes of a field at neighbouring indices.
    pub stride: Vec<usize>,
    /// The bytes that are times.
    pub times: Vec<usize>,
}

impl Evaluator<'_> {
    fn address(&self, field: usize, index: Option<usize>, environment: &Environment) -> usize {
        let index = index.map_or(0, |slot| environment[slot] as usize);
        self.base[field] + index * self.stride[field]
    }

    pub fn everything(&self, kind: IndexKind) -> i32 {
        let count = match kind {
            IndexKind::Thread => self.threads,
            IndexKind::Variable => self.variables,
        };
        (1 << count) - 1
    }

    fn range_mask(&self, range: &Range, state: &[u8], environment: &mut Environment) -> i32 {
        match range {
            Range::Threads => self.everything(IndexKind::Thread),
            Range::Variables => self.everything(IndexKind::Variable),
            Range::OtherThreads { than } => {
                self.everything(IndexKind::Thread) & !(1 << environment[*than])
            }
            Range::Members(set) => self.value(set, state, environment),
        }
    }

    pub fn holds(&self, code: &Code, state: &[u8], environment: &mut Environment) -> bool {
        self.value(code, state, environment) != 0
    }

    pub fn value(&self, code: &Code, state: &[u8], environment: &mut Environment) -> i32 {
        match code {
            Code::Constant(value) => *value,
            Code::Slot(slot) => i32::from(environment[*slot]),
            Code::Load { field, index } => {
                i32::from(state[self.address(*field, *index, environment)])
            }
            Code::Everything(kind) => self.everything(*kind),
            Code::Singleton(index) => 1 << self.value(index, state, environment),
            Code::Not(a) => i32::from(!self.holds(a, state, environment)),
            Code::And(a, b) => {
                i32::from(self.holds(a, state, environment) && self.holds(b, state, environment))
            }
            Code::Or(a, b) => {
                i32::from(self.holds(a, state, environment) || self.holds(b, state, environment))
            }
            Code::Size(a) => self.value(a, state, environment).count_ones() as i32,
            Code::Equal(a, b) => self.both(a, b, state, environment, |a, b| i32::from(a == b)),
            Code::Less(a, b) => self.both(a, b, state, environment, |a, b| i32::from(a < b)),
            Code::LessOrEqual(a, b) => {
                self.both(a, b, state, environment, |a, b| i32::from(a <= b))
            }
            Code::Contains { element, set } => {
                self.both(element, set, state, environment, |e, set| set >> e & 1)
            }
            Code::Plus(a, b) => self.both(a, b, state, environment, |a, b| a + b),
            Code::Minus(a, b) => self.both(a, b, state, environment, |a, b| a - b),
            Code::BitOr(a, b) => self.both(a, b, state, environment, |a, b| a | b),
            Code::BitAnd(a, b) => self.both(a, b, state, environment, |a, b| a & b),
            Code::BitAndNot(a, b) => self.both(a, b, state, environment, |a, b| a & !b),
            Code::Min(a, b) => self.both(a, b, state, environment, i32::min),
            Code::Max(a, b) => self.both(a, b, state, environment, i32::max),
            Code::Exists { slot, range, body } => {
                let mut mask = self.range_mask(range, state, environment);
                let outer = environment[*slot];
                let mut found = false;
                while mask != 0 && !found {
                    environment[*slot] = mask.trailing_zeros() as u8;
                    mask &= mask - 1;
                    found = self.holds(body, state, environment);
                }
                environment[*slot] = outer;
                i32::from(found)
            }
        }
    }

    fn both(
        &self,
        a: &Code,
        b: &Code,
        state: &[u8],
        environment: &mut Environment,
        combine: impl Fn(i32, i32) -> i32,
    ) -> i32 {
        let a = self.value(a, state, environment);
        let b = self.value(b, state, environment);
        combine(a, b)
    }

    pub fn execute(
        &self,
        effects: &[Effect],
        state: &mut [u8],
        environment: &mut Environment,
    ) -> Result<(), Diagnostic> {
        for effect in effects {
            match effect {
                Effect::Assign {
                    field,
                    index,
                    value,
                    span,
                } => {
                    let advances = matches!(value, Code::Plus(..));
                    let value = self.value(value, state, environment);
                    let declared = &self.program.fields[*field];
                    if let Type::Range { low, high } = declared.ty
                        && !(i32::from(low)..=i32::from(high)).contains(&value)
                    {
                        return Err(Diagnostic::coded(
                            "T020",
                            format!(
                                "`{}` would become {value}, outside of its range {low}..{high}",
                                declared.name
                            ),
                        )
                        .at(*span, "")
                        .help("bound it with `min` or `max`, or declare a larger range"));
                    }
                    if declared.ty == Type::Time && advances {
                        times::refuse_gap(&self.times, state, value).map_err(|error| {
                            Diagnostic::coded("T020", error.to_string()).at(*span, "").help(
                                "only the latest time can be advanced: let the clock be the latest",
                            )
                        })?;
                    }
                    let address = self.address(*field, *index, environment);
                    state[address] = value as u8;
                }
                Effect::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let branch = if self.holds(condition, state, environment) {
                        then
                    } else {
                        otherwise
                    };
                    self.execute(branch, state, environment)?;
                }
                Effect::For {
                    slot,
                    range,
                    condition,
                    body,
                    order_free,
                    span,
                } => {
                    let mask = self.range_mask(range, state, environment);
                    let outer = environment[*slot];
                    // Who is visited is settled before the first visit.
                    let mut visits = Vec::new();
                    for index in (0..8).filter(|index| mask >> index & 1 == 1) {
                        environment[*slot] = index;
                        if self.holds(condition, state, environment) {
                            visits.push(index);
                        }
                    }
                    let before = (!order_free && visits.len() > 1).then(|| state.to_vec());
                    self.visit(&visits, *slot, body, state, environment)?;
                    if let Some(before) = before {
                        for order in other_orders(&visits) {
                            let mut other = before.clone();
                            self.visit(&order, *slot, body, &mut other, environment)?;
                            if other != *state {
                                return Err(Diagnostic::coded(
                                    "T020",
                                    "the outcome of this loop depends on the order of its visits",
                                )
                                .at(*span, "")
                                .help("an algorithm must treat all threads and variables alike"));
                            }
                        }
                    }
                    environment[*slot] = outer;
                }
            }
        }
        Ok(())
    }

    fn visit(
        &self,
        visits: &[u8],
        slot: usize,
        body: &[Effect],
        state: &mut [u8],
        environment: &mut Environment,
    ) -> Result<(), Diagnostic> {
        for &index in visits {
            environment[slot] = index;
            self.execute(body, state, environment)?;
        }
        Ok(())
    }
}

/// All other orders of up to three visits. For more, every exchange of two
/// visits, which finds a dependence between any two of them.
fn other_orders(visits: &[u8]) -> Vec<Vec<u8>> {
    let mut orders = Vec::new();
    for i in 0..visits.len() {
        for j in i + 1..visits.len() {
            let mut order = visits.to_vec();
            order.swap(i, j);
            orders.push(order);
        }
    }
    if visits.len() == 3 {
        orders.push(vec![visits[1], visits[2], visits[0]]);
        orders.push(vec![visits[2], visits[0], visits[1]]);
    }
    orders
}

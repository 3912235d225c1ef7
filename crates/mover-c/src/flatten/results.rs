//! Results that the C library leaves open, and values that the environment chooses.
//!
//! The standard says of some results only what they mean: `strcmp` returns a number with a certain
//! sign, `isdigit` some number that is not 0. A program that looks at more than that must work with
//! every such number, so the result becomes an input with the same meaning. Most programs compare it
//! with 0 only, and for them it stays what the runtime computes.

use super::{Flat, Flattener, Problem};
use crate::few_values::ANY;
use crate::ssa::*;

/// What the result of a library function tells, where it is not a certain number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Whether it is 0.
    Truth,
    /// Whether it is negative, 0 or positive.
    Sign,
}

pub(super) fn means(name: &str) -> Option<Meaning> {
    match name {
        "strcmp" | "strncmp" | "memcmp" | "strcasecmp" | "strncasecmp" | "strcoll" | "bcmp" => {
            Some(Meaning::Sign)
        }
        "isalnum" | "isalpha" | "isblank" | "iscntrl" | "isdigit" | "isgraph" | "islower"
        | "isprint" | "ispunct" | "isspace" | "isupper" | "isxdigit" => Some(Meaning::Truth),
        _ => None,
    }
}

impl Flattener<'_> {
    /// A number that nothing determines.
    pub(super) fn any_value(&mut self, at: BlockId, width: u8, loc: Option<Loc>) -> Operand {
        let kind = Kind::Library {
            name: ANY.into(),
            args: vec![Operand::Int {
                value: 0,
                width: 64,
            }],
            arg_shapes: vec![vec![64]],
            shape: vec![width],
        };
        self.value(at, width, kind, loc)
    }

    /// A structure that the environment chooses, in the variable that a pointer points to.
    pub(super) fn any_structure(
        &mut self,
        at: BlockId,
        name: &str,
        to: &Operand,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let size = self.variable_bytes(to).map(|value| Operand::Int {
            value,
            width: self.module.pointer_width(),
        });
        match size {
            Some(size) if self.any_scalars(at, to, &size, loc) => Ok(at),
            _ => {
                let message = format!("`{name}` returns a structure that is not supported");
                Err(Problem::new(message, loc).code("C012"))
            }
        }
    }

    /// Gives a result any value with the same meaning.
    pub(super) fn any_alike(
        &mut self,
        at: BlockId,
        value: Operand,
        meaning: Meaning,
        result: ValueId,
        loc: Option<Loc>,
    ) -> BlockId {
        let width = self.values[result].shape.first().copied().unwrap_or(32);
        let any = self.any_value(at, width, loc);
        let copy = Kind::Pure(Pure::Copy(any.clone()));
        self.emit(at, Some(result), copy, loc);
        let mut at = at;
        let mut predicates = vec![Predicate::Eq];
        if meaning == Meaning::Sign {
            predicates.push(Predicate::Slt);
        }
        for predicate in predicates {
            let asks = |lhs: &Operand| {
                Kind::Pure(Pure::Compare {
                    predicate,
                    lhs: lhs.clone(),
                    rhs: Operand::Int { value: 0, width },
                })
            };
            let is = self.value(at, 1, asks(&value), loc);
            let should_be = self.value(at, 1, asks(&any), loc);
            let alike = Kind::Pure(Pure::Compare {
                predicate: Predicate::Eq,
                lhs: is,
                rhs: should_be,
            });
            let alike = self.value(at, 1, alike, loc);
            let (then, otherwise) = self.branch(at, alike, loc);
            self.end(otherwise, Terminator::Infeasible, loc);
            at = then;
        }
        at
    }

    /// The error number of a POSIX function, or what a function of C11 says instead.
    pub(super) fn error_of(
        &mut self,
        at: BlockId,
        name: &str,
        error: Operand,
        loc: Option<Loc>,
    ) -> Operand {
        let is_c11 = ["thrd_", "tss_"].iter().any(|s| name.starts_with(s));
        if !is_c11 {
            return error;
        }
        const THRD_ERROR: u64 = 2;
        let condition = self.is_not_zero(at, error, 32, loc);
        let number = |value: u64| Operand::Int { value, width: 32 };
        let kind = Kind::Pure(Pure::Select {
            condition,
            then: number(THRD_ERROR),
            otherwise: number(0),
        });
        self.value(at, 32, kind, loc)
    }
}

/// Whether all that is done with a value is to compare it, or a copy of it, with 0.
pub(super) fn only_compared_with_zero(function: &Function, value: ValueId) -> bool {
    let mut same = vec![value];
    let mut checked = 0;
    while checked < same.len() {
        let value = same[checked];
        checked += 1;
        let mentions = |operand: &Operand| {
            let mut found = false;
            operand.values(&mut |id| found |= id == value);
            found
        };
        for block in &function.blocks {
            for inst in &block.insts {
                if !inst.kind.operands().into_iter().any(mentions) {
                    continue;
                }
                match (&inst.kind, inst.result) {
                    (Kind::Pure(Pure::Copy(Operand::Value(_))), Some(copy)) => same.push(copy),
                    (
                        Kind::Pure(Pure::Compare {
                            lhs: Operand::Value(_),
                            rhs: Operand::Int { value: 0, .. },
                            ..
                        }),
                        _,
                    ) => {}
                    _ => return false,
                }
            }
            let is_end = match &block.end {
                Terminator::Return(Some(operand)) => mentions(operand),
                Terminator::Switch { value, .. } => mentions(value),
                _ => false,
            };
            if is_end {
                return false;
            }
        }
    }
    true
}

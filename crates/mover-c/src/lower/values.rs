//! Values of the code as expressions over the locals of the template.

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::program::{Effect, Property, VariableId};

use super::arithmetic::{
    Overflow, bits, checks_of, compare, has_absolute_value, has_set_bit, operator, overflows,
};
use super::path::{Before, Part, Path};
use super::{Builder, Check, LARGEST, Lowered};
use crate::expr_builder::{self, binary, choose, constant, resize};
use crate::flatten::Problem;
use crate::ssa::*;

impl Builder<'_, '_> {
    pub fn value(&mut self, path: &mut Path, operand: &Operand) -> Lowered<Vec<Part>> {
        if let Some(form) = self.world.objects.form(self.body, operand) {
            return Ok(vec![self.address(path, &form)?]);
        }
        let width = self.world.module.pointer_width();
        Ok(match operand {
            Operand::Value(id) => {
                if let Some(parts) = path.env.get(id) {
                    return Ok(parts.clone());
                }
                if let Some(Kind::Pure(pure)) = self.recomputed(*id) {
                    return Ok(self.pure(path, &pure)?.0);
                }
                let count = self.code.values[*id].shape.len();
                (0..count)
                    .map(|part| {
                        let slot = self.slot(*id, part);
                        Part::same(self.local_read(slot))
                    })
                    .collect()
            }
            Operand::Int { value, width } => vec![Part::same(constant(*value, *width))],
            Operand::Function(id) => {
                let address = self.world.function_address(*id);
                vec![Part::same(constant(address, width))]
            }
            Operand::Undef(shape) => {
                let zero = |&width: &u8| Part::same(constant(0, width));
                shape.iter().map(zero).collect()
            }
            Operand::Pure(pure) => self.pure(path, pure)?.0,
            Operand::Aggregate(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.value(path, part)?);
                }
                all
            }
            Operand::Global(_) => Vec::new(),
            Operand::Unsupported(what) => {
                return Err(Problem::new(format!("not supported: `{what}`"), path.loc));
            }
        })
    }

    pub fn scalar(&mut self, path: &mut Path, operand: &Operand) -> Lowered<Part> {
        let mut parts = self.value(path, operand)?;
        match parts.pop() {
            Some(part) if parts.is_empty() => Ok(part),
            _ => Err(Problem::new(
                "a value of several parts where one is expected",
                path.loc,
            )),
        }
    }

    pub(super) fn address(
        &mut self,
        path: &mut Path,
        form: &crate::objects::Form,
    ) -> Lowered<Part> {
        let width = self.world.module.pointer_width();
        let base = match self.pinned.get(&form.object) {
            Some(&local) => self.row_read(path, local),
            None => match self.world.address_of(form.object) {
                Some(expr) => Part::same(expr),
                None => {
                    let name = self.world.objects.name(form.object);
                    let message = format!("the variable `{name}` is declared but not defined");
                    return Err(Problem::new(message, path.loc)
                        .code("C011")
                        .help("also pass the file that defines it"));
                }
            },
        };
        self.displaced(path, base, form.offset, &form.terms, width)
    }

    pub(super) fn row_read(&self, path: &Path, local: usize) -> Part {
        let now = self.local_read(local);
        let variable = VariableRef::Local(VariableId(local as u32));
        let before = if path.written.contains(&variable) {
            Before::Lost
        } else {
            Before::Same
        };
        Part { now, before }
    }

    pub(super) fn displaced(
        &mut self,
        path: &mut Path,
        base: Part,
        offset: i64,
        terms: &[(Operand, i64)],
        width: u8,
    ) -> Lowered<Part> {
        let mut sum = base;
        for (operand, stride) in terms {
            let index = self.scalar(path, operand)?;
            sum = Part::combine(&[&sum, &index], |args| {
                let index = resize(args[1].clone(), width, true);
                let bytes = binary(BinaryOp::Mul, index, constant(*stride as u64, width));
                binary(BinaryOp::Add, args[0].clone(), bytes)
            });
        }
        Ok(sum.map(|sum| binary(BinaryOp::Add, sum, constant(offset as u64, width))))
    }

    /// Whether this many bytes may lead from one object into another, and not only beyond its end.
    pub(super) fn is_far(&self, bytes: i64) -> bool {
        bytes.unsigned_abs() >= self.world.pointers().room_before()
    }

    /// The number of the object is a part of the address; what is added to it must not make another
    /// object of it. Addresses shortly before an object count as its own, as after it: the structure
    /// around the head of a list is computed in many programs, although it is not there. Accesses
    /// through them are out of bounds, for no object extends as far as to the next.
    fn stays_in_object(&self, base: &Part, address: &Part) -> Check {
        let layout = self.world.pointers();
        let size = constant(1 << layout.offset_bits, layout.width);
        let before = constant(layout.room_before(), layout.width);
        let from_room = |address: &Expr| binary(BinaryOp::Add, address.clone(), before.clone());
        Check {
            holds: Part::combine(&[base, address], |args| {
                let (from, to) = (from_room(&args[0]), from_room(&args[1]));
                binary(BinaryOp::ULt, binary(BinaryOp::Xor, from, to), size.clone())
            }),
            property: Property::MemorySafety,
            message: "pointer arithmetic goes far outside the object".into(),
        }
    }

    /// What a computation yields, and what must hold for it to be defined.
    pub(super) fn pure(
        &mut self,
        path: &mut Path,
        pure: &Pure,
    ) -> Lowered<(Vec<Part>, Vec<Check>)> {
        let mut checks = Vec::new();
        let parts = match pure {
            Pure::Copy(arg) => self.value(path, arg)?,
            Pure::Binary {
                kind,
                nsw,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                let overflow = Overflow {
                    is_asked_for: self.world.wants(Property::NoOverflow),
                    nsw: *nsw,
                };
                checks_of(*kind, overflow, &lhs, &rhs, &mut checks);
                if *kind == BinaryKind::Shl && overflow.is_asked_for {
                    self.world.note_shift(path.loc);
                }
                let op = operator(*kind);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    binary(op, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Compare {
                predicate,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    compare(*predicate, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Resize {
                arg,
                width,
                extension,
            } => {
                let arg = self.scalar(path, arg)?;
                vec![arg.map(|arg| resize(arg, *width, *extension == Extension::Sign))]
            }
            Pure::Select {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.scalar(path, condition)?;
                let then = self.value(path, then)?;
                let otherwise = self.value(path, otherwise)?;
                let pairs = then.iter().zip(&otherwise);
                pairs
                    .map(|(then, otherwise)| {
                        Part::combine(&[&condition, then, otherwise], |args| {
                            choose(args[0].clone(), args[1].clone(), args[2].clone())
                        })
                    })
                    .collect()
            }
            Pure::Gep {
                base,
                offset,
                terms,
                ..
            } => {
                let width = self.world.module.pointer_width();
                let base = self.scalar(path, base)?;
                let address = self.displaced(path, base.clone(), *offset, terms, width)?;
                if !terms.is_empty() || self.is_far(*offset) {
                    checks.push(self.stays_in_object(&base, &address));
                }
                vec![address]
            }
            Pure::Extract { from, first, count } => {
                let all = self.value(path, from)?;
                all.get(*first..first + count)
                    .map(<[Part]>::to_vec)
                    .ok_or_else(|| {
                        Problem::new("a part that a value does not have", path.loc).code("C099")
                    })?
            }
            Pure::Insert { into, value, first } => {
                let mut all = match into {
                    Operand::Undef(shape) => shape
                        .iter()
                        .map(|&width| Part::same(constant(0, width)))
                        .collect(),
                    _ => self.value(path, into)?,
                };
                for (offset, part) in self.value(path, value)?.into_iter().enumerate() {
                    if let Some(target) = all.get_mut(first + offset) {
                        *target = part;
                    }
                }
                all
            }
            Pure::WithOverflow {
                kind,
                signed,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                let op = operator(*kind);
                let result = Part::combine(&[&lhs, &rhs], |args| {
                    binary(op, args[0].clone(), args[1].clone())
                });
                let overflow = Part::combine(&[&lhs, &rhs], |args| {
                    overflows(*kind, *signed, args[0].clone(), args[1].clone())
                });
                vec![result, overflow]
            }
            Pure::Abs(arg) => {
                let arg = self.scalar(path, arg)?;
                if self.world.wants(Property::NoOverflow) {
                    checks.push(has_absolute_value(&arg));
                }
                vec![arg.map(|arg| {
                    let zero = constant(0, arg.width());
                    let negative = binary(BinaryOp::SLt, arg.clone(), zero);
                    choose(negative, expr_builder::neg(arg.clone()), arg)
                })]
            }
            Pure::MinMax {
                predicate,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    let first = compare(*predicate, args[0].clone(), args[1].clone());
                    choose(first, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Bits {
                kind,
                arg,
                takes_zero,
            } => {
                let arg = self.scalar(path, arg)?;
                if !takes_zero {
                    checks.push(has_set_bit(&arg));
                }
                vec![arg.map(|arg| bits(*kind, &arg))]
            }
        };
        Ok((parts, checks))
    }

    /// Assigns an expression to an SSA value, through a temporary if it is large.
    pub fn define(&mut self, path: &mut Path, value: ValueId, parts: Vec<Part>) {
        let parts = parts
            .into_iter()
            .map(|part| {
                if expr_builder::size(&part.now) <= LARGEST {
                    return part;
                }
                let temp = self.temp(path, part.now.width());
                self.save(path, temp, part)
            })
            .collect();
        path.env.insert(value, parts);
    }

    /// Stores what a part is now in a temporary.
    pub(super) fn save(&mut self, path: &mut Path, temp: usize, part: Part) -> Part {
        let before = match part.pre() {
            Some(pre) if expr_builder::size(pre) <= 8 * LARGEST => Before::Is(pre.clone()),
            _ => Before::Lost,
        };
        path.effects.push(Effect::Assign {
            place: self.temp_place(temp),
            value: part.now,
        });
        Part {
            now: self.local_read(temp),
            before,
        }
    }

    /// Before memory changes: saves what values that are still needed were read from it.
    pub(super) fn keep(&mut self, path: &mut Path, changes: impl Fn(&Expr) -> bool) {
        let after = path.index + usize::from(!path.is_again);
        let needed = self.live_before(path.block, after);
        let mut values: Vec<ValueId> = path.env.keys().copied().collect();
        values.sort_unstable();
        for value in values {
            if !needed.contains(&value) {
                continue;
            }
            let mut parts = path.env.remove(&value).unwrap_or_default();
            for part in &mut parts {
                let mut touched = false;
                part.now.walk(&mut |expr| touched |= changes(expr));
                if touched {
                    let temp = self.temp(path, part.now.width());
                    *part = self.save(path, temp, part.clone());
                }
            }
            path.env.insert(value, parts);
        }
    }
}

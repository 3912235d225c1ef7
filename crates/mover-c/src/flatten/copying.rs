//! Structures that are copied or cleared, scalar by scalar.
//!
//! clang copies a structure by `llvm.memcpy` and clears one by `llvm.memset`. Where the type of
//! the variable is known and the size is constant, that is one load and one store for each
//! scalar: the variable then needs no address, its fields stay separate, and the analysis sees
//! that all of it is written. Padding between the fields is not copied; its content is
//! indeterminate in C as well. But padding is cleared, because it may be bytes of another
//! member of a union; if it is never read it needs no storage (`is_gap`). Everything else uses
//! the loops of the runtime library.

use super::{Flattener, displaced};
use crate::lower::gaps_between;
use crate::ssa::*;

/// Larger variables are copied by the loop.
const MOST_SCALARS: usize = 64;

/// A scalar of a variable: its first byte from the start of the range, and its bytes.
pub type Scalar = (u64, u64);

impl Flattener<'_> {
    /// Remembers what an instruction says of addresses.
    pub(super) fn note_address(&mut self, id: ValueId, kind: &Kind) {
        match kind {
            Kind::Alloca {
                layout,
                count: Operand::Int { value: 1, .. },
                ..
            } => {
                self.allocas.insert(id, layout.clone());
            }
            Kind::Pure(Pure::Gep {
                base,
                offset,
                terms,
                ..
            }) if terms.is_empty() => {
                self.addresses.insert(id, (base.clone(), *offset));
            }
            Kind::Pure(Pure::Copy(arg)) => {
                self.addresses.insert(id, (arg.clone(), 0));
                self.note_multiple(id, arg, 1);
            }
            Kind::Pure(Pure::Resize { arg, .. }) => self.note_multiple(id, arg, 1),
            Kind::Pure(Pure::Binary {
                kind: BinaryKind::Mul,
                lhs,
                rhs,
                ..
            }) => match (lhs, rhs) {
                (other, Operand::Int { value, .. }) | (Operand::Int { value, .. }, other) => {
                    self.note_multiple(id, other, *value);
                }
                _ => {}
            },
            Kind::Pure(Pure::Binary {
                kind: BinaryKind::Shl,
                lhs,
                rhs: Operand::Int {
                    value: by @ 0..32, ..
                },
                ..
            }) => self.note_multiple(id, lhs, 1 << by),
            _ => {}
        }
    }

    /// Remembers of which constant a number is a multiple.
    fn note_multiple(&mut self, id: ValueId, of: &Operand, factor: u64) {
        let known = match of {
            Operand::Value(id) => self.multiples.get(id).copied().unwrap_or(1),
            _ => 1,
        };
        let product = known.saturating_mul(factor);
        if product > 1 {
            self.multiples.insert(id, product);
        }
    }

    /// Whether what is copied or set consists of scalars smaller than a word, as far as the types or
    /// the computation of the size tell. Such scalars are copied one by one: another thread can
    /// see that only some are.
    pub(super) fn has_small_elements(&self, size: &Operand, places: &[&Operand]) -> bool {
        let is_small_multiple = match size {
            Operand::Value(id) => {
                let bytes = self.multiples.get(id).copied().unwrap_or(0);
                bytes > 0 && bytes % 4 == 0 && bytes % self.module.pointer_bytes != 0
            }
            _ => false,
        };
        is_small_multiple
            || places
                .iter()
                .any(|place| self.points_to_small_scalars(place))
    }

    /// Whether an address is known to point to scalars of four bytes and nothing else.
    fn points_to_small_scalars(&self, place: &Operand) -> bool {
        if let Some((layout, _)) = self.variable_at(place) {
            return consists_of_ints(layout);
        }
        let Operand::Value(id) = place else {
            return false;
        };
        match (&self.values[*id].pointee, self.addresses.get(id)) {
            (Some(pointee), _) => {
                let fields = &pointee.debug.fields;
                !fields.is_empty()
                    && fields.len() < DebugType::MOST_FIELDS
                    && fields
                        .iter()
                        .all(|field| field.bytes == 4 && !field.is_pointer)
            }
            (None, Some((base, _))) => self.points_to_small_scalars(base),
            (None, None) => false,
        }
    }

    /// The variable that an address points into, and the byte of it.
    fn variable_at(&self, operand: &Operand) -> Option<(&Layout, i64)> {
        match operand {
            Operand::Global(id) => Some((&self.module.globals[*id].layout, 0)),
            Operand::Value(id) => {
                if let Some(layout) = self.allocas.get(id) {
                    return Some((layout, 0));
                }
                let (base, offset) = self.addresses.get(id)?;
                let (layout, at) = self.variable_at(base)?;
                Some((layout, at.checked_add(*offset)?))
            }
            Operand::Pure(pure) => match &**pure {
                Pure::Gep {
                    base,
                    offset,
                    terms,
                    ..
                } if terms.is_empty() => {
                    let (layout, at) = self.variable_at(base)?;
                    Some((layout, at.checked_add(*offset)?))
                }
                Pure::Copy(arg) => self.variable_at(arg),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type of the variable that begins at an address and has this many bytes.
    pub(super) fn variable_of(&self, operand: &Operand, bytes: u64) -> Option<Layout> {
        let (layout, at) = self.variable_at(operand)?;
        (at == 0 && layout.bytes() == bytes).then(|| layout.clone())
    }

    /// The scalars that a range of a variable consists of.
    fn scalars_at(&self, operand: &Operand, bytes: u64) -> Option<Vec<Scalar>> {
        let (layout, at) = self.variable_at(operand)?;
        let from = u64::try_from(at).ok()?;
        let to = from.checked_add(bytes)?;
        if to > layout.bytes() {
            return None;
        }
        let mut found = Vec::new();
        scalars(layout, 0, &(from..to), &mut found).then_some(())?;
        for scalar in &mut found {
            scalar.0 -= from;
        }
        Some(found)
    }

    /// Copies where the scalars are known; false if they are not.
    pub(super) fn copy_scalars(
        &mut self,
        at: BlockId,
        to: &Operand,
        from: &Operand,
        size: &Operand,
        loc: Option<Loc>,
    ) -> bool {
        let Operand::Int { value: bytes, .. } = *size else {
            return false;
        };
        let (target, source) = (self.scalars_at(to, bytes), self.scalars_at(from, bytes));
        let scalars = match (target, source) {
            (Some(target), Some(source)) if target == source => target,
            (Some(only), None) | (None, Some(only)) => only,
            _ => return false,
        };
        // All is read before anything is written: the two may overlap.
        let mut values = Vec::new();
        for &(offset, bytes) in &scalars {
            let width = 8 * bytes as u8;
            let load = Kind::Load {
                pointer: displaced(from, offset as i64),
                shape: vec![width],
                atomic: false,
            };
            values.push(self.value(at, width, load, loc));
        }
        for ((offset, bytes), value) in scalars.into_iter().zip(values) {
            self.store_scalar(at, to, offset, bytes, value, loc);
        }
        true
    }

    /// Sets all bytes of a variable; false if its scalars are not known.
    pub(super) fn set_scalars(
        &mut self,
        at: BlockId,
        to: &Operand,
        byte: &Operand,
        size: &Operand,
        loc: Option<Loc>,
    ) -> bool {
        let (Operand::Int { value: byte, .. }, Operand::Int { value: size, .. }) = (byte, size)
        else {
            return false;
        };
        let Some(scalars) = self.scalars_at(to, *size) else {
            return false;
        };
        let all = u64::from_le_bytes([*byte as u8; 8]);
        let gaps = gaps_between(scalars.iter().copied(), *size);
        let gaps = gaps.into_iter().flatten().map(|byte| (byte, 1));
        for (offset, bytes) in scalars.into_iter().chain(gaps) {
            let width = 8 * bytes as u8;
            let value = Operand::Int {
                value: all & mover_ir::expr::mask(width),
                width,
            };
            self.store_scalar(at, to, offset, bytes, value, loc);
        }
        true
    }

    /// Gives each scalar of a variable any value; false if its scalars are not known.
    pub(super) fn any_scalars(
        &mut self,
        at: BlockId,
        to: &Operand,
        size: &Operand,
        loc: Option<Loc>,
    ) -> bool {
        let Operand::Int { value: size, .. } = size else {
            return false;
        };
        let Some(scalars) = self.scalars_at(to, *size) else {
            return false;
        };
        for (offset, bytes) in scalars {
            let value = self.any_value(at, 8 * bytes as u8, loc);
            self.store_scalar(at, to, offset, bytes, value, loc);
        }
        true
    }

    /// The bytes of the variable that an address is the beginning of.
    pub(super) fn variable_bytes(&self, operand: &Operand) -> Option<u64> {
        let (layout, at) = self.variable_at(operand)?;
        (at == 0).then(|| layout.bytes())
    }

    fn store_scalar(
        &mut self,
        at: BlockId,
        to: &Operand,
        offset: u64,
        bytes: u64,
        value: Operand,
        loc: Option<Loc>,
    ) {
        let store = Kind::Store {
            pointer: displaced(to, offset as i64),
            value,
            shape: vec![8 * bytes as u8],
            atomic: false,
        };
        self.emit(at, None, store, loc);
    }
}

/// Collects the scalars within a range; false if one is cut by its ends, is of a
/// kind that no cell can hold, or if there are too many.
fn scalars(
    layout: &Layout,
    base: u64,
    range: &std::ops::Range<u64>,
    out: &mut Vec<Scalar>,
) -> bool {
    let end = base + layout.bytes();
    if end <= range.start || range.end <= base {
        return true;
    }
    match layout {
        Layout::Scalar { bytes } => {
            let is_whole = range.start <= base && end <= range.end;
            out.push((base, *bytes));
            is_whole && matches!(bytes, 1 | 2 | 4 | 8) && out.len() <= MOST_SCALARS
        }
        Layout::Array {
            element,
            count,
            stride,
        } => (0..*count).all(|index| scalars(element, base + index * stride, range, out)),
        Layout::Struct { fields, .. } => fields
            .iter()
            .all(|(at, field)| scalars(field, base + at, range, out)),
        Layout::Opaque { .. } => false,
    }
}

/// Whether all scalars of a type have four bytes, and it has some.
fn consists_of_ints(layout: &Layout) -> bool {
    match layout {
        Layout::Scalar { bytes } => *bytes == 4,
        Layout::Array { element, .. } => consists_of_ints(element),
        Layout::Struct { fields, .. } => {
            !fields.is_empty() && fields.iter().all(|(_, field)| consists_of_ints(field))
        }
        Layout::Opaque { .. } => false,
    }
}

/// Whether a byte of a type belongs to none of its scalars.
pub fn is_gap(layout: &Layout, byte: i64) -> bool {
    let Ok(byte) = u64::try_from(byte) else {
        return false;
    };
    let mut found = Vec::new();
    byte < layout.bytes() && scalars(layout, 0, &(byte..byte + 1), &mut found) && found.is_empty()
}

/// All scalars of a type; none if there are too many or some that no cell can hold.
pub fn all_scalars(layout: &Layout) -> Option<Vec<Scalar>> {
    let mut found = Vec::new();
    scalars(layout, 0, &(0..layout.bytes()), &mut found).then_some(found)
}

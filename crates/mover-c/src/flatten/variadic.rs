//! Functions with a variable number of arguments.
//!
//! The arguments after the declared ones are stored in memory one after the other, as the
//! calling convention does with those that do not fit into registers, and `va_start` creates a
//! list that begins there and says that the registers are used up. The code that clang
//! generates for `va_arg` then finds them. This depends on the layout of the list, which
//! differs between processors: here those of x86, with 64 and with 32 bits.

use super::{Flat, Flattener, Problem, displaced};
use crate::ssa::*;

/// Where the offsets into the area of saved registers are past its end.
const GENERAL_REGISTERS_END: u64 = 48;
const VECTOR_REGISTERS_END: u64 = 304;

impl Flattener<'_> {
    /// Puts arguments into memory; returns the address.
    pub(super) fn pass_rest(
        &mut self,
        at: BlockId,
        name: &str,
        rest: &[(Operand, Shape)],
        loc: Option<Loc>,
    ) -> Flat<Operand> {
        if !self.module.is_x86 {
            let message = format!("`{name}` has variable arguments, supported on x86 only");
            return Err(Problem::new(message, loc).code("C012"));
        }
        let pointer = self.module.pointer_bytes;
        let mut places = Vec::new();
        let mut end = 0;
        for (_, shape) in rest {
            let [width] = shape[..] else {
                let message = format!("a structure among the variable arguments of `{name}`");
                return Err(Problem::new(message, loc).code("C012"));
            };
            places.push((end, width));
            end += u64::from(width.div_ceil(8)).next_multiple_of(pointer);
        }
        let width = self.module.pointer_width();
        let kind = Kind::Alloca {
            layout: Layout::Array {
                element: Box::new(Layout::Scalar { bytes: pointer }),
                count: (end / pointer).max(1),
                stride: pointer,
            },
            count: Operand::Int { value: 1, width },
            debug: DebugType::default(),
        };
        let area = self.value(at, width, kind, loc);
        self.set_lifetime(at, &area, true, loc);
        for ((offset, width), (value, _)) in places.into_iter().zip(rest) {
            let stored = if width > 32 {
                64
            } else {
                self.module.pointer_width()
            };
            let value = self.resized(at, value.clone(), stored, loc);
            let store = Kind::Store {
                pointer: displaced(&area, offset as i64),
                value,
                shape: vec![stored],
                atomic: false,
            };
            self.emit(at, None, store, loc);
        }
        Ok(area)
    }

    /// `va_start`: the list begins with the arguments in memory.
    pub(super) fn start_list(
        &mut self,
        at: BlockId,
        list: &Operand,
        rest: Operand,
        loc: Option<Loc>,
    ) {
        let width = self.module.pointer_width();
        let int = |value, width| Operand::Int { value, width };
        let fields = if width == 64 {
            vec![
                (0, int(GENERAL_REGISTERS_END, 32), 32),
                (4, int(VECTOR_REGISTERS_END, 32), 32),
                (8, rest, 64),
                (16, int(0, 64), 64),
            ]
        } else {
            vec![(0, rest, width)]
        };
        for (offset, value, width) in fields {
            let store = Kind::Store {
                pointer: displaced(list, offset),
                value,
                shape: vec![width],
                atomic: false,
            };
            self.emit(at, None, store, loc);
        }
    }

    /// `va_copy`.
    pub(super) fn copy_list(
        &mut self,
        at: BlockId,
        to: &Operand,
        from: &Operand,
        loc: Option<Loc>,
    ) {
        let parts: &[(i64, u8)] = if self.module.pointer_bytes == 8 {
            &[(0, 32), (4, 32), (8, 64), (16, 64)]
        } else {
            &[(0, 32)]
        };
        for &(offset, width) in parts {
            let load = Kind::Load {
                pointer: displaced(from, offset),
                shape: vec![width],
                atomic: false,
            };
            let value = self.value(at, width, load, loc);
            let store = Kind::Store {
                pointer: displaced(to, offset),
                value,
                shape: vec![width],
                atomic: false,
            };
            self.emit(at, None, store, loc);
        }
    }
}

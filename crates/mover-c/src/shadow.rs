//! Memory that nobody set: any value, chosen when it is read.
//!
//! The content of a local variable or of a block from `malloc` is indeterminate until it is written
//! (C11 6.7.9, 7.22.3.4). A choice of all bytes where the object is made would be 2⁶⁴ choices in
//! programs that never read one of them. So what an object contains is decided *per use*: for each byte
//! a *shadow* tells whether it has been written, and a read of a byte whose shadow is clear first
//! chooses a value and keeps it. A program that writes before it reads never comes to such a choice.
//!
//! Most objects need no shadow, because all ways through the code write them first
//! (`lower::first_write`); a program that has only such objects costs nothing. Those that need one are
//! followed by it: an object with addresses gets [`Shadows::distance`] more bytes, and the shadow of a
//! byte lies at that distance behind it; the distance is the same for all, so that a pointer of which
//! nothing is known needs one question only. A variable without addresses has a row of its own.
//!
//! Objects that are larger than [`MOST_BYTES`], or whose size is not constant, are zero at first, and the
//! verdict says so. So is, with `--zero-init`, everything.

use std::collections::BTreeSet;

use crate::flatten::copying::all_scalars;
use crate::flatten::{Body, Notes};
use crate::lower::{FirstWrites, Unwritten, gaps_between};
use crate::objects::{Object, Objects};
use crate::ssa::*;

/// Larger objects have no shadow.
const MOST_BYTES: u64 = 256;

/// The first memory that may be read before it is written and counts as zero.
#[derive(Clone, Debug)]
pub struct Assumed {
    pub loc: Option<Loc>,
    /// The local variable; empty if it is none.
    pub variable: String,
}

/// Which objects have a shadow.
#[derive(Default)]
pub struct Shadows {
    pub variables: BTreeSet<Object>,
    /// Allocations on the heap, by body and value.
    pub allocations: BTreeSet<(usize, ValueId)>,
    /// From a byte to its shadow, in objects with addresses.
    pub distance: u64,
    pub assumed: Option<Assumed>,
}

impl Shadows {
    /// Finds the objects that may be read before they are written.
    pub fn find(
        module: &Module,
        bodies: &[Body],
        objects: &Objects,
        notes: &Notes,
        zero_init: bool,
    ) -> Shadows {
        let mut found = Shadows::default();
        for (body, code) in bodies.iter().enumerate() {
            let writes = FirstWrites {
                module,
                objects,
                notes,
                body,
                code,
            };
            for (block, index, inst) in all(code) {
                let Some(id) = inst.result else {
                    continue;
                };
                let at = (block, index);
                match &inst.kind {
                    Kind::Alloca { count, layout, .. } => {
                        let object = Object::Local(body, id);
                        let (bytes, is_fixed) = match count {
                            Operand::Int { value: 1, .. } => (layout.bytes(), true),
                            _ => (u64::MAX, false),
                        };
                        let scalars = all_scalars(layout).unwrap_or_default();
                        let gaps = gaps_between(scalars.into_iter(), bytes);
                        let unwritten = writes.follow(at, id, bytes, gaps);
                        let fits = is_fixed && bytes <= MOST_BYTES && !zero_init;
                        if found.is_shadowed(unwritten, fits, inst.loc, &code.values[id].name) {
                            found.variables.insert(object);
                            if objects.is_addressed(object) {
                                found.distance = found.distance.max(bytes.next_multiple_of(8));
                            }
                        }
                    }
                    Kind::Library { name, args, .. }
                        if matches!(&name[..], "allocate" | "allocate_on_stack") =>
                    {
                        let Some(size) = args.first() else {
                            continue;
                        };
                        let unwritten = writes.heap(at, id, size);
                        let bytes = match size {
                            Operand::Int { value, .. } => *value,
                            _ => u64::MAX,
                        };
                        let fits = bytes <= MOST_BYTES && !zero_init;
                        if found.is_shadowed(unwritten, fits, inst.loc, "") {
                            found.allocations.insert((body, id));
                            found.distance = found.distance.max(bytes.next_multiple_of(8));
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Whether an object gets a shadow; if it needs one and gets none, that is noted. A lock that
    /// nobody initialised counts as zero, that is, as free.
    fn is_shadowed(
        &mut self,
        unwritten: Unwritten,
        fits: bool,
        loc: Option<Loc>,
        variable: &str,
    ) -> bool {
        if unwritten.is_lock_used || unwritten.is_read && !fits {
            self.note(loc, variable);
        }
        unwritten.is_read && fits
    }

    pub fn note(&mut self, loc: Option<Loc>, variable: &str) {
        self.assumed.get_or_insert_with(|| Assumed {
            loc,
            variable: variable.to_string(),
        });
    }

    /// The bytes that the shadow of a variable with addresses adds to it.
    pub fn more_bytes(&self, object: Object) -> u64 {
        match self.variables.contains(&object) {
            true => self.distance,
            false => 0,
        }
    }
}

fn all(code: &Body) -> impl Iterator<Item = (BlockId, usize, &Inst)> {
    let blocks = code.blocks.iter().enumerate();
    blocks.flat_map(|(number, block)| {
        let insts = block.insts.iter().enumerate();
        insts.map(move |(index, inst)| (number, index, inst))
    })
}

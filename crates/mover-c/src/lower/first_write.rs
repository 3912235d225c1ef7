//! Whether an object may be read before it is written.
//!
//! The content of an object on the stack or from `malloc` is indeterminate in C. That makes no
//! difference if every byte is written before it is read; where this is not certain, `shadow` keeps
//! track of what is written while the program runs. So the analysis follows all
//! paths from the beginning of the object's lifetime, with the bytes that have been written on
//! the path: a path is good when everything is written or when the object is not mentioned any
//! more; it is bad when a byte that is not yet written is read, or when the address escapes.
//! Padding between the fields of a structure counts as written: no program can rely on its
//! content.
//!
//! An index that is not constant counts as writing nothing and reading everything. One such
//! read occurs in almost every program and is allowed: the handle of a thread to be joined.
//! Zero is never a valid handle, so a join before the creation is reported as such.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::flatten::{Body, Notes};
use crate::objects::{Objects, library_accesses};
use crate::ssa::*;

/// Objects of more bytes are not followed.
const MOST_BYTES: u64 = 1 << 12;

/// Most points of the code to look at, one for each set of written bytes.
const MOST_POINTS: usize = 1 << 10;

/// What an instruction does to the bytes of the object.
enum Touch {
    Nothing,
    Writes(Range<u64>),
    Reads(Range<u64>),
    /// A lock or the like is used.
    UsesLock(Range<u64>),
    Begins,
    Ends,
    /// The address goes where it cannot be followed.
    Escapes,
}

/// An address as the start of an object plus bytes; none if an index is not constant.
type Offset = Option<i64>;

/// What some way through the code does with an object before it is written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Unwritten {
    /// Reads it, or passes its address on.
    pub is_read: bool,
    /// Uses a lock or another object of the library in it.
    pub is_lock_used: bool,
}

impl Unwritten {
    const UNKNOWN: Unwritten = Unwritten {
        is_read: true,
        is_lock_used: false,
    };
}

/// Follows the code of one body.
pub struct FirstWrites<'a> {
    pub module: &'a Module,
    pub objects: &'a Objects<'a>,
    pub notes: &'a Notes,
    pub body: usize,
    pub code: &'a Body,
}

impl FirstWrites<'_> {
    /// What happens to memory from `malloc`, which the instruction at this place allocates.
    pub fn heap(&self, at: (BlockId, usize), object: ValueId, size: &Operand) -> Unwritten {
        let Operand::Int { value: bytes, .. } = *size else {
            return Unwritten::UNKNOWN;
        };
        let gaps = match &self.code.values[object].pointee {
            // A field of unknown size may be what looks like a gap.
            Some(pointee)
                if pointee.bytes == bytes
                    && pointee.debug.fields.len() < DebugType::MOST_FIELDS
                    && pointee.debug.fields.iter().all(|field| field.extent > 0) =>
            {
                let fields = pointee.debug.fields.iter();
                gaps_between(fields.map(|field| (field.offset, field.extent)), bytes)
            }
            _ => Vec::new(),
        };
        self.follow(at, object, bytes, gaps)
    }

    /// What happens to an object before it is written. The object is told by the value that is its
    /// address.
    pub fn follow(
        &self,
        (block, index): (BlockId, usize),
        object: ValueId,
        bytes: u64,
        gaps: Vec<Range<u64>>,
    ) -> Unwritten {
        if bytes > MOST_BYTES {
            return Unwritten::UNKNOWN;
        }
        let mut found = Unwritten::default();
        let mut seen = BTreeSet::new();
        let mut fresh = Written::default();
        gaps.into_iter().for_each(|gap| fresh.add(gap));
        let mut open = vec![(block, index + 1, fresh.clone())];
        while let Some((block, from, mut written)) = open.pop() {
            let code = &self.code.blocks[block];
            let mut is_open = true;
            for inst in &code.insts[from..] {
                match self.touch(inst, object, bytes) {
                    Touch::Nothing => {}
                    Touch::Writes(range) => written.add(range),
                    Touch::Reads(range) | Touch::UsesLock(range) if written.covers(&range) => {}
                    Touch::Reads(_) | Touch::Escapes => {
                        found.is_read = true;
                        is_open = false;
                    }
                    Touch::UsesLock(range) => {
                        found.is_lock_used = true;
                        written.add(range);
                    }
                    Touch::Begins => written = fresh.clone(),
                    Touch::Ends => is_open = false,
                }
                is_open &= !written.covers(&(0..bytes));
                if !is_open {
                    break;
                }
            }
            if !is_open {
                continue;
            }
            let ends_in_it = match &code.end {
                Terminator::Return(Some(operand)) => self.mentions(operand, object),
                Terminator::Branch { condition, .. } => self.mentions(condition, object),
                Terminator::Switch { value, .. } => self.mentions(value, object),
                _ => false,
            };
            if ends_in_it {
                found.is_read = true;
                continue;
            }
            for next in code.end.successors() {
                if seen.len() == MOST_POINTS {
                    found.is_read = true;
                    return found;
                }
                if seen.insert((next, written.clone())) {
                    open.push((next, 0, written.clone()));
                }
            }
        }
        found
    }

    fn touch(&self, inst: &Inst, object: ValueId, bytes: u64) -> Touch {
        if inst.result == Some(object) {
            return Touch::Ends;
        }
        match &inst.kind {
            Kind::Load { pointer, shape, .. } => match self.range(pointer, object, shape, bytes) {
                None if self.mentions(pointer, object) => Touch::Escapes,
                None => Touch::Nothing,
                Some(_) if inst.result.is_some_and(|id| self.is_only_joined(id)) => Touch::Nothing,
                Some((range, _)) => Touch::Reads(range),
            },
            Kind::Store {
                pointer,
                value,
                shape,
                ..
            } => {
                if self.mentions(value, object) {
                    return Touch::Escapes;
                }
                match self.range(pointer, object, shape, bytes) {
                    None if self.mentions(pointer, object) => Touch::Escapes,
                    Some((range, true)) => Touch::Writes(range),
                    _ => Touch::Nothing,
                }
            }
            Kind::Lifetime { pointer, begins } if self.mentions(pointer, object) => {
                if *begins {
                    Touch::Begins
                } else {
                    Touch::Ends
                }
            }
            // An address that is computed is inspected where it is used.
            Kind::Pure(pure) if self.offset_of_pure(pure, object).is_some() => Touch::Nothing,
            // Before a library object is initialised, all of which the library does.
            Kind::Library { name, args, .. } if name == "room_for" => {
                match (self.offset(&args[0], object), args.get(1)) {
                    (Some(Some(at)), Some(Operand::Int { value: size, .. })) => {
                        match u64::try_from(at) {
                            Ok(at) => Touch::Writes(at..at + size),
                            Err(_) => Touch::Nothing,
                        }
                    }
                    _ => Touch::Nothing,
                }
            }
            Kind::Library { name, .. } if name == "mutex_init" => Touch::Nothing,
            // An object of the library that is used.
            Kind::Library { name, args, .. }
                if args.iter().any(|arg| self.mentions(arg, object))
                    && self.library_range(name, args, object).is_some() =>
            {
                self.library_range(name, args, object)
                    .map_or(Touch::Escapes, Touch::UsesLock)
            }
            // Comparing an address tells nothing of what is there.
            Kind::Pure(Pure::Compare { .. }) => Touch::Nothing,
            Kind::Library { name, args, .. }
                if matches!(&name[..], "free" | "release") && self.mentions(&args[0], object) =>
            {
                Touch::Ends
            }
            kind => {
                let is_used = kind
                    .operands()
                    .iter()
                    .any(|operand| self.mentions(operand, object));
                if is_used {
                    Touch::Escapes
                } else {
                    Touch::Nothing
                }
            }
        }
    }

    /// The bytes of the object that a primitive on a lock accesses; none if that is not known.
    fn library_range(&self, name: &str, args: &[Operand], object: ValueId) -> Option<Range<u64>> {
        let mutexes = self.notes.mutex_fields();
        let pointer_bytes = self.module.pointer_bytes;
        let mut all: Option<Range<u64>> = None;
        let mut found = vec![false; args.len()];
        for (arg, offset, bytes) in library_accesses(name, pointer_bytes, mutexes) {
            let Some(base) = self.offset(args.get(arg)?, object) else {
                continue;
            };
            found[arg] = true;
            let from = u64::try_from(base? + offset).ok()?;
            let range = from..from + bytes;
            all = Some(match all {
                Some(known) => known.start.min(range.start)..known.end.max(range.end),
                None => range,
            });
        }
        let escapes = args
            .iter()
            .zip(&found)
            .any(|(arg, found)| !found && self.mentions(arg, object));
        all.filter(|_| !escapes)
    }

    /// The bytes of the object at a pointer into it, and whether they are exactly these.
    fn range(
        &self,
        pointer: &Operand,
        object: ValueId,
        shape: &Shape,
        bytes: u64,
    ) -> Option<(Range<u64>, bool)> {
        let offset = self.offset(pointer, object)?;
        let size: u64 = shape
            .iter()
            .map(|&width| u64::from(width.div_ceil(8)))
            .sum();
        match offset.and_then(|offset| u64::try_from(offset).ok()) {
            // A structure may have gaps between its scalars.
            Some(from) if shape.len() == 1 => Some((from..from + size, true)),
            _ => Some((0..bytes, false)),
        }
    }

    /// Where in the object an address points to; none if it is not an address of it.
    fn offset(&self, operand: &Operand, object: ValueId) -> Option<Offset> {
        match operand {
            Operand::Value(id) if *id == object => Some(Some(0)),
            Operand::Value(id) => match &self.objects.definition(self.body, *id)?.kind {
                Kind::Pure(pure) => self.offset_of_pure(pure, object),
                _ => None,
            },
            Operand::Pure(pure) => self.offset_of_pure(pure, object),
            _ => None,
        }
    }

    fn offset_of_pure(&self, pure: &Pure, object: ValueId) -> Option<Offset> {
        match pure {
            Pure::Copy(arg) => self.offset(arg, object),
            Pure::Gep {
                base,
                offset,
                terms,
                ..
            } => {
                let base = self.offset(base, object)?;
                let is_constant = terms.is_empty();
                Some(
                    base.filter(|_| is_constant)
                        .and_then(|base| base.checked_add(*offset)),
                )
            }
            _ => None,
        }
    }

    fn mentions(&self, operand: &Operand, object: ValueId) -> bool {
        if self.offset(operand, object).is_some() {
            return true;
        }
        match operand {
            Operand::Value(id) => *id == object,
            Operand::Pure(pure) => pure
                .operands()
                .iter()
                .any(|part| self.mentions(part, object)),
            Operand::Aggregate(parts) => parts.iter().any(|part| self.mentions(part, object)),
            _ => false,
        }
    }

    /// Whether a value serves only as the handle of a thread that is joined or detached.
    fn is_only_joined(&self, value: ValueId) -> bool {
        let uses = |operand: &Operand| matches!(operand, Operand::Value(id) if *id == value);
        let hides = |operand: &Operand| match operand {
            Operand::Pure(_) | Operand::Aggregate(_) => self.mentions(operand, value),
            _ => false,
        };
        self.code.blocks.iter().all(|block| {
            let ends_in_it = match &block.end {
                Terminator::Return(Some(operand)) => uses(operand) || hides(operand),
                Terminator::Branch { condition, .. } => uses(condition) || hides(condition),
                Terminator::Switch { value, .. } => uses(value) || hides(value),
                _ => false,
            };
            !ends_in_it
                && block.insts.iter().all(|inst| match &inst.kind {
                    Kind::Library { name, .. }
                        if name == "thread_join" || name == "thread_detach" =>
                    {
                        true
                    }
                    kind => !kind
                        .operands()
                        .into_iter()
                        .any(|operand| uses(operand) || hides(operand)),
                })
        })
    }
}

/// What lies between fields, each with its first byte and its bytes.
pub fn gaps_between(fields: impl Iterator<Item = (u64, u64)>, bytes: u64) -> Vec<Range<u64>> {
    let mut covered = Written::default();
    fields.for_each(|(at, size)| covered.add(at..at + size));
    let mut gaps = Vec::new();
    let mut end = 0;
    for &(from, to) in &covered.0 {
        if from > end {
            gaps.push(end..from);
        }
        end = to;
    }
    if bytes > end && !covered.0.is_empty() {
        gaps.push(end..bytes);
    }
    gaps
}

/// A set of bytes: ranges that neither meet nor touch, in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Written(Vec<(u64, u64)>);

impl Written {
    fn add(&mut self, range: Range<u64>) {
        let (mut start, mut end) = (range.start, range.end);
        self.0.retain(|&(from, to)| {
            let meets = from <= end && start <= to;
            if meets {
                start = start.min(from);
                end = end.max(to);
            }
            !meets
        });
        let place = self.0.partition_point(|&(from, _)| from < start);
        self.0.insert(place, (start, end));
    }

    fn covers(&self, range: &Range<u64>) -> bool {
        self.0
            .iter()
            .any(|&(from, to)| from <= range.start && range.end <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[test]
    fn ranges_of_bytes_grow_together() {
        let mut written = Written::default();
        written.add(8..12);
        written.add(0..4);
        assert!(written.covers(&(0..4)) && written.covers(&(9..11)));
        assert!(!written.covers(&(0..12)));
        written.add(4..8);
        assert!(written.covers(&(0..12)));
        assert!(!written.covers(&(0..13)));
    }
}

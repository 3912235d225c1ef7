//! Exceptions as jumps.
//!
//! A throw goes to the innermost call on the stack that has a landing pad. Calls are copied into
//! one body, so the stack at every throw is known, and with it the landing pad: a throw is a jump, and code
//! that does not throw pays nothing. [`Unwinding`] is one place that exceptions pass on their
//! way out, either a call with a landing pad or the end of a function, where its variables die.
//!
//! What flies is the address of the exception and the number of its type. A landing pad compares
//! that number with those of the thrown types that its handlers catch, by the class hierarchy in the types'
//! descriptions. An exception that nobody on the stack catches ends in `std::terminate` at the throw, as
//! in gcc's library, before any destructor runs.

use mover_ir::program::Property;

use super::{Flat, Flattener, Frame, Problem};
use crate::llvm::short;
use crate::ssa::*;

/// Words for the end of a program by an exception.
const UNCAUGHT: &str = "an exception is thrown and not caught: std::terminate is called";

/// A place on the stack that exceptions come to.
pub(super) struct Unwinding {
    /// Made for the first that comes.
    block: Option<BlockId>,
    /// Exception, its type, and where it comes from.
    arrivals: Vec<(Operand, Operand, BlockId)>,
    /// What is caught here; none where only variables die.
    clauses: Option<Vec<Clause>>,
}

/// A way from a call to a landing pad.
pub(super) struct Landed {
    /// Blocks of the original: that of the call, and the landing pad.
    pub from: BlockId,
    pub pad: BlockId,
    /// The block of the copy that jumps to it.
    block: BlockId,
    exception: Operand,
    ty: Operand,
}

/// What a block catches, if it is a landing pad.
pub(super) fn clauses(function: &Function, block: BlockId) -> Option<Vec<Clause>> {
    let mut insts = function.blocks[block].insts.iter();
    insts.find_map(|inst| match &inst.kind {
        Kind::LandingPad(clauses) => Some(clauses.clone()),
        _ => None,
    })
}

/// The blocks that can follow, also by an exception.
pub(super) fn successors(block: &Block) -> Vec<BlockId> {
    let mut all = block.end.successors();
    all.extend(block.insts.iter().filter_map(|inst| match &inst.kind {
        Kind::Call { unwind, .. } => *unwind,
        _ => None,
    }));
    all
}

/// Whether some function of the program does something when an exception passes it.
pub(super) fn are_handled(module: &Module) -> bool {
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    let mut insts = blocks.flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.kind, Kind::LandingPad(_)))
}

/// The types of exceptions that the program throws.
pub(super) fn thrown(module: &Module) -> Vec<GlobalId> {
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|block| &block.insts);
    let mut all: Vec<GlobalId> = insts
        .filter_map(|inst| numbered_type(module, &inst.kind))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The type whose number a call asks for.
fn numbered_type(module: &Module, kind: &Kind) -> Option<GlobalId> {
    let Kind::Call {
        callee: Callee::Function(id),
        args,
        ..
    } = kind
    else {
        return None;
    };
    match (module.functions[*id].name.as_str(), args.first()) {
        ("__mover_type_number", Some(Operand::Global(ty))) => Some(*ty),
        _ => None,
    }
}

/// How a class is part of another one.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    AtBegin,
    Elsewhere,
}

/// The base classes of a type, by its description: a table of the kind of description, a name, and
/// for classes their bases (Itanium C++ ABI, section 2.9.5).
fn bases(module: &Module, ty: GlobalId) -> Vec<(GlobalId, Part)> {
    let Some(Initial::Bytes { bytes, addresses }) = &module.globals[ty].initial else {
        return Vec::new();
    };
    let pointer = module.pointer_bytes;
    let at = |offset: u64| addresses.iter().find(|(at, _)| *at == offset);
    let table = match at(0).map(|(_, operand)| operand) {
        Some(Operand::Global(id)) => *id,
        Some(Operand::Pure(pure)) => match &**pure {
            Pure::Gep {
                base: Operand::Global(id),
                ..
            } => *id,
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let kind = &module.globals[table].name;
    let base = |offset: u64| match at(offset) {
        Some((_, Operand::Global(id))) => Some(*id),
        _ => None,
    };
    if kind.contains("__si_class_type_info") {
        let only = base(2 * pointer).into_iter();
        return only.map(|id| (id, Part::AtBegin)).collect();
    }
    if !kind.contains("__vmi_class_type_info") {
        return Vec::new();
    }
    // Flags and number of bases; then each base with its offset, whose lowest byte has flags.
    let mut found = Vec::new();
    let mut offset = 2 * pointer + 8;
    while let Some(id) = base(offset) {
        let place = (offset + pointer) as usize;
        let flags = bytes.get(place..place + pointer as usize).unwrap_or(&[1]);
        let is_virtual = flags[0] & 1 != 0;
        let is_at_begin = flags[1..].iter().all(|&byte| byte == 0);
        let part = match is_at_begin && !is_virtual {
            true => Part::AtBegin,
            false => Part::Elsewhere,
        };
        found.push((id, part));
        offset += 2 * pointer;
    }
    found
}

/// How one type is part of another, if it is.
fn part_of(module: &Module, whole: GlobalId, part: GlobalId) -> Option<Part> {
    if whole == part {
        return Some(Part::AtBegin);
    }
    let mut found = None;
    for (base, place) in bases(module, whole) {
        match (place, part_of(module, base, part)) {
            (_, None) => {}
            (Part::AtBegin, Some(Part::AtBegin)) if found.is_none() => found = Some(Part::AtBegin),
            _ => found = Some(Part::Elsewhere),
        }
    }
    found
}

impl Unwinding {
    fn catches(&self, module: &Module, thrown: GlobalId) -> bool {
        let is_caught = |clause: &Clause| match clause {
            Clause::Catch(ty) => part_of(module, thrown, *ty).is_some(),
            Clause::CatchAll | Clause::Filter => true,
        };
        self.clauses.iter().flatten().any(is_caught)
    }
}

impl Flattener<'_> {
    /// From here on exceptions come to a new place.
    pub(super) fn begin_unwinding(&mut self, clauses: Option<Vec<Clause>>) {
        self.unwindings.push(Unwinding {
            block: None,
            arrivals: Vec::new(),
            clauses,
        });
    }

    /// The block that exceptions have come to since, with exception and type; none if none came.
    pub(super) fn end_unwinding(
        &mut self,
        loc: Option<Loc>,
    ) -> Option<(BlockId, Operand, Operand)> {
        let place = self.unwindings.pop()?;
        let block = place.block?;
        if let [(exception, ty, _)] = &place.arrivals[..] {
            return Some((block, exception.clone(), ty.clone()));
        }
        let mut both = [self.module.pointer_width(), 32].into_iter().map(|width| {
            let of = |(exception, ty, from): &(Operand, Operand, BlockId)| match width {
                32 => (ty.clone(), *from),
                _ => (exception.clone(), *from),
            };
            let incoming = place.arrivals.iter().map(of).collect();
            self.value(block, width, Kind::Phi(incoming), loc)
        });
        let exception = both.next()?;
        let ty = both.next()?;
        Some((block, exception, ty))
    }

    /// An exception flies.
    pub(super) fn unwind(
        &mut self,
        at: BlockId,
        exception: Operand,
        ty: Operand,
        loc: Option<Loc>,
    ) {
        if let Operand::Int { value, .. } = ty
            && let Some(thrown) = (value as usize).checked_sub(1)
            && thrown < self.module.globals.len()
        {
            let module = self.module;
            if !self
                .unwindings
                .iter()
                .any(|place| place.catches(module, thrown))
            {
                let name = short(&module.globals[thrown].name);
                let name = name.strip_prefix("typeinfo for ").unwrap_or(&name);
                let message = format!(
                    "an exception of type `{name}` is thrown and not caught: std::terminate is called"
                );
                self.fail(at, Property::UnreachCall, message, loc);
                return;
            }
        }
        let Some(last) = self.unwindings.len().checked_sub(1) else {
            self.fail(at, Property::UnreachCall, UNCAUGHT.into(), loc);
            return;
        };
        let block = match self.unwindings[last].block {
            Some(block) => block,
            None => {
                let block = self.new_block();
                self.unwindings[last].block = Some(block);
                block
            }
        };
        self.end(at, Terminator::Jump(block), loc);
        self.unwindings[last].arrivals.push((exception, ty, at));
    }

    /// Exceptions leave a function: its variables die.
    pub(super) fn leave_frame(&mut self, frame: &Frame, loc: Option<Loc>) {
        if let Some((at, exception, ty)) = self.end_unwinding(loc) {
            for object in &frame.objects {
                self.set_lifetime(at, object, false, loc);
            }
            self.unwind(at, exception, ty, loc);
        }
    }

    /// Exceptions of a call come to its landing pad.
    pub(super) fn land(
        &mut self,
        frame: &mut Frame,
        from: BlockId,
        pad: BlockId,
        loc: Option<Loc>,
    ) {
        if let Some((block, exception, ty)) = self.end_unwinding(loc) {
            self.end(block, Terminator::Jump(frame.begins[pad]), loc);
            frame.landed.push(Landed {
                from,
                pad,
                block,
                exception,
                ty,
            });
        }
    }

    /// The beginning of a landing pad: which exception has come, and which handler takes it.
    pub(super) fn landing_pad(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        clauses: &[Clause],
        number: BlockId,
        loc: Option<Loc>,
        frame: &mut Frame,
    ) -> Flat<BlockId> {
        let module = self.module;
        let exception = self.new_value(vec![module.pointer_width()], "exception");
        let ty = self.new_value(vec![32], "exception type");
        // What comes is known when the whole function is copied.
        self.emit(at, Some(exception), Kind::Phi(Vec::new()), loc);
        self.emit(at, Some(ty), Kind::Phi(Vec::new()), loc);
        frame.pads.insert(number, (exception, ty));
        let int = |value: u64| Operand::Int { value, width: 32 };
        let mut selector = int(0);
        for clause in clauses.iter().rev() {
            let caught = match clause {
                Clause::Catch(ty) => *ty,
                Clause::CatchAll => {
                    selector = int(u64::from(u32::MAX >> 1));
                    continue;
                }
                Clause::Filter => {
                    let message = "an exception specification other than `noexcept`";
                    return Err(Problem::new(message, loc).code("C012"));
                }
            };
            for thrown in self.thrown.clone() {
                match part_of(module, thrown, caught) {
                    None => continue,
                    Some(Part::AtBegin) => {}
                    Some(Part::Elsewhere) => {
                        let message = "an exception that is caught as a base class which is not \
                                       at its beginning";
                        return Err(Problem::new(message, loc).code("C012"));
                    }
                }
                let is_it = Kind::Pure(Pure::Compare {
                    predicate: Predicate::Eq,
                    lhs: Operand::Value(ty),
                    rhs: int(type_number(thrown)),
                });
                let condition = self.value(at, 1, is_it, loc);
                let choice = Kind::Pure(Pure::Select {
                    condition,
                    then: int(type_number(caught)),
                    otherwise: selector,
                });
                selector = self.value(at, 32, choice, loc);
            }
        }
        if let Some(result) = result {
            let parts = vec![Operand::Value(exception), selector];
            let both = Pure::Copy(Operand::Aggregate(parts));
            self.emit(at, Some(result), Kind::Pure(both), loc);
        }
        Ok(at)
    }

    /// Says where the values at the beginning of a landing pad come from.
    pub(super) fn connect_pad(&mut self, frame: &Frame, number: BlockId) {
        let ways = || frame.landed.iter().filter(|way| way.pad == number);
        let pad = frame.pads.get(&number);
        for inst in &mut self.blocks[frame.begins[number]].insts {
            let Kind::Phi(incoming) = &mut inst.kind else {
                break;
            };
            match (pad, inst.result) {
                (Some((id, _)), Some(result)) if *id == result => {
                    *incoming = ways()
                        .map(|way| (way.exception.clone(), way.block))
                        .collect();
                }
                (Some((_, id)), Some(result)) if *id == result => {
                    *incoming = ways().map(|way| (way.ty.clone(), way.block)).collect();
                }
                _ => incoming.retain_mut(|(_, from)| match ways().find(|way| way.from == *from) {
                    Some(way) => {
                        *from = way.block;
                        true
                    }
                    None => false,
                }),
            }
        }
    }

    /// An exception that was not caught goes on; what it is stands before it in memory.
    pub(super) fn resume(&mut self, at: BlockId, both: Operand, loc: Option<Loc>) -> Flat<()> {
        let part = Kind::Pure(Pure::Extract {
            from: both,
            first: 0,
            count: 1,
        });
        let exception = self.value(at, self.module.pointer_width(), part, loc);
        self.runtime(at, "resume_exception", vec![exception], None, loc)?;
        Ok(())
    }

    /// The number of a type is a constant.
    pub(super) fn number_type(&self, kind: &mut Kind) {
        if let Some(ty) = numbered_type(self.module, kind) {
            let (value, width) = (type_number(ty), 32);
            *kind = Kind::Pure(Pure::Copy(Operand::Int { value, width }));
        }
    }
}

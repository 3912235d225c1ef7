//! What the C++ library does beyond the C library, as far as it is not C in the runtime.
//!
//! Streams only write. Guards of function-local statics are once-flags. Names that only identify
//! something, such as descriptions of types, need no definition.

use std::collections::HashSet;

use mover_ir::program::Property;

use super::{Flat, Flattener, Problem, displaced, exceptions};
use crate::ssa::*;

/// Functions that write to a stream and return it.
pub fn is_stream_output(name: &str) -> bool {
    const STARTS: [&str; 9] = [
        "_ZNSolsE",
        "_ZStlsI",
        "_ZNSo3putE",
        "_ZNSo5flushE",
        "_ZNSo5writeE",
        "_ZNSo9_M_insertI",
        "_ZSt4endlI",
        "_ZSt5flushI",
        "_ZSt16__ostream_insertI",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Where a call finds the function that it calls.
#[derive(Clone, Copy)]
pub(super) enum Through {
    /// In a pointer of the program.
    Pointer,
    /// In a table of virtual functions, or, without a place there, perhaps elsewhere.
    Table(Option<Slot>),
    /// Among those that are registered with the library, by group.
    Registration(usize),
}

/// A function in a table of virtual functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VirtualFunction {
    id: FunctionId,
    /// How far it stands behind the place in the table that objects point to; that place is behind the
    /// description of the type.
    at: i64,
    table: GlobalId,
    /// Whether the table says which classes it is for.
    has_class: bool,
}

pub(super) fn virtual_functions(module: &Module) -> Vec<VirtualFunction> {
    let with_class: HashSet<GlobalId> = module
        .classes
        .iter()
        .flat_map(|c| &c.points)
        .map(|p| p.table)
        .collect();
    let mut all = Vec::new();
    for (number, table) in module.globals.iter().enumerate() {
        let Some(Initial::Bytes { addresses, .. }) = &table.initial else {
            continue;
        };
        if !is_table(&table.name) {
            continue;
        }
        let has_class = with_class.contains(&number);
        let mut begin = 2 * module.pointer_bytes;
        for (offset, operand) in addresses {
            match operand {
                Operand::Global(_) => begin = offset + module.pointer_bytes,
                Operand::Function(id) => all.push(VirtualFunction {
                    id: *id,
                    at: *offset as i64 - begin as i64,
                    table: number,
                    has_class,
                }),
                _ => {}
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a table is for a class or one that is derived from it, as far as the descriptions of types tell.
fn is_derived(module: &Module, table: GlobalId, class: &str) -> bool {
    let at = |global: GlobalId, offset: u64| match &module.globals[global].initial {
        Some(Initial::Bytes { addresses, .. }) => {
            let mut addresses = addresses.iter();
            addresses
                .find(|(other, _)| *other == offset)
                .map(|(_, operand)| operand)
        }
        _ => None,
    };
    let word = module.pointer_bytes;
    let Some(Operand::Global(described)) = at(table, word) else {
        return true;
    };
    let mut described = *described;
    loop {
        let name = &module.globals[described].name;
        let is_same = || name.strip_prefix("_ZTI") == class.strip_prefix("_ZTS");
        if is_same() {
            return true;
        }
        if module.globals[described].initial.is_none() {
            return true;
        }
        // A description of a class with one base names it in its third word; only the runtime library's
        // tables come here, and its classes have at most one.
        match at(described, 2 * word) {
            Some(Operand::Global(base)) => described = *base,
            _ => return false,
        }
    }
}

pub fn is_table(name: &str) -> bool {
    name.starts_with("_ZTV") || name.starts_with("_ZTC")
}

impl Flattener<'_> {
    /// The functions that a call through a pointer may reach: those that a pointer can point to, and for
    /// a call through a table of virtual functions those that stand there, in the tables of the
    /// class that the call names and in those that say nothing of classes.
    pub(super) fn possible_targets(&self, through: Through) -> Vec<FunctionId> {
        let slot = match through {
            Through::Pointer => return self.pointed_to.clone(),
            Through::Registration(group) => {
                let functions = self.module.functions.iter().enumerate();
                let is_registered = |f: &Function| f.callback.groups.contains(&group);
                let registered = functions.filter(|(_, f)| is_registered(f));
                return registered.map(|(id, _)| id).collect();
            }
            Through::Table(slot) => slot,
        };
        let class = slot.and_then(|slot| slot.class);
        let fits = |function: &&VirtualFunction| {
            slot.is_none_or(|slot| slot.offset == function.at)
                && class.is_none_or(|class| {
                    let class = &self.module.classes[class].name;
                    !function.has_class && is_derived(self.module, function.table, class)
                })
        };
        let there = self.virtual_functions.iter().filter(fits);
        let mut all: Vec<FunctionId> = there.map(|function| function.id).collect();
        if slot.is_none() {
            all.extend(&self.pointed_to);
        }
        if let (Some(slot), Some(class)) = (slot, class) {
            let points = self.module.classes[class].points.iter();
            all.extend(points.filter_map(|point| self.function_at(*point, slot.offset)));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The function that stands so far behind a place of a table.
    fn function_at(&self, point: AddressPoint, offset: i64) -> Option<FunctionId> {
        let Some(Initial::Bytes { addresses, .. }) = &self.module.globals[point.table].initial
        else {
            return None;
        };
        let at = point.offset.checked_add_signed(offset)?;
        addresses.iter().find_map(|(other, operand)| match operand {
            Operand::Function(id) if *other == at => Some(*id),
            _ => None,
        })
    }

    /// Whether a variable without a definition is a stream that is written to.
    pub(super) fn is_named_only(&self, name: &str, kind: &Kind) -> bool {
        let is_stream = name.starts_with("_ZSt4c") || name.starts_with("_ZSt5w");
        is_stream
            && matches!(kind, Kind::Call { callee: Callee::Function(id), .. }
            if is_stream_output(&self.module.functions[*id].name))
    }

    /// Runs the destructors of the thread's own variables, if some have one.
    pub(super) fn run_thread_exits(&mut self, at: BlockId, loc: Option<Loc>) -> Flat<BlockId> {
        let has_some = self.module.find("__mover_run_thread_exits").is_some();
        if !has_some || !matches!(self.blocks[at].end, Terminator::Unreachable) {
            return Ok(at);
        }
        self.runtime(at, "run_thread_exits", Vec::new(), None, loc)
    }

    /// A function of the C++ library that is known here.
    pub(super) fn cpp_library(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        name: &str,
        args: &[Operand],
        loc: Option<Loc>,
    ) -> Option<Flat<BlockId>> {
        let arg = |index: usize| args.get(index).cloned();
        let missing = || Problem::new(format!("`{name}` is called with too few arguments"), loc);
        match name {
            "__mover_unwind" => {
                let (Some(exception), Some(ty)) = (arg(0), arg(1)) else {
                    return Some(Err(missing()));
                };
                self.unwind(at, exception, ty, loc);
                Some(Ok(at))
            }
            "__mover_type_number" => {
                let message = "an exception whose type is not a constant";
                Some(Err(Problem::new(message, loc).code("C012")))
            }
            "__mover_terminate" => {
                let why = self.string(args.first()).unwrap_or_default();
                let message = format!("{why}: std::terminate is called");
                Some(Ok(self.fail(at, Property::UnreachCall, message, loc)))
            }
            "__mover_reads_clock" => {
                self.notes.clock.get_or_insert(loc);
                Some(Ok(at))
            }
            "__mover_uses_hash_table" => {
                self.notes.hash_table.get_or_insert(loc);
                Some(Ok(at))
            }
            // These run destructors on their way, as exceptions do.
            "pthread_exit" | "pthread_cancel" | "thrd_exit"
                if exceptions::are_handled(self.module) =>
            {
                let message = format!("`{name}` in a program of C++");
                Some(Err(Problem::new(message, loc).code("C012")))
            }
            "_ZSt9terminatev" => {
                let message = "std::terminate is called".to_string();
                Some(Ok(self.fail(at, Property::UnreachCall, message, loc)))
            }
            "__cxa_pure_virtual" => {
                let message = "a pure virtual function is called".to_string();
                Some(Ok(self.fail(at, Property::UnreachCall, message, loc)))
            }
            // The first byte says whether the variable is initialised; here the second word is a
            // once-flag.
            "__cxa_guard_acquire" => {
                let Some(guard) = arg(0) else {
                    return Some(Err(missing()));
                };
                let kind = Kind::Library {
                    name: "once_begin".into(),
                    args: vec![displaced(&guard, 4)],
                    arg_shapes: Vec::new(),
                    shape: vec![1],
                };
                let is_first = self.value(at, 1, kind, loc);
                let is_first = self.resized(at, is_first, 32, loc);
                if let Some(result) = result {
                    self.emit(at, Some(result), Kind::Pure(Pure::Copy(is_first)), loc);
                }
                Some(Ok(at))
            }
            "__cxa_guard_release" | "__cxa_guard_abort" => {
                let Some(guard) = arg(0) else {
                    return Some(Err(missing()));
                };
                let is_done = name == "__cxa_guard_release";
                let store = |pointer: Operand, value: u64, width: u8, atomic: bool| Kind::Store {
                    pointer,
                    value: Operand::Int { value, width },
                    shape: vec![width],
                    atomic,
                };
                if is_done {
                    self.emit(at, None, store(guard.clone(), 1, 8, true), loc);
                }
                let state = if is_done { 2 } else { 0 };
                self.emit(at, None, store(displaced(&guard, 4), state, 32, false), loc);
                Some(Ok(at))
            }
            _ if is_stream_output(name) => {
                self.notes.prints.get_or_insert(loc);
                if let (Some(result), Some(stream)) = (result, arg(0)) {
                    self.emit(at, Some(result), Kind::Pure(Pure::Copy(stream)), loc);
                }
                Some(Ok(at))
            }
            _ => None,
        }
    }
}

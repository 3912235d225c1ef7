//! What the C++ library does beyond the C library, as far as it is not C in the runtime.
//!
//! Streams only write. Guards of function-local statics are once-flags. Names that only identify
//! something, such as descriptions of types, need no definition.

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

/// The functions in tables of virtual functions, and how far each stands behind the place in the
/// table that objects point to; that place is behind the description of the type.
pub(super) fn virtual_functions(module: &Module) -> Vec<(FunctionId, i64)> {
    let mut all = Vec::new();
    for table in module.globals.iter().filter(|g| is_table(&g.name)) {
        let Some(Initial::Bytes { addresses, .. }) = &table.initial else {
            continue;
        };
        let mut begin = 2 * module.pointer_bytes;
        for (offset, operand) in addresses {
            match operand {
                Operand::Global(_) => begin = offset + module.pointer_bytes,
                Operand::Function(id) => all.push((*id, *offset as i64 - begin as i64)),
                _ => {}
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) fn is_table(name: &str) -> bool {
    name.starts_with("_ZTV") || name.starts_with("_ZTC")
}

impl Flattener<'_> {
    /// The functions that a call through a pointer may reach: those that a pointer can point to, and for
    /// a call through a table of virtual functions those that stand there.
    pub(super) fn possible_targets(&self, table: Option<Option<i64>>) -> Vec<FunctionId> {
        let Some(slot) = table else {
            return self.pointed_to.clone();
        };
        let fits = |at: i64| slot.is_none_or(|slot| slot == at);
        let there = self.virtual_functions.iter().filter(|(_, at)| fits(*at));
        let mut all: Vec<FunctionId> = there.map(|(id, _)| *id).collect();
        if slot.is_none() {
            all.extend(&self.pointed_to);
        }
        all.sort_unstable();
        all.dedup();
        all
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

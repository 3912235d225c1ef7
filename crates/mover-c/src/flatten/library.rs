//! The functions of the C library.
//!
//! Each is composed here of loads, stores and a few primitive actions, or taken from the
//! runtime library where it is a loop over memory.

use mover_ir::program::Property;
use mover_tools::visible;

use super::library_names::*;
use super::results::means;
use super::{Flat, Flattener, Problem, displaced, is_null};
use crate::llvm::short;
use crate::objects::library_bytes;
use crate::ssa::*;

impl Flattener<'_> {
    /// The text of a string constant.
    pub(super) fn string(&self, operand: Option<&Operand>) -> Option<String> {
        let Some(Operand::Global(id)) = operand else {
            return None;
        };
        match &self.module.globals[*id].initial {
            Some(Initial::Bytes { bytes, .. }) => {
                let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
                Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
            }
            _ => None,
        }
    }

    /// A function without a body, with arguments of the types that the library has.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn modelled(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        name: &str,
        args: Vec<Operand>,
        shape: Shape,
        arg_shapes: Vec<Shape>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let pointer = self.module.pointer_width();
        let width = shape.first().copied();
        let int = |value: u64, width: u8| Operand::Int { value, width };
        let missing = || Problem::new(format!("`{name}` is called with too few arguments"), loc);
        let arg = |index: usize| args.get(index).cloned().ok_or_else(missing);
        // Assigns the call's result.
        macro_rules! yields {
            ($at:expr, $value:expr) => {{
                if let Some(result) = result {
                    self.emit($at, Some(result), Kind::Pure(Pure::Copy($value)), loc);
                }
                Ok($at)
            }};
        }
        macro_rules! success {
            ($at:expr) => {
                match width {
                    Some(width) => yields!($at, int(0, width)),
                    None => Ok($at),
                }
            };
        }
        if result.is_none() && is_mere_input(name, &args) {
            return Ok(at);
        }
        let field = |base: Operand, offset: i64| displaced(&base, offset);
        let store = |pointer: Operand, value: Operand, width: u8| Kind::Store {
            pointer,
            value,
            shape: vec![width],
            atomic: false,
        };
        if let Some(done) = self.cpp_library(at, result, name, &args, loc) {
            return done;
        }
        if let Some(bytes) = library_bytes(name, self.module.pointer_bytes) {
            let room = vec![arg(0)?, int(bytes, 32)];
            self.primitive(at, "room_for", room, Vec::new(), loc);
        }
        match name {
            "abort"
            | "exit"
            | "_exit"
            | "_Exit"
            | "quick_exit"
            | "llvm.trap"
            | "llvm.debugtrap"
            | "pthread_kill_other_threads_np" => {
                let mut at = at;
                if name == "exit" {
                    let status = arg(0)?;
                    at = self.leave_process(at, status, loc)?;
                }
                if matches!(self.blocks[at].end, Terminator::Unreachable) {
                    self.end(at, Terminator::EndProcess, loc);
                }
                Ok(at)
            }
            "__assert_fail" | "__assert" | "__assert_rtn" => {
                let condition = self.string(args.first()).unwrap_or_default();
                let message = format!("assertion violated: {}", visible::name(&condition));
                Ok(self.fail(at, Property::UnreachCall, message, loc))
            }
            "__assert_perror_fail" => {
                let message = "assertion violated: an error number is not 0".to_string();
                Ok(self.fail(at, Property::UnreachCall, message, loc))
            }
            "__mover_choice" => {
                let Operand::Int { value, .. } = arg(0)? else {
                    let message = "a choice of a number that is not constant";
                    return Err(Problem::new(message, loc).code("C099"));
                };
                let kind = Kind::Library {
                    name: "nondet".into(),
                    args: vec![int(value, 64)],
                    arg_shapes: vec![vec![64]],
                    shape: vec![32],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "__mover_unsupported" => {
                let what = self.string(args.first()).unwrap_or_default();
                Err(Problem::new(format!("not supported: {what}"), loc))
            }
            "mover_undefined_constant" => {
                let message = "division by zero, or a shift as wide as its type";
                Ok(self.fail(at, Property::UnreachCall, message.into(), loc))
            }
            "pthread_exit" | "thrd_exit" => {
                let kind = Kind::Pure(Pure::Resize {
                    arg: arg(0)?,
                    width: pointer,
                    extension: Extension::Sign,
                });
                let value = self.value(at, pointer, kind, loc);
                self.exit_thread(at, value, loc)
            }
            "pthread_cancel" => {
                let kind = Kind::Library {
                    name: "thread_cancel".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "__mover_format_double" => {
                let message = "not supported: a conversion of this format";
                Err(Problem::new(message, loc))
            }
            "__mover_sets_signals" => {
                let names = ["signal", "sigaction", "__sysv_signal", "bsd_signal"];
                let sets = names.iter().any(|name| self.module.find(name).is_some());
                yields!(at, int(u64::from(sets), 32))
            }
            "__mover_program_cancels" => yields!(at, int(u64::from(self.cancels), 32)),
            "__VERIFIER_assume" | "__builtin_assume" => {
                let condition = arg(0)?;
                let width = arg_shapes[0].first().copied().unwrap_or(32);
                let holds = self.is_not_zero(at, condition, width, loc);
                let (then, otherwise) = self.branch(at, holds, loc);
                self.end(otherwise, Terminator::Infeasible, loc);
                Ok(then)
            }
            // Without the header, `assert` is a function that verifiers know.
            "__VERIFIER_assert" | "assert" => {
                let asserted = arg(0)?;
                let width = arg_shapes[0].first().copied().unwrap_or(32);
                let holds = self.is_not_zero(at, asserted, width, loc);
                let (then, otherwise) = self.branch(at, holds, loc);
                let message = format!("assertion violated: {name}");
                self.fail(otherwise, Property::UnreachCall, message, loc);
                Ok(then)
            }
            "__VERIFIER_atomic_begin" => {
                self.emit(at, None, Kind::AtomicBegin, loc);
                Ok(at)
            }
            "__VERIFIER_atomic_end" => {
                self.emit(at, None, Kind::AtomicEnd, loc);
                Ok(at)
            }
            "__VERIFIER_nondet_memory" => {
                let (to, size) = (arg(0)?, arg(1)?);
                if self.any_scalars(at, &to, &size, loc) {
                    return Ok(at);
                }
                let size = self.resized(at, size, pointer, loc);
                self.runtime(at, name, vec![to, size], None, loc)
            }
            _ if name.starts_with("__VERIFIER_nondet_") => {
                let Some(width) = width else {
                    // A large structure comes back through a pointer that is the only argument.
                    return match (args.first(), arg_shapes.first()) {
                        (Some(to), Some(to_shape)) if *to_shape == [pointer] => {
                            let to = to.clone();
                            self.any_structure(at, name, &to, loc)
                        }
                        _ => Ok(at),
                    };
                };
                if shape.len() > 1 {
                    let parts = shape.iter().map(|&width| self.any_value(at, width, loc));
                    let parts = parts.collect();
                    return yields!(at, Operand::Aggregate(parts));
                }
                let suffix = &name["__VERIFIER_nondet_".len()..];
                // A `_Bool` is 0 or 1 in a wider cell.
                let values = if matches!(suffix, "bool" | "_Bool") {
                    2
                } else {
                    0
                };
                let kind = Kind::Library {
                    name: "nondet".into(),
                    args: vec![int(values, 64)],
                    arg_shapes: vec![vec![64]],
                    shape: vec![width],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![width], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            _ if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => {
                let plain = if name.contains("cpy") {
                    "memcpy"
                } else {
                    "memmove"
                };
                self.copy_memory(at, plain, arg(0)?, arg(1)?, arg(2)?, loc)
            }
            _ if name.starts_with("llvm.va_end") => Ok(at),
            _ if name.starts_with("llvm.va_copy") => {
                self.copy_list(at, &arg(0)?, &arg(1)?, loc);
                Ok(at)
            }
            _ if name.starts_with("llvm.memset.")
                && self.set_scalars(at, &arg(0)?, &arg(1)?, &arg(2)?, loc) =>
            {
                Ok(at)
            }
            _ if name.starts_with("llvm.memset.") => {
                let byte = Kind::Pure(Pure::Resize {
                    arg: arg(1)?,
                    width: 32,
                    extension: Extension::Zero,
                });
                let byte = self.value(at, 32, byte, loc);
                let size = self.resized(at, arg(2)?, pointer, loc);
                let name = match self.has_small_elements(&arg(2)?, &[&arg(0)?]) {
                    true => "memset_of_ints",
                    false => "memset",
                };
                self.runtime(at, name, vec![arg(0)?, byte, size], None, loc)
            }
            // Fortified variants have the size of the target as the last argument.
            "__memcpy_chk" | "__memmove_chk" | "__memset_chk" | "__strncpy_chk" => {
                let plain = name.trim_matches('_').trim_end_matches("_chk");
                self.runtime(at, plain, vec![arg(0)?, arg(1)?, arg(2)?], result, loc)
            }
            "__strcpy_chk" | "__strcat_chk" => {
                let plain = name.trim_matches('_').trim_end_matches("_chk");
                self.runtime(at, plain, vec![arg(0)?, arg(1)?], result, loc)
            }
            "malloc" | "__mover_allocate" | "__mover_allocate_zeroed" | "alloca" => {
                let primitive = match name {
                    "__mover_allocate_zeroed" => "allocate_zeroed",
                    "alloca" => "allocate_on_stack",
                    _ => "allocate",
                };
                if name != "alloca" {
                    self.notes.allocates.get_or_insert(loc);
                }
                let kind = Kind::Library {
                    name: primitive.into(),
                    args: vec![arg(0)?],
                    arg_shapes,
                    shape,
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![pointer], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "free" | "__mover_release" | "__mover_bad_free" | "__mover_object_size" => {
                self.notes.frees |= matches!(name, "free" | "__mover_release");
                let primitive = match name {
                    "free" => "free",
                    "__mover_release" => "release",
                    "__mover_bad_free" => "check_heap",
                    _ => "object_size",
                };
                let kind = Kind::Library {
                    name: primitive.into(),
                    args,
                    arg_shapes,
                    shape,
                };
                self.emit(at, result, kind, loc);
                Ok(at)
            }

            // Threads.
            "pthread_create" | "thrd_create" => {
                let is_posix = name == "pthread_create";
                let (attributes, routine, start_arg) = if is_posix {
                    (arg(1)?, arg(2)?, arg(3)?)
                } else {
                    (int(0, pointer), arg(1)?, arg(2)?)
                };
                let detached = match attributes {
                    Operand::Int { value: 0, .. } => int(0, 32),
                    pointer => {
                        let shape = vec![32];
                        self.value(
                            at,
                            32,
                            Kind::Load {
                                pointer,
                                shape,
                                atomic: false,
                            },
                            loc,
                        )
                    }
                };
                let handle = Kind::Library {
                    name: "thread_reserve".into(),
                    args: Vec::new(),
                    arg_shapes: Vec::new(),
                    shape: vec![pointer],
                };
                let handle = self.value(at, pointer, handle, loc);
                self.emit(at, None, store(arg(0)?, handle.clone(), pointer), loc);
                let kind = Kind::Library {
                    name: "thread_start".into(),
                    args: vec![handle, detached, routine, start_arg],
                    arg_shapes: Vec::new(),
                    shape: Vec::new(),
                };
                self.emit(at, None, kind, loc);
                success!(at)
            }
            "pthread_join"
            | "thrd_join"
            | "pthread_tryjoin_np"
            | "pthread_timedjoin_np"
            | "pthread_clockjoin_np" => {
                let wants_result = !is_null(args.get(1));
                self.notes.uses_join_results |= wants_result;
                let mut at = at;
                // What the call returns if the thread has not ended; 0 if it waits for that.
                let running = match name {
                    "pthread_tryjoin_np" => EBUSY,
                    "pthread_timedjoin_np" | "pthread_clockjoin_np" => ETIMEDOUT,
                    _ => 0,
                };
                let mut join_args = vec![arg(0)?, int(running, 32)];
                let is_cancellable = self.is_cancellable() && name != "pthread_tryjoin_np";
                if is_cancellable {
                    let (back, enabled) = self.is_cancel_enabled(at, loc)?;
                    at = back;
                    join_args.push(enabled);
                }
                let kind = Kind::Library {
                    name: "thread_join".into(),
                    args: join_args,
                    arg_shapes: Vec::new(),
                    shape: vec![pointer, 32],
                };
                let both = self.new_value(vec![pointer, 32], "");
                self.emit(at, Some(both), kind, loc);
                let part = |first: usize| {
                    Kind::Pure(Pure::Extract {
                        from: Operand::Value(both),
                        first,
                        count: 1,
                    })
                };
                let value = self.value(at, pointer, part(0), loc);
                let error = self.value(at, 32, part(1), loc);
                if is_cancellable {
                    at = self.unless_cancelled(at, &error, None, loc)?;
                }
                if wants_result {
                    // A join that fails stores nothing.
                    let fails = self.is_not_zero(at, error.clone(), 32, loc);
                    let (failed, joined) = self.branch(at, fails, loc);
                    at = joined;
                    let width = if name == "thrd_join" { 32 } else { pointer };
                    let value = self.resized(at, value, width, loc);
                    let target = arg(1)?;
                    // The address of a variable is never null.
                    let known = matches!(target, Operand::Global(_)) || self.is_alloca(&target);
                    if known {
                        let next = self.new_block();
                        self.end(at, Terminator::Jump(next), loc);
                        self.emit(next, None, store(target, value, width), loc);
                        at = next;
                    } else {
                        let is_set = self.is_not_zero(at, target.clone(), pointer, loc);
                        let (then, next) = self.branch(at, is_set, loc);
                        self.emit(then, None, store(target, value, width), loc);
                        self.end(then, Terminator::Jump(next), loc);
                        at = next;
                    }
                    let next = self.new_block();
                    self.end(at, Terminator::Jump(next), loc);
                    self.end(failed, Terminator::Jump(next), loc);
                    at = next;
                }
                let error = self.error_of(at, name, error, loc);
                yields!(at, error)
            }
            "pthread_detach" | "thrd_detach" => {
                let kind = Kind::Library {
                    name: "thread_detach".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let error = self.value(at, 32, kind, loc);
                let error = self.error_of(at, name, error, loc);
                yields!(at, error)
            }
            "pthread_self" | "thrd_current" => {
                let kind = Kind::Library {
                    name: "thread_self".into(),
                    args: Vec::new(),
                    arg_shapes: Vec::new(),
                    shape: vec![pointer],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![pointer], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_equal" | "thrd_equal" => {
                let kind = Kind::Library {
                    name: "thread_equal".into(),
                    args: vec![arg(0)?, arg(1)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }

            // Locks.
            "pthread_mutex_lock"
            | "pthread_mutex_trylock"
            | "pthread_mutex_unlock"
            | "mtx_lock"
            | "mtx_trylock"
            | "mtx_unlock"
            | "pthread_spin_lock"
            | "pthread_spin_trylock"
            | "pthread_spin_unlock"
            | "pthread_mutex_destroy"
            | "mtx_destroy"
            | "pthread_spin_destroy"
            | "pthread_rwlock_rdlock"
            | "pthread_rwlock_wrlock"
            | "pthread_rwlock_tryrdlock"
            | "pthread_rwlock_trywrlock"
            | "pthread_rwlock_timedrdlock"
            | "pthread_rwlock_timedwrlock"
            | "pthread_rwlock_unlock"
            | "pthread_rwlock_destroy"
            | "sem_wait"
            | "sem_trywait"
            | "pthread_mutex_timedlock"
            | "mtx_timedlock"
            | "sem_timedwait" => {
                let is_c11 = name.starts_with("mtx_");
                let plain = name.trim_start_matches("pthread_");
                let plain = plain.replacen("mtx_", "mutex_", 1);
                // A timed operation may give up at any time, as a try may.
                let (plain, timed) = match plain.as_str() {
                    "mutex_timedlock" => ("mutex_timedlock".to_string(), true),
                    "sem_timedwait" => ("sem_timedwait".to_string(), true),
                    "rwlock_timedrdlock" => ("rwlock_tryrdlock".to_string(), true),
                    "rwlock_timedwrlock" => ("rwlock_trywrlock".to_string(), true),
                    _ => (plain, false),
                };
                let busy = match (is_c11, timed) {
                    (true, false) => 1,
                    (true, true) => 4,
                    (false, true) => ETIMEDOUT,
                    (false, false) => 16,
                };
                let busy = if name.starts_with("sem_") {
                    u64::from(u32::MAX)
                } else {
                    busy
                };
                let mut lock_args = vec![arg(0)?, int(busy, 32)];
                let mut at = at;
                let is_cancellable =
                    self.is_cancellable() && matches!(name, "sem_wait" | "sem_timedwait");
                if is_cancellable {
                    let (back, enabled) = self.is_cancel_enabled(at, loc)?;
                    at = back;
                    lock_args.push(enabled);
                }
                let kind = Kind::Library {
                    name: plain,
                    args: lock_args,
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                if is_cancellable {
                    let said = self.value(at, 32, kind, loc);
                    let at = self.unless_cancelled(at, &said, None, loc)?;
                    return match self.module.find("__errno_location") {
                        Some(_) => {
                            let args = vec![said, int(ETIMEDOUT, 32)];
                            self.runtime(at, "failed_for", args, result, loc)
                        }
                        None => yields!(at, said),
                    };
                }
                if self.notes.uses_robust_mutexes && name.starts_with("pthread_mutex_") {
                    return self.robust(at, name, kind, arg(0)?, result, loc);
                }
                let reason = match name {
                    "sem_trywait" => Some(EAGAIN),
                    "sem_timedwait" => Some(ETIMEDOUT),
                    _ => None,
                };
                if let Some(reason) = reason
                    && self.module.find("__errno_location").is_some()
                {
                    let said = self.value(at, 32, kind, loc);
                    let args = vec![said, int(reason, 32)];
                    return self.runtime(at, "failed_for", args, result, loc);
                }
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_mutex_init" | "mtx_init" => {
                let kind = match (name, arg(1)?) {
                    ("mtx_init", kind) => {
                        // mtx_recursive is 1, mtx_timed 2.
                        let kind = Kind::Pure(Pure::Binary {
                            kind: BinaryKind::And,
                            nsw: false,
                            lhs: kind,
                            rhs: int(1, 32),
                        });
                        let kind = self.value(at, 32, kind, loc);
                        if !matches!(args[1], Operand::Int { value, .. } if value & 1 == 0) {
                            self.notes.uses_mutex_kinds = true;
                        }
                        kind
                    }
                    (_, Operand::Int { value: 0, .. }) => int(0, 32),
                    (_, pointer) => {
                        let shape = vec![32];
                        self.value(
                            at,
                            32,
                            Kind::Load {
                                pointer,
                                shape,
                                atomic: false,
                            },
                            loc,
                        )
                    }
                };
                self.primitive(at, "mutex_init", vec![arg(0)?, kind], Vec::new(), loc);
                success!(at)
            }
            "pthread_mutexattr_setrobust" | "pthread_mutexattr_settype"
                if self.notes.uses_robust_mutexes =>
            {
                self.runtime(at, name, args, result, loc)
            }
            "pthread_mutex_consistent" | "__mover_owner_died" => {
                let kind = Kind::Library {
                    name: match name {
                        "pthread_mutex_consistent" => "mutex_consistent".into(),
                        _ => "mutex_owner_died".into(),
                    },
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_mutexattr_settype" => {
                self.notes.uses_mutex_kinds = true;
                self.emit(at, None, store(arg(0)?, arg(1)?, 32), loc);
                success!(at)
            }
            "pthread_attr_setdetachstate" => {
                self.emit(at, None, store(arg(0)?, arg(1)?, 32), loc);
                success!(at)
            }
            "pthread_mutexattr_init" | "pthread_attr_init" | "pthread_spin_init" => {
                self.emit(at, None, store(arg(0)?, int(0, 32), 32), loc);
                success!(at)
            }
            "pthread_rwlock_init" => {
                self.emit(at, None, store(arg(0)?, int(0, 32), 32), loc);
                self.emit(at, None, store(field(arg(0)?, 4), int(0, 32), 32), loc);
                success!(at)
            }

            // Condition variables: a bit for each thread that waits.
            "pthread_cond_wait"
            | "cnd_wait"
            | "pthread_cond_timedwait"
            | "cnd_timedwait"
            | "pthread_cond_clockwait" => {
                let (condition, mutex) = (arg(0)?, arg(1)?);
                let is_timed = !name.ends_with("_wait");
                let timeout = match (is_timed, name.starts_with("cnd")) {
                    (false, _) => 0,
                    (true, true) => 4,
                    (true, false) => ETIMEDOUT,
                };
                let both = vec![condition.clone(), mutex.clone()];
                let mut wake_args = vec![condition, mutex.clone(), int(timeout, 32)];
                let mut at = at;
                let is_cancellable = self.is_cancellable();
                if is_cancellable {
                    let (back, enabled) = self.is_cancel_enabled(at, loc)?;
                    at = back;
                    wake_args.push(enabled);
                }
                self.primitive(at, "cond_sleep", both, Vec::new(), loc);
                let kind = Kind::Library {
                    name: "cond_wake".into(),
                    args: wake_args,
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                if is_cancellable && !is_timed {
                    let woken = self.value(at, 32, kind, loc);
                    let at = self.unless_cancelled(at, &woken, Some(&mutex), loc)?;
                    return yields!(at, woken);
                }
                if !is_timed {
                    let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                    self.emit(at, Some(result), kind, loc);
                    return Ok(at);
                }
                // One that gives up waits for the mutex as others do, and does not hear of signals.
                let woken = self.value(at, 32, kind, loc);
                if is_cancellable {
                    at = self.unless_cancelled(at, &woken, Some(&mutex), loc)?;
                }
                let gave_up = self.is_not_zero(at, woken.clone(), 32, loc);
                let (locks, next) = self.branch(at, gave_up, loc);
                self.primitive(locks, "mutex_lock", vec![mutex], vec![32], loc);
                self.end(locks, Terminator::Jump(next), loc);
                yields!(next, woken)
            }
            "pthread_cond_signal" | "cnd_signal" => {
                self.primitive(at, "cond_signal", vec![arg(0)?], Vec::new(), loc);
                success!(at)
            }
            "pthread_cond_broadcast" | "cnd_broadcast" | "pthread_cond_init" | "cnd_init" => {
                self.emit(at, None, store(arg(0)?, int(0, 64), 64), loc);
                success!(at)
            }

            // Barriers: how many, how many have come, a bit for each that waits.
            "pthread_barrier_init" => {
                let base = arg(0)?;
                self.emit(at, None, store(base.clone(), arg(2)?, 32), loc);
                self.emit(at, None, store(field(base.clone(), 4), int(0, 32), 32), loc);
                self.emit(at, None, store(field(base, 8), int(0, 64), 64), loc);
                let is_none = Kind::Pure(Pure::Compare {
                    predicate: Predicate::Eq,
                    lhs: arg(2)?,
                    rhs: int(0, 32),
                });
                let condition = self.value(at, 1, is_none, loc);
                let error = Kind::Pure(Pure::Select {
                    condition,
                    then: int(EINVAL, 32),
                    otherwise: int(0, 32),
                });
                let error = self.value(at, 32, error, loc);
                yields!(at, error)
            }
            "pthread_barrier_wait" => {
                let shape = vec![32];
                let kind = Kind::Library {
                    name: "barrier_arrive".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape,
                };
                let arrived = self.value(at, 32, kind, loc);
                let is_last = self.is_not_zero(at, arrived.clone(), 32, loc);
                let (next, waits) = self.branch(at, is_last, loc);
                self.primitive(waits, "barrier_leave", vec![arg(0)?], Vec::new(), loc);
                self.end(waits, Terminator::Jump(next), loc);
                yields!(next, arrived)
            }

            // Semaphores: the number of permits.
            "sem_init" => {
                self.emit(at, None, store(arg(0)?, arg(2)?, 32), loc);
                success!(at)
            }
            "sem_post" => {
                let kind = Kind::Rmw {
                    kind: RmwKind::Add,
                    pointer: arg(0)?,
                    value: int(1, 32),
                    width: 32,
                };
                self.value(at, 32, kind, loc);
                success!(at)
            }
            "sem_getvalue" => {
                let kind = Kind::Load {
                    pointer: arg(0)?,
                    shape: vec![32],
                    atomic: true,
                };
                let value = self.value(at, 32, kind, loc);
                self.emit(at, None, store(arg(1)?, value, 32), loc);
                success!(at)
            }

            "pthread_once" | "call_once" => {
                let kind = Kind::Library {
                    name: "once_begin".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![1],
                };
                let is_first = self.value(at, 1, kind, loc);
                let (then, next) = self.branch(at, is_first, loc);
                let routine = arg(1)?;
                self.begin_unwinding(None);
                let back = match routine {
                    Operand::Function(id) => self.call(then, id, Vec::new(), None, loc),
                    target => self.call_pointer(
                        then,
                        None,
                        target,
                        super::Through::Pointer,
                        Vec::new(),
                        Vec::new(),
                        &[],
                        loc,
                    ),
                };
                let thrown = self.end_unwinding(loc);
                let back = back?;
                // After an exception the next one tries again.
                if let Some((thrown, exception, ty)) = thrown {
                    self.emit(thrown, None, store(arg(0)?, int(0, 32), 32), loc);
                    self.unwind(thrown, exception, ty, loc);
                }
                if matches!(self.blocks[back].end, Terminator::Unreachable) {
                    self.emit(back, None, store(arg(0)?, int(2, 32), 32), loc);
                    self.end(back, Terminator::Jump(next), loc);
                }
                success!(next)
            }

            // Keys.
            "pthread_key_create" | "tss_create" if !is_null(args.get(1)) => {
                self.notes.has_keys = true;
                self.runtime(at, "pthread_key_create", args, result, loc)
            }
            "pthread_key_create" | "tss_create" => {
                self.notes.has_keys = true;
                let key = self.new_key(at, loc);
                self.emit(at, None, store(arg(0)?, key, 32), loc);
                success!(at)
            }
            "__mover_new_key" => {
                let key = self.new_key(at, loc);
                yields!(at, key)
            }
            "pthread_key_delete" | "tss_delete" if self.has_destructors => {
                self.runtime(at, "pthread_key_delete", args, result, loc)
            }
            "pthread_key_delete" | "tss_delete" | "__mover_forget_key" => {
                let kind = Kind::Library {
                    name: "key_delete".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_getspecific" | "tss_get" | "__mover_key_get" => {
                let kind = Kind::Library {
                    name: "key_get".into(),
                    args: vec![arg(0)?],
                    arg_shapes: Vec::new(),
                    shape: vec![pointer],
                };
                let result = result.unwrap_or_else(|| self.new_value(vec![pointer], ""));
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_setspecific" | "tss_set" | "__mover_key_set" => {
                let kind = Kind::Library {
                    name: "key_set".into(),
                    args: vec![arg(0)?, arg(1)?],
                    arg_shapes: Vec::new(),
                    shape: vec![32],
                };
                let error = self.value(at, 32, kind, loc);
                let error = self.error_of(at, name, error, loc);
                yields!(at, error)
            }

            "signal" | "sigaction" | "__sysv_signal" | "bsd_signal" => {
                self.notes.signals.get_or_insert(loc);
                success!(at)
            }
            "sysconf" | "getpagesize" | "get_nprocs" | "get_nprocs_conf" => {
                self.notes.machine.get_or_insert(loc);
                let asked = match (name, args.first()) {
                    ("sysconf", Some(Operand::Int { value, .. })) => *value,
                    ("getpagesize", _) => PAGE_SIZE,
                    (_, None) => PROCESSORS,
                    _ => 0,
                };
                let value = match asked {
                    PAGE_SIZE => 4096,
                    PROCESSORS | ALL_PROCESSORS => 2,
                    _ => {
                        let message = "`sysconf` of this name is not supported";
                        return Err(Problem::new(message, loc).code("C012"));
                    }
                };
                yields!(at, int(value, width.unwrap_or(pointer)))
            }
            "getenv" | "secure_getenv" => {
                self.notes.environment.get_or_insert(loc);
                yields!(at, int(0, pointer))
            }
            // Somebody asks for the value later.
            _ if name.contains("attr_set")
                && self
                    .module
                    .find(&name.replace("attr_set", "attr_get"))
                    .is_some()
                && self.has_model(name) =>
            {
                self.notes.ignored_attributes = true;
                self.runtime(at, name, args, result, loc)
            }
            _ if is_without_effect(name) && (!is_sleep(name) || !self.has_model(name))
                || is_output(name) && (result.is_none() || !self.has_model(name)) =>
            {
                self.notes.ignored_attributes |= name.contains("attr_set");
                if self.prints_memory(name, &args) {
                    self.notes.prints.get_or_insert(loc);
                }
                match width {
                    // How much was written, or that it failed.
                    Some(width) if is_output(name) => {
                        let any = self.any_value(at, width, loc);
                        yields!(at, any)
                    }
                    Some(width) => yields!(at, int(0, width)),
                    None => Ok(at),
                }
            }
            _ if !is_internal(name) && self.has_model(name) => {
                let model = self.module.find(&format!("__mover_{name}"));
                if let Some(id) = model.filter(|&id| self.module.functions[id].is_variadic) {
                    return self.call_function(at, result, id, args, &[], shape, arg_shapes, loc);
                }
                match (result, means(name)) {
                    (Some(id), Some(meaning)) if !self.only_meaning => {
                        let value = self.new_value(self.values[id].shape.clone(), "");
                        let at = self.runtime(at, name, args, Some(value), loc)?;
                        Ok(self.any_alike(at, Operand::Value(value), meaning, id, loc))
                    }
                    _ => self.runtime(at, name, args, result, loc),
                }
            }
            _ if self.limits.havoc_externals => {
                self.notes.havocked.entry(name.to_string()).or_insert(loc);
                match (result, &shape[..]) {
                    (Some(result), [width]) => {
                        let kind = Kind::Library {
                            name: "nondet".into(),
                            args: vec![int(0, 64)],
                            arg_shapes: Vec::new(),
                            shape: vec![*width],
                        };
                        self.emit(at, Some(result), kind, loc);
                        Ok(at)
                    }
                    (None, _) | (_, []) => Ok(at),
                    _ => Err(Problem::new(
                        format!("the result of `{name}` is of a type that is not supported"),
                        loc,
                    )),
                }
            }
            _ => Err(unknown_function(name, loc)),
        }
    }

    /// An operation on a mutex that may be robust: what a thread holds is noted, for its exit.
    fn robust(
        &mut self,
        at: BlockId,
        name: &str,
        kind: Kind,
        mutex: Operand,
        result: Option<ValueId>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let result = result.unwrap_or_else(|| self.new_value(vec![32], ""));
        match name {
            "pthread_mutex_unlock" => {
                let at = self.runtime(at, "robust_given", vec![mutex], None, loc)?;
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            "pthread_mutex_destroy" => {
                self.emit(at, Some(result), kind, loc);
                Ok(at)
            }
            _ => {
                let told = self.value(at, 32, kind, loc);
                self.runtime(at, "robust_taken", vec![mutex, told], Some(result), loc)
            }
        }
    }

    /// Whether the runtime library has the function.
    fn has_model(&self, name: &str) -> bool {
        self.module.find(&format!("__mover_{name}")).is_some()
    }

    /// Whether a function reads memory of the program to print it.
    fn prints_memory(&self, name: &str, args: &[Operand]) -> bool {
        let plain = name.trim_matches('_').trim_end_matches("_chk");
        let text = match plain {
            "puts" | "perror" | "fputs" | "fwrite" => args.first(),
            "printf" | "vprintf" if name.ends_with("_chk") => args.get(1),
            "fprintf" | "vfprintf" if name.ends_with("_chk") => args.get(2),
            "printf" | "vprintf" => args.first(),
            "fprintf" | "vfprintf" | "dprintf" => args.get(1),
            _ => return false,
        };
        let is_constant = |text: &&Operand| match text {
            Operand::Global(id) => self.module.globals[*id].is_constant,
            _ => false,
        };
        let Some(text) = self.string(text.filter(is_constant)) else {
            return true;
        };
        let is_format = plain.ends_with("printf");
        let mut conversions = text.split('%').skip(1);
        // Conversions of strings and pointers to results; letters of `%%s` do no harm.
        is_format
            && conversions.any(|conversion| {
                let kind = conversion.chars().find(char::is_ascii_alphabetic);
                matches!(kind, Some('s' | 'n'))
            })
    }

    pub(super) fn is_not_zero(
        &mut self,
        at: BlockId,
        value: Operand,
        width: u8,
        loc: Option<Loc>,
    ) -> Operand {
        let kind = Kind::Pure(Pure::Compare {
            predicate: Predicate::Ne,
            lhs: value,
            rhs: Operand::Int { value: 0, width },
        });
        self.value(at, 1, kind, loc)
    }

    fn new_key(&mut self, at: BlockId, loc: Option<Loc>) -> Operand {
        let kind = Kind::Library {
            name: "key_create".into(),
            args: Vec::new(),
            arg_shapes: Vec::new(),
            shape: vec![32],
        };
        self.value(at, 32, kind, loc)
    }
}

fn unknown_function(name: &str, loc: Option<Loc>) -> Problem {
    if name.contains("setjmp") || name.contains("longjmp") {
        return Problem::new(format!("`{name}` is not supported"), loc)
            .code("C012")
            .help("jumps between functions cannot be translated: return error codes instead");
    }
    let name = short(name);
    Problem::new(
        format!("the function `{name}` has no body and is not known"),
        loc,
    )
    .code("C011")
    .help(
        "also pass the file that defines it; if it changes nothing that the program reads, \
         --havoc-externals lets it return any value",
    )
}

// Names of `sysconf` on Linux.
const PAGE_SIZE: u64 = 30;
const ALL_PROCESSORS: u64 = 83;
const PROCESSORS: u64 = 84;

// Errors as Linux numbers them.
const EAGAIN: u64 = 11;
const EBUSY: u64 = 16;
const EINVAL: u64 = 22;
const ETIMEDOUT: u64 = 110;

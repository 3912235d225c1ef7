//! Cleanup handlers and the cancellation of threads.
//!
//! A thread exits by `pthread_exit`, or where it is cancelled. Before it does, the handlers that it
//! has registered with `pthread_cleanup_push` and not yet removed run, the last one first.
//!
//! **Handlers.** In C the two macros are a pair of braces, so which handlers are registered at an
//! instruction is a property of the text and the call stack, and known here: functions are copied into
//! one body. The macro of glibc calls `__sigsetjmp`, which returns a second time where the thread
//! exits, and then runs the handler and calls `__pthread_unwind_next`. Here `__sigsetjmp` returns 0 once,
//! and an exit jumps to the code for the second return. The exit value travels as the phi of a block
//! in between, the handler's *landing*. What callees had on the stack is dead by then. A function that
//! returns, or a branch that leaves, between push and pop has no defined meaning and is refused.
//!
//! **Cancellation** is deferred: a request is a bit of the target, and the target acts on it where it
//! calls a *cancellation point*, by exiting with `PTHREAD_CANCELED`. Points that POSIX requires act on
//! every request that was made before the call. Waits (`pthread_cond_wait`, `sem_wait`, `pthread_join`)
//! also end while they block; a wait on a condition then takes its mutex before the handlers run, and
//! consumes no signal. Functions of stdio may be points, and so both ways are followed. A thread
//! that exits is not cancelled any more. Asynchronous cancellation is refused by the runtime, where a
//! program asks for it and cancels threads.

use std::collections::BTreeSet;

use mover_ir::program::BoundKind;

use super::ignored::{addresses, root};
use super::library_names::is_output;
use super::{Flat, Flattener, Frame, Problem, fold};
use crate::ssa::*;

/// What a primitive returns whose thread was cancelled while it blocked; no error number.
pub const CANCELLED: u64 = 0x10000;

/// What of the exit of the thread is known at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Cleanup {
    /// The handler that an exit runs first.
    handler: Option<usize>,
    /// Whether the thread is exiting: it is not cancelled again.
    is_exiting: bool,
}

/// A handler that `pthread_cleanup_push` registers.
pub(super) struct Handler {
    /// The buffer that identifies it.
    buffer: ValueId,
    /// Where exits come to, with the exit value.
    landing: BlockId,
    value: ValueId,
    /// What is known where it runs.
    around: Cleanup,
    /// Variables on the stack that outlive the exit to it.
    alive: BTreeSet<ValueId>,
}

/// An edge to a block, and what is known on it.
pub(super) struct Arrival {
    from: BlockId,
    known: Cleanup,
    alive: BTreeSet<ValueId>,
    loc: Option<Loc>,
}

/// The part of the macros that a call is.
enum Step {
    SetJump,
    Register,
    Unregister,
    Unwind,
}

/// Whether the program has thread cancellation.
pub(super) fn cancels(module: &Module) -> bool {
    let is_library = |id: FunctionId| module.functions[id].blocks.is_empty();
    module.find("pthread_cancel").is_some_and(is_library)
}

/// Cancellation points of POSIX.
fn is_point(name: &str) -> bool {
    matches!(
        name,
        "pthread_testcancel"
            | "pthread_join"
            | "thrd_join"
            | "pthread_timedjoin_np"
            | "pthread_clockjoin_np"
            | "pthread_cond_wait"
            | "pthread_cond_timedwait"
            | "pthread_cond_clockwait"
            | "cnd_wait"
            | "cnd_timedwait"
            | "sem_wait"
            | "sem_timedwait"
            | "sem_clockwait"
            | "sleep"
            | "usleep"
            | "nanosleep"
            | "clock_nanosleep"
            | "thrd_sleep"
            | "read"
            | "write"
            | "poll"
            | "ppoll"
            | "select"
            | "pselect"
    )
}

/// Functions that may be cancellation points.
fn may_be_point(name: &str) -> bool {
    is_output(name)
        || matches!(
            name,
            "fgets"
                | "fgetc"
                | "getc"
                | "getchar"
                | "getline"
                | "getdelim"
                | "scanf"
                | "fscanf"
                | "fread"
                | "fopen"
                | "fdopen"
        )
}

impl Flattener<'_> {
    /// The exit of the thread: by the handler that is registered last, or at once.
    pub(super) fn exit_thread(
        &mut self,
        at: BlockId,
        value: Operand,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let Some(handler) = self.cleanup.handler else {
            let at = self.leave_thread(at, loc)?;
            if matches!(self.blocks[at].end, Terminator::Unreachable) {
                self.end(at, Terminator::EndThread(value), loc);
            }
            return Ok(at);
        };
        let landing = self.handlers[handler].landing;
        let alive = self.alive.clone();
        let outlives = &self.handlers[handler].alive;
        for id in alive.difference(outlives).copied().collect::<Vec<_>>() {
            self.set_lifetime(at, &Operand::Value(id), false, loc);
        }
        self.alive = alive;
        if let Some(Kind::Phi(incoming)) =
            self.blocks[landing].insts.first_mut().map(|i| &mut i.kind)
        {
            incoming.push((value, at));
        }
        self.end(at, Terminator::Jump(landing), loc);
        Ok(at)
    }

    /// Whether a call can be acted on as a cancellation point.
    pub(super) fn is_cancellable(&self) -> bool {
        self.cancels && !self.cleanup.is_exiting
    }

    /// Marks the code that is copied next as part of the exit; returns what was known before.
    pub(super) fn begin_exit(&mut self) -> Cleanup {
        let before = self.cleanup;
        self.cleanup = Cleanup {
            handler: None,
            is_exiting: true,
        };
        before
    }

    /// Acts on a request, if there is one, before a library function is called.
    pub(super) fn cancellation_point(
        &mut self,
        at: BlockId,
        name: &str,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        if !self.is_cancellable() || !(is_point(name) || may_be_point(name)) {
            return Ok(at);
        }
        let next = self.new_block();
        let mut at = at;
        if !is_point(name) {
            let any = self.any_value(at, 1, loc);
            let (then, otherwise) = self.branch(at, any, loc);
            self.end(otherwise, Terminator::Jump(next), loc);
            at = then;
        }
        let (back, enabled) = self.is_cancel_enabled(at, loc)?;
        at = back;
        if !matches!(enabled, Operand::Int { .. }) {
            let enabled = self.is_not_zero(at, enabled, 32, loc);
            let (then, otherwise) = self.branch(at, enabled, loc);
            self.end(otherwise, Terminator::Jump(next), loc);
            at = then;
        }
        let kind = Kind::Library {
            name: "cancel_requested".into(),
            args: Vec::new(),
            arg_shapes: Vec::new(),
            shape: vec![1],
        };
        let requested = self.value(at, 1, kind, loc);
        let (exits, stays) = self.branch(at, requested, loc);
        self.end(stays, Terminator::Jump(next), loc);
        self.act_on_cancel(exits, loc)?;
        Ok(next)
    }

    /// Exits as a cancelled thread.
    pub(super) fn act_on_cancel(&mut self, at: BlockId, loc: Option<Loc>) -> Flat<BlockId> {
        let width = self.module.pointer_width();
        let canceled = Operand::Int {
            value: mover_ir::expr::mask(width),
            width,
        };
        let before = self.blocks[at].insts.len();
        let exits = self.exit_thread(at, canceled, loc);
        exits.or_else(|problem| self.refuse(at, before, problem))
    }

    /// Whether the state of the thread lets it be cancelled; not 0 if so.
    pub(super) fn is_cancel_enabled(
        &mut self,
        at: BlockId,
        loc: Option<Loc>,
    ) -> Flat<(BlockId, Operand)> {
        if self.module.find("__mover_cancel_enabled").is_none() {
            let always = Operand::Int {
                value: 1,
                width: 32,
            };
            return Ok((at, always));
        }
        let enabled = self.new_value(vec![32], "");
        let at = self.runtime(at, "cancel_enabled", Vec::new(), Some(enabled), loc)?;
        Ok((at, Operand::Value(enabled)))
    }

    /// Goes on where a primitive was not ended by cancellation; returns the block.
    pub(super) fn unless_cancelled(
        &mut self,
        at: BlockId,
        told: &Operand,
        mutex: Option<&Operand>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let kind = Kind::Pure(Pure::Compare {
            predicate: Predicate::Eq,
            lhs: told.clone(),
            rhs: Operand::Int {
                value: CANCELLED,
                width: 32,
            },
        });
        let is_cancelled = self.value(at, 1, kind, loc);
        let (exits, stays) = self.branch(at, is_cancelled, loc);
        if let Some(mutex) = mutex {
            self.primitive(exits, "mutex_lock", vec![mutex.clone()], vec![32], loc);
        }
        self.act_on_cancel(exits, loc)?;
        Ok(stays)
    }

    /// Copies a call that the macros for handlers make; none for other instructions.
    pub(super) fn cleanup_step(
        &mut self,
        at: BlockId,
        function: &Function,
        (number, index): (BlockId, usize),
        frame: &mut Frame,
    ) -> Option<Flat<BlockId>> {
        let inst = &function.blocks[number].insts[index];
        let (step, buffer) = self.macro_call(function, &inst.kind)?;
        let loc = inst.loc;
        if !matches!(self.blocks[at].end, Terminator::Unreachable) {
            return Some(Ok(at));
        }
        let buffer = frame.number(buffer, function.params);
        if let Step::SetJump = step {
            let landing = self.new_block();
            let value = self.new_value(vec![self.module.pointer_width()], "");
            self.emit(landing, Some(value), Kind::Phi(Vec::new()), loc);
            let Some(second) = second_return(function, number, index) else {
                let message = "`pthread_cleanup_push` in a form that is not known";
                return Some(Err(Problem::new(message, loc).code("C012")));
            };
            self.end(landing, Terminator::Jump(frame.begins[second]), loc);
            let around = Cleanup {
                handler: self.cleanup.handler,
                is_exiting: true,
            };
            frame.landings.push(second);
            frame.arrivals[second].push(Arrival {
                from: landing,
                known: around,
                alive: self.alive.clone(),
                loc,
            });
            self.handlers.push(Handler {
                buffer,
                landing,
                value,
                around: self.cleanup,
                alive: self.alive.clone(),
            });
            if let Some(id) = inst.result {
                let first = Operand::Int {
                    value: 0,
                    width: 32,
                };
                let id = frame.number(id, function.params);
                frame.constants.insert(id, first);
            }
            return Some(Ok(at));
        }
        let mut handlers = self.handlers.iter();
        let Some(handler) = handlers.rposition(|handler| handler.buffer == buffer) else {
            let message = "a cleanup handler that was not pushed";
            return Some(Err(Problem::new(message, loc).code("C012")));
        };
        match step {
            Step::Unwind => {
                let value = Operand::Value(self.handlers[handler].value);
                return Some(self.exit_thread(at, value, loc));
            }
            Step::Unregister => self.cleanup = self.handlers[handler].around,
            Step::Register | Step::SetJump => self.cleanup.handler = Some(handler),
        }
        Some(Ok(at))
    }

    fn macro_call(&self, function: &Function, kind: &Kind) -> Option<(Step, ValueId)> {
        let functions = &self.module.functions;
        let (name, arg) = call_of(functions, kind)?;
        let step = match name {
            "__sigsetjmp" | "_setjmp" => Step::SetJump,
            "__pthread_register_cancel" | "__pthread_register_cancel_defer" => Step::Register,
            "__pthread_unregister_cancel" | "__pthread_unregister_cancel_restore" => {
                Step::Unregister
            }
            "__pthread_unwind_next" => Step::Unwind,
            _ => return None,
        };
        let addresses = addresses(function);
        let buffer = root(arg, &addresses)?;
        // Jumps of the program's own are something else.
        let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
        let is_registered = insts.any(|inst| {
            call_of(functions, &inst.kind).is_some_and(|(name, arg)| {
                name.starts_with("__pthread_register_cancel")
                    && root(arg, &addresses) == Some(buffer)
            })
        });
        is_registered.then_some((step, buffer))
    }

    /// What is known at a function's return has to be what was known at the call.
    pub(super) fn check_return(&self, frame: &Frame, loc: Option<Loc>) -> Flat<()> {
        let outside = frame.cleanup.first().copied().flatten();
        if outside.is_none_or(|outside| outside.handler == self.cleanup.handler) {
            return Ok(());
        }
        let message = "a return between `pthread_cleanup_push` and `pthread_cleanup_pop`";
        Err(Problem::new(message, loc).code("C012"))
    }

    /// What is known at the begin of a block. Edges that leave the code between push and pop are refused:
    /// they come with more handlers than others.
    pub(super) fn begin_block(&mut self, frame: &mut Frame, number: BlockId) {
        if !self.has_handlers {
            return;
        }
        let arrivals = std::mem::take(&mut frame.arrivals[number]);
        let least = arrivals.iter().map(|arrival| arrival.known);
        let least = least.min_by_key(|known| self.depth(known.handler));
        if let Some(known) = least {
            frame.cleanup[number] = Some(known);
            self.alive.clear();
            for arrival in arrivals {
                if arrival.known == known {
                    self.alive.extend(arrival.alive);
                } else {
                    self.refuse_edge(frame.begins[number], arrival.from, arrival.loc);
                }
            }
        }
        self.cleanup = frame.cleanup[number].unwrap_or_default();
    }

    /// Notes what is known where a block goes on.
    pub(super) fn pass_on_cleanup(
        &mut self,
        frame: &mut Frame,
        from: BlockId,
        next: &[BlockId],
        loc: Option<Loc>,
    ) {
        if !self.has_handlers {
            return;
        }
        for &block in next {
            match frame.cleanup[block] {
                Some(known) if known != self.cleanup => {
                    self.refuse_edge(frame.begins[block], from, loc);
                }
                Some(_) => {}
                None => frame.arrivals[block].push(Arrival {
                    from,
                    known: self.cleanup,
                    alive: self.alive.clone(),
                    loc,
                }),
            }
        }
    }

    /// How many handlers are registered.
    fn depth(&self, handler: Option<usize>) -> usize {
        let outer = |&handler: &usize| self.handlers[handler].around.handler;
        std::iter::successors(handler, outer).count()
    }

    fn refuse_edge(&mut self, to: BlockId, from: BlockId, loc: Option<Loc>) {
        let refused = self.new_block();
        let message = "not supported: a jump into or out of the code between \
                       `pthread_cleanup_push` and `pthread_cleanup_pop`";
        let end = Terminator::Bound {
            kind: BoundKind::UnsupportedCall,
            message: message.into(),
        };
        self.end(refused, end, loc);
        let turn = |target: &mut BlockId| {
            if *target == to {
                *target = refused;
            }
        };
        match &mut self.blocks[from].end {
            Terminator::Jump(target) => turn(target),
            Terminator::Branch {
                then, otherwise, ..
            } => {
                turn(then);
                turn(otherwise);
            }
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|(_, target)| turn(target));
                turn(default);
            }
            _ => {}
        }
    }
}

/// The library function that an instruction calls, and the first argument.
fn call_of<'k>(functions: &'k [Function], kind: &'k Kind) -> Option<(&'k str, &'k Operand)> {
    let Kind::Call {
        callee: Callee::Function(id),
        args,
        ..
    } = kind
    else {
        return None;
    };
    let callee = &functions[*id];
    callee
        .blocks
        .is_empty()
        .then_some(&callee.name[..])
        .zip(args.first())
}

/// Where a function goes on where `__sigsetjmp` returns the second time, with 1.
fn second_return(function: &Function, number: BlockId, index: usize) -> Option<BlockId> {
    let block = &function.blocks[number];
    let mut known = std::collections::HashMap::new();
    let again = Operand::Int {
        value: 1,
        width: 32,
    };
    known.insert(block.insts[index].result?, again);
    for inst in &block.insts[index + 1..] {
        let (Kind::Pure(pure), Some(id)) = (&inst.kind, inst.result) else {
            continue;
        };
        let mut pure = pure.clone();
        for operand in pure.operands_mut() {
            if let Operand::Value(id) = operand
                && let Some(constant) = known.get(id)
            {
                *operand = constant.clone();
            }
        }
        known.extend(fold(&pure).map(|constant| (id, constant)));
    }
    match &block.end {
        Terminator::Branch {
            condition: Operand::Value(id),
            then,
            otherwise,
        } => match known.get(id)? {
            Operand::Int { value: 0, .. } => Some(*otherwise),
            _ => Some(*then),
        },
        _ => None,
    }
}

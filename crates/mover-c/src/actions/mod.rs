//! The primitives of the thread library as guarded updates of cells.
//!
//! Each primitive is one action: it waits until one of its alternatives is enabled, and then
//! executes it atomically.
//!
//! - A **mutex** contains its owner: the thread's number + 1, or 0 if it is free. So a
//!   reduction recognises it as a lock by how it is used. Recursive and error-checking mutexes
//!   additionally have a count and their kind, at the offsets of the C library; programs with
//!   plain mutexes only do without. A robust mutex whose owner has exited contains [`OWNER_DIED`]; who
//!   locks it then makes it consistent again, or unlocking makes it [`NOT_RECOVERABLE`]. Its third
//!   word has a bit that it is robust, and one that it is not consistent.
//! - A **condition variable** has a bit for each waiting thread. Waiting releases the mutex and
//!   sets the thread's bit; the wait ends when the bit is clear and the mutex can be acquired.
//!   A signal clears any one bit, a broadcast all. No signal is consumed by a thread that began
//!   to wait after it, nor by one that has timed out: a timed wait clears its own bit first and
//!   then waits for the mutex.
//! - A **barrier** counts arrivals and has such bits as well: the last thread to arrive clears
//!   them.
//! - A **read-write lock** contains its writer and the number of its readers; a **semaphore**
//!   its number of permits; a **once** flag 0, 1 (running), 2 (done).
//! - A **thread** is identified by its handle. Its status is free, running, detached or
//!   finished; joining waits for finished and frees the handle. Where threads are cancelled, each
//!   handle has a bit that asks for it ([`cancellation`]).

mod cancellation;
mod conditions;
mod locks;
mod threads;

use mover_ir::expr::{BinaryOp, Expr, mask};
use mover_ir::program::{BoundKind, Effect, Property};
use mover_ir::sync::{self, SyncAction, SyncKind, SyncOp};

use crate::expr_builder::{binary, choose, constant, equal, not, resize};
use crate::few_values::ANY;
use crate::flatten::Problem;
use crate::lower::{Builder, Cell, Check, Lowered, Part, Path};
use crate::reuse::MOST_REUSED;
use crate::ssa::*;
pub use threads::{MOST_KEYS, RUNNING};

/// Instead of an owner.
const OWNER_DIED: u64 = 0xFFFF_FFFE;
const NOT_RECOVERABLE: u64 = 0xFFFF_FFFF;

/// One way in which an action can go.
struct Way<'c> {
    condition: Part,
    writes: Vec<(&'c Cell, Expr)>,
    result: u64,
    /// What it does to the object of the action.
    action: SyncAction,
}

/// The cells of a synchronisation object.
#[derive(Clone, Copy)]
struct SyncObject<'c> {
    kind: SyncKind,
    cell: &'c Cell,
    /// The count of a mutex that may be recursive, the readers of a read-write lock.
    second: Option<&'c Cell>,
}

impl<'c> SyncObject<'c> {
    fn new(kind: SyncKind, cell: &'c Cell) -> SyncObject<'c> {
        SyncObject {
            kind,
            cell,
            second: None,
        }
    }

    fn with(self, second: Option<&'c Cell>) -> SyncObject<'c> {
        SyncObject { second, ..self }
    }
}

/// The mark of the thread in a lock that it has.
pub(crate) fn me() -> Expr {
    sync::mark()
}

fn is_zero(part: &Part) -> Part {
    part.map(|value| {
        let width = value.width();
        equal(value, constant(0, width))
    })
}

fn is(part: &Part, value: u64) -> Part {
    part.map(|expr| {
        let width = expr.width();
        equal(expr, constant(value, width))
    })
}

fn negated(part: &Part) -> Part {
    part.map(not)
}

fn both(a: &Part, b: &Part) -> Part {
    Part::combine(&[a, b], |args| args[0].clone().and(args[1].clone()))
}

/// The bit of the executing thread.
fn own_bit() -> Expr {
    let number = resize(Expr::ThreadId, 64, false);
    Expr::binary(BinaryOp::Shl, constant(1, 64), number)
}

impl Builder<'_, '_> {
    /// Does a primitive; returns the paths that continue after it.
    pub fn library(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        shape: &[u8],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let is_attempt = matches!(
            name,
            "mutex_trylock" | "spin_trylock" | "rwlock_tryrdlock" | "rwlock_trywrlock"
        );
        if is_attempt && self.world.wants(Property::NoDataRace) && self.is_used(&path, result) {
            self.world.failed_attempts.get_or_insert(path.loc);
        }
        match name {
            "nondet" | ANY => return self.nondet(path, args, shape, result),
            "thread_self" => {
                let width = self.world.module.pointer_width();
                let own = match self.handle {
                    Some(local) => Part::same(self.local_read(local)),
                    None => Part::same(constant(1, width)),
                };
                if let Some(id) = result {
                    self.define(&mut path, id, vec![own]);
                }
                return Ok(vec![path]);
            }
            "thread_reserve" => return self.thread_reserve(path, result),
            "key_get" | "key_set" if self.world.threads.deleted_keys.is_none() => {
                return self.key(path, name, args, result);
            }
            "mutex_destroy" | "spin_destroy" | "rwlock_destroy"
                if !self.world.wants(Property::MutexMisuse)
                    && !self.world.wants(Property::MemorySafety)
                    && (name != "mutex_destroy" || !self.is_used(&path, result)) =>
            {
                return self.go_on(path, result, 0);
            }
            "thread_detach" if self.world.threads.status.is_none() => {
                return self.go_on(path, result, 0);
            }
            "thread_equal" if self.world.threads.status.is_none() => {
                return self.thread_equal(path, args, result);
            }
            "cancel_requested" if self.world.threads.cancel_requests.is_none() => {
                return self.go_on(path, result, 0);
            }
            "room_for" if self.has_room(args) => return Ok(vec![path]),
            _ => {}
        }
        let Some(path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        match name {
            "mutex_lock" | "mutex_trylock" | "mutex_timedlock" | "mutex_unlock" | "mutex_init"
            | "mutex_destroy" | "mutex_consistent" | "mutex_owner_died" | "spin_lock"
            | "spin_trylock" | "spin_unlock" | "spin_destroy" => {
                self.mutex(path, name, args, result)
            }
            "rwlock_rdlock" | "rwlock_wrlock" | "rwlock_tryrdlock" | "rwlock_trywrlock"
            | "rwlock_unlock" | "rwlock_destroy" => self.read_write_lock(path, name, args, result),
            "sem_wait" | "sem_trywait" | "sem_timedwait" => {
                self.semaphore(path, name, args, result)
            }
            "cond_sleep" | "cond_wake" | "cond_signal" => self.condition(path, name, args, result),
            "barrier_arrive" | "barrier_leave" => self.barrier(path, name, args, result),
            "room_for" => self.room_for(path, args),
            "once_begin" => {
                let mut path = path;
                let flag = self.cell(&mut path, &args[0], 0, 32)?;
                let Some(path) = self.check_cell(path, &flag) else {
                    return Ok(Vec::new());
                };
                let state = self.read(&path, &flag);
                let begins = Way {
                    condition: is_zero(&state),
                    writes: vec![(&flag, constant(1, 32))],
                    result: 1,
                    action: SyncAction::Other,
                };
                let done = Way {
                    condition: is(&state, 2),
                    writes: Vec::new(),
                    result: 0,
                    action: SyncAction::Fail,
                };
                let object = SyncObject::new(SyncKind::Once, &flag);
                self.ways(path, &[object], vec![begins, done], result)
            }
            "thread_start" => self.thread_start(path, args),
            "thread_join" => self.thread_join(path, args, result),
            "thread_detach" => self.thread_detach(path, args, result),
            "thread_cancel" => self.thread_cancel(path, args, result),
            "cancel_requested" => self.cancel_requested(path, result),
            "thread_equal" => self.thread_equal(path, args, result),
            "key_create" => self.key_create(path, result),
            "key_delete" => self.key_delete(path, args, result),
            "key_get" | "key_set" => self.key(path, name, args, result),
            "allocate" | "allocate_zeroed" | "allocate_on_stack" => {
                let mut path = path;
                let width = self.world.module.pointer_width();
                let size = self.scalar(&mut path, &args[0])?;
                let Some(id) = result else {
                    return Ok(vec![path]);
                };
                let Some(site) = self.world.heap_site(self.body, id) else {
                    return Err(Problem::new("an allocation without a site", path.loc).code("C099"));
                };
                let Some(path) = self.require_room(path, &size) else {
                    return Ok(Vec::new());
                };
                let mut paths = Vec::new();
                if self.world.settings.malloc_may_fail && name != "allocate_on_stack" {
                    let mut failed = path.clone();
                    let null = Part::same(constant(0, width));
                    self.define(&mut failed, id, vec![null]);
                    paths.push(failed);
                }
                let reused = match self.world.settings.reuses_addresses {
                    true if name != "allocate_on_stack" => MOST_REUSED,
                    _ => 0,
                };
                let more_bytes = match self.world.shadows.allocations.contains(&(self.body, id)) {
                    true => self.world.shadows.distance,
                    false => 0,
                };
                for reuse in 0..=reused {
                    let mut path = path.clone();
                    let temp = self.temp(&mut path, width);
                    path.effects.push(Effect::Allocate {
                        site,
                        reuse,
                        size: binary(
                            BinaryOp::Add,
                            resize(size.now.clone(), width, false),
                            constant(more_bytes, width),
                        ),
                        result: self.temp_place(temp),
                    });
                    let address = Part::lost(self.local_read(temp));
                    self.count_objects(&mut path, constant(1, 32));
                    self.define(&mut path, id, vec![address]);
                    paths.push(path);
                }
                Ok(paths)
            }
            "check_cleanup" => self.check_cleanup(path),
            "free" | "release" | "check_heap" => self.free(path, name, &args[0]),
            "object_size" => {
                let mut path = path;
                let address = self.scalar(&mut path, &args[0])?;
                if let Some(id) = result {
                    let distance = self.world.shadows.distance;
                    let size = address.map(|address| {
                        let all = Expr::ObjectSize(Box::new(address.clone()));
                        if distance == 0 {
                            return all;
                        }
                        let width = all.width();
                        let has_shadow = self.world.has_shadow(address);
                        let shadow =
                            choose(has_shadow, constant(distance, width), constant(0, width));
                        binary(BinaryOp::Sub, all, shadow)
                    });
                    self.define(&mut path, id, vec![size]);
                }
                Ok(vec![path])
            }
            _ => Err(Problem::new(
                format!("the primitive `{name}` is not known"),
                path.loc,
            )),
        }
    }

    /// What has a bit for each thread has 64.
    fn require_few_threads(&self, path: &Path, what: &str) -> Lowered<()> {
        if self.world.threads.most() <= 64 {
            return Ok(());
        }
        let message = format!("{what} with more than 64 threads are not supported");
        Err(Problem::new(message, path.loc)
            .code("C015")
            .help("a smaller --threads"))
    }

    /// Whether a pointer leads to a known variable that has this many bytes from there on.
    fn has_room(&self, args: &[Operand]) -> bool {
        let (Some(form), Some(Operand::Int { value: bytes, .. })) =
            (self.world.objects.form(self.body, &args[0]), args.get(1))
        else {
            return false;
        };
        let size = self.world.objects.layout(form.object).bytes() as i64;
        // An element of an array is inspected where it is accessed.
        let is_element = !form.terms.is_empty() && !self.world.objects.is_addressed(form.object);
        is_element
            || form.terms.is_empty() && form.offset >= 0 && form.offset + *bytes as i64 <= size
    }

    /// Continues where this many bytes are there from the pointer on.
    fn room_for(&mut self, mut path: Path, args: &[Operand]) -> Lowered<Vec<Path>> {
        let [pointer, Operand::Int { value: bytes, .. }] = args else {
            return Err(Problem::new("room for nothing", path.loc).code("C099"));
        };
        let form = self.world.objects.form(self.body, pointer);
        let holds = if form
            .as_ref()
            .is_some_and(|form| !self.world.objects.is_addressed(form.object))
        {
            Part::same(Expr::FALSE)
        } else {
            let first = self.cell(&mut path, pointer, 0, 32)?;
            let last = self.cell(&mut path, pointer, *bytes as i64 - 4, 32)?;
            both(&first.valid, &last.valid)
        };
        let known = form.map(|form| {
            let size = self.world.objects.layout(form.object).bytes();
            let name = crate::world::tidy(&self.world.objects.name(form.object));
            format!(", and {name} has {size}")
        });
        let message = format!(
            "the call sets {bytes} bytes from its address on{}",
            known.unwrap_or_else(|| ", which are not all there".into())
        );
        let check = Check {
            holds,
            property: Property::MemorySafety,
            message,
        };
        Ok(self.require(path, &check).into_iter().collect())
    }

    /// Continues where an object of this size fits into states. None if the edge had to end first.
    pub(crate) fn require_room(&mut self, path: Path, size: &Part) -> Option<Path> {
        let layout = self.world.pointers();
        let most = layout.max_object_size();
        let fits = size.map(|size| {
            let size = resize(size, layout.width, false);
            binary(BinaryOp::ULe, size, constant(most, layout.width))
        });
        if fits.now.as_const() == Some(1) {
            return Some(path);
        }
        let mut paths = self.split(path, &[negated(&fits), fits])?.into_iter();
        if let Some(large) = paths.next() {
            let message = format!("more than {most} bytes are allocated at once");
            self.bound(large, BoundKind::Allocation, &message);
        }
        paths.next()
    }

    fn go_on(&mut self, mut path: Path, result: Option<ValueId>, value: u64) -> Lowered<Vec<Path>> {
        if let Some(id) = result {
            let width = self.code.values[id].shape.first().copied().unwrap_or(32);
            self.define(&mut path, id, vec![Part::same(constant(value, width))]);
        }
        Ok(vec![path])
    }

    /// Checks that a cell is within an object, for an access that has begun.
    fn check_cell(&mut self, path: Path, cell: &Cell) -> Option<Path> {
        let check = Check {
            holds: cell.valid.clone(),
            property: Property::MemorySafety,
            message: "access outside of a live object (null, dangling or out of bounds)".into(),
        };
        self.require(path, &check)
    }

    /// Declares what an edge does to a synchronisation object, before it does it.
    fn declare(&self, path: &mut Path, object: &SyncObject, action: SyncAction) {
        // What the edge itself has changed is not described by an expression over the state before.
        let before = |cell: &Cell| {
            let part = self.read(path, cell);
            part.pre().filter(|pre| **pre == part.now).cloned()
        };
        let second = object.second.map(before);
        let (cell, count) = match action {
            SyncAction::AcquireShared | SyncAction::ReleaseShared => (second.flatten(), None),
            _ => (before(object.cell), second),
        };
        let op = match (cell, count) {
            (Some(cell), None) => SyncOp {
                kind: object.kind,
                action,
                cell,
                count: None,
            },
            (Some(cell), Some(Some(count))) => SyncOp {
                kind: object.kind,
                action,
                cell,
                count: Some(count),
            },
            _ => return,
        };
        path.sync.push(op);
    }

    /// Continues in all ways that are possible. Their actions concern the first of the objects.
    fn ways(
        &mut self,
        path: Path,
        objects: &[SyncObject],
        ways: Vec<Way>,
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let conditions: Vec<Part> = ways.iter().map(|way| way.condition.clone()).collect();
        let Some(paths) = self.split(path, &conditions) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for (mut path, way) in paths.into_iter().zip(ways) {
            if path.guard == Expr::FALSE {
                continue;
            }
            for (number, object) in objects.iter().enumerate() {
                let action = match number {
                    0 => way.action,
                    _ => SyncAction::Other,
                };
                self.declare(&mut path, object, action);
            }
            for (cell, value) in way.writes {
                self.write(&mut path, cell, value);
            }
            next.extend(self.go_on(path, result, way.result)?);
        }
        Ok(next)
    }

    /// An error of the use of locks where a condition does not hold.
    fn rule(&mut self, path: Path, holds: Part, message: &str) -> Option<Path> {
        if !self.world.wants(Property::MutexMisuse) {
            return Some(path);
        }
        let check = Check {
            holds,
            property: Property::MutexMisuse,
            message: message.into(),
        };
        self.require(path, &check)
    }

    fn free(&mut self, mut path: Path, name: &str, pointer: &Operand) -> Lowered<Vec<Path>> {
        let address = self.scalar(&mut path, pointer)?;
        let sites = self.world.all_heap_sites();
        let offsets = mask(self.world.pointers().offset_bits);
        let width = self.world.module.pointer_width();
        if name != "release" {
            let holds = address.map(|address| {
                let offset = binary(BinaryOp::And, address.clone(), constant(offsets, width));
                let at_start = equal(offset, constant(0, width));
                let is_null = equal(address.clone(), constant(0, width));
                let is_heap = Expr::ObjectSite {
                    address: Box::new(address),
                    sites: sites.clone(),
                };
                is_null.or(at_start.and(is_heap))
            });
            let check = Check {
                holds,
                property: Property::MemorySafety,
                message: "free of something that is not allocated (double or invalid free)".into(),
            };
            match self.require(path, &check) {
                Some(going_on) => path = going_on,
                None => return Ok(Vec::new()),
            }
        }
        if name != "check_heap" {
            self.keep_memory(&mut path);
            let is_some = not(equal(address.now.clone(), constant(0, width)));
            let fewer = binary(BinaryOp::Sub, constant(0, 32), resize(is_some, 32, false));
            self.count_objects(&mut path, fewer);
            path.effects.push(Effect::Free {
                address: address.now,
            });
        }
        Ok(vec![path])
    }

    /// Counts the objects from `malloc`, where it is asked for that all are freed.
    fn count_objects(&mut self, path: &mut Path, more: Expr) {
        if let Some(counter) = self.world.live_objects {
            let cell = self.global_cell(counter, Part::same(Expr::int(0)));
            let count = self.read(path, &cell);
            self.write(path, &cell, binary(BinaryOp::Add, count.now, more));
        }
    }

    /// At the end of the program.
    fn check_cleanup(&mut self, path: Path) -> Lowered<Vec<Path>> {
        let Some(counter) = self.world.live_objects else {
            return Ok(vec![path]);
        };
        let cell = self.global_cell(counter, Part::same(Expr::int(0)));
        let check = Check {
            holds: is_zero(&self.read(&path, &cell)),
            property: Property::MemoryCleanup,
            message: "memory is still allocated when the program ends".into(),
        };
        Ok(self.require(path, &check).into_iter().collect())
    }

    /// A value that the environment chooses.
    fn nondet(
        &mut self,
        mut path: Path,
        args: &[Operand],
        shape: &[u8],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let (Some(id), Some(&width)) = (result, shape.first()) else {
            return Ok(vec![path]);
        };
        if !self.is_used(&path, result) {
            return self.go_on(path, result, 0);
        }
        let values = match args.first() {
            Some(Operand::Int { value, .. }) => *value,
            _ => 0,
        };
        if values == 2 || self.is_truth(id) {
            let mut other = path.clone();
            self.define(&mut path, id, vec![Part::same(constant(0, width))]);
            self.define(&mut other, id, vec![Part::same(constant(1, width))]);
            return Ok(vec![path, other]);
        }
        let Some(mut path) = self.set_havoc(path) else {
            return Ok(Vec::new());
        };
        let temp = self.temp(&mut path, width);
        path.effects.push(Effect::Havoc {
            place: self.temp_place(temp),
            values,
        });
        let any = Part::lost(self.local_read(temp));
        self.define(&mut path, id, vec![any]);
        Ok(vec![path])
    }

    /// Whether a value is only ever compared with 0.
    fn is_truth(&self, value: ValueId) -> bool {
        let mut all = self.code.blocks.iter().flat_map(|block| &block.insts);
        let only_compared = all.all(|inst| {
            let mut is_used = false;
            for operand in inst.kind.operands() {
                operand.values(&mut |id| is_used |= id == value);
            }
            !is_used
                || matches!(
                    &inst.kind,
                    Kind::Pure(Pure::Compare {
                        predicate: Predicate::Eq | Predicate::Ne,
                        lhs: Operand::Value(_),
                        rhs: Operand::Int { value: 0, .. },
                    })
                )
        });
        let in_ends = self.code.blocks.iter().any(|block| {
            let mut is_used = false;
            if let Terminator::Switch { value: operand, .. }
            | Terminator::EndThread(operand)
            | Terminator::Return(Some(operand)) = &block.end
            {
                operand.values(&mut |id| is_used |= id == value);
            }
            is_used
        });
        only_compared && !in_ends
    }
}

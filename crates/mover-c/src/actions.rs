//! What the primitives of the thread library do, as guarded updates of cells.
//!
//! Each primitive is one action: it waits until one of its alternatives is
//! possible, and then does it whole.
//!
//! - A **mutex** holds its owner: the thread's number + 1, 0 if it is free. So a
//!   reduction recognises it as a lock by what is done with it. Recursive and
//!   error-checking mutexes keep a count and their kind besides, where the C
//!   library has them; programs that have only plain ones do without.
//! - A **condition variable** has a bit for each thread that waits. Waiting gives
//!   the mutex back and sets the own bit; it is over when the bit is clear and
//!   the mutex can be taken. A signal clears any one bit, a broadcast all. No
//!   signal is taken by a thread that came to wait after it.
//! - A **barrier** counts arrivals and has such bits, too: the last to come
//!   clears them.
//! - A **read-write lock** holds its writer and the number of its readers; a
//!   **semaphore** its number of permits; a **once** flag 0, 1 (being done), 2.
//! - A **thread** is known by its handle. Its status is free, running, detached
//!   or finished; joining waits for finished and frees the handle.

use mover_ir::expr::{BinaryOp, Expr, mask};
use mover_ir::program::{Effect, Property};

use crate::build::{binary, choose, constant, equal, not, resize};
use crate::flatten::Problem;
use crate::lower::{Builder, Cell, Check, Lowered, Part, Path};
use crate::objects::mutex_kind_offset;
use crate::ssa::*;

/// The status of a handle.
pub const RUNNING: u64 = 1;
const DETACHED: u64 = 2;
const FINISHED: u64 = 3;

/// Kinds of mutexes, as the C library numbers them.
const RECURSIVE: u64 = 1;
const ERROR_CHECK: u64 = 2;

/// Error numbers.
const EPERM: u64 = 1;
const EDEADLK: u64 = 35;

/// Most keys for thread-specific data.
const MOST_KEYS: u32 = 8;

/// One way in which an action can go.
struct Way<'c> {
    condition: Part,
    writes: Vec<(&'c Cell, Expr)>,
    result: u64,
}

/// The mark of the thread in a lock that it has.
pub(crate) fn me() -> Expr {
    binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1))
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
    /// Does a primitive; gives the paths that go on behind it.
    pub fn library(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        shape: &[u8],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        match name {
            "nondet" => return self.nondet(path, args, shape, result),
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
            "key_get" | "key_set" => return self.key(path, name, args, result),
            "mutex_destroy" | "spin_destroy" | "rwlock_destroy"
                if !self.world.wants(Property::MutexMisuse) =>
            {
                return self.go_on(path, result, 0);
            }
            "thread_detach" if self.world.threads.status.is_none() => return Ok(vec![path]),
            _ => {}
        }
        let Some(path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        match name {
            "mutex_lock" | "mutex_trylock" | "mutex_timedlock" | "mutex_unlock" | "mutex_init"
            | "mutex_destroy" | "spin_lock" | "spin_trylock" | "spin_unlock" | "spin_destroy" => {
                self.mutex(path, name, args, result)
            }
            "rwlock_rdlock" | "rwlock_wrlock" | "rwlock_tryrdlock" | "rwlock_trywrlock"
            | "rwlock_unlock" | "rwlock_destroy" => self.read_write_lock(path, name, args, result),
            "sem_wait" | "sem_trywait" | "sem_timedwait" => {
                self.semaphore(path, name, args, result)
            }
            "cond_sleep" | "cond_wake" | "cond_signal" => self.condition(path, name, args, result),
            "barrier_arrive" | "barrier_leave" => self.barrier(path, name, args, result),
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
                };
                let done = Way {
                    condition: is(&state, 2),
                    writes: Vec::new(),
                    result: 0,
                };
                self.ways(path, vec![begins, done], result)
            }
            "thread_start" => self.thread_start(path, args),
            "thread_join" => self.thread_join(path, args, result),
            "thread_detach" => self.thread_detach(path, args),
            "key_create" => self.key_create(path, result),
            "allocate" | "allocate_zeroed" => {
                let mut path = path;
                let width = self.world.module.pointer_width();
                let size = self.scalar(&mut path, &args[0])?;
                let Some(id) = result else {
                    return Ok(vec![path]);
                };
                let Some(site) = self.world.heap_site(self.body, id) else {
                    return Err(Problem::new("an allocation without a site", path.loc).code("C099"));
                };
                let Some(mut path) = self.require_room(path, &size) else {
                    return Ok(Vec::new());
                };
                if name == "allocate" && self.heap_may_be_read_unwritten(&path, id, &args[0]) {
                    self.world.note_uninitialised(path.loc, "");
                }
                let temp = self.temp(&mut path, width);
                path.effects.push(Effect::Allocate {
                    site,
                    size: resize(size.now, width, false),
                    result: self.temp_place(temp),
                });
                let address = Part::lost(self.local_read(temp));
                self.count_objects(&mut path, constant(1, 32));
                self.define(&mut path, id, vec![address]);
                Ok(vec![path])
            }
            "check_cleanup" => self.check_cleanup(path),
            "free" | "release" | "check_heap" => self.free(path, name, &args[0]),
            "object_size" => {
                let mut path = path;
                let address = self.scalar(&mut path, &args[0])?;
                if let Some(id) = result {
                    let size = address.map(|address| Expr::ObjectSize(Box::new(address)));
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

    /// Goes on where an object of this size fits into states. None if the edge had to end first.
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
            self.limit(large, &message);
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

    /// Goes on in all ways that are possible.
    fn ways(&mut self, path: Path, ways: Vec<Way>, result: Option<ValueId>) -> Lowered<Vec<Path>> {
        let conditions: Vec<Part> = ways.iter().map(|way| way.condition.clone()).collect();
        let Some(paths) = self.split(path, &conditions) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for (mut path, way) in paths.into_iter().zip(ways) {
            if path.guard == Expr::FALSE {
                continue;
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

    fn busy(args: &[Operand]) -> u64 {
        match args.get(1) {
            Some(Operand::Int { value, .. }) => *value,
            _ => 16,
        }
    }

    fn mutex(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let has_kinds = self.world.notes.uses_mutex_kinds && name.starts_with("mutex");
        let owner_cell = self.cell(&mut path, &args[0], 0, 32)?;
        let Some(mut path) = self.check_cell(path, &owner_cell) else {
            return Ok(Vec::new());
        };
        let kind_at = mutex_kind_offset(self.world.module.pointer_bytes) as i64;
        let owner = self.read(&path, &owner_cell);
        let zero = || constant(0, 32);
        let no = Part::same(Expr::FALSE);
        let yes = Part::same(Expr::TRUE);
        let (count_cell, kind_cell) = if has_kinds {
            let count = self.cell(&mut path, &args[0], 4, 32)?;
            let kind = self.cell(&mut path, &args[0], kind_at, 32)?;
            let Some(checked) = self.check_cell(path, &kind) else {
                return Ok(Vec::new());
            };
            path = checked;
            (Some(count), Some(kind))
        } else {
            (None, None)
        };
        let count = count_cell.as_ref().map(|cell| self.read(&path, cell));
        let kind = kind_cell.as_ref().map(|cell| self.read(&path, cell));
        let is_free = is_zero(&owner);
        let is_mine = owner.map(|owner| equal(owner, me()));
        let is_recursive = kind.as_ref().map_or(no.clone(), |kind| is(kind, RECURSIVE));
        let is_checked = kind
            .as_ref()
            .map_or(no.clone(), |kind| is(kind, ERROR_CHECK));
        match name {
            "mutex_init" => {
                let kind = self.scalar(&mut path, &args[1])?;
                self.write(&mut path, &owner_cell, zero());
                if let (Some(count), Some(cell)) = (&count_cell, &kind_cell) {
                    self.write(&mut path, count, zero());
                    self.write(&mut path, cell, kind.now);
                }
                Ok(vec![path])
            }
            "mutex_destroy" | "spin_destroy" => {
                let message = "a mutex is destroyed while it is held";
                match self.rule(path, is_free, message) {
                    Some(path) => self.go_on(path, result, 0),
                    None => Ok(Vec::new()),
                }
            }
            "mutex_unlock" | "spin_unlock" => {
                let may = if has_kinds {
                    Part::combine(&[&is_mine, &is_checked], |args| {
                        args[0].clone().or(args[1].clone())
                    })
                } else {
                    is_mine.clone()
                };
                let message = "a mutex is unlocked by a thread that does not hold it";
                let Some(path) = self.rule(path, may, message) else {
                    return Ok(Vec::new());
                };
                let (Some(count_cell), Some(count)) = (&count_cell, &count) else {
                    let condition = if self.world.wants(Property::MutexMisuse) {
                        is_mine
                    } else {
                        yes
                    };
                    let way = Way {
                        condition,
                        writes: vec![(&owner_cell, zero())],
                        result: 0,
                    };
                    return self.ways(path, vec![way], result);
                };
                let is_last = is_zero(count);
                let fewer = binary(BinaryOp::Sub, count.now.clone(), constant(1, 32));
                let not_mine = negated(&is_mine);
                let ways = vec![
                    Way {
                        condition: both(&is_mine, &is_last),
                        writes: vec![(&owner_cell, zero())],
                        result: 0,
                    },
                    Way {
                        condition: both(&is_mine, &negated(&is_last)),
                        writes: vec![(count_cell, fewer)],
                        result: 0,
                    },
                    Way {
                        condition: both(&not_mine, &is_checked),
                        writes: Vec::new(),
                        result: EPERM,
                    },
                    Way {
                        condition: both(&not_mine, &negated(&is_checked)),
                        writes: vec![(&owner_cell, zero())],
                        result: 0,
                    },
                ];
                self.ways(path, ways, result)
            }
            _ => {
                let mut ways = vec![Way {
                    condition: is_free.clone(),
                    writes: vec![(&owner_cell, me())],
                    result: 0,
                }];
                let again = both(&is_mine, &is_recursive);
                if let (Some(count_cell), Some(count)) = (&count_cell, &count) {
                    let more = binary(BinaryOp::Add, count.now.clone(), constant(1, 32));
                    ways.push(Way {
                        condition: again.clone(),
                        writes: vec![(count_cell, more)],
                        result: 0,
                    });
                }
                if name.ends_with("_lock") && has_kinds {
                    ways.push(Way {
                        condition: both(&is_mine, &is_checked),
                        writes: Vec::new(),
                        result: EDEADLK,
                    });
                }
                if !name.ends_with("_lock") {
                    let taken = negated(&is_free);
                    let condition = if has_kinds {
                        both(&taken, &negated(&again))
                    } else {
                        taken
                    };
                    ways.push(Way {
                        condition,
                        writes: Vec::new(),
                        result: Self::busy(args),
                    });
                }
                self.ways(path, ways, result)
            }
        }
    }

    fn read_write_lock(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let writer_cell = self.cell(&mut path, &args[0], 0, 32)?;
        let readers_cell = self.cell(&mut path, &args[0], 4, 32)?;
        let Some(path) = self.check_cell(path, &writer_cell) else {
            return Ok(Vec::new());
        };
        let Some(path) = self.check_cell(path, &readers_cell) else {
            return Ok(Vec::new());
        };
        let writer = self.read(&path, &writer_cell);
        let readers = self.read(&path, &readers_cell);
        let no_writer = is_zero(&writer);
        let no_reader = is_zero(&readers);
        let is_free = both(&no_writer, &no_reader);
        let is_mine = writer.map(|writer| equal(writer, me()));
        let more = binary(BinaryOp::Add, readers.now.clone(), constant(1, 32));
        let fewer = binary(BinaryOp::Sub, readers.now.clone(), constant(1, 32));
        if name == "rwlock_destroy" {
            let message = "a read-write lock is destroyed while it is held";
            return match self.rule(path, is_free, message) {
                Some(path) => self.go_on(path, result, 0),
                None => Ok(Vec::new()),
            };
        }
        if name == "rwlock_unlock" {
            let may = Part::combine(&[&is_mine, &no_reader], |args| {
                args[0].clone().or(not(args[1].clone()))
            });
            let message = "a read-write lock is unlocked that is not held";
            let Some(path) = self.rule(path, may, message) else {
                return Ok(Vec::new());
            };
            let not_mine = negated(&is_mine);
            let mut ways = vec![
                Way {
                    condition: is_mine.clone(),
                    writes: vec![(&writer_cell, constant(0, 32))],
                    result: 0,
                },
                Way {
                    condition: both(&not_mine, &negated(&no_reader)),
                    writes: vec![(&readers_cell, fewer)],
                    result: 0,
                },
            ];
            if !self.world.wants(Property::MutexMisuse) {
                ways.push(Way {
                    condition: both(&not_mine, &no_reader),
                    writes: Vec::new(),
                    result: EPERM,
                });
            }
            return self.ways(path, ways, result);
        }
        let (possible, write) = if name.ends_with("wrlock") {
            (is_free, (&writer_cell, me()))
        } else {
            (no_writer, (&readers_cell, more))
        };
        let mut ways = vec![Way {
            condition: possible.clone(),
            writes: vec![write],
            result: 0,
        }];
        if name.contains("try") {
            ways.push(Way {
                condition: negated(&possible),
                writes: Vec::new(),
                result: Self::busy(args),
            });
        }
        self.ways(path, ways, result)
    }

    fn semaphore(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let cell = self.cell(&mut path, &args[0], 0, 32)?;
        let Some(path) = self.check_cell(path, &cell) else {
            return Ok(Vec::new());
        };
        let permits = self.read(&path, &cell);
        let none = is_zero(&permits);
        let fewer = binary(BinaryOp::Sub, permits.now.clone(), constant(1, 32));
        let mut ways = vec![Way {
            condition: negated(&none),
            writes: vec![(&cell, fewer)],
            result: 0,
        }];
        if name != "sem_wait" {
            ways.push(Way {
                condition: none,
                writes: Vec::new(),
                result: Self::busy(args),
            });
        }
        self.ways(path, ways, result)
    }

    fn condition(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let most = self.world.threads.most();
        if most > 64 {
            let message = "condition variables with more than 64 threads are not supported";
            return Err(Problem::new(message, path.loc)
                .code("C015")
                .help("a smaller --threads"));
        }
        let waiting_cell = self.cell(&mut path, &args[0], 0, 64)?;
        let Some(mut path) = self.check_cell(path, &waiting_cell) else {
            return Ok(Vec::new());
        };
        let waiting = self.read(&path, &waiting_cell);
        if name == "cond_signal" {
            let mut ways = vec![Way {
                condition: is_zero(&waiting),
                writes: Vec::new(),
                result: 0,
            }];
            for thread in 0..most {
                let bit = constant(1 << thread, 64);
                let condition = waiting.map(|waiting| {
                    let own = binary(BinaryOp::And, waiting, bit.clone());
                    binary(BinaryOp::Ne, own, constant(0, 64))
                });
                let rest = constant(!(1u64 << thread), 64);
                let woken = binary(BinaryOp::And, waiting.now.clone(), rest);
                ways.push(Way {
                    condition,
                    writes: vec![(&waiting_cell, woken)],
                    result: 0,
                });
            }
            return self.ways(path, ways, result);
        }
        let owner_cell = self.cell(&mut path, &args[1], 0, 32)?;
        let Some(path) = self.check_cell(path, &owner_cell) else {
            return Ok(Vec::new());
        };
        let owner = self.read(&path, &owner_cell);
        if name == "cond_sleep" {
            let is_mine = owner.map(|owner| equal(owner, me()));
            let message = "a thread waits for a condition without holding the mutex";
            let Some(path) = self.rule(path, is_mine, message) else {
                return Ok(Vec::new());
            };
            let with_me = Expr::binary(BinaryOp::Or, waiting.now, own_bit());
            let way = Way {
                condition: Part::same(Expr::TRUE),
                writes: vec![(&waiting_cell, with_me), (&owner_cell, constant(0, 32))],
                result: 0,
            };
            return self.ways(path, vec![way], result);
        }
        let is_free = is_zero(&owner);
        let is_awake = waiting.map(|waiting| {
            let own = Expr::binary(BinaryOp::And, waiting, own_bit());
            equal(own, constant(0, 64))
        });
        let asleep = negated(&is_awake);
        let without_me = Expr::binary(BinaryOp::And, waiting.now.clone(), not(own_bit()));
        let mut ways = vec![Way {
            condition: both(&is_awake, &is_free),
            writes: vec![(&owner_cell, me())],
            result: 0,
        }];
        let timeout = match args.get(2) {
            Some(Operand::Int { value, .. }) => *value,
            _ => 0,
        };
        let mut endings = Vec::new();
        if self.world.settings.spurious_wakeups {
            endings.push(0);
        } else {
            self.world.waits.get_or_insert(path.loc);
        }
        if timeout != 0 {
            endings.push(timeout);
        }
        for result in endings {
            ways.push(Way {
                condition: both(&asleep, &is_free),
                writes: vec![(&waiting_cell, without_me.clone()), (&owner_cell, me())],
                result,
            });
        }
        self.ways(path, ways, result)
    }

    fn barrier(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        if self.world.threads.most() > 64 {
            let message = "barriers with more than 64 threads are not supported";
            return Err(Problem::new(message, path.loc)
                .code("C015")
                .help("a smaller --threads"));
        }
        let total_cell = self.cell(&mut path, &args[0], 0, 32)?;
        let arrived_cell = self.cell(&mut path, &args[0], 4, 32)?;
        let waiting_cell = self.cell(&mut path, &args[0], 8, 64)?;
        let Some(path) = self.check_cell(path, &waiting_cell) else {
            return Ok(Vec::new());
        };
        let waiting = self.read(&path, &waiting_cell);
        if name == "barrier_leave" {
            let condition = waiting.map(|waiting| {
                let own = Expr::binary(BinaryOp::And, waiting, own_bit());
                equal(own, constant(0, 64))
            });
            let way = Way {
                condition,
                writes: Vec::new(),
                result: 0,
            };
            return self.ways(path, vec![way], result);
        }
        let total = self.read(&path, &total_cell);
        let arrived = self.read(&path, &arrived_cell);
        let more = binary(BinaryOp::Add, arrived.now.clone(), constant(1, 32));
        let is_last = Part::combine(&[&arrived, &total], |args| {
            let with_me = binary(BinaryOp::Add, args[0].clone(), constant(1, 32));
            binary(BinaryOp::ULe, args[1].clone(), with_me)
        });
        let with_me = Expr::binary(BinaryOp::Or, waiting.now, own_bit());
        let ways = vec![
            Way {
                condition: negated(&is_last),
                writes: vec![(&arrived_cell, more), (&waiting_cell, with_me)],
                result: 0,
            },
            Way {
                condition: is_last,
                writes: vec![
                    (&arrived_cell, constant(0, 32)),
                    (&waiting_cell, constant(0, 64)),
                ],
                // PTHREAD_BARRIER_SERIAL_THREAD.
                result: mask(32),
            },
        ];
        self.ways(path, ways, result)
    }

    // Threads.

    /// Finds a handle for a new thread.
    fn thread_reserve(&mut self, mut path: Path, result: Option<ValueId>) -> Lowered<Vec<Path>> {
        let width = self.world.module.pointer_width();
        let Some(id) = result else {
            return Ok(vec![path]);
        };
        if let Some(&fixed) = self.world.threads.fixed.get(&(self.body, id)) {
            self.define(&mut path, id, vec![Part::same(constant(fixed, width))]);
            return Ok(vec![path]);
        }
        let Some(mut path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        let Some(row) = self.world.threads.status else {
            return Err(Problem::new("a thread without a status", path.loc).code("C099"));
        };
        let threads = &self.world.threads;
        let handles: Vec<u64> = (threads.first_free..threads.handles()).collect();
        let most = threads.dynamic;
        let mut found = constant(0, width);
        for &handle in handles.iter().rev() {
            let cell = self.global_cell(row, Part::same(Expr::int(handle as i64)));
            let status = self.read(&path, &cell).now;
            let is_free = equal(status, constant(0, 8));
            found = choose(is_free, constant(handle, width), found);
        }
        let found = Part::same(found);
        let is_none = is_zero(&found);
        let Some(paths) = self.split(path.clone(), &[is_none.clone(), negated(&is_none)]) else {
            return Ok(Vec::new());
        };
        let mut paths = paths.into_iter();
        if let Some(full) = paths.next() {
            let message = format!("more than {most} threads that loops create are alive at a time");
            self.limit(full, &message);
        }
        if let Some(going_on) = paths.next() {
            path = going_on;
        }
        let temp = self.temp(&mut path, width);
        path.effects.push(Effect::Assign {
            place: self.temp_place(temp),
            value: found.now,
        });
        let handle = Part::lost(self.local_read(temp));
        let index = handle.map(|handle| resize(handle, 32, false));
        let cell = self.global_cell(row, index);
        self.write(&mut path, &cell, constant(RUNNING, 8));
        self.define(&mut path, id, vec![handle]);
        Ok(vec![path])
    }

    fn thread_start(&mut self, mut path: Path, args: &[Operand]) -> Lowered<Vec<Path>> {
        let handle = self.scalar(&mut path, &args[0])?;
        let detached = self.scalar(&mut path, &args[1])?;
        let start_arg = self.scalar(&mut path, &args[3])?;
        if let Some(row) = self.world.threads.status {
            let index = handle.map(|handle| resize(handle, 32, false));
            let cell = self.global_cell(row, index);
            let status = choose(
                is_zero(&detached).now,
                constant(RUNNING, 8),
                constant(DETACHED, 8),
            );
            self.write(&mut path, &cell, status);
        }
        let routines: Vec<FunctionId> = match &args[2] {
            Operand::Function(id) => vec![*id],
            _ => self.world.threads.routines.clone(),
        };
        let target = self.scalar(&mut path, &args[2])?;
        let width = self.world.module.pointer_width();
        let mut next = Vec::new();
        let mut none = Part::same(Expr::TRUE);
        for id in routines {
            let Some(&template) = self.world.threads.templates.get(&id) else {
                continue;
            };
            let address = constant(self.world.function_address(id), width);
            let is_it = target.map(|target| equal(target, address.clone()));
            let Some(mut paths) = self.split(path.clone(), std::slice::from_ref(&is_it)) else {
                return Ok(Vec::new());
            };
            none = both(&none, &negated(&is_it));
            let Some(mut path) = paths.pop() else {
                continue;
            };
            if path.guard == Expr::FALSE {
                continue;
            }
            let params = self.world.module.functions[id].params;
            let mut spawn_args = Vec::new();
            if params > 0 {
                spawn_args.push(start_arg.now.clone());
            }
            spawn_args.push(handle.now.clone());
            path.effects.push(Effect::Spawn {
                template,
                args: spawn_args,
                priority: 1,
                result: None,
            });
            next.push(path);
        }
        if none.now.as_const() != Some(0) {
            let check = Check {
                holds: negated(&none),
                property: Property::MemorySafety,
                message: "a thread is started with a pointer that points to no function".into(),
            };
            self.require(path, &check);
        }
        Ok(next)
    }

    /// The cell of a handle's status, and whether the handle is one at all.
    fn status_cell(&mut self, path: &mut Path, handle: &Operand) -> Lowered<(Cell, Part, Part)> {
        let handle = self.scalar(path, handle)?;
        let Some(row) = self.world.threads.status else {
            return Err(Problem::new("a thread without a status", path.loc).code("C099"));
        };
        let count = self.world.threads.handles();
        let width = handle.now.width();
        let known = handle.map(|handle| binary(BinaryOp::ULt, handle, constant(count, width)));
        let index = handle.map(|handle| resize(handle, 32, false));
        // A handle that is not one must not become a constant index outside.
        let index = match index.now.as_const() {
            Some(value) if value >= count => Part::same(Expr::int(0)),
            _ => index,
        };
        Ok((self.global_cell(row, index.clone()), known, index))
    }

    fn thread_join(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let (cell, known, index) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &cell);
        let joinable = Part::combine(&[&known, &status], |args| {
            let running = equal(args[1].clone(), constant(RUNNING, 8));
            let finished = equal(args[1].clone(), constant(FINISHED, 8));
            args[0].clone().and(running.or(finished))
        });
        let message = "a thread is joined that is not joinable";
        let Some(path) = self.rule(path, joinable.clone(), message) else {
            return Ok(Vec::new());
        };
        let results = self.world.threads.results;
        let is_finished = both(&known, &is(&status, FINISHED));
        let mut conditions = vec![is_finished];
        if !self.world.wants(Property::MutexMisuse) {
            conditions.push(negated(&joinable));
        }
        let Some(paths) = self.split(path, &conditions) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for (number, mut path) in paths.into_iter().enumerate() {
            if path.guard == Expr::FALSE {
                continue;
            }
            let width = self.world.module.pointer_width();
            let mut value = Part::same(constant(0, width));
            if number == 0 {
                if let (Some(row), Some(id)) = (results, result) {
                    let cell = self.global_cell(row, index.clone());
                    value = self.read(&path, &cell);
                    self.define(&mut path, id, vec![value.clone()]);
                    self.write(&mut path, &cell, constant(0, width));
                    value = path.known(id).unwrap_or(value);
                }
                self.write(&mut path, &cell, constant(0, 8));
            }
            if let Some(id) = result {
                self.define(&mut path, id, vec![value]);
            }
            next.push(path);
        }
        Ok(next)
    }

    fn thread_detach(&mut self, mut path: Path, args: &[Operand]) -> Lowered<Vec<Path>> {
        let (cell, known, _) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &cell);
        let running = both(&known, &is(&status, RUNNING));
        let finished = both(&known, &is(&status, FINISHED));
        let neither = both(&negated(&running), &negated(&finished));
        let message = "a thread is detached that is not joinable";
        let Some(path) = self.rule(path, negated(&neither), message) else {
            return Ok(Vec::new());
        };
        let ways = vec![
            Way {
                condition: running,
                writes: vec![(&cell, constant(DETACHED, 8))],
                result: 0,
            },
            Way {
                condition: finished,
                writes: vec![(&cell, constant(0, 8))],
                result: 0,
            },
            Way {
                condition: neither,
                writes: Vec::new(),
                result: 0,
            },
        ];
        self.ways(path, ways, None)
    }

    /// What the end of a thread tells the others.
    pub fn thread_ends(&mut self, mut path: Path, value: Expr) -> Lowered<Vec<Path>> {
        let Some(row) = self.world.threads.status else {
            return Ok(vec![path]);
        };
        let own = match self.handle {
            Some(local) => Part::same(self.local_read(local)),
            None => Part::same(Expr::int(1)),
        };
        let index = own.map(|own| resize(own, 32, false));
        let cell = self.global_cell(row, index.clone());
        if !self.world.threads.has_detach {
            if let Some(results) = self.world.threads.results {
                let result = self.global_cell(results, index);
                self.write(&mut path, &result, value);
            }
            self.write(&mut path, &cell, constant(FINISHED, 8));
            return Ok(vec![path]);
        }
        let status = self.read(&path, &cell);
        let detached = is(&status, DETACHED);
        let Some(mut paths) = self.split(path, &[detached.clone(), negated(&detached)]) else {
            return Ok(Vec::new());
        };
        for (path, status) in paths.iter_mut().zip([0, FINISHED]) {
            if let (Some(results), FINISHED) = (self.world.threads.results, status) {
                let result = self.global_cell(results, index.clone());
                self.write(path, &result, value.clone());
            }
            self.write(path, &cell, constant(status, 8));
        }
        paths.retain(|path| path.guard != Expr::FALSE);
        Ok(paths)
    }

    // Keys.

    fn key_create(&mut self, mut path: Path, result: Option<ValueId>) -> Lowered<Vec<Path>> {
        let Some(counter) = self.world.threads.keys else {
            return Err(Problem::new("a key without a counter", path.loc).code("C099"));
        };
        let cell = self.global_cell(counter, Part::same(Expr::int(0)));
        let next_key = self.read(&path, &cell);
        let fits = next_key.map(|key| binary(BinaryOp::ULt, key, constant(MOST_KEYS.into(), 32)));
        let Some(paths) = self.split(path.clone(), &[negated(&fits), fits]) else {
            return Ok(Vec::new());
        };
        let mut paths = paths.into_iter();
        if let Some(full) = paths.next() {
            self.limit(full, &format!("more than {MOST_KEYS} keys are created"));
        }
        if let Some(going_on) = paths.next() {
            path = going_on;
        }
        if let Some(id) = result {
            self.define(&mut path, id, vec![next_key.clone()]);
        }
        let more = binary(BinaryOp::Add, next_key.now, constant(1, 32));
        self.write(&mut path, &cell, more);
        Ok(vec![path])
    }

    fn key(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let row = self.row_of_keys(MOST_KEYS);
        let key = self.scalar(&mut path, &args[0])?;
        let index = key.map(|key| resize(key, 32, false));
        let valid = index.map(|key| binary(BinaryOp::ULt, key, constant(MOST_KEYS.into(), 32)));
        let check = Check {
            holds: valid.clone(),
            property: Property::MemorySafety,
            message: "a key that does not exist".into(),
        };
        let Some(mut path) = self.require(path, &check) else {
            return Ok(Vec::new());
        };
        let cell = self.row_cell_at(row, index, valid);
        if name == "key_get" {
            let value = self.read(&path, &cell);
            if let Some(id) = result {
                self.define(&mut path, id, vec![value]);
            }
        } else {
            let value = self.scalar(&mut path, &args[1])?;
            self.write(&mut path, &cell, value.now);
        }
        Ok(vec![path])
    }

    // Memory and choice.

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

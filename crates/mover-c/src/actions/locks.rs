//! Mutexes, read-write locks, semaphores and barriers.
//!
//! The contents of their cells are described in [`super`].

use mover_ir::expr::{BinaryOp, Expr, mask};
use mover_ir::program::Property;
use mover_ir::sync::{SyncAction, SyncKind};

use super::{
    NOT_RECOVERABLE, OWNER_DIED, SyncObject, Way, both, is, is_zero, me, negated, own_bit,
};
use crate::expr_builder::{binary, constant, equal, not};
use crate::flatten::CANCELLED;
use crate::lower::{Builder, Lowered, Part, Path};
use crate::objects::mutex_kind_offset;
use crate::ssa::*;

/// Kinds of mutexes, as the C library numbers them.
const RECURSIVE: u64 = 1;
const ERROR_CHECK: u64 = 2;

/// Error numbers.
const EPERM: u64 = 1;
const EINVAL: u64 = 22;
pub(super) const EOWNERDEAD: u64 = 130;
pub(super) const ENOTRECOVERABLE: u64 = 131;
const EBUSY: u64 = 16;
const EDEADLK: u64 = 35;

/// Bits of a mutex's third word.
pub(super) const IS_ROBUST: u64 = 1;
pub(super) const IS_INCONSISTENT: u64 = 2;

impl Builder<'_, '_> {
    pub(super) fn busy(args: &[Operand]) -> u64 {
        match args.get(1) {
            Some(Operand::Int { value, .. }) => *value,
            _ => 16,
        }
    }

    pub(super) fn mutex(
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
        let robust = if has_kinds && self.world.notes.uses_robust_mutexes {
            let cell = self.cell(&mut path, &args[0], 8, 32)?;
            let state = self.read(&path, &cell);
            Some((cell, state))
        } else {
            None
        };
        let has_bit = |bit: u64| match &robust {
            Some((_, state)) => state.map(|state| {
                let bits = binary(BinaryOp::And, state, constant(bit, 32));
                binary(BinaryOp::Ne, bits, constant(0, 32))
            }),
            None => no.clone(),
        };
        let (is_robust, is_inconsistent) = (has_bit(IS_ROBUST), has_bit(IS_INCONSISTENT));
        let sync_kind = match name.starts_with("spin") {
            true => SyncKind::SpinLock,
            false => SyncKind::Mutex,
        };
        let object = SyncObject::new(sync_kind, &owner_cell).with(count_cell.as_ref());
        match name {
            "mutex_init" => {
                let kind = self.scalar(&mut path, &args[1])?;
                self.declare(&mut path, &object, SyncAction::Other);
                self.write(&mut path, &owner_cell, zero());
                if let (Some(count), Some(cell)) = (&count_cell, &kind_cell) {
                    self.write(&mut path, count, zero());
                    let plain = match robust {
                        Some(_) => binary(BinaryOp::And, kind.now.clone(), constant(3, 32)),
                        None => kind.now.clone(),
                    };
                    self.write(&mut path, cell, plain);
                }
                if let Some((cell, _)) = &robust {
                    let bit = binary(BinaryOp::LShr, kind.now, constant(2, 32));
                    let bit = binary(BinaryOp::And, bit, constant(IS_ROBUST, 32));
                    self.write(&mut path, cell, bit);
                }
                Ok(vec![path])
            }
            "mutex_owner_died" => {
                let ways = vec![
                    Way {
                        condition: is_mine.clone(),
                        writes: vec![(&owner_cell, constant(OWNER_DIED, 32))],
                        result: 0,
                        action: SyncAction::Other,
                    },
                    Way {
                        condition: negated(&is_mine),
                        writes: Vec::new(),
                        result: 0,
                        action: SyncAction::Fail,
                    },
                ];
                self.ways(path, &[object], ways, result)
            }
            "mutex_consistent" => {
                let may = both(&is_mine, &is_inconsistent);
                let state = robust
                    .as_ref()
                    .map(|(cell, _)| (cell, constant(IS_ROBUST, 32)));
                let ways = vec![
                    Way {
                        condition: may.clone(),
                        writes: state.into_iter().collect(),
                        result: 0,
                        action: SyncAction::Fail,
                    },
                    Way {
                        condition: negated(&may),
                        writes: Vec::new(),
                        result: EINVAL,
                        action: SyncAction::Fail,
                    },
                ];
                self.ways(path, &[object], ways, result)
            }
            "mutex_destroy" | "spin_destroy" => {
                let message = "a mutex is destroyed while it is held";
                let is_free =
                    Part::combine(
                        &[&is_free, &is(&owner, NOT_RECOVERABLE)],
                        |args| match robust {
                            Some(_) => args[0].clone().or(args[1].clone()),
                            None => args[0].clone(),
                        },
                    );
                let Some(path) = self.rule(path, is_free.clone(), message) else {
                    return Ok(Vec::new());
                };
                if self.world.wants(Property::MutexMisuse) || !self.is_used(&path, result) {
                    return self.go_on(path, result, 0);
                }
                let way = |condition: Part, result: u64| Way {
                    condition,
                    writes: Vec::new(),
                    result,
                    action: SyncAction::Fail,
                };
                let ways = vec![way(negated(&is_free), EBUSY), way(is_free, 0)];
                self.ways(path, &[object], ways, result)
            }
            "mutex_unlock" | "spin_unlock" => {
                let is_checked = match robust {
                    Some(_) => Part::combine(&[&is_checked, &is_robust], |args| {
                        args[0].clone().or(args[1].clone())
                    }),
                    None => is_checked,
                };
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
                        action: SyncAction::Release,
                    };
                    return self.ways(path, &[object], vec![way], result);
                };
                let is_last = is_zero(count);
                let fewer = binary(BinaryOp::Sub, count.now.clone(), constant(1, 32));
                let not_mine = negated(&is_mine);
                let ends = both(&is_mine, &is_last);
                let mut ways = vec![
                    Way {
                        condition: match robust {
                            Some(_) => both(&ends, &negated(&is_inconsistent)),
                            None => ends.clone(),
                        },
                        writes: vec![(&owner_cell, zero())],
                        result: 0,
                        action: SyncAction::Release,
                    },
                    Way {
                        condition: both(&is_mine, &negated(&is_last)),
                        writes: vec![(count_cell, fewer)],
                        result: 0,
                        action: SyncAction::ReleaseOnce,
                    },
                    Way {
                        condition: both(&not_mine, &is_checked),
                        writes: Vec::new(),
                        result: EPERM,
                        action: SyncAction::Fail,
                    },
                    Way {
                        condition: both(&not_mine, &negated(&is_checked)),
                        writes: vec![(&owner_cell, zero())],
                        result: 0,
                        action: SyncAction::Release,
                    },
                ];
                if robust.is_some() {
                    ways.push(Way {
                        condition: both(&ends, &is_inconsistent),
                        writes: vec![(&owner_cell, constant(NOT_RECOVERABLE, 32))],
                        result: 0,
                        action: SyncAction::Release,
                    });
                }
                self.ways(path, &[object], ways, result)
            }
            _ => {
                let mut ways = vec![Way {
                    condition: is_free.clone(),
                    writes: vec![(&owner_cell, me())],
                    result: 0,
                    action: SyncAction::Acquire,
                }];
                let again = both(&is_mine, &is_recursive);
                if let (Some(count_cell), Some(count)) = (&count_cell, &count) {
                    let more = binary(BinaryOp::Add, count.now.clone(), constant(1, 32));
                    ways.push(Way {
                        condition: again.clone(),
                        writes: vec![(count_cell, more)],
                        result: 0,
                        action: SyncAction::AcquireAgain,
                    });
                }
                let mut is_told = no.clone();
                if let (Some((cell, _)), Some(count)) = (&robust, &count_cell) {
                    let died = is(&owner, OWNER_DIED);
                    let gone = is(&owner, NOT_RECOVERABLE);
                    is_told =
                        Part::combine(&[&died, &gone], |args| args[0].clone().or(args[1].clone()));
                    ways.push(Way {
                        condition: died,
                        writes: vec![
                            (&owner_cell, me()),
                            (count, zero()),
                            (cell, constant(IS_ROBUST | IS_INCONSISTENT, 32)),
                        ],
                        result: EOWNERDEAD,
                        action: SyncAction::Acquire,
                    });
                    ways.push(Way {
                        condition: gone,
                        writes: Vec::new(),
                        result: ENOTRECOVERABLE,
                        action: SyncAction::Fail,
                    });
                }
                let deadlocks = both(&is_mine, &is_checked);
                let is_try = name.ends_with("_trylock");
                if has_kinds && !is_try {
                    ways.push(Way {
                        condition: deadlocks.clone(),
                        writes: Vec::new(),
                        result: EDEADLK,
                        action: SyncAction::Fail,
                    });
                }
                if !name.ends_with("_lock") {
                    self.note_try();
                    let mut condition = negated(&is_free);
                    if has_kinds {
                        condition = both(&condition, &negated(&again));
                        if robust.is_some() {
                            condition = both(&condition, &negated(&is_told));
                        }
                        if !is_try {
                            condition = both(&condition, &negated(&deadlocks));
                        }
                    }
                    ways.push(Way {
                        condition,
                        writes: Vec::new(),
                        result: Self::busy(args),
                        action: SyncAction::Fail,
                    });
                }
                self.ways(path, &[object], ways, result)
            }
        }
    }

    pub(super) fn read_write_lock(
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
        let object =
            SyncObject::new(SyncKind::ReadWriteLock, &writer_cell).with(Some(&readers_cell));
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
            let message = "a read-write lock is unlocked while it is not held";
            let Some(path) = self.rule(path, may, message) else {
                return Ok(Vec::new());
            };
            let not_mine = negated(&is_mine);
            let mut ways = vec![
                Way {
                    condition: is_mine.clone(),
                    writes: vec![(&writer_cell, constant(0, 32))],
                    result: 0,
                    action: SyncAction::Release,
                },
                Way {
                    condition: both(&not_mine, &negated(&no_reader)),
                    writes: vec![(&readers_cell, fewer)],
                    result: 0,
                    action: SyncAction::ReleaseShared,
                },
            ];
            if !self.world.wants(Property::MutexMisuse) {
                ways.push(Way {
                    condition: both(&not_mine, &no_reader),
                    writes: Vec::new(),
                    result: EPERM,
                    action: SyncAction::Fail,
                });
            }
            return self.ways(path, &[object], ways, result);
        }
        let (possible, write, action) = if name.ends_with("wrlock") {
            (is_free, (&writer_cell, me()), SyncAction::Acquire)
        } else {
            (no_writer, (&readers_cell, more), SyncAction::AcquireShared)
        };
        let mut ways = vec![Way {
            condition: possible.clone(),
            writes: vec![write],
            result: 0,
            action,
        }];
        // POSIX lets the writer that locks again block or be told; where nobody looks for deadlocks
        // it is told, as by glibc.
        if !self.world.wants(Property::NoDeadlock) && !name.contains("try") {
            ways.push(Way {
                condition: is_mine,
                writes: Vec::new(),
                result: EDEADLK,
                action: SyncAction::Fail,
            });
        }
        if name.contains("try") {
            self.note_try();
            ways.push(Way {
                condition: negated(&possible),
                writes: Vec::new(),
                result: Self::busy(args),
                action: SyncAction::Fail,
            });
        }
        self.ways(path, &[object], ways, result)
    }

    pub(super) fn semaphore(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let cell = self.cell(&mut path, &args[0], 0, 32)?;
        let Some(mut path) = self.check_cell(path, &cell) else {
            return Ok(Vec::new());
        };
        let permits = self.read(&path, &cell);
        let none = is_zero(&permits);
        let fewer = binary(BinaryOp::Sub, permits.now.clone(), constant(1, 32));
        let mut ways = vec![Way {
            condition: negated(&none),
            writes: vec![(&cell, fewer)],
            result: 0,
            action: SyncAction::Other,
        }];
        if name != "sem_wait" {
            self.note_try();
            ways.push(Way {
                condition: none,
                writes: Vec::new(),
                result: Self::busy(args),
                action: SyncAction::Fail,
            });
        }
        if let Some(condition) = self.is_cancelled(&mut path, args.get(2))? {
            ways.push(Way {
                condition,
                writes: Vec::new(),
                result: CANCELLED,
                action: SyncAction::Fail,
            });
        }
        let object = SyncObject::new(SyncKind::Semaphore, &cell);
        self.ways(path, &[object], ways, result)
    }

    pub(super) fn barrier(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        self.require_few_threads(&path, "barriers")?;
        let total_cell = self.cell(&mut path, &args[0], 0, 32)?;
        let arrived_cell = self.cell(&mut path, &args[0], 4, 32)?;
        let waiting_cell = self.cell(&mut path, &args[0], 8, 64)?;
        let Some(path) = self.check_cell(path, &waiting_cell) else {
            return Ok(Vec::new());
        };
        let waiting = self.read(&path, &waiting_cell);
        let object = SyncObject::new(SyncKind::Barrier, &waiting_cell);
        if name == "barrier_leave" {
            let condition = waiting.map(|waiting| {
                let own = Expr::binary(BinaryOp::And, waiting, own_bit());
                equal(own, constant(0, 64))
            });
            let way = Way {
                condition,
                writes: Vec::new(),
                result: 0,
                action: SyncAction::Fail,
            };
            return self.ways(path, &[object], vec![way], result);
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
                action: SyncAction::Other,
            },
            Way {
                condition: is_last,
                writes: vec![
                    (&arrived_cell, constant(0, 32)),
                    (&waiting_cell, constant(0, 64)),
                ],
                // PTHREAD_BARRIER_SERIAL_THREAD.
                result: mask(32),
                action: SyncAction::Other,
            },
        ];
        self.ways(path, &[object], ways, result)
    }

    // Threads.
}

//! Condition variables.
//!
//! A wait is two actions: blocking, which releases the mutex, and waking up, which acquires it
//! again; a timed wait may time out between them. The contents of the cells are described in
//! [`super`].

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{BoundKind, Property};
use mover_ir::sync::{SyncAction, SyncKind};

use super::locks::{ENOTRECOVERABLE, EOWNERDEAD, IS_INCONSISTENT, IS_ROBUST};
use super::{NOT_RECOVERABLE, OWNER_DIED, SyncObject, Way, both, is_zero, me, negated, own_bit};
use crate::expr_builder::{binary, choose, constant, equal, not};
use crate::flatten::CANCELLED;
use crate::lower::{Builder, Cell, Lowered, Part, Path};
use crate::ssa::*;

/// The mutex of a wait.
struct Mutex {
    owner_cell: Cell,
    owner: Part,
    is_mine: Part,
    /// How many times more than once it is locked, where mutexes of several kinds are used.
    count: Option<(Cell, Part)>,
    /// Whether it is robust and consistent, where robust mutexes are used.
    robust: Option<(Cell, Part)>,
}

impl Builder<'_, '_> {
    pub(super) fn condition(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        self.require_few_threads(&path, "condition variables")?;
        let waiting_cell = self.cell(&mut path, &args[0], 0, 64)?;
        let Some(mut path) = self.check_cell(path, &waiting_cell) else {
            return Ok(Vec::new());
        };
        let waiting = self.read(&path, &waiting_cell);
        if name == "cond_signal" {
            let ways = self.signal(&waiting_cell, &waiting);
            let object = SyncObject::new(SyncKind::Condition, &waiting_cell);
            return self.ways(path, &[object], ways, result);
        }
        let owner_cell = self.cell(&mut path, &args[1], 0, 32)?;
        let Some(mut path) = self.check_cell(path, &owner_cell) else {
            return Ok(Vec::new());
        };
        let owner = self.read(&path, &owner_cell);
        let count = if self.world.notes.uses_mutex_kinds {
            let cell = self.cell(&mut path, &args[1], 4, 32)?;
            let count = self.read(&path, &cell);
            Some((cell, count))
        } else {
            None
        };
        let robust = if self.world.notes.uses_robust_mutexes {
            let cell = self.cell(&mut path, &args[1], 8, 32)?;
            let state = self.read(&path, &cell);
            Some((cell, state))
        } else {
            None
        };
        let mutex = Mutex {
            robust,
            is_mine: owner.map(|owner| equal(owner, me())),
            owner_cell,
            owner,
            count,
        };
        let count_cell = mutex.count.as_ref().map(|(cell, _)| cell);
        let objects = [
            SyncObject::new(SyncKind::Mutex, &mutex.owner_cell).with(count_cell),
            SyncObject::new(SyncKind::Condition, &waiting_cell),
        ];
        if name == "cond_sleep" {
            let Some(path) = self.require_owner(path, &mutex.is_mine) else {
                return Ok(Vec::new());
            };
            let spurious = self.world.settings.spurious_wakeups;
            if !spurious {
                self.world.waits.get_or_insert(path.loc);
            }
            let ways = fall_asleep(&waiting_cell, &waiting, &mutex, spurious);
            return self.ways(path, &objects, ways, result);
        }
        let timeout = match args.get(2) {
            Some(Operand::Int { value, .. }) if *value != 0 => Some(*value),
            _ => None,
        };
        let mut ways = wake_up(&waiting_cell, &waiting, &mutex, timeout);
        if let Some(is_cancelled) = self.is_cancelled(&mut path, args.get(3))? {
            ways.push(give_up(&waiting_cell, &waiting, &is_cancelled));
        }
        self.ways(path, &objects, ways, result)
    }

    /// No thread waits, or any one of the waiting threads is woken.
    fn signal<'c>(&self, waiting_cell: &'c Cell, waiting: &Part) -> Vec<Way<'c>> {
        let mut ways = vec![Way {
            condition: is_zero(waiting),
            writes: Vec::new(),
            result: 0,
            action: SyncAction::Fail,
        }];
        for thread in 0..self.world.threads.most() {
            let bit = constant(1 << thread, 64);
            let condition = waiting.map(|waiting| {
                let own = binary(BinaryOp::And, waiting, bit.clone());
                binary(BinaryOp::Ne, own, constant(0, 64))
            });
            let rest = constant(!(1u64 << thread), 64);
            let woken = binary(BinaryOp::And, waiting.now.clone(), rest);
            ways.push(Way {
                condition,
                writes: vec![(waiting_cell, woken)],
                result: 0,
                action: SyncAction::Other,
            });
        }
        ways
    }

    /// What follows a wait without the mutex is not defined, and so not followed if nobody asks for
    /// mistakes with locks.
    fn require_owner(&mut self, path: Path, is_mine: &Part) -> Option<Path> {
        let message = "a thread waits for a condition without holding the mutex";
        if self.world.wants(Property::MutexMisuse) {
            return self.rule(path, is_mine.clone(), message);
        }
        let ways = [negated(is_mine), is_mine.clone()];
        let mut paths = self.split(path, &ways)?.into_iter();
        if let Some(wrong) = paths.next() {
            self.bound(wrong, BoundKind::WaitWithoutMutex, message);
        }
        paths.next()
    }
}

/// A thread whose wait will end spuriously is awake from the beginning and waits for the mutex only.
/// That decision is made here, and not while the thread sleeps, because a spurious wakeup is not
/// something that a program may rely on: a thread that has decided to sleep needs a signal, and where
/// none comes there is a deadlock. Nothing is lost by it: a thread that wakes up later does the same
/// as one that is awake and slow to get the mutex.
///
/// A recursive mutex that was locked several times is given back once, and so stays locked.
fn fall_asleep<'c>(
    waiting_cell: &'c Cell,
    waiting: &Part,
    mutex: &'c Mutex,
    spurious: bool,
) -> Vec<Way<'c>> {
    let with_me = Expr::binary(BinaryOp::Or, waiting.now.clone(), own_bit());
    let mut gives_back = Part::same(Expr::TRUE);
    let mut ways = Vec::new();
    if let Some((count_cell, count)) = &mutex.count {
        let keeps = both(&mutex.is_mine, &negated(&is_zero(count)));
        let fewer = binary(BinaryOp::Sub, count.now.clone(), constant(1, 32));
        // Who does not hold the mutex does not come here.
        gives_back = is_zero(count);
        ways.push(Way {
            condition: keeps,
            writes: vec![(waiting_cell, with_me.clone()), (count_cell, fewer)],
            result: 0,
            action: SyncAction::ReleaseOnce,
        });
    }
    // One that was not made consistent is lost for everybody.
    let free = match &mutex.robust {
        Some((_, state)) => {
            let bit = constant(IS_INCONSISTENT, 32);
            let bit = binary(BinaryOp::And, state.now.clone(), bit);
            let is_consistent = equal(bit, constant(0, 32));
            choose(
                is_consistent,
                constant(0, 32),
                constant(NOT_RECOVERABLE, 32),
            )
        }
        None => constant(0, 32),
    };
    ways.push(Way {
        condition: gives_back,
        writes: vec![(waiting_cell, with_me), (&mutex.owner_cell, free)],
        result: 0,
        action: SyncAction::Release,
    });
    if spurious {
        let awake: Vec<Way> = ways
            .iter()
            .map(|way| Way {
                condition: way.condition.clone(),
                writes: way.writes[1..].to_vec(),
                result: 0,
                action: way.action,
            })
            .collect();
        ways.extend(awake);
    }
    ways
}

/// A thread that is cancelled while it sleeps does not hear of signals any more.
fn give_up<'c>(waiting_cell: &'c Cell, waiting: &Part, is_cancelled: &Part) -> Way<'c> {
    let asleep = waiting.map(|waiting| {
        let own = Expr::binary(BinaryOp::And, waiting, own_bit());
        not(equal(own, constant(0, 64)))
    });
    let without_me = Expr::binary(BinaryOp::And, waiting.now.clone(), not(own_bit()));
    Way {
        condition: both(&asleep, is_cancelled),
        writes: vec![(waiting_cell, without_me)],
        result: CANCELLED,
        action: SyncAction::Fail,
    }
}

fn wake_up<'c>(
    waiting_cell: &'c Cell,
    waiting: &Part,
    mutex: &'c Mutex,
    timeout: Option<u64>,
) -> Vec<Way<'c>> {
    let is_awake = waiting.map(|waiting| {
        let own = Expr::binary(BinaryOp::And, waiting, own_bit());
        equal(own, constant(0, 64))
    });
    let asleep = negated(&is_awake);
    let without_me = Expr::binary(BinaryOp::And, waiting.now.clone(), not(own_bit()));
    let mut locks = vec![(
        is_zero(&mutex.owner),
        (&mutex.owner_cell, me()),
        SyncAction::Acquire,
    )];
    if let Some((count_cell, count)) = &mutex.count {
        let more = binary(BinaryOp::Add, count.now.clone(), constant(1, 32));
        locks.push((
            mutex.is_mine.clone(),
            (count_cell, more),
            SyncAction::AcquireAgain,
        ));
    }
    let mut ways = Vec::new();
    for (possible, write, action) in locks {
        ways.push(Way {
            condition: both(&is_awake, &possible),
            writes: vec![write],
            result: 0,
            action,
        });
    }
    if let Some((state_cell, _)) = &mutex.robust {
        let died = super::is(&mutex.owner, OWNER_DIED);
        ways.push(Way {
            condition: both(&is_awake, &died),
            writes: vec![
                (&mutex.owner_cell, me()),
                (state_cell, constant(IS_ROBUST | IS_INCONSISTENT, 32)),
            ],
            result: EOWNERDEAD,
            action: SyncAction::Acquire,
        });
        let gone = super::is(&mutex.owner, NOT_RECOVERABLE);
        ways.push(Way {
            condition: both(&is_awake, &gone),
            writes: Vec::new(),
            result: ENOTRECOVERABLE,
            action: SyncAction::Fail,
        });
    }
    if let Some(timeout) = timeout {
        ways.push(Way {
            condition: asleep,
            writes: vec![(waiting_cell, without_me)],
            result: timeout,
            action: SyncAction::Fail,
        });
    }
    ways
}

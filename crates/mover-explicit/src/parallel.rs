//! Parallel search on several cores.
//!
//! Every state belongs to one worker, by its hash. A worker keeps its states in its own store,
//! expands them, and sends successors to their owners; only the mailboxes are shared. The work
//! proceeds in rounds: all workers expand some states of the current level, then all look up
//! the states they received. So levels are those of a breadth-first search, a counterexample is
//! as short as with one worker, and the stored states are the same for any number of workers
//! (except where only one thread of a state is expanded, which depends on the order of
//! expansion).
//!
//! Each worker has its own beliefs about exclusive access (see `classify`). They are merged
//! between rounds; if one worker has refuted a belief of another, that other worker runs the
//! affected blocks again.
//!
//! A state of which only one thread was expanded must not postpone the other threads for ever:
//! one of its successors must come later in a well-founded order. Here that is the order of
//! levels and, within a level, of hashes, which does not depend on the order of expansion. The
//! owners report after the round; if there is no such successor, the worker tries another
//! thread in the next round, or all of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mover_ir::program::{BoundMet, LocationId, Property, TemplateId};
use mover_ir::semantics;
use mover_reduce::Movers;

use crate::blocks::{BlockVisitor, Blocks, Halts};
use crate::classify::{Beliefs, Block, Classifier, PhaseTables};
use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, RunEnd, Step, Workspace};
use crate::path_reconstruction::steps_through;
use crate::persistent::{Compared, SetTables, StateVisitor};
use crate::search::{Options, Searched, Wanted, common_halt, ends_in_deadlock, rank};
use crate::store::{NO_PARENT, Store, scramble};
use mover_engine::{Control, Statistics, Stop, Violation};

/// States that a worker expands before it looks at its mail.
const STATES_PER_ROUND: usize = 1 << 11;

/// The same where a state takes longer and the beliefs of the other workers matter soon.
const REDUCED_STATES_PER_ROUND: usize = 1 << 9;

/// Letters that are read before the first is looked up, so that memory is asked in time.
const MAX_PENDING: usize = 16;

/// Lanes sent in a round after which a worker stops expanding.
const LANES_PER_ROUND: usize = 1 << 20;

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A state of some worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Address {
    worker: u16,
    number: u32,
}

/// States in transit to their owner.
#[derive(Default)]
struct Mail {
    lanes: Vec<u64>,
    letters: Vec<Letter>,
}

struct Letter {
    lanes: u32,
    /// Of the lanes, as by [`hash`].
    hash: u64,
    /// The number of the state it comes from.
    from: u32,
    asks: Option<Asks>,
}

/// A state that let a thread continue alone wants to know whether this one comes after it.
#[derive(Clone, Copy)]
enum Asks {
    /// It has this hash and is of the present level.
    WithHash(u64),
    /// It is of an earlier level.
    Again,
}

struct Found {
    property: Property,
    error: Option<(TemplateId, LocationId)>,
    state: Address,
    steps: Vec<Step>,
    depth: u32,
}

/// What all workers see.
struct Shared<'a> {
    machine: &'a Machine,
    tables: Option<&'a PhaseTables>,
    sets: Option<&'a SetTables>,
    is_reduced: bool,
    errors: bool,
    deadlocks: bool,
    watches_races: bool,
    wanted: Wanted<'a>,
    keep_going: bool,
    control: &'a Control,
    barrier: Barrier,
    /// From worker to worker.
    mail: Vec<Vec<Mutex<Mail>>>,
    /// For each worker, which of its states lead to one that comes later.
    fresh: Vec<Mutex<Vec<u32>>>,
    beliefs: Vec<Mutex<Option<Beliefs>>>,
    /// For each worker, whether it has states left in this level and after it.
    left: Vec<Mutex<Left>>,
    found: Mutex<Vec<Found>>,
    violations: AtomicU64,
    /// States seen at the first violation that was asked for; 0 if there is none.
    states_at_first: AtomicU64,
    stopped: Mutex<Option<Stop>>,
    /// Whether `stopped` says why.
    has_stopped: AtomicBool,
    /// For each worker, as of its last round.
    counts: Vec<Counts>,
}

#[derive(Default)]
struct Counts {
    states: AtomicU64,
    transitions: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Clone, Copy, Default)]
struct Left {
    in_level: bool,
    at_all: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which worker owns a state.
fn owner(hash: u64, workers: usize) -> usize {
    (hash >> 32) as usize % workers
}

/// Lanes at the end that are zero do not count: they are threads that do not exist.
fn hash(lanes: &[u64]) -> u64 {
    let used = lanes
        .iter()
        .rposition(|&lane| lane != 0)
        .map_or(0, |last| last + 1);
    let used = lanes[..used].iter();
    used.fold(0, |hash, &lane| scramble(hash ^ lane))
}

/// The state that was read last: the next differs from it in little.
#[derive(Default)]
struct LastRead {
    lanes: Vec<u64>,
    /// Of its lanes in the store.
    numbers: Vec<u32>,
    key: Vec<u32>,
    hash: u64,
}

/// A state that has been read and is to be looked up.
struct Pending {
    /// Of its key.
    hash: u64,
    parent: Address,
    /// Of its lanes.
    hash_of_lanes: u64,
    asks: Option<Asks>,
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    number: usize,
    store: Store,
    parents: Vec<Address>,
    numbers: Vec<u32>,
    key: Vec<u32>,
    last_read: LastRead,
    /// The keys of `pending`, one after the other.
    pending_keys: Vec<u32>,
    pending: Vec<Pending>,
    transitions: u64,
    bounds: BTreeSet<BoundMet>,
    next: u32,
    level_start: u32,
    level_end: u32,
    depth: u32,
    /// Whether data races are still looked for.
    watches_races: bool,
    /// The state that is being expanded.
    state: u32,
    /// Its queries to the owners of its successors.
    asks: Option<Asks>,
    outgoing: Vec<Mail>,
    sent: usize,
    again: Vec<Block>,
    /// States that let a thread continue alone in this round, and which.
    went_on: Vec<(u32, usize)>,
    /// States that could not let a thread continue alone, and which to try next.
    to_retry: Vec<(u32, usize)>,
    looks: u32,
}

/// Explores breadth first with several workers.
pub fn explore(
    machine: &Machine,
    (tables, sets): (Option<&PhaseTables>, Option<&SetTables>),
    options: Options,
    workers: usize,
) -> Searched {
    let started = Instant::now();
    let each = |_: usize| Mutex::new(Mail::default());
    let shared = Shared {
        machine,
        tables,
        sets,
        is_reduced: options.movers.is_some(),
        errors: options.errors,
        deadlocks: options.deadlocks,
        watches_races: options.races && machine.has_accesses(),
        wanted: options.wanted,
        keep_going: options.keep_going,
        control: options.control,
        barrier: Barrier::new(workers),
        mail: (0..workers)
            .map(|_| (0..workers).map(each).collect())
            .collect(),
        fresh: (0..workers).map(|_| Mutex::new(Vec::new())).collect(),
        beliefs: (0..workers).map(|_| Mutex::new(None)).collect(),
        left: (0..workers).map(|_| Mutex::new(Left::default())).collect(),
        found: Mutex::new(Vec::new()),
        violations: AtomicU64::new(0),
        states_at_first: AtomicU64::new(0),
        stopped: Mutex::new(None),
        has_stopped: AtomicBool::new(false),
        counts: (0..workers).map(|_| Counts::default()).collect(),
    };
    let mut depth = 0;
    let progress = options.progress;
    let finished: Vec<Worker> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|number| {
                let shared = &shared;
                scope.spawn(move || Worker::new(shared, number).run())
            })
            .collect();
        let mut next_progress = Instant::now() + PROGRESS_EVERY;
        while !handles.iter().all(|handle| handle.is_finished()) {
            std::thread::sleep(Duration::from_millis(1));
            if Instant::now() >= next_progress {
                next_progress = Instant::now() + PROGRESS_EVERY;
                progress(&shared.statistics(started, 0));
            }
        }
        let joined = handles.into_iter().filter_map(|handle| handle.join().ok());
        let mut workers = Vec::new();
        for (worker, levels) in joined {
            depth = depth.max(levels);
            workers.push(worker);
        }
        workers
    });
    if finished.len() < workers {
        // A worker that panicked has taken states with it.
        panic!("a worker of the parallel search failed");
    }
    let mut statistics = shared.statistics(started, depth);
    let mut found = std::mem::take(&mut *lock(&shared.found));
    // One of each property, whoever found it first.
    found.sort_by_key(|found| {
        let rank = rank(found.property, found.depth);
        (rank, found.state.worker, found.state.number)
    });
    let mut known: BTreeSet<Property> = BTreeSet::new();
    found.retain(|found| known.insert(found.property));
    statistics.violations = if shared.keep_going {
        shared.violations.load(Ordering::Relaxed)
    } else {
        found.len() as u64
    };
    let gave_up = !shared.has_stopped() && !shared.is_done() && shared.is_enough();
    let violations = found.iter().map(|found| Violation {
        property: found.property,
        error: found.error,
        steps: rebuild(&shared, &finished, options.movers, found),
    });
    let violations: Vec<Violation> = violations.collect();
    let bounds: BTreeSet<BoundMet> = finished
        .iter()
        .flat_map(|worker| worker.bounds.iter().copied())
        .collect();
    Searched {
        violations,
        gave_up,
        dropped: None,
        bounds: bounds.into_iter().collect(),
        stopped: *lock(&shared.stopped),
        refusal: machine.refusal().map(str::to_string),
        broken_claims: Vec::new(),
        statistics,
    }
}

impl Shared<'_> {
    fn statistics(&self, started: Instant, depth: u64) -> Statistics {
        Statistics {
            states: self.total(|counts| &counts.states),
            transitions: self.total(|counts| &counts.transitions),
            depth,
            bytes: self.total(|counts| &counts.bytes),
            time: started.elapsed(),
            ..Statistics::default()
        }
    }

    fn total(&self, count: fn(&Counts) -> &AtomicU64) -> u64 {
        let counts = self.counts.iter().map(count);
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Whether all that is wanted was found.
    fn is_done(&self) -> bool {
        let found = lock(&self.found);
        let is_found = |property| found.iter().any(|found| found.property == property);
        !self.keep_going && self.wanted.is_found(is_found)
    }

    /// Whether the search has continued long enough after a violation.
    fn is_enough(&self) -> bool {
        let before = self.states_at_first.load(Ordering::Relaxed);
        let now = self.total(|counts| &counts.states);
        !self.keep_going && before > 0 && Wanted::is_enough(before, now)
    }

    fn stop(&self, why: Stop) {
        lock(&self.stopped).get_or_insert(why);
        self.has_stopped.store(true, Ordering::Release);
    }

    fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Acquire)
    }
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, number: usize) -> Self {
        let workers = shared.mail.len();
        let mut worker = Worker {
            shared,
            number,
            store: Store::new(shared.machine.initial().len()),
            parents: Vec::new(),
            numbers: Vec::new(),
            key: Vec::new(),
            last_read: LastRead::default(),
            pending_keys: Vec::new(),
            pending: Vec::new(),
            transitions: 0,
            bounds: BTreeSet::new(),
            next: 0,
            level_start: 0,
            level_end: 0,
            depth: 0,
            watches_races: shared.watches_races,
            state: 0,
            asks: None,
            outgoing: (0..workers).map(|_| Mail::default()).collect(),
            sent: 0,
            again: Vec::new(),
            went_on: Vec::new(),
            to_retry: Vec::new(),
            looks: 0,
        };
        if owner(hash(shared.machine.initial()), workers) == number {
            let nobody = Address {
                worker: 0,
                number: NO_PARENT,
            };
            worker.read(shared.machine.initial(), 0, nobody, None);
            worker.look_up_pending();
        }
        worker.level_end = worker.store.len();
        worker
    }

    /// Works until there is nothing left; returns how many levels there were.
    fn run(mut self) -> (Self, u64) {
        let shared = self.shared;
        let mut expander = Expander::new(shared.machine, shared.keep_going);
        let classifier = shared
            .tables
            .map(|tables| Classifier::new(shared.machine, tables));
        let mut blocks = shared.is_reduced.then(|| {
            Blocks::new(shared.machine, classifier, shared.deadlocks).with_sets(shared.sets)
        });
        let mut levels = 0;
        loop {
            self.expand_some(&mut expander, &mut blocks);
            for (to, mail) in self.outgoing.iter_mut().enumerate() {
                *lock(&shared.mail[self.number][to]) = std::mem::take(mail);
            }
            self.sent = 0;
            shared.barrier.wait();
            self.look_up();
            *lock(&shared.beliefs[self.number]) = blocks
                .as_mut()
                .and_then(|blocks| blocks.stepper.classifier.as_mut())
                .and_then(|classifier| classifier.ledger.changed_beliefs());
            shared.barrier.wait();
            self.hear(&mut blocks);
            let ledger = blocks.as_ref().map_or(0, Blocks::bytes);
            let bytes = self.store.bytes() + self.parents.capacity() * 8 + ledger;
            let counts = &shared.counts[self.number];
            counts.bytes.store(bytes as u64, Ordering::Relaxed);
            let states = u64::from(self.store.len());
            counts.states.store(states, Ordering::Relaxed);
            counts
                .transitions
                .store(self.transitions, Ordering::Relaxed);
            let waits = !self.again.is_empty() || !self.to_retry.is_empty();
            *lock(&shared.left[self.number]) = Left {
                in_level: self.next < self.level_end || waits,
                at_all: self.next < self.store.len() || waits,
            };
            shared.barrier.wait();
            let left = |which: fn(&Left) -> bool| shared.left.iter().any(|left| which(&lock(left)));
            let has_stopped = shared.has_stopped();
            let is_level_done = !left(|left| left.in_level);
            let is_found = shared.is_done() || shared.is_enough();
            let is_done = has_stopped || (is_level_done && (is_found || !left(|left| left.at_all)));
            // No worker may change the data of the decision before all have decided.
            shared.barrier.wait();
            if is_done {
                return (self, levels);
            }
            if is_level_done {
                self.depth += 1;
                self.level_start = self.level_end;
                self.level_end = self.store.len();
                levels += 1;
            }
        }
    }

    fn expand_some(&mut self, expander: &mut Expander<'a>, blocks: &mut Option<Blocks<'a>>) {
        let shared = self.shared;
        let most = if shared.is_reduced {
            REDUCED_STATES_PER_ROUND
        } else {
            STATES_PER_ROUND
        };
        for _ in 0..most {
            if self.sent >= LANES_PER_ROUND {
                return;
            }
            let (number, only, first) = if let Some((number, first)) = self.to_retry.pop() {
                (number, None, first)
            } else if let Some(block) = self.again.pop() {
                (block.state, block.thread, 0)
            } else if self.next < self.level_end {
                self.next += 1;
                (self.next - 1, None, 0)
            } else {
                return;
            };
            self.look(0);
            if shared.has_stopped() {
                return;
            }
            self.state = number;
            let lanes = &mut expander.work.lanes;
            self.store
                .load(number, &mut self.numbers, lanes, &mut self.key);
            let expansion = match blocks {
                Some(blocks) => {
                    let lanes = expander.work.lanes.clone();
                    self.run_blocks(blocks, &lanes, only, first)
                }
                None => {
                    if self.watches_races && shared.machine.has_race(&expander.work.lanes) {
                        self.report(Property::NoDataRace, None, Vec::new());
                    }
                    expander.expand(self)
                }
            };
            if shared.machine.refusal().is_some() {
                shared.stop(Stop::Refused);
            }
            let lanes = &expander.work.lanes;
            if let (Expansion::Stuck, true) = (expansion, shared.deadlocks)
                && !shared.machine.is_proper_end(lanes)
            {
                self.report(Property::NoDeadlock, None, Vec::new());
            }
        }
    }

    fn run_blocks(
        &mut self,
        blocks: &mut Blocks<'a>,
        lanes: &[u64],
        only: Option<u16>,
        first: usize,
    ) -> Expansion {
        let shared = self.shared;
        if only.is_none()
            && let Some(mut sets) = blocks.sets.take()
        {
            let compared = Compared {
                deadlocks: shared.deadlocks,
                races: self.watches_races,
            };
            let expansion = sets.expand(blocks, lanes, self.state, compared, self);
            blocks.sets = Some(sets);
            if let Some(classifier) = &mut blocks.stepper.classifier {
                self.again.extend(classifier.ledger.take_invalid());
            }
            return match expansion {
                Expansion::Stopped => Expansion::Stopped,
                Expansion::Done | Expansion::Stuck => Expansion::Done,
            };
        }
        let is_run_time = blocks.stepper.classifier.is_some();
        if only.is_none() && is_run_time && self.go_on(blocks, lanes, first) {
            return Expansion::Done;
        }
        blocks.races.is_on = self.watches_races;
        blocks.races.clear();
        // What is found by comparing the blocks of all threads rests on all of them.
        let is_compared = shared.deadlocks || self.watches_races;
        let mut halts: Vec<Halts> = Vec::new();
        let mut counted_on = Vec::new();
        for thread in 0..shared.machine.threads(lanes) {
            if only.is_some_and(|only| usize::from(only) != thread) {
                continue;
            }
            loop {
                if let Expansion::Stopped = blocks.run(lanes, thread, self) {
                    return Expansion::Stopped;
                }
                let Some(classifier) = &mut blocks.stepper.classifier else {
                    break;
                };
                let (used, holds) = classifier.finish_block();
                if !holds {
                    blocks.races.forget(thread);
                    continue;
                }
                if is_compared {
                    counted_on.extend_from_slice(used);
                } else {
                    let used = used.to_vec();
                    let block = Block {
                        state: self.state,
                        thread: Some(thread as u16),
                    };
                    classifier.ledger.rely(block, &used);
                }
                break;
            }
            halts.push(blocks.take_halts());
        }
        if let Some(classifier) = &mut blocks.stepper.classifier {
            counted_on.sort_unstable();
            counted_on.dedup();
            let block = Block {
                state: self.state,
                thread: None,
            };
            classifier.ledger.rely(block, &counted_on);
            self.again.extend(classifier.ledger.take_invalid());
        }
        if self.watches_races
            && let Some(steps) = blocks.races.race(shared.machine, lanes)
        {
            self.report(Property::NoDataRace, None, steps);
        }
        if shared.deadlocks
            && let Some(steps) = common_halt(halts)
            && ends_in_deadlock(shared.machine, lanes, &steps)
        {
            self.report(Property::NoDeadlock, None, steps);
        }
        Expansion::Done
    }

    /// Expands one thread only, if possible; whether that is sufficient is known after the round.
    fn go_on(&mut self, blocks: &mut Blocks<'a>, lanes: &[u64], first: usize) -> bool {
        for thread in first..self.shared.machine.threads(lanes) {
            if !blocks.can_go_on(lanes, thread) {
                continue;
            }
            let is_present = self.state >= self.level_start;
            self.asks = Some(if is_present {
                Asks::WithHash(hash(lanes))
            } else {
                Asks::Again
            });
            let expansion = blocks.go_on(lanes, thread, self);
            self.asks = None;
            if let Expansion::Stopped = expansion {
                return true;
            }
            let Some(classifier) = &mut blocks.stepper.classifier else {
                return false;
            };
            let (used, holds) = classifier.finish_block();
            if !holds {
                continue;
            }
            let used = used.to_vec();
            let block = Block {
                state: self.state,
                thread: None,
            };
            classifier.ledger.rely(block, &used);
            self.again.extend(classifier.ledger.take_invalid());
            self.went_on.push((self.state, thread));
            return true;
        }
        false
    }

    fn send(&mut self, lanes: &[u64]) {
        self.transitions += 1;
        let hash = hash(lanes);
        let to = owner(hash, self.outgoing.len());
        let mail = &mut self.outgoing[to];
        mail.lanes.extend_from_slice(lanes);
        mail.letters.push(Letter {
            lanes: lanes.len() as u32,
            hash,
            from: self.state,
            asks: self.asks,
        });
        self.sent += lanes.len();
    }

    /// Looks up the states that were sent to this worker.
    fn look_up(&mut self) {
        let shared = self.shared;
        for from in 0..shared.mail.len() {
            let mail = std::mem::take(&mut *lock(&shared.mail[from][self.number]));
            let mut start = 0;
            for letter in mail.letters {
                let end = start + letter.lanes as usize;
                let parent = Address {
                    worker: from as u16,
                    number: letter.from,
                };
                let lanes = &mail.lanes[start..end];
                if !self.read(lanes, letter.hash, parent, letter.asks) {
                    return;
                }
                start = end;
            }
            if !self.look_up_pending() {
                return;
            }
        }
    }

    /// Merges what the other workers have found.
    fn hear(&mut self, blocks: &mut Option<Blocks<'a>>) {
        let fresh = std::mem::take(&mut *lock(&self.shared.fresh[self.number]));
        let went_on = std::mem::take(&mut self.went_on);
        let stuck = went_on.iter().filter(|(state, _)| !fresh.contains(state));
        self.to_retry
            .extend(stuck.map(|&(state, thread)| (state, thread + 1)));
        let classifier = blocks
            .as_mut()
            .and_then(|blocks| blocks.stepper.classifier.as_mut());
        if let Some(classifier) = classifier {
            for (worker, beliefs) in self.shared.beliefs.iter().enumerate() {
                if worker != self.number
                    && let Some(beliefs) = &*lock(beliefs)
                {
                    classifier.ledger.hear(beliefs);
                }
            }
            self.again.extend(classifier.ledger.take_invalid());
        }
    }

    /// Reads a state that is to be looked up soon. False if there is no room for the states
    /// read before.
    fn read(
        &mut self,
        lanes: &[u64],
        hash_of_lanes: u64,
        parent: Address,
        asks: Option<Asks>,
    ) -> bool {
        let is_first = lanes.len() > self.store.lanes() || self.last_read.lanes.is_empty();
        if is_first {
            if !self.look_up_pending() {
                return false;
            }
            self.store.ensure_lanes(lanes.len());
        }
        let count = self.store.lanes();
        let last = &mut self.last_read;
        last.lanes.resize(count, 0);
        last.numbers.resize(count, 0);
        let mut fits = true;
        let padding = std::iter::repeat(&0);
        for (lane, &value) in lanes.iter().chain(padding).take(count).enumerate() {
            if value == last.lanes[lane] && !is_first {
                continue;
            }
            let (number, has_room) = self.store.intern(lane, value);
            fits &= has_room;
            if fits && !is_first {
                self.store.patch(&mut last.key, lane, number);
                let change = self.store.hash_change(lane, last.numbers[lane], number);
                last.hash = last.hash.wrapping_add(change);
            }
            last.lanes[lane] = value;
            last.numbers[lane] = number;
        }
        if !fits {
            // The states read before have keys of the present layout.
            if !self.look_up_pending() {
                return false;
            }
            self.store.relayout();
        }
        let last = &mut self.last_read;
        if !fits || is_first {
            last.hash = self.store.encode(&last.numbers, &mut last.key);
        }
        self.store.prefetch(last.hash);
        self.pending_keys.extend_from_slice(&last.key);
        self.pending.push(Pending {
            hash: last.hash,
            parent,
            hash_of_lanes,
            asks,
        });
        self.pending.len() < MAX_PENDING || self.look_up_pending()
    }

    /// Looks up the states that have been read, adds those that are new, and tells the workers
    /// that asked. False if there is no room.
    fn look_up_pending(&mut self) -> bool {
        let words = self.store.words();
        for (position, pending) in self.pending.drain(..).enumerate() {
            let key = &self.pending_keys[position * words..(position + 1) * words];
            let Ok(inserted) = self.store.insert(key, pending.hash, NO_PARENT) else {
                self.shared.stop(Stop::StoreFull);
                return false;
            };
            if inserted.is_new {
                self.parents.push(pending.parent);
            }
            let number = inserted.number;
            let comes_later = number >= self.level_end
                || match pending.asks {
                    Some(Asks::WithHash(asking)) => {
                        number >= self.level_start && pending.hash_of_lanes > asking
                    }
                    _ => false,
                };
            if pending.asks.is_some() && comes_later {
                let asking = usize::from(pending.parent.worker);
                lock(&self.shared.fresh[asking]).push(pending.parent.number);
            }
        }
        self.pending_keys.clear();
        true
    }

    fn report(
        &mut self,
        property: Property,
        error: Option<(TemplateId, LocationId)>,
        steps: Vec<Step>,
    ) {
        let shared = self.shared;
        shared.violations.fetch_add(1, Ordering::Relaxed);
        if property == Property::NoDataRace {
            self.watches_races = false;
        }
        if shared.wanted.properties.contains(&property) {
            let states = shared.total(|counts| &counts.states).max(1);
            let first = &shared.states_at_first;
            let _ = first.compare_exchange(0, states, Ordering::Relaxed, Ordering::Relaxed);
        }
        let mut found = lock(&shared.found);
        // One of each property from each worker is enough to choose the first of all.
        let is_known = found.iter().any(|other| {
            usize::from(other.state.worker) == self.number && other.property == property
        });
        if !is_known {
            found.push(Found {
                property,
                error,
                state: Address {
                    worker: self.number as u16,
                    number: self.state,
                },
                steps,
                depth: self.depth,
            });
        }
    }

    fn meet_run_end(&mut self, end: RunEnd, steps: impl FnOnce() -> Vec<Step>) -> ControlFlow<()> {
        self.transitions += 1;
        match end.violates {
            None => {
                self.bounds.insert(end.bound_met());
            }
            Some(property) if self.shared.errors || property != Property::UnreachCall => {
                let place = (end.template, end.location);
                self.report(property, Some(place), steps());
            }
            Some(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Inspects the clock, the memory and requests to stop, from time to time.
    fn look(&mut self, extra_bytes: usize) {
        self.looks += 1;
        if extra_bytes == 0 && !self.looks.is_multiple_of(64) {
            return;
        }
        let shared = self.shared;
        let all = shared.total(|counts| &counts.bytes) as usize;
        let bytes = all + extra_bytes + self.store.next_growth();
        if let Some(stop) = shared.control.stop_at(bytes) {
            shared.stop(stop);
        }
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.look(bytes.max(1));
        if self.shared.has_stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Visitor for Worker<'_> {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        match event {
            Event::Successor => self.send(&work.lanes),
            Event::RunEnd(end) => return self.meet_run_end(end, || path.steps().collect()),
        }
        ControlFlow::Continue(())
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, path: Path) {
        if self.watches_races && self.shared.machine.is_in_race(&work.lanes, thread) {
            self.report(Property::NoDataRace, None, path.steps().collect());
        }
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        Worker::tick(self, bytes)
    }
}

impl StateVisitor for Worker<'_> {
    fn violated(&mut self, property: Property, steps: Vec<Step>) {
        self.report(property, None, steps);
    }
}

impl BlockVisitor for Worker<'_> {
    fn emit(&mut self, lanes: &[u64]) -> ControlFlow<()> {
        self.send(lanes);
        ControlFlow::Continue(())
    }

    fn run_ends(&mut self, end: RunEnd, steps: Vec<Step>) -> ControlFlow<()> {
        self.meet_run_end(end, || steps)
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        Worker::tick(self, bytes)
    }
}

/// The whole path to a violation, found again from the parents.
fn rebuild(
    shared: &Shared,
    workers: &[Worker],
    movers: Option<&Movers>,
    found: &Found,
) -> Vec<semantics::Step> {
    let mut states = Vec::new();
    let mut at = found.state;
    while at.number != NO_PARENT {
        let worker = &workers[usize::from(at.worker)];
        let (mut numbers, mut lanes, mut key) = (Vec::new(), Vec::new(), Vec::new());
        worker
            .store
            .load(at.number, &mut numbers, &mut lanes, &mut key);
        states.push(lanes);
        at = worker.parents[at.number as usize];
    }
    states.reverse();
    let go_on = shared.keep_going;
    steps_through(shared.machine, movers, go_on, &states, &found.steps)
}

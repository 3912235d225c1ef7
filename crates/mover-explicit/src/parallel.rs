//! Parallel search on several cores.
//!
//! All workers share one store (`shared_store`), so a successor is looked up where it is found and nothing is sent. The
//! search proceeds by levels: the states found while one level is expanded are the next. So a counterexample is as
//! short as with one worker, and the stored states are the same for any number of workers (except where
//! only one thread of a state is expanded, or a belief was refuted, which depends on the order of expansion).
//!
//! Within a level the order is free. Each worker begins with the states that it found itself and then steals from
//! the others, a few states at a time. Workers wait for each other only at the end of a level. A narrow level is
//! expanded by one worker, while the others sleep: waking them would take longer.
//!
//! Each worker has its own beliefs about exclusive access (see `classify`), and publishes them from time to time
//! when they change. The others hear of it before their next state; who relied on a belief that another has
//! refuted runs the affected blocks again. A level ends when nobody has news and nobody has blocks to run again.
//!
//! A state of which only one thread was expanded must not postpone the other threads for ever: one of its
//! successors must come later in a well-founded order. Here that is the order of levels: one of its successors
//! must be of the next level. Levels are closed when they begin, by one worker, so the answer
//! depends neither on the number of workers nor on their speed.

mod conclusion;
mod exchange;
mod level;
mod meeting;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mover_ir::program::{BoundMet, LocationId, Property, TemplateId};
use mover_ir::semantics;
use mover_reduce::Movers;

use crate::blocks::{BlockVisitor, Blocks, Halts};
use crate::classify::{Beliefs, Block, Classifier, PhaseTables};
use crate::distributed::Peers;
use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, RunEnd, Step, Workspace};
use crate::parallel::exchange::{Decision, Elsewhere, Exchange};
use crate::parallel::level::Level;
use crate::parallel::meeting::Meeting;
use crate::path_reconstruction::steps_through;
use crate::persistent::{Compared, SetTables, StateVisitor};
use crate::search::{Options, Searched, Trial, Wanted, common_halt, ends_in_deadlock, rank};
use crate::shared_store::{SharedStore, View};
use crate::store::StoreFull;
use mover_engine::{Control, Statistics, Stop, Violation};

/// Expansions between two looks at the clock, and between two publications of beliefs.
const EXPANSIONS_PER_LOOK: u32 = 64;

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

struct Found {
    property: Property,
    error: Option<(TemplateId, LocationId)>,
    state: u32,
    worker: usize,
    steps: Vec<Step>,
    depth: u32,
}

/// What a worker believes, and how often that has changed.
#[derive(Default)]
struct News {
    beliefs: Option<Arc<Beliefs>>,
    version: u64,
}

/// What all workers see.
struct Shared<'a> {
    machine: &'a Machine,
    tables: Option<&'a PhaseTables>,
    sets: Option<&'a SetTables>,
    is_reduced: bool,
    /// Whether it matters which states are closed.
    closes: bool,
    errors: bool,
    deadlocks: bool,
    watches_races: bool,
    wanted: Wanted<'a>,
    keep_going: bool,
    control: &'a Control,
    store: SharedStore,
    meeting: Meeting,
    level: Mutex<Arc<Level>>,
    /// How many levels have begun.
    levels: AtomicU32,
    is_over: AtomicBool,
    /// A level with fewer states is expanded by one worker.
    narrow: usize,
    /// For each worker, the states of the next level that it found.
    next: Vec<Mutex<Vec<u32>>>,
    /// Bytes of the present level and the next.
    level_bytes: AtomicUsize,
    news: Vec<Mutex<News>>,
    /// How often news were published.
    publications: AtomicU64,
    /// Blocks that are to be run again in this level.
    waiting: AtomicU64,
    found: Mutex<Vec<Found>>,
    violations: AtomicU64,
    /// States seen at the first violation that was asked for; 0 if there is none.
    states_at_first: AtomicU64,
    stopped: Mutex<Option<Stop>>,
    /// Whether `stopped` says why.
    has_stopped: AtomicBool,
    /// The part of this process in a distributed search; the worker takes it.
    exchange: Mutex<Option<Exchange>>,
    /// What the other processes have told.
    elsewhere: Mutex<Elsewhere>,
    /// For each worker, as of its last look.
    counts: Vec<Counts>,
}

/// Aligned, so that workers do not write to the same cache line.
#[derive(Default)]
#[repr(align(128))]
struct Counts {
    states: AtomicU64,
    transitions: AtomicU64,
    bytes: AtomicU64,
    persistent: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    number: usize,
    view: View<'a>,
    transitions: u64,
    bounds: BTreeSet<BoundMet>,
    depth: u32,
    /// Whether data races are still looked for.
    watches_races: bool,
    /// Blocks that relied on a belief that was refuted.
    again: Vec<Block>,
    /// Which news of the others were heard: all publications, and those of each.
    heard: u64,
    versions: Vec<u64>,
    looks: u32,
    /// Set if there are other processes; then there is one worker.
    exchange: Option<Exchange>,
}

/// Explores breadth first with several workers.
pub fn explore(
    machine: &Machine,
    (tables, sets): (Option<&PhaseTables>, Option<&SetTables>),
    options: Options,
    workers: usize,
    peers: Option<Peers>,
) -> Searched {
    let started = Instant::now();
    let shared = Shared {
        machine,
        tables,
        sets,
        is_reduced: options.movers.is_some(),
        closes: tables.is_some() && sets.is_none() && peers.is_none(),
        errors: options.errors,
        deadlocks: options.deadlocks,
        watches_races: options.races && machine.has_accesses(),
        wanted: options.wanted,
        keep_going: options.keep_going,
        control: options.control,
        store: SharedStore::new(workers, machine.initial().len()),
        meeting: Meeting::new(workers),
        level: Mutex::default(),
        levels: AtomicU32::new(0),
        is_over: AtomicBool::new(false),
        narrow: options.narrow * (workers - 1),
        next: (0..workers).map(|_| Mutex::default()).collect(),
        level_bytes: AtomicUsize::new(0),
        news: (0..workers).map(|_| Mutex::default()).collect(),
        publications: AtomicU64::new(0),
        waiting: AtomicU64::new(0),
        found: Mutex::new(Vec::new()),
        violations: AtomicU64::new(0),
        states_at_first: AtomicU64::new(0),
        stopped: Mutex::new(None),
        has_stopped: AtomicBool::new(false),
        exchange: Mutex::new(peers.map(Exchange::new)),
        elsewhere: Mutex::default(),
        counts: (0..workers).map(|_| Counts::default()).collect(),
    };
    let progress = options.progress;
    let finished: Vec<BTreeSet<BoundMet>> = std::thread::scope(|scope| {
        let (working, is_working) = mpsc::channel::<()>();
        let handles: Vec<_> = (0..workers)
            .map(|number| {
                let (shared, working) = (&shared, working.clone());
                scope.spawn(move || {
                    let _attendance = shared.meeting.attend();
                    let bounds = Worker::new(shared, number).run();
                    drop(working);
                    bounds
                })
            })
            .collect();
        drop(working);
        // Nothing is ever sent; the channel is closed when the last worker has ended.
        while let Err(RecvTimeoutError::Timeout) = is_working.recv_timeout(PROGRESS_EVERY) {
            progress(&shared.statistics(started));
        }
        let joined = handles.into_iter().filter_map(|handle| handle.join().ok());
        joined.collect()
    });
    if finished.len() < workers {
        // A worker that panicked may not have expanded the states that it took.
        panic!("a worker of the parallel search failed");
    }
    let bounds: BTreeSet<BoundMet> = finished.into_iter().flatten().collect();
    if let Some(exchange) = lock(&shared.exchange).take() {
        return conclusion::conclude(&shared, exchange, options.movers, bounds, started);
    }
    let mut statistics = shared.statistics(started);
    let mut found = std::mem::take(&mut *lock(&shared.found));
    // One of each property, whoever found it first.
    found.sort_by_key(|found| {
        let rank = rank(found.property, found.depth);
        (rank, found.worker, found.state)
    });
    let mut known: BTreeSet<Property> = BTreeSet::new();
    found.retain(|found| known.insert(found.property));
    statistics.violations = if shared.keep_going {
        shared.violations.load(Ordering::Relaxed)
    } else {
        found.len() as u64
    };
    let gave_up = !shared.has_stopped() && !shared.is_done() && shared.is_enough();
    let mut violations = Vec::new();
    for found in &found {
        let Ok(steps) = rebuild(&shared, options.movers, found) else {
            shared.stop(Stop::StoreFull);
            continue;
        };
        violations.push(Violation {
            property: found.property,
            error: found.error,
            steps,
        });
    }
    let stopped = *lock(&shared.stopped);
    Searched {
        violations,
        gave_up,
        dropped: None,
        trial: Trial::First,
        bounds: bounds.into_iter().collect(),
        stopped,
        refusal: machine.refusal().map(str::to_string),
        lost: None,
        broken_claims: Vec::new(),
        statistics,
    }
}

impl Shared<'_> {
    fn statistics(&self, started: Instant) -> Statistics {
        let (own, elsewhere) = (self.own(), *lock(&self.elsewhere));
        Statistics {
            states: own.states + elsewhere.states,
            transitions: own.transitions + elsewhere.transitions,
            persistent: own.persistent + elsewhere.persistent,
            depth: self.depth().into(),
            bytes: self.bytes() as u64 + elsewhere.bytes,
            time: started.elapsed(),
            ..Statistics::default()
        }
    }

    /// What this process has counted.
    fn own(&self) -> Elsewhere {
        Elsewhere {
            states: self.total(|counts| &counts.states),
            transitions: self.total(|counts| &counts.transitions),
            persistent: self.total(|counts| &counts.persistent),
            bytes: self.bytes() as u64,
        }
    }

    fn total(&self, count: fn(&Counts) -> &AtomicU64) -> u64 {
        let counts = self.counts.iter().map(count);
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn bytes(&self) -> usize {
        self.store.bytes()
            + self.total(|counts| &counts.bytes) as usize
            + self.level_bytes.load(Ordering::Relaxed)
            + self.machine.object_bytes()
    }

    fn depth(&self) -> u32 {
        self.levels.load(Ordering::Relaxed).saturating_sub(1)
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

    fn set_level(&self, level: Level) {
        *lock(&self.level) = Arc::new(level);
    }
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, number: usize) -> Self {
        Worker {
            shared,
            number,
            view: View::new(&shared.store, number),
            transitions: 0,
            bounds: BTreeSet::new(),
            depth: 0,
            watches_races: shared.watches_races,
            again: Vec::new(),
            heard: 0,
            versions: vec![0; shared.news.len()],
            looks: 0,
            exchange: None,
        }
    }

    /// Works until there is nothing left; returns the bounds that it met.
    fn run(mut self) -> BTreeSet<BoundMet> {
        let shared = self.shared;
        let mut expander = Expander::new(shared.machine, shared.keep_going);
        let classifier = shared
            .tables
            .map(|tables| Classifier::new(shared.machine, tables));
        let keep_deadlocks = shared.deadlocks || shared.machine.uses_timeout();
        let mut blocks = shared.is_reduced.then(|| {
            Blocks::new(shared.machine, classifier, keep_deadlocks).with_sets(shared.sets)
        });
        if self.number == 0 {
            self.exchange = lock(&shared.exchange).take();
            if self.is_own(shared.machine.initial()) {
                let added = self.view.add_first(shared.machine.initial());
                self.check(added);
            }
        }
        self.run_levels(&mut expander, &mut blocks);
        if self.exchange.is_some() {
            *lock(&shared.exchange) = self.exchange.take();
        }
        self.bounds
    }

    fn run_levels(&mut self, expander: &mut Expander<'a>, blocks: &mut Option<Blocks<'a>>) {
        let shared = self.shared;
        loop {
            let level = lock(&shared.level).clone();
            self.expand_level(&level, expander, blocks);
            self.publish(blocks);
            drop(level);
            if !shared.meeting.wait() {
                return;
            }
            if shared.tables.is_some() {
                self.hear(blocks);
                let waiting = self.again.len() as u64;
                shared.waiting.fetch_add(waiting, Ordering::Relaxed);
                if !shared.meeting.wait() {
                    return;
                }
            }
            if self.number == 0 {
                self.next_level(expander, blocks);
            }
            // Nobody reads the level before it has been chosen.
            if !shared.meeting.wait() || shared.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.depth = shared.depth();
        }
    }

    /// Chooses what all do next, while the others wait; expands narrow levels itself.
    fn next_level(&mut self, expander: &mut Expander<'a>, blocks: &mut Option<Blocks<'a>>) {
        let shared = self.shared;
        // Those whose blocks are to be run again do so, the others have nothing to do.
        let is_unfinished = shared.waiting.swap(0, Ordering::Relaxed) > 0;
        shared.set_level(Level::default());
        self.end_round(blocks);
        let decision = self.exchange.as_ref().map(|exchange| exchange.decision);
        let goes_again = match decision {
            None => is_unfinished && !shared.has_stopped(),
            Some(decision) => decision == Decision::Again,
        };
        if goes_again {
            return;
        }
        loop {
            let next = shared
                .next
                .iter()
                .map(|next| std::mem::take(&mut *lock(next)));
            let next: Vec<Vec<u32>> = next.collect();
            let total: usize = next.iter().map(Vec::len).sum();
            let is_over = match decision {
                None => {
                    shared.has_stopped() || shared.is_done() || shared.is_enough() || total == 0
                }
                Some(decision) => decision != Decision::NextLevel,
            };
            if is_over {
                shared.is_over.store(true, Ordering::Relaxed);
                return;
            }
            shared.levels.fetch_add(1, Ordering::Relaxed);
            self.depth = shared.depth();
            let bytes = next.iter().map(|next| next.capacity() * 4).sum();
            shared.level_bytes.store(bytes, Ordering::Relaxed);
            if shared.closes {
                let states = next.iter().flatten();
                states.for_each(|&state| shared.store.close(state));
            }
            let level = Level::new(next);
            if total >= shared.narrow {
                shared.set_level(level);
                return;
            }
            let published = shared.publications.load(Ordering::Relaxed);
            self.expand_level(&level, expander, blocks);
            self.publish(blocks);
            if shared.publications.load(Ordering::Relaxed) != published {
                // The others have to hear this before the search may end.
                return;
            }
        }
    }

    /// Expands states of the level, and blocks that are to be run again, until there are none left to take.
    fn expand_level(
        &mut self,
        level: &Level,
        expander: &mut Expander<'a>,
        blocks: &mut Option<Blocks<'a>>,
    ) {
        let shared = self.shared;
        let mut taken: (usize, Range<usize>) = (0, 0..0);
        while !shared.has_stopped() {
            let (number, only) = if let Some(block) = self.again.pop() {
                (block.state, block.thread)
            } else {
                if taken.1.is_empty() {
                    let Some(more) = level.take(self.number) else {
                        break;
                    };
                    taken = more;
                }
                let (segment, range) = &mut taken;
                let Some(position) = range.next() else {
                    break;
                };
                (level.segments[*segment].states[position], None)
            };
            self.looks += 1;
            if self.looks == EXPANSIONS_PER_LOOK {
                self.looks = 0;
                self.publish(blocks);
                self.look(0);
                self.poll();
            }
            if shared.publications.load(Ordering::Relaxed) != self.heard {
                self.hear(blocks);
            }
            self.expand(number, only, expander, blocks);
        }
        let flushed = self.view.flush();
        self.check(flushed);
        lock(&shared.next[self.number]).append(&mut self.view.found);
        self.count(blocks);
    }

    fn expand(
        &mut self,
        number: u32,
        only: Option<u16>,
        expander: &mut Expander<'a>,
        blocks: &mut Option<Blocks<'a>>,
    ) {
        let machine = self.shared.machine;
        let started = self.view.start(number, &mut expander.work.lanes);
        let started = started.and_then(|()| self.name_parent());
        if !self.check(started) {
            return;
        }
        let expansion = match blocks {
            Some(blocks) => match self.run_blocks(blocks, &expander.work.lanes, only) {
                // Only steps that wait for `timeout` are left.
                Expansion::Stuck if machine.uses_timeout() => match expander.expand(self) {
                    Expansion::Stopped => Expansion::Stopped,
                    Expansion::Done | Expansion::Stuck => Expansion::Done,
                },
                Expansion::Stuck => Expansion::Done,
                ran => ran,
            },
            None => {
                if self.watches_races && machine.has_race(&expander.work.lanes) {
                    self.report(Property::NoDataRace, None, Vec::new());
                }
                expander.expand(self)
            }
        };
        if machine.refusal().is_some() {
            self.shared.stop(Stop::Refused);
        }
        let lanes = &expander.work.lanes;
        if let (Expansion::Stuck, true) = (expansion, self.shared.deadlocks)
            && !machine.is_proper_end(lanes)
        {
            self.report(Property::NoDeadlock, None, Vec::new());
        }
    }

    /// Runs the blocks of a stored state, or that of one thread. If no thread has a step, the state is stuck; a
    /// deadlock is reported here.
    fn run_blocks(
        &mut self,
        blocks: &mut Blocks<'a>,
        lanes: &[u64],
        only: Option<u16>,
    ) -> Expansion {
        let shared = self.shared;
        if only.is_none()
            && let Some(mut sets) = blocks.sets.take()
        {
            let compared = Compared {
                deadlocks: shared.deadlocks,
                races: self.watches_races,
            };
            let state = self.view.number;
            let expansion = sets.expand(blocks, lanes, state, compared, self);
            blocks.sets = Some(sets);
            if let Some(classifier) = &mut blocks.stepper.classifier {
                self.again.extend(classifier.ledger.take_invalid());
            }
            return expansion;
        }
        let is_run_time = blocks.stepper.classifier.is_some();
        // Whether a state is of the next level is known only to its owner.
        if only.is_none() && is_run_time && self.exchange.is_none() {
            match self.go_on(blocks, lanes) {
                ControlFlow::Break(expansion) => return expansion,
                ControlFlow::Continue(()) => {}
            }
        }
        blocks.races.is_on = self.watches_races;
        blocks.races.clear();
        // What is found by comparing the blocks of all threads rests on all of them.
        let is_compared = shared.deadlocks || self.watches_races;
        let mut halts: Vec<Halts> = Vec::new();
        let mut counted_on = Vec::new();
        let mut is_stuck = true;
        for thread in 0..shared.machine.threads(lanes) {
            if only.is_some_and(|only| usize::from(only) != thread) {
                continue;
            }
            loop {
                match blocks.run(lanes, thread, self) {
                    Expansion::Stopped => return Expansion::Stopped,
                    Expansion::Done => is_stuck = false,
                    Expansion::Stuck => {}
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
                        state: self.view.number,
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
                state: self.view.number,
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
        match is_stuck && only.is_none() {
            true => Expansion::Stuck,
            false => Expansion::Done,
        }
    }

    /// Expands one thread only, if it can continue by left movers and one of the states that this leads to is of the
    /// next level; then the expansion ends. What the others can do now they can do there.
    fn go_on(&mut self, blocks: &mut Blocks<'a>, lanes: &[u64]) -> ControlFlow<Expansion> {
        let shared = self.shared;
        for thread in 0..shared.machine.threads(lanes) {
            if !blocks.can_go_on(lanes, thread) {
                continue;
            }
            let flushed = self.view.flush();
            self.view.met = Some(Vec::new());
            let expansion = blocks.go_on(lanes, thread, self);
            let flushed = flushed.and_then(|()| self.view.flush());
            let met = self.view.met.take().unwrap_or_default();
            if !self.check(flushed) || matches!(expansion, Expansion::Stopped) {
                return ControlFlow::Break(Expansion::Stopped);
            }
            let Some(classifier) = &mut blocks.stepper.classifier else {
                return ControlFlow::Continue(());
            };
            let (used, holds) = classifier.finish_block();
            if holds && met.iter().any(|&number| !shared.store.is_closed(number)) {
                let used = used.to_vec();
                let block = Block {
                    state: self.view.number,
                    thread: None,
                };
                classifier.ledger.rely(block, &used);
                self.again.extend(classifier.ledger.take_invalid());
                return ControlFlow::Break(Expansion::Done);
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether there was room; otherwise the search ends.
    fn check(&self, added: Result<(), StoreFull>) -> bool {
        if added.is_err() {
            self.shared.stop(Stop::StoreFull);
        }
        added.is_ok()
    }

    fn meet_successor(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize>,
    ) -> ControlFlow<()> {
        self.transitions += 1;
        let goes_on = self.send_elsewhere(lanes) || {
            let added = self.view.add(lanes, dirty);
            self.check(added)
        };
        match goes_on {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    /// Tells the other workers what this one believes, if that has changed.
    fn publish(&self, blocks: &mut Option<Blocks<'a>>) {
        let changed = blocks
            .as_mut()
            .and_then(|blocks| blocks.stepper.classifier.as_mut())
            .and_then(|classifier| classifier.ledger.changed_beliefs());
        let Some(beliefs) = changed else {
            return;
        };
        let shared = self.shared;
        let mut news = lock(&shared.news[self.number]);
        news.beliefs = Some(Arc::new(beliefs));
        news.version += 1;
        shared.publications.fetch_add(1, Ordering::Release);
    }

    /// Merges what the other workers have published.
    fn hear(&mut self, blocks: &mut Option<Blocks<'a>>) {
        let shared = self.shared;
        // What is published from here on is heard the next time, perhaps again.
        self.heard = shared.publications.load(Ordering::Acquire);
        let classifier = blocks
            .as_mut()
            .and_then(|blocks| blocks.stepper.classifier.as_mut());
        let Some(classifier) = classifier else {
            return;
        };
        for (worker, heard) in self.versions.iter_mut().enumerate() {
            if worker == self.number {
                continue;
            }
            let news = lock(&shared.news[worker]);
            if news.version == *heard {
                continue;
            }
            *heard = news.version;
            let beliefs = news.beliefs.clone();
            drop(news);
            if let Some(beliefs) = beliefs {
                classifier.ledger.hear(&beliefs);
            }
        }
        self.again.extend(classifier.ledger.take_invalid());
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
        let is_known = found
            .iter()
            .any(|other| other.worker == self.number && other.property == property);
        if !is_known {
            found.push(Found {
                property,
                error,
                state: self.view.number,
                worker: self.number,
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

    /// Tells how much this worker has done.
    fn count(&self, blocks: &Option<Blocks<'a>>) {
        let ledger = blocks.as_ref().map_or(0, Blocks::bytes);
        let counts = &self.shared.counts[self.number];
        let bytes = (self.view.bytes() + ledger) as u64;
        counts.bytes.store(bytes, Ordering::Relaxed);
        counts.states.store(self.view.added, Ordering::Relaxed);
        let transitions = self.transitions;
        counts.transitions.store(transitions, Ordering::Relaxed);
        let persistent = blocks.as_ref().map_or(0, |blocks| blocks.tally.proper);
        counts.persistent.store(persistent, Ordering::Relaxed);
    }

    /// Inspects the clock, the memory and requests to stop.
    fn look(&self, extra_bytes: usize) {
        let shared = self.shared;
        let bytes = shared.bytes() + extra_bytes + shared.store.next_growth();
        if let Some(stop) = shared.control.stop_at(bytes) {
            shared.stop(stop);
        }
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.look(bytes);
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
            Event::Successor => self.meet_successor(&work.lanes, work.dirty()),
            Event::RunEnd(end) => self.meet_run_end(end, || path.steps().collect()),
        }
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
        // The store sees itself which lanes have changed.
        self.meet_successor(lanes, 0..lanes.len())
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
    movers: Option<&Movers>,
    found: &Found,
) -> Result<Vec<semantics::Step>, StoreFull> {
    let mut view = View::new(&shared.store, 0);
    let mut states = Vec::new();
    let mut at = Some(found.state);
    while let Some(number) = at {
        let mut lanes = Vec::new();
        view.start(number, &mut lanes)?;
        states.push(lanes);
        at = shared.store.parent(number);
    }
    states.reverse();
    let go_on = shared.keep_going;
    let steps = steps_through(shared.machine, movers, go_on, &states, &found.steps);
    Ok(steps)
}

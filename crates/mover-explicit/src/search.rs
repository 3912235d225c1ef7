//! The search through all states.
//!
//! Every stored state is expanded once. Breadth first, the next one is simply
//! the next number of the store, so the queue takes no memory; depth first, it
//! is the one found last. A state counts as seen as soon as it is found, in
//! either order, so the two visit the same states and differ in which come
//! first.
//!
//! The successors of a state are gathered before they are looked up: the index
//! entries of all of them are fetched at once, and the waits for memory overlap
//! instead of adding up.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_ir::semantics;

use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, Step, Workspace};
use crate::store::{NO_PARENT, Store};

/// Which state to expand next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The one found last.
    DepthFirst,
    /// The one found first: the first error has a shortest path.
    BreadthFirst,
}

/// What to look for and when to give up.
pub struct Options<'a> {
    pub order: Order,
    /// Look for errors (edges into error locations).
    pub errors: bool,
    /// Look for states without a successor that are no proper ends.
    pub deadlocks: bool,
    /// Do not stop at a violation; behind a failed assertion go on as if it had held.
    pub keep_going: bool,
    pub timeout: Option<Duration>,
    /// Bytes that the search may take.
    pub memory: Option<usize>,
    /// Set from outside to stop the search.
    pub interrupt: &'a AtomicBool,
    /// Called about ten times a second.
    pub progress: &'a mut dyn FnMut(&Statistics),
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Timeout,
    Memory,
    Interrupt,
    /// The store can number no more states.
    StoreFull,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub property: Property,
    /// The error location, unless it is a deadlock.
    pub error: Option<(TemplateId, LocationId)>,
    /// From the initial state.
    pub steps: Vec<semantics::Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// States stored.
    pub states: u64,
    /// Steps between stored states; an atomic sequence counts as one.
    pub transitions: u64,
    /// Longest distance from the initial state along the paths by which states were found.
    pub depth: u64,
    /// States found but not yet expanded.
    pub frontier: u64,
    /// Bytes taken by the store and the frontier.
    pub bytes: u64,
    pub elapsed: Duration,
    /// How many violations were met; more than one only if the search kept going.
    pub violations: u64,
}

#[derive(Debug)]
pub struct Outcome {
    /// The first violation, or a shortest one if the order is breadth first.
    pub violation: Option<Violation>,
    /// Set if not all states were seen; without a violation nothing is known then.
    pub stopped: Option<Stop>,
    pub statistics: Statistics,
}

/// Explores a valid program. Fails if it does not fit explicit search.
pub fn explore(program: &Program, options: Options) -> Result<Outcome, String> {
    let machine = Machine::new(program)?;
    Ok(Search::new(&machine, options).run())
}

/// A violation, by the state it starts from.
struct Found {
    property: Property,
    error: Option<(TemplateId, LocationId)>,
    state: u32,
    /// The steps from that state.
    steps: Vec<Step>,
}

struct Search<'m, 'o> {
    machine: &'m Machine,
    seen: Seen,
    limits: Limits<'o>,
    stack: Vec<(u32, u32)>,
    found: Option<Found>,
}

/// The store with what it takes to add successors of one state.
struct Seen {
    store: Store,
    /// Of the state being expanded.
    number: u32,
    numbers: Vec<u32>,
    key: Vec<u32>,
    hash: u64,
    /// Successors not yet looked up.
    pending_keys: Vec<u32>,
    pending_hashes: Vec<u64>,
    /// For each lane, the last successor that wrote it.
    last_writer: Vec<u64>,
    successor: u64,
    found: Vec<u32>,
}

struct Limits<'o> {
    options: Options<'o>,
    started: Instant,
    next_progress: Duration,
    statistics: Statistics,
    stopped: Option<Stop>,
}

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Expansions between two looks at the clock.
const EXPANSIONS_PER_LOOK: u32 = 1 << 8;

/// Successors gathered before they are looked up, at most.
const MAX_PENDING: usize = 256;

impl<'m, 'o> Search<'m, 'o> {
    fn new(machine: &'m Machine, options: Options<'o>) -> Self {
        Search {
            machine,
            seen: Seen::new(machine.initial()),
            limits: Limits {
                options,
                started: Instant::now(),
                next_progress: PROGRESS_EVERY,
                statistics: Statistics::default(),
                stopped: None,
            },
            stack: Vec::new(),
            found: None,
        }
    }

    fn run(mut self) -> Outcome {
        let keep_going = self.limits.options.keep_going;
        let mut expander = Expander::new(self.machine, keep_going);
        let breadth_first = self.limits.options.order == Order::BreadthFirst;
        let mut next = 0u32;
        let mut level_end = 1u32;
        let mut depth = 0u32;
        let mut looks = 0;
        if !breadth_first {
            self.stack.push((0, 0));
        }
        while self.limits.stopped.is_none() {
            let number = if breadth_first {
                if next == self.seen.store.len() {
                    break;
                }
                if next == level_end {
                    depth += 1;
                    level_end = self.seen.store.len();
                    // An error found one level up is at least as short as all that follow.
                    if self.found.is_some() && !keep_going {
                        break;
                    }
                }
                next += 1;
                next - 1
            } else {
                let Some((number, at)) = self.stack.pop() else {
                    break;
                };
                depth = at;
                number
            };
            looks += 1;
            if looks == EXPANSIONS_PER_LOOK {
                looks = 0;
                let frontier = self.frontier(next);
                self.look(frontier, 0);
            }
            let statistics = &mut self.limits.statistics;
            statistics.depth = statistics.depth.max(depth.into());
            self.seen.start(number, &mut expander.work.lanes);
            match expander.expand(&mut self) {
                Expansion::Done => {}
                Expansion::Stuck => {
                    let lanes = &expander.work.lanes;
                    if self.limits.options.deadlocks && !self.machine.is_proper_end(lanes) {
                        self.report(Property::NoDeadlock, None, Vec::new());
                        if !keep_going {
                            break;
                        }
                    }
                }
                Expansion::Stopped => {
                    if self.limits.stopped.is_none() {
                        break;
                    }
                }
            }
            self.flush();
            if !breadth_first {
                let found = self.seen.found.drain(..).rev();
                self.stack.extend(found.map(|number| (number, depth + 1)));
                if self.found.is_some() && !keep_going {
                    break;
                }
            } else {
                self.seen.found.clear();
            }
        }
        let frontier = self.frontier(next);
        self.update_statistics(frontier, 0);
        let violation = self.found.as_ref().map(|found| Violation {
            property: found.property,
            error: found.error,
            steps: self.rebuild(found, keep_going),
        });
        Outcome {
            violation,
            stopped: self.limits.stopped,
            statistics: self.limits.statistics,
        }
    }

    fn frontier(&self, next: u32) -> u64 {
        match self.limits.options.order {
            Order::BreadthFirst => u64::from(self.seen.store.len() - next),
            Order::DepthFirst => self.stack.len() as u64,
        }
    }

    fn update_statistics(&mut self, frontier: u64, extra_bytes: usize) {
        let statistics = &mut self.limits.statistics;
        statistics.states = self.seen.store.len().into();
        statistics.frontier = frontier;
        statistics.bytes =
            (self.seen.store.bytes() + self.stack.capacity() * 8 + extra_bytes) as u64;
        statistics.elapsed = self.limits.started.elapsed();
    }

    /// Looks at the clock, the memory and the interrupt.
    fn look(&mut self, frontier: u64, extra_bytes: usize) {
        self.update_statistics(frontier, extra_bytes);
        let limits = &mut self.limits;
        let elapsed = limits.statistics.elapsed;
        let needed = limits.statistics.bytes as usize + self.seen.store.next_growth();
        if limits.options.interrupt.load(Ordering::Relaxed) {
            limits.stopped = Some(Stop::Interrupt);
        } else if limits
            .options
            .timeout
            .is_some_and(|timeout| elapsed >= timeout)
        {
            limits.stopped = Some(Stop::Timeout);
        } else if limits.options.memory.is_some_and(|memory| needed > memory) {
            limits.stopped = Some(Stop::Memory);
        }
        if elapsed >= limits.next_progress {
            limits.next_progress = elapsed + PROGRESS_EVERY;
            (limits.options.progress)(&limits.statistics);
        }
    }

    fn report(
        &mut self,
        property: Property,
        error: Option<(TemplateId, LocationId)>,
        steps: Vec<Step>,
    ) {
        self.limits.statistics.violations += 1;
        let shorter = match &self.found {
            None => true,
            // In the same level of a breadth-first search a deadlock is one step shorter.
            Some(found) => {
                found.error.is_some() && error.is_none() && !self.limits.options.keep_going
            }
        };
        if shorter {
            self.found = Some(Found {
                property,
                error,
                state: self.seen.number,
                steps,
            });
        }
    }

    fn flush(&mut self) {
        if self.seen.flush().is_err() {
            self.limits.stopped = Some(Stop::StoreFull);
        }
    }

    /// The whole path to a violation, found again from the parents.
    fn rebuild(&self, found: &Found, go_on: bool) -> Vec<semantics::Step> {
        let store = &self.seen.store;
        let mut chain = vec![found.state];
        while let Some(parent) = store.parent(chain[chain.len() - 1]) {
            chain.push(parent);
        }
        chain.reverse();
        let mut expander = Expander::new(self.machine, go_on);
        let mut steps = Vec::new();
        let (mut numbers, mut key) = (Vec::new(), Vec::new());
        for pair in chain.windows(2) {
            let mut wanted = Vec::new();
            store.load(pair[1], &mut numbers, &mut wanted, &mut key);
            store.load(pair[0], &mut numbers, &mut expander.work.lanes, &mut key);
            let mut finder = Finder {
                wanted,
                steps: Vec::new(),
            };
            expander.expand(&mut finder);
            store.load(pair[0], &mut numbers, &mut expander.work.lanes, &mut key);
            self.translate(&mut expander.work, &finder.steps, &mut steps);
        }
        store.load(
            found.state,
            &mut numbers,
            &mut expander.work.lanes,
            &mut key,
        );
        self.translate(&mut expander.work, &found.steps, &mut steps);
        steps
    }

    fn translate(
        &self,
        work: &mut Workspace,
        steps: &[Step],
        translated: &mut Vec<semantics::Step>,
    ) {
        for &step in steps {
            translated.push(self.machine.original_step(&work.lanes, step));
            self.machine.apply(work, step);
        }
    }
}

impl Visitor for Search<'_, '_> {
    #[inline]
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        match event {
            Event::Successor => {
                self.limits.statistics.transitions += 1;
                if self.seen.add(work).is_err() {
                    self.limits.stopped = Some(Stop::StoreFull);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            }
            Event::Error(error) => {
                self.limits.statistics.transitions += 1;
                if !self.limits.options.errors {
                    return ControlFlow::Continue(());
                }
                let place = (error.template, error.location);
                self.report(Property::UnreachCall, Some(place), path.steps().collect());
                let options = &self.limits.options;
                if options.keep_going || options.order == Order::BreadthFirst {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            }
        }
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        let frontier = self.limits.statistics.frontier;
        self.look(frontier, bytes);
        match self.limits.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Looks for the steps that lead to one particular state.
struct Finder {
    wanted: Vec<u64>,
    steps: Vec<Step>,
}

impl Visitor for Finder {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        let common = work.lanes.len().min(self.wanted.len());
        let is_wanted = matches!(event, Event::Successor)
            && work.lanes[..common] == self.wanted[..common]
            && work.lanes[common..].iter().all(|&lane| lane == 0)
            && self.wanted[common..].iter().all(|&lane| lane == 0);
        if is_wanted {
            self.steps = path.steps().collect();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn tick(&mut self, _bytes: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Seen {
    fn new(initial: &[u64]) -> Self {
        let mut store = Store::new(initial.len());
        let numbers: Vec<u32> = initial
            .iter()
            .enumerate()
            .map(|(lane, &value)| store.intern(lane, value).0)
            .collect();
        store.relayout();
        let mut key = Vec::new();
        let hash = store.encode(&numbers, &mut key);
        let inserted = store.insert(&key, hash, NO_PARENT);
        debug_assert_eq!(inserted, Ok(Some(0)));
        Seen {
            last_writer: vec![0; numbers.len()],
            store,
            number: 0,
            numbers,
            key,
            hash,
            pending_keys: Vec::new(),
            pending_hashes: Vec::new(),
            successor: 0,
            found: Vec::new(),
        }
    }

    /// Makes a stored state the one whose successors are added.
    fn start(&mut self, number: u32, lanes: &mut Vec<u64>) {
        self.number = number;
        self.hash = self
            .store
            .load(number, &mut self.numbers, lanes, &mut self.key);
    }

    /// Adds the state in the workspace, which differs from the started one in the dirty lanes.
    #[inline]
    fn add(&mut self, work: &Workspace) -> Result<(), crate::store::StoreFull> {
        if work.lanes.len() > self.store.lanes() {
            self.store.ensure_lanes(work.lanes.len());
            self.numbers.resize(work.lanes.len(), 0);
            self.last_writer.resize(work.lanes.len(), 0);
        }
        let words = self.store.words();
        let start = self.pending_keys.len();
        self.pending_keys.extend_from_slice(&self.key);
        let mut hash = self.hash;
        self.successor += 1;
        for lane in work.dirty() {
            if self.last_writer[lane] == self.successor {
                continue;
            }
            self.last_writer[lane] = self.successor;
            let (number, has_room) = self.store.intern(lane, work.lanes[lane]);
            if !has_room {
                self.pending_keys.truncate(start);
                self.flush()?;
                self.store.relayout();
                self.hash = self.store.encode(&self.numbers, &mut self.key);
                return self.add(work);
            }
            let key = &mut self.pending_keys[start..start + words];
            self.store.patch(key, lane, number);
            let change = self.store.hash_change(lane, self.numbers[lane], number);
            hash = hash.wrapping_add(change);
        }
        self.store.prefetch(hash);
        self.pending_hashes.push(hash);
        if self.pending_hashes.len() >= MAX_PENDING {
            self.flush()?;
        }
        Ok(())
    }

    /// Looks up the pending successors and stores the new ones.
    fn flush(&mut self) -> Result<(), crate::store::StoreFull> {
        let words = self.store.words();
        for (position, &hash) in self.pending_hashes.iter().enumerate() {
            let key = &self.pending_keys[position * words..(position + 1) * words];
            if let Some(number) = self.store.insert(key, hash, self.number)? {
                self.found.push(number);
            }
        }
        self.pending_keys.clear();
        self.pending_hashes.clear();
        Ok(())
    }
}

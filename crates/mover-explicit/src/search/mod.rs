//! The search through all states.
//!
//! Every stored state is expanded once. Breadth first, the next state is the next number of the
//! store, so the queue takes no memory; depth first, it is the state found last. A state counts
//! as seen as soon as it is found, in either order, so both orders visit the same states.
//!
//! With a reduction, the unit is not a step but a block: each thread in turn is run through one
//! transaction (see `blocks`), and only the states between transactions are stored.
//!
//! Successors are collected before they are looked up, breadth first those of several states:
//! their index entries are prefetched together, so that memory latencies overlap instead of
//! adding up.

mod saving;
mod seen;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mover_engine::{BrokenClaim, Control, EngineError, Progress, Statistics, Stop, Violation};
use mover_ir::program::{BoundMet, LocationId, Program, Property, TemplateId};
use mover_ir::semantics;
use mover_reduce::facts::conflicts::Conflicts;
use mover_reduce::{Movers, PhaseFacts, ReductionPlan};

use crate::blocks::{BlockVisitor, Blocks, Halts};
use crate::checkpoint::{Checkpoints, PATIENCE, Schedule, Source};
use crate::classify::{Block, Classifier, Ledger, PhaseTables};
use crate::distributed::Peers;
use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, RunEnd, Step, Workspace};
use crate::parallel;
use crate::path_reconstruction::steps_through;
use crate::persistent::{Compared, SetTables, Sets, StateVisitor};
use seen::Seen;

/// Which state to expand next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The one found last.
    DepthFirst,
    /// The one found first: the first error has a shortest path.
    BreadthFirst,
}

/// What to look for and when to give up.
pub(crate) struct Options<'a> {
    pub order: Order,
    /// Run threads in transactions cut by these movers, instead of step by step.
    pub movers: Option<&'a Movers>,
    /// Find out during the search what moves, instead of before; goes with movers.
    pub run_time: Option<RunTime<'a>>,
    /// Expand only a persistent set of threads where there is one; goes with classes by reachability.
    pub persistent: bool,
    /// How many cores to use; depth first it is always one.
    pub jobs: usize,
    /// Levels with fewer states for each core but one are expanded by one core.
    pub narrow: usize,
    /// Look for failed assertions (edges into error locations of that property);
    /// errors of other properties are always reported: a front end makes them only
    /// where they are asked for or where nothing can be said of what follows.
    pub errors: bool,
    /// Look for states without a successor that are no proper ends.
    pub deadlocks: bool,
    /// Look for data races.
    pub races: bool,
    /// What was asked for: with a violation of each of them the search is over.
    pub wanted: Wanted<'a>,
    /// Whether a reduction that does not pay is dropped after a short trial.
    pub may_drop: bool,
    /// Do not stop at a violation; continue after a failed assertion as if it had held.
    pub keep_going: bool,
    pub control: &'a Control,
    /// Called about ten times a second.
    pub progress: &'a mut Progress<'a>,
}

/// For which violations a search continues.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub properties: &'a [Property],
    /// Whether one violation is enough.
    pub first: bool,
}

/// After its first violation a search continues for the other properties until it has seen this
/// many states, or this many times those it had seen by then.
const STATES_AFTER_VIOLATION: u64 = 100_000;
const TIMES_AFTER_VIOLATION: u64 = 10;

impl Wanted<'_> {
    /// Whether these violations are all that is wanted. (An error of a property that was not asked
    /// for is none.)
    pub fn is_found(&self, found: impl Fn(Property) -> bool) -> bool {
        let mut wanted = self.properties.iter();
        if self.first || self.properties.is_empty() {
            wanted.any(|&property| found(property))
        } else {
            wanted.all(|&property| found(property))
        }
    }

    /// Whether a search that had seen `before` states at its first violation ends without looking
    /// further for others.
    pub fn is_enough(before: u64, now: u64) -> bool {
        now > (TIMES_AFTER_VIOLATION * before).max(STATES_AFTER_VIOLATION)
    }
}

/// Movers inferred during the search.
#[derive(Clone, Copy)]
pub(crate) struct RunTime<'a> {
    pub facts: &'a PhaseFacts,
    /// With `dynamic`: the conditions under which accesses move, whatever was recorded.
    pub plan: Option<&'a ReductionPlan>,
}

/// What a search came to.
#[derive(Debug)]
pub(crate) struct Searched {
    /// One for each property that is violated; the first one first (a shortest one if the order is
    /// breadth first), data races last.
    pub violations: Vec<Violation>,
    /// Whether it stopped some time after a violation without having seen all states.
    pub gave_up: bool,
    /// If the reduction was dropped after a trial: the share of the states that it was estimated to
    /// store.
    pub dropped: Option<f64>,
    /// How far the trial of the reduction came.
    pub trial: Trial,
    /// Bounds that runs were cut off at.
    pub bounds: Vec<BoundMet>,
    /// Set if not all states were seen; nothing is known of other properties then.
    pub stopped: Option<Stop>,
    /// The unsupported construct that was met, where, and what to do.
    pub refusal: Option<String>,
    /// The process that was lost, and why: nothing is known then.
    pub lost: Option<String>,
    /// The user's claims of exclusive access and the accesses that violate them.
    pub broken_claims: Vec<BrokenClaim>,
    pub statistics: Statistics,
}

/// The trial of a reduction, which may be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    /// It is the beginning of the search.
    First,
    /// The search ends with it.
    Only,
    /// The search ended with it and is to go on with this reduction; perhaps without persistent sets.
    Passed { keeps_sets: bool },
}

/// Explores a valid program, with checkpoints on one core only. Fails if it does not fit explicit
/// search.
pub(crate) fn explore(
    program: &Program,
    options: Options,
    checkpoints: Option<Checkpoints>,
    peers: Option<Peers>,
) -> Result<Searched, EngineError> {
    if checkpoints.is_some() && (options.jobs > 1 || peers.is_some()) {
        return Err(EngineError::Unsupported(
            "checkpoints are written by a search on one core".into(),
        ));
    }
    let machine = match options.movers {
        Some(movers) => Machine::with_movers(movers)?,
        None => Machine::new(program)?,
    };
    let tables = match (options.movers, options.run_time) {
        (Some(movers), Some(run_time)) => {
            Some(machine.phase_tables(&movers.fused.program, run_time))
        }
        _ => None,
    };
    let sets = set_tables(&machine, &options);
    if let Some(peers) = peers {
        if tables.as_ref().is_some_and(PhaseTables::has_claims) {
            return Err(EngineError::Unsupported(
                "claims of exclusive access are checked by one process, or with `--reduce static`"
                    .into(),
            ));
        }
        let known = (tables.as_ref(), sets.as_ref());
        return Ok(parallel::explore(&machine, known, options, 1, Some(peers)));
    }
    let is_parallel = options.jobs > 1 && options.order == Order::BreadthFirst;
    let known = (tables.as_ref(), sets.as_ref());
    let mut outcome = if is_parallel {
        in_parallel(&machine, known, options)?
    } else {
        let search = Search::new(&machine, known, options);
        search.run_to_end(checkpoints)?.0
    };
    if let Some(tables) = &tables {
        outcome.broken_claims = tables.broken_claims();
    }
    Ok(outcome)
}

/// Explores on several cores. If a reduction may be dropped, one core tries it first, so that the decision does
/// not depend on how many there are; a search that ends within the trial is over then.
fn in_parallel<'m>(
    machine: &'m Machine,
    (tables, mut sets): (Option<&'m PhaseTables>, Option<&'m SetTables>),
    options: Options,
) -> Result<Searched, EngineError> {
    if options.may_drop {
        let trial = Options {
            jobs: 1,
            progress: &mut |_| (),
            ..options
        };
        let mut search = Search::new(machine, (tables, sets), trial);
        search.trial = Trial::Only;
        let (outcome, _) = search.run_to_end(None)?;
        match outcome.trial {
            Trial::Passed { keeps_sets } => sets = sets.filter(|_| keeps_sets),
            Trial::First | Trial::Only => return Ok(outcome),
        }
    }
    let workers = options.jobs.min(MOST_WORKERS);
    Ok(parallel::explore(
        machine,
        (tables, sets),
        options,
        workers,
        None,
    ))
}

/// What persistent sets need, if they are wanted and possible. Where `timeout` is used, all states are
/// needed in which no thread can move.
fn set_tables(machine: &Machine, options: &Options) -> Option<SetTables> {
    let (movers, run_time) = (options.movers?, options.run_time?);
    if !options.persistent || run_time.plan.is_none() || machine.uses_timeout() {
        return None;
    }
    let conflicts = Conflicts::new(movers, run_time.facts);
    Some(SetTables::new(machine, &movers.fused.program, &conflicts))
}

/// Explores with classes inferred during the search, for the sake of what is believed in the end.
pub(crate) fn beliefs(
    machine: &Machine,
    tables: &PhaseTables,
    options: Options,
) -> Result<(Searched, Option<Ledger>), EngineError> {
    let sets = set_tables(machine, &options);
    Search::new(machine, (Some(tables), sets.as_ref()), options).run_to_end(None)
}

/// A violation, by the state it starts from.
struct Found {
    property: Property,
    error: Option<(TemplateId, LocationId)>,
    state: u32,
    /// The steps from that state.
    steps: Vec<Step>,
    /// How deep the search was.
    depth: u32,
}

/// Orders violations: by depth, in the same level deadlocks first, since they are one step shorter;
/// data races last.
pub(crate) fn rank(property: Property, depth: u32) -> (bool, u32, bool) {
    (
        property == Property::NoDataRace,
        depth,
        property != Property::NoDeadlock,
    )
}

struct Search<'m, 'o> {
    machine: &'m Machine,
    tables: Option<&'m PhaseTables>,
    sets: Option<&'m SetTables>,
    seen: Seen,
    limits: Limits<'o>,
    stack: Vec<(u32, u32)>,
    /// Blocks that counted on something that turned out wrong.
    again: Vec<Block>,
    expanded: Expanded,
    found: Vec<Found>,
    /// States seen at the first violation that was asked for.
    states_at_first: Option<u64>,
    /// Whether data races are still looked for.
    watches_races: bool,
    bounds: BTreeSet<BoundMet>,
    /// How often a limit that is reached during one expansion may still wait for its end.
    patience: u32,
    cursor: Cursor,
    trial: Trial,
}

/// Where a search is in its order.
#[derive(Clone, Copy)]
struct Cursor {
    /// The next state, breadth first.
    next: u32,
    level_end: u32,
    depth: u32,
}

/// Which states have been expanded.
enum Expanded {
    /// All with lower numbers.
    Below(u32),
    /// A bit for each state.
    Marked(Vec<u64>),
}

impl Expanded {
    fn mark(&mut self, number: u32) {
        match self {
            Expanded::Below(next) => *next = number + 1,
            Expanded::Marked(bits) => {
                let word = number as usize / 64;
                if word >= bits.len() {
                    bits.resize(word + 1, 0);
                }
                bits[word] |= 1 << (number % 64);
            }
        }
    }

    fn contains(&self, number: u32) -> bool {
        match self {
            Expanded::Below(next) => number < *next,
            Expanded::Marked(bits) => {
                let word = bits.get(number as usize / 64);
                word.is_some_and(|word| word >> (number % 64) & 1 == 1)
            }
        }
    }
}

struct Limits<'o> {
    options: Options<'o>,
    started: Instant,
    next_progress: Duration,
    statistics: Statistics,
    stopped: Option<Stop>,
}

/// Expansions after which a reduction must have shown that it pays.
const TRIAL: u64 = 1 << 11;

/// The largest share of the states that a reduction may store, as far as the trial can tell. A block
/// takes several times as long as the step of a search without reduction.
const LARGEST_SHARE: f64 = 0.5;

/// Persistent sets must have been found in one of so many states of the trial.
const LEAST_SETS: u64 = 1 << 6;

/// Maximum number of workers of a parallel search.
const MOST_WORKERS: usize = 256;

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Expansions between two checks of the clock.
const EXPANSIONS_PER_LOOK: u32 = 1 << 8;

impl<'m, 'o> Search<'m, 'o> {
    fn new(
        machine: &'m Machine,
        (tables, sets): (Option<&'m PhaseTables>, Option<&'m SetTables>),
        options: Options<'o>,
    ) -> Self {
        let order = options.order;
        let watches_races = options.races && machine.has_accesses();
        Search {
            machine,
            tables,
            sets,
            again: Vec::new(),
            expanded: match options.order {
                Order::BreadthFirst => Expanded::Below(0),
                Order::DepthFirst => Expanded::Marked(Vec::new()),
            },
            seen: Seen::new(machine.initial(), options.order == Order::DepthFirst),
            limits: Limits {
                options,
                started: Instant::now(),
                next_progress: PROGRESS_EVERY,
                statistics: Statistics::default(),
                stopped: None,
            },
            stack: match order {
                Order::BreadthFirst => Vec::new(),
                Order::DepthFirst => vec![(0, 0)],
            },
            found: Vec::new(),
            states_at_first: None,
            watches_races,
            bounds: BTreeSet::new(),
            patience: 0,
            cursor: Cursor {
                next: 0,
                level_end: 1,
                depth: 0,
            },
            trial: Trial::First,
        }
    }

    /// Also gives what is believed of objects in the end. Fails if a checkpoint does not fit.
    fn run_to_end(
        mut self,
        mut checkpoints: Option<Checkpoints>,
    ) -> Result<(Searched, Option<Ledger>), EngineError> {
        let keep_going = self.limits.options.keep_going;
        let mut expander = Expander::new(self.machine, keep_going);
        let mut blocks = self.limits.options.movers.map(|_| self.blocks());
        let breadth_first = self.limits.options.order == Order::BreadthFirst;
        if let Some(input) = checkpoints.as_mut().and_then(|all| all.resume.as_mut()) {
            self.restore(&mut Source::new(input), blocks.as_mut())?;
        }
        let mut schedule = checkpoints.as_ref().map(|all| Schedule::new(all.every));
        let mut looks = 0;
        // Whether the last expansion came to its end.
        let mut is_whole = true;
        let mut gave_up = false;
        let mut dropped = None;
        let mut tried = 0;
        while self.limits.stopped.is_none() {
            looks += 1;
            if looks == EXPANSIONS_PER_LOOK {
                looks = 0;
                let frontier = self.frontier();
                let ledger = blocks.as_ref().map_or(0, Blocks::bytes);
                self.look(frontier, ledger);
                if self.limits.stopped.is_some() {
                    break;
                }
                let states = self.seen.store.len().into();
                let is_enough = |before| Wanted::is_enough(before, states);
                if !keep_going && self.states_at_first.is_some_and(is_enough) {
                    gave_up = true;
                    break;
                }
            }
            tried += 1;
            if tried == TRIAL
                && self.limits.options.may_drop
                && self.found.is_empty()
                && let Some(blocks) = &mut blocks
            {
                let share = blocks.tally.share(TRIAL);
                if share > LARGEST_SHARE {
                    dropped = Some(share);
                    break;
                }
                let keeps_sets = blocks.tally.proper >= TRIAL / LEAST_SETS;
                if self.trial == Trial::Only {
                    self.trial = Trial::Passed { keeps_sets };
                    break;
                }
                if !keeps_sets {
                    blocks.drop_sets();
                }
            }
            if let (Some(all), Some(schedule)) = (&mut checkpoints, &mut schedule) {
                self.patience = PATIENCE;
                let now = self.limits.statistics.time;
                if schedule.is_due(now) {
                    self.save(all, blocks.as_ref());
                    let after = self.limits.started.elapsed();
                    self.limits.statistics.time = after;
                    schedule.written(now, after);
                }
            }
            let again = self.again.pop();
            let number = if let Some(block) = again {
                block.state
            } else if breadth_first {
                if self.cursor.next == self.cursor.level_end {
                    self.flush();
                    if self.cursor.next == self.seen.store.len() {
                        break;
                    }
                    self.cursor.depth += 1;
                    self.cursor.level_end = self.seen.store.len();
                    // An error found one level up is at least as short as all that follow.
                    if self.is_done() {
                        break;
                    }
                }
                self.cursor.next += 1;
                self.cursor.next - 1
            } else {
                let Some((number, at)) = self.stack.pop() else {
                    break;
                };
                self.cursor.depth = at;
                number
            };
            let depth = self.cursor.depth;
            let statistics = &mut self.limits.statistics;
            statistics.depth = statistics.depth.max(depth.into());
            if again.is_none() {
                self.expanded.mark(number);
            }
            self.seen.start(number, &mut expander.work.lanes);
            let expansion = match &mut blocks {
                Some(blocks) => {
                    let only = again.and_then(|block| block.thread);
                    let ran = self.run_blocks(blocks, &expander.work.lanes, only);
                    match ran {
                        // Only steps that wait for `timeout` are left.
                        Expansion::Stuck if self.machine.uses_timeout() => {
                            match expander.expand(&mut self) {
                                Expansion::Stopped => Expansion::Stopped,
                                Expansion::Done | Expansion::Stuck => Expansion::Done,
                            }
                        }
                        Expansion::Stuck => Expansion::Done,
                        ran => ran,
                    }
                }
                None => {
                    if self.watches_races && self.machine.has_race(&expander.work.lanes) {
                        self.report(Property::NoDataRace, None, Vec::new());
                    }
                    expander.expand(&mut self)
                }
            };
            if self.machine.refusal().is_some() {
                self.limits.stopped = Some(Stop::Refused);
            }
            match expansion {
                Expansion::Done => {}
                Expansion::Stuck => {
                    let lanes = &expander.work.lanes;
                    if self.limits.options.deadlocks && !self.machine.is_proper_end(lanes) {
                        self.report(Property::NoDeadlock, None, Vec::new());
                        if self.is_done() {
                            break;
                        }
                    }
                }
                Expansion::Stopped => {
                    is_whole = false;
                    if self.limits.stopped.is_none() {
                        break;
                    }
                }
            }
            if !breadth_first {
                self.flush();
                let found = self.seen.found.drain(..).rev();
                self.stack.extend(found.map(|number| (number, depth + 1)));
                if self.is_done() {
                    break;
                }
            }
        }
        self.flush();
        let can_go_on = matches!(
            self.limits.stopped,
            Some(Stop::Time | Stop::Memory | Stop::User | Stop::Answered)
        );
        if let Some(all) = checkpoints.as_mut().filter(|_| can_go_on && is_whole) {
            self.save(all, blocks.as_ref());
        }
        let frontier = self.frontier();
        self.update_statistics(frontier, 0);
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|found| rank(found.property, found.depth));
        let violations = found.iter().map(|found| Violation {
            property: found.property,
            error: found.error,
            steps: self.rebuild(found, keep_going),
        });
        let outcome = Searched {
            violations: violations.collect(),
            gave_up,
            dropped,
            trial: self.trial,
            bounds: self.bounds.into_iter().collect(),
            stopped: self.limits.stopped,
            refusal: self.machine.refusal().map(str::to_string),
            lost: None,
            broken_claims: Vec::new(),
            statistics: self.limits.statistics,
        };
        let classifier = blocks.and_then(|blocks| blocks.stepper.classifier);
        Ok((outcome, classifier.map(|classifier| classifier.ledger)))
    }

    fn blocks(&self) -> Blocks<'m> {
        let options = &self.limits.options;
        let classifier = (self.tables).map(|tables| Classifier::new(self.machine, tables));
        let keep_deadlocks = options.deadlocks || self.machine.uses_timeout();
        let blocks = Blocks::new(self.machine, classifier, keep_deadlocks);
        let mut blocks = blocks.with_sets(self.sets);
        blocks.races.is_on = self.watches_races;
        blocks
    }

    /// Whether all that is wanted was found.
    fn is_done(&self) -> bool {
        let options = &self.limits.options;
        let is_found = |property| self.found.iter().any(|found| found.property == property);
        !options.keep_going && options.wanted.is_found(is_found)
    }

    /// Runs the blocks of a stored state, or that of one thread. If no thread has a step, the state is
    /// stuck; a deadlock is reported here.
    fn run_blocks(
        &mut self,
        blocks: &mut Blocks<'m>,
        lanes: &[u64],
        only: Option<u16>,
    ) -> Expansion {
        if only.is_none()
            && let Some(sets) = blocks.sets.take()
        {
            return self.run_set(sets, blocks, lanes);
        }
        if only.is_none() && blocks.stepper.classifier.is_some() {
            match self.go_on(blocks, lanes) {
                GoneOn::Somebody => return Expansion::Done,
                GoneOn::Nobody => {}
                GoneOn::Stopped => return Expansion::Stopped,
            }
        }
        let deadlocks = self.limits.options.deadlocks;
        blocks.races.is_on = self.watches_races;
        blocks.races.clear();
        // What is found by comparing the blocks of all threads rests on all of them.
        let is_compared = deadlocks || self.watches_races;
        let mut halts = Vec::new();
        let mut counted_on = Vec::new();
        let mut is_stuck = true;
        for thread in 0..self.machine.threads(lanes) {
            if only.is_some_and(|only| usize::from(only) != thread) {
                continue;
            }
            loop {
                let mut visitor = Emitted {
                    start: lanes,
                    search: self,
                };
                match blocks.run(lanes, thread, &mut visitor) {
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
                        state: self.seen.number,
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
                state: self.seen.number,
                thread: None,
            };
            classifier.ledger.rely(block, &counted_on);
            self.again.extend(classifier.ledger.take_invalid());
        }
        if self.watches_races
            && let Some(steps) = blocks.races.race(self.machine, lanes)
        {
            self.report(Property::NoDataRace, None, steps);
        }
        if deadlocks
            && let Some(steps) = common_halt(halts)
            && ends_in_deadlock(self.machine, lanes, &steps)
        {
            self.report(Property::NoDeadlock, None, steps);
        }
        if self.is_done() {
            return Expansion::Stopped;
        }
        match is_stuck && only.is_none() {
            true => Expansion::Stuck,
            false => Expansion::Done,
        }
    }

    /// Expands a persistent set of threads, or all of them.
    fn run_set(&mut self, mut sets: Sets<'m>, blocks: &mut Blocks<'m>, lanes: &[u64]) -> Expansion {
        let compared = Compared {
            deadlocks: self.limits.options.deadlocks,
            races: self.watches_races,
        };
        let state = self.seen.number;
        let mut visitor = Emitted {
            start: lanes,
            search: self,
        };
        let expansion = sets.expand(blocks, lanes, state, compared, &mut visitor);
        blocks.sets = Some(sets);
        if let Some(classifier) = &mut blocks.stepper.classifier {
            self.again.extend(classifier.ledger.take_invalid());
        }
        self.limits.statistics.persistent = blocks.tally.proper;
        match self.is_done() {
            true => Expansion::Stopped,
            false => expansion,
        }
    }

    /// Expands one thread only, if it can continue by left movers.
    ///
    /// What the others can do now they can do afterwards, so they need not be
    /// looked at here, as long as they are later: one of the states that this
    /// leads to must still be waiting to be expanded. (If a round of states each
    /// put it off to the next, the last to be expanded would not be allowed to.)
    fn go_on(&mut self, blocks: &mut Blocks, lanes: &[u64]) -> GoneOn {
        for thread in 0..self.machine.threads(lanes) {
            if !blocks.can_go_on(lanes, thread) {
                continue;
            }
            self.flush();
            self.seen.met = Some(Vec::new());
            let mut visitor = Emitted {
                start: lanes,
                search: self,
            };
            let expansion = blocks.go_on(lanes, thread, &mut visitor);
            self.flush();
            let met = self.seen.met.take().unwrap_or_default();
            if let Expansion::Stopped = expansion {
                return GoneOn::Stopped;
            }
            let Some(classifier) = &mut blocks.stepper.classifier else {
                return GoneOn::Nobody;
            };
            let (used, holds) = classifier.finish_block();
            if holds && met.iter().any(|&number| !self.expanded.contains(number)) {
                let used = used.to_vec();
                let block = Block {
                    state: self.seen.number,
                    thread: None,
                };
                classifier.ledger.rely(block, &used);
                self.again.extend(classifier.ledger.take_invalid());
                return GoneOn::Somebody;
            }
        }
        GoneOn::Nobody
    }

    fn frontier(&self) -> u64 {
        match self.limits.options.order {
            Order::BreadthFirst => u64::from(self.seen.store.len() - self.cursor.next),
            Order::DepthFirst => self.stack.len() as u64,
        }
    }

    fn update_statistics(&mut self, frontier: u64, extra_bytes: usize) {
        let statistics = &mut self.limits.statistics;
        statistics.states = self.seen.store.len().into();
        statistics.frontier = frontier;
        statistics.bytes =
            (self.seen.store.bytes() + self.stack.capacity() * 8 + extra_bytes) as u64;
        statistics.bytes += self.machine.object_bytes() as u64;
        statistics.time = self.limits.started.elapsed();
    }

    /// Inspects the clock, the memory and requests to stop.
    fn look(&mut self, frontier: u64, extra_bytes: usize) {
        self.update_statistics(frontier, extra_bytes);
        let limits = &mut self.limits;
        let elapsed = limits.statistics.time;
        let needed = limits.statistics.bytes as usize + self.seen.store.next_growth();
        if let Some(stop) = limits.options.control.stop_at(needed) {
            limits.stopped = Some(stop);
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
        let keep_going = self.limits.options.keep_going;
        let is_known = self.found.iter().any(|found| found.property == property);
        if keep_going || !is_known {
            self.limits.statistics.violations += 1;
        }
        if property == Property::NoDataRace {
            self.watches_races = false;
        }
        if self.limits.options.wanted.properties.contains(&property) {
            let states = self.seen.store.len().into();
            self.states_at_first.get_or_insert(states);
        }
        if !is_known {
            self.found.push(Found {
                property,
                error,
                state: self.seen.number,
                steps,
                depth: self.cursor.depth,
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
        let (mut numbers, mut key) = (Vec::new(), Vec::new());
        let mut load = |number: u32| {
            let mut lanes = Vec::new();
            store.load(number, &mut numbers, &mut lanes, &mut key);
            lanes
        };
        let states: Vec<Vec<u64>> = chain.into_iter().map(&mut load).collect();
        let movers = self.limits.options.movers;
        steps_through(self.machine, movers, go_on, &states, &found.steps)
    }
}

/// Whether expanding one thread only is possible.
enum GoneOn {
    Somebody,
    Nobody,
    Stopped,
}

/// Whether no thread can move after the steps. Each thread can block by
/// its steps, but that they do not disturb each other may be a belief that
/// turned out wrong.
pub fn ends_in_deadlock(machine: &Machine, lanes: &[u64], steps: &[Step]) -> bool {
    let mut work = Workspace::default();
    work.lanes.extend_from_slice(lanes);
    for &step in steps {
        if !machine.is_possible(&work.lanes, step) {
            return false;
        }
        machine.apply(&mut work, step);
    }
    let mut possible = Vec::new();
    machine.steps(&work.lanes, &mut possible);
    possible.is_empty() && !machine.is_proper_end(&work.lanes)
}

/// The steps by which all threads block, not all of them at proper ends.
pub fn common_halt(halts: Vec<Halts>) -> Option<Vec<Step>> {
    let waits = halts.iter().any(|halt| halt.waiting.is_some());
    let mut steps = Vec::new();
    for halt in halts {
        steps.extend(halt.waiting.or(halt.at_proper_end)?);
    }
    waits.then_some(steps)
}

/// A step of the fused program as the steps of the original that it consists of.
pub(crate) fn unfuse(
    movers: &Movers,
    (template, location): (TemplateId, LocationId),
    step: semantics::Step,
) -> Vec<semantics::Step> {
    let parts = &movers.fused.made_of[template.index()][location.index()][step.by.edge];
    parts
        .iter()
        .enumerate()
        .map(|(position, part)| semantics::Step {
            by: semantics::Move {
                edge: part.edge,
                ..step.by
            },
            with: step.with.filter(|_| position == 0),
            choice: if part.chooses { step.choice } else { 0 },
        })
        .collect()
}

impl Search<'_, '_> {
    fn meet_successor(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize> + Clone,
    ) -> ControlFlow<()> {
        self.limits.statistics.transitions += 1;
        if self.seen.add(lanes, dirty).is_err() {
            self.limits.stopped = Some(Stop::StoreFull);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn meet_run_end(&mut self, end: RunEnd, steps: impl FnOnce() -> Vec<Step>) -> ControlFlow<()> {
        self.limits.statistics.transitions += 1;
        let Some(property) = end.violates else {
            self.bounds.insert(end.bound_met());
            return ControlFlow::Continue(());
        };
        if !self.limits.options.errors && property == Property::UnreachCall {
            return ControlFlow::Continue(());
        }
        let place = (end.template, end.location);
        self.report(property, Some(place), steps());
        let options = &self.limits.options;
        if options.order == Order::BreadthFirst || !self.is_done() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// The ends of blocks, on their way to the store.
struct Emitted<'a, 'm, 'o> {
    start: &'a [u64],
    search: &'a mut Search<'m, 'o>,
}

impl BlockVisitor for Emitted<'_, '_, '_> {
    fn emit(&mut self, lanes: &[u64]) -> ControlFlow<()> {
        let start = self.start;
        let changed = |&lane: &usize| start.get(lane).copied().unwrap_or(0) != lanes[lane];
        self.search
            .meet_successor(lanes, (0..lanes.len()).filter(changed))
    }

    fn run_ends(&mut self, end: RunEnd, steps: Vec<Step>) -> ControlFlow<()> {
        self.search.meet_run_end(end, || steps)
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.search.tick(bytes)
    }
}

impl StateVisitor for Emitted<'_, '_, '_> {
    fn violated(&mut self, property: Property, steps: Vec<Step>) {
        self.search.report(property, None, steps);
    }
}

impl Visitor for Search<'_, '_> {
    #[inline]
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        match event {
            Event::Successor => self.meet_successor(&work.lanes, work.dirty()),
            Event::RunEnd(end) => self.meet_run_end(end, || path.steps().collect()),
        }
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, path: Path) {
        if self.watches_races && self.machine.is_in_race(&work.lanes, thread) {
            self.report(Property::NoDataRace, None, path.steps().collect());
        }
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        let frontier = self.limits.statistics.frontier;
        self.look(frontier, bytes);
        match self.limits.stopped {
            Some(_) if self.patience == 0 => ControlFlow::Break(()),
            Some(_) => {
                self.patience -= 1;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Continue(()),
        }
    }
}

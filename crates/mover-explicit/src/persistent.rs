//! Persistent sets of threads on top of blocks.
//!
//! Where nothing is protected, transactions are short, and what is left to save is the order of
//! steps that do not conflict. A *persistent set* (Godefroid 1996) is a set of threads with which
//! the others have nothing to do for the time being: it suffices to expand its members. Here the
//! unit is not a step but a block, so a conflict counts only where a block takes a step that is not
//! a left mover.
//!
//! For a stored state *s* and a thread *t*, the *touch* of the block of *t* from *s* are the objects
//! accessed by its steps before the commit, and by those that it cannot take yet, as far as they are
//! no left movers. Thread *u* is *needed* by *t* if the touch of *t* conflicts with what *u* may
//! still access from its location (`mover_reduce::facts::conflicts`). The closure of *t* under
//! what is needed is admissible if
//!
//! - (a) it does not contain all threads;
//! - (b) the block of a member leads to a state of lower rank: the *proviso*;
//! - (c) if deadlocks are asked for: no member can both go on and block unobserved.
//!
//! Of the admissible sets one with the fewest successors is expanded. If there is none, all
//! threads are; only then deadlocks are found by comparing where blocks can stop.
//!
//! **Why it suffices.** Let *w* be a run from *s* to a violation, the shortest one that is
//! missed, and *s* of the least rank among the states with such a run. (1) No member moves in
//! *w*. The steps of a member's block by which (b) holds are left movers, or conflict with nothing
//! that the others may do; so they are possible before *w* and after it. The end of *w* is then no deadlock, and the
//! violation is missed from a state of lower rank: a contradiction. (2) Members move in *w*. If one
//! commits, take the first, *t*. What other members did before are right movers and can come later;
//! what outsiders did before conflicts with nothing in the touch of *t* and enables none of its steps;
//! the steps of *t* after the commit are left movers. So the block of *t* comes first, and the
//! rest of the run is shorter. If none commits, a violation by a member is found in its own block;
//! for one by an outsider leave out the right movers of the members, which is (1). In a deadlock a
//! member that can go on has stopped where its block is emitted, or unobserved, which (c) excludes.
//!
//! **Data races** are violations by two threads. If both are members, and neither commits, their
//! blocks from *s* come to the two accesses (`races`), so the blocks of the members are
//! compared. If one is a member and the other is not, the access of the first is in its touch (it
//! is no mover), and the other thread may still make one that conflicts with it: it is needed.
//!
//! **Beliefs** (`classify`) are revised where a thread *stands* before an access that refutes
//! them. Such a state is a violation by one thread in the sense above: whether it is one depends only
//! on what the thread accesses there, on locks whose holder no other thread can change, and on the
//! presence of other threads, which counts as read. So the first refutation on a run is not missed,
//! and beliefs that are kept in the end hold in all states. A set rests on the beliefs that the
//! blocks of its members count on; if one is lost, the state is expanded again.
//!
//! **Order.** The decision depends on the state only, neither on what has been seen nor on the
//! order of the search. A thread that can go on by left movers alone is the special case of an
//! empty touch; its block is then run as if its transaction had not ended.

use std::ops::ControlFlow;

use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_reduce::facts::conflicts::{AccessSets, Conflicts};
use rustc_hash::FxHashMap;

use crate::blocks::{BlockVisitor, Blocks, Halts};
use crate::classify::{Block, ObjectId};
use crate::expand::Expansion;
use crate::machine::{Machine, RunEnd, Step};
use crate::search::{common_halt, ends_in_deadlock};

/// With more threads all of them are expanded.
const MOST_THREADS: usize = 64;

/// What is known before the search, by program counter.
pub struct SetTables {
    objects: usize,
    places: Vec<Place>,
    /// Each set of accesses once; the first is empty.
    sets: Vec<AccessSets>,
}

struct Place {
    rank: u64,
    /// What a thread here may still access.
    ahead: usize,
    /// In the order of the compiled edges.
    steps: Vec<PlaceStep>,
}

struct PlaceStep {
    accesses: usize,
    /// Whether an atomic sequence follows, of which only the first edge is classified.
    begins_sequence: bool,
}

impl SetTables {
    pub fn new(machine: &Machine, program: &Program, conflicts: &Conflicts) -> Self {
        let empty = AccessSets::empty(conflicts.objects);
        let mut numbers: FxHashMap<AccessSets, usize> = FxHashMap::default();
        numbers.insert(empty, 0);
        let mut number = |sets: &AccessSets| match numbers.get(sets) {
            Some(&known) => known,
            None => {
                let next = numbers.len();
                numbers.insert(sets.clone(), next);
                next
            }
        };
        let nowhere = || Place {
            rank: 0,
            ahead: 0,
            steps: Vec::new(),
        };
        let mut places: Vec<Place> = Vec::new();
        places.resize_with(machine.program_counters(), nowhere);
        for (template, body) in program.templates.iter().enumerate() {
            for (location, found) in conflicts.locations[template].iter().enumerate() {
                let id = TemplateId(template as u32);
                let pc = machine.counter_of(id, LocationId(location as u32));
                let edges = &body.locations[location].edges;
                let steps = machine.original_edges(pc).map(|edge| PlaceStep {
                    accesses: number(&found.steps[edge]),
                    begins_sequence: body.location(edges[edge].target).atomic,
                });
                let steps = steps.collect();
                places[pc] = Place {
                    rank: found.rank,
                    ahead: number(&found.ahead),
                    steps,
                };
            }
        }
        let mut sets = vec![AccessSets::empty(0); numbers.len()];
        for (set, number) in numbers {
            sets[number] = set;
        }
        SetTables {
            objects: conflicts.objects,
            places,
            sets,
        }
    }

    /// Adds what the steps of a place access that are no left movers.
    pub fn touch(&self, pc: usize, is_left: impl Fn(usize) -> bool, touch: &mut AccessSets) {
        for (edge, step) in self.places[pc].steps.iter().enumerate() {
            if step.accesses != 0 && (step.begins_sequence || !is_left(edge)) {
                touch.add(&self.sets[step.accesses]);
            }
        }
    }

    pub fn no_accesses(&self) -> AccessSets {
        AccessSets::empty(self.objects)
    }

    fn rank(&self, machine: &Machine, lanes: &[u64]) -> u64 {
        let ranks =
            (0..machine.threads(lanes)).map(|thread| self.places[machine.pc(lanes, thread)].rank);
        ranks.fold(0, u64::saturating_add)
    }
}

/// The events of the expansion of a state.
pub trait StateVisitor: BlockVisitor {
    /// The blocks of several threads together come to a violation by these steps.
    fn violated(&mut self, property: Property, steps: Vec<Step>);
}

/// What is looked for by comparing blocks.
#[derive(Clone, Copy)]
pub struct Compared {
    pub deadlocks: bool,
    pub races: bool,
}

/// What the block of a thread came to.
#[derive(Default)]
struct Run {
    /// The emitted states one after the other, and where each ends.
    lanes: Vec<u64>,
    ends: Vec<usize>,
    /// Whether one of them has a lower rank than the state it was run from.
    falls: bool,
    run_ends: Vec<(RunEnd, Vec<Step>)>,
    halts: Halts,
    touch: AccessSets,
    /// The beliefs that it rests on.
    used: Vec<ObjectId>,
    can_move: bool,
}

impl Run {
    fn clear(&mut self) {
        self.lanes.clear();
        self.ends.clear();
        self.falls = false;
        self.run_ends.clear();
        self.halts = Halts::default();
        self.used.clear();
        self.can_move = false;
    }

    fn can_halt(&self) -> bool {
        self.halts.waiting.is_some() || self.halts.at_proper_end.is_some()
    }
}

/// Records what a block comes to, until it is known whether it counts.
struct Recorder<'a, V> {
    run: &'a mut Run,
    tables: &'a SetTables,
    machine: &'a Machine,
    /// Of the state that the block is run from.
    rank: u64,
    visitor: &'a mut V,
}

impl<V: BlockVisitor> BlockVisitor for Recorder<'_, V> {
    fn emit(&mut self, lanes: &[u64]) -> ControlFlow<()> {
        self.run.lanes.extend_from_slice(lanes);
        self.run.ends.push(self.run.lanes.len());
        self.run.falls |= self.tables.rank(self.machine, lanes) < self.rank;
        ControlFlow::Continue(())
    }

    fn run_ends(&mut self, end: RunEnd, steps: Vec<Step>) -> ControlFlow<()> {
        self.run.run_ends.push((end, steps));
        ControlFlow::Continue(())
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.visitor.tick(bytes + self.run.lanes.capacity() * 8)
    }
}

/// A part of what makes a set sound. Tests leave one out, to see that it is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// A member's block must lead to a state of lower rank.
    Proviso,
    /// No member both goes on and halts unobserved.
    SilentHalts,
    /// Steps that a member cannot take yet are in its touch.
    BlockedSteps,
    /// Taking a lock is in the touch.
    Acquires,
    /// All that an outsider may still do counts, not only what it does next.
    Future,
    /// Also if it cannot move now.
    BlockedFuture,
}

/// Whether a rule is left out; never but in tests.
#[cfg(not(test))]
pub const fn is_left_out(_: Rule) -> bool {
    false
}

#[cfg(test)]
pub use tests::{is_any_left_out, is_left_out};

/// Chooses which threads of a state are expanded.
pub struct Sets<'m> {
    machine: &'m Machine,
    pub tables: &'m SetTables,
    /// By thread.
    runs: Vec<Run>,
}

/// A set of threads, as bits.
type Members = u64;

impl<'m> Sets<'m> {
    pub fn new(machine: &'m Machine, tables: &'m SetTables) -> Self {
        Sets {
            machine,
            tables,
            runs: Vec::new(),
        }
    }

    /// Expands a stored state by blocks that find out by themselves what moves.
    pub fn expand(
        &mut self,
        blocks: &mut Blocks<'m>,
        start: &[u64],
        state: u32,
        compared: Compared,
        visitor: &mut impl StateVisitor,
    ) -> Expansion {
        let threads = self.machine.threads(start);
        if self.runs.len() < threads {
            let tables = self.tables;
            self.runs.resize_with(threads, || Run {
                touch: tables.no_accesses(),
                ..Run::default()
            });
        }
        let before = blocks.tally;
        let rank = self.tables.rank(self.machine, start);
        match self.go_on(blocks, start, rank, visitor) {
            ControlFlow::Break(()) => return Expansion::Stopped,
            ControlFlow::Continue(None) => {}
            ControlFlow::Continue(Some(thread)) => {
                blocks.tally = before.with_proper_set();
                return match self.finish(blocks, 1 << thread, state, visitor) {
                    ControlFlow::Break(()) => Expansion::Stopped,
                    ControlFlow::Continue(()) => Expansion::Done,
                };
            }
        }
        blocks.races.is_on = compared.races;
        blocks.races.clear();
        let live = self.live(start);
        let mut alone = None;
        for thread in 0..threads {
            if self.run(blocks, start, thread, rank, visitor).is_break() {
                return Expansion::Stopped;
            }
            // No set can have fewer successors.
            if threads <= MOST_THREADS
                && self.runs[thread].ends.len() == 1
                && live != 1 << thread
                && self.needs(start, live, 1 << thread, thread) == 0
                && self.is_admissible(1 << thread, live, compared)
            {
                alone = Some(1 << thread);
                break;
            }
        }
        let chosen = alone.or_else(|| self.choose(start, live, threads, compared));
        let flow = match chosen {
            Some(members) => {
                blocks.tally = before.with_proper_set();
                for thread in (0..threads).filter(|&thread| members >> thread & 1 == 0) {
                    blocks.races.forget(thread);
                }
                self.finish(blocks, members, state, visitor)
            }
            None => self.finish_all(blocks, threads, state, compared, visitor),
        };
        if flow.is_break() {
            return Expansion::Stopped;
        }
        if compared.races
            && let Some(steps) = blocks.races.race(self.machine, start)
        {
            visitor.violated(Property::NoDataRace, steps);
        }
        if chosen.is_some() {
            return Expansion::Done;
        }
        let runs = &mut self.runs[..threads];
        let is_stuck = runs.iter().all(|run| !run.can_move);
        let halts = runs.iter_mut().map(|run| std::mem::take(&mut run.halts));
        if compared.deadlocks
            && let Some(steps) = common_halt(halts.collect())
            && ends_in_deadlock(self.machine, start, &steps)
        {
            visitor.violated(Property::NoDeadlock, steps);
        }
        match is_stuck {
            true => Expansion::Stuck,
            false => Expansion::Done,
        }
    }

    /// The threads that are alive, if there are not too many.
    fn live(&self, start: &[u64]) -> Members {
        let threads = (0..self.machine.threads(start)).take(MOST_THREADS);
        let alive = threads.filter(|&thread| self.machine.pc(start, thread) != 0);
        alive.fold(0, |all, thread| all | 1 << thread)
    }

    /// Runs a thread that can continue by left movers alone, if that leads to a lower rank.
    fn go_on<V: StateVisitor>(
        &mut self,
        blocks: &mut Blocks<'m>,
        start: &[u64],
        rank: u64,
        visitor: &mut V,
    ) -> ControlFlow<(), Option<usize>> {
        for thread in 0..self.machine.threads(start).min(MOST_THREADS) {
            if !blocks.can_go_on(start, thread) {
                continue;
            }
            let run = &mut self.runs[thread];
            run.clear();
            let mut recorder = Recorder {
                run,
                tables: self.tables,
                machine: self.machine,
                rank,
                visitor,
            };
            if let Expansion::Stopped = blocks.go_on(start, thread, &mut recorder) {
                return ControlFlow::Break(());
            }
            let run = &mut self.runs[thread];
            if keep_used(blocks, run) && run.falls {
                return ControlFlow::Continue(Some(thread));
            }
        }
        ControlFlow::Continue(None)
    }

    /// Runs the block of a thread, again if it counted on something that it refutes itself.
    fn run<V: StateVisitor>(
        &mut self,
        blocks: &mut Blocks<'m>,
        start: &[u64],
        thread: usize,
        rank: u64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        loop {
            let run = &mut self.runs[thread];
            run.clear();
            let mut recorder = Recorder {
                run,
                tables: self.tables,
                machine: self.machine,
                rank,
                visitor: &mut *visitor,
            };
            let can_move = match blocks.run(start, thread, &mut recorder) {
                Expansion::Stopped => return ControlFlow::Break(()),
                Expansion::Done => true,
                Expansion::Stuck => false,
            };
            let run = &mut self.runs[thread];
            run.can_move = can_move;
            run.halts = blocks.take_halts();
            run.touch.clone_from(&blocks.touch);
            if keep_used(blocks, run) {
                return ControlFlow::Continue(());
            }
            blocks.races.forget(thread);
        }
    }

    /// The threads outside of a set that a member needs.
    fn needs(&self, start: &[u64], live: Members, members: Members, member: usize) -> Members {
        let touch = &self.runs[member].touch;
        let mut needed = 0;
        let mut outside = live & !members;
        while outside != 0 {
            let other = outside.trailing_zeros() as usize;
            outside &= outside - 1;
            if self.conflicts(touch, start, other) {
                needed |= 1 << other;
            }
        }
        needed
    }

    /// Whether a thread may still make an access that conflicts with these.
    fn conflicts(&self, touch: &AccessSets, start: &[u64], thread: usize) -> bool {
        let pc = self.machine.pc(start, thread);
        if is_left_out(Rule::Future) {
            let mut next = self.tables.no_accesses();
            self.tables.touch(pc, |_| false, &mut next);
            return touch.conflicts(&next);
        }
        if is_left_out(Rule::BlockedFuture) && !self.machine.can_move(start, thread) {
            return false;
        }
        touch.conflicts(&self.tables.sets[self.tables.places[pc].ahead])
    }

    fn closure(&self, start: &[u64], live: Members, first: usize) -> Members {
        let mut members: Members = 1 << first;
        let mut open = members;
        while open != 0 && members != live {
            let member = open.trailing_zeros() as usize;
            open &= open - 1;
            let needed = self.needs(start, live, members, member);
            members |= needed;
            open |= needed;
        }
        members
    }

    fn is_admissible(&self, members: Members, live: Members, compared: Compared) -> bool {
        let mut runs = runs_of(&self.runs, members);
        let goes_on_and_halts = |run: &Run| !run.ends.is_empty() && run.can_halt();
        members != live
            && (runs.clone().any(|run| run.falls) || is_left_out(Rule::Proviso))
            && (!compared.deadlocks
                || !runs.any(goes_on_and_halts)
                || is_left_out(Rule::SilentHalts))
    }

    /// The admissible set with the fewest successors, if it has fewer than all threads together. All
    /// blocks have been run.
    fn choose(
        &self,
        start: &[u64],
        live: Members,
        threads: usize,
        compared: Compared,
    ) -> Option<Members> {
        if threads > MOST_THREADS {
            return None;
        }
        let size = |members| runs_of(&self.runs, members).map(|run| run.ends.len()).sum();
        let mut fewest: usize = size(live);
        let mut chosen = None;
        for thread in 0..threads {
            if live >> thread & 1 == 0 || self.runs[thread].ends.is_empty() {
                continue;
            }
            let members = self.closure(start, live, thread);
            let successors = size(members);
            if successors < fewest && self.is_admissible(members, live, compared) {
                fewest = successors;
                chosen = Some(members);
            }
        }
        chosen
    }

    /// Reports what the members of a set came to, and what the set rests on.
    fn finish(
        &mut self,
        blocks: &mut Blocks,
        members: Members,
        state: u32,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<()> {
        let mut used = Vec::new();
        for run in runs_of(&self.runs, members) {
            used.extend_from_slice(&run.used);
        }
        rely(blocks, state, None, used);
        let threads = 0..self.runs.len();
        for thread in threads.filter(|&thread| thread < MOST_THREADS && members >> thread & 1 == 1)
        {
            show(&mut self.runs[thread], visitor)?;
        }
        ControlFlow::Continue(())
    }

    /// The same for all threads. What is found by comparing blocks rests on all of them.
    fn finish_all(
        &mut self,
        blocks: &mut Blocks,
        threads: usize,
        state: u32,
        compared: Compared,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<()> {
        if compared.deadlocks || compared.races {
            let used = self.runs[..threads].iter().flat_map(|run| &run.used);
            rely(blocks, state, None, used.copied().collect());
        } else {
            for (thread, run) in self.runs[..threads].iter().enumerate() {
                rely(blocks, state, Some(thread as u16), run.used.clone());
            }
        }
        for run in &mut self.runs[..threads] {
            show(run, visitor)?;
        }
        ControlFlow::Continue(())
    }
}

fn runs_of(runs: &[Run], members: Members) -> impl Iterator<Item = &Run> + Clone {
    let numbered = runs.iter().take(MOST_THREADS).enumerate();
    numbered.filter_map(move |(thread, run)| (members >> thread & 1 == 1).then_some(run))
}

/// Notes the beliefs that the last block rests on; whether they still hold.
fn keep_used(blocks: &mut Blocks, run: &mut Run) -> bool {
    match &mut blocks.stepper.classifier {
        Some(classifier) => {
            let (used, holds) = classifier.finish_block();
            run.used.extend_from_slice(used);
            holds
        }
        None => true,
    }
}

fn rely(blocks: &mut Blocks, state: u32, thread: Option<u16>, mut used: Vec<ObjectId>) {
    if let Some(classifier) = &mut blocks.stepper.classifier {
        used.sort_unstable();
        used.dedup();
        classifier.ledger.rely(Block { state, thread }, &used);
    }
}

fn show(run: &mut Run, visitor: &mut impl BlockVisitor) -> ControlFlow<()> {
    for (end, steps) in run.run_ends.drain(..) {
        visitor.run_ends(end, steps)?;
    }
    let mut first = 0;
    for &end in &run.ends {
        visitor.emit(&run.lanes[first..end])?;
        first = end;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    //! The traps of the reference: minimal programs on which a search misses a violation if a rule
    //! is left out.

    use std::cell::Cell;
    use std::path::Path;

    use mover_engine::{Control, Engine, Outcome, Task};
    use mover_fuzz::ir::mt;
    use mover_reduce::Reduction;

    use super::*;
    use crate::engine::Explicit;
    use crate::search::Order;

    thread_local! {
        static LEFT_OUT: Cell<Option<Rule>> = const { Cell::new(None) };
    }

    /// Whether a rule is left out. Beliefs are revised by accesses in states that have been stored by
    /// then, which would hide what is missing; so nothing is believed.
    pub fn is_any_left_out() -> bool {
        LEFT_OUT.get().is_some()
    }

    pub fn is_left_out(rule: Rule) -> bool {
        LEFT_OUT.get() == Some(rule)
    }

    fn program(folder: &str, name: &str) -> Program {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/transactions")
            .join(folder)
            .join(format!("{name}.mt"));
        let text = std::fs::read_to_string(&path).expect("the program is there");
        mt::parse(name, &text)
    }

    fn search(program: &Program, asked: &[Property], engine: &Explicit) -> Outcome {
        let task = Task::unchanged(program.clone(), asked.to_vec()).keep_dead_values(true);
        engine
            .run(&task, &Control::unlimited(), &mut |_| ())
            .expect("small programs fit")
    }

    fn finds(outcome: &Outcome, property: Property) -> bool {
        let mut all = outcome.violation().into_iter().chain(&outcome.further);
        all.any(|violation| violation.property == property)
    }

    fn dynamic(order: Order, jobs: usize) -> Explicit {
        Explicit {
            reduction: Reduction::Dynamic,
            order,
            jobs,
            narrow: 0,
            ..Explicit::default()
        }
    }

    const ERROR: Property = Property::UnreachCall;
    const DEADLOCK: Property = Property::NoDeadlock;

    /// The traps and what is missed. Some of them are traps of sleep sets or of values only, which
    /// are not used here.
    const TRAPS: &[(&str, Property)] = &[
        ("q01_no_proviso", ERROR),
        ("q02_future", ERROR),
        ("q03_future_deadlock", DEADLOCK),
        ("q04_disabled_member", ERROR),
        ("q05_blocked_future", ERROR),
        ("q06_silent_halt", DEADLOCK),
        ("q07_cas_fails_now", ERROR),
        ("q08_same_value", ERROR),
        ("q09_right_mover", ERROR),
        ("q10_right_mover_deadlock", DEADLOCK),
        ("q11_key_asleep", ERROR),
        ("q12_revisit_sleep", ERROR),
        ("q13_sleep_silent", DEADLOCK),
        ("q14_sleep_disabled", ERROR),
        ("q15_blocked_acquire", ERROR),
        ("q16_sleep_release", ERROR),
        ("r01_no_proviso", ERROR),
        ("r06_silent_halt", DEADLOCK),
    ];

    #[test]
    fn no_trap_hides_a_violation() {
        for &(name, property) in TRAPS {
            let program = program("traps", name);
            for asked in [&[ERROR][..], &[DEADLOCK], &[ERROR, DEADLOCK]] {
                let all = search(&program, asked, &Explicit::default());
                assert!(
                    !asked.contains(&property) || finds(&all, property),
                    "{name}"
                );
                for engine in [
                    dynamic(Order::BreadthFirst, 1),
                    dynamic(Order::DepthFirst, 1),
                    dynamic(Order::BreadthFirst, 2),
                ] {
                    let found = search(&program, asked, &engine);
                    for &one in asked {
                        assert_eq!(finds(&found, one), finds(&all, one), "{name}, {one}");
                    }
                }
            }
        }
    }

    /// Each rule is needed: without it a trap hides its violation.
    #[test]
    fn every_rule_is_needed() {
        let mut harmless = Vec::new();
        for (rule, name) in [
            (Rule::Proviso, "r01_no_proviso"),
            (Rule::Future, "q02_future"),
            (Rule::Future, "q03_future_deadlock"),
            (Rule::BlockedSteps, "q04_disabled_member"),
            (Rule::BlockedFuture, "q05_blocked_future"),
            (Rule::SilentHalts, "r06_silent_halt"),
            (Rule::Acquires, "q10_right_mover_deadlock"),
            (Rule::Acquires, "q09_right_mover"),
        ] {
            let (_, property) = *(TRAPS.iter())
                .find(|(trap, _)| *trap == name)
                .expect("a trap");
            let program = program("traps", name);
            LEFT_OUT.set(Some(rule));
            let asked: &[Property] = match property {
                DEADLOCK => &[DEADLOCK],
                _ if rule == Rule::Acquires => &[ERROR, DEADLOCK],
                _ => &[ERROR],
            };
            let found = search(&program, asked, &dynamic(Order::BreadthFirst, 1));
            LEFT_OUT.set(None);
            if finds(&found, property) {
                harmless.push((rule, name));
            }
        }
        assert_eq!(harmless, [], "rules that could be left out");
    }

    /// Two pairs of threads that have nothing to do with each other; the counts are the reference's.
    /// Which states are stored depends neither on the order nor on the number of workers.
    #[test]
    fn independent_threads_are_not_interleaved() {
        for (name, all, blocks, sets) in [
            ("prodcons2_once", 11, 5, 5),
            ("prodcons4_once", 121, 25, 17),
        ] {
            let program = program("lock-free", name);
            let stored = |engine: &Explicit| {
                let found = search(&program, &[ERROR], engine);
                assert!(found.violation().is_none(), "{name}");
                found.statistics.states
            };
            let without = Explicit {
                persistent: false,
                ..dynamic(Order::BreadthFirst, 1)
            };
            assert_eq!(stored(&Explicit::default()), all, "{name}");
            assert_eq!(stored(&without), blocks, "{name}");
            assert_eq!(stored(&dynamic(Order::BreadthFirst, 1)), sets, "{name}");
            assert_eq!(stored(&dynamic(Order::DepthFirst, 1)), sets, "{name}");
            assert_eq!(stored(&dynamic(Order::BreadthFirst, 2)), sets, "{name}");
        }
    }
}

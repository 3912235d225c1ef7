//! Tests whether declared movers commute.
//!
//! Reductions depend on claims: this step is a right mover, that one a left mover. The claims
//! come from analyses that can be wrong. Here they are tested against the definition, with all
//! interleavings and without reduction. In every reachable state of the program,
//!
//! - if a right mover α of one thread is followed by a step β of another, then β followed by α
//!   is possible as well and leads to the same state (Lipton 1975; Flanagan and Qadeer 2003,
//!   Section 2);
//! - if a left mover α and a step β of another thread are both enabled, then they are possible
//!   in either order and lead to the same state, and α is a left mover after β as well;
//! - where all possible next steps of a thread are left movers, no step of another thread
//!   enables any other step of it.
//!
//! A search that lets a committed transaction continue without interleaving depends on the last
//! two. Together they are at least as strong as Lipton's definition of a left mover (if α
//! follows β, then β can follow α) where the class of a step is that of its edge in all states;
//! for such classes his definition is tested as well. For classes that depend on the state it
//! would be too strong: receiving from a channel with a single receiver is a left mover once
//! there is a message, but not before the step that sends it.
//!
//! A step is a whole atomic sequence, as in all reduced searches. A rendezvous is a step of
//! both its threads, so it is not a step of another thread for either of them.
//!
//! If classes are inferred during the search, the beliefs at the end of a reduced search are
//! tested: they must hold in all states, including those that the reduced search omitted. So a
//! belief that the reduced search should have revised is found here as well.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mover_engine::{Control, EngineError, Progress, Statistics, Stop};
use mover_ir::program::{LocationId, TemplateId};
use mover_reduce::{Movers, PhaseFacts, ReductionPlan};

use crate::blocks::same_state;
use crate::classify::Classifier;
use crate::expand::{Event, Expander, Expansion, PassedPlaces, Path, SHORT_CHAIN, Visitor};
use crate::machine::{Machine, Moves, Step, Workspace};
use crate::search::{Options, Order, RunTime, Wanted, beliefs};

/// What came of trying the movers of a program.
#[derive(Debug)]
pub struct MoverCheck {
    /// The first claim that does not hold, in a state that is as near as any.
    pub wrong: Option<NotAMover>,
    /// Set if not everything was tried.
    pub stopped: Option<Stop>,
    /// What was met that explicit search does not take.
    pub refusal: Option<String>,
    /// States in which movers were tried.
    pub states: u64,
    /// Pairs of steps that were taken in both orders.
    pub pairs: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    RightMover,
    LeftMover,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// The other order is not possible.
    Impossible,
    /// The other order leads to another state.
    OtherState,
    /// After the other step it is not a left mover any more.
    Ceases,
}

/// An edge of the fused program taken by a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    pub thread: usize,
    pub template: TemplateId,
    pub location: LocationId,
    pub edge: usize,
}

/// A step that does not commute as it was declared to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAMover {
    pub claim: Claim,
    pub defect: Defect,
    /// The step with the claim; several edges if it is an atomic sequence.
    pub mover: Vec<Taken>,
    /// The step of another thread that it does not commute with.
    pub other: Vec<Taken>,
    /// From the initial state to where the two are taken.
    pub path: Vec<Taken>,
}

/// Tests the movers of a program. With facts, those are tried that a search finds out on the way
/// (with a plan also by what other threads can still do).
pub fn check_movers(
    movers: &Movers,
    facts: Option<&PhaseFacts>,
    plan: Option<&ReductionPlan>,
    control: &Control,
    progress: &mut Progress,
) -> Result<MoverCheck, EngineError> {
    let machine = Machine::with_movers(movers)?;
    let started = Instant::now();
    let run_time = facts.map(|facts| RunTime { facts, plan });
    let tables = run_time.map(|known| machine.phase_tables(&movers.fused.program, known));
    let classifier = match (&tables, run_time) {
        (Some(tables), Some(run_time)) => {
            let reduced = Options {
                order: Order::BreadthFirst,
                movers: Some(movers),
                run_time: Some(run_time),
                jobs: 1,
                narrow: 0,
                errors: true,
                deadlocks: true,
                races: false,
                wanted: Wanted {
                    properties: &[],
                    first: false,
                },
                persistent: true,
                // All of it, so that nothing remains that a belief could fall over.
                may_drop: false,
                keep_going: true,
                control,
                progress: &mut *progress,
            };
            let (outcome, ledger) = beliefs(&machine, tables, reduced)?;
            if outcome.stopped.is_some() {
                return Ok(MoverCheck {
                    wrong: None,
                    stopped: outcome.stopped,
                    refusal: outcome.refusal,
                    states: 0,
                    pairs: 0,
                });
            }
            let mut classifier = Classifier::new(&machine, tables);
            if let Some(ledger) = ledger {
                classifier.ledger = ledger;
            }
            classifier.ledger.freeze();
            Some(classifier)
        }
        _ => None,
    };
    let mut check = Check {
        machine: &machine,
        classifier,
        opaque_numbers: facts.is_some_and(|facts| facts.opaque_numbers),
        expander: Expander::new(&machine, false),
        work: Workspace::default(),
        states: States::default(),
        pairs: 0,
        control,
        progress,
        started,
        next_progress: PROGRESS_EVERY,
        stopped: None,
    };
    let wrong = match check.run() {
        ControlFlow::Break(Halt::Wrong(wrong)) => Some(*wrong),
        ControlFlow::Break(Halt::Stopped(stop)) => {
            check.stopped = Some(stop);
            None
        }
        ControlFlow::Continue(()) => None,
    };
    Ok(MoverCheck {
        wrong,
        stopped: check.stopped,
        refusal: machine.refusal().map(str::to_string),
        states: check.states.next as u64,
        pairs: check.pairs,
    })
}

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// States between two checks of the clock.
const STATES_PER_LOOK: usize = 1 << 6;

enum Halt {
    Wrong(Box<NotAMover>),
    Stopped(Stop),
}

/// All states found so far; those before `next` have been tried.
#[derive(Default)]
struct States {
    /// Without the zeros at the end, so that a state has one row of lanes.
    known: HashMap<Box<[u64]>, u32>,
    list: Vec<Found>,
    next: usize,
    /// Lanes of the widest state.
    widest: usize,
    bytes: usize,
}

struct Found {
    lanes: Box<[u64]>,
    parent: u32,
    /// From the parent.
    steps: Box<[Step]>,
}

impl States {
    /// Adds a state if it is new; fails if there is no number left for it.
    fn add(&mut self, lanes: &[u64], parent: u32, steps: &[Step]) -> Result<(), Stop> {
        self.widest = self.widest.max(lanes.len());
        let used = lanes
            .iter()
            .rposition(|&lane| lane != 0)
            .map_or(0, |at| at + 1);
        let lanes: Box<[u64]> = lanes[..used].into();
        if self.known.contains_key(&lanes) {
            return Ok(());
        }
        let number = u32::try_from(self.list.len()).map_err(|_| Stop::StoreFull)?;
        self.bytes += 2 * lanes.len() * 8 + size_of_val(steps) + size_of::<Found>() + 48;
        self.known.insert(lanes.clone(), number);
        self.list.push(Found {
            lanes,
            parent,
            steps: steps.into(),
        });
        Ok(())
    }

    fn load(&self, number: usize) -> Vec<u64> {
        let mut lanes = self.list[number].lanes.to_vec();
        lanes.resize(self.widest, 0);
        lanes
    }
}

/// What a thread can do in a state as one step.
struct Doing {
    lanes: Vec<u64>,
    steps: Vec<Step>,
    ends_run: bool,
    moves: Moves,
}

impl Doing {
    fn involves(&self, thread: usize) -> bool {
        self.steps.iter().any(|step| step.involves(thread))
    }
}

/// A step of one thread and what another could do before it.
struct Pair<'a> {
    /// The state, and its number.
    start: &'a [u64],
    number: usize,
    thread: usize,
    first: &'a Doing,
    other: usize,
    before: &'a [Doing],
    /// Whether the other can only do left movers.
    is_settled: bool,
    /// Whether the other is there before the step, which may start threads.
    is_old: bool,
}

struct Check<'m, 'o> {
    machine: &'m Machine,
    /// Says what moves; if absent, what was known before the search does.
    classifier: Option<Classifier<'m>>,
    /// See [`PhaseFacts::opaque_numbers`].
    opaque_numbers: bool,
    expander: Expander<'m>,
    work: Workspace,
    states: States,
    pairs: u64,
    control: &'o Control,
    progress: &'o mut Progress<'o>,
    started: Instant,
    next_progress: Duration,
    stopped: Option<Stop>,
}

impl Check<'_, '_> {
    fn run(&mut self) -> ControlFlow<Halt> {
        let added = self.states.add(self.machine.initial(), 0, &[]);
        halt_if_full(added)?;
        while self.states.next < self.states.list.len() {
            let number = self.states.next;
            if number.is_multiple_of(STATES_PER_LOOK) {
                self.look()?;
            }
            self.try_state(number)?;
            self.states.next += 1;
            if self.machine.refusal().is_some() {
                return ControlFlow::Break(Halt::Stopped(Stop::Refused));
            }
        }
        ControlFlow::Continue(())
    }

    fn try_state(&mut self, number: usize) -> ControlFlow<Halt> {
        let start = self.states.load(number);
        let threads = self.machine.threads(&start);
        let mut by_thread = Vec::with_capacity(threads);
        for thread in 0..threads {
            by_thread.push(self.doings(&start, thread)?);
        }
        let settled: Vec<bool> = (0..threads)
            .map(|thread| {
                let doings = &by_thread[thread];
                let all_move = doings.iter().all(|doing| doing.moves.left);
                // A thread that waits, or is caught in an atomic sequence for ever, keeps nobody
                // from continuing: its transaction is over there.
                !doings.is_empty() && all_move && self.is_settled(&start, thread)
            })
            .collect();
        for (thread, doings) in by_thread.iter().enumerate() {
            for first in doings {
                if !first.ends_run {
                    let added = self.states.add(&first.lanes, number as u32, &first.steps);
                    halt_if_full(added)?;
                }
                for other in 0..self.machine.threads(&first.lanes) {
                    if first.involves(other) {
                        continue;
                    }
                    let pair = Pair {
                        start: &start,
                        number,
                        thread,
                        first,
                        other,
                        before: by_thread.get(other).map_or(&[], Vec::as_slice),
                        is_settled: settled.get(other) == Some(&true),
                        is_old: other < threads && self.machine.pc(&start, other) != 0,
                    };
                    self.try_pair(&pair)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether nothing but left movers can come next for a thread, by its location. (An atomic
    /// sequence continues from there, so that what it does has to be asked for, too.)
    fn is_settled(&mut self, lanes: &[u64], thread: usize) -> bool {
        match &mut self.classifier {
            Some(classifier) => {
                classifier.start_block();
                let look = classifier.look(lanes, thread);
                !look.ends_transaction && !look.is_met
            }
            None => {
                let place = self.machine.place(lanes, thread);
                !place.ends_transaction && !place.is_met
            }
        }
    }

    /// A step, and what another thread can do before it and after it.
    fn try_pair(&mut self, pair: &Pair) -> ControlFlow<Halt> {
        let &Pair {
            start,
            number,
            thread,
            first,
            other,
            ..
        } = pair;
        if first.ends_run {
            // In either order, the error must stay reachable.
            for mover in pair.before.iter().filter(|doing| doing.moves.left) {
                self.pairs += 1;
                if !mover.ends_run && self.both(start, &mover.steps, &first.steps).is_none() {
                    let both = [(mover, start), (first, start)];
                    return self.wrong(number, Claim::LeftMover, Defect::Impossible, both);
                }
            }
            return ControlFlow::Continue(());
        }
        let behind = self.doings(&first.lanes, other)?;
        for mover in pair.before.iter().filter(|doing| doing.moves.left) {
            if mover.involves(thread) {
                continue;
            }
            self.pairs += 1;
            let same = behind.iter().find(|doing| doing.steps == mover.steps);
            let defect = match same {
                None => Some(Defect::Impossible),
                Some(same) if !same.moves.left => Some(Defect::Ceases),
                Some(same) => self.tried(start, &mover.steps, &first.steps, &same.lanes),
            };
            if let Some(defect) = defect {
                let both = [(mover, start), (first, start)];
                return self.wrong(number, Claim::LeftMover, defect, both);
            }
        }
        for second in behind.iter().filter(|doing| !doing.involves(thread)) {
            let both = [(first, start), (second, &first.lanes[..])];
            let is_known = || pair.before.iter().any(|doing| doing.steps == second.steps);
            if pair.is_settled && !is_known() {
                let [first, second] = both;
                let both = [second, first];
                return self.wrong(number, Claim::LeftMover, Defect::Impossible, both);
            }
            self.try_order(number, pair.is_old, both)?;
        }
        ControlFlow::Continue(())
    }

    /// Two steps that follow each other, by what is claimed of them whatever the state.
    fn try_order(
        &mut self,
        number: usize,
        is_old: bool,
        both: [(&Doing, &[u64]); 2],
    ) -> ControlFlow<Halt> {
        let [(first, start), (second, _)] = both;
        let is_left = self.classifier.is_none() && is_old && second.moves.left;
        if !(first.moves.right || is_left) {
            return ControlFlow::Continue(());
        }
        self.pairs += 1;
        match self.tried(start, &second.steps, &first.steps, &second.lanes) {
            None => ControlFlow::Continue(()),
            Some(defect) if first.moves.right => {
                self.wrong(number, Claim::RightMover, defect, both)
            }
            Some(defect) => {
                let [first, second] = both;
                self.wrong(number, Claim::LeftMover, defect, [second, first])
            }
        }
    }

    /// What a thread can do in a state, and how it moves.
    fn doings(&mut self, lanes: &[u64], thread: usize) -> ControlFlow<Halt, Vec<Doing>> {
        self.expander.work.lanes.clear();
        self.expander.work.lanes.extend_from_slice(lanes);
        let mut gather = Gather {
            machine: self.machine,
            thread,
            doings: Vec::new(),
            passed: PassedPlaces::default(),
            control: self.control,
            bytes: self.states.bytes,
            stopped: None,
        };
        if let Expansion::Stopped = self.expander.expand_thread(thread, &mut gather) {
            let stop = gather.stopped.unwrap_or(Stop::User);
            return ControlFlow::Break(Halt::Stopped(stop));
        }
        let mut doings = gather.doings;
        if let Some(classifier) = &mut self.classifier {
            classifier.look(lanes, thread);
            for doing in &mut doings {
                let is_opaque = self.machine.is_atomic(&doing.lanes, thread)
                    || doing.steps.len() >= SHORT_CHAIN;
                doing.moves = if is_opaque {
                    Moves::NONE
                } else {
                    classifier.start_block();
                    classifier.moves(lanes, thread, &doing.steps, &doing.lanes)
                };
            }
        }
        ControlFlow::Continue(doings)
    }

    /// What is wrong with one step and then the other, if they are to lead to a state.
    fn tried(
        &mut self,
        start: &[u64],
        first: &[Step],
        then: &[Step],
        to: &[u64],
    ) -> Option<Defect> {
        match self.both(start, first, then) {
            None => Some(Defect::Impossible),
            Some(after) if self.is_same(&after, to) => None,
            Some(_) => Some(Defect::OtherState),
        }
    }

    /// Whether two states are the same, or behave alike because they differ only in numbers that the
    /// program cannot observe.
    fn is_same(&self, a: &[u64], b: &[u64]) -> bool {
        let renamed = || self.machine.is_renamed(a, b);
        same_state(a, b) || (self.opaque_numbers && renamed())
    }

    /// The state after one step and then the other, if both are possible.
    fn both(&mut self, start: &[u64], first: &[Step], then: &[Step]) -> Option<Vec<u64>> {
        self.work.lanes.clear();
        self.work.lanes.extend_from_slice(start);
        self.work.forget();
        let possible = self.take(first) && self.take(then);
        possible.then(|| self.work.lanes.clone())
    }

    /// Takes a step if it is possible as it is and ends where it did.
    fn take(&mut self, steps: &[Step]) -> bool {
        let mut last = 0;
        for &step in steps {
            if !self.machine.is_possible(&self.work.lanes, step) {
                return false;
            }
            last = self.machine.apply(&mut self.work, step);
        }
        let lanes = &self.work.lanes;
        if !self.machine.is_atomic(lanes, last) || self.machine.run_end(lanes, last).is_some() {
            return true;
        }
        // An atomic sequence that stopped because it could not continue.
        let mut more = Vec::new();
        self.machine.thread_steps(lanes, last, false, &mut more);
        more.is_empty()
    }

    /// The claim on the first of two steps does not hold; each comes with the state it is taken in.
    fn wrong(
        &mut self,
        number: usize,
        claim: Claim,
        defect: Defect,
        [(mover, mover_from), (other, other_from)]: [(&Doing, &[u64]); 2],
    ) -> ControlFlow<Halt> {
        let mut chain = vec![number];
        while let Some(&last) = chain.last()
            && last != 0
        {
            chain.push(self.states.list[last].parent as usize);
        }
        let mut path = Vec::new();
        for pair in chain.windows(2).rev() {
            let steps = &self.states.list[pair[0]].steps;
            path.extend(self.edges_of(&self.states.load(pair[1]), steps));
        }
        ControlFlow::Break(Halt::Wrong(Box::new(NotAMover {
            claim,
            defect,
            mover: self.edges_of(mover_from, &mover.steps),
            other: self.edges_of(other_from, &other.steps),
            path,
        })))
    }

    /// The edges of steps that are taken from a state.
    fn edges_of(&self, from: &[u64], steps: &[Step]) -> Vec<Taken> {
        let mut taken = Vec::new();
        let mut work = Workspace::default();
        work.lanes.extend_from_slice(from);
        for &step in steps {
            let original = self.machine.original_step(&work.lanes, step);
            for part in [Some(original.by), original.with].into_iter().flatten() {
                let (template, location) = self.machine.location_of(&work.lanes, part.thread);
                taken.push(Taken {
                    thread: part.thread,
                    template,
                    location,
                    edge: part.edge,
                });
            }
            self.machine.apply(&mut work, step);
        }
        taken
    }

    /// Inspects the clock, the memory and requests to stop.
    fn look(&mut self) -> ControlFlow<Halt> {
        let elapsed = self.started.elapsed();
        if elapsed >= self.next_progress {
            self.next_progress = elapsed + PROGRESS_EVERY;
            (self.progress)(&Statistics {
                states: self.states.list.len() as u64,
                transitions: self.pairs,
                frontier: (self.states.list.len() - self.states.next) as u64,
                bytes: self.states.bytes as u64,
                time: elapsed,
                ..Statistics::default()
            });
        }
        match self.control.stop_at(self.states.bytes) {
            Some(stop) => ControlFlow::Break(Halt::Stopped(stop)),
            None => ControlFlow::Continue(()),
        }
    }
}

fn halt_if_full(added: Result<(), Stop>) -> ControlFlow<Halt> {
    match added {
        Ok(()) => ControlFlow::Continue(()),
        Err(stop) => ControlFlow::Break(Halt::Stopped(stop)),
    }
}

/// Gathers what a thread can do.
struct Gather<'a> {
    machine: &'a Machine,
    thread: usize,
    doings: Vec<Doing>,
    passed: PassedPlaces,
    control: &'a Control,
    /// What the states take already.
    bytes: usize,
    stopped: Option<Stop>,
}

impl Visitor for Gather<'_> {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        let steps: Vec<Step> = path.steps().collect();
        let ends_run = matches!(event, Event::RunEnd(_));
        // As in a reduced search: a sequence that stopped in its middle does not move, nor one of
        // which only one of several ways may be shown.
        let is_opaque =
            self.machine.is_atomic(&work.lanes, self.thread) || steps.len() >= SHORT_CHAIN;
        let moves = if is_opaque {
            Moves::NONE
        } else {
            let all = steps.iter().map(|step| step.moves);
            let moves = all.fold(Moves::START, Moves::then);
            Moves {
                left: moves.left && self.passed.all_left(steps.len()),
                ..moves
            }
        };
        self.doings.push(Doing {
            lanes: work.lanes.clone(),
            steps,
            ends_run,
            moves,
        });
        ControlFlow::Continue(())
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, path: Path) {
        let place = self.machine.place(&work.lanes, thread);
        self.passed.note(path.len(), !place.ends_transaction);
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.stopped = self.control.stop_at(self.bytes + bytes);
        match self.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

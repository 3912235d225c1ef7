//! Depth-first search with transactions, and six solutions of the ignoring problem.
//!
//! This is the search of Levin et al. (2005, Figures 5 to 8). Unlike chain blocks (`blocks`),
//! which store only states between transactions, it stores every state it visits, together with
//! the *phase* of the running thread: *pre* while the transaction has taken only right movers,
//! else *post*. At a stored state only the thread that led there continues, unless the state is
//! a *scheduling point*, at which all threads are explored. In post the scheduling points are
//! the states in which the transaction is over: the thread's next step may be something other
//! than a left mover, or it has no step ([`CompletionSearch::is_over`]).
//!
//! A transaction that has committed and never ends would hide the steps of the other threads
//! for ever: the *ignoring problem*. [`Ignoring`] selects a solution:
//!
//! - [`Ignoring::Cpc`], commit point completion. A state is *complete* if it is known to be
//!   followed by a scheduling point. A finished state in post that is not complete becomes a
//!   scheduling point itself if it is a commit point: it was reached by a step that is not a
//!   right mover (line L19 of Figure 8).
//! - [`Ignoring::CpcNoL19`]: every incomplete state, commit point or not.
//! - [`Ignoring::Cycle`]: a state from which a step closes a cycle in the part of the transaction
//!   after its commit point, that is, leads to a state on the stack with nothing but states in
//!   post and no scheduling point in between. A cycle that leaves this part is no danger: it
//!   passes the scheduling point at which the transaction began.
//! - [`Ignoring::Scc`]: one state of each strongly connected component of states in post that no
//!   step leaves and in which no transaction is over (Valmari 1990, as Levin et al. describe it in
//!   their Section 6). Components are found in the same search (Tarjan 1972).
//! - [`Ignoring::Lfs`]: a state in post whose thread is at a location of the feedback set
//!   (`mover_reduce::facts::feedback`), with Flanagan and Qadeer's rule that a thread at its
//!   first location is between transactions.
//! - [`Ignoring::Unsound`]: none. It finds errors, but the absence of errors proves nothing.
//!   Its number of states is the lower bound against which the sound solutions are measured.
//!
//! It differs from Figure 8 where experiments showed that the printed algorithm loses errors or
//! wastes states: a step is chosen once, not twice; there is no access to an empty stack; a
//! step that accesses nothing shared is a both mover; whether a transaction is over is decided
//! when a state is found, from all steps that its thread may ever take there, not only from
//! those that are enabled now (otherwise a thread that waits for a step that is not a left
//! mover is never scheduled); the exit of a thread ends its transaction. With L19 a state that
//! becomes complete marks all its predecessors on the stack at once, not only when it is left:
//! otherwise a test of a state on the stack would find it incomplete. Without L19 the algorithm
//! is as printed.
//!
//! A state is identified by its lanes and the phase, not by the thread that led there, as in
//! the paper.
//!
//! Movers are known before the search, or inferred during the search as in blocks (`classify`).
//! If a belief on which this search has relied turns out to be wrong, it starts again with what
//! it has learnt: the classes of a depth-first search affect every later state, so no part of
//! it could be kept. Each restart removes the protection of some object for good, so the number
//! of restarts is finite.
//!
//! **Deadlocks.** If they are checked, the same two rules apply as in blocks: a transaction
//! ends before it acquires its second lock, and where its thread is blocked. **Rendezvous:** a
//! thread that can be the receiver of a rendezvous is between transactions.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use mover_ir::graph::FixedBitSet;
use mover_ir::program::{BoundMet, LocationId, Property, TemplateId};
use mover_ir::semantics;
use mover_reduce::Movers;
use mover_reduce::facts::feedback::feedback_set;

use crate::blocks::Phase;
use crate::classify::{Classifier, PhaseTables};
use crate::machine::{Machine, Moves, RunEnd, Step, Workspace};
use crate::search::{Options, Searched, Trial, unfuse};
use crate::store::{NO_PARENT, Store};
use crate::successors::{Mark, Reach, Stepper, Trail};
use mover_engine::{BrokenClaim, EngineError, Statistics, Stop, Violation};

/// How a search makes sure that no transaction keeps the others waiting for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ignoring {
    /// Commit point completion.
    Cpc,
    /// Commit point completion without line L19.
    CpcNoL19,
    /// Cycle detection.
    Cycle,
    /// Terminal strongly connected components.
    Scc,
    /// Location feedback sets.
    Lfs,
    /// Not at all: errors can be missed.
    Unsound,
}

impl Ignoring {
    pub const ALL: [Ignoring; 6] = [
        Ignoring::Cpc,
        Ignoring::CpcNoL19,
        Ignoring::Cycle,
        Ignoring::Scc,
        Ignoring::Lfs,
        Ignoring::Unsound,
    ];

    /// Whether a search that finds nothing shows that there is nothing.
    pub fn is_sound(self) -> bool {
        self != Ignoring::Unsound
    }

    fn completes(self) -> bool {
        matches!(self, Ignoring::Cpc | Ignoring::CpcNoL19)
    }

    pub fn name(self) -> &'static str {
        match self {
            Ignoring::Cpc => "cpc",
            Ignoring::CpcNoL19 => "cpc-no-l19",
            Ignoring::Cycle => "cycle",
            Ignoring::Scc => "scc",
            Ignoring::Lfs => "lfs",
            Ignoring::Unsound => "unsound",
        }
    }
}

/// Explores a program depth first, cutting it into transactions by its movers. Fails if it does
/// not fit explicit search.
pub(crate) fn explore(
    ignoring: Ignoring,
    movers: &Movers,
    options: Options,
) -> Result<Searched, EngineError> {
    let machine = Machine::with_movers(movers)?;
    let tables = options
        .run_time
        .map(|run_time| machine.phase_tables(&movers.fused.program, run_time));
    let classifier = tables
        .as_ref()
        .map(|tables| Classifier::new(&machine, tables));
    let mut search = CompletionSearch::new(&machine, movers, ignoring, options, classifier);
    search.run();
    while search.has_counted_on_what_fell() {
        search.start_again();
        search.run();
    }
    let broken_claims = tables.as_ref().map(PhaseTables::broken_claims);
    Ok(search.outcome(broken_claims.unwrap_or_default()))
}

/// A state on the stack.
struct Frame {
    number: u32,
    lanes: Range<usize>,
    /// The steps from the state below.
    steps: Range<usize>,
    /// Of the running thread.
    phase: Phase,
    /// Whether a right mover led here.
    by_right_mover: bool,
    is_scheduling_point: bool,
    /// For components: the least state known to be in the same one, and whether a step leaves it or
    /// a scheduling point is in it.
    least: u32,
    is_left: bool,
    /// The thread that is tried now, and how many have been, with it.
    thread: usize,
    tried: usize,
    /// Whether one of them had a step.
    can_move: bool,
    /// The successors by that thread: where they begin, and the next to be inspected.
    mark: Mark,
    next: usize,
}

/// Of a stored state: a scheduling point is known to follow, or it is one.
const COMPLETE: u8 = 1;
const ON_STACK: u8 = 2;
/// Its strongly connected component is not known yet.
const OPEN: u8 = 4;

struct CompletionSearch<'m, 'o> {
    machine: &'m Machine,
    movers: &'m Movers,
    ignoring: Ignoring,
    /// By template and location; empty unless feedback sets are used.
    feedback: Vec<FixedBitSet>,
    stepper: Stepper<'m>,
    store: Store,
    /// By number of the state.
    marks: Vec<u8>,
    stack: Vec<Frame>,
    /// States whose component is not known yet, in the order in which they were found. Numbers are in
    /// that order, too.
    open: Vec<u32>,
    trail: Trail,
    numbers: Vec<u32>,
    key: Vec<u32>,
    clock: Clock<'o>,
    found: Option<Violation>,
    bounds: BTreeSet<BoundMet>,
}

/// When the search began, what it has done, and why it ended.
struct Clock<'o> {
    options: Options<'o>,
    started: Instant,
    next_progress: Duration,
    statistics: Statistics,
    stopped: Option<Stop>,
    looks: u32,
}

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Steps between two checks of the clock.
const STEPS_PER_LOOK: u32 = 1 << 9;

impl<'m, 'o> CompletionSearch<'m, 'o> {
    fn new(
        machine: &'m Machine,
        movers: &'m Movers,
        ignoring: Ignoring,
        options: Options<'o>,
        classifier: Option<Classifier<'m>>,
    ) -> Self {
        let templates = &movers.fused.program.templates;
        CompletionSearch {
            machine,
            movers,
            ignoring,
            feedback: match ignoring {
                Ignoring::Lfs => templates.iter().map(feedback_set).collect(),
                _ => Vec::new(),
            },
            stepper: Stepper::new(machine, classifier),
            store: Store::new(1 + machine.initial().len()),
            marks: Vec::new(),
            stack: Vec::new(),
            open: Vec::new(),
            trail: Trail::default(),
            numbers: Vec::new(),
            key: Vec::new(),
            clock: Clock {
                options,
                started: Instant::now(),
                next_progress: PROGRESS_EVERY,
                statistics: Statistics::default(),
                stopped: None,
                looks: 0,
            },
            found: None,
            bounds: BTreeSet::new(),
        }
    }

    /// Whether a class that was inferred during the search has turned out wrong since.
    fn has_counted_on_what_fell(&mut self) -> bool {
        let is_done = self.found.is_some() || self.clock.stopped.is_some();
        let classifier = self.stepper.classifier.as_mut();
        !is_done && classifier.is_some_and(|classifier| !classifier.finish_block().1)
    }

    /// Forgets all states, but not what was learnt of how threads access things.
    fn start_again(&mut self) {
        if let Some(classifier) = &mut self.stepper.classifier {
            classifier.start_block();
        }
        self.store = Store::new(1 + self.machine.initial().len());
        self.marks.clear();
        self.stack.clear();
        self.open.clear();
        self.trail = Trail::default();
        self.clock.statistics = Statistics::default();
    }

    fn run(&mut self) {
        if let ControlFlow::Continue(()) = self.begin() {
            while let ControlFlow::Continue(true) = self.advance() {
                if self.machine.refusal().is_some() {
                    self.clock.stopped = Some(Stop::Refused);
                    break;
                }
            }
        }
        let besides = self.marks.capacity() + stack_bytes(&self.stack) + self.trail.bytes();
        let left = self.stack.len();
        self.clock.update_statistics(&self.store, left, besides);
    }

    fn outcome(self, broken_claims: Vec<BrokenClaim>) -> Searched {
        Searched {
            violations: self.found.into_iter().collect(),
            gave_up: false,
            dropped: None,
            trial: Trial::First,
            bounds: self.bounds.into_iter().collect(),
            stopped: self.clock.stopped,
            refusal: self.machine.refusal().map(str::to_string),
            lost: None,
            broken_claims,
            statistics: self.clock.statistics,
        }
    }

    /// Puts the initial state on the stack.
    fn begin(&mut self) -> ControlFlow<()> {
        self.trail.lanes.extend_from_slice(self.machine.initial());
        let lanes = 0..self.trail.lanes.len();
        let (number, _) = self.store_state(&lanes, Phase::Post, 0)?;
        self.marks[number as usize] = COMPLETE | ON_STACK;
        let frame = Frame {
            number,
            lanes,
            steps: 0..0,
            phase: Phase::Post,
            by_right_mover: false,
            is_scheduling_point: true,
            least: number,
            is_left: true,
            thread: 0,
            tried: 1,
            can_move: false,
            mark: self.trail.mark(),
            next: 0,
        };
        self.stack.push(frame);
        self.gather()
    }

    /// One step of the search; whether there is more to do.
    fn advance(&mut self) -> ControlFlow<(), bool> {
        let Some(frame) = self.stack.last_mut() else {
            return ControlFlow::Continue(false);
        };
        if frame.next < self.trail.successors.len() {
            let successor = frame.next;
            frame.next += 1;
            self.clock.looks += 1;
            if self.clock.looks >= STEPS_PER_LOOK {
                self.clock.looks = 0;
                self.look()?;
            }
            self.enter(successor)?;
        } else {
            self.leave()?;
        }
        ControlFlow::Continue(true)
    }

    /// Inspects a successor of the topmost state and goes there if it is new.
    fn enter(&mut self, successor: usize) -> ControlFlow<()> {
        self.clock.statistics.transitions += 1;
        let successor = self.trail.successors[successor].clone();
        let top = self.stack.len() - 1;
        let (thread, from) = (self.stack[top].thread, self.stack[top].number);
        let phase = self.phase_after(top, &successor.lanes, successor.moves);
        let (number, is_new) = self.store_state(&successor.lanes, phase, thread)?;
        if !is_new {
            let marks = self.marks[number as usize];
            if marks & COMPLETE != 0 {
                self.complete(from, top);
            }
            if marks & OPEN != 0 {
                let frame = &mut self.stack[top];
                frame.least = frame.least.min(number);
            } else {
                self.stack[top].is_left = true;
            }
            let may_close = self.ignoring == Ignoring::Cycle && marks & ON_STACK != 0;
            if may_close && self.closes_cycle_after_commit(number) {
                self.stack[top].is_scheduling_point = true;
            }
            return ControlFlow::Continue(());
        }
        self.marks[number as usize] = ON_STACK;
        if self.ignoring == Ignoring::Scc {
            self.marks[number as usize] |= OPEN;
            self.open.push(number);
        }
        self.stack.push(Frame {
            number,
            lanes: successor.lanes,
            steps: successor.steps,
            phase,
            by_right_mover: successor.moves.right,
            is_scheduling_point: false,
            least: number,
            is_left: false,
            thread,
            tried: 1,
            can_move: false,
            mark: self.trail.mark(),
            next: self.trail.successors.len(),
        });
        let statistics = &mut self.clock.statistics;
        statistics.depth = statistics.depth.max(self.stack.len() as u64 - 1);
        self.gather()?;
        if phase == Phase::Post && self.is_over(top + 1) {
            self.stack[top + 1].is_scheduling_point = true;
            self.complete(number, top + 1);
        }
        ControlFlow::Continue(())
    }

    /// Whether the state is on the stack in the part of the present transaction after its commit
    /// point.
    fn closes_cycle_after_commit(&self, number: u32) -> bool {
        let from_top = self.stack.iter().rev();
        from_top
            .take_while(|frame| frame.phase == Phase::Post && !frame.is_scheduling_point)
            .any(|frame| frame.number == number)
    }

    /// The phase that a step of the topmost state's thread leads to.
    fn phase_after(&mut self, top: usize, lanes: &Range<usize>, moves: Moves) -> Phase {
        let frame = &self.stack[top];
        let thread = frame.thread;
        let (is_pre, took_lock) = match frame.phase {
            // The other threads at a scheduling point begin a transaction there.
            Phase::Pre { took_lock } => (true, took_lock),
            Phase::Post => (false, false),
        };
        let begins = self.ignoring == Ignoring::Lfs && self.is_at_entry(&frame.lanes, thread);
        if !(moves.right && (is_pre || !moves.left || begins)) {
            return Phase::Post;
        }
        let state = &self.trail.lanes[lanes.clone()];
        let place = self.stepper.look(state, thread);
        let keep_deadlocks = self.clock.options.deadlocks;
        let took_lock = keep_deadlocks && (took_lock || moves.takes_lock);
        let ends_here = place.is_met
            || (keep_deadlocks && took_lock && place.takes_lock)
            || (self.ignoring == Ignoring::Lfs && self.is_at_entry(lanes, thread))
            || (keep_deadlocks && !self.stepper.can_move(state, thread));
        if ends_here {
            Phase::Post
        } else {
            Phase::Pre { took_lock }
        }
    }

    /// Whether the transaction that led to a state in post is over there.
    fn is_over(&mut self, position: usize) -> bool {
        let frame = &self.stack[position];
        let place = (self.stepper).look(&self.trail.lanes[frame.lanes.clone()], frame.thread);
        let successors = &self.trail.successors[frame.mark.successors..];
        place.ends_transaction
            || place.is_met
            || successors.is_empty()
            || successors.iter().any(|successor| !successor.moves.left)
            || (self.ignoring == Ignoring::Lfs
                && (self.is_in_feedback_set(&frame.lanes, frame.thread)
                    || self.is_at_entry(&frame.lanes, frame.thread)))
    }

    /// Whether a thread that is alive is at the first location of its template.
    fn is_at_entry(&self, lanes: &Range<usize>, thread: usize) -> bool {
        let (template, location) = self.location(lanes, thread);
        self.movers.fused.program.template(template).entry == location
    }

    fn is_in_feedback_set(&self, lanes: &Range<usize>, thread: usize) -> bool {
        let (template, location) = self.location(lanes, thread);
        self.feedback[template.index()][location.index()]
    }

    fn location(&self, lanes: &Range<usize>, thread: usize) -> (TemplateId, LocationId) {
        let lanes = &self.trail.lanes[lanes.clone()];
        self.machine.location_of(lanes, thread)
    }

    /// Notes that a scheduling point follows a state, or is one.
    fn complete(&mut self, number: u32, position: usize) {
        self.marks[number as usize] |= COMPLETE;
        if self.ignoring != Ignoring::Cpc {
            return;
        }
        for frame in self.stack[..position].iter().rev() {
            let marks = &mut self.marks[frame.number as usize];
            if *marks & COMPLETE != 0 {
                break;
            }
            *marks |= COMPLETE;
        }
    }

    /// Done with the topmost state and its present thread: tries the next thread if there is to
    /// be one, else goes back.
    fn leave(&mut self) -> ControlFlow<()> {
        let top = self.stack.len() - 1;
        let frame = &mut self.stack[top];
        let number = frame.number;
        let is_incomplete = self.marks[number as usize] & COMPLETE == 0;
        let is_ignored = self.ignoring.completes()
            && frame.phase == Phase::Post
            && is_incomplete
            && !(self.ignoring == Ignoring::Cpc && frame.by_right_mover);
        let is_abandoned = self.ignoring == Ignoring::Scc
            && frame.phase == Phase::Post
            && frame.least == number
            && !frame.is_left;
        frame.is_scheduling_point |= is_ignored || is_abandoned;
        if frame.is_scheduling_point {
            self.complete(number, top);
        }
        if self.marks[number as usize] & COMPLETE != 0 && top > 0 {
            let below = self.stack[top - 1].number;
            self.marks[below as usize] |= COMPLETE;
        }
        let frame = &mut self.stack[top];
        self.trail.back_to(frame.mark);
        let threads = self.machine.threads(&self.trail.lanes[frame.lanes.clone()]);
        if frame.is_scheduling_point && frame.tried < threads {
            frame.thread = (frame.thread + 1) % threads;
            frame.tried += 1;
            frame.phase = Phase::Post;
            frame.next = self.trail.successors.len();
            return self.gather();
        }
        if frame.is_scheduling_point && !frame.can_move {
            self.meet_deadlock()?;
        }
        self.marks[number as usize] &= !ON_STACK;
        if let Some(left) = self.stack.pop() {
            self.close_component(&left);
        }
        ControlFlow::Continue(())
    }

    /// Notes what the state that was left says of the component of the state below. The first state of
    /// a component is left last; then the component is known, and steps into it leave theirs.
    fn close_component(&mut self, left: &Frame) {
        let is_known = left.least == left.number;
        if is_known {
            let first = self.open.iter().rposition(|&open| open == left.number);
            for member in self.open.drain(first.unwrap_or(self.open.len())..) {
                self.marks[member as usize] &= !OPEN;
            }
        }
        if let Some(below) = self.stack.last_mut() {
            below.is_left |= is_known || left.is_left || left.is_scheduling_point;
            below.least = below.least.min(left.least);
        }
    }

    /// Finds the steps of the present thread of the topmost state.
    fn gather(&mut self) -> ControlFlow<()> {
        let top = self.stack.len() - 1;
        let frame = &self.stack[top];
        let (lanes, thread) = (frame.lanes.clone(), frame.thread);
        let (clock, store) = (&mut self.clock, &self.store);
        let besides = self.marks.capacity() + stack_bytes(&self.stack) + self.trail.bytes();
        self.stepper.look(&self.trail.lanes[lanes.clone()], thread);
        let gathered = self
            .stepper
            .gather(lanes, thread, &mut self.trail, |extra| {
                clock.look(store, top + 1, besides + extra)
            });
        if gathered.reach == Reach::Stopped {
            return ControlFlow::Break(());
        }
        self.stack[top].can_move |= gathered.reach == Reach::Moves;
        for (end, steps) in gathered.run_ends {
            self.meet_run_end(end, &steps)?;
        }
        ControlFlow::Continue(())
    }

    fn meet_run_end(&mut self, end: RunEnd, steps: &[Step]) -> ControlFlow<()> {
        self.clock.statistics.transitions += 1;
        let Some(property) = end.violates else {
            self.bounds.insert(end.bound_met());
            return ControlFlow::Continue(());
        };
        if !self.clock.options.errors && property == Property::UnreachCall {
            return ControlFlow::Continue(());
        }
        let place = (end.template, end.location);
        self.report(property, Some(place), steps)
    }

    fn meet_deadlock(&mut self) -> ControlFlow<()> {
        let Some(frame) = self.stack.last() else {
            return ControlFlow::Continue(());
        };
        let lanes = &self.trail.lanes[frame.lanes.clone()];
        if !self.clock.options.deadlocks || self.machine.is_proper_end(lanes) {
            return ControlFlow::Continue(());
        }
        self.report(Property::NoDeadlock, None, &[])
    }

    /// Reports a violation by the steps that lead to it from the topmost state.
    fn report(
        &mut self,
        property: Property,
        error: Option<(TemplateId, LocationId)>,
        last: &[Step],
    ) -> ControlFlow<()> {
        self.clock.statistics.violations += 1;
        if self.found.is_none() {
            self.found = Some(Violation {
                property,
                error,
                steps: self.path(last),
            });
        }
        if self.clock.options.keep_going {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// The steps along the stack, and then some, in the terms of the original program.
    fn path(&self, last: &[Step]) -> Vec<semantics::Step> {
        let mut work = Workspace::default();
        work.lanes.extend_from_slice(self.machine.initial());
        let along = self.stack.iter().flat_map(|frame| frame.steps.clone());
        let along = along.map(|at| self.trail.steps[at]);
        let mut path = Vec::new();
        for step in along.chain(last.iter().copied()) {
            let original = self.machine.original_step(&work.lanes, step);
            let here = self.machine.location_of(&work.lanes, original.by.thread);
            path.extend(unfuse(self.movers, here, original));
            self.machine.apply(&mut work, step);
        }
        path
    }

    /// The number of a state with its phase, and whether it is new.
    fn store_state(
        &mut self,
        lanes: &Range<usize>,
        phase: Phase,
        thread: usize,
    ) -> ControlFlow<(), (u32, bool)> {
        let phase = match phase {
            Phase::Post => 0,
            Phase::Pre { took_lock } => 2 * (thread as u64 + 1) + u64::from(took_lock),
        };
        let lanes = &self.trail.lanes[lanes.clone()];
        self.store.ensure_lanes(1 + lanes.len());
        self.numbers.clear();
        self.numbers.resize(self.store.lanes(), 0);
        let mut fits = true;
        let all = std::iter::once(&phase).chain(lanes);
        for (lane, &value) in all.enumerate() {
            let (number, has_room) = self.store.intern(lane, value);
            self.numbers[lane] = number;
            fits &= has_room;
        }
        if !fits {
            self.store.relayout();
        }
        let hash = self.store.encode(&self.numbers, &mut self.key);
        match self.store.insert(&self.key, hash, NO_PARENT) {
            Ok(inserted) => {
                if inserted.is_new {
                    self.marks.push(0);
                }
                ControlFlow::Continue((inserted.number, inserted.is_new))
            }
            Err(_) => {
                self.clock.stopped = Some(Stop::StoreFull);
                ControlFlow::Break(())
            }
        }
    }

    /// Inspects the clock, the memory and requests to stop.
    fn look(&mut self) -> ControlFlow<()> {
        let besides = self.marks.capacity() + stack_bytes(&self.stack) + self.trail.bytes();
        self.clock.look(&self.store, self.stack.len(), besides)
    }
}

fn stack_bytes(stack: &Vec<Frame>) -> usize {
    stack.capacity() * size_of::<Frame>()
}

impl Clock<'_> {
    fn update_statistics(&mut self, store: &Store, frontier: usize, besides: usize) {
        self.statistics.states = store.len().into();
        self.statistics.frontier = frontier as u64;
        self.statistics.bytes = (store.bytes() + besides) as u64;
        self.statistics.time = self.started.elapsed();
    }

    /// Breaks if the search has to end; besides the store it takes this many bytes.
    fn look(&mut self, store: &Store, frontier: usize, besides: usize) -> ControlFlow<()> {
        self.update_statistics(store, frontier, besides);
        let elapsed = self.statistics.time;
        let needed = self.statistics.bytes as usize + store.next_growth();
        self.stopped = self.options.control.stop_at(needed);
        if elapsed >= self.next_progress {
            self.next_progress = elapsed + PROGRESS_EVERY;
            (self.options.progress)(&self.statistics);
        }
        match self.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Order;
    use mover_engine::Control;
    use std::collections::HashSet;

    /// How many scheduling points there are after the first thread has committed, with the second
    /// still at its beginning.
    fn points_after_commit(ignoring: Ignoring) -> usize {
        let text = include_str!("../tests/transactions/models/fig9.mt");
        let program = mover_fuzz::ir::mt::parse("fig9", text);
        let movers = mover_reduce::movers(&program).expect("there are movers");
        let machine = Machine::with_movers(&movers).expect("it fits");
        let options = Options {
            order: Order::DepthFirst,
            movers: None,
            run_time: None,
            jobs: 1,
            narrow: 0,
            errors: false,
            deadlocks: false,
            races: false,
            wanted: crate::search::Wanted {
                properties: &[],
                first: false,
            },
            persistent: false,
            may_drop: false,
            keep_going: false,
            control: &Control::unlimited(),
            progress: &mut |_| {},
        };
        let mut search = CompletionSearch::new(&machine, &movers, ignoring, options, None);
        let mut points = HashSet::new();
        assert!(search.begin().is_continue());
        while let ControlFlow::Continue(true) = search.advance() {
            for frame in search.stack.iter().filter(|f| f.is_scheduling_point) {
                let at = |thread| search.location(&frame.lanes, thread).1;
                if at(0) != LocationId(0) && at(1) == LocationId(0) {
                    points.insert(frame.number);
                }
            }
        }
        points.len()
    }

    /// Levin et al. (2005), Section 6: two endless loops after one commit point.
    #[test]
    fn figure_9_needs_one_interleaving_point() {
        assert_eq!(points_after_commit(Ignoring::Cpc), 1);
        assert_eq!(points_after_commit(Ignoring::Cycle), 2);
        assert_eq!(points_after_commit(Ignoring::Scc), 2);
        assert_eq!(points_after_commit(Ignoring::Lfs), 2);
        assert_eq!(points_after_commit(Ignoring::Unsound), 0);
    }
}

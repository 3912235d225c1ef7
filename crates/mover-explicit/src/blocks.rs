//! Transactions as the unit of search.
//!
//! A block runs one thread from a state in which all threads are *external* (between
//! transactions) through one transaction, by a local search, and emits the external states in
//! which the transaction can end; only those are stored. The choice of these states follows
//! Levin et al. (2005) and Flanagan and Qadeer (2003), with corrections to the printed
//! algorithms that experiments showed to be necessary; the result is called *chain blocks*.
//!
//! A thread is *pre* while it has taken only right movers since the block began, and *post*
//! once it has taken another step. In pre every step is explored. In post only left movers are
//! explored: the transaction ends where the next step may be something else (enabled or not),
//! where there is no step, or where no lock can be released any more.
//!
//! A post state need not be emitted if the transaction continues to the release of a lock: what
//! other threads can observe of it they can also observe after the release. So a post state
//! from which the release of a lock is reachable is not an end, and one from which none is
//! reachable is. This solves the *ignoring problem* (Levin et al. 2005: a transaction that
//! commits and then loops for ever on its own must not hide the steps of the other threads)
//! without cycle detection and without marks: every end is found on the finite graph of the
//! block. For an end state, the state after its deterministic tail of left movers is emitted
//! instead, so that many ends become one: whatever the other threads do before such a step they
//! can do after it as well.
//!
//! **Bounds.** A run that meets a bound ends there and is not an answer, so the search
//! continues. What other threads can do from a post state they can do where the transaction
//! ends; but if everything that follows in the transaction is a bound, it has no such end. A
//! post state without any other successor is therefore an end itself. (The same holds for
//! errors of properties that are not checked.)
//!
//! **Deadlocks.** Right movers hide deadlocks: a thread that waits for its second lock waits
//! inside a transaction. If deadlocks are checked, a block also ends before it acquires a
//! second lock, and where its thread holds a lock and is blocked. A thread that blocks in pre
//! without having acquired a lock has done nothing that other threads can observe; that it can
//! block is only recorded ([`Halts`]). A state is a deadlock if every thread can block from it
//! in this way, and one of them not at a valid end.
//!
//! **Data races.** A thread before its commit may be about to make an access that races with one
//! of another thread that is in the middle of its own transaction; `races` has the argument why it
//! suffices to record these accesses.
//!
//! **One thread.** In a state with one thread only there is nothing to interleave. A block then ends
//! at every choice, so that no way is walked twice; what is left to save is storing the states in
//! between.
//!
//! **Timeouts.** A step that waits for `timeout` is possible only where no other step is. Blocks take
//! no such steps; the search takes them from the states in which all threads are stuck. So all of
//! these states have to be stored, not only one of them: a block also ends where its thread blocks
//! in pre, whether it has acquired a lock or not. (See
//! [`mover_reduce::movers_between_timeouts`] for the argument.)
//!
//! **Rendezvous.** A thread at an unbuffered receive takes its next step inside another
//! thread's transaction, so it must be external there: such a state is emitted in either phase.

use std::ops::{ControlFlow, Range};

use hashbrown::HashTable;
use mover_reduce::facts::conflicts::AccessSets;

use crate::classify::Classifier;
use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, Moves, RunEnd, Step, Workspace};
use crate::persistent::{Rule, SetTables, Sets, is_left_out};
use crate::races::RaceWatch;
use crate::store::scramble;
use crate::successors::{Gathered, Reach, Stepper, Trail};

/// A block that has come to this many states ends at all that are left. A
/// transaction may end early anywhere, and a thread with a large state space of its
/// own would otherwise walk all of it again from each of its states.
const LARGEST_BLOCK: usize = 1 << 9;

/// From this many states on a block also ends at some states that are chosen by their hash alone, one
/// of [`ONE_OF`]. Long ways that begin at different states then end at the same ones, and are not
/// walked again and again with another offset.
const LONG_BLOCK: usize = 1 << 7;
const ONE_OF: u64 = 1 << 6;

/// Up to this many nodes are compared one by one.
const FEW_NODES: usize = 8;

/// What a thread has done since its transaction began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Only right movers.
    Pre {
        /// Whether it has taken a lock. Completion notes that only if deadlocks are searched for.
        took_lock: bool,
    },
    Post,
}

/// A state of the block; its lanes and steps lie in the trail.
struct Node {
    lanes: Range<usize>,
    phase: Phase,
    /// The node it was found from, and the steps from there.
    parent: usize,
    steps: Range<usize>,
    /// Where its thread's steps lead, among the edges.
    successors: Range<usize>,
    /// Emitted whatever follows.
    is_end: bool,
    /// Whether left movers may follow in post.
    has_tail: bool,
    /// Whether its thread has a step there.
    can_move: bool,
}

/// A step from one node to another, and what it is.
struct Edge {
    from: usize,
    to: usize,
    moves: Moves,
}

/// How a thread can block unobserved, and by which steps.
#[derive(Default)]
pub struct Halts {
    /// Not at a proper end.
    pub waiting: Option<Vec<Step>>,
    pub at_proper_end: Option<Vec<Step>>,
}

/// The events of a block, reported to the caller.
pub trait BlockVisitor {
    /// The transaction can end in this state.
    fn emit(&mut self, lanes: &[u64]) -> ControlFlow<()>;

    /// The thread runs into an error or a bound.
    fn run_ends(&mut self, end: RunEnd, steps: Vec<Step>) -> ControlFlow<()>;

    /// Called from time to time, with the bytes that the block takes.
    fn tick(&mut self, bytes: usize) -> ControlFlow<()>;
}

pub struct Blocks<'m> {
    machine: &'m Machine,
    pub stepper: Stepper<'m>,
    keep_deadlocks: bool,
    nodes: Vec<Node>,
    /// In the order of the nodes that they come from.
    edges: Vec<Edge>,
    trail: Trail,
    /// Whether there is one thread only.
    is_single: bool,
    /// Finds nodes by their states where there are many.
    index: HashTable<usize>,
    halts: Halts,
    /// What the blocks of the present state come to before their commits, for data races.
    pub races: RaceWatch,
    /// Chooses which threads of a state are expanded; if absent, all are.
    pub sets: Option<Sets<'m>>,
    /// What the steps of the last block access before its commit that are no left movers, if it is
    /// asked for.
    pub touch: AccessSets,
    set_tables: Option<&'m SetTables>,
    ways_back: WaysBack,
    /// Nodes that are waiting to be walked, and those that need not be any more.
    work: Vec<usize>,
    walked: Vec<bool>,
    tail: Tail,
    /// What all blocks came to so far.
    pub tally: Tally,
}

/// How long blocks are.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Steps that were taken.
    steps: u64,
    /// States that were emitted.
    ends: u64,
    /// Blocks whose thread had a step.
    moving: u64,
    /// States of which not all threads were expanded; their blocks are not counted above.
    pub proper: u64,
}

impl Tally {
    /// An estimate of the stored states as a share of those of a search without reduction, after so
    /// many states were expanded.
    ///
    /// If a transaction has m steps on average, the n threads that can move in a state without
    /// reduction are each at one of m places where a reduced search knows one.
    /// Where not all threads were expanded, the others wait at one place.
    pub fn share(&self, expanded: u64) -> f64 {
        let whole = expanded.saturating_sub(self.proper);
        let length = (self.steps as f64 / self.ends.max(1) as f64).max(1.0);
        let threads = self.moving as f64 / whole.max(1) as f64;
        length.powf(-threads) * whole as f64 / expanded.max(1) as f64
    }

    /// After one more state of which not all threads were expanded.
    pub fn with_proper_set(self) -> Tally {
        Tally {
            proper: self.proper + 1,
            ..self
        }
    }
}

/// Room for going through the edges of a block against their direction.
#[derive(Default)]
struct WaysBack {
    /// For each node the last edge that leads to it.
    last: Vec<Option<usize>>,
    /// For each edge the one before it that leads to the same node.
    before: Vec<Option<usize>>,
    work: Vec<usize>,
}

impl WaysBack {
    fn find(&mut self, nodes: usize, edges: &[Edge]) {
        self.last.clear();
        self.last.resize(nodes, None);
        self.before.clear();
        for (number, edge) in edges.iter().enumerate() {
            self.before.push(self.last[edge.to].replace(number));
        }
    }

    /// Marks all from which a marked node can be reached by the edges that were given.
    fn spread(&mut self, edges: &[Edge], marked: &mut [bool]) {
        self.work.clear();
        let first = marked
            .iter()
            .enumerate()
            .filter(|(_, is_marked)| **is_marked);
        self.work.extend(first.map(|(number, _)| number));
        while let Some(number) = self.work.pop() {
            let mut next = self.last[number];
            while let Some(edge) = next {
                let from = edges[edge].from;
                if !std::mem::replace(&mut marked[from], true) {
                    self.work.push(from);
                }
                next = self.before[edge];
            }
        }
    }
}

/// The deterministic tail of left movers from an end.
#[derive(Default)]
struct Tail {
    steps: Vec<Step>,
    /// An earlier state, to detect a cycle (Brent's algorithm).
    milestone: Vec<u64>,
    since_milestone: usize,
    to_next: usize,
}

impl Tail {
    fn start(&mut self) {
        self.steps.clear();
        self.milestone.clear();
        self.since_milestone = 0;
        self.to_next = 1;
    }

    /// Whether the path has returned to a previous state.
    fn is_circle(&mut self, lanes: &[u64]) -> bool {
        if self.milestone == lanes {
            return true;
        }
        self.since_milestone += 1;
        if self.since_milestone == self.to_next {
            self.milestone.clear();
            self.milestone.extend_from_slice(lanes);
            self.since_milestone = 0;
            self.to_next *= 2;
        }
        false
    }
}

/// The states that the steps of a thread lead to, with the steps.
#[derive(Default)]
struct Successors(Vec<(Vec<u64>, Vec<Step>)>);

impl Visitor for Successors {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        if let Event::Successor = event {
            self.0.push((work.lanes.clone(), path.steps().collect()));
        }
        ControlFlow::Continue(())
    }

    fn tick(&mut self, _bytes: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Whether two rows of lanes are one state: lanes that one of them lacks are zero.
pub fn same_state(a: &[u64], b: &[u64]) -> bool {
    let common = a.len().min(b.len());
    let rest = a[common..].iter().chain(&b[common..]);
    a[..common] == b[..common] && rest.copied().all(|lane| lane == 0)
}

impl<'m> Blocks<'m> {
    pub fn new(
        machine: &'m Machine,
        classifier: Option<Classifier<'m>>,
        keep_deadlocks: bool,
    ) -> Self {
        Blocks {
            machine,
            stepper: Stepper::new(machine, classifier),
            keep_deadlocks,
            nodes: Vec::new(),
            edges: Vec::new(),
            trail: Trail::default(),
            is_single: false,
            index: HashTable::new(),
            halts: Halts::default(),
            races: RaceWatch::default(),
            sets: None,
            touch: AccessSets::default(),
            set_tables: None,
            ways_back: WaysBack::default(),
            work: Vec::new(),
            walked: Vec::new(),
            tail: Tail::default(),
            tally: Tally::default(),
        }
    }

    /// Makes use of persistent sets.
    pub fn with_sets(mut self, tables: Option<&'m SetTables>) -> Self {
        if let Some(tables) = tables {
            self.sets = Some(Sets::new(self.machine, tables));
            self.touch = tables.no_accesses();
            self.set_tables = Some(tables);
        }
        self
    }

    /// Expands all threads from now on.
    pub fn drop_sets(&mut self) {
        self.sets = None;
        self.set_tables = None;
    }

    /// What is kept from block to block.
    pub fn bytes(&self) -> usize {
        let ledger = self.stepper.classifier.as_ref();
        ledger.map_or(0, |classifier| classifier.ledger.bytes())
    }

    /// The halts of the block that was run last.
    pub fn take_halts(&mut self) -> Halts {
        std::mem::take(&mut self.halts)
    }

    /// Runs the block of a thread from an external state.
    pub fn run(
        &mut self,
        start: &[u64],
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> Expansion {
        self.run_from(start, Phase::Pre { took_lock: false }, thread, visitor)
    }

    /// Whether the thread can continue by pure left movers, as if its transaction
    /// had not ended.
    pub fn can_go_on(&mut self, lanes: &[u64], thread: usize) -> bool {
        let classifier = self.stepper.classifier.as_mut();
        classifier.is_some_and(|classifier| classifier.goes_on_left(lanes, thread))
    }

    /// Runs a thread on from an external state by left movers alone.
    pub fn go_on(
        &mut self,
        start: &[u64],
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> Expansion {
        self.run_from(start, Phase::Post, thread, visitor)
    }

    fn run_from(
        &mut self,
        start: &[u64],
        phase: Phase,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> Expansion {
        self.clear();
        self.halts = Halts::default();
        self.touch.clear();
        self.is_single = self.machine.live_threads(start) == 1;
        if let Some(classifier) = &mut self.stepper.classifier {
            classifier.start_block();
        }
        self.add_start(start, phase);
        let mut next = 0;
        while next < self.nodes.len() {
            if self.expand(next, thread, visitor).is_break() {
                return Expansion::Stopped;
            }
            next += 1;
        }
        if !self.nodes[0].can_move {
            return Expansion::Stuck;
        }
        self.tally.moving += 1;
        self.tally.steps += self.nodes.len() as u64 - 1;
        self.emit_ends(thread, visitor)
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.trail.clear();
        if !self.index.is_empty() {
            self.index.clear();
        }
    }

    fn add_start(&mut self, lanes: &[u64], phase: Phase) {
        self.trail.lanes.extend_from_slice(lanes);
        self.add(0..lanes.len(), phase, 0, 0..0);
    }

    /// The node for a state that lies in the trail, and steps to it.
    fn add(
        &mut self,
        lanes: Range<usize>,
        phase: Phase,
        parent: usize,
        steps: Range<usize>,
    ) -> usize {
        let (nodes, all) = (&self.nodes, &self.trail.lanes);
        let state = &all[lanes.clone()];
        let same = |&other: &usize| {
            nodes[other].phase == phase && all[nodes[other].lanes.clone()] == *state
        };
        let number = nodes.len();
        let hash = |&node: &usize| hash_lanes(&all[nodes[node].lanes.clone()]);
        if number < FEW_NODES {
            if let Some(known) = (0..number).find(same) {
                return known;
            }
        } else {
            if self.index.is_empty() {
                (0..number).for_each(|node| {
                    self.index.insert_unique(hash(&node), node, hash);
                });
            }
            let own_hash = hash_lanes(state);
            if let Some(&known) = self.index.find(own_hash, same) {
                return known;
            }
            self.index.insert_unique(own_hash, number, hash);
        }
        self.nodes.push(Node {
            lanes,
            phase,
            parent,
            steps,
            successors: 0..0,
            is_end: false,
            has_tail: false,
            can_move: false,
        });
        number
    }

    /// Expands one node, unless the transaction ends there.
    fn expand(
        &mut self,
        number: usize,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<()> {
        let node = &self.nodes[number];
        let (phase, lanes) = (node.phase, node.lanes.clone());
        let state = &self.trail.lanes[lanes.clone()];
        let ends = match phase {
            Phase::Post => {
                let look = self.stepper.look(state, thread);
                self.nodes[number].has_tail = !look.ends_transaction && !look.is_met;
                look.ends_transaction || look.is_met || !look.may_release
            }
            Phase::Pre { took_lock } => {
                let look = match self.set_tables {
                    Some(_) => self.stepper.look(state, thread),
                    None => self.stepper.look_in_pre(state, thread),
                };
                number > 0 && (look.is_met || (self.keep_deadlocks && took_lock && look.takes_lock))
            }
        };
        if ends || (number > 0 && self.is_long(number)) {
            self.nodes[number].is_end = true;
            return ControlFlow::Continue(());
        }
        if phase != Phase::Post
            && let (Some(tables), Some(classifier)) = (self.set_tables, &self.stepper.classifier)
        {
            let pc = self.machine.pc(state, thread);
            let is_left = |edge| {
                classifier.looks_left(edge)
                    || is_left_out(Rule::Acquires) && self.machine.takes_lock(pc, edge)
                    || is_left_out(Rule::BlockedSteps) && !self.machine.can_move(state, thread)
            };
            tables.touch(pc, is_left, &mut self.touch);
        }
        let gathered = self.gather(lanes, thread, visitor)?;
        for (end, steps) in gathered.run_ends {
            let mut path = self.path(number);
            path.extend(steps);
            visitor.run_ends(end, path)?;
        }
        if phase != Phase::Post && self.races.is_on {
            self.note_accesses(number, thread, gathered.passed_accesses);
        }
        let successors = &self.trail.successors;
        let ends_post = || successors.iter().any(|successor| !successor.moves.left);
        let is_choice = self.is_single && number > 0 && successors.len() > 1;
        if is_choice || (phase == Phase::Post && ends_post()) {
            self.nodes[number].is_end = true;
            return ControlFlow::Continue(());
        }
        let can_move = gathered.reach == Reach::Moves;
        self.nodes[number].can_move = can_move;
        let first_edge = self.edges.len();
        for position in 0..successors.len() {
            let successor = self.trail.successors[position].clone();
            let moves = successor.moves;
            let phase = match phase {
                Phase::Pre { took_lock } if moves.right => Phase::Pre {
                    took_lock: took_lock || moves.takes_lock,
                },
                _ => Phase::Post,
            };
            let to = self.add(successor.lanes, phase, number, successor.steps);
            self.edges.push(Edge {
                from: number,
                to,
                moves,
            });
        }
        self.nodes[number].successors = first_edge..self.edges.len();
        if !can_move {
            match phase {
                Phase::Post => self.nodes[number].is_end = true,
                Phase::Pre { took_lock: true } => {
                    self.nodes[number].is_end = self.keep_deadlocks;
                }
                Phase::Pre { took_lock: false } => {
                    // The start is stored already.
                    self.nodes[number].is_end = number > 0 && self.machine.uses_timeout();
                    self.note_halt(number, thread);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether the block is too long to go on from a node.
    fn is_long(&self, number: usize) -> bool {
        let lanes = || &self.trail.lanes[self.nodes[number].lanes.clone()];
        self.nodes.len() >= LARGEST_BLOCK
            || (self.nodes.len() >= LONG_BLOCK && hash_lanes(lanes()).is_multiple_of(ONE_OF))
    }

    /// Records what the thread is about to access at a node before the commit.
    fn note_accesses(&mut self, number: usize, thread: usize, passed: Vec<(Vec<u64>, Vec<Step>)>) {
        let state = &self.trail.lanes[self.nodes[number].lanes.clone()];
        let is_accessing = !self.machine.accesses(state, thread).is_empty();
        if !is_accessing && passed.is_empty() {
            return;
        }
        let successors = &self.trail.successors;
        let are_movers =
            !successors.is_empty() && successors.iter().all(|successor| successor.moves.right);
        let mut races = std::mem::take(&mut self.races);
        if is_accessing && !are_movers {
            races.note(self.machine, state, thread, || self.path(number), false);
        }
        for (lanes, steps) in passed {
            let whole = || {
                let mut path = self.path(number);
                path.extend(steps);
                path
            };
            races.note(self.machine, &lanes, thread, whole, true);
        }
        self.races = races;
    }

    fn note_halt(&mut self, number: usize, thread: usize) {
        let lanes = &self.trail.lanes[self.nodes[number].lanes.clone()];
        let known = if self.machine.is_at_proper_end(lanes, thread) {
            &self.halts.at_proper_end
        } else {
            &self.halts.waiting
        };
        if known.is_some() || !self.keep_deadlocks {
            return;
        }
        let path = Some(self.path(number));
        if self.machine.is_at_proper_end(lanes, thread) {
            self.halts.at_proper_end = path;
        } else {
            self.halts.waiting = path;
        }
    }

    /// Finds what the steps of a thread lead to from the lanes at this place, where it has been
    /// looked at; the successors are those of the trail afterwards.
    fn gather(
        &mut self,
        lanes: Range<usize>,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<(), Gathered> {
        self.trail.successors.clear();
        let bytes = self.trail.bytes();
        let tick = |extra| visitor.tick(bytes + extra);
        let gathered = self.stepper.gather(lanes, thread, &mut self.trail, tick);
        match gathered.reach {
            Reach::Stopped => ControlFlow::Break(()),
            Reach::Moves | Reach::Stuck => ControlFlow::Continue(gathered),
        }
    }

    /// The steps from the block's start to a node.
    fn path(&self, mut number: usize) -> Vec<Step> {
        let mut parts = Vec::new();
        while number != 0 {
            parts.push(self.nodes[number].steps.clone());
            number = self.nodes[number].parent;
        }
        let steps = parts.into_iter().rev().flatten();
        steps.map(|at| self.trail.steps[at]).collect()
    }

    /// For each node, whether a pure left mover, such as releasing a lock, can
    /// still follow in post.
    fn can_give_back(&mut self) -> Vec<bool> {
        let mut can = vec![false; self.nodes.len()];
        let mut is_any = false;
        for edge in &self.edges {
            if self.nodes[edge.from].phase == Phase::Post && edge.moves.left && !edge.moves.right {
                can[edge.from] = true;
                is_any = true;
            }
        }
        if !is_any {
            return can;
        }
        // Marks on nodes in pre mean nothing, and nothing follows from them for those in post.
        let is_post = |number: usize| self.nodes[number].phase == Phase::Post;
        self.ways_back.find(self.nodes.len(), &self.edges);
        self.ways_back.spread(&self.edges, &mut can);
        // Left movers run out, so every way ends. Where one did not, the others
        // would never be let in.
        let mut ends: Vec<bool> = (0..self.nodes.len())
            .map(|number| !can[number] && is_post(number))
            .collect();
        self.ways_back.spread(&self.edges, &mut ends);
        for (can, ends) in can.iter_mut().zip(ends) {
            *can &= ends;
        }
        can
    }

    /// Steps of one thread from one state to another, whatever moves. A block
    /// found the other state, but what moves may have become less since.
    pub fn find_way(&mut self, start: &[u64], wanted: &[u64]) -> Option<Vec<Step>> {
        let slot = |lanes: &[u64], thread| self.machine.slot_lanes(lanes, thread).to_vec();
        let mut threads: Vec<usize> = (0..self.machine.threads(start)).collect();
        threads.sort_by_key(|&thread| slot(start, thread) == slot(wanted, thread));
        let mut most = 1 << 10;
        loop {
            let mut gave_up = false;
            for &thread in &threads {
                match self.find_way_of(start, thread, wanted, most) {
                    ControlFlow::Break(steps) => return Some(steps),
                    ControlFlow::Continue(is_complete) => gave_up |= !is_complete,
                }
            }
            if !gave_up {
                return None;
            }
            most *= 8;
        }
    }

    /// The way of one thread, or whether all that it can reach was seen.
    fn find_way_of(
        &mut self,
        start: &[u64],
        thread: usize,
        wanted: &[u64],
        most: usize,
    ) -> ControlFlow<Vec<Step>, bool> {
        self.clear();
        self.add_start(start, Phase::Post);
        let mut expander = Expander::new(self.machine, false);
        let mut next = 0;
        while next < self.nodes.len() {
            expander.work.lanes.clear();
            let lanes = &self.trail.lanes[self.nodes[next].lanes.clone()];
            expander.work.lanes.extend_from_slice(lanes);
            let mut successors = Successors::default();
            expander.expand_thread(thread, &mut successors);
            for (lanes, steps) in successors.0 {
                let (first_lane, first_step) = (self.trail.lanes.len(), self.trail.steps.len());
                self.trail.lanes.extend_from_slice(&lanes);
                self.trail.steps.extend_from_slice(&steps);
                let (all_lanes, all_steps) = (self.trail.lanes.len(), self.trail.steps.len());
                let number = self.add(
                    first_lane..all_lanes,
                    Phase::Post,
                    next,
                    first_step..all_steps,
                );
                if same_state(&lanes, wanted) {
                    return ControlFlow::Break(self.path(number));
                }
            }
            next += 1;
            if next > most {
                return ControlFlow::Continue(false);
            }
        }
        ControlFlow::Continue(true)
    }

    /// Walks from the start through the states that continue and emits those at which the block ends.
    fn emit_ends(&mut self, thread: usize, visitor: &mut impl BlockVisitor) -> Expansion {
        let can = self.can_give_back();
        self.walked.clear();
        self.walked.resize(self.nodes.len(), false);
        self.walked[0] = true;
        self.work.clear();
        self.work.push(0);
        while let Some(number) = self.work.pop() {
            let node = &self.nodes[number];
            let goes_on = match node.phase {
                Phase::Pre { .. } => !node.is_end,
                Phase::Post => can[number],
            };
            if !goes_on {
                if self.emit(number, thread, visitor).is_break() {
                    return Expansion::Stopped;
                }
                continue;
            }
            for edge in &self.edges[node.successors.clone()] {
                if !std::mem::replace(&mut self.walked[edge.to], true) {
                    self.work.push(edge.to);
                }
            }
        }
        Expansion::Done
    }

    /// Emits an end, or what its tail of left movers leads to.
    fn emit(
        &mut self,
        number: usize,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<()> {
        self.tally.ends += 1;
        let node = &self.nodes[number];
        let mut lanes = node.lanes.clone();
        if !node.has_tail {
            return visitor.emit(&self.trail.lanes[lanes]);
        }
        self.tail.start();
        self.trail.successors.clear();
        let mark = self.trail.mark();
        loop {
            let state = &self.trail.lanes[lanes.clone()];
            let look = self.stepper.look(state, thread);
            if look.ends_transaction || look.is_met || self.tail.is_circle(state) {
                break;
            }
            let gathered = self.gather(lanes.clone(), thread, visitor)?;
            for (end, steps) in gathered.run_ends {
                let mut path = self.path(number);
                path.extend_from_slice(&self.tail.steps);
                path.extend(steps);
                visitor.run_ends(end, path)?;
            }
            let [only] = &self.trail.successors[..] else {
                break;
            };
            if !only.moves.left {
                break;
            }
            let steps = &self.trail.steps[only.steps.clone()];
            self.tail.steps.extend_from_slice(steps);
            self.tally.steps += 1;
            lanes = self.trail.keep_last(mark);
        }
        let flow = visitor.emit(&self.trail.lanes[lanes]);
        self.trail.back_to(mark);
        flow
    }
}

fn hash_lanes(lanes: &[u64]) -> u64 {
    lanes.iter().fold(0, |hash, &lane| scramble(hash ^ lane))
}

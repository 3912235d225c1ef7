//! Transactions as the unit of search.
//!
//! A block runs one thread from a state in which all threads are *external*
//! (between transactions) through one transaction, by a local search, and emits
//! the external states in which it can end; only those are stored. Which states
//! these are is the matter of papers 000 and 002, with corrections that
//! experiments forced on the printed algorithms; what stands here is called
//! *chain blocks*.
//!
//! A thread is *pre* while it has only taken right movers since the block began,
//! *post* once it has taken another step. In pre every step is explored. In post
//! only left movers are: where the next step may be something else (enabled or
//! not), where there is no step, or where no lock can be given back any more,
//! the transaction ends.
//!
//! A post state need not be emitted if the transaction goes on to give back a
//! lock: what others can see of it they can see after that, too. So a post state
//! from which the release of a lock can be reached is passed through, and one
//! from which none can be reached is an end. This solves the *ignoring problem*
//! (paper 000: a transaction that commits and then runs for ever in a loop of
//! its own must not keep the others waiting) without cycle detection and without
//! marks: every end is found on the finite graph of the block. Of an end state
//! not itself but the one behind its deterministic tail of left movers is
//! emitted, so that many ends become one: whatever the others do before such a
//! step they can do after it, too.
//!
//! **Deadlocks.** Right movers hide them: a thread that waits for its second
//! lock waits inside of a transaction. If deadlocks are asked for, a block also
//! ends before it takes a second lock, and where it has a lock and cannot move. A
//! thread that comes to a halt in pre without having taken a lock has done
//! nothing that others notice; that it can is only noted ([`Halts`]). A state is
//! a deadlock if every thread can come to a halt from it in this way, and one of
//! them not at a proper end.
//!
//! **Rendezvous.** A thread that stands at a receive without buffer takes its
//! next step inside of somebody else's transaction, so it must be external
//! there: such a state is emitted in either phase.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hashbrown::HashTable;

use crate::classify::{Classifier, Look};
use crate::expand::{Event, Expander, Expansion, PassedPlaces, Path, SHORT_CHAIN, Visitor};
use crate::machine::{ErrorLocation, Machine, Moves, Step, Workspace};
use crate::store::scramble;
use crate::successors::look;

/// A block that has come to this many states ends at all that are left. A
/// transaction may end early anywhere, and a thread with a large state space of its
/// own would otherwise walk all of it again from each of its states.
const LARGEST_BLOCK: usize = 1 << 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Pre {
        /// Whether the block has taken a lock.
        took_lock: bool,
    },
    Post,
}

struct Node {
    lanes: std::ops::Range<usize>,
    phase: Phase,
    /// The node it was found from, and the steps from there.
    parent: usize,
    steps: std::ops::Range<usize>,
    /// Nodes that its thread's steps lead to, with what the step is.
    successors: Vec<(usize, Moves)>,
    /// Emitted whatever follows.
    is_end: bool,
    /// Whether its thread has a step there.
    can_move: bool,
}

/// How a thread can come to a halt without anybody noticing, and by which steps.
#[derive(Default)]
pub struct Halts {
    /// Not at a proper end.
    pub waiting: Option<Vec<Step>>,
    pub at_proper_end: Option<Vec<Step>>,
}

/// What happens in a block is told to its caller through this.
pub trait BlockVisitor {
    /// The transaction can end in this state.
    fn emit(&mut self, lanes: &[u64]) -> ControlFlow<()>;

    /// The thread runs into an error.
    fn error(&mut self, error: ErrorLocation, steps: Vec<Step>) -> ControlFlow<()>;

    /// Called every now and then, with the bytes that the block takes.
    fn tick(&mut self, bytes: usize) -> ControlFlow<()>;
}

pub struct Blocks<'m> {
    machine: &'m Machine,
    /// Says what moves; if absent, what was known before the search does.
    pub classifier: Option<Classifier<'m>>,
    expander: Expander<'m>,
    keep_deadlocks: bool,
    nodes: Vec<Node>,
    lanes: Vec<u64>,
    steps: Vec<Step>,
    index: HashTable<usize>,
    halts: Halts,
}

/// One step of a node's expansion.
struct Successor {
    lanes: Vec<u64>,
    moves: Moves,
    steps: Vec<Step>,
}

/// What the steps of a thread lead to.
struct Reached {
    /// Whether there is a step at all; an atomic sequence may never end.
    can_move: bool,
    successors: Vec<Successor>,
    errors: Vec<(ErrorLocation, Vec<Step>)>,
}

/// Gathers the successors of one node.
struct Gather<'a, 'm, V> {
    machine: &'a Machine,
    classifier: Option<&'a mut Classifier<'m>>,
    thread: usize,
    passed: PassedPlaces,
    successors: Vec<Successor>,
    errors: Vec<(ErrorLocation, Vec<Step>)>,
    visitor: &'a mut V,
    bytes: usize,
}

impl<V: BlockVisitor> Visitor for Gather<'_, '_, V> {
    fn pass(&mut self, lanes: &[u64], step: Step) {
        if let Some(classifier) = &mut self.classifier {
            classifier.count(lanes, step);
        }
    }

    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        let steps: Vec<Step> = path.steps().collect();
        match event {
            Event::Error(error) => self.errors.push((error, steps)),
            Event::Successor => {
                let mut moves = steps
                    .iter()
                    .fold(Moves::START, |moves, step| moves.then(step.moves));
                moves.left &= self.passed.all_left(steps.len());
                // A sequence that stopped in its middle has looked at what it waits for;
                // of a long one only one of several ways may be shown.
                let is_opaque =
                    self.machine.is_atomic(&work.lanes, self.thread) || steps.len() >= SHORT_CHAIN;
                self.successors.push(Successor {
                    lanes: work.lanes.clone(),
                    moves: if is_opaque { Moves::NONE } else { moves },
                    steps,
                });
            }
        }
        ControlFlow::Continue(())
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, steps: usize) {
        if let Some(classifier) = &mut self.classifier {
            classifier.count_place(&work.lanes, thread);
        }
        let place = self.machine.place(&work.lanes, thread);
        self.passed.note(steps, !place.ends_transaction);
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.visitor.tick(bytes + self.bytes)
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
            classifier,
            expander: Expander::new(machine, false),
            keep_deadlocks,
            nodes: Vec::new(),
            lanes: Vec::new(),
            steps: Vec::new(),
            index: HashTable::new(),
            halts: Halts::default(),
        }
    }

    /// What is kept from block to block.
    pub fn bytes(&self) -> usize {
        let ledger = self.classifier.as_ref();
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

    /// Whether the thread can go on by pure left movers, as if its transaction
    /// had not ended.
    pub fn can_go_on(&mut self, lanes: &[u64], thread: usize) -> bool {
        let look = self.look(lanes, thread);
        look.may_release && !look.ends_transaction && !look.is_met
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
        self.nodes.clear();
        self.lanes.clear();
        self.steps.clear();
        self.index.clear();
        self.halts = Halts::default();
        if let Some(classifier) = &mut self.classifier {
            classifier.start_block();
        }
        self.add(start, phase, 0, &[]);
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
        self.emit_ends(thread, visitor)
    }

    fn add(&mut self, lanes: &[u64], phase: Phase, parent: usize, steps: &[Step]) -> usize {
        let start = self.lanes.len();
        self.lanes.extend_from_slice(lanes);
        let first_step = self.steps.len();
        self.steps.extend_from_slice(steps);
        let number = self.nodes.len();
        self.nodes.push(Node {
            lanes: start..self.lanes.len(),
            phase,
            parent,
            steps: first_step..self.steps.len(),
            successors: Vec::new(),
            is_end: false,
            can_move: false,
        });
        let (nodes, all) = (&self.nodes, &self.lanes);
        let same = |&other: &usize| {
            nodes[other].phase == phase && all[nodes[other].lanes.clone()] == *lanes
        };
        let hash = hash_lanes(lanes);
        if let Some(&known) = self.index.find(hash, same) {
            self.nodes.pop();
            self.lanes.truncate(start);
            self.steps.truncate(first_step);
            return known;
        }
        self.index.insert_unique(hash, number, |&other| {
            hash_lanes(&all[nodes[other].lanes.clone()])
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
        let phase = node.phase;
        let look = look(
            self.machine,
            &mut self.classifier,
            &self.lanes[node.lanes.clone()],
            thread,
        );
        let ends = match phase {
            Phase::Post => look.ends_transaction || look.is_met || !look.may_release,
            Phase::Pre { took_lock } => {
                number > 0 && (look.is_met || (self.keep_deadlocks && took_lock && look.takes_lock))
            }
        };
        let is_large = number > 0 && self.nodes.len() >= LARGEST_BLOCK;
        if ends || is_large {
            self.nodes[number].is_end = true;
            return ControlFlow::Continue(());
        }
        let reached = self.gather(number, thread, visitor)?;
        if phase == Phase::Post && reached.successors.iter().any(|s| !s.moves.left) {
            self.nodes[number].is_end = true;
            return ControlFlow::Continue(());
        }
        self.nodes[number].can_move = reached.can_move;
        for successor in reached.successors {
            let phase = match phase {
                Phase::Pre { took_lock } if successor.moves.right => Phase::Pre {
                    took_lock: took_lock || successor.moves.takes_lock,
                },
                _ => Phase::Post,
            };
            let to = self.add(&successor.lanes, phase, number, &successor.steps);
            self.nodes[number].successors.push((to, successor.moves));
        }
        if !reached.can_move {
            match phase {
                Phase::Post => self.nodes[number].is_end = true,
                Phase::Pre { took_lock: true } => {
                    self.nodes[number].is_end = self.keep_deadlocks;
                }
                Phase::Pre { took_lock: false } => self.note_halt(number, thread),
            }
        }
        ControlFlow::Continue(())
    }

    fn note_halt(&mut self, number: usize, thread: usize) {
        let lanes = &self.lanes[self.nodes[number].lanes.clone()];
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

    /// What a node leads to; errors are reported at once.
    fn gather(
        &mut self,
        number: usize,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<(), Reached> {
        let lanes = self.nodes[number].lanes.clone();
        let mut reached = self.steps_from(lanes, thread, visitor)?;
        for (error, steps) in reached.errors.drain(..) {
            let mut path = self.path(number);
            path.extend(steps);
            visitor.error(error, path)?;
        }
        ControlFlow::Continue(reached)
    }

    /// What the steps of a thread lead to from the lanes at this place.
    fn steps_from(
        &mut self,
        lanes: std::ops::Range<usize>,
        thread: usize,
        visitor: &mut impl BlockVisitor,
    ) -> ControlFlow<(), Reached> {
        self.expander.work.lanes.clear();
        self.expander
            .work
            .lanes
            .extend_from_slice(&self.lanes[lanes.clone()]);
        let mut gather = Gather {
            machine: self.machine,
            classifier: self.classifier.as_mut(),
            thread,
            passed: PassedPlaces::default(),
            successors: Vec::new(),
            errors: Vec::new(),
            visitor,
            bytes: self.lanes.capacity() * 8 + self.steps.capacity() * size_of::<Step>(),
        };
        let expansion = self.expander.expand_thread(thread, &mut gather);
        if let Expansion::Stopped = expansion {
            return ControlFlow::Break(());
        }
        let mut reached = Reached {
            can_move: matches!(expansion, Expansion::Done),
            successors: gather.successors,
            errors: gather.errors,
        };
        if let Some(classifier) = &mut self.classifier {
            let before = &self.lanes[lanes];
            for successor in &mut reached.successors {
                let is_opaque = self.machine.is_atomic(&successor.lanes, thread)
                    || successor.steps.len() >= SHORT_CHAIN;
                let steps = &successor.steps;
                successor.moves = classifier.moves(before, thread, steps, &successor.lanes);
                if is_opaque {
                    successor.moves.left = false;
                    successor.moves.right = false;
                }
            }
        }
        ControlFlow::Continue(reached)
    }

    fn look(&mut self, lanes: &[u64], thread: usize) -> Look {
        look(self.machine, &mut self.classifier, lanes, thread)
    }

    /// The steps from the block's start to a node.
    fn path(&self, mut number: usize) -> Vec<Step> {
        let mut parts = Vec::new();
        while number != 0 {
            parts.push(self.nodes[number].steps.clone());
            number = self.nodes[number].parent;
        }
        let steps = parts.into_iter().rev().flatten();
        steps.map(|at| self.steps[at]).collect()
    }

    /// For each node, whether a pure left mover, such as giving back a lock, can
    /// still follow in post.
    fn can_give_back(&self) -> Vec<bool> {
        let mut can = vec![false; self.nodes.len()];
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut work = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.phase != Phase::Post {
                continue;
            }
            for &(to, moves) in &node.successors {
                predecessors[to].push(number);
                if moves.left && !moves.right && !can[number] {
                    can[number] = true;
                    work.push(number);
                }
            }
        }
        while let Some(number) = work.pop() {
            for &before in &predecessors[number] {
                if !can[before] {
                    can[before] = true;
                    work.push(before);
                }
            }
        }
        // Left movers run out, so every way comes to an end. Where one did not, the others
        // would never be let in.
        let is_post_end = |&number: &usize| !can[number] && self.nodes[number].phase == Phase::Post;
        let mut work: Vec<usize> = (0..self.nodes.len()).filter(is_post_end).collect();
        let mut ends: Vec<bool> = vec![false; self.nodes.len()];
        work.iter().for_each(|&number| ends[number] = true);
        while let Some(number) = work.pop() {
            for &before in &predecessors[number] {
                if !ends[before] {
                    ends[before] = true;
                    work.push(before);
                }
            }
        }
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
        self.nodes.clear();
        self.lanes.clear();
        self.steps.clear();
        self.index.clear();
        self.add(start, Phase::Post, 0, &[]);
        let mut next = 0;
        while next < self.nodes.len() {
            self.expander.work.lanes.clear();
            let lanes = &self.lanes[self.nodes[next].lanes.clone()];
            self.expander.work.lanes.extend_from_slice(lanes);
            let mut successors = Successors::default();
            self.expander.expand_thread(thread, &mut successors);
            for (lanes, steps) in successors.0 {
                let number = self.add(&lanes, Phase::Post, next, &steps);
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

    /// Walks from the start through what goes on and emits where it ends.
    fn emit_ends(&mut self, thread: usize, visitor: &mut impl BlockVisitor) -> Expansion {
        let can = self.can_give_back();
        let mut walked = vec![false; self.nodes.len()];
        let mut work = vec![0];
        walked[0] = true;
        while let Some(number) = work.pop() {
            let goes_on = match self.nodes[number].phase {
                Phase::Pre { .. } => !self.nodes[number].is_end,
                Phase::Post => can[number],
            };
            if !goes_on {
                if self.emit(number, thread, visitor).is_break() {
                    return Expansion::Stopped;
                }
                continue;
            }
            for position in 0..self.nodes[number].successors.len() {
                let (to, _) = self.nodes[number].successors[position];
                if !walked[to] {
                    walked[to] = true;
                    work.push(to);
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
        let mut path = self.path(number);
        let mut lanes = self.lanes[self.nodes[number].lanes.clone()].to_vec();
        let mut passed: HashSet<Vec<u64>> = HashSet::new();
        while self.nodes[number].phase == Phase::Post {
            let look = self.look(&lanes, thread);
            if look.ends_transaction || look.is_met || !passed.insert(lanes.clone()) {
                break;
            }
            let start = self.lanes.len();
            self.lanes.extend_from_slice(&lanes);
            let range = start..self.lanes.len();
            let found = self.steps_from(range, thread, visitor);
            self.lanes.truncate(start);
            let Reached {
                mut successors,
                errors,
                ..
            } = found?;
            for (error, steps) in errors {
                let mut all = path.clone();
                all.extend(steps);
                visitor.error(error, all)?;
            }
            let [only] = &mut successors[..] else {
                break;
            };
            if !only.moves.left {
                break;
            }
            lanes = std::mem::take(&mut only.lanes);
            path.append(&mut only.steps);
        }
        visitor.emit(&lanes)
    }
}

fn hash_lanes(lanes: &[u64]) -> u64 {
    lanes.iter().fold(0, |hash, &lane| scramble(hash ^ lane))
}

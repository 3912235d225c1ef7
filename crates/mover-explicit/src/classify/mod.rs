//! Classification of movers at run time.
//!
//! The class of a step depends on which thread has exclusive access to the objects that it
//! accesses (Flanagan and Qadeer 2003, Section 4), and that can be seen in a state: a lock
//! belongs to the thread that holds it; a cell that is always accessed under a lock belongs to
//! the thread that holds the lock; a cell that only one thread accesses belongs to that thread;
//! accesses to cells that are never written do not conflict. Which of these holds is not given
//! but inferred during the search (Section 6): for each object the locks that were held at
//! *every* access so far, the threads that accessed it, and whether it was written. Beliefs
//! that turn out to be wrong are revised, see [`Ledger`].
//!
//! Experiments led to three rules. An access counts whether or not its edge is enabled, and
//! from the first one on. Exclusive access by locks means holding *all* of the common locks: so
//! a lock set that shrinks, but does not become empty, never revokes exclusive access. And
//! locks are preferred to a single owner as the reason, for the same purpose.
//!
//! A cell whose value determines its owner (`mover_reduce::facts::owners`) counts as a lock
//! that the thread holds: a cell that is a lock as such, and a predicate given by the user as a
//! lock that is never acquired or released by a mover.
//!
//! A reader-writer lock (`mover_reduce::facts::rw_locks`) counts as held for reading data if
//! the thread holds it in either mode, and for writing data only if it holds it for writing. A
//! thread that holds it in either mode at an access to protected data has the access it needs:
//! if it had written without holding the lock for writing, the lock would not be among those
//! held at every access.
//!
//! **Channels** have two ends. The only receiver of a channel with a message in it can receive
//! now or later, whatever other threads send; likewise the only sender while there is room.
//! These steps are left movers, but not right movers: other threads may be waiting for them. A
//! receive from an empty channel and a send to a full one are non-movers, because other threads
//! determine whether they are enabled.
//!
//! **Exits.** The exit of a thread is observed only by edges that count or start threads. If no
//! other thread can still reach such an edge, the exit is a left mover.
//!
//! **Joins.** While there is only one thread, all its memory accesses are movers and are not
//! recorded: both before it has started the others and after it has joined all of them. An
//! array of cells that the front end maintains determines this; a step that accesses the array
//! is a non-mover, except that a thread's exit may be a left mover. So completing a transaction
//! never changes which threads exist, and a state in which another thread exists is never
//! replaced by one in which it has exited unobserved.
//!
//! With `dynamic`, an object that no other thread can still reach is exclusive as well (Günther
//! et al. 2017, Table 2), and the accesses of a thread before it has started any thread that
//! uses the variable are not recorded. Reachability is known by location and variable, without
//! evaluating anything; the other conditions of the plan (`mover_reduce::ReductionPlan`: pointers
//! and indices that differ, compare-and-swap cells that are settled, locks through pointers) are
//! compiled, and evaluated where beliefs do not suffice. They are about the states beside one edge,
//! so they are not used inside of atomic sequences.
//!
//! Locks inside objects (`q->m`) and the fields they protect are known before the search
//! (`mover_reduce::facts::object_locks`).
//!
//! Static facts are in `tables`, inferred ones in `ledger`; here steps are classified by the
//! two.

mod ledger;
mod tables;

use mover_reduce::facts::access_exprs::End;

use crate::code::View;
use crate::machine::{Machine, Moves, Step, Workspace};

use ledger::Key;
use tables::{CompiledTouch, LocationFacts, Meets, WhenId};

pub use ledger::{Beliefs, Block, Ledger, restore_blocks, save_blocks};
pub use tables::PhaseTables;

/// An object that threads access: a cell, a channel or one end of it.
pub type ObjectId = u32;

/// What a thread's location looks like in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Some edge here is not a left mover, or there is none.
    pub ends_transaction: bool,
    /// A thread here can be the receiver of a rendezvous.
    pub is_met: bool,
    /// A lock is taken here.
    pub takes_lock: bool,
    /// A pure left mover may still come.
    pub may_release: bool,
}

/// An object that a step accesses, as it was computed in the state before.
#[derive(Clone, Copy, Debug)]
enum Touched {
    Lock(ObjectId),
    Data {
        object: ObjectId,
        variable: u32,
        writes: bool,
        when: Option<WhenId>,
    },
    /// A channel whose end can continue by itself now.
    ReadyEnd {
        whole: ObjectId,
        end: ObjectId,
    },
    /// A channel that others decide about.
    Channel(ObjectId),
    /// Something in memory with addresses.
    Object {
        object: ObjectId,
        /// Whether locks inside it make it move.
        left: bool,
        right: bool,
        when: Option<WhenId>,
    },
    /// Leaves when it can; others may wait for it.
    Leaves {
        in_order: bool,
    },
    Finishes,
    Seen,
}

/// A thread in a state, with cached facts about it.
#[derive(Clone, Copy)]
struct Standing<'a, 'm> {
    view: View<'a, 'm>,
    facts: &'m LocationFacts,
    /// All other threads have ended and been waited for, or never started.
    is_only: bool,
}

/// What the edges of the location touch that was inspected last.
#[derive(Default)]
struct Looked {
    touched: Vec<Touched>,
    edges: Vec<LookedEdge>,
    is_met: bool,
}

struct LookedEdge {
    /// Where what it accesses begins; it ends where that of the next edge begins.
    first: usize,
    is_left: bool,
}

impl Looked {
    fn touched_by(&self, edge: usize) -> &[Touched] {
        let end = self.edges.get(edge + 1);
        let end = end.map_or(self.touched.len(), |next| next.first);
        &self.touched[self.edges[edge].first..end]
    }
}

/// Classifies the steps of one block after the other.
pub struct Classifier<'m> {
    machine: &'m Machine,
    tables: &'m PhaseTables,
    pub ledger: Ledger,
    /// Objects that the present block counts on.
    used: Vec<ObjectId>,
    held: Vec<ObjectId>,
    in_hand: Vec<ObjectId>,
    /// Without those that the thread has to read only.
    in_hand_to_write: Vec<ObjectId>,
    looked: Looked,
    /// Room for what a whole sequence accesses.
    touched: Vec<Touched>,
    work: Workspace,
}

/// Whether another thread could take the next step of this one as a rendezvous.
fn is_met(at: &Standing) -> bool {
    at.facts.edges.iter().any(|edge| match &edge.meets {
        Meets::Never => false,
        Meets::Always => true,
        Meets::At(channel) => {
            let found = at.view.channel(at.view.eval(channel));
            found.is_none_or(|(shape, _)| shape.capacity == 0)
        }
    })
}

/// The locks that protect an access.
fn in_hand_for<'a>(writes: bool, all: &'a [ObjectId], to_write: &'a [ObjectId]) -> &'a [ObjectId] {
    if writes { to_write } else { all }
}

impl<'m> Classifier<'m> {
    pub fn new(machine: &'m Machine, tables: &'m PhaseTables) -> Self {
        Classifier {
            machine,
            tables,
            ledger: Ledger::new(tables.cells + tables.owners.len() as u32),
            used: Vec::new(),
            held: Vec::new(),
            in_hand: Vec::new(),
            in_hand_to_write: Vec::new(),
            looked: Looked::default(),
            touched: Vec::new(),
            work: Workspace::default(),
        }
    }

    pub fn start_block(&mut self) {
        self.used.clear();
    }

    /// What the block since the start counts on, sorted; whether it still holds.
    pub fn finish_block(&mut self) -> (&[ObjectId], bool) {
        self.used.sort_unstable();
        self.used.dedup();
        let ledger = &self.ledger;
        let holds = (self.used.iter()).all(|&object| ledger.is_protected(object));
        (&self.used, holds)
    }

    fn facts(&self, lanes: &[u64], thread: usize) -> &'m LocationFacts {
        &self.tables.locations[self.machine.pc(lanes, thread)]
    }

    fn standing<'a>(&self, lanes: &'a [u64], thread: usize) -> Standing<'a, 'm> {
        let view = self.machine.view(lanes, thread, false);
        let presence = &self.tables.presence;
        let present = presence.iter().filter(|cell| view.eval(cell) != 0);
        Standing {
            view,
            facts: self.facts(lanes, thread),
            is_only: !presence.is_empty() && present.take(2).count() < 2,
        }
    }

    /// Inspects all edges of a thread's location and counts what they touch.
    pub fn look(&mut self, lanes: &[u64], thread: usize) -> Look {
        self.look_for(lanes, thread, true)
    }

    /// The same where it does not matter what moves left: nothing is said to.
    pub fn look_in_pre(&mut self, lanes: &[u64], thread: usize) -> Look {
        self.look_for(lanes, thread, false)
    }

    /// Whether an edge of the location that was inspected last is a left mover, possible or not.
    pub fn looks_left(&self, edge: usize) -> bool {
        !self.looked.is_met && self.looked.edges[edge].is_left
    }

    /// Whether nothing but left movers can come next, and a pure one still may.
    pub fn goes_on_left(&mut self, lanes: &[u64], thread: usize) -> bool {
        let at = self.standing(lanes, thread);
        self.find_held(&at);
        if !(at.facts.may_release || self.holds_lock(&at)) || is_met(&at) {
            return false;
        }
        let mut touched = std::mem::take(&mut self.touched);
        let mut edges = at.facts.edges.iter().enumerate();
        let all_left = edges.all(|(number, edge)| {
            touched.clear();
            self.touch(&at, number, &mut touched);
            !edge.offers && self.all_move(&at, &touched, true)
        });
        self.touched = touched;
        all_left && !at.facts.edges.is_empty()
    }

    fn look_for(&mut self, lanes: &[u64], thread: usize, left_movers: bool) -> Look {
        let at = self.standing(lanes, thread);
        let mut looked = std::mem::take(&mut self.looked);
        looked.touched.clear();
        looked.edges.clear();
        looked.is_met = is_met(&at);
        self.find_held(&at);
        let mut ends_transaction = at.facts.edges.is_empty() || looked.is_met;
        for (number, edge) in at.facts.edges.iter().enumerate() {
            let first = looked.touched.len();
            self.touch(&at, number, &mut looked.touched);
            let touched = &looked.touched[first..];
            let is_left = left_movers && !edge.offers && self.all_move(&at, touched, true);
            looked.edges.push(LookedEdge { first, is_left });
            ends_transaction |= !is_left;
        }
        let look = Look {
            ends_transaction,
            is_met: looked.is_met,
            takes_lock: at.facts.takes_lock,
            may_release: at.facts.may_release || self.holds_lock(&at),
        };
        self.looked = looked;
        look
    }

    /// Counts what all edges of a thread's location touch, in the middle of an atomic sequence.
    pub fn count_place(&mut self, lanes: &[u64], thread: usize) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        self.touch_place(lanes, thread, &mut touched);
        self.touched = touched;
    }

    /// Appends what all edges of a thread's location touch and counts the accesses.
    fn touch_place(&mut self, lanes: &[u64], thread: usize, touched: &mut Vec<Touched>) {
        let at = self.standing(lanes, thread);
        self.find_held(&at);
        for number in 0..at.facts.edges.len() {
            self.touch(&at, number, touched);
        }
    }

    /// Counts what the other side of a rendezvous accesses. (The place of the thread that takes a
    /// step was counted as a whole when it was inspected or come to.)
    pub fn count_partner(&mut self, lanes: &[u64], step: Step) {
        let Some((partner, edge)) = step.partner() else {
            return;
        };
        let at = self.standing(lanes, partner);
        self.find_held(&at);
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        self.touch(&at, edge, &mut touched);
        self.touched = touched;
    }

    /// How the steps of a thread, which nobody comes between, commute as one. The state before
    /// them is the one that was inspected last, so that what they touch has been counted.
    pub fn moves(&mut self, before: &[u64], thread: usize, steps: &[Step], after: &[u64]) -> Moves {
        // A thread that leaves a place where it can be met withdraws an offer.
        let is_own = |step: &Step| step.thread() == thread && step.partner().is_none();
        if !steps.iter().all(is_own) || self.looked.is_met {
            return Moves::NONE;
        }
        let looked = std::mem::take(&mut self.looked);
        let mut moves = Moves::START;
        if let [step] = steps {
            let edge = &self.facts(before, thread).edges[step.edge()];
            moves.takes_lock = edge.takes_lock;
            moves.releases_lock = edge.releases;
            moves.left = looked.edges[step.edge()].is_left;
            moves.right = self.is_right(after, thread, looked.touched_by(step.edge()));
        } else {
            self.moves_of_sequence(before, thread, steps, after, &looked, &mut moves);
        }
        self.looked = looked;
        moves
    }

    fn moves_of_sequence(
        &mut self,
        before: &[u64],
        thread: usize,
        steps: &[Step],
        after: &[u64],
        looked: &Looked,
        moves: &mut Moves,
    ) {
        let mut offers = false;
        let mut work = std::mem::take(&mut self.work);
        work.lanes.clear();
        work.lanes.extend_from_slice(before);
        work.forget();
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        for (position, &step) in steps.iter().enumerate() {
            let edge = &self.facts(&work.lanes, thread).edges[step.edge()];
            moves.takes_lock |= edge.takes_lock;
            moves.releases_lock |= edge.releases;
            offers |= edge.offers;
            if position == 0 {
                touched.extend_from_slice(looked.touched_by(step.edge()));
            } else {
                // What it could have done there instead is up to whoever can change it.
                let first = touched.len();
                self.touch_place(&work.lanes, thread, &mut touched);
                for touched in &mut touched[first..] {
                    if let Touched::ReadyEnd { whole, .. } = *touched {
                        *touched = Touched::Channel(whole);
                    }
                }
            }
            if position + 1 < steps.len() {
                self.machine.apply(&mut work, step);
            }
        }
        // Conditions are about the states beside one edge, which are inside of the sequence.
        for touched in &mut touched {
            if let Touched::Data { when, .. } | Touched::Object { when, .. } = touched {
                *when = None;
            }
        }
        let is_first_left = looked.edges[steps[0].edge()].is_left;
        if is_first_left && !offers {
            let at = self.standing(before, thread);
            self.find_held(&at);
            moves.left = self.all_move(&at, &touched, true);
        } else {
            moves.left = false;
        }
        moves.right = self.is_right(after, thread, &touched);
        self.work = work;
        self.touched = touched;
    }

    /// The locks that a thread has.
    fn find_held(&mut self, at: &Standing) {
        let Standing { view, facts, .. } = at;
        self.held.clear();
        self.held
            .extend(facts.held.iter().filter_map(|lock| lock.pick(view)));
        let owners = self.tables.owners.iter();
        let owned = owners.filter(|owner| view.eval(&owner.predicate) != 0);
        self.held.extend(owned.map(|owner| owner.object));
        for lock in &self.tables.signed {
            if view.eval(&lock.predicate) != 0 && !self.held.contains(&lock.object) {
                self.held.push(lock.object);
            }
        }
    }

    /// Whether a lock is among what the thread has, not just a predicate.
    fn holds_lock(&self, at: &Standing) -> bool {
        at.facts.holds_object_lock || self.held.iter().any(|&object| object < self.tables.cells)
    }

    /// Appends the accesses of an edge and counts them.
    fn touch(&mut self, at: &Standing, number: usize, touched: &mut Vec<Touched>) {
        let &Standing {
            view,
            facts: here,
            is_only,
        } = at;
        let (lanes, thread) = (view.lanes, view.thread);
        let facts = &here.edges[number];
        if facts.touches.is_empty() {
            return;
        }
        self.in_hand.clear();
        self.in_hand.extend_from_slice(&self.held);
        let taken = facts.takes.iter().filter_map(|lock| lock.pick(&view));
        self.in_hand.extend(taken);
        self.in_hand_to_write.clear();
        let only_read =
            |lock| here.held_to_read.contains(lock) || facts.takes_to_read.contains(lock);
        let to_write = self.in_hand.iter().filter(|lock| !only_read(lock));
        self.in_hand_to_write.extend(to_write);
        for touch in &facts.touches {
            match touch {
                CompiledTouch::Lock(cell) => {
                    let picked = cell.pick(&view);
                    touched.extend(picked.map(Touched::Lock));
                }
                CompiledTouch::Cells {
                    cells,
                    variable,
                    writes,
                    when,
                } => {
                    let is_alone =
                        is_only || self.tables.by_reach && here.alone[*variable as usize];
                    for claim in &self.tables.claims {
                        let is_kept = is_alone
                            || claim.variable != *variable
                            || self.in_hand.contains(&claim.object);
                        if !is_kept {
                            let edge = self.machine.edge_at(lanes, thread, number);
                            claim.broken_by.get_or_init(|| edge);
                        }
                    }
                    let picked = match &cells.index {
                        Some(_) => match cells.pick(&view) {
                            Some(object) => object..object + 1,
                            None => continue,
                        },
                        None => cells.first..cells.first + cells.len,
                    };
                    for object in picked {
                        if !is_alone {
                            let in_hand =
                                in_hand_for(*writes, &self.in_hand, &self.in_hand_to_write);
                            self.ledger.see(object, thread as u16, in_hand, *writes);
                        }
                        touched.push(Touched::Data {
                            object,
                            variable: *variable,
                            writes: *writes,
                            when: *when,
                        });
                    }
                }
                CompiledTouch::Channel {
                    channel: Some(channel),
                    end: End::Existence,
                } if self.machine.exists_for_good(view.eval(channel), thread) => {}
                CompiledTouch::Channel { channel, end } => {
                    let found = channel.as_ref().and_then(|channel| {
                        let handle = view.operand(channel);
                        let (shape, base) = view.channel(handle)?;
                        (shape.capacity > 0).then_some((handle, shape, base))
                    });
                    let Some((handle, shape, base)) = found else {
                        touched.push(Touched::Seen);
                        continue;
                    };
                    let whole = self.see_channel(handle, *end, thread);
                    let len = shape.len.get(lanes, base);
                    let is_ready = match end {
                        End::Both | End::Existence => false,
                        End::Send => len < u64::from(shape.capacity),
                        End::Receive => len > 0 && self.machine.finds_message(&view, number),
                    };
                    touched.push(if is_ready {
                        let end = self.ledger.number(match end {
                            End::Send => Key::SendingEnd(handle),
                            _ => Key::ReceivingEnd(handle),
                        });
                        Touched::ReadyEnd { whole, end }
                    } else {
                        Touched::Channel(whole)
                    });
                }
                CompiledTouch::OwnChannels => {
                    for handle in self.machine.own_channels(lanes, thread) {
                        let whole = self.see_channel(handle, End::Both, thread);
                        touched.push(Touched::Channel(whole));
                    }
                }
                CompiledTouch::Object {
                    object,
                    writes,
                    left,
                    right,
                    when,
                } => {
                    let object = self.ledger.number(Key::Object(*object));
                    if !is_only {
                        let in_hand = in_hand_for(*writes, &self.in_hand, &self.in_hand_to_write);
                        self.ledger.see(object, thread as u16, in_hand, *writes);
                    }
                    touched.push(Touched::Object {
                        object,
                        left: *left,
                        right: *right,
                        when: *when,
                    });
                }
                CompiledTouch::Leaves { in_order } => {
                    let can = !in_order || self.machine.guard_holds(&view, number);
                    touched.push(if can {
                        Touched::Leaves {
                            in_order: *in_order,
                        }
                    } else {
                        Touched::Seen
                    });
                }
                CompiledTouch::Finishes => touched.push(Touched::Finishes),
                CompiledTouch::Seen => touched.push(Touched::Seen),
            }
        }
    }

    /// Counts the use of a channel; returns the object that stands for all of it.
    fn see_channel(&mut self, handle: u64, end: End, thread: usize) -> ObjectId {
        let whole = self.ledger.number(Key::Channel(handle));
        let thread = thread as u16;
        self.ledger.see(whole, thread, &self.in_hand_to_write, true);
        if end != End::Receive {
            let sending = self.ledger.number(Key::SendingEnd(handle));
            self.ledger
                .see(sending, thread, &self.in_hand_to_write, true);
        }
        if end != End::Send {
            let receiving = self.ledger.number(Key::ReceivingEnd(handle));
            self.ledger
                .see(receiving, thread, &self.in_hand_to_write, true);
        }
        whole
    }

    fn others<'a>(
        &'a self,
        lanes: &'a [u64],
        thread: usize,
    ) -> impl Iterator<Item = &'m LocationFacts> + 'a {
        (0..self.machine.threads(lanes))
            .filter(move |&other| other != thread && self.machine.pc(lanes, other) != 0)
            .map(move |other| self.facts(lanes, other))
    }

    /// Whether no other thread can still make a conflicting access to the variable.
    fn out_of_reach(&self, lanes: &[u64], thread: usize, variable: u32, writes: bool) -> bool {
        let variable = variable as usize;
        self.tables.by_reach
            && self.others(lanes, thread).all(|facts| {
                !(facts.writes_ahead[variable] || writes && facts.reads_ahead[variable])
            })
    }

    /// Whether the plan's condition for an access holds. One that has ended has no local variables that
    /// it could be about.
    fn holds(&self, at: &Standing, when: Option<WhenId>, left: bool) -> bool {
        let Some(when) = when.map(|when| &self.tables.whens[when as usize]) else {
            return false;
        };
        let condition = if left { &when.left } else { &when.right };
        let is_there = || self.machine.pc(at.view.lanes, at.view.thread) != 0;
        (condition.as_ref()).is_some_and(|code| is_there() && at.view.eval(code) != 0)
    }

    /// Whether the thread has what was accessed to itself, in a state where it
    /// has the locks that were found last.
    fn is_exclusive(&mut self, thread: usize, object: ObjectId) -> bool {
        let is = self
            .ledger
            .is_exclusive_to(object, thread as u16, &self.held);
        if is {
            self.used.push(object);
        }
        is
    }

    /// Whether what was accessed moves right, by the state after it.
    fn is_right(&mut self, after: &[u64], thread: usize, touched: &[Touched]) -> bool {
        if touched.is_empty() {
            return true;
        }
        let at = self.standing(after, thread);
        self.find_held(&at);
        self.all_move(&at, touched, false)
    }

    fn all_move(&mut self, at: &Standing, touched: &[Touched], left: bool) -> bool {
        let (lanes, thread) = (at.view.lanes, at.view.thread);
        let counted_on = self.used.len();
        for &touched in touched {
            let moves = match touched {
                Touched::Lock(_) | Touched::Data { .. } | Touched::Object { .. } if at.is_only => {
                    true
                }
                Touched::Lock(lock) => self.held.contains(&lock),
                Touched::Data {
                    object,
                    variable,
                    writes,
                    when,
                } => {
                    self.out_of_reach(lanes, thread, variable, writes)
                        || self.is_exclusive(thread, object)
                        || self.holds(at, when, left)
                }
                Touched::ReadyEnd { whole, end } => {
                    self.is_exclusive(thread, whole) || (left && self.is_exclusive(thread, end))
                }
                Touched::Object {
                    object,
                    left: moves_left,
                    right: moves_right,
                    when,
                } => {
                    let moves = if left { moves_left } else { moves_right };
                    moves || self.is_exclusive(thread, object) || self.holds(at, when, left)
                }
                Touched::Channel(object) => self.is_exclusive(thread, object),
                Touched::Leaves { in_order } => {
                    (left || !in_order)
                        && self.others(lanes, thread).all(|facts| !facts.counts_ahead)
                }
                Touched::Finishes => left,
                Touched::Seen => false,
            };
            if !moves {
                self.used.truncate(counted_on);
                return false;
            }
        }
        true
    }
}

//! The successors of one thread's steps, and their mover classes.
//!
//! This is all that a search by transactions needs from the machine: the states after a
//! thread's next steps, whether each step is a left or a right mover, and whether a lock is
//! acquired or released. Whether the classes are known statically or inferred during the search
//! is hidden from it.
//!
//! A step here is a whole atomic sequence. It is a mover if all of its parts are.

use std::ops::{ControlFlow, Range};

use crate::classify::{Classifier, Look};
use crate::expand::{Event, Expander, Expansion, PassedPlaces, Path, SHORT_CHAIN, Visitor};
use crate::machine::{Machine, Moves, RunEnd, Step, Workspace};

/// A state that a step leads to; lanes and steps lie in [`Trail`].
#[derive(Clone)]
pub struct Successor {
    pub lanes: Range<usize>,
    pub steps: Range<usize>,
    pub moves: Moves,
}

/// Room for successors that are given back in the opposite order.
#[derive(Default)]
pub struct Trail {
    pub successors: Vec<Successor>,
    pub lanes: Vec<u64>,
    pub steps: Vec<Step>,
}

/// A point of a trail to go back to.
#[derive(Clone, Copy)]
pub struct Mark {
    pub successors: usize,
    lanes: usize,
    steps: usize,
}

impl Trail {
    pub fn mark(&self) -> Mark {
        Mark {
            successors: self.successors.len(),
            lanes: self.lanes.len(),
            steps: self.steps.len(),
        }
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.successors.truncate(mark.successors);
        self.lanes.truncate(mark.lanes);
        self.steps.truncate(mark.steps);
    }

    pub fn clear(&mut self) {
        self.successors.clear();
        self.lanes.clear();
        self.steps.clear();
    }

    /// Goes back to a mark but keeps the state of the last successor, which then lies there.
    pub fn keep_last(&mut self, mark: Mark) -> Range<usize> {
        let last = self.successors.last();
        let lanes = last.map_or(0..0, |successor| successor.lanes.clone());
        let kept = mark.lanes..mark.lanes + lanes.len();
        self.lanes.copy_within(lanes, mark.lanes);
        self.back_to(Mark {
            lanes: kept.end,
            ..mark
        });
        kept
    }

    pub fn bytes(&self) -> usize {
        self.successors.capacity() * size_of::<Successor>()
            + self.lanes.capacity() * 8
            + self.steps.capacity() * size_of::<Step>()
    }
}

/// What an expansion came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The thread has steps, though all of them may lead to errors or bounds or never end.
    Moves,
    /// The thread has no step.
    Stuck,
    /// The caller wanted no more.
    Stopped,
}

/// Gathers the steps of single threads.
pub struct Stepper<'m> {
    machine: &'m Machine,
    /// Says what moves; if absent, what was known before the search does.
    pub classifier: Option<Classifier<'m>>,
    expander: Expander<'m>,
    probe: Vec<Step>,
}

struct Gather<'a, 'm, T> {
    machine: &'a Machine,
    classifier: Option<&'a mut Classifier<'m>>,
    thread: usize,
    trail: &'a mut Trail,
    run_ends: Vec<(RunEnd, Vec<Step>)>,
    passed: PassedPlaces,
    passed_accesses: Vec<(Vec<u64>, Vec<Step>)>,
    tick: T,
}

impl<T: FnMut(usize) -> ControlFlow<()>> Visitor for Gather<'_, '_, T> {
    fn pass(&mut self, lanes: &[u64], step: Step) {
        if let Some(classifier) = &mut self.classifier {
            classifier.count_partner(lanes, step);
        }
    }

    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        match event {
            Event::RunEnd(end) => self.run_ends.push((end, path.steps().collect())),
            Event::Successor => {
                let trail = &mut *self.trail;
                let (lanes, steps) = (trail.lanes.len(), trail.steps.len());
                trail.lanes.extend_from_slice(&work.lanes);
                trail.steps.extend(path.steps());
                let taken = &trail.steps[steps..];
                // A sequence that stopped in its middle has looked at what it waits for;
                // of a long one only one of several ways may be shown.
                let is_opaque =
                    self.machine.is_atomic(&work.lanes, self.thread) || taken.len() >= SHORT_CHAIN;
                let moves = if is_opaque {
                    Moves::NONE
                } else {
                    let all = taken.iter().map(|step| step.moves);
                    let moves = all.fold(Moves::START, Moves::then);
                    Moves {
                        left: moves.left && self.passed.all_left(taken.len()),
                        ..moves
                    }
                };
                trail.successors.push(Successor {
                    lanes: lanes..trail.lanes.len(),
                    steps: steps..trail.steps.len(),
                    moves,
                });
            }
        }
        ControlFlow::Continue(())
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, path: Path) {
        if !self.machine.accesses(&work.lanes, thread).is_empty() {
            let steps = path.steps().collect();
            self.passed_accesses.push((work.lanes.clone(), steps));
        }
        if let Some(classifier) = &mut self.classifier {
            classifier.count_place(&work.lanes, thread);
        }
        let place = self.machine.place(&work.lanes, thread);
        self.passed.note(path.len(), !place.ends_transaction);
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        (self.tick)(bytes)
    }
}

/// What [`Stepper::gather`] found besides successors.
pub struct Gathered {
    pub reach: Reach,
    /// Errors and bounds that the steps run into.
    pub run_ends: Vec<(RunEnd, Vec<Step>)>,
    /// States in the middle of atomic sequences in which the thread is about to make an access
    /// that may race, and the steps to them.
    pub passed_accesses: Vec<(Vec<u64>, Vec<Step>)>,
}

impl<'m> Stepper<'m> {
    pub fn new(machine: &'m Machine, classifier: Option<Classifier<'m>>) -> Self {
        Stepper {
            machine,
            classifier,
            expander: Expander::new(machine, false),
            probe: Vec::new(),
        }
    }

    /// Appends the successors of a state by the steps of a thread, which must have been inspected
    /// there just before: what a step could access counts whether or not it is possible.
    pub fn gather(
        &mut self,
        lanes: Range<usize>,
        thread: usize,
        trail: &mut Trail,
        tick: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Gathered {
        let work = &mut self.expander.work;
        work.lanes.clear();
        work.lanes.extend_from_slice(&trail.lanes[lanes.clone()]);
        let first = trail.successors.len();
        let mut gather = Gather {
            machine: self.machine,
            classifier: self.classifier.as_mut(),
            thread,
            trail,
            run_ends: Vec::new(),
            passed: PassedPlaces::default(),
            passed_accesses: Vec::new(),
            tick,
        };
        let expansion = self.expander.expand_thread(thread, &mut gather);
        let (run_ends, passed_accesses) = (gather.run_ends, gather.passed_accesses);
        if let Some(classifier) = &mut self.classifier {
            let Trail {
                successors,
                lanes: all,
                steps,
            } = trail;
            for successor in &mut successors[first..] {
                let after = &all[successor.lanes.clone()];
                let taken = &steps[successor.steps.clone()];
                let is_opaque = self.machine.is_atomic(after, thread) || taken.len() >= SHORT_CHAIN;
                successor.moves = classifier.moves(&all[lanes.clone()], thread, taken, after);
                if is_opaque {
                    successor.moves.left = false;
                    successor.moves.right = false;
                }
            }
        }
        Gathered {
            reach: match expansion {
                Expansion::Done => Reach::Moves,
                Expansion::Stuck => Reach::Stuck,
                Expansion::Stopped => Reach::Stopped,
            },
            run_ends,
            passed_accesses,
        }
    }

    /// What is known of the steps that a thread may ever have where it is, possible now or not:
    /// before the search or by now.
    pub fn look(&mut self, lanes: &[u64], thread: usize) -> Look {
        match &mut self.classifier {
            Some(classifier) => classifier.look(lanes, thread),
            None => {
                let place = self.machine.place(lanes, thread);
                Look {
                    ends_transaction: place.ends_transaction,
                    is_met: place.is_met,
                    takes_lock: place.takes_lock,
                    may_release: place.has_lock,
                }
            }
        }
    }

    /// The same where it does not matter what moves left.
    pub fn look_in_pre(&mut self, lanes: &[u64], thread: usize) -> Look {
        match &mut self.classifier {
            Some(classifier) => classifier.look_in_pre(lanes, thread),
            None => self.look(lanes, thread),
        }
    }

    /// Whether a thread has a step.
    pub fn can_move(&mut self, lanes: &[u64], thread: usize) -> bool {
        self.probe.clear();
        self.machine
            .thread_steps(lanes, thread, false, &mut self.probe);
        !self.probe.is_empty()
    }
}

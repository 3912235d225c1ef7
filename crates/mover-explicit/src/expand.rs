//! Successors of a stored state.
//!
//! A state is stored only where every thread may run. Inside an atomic sequence only one thread
//! may, so the states there are not stored, as in SPIN; [`Expander`] traverses them depth first
//! with its own stack and reports the states at which the sequence ends or blocks.
//!
//! An atomic sequence can loop, even for ever, and can branch. Beyond a certain length, the
//! states at which it branches, and some of those at which it does not, are therefore
//! remembered during the expansion: the same state with the same thread leads to the same ends.

use std::ops::ControlFlow;

use hashbrown::HashTable;

use crate::machine::{Machine, RunEnd, Step, StepCache, Workspace};
use crate::store::scramble;

/// Atomic sequences of up to this many steps are walked without remembering: few
/// enough that branching cannot make many of them.
pub const SHORT_CHAIN: usize = 4;

/// Where a sequence does not branch, one state in so many is remembered: enough
/// to end a loop.
const SPARSE: usize = 64;

/// Steps between two checks of the clock.
const TICK: u32 = 1 << 12;

/// The remaining alternatives at one point of an atomic sequence.
struct Frame {
    first: usize,
    next: usize,
    end: usize,
    mark: usize,
}

/// What a step led to.
pub enum Event {
    /// A state in which every thread may move.
    Successor,
    /// A thread has run into an error or a bound.
    RunEnd(RunEnd),
}

/// What the expansion of a state came to.
pub enum Expansion {
    Done,
    /// No thread can move.
    Stuck,
    /// The caller wanted no more.
    Stopped,
}

/// The caller's side of an expansion.
pub trait Visitor {
    /// A step has led somewhere; the workspace holds the state.
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()>;

    /// A step is about to be taken, also one that leads to what was seen already.
    #[inline]
    fn pass(&mut self, _lanes: &[u64], _step: Step) {}

    /// An atomic sequence is at a place in its middle, after these steps; shown also where the way
    /// on is known already.
    fn arrive(&mut self, _work: &Workspace, _thread: usize, _path: Path) {}

    /// Called from time to time, with the bytes taken by the expansion itself.
    fn tick(&mut self, bytes: usize) -> ControlFlow<()>;
}

/// Whether nothing but left movers could come at the places that an atomic
/// sequence has passed.
///
/// A sequence moves as the steps that it takes, but what it could have done at a
/// place in its middle counts, too: if that is up to others, they must be let
/// in before the sequence begins.
#[derive(Default)]
pub struct PassedPlaces {
    are_left: Vec<bool>,
}

impl PassedPlaces {
    /// Records the location reached after this many steps.
    pub fn note(&mut self, steps: usize, is_left: bool) {
        self.are_left.truncate(steps.saturating_sub(1));
        self.are_left.push(is_left);
    }

    /// Whether all places between this many steps are such.
    pub fn all_left(&self, steps: usize) -> bool {
        let between = self.are_left.iter().take(steps.saturating_sub(1));
        between.copied().all(|is_left| is_left)
    }
}

/// The steps from the expanded state to the present one.
pub struct Path<'a> {
    frames: &'a [Frame],
    steps: &'a [Step],
}

impl Path<'_> {
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn steps(&self) -> impl Iterator<Item = Step> {
        self.frames.iter().map(|frame| self.steps[frame.next - 1])
    }
}

pub struct Expander<'m> {
    machine: &'m Machine,
    pub work: Workspace,
    /// Whether to continue after an error where the program would.
    go_on: bool,
    steps: Vec<Step>,
    frames: Vec<Frame>,
    passed: PassedStates,
    ticks: u32,
    cache: StepCache,
}

impl<'m> Expander<'m> {
    pub fn new(machine: &'m Machine, go_on: bool) -> Self {
        Expander {
            machine,
            work: Workspace::default(),
            go_on,
            steps: Vec::new(),
            frames: Vec::new(),
            passed: PassedStates::default(),
            ticks: 0,
            cache: StepCache::default(),
        }
    }

    /// Shows the visitor what the state in the workspace leads to.
    pub fn expand(&mut self, visitor: &mut impl Visitor) -> Expansion {
        self.steps.clear();
        self.machine
            .steps_by(&self.work.lanes, &mut self.cache, &mut self.steps);
        self.walk(visitor)
    }

    /// The same for the steps that one thread starts.
    pub fn expand_thread(&mut self, thread: usize, visitor: &mut impl Visitor) -> Expansion {
        self.steps.clear();
        self.machine
            .thread_steps(&self.work.lanes, thread, false, &mut self.steps);
        self.walk(visitor)
    }

    fn walk(&mut self, visitor: &mut impl Visitor) -> Expansion {
        let machine = self.machine;
        let work = &mut self.work;
        work.forget();
        self.frames.clear();
        self.passed.clear();
        if self.steps.is_empty() {
            return Expansion::Stuck;
        }
        self.frames.push(Frame {
            first: 0,
            next: 0,
            end: self.steps.len(),
            mark: work.mark(),
        });
        while let Some(frame) = self.frames.last_mut() {
            work.back_to(frame.mark);
            if frame.next == frame.end {
                self.steps.truncate(frame.first);
                self.frames.pop();
                continue;
            }
            let step = self.steps[frame.next];
            frame.next += 1;
            self.ticks += 1;
            if self.ticks >= TICK {
                self.ticks = 0;
                if visitor.tick(self.passed.bytes()).is_break() {
                    return Expansion::Stopped;
                }
            }
            visitor.pass(&work.lanes, step);
            let last = machine.apply(work, step);
            if let Some(end) = machine.run_end(&work.lanes, last) {
                let path = Path {
                    frames: &self.frames,
                    steps: &self.steps,
                };
                if visitor.visit(work, path, Event::RunEnd(end)).is_break() {
                    return Expansion::Stopped;
                }
                match end.resume_pc {
                    Some(pc) if self.go_on => machine.resume(work, last, pc),
                    _ => continue,
                }
            }
            if machine.is_atomic(&work.lanes, last) {
                let path = Path {
                    frames: &self.frames,
                    steps: &self.steps,
                };
                visitor.arrive(work, last, path);
                let first = self.steps.len();
                machine.remembered_steps(&work.lanes, last, &mut self.cache, &mut self.steps);
                if self.steps.len() > first {
                    let length = self.frames.len();
                    let branches = self.steps.len() > first + 1;
                    let remember =
                        length >= SHORT_CHAIN && (branches || length.is_multiple_of(SPARSE));
                    if remember && !self.passed.insert(last, &work.lanes) {
                        self.steps.truncate(first);
                        continue;
                    }
                    self.frames.push(Frame {
                        first,
                        next: first,
                        end: self.steps.len(),
                        mark: work.mark(),
                    });
                    continue;
                }
            }
            let path = Path {
                frames: &self.frames,
                steps: &self.steps,
            };
            if visitor.visit(work, path, Event::Successor).is_break() {
                return Expansion::Stopped;
            }
        }
        Expansion::Done
    }
}

/// The states inside atomic sequences that one expansion has passed.
#[derive(Default)]
struct PassedStates {
    /// Thread, number of lanes, lanes; one state after the other.
    arena: Vec<u64>,
    index: HashTable<usize>,
}

impl PassedStates {
    fn clear(&mut self) {
        self.arena.clear();
        self.index.clear();
    }

    /// Whether the state is new.
    fn insert(&mut self, thread: usize, lanes: &[u64]) -> bool {
        let start = self.arena.len();
        self.arena.push(thread as u64);
        self.arena.push(lanes.len() as u64);
        self.arena.extend_from_slice(lanes);
        let arena = &self.arena;
        let record = |at: usize| &arena[at..at + 2 + arena[at + 1] as usize];
        let hash = |at: usize| hash_words(record(at));
        let known = self
            .index
            .find(hash(start), |&at| record(at) == record(start))
            .is_some();
        if known {
            self.arena.truncate(start);
            return false;
        }
        self.index.insert_unique(hash(start), start, |&at| hash(at));
        true
    }

    fn bytes(&self) -> usize {
        self.arena.capacity() * 8 + self.index.capacity() * 9
    }
}

fn hash_words(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, &word| scramble(hash ^ word))
}

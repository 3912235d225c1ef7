//! Search that remembers states only approximately, for state spaces that do not fit into memory.
//!
//! *Bitstate hashing* (Holzmann 1988) keeps a field of bits. A state sets `HASHES` of them, and counts as seen if all
//! of them are set already. Two states may share their bits; then the second, and what is reached through it alone,
//! is left out. *Hash compaction* (Wolper and Leroy 1993) keeps 64 bits of each state and confuses two states only if
//! these agree. Both find violations, which are replayed like all others, and prove nothing: the verdict is never
//! `safe`.
//!
//! How much is left out is estimated from the filling of the field. While a share `f` of the bits is set, a new state is
//! taken for a seen one with probability `p = f^k`, so that `p / (1 - p)` states are left out for each one that is added
//! (Dillinger and Manolios 2004 have the exact figures). What only these lead to is not counted: the estimate is too
//! high if much hangs on few states.
//!
//! The bits of a state are found by two hash values (Kirsch and Mitzenmacher 2006). The search is depth first. It
//! stores no states but those that wait, and the steps that lead to them. A *swarm* (Holzmann, Joshi and Groce 2008) is
//! many such searches, each with hash values and an order of successors of its own.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mover_engine::words::grouped;
use mover_engine::{
    Conclusion, Control, Engine, EngineError, Outcome, Progress, Statistics, Stop, Task, Unchecked,
    Violation,
};
use mover_ir::program::{BoundMet, Property};
use rustc_hash::FxHashSet;

use crate::expand::{Event, Expander, Expansion, Path, Visitor};
use crate::machine::{Machine, RunEnd, Step, Workspace};
use crate::store::scramble;

/// Bits that a state sets in the field, as many as SPIN's default.
const HASHES: u64 = 3;

/// Expansions between two looks at the clock.
const TICK: u64 = 1 << 10;

const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// How states are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remembered {
    /// As bits in a field of this many bytes.
    Bits { bytes: usize },
    /// As 64 bits each.
    Hashes,
}

/// Approximate search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Approximate {
    pub remembered: Remembered,
    /// How many searches there are, one after the other.
    pub searches: u32,
}

enum Memory {
    Bits {
        field: Vec<u64>,
        mask: u64,
        /// How many bits are set.
        set: u64,
        /// The expected number of states that were taken for others.
        left_out: f64,
    },
    Hashes(FxHashSet<u64>),
}

impl Memory {
    fn new(remembered: Remembered) -> Memory {
        match remembered {
            Remembered::Bits { bytes } => {
                // The largest power of two that fits, and at least one word.
                let words = (bytes / 8).max(1);
                let words = 1_usize << words.ilog2();
                Memory::Bits {
                    field: vec![0; words],
                    mask: words as u64 * 64 - 1,
                    set: 0,
                    left_out: 0.0,
                }
            }
            Remembered::Hashes => Memory::Hashes(FxHashSet::default()),
        }
    }

    /// Whether a state with these hash values was not seen.
    fn insert(&mut self, [first, second]: [u64; 2]) -> bool {
        match self {
            Memory::Hashes(seen) => seen.insert(first),
            Memory::Bits {
                field,
                mask,
                set,
                left_out,
            } => {
                let filled = *set as f64 / (*mask as f64 + 1.0);
                let mut fresh = 0;
                for number in 0..HASHES {
                    let bit = first.wrapping_add(number.wrapping_mul(second | 1)) & *mask;
                    let word = &mut field[(bit / 64) as usize];
                    fresh += u64::from(*word >> (bit % 64) & 1 == 0);
                    *word |= 1 << (bit % 64);
                }
                if fresh > 0 {
                    let confused = filled.powi(HASHES as i32);
                    *left_out += confused / (1.0 - confused).max(f64::EPSILON);
                    *set += fresh;
                }
                fresh > 0
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Memory::Bits { field, .. } => field.len() * 8,
            Memory::Hashes(seen) => seen.capacity() * 9,
        }
    }

    /// The share of the states that was seen, if this many were added.
    fn coverage(&self, states: u64) -> f64 {
        let left_out = match self {
            // Each pair of states agrees with probability 2^-64.
            Memory::Hashes(_) => (states as f64).powi(2) / 2.0_f64.powi(65),
            Memory::Bits { left_out, .. } => *left_out,
        };
        states as f64 / (states as f64 + left_out)
    }
}

/// The steps that led to a state.
struct Way {
    before: Option<Rc<Way>>,
    steps: Vec<Step>,
}

impl Drop for Way {
    /// A long path is dropped in a loop: recursion could overflow the stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(way) = before {
            match Rc::try_unwrap(way) {
                Ok(mut way) => before = way.before.take(),
                Err(_) => break,
            }
        }
    }
}

fn steps_along(way: &Rc<Way>, last: &[Step]) -> Vec<Step> {
    let mut parts = vec![last];
    let mut here = Some(way);
    while let Some(way) = here {
        parts.push(&way.steps);
        here = way.before.as_ref();
    }
    parts.into_iter().rev().flatten().copied().collect()
}

struct Waiting {
    lanes: Box<[u64]>,
    way: Rc<Way>,
}

struct Found {
    property: Property,
    end: Option<RunEnd>,
    steps: Vec<Step>,
}

struct Search<'a> {
    machine: &'a Machine,
    task: &'a Task,
    control: &'a Control,
    memory: Memory,
    seed: u64,
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
    /// Of the state that is being expanded.
    way: Rc<Way>,
    next: Vec<Waiting>,
    found: Option<Found>,
    bounds: Vec<BoundMet>,
    stopped: Option<Stop>,
    statistics: Statistics,
}

impl Search<'_> {
    fn hashes(&self, lanes: &[u64]) -> [u64; 2] {
        let start = scramble(self.seed);
        let fold = |start: u64| {
            lanes
                .iter()
                .fold(start, |hash, &lane| scramble(hash ^ lane))
        };
        [fold(start), fold(!start)]
    }

    /// Puts a state aside if it is new.
    fn meet(&mut self, lanes: &[u64], steps: Vec<Step>) {
        let used = lanes.iter().rposition(|&lane| lane != 0);
        let used = &lanes[..used.map_or(0, |last| last + 1)];
        if self.memory.insert(self.hashes(used)) {
            self.statistics.states += 1;
            self.waiting_bytes += used.len() * 8 + steps.len() * 8 + 80;
            self.next.push(Waiting {
                lanes: used.into(),
                way: Rc::new(Way {
                    before: Some(Rc::clone(&self.way)),
                    steps,
                }),
            });
        }
    }

    fn run(&mut self, progress: &mut Progress) {
        let started = Instant::now();
        let mut shown = Duration::ZERO;
        let mut expander = Expander::new(self.machine, false);
        let mut longest = self.machine.initial().len();
        let initial = self.machine.initial().to_vec();
        self.meet(&initial, Vec::new());
        self.waiting.append(&mut self.next);
        let mut expansions = 0_u64;
        while let Some(Waiting { lanes, way }) = self.waiting.pop() {
            self.waiting_bytes = self.waiting_bytes.saturating_sub(lanes.len() * 8 + 80);
            expander.work.lanes.clear();
            expander.work.lanes.extend_from_slice(&lanes);
            expander.work.lanes.resize(longest, 0);
            self.way = way;
            let expansion = expander.expand(self);
            longest = longest.max(expander.work.lanes.len());
            match expansion {
                Expansion::Stuck => {
                    let is_deadlock = !self.machine.is_proper_end(&expander.work.lanes);
                    if is_deadlock && self.task.asks_for_deadlocks() {
                        self.found = Some(Found {
                            property: Property::NoDeadlock,
                            end: None,
                            steps: steps_along(&self.way, &[]),
                        });
                    }
                }
                Expansion::Done | Expansion::Stopped => {}
            }
            if self.found.is_some() || self.stopped.is_some() || self.machine.refusal().is_some() {
                break;
            }
            self.shuffle();
            self.waiting.append(&mut self.next);
            let statistics = &mut self.statistics;
            statistics.depth = statistics.depth.max(self.waiting.len() as u64);
            statistics.frontier = self.waiting.len() as u64;
            expansions += 1;
            if expansions.is_multiple_of(TICK) {
                self.look();
                self.statistics.time = started.elapsed();
                if self.statistics.time >= shown + PROGRESS_EVERY {
                    shown = self.statistics.time;
                    progress(&self.statistics);
                }
            }
        }
        self.statistics.time = started.elapsed();
        self.statistics.bytes = (self.memory.bytes() + self.waiting_bytes) as u64;
    }

    /// Another order of successors for each search; that of the program for the first.
    fn shuffle(&mut self) {
        if self.seed == 0 {
            return;
        }
        let mut random = self.seed ^ self.statistics.transitions;
        for last in (1..self.next.len()).rev() {
            random = scramble(random.wrapping_add(0x9e37_79b9_7f4a_7c15));
            self.next.swap(last, random as usize % (last + 1));
        }
    }

    fn look(&mut self) {
        self.statistics.bytes = (self.memory.bytes() + self.waiting_bytes) as u64;
        let bytes = self.statistics.bytes as usize + self.machine.object_bytes();
        self.stopped = self.stopped.or(self.control.stop_at(bytes));
    }

    /// The run of a violation in the terms of the program.
    fn violation(&self, found: &Found) -> Violation {
        let mut work = Workspace::default();
        work.lanes.extend_from_slice(self.machine.initial());
        let mut steps = Vec::new();
        for &step in &found.steps {
            steps.push(self.machine.original_step(&work.lanes, step));
            self.machine.apply(&mut work, step);
            work.forget();
        }
        Violation {
            property: found.property,
            error: found.end.map(|end| (end.template, end.location)),
            steps,
        }
    }
}

impl Visitor for Search<'_> {
    fn visit(&mut self, work: &Workspace, path: Path, event: Event) -> ControlFlow<()> {
        self.statistics.transitions += 1;
        let end = match event {
            Event::Successor => {
                self.meet(&work.lanes, path.steps().collect());
                return ControlFlow::Continue(());
            }
            Event::RunEnd(end) => end,
        };
        let Some(property) = end.violates else {
            if !self.bounds.contains(&end.bound_met()) {
                self.bounds.push(end.bound_met());
            }
            return ControlFlow::Continue(());
        };
        if property == Property::UnreachCall && !self.task.asks_for_errors() {
            return ControlFlow::Continue(());
        }
        let last: Vec<Step> = path.steps().collect();
        self.found = Some(Found {
            property,
            end: Some(end),
            steps: steps_along(&self.way, &last),
        });
        ControlFlow::Break(())
    }

    fn tick(&mut self, _bytes: usize) -> ControlFlow<()> {
        self.look();
        match self.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// A share in percent that is never rounded up to all.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent >= 99.99 => "more than 99.99 %".into(),
        _ if percent >= 99.0 => format!("about {:.2} %", (percent * 100.0).floor() / 100.0),
        _ => format!("about {percent:.0} %"),
    }
}

impl Approximate {
    fn words(&self) -> String {
        match self.remembered {
            Remembered::Bits { bytes } if bytes >= 1 << 20 => {
                format!("bit states in {} MB", bytes >> 20)
            }
            Remembered::Bits { bytes } => format!("bit states in {} bytes", grouped(bytes as u64)),
            Remembered::Hashes => "compacted hashes".into(),
        }
    }
}

impl Engine for Approximate {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn reduction(&self) -> &'static str {
        "none"
    }

    fn unit(&self) -> &'static str {
        "steps"
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        let machine = Machine::new(task.program())?;
        let mut statistics = Statistics::default();
        let mut bounds = Vec::new();
        let mut best = 0.0_f64;
        let mut conclusion = None;
        let mut finished = 0;
        for number in 0..self.searches {
            let left = (self.searches - number).max(1);
            let control = match control.time_left() {
                Some(time) => control.within(time / left),
                None => control.clone(),
            };
            let mut search = Search {
                machine: &machine,
                task,
                control: &control,
                memory: Memory::new(self.remembered),
                seed: number.into(),
                waiting: Vec::new(),
                waiting_bytes: 0,
                way: Rc::new(Way {
                    before: None,
                    steps: Vec::new(),
                }),
                next: Vec::new(),
                found: None,
                bounds: std::mem::take(&mut bounds),
                stopped: None,
                statistics: Statistics::default(),
            };
            search.run(progress);
            let own = search.statistics;
            statistics.time += own.time;
            statistics.transitions += own.transitions;
            statistics.states = statistics.states.max(own.states);
            statistics.depth = statistics.depth.max(own.depth);
            statistics.bytes = statistics.bytes.max(own.bytes);
            bounds = std::mem::take(&mut search.bounds);
            if let Some(found) = &search.found {
                statistics.violations = 1;
                conclusion = Some(Conclusion::Unsafe(search.violation(found)));
                break;
            }
            if let Some(refusal) = machine.refusal() {
                conclusion = Some(Conclusion::Refused {
                    reason: refusal.to_string(),
                    advice: "another engine, or a program with smaller parameters".into(),
                });
                break;
            }
            match search.stopped {
                None => {
                    finished += 1;
                    best = best.max(search.memory.coverage(own.states));
                }
                Some(Stop::Time) if number + 1 < self.searches => {}
                Some(stop) if finished == 0 => {
                    conclusion = Some(Conclusion::Stopped {
                        stop,
                        so_far: format!(
                            " after {} states, no violation among them",
                            grouped(statistics.states)
                        ),
                        advice: stop.advice().into(),
                    });
                    break;
                }
                Some(_) => break,
            }
        }
        let conclusion = conclusion.unwrap_or_else(|| {
            let searches = match self.searches {
                1 => String::new(),
                _ => format!(" in the best of {finished} searches"),
            };
            Conclusion::Refused {
                reason: format!(
                    "no violation in {} of the states{searches}: {} states were told apart by {}",
                    percent(best),
                    grouped(statistics.states),
                    self.words()
                ),
                advice: "a search that stores states, without `--bitstate`, `--hash-compact` and \
                         `--swarm`, or more memory for the bits"
                    .into(),
            }
        });
        let asks_for_races = task.properties().contains(&Property::NoDataRace);
        let mut unchecked = Vec::new();
        if asks_for_races && task.program().has_accesses() {
            unchecked.push(Unchecked {
                property: Property::NoDataRace,
                reason: "approximate search does not look for data races".into(),
                advice: "a search that stores states".into(),
            });
        }
        let mut outcome = Outcome::new(conclusion, statistics, "none");
        outcome.bounds = bounds;
        outcome.unchecked = unchecked;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(memory: &mut Memory, numbers: std::ops::RangeInclusive<u64>) -> u64 {
        let hashes = |number: u64| [scramble(number), scramble(!number)];
        numbers
            .filter(|&number| memory.insert(hashes(number)))
            .count() as u64
    }

    #[test]
    fn coverage_falls_with_the_filling() {
        let shares = [1, 100, 1_000, 10_000, 100_000].map(|states| {
            let mut memory = Memory::new(Remembered::Bits { bytes: 1 << 10 });
            let added = added(&mut memory, 1..=states);
            memory.coverage(added)
        });
        assert!(
            shares.windows(2).all(|pair| pair[0] > pair[1]),
            "{shares:?}"
        );
        assert!(shares[0] > 0.999 && shares[4] < 0.25, "{shares:?}");
    }

    /// The estimate beside what happens: random numbers take the place of states.
    #[test]
    fn coverage_is_what_happens_to_random_states() {
        for (bytes, states) in [(1 << 12, 4_000_u64), (1 << 12, 20_000), (1 << 14, 20_000)] {
            let mut memory = Memory::new(Remembered::Bits { bytes });
            let added = added(&mut memory, 1..=states);
            let estimate = memory.coverage(added);
            let share = added as f64 / states as f64;
            assert!(
                (estimate - share).abs() < 0.03,
                "{estimate} and not {share}"
            );
        }
    }

    #[test]
    fn all_is_never_said() {
        assert_eq!(percent(1.0), "more than 99.99 %");
        assert_eq!(percent(0.99999), "more than 99.99 %");
        assert_eq!(percent(0.99988), "about 99.98 %");
        assert_eq!(percent(0.42), "about 42 %");
    }
}

//! The product of a program and an automaton: its states and their successors.
//!
//! States of the program are stored once, however many states of the automaton they meet. A row is
//! the lanes of the packed state without the zeros at its end, and one more lane: which thread moved
//! last, if the claim asks for it.

use std::time::Instant;

use hashbrown::HashTable;
use mover_engine::{Control, EngineError, Statistics, Stop};
use mover_ir::claim::{Monitor, Proposition};
use mover_ir::program::{BoundMet, LocationId, Program, TemplateId};
use mover_ir::semantics;
use mover_ltl::Buchi;
use rustc_hash::{FxHashMap, FxHashSet};

use super::local_steps::LocalSteps;
use super::{Fairness, Found, Searched, is_process_end};
use crate::code::Code;
use crate::expand::SHORT_CHAIN;
use crate::machine::{Machine, Step, Workspace};
use crate::store::scramble;

/// A state of the program, and one of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pair {
    pub state: u32,
    pub claim: u32,
}

/// What a cycle must have, as bits: it passes an accepting state, and for each thread it passes a
/// step of the thread or a state in which the thread cannot move.
pub type Marks = u64;

pub const ACCEPTING: Marks = 1;

/// With fairness, threads have the bits above the accepting one.
const MOST_FAIR_THREADS: usize = 63;

/// Where an atomic sequence does not branch, one state in so many is remembered: enough to end a
/// loop.
const SPARSE: usize = 64;

/// Expansions between two looks at the clock.
const TICK: u64 = 1 << 10;

/// A step of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successor {
    pub state: u32,
    /// The threads that move.
    pub marks: Marks,
}

/// What a proposition is for the machine.
enum Test {
    Holds(Code),
    /// By program counter.
    SomeThreadAt(Vec<bool>),
    Enabled(Code),
    NoneEnabled,
}

pub struct Product<'a> {
    machine: Machine,
    pub automaton: &'a Buchi,
    tests: Vec<Test>,
    /// Without these, the propositions have no value; and what to say then.
    checks: Vec<(Code, &'a str)>,
    extends_finite_runs: bool,
    uses_last: bool,
    /// By program counter: whether the process is over.
    process_ends: Vec<bool>,
    pub fairness: Fairness,
    /// Where the steps of a thread may go first.
    local_steps: Option<LocalSteps>,
    is_reduced: bool,
    /// Lanes of the longest state so far; shorter ones are filled up with zeros.
    longest: usize,
    arena: Vec<u64>,
    /// Where the rows end.
    ends: Vec<usize>,
    index: HashTable<u32>,
    /// What holds in each state.
    letters: Vec<u64>,
    /// The number of each pair, in the order in which they were found.
    numbers: FxHashMap<Pair, u32>,
    pub pairs: Vec<Pair>,
    work: Workspace,
    refusal: Option<String>,
    bounds: Vec<BoundMet>,
    expansions: u64,
    transitions: u64,
    pub depth: u64,
    started: Instant,
}

/// A point in an atomic sequence, with the steps that are still to be taken from there.
struct Branch {
    /// Where to undo steps to.
    mark: usize,
    /// How many steps lead here, and which threads take them.
    length: usize,
    marks: Marks,
    steps: Vec<Step>,
}

impl<'a> Product<'a> {
    pub fn new(
        program: &Program,
        monitor: &'a Monitor,
        fairness: Fairness,
    ) -> Result<Product<'a>, EngineError> {
        let machine = Machine::new(program)?;
        let codes = |exprs: Vec<&mover_ir::expr::Expr>| machine.compile_exprs(program, &exprs);
        let locations = machine.program_counters();
        let tests = (monitor.propositions.iter())
            .map(|proposition| match proposition {
                Proposition::Holds(expr) => Test::Holds(codes(vec![expr]).remove(0)),
                Proposition::Enabled(thread) => Test::Enabled(codes(vec![thread]).remove(0)),
                Proposition::NoneEnabled => Test::NoneEnabled,
                Proposition::SomeThreadAt(places) => {
                    let mut counters = vec![false; locations];
                    for &(template, location) in places {
                        counters[machine.counter_of(template, location)] = true;
                    }
                    Test::SomeThreadAt(counters)
                }
            })
            .collect();
        let checks = (monitor.checks.iter())
            .map(|(expr, message)| (codes(vec![expr]).remove(0), &**message))
            .collect();
        let mut process_ends = vec![false; locations];
        for (template, code) in (0..).map(TemplateId).zip(&program.templates) {
            for (at, location) in (0..).map(LocationId).zip(&code.locations) {
                if is_process_end(at, location) {
                    process_ends[machine.counter_of(template, at)] = true;
                }
            }
        }
        let mut product = Product {
            process_ends,
            local_steps: None,
            is_reduced: false,
            longest: machine.initial().len(),
            machine,
            automaton: &monitor.automaton,
            tests,
            checks,
            extends_finite_runs: monitor.extends_finite_runs,
            uses_last: monitor.uses_last,
            fairness,
            arena: Vec::new(),
            ends: Vec::new(),
            index: HashTable::new(),
            letters: Vec::new(),
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
            work: Workspace::default(),
            refusal: None,
            bounds: Vec::new(),
            expansions: 0,
            transitions: 0,
            depth: 0,
            started: Instant::now(),
        };
        let lanes = product.machine.initial().to_vec();
        product.intern(&lanes, 0);
        Ok(product)
    }

    /// The marks that a cycle needs.
    pub fn wanted(&self) -> Marks {
        match self.fairness {
            Fairness::None => ACCEPTING,
            Fairness::Weak | Fairness::Strong => Marks::MAX,
        }
    }

    /// The pair that everything begins with.
    pub fn initial(&self) -> Pair {
        Pair { state: 0, claim: 0 }
    }

    /// The number of a pair, and whether it is new.
    pub fn number(&mut self, pair: Pair) -> (u32, bool) {
        let next = self.pairs.len() as u32;
        let number = *self.numbers.entry(pair).or_insert(next);
        if number == next {
            self.pairs.push(pair);
        }
        (number, number == next)
    }

    /// The number of a pair that has one.
    pub fn known(&self, pair: Pair) -> Option<u32> {
        self.numbers.get(&pair).copied()
    }

    /// Why the search cannot go on, if it cannot.
    pub fn interruption(
        &mut self,
        control: &Control,
        progress: &mut dyn FnMut(&Statistics),
    ) -> Option<Found> {
        if let Some(reason) = self.refusal.take() {
            return Some(Found::Refused(reason));
        }
        if !self.expansions.is_multiple_of(TICK) {
            return None;
        }
        let statistics = self.statistics();
        progress(&statistics);
        let stop: Option<Stop> = control.stop_at(statistics.bytes as usize);
        stop.map(Found::Stopped)
    }

    fn statistics(&self) -> Statistics {
        let words = self.arena.capacity() + self.ends.capacity() + self.letters.capacity();
        let table = self.index.capacity() * 5 + self.numbers.capacity() * 13;
        Statistics {
            time: self.started.elapsed(),
            depth: self.depth,
            states: self.pairs.len() as u64,
            transitions: self.transitions,
            bytes: (words * 8 + table + self.pairs.capacity() * 8 + self.machine.object_bytes())
                as u64,
            ..Statistics::default()
        }
    }

    pub fn searched(self, found: Found) -> Searched {
        let statistics = Statistics {
            violations: u64::from(matches!(found, Found::Prefix(_) | Found::Lasso { .. })),
            ..self.statistics()
        };
        let found = match (found, self.machine.refusal()) {
            (Found::Nothing, Some(reason)) => Found::Refused(reason.to_string()),
            (found, _) => found,
        };
        Searched {
            found,
            is_reduced: self.is_reduced,
            bounds: self.bounds,
            statistics,
        }
    }

    fn row(&self, state: u32) -> &[u64] {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.arena[start..self.ends[state]]
    }

    /// The number of a state; new states get the next one.
    fn intern(&mut self, lanes: &[u64], last: usize) -> u32 {
        self.longest = self.longest.max(lanes.len());
        let used = lanes
            .iter()
            .rposition(|&lane| lane != 0)
            .map_or(0, |at| at + 1);
        let start = self.arena.len();
        self.arena.push(last as u64);
        self.arena.extend_from_slice(&lanes[..used]);
        let hash = hash_of(&self.arena[start..]);
        let found = self.index.find(hash, |&known| {
            let known = known as usize;
            let first = if known == 0 { 0 } else { self.ends[known - 1] };
            self.arena[first..self.ends[known]] == self.arena[start..]
        });
        if let Some(&known) = found {
            self.arena.truncate(start);
            return known;
        }
        let number = self.ends.len() as u32;
        self.ends.push(self.arena.len());
        let (arena, ends) = (&self.arena, &self.ends);
        self.index.insert_unique(hash, number, |&known| {
            let known = known as usize;
            let first = if known == 0 { 0 } else { ends[known - 1] };
            hash_of(&arena[first..ends[known]])
        });
        let letter = self.letter(lanes, last);
        self.letters.push(letter);
        number
    }

    /// What holds in a state.
    fn letter(&mut self, lanes: &[u64], last: usize) -> u64 {
        let view = self.machine.view(lanes, last, false);
        let failed = self.checks.iter().find(|(code, _)| !view.holds(code));
        if let Some((_, message)) = failed {
            self.refusal.get_or_insert_with(|| message.to_string());
        }
        let mut letter = 0;
        for (bit, test) in self.tests.iter().enumerate() {
            let holds = match test {
                Test::Holds(code) => view.holds(code),
                Test::SomeThreadAt(counters) => (0..self.machine.threads(lanes))
                    .any(|thread| counters[self.machine.pc(lanes, thread)]),
                Test::Enabled(thread) => {
                    let thread = view.eval(thread) as usize;
                    let mut steps = Vec::new();
                    self.machine.steps(lanes, &mut steps);
                    steps.iter().any(|step| step.involves(thread))
                }
                Test::NoneEnabled => {
                    let mut steps = Vec::new();
                    self.machine.steps(lanes, &mut steps);
                    steps.is_empty()
                }
            };
            letter |= u64::from(holds) << bit;
        }
        letter
    }

    fn load(&mut self, state: u32) {
        let row = self.row(state);
        let lanes = row[1..].to_vec();
        self.work.lanes = lanes;
        self.work.lanes.resize(self.longest, 0);
        self.work.forget();
    }

    fn mark_of(&self, thread: usize) -> Marks {
        match self.fairness {
            Fairness::None => 0,
            Fairness::Weak | Fairness::Strong => 2 << thread,
        }
    }

    /// The marks of a pair, and the successors of its state, without what the automaton says. If no
    /// thread can move and the run is extended, the state is its own successor.
    pub fn expand(&mut self, state: u32) -> (Marks, Vec<Successor>) {
        let mut successors = Vec::new();
        let marks = self.walk(state, &mut |_, successor| successors.push(successor));
        self.expansions += 1;
        self.transitions += successors.len() as u64;
        (marks, successors)
    }

    /// Lets local steps go first, if the claim allows it.
    pub fn reduce(&mut self, program: &Program, monitor: &Monitor) {
        self.local_steps = LocalSteps::new(program, &self.machine, monitor);
    }

    /// The successors by local steps of one thread, if they may stand for all.
    pub fn expand_locally(&mut self, state: u32) -> Option<Vec<Successor>> {
        self.local_steps.as_ref()?;
        self.load(state);
        let local_steps = self.local_steps.as_ref()?;
        let mut steps = Vec::new();
        let threads = 0..self.machine.threads(&self.work.lanes);
        // Nobody moves after the end of the process.
        if (threads.clone()).any(|thread| self.has_ended(&self.work.lanes, thread)) {
            return None;
        }
        for thread in threads {
            let pc = self.machine.pc(&self.work.lanes, thread);
            if !local_steps.may_be_ample(pc) {
                continue;
            }
            (self.machine).thread_steps(&self.work.lanes, thread, false, &mut steps);
            let lanes = &self.work.lanes;
            if !steps.is_empty() && local_steps.is_ample(&self.machine, lanes, thread, &steps) {
                break;
            }
            steps.clear();
        }
        if steps.is_empty() {
            return None;
        }
        let mut work = std::mem::take(&mut self.work);
        let mut successors = Vec::new();
        self.follow(&mut work, steps, &mut |_, successor| {
            successors.push(successor)
        });
        self.work = work;
        Some(successors)
    }

    /// Counts an expansion by local steps.
    pub fn note_local(&mut self, successors: &[Successor]) {
        self.is_reduced = true;
        self.expansions += 1;
        self.transitions += successors.len() as u64;
    }

    /// The steps from a state to one of its successors, by one thread or two.
    pub fn steps_to(&mut self, state: u32, wanted: Successor) -> Vec<semantics::Step> {
        let mut found = None;
        self.walk(state, &mut |steps, successor| {
            if found.is_none() && successor == wanted {
                found = Some(steps.to_vec());
            }
        });
        found.unwrap_or_default()
    }

    /// Shows all successors of a state with the steps to them, and says which threads cannot move.
    fn walk(&mut self, state: u32, visit: &mut dyn FnMut(&[semantics::Step], Successor)) -> Marks {
        self.load(state);
        let mut steps = Vec::new();
        let mut work = std::mem::take(&mut self.work);
        self.machine.steps(&work.lanes, &mut steps);
        let threads = 0..self.machine.threads(&work.lanes);
        if { threads }.any(|thread| self.has_ended(&work.lanes, thread)) {
            steps.clear();
        }
        let can_move = steps.iter().fold(0, |all, &step| all | self.marks_of(step));
        if self.fairness != Fairness::None && self.machine.threads(&work.lanes) > MOST_FAIR_THREADS
        {
            self.refusal.get_or_insert_with(|| {
                format!("fairness is supported for at most {MOST_FAIR_THREADS} threads")
            });
        }
        if steps.is_empty() && self.extends_finite_runs {
            let successor = Successor {
                state,
                marks: self.wanted() & !ACCEPTING,
            };
            visit(&[], successor);
        }
        self.follow(&mut work, steps, visit);
        self.work = work;
        !can_move & self.wanted() & !ACCEPTING
    }

    /// Whether the process has ended with this thread.
    fn has_ended(&self, lanes: &[u64], thread: usize) -> bool {
        self.process_ends[self.machine.pc(lanes, thread)]
    }

    fn marks_of(&self, step: Step) -> Marks {
        let partner = step.partner().map_or(0, |(thread, _)| self.mark_of(thread));
        self.mark_of(step.thread()) | partner
    }

    /// Takes each of the steps, and the steps after it while the thread is in an atomic sequence
    /// and can go on. States in the middle that were passed already, by the same threads, are not
    /// passed again: a sequence may loop, and may branch often.
    fn follow(
        &mut self,
        work: &mut Workspace,
        steps: Vec<Step>,
        visit: &mut dyn FnMut(&[semantics::Step], Successor),
    ) {
        let mut passed: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut path: Vec<semantics::Step> = Vec::new();
        let mut branches = vec![Branch {
            mark: work.mark(),
            length: 0,
            marks: 0,
            steps,
        }];
        while let Some(branch) = branches.last_mut() {
            work.back_to(branch.mark);
            path.truncate(branch.length);
            let before = branch.marks;
            let Some(step) = branch.steps.pop() else {
                branches.pop();
                continue;
            };
            let marks = before | self.marks_of(step);
            path.push(self.machine.original_step(&work.lanes, step));
            let last = self.machine.apply(work, step);
            if let Some(end) = self.machine.run_end(&work.lanes, last) {
                if end.violates.is_none() && !self.bounds.contains(&end.bound_met()) {
                    self.bounds.push(end.bound_met());
                }
                continue;
            }
            let mut own = Vec::new();
            let has_ended = self.has_ended(&work.lanes, last);
            if self.machine.is_atomic(&work.lanes, last) && !has_ended {
                self.machine
                    .thread_steps(&work.lanes, last, false, &mut own);
            }
            if own.is_empty() {
                let last = if self.uses_last { last } else { 0 };
                let state = self.intern(&work.lanes, last);
                visit(&path, Successor { state, marks });
                continue;
            }
            let is_remembered =
                path.len() >= SHORT_CHAIN && (own.len() > 1 || path.len().is_multiple_of(SPARSE));
            if is_remembered {
                let mut key = work.lanes.clone();
                key.extend([last as u64, marks]);
                if !passed.insert(key) {
                    continue;
                }
            }
            branches.push(Branch {
                mark: work.mark(),
                length: path.len(),
                marks,
                steps: own,
            });
        }
    }

    /// Where the automaton can go when it reads a state.
    pub fn claim_successors(&self, pair: Pair) -> impl Iterator<Item = u32> + use<'a> {
        let letter = self.letters[pair.state as usize];
        let edges = &self.automaton.states[pair.claim as usize].edges;
        edges
            .iter()
            .filter(move |edge| edge.label.holds(letter))
            .map(|edge| edge.target as u32)
    }

    pub fn is_accepting(&self, pair: Pair) -> bool {
        self.automaton.states[pair.claim as usize].accepting
    }
}

fn hash_of(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, &word| scramble(hash ^ word))
}

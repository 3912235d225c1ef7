//! Which locations some process reaches.
//!
//! All states are visited without a reduction: a reduction passes over states, and so over places at which a process
//! could be. A location is reached if a process is there in a state in which it could be asked to move: in a stored
//! state, or on its way through an atomic sequence.

use std::ops::ControlFlow;

use mover_engine::{Control, EngineError, Stop};
use mover_ir::program::{LocationId, Program, TemplateId};
use rustc_hash::FxHashSet;

use crate::expand::{Event, Expander, Path, Visitor};
use crate::machine::{Machine, Step, Workspace};

/// Expansions between two looks at the clock.
const TICK: u64 = 1 << 10;

/// The locations that are reached.
pub struct Reached {
    machine: Machine,
    is_reached: Vec<bool>,
    /// How many states were visited.
    pub states: u64,
}

/// Why it is not known what is reached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAll {
    #[error("{} before all states were visited", .0.reason())]
    Stopped(Stop),
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Unsupported(#[from] EngineError),
}

impl Reached {
    pub fn contains(&self, template: TemplateId, location: LocationId) -> bool {
        self.is_reached[self.machine.counter_of(template, location)]
    }
}

struct Walk<'a> {
    machine: &'a Machine,
    control: &'a Control,
    is_reached: Vec<bool>,
    seen: FxHashSet<Box<[u64]>>,
    bytes: usize,
    open: Vec<Box<[u64]>>,
    stopped: Option<Stop>,
}

impl Walk<'_> {
    fn meet(&mut self, lanes: &[u64]) {
        let used = lanes.iter().rposition(|&lane| lane != 0);
        let used = &lanes[..used.map_or(0, |last| last + 1)];
        if !self.seen.contains(used) {
            self.bytes += 2 * (used.len() * 8 + 24);
            self.seen.insert(used.into());
            self.open.push(used.into());
        }
    }

    fn note(&mut self, lanes: &[u64], thread: usize) {
        self.is_reached[self.machine.pc(lanes, thread)] = true;
    }
}

impl Visitor for Walk<'_> {
    fn visit(&mut self, work: &Workspace, _path: Path, event: Event) -> ControlFlow<()> {
        if let Event::Successor = event {
            self.meet(&work.lanes);
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, lanes: &[u64], step: Step) {
        self.note(lanes, step.thread());
    }

    fn arrive(&mut self, work: &Workspace, thread: usize, _path: Path) {
        self.note(&work.lanes, thread);
    }

    fn tick(&mut self, bytes: usize) -> ControlFlow<()> {
        self.stopped = self.control.stop_at(self.bytes + bytes);
        match self.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Visits all states of a program.
pub fn reached(program: &Program, control: &Control) -> Result<Reached, NotAll> {
    let machine = Machine::new(program)?;
    let mut walk = Walk {
        machine: &machine,
        control,
        is_reached: vec![false; machine.program_counters()],
        seen: FxHashSet::default(),
        bytes: 0,
        open: Vec::new(),
        stopped: None,
    };
    let mut expander = Expander::new(&machine, false);
    let mut longest = machine.initial().len();
    walk.meet(machine.initial());
    let mut expansions = 0_u64;
    while let Some(lanes) = walk.open.pop() {
        let work = &mut expander.work.lanes;
        work.clear();
        work.extend_from_slice(&lanes);
        work.resize(longest, 0);
        for thread in 0..machine.threads(work) {
            walk.note(work, thread);
        }
        expander.expand(&mut walk);
        longest = longest.max(expander.work.lanes.len());
        expansions += 1;
        if expansions.is_multiple_of(TICK) && walk.stopped.is_none() {
            walk.stopped = control.stop_at(walk.bytes);
        }
        if let Some(stop) = walk.stopped {
            return Err(NotAll::Stopped(stop));
        }
        if let Some(reason) = machine.refusal() {
            return Err(NotAll::Refused(reason.to_string()));
        }
    }
    let (is_reached, states) = (walk.is_reached, walk.seen.len() as u64);
    Ok(Reached {
        machine,
        is_reached,
        states,
    })
}

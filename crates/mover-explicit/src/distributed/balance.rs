//! What a search by many processes would send, counted in one.
//!
//! All states of our own models are visited, and each successor is looked at as a distributed search would: who
//! owns it, and how many bytes it takes in a message. The counts depend on nothing but the model and are the
//! measured part of `docs/scale.md`.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::wire::Encoder;
use crate::expand::{Event, Expander, Path, Visitor};
use crate::machine::{Machine, Workspace};
use crate::parallel::owner;

const PROCESSES: [usize; 4] = [4, 16, 64, 256];

struct Counting<'a> {
    machine: &'a Machine,
    seen: FxHashSet<Box<[u64]>>,
    open: Vec<Box<[u64]>>,
    /// Owners of the state that is expanded, by number of processes.
    here: [usize; PROCESSES.len()],
    transitions: u64,
    bytes: u64,
    sent: [u64; PROCESSES.len()],
    owned: Vec<Vec<u64>>,
}

impl Counting<'_> {
    fn owners(&self, lanes: &[u64]) -> [usize; PROCESSES.len()] {
        let hash = self.machine.portable_hash(lanes);
        PROCESSES.map(|count| owner(hash, count))
    }

    fn meet(&mut self, lanes: &[u64]) {
        let used = lanes.iter().rposition(|&lane| lane != 0);
        let used = &lanes[..used.map_or(0, |last| last + 1)];
        if self.seen.insert(used.into()) {
            self.open.push(used.into());
            let owners = self.owners(lanes);
            for (owned, owner) in self.owned.iter_mut().zip(owners) {
                owned[owner] += 1;
            }
        }
    }
}

impl Visitor for Counting<'_> {
    fn visit(&mut self, work: &Workspace, _path: Path, event: Event) -> ControlFlow<()> {
        if let Event::Successor = event {
            self.transitions += 1;
            let mut message = Encoder::default();
            message.number(self.seen.len() as u64);
            self.machine.write_portable(&work.lanes, &mut message);
            self.bytes += message.0.len() as u64;
            let owners = self.owners(&work.lanes);
            for (at, owner) in owners.into_iter().enumerate() {
                self.sent[at] += u64::from(owner != self.here[at]);
            }
            self.meet(&work.lanes);
        }
        ControlFlow::Continue(())
    }

    fn tick(&mut self, _bytes: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The mean share of successors that go elsewhere is that of a hash, and no process has much more than its share.
#[test]
fn load_is_balanced() {
    for name in [
        "leader_chang_roberts",
        "msi_snooping",
        "peterson_filter",
        "sliding_window",
        "szymanski",
        "two_phase_commit",
    ] {
        let path = format!(
            "{}/../../examples/promela/{name}.pml",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(&path).expect("the example is there");
        let read = mover_promela::parse_text(name, &text);
        let program = read.ok().expect("it is a model").program;
        let machine = Machine::new(&program).expect("it fits");
        let mut counting = Counting {
            machine: &machine,
            seen: FxHashSet::default(),
            open: Vec::new(),
            here: [0; PROCESSES.len()],
            transitions: 0,
            bytes: 0,
            sent: [0; PROCESSES.len()],
            owned: PROCESSES.map(|count| vec![0; count]).to_vec(),
        };
        let mut expander = Expander::new(&machine, false);
        counting.meet(machine.initial());
        let room = machine.initial().len();
        while let Some(lanes) = counting.open.pop() {
            let work = &mut expander.work.lanes;
            work.clear();
            work.extend_from_slice(&lanes);
            work.resize(room.max(lanes.len()), 0);
            counting.here = counting.owners(&lanes);
            expander.expand(&mut counting);
        }
        let states = counting.seen.len() as f64;
        let transitions = counting.transitions as f64;
        let mut row = format!(
            "| {name} | {states} | {:.2} | {:.1} |",
            transitions / states,
            counting.bytes as f64 / transitions
        );
        for (at, count) in PROCESSES.into_iter().enumerate() {
            let most = counting.owned[at].iter().copied().max().unwrap_or(0) as f64;
            let share = states / count as f64;
            let load = most / share;
            row += &format!(" {load:.2} |");
            // Four standard deviations of independent choices.
            assert!(most <= share + 4.0 * share.sqrt() + 2.0, "{name}: {row}");
            let sent = counting.sent[at] as f64 / transitions;
            let expected = 1.0 - 1.0 / count as f64;
            assert!((sent - expected).abs() < 0.1, "{name}: {sent} for {count}");
        }
        println!("{row}");
    }
}

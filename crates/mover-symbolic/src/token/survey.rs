//! Events and pairs without a query: what `mover explain --mat` and `mover bench mat` report.
//!
//! What counts as an event is chosen ([`Accesses`]): the paper counts single accesses, the engine
//! takes transactions for events.

use std::collections::BTreeSet;

use mover_ir::program::Program;
use mover_reduce::movers;

use crate::layout::{Bounds, Cell, Layout};
use crate::term::Terms;
use crate::token::events;
use crate::token::pairs::{Id, Mat, Pairs};
use crate::token::unroll::{Plan, Standing, Thread, Unrolled, Unroller};
use crate::token::{park, refusal};
use mover_engine::Control;
use mover_engine::EngineError;

/// An event in the words of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventFacts {
    pub file: String,
    /// Its first and last line in this file; 0 if it has none.
    pub line: usize,
    pub last_line: usize,
    /// Its steps, in the order of the unrolling.
    pub steps: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadFacts {
    pub name: String,
    pub events: Vec<EventFacts>,
}

/// What is surveyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// Every access of an object that several threads access, even if it is never written, as in
    /// the counts of Ganai and Kundu (2009).
    All,
    /// The same, with the accesses of a transaction as one.
    Transactions,
    /// What the engine takes for events: transactions, of objects that are written.
    Engine,
}

/// What the sets of pairs make of a program.
pub struct Survey {
    pub threads: Vec<ThreadFacts>,
    /// Pairs of all events of different threads, both ways round.
    pub all: usize,
    pub mats: BTreeSet<Mat>,
    pub printed: BTreeSet<(Id, Id)>,
    pub mat: BTreeSet<(Id, Id)>,
    pub lex: BTreeSet<(Id, Id)>,
    /// Objects that the events access.
    pub variables: usize,
    /// Steps of the unrolled threads.
    pub transitions: usize,
    /// Whether loops were cut off.
    pub is_cut: bool,
}

/// Unrolls a program, with an order of the threads as in [`crate::token::Settings`].
/// Loops that are not bounded by constants are repeated once.
pub fn survey(
    original: &Program,
    accesses: Accesses,
    thread_order: &[usize],
) -> Result<Survey, EngineError> {
    if let Some(reason) = refusal(original, false) {
        return Err(EngineError::Unsupported(reason));
    }
    let parked = park(original);
    let program = parked.as_ref().unwrap_or(original);
    let movers = movers(program).map_err(|reason| EngineError::Unsupported(reason.to_string()))?;
    let layout = Layout::new(&movers.fused.program, Bounds::default());
    let layout = layout?;
    let plan = Plan {
        depth: 1,
        transactions: accesses != Accesses::All,
        errors: true,
        stops: false,
        maximal: true,
        unwritten: accesses != Accesses::Engine,
        ghosts: true,
    };
    let unroller = Unroller::new(&layout, &movers, plan);
    let mut terms = Terms::new();
    let unrolled = unroller.unroll(&mut terms, &Control::unlimited())?;
    let Some(unrolled) = unrolled else {
        return Err(EngineError::Internal(
            "a limit that is none was reached".into(),
        ));
    };
    let events = events::events(&unroller, &unrolled, &mut terms);
    let system = events.system.with_order(thread_order);
    let threads = unrolled
        .threads
        .iter()
        .zip(&events.nodes)
        .map(|(thread, events)| ThreadFacts {
            name: thread_name(program, thread.slot),
            events: events
                .iter()
                .map(|&node| event(&movers.fused.program, thread, node))
                .collect(),
        })
        .collect();
    let cuts = unrolled.threads.iter().flat_map(|thread| &thread.cuts);
    let is_cut = cuts.into_iter().any(|(_, when)| *when != Terms::FALSE)
        || unrolled.threads.iter().any(|t| !t.unborn.is_empty());
    let total = system.events();
    let own: usize = events
        .nodes
        .iter()
        .map(|events| events.len() * events.len())
        .sum();
    Ok(Survey {
        threads,
        all: total * total - own,
        mats: system.mats(),
        printed: system.pairs(Pairs::MatPrinted),
        mat: system.pairs(Pairs::Mat),
        lex: system.pairs(Pairs::Lex),
        variables: variables(&unrolled, &layout),
        transitions: unrolled
            .threads
            .iter()
            .flat_map(|thread| &thread.nodes)
            .map(|node| node.takes.len())
            .sum(),
        is_cut,
    })
}

fn thread_name(program: &Program, slot: usize) -> String {
    match program.initial.get(slot) {
        Some(instance) => format!("{}[{slot}]", program.template(instance.template).name),
        None => format!("thread {slot}"),
    }
}

/// The steps that a thread may take from an event on before the next one.
fn event(program: &Program, thread: &Thread, event: usize) -> EventFacts {
    let mut facts = EventFacts::default();
    if let Standing::Unborn = thread.nodes[event].standing {
        facts.steps.push("begins".into());
    }
    for (number, node) in thread.nodes.iter().enumerate().skip(event) {
        let belongs = number == event || !node.is_event && node.sources.contains(&event);
        for at in node.takes.iter().filter_map(|take| take.edge) {
            let edge = &program.templates[at.template].locations[at.location].edges[at.edge];
            let text = edge.text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !belongs || text.is_empty() || facts.steps.contains(&text) {
                continue;
            }
            facts.steps.push(text);
            let Some(span) = edge.span else { continue };
            let place = program.info.sources.locate(span);
            let file = place.file.to_string();
            if facts.file.is_empty() {
                facts.file.clone_from(&file);
                (facts.line, facts.last_line) = (place.line, place.line);
            }
            if file == facts.file {
                facts.line = facts.line.min(place.line);
                facts.last_line = facts.last_line.max(place.line);
            }
        }
    }
    facts
}

/// Variables, channels and other objects that events access.
fn variables(unrolled: &Unrolled, layout: &Layout) -> usize {
    let nodes = unrolled.threads.iter().flat_map(|thread| &thread.nodes);
    let events = nodes.filter(|node| node.is_event);
    let places = events.flat_map(|node| node.reads.iter().chain(node.writes.keys()));
    let cells: BTreeSet<usize> = places.map(|&place| unrolled.shared[place]).collect();
    let (mut variables, mut others) = (BTreeSet::new(), 0);
    for cell in cells {
        match layout.cells[cell] {
            Cell::Global { variable, .. } => _ = variables.insert(variable),
            _ => others += 1,
        }
    }
    variables.len() + others
}

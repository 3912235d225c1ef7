//! Events and pairs without a query: what `mover explain --mat` and `mover bench mat` report.
//!
//! Here every access of an object that several threads access is an event, even if the object
//! is never written, as in the counts of Ganai and Kundu (2009).

use std::collections::BTreeSet;

use mover_ir::program::{Edge, Program};
use mover_reduce::movers;

use crate::layout::{Bounds, Layout};
use crate::term::Terms;
use crate::token::events;
use crate::token::pairs::{Id, Mat, Pairs};
use crate::token::unroll::{Plan, Standing, Unroller};
use crate::token::{park, refusal};
use mover_engine::Control;
use mover_engine::EngineError;

/// An event in the words of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventFacts {
    pub file: String,
    pub line: usize,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadFacts {
    pub name: String,
    pub events: Vec<EventFacts>,
}

/// What the sets of pairs make of a program.
pub struct Survey {
    pub threads: Vec<ThreadFacts>,
    /// Pairs of all events of different threads, both ways round.
    pub all: usize,
    pub mats: BTreeSet<Mat>,
    pub mat: BTreeSet<(Id, Id)>,
    pub lex: usize,
    /// Whether loops were cut off.
    pub is_cut: bool,
}

/// Unrolls a program. If `transactions`, events are transactions, else single accesses.
/// Loops that are not bounded by constants are repeated once.
pub fn survey(original: &Program, transactions: bool) -> Result<Survey, EngineError> {
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
        transactions,
        errors: true,
        stops: false,
        maximal: true,
        unwritten: true,
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
    let system = events.system;
    let threads = unrolled
        .threads
        .iter()
        .zip(&events.nodes)
        .map(|(thread, events)| ThreadFacts {
            name: thread_name(program, thread.slot),
            events: events
                .iter()
                .map(|&node| event(program, thread.nodes[node].standing))
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
        mat: system.pairs(Pairs::Mat),
        lex: system.pairs(Pairs::Lex).len(),
        is_cut,
    })
}

fn thread_name(program: &Program, slot: usize) -> String {
    match program.initial.get(slot) {
        Some(instance) => format!("{}[{slot}]", program.template(instance.template).name),
        None => format!("thread {slot}"),
    }
}

fn event(program: &Program, standing: Standing) -> EventFacts {
    let unplaced = |text: &str| EventFacts {
        file: String::new(),
        line: 0,
        text: text.into(),
    };
    let Standing::At { template, location } = standing else {
        return unplaced("begins");
    };
    let edges: &[Edge] = &program.templates[template].locations[location].edges;
    let Some(edge) = edges.first() else {
        return unplaced("");
    };
    let Some(span) = edge.span else {
        return unplaced(&edge.text);
    };
    let place = program.info.sources.locate(span);
    EventFacts {
        file: place.file.to_string(),
        line: place.line,
        text: edge.text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

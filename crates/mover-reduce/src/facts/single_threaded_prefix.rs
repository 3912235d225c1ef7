//! Locations at which a thread is the only one.
//!
//! A program that begins with one thread has no other threads until that thread starts one.
//! What it does before (in most C programs: initialising locks and data) cannot interfere with
//! another thread: such edges are movers, and they are ignored when the use of locks and the
//! protection of data are analysed.
//!
//! A location is *alone* if no path to it from the start contains a spawn.
//!
//! A program usually ends with one thread, too: [`single_threaded_suffix`] finds where the first thread has
//! joined all others and starts none any more ([`Alone::is_only`]).

use mover_ir::program::{Edge, Effect, Program};

use crate::facts::access::EdgeRef;
use crate::facts::single_threaded_suffix;
use crate::plan::movers::runs_once;

#[derive(Clone)]
pub struct Alone {
    /// By template and location.
    locations: Vec<Vec<bool>>,
    suffix: Vec<Vec<bool>>,
}

pub(crate) fn spawns(edge: &Edge) -> bool {
    let is_spawn = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    edge.effects.iter().any(is_spawn)
}

impl Alone {
    pub fn find(program: &Program) -> Alone {
        let mut locations: Vec<Vec<bool>> = program
            .templates
            .iter()
            .map(|template| vec![false; template.locations.len()])
            .collect();
        if let [first] = &program.initial[..]
            && runs_once(program, first.template.index())
        {
            let template = program.template(first.template);
            let reach = |from: Vec<usize>, past_spawns: bool| {
                let mut reached = vec![false; template.locations.len()];
                let mut work = from;
                while let Some(location) = work.pop() {
                    if std::mem::replace(&mut reached[location], true) {
                        continue;
                    }
                    let edges = template.locations[location].edges.iter();
                    work.extend(
                        edges
                            .filter(|edge| past_spawns || !spawns(edge))
                            .map(|edge| edge.target.index()),
                    );
                }
                reached
            };
            let before = reach(vec![template.entry.index()], false);
            let edges = template.locations.iter().flat_map(|l| &l.edges);
            let started = edges.filter(|edge| spawns(edge));
            let after = reach(started.map(|edge| edge.target.index()).collect(), true);
            locations[first.template.index()] = before
                .into_iter()
                .zip(after)
                .map(|(before, after)| before && !after)
                .collect();
        }
        Alone {
            suffix: single_threaded_suffix::find(program),
            locations,
        }
    }

    /// Whether there is no other thread before and after the edge.
    pub fn is_alone(&self, program: &Program, edge: EdgeRef) -> bool {
        self.locations[edge.template][edge.location] && !spawns(edge.of(program))
    }

    /// The same, or whether all other threads have been joined and none is started any more.
    pub fn is_only(&self, program: &Program, edge: EdgeRef) -> bool {
        self.is_alone(program, edge) || self.suffix[edge.template][edge.location]
    }
}

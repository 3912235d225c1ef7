//! Locations at which a thread is the only one.
//!
//! A program that begins with one thread has no other threads until that thread starts one.
//! What it does before (in most C programs: initialising locks and data) cannot interfere with
//! another thread: such edges are movers, and they are ignored when the use of locks and the
//! protection of data are analysed.
//!
//! A location is *alone* if no path to it from the start contains a spawn.
//!
//! The *suffix*: a program usually ends with one thread, too. A row of cells that the front end
//! maintains ([`Program::presence`]) has a cell for each thread that is 0 only before it starts
//! and after it has ended and been waited for. If only the first thread starts others, no other
//! thread makes a cell non-zero that was 0. So the cells that may be non-zero at a location of
//! the first thread are computed from its own edges: one that it sets may be, one that it
//! clears (by a join) is not. Where none may be, and no path continues to a spawn, the thread
//! is the only one for good ([`Alone::is_only`]). The cells are found by constant propagation
//! over the thread's local variables.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{Edge, Effect, Init, Program, Template, VariableId};
use mover_ir::simplify::fold_parts;

use crate::facts::access::EdgeRef;
use crate::plan::movers::runs_once;

pub struct Alone {
    /// By template and location.
    locations: Vec<Vec<bool>>,
    suffix: Vec<Vec<bool>>,
}

fn spawns(edge: &Edge) -> bool {
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
            suffix: suffix(program),
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

/// What is known at a location of the first thread.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    /// Local variables with a constant value.
    constants: BTreeMap<VariableId, u64>,
    /// Cells of the row that may be non-zero; none stands for all of them.
    present: Option<BTreeSet<u64>>,
}

impl Known {
    fn joined(mut self, other: &Known) -> Known {
        self.constants
            .retain(|local, value| other.constants.get(local) == Some(value));
        self.present = match (self.present, &other.present) {
            (Some(mine), Some(theirs)) => Some(mine.union(theirs).copied().collect()),
            _ => None,
        };
        self
    }

    /// The value of an expression over constants.
    fn value(&self, expr: &Expr) -> Option<u64> {
        self.folded(expr).as_const()
    }

    fn folded(&self, expr: &Expr) -> Expr {
        if let Expr::Read(place) = expr
            && let VariableRef::Local(id) = place.variable
            && let Some(&value) = self.constants.get(&id)
        {
            let width = place.ty.width;
            return Expr::Const { value, width };
        }
        fold_parts(expr, &mut |part| self.folded(part))
    }

    fn follow(&mut self, template: &Template, row: VariableId, effect: &Effect) {
        let assigned = match effect {
            Effect::Assign { value, .. } => self.value(value),
            _ => None,
        };
        for place in effect.written_places() {
            let index = self.value(&place.index);
            match place.variable {
                VariableRef::Local(id) => {
                    let is_scalar = template.locals[id.index()].len == 1;
                    match assigned.filter(|_| is_scalar) {
                        Some(value) => self.constants.insert(id, value),
                        None => self.constants.remove(&id),
                    };
                }
                VariableRef::Global(id) if id == row => match (index, &mut self.present) {
                    (Some(index), Some(present)) if assigned == Some(0) => {
                        present.remove(&index);
                    }
                    (Some(index), Some(present)) => {
                        present.insert(index);
                    }
                    (None, present) if assigned != Some(0) => *present = None,
                    _ => {}
                },
                VariableRef::Global(_) => {}
            }
        }
    }
}

/// By template and location: where the first thread is the only one for good.
fn suffix(program: &Program) -> Vec<Vec<bool>> {
    let mut found: Vec<Vec<bool>> = program
        .templates
        .iter()
        .map(|template| vec![false; template.locations.len()])
        .collect();
    let (Some(row), [first]) = (program.presence, &program.initial[..]) else {
        return found;
    };
    let main = first.template.index();
    let others = program.templates.iter().enumerate();
    let others_spawn = others
        .filter(|(number, _)| *number != main)
        .any(|(_, other)| {
            let mut edges = other.locations.iter().flat_map(|location| &location.edges);
            edges.any(spawns)
        });
    if others_spawn || !runs_once(program, main) {
        return found;
    }
    let template = &program.templates[main];
    let initial = |variable: &mover_ir::program::Variable| match &variable.init {
        Init::All(value) if variable.len == 1 => Some(*value),
        _ => None,
    };
    let params = first.args.len();
    let locals = template.locals.iter().enumerate().skip(params);
    // The cells that are non-zero from the start are those of the first thread.
    let start = Known {
        constants: locals
            .filter_map(|(id, variable)| Some((VariableId(id as u32), initial(variable)?)))
            .collect(),
        present: Some(BTreeSet::new()),
    };
    let mut known: Vec<Option<Known>> = vec![None; template.locations.len()];
    known[template.entry.index()] = Some(start);
    let mut work = vec![template.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = known[location].clone() else {
            continue;
        };
        for edge in &template.locations[location].edges {
            let mut after = before.clone();
            for effect in &edge.effects {
                after.follow(template, row, effect);
            }
            let target = edge.target.index();
            let joined = match &known[target] {
                None => after,
                Some(there) => after.joined(there),
            };
            if known[target].as_ref() != Some(&joined) {
                known[target] = Some(joined);
                work.push(target);
            }
        }
    }
    // Locations from which a spawn can be reached.
    let reach = mover_ir::graph::reaches(&mover_ir::graph::control_flow(template));
    let starts: Vec<usize> = (0..template.locations.len())
        .filter(|&location| template.locations[location].edges.iter().any(spawns))
        .collect();
    for (location, known) in known.iter().enumerate() {
        let is_empty = known
            .as_ref()
            .and_then(|known| known.present.as_ref())
            .is_some_and(BTreeSet::is_empty);
        let ends = !starts.iter().any(|&to| reach[location].contains(to));
        found[main][location] = is_empty && ends;
    }
    found
}

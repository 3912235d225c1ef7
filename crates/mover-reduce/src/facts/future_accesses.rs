//! What a thread may still do, and what it may have done.
//!
//! Günther et al. (2017) lets an action move if no other thread can reach a conflicting one
//! any more (Table 2, *reachability*). What can be reached is a matter of the
//! control-flow graph: for each location the variables that are read and
//! written, and whether threads are counted or started, on some way from there.
//! A thread that is started on the way brings all that it does.
//!
//! What lies *behind* a location matters, too: as long as a thread has started
//! nobody who knows a variable, and nobody else knew it from the start, it has
//! the variable to itself, whatever is done with it later. That others have ended
//! is not enough: what they did could as well have come later, and they counted
//! on that.

use mover_ir::graph::{FixedBitSet, include};
use mover_ir::program::{Effect, Program, TemplateId};

use crate::facts::access_exprs::{Touch, Touches};
use crate::plan::movers::runs_once;

/// What some way through the graph does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doings {
    pub reads: FixedBitSet,
    pub writes: FixedBitSet,
    /// Counts threads or starts one.
    pub counts: bool,
    /// Uses a channel.
    pub channels: bool,
    /// Comes to the thread's end.
    pub leaves: bool,
    /// Variables that threads started on the way touch at some time.
    pub starts_users_of: FixedBitSet,
}

impl Doings {
    fn new(variables: usize) -> Self {
        Doings {
            reads: FixedBitSet::with_capacity(variables),
            writes: FixedBitSet::with_capacity(variables),
            counts: false,
            channels: false,
            leaves: false,
            starts_users_of: FixedBitSet::with_capacity(variables),
        }
    }

    fn add(&mut self, other: &Doings) -> bool {
        let before = (self.counts, self.channels, self.leaves);
        self.counts |= other.counts;
        self.channels |= other.channels;
        self.leaves |= other.leaves;
        let reads = include(&mut self.reads, &other.reads);
        let writes = include(&mut self.writes, &other.writes);
        let starts = include(&mut self.starts_users_of, &other.starts_users_of);
        reads || writes || starts || before != (self.counts, self.channels, self.leaves)
    }
}

pub struct Ahead {
    /// By template and location: what some way from there does.
    ahead: Vec<Vec<Doings>>,
    /// By template and location: what some way there has done.
    behind: Vec<Vec<Doings>>,
    /// Templates that one thread runs, once.
    once: Vec<bool>,
}

impl Ahead {
    pub fn new(program: &Program, touches: &Touches) -> Self {
        let variables = program.globals.len();
        let nothing = || -> Vec<Vec<Doings>> {
            let templates = program.templates.iter();
            templates
                .map(|template| vec![Doings::new(variables); template.locations.len()])
                .collect()
        };
        let mut found = Ahead {
            ahead: nothing(),
            behind: nothing(),
            once: (0..program.templates.len())
                .map(|template| runs_once(program, template))
                .collect(),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for (template, body) in program.templates.iter().enumerate() {
                for (location, place) in body.locations.iter().enumerate().rev() {
                    for (number, edge) in place.edges.iter().enumerate() {
                        let mut own = Doings::new(variables);
                        note(&mut own, touches.of(template, location, number));
                        let mut later = own.clone();
                        later.add(&found.ahead[template][edge.target.index()]);
                        for effect in &edge.effects {
                            if let Effect::Spawn { template, .. } = effect {
                                let entry = program.template(*template).entry.index();
                                let started = found.ahead[template.index()][entry].clone();
                                later.add(&started);
                                own.starts_users_of.union_with(&started.reads);
                                own.starts_users_of.union_with(&started.writes);
                            }
                        }
                        changed |= found.ahead[template][location].add(&later);
                        own.add(&found.behind[template][location]);
                        changed |= found.behind[template][edge.target.index()].add(&own);
                    }
                }
            }
        }
        found
    }

    pub fn ahead(&self, template: usize, location: usize) -> &Doings {
        &self.ahead[template][location]
    }

    /// Whether nobody but the thread at the location can have touched a variable so far.
    pub fn is_alone(
        &self,
        program: &Program,
        template: usize,
        location: usize,
        variable: usize,
    ) -> bool {
        let knows = |template: TemplateId| {
            let entry = program.template(template).entry.index();
            let all = &self.ahead[template.index()][entry];
            all.reads.contains(variable) || all.writes.contains(variable)
        };
        let mut others = program.initial.iter().map(|instance| instance.template);
        let behind = &self.behind[template][location];
        self.once[template]
            && others.all(|other| other.index() == template || !knows(other))
            && !behind.starts_users_of.contains(variable)
    }
}

fn note(doings: &mut Doings, touches: &[Touch]) {
    for touch in touches {
        match touch {
            Touch::Cells {
                variable, writes, ..
            } => {
                if *writes {
                    doings.writes.insert(variable.index());
                } else {
                    doings.reads.insert(variable.index());
                }
            }
            Touch::Counts => doings.counts = true,
            Touch::Channel { .. } | Touch::OwnChannels => doings.channels = true,
            Touch::Leaves { .. } => doings.leaves = true,
            Touch::Object { .. } | Touch::Seen => {}
        }
    }
}

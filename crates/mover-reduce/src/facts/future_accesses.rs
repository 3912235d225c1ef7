//! Accesses that a thread can still make, and accesses that it may have made.
//!
//! Günther et al. (2017) let an action move if no other thread can still reach a conflicting
//! action (Table 2, *reachability*). Reachability is computed on the control-flow graph: for
//! each location, the variables that are read and written on some path from it, and whether
//! threads are counted or started on such a path. A thread started on the path contributes all
//! of its accesses.
//!
//! The accesses *before* a location matter as well: as long as a thread has started no thread
//! that uses a variable, and no other initial thread uses it, the thread has the variable to
//! itself, whatever happens to it later. That the other users have exited is not sufficient:
//! their accesses could have come later, and their own movers may rely on that.

use mover_ir::graph::{FixedBitSet, include};
use mover_ir::program::{Effect, Program, TemplateId};

use crate::facts::access_exprs::{Touch, Touches};
use crate::plan::movers::runs_once;

/// The accesses of some path through the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathAccesses {
    pub reads: FixedBitSet,
    pub writes: FixedBitSet,
    /// Counts threads or starts one.
    pub counts: bool,
    /// Uses a channel.
    pub channels: bool,
    /// Reaches the thread's exit.
    pub leaves: bool,
    /// Variables that are accessed by threads started on the path.
    pub starts_users_of: FixedBitSet,
}

impl PathAccesses {
    fn new(variables: usize) -> Self {
        PathAccesses {
            reads: FixedBitSet::with_capacity(variables),
            writes: FixedBitSet::with_capacity(variables),
            counts: false,
            channels: false,
            leaves: false,
            starts_users_of: FixedBitSet::with_capacity(variables),
        }
    }

    fn add(&mut self, other: &PathAccesses) -> bool {
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
    /// By template and location: the accesses on some path from there.
    ahead: Vec<Vec<PathAccesses>>,
    /// By template and location: the accesses on some path to it.
    behind: Vec<Vec<PathAccesses>>,
    /// Templates that are run by one thread, once.
    once: Vec<bool>,
}

impl Ahead {
    pub fn new(program: &Program, touches: &Touches) -> Self {
        let variables = program.globals.len();
        let nothing = || -> Vec<Vec<PathAccesses>> {
            let templates = program.templates.iter();
            templates
                .map(|template| vec![PathAccesses::new(variables); template.locations.len()])
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
                        let mut own = PathAccesses::new(variables);
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

    pub fn ahead(&self, template: usize, location: usize) -> &PathAccesses {
        &self.ahead[template][location]
    }

    /// Whether no thread other than the one at the location can have accessed a variable so far.
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

fn note(doings: &mut PathAccesses, touches: &[Touch]) {
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

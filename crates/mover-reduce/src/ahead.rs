//! What a thread may still do, and what it may have done.
//!
//! Paper 001 lets an action move if no other thread can reach a conflicting one
//! any more (Table 2, *reachability*). What can be reached is a matter of the
//! control-flow graph: for each location the variables that are read and
//! written, and whether threads are counted or started, on some way from there.
//! A thread that is started on the way brings all that it does.
//!
//! What lies *behind* a location matters, too: an access counts against the
//! locks of a variable unless every other thread is a stranger to the variable,
//! now and before. A thread that has touched it may still be inside of the
//! transaction in which it did.

use mover_ir::program::{Effect, Program};

use crate::touch::{Touch, Touches};

/// A set of variables, by number.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct VariableSet(Vec<u64>);

impl VariableSet {
    fn new(variables: usize) -> Self {
        VariableSet(vec![0; variables.div_ceil(64)])
    }

    fn insert(&mut self, variable: usize) {
        self.0[variable / 64] |= 1 << (variable % 64);
    }

    pub fn contains(&self, variable: usize) -> bool {
        self.0[variable / 64] >> (variable % 64) & 1 == 1
    }

    /// Adds all of the other set; whether that changed anything.
    fn add(&mut self, other: &VariableSet) -> bool {
        let mut changed = false;
        for (word, &more) in self.0.iter_mut().zip(&other.0) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }
}

/// What some way through the graph does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doings {
    pub reads: VariableSet,
    pub writes: VariableSet,
    /// Counts threads or starts one.
    pub counts: bool,
    /// Uses a channel.
    pub channels: bool,
    /// Comes to the thread's end.
    pub leaves: bool,
}

impl Doings {
    fn new(variables: usize) -> Self {
        Doings {
            reads: VariableSet::new(variables),
            writes: VariableSet::new(variables),
            counts: false,
            channels: false,
            leaves: false,
        }
    }

    fn add(&mut self, other: &Doings) -> bool {
        let before = (self.counts, self.channels, self.leaves);
        self.counts |= other.counts;
        self.channels |= other.channels;
        self.leaves |= other.leaves;
        let reads = self.reads.add(&other.reads);
        let writes = self.writes.add(&other.writes);
        reads || writes || before != (self.counts, self.channels, self.leaves)
    }
}

pub struct Ahead {
    /// By template and location: what some way from there does.
    ahead: Vec<Vec<Doings>>,
    /// By template and location: what some way there has done.
    behind: Vec<Vec<Doings>>,
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
                                later.add(&found.ahead[template.index()][entry]);
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

    pub fn behind(&self, template: usize, location: usize) -> &Doings {
        &self.behind[template][location]
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
            Touch::Seen => {}
        }
    }
}

//! Static facts: for each location the accesses of its edges, compiled.
//!
//! The facts are those of `mover_reduce`, in terms of variables and expressions. Here they
//! become numbered objects and code that selects one of them, so that the classifier evaluates
//! code without look-ups. Nothing here changes during a search, except for the record of which
//! of the user's claims has been violated.

use std::io;
use std::sync::OnceLock;

use mover_engine::BrokenClaim;
use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Effect, LocationId, Program, TemplateId, VariableId};
use mover_reduce::facts::access::{EdgeRef, Object};
use mover_reduce::facts::access_exprs::{End, Touch};
use mover_reduce::facts::lock_rows::LockPlace;
use mover_reduce::facts::owners::OwnerCell;
use mover_reduce::facts::rw_locks::{Mode, RwLock};
use mover_reduce::plan::reduction_plan::is_about_places;
use mover_reduce::{PhaseFacts, ReductionPlan};

use super::ObjectId;
use crate::checkpoint::{CheckpointError, Sink, Source, nonsense};
use crate::code::{Code, Compiler, View};
use crate::layout::Layout;
use crate::machine::CompiledLocation;
use crate::memory::Memory;

/// A row of objects, one of which is picked by an index.
#[derive(Debug)]
pub(super) struct PickedCell {
    pub(super) first: ObjectId,
    pub(super) len: u32,
    /// All of the row if absent.
    pub(super) index: Option<Code>,
}

#[derive(Debug)]
pub(super) enum CompiledTouch {
    /// A cell of a row of locks.
    Lock(PickedCell),
    Cells {
        cells: PickedCell,
        variable: u32,
        writes: bool,
        when: Option<WhenId>,
    },
    Channel {
        channel: Option<Code>,
        end: End,
    },
    OwnChannels,
    Object {
        object: Object,
        writes: bool,
        /// Whether locks inside the object make it move, whatever the beliefs.
        left: bool,
        right: bool,
        when: Option<WhenId>,
    },
    Leaves {
        in_order: bool,
    },
    /// Tells those who wait that the thread has ended.
    Finishes,
    Seen,
}

/// The conditions of an access, see [`PhaseTables::whens`].
pub(super) type WhenId = u32;

/// When an access moves to the left and to the right, whatever the beliefs.
#[derive(Debug)]
pub(super) struct When {
    pub(super) left: Option<Code>,
    pub(super) right: Option<Code>,
}

#[derive(Debug, Default)]
pub(super) struct EdgeFacts {
    pub(super) touches: Vec<CompiledTouch>,
    pub(super) takes: Vec<PickedCell>,
    /// Whether it takes one of these or a lock inside an object.
    pub(super) takes_lock: bool,
    /// Those among them that are taken to read.
    pub(super) takes_to_read: Vec<ObjectId>,
    pub(super) releases: bool,
    pub(super) meets: Meets,
    /// Makes an offer, where others can see that none was made.
    pub(super) offers: bool,
}

/// Whether an edge is a receive from a channel that may have no buffer.
#[derive(Debug, Default)]
pub(super) enum Meets {
    #[default]
    Never,
    Always,
    /// If this channel has none; no other thread can change which one it is.
    At(Code),
}

#[derive(Debug, Default)]
pub(super) struct LocationFacts {
    pub(super) held: Vec<PickedCell>,
    /// Those among them that the thread has to read.
    pub(super) held_to_read: Vec<ObjectId>,
    /// In the order of the compiled edges.
    pub(super) edges: Vec<EdgeFacts>,
    pub(super) takes_lock: bool,
    /// A thread there holds a lock inside an object.
    pub(super) holds_object_lock: bool,
    pub(super) counts_ahead: bool,
    /// A channel is used or the thread ends on some path from here.
    pub(super) may_release: bool,
    pub(super) reads_ahead: Vec<bool>,
    pub(super) writes_ahead: Vec<bool>,
    /// Variables that no other thread can have accessed yet.
    pub(super) alone: Vec<bool>,
}

/// The static side of run-time classification, by program counter.
pub struct PhaseTables {
    pub(super) locations: Vec<LocationFacts>,
    /// Number of cells; the owners' predicates come after them, then other objects.
    pub(super) cells: u32,
    pub(super) owners: Vec<CompiledOwner>,
    /// Locks whose cells determine their owner.
    pub(super) signed: Vec<CompiledOwner>,
    pub(super) claims: Vec<Claim>,
    /// The cells that say which threads there are, if the program has such.
    pub(super) presence: Vec<Code>,
    /// Whether what no other thread can reach is exclusive.
    pub(super) by_reach: bool,
    /// The conditions of the plan.
    pub(super) whens: Vec<When>,
}

/// What the user says protects a variable.
pub(super) struct Claim {
    pub(super) variable: u32,
    /// The predicate, as an object.
    pub(super) object: ObjectId,
    /// Its number in the program.
    pub(super) given: usize,
    /// The first access where the predicate did not hold.
    pub(super) broken_by: OnceLock<EdgeRef>,
}

/// A cell whose value determines its owner.
pub(super) struct CompiledOwner {
    /// The cell if it is a lock, else a number after the cells.
    pub(super) object: ObjectId,
    pub(super) predicate: Code,
}

impl PhaseTables {
    pub fn new(
        program: &Program,
        layout: &Layout,
        memory: &Memory,
        facts: &PhaseFacts,
        plan: Option<&ReductionPlan>,
        locations: &[CompiledLocation],
    ) -> Self {
        let mut firsts = Vec::new();
        let mut cells = 0;
        for variable in &program.globals {
            firsts.push(cells);
            cells += variable.len;
        }
        let mut tabling = Tabling {
            program,
            facts,
            plan,
            whens: Vec::new(),
            firsts,
            compiler: Compiler::new(program, layout, memory),
            has_rendezvous: program.has_rendezvous(),
        };
        let mut all = vec![LocationFacts::default()];
        for (template, body) in program.templates.iter().enumerate() {
            tabling.compiler.template = template;
            for location in 0..body.locations.len() {
                let pc = layout.pc_of(TemplateId(template as u32), LocationId(location as u32));
                all.push(tabling.location(template, location, &locations[pc as usize]));
            }
        }
        let presence = tabling.presence();
        let signed = tabling.signed();
        let (owners, claims) = tabling.owners(cells);
        PhaseTables {
            locations: all,
            cells,
            owners,
            signed,
            claims,
            presence,
            by_reach: plan.is_some(),
            whens: tabling.whens,
        }
    }

    /// Writes which claims are broken by what.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        for claim in &self.claims {
            let edge = claim.broken_by.get();
            sink.flag(edge.is_some())?;
            if let Some(edge) = edge {
                let EdgeRef {
                    template,
                    location,
                    edge,
                } = *edge;
                sink.numbers(&[template as u64, location as u64, edge as u64])?;
            }
        }
        Ok(())
    }

    pub fn restore(&self, source: &mut Source) -> Result<(), CheckpointError> {
        for claim in &self.claims {
            if source.flag()? {
                let [template, location, edge] = source.numbers()?[..] else {
                    return Err(nonsense("a claim is broken by no edge"));
                };
                claim.broken_by.get_or_init(|| EdgeRef {
                    template: template as usize,
                    location: location as usize,
                    edge: edge as usize,
                });
            }
        }
        Ok(())
    }

    /// Whether the user claims exclusive access to something.
    pub fn has_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// The claims of the user that some access did not keep to, and that access.
    pub fn broken_claims(&self) -> Vec<BrokenClaim> {
        let broken = |claim: &Claim| {
            let edge = *claim.broken_by.get()?;
            let given = claim.given;
            Some(BrokenClaim { given, edge })
        };
        self.claims.iter().filter_map(broken).collect()
    }
}

/// Makes the tables.
struct Tabling<'a> {
    program: &'a Program,
    facts: &'a PhaseFacts,
    plan: Option<&'a ReductionPlan>,
    whens: Vec<When>,
    /// The first object of each global variable.
    firsts: Vec<ObjectId>,
    /// For the present template.
    compiler: Compiler<'a>,
    has_rendezvous: bool,
}

impl Tabling<'_> {
    fn location(
        &mut self,
        template: usize,
        location: usize,
        compiled: &CompiledLocation,
    ) -> LocationFacts {
        let facts = self.facts;
        let edges: Vec<EdgeFacts> = compiled
            .edges
            .iter()
            .map(|edge| {
                self.edge(EdgeRef {
                    template,
                    location,
                    edge: edge.original,
                })
            })
            .collect();
        let ahead = facts.ahead.ahead(template, location);
        let variables = 0..self.program.globals.len();
        LocationFacts {
            held: facts
                .locks
                .held(template, location)
                .iter()
                .map(|place| self.lock(place))
                .chain(self.rw_cells(|lock| lock.held(template, location).is_some()))
                .collect(),
            held_to_read: self
                .rw_cells(|lock| lock.held(template, location) == Some(Mode::Reads))
                .map(|cell| cell.first)
                .collect(),
            takes_lock: edges.iter().any(|edge| edge.takes_lock),
            holds_object_lock: facts.object_locks.holds(template, location),
            counts_ahead: ahead.counts,
            may_release: ahead.channels || ahead.leaves,
            reads_ahead: variables.clone().map(|v| ahead.reads.contains(v)).collect(),
            writes_ahead: variables
                .clone()
                .map(|v| ahead.writes.contains(v))
                .collect(),
            alone: variables
                .map(|v| facts.ahead.is_alone(self.program, template, location, v))
                .collect(),
            edges,
        }
    }

    fn edge(&mut self, at: EdgeRef) -> EdgeFacts {
        let facts = self.facts;
        let EdgeRef {
            template,
            location,
            edge,
        } = at;
        let handled = facts.locks.handled(template, location, edge);
        let owned = |does: fn(&OwnerCell, EdgeRef) -> bool| {
            let locks = facts.owners.cells.iter().filter(|cell| cell.is_lock);
            locks.filter(move |cell| does(cell, at))
        };
        let taken = owned(OwnerCell::is_taken_by)
            .map(|cell| self.pick(cell.variable.index(), Some(&Expr::int(0))));
        let takes: Vec<PickedCell> = handled
            .takes
            .iter()
            .map(|place| self.lock(place))
            .chain(taken)
            .chain(self.rw_cells(|lock| lock.taken_by(at).is_some()))
            .collect();
        let touches = facts.touches.of(template, location, edge).iter();
        let touches = touches.map(|touched| self.touch(at, touched)).collect();
        EdgeFacts {
            takes_lock: !takes.is_empty() || facts.object_locks.takes(at),
            takes,
            touches,
            takes_to_read: self
                .rw_cells(|lock| lock.taken_by(at) == Some(Mode::Reads))
                .map(|cell| cell.first)
                .collect(),
            releases: !handled.releases.is_empty()
                || facts.object_locks.releases(at)
                || owned(OwnerCell::is_given_back_by).next().is_some()
                || facts.rw.iter().any(|lock| lock.releases.contains(&at)),
            meets: self.meets(at),
            offers: facts.offers[template][location][edge],
        }
    }

    fn pick(&self, variable: usize, index: Option<&Expr>) -> PickedCell {
        PickedCell {
            first: self.firsts[variable],
            len: self.program.globals[variable].len,
            index: index.map(|index| self.compiler.expr(index)),
        }
    }

    fn lock(&self, place: &LockPlace) -> PickedCell {
        self.pick(place.variable.index(), Some(&place.index))
    }

    /// The cells of the reader-writer locks that are meant.
    fn rw_cells(&self, is_meant: impl Fn(&RwLock) -> bool) -> impl Iterator<Item = PickedCell> {
        let locks = self.facts.rw.iter().filter(move |lock| is_meant(lock));
        locks
            .flat_map(|lock| &lock.cells)
            .map(|cell| self.pick(cell.index(), Some(&Expr::int(0))))
    }

    fn touch(&mut self, at: EdgeRef, touch: &Touch) -> CompiledTouch {
        match touch {
            Touch::Cells { variable, .. } if self.program.presence == Some(*variable) => {
                if self.facts.quiet_ends.contains(&at) {
                    CompiledTouch::Finishes
                } else {
                    CompiledTouch::Seen
                }
            }
            Touch::Cells {
                variable,
                index,
                writes,
            } => {
                let cells = self.pick(variable.index(), index.as_ref());
                let is_lock = self.facts.locks.is_lock(*variable)
                    || self.facts.is_rw(*variable)
                    || self.facts.owners.lock(*variable).is_some();
                if is_lock {
                    CompiledTouch::Lock(cells)
                } else {
                    let of_variable = |object: &Object| matches!(object, Object::Cell(v, _) | Object::Variable(v) if v == variable);
                    let needs = self.plan.map(|plan| &plan.edge(at).needs);
                    let mut objects = (needs.into_iter().flatten().flatten())
                        .map(|need| need.object)
                        .filter(of_variable);
                    // An edge that accesses several of the cells is decided by beliefs.
                    let first = objects.next();
                    let object = first.filter(|first| objects.all(|other| other == *first));
                    CompiledTouch::Cells {
                        cells,
                        variable: variable.0,
                        writes: *writes,
                        // What other threads can reach is known by variable, without code.
                        when: object.and_then(|object| self.when(at, object, false)),
                    }
                }
            }
            Touch::Channel { channel, end } => CompiledTouch::Channel {
                channel: channel.as_ref().map(|channel| self.compiler.expr(channel)),
                end: *end,
            },
            Touch::OwnChannels => CompiledTouch::OwnChannels,
            Touch::Object { object, writes } => CompiledTouch::Object {
                object: *object,
                writes: *writes,
                left: self.facts.object_locks.moves(at, *object, true),
                right: self.facts.object_locks.moves(at, *object, false),
                when: self.when(at, *object, true),
            },
            Touch::Leaves { in_order } => CompiledTouch::Leaves {
                in_order: *in_order,
            },
            Touch::Counts | Touch::Seen => CompiledTouch::Seen,
        }
    }

    /// The plan's conditions for an access, if there are any.
    fn when(&mut self, at: EdgeRef, object: Object, with_places: bool) -> Option<WhenId> {
        let edge = self.plan?.edge(at);
        let code = |left| {
            let condition = edge.when(object, left)?;
            (with_places || !is_about_places(condition)).then(|| self.compiler.expr(condition))
        };
        let when = When {
            left: code(true),
            right: code(false),
        };
        if when.left.is_none() && when.right.is_none() {
            return None;
        }
        self.whens.push(when);
        Some(self.whens.len() as WhenId - 1)
    }

    fn meets(&self, at: EdgeRef) -> Meets {
        let location = &self.program.templates[at.template].locations[at.location];
        let effects = &location.edges[at.edge].effects;
        let received = effects.iter().find_map(|effect| match effect {
            Effect::Receive { channel, .. } => Some(channel),
            _ => None,
        });
        match received {
            Some(channel) if self.has_rendezvous => {
                if self.facts.is_own(channel) {
                    Meets::At(self.compiler.expr(channel))
                } else {
                    Meets::Always
                }
            }
            _ => Meets::Never,
        }
    }

    /// The cells that say which threads there are.
    fn presence(&self) -> Vec<Code> {
        let Some(variable) = self.program.presence else {
            return Vec::new();
        };
        (0..self.program.globals[variable.index()].len)
            .map(|index| self.compiler.expr(&self.cell(variable, index)))
            .collect()
    }

    /// The locks whose cells determine their owner.
    fn signed(&self) -> Vec<CompiledOwner> {
        let mut signed = Vec::new();
        for (variable, row) in self.program.globals.iter().enumerate() {
            let id = VariableId(variable as u32);
            let Some(mark) = self.facts.locks.mark(id) else {
                continue;
            };
            for index in 0..row.len {
                let mark = mark.clone().resize(row.ty.width, false);
                let is_own = Expr::binary(BinaryOp::Eq, self.cell(id, index), mark);
                signed.push(CompiledOwner {
                    object: self.firsts[variable] + index,
                    predicate: self.compiler.expr(&is_own),
                });
            }
        }
        signed
    }

    fn cell(&self, variable: VariableId, index: u32) -> Expr {
        Expr::Read(Place::element(
            VariableRef::Global(variable),
            Expr::int(index.into()),
            self.program.globals[variable.index()].ty,
        ))
    }

    /// The predicates that tell who has something, with numbers from `next` on, and what of
    /// that the user has claimed.
    fn owners(&self, mut next: ObjectId) -> (Vec<CompiledOwner>, Vec<Claim>) {
        let mut owners = Vec::new();
        let mut claims = Vec::new();
        for cell in &self.facts.owners.cells {
            let object = if cell.is_lock {
                self.firsts[cell.variable.index()]
            } else {
                next += 1;
                next - 1
            };
            claims.extend(cell.given.map(|given| Claim {
                variable: self.program.info.exclusive[given].variable.0,
                object,
                given,
                broken_by: OnceLock::new(),
            }));
            owners.push(CompiledOwner {
                object,
                predicate: self.compiler.expr(&cell.predicate),
            });
        }
        (owners, claims)
    }
}

impl PickedCell {
    /// The object, unless the index is outside of the row.
    pub(super) fn pick(&self, view: &View) -> Option<ObjectId> {
        let index = view.operand(self.index.as_ref()?);
        (index < u64::from(self.len)).then(|| self.first + index as u32)
    }
}

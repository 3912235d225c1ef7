//! Partial order reduction for temporal claims: local steps go first.
//!
//! A step is *local* if no other thread accesses what it reads and writes, before or after it: variables of its own thread that no
//! other thread looks at, globals that only one thread uses or nobody writes, and globals that are protected by a lock
//! which the thread holds (the steps that the static plan calls movers in both directions, [`mover_reduce::movers`]). It is
//! *invisible* if it changes nothing that the claim sees. If all edges of a thread's location are local and invisible and one of
//! them can be taken, the steps of that thread are an *ample set* (Peled 1993): nobody else can disable them, they
//! disable and enable nobody, and every run from here can be changed into one that begins with one of them and looks the
//! same to a formula without `X`. So the steps of the other threads need not be tried here.
//!
//! Other edges are local in some states, where these conditions hold.
//!
//! - *Globals*: no other thread can still write what the edge reads, or access what it writes, from where the others are.
//! - *Channels*: a send to a buffer that is not full, if no other thread can still send to it or look at its length; a
//!   receive from a buffer that is not empty, if no other thread can still receive from it or look at it. These are the rules of SPIN for `xs` and
//!   `xr` (Holzmann and Peled 1994), but who shares a channel is read from the state
//!   ([`ChannelFutures`]), not declared. A sorted send, or an operation in an
//!   atomic sequence, which loses its atomicity where it blocks, looks at the channel.
//! - *Errors*: an edge to an error is not enabled, and by the other conditions stays so.
//!
//! A step that offers a rendezvous is never local if another thread may notice that the offer is missing
//! ([`mover_reduce::offers`]): an atomic sequence that blocks at the send is seen there.
//!
//! The other steps must be tried some time. If a step of the ample set leads to a pair on the stack of the depth-first search, all
//! steps are taken instead. Then each cycle of the reduced graph has a pair at which nothing was left out: the first pair
//! of the cycle that the search comes to is on the stack when its predecessor in the cycle is expanded.
//!
//! It is not used with fairness,
//! which local steps do not preserve, nor with claims that ask which thread moved last or can move, nor for claims that
//! are automata in the source: those may count steps.

use mover_ir::claim::{Monitor, Proposition};
use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::graph::FixedBitSet;
use mover_ir::program::{Edge, Effect, Location, LocationId, Program, TemplateId, VariableId};
use mover_reduce::facts::access::AccessTable;
use mover_reduce::facts::access_exprs::{End, Touch, Touches};
use mover_reduce::facts::future_accesses::Ahead;
use mover_reduce::{Movers, movers, offers};
use rustc_hash::FxHashSet;

use super::channel_futures::ChannelFutures;
use crate::code::Code;
use crate::machine::{Machine, Step};

/// What the claim or another thread sees of a thread.
#[derive(Default)]
struct Watched {
    locations: FxHashSet<(TemplateId, LocationId)>,
    variables: FxHashSet<(TemplateId, VariableId)>,
    /// Globals that the claim reads.
    globals: FxHashSet<VariableId>,
    /// Whether the claim may look at channels.
    channels: bool,
}

impl Watched {
    /// An expression of the claim.
    fn note_claim(&mut self, expr: &Expr) {
        self.note(expr);
        match expr {
            Expr::Read(place) => {
                if let VariableRef::Global(id) = place.variable {
                    self.globals.insert(id);
                }
            }
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. }
            | Expr::ThreadId
            | Expr::ThreadAt { .. }
            | Expr::RemoteRead { .. } => {}
            _ => self.channels = true,
        }
    }

    fn note(&mut self, expr: &Expr) {
        match expr {
            Expr::ThreadAt {
                template,
                locations,
                ..
            } => {
                let places = locations.iter().map(|&location| (*template, location));
                self.locations.extend(places);
            }
            Expr::RemoteRead {
                template, variable, ..
            } => {
                self.variables.insert((*template, *variable));
            }
            _ => {}
        }
    }
}

/// Whether the steps of a thread at a place are an ample set.
enum Ample {
    Never,
    /// All edges are local and invisible.
    Always,
    /// If these hold.
    When(Box<Conditions>),
}

/// What must hold in a state so that the steps of a place are an ample set.
struct Conditions {
    /// Globals that no other thread may write any more, and globals that none may access.
    reads: FixedBitSet,
    writes: FixedBitSet,
    /// Channels that must be ready, and of which no other thread may use the same end any more.
    operations: Vec<(Code, End)>,
    /// Channels that must be the program's own.
    existing: Vec<Code>,
    /// Edges that must not be enabled, by their numbers in the program.
    disabled: Vec<usize>,
}

/// Where the steps of a thread may go first.
pub struct LocalSteps {
    /// By program counter.
    places: Vec<Ample>,
    /// By program counter, for places with conditions.
    futures: Option<Futures>,
}

/// What a thread may still do.
struct Futures {
    /// By program counter: globals that it may read and write.
    reads: Vec<FixedBitSet>,
    writes: Vec<FixedBitSet>,
    channels: ChannelFutures,
}

impl LocalSteps {
    /// None if the claim does not allow the reduction.
    pub fn new(program: &Program, machine: &Machine, monitor: &Monitor) -> Option<LocalSteps> {
        let watched = watched(program, monitor)?;
        // Without movers (`timeout`), variables of the own thread are left.
        let movers = movers(program).ok();
        let touches = Touches::new(program, &AccessTable::new(program));
        let offers = offers(program);
        let mut places: Vec<Ample> = Vec::new();
        places.resize_with(machine.program_counters(), || Ample::Never);
        for (id, template) in (0..).map(TemplateId).zip(&program.templates) {
            for at in (0..template.locations.len() as u32).map(LocationId) {
                let survey = Survey {
                    program,
                    machine,
                    watched: &watched,
                    movers: movers.as_ref(),
                    touches: &touches,
                    offers: &offers,
                    template: id,
                    at,
                };
                places[machine.counter_of(id, at)] = survey.ample();
            }
        }
        let has_conditions = places.iter().any(|ample| matches!(ample, Ample::When(_)));
        let futures = has_conditions.then(|| Futures::new(program, machine, &touches));
        Some(LocalSteps { places, futures })
    }

    /// Whether the steps of a thread, which are all that it can take, may stand for all.
    pub fn is_ample(
        &self,
        machine: &Machine,
        lanes: &[u64],
        thread: usize,
        steps: &[Step],
    ) -> bool {
        match &self.places[machine.pc(lanes, thread)] {
            Ample::Never => false,
            Ample::Always => true,
            Ample::When(conditions) => self
                .futures
                .as_ref()
                .is_some_and(|futures| futures.allow(machine, lanes, thread, steps, conditions)),
        }
    }

    /// Whether it is worth asking for the steps of a thread.
    pub fn may_be_ample(&self, counter: usize) -> bool {
        !matches!(self.places[counter], Ample::Never)
    }
}

impl Futures {
    fn new(program: &Program, machine: &Machine, touches: &Touches) -> Futures {
        let ahead = Ahead::new(program, touches);
        let nothing = FixedBitSet::with_capacity(program.globals.len());
        let mut reads = vec![nothing.clone(); machine.program_counters()];
        let mut writes = vec![nothing; machine.program_counters()];
        for (number, template) in program.templates.iter().enumerate() {
            for at in 0..template.locations.len() {
                let id = TemplateId(number as u32);
                let counter = machine.counter_of(id, LocationId(at as u32));
                let accesses = ahead.ahead(number, at);
                reads[counter] = accesses.reads.clone();
                writes[counter] = accesses.writes.clone();
            }
        }
        Futures {
            reads,
            writes,
            channels: ChannelFutures::new(program, machine, touches),
        }
    }

    fn allow(
        &self,
        machine: &Machine,
        lanes: &[u64],
        thread: usize,
        steps: &[Step],
        conditions: &Conditions,
    ) -> bool {
        let is_disabled = |step: &Step| {
            let edge = machine.edge_at(lanes, thread, step.edge()).edge;
            conditions.disabled.contains(&edge)
        };
        if steps.iter().any(is_disabled) {
            return false;
        }
        let view = machine.view(lanes, thread, false);
        let mut existing = conditions.existing.iter();
        if !existing.all(|channel| machine.is_global_channel(view.eval(channel))) {
            return false;
        }
        let are_ready = conditions.operations.iter().all(|(channel, end)| {
            let handle = view.eval(channel);
            let found = view.channel(handle);
            let found = found.filter(|_| machine.is_global_channel(handle));
            found.is_some_and(|(shape, base)| {
                let length = shape.len.get(lanes, base);
                let is_ready = match end {
                    End::Send => length < u64::from(shape.capacity),
                    _ => length > 0,
                };
                let channels = &self.channels;
                is_ready && !channels.is_used_by_others(machine, lanes, thread, handle, *end)
            })
        });
        are_ready
            && (0..machine.threads(lanes)).all(|other| {
                let at = machine.pc(lanes, other);
                other == thread
                    || (self.writes[at].is_disjoint(&conditions.reads)
                        && self.writes[at].is_disjoint(&conditions.writes)
                        && self.reads[at].is_disjoint(&conditions.writes))
            })
    }
}

/// What is watched; none if the claim does not allow the reduction.
fn watched(program: &Program, monitor: &Monitor) -> Option<Watched> {
    let (formulas, formula) = monitor.formula.as_ref()?;
    if !formulas.is_stutter_invariant(*formula) || monitor.uses_last || program.priority_scheduling
    {
        return None;
    }
    let mut watched = Watched::default();
    for proposition in &monitor.propositions {
        match proposition {
            Proposition::Holds(expr) => expr.walk(&mut |part| watched.note_claim(part)),
            Proposition::SomeThreadAt(places) => watched.locations.extend(places),
            Proposition::Enabled(_) => return None,
            // An ample set is never empty, so it leaves no run without an end of its own.
            Proposition::NoneEnabled => {}
        }
    }
    for (expr, _) in &monitor.checks {
        expr.walk(&mut |part| watched.note_claim(part));
    }
    for template in &program.templates {
        for edge in template.locations.iter().flat_map(|at| &at.edges) {
            edge.guard.walk(&mut |part| watched.note(part));
            for effect in &edge.effects {
                effect.walk(&mut |part| watched.note(part));
            }
        }
    }
    Some(watched)
}

/// A look at one place.
struct Survey<'a> {
    program: &'a Program,
    machine: &'a Machine,
    watched: &'a Watched,
    movers: Option<&'a Movers>,
    touches: &'a Touches,
    /// By template, location and edge: offers of a rendezvous that others may miss.
    offers: &'a [Vec<Vec<bool>>],
    template: TemplateId,
    at: LocationId,
}

impl Survey<'_> {
    fn ample(&self) -> Ample {
        let template = self.program.template(self.template);
        let location = template.location(self.at);
        let is_plain = |to: LocationId| {
            is_unwatched_place(self.watched, self.template, to, template.location(to))
        };
        if location.edges.is_empty() || !is_plain(self.at) {
            return Ample::Never;
        }
        let globals = self.program.globals.len();
        let mut conditions = Conditions {
            reads: FixedBitSet::with_capacity(globals),
            writes: FixedBitSet::with_capacity(globals),
            operations: Vec::new(),
            existing: Vec::new(),
            disabled: Vec::new(),
        };
        let mut is_conditional = false;
        let offers = &self.offers[self.template.index()][self.at.index()];
        for (number, edge) in location.edges.iter().enumerate() {
            if offers[number] {
                return Ample::Never;
            }
            let is_hidden = is_plain(edge.target)
                && is_invisible(self.program, self.watched, self.template, edge);
            let moves = || {
                let movers = self.movers;
                movers.is_some_and(|movers| is_mover(movers, self.template, self.at, number))
            };
            if is_hidden && (is_own_edge(edge) || moves()) {
                continue;
            }
            is_conditional = true;
            if !is_hidden {
                conditions.disabled.push(number);
            }
            if self.add_conditions(&mut conditions, number, edge).is_none() {
                return Ample::Never;
            }
        }
        match is_conditional {
            true => Ample::When(Box::new(conditions)),
            false => Ample::Always,
        }
    }

    /// What must hold so that nobody enables or disables an edge, and that it commutes with what others do.
    /// None if that cannot be said.
    fn add_conditions(
        &self,
        conditions: &mut Conditions,
        number: usize,
        edge: &Edge,
    ) -> Option<()> {
        let compile =
            |expr: &Expr| (self.machine).compile_expr_of(self.program, self.template, expr);
        let is_simple = edge.effects.iter().all(|effect| match effect {
            Effect::Assign { .. } | Effect::Print { .. } | Effect::Send { .. } => true,
            // Another message may come to match.
            Effect::Receive { random, .. } => !random,
            _ => false,
        });
        if !is_simple || waits_for_timeout(edge) {
            return None;
        }
        let touches = self
            .touches
            .of(self.template.index(), self.at.index(), number);
        for touch in touches {
            match touch {
                Touch::Cells {
                    variable, writes, ..
                } => match writes {
                    true => conditions.writes.insert(variable.index()),
                    false => conditions.reads.insert(variable.index()),
                },
                Touch::Channel {
                    channel: Some(channel),
                    end: End::Existence,
                } => conditions.existing.push(compile(channel)),
                Touch::Channel {
                    channel: Some(channel),
                    end: end @ (End::Send | End::Receive),
                } => conditions.operations.push((compile(channel), *end)),
                _ => return None,
            }
        }
        Some(())
    }
}

fn waits_for_timeout(edge: &Edge) -> bool {
    let mut waits = false;
    let mut look = |part: &Expr| waits |= *part == Expr::Timeout;
    edge.guard.walk(&mut look);
    for effect in &edge.effects {
        effect.walk(&mut look);
    }
    waits
}

/// A run goes on there, all threads may move there, and nobody sees that a thread is there.
fn is_unwatched_place(
    watched: &Watched,
    template: TemplateId,
    at: LocationId,
    place: &Location,
) -> bool {
    !place.atomic && !place.ends_run() && !watched.locations.contains(&(template, at))
}

/// Whether an edge changes only what neither the claim nor another thread's guard looks at.
fn is_invisible(program: &Program, watched: &Watched, template: TemplateId, edge: &Edge) -> bool {
    let is_hidden = |place: &Place| match place.variable {
        VariableRef::Local(id) => !watched.variables.contains(&(template, id)),
        VariableRef::Global(id) => {
            !program.globals[id.index()].addressable && !watched.globals.contains(&id)
        }
    };
    edge.effects.iter().all(|effect| {
        let is_plain = match effect {
            Effect::Assign { .. } | Effect::Print { .. } => true,
            // Those that move are on channels that only one thread uses.
            Effect::Send { .. } | Effect::Receive { .. } => !watched.channels,
            _ => false,
        };
        is_plain && effect.written_places().into_iter().all(is_hidden)
    })
}

/// Whether an edge that is invisible accesses variables of its own thread only.
fn is_own_edge(edge: &Edge) -> bool {
    let is_own_effect = |effect: &Effect| match effect {
        Effect::Assign { place, value } => {
            matches!(place.variable, VariableRef::Local(_))
                && is_own_value(&place.index)
                && is_own_value(value)
        }
        Effect::Print { args, .. } => args.iter().all(|arg| is_own_value(&arg.value)),
        _ => false,
    };
    is_own_value(&edge.guard) && edge.effects.iter().all(is_own_effect)
}

/// Whether an edge is no part of an atomic sequence and commutes with all steps of the others, which can neither
/// enable nor disable it: they do not access what it accesses.
fn is_mover(movers: &Movers, template: TemplateId, at: LocationId, edge: usize) -> bool {
    let (template, at) = (template.index(), at.index());
    let class = movers.edges[template][at].get(edge);
    let parts = movers.fused.made_of[template][at].get(edge);
    let is_single = parts.is_some_and(|parts| parts.len() == 1);
    let moves = |class: &mover_reduce::Mover| {
        class.left && class.right && !class.takes_lock && !class.releases_lock
    };
    is_single && class.is_some_and(moves)
}

/// Whether a value depends on the thread's own variables only.
fn is_own_value(expr: &Expr) -> bool {
    let mut is_own = true;
    expr.walk(&mut |part| {
        is_own &= match part {
            Expr::Read(place) => matches!(place.variable, VariableRef::Local(_)),
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. }
            | Expr::ThreadId
            | Expr::Channel(_) => true,
            _ => false,
        };
    });
    is_own
}

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
//! They must be tried some time. If a step of the ample set leads to a pair on the stack of the depth-first search, all
//! steps are taken instead. Then each cycle of the reduced graph has a pair at which nothing was left out: the first pair
//! of the cycle that the search comes to is on the stack when its predecessor in the cycle is expanded.
//!
//! This is the reduction of SPIN (Holzmann and Peled 1994) without its rules on channels. It is not used with fairness,
//! which local steps do not preserve, nor with claims that ask which thread moved last or can move, nor for claims that
//! are automata in the source: those may count steps.

use mover_ir::claim::{Monitor, Proposition};
use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::program::{Edge, Effect, Location, LocationId, Program, TemplateId, VariableId};
use mover_reduce::{Movers, movers};
use rustc_hash::FxHashSet;

use crate::machine::Machine;

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

/// By program counter: whether the steps of a thread there are an ample set. None if the claim does not
/// allow the reduction.
pub fn local_places(program: &Program, machine: &Machine, monitor: &Monitor) -> Option<Vec<bool>> {
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
    // Without movers (`timeout`), variables of the own thread are left.
    let movers = movers(program).ok();
    let mut is_local = vec![false; machine.program_counters()];
    for (id, template) in (0..).map(TemplateId).zip(&program.templates) {
        for (at, location) in (0..).map(LocationId).zip(&template.locations) {
            let is_plain = |to: LocationId| {
                let place = &template.locations[to.index()];
                is_unwatched_place(&watched, id, to, place)
            };
            let is_ample = !location.edges.is_empty()
                && is_plain(at)
                && location.edges.iter().enumerate().all(|(number, edge)| {
                    let moves = || {
                        let movers = movers.as_ref();
                        movers.is_some_and(|movers| is_mover(movers, id, at, number))
                    };
                    is_plain(edge.target)
                        && is_invisible(program, &watched, id, edge)
                        && (is_own_edge(edge) || moves())
                });
            is_local[machine.counter_of(id, at)] = is_ample;
        }
    }
    Some(is_local)
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

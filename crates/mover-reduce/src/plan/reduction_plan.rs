//! The reduction plan: when each edge is a mover, for every engine.
//!
//! An edge is a mover in a direction if its thread has exclusive access to each object that the
//! edge accesses: in the state before the edge for a left mover, in the state after it for a
//! right mover ([`mod@crate::plan::movers`]). For each edge and direction the plan has a
//! [`Class`]:
//!
//! - `Always`: the thread has exclusive access in every state;
//! - `When`: it has in the states in which an expression holds. Conditions are written for the
//!   executing thread: [`Expr::ThreadId`] is the thread that takes the edge;
//! - `Assume`: it may have, and only a search that records accesses can find out. An explicit
//!   search believes that the object is exclusive until an access refutes it; other engines take
//!   the edge for a non-mover;
//! - `Never`: some other thread can always observe the edge.
//!
//! The class of an edge follows from those of its objects ([`Need`]). An explicit search decides
//! object by object: an object with a condition can be believed exclusive as well.
//!
//! The reductions differ in the facts that are used:
//!
//! - `none`: no edge is a mover.
//! - `static`: the static movers of [`mod@crate::plan::movers`].
//! - `phase`: in addition locks in arrays (`fork[left]`, [`crate::facts::lock_rows`]) and what
//!   they protect, and locks whose value names their owner ([`crate::facts::owners`]): there the
//!   condition is that the thread is the owner. Phases are tracked by path, not by location.
//! - `dynamic`: in addition an edge may be a mover in states in which no other thread can
//!   interfere any more ([`crate::plan::dynamic`], Günther et al. 2017).
//!
//! A condition that speaks only of the places of other threads ([`Class::is_about_places`])
//! makes steps move that are followed by little
//! interference, and is dear for a proof by induction: every lemma then depends on where the
//! others are. So an engine may leave these conditions out
//! ([`ReductionPlan::without_conditions_on_places`]); fewer movers are always sound.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{Effect, Location, Program};

use crate::facts::access::{EdgeRef, Object};
use crate::facts::owners::{OwnerCell, Owners};
use crate::plan::dynamic::{Dynamic, Heuristics};
use crate::plan::movers::{Movers, Protection, movers};
use crate::plan::transactions::Classes;
use crate::transform::fuse::Part;

/// Which interleavings are omitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Reduction {
    #[default]
    None,
    Static,
    Phase,
    Dynamic,
}

impl Reduction {
    pub const ALL: [Reduction; 4] = [
        Reduction::None,
        Reduction::Static,
        Reduction::Phase,
        Reduction::Dynamic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reduction::None => "none",
            Reduction::Static => "static",
            Reduction::Phase => "phase",
            Reduction::Dynamic => "dynamic",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no reduction has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown reduction `{0}`")]
pub struct UnknownReduction(pub String);

impl FromStr for Reduction {
    type Err = UnknownReduction;

    fn from_str(name: &str) -> Result<Self, UnknownReduction> {
        Reduction::ALL
            .into_iter()
            .find(|reduction| reduction.name() == name)
            .ok_or_else(|| UnknownReduction(name.into()))
    }
}

/// When an edge is a mover in one direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Class {
    Never,
    Always,
    When(Expr),
    /// If the object is exclusive to the thread, which only a search can find out.
    Assume(Object),
}

impl Class {
    fn of(condition: Expr, otherwise: Class) -> Class {
        match condition {
            Expr::TRUE => Class::Always,
            Expr::FALSE => otherwise,
            condition => Class::When(condition),
        }
    }

    /// Whether it is a mover in every state.
    pub fn is_always(&self) -> bool {
        *self == Class::Always
    }

    /// The condition for engines that assume nothing.
    pub fn condition(&self) -> Expr {
        match self {
            Class::Always => Expr::TRUE,
            Class::When(condition) => condition.clone(),
            Class::Never | Class::Assume(_) => Expr::FALSE,
        }
    }

    /// Whether the condition can hold, for engines that assume nothing.
    pub fn may_hold(&self) -> bool {
        matches!(self, Class::Always | Class::When(_))
    }

    /// Whether it depends on the places of other threads and on nothing else.
    pub fn is_about_places(&self) -> bool {
        matches!(self, Class::When(condition) if is_about_places(condition))
    }
}

/// Whether a condition speaks only of the places of threads.
pub fn is_about_places(condition: &Expr) -> bool {
    let mut only_places = true;
    condition.walk(&mut |part| {
        only_places &= !matches!(
            part,
            Expr::Read(_) | Expr::RemoteRead { .. } | Expr::Load { .. }
        );
    });
    only_places
}

/// What an edge needs of an object, to which its thread does not always have exclusive access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    pub object: Object,
    pub class: Class,
}

/// When an edge is a mover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgePlan {
    pub left: Class,
    pub right: Class,
    /// What it needs to be a left mover, and to be a right mover.
    pub needs: [Vec<Need>; 2],
    pub takes_lock: bool,
}

impl EdgePlan {
    const NONE: EdgePlan = EdgePlan {
        left: Class::Never,
        right: Class::Never,
        needs: [Vec::new(), Vec::new()],
        takes_lock: false,
    };

    /// When its thread has exclusive access to an object, as far as that is a condition.
    pub fn when(&self, object: Object, left: bool) -> Option<&Expr> {
        let needs = &self.needs[usize::from(!left)];
        needs.iter().find_map(|need| match &need.class {
            Class::When(condition) if need.object == object => Some(condition),
            _ => None,
        })
    }
}

/// The plan of a program.
pub struct ReductionPlan {
    /// The program to which the plan applies: with fused atomic sequences if reduced.
    pub program: Program,
    /// By template, location and edge: the original edges that it consists of.
    pub made_of: Vec<Vec<Vec<Vec<Part>>>>,
    /// By template, location and edge.
    pub edges: Vec<Vec<Vec<EdgePlan>>>,
    /// Locations at which a thread can be the receiver of a rendezvous.
    pub meets: Vec<Vec<bool>>,
    pub reduction: Reduction,
    /// Why there is no reduction although one was requested.
    pub declined: Option<String>,
}

impl ReductionPlan {
    /// `threads` is the number of thread numbers that can be in use.
    pub fn new(
        original: &Program,
        reduction: Reduction,
        heuristics: Heuristics,
        threads: usize,
    ) -> ReductionPlan {
        if reduction == Reduction::None {
            return ReductionPlan::unreduced(original, None);
        }
        match movers(original) {
            Ok(movers) => ReductionPlan::of(&movers, reduction, heuristics, Some(threads)),
            Err(reason) => ReductionPlan::unreduced(original, Some(reason.to_string())),
        }
    }

    /// The plan for a program whose static movers are known. Without a number of threads the conditions
    /// say the same about two threads that may be any: a form for readers.
    pub fn of(
        movers: &Movers,
        reduction: Reduction,
        heuristics: Heuristics,
        threads: Option<usize>,
    ) -> ReductionPlan {
        let planner = Planner::new(movers, reduction, heuristics, threads);
        let program = &movers.fused.program;
        let of_template = |(template, body): (usize, &mover_ir::program::Template)| {
            let of_location = |(location, place): (usize, &Location)| {
                let of_edge = |edge| {
                    planner.edge(EdgeRef {
                        template,
                        location,
                        edge,
                    })
                };
                (0..place.edges.len()).map(of_edge).collect()
            };
            let locations = body.locations.iter().enumerate();
            locations.map(of_location).collect()
        };
        let templates = program.templates.iter().enumerate();
        ReductionPlan {
            edges: templates.map(of_template).collect(),
            meets: movers.meets.clone(),
            made_of: movers.fused.made_of.clone(),
            program: program.clone(),
            reduction,
            declined: None,
        }
    }

    /// Whether conditions on other threads take long to find: each access is compared with all others of its
    /// object.
    pub fn is_dear(movers: &Movers) -> bool {
        let mut accesses: BTreeMap<Object, usize> = BTreeMap::new();
        for object in movers
            .table
            .iter()
            .flat_map(|(_, accesses)| accesses.keys())
        {
            *accesses.entry(*object).or_default() += 1;
        }
        let pairs: usize = accesses.values().map(|count| count * count).sum();
        pairs > MOST_PAIRS
    }

    pub fn edge(&self, at: EdgeRef) -> &EdgePlan {
        &self.edges[at.template][at.location][at.edge]
    }

    /// The cheaper form of a plan, if it differs: without the conditions that speak only of the places of
    /// other threads.
    pub fn without_conditions_on_places(&self) -> Option<ReductionPlan> {
        let mut edges = self.edges.clone();
        let mut differs = false;
        for edge in edges.iter_mut().flatten().flatten() {
            for class in [&mut edge.left, &mut edge.right] {
                if class.is_about_places() {
                    *class = Class::Never;
                    differs = true;
                }
            }
        }
        differs.then(|| ReductionPlan {
            edges,
            program: self.program.clone(),
            made_of: self.made_of.clone(),
            meets: self.meets.clone(),
            reduction: self.reduction,
            declined: None,
        })
    }

    fn unreduced(program: &Program, declined: Option<String>) -> ReductionPlan {
        let per_edge = |edges: usize| vec![EdgePlan::NONE; edges];
        let mut edges = Vec::new();
        let mut made_of = Vec::new();
        let mut meets = Vec::new();
        for template in &program.templates {
            let counts = || template.locations.iter().map(|l| l.edges.len());
            edges.push(counts().map(per_edge).collect());
            let parts = |location: &Location| {
                let edges = location.edges.iter().enumerate();
                edges
                    .map(|(number, edge)| vec![Part::new(number, edge)])
                    .collect()
            };
            made_of.push(template.locations.iter().map(parts).collect());
            meets.push(vec![false; template.locations.len()]);
        }
        ReductionPlan {
            program: program.clone(),
            made_of,
            edges,
            meets,
            reduction: Reduction::None,
            declined,
        }
    }
}

/// Both conditions: one of them if it is among the alternatives of the other.
fn both(a: Expr, b: Expr) -> Expr {
    fn is_alternative(of: &Expr, alternative: &Expr) -> bool {
        match of {
            Expr::Binary(BinaryOp::Or, a, b) => {
                is_alternative(a, alternative) || is_alternative(b, alternative)
            }
            of => of == alternative,
        }
    }
    if is_alternative(&a, &b) {
        b
    } else if is_alternative(&b, &a) {
        a
    } else {
        a.and(b)
    }
}

/// See [`ReductionPlan::is_dear`].
const MOST_PAIRS: usize = 200_000;

/// Derives classes from facts.
struct Planner<'m> {
    movers: &'m Movers,
    reduction: Reduction,
    classes: Classes<'m>,
    owners: Vec<OwnerCell>,
    dynamic: Option<Dynamic<'m>>,
}

impl<'m> Planner<'m> {
    fn new(
        movers: &'m Movers,
        reduction: Reduction,
        heuristics: Heuristics,
        threads: Option<usize>,
    ) -> Self {
        let classes = Classes::new(movers);
        let mut owners = Vec::new();
        if reduction != Reduction::Static {
            let program = &movers.fused.program;
            let found = Owners::find(program, &movers.alone, |variable| {
                classes.rows.is_lock(variable) || movers.locks.is_rw(variable)
            });
            owners.extend(found.cells.into_iter().filter(|cell| cell.is_lock));
        }
        Planner {
            dynamic: (reduction == Reduction::Dynamic)
                .then(|| Dynamic::new(movers, heuristics, threads)),
            movers,
            reduction,
            classes,
            owners,
        }
    }

    fn edge(&self, at: EdgeRef) -> EdgePlan {
        let mover = &self.movers.edges[at.template][at.location][at.edge];
        let mut plan = EdgePlan {
            takes_lock: mover.takes_lock,
            ..EdgePlan::NONE
        };
        if self.reduction != Reduction::Static {
            plan.takes_lock |= self.takes_lock(at);
        }
        (plan.left, plan.needs[0]) = self.class(at, mover.left, true);
        (plan.right, plan.needs[1]) = self.class(at, mover.right, false);
        plan
    }

    fn takes_lock(&self, at: EdgeRef) -> bool {
        let handled = (self.classes.rows).handled(at.template, at.location, at.edge);
        !handled.takes.is_empty()
            || self.owners.iter().any(|cell| cell.is_taken_by(at))
            || (self.dynamic.as_ref()).is_some_and(|dynamic| dynamic.takes_lock(at))
    }

    fn class(&self, at: EdgeRef, is_known: bool, left: bool) -> (Class, Vec<Need>) {
        if is_known {
            return (Class::Always, Vec::new());
        }
        let movers = self.movers;
        let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
        // A withdrawn or missing offer is observable in every state, and the steps of a new thread
        // cannot come before its start.
        let is_barred = movers.meets[at.template][at.location]
            || left && movers.offers[at.template][at.location][at.edge]
            || !left && (at.of(&movers.fused.program).effects.iter()).any(spawns);
        if is_barred || self.reduction == Reduction::Static {
            return (Class::Never, Vec::new());
        }
        let mut all = Expr::TRUE;
        let mut assumed = None;
        let mut needs = Vec::new();
        for (&object, &written) in movers.table.of(at) {
            let condition = self.exclusive(at, object, written, left);
            let otherwise = match object {
                Object::Threads | Object::Inside(_) => Class::Never,
                // Whether a lock is exclusive is known.
                _ if self.classes.protection(object) == Protection::Lock => Class::Never,
                Object::Cell(variable, _) | Object::Variable(variable)
                    if movers.fused.program.presence == Some(variable) =>
                {
                    Class::Never
                }
                _ => Class::Assume(object),
            };
            let class = Class::of(condition, otherwise);
            match &class {
                Class::Always => continue,
                Class::When(condition) => all = both(all, condition.clone()),
                Class::Never => assumed = Some(Class::Never),
                Class::Assume(_) => assumed = assumed.or_else(|| Some(class.clone())),
            }
            needs.push(Need { object, class });
        }
        let class = assumed.unwrap_or_else(|| Class::of(all, Class::Never));
        (class, needs)
    }

    /// When the thread has exclusive access to an object that the edge accesses.
    fn exclusive(&self, at: EdgeRef, object: Object, written: bool, left: bool) -> Expr {
        let known = self.classes.exclusive(at, object, left);
        if known == Expr::TRUE {
            return known;
        }
        let owned = match object {
            Object::Cell(variable, _) | Object::Variable(variable) => {
                self.owners.iter().find(|cell| cell.variable == variable)
            }
            _ => None,
        };
        // A thread has the lock if the value says so, before a left mover and after a right one.
        let known = match owned {
            Some(cell) => known.or(cell.predicate.clone()),
            None => known,
        };
        match &self.dynamic {
            Some(dynamic) => known.or(dynamic.alone(at, object, written, left)),
            None => known,
        }
    }
}

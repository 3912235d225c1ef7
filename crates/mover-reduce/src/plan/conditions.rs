//! Mover conditions as expressions.
//!
//! For each edge α the plan has two expressions over the state. If `left(α)` is true before α,
//! then α is a left mover in that state; if `right(α)` is true after α, then α was a right
//! mover. Static facts are constants. The conditions are written for the executing thread:
//! [`Expr::ThreadId`] is the thread that takes the edge.
//!
//! - `none`: no edge is a mover.
//! - `static` and `phase`: the static movers of [`mod@crate::plan::movers`]; the two differ in
//!   how an engine tracks phases (by location or by path).
//! - `dynamic`: an edge that is not a static mover may be a mover in states in which no other
//!   thread can interfere any more ([`crate::plan::dynamic`], Günther et al. 2017).

use std::fmt;
use std::str::FromStr;

use mover_ir::expr::Expr;
use mover_ir::program::{Location, Program};

use crate::facts::access::EdgeRef;
use crate::plan::dynamic::{Dynamic, Heuristics};
use crate::plan::movers::movers;
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

/// When an edge is a mover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    pub left: Expr,
    pub right: Expr,
    pub takes_lock: bool,
}

/// The conditions of a program.
pub struct Conditions {
    /// The program to which the conditions apply: with fused atomic sequences if reduced.
    pub program: Program,
    /// By template, location and edge: the original edges that it consists of.
    pub made_of: Vec<Vec<Vec<Vec<Part>>>>,
    /// By template, location and edge.
    pub edges: Vec<Vec<Vec<Condition>>>,
    /// Locations at which a thread can be the receiver of a rendezvous.
    pub meets: Vec<Vec<bool>>,
    pub reduction: Reduction,
    /// Why there is no reduction although one was requested.
    pub declined: Option<String>,
}

impl Conditions {
    /// `threads` is the number of thread numbers that can be in use.
    pub fn new(
        original: &Program,
        reduction: Reduction,
        heuristics: Heuristics,
        threads: usize,
    ) -> Conditions {
        if reduction == Reduction::None {
            return Conditions::unreduced(original, None);
        }
        let movers = match movers(original) {
            Ok(movers) => movers,
            Err(reason) => return Conditions::unreduced(original, Some(reason.to_string())),
        };
        let dynamic =
            (reduction == Reduction::Dynamic).then(|| Dynamic::new(&movers, heuristics, threads));
        let program = &movers.fused.program;
        let mut edges = Vec::new();
        for (template, body) in program.templates.iter().enumerate() {
            let mut of_template = Vec::new();
            for (location, place) in body.locations.iter().enumerate() {
                let mut of_location = Vec::new();
                for edge in 0..place.edges.len() {
                    let mover = &movers.edges[template][location][edge];
                    let constant = |value: bool| if value { Expr::TRUE } else { Expr::FALSE };
                    let mut condition = Condition {
                        left: constant(mover.left),
                        right: constant(mover.right),
                        takes_lock: mover.takes_lock,
                    };
                    if let Some(dynamic) = &dynamic
                        && !movers.meets[template][location]
                    {
                        let at = EdgeRef {
                            template,
                            location,
                            edge,
                        };
                        // A missing offer is observable in every state.
                        if !mover.left && !movers.offers[template][location][edge] {
                            condition.left = dynamic.left(at);
                        }
                        if !mover.right {
                            condition.right = dynamic.right(at);
                        }
                        condition.takes_lock |= dynamic.takes_lock(at);
                    }
                    of_location.push(condition);
                }
                of_template.push(of_location);
            }
            edges.push(of_template);
        }
        Conditions {
            edges,
            meets: movers.meets,
            made_of: movers.fused.made_of,
            program: movers.fused.program,
            reduction,
            declined: None,
        }
    }

    fn unreduced(program: &Program, declined: Option<String>) -> Conditions {
        let none = Condition {
            left: Expr::FALSE,
            right: Expr::FALSE,
            takes_lock: false,
        };
        let per_edge = |edges: usize| vec![none.clone(); edges];
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
        Conditions {
            program: program.clone(),
            made_of,
            edges,
            meets,
            reduction: Reduction::None,
            declined,
        }
    }
}

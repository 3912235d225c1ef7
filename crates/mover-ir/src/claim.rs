//! Temporal claims: what a source says of whole runs, not of single states.
//!
//! Promela states such properties as formulas of linear temporal logic, as automata (`never`,
//! `trace`), and by labels that a run must not pass for ever (`accept`) or must not avoid for ever
//! (`progress`). A front end turns each into a [`Monitor`]: an automaton that accepts the runs
//! that violate the claim.

use mover_ltl::buchi::{self, Buchi, Edge, Label};
use mover_ltl::{Formula, Formulas};

use crate::expr::Expr;
use crate::program::{LocationId, Property, TemplateId};

/// What a source claims of its runs.
#[derive(Clone, Debug)]
pub struct Claim {
    pub kind: ClaimKind,
    /// The name of the claim, or the label.
    pub name: Option<String>,
    /// None if it is not in the source.
    pub line: Option<usize>,
    pub check: Check,
}

/// How a claim can be checked.
#[derive(Clone, Debug)]
pub enum Check {
    Forbidden(Box<Monitor>),
    /// Not at all, and why.
    Untranslated(String),
}

/// Accepts the runs that violate a claim.
#[derive(Clone, Debug)]
pub struct Monitor {
    pub propositions: Vec<Proposition>,
    pub automaton: Buchi,
    /// The formula that the automaton was made of, if it was: the negation of the claim.
    pub formula: Option<(Formulas, Formula)>,
    /// Conditions without which the propositions have no value, and what has gone wrong then.
    pub checks: Vec<(Expr, String)>,
    /// Whether runs that end count, with their last state repeated for ever.
    pub extends_finite_runs: bool,
    /// Whether it matters which thread moved last.
    pub uses_last: bool,
}

/// What an automaton can see of a state.
#[derive(Clone, PartialEq, Debug)]
pub enum Proposition {
    /// Width 1. The number of the thread is that of the one that moved last, 0 at first.
    Holds(Expr),
    SomeThreadAt(Vec<(TemplateId, LocationId)>),
    /// Whether the thread with this number can move.
    Enabled(Expr),
    /// Whether no thread can move.
    NoneEnabled,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimKind {
    /// Every run satisfies a formula of linear temporal logic.
    Ltl,
    /// No run is accepted by this automaton.
    Never,
    /// The events on channels follow this automaton.
    Trace,
    /// The events on channels do not follow this automaton to its end.
    Notrace,
    /// No run passes accept labels infinitely often.
    Accept,
    /// Every infinite run passes progress labels infinitely often.
    Progress,
    /// Only one process receives from a channel, or sends to it.
    ExclusiveChannel,
    /// No run is infinite.
    Termination,
}

impl ClaimKind {
    pub fn words(self) -> &'static str {
        match self {
            ClaimKind::Ltl => "ltl formula",
            ClaimKind::Never => "never claim",
            ClaimKind::Trace => "trace assertion",
            ClaimKind::Notrace => "notrace assertion",
            ClaimKind::Accept => "accept label",
            ClaimKind::Progress => "progress label",
            ClaimKind::ExclusiveChannel => "declaration",
            ClaimKind::Termination => "claim of termination",
        }
    }
}

impl Claim {
    /// That every run ends. It is about runs that treat threads fairly: a scheduler that never
    /// lets a thread run could keep any loop that waits for it running.
    pub fn termination() -> Claim {
        let stay = Edge {
            label: Label::TRUE,
            target: 0,
        };
        let automaton = Buchi {
            states: vec![buchi::State {
                accepting: true,
                edges: vec![stay],
            }],
        };
        Claim {
            kind: ClaimKind::Termination,
            name: None,
            line: None,
            check: Check::Forbidden(Box::new(Monitor {
                propositions: Vec::new(),
                automaton,
                formula: None,
                checks: Vec::new(),
                extends_finite_runs: false,
                uses_last: false,
            })),
        }
    }

    /// The property that it is a part of.
    pub fn property(&self) -> Property {
        match self.kind {
            ClaimKind::Termination => Property::Termination,
            _ => Property::Claims,
        }
    }

    /// What a run does that violates it.
    pub fn violation(&self) -> String {
        match self.kind {
            ClaimKind::Termination => "a run never ends".into(),
            _ => format!("{} is violated", self.words()),
        }
    }

    /// The claim as messages call it: ``the ltl formula `p` in line 3``.
    pub fn words(&self) -> String {
        let name = match &self.name {
            Some(name) => format!(" `{name}`"),
            None => String::new(),
        };
        let place = match self.line {
            None => String::new(),
            Some(line) => format!(" in line {line}"),
        };
        format!("the {}{name}{place}", self.kind.words())
    }
}

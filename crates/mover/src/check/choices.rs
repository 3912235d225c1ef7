//! The values of the options of `mover check`, and what they mean to the driver.

use clap::ValueEnum;
use mover_check::{EngineChoice, Fairness, ReductionChoice};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Choose automatically
    Auto,
    /// Explicit-state search
    Explicit,
    /// Bounded model checking: unroll transactions into a formula; finds shallow violations and
    /// proves programs whose runs all end
    Bmc,
    /// Search for an inductive invariant; can prove programs that run for ever
    Ic3,
    /// Search for an invariant about each thread among any number; proves programs that create
    /// threads in loops
    Modular,
    /// Unroll each thread separately and pass a token between them; see the guide on symbolic
    /// engines
    Token,
}

impl Engine {
    pub fn choice(self) -> EngineChoice {
        match self {
            Engine::Auto => EngineChoice::Auto,
            Engine::Explicit => EngineChoice::Explicit,
            Engine::Bmc => EngineChoice::Bmc,
            Engine::Ic3 => EngineChoice::Ic3,
            Engine::Modular => EngineChoice::Modular,
            Engine::Token => EngineChoice::Token,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reduction {
    /// What pays: `dynamic` for explicit search, `static` for bmc and ic3, `none` for modular and token
    Auto,
    /// All interleavings
    None,
    /// Transactions from movers that are known before the search
    Static,
    /// As `static`, without right movers
    Left,
    /// As `static`, and with locks and owners that are found during the search
    Phase,
    /// As `phase`, and with accesses that no other thread can reach any more
    Dynamic,
    /// With `--engine bmc`: adjacent independent steps of two threads are taken in one order only
    Peephole,
}

impl Reduction {
    pub fn choice(self) -> Option<ReductionChoice> {
        match self {
            Reduction::Auto => None,
            Reduction::None => Some(ReductionChoice::None),
            Reduction::Static => Some(ReductionChoice::Static),
            Reduction::Left => Some(ReductionChoice::Left),
            Reduction::Phase => Some(ReductionChoice::Phase),
            Reduction::Dynamic => Some(ReductionChoice::Dynamic),
            Reduction::Peephole => Some(ReductionChoice::Peephole),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ignoring {
    /// Blocks: store only states between transactions
    Blocks,
    /// Commit point completion
    Cpc,
    /// Commit point completion without the optimisation of line L19
    CpcNoL19,
    /// Cycle detection
    Cycle,
    /// Terminal strongly connected components
    Scc,
    /// Location feedback sets
    Lfs,
    /// No solution: finds errors, proves nothing
    Unsound,
}

impl Ignoring {
    pub fn name(self) -> &'static str {
        match self {
            Ignoring::Blocks => "blocks",
            Ignoring::Cpc => "cpc",
            Ignoring::CpcNoL19 => "cpc-no-l19",
            Ignoring::Cycle => "cycle",
            Ignoring::Scc => "scc",
            Ignoring::Lfs => "lfs",
            Ignoring::Unsound => "unsound",
        }
    }

    /// What it is in the engine, if it is another search than blocks.
    pub fn solution(self) -> Option<mover_explicit::Ignoring> {
        match self {
            Ignoring::Blocks => None,
            Ignoring::Cpc => Some(mover_explicit::Ignoring::Cpc),
            Ignoring::CpcNoL19 => Some(mover_explicit::Ignoring::CpcNoL19),
            Ignoring::Cycle => Some(mover_explicit::Ignoring::Cycle),
            Ignoring::Scc => Some(mover_explicit::Ignoring::Scc),
            Ignoring::Lfs => Some(mover_explicit::Ignoring::Lfs),
            Ignoring::Unsound => Some(mover_explicit::Ignoring::Unsound),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchOrder {
    /// Breadth first: counterexamples are as short as possible
    Bfs,
    /// Depth first
    Dfs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dump {
    /// The program as mover understands it
    Ir,
    /// The solver query in SMT-LIB: with `--engine bmc`, whether a violation is reachable within
    /// `--depth` blocks; with `--engine ic3`, whether the invariant found can be violated
    Smt2,
}

/// Which runs count for temporal claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FairnessChoice {
    /// A process that can always move from some point on moves infinitely often.
    Weak,
    /// A process that can move infinitely often does.
    Strong,
}

impl FairnessChoice {
    pub fn fairness(self) -> Fairness {
        match self {
            FairnessChoice::Weak => Fairness::Weak,
            FairnessChoice::Strong => Fairness::Strong,
        }
    }
}

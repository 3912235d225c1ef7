//! How a task is to be answered.
//!
//! [`Options`] has a default for everything; callers set only what differs. Which engines run,
//! in which order and with what budget, follows from them as data: see [`crate::strategy`].

use std::sync::{Arc, Mutex};

use std::time::Duration;

use mover_explicit::distributed::Peers;
use mover_explicit::liveness::Fairness;
use mover_explicit::{Approximate, CheckpointOptions, Ignoring, Order};
use mover_symbolic::SymbolicOptions;

/// Which engine to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// What the strategy says.
    #[default]
    Auto,
    Explicit,
    Bmc,
    Ic3,
    Modular,
    Token,
}

impl EngineChoice {
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Auto => "auto",
            EngineChoice::Explicit => "explicit",
            EngineChoice::Bmc => "bmc",
            EngineChoice::Ic3 => "ic3",
            EngineChoice::Modular => "modular",
            EngineChoice::Token => "token",
        }
    }

    /// Whether the engine works on formulas; `Auto` begins with explicit search.
    pub fn is_symbolic(self) -> bool {
        !matches!(self, EngineChoice::Auto | EngineChoice::Explicit)
    }
}

/// Which interleavings to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReductionChoice {
    /// All interleavings.
    None,
    /// Transactions by movers that are known before the search.
    Static,
    /// The same without right movers; for explicit search.
    Left,
    /// Transactions by locks and owners, found or given.
    Phase,
    /// The same, and conditions over other threads' locations and memory.
    Dynamic,
    /// One order for neighbouring steps that do not depend on each other; for `bmc`.
    Peephole,
}

impl ReductionChoice {
    pub fn name(self) -> &'static str {
        match self {
            ReductionChoice::None => "none",
            ReductionChoice::Static => "static",
            ReductionChoice::Left => "left",
            ReductionChoice::Phase => "phase",
            ReductionChoice::Dynamic => "dynamic",
            ReductionChoice::Peephole => "peephole",
        }
    }
}

#[derive(Clone)]
pub struct Options {
    pub engine: EngineChoice,
    /// None: what stores least for the engine.
    pub reduction: Option<ReductionChoice>,
    /// How a transaction that never ends is kept from hiding others; none: chain blocks.
    pub ignoring: Option<Ignoring>,
    pub order: Option<Order>,
    /// Whether `dynamic` expands only a persistent set of threads where there is one.
    pub persistent: bool,
    /// Do not stop at the first violation; count them.
    pub keep_going: bool,
    /// Stop at the first violation, instead of searching on for those of other properties.
    pub first: bool,
    /// Tell states apart by dead values, too.
    pub keep_dead_values: bool,
    /// Threads of this process to use.
    pub jobs: usize,
    pub timeout: Option<Duration>,
    /// Bytes.
    pub memory: Option<usize>,
    pub symbolic: SymbolicOptions,
    /// Check the answer once more, by all means there are.
    pub certify: bool,
    /// Report the run as the engine found it, instead of one with few context switches.
    pub as_found: bool,
    pub checkpoints: Option<Arc<CheckpointOptions>>,
    /// Remember states only approximately; then nothing is proved.
    pub approximate: Option<Approximate>,
    /// The other processes of a distributed search.
    pub peers: Option<Arc<Mutex<Option<Peers>>>>,
    /// Which runs count for temporal claims.
    pub fairness: Fairness,
    /// Whether it is also asked that all memory stays reachable until it is freed, which is not
    /// checked.
    pub tracks_memory: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: EngineChoice::Auto,
            reduction: None,
            ignoring: None,
            order: None,
            persistent: true,
            keep_going: false,
            first: false,
            keep_dead_values: false,
            jobs: 1,
            timeout: None,
            memory: None,
            symbolic: SymbolicOptions::default(),
            certify: false,
            as_found: false,
            checkpoints: None,
            approximate: None,
            peers: None,
            fairness: Fairness::None,
            tracks_memory: false,
        }
    }
}

impl Options {
    /// The reduction of explicit search, if it runs.
    pub fn explicit_reduction(&self) -> ReductionChoice {
        self.reduction
            .unwrap_or(if self.keep_going || self.approximate.is_some() {
                ReductionChoice::None
            } else {
                ReductionChoice::Dynamic
            })
    }

    /// The reduction of `bmc` and `ic3`: unless another is chosen, movers that are known before the
    /// search. They cost nothing in the formula and let more programs be decided; conditions over
    /// the state make formulas larger and pay on few programs.
    pub fn symbolic_reduction(&self) -> ReductionChoice {
        self.reduction.unwrap_or(ReductionChoice::Static)
    }

    /// The reduction of `modular`, which knows no conditions over the state.
    pub fn modular_reduction(&self) -> ReductionChoice {
        match self.reduction {
            Some(ReductionChoice::None) | None => ReductionChoice::None,
            Some(_) => ReductionChoice::Static,
        }
    }

    /// Whether something was asked for that only explicit search does.
    pub fn needs_explicit_search(&self) -> bool {
        self.keep_going
            || self.ignoring.is_some()
            || self.order.is_some()
            || self.keep_dead_values
            || self.checkpoints.is_some()
            || self.approximate.is_some()
            || self.reduction == Some(ReductionChoice::Left)
    }
}

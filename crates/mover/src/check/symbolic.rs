//! Options of the symbolic engines.

use clap::{Args, ValueEnum};
use mover_check::{EngineChoice, SymbolicOptions};
use mover_reduce::Heuristics;
use mover_symbolic::{Bounds, ContextBound, Pairs};

use super::option_error::OptionError;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Heuristic {
    /// No thread can reach a conflicting step any more
    Reachability,
    /// Pointers and indices that differ and no longer change
    Pointers,
    /// Cells that compare-and-swap can no longer change
    Monotonic,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairSet {
    /// Between all accesses
    All,
    /// At the ends of mutually atomic transactions of two threads; as `lex` for more
    Mat,
    /// At the ends of mutually atomic transactions and with GenExtraTP, as printed: finds
    /// violations, but never answers `safe`
    MatPrinted,
    /// Where the lexicographically least schedule of each class switches threads
    Lex,
    /// No token: each read takes its value from a write, and a theory in the solver orders them
    ReadsFrom,
}

/// Why a text is no bound on the passes of the token.
#[derive(Clone, Debug, thiserror::Error)]
enum ContextBoundError {
    #[error("`{0}` is not a number of passes")]
    NoNumber(String),
    #[error("`{0}` is an empty range")]
    EmptyRange(String),
}

/// Reads `2` or `1..3`.
fn context_bound(text: &str) -> Result<ContextBound, ContextBoundError> {
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|&number| number < 1 << 32)
            .ok_or_else(|| ContextBoundError::NoNumber(text.into()))
    };
    let (least, most) = match text.split_once("..") {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (0, number(text)?),
    };
    if least > most {
        return Err(ContextBoundError::EmptyRange(text.into()));
    }
    Ok(ContextBound { least, most })
}

#[derive(Args)]
pub struct SymbolicArgs {
    /// With `--engine bmc`: maximum number of blocks (transactions) to unroll; with `--engine token`:
    /// maximum number of loop iterations in each thread
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,

    /// With `--engine bmc`: maximum number of context switches
    #[arg(long, value_name = "N")]
    pub contexts: Option<u64>,

    /// With `--engine token`: pairs of accesses between which the token may be passed, or no token
    /// (default: reads-from; with `--context-bound`: lex)
    #[arg(long, value_enum, value_name = "SET")]
    pub pairs: Option<PairSet>,

    /// With `--engine token`: maximum number of times a thread may receive the token; also as a range,
    /// or with one bound per thread: `2`, `1..3`, `0,1,1`
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = context_bound)]
    pub context_bound: Option<Vec<ContextBound>>,

    /// With `--pairs all`, `mat`, `mat-printed` and `lex`: do not first try, with a limit, runs in which
    /// each thread receives the token once
    #[arg(long)]
    pub no_few_passes_first: bool,

    /// With `--pairs mat`, `mat-printed` and `lex`: numbers of threads that come first in the order of
    /// threads. `lex` prefers the first of them; with `mat` the later of two threads has priority
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub thread_order: Option<Vec<usize>>,

    /// Maximum number of threads alive at a time where the program sets no bound
    /// (default: 4, raised if runs need more)
    #[arg(long, value_name = "N")]
    pub thread_slots: Option<usize>,

    /// Maximum number of dynamic objects alive at a time where the program sets no bound
    /// (default: 4, raised if runs need more)
    #[arg(long, value_name = "N")]
    pub object_slots: Option<usize>,

    /// Maximum size of a dynamic object where the program sets no bound
    /// (default: 64, raised if runs need more)
    #[arg(long, value_name = "BYTES")]
    pub object_bytes: Option<u64>,

    /// With `--reduce dynamic` and a symbolic engine: which conditions make steps movers, in addition
    /// to the static ones
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    pub heuristics: Option<Vec<Heuristic>>,

    /// With a symbolic engine: do not unfold loops and thread starts that are known statically
    #[arg(long)]
    pub no_unfold: bool,

    /// Certify the answer: check unsatisfiable answers from their proofs, invariants with a fresh
    /// solver, and `safe` for small programs by visiting all states of the reference semantics
    #[arg(long)]
    pub certify: bool,

    /// With `--engine ic3` and `--engine modular`: print the invariant
    #[arg(long)]
    pub show_invariant: bool,
}

impl SymbolicArgs {
    /// Rejects options that the engine does not use.
    pub fn check(&self, engine: EngineChoice) -> Result<(), OptionError> {
        let is_bounded = engine == EngineChoice::Bmc;
        let is_token = engine == EngineChoice::Token;
        if !is_bounded && self.contexts.is_some() {
            return Err(OptionError::needs("--contexts", "`--engine bmc`"));
        }
        if !is_bounded && !is_token && self.depth.is_some() {
            return Err(OptionError::needs(
                "--depth",
                "`--engine bmc` or `--engine token`",
            ));
        }
        let asks_for_token = self.pairs.is_some()
            || self.context_bound.is_some()
            || self.no_few_passes_first
            || self.thread_order.is_some();
        if !is_token && asks_for_token {
            return Err(OptionError::TokenOptions);
        }
        if self.pairs == Some(PairSet::ReadsFrom) && self.context_bound.is_some() {
            return Err(OptionError::PassesWithoutToken);
        }
        let passes_token = match self.pairs {
            Some(pairs) => pairs != PairSet::ReadsFrom,
            None => self.context_bound.is_some(),
        };
        if self.no_few_passes_first && (!passes_token || self.context_bound.is_some()) {
            return Err(OptionError::needs(
                "--no-few-passes-first",
                "`--pairs all`, `mat`, `mat-printed` or `lex`, and no `--context-bound`",
            ));
        }
        if let Some(order) = &self.thread_order {
            if !passes_token || self.pairs == Some(PairSet::All) {
                return Err(OptionError::needs(
                    "--thread-order",
                    "`--pairs mat`, `mat-printed` or `lex`",
                ));
            }
            if (1..order.len()).any(|number| order[..number].contains(&order[number])) {
                return Err(OptionError::needs("--thread-order", "each thread once"));
            }
        }
        if self
            .thread_slots
            .is_some_and(|threads| threads == 0 || threads > 255)
        {
            return Err(OptionError::needs(
                "--thread-slots",
                "a number from 1 to 255",
            ));
        }
        Ok(())
    }

    fn bounds(&self) -> Bounds {
        let usual = Bounds::default();
        let is_free = self.thread_slots.is_none()
            && self.object_slots.is_none()
            && self.object_bytes.is_none();
        Bounds {
            threads: self.thread_slots.unwrap_or(usual.threads),
            objects: self.object_slots.unwrap_or(usual.objects),
            bytes: self.object_bytes.unwrap_or(usual.bytes),
            may_grow: is_free,
        }
    }

    pub fn options(&self) -> SymbolicOptions {
        SymbolicOptions {
            depth: self.depth,
            contexts: self.contexts,
            pairs: match self.pairs {
                Some(PairSet::All) => Pairs::All,
                Some(PairSet::Mat) => Pairs::Mat,
                Some(PairSet::MatPrinted) => Pairs::MatPrinted,
                Some(PairSet::Lex) => Pairs::Lex,
                Some(PairSet::ReadsFrom) | None => Pairs::ReadsFrom,
            },
            context_bound: self.context_bound.clone(),
            thread_order: self.thread_order.clone().unwrap_or_default(),
            few_passes_first: !self.no_few_passes_first,
            bounds: self.bounds(),
            heuristics: self.heuristics(),
            unfold: !self.no_unfold,
        }
    }

    fn heuristics(&self) -> Heuristics {
        match &self.heuristics {
            None => Heuristics::ALL,
            Some(names) => Heuristics {
                reachability: names.contains(&Heuristic::Reachability),
                pointers: names.contains(&Heuristic::Pointers),
                monotonic: names.contains(&Heuristic::Monotonic),
            },
        }
    }
}

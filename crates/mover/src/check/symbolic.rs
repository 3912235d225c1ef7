//! Options of the symbolic engines.

use clap::{Args, ValueEnum};
use mover_check::{EngineChoice, SymbolicOptions};
use mover_reduce::Heuristics;
use mover_symbolic::{Bounds, ContextBound, Pairs};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Heuristic {
    /// Nobody can reach a conflicting step any more
    Reachability,
    /// Pointers and indices that differ and stay as they are
    Pointers,
    /// Cells that compare-and-swap will not change any more
    Monotonic,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairSet {
    /// Between all
    All,
    /// At the ends of mutually atomic transactions
    Mat,
    /// Where the least schedule of each class changes hands
    Lex,
}

/// Reads `2` or `1..3`.
fn context_bound(text: &str) -> Result<ContextBound, String> {
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|&number| number < 1 << 32)
            .ok_or_else(|| format!("`{text}` is no number of passes"))
    };
    let (least, most) = match text.split_once("..") {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (0, number(text)?),
    };
    if least > most {
        return Err(format!("`{text}` allows nothing"));
    }
    Ok(ContextBound { least, most })
}

#[derive(Args)]
pub struct SymbolicArgs {
    /// With `--engine bmc`: how many blocks (transactions) to unroll at most; with `--engine token`:
    /// how many repetitions of loops in each thread
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,

    /// With `--engine bmc`: how often another thread may take over at most
    #[arg(long, value_name = "N")]
    pub contexts: Option<u64>,

    /// With `--engine token`: between which accesses control may change hands (default: lex)
    #[arg(long, value_enum, value_name = "SET")]
    pub pairs: Option<PairSet>,

    /// With `--engine token`: how often each thread may be given the token at most; also with a
    /// least number, and one bound for each thread: `2`, `1..3`, `0,1,1`
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = context_bound)]
    pub context_bound: Option<Vec<ContextBound>>,

    /// How many threads there may be at a time where the program itself sets no bound
    /// (default: 4, and more if runs need it)
    #[arg(long, value_name = "N")]
    pub thread_slots: Option<usize>,

    /// How many dynamic objects there may be at a time where the program itself sets no bound
    /// (default: 4, and more if runs need it)
    #[arg(long, value_name = "N")]
    pub object_slots: Option<usize>,

    /// How large a dynamic object may be where the program itself sets no bound
    /// (default: 64, and more if runs need it)
    #[arg(long, value_name = "BYTES")]
    pub object_bytes: Option<u64>,

    /// With `--reduce dynamic` and a symbolic engine: when steps move, besides statically
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    heuristics: Option<Vec<Heuristic>>,

    /// With a symbolic engine: do not unfold loops and starts of threads that are known beforehand
    #[arg(long)]
    pub no_unfold: bool,

    /// Have the answer checked again: unsatisfiable answers from their proofs, invariants by a
    /// fresh solver, and `safe` for small programs by walking through all states of the definition
    #[arg(long)]
    pub certify: bool,

    /// With `--engine ic3`: print the invariant
    #[arg(long)]
    pub show_invariant: bool,
}

impl SymbolicArgs {
    /// Options that do not fit the engine are mistakes.
    pub fn check(&self, engine: EngineChoice) -> Result<(), String> {
        let is_bounded = engine == EngineChoice::Bmc;
        let is_token = engine == EngineChoice::Token;
        if !is_bounded && self.contexts.is_some() {
            return Err("--contexts goes with `--engine bmc`".into());
        }
        if !is_bounded && !is_token && self.depth.is_some() {
            return Err("--depth goes with `--engine bmc` or `--engine token`".into());
        }
        if !is_token && (self.pairs.is_some() || self.context_bound.is_some()) {
            return Err("--pairs and --context-bound go with `--engine token`".into());
        }
        if self
            .thread_slots
            .is_some_and(|threads| threads == 0 || threads > 255)
        {
            return Err("--thread-slots needs a number from 1 to 255".into());
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
                Some(PairSet::Lex) | None => Pairs::Lex,
            },
            context_bound: self.context_bound.clone(),
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

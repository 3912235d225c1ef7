//! Options of `mover check`.
//!
//! The options and their values, which of them can be combined, and the defaults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mover_check::{EngineChoice, Fairness, Options, ReductionChoice};
use mover_cli::output::{OutputError, check_distinct, check_writable};
use mover_cli::quantities::{parse_megabytes, parse_seconds};
use mover_cli::resources::available_memory;
use mover_cli::{CliError, stderr_line};
use mover_engine::{Cancel, Task};
use mover_explicit::Order;

use super::approximate::ApproximateArgs;
use super::checkpoint::{CheckpointArgs, process_identity};
use super::choices::{Dump, Engine, FairnessChoice, Ignoring, Reduction, SearchOrder};
use super::formats::FormatArgs;
use super::option_error::OptionError;
use super::processes::{Joined, ProcessArgs};
use super::properties::Asked;
use super::symbolic::SymbolicArgs;
use crate::input::InputArgs;
use crate::progress::{Show, Watcher};

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten, next_help_heading = "Reading the program")]
    pub(super) input: InputArgs,

    /// Property to check (may be repeated): `unreach-call` (no assertion fails), `no-deadlock` (no
    /// invalid end state), `claims` (ltl, never, accept and progress labels of Promela), `termination`
    /// (every fair run ends); for C also `memory-safety`, `mutex-misuse`, `memory-cleanup`,
    /// `no-overflow` and `no-data-race`. Default: all but `termination`,
    /// `memory-cleanup` and `no-overflow`. `+NAME` adds a property to the default, `all` is every property
    #[arg(
        long = "property",
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = super::properties::parser(),
        hide_possible_values = true, help_heading = "Properties")]
    pub(super) properties: Vec<Asked>,

    /// Properties to check, as a property file of SV-COMP (.prp)
    #[arg(long, value_name = "FILE", help_heading = "Properties")]
    pub(super) property_file: Vec<PathBuf>,

    /// Check one claim only: a claim of a Promela model by its name, or a formula of linear temporal
    /// logic such as '[] (x < 3)', over the model's names and macros, or over the global variables
    /// and places of a C program (may be repeated)
    #[arg(long, value_name = "NAME|FORMULA", help_heading = "Properties")]
    pub(super) ltl: Vec<String>,

    /// Check the formula in a file, as `--ltl` does
    #[arg(long, value_name = "FILE", help_heading = "Properties")]
    pub(super) ltl_file: Vec<PathBuf>,

    /// Claims: only runs count in which a process moves that can always move from some point on
    /// (`weak`), or that can move infinitely often (`strong`)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Properties")]
    pub(super) fair: Option<FairnessChoice>,

    /// Engine; `auto` is explicit search, with `--jobs` in parallel with the symbolic engines, which
    /// also take over programs that explicit search does not support
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        help_heading = "Engines and reductions"
    )]
    pub(super) engine: Engine,

    /// Reduction of the interleavings explored; see the guide on reductions
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        help_heading = "Engines and reductions"
    )]
    pub(super) reduce: Reduction,

    /// Solution of the ignoring problem: how a transaction that never ends is kept from hiding steps
    /// of other threads (default: blocks)
    #[arg(long, value_enum, help_heading = "Engines and reductions")]
    pub(super) ignoring: Option<Ignoring>,

    /// Expand all threads of every state; otherwise the dynamic reduction leaves out threads that do
    /// not conflict with the others
    #[arg(long, help_heading = "Engines and reductions")]
    pub(super) no_persistent: bool,

    /// Keep dead values in the state; without reduction they are always kept
    #[arg(long, help_heading = "Engines and reductions")]
    pub(super) keep_dead_values: bool,

    /// Search order (default: bfs; every `--ignoring` except `blocks` needs dfs)
    #[arg(long, value_enum, help_heading = "Engines and reductions")]
    pub(super) order: Option<SearchOrder>,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,

    /// Write the counterexample to a file that `mover replay` reads
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) trace: Option<PathBuf>,

    /// Write a report as one self-contained HTML file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) report: Option<PathBuf>,

    /// Show the counterexample as the engine found it, without minimising its context switches
    #[arg(long, help_heading = "Output")]
    pub(super) as_found: bool,

    /// Show every step of a long counterexample, instead of one line for each transaction
    #[arg(long, help_heading = "Output")]
    pub(super) all_steps: bool,

    /// Give up after this time: seconds, or with a unit as in 10s, 2m
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, help_heading = "Limits")]
    pub(super) timeout: Option<Duration>,

    /// Give up when more memory than this is needed: megabytes, or with a unit as in 512M, 2G
    /// (default: 90 % of the free memory)
    #[arg(long, value_name = "SIZE", value_parser = parse_megabytes, help_heading = "Limits")]
    pub(super) memory: Option<u64>,

    /// Cores to use; depth-first search uses one, and `--engine auto` runs engines in parallel
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Limits")]
    pub(super) jobs: usize,

    /// Do not stop at the first violation: visit all states, count violations, and continue after a
    /// failed assertion as if it had held (as SPIN's `pan -c0` does)
    #[arg(long, help_heading = "Engines and reductions")]
    pub(super) keep_going: bool,

    /// Stop at the first violation; without it, the search continues for a while for violations of
    /// the other properties
    #[arg(
        long,
        conflicts_with = "keep_going",
        help_heading = "Engines and reductions"
    )]
    pub(super) first: bool,

    /// Before the search, test in all interleavings whether the steps that the reduction treats as
    /// movers commute
    #[arg(long, help_heading = "Engines and reductions")]
    pub(super) check_movers: bool,

    /// Promela: list the statements of each process that no run reaches, as SPIN's verifier does. All
    /// states are visited once more, without reduction
    #[arg(long, help_heading = "Output")]
    pub(super) unreached: bool,

    /// Print the program or the formula instead of checking
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Output")]
    pub(super) dump: Option<Dump>,

    #[command(flatten, next_help_heading = "Approximate search")]
    pub(super) approximate: ApproximateArgs,

    #[command(flatten, next_help_heading = "Checkpoints")]
    pub(super) checkpoints: CheckpointArgs,

    #[command(flatten, next_help_heading = "Several processes")]
    pub(super) processes: ProcessArgs,

    #[command(flatten, next_help_heading = "Files for other tools")]
    pub(super) formats: FormatArgs,

    #[command(flatten, next_help_heading = "Symbolic engines")]
    pub(super) symbolic: SymbolicArgs,

    /// Print on standard error which engines run, and in which order
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Output")]
    pub(super) verbose: bool,

    /// No progress on standard error
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,

    /// Progress of the search, on standard error
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    pub(super) progress: Show,
}

impl CheckArgs {
    /// How the driver is to answer.
    pub(super) fn driver_options(&self, task: &Task) -> Result<Options, CliError> {
        let mut options = Options {
            engine: self.engine.choice(),
            reduction: self.reduce.choice(),
            ignoring: self.ignoring.and_then(Ignoring::solution),
            order: self.order.map(|order| match order {
                SearchOrder::Bfs => Order::BreadthFirst,
                SearchOrder::Dfs => Order::DepthFirst,
            }),
            persistent: !self.no_persistent,
            keep_going: self.keep_going,
            first: self.first,
            keep_dead_values: self.keep_dead_values,
            jobs: self.jobs,
            timeout: self.timeout,
            memory: self.memory_limit(),
            symbolic: self.symbolic.options(),
            certify: self.symbolic.certify,
            as_found: self.as_found,
            checkpoints: None,
            peers: None,
            approximate: self.approximate.search(),
            fairness: self.fair.map_or(Fairness::None, FairnessChoice::fairness),
            tracks_memory: false,
        };
        // A witness has invariants of single places; with transactions some places have none.
        if self.formats.asks_for_witness() && options.engine.is_symbolic() {
            options.reduction = options.reduction.or(Some(ReductionChoice::None));
        }
        // `--ignoring blocks` and `--check-movers` are about explicit search, too.
        if self.engine == Engine::Auto && self.explicit_only().is_some() {
            options.engine = EngineChoice::Explicit;
        }
        let decisive = self.decisive_options(task, &options);
        options.checkpoints = self.checkpoints.options(task.program(), &decisive)?;
        Ok(options)
    }

    /// Connects with the other processes of the search, if there are any.
    pub(super) fn join(
        &self,
        task: &Task,
        options: &mut Options,
        cancel: &Cancel,
    ) -> Result<Option<Joined>, CliError> {
        let Some(option) = self.processes.given() else {
            return Ok(None);
        };
        if task
            .properties()
            .iter()
            .any(|property| property.is_temporal())
        {
            let reason = format!(
                "{option} is for properties of states; leave claims and termination out: \
                 `--property unreach-call,no-deadlock`"
            );
            return Err(CliError::usage("U002", reason));
        }
        let decisive = self.decisive_options(task, options);
        let joined = self
            .processes
            .join(process_identity(task.program(), &decisive), cancel)?;
        options.peers = joined.as_ref().map(|joined| Arc::clone(&joined.peers));
        Ok(joined)
    }

    /// What decides which states a search stores, and in which order.
    fn decisive_options(&self, task: &Task, options: &Options) -> Vec<(&'static str, String)> {
        let names: Vec<&str> = task.properties().iter().map(|p| p.name()).collect();
        let order = match self.order {
            None | Some(SearchOrder::Bfs) => "bfs",
            Some(SearchOrder::Dfs) => "dfs",
        };
        vec![
            ("--property", names.join(" and ")),
            ("--reduce", options.explicit_reduction().name().into()),
            ("--keep-dead-values", self.keep_dead_values.to_string()),
            ("--order", order.into()),
            ("--keep-going", self.keep_going.to_string()),
            ("--first", self.first.to_string()),
            ("--no-persistent", self.no_persistent.to_string()),
        ]
    }

    /// The reduction whose movers `--check-movers` tries.
    pub(super) fn trial_reduction(&self) -> ReductionChoice {
        self.reduce.choice().unwrap_or(if self.keep_going {
            ReductionChoice::None
        } else {
            ReductionChoice::Dynamic
        })
    }

    pub(super) fn watcher(&self) -> Watcher {
        Watcher::new(self.progress, self.quiet, self.memory_limit())
    }

    /// What does not go together, or cannot be written, is refused by name.
    pub(super) fn check(&self) -> Result<(), OptionError> {
        let is_reduced = !matches!(self.reduce, Reduction::Auto | Reduction::None);
        if self.engine == Engine::Token && is_reduced {
            return Err(OptionError::ReducedToken);
        }
        if self.reduce == Reduction::Peephole && self.engine != Engine::Bmc {
            return Err(OptionError::needs("--reduce peephole", "`--engine bmc`"));
        }
        if self.reduce == Reduction::Peephole && self.symbolic.contexts.is_some() {
            return Err(OptionError::PeepholeContexts);
        }
        let is_explicit = matches!(self.engine, Engine::Auto | Engine::Explicit);
        if !is_explicit && let Some(option) = self.explicit_only() {
            return Err(OptionError::is_for(option, "explicit search"));
        }
        if let Some(ignoring) = self.ignoring {
            if self.trial_reduction() == ReductionChoice::None {
                return Err(OptionError::IgnoringUnreduced(ignoring.name()));
            }
            if ignoring != Ignoring::Blocks && self.order == Some(SearchOrder::Bfs) {
                return Err(OptionError::IgnoringBreadthFirst(ignoring.name()));
            }
        }
        if self.dump == Some(Dump::Smt2) && (is_explicit || self.engine == Engine::Token) {
            return Err(OptionError::needs(
                "`--dump smt2`",
                "`--engine bmc` or `--engine ic3`",
            ));
        }
        self.symbolic.check(self.engine.choice())?;
        self.approximate.check(self)?;
        if self.unreached && self.input.is_c() {
            return Err(OptionError::is_for("--unreached", "Promela models"));
        }
        if let Some(option) = self.checkpoints.given() {
            if self.jobs > 1 {
                let what = "a search on one core; remove `--jobs`";
                return Err(OptionError::is_for(option, what));
            }
            if let Some(ignoring) = self.ignoring.filter(|&given| given != Ignoring::Blocks) {
                return Err(OptionError::CheckpointIgnoring {
                    option,
                    ignoring: ignoring.name(),
                });
            }
        }
        self.check_processes()?;
        self.formats.check(&self.input)?;
        self.check_outputs()?;
        if self.keep_going && is_reduced {
            return Err(OptionError::KeepGoingReduced);
        }
        if self.jobs == 0 {
            return Err(OptionError::needs("--jobs", "at least 1"));
        }
        if self.jobs > 1 && !is_explicit && !self.quiet {
            stderr_line!("mover: this engine runs on one core; `--engine auto` lets several race");
        }
        Ok(())
    }

    /// What several processes do not do is refused by name.
    fn check_processes(&self) -> Result<(), OptionError> {
        self.processes.check()?;
        let Some(option) = self.processes.given() else {
            return Ok(());
        };
        let others = [
            (
                !matches!(self.engine, Engine::Auto | Engine::Explicit),
                "explicit search; remove `--engine`",
            ),
            (self.jobs > 1, "processes on one core each; remove `--jobs`"),
            (
                self.order == Some(SearchOrder::Dfs),
                "breadth-first search; remove `--order`",
            ),
            (
                self.ignoring.is_some_and(|given| given != Ignoring::Blocks),
                "`--ignoring blocks`",
            ),
            (
                self.checkpoints.given().is_some(),
                "searches without checkpoints; remove `--checkpoint` and `--resume`",
            ),
            (
                self.approximate.search().is_some(),
                "searches that store all states; remove the options of approximate search",
            ),
            (self.fair.is_some(), "properties of states; remove `--fair`"),
            (
                self.check_movers || self.unreached || self.dump.is_some(),
                "the search alone; remove `--check-movers`, `--unreached` and `--dump`",
            ),
            (
                self.symbolic.certify,
                "explicit search without `--certify`, which visits all states in one process",
            ),
        ];
        let mut others = others.into_iter();
        match others.find(|(is_given, _)| *is_given) {
            Some((_, what)) => Err(OptionError::is_for(option, what)),
            None => Ok(()),
        }
    }

    fn check_outputs(&self) -> Result<(), OutputError> {
        let files = [("--report", &self.report), ("--trace", &self.trace)].into_iter();
        let mut outputs: Vec<(&str, &Path)> = files
            .filter_map(|(option, path)| Some((option, path.as_deref()?)))
            .chain(self.formats.outputs())
            .collect();
        // A search may continue in the checkpoint that it began with.
        check_distinct(&Vec::from_iter(self.checkpoints.input()), &outputs)?;
        outputs.extend(self.checkpoints.output());
        let read = self.input.files.iter().chain(&self.property_file);
        let read: Vec<&Path> = read.map(PathBuf::as_path).collect();
        check_distinct(&read, &outputs)?;
        outputs
            .into_iter()
            .try_for_each(|(_, path)| check_writable(path))
    }

    /// The first option given that means something to explicit search only.
    pub(super) fn explicit_only(&self) -> Option<&'static str> {
        let others = [
            (self.keep_going, "--keep-going"),
            (self.check_movers, "--check-movers"),
            (self.ignoring.is_some(), "--ignoring"),
            (self.order.is_some(), "--order"),
            (self.no_persistent, "--no-persistent"),
            (self.keep_dead_values, "--keep-dead-values"),
            (self.processes.given().is_some(), "--processes"),
            (self.reduce == Reduction::Left, "--reduce left"),
        ];
        let mut others = others.into_iter();
        let other = others.find_map(|(is_given, option)| is_given.then_some(option));
        other
            .or(self.checkpoints.given())
            .or(self.approximate.given())
    }

    /// Bytes that a search may take.
    pub(super) fn memory_limit(&self) -> Option<usize> {
        let asked = self
            .memory
            .map(|megabytes| megabytes.saturating_mul(1 << 20));
        let limit = asked.or_else(|| available_memory().map(|bytes| bytes / 10 * 9));
        let limit = limit.map(|bytes| bytes / self.processes.on_this_machine() as u64);
        limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

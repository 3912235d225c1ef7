//! `mover bench spin`: mover and SPIN's verifier, on the same models in turns.
//!
//! Both visit every interleaving on one core and continue after errors, so both
//! do the same work; only where SPIN forgets the values of dead variables does
//! it have fewer states, which is why rates are per state of the tool itself.
//! A round runs `pan`, then mover; the median over the rounds counts.
//!
//! Memory is compared twice. The first column takes of SPIN what it calls the
//! memory for states: no hash table, which is of a fixed size unless asked for
//! otherwise. The second adds that table. Of mover it is the whole store both
//! times: the states, the parents from which counterexamples are rebuilt, and
//! the index.

use mover_cli::stderr_line;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError};
use crate::pan::{self, GCC_OPTIONS, MEGABYTE, Pan, SPIN_OPTIONS};
use crate::records::{RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::{Ratio, Section, mean_and_range};
use crate::table::{Table, geometric_mean, median};
use crate::{ask, is_wanted, scratch};

#[derive(Args)]
pub struct SpinArgs {
    /// Runs of each tool on each model; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    #[command(flatten)]
    record: RecordArgs,

    /// Only models whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    models: Vec<String>,

    /// Directory of mover's own models
    #[arg(long, value_name = "DIR", default_value = "examples/promela")]
    examples: PathBuf,

    /// Directory of the models that come with SPIN
    #[arg(long, value_name = "DIR", default_value = SPIN_EXAMPLES)]
    spin_examples: PathBuf,
}

/// Where Debian's package has them.
pub const SPIN_EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In the size that the `scale:` line of the model's header gives.
    Own,
    /// As it comes with SPIN.
    Spin,
}

/// Between 200,000 and 3 million states each, of many kinds: shared variables, channels,
/// rendezvous, dynamic processes, atomic sequences.
const MODELS: [(Origin, &str); 15] = [
    (Origin::Own, "bakery"),
    (Origin::Own, "barrier"),
    (Origin::Own, "channel_server"),
    (Origin::Own, "leader_chang_roberts"),
    (Origin::Own, "msi_snooping"),
    (Origin::Own, "peterson_filter"),
    (Origin::Own, "philosophers_asymmetric"),
    (Origin::Own, "readers_writers"),
    (Origin::Own, "sliding_window"),
    (Origin::Own, "sort_pipeline"),
    (Origin::Own, "szymanski"),
    (Origin::Spin, "cambridge"),
    (Origin::Spin, "dtp"),
    (Origin::Spin, "LTL/pftp"),
    (Origin::Spin, "sort"),
];

/// One run of both tools on one model.
#[derive(Clone, Serialize, Deserialize)]
pub struct Round {
    model: String,
    round: u32,
    pan_states: u64,
    pan_transitions: u64,
    pan_errors: u64,
    pan_elapsed_s: f64,
    pan_wall_s: f64,
    pan_cpu_s: Option<f64>,
    pan_compile_s: f64,
    pan_depth: u64,
    pan_state_mb: f64,
    pan_table_mb: f64,
    mover_states: u64,
    mover_transitions: u64,
    mover_time_s: f64,
    mover_wall_s: f64,
    mover_cpu_s: Option<f64>,
    mover_store_bytes: u64,
    mover_peak_mb: f64,
}

impl Row for Round {
    fn check(&self) -> Result<(), RowError> {
        if self.pan_states == 0 || self.mover_states == 0 {
            return Err(RowError::NoStates(self.model.clone()));
        }
        Ok(())
    }
}

pub fn run(args: &SpinArgs) -> Result<Section, BenchError> {
    let chosen: Vec<(Origin, &str)> = MODELS
        .into_iter()
        .filter(|(_, name)| is_wanted(name, &args.models))
        .collect();
    if chosen.is_empty() {
        let known = MODELS.iter().map(|(_, name)| *name).collect();
        return Err(BenchError::UnknownModel { known });
    }
    pan::check_tools()?;
    let scratch = scratch()?;
    let mut recorder = Recorder::begin(&args.record, None)?;
    for (origin, name) in chosen {
        let directory = match origin {
            Origin::Own => &args.examples,
            Origin::Spin => &args.spin_examples,
        };
        compare(
            origin,
            name,
            directory,
            scratch.path(),
            args.runs,
            &mut recorder,
        )
        .map_err(|error| error.on(name))?;
    }
    Ok(section(&recorder.finish()?))
}

fn compare(
    origin: Origin,
    name: &str,
    directory: &Path,
    scratch: &Path,
    runs: u32,
    recorder: &mut Recorder<Round>,
) -> Result<(), MeasureError> {
    let model = directory.join(format!("{name}.pml"));
    let defines = match origin {
        Origin::Own => scale(&model)?,
        Origin::Spin => Vec::new(),
    };
    let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
    let shown = match origin {
        Origin::Own => format!("{name} {}", defines.join(" ")),
        Origin::Spin => format!("SPIN's {name}"),
    };
    stderr_line!("{shown}: making the verifier");
    let place = scratch.join(name.replace('/', "-"));
    let mut pan = Pan::make(&model, &defines, place, &GCC_OPTIONS)?;
    let mut before: Option<(u64, u64)> = None;
    for round in 1..=runs {
        let ran = pan
            .run_deep_enough(None)?
            .ok_or(MeasureError::Ended("pan"))?;
        let options = ["--reduce", "none", "--keep-going"];
        let answer =
            ask::check(&model, &defines, &options, None)?.ok_or(MeasureError::Ended("mover"))?;
        if !matches!(answer.ran.code, Some(0 | 10)) {
            return Err(MeasureError::NoVerdict(answer.reason().into()));
        }
        let (report, states) = (&ran.report, answer.number("states")? as u64);
        stderr_line!(
            "{shown}: round {round} of {runs}: pan {:.2} s, mover {:.2} s",
            report.elapsed_s,
            answer.number("time_s")?
        );
        if before.is_some_and(|before| before != (report.states, states)) {
            return Err(MeasureError::RunsDiffer);
        }
        before = Some((report.states, states));
        recorder.record(Round {
            model: shown.trim_end().to_string(),
            round,
            pan_states: report.states,
            pan_transitions: report.transitions,
            pan_errors: report.errors,
            pan_elapsed_s: report.elapsed_s,
            pan_wall_s: rounded(ran.child.wall_s),
            pan_cpu_s: ran.child.cpu_s.map(rounded),
            pan_compile_s: rounded(pan.compile_s),
            pan_depth: pan.depth,
            pan_state_mb: report.state_mb,
            pan_table_mb: rounded(report.table_mb),
            mover_states: states,
            mover_transitions: answer.number("transitions")? as u64,
            mover_time_s: rounded(answer.number("time_s")?),
            mover_wall_s: rounded(answer.ran.wall_s),
            mover_cpu_s: answer.ran.cpu_s.map(rounded),
            mover_store_bytes: answer.number("store_bytes")? as u64,
            mover_peak_mb: answer.number("peak_mb")?,
        })?;
    }
    Ok(())
}

/// The preprocessor options in the `scale:` line of a model's header.
fn scale(model: &Path) -> Result<Vec<String>, MeasureError> {
    let text = std::fs::read_to_string(model).map_err(|source| MeasureError::UnreadableModel {
        path: model.to_path_buf(),
        source,
    })?;
    let options = text
        .lines()
        .find_map(|line| line.split_once("scale:"))
        .ok_or_else(|| MeasureError::NoScale(model.to_path_buf()))?;
    Ok(options
        .1
        .split_whitespace()
        .map(ToString::to_string)
        .collect())
}

/// All rounds on one model.
struct Comparison<'a> {
    rounds: Vec<&'a Round>,
    first: &'a Round,
}

/// A run shorter than that has no rate: it is the resolution of `pan`'s clock.
const SHORTEST_S: f64 = 0.01;

impl Comparison<'_> {
    fn median_of(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(|round| value(round)).collect())
    }

    fn pan_rate(&self, seconds: impl Fn(&Round) -> f64) -> f64 {
        self.first.pan_states as f64 / self.median_of(seconds).max(SHORTEST_S)
    }

    fn mover_rate(&self, seconds: impl Fn(&Round) -> f64) -> f64 {
        self.first.mover_states as f64 / self.median_of(seconds).max(SHORTEST_S)
    }

    /// States per second, mover by SPIN.
    fn speed(&self) -> f64 {
        self.mover_rate(|r| r.mover_time_s) / self.pan_rate(|r| r.pan_elapsed_s)
    }

    /// Of the memory that SPIN says its states take.
    fn pan_bytes(&self) -> f64 {
        self.first.pan_state_mb * MEGABYTE / self.first.pan_states as f64
    }

    fn pan_bytes_with_table(&self) -> f64 {
        self.first.pan_table_mb * MEGABYTE / self.first.pan_states as f64
    }

    fn mover_bytes(&self) -> f64 {
        (self.first.mover_store_bytes as f64 / self.first.mover_states as f64).max(f64::EPSILON)
    }
}

fn by_model(rounds: &[Round]) -> Vec<Comparison<'_>> {
    let mut compared: Vec<Comparison> = Vec::new();
    for round in rounds {
        match compared.iter_mut().find(|c| c.first.model == round.model) {
            Some(comparison) => comparison.rounds.push(round),
            None => compared.push(Comparison {
                rounds: vec![round],
                first: round,
            }),
        }
    }
    compared
}

pub fn section(results: &Results<Round>) -> Section {
    let compared = by_model(&results.rows);
    let mut out = Section::new("Beside SPIN, every interleaving");
    out.text(format!(
        "SPIN: `spin {}`, `gcc {}`, `pan -c0 -m<enough>`; mover: `mover check --reduce none --keep-going`. \
         Both visit the same states on one core, alternately; the median of all rounds counts. \
         Seconds are measured by each tool itself and do not include the compilation of SPIN's \
         verifier (compile). A ratio above 1 means that mover is ahead.",
        SPIN_OPTIONS.join(" "),
        GCC_OPTIONS.join(" ")
    ));
    out.heading("States per second");
    out.table(speed_table(&compared));
    out.heading("Memory per state");
    out.text(
        "SPIN: \"actual memory usage for states\" per stored state; with table: \"total actual memory \
         usage\" without the search stack. mover: the whole store, including the index and the parents \
         of states.",
    );
    out.table(memory_table(&compared));
    out.heading("Geometric means");
    out.table(means(&compared));
    for c in &compared {
        let mut add = |measure: &str, ours: String, theirs: String, value: f64| {
            out.ratios.push(Ratio {
                subject: c.first.model.clone(),
                measure: measure.into(),
                peer: "SPIN",
                ours,
                theirs,
                value,
                is_at_most: false,
            });
        };
        let (pan, mover) = (
            c.pan_rate(|r| r.pan_elapsed_s),
            c.mover_rate(|r| r.mover_time_s),
        );
        add(
            "states per second, no reduction",
            grouped(mover as u64),
            grouped(pan as u64),
            c.speed(),
        );
        add(
            "bytes per state, no reduction",
            format!("{:.1}", c.mover_bytes()),
            format!("{:.1}", c.pan_bytes()),
            c.pan_bytes() / c.mover_bytes(),
        );
    }
    let figure = |ratio: &dyn Fn(&Comparison) -> f64| {
        let ratios: Vec<(String, f64)> = compared
            .iter()
            .map(|c| (c.first.model.clone(), ratio(c)))
            .collect();
        mean_and_range(&ratios)
    };
    if let Some(figure) = figure(&|c| c.speed()) {
        out.headline(
            "states per second without reduction, mover divided by SPIN",
            figure,
        );
    }
    if let Some(figure) = figure(&|c| c.pan_bytes() / c.mover_bytes()) {
        out.headline(
            "bytes per state, SPIN (without its hash table) divided by mover",
            figure,
        );
    }
    out
}

fn means(compared: &[Comparison]) -> Table {
    let mut table = Table::new(&["ratio", "geometric mean", "models"]);
    let mut mean = |name: &str, ratio: &dyn Fn(&Comparison) -> f64| {
        if !compared.is_empty() {
            let mean = geometric_mean(compared.iter().map(ratio));
            table.row(vec![
                name.into(),
                format!("{mean:.2}"),
                compared.len().to_string(),
            ]);
        }
    };
    mean(
        "states/s, mover divided by SPIN, time as reported by each tool",
        &|c| c.speed(),
    );
    mean(
        "states/s, mover divided by SPIN, wall time of the process",
        &|c| c.mover_rate(|r| r.mover_wall_s) / c.pan_rate(|r| r.pan_wall_s),
    );
    let cpu = |r: &Round| r.pan_cpu_s.zip(r.mover_cpu_s);
    let mut rounds = compared.iter().flat_map(|c| &c.rounds);
    if rounds.all(|r| cpu(r).is_some()) {
        mean(
            "states/s, mover divided by SPIN, CPU time of the process",
            &|c| {
                c.mover_rate(|r| r.mover_cpu_s.unwrap_or(r.mover_wall_s))
                    / c.pan_rate(|r| r.pan_cpu_s.unwrap_or(r.pan_wall_s))
            },
        );
    }
    mean("bytes/state, SPIN divided by mover", &|c| {
        c.pan_bytes() / c.mover_bytes()
    });
    mean(
        "bytes/state, SPIN with its hash table divided by mover",
        &|c| c.pan_bytes_with_table() / c.mover_bytes(),
    );
    table
}

fn speed_table(compared: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        "model",
        "states SPIN",
        "mover",
        "seconds SPIN",
        "mover",
        "compile",
        "states/s SPIN",
        "mover",
        "ratio",
    ]);
    for c in compared {
        table.row(vec![
            c.first.model.clone(),
            grouped(c.first.pan_states),
            grouped(c.first.mover_states),
            format!("{:.2}", c.median_of(|r| r.pan_elapsed_s)),
            format!("{:.2}", c.median_of(|r| r.mover_time_s)),
            format!("{:.2}", c.first.pan_compile_s),
            grouped(c.pan_rate(|r| r.pan_elapsed_s) as u64),
            grouped(c.mover_rate(|r| r.mover_time_s) as u64),
            format!("{:.2}", c.speed()),
        ]);
    }
    table
}

fn memory_table(compared: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        "model",
        "bytes/state SPIN",
        "with table",
        "mover",
        "ratio",
        "ratio with table",
    ]);
    for c in compared {
        table.row(vec![
            c.first.model.clone(),
            format!("{:.1}", c.pan_bytes()),
            format!("{:.1}", c.pan_bytes_with_table()),
            format!("{:.1}", c.mover_bytes()),
            format!("{:.2}", c.pan_bytes() / c.mover_bytes()),
            format!("{:.2}", c.pan_bytes_with_table() / c.mover_bytes()),
        ]);
    }
    table
}

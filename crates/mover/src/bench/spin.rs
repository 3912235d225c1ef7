//! `mover bench spin`: mover and SPIN's verifier, on the same models in turns.
//!
//! Both visit every interleaving on one core and go on behind errors, so both
//! do the same work; only where SPIN forgets the values of dead variables does
//! it have fewer states, which is why rates are per state of the tool itself.
//! A round runs `pan`, then mover; the median over the rounds counts.
//!
//! Memory is compared twice. The first column takes of SPIN what it calls the
//! memory for states: no hash table, which is of a fixed size unless asked for
//! otherwise. The second adds that table. Of mover it is the whole store both
//! times: the states, the parents from which counterexamples are rebuilt, and
//! the index.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use mover_report::text::grouped;
use serde_json::Value;

use super::child;
use super::pan::{self, GCC_OPTIONS, Pan, SPIN_OPTIONS};
use super::reduced;
use super::table::{Table, geometric_mean, median};
use crate::output::{print, write_file};
use crate::{BAD_INPUT, INTERNAL_ERROR, USAGE};

#[derive(Args)]
pub struct SpinArgs {
    /// How often each tool runs on each model; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Write what every single run gave to a file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Only models whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    models: Vec<String>,

    /// Compare what the reductions of both tools leave, instead of their speed
    #[arg(long)]
    reduced: bool,

    /// Where mover's own models are
    #[arg(long, value_name = "DIR", default_value = "examples/promela")]
    examples: PathBuf,

    /// Where the models that come with SPIN are
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/usr/share/doc/spin/examples/Examples"
    )]
    spin_examples: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In the size that the `scale:` line of the model's header gives.
    Own,
    /// As it comes with SPIN.
    Spin,
}

/// Between 200,000 and 3 million states each, of many kinds: shared variables, channels,
/// rendezvous, dynamic processes, atomic sequences.
const MODELS: [(Origin, &str); 14] = [
    (Origin::Own, "bakery"),
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

/// One run of both tools.
struct Round {
    pan_elapsed_s: f64,
    pan_wall_s: f64,
    pan_cpu_s: Option<f64>,
    mover_s: f64,
    mover_wall_s: f64,
    mover_cpu_s: Option<f64>,
    mover_peak_mb: f64,
}

/// All about one model.
struct Comparison {
    model: String,
    compile_s: f64,
    depth: u64,
    pan: pan::Report,
    mover_states: u64,
    mover_transitions: u64,
    mover_store_bytes: u64,
    rounds: Vec<Round>,
}

impl Comparison {
    fn median_of(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(value).collect())
    }

    fn pan_rate(&self, seconds: impl Fn(&Round) -> f64) -> f64 {
        self.pan.states as f64 / self.median_of(seconds)
    }

    fn mover_rate(&self, seconds: impl Fn(&Round) -> f64) -> f64 {
        self.mover_states as f64 / self.median_of(seconds)
    }

    /// Of the memory that SPIN says its states take.
    fn pan_bytes(&self) -> f64 {
        self.pan.state_mb * MEGABYTE / self.pan.states as f64
    }

    fn pan_bytes_with_table(&self) -> f64 {
        self.pan.table_mb * MEGABYTE / self.pan.states as f64
    }

    fn mover_bytes(&self) -> f64 {
        self.mover_store_bytes as f64 / self.mover_states as f64
    }
}

/// As `pan` counts them.
const MEGABYTE: f64 = 1024.0 * 1024.0;

pub fn run(args: &SpinArgs) -> u8 {
    if let Err(reason) = pan::check_tools() {
        eprintln!("mover: {reason}");
        return USAGE;
    }
    let scratch = std::env::temp_dir().join(format!("mover-bench-{}", std::process::id()));
    if args.reduced {
        let told = reduced::report(&args.examples, &args.spin_examples, &args.models, &scratch);
        let _ = std::fs::remove_dir_all(&scratch);
        return match told.map(|told| print(&told)) {
            Ok(Ok(())) => 0,
            Ok(Err(code)) => code,
            Err(reason) => {
                eprintln!("mover: {reason}");
                BAD_INPUT
            }
        };
    }
    let chosen: Vec<(Origin, &str)> = MODELS
        .into_iter()
        .filter(|(_, name)| {
            args.models.is_empty() || args.models.iter().any(|word| name.contains(word.as_str()))
        })
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = MODELS.iter().map(|(_, name)| *name).collect();
        eprintln!(
            "mover: no model of that name; there are {}",
            names.join(", ")
        );
        return USAGE;
    }
    let compared: Result<Vec<Comparison>, String> = chosen
        .iter()
        .map(|&(origin, name)| {
            let directory = match origin {
                Origin::Own => &args.examples,
                Origin::Spin => &args.spin_examples,
            };
            compare(origin, name, directory, &scratch, args.runs)
                .map_err(|reason| format!("{name}: {reason}"))
        })
        .collect();
    let _ = std::fs::remove_dir_all(&scratch);
    let compared = match compared {
        Ok(compared) => compared,
        Err(reason) => {
            eprintln!("mover: {reason}");
            return BAD_INPUT;
        }
    };
    if let Some(path) = &args.csv
        && let Err(reason) = write_file(path, &csv(&compared))
    {
        eprintln!("mover: {reason}");
        return INTERNAL_ERROR;
    }
    match print(&report(&compared, args.runs)) {
        Ok(()) => 0,
        Err(code) => code,
    }
}

fn compare(
    origin: Origin,
    name: &str,
    directory: &Path,
    scratch: &Path,
    runs: u32,
) -> Result<Comparison, String> {
    let model = directory.join(format!("{name}.pml"));
    let defines = match origin {
        Origin::Own => scale(&model)?,
        Origin::Spin => Vec::new(),
    };
    let shown = match origin {
        Origin::Own => format!("{name} {}", defines.join(" ")),
        Origin::Spin => format!("SPIN's {name}"),
    };
    eprintln!("{shown}: making the verifier");
    let pan = Pan::make(
        &model,
        &defines,
        scratch.join(name.replace('/', "-")),
        &GCC_OPTIONS,
    )?;
    let mut comparison: Option<Comparison> = None;
    for round in 1..=runs {
        let (report, ran) = pan.run()?;
        let (answer, ours) = check(&model, &defines)?;
        eprintln!(
            "{shown}: round {round} of {runs}: pan {:.2} s, mover {:.2} s",
            report.elapsed_s,
            answer.number("time_s")?
        );
        let round = Round {
            pan_elapsed_s: report.elapsed_s,
            pan_wall_s: ran.wall_s,
            pan_cpu_s: ran.cpu_s,
            mover_s: answer.number("time_s")?,
            mover_wall_s: ours.wall_s,
            mover_cpu_s: ours.cpu_s,
            mover_peak_mb: answer.number("peak_mb")?,
        };
        let states = answer.number("states")? as u64;
        match &mut comparison {
            Some(comparison) => {
                if comparison.pan.states != report.states || comparison.mover_states != states {
                    return Err("two runs of a tool differ in the number of states".into());
                }
                comparison.rounds.push(round);
            }
            None => {
                comparison = Some(Comparison {
                    model: shown.trim_end().to_string(),
                    compile_s: pan.compile_s,
                    depth: pan.depth,
                    pan: report,
                    mover_states: states,
                    mover_transitions: answer.number("transitions")? as u64,
                    mover_store_bytes: answer.number("store_bytes")? as u64,
                    rounds: vec![round],
                });
            }
        }
    }
    comparison.ok_or_else(|| "no run was asked for".to_string())
}

/// The preprocessor options in the `scale:` line of a model's header.
fn scale(model: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(model)
        .map_err(|error| format!("cannot read {}: {error}", model.display()))?;
    let options = text
        .lines()
        .find_map(|line| line.split_once("scale:"))
        .ok_or_else(|| format!("{} has no `scale:` line", model.display()))?;
    Ok(options
        .1
        .split_whitespace()
        .map(ToString::to_string)
        .collect())
}

/// The JSON object that `mover check` prints.
struct Answer(Value);

impl Answer {
    fn number(&self, field: &str) -> Result<f64, String> {
        self.0[field]
            .as_f64()
            .ok_or_else(|| format!("mover's answer has no number `{field}`"))
    }
}

fn check(model: &Path, defines: &[String]) -> Result<(Answer, child::Finished), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let finished = child::run(
        Command::new(program)
            .args(["check", "--reduce", "none", "--keep-going", "--json"])
            .args(defines)
            .arg(model),
    )?;
    match finished.code {
        Some(0 | 10) => {
            let answer = serde_json::from_str(&finished.stdout).map_err(|e| e.to_string())?;
            Ok((Answer(answer), finished))
        }
        _ => Err(format!(
            "mover gives no answer: {}{}",
            finished.stdout, finished.stderr
        )),
    }
}

fn report(compared: &[Comparison], runs: u32) -> String {
    let mut out = format!(
        "SPIN: spin {}; gcc {}; pan -c0 -m<enough>, one core\n\
         mover: mover check --reduce none --keep-going, one core\n\
         median of {runs}, in turns; a ratio above 1 means that mover is ahead\n\n",
        SPIN_OPTIONS.join(" "),
        GCC_OPTIONS.join(" ")
    );
    out += &speed_table(compared).render();
    out.push('\n');
    out += &memory_table(compared).render();
    out += "\npan bytes: \"actual memory usage for states\" by stored states; with table: \"total \
            actual memory usage\" without the search stack.\nmover bytes: the whole store, with \
            the index and the parents of states.\n\n";
    let mean = |name: &str, ratio: &dyn Fn(&Comparison) -> f64| {
        format!(
            "{name:<58} {:.2}\n",
            geometric_mean(compared.iter().map(ratio))
        )
    };
    out += &format!("geometric means over {} models\n", compared.len());
    out += &mean(
        "  states/s, mover by pan, as each tool reports its time",
        &|c| c.mover_rate(|r| r.mover_s) / c.pan_rate(|r| r.pan_elapsed_s),
    );
    out += &mean("  states/s, mover by pan, wall time of the process", &|c| {
        c.mover_rate(|r| r.mover_wall_s) / c.pan_rate(|r| r.pan_wall_s)
    });
    let has_cpu_times = compared
        .iter()
        .flat_map(|c| &c.rounds)
        .all(|r| r.pan_cpu_s.is_some() && r.mover_cpu_s.is_some());
    if has_cpu_times {
        out += &mean(
            "  states/s, mover by pan, processor time of the process",
            &|c| {
                c.mover_rate(|r| r.mover_cpu_s.unwrap_or(f64::NAN))
                    / c.pan_rate(|r| r.pan_cpu_s.unwrap_or(f64::NAN))
            },
        );
    }
    out += &mean("  bytes/state, pan by mover", &|c| {
        c.pan_bytes() / c.mover_bytes()
    });
    out += &mean("  bytes/state, pan with its hash table by mover", &|c| {
        c.pan_bytes_with_table() / c.mover_bytes()
    });
    out
}

fn speed_table(compared: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        "model",
        "states pan",
        "mover",
        "seconds pan",
        "mover",
        "wall pan",
        "mover",
        "compile",
        "states/s pan",
        "mover",
        "ratio",
    ]);
    for c in compared {
        let (pan, mover) = (c.pan_rate(|r| r.pan_elapsed_s), c.mover_rate(|r| r.mover_s));
        table.row(vec![
            c.model.clone(),
            grouped(c.pan.states),
            grouped(c.mover_states),
            format!("{:.2}", c.median_of(|r| r.pan_elapsed_s)),
            format!("{:.2}", c.median_of(|r| r.mover_s)),
            format!("{:.2}", c.median_of(|r| r.pan_wall_s)),
            format!("{:.2}", c.median_of(|r| r.mover_wall_s)),
            format!("{:.2}", c.compile_s),
            grouped(pan as u64),
            grouped(mover as u64),
            format!("{:.2}", mover / pan),
        ]);
    }
    table
}

fn memory_table(compared: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        "model",
        "bytes/state pan",
        "with table",
        "mover",
        "ratio",
        "ratio with table",
    ]);
    for c in compared {
        table.row(vec![
            c.model.clone(),
            format!("{:.1}", c.pan_bytes()),
            format!("{:.1}", c.pan_bytes_with_table()),
            format!("{:.1}", c.mover_bytes()),
            format!("{:.2}", c.pan_bytes() / c.mover_bytes()),
            format!("{:.2}", c.pan_bytes_with_table() / c.mover_bytes()),
        ]);
    }
    table
}

/// Every run of both tools, one line each.
fn csv(compared: &[Comparison]) -> String {
    let mut out = String::from(
        "model,round,pan_states,pan_transitions,pan_errors,pan_elapsed_s,pan_wall_s,pan_cpu_s,\
         pan_compile_s,pan_depth,pan_state_mb,pan_table_mb,mover_states,mover_transitions,\
         mover_time_s,mover_wall_s,mover_cpu_s,mover_store_bytes,mover_peak_mb\n",
    );
    let seconds = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.2}"));
    for c in compared {
        for (number, r) in c.rounds.iter().enumerate() {
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{:.6},{},{:.6},{},{},{},{},{},{},{:.6},{},{},{}",
                c.model,
                number + 1,
                c.pan.states,
                c.pan.transitions,
                c.pan.errors,
                r.pan_elapsed_s,
                r.pan_wall_s,
                seconds(r.pan_cpu_s),
                c.compile_s,
                c.depth,
                c.pan.state_mb,
                c.pan.table_mb,
                c.mover_states,
                c.mover_transitions,
                r.mover_s,
                r.mover_wall_s,
                seconds(r.mover_cpu_s),
                c.mover_store_bytes,
                r.mover_peak_mb,
            );
        }
    }
    out
}

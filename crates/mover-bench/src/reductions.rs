//! `mover bench reductions DIR`: the symbolic engines with each reduction on SV-COMP's tasks.
//!
//! The largest experiment of Günther et al. (2017), its Figure 11: IC3 on the folders `pthread-ext` and
//! `pthread-atomic`, with no reduction, the static one, phases, and all dynamic conditions. Where a
//! program has no bound on the number of threads, the paper has three; `--threads 3` says the same to
//! mover. The paper accumulates the run time of each variant and divides pairs of them: `static` takes a sixth
//! of the time of no reduction, and phases and dynamic conditions cost up to 7 % over `static`.
//!
//! A task counts for a pair of variants if both answered it, because a run that was given up has no run
//! time; how many tasks each variant answered stands beside. An answer up to the bound on threads is an
//! answer here. Times are processor seconds of whole runs of mover, the front end included.
//!
//! The programs are not part of this repository, so the directory is an argument. The page of results
//! has the tables if `bench/results/reductions.csv` is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_cli::stderr_line;
use serde::{Deserialize, Serialize};

use crate::ask::{self, Asked};
use crate::error::{BenchError, MeasureError};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::Section;
use crate::svcomp::{Task, tasks_below};
use crate::table::{Table, geometric_mean};

#[derive(Args)]
pub struct ReductionsArgs {
    /// Directories with SV-COMP tasks (`*.yml` beside the programs); subdirectories are searched, too
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Engines to ask, separated by commas
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', default_values = ENGINES,
          value_parser = ENGINES)]
    engine: Vec<String>,

    /// Only tasks whose path contains one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
}

const ENGINES: [&str; 2] = ["ic3", "bmc"];
const REDUCTIONS: [&str; 4] = ["none", "static", "phase", "dynamic"];
const PROPERTY: &str = "unreach-call";
/// The paper's limit on threads where a program has none.
const THREADS: &str = "3";

/// One run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Run {
    task: String,
    engine: String,
    reduction: String,
    /// `safe`, `safe up to`, `unsafe`; empty if there is no answer.
    verdict: String,
    cpu_s: f64,
}

impl Row for Run {
    fn check(&self) -> Result<(), RowError> {
        if !ENGINES.contains(&self.engine.as_str()) {
            return Err(RowError::unknown("engine", &self.engine));
        }
        if !REDUCTIONS.contains(&self.reduction.as_str()) {
            return Err(RowError::unknown("reduction", &self.reduction));
        }
        Ok(())
    }
}

impl Run {
    fn is_answered(&self) -> bool {
        !self.verdict.is_empty()
    }
}

pub fn run(args: &ReductionsArgs) -> Result<Section, BenchError> {
    let property = PROPERTY.to_string();
    let tasks = tasks_below(
        &args.directories,
        &args.only,
        std::slice::from_ref(&property),
    )?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    recorder.on_set(&args.directories);
    for (number, task) in tasks.iter().enumerate() {
        for engine in &args.engine {
            for reduction in REDUCTIONS {
                let run = measure(args, task, engine, reduction)?;
                stderr_line!(
                    "{}/{}: {} {engine} {reduction}: {} ({:.1} s)",
                    number + 1,
                    tasks.len(),
                    task.name,
                    if run.is_answered() { &run.verdict } else { "-" },
                    run.cpu_s
                );
                recorder.record(run)?;
            }
        }
    }
    Ok(section(&recorder.finish()?))
}

fn measure(
    args: &ReductionsArgs,
    task: &Task,
    engine: &str,
    reduction: &str,
) -> Result<Run, BenchError> {
    let options = [
        "--property",
        PROPERTY,
        "--engine",
        engine,
        "--reduce",
        reduction,
        "--threads",
        THREADS,
        task.model,
    ];
    let seconds = args.limit.seconds;
    let programs: Vec<&Path> = task.programs.iter().map(PathBuf::as_path).collect();
    let asked = ask::ask(&programs, &[], &options, Some(seconds)).map_err(MeasureError::Ask)?;
    let given_up = (String::new(), f64::from(seconds));
    let (verdict, cpu_s) = match asked {
        Asked::TooLong => given_up,
        Asked::NoAnswer(ran) => (String::new(), ran.cpu_s.unwrap_or(ran.wall_s)),
        Asked::Answered(answer) => {
            let verdict = match answer.verdict() {
                "unknown" => "",
                verdict => verdict,
            };
            let is_wrong = match verdict {
                "safe" => !task.expected,
                "unsafe" => task.expected,
                _ => false,
            };
            if is_wrong {
                return Err(MeasureError::WrongVerdict(verdict.into()).on(task.name.clone()));
            }
            (
                verdict.to_string(),
                answer.ran.cpu_s.unwrap_or(answer.ran.wall_s),
            )
        }
    };
    Ok(Run {
        task: task.name.clone(),
        engine: engine.into(),
        reduction: reduction.into(),
        verdict,
        cpu_s: rounded(cpu_s),
    })
}

/// The times of one variant by task, where it answered.
fn answered<'a>(rows: &'a [Run], engine: &str, reduction: &str) -> BTreeMap<&'a str, f64> {
    rows.iter()
        .filter(|run| run.engine == engine && run.reduction == reduction && run.is_answered())
        .map(|run| (run.task.as_str(), run.cpu_s))
        .collect()
}

/// Two variants on the tasks that both answered.
struct Pair {
    tasks: usize,
    /// Time of the first by that of the second, accumulated.
    accumulated: f64,
    /// The geometric mean of the same by task.
    mean: f64,
}

fn pair(first: &BTreeMap<&str, f64>, second: &BTreeMap<&str, f64>) -> Option<Pair> {
    let both: Vec<(f64, f64)> = first
        .iter()
        .filter_map(|(task, a)| Some((*a, *second.get(task)?)))
        .collect();
    // A clock with milliseconds.
    let at_least = |seconds: f64| seconds.max(0.001);
    let sum = |side: fn(&(f64, f64)) -> f64| at_least(both.iter().map(side).sum());
    (!both.is_empty()).then(|| Pair {
        tasks: both.len(),
        accumulated: sum(|(a, _)| *a) / sum(|(_, b)| *b),
        mean: geometric_mean(both.iter().map(|(a, b)| at_least(*a) / at_least(*b))),
    })
}

pub fn section(results: &Results<Run>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Reductions in BMC and IC3 on public programs");
    out.text(format!(
        "Figure 11 of Günther et al. (2017): the run time of one reduction divided by that of another on tasks of \
         SV-COMP, at most three threads where the program has no bound of its own, {limit} for each run. Only tasks that both \
         answered count. The paper, with IC3: `none` takes six times as long as `static`; `phase` and `dynamic` take at most \
         1.07 times as long as `static`."
    ));
    let mut counts = Table::new(&["engine", "tasks", "none", "static", "phase", "dynamic"]);
    let mut pairs = Table::new(&[
        "engine",
        "first",
        "second",
        "tasks",
        "accumulated time, first by second",
        "geometric mean by task",
    ]);
    for engine in ENGINES {
        let rows = results.rows.iter().filter(|run| run.engine == engine);
        let tasks: std::collections::BTreeSet<&str> = rows.map(|run| run.task.as_str()).collect();
        if tasks.is_empty() {
            continue;
        }
        let times = REDUCTIONS.map(|reduction| answered(&results.rows, engine, reduction));
        let mut cells = vec![engine.to_string(), tasks.len().to_string()];
        cells.extend(times.iter().map(|times| times.len().to_string()));
        counts.row(cells);
        for (first, second) in [(0, 1), (2, 1), (3, 1), (0, 3), (3, 2)] {
            if let Some(pair) = pair(&times[first], &times[second]) {
                pairs.row(vec![
                    engine.into(),
                    REDUCTIONS[first].into(),
                    REDUCTIONS[second].into(),
                    pair.tasks.to_string(),
                    format!("{:.2}", pair.accumulated),
                    format!("{:.2}", pair.mean),
                ]);
            }
        }
    }
    out.heading("Tasks answered");
    out.table(counts);
    out.heading("Run times");
    out.table(pairs);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tasks_that_both_answered_are_compared() {
        let first = BTreeMap::from([("a", 6.0), ("b", 2.0), ("c", 50.0)]);
        let second = BTreeMap::from([("a", 1.0), ("b", 1.0), ("d", 9.0)]);
        let pair = pair(&first, &second).expect("two tasks");
        assert_eq!(pair.tasks, 2);
        assert!((pair.accumulated - 4.0).abs() < 1e-9);
        assert!((pair.mean - 12.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_run_without_a_verdict_is_no_answer() {
        let run = |task: &str, verdict: &str| Run {
            task: task.into(),
            engine: "ic3".into(),
            reduction: "none".into(),
            verdict: verdict.into(),
            cpu_s: 1.0,
        };
        let rows = [run("a", "safe up to"), run("b", "")];
        let times = answered(&rows, "ic3", "none");
        assert_eq!(times.keys().copied().collect::<Vec<_>>(), ["a"]);
        assert!(answered(&rows, "bmc", "none").is_empty());
    }
}

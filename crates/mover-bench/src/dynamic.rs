//! `mover bench dynamic`: the case studies of Günther et al. (2017), with its findings beside ours.
//!
//! Section 6 of the paper takes programs with 2, 3, 4, … threads and asks how far
//! bounded model checking and IC3 come with each reduction. Its Figure 10 is a plot, and
//! the scan has lost it; what is left are the sentences around it, which stand beside our
//! figures. The programs are written after the paper's text, and its machine was another, so
//! what can be compared is how far each reduction comes and how far apart they are.
//!
//! A program is a *study* as the paper describes it, or a *variant* that is easier, with its difference
//! in its title: the threads check their own part instead of `main` after the joins, or sizes are smaller.
//! A variant is never compared with the paper's figures.
//!
//! A second table has two threads and `dynamic` with one of its conditions alone, and without the
//! unfolding that precedes the engines, so that each is credited with what it does.
//!
//! Every point is a child process of its own, given up after a time limit; a series ends at
//! the first point that was given up.

use mover_cli::{stderr, stderr_line};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError, must_exist};
use crate::plot::{self, Panel, Style, plot, seconds_up_to};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::{Block, Plot, Ratio, Section};
use crate::table::Table;
use crate::{ask, is_wanted};
use mover_cli::output::{check_distinct, check_writable, write_file};

#[derive(Args)]
pub struct DynamicArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Maximum number of threads besides the one that starts them
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=15))]
    threads: u32,

    /// Only engines with these names (separated by commas)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    engines: Vec<String>,

    /// Only reductions with these names (separated by commas)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    reductions: Vec<String>,

    /// Only programs whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    programs: Vec<String>,

    /// Draw the results into this directory
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value = "bench/dynamic")]
    models: PathBuf,
}

const ENGINES: &[&str] = &["bmc", "ic3"];
const REDUCTIONS: &[&str] = &["none", "static", "phase", "dynamic"];

/// What is measured besides the reductions, with two threads: a name and the options of `mover check`.
const ALONE: &[(&str, &[&str])] = &[
    ("dynamic", &["--reduce", "dynamic"]),
    (
        "reachability alone",
        &["--reduce", "dynamic", "--heuristics", "reachability"],
    ),
    (
        "pointers alone",
        &["--reduce", "dynamic", "--heuristics", "pointers"],
    ),
    (
        "monotonic alone",
        &["--reduce", "dynamic", "--heuristics", "monotonic"],
    ),
    (
        "dynamic, not unfolded",
        &["--reduce", "dynamic", "--no-unfold"],
    ),
    ("phase, not unfolded", &["--reduce", "phase", "--no-unfold"]),
];

struct Study {
    /// In the results.
    key: &'static str,
    file: &'static str,
    defines: &'static [&'static str],
    name: &'static str,
    /// The largest number of threads that the program is written for.
    most_threads: u32,
    /// What the paper found, or in what a variant differs.
    paper: &'static str,
    /// Threads that the paper reaches with `dynamic`, and with which engine, where it says so.
    paper_threads: &'static [(&'static str, u32)],
}

const STUDIES: &[Study] = &[
    Study {
        key: "hash_table_find",
        file: "hash_table_find",
        defines: &[],
        name: "hash table, look-ups of present elements",
        most_threads: 10,
        paper: "static reaches 2 threads with BMC and 4 with IC3, dynamic 6 and more than 7",
        paper_threads: &[("bmc", 6), ("ic3", 8)],
    },
    Study {
        key: "hash_table_find_figure",
        file: "hash_table_find",
        defines: &["-DFIGURE_TABLE"],
        name: "variant: look-ups in the table of Figure 5",
        most_threads: 10,
        paper: "a variant: table and elements are constants, so unfolding can decide look-ups",
        paper_threads: &[],
    },
    Study {
        key: "hash_table_insert",
        file: "hash_table_insert",
        defines: &[],
        name: "hash table, all insert",
        most_threads: 10,
        paper: "dynamic helps neither engine: every thread changes the table",
        paper_threads: &[],
    },
    Study {
        key: "hash_table_insert_own",
        file: "hash_table_insert",
        defines: &["-DOWN_CHECKS"],
        name: "variant: all insert, own checks",
        most_threads: 10,
        paper: "a variant: each thread looks for its own element",
        paper_threads: &[],
    },
    Study {
        key: "hash_table_half",
        file: "hash_table_half",
        defines: &[],
        name: "hash table, half and half",
        most_threads: 10,
        paper: "dynamic reaches two more threads with IC3",
        paper_threads: &[],
    },
    Study {
        key: "dynamic_locking",
        file: "dynamic_locking",
        defines: &[],
        name: "dynamic locking",
        most_threads: 15,
        paper: "dynamic is faster with both engines",
        paper_threads: &[],
    },
    Study {
        key: "dynamic_locking_own",
        file: "dynamic_locking",
        defines: &["-DOWN_CHECKS"],
        name: "variant: dynamic locking, own checks",
        most_threads: 15,
        paper: "a variant: each thread compares the variables before it releases the lock",
        paper_threads: &[],
    },
    Study {
        key: "load_balancing",
        file: "load_balancing",
        defines: &[],
        name: "load balancing to 1024",
        most_threads: 2,
        paper: "two threads: 15 minutes with phase, 97 seconds with dynamic",
        paper_threads: &[("", 2)],
    },
    Study {
        key: "load_balancing_own",
        file: "load_balancing",
        defines: &["-DOWN_CHECKS"],
        name: "variant: load balancing to 1024, own checks",
        most_threads: 15,
        paper: "a variant: more threads, and each checks its own cell",
        paper_threads: &[],
    },
    Study {
        key: "lazy_initialisation",
        file: "lazy_initialisation",
        defines: &[],
        name: "lazy initialisation",
        most_threads: 15,
        paper: "not measured in the paper (its Figure 4: two threads)",
        paper_threads: &[],
    },
    Study {
        key: "lazy_initialisation_small",
        file: "lazy_initialisation",
        defines: &["-DPART=4"],
        name: "variant: lazy initialisation, parts of 4 elements",
        most_threads: 15,
        paper: "a variant: 4 elements for each thread instead of 512",
        paper_threads: &[],
    },
];

/// One run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    program: String,
    engine: String,
    reduction: String,
    threads: u32,
    proved: bool,
    wall_s: f64,
    cpu_s: Option<f64>,
    blocks_or_frames: u64,
    terms: u64,
    clauses: u64,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        let is_known = |names: &[&str], name: &str| names.contains(&name);
        if !STUDIES.iter().any(|study| study.key == self.program) {
            return Err(RowError::unknown("program", &self.program));
        }
        if !is_known(ENGINES, &self.engine) {
            return Err(RowError::unknown("engine", &self.engine));
        }
        let is_aside = ALONE.iter().any(|(name, _)| *name == self.reduction);
        if !is_known(REDUCTIONS, &self.reduction) && !is_aside {
            return Err(RowError::unknown("reduction", &self.reduction));
        }
        if !(2..=15).contains(&self.threads) {
            return Err(RowError::Impossible("threads", self.threads));
        }
        Ok(())
    }
}

impl Point {
    /// Processor time says more than the clock on a machine with other work.
    fn seconds(&self) -> f64 {
        self.cpu_s.unwrap_or(self.wall_s)
    }
}

fn chosen(names: &'static [&'static str], wanted: &[String]) -> Vec<&'static str> {
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    names.iter().copied().filter(is_wanted).collect()
}

pub fn run(args: &DynamicArgs) -> Result<Section, BenchError> {
    let engines = chosen(ENGINES, &args.engines);
    let reductions = chosen(REDUCTIONS, &args.reductions);
    let studies: Vec<&Study> = STUDIES
        .iter()
        .filter(|study| is_wanted(&format!("{} {}", study.key, study.name), &args.programs))
        .collect();
    if engines.is_empty() || reductions.is_empty() || studies.is_empty() {
        return Err(BenchError::NothingChosen("engine, reduction or program"));
    }
    let plot = args.plot.as_deref().map(|path| ("--plot", path));
    let outputs: Vec<(&str, &Path)> = args.record.output().into_iter().chain(plot).collect();
    check_distinct(&[], &outputs).map_err(BenchError::Options)?;
    if let Some((_, path)) = plot {
        check_writable(path).map_err(BenchError::Options)?;
    }
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for study in studies {
        let path = args.models.join(format!("{}.c", study.file));
        must_exist(&path, "--models")?;
        for &engine in &engines {
            for &reduction in &reductions {
                stderr!("{}: {engine} {reduction}", study.name);
                for threads in 2..=args.threads.min(study.most_threads) {
                    let options = ["--reduce", reduction];
                    let of = Series {
                        study,
                        engine,
                        reduction,
                        options: &options,
                    };
                    let point = of.measure(args, threads, &path)?;
                    let is_proved = point.proved;
                    recorder.record(point)?;
                    if !is_proved {
                        break;
                    }
                    stderr!(" {threads}");
                }
                stderr_line!();
            }
            if !reductions.contains(&"dynamic") {
                continue;
            }
            // The first one is among the reductions.
            for &(reduction, options) in &ALONE[1..] {
                let of = Series {
                    study,
                    engine,
                    reduction,
                    options,
                };
                let point = of.measure(args, 2, &path)?;
                let shown = if point.proved { "2" } else { "-" };
                stderr_line!("{}: {engine} {reduction} {shown}", study.name);
                recorder.record(point)?;
            }
        }
    }
    let section = section(&recorder.finish()?);
    if let Some(path) = &args.plot {
        for block in &section.blocks {
            if let Block::Plot(plot) = block {
                write_file(path, &plot.svg)?;
            }
        }
    }
    Ok(section)
}

/// A program with an engine and what makes its steps move.
struct Series<'a> {
    study: &'static Study,
    engine: &'static str,
    reduction: &'static str,
    options: &'a [&'a str],
}

impl Series<'_> {
    fn measure(&self, args: &DynamicArgs, threads: u32, path: &Path) -> Result<Point, BenchError> {
        let measured = self.ask(args, threads, path);
        measured.map_err(|error| {
            stderr_line!();
            let (engine, reduction) = (self.engine, self.reduction);
            error.on(format!("{engine} {reduction}, {threads} threads"))
        })
    }

    fn ask(&self, args: &DynamicArgs, threads: u32, path: &Path) -> Result<Point, MeasureError> {
        let mut options = vec!["--property", "unreach-call", "--engine", self.engine];
        options.extend(self.options);
        let number = format!("-DN={threads}");
        let mut defines = vec![number.as_str()];
        defines.extend(self.study.defines);
        let limit = args.limit.seconds;
        let answer = ask::check(path, &defines, &options, Some(limit))?;
        let proved = match answer.as_ref().map(ask::Answer::verdict) {
            Some("safe") => true,
            None | Some("unknown") => false,
            Some(verdict) => return Err(MeasureError::WrongVerdict(verdict.into())),
        };
        let answer = answer.as_ref();
        let figure = |name: &str| answer.and_then(|answer| answer.symbolic(name)).unwrap_or(0);
        Ok(Point {
            program: self.study.key.into(),
            engine: self.engine.into(),
            reduction: self.reduction.into(),
            threads,
            proved,
            wall_s: answer.map_or(f64::from(limit), |answer| rounded(answer.ran.wall_s)),
            cpu_s: answer.and_then(|answer| answer.ran.cpu_s).map(rounded),
            blocks_or_frames: answer
                .and_then(|answer| answer.json["depth"].as_u64())
                .unwrap_or(0),
            terms: figure("terms"),
            clauses: figure("clauses"),
        })
    }
}

/// The points of one series.
fn series<'a>(
    points: &'a [Point],
    program: &'a str,
    engine: &'a str,
    reduction: &'a str,
) -> impl Iterator<Item = &'a Point> + Clone {
    points.iter().filter(move |point| {
        point.program == program && point.engine == engine && point.reduction == reduction
    })
}

/// The most threads for which a series has a proof, and whether it was given up after them.
fn reached(points: &[Point], program: &str, engine: &str, reduction: &str) -> (Option<u32>, bool) {
    let series = series(points, program, engine, reduction);
    let proved = series.clone().filter(|p| p.proved).map(|p| p.threads);
    (proved.max(), series.clone().any(|p| !p.proved))
}

/// Which of the names occur, in their order.
fn present(names: &[&'static str], occurs: impl Fn(&str) -> bool) -> Vec<&'static str> {
    names.iter().copied().filter(|name| occurs(name)).collect()
}

pub fn section(results: &Results<Point>) -> Section {
    let points = &results.rows;
    let engines = present(ENGINES, |name| points.iter().any(|p| p.engine == name));
    let reductions = present(REDUCTIONS, |name| {
        points.iter().any(|p| p.reduction == name)
    });
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Dynamic reductions in BMC and IC3");
    out.text(format!(
        "Case studies of Günther et al. (2017): CPU seconds to a \
         proof for 2, 3, … threads (`-`: not finished within {limit}; larger numbers were not tried). The \
         programs are written after the paper's text. Its Figure 10 is a plot without figures, so its \
         statements are beside our results. A *variant* is an easier program than the paper's, which its title \
         names; it is not compared with the paper."
    ));
    let mut panels = Vec::new();
    let studies = STUDIES.iter();
    for study in studies.filter(|study| points.iter().any(|p| p.program == study.key)) {
        out.heading(study.name);
        let threads: Vec<u32> = points
            .iter()
            .filter(|p| p.program == study.key)
            .map(|p| p.threads)
            .collect();
        let mut titles = vec!["threads".to_string()];
        for engine in &engines {
            for reduction in &reductions {
                titles.push(format!("{engine} {reduction}"));
            }
        }
        let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
        for threads in 2..=threads.into_iter().max().unwrap_or(2) {
            let mut cells = vec![threads.to_string()];
            for engine in &engines {
                for reduction in &reductions {
                    let mut points = series(points, study.key, engine, reduction);
                    let point = points.find(|p| p.threads == threads);
                    cells.push(match point {
                        Some(point) if point.proved => format!("{:.2}", point.seconds()),
                        Some(_) => "-".into(),
                        None => String::new(),
                    });
                }
            }
            table.row(cells);
        }
        out.table(table);
        let mut told = format!("- paper: {}\n", study.paper);
        for engine in &engines {
            let mut parts = Vec::new();
            for reduction in &reductions {
                let (most, is_over) = reached(points, study.key, engine, reduction);
                parts.push(match most {
                    None => format!("{reduction} none"),
                    Some(most) if is_over => format!("{reduction} {most}"),
                    Some(most) => format!("{reduction} {most} or more"),
                });
            }
            told += &format!("- here, {engine}: threads reached: {}\n", parts.join(", "));
            if let Some(gap) = gap(points, study, engine) {
                told += &format!("- here, {engine}: {}\n", gap.sentence());
                out.ratios.push(gap.into_ratio(study, engine));
            }
        }
        out.text(told);
        out.table(alone(points, study, &engines));
        for &(engine, theirs) in study.paper_threads {
            let asked = engines
                .iter()
                .filter(|name| engine.is_empty() || **name == engine)
                .map(|engine| reached(points, study.key, engine, "dynamic"));
            let ours = asked.clone().filter_map(|(most, _)| most).max();
            // Who was not asked for more threads may well reach them.
            let is_known = |&(most, is_over): &(Option<u32>, bool)| is_over || most >= Some(theirs);
            if asked.clone().count() == 0 || !asked.clone().all(|one| is_known(&one)) {
                continue;
            }
            let with = if engine.is_empty() {
                "either engine"
            } else {
                engine
            };
            let shown = ours.map_or("none".into(), |threads| threads.to_string());
            out.headline(
                format!(
                    "threads handled within {limit}, {}, {with} with `dynamic`",
                    study.name
                ),
                format!("{shown} (the paper: {theirs})"),
            );
            out.ratios.push(Ratio {
                subject: study.name.into(),
                measure: format!("threads reached within {limit}, {with}, dynamic"),
                peer: "the paper on dynamic reductions",
                ours: shown,
                theirs: theirs.to_string(),
                value: f64::from(ours.unwrap_or(0)) / f64::from(theirs),
                is_at_most: false,
            });
        }
        panels.push(Panel {
            title: study.name.into(),
            series: each_series(&engines, &reductions, |engine, reduction| plot::Series {
                points: series(points, study.key, engine, reduction)
                    .filter(|p| p.proved)
                    .map(|p| (f64::from(p.threads), p.seconds()))
                    .collect(),
            }),
        });
    }
    let most = points.iter().map(|p| p.threads).max().unwrap_or(2);
    let longest = points.iter().map(Point::seconds).fold(1.0, f64::max);
    let styles = each_series(&engines, &reductions, |engine, reduction| Style {
        name: format!("{engine} {reduction}"),
        colour: REDUCTIONS.iter().position(|r| *r == reduction).unwrap_or(0),
        is_dashed: engine != ENGINES[0],
    });
    let axes = ("threads", "processor seconds");
    out.plot(Plot {
        name: "dynamic",
        svg: plot(&panels, &styles, (2, most), seconds_up_to(longest), axes),
        says: "seconds to a proof by the number of threads, for each program, engine and reduction"
            .into(),
    });
    out
}

/// Two threads, with one condition alone and without unfolding.
fn alone(points: &[Point], study: &Study, engines: &[&'static str]) -> Table {
    let mut titles = vec!["two threads"];
    titles.extend(ALONE.iter().map(|(name, _)| *name));
    let mut table = Table::new(&titles);
    for engine in engines {
        let cells = ALONE.iter().map(|(name, _)| {
            let mut points = series(points, study.key, engine, name);
            match points.find(|point| point.threads == 2) {
                Some(point) if point.proved => {
                    format!("{:.2} s, {} clauses", point.seconds(), point.clauses)
                }
                Some(_) => "-".into(),
                None => String::new(),
            }
        });
        let mut row = vec![engine.to_string()];
        row.extend(cells);
        // Results of `--reductions` without `dynamic` have none of this.
        if row[2..].iter().any(|cell| !cell.is_empty()) {
            table.row(row);
        }
    }
    table
}

/// Something for each engine and reduction.
fn each_series<T>(
    engines: &[&'static str],
    reductions: &[&'static str],
    make: impl Fn(&'static str, &'static str) -> T,
) -> Vec<T> {
    let pairs = engines
        .iter()
        .flat_map(|&engine| reductions.iter().map(move |&reduction| (engine, reduction)));
    pairs
        .map(|(engine, reduction)| make(engine, reduction))
        .collect()
}

/// `dynamic` beside `phase`, for the most threads that `dynamic` reaches.
struct Gap {
    threads: u32,
    dynamic_s: f64,
    phase_s: f64,
    ratio: f64,
    /// Whether phase was given up, so that the ratio is a lower bound.
    is_at_least: bool,
}

fn gap(points: &[Point], study: &Study, engine: &str) -> Option<Gap> {
    let of = |reduction: &'static str, threads: u32| {
        series(points, study.key, engine, reduction).find(|p| p.threads == threads)
    };
    let threads = reached(points, study.key, engine, "dynamic").0?;
    let dynamic = of("dynamic", threads)?;
    // After the first point given up, phase would take at least as long as there.
    let phase = (2..=threads)
        .rev()
        .find_map(|threads| of("phase", threads))?;
    Some(Gap {
        threads,
        dynamic_s: dynamic.seconds(),
        phase_s: phase.seconds(),
        ratio: phase.seconds().max(0.01) / dynamic.seconds().max(0.01),
        is_at_least: !phase.proved,
    })
}

impl Gap {
    fn sentence(&self) -> String {
        let more = if self.is_at_least { "more than " } else { "" };
        format!(
            "{} threads: dynamic {more}{:.1} times as fast as phase",
            self.threads, self.ratio
        )
    }

    fn into_ratio(self, study: &Study, engine: &str) -> Ratio {
        let sign = if self.is_at_least { ">" } else { "" };
        Ratio {
            subject: study.name.into(),
            measure: format!(
                "processor seconds, {engine} dynamic, {} threads",
                self.threads
            ),
            peer: "phase",
            ours: format!("{:.2}", self.dynamic_s),
            theirs: format!("{sign}{:.2}", self.phase_s),
            value: self.ratio,
            is_at_most: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(reduction: &'static str, threads: u32, proved: bool, seconds: f64) -> Point {
        Point {
            program: STUDIES[0].key.into(),
            engine: "bmc".into(),
            reduction: reduction.into(),
            threads,
            proved,
            wall_s: 2.0 * seconds,
            cpu_s: Some(seconds),
            blocks_or_frames: 3,
            clauses: 5,
            terms: 7,
        }
    }

    #[test]
    fn what_was_given_up_bounds_the_gap_from_below() {
        let points = [
            point("phase", 2, true, 8.0),
            point("phase", 3, false, 60.0),
            point("dynamic", 2, true, 1.0),
            point("dynamic", 3, true, 2.0),
            point("dynamic", 4, true, 3.0),
        ];
        let reached = |engine, reduction| reached(&points, STUDIES[0].key, engine, reduction);
        assert_eq!(reached("bmc", "phase"), (Some(2), true));
        assert_eq!(reached("bmc", "dynamic"), (Some(4), false));
        assert_eq!(reached("ic3", "dynamic"), (None, false));
        let gap = |points: &[Point]| gap(points, &STUDIES[0], "bmc").map(|gap| gap.sentence());
        assert_eq!(
            gap(&points).as_deref(),
            Some("4 threads: dynamic more than 20.0 times as fast as phase")
        );
        assert_eq!(
            gap(&[points[0].clone(), points[2].clone()]).as_deref(),
            Some("2 threads: dynamic 8.0 times as fast as phase")
        );
    }
}

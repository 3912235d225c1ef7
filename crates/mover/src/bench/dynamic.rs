//! `mover bench dynamic`: the case studies of paper 001, with its findings beside ours.
//!
//! Section 6 of the paper takes six programs with 2, 3, 4, … threads and asks how far
//! bounded model checking and IC3 come with each reduction. Its Figure 10 is a plot, and
//! the scan has lost it; what is left are the sentences around it, which stand beside our
//! figures. The programs are ours, after the paper's text, and its machine was another, so
//! what can be compared is how far each reduction comes and how far apart they are.
//!
//! Every point is a child process of its own, given up after a time limit; a series ends at
//! the first point that was given up.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::Value;

use super::child;
use super::plot::{Panel, Series, Style, plot};
use super::table::Table;
use crate::output::{print, write_file};
use crate::{BAD_INPUT, INTERNAL_ERROR, USAGE};

#[derive(Args)]
pub struct DynamicArgs {
    /// Seconds after which a point is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Most threads besides the one that starts them
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

    /// Where to write the raw results
    #[arg(long, value_name = "FILE", default_value = "bench-dynamic.csv")]
    csv: PathBuf,

    /// Where to draw them
    #[arg(long, value_name = "FILE", default_value = "bench-dynamic.svg")]
    plot: PathBuf,

    /// Where the programs are
    #[arg(long, value_name = "DIR", default_value = "bench/dynamic")]
    models: PathBuf,
}

const ENGINES: &[&str] = &["bmc", "ic3"];
const REDUCTIONS: &[&str] = &["none", "static", "phase", "dynamic"];

struct Study {
    file: &'static str,
    name: &'static str,
    /// What the paper found.
    paper: &'static str,
}

const STUDIES: &[Study] = &[
    Study {
        file: "hash_table_find",
        name: "hash table, look-ups of present elements",
        paper: "static reaches 2 threads with BMC and 4 with IC3, dynamic 6 and more than 7",
    },
    Study {
        file: "hash_table_insert",
        name: "hash table, all insert",
        paper: "dynamic helps neither engine: every thread changes the table",
    },
    Study {
        file: "hash_table_half",
        name: "hash table, half and half",
        paper: "dynamic reaches two more threads with IC3",
    },
    Study {
        file: "dynamic_locking",
        name: "dynamic locking",
        paper: "dynamic is faster with both engines",
    },
    Study {
        file: "load_balancing",
        name: "load balancing to 1024",
        paper: "two threads: 15 minutes with phase, 97 seconds with dynamic",
    },
    Study {
        file: "lazy_initialisation",
        name: "lazy initialisation",
        paper: "not measured in the paper (its Figure 4)",
    },
];

/// One run.
struct Point {
    study: usize,
    engine: &'static str,
    reduction: &'static str,
    threads: u32,
    is_proved: bool,
    wall_s: f64,
    cpu_s: Option<f64>,
    depth: u64,
    clauses: u64,
    terms: u64,
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

pub fn run(args: &DynamicArgs) -> u8 {
    let engines = chosen(ENGINES, &args.engines);
    let reductions = chosen(REDUCTIONS, &args.reductions);
    let is_wanted = |study: &Study| {
        let name = format!("{} {}", study.file, study.name);
        args.programs.is_empty()
            || args
                .programs
                .iter()
                .any(|w| name.contains(&w.to_lowercase()))
    };
    let studies: Vec<usize> = (0..STUDIES.len())
        .filter(|&study| is_wanted(&STUDIES[study]))
        .collect();
    if engines.is_empty() || reductions.is_empty() || studies.is_empty() {
        eprintln!("mover: no engine, reduction or program is called like that");
        return USAGE;
    }
    let mut points = Vec::new();
    for &study in &studies {
        let path = args.models.join(format!("{}.c", STUDIES[study].file));
        if !path.exists() {
            eprintln!("mover: there is no {}; see --models", path.display());
            return BAD_INPUT;
        }
        for &engine in &engines {
            for &reduction in &reductions {
                eprint!("{}: {engine} {reduction}", STUDIES[study].name);
                for threads in 2..=args.threads {
                    let point = match measure(args, study, engine, reduction, threads, &path) {
                        Ok(point) => point,
                        Err(reason) => {
                            eprintln!("\nmover: {engine} {reduction}, {threads} threads: {reason}");
                            return INTERNAL_ERROR;
                        }
                    };
                    let is_proved = point.is_proved;
                    points.push(point);
                    if !is_proved {
                        break;
                    }
                    eprint!(" {threads}");
                }
                eprintln!();
            }
        }
    }
    let drawn = draw(args, &studies, &engines, &reductions, &points);
    for (path, text) in [(&args.csv, csv(&points)), (&args.plot, drawn)] {
        if let Err(reason) = write_file(path, &text) {
            eprintln!("mover: {reason}");
            return INTERNAL_ERROR;
        }
    }
    match print(&report(args, &studies, &engines, &reductions, &points)) {
        Ok(()) => 0,
        Err(code) => code,
    }
}

fn measure(
    args: &DynamicArgs,
    study: usize,
    engine: &'static str,
    reduction: &'static str,
    threads: u32,
    path: &Path,
) -> Result<Point, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find mover: {error}"))?;
    let finished = child::run(
        Command::new(&own)
            .args(["check", "--json", "--quiet", "--property", "unreach-call"])
            .args(["--engine", engine, "--reduce", reduction])
            .args(["--timeout", &args.limit.to_string()])
            .arg(format!("-DN={threads}"))
            .arg(path),
    )?;
    let answer: Value = serde_json::from_str(&finished.stdout)
        .map_err(|_| format!("no answer: {}", finished.stderr.trim()))?;
    let is_proved = match answer["verdict"].as_str() {
        Some("safe") => true,
        Some("unknown") => false,
        _ => return Err(format!("not safe: {}", answer["reason"])),
    };
    let figure = |name: &str| answer["symbolic"][name].as_u64().unwrap_or(0);
    Ok(Point {
        study,
        engine,
        reduction,
        threads,
        is_proved,
        wall_s: finished.wall_s,
        cpu_s: finished.cpu_s,
        depth: answer["depth"].as_u64().unwrap_or(0),
        clauses: figure("clauses"),
        terms: figure("terms"),
    })
}

/// The most threads for which a series has a proof, and whether it was given up behind them.
fn reached(points: &[Point], study: usize, engine: &str, reduction: &str) -> (Option<u32>, bool) {
    let series = points
        .iter()
        .filter(|p| p.study == study && p.engine == engine && p.reduction == reduction);
    let proved = series.clone().filter(|p| p.is_proved).map(|p| p.threads);
    (proved.max(), series.clone().any(|p| !p.is_proved))
}

fn report(
    args: &DynamicArgs,
    studies: &[usize],
    engines: &[&str],
    reductions: &[&str],
    points: &[Point],
) -> String {
    let mut out = format!(
        "Case studies of \"Dynamic Reductions for Model Checking Concurrent Software\": processor\n\
         seconds to a proof (-: given up after {} s; nothing behind that was tried)\n",
        args.limit
    );
    for &study in studies {
        let _ = writeln!(out, "\n{}", STUDIES[study].name);
        let mut titles = vec!["threads".to_string()];
        for engine in engines {
            for reduction in reductions {
                titles.push(format!("{engine} {reduction}"));
            }
        }
        let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
        for threads in 2..=args.threads {
            let mut cells = vec![threads.to_string()];
            for engine in engines {
                for reduction in reductions {
                    let point = points.iter().find(|p| {
                        p.study == study
                            && p.engine == *engine
                            && p.reduction == *reduction
                            && p.threads == threads
                    });
                    cells.push(match point {
                        Some(point) if point.is_proved => format!("{:.2}", point.seconds()),
                        Some(_) => "-".into(),
                        None => String::new(),
                    });
                }
            }
            table.row(cells);
        }
        out += &table.render();
        let _ = writeln!(out, "paper: {}", STUDIES[study].paper);
        for engine in engines {
            let mut parts = Vec::new();
            for reduction in reductions {
                let (most, is_over) = reached(points, study, engine, reduction);
                parts.push(match most {
                    None => format!("{reduction} none"),
                    Some(most) if is_over => format!("{reduction} {most}"),
                    Some(most) => format!("{reduction} {most} or more"),
                });
            }
            let _ = writeln!(out, "here, {engine}: threads reached: {}", parts.join(", "));
            if let Some(sentence) = gap(points, study, engine) {
                let _ = writeln!(out, "here, {engine}: {sentence}");
            }
        }
    }
    let _ = writeln!(
        out,
        "\nraw results: {}, plot: {}",
        args.csv.display(),
        args.plot.display()
    );
    out
}

/// How much faster `dynamic` is than `phase`, for the most threads that `dynamic` reaches.
fn gap(points: &[Point], study: usize, engine: &str) -> Option<String> {
    let of = |reduction: &str, threads: u32| {
        points.iter().find(|p| {
            p.study == study
                && p.engine == engine
                && p.reduction == reduction
                && p.threads == threads
        })
    };
    let most = reached(points, study, engine, "dynamic").0?;
    let dynamic = of("dynamic", most)?;
    // Behind the first point given up, phase would take at least as long as there.
    let phase = (2..=most).rev().find_map(|threads| of("phase", threads))?;
    let ratio = phase.seconds() / dynamic.seconds().max(0.01);
    Some(if phase.is_proved {
        format!("{most} threads: dynamic {ratio:.1} times as fast as phase")
    } else {
        format!("{most} threads: dynamic more than {ratio:.1} times as fast as phase")
    })
}

fn csv(points: &[Point]) -> String {
    let mut out = String::from(
        "program,engine,reduction,threads,proved,wall_s,cpu_s,blocks_or_frames,terms,clauses\n",
    );
    for point in points {
        let _ = writeln!(
            out,
            "{},{},{},{},{},{:.3},{},{},{},{}",
            STUDIES[point.study].file,
            point.engine,
            point.reduction,
            point.threads,
            point.is_proved,
            point.wall_s,
            point.cpu_s.map_or(String::new(), |s| format!("{s:.2}")),
            point.depth,
            point.terms,
            point.clauses
        );
    }
    out
}

fn draw(
    args: &DynamicArgs,
    studies: &[usize],
    engines: &[&str],
    reductions: &[&str],
    points: &[Point],
) -> String {
    let mut styles = Vec::new();
    for (dashes, engine) in engines.iter().enumerate() {
        for reduction in reductions {
            let colour = REDUCTIONS.iter().position(|r| r == reduction).unwrap_or(0);
            styles.push(Style {
                name: format!("{engine} {reduction}"),
                colour,
                is_dashed: dashes > 0,
            });
        }
    }
    let panels: Vec<Panel> = studies
        .iter()
        .map(|&study| {
            let mut series = Vec::new();
            for engine in engines {
                for reduction in reductions {
                    let of_series = points.iter().filter(|p| {
                        p.study == study && p.engine == *engine && p.reduction == *reduction
                    });
                    series.push(Series {
                        points: of_series
                            .filter(|p| p.is_proved)
                            .map(|p| (f64::from(p.threads), p.seconds()))
                            .collect(),
                    });
                }
            }
            Panel {
                title: STUDIES[study].name.into(),
                series,
            }
        })
        .collect();
    plot(
        &panels,
        &styles,
        (2, args.threads),
        f64::from(args.limit),
        ("threads", "processor seconds"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(reduction: &'static str, threads: u32, is_proved: bool, seconds: f64) -> Point {
        Point {
            study: 0,
            engine: "bmc",
            reduction,
            threads,
            is_proved,
            wall_s: 2.0 * seconds,
            cpu_s: Some(seconds),
            depth: 3,
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
        assert_eq!(reached(&points, 0, "bmc", "phase"), (Some(2), true));
        assert_eq!(reached(&points, 0, "bmc", "dynamic"), (Some(4), false));
        assert_eq!(reached(&points, 0, "ic3", "dynamic"), (None, false));
        assert_eq!(
            gap(&points, 0, "bmc").as_deref(),
            Some("4 threads: dynamic more than 20.0 times as fast as phase")
        );
        assert_eq!(
            gap(&points[..3], 0, "bmc").as_deref(),
            Some("2 threads: dynamic 8.0 times as fast as phase")
        );
    }

    #[test]
    fn raw_results_have_a_line_for_each_point() {
        let written = csv(&[point("phase", 2, true, 8.0)]);
        let line = written.lines().nth(1);
        assert_eq!(
            line,
            Some("hash_table_find,bmc,phase,2,true,16.000,8.00,3,7,5")
        );
    }
}

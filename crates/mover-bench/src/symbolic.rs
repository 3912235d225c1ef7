//! `mover bench symbolic`: where each symbolic engine drowns.
//!
//! Ten programs from textbooks, written for this and not after what passes: how many threads each
//! engine reaches with each reduction, and how large its formulas are. Explicit search stands
//! beside them. Every point is a child process of its own; a series ends at the first point
//! without a proof, whose row says why there is none.

use mover_cli::{stderr, stderr_line};
use std::path::{Path, PathBuf};

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError, must_exist};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::Section;
use crate::table::Table;
use crate::{ask, is_wanted};

#[derive(Args)]
pub struct SymbolicArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Maximum number of threads besides the one that starts them
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=15))]
    threads: u32,

    /// Only ways whose name (engine and reduction) contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    ways: Vec<String>,

    /// Only programs whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    programs: Vec<String>,

    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value = "bench/symbolic")]
    models: PathBuf,
}

const PROGRAMS: &[&str] = &[
    "cas_stack",
    "ticket_lock",
    "bounded_buffer",
    "spsc_ring",
    "reference_counting",
    "seqlock",
    "rcu_sketch",
    "readers_writers",
    "work_queue",
    "hash_chains",
];

/// An engine and a reduction; the event engine has its own.
const WAYS: &[(&str, &str)] = &[
    ("token", ""),
    ("bmc", "none"),
    ("bmc", "static"),
    ("bmc", "phase"),
    ("bmc", "dynamic"),
    ("ic3", "none"),
    ("ic3", "static"),
    ("ic3", "phase"),
    ("ic3", "dynamic"),
    ("explicit", "dynamic"),
];

fn name((engine, reduction): (&str, &str)) -> String {
    format!("{engine} {reduction}").trim_end().into()
}

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
    /// Repetitions, blocks, frames or steps.
    depth: u64,
    states: u64,
    events: u64,
    terms: u64,
    clauses: u64,
    questions: u64,
    /// Why there is no proof.
    reason: String,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if !PROGRAMS.contains(&self.program.as_str()) {
            return Err(RowError::unknown("program", &self.program));
        }
        let way = (self.engine.as_str(), self.reduction.as_str());
        if !WAYS.contains(&way) {
            return Err(RowError::unknown("way", &name(way)));
        }
        if !(2..=15).contains(&self.threads) {
            return Err(RowError::Impossible("threads", self.threads));
        }
        Ok(())
    }
}

pub fn run(args: &SymbolicArgs) -> Result<Section, BenchError> {
    let ways: Vec<(&str, &str)> = WAYS
        .iter()
        .copied()
        .filter(|way| is_wanted(&name(*way), &args.ways))
        .collect();
    let programs: Vec<&str> = PROGRAMS
        .iter()
        .copied()
        .filter(|program| is_wanted(program, &args.programs))
        .collect();
    if ways.is_empty() || programs.is_empty() {
        return Err(BenchError::NothingChosen("way or program"));
    }
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for program in programs {
        let path = args.models.join(format!("{program}.c"));
        must_exist(&path, "--models")?;
        for &way in &ways {
            stderr!("{program}: {}", name(way));
            for threads in 2..=args.threads {
                let point = measure(args, program, way, threads, &path).map_err(|error| {
                    stderr_line!();
                    error.on(format!("{}, {threads} threads", name(way)))
                })?;
                let is_proved = point.proved;
                recorder.record(point)?;
                if !is_proved {
                    break;
                }
                stderr!(" {threads}");
            }
            stderr_line!();
        }
    }
    Ok(section(&recorder.finish()?))
}

fn measure(
    args: &SymbolicArgs,
    program: &str,
    (engine, reduction): (&str, &str),
    threads: u32,
    path: &Path,
) -> Result<Point, MeasureError> {
    let mut options = vec![
        "--property",
        "unreach-call",
        "--property",
        "memory-safety",
        "--engine",
        engine,
    ];
    if !reduction.is_empty() {
        options.extend(["--reduce", reduction]);
    }
    let define = format!("-DTHREADS={threads}");
    let limit = args.limit.seconds;
    let answer = ask::check(path, &[&define], &options, Some(limit))?;
    let answer = answer.as_ref();
    let proved = match answer.map(ask::Answer::verdict) {
        Some("safe") => true,
        None | Some("unknown" | "safe up to") => false,
        Some(verdict) => return Err(MeasureError::WrongVerdict(verdict.into())),
    };
    let figure = |name: &str| answer.and_then(|answer| answer.symbolic(name)).unwrap_or(0);
    let number = |name: &str| answer.and_then(|answer| answer.json[name].as_u64());
    Ok(Point {
        program: program.into(),
        engine: engine.into(),
        reduction: reduction.into(),
        threads,
        proved,
        wall_s: answer.map_or(f64::from(limit), |answer| rounded(answer.ran.wall_s)),
        cpu_s: answer.and_then(|answer| answer.ran.cpu_s).map(rounded),
        depth: number("depth").unwrap_or(0),
        states: number("states").unwrap_or(0),
        events: figure("events"),
        terms: figure("terms"),
        clauses: figure("clauses"),
        questions: figure("questions"),
        reason: answer.map_or("", ask::Answer::reason).into(),
    })
}

/// The points of one series.
fn series<'a>(
    points: &'a [Point],
    program: &'a str,
    way: (&'a str, &'a str),
) -> impl Iterator<Item = &'a Point> {
    points
        .iter()
        .filter(move |p| p.program == program && (p.engine.as_str(), p.reduction.as_str()) == way)
}

/// The most threads for which a series has a proof.
fn reached(points: &[Point], program: &str, way: (&str, &str)) -> Option<u32> {
    let series = series(points, program, way);
    series.filter(|p| p.proved).map(|p| p.threads).max()
}

pub fn section(results: &Results<Point>) -> Section {
    let points = &results.rows;
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Symbolic engines on textbook programs");
    let was_asked = |way: &(&str, &str)| {
        let mut points = points.iter();
        points.any(|p| (p.engine.as_str(), p.reduction.as_str()) == *way)
    };
    let ways: Vec<(&str, &str)> = WAYS.iter().copied().filter(was_asked).collect();
    let programs: Vec<&str> = PROGRAMS
        .iter()
        .copied()
        .filter(|program| points.iter().any(|p| p.program == *program))
        .collect();
    let most = points.iter().map(|p| p.threads).max().unwrap_or(2);
    let names: Vec<String> = ways.iter().map(|way| name(*way)).collect();
    let mut titles = vec!["program"];
    titles.extend(names.iter().map(String::as_str));
    out.text(format!(
        "Most threads, up to {most}, for which the program is proved safe within {limit} (`-`: not even two)."
    ));
    let mut table = Table::new(&titles);
    for &program in &programs {
        let cells = ways.iter().map(|&way| {
            let reached = reached(points, program, way);
            reached.map_or("-".into(), |threads| threads.to_string())
        });
        table.row(std::iter::once(program.to_string()).chain(cells).collect());
    }
    out.table(table);
    out.text(
        "Clauses with two threads; in brackets where there is no proof, empty where there is no formula.",
    );
    let mut table = Table::new(&titles);
    for &program in &programs {
        let cells = ways.iter().map(|&way| {
            let point = series(points, program, way).find(|p| p.threads == 2);
            match point {
                Some(p) if p.clauses == 0 => String::new(),
                Some(p) if p.proved => grouped(p.clauses),
                Some(p) => format!("({})", grouped(p.clauses)),
                None => String::new(),
            }
        });
        table.row(std::iter::once(program.to_string()).chain(cells).collect());
    }
    out.table(table);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_reaches_its_last_proof() {
        let point = |threads: u32, proved: bool| Point {
            program: "seqlock".into(),
            engine: "token".into(),
            reduction: String::new(),
            threads,
            proved,
            wall_s: 1.0,
            cpu_s: None,
            depth: 0,
            states: 0,
            events: 3,
            terms: 4,
            clauses: 5,
            questions: 1,
            reason: String::new(),
        };
        let points = [point(2, true), point(3, true), point(4, false)];
        assert_eq!(reached(&points, "seqlock", ("token", "")), Some(3));
        assert_eq!(reached(&points[2..], "seqlock", ("token", "")), None);
        assert_eq!(reached(&points, "seqlock", ("bmc", "none")), None);
    }
}

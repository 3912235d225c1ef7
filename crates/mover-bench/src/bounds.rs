//! `mover bench bounds`: how bounded model checking grows with the bound.
//!
//! Programs whose runs do not end, so that there is always a longer one to look at: the
//! question whether an error is at most this many blocks away, for larger and larger bounds,
//! with each reduction. With a reduction a block is a whole transaction, so the same bound
//! covers more of the program and costs more; what it covers is not measured here.

use mover_cli::{stderr, stderr_line};
use std::path::PathBuf;

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::ask;
use crate::error::{BenchError, MeasureError, must_exist};
use crate::plot::{Panel, Series, Style, plot, seconds_up_to};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::{Plot, Section};
use crate::table::Table;

#[derive(Args)]
pub struct BoundsArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Largest bound
    #[arg(long, value_name = "BLOCKS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1000))]
    most: u32,

    /// Root of the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

/// Increment of the bound, in blocks.
const STEP: u32 = 5;
const REDUCTIONS: &[&str] = &["none", "static", "dynamic"];
const PROGRAMS: &[&str] = &[
    "examples/promela/peterson2.pml",
    "examples/promela/leader_chang_roberts.pml",
    #[cfg(feature = "c")]
    "bench/dynamic/load_balancing.c",
];

/// One question.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    program: String,
    reduction: String,
    bound: u32,
    answered: bool,
    wall_s: f64,
    cpu_s: Option<f64>,
    terms: u64,
    clauses: u64,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if !REDUCTIONS.contains(&self.reduction.as_str()) {
            return Err(RowError::unknown("reduction", &self.reduction));
        }
        if !(1..=1000).contains(&self.bound) {
            return Err(RowError::Impossible("blocks", self.bound));
        }
        Ok(())
    }
}

impl Point {
    fn seconds(&self) -> f64 {
        self.cpu_s.unwrap_or(self.wall_s)
    }
}

pub fn run(args: &BoundsArgs) -> Result<Section, BenchError> {
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for &program in PROGRAMS {
        let path = args.root.join(program);
        must_exist(&path, "--root")?;
        for &reduction in REDUCTIONS {
            stderr!("{program}: {reduction}");
            for bound in (STEP..=args.most).step_by(STEP as usize) {
                let blocks = bound.to_string();
                let options = [
                    "--property",
                    "unreach-call",
                    "--engine",
                    "bmc",
                    "--reduce",
                    reduction,
                    "--depth",
                    &blocks,
                ];
                let limit = args.limit.seconds;
                let answer =
                    ask::check(&path, &[], &options, Some(limit)).map_err(MeasureError::Ask)?;
                let answered = match answer.as_ref().map(ask::Answer::verdict) {
                    Some("safe" | "safe up to") => true,
                    None | Some("unknown") => false,
                    Some(verdict) => {
                        stderr_line!();
                        return Err(MeasureError::WrongVerdict(verdict.into()).on(program));
                    }
                };
                let answer = answer.as_ref();
                let figure = |name: &str| answer.and_then(|a| a.symbolic(name)).unwrap_or(0);
                recorder.record(Point {
                    program: program.into(),
                    reduction: reduction.into(),
                    bound,
                    answered,
                    wall_s: answer.map_or(f64::from(limit), |a| rounded(a.ran.wall_s)),
                    cpu_s: answer.and_then(|a| a.ran.cpu_s).map(rounded),
                    terms: figure("terms"),
                    clauses: figure("clauses"),
                })?;
                if !answered {
                    break;
                }
                stderr!(" {bound}");
            }
            stderr_line!();
        }
    }
    Ok(section(&recorder.finish()?))
}

pub fn section(results: &Results<Point>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Scaling: bounds");
    out.text(format!(
        "`mover check --engine bmc --depth N`: CPU seconds (and clauses) until the answer that no assertion \
         fails within N blocks, for increasing N; `-`: not finished within {limit}. A block is a step with \
         `none` and a transaction with a reduction, so the same bound covers longer runs there."
    ));
    let mut programs: Vec<&str> = Vec::new();
    for point in &results.rows {
        if !programs.contains(&point.program.as_str()) {
            programs.push(&point.program);
        }
    }
    let mut panels = Vec::new();
    let most = results.rows.iter().map(|p| p.bound).max().unwrap_or(STEP);
    for program in programs {
        let points: Vec<&Point> = results
            .rows
            .iter()
            .filter(|p| p.program == program)
            .collect();
        out.heading(program);
        let mut bounds: Vec<u32> = points.iter().map(|p| p.bound).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut table = Table::new(&[&["blocks"], REDUCTIONS].concat());
        for bound in bounds {
            let cells = REDUCTIONS.iter().map(|reduction| {
                let mut points = points.iter();
                match points.find(|p| p.bound == bound && p.reduction == *reduction) {
                    Some(p) if p.answered => {
                        format!("{:.2} ({})", p.seconds(), grouped(p.clauses))
                    }
                    Some(_) => "-".into(),
                    None => String::new(),
                }
            });
            table.row(std::iter::once(bound.to_string()).chain(cells).collect());
        }
        out.table(table);
        let name = program.rsplit('/').next().unwrap_or(program);
        let reached = REDUCTIONS.iter().map(|reduction| {
            let answered = points
                .iter()
                .filter(|p| p.answered && p.reduction == *reduction);
            let most = answered.map(|p| p.bound).max();
            format!(
                "{reduction} {}",
                most.map_or("none".into(), |most| most.to_string())
            )
        });
        out.text(format!(
            "Blocks reached: {}.",
            reached.collect::<Vec<_>>().join(", ")
        ));
        panels.push(Panel {
            title: name.into(),
            series: REDUCTIONS
                .iter()
                .map(|reduction| Series {
                    points: points
                        .iter()
                        .filter(|p| p.answered && p.reduction == *reduction)
                        .map(|p| (f64::from(p.bound), p.seconds()))
                        .collect(),
                })
                .collect(),
        });
    }
    let styles: Vec<Style> = REDUCTIONS
        .iter()
        .zip([0, 1, 3])
        .map(|(reduction, colour)| Style {
            name: (*reduction).into(),
            colour,
            is_dashed: false,
        })
        .collect();
    let longest = results.rows.iter().map(Point::seconds).fold(1.0, f64::max);
    let axes = ("blocks", "processor seconds");
    out.plot(Plot {
        name: "bounds",
        svg: plot(&panels, &styles, (STEP, most), seconds_up_to(longest), axes),
        says: "CPU seconds by the bound, for each program and reduction".into(),
    });
    out
}

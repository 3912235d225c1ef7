//! `mover bench cores`: explicit search with one job and with several.
//!
//! Larger models, breadth first, by each kind of search, with `--jobs 1`, `2` and so on up
//! to the cores of the machine or what is asked for. A round runs each number of jobs once;
//! what counts is the ratio of the medians over the rounds, by the time on the clock.

use mover_cli::stderr_line;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, must_exist};
use crate::plot::{Panel, Series, Style, plot, seconds_up_to};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError};
use crate::searches::{SearchMethod, search};
use crate::section::{Plot, Ratio, Section, mean_and_range};
use crate::table::{Table, median};

#[derive(Args)]
pub struct CoresArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    jobs: u32,

    /// Runs of each search; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,

    /// Root of the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

const MODELS: &[(&str, &str)] = &[
    ("examples/promela/leader_chang_roberts.pml", "-DN=5"),
    ("examples/promela/peterson_filter.pml", "-DN=4"),
    ("examples/promela/bakery.pml", "-DN=3"),
];
const SEARCHES: [SearchMethod; 3] = [
    SearchMethod::None,
    SearchMethod::Static,
    SearchMethod::Dynamic,
];

/// One search.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    model: String,
    search: SearchMethod,
    jobs: u32,
    round: u32,
    states: Option<u64>,
    seconds: f64,
    store_bytes: Option<u64>,
    complete: bool,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if !SEARCHES.contains(&self.search) {
            return Err(RowError::NoJobs(self.search.name()));
        }
        if !(1..=64).contains(&self.jobs) {
            return Err(RowError::Impossible("jobs", self.jobs));
        }
        Ok(())
    }
}

pub fn run(args: &CoresArgs) -> Result<Section, BenchError> {
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for &(file, define) in MODELS {
        let path = args.root.join(file);
        must_exist(&path, "--root")?;
        let name = Path::new(file).file_stem().unwrap_or_default();
        let model = format!("{} {define}", name.to_string_lossy());
        for way in SEARCHES {
            let rounds =
                (1..=args.runs).flat_map(|round| (1..=args.jobs).map(move |jobs| (round, jobs)));
            for (round, jobs) in rounds {
                stderr_line!("{model}: {} --jobs {jobs}, round {round}", way.name());
                // SPIN is not asked, so there is nothing to compile.
                let nowhere = Path::new("");
                let found = search(way, &path, &[define], jobs, args.limit.seconds, nowhere)
                    .map_err(|error| error.on(&model))?;
                recorder.record(Point {
                    model: model.clone(),
                    search: way,
                    jobs,
                    round,
                    states: found.states,
                    seconds: found.seconds,
                    store_bytes: found.store_bytes,
                    complete: found.is_complete,
                })?;
            }
        }
    }
    Ok(section(&recorder.finish()?))
}

pub fn section(results: &Results<Point>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Scaling: cores");
    out.text(format!(
        "`mover check --engine explicit --jobs N`, breadth first; wall-clock seconds, `-`: not finished within \
         {limit}. The median of {} counts. The ratio is one job divided by N jobs: above 1, N jobs are \
         faster. It is not reliable if the machine was busy (see the load above).",
        rounds(results)
    ));
    let mut table = Table::new(&[
        "model",
        "search",
        "jobs",
        "states",
        "seconds",
        "bytes/state",
        "ratio",
    ]);
    let (mut panels, mut ratios) = (Vec::<Panel>::new(), Vec::new());
    let mut models: Vec<&str> = Vec::new();
    for point in &results.rows {
        if !models.contains(&point.model.as_str()) {
            models.push(&point.model);
        }
    }
    let medians = medians(&results.rows);
    for model in models {
        let of = |way: SearchMethod| {
            let points = medians.iter();
            points.filter(move |p| p.model == model && p.search == way)
        };
        for way in SEARCHES {
            let single = of(way).find(|p| p.jobs == 1 && p.complete);
            for point in of(way) {
                let ratio = single
                    .filter(|_| point.complete)
                    .map(|single| single.seconds.max(0.001) / point.seconds.max(0.001));
                let bytes = point
                    .store_bytes
                    .zip(point.states.filter(|&states| states > 0));
                table.row(vec![
                    model.into(),
                    way.name().into(),
                    point.jobs.to_string(),
                    point
                        .states
                        .filter(|_| point.complete)
                        .map_or("-".into(), grouped),
                    point.seconds_cell(),
                    bytes.map_or("-".into(), |(bytes, states)| {
                        format!("{:.1}", bytes as f64 / states as f64)
                    }),
                    ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")),
                ]);
                if let Some((single, value)) = single.zip(ratio).filter(|_| point.jobs > 1) {
                    let subject = format!("{model}, {}", way.name());
                    if point.jobs == 2 {
                        ratios.push((subject.clone(), value));
                    }
                    out.ratios.push(Ratio {
                        subject,
                        measure: format!("seconds with {} jobs", point.jobs),
                        peer: "one job",
                        ours: point.seconds_cell(),
                        theirs: single.seconds_cell(),
                        value,
                        is_at_most: false,
                    });
                }
            }
        }
        panels.push(Panel {
            title: model.into(),
            series: SEARCHES
                .map(|way| Series {
                    points: of(way)
                        .filter(|p| p.complete)
                        .map(|p| (f64::from(p.jobs), p.seconds))
                        .collect(),
                })
                .into(),
        });
    }
    out.table(table);
    if let Some(figure) = mean_and_range(&ratios) {
        out.headline(
            "explicit search, seconds with one job divided by seconds with two",
            figure,
        );
    }
    let styles: Vec<Style> = SEARCHES
        .into_iter()
        .zip([0, 1, 3])
        .map(|(way, colour)| Style {
            name: way.name().into(),
            colour,
            is_dashed: false,
        })
        .collect();
    let most = results.rows.iter().map(|p| p.jobs).max().unwrap_or(2);
    let longest = results.rows.iter().map(|p| p.seconds).fold(1.0, f64::max);
    out.plot(Plot {
        name: "cores",
        svg: plot(
            &panels,
            &styles,
            (1, most),
            seconds_up_to(longest),
            ("jobs", "seconds"),
        ),
        says: "seconds by the number of jobs, for each model and search".into(),
    });
    out
}

fn rounds(results: &Results<Point>) -> String {
    match results.rows.iter().map(|p| p.round).max().unwrap_or(1) {
        1 => "one run".into(),
        rounds => format!("{rounds} runs"),
    }
}

/// One point for all rounds of a search: with the median time, and complete if all of them were.
fn medians(rows: &[Point]) -> Vec<Point> {
    let first = rows.iter().filter(|p| p.round == 1);
    first
        .map(|point| {
            let same = |p: &&Point| {
                (&p.model, p.search, p.jobs) == (&point.model, point.search, point.jobs)
            };
            Point {
                seconds: median(rows.iter().filter(same).map(|p| p.seconds).collect()),
                complete: rows.iter().filter(same).all(|p| p.complete),
                ..point.clone()
            }
        })
        .collect()
}

impl Point {
    fn seconds_cell(&self) -> String {
        if self.complete {
            format!("{:.2}", self.seconds)
        } else {
            "-".into()
        }
    }
}

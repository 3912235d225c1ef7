//! `mover bench threads`: how explicit search grows with the number of threads.
//!
//! Models of any number of threads, searched by SPIN's verifier without and with its
//! reduction and by mover without and with its own ([`crate::searches`]), for 2, 3, …
//! threads. A series ends where a search was given up.

use mover_cli::{stderr, stderr_line};
use std::path::PathBuf;

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, must_exist};
use crate::plot::{Panel, Series, Style, plot, seconds_up_to};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError};
use crate::searches::{SearchMethod, search};
use crate::section::{Plot, Ratio, Section};
use crate::table::Table;
use crate::{is_wanted, pan, scratch};

#[derive(Args)]
pub struct ThreadsArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Only models whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    models: Vec<String>,

    /// Root of the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

struct Subject {
    name: &'static str,
    file: &'static str,
    made_of: &'static str,
    most_threads: u32,
}

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "philosophers",
        file: "bench/cpc/philosophers.pml",
        made_of: "dining philosophers, forks are locks",
        most_threads: 7,
    },
    Subject {
        name: "lost_update_locked",
        file: "examples/promela/lost_update_locked.pml",
        made_of: "a counter protected by one lock",
        most_threads: 9,
    },
    Subject {
        name: "philosophers_asymmetric",
        file: "examples/promela/philosophers_asymmetric.pml",
        made_of: "dining philosophers, forks are channels",
        most_threads: 12,
    },
];

const SEARCHES: [SearchMethod; 5] = [
    SearchMethod::Spin,
    SearchMethod::SpinReduced,
    SearchMethod::None,
    SearchMethod::Static,
    SearchMethod::Dynamic,
];

/// One search.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    model: String,
    threads: u32,
    search: SearchMethod,
    states: Option<u64>,
    seconds: f64,
    cpu_s: Option<f64>,
    store_bytes: Option<u64>,
    complete: bool,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if !SUBJECTS.iter().any(|subject| subject.name == self.model) {
            return Err(RowError::unknown("model", &self.model));
        }
        if !(2..=100).contains(&self.threads) {
            return Err(RowError::Impossible("threads", self.threads));
        }
        if self.complete && self.states.is_none_or(|states| states == 0) {
            return Err(RowError::NoStates(self.model.clone()));
        }
        Ok(())
    }
}

pub fn run(args: &ThreadsArgs) -> Result<Section, BenchError> {
    pan::check_tools()?;
    let wanted = |subject: &&Subject| is_wanted(subject.name, &args.models);
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
    if subjects.is_empty() {
        return Err(BenchError::NothingChosen("model"));
    }
    let scratch = scratch()?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for subject in subjects {
        let path = args.root.join(subject.file);
        must_exist(&path, "--root")?;
        for way in SEARCHES {
            stderr!("{}: {}", subject.name, way.name());
            for threads in 2..=subject.most_threads {
                let define = format!("-DN={threads}");
                let seconds = args.limit.seconds;
                let found = search(way, &path, &[&define], 1, seconds, scratch.path());
                let found = found.map_err(|error| {
                    stderr_line!();
                    error.on(format!("{} {define}", subject.name))
                })?;
                recorder.record(Point {
                    model: subject.name.into(),
                    threads,
                    search: way,
                    states: found.states,
                    seconds: found.seconds,
                    cpu_s: found.cpu_s,
                    store_bytes: found.store_bytes,
                    complete: found.is_complete,
                })?;
                if !found.is_complete {
                    break;
                }
                stderr!(" {threads}");
            }
            stderr_line!();
        }
    }
    Ok(section(&recorder.finish()?))
}

/// A time below that is mostly start-up.
const WORTH_COMPARING_S: f64 = 0.1;

pub fn section(results: &Results<Point>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Scaling: threads");
    out.text(format!(
        "Explicit search for 2, 3, … threads, with a limit of {limit} per point (`-`: limit reached; larger \
         numbers were not tried). Stored states, then seconds measured by each tool itself, then bytes per \
         stored state (for SPIN without its hash table). The compilation of SPIN's verifier is not included."
    ));
    let (mut states, mut seconds) = (Vec::new(), Vec::new());
    for subject in SUBJECTS {
        let points: Vec<&Point> = results
            .rows
            .iter()
            .filter(|p| p.model == subject.name)
            .collect();
        let Some(most) = points.iter().map(|p| p.threads).max() else {
            continue;
        };
        out.heading(format!("{} ({})", subject.name, subject.made_of));
        let of = |way: SearchMethod, threads: u32| {
            let mut points = points.iter();
            points
                .find(|p| p.search == way && p.threads == threads)
                .copied()
        };
        for (title, cell) in [
            ("states", &states_cell as &dyn Fn(&Point) -> String),
            ("seconds", &seconds_cell),
            ("bytes/state", &bytes_cell),
        ] {
            let titles = SEARCHES.map(|way| format!("{title} {}", way.name()));
            let titles: Vec<&str> = std::iter::once("threads")
                .chain(titles.iter().map(String::as_str))
                .collect();
            let mut table = Table::new(&titles);
            for threads in 2..=most {
                let cells = SEARCHES.map(|way| of(way, threads).map_or(String::new(), cell));
                table.row(std::iter::once(threads.to_string()).chain(cells).collect());
            }
            out.table(table);
        }
        let reached = |way: SearchMethod| {
            let complete = points.iter().filter(|p| p.search == way && p.complete);
            complete.map(|p| p.threads).max()
        };
        let told = SEARCHES.map(|way| {
            let threads = reached(way).map_or("none".into(), |threads| threads.to_string());
            format!("{} {threads}", way.name())
        });
        out.text(format!("Threads reached: {}.", told.join(", ")));
        if let Some((ours, theirs)) =
            reached(SearchMethod::Dynamic).zip(reached(SearchMethod::SpinReduced))
        {
            out.ratios.push(Ratio {
                subject: subject.name.into(),
                measure: format!("threads reached within {limit}"),
                peer: "SPIN",
                ours: ours.to_string(),
                theirs: theirs.to_string(),
                value: f64::from(ours) / f64::from(theirs),
                is_at_most: false,
            });
            out.headline(
                format!("threads reached within {limit}, {}", subject.made_of),
                format!("{ours} (SPIN with its reduction: {theirs})"),
            );
            out.ratios
                .extend(at_common_size(subject, ours.min(theirs), &of));
        }
        let drawn = |value: &dyn Fn(&Point) -> f64| Panel {
            title: subject.name.into(),
            series: SEARCHES
                .map(|way| Series {
                    points: points
                        .iter()
                        .filter(|p| p.search == way && p.complete)
                        .map(|p| (f64::from(p.threads), value(p)))
                        .collect(),
                })
                .into(),
        };
        states.push(drawn(&|p| p.states.unwrap_or(1) as f64));
        seconds.push(drawn(&|p| p.seconds));
    }
    let styles = SEARCHES.map(|way| Style {
        name: way.name().into(),
        colour: match way {
            SearchMethod::Spin => 4,
            SearchMethod::SpinReduced => 5,
            SearchMethod::Static => 1,
            SearchMethod::Dynamic => 3,
            _ => 0,
        },
        is_dashed: way.is_spin(),
    });
    let across = (2, results.rows.iter().map(|p| p.threads).max().unwrap_or(2));
    let most_states = results
        .rows
        .iter()
        .filter_map(|p| p.states)
        .max()
        .unwrap_or(10);
    let most_seconds = results.rows.iter().map(|p| p.seconds).fold(1.0, f64::max);
    for (name, panels, scale, upwards) in [
        (
            "threads-states",
            &states,
            (1.0, most_states as f64),
            "stored states",
        ),
        (
            "threads-seconds",
            &seconds,
            seconds_up_to(most_seconds),
            "seconds",
        ),
    ] {
        out.plot(Plot {
            name,
            svg: plot(panels, &styles, across, scale, ("threads", upwards)),
            says: format!("{upwards} by the number of threads, for each model and search"),
        });
    }
    out
}

/// `dynamic` beside SPIN's reduction, for the most threads that both reach.
fn at_common_size<'a>(
    subject: &Subject,
    threads: u32,
    of: &dyn Fn(SearchMethod, u32) -> Option<&'a Point>,
) -> Vec<Ratio> {
    let Some((ours, theirs)) =
        of(SearchMethod::Dynamic, threads).zip(of(SearchMethod::SpinReduced, threads))
    else {
        return Vec::new();
    };
    let mut ratios = Vec::new();
    let mut add = |measure: &str, cell: &dyn Fn(&Point) -> String, value: f64| {
        ratios.push(Ratio {
            subject: format!("{} with {threads} threads", subject.name),
            measure: measure.into(),
            peer: "SPIN",
            ours: cell(ours),
            theirs: cell(theirs),
            value,
            is_at_most: false,
        });
    };
    if let Some((our_states, their_states)) = ours.states.zip(theirs.states) {
        let value = their_states as f64 / our_states.max(1) as f64;
        add("states stored, reduced", &states_cell, value);
    }
    if ours.seconds.max(theirs.seconds) >= WORTH_COMPARING_S {
        let value = theirs.seconds.max(0.01) / ours.seconds.max(0.01);
        add("seconds, reduced", &seconds_cell, value);
    }
    ratios
}

fn states_cell(point: &Point) -> String {
    match point.states {
        Some(states) if point.complete => grouped(states),
        _ => "-".into(),
    }
}

fn seconds_cell(point: &Point) -> String {
    if point.complete {
        format!("{:.2}", point.seconds)
    } else {
        "-".into()
    }
}

fn bytes_cell(point: &Point) -> String {
    match point.store_bytes.zip(point.states) {
        Some((bytes, states)) if point.complete && states > 0 => {
            format!("{:.1}", bytes as f64 / states as f64)
        }
        _ => "-".into(),
    }
}

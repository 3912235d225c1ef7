//! `mover bench ltl`: temporal claims, mover beside SPIN's verifier.
//!
//! The claims are those of the models that come with SPIN and of our own examples, and formulas that are added here to models of
//! ours that have none: both tools read the same file with the formula at its end. SPIN's verifier searches for acceptance cycles
//! (`pan -a`) with and without its partial-order reduction, mover with and without its own. Both stop at the first violation, so
//! the states of a violated claim say how soon it was found, and only those of a claim that holds are compared. If the
//! verdicts of two searches differ, the measurement ends with an error.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use mover_check::words::grouped;
use mover_cli::stderr_line;
use serde::{Deserialize, Serialize};

use crate::ask;
use crate::error::{BenchError, MeasureError};
use crate::pan::{self, MEGABYTE, Pan};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::{Ratio, Section, mean_and_range};
use crate::spin::SPIN_EXAMPLES;
use crate::table::Table;
use crate::{is_wanted, scratch};

#[derive(Args)]
pub struct LtlArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Only models whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    models: Vec<String>,

    /// Directory of mover's examples
    #[arg(long, value_name = "DIR", default_value = "examples")]
    examples: PathBuf,

    /// Directory of the models that come with SPIN
    #[arg(long, value_name = "DIR", default_value = SPIN_EXAMPLES)]
    spin_examples: PathBuf,
}

/// Where a model lies, and its claim.
enum Claim {
    /// A model of SPIN's, with the name of a formula in it.
    OfSpin(&'static str),
    /// An example with the name of a formula in it.
    Own(&'static str),
    /// A formula that is added to an example.
    Added(&'static str),
}

/// A model, the options that give it its size, and its claim.
struct Subject(&'static str, &'static [&'static str], Claim);

const SUBJECTS: &[Subject] = &[
    Subject("LTL/bakery", &[], Claim::OfSpin("invariant")),
    Subject("LTL/diskhead", &[], Claim::OfSpin("p")),
    Subject("LTL/leader", &[], Claim::OfSpin("p0")),
    Subject("LTL/leader", &[], Claim::OfSpin("p1")),
    Subject("LTL/leader", &[], Claim::OfSpin("p2")),
    Subject("LTL/train", &[], Claim::OfSpin("c1")),
    Subject("LTL/train", &[], Claim::OfSpin("c5")),
    Subject("LTL/train", &[], Claim::OfSpin("c7")),
    Subject("liveness/leader_election", &[], Claim::Own("all_know")),
    Subject("liveness/leader_election", &[], Claim::Own("elected")),
    Subject("liveness/peterson_starvation", &[], Claim::Own("let_in")),
    Subject(
        "liveness/traffic_light",
        &[],
        Claim::Own("north_turns_green"),
    ),
    Subject("liveness/workers_done", &[], Claim::Own("done")),
    Subject(
        "promela/bakery",
        &["-DN=3", "-DMAX=3"],
        Claim::Added("[] (inside == 1 -> <> (inside == 0))"),
    ),
    Subject(
        "promela/leader_chang_roberts",
        &["-DN=4"],
        Claim::Added("<> (leaders == 1)"),
    ),
    Subject(
        "promela/lost_update_locked",
        &[],
        Claim::Added("<> (finished == N)"),
    ),
    Subject(
        "promela/peterson_filter",
        &["-DN=3"],
        Claim::Added("[] (inside == 1 -> <> (inside == 0))"),
    ),
    Subject(
        "promela/readers_writers",
        &[],
        Claim::Added("[] (writing == 1 -> <> (writing == 0))"),
    ),
    Subject(
        "promela/szymanski",
        &["-DN=3"],
        Claim::Added("[] (inside == 1 -> <> (inside == 0))"),
    ),
    Subject(
        "promela/ticket_lock",
        &["-DN=4"],
        Claim::Added("[] (inside == 1 -> <> (inside == 0))"),
    ),
    Subject("promela/token_ring", &[], Claim::Added("<> (inside == 1)")),
];

/// A way to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Way {
    #[serde(rename = "SPIN")]
    Spin,
    #[serde(rename = "SPIN reduced")]
    SpinReduced,
    #[serde(rename = "mover none")]
    None,
    #[serde(rename = "mover")]
    Mover,
}

const WAYS: [Way; 4] = [Way::Spin, Way::SpinReduced, Way::None, Way::Mover];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Spin => "SPIN",
            Way::SpinReduced => "SPIN reduced",
            Way::None => "mover none",
            Way::Mover => "mover",
        }
    }
}

/// One search for a violation of one claim.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    model: String,
    claim: String,
    search: Way,
    /// Unknown if the search was cut off.
    violated: Option<bool>,
    states: Option<u64>,
    seconds: f64,
    store_bytes: Option<u64>,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if self.violated.is_some() && self.states.is_none_or(|states| states == 0) {
            return Err(RowError::NoStates(self.model.clone()));
        }
        Ok(())
    }
}

pub fn run(args: &LtlArgs) -> Result<Section, BenchError> {
    pan::check_tools()?;
    let wanted = |subject: &&Subject| is_wanted(subject.0, &args.models);
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
    if subjects.is_empty() {
        return Err(BenchError::NothingChosen("model"));
    }
    let scratch = scratch()?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for (number, Subject(name, defines, claim)) in subjects.into_iter().enumerate() {
        let model = format!("{name} {}", defines.join(" "));
        let model = model.trim_end();
        let failed = |error: MeasureError| error.on(model);
        let directory = match claim {
            Claim::OfSpin(_) => &args.spin_examples,
            Claim::Own(_) | Claim::Added(_) => &args.examples,
        };
        let path = directory.join(format!("{name}.pml"));
        let (path, formula) = match claim {
            Claim::OfSpin(formula) | Claim::Own(formula) => (path, *formula),
            Claim::Added(formula) => {
                let place = scratch.path().join(format!("{number}.pml"));
                with_formula(&path, formula, &place).map_err(failed)?;
                (place, ADDED)
            }
        };
        let told = match claim {
            Claim::OfSpin(name) | Claim::Own(name) => *name,
            Claim::Added(formula) => formula,
        };
        stderr_line!("{model}: {told}");
        let mut verdict = None;
        for way in WAYS {
            let place = scratch
                .path()
                .join(format!("{number}-{}", way.name().replace(' ', "-")));
            let mut point =
                measure(way, &path, defines, formula, args.limit.seconds, place).map_err(failed)?;
            if let (Some(before), Some(now)) = (verdict, point.violated)
                && before != now
            {
                return Err(failed(MeasureError::VerdictsDiffer));
            }
            verdict = verdict.or(point.violated);
            point.model = model.to_string();
            point.claim = told.to_string();
            recorder.record(point)?;
        }
    }
    Ok(section(&recorder.finish()?))
}

/// The name of a formula that is added.
const ADDED: &str = "added";

fn with_formula(model: &Path, formula: &str, place: &Path) -> Result<(), MeasureError> {
    let text = std::fs::read_to_string(model).map_err(|source| MeasureError::UnreadableModel {
        path: model.to_path_buf(),
        source,
    })?;
    let text = format!("{text}\nltl {ADDED} {{ {formula} }}\n");
    std::fs::write(place, text).map_err(|source| MeasureError::UnreadableModel {
        path: place.to_path_buf(),
        source,
    })
}

fn measure(
    way: Way,
    model: &Path,
    defines: &[&str],
    formula: &str,
    limit_s: u32,
    place: PathBuf,
) -> Result<Point, MeasureError> {
    let cut_off = Point {
        model: String::new(),
        claim: String::new(),
        search: way,
        violated: None,
        states: None,
        seconds: f64::from(limit_s),
        store_bytes: None,
    };
    let reduced: &[&str] = match way {
        Way::Spin | Way::SpinReduced => {
            let options: &[&str] = match way {
                Way::Spin => &["-O2", "-DNOREDUCE"],
                _ => &["-O2"],
            };
            let mut pan = Pan::make(model, defines, place, options)?;
            pan.arguments = ["-a", "-E", "-N", formula].map(String::from).to_vec();
            let limit = Duration::from_secs(u64::from(limit_s));
            let Some(ran) = pan.run_deep_enough(Some(limit))? else {
                return Ok(cut_off);
            };
            return Ok(Point {
                violated: Some(ran.report.errors > 0),
                states: Some(ran.report.states),
                seconds: ran.report.elapsed_s,
                store_bytes: Some((ran.report.state_mb * MEGABYTE) as u64),
                ..cut_off
            });
        }
        Way::None => &["--reduce", "none"],
        Way::Mover => &[],
    };
    let options = [&["--property", "claims", "--ltl", formula], reduced].concat();
    let Some(answer) = ask::check(model, defines, &options, Some(limit_s))? else {
        return Ok(cut_off);
    };
    let violated = match answer.verdict() {
        "safe" => Some(false),
        "unsafe" => Some(true),
        _ => None,
    };
    Ok(Point {
        violated,
        states: violated
            .map(|_| answer.number("states"))
            .transpose()?
            .map(|n| n as u64),
        seconds: rounded(answer.number("time_s")?),
        store_bytes: Some(answer.number("store_bytes")? as u64),
        ..cut_off
    })
}

/// Clocks are not finer than that, and shorter runs are mostly start-up.
const WORTH_COMPARING_S: f64 = 0.1;
const SHORTEST_S: f64 = 0.01;

pub fn section(results: &Results<Point>) -> Section {
    let mut out = Section::new("Temporal claims beside SPIN");
    out.text(
        "SPIN: `spin -a -o3`, `pan -a -E -N claim`, compiled with `-O2` (reduced) and `-O2 -DNOREDUCE`; mover: `mover check --ltl \
         claim`, with and without `--reduce none`. One core, one run each, time measured by each tool itself, up to the first \
         violation. The ratios are SPIN with its reduction divided by mover with its own, of claims that hold; above 1, mover is \
         ahead. There is a ratio of seconds only where a search took a tenth of a second or more. `-`: not decided, \
         because the time limit was reached or mover does not translate the claim.",
    );
    let titles = [&["model", "claim"], &WAYS.map(Way::name)[..], &["ratio"]].concat();
    let mut states = Table::new(&[&titles[..], &["verdict"]].concat());
    let mut seconds = Table::new(&titles);
    let mut leads: Vec<(String, f64)> = Vec::new();
    for rows in results.rows.chunks(WAYS.len()) {
        let of = |way: Way| rows.iter().find(|point| point.search == way);
        let Some(first) = rows.first() else { continue };
        let verdict = match rows.iter().find_map(|point| point.violated) {
            Some(true) => "violated",
            Some(false) => "holds",
            None => "open",
        };
        let both = of(Way::SpinReduced).zip(of(Way::Mover));
        let both = both.filter(|(theirs, ours)| {
            theirs.violated == Some(false) && ours.violated == Some(false)
        });
        let by_states =
            both.and_then(|(theirs, ours)| Some(theirs.states? as f64 / ours.states? as f64));
        let by_seconds = both
            .filter(|(theirs, ours)| theirs.seconds.max(ours.seconds) >= WORTH_COMPARING_S)
            .map(|(theirs, ours)| theirs.seconds.max(SHORTEST_S) / ours.seconds.max(SHORTEST_S));
        let ratio = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let row = |cell: &dyn Fn(&Point) -> String, value: Option<f64>| {
            let cells = WAYS.map(|way| of(way).map_or(String::new(), cell));
            let named = [first.model.clone(), format!("`{}`", first.claim)];
            let mut all: Vec<String> = named.into_iter().chain(cells).collect();
            all.push(ratio(value));
            all
        };
        let mut row_of_states = row(&Point::states_cell, by_states);
        row_of_states.push(verdict.into());
        states.row(row_of_states);
        seconds.row(row(&Point::seconds_cell, by_seconds));
        let subject = format!("{}, {}", first.model, first.claim);
        for (measure, cell, value) in [
            (
                "states stored, temporal claims",
                &Point::states_cell as &dyn Fn(&Point) -> String,
                by_states,
            ),
            ("seconds, temporal claims", &Point::seconds_cell, by_seconds),
        ] {
            if let Some(((theirs, ours), value)) = both.zip(value) {
                out.ratios.push(Ratio {
                    subject: subject.clone(),
                    measure: measure.into(),
                    peer: "SPIN",
                    ours: cell(ours),
                    theirs: cell(theirs),
                    value,
                    is_at_most: false,
                });
            }
        }
        leads.extend(by_states.map(|value| (subject, value)));
    }
    out.heading("Stored states (pairs of a state and a state of the automaton)");
    out.table(states);
    out.heading("Seconds");
    out.table(seconds);
    if let Some(figure) = mean_and_range(&leads) {
        out.headline(
            "stored states of claims that hold, SPIN divided by mover",
            figure,
        );
    }
    out
}

impl Point {
    fn states_cell(&self) -> String {
        self.states.map_or("-".into(), grouped)
    }

    fn seconds_cell(&self) -> String {
        let sign = if self.violated.is_some() { "" } else { ">" };
        format!("{sign}{:.2}", self.seconds)
    }
}

//! `mover bench reduced`: what each tool's own reduction leaves.
//!
//! SPIN's verifier without and with its partial-order reduction (made with and without
//! `-DNOREDUCE`) beside `mover check --reduce none`, `phase` and `dynamic`, on safe models, so
//! that every search is complete. One run each ([`crate::searches`]).

use mover_cli::stderr_line;
use std::path::PathBuf;

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError};
use crate::searches::{SearchMethod, search};
use crate::section::{Ratio, Section, mean_and_range};
use crate::spin::SPIN_EXAMPLES;
use crate::table::Table;
use crate::{is_wanted, pan, scratch};

#[derive(Args)]
pub struct ReducedArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Only models whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    models: Vec<String>,

    /// Directory of mover's own models
    #[arg(long, value_name = "DIR", default_value = "examples/promela")]
    examples: PathBuf,

    /// Directory of the programs of `bench cpc`
    #[arg(long, value_name = "DIR", default_value = "bench/cpc")]
    cpc: PathBuf,

    /// Directory of the models that come with SPIN
    #[arg(long, value_name = "DIR", default_value = SPIN_EXAMPLES)]
    spin_examples: PathBuf,
}

/// Where a model lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Examples,
    Spin,
    Cpc,
}

/// A model, the options that give it its size, and what it consists of.
struct Subject(Home, &'static str, &'static [&'static str], &'static str);

const SUBJECTS: &[Subject] = &[
    Subject(Home::Cpc, "philosophers", &["-DN=5"], "locks"),
    Subject(Home::Cpc, "philosophers", &["-DN=6"], "locks"),
    Subject(Home::Cpc, "transaction_manager", &["-DCLIENTS=1"], "locks"),
    Subject(Home::Cpc, "bluetooth", &[], "locks"),
    Subject(Home::Examples, "bank_transfer_ordered", &[], "locks"),
    Subject(Home::Examples, "lost_update_locked", &[], "locks"),
    Subject(Home::Spin, "leader0", &[], "channels"),
    Subject(Home::Spin, "LTL/leader", &[], "channels"),
    Subject(Home::Spin, "sort", &[], "channels"),
    Subject(
        Home::Examples,
        "leader_chang_roberts",
        &["-DN=5"],
        "channels",
    ),
    Subject(Home::Examples, "sort_pipeline", &[], "channels"),
    Subject(Home::Examples, "two_phase_commit", &[], "channels"),
    Subject(Home::Examples, "prodcons_buffered", &[], "channels"),
    Subject(Home::Examples, "sliding_window", &[], "channels"),
];

const SEARCHES: [SearchMethod; 5] = [
    SearchMethod::Spin,
    SearchMethod::SpinReduced,
    SearchMethod::None,
    SearchMethod::Phase,
    SearchMethod::Dynamic,
];

/// One search of one model.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    model: String,
    made_of: String,
    search: SearchMethod,
    states: Option<u64>,
    seconds: f64,
    cpu_s: Option<f64>,
    store_bytes: Option<u64>,
    table_bytes: Option<u64>,
    complete: bool,
}

impl Row for Point {
    fn check(&self) -> Result<(), RowError> {
        if self.complete && self.states.is_none_or(|states| states == 0) {
            return Err(RowError::NoStates(self.model.clone()));
        }
        Ok(())
    }
}

pub fn run(args: &ReducedArgs) -> Result<Section, BenchError> {
    pan::check_tools()?;
    let wanted = |subject: &&Subject| is_wanted(subject.1, &args.models);
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
    if subjects.is_empty() {
        return Err(BenchError::NothingChosen("model"));
    }
    let scratch = scratch()?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for Subject(home, name, defines, made_of) in subjects {
        let directory = match home {
            Home::Examples => &args.examples,
            Home::Spin => &args.spin_examples,
            Home::Cpc => &args.cpc,
        };
        let path = directory.join(format!("{name}.pml"));
        let model = format!("{name} {}", defines.join(" "));
        let model = model.trim_end();
        stderr_line!("{model}");
        for way in SEARCHES {
            let found = search(way, &path, defines, 1, args.limit.seconds, scratch.path())
                .map_err(|error| error.on(model))?;
            recorder.record(Point {
                model: model.to_string(),
                made_of: (*made_of).to_string(),
                search: way,
                states: found.states,
                seconds: found.seconds,
                cpu_s: found.cpu_s,
                store_bytes: found.store_bytes,
                table_bytes: found.table_bytes,
                complete: found.is_complete,
            })?;
        }
    }
    Ok(section(&recorder.finish()?))
}

/// Clocks are not finer than that, and shorter runs are mostly start-up.
const WORTH_COMPARING_S: f64 = 0.1;
const SHORTEST_S: f64 = 0.01;

pub fn section(results: &Results<Point>) -> Section {
    let mut out = Section::new("Beside SPIN, with both tools' reductions");
    out.text(
        "SPIN: `spin -a -o3`, `pan -c0`, compiled with and without `-DNOREDUCE`; mover: `mover check \
         --engine explicit` with `--reduce none`, `phase` and `dynamic` (the default). One core, one run \
         each, time measured by each tool itself. `>` and `-`: time limit reached. The ratio is SPIN with \
         its reduction divided by `dynamic`; above 1, mover is ahead. There is a ratio of seconds only \
         where a search took a tenth of a second or more.",
    );
    let mut states = titled("model", &["made of"], &["ratio"]);
    let mut seconds = titled("model", &[], &["ratio"]);
    let mut memory = titled("model", &[], &["ratio"]);
    let mut leads: Vec<(String, String, f64)> = Vec::new();
    let mut models: Vec<&str> = Vec::new();
    for point in &results.rows {
        if !models.contains(&point.model.as_str()) {
            models.push(&point.model);
        }
    }
    for model in models {
        let of = |way: SearchMethod| {
            let mut rows = results.rows.iter();
            rows.find(|point| point.model == model && point.search == way)
        };
        let made_of = SEARCHES.into_iter().find_map(of).map_or("", |p| &p.made_of);
        let both = of(SearchMethod::SpinReduced).zip(of(SearchMethod::Dynamic));
        let both = both.filter(|(theirs, ours)| theirs.complete || ours.complete);
        let ratio = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let row = |first: Vec<String>, cell: &dyn Fn(&Point) -> String, value: Option<f64>| {
            let cells = SEARCHES.map(|way| of(way).map_or(String::new(), cell));
            first
                .into_iter()
                .chain(cells)
                .chain([ratio(value)])
                .collect()
        };
        let complete = both.filter(|(theirs, ours)| theirs.complete && ours.complete);
        let by_states =
            complete.and_then(|(theirs, ours)| Some(theirs.states? as f64 / ours.states? as f64));
        let by_seconds = both
            .filter(|(theirs, ours)| theirs.seconds.max(ours.seconds) >= WORTH_COMPARING_S)
            .map(|(theirs, ours)| theirs.seconds.max(SHORTEST_S) / ours.seconds.max(SHORTEST_S));
        let by_memory = complete.and_then(|(theirs, ours)| {
            let ours = ours.store_bytes.filter(|&bytes| bytes > 0)?;
            Some(theirs.store_bytes? as f64 / ours as f64)
        });
        states.row(row(
            vec![model.into(), made_of.into()],
            &Point::states_cell,
            by_states,
        ));
        seconds.row(row(vec![model.into()], &Point::seconds_cell, by_seconds));
        memory.row(row(vec![model.into()], &Point::memory_cell, by_memory));
        if let Some(value) = by_states {
            leads.push((made_of.to_string(), model.to_string(), value));
        }
        for (measure, cell, value) in [
            (
                "states stored, reduced",
                &Point::states_cell as &dyn Fn(&Point) -> String,
                by_states,
            ),
            ("seconds, reduced", &Point::seconds_cell, by_seconds),
            ("memory for states, reduced", &Point::memory_cell, by_memory),
        ] {
            if let Some(((theirs, ours), value)) = both.zip(value) {
                out.ratios.push(Ratio {
                    subject: model.into(),
                    measure: measure.into(),
                    peer: "SPIN",
                    ours: cell(ours),
                    theirs: cell(theirs),
                    value,
                    is_at_most: !ours.complete,
                });
            }
        }
    }
    out.heading("Stored states");
    out.table(states);
    out.heading("Seconds");
    out.table(seconds);
    out.heading("Memory");
    out.text(
        "kB for the stored states, and bytes per state. For SPIN without its hash table, which takes 128 MB \
         by default; for mover the whole store, including index and parents.",
    );
    out.table(memory);
    for kind in ["locks", "channels"] {
        let of_kind: Vec<(String, f64)> = leads
            .iter()
            .filter(|(made_of, _, _)| made_of == kind)
            .map(|(_, model, value)| (model.clone(), *value))
            .collect();
        if let Some(figure) = mean_and_range(&of_kind) {
            out.headline(
                format!("stored states with both tools' reductions, SPIN divided by mover, models made of {kind}"),
                figure,
            );
        }
    }
    out
}

fn titled(first: &str, before: &[&str], behind: &[&str]) -> Table {
    let searches = SEARCHES.map(SearchMethod::name);
    Table::new(&[&[first], before, &searches, behind].concat())
}

impl Point {
    fn states_cell(&self) -> String {
        match self.states {
            Some(states) if self.complete => grouped(states),
            Some(states) => format!(">{}", grouped(states)),
            None => "-".into(),
        }
    }

    fn seconds_cell(&self) -> String {
        let sign = if self.complete { "" } else { ">" };
        format!("{sign}{:.2}", self.seconds)
    }

    fn memory_cell(&self) -> String {
        match self.store_bytes.zip(self.states) {
            Some((bytes, states)) if self.complete && states > 0 => format!(
                "{} kB, {:.1}",
                grouped(bytes / 1024),
                bytes as f64 / states as f64
            ),
            _ => "-".into(),
        }
    }
}

//! `mover tm check`: an algorithm and its properties.
//!
//! Each property is a question of its own, within the limits of time and memory. The answers are
//! collected first and told together, since a report and a JSON object are about all of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::ProgressBar;
use mover_cli::diagnostics::show;
use mover_cli::output::{OutputError, check_distinct, check_writable, write_file};
use mover_cli::quantities::{parse_megabytes, parse_seconds};
use mover_cli::{Cause, CliError, Exit};
use mover_source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager};
use mover_tm::check::{Failure, Options, Progress, Report, Verdict, check_telling};
use mover_tm::dot;
use mover_tm::graph::{AlgorithmGraph, Incomplete};
use mover_tm::language::program::Program;
use mover_tm::property::{Property, Safety};

use super::answer::{report_text, reports_json};
use super::{load, page, parse_count, refuse, say};
use crate::signals::stop_on_signal;
use mover_check::watch::{Ended, watch};
use mover_engine::{Cancel, Control, Stop};

const SHOWN_EVERY: Duration = Duration::from_millis(500);

#[derive(Args)]
pub struct CheckArgs {
    /// The algorithm
    file: String,
    /// What to check: strict-serializability, opacity, serializability,
    /// snapshot-isolation, obstruction-freedom, livelock-freedom or
    /// wait-freedom. May be repeated. Default: strict serializability and
    /// opacity
    #[arg(long = "property", value_parser = parse_property)]
    properties: Vec<Property>,
    /// Number of threads [default: 2]
    #[arg(long, value_parser = parse_count)]
    threads: Option<usize>,
    /// Number of variables [default: 2 for safety, 1 for liveness]
    #[arg(long, value_parser = parse_count)]
    vars: Option<usize>,
    /// The contention manager: aggressive, polite or one of the file's own.
    /// Without it, every choice is explored
    #[arg(long)]
    manager: Option<String>,
    /// Give up beyond this many pairs of algorithm and specification states, or a quarter as many
    /// states of the algorithm
    #[arg(long, default_value_t = 20_000_000)]
    max_states: usize,
    /// Give up after this time: seconds, or with a unit as in 10s, 2m
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Give up when more memory than this is needed: megabytes, or with a unit as in 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = parse_megabytes)]
    memory: Option<u64>,
    /// Judge transactions among themselves only: accesses outside of transactions (plain_read and
    /// plain_write) do not count
    #[arg(long)]
    weak_isolation: bool,
    /// Also search larger sizes, to test the reduction theorem
    #[arg(long)]
    cross_check: bool,
    /// Write the algorithm's automaton for Graphviz, if it is small
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write a report as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A name that no property of transactional memories has.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("there are {}", Property::ALL.map(Property::name).join(", "))]
struct UnknownProperty;

fn parse_property(name: &str) -> Result<Property, UnknownProperty> {
    Property::from_name(name).ok_or(UnknownProperty)
}

pub fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    check_outputs(args).map_err(|reason| CliError::usage("U002", reason))?;
    let mut sources = SourceMap::default();
    let program = load(&args.file, &mut sources)?;
    let manager = match &args.manager {
        None => Manager::Any,
        Some(name) => find_manager(&program, name)?,
    };
    let options = Options {
        threads: args.threads,
        variables: args.vars,
        manager,
        max_states: args.max_states,
        cross_check: args.cross_check,
        widen_scope: true,
        time_is_limited: args.timeout.is_some(),
        weak_isolation: args.weak_isolation,
    };
    if let Some(file) = &args.dot {
        write_dot(file, &program, &options, &sources)?;
    }
    let properties = match args.properties.is_empty() {
        true => vec![
            Property::Safety(Safety::StrictSerializability),
            Property::Safety(Safety::Opacity),
        ],
        false => args.properties.clone(),
    };
    let limits = limits(args);
    let mut reports = Vec::new();
    for property in properties {
        let started = Instant::now();
        match check_within(&limits, &program, property, &options) {
            Ok(report) => reports.push((report, started.elapsed().as_secs_f64())),
            Err(Failure::Input(error)) => return Err(refuse(&[*error], &sources)),
            Err(Failure::Internal(message)) => return Err(CliError::internal(message)),
        }
    }
    let mut noted = Vec::new();
    for note in reports.iter().flat_map(|(report, _)| &report.notes) {
        if !noted.contains(&note) {
            show(&sources, std::slice::from_ref(note));
            noted.push(note);
        }
    }
    let mut is_report_lost = false;
    if let Some(path) = &args.report {
        let page = page::page(&program, &args.file, &sources, &reports);
        if let Err(reason) = write_file(path, &page.html()) {
            CliError::output("U003", reason).print();
            // The answer is still worth telling.
            is_report_lost = true;
        }
    }
    if args.json {
        say(&reports_json(&reports).to_string())?;
    } else {
        let texts: Vec<String> = reports
            .iter()
            .map(|(report, _)| report_text(report))
            .collect();
        say(&texts.join("\n\n"))?;
    }
    let verdict = |wanted: Verdict| reports.iter().any(|(report, _)| report.verdict == wanted);
    if is_report_lost {
        return Err(CliError::Reported(Cause::Output));
    }
    Ok(if verdict(Verdict::Violated) {
        Exit::Unsafe
    } else if verdict(Verdict::Unknown) {
        Exit::Unknown
    } else {
        Exit::Success
    })
}

/// The contention manager of this name, of the file's own or one that every file has.
fn find_manager(program: &Program, name: &str) -> Result<Manager, CliError> {
    Manager::find(program, name).ok_or_else(|| {
        let own = program.managers.iter().map(|m| m.name.as_str());
        let known: Vec<&str> = ["aggressive", "polite"].into_iter().chain(own).collect();
        let known = known.join(", ");
        CliError::usage(
            "U002",
            format!("there is no contention manager `{name}`; there are {known}"),
        )
    })
}

/// What cannot be written, or would overwrite something, is refused before the search.
fn check_outputs(args: &CheckArgs) -> Result<(), OutputError> {
    let files = [("--dot", &args.dot), ("--report", &args.report)].into_iter();
    let outputs: Vec<(&str, &Path)> = files
        .filter_map(|(option, path)| Some((option, path.as_deref()?)))
        .collect();
    check_distinct(&[Path::new(&args.file)], &outputs)?;
    outputs
        .into_iter()
        .try_for_each(|(_, path)| check_writable(path))
}

fn limits(args: &CheckArgs) -> Control {
    let cancel = Cancel::default();
    stop_on_signal(&cancel);
    let megabytes = args
        .memory
        .and_then(|megabytes| usize::try_from(megabytes).ok());
    Control::cancelled_by(&cancel)
        .with_deadline(args.timeout.map(|timeout| Instant::now() + timeout))
        .with_memory(megabytes.map(|megabytes| megabytes.saturating_mul(1 << 20)))
}

/// One question, within limits. One that takes too much is answered for the sizes that were
/// finished, if there are any. On a terminal it is shown which size is searched.
fn check_within(
    control: &Control,
    program: &Program,
    property: Property,
    options: &Options,
) -> Result<Report, Failure> {
    let given = (program.clone(), options.clone());
    let work = move |_: &Control, tell: &mut (dyn FnMut(Progress) + Send)| {
        check_telling(&given.0, property, &given.1, tell)
    };
    let mut settled = None;
    let line = ProgressBar::new_spinner();
    line.enable_steady_tick(SHOWN_EVERY);
    let ended = watch(control, work, |told| match told {
        Progress::Searching(threads, variables) => {
            let size = format!("{threads} threads, {variables} variables");
            line.set_message(format!("{property}: searching {size}"));
        }
        Progress::Settled(report) => settled = Some(*report),
    });
    line.finish_and_clear();
    let (stopped, advice) = match ended {
        Ended::Answered(report) | Ended::OutOfMemory(report) => return report,
        Ended::Abandoned(Stop::Time) => ("The time limit was reached", "raise --timeout"),
        Ended::Abandoned(Stop::Memory) => ("The memory limit was reached", "raise --memory"),
        Ended::Abandoned(_) => ("The search was interrupted", "let it run longer"),
    };
    if let Some(mut report) = settled {
        report.explanation += &format!(" {stopped} while larger sizes were searched.");
        return Ok(report);
    }
    let why = format!("{stopped}; {advice}");
    let why = format!("{why}, or ask for fewer threads or variables");
    Ok(Report::stopped(program, property, options, &why))
}

fn write_dot(
    file: &Path,
    program: &Program,
    options: &Options,
    sources: &SourceMap,
) -> Result<(), CliError> {
    let (threads, variables) = (options.threads.unwrap_or(2), options.variables.unwrap_or(1));
    let algorithm = Algorithm::new(program, threads, variables, options.manager);
    let graph = match AlgorithmGraph::build(algorithm, false, dot::MAX_STATES) {
        Ok(graph) => graph,
        Err(Incomplete::Error(error)) => return Err(refuse(&[*error], sources)),
        Err(Incomplete::Limit { .. }) => {
            return Err(CliError::input(
                "U003",
                format!(
                    "a picture has at most {} states; ask for fewer threads or variables",
                    dot::MAX_STATES
                ),
            ));
        }
    };
    write_file(file, &dot::picture(&graph)).map_err(|reason| CliError::output("U003", reason))
}

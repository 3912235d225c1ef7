//! `mover bench holds DIR`: how far the reduction takes hold on the C programs of a directory.
//!
//! A reduction pays where a program's locks are recognised and its data is found to be protected.
//! For each program this measures every step on the way from there to smaller searches:
//!
//! - how many of its *mutexes* the plan knows as locks (`mover explain`);
//! - how many of its statements with shared accesses move: always, to one side, in some states,
//!   never;
//! - into how many *transactions* each thread is divided;
//! - the states stored by explicit search with `none`, `phase` and `dynamic`, and the time; also
//!   by `default`, which is `dynamic` unless a trial shows that it does not pay;
//! - the blocks and clauses that BMC needs to show that there are no longer runs.
//!
//! A program is *lock-based* if a mutex is acquired while there are several threads, otherwise
//! *lock-free*. States are compared only where both searches visit everything, that is, where both
//! answer `safe`: a search that ends with an error or at its limit has stored an arbitrary part.
//! The time compared is that of the search, without compiling; differences below a twentieth of a
//! second are noise.
//!
//! The programs need not be part of this repository, so the page of results is not written from
//! this measurement; `--csv` keeps the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use mover_cli::stderr_line;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::{self, Asked};
use crate::child;
use crate::error::{BenchError, MeasureError};
use crate::is_wanted;
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::Section;
use crate::table::{Table, median};

#[derive(Args)]
pub struct HoldsArgs {
    /// Directories with C programs (`*.c`, `*.i`), each file a program; subdirectories are searched,
    /// too. Of a `.c` and a `.i` file with the same name the preprocessed one is taken
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Searches to measure, separated by commas
    #[arg(long, value_name = "SEARCH", value_delimiter = ',',
          default_value = "none,phase,dynamic,default,bmc", value_parser = SEARCHES)]
    searches: Vec<String>,

    /// Only programs whose path contains one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,

    /// Further options for `mover explain` and `mover check`, each as one word
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
}

const SEARCHES: [&str; 5] = ["none", "phase", "dynamic", "default", "bmc"];

/// Seconds by which two searches differ by chance.
const NOISE_S: f64 = 0.05;

/// How much slower than `none` the default may be.
const TOO_SLOW: f64 = 1.5;

/// One program.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Held {
    program: String,
    kind: Kind,
    /// Why the program is refused.
    reason: String,
    mutexes: usize,
    recognised: usize,
    observed: usize,
    always: usize,
    one_side: usize,
    sometimes: usize,
    never: usize,
    /// Kinds of threads.
    threads: usize,
    transactions: usize,
    none: String,
    none_states: Option<u64>,
    none_s: Option<f64>,
    phase: String,
    phase_states: Option<u64>,
    phase_s: Option<f64>,
    dynamic: String,
    dynamic_states: Option<u64>,
    dynamic_s: Option<f64>,
    default: String,
    default_states: Option<u64>,
    default_s: Option<f64>,
    bmc: String,
    bmc_blocks: Option<u64>,
    bmc_clauses: Option<u64>,
    bmc_s: Option<f64>,
    /// Mutexes that are not recognised, each with the reason.
    missed: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    LockBased,
    LockFree,
    #[default]
    Refused,
}

impl Row for Held {
    fn check(&self) -> Result<(), RowError> {
        if self.recognised > self.mutexes {
            return Err(RowError::TooManyRecognised(self.program.clone()));
        }
        Ok(())
    }
}

impl Held {
    /// Stored states as a share of those of `none`, if both searches visited everything.
    fn share(&self, search: Explored) -> Option<f64> {
        let (verdict, states) = match search {
            Explored::Phase => (&self.phase, self.phase_states?),
            Explored::Dynamic => (&self.dynamic, self.dynamic_states?),
        };
        let is_whole = self.none == "safe" && verdict == "safe";
        let all = self.none_states.filter(|&all| is_whole && all > 0)?;
        Some(states as f64 / all as f64)
    }

    /// How many times slower than `none` the default is. Where it reaches the limit and `none` does
    /// not, this is the least it can be.
    fn slowdown(&self) -> Option<f64> {
        let answers = |verdict: &str| matches!(verdict, "safe" | "unsafe");
        let (ours, theirs) = (self.default_s?, self.none_s?);
        let is_comparable = self.none == self.default || self.default == "unknown";
        (answers(&self.none) && is_comparable && ours > theirs + NOISE_S)
            .then(|| ours / theirs.max(NOISE_S))
    }
}

#[derive(Clone, Copy)]
enum Explored {
    Phase,
    Dynamic,
}

pub fn run(args: &HoldsArgs) -> Result<Section, BenchError> {
    let mut programs = Vec::new();
    for directory in &args.directories {
        find_programs(directory, &mut programs)?;
    }
    programs.retain(|program| is_wanted(&program.to_string_lossy(), &args.only));
    if programs.is_empty() {
        return Err(ProgramsError::NoProgram.into());
    }
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for (number, program) in programs.iter().enumerate() {
        let held = measure(args, program)?;
        stderr_line!(
            "{}/{}: {}: {} of {} mutexes; states {} / {} / {}",
            number + 1,
            programs.len(),
            held.program,
            held.recognised,
            held.mutexes,
            shown(held.none_states),
            shown(held.phase_states),
            shown(held.dynamic_states)
        );
        recorder.record(held)?;
    }
    Ok(section(&recorder.finish()?))
}

fn shown(number: Option<u64>) -> String {
    number.map_or("-".into(), |number| number.to_string())
}

/// Why there are no programs to measure.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    #[error("no C program is below the directories")]
    NoProgram,
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// The programs below a directory, in the order of their names.
fn find_programs(directory: &Path, programs: &mut Vec<PathBuf>) -> Result<(), ProgramsError> {
    let describe = |source: std::io::Error| ProgramsError::Unreadable {
        path: directory.to_path_buf(),
        source,
    };
    let mut entries = std::fs::read_dir(directory)
        .map_err(describe)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(describe)?;
    entries.sort();
    let has = |path: &Path, extension: &str| path.extension().is_some_and(|it| it == extension);
    let preprocessed: BTreeSet<PathBuf> = (entries.iter())
        .filter(|path| has(path, "i"))
        .map(|path| path.with_extension(""))
        .collect();
    for path in entries {
        if path.is_dir() {
            find_programs(&path, programs)?;
        } else if has(&path, "i")
            || (has(&path, "c") && !preprocessed.contains(&path.with_extension("")))
        {
            programs.push(path);
        }
    }
    Ok(())
}

fn measure(args: &HoldsArgs, program: &Path) -> Result<Held, MeasureError> {
    let folder = program
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default();
    let stem = program.file_stem().unwrap_or_default();
    let mut held = Held {
        program: format!("{}/{}", folder.to_string_lossy(), stem.to_string_lossy()),
        ..Held::default()
    };
    match explain(args, program)? {
        Ok(json) => note_plan(&mut held, &json),
        Err(reason) => {
            held.reason = reason;
            return Ok(held);
        }
    }
    for search in &args.searches {
        let engine = match search.as_str() {
            "bmc" => ["--engine", "bmc", "--reduce", "phase"],
            "default" => ["--engine", "explicit", "--jobs", "1"],
            reduction => ["--engine", "explicit", "--reduce", reduction],
        };
        let mut options = vec!["--property", "unreach-call"];
        options.extend(engine);
        options.extend(args.options.iter().map(String::as_str));
        let (verdict, answer) = match ask::ask(&[program], &[], &options, Some(args.limit.seconds))?
        {
            Asked::Answered(answer) => (answer.verdict().to_string(), Some(answer)),
            Asked::NoAnswer(_) => ("refused".into(), None),
            Asked::TooLong => ("too long".into(), None),
        };
        let states = answer
            .as_ref()
            .and_then(|answer| answer.json["states"].as_u64());
        let seconds = answer
            .as_ref()
            .and_then(|answer| answer.json["time_s"].as_f64());
        let seconds = seconds.map(rounded);
        match search.as_str() {
            "none" => (held.none, held.none_states, held.none_s) = (verdict, states, seconds),
            "phase" => (held.phase, held.phase_states, held.phase_s) = (verdict, states, seconds),
            "default" => {
                (held.default, held.default_states, held.default_s) = (verdict, states, seconds);
            }
            "dynamic" => {
                (held.dynamic, held.dynamic_states, held.dynamic_s) = (verdict, states, seconds);
            }
            _ => {
                held.bmc = verdict;
                held.bmc_blocks = answer.as_ref().and_then(|it| it.json["depth"].as_u64());
                held.bmc_clauses = answer.as_ref().and_then(|it| it.symbolic("clauses"));
                held.bmc_s = seconds;
            }
        }
    }
    Ok(held)
}

/// The plan of a program, or why there is none: a text for a column of the table, mostly in the words
/// of `mover explain`.
fn explain(args: &HoldsArgs, program: &Path) -> Result<Result<Value, String>, MeasureError> {
    let mover = ask::mover()?;
    let mut command = Command::new(mover);
    command
        .args(["explain", "--json"])
        .args(&args.options)
        .arg(program);
    // The plan has no limit of its own.
    let most = Duration::from_secs(u64::from(args.limit.seconds) * 4);
    let Some(ran) = child::run_for(&mut command, most)? else {
        return Ok(Err("no plan within the limit".into()));
    };
    Ok(serde_json::from_str(&ran.stdout).map_err(|_| {
        let mut errors = ran.stderr.lines().filter(|line| line.starts_with("error"));
        errors.next().unwrap_or("no plan").to_string()
    }))
}

fn note_plan(held: &mut Held, json: &Value) {
    let list = |name: &str| json[name].as_array().map_or(&[][..], Vec::as_slice);
    let number = |name: &str| json["accesses"][name].as_u64().unwrap_or(0) as usize;
    let is = |mutex: &&Value, what: &str| mutex[what] == true;
    let mutexes = list("mutexes");
    held.mutexes = mutexes.len();
    held.recognised = mutexes.iter().filter(|it| is(it, "recognised")).count();
    held.observed = mutexes.iter().filter(|it| is(it, "observed")).count();
    held.kind = match held.mutexes {
        0 => Kind::LockFree,
        _ => Kind::LockBased,
    };
    held.always = number("always");
    held.one_side = number("one_side");
    held.sometimes = number("sometimes");
    held.never = number("never");
    let transactions = list("transactions");
    let threads: BTreeSet<&str> = transactions
        .iter()
        .filter_map(|it| it["thread"].as_str())
        .collect();
    held.threads = threads.len();
    held.transactions = transactions.len();
    let missed: Vec<String> = mutexes
        .iter()
        .filter(|it| !is(it, "recognised"))
        .map(|it| {
            let text = |field: &str| it[field].as_str().unwrap_or_default().to_string();
            format!("{}: {}", text("name"), text("why"))
        })
        .collect();
    held.missed = missed.join("; ");
}

pub fn section(results: &Results<Held>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Where the reduction holds");
    out.text(format!(
        "Mutexes that the plan knows as locks, statements with shared accesses by class, and states stored by \
         explicit search as a share of those without reduction, where both searches end within {limit}. \
         `slower` counts programs on which the default takes more than {TOO_SLOW} times as long as `none`."
    ));
    let mut table = Table::new(&[
        "programs",
        "number",
        "mutexes",
        "recognised",
        "share",
        "always",
        "one side",
        "sometimes",
        "never",
        "transactions per thread",
        "compared",
        "phase median",
        "phase worst",
        "dynamic median",
        "dynamic worst",
        "BMC complete",
        "slower",
    ]);
    for (name, kind) in [
        ("lock-based", Kind::LockBased),
        ("lock-free", Kind::LockFree),
    ] {
        let rows: Vec<&Held> = results.rows.iter().filter(|row| row.kind == kind).collect();
        if !rows.is_empty() {
            table.row(summary(name, &rows));
        }
    }
    out.table(table);
    let refused = results.rows.iter().filter(|row| row.kind == Kind::Refused);
    out.text(format!("{} programs are refused.", refused.count()));

    let mut causes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in &results.rows {
        for missed in row.missed.split("; ").filter(|missed| !missed.is_empty()) {
            let why = missed.split_once(": ").map_or(missed, |(_, why)| why);
            causes.entry(general(why)).or_default().push(&row.program);
        }
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
    let mut table = Table::new(&["mutexes not recognised because", "mutexes", "for example"]);
    for (cause, programs) in causes {
        table.row(vec![cause, programs.len().to_string(), programs[0].into()]);
    }
    out.table(table);

    let mut table = Table::new(&[
        "most states left",
        "kind",
        "none",
        "phase",
        "dynamic",
        "share",
    ]);
    let mut shares: Vec<(f64, &Held)> = (results.rows.iter())
        .filter_map(|row| Some((row.share(Explored::Dynamic)?, row)))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (share, row) in shares.into_iter().take(20) {
        let kind = if row.kind == Kind::LockBased {
            "lock-based"
        } else {
            "lock-free"
        };
        table.row(vec![
            row.program.clone(),
            kind.into(),
            shown(row.none_states),
            shown(row.phase_states),
            shown(row.dynamic_states),
            format!("{share:.2}"),
        ]);
    }
    out.table(table);

    let mut table = Table::new(&[
        "slower than without reduction",
        "none s",
        "default s",
        "times",
    ]);
    for row in &results.rows {
        if let Some(times) = row.slowdown().filter(|&times| times > TOO_SLOW) {
            table.row(vec![
                row.program.clone(),
                row.none_s
                    .map_or(String::new(), |seconds| format!("{seconds:.2}")),
                row.default_s
                    .map_or(String::new(), |seconds| format!("{seconds:.2}")),
                format!("{times:.1}"),
            ]);
        }
    }
    out.table(table);
    out
}

/// A reason without its line, so that reasons of several programs are one.
fn general(why: &str) -> String {
    let without = why
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(' '));
    without.map_or(why, |(_, rest)| rest).to_string()
}

fn summary(name: &str, rows: &[&Held]) -> Vec<String> {
    let sum = |of: fn(&Held) -> usize| rows.iter().map(|row| of(row)).sum::<usize>();
    let (mutexes, recognised) = (sum(|row| row.mutexes), sum(|row| row.recognised));
    let shares = |search: Explored| -> Vec<f64> {
        rows.iter().filter_map(|row| row.share(search)).collect()
    };
    let figure = |value: f64| match value.is_finite() {
        true => format!("{value:.3}"),
        false => "-".into(),
    };
    let worst = |shares: &[f64]| figure(shares.iter().copied().fold(f64::NAN, f64::max));
    let (phase, dynamic) = (shares(Explored::Phase), shares(Explored::Dynamic));
    let slower = rows
        .iter()
        .filter(|row| row.slowdown().is_some_and(|times| times > TOO_SLOW));
    let per_thread = rows.iter().filter(|row| row.threads > 0);
    let per_thread = per_thread.map(|row| row.transactions as f64 / row.threads as f64);
    vec![
        name.into(),
        rows.len().to_string(),
        mutexes.to_string(),
        recognised.to_string(),
        match mutexes {
            0 => "-".into(),
            _ => format!("{:.1} %", 100.0 * recognised as f64 / mutexes as f64),
        },
        sum(|row| row.always).to_string(),
        sum(|row| row.one_side).to_string(),
        sum(|row| row.sometimes).to_string(),
        sum(|row| row.never).to_string(),
        format!("{:.1}", median(per_thread.collect())),
        dynamic.len().max(phase.len()).to_string(),
        figure(median(phase.clone())),
        worst(&phase),
        figure(median(dynamic.clone())),
        worst(&dynamic),
        rows.iter()
            .filter(|row| row.bmc == "safe")
            .count()
            .to_string(),
        slower.count().to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(none: (&str, u64, f64), dynamic: (&str, u64, f64)) -> Held {
        Held {
            none: none.0.into(),
            none_states: Some(none.1),
            none_s: Some(none.2),
            dynamic: dynamic.0.into(),
            dynamic_states: Some(dynamic.1),
            dynamic_s: Some(dynamic.2),
            default: dynamic.0.into(),
            default_states: Some(dynamic.1),
            default_s: Some(dynamic.2),
            ..Held::default()
        }
    }

    #[test]
    fn states_are_compared_only_if_both_searches_visit_everything() {
        let both = row(("safe", 100, 1.0), ("safe", 10, 1.0));
        assert_eq!(both.share(Explored::Dynamic), Some(0.1));
        let cut_off = row(("unknown", 100, 1.0), ("safe", 10, 1.0));
        assert_eq!(cut_off.share(Explored::Dynamic), None);
        let error = row(("unsafe", 100, 1.0), ("unsafe", 10, 1.0));
        assert_eq!(error.share(Explored::Dynamic), None);
    }

    #[test]
    fn a_slowdown_is_more_than_noise_and_a_limit_counts() {
        assert!(
            row(("safe", 9, 0.001), ("safe", 9, 0.04))
                .slowdown()
                .is_none()
        );
        assert_eq!(
            row(("safe", 9, 1.0), ("safe", 9, 2.0)).slowdown(),
            Some(2.0)
        );
        assert_eq!(
            row(("safe", 9, 1.0), ("unknown", 9, 5.0)).slowdown(),
            Some(5.0)
        );
        assert!(
            row(("unknown", 9, 5.0), ("safe", 9, 6.0))
                .slowdown()
                .is_none()
        );
    }

    #[test]
    fn a_plan_is_counted() {
        let plan = json!({
            "mutexes": [
                {"name": "m", "recognised": true, "observed": true, "why": null},
                {"name": "q", "recognised": false, "observed": false, "why": "line 7 frees it"},
            ],
            "accesses": {"always": 4, "one_side": 3, "sometimes": 2, "never": 1},
            "transactions": [{"thread": "a"}, {"thread": "a"}, {"thread": "b"}],
        });
        let mut held = Held::default();
        note_plan(&mut held, &plan);
        assert_eq!((held.mutexes, held.recognised, held.observed), (2, 1, 1));
        assert_eq!(
            (held.always, held.one_side, held.sometimes, held.never),
            (4, 3, 2, 1)
        );
        assert_eq!((held.threads, held.transactions), (2, 3));
        assert_eq!(held.missed, "q: line 7 frees it");
        assert_eq!(general("line 7 frees it"), "frees it");
    }

    #[test]
    fn the_preprocessed_program_is_taken() {
        let scratch = crate::scratch().expect("a directory");
        for name in ["a.c", "a.i", "b.c", "c.yml"] {
            std::fs::write(scratch.path().join(name), "").expect("written");
        }
        let mut found = Vec::new();
        assert!(find_programs(scratch.path(), &mut found).is_ok());
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["a.i", "b.c"]);
    }
}

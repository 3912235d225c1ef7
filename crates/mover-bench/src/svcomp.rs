//! `mover bench svcomp DIR`: verdicts on the tasks of a checkout of SV-COMP's benchmarks.
//!
//! A *task* is a file `NAME.yml` in SV-COMP's format: the program, and for each property the
//! verdict that the authors expect. Each task is asked of each engine with the same limit, as a
//! user would ask it, with no option besides the property and the data model. An answer is one of five kinds:
//!
//! - *correct*: the expected verdict;
//! - *wrong*: the opposite verdict. One wrong answer is worth more attention than all others;
//! - *unknown*: no verdict, with mover's reason;
//! - *refused*: a construct that the front end names;
//! - *error*: mover itself failed, or did not keep its limit.
//!
//! The programs are not part of this repository, so the directory is an argument. The page of results
//! has the table if `bench/results/svcomp.csv` is there.
//!
//! A task names its data model; tasks of the first format, which do not, have 32-bit pointers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_cli::stderr_line;
use serde::{Deserialize, Serialize};
use yaml_rust2::{ScanError, Yaml, YamlLoader};

use crate::ask::{self, AskError, Asked};
use crate::error::{BenchError, MeasureError};
use crate::is_wanted;
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::Section;
use crate::table::Table;

#[derive(Args)]
pub struct SvcompArgs {
    /// Directories with SV-COMP tasks (`*.yml` beside the programs); subdirectories are searched, too
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Engines to ask, separated by commas
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', default_value = "auto",
          value_parser = ENGINES)]
    engine: Vec<String>,

    /// Properties to ask for, separated by commas
    #[arg(long, value_name = "PROPERTY", value_delimiter = ',', default_value = "unreach-call",
          value_parser = PROPERTIES.map(|(_, property)| property))]
    property: Vec<String>,

    /// Only tasks whose path contains one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,

    /// Further options for `mover check`, each as one word
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
}

const ENGINES: [&str; 6] = ["auto", "explicit", "bmc", "ic3", "modular", "token"];

/// SV-COMP's property files and mover's names.
const PROPERTIES: [(&str, &str); 4] = [
    ("unreach-call", "unreach-call"),
    ("no-data-race", "no-data-race"),
    ("no-overflow", "no-overflow"),
    ("valid-memsafety", "memory-safety"),
];

/// One answer.
#[derive(Clone, Serialize, Deserialize)]
pub struct Answered {
    task: String,
    property: String,
    expected: bool,
    engine: String,
    kind: Kind,
    verdict: String,
    /// The engine that answered.
    by: String,
    reason: String,
    wall_s: f64,
    cpu_s: Option<f64>,
    peak_mb: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Correct,
    Wrong,
    Unknown,
    Refused,
    Error,
}

impl Row for Answered {
    fn check(&self) -> Result<(), RowError> {
        if !ENGINES.contains(&self.engine.as_str()) {
            return Err(RowError::unknown("engine", &self.engine));
        }
        if !PROPERTIES.iter().any(|(_, known)| *known == self.property) {
            return Err(RowError::unknown("property", &self.property));
        }
        Ok(())
    }
}

/// Why there are no tasks.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error(
        "no task (NAME.yml with a property among {}) is below {}",
        .properties.join(", "), shown(.directories)
    )]
    NoTask {
        properties: Vec<String>,
        directories: Vec<PathBuf>,
    },
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", .path.display())]
    Malformed {
        path: PathBuf,
        source: MalformedTask,
    },
}

/// What is wrong with the file of a task.
#[derive(Debug, thiserror::Error)]
pub enum MalformedTask {
    #[error(transparent)]
    Yaml(#[from] ScanError),
    #[error("a file without a name")]
    UnnamedFile,
    #[error("there are no `input_files`")]
    NoFiles,
    #[error("the data model `{0}` is not known")]
    DataModel(String),
    #[error("`properties` is no list")]
    NoProperties,
}

fn shown(directories: &[PathBuf]) -> String {
    let names = directories.iter().map(|path| path.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// A program with one property and the verdict that is expected.
#[derive(Debug, PartialEq)]
pub struct Task {
    pub name: String,
    pub programs: Vec<PathBuf>,
    /// The option for the task's data model.
    pub model: &'static str,
    property: &'static str,
    pub expected: bool,
}

/// The tasks below some directories that ask for one of the properties. There is at least one.
pub fn tasks_below(
    directories: &[PathBuf],
    words: &[String],
    properties: &[String],
) -> Result<Vec<Task>, TaskError> {
    let mut tasks = Vec::new();
    for directory in directories {
        find_tasks(directory, &mut tasks)?;
    }
    tasks.retain(|task| {
        is_wanted(&task.name, words) && properties.iter().any(|asked| asked == task.property)
    });
    if tasks.is_empty() {
        return Err(TaskError::NoTask {
            properties: properties.to_vec(),
            directories: directories.to_vec(),
        });
    }
    Ok(tasks)
}

pub fn run(args: &SvcompArgs) -> Result<Section, BenchError> {
    let tasks = tasks_below(&args.directories, &args.only, &args.property)?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    recorder.on_set(&args.directories);
    for engine in &args.engine {
        for (number, task) in tasks.iter().enumerate() {
            let answered = ask_for(args, task, engine).map_err(MeasureError::Ask)?;
            stderr_line!(
                "{engine} {}/{}: {} {}: {:?} ({:.1} s)",
                number + 1,
                tasks.len(),
                task.name,
                task.property,
                answered.kind,
                answered.wall_s
            );
            recorder.record(answered)?;
        }
    }
    Ok(section(&recorder.finish()?))
}

fn ask_for(args: &SvcompArgs, task: &Task, engine: &str) -> Result<Answered, AskError> {
    let mut options = vec!["--property", task.property, "--engine", engine, task.model];
    options.extend(args.options.iter().map(String::as_str));
    let seconds = args.limit.seconds;
    let programs: Vec<&Path> = task.programs.iter().map(PathBuf::as_path).collect();
    let mut row = Answered {
        task: task.name.clone(),
        property: task.property.into(),
        expected: task.expected,
        engine: engine.into(),
        kind: Kind::Error,
        verdict: String::new(),
        by: String::new(),
        reason: String::new(),
        wall_s: f64::from(seconds),
        cpu_s: None,
        peak_mb: None,
    };
    match ask::ask(&programs, &[], &options, Some(seconds))? {
        Asked::TooLong => row.reason = "did not keep its time limit".into(),
        Asked::NoAnswer(ran) => {
            row.kind = if ran.code == Some(2) {
                Kind::Refused
            } else {
                Kind::Error
            };
            row.reason = without_directories(&first_error(&ran.stderr), &args.directories);
            row.wall_s = rounded(ran.wall_s);
            row.cpu_s = ran.cpu_s.map(rounded);
        }
        Asked::Answered(answer) => {
            row.verdict = answer.verdict().into();
            row.by = answer.json["engine"].as_str().unwrap_or_default().into();
            row.reason = answer.reason().into();
            row.wall_s = rounded(answer.ran.wall_s);
            row.cpu_s = answer.ran.cpu_s.map(rounded);
            row.peak_mb = answer.json["peak_mb"].as_f64();
            row.kind = kind(answer.verdict(), task.expected);
        }
    }
    Ok(row)
}

/// `safe up to` a bound is no verdict: the tasks ask about all runs.
fn kind(verdict: &str, expected: bool) -> Kind {
    match (verdict, expected) {
        ("safe", true) | ("unsafe", false) => Kind::Correct,
        ("safe", false) | ("unsafe", true) => Kind::Wrong,
        _ => Kind::Unknown,
    }
}

/// The first line that tells of an error.
fn first_error(stderr: &str) -> String {
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let mut all = lines.clone();
    let line = lines.find(|line| line.starts_with("error"));
    line.or_else(|| all.next_back())
        .unwrap_or_default()
        .trim()
        .to_string()
}

/// A message without the places of the directories on this machine.
fn without_directories(message: &str, directories: &[PathBuf]) -> String {
    let parents = directories.iter().filter_map(|path| path.parent());
    parents
        .filter(|path| path.file_name().is_some())
        .map(|path| format!("{}/", path.display()))
        .fold(message.to_string(), |message, parent| {
            message.replace(&parent, "")
        })
}

/// All tasks below a directory, in the order of their names.
fn find_tasks(directory: &Path, tasks: &mut Vec<Task>) -> Result<(), TaskError> {
    let unreadable = |path: &Path| {
        let path = path.to_path_buf();
        move |source: std::io::Error| TaskError::Unreadable { path, source }
    };
    let mut entries = std::fs::read_dir(directory)
        .map_err(unreadable(directory))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable(directory))?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find_tasks(&path, tasks)?;
        } else if path.extension().is_some_and(|extension| extension == "yml") {
            let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            let found = read_task(&path, &text);
            tasks.extend(found.map_err(|source| TaskError::Malformed { path, source })?);
        }
    }
    Ok(())
}

/// The tasks of one file: a property that mover does not know is left out.
fn read_task(path: &Path, text: &str) -> Result<Vec<Task>, MalformedTask> {
    let documents = YamlLoader::load_from_str(text)?;
    let document = documents.first().unwrap_or(&Yaml::BadValue);
    // Some folders keep other YAML files beside the tasks.
    if document["properties"].is_badvalue() {
        return Ok(Vec::new());
    }
    let directory = path.parent().unwrap_or(Path::new(""));
    let programs: Vec<PathBuf> = match &document["input_files"] {
        Yaml::String(file) => vec![directory.join(file)],
        Yaml::Array(files) => {
            let names = files
                .iter()
                .map(|file| file.as_str().ok_or(MalformedTask::UnnamedFile));
            names
                .map(|name| name.map(|name| directory.join(name)))
                .collect::<Result<_, _>>()?
        }
        _ => return Err(MalformedTask::NoFiles),
    };
    let model = match document["options"]["data_model"].as_str() {
        Some("LP64") => "--64",
        Some("ILP32") | None => "--32",
        Some(other) => return Err(MalformedTask::DataModel(other.into())),
    };
    let folder = directory.file_name().unwrap_or_default().to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let properties = document["properties"]
        .as_vec()
        .ok_or(MalformedTask::NoProperties)?;
    let known = properties.iter().filter_map(|property| {
        let file = property["property_file"].as_str()?;
        let name = Path::new(file).file_stem()?.to_string_lossy();
        let (_, property_name) = PROPERTIES.into_iter().find(|(known, _)| *known == name)?;
        Some(Task {
            name: format!("{folder}/{stem}"),
            programs: programs.clone(),
            model,
            property: property_name,
            // A task without an expected verdict is an open question.
            expected: property["expected_verdict"].as_bool()?,
        })
    });
    Ok(known.collect())
}

pub fn section(results: &Results<Answered>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("SV-COMP tasks");
    out.text(format!(
        "`mover check` on each task, one at a time, with {limit} per task and no option besides property, \
         engine and data model. `proved` and `refuted` are correct answers for tasks that are expected to hold or not."
    ));
    let mut engines: Vec<&str> = Vec::new();
    for row in &results.rows {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
    }
    let mut table = Table::new(&[
        "engine", "property", "tasks", "correct", "proved", "refuted", "wrong", "unknown",
        "refused", "error", "CPU s", "most MB",
    ]);
    for &engine in &engines {
        for (_, property) in PROPERTIES {
            let rows: Vec<&Answered> = results
                .rows
                .iter()
                .filter(|row| row.engine == engine && row.property == property)
                .collect();
            if rows.is_empty() {
                continue;
            }
            let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
            let proved = rows
                .iter()
                .filter(|row| row.kind == Kind::Correct && row.expected)
                .count();
            let correct = count(Kind::Correct);
            let cpu: f64 = rows.iter().map(|row| row.cpu_s.unwrap_or(row.wall_s)).sum();
            let most = rows
                .iter()
                .filter_map(|row| row.peak_mb)
                .fold(0.0, f64::max);
            table.row(vec![
                engine.into(),
                property.into(),
                rows.len().to_string(),
                correct.to_string(),
                proved.to_string(),
                (correct - proved).to_string(),
                count(Kind::Wrong).to_string(),
                count(Kind::Unknown).to_string(),
                count(Kind::Refused).to_string(),
                count(Kind::Error).to_string(),
                format!("{cpu:.0}"),
                format!("{most:.0}"),
            ]);
        }
    }
    out.table(table);
    for kind in [Kind::Wrong, Kind::Error, Kind::Refused, Kind::Unknown] {
        let mut table = Table::new(&["reason", "tasks", "engine", "for example"]);
        for &engine in &engines {
            for (reason, tasks) in by_reason(&results.rows, engine, kind) {
                table.row(vec![
                    reason,
                    tasks.len().to_string(),
                    engine.into(),
                    tasks[0].into(),
                ]);
            }
        }
        if !table.is_empty() {
            out.heading(format!("{kind:?}"));
            out.table(table);
        }
    }
    out
}

/// Tasks with the same reason, the most frequent reason first.
fn by_reason<'a>(rows: &'a [Answered], engine: &str, kind: Kind) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| row.engine == engine && row.kind == kind)
    {
        let reason = match kind {
            Kind::Wrong => format!("{} instead of {}", row.verdict, row.expected),
            _ => general(&row.reason),
        };
        groups.entry(reason).or_default().push(&row.task);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, tasks)| std::cmp::Reverse(tasks.len()));
    groups
}

/// A reason without its numbers, so that reasons of several tasks are one.
fn general(reason: &str) -> String {
    let mut out = String::new();
    for c in reason.chars().take(120) {
        match c {
            '0'..='9' if out.ends_with('N') => {}
            '.' | ',' if out.ends_with('N') => out.push(c),
            '0'..='9' => out.push('N'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "format_version: '2.0'\n\ninput_files: 'a.i'\n\nproperties:\n  - property_file: \
                        ../properties/unreach-call.prp\n    expected_verdict: false\n  - property_file: \
                        ../properties/termination.prp\n    expected_verdict: true\n  - property_file: \
                        ../properties/no-data-race.prp\n";

    #[test]
    fn a_task_names_its_program_property_and_verdict() {
        let tasks = read_task(Path::new("c/pthread/a.yml"), TASK).expect("a task");
        assert_eq!(
            tasks,
            [Task {
                name: "pthread/a".into(),
                programs: vec!["c/pthread/a.i".into()],
                model: "--32",
                property: "unreach-call",
                expected: false,
            }]
        );
    }

    #[test]
    fn other_files_are_no_tasks_and_broken_ones_are_named() {
        assert!(read_task(Path::new("a.yml"), "x: 1\n").is_ok_and(|tasks| tasks.is_empty()));
        assert!(read_task(Path::new("a.yml"), "properties: [\n").is_err());
        assert!(read_task(Path::new("a.yml"), "properties: []\n").is_err());
        let odd = format!("{TASK}options:\n  data_model: LLP64\n");
        assert!(
            read_task(Path::new("a.yml"), &odd)
                .is_err_and(|error| error.to_string().contains("LLP64"))
        );
    }

    #[test]
    fn a_bounded_answer_is_no_verdict() {
        assert_eq!(kind("safe", true), Kind::Correct);
        assert_eq!(kind("unsafe", true), Kind::Wrong);
        assert_eq!(kind("safe", false), Kind::Wrong);
        assert_eq!(kind("safe up to", false), Kind::Unknown);
    }

    #[test]
    fn reasons_are_grouped_without_their_numbers() {
        assert_eq!(general("20.5 s, 1,200 states"), "N.N s, N,N states");
    }

    #[test]
    fn messages_do_not_say_where_the_tasks_are() {
        let directories = [PathBuf::from("/somewhere/c/pthread")];
        let message = "error[C013]: /somewhere/c/pthread/a.c:3: no such thing";
        assert_eq!(
            without_directories(message, &directories),
            "error[C013]: pthread/a.c:3: no such thing"
        );
        let here = [PathBuf::from("pthread"), PathBuf::from("/pthread")];
        assert_eq!(without_directories(message, &here), message);
    }
}

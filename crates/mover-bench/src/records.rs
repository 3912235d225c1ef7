//! Raw results: one CSV file for each measurement, from which everything else is made.
//!
//! A measurement and the page that shows it are two programs. The first takes half an hour
//! and may be cut off; the second takes no time and can be repeated. So every row is on disk
//! as soon as it is measured, and a file says itself where it comes from: lines that begin
//! with `#` name the command, the day, the machine and the versions before the first row, and
//! a last one says that the measurement came to its end. What a row holds is a struct with
//! names for columns, written and read by the same definition ([`Row`]).
//!
//! Whoever reads such a file may have edited it. What is not a number, not finite, below zero, or
//! an unknown name is an error with its line.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use clap::Args;
use mover_report::witness::timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::child;
use crate::error::BenchError;
use mover_cli::output::check_writable;

/// What all measurements are told.
#[derive(Args)]
pub struct RecordArgs {
    /// Write each measurement to this file as soon as it is made
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl RecordArgs {
    /// The file that is written, by option.
    pub fn output(&self) -> Option<(&'static str, &Path)> {
        Some(("--csv", self.csv.as_deref()?))
    }
}

/// How long a point may take.
#[derive(Args)]
pub struct LimitArgs {
    /// Give up a measurement after this many seconds
    #[arg(long = "limit", alias = "timeout", value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
}

/// A line of a file of results.
pub trait Row: Serialize + DeserializeOwned {
    /// Whether the names in it are known; else what is wrong.
    fn check(&self) -> Result<(), RowError>;
}

/// What is wrong with a row whose fields are of the right types.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    #[error("no {what} is called `{name}`")]
    Unknown { what: &'static str, name: String },
    #[error("there is no measurement with {1} {0}")]
    Impossible(&'static str, u32),
    #[error("{0} is not searched with jobs")]
    NoJobs(&'static str),
    #[error("{0}: a complete search without states")]
    NoStates(String),
    #[error("{0}: more mutexes are recognised than there are")]
    TooManyRecognised(String),
}

impl RowError {
    pub fn unknown(what: &'static str, name: &str) -> Self {
        RowError::Unknown {
            what,
            name: name.into(),
        }
    }
}

/// A file of results cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", .path.display())]
pub struct RecordError {
    path: PathBuf,
    source: csv::Error,
}

/// A file of results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", .path.display())]
    Malformed {
        path: PathBuf,
        source: MalformedResults,
    },
}

/// What is wrong with the text of a file of results.
#[derive(Debug, thiserror::Error)]
pub enum MalformedResults {
    #[error("line 1: there is no line `# {0}: …` before the columns")]
    NoHead(&'static str),
    #[error("{}", sentence(.source, .columns.as_ref()))]
    Csv {
        source: csv::Error,
        columns: Option<csv::StringRecord>,
    },
    #[error("two columns are called `{0}`")]
    ColumnTwice(String),
    #[error("line {line}, column `{column}`: `{field}` was not measured")]
    NotMeasured {
        line: u64,
        column: String,
        field: String,
    },
    #[error("line {line}: {source}")]
    Row { line: u64, source: RowError },
    #[error("there is no row; it has to be measured again")]
    NoRow,
}

/// What a file says about where its rows come from, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Head(pub Vec<(String, String)>);

impl Head {
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }
}

/// A measurement, just made or read from its file.
#[derive(Debug)]
pub struct Results<T> {
    pub head: Head,
    pub rows: Vec<T>,
    /// Whether it came to its end.
    pub is_complete: bool,
}

/// Keeps rows, and writes each to the file if there is one.
pub struct Recorder<T> {
    results: Results<T>,
    path: Option<PathBuf>,
    /// Opened for the first row: what cannot be measured leaves older results alone.
    file: Option<csv::Writer<File>>,
}

impl<T: Row> Recorder<T> {
    pub fn begin(args: &RecordArgs, limit: Option<&LimitArgs>) -> Result<Self, BenchError> {
        if let Some(path) = &args.csv {
            check_writable(path).map_err(BenchError::Options)?;
        }
        let head = match &args.csv {
            Some(_) => here_and_now(limit),
            // It will not be read.
            None => Head(limit_entry(limit).into_iter().collect()),
        };
        Ok(Recorder {
            results: Results {
                head,
                rows: Vec::new(),
                is_complete: false,
            },
            path: args.csv.clone(),
            file: None,
        })
    }

    /// Says of which programs the measurement is, if they are not part of this repository: by the names
    /// of their directories. Where these are on this machine is left out.
    pub fn on_set(&mut self, directories: &[PathBuf]) {
        let name = |path: &PathBuf| match path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => path.display().to_string(),
        };
        let head = &mut self.results.head.0;
        for (_, command) in head.iter_mut().filter(|(key, _)| key == "command") {
            let mut words: Vec<String> = command.split(' ').map(ToString::to_string).collect();
            for path in directories {
                let given = quoted(&path.to_string_lossy());
                let places = words.iter_mut().filter(|word| **word == given);
                places.for_each(|word| *word = name(path));
            }
            *command = words.join(" ");
        }
        let names: Vec<String> = directories.iter().map(name).collect();
        head.push(("set".into(), one_line(&names.join(", "))));
    }

    pub fn record(&mut self, row: T) -> Result<(), RecordError> {
        if let Some(path) = &self.path {
            let head = &self.results.head;
            write_row(path, head, &mut self.file, &row).map_err(|source| RecordError {
                path: path.clone(),
                source,
            })?;
        }
        self.results.rows.push(row);
        Ok(())
    }

    pub fn finish(self) -> Result<Results<T>, RecordError> {
        let mut results = self.results;
        if let Some((path, file)) = self.path.zip(self.file) {
            let flushed = file.into_inner().map_err(|error| error.into_error());
            flushed
                .and_then(|mut file| file.write_all(END.as_bytes()))
                .map_err(|error| RecordError {
                    path,
                    source: error.into(),
                })?;
        }
        results.is_complete = true;
        Ok(results)
    }
}

fn write_row<T: Row>(
    path: &Path,
    head: &Head,
    open: &mut Option<csv::Writer<File>>,
    row: &T,
) -> Result<(), csv::Error> {
    let file = match open {
        Some(file) => file,
        None => {
            let mut file = File::create(path)?;
            file.write_all(head.text().as_bytes())?;
            open.insert(csv::Writer::from_writer(file))
        }
    };
    file.serialize(row)?;
    Ok(file.flush()?)
}

/// The last line of a measurement that came to its end.
const END: &str = "# end\n";

impl Head {
    fn text(&self) -> String {
        let mut out = String::new();
        for (key, value) in &self.0 {
            let _ = writeln!(out, "# {key}: {value}");
        }
        out
    }
}

fn limit_entry(limit: Option<&LimitArgs>) -> Option<(String, String)> {
    limit.map(|limit| ("limit".into(), format!("{} s", limit.seconds)))
}

/// Which command this is, when, on which machine and with which tools.
fn here_and_now(limit: Option<&LimitArgs>) -> Head {
    let mut entries = Vec::new();
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| quoted(&argument.to_string_lossy()))
        .collect();
    let mut add = |key: &str, value: String| entries.push((key.to_string(), one_line(&value)));
    add("command", format!("mover bench {}", arguments.join(" ")));
    let now = timestamp(SystemTime::now());
    add("date", now.get(..10).unwrap_or(&now).to_string());
    if let Some((key, value)) = limit_entry(limit) {
        add(&key, value);
    }
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let load = file("/proc/loadavg");
    add(
        "load",
        load.split_whitespace().next().unwrap_or("unknown").into(),
    );
    let build = if cfg!(debug_assertions) {
        FOR_TESTS
    } else {
        ""
    };
    add(
        "mover",
        format!("{}, {}{build}", env!("CARGO_PKG_VERSION"), commit()),
    );
    add("kernel", or_unknown(&file("/proc/sys/kernel/osrelease")));
    let behind = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_once(':'));
        or_unknown(value.map_or("", |(_, value)| value))
    };
    add("processor", behind(&file("/proc/cpuinfo"), "model name"));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    add("cores", cores.to_string());
    let memory = behind(&file("/proc/meminfo"), "MemTotal");
    let kilobytes = memory
        .split_whitespace()
        .next()
        .and_then(|kb| kb.parse::<f64>().ok());
    add(
        "memory",
        kilobytes.map_or(memory.clone(), |kb| {
            format!("{:.1} GB", kb / 1024.0 / 1024.0)
        }),
    );
    for (tool, options) in [
        ("rustc", &["--version"][..]),
        ("clang-19", &["--version"]),
        ("gcc", &["--version"]),
        ("spin", &["-V"]),
        ("z3", &["--version"]),
    ] {
        add(
            tool,
            said(tool, options).unwrap_or_else(|| "not installed".into()),
        );
    }
    Head(entries)
}

/// As a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_=+.,:/@%".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_string()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// How the line about mover ends when figures are not those of a release.
pub const FOR_TESTS: &str = ", a build for tests";

/// The commit that mover was made from, as far as the directory tells.
fn commit() -> String {
    let Some(commit) = said("git", &["rev-parse", "--short=10", "HEAD"]) else {
        return "no commit known".into();
    };
    // The results themselves change while they are measured.
    let sources = [
        "crates",
        "Cargo.lock",
        "examples",
        "bench/cpc",
        "bench/dynamic",
    ];
    let asked = [&["status", "--porcelain", "--"][..], &sources].concat();
    let is_changed = said("git", &asked).is_some_and(|changes| !changes.is_empty());
    format!(
        "commit {commit}{}",
        if is_changed { " with changes" } else { "" }
    )
}

/// The first line that a program prints, if it can be run and ends well.
fn said(program: &str, options: &[&str]) -> Option<String> {
    let ended = child::run(Command::new(program).args(options)).ok()?;
    let line = ended.stdout.lines().next().unwrap_or_default();
    (ended.code == Some(0)).then(|| line.trim().to_string())
}

fn or_unknown(text: &str) -> String {
    match text.trim() {
        "" => "unknown".into(),
        known => known.into(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Milliseconds are as much as is worth keeping.
pub fn rounded(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

/// Reads what a [`Recorder`] wrote.
pub fn read<T: Row>(path: &Path) -> Result<Results<T>, ReadError> {
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::Unreadable {
        path: path.to_path_buf(),
        source,
    })?;
    parse(&text).map_err(|source| ReadError::Malformed {
        path: path.to_path_buf(),
        source,
    })
}

fn parse<T: Row>(text: &str) -> Result<Results<T>, MalformedResults> {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let entries = comments.filter_map(|line| line[1..].split_once(':'));
    let head = Head(
        entries
            .map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
            .collect(),
    );
    for key in ["command", "date"] {
        if head.get(key).is_none() {
            return Err(MalformedResults::NoHead(key));
        }
    }
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map_err(|source| MalformedResults::Csv {
            source,
            columns: None,
        })?
        .clone();
    let malformed = |source: csv::Error| MalformedResults::Csv {
        source,
        columns: Some(columns.clone()),
    };
    if let Some(twice) = columns.iter().enumerate().find_map(|(number, name)| {
        let is_twice = columns.iter().skip(number + 1).any(|other| other == name);
        is_twice.then_some(name)
    }) {
        return Err(MalformedResults::ColumnTwice(twice.into()));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let line = record.position().map_or(0, csv::Position::line);
        for (column, field) in columns.iter().zip(&record) {
            let number = field.parse::<f64>();
            if number.is_ok_and(|number| !number.is_finite() || number < 0.0) {
                return Err(MalformedResults::NotMeasured {
                    line,
                    column: column.into(),
                    field: field.into(),
                });
            }
        }
        let row: T = record.deserialize(Some(&columns)).map_err(malformed)?;
        row.check()
            .map_err(|source| MalformedResults::Row { line, source })?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(MalformedResults::NoRow);
    }
    Ok(Results {
        head,
        rows,
        is_complete: text.ends_with(&format!("\n{END}")),
    })
}

/// What is wrong with a file, with the line and the name of the column.
fn sentence(error: &csv::Error, columns: Option<&csv::StringRecord>) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { pos, err } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let number = err.field().and_then(|field| usize::try_from(field).ok());
            let column = number
                .zip(columns)
                .and_then(|(number, names)| names.get(number));
            let column = column.map_or(String::new(), |name| format!(", column `{name}`"));
            format!("line {line}{column}: {}", err.kind())
        }
        csv::ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line}: {len} fields instead of {expected_len}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Point {
        name: String,
        states: u64,
        seconds: Option<f64>,
        is_complete: bool,
    }

    impl Row for Point {
        fn check(&self) -> Result<(), RowError> {
            match self.name.as_str() {
                "unheard-of" => Err(RowError::unknown("program", &self.name)),
                _ => Ok(()),
            }
        }
    }

    fn point(name: &str, seconds: Option<f64>) -> Point {
        Point {
            name: name.into(),
            states: 7,
            seconds,
            is_complete: true,
        }
    }

    const HEAD: &str =
        "# command: mover bench x\n# date: 2026-11-16\nname,states,seconds,is_complete\n";

    #[test]
    fn what_is_written_is_read_again_and_a_cut_off_file_keeps_its_rows() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("points.csv");
        let args = RecordArgs {
            csv: Some(path.clone()),
        };
        let limit = LimitArgs { seconds: 5 };
        let Ok(mut recorder) = Recorder::begin(&args, Some(&limit)) else {
            panic!("{} can be written", path.display());
        };
        assert!(!path.exists(), "nothing was measured yet");
        recorder.record(point("a, b", Some(0.5))).expect("a row");
        let cut_off: Results<Point> = read(&path).expect("results");
        assert_eq!(cut_off.rows, [point("a, b", Some(0.5))]);
        assert!(!cut_off.is_complete);
        recorder.record(point("c", None)).expect("a row");
        recorder.finish().expect("an end");
        let whole: Results<Point> = read(&path).expect("results");
        assert_eq!(whole.rows, [point("a, b", Some(0.5)), point("c", None)]);
        assert!(whole.is_complete);
        assert_eq!(whole.head.get("limit"), Some("5 s"));
        assert!(
            whole
                .head
                .get("mover")
                .is_some_and(|mover| mover.contains("0."))
        );
    }

    #[test]
    fn a_command_can_be_pasted() {
        assert_eq!(quoted("--rows=E1,E2"), "--rows=E1,E2");
        assert_eq!(quoted("Conc 2"), "'Conc 2'");
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_column() {
        let said = |text: &str| {
            let error = parse::<Point>(text).expect_err("it is wrong");
            error.to_string()
        };
        let with = |row: &str| said(&format!("{HEAD}a,1,2.5,true\n{row}\n# end\n"));
        assert_eq!(with("b,1,2.5"), "line 5: 3 fields instead of 4");
        assert_eq!(
            with("b,many,2.5,true"),
            "line 5, column `states`: invalid digit found in string"
        );
        assert_eq!(
            with("b,1,NaN,true"),
            "line 5, column `seconds`: `NaN` was not measured"
        );
        assert_eq!(
            with("b,1,-3,true"),
            "line 5, column `seconds`: `-3` was not measured"
        );
        assert!(with("b,1,2,maybe").starts_with("line 5, column `is_complete`: "));
        assert_eq!(
            with("unheard-of,1,2,true"),
            "line 5: no program is called `unheard-of`"
        );
        let missing = format!("{}a,1,2.5,true\n", HEAD.replace("states", "stats"));
        assert_eq!(said(&missing), "line 4: missing field `states`");
        assert!(said(HEAD).starts_with("there is no row"));
        let twice = HEAD.replace("seconds", "states");
        assert_eq!(said(&twice), "two columns are called `states`");
        assert_eq!(
            said(""),
            "line 1: there is no line `# command: …` before the columns"
        );
    }
}

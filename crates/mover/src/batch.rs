//! `mover batch`: many programs or entry points, one summary.
//!
//! Each job is a `mover check` in a process of its own, so that a program that needs too much
//! memory or meets a defect of mover spoils only its own row. The rows are printed in the order in
//! which the jobs were given, whatever the order in which they end. The summary is a table, JSON,
//! or JUnit XML, which build servers show as tests: `unsafe` is a failure with the story as its
//! text, an input that cannot be read is an error, and `unknown` is a skipped test.

mod summary;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use mover_cli::output::print;
use mover_cli::{Cause, CliError, Exit};
use serde_json::Value;

#[derive(Args)]
pub struct BatchArgs {
    /// The programs to check
    #[arg(value_name = "FILE", required_unless_present = "list")]
    files: Vec<PathBuf>,

    /// A file that lists jobs, one in a line: a program and options for it. `#` starts a comment
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    /// C: check each program once for each of these functions instead of `main`
    #[arg(long, value_name = "FUNCTION")]
    entry: Vec<String>,

    /// Seconds for each job
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    /// Jobs at a time
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    /// Write the summary as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the answer of each job as SARIF 2.1.0 into this directory
    #[arg(long, value_name = "DIRECTORY")]
    sarif: Option<PathBuf>,

    /// Options of `mover check` for all jobs, after `--`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// A program with its options.
struct Job {
    file: PathBuf,
    options: Vec<String>,
}

impl Job {
    fn name(&self) -> String {
        let file = self.file.display().to_string();
        match self.options.is_empty() {
            true => file,
            false => format!("{file} {}", self.options.join(" ")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Safe,
    Unsafe,
    Unknown,
    /// There is no answer.
    Error,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
            Verdict::Error => "error",
        }
    }
}

/// What came of a job.
struct Row {
    name: String,
    verdict: Verdict,
    property: Option<String>,
    /// What is wrong, or why there is no answer.
    reason: String,
    story: String,
    seconds: f64,
    exit: Option<i32>,
}

pub fn run(args: &BatchArgs) -> Result<Exit, CliError> {
    let jobs = jobs(args)?;
    let program = std::env::current_exe().map_err(|error| {
        CliError::uncoded(Cause::Internal, format!("no path to mover: {error}"))
    })?;
    if let Some(directory) = &args.sarif {
        std::fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;
    }
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..usize::from(args.jobs).min(jobs.len()) {
            scope.spawn(|| {
                while let Some((number, job)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(number).map(|job| (number, job))
                } {
                    let row = check(&program, args, number, job);
                    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                    rows.push((number, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(number, _)| *number);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    if let Some(file) = &args.junit {
        std::fs::write(file, summary::junit(&rows)).map_err(|error| unwritable(file, &error))?;
    }
    match args.json {
        true => print(&format!("{}\n", summary::json(&rows)))?,
        false => print(&summary::table(&rows))?,
    }
    let has = |verdict: Verdict| rows.iter().any(|row| row.verdict == verdict);
    if has(Verdict::Unsafe) {
        Ok(Exit::Unsafe)
    } else if let Some(error) = rows.iter().find(|row| row.verdict == Verdict::Error) {
        Err(CliError::Reported(match error.exit {
            Some(1) => Cause::Usage,
            Some(2) => Cause::Input,
            _ => Cause::Internal,
        }))
    } else if has(Verdict::Unknown) {
        Ok(Exit::Unknown)
    } else {
        Ok(Exit::Success)
    }
}

fn unwritable(file: &Path, error: &std::io::Error) -> CliError {
    let message = format!("cannot write {}: {error}", file.display());
    CliError::uncoded(Cause::Output, message)
}

fn jobs(args: &BatchArgs) -> Result<Vec<Job>, CliError> {
    let mut jobs: Vec<Job> = Vec::new();
    for file in &args.files {
        jobs.push(Job {
            file: file.clone(),
            options: Vec::new(),
        });
    }
    if let Some(list) = &args.list {
        let text = std::fs::read_to_string(list).map_err(|error| {
            let message = format!("cannot read {}: {error}", list.display());
            CliError::uncoded(Cause::Input, message)
        })?;
        let directory = list.parent().unwrap_or(Path::new(""));
        jobs.extend(listed(&text, directory));
    }
    if jobs.is_empty() {
        let message = "there is no program in the list";
        return Err(CliError::usage("U001", message));
    }
    if args.entry.is_empty() {
        return Ok(jobs);
    }
    let each = |job: Job| {
        let with = |entry: &String| Job {
            file: job.file.clone(),
            options: [&job.options[..], &["--entry".into(), entry.clone()]].concat(),
        };
        args.entry.iter().map(with).collect::<Vec<Job>>()
    };
    Ok(jobs.into_iter().flat_map(each).collect())
}

/// The jobs of a list; the programs are found from where the list is.
fn listed(text: &str, directory: &Path) -> Vec<Job> {
    let lines = text.lines().map(|line| match line.split_once('#') {
        Some((job, _)) => job,
        None => line,
    });
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace().map(str::to_string);
            Some(Job {
                file: directory.join(words.next()?),
                options: words.collect(),
            })
        })
        .collect()
}

fn check(program: &Path, args: &BatchArgs, number: usize, job: &Job) -> Row {
    let mut command = Command::new(program);
    command
        .args(["check", "--json", "--quiet", "--timeout"])
        .arg(args.timeout.to_string())
        .args(&args.options)
        .args(&job.options);
    if let Some(directory) = &args.sarif {
        let stem = job.file.file_stem().unwrap_or_default().to_string_lossy();
        let file = directory.join(format!("{}-{stem}.sarif", number + 1));
        command.arg("--sarif").arg(file);
    }
    // A name that looks like an option is none.
    let file = match job.file.to_string_lossy().starts_with('-') {
        true => Path::new(".").join(&job.file),
        false => job.file.clone(),
    };
    command.arg(file).stdin(Stdio::null());
    let begin = Instant::now();
    let ended = command.output();
    let seconds = begin.elapsed().as_secs_f64();
    let mut row = Row {
        name: job.name(),
        verdict: Verdict::Error,
        property: None,
        reason: String::new(),
        story: String::new(),
        seconds,
        exit: None,
    };
    match ended {
        Err(error) => row.reason = format!("cannot be run: {error}"),
        Ok(ended) => {
            row.exit = ended.status.code();
            read(&mut row, &ended.stdout, &ended.stderr);
        }
    }
    row
}

/// Takes a row from what a check has printed. The exit code decides: without one of an answer
/// there is none, whatever was printed.
fn read(row: &mut Row, stdout: &[u8], stderr: &[u8]) {
    let answer: Value = serde_json::from_slice(stdout).unwrap_or(Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    row.verdict = match (row.exit, answer["verdict"].as_str()) {
        (Some(0), Some(_)) => Verdict::Safe,
        (Some(10), Some("unsafe")) => Verdict::Unsafe,
        (Some(5), Some(_)) => Verdict::Unknown,
        _ => Verdict::Error,
    };
    row.property = answer["property"].as_str().map(str::to_string);
    row.reason = text(&answer["reason"]);
    row.story = text(&answer["story"]["sentence"]);
    if row.verdict == Verdict::Error {
        let told = String::from_utf8_lossy(stderr);
        let last = told.lines().rfind(|line| !line.trim().is_empty());
        row.reason = match (last, row.exit) {
            (Some(line), _) => line.trim_start_matches("mover: ").to_string(),
            (None, Some(code)) => format!("ended with exit code {code}"),
            (None, None) => "was ended by a signal".to_string(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(exit: Option<i32>, stdout: &str, stderr: &str) -> Row {
        let mut row = Row {
            name: "a<b>.c".into(),
            verdict: Verdict::Error,
            property: None,
            reason: String::new(),
            story: String::new(),
            seconds: 0.25,
            exit,
        };
        read(&mut row, stdout.as_bytes(), stderr.as_bytes());
        row
    }

    #[test]
    fn an_answer_needs_the_exit_code_of_an_answer() {
        let safe = r#"{"verdict": "safe", "reason": null}"#;
        assert_eq!(row(Some(0), safe, "").verdict, Verdict::Safe);
        assert_eq!(row(Some(6), safe, "").verdict, Verdict::Error);
        assert_eq!(row(None, safe, "").verdict, Verdict::Error);
        assert_eq!(row(Some(0), "", "").verdict, Verdict::Error);
        let unknown = r#"{"verdict": "unknown", "reason": "time"}"#;
        assert_eq!(row(Some(5), unknown, "").reason, "time");
    }

    #[test]
    fn an_error_is_told_by_its_last_line() {
        let told = row(Some(2), "", "error: x\n\nmover: a.c: 1 error [C001]\n");
        assert_eq!(told.reason, "a.c: 1 error [C001]");
        assert_eq!(row(None, "", "").reason, "was ended by a signal");
    }

    #[test]
    fn junit_is_well_formed_whatever_the_names() {
        let answer = r#"{"verdict": "unsafe", "property": "unreach-call",
            "reason": "a < b && \"c\"", "story": {"sentence": "x\u0001y"}}"#;
        let text = summary::junit(&[row(Some(10), answer, "")]);
        assert!(text.contains("name=\"a&lt;b&gt;.c\""), "{text}");
        assert!(text.contains("message=\"a &lt; b &amp;&amp; &quot;c&quot;\""));
        assert!(text.contains(">xy</failure>"));
        assert!(text.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""));
    }

    #[test]
    fn lists_have_comments_and_options() {
        let jobs = listed("a.c --entry f # slow\n\n# nothing\n", Path::new("dir"));
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].name(), "dir/a.c --entry f");
    }
}

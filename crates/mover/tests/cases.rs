//! Small programs whose verdict is known, one file each, checked in-process by every core.
//!
//! A case is a file below `tests/cases`: C (`.c`), LLVM IR (`.ll`) or Promela (`.pml`). Its header,
//! the comment lines at the top, says what is expected; see `cases/header.rs` for all keys:
//!
//! ```c
//! // expect: unsafe memory-safety
//! // Why the case matters, in a sentence.
//! // engines: explicit bmc ic3
//! ```
//!
//! `MOVER_CASES=text cargo test -p mover --test cases` runs the cases whose path contains the text;
//! `-- --nocapture` shows which take longest.

#[cfg(feature = "c")]
#[path = "cases/c_plan.rs"]
mod c_plan;
#[path = "cases/header.rs"]
mod header;
#[path = "cases/run.rs"]
mod run;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use header::Question;
use mover_fuzz::on_all_cores;

/// A question of a case, to be asked by one of the workers.
struct Job {
    file: PathBuf,
    /// Where the file is below the cases, and which of its questions this is.
    name: String,
    question: Question,
}

#[test]
fn every_case_has_the_verdict_of_its_first_line() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("MOVER_CASES").unwrap_or_default();
    let mut failures = Vec::new();
    let mut jobs = Vec::new();
    let mut files = cases(&directory);
    assert!(files.len() >= 80, "only {} cases", files.len());
    files.retain(|file| file.to_string_lossy().contains(&only));
    for file in files {
        let name = file.strip_prefix(&directory).unwrap_or(&file);
        let name = name.display().to_string();
        let text = std::fs::read_to_string(&file).expect("a readable case");
        match header::questions(&text) {
            Err(reason) => failures.push(format!("{name}: {reason}")),
            Ok(questions) => jobs.extend(questions.into_iter().map(|question| Job {
                name: format!("{name}:{}", question.line),
                file: file.clone(),
                question,
            })),
        }
    }
    failures.extend(failures_of(&jobs));
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} failures in {} questions\n{}",
        failures.len(),
        jobs.len(),
        failures.join("\n")
    );
}

/// The programs in a directory and below it.
fn cases(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the cases are there") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            _ if path.is_dir() => found.extend(cases(&path)),
            Some("c" | "ll") if cfg!(feature = "c") => found.push(path),
            Some("pml") => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Asks all questions.
fn failures_of(jobs: &[Job]) -> Vec<String> {
    let asked = on_all_cores(jobs, |job| {
        let started = Instant::now();
        let asked = catch_unwind(AssertUnwindSafe(|| run::ask(&job.file, &job.question)));
        let found = asked.unwrap_or_else(|_| vec!["panics".into()]);
        let named = found.iter().map(|reason| format!("{}: {reason}", job.name));
        (named.collect::<Vec<String>>(), started.elapsed())
    });
    let mut times: Vec<_> = asked.iter().zip(jobs).collect();
    times.sort_by_key(|((_, time), _)| std::cmp::Reverse(*time));
    println!("{} questions; the slowest:", jobs.len());
    for ((_, time), job) in times.into_iter().take(10) {
        println!("{:6.2} s  {}", time.as_secs_f64(), job.name);
    }
    asked
        .into_iter()
        .flat_map(|(failures, _)| failures)
        .collect()
}

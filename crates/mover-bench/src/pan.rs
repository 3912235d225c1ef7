//! SPIN's verifier: made for one model, run, and its report read.
//!
//! The settings make SPIN explore what `mover check --reduce none --keep-going`
//! explores: `-o3` switches the merging of statements off, `-DNOREDUCE` the
//! partial-order reduction, `-DNOCLAIM` the never claims, `-DSAFETY` the search
//! for cycles, and `-c0` continues after errors.
//!
//! `pan` stores its search stack apart, in a block whose size must be given
//! with `-m`; when it is too small, the search is cut off with a remark. So the
//! size is found first, in runs that do not count.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mover_cli::Cause;

use crate::child::{self, ChildError, Finished};

pub const SPIN_OPTIONS: [&str; 2] = ["-a", "-o3"];
pub const GCC_OPTIONS: [&str; 4] = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"];
/// With SPIN's own partial-order reduction.
pub const GCC_OPTIONS_REDUCED: [&str; 3] = ["-O2", "-DSAFETY", "-DNOCLAIM"];

/// As `pan` counts them.
pub const MEGABYTE: f64 = 1024.0 * 1024.0;

/// SPIN's own default, and the most that is tried: some gigabytes of stack.
const FIRST_DEPTH: u64 = 10_000;
const LAST_DEPTH: u64 = 100_000_000;

/// Why there is no verifier, or no report of its run.
#[derive(Debug, thiserror::Error)]
pub enum PanError {
    #[error("cannot create {}: {source}", .path.display())]
    NoDirectory {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The name of a model cannot be made absolute.
    #[error(transparent)]
    Path(std::io::Error),
    #[error(transparent)]
    Child(#[from] ChildError),
    #[error("SPIN rejects {}: {said}", .model.display())]
    Rejected { model: PathBuf, said: String },
    #[error("gcc fails on pan.c: {0}")]
    Gcc(String),
    #[error("pan needs a search stack above -m{LAST_DEPTH}")]
    TooDeep,
    #[error("pan ends without a report: {0}")]
    NoReport(String),
}

impl PanError {
    pub fn cause(&self) -> Cause {
        match self {
            PanError::Path(_) | PanError::Rejected { .. } | PanError::TooDeep => Cause::Input,
            PanError::NoDirectory { .. }
            | PanError::Child(_)
            | PanError::Gcc(_)
            | PanError::NoReport(_) => Cause::Output,
        }
    }
}

/// A program that makes verifiers is not there.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not installed; on Debian it is in the package `{0}` (apt-get install spin gcc)")]
pub struct MissingTool(&'static str);

/// A verifier for one model, ready to run.
pub struct Pan {
    directory: PathBuf,
    pub compile_s: f64,
    /// The smallest power of ten that is enough for the search stack, as far as is known.
    pub depth: u64,
    /// Of `pan`, besides the depth: what to look for, and whether to continue after errors.
    pub arguments: Vec<String>,
}

/// One run.
pub struct Ran {
    pub report: Report,
    pub child: Finished,
}

/// What `pan` says about a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    pub states: u64,
    pub transitions: u64,
    pub errors: u64,
    /// As `pan` measures itself, to a hundredth of a second.
    pub elapsed_s: f64,
    /// "actual memory usage for states"; the "equivalent" one where nothing is compressed.
    pub state_mb: f64,
    /// "total actual memory usage" without "memory used for DFS stack": with the hash table.
    pub table_mb: f64,
    pub is_cut_off: bool,
}

/// Both programs that make a verifier, or which Debian package has the missing one.
pub fn check_tools() -> Result<(), MissingTool> {
    for (tool, option) in [("spin", "-V"), ("gcc", "--version")] {
        if child::run(Command::new(tool).arg(option)).is_err() {
            return Err(MissingTool(tool));
        }
    }
    Ok(())
}

impl Pan {
    pub fn make(
        model: &Path,
        defines: &[&str],
        directory: PathBuf,
        gcc_options: &[&str],
    ) -> Result<Self, PanError> {
        std::fs::create_dir_all(&directory).map_err(|source| PanError::NoDirectory {
            path: directory.clone(),
            source,
        })?;
        let model = std::path::absolute(model).map_err(PanError::Path)?;
        let translated = child::run(
            Command::new("spin")
                .args(SPIN_OPTIONS)
                .args(defines)
                .arg(&model)
                .current_dir(&directory),
        )?;
        if !directory.join("pan.c").exists() {
            let said = translated.stdout + &translated.stderr;
            return Err(PanError::Rejected { model, said });
        }
        let compiled = child::run(
            Command::new("gcc")
                .args(["-w", "-o", "pan", "pan.c"])
                .args(gcc_options)
                .current_dir(&directory),
        )?;
        if compiled.code != Some(0) {
            return Err(PanError::Gcc(compiled.stderr));
        }
        Ok(Pan {
            directory,
            compile_s: translated.wall_s + compiled.wall_s,
            depth: FIRST_DEPTH,
            arguments: vec!["-c0".into()],
        })
    }

    /// Runs until the search stack is large enough. Nothing comes back if a run takes too long.
    pub fn run_deep_enough(&mut self, limit: Option<Duration>) -> Result<Option<Ran>, PanError> {
        loop {
            match self.run(limit)? {
                Some(ran) if ran.report.is_cut_off => {
                    if self.depth == LAST_DEPTH {
                        return Err(PanError::TooDeep);
                    }
                    self.depth *= 10;
                }
                ended => return Ok(ended),
            }
        }
    }

    fn run(&self, limit: Option<Duration>) -> Result<Option<Ran>, PanError> {
        let mut command = Command::new(self.directory.join("pan"));
        command
            .args(&self.arguments)
            .arg(format!("-m{}", self.depth))
            .current_dir(&self.directory);
        let ended = match limit {
            Some(limit) => child::run_for(&mut command, limit)?,
            None => Some(child::run(&mut command)?),
        };
        let Some(child) = ended else {
            return Ok(None);
        };
        let report =
            read_report(&child.stdout).ok_or_else(|| PanError::NoReport(child.stdout.clone()))?;
        Ok(Some(Ran { report, child }))
    }
}

fn read_report(text: &str) -> Option<Report> {
    let number_before = |what: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.contains(what))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let number_behind = |what: &str| -> Option<f64> {
        let rest = &text[text.find(what)? + what.len()..];
        rest.split_whitespace().next()?.parse().ok()
    };
    let state_mb = number_before("actual memory usage for states")
        .or_else(|| number_before("equivalent memory usage for states"))?;
    let stack_mb = number_before("memory used for DFS stack")?;
    Some(Report {
        states: number_before("states, stored")? as u64,
        // A search for cycles visits some states twice.
        transitions: number_before("transitions (= stored+matched)")
            .or_else(|| number_before("transitions (= visited+matched)"))?
            as u64,
        errors: number_behind("errors: ")? as u64,
        elapsed_s: number_behind("pan: elapsed time ")?,
        state_mb,
        table_mb: number_before("total actual memory usage")? - stack_mb,
        is_cut_off: text.contains("max search depth too small"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
error: max search depth too small

State-vector 44 byte, depth reached 110918, errors: 2
   426397 states, stored
   982898 states, matched
  1409295 transitions (= stored+matched)

Stats on memory usage (in Megabytes):
   26.025\tequivalent memory usage for states (stored*(State-vector + overhead))
   19.726\tactual memory usage for states (compression: 75.80%)
         \tstate-vector as stored = 29 byte + 20 byte overhead
  128.000\tmemory used for hash table (-w24)
   45.777\tmemory used for DFS stack (-m1000000)
  193.405\ttotal actual memory usage

pan: elapsed time 0.71 seconds
";

    #[test]
    fn a_report_is_read() {
        let report = read_report(REPORT).expect("a report");
        assert_eq!(report.states, 426_397);
        assert_eq!(report.transitions, 1_409_295);
        assert_eq!(report.errors, 2);
        assert_eq!(report.elapsed_s, 0.71);
        assert_eq!(report.state_mb, 19.726);
        assert!((report.table_mb - 147.628).abs() < 1e-9);
        assert!(report.is_cut_off);
    }

    #[test]
    fn without_compression_the_equivalent_memory_counts() {
        let plain = REPORT.replace("   19.726\tactual memory usage for states", "");
        assert_eq!(read_report(&plain).expect("a report").state_mb, 26.025);
    }

    #[test]
    fn a_crash_is_no_report() {
        assert_eq!(read_report("pan: out of memory\n"), None);
    }
}

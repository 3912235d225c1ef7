//! Runs the instrumented program on a recorded schedule.
//!
//! The runtime in the program lets one thread at a time proceed, in the order of the schedule, and
//! ends the program with a code that says whether the violation came about. Inputs that the schedule
//! does not record are guessed, with a few attempts.
//!
//! The program is foreign code: what it prints does not reach standard output, what it says of itself is made
//! [visible] before it is shown, and it ends with everything that it started when its time is up.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mover_ir::program::Property;
use mover_tools::child::Kept;
use mover_tools::visible;

use super::{Native, NativeStep};

/// How the runtime ends the program (see `mover-native.c`).
const REPRODUCED: i32 = 99;
const DIFFERS: i32 = 98;

/// Longest time that a run may take; the runtime gives up by itself after ten
/// seconds without a step.
const PATIENCE: Duration = Duration::from_secs(120);

/// Most inputs that are guessed.
const MOST_GUESSES: u32 = 6;

/// What came of a run, in the runtime's words.
pub enum NativeOutcome {
    Reproduced(String),
    Differs(String),
    /// Stopped at the violation for a debugger.
    Stopped {
        process: u32,
        what: String,
    },
}

/// Why the program did not run.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    #[error("cannot write {}: {source}", path.display())]
    Schedule {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the instrumented program cannot be started: {0}")]
    Start(#[source] std::io::Error),
    #[error("waiting for the program: {0}")]
    Wait(#[source] std::io::Error),
}

impl Native {
    /// Runs the program, and again with other inputs where the schedule does not record them.
    ///
    /// With `stop`, the program stops at the violation and stays for a debugger.
    pub fn follow(
        &self,
        steps: &[NativeStep],
        property: Property,
        directory: &Path,
        stop: bool,
    ) -> Result<NativeOutcome, NativeError> {
        let attempt = |guess| self.attempt(steps, property, directory, stop, guess);
        let (mut came, mut guesses) = attempt(0)?;
        let mut guess = 1;
        while matches!(came, NativeOutcome::Differs(_)) && guess < 1 << guesses.min(MOST_GUESSES) {
            (came, guesses) = attempt(guess)?;
            guess += 1;
        }
        Ok(came)
    }

    /// Runs the program once; also how many inputs it guessed.
    fn attempt(
        &self,
        steps: &[NativeStep],
        property: Property,
        directory: &Path,
        stop: bool,
        guess: u64,
    ) -> Result<(NativeOutcome, u32), NativeError> {
        let schedule = directory.join("schedule");
        let report = directory.join("report");
        let text = self.schedule(steps, property, stop, guess);
        std::fs::write(&schedule, text).map_err(|source| NativeError::Schedule {
            path: schedule.clone(),
            source,
        })?;
        // What an earlier run said, not what this one may have said already.
        let _ = std::fs::remove_file(&report);
        let mut command = Command::new(&self.executable);
        command
            .env("MOVER_NATIVE_SCHEDULE", &schedule)
            .env("MOVER_NATIVE_REPORT", &report)
            .stdin(Stdio::null())
            // What the program prints is not the answer.
            .stdout(std::io::stderr());
        let mut child = Kept::spawn(&mut command).map_err(NativeError::Start)?;
        let started = Instant::now();
        loop {
            match child.try_wait().map_err(NativeError::Wait)? {
                Some(status) => {
                    let (what, guesses) = said(&report);
                    let came = match status.code() {
                        Some(REPRODUCED) => NativeOutcome::Reproduced(what),
                        Some(DIFFERS) => NativeOutcome::Differs(what),
                        _ => NativeOutcome::Differs(format!("the program ended with {status}")),
                    };
                    return Ok((came, guesses));
                }
                None if stop && is_stopped(child.id()) => {
                    let process = child.id();
                    child.release();
                    let what = said(&report).0;
                    return Ok((NativeOutcome::Stopped { process, what }, 0));
                }
                None if started.elapsed() > PATIENCE => {
                    // Dropped, the program ends with all that it has started.
                    let came = NativeOutcome::Differs("it takes longer than two minutes".into());
                    return Ok((came, 0));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

/// What the runtime reported, and how many inputs it guessed.
fn said(report: &Path) -> (String, u32) {
    let text = std::fs::read_to_string(report).unwrap_or_default();
    let (what, guesses) = text.trim_end().rsplit_once('\n').unwrap_or((&text, ""));
    let what = what.split_once(' ').map_or("", |(_, what)| what);
    // Some of it is said by the program.
    let what = visible::name(what).into_owned();
    (what, guesses.parse::<u32>().unwrap_or(0))
}

/// Whether a process is stopped by a signal.
fn is_stopped(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    // The state comes after the name, which is in parentheses.
    status
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

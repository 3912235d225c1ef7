//! Limits and signals that hold from the first moment to the answer.
//!
//! An engine asks regularly whether it should stop. Reading cannot: most of its time is spent in
//! clang and LLVM, and some of the analyses before a search are one large computation. So a thread
//! of its own watches the clock and the memory of the process. While the program is read it ends the
//! process at the limit, and so does a signal; later, engines are given the time to end by
//! themselves, and the process is ended only if that does not happen. In each case the answer is
//! `unknown`, with its reason, and neither a compiler nor a temporary file is left behind.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mover_check::answer::{Answer, PropertyAnswer, Verdict};
use mover_cli::output::print;
use mover_cli::resources::{peak_mb, resident_bytes};
use mover_cli::{CliError, Exit, stderr_line};
use mover_engine::{Cancel, CancelReason, Statistics, Stop};
use mover_ir::program::Property;
use mover_report::{json, text};

const INSPECT_EVERY: Duration = Duration::from_millis(20);

/// What a command may take, and how its answer is told.
#[derive(Clone, Default)]
pub struct Limits {
    pub timeout: Option<Duration>,
    /// Bytes of the whole process.
    pub memory: Option<usize>,
    pub json: bool,
    /// What was asked.
    pub properties: Vec<Property>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandState {
    Reading,
    Searching,
    /// There is an answer: nobody else tells one.
    Answering,
}

struct Shared {
    started: Instant,
    limits: Limits,
    /// Held by whoever ends the process.
    state: Mutex<CommandState>,
}

/// Watches a command until it has its answer.
pub struct Guard(Arc<Shared>);

impl Guard {
    /// Begins to watch. Signals cancel the search; the second one ends the process.
    pub fn begin(limits: Limits, cancel: &Cancel) -> Guard {
        let shared = Arc::new(Shared {
            started: Instant::now(),
            limits,
            state: Mutex::new(CommandState::Reading),
        });
        let of_signals = Arc::clone(&shared);
        let cancel = cancel.clone();
        let installed = ctrlc::set_handler(move || {
            let is_first = cancel.request(CancelReason::User);
            let state = of_signals.state();
            if is_first && *state == CommandState::Reading {
                of_signals.end(Stop::User, "the program was being read");
            }
            drop(state);
            if !is_first {
                mover_tools::end_process(CliError::Interrupted.code());
            }
        });
        if let Err(error) = installed {
            stderr_line!("mover: signals are not handled: {error}");
        }
        let of_watcher = Arc::clone(&shared);
        let watcher = std::thread::Builder::new().name("guard".into());
        if let Err(error) = watcher.spawn(move || of_watcher.watch()) {
            stderr_line!("mover: limits are not watched: {error}");
        }
        Guard(shared)
    }

    /// The program has been read.
    pub fn searching(&self) {
        *self.0.state() = CommandState::Searching;
    }

    /// There is an answer, which the caller tells now.
    pub fn answering(&self) {
        *self.0.state() = CommandState::Answering;
    }

    /// What is left of the time.
    pub fn time_left(&self) -> Option<Duration> {
        let timeout = self.0.limits.timeout?;
        Some(timeout.saturating_sub(self.0.started.elapsed()))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.answering();
    }
}

/// How far a search may exceed a limit before it is ended from outside: engines inspect their
/// limits at intervals, and have an answer to put together.
fn with_grace(timeout: Duration) -> Duration {
    timeout + timeout / 10 + Duration::from_secs(2)
}

fn memory_with_grace(bytes: usize) -> usize {
    bytes.saturating_add(bytes / 4).saturating_add(64 << 20)
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, CommandState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) {
        loop {
            std::thread::sleep(INSPECT_EVERY);
            let state = self.state();
            let is_reading = match *state {
                CommandState::Reading => true,
                CommandState::Searching => false,
                CommandState::Answering => return,
            };
            let what = if is_reading {
                "the program was being read"
            } else {
                "the program was being analysed"
            };
            let elapsed = self.started.elapsed();
            let limit = |timeout| {
                if is_reading {
                    timeout
                } else {
                    with_grace(timeout)
                }
            };
            if self
                .limits
                .timeout
                .is_some_and(|timeout| elapsed > limit(timeout))
            {
                self.end(Stop::Time, what);
            }
            let limit = |bytes| {
                if is_reading {
                    bytes
                } else {
                    memory_with_grace(bytes)
                }
            };
            if let (Some(bytes), Some(resident)) = (self.limits.memory, resident_bytes())
                && resident > limit(bytes)
            {
                self.end(Stop::Memory, what);
            }
        }
    }

    /// Tells that the answer is not known and ends the process, with the state locked.
    fn end(&self, stop: Stop, what: &str) -> ! {
        let reason = match stop {
            Stop::User => format!("interrupted while {what}"),
            _ => format!("{} while {what}", stop.reason()),
        };
        let verdict = Verdict::Unknown {
            reason,
            advice: stop.advice().into(),
        };
        let properties = &self.limits.properties;
        let by_property = properties.iter().map(|&property| PropertyAnswer {
            property,
            verdict: verdict.clone(),
        });
        let answer = Answer {
            by_property: by_property.collect(),
            verdict: verdict.clone(),
            claims: Vec::new(),
            properties: properties.clone(),
            engine: "none",
            reduction: "none",
            ignoring: None,
            statistics: Statistics::default(),
            unit: "steps",
            time: self.started.elapsed(),
            peak_mb: peak_mb(),
            caveats: Vec::new(),
            warnings: Vec::new(),
            invariant: Vec::new(),
            certified: None,
        };
        let told = if self.limits.json {
            format!("{}\n", json::answer(&answer, false))
        } else {
            format!("try: {}\n{}\n", stop.advice(), text::verdict_line(&answer))
        };
        let code = match print(&told) {
            Ok(()) => Exit::Unknown.code(),
            Err(error) => error.code(),
        };
        mover_tools::end_process(code)
    }
}

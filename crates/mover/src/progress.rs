//! Progress of a search, on standard error while it runs.
//!
//! On a terminal each engine has a line, which is cleared at the end; nothing is shown in the
//! first moments, because most runs are over by then. The clock in it runs on its own, so that
//! an engine that works on one query for a minute is seen to be alive. Where standard error is
//! not a terminal nothing is written, unless it is requested (`--progress json`): then there is
//! one JSON object per line, twice a second.
//!
//! An estimate is given only where there is something to base it on: a breadth-first search
//! whose frontier has been shrinking, or memory that fills up evenly. It is labelled as an
//! estimate.

use std::collections::{HashMap, VecDeque};
use std::io::IsTerminal;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use mover_check::Observer;
use mover_check::words::grouped;
use mover_cli::resources::peak_mb;
use mover_cli::stderr_line;
use mover_engine::{Engine, Statistics};
use serde_json::{Value, json};

/// What is shown of a search while it runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// A line for each engine if standard error is a terminal
    Auto,
    /// JSON objects, one per line, on standard error
    Json,
    /// Nothing
    None,
}

const SHOW_AFTER: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(200);
const JSON_EVERY: Duration = Duration::from_millis(500);

/// Minimum duration of a trend before it is reported.
const TREND: Duration = Duration::from_secs(3);

/// The lines of all running engines.
fn lines() -> &'static MultiProgress {
    static LINES: OnceLock<MultiProgress> = OnceLock::new();
    LINES.get_or_init(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5)))
}

/// Shows the progress of the engines of a search.
pub struct Watcher {
    show: Show,
    /// Whether notes are left out, too.
    quiet: bool,
    /// Bytes that a search may take.
    memory: Option<usize>,
    /// By engine.
    running: Mutex<HashMap<&'static str, Arc<Progress>>>,
}

impl Watcher {
    pub fn new(show: Show, quiet: bool, memory: Option<usize>) -> Watcher {
        Watcher {
            show: if quiet { Show::None } else { show },
            quiet,
            memory,
            running: Mutex::default(),
        }
    }

    /// A line for something that is no engine.
    pub fn line(&self, name: &'static str, unit: &'static str) -> Progress {
        Progress::new(name, unit, self.show, self.memory)
    }

    fn running(&self, engine: &dyn Engine) -> Option<Arc<Progress>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(engine.name()).cloned()
    }
}

impl Observer for Watcher {
    fn begin(&self, engine: &dyn Engine) {
        let line = Arc::new(self.line(engine.name(), engine.unit()));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(engine.name(), line);
    }

    fn progress(&self, engine: &dyn Engine, statistics: &Statistics) {
        if let Some(line) = self.running(engine) {
            line.show(statistics);
        }
    }

    fn end(&self, engine: &dyn Engine) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(engine.name());
    }

    fn note(&self, message: &str) {
        if !self.quiet {
            stderr_line!("mover: {message}");
        }
    }
}

pub struct Progress {
    engine: &'static str,
    /// What `depth` counts.
    unit: &'static str,
    to: Target,
    /// Bytes that a search may take.
    memory: Option<usize>,
    past: Mutex<Past>,
}

enum Target {
    Nobody,
    Program,
    Terminal {
        line: ProgressBar,
        /// Dropped when the engine ends: the thread that waits to show the line stops.
        ended: Option<Sender<()>>,
        waiting: Option<JoinHandle<()>>,
    },
}

#[derive(Default)]
struct Past {
    told: Option<Instant>,
    /// Time, frontier and bytes, one for each second.
    samples: VecDeque<(Duration, u64, u64)>,
}

impl Progress {
    fn new(engine: &'static str, unit: &'static str, show: Show, memory: Option<usize>) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let to = match show {
            Show::Json => Target::Program,
            Show::Auto if std::io::stderr().is_terminal() && !is_dumb => terminal(engine),
            Show::Auto | Show::None => Target::Nobody,
        };
        Progress {
            engine,
            unit,
            to,
            memory,
            past: Mutex::default(),
        }
    }

    pub fn show(&self, statistics: &Statistics) {
        if self.unit == "steps" {
            self.show_explicit(statistics);
        } else {
            self.show_symbolic(statistics);
        }
    }

    fn show_explicit(&self, statistics: &Statistics) {
        let seconds = statistics.time.as_secs_f64().max(1e-6);
        let rate = (statistics.states as f64 / seconds) as u64;
        match &self.to {
            Target::Nobody => {}
            Target::Program => self.write(|| {
                json!({
                    "progress": self.engine,
                    "time_s": round(seconds),
                    "states": statistics.states,
                    "states_per_s": rate,
                    "transitions": statistics.transitions,
                    "depth": statistics.depth,
                    "frontier": statistics.frontier,
                    "store_mb": statistics.bytes >> 20,
                    "memory_mb": peak_mb(),
                })
            }),
            Target::Terminal { line, .. } => {
                let memory = match self.memory {
                    Some(limit) => format!("{} of {} MB", statistics.bytes >> 20, limit >> 20),
                    None => format!("{} MB", statistics.bytes >> 20),
                };
                let mut text = format!(
                    "{} states, {} states/s, depth {}, frontier {}, {memory}",
                    grouped(statistics.states),
                    grouped(rate),
                    grouped(statistics.depth),
                    grouped(statistics.frontier),
                );
                if let Some(estimate) = self.estimate(statistics) {
                    text = format!("{text}, {estimate}");
                }
                line.set_message(text);
            }
        }
    }

    fn show_symbolic(&self, figures: &Statistics) {
        match &self.to {
            Target::Nobody => {}
            Target::Program => self.write(|| {
                let unit = if self.unit == "frames" {
                    "frame"
                } else {
                    self.unit
                };
                json!({
                    "progress": self.engine,
                    "time_s": round(figures.time.as_secs_f64()),
                    unit: figures.depth,
                    "obligations": figures.obligations,
                    "lemmas": figures.lemmas,
                    "questions": figures.effort.questions,
                    "conflicts": figures.effort.conflicts,
                    "clauses": figures.effort.clauses,
                    "memory_mb": peak_mb(),
                })
            }),
            Target::Terminal { line, .. } => {
                let what = match self.unit {
                    "frames" => format!(
                        "frame {}, {} obligations, {} lemmas",
                        grouped(figures.depth),
                        grouped(figures.obligations),
                        grouped(figures.lemmas),
                    ),
                    "repetitions" => format!(
                        "{} repetitions, {} events, {} pairs",
                        grouped(figures.depth),
                        grouped(figures.events),
                        grouped(figures.pairs),
                    ),
                    unit => format!("no violation within {} {unit}", figures.depth),
                };
                let memory = peak_mb().map_or(String::new(), |peak| format!(", {peak:.0} MB"));
                line.set_message(format!(
                    "{what}, {} questions, {} conflicts{memory}",
                    grouped(figures.effort.questions),
                    grouped(figures.effort.conflicts),
                ));
            }
        }
    }

    /// An object for another program, unless there was one a moment ago.
    fn write(&self, object: impl Fn() -> Value) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        if past.told.is_none_or(|told| told.elapsed() >= JSON_EVERY) {
            past.told = Some(Instant::now());
            // Whoever asked for it may be gone; the search is not for them alone.
            mover_cli::stderr_line!("{}", object());
        }
    }

    /// An estimate of the remaining time if the trend continues, where there is a trend.
    fn estimate(&self, now: &Statistics) -> Option<String> {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = past
            .samples
            .back()
            .is_none_or(|(time, ..)| now.time >= *time + Duration::from_secs(1));
        if is_due {
            past.samples.push_back((now.time, now.frontier, now.bytes));
        }
        while past.samples.len() > 8 {
            past.samples.pop_front();
        }
        estimate(past.samples.make_contiguous(), self.memory)
    }

    pub fn finish(mut self) {
        self.clear();
    }

    fn clear(&mut self) {
        if let Target::Terminal {
            line,
            ended,
            waiting,
        } = &mut self.to
        {
            ended.take();
            if let Some(waiting) = waiting.take() {
                let _ = waiting.join();
            }
            line.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A line that appears when the search has run for a while.
fn terminal(engine: &'static str) -> Target {
    let line = ProgressBar::hidden();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed}: {msg}") {
        line.set_style(style);
    }
    line.set_prefix(engine);
    line.set_message("starting");
    let (ended, waits) = channel::<()>();
    let shown = line.clone();
    let waiting = std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError;
        if waits.recv_timeout(SHOW_AFTER) == Err(RecvTimeoutError::Timeout) {
            let shown = lines().add(shown);
            shown.enable_steady_tick(TICK);
        }
    });
    Target::Terminal {
        line,
        ended: Some(ended),
        waiting: Some(waiting),
    }
}

/// From samples of time, frontier and bytes: a frontier that shrinks all the time, or memory that
/// will not do.
fn estimate(samples: &[(Duration, u64, u64)], memory: Option<usize>) -> Option<String> {
    let (first, last) = (samples.first()?, samples.last()?);
    let passed = last.0.checked_sub(first.0).filter(|time| *time >= TREND)?;
    let seconds = passed.as_secs_f64();
    let shrinks = samples.windows(2).all(|pair| pair[1].1 < pair[0].1);
    if shrinks && last.1 > 0 {
        let rate = (first.1 - last.1) as f64 / seconds;
        let left = last.1 as f64 / rate;
        return Some(format!("about {} left if the trend continues", span(left)));
    }
    let room = u64::try_from(memory?).ok()?.saturating_sub(last.2);
    let grown = last.2.saturating_sub(first.2);
    if grown == 0 {
        return None;
    }
    let left = room as f64 / (grown as f64 / seconds);
    // Further away than that it says nothing.
    (left < 600.0).then(|| format!("memory lasts for about {}", span(left)))
}

fn span(seconds: f64) -> String {
    if seconds < 100.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u64, frontier: u64, megabytes: u64) -> (Duration, u64, u64) {
        (Duration::from_secs(second), frontier, megabytes << 20)
    }

    #[test]
    fn an_estimate_needs_a_trend() {
        assert_eq!(estimate(&[], None), None);
        let short = [sample(0, 100, 1), sample(1, 50, 1)];
        assert_eq!(estimate(&short, None), None);
        let shrinking = [sample(0, 100, 1), sample(2, 80, 1), sample(4, 60, 1)];
        let told = "about 6 s left if the trend continues".to_string();
        assert_eq!(estimate(&shrinking, None), Some(told));
        let up_and_down = [sample(0, 100, 1), sample(2, 120, 1), sample(4, 60, 1)];
        assert_eq!(estimate(&up_and_down, None), None);
    }

    #[test]
    fn memory_that_will_not_do_is_told() {
        let growing = [sample(0, 1, 100), sample(2, 2, 200), sample(4, 3, 300)];
        let told = "memory lasts for about 2 s".to_string();
        assert_eq!(estimate(&growing, Some(400 << 20)), Some(told));
        assert_eq!(estimate(&growing, Some(400 << 30)), None);
        assert_eq!(estimate(&growing, None), None);
    }
}

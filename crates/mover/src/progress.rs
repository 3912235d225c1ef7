//! A line on standard error that shows how a search is coming on.
//!
//! Nothing is shown when standard error is not a terminal, or in the first
//! moments: most runs are over by then.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mover_explicit::Statistics;
use mover_report::text::grouped;

use mover_symbolic::outcome::Statistics as SymbolicStatistics;

use crate::output::stderr_is_terminal;
use crate::symbolic::SymbolicEngine;

const SHOW_AFTER: Duration = Duration::from_millis(500);

pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        let target = if quiet || !stderr_is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let line = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            line.set_style(style);
        }
        Progress { line }
    }

    pub fn show(&self, statistics: &Statistics) {
        if self.line.is_hidden() || statistics.elapsed < SHOW_AFTER {
            return;
        }
        let rate = statistics.states as f64 / statistics.elapsed.as_secs_f64();
        self.line.set_message(format!(
            "{:.0} s: {} states, {} states/s, depth {}, frontier {}, {} MB",
            statistics.elapsed.as_secs_f64(),
            grouped(statistics.states),
            grouped(rate as u64),
            grouped(statistics.depth),
            grouped(statistics.frontier),
            statistics.bytes >> 20,
        ));
        self.line.tick();
    }

    pub fn show_symbolic(&self, engine: SymbolicEngine, figures: &SymbolicStatistics) {
        if self.line.is_hidden() || figures.time < SHOW_AFTER {
            return;
        }
        let what = match engine {
            SymbolicEngine::Bmc => format!("{} blocks unrolled", grouped(figures.depth)),
            SymbolicEngine::Token => format!(
                "{} repetitions, {} events, {} pairs",
                grouped(figures.depth),
                grouped(figures.events),
                grouped(figures.pairs),
            ),
            SymbolicEngine::Ic3 => format!(
                "frame {}, {} obligations, {} lemmas",
                grouped(figures.depth),
                grouped(figures.obligations),
                grouped(figures.lemmas),
            ),
        };
        self.line.set_message(format!(
            "{:.0} s: {what}, {} questions, {} conflicts",
            figures.time.as_secs_f64(),
            grouped(figures.effort.questions),
            grouped(figures.effort.conflicts),
        ));
        self.line.tick();
    }

    pub fn finish(&self) {
        self.line.finish_and_clear();
    }
}

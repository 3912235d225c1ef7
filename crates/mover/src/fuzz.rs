//! `mover fuzz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use mover_fuzz::{Model, WAYS, check_model, smallest};

use crate::output::print;
use crate::{INTERNAL_ERROR, USAGE};

#[derive(Args)]
pub struct FuzzArgs {
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How many programs to try
    #[arg(long, default_value_t = 1000)]
    count: u64,

    /// Try programs for this long instead: 30s, 10m, 8h
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<String>,

    /// Cores to use
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// Print the program of the first seed instead of searching it
    #[arg(long)]
    show: bool,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// What the searches have come to so far.
#[derive(Default)]
struct Totals {
    tried: AtomicU64,
    compared: AtomicU64,
    wrong: AtomicU64,
    deadlocks: AtomicU64,
    states: Vec<AtomicU64>,
}

pub fn run(args: &FuzzArgs) -> u8 {
    let duration = match args.duration.as_deref().map(parse_duration).transpose() {
        Ok(duration) => duration,
        Err(reason) => {
            crate::errors::complain("U002", reason);
            return USAGE;
        }
    };
    if args.jobs == 0 {
        crate::errors::complain("U002", "--jobs needs at least 1");
        return USAGE;
    }
    if args.show {
        return match print(&Model::random(args.seed).text()) {
            Ok(()) => 0,
            Err(code) => code,
        };
    }
    let totals = Totals {
        states: WAYS.iter().map(|_| AtomicU64::new(0)).collect(),
        ..Totals::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    if let Err(error) = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)) {
        eprintln!("mover: signals are not handled: {error}");
    }
    let next = AtomicU64::new(args.seed);
    let end = match duration {
        Some(_) => u64::MAX,
        None => args.seed.saturating_add(args.count),
    };
    let started = Instant::now();
    let found = std::sync::Mutex::new(None);
    std::thread::scope(|scope| {
        for worker in 0..args.jobs {
            let (totals, stop, next, found) = (&totals, &stop, &next, &found);
            scope.spawn(move || {
                let mut told = Instant::now();
                while !stop.load(Ordering::Relaxed)
                    && duration.is_none_or(|duration| started.elapsed() < duration)
                {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    if let Some(mismatch) = try_seed(seed, totals) {
                        stop.store(true, Ordering::Relaxed);
                        *found.lock().unwrap_or_else(|e| e.into_inner()) = Some(mismatch);
                    }
                    if worker == 0 && !args.quiet && told.elapsed() > Duration::from_secs(2) {
                        told = Instant::now();
                        eprintln!("mover: {}", told_so_far(totals, started));
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    let told = match &found {
        Some(mismatch) => format!(
            "{mismatch}\nmismatch after {}\n",
            told_so_far(&totals, started)
        ),
        None => format!(
            "{}no mismatch in {}\n",
            told_ways(&totals),
            told_so_far(&totals, started)
        ),
    };
    match print(&told) {
        Ok(()) if found.is_some() => INTERNAL_ERROR,
        Ok(()) => 0,
        Err(code) => code,
    }
}

/// Compares the program of one seed; tells the smallest program if something is wrong.
fn try_seed(seed: u64, totals: &Totals) -> Option<String> {
    let model = Model::random(seed);
    totals.tried.fetch_add(1, Ordering::Relaxed);
    match check_model(&model) {
        Ok(None) => None,
        Ok(Some(compared)) => {
            totals.compared.fetch_add(1, Ordering::Relaxed);
            let add = |total: &AtomicU64, amount| total.fetch_add(amount, Ordering::Relaxed);
            add(&totals.wrong, u64::from(compared.is_wrong));
            add(&totals.deadlocks, u64::from(compared.has_deadlock));
            for (total, states) in totals.states.iter().zip(compared.states) {
                add(total, states);
            }
            None
        }
        Err(mismatch) => {
            let (model, mismatch) = smallest(&model, mismatch);
            Some(format!("seed {seed}: {mismatch}\n{}", model.text()))
        }
    }
}

fn told_so_far(totals: &Totals, started: Instant) -> String {
    let get = |total: &AtomicU64| total.load(Ordering::Relaxed);
    format!(
        "{} programs ({} compared, {} with errors, {} with deadlocks), {:.0} s",
        get(&totals.tried),
        get(&totals.compared),
        get(&totals.wrong),
        get(&totals.deadlocks),
        started.elapsed().as_secs_f64()
    )
}

/// How much each way stores, as a share of all states.
fn told_ways(totals: &Totals) -> String {
    let all = totals.states[0].load(Ordering::Relaxed).max(1);
    WAYS.iter()
        .zip(&totals.states)
        .map(|(way, states)| {
            let share = states.load(Ordering::Relaxed) as f64 * 100.0 / all as f64;
            format!("{share:6.1} % of the states stored by {way}\n")
        })
        .collect()
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write 30s, 10m or 8h");
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

//! `mover fuzz`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mover_fuzz::WAYS;
use mover_fuzz::subject::{Generator, Subject};
use mover_fuzz::symbolic::VOTERS;

use crate::output::{print, write_file};
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

    /// What to make: Promela models, C programs, or by turns all that there is
    #[arg(long, value_enum, default_value = "all")]
    generator: Made,

    /// Which engines to compare: explicit search in all its ways, or the symbolic ones as well
    #[arg(long, value_enum, default_value = "all")]
    engines: Engines,

    /// How long a symbolic engine may take for an answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300)]
    patience: u64,

    /// Write the smallest program of a mismatch into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Made {
    Promela,
    C,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engines {
    Explicit,
    All,
}

/// What the searches have come to so far.
struct Totals {
    /// By generator.
    tried: Vec<AtomicU64>,
    compared: Vec<AtomicU64>,
    wrong: AtomicU64,
    deadlocks: AtomicU64,
    /// By way of explicit search.
    states: Vec<AtomicU64>,
    /// By symbolic engine.
    answers: Vec<AtomicU64>,
}

impl Totals {
    fn new() -> Totals {
        let zeroes = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Totals {
            tried: zeroes(Generator::ALL.len()),
            compared: zeroes(Generator::ALL.len()),
            wrong: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            states: zeroes(WAYS.len()),
            answers: zeroes(VOTERS.len()),
        }
    }
}

/// What is to be tried.
struct Plan<'a> {
    generators: Vec<Generator>,
    /// For each answer of a symbolic engine; none if they are not asked.
    patience: Option<Duration>,
    write: Option<&'a Path>,
}

impl Plan<'_> {
    fn new(args: &FuzzArgs) -> Result<Plan<'_>, String> {
        let is_asked = |generator: &Generator| match args.generator {
            Made::All => true,
            Made::Promela => generator.name() == "promela",
            Made::C => generator.name() == "c",
        };
        let generators: Vec<Generator> = Generator::ALL.iter().copied().filter(is_asked).collect();
        if generators.is_empty() {
            return Err("this mover was built without LLVM and makes no C (feature `c`)".into());
        }
        let patience = Duration::from_millis(args.patience);
        Ok(Plan {
            generators,
            patience: (args.engines == Engines::All).then_some(patience),
            write: args.write.as_deref(),
        })
    }

    fn generator(&self, seed: u64) -> Generator {
        self.generators[(seed % self.generators.len() as u64) as usize]
    }

    fn subject(&self, seed: u64) -> Subject {
        self.generator(seed).subject(seed)
    }
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
    let plan = match Plan::new(args) {
        Ok(plan) => plan,
        Err(reason) => {
            crate::errors::complain("U002", reason);
            return USAGE;
        }
    };
    if args.show {
        return match print(&plan.subject(args.seed).text()) {
            Ok(()) => 0,
            Err(code) => code,
        };
    }
    let totals = Totals::new();
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
            let (plan, totals, stop, next, found) = (&plan, &totals, &stop, &next, &found);
            scope.spawn(move || {
                let mut told = Instant::now();
                while !stop.load(Ordering::Relaxed)
                    && duration.is_none_or(|duration| started.elapsed() < duration)
                {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    if let Some(mismatch) = try_seed(plan, seed, totals) {
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
fn try_seed(plan: &Plan, seed: u64, totals: &Totals) -> Option<String> {
    let generator = plan.generator(seed);
    let of_generator = Generator::ALL.iter().position(|&other| other == generator);
    let subject = plan.subject(seed);
    let add = |total: &AtomicU64, amount| total.fetch_add(amount, Ordering::Relaxed);
    let count = |totals: &[AtomicU64]| {
        if let Some(number) = of_generator {
            add(&totals[number], 1);
        }
    };
    count(&totals.tried);
    let mismatch = match subject.examine(plan.patience) {
        Ok(None) => return None,
        Ok(Some(examined)) => {
            count(&totals.compared);
            let compared = examined.compared;
            add(&totals.wrong, u64::from(compared.is_wrong));
            add(&totals.deadlocks, u64::from(compared.has_deadlock));
            for (total, states) in totals.states.iter().zip(compared.states) {
                add(total, states);
            }
            for (total, answers) in totals.answers.iter().zip(examined.answers) {
                add(total, answers);
            }
            return None;
        }
        Err(mismatch) => mismatch,
    };
    let (subject, mismatch) = subject.smallest(mismatch, plan.patience);
    let text = subject.text();
    let mut told = format!("{} seed {seed}: {mismatch}\n{text}", generator.name());
    if let Some(folder) = plan.write {
        let file = folder.join(format!("mismatch-{seed}.{}", subject.extension()));
        told += &match write_file(&file, &text) {
            Ok(()) => format!("written to {}\n", file.display()),
            Err(reason) => format!("{reason}\n"),
        };
    }
    Some(told)
}

fn told_so_far(totals: &Totals, started: Instant) -> String {
    let get = |total: &AtomicU64| total.load(Ordering::Relaxed);
    let of_generator = |number: usize| {
        let name = Generator::ALL[number].name();
        let (tried, compared) = (&totals.tried[number], &totals.compared[number]);
        (get(tried) > 0).then(|| format!("{} {name} ({} compared)", get(tried), get(compared)))
    };
    let made: Vec<String> = (0..Generator::ALL.len()).filter_map(of_generator).collect();
    format!(
        "{} programs: {}; {} with errors, {} with deadlocks, {:.0} s",
        totals.tried.iter().map(get).sum::<u64>(),
        made.join(", "),
        get(&totals.wrong),
        get(&totals.deadlocks),
        started.elapsed().as_secs_f64()
    )
}

/// How much each way stores, as a share of all states, and how much symbolic engines answer.
fn told_ways(totals: &Totals) -> String {
    let all = totals.states[0].load(Ordering::Relaxed).max(1);
    WAYS.iter()
        .zip(&totals.states)
        .map(|(way, states)| {
            let share = states.load(Ordering::Relaxed) as f64 * 100.0 / all as f64;
            format!("{share:6.1} % of the states stored by {way}\n")
        })
        .chain(
            VOTERS
                .iter()
                .zip(&totals.answers)
                .filter_map(|(voter, answers)| {
                    let answers = answers.load(Ordering::Relaxed);
                    (answers > 0).then(|| format!("{answers:8} answers of {voter}\n"))
                }),
        )
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

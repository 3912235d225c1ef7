//! `mover fuzz`: random programs on which all engines are compared.
//!
//! A *campaign* generates a program for each seed, checks it with every engine and every
//! reduction, and compares the answers ([`mover_fuzz`] has generators, engines and the judge).
//! Where two differ, the program is minimised as long as they still do. All cores take seeds in
//! order, so a campaign can be repeated and continued by its first seed.
//!
//! This is a separate program, so that mover does not contain its own test tools; `mover fuzz`
//! runs it.

// What cannot be printed must not end the program: `mover_cli::output` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod totals;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use mover_cli::diagnostics::refuse;
use mover_cli::output::{OutputError, check_writable, print, write_file};
use mover_cli::process::{exit_code, on_large_stack, parse};
use mover_cli::{Cause, CliError, Exit, stderr_line};
use mover_fuzz::compare::PassedOver;
use mover_fuzz::subject::{Asked, Examined, Generator, Subject, engines};
use mover_source::SourceMap;
use totals::{Told, Totals, as_json, as_text, told_so_far};

/// Fuzz the engines: check random programs with all of them and compare the answers.
#[derive(Parser)]
#[command(name = "mover-fuzz", bin_name = "mover fuzz", version)]
struct FuzzArgs {
    /// First seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Number of programs to try
    #[arg(long, default_value_t = 1000)]
    count: u64,

    /// Try programs for this long instead: 30s, 10m, 8h
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<String>,

    /// What to generate: Promela models, C programs, C programs about the ways to protect data,
    /// programs of the intermediate representation, transactional-memory algorithms, or all of
    /// them in turn
    #[arg(long, value_enum, default_value = "all")]
    generator: Made,

    /// What to ask: compare all variants of explicit search, or the symbolic engines as well, or
    /// test whether the movers of each reduction commute
    #[arg(long, value_enum, default_value = "all")]
    engines: Engines,

    /// Time limit of a symbolic engine for one answer, or of a test of movers, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300)]
    patience: u64,

    /// Write the minimised program of a mismatch into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

    /// Continue after a mismatch
    #[arg(long)]
    keep_going: bool,

    /// Check these files, written by --write, instead of random programs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    replay: Vec<PathBuf>,

    /// Cores to use
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// Print the program of the first seed instead of searching it
    #[arg(long)]
    show: bool,

    /// Print the totals as one JSON object
    #[arg(long)]
    json: bool,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Made {
    Promela,
    C,
    Protection,
    Ir,
    Tm,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engines {
    Explicit,
    All,
    Movers,
}

/// What the command line asks for cannot be done.
#[derive(Debug, thiserror::Error)]
enum CampaignError {
    #[error("--jobs needs at least 1")]
    NoJobs,
    #[error("this mover was built without LLVM and cannot generate C (feature `c`)")]
    NoGenerator,
    #[error("`{0}` is not a duration; write 30s, 10m or 8h")]
    Duration(String),
    #[error("--seed and --count go beyond the last seed, {}", u64::MAX - 1)]
    TooManySeeds,
    #[error("cannot make {}: {source}", folder.display())]
    Folder {
        folder: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<CampaignError> for CliError {
    fn from(error: CampaignError) -> Self {
        CliError::usage("U002", error)
    }
}

/// Why a subject is not kept in a file.
#[derive(Debug, thiserror::Error)]
enum NotWritten {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// What is to be tried.
struct Plan<'a> {
    generators: Vec<Generator>,
    asked: Asked,
    write: Option<&'a Path>,
}

impl Plan<'_> {
    fn new(args: &FuzzArgs) -> Result<Plan<'_>, CampaignError> {
        let is_asked = |generator: &Generator| match args.generator {
            Made::All => true,
            Made::Promela => generator.name() == "promela",
            Made::C => generator.name() == "c",
            Made::Protection => generator.name() == "protection",
            Made::Ir => generator.name() == "ir",
            Made::Tm => generator.name() == "tm",
        };
        // Transactional memories have no movers.
        let has_question =
            |generator: &Generator| args.engines != Engines::Movers || *generator != Generator::Tm;
        let generators: Vec<Generator> = Generator::ALL
            .iter()
            .copied()
            .filter(is_asked)
            .filter(has_question)
            .collect();
        if generators.is_empty() {
            return Err(CampaignError::NoGenerator);
        }
        let patience = Duration::from_millis(args.patience);
        Ok(Plan {
            generators,
            asked: match args.engines {
                Engines::Explicit => Asked::Explicit,
                Engines::All => Asked::All(patience),
                Engines::Movers => Asked::Movers(patience),
            },
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

fn main() -> ExitCode {
    exit_code(match parse::<FuzzArgs>() {
        Ok(Some(args)) => on_large_stack(|| run(&args)),
        Ok(None) => Ok(Exit::Success),
        Err(error) => Err(error),
    })
}

fn run(args: &FuzzArgs) -> Result<Exit, CliError> {
    let duration = args.duration.as_deref().map(parse_duration);
    let duration = duration.transpose()?;
    if args.jobs == 0 {
        return Err(CampaignError::NoJobs.into());
    }
    let plan = Plan::new(args)?;
    if args.show {
        print(&plan.subject(args.seed).text())?;
        return Ok(Exit::Success);
    }
    if !args.replay.is_empty() {
        return replay(args, plan.asked);
    }
    let least = if duration.is_some() { 1 } else { args.count };
    let end = args.seed.checked_add(least);
    let end = end.ok_or(CampaignError::TooManySeeds)?;
    let end = if duration.is_some() { u64::MAX } else { end };
    if let Some(folder) = &args.write {
        check_folder(folder)?;
    }
    let names = engines();
    let totals = Mutex::new(Totals::new(names.len()));
    let locked = || totals.lock().unwrap_or_else(PoisonError::into_inner);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    if let Err(error) = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)) {
        stderr_line!("mover: signals are not handled: {error}");
    }
    let next = AtomicU64::new(args.seed);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..args.jobs {
            let (plan, stop, next, names, locked) = (&plan, &stop, &next, &names, &locked);
            scope.spawn(move || {
                let mut told = Instant::now();
                while !stop.load(Ordering::Relaxed)
                    && duration.is_none_or(|duration| started.elapsed() < duration)
                {
                    let behind = |seed: u64| (seed < end).then(|| seed + 1);
                    let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, behind);
                    let Ok(seed) = taken else {
                        return;
                    };
                    let generator = plan.generator(seed);
                    let of = Generator::ALL.iter().position(|&other| other == generator);
                    let of = of.unwrap_or(0);
                    locked().of_generator[of].programs += 1;
                    match try_seed(plan, seed) {
                        Ok(examined) => locked().of_generator[of].add(examined),
                        Err(mismatch) => {
                            if !args.keep_going {
                                stop.store(true, Ordering::Relaxed);
                            }
                            let mut totals = locked();
                            totals.of_generator[of].mismatches += 1;
                            let way = &mismatch.mismatch.way;
                            if let Some(engine) = names.iter().position(|name| name == way) {
                                totals.of_generator[of].engines[engine].1 += 1;
                            }
                            totals.mismatches.push(*mismatch);
                        }
                    }
                    if worker == 0 && !args.quiet && told.elapsed() > Duration::from_secs(2) {
                        told = Instant::now();
                        stderr_line!("mover: {}", told_so_far(&locked(), started));
                    }
                }
            });
        }
    });
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    let text = if args.json {
        format!("{:#}\n", as_json(&totals, &names, started))
    } else {
        as_text(&totals, &names, started)
    };
    print(&text)?;
    ended(totals.mismatches.is_empty())
}

/// A mismatch is a bug of mover. It has been printed on standard output.
fn ended(is_clean: bool) -> Result<Exit, CliError> {
    if is_clean {
        Ok(Exit::Success)
    } else {
        Err(CliError::Reported(Cause::Internal))
    }
}

/// Examines what was written once.
fn replay(args: &FuzzArgs, asked: Asked) -> Result<Exit, CliError> {
    let mut is_clean = true;
    let mut told = String::new();
    for file in &args.replay {
        let subject = Subject::read(file).map_err(|reason| CliError::input("U010", reason))?;
        let said = match subject.examine(asked) {
            Ok(Ok(_)) => "no mismatch".to_string(),
            Ok(Err(reason)) => {
                if reason == PassedOver::Invalid {
                    check_readable(file, &subject.text())?;
                }
                reason.name().to_string()
            }
            Err(mismatch) => {
                is_clean = false;
                mismatch.to_string()
            }
        };
        let _ = writeln!(told, "{}: {said}", file.display());
    }
    print(&told)?;
    ended(is_clean)
}

/// Whether a front end takes a file; if not, its diagnostics have been printed.
fn check_readable(file: &Path, text: &str) -> Result<(), CliError> {
    let name = file.display().to_string();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("tm") => {
            let mut sources = SourceMap::default();
            let id = sources.add(&name, text);
            let read = mover_tm::language::load(&sources, id);
            read.map_err(|errors| refuse(&name, &sources, &errors))?;
        }
        #[cfg(feature = "c")]
        Some("c") => {
            let read = mover_c::read(&[file.to_path_buf()], &mover_c::Options::default());
            read.map_err(|failure| {
                mover_cli::stderr!("{}", failure.compiler);
                refuse(&name, &failure.sources, &failure.diagnostics)
            })?;
        }
        _ => {
            mover_promela::parse_text(&name, text)
                .map_err(|failure| refuse(&name, &failure.sources, &failure.diagnostics))?;
        }
    }
    Ok(())
}

/// Makes the directory for what is found, if need be. A night of searching must not end with
/// a mismatch that cannot be kept.
fn check_folder(folder: &Path) -> Result<(), CampaignError> {
    std::fs::create_dir_all(folder).map_err(|source| CampaignError::Folder {
        folder: folder.to_path_buf(),
        source,
    })?;
    Ok(check_writable(&folder.join("mismatch"))?)
}

/// Keeps a program in a file.
fn keep(subject: &Subject, about: &str, file: &Path) -> Result<(), NotWritten> {
    Ok(write_file(file, &subject.file(about)?)?)
}

/// Compares the program of one seed; tells the smallest program if something is wrong.
fn try_seed(plan: &Plan, seed: u64) -> Result<Result<Examined, PassedOver>, Box<Told>> {
    let generator = plan.generator(seed).name();
    let subject = plan.subject(seed);
    let mismatch = match subject.examine(plan.asked) {
        Ok(examined) => return Ok(examined),
        Err(mismatch) => mismatch,
    };
    let (subject, mismatch) = subject.smallest(mismatch, plan.asked);
    let written = plan.write.map(|folder| {
        let name = format!("{generator}-{seed}.{}", subject.extension());
        let file = folder.join(name);
        let about = format!("{generator} seed {seed}: {mismatch}");
        match keep(&subject, &about, &file) {
            Ok(()) => format!("written to {}", file.display()),
            Err(error) => error.to_string(),
        }
    });
    Err(Box::new(Told {
        generator,
        seed,
        mismatch,
        text: subject.text(),
        written,
    }))
}

fn parse_duration(text: &str) -> Result<Duration, CampaignError> {
    let wrong = || CampaignError::Duration(text.into());
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

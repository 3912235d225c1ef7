//! `mover fuzz`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mover_fuzz::compare::{Mismatch, PassedOver, Tally};
use mover_fuzz::subject::{Examined, Generator, Subject, engines};
use mover_source::SourceMap;
use serde_json::{Value, json};

use crate::input::refuse;
use crate::output::{check_writable, print, write_file};
use crate::{BAD_INPUT, INTERNAL_ERROR, USAGE};

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

    /// What to make: Promela models, C programs, programs of the intermediate language,
    /// algorithms of transactional memories, or by turns all that there is
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

    /// Go on after a mismatch
    #[arg(long)]
    keep_going: bool,

    /// Examine these files, which --write has written, instead of random programs
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
    Ir,
    Tm,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engines {
    Explicit,
    All,
}

/// What the searches have come to so far, by number of generator.
struct Totals {
    of_generator: Vec<OfGenerator>,
    mismatches: Vec<Told>,
}

#[derive(Clone, Default)]
struct OfGenerator {
    programs: u64,
    compared: u64,
    /// By number in [`PassedOver::ALL`].
    passed_over: [u64; PassedOver::ALL.len()],
    mismatches: u64,
    wrong: u64,
    deadlocks: u64,
    /// By number of engine: what it made of its questions, and in how many it was wrong.
    engines: Vec<(Tally, u64)>,
}

/// A mismatch, with the smallest program that shows it.
struct Told {
    generator: &'static str,
    seed: u64,
    mismatch: Mismatch,
    text: String,
    /// Where it has been written, or why not.
    written: Option<String>,
}

impl Totals {
    fn new(engines: usize) -> Totals {
        let none = OfGenerator {
            engines: vec![(Tally::default(), 0); engines],
            ..OfGenerator::default()
        };
        Totals {
            of_generator: vec![none; Generator::ALL.len()],
            mismatches: Vec::new(),
        }
    }
}

impl OfGenerator {
    fn add(&mut self, examined: Result<Examined, PassedOver>) {
        match examined {
            Ok(examined) => {
                self.compared += 1;
                self.wrong += u64::from(examined.is_wrong);
                self.deadlocks += u64::from(examined.has_deadlock);
                for ((total, _), tally) in self.engines.iter_mut().zip(examined.tallies) {
                    *total += tally;
                }
            }
            Err(reason) => {
                let number = PassedOver::ALL.iter().position(|&other| other == reason);
                self.passed_over[number.unwrap_or(0)] += 1;
            }
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
            Made::Ir => generator.name() == "ir",
            Made::Tm => generator.name() == "tm",
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
    if !args.replay.is_empty() {
        return replay(args, plan.patience);
    }
    let least = if duration.is_some() { 1 } else { args.count };
    let Some(end) = args.seed.checked_add(least) else {
        let reason = format!(
            "--seed and --count go beyond the last seed, {}",
            u64::MAX - 1
        );
        crate::errors::complain("U002", reason);
        return USAGE;
    };
    let end = if duration.is_some() { u64::MAX } else { end };
    if let Err(reason) = args.write.as_deref().map_or(Ok(()), check_folder) {
        crate::errors::complain("U002", reason);
        return USAGE;
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
    match print(&text) {
        Ok(()) if !totals.mismatches.is_empty() => INTERNAL_ERROR,
        Ok(()) => 0,
        Err(code) => code,
    }
}

/// Examines what was written once.
fn replay(args: &FuzzArgs, patience: Option<Duration>) -> u8 {
    let mut mismatches = 0;
    let mut told = String::new();
    for file in &args.replay {
        let subject = match Subject::read(file) {
            Ok(subject) => subject,
            Err(reason) => {
                crate::errors::complain("U010", reason);
                return BAD_INPUT;
            }
        };
        let said = match subject.examine(patience) {
            Ok(Ok(_)) => "no mismatch".to_string(),
            Ok(Err(reason)) => {
                if reason == PassedOver::Invalid
                    && let Err(code) = readable(file, &subject.text())
                {
                    return code;
                }
                reason.name().to_string()
            }
            Err(mismatch) => {
                mismatches += 1;
                mismatch.to_string()
            }
        };
        let _ = writeln!(told, "{}: {said}", file.display());
    }
    match print(&told) {
        Ok(()) if mismatches > 0 => INTERNAL_ERROR,
        Ok(()) => 0,
        Err(code) => code,
    }
}

/// Whether a front end takes a file; if not, everything has been said and the exit code is given.
fn readable(file: &Path, text: &str) -> Result<(), u8> {
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
                stderr!("{}", failure.compiler);
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
fn check_folder(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    check_writable(&folder.join("mismatch"))
}

/// Compares the program of one seed; tells the smallest program if something is wrong.
fn try_seed(plan: &Plan, seed: u64) -> Result<Result<Examined, PassedOver>, Box<Told>> {
    let generator = plan.generator(seed).name();
    let subject = plan.subject(seed);
    let mismatch = match subject.examine(plan.patience) {
        Ok(examined) => return Ok(examined),
        Err(mismatch) => mismatch,
    };
    let (subject, mismatch) = subject.smallest(mismatch, plan.patience);
    let written = plan.write.map(|folder| {
        let name = format!("{generator}-{seed}.{}", subject.extension());
        let file = folder.join(name);
        let about = format!("{generator} seed {seed}: {mismatch}");
        let done = subject
            .file(&about)
            .and_then(|text| write_file(&file, &text).map_err(|reason| reason.to_string()));
        match done {
            Ok(()) => format!("written to {}", file.display()),
            Err(reason) => reason,
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

fn told_so_far(totals: &Totals, started: Instant) -> String {
    let all = Generator::ALL.iter().zip(&totals.of_generator);
    let made: Vec<String> = all
        .filter(|(_, of)| of.programs > 0)
        .map(|(generator, of)| {
            let name = generator.name();
            format!("{} {name} ({} compared)", of.programs, of.compared)
        })
        .collect();
    let sum = |what: fn(&OfGenerator) -> u64| totals.of_generator.iter().map(what).sum::<u64>();
    let mismatches = match totals.mismatches.len() {
        0 => String::new(),
        1 => ", 1 mismatch".into(),
        many => format!(", {many} mismatches"),
    };
    format!(
        "{} programs: {}; {} with errors, {} with deadlocks{mismatches}, {:.0} s",
        sum(|of| of.programs),
        made.join(", "),
        sum(|of| of.wrong),
        sum(|of| of.deadlocks),
        started.elapsed().as_secs_f64()
    )
}

/// Everything in tables: the programs by generator, the answers by engine.
fn as_text(totals: &Totals, names: &[String], started: Instant) -> String {
    let mut text = String::new();
    for told in &totals.mismatches {
        let Told {
            generator,
            seed,
            mismatch,
            text: program,
            written,
        } = told;
        let _ = writeln!(text, "{generator} seed {seed}: {mismatch}\n{program}");
        if let Some(written) = written {
            let _ = writeln!(text, "{written}");
        }
    }
    let _ = writeln!(
        text,
        "generator   programs   compared  not valid  too large     errors  deadlocks  mismatches"
    );
    let used = || {
        let all = Generator::ALL.iter().zip(&totals.of_generator);
        all.filter(|(_, of)| of.programs > 0)
    };
    for (generator, of) in used() {
        let [invalid, large] = of.passed_over;
        let _ = writeln!(
            text,
            "{:9} {:10} {:10} {invalid:10} {large:10} {:10} {:10} {:11}",
            generator.name(),
            of.programs,
            of.compared,
            of.wrong,
            of.deadlocks,
            of.mismatches
        );
    }
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let _ = write!(text, "\n{:longest$}", "answers compared");
    for (generator, _) in used() {
        let _ = write!(text, " {:>8}", generator.name());
    }
    let _ = writeln!(text, "  not taken       open  states  mismatches");
    let all_states = |engine: usize| -> u64 {
        let all = totals.of_generator.iter();
        all.map(|of| of.engines[engine].0.states).sum()
    };
    for (number, name) in names.iter().enumerate() {
        let mut sum = Tally::default();
        let mut mismatches = 0;
        for (_, of) in used() {
            sum += of.engines[number].0;
            mismatches += of.engines[number].1;
        }
        if sum == Tally::default() && mismatches == 0 {
            continue;
        }
        let _ = write!(text, "{name:longest$}");
        for (_, of) in used() {
            let _ = write!(text, " {:8}", of.engines[number].0.answered);
        }
        let share = match sum.states {
            0 => String::new(),
            states => format!(
                "{:.1} %",
                states as f64 * 100.0 / all_states(0).max(1) as f64
            ),
        };
        let _ = writeln!(
            text,
            " {:10} {:10} {share:>7} {mismatches:11}",
            sum.unsupported, sum.unfinished
        );
    }
    let found = match totals.mismatches.len() {
        0 => "no mismatch in",
        _ => "mismatch after",
    };
    let _ = writeln!(text, "\n{found} {}", told_so_far(totals, started));
    text
}

fn as_json(totals: &Totals, names: &[String], started: Instant) -> Value {
    let mut generators = Vec::new();
    let mut answers = Vec::new();
    for (generator, of) in Generator::ALL.iter().zip(&totals.of_generator) {
        if of.programs == 0 {
            continue;
        }
        let [invalid, large] = of.passed_over;
        generators.push(json!({
            "generator": generator.name(),
            "programs": of.programs,
            "compared": of.compared,
            "passed_over": { "not_valid": invalid, "too_large": large },
            "with_errors": of.wrong,
            "with_deadlocks": of.deadlocks,
            "mismatches": of.mismatches,
        }));
        for (name, (tally, mismatches)) in names.iter().zip(&of.engines) {
            if *tally == Tally::default() && *mismatches == 0 {
                continue;
            }
            answers.push(json!({
                "generator": generator.name(),
                "engine": name,
                "compared": tally.answered,
                "passed_over": {
                    "not_supported": tally.unsupported,
                    "not_finished": tally.unfinished,
                },
                "states": tally.states,
                "mismatches": mismatches,
            }));
        }
    }
    let mismatches: Vec<Value> = totals
        .mismatches
        .iter()
        .map(|told| {
            json!({
                "generator": told.generator,
                "seed": told.seed,
                "property": told.mismatch.property,
                "engine": told.mismatch.way,
                "what": told.mismatch.what,
                "program": told.text,
                "written": told.written,
            })
        })
        .collect();
    json!({
        "seconds": started.elapsed().as_secs_f64(),
        "generators": generators,
        "engines": answers,
        "mismatches": mismatches,
    })
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

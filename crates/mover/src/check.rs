//! `mover check`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mover_explicit::{Options, Order, Outcome, Stop};
use mover_ir::print::print_program;
use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_reduce::movers;
use mover_report::text::Style;
use mover_report::trace::Trace;
use mover_report::verdict::{Answer, Verdict};
use mover_report::{json, text};
use mover_symbolic::outcome::Question;
use mover_symbolic::sat::Limit;

use crate::input::{self, InputArgs};
use crate::output::{print, stdout_color, write_file};
use crate::progress::Progress;
use crate::resources::{available_memory, peak_mb};
use crate::symbolic::{Asked, SymbolicArgs, SymbolicEngine, code_of};
use crate::{BAD_INPUT, INTERNAL_ERROR, UNKNOWN, USAGE};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Let mover choose
    Auto,
    /// Visit the states one by one
    Explicit,
    /// Unroll transactions into a formula; finds shallow violations, proves what always ends
    Bmc,
    /// Look for an inductive invariant; proves programs that run for ever
    Ic3,
    Token,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reduction {
    /// All interleavings
    None,
    /// Transactions by movers that are known before the search
    Static,
    Phase,
    Dynamic,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchOrder {
    /// Breadth first: a counterexample is as short as any
    Bfs,
    /// Depth first
    Dfs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dump {
    /// The program as mover understands it
    Ir,
    /// The question to the solver, in SMT-LIB: with `--engine bmc` whether a violation is within
    /// `--depth` blocks, with `--engine ic3` whether the invariant found can be broken
    Smt2,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,

    /// What to check (may be repeated): `unreach-call` (no assertion fails) or `no-deadlock` (no
    /// invalid end state); both if not given
    #[arg(long = "property", value_name = "NAME")]
    properties: Vec<Property>,

    /// How to search; `auto` is explicit search, or, with `--jobs`, a race of engines
    #[arg(long, value_enum, default_value = "auto")]
    engine: Engine,

    /// Which interleavings to leave out; this version has `none` and `static`
    #[arg(long, value_enum, default_value = "none")]
    reduce: Reduction,

    /// Which states to expand first
    #[arg(long, value_enum, default_value = "bfs")]
    order: SearchOrder,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    /// Write the counterexample to a file that `mover replay` reads
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,

    /// Give up when the search needs more memory than this (default: nine tenths of what is free)
    #[arg(long, value_name = "MB")]
    memory: Option<u64>,

    /// Cores to use: how many engines `--engine auto` lets race
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// Do not stop at the first violation: visit everything, count violations, and go on behind a
    /// failed assertion as if it had held (as SPIN's `pan -c0` does)
    #[arg(long)]
    keep_going: bool,

    /// Print the program or the formula instead of checking
    #[arg(long, value_enum, value_name = "WHAT")]
    dump: Option<Dump>,

    #[command(flatten)]
    symbolic: SymbolicArgs,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(args: CheckArgs) -> u8 {
    if let Err(reason) = available(&args) {
        eprintln!("mover: {reason}");
        return USAGE;
    }
    let mut program = match input::read(&args.input) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let properties_asked = properties(&args);
    if args.dump == Some(Dump::Smt2) {
        if !properties_asked.contains(&Property::UnreachCall) {
            program.resume_after_errors();
        }
        return dump_smt2(&args, &program, &properties_asked);
    }
    if args.dump == Some(Dump::Ir) {
        return match print(&print_program(&program)) {
            Ok(()) => 0,
            Err(code) => code,
        };
    }
    if !properties_asked.contains(&Property::UnreachCall) {
        program.resume_after_errors();
    }
    check(&args, &program, properties_asked)
}

fn properties(args: &CheckArgs) -> Vec<Property> {
    if args.properties.is_empty() {
        return Property::BASIC.to_vec();
    }
    let mut properties = args.properties.clone();
    properties.sort();
    properties.dedup();
    properties
}

/// What this version does not have is refused by name.
fn available(args: &CheckArgs) -> Result<(), String> {
    if args.engine == Engine::Token {
        return Err("this engine is not part of this version; use `--engine bmc`".into());
    }
    let is_explicit = matches!(args.engine, Engine::Auto | Engine::Explicit);
    if is_explicit && !matches!(args.reduce, Reduction::None | Reduction::Static) {
        return Err("explicit search has `--reduce none` and `static` in this version".into());
    }
    if args.keep_going && !is_explicit {
        return Err("--keep-going is for explicit search".into());
    }
    if args.dump == Some(Dump::Smt2) && is_explicit {
        return Err("`--dump smt2` goes with `--engine bmc` or `--engine ic3`".into());
    }
    args.symbolic.check(matches!(args.engine, Engine::Bmc))?;
    if args.keep_going && args.reduce != Reduction::None {
        return Err("--keep-going counts all states and goes with `--reduce none` only".into());
    }
    let foreign = |property: &&Property| !Property::BASIC.contains(property);
    if let Some(property) = args.properties.iter().find(foreign) {
        return Err(format!(
            "nothing checks `{property}` of a Promela model; its properties are `unreach-call` \
             and `no-deadlock`"
        ));
    }
    if args.jobs == 0 {
        return Err("--jobs needs at least 1".into());
    }
    if args
        .timeout
        .is_some_and(|seconds| !(seconds >= 0.0 && seconds.is_finite()))
    {
        return Err("--timeout needs a number of seconds".into());
    }
    if args.jobs > 1 && args.engine != Engine::Auto && !args.quiet {
        eprintln!("mover: one engine runs on one core; `--engine auto` lets several race");
    }
    Ok(())
}

/// What an engine has to say.
pub struct Told {
    pub answer: Answer,
    /// The error location that a trace file names.
    pub error: Option<(TemplateId, LocationId)>,
    /// Whether the engine met something that only others can take.
    pub is_refused: bool,
}

fn check(args: &CheckArgs, program: &Program, properties: Vec<Property>) -> u8 {
    let interrupt = Arc::new(AtomicBool::new(false));
    stop_on_signal(&interrupt);
    let told = match args.engine {
        Engine::Auto if args.jobs > 1 => race(args, program, &properties, &interrupt),
        Engine::Auto => match explicit(args, program, &properties, &interrupt) {
            // What cannot be enumerated can still be reasoned about.
            Ok(told) if told.is_refused => {
                symbolic(args, program, &properties, &interrupt, SymbolicEngine::Ic3)
            }
            told => told,
        },
        Engine::Bmc => symbolic(args, program, &properties, &interrupt, SymbolicEngine::Bmc),
        Engine::Ic3 => symbolic(args, program, &properties, &interrupt, SymbolicEngine::Ic3),
        _ => explicit(args, program, &properties, &interrupt),
    };
    match told {
        Ok(told) => tell(args, program, told),
        Err(code) => code,
    }
}

fn explicit(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    interrupt: &AtomicBool,
) -> Result<Told, u8> {
    let started = Instant::now();
    let movers = match args.reduce {
        Reduction::Static => match movers(program) {
            Ok(movers) => Some(movers),
            Err(reason) => {
                eprintln!("mover: searching without reduction: {reason}");
                None
            }
        },
        _ => None,
    };
    let progress = Progress::new(args.quiet);
    let memory = args
        .memory
        .map(|megabytes| megabytes << 20)
        .or_else(|| available_memory().map(|bytes| bytes / 10 * 9));
    let outcome = mover_explicit::explore(
        program,
        Options {
            order: match args.order {
                SearchOrder::Bfs => Order::BreadthFirst,
                SearchOrder::Dfs => Order::DepthFirst,
            },
            movers: movers.as_ref(),
            errors: properties.contains(&Property::UnreachCall),
            deadlocks: properties.contains(&Property::NoDeadlock),
            keep_going: args.keep_going,
            timeout: args.timeout.map(Duration::from_secs_f64),
            memory: memory.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            interrupt,
            progress: &mut |statistics| progress.show(statistics),
        },
    );
    progress.finish();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(reason) => {
            eprintln!("mover: {}: {reason}", args.input.file.display());
            return Err(BAD_INPUT);
        }
    };
    let verdict = match verdict(program, &outcome) {
        Ok(verdict) => verdict,
        Err(reason) => {
            eprintln!("mover: internal error: the counterexample does not replay: {reason}");
            return Err(INTERNAL_ERROR);
        }
    };
    let error = outcome.violation.as_ref().and_then(|found| found.error);
    let answer = Answer {
        verdict,
        properties: properties.to_vec(),
        engine: "explicit",
        reduction: if movers.is_some() { "static" } else { "none" },
        states: outcome.statistics.states,
        transitions: outcome.statistics.transitions,
        depth: outcome.statistics.depth,
        store_bytes: outcome.statistics.bytes,
        violations: outcome.statistics.violations,
        time: started.elapsed(),
        peak_mb: peak_mb(),
        caveats: program.caveats.clone(),
        symbolic: None,
    };
    Ok(Told {
        answer,
        error,
        is_refused: outcome.refusal.is_some(),
    })
}

fn symbolic(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    interrupt: &Arc<AtomicBool>,
    engine: SymbolicEngine,
) -> Result<Told, u8> {
    let question = question(args, properties, interrupt);
    let progress = Progress::new(args.quiet);
    let asked = Asked {
        program,
        properties,
        question: &question,
        show_invariant: args.symbolic.show_invariant,
        certify: args.symbolic.certify,
    };
    let told = asked.answer(engine, &mut |figures| progress.show_symbolic(engine, figures));
    progress.finish();
    told.map_err(|failure| {
        eprintln!("mover: {}: {failure}", args.input.file.display());
        code_of(&failure)
    })
}

fn question(args: &CheckArgs, properties: &[Property], interrupt: &Arc<AtomicBool>) -> Question {
    Question {
        reduction: match args.reduce {
            Reduction::None => mover_reduce::Reduction::None,
            Reduction::Static => mover_reduce::Reduction::Static,
            Reduction::Phase => mover_reduce::Reduction::Phase,
            Reduction::Dynamic => mover_reduce::Reduction::Dynamic,
        },
        heuristics: args.symbolic.heuristics(),
        errors: properties.contains(&Property::UnreachCall),
        deadlocks: properties.contains(&Property::NoDeadlock),
        bounds: args.symbolic.bounds(),
        depth: args.symbolic.depth,
        contexts: args.symbolic.contexts,
        certify: true,
        limit: Limit {
            interrupt: vec![Arc::clone(interrupt)],
            deadline: args
                .timeout
                .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
        },
    }
}

fn dump_smt2(args: &CheckArgs, program: &Program, properties: &[Property]) -> u8 {
    let question = question(args, properties, &Arc::new(AtomicBool::new(false)));
    let script = match args.engine {
        Engine::Ic3 => mover_symbolic::dump_invariant(program, &question),
        _ => mover_symbolic::dump_bounded(program, &question),
    };
    match script {
        Ok(script) => print(&script).err().unwrap_or(0),
        Err(reason) => {
            eprintln!("mover: {}: {reason}", args.input.file.display());
            UNKNOWN
        }
    }
}

/// Lets engines race for the answer; the first to have one stops the others.
fn race(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    interrupt: &Arc<AtomicBool>,
) -> Result<Told, u8> {
    let winner: Mutex<Option<Result<Told, u8>>> = Mutex::new(None);
    let decided = |told: Result<Told, u8>| {
        let is_known = |told: &Result<Told, u8>| {
            matches!(told, Ok(told) if matches!(told.answer.verdict, Verdict::Safe | Verdict::Unsafe(_)))
        };
        let mut winner = winner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if is_known(&told) && !winner.as_ref().is_some_and(is_known) {
            *winner = Some(told);
            interrupt.store(true, Ordering::Relaxed);
        } else {
            winner.get_or_insert(told);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| decided(explicit(args, program, properties, interrupt)));
        let engines = [SymbolicEngine::Ic3, SymbolicEngine::Bmc];
        for engine in engines.into_iter().take(args.jobs - 1) {
            let decided = &decided;
            scope.spawn(move || decided(symbolic(args, program, properties, interrupt, engine)));
        }
    });
    let winner = winner.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    winner.unwrap_or(Err(INTERNAL_ERROR))
}

/// Prints the answer and writes the trace.
fn tell(args: &CheckArgs, program: &Program, told: Told) -> u8 {
    let Told { answer, error, .. } = told;
    let mut is_trace_lost = false;
    if let (Some(path), Verdict::Unsafe(trace)) = (&args.trace, &answer.verdict) {
        let file = json::trace_file(&program.name, trace, error);
        if let Err(reason) = write_file(path, &format!("{file:#}\n")) {
            eprintln!("mover: {reason}");
            // The answer is still worth telling: it may have taken hours.
            is_trace_lost = true;
        }
    }
    let told = if args.json {
        format!("{}\n", json::answer(&answer))
    } else {
        text::answer(
            &answer,
            Style {
                color: stdout_color(),
            },
        )
    };
    match print(&told) {
        Ok(()) if is_trace_lost => INTERNAL_ERROR,
        Ok(()) => answer.verdict.exit_code(),
        Err(code) => code,
    }
}

/// The first signal ends the search with what is known, the second ends the process.
fn stop_on_signal(interrupt: &Arc<AtomicBool>) {
    let flag = Arc::clone(interrupt);
    let installed = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    if let Err(error) = installed {
        eprintln!("mover: signals are not handled: {error}");
    }
}

/// A violation counts once it has been replayed.
fn verdict(program: &Program, outcome: &Outcome) -> Result<Verdict, String> {
    if let Some(violation) = &outcome.violation {
        let trace = Trace::replay(
            program,
            &violation.steps,
            violation.property,
            violation.error,
        )
        .map_err(|error| error.to_string())?;
        return Ok(Verdict::Unsafe(Box::new(trace)));
    }
    let states = text::grouped(outcome.statistics.states);
    Ok(match outcome.stopped {
        None => Verdict::Safe,
        Some(stop) => {
            if let Some(refusal) = &outcome.refusal {
                return Ok(Verdict::Unknown {
                    reason: format!("{refusal}; no violation among the {states} states before it"),
                    advice: "another engine, or a program with smaller parameters".into(),
                });
            }
            let (why, advice) = match stop {
                Stop::Timeout => ("the time limit was reached", "a longer --timeout"),
                Stop::Memory => ("the memory limit was reached", "a larger --memory"),
                Stop::Interrupt => ("the search was interrupted", "letting it run on"),
                Stop::Refused => (
                    "something was met that explicit search does not take",
                    "another engine",
                ),
                Stop::StoreFull => (
                    "the store can hold no more states",
                    "a model with smaller parameters",
                ),
            };
            Verdict::Unknown {
                reason: format!("{why} after {states} states, no violation among them"),
                advice: format!("{advice}, or a model with smaller parameters"),
            }
        }
    })
}

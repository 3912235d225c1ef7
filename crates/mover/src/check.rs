//! `mover check`: reads, asks the engines, and tells what they say.

mod options;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mover_explicit::{Options, Order, Outcome, RunTime, Stop, explore, explore_with};
use mover_ir::print::print_program;
use mover_ir::program::{ErrorMark, LocationId, Program, Property, TemplateId};
use mover_reduce::movers;
use mover_report::text::{Rows, Style};
use mover_report::trace::Trace;
use mover_report::verdict::{Answer, Certified, Verdict};
use mover_report::{json, text};
use mover_symbolic::outcome::Question;
use mover_symbolic::sat::Limit as SolverLimit;

use mover_cli::output::{print, stdout_color, write_file};
use mover_cli::resources::peak_mb;
use mover_cli::{Cause, CliError, Exit, stderr_line};

pub use options::CheckArgs;
use options::{Dump, Engine, Ignoring, Reduction, SearchOrder};

use crate::certify;
use crate::check_movers::{self, Tried};
use crate::exclusive;
use crate::formats;
use crate::input::{self, Input, Limit};
use crate::shortest::{fold, shortest};
use crate::symbolic::{Asked, SymbolicEngine, cause_of};
use crate::{property_file, report, watch};

pub fn run(mut args: CheckArgs) -> Result<Exit, CliError> {
    args.choose_reduction();
    let args = &args;
    args.check()
        .map_err(|reason| CliError::usage("U002", reason))?;
    let mut asked = args.properties.clone();
    for file in &args.property_file {
        let properties = property_file::read(file)
            .map_err(|reason| CliError::input("U006", format!("{}: {reason}", file.display())))?;
        asked.extend(properties);
    }
    let Input {
        mut program,
        properties,
        limits,
        numbers,
        ..
    } = input::read(&args.input, &asked)?;
    if args.dump == Some(Dump::Ir) {
        print(&print_program(&program))?;
        return Ok(Exit::Success);
    }
    if !properties.contains(&Property::UnreachCall) {
        program.resume_after_errors();
    }
    if args.dump == Some(Dump::Smt2) {
        return dump_smt2(args, &program, &properties);
    }
    check(args, &program, properties, &limits, numbers.as_ref())
}

/// What came of trying the movers.
enum Trial {
    /// None if there are no movers to try.
    Done(Option<Tried>),
    /// The answer is `unknown` and has been printed.
    Unfinished,
}

/// Tries the movers of the asked reduction, or the static ones if none is asked for.
fn try_movers(
    args: &CheckArgs,
    program: &Program,
    interrupt: &AtomicBool,
) -> Result<Trial, CliError> {
    let movers = match movers(program) {
        Ok(movers) if args.reduce == Reduction::Left => movers.left_only(),
        Ok(movers) => movers,
        Err(reason) => {
            stderr_line!("mover: no movers to check: {reason}");
            return Ok(Trial::Done(None));
        }
    };
    let facts = match args.reduce {
        Reduction::Phase | Reduction::Dynamic => Some(exclusive::facts(&movers)?),
        _ => None,
    };
    let progress = args.progress("check-movers", args.memory_limit());
    let options = Options {
        order: Order::BreadthFirst,
        movers: Some(&movers),
        run_time: facts.as_ref().map(|facts| RunTime {
            facts,
            by_reach: args.reduce == Reduction::Dynamic,
        }),
        errors: true,
        deadlocks: true,
        keep_going: true,
        jobs: 1,
        timeout: args.timeout,
        memory: args.memory_limit(),
        interrupt,
        progress: &mut |statistics| progress.show(statistics),
    };
    let file = args.input.name().to_string();
    let tried = check_movers::run(&file, &movers, options, args.json);
    progress.finish();
    Ok(match tried? {
        Some(tried) => Trial::Done(Some(tried)),
        None => Trial::Unfinished,
    })
}

/// What an engine has to say.
pub struct Told {
    pub answer: Answer,
    /// The error location that a trace file names.
    pub error: Option<(TemplateId, LocationId)>,
    /// The invariant of a proof, one clause in each line.
    pub invariant: Vec<String>,
    /// Whether the engine met something that it does not take.
    pub is_refused: bool,
}

/// How symbolic engines are to search.
#[derive(Clone, Copy)]
struct Effort {
    reduce: Reduction,
    deadline: Option<Instant>,
}

impl Effort {
    fn asked(args: &CheckArgs) -> Effort {
        let timeout = args.timeout;
        Effort {
            reduce: if args.is_reduction_chosen {
                Reduction::None
            } else {
                args.reduce
            },
            deadline: timeout.map(|timeout| Instant::now() + timeout),
        }
    }
}

fn check(
    args: &CheckArgs,
    program: &Program,
    properties: Vec<Property>,
    limits: &[Limit],
    numbers: Option<&mover_promela::StatementNumbers>,
) -> Result<Exit, CliError> {
    let interrupt = Arc::new(AtomicBool::new(false));
    stop_on_signal(&interrupt);
    let mut tried = None;
    if args.check_movers {
        tried = match try_movers(args, program, &interrupt)? {
            Trial::Done(tried) => tried,
            Trial::Unfinished => return Ok(Exit::Unknown),
        };
    }
    let effort = Effort::asked(args);
    let told = match args.engine {
        Engine::Auto if args.explicit_only().is_none() => {
            by_any_engine(args, program, &properties, limits, &interrupt, effort)
        }
        engine => match engine.symbolic() {
            Some(engine) => symbolic(
                args,
                program,
                &properties,
                limits,
                &interrupt,
                engine,
                effort,
            ),
            None => explicit(args, program, &properties, limits, &interrupt, args.jobs),
        },
    };
    let mut told = told?;
    let time = args.timeout;
    let memory = args.memory_limit();
    certify::certify(program, &mut told.answer, limits, time, memory, &interrupt)?;
    if !args.as_found {
        told = shortest(program, told, &interrupt)?;
    }
    fold(program, &mut told.answer);
    tell(args, program, numbers, told, tried, &interrupt)
}

fn explicit(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    limits: &[Limit],
    interrupt: &AtomicBool,
    jobs: usize,
) -> Result<Told, CliError> {
    let started = Instant::now();
    let movers = match args.reduce {
        Reduction::None => None,
        reduction => match args.movers(program) {
            Ok(movers) if reduction == Reduction::Left => Some(movers.left_only()),
            Ok(movers) => Some(movers),
            Err(reason) => {
                if !args.is_reduction_chosen {
                    stderr_line!("mover: searching without reduction: {reason}");
                }
                None
            }
        },
    };
    let facts = match (&movers, args.reduce) {
        (Some(movers), Reduction::Phase | Reduction::Dynamic) => Some(exclusive::facts(movers)?),
        _ => None,
    };
    let ignoring = args.ignoring.unwrap_or(Ignoring::Blocks);
    let progress = args.progress("explicit", args.memory_limit());
    let run_time = facts.as_ref().map(|facts| RunTime {
        facts,
        by_reach: args.reduce == Reduction::Dynamic,
    });
    let mut show = |statistics: &_| progress.show(statistics);
    let options = Options {
        order: match args.order {
            None | Some(SearchOrder::Bfs) => Order::BreadthFirst,
            Some(SearchOrder::Dfs) => Order::DepthFirst,
        },
        movers: movers.as_ref(),
        run_time,
        jobs,
        errors: properties.contains(&Property::UnreachCall),
        deadlocks: properties.contains(&Property::NoDeadlock),
        keep_going: args.keep_going,
        timeout: args.timeout,
        memory: args.memory_limit(),
        interrupt,
        progress: &mut show,
    };
    let solution = movers.as_ref().zip(ignoring.solution());
    let is_sound = solution.is_none_or(|(_, solution)| solution.is_sound());
    let outcome = match solution {
        Some((movers, solution)) => Ok((explore_with(solution, movers, options), None)),
        None if args.checkpoints.given().is_some() => {
            let asked = decisive_options(args, properties);
            args.checkpoints.explore(program, options, &asked)
        }
        None => Ok((explore(program, options), None)),
    };
    progress.finish();
    let (outcome, way_on) = outcome?;
    let outcome = outcome
        .map_err(|reason| CliError::input("U009", format!("{}: {reason}", args.input.name())))?;
    if let Some(movers) = &movers {
        exclusive::warn(movers, &outcome.broken_claims);
    }
    let verdict = match verdict(program, &outcome, is_sound) {
        Ok(Verdict::Unknown { reason, advice }) if outcome.refusal.is_none() => Verdict::Unknown {
            reason,
            advice: way_on.map_or(advice.clone(), |way| format!("{way}, {advice}")),
        },
        Ok(Verdict::Safe) if !limits.is_empty() => {
            up_to_limits(args, program, limits, interrupt, started)
        }
        Ok(verdict) => verdict,
        Err(reason) => {
            return Err(CliError::internal(format!(
                "the counterexample does not replay: {reason}"
            )));
        }
    };
    let error = outcome.violation.as_ref().and_then(|found| found.error);
    let answer = Answer {
        verdict,
        properties: properties.to_vec(),
        engine: "explicit",
        reduction: match movers {
            Some(_) => args.reduce.name(),
            None => Reduction::None.name(),
        },
        ignoring: movers.is_some().then_some(ignoring.name()),
        states: outcome.statistics.states,
        transitions: outcome.statistics.transitions,
        depth: outcome.statistics.depth,
        store_bytes: outcome.statistics.bytes,
        violations: outcome.statistics.violations,
        time: started.elapsed(),
        peak_mb: peak_mb(),
        caveats: program.info.caveats.clone(),
        symbolic: None,
        certified: args.symbolic.certify.then(Certified::default),
    };
    Ok(Told {
        answer,
        error,
        invariant: Vec::new(),
        is_refused: outcome.refusal.is_some(),
    })
}

/// What decides which states a search stores, and in which order.
fn decisive_options(args: &CheckArgs, properties: &[Property]) -> Vec<(&'static str, String)> {
    let mut names: Vec<&str> = properties.iter().map(|property| property.name()).collect();
    names.sort_unstable();
    let order = match args.order {
        None | Some(SearchOrder::Bfs) => "bfs",
        Some(SearchOrder::Dfs) => "dfs",
    };
    vec![
        ("--property", names.join(" and ")),
        ("--reduce", args.reduce.name().into()),
        ("--keep-dead-values", args.keep_dead_values.to_string()),
        ("--order", order.into()),
        ("--keep-going", args.keep_going.to_string()),
    ]
}

fn symbolic(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    limits: &[Limit],
    interrupt: &Arc<AtomicBool>,
    engine: SymbolicEngine,
    effort: Effort,
) -> Result<Told, CliError> {
    let question = question(args, properties, interrupt, effort);
    let token = args.symbolic.token();
    let progress = args.progress(engine.name(), None);
    let mut limits = limits.to_vec();
    if question.unfold
        && !limits.is_empty()
        && let Some(unfolded) = mover_reduce::transform::unfold::unfold(program)
    {
        limits.retain(|limit| unfolded.reaches(limit.template, limit.location));
    }
    let asked = Asked {
        program,
        properties,
        question: &question,
        token: &token,
        limits: watch::Limits {
            time: effort.deadline.zip(args.timeout),
            memory: args.memory_limit(),
        },
        show_invariant: args.symbolic.show_invariant,
        certify: args.symbolic.certify,
    };
    let mut told = asked.answer(engine, interrupt, &mut |figures| {
        progress.show_symbolic(engine, figures)
    });
    if let Ok(told) = &mut told
        && matches!(told.answer.verdict, Verdict::Safe | Verdict::SafeUpTo(_))
        && !limits.is_empty()
    {
        // Safe only if no run gets to where the translation cuts it off.
        let marked = marked(program, &limits);
        let again = Asked {
            program: &marked,
            question: &Question {
                errors: true,
                deadlocks: false,
                ..question.clone()
            },
            ..asked
        };
        let cut_off = again.answer(engine, interrupt, &mut |_| ());
        let reached = match cut_off.map(|told| told.answer.verdict) {
            Ok(Verdict::Safe) => None,
            Ok(Verdict::SafeUpTo(bounds)) => {
                told.answer.verdict = Verdict::SafeUpTo(bounds);
                None
            }
            Ok(Verdict::Unsafe(trace)) => Some(trace.message),
            Ok(_) => Some("the search for runs that are cut off was not finished".into()),
            Err(failure) => Some(failure.to_string()),
        };
        if let Some(reason) = reached {
            told.answer.verdict = cut_off_verdict(reason);
        }
    }
    progress.finish();
    told.map_err(|failure| {
        let message = format!("{}: {failure}", args.input.name());
        match cause_of(&failure) {
            Cause::Input => CliError::input("U009", message),
            _ => CliError::output("U009", message),
        }
    })
}

fn cut_off_verdict(reason: String) -> Verdict {
    let advice = if reason.contains("allocated") {
        "smaller objects, for instance by a macro for their size"
    } else {
        "a larger --recursion or --threads"
    };
    Verdict::Unknown {
        reason: format!("{reason}; no violation in the runs that stay within this bound"),
        advice: advice.into(),
    }
}

fn question(
    args: &CheckArgs,
    properties: &[Property],
    interrupt: &Arc<AtomicBool>,
    effort: Effort,
) -> Question {
    Question {
        reduction: match effort.reduce {
            Reduction::Auto | Reduction::None | Reduction::Peephole => {
                mover_reduce::Reduction::None
            }
            // Left movers alone are asked of explicit search only; all of them are as sound.
            Reduction::Static | Reduction::Left => mover_reduce::Reduction::Static,
            Reduction::Phase => mover_reduce::Reduction::Phase,
            Reduction::Dynamic => mover_reduce::Reduction::Dynamic,
        },
        heuristics: args.symbolic.heuristics(),
        peephole: args.reduce == Reduction::Peephole,
        unfold: !args.symbolic.no_unfold,
        errors: properties.contains(&Property::UnreachCall),
        deadlocks: properties.contains(&Property::NoDeadlock),
        bounds: args.symbolic.bounds(),
        depth: args.symbolic.depth,
        contexts: args.symbolic.contexts,
        certify: true,
        check_answers: args.symbolic.certify,
        carry_over: args.symbolic.certify,
        limit: SolverLimit {
            interrupt: vec![Arc::clone(interrupt)],
            deadline: effort.deadline,
        },
    }
}

fn dump_smt2(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
) -> Result<Exit, CliError> {
    let nobody = Arc::new(AtomicBool::new(false));
    let question = question(args, properties, &nobody, Effort::asked(args));
    let script = match args.engine {
        Engine::Ic3 => mover_symbolic::dump_invariant(program, &question),
        _ => mover_symbolic::dump_bounded(program, &question),
    };
    match script {
        Ok(script) => {
            print(&script)?;
            Ok(Exit::Success)
        }
        Err(reason) => {
            let message = format!("{}: {reason}", args.input.name());
            CliError::input("U009", message).print();
            Ok(Exit::Unknown)
        }
    }
}

/// Explicit search, with further cores beside others. What it does not take, such as a value
/// that can be any of 2³², goes to the symbolic engines.
fn by_any_engine(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    limits: &[Limit],
    interrupt: &Arc<AtomicBool>,
    effort: Effort,
) -> Result<Told, CliError> {
    let engines = [SymbolicEngine::Ic3, SymbolicEngine::Bmc];
    let others = engines.len().min(args.jobs - 1);
    let explicit = || {
        explicit(
            args,
            program,
            properties,
            limits,
            interrupt,
            args.jobs - others,
        )
    };
    let race = |engines: &[SymbolicEngine], effort, first: &dyn Fn() -> _| {
        race(
            args, program, properties, limits, interrupt, engines, effort, first,
        )
    };
    let told = if others > 0 {
        race(&engines[..others], effort, &explicit)?
    } else {
        explicit()?
    };
    let is_over = interrupt.load(Ordering::Relaxed);
    if !told.is_refused || is_over || others > 0 {
        return Ok(told);
    }
    let Verdict::Unknown { reason, .. } = &told.answer.verdict else {
        return Ok(told);
    };
    if !args.quiet {
        stderr_line!("mover: {reason}; the engines bmc and ic3 go on");
    }
    let effort = Effort {
        reduce: match effort.reduce {
            Reduction::None => Reduction::Dynamic,
            asked => asked,
        },
        ..effort
    };
    let told = RefCell::new(Some(told));
    race(&engines, effort, &|| told.take().ok_or_else(no_answer))
}

fn no_answer() -> CliError {
    CliError::internal("an engine without an answer")
}

/// Lets engines race for the answer; the first to have one stops the others. If nobody has one,
/// it stays with what the first says, which runs in this thread.
#[allow(clippy::too_many_arguments)]
fn race(
    args: &CheckArgs,
    program: &Program,
    properties: &[Property],
    limits: &[Limit],
    interrupt: &Arc<AtomicBool>,
    engines: &[SymbolicEngine],
    effort: Effort,
    first: &dyn Fn() -> Result<Told, CliError>,
) -> Result<Told, CliError> {
    let winner: Mutex<Option<Told>> = Mutex::new(None);
    // Gives back what is no answer.
    let arrive = |told: Result<Told, CliError>| -> Option<Result<Told, CliError>> {
        match told {
            Ok(told) if matches!(told.answer.verdict, Verdict::Safe | Verdict::Unsafe(_)) => {
                interrupt.store(true, Ordering::Relaxed);
                winner
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .get_or_insert(told);
                None
            }
            told => Some(told),
        }
    };
    let unanswered = std::thread::scope(|scope| {
        for &engine in engines {
            let arrive = &arrive;
            scope.spawn(move || {
                let told = symbolic(args, program, properties, limits, interrupt, engine, effort);
                if let Some(Err(error)) = arrive(told) {
                    error.print();
                }
            });
        }
        arrive(first())
    });
    let winner = winner
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    match (winner, unanswered) {
        (Some(told), Some(Err(error))) => {
            error.print();
            Ok(told)
        }
        (Some(told), _) => Ok(told),
        (None, unanswered) => unanswered.unwrap_or_else(|| Err(no_answer())),
    }
}

/// Prints the answer and writes the trace.
fn tell(
    args: &CheckArgs,
    program: &Program,
    numbers: Option<&mover_promela::StatementNumbers>,
    told: Told,
    tried: Option<Tried>,
    interrupt: &AtomicBool,
) -> Result<Exit, CliError> {
    let Told {
        answer,
        error,
        invariant,
        ..
    } = told;
    let mut is_trace_lost = false;
    if let Some(path) = &args.report {
        let searched = args.movers(program).ok();
        let written = report::write(path, program, &answer, searched.as_ref(), interrupt);
        if let Err(reason) = written {
            CliError::output("U003", reason).print();
            is_trace_lost = true;
        }
    }
    let files = formats::Told {
        program,
        answer: &answer,
        numbers,
        invariant: &invariant,
    };
    if let Err(reason) = args.formats.write(&args.input, &files) {
        CliError::output("U003", reason).print();
        is_trace_lost = true;
    }
    if let (Some(path), Verdict::Unsafe(trace)) = (&args.trace, &answer.verdict) {
        let file = json::trace_file(&program.info.name, trace, error, &answer.properties);
        if let Err(reason) = write_file(path, &format!("{file:#}\n")) {
            CliError::output("U003", reason).print();
            // The answer is still worth telling: it may have taken hours.
            is_trace_lost = true;
        }
    }
    let told = if args.json {
        let mut object = json::answer(&answer);
        if let Some(tried) = &tried {
            object["movers_checked"] = tried.json();
        }
        format!("{object}\n")
    } else {
        let style = Style {
            color: stdout_color(),
        };
        let tried = tried.map_or(String::new(), |tried| tried.text());
        tried + &text::answer(&answer, style, rows(args.all_steps))
    };
    print(&told)?;
    if is_trace_lost {
        return Err(CliError::Reported(Cause::Output));
    }
    Ok(match answer.verdict {
        Verdict::Safe => Exit::Success,
        Verdict::Unsafe(_) => Exit::Unsafe,
        Verdict::SafeUpTo(_) | Verdict::Unknown { .. } => Exit::Unknown,
    })
}

/// Which rows the table of a trace has.
pub fn rows(all_steps: bool) -> Rows {
    if all_steps { Rows::Steps } else { Rows::Folded }
}

/// No violation was found, but the translation of the program cuts some runs off:
/// the answer is `safe` only if no run gets there.
fn up_to_limits(
    args: &CheckArgs,
    program: &Program,
    limits: &[Limit],
    interrupt: &AtomicBool,
    started: Instant,
) -> Verdict {
    let left = |whole: Duration| whole.saturating_sub(started.elapsed());
    let marked = marked(program, limits);
    let movers = (args.reduce != Reduction::None)
        .then(|| args.movers(&marked).ok())
        .flatten();
    let outcome = explore(
        &marked,
        Options {
            order: Order::BreadthFirst,
            movers: movers.as_ref(),
            run_time: None,
            jobs: 1,
            errors: true,
            deadlocks: false,
            keep_going: false,
            timeout: args.timeout.map(left),
            memory: args.memory_limit(),
            interrupt,
            progress: &mut |_| (),
        },
    );
    let reached = match &outcome {
        Ok(outcome) if outcome.stopped.is_some() && outcome.violation.is_none() => {
            Some("the search for runs that are cut off was not finished".to_string())
        }
        Ok(outcome) => outcome.violation.as_ref().and_then(|found| {
            let (template, location) = found.error?;
            let mark = marked
                .template(template)
                .location(location)
                .error
                .as_ref()?;
            Some(mark.message.clone())
        }),
        Err(reason) => Some(reason.to_string()),
    };
    match reached {
        None => Verdict::Safe,
        Some(reason) => cut_off_verdict(reason),
    }
}

/// The program with errors where its translation cuts runs off.
fn marked(program: &Program, limits: &[Limit]) -> Program {
    let mut marked = program.clone();
    for limit in limits {
        let template = &mut marked.templates[limit.template.index()];
        let location = &mut template.locations[limit.location.index()];
        location.edges.clear();
        location.error = Some(ErrorMark {
            property: Property::UnreachCall,
            message: limit.message.clone(),
            resume: None,
        });
    }
    // An edge into an error has no effects.
    for template in &mut marked.templates {
        let is_error: Vec<bool> = template
            .locations
            .iter()
            .map(|location| location.error.is_some())
            .collect();
        for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
            if is_error[edge.target.index()] {
                edge.effects.clear();
            }
        }
    }
    marked
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
        stderr_line!("mover: signals are not handled: {error}");
    }
}

/// A violation counts once it has been replayed.
fn verdict(program: &Program, outcome: &Outcome, is_sound: bool) -> Result<Verdict, String> {
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
        None if is_sound => Verdict::Safe,
        None => Verdict::Unknown {
            reason: format!(
                "`--ignoring unsound` misses errors behind transactions that never end; \
                 no violation was met in {states} states"
            ),
            advice: "`--ignoring cpc`, or leaving the option out".into(),
        },
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

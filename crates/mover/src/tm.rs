//! `mover tm …`: the command line of the transactional memories.
//!
//! Reads options and files, calls `mover-tm`, prints. The last line on standard
//! output is the verdict in words, unless JSON is asked for; everything that is
//! not the answer goes to standard error.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use mover_report::diagnostics::render;
use mover_source::diagnostic::Diagnostic;
use mover_source::{SourceMap, Span};
use mover_tm::algorithm::{Algorithm, Manager};
use mover_tm::check::{Failure, Options, Report, Verdict, check};
use mover_tm::explain::{explain, table};
use mover_tm::graph::{AlgorithmGraph, Incomplete};
use mover_tm::language::program::Program;
use mover_tm::language::{self, syntax};
use mover_tm::monitor::specification;
use mover_tm::property::{Property, Safety, Update, is_defined};
use mover_tm::word::{MAX_INDEX, Statement, extent, parse_word, print_word};
use mover_tm::{dot, history, mutate, specifications};
use serde_json::{Value, json};

use crate::errors::complain as usage;
use crate::output::{check_distinct, check_writable, print, stderr_is_terminal, write_file};
use crate::seconds::parse_seconds;
use crate::tm_report;
use crate::watch::{Ended, Limits, Over, watch};
use crate::{BAD_INPUT, INTERNAL_ERROR, UNKNOWN, UNSAFE, USAGE};

#[derive(Args)]
pub struct TmArgs {
    #[command(subcommand)]
    command: TmCommand,
}

#[derive(Subcommand)]
enum TmCommand {
    /// Check an algorithm (a .tm file) for properties
    Check(CheckArgs),
    /// Judge words such as '(r,1)_1 (w,1)_2 c_2 c_1'
    Word(WordArgs),
    /// Judge a recorded history (JSON lines) with values
    History(HistoryArgs),
    /// Sizes and equivalence of the specification automata
    Spec(SpecArgs),
    /// Check single-statement mutants of an algorithm
    Mutate(MutateArgs),
}

#[derive(Args)]
struct CheckArgs {
    /// The algorithm
    file: String,
    /// What to check: strict-serializability, opacity, serializability,
    /// snapshot-isolation, obstruction-freedom, livelock-freedom or
    /// wait-freedom. May be given several times. Without it, strict
    /// serializability and opacity
    #[arg(long = "property", value_parser = parse_property)]
    properties: Vec<Property>,
    /// Number of threads [default: 2]
    #[arg(long, value_parser = parse_count)]
    threads: Option<usize>,
    /// Number of variables [default: 2 for safety, 1 for liveness]
    #[arg(long, value_parser = parse_count)]
    vars: Option<usize>,
    /// The contention manager: aggressive, polite or one of the file's own.
    /// Without it, every choice is explored
    #[arg(long)]
    manager: Option<String>,
    /// Give up beyond this many pairs of states of algorithm and
    /// specification, or a quarter as many states of the algorithm
    #[arg(long, default_value_t = 20_000_000)]
    max_states: usize,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Give up when the search needs more memory than this
    #[arg(long, value_name = "MB")]
    memory: Option<usize>,
    /// Search larger sizes as well, as a check on the reduction theorem
    #[arg(long)]
    cross_check: bool,
    /// Write the algorithm's automaton as a picture for Graphviz (small ones)
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write a report, one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct WordArgs {
    /// The words; `-` reads one word per line from standard input
    #[arg(required = true)]
    words: Vec<String>,
    /// When writes take effect: deferred (at the commit) or direct
    #[arg(long, value_parser = parse_update, default_value = "deferred")]
    update: Update,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct HistoryArgs {
    /// The history, one JSON object per line; `-` for standard input
    file: String,
    /// Give up after this many steps of the search
    #[arg(long, default_value_t = 20_000_000)]
    max_steps: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct SpecArgs {
    #[arg(long, value_parser = parse_count, default_value = "2")]
    threads: usize,
    #[arg(long, value_parser = parse_count, default_value = "2")]
    vars: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct MutateArgs {
    /// The algorithm
    file: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_property(name: &str) -> Result<Property, String> {
    Property::from_name(name).ok_or_else(|| {
        let known = Property::ALL.map(Property::name).join(", ");
        format!("there are {known}")
    })
}

fn parse_update(name: &str) -> Result<Update, String> {
    [Update::Deferred, Update::Direct]
        .into_iter()
        .find(|update| update.name() == name)
        .ok_or_else(|| "there are deferred and direct".to_string())
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=MAX_INDEX) => Ok(count),
        _ => Err(format!("must lie between 1 and {MAX_INDEX}")),
    }
}

pub fn run(args: TmArgs) -> u8 {
    let code = match args.command {
        TmCommand::Check(args) => run_check(&args),
        TmCommand::Word(args) => run_word(&args),
        TmCommand::History(args) => run_history(&args),
        TmCommand::Spec(args) => run_spec(&args),
        TmCommand::Mutate(args) => run_mutate(&args),
    };
    code.unwrap_or_else(|code| code)
}

/// Prints one line.
fn say(line: &str) -> Result<(), u8> {
    print(&format!("{line}\n"))
}

fn complain(diagnostics: &[Diagnostic], sources: &SourceMap) -> u8 {
    for diagnostic in diagnostics {
        stderr!("{}", render(sources, diagnostic, stderr_is_terminal()));
    }
    BAD_INPUT
}

fn read(file: &str, sources: &mut SourceMap) -> Result<mover_source::FileId, u8> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(sources.add(file, text)),
        Err(error) => {
            usage("U010", format!("cannot read {file}: {error}"));
            Err(BAD_INPUT)
        }
    }
}

fn load(file: &str, sources: &mut SourceMap) -> Result<Program, u8> {
    let id = read(file, sources)?;
    language::load(sources, id).map_err(|errors| complain(&errors, sources))
}

fn run_check(args: &CheckArgs) -> Result<u8, u8> {
    if let Err(reason) = check_outputs(args) {
        usage("U002", reason);
        return Err(USAGE);
    }
    let mut sources = SourceMap::default();
    let program = load(&args.file, &mut sources)?;
    let manager = match &args.manager {
        None => Manager::Any,
        Some(name) => match Manager::find(&program, name) {
            Some(manager) => manager,
            None => {
                let own = program.managers.iter().map(|m| m.name.as_str());
                let known: Vec<&str> = ["aggressive", "polite"].into_iter().chain(own).collect();
                usage(
                    "U002",
                    format!(
                        "there is no contention manager `{name}`; there are {}",
                        known.join(", ")
                    ),
                );
                return Err(USAGE);
            }
        },
    };
    let options = Options {
        threads: args.threads,
        variables: args.vars,
        manager,
        max_states: args.max_states,
        cross_check: args.cross_check,
        widen_scope: true,
    };
    if let Some(file) = &args.dot {
        write_dot(file, &program, &options, &sources)?;
    }
    let properties = match args.properties.is_empty() {
        true => vec![
            Property::Safety(Safety::StrictSerializability),
            Property::Safety(Safety::Opacity),
        ],
        false => args.properties.clone(),
    };
    let limits = limits(args);
    let mut reports = Vec::new();
    for property in properties {
        let started = std::time::Instant::now();
        match check_within(limits, &program, property, &options) {
            Ok(report) => reports.push((report, started.elapsed().as_secs_f64())),
            Err(Failure::Input(error)) => return Err(complain(&[*error], &sources)),
            Err(Failure::Internal(message)) => {
                stderr_line!("internal error: {message}");
                return Err(INTERNAL_ERROR);
            }
        }
    }
    let mut noted = Vec::new();
    for note in reports.iter().flat_map(|(report, _)| &report.notes) {
        if !noted.contains(&note) {
            stderr!("{}", render(&sources, note, stderr_is_terminal()));
            noted.push(note);
        }
    }
    let mut is_report_lost = false;
    if let Some(path) = &args.report {
        let page = tm_report::page(&program, &args.file, &sources, &reports);
        if let Err(reason) = write_file(path, &page.html()) {
            usage("U003", reason);
            // The answer is still worth telling.
            is_report_lost = true;
        }
    }
    if args.json {
        say(&reports_json(&reports).to_string())?;
    } else {
        let texts: Vec<String> = reports
            .iter()
            .map(|(report, _)| report_text(report))
            .collect();
        say(&texts.join("\n\n"))?;
    }
    let verdict = |wanted: Verdict| reports.iter().any(|(report, _)| report.verdict == wanted);
    Ok(if is_report_lost {
        INTERNAL_ERROR
    } else if verdict(Verdict::Violated) {
        UNSAFE
    } else if verdict(Verdict::Unknown) {
        UNKNOWN
    } else {
        0
    })
}

/// What cannot be written, or would overwrite something, is refused before the search.
fn check_outputs(args: &CheckArgs) -> Result<(), String> {
    let files = [("--dot", &args.dot), ("--report", &args.report)].into_iter();
    let outputs: Vec<(&str, &Path)> = files
        .filter_map(|(option, path)| Some((option, path.as_deref()?)))
        .collect();
    check_distinct(&[Path::new(&args.file)], &outputs)?;
    outputs
        .into_iter()
        .try_for_each(|(_, path)| check_writable(path))
}

fn limits(args: &CheckArgs) -> Limits {
    Limits {
        time: args.timeout.map(|whole| (Instant::now() + whole, whole)),
        memory: args
            .memory
            .map(|megabytes| megabytes.saturating_mul(1 << 20)),
    }
}

/// One question, within limits; one that takes too much is not answered.
fn check_within(
    limits: Limits,
    program: &Program,
    property: Property,
    options: &Options,
) -> Result<Report, Failure> {
    let (nobody, full) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
    let given = (program.clone(), options.clone());
    let work = move |_: &mut (dyn FnMut(()) + Send)| check(&given.0, property, &given.1);
    let why = match watch(limits, &nobody, &full, work, |()| ()) {
        Ended::Answered(report) | Ended::Filled(report) => return report,
        Ended::LeftBehind(Over::Time) => "The time limit was reached; raise --timeout",
        Ended::LeftBehind(Over::Memory) => "The memory limit was reached; raise --memory",
        Ended::LeftBehind(Over::Told) => "The search was interrupted",
    };
    let why = format!("{why}, or ask for fewer threads or variables");
    Ok(Report::stopped(program, property, options, &why))
}

fn write_dot(
    file: &Path,
    program: &Program,
    options: &Options,
    sources: &SourceMap,
) -> Result<(), u8> {
    let (threads, variables) = (options.threads.unwrap_or(2), options.variables.unwrap_or(1));
    let algorithm = Algorithm::new(program, threads, variables, options.manager);
    let graph = match AlgorithmGraph::build(algorithm, false, dot::MAX_STATES) {
        Ok(graph) => graph,
        Err(Incomplete::Error(error)) => return Err(complain(&[*error], sources)),
        Err(Incomplete::Limit { .. }) => {
            usage(
                "U003",
                format!(
                    "a picture has at most {} states; ask for fewer threads or variables",
                    dot::MAX_STATES
                ),
            );
            return Err(BAD_INPUT);
        }
    };
    write_file(file, &dot::picture(&graph)).map_err(|reason| {
        usage("U003", reason);
        INTERNAL_ERROR
    })
}

fn report_text(report: &Report) -> String {
    let mut lines = Vec::new();
    let count = |n: Option<usize>| n.map_or("too many".to_string(), |n| n.to_string());
    lines.push(format!(
        "property: {}; manager: {}; states: {}",
        report.property,
        report.manager,
        count(report.states)
    ));
    if let Some(pairs) = report.product_states {
        let spec = report
            .spec_states
            .map_or(String::new(), |n| format!(" of {n}"));
        lines.push(format!(
            "specification{spec} states; pairs searched: {pairs}"
        ));
    }
    if let (Some(word), None) = (&report.word, &report.cycle) {
        lines.push(format!("word: {}", print_word(word)));
        lines.push(format!("run:  {}", report.run.join(" ")));
    }
    if let Some(cycle) = &report.cycle {
        lines.push(format!("way to the loop: {}", report.run.join(" ")));
        lines.push(format!("loop: {}", cycle.join(" ")));
    }
    if let Some(table) = &report.table {
        lines.push(String::new());
        lines.push(table.clone());
        lines.push(String::new());
    }
    lines.push(report.explanation.clone());
    lines.push(match report.verdict {
        Verdict::Holds => format!("{} holds for {}", report.property, report.scope),
        Verdict::Violated => format!("{} is violated at {}", report.property, report.scope),
        Verdict::Unknown => format!("{} is unknown: {}", report.property, report.scope),
    });
    lines.join("\n")
}

fn report_json(report: &Report, seconds: f64) -> Value {
    json!({
        "property": report.property.name(),
        "verdict": report.verdict.name(),
        "scope": report.scope,
        "threads": report.threads,
        "variables": report.variables,
        "manager": report.manager,
        "states": report.states,
        "spec_states": report.spec_states,
        "product_states": report.product_states,
        "word": report.word.as_ref().map(|word| print_word(word)),
        "run": report.run,
        "loop": report.cycle,
        "explanation": report.explanation,
        "table": report.table,
        "seconds": seconds,
    })
}

/// One property: its object. Several: the object of the first that is violated
/// or else of the last, with all of them beside it.
fn reports_json(reports: &[(Report, f64)]) -> Value {
    let objects: Vec<Value> = reports.iter().map(|(r, s)| report_json(r, *s)).collect();
    let chosen = reports
        .iter()
        .position(|(report, _)| report.verdict == Verdict::Violated)
        .unwrap_or(reports.len() - 1);
    let mut top = objects[chosen].clone();
    if objects.len() > 1 {
        top["results"] = Value::Array(objects);
    }
    top
}

/// Longer words are judged, but not explained.
const EXPLAINED: usize = 2000;

fn run_word(args: &WordArgs) -> Result<u8, u8> {
    let mut texts = Vec::new();
    for word in &args.words {
        if word == "-" {
            for line in std::io::stdin().lock().lines() {
                match line {
                    Ok(line) if line.trim().is_empty() => {}
                    Ok(line) => texts.push(line),
                    Err(error) => {
                        usage("U010", format!("cannot read standard input: {error}"));
                        return Err(BAD_INPUT);
                    }
                }
            }
        } else {
            texts.push(word.clone());
        }
    }
    let mut code = 0;
    for text in &texts {
        match parse_word(text) {
            Ok(word) => {
                let good = judge_word(&word, args)?;
                if !good && code == 0 {
                    code = UNSAFE;
                }
            }
            Err(error) => {
                let mut sources = SourceMap::default();
                let file = sources.add("word", text.clone());
                let place = Span::new(file, error.start, error.end);
                complain(
                    &[Diagnostic::coded("T031", error.message).at(place, "")],
                    &sources,
                );
                code = BAD_INPUT;
            }
        }
    }
    Ok(code)
}

/// Prints what holds of a word; whether it is opaque.
fn judge_word(word: &[Statement], args: &WordArgs) -> Result<bool, u8> {
    let (threads, variables) = extent(word);
    let accepted = |property: Safety| {
        let spec = specification(property, args.update, threads.max(1), variables.max(1));
        spec.map(|spec| spec.accepted_prefix(word))
    };
    let holds = |property: Safety| accepted(property).map(|length| length == word.len());
    let strict = holds(Safety::StrictSerializability) == Some(true);
    let opaque = holds(Safety::Opacity) == Some(true);
    let asked = match (strict, opaque) {
        (false, _) => Safety::StrictSerializability,
        (true, _) => Safety::Opacity,
    };
    let refused = accepted(asked).map_or(word.len(), |length| (length + 1).min(word.len()));
    let explanation = match refused <= EXPLAINED {
        true => explain(&word[..refused], asked, args.update).text(),
        false => format!("Too long to explain; decided by statement {refused}."),
    };
    if args.json {
        let mut object = json!({
            "word": print_word(word),
            "strictly_serializable": strict,
            "opaque": opaque,
            "explanation": explanation,
            "serializable": holds(Safety::Serializability),
        });
        if is_defined(Safety::SnapshotIsolation, args.update) {
            object["snapshot_isolated"] = json!(holds(Safety::SnapshotIsolation));
        }
        say(&object.to_string())?;
    } else {
        if word.len() <= 40 {
            say(&table(word))?;
        }
        say(&explanation)?;
        let so = |yes: bool| if yes { "" } else { "not " };
        say(&format!(
            "{}: {}strictly serializable, {}opaque",
            print_word(word),
            so(strict),
            so(opaque)
        ))?;
    }
    Ok(strict && opaque)
}

fn run_history(args: &HistoryArgs) -> Result<u8, u8> {
    let text = match args.file.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()),
        file => std::fs::read_to_string(file),
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            usage("U010", format!("cannot read {}: {error}", args.file));
            return Err(BAD_INPUT);
        }
    };
    let mut sources = SourceMap::default();
    let file = sources.add(args.file.clone(), text);
    let history = match history::History::parse(&sources.file(file).text, file) {
        Ok(history) => history,
        Err(error) => return Err(complain(&[*error], &sources)),
    };
    let started = std::time::Instant::now();
    let strict = history.check(Safety::StrictSerializability, args.max_steps);
    let opaque = match strict.verdict {
        // A history that is not strictly serializable is not opaque either.
        Verdict::Violated => strict.clone(),
        _ => history.check(Safety::Opacity, args.max_steps),
    };
    let seconds = started.elapsed().as_secs_f64();
    let told = match (strict.verdict, opaque.verdict) {
        (Verdict::Holds, _) => &opaque,
        _ => &strict,
    };
    let truth = |verdict: Verdict| match verdict {
        Verdict::Holds => json!(true),
        Verdict::Violated => json!(false),
        Verdict::Unknown => Value::Null,
    };
    if args.json {
        say(&json!({
            "file": args.file,
            "operations": history.operations,
            "transactions": history.transactions.len(),
            "strictly_serializable": truth(strict.verdict),
            "opaque": truth(opaque.verdict),
            "explanation": told.explanation,
            "seconds": seconds,
        })
        .to_string())?;
    } else {
        say(&told.explanation)?;
        let word = |verdict: Verdict, what: &str| match verdict {
            Verdict::Holds => what.to_string(),
            Verdict::Violated => format!("not {what}"),
            Verdict::Unknown => format!("unknown whether {what}"),
        };
        say(&format!(
            "{} operations in {} transactions: {}, {}",
            history.operations,
            history.transactions.len(),
            word(strict.verdict, "strictly serializable"),
            word(opaque.verdict, "opaque")
        ))?;
    }
    Ok(match (strict.verdict, opaque.verdict) {
        (Verdict::Violated, _) | (_, Verdict::Violated) => UNSAFE,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => UNKNOWN,
        _ => 0,
    })
}

fn run_spec(args: &SpecArgs) -> Result<u8, u8> {
    let rows = specifications::compare(args.threads, args.vars);
    let mut all_equal = true;
    let mut all_known = true;
    let mut objects = Vec::new();
    for row in &rows {
        let count = |n: Option<usize>| n.map_or("too many".to_string(), |n| n.to_string());
        all_equal &= row.differs.is_none();
        all_known &= row.compared;
        if args.json {
            objects.push(json!({
                "property": Property::Safety(row.property).name(),
                "monitor_states": row.monitor,
                "minimal_states": row.minimal,
                "deterministic_states": row.deterministic,
                "nondeterministic_states": row.nondeterministic,
                "equivalent": row.compared.then_some(row.differs.is_none()),
                "difference": row.differs.as_ref().map(|(_, word)| print_word(word)),
            }));
            continue;
        }
        say(&format!(
            "{}: exact monitor {} states, least automaton {}, deterministic (Algorithm 6, corrected) {}, nondeterministic (Algorithm 5, corrected) {}",
            Property::Safety(row.property),
            count(row.monitor),
            count(row.minimal),
            count(row.deterministic),
            count(row.nondeterministic)
        ))?;
        if let Some((which, word)) = &row.differs {
            say(&format!("  {which} at {}", print_word(word)))?;
        }
    }
    let code = match (all_equal, all_known) {
        (false, _) => UNSAFE,
        (true, false) => UNKNOWN,
        (true, true) => 0,
    };
    if args.json {
        say(&json!({
            "threads": args.threads,
            "variables": args.vars,
            "equivalent": all_known.then_some(all_equal),
            "specifications": objects,
        })
        .to_string())?;
    } else {
        say(match code {
            0 => "the specifications are equivalent (by antichains)",
            UNKNOWN => "unknown: too large to compare",
            _ => "the specifications differ",
        })?;
    }
    Ok(code)
}

fn run_mutate(args: &MutateArgs) -> Result<u8, u8> {
    let mut sources = SourceMap::default();
    let id = read(&args.file, &mut sources)?;
    let parsed: Result<syntax::File, _> = language::parser::parse(&sources.file(id).text, id);
    let outcome = parsed.and_then(|tree| mutate::run(&tree));
    let mutate::Survey { criteria, results } = match outcome {
        Ok(survey) => survey,
        Err(errors) => return Err(complain(&errors, &sources)),
    };
    if criteria.is_empty() {
        stderr_line!("note: the algorithm has none of the properties, so no mutant can be caught");
    } else {
        stderr_line!("note: checked for {}", criteria.join(", "));
    }
    let caught = results.iter().filter(|r| !r.caught_by.is_empty()).count();
    for result in &results {
        let place = sources.locate(result.mutant.span);
        let by: Vec<&str> = result.caught_by.iter().map(|c| c.as_str()).collect();
        if args.json {
            say(&json!({
                "line": place.line,
                "mutation": result.mutant.kind.name(),
                "text": sources.text(result.mutant.span),
                "caught_by": by,
                "words": result.words.map(|words| words.name()),
            })
            .to_string())?;
        } else {
            let text: Vec<&str> = sources
                .text(result.mutant.span)
                .split_whitespace()
                .collect();
            say(&format!(
                "{place}: {} `{}`: {}",
                result.mutant.kind.name(),
                text.join(" "),
                match result.words {
                    Some(words) => format!("survives ({})", words.name()),
                    None => format!("caught by {}", by.join(", ")),
                }
            ))?;
        }
    }
    if !args.json {
        say(&format!("{caught} of {} mutants caught", results.len()))?;
    }
    Ok(0)
}

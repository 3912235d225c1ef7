//! Asks the questions of a case as the command line would, without a process of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mover_check::answer::{Answer, Verdict};
use mover_check::explanation::explain;
use mover_check::mover_trial::{MoverTrial, try_movers};
use mover_check::{CheckError, EngineChoice, Nobody, Options, ReductionChoice, SymbolicOptions};
use mover_cli::diagnostics::render;
use mover_engine::{Cancel, Control, Task};
use mover_ir::program::{Program, Property};
use mover_ir::validate::validate;
use mover_report::text::{self, Rows, Style};
use mover_source::SourceMap;
use mover_source::diagnostic::{Code, Diagnostic};

use crate::header::{CaseOptions, Expectation, Question, Way};

/// A search that must have an answer takes a second at most on an idle core.
const LONGEST: Duration = Duration::from_secs(120);
/// A search that may be `unknown` gives up after this.
const PATIENCE: Duration = Duration::from_secs(5);
const MEMORY: usize = 2 << 30;

/// Why a program is refused.
struct Refusal {
    code: String,
    text: String,
}

impl Refusal {
    fn new(sources: &SourceMap, diagnostics: &[Diagnostic], compiler: &str) -> Refusal {
        let mut errors = diagnostics.iter().filter(|found| found.is_error());
        let code = errors.find_map(|error| error.code);
        Refusal {
            code: code.as_ref().map_or("C002", Code::as_str).into(),
            text: compiler.to_string() + &rendered(sources, diagnostics),
        }
    }
}

fn rendered(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let texts = diagnostics
        .iter()
        .map(|found| render(sources, found, false));
    texts.collect()
}

/// A program that was read.
struct Input {
    program: Program,
    properties: Vec<Property>,
    warnings: String,
}

/// What is wrong with the answers to a question.
pub fn ask(file: &Path, question: &Question) -> Vec<String> {
    let input = match read(file, &question.options) {
        Ok(input) => input,
        Err(refusal) => return check_refusal(question, &refusal),
    };
    if let Err(reason) = validate(&input.program) {
        return vec![format!("the program was translated wrongly: {reason}")];
    }
    let task = Arc::new(if question.options.any_number {
        Task::for_any_number(input.program, input.properties)
    } else {
        Task::new(input.program, input.properties)
    });
    let mut failures = check_objects(&task, question);
    let mut all_states = None;
    for way in &question.ways {
        let name = name_of(way);
        let mut fail = |reason: String| failures.push(format!("{name}: {reason}"));
        if question.options.check_movers
            && let Err(reason) = check_movers(&task, way.reduction)
        {
            fail(reason);
        }
        let options = driver_options(&question.options, way);
        let answer = match mover_check::answer(&task, &options, &Cancel::default(), &Nobody) {
            Ok(answer) => answer,
            Err(CheckError::WrongClaims(claims)) => {
                let refusal = Refusal::new(&task.program().info.sources, &claims, "");
                check_refusal(question, &refusal).into_iter().for_each(fail);
                continue;
            }
            Err(CheckError::Unsupported(reason)) if way.may_be_unknown => {
                assert!(!reason.is_empty());
                continue;
            }
            Err(error) => {
                fail(error.to_string());
                continue;
            }
        };
        check_answer(&task, question, way, &answer, &input.warnings)
            .into_iter()
            .for_each(&mut fail);
        let Some(factor) = question.reduces else {
            continue;
        };
        let states = answer.statistics.states;
        match all_states {
            None if way.reduction == Some(ReductionChoice::None) => all_states = Some(states),
            None => fail("`reduces:` needs `explicit/none` first".into()),
            Some(all) if states * factor < all => {}
            Some(all) => fail(format!("stores {states} of {all} states")),
        }
    }
    failures
}

fn read(file: &Path, options: &CaseOptions) -> Result<Input, Refusal> {
    if file.extension().is_some_and(|extension| extension == "pml") {
        read_promela(file, options)
    } else {
        read_c(file, options)
    }
}

fn read_promela(file: &Path, options: &CaseOptions) -> Result<Input, Refusal> {
    let reading = mover_promela::Options {
        defines: options.defines.clone(),
        ..mover_promela::Options::default()
    };
    match mover_promela::parse(file, &reading) {
        Ok(read) => Ok(Input {
            warnings: rendered(&read.program.info.sources, &read.warnings),
            properties: or(
                &options.properties,
                &mover_check::usual_properties(&read.program),
            ),
            program: read.program,
        }),
        Err(failure) => Err(Refusal::new(&failure.sources, &failure.diagnostics, "")),
    }
}

#[cfg(feature = "c")]
fn read_c(file: &Path, options: &CaseOptions) -> Result<Input, Refusal> {
    let usual = mover_c::Options::default();
    let properties = or(&options.properties, &mover_c::DEFAULT_PROPERTIES);
    let reading = mover_c::Options {
        defines: options.defines.clone(),
        is_32_bit: options.is_32_bit,
        properties: properties.iter().copied().collect(),
        havoc_externals: options.havoc_externals,
        spurious_wakeups: !options.no_spurious_wakeups,
        malloc_may_fail: options.malloc_may_fail,
        zero_init: options.zero_init,
        volatile_atomic: options.volatile_atomic,
        recursion: options.recursion.unwrap_or(usual.recursion),
        threads: options.threads.unwrap_or(usual.threads),
        repeated_creation: options.any_number,
        ..usual
    };
    let files: &[PathBuf] = &[file.to_path_buf()];
    match mover_c::read(files, &reading) {
        Ok(read) => Ok(Input {
            warnings: rendered(&read.program.info.sources, &read.warnings),
            program: read.program,
            properties,
        }),
        Err(failure) => Err(Refusal::new(
            &failure.sources,
            &failure.diagnostics,
            &failure.compiler,
        )),
    }
}

#[cfg(not(feature = "c"))]
fn read_c(file: &Path, _: &CaseOptions) -> Result<Input, Refusal> {
    unreachable!("{} is left out without LLVM", file.display())
}

/// The properties asked for, or those that are usual.
fn or(asked: &[Property], usual: &[Property]) -> Vec<Property> {
    let mut properties = if asked.is_empty() { usual } else { asked }.to_vec();
    properties.sort();
    properties
}

fn driver_options(options: &CaseOptions, way: &Way) -> Options {
    let usual = SymbolicOptions::default();
    Options {
        engine: way.engine,
        reduction: way.reduction,
        ignoring: way.ignoring,
        order: options.order,
        timeout: Some(if way.may_be_unknown {
            PATIENCE
        } else {
            LONGEST
        }),
        memory: Some(MEMORY),
        symbolic: SymbolicOptions {
            depth: options.depth,
            pairs: way.pairs.unwrap_or(usual.pairs),
            context_bound: options.context_bounds(),
            unfold: !options.no_unfold,
            ..usual
        },
        certify: options.certify,
        ..Options::default()
    }
}

fn name_of(way: &Way) -> String {
    let mut name = format!("{:?}", way.engine).to_lowercase();
    if let Some(reduction) = way.reduction {
        name += &format!("/{}", reduction.name());
    }
    if let Some(pairs) = way.pairs {
        name += &format!("/{pairs:?}").to_lowercase();
    }
    if let Some(ignoring) = way.ignoring {
        name += &format!("/{}", ignoring.name());
    }
    name
}

fn check_refusal(question: &Question, refusal: &Refusal) -> Vec<String> {
    let Refusal { code, text } = refusal;
    match &question.expectation {
        Expectation::Error(expected) if expected == code => check_text(question, text),
        expected => vec![format!("refused with {code}, not {expected:?}\n{text}")],
    }
}

fn check_answer(
    task: &Task,
    question: &Question,
    way: &Way,
    answer: &Answer,
    warnings: &str,
) -> Vec<String> {
    let style = Style { color: false };
    let said = rendered(&task.program().info.sources, &answer.warnings);
    let said = format!(
        "{warnings}{said}{}",
        text::answer(answer, style, Rows::Folded, false)
    );
    let verdict = text::verdict_line(answer);
    let is_expected = match (&answer.verdict, &question.expectation) {
        (Verdict::Safe, Expectation::Safe)
        | (Verdict::SafeUpTo(_), Expectation::SafeUpTo)
        | (Verdict::Unknown { .. }, Expectation::Unknown) => true,
        (Verdict::Unsafe(trace), Expectation::Unsafe(property)) => trace.property == *property,
        // Some run reaches what is not supported.
        (Verdict::Unknown { .. }, Expectation::Error(code)) => {
            let has_code =
                |said: &Diagnostic| said.code.is_some_and(|found| found.as_str() == code);
            answer
                .warnings
                .iter()
                .any(|said| said.is_error() && has_code(said))
        }
        (Verdict::Unknown { .. } | Verdict::SafeUpTo(_), _) if way.may_be_unknown => {
            return Vec::new();
        }
        _ => false,
    };
    if !is_expected {
        return vec![format!("not {:?}: {verdict}", question.expectation)];
    }
    let is_asked = (way.engine == EngineChoice::Auto || name_of(way).starts_with(answer.engine))
        && way
            .reduction
            .is_none_or(|asked| asked.name() == answer.reduction)
        && way
            .ignoring
            .is_none_or(|asked| Some(asked.name()) == answer.ignoring);
    let mut failures = check_text(question, &said);
    if !is_asked {
        let Answer {
            engine,
            reduction,
            ignoring,
            ..
        } = answer;
        failures.push(format!("answered by {engine}, {reduction}, {ignoring:?}"));
    }
    failures
}

fn check_text(question: &Question, said: &str) -> Vec<String> {
    let missing = question.messages.iter().filter(|&m| !said.contains(m));
    let missing = missing.map(|message| format!("no `{message}` in\n{said}"));
    let unwanted = question.absent.iter().filter(|&m| said.contains(m));
    let unwanted = unwanted.map(|message| format!("`{message}` in\n{said}"));
    missing.chain(unwanted).collect()
}

fn check_objects(task: &Task, question: &Question) -> Vec<String> {
    if question.objects.is_empty() {
        return Vec::new();
    }
    let explanation = match task.movers() {
        Ok(movers) => explain(movers),
        Err(reason) => return vec![format!("no movers to explain: {reason}")],
    };
    let mut failures = Vec::new();
    for (name, kind) in &question.objects {
        let found = explanation.objects.iter().find(|found| found.name == *name);
        let found = found.map_or("not shared", |found| found.kind);
        if found != kind {
            failures.push(format!("`{name}` is {found}, not {kind}"));
        }
    }
    failures
}

fn check_movers(task: &Task, reduction: Option<ReductionChoice>) -> Result<(), String> {
    let reduction = reduction.unwrap_or(ReductionChoice::Dynamic);
    let control = Control::unlimited().within(LONGEST);
    match try_movers(task, reduction, &control, &mut |_| {}) {
        Ok(MoverTrial::Commute { .. } | MoverTrial::NoMovers(_)) => Ok(()),
        Ok(MoverTrial::Wrong(_)) => Err("a mover does not commute".into()),
        Ok(MoverTrial::NotDone { reason, .. }) => Err(format!("movers not checked: {reason}")),
        Err(error) => Err(error.to_string()),
    }
}

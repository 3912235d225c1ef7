//! Files that `mover check` writes for other tools: witnesses, SARIF, SPIN's trails, graphs of
//! small state spaces.
//!
//! Whether a file can be written is checked before the search, so that a missing directory is
//! not found out after an hour.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use mover_check::answer::{Answer, Verdict};
use mover_ir::program::Program;
use mover_report::witness::{self, Invariant, Task, YamlVersion};
use mover_report::{graph, sarif, trail};

use super::option_error::OptionError;
use crate::input::InputArgs;
use mover_cli::output::{OutputError, write_file};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WitnessFormat {
    /// YAML 2.2: waypoints with their threads
    Yaml,
    /// YAML 2.0: waypoints without threads
    Yaml20,
    /// GraphML 1.0, for older validators
    Graphml,
}

#[derive(Args)]
pub struct FormatArgs {
    /// C: write a witness of the verdict for SV-COMP validators (.yml or .graphml)
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,

    /// Format of the witness, if the file name does not imply it
    #[arg(long, value_enum, value_name = "FORMAT", requires = "witness")]
    witness_format: Option<WitnessFormat>,

    /// Write the answer as SARIF 2.1.0, for editors and code hosts
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Promela: write the counterexample as a trail for `spin -t -p`
    #[arg(long, value_name = "FILE")]
    trail: Option<PathBuf>,

    /// Draw the state graph of a small program (.dot, or .svg with Graphviz)
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,

    /// Maximum number of states that `--graph` draws
    #[arg(long, value_name = "N", default_value_t = 500, requires = "graph")]
    graph_limit: usize,
}

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A file of the program is gone, and a witness must have its hash.
    #[error("{}: {source}", file.display())]
    LostProgram {
        file: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{}: no trail is written for a model with claims (never, ltl, trace), whose runs SPIN counts differently; remove them",
        .0.display()
    )]
    TrailOfClaim(PathBuf),
    #[error(
        "{} is not written: there are more than {states} states; raise --graph-limit, or use smaller parameters",
        path.display()
    )]
    LargeGraph { path: PathBuf, states: usize },
    #[error("Graphviz's `dot` failed: {0}")]
    DotNotRun(#[source] std::io::Error),
    #[error("Graphviz's `dot` did not read the graph")]
    DotNotFed,
    #[error("Graphviz's `dot` failed: {0}")]
    DotFailed(ExitStatus),
}

/// The contents of the files.
pub struct Told<'a> {
    pub program: &'a Program,
    pub answer: &'a Answer,
    pub numbers: Option<&'a mover_promela::StatementNumbers>,
}

fn extension(path: &Path) -> &str {
    path.extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("")
}

impl FormatArgs {
    pub fn asks_for_witness(&self) -> bool {
        self.witness.is_some()
    }

    /// What does not fit the input is refused before the search.
    pub fn check(&self, input: &InputArgs) -> Result<(), OptionError> {
        if self.witness.is_some() && !input.is_c() {
            return Err(OptionError::is_for("--witness", "C programs"));
        }
        if self.trail.is_some() && input.is_c() {
            return Err(OptionError::is_for(
                "--trail",
                "Promela models; C has `--witness`",
            ));
        }
        self.witness_format()?;
        if let Some(path) = &self.graph {
            match extension(path) {
                "dot" | "gv" => {}
                "svg" => {
                    let found = Command::new("dot").arg("-V").output();
                    if found.is_err() {
                        return Err(OptionError::NoGraphviz);
                    }
                }
                _ => {
                    let name = "a name that ends in .dot or .svg";
                    return Err(OptionError::needs("--graph", name));
                }
            }
        }
        Ok(())
    }

    /// The files asked for, by option.
    pub fn outputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("--witness", &self.witness),
            ("--sarif", &self.sarif),
            ("--trail", &self.trail),
            ("--graph", &self.graph),
        ];
        let files = files.into_iter();
        files.filter_map(|(option, path)| Some((option, path.as_deref()?)))
    }

    fn witness_format(&self) -> Result<Option<WitnessFormat>, OptionError> {
        let Some(path) = &self.witness else {
            return Ok(None);
        };
        if self.witness_format.is_some() {
            return Ok(self.witness_format);
        }
        match extension(path) {
            "yml" | "yaml" => Ok(Some(WitnessFormat::Yaml)),
            "graphml" | "xml" => Ok(Some(WitnessFormat::Graphml)),
            _ => Err(OptionError::needs(
                "--witness",
                "a name that ends in .yml or .graphml, or --witness-format",
            )),
        }
    }

    /// Writes everything asked for, and returns what became of each file.
    pub fn write(&self, input: &InputArgs, told: &Told) -> [Result<(), FormatError>; 4] {
        [
            self.write_witness(input, told),
            self.write_sarif(told),
            self.write_trail(told),
            self.write_graph(told),
        ]
    }

    fn write_sarif(&self, told: &Told) -> Result<(), FormatError> {
        let Some(path) = &self.sarif else {
            return Ok(());
        };
        let log = sarif::log(told.program, told.answer, env!("CARGO_PKG_VERSION"));
        Ok(write_file(path, &format!("{log:#}\n"))?)
    }

    fn write_witness(&self, input: &InputArgs, told: &Told) -> Result<(), FormatError> {
        let (Some(path), Some(format)) = (&self.witness, self.witness_format()?) else {
            return Ok(());
        };
        let read = |file: &PathBuf| match std::fs::read(file) {
            Ok(bytes) => Ok((file.display().to_string(), bytes)),
            Err(source) => Err(FormatError::LostProgram {
                file: file.clone(),
                source,
            }),
        };
        let properties = match &told.answer.verdict {
            Verdict::Unsafe(trace) => &[trace.property][..],
            _ => &told.answer.properties,
        };
        let task = Task {
            program: told.program,
            files: input.files.iter().map(read).collect::<Result<_, _>>()?,
            properties,
            is_32_bit: input.is_32_bit(),
            version: env!("CARGO_PKG_VERSION"),
            written: now(),
        };
        let invariants = if told.answer.reduction == "none" {
            global_invariants(told.program, &told.answer.invariant)
        } else {
            // A reduced proof speaks only of states between transactions.
            Vec::new()
        };
        let yaml = match format {
            WitnessFormat::Yaml20 => YamlVersion::V2_0,
            WitnessFormat::Yaml | WitnessFormat::Graphml => YamlVersion::V2_2,
        };
        let text = match (&told.answer.verdict, format) {
            (Verdict::Unsafe(trace), WitnessFormat::Graphml) => {
                witness::violation_graphml(&task, trace)
            }
            (Verdict::Unsafe(trace), _) => witness::violation_yaml(&task, trace, yaml),
            (Verdict::Safe, WitnessFormat::Graphml) => {
                witness::correctness_graphml(&task, &invariants)
            }
            (Verdict::Safe, _) => witness::correctness_yaml(&task, &invariants, yaml),
            // There is no witness of not knowing.
            (Verdict::SafeUpTo(_) | Verdict::Unknown { .. }, _) => return Ok(()),
        };
        Ok(write_file(path, &text)?)
    }

    fn write_trail(&self, told: &Told) -> Result<(), FormatError> {
        let (Some(path), Verdict::Unsafe(trace)) = (&self.trail, &told.answer.verdict) else {
            return Ok(());
        };
        let Some(numbers) = told.numbers else {
            return Err(FormatError::TrailOfClaim(path.clone()));
        };
        let number = |template: mover_ir::program::TemplateId,
                      location: mover_ir::program::LocationId,
                      edge: usize| {
            let edges = numbers.get(template.index())?.get(location.index())?;
            *edges.get(edge)?
        };
        Ok(write_file(
            path,
            &trail::trail(told.program, trace, number),
        )?)
    }

    fn write_graph(&self, told: &Told) -> Result<(), FormatError> {
        let Some(path) = &self.graph else {
            return Ok(());
        };
        let trace = match &told.answer.verdict {
            Verdict::Unsafe(trace) => Some(&**trace),
            _ => None,
        };
        let dot = graph::dot(told.program, trace, self.graph_limit).map_err(|too_large| {
            FormatError::LargeGraph {
                path: path.clone(),
                states: too_large.0,
            }
        })?;
        let picture = match extension(path) {
            "svg" => svg(&dot)?,
            _ => dot,
        };
        Ok(write_file(path, &picture)?)
    }
}

/// The picture of a graph, by Graphviz.
fn svg(dot: &str) -> Result<String, FormatError> {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(FormatError::DotNotRun)?;
    let stdin = child.stdin.take();
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(move || match stdin {
            Some(mut stdin) => stdin.write_all(dot.as_bytes()),
            None => Ok(()),
        });
        let output = child.wait_with_output();
        (writer.join(), output)
    });
    let (Ok(Ok(())), Ok(output)) = written else {
        return Err(FormatError::DotNotFed);
    };
    if !output.status.success() {
        return Err(FormatError::DotFailed(output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The present, or what SOURCE_DATE_EPOCH says for reproducible files.
fn now() -> SystemTime {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok();
    match fixed.and_then(|text| text.parse().ok()) {
        Some(seconds) => UNIX_EPOCH + Duration::from_secs(seconds),
        None => SystemTime::now(),
    }
}

/// Of an invariant, the clauses over whole global variables alone, as C. They hold
/// in every state; the witness puts them where each thread begins.
fn global_invariants(program: &Program, clauses: &[String]) -> Vec<Invariant> {
    let mut invariants = Vec::new();
    for clause in clauses {
        let Some(inside) = clause
            .strip_prefix("not (")
            .and_then(|rest| rest.strip_suffix(')'))
        else {
            continue;
        };
        let literals: Option<Vec<String>> = inside
            .split(" && ")
            .map(|literal| c_literal(program, literal))
            .collect();
        let Some(literals) = literals else { continue };
        let expression = format!("!({})", literals.join(" && "));
        for template in &program.templates {
            let span = template
                .location(template.entry)
                .edges
                .iter()
                .find_map(|edge| edge.span);
            let Some(spot) = span.and_then(|span| mover_check::moments::spot(program, span)) else {
                continue;
            };
            invariants.push(Invariant {
                expression: expression.clone(),
                file: spot.file,
                line: spot.line,
                column: spot.line_start,
                function: None,
            });
        }
    }
    invariants
}

/// `x == 5`, `x in {1, 2}`, `x.bit3 == 1` or a thread's `P[0]: (x != 5)` as C, if `x` is a
/// global integer.
fn c_literal(program: &Program, literal: &str) -> Option<String> {
    let is_global = |name: &str| {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut globals = program.globals.iter();
        is_name && globals.any(|global| global.name == name && global.len == 1 && !global.is_array)
    };
    if let Some((name, values)) = literal.split_once(" in {") {
        let values = values.strip_suffix('}')?.split(", ");
        let values: Option<Vec<String>> = values
            .map(|value| Some(format!("{name} == {}u", value.parse::<u32>().ok()?)))
            .collect();
        return is_global(name).then_some(format!("({})", values?.join(" || ")));
    }
    if let Some(negated) = literal.strip_prefix("!(").and_then(|l| l.strip_suffix(')')) {
        return c_literal(program, negated).map(|inside| format!("!({inside})"));
    }
    let literal = match literal.split_once("]: ") {
        Some((_, question)) => question.strip_prefix('(')?.strip_suffix(')')?,
        None => literal,
    };
    if let Some((left, right)) = literal.split_once(" != ") {
        let right: u32 = right.parse().ok()?;
        return is_global(left).then(|| format!("{left} != {right}u"));
    }
    let (left, right) = literal.split_once(" == ")?;
    let right: u32 = right.parse().ok()?;
    match left.split_once(".bit") {
        None => is_global(left).then(|| format!("{left} == {right}u")),
        Some((name, bit)) => {
            let bit: u32 = bit.parse().ok()?;
            is_global(name).then(|| format!("(({name} >> {bit}) & 1) == {right}"))
        }
    }
}

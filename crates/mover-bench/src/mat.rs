//! `mover bench mat`: Table 1 of Ganai and Kundu (2009), with ours beside it.
//!
//! Each search of each program ([`programs`]) is a child process of its own: token passing
//! with all pairs, with those of mutually atomic transactions and with those of normal forms,
//! without a bound of contexts and with one pass of the token to each thread, and bounded
//! model checking with a scheduler, without and with reduction.

mod programs;

use mover_cli::stderr_line;
use std::path::Path;

use clap::Args;
use mover_check::words::grouped;
use mover_symbolic::token::survey::{Accesses, survey};
use programs::{PROGRAMS, Program};
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, Row, RowError, rounded};
use crate::section::{Ratio, Section};
use crate::table::Table;
use crate::{ask, scratch};
use mover_cli::output::write_file;

#[derive(Args)]
pub struct MatArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Only these rows (separated by commas): E1, E2, …
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rows: Vec<String>,
}

/// A way to search.
struct Way {
    name: &'static str,
    options: &'static str,
    /// Which of the paper's times is beside it.
    paper: Option<usize>,
}

const fn way(name: &'static str, options: &'static str, paper: Option<usize>) -> Way {
    Way {
        name,
        options,
        paper,
    }
}

const WAYS: &[Way] = &[
    way("all", "--engine token --pairs all", Some(0)),
    way(
        "all, no first attempt",
        "--engine token --pairs all --no-few-passes-first",
        Some(0),
    ),
    way(
        "all, 1 context",
        "--engine token --pairs all --context-bound 1",
        Some(1),
    ),
    way("mat", "--engine token --pairs mat", Some(2)),
    way(
        "mat, no first attempt",
        "--engine token --pairs mat --no-few-passes-first",
        Some(2),
    ),
    way(
        "mat-printed, no first attempt",
        "--engine token --pairs mat-printed --no-few-passes-first",
        Some(2),
    ),
    way(
        "mat-printed, 1 context",
        "--engine token --pairs mat-printed --context-bound 1",
        Some(3),
    ),
    way(
        "mat, 1 context",
        "--engine token --pairs mat --context-bound 1",
        Some(3),
    ),
    way("lex", "--engine token --pairs lex", None),
    way(
        "lex, no first attempt",
        "--engine token --pairs lex --no-few-passes-first",
        None,
    ),
    way(
        "lex, 1 context",
        "--engine token --pairs lex --context-bound 1",
        None,
    ),
    way("scheduler", "--engine bmc", None),
    way(
        "scheduler, peephole",
        "--engine bmc --reduce peephole",
        Some(4),
    ),
    way("scheduler, reduced", "--engine bmc --reduce static", None),
];

/// One search of one program.
#[derive(Clone, Serialize, Deserialize)]
pub struct MatRow {
    program: String,
    search: String,
    verdict: String,
    wall_s: f64,
    cpu_s: Option<f64>,
    pairs: Option<u64>,
    variables: Option<u64>,
    clauses: Option<u64>,
    /// What is counted without a search: all pairs, those of the transactions, the
    /// transactions, those of normal forms.
    all_pairs: u64,
    mat_pairs: u64,
    mats: u64,
    lex_pairs: u64,
    /// The clauses as text, and the steps of the run that was found.
    #[serde(default)]
    formula_bytes: Option<u64>,
    #[serde(default)]
    witness: Option<u64>,
    /// Counted without a search: the printed pairs, the same with the opposite priorities, shared
    /// variables, steps of the unrolled threads.
    #[serde(default)]
    printed_pairs: Option<u64>,
    #[serde(default)]
    opposite_pairs: Option<u64>,
    #[serde(default)]
    shared: Option<u64>,
    #[serde(default)]
    steps: Option<u64>,
}

/// What is counted of a program without a search.
#[derive(Clone, Copy)]
struct Counts {
    all: usize,
    mat: usize,
    mats: usize,
    lex: usize,
    printed: usize,
    opposite: usize,
    shared: usize,
    steps: usize,
}

impl Row for MatRow {
    fn check(&self) -> Result<(), RowError> {
        if !PROGRAMS.iter().any(|program| program.name == self.program) {
            return Err(RowError::unknown("program", &self.program));
        }
        if !WAYS.iter().any(|way| way.name == self.search) {
            return Err(RowError::unknown("search", &self.search));
        }
        Ok(())
    }
}

const OUT_OF_TIME: &str = "out of time";

pub fn run(args: &MatArgs) -> Result<Section, BenchError> {
    let is_named = |program: &Program| args.rows.iter().any(|name| program.name.starts_with(name));
    let wanted = |program: &&Program| args.rows.is_empty() || is_named(program);
    let programs: Vec<&Program> = PROGRAMS.iter().filter(wanted).collect();
    if programs.is_empty() {
        return Err(BenchError::NothingChosen("row"));
    }
    let scratch = scratch()?;
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for program in programs {
        let text = program.text();
        let path = scratch.path().join(format!("{}.pml", program.name));
        write_file(&path, &text)?;
        let counts = counts(program, &text)?;
        for way in WAYS {
            let search = search(args, program, way, &path, counts)?;
            let (verdict, seconds) = (&search.verdict, search.wall_s);
            stderr_line!("{}  {}  {verdict}  {seconds:.2}", program.name, way.name);
            recorder.record(search)?;
        }
    }
    Ok(section(&recorder.finish()?))
}

fn counts(program: &Program, text: &str) -> Result<Counts, MeasureError> {
    let read =
        mover_promela::parse_text(program.name, text).map_err(|_| MeasureError::Invalid {
            what: "model",
            name: program.name.into(),
        })?;
    let single = survey(&read.program, Accesses::All, &[])?;
    let joined = survey(&read.program, Accesses::Transactions, &[])?;
    let backwards: Vec<usize> = (0..joined.threads.len()).rev().collect();
    let opposite = survey(&read.program, Accesses::Transactions, &backwards)?;
    Ok(Counts {
        all: single.all,
        mat: joined.mat.len(),
        mats: joined.mats.len(),
        lex: joined.lex.len(),
        printed: joined.printed.len(),
        opposite: opposite.printed.len(),
        shared: single.variables,
        steps: single.transitions,
    })
}

fn search(
    args: &MatArgs,
    program: &Program,
    way: &Way,
    path: &Path,
    counts: Counts,
) -> Result<MatRow, BenchError> {
    let options: Vec<&str> = ["--property", "unreach-call"]
        .into_iter()
        .chain(way.options.split(' '))
        .collect();
    let limit = args.limit.seconds;
    let answer = ask::check(path, &[], &options, Some(limit)).map_err(MeasureError::Ask)?;
    let answer = answer.as_ref();
    let verdict = match answer {
        Some(answer) if answer.verdict() != "unknown" => answer.verdict(),
        // The printed set is no reason to say `safe`.
        Some(answer) if answer.ran.wall_s < f64::from(limit) => "unknown",
        _ => OUT_OF_TIME,
    };
    let is_wrong = match verdict {
        "safe" => program.is_unsafe,
        "unsafe" => !program.is_unsafe,
        _ => false,
    };
    if is_wrong {
        let error = MeasureError::WrongVerdict(verdict.into());
        return Err(error.on(format!("{} {}", program.name, way.name)));
    }
    let figure = |name: &str| answer.and_then(|answer| answer.symbolic(name));
    Ok(MatRow {
        program: program.name.into(),
        search: way.name.into(),
        verdict: verdict.into(),
        wall_s: answer.map_or(f64::from(limit), |answer| rounded(answer.ran.wall_s)),
        cpu_s: answer.and_then(|answer| answer.ran.cpu_s).map(rounded),
        pairs: figure("pairs").filter(|_| way.options.contains("token")),
        variables: figure("variables"),
        clauses: figure("clauses"),
        formula_bytes: figure("formula_bytes"),
        witness: answer
            .and_then(|answer| answer.json["trace"].as_array())
            .map(|steps| steps.len() as u64),
        all_pairs: counts.all as u64,
        mat_pairs: counts.mat as u64,
        mats: counts.mats as u64,
        lex_pairs: counts.lex as u64,
        printed_pairs: Some(counts.printed as u64),
        opposite_pairs: Some(counts.opposite as u64),
        shared: Some(counts.shared as u64),
        steps: Some(counts.steps as u64),
    })
}

pub fn section(results: &Results<MatRow>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Token passing and mutually atomic transactions");
    out.text(
        "Table 1 of Ganai and Kundu (2009). The programs have the \
         paper's shape and its numbers of pairs; a third thread that inspects the result adds two pairs and \
         two transactions. The searches `all`, `mat` and `lex` first try runs in which each thread gets the \
         token once, for 20,000 conflicts; the paper has no such first attempt, and `no first attempt` is \
         without it.",
    );
    let mut counts = Table::new(&[
        "program",
        "accesses",
        "pairs",
        "paper",
        "MAT pairs",
        "paper",
        "MATs",
        "paper",
        "lex",
    ]);
    let mut sizes = Table::new(&[
        "program",
        "mat-printed",
        "opposite priorities",
        "shared variables",
        "paper",
        "transitions",
        "paper",
    ]);
    let mut formulas = Table::new(&[
        "program",
        "search",
        "formula bytes",
        "paper",
        "witness",
        "paper",
    ]);
    let mut times = Table::new(&[
        "program",
        "search",
        "verdict",
        "s",
        "CPU s",
        "paper s",
        "pairs",
        "variables",
        "clauses",
    ]);
    let (mut answered, mut open) = (Vec::new(), Vec::new());
    let mut has_sizes = false;
    for program in PROGRAMS {
        let searches = || {
            results
                .rows
                .iter()
                .filter(|search| search.program == program.name)
        };
        let Some(first) = searches().next() else {
            continue;
        };
        let figure = |figure: Option<u64>| figure.map_or("-".into(), grouped);
        let paper = program.paper.as_ref();
        let counted = |which: usize| figure(paper.map(|paper| paper.counts[which]));
        counts.row(vec![
            program.name.into(),
            program.shape(),
            grouped(first.all_pairs),
            counted(0),
            grouped(first.printed_pairs.unwrap_or(first.mat_pairs)),
            counted(1),
            grouped(first.mats),
            counted(2),
            grouped(first.lex_pairs),
        ]);
        if first.printed_pairs.is_some() {
            has_sizes = true;
            sizes.row(vec![
                program.name.into(),
                figure(first.printed_pairs),
                figure(first.opposite_pairs),
                figure(first.shared),
                figure(paper.map(|paper| paper.sizes[0])),
                figure(first.steps),
                figure(paper.map(|paper| paper.sizes[1])),
            ]);
        }
        for search in searches() {
            let way = WAYS.iter().find(|way| way.name == search.search);
            let column = way.and_then(|way| way.paper);
            let paper_s = column.zip(paper).map(|(column, paper)| paper.times[column]);
            if search.formula_bytes.is_some() {
                // All pairs, MAT and the scheduler have two, two and one of the times.
                let bytes = column
                    .zip(paper)
                    .map(|(column, paper)| paper.bytes[column / 2]);
                let witness = paper.filter(|_| column.is_some_and(|column| column < 4));
                formulas.row(vec![
                    program.name.into(),
                    search.search.clone(),
                    figure(search.formula_bytes),
                    bytes.unwrap_or("").into(),
                    figure(search.witness),
                    witness.map_or("", |paper| paper.witness).into(),
                ]);
            }
            times.row(vec![
                program.name.into(),
                search.search.clone(),
                search.verdict.clone(),
                format!("{:.2}", search.wall_s),
                search.cpu_s.map_or("-".into(), |s| format!("{s:.2}")),
                paper_s.unwrap_or("").into(),
                figure(search.pairs),
                figure(search.variables),
                figure(search.clauses),
            ]);
            let Some(paper_s) = paper_s else {
                continue;
            };
            let is_open = search.verdict == OUT_OF_TIME;
            let name = format!("{}, {}", program.name, search.search);
            match (paper_s.parse::<f64>(), is_open) {
                // Times of another machine count only where one of the two has no answer.
                (Ok(seconds), true) if seconds < search.wall_s => out.ratios.push(Ratio {
                    subject: name,
                    measure: "seconds to an answer".into(),
                    peer: "the paper on MATs",
                    ours: format!(">{:.1}", search.wall_s),
                    theirs: paper_s.into(),
                    value: seconds.max(0.01) / search.wall_s.max(0.01),
                    is_at_most: true,
                }),
                (Err(_), true) => open.push(name),
                (Err(_), false) => answered.push(name),
                (Ok(_), _) => {}
            }
        }
    }
    out.heading("Pairs and transactions");
    out.table(counts);
    if has_sizes {
        out.heading("Printed pairs, variables and transitions");
        out.text(
            "`mat-printed` are the paper's own pairs, which lose runs of three and more threads; `mat` is \
             `lex` for these programs. Of two threads the later one has priority, with `opposite priorities` the \
             earlier. Our programs have flags in place of the paper's joins among the shared variables; \
             transitions are the steps of the unrolled threads.",
        );
        out.table(sizes);
        out.heading("Sizes of formulas and lengths of witnesses");
        out.text("Bytes of the clauses as DIMACS text, steps of the run. The paper: size of the SMT formula.");
        out.table(formulas);
    }
    out.heading("Searches");
    out.text(format!(
        "At most {limit} each. The paper: 1,800 s, Yices, 2.0 GHz; `TO` out of time, `MO` out of memory."
    ));
    out.table(times);
    if !answered.is_empty() || !open.is_empty() {
        let names = |names: &[String]| match names {
            [] => "none".to_string(),
            names => names.join("; "),
        };
        out.text(format!(
            "- answered here, but not in the paper: {}\n- answered in neither: {}\n",
            names(&answered),
            names(&open)
        ));
        out.headline(
            format!(
                "searches without an answer in Ganai and Kundu (2009) that finish here within {limit}"
            ),
            format!("{} of {}", answered.len(), answered.len() + open.len()),
        );
    }
    out
}

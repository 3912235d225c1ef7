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
use mover_symbolic::token::survey::survey;
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
        "all, 1 context",
        "--engine token --pairs all --context-bound 1",
        Some(1),
    ),
    way("mat", "--engine token --pairs mat", Some(2)),
    way(
        "mat, 1 context",
        "--engine token --pairs mat --context-bound 1",
        Some(3),
    ),
    way("lex", "--engine token --pairs lex", None),
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

/// All pairs, pairs of the transactions, transactions, pairs of normal forms.
fn counts(program: &Program, text: &str) -> Result<[u64; 4], MeasureError> {
    let read =
        mover_promela::parse_text(program.name, text).map_err(|_| MeasureError::Invalid {
            what: "model",
            name: program.name.into(),
        })?;
    let single = survey(&read.program, false)?;
    let joined = survey(&read.program, true)?;
    let counts = [single.all, joined.mat.len(), joined.mats.len(), joined.lex];
    Ok(counts.map(|count| count as u64))
}

fn search(
    args: &MatArgs,
    program: &Program,
    way: &Way,
    path: &Path,
    [all_pairs, mat_pairs, mats, lex_pairs]: [u64; 4],
) -> Result<MatRow, BenchError> {
    let options: Vec<&str> = ["--property", "unreach-call"]
        .into_iter()
        .chain(way.options.split(' '))
        .collect();
    let limit = args.limit.seconds;
    let answer = ask::check(path, &[], &options, Some(limit)).map_err(MeasureError::Ask)?;
    let answer = answer.as_ref();
    let verdict = match answer.map_or("unknown", ask::Answer::verdict) {
        "unknown" => OUT_OF_TIME,
        verdict => verdict,
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
        all_pairs,
        mat_pairs,
        mats,
        lex_pairs,
    })
}

pub fn section(results: &Results<MatRow>) -> Section {
    let limit = results.head.get("limit").unwrap_or("the limit");
    let mut out = Section::new("Token passing and mutually atomic transactions");
    out.text(
        "Table 1 of Ganai and Kundu (2009). The programs have the \
         paper's shape and its numbers of pairs; a third thread that inspects the result adds two pairs and \
         two transactions.",
    );
    let mut counts = Table::new(&[
        "program", "accesses", "pairs", "paper", "mat", "paper", "MATs", "paper", "lex",
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
        counts.row(vec![
            program.name.into(),
            program.shape(),
            grouped(first.all_pairs),
            grouped(program.paper[0]),
            grouped(first.mat_pairs),
            grouped(program.paper[1]),
            grouped(first.mats),
            grouped(program.paper[2]),
            grouped(first.lex_pairs),
        ]);
        for search in searches() {
            let way = WAYS.iter().find(|way| way.name == search.search);
            let paper_s = way
                .and_then(|way| way.paper)
                .map(|paper| program.times[paper]);
            let figure = |figure: Option<u64>| figure.map_or("-".into(), grouped);
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

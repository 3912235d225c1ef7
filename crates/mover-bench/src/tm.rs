//! `mover bench tm`: Tables 2 and 3 of the paper, with ours beside them.
//!
//! The algorithms are compiled in, so the tables need no files. A time is that
//! of building the algorithm's states and searching the product or the loops,
//! as the paper's is; the structural conditions are not in it.

use mover_cli::stderr_line;
use std::time::Instant;

use clap::Args;
use mover_check::words::grouped;
use mover_source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager};
use mover_tm::graph::AlgorithmGraph;
use mover_tm::inclusion::{self, InclusionOutcome};
use mover_tm::language::{self, program::Program};
use mover_tm::liveness::find_lasso;
use mover_tm::monitor::specification;
use mover_tm::property::{Liveness, Safety};
use mover_tm::word::print_word;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError};
use crate::records::{RecordArgs, Recorder, Results, Row, RowError};
use crate::section::{Ratio, Section};
use crate::table::Table;

#[derive(Args)]
pub struct BenchTmArgs {
    /// Also search (3,2), (2,3) and (3,3) with symmetry reduction
    #[arg(long)]
    large: bool,

    #[command(flatten)]
    record: RecordArgs,
}

const MAX_STATES: usize = 20_000_000;

const SEQ: &str = include_str!("../../../examples/tm/seq.tm");
const TWO_PL: &str = include_str!("../../../examples/tm/2pl.tm");
const DSTM: &str = include_str!("../../../examples/tm/dstm.tm");
const TL2: &str = include_str!("../../../examples/tm/tl2.tm");
const TL2_PRINTED: &str = include_str!("../../../examples/tm/tl2-printed.tm");
const TL2_MODIFIED: &str = include_str!("../../../examples/tm/tl2-modified.tm");

/// An algorithm in one of the paper's tables.
struct Subject {
    name: &'static str,
    text: &'static str,
    manager: Option<&'static str>,
    /// The paper's number of states, where it has one.
    paper_states: Option<u64>,
    /// The paper's verdict and seconds for each property.
    paper: &'static [(&'static str, f64)],
    remark: &'static str,
}

const SAFETY: [Subject; 6] = [
    Subject {
        name: "seq",
        text: SEQ,
        manager: None,
        paper_states: Some(3),
        paper: &[("Y", 0.01), ("Y", 0.01)],
        remark: "",
    },
    Subject {
        name: "2PL",
        text: TWO_PL,
        manager: None,
        paper_states: Some(99),
        paper: &[("Y", 0.01), ("Y", 0.01)],
        remark: "with the pending command in the state; 99 is impossible by symmetry",
    },
    Subject {
        name: "DSTM",
        text: DSTM,
        manager: None,
        paper_states: Some(1_846),
        paper: &[("Y", 0.16), ("Y", 0.13)],
        remark: "with the pending command in the state",
    },
    Subject {
        name: "TL2 printed",
        text: TL2_PRINTED,
        manager: None,
        paper_states: Some(21_568),
        paper: &[("Y", 3.2), ("Y", 2.4)],
        remark: "the printed algorithm is not opaque",
    },
    Subject {
        name: "TL2 repaired",
        text: TL2,
        manager: None,
        paper_states: None,
        paper: &[],
        remark: "no read of a locked variable",
    },
    Subject {
        name: "modTL2+polite",
        text: TL2_MODIFIED,
        manager: Some("polite"),
        paper_states: Some(17_520),
        paper: &[("N", 9.0), ("N", 8.0)],
        remark: "the printed size was not reproduced",
    },
];

const LIVENESS: [Subject; 4] = [
    Subject {
        name: "seq",
        text: SEQ,
        manager: None,
        paper_states: None,
        paper: &[("N", 0.1), ("N", 0.1)],
        remark: "",
    },
    Subject {
        name: "2PL",
        text: TWO_PL,
        manager: None,
        paper_states: None,
        paper: &[("N", 0.1), ("N", 0.1)],
        remark: "",
    },
    Subject {
        name: "DSTM+aggressive",
        text: DSTM,
        manager: Some("aggressive"),
        paper_states: None,
        paper: &[("Y", 2.0), ("N", 0.2)],
        remark: "",
    },
    Subject {
        name: "TL2+polite",
        text: TL2,
        manager: Some("polite"),
        paper_states: None,
        paper: &[("N", 0.4), ("N", 0.4)],
        remark: "",
    },
];

const LARGE: [(&str, &str); 2] = [("2PL", TWO_PL), ("DSTM", DSTM)];

const SAFETY_PROPERTIES: [(Safety, &str); 2] = [
    (Safety::StrictSerializability, "strict serializability"),
    (Safety::Opacity, "opacity"),
];
const LIVENESS_PROPERTIES: [(Liveness, &str); 3] = [
    (Liveness::ObstructionFreedom, "obstruction freedom"),
    (Liveness::LivelockFreedom, "livelock freedom"),
    (Liveness::WaitFreedom, "wait freedom"),
];

const TABLE_2: &str = "Table 2";
const TABLE_3: &str = "Table 3";
const LARGER: &str = "larger";

/// One check.
#[derive(Clone, Serialize, Deserialize)]
pub struct Check {
    table: String,
    algorithm: String,
    property: String,
    threads: u32,
    variables: u32,
    states: u64,
    /// States up to symmetry; as many as states where it is not used.
    classes: u64,
    verdict: String,
    seconds: f64,
    /// The word or the loop that shows a violation.
    counterexample: String,
}

impl Row for Check {
    fn check(&self) -> Result<(), RowError> {
        let known: Vec<&str> = match self.table.as_str() {
            TABLE_2 => SAFETY.iter().map(|subject| subject.name).collect(),
            TABLE_3 => LIVENESS.iter().map(|subject| subject.name).collect(),
            LARGER => LARGE.iter().map(|(name, _)| *name).collect(),
            table => return Err(RowError::unknown("table", table)),
        };
        if !known.contains(&self.algorithm.as_str()) {
            return Err(RowError::unknown("algorithm", &self.algorithm));
        }
        Ok(())
    }
}

fn program(name: &str, text: &str) -> Result<Program, MeasureError> {
    let mut sources = SourceMap::default();
    let file = sources.add("example", text);
    language::load(&sources, file).map_err(|_| MeasureError::Invalid {
        what: "algorithm",
        name: name.into(),
    })
}

fn manager(program: &Program, name: Option<&str>) -> Manager {
    name.and_then(|name| Manager::find(program, name))
        .unwrap_or_default()
}

/// To a tenth of a millisecond: the checks are short.
fn since(started: Instant) -> f64 {
    (started.elapsed().as_secs_f64() * 10_000.0).round() / 10_000.0
}

pub fn run(args: &BenchTmArgs) -> Result<Section, BenchError> {
    let mut recorder = Recorder::begin(&args.record, None)?;
    for subject in &SAFETY {
        let program = program(subject.name, subject.text)?;
        let manager = manager(&program, subject.manager);
        for property in SAFETY_PROPERTIES {
            let name = (TABLE_2, subject.name);
            recorder.record(safety(name, &program, manager, property, (2, 2), false)?)?;
        }
    }
    for subject in &LIVENESS {
        let program = program(subject.name, subject.text)?;
        let manager = manager(&program, subject.manager);
        for property in LIVENESS_PROPERTIES {
            recorder.record(liveness(subject.name, &program, manager, property)?)?;
        }
    }
    if args.large {
        for (name, text) in LARGE {
            let program = program(name, text)?;
            for size in [(3, 2), (2, 3), (3, 3)] {
                for property in SAFETY_PROPERTIES {
                    stderr_line!("{name} {size:?} {}", property.1);
                    let name = (LARGER, name);
                    let check = safety(name, &program, Manager::Any, property, size, true)?;
                    recorder.record(check)?;
                }
            }
        }
    }
    Ok(section(&recorder.finish()?))
}

fn safety(
    (table, name): (&str, &str),
    program: &Program,
    manager: Manager,
    (property, property_name): (Safety, &str),
    (threads, variables): (u32, u32),
    with_symmetry: bool,
) -> Result<Check, BenchError> {
    let started = Instant::now();
    let (n, k) = (threads as usize, variables as usize);
    let algorithm = Algorithm::new(program, n, k, manager);
    let graph = AlgorithmGraph::build(algorithm, with_symmetry, MAX_STATES)
        .map_err(|_| MeasureError::TooManyStates(MAX_STATES).on(name))?;
    let specification = specification(property, program.update, n, k)
        .ok_or_else(|| MeasureError::NoSpecification(property_name.into()).on(name))?;
    let outcome = inclusion::check(&graph, specification.as_ref(), MAX_STATES).outcome;
    let seconds = since(started);
    let (verdict, counterexample) = match outcome {
        InclusionOutcome::Included => ("Y", String::new()),
        InclusionOutcome::Limit => ("?", String::new()),
        InclusionOutcome::Violated(found) => ("N", print_word(&found.word)),
    };
    Ok(Check {
        table: table.into(),
        algorithm: name.into(),
        property: property_name.into(),
        threads,
        variables,
        states: graph.unreduced_states() as u64,
        classes: graph.states.len() as u64,
        verdict: verdict.into(),
        seconds,
        counterexample,
    })
}

fn liveness(
    name: &str,
    program: &Program,
    manager: Manager,
    (property, property_name): (Liveness, &str),
) -> Result<Check, BenchError> {
    let started = Instant::now();
    let algorithm = Algorithm::new(program, 2, 1, manager);
    let graph = AlgorithmGraph::build(algorithm, false, MAX_STATES)
        .map_err(|_| MeasureError::TooManyStates(MAX_STATES).on(name))?;
    let found = find_lasso(&graph, property);
    let seconds = since(started);
    let counterexample = found.as_ref().map(|lasso| {
        let steps = lasso.cycle.iter().map(|step| graph.algorithm.label(step));
        steps.collect::<Vec<_>>().join(" ")
    });
    Ok(Check {
        table: TABLE_3.into(),
        algorithm: name.into(),
        property: property_name.into(),
        threads: 2,
        variables: 1,
        states: graph.states.len() as u64,
        classes: graph.states.len() as u64,
        verdict: if found.is_none() { "Y" } else { "N" }.into(),
        seconds,
        counterexample: counterexample.unwrap_or_default(),
    })
}

/// The clock of the paper's table is not finer than that.
const SHORTEST_S: f64 = 0.000_1;

pub fn section(results: &Results<Check>) -> Section {
    let mut out = Section::new("Transactional memories");
    out.text(
        "Tables 2 and 3 of Guerraoui et al. (2010): is the \
         algorithm strictly serializable and opaque at 2 threads and 2 variables, obstruction free, livelock \
         free and wait free at 2 threads and 1 variable (`Y` holds, `N` violated)? The paper's times are \
         from another machine.",
    );
    let mut faster = Vec::new();
    let mut agreed = (0, 0);
    for (title, table, subjects, properties) in [
        (
            "Safety",
            TABLE_2,
            &SAFETY[..],
            SAFETY_PROPERTIES.map(|(_, name)| name).to_vec(),
        ),
        (
            "Liveness",
            TABLE_3,
            &LIVENESS[..],
            LIVENESS_PROPERTIES.map(|(_, name)| name).to_vec(),
        ),
    ] {
        let mut shown = Table::new(&[
            "algorithm",
            "property",
            "states",
            "paper",
            "verdict",
            "paper",
            "s",
            "paper s",
            "times as fast",
        ]);
        let mut words = String::new();
        for subject in subjects {
            let mut checks = results
                .rows
                .iter()
                .filter(|check| check.table == table && check.algorithm == subject.name);
            if let Some(first) = checks.clone().next()
                && !subject.remark.is_empty()
            {
                words += &format!("- {}: {}\n", first.algorithm, subject.remark);
            }
            for (number, property) in properties.iter().enumerate() {
                let Some(check) = checks.find(|check| check.property == *property) else {
                    continue;
                };
                let paper = subject.paper.get(number);
                let ratio = paper.map(|(_, seconds)| seconds / check.seconds.max(SHORTEST_S));
                shown.row(vec![
                    subject.name.into(),
                    (*property).into(),
                    grouped(check.states),
                    subject.paper_states.map_or("-".into(), grouped),
                    check.verdict.clone(),
                    paper.map_or("-", |(verdict, _)| verdict).into(),
                    format!("{:.4}", check.seconds),
                    paper.map_or("-".into(), |(_, seconds)| seconds.to_string()),
                    ratio.map_or("-".into(), |ratio| format!("{ratio:.0}")),
                ]);
                if !check.counterexample.is_empty() {
                    words += &format!(
                        "- {}, {property}: `{}`\n",
                        check.algorithm, check.counterexample
                    );
                }
                if let Some(((verdict, seconds), value)) = paper.zip(ratio) {
                    agreed.1 += 1;
                    agreed.0 += u32::from(*verdict == check.verdict);
                    faster.push((format!("{} {property}", subject.name), value));
                    out.ratios.push(Ratio {
                        subject: subject.name.into(),
                        measure: format!("seconds, {property}"),
                        peer: "the paper on transactional memories",
                        ours: format!("{:.4}", check.seconds),
                        theirs: seconds.to_string(),
                        value,
                        is_at_most: false,
                    });
                }
            }
        }
        out.heading(title);
        out.table(shown);
        if !words.is_empty() {
            out.text(words);
        }
    }
    let mut larger = Table::new(&[
        "algorithm",
        "property",
        "size",
        "states",
        "classes",
        "verdict",
        "s",
    ]);
    for check in results.rows.iter().filter(|check| check.table == LARGER) {
        larger.row(vec![
            check.algorithm.clone(),
            check.property.clone(),
            format!("({},{})", check.threads, check.variables),
            grouped(check.states),
            grouped(check.classes),
            check.verdict.clone(),
            format!("{:.2}", check.seconds),
        ]);
    }
    if !larger.is_empty() {
        out.heading("Larger sizes, with symmetry reduction over threads and variables");
        out.table(larger);
    }
    if let Some(least) = faster.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        out.headline(
            "checks of Guerraoui et al. (2010): same verdict; smallest speed-up",
            format!("{} of {}; {:.0} ({})", agreed.0, agreed.1, least.1, least.0),
        );
    }
    out
}

//! `mover bench tm`: Tables 2 and 3 of the paper, with ours beside them.
//!
//! The algorithms are compiled in, so the tables need no files. A time is that
//! of building the algorithm's states and searching the product or the loops,
//! as the paper's is; the structural conditions are not in it.

use std::io::Write;
use std::time::Instant;

use clap::Args;
use mover_ir::source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager};
use mover_tm::graph::AlgorithmGraph;
use mover_tm::inclusion::{self, InclusionOutcome};
use mover_tm::language::{self, program::Program};
use mover_tm::liveness::find_lasso;
use mover_tm::monitor::specification;
use mover_tm::property::{Liveness, Safety};
use mover_tm::word::print_word;

/// Prints a line; a reader that went away is its own business.
macro_rules! say {
    ($($line:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($line)*);
    }};
}

#[derive(Args)]
pub struct BenchTmArgs {
    /// Also search (3,2), (2,3) and (3,3) with symmetry reduction
    #[arg(long)]
    large: bool,
}

const MAX_STATES: usize = 20_000_000;

struct SafetyRow {
    name: &'static str,
    text: &'static str,
    manager: Option<&'static str>,
    paper: &'static str,
    remark: &'static str,
}

const SEQ: &str = include_str!("../../../../examples/tm/seq.tm");
const TWO_PL: &str = include_str!("../../../../examples/tm/2pl.tm");
const DSTM: &str = include_str!("../../../../examples/tm/dstm.tm");
const TL2: &str = include_str!("../../../../examples/tm/tl2.tm");
const TL2_PRINTED: &str = include_str!("../../../../examples/tm/tl2-printed.tm");
const TL2_MODIFIED: &str = include_str!("../../../../examples/tm/tl2-modified.tm");

const SAFETY: [SafetyRow; 6] = [
    SafetyRow {
        name: "seq",
        text: SEQ,
        manager: None,
        paper: "3 Y 0.01s Y 0.01s",
        remark: "",
    },
    SafetyRow {
        name: "2PL",
        text: TWO_PL,
        manager: None,
        paper: "99 Y 0.01s Y 0.01s",
        remark: "with the pending command in the state; 99 is impossible by symmetry",
    },
    SafetyRow {
        name: "DSTM",
        text: DSTM,
        manager: None,
        paper: "1846 Y 0.16s Y 0.13s",
        remark: "with the pending command in the state",
    },
    SafetyRow {
        name: "TL2 printed",
        text: TL2_PRINTED,
        manager: None,
        paper: "21568 Y 3.2s Y 2.4s",
        remark: "the printed algorithm is not opaque",
    },
    SafetyRow {
        name: "TL2 repaired",
        text: TL2,
        manager: None,
        paper: "-",
        remark: "no read of a locked variable",
    },
    SafetyRow {
        name: "modTL2+polite",
        text: TL2_MODIFIED,
        manager: Some("polite"),
        paper: "17520 N 9s N 8s",
        remark: "the printed size was not reproduced",
    },
];

struct LivenessRow {
    name: &'static str,
    text: &'static str,
    manager: Option<&'static str>,
    paper: &'static str,
}

const LIVENESS: [LivenessRow; 4] = [
    LivenessRow {
        name: "seq",
        text: SEQ,
        manager: None,
        paper: "N 0.1s N 0.1s",
    },
    LivenessRow {
        name: "2PL",
        text: TWO_PL,
        manager: None,
        paper: "N 0.1s N 0.1s",
    },
    LivenessRow {
        name: "DSTM+aggressive",
        text: DSTM,
        manager: Some("aggressive"),
        paper: "Y 2s N 0.2s",
    },
    LivenessRow {
        name: "TL2+polite",
        text: TL2,
        manager: Some("polite"),
        paper: "N 0.4s N 0.4s",
    },
];

fn program(text: &str) -> Option<Program> {
    let mut sources = SourceMap::default();
    let file = sources.add("example", text);
    language::load(&sources, file).ok()
}

fn manager(program: &Program, name: Option<&str>) -> Manager {
    name.and_then(|name| Manager::find(program, name))
        .unwrap_or_default()
}

pub fn run(args: &BenchTmArgs) -> u8 {
    say!("Table 2: safety at 2 threads and 2 variables (paper: size, ss, op)");
    say!(
        "{:<14} {:>6} {:>4} {:>9} {:>4} {:>9}   {:<22} remark",
        "TM",
        "size",
        "ss",
        "s",
        "op",
        "s",
        "paper"
    );
    let mut words = Vec::new();
    for row in &SAFETY {
        let Some(program) = program(row.text) else {
            continue;
        };
        let chosen = manager(&program, row.manager);
        let mut cells = Vec::new();
        let mut size = 0;
        for property in [Safety::StrictSerializability, Safety::Opacity] {
            let started = Instant::now();
            let algorithm = Algorithm::new(&program, 2, 2, chosen);
            let (Ok(graph), Some(spec)) = (
                AlgorithmGraph::build(algorithm, false, MAX_STATES),
                specification(property, program.update, 2, 2),
            ) else {
                continue;
            };
            size = graph.states.len();
            let outcome = inclusion::check(&graph, spec.as_ref(), MAX_STATES).outcome;
            let seconds = started.elapsed().as_secs_f64();
            let verdict = match outcome {
                InclusionOutcome::Included => "Y".to_string(),
                InclusionOutcome::Limit => "?".to_string(),
                InclusionOutcome::Violated(found) => {
                    words.push(print_word(&found.word));
                    format!("N{}", words.len())
                }
            };
            cells.push(format!("{verdict:>4} {seconds:>9.4}"));
        }
        say!(
            "{:<14} {size:>6} {}   {:<22} {}",
            row.name,
            cells.join(" "),
            row.paper,
            row.remark
        );
    }
    for (number, word) in words.iter().enumerate() {
        say!("  N{}: {word}", number + 1);
    }
    say!();
    say!("Table 3: liveness at 2 threads and 1 variable (paper: obstruction, livelock)");
    for row in &LIVENESS {
        let Some(program) = program(row.text) else {
            continue;
        };
        let chosen = manager(&program, row.manager);
        let mut cells = Vec::new();
        for property in [
            Liveness::ObstructionFreedom,
            Liveness::LivelockFreedom,
            Liveness::WaitFreedom,
        ] {
            let started = Instant::now();
            let algorithm = Algorithm::new(&program, 2, 1, chosen);
            let Ok(graph) = AlgorithmGraph::build(algorithm, false, MAX_STATES) else {
                continue;
            };
            let found = find_lasso(&graph, property);
            let seconds = started.elapsed().as_secs_f64();
            cells.push(match found {
                None => format!("Y {seconds:.4}s"),
                Some(lasso) => {
                    let steps = lasso.cycle.iter().map(|step| graph.algorithm.label(step));
                    let cycle: Vec<String> = steps.collect();
                    format!("N {seconds:.4}s ({})", cycle.join(" "))
                }
            });
        }
        say!("{:<16} {:<16} {}", row.name, row.paper, cells.join("; "));
    }
    if args.large {
        large_sizes();
    }
    0
}

fn large_sizes() {
    say!();
    say!("Larger sizes, with symmetry reduction over threads and variables");
    for (name, text) in [("2PL", TWO_PL), ("DSTM", DSTM)] {
        let Some(program) = program(text) else {
            continue;
        };
        for (threads, variables) in [(3, 2), (2, 3), (3, 3)] {
            for property in [Safety::StrictSerializability, Safety::Opacity] {
                let started = Instant::now();
                let algorithm = Algorithm::new(&program, threads, variables, Manager::Any);
                let (Ok(graph), Some(spec)) = (
                    AlgorithmGraph::build(algorithm, true, MAX_STATES),
                    specification(property, program.update, threads, variables),
                ) else {
                    continue;
                };
                let inclusion = inclusion::check(&graph, spec.as_ref(), MAX_STATES);
                say!(
                    "{name:<5} ({threads},{variables}) {:<22} {} states, {} classes, {} pairs: {} {:.2}s",
                    property.adjective(),
                    graph.unreduced_states(),
                    graph.states.len(),
                    inclusion.pairs,
                    match inclusion.outcome {
                        InclusionOutcome::Included => "Y",
                        InclusionOutcome::Violated(_) => "N",
                        InclusionOutcome::Limit => "?",
                    },
                    started.elapsed().as_secs_f64()
                );
            }
        }
    }
}

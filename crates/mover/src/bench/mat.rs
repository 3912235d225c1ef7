//! `mover bench mat`: Table 1 of paper 004, with ours beside it.
//!
//! Each search of each program ([`programs`]) is a child process of its own: token passing
//! with all pairs, with those of mutually atomic transactions and with those of normal forms,
//! without a bound of contexts and with one pass of the token to each thread, and bounded
//! model checking with a scheduler, without and with reduction.

mod programs;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use mover_report::text::grouped;
use mover_symbolic::token::survey::survey;
use programs::{ROWS, Row};
use serde_json::Value;

use super::child;
use super::table::Table;
use crate::output::{print, write_file};
use crate::{INTERNAL_ERROR, UNKNOWN};

#[derive(Args)]
pub struct MatArgs {
    /// Seconds after which a search is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u32,

    /// Only these rows (separated by commas): E1, E2, …
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rows: Vec<String>,

    /// Write every single measurement to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
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

pub fn run(args: &MatArgs) -> u8 {
    let scratch = std::env::temp_dir().join(format!("mover-bench-mat-{}", std::process::id()));
    let measured = measure(args, &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    match measured {
        Ok(()) => 0,
        Err(Trouble::Reported(code)) => code,
        Err(Trouble::Failed(reason)) => {
            eprintln!("mover: {reason}");
            INTERNAL_ERROR
        }
    }
}

enum Trouble {
    Reported(u8),
    Failed(String),
}

impl From<String> for Trouble {
    fn from(reason: String) -> Self {
        Trouble::Failed(reason)
    }
}

fn measure(args: &MatArgs, scratch: &Path) -> Result<(), Trouble> {
    let is_named = |row: &Row| args.rows.iter().any(|name| row.name.starts_with(name));
    let wanted = |row: &&Row| args.rows.is_empty() || is_named(row);
    let rows: Vec<&Row> = ROWS.iter().filter(wanted).collect();
    std::fs::create_dir_all(scratch)
        .map_err(|error| format!("cannot make {}: {error}", scratch.display()))?;
    let mut counts = Table::new(&[
        "", "accesses", "pairs", "paper", "mat", "paper", "MATs", "paper", "lex",
    ]);
    let mut searches = Vec::new();
    for row in rows {
        let text = row.text();
        let path = scratch.join(format!("{}.pml", row.name));
        write_file(&path, &text)?;
        counts.row(pairs(row, &text)?);
        for way in WAYS {
            let search = search(args, row, way, &path)?;
            let (verdict, seconds) = (&search.verdict, search.wall_s);
            let line = format!("{}  {}  {verdict}  {seconds:.2}\n", row.name, way.name);
            print(&line).map_err(Trouble::Reported)?;
            searches.push(search);
        }
    }
    if let Some(path) = &args.csv {
        write_file(path, &csv(&searches))?;
    }
    let mut times = Table::new(&[
        "",
        "search",
        "verdict",
        "s",
        "CPU s",
        "paper s",
        "pairs",
        "variables",
        "clauses",
    ]);
    for search in &searches {
        times.row(search.cells());
    }
    let mut out = String::from("\nPairs and mutually atomic transactions\n\n");
    out += &counts.render();
    let _ = write!(
        out,
        "\nSearches, {} s at most (the paper: 1,800 s, Yices, 2.0 GHz)\n\n{}",
        args.timeout,
        times.render()
    );
    print(&out).map_err(Trouble::Reported)
}

/// A row of the table of pairs.
fn pairs(row: &Row, text: &str) -> Result<Vec<String>, String> {
    let read = mover_promela::parse_text(row.name, text)
        .map_err(|_| format!("{} is no valid model", row.name))?;
    let count =
        |transactions| survey(&read.program, transactions).map_err(|failure| failure.to_string());
    let (single, joined) = (count(false)?, count(true)?);
    let number = |count: usize| grouped(count as u64);
    Ok(vec![
        row.name.into(),
        row.shape(),
        number(single.all),
        grouped(row.paper[0]),
        number(joined.mat.len()),
        grouped(row.paper[1]),
        number(joined.mats.len()),
        grouped(row.paper[2]),
        number(joined.lex),
    ])
}

/// What a search said and took.
struct Search {
    row: &'static str,
    way: &'static str,
    verdict: String,
    wall_s: f64,
    cpu_s: Option<f64>,
    paper_s: &'static str,
    pairs: Option<u64>,
    variables: Option<u64>,
    clauses: Option<u64>,
}

impl Search {
    fn cells(&self) -> Vec<String> {
        let figure = |figure: Option<u64>| figure.map_or("-".into(), grouped);
        vec![
            self.row.into(),
            self.way.into(),
            self.verdict.clone(),
            format!("{:.2}", self.wall_s),
            self.cpu_s.map_or("-".into(), |s| format!("{s:.2}")),
            self.paper_s.into(),
            figure(self.pairs),
            figure(self.variables),
            figure(self.clauses),
        ]
    }
}

fn csv(searches: &[Search]) -> String {
    let mut out =
        String::from("program,search,verdict,wall_s,cpu_s,paper_s,pairs,variables,clauses\n");
    for search in searches {
        let figure = |figure: Option<u64>| figure.map_or(String::new(), |n| n.to_string());
        let _ = writeln!(
            out,
            "{},\"{}\",{},{:.3},{},{},{},{},{}",
            search.row,
            search.way,
            search.verdict,
            search.wall_s,
            search.cpu_s.map_or(String::new(), |s| format!("{s:.2}")),
            search.paper_s,
            figure(search.pairs),
            figure(search.variables),
            figure(search.clauses),
        );
    }
    out
}

fn search(
    args: &MatArgs,
    row: &'static Row,
    way: &'static Way,
    path: &Path,
) -> Result<Search, String> {
    let mover = std::env::current_exe().map_err(|error| format!("who am I? {error}"))?;
    let mut command = Command::new(mover);
    command
        .args(["check", "--json", "--quiet", "--property", "unreach-call"])
        .args(["--timeout", &args.timeout.to_string()])
        .args(way.options.split(' '))
        .arg(path);
    let child = child::run(&mut command)?;
    let told: Value = serde_json::from_str(&child.stdout)
        .map_err(|error| format!("{} {}: {error}\n{}", row.name, way.name, child.stderr))?;
    let verdict = told["verdict"].as_str().unwrap_or("?");
    let is_wrong = match verdict {
        "safe" => row.is_unsafe,
        "unsafe" => !row.is_unsafe,
        _ => false,
    };
    if is_wrong {
        return Err(format!(
            "{} {}: the verdict {verdict} is wrong",
            row.name, way.name
        ));
    }
    let is_open = child.code == Some(i32::from(UNKNOWN)) && verdict == "unknown";
    let figure = |name: &str| told["symbolic"][name].as_u64();
    Ok(Search {
        row: row.name,
        way: way.name,
        verdict: if is_open { "out of time" } else { verdict }.into(),
        wall_s: child.wall_s,
        cpu_s: child.cpu_s,
        paper_s: way.paper.map_or("", |paper| row.times[paper]),
        pairs: figure("pairs").filter(|_| way.options.contains("token")),
        variables: figure("variables"),
        clauses: figure("clauses"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_csv_has_as_many_fields_as_its_head() {
        let search = Search {
            row: "E1S",
            way: "all",
            verdict: "unsafe".into(),
            wall_s: 1.5,
            cpu_s: None,
            paper_s: "0.0",
            pairs: Some(48),
            variables: Some(2),
            clauses: None,
        };
        let written = csv(&[search]);
        let (head, line) = written.split_once('\n').expect("two lines");
        assert_eq!(line, "E1S,\"all\",unsafe,1.500,,0.0,48,2,\n");
        assert_eq!(head.split(',').count(), line.split(',').count());
    }
}

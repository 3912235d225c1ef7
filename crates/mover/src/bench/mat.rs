//! `mover bench mat`: Table 1 of paper 004, with ours beside it.
//!
//! The paper's programs are not to be had, but its figures say what they were like: the
//! programs below have the paper's numbers of pairs and of mutually atomic transactions.
//! E1, E3 and E6 are two threads that compute Fibonacci numbers from each other's results,
//! without locks; E2, E4, E5 and E7 are two threads with a critical section of four
//! accesses. A third thread looks at the result when both are done; that the token has to
//! get there makes two pairs and two transactions more than the paper counts.
//!
//! Each search is a child process of its own: token passing with all pairs, with those of
//! mutually atomic transactions and with those of normal forms, without a bound of contexts
//! and with one pass of the token to each thread, and bounded model checking with a
//! scheduler, without and with reduction.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use clap::Args;
use mover_report::text::grouped;
use mover_symbolic::token::survey::survey;
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
}

/// A row of the paper's table.
struct Row {
    name: &'static str,
    accesses: u32,
    shape: Shape,
    is_unsafe: bool,
    /// Pairs, pairs after the analysis, mutually atomic transactions.
    paper: [u64; 3],
    /// Seconds of the paper: all pairs, all pairs with one context, MAT, MAT with one
    /// context, scheduler. `TO` ran out of time (1800 s), `MO` out of memory.
    times: [&'static str; 5],
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Fibonacci,
    Locked,
}

const ROWS: &[Row] = &[
    Row {
        name: "E1S",
        accesses: 4,
        shape: Shape::Fibonacci,
        is_unsafe: true,
        paper: [48, 23, 14],
        times: ["0.0", "0.0", "0.0", "0.0", "0.0"],
    },
    Row {
        name: "E2S",
        accesses: 8,
        shape: Shape::Locked,
        is_unsafe: true,
        paper: [192, 8, 4],
        times: ["0.1", "0.1", "0.0", "0.0", "0.2"],
    },
    Row {
        name: "E3S",
        accesses: 20,
        shape: Shape::Fibonacci,
        is_unsafe: true,
        paper: [880, 591, 390],
        times: ["22.1", "0.9", "7.3", "0.5", "0.8"],
    },
    Row {
        name: "E4S",
        accesses: 40,
        shape: Shape::Locked,
        is_unsafe: true,
        paper: [3520, 200, 100],
        times: ["1550.5", "8.5", "0.2", "0.2", "4.2"],
    },
    Row {
        name: "E5U",
        accesses: 40,
        shape: Shape::Locked,
        is_unsafe: false,
        paper: [3520, 200, 100],
        times: ["TO", "13.7", "50.5", "0.2", "99.7"],
    },
    Row {
        name: "E6S",
        accesses: 100,
        shape: Shape::Fibonacci,
        is_unsafe: true,
        paper: [20400, 14951, 9950],
        times: ["TO", "497.8", "TO", "150.8", "MO"],
    },
    Row {
        name: "E7S",
        accesses: 200,
        shape: Shape::Locked,
        is_unsafe: true,
        paper: [81600, 5000, 2500],
        times: ["TO", "TO", "TO", "16.4", "MO"],
    },
];

impl Row {
    /// The program, in Promela.
    fn text(&self) -> String {
        match self.shape {
            Shape::Fibonacci => self.fibonacci(),
            Shape::Locked => self.locked(),
        }
    }

    fn fibonacci(&self) -> String {
        let rounds = self.accesses / 2;
        // What comes out when the first thread runs before the second.
        let (mut x, mut y) = (1u8, 1u8);
        for _ in 0..rounds {
            y = y.wrapping_add(x);
        }
        for _ in 0..rounds {
            x = x.wrapping_add(y);
        }
        let thread = |name: &str, from: &str, to: &str, number: u32| {
            format!(
                "active proctype {name}() {{\n  byte own = 1, seen, i;\n  do\n  \
                 :: i < {last} -> seen = {from}; d_step {{ own = own + seen; {to} = own; i++ }}\n  \
                 :: else -> break\n  od;\n  \
                 seen = {from}; d_step {{ own = own + seen; {to} = own; done[{number}] = 1 }}\n}}\n",
                last = rounds - 1,
            )
        };
        format!(
            "byte x = 1, y = 1; bool done[2];\n{}{}active proctype Look() {{\n  \
             atomic {{ done[0] && done[1] -> assert(x != {x}) }}\n}}\n",
            thread("A", "x", "y", 0),
            thread("B", "y", "x", 1),
        )
    }

    fn locked(&self) -> String {
        let rounds = self.accesses / 4;
        let (second, claim) = if self.is_unsafe {
            let mut x = rounds as u8;
            for _ in 0..rounds {
                x = x.wrapping_mul(3).wrapping_add(1);
            }
            ("3 * seen + 1", format!("x != {x}"))
        } else {
            ("seen + 2", format!("x == {}", (3 * rounds) as u8))
        };
        let thread = |name: &str, value: &str, number: u32| {
            let section = format!("atomic {{ !m -> m = 1 }}; seen = x; x = {value};");
            format!(
                "active proctype {name}() {{\n  byte seen, i;\n  do\n  \
                 :: i < {last} -> {section} d_step {{ m = 0; seen = 0; i++ }}\n  \
                 :: else -> break\n  od;\n  \
                 {section} d_step {{ m = 0; done[{number}] = 1 }}\n}}\n",
                last = rounds - 1,
            )
        };
        format!(
            "byte x; bool m; bool done[2];\n{}{}active proctype Look() {{\n  \
             atomic {{ !m && done[0] && done[1] -> m = 1 }}; assert({claim})\n}}\n",
            thread("A", "seen + 1", 0),
            thread("B", second, 1),
        )
    }

    /// The accesses of the three threads.
    fn shape(&self) -> String {
        let looks = match self.shape {
            Shape::Fibonacci => 1,
            Shape::Locked => 2,
        };
        format!("({looks},{n},{n})", n = self.accesses)
    }
}

/// A way to search.
struct Way {
    name: &'static str,
    options: &'static [&'static str],
    /// Which of the paper's times is beside it.
    paper: Option<usize>,
}

const WAYS: &[Way] = &[
    Way {
        name: "all",
        options: &["--engine", "token", "--pairs", "all"],
        paper: Some(0),
    },
    Way {
        name: "all, 1 context",
        options: &[
            "--engine",
            "token",
            "--pairs",
            "all",
            "--context-bound",
            "1",
        ],
        paper: Some(1),
    },
    Way {
        name: "mat",
        options: &["--engine", "token", "--pairs", "mat"],
        paper: Some(2),
    },
    Way {
        name: "mat, 1 context",
        options: &[
            "--engine",
            "token",
            "--pairs",
            "mat",
            "--context-bound",
            "1",
        ],
        paper: Some(3),
    },
    Way {
        name: "lex",
        options: &["--engine", "token", "--pairs", "lex"],
        paper: None,
    },
    Way {
        name: "lex, 1 context",
        options: &[
            "--engine",
            "token",
            "--pairs",
            "lex",
            "--context-bound",
            "1",
        ],
        paper: None,
    },
    Way {
        name: "scheduler",
        options: &["--engine", "bmc"],
        paper: Some(4),
    },
    Way {
        name: "scheduler, reduced",
        options: &["--engine", "bmc", "--reduce", "static"],
        paper: None,
    },
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
    let wanted = |row: &&Row| {
        args.rows.is_empty()
            || args
                .rows
                .iter()
                .any(|name| row.name.starts_with(name.as_str()))
    };
    let rows: Vec<&Row> = ROWS.iter().filter(wanted).collect();
    std::fs::create_dir_all(scratch)
        .map_err(|error| format!("cannot make {}: {error}", scratch.display()))?;
    let mut counts = Table::new(&[
        "", "accesses", "pairs", "paper", "mat", "paper", "MATs", "paper", "lex",
    ]);
    let mut times = Table::new(&[
        "",
        "search",
        "verdict",
        "s",
        "paper s",
        "pairs",
        "variables",
        "clauses",
    ]);
    for row in rows {
        let text = row.text();
        let path = scratch.join(format!("{}.pml", row.name));
        write_file(&path, &text)?;
        let read = mover_promela::parse_text(row.name, &text)
            .map_err(|_| format!("{} is no valid model", row.name))?;
        let count = |transactions| {
            survey(&read.program, transactions).map_err(|failure| failure.to_string())
        };
        let (single, joined) = (count(false)?, count(true)?);
        let number = |count: usize| grouped(count as u64);
        counts.row(vec![
            row.name.into(),
            row.shape(),
            number(single.all),
            grouped(row.paper[0]),
            number(joined.mat.len()),
            grouped(row.paper[1]),
            number(joined.mats.len()),
            grouped(row.paper[2]),
            number(joined.lex),
        ]);
        for way in WAYS {
            let line = search(args, row, way, &path)?;
            print(&format!("{}\n", line[..4].join("  "))).map_err(Trouble::Reported)?;
            times.row(line);
        }
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

fn search(args: &MatArgs, row: &Row, way: &Way, path: &Path) -> Result<Vec<String>, String> {
    let mover = std::env::current_exe().map_err(|error| format!("who am I? {error}"))?;
    let mut command = Command::new(mover);
    command
        .args(["check", "--json", "--quiet", "--property", "unreach-call"])
        .args(["--timeout", &args.timeout.to_string()])
        .args(way.options)
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
    let figure = |name: &str| told["symbolic"][name].as_u64().map_or("-".into(), grouped);
    Ok(vec![
        row.name.into(),
        way.name.into(),
        match child.code {
            Some(code) if code == i32::from(UNKNOWN) && verdict == "unknown" => {
                "out of time".into()
            }
            _ => verdict.into(),
        },
        format!("{:.2}", child.wall_s),
        way.paper.map_or("", |paper| row.times[paper]).into(),
        match way.options.contains(&"token") {
            true => figure("pairs"),
            false => "-".into(),
        },
        figure("variables"),
        figure("clauses"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generated programs have the paper's shape.
    #[test]
    fn pairs_and_transactions_are_those_of_the_paper() {
        for row in ROWS.iter().filter(|row| row.accesses <= 40) {
            let read = mover_promela::parse_text(row.name, &row.text()).expect("a valid model");
            let single = survey(&read.program, false).expect("it is taken");
            let joined = survey(&read.program, true).expect("it is taken");
            assert!(!single.is_cut && !joined.is_cut, "{}", row.name);
            // The token has to get to the third thread as well.
            let counts = [single.all, joined.mat.len() - 2, joined.mats.len() - 2];
            assert_eq!(counts.map(|count| count as u64), row.paper, "{}", row.name);
        }
    }
}

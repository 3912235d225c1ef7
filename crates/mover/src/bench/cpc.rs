//! `mover bench cpc`: Table 1 of paper 000, with ours beside it.
//!
//! The paper compares how many states a search with transactions visits with
//! three answers to the ignoring problem: none (unsound, the lower bound),
//! commit point completion, and cycle detection. Its programs are not to be had,
//! so ours are written anew in the manner of its rows; only ratios can be
//! compared. Beside the paper's three there is what mover has more: all
//! interleavings, completion without line L19, location feedback sets, left
//! movers only, and chain blocks, which are mover's own way.
//!
//! The property is that no assertion fails, as in the paper. Every run is a
//! child process of its own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use mover_report::text::grouped;
use serde_json::Value;

use super::child;
use super::table::{Table, median};
use crate::output::{print, write_file};
use crate::{BAD_INPUT, INTERNAL_ERROR, USAGE};

#[derive(Args)]
pub struct CpcArgs {
    /// How often each search runs; the median of the times counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Also the sizes that take minutes
    #[arg(long)]
    large: bool,

    /// Seconds after which a search is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u32,

    /// Write states and times to a file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Only rows whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    rows: Vec<String>,

    /// Where the programs are
    #[arg(long, value_name = "DIR", default_value = "bench/cpc")]
    models: PathBuf,
}

/// A way to search, by its options.
struct Column {
    name: &'static str,
    options: &'static [&'static str],
}

const NONE: usize = 0;
const UNSOUND: usize = 1;
const CPC: usize = 2;
const CYCLE: usize = 4;
const BLOCKS: usize = 7;

/// To add a column, add a line at the end.
const COLUMNS: &[Column] = &[
    column("none", &["none"]),
    column("unsound", &["static", "--ignoring", "unsound"]),
    column("cpc", &["static", "--ignoring", "cpc"]),
    column("no L19", &["static", "--ignoring", "cpc-no-l19"]),
    column("cycle", &["static", "--ignoring", "cycle"]),
    column("lfs", &["static", "--ignoring", "lfs"]),
    column("left", &["left", "--ignoring", "cpc"]),
    column("blocks", &["static", "--ignoring", "blocks"]),
    column("phase", &["phase"]),
];

const fn column(name: &'static str, options: &'static [&'static str]) -> Column {
    Column { name, options }
}

/// The paper's row: states of the unsound search, of completion, of cycle detection.
type Paper = [u64; 3];

struct Row {
    name: &'static str,
    /// A Promela model, unless the name says otherwise.
    file: &'static str,
    defines: &'static [&'static str],
    paper: Paper,
    /// Whether most of what is shared is protected by locks.
    is_lock_based: bool,
    is_large: bool,
}

const AUCTION_HOUSE: Paper = [108, 108, 108];
const FLOW_TEST: Paper = [4_656, 4_656, 4_656];
const SHIPPING: Paper = [206, 206, 222];
const CONC: Paper = [512, 512, 2_063];
const PETERSON: Paper = [1_080, 1_213, 3_427];
const BLUETOOTH: Paper = [48_109, 52_092, 116_559];
const TRANSACTION_MANAGER: Paper = [1_220_517, 1_264_894, 1_268_571];
const ALTERNATING_BIT: Paper = [1_180, 1_180, 1_349];
const PHILOSOPHERS: Paper = [87_399, 87_399, 428_896];
const BAKERY: Paper = [10_221, 14_935, 14_254];

const fn row(name: &'static str, file: &'static str, paper: Paper) -> Row {
    Row {
        name,
        file,
        defines: &[],
        paper,
        is_lock_based: false,
        is_large: false,
    }
}

impl Row {
    fn is_c(&self) -> bool {
        self.file.ends_with(".c")
    }

    fn file_name(&self) -> String {
        if self.is_c() {
            self.file.to_string()
        } else {
            format!("{}.pml", self.file)
        }
    }

    const fn with(self, defines: &'static [&'static str]) -> Row {
        Row { defines, ..self }
    }

    const fn locks(self) -> Row {
        Row {
            is_lock_based: true,
            ..self
        }
    }

    const fn large(self) -> Row {
        Row {
            is_large: true,
            ..self
        }
    }
}

const ROWS: &[Row] = &[
    row("AuctionHouse", "auction_house", AUCTION_HOUSE),
    row("FlowTest", "flow_test", FLOW_TEST),
    row("Shipping", "shipping", SHIPPING),
    row("Conc 2", "conc", CONC).with(&["-DN=2"]).locks(),
    row("Conc 3", "conc", CONC).with(&["-DN=3"]).locks(),
    row("Peterson 2", "peterson", PETERSON).with(&["-DN=2"]),
    row("Peterson 3", "peterson", PETERSON).with(&["-DN=3"]),
    row("Bluetooth 2", "bluetooth", BLUETOOTH).with(&["-DREQUESTS=2"]),
    row("Bluetooth 3", "bluetooth", BLUETOOTH).with(&["-DREQUESTS=3"]),
    row(
        "TransactionManager 1",
        "transaction_manager",
        TRANSACTION_MANAGER,
    )
    .with(&["-DCLIENTS=1"])
    .locks(),
    row(
        "TransactionManager 2",
        "transaction_manager",
        TRANSACTION_MANAGER,
    )
    .with(&["-DCLIENTS=2"])
    .locks()
    .large(),
    row("AlternatingBit 1", "alternating_bit", ALTERNATING_BIT).with(&["-DSIZE=1"]),
    row("AlternatingBit 2", "alternating_bit", ALTERNATING_BIT).with(&["-DSIZE=2"]),
    row("AlternatingBit 4", "alternating_bit", ALTERNATING_BIT).with(&["-DSIZE=4"]),
    row("Philosophers 4", "philosophers", PHILOSOPHERS)
        .with(&["-DN=4"])
        .locks(),
    row("Philosophers 5", "philosophers", PHILOSOPHERS)
        .with(&["-DN=5"])
        .locks(),
    row("Philosophers 6", "philosophers", PHILOSOPHERS)
        .with(&["-DN=6"])
        .locks()
        .large(),
    row("Philosophers 7", "philosophers", PHILOSOPHERS)
        .with(&["-DN=7"])
        .locks()
        .large(),
    row("Bakery 2", "bakery", BAKERY).with(&["-DN=2"]),
    row("Bakery 3", "bakery", BAKERY).with(&["-DN=3"]).large(),
    row("Conc 2, C", "conc.c", CONC).with(&["-DN=2"]).locks(),
    row("Conc 3, C", "conc.c", CONC).with(&["-DN=3"]).locks(),
    row("Peterson 2, C", "peterson.c", PETERSON),
    row("Bluetooth 2, C", "bluetooth.c", BLUETOOTH).with(&["-DREQUESTS=2"]),
    row("Bluetooth 3, C", "bluetooth.c", BLUETOOTH)
        .with(&["-DREQUESTS=3"])
        .large(),
    row("Philosophers 3, C", "philosophers.c", PHILOSOPHERS).with(&["-DN=3"]),
    row("Philosophers 4, C", "philosophers.c", PHILOSOPHERS).with(&["-DN=4"]),
    row("Bakery 2, C", "bakery.c", BAKERY).with(&["-DN=2"]),
    row("Bakery 3, C", "bakery.c", BAKERY)
        .with(&["-DN=3"])
        .large(),
];

/// What a search came to.
#[derive(Clone, Copy)]
struct Cell {
    states: u64,
    seconds: f64,
    /// Whether it saw everything.
    is_complete: bool,
}

impl Cell {
    fn states(&self) -> String {
        let states = grouped(self.states);
        if self.is_complete {
            states
        } else {
            format!(">{states}")
        }
    }

    fn seconds(&self) -> String {
        let seconds = format!("{:.3}", self.seconds);
        if self.is_complete {
            seconds
        } else {
            format!(">{seconds}")
        }
    }
}

struct Measured {
    row: &'static Row,
    cells: Vec<Cell>,
}

impl Measured {
    /// The states of some columns, if all of these searches saw everything.
    fn complete<const N: usize>(&self, columns: [usize; N]) -> Option<[u64; N]> {
        let cells = columns.map(|column| self.cells[column]);
        let all = cells.iter().all(|cell| cell.is_complete);
        all.then(|| cells.map(|cell| cell.states))
    }
}

pub fn run(args: &CpcArgs) -> u8 {
    let chosen: Vec<&'static Row> = ROWS
        .iter()
        .filter(|row| args.large || !row.is_large)
        .filter(|row| cfg!(feature = "c") || !row.is_c())
        .filter(|row| {
            let name = row.name.to_lowercase();
            args.rows.is_empty() || args.rows.iter().any(|w| name.contains(&w.to_lowercase()))
        })
        .collect();
    if chosen.is_empty() {
        eprintln!("mover: no row is called like that");
        return USAGE;
    }
    let mut measured = Vec::new();
    for row in chosen {
        let path = args.models.join(row.file_name());
        if !path.exists() {
            eprintln!("mover: there is no {}; see --models", path.display());
            return BAD_INPUT;
        }
        eprintln!("{}", row.name);
        let mut cells = Vec::new();
        for column in COLUMNS {
            match measure(args, row, column, &path) {
                Ok(cell) => cells.push(cell),
                Err(reason) => {
                    eprintln!("mover: {}, {}: {reason}", row.name, column.name);
                    return INTERNAL_ERROR;
                }
            }
        }
        measured.push(Measured { row, cells });
    }
    if let Some(path) = &args.csv
        && let Err(reason) = write_file(path, &csv(&measured))
    {
        eprintln!("mover: {reason}");
        return INTERNAL_ERROR;
    }
    match print(&report(&measured)) {
        Ok(()) => 0,
        Err(code) => code,
    }
}

fn measure(args: &CpcArgs, row: &Row, column: &Column, path: &Path) -> Result<Cell, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find mover: {error}"))?;
    let mut cells = Vec::new();
    for _ in 0..args.runs {
        let finished = child::run(
            Command::new(&own)
                .args(["check", "--json", "--quiet", "--property", "unreach-call"])
                .args(["--timeout", &args.timeout.to_string()])
                .arg("--reduce")
                .args(column.options)
                .args(row.defines)
                .arg(path),
        )?;
        let answer: Value = serde_json::from_str(&finished.stdout)
            .map_err(|_| format!("no answer: {}", finished.stderr.trim()))?;
        cells.push(cell(&answer)?);
    }
    let seconds = median(cells.iter().map(|cell| cell.seconds).collect());
    cells
        .first()
        .map(|first| Cell { seconds, ..*first })
        .ok_or_else(|| "nothing was run".into())
}

/// All programs are right; a search that has not seen everything was cut off or is the unsound one.
fn cell(answer: &Value) -> Result<Cell, String> {
    let reason = answer["reason"].as_str().unwrap_or_default();
    let is_complete = match answer["verdict"].as_str() {
        Some("safe") => true,
        Some("unknown") => answer["ignoring"] == "unsound" && !reason.contains("limit"),
        _ => return Err(format!("not safe: {reason}")),
    };
    Ok(Cell {
        states: answer["states"].as_u64().ok_or("no states in the answer")?,
        seconds: answer["time_s"].as_f64().ok_or("no time in the answer")?,
        is_complete,
    })
}

fn report(measured: &[Measured]) -> String {
    let mut out = String::from(
        "Table 1 of \"Sound Transaction-based Reduction without Cycle Detection\": states stored\n\
         (left: left movers only, with cpc; >: given up; the programs are ours, so compare ratios)\n\n",
    );
    let names = COLUMNS.iter().map(|column| column.name);
    let titles: Vec<&str> = std::iter::once("program")
        .chain(names.clone())
        .chain(["paper: unsound", "cpc", "cycle"])
        .collect();
    let mut states = Table::new(&titles);
    let titles: Vec<&str> = std::iter::once("seconds").chain(names).collect();
    let mut seconds = Table::new(&titles);
    for one in measured {
        let name = std::iter::once(one.row.name.to_string());
        let paper = one.row.paper.iter().map(|&states| grouped(states));
        let cells = name.clone().chain(one.cells.iter().map(Cell::states));
        states.row(cells.chain(paper).collect());
        seconds.row(name.chain(one.cells.iter().map(Cell::seconds)).collect());
    }
    out += &states.render();
    out.push('\n');
    out += &seconds.render();
    out.push('\n');
    out += &summary(measured);
    out
}

/// How the aims were met.
fn summary(measured: &[Measured]) -> String {
    let mut out = String::new();
    let is_above = |one: &&Measured| {
        let (cpc, cycle) = (one.cells[CPC], one.cells[CYCLE]);
        !cpc.is_complete || cycle.states < cpc.states
    };
    let above: Vec<&str> = measured
        .iter()
        .filter(is_above)
        .map(|one| one.row.name)
        .collect();
    let _ = writeln!(
        out,
        "cpc at or below cycle detection: {} of {} rows{}",
        measured.len() - above.len(),
        measured.len(),
        named(" (above: ", &above)
    );
    let near = |unsound: u64, cpc: u64| cpc * 10 <= unsound * 11;
    let compared: Vec<(&Measured, [u64; 2])> = measured
        .iter()
        .filter(|one| near(one.row.paper[0], one.row.paper[1]))
        .filter_map(|one| Some((one, one.complete([UNSOUND, CPC])?)))
        .collect();
    let far: Vec<&str> = compared
        .iter()
        .filter(|(_, [unsound, cpc])| !near(*unsound, *cpc))
        .map(|(one, _)| one.row.name)
        .collect();
    let _ = writeln!(
        out,
        "cpc within 10 % of the lower bound, where the paper is: {} of {} rows{}",
        compared.len() - far.len(),
        compared.len(),
        named(" (not: ", &far)
    );
    let mut total = [0; 3];
    let locks = measured.iter().filter(|one| one.row.is_lock_based);
    for states in locks.filter_map(|one| one.complete([NONE, CPC, BLOCKS])) {
        for (sum, states) in total.iter_mut().zip(states) {
            *sum += states;
        }
    }
    let [none, cpc, blocks] = total;
    if none > 0 {
        let share = |states: u64| 100.0 * states as f64 / none as f64;
        let _ = writeln!(
            out,
            "stored on rows with locks: {} without reduction, cpc {} ({:.1} %), blocks {} ({:.2} %)",
            grouped(none),
            grouped(cpc),
            share(cpc),
            grouped(blocks),
            share(blocks)
        );
    }
    out
}

/// Names behind a word, or nothing.
fn named(before: &str, names: &[&str]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!("{before}{})", names.join(", "))
    }
}

fn csv(measured: &[Measured]) -> String {
    let mut out = String::from("program,search,states,seconds,complete\n");
    for one in measured {
        for (column, cell) in COLUMNS.iter().zip(&one.cells) {
            let _ = writeln!(
                out,
                "{},{},{},{},{}",
                one.row.name, column.name, cell.states, cell.seconds, cell.is_complete
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_summary_are_where_it_looks_for_them() {
        let named = [
            (NONE, "none"),
            (UNSOUND, "unsound"),
            (CPC, "cpc"),
            (CYCLE, "cycle"),
            (BLOCKS, "blocks"),
        ];
        for (position, name) in named {
            assert_eq!(COLUMNS[position].name, name);
        }
    }

    #[test]
    fn the_summary_counts_rows() {
        let cell = |states| Cell {
            states,
            seconds: 0.0,
            is_complete: true,
        };
        let states = [100, 10, 12, 12, 11, 10, 10, 1];
        let measured = [Measured {
            row: &ROWS[3],
            cells: states.map(cell).to_vec(),
        }];
        assert_eq!(
            summary(&measured),
            "cpc at or below cycle detection: 0 of 1 rows (above: Conc 2)\n\
             cpc within 10 % of the lower bound, where the paper is: 0 of 1 rows (not: Conc 2)\n\
             stored on rows with locks: 100 without reduction, cpc 12 (12.0 %), blocks 1 (1.00 %)\n"
        );
    }

    #[test]
    fn an_unsound_search_that_was_not_cut_off_is_complete() {
        let answer = |verdict: &str, ignoring: &str, reason: &str| {
            let answer = serde_json::json!({
                "verdict": verdict, "ignoring": ignoring, "reason": reason,
                "states": 7, "time_s": 0.5,
            });
            cell(&answer).map(|cell| cell.is_complete)
        };
        assert_eq!(answer("safe", "cpc", ""), Ok(true));
        assert_eq!(answer("unknown", "unsound", "misses errors"), Ok(true));
        assert_eq!(answer("unknown", "unsound", "the time limit"), Ok(false));
        assert_eq!(answer("unknown", "cpc", "the time limit"), Ok(false));
        assert!(answer("unsafe", "cpc", "assertion violated").is_err());
    }
}

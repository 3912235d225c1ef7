//! `mover bench cpc`: Table 1 of Levin et al. (2005), with ours beside it.
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

use mover_cli::stderr_line;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_check::words::grouped;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, MeasureError, must_exist};
use crate::records::{LimitArgs, RecordArgs, Recorder, Results, RowError, rounded};
use crate::section::{Ratio, Section};
use crate::table::{Table, median};
use crate::{ask, is_wanted, records};

#[derive(Args)]
pub struct CpcArgs {
    /// Runs of each search; the median time counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Include the sizes that take minutes
    #[arg(long)]
    large: bool,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    record: RecordArgs,

    /// Only rows whose name contains one of these words (separated by commas)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    rows: Vec<String>,

    /// Directory of the programs
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
    column("scc", &["static", "--ignoring", "scc"]),
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
    /// None for a program that stands for no row of the paper: one with a transaction that never ends.
    paper: Option<Paper>,
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
        paper: Some(paper),
        is_lock_based: false,
        is_large: false,
    }
}

/// A program in which a transaction commits and never ends, so that ignoring matters.
const fn endless(name: &'static str, file: &'static str, defines: &'static [&'static str]) -> Row {
    Row {
        paper: None,
        ..row(name, file, [0; 3]).with(defines)
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
    row(
        "TransactionManager 1, free loops",
        "transaction_manager",
        TRANSACTION_MANAGER,
    )
    .with(&["-DCLIENTS=1", "-DLOOPS"])
    .locks(),
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
    endless("Servers 3", "servers", &["-DN=3"]),
    endless("Servers 4", "servers", &["-DN=4"]),
    endless("Publishers 3", "publishers", &["-DN=3"]),
    endless("Publishers 5", "publishers", &["-DN=5"]),
    endless("Branches 3", "branches", &["-DN=3"]),
    endless("Branches 4", "branches", &["-DN=4"]),
    endless("SpinningReaders 3", "spinning_readers", &["-DN=3"]),
    endless("SpinningReaders 4", "spinning_readers", &["-DN=4"]),
];

/// What a search came to.
#[derive(Clone, Serialize, Deserialize)]
pub struct Cell {
    program: String,
    search: String,
    states: u64,
    seconds: f64,
    /// Whether it saw everything.
    complete: bool,
}

impl records::Row for Cell {
    fn check(&self) -> Result<(), RowError> {
        if !ROWS.iter().any(|row| row.name == self.program) {
            return Err(RowError::unknown("program", &self.program));
        }
        if !COLUMNS.iter().any(|column| column.name == self.search) {
            return Err(RowError::unknown("search", &self.search));
        }
        Ok(())
    }
}

impl Cell {
    fn states(&self) -> String {
        let states = grouped(self.states);
        if self.complete {
            states
        } else {
            format!(">{states}")
        }
    }

    fn seconds(&self) -> String {
        let seconds = format!("{:.3}", self.seconds);
        if self.complete {
            seconds
        } else {
            format!(">{seconds}")
        }
    }
}

/// A program with what each search came to, as far as it was measured.
struct Measured<'a> {
    row: &'static Row,
    cells: Vec<Option<&'a Cell>>,
}

impl Measured<'_> {
    /// The states of some columns, if all of these searches saw everything.
    fn complete<const N: usize>(&self, columns: [usize; N]) -> Option<[u64; N]> {
        let mut states = [0; N];
        for (slot, column) in states.iter_mut().zip(columns) {
            *slot = self.cells[column].filter(|cell| cell.complete)?.states;
        }
        Some(states)
    }
}

pub fn run(args: &CpcArgs) -> Result<Section, BenchError> {
    let chosen: Vec<&'static Row> = ROWS
        .iter()
        .filter(|row| args.large || !row.is_large)
        .filter(|row| cfg!(feature = "c") || !row.is_c())
        .filter(|row| is_wanted(row.name, &args.rows))
        .collect();
    if chosen.is_empty() {
        return Err(BenchError::NothingChosen("row"));
    }
    let mut recorder = Recorder::begin(&args.record, Some(&args.limit))?;
    for row in chosen {
        let path = args.models.join(row.file_name());
        must_exist(&path, "--models")?;
        stderr_line!("{}", row.name);
        for column in COLUMNS {
            let cell = measure(args, row, column, &path)
                .map_err(|error| error.on(format!("{}, {}", row.name, column.name)))?;
            recorder.record(cell)?;
        }
    }
    Ok(section(&recorder.finish()?))
}

fn measure(args: &CpcArgs, row: &Row, column: &Column, path: &Path) -> Result<Cell, MeasureError> {
    // What is forgotten besides would be credited to the solutions of the ignoring problem.
    let common = [
        "--keep-dead-values",
        "--property",
        "unreach-call",
        "--reduce",
    ];
    let options = [&common, column.options].concat();
    let mut cells = Vec::new();
    for _ in 0..args.runs {
        let seconds = args.limit.seconds;
        let (states, seconds, complete) =
            match ask::check(path, row.defines, &options, Some(seconds))? {
                Some(answer) => (
                    answer.number("states")? as u64,
                    rounded(answer.number("time_s")?),
                    is_complete(answer.verdict(), answer.reason(), &answer.json["ignoring"])?,
                ),
                None => (0, f64::from(seconds), false),
            };
        cells.push(Cell {
            program: row.name.to_string(),
            search: column.name.to_string(),
            states,
            seconds,
            complete,
        });
    }
    let seconds = median(cells.iter().map(|cell| cell.seconds).collect());
    let first = cells.into_iter().next().ok_or(MeasureError::NothingRun)?;
    Ok(Cell { seconds, ..first })
}

/// All programs are right; a search that has not seen everything was cut off or is the unsound one.
fn is_complete(
    verdict: &str,
    reason: &str,
    ignoring: &serde_json::Value,
) -> Result<bool, MeasureError> {
    match verdict {
        "safe" => Ok(true),
        "unknown" => Ok(ignoring == "unsound" && !reason.contains("limit")),
        _ => Err(MeasureError::NotSafe(reason.into())),
    }
}

/// A time below that is mostly start-up.
const WORTH_COMPARING_S: f64 = 0.1;

pub fn section(results: &Results<Cell>) -> Section {
    let measured: Vec<Measured> = ROWS
        .iter()
        .filter(|row| results.rows.iter().any(|cell| cell.program == row.name))
        .map(|row| Measured {
            row,
            cells: COLUMNS
                .iter()
                .map(|column| {
                    let mut cells = results.rows.iter();
                    cells.find(|cell| cell.program == row.name && cell.search == column.name)
                })
                .collect(),
        })
        .collect();
    let mut out = Section::new("Commit point completion");
    out.text(
        "Table 1 of Levin et al. (2005): states stored by each \
         solution of the ignoring problem. The paper's programs are not available. Ours imitate them and \
         differ in size, so compare ratios, not counts. Dead values are kept in the state \
         (`--keep-dead-values`). `left`: left movers only, with cpc; `blocks` and `phase`: mover's own \
         solutions; `>`: time limit reached. The last rows stand for no row of the paper: in them a \
         transaction commits and never ends, so that the lower bound misses states that a sound search \
         has to store.",
    );
    let names = COLUMNS.iter().map(|column| column.name);
    let titles: Vec<&str> = std::iter::once("program")
        .chain(names.clone())
        .chain(["paper: unsound", "cpc", "cycle"])
        .collect();
    let mut states = Table::new(&titles);
    let titles: Vec<&str> = std::iter::once("program").chain(names).collect();
    let mut seconds = Table::new(&titles);
    let mut ratios = Table::new(&[
        "program",
        "cpc by unsound",
        "paper",
        "cycle by cpc",
        "paper",
        "none by blocks",
    ]);
    for one in &measured {
        let name = std::iter::once(one.row.name.to_string());
        let paper = (0..3).map(|column| {
            let states = one.row.paper.map(|states| states[column]);
            states.map_or("-".into(), grouped)
        });
        let cell = |text: fn(&Cell) -> String| {
            let cells = one.cells.iter();
            cells.map(move |cell| cell.map_or(String::new(), text))
        };
        states.row(
            name.clone()
                .chain(cell(Cell::states))
                .chain(paper)
                .collect(),
        );
        seconds.row(name.chain(cell(Cell::seconds)).collect());
        let by = |columns: [usize; 2]| {
            let [above, below] = one.complete(columns)?;
            (below > 0).then(|| above as f64 / below as f64)
        };
        let paper = |above: usize, below: usize| {
            let states = one.row.paper?;
            Some(states[above] as f64 / states[below] as f64)
        };
        let shown = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
        ratios.row(vec![
            one.row.name.into(),
            shown(by([CPC, UNSOUND])),
            shown(paper(1, 0)),
            shown(by([CYCLE, CPC])),
            shown(paper(2, 1)),
            shown(by([NONE, BLOCKS])),
        ]);
        out.ratios.extend(compared(one, &by));
    }
    out.heading("Stored states");
    out.table(states);
    out.heading("Ratios of stored states");
    out.table(ratios);
    out.heading("Seconds");
    out.table(seconds);
    out.heading("The paper's findings");
    let findings = findings(&measured);
    out.text(
        findings
            .iter()
            .map(|(claim, figure)| format!("- {claim}: {figure}\n"))
            .collect::<String>(),
    );
    for (claim, figure) in findings {
        out.headline(claim, figure);
    }
    out
}

/// How completion compares with the paper's, and mover's own blocks with no reduction.
fn compared(one: &Measured, by: &dyn Fn([usize; 2]) -> Option<f64>) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    let mut add = |measure: &str, peer, ours: String, theirs: String, value: f64| {
        ratios.push(Ratio {
            subject: one.row.name.into(),
            measure: measure.into(),
            peer,
            ours,
            theirs,
            value,
            is_at_most: false,
        });
    };
    if let Some((ours, [unsound, cpc, _])) = by([CPC, UNSOUND]).zip(one.row.paper) {
        let theirs = cpc as f64 / unsound as f64;
        add(
            "states of cpc divided by the lower bound",
            "the paper on cpc",
            format!("{ours:.2}"),
            format!("{theirs:.2}"),
            theirs / ours,
        );
    }
    if let Some([cycle, cpc]) = one.complete([CYCLE, CPC]).filter(|&[_, cpc]| cpc > 0) {
        add(
            "states stored with cpc",
            "cycle detection",
            grouped(cpc),
            grouped(cycle),
            cycle as f64 / cpc as f64,
        );
    }
    let seconds = |column: usize| one.cells[column].filter(|cell| cell.complete);
    if let Some((none, blocks)) = seconds(NONE).zip(seconds(BLOCKS))
        && none.seconds.max(blocks.seconds) >= WORTH_COMPARING_S
    {
        add(
            "seconds with blocks",
            "no reduction",
            blocks.seconds(),
            none.seconds(),
            none.seconds.max(0.001) / blocks.seconds.max(0.001),
        );
    }
    ratios
}

/// What the paper claims, and mover's aims, with what came out.
fn findings(measured: &[Measured]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let judged: Vec<(&Measured, [u64; 2])> = measured
        .iter()
        .filter_map(|one| Some((one, one.complete([CPC, CYCLE])?)))
        .collect();
    let above: Vec<&str> = judged
        .iter()
        .filter(|(_, [cpc, cycle])| cycle < cpc)
        .map(|(one, _)| one.row.name)
        .collect();
    out.push((
        "completion stores no more than cycle detection".into(),
        format!(
            "{} of {} programs{}",
            judged.len() - above.len(),
            judged.len(),
            named(" (more: ", &above)
        ),
    ));
    let near = |unsound: u64, cpc: u64| cpc * 10 <= unsound * 11;
    let compared: Vec<(&Measured, [u64; 2])> = measured
        .iter()
        .filter(|one| {
            one.row
                .paper
                .is_some_and(|[unsound, cpc, _]| near(unsound, cpc))
        })
        .filter_map(|one| Some((one, one.complete([UNSOUND, CPC])?)))
        .collect();
    let far: Vec<&str> = compared
        .iter()
        .filter(|(_, [unsound, cpc])| !near(*unsound, *cpc))
        .map(|(one, _)| one.row.name)
        .collect();
    out.push((
        "completion is within 10 % of the lower bound, where the paper is".into(),
        format!(
            "{} of {} programs{}",
            compared.len() - far.len(),
            compared.len(),
            named(" (not: ", &far)
        ),
    ));
    let endless = measured.iter().filter(|one| one.row.paper.is_none());
    let costs: Vec<f64> = endless
        .filter_map(|one| one.complete([UNSOUND, CPC]))
        .map(|[unsound, cpc]| cpc as f64 / unsound.max(1) as f64)
        .collect();
    if let Some(most) = costs.iter().copied().reduce(f64::max) {
        let least = costs.iter().copied().fold(most, f64::min);
        out.push((
            "states of completion divided by the lower bound, where transactions never end".into(),
            format!("{least:.2} to {most:.2} on {} programs", costs.len()),
        ));
    }
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
        out.push((
            "share of all states that is stored, programs with locks".into(),
            format!(
                "completion {:.1} %, blocks {:.2} % of {}",
                share(cpc),
                share(blocks),
                grouped(none)
            ),
        ));
    }
    out
}

/// Names after a word, or nothing.
fn named(before: &str, names: &[&str]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!("{before}{})", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_findings_are_where_they_are_looked_for() {
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
    fn the_findings_count_programs() {
        let states = [100, 10, 12, 12, 11, 10, 10, 1, 1, 12];
        let rows = COLUMNS.iter().zip(states).map(|(column, states)| Cell {
            program: "Conc 2".into(),
            search: column.name.into(),
            states,
            seconds: 0.0,
            complete: true,
        });
        let results = Results {
            head: records::Head(Vec::new()),
            rows: rows.collect(),
            is_complete: true,
        };
        let section = section(&results);
        let told: Vec<&str> = section
            .headlines
            .iter()
            .map(|h| h.figure.as_str())
            .collect();
        assert_eq!(
            told,
            [
                "0 of 1 programs (more: Conc 2)",
                "0 of 1 programs (not: Conc 2)",
                "completion 12.0 %, blocks 1.00 % of 100"
            ]
        );
        let behind: Vec<&str> = section
            .ratios
            .iter()
            .filter(|ratio| ratio.is_behind())
            .map(|ratio| ratio.peer)
            .collect();
        assert_eq!(behind, ["the paper on cpc", "cycle detection"]);
    }

    #[test]
    fn an_unsound_search_that_was_not_cut_off_is_complete() {
        let judged = |verdict: &str, ignoring: &str, reason: &str| {
            is_complete(verdict, reason, &ignoring.into()).ok()
        };
        assert_eq!(judged("safe", "cpc", ""), Some(true));
        assert_eq!(judged("unknown", "unsound", "misses errors"), Some(true));
        assert_eq!(judged("unknown", "unsound", "the time limit"), Some(false));
        assert_eq!(judged("unknown", "cpc", "the time limit"), Some(false));
        assert_eq!(judged("unsafe", "cpc", "assertion violated"), None);
    }
}

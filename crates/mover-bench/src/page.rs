//! `mover bench page`: writes `BENCHMARKS.md` from the raw results.
//!
//! Nothing on the page is written by hand: every figure comes from the CSV files in
//! `bench/results`, and the list of comparisons in which mover is behind contains every ratio
//! below 1, not a selection. The page begins with the headlines of all measurements. The README
//! repeats five of them ([`README_CHAPTERS`]) between two markers, which are filled in here, so
//! the two files cannot disagree. A test writes both files again and compares.
//!
//! Measurements on programs of other people need a checkout of these programs, so their tables
//! are optional ([`FOREIGN`]). `outdated.txt` beside the results names the tables that are much older
//! than what they measure; a test compares it with the history of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::BenchError;
use crate::records::{self, Head, ReadError, Results, Row};
use crate::section::{Block, Headline, Section, wrapped};
use crate::table::Table;
use crate::{
    bounds, cores, cpc, dynamic, histories, ltl, mat, reduced, reductions, spin, svcomp, threads,
    tm,
};
use mover_cli::output::write_file;

#[derive(Args)]
pub struct PageArgs {
    /// Root of the repository: with bench/results, BENCHMARKS.md and README.md
    #[arg(value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

const RESULTS: &str = "bench/results";
/// Names of tables that are much older than what they measure, one in a line.
const OUTDATED: &str = "outdated.txt";
const PAGE: &str = "BENCHMARKS.md";
const README: &str = "README.md";
const BEGIN: &str = "<!-- figures from bench/results, written by `mover bench page` -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// The measurements whose first headline the README repeats. The number of comparisons in which
/// mover is behind is its fifth row.
const README_CHAPTERS: [&str; 4] = ["spin", "reduced", "dynamic", "tm"];

/// A measurement with where it comes from.
struct Chapter {
    file: &'static str,
    head: Head,
    is_complete: bool,
    section: Section,
}

/// Why the page cannot be made of what is there.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("there is no {p}; `mover bench {measurement} --csv {p}` makes it", p = .path.display())]
    NotMeasured {
        path: PathBuf,
        measurement: &'static str,
    },
    #[error(transparent)]
    Results(#[from] ReadError),
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", .path.display())]
    Readme { path: PathBuf, source: NoMark },
}

/// A text has no place for the figures.
#[derive(PartialEq, Debug, thiserror::Error)]
#[error("there is no line `{}`", .0.trim_end())]
pub struct NoMark(&'static str);

pub fn run(args: &PageArgs) -> Result<(), BenchError> {
    let results = args.root.join(RESULTS);
    let chapters = read_all(&results)?;
    let readme = args.root.join(README);
    let text = std::fs::read_to_string(&readme).map_err(|source| PageError::Unreadable {
        path: readme.clone(),
        source,
    })?;
    let stated =
        with_figures(&text, &readme_figures(&chapters)).map_err(|source| PageError::Readme {
            path: readme.clone(),
            source,
        })?;
    for chapter in &chapters {
        for block in &chapter.section.blocks {
            if let Block::Plot(plot) = block {
                write_file(&results.join(format!("{}.svg", plot.name)), &plot.svg)?;
            }
        }
    }
    let outdated = outdated(&results)?;
    write_file(&args.root.join(PAGE), &page(&chapters, &outdated))?;
    if stated != text {
        write_file(&readme, &stated)?;
    }
    Ok(())
}

/// The measurements on programs of other people.
const FOREIGN: [&str; 2] = ["svcomp", "reductions"];

fn read_all(results: &Path) -> Result<Vec<Chapter>, PageError> {
    let mut chapters = vec![
        read(results, "spin", spin::section)?,
        read(results, "reduced", reduced::section)?,
        read(results, "ltl", ltl::section)?,
        read(results, "threads", threads::section)?,
        read(results, "bounds", bounds::section)?,
        read(results, "cores", cores::section)?,
        read(results, "cpc", cpc::section)?,
        read(results, "dynamic", dynamic::section)?,
        read(results, "mat", mat::section)?,
        read(results, "tm", tm::section)?,
        read(results, "histories", histories::section)?,
    ];
    for file in FOREIGN {
        if !results.join(format!("{file}.csv")).exists() {
            continue;
        }
        chapters.push(match file {
            "svcomp" => read(results, file, svcomp::section)?,
            _ => read(results, file, reductions::section)?,
        });
    }
    Ok(chapters)
}

/// The tables that are known to be much older than what they measure.
fn outdated(results: &Path) -> Result<Vec<String>, PageError> {
    let path = results.join(OUTDATED);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(PageError::Unreadable { path, source }),
    };
    let lines = text.lines().map(str::trim);
    Ok(lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(ToString::to_string)
        .collect())
}

fn read<T: Row>(
    directory: &Path,
    file: &'static str,
    section: fn(&Results<T>) -> Section,
) -> Result<Chapter, PageError> {
    let path = directory.join(format!("{file}.csv"));
    if !path.exists() {
        return Err(PageError::NotMeasured {
            path,
            measurement: file,
        });
    }
    let results = records::read(&path)?;
    Ok(Chapter {
        file,
        section: section(&results),
        head: results.head,
        is_complete: results.is_complete,
    })
}

/// The name that a heading has in links.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    let kept = lower
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

const HEADLINES: &str = "Headlines";
const BEHIND: &str = "Where mover is behind";

fn page(chapters: &[Chapter], outdated: &[String]) -> String {
    let mut out = format!(
        "# Benchmarks\n\n{}",
        wrapped(
            "Written by `mover bench page` from the raw results in [bench/results](bench/results); do not \
             edit. `make bench` measures everything again and writes this page; the command above each \
             table measures that table. Times are often from a single run. \
             The claims are therefore stated as ratios; above 1, mover is ahead. Figures from the papers \
             (see the [bibliography](docs/bibliography.md)) are printed beside ours; they were measured on other \
             machines.",
            110
        )
    );
    out += &warning(chapters);
    out += &of_several_commits(chapters);
    out += &older_than_measured(outdated);
    out += &on_foreign_programs(chapters);
    let _ = write!(
        out,
        "\n- [{HEADLINES}](#{})\n- [Machine and versions](#machine-and-versions)\n- [{BEHIND}](#{})\n",
        anchor(HEADLINES),
        anchor(BEHIND)
    );
    for chapter in chapters {
        let title = chapter.section.title;
        let _ = writeln!(out, "- [{title}](#{})", anchor(title));
    }
    let _ = write!(
        out,
        "\n## {HEADLINES}\n\n{}",
        headlines(chapters).markdown()
    );
    out += "\n## Machine and versions\n\n";
    out += &machine(chapters).markdown();
    let _ = write!(out, "\n## {BEHIND}\n\n{}", behind(chapters));
    for chapter in chapters {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n{}",
            chapter.section.title,
            origin(chapter),
            chapter.section.markdown(RESULTS)
        );
    }
    out
}

/// What makes figures preliminary: a build that is no release, other work on the machine, rows
/// that are missing.
fn warning(chapters: &[Chapter]) -> String {
    let files = |is_so: &dyn Fn(&Chapter) -> bool| {
        let so = chapters.iter().filter(|chapter| is_so(chapter));
        so.map(|chapter| chapter.file)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let is_busy = |chapter: &Chapter| {
        let load = chapter
            .head
            .get("load")
            .and_then(|load| load.parse::<f64>().ok());
        let cores = chapter
            .head
            .get("cores")
            .and_then(|cores| cores.parse::<f64>().ok());
        load.zip(cores)
            .is_some_and(|(load, cores)| load > cores + 0.5)
    };
    let is_for_tests = |chapter: &Chapter| {
        let mover = chapter.head.get("mover").unwrap_or_default();
        mover.ends_with(records::FOR_TESTS)
    };
    let reasons: Vec<String> = [
        ("measured with a build for tests", files(&is_for_tests)),
        ("measured beside other work", files(&is_busy)),
        ("cut off", files(&|chapter| !chapter.is_complete)),
    ]
    .into_iter()
    .filter(|(_, files)| !files.is_empty())
    .map(|(reason, files)| format!("{reason}: {files}"))
    .collect();
    match &reasons[..] {
        [] => String::new(),
        some => {
            let told = format!("**These figures are preliminary** ({}).", some.join("; "));
            format!("\n{}", wrapped(&told, 110))
        }
    }
}

/// Says so if the tables are not of one commit.
fn of_several_commits(chapters: &[Chapter]) -> String {
    let versions = chapters
        .iter()
        .filter_map(|chapter| chapter.head.get("mover"));
    let commits: BTreeSet<&str> = versions
        .map(|version| version.trim_end_matches(" with changes"))
        .collect();
    match commits.len() {
        0 | 1 => String::new(),
        count => {
            let told = format!(
                "**The tables are of {count} commits**; [machine and \
                 versions](#machine-and-versions) says which table is of which. Figures of different \
                 tables cannot be compared with each other."
            );
            format!("\n{}", wrapped(&told, 110))
        }
    }
}

/// Says which tables are much older than what they measure.
fn older_than_measured(outdated: &[String]) -> String {
    if outdated.is_empty() {
        return String::new();
    }
    let told = format!(
        "**Older than the engines**: {}. These tables were measured more than 50 commits before the last change of \
         what they measure.",
        outdated.join(", ")
    );
    format!("\n{}", wrapped(&told, 110))
}

/// Says where the tables about programs of other people are.
fn on_foreign_programs(chapters: &[Chapter]) -> String {
    let is_there = |file: &&str| chapters.iter().any(|chapter| chapter.file == *file);
    let missing: Vec<String> = FOREIGN
        .iter()
        .filter(|file| !is_there(file))
        .map(|file| format!("`mover bench {file} DIR --csv {RESULTS}/{file}.csv`"))
        .collect();
    let mut told = String::from(
        "Most programs here are our own. Verdicts on SV-COMP's tasks, which are not part of this repository, have tables \
         of their own, with the set, the number of tasks and the limit",
    );
    match missing.is_empty() {
        true => told += ".",
        false => {
            let _ = write!(
                told,
                "; not measured for this page: {}.",
                missing.join(", ")
            );
        }
    }
    format!("\n{}", wrapped(&told, 110))
}

/// What each table says about itself and not about the machine.
const OWN: [&str; 5] = ["command", "date", "limit", "load", "set"];

/// What the heads say about the machine: once, where all agree.
fn machine(chapters: &[Chapter]) -> Table {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in chapters.iter().flat_map(|chapter| &chapter.head.0) {
        if !keys.contains(&key.as_str()) && !OWN.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let mut table = Table::new(&["", "measured with"]);
    for key in keys {
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for chapter in chapters {
            let value = chapter.head.get(key).unwrap_or("not stated");
            values.entry(value).or_default().push(chapter.file);
        }
        let told: Vec<String> = match values.len() {
            1 => values.keys().map(ToString::to_string).collect(),
            _ => values
                .iter()
                .map(|(value, files)| format!("{value} ({})", files.join(", ")))
                .collect(),
        };
        table.row(vec![key.into(), told.join("; ")]);
    }
    table
}

/// The command that repeats a table, and when it was measured.
fn origin(chapter: &Chapter) -> String {
    let get = |key: &str| chapter.head.get(key).unwrap_or("not stated");
    let limit = match chapter.head.get("limit") {
        Some(limit) => format!("at most {limit} for each point"),
        None => "no limit of time".into(),
    };
    let set = match chapter.head.get("set") {
        Some(set) => format!(", tasks of {set}"),
        None => String::new(),
    };
    let mut out = format!("    {}\n\n", get("command"));
    out += &wrapped(
        &format!(
            "[Raw results]({RESULTS}/{}.csv) of {}{set}, {limit}, load average at the start {}.{}",
            chapter.file,
            get("date"),
            get("load"),
            if chapter.is_complete {
                ""
            } else {
                " **The measurement was cut off: rows are missing.**"
            }
        ),
        110,
    );
    out
}

/// All ratios below 1.
fn behind(chapters: &[Chapter]) -> String {
    let mut table = Table::new(&[
        "what", "measure", "beside", "mover", "peer", "ratio", "table",
    ]);
    let (mut all, mut losses) = (0, 0);
    for chapter in chapters {
        for ratio in &chapter.section.ratios {
            all += 1;
            if ratio.is_behind() {
                losses += 1;
                let title = chapter.section.title;
                table.row(vec![
                    ratio.subject.clone(),
                    ratio.measure.clone(),
                    ratio.peer.into(),
                    ratio.ours.clone(),
                    ratio.theirs.clone(),
                    ratio.shown(),
                    format!("[{}](#{})", chapter.file, anchor(title)),
                ]);
            }
        }
    }
    let told = wrapped(
        &format!(
            "mover is behind in {losses} of {all} comparisons. They compare mover with SPIN and with the papers, \
             its reductions with each other and with no reduction, and two jobs with one."
        ),
        110,
    );
    if table.is_empty() {
        told
    } else {
        format!("{told}\n{}", table.markdown())
    }
}

/// The headlines of all measurements, each with a link to its table.
fn headlines(chapters: &[Chapter]) -> Table {
    let mut table = Table::new(&["claim", "figure", "table"]);
    for chapter in chapters {
        for headline in &chapter.section.headlines {
            table.row(headline_row(chapter, headline, ""));
        }
    }
    table.row(behind_row(chapters, ""));
    table
}

/// The five rows of the README, and a warning if the figures are preliminary.
fn readme_figures(chapters: &[Chapter]) -> String {
    let mut table = Table::new(&["claim", "figure", "table"]);
    for chapter in chapters {
        if README_CHAPTERS.contains(&chapter.file)
            && let Some(headline) = chapter.section.headlines.first()
        {
            table.row(headline_row(chapter, headline, PAGE));
        }
    }
    table.row(behind_row(chapters, PAGE));
    format!("{}{}", table.markdown(), warning(chapters))
}

/// A headline with a link to its table on `page`; the empty string is the page itself.
fn headline_row(chapter: &Chapter, headline: &Headline, page: &str) -> Vec<String> {
    vec![
        headline.claim.clone(),
        headline.figure.clone(),
        format!(
            "[{}]({page}#{})",
            chapter.file,
            anchor(chapter.section.title)
        ),
    ]
}

/// In how many of all comparisons mover is behind.
fn behind_row(chapters: &[Chapter], page: &str) -> Vec<String> {
    let ratios = chapters.iter().flat_map(|chapter| &chapter.section.ratios);
    let losses = ratios.clone().filter(|ratio| ratio.is_behind()).count();
    vec![
        "comparisons in which mover is behind".into(),
        format!("{losses} of {}", ratios.count()),
        format!("[list]({page}#{})", anchor(BEHIND)),
    ]
}

/// A text with other figures between the marks.
fn with_figures(text: &str, figures: &str) -> Result<String, NoMark> {
    let (before, rest) = text.split_once(BEGIN).ok_or(NoMark(BEGIN))?;
    let (_, behind) = rest.split_once(END).ok_or(NoMark(END))?;
    Ok(format!("{before}{BEGIN}\n{figures}\n{END}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_between_the_marks() {
        let text = format!("a\n{BEGIN}old\n{END}b\n");
        let stated = with_figures(&text, "new\n").expect("both marks");
        assert_eq!(stated, format!("a\n{BEGIN}\nnew\n\n{END}b\n"));
        assert_eq!(
            with_figures(&stated, "new\n").as_deref(),
            Ok(stated.as_str())
        );
        assert!(with_figures("a\n", "new\n").is_err());
    }

    #[test]
    fn links_are_named_as_headings_are() {
        assert_eq!(anchor("Scaling: threads"), "scaling-threads");
        assert_eq!(
            anchor("Beside SPIN, with both tools' reductions"),
            "beside-spin-with-both-tools-reductions"
        );
    }
}

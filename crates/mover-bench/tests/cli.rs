//! `mover bench`: raw results are written row by row, and the page is what they say.

mod common;

use std::path::Path;

use common::{Ended, bench, mover_is_there, repository, run};
use tempfile::TempDir;

const MEASUREMENTS: [&str; 11] = [
    "spin",
    "reduced",
    "threads",
    "bounds",
    "cores",
    "cpc",
    "dynamic",
    "mat",
    "tm",
    "histories",
    "ltl",
];

/// The results and the README of the repository in a directory of their own, without the page.
fn copy() -> TempDir {
    let copy = tempfile::tempdir().expect("a directory");
    let results = copy.path().join("bench/results");
    std::fs::create_dir_all(&results).expect("directories");
    for name in MEASUREMENTS {
        let file = format!("{name}.csv");
        let from = repository().join("bench/results").join(&file);
        std::fs::copy(&from, results.join(&file)).expect("the results are in the repository");
    }
    // These need not be there.
    for name in ["outdated.txt", "svcomp.csv", "reductions.csv"] {
        let from = repository().join("bench/results").join(name);
        if from.exists() {
            std::fs::copy(&from, results.join(name)).expect("it can be copied");
        }
    }
    std::fs::copy(
        repository().join("README.md"),
        copy.path().join("README.md"),
    )
    .expect("a README");
    copy
}

fn page(root: &Path) -> Ended {
    run(bench().arg("page").arg(root))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_page_of_the_repository_is_what_the_results_say() {
    let copy = copy();
    let ended = page(copy.path());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let hint = "run `make bench-page`";
    for file in ["BENCHMARKS.md", "README.md"] {
        let (made, there) = (copy.path().join(file), repository().join(file));
        assert!(
            text(&made) == text(&there),
            "{file} is not up to date: {hint}"
        );
    }
    let drawn = |root: &Path| {
        let files = std::fs::read_dir(root.join("bench/results")).expect("results");
        let mut plots: Vec<(String, String)> = files
            .map(|file| file.expect("a file").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "svg"))
            .map(|path| {
                let name = path.file_name().expect("a name").to_string_lossy();
                (name.into_owned(), text(&path))
            })
            .collect();
        plots.sort();
        plots
    };
    let made = drawn(copy.path());
    assert!(made.len() >= 5, "only {} plots", made.len());
    assert!(
        made == drawn(&repository()),
        "the plots are not up to date: {hint}"
    );
}

/// Every figure of the README is in a table that the page has, under the heading it links to.
#[test]
fn links_of_the_figures_lead_to_headings() {
    let page = text(&repository().join("BENCHMARKS.md"));
    let headings: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|title| {
            let kept = title.to_lowercase().replace(' ', "-");
            kept.replace([':', ',', '\''], "")
        })
        .collect();
    let readme = text(&repository().join("README.md"));
    let links: Vec<&str> = readme
        .split("BENCHMARKS.md#")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(links.len() >= 5, "only {} links", links.len());
    for link in links {
        assert!(
            headings.iter().any(|heading| heading == link),
            "no heading for #{link}"
        );
    }
}

#[test]
fn a_cut_off_measurement_is_shown_as_such() {
    let copy = copy();
    let path = copy.path().join("bench/results/cpc.csv");
    let whole = text(&path);
    let rows = whole.trim_end().rsplit_once('\n').expect("rows").0;
    std::fs::write(&path, format!("{rows}\n")).expect("a file");
    assert_eq!(page(copy.path()).code, Some(0));
    assert!(text(&copy.path().join("BENCHMARKS.md")).contains("The measurement was cut off"));
}

#[test]
fn wrong_results_are_refused_with_their_place_and_nothing_is_written() {
    for name in MEASUREMENTS {
        let copy = copy();
        let path = copy.path().join(format!("bench/results/{name}.csv"));
        let good = text(&path);
        let lines: Vec<&str> = good.lines().collect();
        let columns = lines
            .iter()
            .position(|line| !line.starts_with('#'))
            .expect("columns");
        let row = columns + 1;
        let with = |line: usize, replacement: &str| {
            let mut changed = lines.clone();
            changed[line] = replacement;
            changed.join("\n") + "\n"
        };
        let refused = |wrong: &str, expected: &[&str]| {
            std::fs::write(&path, wrong).expect("a file");
            let ended = page(copy.path());
            assert_eq!(
                ended.code,
                Some(2),
                "{name}: {}{}",
                ended.stdout,
                ended.stderr
            );
            assert!(!ended.stderr.contains("internal error"), "{}", ended.stderr);
            for part in expected.iter().chain(&[format!("{name}.csv").as_str()]) {
                assert!(
                    ended.stderr.contains(part),
                    "{name}: {part}: {}",
                    ended.stderr
                );
            }
            assert!(!copy.path().join("BENCHMARKS.md").exists(), "{name}");
        };
        let line = format!("line {}", row + 1);
        refused(
            &with(row, "only one field"),
            &[&line, "1 fields instead of"],
        );
        let (_, rest) = lines[row].rsplit_once(',').expect("fields");
        let cut = lines[row].strip_suffix(rest).expect("the last field");
        refused(&with(row, &format!("{cut}NaN")), &[&line, "NaN"]);
        let emptied = ",".repeat(lines[row].matches(',').count());
        refused(&with(row, &emptied), &[&line]);
        let renamed = lines[columns].replacen(|c: char| c.is_alphabetic(), "z", 1);
        refused(&with(columns, &renamed), &["missing field"]);
        refused("", &["line 1"]);
        refused("# command: x\n# date: y\n\u{0}\n", &["no row"]);
        std::fs::remove_file(&path).expect("it was there");
        let ended = page(copy.path());
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(
            ended.stderr.contains(&format!("`mover bench {name} --csv")),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_measurement_says_where_it_comes_from() {
    mover_is_there();
    let directory = tempfile::tempdir().expect("a directory");
    let csv = directory.path().join("cpc.csv");
    let measure = |rows: &str| {
        run(bench()
            .args(["cpc", "--limit", "60", "--rows", rows, "--csv"])
            .arg(&csv)
            .current_dir(repository()))
    };
    let ended = measure("Shipping");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("Commit point completion"),
        "{}",
        ended.stdout
    );
    let written = text(&csv);
    for part in [
        "# command: mover bench cpc --limit 60 --rows Shipping --csv ",
        "# limit: 60 s\n",
        "# processor: ",
        "# rustc: ",
        "program,search,states,seconds,complete\n",
        "Shipping,unsound,",
    ] {
        assert!(written.contains(part), "{part}: {written}");
    }
    assert!(written.ends_with("# end\n"), "{written}");
    // What is not measured leaves what is there alone.
    assert_eq!(measure("nonsense").code, Some(1));
    assert_eq!(text(&csv), written);
}

/// What cannot be measured leaves older results as they are.
#[test]
fn a_measurement_that_does_not_begin_leaves_old_results() {
    let directory = tempfile::tempdir().expect("a directory");
    let csv = directory.path().join("old.csv");
    let peers = [
        "spin", "reduced", "cpc", "dynamic", "threads", "bounds", "cores",
    ];
    for peer in peers {
        std::fs::write(&csv, "old").expect("a file");
        let ended = run(bench()
            .args([peer, "--csv"])
            .arg(&csv)
            .current_dir(directory.path()));
        // Where SPIN is not installed, that is what is told.
        assert!(
            matches!(ended.code, Some(1 | 2)),
            "{peer}: {}",
            ended.stderr
        );
        assert_eq!(text(&csv), "old", "{peer}");
    }
    let both = ["dynamic", "--csv", "same", "--plot", "same"];
    let ended = run(bench().args(both).current_dir(directory.path()));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("name the same file"),
        "{}",
        ended.stderr
    );
    let nowhere = "no/such/directory/x.csv";
    let ended = run(bench().args(["cpc", "--csv", nowhere]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("cannot write no/such"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_benchmark_of_an_unknown_model_names_the_known_ones() {
    let ended = run(bench().args(["spin", "--models", "nonsense"]));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("peterson_filter") || ended.stderr.contains("apt-get install"));
}

#[test]
fn the_bench_prints_its_rows() {
    mover_is_there();
    let ended = run(bench()
        .args(["cpc", "--rows", "shipping,peterson 2", "--models"])
        .arg(repository().join("bench/cpc")));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for expected in [
        "Shipping",
        "Peterson 2",
        "paper: unsound",
        "completion stores no more than cycle detection: 3 of 3 programs",
    ] {
        assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    }
    assert_eq!(
        run(bench().args(["cpc", "--rows", "nothing"])).code,
        Some(1)
    );
}

#[cfg(feature = "c")]
#[test]
fn the_bench_prints_a_table_and_writes_results_and_a_plot() {
    mover_is_there();
    let directory = tempfile::tempdir().expect("a directory");
    let csv = directory.path().join("points.csv");
    let plot = directory.path().join("points.svg");
    let ended = run(bench()
        .args(["dynamic", "--threads", "2", "--limit", "60"])
        .args(["--programs", "hash_table_find_figure", "--engines", "bmc"])
        .args(["--reductions", "phase,dynamic"])
        .args([Path::new("--csv"), &csv, Path::new("--plot"), &plot])
        .current_dir(repository()));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("a variant: table and elements are constants")
            && ended
                .stdout
                .contains("here, bmc: threads reached: phase 2 or more, dynamic 2 or more"),
        "{}",
        ended.stdout
    );
    let points = std::fs::read_to_string(csv).expect("raw results");
    let rows = points.lines().filter(|line| !line.starts_with('#'));
    // The columns, two reductions, and what is measured with two threads besides.
    assert_eq!(rows.count(), 3 + 5, "{points}");
    let drawn = std::fs::read_to_string(plot).expect("a plot");
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
}

/// What is typed is `mover bench`, so that is what the help calls it.
#[test]
fn help_and_errors_speak_of_the_command() {
    let help = run(bench().arg("--help"));
    assert_eq!(help.code, Some(0));
    assert!(
        help.stdout.contains("Usage: mover bench <COMMAND>"),
        "{}",
        help.stdout
    );
    let wrong = run(bench().arg("nonsense"));
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("[U001]"), "{}", wrong.stderr);
    assert_eq!(run(&mut bench()).code, Some(1));
}

/// A copy with no `mover` beside it and none in PATH.
#[test]
fn without_mover_there_is_a_way_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("mover-bench");
    std::fs::copy(env!("CARGO_BIN_EXE_mover-bench"), &copy).expect("a copy");
    let mut alone = std::process::Command::new(&copy);
    alone
        .env("PATH", directory.path())
        .args(["cpc", "--rows", "shipping", "--models"])
        .arg(repository().join("bench/cpc"));
    let ended = run(&mut alone);
    assert_eq!(ended.code, Some(6), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("cargo build --release --package mover"),
        "{}",
        ended.stderr
    );
}

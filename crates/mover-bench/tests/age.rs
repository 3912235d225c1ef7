//! Results that are much older than the code they measure are named as such on the page.
//!
//! Each file of results says at which commit it was measured. Between that commit and the last change of
//! what it measures there may be 50 commits; tables with more must be listed in
//! `bench/results/outdated.txt`, which the page prints at its top, and no other table may be. Without a
//! history (an archive, a shallow clone) nothing can be said, and the test
//! says so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Most commits between a measurement and the last change of what it measures.
const MOST: u64 = 50;

const EXPLICIT: &[&str] = &["crates/mover-explicit/src", "crates/mover-reduce/src"];
const SYMBOLIC: &[&str] = &["crates/mover-symbolic/src", "crates/mover-reduce/src"];
const LIVENESS: &[&str] = &["crates/mover-explicit/src", "crates/mover-ltl/src"];
const MEMORIES: &[&str] = &["crates/mover-tm/src"];
const ALL: &[&str] = &[
    "crates/mover-c/src",
    "crates/mover-explicit/src",
    "crates/mover-reduce/src",
    "crates/mover-symbolic/src",
];

/// Files of results with the code that they measure.
const MEASURED: &[(&str, &[&str])] = &[
    ("bounds", EXPLICIT),
    ("cores", EXPLICIT),
    ("cpc", EXPLICIT),
    ("dynamic", SYMBOLIC),
    ("histories", MEMORIES),
    ("ltl", LIVENESS),
    ("mat", SYMBOLIC),
    ("reduced", EXPLICIT),
    ("reductions", ALL),
    ("spin", EXPLICIT),
    ("svcomp", ALL),
    ("threads", EXPLICIT),
    ("tm", MEMORIES),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What git prints on one line.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !said.trim().is_empty()).then(|| said.trim().to_string())
}

/// Commits after the one of a measurement, up to the last change of some directories. An error says
/// why that is not known.
fn age(root: &Path, measured: &str, directories: &[&str]) -> Result<u64, String> {
    if git(root, &["cat-file", "-t", measured]).is_none() {
        return Err(format!("the history has no commit {measured}"));
    }
    let log = ["log", "-1", "--format=%H", "--"];
    let last = git(root, &[&log[..], directories].concat())
        .ok_or("the history does not reach the last change")?;
    let between = git(
        root,
        &["rev-list", "--count", &format!("{measured}..{last}")],
    )
    .ok_or("the commits cannot be counted")?;
    between
        .parse()
        .map_err(|error| format!("{between}: {error}"))
}

/// The commit in the head of a file of results.
fn commit(text: &str) -> Option<&str> {
    let head = text.lines().take_while(|line| line.starts_with('#'));
    let mover = head
        .filter_map(|line| line.strip_prefix("# mover: "))
        .next()?;
    mover.split_once("commit ")?.1.split([' ', ',']).next()
}

#[test]
fn tables_that_are_much_older_than_their_engine_are_named() {
    let root = repository();
    if git(&root, &["rev-parse", "--git-dir"]).is_none() {
        println!("skipped: there is no history of this directory, or no git");
        return;
    }
    if git(&root, &["rev-parse", "--is-shallow-repository"]).as_deref() != Some("false") {
        println!("skipped: the history is cut off");
        return;
    }
    let results = root.join("bench/results");
    let listed = std::fs::read_to_string(results.join("outdated.txt")).unwrap_or_default();
    let listed: BTreeSet<&str> = listed
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    for (name, directories) in MEASURED {
        let Ok(text) = std::fs::read_to_string(results.join(format!("{name}.csv"))) else {
            assert!(!listed.contains(name), "{name} is listed but not measured");
            continue;
        };
        let commit = commit(&text).unwrap_or_else(|| panic!("{name}.csv does not name its commit"));
        match age(&root, commit, directories) {
            Err(reason) => println!("skipped {name}: {reason}"),
            Ok(commits) if commits > MOST => assert!(
                listed.contains(name),
                "{name}.csv is {commits} commits older than the last change of {directories:?}: measure it \
                 again (`make bench`), or name it in bench/results/outdated.txt (`make bench-page`)"
            ),
            Ok(commits) => assert!(
                !listed.contains(name),
                "{name}.csv is listed in bench/results/outdated.txt, but only {commits} commits older"
            ),
        }
    }
    let known: BTreeSet<&str> = MEASURED.iter().map(|(name, _)| *name).collect();
    assert!(listed.is_subset(&known), "{listed:?}");
    let files = std::fs::read_dir(&results).expect("results");
    for path in files.map(|file| file.expect("a file").path()) {
        if path.extension().is_some_and(|extension| extension == "csv") {
            let name = path.file_stem().expect("a name").to_string_lossy();
            assert!(known.contains(&*name), "what does {name}.csv measure?");
        }
    }
}

#[test]
fn the_commit_is_read_from_the_head() {
    let head =
        "# command: mover bench mat\n# mover: 0.2.0, commit 148afb194f with changes\nprogram\n";
    assert_eq!(commit(head), Some("148afb194f"));
    assert_eq!(
        commit("# mover: 0.2.0, commit abc, a build for tests\n"),
        Some("abc")
    );
    assert_eq!(commit("program\n# mover: 0.2.0, commit abc\n"), None);
}

//! The same meaning as SPIN: on every model in examples/promela and every model
//! that comes with SPIN, the verdict and the number of stored states agree.
//!
//! Both tools visit all interleavings and go on behind errors. What SPIN calls
//! a state depends on its options. With `-o3` alone it still resets dead local
//! variables (switched off by `-o1`) and leaves out variables that are never
//! read (`-o2`), and so tells fewer states apart; or more, where a variable has
//! its reset value in one place and not in another. Where the numbers differ,
//! SPIN is asked again with `-o1 -o2 -o3`, and then they must agree.
//!
//! Random models get SPIN's opinion the same way (`MOVER_PROGRAMS` of them, from `MOVER_SEED` on).
//!
//! The result is docs/spin-agreement.md; the test fails if that page is not what
//! it would write, and writes it when the environment has `UPDATE_EXPECT`.

#[path = "spin/approximate.rs"]
mod approximate;
#[path = "spin/claims.rs"]
mod claims;
mod common;
#[path = "spin/event_traces.rs"]
mod event_traces;
#[path = "spin/exclusive.rs"]
mod exclusive;
#[path = "spin/trails.rs"]
mod trails;
#[path = "spin/unreached.rs"]
mod unreached;

use std::fmt::{Display, Formatter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mover_fuzz::{Model, programs, setting};

use common::{Ended, mover, own_examples, repository, run};

const SPIN_MODELS: &str = "/usr/share/doc/spin/examples/Examples";
const MOST_STATES: u64 = 2_000_000;

/// For each run of a tool on a model; the largest need some seconds on a free machine.
const MOST_SECONDS: &str = "300";

/// Why a model is not compared. Each reason is tested, too. (Embedded C would be one, but no model
/// that comes with SPIN has any.)
#[derive(Clone, Copy)]
enum LeftOut {
    /// mover stores more than `MOST_STATES` before it gives up; with a remark.
    TooManyStates(&'static str),
    /// SPIN makes no verifier of it and says why.
    RejectedBySpin(&'static str),
}

const LEFT_OUT: &[(&str, LeftOut)] = &[
    ("Book_1991/App.F.pftp", LeftOut::TooManyStates("")),
    (
        "Book_1991/p108",
        LeftOut::TooManyStates(", and its state vector is too long for SPIN's default VECTORSZ"),
    ),
    ("Exercises/ex_6", LeftOut::TooManyStates("")),
    ("LTL/leader", LeftOut::TooManyStates("")),
    ("LTL/leader_pre", LeftOut::TooManyStates("")),
    ("LTL/ltl_gen", LeftOut::TooManyStates("")),
    (
        "LTL/patterns",
        LeftOut::RejectedBySpin("tl_spin: expected predicate, saw 'X'"),
    ),
    ("LTL/petersonN", LeftOut::TooManyStates("")),
    ("life", LeftOut::TooManyStates("")),
    (
        "priorities",
        LeftOut::TooManyStates(
            ": a process counts without end in 32 bits. SPIN has 3 states with -o3 alone, since it \
             leaves out the counters, which are never read",
        ),
    ),
];

/// What a tool has to say of a model.
#[derive(PartialEq, Eq)]
struct Found {
    states: u64,
    has_error: bool,
}

impl Display for Found {
    fn fmt(&self, formatter: &mut Formatter) -> std::fmt::Result {
        let errors = if self.has_error { "errors" } else { "no error" };
        write!(formatter, "{} states, {errors}", self.states)
    }
}

/// SPIN's options for states of which nothing is left out.
const UNRESET: &[&str] = &["-a", "-o1", "-o2", "-o3"];

/// One line of the page.
struct Row {
    name: String,
    cells: Result<Compared, String>,
}

struct Compared {
    merged: Found,
    /// Asked only where the first number differs from mover's.
    unreset: Option<Found>,
    mover: Found,
}

#[test]
fn verdicts_and_numbers_of_states_agree_with_spin() {
    let models = models();
    let mut rows = all_of(&models, |(name, path)| {
        examine(name, path).map_err(|reason| format!("{name}: {reason}"))
    });
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    compare_with_page(&page(&rows));
}

/// What two threads find out about things; every failure is told.
fn all_of<T: Sync, R: Send>(
    things: &[T],
    examine: impl Fn(&T) -> Result<R, String> + Sync,
) -> Vec<R> {
    for tool in ["spin", "gcc", "timeout"] {
        assert!(
            Command::new(tool).arg("--version").output().is_ok(),
            "`{tool}` is missing: run `make test`, which installs what the tests need"
        );
    }
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = examine(thing);
                    found.lock().expect("no panic").push(result);
                }
            });
        }
    });
    let found = found.into_inner().expect("no panic").into_iter();
    let (good, bad): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    let mut failures: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
    failures.sort();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    good.into_iter().filter_map(Result::ok).collect()
}

/// Larger random models take SPIN too long.
const MOST_STATES_AT_RANDOM: u64 = 100_000;

/// Why SPIN does not take models that others see no harm in.
const REJECTED: &[&str] = &["has unconditional self-loop", "jump into d_step sequence"];

/// Models that nobody would write, made of everything that the fuzzer knows.
#[test]
fn random_models_mean_what_they_mean_to_spin() {
    let first = setting("MOVER_SEED", 1);
    let seeds: Vec<u64> = (first..first + programs(40)).collect();
    let found = all_of(&seeds, |&seed| {
        let name = format!("random-{seed}");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pml"));
        let text = Model::random(seed).without_claims().text();
        std::fs::write(&path, &text).map_err(|error| error.to_string())?;
        let checked = check(&path, &["--timeout", MOST_SECONDS]);
        if checked.code == Some(2) {
            return Ok(None);
        }
        let mover = verdict(&checked)?;
        if mover.states > MOST_STATES_AT_RANDOM {
            return Ok(None);
        }
        let said = match run_spin(&name, &path, UNRESET) {
            Err(said) if REJECTED.iter().any(|reason| said.contains(reason)) => return Ok(None),
            said => said?,
        };
        let mut spin = read_report(&said).ok_or("SPIN does not count")?;
        // Behind the end of an array SPIN goes on with what is there by chance.
        if said.contains("invalid array index") && mover.has_error {
            spin.states = mover.states;
        }
        if spin != mover {
            return Err(format!("seed {seed}: SPIN: {spin}, mover: {mover}\n{text}"));
        }
        Ok(Some(mover))
    });
    let compared: Vec<&Found> = found.iter().flatten().collect();
    let wrong = compared.iter().filter(|found| found.has_error).count();
    println!(
        "{} of {} models compared, {wrong} with errors",
        compared.len(),
        found.len()
    );
    assert!(compared.len() * 4 >= found.len() * 3);
    assert!(wrong * 4 >= compared.len() && wrong < compared.len());
}

/// All models with the names they have in the tables.
fn models() -> Vec<(String, PathBuf)> {
    let mut models: Vec<(String, PathBuf)> = Vec::new();
    let mut directories = vec![PathBuf::from(SPIN_MODELS)];
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| {
            panic!(
                "{}: {error}: the Debian package `spin` brings its models",
                directory.display()
            )
        });
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pml") {
                let name = path
                    .strip_prefix(SPIN_MODELS)
                    .expect("below")
                    .with_extension("");
                models.push((name.to_string_lossy().into_owned(), path));
            }
        }
    }
    assert!(
        models.len() >= 70,
        "only {} models come with SPIN",
        models.len()
    );
    for (name, _) in LEFT_OUT {
        assert!(
            models.iter().any(|(model, _)| model == name),
            "there is no model {name}"
        );
    }
    for path in own_examples("promela", "pml") {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        models.push((format!("examples/promela/{name}"), path));
    }
    models.sort();
    models
}

fn examine(name: &str, path: &Path) -> Result<Row, String> {
    let left_out = LEFT_OUT.iter().find(|(left_out, _)| *left_out == name);
    let cells = match left_out {
        Some((_, reason)) => Err(justify(name, path, *reason)?),
        None => Ok(compare(name, path)?),
    };
    Ok(Row {
        name: name.to_string(),
        cells,
    })
}

/// The reason in words, if it is true.
fn justify(name: &str, path: &Path, reason: LeftOut) -> Result<String, String> {
    match reason {
        LeftOut::TooManyStates(remark) => {
            // The smaller limit is enough for all but very long states, and saves time.
            let stored = |megabytes: &str| {
                let answer = check(path, &["--memory", megabytes]).json();
                answer["states"].as_u64().unwrap_or(0)
            };
            if stored("100") <= MOST_STATES && stored("200") <= MOST_STATES {
                return Err("the states fit into 200 MB".to_string());
            }
            Ok(format!("more than 2 million states{remark}"))
        }
        LeftOut::RejectedBySpin(message) => match ask_spin(name, path, &["-a", "-o3"]) {
            Ok(_) => Err("SPIN accepts it".to_string()),
            Err(said) if said.contains(message) => Ok(format!("SPIN itself rejects it: {message}")),
            Err(said) => Err(format!("SPIN rejects it for another reason: {said}")),
        },
    }
}

/// The model without its `xr` and `xs` declarations, if one of them is violated. SPIN finds that only with its
/// reduction, with which it stores other states.
fn without_violated_declarations(name: &str, path: &Path) -> Result<Option<PathBuf>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_kept = |line: &&str| {
        let declares = |word: &&str| line.trim_start().starts_with(*word);
        !["xr ", "xs "].iter().any(declares)
    };
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    if kept.len() == text.lines().count() {
        return Ok(None);
    }
    let checked = check(
        path,
        &["--timeout", MOST_SECONDS, "--property", "unreach-call"],
    );
    let reason = checked.json()["reason"].to_string();
    if !["xr assertion", "xs assertion"]
        .iter()
        .any(|kind| reason.contains(kind))
    {
        return Ok(None);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("spin-declared-{name}"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let told = |command: &mut Command| run(command.current_dir(&folder)).stdout;
    told(Command::new("spin").arg("-a").arg(path));
    told(Command::new("gcc").args(["-w", "-DSAFETY", "-o", "pan", "pan.c"]));
    let said = told(Command::new("timeout").args(["20", "./pan"]));
    if !said.contains("assertion violated: access to chan") {
        return Err(format!("mover: {reason}, SPIN: {said}"));
    }
    let plain = folder.join("plain.pml");
    std::fs::write(&plain, kept.join("\n")).map_err(|error| error.to_string())?;
    Ok(Some(plain))
}

fn compare(name: &str, path: &Path) -> Result<Compared, String> {
    let plain = without_violated_declarations(name, path)?;
    let path = plain.as_deref().unwrap_or(path);
    let mover = verdict(&check(path, &["--timeout", MOST_SECONDS]))?;
    let merged = ask_spin(name, path, &["-a", "-o3"])?;
    if merged.has_error != mover.has_error {
        return Err(format!("SPIN with -o3: {merged}, mover: {mover}"));
    }
    let unreset = if merged.states == mover.states {
        None
    } else {
        Some(ask_spin(name, path, UNRESET)?)
    };
    if let Some(unreset) = &unreset
        && *unreset != mover
    {
        return Err(format!(
            "SPIN with -o3: {merged}, with {UNRESET:?}: {unreset}, mover: {mover}"
        ));
    }
    Ok(Compared {
        merged,
        unreset,
        mover,
    })
}

fn verdict(checked: &Ended) -> Result<Found, String> {
    if !matches!(checked.code, Some(0 | 10)) {
        return Err(format!(
            "mover has no verdict: {}{}",
            checked.stdout, checked.stderr
        ));
    }
    let answer = checked.json();
    Ok(Found {
        states: answer["states"].as_u64().ok_or("no number of states")?,
        has_error: answer["verdict"] == "unsafe",
    })
}

fn check(path: &Path, options: &[&str]) -> Ended {
    run(mover()
        .args(["check", "--keep-going", "--json"])
        // Claims are compared elsewhere.
        .args(["--property", "unreach-call", "--property", "no-deadlock"])
        .args(options)
        .arg(path))
}

fn ask_spin(name: &str, path: &Path, options: &[&str]) -> Result<Found, String> {
    let said = run_spin(name, path, options)?;
    read_report(&said).ok_or(said)
}

/// Makes a verifier and runs it, for what it says; an error is what SPIN or gcc said.
fn run_spin(name: &str, path: &Path, options: &[&str]) -> Result<String, String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("spin-agreement")
        .join(name.replace('/', "-"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let said = run(Command::new("spin")
        .args(options)
        .arg(path)
        .current_dir(&directory));
    if !directory.join("pan.c").exists() {
        return Err(said.stdout + &said.stderr);
    }
    // The level of optimisation has no influence on what is counted.
    let compiled = run(Command::new("gcc")
        .args([
            "-w",
            "-O0",
            "-DSAFETY",
            "-DNOREDUCE",
            "-DNOCLAIM",
            "-o",
            "pan",
            "pan.c",
        ])
        .current_dir(&directory));
    if compiled.code != Some(0) {
        return Err(compiled.stderr);
    }
    let mut depth: u64 = 100_000;
    loop {
        let ran = run(Command::new("timeout")
            .args([MOST_SECONDS, "./pan", "-c0"])
            .arg(format!("-m{depth}"))
            .current_dir(&directory));
        if ran.stdout.contains("max search depth too small") && depth < 100_000_000 {
            depth *= 10;
            continue;
        }
        // A state vector that is too long counts as an error of the model, but is none. Errors
        // of the model can end the search early, too; then they are the answer.
        let has_answer = read_report(&ran.stdout).is_some_and(|found| {
            let is_complete = !ran.stdout.contains("Search not completed");
            is_complete || (found.has_error && !ran.stdout.contains("VECTORSZ"))
        });
        let said = ran.stdout + &ran.stderr;
        return if has_answer { Ok(said) } else { Err(said) };
    }
}

fn read_report(text: &str) -> Option<Found> {
    let stored = text.lines().find(|line| line.contains("states, stored"))?;
    let states: f64 = stored.split_whitespace().next()?.parse().ok()?;
    let errors: u64 = text
        .split_once("errors: ")?
        .1
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(Found {
        states: states as u64,
        has_error: errors > 0,
    })
}

fn page(rows: &[Row]) -> String {
    let compared: Vec<(&str, &Compared)> = rows
        .iter()
        .filter_map(|row| Some((row.name.as_str(), row.cells.as_ref().ok()?)))
        .collect();
    let left_out: Vec<(&str, &String)> = rows
        .iter()
        .filter_map(|row| Some((row.name.as_str(), row.cells.as_ref().err()?)))
        .collect();
    let same = compared.iter().filter(|(_, c)| c.unreset.is_none()).count();
    let mut out = String::from(
        "# The same states as SPIN\n\n\
         mover and SPIN 6.5 on the models in examples/promela and on those of Debian's package\n\
         `spin`. Both explore all interleavings and continue after errors:\n\n\
         \x20   spin -a -o3 model.pml && gcc -DSAFETY -DNOREDUCE -DNOCLAIM -o pan pan.c && ./pan -c0 -m…\n\
         \x20   mover check --keep-going model.pml\n\n\
         SPIN's `-o3` disables the merging of statements. Two more of its optimisations change what\n\
         it counts as a state: it resets dead local variables (off with `-o1`) and omits variables\n\
         that are never read (off with `-o2`). Usually there are fewer states then. But a reset can\n\
         also split a state in two, if a variable is reset on one path to a location and not on\n\
         another. mover does neither. So where the numbers differ, SPIN was run again with\n\
         `-o1 -o2 -o3`.\n\n\
         `make test` compares both tools and checks that this page is up to date;\n\
         `UPDATE_EXPECT=1 cargo test -p mover --test spin` writes it.\n\n",
    );
    let _ = writeln!(
        out,
        "{} models compared. The verdicts agree on all of them. The numbers of states agree on\n\
         {same} models with `-o3` and on the other {} with `-o1 -o2 -o3`.\n",
        compared.len(),
        compared.len() - same,
    );
    out += "| model | SPIN -o3 | SPIN -o1 -o2 -o3 | mover | verdict | explanation |\n\
            |---|---:|---:|---:|---|---|\n";
    for (name, c) in compared {
        let (unreset, explanation) = match &c.unreset {
            None => (String::new(), ""),
            Some(found) => (
                found.states.to_string(),
                "with -o3 alone, SPIN resets dead variables and omits those never read",
            ),
        };
        let verdict = if c.mover.has_error { "unsafe" } else { "safe" };
        let _ = writeln!(
            out,
            "| {name} | {} | {unreset} | {} | {verdict} | {explanation} |",
            c.merged.states, c.mover.states
        );
    }
    let _ = writeln!(out, "\n## Not compared\n\n| model | reason |\n|---|---|");
    for (name, reason) in left_out {
        let _ = writeln!(out, "| {name} | {reason} |");
    }
    out
}

fn compare_with_page(page: &str) {
    let path = repository().join("docs/spin-agreement.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(repository().join("docs")).expect("a directory for the page");
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = page
        .lines()
        .zip(written.lines().chain(std::iter::repeat("")))
        .find(|(now, then)| now != then);
    assert!(
        written == page,
        "docs/spin-agreement.md is out of date (UPDATE_EXPECT=1 writes it), first at {differing:?}"
    );
}

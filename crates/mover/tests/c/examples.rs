//! Every program in examples/c has the verdict that its header promises, with and
//! without reduction, and its counterexample can be replayed.

use std::path::{Path, PathBuf};

use mover_fuzz::on_all_cores;

use crate::common::{mover, own_examples, repository, run};

struct Example {
    file: PathBuf,
    name: String,
    verdict: String,
    property: Option<String>,
    options: Vec<String>,
}

fn examples() -> Vec<Example> {
    let files = own_examples("c", "c");
    assert!(files.len() >= 40, "only {} examples", files.len());
    files.into_iter().map(example).collect()
}

/// Reads the `expect:` and the `options:` line of a program's header.
fn example(file: PathBuf) -> Example {
    let text = std::fs::read_to_string(&file).expect("a readable program");
    let words = |key: &str| -> Option<Vec<String>> {
        let line = text.lines().find_map(|line| line.split_once(key))?;
        Some(line.1.split_whitespace().map(ToString::to_string).collect())
    };
    let name = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut expected = words("expect:")
        .unwrap_or_else(|| panic!("{name} has no `expect:` line"))
        .into_iter();
    Example {
        verdict: expected.next().expect("a verdict behind `expect:`"),
        property: expected.next(),
        options: words("options:").unwrap_or_default(),
        name,
        file,
    }
}

#[test]
fn every_example_has_its_verdict_and_its_counterexample_replays() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_examples");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let failures = on_all_cores(&examples(), |example| {
        let Example { name, verdict, .. } = example;
        let mut failures = Vec::new();
        for how in [
            &["--order", "bfs"][..],
            &["--order", "dfs"],
            &["--reduce", "static"],
        ] {
            let trace = scratch.join(format!("{name}.json"));
            let _ = std::fs::remove_file(&trace);
            let checked = run(mover()
                .args(["check", "--json", "--trace"])
                .arg(&trace)
                .args(how)
                .args(&example.options)
                .arg(&example.file));
            let answer = checked.json();
            if answer["verdict"] != verdict.as_str() {
                failures.push(format!(
                    "{name} {how:?}: {} instead of {verdict}: {}",
                    answer["verdict"], answer["reason"]
                ));
                continue;
            }
            if verdict != "unsafe" {
                continue;
            }
            if answer["property"].as_str() != example.property.as_deref() {
                failures.push(format!(
                    "{name} {how:?}: violates {} instead of {:?}",
                    answer["property"], example.property
                ));
            }
            // What was asked is in the trace file.
            let mut is_property = false;
            let options = example.options.iter().filter(|option| {
                let is_kept = !is_property && *option != "--property";
                is_property = *option == "--property";
                is_kept
            });
            let replayed = run(mover()
                .arg("replay")
                .args(options)
                .arg(&example.file)
                .arg(&trace));
            if replayed.code != Some(10) {
                failures.push(format!(
                    "{name} {how:?}: the trace does not replay: {}",
                    replayed.stderr
                ));
            }
        }
        failures
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Several cores see the states of one core and take its steps.
#[test]
fn every_example_is_the_same_on_several_cores() {
    let failures = on_all_cores(&examples(), |example| {
        let answer = |jobs: &str| {
            let options = ["check", "--json", "--engine", "explicit", "--reduce"];
            let command = &mut mover();
            let command = command.args(options).args(["none", "--jobs", jobs]);
            run(command.args(&example.options).arg(&example.file)).json()
        };
        let (one, several) = (answer("1"), answer("4"));
        // A search that finds something ends some time after it.
        let same: &[&str] = match one["verdict"].as_str() {
            Some("unsafe") => &["verdict", "property"],
            _ => &["verdict", "states", "transitions", "depth"],
        };
        let differs = |what: &&&str| one[**what].is_null() || one[**what] != several[**what];
        let told = |what: &&str| {
            let Example { name, .. } = example;
            let (one, several) = (&one[*what], &several[*what]);
            format!("{name}: {what} {several} with 4 jobs, {one} with one")
        };
        same.iter().filter(differs).map(told).collect::<Vec<_>>()
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A mutex that `main` initialises before it starts threads is still a lock to the
/// reduction, and the counter under it is protected.
#[test]
fn what_is_done_before_threads_start_does_not_count_against_a_lock() {
    let file = repository().join("examples/c/lost_update_locked.c");
    let states = |reduction: &str| {
        let answer = run(mover()
            .args(["check", "--json", "--reduce", reduction])
            .arg(&file))
        .json();
        answer["states"].as_u64().expect("a number of states")
    };
    let (all, reduced) = (states("none"), states("static"));
    assert!(reduced * 4 < all * 3, "{reduced} of {all} states");
    let explained = run(mover().arg("explain").arg(&file)).stdout;
    assert!(explained.contains("lock: a lock"), "{explained}");
}

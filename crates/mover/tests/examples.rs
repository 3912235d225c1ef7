//! Every model in examples/promela has the verdict that its header promises,
//! in both search orders, and its counterexample can be replayed.

mod common;
#[path = "examples/liveness.rs"]
mod liveness;

use std::path::Path;

use common::{mover, own_examples, run};
use mover_fuzz::on_all_cores;

/// The words of the `expect:` line.
fn expectation(model: &Path) -> (String, Option<String>) {
    let text = std::fs::read_to_string(model).expect("a readable model");
    let line = text
        .lines()
        .find_map(|line| line.split_once("expect:"))
        .unwrap_or_else(|| panic!("{} has no `expect:` line", model.display()));
    let mut words = line.1.split_whitespace().map(ToString::to_string);
    let verdict = words.next().expect("a verdict behind `expect:`");
    (verdict, words.next())
}

/// Several cores see the states of one core and take its steps.
#[test]
fn every_example_is_the_same_on_several_cores() {
    let models = own_examples("promela", "pml");
    let failures = on_all_cores(&models, |model| {
        let mut failures = Vec::new();
        let (verdict, _) = expectation(model);
        for reduction in ["none", "static", "dynamic"] {
            let answer = |jobs: &str| {
                let options = ["check", "--json", "--engine", "explicit", "--reduce"];
                let command = &mut mover();
                let command = command.args(options).args([reduction, "--jobs", jobs]);
                run(command.arg(model)).json()
            };
            let one = answer("1");
            for jobs in ["2", "4"] {
                let several = answer(jobs);
                let told = format!("{} {reduction} --jobs {jobs}", model.display());
                if several["verdict"] != verdict.as_str() {
                    failures.push(format!("{told}: {}", several["verdict"]));
                }
                // A search that finds something ends some time after it.
                let counts: &[&str] = match (reduction, verdict.as_str()) {
                    (_, "unsafe") => &[],
                    ("dynamic", _) => &["states"],
                    _ => &["states", "transitions", "depth"],
                };
                for count in counts {
                    let (one, several) = (&one[count], &several[count]);
                    if !one.is_u64() || one != several {
                        failures.push(format!("{told}: {several} {count} instead of {one}"));
                    }
                }
            }
        }
        failures
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_example_has_its_verdict_and_its_counterexample_replays() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let failures = on_all_cores(&own_examples("promela", "pml"), |model| {
        let mut failures = Vec::new();
        let name = model
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (verdict, property) = expectation(model);
        for order in ["bfs", "dfs"] {
            let trace = scratch.join(format!("{name}-{order}.json"));
            let _ = std::fs::remove_file(&trace);
            let checked = run(mover()
                .args(["check", "--json", "--order", order, "--trace"])
                .arg(&trace)
                .arg(model));
            let answer = checked.json();
            if answer["verdict"] != verdict.as_str() {
                failures.push(format!(
                    "{name} {order}: {} instead of {verdict}",
                    answer["verdict"]
                ));
                continue;
            }
            if verdict == "safe" {
                if checked.code != Some(0) || trace.exists() {
                    failures.push(format!("{name} {order}: safe, but exit {:?}", checked.code));
                }
                continue;
            }
            if checked.code != Some(10) || answer["property"].as_str() != property.as_deref() {
                failures.push(format!(
                    "{name} {order}: exit {:?}, violates {} instead of {property:?}",
                    checked.code, answer["property"]
                ));
            }
            let replayed = run(mover().arg("replay").arg(model).arg(&trace));
            if replayed.code != Some(10) {
                failures.push(format!(
                    "{name} {order}: the trace does not replay: {}",
                    replayed.stderr
                ));
            }
        }
        failures
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Breadth-first search finds a shortest counterexample, so no other is shorter.
#[test]
fn no_depth_first_counterexample_is_shorter() {
    on_all_cores(&own_examples("promela", "pml"), |model| {
        if expectation(model).0 == "safe" {
            return;
        }
        let length = |order: &str| {
            let answer = run(mover()
                .args(["check", "--json", "--order", order])
                .arg(model))
            .json();
            answer["trace"].as_array().expect("a trace").len()
        };
        let (bfs, dfs) = (length("bfs"), length("dfs"));
        assert!(
            bfs <= dfs,
            "{}: {bfs} steps, but {dfs} depth first",
            model.display()
        );
    });
}

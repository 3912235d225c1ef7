//! The symbolic engines as users see them.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{mover, own_examples, repository, run};
use serde_json::Value;

fn check(model: &str, options: &[&str]) -> (Option<i32>, Value) {
    let files = own_examples("promela", "pml");
    let file = files.into_iter().find(|path| path.ends_with(model));
    let file = file.expect("the model is there");
    let ended = run(mover().args(["check", "--json"]).args(options).arg(file));
    (ended.code, ended.json())
}

/// The deepest violation that is found without reduction. It takes longer than the cases in
/// `cases/promela/symbolic`.
#[test]
fn a_deep_violation_is_found_without_reduction() {
    let (code, answer) = check("lost_update.pml", &["--engine", "bmc", "--reduce", "none"]);
    assert_eq!(code, Some(10));
    assert_eq!(answer["property"], "unreach-call");
    assert_eq!(answer["engine"], "bmc");
    assert!(answer["symbolic"]["questions"].as_u64() > Some(0));
}

/// That one counter is never ahead of the other is said nowhere in the model, and for numbers of 16
/// bits it is a relation of too many bits to be found bit by bit.
#[test]
fn a_proof_finds_comparisons_that_the_model_does_not_make() {
    let model = repository().join("examples/symbolic/two_counters.pml");
    let options = ["check", "--json", "--engine", "ic3", "--reduce", "dynamic"];
    let ended = run(mover()
        .args(options)
        .args(["--show-invariant", "--timeout", "120"])
        .arg(&model));
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let answer = ended.json();
    let invariant = answer["symbolic"]["invariant"].to_string();
    assert!(invariant.contains("(a < b)"), "{invariant}");
}

#[test]
fn a_bound_is_in_the_verdict() {
    let (code, answer) = check("peterson2.pml", &["--engine", "bmc", "--depth", "3"]);
    assert_eq!(code, Some(5));
    assert_eq!(answer["verdict"], "safe up to");
    assert_eq!(answer["bound"], "3 blocks");
}

#[test]
fn a_proof_comes_with_its_invariant() {
    let options = [
        "--engine",
        "ic3",
        "--reduce",
        "none",
        "--certify",
        "--show-invariant",
    ];
    let (code, answer) = check("peterson2.pml", &options);
    assert_eq!(code, Some(0));
    let invariant = answer["symbolic"]["invariant"]
        .as_array()
        .expect("an array");
    assert!(!invariant.is_empty());
    assert!(
        invariant
            .iter()
            .all(|clause| clause.as_str().is_some_and(|c| c.starts_with("not (")))
    );
    let certified = answer["symbolic"]["certified"]
        .as_array()
        .expect("an array");
    // The invariant, the solver's answers about it, and all states.
    assert_eq!(certified.len(), 3, "{certified:?}");
}

#[test]
fn engines_race() {
    let (code, answer) = check("peterson2.pml", &["--engine", "auto", "--jobs", "2"]);
    assert_eq!(code, Some(0));
    assert!(answer["engine"] == "explicit" || answer["engine"] == "ic3");
}

#[test]
fn what_only_explicit_search_has_is_no_race() {
    for options in [
        vec!["--order", "dfs"],
        vec!["--reduce", "left"],
        vec!["--reduce", "static", "--ignoring", "cpc"],
        vec!["--keep-going"],
    ] {
        let (code, alone) = check("peterson2.pml", &options);
        let (cores_code, cores) =
            check("peterson2.pml", &[&options[..], &["--jobs", "3"]].concat());
        assert_eq!((code, cores_code), (Some(0), Some(0)), "{options:?}");
        for field in ["engine", "reduction", "ignoring", "states"] {
            assert_eq!(alone[field], cores[field], "{options:?} {field}");
        }
        assert_eq!(cores["engine"], "explicit");
    }
}

fn z3(script: &str) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-T:120"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed (make test-packages)");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(script.as_bytes()).expect("z3 reads");
    drop(stdin);
    let output = child.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

#[test]
fn another_solver_agrees_on_the_dumped_questions() {
    let dump = |model: &str, options: &[&str]| {
        let file = repository().join("examples/promela").join(model);
        let ended = run(mover()
            .args(["check", "--dump", "smt2"])
            .args(options)
            .arg(file));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let bounded = |model: &str, depth: &str| dump(model, &["--engine", "bmc", "--depth", depth]);
    assert_eq!(z3(&bounded("mutex_naive.pml", "8")), "sat");
    assert_eq!(z3(&bounded("mutex_naive.pml", "1")), "unsat");
    assert_eq!(z3(&bounded("peterson2.pml", "6")), "unsat");
    assert_eq!(z3(&dump("peterson2.pml", &["--engine", "ic3"])), "unsat");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for options in [
        vec!["--engine", "ic3", "--depth", "3"],
        vec!["--engine", "explicit", "--dump", "smt2"],
        vec!["--engine", "bmc", "--keep-going"],
        vec!["--engine", "bmc", "--thread-slots", "0"],
    ] {
        let file = repository().join("examples/promela/peterson2.pml");
        let ended = run(mover().arg("check").args(&options).arg(file));
        assert_eq!(ended.code, Some(1), "{options:?}");
        assert!(
            ended.stdout.is_empty() && ended.stderr.starts_with("mover: "),
            "{options:?}"
        );
    }
}

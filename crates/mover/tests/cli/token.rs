//! `--engine token`: verdicts, bounds, what it does not take; `explain --mat`.

use serde_json::Value;

use super::{check, model, mover, repository, run};

fn json(path: &std::path::Path, options: &[&str]) -> Value {
    let options = [&["--json", "--engine", "token"], options].concat();
    let ended = check(path, &options);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr))
}

#[test]
fn the_paper_s_figure_has_5_transactions_and_8_constraints_instead_of_32() {
    let path = repository().join("bench/mat/figure1.pml");
    let ended = run(mover().args(["explain", "--mat", "--json"]).arg(path));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    let len = |name: &str| told[name].as_array().map(Vec::len);
    assert_eq!(len("transactions"), Some(5));
    assert_eq!(len("pairs"), Some(8));
    assert_eq!(told["all_pairs"], 32);
}

#[test]
fn every_set_of_pairs_gives_the_verdict() {
    for (file, verdict) in [
        ("examples/promela/lost_update.pml", "unsafe"),
        ("examples/promela/bank_transfer_deadlock.pml", "unsafe"),
        ("bench/mat/figure1.pml", "safe"),
    ] {
        for pairs in ["all", "mat", "lex"] {
            let told = json(&repository().join(file), &["--pairs", pairs]);
            assert_eq!(told["verdict"], verdict, "{file} {pairs}");
            assert!(told["symbolic"]["pairs"].as_u64() > Some(0));
        }
    }
}

/// Loops of C threads, joins, and what is written before there are others.
#[cfg(feature = "c")]
#[test]
fn c_programs() {
    for (file, property) in [
        ("lost_update", "unreach-call"),
        ("lock_inversion", "no-deadlock"),
        ("barrier_too_many", "no-deadlock"),
        ("unlock_not_held", "mutex-misuse"),
    ] {
        let told = json(&repository().join(format!("examples/c/{file}.c")), &[]);
        assert_eq!(told["verdict"], "unsafe", "{file}");
        assert_eq!(told["property"], property, "{file}");
    }
    let told = json(&repository().join("examples/c/pipeline.c"), &[]);
    assert_eq!(told["verdict"], "safe");
}

/// The violation is behind more steps than a thread may have, but within the depth that is asked for.
#[test]
fn a_thread_that_is_too_long_is_not_said_to_be_safe() {
    let path = model(
        "token-far.pml",
        "int x; active proctype P() { do :: x++; assert(x != 300000) od }",
    );
    let told = json(&path, &["--depth", "1000000"]);
    assert_eq!(told["verdict"], "unknown");
    let reason = told["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("more than 20000 steps"), "{reason}");
}

#[test]
fn bounds_are_in_the_verdict() {
    let endless = model(
        "token-endless",
        "byte x; active [2] proctype P() { do :: x++ od }",
    );
    let ended = check(&endless, &["--engine", "token", "--depth", "2"]);
    assert_eq!(ended.code, Some(5));
    assert!(
        ended.stdout.contains("safe up to 2 repetitions of loops"),
        "{}",
        ended.stdout
    );
    // The second thread has to come between two steps of the first.
    let text =
        "byte x; active proctype A() { x = 1; assert(x == 1) } active proctype B() { x = 2 }";
    let between = model("token-between", text);
    for (bound, verdict) in [("0", "safe up to"), ("1", "unsafe")] {
        let options = ["--pairs", "all", "--context-bound", bound];
        assert_eq!(json(&between, &options)["verdict"], verdict, "{bound}");
    }
}

#[test]
fn what_is_not_taken_is_named_with_its_line() {
    let path = repository().join("examples/promela/prodcons_rendezvous.pml");
    let told = json(&path, &[]);
    assert_eq!(told["verdict"], "unknown");
    let reason = told["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("without buffer") && reason.contains(".pml:"),
        "{reason}"
    );
}

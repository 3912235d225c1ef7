//! `mover explain`: locks in arrays, commit points, transactions.

use serde_json::Value;

use super::{check, model, mover, repository, run};

fn explain(name: &str, text: &str) -> Value {
    let path = model(name, text);
    let ended = run(mover().args(["explain", "--json"]).arg(path));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

fn find<'v>(list: &'v Value, key: &str, value: &str) -> &'v Value {
    let mut items = list.as_array().expect("a list").iter();
    let found = items.find(|item| item[key] == value);
    found.unwrap_or_else(|| panic!("no {key} {value} in {list}"))
}

const FORKS: &str = "\
bool fork[3];
active [3] proctype Eater() {
    byte left = _pid;
    byte right = (_pid + 1) % 3;
    atomic { !fork[left] -> fork[left] = true };
    atomic { !fork[right] -> fork[right] = true };
    fork[left] = false;
    fork[right] = false
}
";

#[test]
fn locks_in_arrays_make_transactions() {
    let told = explain("explain-forks", FORKS);
    assert_eq!(find(&told["objects"], "name", "fork")["kind"], "lock");
    let statements = &told["statements"];
    let of_line = |line: u64| {
        let mut all = statements.as_array().expect("a list").iter();
        all.find(|statement| statement["line"] == line)
            .unwrap_or_else(|| panic!("no line {line} in {statements}"))
    };
    for (line, class, reason) in [
        (5, "right mover", "takes fork[left]"),
        (6, "right mover", "takes fork[right]"),
        (7, "left mover", "releases fork[left]"),
        (8, "left mover", "releases fork[right]"),
    ] {
        assert_eq!(of_line(line)["class"], class, "line {line}");
        assert_eq!(of_line(line)["reasons"][0], reason, "line {line}");
        assert_eq!(of_line(line)["commits"], line == 7, "line {line}");
    }
    let transactions = told["transactions"].as_array().expect("a list");
    assert_eq!(transactions.len(), 1, "{told}");
    let lines = transactions[0]["lines"].as_array().expect("a list");
    assert_eq!(lines.last(), Some(&Value::from(8)));
    assert_eq!(transactions[0]["commits_at"], Value::from(vec![7]));
    assert_eq!(told["atomic"], Value::from(vec!["Eater"]));
}

const SEMAPHORE: &str = "\
byte s = 1; byte x; byte y;
active [2] proctype P() {
    atomic { s > 0 -> s-- };
    x++;
    s++;
    y = 1;
    x = 0
}
";

#[test]
fn what_is_in_the_way_is_named() {
    let told = explain("explain-semaphore", SEMAPHORE);
    let x = find(&told["objects"], "name", "x");
    assert_eq!(x["kind"], "unprotected");
    assert_eq!(x["lock"], "s");
    assert_eq!((&x["with_lock"], &x["accesses"]), (&1.into(), &2.into()));
    assert_eq!(x["lines_without"], Value::from(vec![7]));
    // Three transactions: up to line 5, line 6, line 7.
    let lines = |number: usize| &told["transactions"][number]["lines"];
    assert_eq!(lines(0), &Value::from(vec![3, 4, 5]));
    assert_eq!(lines(1), &Value::from(vec![6]));
    assert_eq!(lines(2), &Value::from(vec![7]));
    assert_eq!(told["atomic"], Value::Array(Vec::new()));

    let protected = SEMAPHORE.replace("x = 0", "skip");
    let told = explain("explain-protected", &protected);
    let x = find(&told["objects"], "name", "x");
    assert_eq!((&x["kind"], &x["lock"]), (&"protected".into(), &"s".into()));
}

#[test]
fn movers_are_tried_on_request() {
    let path = model("check-movers", FORKS);
    for reduction in ["static", "left", "phase", "dynamic"] {
        let ended = check(&path, &["--check-movers", "--reduce", reduction]);
        assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
        let first = ended.stdout.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("movers: ") && first.contains("commute as declared"),
            "{first}"
        );
    }
    let ended = check(&path, &["--check-movers", "--json", "--reduce", "phase"]);
    let told: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!(told["verdict"], "unsafe");
    assert!(told["movers_checked"]["pairs"].as_u64() > Some(10));

    let endless = model("check-movers-endless", super::ENDLESS);
    let ended = check(&endless, &["--check-movers", "--timeout", "0.2"]);
    assert_eq!(ended.code, Some(5), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended
            .stdout
            .starts_with("unknown: not all movers could be tried")
    );
}

#[test]
fn the_paper_s_figure_has_5_transactions_and_8_constraints_instead_of_32() {
    let path = repository().join("bench/mat/figure1.pml");
    let ended = run(mover()
        .args(["explain", "--mat=accesses", "--json"])
        .arg(path));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told: Value = ended.json();
    let len = |name: &str| told[name].as_array().map(Vec::len);
    assert_eq!(len("transactions"), Some(5));
    assert_eq!(len("pairs"), Some(8));
    assert_eq!(told["all_pairs"], 32);
}

/// Without a value `--mat` shows the pairs that the engine encodes.
#[test]
fn the_pairs_that_are_explained_are_those_that_the_engine_uses() {
    for name in ["bench/mat/figure1.pml", "examples/promela/lost_update.pml"] {
        let path = repository().join(name);
        let ended = run(mover().args(["explain", "--mat", "--json"]).arg(&path));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let told: Value = ended.json();
        for (pairs, explained) in [
            ("mat", told["pairs"].as_array().map(Vec::len)),
            (
                "mat-printed",
                told["printed_pairs"].as_u64().map(|n| n as usize),
            ),
            ("lex", told["lex_pairs"].as_u64().map(|n| n as usize)),
        ] {
            let engine = ["--engine", "token", "--depth", "1", "--pairs", pairs];
            let question = ["--property", "unreach-call", "--json"];
            let searched: Value = check(&path, &[&engine[..], &question[..]].concat()).json();
            let used = searched["symbolic"]["pairs"].as_u64();
            assert_eq!(used, explained.map(|pairs| pairs as u64), "{name} {pairs}");
        }
    }
}

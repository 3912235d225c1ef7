//! Answers that are checked once more.

use mover_check::recheck::{Most, Recheck, recheck};
use mover_ir::program::Property;
use serde_json::Value;

use crate::common::{mover, own_examples, repository, run};
use crate::{FAILING, check, model};

fn certified(example: &str, options: &[&str]) -> (Option<i32>, Value) {
    let path = repository().join("examples/promela").join(example);
    let ended = run(mover()
        .args(["check", "--json", "--certify"])
        .args(options)
        .arg(path));
    (ended.code, ended.json())
}

fn words(answer: &Value, which: &str) -> String {
    answer["certificate"][which].to_string()
}

/// Every engine's `safe` comes with what it rests on.
#[test]
fn safe_is_certified_by_every_engine() {
    let walk = "a search of all";
    let checked = "of the solver follow";
    for (example, options, expected) in [
        ("peterson2.pml", &["--engine", "explicit"][..], &[walk][..]),
        ("peterson2.pml", &["--reduce", "dynamic"], &[walk]),
        (
            "peterson2.pml",
            &["--engine", "ic3"],
            &["the invariant of", checked, walk],
        ),
        (
            "peterson2.pml",
            &["--engine", "ic3", "--reduce", "dynamic"],
            &["the invariant of", "without reduction, ", walk],
        ),
        (
            "lost_update_locked.pml",
            &["--engine", "token"],
            &[checked, walk],
        ),
    ] {
        let (code, answer) = certified(example, options);
        assert_eq!(code, Some(0), "{example} {options:?}: {answer}");
        assert_eq!(answer["certified"], true, "{answer}");
        for words_expected in expected {
            let by = words(&answer, "by");
            assert!(by.contains(words_expected), "{options:?}: {by}");
        }
    }
    let short = model(
        "certify_short",
        "byte x, done;\n\
         active [2] proctype P() { byte own; own = x; x = own + 1; done++; assert(x < 3) }\n",
    );
    let answer = check(&short, &["--engine", "bmc", "--certify", "--json"]).json();
    assert_eq!(answer["verdict"], "safe", "{answer}");
    let by = words(&answer, "by");
    assert!(by.contains(checked) && by.contains(walk), "{by}");
}

/// A bounded answer rests on the solver alone, a violation on its replay.
#[test]
fn bounds_and_violations_are_certified_in_their_own_ways() {
    let (code, answer) = certified("peterson2.pml", &["--engine", "bmc", "--depth", "3"]);
    assert_eq!(code, Some(5), "{answer}");
    assert!(
        words(&answer, "by").contains("unsatisfiable answer"),
        "{answer}"
    );
    let (code, answer) = certified("mutex_naive.pml", &["--engine", "bmc"]);
    assert_eq!(code, Some(10), "{answer}");
    assert!(words(&answer, "by").contains("replayed"), "{answer}");
    let plain = check(&model("certify_plain", FAILING), &["--json"]).json();
    assert_eq!(plain["certified"], Value::Null);
}

/// What is too large is not certified, and the answer says so.
#[test]
fn what_is_too_large_is_not_certified() {
    let large = model(
        "certify_large",
        "short a, b;\n\
         active proctype A() { do :: a = (a + 1) % 500 od }\n\
         active proctype B() { do :: b = (b + 1) % 500 od }\n",
    );
    let ended = check(&large, &["--certify"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let words = "not certified: by a search of all states of the reference semantics: \
                 there are more than 200,000 states";
    assert!(ended.stdout.contains(words), "{}", ended.stdout);
    let answer = check(&large, &["--certify", "--json"]).json();
    assert_eq!(answer["certified"], false, "{answer}");
}

/// The walk by the definition and explicit search have one opinion of every example.
#[test]
fn the_walk_agrees_with_explicit_search() {
    let most = Most {
        states: 20_000,
        bytes: 1 << 30,
    };
    let (mut holds, mut fails) = (0, 0);
    for path in own_examples("promela", "pml") {
        let options = mover_promela::Options::default();
        let Ok(frontend) = mover_promela::parse(&path, &options) else {
            panic!("{} is an example", path.display());
        };
        let verdict = check(&path, &[]).code;
        match recheck(&frontend.program, &Property::BASIC, most, &|| false) {
            Recheck::Holds { .. } => {
                assert_eq!(verdict, Some(0), "{}", path.display());
                holds += 1;
            }
            Recheck::Fails { .. } => {
                assert_eq!(verdict, Some(10), "{}", path.display());
                fails += 1;
            }
            Recheck::NotDone { .. } => {}
        }
    }
    assert!(holds >= 8 && fails >= 5, "{holds} {fails}");
}

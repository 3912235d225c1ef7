//! The solutions of the ignoring problem at the command line, and the programs of
//! `mover bench cpc`: every search has the same verdict.

use std::path::{Path, PathBuf};

use crate::common::{mover, repository, run};
use serde_json::Value;

const REDUCTIONS: [&str; 4] = ["static", "left", "phase", "dynamic"];
const SOUND: [&str; 5] = ["blocks", "cpc", "cpc-no-l19", "cycle", "lfs"];

fn bench(name: &str) -> PathBuf {
    repository().join("bench/cpc").join(format!("{name}.pml"))
}

fn check(model: &Path, options: &[&str]) -> (Option<i32>, Value) {
    let ended = run(mover().args(["check", "--json"]).args(options).arg(model));
    (ended.code, ended.json())
}

#[test]
fn bench_programs_are_right_and_their_seeded_errors_are_found() {
    let programs: [(&str, &[&str], Option<i32>); 15] = [
        ("alternating_bit", &[], Some(0)),
        ("auction_house", &[], Some(0)),
        ("bakery", &[], Some(0)),
        ("bluetooth", &[], Some(0)),
        ("bluetooth", &["-DBUG"], Some(10)),
        ("conc", &[], Some(0)),
        ("flow_test", &[], Some(0)),
        ("peterson", &[], Some(0)),
        ("philosophers", &["-DN=4"], Some(0)),
        ("shipping", &[], Some(0)),
        ("transaction_manager", &["-DCLIENTS=1"], Some(0)),
        ("transaction_manager", &["-DCLIENTS=1", "-DBUG=1"], Some(10)),
        ("transaction_manager", &["-DCLIENTS=1", "-DBUG=2"], Some(10)),
        ("transaction_manager", &["-DCLIENTS=1", "-DBUG=3"], Some(10)),
        (
            "transaction_manager",
            &["-DCOORDINATORS=2", "-DBUG=4"],
            Some(10),
        ),
    ];
    for (name, defines, expected) in programs {
        let property = ["--property", "unreach-call"];
        for ignoring in SOUND {
            let options = [
                &property[..],
                &["--reduce", "static", "--ignoring", ignoring],
            ];
            let (code, answer) = check(&bench(name), &[&options.concat()[..], defines].concat());
            assert_eq!(code, expected, "{name} {defines:?} {ignoring}: {answer}");
            assert_eq!(answer["ignoring"], ignoring);
        }
    }
}

/// Figure 3 of "Sound Transaction-based Reduction without Cycle Detection".
const FIGURE_3: &str = "\
bool m; byte x, y;
active proctype T1() {
	atomic { !m -> m = true }; y = 42; x = 1; m = false;
	do :: skip od
}
active proctype T2() { atomic { !m -> m = true }; assert(x == 0); m = false }
active proctype T3() { y = 10 }
";

#[test]
fn the_unsound_search_never_says_safe() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figure-3.pml");
    std::fs::write(&path, FIGURE_3).expect("a scratch file");
    for reduction in REDUCTIONS {
        let options = ["--reduce", reduction, "--ignoring"];
        for ignoring in SOUND {
            let (code, answer) = check(&path, &[&options[..], &[ignoring]].concat());
            assert_eq!(code, Some(10), "{reduction} {ignoring}");
            assert_eq!(answer["reduction"], reduction);
        }
        let (code, answer) = check(&path, &[&options[..], &["unsound"]].concat());
        let reason = answer["reason"].as_str().expect("a reason");
        assert_eq!(code, Some(5), "{reduction}");
        assert!(reason.contains("misses errors"), "{reason}");
    }
}

/// Small programs that go wrong, each in a way that some rule of the search exists for.
const TRAPS: [(&str, &str); 4] = [
    // When T1 comes to its choice only the step that moves is possible. The other one becomes
    // possible by what T2 does after it has seen that T1 has committed.
    (
        "late-choice",
        "byte x, y;
        active proctype T1() { y = 1; if :: x == 1 -> assert(false) :: skip fi }
        active proctype T2() { y == 1; x = 1 }",
    ),
    // T1 waits for a rendezvous in the middle of a transaction that has not committed.
    (
        "met-under-lock",
        "chan r = [0] of { byte };
        bool m;
        active proctype T1() { byte x; atomic { !m -> m = true }; r?x; assert(x == 0); m = false }
        active proctype T2() { r!1 }
        active proctype T3() { atomic { !m -> m = true }; m = false }",
    ),
    // As the first, but T1 still has a lock to give back, which alone would not end its transaction.
    (
        "late-choice-under-lock",
        "byte x, y; bool m;
        active proctype T1() {
            atomic { !m -> m = true }; y = 1; if :: x == 1 -> assert(false) :: skip fi; m = false
        }
        active proctype T2() { y == 1; x = 1 }
        active proctype T3() { atomic { !m -> m = true }; m = false }",
    ),
    // T1 has committed, has a lock in hand, and what it does next never comes to an end.
    (
        "caught-in-atomic",
        "byte x; bool m;
        active proctype T1() {
            atomic { !m -> m = true }; x = 1; atomic { do :: skip od }; m = false
        }
        active proctype T2() { x == 1; assert(false) }
        active proctype T3() { atomic { !m -> m = true }; m = false }",
    ),
];

#[test]
fn no_trap_hides_an_error() {
    for (name, text) in TRAPS {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pml"));
        std::fs::write(&path, text).expect("a scratch file");
        for reduction in REDUCTIONS {
            for ignoring in SOUND {
                let property = ["--property", "unreach-call"];
                let how = ["--reduce", reduction, "--ignoring", ignoring];
                let (code, _) = check(&path, &[&property[..], &how[..]].concat());
                assert_eq!(code, Some(10), "{name} {reduction} {ignoring}");
            }
        }
    }
}

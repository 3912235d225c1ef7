//! Programs whose transactions never end: every sound solution of the ignoring problem sees behind them.

use crate::common::{mover, repository, run};

const PROGRAMS: [&str; 4] = ["servers", "publishers", "branches", "spinning_readers"];
const SOUND: [&str; 6] = ["blocks", "cpc", "cpc-no-l19", "cycle", "scc", "lfs"];

fn code(program: &str, ignoring: &str, defines: &[&str]) -> Option<i32> {
    let file = repository().join(format!("bench/cpc/{program}.pml"));
    let options = [
        "--quiet",
        "--property",
        "unreach-call",
        "--reduce",
        "static",
    ];
    let ended = run(mover()
        .arg("check")
        .arg(file)
        .args(options)
        .args(["--ignoring", ignoring])
        .args(defines));
    ended.code
}

#[test]
fn transactions_that_never_end_hide_nothing() {
    for program in PROGRAMS {
        for ignoring in SOUND {
            assert_eq!(
                code(program, ignoring, &[]),
                Some(0),
                "{program} {ignoring}"
            );
            let broken = code(program, ignoring, &["-DBUG=1"]);
            assert_eq!(broken, Some(10), "{program} {ignoring}");
        }
        // It misses runs, so it may not say safe.
        assert_eq!(code(program, "unsound", &[]), Some(5), "{program}");
    }
}

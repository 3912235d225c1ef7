//! Approximate search finds what a search that stores all states finds, and never says `safe`.

use crate::common::{mover, own_examples, run};

#[test]
fn approximate_search_agrees_with_exact_search() {
    let (mut violated, mut open) = (0, 0);
    for path in own_examples("promela", "pml") {
        let check = |option: &str| {
            let asked = "unreach-call,no-deadlock";
            let limits = ["--timeout", "10", "--memory", "1000"];
            run(mover()
                .args(["check", "--property", asked, option])
                .args(limits)
                .arg(&path))
        };
        let exact = check("--reduce=none");
        let Some(0 | 10) = exact.code else {
            continue;
        };
        for option in ["--hash-compact", "--bitstate=4", "--swarm=2"] {
            let found = check(option);
            let words = found.stdout.lines().last().unwrap_or_default().to_string();
            // These state spaces are small: no state is left out.
            let expected = if exact.code == Some(10) { 10 } else { 5 };
            if words.contains("time limit") {
                continue;
            }
            assert_eq!(
                found.code,
                Some(expected),
                "{option} {}: {words}",
                path.display()
            );
            if expected == 5 {
                assert!(words.starts_with("unknown: no violation in "), "{words}");
                open += 1;
            } else {
                violated += 1;
            }
        }
    }
    assert!(violated >= 6 && open >= 12, "{violated} {open}");
}

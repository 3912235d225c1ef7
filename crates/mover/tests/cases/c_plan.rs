//! Snapshots of the plan of C programs, as `crates/mover-reduce/tests/plan.rs` has them for Promela
//! models: `plan/NAME.c` says in its first line what should be seen, `NAME.plan` is the plan.
//! `UPDATE_EXPECT=1` writes the snapshots again. What the plan calls a mover is tried on all
//! reachable states, by the definitions of `crates/mover-reduce/tests/judge`, and so is what the
//! front end declares.
//!
//! The step by which `main` ends the process shows as a both mover, although nobody moves behind it:
//! it begins an atomic sequence without end, which engines treat as no step at all.

#[path = "declared.rs"]
mod declared;
#[path = "../../../mover-reduce/tests/judge/mod.rs"]
mod judge;

use std::path::PathBuf;

use expect_test::expect_file;
use mover_reduce::present::plan_text::plan_text;
use mover_reduce::{Reduction, movers};

use judge::{Claims, Refusal, Tried, judge};

/// More states than any of the programs has.
const ALL_STATES: usize = 50_000;

#[test]
fn plans_of_c_programs_are_as_stored() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut programs = 0;
    let mut tried = 0;
    for entry in std::fs::read_dir(directory).expect("the programs are there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(text.starts_with("/* plan: "), "{}", path.display());
        let read = mover_c::read(std::slice::from_ref(&path), &mover_c::Options::default());
        let read = read.unwrap_or_else(|_| panic!("{} is a program", path.display()));
        expect_file![path.with_extension("plan")].assert_eq(&plan_text(&read.program));
        tried += declared::try_declarations(&read.program, ALL_STATES);
        let movers = movers(&read.program).expect("there are movers");
        let plans = [
            ("static", Claims::of_movers(&movers)),
            ("transactions", Claims::of_classes(&movers)),
            ("phase", Claims::of_plan(&read.program, Reduction::Phase)),
            (
                "dynamic",
                Claims::of_plan(&read.program, Reduction::Dynamic),
            ),
        ];
        let mut total = Tried::default();
        for (plan, claims) in plans {
            match judge(&claims, ALL_STATES) {
                Ok(tried) => total.add(&tried),
                Err(Refusal::TooLarge) => panic!("{} is too large", path.display()),
                Err(Refusal::Wrong(why)) => panic!("{}, {plan}: {why}", path.display()),
            }
        }
        println!("{}: {total:?}", path.display());
        programs += 1;
    }
    assert!(programs >= 5, "{programs} programs");
    assert!(tried >= 100, "{tried} declared operations");
}

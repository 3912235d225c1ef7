//! The reductions on Promela: the same verdicts as without.
//!
//! Every example, and random models made of what reductions stumble over (see
//! `mover_fuzz::promela`), searched in all ways there are.
//!
//! `MOVER_PROGRAMS` sets how many random models are tried, `MOVER_SEED` where to
//! start.

use std::path::Path;

use mover_fuzz::{Model, WAYS, check_model, compare, of_seeds, smallest};

#[test]
fn examples_keep_their_verdicts() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut compared = 0;
    for entry in std::fs::read_dir(directory).expect("the examples are there") {
        let path = entry.expect("readable").path();
        let read = mover_promela::parse(&path, &mover_promela::Options::default());
        let program = read.expect("examples are valid").program;
        let found = compare(&program, u64::MAX)
            .unwrap_or_else(|mismatch| panic!("{}: {mismatch}", path.display()));
        compared += u32::from(found.is_ok());
    }
    assert!(compared > 30, "{compared} examples compared");
}

/// Models that go wrong only if a value is remembered, each by another way to read it.
const REMEMBERED: &[(&str, &str)] = &[
    (
        "from outside",
        "byte done;
         active proctype Keeper() { byte mine; mine = 3; done = 1; done = 2 }
         active proctype Reader() { done == 2; assert(Keeper:mine != 3) }",
    ),
    (
        "one cell of a row after another was written",
        "byte x;
         active proctype P() { byte row[2]; row[0] = 3; x = 1; row[1] = 4; x = 2; assert(row[0] != 3) }
         active proctype Q() { x++ }",
    ),
    (
        "a cell of a row that is picked at run time",
        "byte x;
         active proctype P() { byte i; byte row[2]; row[1] = 3; x = 1; i = 1; row[i - 1] = 5; x = 2; assert(row[i] != 3) }
         active proctype Q() { x++ }",
    ),
    (
        "by a guard, the next time round",
        "byte x;
         active proctype P() { byte n; do :: n < 2 -> n++; x = n :: n == 2 -> break od; assert(false) }
         active proctype Q() { x++ }",
    ),
    (
        "by what a message must be",
        "chan c = [0] of { byte };
         active proctype P() { byte mine; mine = 3; c ? eval(mine); assert(false) }
         active proctype Q() { c ! 3 }",
    ),
    (
        "by one of two ways on",
        "byte x;
         active proctype P() { byte mine; mine = 3; x = 1; if :: mine = 0 :: skip fi; x = 2; assert(mine != 3) }
         active proctype Q() { x++ }",
    ),
    (
        "by the process that is started",
        "byte x;
         proctype Child(byte given) { x = given; assert(given != 3) }
         active proctype P() { byte mine; mine = 3; x = 1; run Child(mine) }",
    ),
    (
        "as an index",
        "byte x; byte row[4];
         active proctype P() { byte mine; mine = 3; x = 1; row[mine] = 1; assert(row[3] != 1) }
         active proctype Q() { x++ }",
    ),
    (
        "in the middle of a deterministic sequence",
        "byte x;
         active proctype P() { byte mine; mine = 3; x = 1; d_step { x = mine; mine = x + 1; x = mine }; assert(x != 4) }
         active proctype Q() { byte own; own = x }",
    ),
];

#[test]
fn values_that_are_read_again_are_remembered() {
    for (what, text) in REMEMBERED {
        let program = mover_promela::parse_text(what, text)
            .expect("valid")
            .program;
        let found = compare(&program, u64::MAX).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        assert!(
            found.expect("it is small").is_wrong,
            "{what}: the error is there"
        );
    }
}

/// Once `tmp` has been used, it tells the workers' histories apart and nothing else.
#[test]
fn values_that_nobody_reads_are_forgotten() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela/lost_update_locked.pml");
    let read = mover_promela::parse(&path, &mover_promela::Options::default());
    let program = read.expect("valid").program;
    let found = compare(&program, u64::MAX)
        .expect("no mismatch")
        .expect("small enough");
    let states: Vec<u64> = found.states().collect();
    let with_forgetful = |way: &mover_fuzz::Way| {
        let same = mover_fuzz::Way {
            forgets: true,
            ..*way
        };
        WAYS.iter().position(|other| !way.forgets && *other == same)
    };
    let mut compared = 0;
    for (number, way) in WAYS.iter().enumerate() {
        if let Some(forgetful) = with_forgetful(way) {
            assert!(
                states[forgetful] * 3 < states[number] * 2,
                "{way}: {} of {} states",
                states[forgetful],
                states[number]
            );
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared} ways compared");
}

#[test]
fn random_models_keep_their_verdicts() {
    let tried = of_seeds(2_000, |seed| {
        let model = Model::random(seed);
        match check_model(&model) {
            Ok(Err(_)) => None,
            Ok(Ok(found)) => Some(found.states().collect::<Vec<u64>>()),
            Err(mismatch) => {
                let (model, mismatch) = smallest(&model, mismatch);
                panic!("seed {seed}: {mismatch}\n{}", model.text());
            }
        }
    });
    let count = tried.len();
    let mut compared = 0;
    let mut states = vec![0; WAYS.len()];
    for found in tried.into_iter().flatten() {
        compared += 1;
        for (total, more) in states.iter_mut().zip(found) {
            *total += more;
        }
    }
    println!("{compared} of {count} models compared");
    assert!(compared * 3 > count * 2, "most models are valid and small");
    let all = states[0];
    // The solutions that store what they pass save little on models this small.
    let is_blocks = |way: &mover_fuzz::Way| way.reduces() && way.ignoring.is_none();
    let reducing = (WAYS.iter().zip(&states)).filter(|(way, _)| is_blocks(way));
    for (way, states) in reducing {
        println!("{way}: {states} of {all} states");
        assert!(states * 10 < all * 9, "{way} reduces");
    }
}

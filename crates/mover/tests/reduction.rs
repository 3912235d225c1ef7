//! The reductions on Promela: the same verdicts as without.
//!
//! Every example, and random models made of what reductions stumble over (see
//! `mover_fuzz::promela`), searched in all ways there are.
//!
//! `MOVER_PROGRAMS` sets how many random models are tried, `MOVER_SEED` where to
//! start.

#[path = "reduction/check_movers.rs"]
mod check_movers;

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

/// Models that go wrong only if a value is remembered. They are cases of `cases.rs`, too.
#[test]
fn values_that_are_read_again_are_remembered() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/promela/remembered");
    let mut compared = 0;
    for entry in std::fs::read_dir(cases).expect("the cases are there") {
        let path = entry.expect("readable").path();
        let read = mover_promela::parse(&path, &mover_promela::Options::default());
        let program = read.expect("a model").program;
        let name = path.display();
        let found = compare(&program, u64::MAX).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert!(
            found.expect("it is small").is_wrong,
            "{name}: the error is there"
        );
        compared += 1;
    }
    assert!(compared >= 9, "{compared} models compared");
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

/// A passed assertion says that its process holds the lock. Where failed assertions are not asked
/// about, a process goes on without it, and an update can be lost.
#[test]
fn a_failed_assertion_about_a_lock_is_passed_without_the_lock() {
    let text = "byte owner, x, done;
        active [2] proctype P() {
          byte l;
          if
          :: atomic { owner == 0 -> owner = _pid + 1 }
          :: skip
          fi;
          assert(owner == _pid + 1);
          l = x;
          x = l + 1;
          if
          :: atomic { owner == _pid + 1 -> owner = 0 }
          :: owner != _pid + 1
          fi;
          done++
        }
        active proctype W() { done == 2; x == 2 }";
    let program = mover_promela::parse_text("passed", text)
        .expect("valid")
        .program;
    let found = compare(&program, u64::MAX).unwrap_or_else(|wrong| panic!("{wrong}"));
    let found = found.expect("it is small");
    assert!(found.has_deadlock && found.is_wrong);
}

/// Has all ways agree on random models; how many were tried and compared, and the states that each way
/// stored.
fn compare_random(
    seeds: u64,
    model: impl Fn(u64) -> Option<Model> + Sync,
) -> (usize, usize, Vec<u64>) {
    let tried = of_seeds(seeds, |seed| {
        let model = model(seed)?;
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
    (count, compared, states)
}

/// Reduction goes on between steps that wait for `timeout`.
#[test]
fn random_models_with_timeouts_keep_their_verdicts() {
    let (count, compared, states) = compare_random(1_500, |seed| {
        let model = Model::with_timeouts(seed);
        model.text().contains("timeout").then_some(model)
    });
    assert!(compared * 2 > count, "most models are valid and small");
    let is_reduced =
        |way: &mover_fuzz::Way| way.reduces() && way.ignoring.is_none() && way.jobs == 1;
    for (way, &states_of) in WAYS.iter().zip(&states).filter(|(way, _)| is_reduced(way)) {
        println!("{way}: {states_of} of {} states", states[0]);
        assert!(
            states_of > 0 && states_of * 10 < states[0] * 9,
            "{way} reduces"
        );
    }
}

#[test]
fn random_models_keep_their_verdicts() {
    let (count, compared, states) = compare_random(2_000, |seed| Some(Model::random(seed)));
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

//! The reductions on Promela: the same verdicts as without.
//!
//! Every example, and random models made of what reductions stumble over (see
//! `mover_fuzz::promela`), searched in all ways there are.
//!
//! `MOVER_PROGRAMS` sets how many random models are tried, `MOVER_SEED` where to
//! start.

use std::path::Path;

use mover_fuzz::{Model, WAYS, check_model, compare, programs, setting, smallest};

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

#[test]
fn random_models_keep_their_verdicts() {
    let first = setting("MOVER_SEED", 1);
    let count = programs(5_000);
    let mut compared = 0;
    let mut states = vec![0; WAYS.len()];
    for seed in first..first + count {
        let model = Model::random(seed);
        match check_model(&model) {
            Ok(Err(_)) => {}
            Ok(Ok(found)) => {
                compared += 1;
                for (total, more) in states.iter_mut().zip(found.states()) {
                    *total += more;
                }
            }
            Err(mismatch) => {
                let (model, mismatch) = smallest(&model, mismatch);
                panic!("seed {seed}: {mismatch}\n{}", model.text());
            }
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

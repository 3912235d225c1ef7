//! The case studies of Günther et al. (2017), and what makes them fast.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{mover, repository, run};

fn check(file: &Path, options: &[&str]) -> Value {
    let ended = run(mover()
        .args(["check", "--json", "--quiet", "--property", "unreach-call"])
        .args(options)
        .arg(file));
    ended.json()
}

fn study(name: &str) -> PathBuf {
    let programs = repository().join("bench/dynamic");
    programs.join(format!("{name}.c"))
}

fn scratch() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dynamic");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    scratch
}

/// A transaction or two for each thread, and one to start them all. In `dynamic_locking` each thread
/// begins another one in each of the four rounds of its loop.
#[test]
fn threads_that_do_not_interfere_are_few_blocks() {
    for (name, variant, most) in [
        ("hash_table_find", "-DFIGURE_TABLE", 3),
        ("dynamic_locking", "-DOWN_CHECKS", 15),
    ] {
        let options = ["-DN=2", variant, "--engine", "bmc", "--reduce", "dynamic"];
        let answer = check(&study(name), &options);
        assert_eq!(answer["verdict"], "safe", "{name}: {answer}");
        let blocks = answer["depth"].as_u64().expect("a number of blocks");
        assert!(blocks <= most, "{name}: {blocks} blocks");
    }
}

#[test]
fn counterexamples_of_unfolded_programs_are_runs_of_the_program() {
    // The element of the second thread is not in the table.
    let text = std::fs::read_to_string(study("hash_table_find")).expect("the program");
    let wrong = text.replace("ELEMENTS[5] = {25, 46,", "ELEMENTS[5] = {25, 47,");
    assert_ne!(text, wrong);
    let file = scratch().join("missing.c");
    std::fs::write(&file, wrong).expect("a file can be written");
    for engine in ["bmc", "ic3"] {
        for unfold in [&[][..], &["--no-unfold"]] {
            if engine == "ic3" && !unfold.is_empty() {
                // Takes too long without.
                continue;
            }
            let header = format!("-I{}", repository().join("bench/dynamic").display());
            let mut options = vec!["-DFIGURE_TABLE", &header];
            options.extend(["--engine", engine, "--reduce", "dynamic"]);
            options.extend(unfold);
            let answer = check(&file, &options);
            assert_eq!(answer["verdict"], "unsafe", "{engine} {unfold:?}: {answer}");
            assert!(!answer["trace"].is_null(), "{engine} {unfold:?}");
        }
    }
}

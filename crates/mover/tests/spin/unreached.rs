//! Unreached statements beside SPIN: the same lines of each process.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::common::{mover, own_examples, repository, run};

/// Process and line of a statement that is not reached.
type Place = (String, usize);

fn by_spin(path: &Path, directory: &Path) -> Option<BTreeSet<Place>> {
    let told = |command: &mut Command| run(command.current_dir(directory)).stdout;
    told(Command::new("spin").args(["-a", "-o3"]).arg(path));
    told(Command::new("gcc").args(["-w", "-DNOREDUCE", "-DSAFETY", "-o", "pan", "pan.c"]));
    let said = told(Command::new("./pan").args(["-m1000000", "-c0", "-E", "-A"]));
    if !said.contains("errors: 0") {
        return None;
    }
    let mut found = BTreeSet::new();
    let mut process = String::new();
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("unreached in ") {
            process = name.trim_start_matches("proctype ").to_string();
        } else if let Some((place, _)) = line.split_once(", state ")
            && let Some((_, number)) = place.rsplit_once(':')
            && let Ok(number) = number.parse()
        {
            found.insert((process.clone(), number));
        }
    }
    // A claim is no process here.
    found.retain(|(process, _)| !process.starts_with("claim"));
    Some(found)
}

fn by_mover(path: &Path) -> BTreeSet<Place> {
    let checked = run(mover()
        .args([
            "check",
            "--json",
            "--unreached",
            "--property",
            "unreach-call",
        ])
        .arg(path));
    let answer = checked.json();
    let processes = answer["unreached"].as_array().expect("a list").clone();
    let mut found = BTreeSet::new();
    for process in &processes {
        let name = process["process"].as_str().expect("a name");
        for statement in process["statements"].as_array().expect("a list") {
            let line = statement["line"].as_u64().expect("a number");
            found.insert((name.to_string(), line as usize));
        }
    }
    found
}

#[test]
fn unreached_statements_are_those_of_spin() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin-unreached");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let own = repository().join("crates/mover/tests/spin/unreached.pml");
    let mut models = vec![own];
    models.extend(own_examples("promela", "pml").into_iter().take(12));
    let (mut compared, mut statements) = (0, 0);
    for path in models {
        let Some(spin) = by_spin(&path, &directory) else {
            continue;
        };
        assert_eq!(
            spin,
            by_mover(&path),
            "SPIN and mover on {}",
            path.display()
        );
        compared += 1;
        statements += spin.len();
    }
    assert!(
        compared >= 6 && statements >= 8,
        "{compared} models, {statements} statements"
    );
    let _ = std::fs::remove_dir_all(&directory);
}

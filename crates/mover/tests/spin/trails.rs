//! Trails that SPIN's verifier writes, with and without merged statements, are replayed to the same violation.

use std::path::Path;
use std::process::Command;

use crate::common::{mover, own_examples, repository, run};

#[test]
fn trails_of_spin_are_replayed() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin-trails");
    let mut models = vec![repository().join("crates/mover/tests/spin/merged.pml")];
    models.extend(own_examples("promela", "pml"));
    let (mut assertions, mut deadlocks) = (0, 0);
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a model");
        let has_claim = ["ltl", "never", "trace"]
            .iter()
            .any(|word| text.contains(word));
        if has_claim || assertions + deadlocks >= 12 {
            continue;
        }
        for merging in ["-a", "-o3"] {
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::create_dir_all(&directory).expect("a directory");
            let told = |command: &mut Command| run(command.current_dir(&directory)).stdout;
            told(Command::new("spin").args(["-a", merging]).arg(&path));
            told(Command::new("gcc").args(["-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]));
            let said = told(Command::new("timeout").args(["20", "./pan", "-m100000"]));
            let name = path.file_name().expect("a name").to_string_lossy();
            let trail = directory.join(format!("{name}.trail"));
            if !trail.exists() {
                continue;
            }
            let replayed = run(mover().arg("replay").arg(&path).arg(&trail));
            let verdict = replayed
                .stdout
                .lines()
                .last()
                .unwrap_or_default()
                .to_string();
            assert_eq!(
                replayed.code,
                Some(10),
                "{name}: {said}{}{verdict}",
                replayed.stderr
            );
            let is_deadlock = said.contains("invalid end state (");
            assert_eq!(
                verdict.contains("deadlock"),
                is_deadlock,
                "{name}: {said}{verdict}"
            );
            match is_deadlock {
                true => deadlocks += 1,
                false => assertions += 1,
            }
        }
    }
    assert!(
        assertions >= 3 && deadlocks >= 2,
        "{assertions}, {deadlocks}"
    );
    let _ = std::fs::remove_dir_all(&directory);
}

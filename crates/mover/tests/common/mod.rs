//! Running mover as its users do: as a process.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The executable under test, without colours and with nothing on its standard input.
pub fn mover() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mover"));
    command
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
    command
}

/// What a run printed and how it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(command: &mut Command) -> Ended {
    let output = command.output().expect("mover can be started");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ended {
    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("no JSON ({error}): {:?} and {:?}", self.stdout, self.stderr)
        })
    }
}

/// Root of the repository.
pub fn repository() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    crates.canonicalize().expect("the repository is there")
}

/// mover's own examples in a language, by name.
pub fn own_examples(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(repository().join("examples").join(folder))
        .expect("the examples are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(files.len() >= 15, "only {} examples", files.len());
    files
}

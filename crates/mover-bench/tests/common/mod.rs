//! Running the measurements as `mover bench` does: as a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;

/// The executable under test, without colours and with nothing on its standard input.
pub fn bench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mover-bench"));
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Sees to it that there is a `mover` to be measured. Cargo builds the programs of the package that
/// is tested, and all of them for the whole workspace; when this package is tested alone, `mover`
/// may be missing.
pub fn mover_is_there() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let beside = Path::new(env!("CARGO_BIN_EXE_mover-bench")).with_file_name("mover");
        if !beside.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--locked", "--profile", "test"]);
            cargo.args(["--package", "mover"]).current_dir(repository());
            let built = cargo.status().expect("cargo can be started");
            assert!(built.success() && beside.exists(), "mover is not built");
        }
    });
}

/// What a run printed and how it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(command: &mut Command) -> Ended {
    let output = command.output().expect("it can be started");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Root of the repository.
pub fn repository() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    crates.canonicalize().expect("the repository is there")
}

//! `mover bench` and `mover fuzz` are programs beside mover. Here other programs stand for them,
//! which tell what they were given.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Ended, run};

/// mover in a directory of its own.
fn installed(directory: &Path) -> PathBuf {
    let mover = directory.join("mover");
    std::fs::copy(env!("CARGO_BIN_EXE_mover"), &mover).expect("a copy");
    mover
}

fn script(file: &Path, text: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("a file");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).expect("it is ours");
}

fn ask(mover: &Path, path: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(mover);
    let command = command.args(arguments).env("PATH", path);
    run(command.stdin(Stdio::null()))
}

#[test]
fn arguments_streams_and_exit_code_are_passed_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let mover = installed(directory.path());
    let told = "for word; do echo \"<$word>\"; done; read line; echo \"$line\" >&2; exit 73";
    for (command, program) in [("bench", "mover-bench"), ("fuzz", "mover-fuzz")] {
        script(&directory.path().join(program), told);
        let mut child = Command::new(&mover)
            .args([command, "cpc", "--rows", "two words", "--help", "--", "-x"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mover can be started");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(b"a line\n").expect("it is read");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(73));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "<cpc>\n<--rows>\n<two words>\n<--help>\n<-->\n<-x>\n"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "a line\n");
        let help = ask(&mover, directory.path(), &[command, "--help"]);
        assert_eq!((help.stdout.as_str(), help.code), ("<--help>\n", Some(73)));
    }
}

#[test]
fn the_program_beside_mover_comes_before_those_in_path() {
    let (own, path) = (tempfile::tempdir(), tempfile::tempdir());
    let (own, path) = (own.expect("a directory"), path.expect("a directory"));
    let mover = installed(own.path());
    script(&path.path().join("mover-bench"), "exit 3");
    assert_eq!(ask(&mover, path.path(), &["bench"]).code, Some(3));
    script(&own.path().join("mover-bench"), "exit 4");
    assert_eq!(ask(&mover, path.path(), &["bench"]).code, Some(4));
}

#[test]
fn a_missing_program_is_named_with_the_way_to_make_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mover = installed(directory.path());
    for (command, program, package) in [
        ("bench", "mover-bench", "mover-bench"),
        ("fuzz", "mover-fuzz", "mover-campaign"),
    ] {
        // A file that cannot be run is no program.
        std::fs::write(directory.path().join(program), "").expect("a file");
        let ended = ask(&mover, directory.path(), &[command, "--help"]);
        assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
        let way_out = format!("cargo build --release --package {package}");
        for part in [format!("`{program}`"), way_out, "[U012]".into()] {
            assert!(ended.stderr.contains(&part), "{part}: {}", ended.stderr);
        }
    }
}

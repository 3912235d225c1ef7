//! What `mover fuzz` refuses, before it searches anything.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program with nothing on its standard input and without colours.
fn run(options: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_mover-fuzz"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .args(options)
        .output()
        .expect("it can be started");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn fuzz(options: &[&str]) -> Ended {
    run(&[&["--quiet", "--generator", "promela"], options].concat())
}

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaign");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory.join(name)
}

#[track_caller]
fn assert_refused(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "");
    let crashed = ended.stderr.contains("panicked") || ended.stderr.contains("internal error");
    assert!(!crashed, "{}", ended.stderr);
    for word in words {
        assert!(
            ended.stderr.contains(word),
            "no `{word}` in {}",
            ended.stderr
        );
    }
}

#[test]
fn a_directory_for_mismatches_that_cannot_be_is_refused() {
    let file = scratch("no_folder");
    std::fs::write(&file, "").expect("a file");
    let file = file.display().to_string();
    for folder in [&file, "/dev/null/folder"] {
        let ended = fuzz(&["--count", "1", "--write", folder]);
        assert_eq!(ended.code, Some(1), "{folder}: {}", ended.stderr);
        assert!(ended.stderr.contains(folder), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let folder = scratch("made");
    let _ = std::fs::remove_dir_all(&folder);
    let ended = fuzz(&["--count", "1", "--write", &folder.display().to_string()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(folder.is_dir());
}

#[test]
fn seeds_that_do_not_fit_are_refused() {
    let last = u64::MAX.to_string();
    assert_eq!(fuzz(&["--seed", &last, "--for", "1s"]).code, Some(1));
    let ended = fuzz(&["--seed", &last, "--count", "3"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("--seed and --count"),
        "{}",
        ended.stderr
    );
    let before = (u64::MAX - 1).to_string();
    let ended = fuzz(&["--seed", &before, "--count", "1", "--jobs", "2"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("no mismatch in 1 programs"),
        "{}",
        ended.stdout
    );
}

fn replayed(name: &str, text: &str) -> Ended {
    let file = scratch(name);
    std::fs::write(&file, text).expect("a file");
    fuzz(&["--replay", &file.display().to_string()])
}

#[test]
fn files_that_are_no_programs_are_refused_by_name() {
    assert_refused(
        &replayed("fuzz_cut_off.pml", "active proctype P() { byte x; x ="),
        &["fuzz_cut_off.pml:1", "fuzz_cut_off.pml: 2 errors"],
    );
    assert_refused(
        &replayed("fuzz_cut_off.tm", "algorithm a;\non read(v) { do"),
        &["fuzz_cut_off.tm:2", "fuzz_cut_off.tm: "],
    );
}

#[cfg(feature = "c")]
#[test]
fn c_that_does_not_compile_is_refused_by_name() {
    let ended = replayed("fuzz_broken.c", "int main(void) { return x; }\n");
    assert_refused(
        &ended,
        &["fuzz_broken.c:1:25", "fuzz_broken.c: it does not compile"],
    );
    assert!(!ended.stderr.contains("random.c"), "{}", ended.stderr);
}

#[test]
fn a_byte_order_mark_is_not_a_part_of_an_algorithm() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tm/seq.tm");
    let text = std::fs::read_to_string(example).expect("the example");
    let ended = replayed("marked.tm", &format!("\u{feff}{text}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("marked.tm: no mismatch"),
        "{}",
        ended.stdout
    );
}

/// What is typed is `mover fuzz`, so that is what the help calls it.
#[test]
fn help_and_errors_speak_of_the_command() {
    let help = run(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(
        help.stdout.contains("Usage: mover fuzz [OPTIONS]"),
        "{}",
        help.stdout
    );
    let wrong = run(&["--nonsense"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("[U001]"), "{}", wrong.stderr);
}

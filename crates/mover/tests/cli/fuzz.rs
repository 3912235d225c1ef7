//! What `mover fuzz` refuses, before it searches anything.

use crate::common::{Ended, mover, run};
use crate::{SAFE, assert_refused, model, scratch};

fn fuzz(options: &[&str]) -> Ended {
    run(mover()
        .args(["fuzz", "--quiet", "--generator", "promela"])
        .args(options))
}

#[test]
fn a_directory_for_mismatches_that_cannot_be_is_refused() {
    let file = model("fuzz_folder", SAFE).display().to_string();
    for folder in [&file, "/dev/null/folder"] {
        let ended = fuzz(&["--count", "1", "--write", folder]);
        assert_eq!(ended.code, Some(1), "{folder}: {}", ended.stderr);
        assert!(ended.stderr.contains(folder), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let folder = scratch("fuzz/made");
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

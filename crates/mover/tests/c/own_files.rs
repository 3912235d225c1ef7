//! Programs that tests write down themselves.

use std::path::{Path, PathBuf};

use crate::common::{Ended, mover, run};

/// A file with this text in a directory of the test's own.
pub fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("c_cli")
        .join(test);
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

pub fn check(options: &[&str], files: &[PathBuf]) -> Ended {
    run(mover().arg("check").args(options).args(files))
}

/// Checks that a program is refused with these words, and without a panic.
#[track_caller]
pub fn refused(test: &str, name: &str, text: &str, words: &[&str]) {
    let ended = check(&[], &[file(test, name, text)]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for word in words {
        assert!(
            ended.stderr.contains(word),
            "no `{word}` in: {}",
            ended.stderr
        );
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

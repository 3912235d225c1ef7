//! What the user says of exclusive access: used, refused, or of no use.

use std::path::{Path, PathBuf};

use crate::common::{Ended, mover, run};

fn check(name: &str, text: &str, reduction: &str) -> Ended {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exclusive");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path: PathBuf = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    run(mover()
        .args(["check", "--json", "--reduce", reduction])
        .arg(&path))
}

fn states(ended: &Ended) -> u64 {
    let told: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    told["states"].as_u64().expect("a number of states")
}

const WATCHED: &str = "byte owner = 255, x, seen;\n\
    ANNOTATION\n\
    active [2] proctype P() { byte t;\n\
      do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; assert(x == 1); x = 0; owner = 255 od }\n\
    active proctype Watch() { do :: seen = owner :: seen == 77 -> seen = 0 :: atomic { owner == 200 -> owner = 255 } od }\n";

#[test]
fn a_predicate_that_holds_is_used_in_either_kind_of_comment() {
    let plain = check("plain.pml", &WATCHED.replace("ANNOTATION", ""), "phase");
    for (name, annotation) in [
        ("block.pml", "/*@ exclusive(x, owner == _pid) */"),
        ("line.pml", "//@ exclusive(x, owner == _pid)"),
    ] {
        let given = check(name, &WATCHED.replace("ANNOTATION", annotation), "phase");
        assert_eq!(given.code, Some(0), "{}", given.stderr);
        assert_eq!(given.stderr, "");
        assert!(states(&given) < states(&plain), "{}", given.stdout);
    }
}

#[test]
fn a_predicate_is_read_behind_the_preprocessor() {
    let text = WATCHED
        .replace(
            "ANNOTATION",
            "#define FREE 255
/*@ exclusive(x, owner == _pid) */",
        )
        .replace("owner = 255 od", "owner = FREE od");
    let given = check("defined.pml", &text, "dynamic");
    assert_eq!(given.code, Some(0), "{}", given.stderr);
    let plain = check("plain2.pml", &WATCHED.replace("ANNOTATION", ""), "dynamic");
    assert!(states(&given) < states(&plain), "{}", given.stdout);
}

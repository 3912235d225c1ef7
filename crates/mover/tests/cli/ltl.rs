//! `--ltl` and `--ltl-file`: which claims are checked.

use std::path::Path;

use crate::common::{mover, run};

fn model(name: &str, text: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ltl");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a writable file");
    path
}

const MODEL: &str = "#define low (x < 2)\n\
    byte x;\n\
    active proctype P() { do :: x = 1 :: x = 2 od }\n\
    ltl fine { [] (x <= 2) }\n\
    ltl wrong { [] low }\n";

#[test]
fn a_name_chooses_a_claim_of_the_model() {
    let model = model("named.pml", MODEL);
    for (name, code) in [("fine", 0), ("wrong", 10)] {
        let ended = run(mover().args(["check", "--ltl", name]).arg(&model));
        assert_eq!(ended.code, Some(code), "{}", ended.stdout);
        assert_eq!(
            ended.stdout.matches("claim: ").count(),
            1,
            "{}",
            ended.stdout
        );
    }
    let ended = run(mover().args(["check", "--ltl", "other"]).arg(&model));
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("its claims are fine, wrong"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_formula_may_use_the_macros_of_the_model() {
    let model_file = model("formula.pml", MODEL);
    let formula_file = model("formula.ltl", "<> [] low\n");
    for formula in ["[] <> low", "low U (x == 2)"] {
        let ended = run(mover()
            .args(["check", "--json", "--ltl", formula])
            .arg(&model_file));
        let answer = ended.json();
        assert_eq!(ended.code, Some(10), "{formula}: {}", ended.stdout);
        assert_eq!(answer["claims"].as_array().map(Vec::len), Some(1));
    }
    let ended = run(mover()
        .args(["check", "--ltl-file"])
        .arg(&formula_file)
        .arg(&model_file));
    assert_eq!(ended.code, Some(10), "{}", ended.stdout);
    assert!(ended.stdout.contains("repeat"), "{}", ended.stdout);
    let ended = run(mover()
        .args(["check", "--ltl", "[] (y == 1)"])
        .arg(&model_file));
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("there is no variable `y`"),
        "{}",
        ended.stderr
    );
}

/// A failed assumption is no run. A process that aborts is one, which ends there.
#[cfg(feature = "c")]
#[test]
fn a_run_may_end_early_but_not_by_an_assumption() {
    const PROGRAM: &str = "#include <stdlib.h>\n\
        unsigned __VERIFIER_nondet_uint(void); void __VERIFIER_assume(int);\n\
        int p;\n\
        int main(void) { unsigned v = __VERIFIER_nondet_uint(), w = v & 1; STOP; p = 1; return 0; }\n";
    let file = model("ends.c", PROGRAM);
    for (stop, code) in [
        ("if (v >= 5) abort()", 10),
        ("if (v >= 5) exit(0)", 10),
        ("if (w) abort()", 10),
        ("__VERIFIER_assume(v < 5)", 0),
        ("__VERIFIER_assume(!w)", 0),
    ] {
        let define = format!("-DSTOP={stop}");
        let ended = run(mover()
            .args(["check", "--ltl", "<> p == 1", &define])
            .arg(&file));
        assert_eq!(ended.code, Some(code), "{stop}: {}", ended.stdout);
    }
}

//! `mover batch`: one row for each job, in the order given, and the worst answer as exit code.

use serde_json::Value;

use crate::common::{mover, run};
use crate::{FAILING, model};

const HOLDING: &str = "byte x;\nactive proctype P() {\n  x = 1;\n  assert(x == 1)\n}\n";

#[test]
fn the_summary_has_all_programs_and_the_worst_exit_code() {
    let (bad, good) = (model("batch-bad", FAILING), model("batch-good", HOLDING));
    let wrong = model("batch-wrong", "active proctype {");
    let folder = tempfile::tempdir().expect("a directory");
    let junit = folder.path().join("junit.xml");
    let sarif = folder.path().join("sarif");
    let ended = run(mover()
        .args(["batch", "--json", "--jobs", "2", "--junit"])
        .arg(&junit)
        .arg("--sarif")
        .arg(&sarif)
        .args([&good, &bad, &wrong]));
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let summary: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let verdicts: Vec<&str> = summary["programs"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["safe", "unsafe", "error"]);
    assert_eq!(summary["counts"]["unknown"], 0);
    let xml = std::fs::read_to_string(junit).expect("JUnit XML");
    assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\""));
    let file = sarif.join("2-batch-bad.sarif");
    let text = std::fs::read_to_string(file).expect("SARIF of the second job");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    let message = result["message"]["text"].as_str().unwrap_or_default();
    assert!(message.contains("finds x = 1"), "{message}");
    assert!(result["partialFingerprints"]["moverViolation/v1"].is_string());
    assert!(log["$schema"].is_string());
    assert!(log["runs"][0]["tool"]["driver"]["rules"][0]["help"]["text"].is_string());
    // Without the violation, the error decides; alone, the safe one.
    assert_eq!(
        run(mover().arg("batch").args([&good, &wrong])).code,
        Some(2)
    );
    assert_eq!(run(mover().arg("batch").arg(&good)).code, Some(0));
}

#[test]
fn a_file_instead_of_a_command_is_explained() {
    let good = model("batch-hint", HOLDING);
    let ended = run(mover().arg(&good));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("mover check "), "{}", ended.stderr);
}

#[test]
fn colours_can_be_asked_for() {
    let bad = model("batch-color", FAILING);
    let plain = run(mover().arg("check").arg(&bad)).stdout;
    let coloured = run(mover().args(["check", "--color", "always"]).arg(&bad)).stdout;
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
}

#[cfg(feature = "c")]
#[test]
fn memory_safety_of_sv_comp_is_three_lines() {
    let folder = tempfile::tempdir().expect("a directory");
    let lines = ["valid-free", "valid-deref", "valid-memtrack"]
        .map(|what| format!("CHECK( init(main()), LTL(G {what}) )\n"));
    let property = folder.path().join("valid-memsafety.prp");
    std::fs::write(&property, lines.concat()).expect("a file");
    let programs = [
        ("int x; int main(void) { return x; }", 0),
        (
            "#include <stdlib.h>\nint main(void) { free(malloc(4)); return 0; }",
            5,
        ),
        (
            "#include <stdlib.h>\nint main(void) { int *p = malloc(4); free(p); return *p; }",
            10,
        ),
    ];
    for (number, (text, code)) in programs.into_iter().enumerate() {
        let file = folder.path().join(format!("{number}.c"));
        std::fs::write(&file, text).expect("a file");
        let ended = run(mover()
            .args(["check", "--property-file"])
            .arg(&property)
            .arg(&file));
        assert_eq!(ended.code, Some(code), "{}", ended.stdout);
    }
}

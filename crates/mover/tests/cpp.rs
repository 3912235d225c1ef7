//! mover on C++ programs: every program in examples/cpp has the verdict that its header promises, and
//! what it does in every run it also does natively.
#![cfg(feature = "c")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{mover, own_examples, repository, run};
use mover_fuzz::on_all_cores;

/// The words behind `expect:`.
fn expectation(file: &Path) -> (String, Option<String>) {
    let text = std::fs::read_to_string(file).expect("a readable program");
    let line = text.lines().find_map(|line| line.split_once("expect:"));
    let line = line.unwrap_or_else(|| panic!("{} has no `expect:` line", file.display()));
    let mut words = line.1.split_whitespace().map(ToString::to_string);
    (words.next().expect("a verdict"), words.next())
}

fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpp_examples");
    std::fs::create_dir_all(&folder).expect("a scratch directory");
    folder
}

#[test]
fn every_example_has_its_verdict_and_its_counterexample_replays() {
    let files = own_examples("cpp", "cpp");
    assert!(files.len() >= 40, "only {} examples", files.len());
    let failures = on_all_cores(&files, |file| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let (verdict, property) = expectation(file);
        let trace = scratch().join(format!("{name}.json"));
        let _ = std::fs::remove_file(&trace);
        let checked = run(mover()
            .args(["check", "--json", "--trace"])
            .arg(&trace)
            .arg(file));
        let answer = checked.json();
        if answer["verdict"] != verdict.as_str() {
            return format!(
                "{name}: {} instead of {verdict}: {}\n",
                answer["verdict"], answer["reason"]
            );
        }
        if verdict == "safe" {
            return String::new();
        }
        if answer["property"].as_str() != property.as_deref() {
            return format!(
                "{name}: violates {} instead of {property:?}\n",
                answer["property"]
            );
        }
        let replayed = run(mover().arg("replay").arg(file).arg(&trace));
        match replayed.code {
            Some(10) => String::new(),
            _ => format!("{name}: the trace does not replay: {}\n", replayed.stderr),
        }
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{failures}");
}

/// Programs whose every run ends in the same way, compiled with the library itself.
#[test]
fn programs_without_a_choice_end_natively_as_they_are_judged() {
    let programs = [
        "exceptions",
        "virtual_calls",
        "map_locked",
        "thread_pool",
        "joinable_destroyed",
        "join_twice",
        "uncaught_exception",
    ];
    let failures = on_all_cores(&programs, |name| {
        let file = repository().join(format!("examples/cpp/{name}.cpp"));
        let executable = scratch().join(name);
        let compiled = Command::new("c++")
            .args(["-std=c++20", "-pthread", "-o"])
            .arg(&executable)
            .arg(&file)
            .status()
            .expect("a C++ compiler");
        assert!(compiled.success(), "{name} compiles");
        let ended = Command::new(&executable).output().expect("it runs");
        let is_safe = expectation(&file).0 == "safe";
        if ended.status.success() == is_safe {
            String::new()
        } else {
            format!("{name}: {:?}\n", ended.status)
        }
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{failures}");
}

/// Names are those of the source, and steps inside of the library stand at the call.
#[test]
fn a_trace_speaks_of_the_source() {
    let file = repository().join("examples/cpp/lost_update_atomic.cpp");
    let checked = run(mover().arg("check").arg(&file));
    assert_eq!(checked.code, Some(10), "{}", checked.stderr);
    assert!(
        checked.stdout.contains("main::lambda#1["),
        "{}",
        checked.stdout
    );
    assert!(!checked.stdout.contains("_Z"), "{}", checked.stdout);
    assert!(
        !checked.stdout.contains("std_thread.h"),
        "{}",
        checked.stdout
    );
}

/// C and C++ in one program, each with its standard.
#[test]
fn files_of_both_languages_are_one_program() {
    let folder = scratch();
    let (c, cpp) = (folder.join("add.c"), folder.join("both.cpp"));
    std::fs::write(&c, "int add(int a, int b) { return a + b; }\n").expect("a file");
    let text = "#include <cassert>\nextern \"C\" int add(int, int);\n\
                int main() { assert(add(1, 2) == 3); }\n";
    std::fs::write(&cpp, text).expect("a file");
    let checked = run(mover()
        .args(["check", "-std=c++17", "-std=c11"])
        .arg(&cpp)
        .arg(&c));
    assert_eq!(
        checked.code,
        Some(0),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
}

/// What ends a run in the library is told with its line, and as what the source calls it.
#[test]
fn what_is_not_supported_is_named() {
    let file = scratch().join("reads.cpp");
    let text = "#include <iostream>\nint main() {\n    int x;\n    std::cin >> x;\n}\n";
    std::fs::write(&file, text).expect("a file");
    let checked = run(mover().arg("check").arg(&file));
    assert!(matches!(checked.code, Some(2 | 5)), "{}", checked.stdout);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains(":4") && !said.contains("_ZN"), "{said}");
}

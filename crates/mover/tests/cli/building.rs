//! Programs are given to mover as they are given to a compiler.

use std::path::{Path, PathBuf};

use crate::common::{Ended, mover, run};
use crate::{assert_refused, last_line};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn check_in(folder: &Path, line: &str) -> Ended {
    let mut command = mover();
    command.current_dir(folder).arg("check");
    run(command.args(line.split_whitespace()))
}

#[track_caller]
fn assert_verdict(ended: &Ended, code: i32) {
    assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn options_of_compilers_are_taken_as_they_are() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("sys")).expect("a directory");
    write(folder.path(), "sys/sys.h", "#define FROM_SYS 1\n");
    write(folder.path(), "pre.h", "#define FROM_PRE 1\n");
    // Fails if an option is lost; `__OPTIMIZE__` would say that -O2 had an effect.
    let source = "#include <assert.h>\n#include <sys.h>\n\
        int main(void) { assert(FROM_SYS + FROM_PRE == 2);\n\
        #if __STDC_VERSION__ != 199901L || defined(__OPTIMIZE__) || !defined(_REENTRANT)\n\
        assert(0);\n#endif\n return 0; }\n";
    write(folder.path(), "x.c", source);
    let options = "-Wall -Wextra -Werror -O2 -g -std=c99 -pthread -include pre.h -isystem sys \
                   -fno-strict-aliasing -lm -o x -c";
    assert_verdict(&check_in(folder.path(), &format!("{options} x.c")), 0);
    assert_verdict(&check_in(folder.path(), &format!("x.c -- {options}")), 0);
    let with_defines = "-std=c99 -pthread -DFROM_SYS=2 -DFROM_PRE=0 -Isys -UFROM_SYS x.c";
    assert_verdict(&check_in(folder.path(), with_defines), 10);
}

#[test]
fn a_compilation_database_is_the_program() {
    let folder = folder();
    for name in ["src", "build", "src/inc"] {
        std::fs::create_dir(folder.path().join(name)).expect("a directory");
    }
    write(folder.path(), "src/inc/two.h", "int two(void);\n");
    let main = "#include <assert.h>\n#include <two.h>\n\
                int main(void) { assert(two() == TWO); }\n";
    write(folder.path(), "src/main.c", main);
    write(folder.path(), "src/two.c", "int two(void) { return N; }\n");
    // A program of its own.
    write(
        folder.path(),
        "src/other.c",
        "int main(void) { return *(int *)0; }\n",
    );
    let commands = r#"[
        {"directory": "../src", "file": "main.c", "command": "cc -DTWO=2 -O2 -Iinc -c main.c"},
        {"directory": "../src", "file": "two.c", "arguments": ["cc", "-D", "N=2", "-c", "two.c"]},
        {"directory": "../src", "file": "other.c", "command": "cc -c other.c"}
    ]"#;
    write(folder.path(), "build/compile_commands.json", commands);
    let check = |line: &str| check_in(folder.path(), line);
    let both = "--compile-commands build --file src/main.c --file src/two.c";
    assert_verdict(&check(both), 0);
    assert_verdict(&check("--compile-commands build src/main.c src/two.c"), 0);
    assert_verdict(&check("--compile-commands build src/other.c"), 10);
    // Two programs in one are refused.
    assert_verdict(&check("--compile-commands build"), 2);
    assert_refused(
        &check("--compile-commands src"),
        &["compile_commands.json", "U013"],
    );
    assert_refused(
        &check("--compile-commands build --file x.c"),
        &["x.c", "U013"],
    );
}

#[test]
fn a_program_has_the_arguments_asked_for() {
    let folder = folder();
    let source = "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n\
        int main(int argc, char **argv) {\n\
          if (argc < 3) return 0;\n\
          assert(argc == 3 && argv[argc] == 0);\n\
          assert(strcmp(argv[1], \"ab\") == 0);\n\
          assert(argv[2][0] != '7');\n\
        }\n";
    write(folder.path(), "x.c", source);
    let check = |arguments: &[&str]| {
        let mut command = mover();
        run(command
            .current_dir(folder.path())
            .arg("check")
            .arg("x.c")
            .args(arguments))
    };
    let without = check(&[]);
    assert_verdict(&without, 0);
    assert!(
        without.stdout.contains("without arguments"),
        "{}",
        without.stdout
    );
    let with = check(&["--args", "ab 6"]);
    assert_verdict(&with, 0);
    assert!(
        !with.stdout.contains("without arguments"),
        "{}",
        with.stdout
    );
    assert_verdict(&check(&["--args", "ab 7"]), 10);
}

#[test]
fn a_run_can_begin_with_any_function_without_parameters() {
    let folder = folder();
    let source = "#include <assert.h>\nstatic int x;\n\
        void test(void) { x++; assert(x == 2); }\n\
        void with(int y) { assert(y); }\n\
        int main(void) { return 0; }\n";
    write(folder.path(), "x.c", source);
    assert_verdict(&check_in(folder.path(), "x.c"), 0);
    let ended = check_in(folder.path(), "x.c --entry test");
    assert_verdict(&ended, 10);
    assert!(last_line(&ended).contains("x.c:3"), "{}", ended.stdout);
    assert_refused(
        &check_in(folder.path(), "x.c --entry nobody"),
        &["nobody", "C013"],
    );
    assert_refused(
        &check_in(folder.path(), "x.c --entry with"),
        &["parameters", "C013"],
    );
}

#[test]
fn properties_are_added_and_misspelt_ones_recognised() {
    let folder = folder();
    let source = "int main(void) { int x = 2147483647; x = x + 1; return *(int *)0; }\n";
    write(folder.path(), "x.c", source);
    let asked = |options: &str| {
        let ended = check_in(
            folder.path(),
            &format!("--json --keep-going --reduce none {options} x.c"),
        );
        assert_verdict(&ended, 10);
        ended.json()
    };
    let violated = |options: &str| asked(options)["property"].as_str().map(String::from);
    assert_eq!(
        violated("--property no-overflow").as_deref(),
        Some("no-overflow")
    );
    assert_eq!(
        violated("--property memory-safety").as_deref(),
        Some("memory-safety")
    );
    let count = |options: &str| {
        let answer = asked(options);
        answer["property"]
            .is_string()
            .then(|| answer["properties"].as_array().map(Vec::len))
    };
    assert_eq!(count("--property all"), Some(Some(7)));
    let usual = count("").flatten().expect("a list");
    assert_eq!(count("--property +no-overflow"), Some(Some(usual + 1)));
    assert_eq!(count("--property memory-safety,no-overflow"), Some(Some(2)));
    let misspelt = check_in(folder.path(), "--property no-datarace x.c");
    assert_eq!(misspelt.code, Some(1));
    assert!(
        misspelt.stderr.contains("no-data-race"),
        "{}",
        misspelt.stderr
    );
}

#[test]
fn limits_have_units() {
    let folder = folder();
    write(folder.path(), "x.c", "int main(void) { return 0; }\n");
    assert_verdict(&check_in(folder.path(), "--timeout 2m --memory 2G x.c"), 0);
    for wrong in ["--timeout 2x", "--memory much"] {
        assert_eq!(
            check_in(folder.path(), &format!("{wrong} x.c")).code,
            Some(1)
        );
    }
}

#[test]
fn files_of_other_languages_are_refused_by_name() {
    let folder = folder();
    let words = [
        ("x.hpp", "header"),
        ("x.h", "header"),
        ("README.md", "no known type"),
        ("x.tm", "mover tm check"),
        ("x.o", "compiled code"),
    ];
    for (name, word) in words {
        write(folder.path(), name, "active proctype P() { skip }\n");
        assert_refused(&check_in(folder.path(), name), &[name, word, "U008"]);
    }
    assert_refused(&check_in(folder.path(), "."), &["directory", "U008"]);
    write(folder.path(), "model", "active proctype P() { skip }\n");
    assert_verdict(&check_in(folder.path(), "model"), 0);
}

#[test]
fn errors_of_all_files_are_told_in_one_run() {
    let folder = folder();
    write(folder.path(), "a.c", "int main(void) {\n return one; }\n");
    write(folder.path(), "b.c", "int f(void) {\n\n return two; }\n");
    let ended = check_in(folder.path(), "a.c b.c");
    assert_refused(&ended, &["a.c:2:", "one", "b.c:3:", "two"]);
}

#[test]
fn every_unsupported_function_that_a_run_reaches_is_told_in_one_run() {
    let folder = folder();
    let source = "int one(int), two(int), never(int), __VERIFIER_nondet_int(void);\n\
        int g(void) {\n  return two(2);\n}\n\
        int main(void) {\n  if (__VERIFIER_nondet_int())\n    return one(1);\n\
          if (0)\n    return never(3);\n  return g();\n}\n";
    write(folder.path(), "x.c", source);
    let ended = check_in(folder.path(), "x.c");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for word in ["`one`", "x.c:7:", "`two`", "x.c:3:"] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("`never`"), "{}", ended.stderr);
    let last = ended.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with("unknown: "), "{last}");
}

#[test]
fn without_clang_there_is_a_sentence() {
    let folder = folder();
    write(folder.path(), "x.c", "int main(void) { return 0; }\n");
    let mut command = mover();
    command
        .env("PATH", folder.path())
        .current_dir(folder.path());
    let ended = run(command.args(["check", "x.c"]));
    assert_refused(
        &ended,
        &[
            "clang, which was not found; install the package clang-19\n",
            "C003",
        ],
    );
    assert!(
        !ended.stderr.contains("does not compile"),
        "{}",
        ended.stderr
    );
}

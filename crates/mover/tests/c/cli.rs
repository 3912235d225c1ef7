//! The command line on C programs: options, and input that cannot be read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::own_files::{check, file, refused};

#[test]
fn a_missing_file_is_named() {
    let ended = check(&[], &[PathBuf::from("not-there.c")]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("not-there.c"), "{}", ended.stderr);
}

#[test]
fn broken_bitcode_is_refused() {
    refused("llvm", "b.bc", "BC\u{1}\u{2}rubbish", &["b.bc", "LLVM 19"]);
}

/// LLVM may crash on such a file; mover does not.
#[test]
fn bitcode_with_flipped_bits_is_read_or_refused() {
    let text = "int x;\nint main(void) { for (int i = 0; i < 3; i++) x += i; return x - 3; }\n";
    let source = file("flipped", "whole.c", text);
    let whole = source.with_extension("bc");
    let compiled = std::process::Command::new("clang-19")
        .args(["-O0", "-g", "-emit-llvm", "-c", "-o"])
        .arg(&whole)
        .arg(&source)
        .status()
        .expect("clang can be started");
    assert!(compiled.success());
    let bits = std::fs::read(&whole).expect("bitcode");
    let mut random = mover_fuzz::random::Random(0x5EED);
    let mut refused = 0;
    for number in 0..40 {
        let mut flipped = bits.clone();
        let bit = random.below(8 * bits.len() as u64) as usize;
        flipped[bit / 8] ^= 1 << (bit % 8);
        let path = whole.with_file_name(format!("{number}.bc"));
        std::fs::write(&path, flipped).expect("written");
        let ended = check(&["--timeout", "10"], &[path]);
        let is_answer = matches!(ended.code, Some(0 | 2 | 5 | 10));
        assert!(is_answer, "bit {bit}: {:?} {}", ended.code, ended.stderr);
        refused += usize::from(ended.code == Some(2));
    }
    assert!(refused > 0, "no file was damaged");
}

#[test]
fn a_large_preprocessed_file_is_read_in_seconds() {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < 5 << 20 {
        text +=
            &format!("static int unused_{number}(int a, int b) {{ return a * {number} + b; }}\n");
        number += 1;
    }
    text += "int g;\nint main(void) { g = 1; return 0; }\n";
    let path = file("large", "large.i", &text);
    let started = Instant::now();
    let ended = check(&[], &[path]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn several_files_are_one_program() {
    let a = file(
        "several",
        "a.c",
        "#include <assert.h>\nextern int shared;\nint twice(int);\nint main(void) { shared = twice(N); assert(shared == 8); }\n",
    );
    let b = file(
        "several",
        "b.c",
        "int shared;\nint twice(int x) { return 2 * x; }\n",
    );
    assert_eq!(check(&["-DN=4"], &[a.clone(), b.clone()]).code, Some(0));
    assert_eq!(check(&["-DN=5"], &[a, b]).code, Some(10));
}

#[test]
fn property_files_of_the_competition_are_understood() {
    let source =
        "#include <limits.h>\nint x = INT_MAX;\nint main(void) { x++; int *p = 0; return *p; }\n";
    let program = file("properties", "a.c", source);
    let overflow = file(
        "properties",
        "overflow.prp",
        "CHECK( init(main()), LTL(G ! overflow) )\n",
    );
    let asked = format!("--property-file={}", overflow.display());
    let answer = check(&["--json", &asked], std::slice::from_ref(&program)).json();
    assert_eq!(answer["property"], "no-overflow");
    // A wrong memory access ends the run whatever is asked. If it was not asked for, it is no
    // violation, but the answer is open and tells it.
    let answer = check(
        &["--json", "--property", "unreach-call"],
        std::slice::from_ref(&program),
    )
    .json();
    assert_eq!(answer["verdict"], "unknown");
    assert_eq!(answer["property"], "unreach-call");
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("(memory-safety)"), "{reason}");
    let other = file("properties", "x.prp", "CHECK( init(main()), LTL(F end) )\n");
    let ended = check(
        &[&format!("--property-file={}", other.display())],
        &[program],
    );
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("not checked"), "{}", ended.stderr);
}

#[test]
fn the_dump_shows_every_action_beside_its_line() {
    let source = "int x, y;\nint main(void) {\n  x = 1;\n  y = x + 2;\n}\n";
    // With one thread nothing is shared, and all is one action; so let there be two.
    let source = format!(
        "#include <pthread.h>\n{source}\nstatic void *other(void *arg) {{\n  x = 7;\n  y = 8;\n  return arg;\n}}\n"
    )
    .replace("  x = 1;", "  pthread_t t;\n  extern void *start(void *);\n  x = 1;");
    let source = source.replace(
        "  extern void *start(void *);\n",
        "  pthread_create(&t, 0, other, 0);\n",
    );
    let source = source.replace("int x, y;", "int x, y;\nstatic void *other(void *);");
    let path = file("dump", "a.c", &source);
    let ended = check(&["--dump", "ir"], &[path]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in [
        "x := 1",
        "x = 1;",
        "x := 7",
        "x = 7;",
        "spawn other(",
        "thread main",
    ] {
        assert!(
            ended.stdout.contains(line),
            "no `{line}` in {}",
            ended.stdout
        );
    }
}

/// Explicit search does not try all pairs of values before it leaves them to other engines.
#[test]
fn many_values_at_once_are_left_to_symbolic_engines() {
    let text = "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\n\
                int main(void) { int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), c = __VERIFIER_nondet_int();\n\
                assert(a + b + c != 123456789); }";
    let path = file("values", "three.c", text);
    let ended = check(&["--json", "--timeout", "60"], &[path]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
    assert_ne!(ended.json()["engine"], "explicit");
}

/// What is assumed is in the verdict also where nothing is known of the source.
#[test]
fn assumptions_are_told_without_a_source() {
    let source = file(
        "assumed",
        "bare.c",
        "int x = 1, y = 31; int main(void) { x = x << y; }",
    );
    let bare = source.with_extension("ll");
    let clang = std::process::Command::new("clang-19")
        .args([
            "-S",
            "-emit-llvm",
            "-O0",
            "-Xclang",
            "-disable-O0-optnone",
            "-o",
        ])
        .args([&bare, &source])
        .status();
    assert!(clang.is_ok_and(|status| status.success()));
    let ended = check(&["--property", "no-overflow"], &[bare]);
    assert!(
        ended
            .stdout
            .contains("left shifts are not checked for overflow"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_long_sum_is_read() {
    let sum = vec!["x"; 20_000].join(" + ");
    let path = file(
        "large",
        "sum.c",
        &format!("int x; int main(void) {{ return {sum}; }}"),
    );
    let ended = check(&[], &[path]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

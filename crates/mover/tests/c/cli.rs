//! The command line on C programs: options, and input that cannot be read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::own_files::{check, file, refused};

#[test]
fn what_does_not_compile_is_told_in_the_compilers_words() {
    refused(
        "compile",
        "a.c",
        "int main(void) {\n  return undeclared;\n}\n",
        &["a.c:2:10", "undeclared identifier"],
    );
    refused(
        "compile",
        "b.c",
        "#include <not_there.h>\n",
        &["'not_there.h' file not found"],
    );
}

#[test]
fn what_is_missing_is_named() {
    refused(
        "missing",
        "a.c",
        "int f(void) { return 0; }\n",
        &["no function `main`"],
    );
    refused(
        "missing",
        "b.c",
        "int f(int);\nint main(void) {\n  return f(1);\n}\n",
        &["`f` has no body", "b.c:3", "--havoc-externals"],
    );
    refused(
        "missing",
        "c.c",
        "extern int x;\nint main(void) { return x; }\n",
        &["`x` is declared but not defined", "c.c:2"],
    );
    let ended = check(&[], &[PathBuf::from("not-there.c")]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("not-there.c"), "{}", ended.stderr);
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    refused(
        "unsupported",
        "assembly.c",
        "int main(void) {\n  int x;\n  __asm__(\"mov $1, %0\" : \"=r\"(x));\n  return x;\n}\n",
        &["inline assembly", "assembly.c:3"],
    );
    refused(
        "unsupported",
        "jump.c",
        "#include <setjmp.h>\njmp_buf b;\nint main(void) {\n  return setjmp(b);\n}\n",
        &["setjmp", "jump.c:4"],
    );
    refused(
        "unsupported",
        "float.c",
        "double g;\nint main(void) {\n  return g * 2 > 1;\n}\n",
        &["floating-point", "float.c:3"],
    );
    refused(
        "unsupported",
        "wide.c",
        "__int128 g;\nint main(void) {\n  g = g * g;\n  return 0;\n}\n",
        &["not supported", "wide.c:3"],
    );
}

#[test]
fn constant_floating_point_is_fine() {
    let source = "#include <assert.h>\nstatic double g = 1.5;\nint main(void) {\n  double x = 2.0 * 3.0;\n  g = x;\n  int y = (int)(1.5 * 2);\n  assert(y == 3);\n}\n";
    let ended = check(&[], &[file("constant", "a.c", source)]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn broken_llvm_ir_is_refused() {
    refused("llvm", "a.ll", "nonsense\n", &["a.ll", "LLVM 19"]);
    refused("llvm", "b.bc", "BC\u{1}\u{2}rubbish", &["b.bc", "LLVM 19"]);
    refused("llvm", "c.ll", "", &["no function `main`"]);
    // The pointer types of LLVM 14 and before.
    refused(
        "llvm",
        "d.ll",
        "@x = global i32 0\ndefine i32 @main() {\n  %p = getelementptr i32, i32* @x, i64 0\n  ret i32 0\n}\n@y = global %opaque* null\n",
        &["d.ll", "LLVM 19"],
    );
}

#[test]
fn llvm_ir_is_read_as_text_and_as_bitcode() {
    let text = "@x = global i32 0\ndeclare void @reach_error()\ndefine i32 @main() {\n  store i32 5, ptr @x\n  %v = load i32, ptr @x\n  %c = icmp eq i32 %v, 5\n  br i1 %c, label %bad, label %good\nbad:\n  call void @reach_error()\n  unreachable\ngood:\n  ret i32 0\n}\n";
    let ended = check(&[], &[file("ir", "a.ll", text)]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("reach_error() is called"),
        "{}",
        ended.stdout
    );
}

/// Optimised code has such arguments where the callee does not read them.
#[test]
fn an_undefined_argument_is_an_error_only_where_it_must_be_defined() {
    for (kind, code) in [("i32", 0), ("i32 noundef", 10)] {
        let text = format!(
            "define i32 @f(i32 %unused) noinline {{\n  ret i32 0\n}}\n\
             define i32 @main() {{\n  %r = call i32 @f({kind} poison)\n  ret i32 %r\n}}\n"
        );
        let ended = check(&[], &[file("argument", "a.ll", &text)]);
        assert_eq!(ended.code, Some(code), "{kind}: {}", ended.stdout);
    }
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
fn functions_without_a_body_can_return_anything() {
    let source = "extern void reach_error(void);\n_Bool choose(void);\nint main(void) { if (choose()) reach_error(); }\n";
    let ended = check(
        &["--havoc-externals", "--json"],
        &[file("havoc", "a.c", source)],
    );
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let caveats = ended.json()["caveats"].to_string();
    assert!(caveats.contains("`choose` has no body"), "{caveats}");
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
    // Wrong memory accesses end the run whatever is asked.
    let answer = check(
        &["--json", "--property", "unreach-call"],
        std::slice::from_ref(&program),
    )
    .json();
    assert_eq!(answer["property"], "memory-safety");
    let other = file("properties", "x.prp", "CHECK( init(main()), LTL(F end) )\n");
    let ended = check(
        &[&format!("--property-file={}", other.display())],
        &[program],
    );
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("not checked"), "{}", ended.stderr);
}

#[test]
fn bounds_that_matter_make_the_verdict_unknown() {
    let source = "#include <pthread.h>\nstatic void *work(void *arg) { return arg; }\nint main(void) {\n  pthread_t t[5];\n  for (int i = 0; i < 5; i++) pthread_create(&t[i], NULL, work, NULL);\n  for (int i = 0; i < 5; i++) pthread_join(t[i], NULL);\n}\n";
    let path = file("bounds", "a.c", source);
    let ended = check(&["--threads", "3"], std::slice::from_ref(&path));
    assert_eq!(ended.code, Some(5), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("more than 3 threads"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("a larger --threads"),
        "{}",
        ended.stdout
    );
    assert_eq!(check(&["--threads", "5"], &[path]).code, Some(0));
}

/// The engines that are asked about bounds, each alone.
const ENGINES: [&str; 3] = ["explicit", "bmc", "ic3"];

#[test]
fn several_bounds_are_counted() {
    let source = "#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\n\
        static int down(int n) { return n == 0 ? 0 : down(n - 1); }\n\
        static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }\n\
        int main(void) { return __VERIFIER_nondet_int() % 2 ? 1 + down(9) : deep(9); }\n";
    let path = file("bounds", "several.c", source);
    for (recursion, code) in [("3", 5), ("12", 0)] {
        for engine in ["bmc", "ic3"] {
            let options = ["--recursion", recursion, "--engine", engine];
            let ended = check(&options, std::slice::from_ref(&path));
            assert_eq!(ended.code, Some(code), "{engine}: {}", ended.stdout);
            if code == 5 {
                let advice = "a larger --recursion";
                assert!(ended.stdout.contains(advice), "{}", ended.stdout);
                assert!(!ended.stdout.contains("--threads"), "{}", ended.stdout);
            }
        }
    }
    let options = ["--recursion", "3", "--engine", "bmc"];
    let ended = check(&options, &[path]);
    let words = "and one more bound is met; no violation in the runs that stay within these bounds";
    assert!(ended.stdout.contains(words), "{}", ended.stdout);
}

/// A thread that is about to meet a bound keeps nobody from seeing what it has done before.
#[test]
fn a_violation_wins_over_a_bound() {
    let source = "#include <assert.h>\n#include <pthread.h>\nint x;\n\
        static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }\n\
        static void *doomed(void *arg) { x = 1; deep(9); return arg; }\n\
        int main(void) { pthread_t t; pthread_create(&t, NULL, doomed, NULL); assert(x == 0); return 0; }\n";
    let path = file("bounds", "doomed.c", source);
    for engine in ENGINES {
        for reduce in ["none", "static", "dynamic"] {
            let options = ["--recursion", "3", "--engine", engine, "--reduce", reduce];
            let ended = check(&options, std::slice::from_ref(&path));
            assert_eq!(ended.code, Some(10), "{engine}, {reduce}: {}", ended.stdout);
        }
    }
}

/// Safe without a second search, and certified: no state of the definition meets a bound.
#[test]
fn bounds_that_are_not_met_do_not_matter() {
    let source = "#include <assert.h>\n#include <pthread.h>\nint x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }\n\
        static void *work(void *arg) { pthread_mutex_lock(&m); x += deep(2); pthread_mutex_unlock(&m); return arg; }\n\
        int main(void) { pthread_t t; pthread_create(&t, NULL, work, NULL); work(0); pthread_join(t, NULL); assert(x == 4); }\n";
    let path = file("bounds", "met.c", source);
    for engine in ENGINES {
        let met = check(
            &["--recursion", "2", "--engine", engine],
            std::slice::from_ref(&path),
        );
        assert_eq!(met.code, Some(5), "{engine}: {}", met.stdout);
        let words = "`deep` recurses more than 2 deep; no violation in the runs that stay within this bound";
        assert!(met.stdout.contains(words), "{engine}: {}", met.stdout);
        let safe = check(
            &["--recursion", "3", "--engine", engine, "--certify"],
            std::slice::from_ref(&path),
        );
        assert_eq!(safe.code, Some(0), "{engine}: {}", safe.stdout);
        let words = "of the definition, without reduction, met no violation";
        assert!(safe.stdout.contains(words), "{engine}: {}", safe.stdout);
    }
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

#[test]
fn destructors_are_refused_by_name() {
    let text = "#include <assert.h>\nint g; __attribute__((destructor)) void last(void) { assert(g == 0); }\n\
                int main(void) { g = 1; }";
    let ended = check(&[], &[file("destructors", "last.c", text)]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended
            .stderr
            .contains("`last` is registered to run at process exit")
    );
}

#[test]
fn what_is_assumed_is_in_the_verdict() {
    let wait = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        pthread_cond_t c = PTHREAD_COND_INITIALIZER; int go;\n\
        void *set(void *a) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, set, 0); pthread_mutex_lock(&m);\n\
        while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(t, 0); }";
    for (name, text, options, words) in [
        (
            "heap.c",
            "#include <stdlib.h>\nint main(void) { free(malloc(4)); }",
            &[][..],
            "allocations are assumed to succeed, each at a new address (first at ",
        ),
        (
            "made.c",
            "#include <pthread.h>\npthread_mutex_t m; int main(void) { return pthread_mutex_init(&m, 0) != 0; }",
            &[],
            "creating threads, locks and keys is assumed to succeed (first at ",
        ),
        (
            "print.c",
            "#include <stdio.h>\nchar s[4]; int main(void) { printf(\"%d %s\", 1, s); }",
            &[],
            "memory that is read only to be printed is not checked (first at ",
        ),
        (
            "number.c",
            "int x, y; int main(void) { return ((unsigned long)&x & 15) != 0; }",
            &[],
            "addresses are used as integers, and their values differ between machines (first at ",
        ),
        (
            "length.c",
            "int main(void) { volatile int n = 3; { char a[n]; a[n - 1] = 0; } return 0; }",
            &[],
            "variable-length arrays live until their thread exits (first at ",
        ),
        (
            "wait.c",
            wait,
            &[],
            "condition variables are assumed to have no spurious wakeups",
        ),
        (
            "shift.c",
            "int x = 1, y = 31; int main(void) { x = x << y; }",
            &["--property", "no-overflow"],
            "left shifts are not checked for overflow (first at ",
        ),
    ] {
        let path = file("assumed", name, text);
        let ended = check(options, &[path]);
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
        let verdict = ended.stdout.lines().last().unwrap_or_default();
        assert!(verdict.contains(words), "{name}: {verdict}");
    }
    // Also where nothing is known of the source.
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
    let path = file("assumed", "wakes.c", wait);
    let ended = check(&["--spurious-wakeups"], &[path]);
    assert!(
        !ended.stdout.contains("spurious wakeups"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_is_too_large_or_deep_is_no_reason_to_fall_over() {
    for size in ["3000000", "2000000000"] {
        let text =
            format!("char x[{size}];\nint main(int n, char **v) {{ x[n] = 1; return x[0]; }}");
        let path = file("large", &format!("array{size}.c"), &text);
        let ended = check(&[], &[path]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("more than is supported"),
            "{}",
            ended.stderr
        );
    }
    let sum = vec!["x"; 20_000].join(" + ");
    let path = file(
        "large",
        "sum.c",
        &format!("int x; int main(void) {{ return {sum}; }}"),
    );
    let ended = check(&[], &[path]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

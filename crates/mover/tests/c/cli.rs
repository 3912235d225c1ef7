//! The command line on C programs: options, and input that cannot be read.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::{Ended, mover, run};

/// A file with this text in a directory of the test's own.
fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("c_cli")
        .join(test);
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn check(options: &[&str], files: &[PathBuf]) -> Ended {
    run(mover().arg("check").args(options).args(files))
}

/// Checks that a program is refused with these words, and without a panic.
#[track_caller]
fn refused(test: &str, name: &str, text: &str, words: &[&str]) {
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
fn pointers_have_32_bits_if_asked() {
    let source = "extern void reach_error(void);\nlong wide;\nint main(void) { wide = 1L << 31; if (wide < 0 && sizeof(void *) == 4) reach_error(); }\n";
    let path = file("bits", "a.c", source);
    assert_eq!(check(&["--32"], std::slice::from_ref(&path)).code, Some(10));
    assert_eq!(check(&["--64"], &[path]).code, Some(0));
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
fn waits_may_end_without_a_signal_if_asked() {
    let source = "#include <assert.h>\n#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int ready;\nstatic void *set(void *arg) {\n  pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n  return arg;\n}\nint main(void) {\n  pthread_t t;\n  pthread_mutex_lock(&m);\n  pthread_create(&t, NULL, set, NULL);\n  pthread_cond_wait(&c, &m);\n  assert(ready);\n  pthread_mutex_unlock(&m);\n  pthread_join(t, NULL);\n}\n";
    let path = file("spurious", "a.c", source);
    assert_eq!(check(&[], std::slice::from_ref(&path)).code, Some(0));
    assert_eq!(check(&["--spurious-wakeups"], &[path]).code, Some(10));
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
    assert_eq!(check(&["--threads", "5"], &[path]).code, Some(0));
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

#[test]
fn locals_that_may_be_read_before_they_are_written_are_named_in_the_verdict() {
    let caveat = "not initialised is taken to be zero";
    let said_of = |name: &str, text: &str| {
        let ended = check(&[], &[file("unwritten", name, text)]);
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
        ended.stdout
    };
    let begin = "#include <assert.h>\n#include <pthread.h>\n_Bool __VERIFIER_nondet_bool(void);\n";
    let escapes = "void *f(void *p) { assert(*(int *)p == 0); return 0; }\n\
         int main(void) { int x; pthread_t t; pthread_create(&t, 0, f, &x); pthread_join(t, 0); }\n";
    let array =
        "int main(void) { int a[4]; a[0] = 1; assert(a[1 + __VERIFIER_nondet_bool()] == 0); }\n";
    let one_way = "int main(void) { struct { int x, y; } s; s.x = 1;\n\
         if (__VERIFIER_nondet_bool()) s.y = 0; int *p = __VERIFIER_nondet_bool() ? &s.x : &s.y; assert(*p < 2); }\n";
    for (name, text, variable) in [
        ("escapes.c", escapes, "(first `x`)"),
        ("array.c", array, "(first `a`)"),
        ("one_way.c", one_way, "(first `s`)"),
    ] {
        let said = said_of(name, &format!("{begin}{text}"));
        assert!(said.contains(caveat) && said.contains(variable), "{said}");
    }
    let written = "void *f(void *p) { assert(*(int *)p == 1); return 0; }\n\
         int main(void) { int x = 1; pthread_t t[2]; int a[2]; a[1] = 0; a[0] = 0;\n\
         for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &x);\n\
         for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n\
         assert(a[__VERIFIER_nondet_bool()] == 0); }\n";
    let copied = "struct pair { int x; char c; long y; } g;\n\
         void *f(void *p) { struct pair *q = p; assert(q->x == 0); return 0; }\n\
         int main(void) { struct pair s = g; pthread_t t; pthread_create(&t, 0, f, &s); pthread_join(t, 0); }\n";
    let heap = "#include <stdlib.h>\nstruct node { int v; struct node *next; } *top;\n\
         int main(void) { struct node *n = malloc(sizeof *n); if (!n) return 1;\n\
         n->v = 1; n->next = 0; top = n; int *z = calloc(2, 4); assert(z[1] == 0); free(z); free(n); }\n";
    for (name, text) in [
        ("written.c", written),
        ("copied.c", copied),
        ("heap.c", heap),
    ] {
        let said = said_of(name, &format!("{begin}{text}"));
        assert!(!said.contains(caveat), "{said}");
    }
    let too_early = "#include <stdlib.h>\nstruct node { int v; int w; } *top;\n\
         int main(void) { struct node *n = malloc(sizeof *n); n->v = 1; top = n; assert(top->w == 0); free(n); }\n";
    let said = said_of("too_early.c", &format!("{begin}{too_early}"));
    assert!(said.contains(caveat), "{said}");
}

/// A pointer to the first of several fields or rows reaches all of the variable.
#[test]
fn pointers_may_walk_over_a_whole_variable() {
    let text = "#include <assert.h>\nint m[3][4]; struct { char tag[3]; int v; } s;\n\
         static int sum(int *p, int n) { int t = 0; for (int i = 0; i < n; i++) t += p[i]; return t; }\n\
         int main(void) {\n\
         for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * j;\n\
         assert(sum(&m[0][0], 12) == 18);\n\
         s.v = 1; unsigned char *q = (unsigned char *)&s; int z = 0;\n\
         for (unsigned i = 0; i < sizeof s; i++) z += q[i];\n\
         assert(z == 1); return 0; }\n";
    let ended = check(&[], &[file("walk", "walk.c", text)]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

/// What the standard leaves open or forbids, each with what it must be called.
const UNDEFINED: &[(&str, &str, &str)] = &[
    (
        "weak.c",
        "#include <assert.h>\n#include <stdatomic.h>\natomic_int x;\n\
         int main(void) { int e = 0; assert(atomic_compare_exchange_weak(&x, &e, 1)); }",
        "unreach-call",
    ),
    (
        "literal.c",
        "int main(void) { char *p = \"abc\"; p[0] = 1; }",
        "memory-safety",
    ),
    (
        "constant.c",
        "const int k = 1; int main(void) { *(int *)&k = 2; }",
        "memory-safety",
    ),
    (
        "some_constant.c",
        "int z = 1; static void set(char *p) { p[0] = 1; }\n\
         int main(void) { char own[2]; char *p = z ? \"abc\" : own; set(p); }",
        "memory-safety",
    ),
    (
        "block.c",
        "int main(void) { int *p; { int l = 1; p = &l; } *p = 2; }",
        "memory-safety",
    ),
    (
        "inner_block.c",
        "int main(void) { { int *p; { int l = 1; p = &l; } *p = 2; } }",
        "memory-safety",
    ),
    (
        "chosen.c",
        "int z; int main(void) { int *p, q; { int l = 1; p = z ? &q : &l; } *p = 2; }",
        "memory-safety",
    ),
    (
        "part.c",
        "struct s { int a; int *p; };\n\
         int main(void) { struct s s; { int l[2]; l[0] = 1; s.p = &l[1]; } *s.p = 2; }",
        "memory-safety",
    ),
    (
        "thread.c",
        "#include <pthread.h>\nvoid *set(void *a) { *(int *)a = 5; return 0; }\n\
         int main(void) { pthread_t t; { int l = 1; pthread_create(&t, 0, set, &l); } pthread_join(t, 0); }",
        "memory-safety",
    ),
    (
        "behind_the_end.c",
        "int main(void) { int a[2]; a[2] = 5; return 0; }",
        "memory-safety",
    ),
    (
        "behind_the_end_of_an_argument.c",
        "static int get(int *p) { return p[3]; } int main(void) { int a[3] = {0}; return get(a); }",
        "memory-safety",
    ),
    (
        "too_wide.c",
        "int main(void) { int x = 1; return *(long *)&x != 0; }",
        "memory-safety",
    ),
    (
        "returned.c",
        "static int *get(void) { int x = 1; int *p = &x; return p; } int main(void) { return *get(); }",
        "memory-safety",
    ),
    (
        "kept.c",
        "static void set(int **q) { int x = 1; *q = &x; } int main(void) { int *q; set(&q); *q = 4; return 0; }",
        "memory-safety",
    ),
    (
        "returned_through_a_pointer.c",
        "static int *get(void) { int x = 1; int *p = &x; return p; } int *(*volatile f)(void) = get;\n\
         int main(void) { return *f(); }",
        "memory-safety",
    ),
    (
        "far_away.c",
        "#include <stdlib.h>\nint main(void) { int *a = malloc(8), *b = malloc(8); b[0] = 3; volatile long i = 1L << 30;\n\
         int v = a[i]; free(a); free(b); return v; }",
        "memory-safety",
    ),
    (
        "main_is_gone.c",
        "#include <pthread.h>\npthread_t of_main; void *t(void *p) { pthread_join(of_main, 0); *(int *)p = 2; return 0; }\n\
         int main(void) { int z = 0; pthread_t p; of_main = pthread_self(); pthread_create(&p, 0, t, &z); pthread_exit(0); }",
        "memory-safety",
    ),
    (
        "far_away_kept.c",
        "int a[2], b[2], *q; int main(void) { volatile long i = 1L << 30; q = &b[0]; *q = 1; q = &a[0]; *q = 2;\n\
         q = &b[i]; *q = 1; }",
        "memory-safety",
    ),
    (
        "set_on_one_way.c",
        "#include <assert.h>\nextern _Bool __VERIFIER_nondet_bool(void);\n\
         int main(void) { int x; if (__VERIFIER_nondet_bool()) x = 1; assert(x == 1); }",
        "unreach-call",
    ),
    (
        "constant_division.c",
        "int main(void) { int x = 1 / 0; return x; }",
        "unreach-call",
    ),
    (
        "constant_shift.c",
        "int x; int main(void) { x = 1 << 40; return 0; }",
        "unreach-call",
    ),
];

#[test]
fn what_is_undefined_is_found_by_every_engine() {
    for (name, text, property) in UNDEFINED {
        let path = file("undefined", name, text);
        for engine in ["explicit", "bmc", "ic3"] {
            let ended = check(&["--json", "--engine", engine], std::slice::from_ref(&path));
            assert_eq!(ended.code, Some(10), "{name}, {engine}: {}", ended.stderr);
            assert_eq!(ended.json()["property"], *property, "{name}, {engine}");
        }
    }
}

/// A thread that goes wrong after the last step of another and before the end of the process.
const LAST_MOMENTS: &[(&str, &str)] = &[
    (
        "return.c",
        "void *t(void *a) { assert(0); return 0; }\n\
         int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); return 0; }",
    ),
    (
        "exit.c",
        "int data, ready; void *t(void *a) { if (ready) assert(data != 42); return 0; }\n\
         int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); data = 42; ready = 1; exit(0); }",
    ),
    (
        "unlock.c",
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         void *t(void *a) { pthread_mutex_lock(&m); assert(0); return 0; }\n\
         int main(void) { pthread_t p; pthread_mutex_lock(&m); pthread_create(&p, 0, t, 0);\n\
         pthread_mutex_unlock(&m); return 0; }",
    ),
    (
        "assumed.c",
        "int x; extern void __VERIFIER_assume(int); void *t(void *a) { assert(x == 0); return 0; }\n\
         int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); x = 1; __VERIFIER_assume(0); }",
    ),
    (
        "other_error.c",
        "int *g; void *t(void *a) { *g = 1; return 0; }\n\
         int main(void) { pthread_t p; g = malloc(4); pthread_create(&p, 0, t, 0); free(g); return 0; }",
    ),
];

#[test]
fn others_may_move_before_the_process_ends() {
    let heads = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n";
    for (name, text) in LAST_MOMENTS {
        let path = file("last_moments", name, &format!("{heads}{text}"));
        let ways = [
            ("explicit", "none"),
            ("explicit", "static"),
            ("explicit", "phase"),
            ("explicit", "dynamic"),
            ("bmc", "none"),
            ("bmc", "dynamic"),
            ("ic3", "none"),
            ("ic3", "dynamic"),
            ("token", "none"),
        ];
        for (engine, reduction) in ways {
            let options = ["--engine", engine, "--reduce", reduction];
            let ended = check(&options, std::slice::from_ref(&path));
            let said = ended.stdout + &ended.stderr;
            if !said.contains("does not take dynamic objects") {
                assert_eq!(
                    ended.code,
                    Some(10),
                    "{name}, {engine}, {reduction}: {said}"
                );
            }
        }
    }
}

#[test]
fn every_byte_is_set_that_can_be_read() {
    for (name, text) in [
        (
            "union.c",
            "union { struct { char a; int b; } s; unsigned char c[8]; } u;\n\
             int main(void) { memset(&u, 0x11, sizeof u); for (int i = 0; i < 8; i++) assert(u.c[i] == 0x11); }",
        ),
        (
            "gap.c",
            "struct { char a; int b; } s;\n\
             int main(void) { memset(&s, 0x11, sizeof s); assert(((char *)&s)[1] == 0x11 && s.b == 0x11111111); }",
        ),
        (
            "between.c",
            "union u { struct { char a; int b; } s; unsigned char c[8]; } u; _Thread_local union u v;\n\
             void *t(void *x) { u.c[2] = 1; v.c[2] = 1; return 0; }\n\
             int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); pthread_join(p, 0);\n\
             v.s.b = 1; assert(v.c[2] == 0 && u.c[2] == 1); }",
        ),
        (
            "exchanged.c",
            "union { struct { char a; int b; } s; _Atomic unsigned char c[8]; } u;\n\
             int main(void) { u.s.b = 1; assert(atomic_fetch_add(&u.c[2], 3) == 0 && atomic_fetch_add(&u.c[2], 3) == 3); }",
        ),
    ] {
        let heads = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <string.h>\n";
        let path = file("bytes", name, &format!("{heads}{text}"));
        let ended = check(&[], &[path]);
        let said = ended.stdout + &ended.stderr;
        assert_eq!(ended.code, Some(0), "{name}: {said}");
    }
}

#[test]
fn functions_of_every_kind_are_called_through_pointers() {
    for (name, text) in [
        (
            "library.c",
            "void (*volatile give_back)(void *) = free; unsigned long (*volatile length)(const char *) = strlen;\n\
             int main(void) { char *p = malloc(4); p[0] = 'a'; p[1] = 0; assert(length(p) == 1); give_back(p); }",
        ),
        (
            "destructor.c",
            "pthread_key_t k; void *t(void *a) { pthread_setspecific(k, malloc(3)); return 0; }\n\
             int main(void) { pthread_t p; pthread_key_create(&k, free); pthread_create(&p, 0, t, 0); pthread_join(p, 0); }",
        ),
        (
            "variadic.c",
            "int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) s += va_arg(l, int); va_end(l); return s; }\n\
             int (*volatile f)(int, ...) = sum; int main(void) { assert(f(2, 3, 4) == 7); }",
        ),
        (
            "structure.c",
            "struct s { long a[4]; }; void set(struct s x) { x.a[0] = 1; } void (*volatile f)(struct s) = set;\n\
             int main(void) { struct s x = {{0}}; f(x); assert(x.a[0] == 0); }",
        ),
    ] {
        let heads = "#include <assert.h>\n#include <pthread.h>\n#include <stdarg.h>\n#include <stdlib.h>\n#include <string.h>\n";
        let path = file("pointers", name, &format!("{heads}{text}"));
        let cleanly = ["--property", "unreach-call", "--property", "memory-cleanup"];
        let ended = check(&cleanly, &[path]);
        let said = ended.stdout + &ended.stderr;
        assert_eq!(ended.code, Some(0), "{name}: {said}");
    }
}

/// A wait is given up before the mutex is taken again: what others tell meanwhile is not heard.
#[test]
fn waits_may_be_given_up_while_others_have_the_mutex() {
    for (name, result, wait) in [
        (
            "posix.c",
            "ETIMEDOUT",
            "pthread_cond_timedwait(&c, &m, &soon)",
        ),
        (
            "c11.c",
            "thrd_timedout",
            "cnd_timedwait((cnd_t *)&c, (mtx_t *)&m, &soon)",
        ),
    ] {
        let text = format!(
            "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <threads.h>\n#include <time.h>\n\
             pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;\n\
             void *set(void *a) {{ pthread_mutex_lock(&m); ready = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); return 0; }}\n\
             int main(void) {{ pthread_t t; struct timespec soon = {{0, 0}}; int e = 0; pthread_mutex_lock(&m);\n\
             pthread_create(&t, 0, set, 0); while (!ready && e == 0) e = {wait};\n\
             assert(!(e == {result} && ready)); pthread_mutex_unlock(&m); pthread_join(t, 0); }}"
        );
        let path = file("given-up", name, &text);
        for (engine, reduction) in [
            ("explicit", "none"),
            ("explicit", "dynamic"),
            ("bmc", "dynamic"),
            ("ic3", "none"),
            ("token", "none"),
        ] {
            let options = ["--engine", engine, "--reduce", reduction];
            let ended = check(&options, std::slice::from_ref(&path));
            let said = ended.stdout + &ended.stderr;
            assert_eq!(
                ended.code,
                Some(10),
                "{name}, {engine}, {reduction}: {said}"
            );
        }
    }
}

/// Waiting gives a recursive mutex back once, as the C library does.
#[test]
fn a_mutex_that_is_locked_twice_stays_locked_while_its_owner_waits() {
    let text = "#include <pthread.h>\npthread_mutex_t m; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;\n\
        void *set(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }\n\
        int main(void) { pthread_mutexattr_t k; pthread_mutexattr_init(&k);\n\
        pthread_mutexattr_settype(&k, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&m, &k);\n\
        pthread_t t; pthread_create(&t, 0, set, 0); for (int i = 0; i < TIMES; i++) pthread_mutex_lock(&m);\n\
        while (!ready) pthread_cond_wait(&c, &m);\n\
        for (int i = 0; i < TIMES; i++) pthread_mutex_unlock(&m); pthread_join(t, 0); }";
    let path = file("recursive", "recursive.c", text);
    for (times, code) in [("-DTIMES=1", 0), ("-DTIMES=2", 10)] {
        for (engine, reduction) in [
            ("explicit", "none"),
            ("explicit", "dynamic"),
            ("bmc", "none"),
        ] {
            let options = [times, "--engine", engine, "--reduce", reduction];
            let ended = check(&options, std::slice::from_ref(&path));
            let said = ended.stdout + &ended.stderr;
            assert_eq!(ended.code, Some(code), "{times}, {engine}: {said}");
        }
    }
}

/// What the C library does then is not what the translation would do.
#[test]
fn what_depends_on_owners_that_are_gone_or_not_there_is_left_open() {
    let leaves = "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n\
        void *f(void *a) { pthread_mutex_lock(&m); return 0; }\n\
        int main(void) { pthread_t t; for (int i = 0; i < 2; i++) { pthread_create(&t, 0, f, 0); pthread_join(t, 0); } }";
    let waits = "pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP; pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
        int main(void) { assert(pthread_cond_wait(&c, &m) != EPERM); }";
    for (name, text, property, words) in [
        (
            "leaves.c",
            leaves,
            "no-deadlock",
            "a thread ends with a lock in hand",
        ),
        (
            "waits.c",
            waits,
            "unreach-call",
            "a thread waits for a condition without holding the mutex",
        ),
    ] {
        let heads =
            "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n";
        let path = file("owners", name, &format!("{heads}{text}"));
        for engine in ["explicit", "bmc", "ic3", "token"] {
            let options = ["--engine", engine, "--property", property];
            let ended = check(&options, std::slice::from_ref(&path));
            assert_eq!(ended.code, Some(5), "{name}, {engine}: {}", ended.stdout);
            assert!(ended.stdout.contains(words), "{name}: {}", ended.stdout);
        }
    }
}

#[test]
fn read_write_locks_may_be_given_up() {
    let text = "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <time.h>\n\
        pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER; int v;\n\
        void *t(void *a) { pthread_rwlock_wrlock(&w); v++; pthread_rwlock_unlock(&w); return 0; }\n\
        int main(void) { pthread_t p; struct timespec soon = {0, 0}; pthread_create(&p, 0, t, 0);\n\
        int reads = pthread_rwlock_timedrdlock(&w, &soon), writes = pthread_rwlock_timedwrlock(&w, &soon);\n\
        assert(CLAIM); if (reads == 0 || writes == 0) pthread_rwlock_unlock(&w); pthread_join(p, 0); }";
    for (claim, code) in [
        ("reads != 0 || writes == ETIMEDOUT", 0),
        ("reads == 0", 10),
        ("reads == ETIMEDOUT || writes == 0", 10),
        ("reads == 0 || writes == 0", 10),
    ] {
        let path = file("timed", "timed.c", &text.replace("CLAIM", claim));
        for engine in ["explicit", "bmc"] {
            let ended = check(&["--engine", engine], std::slice::from_ref(&path));
            let said = ended.stdout + &ended.stderr;
            assert_eq!(ended.code, Some(code), "{claim}, {engine}: {said}");
        }
    }
}

#[test]
fn calls_of_the_library_say_why_they_fail() {
    for (name, text) in [
        (
            "semaphore.c",
            "sem_t s; int main(void) { sem_init(&s, 0, 1); errno = 0; assert(sem_trywait(&s) == 0 && errno == 0);\n\
             assert(sem_trywait(&s) == -1 && errno == EAGAIN); }",
        ),
        (
            "barrier.c",
            "pthread_barrier_t b; int main(void) { assert(pthread_barrier_init(&b, 0, 0) == EINVAL);\n\
             assert(pthread_barrier_init(&b, 0, 1) == 0 && pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD); }",
        ),
        (
            "checked.c",
            "pthread_mutex_t m; int main(void) { pthread_mutexattr_t k; struct timespec soon = {0, 0};\n\
             pthread_mutexattr_init(&k); pthread_mutexattr_settype(&k, PTHREAD_MUTEX_ERRORCHECK); pthread_mutex_init(&m, &k);\n\
             assert(pthread_mutex_unlock(&m) == EPERM && pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK);\n\
             assert(pthread_mutex_trylock(&m) == EBUSY && pthread_mutex_timedlock(&m, &soon) == EDEADLK);\n\
             assert(pthread_mutex_unlock(&m) == 0); }",
        ),
    ] {
        let heads = "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <time.h>\n";
        let ended = check(&[], &[file("why", name, &format!("{heads}{text}"))]);
        let said = ended.stdout + &ended.stderr;
        assert_eq!(ended.code, Some(0), "{name}: {said}");
    }
}

/// An object that states have no room for is not one that the machine has no memory for.
#[test]
fn too_large_an_object_is_not_taken_for_none() {
    for size in ["1ul << 24", "__VERIFIER_nondet_uint()"] {
        let text = format!(
            "#include <stdlib.h>\nextern unsigned __VERIFIER_nondet_uint(void); void reach_error(void);\n\
             int main(void) {{ char *p = malloc({size}); if (!p) return 0; free(p); }}"
        );
        let path = file("large", "large.c", &text);
        for engine in ["bmc", "ic3"] {
            let ended = check(&["--engine", engine], std::slice::from_ref(&path));
            assert_eq!(ended.code, Some(5), "{size}, {engine}: {}", ended.stdout);
            let words = "more than 8388608 bytes are allocated at once";
            assert!(ended.stdout.contains(words), "{size}: {}", ended.stdout);
            assert!(ended.stdout.contains("smaller objects"), "{}", ended.stdout);
        }
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
            .contains("`last` is to run when the process ends")
    );
}

#[test]
fn variables_of_blocks_live_in_their_blocks() {
    for (name, text) in [
        (
            "loop.c",
            "#include <assert.h>\nstatic int get(int *p) { return *p; }\n\
             int main(void) { int s = 0; for (int i = 0; i < 3; i++) { int l = i; s += get(&l); } assert(s == 3); }",
        ),
        (
            "threads.c",
            "#include <assert.h>\n#include <pthread.h>\nvoid *set(void *a) { *(int *)a = 5; return 0; }\n\
             int main(void) { for (int i = 0; i < 2; i++) { int l = 1; pthread_t t;\n\
             pthread_create(&t, 0, set, &l); pthread_join(t, 0); assert(l == 5); } }",
        ),
        (
            "recursion.c",
            "#include <assert.h>\nstatic void fac(int n, int *out) {\n\
             if (n == 0) *out = 1; else { int part; fac(n - 1, &part); *out = n * part; } }\n\
             int main(void) { int r; fac(5, &r); assert(r == 120); }",
        ),
        (
            "weak_lock.c",
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int l; int n;\n\
             void *add(void *a) { int e = 0; while (!atomic_compare_exchange_weak(&l, &e, 1)) e = 0; n++; l = 0; return 0; }\n\
             int main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);\n\
             pthread_join(a, 0); pthread_join(b, 0); assert(n == 2); }",
        ),
    ] {
        let path = file("blocks", name, text);
        let ended = check(
            &[
                "--property",
                "memory-cleanup",
                "--property",
                "unreach-call",
                "--property",
                "memory-safety",
            ],
            &[path],
        );
        assert_eq!(
            ended.code,
            Some(0),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn overflows_of_every_kind_are_found() {
    for (name, text) in [
        (
            "divided.c",
            "int x = -2147483647 - 1, y = -1; int main(void) { x = x / y; }",
        ),
        (
            "rest.c",
            "int x = -2147483647 - 1, y = -1; int main(void) { x = x % y; }",
        ),
        (
            "absolute.c",
            "#include <stdlib.h>\nint x = -2147483647 - 1; int main(void) { x = abs(x); }",
        ),
    ] {
        let path = file("overflows", name, text);
        let ended = check(&["--json", "--property", "no-overflow"], &[path]);
        assert_eq!(ended.code, Some(10), "{name}: {}", ended.stderr);
    }
}

/// Nothing of the computation is left in LLVM IR, but the compiler has seen it.
#[test]
fn overflows_of_constants_are_told_by_the_compiler() {
    let text = "int main(void) { int x = 2147483647 + 1; return x; }";
    let path = file("overflows", "constant.c", text);
    let options = ["--property", "no-overflow"];
    let ended = check(&options, std::slice::from_ref(&path));
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("overflow in expression"),
        "{}",
        ended.stderr
    );
    assert_eq!(check(&[], &[path]).code, Some(0));
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
            "there is always memory to allocate, each time at a new address (first at ",
        ),
        (
            "made.c",
            "#include <pthread.h>\npthread_mutex_t m; int main(void) { return pthread_mutex_init(&m, 0) != 0; }",
            &[],
            "threads, locks and keys can always be made (first at ",
        ),
        (
            "print.c",
            "#include <stdio.h>\nchar s[4]; int main(void) { printf(\"%d %s\", 1, s); }",
            &[],
            "what is read to be printed is not looked at (first at ",
        ),
        (
            "number.c",
            "int x, y; int main(void) { return ((unsigned long)&x & 15) != 0; }",
            &[],
            "addresses are taken for numbers, which other machines number otherwise (first at ",
        ),
        (
            "length.c",
            "int main(void) { volatile int n = 3; { char a[n]; a[n - 1] = 0; } return 0; }",
            &[],
            "arrays of variable length last until their thread ends (first at ",
        ),
        (
            "wait.c",
            wait,
            &[],
            "waits for condition variables end only when they are told to",
        ),
        (
            "shift.c",
            "int x = 1, y = 31; int main(void) { x = x << y; }",
            &["--property", "no-overflow"],
            "left shifts are not looked at for overflow (first at ",
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
        ended.stdout.contains("left shifts are not looked at"),
        "{}",
        ended.stdout
    );
    let path = file("assumed", "wakes.c", wait);
    let ended = check(&["--spurious-wakeups"], &[path]);
    assert!(!ended.stdout.contains("told to"), "{}", ended.stdout);
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

/// Two threads that try a mutex, so that it is no lock as far as movers are concerned.
const TRIED: &str = "#include <assert.h>\n#include <pthread.h>\n\
    #define MOVER_EXCLUSIVE(variable, condition)\n\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\n\
    int x; CLAIM\n\
    void *run(void *arg) {\n\
      while (pthread_mutex_trylock(&m)) ;\n\
      x++; assert(x == 1); x--;\n\
      pthread_mutex_unlock(&m);\n\
      return 0;\n\
    }\n\
    int main(void) {\n\
      pthread_t a, b;\n\
      pthread_create(&a, 0, run, 0); pthread_create(&b, 0, run, 0);\n\
      pthread_join(a, 0); pthread_join(b, 0);\n\
      pthread_mutex_lock(&n); pthread_mutex_unlock(&n);\n\
    }\n";

#[test]
fn a_claim_of_exclusive_access_is_used() {
    let states = |name: &str, claim: &str| {
        let path = file("claims", name, &TRIED.replace("CLAIM", claim));
        let ended = check(&["--json", "--reduce", "phase"], &[path]);
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
        (
            ended.json()["states"].as_u64().expect("states"),
            ended.stderr,
        )
    };
    let (plain, _) = states("plain.c", "");
    for (name, claim) in [
        ("claim.c", "MOVER_EXCLUSIVE(x, m == self)"),
        ("turned.c", "MOVER_EXCLUSIVE(x, self == m)"),
    ] {
        let (claimed, said) = states(name, claim);
        assert_eq!(said, "");
        assert!(claimed < plain, "{claimed} of {plain}");
    }
    let (wrong, said) = states("wrong.c", "MOVER_EXCLUSIVE(x, n == self)");
    assert_eq!(wrong, plain);
    for words in ["`x` is also used where this does not hold", "wrong.c:5"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_claim_that_cannot_be_used_is_refused_with_its_line() {
    for (name, claim, words) in [
        (
            "lock.c",
            "MOVER_EXCLUSIVE(x, nothing == self)",
            "no global lock `nothing`",
        ),
        (
            "variable.c",
            "MOVER_EXCLUSIVE(nothing, m == self)",
            "no global variable `nothing`",
        ),
        (
            "form.c",
            "MOVER_EXCLUSIVE(x, m)",
            "no claim of exclusive access",
        ),
    ] {
        let text = TRIED.replace("CLAIM", claim);
        refused(
            "claims",
            name,
            &text,
            &[words, "C016", &format!("{name}:5")],
        );
    }
    // Whoever wants to may set the mutex free.
    let text = TRIED
        .replace("CLAIM", "MOVER_EXCLUSIVE(x, owner == self)\nint owner;")
        .replace("x--;", "x--; owner = 2;");
    let words = ["P040", "changed.c:5"];
    refused("claims", "changed.c", &text, &words);
}

#[test]
fn commit_point_completion_finds_errors_of_every_property() {
    let example = crate::common::repository().join("examples/c/double_free.c");
    for ignoring in ["blocks", "cpc", "cpc-no-l19", "cycle", "lfs"] {
        for property in [&["--property", "memory-safety"][..], &[]] {
            let options = ["--json", "--reduce", "static", "--ignoring", ignoring];
            let options = [&options[..], property].concat();
            let ended = check(&options, std::slice::from_ref(&example));
            assert_eq!(ended.code, Some(10), "{ignoring}: {}", ended.stderr);
            assert_eq!(ended.json()["property"], "memory-safety", "{ignoring}");
        }
    }
}

/// However a structure is read as a whole, another thread can change it between two fields: it
/// is copied, passed by value (as one integer or two, of any alignment), copied within the heap.
#[test]
fn structures_are_read_field_by_field() {
    let program = |kind: &str, read: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
             struct range {{ {kind} }};\nstatic struct range shared, *heap, *other;\n\
             static struct {{ long before; struct range in; }} outer;\n\
             static void check(struct range r) {{ assert(r.low >= r.high); }}\n\
             static void *move(void *arg) {{\n\
             shared.low = 1; shared.high = 1; heap->low = 1; heap->high = 1;\n\
             outer.in.low = 1; outer.in.high = 1; return arg; }}\n\
             int main(void) {{ pthread_t t; heap = calloc(1, sizeof *heap); other = calloc(1, sizeof *other);\n\
             pthread_create(&t, 0, move, 0); {read} pthread_join(t, 0); return 0; }}\n"
        )
    };
    let kinds = [
        "int low, high;",
        "int low, high; long more;",
        "_Alignas(8) int low; int high;",
        "short low, high, more;",
        "long low, high, more[3];",
    ];
    let reads = [
        "struct range copy = shared; assert(copy.low >= copy.high);",
        "check(shared);",
        "check(*heap);",
        "check(outer.in);",
        "*other = *heap; assert(other->low >= other->high);",
    ];
    for (number, kind) in kinds.iter().enumerate() {
        for (which, read) in reads.iter().enumerate() {
            let name = format!("fields-{number}-{which}.c");
            let ended = check(&[], &[file("fields", &name, &program(kind, read))]);
            assert_eq!(
                ended.code,
                Some(10),
                "{kind} {read}: {}{}",
                ended.stdout,
                ended.stderr
            );
        }
    }
}

/// Numbers of threads are used again, so a thread that leaves a lock behind is told of.
#[test]
fn a_thread_that_ends_with_a_lock_in_hand_is_told_of() {
    let program = |body: &str| {
        format!(
            "#include <pthread.h>\n\
             static pthread_mutex_t m[2], one;\n\
             static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n\
             static int x;\n\
             static void *body(void *arg) {{ int i = (int)(long)arg; {body} return 0; }}\n\
             int main(void) {{ pthread_t t;\n\
               for (long i = 0; i < 2; i++) {{\n\
                 pthread_create(&t, 0, body, (void *)i); pthread_join(t, 0); }}\n\
               return 0; }}\n"
        )
    };
    let caveat = "may end with a lock in hand";
    for (name, body, is_told) in [
        ("left_one", "pthread_mutex_lock(&one);", true),
        (
            "left_sometimes",
            "pthread_mutex_lock(&one); if (i == 0) return 0; pthread_mutex_unlock(&one);",
            true,
        ),
        (
            "left_second",
            "pthread_mutex_lock(&m[i]); pthread_mutex_lock(&one); pthread_mutex_unlock(&m[i]);",
            true,
        ),
        ("left_writing", "pthread_rwlock_wrlock(&rw);", true),
        (
            "given_back",
            "pthread_mutex_lock(&m[i]); pthread_mutex_lock(&m[1 - i]); x++;\n\
             pthread_mutex_unlock(&m[i]); pthread_mutex_unlock(&m[1 - i]);",
            false,
        ),
        (
            "tried",
            "if (pthread_mutex_trylock(&one) == 0) { x++; pthread_mutex_unlock(&one); }",
            false,
        ),
        (
            "read_or_written",
            "if (i) pthread_rwlock_rdlock(&rw); else pthread_rwlock_wrlock(&rw);\n\
             pthread_rwlock_unlock(&rw);",
            false,
        ),
    ] {
        let path = file("left_locked", &format!("{name}.c"), &program(body));
        let ended = check(&["--dump", "ir"], &[path]);
        let is_found = ended.stdout.contains(caveat);
        assert_eq!(
            is_found, is_told,
            "{name}: {}{}",
            ended.stdout, ended.stderr
        );
    }
}

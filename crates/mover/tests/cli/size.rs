//! Programs that are too large end near the limits, with a reason.
//!
//! Nothing here is timed: a run that does not end is seen by whoever runs the tests.

use std::path::{Path, PathBuf};

use crate::common::{Ended, mover, run};
use crate::last_line;

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn check(name: &str, text: &str, options: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("a directory");
    let path = write(folder.path(), name, text);
    run(mover().arg("check").args(options).arg(path))
}

/// Functions that each call the one before twice.
fn doubling(count: usize) -> String {
    let mut source = "int f0(int x) { return x + 1; }\n".to_string();
    for number in 1..count {
        let before = number - 1;
        source += &format!("int f{number}(int x) {{ return f{before}(x) + f{before}(x + 1); }}\n");
    }
    source + &format!("int main(void) {{ return f{}(1); }}\n", count - 1)
}

#[test]
fn call_trees_that_double_are_cut_early() {
    let ended = check("x.c", &doubling(26), &[]);
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("C014"), "{}", ended.stderr);
    // Without the cut this takes several gigabytes.
    let small = check(
        "x.c",
        &doubling(26),
        &["--memory", "1000", "--timeout", "10m"],
    );
    assert_eq!(small.code, Some(2), "{}{}", small.stdout, small.stderr);
    let ended = check("x.c", &doubling(8), &[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn variables_larger_than_any_memory_are_refused() {
    let programs = [
        (
            "a.c",
            "char a[0x0fffffffffffffffL];\nint main(void) { a[3] = 1; return a[3]; }\n",
        ),
        (
            "b.c",
            "int main(void) { char *p = __builtin_alloca(-1); p[0] = 1; return p[0]; }\n",
        ),
        (
            "c.ll",
            "@a = global [9223372036854775807 x i8] zeroinitializer\n\
             define i32 @main() {\n  store i8 1, ptr @a\n  ret i32 0\n}\n",
        ),
    ];
    for (name, text) in programs {
        let ended = check(name, text, &[]);
        assert_eq!(
            ended.code,
            Some(2),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(
            ended.stderr.contains("more than 256 MB"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn reading_is_within_the_limits() {
    // Neither is finished within a limit of nothing.
    let source = "int main(void) { return 0; }\n";
    let time = check("x.c", source, &["--timeout", "0"]);
    assert_eq!(time.code, Some(5), "{}{}", time.stdout, time.stderr);
    assert!(last_line(&time).starts_with("unknown: the time limit was reached"));
    let memory = check("x.c", source, &["--memory", "1"]);
    assert_eq!(memory.code, Some(5), "{}{}", memory.stdout, memory.stderr);
    assert!(last_line(&memory).starts_with("unknown: the memory limit was reached"));
    let json = check("x.c", source, &["--memory", "1", "--json"]);
    assert_eq!(json.json()["verdict"], "unknown");
}

/// A pool of threads: the worker calls functions of its own type through a pointer.
const POOL: &str = "#include <pthread.h>\n\
    struct job { void *(*run)(void *); void *argument; } jobs[2];\n\
    int done;\n\
    void *task(void *argument) { done += *(int *)argument; return 0; }\n\
    void *worker(void *unused) {\n\
      for (int i = 0; i < 2; i++) jobs[i].run(jobs[i].argument);\n\
      return 0;\n\
    }\n\
    int main(void) {\n\
      static int one = 1;\n\
      for (int i = 0; i < 2; i++) jobs[i] = (struct job){task, &one};\n\
      pthread_t t;\n\
      pthread_create(&t, 0, worker, 0);\n\
      pthread_join(t, 0);\n\
      return done - 2;\n\
    }\n";

#[test]
fn a_function_that_only_starts_threads_is_no_callback() {
    let ended = check("x.c", POOL, &["--dump", "ir"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("recurses"), "{}", ended.stdout);
    // Where its address is in a variable, it is one.
    let stored = POOL.replace(
        "int done;",
        "int done;\nvoid *worker(void *);\nvoid *(*volatile w)(void *);",
    );
    let stored = stored.replace("pthread_t t;", "pthread_t t; w = worker;");
    let ended = check("x.c", &stored, &["--dump", "ir"]);
    assert!(ended.stdout.contains("recurses"), "{}", ended.stdout);
    let ended = check("x.c", POOL, &[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn recursion_is_followed_less_deep_where_the_program_would_be_too_large() {
    // Sixteen levels of two calls each are 65,536 copies.
    let source = "#include <assert.h>\n\
        int count;\n\
        void visit(int depth) {\n\
          count++; count--; count++; count--; count++; count--; count++;\n\
          if (depth > 0) { visit(depth - 1); visit(depth - 1); }\n\
        }\n\
        int main(void) { visit(1); assert(count == 3); }\n";
    let ended = check("x.c", source, &[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let failing = source.replace("count == 3", "count != 3");
    let ended = check("x.c", &failing, &[]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_table_of_many_functions_is_one_selection() {
    // As a chain of comparisons its size would be the square of this number.
    let count = 1000;
    let functions: String = (0..count)
        .map(|number| format!("void f{number}(void) {{ x += {number}; }}\n"))
        .collect();
    let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
    let source = format!(
        "#include <assert.h>\n\
         int x;\n{functions}\
         void (*table[])(void) = {{{}}};\n\
         unsigned __VERIFIER_nondet_uint(void);\n\
         void __VERIFIER_assume(int);\n\
         int main(void) {{\n\
           unsigned i = __VERIFIER_nondet_uint();\n\
           __VERIFIER_assume(i < {count});\n\
           table[i]();\n\
           assert(x == (int)i);\n\
         }}\n",
        names.join(", ")
    );
    let ended = check("x.c", &source, &["--timeout", "60s"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

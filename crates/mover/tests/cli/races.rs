//! `--property no-data-race`: what is a race, what is none, by every engine.

use serde_json::Value;

use super::{check, scratch};

/// A program with two threads besides `main`.
fn program(name: &str, one: &str, two: &str, main: &str) -> std::path::PathBuf {
    let text = format!(
        "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
         void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         int x, a[2], *p = &x; atomic_int flag; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;\n\
         pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER; sem_t q;\n\
         void *one(void *arg) {{ int l = 0; {one} return (void *)(long)l; }}\n\
         void *two(void *arg) {{ int l = 0; {two} return (void *)(long)l; }}\n\
         int main(void) {{\n  pthread_t s, t;\n  {main}\n  return 0;\n}}\n"
    );
    let path = scratch(&format!("race-{name}.c"));
    std::fs::write(&path, text).expect("a file");
    path
}

const BOTH: &str = "pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0); \
                    pthread_join(s, 0); pthread_join(t, 0);";

const ENGINES: [&[&str]; 5] = [
    &["--engine", "explicit", "--reduce", "none"],
    &["--engine", "explicit", "--reduce", "dynamic"],
    &["--engine", "token", "--pairs", "all"],
    &["--engine", "token", "--pairs", "mat"],
    &["--engine", "token", "--pairs", "lex"],
];

#[test]
fn races_are_found_and_what_is_ordered_is_none() {
    for (name, one, two, main, is_race) in [
        ("writes", "x = 1;", "x = 1;", BOTH, true),
        ("reads", "l = x;", "l = x;", BOTH, false),
        ("read-write", "l = x;", "x = 2;", BOTH, true),
        (
            "locked",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
            BOTH,
            false,
        ),
        (
            "half-locked",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
            "l = x;",
            BOTH,
            true,
        ),
        ("atomic", "flag++;", "flag = 1;", BOTH, false),
        ("half-atomic", "flag = 1;", "*(int *)&flag = 2;", BOTH, true),
        (
            "published",
            "x = 1; flag = 1;",
            "if (flag) l = x;",
            BOTH,
            false,
        ),
        (
            "published-too-early",
            "flag = 1; x = 1;",
            "if (flag) l = x;",
            BOTH,
            true,
        ),
        (
            "permits",
            "sem_post(&q);",
            "sem_getvalue(&q, &l);",
            BOTH,
            false,
        ),
        ("permits-to", "x = 1;", "sem_getvalue(&q, &x);", BOTH, true),
        ("two-cells", "a[0] = 1;", "a[1] = 1;", BOTH, false),
        ("one-cell", "a[l] = 1;", "a[l] = 1;", BOTH, true),
        ("by-pointer", "*p = 1;", "x = 1;", BOTH, true),
        (
            "joined",
            "x = 1;",
            "x = 2;",
            "pthread_create(&s, 0, one, 0); pthread_join(s, 0); \
             pthread_create(&t, 0, two, 0); pthread_join(t, 0); x = 3;",
            false,
        ),
        (
            "in-a-section",
            "__VERIFIER_atomic_begin(); a[0] = 1; x = 1; __VERIFIER_atomic_end();",
            "x = 2;",
            BOTH,
            true,
        ),
        (
            "in-two-sections",
            "__VERIFIER_atomic_begin(); a[0] = 1; x = 1; __VERIFIER_atomic_end();",
            "__VERIFIER_atomic_begin(); a[1] = 1; x = 1; __VERIFIER_atomic_end();",
            BOTH,
            false,
        ),
        (
            "not-joined",
            "x = 1;",
            "",
            "pthread_create(&s, 0, one, 0); x = 3; pthread_join(s, 0);",
            true,
        ),
    ] {
        let path = program(name, one, two, main);
        // Token passing takes long for what it can prove; a few show that it looks for races, too.
        let is_short = matches!(name, "writes" | "reads" | "atomic" | "half-locked");
        let engines = if is_short {
            &ENGINES[..]
        } else {
            &ENGINES[..2]
        };
        for &engine in engines {
            let options = [&["--json", "--property", "no-data-race"], engine].concat();
            let ended = check(&path, &options);
            let told: Value = serde_json::from_str(&ended.stdout)
                .unwrap_or_else(|_| panic!("{name} {engine:?}: {}", ended.stderr));
            let expected = if is_race { "unsafe" } else { "safe" };
            assert_eq!(told["verdict"], expected, "{name} {engine:?}: {told}");
            if is_race {
                assert_eq!(told["property"], "no-data-race", "{name}");
                let variable = match name {
                    "half-atomic" => "flag",
                    "one-cell" => "a",
                    _ => "x",
                };
                let words = format!("data race for `{variable}`: ");
                let reason = told["reason"].as_str().unwrap_or_default();
                assert!(reason.starts_with(&words), "{name} {engine:?}: {reason}");
            }
        }
    }
}

/// Without being asked nobody looks for races.
#[test]
fn races_count_only_if_asked_for() {
    let path = program("unasked", "x = 1;", "x = 1;", BOTH);
    let ended = check(&path, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
}

/// What a lock rules out costs nothing to prove; locks that do not rule it out rule out nothing.
#[test]
fn locks_rule_races_out_only_if_they_exclude_each_other() {
    let locked = |lock: &str, access: &str, unlock: &str| format!("{lock} {access} {unlock}");
    let with_m = locked(
        "pthread_mutex_lock(&m);",
        "x++;",
        "pthread_mutex_unlock(&m);",
    );
    let with_n = locked(
        "pthread_mutex_lock(&n);",
        "x++;",
        "pthread_mutex_unlock(&n);",
    );
    let reading = locked(
        "pthread_rwlock_rdlock(&r);",
        "x++;",
        "pthread_rwlock_unlock(&r);",
    );
    for (name, one, two, is_race) in [
        ("same-lock", &with_m, &with_m, false),
        ("other-lock", &with_m, &with_n, true),
        ("both-read", &reading, &reading, true),
    ] {
        let path = program(name, one, two, BOTH);
        for engine in ["explicit", "ic3"] {
            let options = ["--json", "--property", "no-data-race", "--engine", engine];
            let ended = check(&path, &options);
            let told: Value = serde_json::from_str(&ended.stdout)
                .unwrap_or_else(|_| panic!("{name} {engine}: {}", ended.stderr));
            let expected = if is_race { "unsafe" } else { "safe" };
            assert_eq!(told["verdict"], expected, "{name} {engine}: {told}");
            if engine == "ic3" && !is_race {
                let lemmas = &told["symbolic"]["lemmas"];
                assert_eq!(lemmas.as_u64(), Some(0), "{name}: {told}");
            }
        }
    }
}

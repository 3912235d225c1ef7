//! Threads, locks and waiting, as POSIX has them, and who may access what.

use crate::own_files::{check, file, refused};

#[test]
fn waits_may_end_without_a_signal_if_asked() {
    let source = "#include <assert.h>\n#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int ready;\nstatic void *set(void *arg) {\n  pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n  return arg;\n}\nint main(void) {\n  pthread_t t;\n  pthread_mutex_lock(&m);\n  pthread_create(&t, NULL, set, NULL);\n  pthread_cond_wait(&c, &m);\n  assert(ready);\n  pthread_mutex_unlock(&m);\n  pthread_join(t, NULL);\n}\n";
    let path = file("spurious", "a.c", source);
    assert_eq!(check(&[], std::slice::from_ref(&path)).code, Some(0));
    assert_eq!(check(&["--spurious-wakeups"], &[path]).code, Some(10));
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
            if !said.contains("does not support dynamic objects") {
                assert_eq!(
                    ended.code,
                    Some(10),
                    "{name}, {engine}, {reduction}: {said}"
                );
            }
        }
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
            "a thread exits while holding a lock",
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
            "not a claim of exclusive access",
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
    let caveat = "may exit while holding a lock";
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

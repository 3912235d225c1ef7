//! Threads, locks and waiting, as POSIX has them, and who may access what.

use crate::common::{mover, run};
use crate::own_files::{check, file};

/// Two threads that try a recursive mutex.
const TRIED: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n\
    #define MOVER_EXCLUSIVE(variable, condition)\n\
    pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, n = PTHREAD_MUTEX_INITIALIZER;\n\
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

/// Every mutex that a claim can name is found to be a lock by now, so a claim saves no states; it is checked and shown,
/// and a wrong one is a violation.
#[test]
fn a_claim_of_exclusive_access_is_checked() {
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
        assert_eq!(claimed, plain);
        let path = file("claims", name, &TRIED.replace("CLAIM", claim));
        let explained = run(mover().arg("explain").arg(path)).stdout;
        let words = "given for x in line 6 and checked";
        assert!(explained.contains(words), "{explained}");
    }
    let claim = "MOVER_EXCLUSIVE(x, n == self)";
    let path = file("claims", "wrong.c", &TRIED.replace("CLAIM", claim));
    let ended = check(&["--reduce", "phase"], &[path]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let verdict = ended.stdout.lines().last().expect("a verdict");
    let words = "`x` is accessed while `n == self` does not hold";
    assert!(verdict.contains(words), "{verdict}");
    for words in ["`x` is also used where this does not hold", "wrong.c:6"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

/// Numbers of threads are used again, so a thread that exits while holding a lock is reported.
#[test]
fn a_thread_that_exits_while_holding_a_lock_is_reported() {
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
        // Nobody asks who has it.
        ("left_one", "pthread_mutex_lock(&one);", false),
        (
            "left_sometimes",
            "pthread_mutex_lock(&one); if (i == 0) return 0; pthread_mutex_unlock(&one);",
            true,
        ),
        (
            "left_second",
            "pthread_mutex_lock(&m[i]); pthread_mutex_lock(&one); pthread_mutex_unlock(&m[i]);\n\
             if (x == 1) pthread_mutex_unlock(&one);",
            true,
        ),
        (
            "left_writing",
            "pthread_rwlock_wrlock(&rw); if (x == 1) pthread_rwlock_unlock(&rw);",
            true,
        ),
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

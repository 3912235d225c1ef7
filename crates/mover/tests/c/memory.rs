//! Objects, their lives and their bytes, and what the standard leaves undefined.

use crate::own_files::{check, file};

#[test]
fn pointers_have_32_bits_if_asked() {
    let source = "extern void reach_error(void);\nlong wide;\nint main(void) { wide = 1L << 31; if (wide < 0 && sizeof(void *) == 4) reach_error(); }\n";
    let path = file("bits", "a.c", source);
    assert_eq!(check(&["--32"], std::slice::from_ref(&path)).code, Some(10));
    assert_eq!(check(&["--64"], &[path]).code, Some(0));
}

#[test]
fn locals_that_may_be_read_before_they_are_written_are_named_in_the_verdict() {
    let caveat = "uninitialised memory is assumed to be zero";
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

#[test]
fn locks_need_room() {
    let program = |prefix: &str, initialise: &str, place: &str| {
        format!(
            "#include <pthread.h>\n#include <semaphore.h>\n#include <stdlib.h>\n
            {prefix}_t one, several[3];\nlong part;\nint two = 2;\n
            int main(void) {{ {prefix}_t *lock = {place}; {initialise}; return 0; }}"
        )
    };
    let places = [
        ("malloc(sizeof *lock)", true),
        ("malloc(sizeof lock)", false),
        ("&one", true),
        ("&several[2]", true),
        ("&several[two]", true),
        ("&several[two + 1]", false),
        ("(void *)&part", false),
    ];
    let initialisers = [
        ("pthread_mutex", "pthread_mutex_init(lock, 0)"),
        ("pthread_rwlock", "pthread_rwlock_init(lock, 0)"),
        ("pthread_cond", "pthread_cond_init(lock, 0)"),
        ("pthread_barrier", "pthread_barrier_init(lock, 0, 2)"),
        ("sem", "sem_init(lock, 0, 2)"),
    ];
    for (prefix, initialise) in initialisers {
        for (place, is_safe) in places {
            for engine in ["explicit", "bmc"] {
                let text = program(prefix, initialise, place);
                let path = file("locks_need_room", "program.c", &text);
                let options = ["--engine", engine, "--property", "memory-safety"];
                let ended = check(&options, &[path]);
                // That a variable has no such part may also be said when it is read.
                let expected: &[i32] = if is_safe { &[0] } else { &[10, 2] };
                let code = ended.code.expect("an exit code");
                assert!(
                    expected.contains(&code),
                    "{text}{}{}",
                    ended.stdout,
                    ended.stderr
                );
            }
        }
    }
}

#[test]
fn a_lock_that_is_gone_is_not_destroyed() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\n
        int main(void) {
            pthread_mutex_t *lock = malloc(sizeof *lock);
            pthread_mutex_init(lock, 0);
            free(lock);
            pthread_mutex_destroy(lock);
            return 0;
        }";
    let path = file("a_lock_that_is_gone_is_not_destroyed", "program.c", text);
    let ended = check(&["--property", "memory-safety"], &[path]);
    assert_eq!(ended.code, Some(10), "{}", ended.stdout);
}

//! Random C programs about protection: who may access what, and what tells so.
//!
//! Programs of [`crate::c`] are about operations. Here they are about the *idioms* by which
//! programs protect data, because each reduction relies on them: a mutex in the heap object
//! whose data it protects (reached through a global, a list, an array), recursive and
//! error-checking mutexes, reader-writer locks, trylock, condition variables, ownership that is
//! handed over (by create, join, exit status, a flag, a slot of a queue), memory that is private
//! until it is published, cells that a compare-and-swap changes once, slots of an array by the
//! argument of the thread, and data that is written before the threads start only.
//!
//! An [`Idiom`] has declarations, what `main` does before it starts the threads, operations that
//! keep the rules, *flaws* that break them (the same accesses without the lock, with another
//! one, too early, too late), and assertions for the end. A program mixes one or two idioms. A
//! program without flaws says little against a reduction, one with many fails in every
//! schedule; so a third of all programs has none, and the others have few.
//!
//! A program is kept as a tree, so that [`Source::smaller`] can offer every program with one
//! thing less. Numbers stay below 4, so that there are few states.

use crate::c::{Statement, with_less, write};
use crate::random::Random;

const HEAD: &str = "\
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
_Bool __VERIFIER_nondet_bool(void);
";

/// What goes round other statements.
type Around = (&'static str, &'static str);

/// One way to protect data.
pub struct Idiom {
    pub name: &'static str,
    declarations: &'static str,
    /// What `main` does before it starts threads.
    setup: &'static str,
    /// Complete operations that keep the rules; `self` is the number of the thread, `l` a local.
    operations: &'static [&'static str],
    /// Accesses that keep the rules between the parts of one of `around`.
    accesses: &'static [&'static str],
    around: &'static [Around],
    /// What breaks the rules.
    flaws: &'static [&'static str],
    /// What `main` says when all threads have ended.
    last: &'static [&'static str],
}

/// All idioms; a new one joins by an entry here.
pub const IDIOMS: &[Idiom] = &[
    Idiom {
        name: "a mutex in the heap object that it protects",
        declarations: "\
static struct store { pthread_mutex_t m; int n, k; } *q, *other;
static void add(struct store *kept) {
    pthread_mutex_lock(&kept->m);
    kept->n = (kept->n + 1) & 3;
    pthread_mutex_unlock(&kept->m);
}
",
        setup: "    q = malloc(sizeof *q);
    pthread_mutex_init(&q->m, NULL);
    q->n = q->k = 0;
    other = q;
",
        operations: &[
            "add(q);",
            "add(other);",
            "{ struct store *mine = q; pthread_mutex_lock(&mine->m); mine->n ^= 1; mine->k ^= 1; pthread_mutex_unlock(&mine->m); }",
        ],
        accesses: &[
            "q->n = (q->n + 1) & 3;",
            "l = q->n;",
            "q->k = q->n;",
            "assert(q->n < 3);",
        ],
        around: &[
            ("pthread_mutex_lock(&q->m);", "pthread_mutex_unlock(&q->m);"),
            (
                "pthread_mutex_lock(&other->m);",
                "pthread_mutex_unlock(&other->m);",
            ),
            (
                "if (pthread_mutex_trylock(&q->m) == 0) {",
                "pthread_mutex_unlock(&q->m); }",
            ),
        ],
        flaws: &[
            "q->n = 2;",
            "l = q->k;",
            "other->k = 1;",
            "assert(q->n == q->k);",
        ],
        last: &["assert(q->n == 2);", "assert(q->n == q->k);"],
    },
    Idiom {
        name: "two heap objects with mutexes",
        declarations: "\
static struct account { pthread_mutex_t m; int sum; } *from, *to;
static struct account *make(void) {
    struct account *new = malloc(sizeof *new);
    pthread_mutex_init(&new->m, NULL);
    new->sum = 1;
    return new;
}
",
        setup: "    from = make();
    to = make();
",
        operations: &[
            "pthread_mutex_lock(&from->m); pthread_mutex_lock(&to->m); from->sum ^= 1; to->sum ^= 1; pthread_mutex_unlock(&to->m); pthread_mutex_unlock(&from->m);",
            "pthread_mutex_lock(&to->m); to->sum = (to->sum + 1) & 3; pthread_mutex_unlock(&to->m);",
        ],
        accesses: &["from->sum = (from->sum + 1) & 3;", "l = from->sum;"],
        around: &[(
            "pthread_mutex_lock(&from->m);",
            "pthread_mutex_unlock(&from->m);",
        )],
        flaws: &[
            "pthread_mutex_lock(&to->m); from->sum = 2; pthread_mutex_unlock(&to->m);",
            "pthread_mutex_lock(&to->m); pthread_mutex_lock(&from->m); to->sum ^= 1; pthread_mutex_unlock(&from->m); pthread_mutex_unlock(&to->m);",
            "assert(from->sum == to->sum);",
        ],
        last: &["assert(from->sum == to->sum);", "assert(from->sum != 2);"],
    },
    Idiom {
        name: "a list whose nodes have mutexes",
        declarations: "\
static struct node { pthread_mutex_t m; int v; struct node *next; } *head;
static void push(int v) {
    struct node *new = malloc(sizeof *new);
    pthread_mutex_init(&new->m, NULL);
    new->v = v;
    new->next = head;
    head = new;
}
",
        setup: "    push(0);
    push(1);
",
        operations: &[
            "for (struct node *i = head; i; i = i->next) { pthread_mutex_lock(&i->m); i->v = (i->v + 1) & 3; pthread_mutex_unlock(&i->m); }",
            "{ struct node *i = head->next; pthread_mutex_lock(&i->m); i->v ^= 1; pthread_mutex_unlock(&i->m); }",
            "{ struct node *a = head; pthread_mutex_lock(&a->m); struct node *b = a->next; pthread_mutex_lock(&b->m); l = a->v; b->v = l; pthread_mutex_unlock(&a->m); pthread_mutex_unlock(&b->m); }",
        ],
        accesses: &["head->v = (head->v + 1) & 3;", "l = head->v;"],
        around: &[(
            "pthread_mutex_lock(&head->m);",
            "pthread_mutex_unlock(&head->m);",
        )],
        flaws: &[
            "head->v = 3;",
            "l = head->next->v;",
            "{ struct node *i = head; pthread_mutex_lock(&i->m); i = i->next; i->v = 2; pthread_mutex_unlock(&head->m); }",
            "head = head->next;",
        ],
        last: &[
            "assert(head->v != 3);",
            "assert(head->next == NULL || head->next->v != 2);",
        ],
    },
    Idiom {
        name: "an array of structures with mutexes",
        declarations: "\
static struct cell { pthread_mutex_t m; int v; } cells[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static void flip(struct cell *of) {
    pthread_mutex_lock(&of->m);
    of->v ^= 1;
    pthread_mutex_unlock(&of->m);
}
",
        setup: "",
        operations: &[
            "flip(&cells[self & 1]);",
            "flip(&cells[0]);",
            "{ int i = self & 1; pthread_mutex_lock(&cells[i].m); l = cells[i].v; cells[i].v = (l + 1) & 3; pthread_mutex_unlock(&cells[i].m); }",
        ],
        accesses: &["cells[1].v = (cells[1].v + 1) & 3;", "l = cells[1].v;"],
        around: &[(
            "pthread_mutex_lock(&cells[1].m);",
            "pthread_mutex_unlock(&cells[1].m);",
        )],
        flaws: &[
            "cells[self & 1].v = 3;",
            "pthread_mutex_lock(&cells[self & 1].m); cells[1].v = 2; pthread_mutex_unlock(&cells[self & 1].m);",
            "l = cells[0].v; cells[0].v = l + 1;",
        ],
        last: &["assert(cells[1].v != 2);", "assert(cells[0].v != 1);"],
    },
    Idiom {
        name: "a recursive mutex",
        declarations: "\
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int inside, total;
static void add_one(void) {
    pthread_mutex_lock(&again);
    total = (total + 1) & 3;
    pthread_mutex_unlock(&again);
}
",
        setup: "",
        operations: &["add_one();"],
        accesses: &[
            "inside = 1;",
            "inside = 0;",
            "l = total;",
            "add_one();",
            "assert(inside == 0);",
        ],
        around: &[
            (
                "pthread_mutex_lock(&again);",
                "pthread_mutex_unlock(&again);",
            ),
            (
                "pthread_mutex_lock(&again); pthread_mutex_lock(&again);",
                "pthread_mutex_unlock(&again); pthread_mutex_unlock(&again);",
            ),
            (
                "if (pthread_mutex_trylock(&again) == 0) {",
                "pthread_mutex_unlock(&again); }",
            ),
        ],
        flaws: &[
            "total = 3;",
            "l = inside;",
            "pthread_mutex_lock(&again); pthread_mutex_lock(&again); inside = 1; pthread_mutex_unlock(&again); inside = 0; pthread_mutex_unlock(&again); inside = 0;",
            "pthread_mutex_lock(&again); pthread_mutex_lock(&again); pthread_mutex_unlock(&again);",
        ],
        last: &["assert(total == 2);", "assert(inside == 0);"],
    },
    Idiom {
        name: "a recursive mutex in a heap object",
        declarations: "\
static struct tree { pthread_mutex_t m; int size; } *tree;
",
        setup: "    {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
        tree = malloc(sizeof *tree);
        pthread_mutex_init(&tree->m, &kind);
        tree->size = 0;
    }
",
        operations: &[
            "pthread_mutex_lock(&tree->m); pthread_mutex_lock(&tree->m); tree->size ^= 1; pthread_mutex_unlock(&tree->m); tree->size ^= 1; pthread_mutex_unlock(&tree->m);",
        ],
        accesses: &["tree->size = (tree->size + 1) & 3;", "l = tree->size;"],
        around: &[(
            "pthread_mutex_lock(&tree->m);",
            "pthread_mutex_unlock(&tree->m);",
        )],
        flaws: &["tree->size = 2;", "assert(tree->size != 1);"],
        last: &["assert(tree->size == 0);", "assert(tree->size != 2);"],
    },
    Idiom {
        name: "an error-checking mutex",
        declarations: "\
static pthread_mutex_t strict = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int sure;
",
        setup: "",
        operations: &[
            "if (pthread_mutex_lock(&strict) == 0) { sure ^= 1; if (pthread_mutex_lock(&strict) == 0) sure = 3; sure ^= 1; pthread_mutex_unlock(&strict); }",
        ],
        accesses: &["sure = (sure + 1) & 3;", "l = sure;"],
        around: &[(
            "if (pthread_mutex_lock(&strict) == 0) {",
            "pthread_mutex_unlock(&strict); }",
        )],
        flaws: &[
            "if (pthread_mutex_unlock(&strict)) sure = 2;",
            "sure = 1;",
            "pthread_mutex_lock(&strict); pthread_mutex_lock(&strict); sure = 2; pthread_mutex_unlock(&strict); sure = 1;",
        ],
        last: &["assert(sure != 2);", "assert(sure == 0);"],
    },
    Idiom {
        name: "a reader-writer lock",
        declarations: "\
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int first, second;
",
        setup: "",
        operations: &[
            "pthread_rwlock_wrlock(&rw); first ^= 1; second ^= 1; pthread_rwlock_unlock(&rw);",
            "pthread_rwlock_rdlock(&rw); assert(first == second); pthread_rwlock_unlock(&rw);",
            "pthread_rwlock_rdlock(&rw); l = first; pthread_rwlock_unlock(&rw);",
            "if (pthread_rwlock_tryrdlock(&rw) == 0) { l = first; pthread_rwlock_unlock(&rw); }",
        ],
        accesses: &["first = (first + 1) & 3;", "second = first;"],
        around: &[("pthread_rwlock_wrlock(&rw);", "pthread_rwlock_unlock(&rw);")],
        flaws: &[
            "pthread_rwlock_rdlock(&rw); first ^= 1; second ^= 1; pthread_rwlock_unlock(&rw);",
            "assert(first == second);",
            "first = 1;",
        ],
        last: &["assert(first == second);", "assert(first == 0);"],
    },
    Idiom {
        name: "a reader-writer lock in a heap object",
        declarations: "\
static struct shelf { pthread_rwlock_t guard; int books; } *shelf;
",
        setup: "    shelf = malloc(sizeof *shelf);
    pthread_rwlock_init(&shelf->guard, NULL);
    shelf->books = 0;
",
        operations: &[
            "pthread_rwlock_rdlock(&shelf->guard); l = shelf->books; assert(l == shelf->books); pthread_rwlock_unlock(&shelf->guard);",
        ],
        accesses: &[
            "shelf->books = (shelf->books + 1) & 3;",
            "l = shelf->books;",
        ],
        around: &[(
            "pthread_rwlock_wrlock(&shelf->guard);",
            "pthread_rwlock_unlock(&shelf->guard);",
        )],
        flaws: &[
            "pthread_rwlock_rdlock(&shelf->guard); l = shelf->books; shelf->books = l + 1; pthread_rwlock_unlock(&shelf->guard);",
            "shelf->books = 3;",
        ],
        last: &["assert(shelf->books != 1);", "assert(shelf->books != 3);"],
    },
    Idiom {
        name: "a condition variable",
        declarations: "\
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, value;
",
        setup: "",
        operations: &[
            "pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); value = ready = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); l = value; pthread_mutex_unlock(&m);",
        ],
        accesses: &["value = (value + 1) & 3;", "ready = 1;", "l = value;"],
        around: &[
            ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
            (
                "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); ready = 0;",
                "pthread_mutex_unlock(&m);",
            ),
        ],
        flaws: &[
            "ready = 1; pthread_cond_signal(&c);",
            "pthread_mutex_lock(&m); if (!ready) pthread_cond_wait(&c, &m); assert(ready); ready = 0; pthread_mutex_unlock(&m);",
            "l = value;",
        ],
        last: &["assert(value == ready);", "assert(value != 2);"],
    },
    Idiom {
        name: "data handed over by create and join",
        declarations: "\
static int given = 0, back = 0;
",
        setup: "    given = 1;
",
        operations: &["l = given;", "assert(given == 1);"],
        accesses: &[],
        around: &[],
        flaws: &[
            "given = 2;",
            "back = given;",
            "back = (back + 1) & 3;",
            "l = back;",
        ],
        last: &[
            "assert(back == 0);",
            "assert(given == 1);",
            "given = 3; assert(given == 3);",
        ],
    },
    Idiom {
        name: "a flag that hands data over",
        declarations: "\
static _Atomic int flag;
static int data;
",
        setup: "",
        operations: &[
            "if (self == 0) { data = 1; flag = 1; }",
            "if (self != 0 && flag == 1) { assert(data == 1); data = 2; flag = 2; }",
            "if (self == 0 && flag == 2) { data = 3; }",
        ],
        accesses: &[],
        around: &[],
        flaws: &[
            "flag = 1;",
            "data = 3;",
            "if (flag) { l = data; assert(l != 3); }",
        ],
        last: &["assert(flag != 2);", "assert(data != 3);"],
    },
    Idiom {
        name: "ownership by compare-and-swap",
        declarations: "\
static _Atomic int owner;
static int owned;
",
        setup: "",
        operations: &[
            "{ int free = 0; if (atomic_compare_exchange_strong(&owner, &free, 1)) { owned ^= 1; owned ^= 1; owner = 0; } }",
            "{ int free = 0; if (atomic_compare_exchange_strong(&owner, &free, self + 1)) { assert(owned == 0); owner = 0; } }",
            "{ int free = 0; if (atomic_compare_exchange_strong(&owner, &free, self + 1)) { owned = (owned + 1) & 3; } }",
        ],
        accesses: &["owned = (owned + 1) & 3;", "l = owned;"],
        around: &[("while (atomic_exchange(&owner, 1)) ;", "owner = 0;")],
        flaws: &[
            "owner = 0;",
            "owned = 2;",
            "if (owner != self + 1) { l = owned; }",
            "assert(owned == 0);",
        ],
        last: &["assert(owned == 0);", "assert(owned != 2);"],
    },
    Idiom {
        name: "a cell that is set once",
        declarations: "\
static _Atomic int once;
static int made;
",
        setup: "",
        operations: &[
            "{ int none = 0; if (atomic_compare_exchange_strong(&once, &none, self + 1)) assert(once == self + 1); }",
            "{ int none = 0; atomic_compare_exchange_strong(&once, &none, 1); assert(once != 0); }",
            "l = once; if (l) assert(once == l);",
            "{ int none = 0; if (atomic_compare_exchange_strong(&once, &none, 3)) made = 1; }",
        ],
        accesses: &[],
        around: &[("if (once) {", "}")],
        flaws: &[
            "once = 2;",
            "l = made;",
            "{ int one = 1; atomic_compare_exchange_strong(&once, &one, 2); }",
            "once = 0;",
        ],
        last: &["assert(once != 2);", "assert(made == 0);", "assert(once);"],
    },
    Idiom {
        name: "slots of an array by the argument",
        declarations: "\
static int slot[3];
static void bump(int *at) { *at = (*at + 1) & 3; }
",
        setup: "",
        operations: &[
            "slot[self] = 1;",
            "bump(&slot[self]);",
            "l = slot[self]; assert(slot[self] == l);",
            "slot[self] = slot[self] ^ 1;",
        ],
        accesses: &[],
        around: &[
            ("if (slot[self]) {", "}"),
            ("for (int i = 0; i < 2; i++) {", "}"),
        ],
        flaws: &[
            "l = slot[0];",
            "slot[1] = 2;",
            "bump(&slot[l & 1]);",
            "if (self < 2) self = self + 1;",
        ],
        last: &[
            "assert(slot[0] == slot[1]);",
            "assert(slot[1] != 2);",
            "assert(slot[0] + slot[1] < 4);",
        ],
    },
    Idiom {
        name: "data that is written by initialisation only",
        declarations: "\
static int table[2];
static int *config;
",
        setup: "    table[0] = 1;
    table[1] = 2;
    config = &table[1];
",
        operations: &[
            "l = table[0];",
            "assert(table[1] == 2);",
            "l = *config;",
            "l = table[l & 1];",
        ],
        accesses: &[],
        around: &[("if (*config == 2) {", "}")],
        flaws: &["table[1] = 0;", "config = &table[0];", "*config = 1;"],
        last: &[
            "assert(table[1] == 2);",
            "table[0] = 3; assert(table[0] == 3);",
        ],
    },
    Idiom {
        name: "memory that is private until it is published",
        declarations: "\
static struct item { int v, w; } *_Atomic published;
",
        setup: "",
        operations: &[
            "{ struct item *it = malloc(sizeof *it); it->v = 1; it->w = 1; published = it; }",
            "{ struct item *it = published; if (it) assert(it->v == it->w); }",
            "{ struct item *it = malloc(sizeof *it); it->v = self; it->w = it->v; assert(it->w == self); free(it); }",
        ],
        accesses: &[],
        around: &[("if (published) {", "}")],
        flaws: &[
            "{ struct item *it = malloc(sizeof *it); it->v = 1; it->w = 0; published = it; it->w = 1; }",
            "{ struct item *it = published; if (it) it->v = 0; }",
            "{ struct item *it = published; if (it) { published = NULL; it->v = 2; } }",
        ],
        last: &["assert(published == NULL || published->v == 1);"],
    },
    Idiom {
        name: "a slot of a queue",
        declarations: "\
static struct message { int v; } *_Atomic queue;
",
        setup: "",
        operations: &[
            "{ struct message *out = malloc(sizeof *out); out->v = 1; struct message *none = NULL; if (!atomic_compare_exchange_strong(&queue, &none, out)) free(out); }",
            "{ struct message *in = atomic_exchange(&queue, NULL); if (in) { assert(in->v == 1); in->v = 2; free(in); } }",
        ],
        accesses: &[],
        around: &[("if (queue) {", "}")],
        flaws: &[
            "{ struct message *in = queue; if (in) { in->v = 2; } }",
            "{ struct message *out = malloc(sizeof *out); out->v = 0; queue = out; out->v = 1; }",
            "{ struct message *in = queue; if (in) { queue = NULL; l = in->v; free(in); } }",
        ],
        last: &[
            "assert(queue == NULL || queue->v == 1);",
            "assert(queue == NULL);",
        ],
    },
    Idiom {
        name: "an object that is published under a lock",
        declarations: "\
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static struct thing { int v, w; } *shown;
",
        setup: "",
        operations: &[
            "{ struct thing *it = malloc(sizeof *it); it->v = 1; it->w = 1; pthread_mutex_lock(&door); shown = it; pthread_mutex_unlock(&door); }",
            "{ pthread_mutex_lock(&door); struct thing *it = shown; pthread_mutex_unlock(&door); if (it) assert(it->v == it->w); }",
            "{ pthread_mutex_lock(&door); struct thing *it = shown; if (it) { it->v ^= 1; it->w ^= 1; } pthread_mutex_unlock(&door); }",
        ],
        accesses: &["if (shown) l = shown->v;"],
        around: &[("pthread_mutex_lock(&door);", "pthread_mutex_unlock(&door);")],
        flaws: &[
            "{ struct thing *it = malloc(sizeof *it); it->w = 0; pthread_mutex_lock(&door); shown = it; pthread_mutex_unlock(&door); it->v = 1; it->w = 1; }",
            "if (shown) shown->v = 2;",
        ],
        last: &["assert(shown == NULL || shown->v == shown->w);"],
    },
    Idiom {
        name: "a lock that a pointer selects",
        declarations: "\
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *chosen = &left;
static int guarded;
",
        setup: "    chosen = &right;
",
        operations: &[
            "{ pthread_mutex_t *mine = chosen; pthread_mutex_lock(mine); guarded = (guarded + 1) & 3; pthread_mutex_unlock(mine); }",
        ],
        accesses: &["guarded ^= 1;", "l = guarded;"],
        around: &[
            (
                "pthread_mutex_lock(&right);",
                "pthread_mutex_unlock(&right);",
            ),
            (
                "pthread_mutex_lock(chosen);",
                "pthread_mutex_unlock(chosen);",
            ),
        ],
        flaws: &[
            "chosen = &left;",
            "pthread_mutex_lock(&left); guarded = 2; pthread_mutex_unlock(&left);",
            "guarded = 3;",
        ],
        last: &["assert(guarded != 1);", "assert(guarded != 2);"],
    },
    Idiom {
        name: "two locks, each of which suffices for reading",
        declarations: "\
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int both;
",
        setup: "",
        operations: &[
            "pthread_mutex_lock(&one); l = both; assert(l == both); pthread_mutex_unlock(&one);",
            "pthread_mutex_lock(&two); l = both; assert(l == both); pthread_mutex_unlock(&two);",
        ],
        accesses: &["both ^= 1;", "l = both; both = (l + 1) & 3;"],
        around: &[(
            "pthread_mutex_lock(&one); pthread_mutex_lock(&two);",
            "pthread_mutex_unlock(&two); pthread_mutex_unlock(&one);",
        )],
        flaws: &[
            "pthread_mutex_lock(&one); both = 2; pthread_mutex_unlock(&one);",
            "pthread_mutex_lock(&two); pthread_mutex_lock(&one); both ^= 1; pthread_mutex_unlock(&one); pthread_mutex_unlock(&two);",
        ],
        last: &["assert(both != 2);", "assert(both == 0);"],
    },
];

/// A program.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// Numbers of its idioms, in order.
    idioms: Vec<usize>,
    threads: Vec<Vec<Statement>>,
    /// Whether all threads run one function; their bodies are then the same.
    is_same: bool,
    /// What `main` does while the threads run.
    beside: Vec<Statement>,
    /// What it does when the first thread has been joined.
    between: Vec<Statement>,
    /// What it asserts when they have ended.
    last: Option<&'static str>,
    /// Whether the first thread hands an object over by its exit status.
    has_status: bool,
}

impl Source {
    pub fn random(seed: u64) -> Source {
        let random = &mut Random(seed);
        let count = IDIOMS.len() as u64;
        let mut idioms = vec![random.below(count) as usize];
        if random.one_in(3) {
            idioms.push(random.below(count) as usize);
        }
        idioms.sort_unstable();
        idioms.dedup();
        // How many of a hundred statements break the rules.
        let flaws = random.pick(&[0, 15, 40]);
        let threads = if random.one_in(6) { 3 } else { 2 };
        let most = if threads == 3 { 1 } else { 2 };
        let is_same = random.one_in(3);
        let mut body = |most: u64| {
            let length = 1 + random.below(most);
            (0..length)
                .map(|_| statement(random, &idioms, flaws, 1))
                .collect::<Vec<_>>()
        };
        let threads = match is_same {
            true => vec![body(most); threads],
            false => (0..threads).map(|_| body(most)).collect(),
        };
        let mut source = Source {
            threads,
            is_same,
            beside: body(1),
            between: body(1),
            last: None,
            has_status: false,
            idioms,
        };
        if random.one_in(2) {
            source.beside.clear();
        }
        if random.one_in(2) {
            source.between.clear();
        }
        let of = random.pick(&source.idioms);
        source.last = (!random.one_in(3)).then(|| random.pick(IDIOMS[of].last));
        source.has_status = random.one_in(6);
        source
    }

    pub fn text(&self) -> String {
        let mut text = HEAD.to_string();
        for &idiom in &self.idioms {
            text += IDIOMS[idiom].declarations;
        }
        for (number, body) in self.threads.iter().take(self.functions()).enumerate() {
            text += &format!("static void *thread_{number}(void *arg) {{\n");
            text += "    int self = (int)(long)arg, l = 0;\n";
            write(body, 1, &mut text);
            text += "    (void)self;\n    (void)l;\n";
            text += if self.has_status && number == 0 {
                "    int *status = malloc(sizeof *status);\n    *status = 1;\n    return status;\n}\n"
            } else {
                "    return NULL;\n}\n"
            };
        }
        text += "int main(void) {\n";
        for &idiom in &self.idioms {
            text += IDIOMS[idiom].setup;
        }
        let count = self.threads.len();
        text += &format!(
            "    int self = 0, l = 0;\n    void *status = NULL;\n    pthread_t t[{}];\n",
            count.max(1)
        );
        for number in 0..count {
            let of = if self.is_same { 0 } else { number };
            text += &format!(
                "    pthread_create(&t[{number}], NULL, thread_{of}, (void *){number}L);\n"
            );
        }
        write(&self.beside, 1, &mut text);
        for number in 0..count {
            let status = if number == 0 { "&status" } else { "NULL" };
            text += &format!("    pthread_join(t[{number}], {status});\n");
            if number == 0 {
                write(&self.between, 1, &mut text);
            }
        }
        if self.has_status && count > 0 {
            text += "    assert(*(int *)status == 1);\n";
        }
        if let Some(last) = self.last {
            text += &format!("    {last}\n");
        }
        text + "    (void)self;\n    (void)l;\n    (void)status;\n    return 0;\n}\n"
    }

    /// How many functions the threads run.
    fn functions(&self) -> usize {
        if self.is_same { 1 } else { self.threads.len() }
    }

    /// All programs with one thing less. An idiom goes when nothing mentions it any more.
    pub fn smaller(&self) -> Vec<Source> {
        let mut all = Vec::new();
        let with = |change: &dyn Fn(&mut Source)| {
            let mut less = self.clone();
            change(&mut less);
            less
        };
        for number in 0..self.threads.len() {
            all.push(with(&|less| {
                less.threads.remove(number);
            }));
        }
        for (number, whole) in self.threads.iter().take(self.functions()).enumerate() {
            for body in with_less(whole) {
                all.push(with(&|less| match self.is_same {
                    true => less.threads.fill(body.clone()),
                    false => less.threads[number] = body.clone(),
                }));
            }
        }
        for body in with_less(&self.beside) {
            all.push(with(&|less| less.beside = body.clone()));
        }
        for body in with_less(&self.between) {
            all.push(with(&|less| less.between = body.clone()));
        }
        if self.last.is_some() {
            all.push(with(&|less| less.last = None));
        }
        if self.has_status {
            all.push(with(&|less| less.has_status = false));
        }
        for number in 0..self.idioms.len() {
            if !self.mentions(self.idioms[number]) {
                all.push(with(&|less| {
                    less.idioms.remove(number);
                }));
            }
        }
        all
    }

    fn mentions(&self, idiom: usize) -> bool {
        let idiom = &IDIOMS[idiom];
        let of_idiom = |text: &str| {
            idiom.operations.contains(&text)
                || idiom.accesses.contains(&text)
                || idiom.flaws.contains(&text)
                || idiom.around.iter().any(|(open, _)| *open == text)
                || idiom.last.contains(&text)
        };
        let bodies = self.threads.iter().chain([&self.beside, &self.between]);
        bodies.flatten().any(|statement| statement.any(&of_idiom))
            || self.last.is_some_and(of_idiom)
    }
}

fn statement(random: &mut Random, idioms: &[usize], flaws: u64, depth: usize) -> Statement {
    let idiom = &IDIOMS[random.pick(idioms)];
    if random.below(100) < flaws {
        return Statement::Simple(random.pick(idiom.flaws));
    }
    if !idiom.around.is_empty() && random.one_in(2) {
        let (open, close) = random.pick(idiom.around);
        let length = 1 + random.below(2);
        let body = (0..length)
            .map(|_| match depth {
                1.. if random.one_in(4) => statement(random, idioms, flaws, depth - 1),
                _ if !idiom.accesses.is_empty() => Statement::Simple(random.pick(idiom.accesses)),
                _ => Statement::Simple(random.pick(idiom.operations)),
            })
            .collect();
        return Statement::Around(open, close, body);
    }
    Statement::Simple(random.pick(idiom.operations))
}

#[cfg(test)]
mod tests {
    use super::{IDIOMS, Source};

    #[test]
    fn smaller_programs_are_smaller_and_the_smallest_is_empty() {
        for seed in 0..200 {
            let mut source = Source::random(seed);
            while let Some(smaller) = source.smaller().pop() {
                assert!(smaller.text().len() < source.text().len());
                source = smaller;
            }
            assert!(source.threads.is_empty() && source.idioms.is_empty());
        }
    }

    /// Idioms share one file, so their names have to differ.
    #[test]
    fn no_two_idioms_declare_the_same_name() {
        let mut all: Vec<&str> = Vec::new();
        for idiom in IDIOMS {
            let words = idiom
                .declarations
                .lines()
                .filter(|line| line.starts_with("static"))
                .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')))
                .filter(|word| word.len() > 1);
            let mut words: Vec<&str> = words.collect();
            words.sort_unstable();
            words.dedup();
            all.extend(words);
        }
        let common = [
            "static",
            "struct",
            "int",
            "void",
            "_Atomic",
            "pthread_mutex_t",
            "pthread_rwlock_t",
            "pthread_cond_t",
        ];
        all.retain(|word| !common.contains(word) && !word.starts_with("PTHREAD"));
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}

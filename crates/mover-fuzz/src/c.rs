//! Random C programs with threads.
//!
//! Two or three threads over a handful of variables: plain and atomic ones, an array, a
//! structure that is copied, a pointer that moves, memory from the heap; with mutexes (also
//! tried, also forgotten), a read-write lock, a semaphore, a condition variable, atomic
//! sections, loops and choices. Numbers stay below 4, so that there are few states.
//!
//! A program is kept as a tree, so that [`Source::smaller`] can offer every program with one
//! thing less.

use mover_ir::program::{Program, Property};

use crate::random::Random;

const DECLARATIONS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
static int x, y, z, array[2];
static atomic_int a, b;
static struct pair { int first, second; } pair;
static int *pointer = &x;
static struct node { int value; struct node *next; } *top;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
";

/// Statements that need nothing around them; `l` is a local variable.
const SIMPLE: &[&str] = &[
    "x = 1;",
    "x = (x + 1) & 3;",
    "y = x;",
    "y = (y + 2) & 3;",
    "z = 1 - z;",
    "l = x;",
    "l = y;",
    "x = l;",
    "array[0] = 1;",
    "array[x & 1] = l & 3;",
    "l = array[y & 1];",
    "*pointer = 2;",
    "l = *pointer;",
    "pointer = &y;",
    "pointer = &array[1];",
    "a = 1;",
    "atomic_fetch_add(&a, 1);",
    "l = atomic_exchange(&b, 1);",
    "b = 0;",
    "pair = (struct pair){1, 1};",
    "pair.first = l & 3;",
    "pair.second = pair.first;",
    "{ struct pair copy = pair; assert(copy.first >= copy.second); }",
    "assert(x < 3);",
    "assert(y != 1);",
    "assert(l == 0);",
    "assert(a < 2);",
    "{ struct node *node = malloc(sizeof *node); node->value = 1; node->next = 0; top = node; }",
    "if (top) l = top->value;",
    "{ struct node *node = top; if (node) { top = 0; free(node); } }",
    "sem_wait(&s);",
    "sem_post(&s);",
    "pthread_cond_signal(&c);",
    "pthread_cond_broadcast(&c);",
    "return NULL;",
];

/// What goes round other statements.
const AROUND: &[(&str, &str)] = &[
    ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
    ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
    ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);"),
    (
        "pthread_mutex_lock(&m); if (!z) pthread_cond_wait(&c, &m);",
        "pthread_mutex_unlock(&m);",
    ),
    (
        "pthread_mutex_lock(&m); z = 1; pthread_cond_signal(&c);",
        "pthread_mutex_unlock(&m);",
    ),
    (
        "if (pthread_mutex_trylock(&n) == 0) {",
        "pthread_mutex_unlock(&n); }",
    ),
    ("pthread_rwlock_rdlock(&rw);", "pthread_rwlock_unlock(&rw);"),
    ("pthread_rwlock_wrlock(&rw);", "pthread_rwlock_unlock(&rw);"),
    ("while (atomic_exchange(&b, 1)) ;", "b = 0;"),
    (
        "{ int zero = 0; if (atomic_compare_exchange_strong(&a, &zero, 1)) {",
        "a = 0; } }",
    ),
    ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
    ("if (__VERIFIER_nondet_bool()) {", "}"),
    ("if (x == 1) {", "}"),
    ("if (l) {", "}"),
    ("for (int i = 0; i < 2; i++) {", "}"),
    ("while (a != 1) {", "}"),
    ("while (__VERIFIER_nondet_bool()) {", "}"),
];

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Statement {
    Simple(&'static str),
    Around(&'static str, &'static str, Vec<Statement>),
}

impl Statement {
    /// Whether one of the texts in it is such.
    pub(crate) fn any(&self, is_such: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Statement::Simple(text) => is_such(text),
            Statement::Around(open, _, body) => {
                is_such(open) || body.iter().any(|inner| inner.any(is_such))
            }
        }
    }
}

/// A program.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    threads: Vec<Vec<Statement>>,
    /// What `main` does while the threads run.
    beside: Vec<Statement>,
    /// What `main` asserts when they have ended.
    last: Option<&'static str>,
}

impl Source {
    pub fn random(seed: u64) -> Source {
        let random = &mut Random(seed);
        // A few topics each, so that what belongs together meets.
        let simple: Vec<&'static str> = (0..6).map(|_| random.pick(SIMPLE)).collect();
        let around: Vec<_> = (0..3).map(|_| random.pick(AROUND)).collect();
        let count = 1 + random.below(2) as usize + usize::from(random.below(4) == 0);
        let threads = (0..count)
            .map(|_| statements(random, &simple, &around, 3, 2))
            .collect();
        Source {
            threads,
            beside: statements(random, &simple, &around, 2, 1),
            last: (random.below(2) == 0).then(|| {
                random.pick(&[
                    "assert(x != 2);",
                    "assert(a == 0);",
                    "assert(pair.first == 0);",
                ])
            }),
        }
    }

    pub fn text(&self) -> String {
        let mut text = DECLARATIONS.to_string();
        for (number, body) in self.threads.iter().enumerate() {
            text += &format!("static void *thread_{number}(void *arg) {{\n    int l = 0;\n");
            write(body, 1, &mut text);
            text += "    (void)l;\n    return arg;\n}\n";
        }
        text += "static void *beside(void) {\n    int l = 0;\n";
        write(&self.beside, 1, &mut text);
        text += "    (void)l;\n    return NULL;\n}\nint main(void) {\n";
        let count = self.threads.len();
        text += &format!(
            "    pthread_t t[{}];\n    sem_init(&s, 0, 1);\n",
            count.max(1)
        );
        for number in 0..count {
            text += &format!("    pthread_create(&t[{number}], NULL, thread_{number}, NULL);\n");
        }
        text += "    beside();\n";
        for number in 0..count {
            text += &format!("    pthread_join(t[{number}], NULL);\n");
        }
        if let Some(last) = self.last {
            text += &format!("    {last}\n");
        }
        text + "    return 0;\n}\n"
    }

    /// All programs with one thing less.
    pub fn smaller(&self) -> Vec<Source> {
        let mut all = Vec::new();
        for number in 0..self.threads.len() {
            let mut fewer = self.clone();
            fewer.threads.remove(number);
            all.push(fewer);
            for body in with_less(&self.threads[number]) {
                let mut less = self.clone();
                less.threads[number] = body;
                all.push(less);
            }
        }
        for beside in with_less(&self.beside) {
            all.push(Source {
                beside,
                ..self.clone()
            });
        }
        if self.last.is_some() {
            all.push(Source {
                last: None,
                ..self.clone()
            });
        }
        all
    }
}

/// What the front end says of a text that is no program.
pub struct Refused(pub String);

/// What the front end makes of a text; an error if there is no file with the text to read.
pub fn program(text: &str) -> Result<Result<Program, Refused>, std::io::Error> {
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("random.c");
    std::fs::write(&file, text)?;
    let options = mover_c::Options {
        properties: [
            Property::UnreachCall,
            Property::NoDeadlock,
            Property::MemorySafety,
            Property::MutexMisuse,
        ]
        .into(),
        ..mover_c::Options::default()
    };
    match mover_c::read(&[file], &options) {
        Ok(read) => Ok(Ok(read.program)),
        Err(failure) => {
            let said = failure.diagnostics.iter().map(|d| d.message.clone());
            let said = said.collect::<Vec<_>>().join("; ");
            Ok(Err(Refused(failure.compiler + &said)))
        }
    }
}

fn statements(
    random: &mut Random,
    simple: &[&'static str],
    around: &[(&'static str, &'static str)],
    most: u64,
    depth: usize,
) -> Vec<Statement> {
    (0..1 + random.below(most))
        .map(|_| {
            if depth > 0 && random.below(2) == 0 {
                let (open, close) = random.pick(around);
                let body = statements(random, simple, around, 2, depth - 1);
                Statement::Around(open, close, body)
            } else {
                Statement::Simple(random.pick(simple))
            }
        })
        .collect()
}

pub(crate) fn write(body: &[Statement], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for statement in body {
        match statement {
            Statement::Simple(line) => *text += &format!("{indent}{line}\n"),
            Statement::Around(open, close, body) => {
                *text += &format!("{indent}{open}\n");
                write(body, depth + 1, text);
                *text += &format!("{indent}{close}\n");
            }
        }
    }
}

/// All lists with one statement less, or without what goes round some.
pub(crate) fn with_less(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for number in 0..body.len() {
        let replaced = |by: Vec<Statement>| {
            let mut list = body.to_vec();
            list.splice(number..=number, by);
            list
        };
        all.push(replaced(Vec::new()));
        if let Statement::Around(open, close, inner) = &body[number] {
            all.push(replaced(inner.clone()));
            for less in with_less(inner) {
                all.push(replaced(vec![Statement::Around(open, close, less)]));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn smaller_programs_are_smaller_and_the_smallest_is_empty() {
        let mut source = Source::random(7);
        while let Some(smaller) = source.smaller().pop() {
            assert!(smaller.text().len() < source.text().len());
            source = smaller;
        }
        assert!(source.threads.is_empty() && source.beside.is_empty());
    }
}

//! Reader-writer locks: what is taken for one, what is not, and that the movers which follow
//! from it commute.

use std::path::{Path, PathBuf};

use crate::all_reductions_agree;
use crate::common::{mover, run};
use serde_json::Value;

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rw_locks");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(format!("{name}.pml"));
    std::fs::write(&path, text).expect("a file");
    path
}

/// Readers and writers of two cells by these four statements.
fn program(declared: &str, read: (&str, &str), write: (&str, &str)) -> String {
    format!(
        "{declared} byte a, b;\n\
         active [2] proctype Reader() {{ byte x, y;\n\
         {}; x = a; y = b; {}; assert(x == y) }}\n\
         active [2] proctype Writer() {{ {}; a++; b++; {} }}\n",
        read.0, read.1, write.0, write.1
    )
}

const ONE_CELL: [(&str, &str); 2] = [
    ("atomic { rw >= 0 -> rw++ }", "rw--"),
    ("atomic { rw == 0 -> rw = -1 }", "rw = 0"),
];

/// The protection of `a`, as `mover explain` tells it.
fn protection(path: &Path) -> String {
    let ended = run(mover().args(["explain", "--json"]).arg(path));
    let told = ended.json();
    let objects = told["objects"].as_array().expect("objects");
    let of_a = objects.iter().find(|object| object["name"] == "a");
    let of_a: &Value = of_a.expect("a is shared");
    of_a["protection"]
        .as_str()
        .or(of_a["kind"].as_str())
        .expect("a kind")
        .to_string()
}

#[test]
fn both_forms_are_locks_and_their_movers_commute() {
    let one_cell_with_a_byte = [
        ("atomic { rw != 255 -> rw++ }", "rw--"),
        ("atomic { rw == 0 -> rw = 255 }", "rw++"),
    ];
    let two_cells = [
        ("atomic { !writing -> readers++ }", "readers--"),
        (
            "atomic { readers == 0 && !writing -> writing = true }",
            "writing = false",
        ),
    ];
    let names_its_writer = [
        (
            "atomic { writer == 0 -> readers++ }",
            "readers = readers - 1",
        ),
        (
            "atomic { writer == 0 && readers == 0 -> writer = _pid + 1 }",
            "atomic { assert(writer == _pid + 1); writer = 0 }",
        ),
    ];
    for (name, declared, [read, write]) in [
        ("one", "short rw;", ONE_CELL),
        ("byte", "byte rw;", one_cell_with_a_byte),
        ("two", "byte readers; bool writing;", two_cells),
        ("named", "byte readers, writer;", names_its_writer),
    ] {
        let path = file(name, &program(declared, read, write));
        assert_eq!(protection(&path), "protected", "{name}");
        let states = |reduction: &str| {
            let ended = run(mover()
                .args(["check", "--check-movers", "--json", "--reduce", reduction])
                .arg(&path));
            assert_eq!(ended.code, Some(0), "{name} {reduction}: {}", ended.stderr);
            ended.json()["states"].as_u64().expect("states")
        };
        let all = states("none");
        for reduction in ["static", "phase", "dynamic"] {
            let reduced = states(reduction);
            assert!(reduced * 5 < all, "{name} {reduction}: {reduced} of {all}");
        }
    }
}

#[test]
fn what_is_not_quite_a_reader_writer_lock_is_none() {
    let [read, write] = ONE_CELL;
    for (name, declared, read, write) in [
        // Writers do not wait for readers.
        (
            "rude",
            "short rw;",
            read,
            ("atomic { rw >= 0 -> rw = -1 }", write.1),
        ),
        // Readers do not wait for writers.
        ("blind", "short rw;", ("rw++", read.1), write),
        // A reader becomes a writer.
        (
            "upgrade",
            "short rw;",
            (read.0, "atomic { rw == 1 -> rw = -1 }; a++; b++; rw = 0"),
            write,
        ),
        // A reader looks at how many there are.
        (
            "counts",
            "short rw;",
            (read.0, "atomic { y = y + (rw > 1); rw-- }"),
            write,
        ),
        // Somebody looks from outside.
        (
            "else",
            "short rw;",
            (
                "if :: atomic { rw >= 0 -> rw++ } :: else -> goto end fi",
                "rw--; end: skip",
            ),
            write,
        ),
        // Somebody gives back what it does not have.
        ("thief", "short rw;", read, (write.0, "rw = 0; rw = 0")),
        // The cell is too small for its readers.
        (
            "wraps",
            "bit rw;",
            ("atomic { rw == 0 -> rw++ }", "rw--"),
            ("atomic { rw == 0 -> rw = 1 }", "rw = 0; rw = 0"),
        ),
    ] {
        let path = file(name, &program(declared, read, write));
        assert_eq!(protection(&path), "unprotected", "{name}");
        all_reductions_agree(name, &path);
    }
}

#[test]
fn data_that_readers_write_is_not_protected() {
    let [read, write] = ONE_CELL;
    let text = program("short rw;", read, write).replace("x = a;", "x = a; a = x;");
    let path = file("writing_reader", &text);
    assert_eq!(protection(&path), "unprotected");
    let codes: Vec<Option<i32>> = ["none", "static", "phase", "dynamic"]
        .iter()
        .map(|reduction| run(mover().args(["check", "--reduce", reduction]).arg(&path)).code)
        .collect();
    assert_eq!(codes, [Some(0); 4]);
}

#[test]
fn deadlocks_of_readers_and_writers_are_found() {
    let text = "short p, q;\n\
        active proctype A() { atomic { p >= 0 -> p++ }; atomic { q == 0 -> q = -1 }; q = 0; p-- }\n\
        active proctype B() { atomic { q >= 0 -> q++ }; atomic { p == 0 -> p = -1 }; p = 0; q-- }\n";
    let path = file("crossed", text);
    for reduction in ["none", "static", "phase", "dynamic"] {
        let ended = run(mover()
            .args(["check", "--json", "--reduce", reduction])
            .arg(&path));
        assert_eq!(ended.code, Some(10), "{reduction}");
        assert_eq!(ended.json()["property"], "no-deadlock", "{reduction}");
    }
}

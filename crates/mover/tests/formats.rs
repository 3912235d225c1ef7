//! What mover writes for other tools is read by other tools: JSON schemas, a YAML
//! reader, a GraphML reader, a SARIF reader, Graphviz, and SPIN, which plays trails.

mod common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ended, mover, own_examples, repository, run};

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("formats")
        .join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory
}

/// The interpreter with the readers in it.
fn python() -> PathBuf {
    let made = Command::new(repository().join("scripts/test-venv"))
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-venv"))
        .output()
        .expect("the script can be started");
    let said = String::from_utf8_lossy(&made.stdout).trim().to_string();
    let failed = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "no Python environment: {failed}");
    PathBuf::from(said)
}

/// The examples of a language that are promised to be unsafe, with their options.
fn unsafe_examples(folder: &str, extension: &str) -> Vec<(PathBuf, String, Vec<String>)> {
    let mut found = Vec::new();
    for file in own_examples(folder, extension) {
        let text = std::fs::read_to_string(&file).expect("a readable example");
        let words = |key: &str| -> Vec<String> {
            let line = text.lines().find_map(|line| line.split_once(key));
            line.map_or(Vec::new(), |(_, rest)| {
                rest.split_whitespace().map(ToString::to_string).collect()
            })
        };
        if words("expect:")
            .first()
            .is_some_and(|word| word == "unsafe")
        {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            found.push((file.clone(), name.into_owned(), words("options:")));
        }
    }
    assert!(found.len() >= 7, "only {} unsafe examples", found.len());
    found
}

fn said(output: std::io::Result<std::process::Output>) -> Ended {
    let output = output.expect("it can be started");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn every_file_is_accepted_by_an_independent_reader() {
    let folder = scratch("read");
    let mut unsafe_programs = 0;
    for (file, name, options) in unsafe_examples("c", "c") {
        let written = run(mover()
            .args(["check", "--quiet", "--trace"])
            .arg(folder.join(format!("{name}.trace.json")))
            .arg("--witness")
            .arg(folder.join(format!("{name}.yml")))
            .arg("--sarif")
            .arg(folder.join(format!("{name}.sarif")))
            .args(&options)
            .arg(&file));
        assert_eq!(written.code, Some(10), "{name}: {}", written.stderr);
        let written = run(mover()
            .args(["check", "--quiet", "--reduce", "static", "--witness"])
            .arg(folder.join(format!("{name}.graphml")))
            .args(&options)
            .arg(&file));
        assert_eq!(written.code, Some(10), "{name}: {}", written.stderr);
        unsafe_programs += 1;
    }
    let mut models = 0;
    for (file, name, _) in unsafe_examples("promela", "pml") {
        let written = run(mover()
            .args(["check", "--quiet", "--trace"])
            .arg(folder.join(format!("{name}-pml.trace.json")))
            .arg("--sarif")
            .arg(folder.join(format!("{name}-pml.sarif")))
            .arg(&file));
        assert_eq!(written.code, Some(10), "{name}: {}", written.stderr);
        models += 1;
    }
    // Proofs, and the older YAML.
    let safe = folder.join("safe.c");
    std::fs::write(&safe, LOCKED).expect("a program can be written");
    for (end, options) in [
        ("yml", &["--engine", "ic3"][..]),
        ("graphml", &["--engine", "ic3"]),
        ("sarif", &[]),
    ] {
        let option = if end == "sarif" {
            "--sarif"
        } else {
            "--witness"
        };
        let written = run(mover()
            .args(["check", "--quiet", option])
            .arg(folder.join(format!("safe.{end}")))
            .args(options)
            .arg(&safe));
        assert_eq!(written.code, Some(0), "{end}: {}", written.stderr);
    }
    let proof = std::fs::read_to_string(folder.join("safe.yml")).expect("a witness");
    assert!(proof.contains("location_invariant"), "{proof}");
    let older = run(mover()
        .args([
            "check",
            "--quiet",
            "--witness-format",
            "yaml20",
            "--witness",
        ])
        .arg(folder.join("older.yml"))
        .arg(repository().join("examples/c/nondeterministic_input.c")));
    assert_eq!(older.code, Some(10), "{}", older.stderr);
    let older = std::fs::read_to_string(folder.join("older.yml")).expect("a witness");
    assert!(older.contains("\\\\result == "), "{older}");

    // Answers of all kinds.
    let asked = [
        ("promela/mutex_naive.pml", &["--engine", "bmc"][..], 10),
        (
            "promela/peterson2.pml",
            &["--certify", "--reduce", "static"],
            0,
        ),
        (
            "promela/peterson2.pml",
            &["--certify", "--engine", "ic3"],
            0,
        ),
        (
            "promela/peterson2.pml",
            &["--engine", "bmc", "--depth", "2"],
            5,
        ),
        (
            "promela/ring_buffer.pml",
            &["--reduce", "none", "--timeout", "0"],
            5,
        ),
        ("c/lost_update.c", &["--certify"], 10),
    ];
    for (number, (example, options, code)) in asked.iter().enumerate() {
        let example = repository().join("examples").join(example);
        let ended = run(mover()
            .args(["check", "--json"])
            .args(*options)
            .arg(&example));
        assert_eq!(ended.code, Some(*code), "{options:?}: {}", ended.stderr);
        let file = folder.join(format!("{number}.answer.json"));
        std::fs::write(file, &ended.stdout).expect("an answer can be kept");
    }

    let histories = ["write-skew", "long-fork"];
    for name in histories {
        let example = repository().join(format!("examples/histories/{name}.edn"));
        let ended = run(mover().args(["tm", "history", "--json"]).arg(&example));
        assert_eq!(ended.code, Some(10), "{}", ended.stderr);
        let file = folder.join(format!("{name}.history.json"));
        std::fs::write(file, &ended.stdout).expect("an answer can be kept");
    }

    let read = said(
        Command::new(python())
            .arg(repository().join("crates/mover/tests/formats/readers.py"))
            .arg(repository().join("docs/schemas"))
            .arg(&folder)
            .arg(official_sarif_schema())
            .output(),
    );
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    assert_eq!(
        read.stdout.trim(),
        format!(
            ".trace.json={} .answer.json={} .history.json={} .yml={} .graphml={} .sarif={}",
            unsafe_programs + models,
            asked.len(),
            histories.len(),
            unsafe_programs + 2,
            unsafe_programs + 1,
            unsafe_programs + models + 1
        )
    );
}

/// The schema as the committee published it, from a package that comes with it.
fn official_sarif_schema() -> PathBuf {
    let manifest = repository().join("crates/mover/tests/formats/schema/Cargo.toml");
    let told = said(
        Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--format-version", "1"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .arg("--manifest-path")
            .arg(manifest)
            .output(),
    );
    let packages = told.json()["packages"].clone();
    let found = packages
        .as_array()
        .and_then(|packages| {
            packages
                .iter()
                .find(|package| package["name"] == "serde-sarif")
        })
        .and_then(|package| package["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("cargo does not know serde-sarif: {}", told.stderr));
    Path::new(found).with_file_name("src/schema.json")
}

const LOCKED: &str = "\
#include <assert.h>
#include <pthread.h>
int flag;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    for (;;) {
        pthread_mutex_lock(&lock);
        flag = flag == 2 ? 0 : flag + 1;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        assert(flag != 3);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
";

/// SPIN plays each trail to its end, says the same assertion or stands in the same
/// deadlock, and ends with the same values of the global variables.
#[test]
fn spin_plays_the_trails() {
    let folder = scratch("trails");
    let mut compared = 0;
    let mut models = unsafe_examples("promela", "pml");
    // Numbering is tried on what the examples leave out.
    for (name, text) in NUMBERED {
        let file = folder.join(format!("{name}.pml"));
        std::fs::write(&file, text).expect("a model can be written");
        models.push((file, (*name).to_string(), Vec::new()));
    }
    for (file, name, _) in models {
        for order in ["bfs", "dfs"] {
            let trail = folder.join(format!("{name}-{order}.trail"));
            let answer = run(mover()
                .args(["check", "--quiet", "--json", "--order", order, "--trail"])
                .arg(&trail)
                .arg(&file));
            assert_eq!(answer.code, Some(10), "{name}: {}", answer.stderr);
            let answer = answer.json();
            let played = said(
                Command::new("spin")
                    .arg("-k")
                    .arg(&trail)
                    .args(["-p", "-g"])
                    .arg(&file)
                    .current_dir(&folder)
                    .output(),
            )
            .stdout;
            let steps = answer["trace"].as_array().expect("a trace");
            let last = steps.last().expect("a step");
            assert!(played.contains("trail ends after"), "{name}: {played}");
            assert!(!played.contains("lost trail"), "{name}: {played}");
            if answer["property"] == "unreach-call" {
                let line = format!(":{}, Error:", last["line"]);
                assert!(played.contains(&line), "{name} {order}: {line} {played}");
            } else {
                assert!(!played.contains("Error:"), "{name} {order}: {played}");
            }
            let mut values: HashMap<&str, &str> = HashMap::new();
            for change in steps
                .iter()
                .flat_map(|step| step["changes"].as_array())
                .flatten()
            {
                let name = change["name"].as_str().expect("a name");
                values.insert(name, change["to"].as_str().expect("a value"));
            }
            let end = played
                .split("#processes")
                .nth(1)
                .expect("the end of the run");
            for line in end.lines() {
                let Some((variable, value)) = line.trim().split_once(" = ") else {
                    continue;
                };
                if let Some(ours) = values.get(variable) {
                    assert_eq!(*ours, value, "{name} {order}: {variable}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 20, "only {compared} values were compared");
}

/// Models whose statements SPIN numbers in unusual ways; each fails at its end.
const NUMBERED: &[(&str, &str)] = &[
    (
        "unless",
        "byte x;\nactive proctype P() {\n  x = 1 unless (x == 9);\n  { x = 2; x = 3 } unless { x == 8 };\n  \
         atomic { x = 4; x = 5 } unless (x == 7);\n  do :: x < 6 -> x++ :: else -> break od unless x == 20;\n  \
         assert(x == 0)\n}\n",
    ),
    (
        "loops",
        "byte x; byte i;\ninline twice(n) { x = x + n; x = x + n }\nproctype Q(byte n) { twice(n); twice(1) }\n\
         init {\n  for (i : 1 .. 3) { x = x + i }\n  select (i : 2 .. 2);\n  if :: x == 6 -> twice(2) :: else fi;\n  \
         run Q(3);\n  (x == 18);\n  assert(x == 0)\n}\n",
    ),
    (
        "steps",
        "byte x, y; chan c = [0] of { byte }; chan d = [1] of { byte };\n\
         active proctype P() {\n  byte v = 3;\n  d_step { x = 1; if :: x == 1 -> y = 2 :: else -> y = 3 fi; x++ };\n  \
         c!v; end: goto next;\nnext: d!x; assert(y == 0)\n}\n\
         active proctype R() { byte w; c?w; { w = w + 1; x = w }; d?w }\n",
    ),
];

#[test]
fn graphviz_reads_the_graph_and_it_has_all_states() {
    let folder = scratch("graph");
    let model = repository().join("examples/promela/peterson2.pml");
    let dot = folder.join("peterson2.dot");
    let answer = run(mover()
        .args(["check", "--reduce", "none", "--json", "--graph"])
        .arg(&dot)
        .arg(&model));
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let plain = said(Command::new("dot").arg("-Tplain").arg(&dot).output()).stdout;
    let nodes = plain
        .lines()
        .filter(|line| line.starts_with("node "))
        .count();
    let edges = plain
        .lines()
        .filter(|line| line.starts_with("edge "))
        .count();
    let answer = answer.json();
    assert_eq!(Some(nodes as u64), answer["states"].as_u64());
    assert_eq!(Some(edges as u64), answer["transitions"].as_u64());

    let svg = folder.join("naive.svg");
    let answer = run(mover()
        .args(["check", "--quiet", "--graph"])
        .arg(&svg)
        .arg(repository().join("examples/promela/mutex_naive.pml")));
    assert_eq!(answer.code, Some(10), "{}", answer.stderr);
    let text = std::fs::read_to_string(&svg).expect("a picture");
    assert!(text.contains("<svg") && text.contains("#f4b6b6"), "{text}");

    let large = folder.join("large.dot");
    let answer = run(mover()
        .args(["check", "--quiet", "--graph-limit", "10", "--graph"])
        .arg(&large)
        .arg(&model));
    assert!(
        answer.stderr.contains("more than 10 states"),
        "{}",
        answer.stderr
    );
    assert_eq!(answer.code, Some(6));
    assert!(!large.exists());
}

#[test]
fn what_cannot_be_written_is_said_before_the_search() {
    let folder = scratch("unwritable");
    let model = repository().join("examples/promela/mutex_naive.pml");
    let program = repository().join("examples/c/lost_update.c");
    let nowhere = folder.join("nowhere");
    for (arguments, name, file, what) in [
        ("--sarif", "nowhere/x.sarif", &model, "cannot write"),
        ("--trail", "nowhere/x.trail", &model, "cannot write"),
        ("--graph", "nowhere/x.dot", &model, "cannot write"),
        ("--witness", "nowhere/x.yml", &program, "cannot write"),
        ("--sarif", ".", &model, "cannot write"),
        ("--graph", "x.png", &model, ".dot or .svg"),
        ("--witness", "x.txt", &program, ".yml or .graphml"),
        ("--witness", "x.yml", &model, "for C programs"),
        ("--trail", "x.trail", &program, "for Promela models"),
    ] {
        let refused = run(mover()
            .arg("check")
            .arg(arguments)
            .arg(folder.join(name))
            .arg(file));
        assert_eq!(refused.code, Some(1), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(what), "{name}: {}", refused.stderr);
        assert!(refused.stdout.is_empty(), "{name}");
    }
    assert!(!nowhere.exists());
    // What is no file is written to, not replaced.
    let printed = run(mover()
        .args(["check", "--quiet", "--sarif", "/dev/stderr"])
        .arg(&model));
    assert_eq!(printed.code, Some(10));
    assert!(printed.stderr.contains("\"2.1.0\""), "{}", printed.stderr);
    let left: Vec<_> = std::fs::read_dir(&folder).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
    let claims = folder.join("claims.pml");
    std::fs::write(
        &claims,
        "byte x;\nactive proctype P() { x = 1; assert(x == 0) }\nltl p { [] (x < 2) }\n",
    )
    .expect("a model can be written");
    let answer = run(mover()
        .args(["check", "--quiet", "--trail"])
        .arg(folder.join("claims.trail"))
        .arg(&claims));
    assert!(answer.stderr.contains("claims"), "{}", answer.stderr);
    assert!(answer.stdout.contains("unsafe"), "{}", answer.stdout);
}

//! What scripts and people rely on at the command line: exit codes, the JSON,
//! the last line, limits, and a sentence instead of a crash for bad input.

#[path = "cli/batch.rs"]
mod batch;
#[path = "cli/building.rs"]
mod building;
#[path = "cli/certify.rs"]
mod certify;
#[path = "cli/checkpoint.rs"]
mod checkpoint;
mod common;
#[path = "cli/delegate.rs"]
mod delegate;
#[path = "cli/errors.rs"]
mod errors;
#[path = "cli/exclusive.rs"]
mod exclusive;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/guide.rs"]
mod guide;
#[path = "cli/ignoring.rs"]
mod ignoring;
#[path = "cli/ltl.rs"]
mod ltl;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/processes.rs"]
mod processes;
#[path = "cli/progress.rs"]
mod progress;
#[path = "cli/simulate.rs"]
mod simulate;
#[path = "cli/size.rs"]
mod size;
#[path = "cli/stories.rs"]
mod stories;
#[path = "cli/tricks.rs"]
mod tricks;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ended, mover, own_examples, repository, run};
use serde_json::Value;

/// Four billion states: no run of a test gets to the end.
const ENDLESS: &str = "\
byte a, b, c, d;
active proctype A() { do :: a++ od }
active proctype B() { do :: b++ od }
active proctype C() { do :: c++ od }
active proctype D() { do :: d++ od }
";

/// More states than anybody can visit, even with reductions, and a question that no solver answers in a hurry.
const HARD: &str = "\
int a = 1, b = 1;
active proctype A() { do :: a = a * (a + b) + 3 od }
active proctype B() { do :: b = b * (a + 7) + 1; assert(a * b != 1000006) od }
";

const FAILING: &str = "\
byte x;
active proctype P() {
    x = 1;
    assert(x == 0)
}
";

const DEADLOCKED: &str = "\
chan c = [0] of { byte };
active proctype P() {
    c!1
}
";

const SAFE: &str = "active proctype P() { skip }\n";

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory.join(name)
}

/// A file for one test; tests run at the same time, so each has its own name.
fn model(name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch(&format!("{name}.pml"));
    std::fs::write(&path, text).expect("a model can be written");
    path
}

fn check(path: &Path, options: &[&str]) -> Ended {
    run(mover().arg("check").args(options).arg(path))
}

fn last_line(ended: &Ended) -> &str {
    ended.stdout.lines().last().unwrap_or_default()
}

#[track_caller]
fn assert_refused(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "");
    assert_never_a_panic(ended);
    for word in words {
        assert!(
            ended.stderr.contains(word),
            "no `{word}` in {}",
            ended.stderr
        );
    }
}

#[track_caller]
fn assert_never_a_panic(ended: &Ended) {
    let crashed = ended.stderr.contains("panicked") || ended.stderr.contains("internal error");
    assert!(!crashed, "{}", ended.stderr);
}

#[track_caller]
fn assert_unsafe(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
    for word in words {
        assert!(
            last_line(ended).contains(word),
            "no `{word}` in {}",
            last_line(ended)
        );
    }
}

#[test]
fn exit_codes_and_last_lines_tell_the_verdict() {
    let ended = check(&model("exit-safe", SAFE), &[]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        last_line(&ended),
        "safe: no assertion can fail and no deadlock is reachable"
    );

    let ended = check(&model("exit-assert", FAILING), &[]);
    assert_unsafe(
        &ended,
        &[
            "unsafe: assertion violated: (x == 0)",
            "exit-assert.pml:4",
            "(unreach-call)",
        ],
    );

    let ended = check(&model("exit-deadlock", DEADLOCKED), &[]);
    assert_unsafe(&ended, &["unsafe: deadlock", "P[0]", "(no-deadlock)"]);
}

#[test]
fn a_text_trace_shows_thread_line_statement_and_changes() {
    let ended = check(&model("text-trace", FAILING), &[]);
    let steps: Vec<Vec<&str>> = ended
        .stdout
        .lines()
        .skip(2)
        .take(3)
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(steps[0], ["step", "thread", "line", "statement", "changes"]);
    assert_eq!(
        steps[1],
        ["1", "P[0]", "3", "x = 1", "x: 0 → 1", "◀ makes x 1"]
    );
    assert_eq!(
        steps[2],
        [
            "2",
            "P[0]",
            "4",
            "assert(x == 0)",
            "◀ finds x = 1, and fails"
        ]
    );
    let sentence = "P[0] finds x = 1, and fails at line 4: assertion violated: (x == 0)";
    assert_eq!(ended.stdout.lines().next(), Some(sentence));
}

/// The fixed fields and whether their values have the fixed types.
fn assert_fixed_fields(answer: &Value) {
    let fields = answer.as_object().expect("an object");
    for name in ["verdict", "property", "engine", "reduction"] {
        assert!(fields[name].is_string(), "{name}: {}", fields[name]);
    }
    for name in [
        "states",
        "transitions",
        "depth",
        "violations",
        "store_bytes",
    ] {
        assert!(fields[name].is_u64(), "{name}: {}", fields[name]);
    }
    for name in ["time_s", "peak_mb"] {
        assert!(fields[name].is_f64(), "{name}: {}", fields[name]);
    }
    let caveats = fields["caveats"].as_array().expect("caveats");
    assert!(caveats.iter().all(Value::is_string));
    let properties = fields["properties"].as_array().expect("properties");
    let has_words = |one: &Value| one["property"].is_string() && one["status"].is_string();
    assert!(properties.iter().all(has_words));
    assert!(fields["bound"].is_null());
    let is_unsafe = fields["verdict"] == "unsafe";
    assert_eq!(fields["trace"].is_array(), is_unsafe);
    assert_eq!(fields["reason"].is_string(), fields["verdict"] != "safe");
}

#[test]
fn json_is_one_object_with_the_fixed_fields() {
    for (name, text, verdict, code) in [
        ("json-safe", SAFE, "safe", 0),
        ("json-unsafe", FAILING, "unsafe", 10),
        ("json-deadlock", DEADLOCKED, "unsafe", 10),
    ] {
        let ended = check(&model(name, text), &["--json"]);
        assert_eq!(ended.code, Some(code));
        assert_eq!(ended.stdout.lines().count(), 1);
        let answer = ended.json();
        assert_eq!(answer["verdict"], verdict);
        assert_fixed_fields(&answer);
    }
    let ended = check(
        &model("json-unknown", HARD),
        &["--json", "--timeout", "0.2"],
    );
    let answer = ended.json();
    assert_eq!(
        (ended.code, &answer["verdict"]),
        (Some(5), &Value::from("unknown"))
    );
    assert_fixed_fields(&answer);
}

#[test]
fn json_steps_have_names_places_and_changes() {
    let answer = check(&model("json-steps", FAILING), &["--json"]).json();
    let step = &answer["trace"][0];
    assert_eq!(step["name"], "P[0]");
    assert_eq!(step["line"], 3);
    assert_eq!(step["text"], "x = 1");
    assert_eq!(step["changes"][0]["name"], "x");
    assert_eq!(step["changes"][0]["to"], "1");
    assert_eq!(answer["property"], "unreach-call");
}

#[test]
fn json_and_text_are_from_the_same_search() {
    for path in own_examples("promela", "pml").into_iter().take(4) {
        let answer = check(&path, &["--json"]).json();
        let text = check(&path, &[]);
        let verdict = answer["verdict"].as_str().expect("a verdict");
        assert!(last_line(&text).starts_with(verdict), "{}", text.stdout);
    }
}

#[test]
fn the_program_can_be_printed_instead_of_checked() {
    let ended = check(&model("dump", FAILING), &["--dump", "ir"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("thread P()"), "{}", ended.stdout);
    assert!(ended.stdout.contains("x := 1"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("error unreach-call"),
        "{}",
        ended.stdout
    );
}

#[test]
fn keep_going_visits_everything_behind_a_violation() {
    let path = model(
        "keep-going",
        "byte x;\nactive proctype P() { assert(x == 1); x = 1; x = 2; x = 3 }\n",
    );
    let first = check(&path, &["--json"]).json();
    let all = check(&path, &["--json", "--keep-going"]).json();
    assert_eq!(first["states"], 1);
    assert_eq!(all["verdict"], "unsafe");
    assert!(all["states"].as_u64() >= Some(5), "{all}");
}

#[track_caller]
fn assert_unknown(ended: &Ended, reason: &str) {
    assert_eq!(ended.code, Some(5), "{}{}", ended.stdout, ended.stderr);
    assert!(
        last_line(ended).starts_with("unknown: "),
        "{}",
        ended.stdout
    );
    assert!(last_line(ended).contains(reason), "{}", ended.stdout);
    let statistics = ended.stdout.lines().any(|line| {
        line.starts_with("explicit engine") && line.contains("states") && line.contains("steps")
    });
    assert!(statistics, "{}", ended.stdout);
    assert!(ended.stdout.contains("try: "), "{}", ended.stdout);
}

#[test]
fn the_time_limit_ends_in_unknown() {
    let started = Instant::now();
    let ended = check(&model("timeout", HARD), &["--timeout", "0.5"]);
    assert_unknown(&ended, "time limit");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_memory_limit_ends_in_unknown_and_is_kept() {
    let path = model("memory", ENDLESS);
    let options = ["--memory", "8", "--reduce", "none"];
    assert_unknown(&check(&path, &options), "memory limit");
    let answer = check(&path, &[&options[..], &["--json"]].concat()).json();
    assert!(answer["store_bytes"].as_u64() <= Some(8 << 20), "{answer}");
    assert!(answer["states"].as_u64() > Some(1000), "{answer}");
}

#[test]
fn an_interrupt_ends_in_unknown() {
    let mut child = mover()
        .arg("check")
        .arg(model("interrupt", HARD))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mover can be started");
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("there is `kill`").success());
    let mut stdout = String::new();
    let pipe = child.stdout.as_mut().expect("a pipe");
    pipe.read_to_string(&mut stdout).expect("text");
    let code = child.wait().expect("an end").code();
    let ended = Ended {
        code,
        stdout,
        stderr: String::new(),
    };
    assert_unknown(&ended, "interrupted");
}

#[test]
fn wrong_usage_is_exit_1() {
    let path = model("usage", SAFE);
    for options in [
        vec!["--nonsense"],
        vec!["--property", "nonsense"],
        vec!["--order", "sideways"],
        vec!["--timeout", "soon"],
        vec!["--timeout", "-1"],
        vec!["--timeout=-1"],
        vec!["--timeout", "nan"],
        vec!["--timeout", "5e18"],
        vec!["--timeout", "1e99"],
        vec![
            "--checkpoint",
            "usage.checkpoint",
            "--checkpoint-every",
            "1e99",
        ],
        vec!["--jobs", "0"],
        vec!["--engine", "token", "--reduce", "static"],
        vec!["--engine", "token", "--contexts", "2"],
        vec!["--engine", "token", "--context-bound", "3..1"],
        vec!["--engine", "bmc", "--pairs", "lex"],
        vec!["--engine", "ic3", "--order", "dfs"],
        vec!["--engine", "ic3", "--reduce", "left"],
        vec![
            "--engine",
            "bmc",
            "--reduce",
            "static",
            "--ignoring",
            "blocks",
        ],
        vec!["--engine", "bmc", "--keep-going"],
        vec!["--reduce", "none", "--ignoring", "cpc"],
        vec!["--reduce", "none", "--ignoring", "blocks"],
        vec!["--reduce", "static", "--ignoring", "luck"],
        vec!["--reduce", "left", "--ignoring", "lfs", "--order", "bfs"],
    ] {
        let ended = check(&path, &options);
        assert_eq!(
            ended.code,
            Some(1),
            "{options:?}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert_eq!(ended.stdout, "", "{options:?}");
        assert!(!ended.stderr.is_empty(), "{options:?}");
    }
    assert_eq!(run(mover().arg("check")).code, Some(1));
    assert_eq!(run(&mut mover()).code, Some(1));
    assert_eq!(run(mover().arg("--help")).code, Some(0));
    assert_eq!(run(mover().arg("--version")).code, Some(0));
}

#[test]
fn files_that_are_no_models_are_refused_with_a_sentence() {
    let executable = std::fs::read(env!("CARGO_BIN_EXE_mover")).expect("mover can be read");
    assert_refused(
        &check(&scratch("is-not-there.pml"), &[]),
        &["is-not-there.pml", "No such file"],
    );
    assert_refused(&check(&repository(), &[]), &["is a directory"]);
    assert_refused(&check(&model("empty", ""), &[]), &["empty.pml` is empty"]);
    assert_refused(
        &check(&model("binary", &executable[..4096]), &[]),
        &["binary file"],
    );
    assert_refused(&check(&scratch("program.c"), &[]), &["program.c"]);
}

/// Reproducible noise (xorshift).
fn noise(length: usize) -> impl Iterator<Item = u8> {
    let mut word = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(move || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        (word >> 32) as u8
    })
    .take(length)
}

#[test]
fn a_megabyte_of_noise_is_refused() {
    let bytes: Vec<u8> = noise(1 << 20).collect();
    assert_refused(&check(&model("noise", bytes), &[]), &["noise.pml"]);
    // Without the bytes that give a binary file away, the parser has to cope.
    let text: Vec<u8> = noise(1 << 20)
        .map(|byte| if byte < 8 { b'\n' } else { b' ' + byte % 95 })
        .collect();
    assert_refused(
        &check(&model("printable-noise", text), &[]),
        &["printable-noise.pml", "error"],
    );
}

#[test]
fn several_errors_are_shown_in_one_run() {
    let ended = check(
        &model("several", "active proctype P() {\n  a = 1;\n  b = 2\n}\n"),
        &[],
    );
    assert_refused(&ended, &["several.pml:2", "several.pml:3", "2 errors"]);
}

#[test]
fn a_trace_can_be_written_and_replayed_and_a_wrong_one_is_refused() {
    let path = model("replayed", FAILING);
    let trace = scratch("replayed.json");
    assert_eq!(
        check(&path, &["--trace", &trace.to_string_lossy()]).code,
        Some(10)
    );
    let replayed = run(mover().arg("replay").arg(&path).arg(&trace));
    assert_unsafe(&replayed, &["the run is possible", "assertion violated"]);

    let other = run(mover()
        .arg("replay")
        .arg(model("other", DEADLOCKED))
        .arg(&trace));
    assert_refused(&other, &["not a run of this program"]);
    let broken = scratch("broken.json");
    std::fs::write(&broken, "{\"format\": ").expect("a file");
    assert_refused(
        &run(mover().arg("replay").arg(&path).arg(&broken)),
        &["broken.json"],
    );
    assert_refused(
        &run(mover()
            .arg("replay")
            .arg(&path)
            .arg(scratch("no-trace.json"))),
        &["no-trace.json"],
    );
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_but_the_answer_is_shown() {
    let ended = check(&model("unwritable", FAILING), &["--trace", "/dev/full"]);
    assert_eq!(ended.code, Some(6));
    assert!(
        ended.stderr.contains("cannot write /dev/full"),
        "{}",
        ended.stderr
    );
    assert!(
        last_line(&ended).starts_with("unsafe: "),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let path = repository().join("examples/promela/philosophers_deadlock.pml");
    let mut child = mover()
        .arg("check")
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mover can be started");
    drop(child.stdout.take());
    let mut stderr = String::new();
    let pipe = child.stderr.as_mut().expect("a pipe");
    pipe.read_to_string(&mut stderr).expect("text");
    assert_eq!(child.wait().expect("an end").code(), Some(10));
    assert_eq!(stderr, "");
}

/// Names are names, also for the programs that mover starts.
#[test]
fn a_name_that_begins_like_an_option_is_a_name() {
    let folder = scratch("like_options");
    std::fs::create_dir_all(&folder).expect("a directory");
    let checked = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file");
        run(mover().args(["check", "--", name]).current_dir(&folder))
    };
    let preprocessed = "#define X 0\nactive proctype P() { assert(X) }\n";
    assert_unsafe(&checked("-x.pml", preprocessed), &["-x.pml:2"]);
    assert_unsafe(&checked("-y.pml", FAILING), &["-y.pml:4"]);
    #[cfg(feature = "c")]
    {
        let failing = "#include <assert.h>\nint main(void) {\n  assert(0);\n}\n";
        assert_unsafe(&checked("-x.c", failing), &["-x.c:3"]);
    }
}

/// The preprocessor and the compiler have a standard input of their own.
#[test]
fn what_can_be_read_only_once_is_refused() {
    let ended = run(mover().args(["check", "/dev/stdin"]));
    assert_refused(
        &ended,
        &["/dev/stdin is not a file that can be read", "U010"],
    );
    let pipe = scratch("pipe.pml");
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    assert_refused(&check(&pipe, &[]), &["pipe.pml is not a file", "U010"]);
}

#[test]
fn a_byte_order_mark_is_not_a_part_of_a_model() {
    let path = model("marked", format!("\u{feff}{FAILING}"));
    assert_unsafe(&check(&path, &[]), &["marked.pml:4"]);
    let preprocessed = "\u{feff}#define X 0\nactive proctype P() { assert(X) }\n";
    let path = model("marked_preprocessed", preprocessed);
    assert_unsafe(&check(&path, &[]), &["marked_preprocessed.pml:2"]);
    let path = model("marked_broken", "\u{feff}byte x y;\n");
    assert_refused(&check(&path, &[]), &["marked_broken.pml:1:8"]);
    let algorithm = scratch("marked.tm");
    let text = std::fs::read_to_string(repository().join("examples/tm/seq.tm"));
    let text = text.expect("the example");
    std::fs::write(&algorithm, format!("\u{feff}{text}")).expect("a file");
    let ended = run(mover().args(["tm", "check"]).arg(&algorithm));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    std::fs::write(&algorithm, "\u{feff}algorithm ;\n").expect("a file");
    let ended = run(mover().args(["tm", "check"]).arg(&algorithm));
    assert_refused(&ended, &["marked.tm:1:11"]);
}

#[test]
fn macros_of_the_command_line_reach_the_model() {
    let path = model("defined", "active proctype P() { assert(N == 4) }\n");
    assert_eq!(check(&path, &["-DN=4"]).code, Some(0));
    assert_eq!(check(&path, &["-DN=5"]).code, Some(10));
    assert_refused(&check(&path, &[]), &["N"]);
}

//! `mover tm …` as a user and a script see it: exit codes, last lines, JSON.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn mover(arguments: &[&str]) -> Output {
    with_input(arguments, "")
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mover"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().last().unwrap_or_default().to_string()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_property_that_holds_exits_with_0() {
    let output = mover(&["tm", "check", "examples/tm/2pl.tm", "--property", "opacity"]);
    assert_eq!(code(&output), 0);
    assert!(last_line(&output).starts_with("opacity holds for all numbers"));
    let output = mover(&[
        "tm",
        "check",
        "examples/tm/2pl.tm",
        "--property",
        "opacity",
        "--json",
    ]);
    let answer = json(&output);
    assert_eq!(answer["property"], "opacity");
    assert_eq!(answer["verdict"], "holds");
    assert_eq!(answer["states"], 240);
    assert_eq!(answer["word"], Value::Null);
    assert_eq!(answer["loop"], Value::Null);
    assert!(answer["spec_states"].as_u64().unwrap() > 0);
    assert!(answer["scope"].as_str().unwrap().contains("given P1 to P4"));
}

#[test]
fn a_violation_exits_with_10_and_explains_itself() {
    let file = "examples/tm/tl2-printed.tm";
    let output = mover(&["tm", "check", file, "--property", "opacity", "--json"]);
    assert_eq!(code(&output), 10);
    let answer = json(&output);
    assert_eq!(answer["verdict"], "violated");
    let word = answer["word"].as_str().unwrap().to_string();
    assert!(answer["explanation"].as_str().unwrap().contains("because"));
    // The word, judged on its own, is what check says it is.
    let judged = mover(&["tm", "word", "--json", &word]);
    assert_eq!(code(&judged), 10);
    let judged = json(&judged);
    assert_eq!(judged["word"], word.as_str());
    assert_eq!(judged["strictly_serializable"], true);
    assert_eq!(judged["opaque"], false);
}

#[test]
fn several_properties_give_one_object_with_all_results() {
    let file = "examples/tm/tl2-printed.tm";
    let answer = json(&mover(&["tm", "check", file, "--json"]));
    assert_eq!(answer["property"], "opacity");
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(answer["results"].as_array().unwrap().len(), 2);
    assert_eq!(answer["results"][0]["verdict"], "holds");
}

#[test]
fn liveness_gives_a_loop() {
    let arguments = [
        "tm",
        "check",
        "examples/tm/dstm.tm",
        "--manager",
        "aggressive",
    ];
    let with = |property: &str| {
        let more = [&arguments[..], &["--property", property, "--json"]].concat();
        mover(&more)
    };
    let output = with("obstruction-freedom");
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["verdict"], "holds");
    let output = with("livelock-freedom");
    assert_eq!(code(&output), 10);
    assert_eq!(json(&output)["loop"].as_array().unwrap().len(), 4);
}

#[test]
fn a_search_given_up_exits_with_5() {
    let file = "examples/tm/tl2.tm";
    let output = mover(&[
        "tm",
        "check",
        file,
        "--property",
        "opacity",
        "--max-states",
        "100",
    ]);
    assert_eq!(code(&output), 5);
    assert!(last_line(&output).contains("unknown"));
}

#[test]
fn bad_usage_exits_with_1() {
    assert_eq!(code(&mover(&["tm", "check"])), 1);
    assert_eq!(
        code(&mover(&[
            "tm",
            "check",
            "examples/tm/seq.tm",
            "--property",
            "glory"
        ])),
        1
    );
    assert_eq!(
        code(&mover(&[
            "tm",
            "check",
            "examples/tm/seq.tm",
            "--threads",
            "9"
        ])),
        1
    );
    assert_eq!(
        code(&mover(&[
            "tm",
            "check",
            "examples/tm/seq.tm",
            "--manager",
            "karma"
        ])),
        1
    );
    assert_eq!(
        code(&mover(&[
            "tm",
            "check",
            "examples/tm/seq.tm",
            "--timeout",
            "1e99"
        ])),
        1
    );
}

#[test]
fn unreadable_input_exits_with_2_and_points_at_the_place() {
    assert_eq!(code(&mover(&["tm", "check", "examples/tm/absent.tm"])), 2);
    let file = std::env::temp_dir().join(format!("mover-tm-cli-{}.tm", std::process::id()));
    std::fs::write(
        &file,
        "algorithm a;\non read(v) { do read when v inn x; }\n",
    )
    .unwrap();
    let output = mover(&["tm", "check", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(code(&output), 2);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(":2:29"), "{message}");
    assert!(message.contains("v inn x"), "{message}");
    assert!(message.contains('^'), "{message}");
    let output = mover(&["tm", "word", "(r,1)_1 (x,2)_1"]);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8(output.stderr).unwrap().contains('^'));
}

#[test]
fn words_come_one_to_a_line() {
    let input = "(r,1)_1 c_1\n\n(r,1)_1 (w,1)_2 c_2 (r,1)_1 c_1\n";
    let output = with_input(&["tm", "word", "--json", "-"], input);
    assert_eq!(code(&output), 10);
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["opaque"], true);
    assert_eq!(answers[1]["strictly_serializable"], false);
    let output = mover(&["tm", "word", "c_1"]);
    assert_eq!(code(&output), 0);
    assert_eq!(last_line(&output), "c_1: strictly serializable, opaque");
}

#[test]
fn histories_are_judged() {
    let good = r#"{"thread":1,"op":"write","var":"x","value":1}
{"thread":1,"op":"commit"}
{"thread":2,"op":"read","var":"x","value":1}
"#;
    let output = with_input(&["tm", "history", "-", "--json"], good);
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["opaque"], true);
    let bad = good.replace(
        r#""read","var":"x","value":1"#,
        r#""read","var":"x","value":0"#,
    );
    let output = with_input(&["tm", "history", "-", "--json"], &bad);
    assert_eq!(code(&output), 10);
    let answer = json(&output);
    assert_eq!(answer["strictly_serializable"], true);
    assert_eq!(answer["opaque"], false);
    assert_eq!(code(&with_input(&["tm", "history", "-"], "{\n")), 2);
}

#[test]
fn a_level_is_asked_for_by_name() {
    let skew = "examples/histories/write-skew.edn";
    for (level, expected) in [
        ("read-uncommitted", 0),
        ("read-committed", 0),
        ("snapshot-isolation", 0),
        ("repeatable-read", 10),
        ("serializable", 10),
        ("strict-serializable", 10),
        ("opacity", 10),
    ] {
        let output = mover(&["tm", "history", skew, "--isolation", level]);
        assert_eq!(code(&output), expected, "{level}");
        assert!(last_line(&output).contains(level), "{}", last_line(&output));
    }
    let answer = json(&mover(&["tm", "history", skew, "--json"]));
    assert_eq!(answer["strongest"], "snapshot-isolation");
    assert_eq!(answer["anomalies"][0]["also"], "write skew");
    assert_eq!(answer["levels"]["serializable"]["anomaly"], "G2-item");
    assert_eq!(
        code(&mover(&["tm", "history", skew, "--isolation", "best"])),
        1
    );
}

#[test]
fn unreadable_histories_are_shown_with_their_line() {
    for (input, reason) in [
        ("", "the file has no operation"),
        (
            "{:type :ok, :process 0, :value [[:w :x 1]]}\n{:type :ok, :process 0, :process 1}\n",
            "-:2:",
        ),
        (
            "{\"thread\":1,\"op\":\"commit\",\"oops\":1}\n",
            "the field \"oops\" is unknown",
        ),
    ] {
        let output = with_input(&["tm", "history", "-"], input);
        assert_eq!(code(&output), 2);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(reason), "{said}");
        assert!(said.contains("T030"), "{said}");
        assert!(output.stdout.is_empty());
    }
}

/// A memory in C, recorded natively: the correct one is opaque, the broken one loses updates.
#[test]
#[cfg(feature = "c")]
fn a_recorded_c_program_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    for (define, native, checked) in [("-DCORRECT", 0, 0), ("-DBROKEN", 10, 10)] {
        let program = directory.path().join("stm");
        let compiled = Command::new("cc")
            .args(["-O1", "-pthread", "-Icontrib/recorder", define])
            .arg("examples/histories/stm.c")
            .arg("-o")
            .arg(&program)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .status()
            .unwrap();
        assert!(compiled.success());
        // A broken memory loses an update sooner or later.
        let judged = (0..20)
            .map(|_| {
                let ran = Command::new(&program).output().unwrap();
                let text = String::from_utf8(ran.stdout).unwrap();
                code(&with_input(
                    &["tm", "history", "-", "--isolation", "opacity"],
                    &text,
                ))
            })
            .find(|&code| code != 0)
            .unwrap_or(0);
        assert_eq!(judged, native, "{define}");
        // The same program, all its schedules.
        let output = mover(&[
            "check",
            "examples/histories/stm.c",
            "-DMOVER_HISTORY_OFF",
            "-Icontrib/recorder",
            define,
        ]);
        assert_eq!(code(&output), checked, "{define}");
    }
}

#[test]
fn specifications_and_mutants_are_reported() {
    let output = mover(&["tm", "spec", "--threads", "2", "--vars", "1", "--json"]);
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["equivalent"], true);
    let output = mover(&["tm", "mutate", "examples/tm/seq.tm"]);
    assert_eq!(code(&output), 0);
    assert!(last_line(&output).ends_with("mutants caught"));
}

#[test]
fn a_small_automaton_can_be_drawn() {
    let file = std::env::temp_dir().join(format!("mover-tm-dot-{}.dot", std::process::id()));
    let path = file.to_str().unwrap();
    let output = mover(&["tm", "check", "examples/tm/seq.tm", "--dot", path]);
    assert_eq!(code(&output), 0);
    let picture = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(picture.starts_with("digraph"));
    assert_eq!(picture.matches("[label=\"status").count(), 3);
}

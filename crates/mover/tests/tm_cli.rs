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

//! `mover simulate`: what it shows is a run.

use std::io::Write;
use std::process::Stdio;

use crate::common::{mover, repository, run};

const LIGHTS: &str = "examples/liveness/traffic_light.pml";

#[test]
fn the_same_seed_gives_the_same_run() {
    let simulate = |seed: &str| {
        let mut command = mover();
        command.args(["simulate", "--steps", "30", "--seed", seed]);
        let ended = run(command.arg(repository().join("examples/promela/bakery.pml")));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    assert_eq!(simulate("7"), simulate("7"));
    assert_ne!(simulate("7"), simulate("8"));
}

#[test]
fn a_run_into_an_error_ends_there() {
    let model = repository().join("examples/promela/mutex_naive.pml");
    let found = (1..40).any(|seed| {
        let seed = seed.to_string();
        let ended = run(mover().args(["simulate", "--seed", &seed]).arg(&model));
        ended.code == Some(10) && ended.stdout.contains("\nunsafe: assertion violated")
    });
    assert!(found, "no run of 39 has the error");
}

#[test]
fn steps_are_chosen_and_taken_back() {
    let mut child = mover()
        .args(["simulate", "--interactive"])
        .arg(repository().join(LIGHTS))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("mover can be started");
    let mut input = child.stdin.take().expect("a pipe");
    // Two steps, values, one step back, values, nonsense, the end.
    input.write_all(b"1\n1\nv\nb\nv\nhm\nq\n").expect("written");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let (green, red) = (text.find("north = green\n"), text.rfind("north = red\n"));
    assert!(green.is_some() && green < red, "{text}");
    assert!(text.contains("a number, b (back)"), "{text}");
    assert!(text.ends_with("stopped after 1 steps\n"), "{text}");
}

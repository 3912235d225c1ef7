//! What is seen of a search while it runs: lines on a terminal, objects for other programs, nothing
//! otherwise; and that one signal ends a search with what is known, two end it at once.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::HARD;
use crate::common::{mover, run};

fn model(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("progress_{name}.pml"));
    std::fs::write(&file, HARD).expect("a scratch file");
    file
}

/// Runs mover on a terminal and gives what it showed there.
fn on_a_terminal(name: &str, options: &str) -> String {
    let file = model(name);
    let command = format!(
        "{} check {options} --timeout 1.5 {}",
        env!("CARGO_BIN_EXE_mover"),
        file.display()
    );
    let shown = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env("COLUMNS", "160")
        .stdin(Stdio::null())
        .output()
        .expect("`script` can be started");
    assert_eq!(shown.status.code(), Some(5));
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

#[test]
fn a_terminal_shows_a_line_for_each_engine() {
    let shown = on_a_terminal("line", "");
    for expected in ["explicit ", "s: ", "states/s", "depth", "frontier", "MB"] {
        assert!(shown.contains(expected), "no `{expected}` in {shown:?}");
    }
    // The line is gone in the end.
    let (_, behind) = shown.rsplit_once("frontier").expect("a line");
    assert!(behind.contains("\u{1b}[2K"), "{behind:?}");
    let shown = on_a_terminal("engines", "--jobs 3");
    for expected in ["explicit", "ic3", "bmc"] {
        let line = format!("{expected} ");
        assert!(shown.contains(&line), "no `{expected}` in {shown:?}");
    }
}

#[test]
fn quiet_means_quiet() {
    for options in ["--quiet", "--progress none"] {
        let shown = on_a_terminal("quiet", options);
        assert!(!shown.contains("frontier"), "{options}: {shown:?}");
        assert!(shown.contains("unknown"), "{options}: {shown:?}");
    }
}

#[test]
fn without_a_terminal_nothing_is_written() {
    let ended = run(mover().args(["check", "--timeout", "1"]).arg(model("pipe")));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(5), ""));
}

#[test]
fn other_programs_get_objects() {
    for (engine, field) in [
        ("explicit", "states_per_s"),
        ("ic3", "frame"),
        ("bmc", "blocks"),
    ] {
        let ended = run(mover()
            .args(["check", "--json", "--progress", "json", "--timeout", "2"])
            .args(["--engine", engine])
            .arg(model("json")));
        assert!(ended.json().is_object(), "{engine}");
        let objects: Vec<Value> = ended
            .stderr
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        assert!(!objects.is_empty(), "{engine}: no progress");
        assert!(objects.len() <= 6, "{engine}: {} objects", objects.len());
        for object in objects {
            assert_eq!(object["progress"], engine);
            assert!(object[field].is_u64(), "{object}");
            assert!(object["memory_mb"].is_number(), "{object}");
        }
    }
}

#[test]
fn quiet_and_progress_are_a_contradiction() {
    let ended = run(mover()
        .args(["check", "--quiet", "--progress", "json"])
        .arg(model("both")));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("`kill` can be started").success());
}

/// Waits for the end, but not for ever.
fn wait(child: &mut Child, most: Duration) -> Option<i32> {
    let started = Instant::now();
    while started.elapsed() < most {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child");
    panic!("still running after {most:?}");
}

#[test]
fn one_signal_ends_every_engine_with_what_is_known() {
    for engine in ["explicit", "bmc", "ic3"] {
        let mut child = mover()
            .args(["check", "--json", "--engine", engine])
            .arg(model("signal"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("mover can be started");
        std::thread::sleep(Duration::from_millis(700));
        interrupt(&child);
        assert_eq!(
            wait(&mut child, Duration::from_secs(20)),
            Some(5),
            "{engine}"
        );
        let told = std::io::read_to_string(child.stdout.take().expect("output")).expect("text");
        let answer: Value = serde_json::from_str(&told).expect("one object");
        assert_eq!(answer["verdict"], "unknown", "{engine}: {told}");
        let reason = answer["reason"].as_str().expect("a reason");
        assert!(reason.contains("interrupted"), "{engine}: {reason}");
    }
}

/// The first signal ends the search, but the answer cannot be written, for nobody reads it: what
/// is left is to stop at once.
#[test]
fn two_signals_end_the_process_at_once() {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    // A pipe that is full, whatever its size; the writer that fills it is stopped by the end of
    // its process.
    let mut filler = Command::new("cat")
        .arg("/dev/zero")
        .stdout(writer.try_clone().expect("the same pipe"))
        .spawn()
        .expect("`cat` can be started");
    std::thread::sleep(Duration::from_millis(300));
    filler.kill().expect("a child");
    filler.wait().expect("a child");
    let mut child = mover()
        .arg("check")
        .arg(model("twice"))
        .stdout(writer.try_clone().expect("the same pipe"))
        .spawn()
        .expect("mover can be started");
    std::thread::sleep(Duration::from_millis(700));
    interrupt(&child);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(child.try_wait().expect("a child"), None, "it could write");
    interrupt(&child);
    assert_eq!(wait(&mut child, Duration::from_secs(5)), Some(130));
    writer.flush().expect("nothing to do");
    drop(reader);
}

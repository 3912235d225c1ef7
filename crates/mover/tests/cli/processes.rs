//! Searches by several processes: the answers of one process, and none at all when a process or a connection is lost.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Ended, mover, repository};
use crate::{ENDLESS, check, model, scratch};

const STATES: [&str; 2] = ["--property", "unreach-call,no-deadlock"];

fn answer(path: &std::path::Path, options: &[&str]) -> Value {
    check(path, &[&STATES, options, &["--json"]].concat()).json()
}

/// Examples with a violation, with none, with channels and with dynamic objects.
#[test]
fn several_processes_give_the_answers_of_one() {
    let examples = [
        "promela/leader_chang_roberts.pml",
        "promela/philosophers_deadlock.pml",
        "promela/sliding_window.pml",
        "promela/ticket_lock.pml",
        "c/lost_update.c",
        "c/mcs_lock.c",
    ];
    for example in examples {
        let path = repository().join("examples").join(example);
        for reduction in ["none", "static", "phase", "dynamic"] {
            let reduce = ["--reduce", reduction];
            let one = answer(&path, &[&["--engine", "explicit"], &reduce[..]].concat());
            for processes in ["2", "4"] {
                let several = answer(&path, &[&["--processes", processes], &reduce[..]].concat());
                let told = format!("{example}, {reduction}, {processes} processes");
                assert_eq!(one["verdict"], several["verdict"], "{told}");
                assert_eq!(one["property"], several["property"], "{told}");
                // With beliefs, counts depend on the order.
                if one["verdict"] == "safe" && matches!(reduction, "none" | "static") {
                    assert_eq!(one["states"], several["states"], "{told}");
                    assert_eq!(one["transitions"], several["transitions"], "{told}");
                    assert_eq!(one["depth"], several["depth"], "{told}");
                }
            }
        }
    }
}

#[test]
fn what_several_processes_do_not_do_is_refused() {
    let path = model("processes-refused", ENDLESS);
    for (options, word) in [
        (&["--processes", "1"][..], "from 2"),
        (&["--processes", "2", "--jobs", "2"], "--jobs"),
        (&["--processes", "2", "--order", "dfs"], "--order"),
        (&["--processes", "2", "--engine", "ic3"], "explicit search"),
        (
            &["--processes", "2", "--property", "termination"],
            "unreach-call",
        ),
        (&["--hosts", "nowhere"], "--process"),
    ] {
        let refused = check(&path, options);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

/// Two processes that find each other by a file; the first of them may be reached at another address.
struct Two {
    name: &'static str,
    model: PathBuf,
    ports: [u16; 2],
}

impl Two {
    fn new(name: &'static str, text: &str) -> Two {
        let listeners =
            [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("there is a port"));
        let port = |listener: &TcpListener| listener.local_addr().expect("it has one").port();
        Two {
            name,
            model: model(name, text),
            ports: [port(&listeners[0]), port(&listeners[1])],
        }
    }

    fn start(&self, process: usize, first_at: u16) -> Child {
        let hosts = scratch(&format!("{}-{process}.hosts", self.name));
        let text = format!(
            "token of-a-test-0123456789\n127.0.0.1:{first_at}\n127.0.0.1:{}\n",
            self.ports[1]
        );
        std::fs::write(&hosts, text).expect("the file is written");
        let number = process.to_string();
        let mut command = mover();
        command.arg("check").arg(&self.model).args(STATES);
        command.args(["--reduce", "none", "--timeout", "60", "--quiet"]);
        command
            .arg("--hosts")
            .arg(&hosts)
            .args(["--process", &number]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("mover can be started")
    }

    /// A connection to the first process, once it listens.
    fn connect(&self) -> TcpStream {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            match TcpStream::connect(("127.0.0.1", self.ports[0])) {
                Ok(stream) => return stream,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// No verdict, and the process that is missed by name.
fn assert_lost(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(5), "{} {}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("safe"), "{}", ended.stdout);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(words.iter().all(|word| told.contains(word)), "{told}");
}

#[test]
fn a_process_that_is_killed_ends_the_search_without_a_verdict() {
    let two = Two::new("killed-process", ENDLESS);
    for killed in [1, 0] {
        let mut processes = [two.start(0, two.ports[0]), two.start(1, two.ports[0])];
        thread::sleep(Duration::from_millis(1500));
        processes[killed].kill().expect("it is there");
        let [first, second] = processes.map(ended);
        let (left, name) = match killed {
            1 => (first, "process 1"),
            _ => (second, "process 0"),
        };
        assert_lost(&left, &[name, "closed the connection"]);
    }
}

#[test]
fn a_stranger_on_the_port_changes_nothing() {
    let two = Two::new("stranger", "byte x; active [2] proctype P() { x++ }");
    let first = two.start(0, two.ports[0]);
    let mut strangers = [two.connect(), two.connect()];
    strangers[0].write_all(&[b'?'; 400]).expect("it is sent");
    let second = two.start(1, two.ports[0]);
    let first = ended(first);
    assert_eq!(first.code, Some(0), "{} {}", first.stdout, first.stderr);
    assert!(first.stdout.contains("safe"), "{}", first.stdout);
    let second = ended(second);
    assert_eq!(second.code, Some(5), "{}", second.stderr);
    assert!(
        second.stderr.contains("process 0 has the answer"),
        "{}",
        second.stderr
    );
    assert!(!second.stdout.contains("safe"), "{}", second.stdout);
}

/// Puts itself between the second process and the first, and lets so many bytes of the second pass; then `disturb`
/// has the connection.
fn between(two: &Two, disturb: impl FnOnce(&mut TcpStream, &[u8]) + Send) -> Ended {
    let proxy = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = proxy.local_addr().expect("it has one").port();
    let first = two.start(0, two.ports[0]);
    let second = two.start(1, port);
    let (mut from_second, _) = proxy.accept().expect("it connects");
    let mut to_first = two.connect();
    let (mut back_from, mut back_to) = (
        to_first.try_clone().expect("a copy"),
        from_second.try_clone().expect("a copy"),
    );
    thread::scope(|scope| {
        scope.spawn(move || std::io::copy(&mut back_from, &mut back_to));
        let mut passed = 0;
        let mut bytes = [0; 4096];
        loop {
            let count = from_second.read(&mut bytes).expect("it sends");
            if passed > 50_000 {
                disturb(&mut to_first, &bytes[..count]);
                break;
            }
            to_first.write_all(&bytes[..count]).expect("it is sent");
            passed += count;
        }
        let _ = to_first.shutdown(std::net::Shutdown::Both);
        let _ = from_second.shutdown(std::net::Shutdown::Both);
    });
    let first = ended(first);
    assert_lost(&ended(second), &["process 0"]);
    first
}

#[test]
fn a_connection_that_is_cut_ends_the_search_without_a_verdict() {
    let two = Two::new("cut", ENDLESS);
    let first = between(&two, |_, _| ());
    assert_lost(&first, &["process 1", "closed the connection"]);
}

#[test]
fn a_message_that_was_changed_ends_the_search_without_a_verdict() {
    let two = Two::new("changed", ENDLESS);
    let first = between(&two, |to_first, bytes| {
        let mut bytes = bytes.to_vec();
        bytes[0] ^= 0x40;
        to_first.write_all(&bytes).expect("it is sent");
        // Enough for the frame to be complete.
        let _ = to_first.write_all(&vec![0; 1 << 18]);
        thread::sleep(Duration::from_millis(500));
    });
    assert_lost(&first, &["process 1", "without meaning"]);
}

//! `mover explore`: what it shows are runs, what it finds is there, strangers are refused, and the
//! page does what its buttons say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::common::{mover, repository, run};

/// Ended when it is dropped.
struct Explorer {
    process: Child,
    /// `http://127.0.0.1:PORT`
    address: String,
    token: String,
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Explorer {
    fn start(arguments: &[&str]) -> Explorer {
        let mut process = Command::new(env!("CARGO_BIN_EXE_mover"))
            .arg("explore")
            .args(arguments)
            .current_dir(repository())
            .stdout(Stdio::piped())
            .spawn()
            .expect("mover starts");
        let mut first = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        output.read_line(&mut first).expect("a line");
        let url = first.trim().strip_prefix("open ").expect("an address");
        let (address, token) = url.split_once("/?token=").expect("a token");
        Explorer {
            address: address.to_string(),
            token: token.to_string(),
            process,
        }
    }

    fn url(&self) -> String {
        format!("{}/?token={}", self.address, self.token)
    }

    fn request(&self, path: &str, token: &str, body: &str) -> (u16, Value) {
        let answer = minreq::post(format!("{}/api/{path}", self.address))
            .with_header("X-Mover-Token", token)
            .with_body(body)
            .with_timeout(60)
            .send()
            .expect("an answer");
        let value = serde_json::from_str(answer.as_str().expect("text")).expect("JSON");
        (answer.status_code, value)
    }

    fn ask(&self, path: &str, body: Value) -> Value {
        let (status, value) = self.request(path, &self.token, &body.to_string());
        assert_eq!(status, 200, "{value}");
        value
    }

    fn situation(&self, schedule: &[Value]) -> Value {
        self.ask("situation", json!({ "schedule": schedule }))["situation"].clone()
    }
}

fn texts(steps: &Value) -> Vec<String> {
    let steps = steps.as_array().expect("steps").iter();
    steps
        .map(|step| {
            format!(
                "{} {}",
                step["thread"].as_str().unwrap_or(""),
                step["text"].as_str().unwrap_or("")
            )
        })
        .collect()
}

#[test]
fn a_violation_found_by_hand_replays() {
    let model = "examples/promela/lost_update.pml";
    let explorer = Explorer::start(&[model]);
    let start = explorer.situation(&[]);
    assert_eq!(start["end"]["kind"], "open");
    assert!(
        start["next"].as_array().is_some_and(|next| next.len() > 1),
        "{start}"
    );

    // Whatever is chosen first, the assertion can still fail, and the way to it is a run.
    let first = start["next"][0]["step"].clone();
    let found = explorer.ask(
        "find",
        json!({ "schedule": [first], "condition": "counter == 1" }),
    );
    let more = found["steps"].as_array().expect("a way there").clone();
    let mut schedule = vec![first];
    schedule.extend(more);
    let watched = explorer.ask(
        "situation",
        json!({ "schedule": schedule, "watch": ["counter", "counter + 1 == 2"] }),
    );
    let numbers = watched["watched"][0].as_array().expect("values");
    assert_eq!(numbers.len(), schedule.len() + 1);
    assert_eq!(numbers[0], "0");
    assert_eq!(numbers[schedule.len()], "1");
    assert_eq!(watched["watched"][1][schedule.len()], "true");
    let before_last = numbers[schedule.len() - 1].as_str();
    assert_eq!(before_last, Some("0"), "the first state in which it holds");

    // The shortest counterexample of the checker, walked here, ends in the same violation.
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.json");
    let ended = run(mover()
        .args(["check", model, "--trace"])
        .arg(&trace)
        .current_dir(repository()));
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let found: Value =
        serde_json::from_str(&std::fs::read_to_string(&trace).expect("a trace")).expect("JSON");
    let steps: Vec<Value> = (found["steps"].as_array().expect("steps").iter())
        .map(|step| {
            let choice = step["choice"].to_string();
            json!({ "thread": step["thread"], "edge": step["edge"], "choice": choice, "with": step["with"] })
        })
        .collect();
    let end = explorer.situation(&steps);
    assert_eq!(end["end"]["kind"], "violated", "{end}");
    assert_eq!(end["end"]["property"], found["property"]);
    let told = found["steps"].as_array().expect("steps").iter();
    let told: Vec<String> = told
        .map(|step| {
            format!(
                "{} {}",
                step["name"].as_str().unwrap_or(""),
                step["text"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(texts(&end["steps"]), told);

    // What is saved replays.
    let saved = explorer.ask("export", json!({ "schedule": steps }));
    let file = folder.path().join("run.json");
    std::fs::write(&file, saved.to_string()).expect("a file");
    let replayed = run(mover()
        .args(["replay", model])
        .arg(&file)
        .current_dir(repository()));
    assert_eq!(replayed.code, Some(10), "{}", replayed.stderr);

    // A run that violates nothing is no counterexample.
    let (status, refused) = explorer.request(
        "export",
        &explorer.token,
        &json!({ "schedule": [] }).to_string(),
    );
    assert_eq!(status, 400, "{refused}");
}

#[test]
fn what_cannot_be_is_not_found() {
    let explorer = Explorer::start(&["examples/promela/peterson2.pml"]);
    let find =
        |condition: &str| explorer.ask("find", json!({ "schedule": [], "condition": condition }));
    // The examples say that at most one process is inside.
    assert_eq!(find("inside == 2")["nowhere"], true);
    assert!(find("inside == 1 && turn == 0")["steps"].is_array());
    let refused = |condition: &str| {
        let body = json!({ "schedule": [], "condition": condition }).to_string();
        let (status, refused) = explorer.request("find", &explorer.token, &body);
        assert_eq!(status, 400, "{refused}");
        refused["error"].as_str().expect("a sentence").to_string()
    };
    assert!(refused("<> inside == 1").contains("speak of runs"));
    assert!(refused("nobody == 1").contains("no global variable `nobody`"));
    assert!(!refused("== 1").is_empty());
}

#[test]
fn strangers_and_nonsense_are_refused() {
    let explorer = Explorer::start(&["examples/promela/lost_update.pml"]);
    let empty = json!({ "schedule": [] }).to_string();
    assert_eq!(explorer.request("situation", "", &empty).0, 403);
    let guess = "0".repeat(explorer.token.len());
    assert_eq!(explorer.request("situation", &guess, &empty).0, 403);
    let page = minreq::get(&explorer.address).send().expect("an answer");
    assert_eq!(page.status_code, 403);
    assert!(!page.as_str().expect("text").contains(&explorer.token));
    // A foreign name that points to this machine.
    let port = explorer.address.rsplit(':').next().expect("a port");
    for (hosts, status) in [
        (vec![format!("127.0.0.1:{port}")], "200"),
        (vec![format!("localhost:{port}")], "200"),
        (vec!["example.org".into()], "403"),
        (
            vec![format!("127.0.0.1:{port}"), "example.org".into()],
            "403",
        ),
        (Vec::new(), "403"),
    ] {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("a connection");
        let named: String = (hosts.iter())
            .map(|host| format!("Host: {host}\r\n"))
            .collect();
        let token = &explorer.token;
        write!(
            stream,
            "GET /?token={token} HTTP/1.1\r\n{named}Connection: close\r\n\r\n"
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let first = answer.lines().next().unwrap_or_default();
        assert!(first.contains(status), "{hosts:?}: {first}");
    }
    for nonsense in [
        "",
        "{",
        "[]",
        r#"{"schedule":[{"thread":0,"edge":0,"choice":"x","with":null}]}"#,
        r#"{"schedule":[{"thread":99,"edge":99,"choice":"0","with":null}]}"#,
        r#"{"schedule":[{"thread":0,"edge":0,"choice":"99999","with":{"thread":7,"edge":7}}]}"#,
        r#"{"schedule":[],"watch":["("]}"#,
    ] {
        let (status, answer) = explorer.request("situation", &explorer.token, nonsense);
        assert_eq!(status, 400, "{nonsense}: {answer}");
    }
    let large = format!(r#"{{"schedule":[],"condition":"{}"}}"#, "x".repeat(5 << 20));
    assert_eq!(explorer.request("find", &explorer.token, &large).0, 413);
    // It is still there.
    assert_eq!(
        explorer.request("situation", &explorer.token, &empty).0,
        200
    );
}

#[cfg(feature = "c")]
#[test]
fn a_program_can_be_walked_in_a_browser() {
    let explorer = Explorer::start(&["examples/c/lost_update.c"]);
    let browser = Browser::start("explore");
    browser.prefer("light");
    browser.resize(1280, 900);
    browser.open_address(&explorer.url());
    let count = |selector: &str| {
        let script = format!("return document.querySelectorAll('{selector}').length");
        browser.run(&script).as_u64().expect("a number")
    };
    let wait = |what: &str, script: &str| {
        for _ in 0..600 {
            if browser.run(script).as_bool() == Some(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{what}: {}", browser.run("return document.body.innerText"));
    };
    wait(
        "the first steps",
        "return document.querySelectorAll('#next button').length > 0",
    );
    browser.click("#next button");
    wait(
        "a step",
        "return document.querySelectorAll('#taken tr').length === 1",
    );
    browser.keys("body", "1");
    wait(
        "another",
        "return document.querySelectorAll('#taken tr').length === 2",
    );
    browser.click("#back");
    wait(
        "one back",
        "return document.querySelectorAll('#taken tr').length === 1",
    );
    browser.click("#again");
    wait(
        "and again",
        "return document.querySelectorAll('#taken tr').length === 2",
    );
    assert!(
        count("table.source tr.here") > 0,
        "the source shows where threads are"
    );
    assert!(count("#values tr") > 0);

    // A page that is loaded again is where it was.
    browser.run("location.reload()");
    wait(
        "the run of before",
        "return document.querySelectorAll('#taken tr').length === 2",
    );

    browser.keys("#watch", "counter == 1");
    browser.click("#find");
    wait(
        "the state",
        "return document.getElementById('said').textContent.startsWith('It holds')",
    );
    browser.click("#watch-form button[type=submit]");
    wait(
        "the values",
        "return document.querySelectorAll('#watched tr').length === 2",
    );
    let last = browser.run(
        "return [...document.querySelectorAll('#watched tr:last-child td')].pop().textContent",
    );
    assert_eq!(last, "true");

    browser.run("window.scrollTo(0, 0)");
    let shot = browser.screenshot();
    assert!(shot.len() > 5000);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let file = repository().join("docs/guide/explore.png");
        std::fs::write(file, shot).expect("a writable guide");
    }

    // On to the end, one step after the other.
    for _ in 0..200 {
        if count("#next button") == 0 {
            break;
        }
        let before = count("#taken tr");
        browser.keys("body", "r");
        wait(
            "a random step",
            &format!("return document.querySelectorAll('#taken tr').length > {before}"),
        );
    }
    assert_eq!(count("#next button"), 0);
    assert_eq!(
        browser.run("return document.getElementById('end').hidden"),
        false
    );
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let needed = browser.run("return document.documentElement.scrollWidth");
    assert!(needed.as_u64().is_some_and(|needed| needed <= 1280));
}

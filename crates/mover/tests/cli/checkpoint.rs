//! Searches that are killed and gone on with: the same verdict and the same counts.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::common::{mover, repository};
use crate::{ENDLESS, check, model, scratch};

/// Some hundred thousand states.
const LARGE: &str = "\
byte a, b, c, inside;
bool busy;
chan mail = [1] of { byte };
active [2] proctype Counting() {
    byte own;
    do
    :: own < 1 -> own++; a = (a + own) % 5
    :: atomic { !busy -> busy = true }; inside++; assert(inside == 1); inside--; busy = false
    :: b < 2 -> b++
    :: b > 0 -> b--
    od
}
active proctype Sending() { do :: mail!c; c = (c + 1) % 2 od }
active proctype Receiving() { byte got; do :: mail?got od }
";

/// The same with assertions that fail now and then.
fn failing() -> String {
    LARGE.replace("b < 2 -> b++", "b < 2 -> b++; assert(b != 2)")
}

/// Threads that take turns at a list in the heap.
const HEAP: &str = "\
#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
struct node { int value; struct node *next; };
struct node *list;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int sum;
void *worker(void *arg) {
    for (int i = 0; i < 4; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node) abort();
        node->value = i + (int)(long)arg;
        pthread_mutex_lock(&lock);
        node->next = list;
        list = node;
        pthread_mutex_unlock(&lock);
        sum++;
        pthread_mutex_lock(&lock);
        struct node *first = list;
        if (first) list = first->next;
        pthread_mutex_unlock(&lock);
        free(first);
    }
    return 0;
}
int main() {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(sum >= 2);
}
";

/// A few random numbers, of a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// What has to be the same however often a search was interrupted.
fn counts(answer: &Value) -> Vec<Value> {
    let names = [
        "verdict",
        "property",
        "states",
        "transitions",
        "depth",
        "violations",
    ];
    names.map(|name| answer[name].clone()).to_vec()
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Runs a search and kills it again and again at random moments. Gives the answer of the last
/// run, and how often one was killed and how often one went on from a checkpoint.
fn with_kills(path: &Path, options: &[&str], kills: u32, random: &mut Random) -> (Value, u32, u32) {
    let name = path.file_name().expect("a name").to_string_lossy();
    let checkpoint = scratch(&format!("{name}.{}.checkpoint", options.join("")));
    let _ = std::fs::remove_file(&checkpoint);
    let (mut killed, mut resumed) = (0, 0);
    loop {
        let mut command = mover();
        command.arg("check").arg(path).args(options).arg("--json");
        command.arg("--checkpoint").arg(&checkpoint);
        command.args(["--checkpoint-every", "0.02"]);
        if checkpoint.exists() {
            command.arg("--resume").arg(&checkpoint);
            resumed += 1;
        }
        let before = written(&checkpoint);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mover starts");
        if killed < kills {
            // Not before this run has written a checkpoint of its own: it must get somewhere.
            while written(&checkpoint) == before && child.try_wait().is_ok_and(|end| end.is_none())
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_millis(random.below(150)));
            // SIGKILL: nothing can be written any more.
            child.kill().expect("it can be killed");
        }
        let ended = child.wait_with_output().expect("it ends");
        if ended.status.code().is_some() {
            let text = String::from_utf8_lossy(&ended.stdout);
            assert!(
                !text.is_empty(),
                "{}",
                String::from_utf8_lossy(&ended.stderr)
            );
            let _ = std::fs::remove_file(&checkpoint);
            return (object(&text), killed, resumed);
        }
        killed += 1;
    }
}

/// When a file was last written.
fn written(path: &Path) -> Option<std::time::SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn large() -> std::path::PathBuf {
    model("checkpoint_large", LARGE)
}

#[test]
fn a_search_that_is_killed_goes_on_to_the_same_counts() {
    let large = large();
    let failing = model("checkpoint_failing", failing());
    let heap = scratch("checkpoint_heap.c");
    std::fs::write(&heap, HEAP).expect("a program can be written");
    let mut cases: Vec<(&Path, Vec<&str>)> = vec![
        (&large, vec!["--reduce", "none"]),
        (&large, vec!["--reduce", "none", "--order", "dfs"]),
        (&large, vec!["--reduce", "phase"]),
        (&failing, vec!["--reduce", "none", "--keep-going"]),
    ];
    if cfg!(feature = "c") {
        cases.push((&heap, vec!["--reduce", "dynamic"]));
    }
    let is_long = std::env::var_os("MOVER_LONG").is_some();
    if is_long {
        if cfg!(feature = "c") {
            cases.push((&heap, vec!["--reduce", "none"]));
        }
        cases.push((&large, vec!["--reduce", "static"]));
        cases.push((&large, vec!["--reduce", "static", "--order", "dfs"]));
        cases.push((&large, vec!["--reduce", "dynamic", "--order", "dfs"]));
        cases.push((
            &failing,
            vec!["--reduce", "none", "--keep-going", "--order", "dfs"],
        ));
    }
    let rounds = if is_long { 20 } else { 1 };
    let mut random = Random(rounds);
    let (mut all_killed, mut all_resumed) = (0, 0);
    for (path, options) in &cases {
        let mut once = options.clone();
        once.push("--json");
        let expected = object(&check(path, &once).stdout);
        for _ in 0..rounds {
            let (answer, killed, resumed) = with_kills(path, options, 2, &mut random);
            assert_eq!(counts(&answer), counts(&expected), "{options:?}");
            all_killed += killed;
            all_resumed += resumed;
        }
    }
    // Otherwise nothing was tried.
    assert!(
        all_killed >= 5 && all_resumed >= 3,
        "{all_killed} {all_resumed}"
    );
}

/// A limit leaves a checkpoint, and the sum of many short searches is one long search.
#[test]
fn many_short_searches_are_one_long_search() {
    let large = large();
    for options in [&["--reduce", "none"][..], &["--reduce", "dynamic"]] {
        let expected = object(&check(&large, &[options, &["--json"]].concat()).stdout);
        let checkpoint = scratch(&format!("short{}.checkpoint", options.join("")));
        let _ = std::fs::remove_file(&checkpoint);
        let name = checkpoint.display().to_string();
        // A tenth of the whole is not enough, on any machine.
        let whole = expected["time_s"].as_f64().expect("a time");
        let mut runs = 0u32;
        let answer = loop {
            runs += 1;
            assert!(runs < 50, "it does not come to an end");
            // Also reading the checkpoint takes time.
            let seconds = (0.1 * whole * f64::from(runs)).to_string();
            let mut more = vec!["--json", "--timeout", &seconds, "--checkpoint", &name];
            if checkpoint.exists() {
                more.extend(["--resume", &name]);
            }
            let ended = check(&large, &[options, &more].concat());
            let answer = object(&ended.stdout);
            if ended.code != Some(5) {
                break answer;
            }
            assert!(checkpoint.exists(), "{}", ended.stderr);
        };
        assert_eq!(counts(&answer), counts(&expected), "{options:?}");
        assert!(runs > 1, "one run was enough");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused_by_name() {
    let path = model("checkpoint_endless", ENDLESS);
    let other = model("checkpoint_other", ENDLESS.replace("a++", "a--"));
    let checkpoint = scratch("refused.checkpoint");
    let name = checkpoint.display().to_string();
    let first = check(
        &path,
        &[
            "--reduce",
            "none",
            "--timeout",
            "0.2",
            "--checkpoint",
            &name,
        ],
    );
    assert_eq!(first.code, Some(5), "{}", first.stderr);
    assert!(
        first.stdout.contains("try: continuing with `--resume"),
        "{}",
        first.stdout
    );
    let refused = |path: &Path, options: &[&str], words: &str| {
        let mut all = vec!["--resume", &name, "--timeout", "0.2"];
        all.extend(options);
        if !options.contains(&"--reduce") {
            all.extend(["--reduce", "none"]);
        }
        let ended = check(path, &all);
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("[U011]"), "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    };
    refused(&other, &[], "its program is");
    refused(
        &path,
        &["--order", "dfs"],
        "its --order is bfs, here it is dfs",
    );
    refused(
        &path,
        &["--keep-going"],
        "its --keep-going is false, here it is true",
    );
    refused(&path, &["--property", "no-deadlock"], "its --property is");
    refused(&path, &["--reduce", "left"], "its --reduce is");
    let mut bytes = std::fs::read(&checkpoint).expect("the checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&checkpoint, &bytes).expect("it can be written");
    refused(&path, &[], "its checksum does not match");
    std::fs::write(&checkpoint, &bytes[..middle]).expect("it can be written");
    refused(&path, &[], "its checksum does not match");
    std::fs::write(&checkpoint, "anything else that is long enough").expect("it can be written");
    refused(&path, &[], "it is not a checkpoint");
    std::fs::write(&checkpoint, b"mover checkpt 9\n012345678901234567890").expect("written");
    refused(&path, &[], "another version of mover");
    std::fs::remove_file(&checkpoint).expect("it was there");
    refused(&path, &[], "cannot resume from");
}

/// Options that change what is searched are named, not the program.
#[test]
fn another_property_is_told_as_such() {
    let asserting = format!("{ENDLESS}active proctype E() {{ assert(a < 256) }}\n");
    let path = model("checkpoint_property", asserting);
    let name = scratch("property.checkpoint").display().to_string();
    let limit = ["--reduce", "none", "--timeout", "0.2"];
    let first = check(&path, &[&limit[..], &["--checkpoint", &name]].concat());
    assert_eq!(first.code, Some(5), "{}", first.stderr);
    let other = ["--resume", &name, "--property", "no-deadlock"];
    let ended = check(&path, &[&limit[..], &other].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let words = "its --property is unreach-call and no-deadlock, here it is no-deadlock";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
}

/// A process that was killed while it wrote leaves a part; those that still write keep theirs.
#[test]
fn parts_that_killed_searches_left_are_removed() {
    let path = model("checkpoint_parts", crate::SAFE);
    let folder = tempfile::tempdir().expect("a directory");
    let checkpoint = folder.path().join("ck");
    // No process has a number beyond the largest that Linux gives.
    let left = folder.path().join("ck.4194305.part");
    let others = [
        format!("ck.{}.part", std::process::id()),
        "ck.x.part".into(),
        "other.4194305.part".into(),
    ]
    .map(|name| folder.path().join(name));
    for file in others.iter().chain([&left]) {
        std::fs::write(file, "part").expect("a file");
    }
    let ended = check(&path, &["--checkpoint", &checkpoint.display().to_string()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!left.exists());
    for file in &others {
        assert!(file.exists(), "{}", file.display());
    }
}

#[test]
fn what_has_no_checkpoints_says_so() {
    let path = model("checkpoint_none", ENDLESS);
    let name = scratch("none.checkpoint").display().to_string();
    for (options, words) in [
        (&["--jobs", "2"][..], "one core"),
        (
            &["--reduce", "static", "--ignoring", "cpc"],
            "--ignoring cpc",
        ),
        (&["--engine", "bmc"], "--checkpoint is for explicit search"),
        (&["--checkpoint-every", "nan"], "--checkpoint-every"),
        (&["--checkpoint", "no/such/directory/file"], "cannot write"),
    ] {
        let mut all = options.to_vec();
        if !all.contains(&"--checkpoint") {
            all.extend(["--checkpoint", &name]);
        }
        let ended = check(&path, &all);
        assert_eq!(ended.code, Some(1), "{options:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}

/// A disk that is full costs the checkpoint, not the search.
#[test]
fn a_checkpoint_that_cannot_be_written_is_reported_once() {
    let example = repository().join("examples/promela/peterson_filter.pml");
    let options = ["--checkpoint", "/dev/full", "--checkpoint-every", "0"];
    let ended = check(&example, &options);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let complaints = ended.stderr.matches("cannot write /dev/full").count();
    assert_eq!(complaints, 1, "{}", ended.stderr);
}

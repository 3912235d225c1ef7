//! Files and pipes that fail: a sentence, the right exit code, nothing half written.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{mover, repository, run};
use crate::{ENDLESS, FAILING, check, last_line, model, scratch};

/// What cannot be written is said before a search that would never end, not after it.
#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_search() {
    let path = model("outputs_endless", ENDLESS);
    for (option, file) in [
        ("--trace", "/no/such/directory/trace.json"),
        ("--report", "/no/such/directory/report.html"),
        ("--sarif", "/no/such/directory/log.sarif"),
        ("--trail", "/no/such/directory/model.trail"),
        ("--graph", "/no/such/directory/graph.dot"),
        ("--checkpoint", "/no/such/directory/checkpoint"),
        ("--report", "/"),
    ] {
        let began = Instant::now();
        let ended = check(&path, &["--timeout", "600", option, file]);
        assert_eq!(ended.code, Some(1), "{option}: {}", ended.stderr);
        let words = format!("cannot write {file}");
        assert!(ended.stderr.contains(&words), "{option}: {}", ended.stderr);
        assert!(began.elapsed() < Duration::from_secs(60), "{option}");
    }
}

/// A disk that is full costs the file; the answer is told all the same.
#[test]
fn a_full_disk_costs_the_file_but_not_the_answer() {
    let path = model("outputs_full", FAILING);
    for option in ["--trace", "--report", "--sarif", "--trail"] {
        let ended = check(&path, &[option, "/dev/full"]);
        assert_eq!(ended.code, Some(6), "{option}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("cannot write /dev/full"),
            "{option}: {}",
            ended.stderr
        );
        assert!(last_line(&ended).starts_with("unsafe: "), "{option}");
    }
}

/// A run that is killed leaves what was there before, and nothing beside it.
#[test]
fn a_run_that_is_killed_leaves_old_files_whole() {
    let path = model("outputs_killed", ENDLESS);
    let folder = scratch("killed");
    std::fs::create_dir_all(&folder).expect("a directory");
    let names = [
        "trace.json",
        "report.html",
        "log.sarif",
        "model.trail",
        "graph.dot",
    ];
    for name in names {
        std::fs::write(folder.join(name), "old").expect("a file");
    }
    let mut command = mover();
    command.args(["check", "--reduce", "none"]).arg(&path);
    for (option, name) in ["--trace", "--report", "--sarif", "--trail", "--graph"]
        .iter()
        .zip(names)
    {
        command.arg(option).arg(folder.join(name));
    }
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mover starts");
    std::thread::sleep(Duration::from_millis(700));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let mut left: Vec<String> = std::fs::read_dir(&folder)
        .expect("the directory")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    left.sort();
    let mut expected = names.map(str::to_string).to_vec();
    expected.sort();
    assert_eq!(left, expected);
    for name in names {
        assert_eq!(
            std::fs::read_to_string(folder.join(name)).expect("a file"),
            "old"
        );
    }
}

/// `mover … | head -1`: no panic, and the exit code is that of the answer.
#[test]
fn a_pipe_that_is_closed_is_no_failure() {
    let examples = repository().join("examples");
    for (arguments, code) in [
        (vec!["check", "promela/philosophers_deadlock.pml"], 10),
        (vec!["check", "--json", "promela/mutex_naive.pml"], 10),
        (vec!["check", "--dump", "ir", "promela/dekker.pml"], 0),
        (vec!["explain", "promela/bank_transfer_ordered.pml"], 0),
        (vec!["man"], 0),
        (vec!["completions", "bash"], 0),
    ] {
        let mut child = mover()
            .args(&arguments)
            .current_dir(&examples)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mover starts");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
}

/// Messages that nobody can read change no exit code.
#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let broken = model("outputs_stderr", "active proctype P() { x = }\n");
    let broken = broken.display().to_string();
    for (arguments, code) in [
        (vec!["check", &broken], 2),
        (vec!["check", "--nope"], 1),
        (vec!["check", "no-such-model.pml"], 2),
        (vec!["--explain-error", "X999"], 1),
        (vec!["tm", "check", "examples/tm/tl2-printed.tm"], 10),
        (
            vec![
                "check",
                "--progress",
                "json",
                "examples/promela/mutex_naive.pml",
            ],
            10,
        ),
    ] {
        let ended = mover()
            .args(&arguments)
            .current_dir(repository())
            .stderr(full_device())
            .stdout(Stdio::null())
            .status()
            .expect("mover starts");
        assert_eq!(ended.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_printed_is_reported() {
    for arguments in [
        "check examples/promela/peterson2.pml",
        "check --help",
        "--version",
        "tm check examples/tm/seq.tm",
        "tm check --json examples/tm/seq.tm",
        "tm word c_1",
        "tm spec --threads 1 --vars 1",
    ] {
        let ended = mover()
            .args(arguments.split(' '))
            .current_dir(repository())
            .stdout(full_device())
            .output()
            .expect("mover starts");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(6), "{arguments:?}: {stderr}");
        let words = "cannot write to standard output";
        assert_eq!(stderr.matches(words).count(), 1, "{arguments:?}: {stderr}");
    }
}

fn full_device() -> Stdio {
    let mut options = std::fs::OpenOptions::new();
    let full = options.write(true).open("/dev/full");
    full.expect("Linux has /dev/full").into()
}

/// An output that would take the place of what is read, or of another one, is refused.
#[test]
fn no_output_overwrites_an_input_or_another_output() {
    let folder = scratch("overwritten");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("m.pml", FAILING);
    write(
        "m.prp",
        "CHECK( init(main()), LTL(G ! call(reach_error())) )\n",
    );
    write("a.tm", "algorithm a;\n");
    std::os::unix::fs::symlink("m.pml", folder.join("link")).expect("a link");
    let refused = |arguments: &[&str], words: &str| {
        let ended = run(mover().args(arguments).current_dir(&folder));
        assert_eq!(ended.code, Some(1), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    };
    for option in ["--trace", "--report", "--sarif", "--trail", "--checkpoint"] {
        for name in ["m.pml", "./m.pml", "../overwritten/m.pml", "link"] {
            let words = format!("{option} {name} would overwrite m.pml");
            refused(&["check", option, name, "m.pml"], &words);
        }
    }
    refused(
        &[
            "check",
            "--trace",
            "m.prp",
            "--property-file",
            "m.prp",
            "m.pml",
        ],
        "would overwrite m.prp",
    );
    refused(
        &["check", "--trace", "m.pml", "--resume", "m.pml", "link"],
        "would overwrite m.pml",
    );
    refused(
        &["check", "--trace", "same", "--report", "./same", "m.pml"],
        "--report and --trace name the same file",
    );
    refused(
        &["check", "--checkpoint", "same", "--sarif", "same", "m.pml"],
        "--sarif and --checkpoint name the same file",
    );
    refused(
        &["tm", "check", "--report", "a.tm", "a.tm"],
        "would overwrite a.tm",
    );
    refused(
        &["tm", "check", "--report", "x", "--dot", "x", "a.tm"],
        "name the same file",
    );
    let text = std::fs::read_to_string(folder.join("m.pml")).expect("the model");
    assert_eq!(text, FAILING);
    assert!(!folder.join("same").exists());
    let both = ["--trace", "/dev/null", "--report", "/dev/null", "m.pml"];
    let ended = run(mover().arg("check").args(both).current_dir(&folder));
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
}

#[test]
fn a_search_may_go_on_in_the_checkpoint_that_it_began_with() {
    let path = model("outputs_same_checkpoint", ENDLESS);
    let name = scratch("same.checkpoint").display().to_string();
    let once = [
        "--reduce",
        "none",
        "--timeout",
        "0.2",
        "--checkpoint",
        &name,
    ];
    assert_eq!(check(&path, &once).code, Some(5));
    let again = [&once[..], &["--resume", &name]].concat();
    let ended = check(&path, &again);
    assert_eq!(ended.code, Some(5), "{}", ended.stderr);
}

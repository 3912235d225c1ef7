//! Counterexamples of C programs on real threads, and mover's place among other
//! tools: shells, man, BenchExec.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{mover, own_examples, repository, run};

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("native")
        .join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory
}

/// Replays an example natively; what the last line says.
fn replayed(file: &Path, folder: &Path) -> Option<Result<String, String>> {
    let text = std::fs::read_to_string(file).expect("a readable example");
    let words = |key: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.split_once(key));
        line.map_or(Vec::new(), |(_, rest)| {
            rest.split_whitespace().map(ToString::to_string).collect()
        })
    };
    if words("expect:").first()? != "unsafe" {
        return None;
    }
    let options = words("options:");
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let trace = folder.join(format!("{name}.json"));
    let found = run(mover()
        .args(["check", "--quiet", "--json", "--trace"])
        .arg(&trace)
        .args(&options)
        .arg(file));
    assert_eq!(
        found.json()["verdict"],
        "unsafe",
        "{name}: {}",
        found.stderr
    );
    let is_asked = |option: &&String| !option.contains("property") && !option.starts_with("no-");
    let native = run(mover()
        .args(["replay", "--native", "--yes"])
        .args(options.iter().filter(is_asked))
        .arg(file)
        .arg(&trace));
    let last = native.stdout.lines().last().unwrap_or("").to_string();
    Some(match native.code {
        Some(10) if last.contains("reproduced on real threads") => Ok(last),
        _ => Err(format!("{name}: {last} {}", native.stderr)),
    })
}

/// At least nine of ten; those that fail are in the guide, with the reason.
#[test]
fn the_unsafe_examples_fail_for_real() {
    let folder = scratch("examples");
    let results: Vec<_> = own_examples("c", "c")
        .iter()
        .filter_map(|file| replayed(file, &folder))
        .collect();
    let failures: Vec<&String> = results.iter().filter_map(|r| r.as_ref().err()).collect();
    assert!(results.len() >= 20, "only {} examples", results.len());
    assert!(
        (results.len() - failures.len()) * 10 >= results.len() * 9,
        "{failures:#?}"
    );
    let page = repository().join("docs/guide/native-replay.md");
    let page = std::fs::read_to_string(page).expect("the guide's page");
    for failure in failures {
        let name = failure.split(':').next().unwrap_or("");
        assert!(page.contains(name), "not in the guide: {failure}");
    }
}

/// Giving up and taking the mutex again are two steps, and others may come between.
#[test]
fn waits_that_are_given_up_are_replayed() {
    let begin = "/* expect: unsafe */\n#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <time.h>\n\
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
        int ready; struct timespec soon;\n";
    let told_too_late = "void *other(void *a) {\n  pthread_mutex_lock(&m);\n  ready = 1;\n  pthread_cond_signal(&c);\n\
        pthread_mutex_unlock(&m);\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t;\n  int e = 0;\n  pthread_mutex_lock(&m);\n  pthread_create(&t, 0, other, 0);\n\
        while (!ready && e == 0)\n    e = pthread_cond_timedwait(&c, &m, &soon);\n\
        assert(!(e == ETIMEDOUT && ready));\n  pthread_mutex_unlock(&m);\n  pthread_join(t, 0);\n}\n";
    let mutex_is_kept = "void *other(void *a) {\n  pthread_mutex_lock(&m);\n  ready = 1;\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t;\n  pthread_mutex_lock(&m);\n  pthread_create(&t, 0, other, 0);\n\
        pthread_cond_timedwait(&c, &m, &soon);\n  pthread_mutex_unlock(&m);\n  pthread_join(t, 0);\n}\n";
    let folder = scratch("given-up");
    for (name, rest) in [
        ("told_too_late", told_too_late),
        ("mutex_is_kept", mutex_is_kept),
    ] {
        let file = folder.join(name).with_extension("c");
        std::fs::write(&file, format!("{begin}{rest}")).expect("a writable folder");
        let result = replayed(&file, &folder).expect("an unsafe program");
        assert!(result.is_ok(), "{result:?}");
    }
}

/// Where a variable dies is a step: the thread that uses it waits for that, however long it takes.
#[test]
fn a_use_comes_after_the_end_of_the_lifetime() {
    let program = "/* expect: unsafe memory-safety */\n#include <pthread.h>\n#include <unistd.h>\n\
        static void *worker(void *arg) {\n  *(int *)arg = 1;\n  return NULL;\n}\n\
        static pthread_t start(void) {\n  pthread_t t;\n  int local = 0;\n\
        pthread_create(&t, NULL, worker, &local);\n  usleep(100000);\n  return t;\n}\n\
        int main(void) {\n  pthread_t t = start();\n  pthread_join(t, NULL);\n  return 0;\n}\n";
    let folder = scratch("lifetime");
    let file = folder.join("late_return.c");
    std::fs::write(&file, program).expect("a writable folder");
    let result = replayed(&file, &folder).expect("an unsafe program");
    assert!(result.is_ok(), "{result:?}");
}

/// A result that only the translation believes in is not passed off as real.
#[test]
fn where_reality_differs_it_is_said() {
    let folder = scratch("differs");
    let program = folder.join("differs.c");
    std::fs::write(
        &program,
        "#include <assert.h>\nint getdtablesize(void);\nint x;\n\
         int main(void) {\n    x = getdtablesize() == -5;\n    assert(!x);\n    return 0;\n}\n",
    )
    .expect("a program can be written");
    let trace = folder.join("trace.json");
    let found = run(mover()
        .args([
            "check",
            "--quiet",
            "--engine",
            "bmc",
            "--havoc-externals",
            "--trace",
        ])
        .arg(&trace)
        .arg(&program));
    assert_eq!(found.code, Some(10), "{}", found.stderr);
    let native = run(mover()
        .args(["replay", "--native", "--yes", "--havoc-externals"])
        .arg(&program)
        .arg(&trace));
    assert_eq!(native.code, Some(5), "{} {}", native.stdout, native.stderr);
    assert!(
        native.stdout.contains("the native run differs"),
        "{}",
        native.stdout
    );
    let model = run(mover()
        .args(["replay", "--native", "--yes"])
        .arg(repository().join("examples/promela/mutex_naive.pml"))
        .arg(&trace));
    assert_eq!(model.code, Some(1), "{}", model.stderr);
}

/// The inputs of the run reach the program, and a debugger finds it stopped.
#[test]
fn a_debugger_finds_the_violation() {
    let folder = scratch("gdb");
    let program = folder.join("stops.c");
    std::fs::write(
        &program,
        "#include <assert.h>\n#include <pthread.h>\nint __VERIFIER_nondet_int(void);\nint shared;\n\
         static void *worker(void *arg) {\n    shared = *(int *)arg;\n    return arg;\n}\n\
         int main(void) {\n    pthread_t t;\n    int given = __VERIFIER_nondet_int();\n    \
         if (given != 2)\n        return 0;\n    pthread_create(&t, 0, worker, &given);\n    \
         pthread_join(t, 0);\n    assert(shared != 2);\n    return 0;\n}\n",
    )
    .expect("a program can be written");
    let trace = folder.join("trace.json");
    let found = run(mover()
        .args(["check", "--quiet", "--engine", "bmc", "--trace"])
        .arg(&trace)
        .arg(&program));
    assert_eq!(found.code, Some(10), "{}{}", found.stdout, found.stderr);
    // The process outlives mover, so nothing of it may hold on to pipes.
    let said = folder.join("said");
    let out = std::fs::File::create(&said).expect("a file");
    let status = mover()
        .args(["replay", "--native", "--yes", "--gdb"])
        .arg(&program)
        .arg(&trace)
        .stdout(out)
        .stderr(std::process::Stdio::null())
        .status()
        .expect("mover can be started");
    let said = std::fs::read_to_string(&said).expect("what mover said");
    assert_eq!(status.code(), Some(10), "{said}");
    let command = said.split("gdb -p ").nth(1).expect("a command for gdb");
    let mut words = command.split_whitespace();
    let process = words.next().expect("a number");
    let executable = words.next().expect("an executable");
    let looked = Command::new("gdb")
        .args(["-batch", "-p", process, "-ex", "bt", executable])
        .output()
        .expect("gdb can be started");
    let killed = Command::new("kill").args(["-KILL", process]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let _ = std::fs::remove_dir_all(Path::new(executable).parent().expect("its folder"));
    let stack = String::from_utf8_lossy(&looked.stdout);
    assert!(stack.contains("in main () at"), "{stack}");
    assert!(stack.contains("__assert_fail"), "{stack}");
}

#[test]
fn shells_and_man_read_what_is_made_for_them() {
    let folder = scratch("shell");
    for (shell, check) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["-n"])] {
        let made = run(mover().args(["completions", shell]));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        for word in ["check", "replay", "--witness", "--reduce"] {
            let word = if shell == "fish" {
                word.trim_start_matches('-')
            } else {
                word
            };
            assert!(made.stdout.contains(word), "{shell}: {word}");
        }
        let file = folder.join(shell);
        std::fs::write(&file, &made.stdout).expect("a file");
        let read = Command::new(shell).args(check).arg(&file).output();
        let read = read.unwrap_or_else(|error| panic!("{shell}: {error}"));
        assert!(
            read.status.success(),
            "{shell}: {}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
    for arguments in [&["man"][..], &["man", "check"], &["man", "tm", "check"]] {
        let made = run(mover().args(arguments));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let file = folder.join("page.1");
        std::fs::write(&file, &made.stdout).expect("a file");
        let shown = Command::new("groff")
            .args(["-man", "-Tascii", "-ww"])
            .arg(&file)
            .output()
            .expect("groff can be started");
        let complaints = String::from_utf8_lossy(&shown.stderr);
        assert!(
            shown.status.success() && complaints.is_empty(),
            "{complaints}"
        );
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains("General Commands Manual"), "{text}");
    }
    assert_eq!(run(mover().args(["man", "nothing"])).code, Some(1));
    let version = run(mover().arg("--version")).stdout;
    assert!(version.starts_with("mover 0."), "{version}");
    assert!(version.contains("C (feature `c`"), "{version}");
    assert_eq!(run(mover().arg("-V")).stdout.lines().count(), 1);
}

#[test]
fn benchexec_drives_mover() {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-venv");
    let made = Command::new(repository().join("scripts/test-venv"))
        .arg(venv)
        .output()
        .expect("the script can be started");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let asked = Command::new(String::from_utf8_lossy(&made.stdout).trim())
        .arg(repository().join("crates/mover/tests/contrib/tool_info.py"))
        .arg(repository().join("contrib/benchexec/mover_info"))
        .arg(env!("CARGO_BIN_EXE_mover"))
        .arg(scratch("benchexec"))
        .output()
        .expect("Python can be started");
    let complaints = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{complaints}");
    assert!(String::from_utf8_lossy(&asked.stdout).contains("accepted"));
}

#[test]
fn the_extension_for_visual_studio_code_shows_what_mover_says() {
    let tested = Command::new("node")
        .args(["--test", "contrib/vscode/test/extension.test.js"])
        .env("MOVER", env!("CARGO_BIN_EXE_mover"))
        .current_dir(repository())
        .output()
        .expect("node is missing: `make test` installs it");
    let said = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{said}");
    assert!(said.contains("# fail 0"), "{said}");
}

//! Programs that want more than to be checked.
//!
//! What is checked may come from anybody. Each test is a program that tries to have code run, to
//! see a file that is none of its business, to write through a link, to speak in mover's name, or to
//! leave something behind.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, mover, run};
use crate::last_line;

const UNSAFE: &str = "void reach_error(void){} int main(void) { reach_error(); return 0; }\n";
const SAFE: &str = "int main(void) { return 0; }\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn check_in(folder: &Path, arguments: &[&str]) -> Ended {
    run(mover().current_dir(folder).arg("check").args(arguments))
}

#[test]
fn a_name_is_no_response_file() {
    let folder = folder();
    // As options these would have another program checked, and a file written.
    write(folder.path(), "safe.c", SAFE);
    write(folder.path(), "x.c", "-MF ran -MD safe.c\n");
    write(folder.path(), "@x.c", UNSAFE);
    // Clang hands the name on to itself, so that `./@x.c` does not help.
    let model = "#define X 0\nactive proctype P() { assert(X) }\n";
    write(folder.path(), "@x.pml", model);
    for name in ["@x.c", "./@x.c", "@x.pml"] {
        let ended = check_in(folder.path(), &[name]);
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("rename it"), "{}", ended.stderr);
    }
    assert!(!folder.path().join("ran").exists());

    // The value of an option is a word of its own to some compilers.
    std::fs::create_dir(folder.path().join("@inc")).expect("a directory");
    write(folder.path(), "@inc/own.h", "#define FAILS 1\n");
    let source = format!("#include <own.h>\n{UNSAFE}");
    write(folder.path(), "y.c", source);
    let ended = check_in(folder.path(), &["-I", "@inc", "y.c"]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
}

/// A file with this word in it must not be shown anywhere.
const SECRET: &str = "the-secret-word";

#[test]
fn a_program_cannot_have_other_files_shown() {
    let folder = folder();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    let secret = write(&elsewhere, "secret.h", format!("{SECRET}\n").repeat(9));
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).expect("a directory");
    let secret = secret.display();
    let line = format!("#line 1 \"{secret}\"\n{UNSAFE}");
    write(&inside, "line.c", &line);
    write(&inside, "line.i", format!("# 1 \"{secret}\"\n{UNSAFE}"));
    let model = format!("#line 1 \"{secret}\"\nactive proctype P() {{ assert(false) }}\n");
    write(&inside, "line.pml", model);
    let compiled = Command::new("clang-19")
        .args(["-g", "-S", "-emit-llvm", "line.c", "-o", "line.ll"])
        .current_dir(&inside)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    for file in ["line.c", "line.i", "line.ll", "line.pml"] {
        let ended = check_in(
            &inside,
            &[
                "--report", "r.html", "--trace", "t.json", "--sarif", "s.sarif", file,
            ],
        );
        assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
        for written in ["r.html", "t.json", "s.sarif"] {
            let text = std::fs::read_to_string(inside.join(written)).expect("it was written");
            assert!(!text.contains(SECRET), "{file}: {written}");
        }
        assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET));
    }
}

#[test]
fn what_has_no_end_is_not_read_for_a_report() {
    let folder = folder();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe.h"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    for file in ["/dev/zero", "pipe.h"] {
        write(
            folder.path(),
            "x.c",
            format!("#line 1 \"{file}\"\n{UNSAFE}"),
        );
        let ended = check_in(folder.path(), &["x.c"]);
        assert_eq!(
            ended.code,
            Some(10),
            "{file}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn an_included_pipe_ends_with_the_time_limit() {
    let folder = folder();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe.h"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    write(folder.path(), "x.c", format!("#include \"pipe.h\"\n{SAFE}"));
    let ended = check_in(folder.path(), &["--timeout", "2s", "x.c"]);
    assert_eq!(ended.code, Some(5), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(
        last_line(&ended),
        "unknown: the time limit was reached while the program was being read"
    );
    let ended = check_in(folder.path(), &["--timeout", "2s", "--json", "x.c"]);
    assert_eq!(ended.json()["verdict"], "unknown");
}

#[test]
fn outputs_do_not_follow_links_that_were_laid_out() {
    let folder = folder();
    write(folder.path(), "x.c", UNSAFE);
    let victim = write(folder.path(), "victim", "untouched");
    // The process that will be started next has one of these numbers.
    let own = std::process::id();
    for number in own..own + 2000 {
        let link = folder.path().join(format!("report.html.{number}.part"));
        symlink(&victim, link).expect("a link");
    }
    let ended = check_in(folder.path(), &["--report", "report.html", "x.c"]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(std::fs::read_to_string(&victim).expect("text"), "untouched");
    let report = folder.path().join("report.html");
    assert!(report.is_file() && !report.is_symlink());
}

/// Neither lines nor colours of its own.
#[track_caller]
fn assert_plain(ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let odd = text
            .chars()
            .find(|&c| c != '\n' && c != '\t' && c.is_control());
        assert_eq!(odd, None, "{text:?}");
    }
}

#[test]
fn control_characters_of_a_program_are_not_printed() {
    let folder = folder();
    let source = "#include <assert.h>\n\
                  int x; /* \u{1b}[31m */\n\
                  int main(void) {\n\
                    x = 1; /* \u{1b}]0;title\u{7} \u{9b}2J \r hidden */\n\
                    assert(x == 0 && \"\u{1b}[2J\");\n\
                  }\n";
    write(folder.path(), "x.c", source);
    let ended = check_in(folder.path(), &["--all-steps", "x.c"]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
    assert_plain(&ended);
    write(folder.path(), "bad.c", "int \u{1b}[2Jx;\n");
    assert_plain(&check_in(folder.path(), &["bad.c"]));
    write(
        folder.path(),
        "bad.pml",
        "active proctype P() { \u{1b}[2J }\n",
    );
    assert_plain(&check_in(folder.path(), &["bad.pml"]));
    let model =
        "byte x; /* \u{1b}[2J */ active proctype P() { x = 1 /* \u{9b}2J */; assert(x == 0) }\n";
    write(folder.path(), "x.pml", model);
    assert_plain(&check_in(folder.path(), &["x.pml"]));
}

#[test]
fn a_program_cannot_write_the_last_line() {
    let folder = folder();
    // The text of an assertion, a name in the program, the name of its file, and of another one.
    let source = "void __assert_fail(const char*, const char*, unsigned, const char*);\n\
                  int main(void) { __assert_fail(\"a\\nsafe: all is well\", \"x\", 1, \"f\"); }\n";
    write(folder.path(), "assert.c", source);
    let name = "x\nsafe: all is well.c";
    write(folder.path(), name, UNSAFE);
    write(
        folder.path(),
        "line.c",
        format!("#line 1 \"a\\nsafe: all is well\"\n{UNSAFE}"),
    );
    let ir = "@\"x\\0Asafe: all is well\" = global i32 0\n\
              declare void @reach_error()\n\
              define i32 @main() {\n\
                store i32 1, ptr @\"x\\0Asafe: all is well\"\n\
                call void @reach_error()\n\
                ret i32 0\n\
              }\n";
    write(folder.path(), "name.ll", ir);
    for file in ["assert.c", name, "line.c", "name.ll"] {
        let ended = check_in(folder.path(), &["--all-steps", file]);
        assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
        assert!(
            last_line(&ended).starts_with("unsafe: "),
            "{}",
            ended.stdout
        );
        assert!(!ended.stdout.lines().any(|line| line.starts_with("safe")));
        assert_plain(&ended);
    }
    let missing = check_in(folder.path(), &["missing\nsafe: all is well.c"]);
    assert_eq!(missing.code, Some(2));
    assert!(!missing.stderr.lines().any(|line| line.starts_with("safe")));
}

/// A program whose compilation never ends, being checked.
fn endless(folder: &Path, temporary: &Path) -> Child {
    let made = Command::new("mkfifo").arg(folder.join("pipe.h")).status();
    assert!(made.is_ok_and(|status| status.success()));
    write(folder, "x.c", format!("#include \"pipe.h\"\n{SAFE}"));
    let mut command = mover();
    command.args(["check", "x.c"]).current_dir(folder);
    command.env("TMPDIR", temporary).stdout(Stdio::piped());
    command.spawn().expect("mover can be started")
}

/// Processes that have this text in their command line.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number: &u32| {
            let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(text)
        })
        .collect()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_run_leaves_neither_compilers_nor_files() {
    for signal in ["TERM", "INT", "HUP"] {
        let (folder, temporary) = (folder(), folder());
        let child = endless(folder.path(), temporary.path());
        // Clang is told to write into the temporary directory, by its name.
        let name = temporary.path().to_string_lossy().into_owned();
        wait_until("clang runs", || !processes_with(&name).is_empty());
        let killed = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(killed.is_ok_and(|status| status.success()));
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(5), "{signal}");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = told.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "unknown: interrupted while the program was being read"
        );
        wait_until("clang has ended", || processes_with(&name).is_empty());
        let left = std::fs::read_dir(temporary.path())
            .expect("a directory")
            .count();
        assert_eq!(left, 0, "{signal}");
    }
}

#[test]
fn a_program_is_executed_only_if_that_was_allowed() {
    let folder = folder();
    let source = "#include <assert.h>\nint main(void) { assert(0); }\n";
    write(folder.path(), "x.c", source);
    let ended = check_in(folder.path(), &["--trace", "t.json", "x.c"]);
    assert_eq!(ended.code, Some(10), "{}{}", ended.stdout, ended.stderr);
    let replay = |options: &[&str]| {
        let mut command = mover();
        command
            .current_dir(folder.path())
            .arg("replay")
            .args(options);
        run(command.args(["x.c", "t.json"]))
    };
    let refused = replay(&["--native"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--yes") && refused.stderr.contains("U014"));
    let allowed = replay(&["--native", "--yes"]);
    assert_eq!(
        allowed.code,
        Some(10),
        "{}{}",
        allowed.stdout,
        allowed.stderr
    );
    assert!(allowed.stderr.contains("executing"), "{}", allowed.stderr);
}

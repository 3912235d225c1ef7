//! Inputs that are not models: each gets an answer, none a panic.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mover_promela::{Options, parse, parse_text};
use mover_source::diagnostic::Diagnostic;

fn scratch(name: &str, content: &[u8]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-inputs");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, content).expect("a scratch file");
    path
}

/// The messages for a file that must be refused, within reasonable time.
fn refused(path: &Path) -> Vec<String> {
    let start = Instant::now();
    let failure = parse(path, &Options::default()).expect_err("it is no model");
    assert!(
        start.elapsed() < Duration::from_secs(40),
        "{} took too long",
        path.display()
    );
    assert!(failure.diagnostics.iter().any(Diagnostic::is_error));
    failure
        .diagnostics
        .into_iter()
        .map(|diagnostic| diagnostic.message)
        .collect()
}

fn has_cpp() -> bool {
    std::process::Command::new("cpp")
        .arg("--version")
        .output()
        .is_ok()
}

#[test]
fn an_empty_file() {
    assert!(refused(&scratch("empty.pml", b""))[0].contains("is empty"));
    assert!(refused(&scratch("blank.pml", b" \n\t\n"))[0].contains("is empty"));
    assert!(refused(&scratch("comment.pml", b"/* nothing */\n"))[0].contains("no process to run"));
}

#[test]
fn a_directory_and_a_missing_file() {
    assert!(refused(Path::new(env!("CARGO_TARGET_TMPDIR")))[0].contains("is a directory"));
    assert!(refused(Path::new("there/is/no.pml"))[0].contains("cannot be read"));
}

#[test]
fn a_binary_file() {
    let content: Vec<u8> = (0..4096u32).map(|i| (i * 7) as u8).collect();
    assert!(refused(&scratch("binary.pml", &content))[0].contains("binary file"));
}

#[test]
fn a_megabyte_of_random_bytes() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u8
    };
    let any: Vec<u8> = (0..1 << 20).map(|_| next()).collect();
    refused(&scratch("random.pml", &any));
    let no_zeros: Vec<u8> = any.iter().map(|&byte| byte.max(1)).collect();
    refused(&scratch("random_no_zeros.pml", &no_zeros));
    let text: Vec<u8> = any.iter().map(|&byte| b' ' + byte % 95).collect();
    refused(&scratch("random_text.pml", &text));
    let braces: Vec<u8> = any
        .iter()
        .map(|&byte| b"{}()[];:if \n"[byte as usize % 12])
        .collect();
    refused(&scratch("random_braces.pml", &braces));
}

#[test]
fn recursive_macros_end() {
    if !has_cpp() {
        return;
    }
    let recursive = b"#define A B\n#define B A\nbyte x;\nactive proctype p() { A = 1 }\n";
    let messages = refused(&scratch("macro.pml", recursive));
    assert!(messages[0].contains("no variable `A`"), "{messages:?}");
}

#[test]
fn exploding_macros_are_stopped() {
    if !has_cpp() {
        return;
    }
    let mut text = String::from("#define M0 x = 1;\n");
    for level in 1..40 {
        text.push_str(&format!("#define M{level} M{0} M{0}\n", level - 1));
    }
    text.push_str("byte x;\nactive proctype p() { M39 }\n");
    let messages = refused(&scratch("exploding.pml", text.as_bytes()));
    assert!(
        messages
            .iter()
            .any(|message| message.contains("C preprocessor")),
        "{messages:?}"
    );
}

#[test]
fn an_include_of_itself_is_an_error() {
    if !has_cpp() {
        return;
    }
    let messages = refused(&scratch("itself.pml", b"#include \"itself.pml\"\n"));
    assert!(
        messages
            .iter()
            .any(|message| message.contains("C preprocessor")),
        "{messages:?}"
    );
}

#[test]
fn errors_of_the_preprocessor_have_a_line() {
    if !has_cpp() {
        return;
    }
    let path = scratch(
        "unbalanced.pml",
        b"byte x;\n#if 1\nactive proctype p() { skip }\n",
    );
    let failure = parse(&path, &Options::default()).expect_err("the #if has no end");
    let (span, _) = failure.diagnostics[0].label.as_ref().expect("a place");
    assert_eq!(failure.sources.locate(*span).line, 2);
}

#[test]
fn definitions_and_includes_reach_the_preprocessor() {
    if !has_cpp() {
        return;
    }
    scratch(
        "part.h",
        b"#define LIMIT 3\ninline set(v) { v = LIMIT + EXTRA }\n",
    );
    let path = scratch(
        "whole.pml",
        b"#include \"part.h\"\nbyte x;\n\nactive proctype p() { set(x); y = 1 }\n",
    );
    let options = Options {
        defines: vec!["EXTRA=4".to_string(), "y=x".to_string()],
        ..Options::default()
    };
    let frontend =
        parse(&path, &options).unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics));
    let program = &frontend.program;
    let edges = program.templates[0]
        .locations
        .iter()
        .flat_map(|location| &location.edges);
    let places: Vec<String> = edges
        .filter_map(|edge| edge.span)
        .map(|span| {
            let line = program.info.sources.locate(span);
            let name = Path::new(line.file)
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            format!("{name}:{} {}", line.line, program.info.sources.text(span))
        })
        .collect();
    assert!(
        places
            .iter()
            .any(|place| place.starts_with("part.h:2 v = LIMIT + EXTRA")),
        "{places:?}"
    );
    assert!(
        places
            .iter()
            .any(|place| place.starts_with("whole.pml:4 y = 1")),
        "{places:?}"
    );
}

#[test]
fn exploding_inlines_are_stopped() {
    let mut text = String::from("byte x;\ninline i0(v) { v = 1 }\n");
    for level in 1..15 {
        let call = format!("i{}(v)", level - 1);
        text.push_str(&format!(
            "inline i{level}(v) {{ {call}; {call}; {call}; {call} }}\n"
        ));
    }
    text.push_str("active proctype p() { i14(x) }\n");
    let start = Instant::now();
    let failure = parse_text("inlines.pml", &text).expect_err("too many statements");
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(
        failure.diagnostics[0]
            .message
            .contains("expand to more than")
    );
}

#[test]
fn other_encodings_in_comments_do_no_harm() {
    let path = scratch("latin.pml", b"/* caf\xe9 */ active proctype p() { skip }\n");
    assert!(parse(&path, &Options::default()).is_ok());
}

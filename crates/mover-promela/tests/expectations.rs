//! What the front end says and what it makes, against files.
//!
//! `diagnostics/*.pml` are models with mistakes; beside each stands what is
//! said about it. `programs/*.pml` are sound; beside each stands the program.
//! `UPDATE_EXPECT=1 cargo test` writes the files anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use mover_ir::print::print_program;
use mover_promela::{Failure, parse_text};
use mover_source::diagnostic::{Diagnostic, Severity};
use mover_source::{SourceMap, Span};

/// The line of a span, with carets under it.
fn excerpt(sources: &SourceMap, span: Span, label: &str) -> String {
    let file = sources.file(span.file);
    let line = file.line_of(span.start);
    let text: String = file.line_text(line).chars().take(100).collect();
    let column = file.column_of(span.start);
    let width = sources
        .text(span)
        .lines()
        .next()
        .unwrap_or("")
        .chars()
        .count();
    let carets = "^".repeat(width.clamp(1, 100));
    let indent: String = text
        .chars()
        .take(column - 1)
        .map(|c| if c == '\t' { c } else { ' ' })
        .collect();
    format!("  {line} | {text}\n    | {indent}{carets} {label}")
        .trim_end()
        .to_string()
}

fn render(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut text = format!("{severity}: {}\n", diagnostic.message);
    for (span, label) in diagnostic.label.iter().chain(&diagnostic.related) {
        let _ = writeln!(text, "{}", excerpt(sources, *span, label));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "  help: {help}");
    }
    text
}

fn render_all(failure: &Failure) -> String {
    let parts: Vec<String> = failure
        .diagnostics
        .iter()
        .map(|diagnostic| render(&failure.sources, diagnostic))
        .collect();
    parts.join("\n")
}

fn models(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(directory);
    let mut models: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the models are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    models.sort();
    models
}

fn compare(directory: &str, result: impl Fn(&str, &str) -> String) {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut differing = Vec::new();
    for model in models(directory) {
        let name = model
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&model).expect("a readable model");
        let actual = result(&name, &text);
        let expectation = model.with_extension("expect");
        if update {
            std::fs::write(&expectation, actual).expect("a writable expectation");
        } else if std::fs::read_to_string(&expectation).unwrap_or_default() != actual {
            differing.push(format!("--- {name} is now:\n{actual}"));
        }
    }
    assert!(
        differing.is_empty(),
        "{}\nUPDATE_EXPECT=1 accepts this",
        differing.join("\n")
    );
}

#[test]
fn mistakes_are_told_with_their_place() {
    compare("diagnostics", |name, text| match parse_text(name, text) {
        Ok(_) => panic!("{name} has no mistake"),
        Err(failure) => render_all(&failure),
    });
}

#[test]
fn programs_are_as_expected() {
    compare("programs", |name, text| match parse_text(name, text) {
        Ok(frontend) => print_program(&frontend.program),
        Err(failure) => panic!("{name}: {}", render_all(&failure)),
    });
}

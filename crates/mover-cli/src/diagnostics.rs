//! Remarks on the input, with the line and a caret.
//!
//! Front ends return diagnostics as data; here they become text. They are printed where they
//! arise, since there may be many of them; the error that ends the command carries only the last
//! line, which names the file and counts them.

use codespan_reporting::diagnostic::{Diagnostic as Shown, Label, LabelStyle};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{self, Config};
use mover_source::diagnostic::{Code, Diagnostic, Severity};
use mover_source::{SourceMap, Span};

use crate::CliError;
use crate::output::stderr_is_terminal;

/// Prints diagnostics to standard error.
pub fn show(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        crate::stderr!("{}", render(sources, diagnostic, stderr_is_terminal()));
    }
}

/// Prints why a front end does not take a file; the error counts the reasons.
pub fn refuse(name: &str, sources: &SourceMap, diagnostics: &[Diagnostic]) -> CliError {
    show(sources, diagnostics);
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let code = errors.iter().find_map(|error| error.code);
    let count = match errors.len() {
        0 => "it does not compile".to_string(),
        1 => "1 error".to_string(),
        n => format!("{n} errors"),
    };
    let code = code.as_ref().map_or("C002", Code::as_str);
    CliError::input(code, format!("{name}: {count}"))
}

/// A diagnostic as text for a terminal or a pipe.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let mut files = SimpleFiles::new();
    for (_, file) in sources.files() {
        files.add(file.name.as_str(), file.text.as_str());
    }
    let label = |style: LabelStyle, (span, text): &(Span, String)| {
        Label::new(style, span.file.0 as usize, place(sources, *span)).with_message(text)
    };
    let shown = match diagnostic.severity {
        Severity::Error => Shown::error(),
        Severity::Warning => Shown::warning(),
        Severity::Note => Shown::note(),
    };
    let shown = match diagnostic.code {
        Some(code) => shown.with_code(code.as_str()),
        None => shown,
    };
    let primary = diagnostic.label.iter();
    let shown = shown
        .with_message(&diagnostic.message)
        .with_labels_iter(primary.map(|part| label(LabelStyle::Primary, part)))
        .with_labels_iter(
            diagnostic
                .related
                .iter()
                .map(|part| label(LabelStyle::Secondary, part)),
        )
        .with_notes_iter(diagnostic.help.iter().map(|help| format!("help: {help}")));
    let mut out = if color {
        Buffer::ansi()
    } else {
        Buffer::no_color()
    };
    match term::emit_to_write_style(&mut out, &Config::default(), &files, &shown) {
        Ok(()) => String::from_utf8_lossy(out.as_slice()).into_owned(),
        Err(_) => format!("{}\n", diagnostic.message),
    }
}

/// Keeps the range inside of the file, on one line if it would span many.
fn place(sources: &SourceMap, span: Span) -> std::ops::Range<usize> {
    let file = sources.file(span.file);
    let len = file.text.len();
    let mut start = (span.start as usize).min(len);
    let line_end = file.line_range(file.line_of(start as u32)).end;
    let mut end = (span.end as usize)
        .clamp(start, len)
        .min(line_end.max(start));
    while !file.text.is_char_boundary(start) {
        start -= 1;
    }
    while !file.text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_counts_the_diagnostics_and_has_the_code_of_the_first() {
        let mut sources = SourceMap::default();
        let span = Span::new(sources.add("m.pml", "byte x"), 0, 4);
        let error = |code| Diagnostic::coded(code, "odd").at(span, "");
        let warning = Diagnostic::warning("strange").at(span, "");
        let refused = |diagnostics: &[Diagnostic]| {
            let error = refuse("m.pml", &sources, diagnostics);
            assert_eq!(error.code(), 2);
            error.to_string()
        };
        assert_eq!(refused(&[]), "m.pml: it does not compile [C002]");
        assert_eq!(
            refused(&[warning.clone(), error("X020")]),
            "m.pml: 1 error [X020]"
        );
        assert_eq!(
            refused(&[error("X031"), warning, error("X020")]),
            "m.pml: 2 errors [X031]"
        );
    }

    #[test]
    fn shows_line_text_and_caret() {
        let mut sources = SourceMap::default();
        let file = sources.add("m.pml", "byte x;\nbyte ä = y;\n");
        let span = Span::new(file, 18, 19);
        assert_eq!(sources.text(span), "y");
        for of_severity in [Diagnostic::error, Diagnostic::warning, Diagnostic::note] {
            let diagnostic = of_severity("unknown name `y`")
                .at(span, "not declared")
                .related(Span::new(file, 5, 6), "did you mean `x`?")
                .help("declare it");
            let text = render(&sources, &diagnostic, false);
            assert!(text.contains("m.pml:2:"), "{text}");
            assert!(text.contains("byte ä = y;"), "{text}");
            assert!(text.contains("not declared"), "{text}");
            assert!(text.contains('^'), "{text}");
            assert!(!text.contains('\u{1b}'), "no colour in a pipe: {text}");
        }
    }

    #[test]
    fn a_place_outside_of_the_text_is_no_panic() {
        let mut sources = SourceMap::default();
        let file = sources.add("m.pml", "ä");
        for (start, end) in [(0, 0), (1, 1), (1, 9), (7, 9), (9, 7)] {
            let diagnostic = Diagnostic::error("odd").at(Span::new(file, start, end), "");
            assert!(render(&sources, &diagnostic, false).contains("odd"));
        }
    }
}

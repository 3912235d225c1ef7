//! Remarks on the input, with the line and a caret.

use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind, Source};
use mover_ir::diagnostic::{Diagnostic, Severity};
use mover_ir::source::{SourceMap, Span};

/// The name of a file and a range of bytes in it.
type Place = (String, std::ops::Range<usize>);

/// A diagnostic as text for a terminal or a pipe.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let Some((span, label)) = &diagnostic.label else {
        return render_plain(diagnostic);
    };
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
        Severity::Note => ReportKind::Advice,
    };
    let config = Config::default()
        .with_color(color)
        .with_index_type(IndexType::Byte)
        // On a terminal with colours lines look better; anywhere else a caret is safer.
        .with_char_set(if color {
            CharSet::Unicode
        } else {
            CharSet::Ascii
        });
    let caption = |text: &String| {
        if text.is_empty() {
            "here".to_string()
        } else {
            text.clone()
        }
    };
    let mut report = Report::build(kind, place(sources, *span))
        .with_config(config)
        .with_message(&diagnostic.message)
        .with_label(
            Label::new(place(sources, *span))
                .with_message(caption(label))
                .with_color(Color::Red),
        );
    for (span, label) in &diagnostic.related {
        report = report.with_label(
            Label::new(place(sources, *span))
                .with_message(caption(label))
                .with_color(Color::Blue),
        );
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    let files = ariadne::FnCache::new(
        (move |name: &String| Err(format!("no source for {name}")))
            as fn(&String) -> Result<String, String>,
    )
    .with_sources(
        sources
            .files()
            .map(|(_, file)| (file.name.clone(), Source::from(file.text.clone())))
            .collect(),
    );
    let mut out = Vec::new();
    match report.finish().write(files, &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => render_plain(diagnostic),
    }
}

/// Keeps the range inside of the file, on one line if it would span many.
fn place(sources: &SourceMap, span: Span) -> Place {
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
    (file.name.clone(), start..end)
}

fn render_plain(diagnostic: &Diagnostic) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Note => "note",
    };
    let help = diagnostic
        .help
        .as_ref()
        .map_or(String::new(), |help| format!("  help: {help}\n"));
    format!("{kind}: {}\n{help}", diagnostic.message)
}

#[cfg(test)]
mod tests {
    use super::*;

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

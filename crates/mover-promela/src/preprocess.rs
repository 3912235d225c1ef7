//! The C preprocessor in front of Promela.
//!
//! SPIN hands each model to the system's C preprocessor, in its GNU C99
//! dialect, before it reads a word of it; so does this module, and reads the
//! line markers of the output back into lines of the user's files. A text
//! that has nothing for a preprocessor to do is taken as it stands, so that
//! plain models need no `cpp` at all and keep exact columns.
//!
//! The preprocessor is a foreign program on foreign input, so it
//! runs under limits: its memory, the size of its output and its time. Recursive macros end by themselves (a macro is not
//! expanded within its own expansion); recursive includes end at cpp's own
//! depth limit or at ours of time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, SourceMap, Span};
use mover_tools::child::{self, Limits};
use mover_tools::own_files::OwnFiles;
use mover_tools::scratch::Scratch;
use mover_tools::{file_argument, visible};

use crate::origin::LineOrigin;

/// What the command line may say about a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `NAME` or `NAME=VALUE`, as after `-D`.
    pub defines: Vec<String>,
    /// Names, as after `-U`.
    pub undefines: Vec<String>,
    /// Directories, as after `-I`.
    pub includes: Vec<PathBuf>,
    /// Formulas that are claimed besides what the model says; they may use its macros.
    pub formulas: Vec<String>,
}

pub struct Preprocessed {
    pub text: String,
    pub lines: Vec<LineOrigin>,
}

pub const SOURCE_LIMIT_BYTES: usize = 16 << 20;
const OUTPUT_LIMIT_BYTES: usize = 64 << 20;
const LIMITS: Limits = Limits {
    // One byte more shows that there would be more.
    output_bytes: OUTPUT_LIMIT_BYTES + 1,
    memory_bytes: 4 << 30,
    time: Duration::from_secs(10),
};
const MESSAGE_LIMIT_BYTES: usize = 64 << 10;
/// cpp may repeat one complaint for each use of a macro.
const DIAGNOSTIC_LIMIT: usize = 20;

/// Whether a preprocessor would change anything in the text.
pub fn is_needed(text: &str, options: &Options) -> bool {
    let has_directive = text.lines().any(|line| line.trim_start().starts_with('#'));
    // Names that GNU C predefines: `linux` is 1 to SPIN.
    let has_predefined_name = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word.starts_with("__") || matches!(word, "linux" | "unix" | "i386"));
    has_directive
        || has_predefined_name
        || !options.defines.is_empty()
        || text.contains("\\\n")
        || text.contains("\\\r\n")
}

/// Some editors begin a file with this mark; columns are counted after it, as cpp does.
pub fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Runs `cpp` on a file. The file itself must be in `sources` already.
pub fn run(
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
) -> Result<(Preprocessed, Vec<Diagnostic>), Vec<Diagnostic>> {
    let output = execute(path, None, options).map_err(|diagnostic| vec![*diagnostic])?;
    let messages = read_messages(&output.messages, &output.own, sources);
    let text = String::from_utf8_lossy(&output.text).into_owned();
    if !output.success {
        let mut errors = messages;
        if !errors.iter().any(Diagnostic::is_error) {
            let said = output.messages.lines().last().unwrap_or("nothing").trim();
            errors.push(Diagnostic::coded(
                "P002",
                format!("the C preprocessor `cpp` failed; it said: {said}"),
            ));
        }
        return Err(errors);
    }
    Ok((trace_lines(&text, &output.own, sources), messages))
}

struct Output {
    success: bool,
    text: Vec<u8>,
    messages: String,
    /// The files that were read.
    own: OwnFiles,
}

/// A text with the macros of the model expanded.
pub fn expand(path: &Path, text: &str, options: &Options) -> Result<String, Box<Diagnostic>> {
    let output = execute(path, Some(text), options)?;
    if !output.success {
        let message = format!("the C preprocessor failed on `{text}`");
        return Err(Box::new(Diagnostic::coded("P002", message)));
    }
    Ok(String::from_utf8_lossy(&output.text).into_owned())
}

/// Runs `cpp` on a file, or on a text with only the macros of the file.
fn execute(path: &Path, text: Option<&str>, options: &Options) -> Result<Output, Box<Diagnostic>> {
    let fail = |diagnostic: Diagnostic| Err(Box::new(diagnostic));
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(error) => {
            let message = format!("no place for temporary files: {error}");
            return fail(Diagnostic::coded("P002", message));
        }
    };
    let dependencies = scratch.path().join("dependencies");
    let expanded = scratch.path().join("text");
    if let Some(Err(error)) = text.map(|text| std::fs::write(&expanded, text)) {
        let message = format!("no place for temporary files: {error}");
        return fail(Diagnostic::coded("P002", message));
    }
    let joined = |directory: &PathBuf| {
        // A value of its own could be a response file.
        let mut argument = OsString::from("-I");
        argument.push(directory);
        argument
    };
    let mut command = Command::new("cpp");
    command
        .args([
            "-std=gnu99",
            "-fdiagnostics-color=never",
            "-fno-diagnostics-show-caret",
            // Annotations are comments, and are read.
            "-C",
        ])
        .args(options.defines.iter().map(|define| format!("-D{define}")))
        .args(options.undefines.iter().map(|name| format!("-U{name}")))
        .args(options.includes.iter().map(joined))
        .args(["-MD", "-MT", "model", "-MF"])
        .arg(&dependencies)
        .args(text.map(|_| ["-P", "-imacros"]).into_iter().flatten())
        .arg(file_argument(path))
        .args(text.map(|_| &expanded))
        .env("LC_ALL", "C");
    let ended = match child::output(&mut command, LIMITS) {
        Ok(ended) => ended,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return fail(
                Diagnostic::coded(
                    "P002",
                    "this model needs the C preprocessor `cpp`, which is not installed",
                )
                .help("on Debian and its derivatives: apt-get install cpp"),
            );
        }
        Err(error) => {
            return fail(Diagnostic::coded(
                "P002",
                format!("the C preprocessor could not be started: {error}"),
            ));
        }
    };
    if ended.is_late {
        return fail(
            Diagnostic::coded(
                "P002",
                format!(
                    "the C preprocessor ran for more than {} seconds and was stopped",
                    LIMITS.time.as_secs()
                ),
            )
            .help("look for an #include that includes itself or a macro that doubles its text"),
        );
    }
    if ended.stdout.len() > OUTPUT_LIMIT_BYTES {
        return fail(Diagnostic::coded(
            "P002",
            format!(
                "the C preprocessor wrote more than {} MB of text",
                OUTPUT_LIMIT_BYTES >> 20
            ),
        ));
    }
    let mut own = OwnFiles::default();
    own.add(path);
    own.add_dependencies(&std::fs::read_to_string(&dependencies).unwrap_or_default());
    let mut messages = ended.stderr;
    messages.truncate(MESSAGE_LIMIT_BYTES);
    Ok(Output {
        success: ended.status.success(),
        text: ended.stdout,
        messages: String::from_utf8_lossy(&messages).into_owned(),
        own,
    })
}

/// Reads the line markers (`# 12 "file.h" 1`) and blanks them out.
fn trace_lines(output: &str, own: &OwnFiles, sources: &mut SourceMap) -> Preprocessed {
    let mut text = String::with_capacity(output.len());
    let mut lines = Vec::new();
    let mut current: Option<(FileId, usize)> = None;
    for line in output.split_inclusive('\n') {
        if let Some((number, name)) = line_marker(line) {
            current = file_of(name, own, sources).map(|file| (file, number));
            text.push('\n');
            continue;
        }
        if line.starts_with("#pragma") || line.starts_with("#ident") {
            text.push('\n');
        } else {
            if let Some((file, number)) = current {
                lines.push(LineOrigin {
                    start: text.len(),
                    file,
                    line: number,
                });
            }
            text.push_str(line);
        }
        if let Some((_, number)) = &mut current {
            *number += 1;
        }
    }
    Preprocessed { text, lines }
}

fn line_marker(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(' ')?;
    let name = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, &name[..name.find('"')?]))
}

/// The file of a line marker; pseudo files like `<built-in>` hold no text, nor do files that were
/// not read.
fn file_of(name: &str, own: &OwnFiles, sources: &mut SourceMap) -> Option<FileId> {
    if name.starts_with('<') {
        return None;
    }
    // In a line marker quotes and backslashes have a backslash before them, and the main file the
    // name that cpp was given.
    let name = name.replace("\\\\", "\\").replace("\\\"", "\"");
    let name = name
        .strip_prefix("./")
        .filter(|name| name.starts_with(['-', '@']))
        .unwrap_or(&name);
    let shown = visible::name(name);
    Some(sources.find(&shown).unwrap_or_else(|| {
        let bytes = own.read(Path::new(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(without_byte_order_mark(&bytes)).into_owned();
        sources.add(shown.into_owned(), visible::source(text))
    }))
}

/// Lines of the form `file:line:column: error: message`.
fn read_messages(messages: &str, own: &OwnFiles, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for line in messages.lines() {
        let Some((place, is_error, message)) = split_message(line) else {
            continue;
        };
        let mut diagnostic = if is_error {
            Diagnostic::coded("P002", format!("the C preprocessor says: {message}"))
        } else {
            Diagnostic::warning(format!("the C preprocessor says: {message}"))
        };
        let mut parts = place.split(':');
        if let (Some(name), Some(number)) =
            (parts.next(), parts.next().and_then(|n| n.parse().ok()))
            && let Some(file) = file_of(name, own, sources)
        {
            let range = sources.file(file).line_range(number);
            diagnostic = diagnostic.at(Span::new(file, range.start, range.end), "");
        }
        if !diagnostics.contains(&diagnostic) && diagnostics.len() < DIAGNOSTIC_LIMIT {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}

fn split_message(line: &str) -> Option<(&str, bool, &str)> {
    for (word, is_error) in [
        (": fatal error: ", true),
        (": error: ", true),
        (": warning: ", false),
    ] {
        if let Some((place, message)) = line.split_once(word) {
            return Some((place, is_error, message));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_with_work_for_it_needs_the_preprocessor() {
        let options = Options::default();
        assert!(!is_needed("init { skip /* # */ }", &options));
        assert!(is_needed("  # define X 1\n", &options));
        assert!(is_needed("byte x = __LINE__;", &options));
        assert!(is_needed("byte linux;", &options));
        assert!(!is_needed("byte linuxes;", &options));
        let defines = Options {
            defines: vec!["N=3".to_string()],
            ..Options::default()
        };
        assert!(is_needed("byte x = N;", &defines));
    }

    #[test]
    fn line_markers_are_read_and_blanked() {
        let mut sources = SourceMap::default();
        let main = sources.add("m.pml", "#define A b\n\nA\nc\n");
        let output = "# 0 \"m.pml\"\n# 0 \"<built-in>\"\n# 1 \"m.pml\"\n\n\nb\nc\n";
        let preprocessed = trace_lines(output, &OwnFiles::default(), &mut sources);
        let line_of = |token: &str| {
            let at = preprocessed.text.find(token).unwrap();
            let found = preprocessed
                .lines
                .iter()
                .rev()
                .find(|line| line.start <= at);
            found.map(|line| (line.file, line.line))
        };
        assert_eq!(line_of("b"), Some((main, 3)));
        assert_eq!(line_of("c"), Some((main, 4)));
    }

    #[test]
    fn messages_of_cpp_become_diagnostics_with_a_line() {
        let mut sources = SourceMap::default();
        let file = sources.add("m.pml", "#if\nx\n");
        let diagnostics = read_messages(
            "In file included from x:1:\nm.pml:1:4: error: #if with no expression\nm.pml:1:4: error: #if with no expression\n",
            &OwnFiles::default(),
            &mut sources,
        );
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(
            diagnostics[0].label.as_ref().map(|(span, _)| *span),
            Some(Span::new(file, 0, 3))
        );
    }
}

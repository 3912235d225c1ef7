//! The C preprocessor in front of Promela.
//!
//! SPIN hands each model to the system's C preprocessor, in its GNU C99
//! dialect, before it reads a word of it; so does this module, and reads the
//! line markers of the output back into lines of the user's files. A text
//! that has nothing for a preprocessor to do is taken as it stands, so that
//! plain models need no `cpp` at all and keep exact columns.
//!
//! The preprocessor is a foreign program on foreign input, so it
//! runs under limits: its memory (by the shell's `ulimit`), the size of its
//! output and its time. Recursive macros end by themselves (a macro is not
//! expanded within its own expansion); recursive includes end at cpp's own
//! depth limit or at ours of time.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, SourceMap, Span};

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
const MEMORY_LIMIT_KILOBYTES: usize = 4 << 20;
const TIME_LIMIT: Duration = Duration::from_secs(10);
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
    let messages = read_messages(&output.messages, sources);
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
    Ok((trace_lines(&text, sources), messages))
}

struct Output {
    success: bool,
    text: Vec<u8>,
    messages: String,
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
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!(
            "ulimit -v {MEMORY_LIMIT_KILOBYTES}; ulimit -t {seconds}; \
             command -v cpp >/dev/null || exit 127; exec cpp \"$@\"",
            seconds = TIME_LIMIT.as_secs(),
        ))
        .arg("cpp")
        .args([
            "-std=gnu99",
            "-fdiagnostics-color=never",
            "-fno-diagnostics-show-caret",
            // Annotations are comments, and are read.
            "-C",
        ])
        .args(options.defines.iter().map(|define| format!("-D{define}")))
        .args(options.undefines.iter().map(|name| format!("-U{name}")))
        .args(
            options
                .includes
                .iter()
                .flat_map(|directory| [Path::new("-I"), directory]),
        )
        .args(text.map(|_| ["-P", "-imacros"]).into_iter().flatten())
        .arg(if path.to_string_lossy().starts_with('-') {
            Path::new(".").join(path)
        } else {
            path.to_path_buf()
        })
        .args(text.map(|_| "-"))
        .env("LC_ALL", "C")
        .stdin(match text {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return fail(Diagnostic::coded(
                "P002",
                format!("the C preprocessor could not be started: {error}"),
            ));
        }
    };
    let deadline = Instant::now() + TIME_LIMIT;
    if let (Some(text), Some(mut pipe)) = (text, child.stdin.take()) {
        // A preprocessor that does not read will say why.
        let _ = pipe.write_all(text.as_bytes());
    }
    let text = read_bounded(child.stdout.take(), OUTPUT_LIMIT_BYTES);
    let messages = read_bounded(child.stderr.take(), MESSAGE_LIMIT_BYTES);
    let Ok(text) = text.recv_timeout(TIME_LIMIT) else {
        stop(&mut child);
        return fail(
            Diagnostic::coded(
                "P002",
                format!(
                    "the C preprocessor ran for more than {} seconds and was stopped",
                    TIME_LIMIT.as_secs()
                ),
            )
            .help("look for an #include that includes itself or a macro that doubles its text"),
        );
    };
    if text.len() > OUTPUT_LIMIT_BYTES {
        stop(&mut child);
        return fail(Diagnostic::coded(
            "P002",
            format!(
                "the C preprocessor wrote more than {} MB of text and was stopped",
                OUTPUT_LIMIT_BYTES >> 20
            ),
        ));
    }
    let remaining = deadline.saturating_duration_since(Instant::now());
    let messages = messages.recv_timeout(remaining).unwrap_or_default();
    let status = match child.wait() {
        Ok(status) => status,
        Err(error) => {
            return fail(Diagnostic::coded(
                "P002",
                format!("the C preprocessor could not be waited for: {error}"),
            ));
        }
    };
    if status.code() == Some(127) {
        return fail(
            Diagnostic::coded(
                "P002",
                "this model needs the C preprocessor `cpp`, which is not installed",
            )
            .help("on Debian and its derivatives: apt-get install cpp"),
        );
    }
    Ok(Output {
        success: status.success(),
        text,
        messages: String::from_utf8_lossy(&messages).into_owned(),
    })
}

/// Failing to stop a process that is already gone is what we wanted.
fn stop(child: &mut Child) {
    if child.kill().is_ok() {
        let _ = child.wait();
    }
}

/// Reads a pipe on a thread of its own: one byte beyond the limit at most, but
/// to its end, so that the writer does not block.
fn read_bounded(pipe: Option<impl Read + Send + 'static>, limit: usize) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let read = pipe.by_ref().take(limit as u64 + 1).read_to_end(&mut bytes);
            if read.is_ok() && bytes.len() <= limit {
                let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            }
        }
        // The receiver may have given up on us.
        let _ = sender.send(bytes);
    });
    receiver
}

/// Reads the line markers (`# 12 "file.h" 1`) and blanks them out.
fn trace_lines(output: &str, sources: &mut SourceMap) -> Preprocessed {
    let mut text = String::with_capacity(output.len());
    let mut lines = Vec::new();
    let mut current: Option<(FileId, usize)> = None;
    for line in output.split_inclusive('\n') {
        if let Some((number, name)) = line_marker(line) {
            current = file_of(name, sources).map(|file| (file, number));
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

/// The file of a line marker; pseudo files like `<built-in>` hold no text.
fn file_of(name: &str, sources: &mut SourceMap) -> Option<FileId> {
    if name.starts_with('<') {
        return None;
    }
    Some(sources.find(name).unwrap_or_else(|| {
        let bytes = std::fs::read(name).unwrap_or_default();
        let text = String::from_utf8_lossy(without_byte_order_mark(&bytes)).into_owned();
        sources.add(
            name,
            if text.len() > SOURCE_LIMIT_BYTES {
                String::new()
            } else {
                text
            },
        )
    }))
}

/// Lines of the form `file:line:column: error: message`.
fn read_messages(messages: &str, sources: &mut SourceMap) -> Vec<Diagnostic> {
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
            && let Some(file) = file_of(name, sources)
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
        let preprocessed = trace_lines(output, &mut sources);
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
            &mut sources,
        );
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(
            diagnostics[0].label.as_ref().map(|(span, _)| *span),
            Some(Span::new(file, 0, 3))
        );
    }
}

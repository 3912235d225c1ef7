//! Writing to standard output and to files, with errors as sentences.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mover_tools::scratch::Beside;
use mover_tools::visible;

use crate::CliError;

/// Why a file cannot be written, or must not be.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot write {}: it is a directory", .0.display())]
    IsDirectory(PathBuf),
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{option} {} would overwrite {}, which is read", output.display(), input.display())]
    OverwritesInput {
        option: String,
        output: PathBuf,
        input: PathBuf,
    },
    #[error("{} and {} name the same file, {}", options[0], options[1], path.display())]
    NamedTwice { options: [String; 2], path: PathBuf },
}

/// What the command line says of colours, if anything.
static CHOSEN: OnceLock<Option<bool>> = OnceLock::new();

/// Decides about colours for the rest of the process; none leaves it to the terminal.
pub fn choose_color(color: Option<bool>) {
    // The first choice holds; there is one command line.
    let _ = CHOSEN.set(color);
}

/// Whether to colour what goes to standard output.
pub fn stdout_color() -> bool {
    let chosen = CHOSEN.get().copied().flatten();
    chosen.unwrap_or_else(|| {
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
    })
}

pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints to standard output, without control characters other than those of colours. A reader that
/// went away is its own business; any other failure is an error.
pub fn print(text: &str) -> Result<(), CliError> {
    let text = visible::output(text, stdout_color());
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::output(
            "U003",
            format!("cannot write to standard output: {error}"),
        )),
    }
}

/// Prints to standard error, likewise. Exit codes tell scripts the verdict, also where nobody can
/// read messages: what cannot be written there is lost.
pub fn write_stderr(text: std::fmt::Arguments) {
    let text = text.to_string();
    let text = visible::output(&text, stderr_is_terminal());
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Where a file is made: beside its place, to take it when it is complete, or where it is. A link
/// stays one; what is no file, such as a pipe or a terminal, is written to as it is.
enum Place {
    Replaced(PathBuf),
    AsItIs(PathBuf),
}

fn place(path: &Path) -> Place {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if path.exists() && !path.is_file() && !path.is_dir() {
        Place::AsItIs(path)
    } else {
        Place::Replaced(path)
    }
}

/// Removes what processes that were killed while they wrote this file have left beside it. Their
/// numbers are in the names.
pub fn remove_left_overs(path: &Path) {
    // Without it the processes are not known.
    let processes = Path::new("/proc");
    let Place::Replaced(target) = place(path) else {
        return;
    };
    if !processes.join("self").exists() {
        return;
    }
    let Some(name) = target.file_name() else {
        return;
    };
    let start = format!("{}.", name.to_string_lossy());
    for entry in std::fs::read_dir(folder_of(&target))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let process = (name.to_str())
            .and_then(|name| name.strip_prefix(&start)?.strip_suffix(".part"))
            .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a file could be written, without changing its content.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    let Place::Replaced(target) = place(path) else {
        return Ok(());
    };
    if target.is_dir() {
        return Err(OutputError::IsDirectory(path.to_path_buf()));
    }
    match Beside::new(&target) {
        Ok(_) => Ok(()),
        Err(source) => Err(OutputError::Unwritable {
            path: path.to_path_buf(),
            source,
        }),
    }
}

/// Refuses an output, named by its option, that would take the place of a file that is read or of
/// another output.
pub fn check_distinct(inputs: &[&Path], outputs: &[(&str, &Path)]) -> Result<(), OutputError> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        let Some(place) = replaced(path) else {
            continue;
        };
        let is_same = |other: &Path| replaced(other).as_ref() == Some(&place);
        if let Some(input) = inputs.iter().find(|input| is_same(input)) {
            return Err(OutputError::OverwritesInput {
                option: (*option).to_string(),
                output: path.to_path_buf(),
                input: input.to_path_buf(),
            });
        }
        let mut before = outputs[..at].iter();
        if let Some((other, _)) = before.find(|(_, other)| is_same(other)) {
            return Err(OutputError::NamedTwice {
                options: [(*other).to_string(), (*option).to_string()],
                path: path.to_path_buf(),
            });
        }
    }
    Ok(())
}

/// The file whose place an output would take, by the one name that it has without links; none if
/// what is there is written to as it is, as a terminal can be for several outputs.
fn replaced(path: &Path) -> Option<PathBuf> {
    let Place::Replaced(target) = place(path) else {
        return None;
    };
    let folder = folder_of(&target).canonicalize().ok()?;
    Some(folder.join(target.file_name()?))
}

/// Writes a file whole or not at all: first beside it, then under its name.
pub fn write_file(path: &Path, text: &str) -> Result<(), OutputError> {
    write_file_by(path, &|file: &mut File| file.write_all(text.as_bytes()))
}

/// The same for what writes itself.
pub fn write_file_by(
    path: &Path,
    write: &dyn Fn(&mut File) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    match place(path) {
        Place::AsItIs(target) => File::create(&target).and_then(|mut file| write(&mut file)),
        Place::Replaced(target) => {
            Beside::new(&target).and_then(|beside| beside.write(&target, write))
        }
    }
    .map_err(|source| OutputError::Unwritable {
        path: path.to_path_buf(),
        source,
    })
}

//! Writing to standard output and to files, with errors as sentences.

use std::io::{IsTerminal, Write};
use std::path::Path;

use crate::INTERNAL_ERROR;

/// Whether to colour what goes to standard output.
pub fn stdout_color() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints to standard output. A reader that went away is its own business; any
/// other failure is reported as exit code.
pub fn print(text: &str) -> Result<(), u8> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            eprintln!("mover: cannot write to standard output: {error}");
            Err(INTERNAL_ERROR)
        }
    }
}

/// Whether a file could be written, without touching what is there.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let tried = std::fs::write(&beside, "");
    let _ = std::fs::remove_file(&beside);
    match tried {
        Ok(()) if path.is_dir() => Err(format!(
            "cannot write {}: it is a directory",
            path.display()
        )),
        Ok(()) => Ok(()),
        Err(error) => Err(format!("cannot write {}: {error}", path.display())),
    }
}

/// Writes a file whole or not at all: first beside it, then under its name.
pub fn write_file(path: &Path, text: &str) -> Result<(), String> {
    let describe = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        describe(error)
    })
}

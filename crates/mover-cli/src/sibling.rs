//! The other programs of mover.
//!
//! What only measures or tests mover is not in the program `mover`, but in programs of its own.
//! They are built and installed into the same directory, so each finds the others beside itself:
//! the same build is then run, whatever else is installed. The search path comes second, for
//! packages that put programs into different directories.

use std::path::{Path, PathBuf};

/// The file of another program of mover, by its name without extension.
pub fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let own = std::env::current_exe().ok();
    let own_directory = own.as_deref().and_then(Path::parent);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = own_directory.map(Path::to_path_buf).into_iter();
    first_with(directories.chain(std::env::split_paths(&path)), &file)
}

fn first_with(mut directories: impl Iterator<Item = PathBuf>, file: &str) -> Option<PathBuf> {
    directories.find_map(|directory| {
        let found = directory.join(file);
        is_executable(&found).then_some(found)
    })
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = file.metadata();
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_first_directory_with_the_program_counts() {
        // Every system has these two; a directory and a plain file are no programs.
        let directories = ["/no/such/directory", "/", "/bin"].map(PathBuf::from);
        let found = |file: &str| first_with(directories.iter().cloned(), file);
        assert_eq!(found("sh"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(found("bin"), None);
        assert_eq!(first_with(["/etc".into()].into_iter(), "passwd"), None);
    }
}

//! Temporary files and directories that do not outlive the process.
//!
//! The usual removal when a value is dropped does not happen where a signal ends the process, so all
//! of them are also in one list. Names are random and are created exclusively: nobody can put a link
//! or a file of their own there first.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LEFT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn left() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything temporary. For a process that is about to end.
pub fn remove_all() {
    for path in std::mem::take(&mut *left()) {
        if std::fs::remove_file(&path).is_err() {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// A directory for temporary files, which only this user can enter.
pub struct Scratch {
    directory: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        // Locked until it is known: what signals remove is complete.
        let mut left = left();
        let directory = tempfile::Builder::new()
            .prefix("mover-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        // The name goes to other programs, for which a relative one could be an option.
        let path = std::path::absolute(directory.path())?;
        left.insert(path.clone());
        Ok(Scratch {
            directory: Some(directory),
            path,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the directory where it is.
    pub fn keep(mut self) -> PathBuf {
        if let Some(directory) = self.directory.take() {
            let _ = directory.keep();
        }
        self.path.clone()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        left().remove(&self.path);
    }
}

/// A file that is written beside its place and then takes it.
pub struct Beside {
    file: Option<tempfile::NamedTempFile>,
    path: PathBuf,
}

impl Beside {
    /// A new file in the directory of `target`, with the permissions that a new file has.
    pub fn new(target: &Path) -> io::Result<Beside> {
        let directory = match target.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let mut prefix = target.file_name().unwrap_or_default().to_owned();
        prefix.push(format!(".{}.", std::process::id()));
        let mut left = left();
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)?;
        let path = std::path::absolute(file.path())?;
        left.insert(path.clone());
        Ok(Beside {
            file: Some(file),
            path,
        })
    }

    /// Writes the file and gives it its name.
    pub fn write(
        mut self,
        target: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        write(file.as_file_mut())?;
        file.persist(target).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        left().remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_directory_goes_with_its_value_or_stays() {
        let scratch = Scratch::new().expect("a directory");
        let path = scratch.path().to_path_buf();
        assert!(path.is_dir() && path.is_absolute());
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "others cannot enter");
        drop(scratch);
        assert!(!path.exists());
        let kept = Scratch::new().expect("a directory").keep();
        assert!(kept.is_dir());
        std::fs::remove_dir(kept).expect("it is empty");
    }

    #[test]
    fn a_file_comes_whole_or_not_at_all_and_no_link_is_followed() {
        let scratch = Scratch::new().expect("a directory");
        let target = scratch.path().join("report");
        let names = || {
            std::fs::read_dir(scratch.path())
                .expect("a directory")
                .count()
        };
        let failing = Beside::new(&target).expect("a file");
        assert_eq!(names(), 1);
        let failed = failing.write(&target, |_| Err(io::Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(names(), 0);
        // A link with a guessed name is of no use to anybody.
        let victim = scratch.path().join("victim");
        std::fs::write(&victim, "untouched").expect("a file");
        let guessed = format!("report.{}.part", std::process::id());
        let link = scratch.path().join(guessed);
        std::os::unix::fs::symlink(&victim, link).expect("a link");
        let beside = Beside::new(&target).expect("a file");
        let written = beside.write(&target, |file| file.write_all(b"new"));
        written.expect("it can be written");
        assert_eq!(std::fs::read_to_string(&target).expect("text"), "new");
        assert_eq!(std::fs::read_to_string(&victim).expect("text"), "untouched");
        assert!(!target.is_symlink());
    }
}

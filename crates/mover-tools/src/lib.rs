//! Running other programs, and reading files and names that others have written.
//!
//! Programs to be checked come from anywhere: a bug report, a benchmark, a code review. Reading one
//! must not run it, show files that do not belong to it, write where its author likes, or leave
//! anything behind. What all front ends need for this is here:
//!
//! - [`child`] runs a compiler or preprocessor: with bounded output, memory and time, and never as
//!   an orphan.
//! - [`scratch`] keeps temporary directories and removes them however the process ends.
//! - [`own_files`] knows which files belong to a program, and reads only those.
//! - [`file_argument`] makes a file name that no tool takes for an option or for a response file.
//! - [`visible`] makes control characters visible.

pub mod child;
pub mod own_files;
pub mod scratch;
pub mod visible;

use std::path::{Path, PathBuf};

/// The same file by a name that is neither an option (`-x.c`) nor a response file (`@x.c`), whose
/// content compilers read as options.
pub fn file_argument(file: &Path) -> PathBuf {
    let bytes = file.as_os_str().as_encoded_bytes();
    if bytes.starts_with(b"-") || bytes.starts_with(b"@") {
        Path::new(".").join(file)
    } else {
        file.to_path_buf()
    }
}

/// Ends the process at once: other threads may be in the middle of anything, also of code whose
/// destructors must not run now. Children and temporary files are gone afterwards.
pub fn end_process(code: u8) -> ! {
    child::kill_all();
    scratch::remove_all();
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(i32::from(code)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_option() {
        let shown = |name: &str| file_argument(Path::new(name)).display().to_string();
        assert_eq!(shown("@x.c"), "./@x.c");
        assert_eq!(shown("-x.c"), "./-x.c");
        assert_eq!(shown("x.c"), "x.c");
        assert_eq!(shown("/a/@x.c"), "/a/@x.c");
    }
}

//! The files that belong to a program.
//!
//! Messages and reports quote source lines. Which file a line is from is said by the program itself:
//! `#line 1 "/etc/passwd"`, a line marker of preprocessed text, or debug information of LLVM can
//! name any file of the machine, or a pipe that nobody writes to. So a name is believed only if the
//! compiler has really read that file for this program (it lists what it reads, `-MD`), or the user
//! has named it. Of a program that was preprocessed or compiled elsewhere the sources may stand
//! beside it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A source that is larger is not shown.
pub const MOST_BYTES: u64 = 16 << 20;

/// Sources that may stand beside a program that was compiled elsewhere, by extension.
const SOURCES: [&str; 8] = ["c", "h", "i", "inc", "y", "l", "pml", "def"];

#[derive(Clone, Default, Debug)]
pub struct OwnFiles {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl OwnFiles {
    /// A file that the user has named.
    pub fn add(&mut self, file: &Path) {
        self.files.extend(file.canonicalize().ok());
    }

    /// The sources beside a file that was made elsewhere, and below.
    pub fn add_beside(&mut self, file: &Path) {
        let real = file.canonicalize().ok();
        let folder = real.as_deref().and_then(Path::parent);
        self.folders.extend(folder.map(Path::to_path_buf));
    }

    /// The files that a compiler has read, in the form of a rule of `make`.
    pub fn add_dependencies(&mut self, rule: &str) {
        for file in dependencies(rule) {
            self.add(Path::new(&file));
        }
    }

    pub fn contains(&self, file: &Path) -> bool {
        let Ok(real) = file.canonicalize() else {
            return false;
        };
        let extension = real.extension().and_then(|extension| extension.to_str());
        let is_source = extension.is_some_and(|extension| SOURCES.contains(&extension));
        self.files.contains(&real)
            || is_source && self.folders.iter().any(|folder| real.starts_with(folder))
    }

    /// The bytes of a file, if it is one of these and not too large.
    pub fn read(&self, file: &Path) -> Option<Vec<u8>> {
        if !self.contains(file) {
            return None;
        }
        read_regular(file, MOST_BYTES)
    }
}

/// The bytes of a regular file that has no more than this many. Nothing else is waited for.
pub fn read_regular(file: &Path, most_bytes: u64) -> Option<Vec<u8>> {
    let file = open_regular(file)?;
    let mut bytes = Vec::new();
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes);
    (read.is_ok() && bytes.len() as u64 <= most_bytes).then_some(bytes)
}

fn open_regular(file: &Path) -> Option<File> {
    // What is there may change between looking and opening: it is looked at when it is open.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(file);
    let file = file.ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The names on the right of a rule: separated by spaces, with `\` before a space, a `#` or the end
/// of a line, and `$$` for `$`.
fn dependencies(rule: &str) -> Vec<String> {
    let Some((_, names)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut name = String::new();
    let mut rest = names.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek() == Some(&'\n') => {}
            '\\' if matches!(rest.peek(), Some(' ' | '#')) => name.extend(rest.next()),
            '$' if rest.peek() == Some(&'$') => name.extend(rest.next()),
            c if c.is_whitespace() => {
                if !name.is_empty() {
                    found.push(std::mem::take(&mut name));
                }
            }
            c => name.push(c),
        }
    }
    if !name.is_empty() {
        found.push(name);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn rules_of_make_are_read() {
        let rule = "/tmp/0.bc: a.c /usr/include/stdio.h \\\n  my\\ file.h x\\#y.h a$$b.h\n";
        let names = ["a.c", "/usr/include/stdio.h", "my file.h", "x#y.h", "a$b.h"];
        assert_eq!(dependencies(rule), names);
        assert!(dependencies("").is_empty());
    }

    #[test]
    fn only_own_regular_files_are_read() {
        let scratch = Scratch::new().expect("a directory");
        let file = |name: &str| {
            let path = scratch.path().join(name);
            std::fs::write(&path, name).expect("a file");
            path
        };
        let (own, header, secret) = (file("own.c"), file("own.h"), file("secret"));
        let mut files = OwnFiles::default();
        files.add(&own);
        assert_eq!(files.read(&own).as_deref(), Some(&b"own.c"[..]));
        assert_eq!(files.read(&header), None);
        files.add_beside(&own);
        assert!(files.read(&header).is_some());
        assert_eq!(files.read(&secret), None, "no source");
        assert_eq!(files.read(Path::new("/etc/passwd")), None);
        // A link to something else is that, wherever it is.
        let link = scratch.path().join("link.h");
        std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
        assert_eq!(files.read(&link), None);
        assert_eq!(read_regular(Path::new("/dev/zero"), 10), None);
        assert_eq!(read_regular(&own, 3), None, "too large");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let scratch = Scratch::new().expect("a directory");
        let pipe = scratch.path().join("pipe.c");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        let mut files = OwnFiles::default();
        files.add(&pipe);
        assert_eq!(files.read(&pipe), None);
    }
}

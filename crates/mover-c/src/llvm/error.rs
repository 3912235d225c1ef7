//! Why files of LLVM IR are not read or written.

use std::path::PathBuf;

use crate::clang::Refusal;

/// Texts of LLVM are its own words, as far as the first line.
#[derive(Debug, thiserror::Error)]
pub enum LlvmError {
    #[error("no input")]
    NoInput,
    #[error("{}: {said}", file.display())]
    Unreadable { file: PathBuf, said: String },
    #[error("{}: not LLVM IR that LLVM 19 can read: {said}", file.display())]
    NotIr { file: PathBuf, said: String },
    #[error("{} targets another machine than the files before it", .0.display())]
    OtherMachine(PathBuf),
    #[error("linking {}: {said}", file.display())]
    Link { file: PathBuf, said: String },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("broken LLVM IR: {0}")]
    Broken(String),
    #[error("LLVM cannot prepare the program: {0}")]
    Passes(String),
    #[error("pointers of {0} bytes are not supported")]
    PointerBytes(u64),
    #[error("only little-endian machines are supported")]
    BigEndian,
    #[error("`{name}` is {reason}")]
    Global { name: String, reason: String },
    #[error("instrumented wrongly: {0}")]
    Instrumented(String),
    #[error("cannot write {}", .0.display())]
    Unwritable(PathBuf),
}

/// Why the runtime library is not compiled.
#[derive(Debug, thiserror::Error)]
#[error("the runtime library: {0}")]
pub enum RuntimeError {
    Unwritable(#[from] std::io::Error),
    Refused(#[from] Refusal),
}

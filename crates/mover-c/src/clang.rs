//! Compiles C to LLVM IR with the system's clang.
//!
//! Clang reads what it is given with the rights of the user, so it is given as little as possible:
//! file names cannot be taken for options, and it has limits of time and memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use mover_tools::child::{self, Ended, Limits};
use mover_tools::file_argument;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub defines: Vec<String>,
    pub undefines: Vec<String>,
    pub includes: Vec<PathBuf>,
    /// Further options for clang.
    pub flags: Vec<String>,
    /// 32-bit pointers, as on an ILP32 machine.
    pub is_32_bit: bool,
    /// Whether functions are compiled that nobody calls and other files cannot see.
    pub keeps_static: bool,
}

/// The version of LLVM that this program is linked with.
const VERSION: u32 = 19;

/// The directory for headers that take the place of the system's.
pub const OWN_HEADERS: &str = "mover-headers";

/// Headers of the C++ library that are replaced: what they have in the library's binary, or what is
/// there an encoding for the processor's sake, is said in terms that are checked.
const CPP_HEADERS: [(&str, &str); 4] = [
    (
        "bits/std_thread.h",
        include_str!("include/cpp/bits/std_thread.h"),
    ),
    (
        "bits/atomic_wait.h",
        include_str!("include/cpp/bits/atomic_wait.h"),
    ),
    (
        "bits/atomic_timed_wait.h",
        include_str!("include/cpp/bits/atomic_timed_wait.h"),
    ),
    ("barrier", include_str!("include/cpp/barrier")),
];

/// The language standard of C++ files if none is asked for.
const CPP_STANDARD: &str = "-std=c++20";

const FREESTANDING: &str = "-ffreestanding";

/// Why clang has not done its work.
#[derive(Debug, thiserror::Error)]
pub enum ClangError {
    #[error("C is read with clang, which was not found; install the package clang-{VERSION}")]
    NotFound,
    #[error(
        "C is read with clang {VERSION}, but only clang {0} was found; install the package \
         clang-{VERSION}"
    )]
    OtherVersion(u32),
    #[error("{clang} cannot be started: {source}")]
    NotStarted {
        clang: String,
        source: std::io::Error,
    },
    #[error(
        "{clang} ran for more than {} seconds on {} and was stopped; does the program \
         include a pipe, or a file that includes itself?",
        Limits::COMPILER.time.as_secs(), file.display()
    )]
    Stopped { clang: String, file: PathBuf },
    #[error("{clang} failed on {} with {status}", file.display())]
    Failed {
        clang: String,
        file: PathBuf,
        status: ExitStatus,
    },
    #[error("{}: not LLVM IR that LLVM {VERSION} can read: {said}", file.display())]
    NotIr { file: PathBuf, said: String },
}

/// Why there is no LLVM IR.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no clang, or it could not do its work.
    #[error(transparent)]
    NoCompiler(#[from] ClangError),
    /// The program is wrong; in the words of clang, which end with a line.
    #[error("{0}")]
    Errors(String),
}

/// Compiles a file; what clang says is for the user. The files that were read are listed in
/// `dependencies`, as a rule of `make`.
pub fn compile(
    source: &Path,
    target: &Path,
    dependencies: Option<&Path>,
    options: &Options,
) -> Result<String, Refusal> {
    let clang = find()?;
    let translate = |headers: Option<&Path>| {
        translation(&clang, source, target, dependencies, options, headers)
    };
    let mut ended = translate(None)?;
    // What gcc compiles without a word.
    if !ended.status.success()
        && text(&ended).contains(ATOMIC_TYPE_WANTED)
        && let Some(headers) = own_headers(target)
    {
        ended = translate(Some(&headers))?;
    }
    let (said, status) = (text(&ended), ended.status);
    let is_odd_main = said.contains("parameter of 'main'");
    if status.success() {
        Ok(said)
    } else if is_odd_main && !options.flags.iter().any(|flag| flag == FREESTANDING) {
        // Old programs give `main` other types, which gcc compiles. Where there is no operating
        // system `main` is a function like others.
        let mut options = options.clone();
        options.flags.push(FREESTANDING.into());
        compile(source, target, dependencies, &options)
    } else if said.is_empty() {
        let clang = clang.to_string_lossy().into_owned();
        let file = source.to_path_buf();
        Err(ClangError::Failed {
            clang,
            file,
            status,
        }
        .into())
    } else if options.is_32_bit && said.contains("file not found") {
        Err(Refusal::Errors(format!(
            "{said}for --32 the C library's headers are in the package libc6-dev-i386\n"
        )))
    } else {
        Err(Refusal::Errors(said))
    }
}

/// What clang says of the functions of `<stdatomic.h>` on variables that are not atomic.
const ATOMIC_TYPE_WANTED: &str = "must be a pointer to _Atomic type";

/// A directory beside the target with headers that take the place of clang's.
fn own_headers(target: &Path) -> Option<PathBuf> {
    let folder = target.parent()?.join(OWN_HEADERS).join("c");
    std::fs::create_dir_all(&folder).ok()?;
    std::fs::write(
        folder.join("stdatomic.h"),
        include_str!("include/stdatomic.h"),
    )
    .ok()?;
    Some(folder)
}

/// A directory beside the target with headers that take the place of the C++ library's.
fn cpp_headers(target: &Path) -> Option<PathBuf> {
    let folder = target.parent()?.join(OWN_HEADERS).join("cpp");
    for (name, content) in CPP_HEADERS {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent()?).ok()?;
        std::fs::write(file, content).ok()?;
    }
    Some(folder)
}

/// Whether a file is C++, by its name, as compilers decide it.
pub fn is_cpp(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("cpp" | "cc" | "cxx" | "C" | "c++" | "cp" | "CPP" | "ii")
    )
}

/// Whether an option of the compiler is for files of this language. Those that choose a standard are
/// for one.
fn is_for(flag: &str, is_cpp: bool) -> bool {
    match flag.strip_prefix("-std=") {
        Some(standard) => standard.contains("++") == is_cpp,
        None => is_cpp || !flag.starts_with("-stdlib="),
    }
}

fn text(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

/// Has clang translate the file once.
fn translation(
    clang: &OsString,
    source: &Path,
    target: &Path,
    dependencies: Option<&Path>,
    options: &Options,
    headers: Option<&Path>,
) -> Result<Ended, ClangError> {
    let mut command = Command::new(clang);
    command.args([
        // With -O0 clang drops the bodies of functions that are `inline` but not `static`. No
        // pass runs, and headers take no notice.
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-U__OPTIMIZE__",
        "-ffp-contract=off",
        // Marks where variables begin and end to live, whatever its name says; see `llvm::scopes`.
        "-Xclang",
        "-fsanitize-address-use-after-scope",
        "-g",
        "-fno-discard-value-names",
        // What gcc compiles with a warning.
        "-Wno-error=implicit-function-declaration",
        "-Wno-error=implicit-int",
        "-Wno-error=int-conversion",
        "-Wno-error=incompatible-function-pointer-types",
        "-Wno-error=return-type",
        "-Wno-error=return-mismatch",
        "-fno-color-diagnostics",
        "-fno-caret-diagnostics",
        "-emit-llvm",
        "-c",
    ]);
    command.arg(if options.is_32_bit { "-m32" } else { "-m64" });
    for define in &options.defines {
        command.arg(format!("-D{define}"));
    }
    for undefine in &options.undefines {
        command.arg(format!("-U{undefine}"));
    }
    for include in &options.includes {
        command.arg(joined("-I", include));
    }
    if options.keeps_static {
        command.arg("-femit-all-decls");
    }
    let is_cpp = is_cpp(source);
    if is_cpp {
        // Semaphores are those of POSIX, which are known.
        command.args([CPP_STANDARD, "-D_GLIBCXX_USE_POSIX_SEMAPHORE=1"]);
        // Virtual calls tell their class; see `llvm::classes`.
        command.args([
            "-Xclang",
            "-flto-unit",
            "-Xclang",
            "-fwhole-program-vtables",
        ]);
        let own = options.flags.iter().all(|flag| flag != "-stdlib=libc++");
        if let Some(headers) = cpp_headers(target).filter(|_| own) {
            command.arg(joined("-isystem", &headers));
        }
    }
    command.args(options.flags.iter().filter(|flag| is_for(flag, is_cpp)));
    if let Some(headers) = headers {
        command.arg(joined("-isystem", headers));
    }
    if let Some(dependencies) = dependencies {
        command.arg("-MD").arg("-MF").arg(dependencies);
    }
    command.arg("-o").arg(target).arg(file_argument(source));
    let ended = run(&mut command)?;
    if ended.is_late {
        let clang = clang.to_string_lossy().into_owned();
        let file = source.to_path_buf();
        return Err(ClangError::Stopped { clang, file });
    }
    Ok(ended)
}

/// Runs clang to its end, or to that of its limits.
pub fn run(command: &mut Command) -> Result<Ended, ClangError> {
    child::output(command, Limits::COMPILER).map_err(|source| ClangError::NotStarted {
        clang: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}

/// An option and its value as one argument: a value of its own could be a response file.
pub fn joined(option: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// Has clang read LLVM IR, binary or text, and write it as text. A file that is damaged can end the
/// process that reads it inside LLVM; here that is another process.
pub fn verify(source: &Path, target: &Path) -> Result<(), ClangError> {
    let mut command = Command::new(find()?);
    command
        .args([
            "-x",
            "ir",
            "-S",
            "-emit-llvm",
            "-O0",
            "-Wno-override-module",
        ])
        .args(["-Xclang", "-disable-llvm-passes"])
        .args(["-fno-color-diagnostics", "-fno-crash-diagnostics"])
        .arg("-o")
        .arg(target)
        .arg(file_argument(source));
    let output = run(&mut command)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().filter(|line| line.contains("error:"));
    let reason = lines.next().and_then(|line| line.split("error:").nth(1));
    Err(ClangError::NotIr {
        file: source.to_path_buf(),
        said: reason.unwrap_or("it is damaged").trim().into(),
    })
}

/// The clang whose LLVM IR can be read: not newer than the LLVM that is linked.
pub fn find() -> Result<OsString, ClangError> {
    let mut other_version = None;
    for name in [format!("clang-{VERSION}"), "clang".to_string()] {
        let asked = child::output(Command::new(&name).arg("--version"), Limits::COMPILER);
        let Ok(ended) = asked else {
            continue;
        };
        let text = String::from_utf8_lossy(&ended.stdout);
        match version(&text) {
            Some(found) if (15..=VERSION).contains(&found) => return Ok(name.into()),
            Some(found) => other_version = Some(found),
            None => {}
        }
    }
    Err(other_version.map_or(ClangError::NotFound, ClangError::OtherVersion))
}

/// The number in `clang version 19.1.7`.
fn version(text: &str) -> Option<u32> {
    let rest = text.split("version ").nth(1)?;
    rest.split('.').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standards_are_for_one_language() {
        assert!(is_for("-std=c++17", true) && !is_for("-std=gnu++17", false));
        assert!(is_for("-std=c11", false) && !is_for("-std=gnu11", true));
        assert!(is_for("-Wall", true) && is_for("-Wall", false));
        assert!(is_cpp(Path::new("a.C")) && !is_cpp(Path::new("a.c")));
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(
            version("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"),
            Some(19)
        );
        assert_eq!(version("Apple clang"), None);
    }
}

//! Compiles C to LLVM IR with the system's clang.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

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
}

/// The version of LLVM that this program is linked with.
const VERSION: u32 = 19;

/// Compiles a file; what clang says is for the user.
pub fn compile(source: &Path, target: &Path, options: &Options) -> Result<String, String> {
    let clang = find()?;
    let mut command = Command::new(&clang);
    command.args([
        "-O0",
        // Without this LLVM would refuse to keep local variables in registers.
        "-Xclang",
        "-disable-O0-optnone",
        // Marks where variables begin and end to live, whatever its name says; see `llvm::scopes`.
        "-Xclang",
        "-fsanitize-address-use-after-scope",
        "-g",
        "-fno-discard-value-names",
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
        command.arg("-I").arg(include);
    }
    command.args(&options.flags);
    command.arg("-o").arg(target).arg(no_option(source));
    let output = command
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", clang.to_string_lossy()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(said)
    } else if said.is_empty() {
        Err(format!("clang failed on {}\n", source.display()))
    } else if options.is_32_bit && said.contains("file not found") {
        Err(format!(
            "{said}for --32 the C library's headers are in the package libc6-dev-i386\n"
        ))
    } else {
        Err(said)
    }
}

/// Has clang read LLVM IR, binary or text, and write it as text. A file that is damaged can end the
/// process that reads it inside LLVM; here that is another process.
pub fn verify(source: &Path, target: &Path) -> Result<(), String> {
    let clang = find()?;
    let output = Command::new(&clang)
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
        .arg(no_option(source))
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", clang.to_string_lossy()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().filter(|line| line.contains("error:"));
    let reason = lines.next().and_then(|line| line.split("error:").nth(1));
    Err(format!(
        "{}: not LLVM IR that LLVM {VERSION} can read: {}",
        source.display(),
        reason.unwrap_or("it is damaged").trim()
    ))
}

/// The same file by a name that is no option.
fn no_option(file: &Path) -> PathBuf {
    if file.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(file)
    } else {
        file.to_path_buf()
    }
}

/// The clang whose LLVM IR can be read: not newer than the LLVM that is linked.
pub fn find() -> Result<OsString, String> {
    let mut too_new = None;
    for name in [format!("clang-{VERSION}"), "clang".to_string()] {
        let Ok(output) = Command::new(&name).arg("--version").output() else {
            continue;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        match version(&text) {
            Some(found) if (15..=VERSION).contains(&found) => return Ok(name.into()),
            Some(found) => too_new = Some(found),
            None => {}
        }
    }
    Err(match too_new {
        Some(found) => format!(
            "clang {found} is installed, but C is read with clang {VERSION}: install the package clang-{VERSION}"
        ),
        None => format!("C is read with clang: install the package clang-{VERSION}"),
    })
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
    fn versions_are_read() {
        assert_eq!(
            version("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"),
            Some(19)
        );
        assert_eq!(version("Apple clang"), None);
    }
}

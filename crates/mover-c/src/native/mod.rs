//! Running a counterexample on the real machine.
//!
//! The program is compiled as for checking, to LLVM IR with the same two passes, so that its
//! memory accesses are the ones mover has analysed. Before each access a call is inserted that
//! gives its source location; calls of the thread library are redirected to a small runtime
//! (`mover-native.c`) that makes the threads follow the recorded schedule. The accesses
//! themselves are executed by the machine: the values in memory, the locks, the failing
//! assertion are real.
//!
//! Steps and accesses are matched by source location, line and column. An access that is not a
//! step of the recorded run is one that no other thread can observe, and happens when the
//! thread reaches it.

mod follow;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use mover_ir::program::Property;

use crate::clang::{self, Refusal};
use crate::{Failure, Options, Site, extension, llvm};

pub use follow::{NativeError, NativeOutcome};

const RUNTIME: &str = include_str!("../mover-native.c");

/// One step of the recorded run, as the runtime needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeStep {
    /// Which of all threads that ever lived, in order of their starts.
    pub life: usize,
    /// Source location of its shared access, if it has one.
    pub site: Option<Site>,
    pub starts: Option<usize>,
    /// Whether the thread ends with it.
    pub ends: bool,
    /// The value of an input, with its line.
    pub input: Option<(u64, usize)>,
}

/// A program that follows a schedule.
pub struct Native {
    executable: PathBuf,
    numbers: HashMap<Site, usize>,
    /// The line of each place that the instrumented program names.
    lines: Vec<u32>,
}

/// Compiles and instruments the program; its files go into `directory`.
pub fn build(
    files: &[PathBuf],
    options: &Options,
    property: Property,
    directory: &Path,
) -> Result<Native, Failure> {
    if let Some(file) = files.iter().find(|file| clang::is_cpp(file)) {
        return Err(Failure::message(format!(
            "{}: programs of C++ cannot be replayed natively",
            file.display()
        )));
    }
    let mut flags: Vec<String> = vec!["-ftrivial-auto-var-init=zero".into()];
    let mut sanitizers = Vec::new();
    match property {
        Property::MemorySafety => sanitizers.push("address"),
        Property::NoOverflow => sanitizers.push("signed-integer-overflow"),
        Property::UnreachCall => sanitizers.push("shift"),
        _ => {}
    }
    for sanitizer in sanitizers.iter().filter(|&&name| name != "address") {
        flags.push(format!("-fsanitize={sanitizer}"));
    }
    let mut compiled = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if matches!(extension(file), Some("ll" | "bc")) {
            let target = directory.join(format!("{number}.ll"));
            clang::verify(file, &target).map_err(Failure::message)?;
            compiled.push(target);
            continue;
        }
        let target = directory.join(format!("{number}.bc"));
        let mut compiling = options.compiling(file);
        compiling.flags.extend(flags.iter().cloned());
        clang::compile(file, &target, None, &compiling).map_err(|refusal| match refusal {
            Refusal::NoCompiler(error) => Failure::no_compiler(error),
            Refusal::Errors(said) => Failure {
                compiler: said,
                ..Failure::message("the program does not compile")
            },
        })?;
        compiled.push(target);
    }
    let paths: Vec<&Path> = compiled.iter().map(PathBuf::as_path).collect();
    let instrumented = directory.join("instrumented.bc");
    let checks_memory = sanitizers.contains(&"address");
    let sites = llvm::instrument(&paths, &instrumented, checks_memory).map_err(Failure::message)?;
    let runtime = directory.join("mover-native.c");
    std::fs::write(&runtime, RUNTIME).map_err(|error| {
        Failure::message(format!("cannot write {}: {error}", runtime.display()))
    })?;
    let executable = directory.join("program");
    // The runtime is not instrumented: a sanitizer has nothing to say about it.
    let plain_runtime = directory.join("mover-native.o");
    let width = if options.is_32_bit { "-m32" } else { "-m64" };
    run_clang(|command| {
        command.args(["-g", "-pthread", "-c", width]).arg(&runtime);
        command.arg("-o").arg(&plain_runtime);
    })?;
    run_clang(|command| {
        command
            .args(["-g", "-pthread", "-Wno-unused-command-line-argument", width])
            .arg(&instrumented)
            .arg(&plain_runtime)
            .arg("-o")
            .arg(&executable);
        if !sanitizers.is_empty() {
            command.arg(format!("-fsanitize={}", sanitizers.join(",")));
        }
    })?;
    Ok(Native {
        executable,
        lines: sites.iter().map(|site| site.line).collect(),
        numbers: sites.into_iter().zip(0..).collect(),
    })
}

/// Runs clang to make the executable.
fn run_clang(arguments: impl FnOnce(&mut Command)) -> Result<(), Failure> {
    let mut command = Command::new(clang::find().map_err(Failure::no_compiler)?);
    arguments(&mut command);
    let ended = clang::run(&mut command).map_err(Failure::no_compiler)?;
    if ended.status.success() {
        return Ok(());
    }
    let mut compiler = String::from_utf8_lossy(&ended.stderr).into_owned();
    if compiler.contains("libclang_rt") {
        compiler += "the sanitizers are in the package libclang-rt-19-dev\n";
    }
    Err(Failure {
        compiler,
        ..Failure::message("the instrumented program cannot be linked")
    })
}

impl Native {
    /// The schedule as the runtime reads it. Steps without an access are left out:
    /// nobody can notice when they happen. The bits of `guess` are the inputs that the run
    /// does not record: those that are only tested for zero.
    fn schedule(
        &self,
        steps: &[NativeStep],
        property: Property,
        leave_stopped: bool,
        guess: u64,
    ) -> String {
        let last = steps.last().map_or(0, |step| step.life);
        let mut out = format!("p {} {last} {}\n", property.name(), u8::from(leave_stopped));
        out.push_str(&format!("g {guess}\n"));
        for line in &self.lines {
            out.push_str(&format!("l {line}\n"));
        }
        for (number, step) in steps.iter().enumerate() {
            if let Some((value, line)) = step.input {
                out.push_str(&format!("i {} {line} {value}\n", step.life));
            }
            let site = step.site.as_ref().and_then(|site| self.numbers.get(site));
            if site.is_none() && !step.ends {
                continue;
            }
            let starts = step.starts.map_or(-1, |life| life as i64);
            out.push_str(&format!(
                "s {} {} {starts} {} {}\n",
                step.life,
                site.map_or(-1, |&site| site as i64),
                u8::from(step.ends),
                number + 1
            ));
        }
        out
    }
}

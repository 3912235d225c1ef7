//! From a file on the command line to a valid program.

use std::path::{Path, PathBuf};

use clap::Args;
use mover_ir::diagnostic::Diagnostic;
use mover_ir::program::Program;
use mover_ir::source::SourceMap;
use mover_ir::validate::validate;
use mover_report::diagnostics::render;

use crate::output::stderr_is_terminal;
use crate::{BAD_INPUT, INTERNAL_ERROR};

/// Options for reading the program.
#[derive(Args)]
pub struct InputArgs {
    /// The program: a Promela model (.pml)
    pub file: PathBuf,

    /// Define a preprocessor macro, as in -DN=4
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,

    /// Undefine a preprocessor macro
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,

    /// Look for included files in this directory too
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
}

/// Reads the program; on failure everything has been said and the exit code is given.
pub fn read(args: &InputArgs) -> Result<Program, u8> {
    if let Some(reason) = unsupported(&args.file) {
        eprintln!("mover: {}: {reason}", args.file.display());
        return Err(BAD_INPUT);
    }
    let options = mover_promela::Options {
        defines: args.define.clone(),
        undefines: args.undefine.clone(),
        includes: args.include.clone(),
    };
    match mover_promela::parse(&args.file, &options) {
        Ok(read) => {
            show(&read.program.sources, &read.warnings);
            if let Err(reason) = validate(&read.program) {
                eprintln!("mover: internal error: the model was translated wrongly: {reason}");
                return Err(INTERNAL_ERROR);
            }
            Ok(read.program)
        }
        Err(failure) => {
            show(&failure.sources, &failure.diagnostics);
            let errors = failure.diagnostics.iter().filter(|d| d.is_error()).count();
            let errors = match errors {
                1 => "1 error".to_string(),
                n => format!("{n} errors"),
            };
            eprintln!("mover: {}: {errors}", args.file.display());
            Err(BAD_INPUT)
        }
    }
}

/// Why a file of this kind is not read.
fn unsupported(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "c" | "i" | "ll" | "bc" => {
            Some("C programs cannot be read by this version of mover, only Promela models")
        }
        "tm" => Some("a transactional memory is checked with `mover tm check`"),
        _ => None,
    }
}

fn show(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        eprint!("{}", render(sources, diagnostic, stderr_is_terminal()));
    }
}

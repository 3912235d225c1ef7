//! From files on the command line to a valid program.
//!
//! The extension of the first file selects the front end. Its output is validated before it is
//! used: an invalid program is a bug of the front end, not a mistake of the user.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use mover_cli::CliError;
use mover_cli::diagnostics::{refuse, show};
use mover_ir::program::{Program, Property};
use mover_ir::validate::validate;
use mover_tools::visible;

use crate::compile_commands;

/// Options for reading the program.
#[derive(Args)]
pub struct InputArgs {
    /// The program: a Promela model (.pml), or the files of a C or C++ program (.c, .cpp, .cc, .cxx, .i, .ll, .bc)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Promela formulas that are claimed besides what the model says.
    #[arg(skip)]
    pub formulas: Vec<String>,

    /// C: take the files and their options from compile_commands.json in this directory; with
    /// FILE or `--file` only those files
    #[arg(long, value_name = "DIR")]
    compile_commands: Option<PathBuf>,

    /// C: with `--compile-commands`, a file of the program (may be repeated; default: all)
    #[arg(long = "file", value_name = "FILE", requires = "compile_commands")]
    chosen: Vec<PathBuf>,

    /// Define a preprocessor macro, as in -DN=4
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,

    /// Undefine a preprocessor macro
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,

    /// Also search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,

    /// C: an additional option for clang (may be repeated), as in --cflags=-std=c99. The usual
    /// options of compilers can be given as they are, anything else after `--`
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    cflags: Vec<String>,

    /// C: use 32-bit pointers
    #[arg(long = "32", conflicts_with = "is_64_bit")]
    is_32_bit: bool,

    /// C: use 64-bit pointers (the default)
    #[arg(long = "64")]
    is_64_bit: bool,

    /// C: functions without a body return any value and have no side effects
    #[arg(long)]
    havoc_externals: bool,

    /// C: condition variables may have spurious wakeups (the default)
    #[arg(long, conflicts_with = "no_spurious_wakeups")]
    spurious_wakeups: bool,

    /// C: a wait on a condition variable ends only if it is signalled
    #[arg(long)]
    no_spurious_wakeups: bool,

    /// C: variables that nobody set are 0, and not any value
    #[arg(long)]
    zero_init: bool,

    /// C: accesses that are `volatile` are atomic
    #[arg(long)]
    volatile_atomic: bool,

    /// C: malloc, calloc and realloc may return null
    #[arg(long)]
    malloc_may_fail: bool,

    /// C: maximum recursion depth of a function (default: 16)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    recursion: Option<u16>,

    /// C: arguments of the program, separated by spaces, as in --args '2 fast'
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    args: Option<String>,

    /// C: begin with this function, which has no parameters, instead of `main`
    #[arg(long, value_name = "FUNCTION")]
    entry: Option<String>,

    /// C: maximum number of threads created by loops that are alive at a time (default: 16); with
    /// `any`, for C and Promela: prove it for any number of threads at each place that creates some
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<Threads>,

    /// The options of single files, from the compilation database.
    #[arg(skip)]
    file_flags: HashMap<PathBuf, Vec<String>>,
}

/// The properties of C, without those of infinite runs.
#[cfg(feature = "c")]
const OF_C: [Property; 7] = [
    Property::UnreachCall,
    Property::NoDeadlock,
    Property::MemorySafety,
    Property::MemoryCleanup,
    Property::NoOverflow,
    Property::MutexMisuse,
    Property::NoDataRace,
];

/// Recursion depth and number of threads created by loops if nothing is said.
#[cfg(feature = "c")]
const RECURSION: u16 = 16;
#[cfg(feature = "c")]
const THREADS_IN_LOOPS: u16 = 16;

/// The value of `--threads`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// So many created by loops, at a time.
    Most(u16),
    /// Each creation stands for any number of them.
    Any,
}

/// Most threads that can be asked for.
const MOST_THREADS: u16 = 200;

fn threads(text: &str) -> Result<Threads, ThreadsError> {
    if text == "any" {
        return Ok(Threads::Any);
    }
    match text.parse() {
        Ok(number) if (1..=MOST_THREADS).contains(&number) => Ok(Threads::Most(number)),
        _ => Err(ThreadsError),
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a number from 1 to {MOST_THREADS}, or `any`")]
struct ThreadsError;

/// What a language has, and what of it is checked if nothing is said.
type Properties = (&'static [Property], &'static [Property]);

impl InputArgs {
    /// Reads the compilation database, if one was named: its files are the program.
    pub fn complete(&mut self) -> Result<(), CliError> {
        let Some(place) = &self.compile_commands else {
            return Ok(());
        };
        // Without a file the database itself stands for the program, see `compiler_flags`.
        let named = self.files.iter().filter(|file| *file != place);
        let chosen: Vec<PathBuf> = named.chain(&self.chosen).cloned().collect();
        let database = compile_commands::read(place, &chosen)
            .map_err(|reason| CliError::input("U013", reason))?;
        self.files = database.files;
        self.file_flags = database.flags;
        self.is_32_bit |= database.is_32_bit;
        Ok(())
    }

    /// The properties of the program's language.
    pub fn properties(&self) -> Properties {
        #[cfg(feature = "c")]
        if self.is_c() {
            return (&OF_C, &mover_c::DEFAULT_PROPERTIES);
        }
        (&Property::BASIC, &Property::BASIC)
    }

    /// The first option given that means something to C only, for a program that is not C.
    pub fn c_only(&self) -> Option<&'static str> {
        if self.is_c() {
            return None;
        }
        let given = [
            (self.is_32_bit, "--32"),
            (self.is_64_bit, "--64"),
            (self.havoc_externals, "--havoc-externals"),
            (self.spurious_wakeups, "--spurious-wakeups"),
            (self.no_spurious_wakeups, "--no-spurious-wakeups"),
            (self.zero_init, "--zero-init"),
            (self.volatile_atomic, "--volatile-atomic"),
            (self.malloc_may_fail, "--malloc-may-fail"),
            (self.recursion.is_some(), "--recursion"),
            (self.args.is_some(), "--args"),
            (self.entry.is_some(), "--entry"),
            (matches!(self.threads, Some(Threads::Most(_))), "--threads"),
        ];
        let mut given = given.into_iter();
        given.find_map(|(is_given, option)| is_given.then_some(option))
    }

    /// Whether the program is C.
    pub fn is_c(&self) -> bool {
        self.files.first().is_some_and(|file| is_c(file))
    }

    #[cfg(feature = "c")]
    pub fn c_options(&self, properties: &[Property]) -> mover_c::Options {
        mover_c::Options {
            defines: self.define.clone(),
            undefines: self.undefine.clone(),
            includes: self.include.clone(),
            cflags: self.cflags.clone(),
            file_flags: self.file_flags.clone(),
            is_32_bit: self.is_32_bit,
            properties: properties.iter().copied().collect(),
            havoc_externals: self.havoc_externals,
            spurious_wakeups: self.spurious_wakeups || !self.no_spurious_wakeups,
            malloc_may_fail: self.malloc_may_fail,
            zero_init: self.zero_init,
            volatile_atomic: self.volatile_atomic,
            recursion: self.recursion.unwrap_or(RECURSION).into(),
            threads: match self.threads {
                Some(Threads::Most(number)) => number.into(),
                Some(Threads::Any) | None => THREADS_IN_LOOPS.into(),
            },
            repeated_creation: self.any_number(),
            arguments: self
                .args
                .iter()
                .flat_map(|words| words.split_whitespace().map(String::from))
                .collect(),
            entry: self.entry.clone(),
        }
    }

    /// Whether proofs for any number of threads are asked for.
    pub fn any_number(&self) -> bool {
        self.threads == Some(Threads::Any)
    }

    pub fn is_32_bit(&self) -> bool {
        self.is_32_bit
    }

    /// The program as messages call it.
    pub fn name(&self) -> String {
        self.files.first().map_or(String::new(), |file| {
            visible::name(&file.to_string_lossy()).into_owned()
        })
    }
}

pub struct Input {
    pub program: Program,
    /// What was asked, or what is asked in this language.
    pub properties: Vec<Property>,
    /// How SPIN numbers the statements of a Promela model.
    pub numbers: Option<mover_promela::StatementNumbers>,
    /// Where the accesses of a C program stand.
    #[cfg(feature = "c")]
    pub sites: mover_c::Sites,
}

/// Reads the program. Diagnostics of the front end have been printed.
/// Without properties those that are usual in the language are taken.
pub fn read(args: &InputArgs, properties: &[Property]) -> Result<Input, CliError> {
    let mut asked = properties.to_vec();
    asked.sort();
    asked.dedup();
    if let Some(file) = args.files.iter().find(|file| is_stream(file)) {
        let reason = "is not a file that can be read more than once; save the program to one";
        let message = format!("{} {reason}", file.display());
        return Err(CliError::input("U010", message));
    }
    if let Some((file, reason)) = args
        .files
        .iter()
        .find_map(|file| Some((file, foreign(file)?)))
    {
        let name = file.to_string_lossy();
        let message = format!("{}: {reason}", visible::name(&name));
        return Err(CliError::input("U008", message));
    }
    let input = match args.files.first() {
        Some(file) if is_c(file) => read_c(args, asked)?,
        _ => read_promela(args, asked)?,
    };
    validate(&input.program).map_err(|reason| {
        CliError::internal(format!("the program was translated wrongly: {reason}"))
    })?;
    Ok(input)
}

/// Whether what is in a file can be read only once: pipes, terminals, `/dev/stdin`. Preprocessors
/// and compilers are programs of their own, with another standard input, and messages quote the
/// source.
fn is_stream(file: &Path) -> bool {
    let is_special = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    file.starts_with("/dev") || file.metadata().is_ok_and(is_special)
}

fn is_c(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "i" | "ll" | "bc")) || is_cpp(extension)
}

/// Extensions of files in C++, as compilers know them.
fn is_cpp(extension: Option<&str>) -> bool {
    matches!(
        extension,
        Some("cpp" | "cc" | "cxx" | "C" | "c++" | "cp" | "CPP" | "ii")
    )
}

/// Why a file is in no language that is read, by its name.
fn foreign(file: &Path) -> Option<&'static str> {
    if file.is_dir() {
        return Some(
            "this is a directory; pass the files of the program, or `--compile-commands DIR`",
        );
    }
    let is_response = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b"@");
    if file.file_name().is_some_and(is_response) {
        return Some(
            "compilers read a file whose name begins with @ as a list of options; rename it",
        );
    }
    let extension = file
        .extension()
        .map(|extension| extension.to_string_lossy());
    match extension.as_deref() {
        // Many models have none.
        None | Some("pml" | "prom" | "promela" | "pr" | "spin") => None,
        Some("c" | "i" | "ll" | "bc") => None,
        extension if is_cpp(extension) => None,
        Some("h" | "hpp" | "hh" | "hxx" | "H" | "h++" | "ipp" | "tpp" | "inl") => {
            Some("this is a header; pass the .c or .cpp files that include it")
        }
        Some("o" | "a" | "so") => {
            Some("this is compiled code; pass the .c files, or LLVM IR (.ll, .bc)")
        }
        Some("tm") => Some("a transactional memory is checked with `mover tm check`"),
        Some(_) => Some(
            "no known type of file: .c, .i, .ll and .bc are C, .cpp, .cc and .cxx are C++, .pml is \
             Promela; rename the file if it is one of them",
        ),
    }
}

fn read_promela(args: &InputArgs, asked: Vec<Property>) -> Result<Input, CliError> {
    let [file] = &args.files[..] else {
        return Err(CliError::usage("U002", "a Promela model is one file"));
    };
    let is_foreign =
        |property: &&Property| !Property::BASIC.contains(property) && !property.is_temporal();
    if let Some(property) = asked.iter().find(is_foreign) {
        return Err(CliError::usage(
            "U007",
            format!(
                "`{property}` cannot be checked for a Promela model; its properties are \
                 `unreach-call`, `no-deadlock`, `claims` and `termination`"
            ),
        ));
    }
    let options = mover_promela::Options {
        defines: args.define.clone(),
        undefines: args.undefine.clone(),
        includes: args.include.clone(),
        formulas: args.formulas.clone(),
    };
    match mover_promela::parse(file, &options) {
        Ok(read) => {
            show(&read.program.info.sources, &read.warnings);
            if asked.contains(&Property::Claims) && read.program.info.claims.is_empty() {
                let reason = "the model has no claim: no ltl, never or trace, and no label that \
                              begins with `accept` or `progress`";
                return Err(CliError::usage("U007", reason));
            }
            Ok(Input {
                properties: if asked.is_empty() {
                    mover_check::usual_properties(&read.program)
                } else {
                    asked
                },
                program: read.program,
                numbers: read.numbers,
                #[cfg(feature = "c")]
                sites: Vec::new(),
            })
        }
        Err(failure) => Err(refuse(&args.name(), &failure.sources, &failure.diagnostics)),
    }
}

#[cfg(feature = "c")]
fn read_c(args: &InputArgs, asked: Vec<Property>) -> Result<Input, CliError> {
    if let Some(other) = args.files.iter().find(|file| !is_c(file)) {
        return Err(CliError::usage(
            "U008",
            format!("{}: not a C file, unlike the others", other.display()),
        ));
    }
    let properties = if asked.is_empty() {
        mover_c::DEFAULT_PROPERTIES.to_vec()
    } else {
        asked
    };
    let options = args.c_options(&properties);
    match mover_c::read(&args.files, &options) {
        Ok(read) => Ok(Input {
            program: read.program,
            properties,
            numbers: None,
            sites: read.sites,
        }),
        Err(failure) => {
            mover_cli::stderr!("{}", failure.compiler);
            Err(refuse(&args.name(), &failure.sources, &failure.diagnostics))
        }
    }
}

#[cfg(not(feature = "c"))]
fn read_c(args: &InputArgs, _: Vec<Property>) -> Result<Input, CliError> {
    Err(CliError::input(
        "U008",
        format!(
            "{}: this mover was built without LLVM and cannot read C (feature `c`)",
            args.name()
        ),
    ))
}

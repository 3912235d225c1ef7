//! C with pthreads to Program, by way of clang and LLVM IR.
//!
//! ```text
//! prog.c ──clang──▶ LLVM IR ──inline, registers──▶ ssa ──flatten──▶ one body per
//! kind of thread ──objects──▶ rows and addresses ──lower──▶ templates
//! ```
//!
//! [`clang`] compiles, [`llvm`] reads the result into plain data ([`ssa`]),
//! [`flatten`] inlines calls and expands the library, [`objects`] decides
//! which variables need addresses, [`world`] lays out what threads share, and
//! [`lower`] makes automata of the code, with [`actions`] for locks and threads.
//!
//! A construct that is not supported is an error that names the line, never a guess.

mod actions;
mod caveats;
mod claims;
mod clang;
mod expr_builder;
mod flatten;
mod left_locked;
mod lifetimes;
mod llvm;
mod lower;
pub mod native;
mod objects;
mod races;
mod ssa;
mod threads;
mod unset;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mover_ir::program::{Instance, Program, ProgramInfo, Property, TemplateId};
use mover_source::diagnostic::{Code, Diagnostic};
use mover_source::{FileId, SourceMap};

use flatten::{Body, Flattener, Limits, Problem};
use lower::{Builder, Finished};
use objects::Objects;
use ssa::{FunctionId, Kind, Module, Operand};
use world::{Settings, World};

/// The name under which the runtime library is compiled.
pub(crate) const RUNTIME_NAME: &str = "mover-runtime.c";
const RUNTIME: &str = include_str!("mover-runtime.c");

/// What is asked of a C program if nothing else is said.
pub const DEFAULT_PROPERTIES: [Property; 4] = [
    Property::UnreachCall,
    Property::NoDeadlock,
    Property::MemorySafety,
    Property::MutexMisuse,
];

#[derive(Clone, Debug)]
pub struct Options {
    pub defines: Vec<String>,
    pub undefines: Vec<String>,
    pub includes: Vec<PathBuf>,
    pub cflags: Vec<String>,
    pub is_32_bit: bool,
    /// Errors of other properties are left out.
    pub properties: BTreeSet<Property>,
    pub havoc_externals: bool,
    /// Whether a wait for a condition variable may end without a signal.
    pub spurious_wakeups: bool,
    pub malloc_may_fail: bool,
    /// Whether variables that nobody set are 0.
    pub zero_init: bool,
    /// Maximum recursion depth of a function.
    pub recursion: usize,
    /// Maximum number of threads created by loops that are alive at a time.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            defines: Vec::new(),
            undefines: Vec::new(),
            includes: Vec::new(),
            cflags: Vec::new(),
            is_32_bit: false,
            properties: DEFAULT_PROPERTIES.into_iter().collect(),
            havoc_externals: false,
            spurious_wakeups: true,
            malloc_may_fail: false,
            zero_init: false,
            recursion: 16,
            threads: 16,
        }
    }
}

/// A program that was read.
pub struct Read {
    pub program: Program,
    pub warnings: Vec<Diagnostic>,
    /// Where the shared access of each edge stands in the source.
    pub sites: Sites,
}

/// Source location of an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// For each edge of each location of each template the place of its shared access.
pub type Sites = Vec<Vec<Vec<Option<Site>>>>;

/// Why a program cannot be read.
pub struct Failure {
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    /// What clang said, as it said it.
    pub compiler: String,
}

impl Failure {
    fn message(text: impl Into<String>) -> Failure {
        Failure {
            sources: SourceMap::default(),
            diagnostics: vec![Diagnostic::coded("C001", text)],
            compiler: String::new(),
        }
    }
}

/// Reads one or more files (C, preprocessed C, LLVM IR) as one program.
pub fn read(files: &[PathBuf], options: &Options) -> Result<Read, Failure> {
    let (module, said) = module(files, options)?;
    let (mut sources, numbers) = read_sources(&module);
    let name = files
        .first()
        .map_or(String::new(), |file| file.display().to_string());
    match translate(&module, options, &sources, &numbers, name) {
        Ok((program, sites, warnings)) => Ok(Read {
            program,
            sites,
            warnings: warnings
                .into_iter()
                .map(|problem| diagnostic(problem, &sources, &numbers, Diagnostic::warning))
                .collect(),
        }),
        Err(problem) => {
            let diagnostic = diagnostic(problem, &sources, &numbers, Diagnostic::error);
            Err(Failure {
                sources: std::mem::take(&mut sources),
                diagnostics: vec![diagnostic],
                compiler: said,
            })
        }
    }
}

/// Compiles and reads the files.
fn module(files: &[PathBuf], options: &Options) -> Result<(Module, String), Failure> {
    let scratch = tempfile::tempdir()
        .map_err(|error| Failure::message(format!("no place for temporary files: {error}")))?;
    let mut flags = options.cflags.clone();
    if options.properties.contains(&Property::NoOverflow) {
        // Of constants nothing but the result is left.
        flags.insert(0, "-Werror=integer-overflow".into());
    }
    let compiling = clang::Options {
        defines: options.defines.clone(),
        undefines: options.undefines.clone(),
        includes: options.includes.clone(),
        flags,
        is_32_bit: options.is_32_bit,
    };
    let mut said = String::new();
    let mut compiled: Vec<PathBuf> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if let Err(error) = std::fs::File::open(file) {
            return Err(Failure::message(format!("{}: {error}", file.display())));
        }
        if matches!(extension(file), Some("ll" | "bc")) {
            let target = scratch.path().join(format!("{number}.ll"));
            clang::verify(file, &target).map_err(Failure::message)?;
            compiled.push(target);
            continue;
        }
        let target = scratch.path().join(format!("{number}.bc"));
        match clang::compile(file, &target, &compiling) {
            Ok(warnings) => said += &warnings,
            Err(message) => {
                return Err(Failure {
                    sources: SourceMap::default(),
                    diagnostics: Vec::new(),
                    compiler: message,
                });
            }
        }
        compiled.push(target);
    }
    let runtime = || {
        let source = scratch.path().join(RUNTIME_NAME);
        let target = scratch.path().join("runtime.bc");
        let plain = clang::Options {
            is_32_bit: options.is_32_bit,
            flags: vec!["-fno-builtin".into()],
            ..clang::Options::default()
        };
        std::fs::write(&source, RUNTIME)
            .map_err(|error| error.to_string())
            .and_then(|()| clang::compile(&source, &target, &plain))
            .map_err(|error| format!("the runtime library: {error}"))?;
        Ok(target)
    };
    let paths: Vec<&Path> = compiled.iter().map(PathBuf::as_path).collect();
    let module = llvm::read(&paths, runtime).map_err(Failure::message)?;
    Ok((module, said))
}

fn extension(file: &Path) -> Option<&str> {
    file.extension()?.to_str()
}

/// The user's files, where they can be found; by number in the module.
fn read_sources(module: &Module) -> (SourceMap, Vec<Option<FileId>>) {
    let mut sources = SourceMap::default();
    let numbers = module
        .files
        .iter()
        .map(|name| {
            let bytes = std::fs::read(name).ok()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Some(sources.add(name.clone(), text))
        })
        .collect();
    (sources, numbers)
}

fn diagnostic(
    problem: Problem,
    sources: &SourceMap,
    numbers: &[Option<FileId>],
    severity: impl Fn(String) -> Diagnostic,
) -> Diagnostic {
    let span = problem.loc.and_then(|loc| {
        let file = (*numbers.get(loc.file as usize)?)?;
        let source = sources.file(file);
        let range = source.line_range(loc.line as usize);
        let start = (range.start + loc.column.saturating_sub(1) as usize).min(range.end);
        Some(mover_source::Span::new(file, start, range.end))
    });
    let mut shown = severity(problem.message);
    shown.code = Some(Code::new(problem.code));
    if let Some(span) = span {
        shown = shown.at(span, "");
    }
    match problem.help {
        Some(help) => shown.help(help),
        None => shown,
    }
}

type Translated = (Program, Sites, Vec<Problem>);

fn translate(
    module: &Module,
    options: &Options,
    sources: &SourceMap,
    numbers: &[Option<FileId>],
    name: String,
) -> Result<Translated, Problem> {
    let Some(main) = module
        .find("main")
        .filter(|&id| !module.functions[id].blocks.is_empty())
    else {
        return Err(Problem::new("there is no function `main`", None)
            .code("C013")
            .help("pass all files of the program"));
    };
    if let Some(line) = &module.file_scope_assembly {
        let message = format!("assembly outside of functions is not supported: `{line}`");
        return Err(Problem::new(message, None)
            .code("C012")
            .help("exclude it when the program is checked, for instance with an #ifdef"));
    }
    let limits = Limits {
        recursion: options.recursion.max(1),
        havoc_externals: options.havoc_externals,
        wants_cleanup: options.properties.contains(&Property::MemoryCleanup),
    };
    let mut flattener = Flattener::new(module, &limits);
    let mut roots = vec![main];
    let mut bodies: Vec<Body> = Vec::new();
    while bodies.len() < roots.len() {
        let root = roots[bodies.len()];
        let body = flattener.body(root, bodies.is_empty())?;
        for routine in started(&body, &flattener) {
            if !roots[1..].contains(&routine) {
                if module.functions[routine].blocks.is_empty() {
                    let name = &module.functions[routine].name;
                    let message = format!("threads start with `{name}`, which has no body");
                    return Err(Problem::new(message, None));
                }
                roots.push(routine);
            }
        }
        bodies.push(body);
    }
    let routines = flattener.start_routines();
    let mut notes = std::mem::take(&mut flattener.notes);
    if !options.zero_init {
        for body in &mut bodies {
            unset::make_inputs(body, notes.uses_join_results);
        }
    }
    notes.uses_mutex_kinds |= module.sets_mutex_fields || has_special_mutexes(module);
    let looks_for_races = options.properties.contains(&Property::NoDataRace);
    let objects = Objects::find(module, &bodies, notes.uses_mutex_kinds, looks_for_races);
    let threads = threads::find(&bodies, &roots, routines, options.threads.max(1));
    let settings = Settings {
        properties: options.properties.clone(),
        spurious_wakeups: options.spurious_wakeups,
        malloc_may_fail: options.malloc_may_fail,
    };
    let mut world = World::new(
        module,
        &bodies,
        &objects,
        &settings,
        &notes,
        sources.clone(),
        numbers.to_vec(),
        threads,
    )?;
    let mut templates = Vec::new();
    let mut sites: Sites = Vec::new();
    let mut all_touches = Vec::new();
    for body in 0..bodies.len() {
        let Finished {
            mut template,
            accesses,
            touches,
        } = Builder::template(&mut world, body)?;
        let site = |loc: &Option<ssa::Loc>| {
            let loc = (*loc)?;
            Some(Site {
                file: module.files.get(loc.file as usize)?.clone(),
                line: loc.line,
                column: loc.column,
            })
        };
        let of_location = |edges: &Vec<Option<ssa::Loc>>| edges.iter().map(site).collect();
        let mut sites_here: Vec<_> = accesses.iter().map(of_location).collect();
        if notes.uses_mutex_kinds {
            let message = "a thread exits while holding a lock, and some locks check their owner";
            if left_locked::cut(&mut template, &world.globals, message) {
                sites_here.push(Vec::new());
            }
        }
        sites.push(sites_here);
        templates.push(template);
        all_touches.push(touches);
    }
    let caveats = caveats::find(&world, &notes, &templates);
    let exclusive = claims::find(sources, numbers, &world.globals)?;
    let mut program = Program {
        info: Arc::new(ProgramInfo {
            claims: Vec::new(),
            name,
            sources: sources.clone(),
            symbols: world.symbols(),
            exclusive,
            caveats,
        }),
        max_threads: world.threads.most(),
        pointers: world.pointers(),
        sites: std::mem::take(&mut world.sites),
        globals: std::mem::take(&mut world.globals),
        initial: vec![Instance {
            template: TemplateId(0),
            args: std::mem::take(&mut world.arguments),
            priority: 1,
        }],
        templates,
        presence: world.threads.status,
        ..Program::default()
    };
    let tell = |loc: Option<ssa::Loc>| match world.span(loc) {
        Some(span) => format!(" ({})", world.sources.locate(span)),
        None => String::new(),
    };
    races::watch(&mut program, &all_touches, &mut sites, tell);
    Ok((program, sites, Vec::new()))
}

/// The functions that a body starts threads with.
fn started(body: &Body, flattener: &Flattener) -> Vec<FunctionId> {
    let mut found = Vec::new();
    for inst in body.blocks.iter().flat_map(|block| &block.insts) {
        let Kind::Library { name, args, .. } = &inst.kind else {
            continue;
        };
        if name != "thread_start" {
            continue;
        }
        match args.get(2) {
            Some(Operand::Function(id)) => found.push(*id),
            _ => found.extend(flattener.start_routines()),
        }
    }
    found
}

/// Whether a static initialiser gives a mutex a kind.
fn has_special_mutexes(module: &Module) -> bool {
    let at = objects::mutex_kind_offset(module.pointer_bytes) as usize;
    fn mutexes(layout: &ssa::Layout, base: u64, out: &mut Vec<u64>) {
        match layout {
            ssa::Layout::Array {
                element,
                count,
                stride,
            } => {
                for index in 0..(*count).min(1024) {
                    mutexes(element, base + index * stride, out);
                }
            }
            ssa::Layout::Struct { name, fields, .. } => {
                if name.starts_with("union.pthread_mutex_t") {
                    out.push(base);
                    return;
                }
                for (offset, field) in fields {
                    mutexes(field, base + offset, out);
                }
            }
            _ => {}
        }
    }
    module.globals.iter().any(|global| {
        let Some(ssa::Initial::Bytes { bytes, .. }) = &global.initial else {
            return false;
        };
        let mut found = Vec::new();
        mutexes(&global.layout, 0, &mut found);
        found
            .iter()
            .any(|&base| bytes.get(base as usize + at).is_some_and(|&kind| kind != 0))
    })
}

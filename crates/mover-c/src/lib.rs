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
mod bound_threads;
mod caveats;
mod claims;
mod clang;
mod expr_builder;
mod few_values;
mod flatten;
mod handles;
mod left_locked;
mod lifetimes;
mod llvm;
mod lower;
pub mod native;
mod objects;
mod reuse;
mod runtime;
mod shadow;
mod ssa;
mod threads;
mod unread;
mod unset;
mod world;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mover_ir::impossible::{impossible_edges, remove_edges};
use mover_ir::program::{Instance, Program, ProgramInfo, Property, TemplateId};
use mover_source::diagnostic::{Code, Diagnostic};
use mover_source::{FileId, SourceMap};
use mover_tools::own_files::OwnFiles;
use mover_tools::scratch::Scratch;
use mover_tools::visible;

use clang::Refusal;
use flatten::{Body, Flattener, Limits, Problem, TOO_LARGE};
use llvm::RuntimeError;
use lower::{Builder, Finished};
use objects::Objects;
use shadow::Shadows;
use ssa::{FunctionId, Kind, Module, Operand};
use world::{Settings, World};

/// The name under which the runtime library is compiled.
pub(crate) const RUNTIME_NAME: &str = "mover-runtime.c";

/// What is asked of a C program if nothing else is said.
pub const DEFAULT_PROPERTIES: [Property; 5] = [
    Property::UnreachCall,
    Property::NoDeadlock,
    Property::MemorySafety,
    Property::MutexMisuse,
    Property::NoDataRace,
];

#[derive(Clone, Debug)]
pub struct Options {
    pub defines: Vec<String>,
    pub undefines: Vec<String>,
    pub includes: Vec<PathBuf>,
    pub cflags: Vec<String>,
    /// Options for single files, by their names in the list of files.
    pub file_flags: HashMap<PathBuf, Vec<String>>,
    pub is_32_bit: bool,
    /// Errors of other properties are left out.
    pub properties: BTreeSet<Property>,
    pub havoc_externals: bool,
    /// Whether a wait for a condition variable may end without a signal.
    pub spurious_wakeups: bool,
    pub malloc_may_fail: bool,
    /// Whether variables that nobody set are 0.
    pub zero_init: bool,
    /// Whether accesses that are `volatile` count as atomic.
    pub volatile_atomic: bool,
    /// Maximum recursion depth of a function.
    pub recursion: usize,
    /// Maximum number of threads created by loops that are alive at a time.
    pub threads: usize,
    /// Whether each creation stands for any number of them, so that no code runs once because it is
    /// started once.
    pub repeated_creation: bool,
    /// The arguments of the program, after its name.
    pub arguments: Vec<String>,
    /// The function that the program begins with, if it is not `main`.
    pub entry: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            defines: Vec::new(),
            undefines: Vec::new(),
            includes: Vec::new(),
            cflags: Vec::new(),
            file_flags: HashMap::new(),
            is_32_bit: false,
            properties: DEFAULT_PROPERTIES.into_iter().collect(),
            havoc_externals: false,
            spurious_wakeups: true,
            malloc_may_fail: false,
            zero_init: false,
            volatile_atomic: false,
            recursion: 16,
            threads: 16,
            repeated_creation: false,
            arguments: Vec::new(),
            entry: None,
        }
    }
}

impl Options {
    /// How a file is compiled.
    fn compiling(&self, file: &Path) -> clang::Options {
        let mut flags = Vec::new();
        if self.properties.contains(&Property::NoOverflow) {
            // Of constants nothing but the result is left.
            flags.push("-Werror=integer-overflow".into());
        }
        flags.extend(self.file_flags.get(file).into_iter().flatten().cloned());
        flags.extend(self.cflags.iter().cloned());
        clang::Options {
            defines: self.defines.clone(),
            undefines: self.undefines.clone(),
            includes: self.includes.clone(),
            flags,
            is_32_bit: self.is_32_bit,
            keeps_static: self.entry.as_ref().is_some_and(|name| name != "main"),
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
    fn message(text: impl Display) -> Failure {
        Failure::coded("C001", text)
    }

    fn no_compiler(text: impl Display) -> Failure {
        Failure::coded("C003", text)
    }

    fn coded(code: &'static str, text: impl Display) -> Failure {
        Failure {
            sources: SourceMap::default(),
            diagnostics: vec![Diagnostic::coded(code, text.to_string())],
            compiler: String::new(),
        }
    }
}

/// Reads one or more files (C, preprocessed C, LLVM IR) as one program.
pub fn read(files: &[PathBuf], options: &Options) -> Result<Read, Failure> {
    let (module, said, own) = module(files, options)?;
    let (mut sources, numbers) = read_sources(&module, &own);
    let name = files.first().map_or(String::new(), |file| {
        visible::name(&file.to_string_lossy()).into_owned()
    });
    match translate_within_size(&module, options, &sources, &numbers, &name) {
        Ok((program, sites, warnings)) => Ok(Read {
            program,
            sites,
            warnings: warnings
                .into_iter()
                .map(|problem| diagnostic(problem, &sources, &numbers, Diagnostic::warning))
                .collect(),
        }),
        Err(Problems(problems)) => {
            let shown = |problem| diagnostic(problem, &sources, &numbers, Diagnostic::error);
            let diagnostics = problems.into_iter().map(shown).collect();
            Err(Failure {
                sources: std::mem::take(&mut sources),
                diagnostics,
                compiler: said,
            })
        }
    }
}

/// Compiles and reads the files. Also what clang said, and which files it read.
fn module(files: &[PathBuf], options: &Options) -> Result<(Module, String, OwnFiles), Failure> {
    let scratch = Scratch::new()
        .map_err(|error| Failure::message(format!("no place for temporary files: {error}")))?;
    let mut said = String::new();
    let mut is_refused = false;
    let mut own = OwnFiles::default();
    let mut compiled: Vec<PathBuf> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if let Err(error) = std::fs::File::open(file) {
            let name = file.to_string_lossy();
            return Err(Failure::message(format!(
                "{}: {error}",
                visible::name(&name)
            )));
        }
        own.add(file);
        if matches!(extension(file), Some("i" | "ll" | "bc")) {
            own.add_beside(file);
        }
        if matches!(extension(file), Some("ll" | "bc")) {
            let target = scratch.path().join(format!("{number}.ll"));
            clang::verify(file, &target).map_err(Failure::message)?;
            compiled.push(target);
            continue;
        }
        let target = scratch.path().join(format!("{number}.bc"));
        let dependencies = scratch.path().join(format!("{number}.d"));
        match clang::compile(file, &target, Some(&dependencies), &options.compiling(file)) {
            Ok(warnings) => said += &warnings,
            // The other files are compiled, too: all errors are told at once.
            Err(Refusal::Errors(errors)) => {
                said += &errors;
                is_refused = true;
            }
            Err(Refusal::NoCompiler(error)) => return Err(Failure::no_compiler(error)),
        }
        let rule = std::fs::read_to_string(&dependencies).unwrap_or_default();
        own.add_dependencies(&rule);
        compiled.push(target);
    }
    if is_refused {
        return Err(Failure {
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            compiler: said,
        });
    }
    let runtime = |missing: &[String]| -> Result<PathBuf, RuntimeError> {
        let source = scratch.path().join(RUNTIME_NAME);
        let target = scratch.path().join("runtime.bc");
        let plain = clang::Options {
            is_32_bit: options.is_32_bit,
            flags: match runtime::has_exceptions(missing) {
                true => vec!["-fno-builtin".into(), "-fexceptions".into()],
                false => vec!["-fno-builtin".into()],
            },
            defines: match options.malloc_may_fail {
                true => vec!["__mover_MALLOC_MAY_FAIL".into()],
                false => Vec::new(),
            },
            ..clang::Options::default()
        };
        std::fs::write(&source, runtime::source(missing))?;
        clang::compile(&source, &target, None, &plain)?;
        Ok(target)
    };
    let paths: Vec<&Path> = compiled.iter().map(PathBuf::as_path).collect();
    let mut module = llvm::read(
        &paths,
        options.volatile_atomic,
        options.properties.contains(&Property::NoOverflow),
        options.entry.as_deref(),
        runtime,
    )
    .map_err(Failure::message)?;
    bound_threads::bind(&mut module);
    Ok((module, said, own))
}

fn extension(file: &Path) -> Option<&str> {
    file.extension()?.to_str()
}

/// The program's own files, where they can be found; by number in the module.
fn read_sources(module: &Module, own: &OwnFiles) -> (SourceMap, Vec<Option<FileId>>) {
    let mut sources = SourceMap::default();
    let numbers = module
        .files
        .iter()
        .map(|name| {
            let bytes = own.read(Path::new(name))?;
            let text = visible::source(String::from_utf8_lossy(&bytes).into_owned());
            Some(sources.add(visible::name(name), text))
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

/// Why a program is not translated; at least one reason.
struct Problems(Vec<Problem>);

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

/// Recursion depths that are tried where a program is too large with the one that was asked for.
const SMALLER_RECURSION: [usize; 3] = [4, 2, 1];

/// Translates with the largest recursion depth with which the program is not too large. Beyond it
/// runs end at a bound, and the verdict says so.
fn translate_within_size(
    module: &Module,
    options: &Options,
    sources: &SourceMap,
    numbers: &[Option<FileId>],
    name: &str,
) -> Result<Translated, Problems> {
    let is_too_large = |result: &Result<Translated, Problems>| match result {
        Err(Problems(problems)) => problems.iter().any(|problem| problem.code == TOO_LARGE),
        Ok(_) => false,
    };
    let mut result = translate(module, options, sources, numbers, name.to_string());
    for recursion in SMALLER_RECURSION {
        if is_too_large(&result) && recursion < options.recursion {
            let smaller = Options {
                recursion,
                ..options.clone()
            };
            result = translate(module, &smaller, sources, numbers, name.to_string());
        }
    }
    result
}

fn translate(
    module: &Module,
    options: &Options,
    sources: &SourceMap,
    numbers: &[Option<FileId>],
    name: String,
) -> Result<Translated, Problems> {
    let main = find_entry(module, options)?;
    if let Some(line) = &module.file_scope_assembly {
        let message = format!("assembly outside of functions is not supported: `{line}`");
        return Err(Problem::new(message, None)
            .code("C012")
            .help("exclude it when the program is checked, for instance with an #ifdef")
            .into());
    }
    let limits = Limits {
        recursion: options.recursion.max(1),
        havoc_externals: options.havoc_externals,
        wants_cleanup: options.properties.contains(&Property::MemoryCleanup),
        wants_overflow: options.properties.contains(&Property::NoOverflow),
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
                    let name = llvm::short(&module.functions[routine].name);
                    let message = format!("threads start with `{name}`, which has no body");
                    return Err(Problem::new(message, None).into());
                }
                roots.push(routine);
            }
        }
        bodies.push(body);
    }
    let problems = flattener.take_problems();
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let routines = flattener.start_routines();
    let mut notes = std::mem::take(&mut flattener.notes);
    handles::compare(&mut bodies);
    if !options.zero_init {
        for body in &mut bodies {
            let are_all_read = unread::clear(body, notes.uses_join_results);
            unset::make_inputs(body, notes.uses_join_results, are_all_read);
        }
    }
    let ends_are_seen = options.properties.contains(&Property::Claims);
    for body in &mut bodies {
        few_values::replace(body, ends_are_seen);
    }
    notes.uses_mutex_kinds |= module.sets_mutex_fields || has_special_mutexes(module);
    let looks_for_races = options.properties.contains(&Property::NoDataRace);
    let objects = Objects::find(module, &bodies, notes.mutex_fields(), looks_for_races);
    let threads = threads::find(
        &bodies,
        &roots,
        routines,
        options.threads.max(1),
        options.repeated_creation,
    );
    let settings = Settings {
        properties: options.properties.clone(),
        spurious_wakeups: options.spurious_wakeups,
        arguments: options.arguments.clone(),
        malloc_may_fail: options.malloc_may_fail,
        reuses_addresses: notes.frees && reuse::compares_addresses(module, &bodies),
    };
    let shadows = Shadows::find(module, &bodies, &objects, &notes, options.zero_init);
    let mut world = World::new(
        module,
        &bodies,
        &objects,
        &settings,
        &notes,
        sources.clone(),
        numbers.to_vec(),
        threads,
        shadows,
    )?;
    let mut templates = Vec::new();
    let mut sites: Sites = Vec::new();
    for body in 0..bodies.len() {
        let Finished {
            mut template,
            accesses,
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
        // A thread that exits with a robust mutex is what these are for; the caveat remains.
        if notes.uses_mutex_kinds && !notes.uses_robust_mutexes {
            let message = "a thread exits while holding a lock, and some locks check their owner";
            if left_locked::cut(&mut template, &world.globals, message) {
                sites_here.push(Vec::new());
            }
        }
        sites.push(sites_here);
        templates.push(template);
    }
    let caveats = caveats::find(&world, &notes, &templates);
    let exclusive = claims::find(sources, numbers, &world.globals)?;
    let mut program = Program {
        info: Arc::new(ProgramInfo {
            statements: Vec::new(),
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
    // The case distinctions of a primitive often have only one outcome at a point of the program.
    let flags = impossible_edges(&program);
    for (sites, flags) in sites.iter_mut().zip(&flags) {
        for (sites, flags) in sites.iter_mut().zip(flags) {
            let mut flags = flags.iter();
            sites.retain(|_| flags.next() != Some(&true));
        }
    }
    remove_edges(&mut program, &flags);
    Ok((program, sites, Vec::new()))
}

/// The function that the program begins with.
fn find_entry(module: &Module, options: &Options) -> Result<FunctionId, Problem> {
    let name = options.entry.as_deref().unwrap_or("main");
    let found = module.find(name);
    let found = found.filter(|&id| !module.functions[id].blocks.is_empty());
    let Some(entry) = found else {
        let message = format!("there is no function `{name}`");
        let help = "pass all files of the program; `--entry FUNCTION` begins with another function";
        return Err(Problem::new(message, None).code("C013").help(help));
    };
    if options.entry.is_some() && name != "main" && module.functions[entry].params > 0 {
        let message = format!("`{name}` has parameters, whose values are not known");
        let help = "begin with a function without parameters that calls it; \
                    `__VERIFIER_nondet_int()` is any value";
        return Err(Problem::new(message, None).code("C013").help(help));
    }
    Ok(entry)
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

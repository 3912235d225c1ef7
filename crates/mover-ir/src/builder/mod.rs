//! Programs written in Rust.
//!
//! A *model* is a program that is written to find out whether an idea works. [`ProgramBuilder`]
//! takes it as Rust code: declarations give *handles*, which are copied into the closures that
//! write the threads, and operators on handles give [`Value`]s.
//!
//! The closures do not run as threads. Those of loom do, once for each interleaving (a stateless
//! search, Godefroid 1997); ours run once and write an automaton, statement by statement. So
//! Rust's own `for` unrolls, and the loop of the model is [`ThreadBuilder::while_`]. In return
//! every engine can read the program, also those that do not execute it.
//!
//! # The rules
//!
//! - **Which threads run.** [`ProgramBuilder::thread`] only defines a thread.
//!   [`ProgramBuilder::start`] lets one run from the start, [`ThreadBuilder::spawn`] later;
//!   [`ProgramBuilder::main`] defines one and starts it.
//! - **Steps.** A statement is one atomic step. Its text consists of the names, and its place is the
//!   line of the call, if the file can be read.
//! - **Types.** Both sides of an operator have the same type; a number has the type of the other
//!   side. [`Value::cast`] converts.
//! - **Ends.** A thread that reaches the end of its closure has finished. It stays there, takes no
//!   step and can be joined; its number is not used again. After [`ThreadBuilder::exit`] it is gone.
//! - **Mistakes** are collected, with their lines, and returned by [`ProgramBuilder::build`].

mod automaton;
mod error;
mod sources;
mod thread;
mod value;

use std::collections::HashSet;
use std::panic::Location as Caller;
use std::sync::atomic::{AtomicU32, Ordering};

use automaton::CallerRef;
use sources::Sources;
use thread::Written;
use value::{ModelId, fitting};

use crate::expr::{BinaryOp, Expr, Ty};
use crate::program::{
    ChannelDecl, Edge, Effect, ErrorMark, Field, Init, Instance, Location, LocationId, Program,
    ProgramInfo, Property, Template, TemplateId, Variable,
};
use crate::validate::validate;

pub use error::{BuildError, Fault, FaultKind};
pub use thread::{Choice, Spawned, Step, ThreadBuilder};
pub use value::{Array, Cell, Channel, Lock, Mutex, MutexArray, Pattern, Value, Var};

static NEXT_MODEL: AtomicU32 = AtomicU32::new(0);

/// A thread that was defined.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    model: ModelId,
    id: u32,
}

impl Thread {
    fn template(self) -> TemplateId {
        TemplateId(self.id)
    }
}

struct ThreadInfo {
    defined_at: CallerRef,
    written: Option<Written>,
    is_run: bool,
}

/// A model that is being written; see the [module](self).
pub struct ProgramBuilder {
    id: ModelId,
    program: Program,
    /// By template.
    threads: Vec<ThreadInfo>,
    max_threads: Option<u32>,
    names: HashSet<String>,
    faults: Vec<Fault>,
    made_at: CallerRef,
}

impl ProgramBuilder {
    #[track_caller]
    pub fn new(name: &str) -> Self {
        ProgramBuilder {
            id: NEXT_MODEL.fetch_add(1, Ordering::Relaxed),
            program: Program {
                info: ProgramInfo::named(name),
                // There are no pointers.
                pointers_stay: true,
                ..Program::default()
            },
            threads: Vec::new(),
            max_threads: None,
            names: HashSet::new(),
            faults: Vec::new(),
            made_at: Caller::caller(),
        }
    }

    fn fault(&mut self, at: CallerRef, kind: FaultKind) {
        self.faults.push(Fault { at, kind });
    }

    fn name(&mut self, name: &str, at: CallerRef) {
        if !self.names.insert(name.to_string()) {
            self.fault(at, FaultKind::SameName(name.into()));
        }
    }

    fn initial(&mut self, number: i128, ty: Ty, at: CallerRef) -> u64 {
        fitting(number, ty).unwrap_or_else(|kind| {
            self.fault(at, kind);
            0
        })
    }

    fn declare(&mut self, name: &str, ty: Ty, len: Option<u32>, init: Init, at: CallerRef) -> Var {
        self.name(name, at);
        self.program.globals.push(Variable {
            len: len.unwrap_or(1),
            is_array: len.is_some(),
            init,
            ..Variable::scalar(name, ty)
        });
        Var {
            model: self.id,
            thread: None,
            id: self.program.globals.len() as u32 - 1,
            ty,
        }
    }

    /// A variable that all threads share, at first 0.
    #[track_caller]
    pub fn global(&mut self, name: &str, ty: Ty) -> Var {
        self.declare(name, ty, None, Init::All(0), Caller::caller())
    }

    #[track_caller]
    pub fn global_with(&mut self, name: &str, ty: Ty, first: impl Into<i128>) -> Var {
        let at = Caller::caller();
        let first = self.initial(first.into(), ty, at);
        self.declare(name, ty, None, Init::All(first), at)
    }

    /// A row of shared cells, at first 0.
    #[track_caller]
    pub fn array(&mut self, name: &str, ty: Ty, len: u32) -> Array {
        Array(self.declare(name, ty, Some(len), Init::All(0), Caller::caller()))
    }

    /// A row of shared cells with the values that they hold at first.
    #[track_caller]
    pub fn array_with(
        &mut self,
        name: &str,
        ty: Ty,
        first: impl IntoIterator<Item: Into<i128>>,
    ) -> Array {
        let at = Caller::caller();
        let cells = first.into_iter().map(Into::into);
        let cells: Vec<u64> = cells.map(|cell| self.initial(cell, ty, at)).collect();
        Array(self.declare(name, ty, Some(cells.len() as u32), Init::Cells(cells), at))
    }

    /// A lock that one thread can hold at a time, at first none.
    #[track_caller]
    pub fn mutex(&mut self, name: &str) -> Mutex {
        Mutex(self.declare(name, Ty::INT, None, Init::All(0), Caller::caller()))
    }

    /// A row of locks.
    #[track_caller]
    pub fn mutexes(&mut self, name: &str, len: u32) -> MutexArray {
        let at = Caller::caller();
        MutexArray(Array(self.declare(
            name,
            Ty::INT,
            Some(len),
            Init::All(0),
            at,
        )))
    }

    /// A channel that holds up to `capacity` messages with a value for each field. With capacity 0
    /// a send and a receive are one step of two threads.
    #[track_caller]
    pub fn channel(
        &mut self,
        name: &str,
        capacity: u32,
        fields: impl IntoIterator<Item = Ty>,
    ) -> Channel {
        self.name(name, Caller::caller());
        let fields = fields.into_iter();
        self.program.channels.push(ChannelDecl {
            name: name.into(),
            capacity,
            fields: fields.map(|ty| Field { ty, symbols: None }).collect(),
            span: None,
        });
        Channel {
            model: self.id,
            id: self.program.channels.len() as u32 - 1,
        }
    }

    /// Defines a thread, which the closure writes; see [`ProgramBuilder::start`].
    #[track_caller]
    pub fn thread(&mut self, name: &str, body: impl FnOnce(&mut ThreadBuilder<'_>)) -> Thread {
        let at = Caller::caller();
        self.name(name, at);
        let id = self.threads.len() as u32;
        self.program.templates.push(Template::default());
        self.threads.push(ThreadInfo {
            defined_at: at,
            written: None,
            is_run: false,
        });
        let mut thread = ThreadBuilder::new(self, id);
        body(&mut thread);
        thread.write(name, at);
        let model = self.id;
        Thread { model, id }
    }

    /// Defines the thread `main` and lets it run from the start.
    #[track_caller]
    pub fn main(&mut self, body: impl FnOnce(&mut ThreadBuilder<'_>)) {
        let main = self.thread("main", body);
        self.start(main);
    }

    /// Lets one thread of this definition run from the start.
    #[track_caller]
    pub fn start(&mut self, thread: Thread) {
        self.start_at(thread, Vec::new(), Caller::caller());
    }

    /// Lets one thread of this definition run from the start, with values for its parameters.
    #[track_caller]
    pub fn start_with(&mut self, thread: Thread, args: impl IntoIterator<Item: Into<i128>>) {
        let args = args.into_iter().map(Into::into).collect();
        self.start_at(thread, args, Caller::caller());
    }

    fn start_at(&mut self, thread: Thread, args: Vec<i128>, at: CallerRef) {
        let template = match self.template(thread) {
            Ok(template) => template,
            Err(kind) => return self.fault(at, kind),
        };
        let (name, expected) = (template.name.clone(), template.params as usize);
        if expected != args.len() {
            let given = args.len();
            let kind = FaultKind::WrongCount {
                name,
                expected,
                given,
            };
            return self.fault(at, kind);
        }
        let types: Vec<Ty> = template.locals.iter().map(|param| param.ty).collect();
        let args = args.into_iter().zip(types);
        let args = args.map(|(arg, ty)| self.initial(arg, ty, at)).collect();
        self.threads[thread.id as usize].is_run = true;
        self.program.initial.push(Instance {
            template: thread.template(),
            args,
            priority: 0,
        });
    }

    /// The most threads that there can be at a time. It is only needed where threads are spawned in
    /// loops; a spawn that would make one more is an error.
    pub fn max_threads(&mut self, threads: u32) {
        self.max_threads = Some(threads);
    }

    fn template(&self, thread: Thread) -> Result<&Template, FaultKind> {
        if thread.model != self.id {
            return Err(FaultKind::ForeignModel);
        }
        Ok(&self.program.templates[thread.id as usize])
    }

    fn written(&self, thread: Thread) -> Result<&Written, FaultKind> {
        self.template(thread)?;
        let written = self.threads[thread.id as usize].written.as_ref();
        written.ok_or(FaultKind::ForeignModel)
    }

    /// The program, or everything that is wrong with it.
    pub fn build(mut self) -> Result<Program, BuildError> {
        self.note_threads_that_never_run();
        if self.program.initial.is_empty() {
            self.fault(self.made_at, FaultKind::NothingStarted);
        }
        match (self.threads_in_all(), self.max_threads) {
            (Some(threads), None) => self.program.max_threads = threads,
            (None, None) => self.fault(self.made_at, FaultKind::UnboundedThreads),
            (threads, Some(limit)) => {
                self.program.max_threads = limit;
                if threads.is_none_or(|threads| threads > limit) {
                    self.guard_spawns(limit);
                }
            }
        }
        self.place_edges();
        if self.faults.is_empty()
            && let Err(ill_formed) = validate(&self.program)
        {
            self.fault(self.made_at, ill_formed.into());
        }
        match self.faults.is_empty() {
            true => Ok(self.program),
            false => Err(BuildError {
                faults: self.faults,
            }),
        }
    }

    fn note_threads_that_never_run(&mut self) {
        let spawned: Vec<Thread> = self.threads.iter().flat_map(ThreadInfo::spawned).collect();
        for thread in spawned {
            self.threads[thread.id as usize].is_run = true;
        }
        for (number, template) in self.program.templates.iter().enumerate() {
            let ThreadInfo {
                defined_at: at,
                is_run,
                ..
            } = self.threads[number];
            if !is_run {
                let kind = FaultKind::NeverRun(template.name.clone());
                self.faults.push(Fault { at, kind });
            }
        }
    }

    /// How many threads there can be in one run; none if there is no bound.
    fn threads_in_all(&self) -> Option<u32> {
        // By template: the thread and all that it spawns. A thread spawns only what was defined
        // before it.
        let mut in_all: Vec<Option<u32>> = Vec::new();
        for thread in &self.threads {
            let spawns = thread.written.iter().flat_map(|written| &written.spawns);
            let mut sum = Some(1u32);
            for spawn in spawns {
                let one = in_all.get(spawn.thread.id as usize).copied().flatten();
                let one = one.filter(|_| !spawn.in_loop);
                sum = sum.zip(one).and_then(|(sum, one)| sum.checked_add(one));
            }
            in_all.push(sum);
        }
        let started = self.program.initial.iter();
        let mut sums = started.map(|instance| in_all[instance.template.index()]);
        sums.try_fold(0u32, |sum, one| sum.checked_add(one?))
    }

    /// Makes it an error to spawn more threads than the limit, where the semantics would wait.
    fn guard_spawns(&mut self, limit: u32) {
        for (template, info) in self.program.templates.iter_mut().zip(&mut self.threads) {
            let Some(written) = &mut info.written else {
                continue;
            };
            for location in 0..template.locations.len() {
                for edge in 0..template.locations[location].edges.len() {
                    let spawn = &template.locations[location].edges[edge];
                    let is_spawn = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
                    if !spawn.effects.iter().any(is_spawn) {
                        continue;
                    }
                    let limit_expr = Expr::int(i64::from(limit));
                    let fits = Expr::binary(BinaryOp::ULt, Expr::ThreadCount, limit_expr);
                    let error = LocationId(template.locations.len() as u32);
                    let failure = Edge {
                        guard: spawn.guard.clone().and(fits.clone().negate()),
                        target: error,
                        text: spawn.text.clone(),
                        ..Edge::default()
                    };
                    let spawn = &mut template.locations[location].edges[edge];
                    spawn.guard = spawn.guard.clone().and(fits);
                    template.locations[location].edges.push(failure);
                    template.locations.push(Location {
                        error: Some(ErrorMark {
                            property: Property::UnreachCall,
                            message: format!("more than {limit} threads"),
                            resume: None,
                        }),
                        ..Location::default()
                    });
                    let caller = written.callers[location][edge];
                    written.callers[location].push(caller);
                    written.callers.push(Vec::new());
                }
            }
        }
    }

    /// Assigns to the edges their lines in the Rust program.
    fn place_edges(&mut self) {
        let mut sources = Sources::default();
        for (template, info) in self.program.templates.iter_mut().zip(&self.threads) {
            template.span = sources.span(info.defined_at);
            let callers = info.written.iter().flat_map(|written| &written.callers);
            for (location, callers) in template.locations.iter_mut().zip(callers) {
                for (edge, caller) in location.edges.iter_mut().zip(callers) {
                    edge.span = sources.span(caller);
                }
                location.span = location.edges.first().and_then(|edge| edge.span);
            }
        }
        self.program.info_mut().sources = sources.map;
    }
}

impl ThreadInfo {
    fn spawned(&self) -> impl Iterator<Item = Thread> + '_ {
        let spawns = self.written.iter().flat_map(|written| &written.spawns);
        spawns.map(|spawn| spawn.thread)
    }
}

//! One body of code for each kind of thread.
//!
//! An automaton of the IR has no calls. LLVM has inlined what it could; the rest are recursive
//! functions, calls through pointers, atomic sections and the library. [`Flattener`] copies
//! them all into one [`Body`] of blocks:
//!
//! - a recursive function is copied up to a given depth; where it would recurse deeper the run
//!   ends at a *bound*, and a verdict that depends on it says so;
//! - a call through a pointer becomes a choice between all functions of that type whose address
//!   is taken somewhere;
//! - library functions that are loops over memory come from the runtime ([`crate::runtime`])
//!   and are copied like the program's own; the others are composed of loads, stores and a few
//!   primitive actions ([`Kind::Library`]) whose semantics is in [`crate::actions`].

mod assembly;
mod calls;
mod cancellation;
pub mod copying;
mod cpp;
mod exceptions;
mod floats;
mod ignored;
mod instructions;
mod library;
mod library_names;
mod results;
mod signatures;
mod variadic;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use mover_ir::expr::{mask, resize, sign_extend};
use mover_ir::program::{BoundKind, Property};

use crate::llvm::thread_name;
use crate::objects::MutexFields;
use crate::ssa::*;
pub use cancellation::CANCELLED;
use cancellation::{Arrival, Cleanup, Handler, cancels};
use cpp::Through;
pub use cpp::{is_stream_output, is_table};
use exceptions::{Landed, Unwinding};
pub use library_names::{is_output, is_sleep, plain_name};
use results::{means, only_compared_with_zero};
pub use signatures::is_known;

/// The code that threads of one kind run.
#[derive(Clone, Debug)]
pub struct Body {
    pub name: String,
    pub is_main: bool,
    /// Parameters are the first values.
    pub params: usize,
    pub values: Vec<ValueInfo>,
    pub blocks: Vec<Block>,
    pub entry: BlockId,
    pub loc: Option<Loc>,
}

/// What is wrong with a program, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// Names the kind of error; each has a page in the guide.
    pub code: &'static str,
    pub message: String,
    pub loc: Option<Loc>,
    pub help: Option<String>,
}

impl Problem {
    pub fn new(message: impl Into<String>, loc: Option<Loc>) -> Problem {
        Problem {
            code: "C010",
            message: message.into(),
            loc,
            help: None,
        }
    }

    pub fn code(mut self, code: &'static str) -> Problem {
        self.code = code;
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// What stands for the problem in a program that may not reach it. Others, such as a program
    /// that is too large, are not about one place.
    pub fn bound(&self) -> Option<BoundKind> {
        BoundKind::ALL
            .into_iter()
            .find(|kind| kind.code() == Some(self.code))
    }
}

pub struct Limits {
    /// Maximum recursion depth of a function.
    pub recursion: usize,
    pub havoc_externals: bool,
    /// Whether it is checked that all memory is freed when the program ends.
    pub wants_cleanup: bool,
    /// Whether signed overflows are violations.
    pub wants_overflow: bool,
}

/// Most instructions of one body.
const LARGEST: usize = 400_000;

/// The code of the error that a body has more.
pub const TOO_LARGE: &str = "C014";

/// Most errors that are told at once.
const MOST_PROBLEMS: usize = 20;

/// What flattening leaves to say.
#[derive(Default)]
pub struct Notes {
    /// External functions whose result is any value.
    pub havocked: BTreeMap<String, Option<Loc>>,
    /// Library features that change how others are modelled.
    pub uses_mutex_kinds: bool,
    /// Whether mutexes can be robust: they tell that their owner has ended.
    pub uses_robust_mutexes: bool,
    pub uses_join_results: bool,
    pub has_keys: bool,
    pub ignored_attributes: bool,
    /// The first call that takes memory from the heap.
    pub allocates: Option<Option<Loc>>,
    /// Whether memory is given back, so that its address may be used again.
    pub frees: bool,
    /// Where memory is printed, if it is.
    pub prints: Option<Option<Loc>>,
    /// Where the program asks how many processors there are, or how large pages are.
    pub machine: Option<Option<Loc>>,
    /// Where it reads a clock of C++.
    pub clock: Option<Option<Loc>>,
    /// Where it uses a hash table of C++.
    pub hash_table: Option<Option<Loc>>,
    /// Where it reads an environment variable.
    pub environment: Option<Option<Loc>>,
    /// Where it sets what a signal does.
    pub signals: Option<Option<Loc>>,
}

impl Notes {
    pub fn mutex_fields(&self) -> MutexFields {
        MutexFields {
            have_kinds: self.uses_mutex_kinds,
            are_robust: self.uses_robust_mutexes,
        }
    }
}

pub struct Flattener<'m> {
    module: &'m Module,
    limits: &'m Limits,
    pub notes: Notes,
    /// Why the program is not supported, if it is not.
    problems: Vec<Problem>,
    /// Functions whose address is taken.
    address_taken: Vec<FunctionId>,
    /// Those of them whose address can be anywhere: in memory, in a parameter. The others are only
    /// given to the library to start threads with, and no pointer of the program points to them.
    pointed_to: Vec<FunctionId>,
    values: Vec<ValueInfo>,
    blocks: Vec<Block>,
    /// The types of variables on the stack.
    allocas: HashMap<ValueId, Layout>,
    /// Addresses that are others plus a constant.
    addresses: HashMap<ValueId, (Operand, i64)>,
    /// Numbers that are multiples of a constant.
    multiples: HashMap<ValueId, u64>,
    stack: Vec<FunctionId>,
    size: usize,
    is_main: bool,
    /// Whether some thread-specific data has a destructor.
    has_destructors: bool,
    /// By function: the values that no instruction reads.
    ignored: HashMap<FunctionId, Rc<HashSet<ValueId>>>,
    /// Whether the result of the call that is being copied is only compared with 0.
    only_meaning: bool,
    /// Whether the program has thread cancellation.
    cancels: bool,
    /// Which cleanup handlers an exit runs at the instruction that is being copied.
    cleanup: Cleanup,
    handlers: Vec<Handler>,
    /// The variables on the stack that are alive at the instruction that is being copied, where there
    /// are handlers.
    alive: BTreeSet<ValueId>,
    has_handlers: bool,
    /// Where exceptions go, the innermost last.
    unwindings: Vec<Unwinding>,
    /// The types of exceptions that are thrown.
    thrown: Vec<GlobalId>,
    /// Functions in tables of virtual functions.
    virtual_functions: Vec<cpp::VirtualFunction>,
}

/// A function that is being copied.
struct Frame {
    /// Its parameters.
    args: Vec<Operand>,
    first_value: usize,
    /// Blocks of the copy: where each begins, and where its end has come to be.
    begins: Vec<BlockId>,
    ends: Vec<BlockId>,
    /// Instructions of the runtime stand where the runtime was called.
    call_loc: Option<Loc>,
    /// Where returns go; none for the root.
    returns_to: Option<BlockId>,
    returned: Vec<(Operand, BlockId)>,
    /// Where the arguments after the declared ones are.
    rest: Option<Operand>,
    /// Objects of the frame, whose life ends with it.
    objects: Vec<Operand>,
    /// Variables of the original whose life is marked in its code.
    marked: HashSet<ValueId>,
    /// Values of the copy that are constant.
    constants: HashMap<ValueId, Operand>,
    /// Values of the original that nobody looks at.
    ignored: Rc<HashSet<ValueId>>,
    /// By block of the original: the edges to it, where there are cleanup handlers.
    arrivals: Vec<Vec<Arrival>>,
    /// By block of the original: which cleanup handlers an exit runs there.
    cleanup: Vec<Option<Cleanup>>,
    /// Blocks that only exits of the thread come to.
    landings: Vec<BlockId>,
    /// The ways to landing pads.
    landed: Vec<Landed>,
    /// By landing pad of the original: the values that come there, exception and type.
    pads: HashMap<BlockId, (ValueId, ValueId)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    No,
    Waiting,
    Copied,
}

type Flat<T> = Result<T, Problem>;

impl<'m> Flattener<'m> {
    pub fn new(module: &'m Module, limits: &'m Limits) -> Self {
        let mut address_taken = Vec::new();
        let mut pointed_to = Vec::new();
        let mut note = |operand: &Operand| note_functions(operand, &mut pointed_to);
        let is_table = |global: &&Global| is_table(&global.name);
        for global in module.globals.iter().filter(|global| !is_table(global)) {
            if let Some(Initial::Bytes { addresses, .. }) = &global.initial {
                addresses.iter().for_each(|(_, operand)| note(operand));
            }
        }
        for function in &module.functions {
            for block in &function.blocks {
                for inst in &block.insts {
                    let start = started_directly(module, &inst.kind);
                    address_taken.extend(start.map(|(_, id)| id));
                    let at_start = start.map(|(operand, _)| operand);
                    let operands = inst.kind.operands().into_iter();
                    operands
                        .filter(|&operand| {
                            !at_start.is_some_and(|start| std::ptr::eq(start, operand))
                        })
                        .for_each(&mut note);
                }
                match &block.end {
                    Terminator::Return(Some(value)) => note(value),
                    Terminator::Branch { condition, .. } => note(condition),
                    Terminator::Switch { value, .. } => note(value),
                    _ => {}
                }
            }
        }
        pointed_to.retain(|&id| !module.functions[id].callback.is_only);
        address_taken.extend(&pointed_to);
        for functions in [&mut address_taken, &mut pointed_to] {
            functions.sort_unstable();
            functions.dedup();
        }
        let is_robust = module.find("pthread_mutexattr_setrobust").is_some();
        Flattener {
            module,
            limits,
            notes: Notes {
                uses_robust_mutexes: is_robust,
                uses_mutex_kinds: is_robust,
                ..Notes::default()
            },
            problems: Vec::new(),
            address_taken,
            pointed_to,
            values: Vec::new(),
            blocks: Vec::new(),
            allocas: HashMap::new(),
            addresses: HashMap::new(),
            multiples: HashMap::new(),
            stack: Vec::new(),
            size: 0,
            is_main: false,
            has_destructors: has_destructors(module),
            ignored: HashMap::new(),
            only_meaning: false,
            cancels: cancels(module),
            cleanup: Cleanup::default(),
            handlers: Vec::new(),
            alive: BTreeSet::new(),
            has_handlers: module.find("__pthread_register_cancel").is_some(),
            unwindings: Vec::new(),
            thrown: exceptions::thrown(module),
            virtual_functions: cpp::virtual_functions(module),
        }
    }

    /// Notes a reason why the program is not supported. Functions are copied more than once, and have
    /// the same problems each time.
    fn note_problem(&mut self, problem: Problem) {
        let is_same =
            |other: &Problem| other.loc == problem.loc && other.message == problem.message;
        if self.problems.len() < MOST_PROBLEMS && !self.problems.iter().any(is_same) {
            self.problems.push(problem);
        }
    }

    /// Everything in the bodies so far that is not supported.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// Functions that a thread can start with, where the pointer is not constant.
    pub fn start_routines(&self) -> Vec<FunctionId> {
        let fits = |function: &Function| {
            let shapes: Vec<&Shape> = (0..function.params)
                .map(|param| &function.values[param].shape)
                .collect();
            matches!(shapes[..], [shape] if shape.len() == 1) && function.return_shape.len() <= 1
        };
        let taken = self.address_taken.iter().copied();
        taken
            .filter(|&id| {
                let function = &self.module.functions[id];
                fits(function) && !function.is_runtime && !function.blocks.is_empty()
            })
            .collect()
    }

    /// The body of threads that start with this function.
    pub fn body(&mut self, root: FunctionId, is_main: bool) -> Flat<Body> {
        let module = self.module;
        let function = &module.functions[root];
        self.values = function.values[..function.params].to_vec();
        self.blocks.clear();
        self.allocas.clear();
        self.addresses.clear();
        self.multiples.clear();
        self.stack.clear();
        self.size = 0;
        self.is_main = is_main;
        self.cleanup = Cleanup::default();
        self.handlers.clear();
        self.alive.clear();
        self.unwindings.clear();
        let args = (0..function.params).map(Operand::Value).collect();
        let entry = self.new_block();
        let mut at = entry;
        if is_main {
            for &constructor in &module.constructors {
                at = self.call(at, constructor, Vec::new(), None, None)?;
            }
        }
        let begin = self.copy(root, args, None, None)?.0;
        self.blocks[at].end = Terminator::Jump(begin);
        Ok(Body {
            name: thread_name(&function.name),
            is_main,
            params: function.params,
            values: std::mem::take(&mut self.values),
            blocks: std::mem::take(&mut self.blocks),
            entry,
            loc: function.loc,
        })
    }

    /// The results that a function never looks at: they are used only for what is printed, if at
    /// all. Inputs among them are no choice.
    fn ignored_values(&mut self, id: FunctionId) -> Rc<HashSet<ValueId>> {
        let module = self.module;
        let wants_overflow = self.limits.wants_overflow;
        let compute = || {
            Rc::new(ignored::values(
                module,
                &module.functions[id],
                wants_overflow,
            ))
        };
        Rc::clone(self.ignored.entry(id).or_insert_with(compute))
    }

    fn new_block(&mut self) -> BlockId {
        self.blocks.push(Block {
            insts: Vec::new(),
            end: Terminator::Unreachable,
            end_loc: None,
        });
        self.blocks.len() - 1
    }

    fn new_value(&mut self, shape: Shape, name: &str) -> ValueId {
        self.values.push(ValueInfo {
            shape,
            name: name.to_string(),
            ..ValueInfo::default()
        });
        self.values.len() - 1
    }

    fn emit(&mut self, at: BlockId, result: Option<ValueId>, kind: Kind, loc: Option<Loc>) {
        self.size += 1;
        if let Some(id) = result {
            self.note_address(id, &kind);
        }
        if let (
            true,
            Kind::Lifetime {
                pointer: Operand::Value(id),
                begins,
            },
        ) = (self.has_handlers, &kind)
        {
            match begins {
                true => self.alive.insert(*id),
                false => self.alive.remove(id),
            };
        }
        self.blocks[at].insts.push(Inst { result, kind, loc });
    }

    /// Emits something that yields one value.
    fn value(&mut self, at: BlockId, width: u8, kind: Kind, loc: Option<Loc>) -> Operand {
        let id = self.new_value(vec![width], "");
        self.emit(at, Some(id), kind, loc);
        Operand::Value(id)
    }

    fn end(&mut self, at: BlockId, end: Terminator, loc: Option<Loc>) {
        self.blocks[at].end = end;
        self.blocks[at].end_loc = loc;
    }

    /// Ends a block with two new ones: where the condition holds and where it does not.
    fn branch(&mut self, at: BlockId, condition: Operand, loc: Option<Loc>) -> (BlockId, BlockId) {
        let (then, otherwise) = (self.new_block(), self.new_block());
        let end = Terminator::Branch {
            condition,
            then,
            otherwise,
        };
        self.end(at, end, loc);
        (then, otherwise)
    }

    fn binary(
        &mut self,
        at: BlockId,
        kind: BinaryKind,
        lhs: Operand,
        rhs: Operand,
        width: u8,
        loc: Option<Loc>,
    ) -> Operand {
        let nsw = false;
        let kind = Kind::Pure(Pure::Binary {
            kind,
            nsw,
            lhs,
            rhs,
        });
        self.value(at, width, kind, loc)
    }

    fn fail(
        &mut self,
        at: BlockId,
        property: Property,
        message: String,
        loc: Option<Loc>,
    ) -> BlockId {
        self.end(at, Terminator::Fail { property, message }, loc);
        at
    }

    fn set_lifetime(&mut self, at: BlockId, object: &Operand, begins: bool, loc: Option<Loc>) {
        let pointer = object.clone();
        self.emit(at, None, Kind::Lifetime { pointer, begins }, loc);
    }

    /// Runs the destructors of thread-specific data, if there are any.
    fn leave_thread(&mut self, at: BlockId, loc: Option<Loc>) -> Flat<BlockId> {
        if self.limits.wants_cleanup && self.is_main {
            let message = "`pthread_exit` in `main` where `memory-cleanup` is checked";
            return Err(Problem::new(message, loc)
                .code("C012")
                .help("join the threads and return from `main`"));
        }
        let mut at = self.run_thread_exits(at, loc)?;
        if self.has_destructors {
            let before = self.begin_exit();
            let next = self.runtime(at, "leave_thread", Vec::new(), None, loc);
            self.cleanup = before;
            at = next?;
        }
        if self.notes.uses_robust_mutexes && matches!(self.blocks[at].end, Terminator::Unreachable)
        {
            at = self.runtime(at, "leave_mutexes", Vec::new(), None, loc)?;
        }
        Ok(at)
    }

    /// Before the process ends.
    fn leave_process(
        &mut self,
        mut at: BlockId,
        status: Operand,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let is_open =
            |flat: &Self, at: BlockId| matches!(flat.blocks[at].end, Terminator::Unreachable);
        at = self.run_thread_exits(at, loc)?;
        // A run that met something unsupported has ended already.
        if self.module.find("__mover_run_handlers").is_some() && is_open(self, at) {
            at = self.runtime(at, "run_handlers", vec![status], None, loc)?;
        }
        for &destructor in &self.module.destructors {
            if is_open(self, at) {
                at = self.call(at, destructor, Vec::new(), None, loc)?;
            }
        }
        if self.limits.wants_cleanup && is_open(self, at) {
            self.primitive(at, "check_cleanup", Vec::new(), Vec::new(), loc);
        }
        Ok(at)
    }

    /// A variable in an operand that no file defines.
    fn declared(&self, operand: &Operand) -> Option<&str> {
        match operand {
            Operand::Global(id) => {
                let global = &self.module.globals[*id];
                global.initial.is_none().then_some(global.name.as_str())
            }
            Operand::Pure(pure) => {
                let mut operands = pure.operands().into_iter();
                operands.find_map(|operand| self.declared(operand))
            }
            Operand::Aggregate(parts) => parts.iter().find_map(|part| self.declared(part)),
            _ => None,
        }
    }

    fn is_alloca(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Value(id) if self.allocas.contains_key(id))
    }

    fn resized(&mut self, at: BlockId, arg: Operand, width: u8, loc: Option<Loc>) -> Operand {
        let extension = Extension::Zero;
        let kind = Kind::Pure(Pure::Resize {
            arg,
            width,
            extension,
        });
        self.value(at, width, kind, loc)
    }

    fn primitive(
        &mut self,
        at: BlockId,
        name: &str,
        args: Vec<Operand>,
        shape: Shape,
        loc: Option<Loc>,
    ) {
        let kind = Kind::Library {
            name: name.into(),
            args,
            arg_shapes: Vec::new(),
            shape,
        };
        self.emit(at, None, kind, loc);
    }
}

/// Whether a key for thread-specific data is made with a destructor.
fn has_destructors(module: &Module) -> bool {
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    blocks.flat_map(|block| &block.insts).any(|inst| {
        let Kind::Call {
            callee: Callee::Function(id),
            args,
            ..
        } = &inst.kind
        else {
            return false;
        };
        let name = module.functions[*id].name.as_str();
        matches!(name, "pthread_key_create" | "tss_create") && !is_null(args.get(1))
    })
}

/// The function that a call starts a thread with, where that is constant, and its operand.
fn started_directly<'k>(module: &Module, kind: &'k Kind) -> Option<(&'k Operand, FunctionId)> {
    let Kind::Call {
        callee: Callee::Function(callee),
        args,
        ..
    } = kind
    else {
        return None;
    };
    let callee = &module.functions[*callee];
    let index = match callee.name.as_str() {
        "pthread_create" => 2,
        "thrd_create" => 1,
        _ => return None,
    };
    // A program may have functions of its own with these names.
    if !callee.blocks.is_empty() {
        return None;
    }
    match args.get(index) {
        Some(operand @ Operand::Function(id)) => Some((operand, *id)),
        _ => None,
    }
}

fn is_null(operand: Option<&Operand>) -> bool {
    matches!(operand, Some(Operand::Int { value: 0, .. }))
}

/// Whether a value is wider than a byte and no power of two, as units of bit-fields
/// can be: the machine accesses it in pieces.
fn has_odd_width(shape: &[u8]) -> bool {
    matches!(shape, [width] if *width > 8 && !matches!(width, 16 | 32 | 64))
}

/// Whether a value is a structure of words of 64 bits, which lie one behind the other.
fn are_words(shape: &[u8]) -> bool {
    shape.len() > 1 && shape.iter().all(|&width| width == 64)
}

/// The pieces of such a value: byte and bits of each.
fn pieces(width: u8) -> Vec<(i64, u8)> {
    let bytes = i64::from(width.div_ceil(8));
    let mut at = 0;
    let mut pieces = Vec::new();
    while at < bytes {
        let piece = [4, 2, 1].into_iter().find(|piece| at + piece <= bytes);
        let piece = piece.unwrap_or(1);
        pieces.push((at, 8 * piece as u8));
        at += piece;
    }
    pieces
}

fn displaced(pointer: &Operand, offset: i64) -> Operand {
    if offset == 0 {
        return pointer.clone();
    }
    Operand::Pure(Box::new(Pure::Gep {
        base: pointer.clone(),
        offset,
        terms: Vec::new(),
        moves_base: false,
    }))
}

fn marked_variables(function: &Function) -> HashSet<ValueId> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let marked = insts.filter_map(|inst| match &inst.kind {
        Kind::Lifetime {
            pointer: Operand::Value(id),
            begins: true,
        } => Some(*id),
        _ => None,
    });
    marked.collect()
}

impl Frame {
    fn number(&self, id: ValueId, params: usize) -> ValueId {
        self.first_value + id - params
    }

    fn rename(&self, operand: &mut Operand, params: usize) {
        match operand {
            Operand::Value(id) if *id < params => {
                *operand = match self.args.get(*id) {
                    Some(arg) => arg.clone(),
                    None => Operand::Unsupported("a missing argument".into()),
                };
            }
            Operand::Value(id) => {
                *id = self.number(*id, params);
                if let Some(constant) = self.constants.get(id) {
                    *operand = constant.clone();
                }
            }
            Operand::Pure(pure) => {
                for operand in pure.operands_mut() {
                    self.rename(operand, params);
                }
            }
            Operand::Aggregate(parts) => {
                for part in parts {
                    self.rename(part, params);
                }
            }
            _ => {}
        }
    }
}

/// The blocks of a function, each before those that follow it, but for loops.
fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut seen = vec![false; function.blocks.len()];
    let mut order = Vec::new();
    let mut work = vec![(0, false)];
    while let Some((block, is_done)) = work.pop() {
        if is_done {
            order.push(block);
            continue;
        }
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        work.push((block, true));
        work.extend(
            exceptions::successors(&function.blocks[block])
                .into_iter()
                .map(|next| (next, false)),
        );
    }
    order.reverse();
    order
}

/// The result of a computation with constants, where nothing can go wrong in it.
pub fn fold(pure: &Pure) -> Option<Operand> {
    let int = |operand: &Operand| match operand {
        Operand::Int { value, width } => Some((*value, *width)),
        _ => None,
    };
    let (value, width) = match pure {
        Pure::Copy(arg) => int(arg)?,
        Pure::Binary { kind, lhs, rhs, .. } => {
            let ((a, width), (b, _)) = (int(lhs)?, int(rhs)?);
            let signed = |value| i128::from(sign_extend(value, width));
            let exact = match kind {
                BinaryKind::And => signed(a & b),
                BinaryKind::Or => signed(a | b),
                BinaryKind::Xor => signed(a ^ b),
                BinaryKind::Add => signed(a) + signed(b),
                BinaryKind::Sub => signed(a) - signed(b),
                BinaryKind::Mul => signed(a) * signed(b),
                _ => return None,
            };
            let result = exact as u64 & mask(width);
            // What overflows is left as it is, to be inspected later.
            if signed(result) != exact {
                return None;
            }
            (result, width)
        }
        Pure::Compare {
            predicate,
            lhs,
            rhs,
        } => {
            let ((a, width), (b, _)) = (int(lhs)?, int(rhs)?);
            let signed = |value| sign_extend(value, width);
            let holds = match predicate {
                Predicate::Eq => a == b,
                Predicate::Ne => a != b,
                Predicate::Ult => a < b,
                Predicate::Ule => a <= b,
                Predicate::Ugt => a > b,
                Predicate::Uge => a >= b,
                Predicate::Slt => signed(a) < signed(b),
                Predicate::Sle => signed(a) <= signed(b),
                Predicate::Sgt => signed(a) > signed(b),
                Predicate::Sge => signed(a) >= signed(b),
            };
            (u64::from(holds), 1)
        }
        Pure::Resize {
            arg,
            width,
            extension,
        } => {
            let (value, from) = int(arg)?;
            let signed = *extension == Extension::Sign;
            (resize(value, from, *width, signed), *width)
        }
        _ => return None,
    };
    Some(Operand::Int { value, width })
}

fn unsupported(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Unsupported(what) => Some(what.clone()),
        Operand::Pure(pure) => pure.operands().into_iter().find_map(unsupported),
        Operand::Aggregate(parts) => parts.iter().find_map(unsupported),
        _ => None,
    }
}

fn note_functions(operand: &Operand, out: &mut Vec<FunctionId>) {
    match operand {
        Operand::Function(id) => out.push(*id),
        Operand::Pure(pure) => pure
            .operands()
            .into_iter()
            .for_each(|operand| note_functions(operand, out)),
        Operand::Aggregate(parts) => parts.iter().for_each(|part| note_functions(part, out)),
        _ => {}
    }
}

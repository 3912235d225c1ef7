//! The part of LLVM IR that C needs, as plain data.
//!
//! [`crate::llvm`] reads LLVM's own structures once and produces a [`Module`]; all later passes
//! work on it and do not depend on LLVM. Constructs that the reader does not understand are
//! kept as `Unsupported` with their text, and are errors only if a thread can reach them.

use mover_ir::expr::mask;
use mover_ir::program::PointerLayout;

/// A value of a function: a parameter or the result of an instruction.
pub type ValueId = usize;
pub type BlockId = usize;
pub type GlobalId = usize;
pub type FunctionId = usize;

/// The scalars of a first-class value: the width of each in bits. An
/// integer or a pointer has one, a structure returned by value several.
pub type Shape = Vec<u8>;

/// A place in the source: file by number in [`Module::files`], line and column from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Loc {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// How a type lies in memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Layout {
    Scalar {
        bytes: u64,
    },
    Array {
        element: Box<Layout>,
        count: u64,
        stride: u64,
    },
    Struct {
        name: String,
        /// Offset and type of each field.
        fields: Vec<(u64, Layout)>,
        bytes: u64,
    },
    /// A type that no cell can hold (`long double`, a vector).
    Opaque {
        bytes: u64,
    },
}

impl Layout {
    pub fn bytes(&self) -> u64 {
        match self {
            Layout::Scalar { bytes } | Layout::Struct { bytes, .. } | Layout::Opaque { bytes } => {
                *bytes
            }
            Layout::Array { count, stride, .. } => count * stride,
        }
    }
}

/// What the debug information says of a range of bytes of a variable.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DebugType {
    /// By byte offset, array elements only once (the first).
    pub fields: Vec<DebugField>,
}

impl DebugType {
    /// Fields beyond these are left out.
    pub const MOST_FIELDS: usize = 512;
}

#[derive(Clone, PartialEq, Debug)]
pub struct DebugField {
    /// Offset of the field with all array indices 0.
    pub offset: u64,
    pub bytes: u64,
    /// `.next`, `.left.count`; empty for the variable itself.
    pub path: String,
    pub signed: bool,
    pub is_pointer: bool,
    /// Bytes from the offset on that belong to it, with all elements if it is in an array.
    pub extent: u64,
    /// The names of the values of an enumeration.
    pub enumerators: Vec<(i64, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryKind {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Predicate {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    Zero,
    Sign,
}

/// What can be computed without memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Pure {
    Binary {
        kind: BinaryKind,
        /// Signed overflow is undefined.
        nsw: bool,
        lhs: Operand,
        rhs: Operand,
    },
    Compare {
        predicate: Predicate,
        lhs: Operand,
        rhs: Operand,
    },
    /// A change of width; also between integers and pointers.
    Resize {
        arg: Operand,
        width: u8,
        extension: Extension,
    },
    Select {
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    },
    /// An address: base, bytes, and for each variable index the bytes of one element.
    Gep {
        base: Operand,
        offset: i64,
        terms: Vec<(Operand, i64)>,
        /// Whether the first term moves the pointer itself, and not within an array
        /// that it is known to point to.
        moves_base: bool,
    },
    /// Some scalars of a value of several.
    Extract {
        from: Operand,
        first: usize,
        count: usize,
    },
    Insert {
        into: Operand,
        value: Operand,
        first: usize,
    },
    Copy(Operand),
    /// Result and overflow bit.
    WithOverflow {
        kind: BinaryKind,
        signed: bool,
        lhs: Operand,
        rhs: Operand,
    },
    Abs(Operand),
    MinMax {
        predicate: Predicate,
        lhs: Operand,
        rhs: Operand,
    },
    /// Population count, leading or trailing zeros, byte order.
    Bits {
        kind: BitsKind,
        arg: Operand,
        /// Whether the result is defined if the argument is 0.
        takes_zero: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BitsKind {
    Population,
    LeadingZeros,
    TrailingZeros,
    ByteSwap,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatKind {
    Add,
    Sub,
    Mul,
    Div,
    /// A bit for each outcome that makes it true: equal, greater, less, not comparable.
    Compare {
        outcomes: u8,
    },
    FromSigned,
    FromUnsigned,
    ToSigned,
    ToUnsigned,
    /// Between the two formats.
    Convert,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Operand {
    Value(ValueId),
    Int {
        value: u64,
        width: u8,
    },
    Global(GlobalId),
    Function(FunctionId),
    /// Not initialised.
    Undef(Shape),
    /// A constant expression.
    Pure(Box<Pure>),
    Aggregate(Vec<Operand>),
    Unsupported(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RmwKind {
    Exchange,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    Function(FunctionId),
    Indirect(Operand),
    /// A function of the table of an object of C++; or, without a place there, one that may also be
    /// from elsewhere.
    Virtual(Operand, Option<Slot>),
    /// One of the functions that were registered with the library to be called here; by group
    /// ([`Callback::groups`]).
    Registered(Operand, usize),
}

/// How a function can be called by the library that it is registered with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Callback {
    /// The kinds of calls that can reach it, by number.
    pub groups: Vec<usize>,
    /// Whether its address is used for nothing else.
    pub is_only: bool,
}

/// A place in a table of virtual functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Bytes behind what objects point to.
    pub offset: i64,
    /// The class whose table it is, or one that is derived from it; by number in [`Module::classes`].
    pub class: Option<usize>,
}

/// A class of C++ with virtual functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// The name of its description's text, `_ZTS` and the mangled name, if other files can see it.
    pub name: String,
    /// The tables of its objects and of those derived from it.
    pub points: Vec<AddressPoint>,
}

/// Where objects of a class point to in a table of virtual functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressPoint {
    pub table: GlobalId,
    pub offset: u64,
}

/// What a landing pad does with an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clause {
    /// Catches what has this type, by the global that describes it.
    Catch(GlobalId),
    CatchAll,
    /// An old exception specification.
    Filter,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    Pure(Pure),
    Phi(Vec<(Operand, BlockId)>),
    Load {
        pointer: Operand,
        shape: Shape,
        /// Whether other threads may access the same memory at the same time.
        atomic: bool,
    },
    Store {
        pointer: Operand,
        value: Operand,
        shape: Shape,
        atomic: bool,
    },
    Rmw {
        kind: RmwKind,
        pointer: Operand,
        value: Operand,
        width: u8,
    },
    CompareExchange {
        pointer: Operand,
        expected: Operand,
        new: Operand,
        width: u8,
        /// Whether it may fail although the values are equal.
        is_weak: bool,
    },
    Alloca {
        layout: Layout,
        count: Operand,
        debug: DebugType,
    },
    Call {
        callee: Callee,
        args: Vec<Operand>,
        /// By argument: the structure is passed by value through this pointer.
        by_value: Vec<Option<u64>>,
        /// Alignments of pointer arguments, where known.
        shape: Shape,
        /// The shapes of the arguments.
        arg_shapes: Vec<Shape>,
        /// Where the function goes on if the call ends with an exception; none if it ends, too.
        unwind: Option<BlockId>,
    },
    /// Where a function goes on after an exception: the exception and the number of the type that
    /// it is caught as, 0 if it is not.
    LandingPad(Vec<Clause>),
    /// Floating point; the widths of arguments and result.
    Float {
        kind: FloatKind,
        args: Vec<Operand>,
        from: u8,
        to: u8,
    },
    /// Inline assembly, as LLVM writes it.
    Assembly {
        code: String,
        constraints: String,
        args: Vec<Operand>,
        arg_shapes: Vec<Shape>,
        shape: Shape,
    },
    /// Begin and end of an alloca's life, for functions that LLVM has inlined.
    Lifetime {
        pointer: Operand,
        begins: bool,
    },
    /// A number that the code does not determine.
    Unsupported(String),

    // What follows does not come from LLVM but from flattening.
    /// A function of the library that is modelled; by name.
    Library {
        name: String,
        args: Vec<Operand>,
        arg_shapes: Vec<Shape>,
        shape: Shape,
    },
    AtomicBegin,
    AtomicEnd,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// Has a place in [`Function::values`] if it yields something.
    pub result: Option<ValueId>,
    pub kind: Kind,
    pub loc: Option<Loc>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    Return(Option<Operand>),
    Jump(BlockId),
    Branch {
        condition: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    Switch {
        value: Operand,
        cases: Vec<(u64, BlockId)>,
        default: BlockId,
    },
    Unreachable,
    Unsupported(String),
    /// An exception that was not caught goes on.
    Resume(Operand),

    // From flattening.
    /// An error with the words for it.
    Fail {
        property: mover_ir::program::Property,
        message: String,
    },
    /// The whole program ends here without a verdict on what would follow.
    EndProcess,
    /// An assumption fails: what led here is no run of the program.
    Infeasible,
    /// The thread ends; its result.
    EndThread(Operand),
    /// The run is not followed further, and why.
    Bound {
        kind: mover_ir::program::BoundKind,
        message: String,
    },
}

impl Terminator {
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(to) => vec![*to],
            Terminator::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                let mut all: Vec<BlockId> = cases.iter().map(|(_, block)| *block).collect();
                all.push(*default);
                all
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub end: Terminator,
    pub end_loc: Option<Loc>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ValueInfo {
    pub shape: Shape,
    /// The C variable that holds it, or a name that LLVM gave it.
    pub name: String,
    /// Whether the name is one of the source.
    pub is_variable: bool,
    pub signed: bool,
    /// Whether the variable is a number in the source, so that it is not shown as an address.
    pub is_number: bool,
    /// The names of the values, if it is an enumeration.
    pub enumerators: Vec<(i64, String)>,
    /// What the variable points to, if it is a pointer to something known.
    pub pointee: Option<Pointee>,
}

/// The type that a pointer of the source points to.
#[derive(Clone, PartialEq, Debug)]
pub struct Pointee {
    pub name: String,
    pub bytes: u64,
    pub debug: DebugType,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    pub name: String,
    /// Parameters are the first values.
    pub params: usize,
    pub values: Vec<ValueInfo>,
    /// Empty for a declaration.
    pub blocks: Vec<Block>,
    pub return_shape: Shape,
    pub is_variadic: bool,
    /// Sizes of parameters that are structures passed by value.
    pub by_value: Vec<Option<u64>>,
    /// Part of the runtime library that comes with mover.
    pub is_runtime: bool,
    /// Stands in a header of the system: its steps are shown where the program calls it.
    pub is_system: bool,
    pub callback: Callback,
    pub loc: Option<Loc>,
}

/// A constant value of a global.
#[derive(Clone, PartialEq, Debug)]
pub enum Initial {
    Zero,
    /// Bytes, and addresses in it: offset and operand.
    Bytes {
        bytes: Vec<u8>,
        addresses: Vec<(u64, Operand)>,
    },
    Unsupported(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    pub name: String,
    pub layout: Layout,
    pub debug: DebugType,
    /// None for a variable that is only declared.
    pub initial: Option<Initial>,
    pub thread_local: bool,
    pub is_constant: bool,
    pub loc: Option<Loc>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    pub pointer_bytes: u64,
    pub is_x86: bool,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub classes: Vec<Class>,
    /// Functions to run before `main`, in order.
    pub constructors: Vec<FunctionId>,
    /// Functions to run where the process ends by itself.
    pub destructors: Vec<FunctionId>,
    /// Names of the source files.
    pub files: Vec<String>,
    /// A place with an atomic access weaker than sequentially consistent.
    pub weak_ordering: Option<Option<Loc>>,
    /// The first place where the stack is given back what arrays of variable length took of it.
    pub lasting_arrays: Option<Option<Loc>>,
    /// The first place where the program looks whether a thread, a lock or a key could be made.
    pub awaited_failure: Option<Option<Loc>>,
    /// The first place where an address is taken for a number or a number for an address.
    pub numbered_addresses: Option<Option<Loc>>,
    /// The first line of assembly outside of functions.
    pub file_scope_assembly: Option<String>,
    /// Whether the program itself sets fields of a mutex, as a static initialiser of a kind does.
    pub sets_mutex_fields: bool,
}

/// The number of a type of exceptions, by the global that describes it. 0 is no type.
pub fn type_number(id: GlobalId) -> u64 {
    id as u64 + 1
}

impl Module {
    pub fn find(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| f.name == name)
    }

    pub fn pointer_width(&self) -> u8 {
        (self.pointer_bytes * 8) as u8
    }

    pub fn pointers(&self) -> PointerLayout {
        match self.pointer_bytes {
            4 => PointerLayout::ILP32,
            _ => PointerLayout::LP64,
        }
    }

    /// Functions have the highest object numbers.
    pub fn function_address(&self, id: FunctionId) -> u64 {
        let layout = self.pointers();
        layout.address(layout.last_object() - id as u64) & mask(layout.width)
    }
}

impl Pure {
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Pure::Binary { lhs, rhs, .. }
            | Pure::Compare { lhs, rhs, .. }
            | Pure::WithOverflow { lhs, rhs, .. }
            | Pure::MinMax { lhs, rhs, .. } => vec![lhs, rhs],
            Pure::Resize { arg, .. } | Pure::Bits { arg, .. } => vec![arg],
            Pure::Select {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Pure::Gep { base, terms, .. } => {
                let mut all = vec![base];
                all.extend(terms.iter().map(|(operand, _)| operand));
                all
            }
            Pure::Extract { from, .. } => vec![from],
            Pure::Insert { into, value, .. } => vec![into, value],
            Pure::Copy(arg) | Pure::Abs(arg) => vec![arg],
        }
    }

    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Pure::Binary { lhs, rhs, .. }
            | Pure::Compare { lhs, rhs, .. }
            | Pure::WithOverflow { lhs, rhs, .. }
            | Pure::MinMax { lhs, rhs, .. } => vec![lhs, rhs],
            Pure::Resize { arg, .. } | Pure::Bits { arg, .. } => vec![arg],
            Pure::Select {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Pure::Gep { base, terms, .. } => {
                let mut all = vec![base];
                all.extend(terms.iter_mut().map(|(operand, _)| operand));
                all
            }
            Pure::Extract { from, .. } => vec![from],
            Pure::Insert { into, value, .. } => vec![into, value],
            Pure::Copy(arg) | Pure::Abs(arg) => vec![arg],
        }
    }
}

impl Kind {
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Kind::Pure(pure) => pure.operands(),
            Kind::Phi(incoming) => incoming.iter().map(|(operand, _)| operand).collect(),
            Kind::Load { pointer, .. } | Kind::Lifetime { pointer, .. } => vec![pointer],
            Kind::Store { pointer, value, .. } | Kind::Rmw { pointer, value, .. } => {
                vec![pointer, value]
            }
            Kind::CompareExchange {
                pointer,
                expected,
                new,
                ..
            } => vec![pointer, expected, new],
            Kind::Alloca { count, .. } => vec![count],
            Kind::Call { callee, args, .. } => {
                let mut all: Vec<&Operand> = args.iter().collect();
                if let Callee::Indirect(target)
                | Callee::Virtual(target, _)
                | Callee::Registered(target, _) = callee
                {
                    all.push(target);
                }
                all
            }
            Kind::Library { args, .. } | Kind::Assembly { args, .. } | Kind::Float { args, .. } => {
                args.iter().collect()
            }
            Kind::LandingPad(_) | Kind::Unsupported(_) | Kind::AtomicBegin | Kind::AtomicEnd => {
                Vec::new()
            }
        }
    }

    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Kind::Pure(pure) => pure.operands_mut(),
            Kind::Phi(incoming) => incoming.iter_mut().map(|(operand, _)| operand).collect(),
            Kind::Load { pointer, .. } | Kind::Lifetime { pointer, .. } => vec![pointer],
            Kind::Store { pointer, value, .. } | Kind::Rmw { pointer, value, .. } => {
                vec![pointer, value]
            }
            Kind::CompareExchange {
                pointer,
                expected,
                new,
                ..
            } => vec![pointer, expected, new],
            Kind::Alloca { count, .. } => vec![count],
            Kind::Call { callee, args, .. } => {
                let mut all: Vec<&mut Operand> = args.iter_mut().collect();
                if let Callee::Indirect(target)
                | Callee::Virtual(target, _)
                | Callee::Registered(target, _) = callee
                {
                    all.push(target);
                }
                all
            }
            Kind::Library { args, .. } | Kind::Assembly { args, .. } | Kind::Float { args, .. } => {
                args.iter_mut().collect()
            }
            Kind::LandingPad(_) | Kind::Unsupported(_) | Kind::AtomicBegin | Kind::AtomicEnd => {
                Vec::new()
            }
        }
    }
}

impl Operand {
    /// Calls `visit` on every value below.
    pub fn values(&self, visit: &mut impl FnMut(ValueId)) {
        match self {
            Operand::Value(id) => visit(*id),
            Operand::Pure(pure) => pure
                .operands()
                .into_iter()
                .for_each(|operand| operand.values(visit)),
            Operand::Aggregate(parts) => parts.iter().for_each(|part| part.values(visit)),
            _ => {}
        }
    }
}

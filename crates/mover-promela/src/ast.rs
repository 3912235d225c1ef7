//! A model as it is written: names not yet looked up, inlines already
//! expanded, every piece with its place in the user's text.
//!
//! Trees are bounded in depth by the parser ([`DEPTH_LIMIT`] and
//! [`HEIGHT_LIMIT`]), so walking them recursively is safe.

use std::rc::Rc;

use mover_source::Span;

/// Statements and parentheses are nested no deeper than this.
pub const DEPTH_LIMIT: usize = 200;
/// No expression is higher than this. A long sum is a high tree, too.
pub const HEIGHT_LIMIT: usize = 500;

#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    pub text: Rc<str>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    pub units: Vec<Unit>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Unit {
    Mtype(MtypeDeclaration),
    Typedef(Typedef),
    Variables(Declaration),
    Proctype(Proctype),
    Init(Init),
    Ltl(Ltl),
    /// `never`, `trace` and `notrace`.
    Monitor(Monitor),
    Exclusive(Exclusive),
}

/// An annotation that says when a thread has a variable to itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Exclusive {
    pub span: Span,
    pub variable: Name,
    pub predicate: Expr,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MtypeDeclaration {
    /// The name of the set: `mtype:fruit = { .. }`.
    pub set: Option<Name>,
    pub names: Vec<Name>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Typedef {
    pub name: Name,
    pub fields: Vec<Declaration>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    pub visibility: Visibility,
    pub type_name: TypeName,
    pub variables: Vec<VariableDeclaration>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    Plain,
    Hidden,
    Local,
    Show,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TypeName {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned,
    Pid,
    Chan,
    Mtype(Option<Name>),
    Struct(Name),
}

#[derive(Clone, PartialEq, Debug)]
pub struct VariableDeclaration {
    pub name: Name,
    /// `: 5` after an unsigned.
    pub width: Option<(i32, Span)>,
    pub length: Option<Expr>,
    pub initial: Initial,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Initial {
    None,
    Value(Expr),
    List(Vec<Expr>),
    Channel(ChannelInitial),
}

#[derive(Clone, PartialEq, Debug)]
pub struct ChannelInitial {
    pub capacity: Expr,
    pub fields: Vec<(TypeName, Span)>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Proctype {
    pub name: Name,
    pub deterministic: bool,
    /// `active` and how many of it.
    pub active: Option<ActiveCount>,
    pub parameters: Vec<Declaration>,
    pub priority: Option<(i32, Span)>,
    pub provided: Option<Expr>,
    pub body: Sequence,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ActiveCount {
    One,
    Expr(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Init {
    pub span: Span,
    pub priority: Option<(i32, Span)>,
    pub body: Sequence,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Ltl {
    pub span: Span,
    pub name: Option<Name>,
    pub formula: Expr,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Monitor {
    pub kind: MonitorKind,
    pub span: Span,
    pub name: Option<Name>,
    pub body: Sequence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MonitorKind {
    Never,
    Trace,
    Notrace,
}

/// Statements in a row. If it stood in braces it is a scope of names.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequence {
    pub statements: Vec<Statement>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    pub labels: Vec<Name>,
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    Declaration(Declaration),
    /// `xr` and `xs`.
    ExclusiveAccess(ChannelEnd, Vec<Path>),
    Assign {
        target: Path,
        value: Expr,
    },
    /// `x++` (1) and `x--` (-1).
    Step {
        target: Path,
        by: i32,
    },
    Send {
        channel: Path,
        sorted: bool,
        arguments: Vec<Expr>,
    },
    Receive {
        channel: Path,
        random: bool,
        /// `q?<x>`: the message stays.
        peek: bool,
        arguments: Vec<ReceiveArgument>,
    },
    Expression(Expr),
    Else,
    Break,
    Goto(Name),
    Assert(Expr),
    Print {
        format: Rc<str>,
        arguments: Vec<Expr>,
    },
    PrintMtype(Expr),
    SetPriority {
        process: Expr,
        priority: Expr,
    },
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    ForRange {
        variable: Path,
        from: Expr,
        to: Expr,
        body: Sequence,
    },
    ForIn {
        variable: Path,
        container: Path,
        body: Sequence,
    },
    Select {
        variable: Path,
        from: Expr,
        to: Expr,
        /// SPIN spells out a `select` of a plain name between two literal
        /// numbers, where it is written outside of an inline.
        literal: bool,
    },
    Atomic(Sequence),
    DStep(Sequence),
    Block(Sequence),
    Unless {
        normal: Box<Statement>,
        escape: Box<Statement>,
    },
    /// Stands for what an error made unreadable.
    Invalid,
}

/// What is done to a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelEnd {
    Receive,
    Send,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Never empty.
    pub elements: Vec<PathElement>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PathElement {
    pub name: Name,
    pub index: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ReceiveArgument {
    /// A variable to store in, or an mtype constant to match.
    Path(Path),
    Eval(Expr),
    Number(i32, Span),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Height of the tree, at most [`HEIGHT_LIMIT`].
    pub height: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Number(i32),
    Variable(Path),
    Unary(UnaryOperator, Box<Expr>),
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `(condition -> then : otherwise)`.
    Conditional(Box<[Expr; 3]>),
    Run {
        proctype: Name,
        arguments: Vec<Expr>,
        priority: Option<(i32, Span)>,
    },
    Length(Path),
    Probe(Probe, Path),
    Poll {
        channel: Path,
        random: bool,
        arguments: Vec<ReceiveArgument>,
    },
    Timeout,
    NonProgress,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    RemoteLabel {
        proctype: Name,
        process: Option<Box<Expr>>,
        label: Name,
    },
    RemoteVariable {
        proctype: Name,
        process: Option<Box<Expr>>,
        variable: Box<PathElement>,
    },
    /// A temporal operator; only within `ltl`.
    Temporal(&'static str, Vec<Expr>),
    Invalid,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    Not,
    Negate,
    Complement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitXor,
    BitOr,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

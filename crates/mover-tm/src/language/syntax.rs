//! The syntax tree of a `.tm` file, with the place of everything.

use mover_source::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct File {
    pub name: Name,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub enum Item {
    /// `update direct;`
    Update(Name),
    /// `expect opacity violated;`, `expect wait-freedom with polite holds;` or
    /// `expect weak opacity holds;`
    Expect(Expectation),
    State(StateBlock),
    Predicate(Predicate),
    Procedure(Procedure),
    /// `require …;`: a guard of every step but abort.
    Require(Expr),
    Conflict(Conflict),
    /// `on read(v) { … }`
    Command(CommandRules),
    /// `on abort { … }`
    Abort {
        keyword: Span,
        body: Vec<Stmt>,
    },
    Manager(Manager),
}

#[derive(Clone, Debug)]
pub struct Expectation {
    /// Of transactions among themselves only.
    pub weak: bool,
    pub property: Name,
    pub manager: Option<Name>,
    pub verdict: Name,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Global,
    Variable,
    Thread,
}

#[derive(Clone, Debug)]
pub struct StateBlock {
    pub place: Place,
    pub fields: Vec<FieldDecl>,
}

#[derive(Clone, Debug)]
pub struct FieldDecl {
    pub name: Name,
    pub ty: TypeSyntax,
    pub initial: Option<Expr>,
}

#[derive(Clone, Debug)]
pub enum TypeSyntax {
    Enumeration(Vec<Name>),
    VariableSet,
    ThreadSet,
    Bool,
    Range { low: u8, high: u8 },
    ThreadOrNone,
    Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    Thread,
    Variable,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub kind: IndexKind,
    pub name: Name,
}

#[derive(Clone, Debug)]
pub struct Predicate {
    pub name: Name,
    pub params: Vec<Param>,
    pub body: Expr,
}

#[derive(Clone, Debug)]
pub struct Procedure {
    pub name: Name,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
}

/// `read(v)`, `commit`, `lock(x)`: a command or extended command.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub name: Name,
    pub param: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct Conflict {
    pub command: Pattern,
    pub when: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct CommandRules {
    pub command: Pattern,
    pub rules: Vec<Rule>,
}

/// `do lock(x) pending when … { … }`
#[derive(Clone, Debug)]
pub struct Rule {
    pub step: Pattern,
    pub response: Option<Name>,
    pub when: Option<Expr>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Manager {
    pub name: Name,
    pub state: Vec<StateBlock>,
    pub reactions: Vec<Reaction>,
}

/// `on own(v) when … { … }` in a manager: a transition that it offers.
#[derive(Clone, Debug)]
pub struct Reaction {
    pub step: Pattern,
    pub when: Option<Expr>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Assign {
        target: Target,
        op: AssignOp,
        value: Expr,
    },
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    For {
        binder: Binder,
        condition: Option<Expr>,
        body: Vec<Stmt>,
    },
    Call {
        name: Name,
        arguments: Vec<Name>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssignOp {
    Set,
    Add,
    Remove,
}

/// `rs(t)` or `clock`.
#[derive(Clone, Debug)]
pub struct Target {
    pub field: Name,
    pub index: Option<Name>,
}

/// What a loop or quantifier runs over.
#[derive(Clone, Debug)]
pub struct Binder {
    pub name: Name,
    pub domain: Domain,
}

#[derive(Clone, Debug)]
pub enum Domain {
    Threads,
    Variables,
    /// `u != t`
    OtherThan(Name),
    /// `x in ws(t)`
    Members(Box<Expr>),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A bound name, a global field or a value of an enumeration.
    Name(String),
    /// A field at an index, or a predicate applied.
    Apply {
        name: Name,
        arguments: Vec<Name>,
    },
    Number(u8),
    Bool(bool),
    Nobody,
    Everything(IndexKind),
    SetOf(Vec<Expr>),
    Not(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Quantified {
        universal: bool,
        binder: Binder,
        body: Box<Expr>,
    },
    /// `size(rs(t))`
    Size(Box<Expr>),
    Least {
        largest: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Meets,
    Within,
    Plus,
    Minus,
    Union,
    Intersection,
    Difference,
}

impl BinaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Equal => "=",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::In => "in",
            BinaryOp::NotIn => "not in",
            BinaryOp::Meets => "meets",
            BinaryOp::Within => "within",
            BinaryOp::Plus => "+",
            BinaryOp::Minus => "-",
            BinaryOp::Union => "|",
            BinaryOp::Intersection => "&",
            BinaryOp::Difference => "\\",
        }
    }
}

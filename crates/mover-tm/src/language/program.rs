//! An algorithm with its names resolved and its types checked.
//!
//! Expressions evaluate to small integers: a set is its bit mask, a value of
//! an enumeration its position, a truth value 0 or 1. Bound names are slots of
//! an environment; the acting thread is always in slot [`ACTING_THREAD`] and
//! the variable of the command, if it has one, in slot [`COMMAND_VARIABLE`].

use mover_source::Span;

use super::syntax::{IndexKind, Place};
use crate::layout::Cell;
use crate::property::{Property, Update};

pub const ACTING_THREAD: usize = 0;
pub const COMMAND_VARIABLE: usize = 1;
pub const MAX_SLOTS: usize = 24;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    Enumeration(Vec<String>),
    VariableSet,
    ThreadSet,
    Bool,
    Range {
        low: u8,
        high: u8,
    },
    ThreadOrNone,
    /// A reading of a clock, see [`crate::times`].
    Time,
}

impl Type {
    pub fn cell(&self) -> Cell {
        match self {
            Type::Enumeration(_) | Type::Bool | Type::Range { .. } | Type::Time => Cell::Plain,
            Type::VariableSet => Cell::VariableSet,
            Type::ThreadSet => Cell::ThreadSet,
            Type::ThreadOrNone => Cell::ThreadOrNone,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initial {
    Constant(u8),
    Everything,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub place: Place,
    pub ty: Type,
    pub initial: Initial,
    /// The contention manager it belongs to; none for the algorithm's own.
    pub manager: Option<usize>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Range {
    Threads,
    Variables,
    OtherThreads { than: usize },
    Members(Code),
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Code {
    Constant(i32),
    Slot(usize),
    Load {
        field: usize,
        index: Option<usize>,
    },
    Everything(IndexKind),
    /// The set whose only member is the index that the operand yields.
    Singleton(Box<Code>),
    Not(Box<Code>),
    And(Box<Code>, Box<Code>),
    Or(Box<Code>, Box<Code>),
    Equal(Box<Code>, Box<Code>),
    Less(Box<Code>, Box<Code>),
    LessOrEqual(Box<Code>, Box<Code>),
    Contains {
        element: Box<Code>,
        set: Box<Code>,
    },
    Plus(Box<Code>, Box<Code>),
    Minus(Box<Code>, Box<Code>),
    BitOr(Box<Code>, Box<Code>),
    BitAnd(Box<Code>, Box<Code>),
    BitAndNot(Box<Code>, Box<Code>),
    Min(Box<Code>, Box<Code>),
    Max(Box<Code>, Box<Code>),
    Size(Box<Code>),
    Exists {
        slot: usize,
        range: Box<Range>,
        body: Box<Code>,
    },
}

impl Code {
    pub fn negated(self) -> Code {
        Code::Not(Box::new(self))
    }

    pub fn and(self, other: Code) -> Code {
        Code::And(Box::new(self), Box::new(other))
    }

    pub const TRUE: Code = Code::Constant(1);
    pub const FALSE: Code = Code::Constant(0);
}

#[derive(Clone, Debug)]
pub enum Effect {
    Assign {
        field: usize,
        index: Option<usize>,
        value: Code,
        span: Span,
    },
    If {
        condition: Code,
        then: Vec<Effect>,
        otherwise: Vec<Effect>,
    },
    For {
        slot: usize,
        range: Range,
        condition: Code,
        body: Vec<Effect>,
        /// Whether it was seen from the text that the order of the visits does
        /// not matter; otherwise the orders are compared when it is executed.
        order_free: bool,
        span: Span,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Response {
    Pending,
    Done,
}

/// What a step adds to the word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Emits {
    Nothing,
    /// The command itself.
    Command,
    /// The read that the command asks for, of the version that was current at
    /// the snapshot.
    OldRead,
    /// A new snapshot.
    Snapshot,
}

/// The commands that a file may declare besides read, write and commit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExtraCommand {
    Begin,
    BeginReadOnly,
    PlainRead,
    PlainWrite,
    Nest,
    Merge,
    Undo,
    Retry,
}

impl ExtraCommand {
    pub const ALL: [ExtraCommand; 8] = [
        ExtraCommand::Begin,
        ExtraCommand::BeginReadOnly,
        ExtraCommand::PlainRead,
        ExtraCommand::PlainWrite,
        ExtraCommand::Nest,
        ExtraCommand::Merge,
        ExtraCommand::Undo,
        ExtraCommand::Retry,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            ExtraCommand::Begin => "begin",
            ExtraCommand::BeginReadOnly => "begin_read_only",
            ExtraCommand::PlainRead => "plain_read",
            ExtraCommand::PlainWrite => "plain_write",
            ExtraCommand::Nest => "nest",
            ExtraCommand::Merge => "merge",
            ExtraCommand::Undo => "undo",
            ExtraCommand::Retry => "retry",
        }
    }
}

/// A way to execute a step of a command.
#[derive(Clone, Debug)]
pub struct Step {
    /// Index into [`Program::step_names`].
    pub name: usize,
    /// The slot of the variable that the step names.
    pub param: Option<usize>,
    /// Whether that variable is chosen freely (and not the command's own).
    pub chooses_variable: bool,
    pub emits: Emits,
    pub response: Response,
    pub guard: Code,
    pub effects: Vec<Effect>,
    pub span: Span,
}

impl Step {
    /// Whether the command takes effect with this step.
    pub fn is_command(&self) -> bool {
        matches!(self.emits, Emits::Command | Emits::OldRead)
    }
}

/// All that is said about a command.
#[derive(Clone, Debug)]
pub struct CommandCode {
    pub steps: Vec<Step>,
    pub conflict: Code,
    pub span: Span,
}

/// Which steps a reaction of a contention manager is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepPattern {
    Abort,
    AnyButAbort,
    Named(usize),
}

#[derive(Clone, Debug)]
pub struct ManagerReaction {
    pub pattern: StepPattern,
    pub param: Option<usize>,
    pub guard: Code,
    pub effects: Vec<Effect>,
}

#[derive(Clone, Debug)]
pub struct ManagerCode {
    pub name: String,
    pub reactions: Vec<ManagerReaction>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// Of transactions among themselves: weak isolation.
    pub weak: bool,
    pub property: Property,
    pub manager: Option<String>,
    pub holds: bool,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub update: Update,
    pub fields: Vec<Field>,
    pub step_names: Vec<String>,
    pub read: CommandCode,
    pub write: CommandCode,
    pub commit: CommandCode,
    /// In the order of [`ExtraCommand::ALL`].
    pub extra: [Option<CommandCode>; ExtraCommand::ALL.len()],
    pub abort: Vec<Effect>,
    pub managers: Vec<ManagerCode>,
    /// Whether a time plus 1 is compared with another, see [`crate::times`].
    pub asks_distance: bool,
    pub expectations: Vec<Expected>,
}

impl Program {
    pub fn extra(&self, command: ExtraCommand) -> Option<&CommandCode> {
        self.extra[command as usize].as_ref()
    }

    /// Whether any command beyond the paper's is declared.
    pub fn is_extended(&self) -> bool {
        self.extra.iter().any(Option::is_some)
    }

    /// Whether reads may return versions that are no longer current.
    pub fn is_multi_version(&self) -> bool {
        let steps = self.read.steps.iter().chain(&self.write.steps);
        let mut steps = steps.chain(&self.commit.steps);
        steps.any(|step| matches!(step.emits, Emits::OldRead | Emits::Snapshot))
    }
}

//! Errors in a model, with their places.
//!
//! An ill-formed statement does not stop the closure that builds the thread: the error is
//! recorded with the line of the caller, and `build` returns all of them at once.

use std::panic::Location;

use thiserror::Error;

use crate::expr::Ty;
use crate::validate::IllFormed;

/// Everything that is wrong with a model.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", .faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n"))]
pub struct BuildError {
    /// At least one, in the order in which they were made.
    pub faults: Vec<Fault>,
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}:{}: {kind}", .at.file(), .at.line())]
pub struct Fault {
    /// The call that made it.
    pub at: &'static Location<'static>,
    pub kind: FaultKind,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FaultKind {
    #[error("`{text}` mixes {} and {} (convert one with `cast`)", type_name(*.left), type_name(*.right))]
    TypesDiffer { text: String, left: Ty, right: Ty },
    #[error("{number} does not fit {}", type_name(*.ty))]
    DoesNotFit { number: i128, ty: Ty },
    #[error("`{text}` is not a condition (compare it with something)")]
    NotACondition { text: String },
    #[error("the index {index} is outside of `{name}`")]
    IndexOutside { name: String, index: u64 },
    #[error("`{name}` takes {expected} values and is given {given}")]
    WrongCount {
        name: String,
        expected: usize,
        given: usize,
    },
    #[error("{values} values do not fit `{name}`")]
    WrongChoice { name: String, values: u64 },
    #[error("a handle of another model")]
    ForeignModel,
    #[error("a local variable of another thread")]
    ForeignLocal,
    #[error("two things are called `{0}`")]
    SameName(String),
    #[error("the parameter `{0}` is declared after a local variable")]
    LateParameter(String),
    #[error("`{0}` is outside a loop")]
    NotInLoop(&'static str),
    #[error("`{text}` may fail and depends on what the same step wrote before")]
    CheckAfterWrite { text: String },
    #[error("threads of `{0}` are joined but leave by `exit`, so that no thread can wait for them")]
    JoinedThreadExits(String),
    #[error("no thread of `{0}` is ever started or spawned")]
    NeverRun(String),
    #[error("no thread runs from the start")]
    NothingStarted,
    #[error("threads are spawned in a loop: set the maximum number with `max_threads`")]
    UnboundedThreads,
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
}

/// A type as Rust would write it.
pub(super) fn type_name(ty: Ty) -> String {
    match ty {
        Ty::BOOL => "bool".into(),
        Ty { width, signed } => format!("{}{width}", if signed { 'i' } else { 'u' }),
    }
}

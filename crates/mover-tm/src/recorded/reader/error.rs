//! What is wrong with an operation of a recorded history.
//!
//! The reader knows where it is ([`super::syntax::ReadError`] has the line); these errors say what.

use super::jepsen::JepsenError;
use super::lines::LinesError;
use super::porcupine::PorcupineError;
use crate::recorded::Model;

/// Why an operation is no part of a history.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    #[error(
        "{what} is an operation of {}, but the history is one of {}, because {because}",
        model.name(), known.name()
    )]
    OtherModel {
        what: &'static str,
        model: Model,
        known: Model,
        /// Why the model of the history is known.
        because: String,
    },
    #[error("a read returned {value}, which is no list, but {because}")]
    NoList { value: String, because: String },
    #[error("the operation `{operation}` is not supported; {supported} are")]
    Unsupported {
        operation: String,
        supported: &'static str,
    },
    /// Found at the end of the file.
    #[error("line {line}: {source}")]
    AtLine {
        line: u32,
        source: Box<OperationError>,
    },
    #[error(transparent)]
    Lines(#[from] LinesError),
    #[error(transparent)]
    Jepsen(#[from] JepsenError),
    #[error(transparent)]
    Porcupine(#[from] PorcupineError),
}

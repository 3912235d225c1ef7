//! Why there is no result.
//!
//! A benchmark fails before it measures (a wrong option, a missing model), while it measures one
//! point ([`MeasureError`]), or when it writes what it has measured. Each has a type where it
//! arises; [`BenchError`] is what a command ends with, and says whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

use mover_cli::output::OutputError;
use mover_cli::{Cause, CliError};
use mover_engine::EngineError;

use crate::ask::AskError;
use crate::child::ChildError;
use crate::holds::ProgramsError;
use crate::page::PageError;
use crate::pan::{MissingTool, PanError};
use crate::records::RecordError;
use crate::svcomp::TaskError;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("no {0} is called like that")]
    NothingChosen(&'static str),
    #[error("no model of that name; there are {}", .known.join(", "))]
    UnknownModel { known: Vec<&'static str> },
    #[error(transparent)]
    MissingTool(#[from] MissingTool),
    /// An option names a file that cannot be written.
    #[error(transparent)]
    Options(OutputError),
    #[error("there is no {}; see {option}", .path.display())]
    NoModel { path: PathBuf, option: &'static str },
    #[error(transparent)]
    Tasks(#[from] TaskError),
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error("{subject}: {source}")]
    OnSubject {
        subject: String,
        source: MeasureError,
    },
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("cannot make a directory: {0}")]
    NoScratch(#[source] io::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Why one point could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Pan(#[from] PanError),
    #[error(transparent)]
    Child(#[from] ChildError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Survey(#[from] EngineError),
    #[error("cannot read {}: {source}", .path.display())]
    UnreadableModel { path: PathBuf, source: io::Error },
    #[error("{} has no `scale:` line", .0.display())]
    NoScale(PathBuf),
    #[error("{name} is not a valid {what}")]
    Invalid { what: &'static str, name: String },
    #[error("cannot write a history: {0}")]
    UnwritableHistory(#[source] io::Error),
    #[error("the verdict {0} is wrong")]
    WrongVerdict(String),
    #[error("not safe: {0}")]
    NotSafe(String),
    #[error("mover does not find it safe: {0}")]
    MoverNotSafe(String),
    #[error("mover gives no verdict: {0}")]
    NoVerdict(String),
    #[error("mover ended with {0:?}")]
    ExitCode(Option<i32>),
    #[error("SPIN finds an error in a safe model")]
    SpinFindsError,
    #[error("{0} was ended")]
    Ended(&'static str),
    #[error("nothing was run")]
    NothingRun,
    #[error("two runs of a tool differ in the number of states")]
    RunsDiffer,
    #[error("two searches come to different verdicts")]
    VerdictsDiffer,
    #[error("more than {0} states")]
    TooManyStates(usize),
    #[error("no specification of {0} for this size")]
    NoSpecification(String),
}

impl BenchError {
    fn cause(&self) -> Cause {
        match self {
            BenchError::NothingChosen(_)
            | BenchError::UnknownModel { .. }
            | BenchError::MissingTool(_)
            | BenchError::Options(_) => Cause::Usage,
            BenchError::NoModel { .. }
            | BenchError::Tasks(_)
            | BenchError::Programs(_)
            | BenchError::Page(_) => Cause::Input,
            BenchError::OnSubject { source, .. } => source.cause(),
            BenchError::Measure(error) => error.cause(),
            BenchError::NoScratch(_) | BenchError::Record(_) | BenchError::Output(_) => {
                Cause::Output
            }
        }
    }
}

impl MeasureError {
    /// The same with what was measured.
    pub fn on(self, subject: impl Into<String>) -> BenchError {
        BenchError::OnSubject {
            subject: subject.into(),
            source: self,
        }
    }

    fn cause(&self) -> Cause {
        match self {
            MeasureError::Ask(error) => error.cause(),
            MeasureError::Pan(error) => error.cause(),
            MeasureError::UnreadableModel { .. } | MeasureError::NoScale(_) => Cause::Input,
            MeasureError::Child(_)
            | MeasureError::Record(_)
            | MeasureError::UnwritableHistory(_)
            | MeasureError::Ended(_) => Cause::Output,
            // The models are ours and the verdicts known: one of the tools is wrong.
            MeasureError::Survey(_)
            | MeasureError::Invalid { .. }
            | MeasureError::WrongVerdict(_)
            | MeasureError::NotSafe(_)
            | MeasureError::MoverNotSafe(_)
            | MeasureError::NoVerdict(_)
            | MeasureError::ExitCode(_)
            | MeasureError::SpinFindsError
            | MeasureError::NothingRun
            | MeasureError::RunsDiffer
            | MeasureError::VerdictsDiffer
            | MeasureError::TooManyStates(_)
            | MeasureError::NoSpecification(_) => Cause::Internal,
        }
    }
}

impl From<BenchError> for CliError {
    fn from(error: BenchError) -> Self {
        CliError::uncoded(error.cause(), error)
    }
}

/// A model that must be there before anything is measured; the option says where it is looked for.
pub fn must_exist(path: &Path, option: &'static str) -> Result<(), BenchError> {
    if path.exists() {
        Ok(())
    } else {
        Err(BenchError::NoModel {
            path: path.to_path_buf(),
            option,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_tells_whose_fault_it_is() {
        let code = |error: BenchError| CliError::from(error).code();
        let no_answer = |code| AskError::NoAnswer {
            code,
            said: String::new(),
        };
        let on_model = |error: MeasureError| error.on("model");
        assert_eq!(code(BenchError::NothingChosen("row")), 1);
        assert_eq!(code(on_model(no_answer(Some(2)).into())), 2);
        assert_eq!(code(on_model(no_answer(Some(6)).into())), 6);
        assert_eq!(code(on_model(no_answer(None).into())), 6);
        assert_eq!(code(on_model(AskError::NoMover.into())), 6);
        let rejected = PanError::Rejected {
            model: "m.pml".into(),
            said: String::new(),
        };
        assert_eq!(code(on_model(rejected.into())), 2);
        let wrong = MeasureError::WrongVerdict("unsafe".into());
        assert_eq!(wrong.to_string(), "the verdict unsafe is wrong");
        let wrong = wrong.on("m.pml static");
        assert_eq!(
            wrong.to_string(),
            "m.pml static: the verdict unsafe is wrong"
        );
        assert_eq!(code(wrong), 6);
    }
}

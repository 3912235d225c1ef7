//! How a command ends.
//!
//! An *answer* is what the user asked for, also where it is bad news: [`Exit`]. An *error* says
//! why there is no answer: [`CliError`]. An error has a *cause*, which determines the exit
//! code, and most have a code with a page in the guide (`mover --explain-error`).

use std::fmt::Display;

/// What a command has to say in the end, as an exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Safe, or simply done.
    Success,
    Unsafe,
    Unknown,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Unsafe => 10,
            Exit::Unknown => 5,
        }
    }
}

/// Whose fault it is that there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The command line.
    Usage,
    /// A file that is read.
    Input,
    /// A file that is written, or another program that is run.
    Output,
    /// A mistake of mover.
    Internal,
}

impl Cause {
    pub fn code(self) -> u8 {
        match self {
            Cause::Usage => 1,
            Cause::Input => 2,
            Cause::Output | Cause::Internal => 6,
        }
    }
}

/// Why a command has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line asks for what cannot be.
    #[error("{message} [{code}]")]
    Usage { code: &'static str, message: String },
    /// A file cannot be read, or has something in it that is not supported.
    #[error("{message} [{code}]")]
    Input { code: String, message: String },
    /// What was asked for could not be written.
    #[error("{message} [{code}]")]
    Output { code: &'static str, message: String },
    /// A mistake of mover.
    #[error("internal error: {0}")]
    Internal(String),
    /// An error that the guide has no page for: its sentence says everything.
    #[error("{message}")]
    Uncoded { cause: Cause, message: String },
    /// Everything was said where it arose, by rendered diagnostics or beside an answer.
    #[error("already reported")]
    Reported(Cause),
    /// The user stopped the command before it had anything to say.
    #[error("interrupted")]
    Interrupted,
}

impl CliError {
    pub fn usage(code: &'static str, message: impl Display) -> CliError {
        CliError::Usage {
            code,
            message: message.to_string(),
        }
    }

    pub fn input(code: impl Into<String>, message: impl Display) -> CliError {
        CliError::Input {
            code: code.into(),
            message: message.to_string(),
        }
    }

    pub fn output(code: &'static str, message: impl Display) -> CliError {
        CliError::Output {
            code,
            message: message.to_string(),
        }
    }

    pub fn internal(message: impl Display) -> CliError {
        CliError::Internal(message.to_string())
    }

    pub fn uncoded(cause: Cause, message: impl Display) -> CliError {
        CliError::Uncoded {
            cause,
            message: message.to_string(),
        }
    }

    pub fn code(&self) -> u8 {
        match self {
            CliError::Usage { .. } => Cause::Usage.code(),
            CliError::Input { .. } => Cause::Input.code(),
            CliError::Output { .. } => Cause::Output.code(),
            CliError::Internal(_) => Cause::Internal.code(),
            CliError::Uncoded { cause, .. } | CliError::Reported(cause) => cause.code(),
            CliError::Interrupted => 130,
        }
    }

    /// Prints it to standard error, unless that was done already.
    pub fn print(&self) {
        if !matches!(self, CliError::Reported(_)) {
            crate::stderr_line!("mover: {self}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts rely on these numbers.
    #[test]
    fn exit_codes_are_those_of_the_guide() {
        let exits = [Exit::Success, Exit::Unsafe, Exit::Unknown];
        assert_eq!(exits.map(Exit::code), [0, 10, 5]);
        let errors = [
            CliError::usage("X001", ""),
            CliError::input("X010", ""),
            CliError::output("X003", ""),
            CliError::internal(""),
            CliError::uncoded(Cause::Usage, ""),
            CliError::Reported(Cause::Input),
            CliError::Interrupted,
        ];
        let codes: Vec<u8> = errors.iter().map(CliError::code).collect();
        assert_eq!(codes, [1, 2, 6, 6, 1, 2, 130]);
    }

    #[test]
    fn a_code_is_behind_its_sentence() {
        let coded = CliError::input("X020", "m.pml: 1 error");
        assert_eq!(coded.to_string(), "m.pml: 1 error [X020]");
        let uncoded = CliError::uncoded(Cause::Internal, "no row");
        assert_eq!(uncoded.to_string(), "no row");
        assert_eq!(
            CliError::internal("no replay").to_string(),
            "internal error: no replay"
        );
    }
}

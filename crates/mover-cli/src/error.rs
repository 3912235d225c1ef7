//! How a command ends.

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

    pub fn code(&self) -> u8 {
        match self {
            CliError::Usage { .. } => 1,
            CliError::Input { .. } => 2,
            CliError::Output { .. } | CliError::Internal(_) => 6,
            CliError::Interrupted => 130,
        }
    }

    /// Tells it on standard error.
    pub fn print(&self) {
        crate::stderr_line!("mover: {self}");
    }
}

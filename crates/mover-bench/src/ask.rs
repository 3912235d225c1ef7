//! mover itself as a child process: one search, its JSON and what it took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mover_cli::{Cause, sibling};
use serde_json::Value;

use crate::child::{self, ChildError, Finished};

/// How much longer than its own limit a search may take before it is ended from outside.
const GRACE_S: u64 = 30;

/// Why mover has no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(
        "the program `mover` is neither next to this one nor in a directory of PATH; \
         `cargo build --release --package mover` builds it"
    )]
    NoMover,
    #[error(transparent)]
    Child(#[from] ChildError),
    #[error("mover gives no answer: {said}")]
    NoAnswer { code: Option<i32>, said: String },
    #[error("mover's answer has no number `{0}`")]
    NoNumber(String),
}

impl AskError {
    pub fn cause(&self) -> Cause {
        match self {
            AskError::NoAnswer { code, .. } if *code == Some(Cause::Input.code().into()) => {
                Cause::Input
            }
            AskError::NoMover | AskError::Child(_) | AskError::NoAnswer { .. } => Cause::Output,
            AskError::NoNumber(_) => Cause::Internal,
        }
    }
}

/// What mover answered.
pub struct Answer {
    pub json: Value,
    pub ran: Finished,
}

impl Answer {
    pub fn number(&self, field: &str) -> Result<f64, AskError> {
        self.json[field]
            .as_f64()
            .ok_or_else(|| AskError::NoNumber(field.into()))
    }

    pub fn verdict(&self) -> &str {
        self.json["verdict"].as_str().unwrap_or_default()
    }

    pub fn reason(&self) -> &str {
        self.json["reason"].as_str().unwrap_or_default()
    }

    /// A figure of the symbolic engines.
    pub fn symbolic(&self, name: &str) -> Option<u64> {
        self.json["symbolic"][name].as_u64()
    }
}

/// What became of a question.
pub enum Asked {
    Answered(Answer),
    /// It ended without an answer: the input was refused, or it failed.
    NoAnswer(Finished),
    /// It did not keep to its limit and was ended.
    TooLong,
}

/// Runs `mover check` on a program. Nothing comes back if it did not keep to its limit.
pub fn check(
    program: &Path,
    defines: &[&str],
    options: &[&str],
    limit_s: Option<u32>,
) -> Result<Option<Answer>, AskError> {
    match ask(&[program], defines, options, limit_s)? {
        Asked::Answered(answer) => Ok(Some(answer)),
        Asked::NoAnswer(ran) => Err(AskError::NoAnswer {
            code: ran.code,
            said: ran.stderr.trim().to_string(),
        }),
        Asked::TooLong => Ok(None),
    }
}

/// The `mover` that is measured.
pub fn mover() -> Result<PathBuf, AskError> {
    sibling::find("mover").ok_or(AskError::NoMover)
}

/// Runs `mover check` on the files of a program.
pub fn ask(
    programs: &[&Path],
    defines: &[&str],
    options: &[&str],
    limit_s: Option<u32>,
) -> Result<Asked, AskError> {
    let mut command = Command::new(mover()?);
    command
        .args(["check", "--json", "--quiet"])
        .args(options)
        .args(defines);
    let is_promela = |program: &&Path| program.extension().is_some_and(|found| found == "pml");
    if programs.iter().any(is_promela) && !options.contains(&"--property") {
        // As SPIN with -DNOCLAIM.
        command.args(["--property", "unreach-call", "--property", "no-deadlock"]);
    }
    if let Some(seconds) = limit_s {
        command.args(["--timeout", &seconds.to_string()]);
    }
    command.args(programs);
    let ran = match limit_s {
        None => Some(child::run(&mut command)?),
        Some(seconds) => {
            let most = Duration::from_secs(u64::from(seconds) + GRACE_S);
            child::run_for(&mut command, most)?
        }
    };
    Ok(match ran {
        None => Asked::TooLong,
        Some(ran) => match serde_json::from_str(&ran.stdout) {
            Ok(json) => Asked::Answered(Answer { json, ran }),
            Err(_) => Asked::NoAnswer(ran),
        },
    })
}

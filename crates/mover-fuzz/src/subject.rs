//! A random program of any language, and all that is asked about it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mover_ir::program::{Program, Property};

use crate::compare::{Compared, Mismatch, compare};
use crate::promela::Model;
use crate::symbolic::{Answers, VOTERS, vote};
use crate::{MOST_STATES, shrink};

/// What makes programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generator {
    Promela,
    #[cfg(feature = "c")]
    C,
}

impl Generator {
    /// All of them; a new one joins by a line here.
    pub const ALL: &[Generator] = &[
        Generator::Promela,
        #[cfg(feature = "c")]
        Generator::C,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Generator::Promela => "promela",
            #[cfg(feature = "c")]
            Generator::C => "c",
        }
    }

    pub fn subject(self, seed: u64) -> Subject {
        match self {
            Generator::Promela => Subject::Promela(Model::random(seed)),
            #[cfg(feature = "c")]
            Generator::C => Subject::C(crate::c::Source::random(seed)),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Subject {
    Promela(Model),
    #[cfg(feature = "c")]
    C(crate::c::Source),
}

/// What was found out about a program.
pub struct Examined {
    pub compared: Compared,
    /// By symbolic engine.
    pub answers: Answers,
}

impl Subject {
    pub fn text(&self) -> String {
        match self {
            Subject::Promela(model) => model.text(),
            #[cfg(feature = "c")]
            Subject::C(source) => source.text(),
        }
    }

    /// What a file with it ends in.
    pub fn extension(&self) -> &'static str {
        match self {
            Subject::Promela(_) => "pml",
            #[cfg(feature = "c")]
            Subject::C(_) => "c",
        }
    }

    fn smaller(&self) -> Vec<Subject> {
        match self {
            Subject::Promela(model) => model.smaller().into_iter().map(Subject::Promela).collect(),
            #[cfg(feature = "c")]
            Subject::C(source) => source.smaller().into_iter().map(Subject::C).collect(),
        }
    }

    /// The program; none if it is not a valid one.
    fn program(&self) -> Result<Option<Program>, String> {
        match self {
            Subject::Promela(model) => Ok(mover_promela::parse_text("random", &model.text())
                .ok()
                .map(|read| read.program)),
            #[cfg(feature = "c")]
            Subject::C(source) => {
                let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
                source.program(scratch.path()).map(Some)
            }
        }
    }

    /// Searches the program in all ways; with patience also with the symbolic engines, each of
    /// which gets so much time for each question. `None` if it is no valid program or too large.
    pub fn examine(&self, patience: Option<Duration>) -> Result<Option<Examined>, Mismatch> {
        let broken = |what: String| Mismatch {
            property: Property::UnreachCall,
            way: "the program itself".into(),
            what,
        };
        let examined = catch_unwind(AssertUnwindSafe(|| {
            let Some(program) = self.program().map_err(broken)? else {
                return Ok(None);
            };
            examine(&program, patience)
        }));
        examined.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(broken(format!("panic: {}", text.unwrap_or("?"))))
        })
    }

    /// The smallest program that still shows a mismatch, and the mismatch.
    pub fn smallest(&self, mismatch: Mismatch, patience: Option<Duration>) -> (Subject, Mismatch) {
        shrink(self.clone(), mismatch, Subject::smaller, |subject| {
            subject.examine(patience).err()
        })
    }
}

fn examine(program: &Program, patience: Option<Duration>) -> Result<Option<Examined>, Mismatch> {
    let Some(compared) = compare(program, MOST_STATES)? else {
        return Ok(None);
    };
    let mut answers = vec![0; VOTERS.len()];
    if let Some(patience) = patience {
        for (property, expected) in [
            (Property::UnreachCall, compared.is_wrong),
            (Property::NoDeadlock, compared.has_deadlock),
        ] {
            let mut program = program.clone();
            if property == Property::NoDeadlock {
                program.resume_after_errors();
            }
            let more = vote(&program, property, expected, patience)?;
            answers
                .iter_mut()
                .zip(more)
                .for_each(|(all, more)| *all += more);
        }
    }
    Ok(Some(Examined { compared, answers }))
}

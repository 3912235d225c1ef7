//! A random program of any language, and the engines that check it.
//!
//! An *engine* here is anything that is compared: a variant of explicit search, the concrete
//! semantics, a symbolic engine with an option, a procedure for transactional memories. Each
//! program of a generator goes to the engines that apply to it, and each engine keeps a
//! [`Tally`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mover_ir::program::{Program, Property};

use crate::compare::{Compared, DEFINITION, Mismatch, PassedOver, Tally, WAYS, compare};
use crate::promela::Model;
use crate::symbolic::{VOTERS, vote};
use crate::trial::{self, TRIALS};
use crate::{MOST_STATES, ir, shrink};

/// What makes programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generator {
    Promela,
    #[cfg(feature = "c")]
    C,
    /// C programs about the ways to protect data.
    #[cfg(feature = "c")]
    Protection,
    Ir,
    #[cfg(feature = "tm")]
    Tm,
}

impl Generator {
    /// All of them; a new one joins by a line here.
    pub const ALL: &[Generator] = &[
        Generator::Promela,
        #[cfg(feature = "c")]
        Generator::C,
        #[cfg(feature = "c")]
        Generator::Protection,
        Generator::Ir,
        #[cfg(feature = "tm")]
        Generator::Tm,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Generator::Promela => "promela",
            #[cfg(feature = "c")]
            Generator::C => "c",
            #[cfg(feature = "c")]
            Generator::Protection => "protection",
            Generator::Ir => "ir",
            #[cfg(feature = "tm")]
            Generator::Tm => "tm",
        }
    }

    pub fn subject(self, seed: u64) -> Subject {
        match self {
            Generator::Promela => Subject::Promela(Model::random(seed)),
            #[cfg(feature = "c")]
            Generator::C => Subject::C(crate::c::Source::random(seed)),
            #[cfg(feature = "c")]
            Generator::Protection => Subject::Protection(crate::protection::Source::random(seed)),
            Generator::Ir => Subject::Ir(Box::new(ir::random(seed))),
            #[cfg(feature = "tm")]
            Generator::Tm => Subject::Tm(crate::tm::Text::random(seed)),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Subject {
    Promela(Model),
    #[cfg(feature = "c")]
    C(crate::c::Source),
    #[cfg(feature = "c")]
    Protection(crate::protection::Source),
    Ir(Box<Program>),
    #[cfg(feature = "tm")]
    Tm(crate::tm::Text),
    /// From a file that someone may have written by hand, so it is not made smaller.
    Given(Given),
}

/// What was written to a file when it went wrong.
#[derive(Clone, Debug)]
pub struct Given {
    extension: &'static str,
    text: String,
}

/// What was found out about a program.
pub struct Examined {
    /// By number in [`engines`].
    pub tallies: Vec<Tally>,
    pub is_wrong: bool,
    pub has_deadlock: bool,
}

/// The names of all engines: the ways to search explicitly, the definition, the symbolic
/// engines, the ways to judge transactional memories.
pub fn engines() -> Vec<String> {
    let mut names: Vec<String> = WAYS.iter().map(|way| way.to_string()).collect();
    names.push(DEFINITION.into());
    names.extend(VOTERS.iter().map(|voter| voter.to_string()));
    #[cfg(feature = "tm")]
    names.extend(crate::tm::JUDGES.iter().map(|judge| judge.name().into()));
    names.extend(TRIALS.iter().map(|trial| trial.to_string()));
    names
}

/// What is asked about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// All variants of explicit search are compared.
    Explicit,
    /// The symbolic engines as well, each of which gets so much time for each question.
    All(Duration),
    /// Whether what is declared to commute does; so much time for each reduction.
    Movers(Duration),
}

/// Why a file has no subject.
#[derive(Debug, thiserror::Error)]
pub enum SubjectFileError {
    #[error("{}: {source}", file.display())]
    Unreadable {
        file: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", file.display())]
    Program {
        file: PathBuf,
        source: ir::file::ProgramFileError,
    },
    #[error("{}: not one of pml, c, ir.json, tm", .0.display())]
    OtherKind(PathBuf),
}

/// Why there is no program of a subject that ought to be one.
#[derive(Debug, thiserror::Error)]
enum NoProgram {
    /// The front end has no file to read.
    #[cfg(feature = "c")]
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// What is made up is C, and yet the front end says this.
    #[cfg(feature = "c")]
    #[error("{0}")]
    Refused(String),
    #[error("this mover was built without what reads .{0}")]
    NoFrontEnd(&'static str),
}

impl Subject {
    pub fn text(&self) -> String {
        match self {
            Subject::Promela(model) => model.text(),
            #[cfg(feature = "c")]
            Subject::C(source) => source.text(),
            #[cfg(feature = "c")]
            Subject::Protection(source) => source.text(),
            Subject::Ir(program) => mover_ir::print::print_program(program),
            #[cfg(feature = "tm")]
            Subject::Tm(algorithm) => algorithm.text(),
            Subject::Given(given) => given.text.clone(),
        }
    }

    /// What a file with it ends in.
    pub fn extension(&self) -> &'static str {
        match self {
            Subject::Promela(_) => "pml",
            #[cfg(feature = "c")]
            Subject::C(_) | Subject::Protection(_) => "c",
            Subject::Ir(_) => ir::file::EXTENSION,
            #[cfg(feature = "tm")]
            Subject::Tm(_) => "tm",
            Subject::Given(given) => given.extension,
        }
    }

    /// What is written to a file, so that [`Subject::read`] finds it again.
    pub fn file(&self, about: &str) -> Result<String, serde_json::Error> {
        let about = about.replace("*/", "* /").replace('\n', " ");
        match self {
            Subject::Ir(program) => ir::file::write(program, &about),
            #[cfg(feature = "tm")]
            Subject::Tm(algorithm) => Ok(format!("// {about}\n{}", algorithm.text())),
            Subject::Given(given) => Ok(given.text.clone()),
            _ => Ok(format!("/* {about} */\n{}", self.text())),
        }
    }

    /// What was written once.
    pub fn read(file: &Path) -> Result<Subject, SubjectFileError> {
        let text =
            std::fs::read_to_string(file).map_err(|source| SubjectFileError::Unreadable {
                file: file.to_path_buf(),
                source,
            })?;
        let name = file.to_string_lossy();
        let ends_in = |extension: &str| name.ends_with(&format!(".{extension}"));
        if ends_in(ir::file::EXTENSION) {
            let program = ir::file::read(&text).map_err(|source| SubjectFileError::Program {
                file: file.to_path_buf(),
                source,
            })?;
            return Ok(Subject::Ir(Box::new(program)));
        }
        let known = ["pml", "c", "tm"].into_iter().find(|known| ends_in(known));
        let extension = known.ok_or_else(|| SubjectFileError::OtherKind(file.to_path_buf()))?;
        Ok(Subject::Given(Given { extension, text }))
    }

    fn smaller(&self) -> Vec<Subject> {
        match self {
            Subject::Promela(model) => model.smaller().into_iter().map(Subject::Promela).collect(),
            #[cfg(feature = "c")]
            Subject::C(source) => source.smaller().into_iter().map(Subject::C).collect(),
            #[cfg(feature = "c")]
            Subject::Protection(source) => {
                let smaller = source.smaller().into_iter();
                smaller.map(Subject::Protection).collect()
            }
            Subject::Ir(program) => {
                let smaller = ir::smaller::smaller(program).into_iter();
                smaller.map(|less| Subject::Ir(Box::new(less))).collect()
            }
            #[cfg(feature = "tm")]
            Subject::Tm(text) => text.smaller().into_iter().map(Subject::Tm).collect(),
            Subject::Given(_) => Vec::new(),
        }
    }

    /// The program; none if it is not a valid one.
    fn program(&self) -> Result<Option<Program>, NoProgram> {
        let model = |text: &str| {
            let read = mover_promela::parse_text("random", text).ok();
            Ok(read.map(|read| read.program))
        };
        match self {
            Subject::Promela(source) => model(&source.text()),
            Subject::Given(Given {
                extension: "pml",
                text,
            }) => model(text),
            #[cfg(feature = "c")]
            Subject::C(_) | Subject::Protection(_) => match crate::c::program(&self.text())? {
                Ok(program) => Ok(Some(program)),
                Err(crate::c::Refused(reason)) => Err(NoProgram::Refused(reason)),
            },
            #[cfg(feature = "c")]
            Subject::Given(Given {
                extension: "c",
                text,
            }) => Ok(crate::c::program(text)?.ok()),
            Subject::Ir(program) => Ok(Some((**program).clone())),
            #[cfg(feature = "tm")]
            Subject::Tm(_) => Ok(None),
            Subject::Given(given) => Err(NoProgram::NoFrontEnd(given.extension)),
        }
    }

    /// Asks all engines in question.
    pub fn examine(&self, asked: Asked) -> Result<Result<Examined, PassedOver>, Mismatch> {
        let broken = |what: String| Mismatch {
            property: Property::UnreachCall.to_string(),
            way: "the program itself".into(),
            what,
        };
        let examined = catch_unwind(AssertUnwindSafe(|| {
            #[cfg(feature = "tm")]
            if let Subject::Tm(crate::tm::Text(text))
            | Subject::Given(Given {
                extension: "tm",
                text,
            }) = self
            {
                return examine_memory(text);
            }
            match self.program().map_err(|error| broken(error.to_string()))? {
                Some(program) => match asked {
                    Asked::Explicit => examine(&program, None),
                    Asked::All(patience) => examine(&program, Some(patience)),
                    Asked::Movers(patience) => examine_movers(&program, patience),
                },
                None => Ok(Err(PassedOver::Invalid)),
            }
        }));
        examined.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(broken(format!("panic: {}", text.unwrap_or("?"))))
        })
    }

    /// The smallest program that still shows a mismatch, and the mismatch.
    pub fn smallest(&self, mismatch: Mismatch, asked: Asked) -> (Subject, Mismatch) {
        // What explicit search shows alone need not be asked of all engines again and again.
        let asked = match asked {
            Asked::All(_) if self.examine(Asked::Explicit).is_err() => Asked::Explicit,
            asked => asked,
        };
        shrink(self.clone(), mismatch, Subject::smaller, |subject| {
            subject.examine(asked).err()
        })
    }
}

fn examine(
    program: &Program,
    patience: Option<Duration>,
) -> Result<Result<Examined, PassedOver>, Mismatch> {
    let compared = match compare(program, MOST_STATES)? {
        Ok(compared) => compared,
        Err(reason) => return Ok(Err(reason)),
    };
    let Compared {
        mut tallies,
        is_wrong,
        has_deadlock,
        meets_bound,
    } = compared;
    let voters = tallies.len();
    tallies.resize(engines().len(), Tally::default());
    if let Some(patience) = patience {
        for (property, expected, meets_bound) in [
            (Property::UnreachCall, is_wrong, meets_bound[0]),
            (Property::NoDeadlock, has_deadlock, meets_bound[1]),
        ] {
            let mut program = program.clone();
            if property == Property::NoDeadlock {
                program.resume_after_errors();
            }
            let more = vote(&program, property, expected, meets_bound, patience)?;
            for (tally, more) in tallies[voters..].iter_mut().zip(more) {
                *tally += more;
            }
        }
    }
    Ok(Ok(Examined {
        tallies,
        is_wrong,
        has_deadlock,
    }))
}

fn examine_movers(
    program: &Program,
    patience: Duration,
) -> Result<Result<Examined, PassedOver>, Mismatch> {
    let tried = trial::try_all(program, patience)?;
    let mut tallies = vec![Tally::default(); engines().len() - TRIALS.len()];
    tallies.extend(tried);
    Ok(Ok(Examined {
        tallies,
        is_wrong: false,
        has_deadlock: false,
    }))
}

#[cfg(feature = "tm")]
fn examine_memory(text: &str) -> Result<Result<Examined, PassedOver>, Mismatch> {
    let judged = match crate::tm::judge(text)? {
        Ok(judged) => judged,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut tallies = vec![Tally::default(); WAYS.len() + 1 + VOTERS.len()];
    tallies.extend(judged.tallies);
    tallies.resize(engines().len(), Tally::default());
    Ok(Ok(Examined {
        tallies,
        is_wrong: judged.is_wrong,
        has_deadlock: judged.is_stuck,
    }))
}

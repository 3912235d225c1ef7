//! Promela, the language of SPIN, in mover's terms.
//!
//! [`parse`] reads a model of SPIN 6.5 and gives a [`Program`] that has exactly
//! the states SPIN's verifier gives it (`spin -a -o1 -o2 -o3`, without partial
//! order reduction). The way there:
//!
//! 1. `preprocess`: the C preprocessor, if the text has work for it;
//! 2. `lexer`, `semicolons`: tokens, and the semicolons that may be left out;
//! 3. `parser`: the syntax tree ([`ast`]), inlines expanded;
//! 4. `model`, `declare`, `scopes`, `types`: names, types and memory;
//! 5. `values`, `actions`: expressions and basic statements in the IR;
//! 6. `flow`, `states`, `automaton`: control flow by SPIN's rules.
//!
//! Whatever is not supported is an error that names it and its place, and
//! several errors are reported in one run. No input makes the front end panic
//! or run away: nesting, expansions and sizes are bounded.

pub mod ast;

mod actions;
mod automaton;
mod body;
mod channel_flow;
mod claims;
mod constants;
mod context;
mod declare;
mod event_trace;
mod exclusive_channels;
mod flow;
mod lexer;
mod model;
mod origin;
mod parser;
mod paths;
mod preprocess;
mod remote;
mod scopes;
mod semicolons;
mod states;
mod substitute;
mod survey;
mod token;
mod types;
mod values;

use std::path::Path;

use mover_ir::program::Program;
use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, SourceMap};
use mover_tools::visible;

pub use model::StatementNumbers;
use origin::Origin;
pub use preprocess::Options;

/// A model that has been read.
#[derive(Debug)]
pub struct Frontend {
    pub program: Program,
    /// How SPIN numbers the statements; none for a model with claims, whose
    /// verification by SPIN has other runs.
    pub numbers: Option<StatementNumbers>,
    pub warnings: Vec<Diagnostic>,
}

/// Why a model could not be read.
#[derive(Debug)]
pub struct Failure {
    pub sources: SourceMap,
    /// At least one of them is an error.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the model in a file.
pub fn parse(path: &Path, options: &Options) -> Result<Frontend, Failure> {
    let mut reading = Reading::default();
    match reading.read_file(path) {
        Some(file) => reading.parse_file(path, file, options),
        None => Err(reading.fail()),
    }
}

/// Reads the model in a text, which must need no preprocessor.
pub fn parse_text(name: &str, text: &str) -> Result<Frontend, Failure> {
    let mut reading = Reading::default();
    match reading.add(name, text.as_bytes()) {
        Some(file) => reading.parse_verbatim(file),
        None => Err(reading.fail()),
    }
}

/// The syntax tree of a text that needs no preprocessor, with what there is to
/// say about it.
pub fn syntax_tree(name: &str, text: &str) -> (ast::Model, Failure) {
    let mut reading = Reading::default();
    let model = match reading.add(name, text.as_bytes()) {
        Some(file) => {
            let tokens = reading.verbatim_tokens(file);
            parser::parse(tokens, &mut reading.diagnostics)
        }
        None => ast::Model::default(),
    };
    (model, reading.fail())
}

/// What formulas of the command line are called as a source.
pub const COMMAND_LINE: &str = "--ltl";

#[derive(Default)]
struct Reading {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

impl Reading {
    fn fail(self) -> Failure {
        Failure {
            sources: self.sources,
            diagnostics: self.diagnostics,
        }
    }

    fn read_file(&mut self, path: &Path) -> Option<FileId> {
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            self.diagnostics.push(Diagnostic::coded(
                "P001",
                format!("`{name}` is a directory, not a Promela model"),
            ));
            return None;
        }
        match std::fs::read(path) {
            Ok(bytes) => self.add(&name, &bytes),
            Err(error) => {
                self.diagnostics.push(Diagnostic::coded(
                    "P001",
                    format!("`{name}` cannot be read: {error}"),
                ));
                None
            }
        }
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Option<FileId> {
        let bytes = preprocess::without_byte_order_mark(bytes);
        let problem = if bytes.len() > preprocess::SOURCE_LIMIT_BYTES {
            Some(format!(
                "`{name}` is larger than {} MB",
                preprocess::SOURCE_LIMIT_BYTES >> 20
            ))
        } else if bytes.contains(&0) {
            Some(format!("`{name}` is a binary file, not a Promela model"))
        } else if bytes.iter().all(u8::is_ascii_whitespace) {
            Some(format!("`{name}` is empty"))
        } else {
            None
        };
        if let Some(problem) = problem {
            self.diagnostics.push(Diagnostic::coded("P001", problem));
            return None;
        }
        // Old models have comments in other encodings; those letters do not matter.
        let text = visible::source(String::from_utf8_lossy(bytes).into_owned());
        Some(self.sources.add(visible::name(name), text))
    }

    fn verbatim_tokens(&mut self, file: FileId) -> Vec<token::Token> {
        let text = &self.sources.file(file).text;
        let mut origin = Origin::verbatim(&self.sources, text, file);
        lexer::tokenize(text, &mut origin, &mut self.diagnostics)
    }

    fn parse_verbatim(mut self, file: FileId) -> Result<Frontend, Failure> {
        let tokens = self.verbatim_tokens(file);
        self.parse_tokens(tokens, file)
    }

    /// Adds the formulas of the command line behind a model, as `ltl` of their own.
    fn with_formulas(
        &mut self,
        mut tokens: Vec<token::Token>,
        path: &Path,
        is_preprocessed: bool,
        options: &Options,
    ) -> Vec<token::Token> {
        for formula in &options.formulas {
            let expanded = if is_preprocessed {
                preprocess::expand(path, formula, options)
            } else {
                Ok(formula.clone())
            };
            match expanded {
                Ok(expanded) => {
                    let text = format!("ltl {{ {} }}", expanded.trim());
                    let file = self.sources.add(COMMAND_LINE, text);
                    tokens.pop();
                    tokens.extend(self.verbatim_tokens(file));
                }
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
        tokens
    }

    fn parse_file(
        mut self,
        path: &Path,
        file: FileId,
        options: &Options,
    ) -> Result<Frontend, Failure> {
        if !preprocess::is_needed(&self.sources.file(file).text, options) {
            let tokens = self.verbatim_tokens(file);
            let tokens = self.with_formulas(tokens, path, false, options);
            return self.parse_tokens(tokens, file);
        }
        let preprocessed = match preprocess::run(path, options, &mut self.sources) {
            Ok((preprocessed, messages)) => {
                self.diagnostics.extend(messages);
                preprocessed
            }
            Err(messages) => {
                self.diagnostics.extend(messages);
                return Err(self.fail());
            }
        };
        let mut origin =
            Origin::preprocessed(&self.sources, &preprocessed.text, &preprocessed.lines);
        let tokens = lexer::tokenize(&preprocessed.text, &mut origin, &mut self.diagnostics);
        let tokens = self.with_formulas(tokens, path, true, options);
        self.parse_tokens(tokens, file)
    }

    fn parse_tokens(
        mut self,
        tokens: Vec<token::Token>,
        file: FileId,
    ) -> Result<Frontend, Failure> {
        let model = parser::parse(tokens, &mut self.diagnostics);
        // Names in a text that was not understood would only make noise.
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(self.fail());
        }
        let name = self.sources.file(file).name.clone();
        match model::lower(&model, name, &self.sources, &mut self.diagnostics) {
            Some((program, numbers)) => Ok(Frontend {
                program,
                numbers,
                warnings: self.diagnostics,
            }),
            None => Err(self.fail()),
        }
    }
}

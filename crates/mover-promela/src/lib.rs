//! Promela, the language of SPIN, in mover's terms.

pub mod ast;
mod layout;
mod lexer;
mod origin;
mod parser;
mod preprocess;
mod token;

use std::path::Path;
use mover_ir::diagnostic::Diagnostic;
use mover_ir::source::{SourceMap, FileId};
pub use preprocess::Options;

/// Why a model could not be taken.
#[derive(Debug)]
pub struct Failure {
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn read_ast(path: &Path, options: &Options) -> (SourceMap, Vec<Diagnostic>, ast::Model) {
    let mut sources = SourceMap::default();
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.to_string_lossy().into_owned();
    let file = sources.add(name, text.clone());
    let mut diagnostics = vec![];
    let tokens = if preprocess::is_needed(&text, options) {
        match preprocess::run(path, options, &mut sources) {
            Ok((p, d)) => { diagnostics.extend(d); lexer::tokenize(&p.text, &mut origin::Origin::preprocessed(&sources, &p.text, &p.lines), &mut diagnostics) }
            Err(d) => return (sources, d, ast::Model::default()),
        }
    } else { lexer::tokenize(&text, &mut origin::Origin::verbatim(&sources, &text, file), &mut diagnostics) };
    let _ = FileId(0);
    let model = parser::parse(tokens, &mut diagnostics);
    (sources, diagnostics, model)
}

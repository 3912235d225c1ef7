//! The models that the reducer is tested with.

use std::fs;
use std::path::PathBuf;

use mover_ir::program::Program;

pub struct Model {
    pub name: String,
    /// Its first line says what the plan should show.
    pub text: String,
    pub program: Program,
}

pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plan")
}

/// The models of the directory, by name.
pub fn models() -> Vec<Model> {
    let entries = fs::read_dir(directory()).expect("the models are there");
    let mut models: Vec<Model> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("readable");
            Model {
                name: path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                program: read(&text),
                text,
            }
        })
        .collect();
    models.sort_by(|a, b| a.name.cmp(&b.name));
    models
}

pub fn read(text: &str) -> Program {
    match mover_promela::parse_text("model", text) {
        Ok(read) => read.program,
        Err(failure) => {
            let messages: Vec<_> = failure.diagnostics.iter().map(|d| &d.message).collect();
            panic!("no model: {messages:?}\n{text}")
        }
    }
}

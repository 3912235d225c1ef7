//! Programs in files, so that earlier failures can be tested again.
//!
//! A file contains the program in readable form, as `--dump ir` prints it, and once more as
//! data.

use mover_ir::print::print_program;
use mover_ir::program::Program;
use mover_ir::validate::{IllFormed, validate};
use serde_json::{Value, json};

/// What the name of such a file ends in.
pub const EXTENSION: &str = "ir.json";

/// Why a text is no program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramFileError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("there is no `program` in it")]
    NoProgram,
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
}

pub fn write(program: &Program, about: &str) -> Result<String, serde_json::Error> {
    let data = serde_json::to_value(program)?;
    let lines: Vec<String> = print_program(program).lines().map(String::from).collect();
    let file = json!({ "about": about, "text": lines, "program": data });
    let mut text = serde_json::to_string_pretty(&file)?;
    text.push('\n');
    Ok(text)
}

pub fn read(text: &str) -> Result<Program, ProgramFileError> {
    let file: Value = serde_json::from_str(text)?;
    let data = file.get("program").ok_or(ProgramFileError::NoProgram)?;
    let mut program: Program = serde_json::from_value(data.clone())?;
    // Claims say where they are.
    program.info_mut().sources.add("claims", "claimed");
    validate(&program)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use mover_ir::print::print_program;

    #[test]
    fn a_program_is_the_same_when_read_again() {
        for seed in 0..60 {
            let program = crate::ir::random(seed);
            let read = read(&write(&program, "nothing").unwrap()).unwrap();
            assert_eq!(print_program(&read), print_program(&program));
            assert_eq!(
                (read.pointers_stay, read.presence, &read.info.exclusive),
                (
                    program.pointers_stay,
                    program.presence,
                    &program.info.exclusive
                )
            );
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let text = write(&crate::ir::random(1), "nothing").unwrap();
        assert!(read(&text[..text.len() / 2]).is_err());
        assert!(read("{}").is_err());
        let leads_nowhere = text.replacen("\"target\": ", "\"target\": 99", 1);
        assert_ne!(leads_nowhere, text);
        assert!(read(&leads_nowhere).is_err());
    }
}

//! Statements that no run reaches, as SPIN's verifier lists them after a search.
//!
//! A statement is reached if some process comes to where it may be executed next, even if it never can be. A
//! reduction does not tell this, so all states are visited without one ([`mover_explicit::reached`]).

use mover_engine::{Control, Task};
use mover_explicit::reached::{NotAll, reached};
use mover_ir::program::SourceStatement;

/// What a process never reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreached {
    pub process: String,
    pub statements: Vec<Statement>,
    /// How many statements it has.
    pub of: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// The statements of each process that no run reaches.
pub fn unreached(task: &Task, control: &Control) -> Result<Vec<Unreached>, NotAll> {
    let program = task.program();
    let reached = reached(program, control)?;
    let info = &program.info;
    let mut processes: Vec<Unreached> = (program.templates.iter())
        .map(|template| Unreached {
            process: template.name.clone(),
            statements: Vec::new(),
            of: 0,
        })
        .collect();
    for statement in &info.statements {
        let process = &mut processes[statement.template.index()];
        process.of += 1;
        let SourceStatement { template, at, .. } = statement;
        if !at
            .iter()
            .any(|&location| reached.contains(*template, location))
        {
            let place = info.sources.locate(statement.span);
            process.statements.push(Statement {
                file: place.file.to_string(),
                line: place.line,
                text: statement.text.clone(),
            });
        }
    }
    Ok(processes)
}

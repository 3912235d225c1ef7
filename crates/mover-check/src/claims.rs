//! Diagnostics for claims of exclusive access.
//!
//! A claim whose predicate violates the conditions on exclusive access predicates (Flanagan and
//! Qadeer 2003) is an error: a reduction that relied on it could miss errors. An access that
//! breaches a claim is an error of the program ([`mod@mover_reduce::transform::claim_edges`]); a
//! reduction then ignores the claim, and the user is told.

use mover_engine::{BrokenClaim, Task};
use mover_ir::program::Program;
use mover_reduce::facts::owners::Flaw;
use mover_source::diagnostic::Diagnostic;

use crate::CheckError;

/// Refuses claims that are wrong.
pub fn check(task: &Task) -> Result<(), CheckError> {
    let (Some(facts), Ok(movers)) = (task.facts(), task.movers_between_timeouts()) else {
        return Ok(());
    };
    let program = &movers.fused.program;
    let wrong: Vec<Diagnostic> = facts
        .owners
        .flaws
        .iter()
        .filter_map(|(given, flaw)| complaint(program, *given, flaw))
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(CheckError::WrongClaims(wrong))
    }
}

/// What is wrong with a claim that a reduction would use.
fn complaint(program: &Program, given: usize, flaw: &Flaw) -> Option<Diagnostic> {
    let claim = &program.info.exclusive[given];
    let refused = |label: String| {
        Diagnostic::coded(
            "P040",
            "this cannot serve as a predicate of exclusive access",
        )
        .at(claim.span, label)
    };
    let complaint = match flaw {
        // It is checked where the variable is accessed, and no reduction uses it.
        Flaw::Form => return None,
        Flaw::Values => refused("its variable can have too many values to check them all".into())
            .help("give the variable a smaller type, or assign only constants and `_pid` to it"),
        Flaw::Shared { value, threads } => refused(format!(
            "with the value {value} it holds for the processes {} and {}",
            threads.0, threads.1
        ))
        .help("at most one process may have exclusive access"),
        Flaw::Changed { edge, threads } => {
            let complaint = refused("another process can give or take the access".into());
            let step = edge.of(program);
            let told = format!(
                "here process {} may change whether it holds for process {}",
                threads.0, threads.1
            );
            match step.span {
                Some(span) => complaint.related(span, told),
                None => complaint,
            }
            .help("each process must acquire and release the access itself, and the condition for that must be in the same step")
        }
    };
    Some(complaint)
}

/// Warnings about accesses that do not keep to what the user claims.
pub fn broken(task: &Task, broken: &[BrokenClaim]) -> Vec<Diagnostic> {
    if broken.is_empty() {
        return Vec::new();
    }
    let Ok(movers) = task.movers_between_timeouts() else {
        return Vec::new();
    };
    let program = &movers.fused.program;
    let warning = |broken: &BrokenClaim| {
        let claim = &program.info.exclusive[broken.given];
        let name = &program.globals[claim.variable.index()].name;
        let warning = Diagnostic::warning(format!(
            "`{name}` is also used where this does not hold, so the reduction ignores the claim"
        ))
        .at(claim.span, "");
        match broken.edge.of(program).span {
            Some(span) => warning.related(span, "first here".to_string()),
            None => warning,
        }
    };
    broken.iter().map(warning).collect()
}

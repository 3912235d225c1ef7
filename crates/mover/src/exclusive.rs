//! What the user claims of exclusive access, and what is to be said of it.
//!
//! A claim whose predicate breaks the conditions of exclusive access predicates is
//! refused: a reduction that believed it could miss errors. A claim that some
//! access does not keep to is harmless, since the reduction then counts on it no
//! longer, but the user will want to know.

use mover_explicit::BrokenClaim;
use mover_ir::program::Program;
use mover_reduce::facts::access::EdgeRef;
use mover_reduce::facts::owners::Flaw;
use mover_reduce::{Movers, PhaseFacts};
use mover_source::diagnostic::Diagnostic;

use mover_cli::diagnostics::show;
use mover_cli::{Cause, CliError};

/// The facts for classes found out during the search, unless a claim is wrong.
pub fn facts(movers: &Movers) -> Result<PhaseFacts, CliError> {
    let program = &movers.fused.program;
    let facts = PhaseFacts::new(movers);
    let wrong: Vec<Diagnostic> = facts
        .owners
        .flaws
        .iter()
        .map(|(given, flaw)| complaint(program, *given, flaw))
        .collect();
    if wrong.is_empty() {
        return Ok(facts);
    }
    show(&program.info.sources, &wrong);
    Err(CliError::Reported(Cause::Input))
}

fn complaint(program: &Program, given: usize, flaw: &Flaw) -> Diagnostic {
    let claim = &program.info.exclusive[given];
    let refused = |label: String| {
        Diagnostic::coded(
            "P040",
            "this cannot serve as a predicate of exclusive access",
        )
        .at(claim.span, label)
    };
    match flaw {
        Flaw::Form => refused("not about one variable and the number of the process".into()).help(
            "write a condition over one global variable that is no array and the number of the process, such as `owner == _pid + 1`; in C name a mutex to which the program has no pointer",
        ),
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
            .help("each process must take the access and give it back by itself, and the condition for that must be in the same step")
        }
    }
}

/// Tells of accesses that do not keep to what the user claims.
pub fn warn(movers: &Movers, broken: &[BrokenClaim]) {
    let program = &movers.fused.program;
    let line = |edge: EdgeRef| edge.of(program).span;
    let warnings: Vec<Diagnostic> = broken
        .iter()
        .map(|broken| {
            let claim = &program.info.exclusive[broken.given];
            let name = &program.globals[claim.variable.index()].name;
            let warning = Diagnostic::warning(format!(
                "`{name}` is also used where this does not hold, so the reduction makes nothing of it"
            ))
            .at(claim.span, "");
            match line(broken.edge) {
                Some(span) => warning.related(span, "first here".to_string()),
                None => warning,
            }
        })
        .collect();
    show(&program.info.sources, &warnings);
}

//! `--ltl` and `--ltl-file`: which claims are checked.
//!
//! C has no claims of its own, so each word is a formula there ([`mover_check::formula`]).
//!
//! What is named on the command line is all that is asked about, unless `--property` names more. A
//! word is the name of a claim of the model if there is one, else it is a formula.

use mover_cli::CliError;
use mover_ir::program::{Program, Property};
use mover_tools::visible;

use super::CheckArgs;
use crate::input::{self, Input};

/// Reads the program, with the formulas of the command line.
pub fn read(args: &mut CheckArgs, mut asked: Vec<Property>) -> Result<Input, CliError> {
    for file in &args.ltl_file {
        let text = std::fs::read_to_string(file)
            .map_err(|error| CliError::input("U006", format!("{}: {error}", file.display())))?;
        args.ltl.push(text.trim().to_string());
    }
    if args.ltl.is_empty() {
        return input::read(&args.input, &asked);
    }
    if !asked.contains(&Property::Claims) {
        asked.push(Property::Claims);
    }
    if args.input.is_c() {
        let mut input = input::read(&args.input, &asked)?;
        for text in &args.ltl {
            let claim = mover_check::formula::claim(&input.program, text).map_err(|reason| {
                CliError::usage("U002", format!("--ltl '{}': {reason}", visible::name(text)))
            })?;
            input.program.info_mut().claims.push(claim);
        }
        return Ok(input);
    }
    let is_word = |text: &&String| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let formulas = args.ltl.iter().filter(|text| !is_word(text));
    args.input.formulas = formulas.cloned().collect();
    input::read(&args.input, &asked)
}

/// Keeps the claims that the command line names.
pub fn select(args: &CheckArgs, program: &mut Program) -> Result<(), CliError> {
    if args.ltl.is_empty() || args.input.is_c() {
        return Ok(());
    }
    let claims = &mut program.info_mut().claims;
    let names: Vec<String> = claims
        .iter()
        .filter_map(|claim| claim.name.clone())
        .collect();
    let is_word = |text: &&String| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if let Some(unknown) = args
        .ltl
        .iter()
        .filter(is_word)
        .find(|&name| !names.contains(name))
    {
        let known = match &names[..] {
            [] => "it has none with a name".into(),
            _ => format!("its claims are {}", names.join(", ")),
        };
        let reason = format!("the model has no claim `{unknown}`; {known}");
        return Err(CliError::usage("U002", reason));
    }
    claims.retain(|claim| {
        let is_from_command_line = claim.line.is_none();
        is_from_command_line
            || claim
                .name
                .as_ref()
                .is_some_and(|name| args.ltl.contains(name))
    });
    Ok(())
}

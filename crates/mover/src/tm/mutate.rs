//! `mover tm mutate`: single-statement mutants of an algorithm.
//!
//! An algorithm is broken on purpose, one statement at a time, and checked for the properties that
//! it has unbroken. A mutant that is caught shows that the statement matters; one that survives is
//! a statement that the properties do not need, or a property that is missing.

use clap::Args;
use mover_cli::{CliError, Exit, stderr_line};
use mover_source::SourceMap;
use mover_tm::language::{self, syntax};
use mover_tm::mutate::{self, Survey};
use serde_json::json;

use super::{read, refuse, say};

#[derive(Args)]
pub struct MutateArgs {
    /// The algorithm
    file: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &MutateArgs) -> Result<Exit, CliError> {
    let mut sources = SourceMap::default();
    let id = read(&args.file, &mut sources)?;
    let parsed: Result<syntax::File, _> = language::parser::parse(&sources.file(id).text, id);
    let outcome = parsed.and_then(|tree| mutate::run(&tree));
    let Survey { criteria, results } = outcome.map_err(|errors| refuse(&errors, &sources))?;
    if criteria.is_empty() {
        stderr_line!("note: the algorithm has none of the properties, so no mutant can be caught");
    } else {
        stderr_line!("note: checked for {}", criteria.join(", "));
    }
    let caught = results.iter().filter(|r| !r.caught_by.is_empty()).count();
    for result in &results {
        let place = sources.locate(result.mutant.span);
        let by: Vec<&str> = result.caught_by.iter().map(|c| c.as_str()).collect();
        if args.json {
            say(&json!({
                "line": place.line,
                "mutation": result.mutant.kind.name(),
                "text": sources.text(result.mutant.span),
                "caught_by": by,
                "words": result.words.map(|words| words.name()),
            })
            .to_string())?;
        } else {
            let text: Vec<&str> = sources
                .text(result.mutant.span)
                .split_whitespace()
                .collect();
            say(&format!(
                "{place}: {} `{}`: {}",
                result.mutant.kind.name(),
                text.join(" "),
                match result.words {
                    Some(words) => format!("survives ({})", words.name()),
                    None => format!("caught by {}", by.join(", ")),
                }
            ))?;
        }
    }
    if !args.json {
        say(&format!("{caught} of {} mutants caught", results.len()))?;
    }
    Ok(Exit::Success)
}

//! `mover tm spec`: the specifications themselves, compared with each other.
//!
//! Each safety property has an exact monitor and the automata of the paper; here their sizes are
//! counted and their languages compared, so that what an algorithm is checked against is itself
//! checked.

use clap::Args;
use mover_cli::{CliError, Exit};
use mover_tm::property::Property;
use mover_tm::specifications;
use mover_tm::word::print_word;
use serde_json::json;

use super::{parse_count, say};

#[derive(Args)]
pub struct SpecArgs {
    #[arg(long, value_parser = parse_count, default_value = "2")]
    threads: usize,
    #[arg(long, value_parser = parse_count, default_value = "2")]
    vars: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &SpecArgs) -> Result<Exit, CliError> {
    let rows = specifications::compare(args.threads, args.vars);
    let mut all_equal = true;
    let mut all_known = true;
    let mut objects = Vec::new();
    for row in &rows {
        let count = |n: Option<usize>| n.map_or("too many".to_string(), |n| n.to_string());
        all_equal &= row.differs.is_none();
        all_known &= row.compared;
        if args.json {
            objects.push(json!({
                "property": Property::Safety(row.property).name(),
                "monitor_states": row.monitor,
                "minimal_states": row.minimal,
                "deterministic_states": row.deterministic,
                "nondeterministic_states": row.nondeterministic,
                "equivalent": row.compared.then_some(row.differs.is_none()),
                "difference": row.differs.as_ref().map(|(_, word)| print_word(word)),
            }));
            continue;
        }
        say(&format!(
            "{}: exact monitor {} states, least automaton {}, deterministic (Algorithm 6, corrected) {}, nondeterministic (Algorithm 5, corrected) {}",
            Property::Safety(row.property),
            count(row.monitor),
            count(row.minimal),
            count(row.deterministic),
            count(row.nondeterministic)
        ))?;
        if let Some((which, word)) = &row.differs {
            say(&format!("  {which} at {}", print_word(word)))?;
        }
    }
    let (exit, words) = match (all_equal, all_known) {
        (false, _) => (Exit::Unsafe, "the specifications differ"),
        (true, false) => (Exit::Unknown, "unknown: too large to compare"),
        (true, true) => (
            Exit::Success,
            "the specifications are equivalent (by antichains)",
        ),
    };
    if args.json {
        say(&json!({
            "threads": args.threads,
            "variables": args.vars,
            "equivalent": all_known.then_some(all_equal),
            "specifications": objects,
        })
        .to_string())?;
    } else {
        say(words)?;
    }
    Ok(exit)
}

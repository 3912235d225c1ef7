//! `mover tm word`: words of statements, judged by the specifications.
//!
//! A word is refused at its first statement that no accepted word continues with; only the part up
//! to there is explained.

use std::io::BufRead;

use clap::Args;
use mover_cli::diagnostics::show;
use mover_cli::{Cause, CliError, Exit};
use mover_source::diagnostic::Diagnostic;
use mover_source::{SourceMap, Span};
use mover_tm::explain::{explain, table};
use mover_tm::extended::{has_extra, refuse_malformed};
use mover_tm::monitor::{extended_specification, specification};
use mover_tm::property::{Safety, Update, is_defined};
use mover_tm::word::{Statement, extent, parse_word, print_word};
use serde_json::json;

use super::say;

#[derive(Args)]
pub struct WordArgs {
    /// The words; `-` reads one word per line from standard input
    #[arg(required = true)]
    words: Vec<String>,
    /// When writes take effect: deferred (at the commit) or direct
    #[arg(long, value_parser = parse_update, default_value = "deferred")]
    update: Update,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

/// A name that no kind of update has.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("there are deferred and direct")]
struct UnknownUpdate;

fn parse_update(name: &str) -> Result<Update, UnknownUpdate> {
    [Update::Deferred, Update::Direct]
        .into_iter()
        .find(|update| update.name() == name)
        .ok_or(UnknownUpdate)
}

/// Longer words are judged, but not explained.
const EXPLAINED: usize = 2000;

pub fn run(args: &WordArgs) -> Result<Exit, CliError> {
    let mut are_opaque = true;
    let mut are_words = true;
    for text in &texts(args)? {
        match parse_word(text) {
            Ok(word) => are_opaque &= judge(&word, args)?,
            Err(error) => {
                let mut sources = SourceMap::default();
                let file = sources.add("word", text.clone());
                let place = Span::new(file, error.start, error.end);
                let wrong = Diagnostic::coded("T031", error.message).at(place, "");
                show(&sources, &[wrong]);
                // The other words are judged nevertheless.
                are_words = false;
            }
        }
    }
    match (are_words, are_opaque) {
        (false, _) => Err(CliError::Reported(Cause::Input)),
        (true, false) => Ok(Exit::Unsafe),
        (true, true) => Ok(Exit::Success),
    }
}

/// The words of the command line, and those of standard input where it is named.
fn texts(args: &WordArgs) -> Result<Vec<String>, CliError> {
    let mut texts = Vec::new();
    for word in &args.words {
        if word != "-" {
            texts.push(word.clone());
            continue;
        }
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| {
                CliError::input("U010", format!("cannot read standard input: {error}"))
            })?;
            if !line.trim().is_empty() {
                texts.push(line);
            }
        }
    }
    Ok(texts)
}

/// Prints what holds of a word; whether it is opaque.
fn judge(word: &[Statement], args: &WordArgs) -> Result<bool, CliError> {
    let (threads, variables) = extent(word);
    let extended = has_extra(word);
    refuse_malformed(word).map_err(|error| CliError::input("T031", error))?;
    let unsupported = |message: &str| CliError::input("T031", message);
    if extended && args.update == Update::Direct {
        return Err(unsupported(
            "statements beyond reads, writes, commits and aborts need --update deferred",
        ));
    }
    if extended && extended_specification(Safety::Opacity, threads, variables).is_none() {
        return Err(unsupported(
            "too many threads and variables for such a word",
        ));
    }
    let accepted = |property: Safety| {
        let (threads, variables) = (threads.max(1), variables.max(1));
        let spec = match extended {
            true => extended_specification(property, threads, variables),
            false => specification(property, args.update, threads, variables),
        };
        spec.map(|spec| spec.accepted_prefix(word))
    };
    let holds = |property: Safety| accepted(property).map(|length| length == word.len());
    let strict = holds(Safety::StrictSerializability) == Some(true);
    let opaque = holds(Safety::Opacity) == Some(true);
    let asked = match (strict, opaque) {
        (false, _) => Safety::StrictSerializability,
        (true, _) => Safety::Opacity,
    };
    let refused = accepted(asked).map_or(word.len(), |length| (length + 1).min(word.len()));
    let explanation = match refused <= EXPLAINED {
        true => explain(&word[..refused], asked, args.update).text(),
        false => format!("Too long to explain; decided by statement {refused}."),
    };
    if args.json {
        let mut object = json!({
            "word": print_word(word),
            "strictly_serializable": strict,
            "opaque": opaque,
            "explanation": explanation,
            "serializable": holds(Safety::Serializability),
        });
        if is_defined(Safety::SnapshotIsolation, args.update) {
            object["snapshot_isolated"] = json!(holds(Safety::SnapshotIsolation));
        }
        say(&object.to_string())?;
    } else {
        if word.len() <= 40 {
            say(&table(word))?;
        }
        say(&explanation)?;
        let so = |yes: bool| if yes { "" } else { "not " };
        say(&format!(
            "{}: {}strictly serializable, {}opaque",
            print_word(word),
            so(strict),
            so(opaque)
        ))?;
    }
    Ok(strict && opaque)
}

//! Errors have codes, and codes have pages.
//!
//! A front end names the kind of each error it reports (`P…` Promela, `C…` C, `T…`
//! transactional memories); what is wrong with the command line or with files is `U…`. The
//! pages are those of the guide, built into the program, so that `mover --explain-error
//! P020` works everywhere. A test compares the codes in the sources with the pages.

use mover_cli::output::print;
use mover_cli::{CliError, Exit};

macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        &[$(($code, include_str!(concat!("../../../docs/guide/errors/", $code, ".md")))),*]
    };
}

/// By code.
const PAGES: &[(&str, &str)] = pages![
    "P001", "P002", "P003", "P010", "P020", "P021", "P030", "P031", "P032", "P033", "P034", "P035",
    "P036", "P040", "C001", "C002", "C003", "C010", "C011", "C012", "C013", "C014", "C015", "C016",
    "C099", "T001", "T010", "T020", "T021", "T030", "T031", "U001", "U002", "U003", "U004", "U005",
    "U006", "U007", "U008", "U009", "U010", "U011", "U012", "U013", "U014", "U015",
];

/// `mover --explain-error CODE`.
pub fn explain(code: &str) -> Result<Exit, CliError> {
    let wanted = code.trim_matches(['[', ']']).to_uppercase();
    let Some((_, page)) = PAGES.iter().find(|(code, _)| *code == wanted) else {
        let known: Vec<&str> = PAGES.iter().map(|(code, _)| *code).collect();
        let message = format!(
            "there is no error code `{code}`; there are {}",
            known.join(", ")
        );
        return Err(CliError::usage("U001", message));
    };
    print(page)?;
    Ok(Exit::Success)
}

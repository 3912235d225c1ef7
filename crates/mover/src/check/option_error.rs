//! Options of `mover check` that are refused before the search.

use mover_cli::output::OutputError;

/// Why options do not go together, or one of them cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// The option means something only with another one, or with a value in some range.
    #[error("{option} needs {what}")]
    Needs {
        option: &'static str,
        what: &'static str,
    },
    /// The option is for other programs or other searches.
    #[error("{option} is for {what}")]
    IsFor {
        option: &'static str,
        what: &'static str,
    },
    #[error("`--engine token` is reduced by `--pairs`, not by `--reduce`")]
    ReducedToken,
    #[error(
        "--pairs, --context-bound, --thread-order and --no-few-passes-first need `--engine token`"
    )]
    TokenOptions,
    #[error("--context-bound counts passes of the token; `--pairs reads-from` has none")]
    PassesWithoutToken,
    #[error("--reduce peephole omits runs and cannot be combined with --contexts")]
    PeepholeContexts,
    #[error("--ignoring {0} is a part of a reduction; remove `--reduce none`")]
    IgnoringUnreduced(&'static str),
    #[error("--ignoring {0} searches depth first; remove `--order bfs`")]
    IgnoringBreadthFirst(&'static str),
    #[error(
        "{option} cannot be combined with `--ignoring {ignoring}`; `--ignoring blocks` can be resumed"
    )]
    CheckpointIgnoring {
        option: &'static str,
        ignoring: &'static str,
    },
    #[error("--keep-going counts all states and works only with `--reduce none`")]
    KeepGoingReduced,
    #[error("SVG is drawn by Graphviz's `dot`: install the package graphviz, or write a .dot file")]
    NoGraphviz,
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl OptionError {
    pub fn needs(option: &'static str, what: &'static str) -> Self {
        OptionError::Needs { option, what }
    }

    pub fn is_for(option: &'static str, what: &'static str) -> Self {
        OptionError::IsFor { option, what }
    }
}

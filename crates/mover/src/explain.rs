//! `mover explain`: mover classes at the source lines.
//!
//! Shows the facts on which the static reduction is based: which lock protects which object,
//! the mover class of each statement with its reasons, and the resulting transactions. With
//! `--mat` it shows the pairs of accesses that the token engine uses instead (`mat`).

use clap::Args;
use mover_check::explanation::explain;
use mover_check::plan_text;
use mover_cli::output::print;
use mover_cli::{CliError, Exit};
use mover_engine::Task;
use mover_report::explain;

use crate::input::{self, InputArgs};
use crate::mat;
use crate::signals::end_on_signal;

#[derive(Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Show between which transactions `--engine token --pairs mat` may pass the token; with
    /// `--mat=accesses` the same for single accesses, as in the paper
    #[arg(long, value_enum, value_name = "EVENTS", num_args = 0..=1, require_equals = true,
          default_missing_value = "transactions")]
    mat: Option<mat::Events>,

    /// Show the whole reduction plan, edge by edge: classes that are known beforehand, and the
    /// conditions under which a step moves with `--reduce dynamic`
    #[arg(long, conflicts_with_all = ["mat", "json"])]
    plan: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(mut args: ExplainArgs) -> Result<Exit, CliError> {
    args.input.complete()?;
    end_on_signal();
    let name = args.input.name();
    let input = input::read(&args.input, &[])?;
    let told = if let Some(events) = args.mat {
        mat::explain(&name, &input.program, events, args.json)?
    } else if args.plan {
        plan_text(&input.program)
    } else {
        // Variables that a search would not keep are part of the source, too, and errors that a
        // search adds are not.
        let task = Task::unchanged(input.program, input.properties).keep_dead_values(true);
        let movers = task
            .movers()
            .map_err(|reason| CliError::input("U009", format!("{name}: {reason}")))?;
        let explanation = explain(movers);
        if args.json {
            format!("{}\n", explain::json(&explanation))
        } else {
            explain::text(&explanation)
        }
    };
    print(&told)?;
    Ok(Exit::Success)
}

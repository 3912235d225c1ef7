//! For shells and readers of manuals: completions and man pages, made from the
//! arguments themselves, and what this build of mover can do.
//!
//! `bench` and `fuzz` are listed as commands; their options belong to the programs that they run
//! (`delegate`) and are known only there.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use mover_cli::output::print;
use mover_cli::{Cause, CliError, Exit};

use crate::CommandLine;

/// What `mover --version` says: the version, then what was built in.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nlanguages: Promela, transactional memories",
    c_feature!(),
    "\nengines: explicit, bmc, ic3, modular, token\nreductions: none, static, left, phase, dynamic, peephole\n",
    "formats: text, JSON, SARIF 2.1.0, SV-COMP witnesses (YAML 2.0 and 2.2, GraphML 1.0), ",
    "SPIN trails, DOT"
);

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell to write completions for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// The command whose page to write (default: mover's own)
    command: Vec<String>,
}

pub fn completions(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut out = Vec::new();
    generate(args.shell, &mut CommandLine::command(), "mover", &mut out);
    tell(&out)
}

pub fn man(args: &ManArgs) -> Result<Exit, CliError> {
    let mut command = CommandLine::command();
    command.build();
    let mut name = "mover".to_string();
    for part in &args.command {
        let Some(inner) = command.find_subcommand(part) else {
            let message = format!("there is no command `{name} {part}`");
            return Err(CliError::usage("U001", message));
        };
        command = inner.clone();
        name = format!("{name} {part}");
    }
    let mut out = Vec::new();
    let page = Man::new(command).title(name.replace(' ', "-"));
    page.render(&mut out).map_err(|error| {
        let message = format!("the page cannot be made: {error}");
        CliError::uncoded(Cause::Internal, message)
    })?;
    tell(&out)
}

fn tell(text: &[u8]) -> Result<Exit, CliError> {
    print(&String::from_utf8_lossy(text))?;
    Ok(Exit::Success)
}

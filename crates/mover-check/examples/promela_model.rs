//! A Promela model, from its text to the printed answer.

use std::error::Error;

use mover_report::text::{self, Rows, Style};

const MODEL: &str = "
byte flag[2], inside;

active [2] proctype P() {
    flag[_pid] = 1;
    flag[1 - _pid] == 0;
    inside++;
    assert(inside == 1);
    inside--;
    flag[_pid] = 0
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let read = mover_promela::parse_text("flags.pml", MODEL)
        .map_err(|failure| format!("{} errors", failure.diagnostics.len()))?;
    let answer = mover_check::check(&read.program).run()?;
    let plain = Style { color: false };
    print!("{}", text::answer(&answer, plain, Rows::Folded, false));
    Ok(())
}

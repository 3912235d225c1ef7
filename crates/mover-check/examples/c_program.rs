//! A C program with POSIX threads, from its file to the printed answer.

use std::error::Error;
use std::path::PathBuf;

use mover_report::text::{self, Rows, Style};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: c_program FILE.c")?;
    let options = mover_c::Options::default();
    let read = mover_c::read(&[PathBuf::from(file)], &options)
        .map_err(|failure| format!("{} errors", failure.diagnostics.len()))?;
    let mut question = mover_check::check(&read.program);
    for property in mover_c::DEFAULT_PROPERTIES {
        question = question.property(property);
    }
    let answer = question.run()?;
    let plain = Style { color: false };
    print!("{}", text::answer(&answer, plain, Rows::Folded, false));
    Ok(())
}

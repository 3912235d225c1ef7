//! A run as a message sequence chart, in text.
//!
//! Each process has a column, each message that is sent or received a row, with the number of its step. A
//! rendezvous is one row with both of its processes. The heading is repeated when a process is new.

use mover_ir::print::print_value;
use mover_ir::program::Program;
use mover_ir::semantics::{MessageEvent, State};

/// The columns so far.
#[derive(Default)]
pub struct Chart {
    columns: Vec<Column>,
}

struct Column {
    thread: usize,
    name: String,
}

const WIDTH: usize = 18;

impl Chart {
    /// The row of a step, below a heading if it needs one.
    pub fn rows(
        &mut self,
        program: &Program,
        state: &State,
        number: usize,
        event: &MessageEvent,
    ) -> String {
        let mut text = String::new();
        if self.add_columns(program, state) {
            let names = self.columns.iter().map(|column| column.name.clone());
            text += &row("step", names);
        }
        let fields = event.channel.fields.iter().zip(&event.message);
        let fields =
            fields.map(|(field, &value)| print_value(program, field.ty, field.symbols, value));
        let message = fields.collect::<Vec<_>>().join(",");
        let cells = self.columns.iter().map(|column| {
            let here = Some(column.thread);
            let sign = match () {
                () if event.sender == here => '!',
                () if event.receiver == here => '?',
                () => return "│".into(),
            };
            format!("{}{sign}{message}", event.channel.name)
        });
        text + &row(&number.to_string(), cells)
    }

    /// Columns for the threads of a state; a number that is used again has a new name.
    fn add_columns(&mut self, program: &Program, state: &State) -> bool {
        let mut is_changed = false;
        for (thread, alive) in state.threads.iter().enumerate() {
            let Some(alive) = alive else { continue };
            let name = format!("{}[{thread}]", program.template(alive.template).name);
            match self
                .columns
                .iter_mut()
                .find(|column| column.thread == thread)
            {
                Some(column) if column.name == name => {}
                Some(column) => {
                    column.name = name;
                    is_changed = true;
                }
                None => {
                    self.columns.push(Column { thread, name });
                    is_changed = true;
                }
            }
        }
        is_changed
    }
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> String {
    let mut line = format!("{first:>5}");
    for cell in cells {
        line += &format!("  {cell:<WIDTH$}");
    }
    format!("{}\n", line.trim_end())
}

//! `mover simulate`: one run of the program, chosen at random or by the user.
//!
//! The run is a run of the concrete semantics, so what is shown can happen. A simulation proves
//! nothing: it ends with what it has seen, not with a verdict.

use std::io::{BufRead, Write};

use clap::Args;
use mover_check::trace::{TraceStep, describe_step};
use mover_cli::output::print;
use mover_cli::{CliError, Exit};
use mover_ir::print::print_value;
use mover_ir::program::{Program, Variable};
use mover_ir::semantics::{Machine, State, Step};

use crate::input::{self, InputArgs};
use chart::Chart;

mod chart;

#[derive(Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Number that decides the random choices; the same number gives the same run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Stop after this many steps
    #[arg(long, value_name = "N", default_value_t = 1000)]
    steps: usize,

    /// Choose each step yourself: a number takes a step, `b` goes back, `v` shows values, `r` takes
    /// a random step, `q` quits
    #[arg(long, conflicts_with = "chart")]
    interactive: bool,

    /// Promela: show messages only, in a column for each process (a message sequence chart)
    #[arg(long)]
    chart: bool,
}

/// How a simulation ended.
enum End {
    /// Nothing can move, and every thread is at a proper end.
    Proper,
    /// An error or a deadlock, and its words.
    Wrong(String),
    /// A bound: what the run would do is not known.
    Bound(String),
    /// There would be more steps.
    Stopped,
}

pub fn run(args: &SimulateArgs) -> Result<Exit, CliError> {
    let input = input::read(&args.input, &[])?;
    let program = &input.program;
    let machine = Machine::new(program);
    let mut simulation = Simulation {
        program,
        machine: &machine,
        states: vec![machine.initial()],
        random: args.seed ^ 0x9e37_79b9_7f4a_7c15,
        chart: args.chart.then(Chart::default),
    };
    let end = if args.interactive {
        simulation.by_hand(&mut std::io::stdin().lock())?
    } else {
        simulation.at_random(args.steps)?
    };
    let steps = simulation.states.len() - 1;
    let (words, exit) = match end {
        End::Proper => (
            format!("the run ends properly after {steps} steps"),
            Exit::Success,
        ),
        End::Stopped => (format!("stopped after {steps} steps"), Exit::Success),
        End::Bound(message) => (format!("the run is cut off: {message}"), Exit::Unknown),
        End::Wrong(message) => (format!("unsafe: {message}"), Exit::Unsafe),
    };
    print(&format!("{words}\n"))?;
    Ok(exit)
}

struct Simulation<'p> {
    program: &'p Program,
    machine: &'p Machine<'p>,
    /// The states of the run so far.
    states: Vec<State>,
    random: u64,
    /// If only messages are shown.
    chart: Option<Chart>,
}

impl Simulation<'_> {
    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*, Vigna 2016.
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % bound.max(1)
    }

    /// One of the possible steps, each as likely as the others; none at the end.
    fn random_step(&mut self) -> Option<Step> {
        let steps = self.machine.undecided_steps(self.state());
        let count = steps.len() as u64;
        if count == 0 {
            return None;
        }
        let step = steps[self.below(count) as usize];
        let choice = match self.machine.choices(self.state(), step) {
            None => 0,
            Some(last) => self.below(last.saturating_add(1)),
        };
        Some(Step { choice, ..step })
    }

    fn take(&mut self, step: Step) -> Result<(), CliError> {
        let (next, output) = self.machine.apply_with_output(self.state(), step);
        let number = self.states.len();
        let told = match &mut self.chart {
            Some(chart) => {
                let before = &self.states[number - 1];
                let event = self.machine.message_of(before, step);
                event.map(|event| chart.rows(self.program, before, number, &event))
            }
            None => {
                let told = describe_step(self.program, self.state(), &next, step, output);
                Some(line(number, &told))
            }
        };
        self.states.push(next);
        match told {
            Some(told) => print(&told),
            None => Ok(()),
        }
    }

    fn end(&self) -> End {
        let state = self.state();
        if let Some((_, mark)) = self.machine.error(state) {
            return End::Wrong(mark.message.clone());
        }
        if let Some((_, mark)) = self.machine.bound(state) {
            return End::Bound(mark.message.clone());
        }
        if self.machine.is_deadlock(state) {
            return End::Wrong("deadlock: no thread can move".into());
        }
        End::Proper
    }

    fn at_random(&mut self, most: usize) -> Result<End, CliError> {
        for _ in 0..most {
            match self.random_step() {
                Some(step) => self.take(step)?,
                None => return Ok(self.end()),
            }
        }
        Ok(
            match self.machine.undecided_steps(self.state()).is_empty() {
                true => self.end(),
                false => End::Stopped,
            },
        )
    }

    fn by_hand(&mut self, input: &mut dyn BufRead) -> Result<End, CliError> {
        loop {
            let steps = self.machine.undecided_steps(self.state());
            let mut menu = String::new();
            for (number, &step) in steps.iter().enumerate() {
                let next = self.machine.apply(self.state(), step);
                let told = describe_step(self.program, self.state(), &next, step, String::new());
                menu += &format!("  {}) {}: {}\n", number + 1, place(&told), told.text);
            }
            if steps.is_empty() {
                menu += "  no step is possible; b goes back\n";
            }
            print(&format!("{menu}> "))?;
            // What cannot be flushed cannot be read by anybody.
            let _ = std::io::stdout().flush();
            let mut answer = String::new();
            match input.read_line(&mut answer) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Ok(self.stopped(&steps)),
            }
            match answer.trim() {
                "q" => return Ok(self.stopped(&steps)),
                "b" => {
                    if self.states.len() > 1 {
                        self.states.pop();
                    }
                }
                "v" => print(&values(self.program, self.state()))?,
                "r" => {
                    if let Some(step) = self.random_step() {
                        self.take(step)?;
                    }
                }
                other => {
                    let number = other.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                    match number.and_then(|number| steps.get(number)) {
                        Some(&step) => self.take(step)?,
                        None => print("a number, b (back), v (values), r (random) or q (quit)\n")?,
                    }
                }
            }
        }
    }

    fn stopped(&self, steps: &[Step]) -> End {
        match steps {
            [] => self.end(),
            _ => End::Stopped,
        }
    }
}

fn place(told: &TraceStep) -> String {
    let with = match &told.partner {
        Some(partner) => format!(" with {partner}"),
        None => String::new(),
    };
    match told.line {
        Some(line) => format!("{}{with} line {line}", told.thread),
        None => format!("{}{with}", told.thread),
    }
}

/// A step with what it changes and prints.
fn line(number: usize, told: &TraceStep) -> String {
    let changes: Vec<String> = (told.changes.iter())
        .map(|change| match change.from.is_empty() {
            true => format!("{} {}", change.name, change.to),
            false => format!("{}: {} -> {}", change.name, change.from, change.to),
        })
        .collect();
    let mut line = format!("{number:5}  {}: {}", place(told), told.text);
    if !changes.is_empty() {
        line += &format!("   [{}]", changes.join(", "));
    }
    line.push('\n');
    for output in told.output.lines() {
        line += &format!("       | {output}\n");
    }
    line
}

/// All variables by name.
fn values(program: &Program, state: &State) -> String {
    let mut text = String::new();
    let mut row = |prefix: &str, variables: &[Variable], cells: &[u64]| {
        let mut first = 0;
        for variable in variables {
            let own = &cells[first..first + variable.len as usize];
            first += own.len();
            if variable.name.starts_with('%') {
                continue;
            }
            let shown: Vec<String> = (own.iter())
                .map(|&cell| print_value(program, variable.ty, variable.symbols, cell))
                .collect();
            text += &format!("  {prefix}{} = {}\n", variable.name, shown.join(" "));
        }
    };
    row("", &program.globals, &state.globals);
    for (number, thread) in state.threads.iter().enumerate() {
        let Some(thread) = thread else { continue };
        let template = program.template(thread.template);
        let prefix = format!("{}[{number}]:", template.name);
        row(&prefix, &template.locals, &thread.locals);
    }
    text
}

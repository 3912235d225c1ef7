//! Programs with the shape of those in Table 1 of Ganai and Kundu (2009).
//!
//! The paper's programs are not to be had, but its figures say what they were like: these
//! have the paper's numbers of pairs and of mutually atomic transactions. E1, E3 and E6 are
//! two threads that compute Fibonacci numbers from each other's results, without locks; E2,
//! E4, E5 and E7 are two threads with a critical section of four accesses. A third thread
//! looks at the result when both are done, which two flags say in place of the paper's joins; that the
//! token has to get there makes two pairs and two transactions more than the paper counts.

/// A program, with what the paper's table says about it if it is one of the paper's.
pub struct Program {
    pub name: &'static str,
    pub accesses: u32,
    shape: Shape,
    pub is_unsafe: bool,
    pub paper: Option<Paper>,
}

/// A row of the paper's table.
pub struct Paper {
    /// Shared variables, transitions of the program.
    pub sizes: [u64; 2],
    /// Pairs, pairs after the analysis, mutually atomic transactions.
    pub counts: [u64; 3],
    /// Sizes of the formulas: all pairs, MAT, scheduler.
    pub bytes: [&'static str; 3],
    /// Length of the witness with a token.
    pub witness: &'static str,
    /// Seconds: all pairs, all pairs with one context, MAT, MAT with one
    /// context, scheduler. `TO` ran out of time (1800 s), `MO` out of memory.
    pub times: [&'static str; 5],
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Fibonacci,
    /// The same, with a violation only where the two threads take turns after every two accesses.
    Alternating,
    Locked,
}

use Shape::{Alternating, Fibonacci, Locked};

/// The rows of the paper's table: of `E1S` and the like the last letter says whether it is
/// satisfiable. In all of them one pass of the token for each thread is enough; the rows `A` are ours
/// and need a pass for every second access.
#[rustfmt::skip]
pub const PROGRAMS: &[Program] = &[
    row("E1S", 4,   Fibonacci, paper([2, 19],  [48, 23, 14],         ["32K", "26K", "174K"],   "11",
        ["0.0", "0.0", "0.0", "0.0", "0.0"])),
    row("E2S", 8,   Locked,    paper([3, 29],  [192, 8, 4],          ["98K", "18K", "497K"],   "15",
        ["0.1", "0.1", "0.0", "0.0", "0.2"])),
    row("E3S", 20,  Fibonacci, paper([2, 51],  [880, 591, 390],      ["487K", "375K", "1.7M"], "27",
        ["22.1", "0.9", "7.3", "0.5", "0.8"])),
    row("E4S", 40,  Locked,    paper([3, 93],  [3520, 200, 100],     ["1.9M", "163K", "6.9M"], "47",
        ["1550.5", "8.5", "0.2", "0.2", "4.2"])),
    row("E5U", 40,  Locked,    paper([3, 93],  [3520, 200, 100],     ["1.9M", "163K", "6.9M"], "-",
        ["TO", "13.7", "50.5", "0.2", "99.7"])),
    row("E6S", 100, Fibonacci, paper([2, 211], [20400, 14951, 9950], ["12M", "8.7M", "51M"],   "107",
        ["TO", "497.8", "TO", "150.8", "MO"])),
    row("E7S", 200, Locked,    paper([3, 413], [81600, 5000, 2500],  ["48M", "3.3M", "256M"],  "207",
        ["TO", "TO", "TO", "16.4", "MO"])),
    ours("A1S", 4),
    ours("A2S", 10),
];

const fn row(name: &'static str, accesses: u32, shape: Shape, paper: Paper) -> Program {
    Program {
        name,
        accesses,
        shape,
        is_unsafe: matches!(name.as_bytes(), [.., b'S']),
        paper: Some(paper),
    }
}

const fn paper(
    sizes: [u64; 2],
    counts: [u64; 3],
    bytes: [&'static str; 3],
    witness: &'static str,
    times: [&'static str; 5],
) -> Paper {
    Paper {
        sizes,
        counts,
        bytes,
        witness,
        times,
    }
}

const fn ours(name: &'static str, accesses: u32) -> Program {
    Program {
        name,
        accesses,
        shape: Alternating,
        is_unsafe: true,
        paper: None,
    }
}

impl Program {
    /// The program, in Promela.
    pub fn text(&self) -> String {
        match self.shape {
            Shape::Fibonacci => self.fibonacci("x", |rounds| {
                // What comes out when the first thread runs before the second.
                let (mut x, mut y) = (1u8, 1u8);
                for _ in 0..rounds {
                    y = y.wrapping_add(x);
                }
                for _ in 0..rounds {
                    x = x.wrapping_add(y);
                }
                x
            }),
            // The largest number, which no other schedule gives.
            Shape::Alternating => self.fibonacci("y", |rounds| {
                let (mut x, mut y) = (1u8, 1u8);
                for _ in 0..rounds {
                    x += y;
                    y += x;
                }
                y
            }),
            Shape::Locked => self.locked(),
        }
    }

    /// Which variable must not have which value at the end.
    fn fibonacci(&self, variable: &str, value: impl Fn(u32) -> u8) -> String {
        let rounds = self.accesses / 2;
        let value = value(rounds);
        let thread = |name: &str, from: &str, to: &str, number: u32| {
            format!(
                "active proctype {name}() {{\n  byte own = 1, seen, i;\n  do\n  \
                 :: i < {last} -> seen = {from}; d_step {{ own = own + seen; {to} = own; i++ }}\n  \
                 :: else -> break\n  od;\n  \
                 seen = {from}; d_step {{ own = own + seen; {to} = own; done[{number}] = 1 }}\n}}\n",
                last = rounds - 1,
            )
        };
        format!(
            "byte x = 1, y = 1; bool done[2];\n{}{}active proctype Look() {{\n  \
             atomic {{ done[0] && done[1] -> assert({variable} != {value}) }}\n}}\n",
            thread("A", "x", "y", 0),
            thread("B", "y", "x", 1),
        )
    }

    fn locked(&self) -> String {
        let rounds = self.accesses / 4;
        let (second, claim) = if self.is_unsafe {
            let mut x = rounds as u8;
            for _ in 0..rounds {
                x = x.wrapping_mul(3).wrapping_add(1);
            }
            ("3 * seen + 1", format!("x != {x}"))
        } else {
            ("seen + 2", format!("x == {}", (3 * rounds) as u8))
        };
        let thread = |name: &str, value: &str, number: u32| {
            let section = format!("atomic {{ !m -> m = 1 }}; seen = x; x = {value};");
            format!(
                "active proctype {name}() {{\n  byte seen, i;\n  do\n  \
                 :: i < {last} -> {section} d_step {{ m = 0; seen = 0; i++ }}\n  \
                 :: else -> break\n  od;\n  \
                 {section} d_step {{ m = 0; done[{number}] = 1 }}\n}}\n",
                last = rounds - 1,
            )
        };
        format!(
            "byte x; bool m; bool done[2];\n{}{}active proctype Look() {{\n  \
             atomic {{ !m && done[0] && done[1] -> m = 1 }}; assert({claim})\n}}\n",
            thread("A", "seen + 1", 0),
            thread("B", second, 1),
        )
    }

    /// The accesses of the three threads.
    pub fn shape(&self) -> String {
        let looks = match self.shape {
            Shape::Fibonacci | Shape::Alternating => 1,
            Shape::Locked => 2,
        };
        format!("({looks},{n},{n})", n = self.accesses)
    }
}

#[cfg(test)]
mod tests {
    use mover_symbolic::token::survey::{Accesses, survey};

    use super::*;

    /// The generated programs have the paper's shape.
    #[test]
    fn pairs_and_transactions_are_those_of_the_paper() {
        for row in PROGRAMS.iter().filter(|row| row.accesses <= 40) {
            let Some(paper) = &row.paper else { continue };
            let read = mover_promela::parse_text(row.name, &row.text()).expect("a valid model");
            let of = |accesses| survey(&read.program, accesses, &[]).expect("it is taken");
            let (single, joined) = (of(Accesses::All), of(Accesses::Transactions));
            assert!(!single.is_cut && !joined.is_cut, "{}", row.name);
            // The token has to get to the third thread as well.
            let counts = [single.all, joined.printed.len() - 2, joined.mats.len() - 2];
            assert_eq!(
                counts.map(|count| count as u64),
                paper.counts,
                "{}",
                row.name
            );
            // The paper has the variables; ours has flags in place of joins beside them.
            assert!(single.variables as u64 >= paper.sizes[0], "{}", row.name);
        }
    }

    /// The threads have to take turns after every two accesses.
    #[test]
    fn the_alternating_programs_need_many_passes() {
        use mover_engine::{Conclusion, Control, Engine, Task};
        use mover_ir::program::Property;
        use mover_symbolic::{ContextBound, Pairs, SymbolicOptions, Token};

        let row = PROGRAMS
            .iter()
            .find(|row| row.name == "A1S")
            .expect("a row");
        let read = mover_promela::parse_text(row.name, &row.text()).expect("a valid model");
        let task = Task::new(read.program, vec![Property::UnreachCall]);
        // Two accesses of each of the threads are one round; the first needs no pass.
        let rounds = u64::from(row.accesses / 2);
        for (most, is_found) in [(rounds - 1, false), (rounds, true)] {
            let engine = Token {
                options: SymbolicOptions {
                    pairs: Pairs::All,
                    context_bound: Some(vec![ContextBound { least: 0, most }]),
                    ..SymbolicOptions::default()
                },
                certify: false,
            };
            let outcome = engine
                .run(&task, &Control::unlimited(), &mut |_| {})
                .expect("an answer");
            let found = matches!(outcome.conclusion, Conclusion::Unsafe(_));
            assert_eq!(found, is_found, "{most}");
        }
    }
}

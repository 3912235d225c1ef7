//! Programs with the shape of those in Table 1 of Ganai and Kundu (2009).
//!
//! The paper's programs are not to be had, but its figures say what they were like: these
//! have the paper's numbers of pairs and of mutually atomic transactions. E1, E3 and E6 are
//! two threads that compute Fibonacci numbers from each other's results, without locks; E2,
//! E4, E5 and E7 are two threads with a critical section of four accesses. A third thread
//! looks at the result when both are done; that the token has to get there makes two pairs
//! and two transactions more than the paper counts.

/// A program with what the paper's table says about it.
pub struct Program {
    pub name: &'static str,
    pub accesses: u32,
    shape: Shape,
    pub is_unsafe: bool,
    /// Pairs, pairs after the analysis, mutually atomic transactions.
    pub paper: [u64; 3],
    /// Seconds of the paper: all pairs, all pairs with one context, MAT, MAT with one
    /// context, scheduler. `TO` ran out of time (1800 s), `MO` out of memory.
    pub times: [&'static str; 5],
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Fibonacci,
    Locked,
}

use Shape::{Fibonacci, Locked};

/// The rows of the paper's table: of `E1S` and the like the last letter says whether it is
/// satisfiable.
#[rustfmt::skip]
pub const PROGRAMS: &[Program] = &[
    row("E1S", 4,   Fibonacci, [48, 23, 14],         ["0.0", "0.0", "0.0", "0.0", "0.0"]),
    row("E2S", 8,   Locked,    [192, 8, 4],          ["0.1", "0.1", "0.0", "0.0", "0.2"]),
    row("E3S", 20,  Fibonacci, [880, 591, 390],      ["22.1", "0.9", "7.3", "0.5", "0.8"]),
    row("E4S", 40,  Locked,    [3520, 200, 100],     ["1550.5", "8.5", "0.2", "0.2", "4.2"]),
    row("E5U", 40,  Locked,    [3520, 200, 100],     ["TO", "13.7", "50.5", "0.2", "99.7"]),
    row("E6S", 100, Fibonacci, [20400, 14951, 9950], ["TO", "497.8", "TO", "150.8", "MO"]),
    row("E7S", 200, Locked,    [81600, 5000, 2500],  ["TO", "TO", "TO", "16.4", "MO"]),
];

const fn row(
    name: &'static str,
    accesses: u32,
    shape: Shape,
    paper: [u64; 3],
    times: [&'static str; 5],
) -> Program {
    Program {
        name,
        accesses,
        shape,
        is_unsafe: matches!(name.as_bytes(), [.., b'S']),
        paper,
        times,
    }
}

impl Program {
    /// The program, in Promela.
    pub fn text(&self) -> String {
        match self.shape {
            Shape::Fibonacci => self.fibonacci(),
            Shape::Locked => self.locked(),
        }
    }

    fn fibonacci(&self) -> String {
        let rounds = self.accesses / 2;
        // What comes out when the first thread runs before the second.
        let (mut x, mut y) = (1u8, 1u8);
        for _ in 0..rounds {
            y = y.wrapping_add(x);
        }
        for _ in 0..rounds {
            x = x.wrapping_add(y);
        }
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
             atomic {{ done[0] && done[1] -> assert(x != {x}) }}\n}}\n",
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
            Shape::Fibonacci => 1,
            Shape::Locked => 2,
        };
        format!("({looks},{n},{n})", n = self.accesses)
    }
}

#[cfg(test)]
mod tests {
    use mover_symbolic::token::survey::survey;

    use super::*;

    /// The generated programs have the paper's shape.
    #[test]
    fn pairs_and_transactions_are_those_of_the_paper() {
        for row in PROGRAMS.iter().filter(|row| row.accesses <= 40) {
            let read = mover_promela::parse_text(row.name, &row.text()).expect("a valid model");
            let single = survey(&read.program, false).expect("it is taken");
            let joined = survey(&read.program, true).expect("it is taken");
            assert!(!single.is_cut && !joined.is_cut, "{}", row.name);
            // The token has to get to the third thread as well.
            let counts = [single.all, joined.mat.len() - 2, joined.mats.len() - 2];
            assert_eq!(counts.map(|count| count as u64), row.paper, "{}", row.name);
        }
    }
}

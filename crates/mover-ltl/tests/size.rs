//! The automata beside those of `spin -f`: on the formulas that people write, ours are never larger.
//!
//! The formulas are those of Etessami and Holzmann (2000), and of the patterns of Dwyer, Avrunin and
//! Corbett (1999) those without the next operator. SPIN's automata are counted as SPIN prints them:
//! one state for each label.

use std::process::Command;

use mover_ltl::{Buchi, Formula, Formulas, translate};

const FORMULAS: &[&str] = &[
    "p U q",
    "p U (q U r)",
    "!(p U (q U r))",
    "([] (<> p)) -> ([] (<> q))",
    "(<> p) U ([] q)",
    "([] p) U q",
    "!((<> (<> p)) <-> (<> p))",
    "!(([] (<> p)) -> ([] (<> q)))",
    "!(([] (<> p)) <-> ([] (<> q)))",
    "p V (p || q)",
    "(<> ([] p)) || ([] (<> q))",
    "[] (p -> (<> q))",
    "!([] (p -> (<> q)))",
    "<> p",
    "[] p",
    "[] (<> p)",
    "<> ([] p)",
    "[] (p -> ([] (!q)))",
    "(<> r) -> ((!p) U r)",
    "[] ((q && (!r) && (<> r)) -> ((!p) U r))",
    "[] ((q && (!r)) -> ((!r) U (p && (!r))))",
    "(<> r) -> ((p -> ((!r) U (q && (!r)))) U r)",
    "[] (p -> (q U r))",
    "!([] (p -> (q U r)))",
    "((<> p) && (<> q)) && (<> r)",
    "(([] (<> p)) && ([] (<> q))) && ([] (<> r))",
];

/// Reads a formula whose operators are separated by spaces and parentheses.
struct Reader<'a> {
    tokens: Vec<&'a str>,
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).copied().unwrap_or("")
    }

    fn formula(&mut self, formulas: &mut Formulas) -> Formula {
        let mut left = self.operand(formulas);
        loop {
            let operator = self.peek().to_string();
            if operator.is_empty() || operator == ")" {
                return left;
            }
            self.next += 1;
            let right = self.operand(formulas);
            left = match operator.as_str() {
                "&&" => formulas.and(left, right),
                "||" => formulas.or(left, right),
                "->" => formulas.implication(left, right),
                "<->" => formulas.equivalence(left, right),
                "U" => formulas.until(left, right),
                "V" => formulas.release(left, right),
                other => panic!("`{other}` is no operator"),
            };
        }
    }

    fn operand(&mut self, formulas: &mut Formulas) -> Formula {
        let token = self.peek().to_string();
        self.next += 1;
        match token.as_str() {
            "(" => {
                let inner = self.formula(formulas);
                assert_eq!(self.peek(), ")");
                self.next += 1;
                inner
            }
            "!" => {
                let operand = self.operand(formulas);
                formulas.negation(operand)
            }
            "<>" => {
                let operand = self.operand(formulas);
                formulas.eventually(operand)
            }
            "[]" => {
                let operand = self.operand(formulas);
                formulas.always(operand)
            }
            name => {
                let number = ["p", "q", "r"].iter().position(|known| *known == name);
                formulas.literal(number.expect("a proposition") as u32, true)
            }
        }
    }
}

fn automaton(text: &str) -> Buchi {
    let spaced = text
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('!', " ! ");
    let mut reader = Reader {
        tokens: spaced.split_whitespace().collect(),
        next: 0,
    };
    let mut formulas = Formulas::default();
    let formula = reader.formula(&mut formulas);
    translate(&formulas, formula).expect("small")
}

/// How many states SPIN's automaton has; none if there is no SPIN.
fn states_of_spin(formula: &str) -> Option<usize> {
    let output = Command::new("spin").args(["-f", formula]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_label = |line: &&str| line.ends_with(':') && !line.starts_with('\t');
    Some(text.lines().filter(is_label).count())
}

#[test]
fn no_automaton_is_larger_than_that_of_spin() {
    let mut larger = Vec::new();
    let (mut ours, mut theirs) = (0, 0);
    for formula in FORMULAS {
        let states = automaton(formula).states.len();
        let Some(of_spin) = states_of_spin(formula) else {
            return;
        };
        ours += states;
        theirs += of_spin;
        if states > of_spin {
            larger.push(format!("{formula}: {states} states, SPIN has {of_spin}"));
        }
    }
    assert!(
        larger.is_empty(),
        "{}\n{ours} and {theirs} in all",
        larger.join("\n")
    );
    assert!(ours < theirs, "{ours} and {theirs} states in all");
}

//! Terms and their circuits, judged by the IR's own operators and by z3.

use std::io::Write;
use std::process::{Command, Stdio};

use mover_engine::Control;
use mover_ir::expr::{BinaryOp, UnaryOp, mask, resize};
use mover_symbolic::blast::Blaster;
use mover_symbolic::sat::{Answer, Solver};
use mover_symbolic::smtlib;
use mover_symbolic::term::{Evaluation, Term, Terms, Var};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Small numbers and numbers near the ends, where mistakes live.
    fn value(&mut self, width: u8) -> u64 {
        let value = match self.below(5) {
            0 => self.below(4),
            1 => self.below(4).wrapping_neg(),
            2 => 1 << self.below(width.into()),
            3 => mask(width) >> 1,
            _ => self.next(),
        };
        value & mask(width)
    }
}

const OPERATORS: [BinaryOp; 19] = {
    use BinaryOp::*;
    [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Ne, ULt, ULe,
        SLt, SLe,
    ]
};

/// A random term with the value that the IR gives it under the assignment.
struct Builder<'t> {
    random: Random,
    terms: &'t mut Terms,
    variables: Vec<(Term, u64, u8)>,
}

impl Builder<'_> {
    fn build(&mut self, depth: u32) -> (Term, u64, u8) {
        if depth == 0 || self.random.below(8) == 0 {
            return if self.random.below(4) == 0 {
                let width = 1 + self.random.below(64) as u8;
                let value = self.random.value(width);
                (self.terms.constant(value, width), value, width)
            } else {
                let which = self.random.below(self.variables.len() as u64);
                self.variables[which as usize]
            };
        }
        match self.random.below(8) {
            0 => {
                let (a, x, width) = self.build(depth - 1);
                let op = if self.random.below(2) == 0 {
                    UnaryOp::Not
                } else {
                    UnaryOp::Neg
                };
                (self.terms.unary(op, a), op.apply(x, width), width)
            }
            1 => {
                let (c, x) = self.sized(depth - 1, 1);
                let (a, y, width) = self.build(depth - 1);
                let (b, z) = self.sized(depth - 1, width);
                (self.terms.ite(c, a, b), if x == 1 { y } else { z }, width)
            }
            2 => {
                let width = 1 + self.random.below(64) as u8;
                let (a, x) = self.sized(depth - 1, width);
                (a, x, width)
            }
            _ => {
                let op = OPERATORS[self.random.below(19) as usize];
                let (a, x, width) = self.build(depth - 1);
                let (b, y) = self.sized(depth - 1, width);
                let result = if op.is_comparison() { 1 } else { width };
                (self.terms.binary(op, a, b), op.apply(x, y, width), result)
            }
        }
    }

    fn sized(&mut self, depth: u32, width: u8) -> (Term, u64) {
        let (a, x, from) = self.build(depth);
        let signed = self.random.below(2) == 0;
        let term = self.terms.resize(a, width, signed);
        (term, resize(x, from, width, signed))
    }
}

/// A term, the value that it must have, and its width.
type Valued = (Term, u64, u8);

/// Terms, some variables with values, and random terms over them.
fn random_terms(seed: u64, count: usize, widest: u64) -> (Terms, Vec<Valued>, Vec<Valued>) {
    let mut terms = Terms::new();
    let mut random = Random(seed);
    let variables: Vec<(Term, u64, u8)> = (0..4)
        .map(|i| {
            let width = 1 + random.below(widest) as u8;
            let value = random.value(width);
            (terms.variable(format!("v{i}"), width), value, width)
        })
        .collect();
    let mut builder = Builder {
        random,
        terms: &mut terms,
        variables: variables.clone(),
    };
    let built = (0..count).map(|_| builder.build(4)).collect();
    (terms, variables, built)
}

#[test]
fn simplified_terms_keep_their_values() {
    for seed in 0..20_000 {
        let (terms, variables, built) = random_terms(seed, 4, 64);
        let value = |var: Var| variables[var.0 as usize].1;
        let mut evaluation = Evaluation::new(&terms, &value);
        for (term, expected, width) in built {
            assert_eq!(terms.width(term), width, "seed {seed}");
            assert_eq!(evaluation.eval(term), expected, "seed {seed}");
        }
    }
}

#[test]
fn circuits_compute_the_values() {
    for seed in 0..1_500 {
        let (mut terms, variables, built) = random_terms(seed, 2, 64);
        let mut blaster = Blaster::new(Solver::new(Control::unlimited()));
        for &(variable, value, _) in &variables {
            let is = terms.equals(variable, value);
            blaster.assert(&terms, is);
        }
        for (term, expected, _) in built {
            let right = terms.equals(term, expected);
            let wrong = terms.not(right);
            assert_eq!(blaster.check(&terms, &[right]), Answer::Sat, "seed {seed}");
            assert_eq!(
                blaster.check(&terms, &[wrong]),
                Answer::Unsat,
                "seed {seed}"
            );
        }
    }
}

fn z3(script: &str) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-T:60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed (make test-packages)");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(script.as_bytes()).expect("z3 reads");
    drop(stdin);
    let output = child.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// Questions with free variables, some of which have an answer and some do not.
#[test]
fn z3_answers_the_dumped_questions_alike() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..120 {
        let (mut terms, _, built) = random_terms(seed + 50_000, 3, 12);
        let questions: Vec<Term> = built
            .iter()
            .map(|&(term, value, width)| terms.equals(term, (value + seed % 2) & mask(width)))
            .collect();
        let mut blaster = Blaster::new(Solver::new(Control::unlimited()));
        let answer = blaster.check(&terms, &questions);
        let expected = z3(&smtlib::script(&terms, "random", &questions));
        match answer {
            Answer::Sat => {
                sat += 1;
                let value = |var: Var| {
                    let find = |term: &Term| terms.as_var(*term) == Some(var);
                    let everything = terms.below(&questions);
                    everything
                        .iter()
                        .copied()
                        .find(find)
                        .map_or(0, |term| blaster.model(&terms, term))
                };
                let mut evaluation = Evaluation::new(&terms, &value);
                assert!(
                    questions.iter().all(|&q| evaluation.holds(q)),
                    "seed {seed}"
                );
                assert_eq!(expected, "sat", "seed {seed}");
            }
            Answer::Unsat => {
                unsat += 1;
                assert_eq!(expected, "unsat", "seed {seed}");
            }
            Answer::Stopped => panic!("nothing stops it"),
        }
    }
    assert!(sat > 20 && unsat > 10, "both answers occur: {sat}, {unsat}");
}

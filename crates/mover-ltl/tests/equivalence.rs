//! The translation against the definition: random formulas on random lassos.

use mover_ltl::lasso::Lasso;
use mover_ltl::{Formula, Formulas, translate};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

const PROPOSITIONS: u64 = 3;

/// The formula twice: as it is built for use, with simplification, and as it is evaluated. What
/// the rules do to the first is judged by the second.
enum Plain {
    True,
    Literal(u32, bool),
    Not(Box<Plain>),
    Next(Box<Plain>),
    Eventually(Box<Plain>),
    Always(Box<Plain>),
    Binary(u64, Box<Plain>, Box<Plain>),
}

fn random_formula(random: &mut Random, size: u64) -> Plain {
    if size <= 1 {
        return match random.below(12) {
            0 => Plain::True,
            _ => Plain::Literal(random.below(PROPOSITIONS) as u32, random.below(2) == 0),
        };
    }
    let mut part = |size| Box::new(random_formula(random, size));
    let left = part(size / 2);
    let right = part(size - 1 - size / 2);
    match random.below(12) {
        0 => Plain::Not(part_of(random, size - 1)),
        1 => Plain::Next(part_of(random, size - 1)),
        2 => Plain::Eventually(part_of(random, size - 1)),
        3 => Plain::Always(part_of(random, size - 1)),
        operator => Plain::Binary(operator % 7, left, right),
    }
}

fn part_of(random: &mut Random, size: u64) -> Box<Plain> {
    Box::new(random_formula(random, size))
}

fn built(formulas: &mut Formulas, plain: &Plain) -> Formula {
    match plain {
        Plain::True => Formula::TRUE,
        Plain::Literal(proposition, positive) => formulas.literal(*proposition, *positive),
        Plain::Not(a) => {
            let a = built(formulas, a);
            formulas.negation(a)
        }
        Plain::Next(a) => {
            let a = built(formulas, a);
            formulas.next(a)
        }
        Plain::Eventually(a) => {
            let a = built(formulas, a);
            formulas.eventually(a)
        }
        Plain::Always(a) => {
            let a = built(formulas, a);
            formulas.always(a)
        }
        Plain::Binary(operator, a, b) => {
            let (a, b) = (built(formulas, a), built(formulas, b));
            match operator {
                0 => formulas.and(a, b),
                1 => formulas.or(a, b),
                2 => formulas.until(a, b),
                3 => formulas.release(a, b),
                4 => formulas.weak_until(a, b),
                5 => formulas.implication(a, b),
                _ => formulas.equivalence(a, b),
            }
        }
    }
}

/// The truth of a formula at each position of a lasso whose loop begins at `back`, from the
/// definitions of the operators by quantifiers over positions.
fn truth(plain: &Plain, letters: &[u64], back: usize) -> Vec<bool> {
    let count = letters.len();
    let after = |position: usize| {
        if position + 1 < count {
            position + 1
        } else {
            back
        }
    };
    // The positions from one on, in order; twice around is enough to see all of them.
    let from = |position: usize| {
        let mut all = vec![position];
        for _ in 0..2 * count {
            all.push(after(all[all.len() - 1]));
        }
        all
    };
    let positions = 0..count;
    match plain {
        Plain::True => vec![true; count],
        Plain::Literal(proposition, positive) => (letters.iter())
            .map(|letter| (letter >> proposition & 1 == 1) == *positive)
            .collect(),
        Plain::Not(a) => truth(a, letters, back).iter().map(|a| !a).collect(),
        Plain::Next(a) => {
            let a = truth(a, letters, back);
            positions.map(|position| a[after(position)]).collect()
        }
        Plain::Eventually(a) => {
            let a = truth(a, letters, back);
            positions.map(|i| from(i).iter().any(|&j| a[j])).collect()
        }
        Plain::Always(a) => {
            let a = truth(a, letters, back);
            positions.map(|i| from(i).iter().all(|&j| a[j])).collect()
        }
        Plain::Binary(operator, a, b) => {
            let (a, b) = (truth(a, letters, back), truth(b, letters, back));
            let until = |i: usize, a: &[bool], b: &[bool]| {
                let run = from(i);
                (0..run.len()).any(|k| b[run[k]] && run[..k].iter().all(|&j| a[j]))
            };
            let not = |a: &[bool]| a.iter().map(|a| !a).collect::<Vec<bool>>();
            positions
                .map(|i| match operator {
                    0 => a[i] && b[i],
                    1 => a[i] || b[i],
                    2 => until(i, &a, &b),
                    3 => !until(i, &not(&a), &not(&b)),
                    4 => until(i, &a, &b) || from(i).iter().all(|&j| a[j]),
                    5 => !a[i] || b[i],
                    _ => a[i] == b[i],
                })
                .collect()
        }
    }
}

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let rounds = if std::env::var_os("MOVER_LONG").is_some() {
        60_000
    } else {
        6_000
    };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut verdicts = [0u64; 2];
    for _ in 0..rounds {
        let size = 1 + random.below(9);
        let plain = random_formula(&mut random, size);
        let mut formulas = Formulas::default();
        let formula = built(&mut formulas, &plain);
        let automaton = translate(&formulas, formula).expect("small");
        let negation = formulas.negation(formula);
        let of_negation = translate(&formulas, negation).expect("small");
        for _ in 0..12 {
            let mut letters = |least: u64, most: u64| -> Vec<u64> {
                let count = least + random.below(most - least + 1);
                (0..count)
                    .map(|_| random.below(1 << PROPOSITIONS))
                    .collect()
            };
            let (stem, cycle) = (letters(0, 3), letters(1, 4));
            let expected = truth(&plain, &[&stem[..], &cycle].concat(), stem.len())[0];
            let lasso = Lasso { stem, cycle };
            let text = || formulas.text(formula, &|number| format!("p{number}"));
            assert_eq!(
                lasso.satisfies(&formulas, formula),
                expected,
                "simplified: {} on {lasso:?}",
                text()
            );
            assert_eq!(
                lasso.is_accepted(&automaton),
                expected,
                "{} on {lasso:?}: {automaton:?}",
                text()
            );
            assert_eq!(lasso.is_accepted(&of_negation), !expected, "! {}", text());
            verdicts[usize::from(expected)] += 1;
        }
    }
    assert!(verdicts.iter().all(|&count| count > rounds), "{verdicts:?}");
}

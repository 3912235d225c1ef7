//! Formulas as text, for programs whose language has no notation for them.
//!
//! The operators are SPIN's, in all spellings. What stands between them are comparisons of integer
//! expressions over names, in C's notation, and places: `function@label` or `function@line`.
//! Comparisons bind stronger than `!`, `[]`, `<>` and `X`, these stronger than `U`, `W` and `V`,
//! then `&&`, `||`, `->` and `<->`: `[] x == 1` means `[] (x == 1)`. What a name stands for is not
//! known here.

use crate::formula::{Formula, Formulas};

/// An integer expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    Number(i64),
    /// `count`, `point.x`, `row[2].next`, as written, without spaces.
    Name(String),
    Negative(Box<Term>),
    /// One of `+ - * & |`.
    Arithmetic(char, Box<Term>, Box<Term>),
}

/// What is true or false in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Atom {
    /// Not equal to 0.
    Truth(Term),
    /// One of `== != < <= > >=`.
    Compare(&'static str, Term, Term),
    /// Some thread is in a function at a label or a line.
    Place { function: String, at: String },
}

/// Why a text is no formula.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SyntaxError {
    #[error("`{}` has no meaning in a formula", .0.escape_debug())]
    Letter(char),
    #[error("`{0}` is not expected here")]
    Unexpected(String),
    #[error("`{0}` is missing at the end")]
    Missing(&'static str),
    #[error("`{expected}` is expected where `{found}` stands")]
    Expected {
        expected: &'static str,
        found: String,
    },
    #[error("the formula is nested too deeply")]
    TooDeep,
    #[error("`{0}` compares integers, not formulas")]
    ComparedFormulas(&'static str),
    #[error("`{0}` takes integers, not formulas")]
    ComputedFormulas(char),
    #[error("`-` takes an integer, not a formula")]
    NegativeFormula,
    #[error("the formula ends too early")]
    End,
    #[error("`{0}` is not a number that is supported")]
    Number(String),
    #[error("a label or a line is expected behind `@`")]
    NoPlace,
    #[error("a name or a number is expected behind `{0}`")]
    NoPart(String),
}

/// Reads a formula; `number` gives each atom its proposition, or says why it has none.
pub fn parse<E: From<SyntaxError>>(
    text: &str,
    formulas: &mut Formulas,
    number: &mut dyn FnMut(&Atom) -> Result<Proposed, E>,
) -> Result<Formula, E> {
    let words = words(text)?;
    let mut parser = Parser {
        words: &words,
        at: 0,
        depth: 0,
        formulas,
        number,
    };
    let read = parser.equivalence()?;
    let formula = parser.formula(read)?;
    match parser.peek() {
        "" => Ok(formula),
        word => Err(SyntaxError::Unexpected(word.into()).into()),
    }
}

/// What an atom is.
pub enum Proposed {
    Constant(bool),
    Proposition(u32),
}

/// Deeper formulas are refused, so that no stack overflows.
const MOST_DEPTH: usize = 200;

const SIGNS: [&str; 27] = [
    "<->", "-->", "[]", "<>", "->", "&&", "||", "/\\", "\\/", "==", "!=", "<=", ">=", "!", "(",
    ")", "<", ">", "+", "-", "*", "&", "|", "@", "[", "]", ".",
];

fn words(text: &str) -> Result<Vec<&str>, SyntaxError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else if let Some(sign) = SIGNS.iter().find(|&&sign| rest.starts_with(sign)) {
            sign.len()
        } else {
            return Err(SyntaxError::Letter(first));
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// Either a formula or a term that is not compared yet.
enum Part {
    Formula(Formula),
    Term(Term),
}

struct Parser<'a, E> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
    formulas: &'a mut Formulas,
    number: &'a mut dyn FnMut(&Atom) -> Result<Proposed, E>,
}

impl<E: From<SyntaxError>> Parser<'_, E> {
    /// The next word; none is empty.
    fn peek(&self) -> &str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn eat(&mut self, choices: &[&str]) -> bool {
        let found = choices.contains(&self.peek());
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, expected: &'static str) -> Result<(), SyntaxError> {
        if self.eat(&[expected]) {
            return Ok(());
        }
        Err(match self.peek() {
            "" => SyntaxError::Missing(expected),
            found => SyntaxError::Expected {
                expected,
                found: found.into(),
            },
        })
    }

    /// What has been read as a formula: a term is true if it is not 0.
    fn formula(&mut self, part: Part) -> Result<Formula, E> {
        match part {
            Part::Formula(formula) => Ok(formula),
            Part::Term(term) => self.atom(&Atom::Truth(term)),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        if self.depth == MOST_DEPTH {
            return Err(SyntaxError::TooDeep.into());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Operands of an operator that takes any number of them.
    fn chain(
        &mut self,
        spellings: &[&str],
        operand: fn(&mut Self) -> Result<Part, E>,
        join: fn(&mut Formulas, Formula, Formula) -> Formula,
    ) -> Result<Part, E> {
        let mut left = operand(self)?;
        while self.eat(spellings) {
            let first = self.formula(left)?;
            let right = operand(self)?;
            let second = self.formula(right)?;
            left = Part::Formula(join(self.formulas, first, second));
        }
        Ok(left)
    }

    /// An operator that groups to the right, if it is there.
    fn right_associative(
        &mut self,
        left: Part,
        spellings: &[&str],
        operand: fn(&mut Self) -> Result<Part, E>,
        join: fn(&mut Formulas, Formula, Formula) -> Formula,
    ) -> Result<Part, E> {
        if !self.eat(spellings) {
            return Ok(left);
        }
        let first = self.formula(left)?;
        let right = self.deeper(operand)?;
        let second = self.formula(right)?;
        Ok(Part::Formula(join(self.formulas, first, second)))
    }

    fn equivalence(&mut self) -> Result<Part, E> {
        self.chain(
            &["<->", "equivalent"],
            Self::implication,
            Formulas::equivalence,
        )
    }

    fn implication(&mut self) -> Result<Part, E> {
        let left = self.disjunction()?;
        self.right_associative(
            left,
            &["->", "-->", "implies"],
            Self::implication,
            Formulas::implication,
        )
    }

    fn disjunction(&mut self) -> Result<Part, E> {
        self.chain(&["||", "\\/", "or"], Self::conjunction, Formulas::or)
    }

    fn conjunction(&mut self) -> Result<Part, E> {
        self.chain(&["&&", "/\\", "and"], Self::until, Formulas::and)
    }

    fn until(&mut self) -> Result<Part, E> {
        let left = self.prefixed()?;
        let strong = ["U", "until", "stronguntil"];
        let left = self.right_associative(left, &strong, Self::until, Formulas::until)?;
        let weak = ["W", "weakuntil"];
        let left = self.right_associative(left, &weak, Self::until, Formulas::weak_until)?;
        self.right_associative(left, &["V", "release"], Self::until, Formulas::release)
    }

    fn prefixed(&mut self) -> Result<Part, E> {
        let apply: fn(&mut Formulas, Formula) -> Formula = if self.eat(&["!"]) {
            Formulas::negation
        } else if self.eat(&["[]", "always"]) {
            Formulas::always
        } else if self.eat(&["<>", "eventually"]) {
            Formulas::eventually
        } else if self.eat(&["X", "next"]) {
            Formulas::next
        } else {
            return self.comparison();
        };
        let operand = self.deeper(Self::prefixed)?;
        let operand = self.formula(operand)?;
        Ok(Part::Formula(apply(self.formulas, operand)))
    }

    fn comparison(&mut self) -> Result<Part, E> {
        let left = match self.sum()? {
            Part::Formula(formula) => return Ok(Part::Formula(formula)),
            Part::Term(term) => term,
        };
        let operators = ["==", "!=", "<=", ">=", "<", ">"];
        let found = operators.into_iter().find(|&word| word == self.peek());
        let Some(operator) = found else {
            return Ok(Part::Term(left));
        };
        self.at += 1;
        match self.sum()? {
            Part::Term(right) => {
                let compared = self.atom(&Atom::Compare(operator, left, right))?;
                Ok(Part::Formula(compared))
            }
            Part::Formula(_) => Err(SyntaxError::ComparedFormulas(operator).into()),
        }
    }

    fn atom(&mut self, atom: &Atom) -> Result<Formula, E> {
        Ok(match (self.number)(atom)? {
            Proposed::Constant(true) => Formula::TRUE,
            Proposed::Constant(false) => Formula::FALSE,
            Proposed::Proposition(number) => self.formulas.literal(number, true),
        })
    }

    fn sum(&mut self) -> Result<Part, E> {
        let mut left = match self.product()? {
            Part::Formula(formula) => return Ok(Part::Formula(formula)),
            Part::Term(term) => term,
        };
        while let Some(operator) = ['+', '-', '&', '|']
            .into_iter()
            .find(|c| self.peek() == c.to_string())
        {
            self.at += 1;
            let Part::Term(right) = self.product()? else {
                return Err(SyntaxError::ComputedFormulas(operator).into());
            };
            left = Term::Arithmetic(operator, Box::new(left), Box::new(right));
        }
        Ok(Part::Term(left))
    }

    fn product(&mut self) -> Result<Part, E> {
        let mut left = match self.factor()? {
            Part::Formula(formula) => return Ok(Part::Formula(formula)),
            Part::Term(term) => term,
        };
        while self.eat(&["*"]) {
            let Part::Term(right) = self.factor()? else {
                return Err(SyntaxError::ComputedFormulas('*').into());
            };
            left = Term::Arithmetic('*', Box::new(left), Box::new(right));
        }
        Ok(Part::Term(left))
    }

    fn factor(&mut self) -> Result<Part, E> {
        if self.eat(&["-"]) {
            return match self.deeper(Self::factor)? {
                Part::Term(term) => Ok(Part::Term(Term::Negative(Box::new(term)))),
                Part::Formula(_) => Err(SyntaxError::NegativeFormula.into()),
            };
        }
        if self.eat(&["("]) {
            let part = self.deeper(Self::equivalence)?;
            self.expect(")")?;
            return Ok(part);
        }
        self.named()
    }

    fn named(&mut self) -> Result<Part, E> {
        let word = self.peek().to_string();
        let Some(first) = word.chars().next() else {
            return Err(SyntaxError::End.into());
        };
        if first.is_ascii_digit() {
            self.at += 1;
            let value = word.parse::<i64>().map_err(|_| SyntaxError::Number(word))?;
            return Ok(Part::Term(Term::Number(value)));
        }
        if !(first.is_ascii_alphabetic() || first == '_') {
            return Err(SyntaxError::Unexpected(word).into());
        }
        self.at += 1;
        match word.as_str() {
            "true" => return Ok(Part::Formula(Formula::TRUE)),
            "false" => return Ok(Part::Formula(Formula::FALSE)),
            _ => {}
        }
        if self.eat(&["@"]) {
            let at = self.peek().to_string();
            if !at.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                return Err(SyntaxError::NoPlace.into());
            }
            self.at += 1;
            let place = Atom::Place { function: word, at };
            return Ok(Part::Formula(self.atom(&place)?));
        }
        let mut name = word;
        loop {
            let sign = self.peek().to_string();
            if !self.eat(&[".", "["]) {
                return Ok(Part::Term(Term::Name(name)));
            }
            let part = self.peek().to_string();
            if !part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                return Err(SyntaxError::NoPart(name + &sign).into());
            }
            self.at += 1;
            name += &sign;
            name += &part;
            if sign == "[" {
                self.expect("]")?;
                name.push(']');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lasso::Lasso;

    /// Reads with propositions `a`, `b` and `c > 1`, and evaluates.
    fn holds(text: &str, stem: &[u64], cycle: &[u64]) -> Result<bool, SyntaxError> {
        let mut formulas = Formulas::default();
        let formula = parse(text, &mut formulas, &mut |atom| {
            Ok(match atom {
                Atom::Truth(Term::Name(name)) if name == "a" => Proposed::Proposition(0),
                Atom::Truth(Term::Name(name)) if name == "b" => Proposed::Proposition(1),
                Atom::Compare(">", ..) => Proposed::Proposition(2),
                Atom::Place { at, .. } if at == "7" => Proposed::Proposition(3),
                other => panic!("{other:?} has no proposition"),
            })
        })?;
        let lasso = Lasso {
            stem: stem.to_vec(),
            cycle: cycle.to_vec(),
        };
        Ok(lasso.satisfies(&formulas, formula))
    }

    #[test]
    fn operators_bind_as_said() {
        assert_eq!(holds("[] c > 1", &[], &[4]), Ok(true));
        assert_eq!(holds("! a && b", &[], &[2]), Ok(true));
        assert_eq!(holds("a -> <> b", &[1], &[2]), Ok(true));
        assert_eq!(holds("a U b || false", &[1, 1], &[2]), Ok(true));
        assert_eq!(holds("[] (a -> X b)", &[1], &[2]), Ok(true));
        assert_eq!(holds("[] (a -> X b)", &[1], &[0]), Ok(false));
        assert_eq!(holds("((a)) && (c + 2) * 3 > (1)", &[], &[5]), Ok(true));
        assert_eq!(holds("always eventually f@7", &[], &[0, 8]), Ok(true));
        assert_eq!(holds("[]<>a", &[1], &[0]), Ok(false));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, words) in [
            ("[] (a", "`)` is missing at the end"),
            ("a b", "`b` is not expected here"),
            ("a ? b", "`?` has no meaning in a formula"),
            ("", "the formula ends too early"),
            ("(a && b) > 1", "`>` is not expected here"),
            ("f@", "a label or a line is expected behind `@`"),
        ] {
            let mistake = holds(text, &[], &[0]).expect_err(text);
            assert_eq!(mistake.to_string(), words, "{text}");
        }
        let deep = "(".repeat(10_000);
        assert_eq!(holds(&deep, &[], &[0]), Err(SyntaxError::TooDeep));
    }
}

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

/// Reads a formula; `number` gives each atom its proposition.
pub fn parse(
    text: &str,
    formulas: &mut Formulas,
    number: &mut dyn FnMut(&Atom) -> Result<Proposed, String>,
) -> Result<Formula, String> {
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
        word => Err(format!("`{word}` is not expected here")),
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

fn words(text: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else if let Some(sign) = SIGNS.iter().find(|&&sign| rest.starts_with(sign)) {
            sign.len()
        } else {
            return Err(format!(
                "`{}` has no meaning in a formula",
                first.escape_debug()
            ));
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

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
    formulas: &'a mut Formulas,
    number: &'a mut dyn FnMut(&Atom) -> Result<Proposed, String>,
}

impl Parser<'_> {
    /// The next word; none is empty.
    fn peek(&self) -> &str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn eat(&mut self, choices: &[&str]) -> bool {
        let found = choices.contains(&self.peek());
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.eat(&[word]) {
            return Ok(());
        }
        Err(match self.peek() {
            "" => format!("`{word}` is missing at the end"),
            found => format!("`{word}` is expected where `{found}` stands"),
        })
    }

    /// What has been read as a formula: a term is true if it is not 0.
    fn formula(&mut self, part: Part) -> Result<Formula, String> {
        match part {
            Part::Formula(formula) => Ok(formula),
            Part::Term(term) => self.atom(&Atom::Truth(term)),
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth == MOST_DEPTH {
            return Err("the formula is nested too deeply".into());
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
        operand: fn(&mut Self) -> Result<Part, String>,
        join: fn(&mut Formulas, Formula, Formula) -> Formula,
    ) -> Result<Part, String> {
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
    fn grouped_to_the_right(
        &mut self,
        left: Part,
        spellings: &[&str],
        operand: fn(&mut Self) -> Result<Part, String>,
        join: fn(&mut Formulas, Formula, Formula) -> Formula,
    ) -> Result<Part, String> {
        if !self.eat(spellings) {
            return Ok(left);
        }
        let first = self.formula(left)?;
        let right = self.deeper(operand)?;
        let second = self.formula(right)?;
        Ok(Part::Formula(join(self.formulas, first, second)))
    }

    fn equivalence(&mut self) -> Result<Part, String> {
        self.chain(
            &["<->", "equivalent"],
            Self::implication,
            Formulas::equivalence,
        )
    }

    fn implication(&mut self) -> Result<Part, String> {
        let left = self.disjunction()?;
        self.grouped_to_the_right(
            left,
            &["->", "-->", "implies"],
            Self::implication,
            Formulas::implication,
        )
    }

    fn disjunction(&mut self) -> Result<Part, String> {
        self.chain(&["||", "\\/", "or"], Self::conjunction, Formulas::or)
    }

    fn conjunction(&mut self) -> Result<Part, String> {
        self.chain(&["&&", "/\\", "and"], Self::until, Formulas::and)
    }

    fn until(&mut self) -> Result<Part, String> {
        let left = self.prefixed()?;
        let strong = ["U", "until", "stronguntil"];
        let left = self.grouped_to_the_right(left, &strong, Self::until, Formulas::until)?;
        let weak = ["W", "weakuntil"];
        let left = self.grouped_to_the_right(left, &weak, Self::until, Formulas::weak_until)?;
        self.grouped_to_the_right(left, &["V", "release"], Self::until, Formulas::release)
    }

    fn prefixed(&mut self) -> Result<Part, String> {
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

    fn comparison(&mut self) -> Result<Part, String> {
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
            Part::Formula(_) => Err(format!("`{operator}` compares integers, not formulas")),
        }
    }

    fn atom(&mut self, atom: &Atom) -> Result<Formula, String> {
        Ok(match (self.number)(atom)? {
            Proposed::Constant(true) => Formula::TRUE,
            Proposed::Constant(false) => Formula::FALSE,
            Proposed::Proposition(number) => self.formulas.literal(number, true),
        })
    }

    fn sum(&mut self) -> Result<Part, String> {
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
                return Err(format!("`{operator}` takes integers, not formulas"));
            };
            left = Term::Arithmetic(operator, Box::new(left), Box::new(right));
        }
        Ok(Part::Term(left))
    }

    fn product(&mut self) -> Result<Part, String> {
        let mut left = match self.factor()? {
            Part::Formula(formula) => return Ok(Part::Formula(formula)),
            Part::Term(term) => term,
        };
        while self.eat(&["*"]) {
            let Part::Term(right) = self.factor()? else {
                return Err("`*` takes integers, not formulas".into());
            };
            left = Term::Arithmetic('*', Box::new(left), Box::new(right));
        }
        Ok(Part::Term(left))
    }

    fn factor(&mut self) -> Result<Part, String> {
        if self.eat(&["-"]) {
            return match self.deeper(Self::factor)? {
                Part::Term(term) => Ok(Part::Term(Term::Negative(Box::new(term)))),
                Part::Formula(_) => Err("`-` takes an integer, not a formula".into()),
            };
        }
        if self.eat(&["("]) {
            let part = self.deeper(Self::equivalence)?;
            self.expect(")")?;
            return Ok(part);
        }
        self.named()
    }

    fn named(&mut self) -> Result<Part, String> {
        let word = self.peek().to_string();
        let Some(first) = word.chars().next() else {
            return Err("the formula ends too early".into());
        };
        if first.is_ascii_digit() {
            self.at += 1;
            let value = word
                .parse::<i64>()
                .map_err(|_| format!("`{word}` is not a number that is supported"))?;
            return Ok(Part::Term(Term::Number(value)));
        }
        if !(first.is_ascii_alphabetic() || first == '_') {
            return Err(format!("`{word}` is not expected here"));
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
                return Err("a label or a line is expected behind `@`".into());
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
                return Err(format!(
                    "a name or a number is expected behind `{name}{sign}`"
                ));
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
    fn holds(text: &str, stem: &[u64], cycle: &[u64]) -> Result<bool, String> {
        let mut formulas = Formulas::default();
        let formula = parse(text, &mut formulas, &mut |atom| {
            Ok(match atom {
                Atom::Truth(Term::Name(name)) if name == "a" => Proposed::Proposition(0),
                Atom::Truth(Term::Name(name)) if name == "b" => Proposed::Proposition(1),
                Atom::Compare(">", ..) => Proposed::Proposition(2),
                Atom::Place { at, .. } if at == "7" => Proposed::Proposition(3),
                other => return Err(format!("{other:?}")),
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
            assert_eq!(holds(text, &[], &[0]), Err(words.into()), "{text}");
        }
        let deep = "(".repeat(10_000);
        assert!(holds(&deep, &[], &[0]).is_err());
    }
}

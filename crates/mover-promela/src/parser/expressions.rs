//! Expressions, by precedence climbing.
//!
//! The strengths of the operators are those of SPIN's grammar, which differ
//! from C in that all the comparisons stay the same but `&`, `^` and `|` sit
//! where C has them too, below `==`. Probes such as `full(q)` are a class of
//! their own: SPIN allows them only as a whole condition or as an operand of
//! `&&` and `||`, since its reduction must be able to distinguish them, and
//! what SPIN would not read we do not read either.

use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use super::{Parsed, Parser};
use crate::ast::{
    BinaryOperator, Expr, ExprKind, HEIGHT_LIMIT, Path, PathElement, Probe, ReceiveArgument,
    UnaryOperator,
};
use crate::token::{Keyword, Punctuation, TokenKind};

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Plain(BinaryOperator),
    Temporal(&'static str),
}

impl Parser<'_> {
    /// An expression in which probes may stand as conditions.
    pub(super) fn full_expression(&mut self) -> Parsed<Expr> {
        let expression = self.infix(0)?;
        self.check_probes(&expression, true);
        Ok(expression)
    }

    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let expression = self.infix(0)?;
        self.check_probes(&expression, false);
        Ok(expression)
    }

    fn check_probes(&mut self, expression: &Expr, allowed: bool) {
        match &expression.kind {
            ExprKind::Probe(probe, _) if !allowed => {
                let opposite = match probe {
                    Probe::Full => "nfull",
                    Probe::NotFull => "full",
                    Probe::Empty => "nempty",
                    Probe::NotEmpty => "empty",
                };
                let diagnostic = Diagnostic::coded("P020", "a channel probe may only be a condition of its own or an operand of `&&` and `||`",
                )
                .at(expression.span, "")
                .help(format!("its negation is `{opposite}`; elsewhere use `len`"));
                self.report(diagnostic);
            }
            ExprKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
                self.check_probes(left, allowed);
                self.check_probes(right, allowed);
            }
            ExprKind::Binary(_, left, right) => {
                self.check_probes(left, false);
                self.check_probes(right, false);
            }
            ExprKind::Unary(_, operand) => self.check_probes(operand, false),
            ExprKind::Conditional(parts) => {
                for part in parts.iter() {
                    self.check_probes(part, false);
                }
            }
            // The other parts that hold expressions read them with `expression`.
            _ => {}
        }
    }

    fn make(&mut self, kind: ExprKind, span: Span, below: usize) -> Parsed<Expr> {
        let height = below + 1;
        if height > HEIGHT_LIMIT {
            // The tree is dropped recursively, so it must not grow on.
            return Err(self.error(
                span,
                format!("this expression has more than {HEIGHT_LIMIT} operators above each other"),
            ));
        }
        Ok(Expr { kind, span, height })
    }

    fn infix(&mut self, minimum: u8) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        while let Some((operator, strength, tokens)) = self.infix_operator() {
            if strength < minimum {
                break;
            }
            for _ in 0..tokens {
                self.advance();
            }
            let right = self.nested(|parser| parser.infix(strength + 1))?;
            let span = left.span.to(right.span);
            let below = left.height.max(right.height);
            let kind = match operator {
                Infix::Plain(operator) => {
                    ExprKind::Binary(operator, Box::new(left), Box::new(right))
                }
                Infix::Temporal(operator) => ExprKind::Temporal(operator, vec![left, right]),
            };
            left = self.make(kind, span, below)?;
        }
        Ok(left)
    }

    /// The operator here, how strongly it binds and how many tokens it takes.
    fn infix_operator(&self) -> Option<(Infix, u8, usize)> {
        use BinaryOperator as B;
        if self.in_formula
            && let Some(found) = self.formula_operator()
        {
            return Some(found);
        }
        let TokenKind::Punctuation(punctuation) = self.token().kind else {
            return None;
        };
        let (operator, strength) = match punctuation {
            Punctuation::Or => (B::Or, 2),
            Punctuation::And => (B::And, 3),
            Punctuation::Bar => (B::BitOr, 5),
            Punctuation::Caret => (B::BitXor, 6),
            Punctuation::Ampersand => (B::BitAnd, 7),
            Punctuation::Equal => (B::Equal, 8),
            Punctuation::NotEqual => (B::NotEqual, 8),
            Punctuation::Less => (B::Less, 9),
            Punctuation::Greater => (B::Greater, 9),
            Punctuation::LessEqual => (B::LessEqual, 9),
            Punctuation::GreaterEqual => (B::GreaterEqual, 9),
            Punctuation::ShiftLeft => (B::ShiftLeft, 10),
            Punctuation::ShiftRight => (B::ShiftRight, 10),
            Punctuation::Plus => (B::Add, 11),
            Punctuation::Minus => (B::Subtract, 11),
            Punctuation::Star => (B::Multiply, 12),
            Punctuation::Slash => (B::Divide, 12),
            Punctuation::Percent => (B::Modulo, 12),
            _ => return None,
        };
        Some((Infix::Plain(operator), strength, 1))
    }

    fn formula_operator(&self) -> Option<(Infix, u8, usize)> {
        let second = self.token_after(1);
        let (operator, strength, tokens) = match &self.token().kind {
            TokenKind::Punctuation(Punctuation::Arrow) => (Infix::Temporal("->"), 1, 1),
            TokenKind::Punctuation(Punctuation::Less) if second.is(Punctuation::Arrow) => {
                (Infix::Temporal("<->"), 1, 2)
            }
            TokenKind::Punctuation(Punctuation::Backslash) if second.is(Punctuation::Slash) => {
                (Infix::Plain(BinaryOperator::Or), 2, 2)
            }
            TokenKind::Punctuation(Punctuation::Slash) if second.is(Punctuation::Backslash) => {
                (Infix::Plain(BinaryOperator::And), 3, 2)
            }
            TokenKind::Word(word) => match &**word {
                "implies" => (Infix::Temporal("->"), 1, 1),
                "equivalent" => (Infix::Temporal("<->"), 1, 1),
                "U" | "until" | "stronguntil" => (Infix::Temporal("U"), 4, 1),
                "W" | "weakuntil" => (Infix::Temporal("W"), 4, 1),
                "V" | "release" => (Infix::Temporal("V"), 4, 1),
                _ => return None,
            },
            _ => return None,
        };
        Some((operator, strength, tokens))
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        self.nested(Self::prefix_within_limit)
    }

    fn prefix_within_limit(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let unary = match self.token().kind {
            TokenKind::Punctuation(Punctuation::Bang) => Some(UnaryOperator::Not),
            TokenKind::Punctuation(Punctuation::Minus) => Some(UnaryOperator::Negate),
            TokenKind::Punctuation(Punctuation::Tilde) => Some(UnaryOperator::Complement),
            _ => None,
        };
        if let Some(operator) = unary {
            self.advance();
            let operand = self.prefix()?;
            let below = operand.height;
            let span = start.to(operand.span);
            return self.make(ExprKind::Unary(operator, Box::new(operand)), span, below);
        }
        if self.in_formula
            && let Some((operator, tokens)) = self.formula_prefix()
        {
            for _ in 0..tokens {
                self.advance();
            }
            let operand = self.prefix()?;
            let below = operand.height;
            let span = start.to(operand.span);
            return self.make(ExprKind::Temporal(operator, vec![operand]), span, below);
        }
        self.primary()
    }

    fn formula_prefix(&self) -> Option<(&'static str, usize)> {
        let second = self.token_after(1);
        match &self.token().kind {
            TokenKind::Punctuation(Punctuation::OpenBracket)
                if second.is(Punctuation::CloseBracket) =>
            {
                Some(("[]", 2))
            }
            TokenKind::Punctuation(Punctuation::Less) if second.is(Punctuation::Greater) => {
                Some(("<>", 2))
            }
            TokenKind::Word(word) => match &**word {
                "always" => Some(("[]", 1)),
                "eventually" => Some(("<>", 1)),
                "X" | "next" => Some(("X", 1)),
                _ => None,
            },
            _ => None,
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let (kind, below) = match self.token().kind.clone() {
            TokenKind::Number(number) | TokenKind::Character(number) => {
                self.advance();
                (ExprKind::Number(number), 0)
            }
            TokenKind::Keyword(Keyword::True | Keyword::Skip) => {
                self.advance();
                (ExprKind::Number(1), 0)
            }
            TokenKind::Keyword(Keyword::False) => {
                self.advance();
                (ExprKind::Number(0), 0)
            }
            TokenKind::Keyword(Keyword::Timeout) => {
                self.advance();
                (ExprKind::Timeout, 0)
            }
            TokenKind::Keyword(Keyword::NonProgress) => {
                self.advance();
                (ExprKind::NonProgress, 0)
            }
            TokenKind::Punctuation(Punctuation::OpenParen) => return self.parenthesised(),
            TokenKind::Keyword(Keyword::Run) => self.run()?,
            TokenKind::Keyword(Keyword::Len) => {
                let path = self.channel_in_parentheses()?;
                (ExprKind::Length(path), 0)
            }
            TokenKind::Keyword(Keyword::Full) => (
                ExprKind::Probe(Probe::Full, self.channel_in_parentheses()?),
                0,
            ),
            TokenKind::Keyword(Keyword::Nfull) => (
                ExprKind::Probe(Probe::NotFull, self.channel_in_parentheses()?),
                0,
            ),
            TokenKind::Keyword(Keyword::Empty) => (
                ExprKind::Probe(Probe::Empty, self.channel_in_parentheses()?),
                0,
            ),
            TokenKind::Keyword(Keyword::Nempty) => (
                ExprKind::Probe(Probe::NotEmpty, self.channel_in_parentheses()?),
                0,
            ),
            TokenKind::Keyword(Keyword::Enabled) => {
                let operand = self.operand_in_parentheses()?;
                let below = operand.height;
                (ExprKind::Enabled(Box::new(operand)), below)
            }
            TokenKind::Keyword(Keyword::PcValue) => {
                let operand = self.operand_in_parentheses()?;
                let below = operand.height;
                (ExprKind::PcValue(Box::new(operand)), below)
            }
            TokenKind::Keyword(Keyword::GetPriority) => {
                let operand = self.operand_in_parentheses()?;
                let below = operand.height;
                (ExprKind::GetPriority(Box::new(operand)), below)
            }
            TokenKind::Word(_) => self.reference()?,
            TokenKind::EmbeddedC(_) => {
                self.embedded_c();
                (ExprKind::Invalid, 0)
            }
            _ => return Err(self.expected("an expression")),
        };
        self.make(kind, start.to(self.span_before()), below)
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.advance();
        let inner = self.infix(0)?;
        if !self.in_formula && self.eat(Punctuation::Arrow) {
            let then = self.expression()?;
            self.expect(
                Punctuation::Colon,
                "between the two cases of a conditional expression",
            )?;
            let otherwise = self.expression()?;
            self.expect(Punctuation::CloseParen, "after the conditional expression")?;
            self.check_probes(&inner, false);
            let below = inner.height.max(then.height).max(otherwise.height);
            let kind = ExprKind::Conditional(Box::new([inner, then, otherwise]));
            return self.make(kind, start.to(self.span_before()), below);
        }
        self.expect(Punctuation::CloseParen, "after the expression")?;
        Ok(Expr {
            span: start.to(self.span_before()),
            ..inner
        })
    }

    fn run(&mut self) -> Parsed<(ExprKind, usize)> {
        self.advance();
        let proctype = self.expect_name("the name of a proctype")?;
        self.expect(Punctuation::OpenParen, "before the arguments")?;
        let mut arguments = Vec::new();
        if !self.at(Punctuation::CloseParen) {
            arguments.push(self.expression()?);
            while self.eat(Punctuation::Comma) {
                arguments.push(self.expression()?);
            }
        }
        self.expect(Punctuation::CloseParen, "after the arguments")?;
        let priority = self.priority()?;
        let below = arguments
            .iter()
            .map(|argument| argument.height)
            .max()
            .unwrap_or(0);
        let kind = ExprKind::Run {
            proctype,
            arguments,
            priority,
        };
        Ok((kind, below))
    }

    fn channel_in_parentheses(&mut self) -> Parsed<Path> {
        self.advance();
        self.expect(Punctuation::OpenParen, "before the channel")?;
        let path = self.path()?;
        self.expect(Punctuation::CloseParen, "after the channel")?;
        Ok(path)
    }

    fn operand_in_parentheses(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect(Punctuation::OpenParen, "before the process number")?;
        let operand = self.expression()?;
        self.expect(Punctuation::CloseParen, "after the process number")?;
        Ok(operand)
    }

    /// A variable, a poll of a channel or a look into another process.
    fn reference(&mut self) -> Parsed<(ExprKind, usize)> {
        let path = self.path()?;
        let below = height_of(&path);
        let single = path.elements.len() == 1;
        if single && self.at(Punctuation::At) {
            self.advance();
            let label = self.expect_name("a label")?;
            let (proctype, process) = split_process(path);
            let kind = ExprKind::RemoteLabel {
                proctype,
                process,
                label,
            };
            return Ok((kind, below));
        }
        let names_proctype = single && self.proctypes.contains(&path.elements[0].name.text);
        if names_proctype && self.at(Punctuation::Colon) {
            self.advance();
            let variable = Box::new(self.path_element()?);
            let below = below.max(variable.index.as_ref().map_or(0, |index| index.height));
            let (proctype, process) = split_process(path);
            let kind = ExprKind::RemoteVariable {
                proctype,
                process,
                variable,
            };
            return Ok((kind, below));
        }
        let random = self.at(Punctuation::RandomReceive);
        if (random || self.at(Punctuation::Question))
            && self.token_after(1).is(Punctuation::OpenBracket)
        {
            self.advance();
            self.advance();
            let arguments = self.receive_arguments()?;
            self.expect(Punctuation::CloseBracket, "after the message to poll for")?;
            let kind = ExprKind::Poll {
                channel: path,
                random,
                arguments,
            };
            // Arguments of a poll are bounded by the nesting guard.
            return Ok((kind, below));
        }
        Ok((ExprKind::Variable(path), below))
    }

    pub(super) fn path(&mut self) -> Parsed<Path> {
        let start = self.span();
        let mut elements = vec![self.path_element()?];
        while self.eat(Punctuation::Dot) {
            elements.push(self.path_element()?);
        }
        Ok(Path {
            elements,
            span: start.to(self.span_before()),
        })
    }

    fn path_element(&mut self) -> Parsed<PathElement> {
        let name = self.expect_name("the name of a variable")?;
        let index = if !self.in_formula_before_always() && self.eat(Punctuation::OpenBracket) {
            let index = self.nested(Self::expression)?;
            self.expect(Punctuation::CloseBracket, "after the index")?;
            Some(index)
        } else {
            None
        };
        Ok(PathElement { name, index })
    }

    /// In a formula `[]` is an operator even right after a name.
    fn in_formula_before_always(&self) -> bool {
        self.in_formula
            && self.at(Punctuation::OpenBracket)
            && self.token_after(1).is(Punctuation::CloseBracket)
    }

    /// `a, b`, `a(b, c)` or `(a, b)`.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<ReceiveArgument>> {
        let mut arguments = Vec::new();
        loop {
            if self.eat(Punctuation::OpenParen) {
                let inner = self.nested(Self::receive_arguments)?;
                self.expect(Punctuation::CloseParen, "after the message")?;
                arguments.extend(inner);
                return Ok(arguments);
            }
            arguments.push(self.receive_argument()?);
            if !self.at(Punctuation::OpenParen) && !self.eat(Punctuation::Comma) {
                return Ok(arguments);
            }
        }
    }

    fn receive_argument(&mut self) -> Parsed<ReceiveArgument> {
        let start = self.span();
        match self.token().kind {
            TokenKind::Keyword(Keyword::Eval) => {
                self.advance();
                self.expect(Punctuation::OpenParen, "after `eval`")?;
                let value = self.nested(Self::expression)?;
                self.expect(Punctuation::CloseParen, "after the value")?;
                Ok(ReceiveArgument::Eval(value))
            }
            TokenKind::Number(number) | TokenKind::Character(number) => {
                self.advance();
                Ok(ReceiveArgument::Number(number, start))
            }
            TokenKind::Keyword(Keyword::True | Keyword::Skip) => {
                self.advance();
                Ok(ReceiveArgument::Number(1, start))
            }
            TokenKind::Keyword(Keyword::False) => {
                self.advance();
                Ok(ReceiveArgument::Number(0, start))
            }
            TokenKind::Punctuation(Punctuation::Minus) => {
                self.advance();
                let (number, end) = self.number("a number")?;
                Ok(ReceiveArgument::Number(
                    number.wrapping_neg(),
                    start.to(end),
                ))
            }
            TokenKind::Word(_) => Ok(ReceiveArgument::Path(self.path()?)),
            _ => Err(self.expected("a variable, a constant or `eval(..)`")),
        }
    }
}

fn height_of(path: &Path) -> usize {
    let indices = path
        .elements
        .iter()
        .filter_map(|element| element.index.as_ref());
    indices.map(|index| index.height).max().unwrap_or(0)
}

/// `p[i]` before `@` or `:` names a process, not an element of an array.
fn split_process(path: Path) -> (crate::ast::Name, Option<Box<Expr>>) {
    let mut elements = path.elements;
    let first = elements.swap_remove(0);
    (first.name, first.index.map(Box::new))
}

//! The semicolons that Promela lets a writer leave out.
//!
//! SPIN 6 decides this while it reads characters, so the rules are about
//! tokens and line ends, not about grammar, and a parser that guessed would
//! read some models differently (`x = a` with `-b` on the next line is two
//! statements). Hence they are applied here, before parsing:
//!
//! - Inside a body, outside of parentheses, a line end is a semicolon if the
//!   token before it can end a statement. After `}` it is none if the next
//!   word begins with `u`, which SPIN takes for `unless`.
//! - `else` and `}` are followed by a semicolon unless the next token already
//!   separates or closes something.
//!
//! The parser takes several separators in a row for one, so semicolons too
//! many do no harm. One leniency: SPIN puts a semicolon between `}` and `,`
//! too, so that an initialised channel ends its declaration list; we do not.

use crate::token::{Keyword, Punctuation, Token, TokenKind};

/// Completes the tokens of a whole file.
pub fn complete_file(tokens: Vec<Token>) -> Vec<Token> {
    Layout::default().run(tokens)
}

/// Completes the tokens of an inline's body, which starts with its `{`.
pub fn complete_body(tokens: Vec<Token>) -> Vec<Token> {
    let layout = Layout {
        body_follows: true,
        ..Layout::default()
    };
    layout.run(tokens)
}

#[derive(Default)]
struct Layout {
    completed: Vec<Token>,
    /// The next `{` opens a body in which line ends count.
    body_follows: bool,
    /// Open braces of the body we are in; 0 outside of bodies.
    braces: usize,
    parentheses: usize,
}

impl Layout {
    fn run(mut self, tokens: Vec<Token>) -> Vec<Token> {
        self.completed.reserve(tokens.len() + tokens.len() / 8);
        for token in tokens {
            if let Some(last) = self.completed.last()
                && (self.line_end_separates(last, &token) || follows_implicitly(last, &token))
            {
                self.completed.push(Token {
                    kind: TokenKind::Punctuation(Punctuation::Semicolon),
                    span: token.span,
                    place: token.place,
                    opens_line: false,
                });
            }
            self.track(&token);
            self.completed.push(token);
        }
        self.completed
    }

    fn line_end_separates(&self, last: &Token, next: &Token) -> bool {
        self.braces > 0
            && self.parentheses == 0
            && next.opens_line
            && can_end_statement(last)
            && !(last.is(Punctuation::CloseBrace) && starts_with_u(next))
    }

    fn track(&mut self, token: &Token) {
        use Keyword::{DProctype, Init, Never, Notrace, Proctype, Trace, Typedef};
        match token.kind {
            TokenKind::Keyword(DProctype | Init | Never | Notrace | Proctype | Trace | Typedef) => {
                self.body_follows = true;
            }
            TokenKind::Punctuation(Punctuation::OpenParen) => self.parentheses += 1,
            TokenKind::Punctuation(Punctuation::CloseParen) => {
                self.parentheses = self.parentheses.saturating_sub(1);
            }
            TokenKind::Punctuation(Punctuation::OpenBrace) => {
                if self.body_follows {
                    self.body_follows = false;
                    self.parentheses = 0;
                    self.braces = 1;
                } else if self.braces > 0 {
                    self.braces += 1;
                }
            }
            TokenKind::Punctuation(Punctuation::CloseBrace) => {
                self.braces = self.braces.saturating_sub(1);
            }
            _ => {}
        }
    }
}

fn can_end_statement(token: &Token) -> bool {
    use Keyword::{Break, Else, False, Fi, Od, Skip, Timeout, True};
    use Punctuation::{CloseBrace, CloseBracket, CloseParen, Decrement, Increment};
    matches!(
        token.kind,
        TokenKind::Word(_)
            | TokenKind::Number(_)
            | TokenKind::Character(_)
            | TokenKind::EmbeddedC(_)
            | TokenKind::Keyword(Break | Else | False | Fi | Od | Skip | Timeout | True)
            | TokenKind::Punctuation(
                CloseBrace | CloseBracket | CloseParen | Decrement | Increment
            )
    )
}

fn starts_with_u(token: &Token) -> bool {
    match &token.kind {
        TokenKind::Word(word) => word.starts_with('u'),
        TokenKind::Keyword(keyword) => keyword.text().starts_with('u'),
        _ => false,
    }
}

fn follows_implicitly(last: &Token, next: &Token) -> bool {
    use Keyword::{Else, Fi, Init, Never, Od, Proctype, Unless};
    use Punctuation::{Arrow, CloseBrace, CloseParen, Comma, DoubleColon, Semicolon};
    if next.is(Semicolon) || next.is(Arrow) || next.is_keyword(Fi) {
        return false;
    }
    if last.is_keyword(Else) {
        return true;
    }
    last.is(CloseBrace)
        && !matches!(
            next.kind,
            TokenKind::End
                | TokenKind::Keyword(Proctype | Init | Never | Od | Unless)
                | TokenKind::Punctuation(DoubleColon | CloseBrace | CloseParen | Comma)
        )
}

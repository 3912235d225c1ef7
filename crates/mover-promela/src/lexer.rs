//! From characters to tokens.
//!
//! The lexer reads text that either is the user's or came out of the C
//! preprocessor; [`Origin`] knows which and gives each token its place in the
//! user's text. Comments are skipped here too, for text that needed no
//! preprocessor; all but annotations, `/*@ exclusive(x, m == _pid) */` or the
//! same after `//@`, whose inside is read. SPIN skips them. Embedded C is not Promela at all, so it is swallowed up to
//! its closing brace and becomes a single token that the parser rejects.
//!
//! Numbers are decimal only, as in SPIN; a number beyond 32 bits keeps its
//! low 32 bits, which is what SPIN does, but here with a warning.

use std::rc::Rc;

use mover_source::diagnostic::Diagnostic;

use crate::origin::Origin;
use crate::token::{Keyword, Punctuation, Token, TokenKind};

const EMBEDDED_C: [&str; 3] = ["c_code", "c_decl", "c_expr"];

/// After this many bad characters the rest of the file is not worth a word.
const BAD_CHARACTER_LIMIT: usize = 5;

pub fn tokenize(
    text: &str,
    origin: &mut Origin<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        position: 0,
        opens_line: true,
        bad_characters: 0,
        annotation_end: None,
        tokens: Vec::new(),
        origin,
        diagnostics,
    };
    lexer.run();
    lexer.tokens
}

struct Lexer<'a, 'o> {
    text: &'a str,
    position: usize,
    opens_line: bool,
    bad_characters: usize,
    /// Where the sign stands that closes the annotation we are in.
    annotation_end: Option<usize>,
    tokens: Vec<Token>,
    origin: &'a mut Origin<'o>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = self.origin.span(start, self.position);
        self.tokens.push(Token {
            kind,
            span,
            place: span,
            opens_line: self.opens_line,
        });
        self.opens_line = false;
    }

    fn error(&mut self, message: &str, label: &str, start: usize) {
        let span = self.origin.span(start, self.position);
        self.diagnostics
            .push(Diagnostic::coded("P010", message).at(span, label));
    }

    fn run(&mut self) {
        while let Some(byte) = self.peek() {
            let start = self.position;
            if self.annotation_end == Some(start) {
                self.annotation_end = None;
                self.position += "*/".len();
                continue;
            }
            match byte {
                b'/' if self.annotation_end.is_none() && self.annotation() => {}
                b'\n' => {
                    self.opens_line = true;
                    self.position += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0c | 0x0b => self.position += 1,
                b'/' if self.rest().starts_with("/*") => self.block_comment(),
                b'/' if self.rest().starts_with("//") => self.line_comment(),
                b'"' => self.string(start),
                b'\'' => self.character(start),
                b'0'..=b'9' => self.number(start),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
                _ => self.punctuation(start),
            }
            if self.bad_characters > BAD_CHARACTER_LIMIT {
                break;
            }
        }
        self.position = self.text.len();
        self.push(TokenKind::End, self.position);
    }

    /// Reads the first word of an annotation, if one begins here.
    fn annotation(&mut self) -> bool {
        let start = self.position;
        let rest = self.rest();
        let Some(inside) = rest
            .strip_prefix("/*@")
            .or_else(|| rest.strip_prefix("//@"))
        else {
            return false;
        };
        let inside = inside.trim_start_matches([' ', '\t']);
        let Some(after) = inside.strip_prefix("exclusive") else {
            return false;
        };
        let is_word = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if is_word {
            return false;
        }
        if rest.starts_with("/*") {
            let Some(length) = after.find("*/") else {
                return false;
            };
            self.annotation_end = Some(self.text.len() - after.len() + length);
        }
        self.position = self.text.len() - after.len();
        self.push(TokenKind::Exclusive, start);
        true
    }

    fn block_comment(&mut self) {
        let start = self.position;
        match self.rest()[2..].find("*/") {
            Some(length) => {
                let end = start + 2 + length + 2;
                if self.text[start..end].contains('\n') {
                    self.opens_line = true;
                }
                self.position = end;
            }
            None => {
                self.position = start + 2;
                self.error(
                    "unterminated comment",
                    "the comment that starts here never ends",
                    start,
                );
                self.position = self.text.len();
            }
        }
    }

    fn line_comment(&mut self) {
        self.position += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn string(&mut self, start: usize) {
        self.position += 1;
        loop {
            match self.peek() {
                None | Some(b'\n') => {
                    self.error("unterminated string", "", start);
                    return;
                }
                Some(b'"') => break,
                Some(b'\\') => self.position += 1,
                Some(_) => {}
            }
            self.advance_character();
        }
        let content = &self.text[start + 1..self.position];
        self.position += 1;
        self.push(TokenKind::Text(Rc::from(content)), start);
    }

    fn advance_character(&mut self) {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        self.position += width;
    }

    fn character(&mut self, start: usize) {
        self.position += 1;
        let mut value = self.peek().unwrap_or(0);
        if value == b'\\' {
            self.position += 1;
            value = match self.peek().unwrap_or(0) {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'f' => 0x0c,
                other => other,
            };
        }
        self.advance_character();
        if self.peek() == Some(b'\'') && value.is_ascii() {
            self.position += 1;
            self.push(TokenKind::Character(i32::from(value)), start);
        } else {
            self.error(
                "a character constant holds one ASCII character between two `'`",
                "",
                start,
            );
        }
    }

    fn number(&mut self, start: usize) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        let value = match self.text[start..self.position].parse::<i64>() {
            Ok(value) => value,
            Err(_) => {
                self.error("this number is too large", "", start);
                0
            }
        };
        let kept = value as i32;
        if i64::from(kept) != value {
            let span = self.origin.span(start, self.position);
            self.diagnostics.push(
                Diagnostic::warning(format!(
                    "the number {value} does not fit in 32 bits and is read as {kept}"
                ))
                .at(span, ""),
            );
        }
        self.push(TokenKind::Number(kept), start);
    }

    fn word(&mut self, start: usize) {
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.position += 1;
        }
        let word = &self.text[start..self.position];
        if let Some(which) = EMBEDDED_C.into_iter().find(|&c| c == word) {
            self.embedded_c(which, start);
            return;
        }
        let kind = match Keyword::ALL.iter().find(|keyword| keyword.text() == word) {
            Some(&keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Word(Rc::from(word)),
        };
        self.push(kind, start);
    }

    /// Everything up to the brace that closes the first one.
    fn embedded_c(&mut self, which: &'static str, start: usize) {
        self.push(TokenKind::EmbeddedC(which), start);
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.position += 1;
                        return;
                    }
                }
                b'"' | b'\'' => self.skip_c_literal(byte),
                _ => {}
            }
            self.advance_character();
        }
    }

    /// Leaves the position on the closing quote, or at the end of the line or text.
    fn skip_c_literal(&mut self, quote: u8) {
        self.position += 1;
        while let Some(byte) = self.peek() {
            if byte == quote || byte == b'\n' {
                return;
            }
            if byte == b'\\' {
                self.position += 1;
            }
            self.advance_character();
        }
    }

    fn punctuation(&mut self, start: usize) {
        let rest = self.rest();
        if let Some(&punctuation) = Punctuation::ALL
            .iter()
            .find(|punctuation| rest.starts_with(punctuation.text()))
        {
            self.position += punctuation.text().len();
            // SPIN reads both as the same sign.
            let punctuation = match punctuation {
                Punctuation::LongArrow => Punctuation::Arrow,
                other => other,
            };
            self.push(TokenKind::Punctuation(punctuation), start);
            return;
        }
        self.advance_character();
        self.bad_characters += 1;
        if self.bad_characters == BAD_CHARACTER_LIMIT {
            self.error(
                "this does not look like Promela: too many characters that have no meaning in it",
                "",
                start,
            );
            self.bad_characters += 1;
        } else {
            let character = &self.text[start..self.position];
            let message = if character == "#" {
                "a preprocessor directive where none is read".to_string()
            } else {
                format!(
                    "the character `{}` has no meaning in Promela",
                    character.escape_debug()
                )
            };
            self.error(&message, "", start);
        }
    }
}

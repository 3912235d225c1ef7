//! Cuts the text of a `.tm` file into tokens.

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, Span};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A name or keyword. Names may contain `-` between letters, as in
    /// `wait-freedom`; a difference of numbers needs blanks around its sign.
    Word(String),
    Number(u64),
    Symbol(&'static str),
    End,
}

impl Token {
    pub fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the file".to_string(),
        }
    }
}

/// Longer symbols before their own prefixes.
const SYMBOLS: [&str; 23] = [
    ":=", "+=", "-=", "!=", "<=", ">=", "..", "{", "}", "(", ")", ";", ":", ",", "=", "<", ">",
    "+", "-", "|", "&", "\\", "/",
];

pub fn tokens(text: &str, file: FileId) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let rest = &text[at..];
        let token = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if c.is_ascii_alphabetic() || c == '_' {
            at += word_length(rest);
            Token::Word(text[start..at].to_string())
        } else if c.is_ascii_digit() {
            at += rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            match text[start..at].parse() {
                Ok(number) => Token::Number(number),
                Err(_) => {
                    let span = Span::new(file, start, at);
                    return Err(Diagnostic::coded("T001", "this number is too large").at(span, ""));
                }
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            at += symbol.len();
            Token::Symbol(symbol)
        } else {
            let span = Span::new(file, start, start + c.len_utf8());
            return Err(Diagnostic::coded(
                "T001",
                format!("`{}` has no meaning here", c.escape_debug()),
            )
            .at(span, ""));
        };
        found.push((token, Span::new(file, start, at)));
    }
    found.push((Token::End, Span::new(file, text.len(), text.len())));
    Ok(found)
}

fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let mut length = 0;
    loop {
        if is_word(length) {
            length += 1;
        } else if bytes.get(length) == Some(&b'-')
            && bytes.get(length + 1).is_some_and(u8::is_ascii_alphabetic)
        {
            length += 2;
        } else {
            return length;
        }
    }
}

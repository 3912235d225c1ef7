//! The place of a token in the user's text.
//!
//! Without a preprocessor it is the token's own offset. With one, only lines can be traced
//! back, by the line markers of `cpp`. Within the line the token is searched for by its text,
//! from left to right and with comments masked. A token that is not there comes from a macro:
//! then the word after the last token found is most likely the macro's name, and if there is no
//! word, the whole line is used.

use std::collections::HashMap;

use mover_source::{FileId, SourceMap, Span};

/// A line of preprocessed text and the line of the user's text it came from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LineOrigin {
    /// Offset of the line's first byte in the preprocessed text.
    pub start: usize,
    pub file: FileId,
    /// 1-based.
    pub line: usize,
}

/// How far ahead in a line a token is searched for, so that very long lines
/// full of macros do not take quadratic time.
const SEARCH_WINDOW: usize = 2000;

pub struct Origin<'a> {
    sources: &'a SourceMap,
    text: &'a str,
    mapping: Mapping<'a>,
}

enum Mapping<'a> {
    Verbatim(FileId),
    Lines {
        lines: &'a [LineOrigin],
        masked: HashMap<FileId, Vec<u8>>,
        /// The user's line that was searched last, and how far.
        searched: (FileId, usize, usize),
        last: Option<((usize, usize), Span)>,
    },
}

impl<'a> Origin<'a> {
    /// For text that is the user's own.
    pub fn verbatim(sources: &'a SourceMap, text: &'a str, file: FileId) -> Self {
        Origin {
            sources,
            text,
            mapping: Mapping::Verbatim(file),
        }
    }

    /// For text that a preprocessor wrote; `lines` in the order of `start`.
    pub fn preprocessed(sources: &'a SourceMap, text: &'a str, lines: &'a [LineOrigin]) -> Self {
        Origin {
            sources,
            text,
            mapping: Mapping::Lines {
                lines,
                masked: HashMap::new(),
                searched: (FileId(u32::MAX), 0, 0),
                last: None,
            },
        }
    }

    /// The place of the bytes `start..end` of the text that is being read.
    pub fn span(&mut self, start: usize, end: usize) -> Span {
        let (sources, text) = (self.sources, self.text);
        match &mut self.mapping {
            Mapping::Verbatim(file) => Span::new(*file, start, end),
            Mapping::Lines {
                lines,
                masked,
                searched,
                last,
            } => {
                if let Some((range, span)) = *last
                    && range == (start, end)
                {
                    return span;
                }
                let index = lines.partition_point(|line| line.start <= start);
                let Some(origin) = index.checked_sub(1).and_then(|i| lines.get(i)) else {
                    return Span::new(FileId(0), 0, 0);
                };
                let file = sources.file(origin.file);
                let range = file.line_range(origin.line);
                let masked = masked
                    .entry(origin.file)
                    .or_insert_with(|| mask_comments(&file.text));
                if (searched.0, searched.1) != (origin.file, origin.line) {
                    *searched = (origin.file, origin.line, range.start);
                }
                let token = &text.as_bytes()[start..end];
                let from = searched.2.clamp(range.start, range.end);
                let window = from..range.end.min(from + SEARCH_WINDOW);
                let span = match find_token(&masked[window], token) {
                    Some(offset) => {
                        searched.2 = from + offset + token.len();
                        Span::new(origin.file, from + offset, from + offset + token.len())
                    }
                    None => match word_at(masked, from..range.end) {
                        Some(word) => Span::new(origin.file, word.start, word.end),
                        None => {
                            let line = &file.text[range.clone()];
                            let indent = line.len() - line.trim_start().len();
                            let start = range.start + indent;
                            Span::new(origin.file, start, start + line.trim().len())
                        }
                    },
                };
                *last = Some(((start, end), span));
                span
            }
        }
    }
}

/// The word that a range begins with, blanks apart.
fn word_at(text: &[u8], range: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let within = text.get(range.clone())?;
    let start = within.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let length = within[start..]
        .iter()
        .take_while(|&&byte| is_word(byte))
        .count();
    (length > 0).then(|| range.start + start..range.start + start + length)
}

/// The first occurrence of a token that is not part of a longer word.
fn find_token(line: &[u8], token: &[u8]) -> Option<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = *token.first()?;
    (0..line.len().saturating_sub(token.len() - 1)).find(|&at| {
        let end = at + token.len();
        line[at] == first
            && &line[at..end] == token
            && !(is_word(first) && at > 0 && is_word(line[at - 1]))
            && !(is_word(token[token.len() - 1]) && end < line.len() && is_word(line[end]))
    })
}

/// The text with each byte of a comment turned into a blank.
fn mask_comments(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
        match pair {
            (b'"', _) => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            (b'/', b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
            }
            (b'/', b'*') => {
                bytes[at] = b' ';
                bytes[at + 1] = b' ';
                at += 2;
                while at < bytes.len() {
                    let ends = bytes[at] == b'*' && bytes.get(at + 1) == Some(&b'/');
                    if ends {
                        bytes[at] = b' ';
                        bytes[at + 1] = b' ';
                        at += 2;
                        break;
                    }
                    if bytes[at] != b'\n' {
                        bytes[at] = b' ';
                    }
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_its_line_or_is_its_macro() {
        let mut sources = SourceMap::default();
        let file = sources.add("a", "#define M x\n  /* y */ y = M; xx\n");
        let text = "\n   y = x; xx\n";
        let lines = [
            LineOrigin {
                start: 0,
                file,
                line: 1,
            },
            LineOrigin {
                start: 1,
                file,
                line: 2,
            },
        ];
        let mut origin = Origin::preprocessed(&sources, text, &lines);
        let mut place = |token: &str| {
            let start = text.find(token).unwrap();
            let span = origin.span(start, start + token.len());
            (span.start, sources.text(span).to_string())
        };
        assert_eq!(place("y"), (22, "y".to_string()));
        assert_eq!(place("="), (24, "=".to_string()));
        assert_eq!(place("x"), (26, "M".to_string()));
        assert_eq!(place("xx"), (29, "xx".to_string()));
    }

    #[test]
    fn masks_keep_lengths_and_lines() {
        let text = "a \"/*\" /* x\ny */ b // c\nd";
        let masked = mask_comments(text);
        assert_eq!(masked.len(), text.len());
        assert_eq!(
            String::from_utf8(masked).unwrap(),
            "a \"/*\"     \n     b     \nd"
        );
    }
}

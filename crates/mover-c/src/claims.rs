//! Claims of exclusive access in the program's text.
//!
//! `MOVER_EXCLUSIVE(account, lock == self)` says that only a thread that holds the mutex `lock`
//! accesses `account`. The macro is defined by the user and expands to nothing, so neither the
//! compiler nor LLVM IR sees a claim: claims are read from the text, outside comments, strings
//! and preprocessor lines. Like every exclusive access predicate (Flanagan and Qadeer 2003,
//! Section 4.1) a claim is checked before it is used, so a claim in text that the preprocessor
//! excludes is harmless.
//!
//! The predicate ranges over a lock whose cell names the thread that holds it: mutexes, spin
//! locks, and read-write locks as far as they are held for writing.

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Exclusive, Variable, VariableId};
use mover_source::{FileId, SourceMap, Span};

use crate::actions::me;
use crate::flatten::Problem;
use crate::ssa::Loc;

const MACRO: &str = "MOVER_EXCLUSIVE";

/// The claims in the user's files, which are numbered as the module numbers them.
pub fn find(
    sources: &SourceMap,
    numbers: &[Option<FileId>],
    globals: &[Variable],
) -> Result<Vec<Exclusive>, Problem> {
    let mut claims = Vec::new();
    for (number, file) in numbers.iter().enumerate() {
        let Some(file) = *file else {
            continue;
        };
        let source = sources.file(file);
        let words = words(&source.text);
        for (at, word) in words.iter().enumerate() {
            if word.text != MACRO {
                continue;
            }
            let loc = Loc {
                file: number as u32,
                line: source.line_of(word.start as u32) as u32,
                column: source.column_of(word.start as u32) as u32,
            };
            let claim = read(&words[at + 1..]).ok_or_else(|| {
                problem("this is not a claim of exclusive access", loc)
                    .help(format!("write `{MACRO}(variable, mutex == self)`"))
            })?;
            let lock = cell(globals, claim.lock).ok_or_else(|| {
                let message = format!("there is no global lock `{}`", claim.lock);
                problem(message, loc).help("name a global mutex that threads use")
            })?;
            let span = Span::new(file, word.start, claim.end);
            let protected = variables(globals, claim.variable);
            if protected.is_empty() {
                let message = format!("there is no global variable `{}`", claim.variable);
                return Err(problem(message, loc).help("name a global variable that threads use"));
            }
            claims.extend(protected.into_iter().map(|variable| Exclusive {
                variable,
                predicate: held(globals, lock),
                span,
            }));
        }
    }
    Ok(claims)
}

fn problem(message: impl Into<String>, loc: Loc) -> Problem {
    Problem::new(message, Some(loc)).code("C016")
}

/// That the thread has the lock.
fn held(globals: &[Variable], lock: VariableId) -> Expr {
    let ty = globals[lock.index()].ty;
    let place = Place::scalar(VariableRef::Global(lock), ty);
    Expr::binary(BinaryOp::Eq, Expr::Read(place), me())
}

/// The cell that names the thread which has a lock.
fn cell(globals: &[Variable], name: &str) -> Option<VariableId> {
    let is_it = |variable: &Variable| variable.name == name && variable.ty.width == 32;
    let number = globals.iter().position(is_it)?;
    Some(VariableId(number as u32))
}

/// The variables that hold the parts of what has this name in the source.
fn variables(globals: &[Variable], name: &str) -> Vec<VariableId> {
    let is_part = |variable: &Variable| match variable.name.strip_prefix(name) {
        Some(rest) => rest.is_empty() || rest.starts_with(['.', '+', '[']),
        None => false,
    };
    (0..)
        .map(VariableId)
        .zip(globals)
        .filter(|(_, variable)| is_part(variable))
        .map(|(id, _)| id)
        .collect()
}

struct Claim<'a> {
    variable: &'a str,
    lock: &'a str,
    /// Where it ends in the text.
    end: usize,
}

/// Reads `(variable, lock == self)`.
fn read<'a>(words: &[Word<'a>]) -> Option<Claim<'a>> {
    let [open, variable, comma, left, first, second, right, close] = words.get(..8)? else {
        return None;
    };
    let punctuation = [open, comma, first, second, close].map(|word| word.text);
    let lock = match (left.text, right.text) {
        (lock, "self") | ("self", lock) => lock,
        _ => return None,
    };
    let fits = punctuation == ["(", ",", "=", "=", ")"] && is_name(variable.text) && is_name(lock);
    fits.then_some(Claim {
        variable: variable.text,
        lock,
        end: close.start + 1,
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

struct Word<'a> {
    text: &'a str,
    start: usize,
}

/// Names, numbers and single other characters, outside of comments, literals and
/// preprocessor lines.
fn words(text: &str) -> Vec<Word<'_>> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    let mut opens_line = true;
    while at < bytes.len() {
        let start = at;
        let rest = &text[at..];
        match bytes[at] {
            b'\n' => {
                opens_line = true;
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' if opens_line => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at = rest[2..].find("*/").map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                at += bytes[at..]
                    .iter()
                    .take_while(|byte| is_inside(byte))
                    .count();
                words.push(Word {
                    text: &text[start..at],
                    start,
                });
            }
            _ => {
                at += rest.chars().next().map_or(1, char::len_utf8);
                words.push(Word {
                    text: &text[start..at],
                    start,
                });
            }
        }
        opens_line = false;
        // A literal may have ended within a character that takes several bytes.
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    words
}

/// Where a line ends that may continue after a backslash.
fn end_of_line(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => return at,
            b'\\' if bytes.get(at + 1) == Some(&b'\r') => at += 3,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_found_in_code_only() {
        let text = "#define MOVER_EXCLUSIVE(x, p) \\\n nothing\n\
            // MOVER_EXCLUSIVE(a, m == self)\n/* MOVER_EXCLUSIVE */ char *s = \"MOVER_EXCLUSIVE\\\"\";\n\
            MOVER_EXCLUSIVE(b, self == m)";
        let words = words(text);
        let found: Vec<usize> = (0..words.len())
            .filter(|&at| words[at].text == MACRO)
            .collect();
        let [only] = found[..] else {
            panic!("{found:?}");
        };
        let claim = read(&words[only + 1..]).expect("a claim");
        assert_eq!((claim.variable, claim.lock), ("b", "m"));
        assert_eq!(claim.end, text.len());
    }

    #[test]
    fn what_is_no_claim_is_not_read() {
        for text in [
            "(b, m)",
            "(b, m = self)",
            "(b, m == other)",
            "(1, m == self)",
            "(b,",
            "",
        ] {
            assert!(read(&words(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn any_text_can_be_taken_apart() {
        for text in ["\"\\", "'é\\é'", "/*", "#\\", "é", "\"é"] {
            words(text);
        }
    }
}

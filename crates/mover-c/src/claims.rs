//! Claims of exclusive access in the program's text.
//!
//! `MOVER_EXCLUSIVE(account, lock == self)` says that only a thread that holds the mutex `lock`
//! accesses `account`. The macro is defined by the user and expands to nothing, so neither the
//! compiler nor LLVM IR sees a claim: claims are read from the text, outside comments, strings
//! and preprocessor lines. Like every exclusive access predicate (Flanagan and Qadeer 2003,
//! Section 4.1) a claim is checked before it is used, so a claim in text that the preprocessor
//! excludes is harmless.
//!
//! The predicate ranges over locks whose cells name the thread that holds them: mutexes, spin
//! locks, and read-write locks as far as they are held for writing. It is one comparison,
//! `lock == self` or `locks[1] == self`, or several joined by `&&`.

use std::fmt;

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
            let mut predicate = Expr::TRUE;
            for lock in &claim.locks {
                let part = held(globals, lock).ok_or_else(|| {
                    let message = format!("there is no global lock `{lock}`");
                    problem(message, loc).help("name a global mutex that threads use")
                })?;
                predicate = predicate.and(part);
            }
            let span = Span::new(file, word.start, claim.end);
            let protected = variables(globals, claim.variable);
            if protected.is_empty() {
                let message = format!("there is no global variable `{}`", claim.variable);
                return Err(problem(message, loc).help("name a global variable that threads use"));
            }
            claims.extend(protected.into_iter().map(|variable| Exclusive {
                variable,
                predicate: predicate.clone(),
                span,
            }));
        }
    }
    Ok(claims)
}

fn problem(message: impl Into<String>, loc: Loc) -> Problem {
    Problem::new(message, Some(loc)).code("C016")
}

/// That the thread has the lock: the cell that names the thread which has it is its own.
fn held(globals: &[Variable], lock: &Lock) -> Option<Expr> {
    let named = |name: &str| {
        let is_it = |variable: &Variable| variable.name == name && variable.ty.width == 32;
        globals.iter().position(is_it)
    };
    // The front end may have split an array into its elements.
    let (number, index) = match named(&lock.to_string()) {
        Some(number) => (number, 0),
        None => (named(lock.name)?, lock.index.unwrap_or(0)),
    };
    let variable = &globals[number];
    let is_inside = index < u64::from(variable.len) && (lock.index.is_some() || variable.len == 1);
    let place = Place::element(
        VariableRef::Global(VariableId(number as u32)),
        Expr::int(index as i64),
        variable.ty,
    );
    is_inside.then(|| Expr::binary(BinaryOp::Eq, Expr::Read(place), me()))
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
    /// All of them are held by who has access.
    locks: Vec<Lock<'a>>,
    /// Where it ends in the text.
    end: usize,
}

/// A lock by name, or an element of an array of locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lock<'a> {
    name: &'a str,
    index: Option<u64>,
}

impl fmt::Display for Lock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// What is left to read of a claim.
struct Reader<'w, 'a> {
    rest: &'w [Word<'a>],
}

impl<'a> Reader<'_, 'a> {
    fn eat(&mut self, wanted: &str) -> Option<()> {
        let (first, rest) = self.rest.split_first()?;
        (first.text == wanted).then(|| self.rest = rest)
    }

    fn name(&mut self) -> Option<&'a str> {
        let (first, rest) = self.rest.split_first()?;
        is_name(first.text).then(|| {
            self.rest = rest;
            first.text
        })
    }

    /// A lock, or `self`.
    fn side(&mut self) -> Option<Lock<'a>> {
        let name = self.name()?;
        let mut index = None;
        if self.eat("[").is_some() {
            let (first, rest) = self.rest.split_first()?;
            index = Some(first.text.parse().ok()?);
            self.rest = rest;
            self.eat("]")?;
        }
        Some(Lock { name, index })
    }

    fn comparison(&mut self) -> Option<Lock<'a>> {
        let left = self.side()?;
        self.eat("=")?;
        self.eat("=")?;
        let right = self.side()?;
        let own = Lock {
            name: "self",
            index: None,
        };
        match (left == own, right == own) {
            (false, true) => Some(left),
            (true, false) => Some(right),
            _ => None,
        }
    }
}

/// Reads `(variable, lock == self && locks[1] == self)`.
fn read<'a>(words: &[Word<'a>]) -> Option<Claim<'a>> {
    let mut reader = Reader { rest: words };
    reader.eat("(")?;
    let variable = reader.name()?;
    reader.eat(",")?;
    let mut locks = vec![reader.comparison()?];
    while reader.eat("&").is_some() {
        reader.eat("&")?;
        locks.push(reader.comparison()?);
    }
    let end = reader.rest.first()?.start + 1;
    reader.eat(")")?;
    Some(Claim {
        variable,
        locks,
        end,
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
        let m = Lock {
            name: "m",
            index: None,
        };
        assert_eq!((claim.variable, &claim.locks[..]), ("b", &[m][..]));
        assert_eq!(claim.end, text.len());
    }

    #[test]
    fn locks_are_joined_and_have_indices() {
        let words = words("(b, m == self && self == locks[1])");
        let claim = read(&words).expect("a claim");
        let locks: Vec<String> = claim.locks.iter().map(Lock::to_string).collect();
        assert_eq!(locks, ["m", "locks[1]"]);
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

//! Words: what a program sees of a transactional memory (Section 2.1 and 2.2).
//!
//! A word is the sequence of successful statements: reads, writes, commits and
//! aborts, each of one thread. It is all that a safety property speaks of.
//! The notation is the paper's, in plain letters: `(r,1)_2` is thread 2
//! reading variable 1, `(w,1)_2` writing it, `c_2` its commit, `a_2` its
//! abort. Threads and variables count from 1 on paper and from 0 in here.
//!
//! The paper's words are over these four kinds of statements. What an
//! algorithm may say beyond the paper (declared begins, reads of old versions,
//! accesses outside of transactions, nesting) is an [`Extra`]; what such a word
//! means is said by [`crate::extended`].

use std::fmt;

/// The largest number of threads and of variables: sets of either are bytes.
pub const MAX_INDEX: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Action {
    Read(u8),
    Write(u8),
    Commit,
    Abort,
    Extra(Extra),
}

/// Statements that the paper does not have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Extra {
    /// `b_1`: a transaction begins; it takes a snapshot.
    Begin,
    /// `br_1`: a transaction begins and declares that it will not write.
    BeginReadOnly,
    /// `s_1`: a new snapshot.
    Snapshot,
    /// `(o,2)_1`: a read of the version that was current at the snapshot.
    OldRead(u8),
    /// `(R,2)_1`: a read outside of any transaction.
    PlainRead(u8),
    /// `(W,2)_1`: a write outside of any transaction.
    PlainWrite(u8),
    /// `n_1`: a nested transaction begins.
    Nest,
    /// `m_1`: the nested transaction commits into the one around it.
    Merge,
    /// `u_1`: the nested transaction is undone, the one around it continues.
    Undo,
    /// A command only: the program asks for an abort. The statement is `a_1`.
    Retry,
}

impl Extra {
    /// All of them over this many variables, as [`Extra::position`] counts.
    pub fn all(variables: usize) -> Vec<Extra> {
        use Extra::*;
        let mut all = vec![Begin, BeginReadOnly, Snapshot, Nest, Merge, Undo, Retry];
        for v in 0..variables as u8 {
            all.extend([OldRead(v), PlainRead(v), PlainWrite(v)]);
        }
        all
    }

    /// The position in [`Extra::all`].
    pub fn position(self) -> usize {
        match self {
            Extra::Begin => 0,
            Extra::BeginReadOnly => 1,
            Extra::Snapshot => 2,
            Extra::Nest => 3,
            Extra::Merge => 4,
            Extra::Undo => 5,
            Extra::Retry => 6,
            Extra::OldRead(v) => 7 + 3 * v as usize,
            Extra::PlainRead(v) => 8 + 3 * v as usize,
            Extra::PlainWrite(v) => 9 + 3 * v as usize,
        }
    }
}

impl Action {
    pub fn is_finishing(self) -> bool {
        matches!(self, Action::Commit | Action::Abort)
    }

    /// The variable that it names.
    pub fn variable(self) -> Option<u8> {
        match self {
            Action::Read(v)
            | Action::Write(v)
            | Action::Extra(Extra::OldRead(v) | Extra::PlainRead(v) | Extra::PlainWrite(v)) => {
                Some(v)
            }
            Action::Commit | Action::Abort | Action::Extra(_) => None,
        }
    }

    /// The same on another variable, if it names one.
    pub fn renamed(self, variable: impl Fn(u8) -> u8) -> Action {
        match self {
            Action::Read(v) => Action::Read(variable(v)),
            Action::Write(v) => Action::Write(variable(v)),
            Action::Extra(Extra::OldRead(v)) => Action::Extra(Extra::OldRead(variable(v))),
            Action::Extra(Extra::PlainRead(v)) => Action::Extra(Extra::PlainRead(variable(v))),
            Action::Extra(Extra::PlainWrite(v)) => Action::Extra(Extra::PlainWrite(variable(v))),
            Action::Commit | Action::Abort | Action::Extra(_) => self,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Statement {
    pub action: Action,
    pub thread: u8,
}

impl Statement {
    pub fn new(action: Action, thread: u8) -> Self {
        Statement { action, thread }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = self.thread + 1;
        match self.action {
            Action::Read(v) => write!(f, "(r,{})_{thread}", v + 1),
            Action::Write(v) => write!(f, "(w,{})_{thread}", v + 1),
            Action::Commit => write!(f, "c_{thread}"),
            Action::Abort => write!(f, "a_{thread}"),
            Action::Extra(extra) => match extra {
                Extra::Begin => write!(f, "b_{thread}"),
                Extra::BeginReadOnly => write!(f, "br_{thread}"),
                Extra::Snapshot => write!(f, "s_{thread}"),
                Extra::OldRead(v) => write!(f, "(o,{})_{thread}", v + 1),
                Extra::PlainRead(v) => write!(f, "(R,{})_{thread}", v + 1),
                Extra::PlainWrite(v) => write!(f, "(W,{})_{thread}", v + 1),
                Extra::Nest => write!(f, "n_{thread}"),
                Extra::Merge => write!(f, "m_{thread}"),
                Extra::Undo => write!(f, "u_{thread}"),
                Extra::Retry => write!(f, "retry_{thread}"),
            },
        }
    }
}

pub type Word = Vec<Statement>;

/// Prints a word in the notation that [`parse_word`] reads.
pub fn print_word(word: &[Statement]) -> String {
    word.iter()
        .map(Statement::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Every statement over this many threads and variables, in a fixed order.
pub fn alphabet(threads: usize, variables: usize) -> Vec<Statement> {
    let mut statements = Vec::new();
    for thread in 0..threads as u8 {
        for v in 0..variables as u8 {
            statements.push(Statement::new(Action::Read(v), thread));
            statements.push(Statement::new(Action::Write(v), thread));
        }
        statements.push(Statement::new(Action::Commit, thread));
        statements.push(Statement::new(Action::Abort, thread));
    }
    statements
}

/// The position of a statement in [`alphabet`]; for an extra statement a
/// number beyond every alphabet.
pub fn symbol_of(statement: Statement, variables: usize) -> usize {
    let within = match statement.action {
        Action::Read(v) => 2 * v as usize,
        Action::Write(v) => 2 * v as usize + 1,
        Action::Commit => 2 * variables,
        Action::Abort => 2 * variables + 1,
        Action::Extra(_) => return usize::MAX,
    };
    statement.thread as usize * (2 * variables + 2) + within
}

/// How many threads and variables a word speaks of, by the largest of each.
pub fn extent(word: &[Statement]) -> (usize, usize) {
    let threads = word.iter().map(|s| s.thread as usize + 1).max();
    let variables = word
        .iter()
        .filter_map(|s| s.action.variable().map(|v| v as usize + 1));
    (threads.unwrap_or(0), variables.max().unwrap_or(0))
}

/// What is wrong with the text of a word, and which bytes of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordError {
    pub message: String,
    pub start: usize,
    pub end: usize,
}

/// Reads a word; statements are separated by blanks or commas.
pub fn parse_word(text: &str) -> Result<Word, WordError> {
    let mut scanner = Scanner { text, at: 0 };
    let mut word = Vec::new();
    loop {
        scanner.skip(|c| c.is_whitespace() || c == ',');
        if scanner.at == text.len() {
            return Ok(word);
        }
        word.push(scanner.statement()?);
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        while let Some(c) = self.peek().filter(|&c| wanted(c)) {
            self.at += c.len_utf8();
        }
    }

    fn error(&self, expected: &str) -> WordError {
        let end = self.peek().map_or(self.at, |c| self.at + c.len_utf8());
        let found = match self.peek() {
            Some(c) => format!("found `{c}`"),
            None => "the word ends".to_string(),
        };
        WordError {
            message: format!("expected {expected}, but {found}"),
            start: self.at,
            end,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), WordError> {
        if self.peek() != Some(wanted) {
            return Err(self.error(&format!("`{wanted}`")));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn index(&mut self, of: &str) -> Result<u8, WordError> {
        let start = self.at;
        self.skip(|c| c.is_ascii_digit());
        if self.at == start {
            return Err(self.error(&format!("the number of a {of}")));
        }
        match self.text[start..self.at].parse::<usize>() {
            Ok(number @ 1..=MAX_INDEX) => Ok(number as u8 - 1),
            _ => Err(WordError {
                message: format!("the number of a {of} must be between 1 and {MAX_INDEX}"),
                start,
                end: self.at,
            }),
        }
    }

    fn statement(&mut self) -> Result<Statement, WordError> {
        let action = match self.peek() {
            Some('(') => {
                self.at += 1;
                self.skip(char::is_whitespace);
                let access: fn(u8) -> Action = match self.peek() {
                    Some('r') => Action::Read,
                    Some('w') => Action::Write,
                    Some('o') => |v| Action::Extra(Extra::OldRead(v)),
                    Some('R') => |v| Action::Extra(Extra::PlainRead(v)),
                    Some('W') => |v| Action::Extra(Extra::PlainWrite(v)),
                    _ => return Err(self.error("`r` or `w`")),
                };
                self.at += 1;
                self.skip(char::is_whitespace);
                self.expect(',')?;
                self.skip(char::is_whitespace);
                let v = self.index("variable")?;
                self.skip(char::is_whitespace);
                self.expect(')')?;
                access(v)
            }
            Some(letter @ ('c' | 'a' | 'b' | 's' | 'n' | 'm' | 'u')) => {
                self.at += 1;
                match letter {
                    'c' => Action::Commit,
                    'a' => Action::Abort,
                    'b' if self.peek() == Some('r') => {
                        self.at += 1;
                        Action::Extra(Extra::BeginReadOnly)
                    }
                    'b' => Action::Extra(Extra::Begin),
                    's' => Action::Extra(Extra::Snapshot),
                    'n' => Action::Extra(Extra::Nest),
                    'm' => Action::Extra(Extra::Merge),
                    _ => Action::Extra(Extra::Undo),
                }
            }
            _ => return Err(self.error("a statement such as `(r,1)_2`, `(w,1)_2`, `c_2` or `a_2`")),
        };
        self.expect('_')?;
        let thread = self.index("thread")?;
        Ok(Statement { action, thread })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Committing,
    Aborting,
    Unfinished,
}

/// A transaction of a word: the positions of its statements, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    pub thread: u8,
    pub statements: Vec<usize>,
    pub outcome: Outcome,
}

impl Transaction {
    pub fn first(&self) -> usize {
        self.statements[0]
    }

    pub fn last(&self) -> usize {
        self.statements[self.statements.len() - 1]
    }

    /// Where it writes to `v` first.
    pub fn first_write(&self, word: &[Statement], v: u8) -> Option<usize> {
        self.statements
            .iter()
            .copied()
            .find(|&at| word[at].action == Action::Write(v))
    }

    /// The variable of a global read: a read with no write of the same
    /// transaction to the same variable before it.
    pub fn global_read_at(&self, word: &[Statement], at: usize) -> Option<u8> {
        match word[at].action {
            Action::Read(v) if self.first_write(word, v).is_none_or(|write| write > at) => Some(v),
            _ => None,
        }
    }
}

/// The transactions of a word in the order of their first statements.
pub fn transactions(word: &[Statement]) -> Vec<Transaction> {
    let mut found: Vec<Transaction> = Vec::new();
    let mut open: [Option<usize>; 256] = [None; 256];
    for (at, statement) in word.iter().enumerate() {
        let slot = &mut open[statement.thread as usize];
        let index = *slot.get_or_insert_with(|| {
            found.push(Transaction {
                thread: statement.thread,
                statements: Vec::new(),
                outcome: Outcome::Unfinished,
            });
            found.len() - 1
        });
        found[index].statements.push(at);
        if statement.action.is_finishing() {
            *slot = None;
            found[index].outcome = match statement.action {
                Action::Commit => Outcome::Committing,
                _ => Outcome::Aborting,
            };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let text = "(r,1)_1 (w,2)_2 c_1 a_2";
        let word = parse_word(text).unwrap();
        assert_eq!(print_word(&word), text);
        assert_eq!(parse_word(" ( r , 1 )_1,(w,2)_2 , c_1 a_2 ").unwrap(), word);
        assert_eq!(extent(&word), (2, 2));
        assert_eq!(parse_word("").unwrap(), vec![]);
    }

    #[test]
    fn the_alphabet_is_numbered_in_its_order() {
        for (at, statement) in alphabet(3, 2).into_iter().enumerate() {
            assert_eq!(symbol_of(statement, 2), at);
        }
    }

    #[test]
    fn extra_statements_are_printed_numbered_and_read_back() {
        let text = "b_1 br_2 s_1 (o,2)_1 n_1 m_1 n_1 u_1 c_1 (R,1)_1 (W,2)_1";
        assert_eq!(print_word(&parse_word(text).unwrap()), text);
        for (at, extra) in Extra::all(3).into_iter().enumerate() {
            assert_eq!(extra.position(), at);
        }
    }

    #[test]
    fn a_bad_word_is_pointed_at() {
        let place = |text: &str| {
            let error = parse_word(text).unwrap_err();
            (error.start, error.end)
        };
        assert_eq!(place("(r,1)_1 (x,1)_2"), (9, 10));
        assert_eq!(place("(r,0)_1"), (3, 4));
        assert_eq!(place("c_99999999999999999999"), (2, 22));
        assert_eq!(place("c"), (1, 1));
        assert_eq!(place("c_1 ä"), (4, 6));
    }

    #[test]
    fn transactions_end_at_commits_and_aborts() {
        let word = parse_word("(r,1)_1 (w,1)_1 (r,1)_1 c_2 c_1 (r,2)_1").unwrap();
        let found = transactions(&word);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].statements, [0, 1, 2, 4]);
        assert_eq!(found[0].global_read_at(&word, 0), Some(0));
        assert_eq!(found[0].global_read_at(&word, 2), None);
        assert_eq!(found[1].outcome, Outcome::Committing);
        assert_eq!(found[2].outcome, Outcome::Unfinished);
    }
}

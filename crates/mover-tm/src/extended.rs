//! What words with extra statements mean: each is a word of the paper.
//!
//! Guerraoui, Henzinger and Singh (2010) exclude nested transactions and
//! non-transactional accesses (Section 8.1), and their reads return the current
//! value. Here an extra statement is explained by a translation, so that the
//! definition of Section 2.3 stays the only judge:
//!
//! * A *begin* is a statement of its transaction that conflicts with nothing.
//!   It counts for the order in time: without it a transaction begins at its
//!   first access.
//! * A *read of an old version* happens where its transaction took its last
//!   snapshot (its begin, or a later snapshot statement): it returns what a
//!   read at that place would have returned. After an own write to the same
//!   variable no serial execution returns an old version, so a transaction that
//!   reads so is wrong by itself.
//! * An access *outside of transactions* is a transaction of its own that
//!   commits at once. That is strong isolation (Larus and Rajwar 2007). Weak
//!   isolation judges the transactions among themselves: such accesses are left
//!   out of the word before it gets here ([`crate::algorithm::View`]).
//! * A *nested* transaction is closed (Moss and Hosking 2006): its writes join
//!   those of the transaction around it when it merges, and never were if it is
//!   undone. What it read counts in both cases, because the transaction around
//!   it knows the outcome; so a read is global unless a write that is still
//!   valid came before it in the same transaction. `orElse` (Harris, Marlow,
//!   Peyton Jones, Herlihy 2005) is a nested transaction that is undone,
//!   followed by the other branch; `retry` outside of it is an abort.
//!
//! [`crate::extended_monitor`] decides the same online; the tests compare both
//! on all short words and on random longer ones.

use crate::word::{Action, Extra, Statement, Word};

/// A word of the paper's statements, and begins, that means the same.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    pub word: Word,
    /// The position in the word given of each statement.
    pub origin: Vec<usize>,
    /// Positions, in the translation, of reads of an old version after an own
    /// write.
    pub wrong_reads: Vec<usize>,
}

/// Why no algorithm has a word.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("statement {number} ({statement}): {why}")]
pub struct Malformed {
    /// From 1.
    pub number: usize,
    pub statement: Statement,
    pub why: Misplaced,
}

/// What is wrong with the place of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Misplaced {
    #[error("its thread is already in a transaction")]
    SecondBegin,
    #[error("its thread is in a transaction")]
    PlainInTransaction,
    #[error("one level of nesting is supported")]
    NestedTwice,
    #[error("there is no nested transaction")]
    NotNested,
    #[error("the nested transaction has not ended")]
    StillNested,
}

/// Refuses a word that no algorithm has.
pub fn refuse_malformed(word: &[Statement]) -> Result<(), Malformed> {
    let mut open = [false; 256];
    let mut nested = [false; 256];
    for (at, statement) in word.iter().enumerate() {
        let thread = statement.thread as usize;
        let wrong = |why: Misplaced| {
            Err(Malformed {
                number: at + 1,
                statement: *statement,
                why,
            })
        };
        match statement.action {
            Action::Extra(Extra::Begin | Extra::BeginReadOnly) if open[thread] => {
                return wrong(Misplaced::SecondBegin);
            }
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_)) => {
                if open[thread] {
                    return wrong(Misplaced::PlainInTransaction);
                }
                continue;
            }
            Action::Extra(Extra::Nest) if nested[thread] => {
                return wrong(Misplaced::NestedTwice);
            }
            Action::Extra(Extra::Nest) => nested[thread] = true,
            Action::Extra(Extra::Merge | Extra::Undo) => {
                if !nested[thread] {
                    return wrong(Misplaced::NotNested);
                }
                nested[thread] = false;
            }
            Action::Commit if nested[thread] => {
                return wrong(Misplaced::StillNested);
            }
            _ => {}
        }
        open[thread] = !statement.action.is_finishing();
        nested[thread] &= open[thread];
    }
    Ok(())
}

/// What is known of a thread's transaction while the word is read.
#[derive(Clone, Default)]
struct Own {
    /// Index of the snapshot in the pieces.
    snapshot: Option<usize>,
    written: Vec<u8>,
    /// Variables written by the nested transaction, with their pieces.
    nested: Option<Vec<(u8, usize)>>,
}

/// Translates a word.
pub fn translate(word: &[Statement]) -> Translation {
    // One piece for each statement: what comes at its place. An old read goes
    // to the end of its snapshot's piece.
    let mut pieces: Vec<Vec<(Statement, usize, bool)>> = Vec::with_capacity(word.len());
    let mut threads = vec![Own::default(); 256];
    for (at, &statement) in word.iter().enumerate() {
        let own = &mut threads[statement.thread as usize];
        let say = |action: Action| (Statement::new(action, statement.thread), at, false);
        let nothing = say(Action::Extra(Extra::Begin));
        let valid = |own: &Own, v: u8| {
            own.written.contains(&v)
                || (own.nested.as_ref()).is_some_and(|nested| nested.iter().any(|(w, _)| *w == v))
        };
        let mut piece = Vec::new();
        match statement.action {
            Action::Read(v) if valid(own, v) => piece.push(nothing),
            Action::Read(_) => piece.push(say(statement.action)),
            Action::Write(v) => {
                match &mut own.nested {
                    Some(nested) => nested.push((v, at)),
                    None => own.written.push(v),
                }
                piece.push(say(statement.action));
            }
            Action::Commit | Action::Abort => {
                piece.push(say(statement.action));
                *own = Own::default();
            }
            Action::Extra(extra) => match extra {
                Extra::Begin | Extra::BeginReadOnly | Extra::Snapshot => {
                    own.snapshot = Some(at);
                    piece.push(nothing);
                }
                Extra::OldRead(v) => {
                    let wrong = valid(own, v);
                    let read = (Statement::new(Action::Read(v), statement.thread), at, wrong);
                    match own.snapshot {
                        Some(snapshot) if !wrong => pieces[snapshot].push(read),
                        _ => piece.push(read),
                    }
                }
                Extra::PlainRead(v) => {
                    piece.extend([say(Action::Read(v)), say(Action::Commit)]);
                }
                Extra::PlainWrite(v) => {
                    piece.extend([say(Action::Write(v)), say(Action::Commit)]);
                }
                Extra::Nest => {
                    own.nested = Some(Vec::new());
                    piece.push(nothing);
                }
                Extra::Merge => {
                    let nested = own.nested.take().unwrap_or_default();
                    own.written.extend(nested.iter().map(|(v, _)| *v));
                    piece.push(nothing);
                }
                Extra::Undo => {
                    for (_, write) in own.nested.take().unwrap_or_default() {
                        for undone in &mut pieces[write] {
                            undone.0.action = Action::Extra(Extra::Begin);
                        }
                    }
                    piece.push(nothing);
                }
                Extra::Retry => piece.push(nothing),
            },
        }
        pieces.push(piece);
    }
    let mut translation = Translation::default();
    for (statement, origin, wrong) in pieces.into_iter().flatten() {
        if wrong {
            translation.wrong_reads.push(translation.word.len());
        }
        translation.word.push(statement);
        translation.origin.push(origin);
    }
    translation
}

/// Whether a word has extra statements.
pub fn has_extra(word: &[Statement]) -> bool {
    word.iter().any(|s| matches!(s.action, Action::Extra(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::{parse_word, print_word};

    fn means(text: &str) -> String {
        print_word(&translate(&parse_word(text).unwrap()).word)
    }

    #[test]
    fn an_old_read_goes_back_to_the_snapshot() {
        assert_eq!(
            means("b_1 (w,1)_2 c_2 (o,1)_1 s_1 (o,2)_1 c_1"),
            "b_1 (r,1)_1 (w,1)_2 c_2 b_1 (r,2)_1 c_1"
        );
    }

    #[test]
    fn what_is_undone_never_was_written() {
        assert_eq!(
            means("b_1 n_1 (w,1)_1 (r,1)_1 u_1 (r,1)_1 n_1 (w,2)_1 m_1 (r,2)_1 c_1"),
            "b_1 b_1 b_1 b_1 b_1 (r,1)_1 b_1 (w,2)_1 b_1 b_1 c_1"
        );
    }

    #[test]
    fn plain_accesses_commit_at_once() {
        assert_eq!(means("(R,1)_1 (W,2)_1"), "(r,1)_1 c_1 (w,2)_1 c_1");
    }

    #[test]
    fn malformed_words_are_refused() {
        for text in ["b_1 b_1", "b_1 (R,1)_1", "n_1 n_1", "u_1", "n_1 c_1"] {
            assert!(
                refuse_malformed(&parse_word(text).unwrap()).is_err(),
                "{text}"
            );
        }
        let fine = "b_1 n_1 u_1 n_1 a_1 (W,1)_1 br_1 c_1";
        assert!(refuse_malformed(&parse_word(fine).unwrap()).is_ok());
    }
}

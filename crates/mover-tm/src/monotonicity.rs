//! The structural condition P4, monotonicity, checked on short words.
//!
//! P4 says (Section 4): if the memory has a word w·s, where w has the property,
//! has no aborts and has exactly one unfinished transaction y, and s is a
//! statement of y, then it also has w₂·s for every more sequential form w₂ of
//! w: the committed transactions one after the other in an equivalent order,
//! the statements of y among them so that each global read of y stays on the
//! same side of every commit that writes what it reads, and y beginning after
//! every transaction that had ended before it.
//!
//! As printed that is false for the paper's own examples. DSTM has
//! `(r,1)_1 (w,1)_2 c_1 (r,1)_2`, but in the more sequential
//! `(w,1)_2 (r,1)_1 c_1` the validation of thread 1 kills thread 2, which then
//! cannot read; 2PL and TL2 fail alike. So is the sufficient condition that the
//! print gives ("unfinished commutative and commit commutative"): the
//! sequential TM has `c_1 (r,1)_2` but not `(r,1)_2 c_1`. What the proof of
//! Theorem 1 uses is weaker: that *some* more sequential form exists with which
//! the memory can continue, and only for an s that makes the word wrong: a commit, or
//! for opacity also a read. That is checked here, on every word up to a length, up
//! to renaming. The statements of y may change their own order, as the print
//! allows, as long as each read stays on its side of y's own writes.
//!
//! # Opacity
//!
//! Theorem 1 is proved for strict serializability; for opacity the print says
//! that a similar proof holds. It does not. The proof takes all transactions
//! out of the wrong word that have not committed, but for y, and a word can be
//! wrong because of two of them: each fits in with the committed ones, but not
//! both at once. Take
//!
//! ```text
//! (r,1)_1 (w,1)_2 (w,2)_3 c_2 (r,2)_4 c_3 (r,2)_1
//! ```
//!
//! Thread 1 has seen the write of thread 3 and not that of thread 2; thread 4
//! has begun after thread 2 and has not seen the write of thread 3. Without
//! thread 1 or without thread 4 the word is opaque. A memory that lets
//! transactions that are going to abort live in worlds of their own has such
//! words, and has P1 to P4 as printed and nothing wrong for two threads
//! (`tests/algorithms.rs` has one).
//!
//! So for opacity w may have aborts and any number of unfinished transactions,
//! and in the form that is searched for, all of them but y that have a global read
//! are there as readers: their global reads, then a commit. In the conflict
//! graph of w such a transaction has edges only for these reads and for the
//! order in time, and the form keeps them all; one without global reads is on no
//! cycle that cannot do without it. So if w·s is not opaque, neither is the form
//! with s, in which all but y are committed and come one after the other; and
//! P2 and P3 make a word of two threads and two variables of it as in the proof.

use crate::automaton::Automaton;
use crate::conflict_graph::ConflictGraph;
use crate::layout::{Renaming, renamings};
use crate::property::{Safety, Update};
use crate::word::{Action, Outcome, Statement, Transaction, Word, transactions};

/// What was found about P4.
#[derive(Clone, Debug)]
pub struct Monotonicity {
    /// A word none of whose more sequential forms is in the language.
    pub witness: Option<Word>,
    /// All words up to this length were inspected.
    pub length: usize,
}

/// Checks words of growing length until the budget of words is spent. All words
/// of the automaton must have the property, strict serializability or opacity.
pub fn check(
    automaton: &Automaton,
    property: Safety,
    max_length: usize,
    budget: usize,
) -> Monotonicity {
    let mut search = MonotonicitySearch {
        automaton,
        property,
        renamings: renamings(automaton.threads, automaton.variables),
        left: budget,
        witness: None,
    };
    let mut length = 0;
    while length < max_length {
        search.extend(&mut Vec::new(), 0, length + 1);
        if search.witness.is_some() || search.left == 0 {
            break;
        }
        length += 1;
    }
    Monotonicity {
        witness: search.witness,
        length,
    }
}

/// Whether some more sequential form of a word is in the language; also true of
/// words that the condition does not speak of.
pub fn has_form(automaton: &Automaton, property: Safety, word: &[Statement]) -> bool {
    Given::new(word, property).is_none_or(|given| given.serialize(automaton, &mut Vec::new()))
}

struct MonotonicitySearch<'a> {
    automaton: &'a Automaton,
    property: Safety,
    renamings: Vec<Renaming>,
    left: usize,
    witness: Option<Word>,
}

/// The word that is to have a more sequential form.
struct Given<'w> {
    before: &'w [Statement],
    last: Statement,
    /// The transaction of the last statement.
    y: Transaction,
    /// All others that are in the form.
    others: Vec<Other>,
    /// Which of them must come before which.
    order: Vec<(usize, usize)>,
}

/// A transaction of the form other than y.
struct Other {
    /// Where it ends in the given word, if it does.
    end: Option<usize>,
    statements: Word,
    /// What it writes at its end.
    written: Vec<u8>,
}

impl MonotonicitySearch<'_> {
    /// Visits every word of exactly the wanted length that begins like this.
    fn extend(&mut self, word: &mut Word, state: u32, wanted: usize) {
        for (symbol, &statement) in self.automaton.statements.iter().enumerate() {
            if self.left == 0 || self.witness.is_some() {
                return;
            }
            let is_last = word.len() + 1 == wanted;
            let counts = match (self.property, statement.action) {
                // Other statements make no word wrong, so the proof has no use for them.
                (_, Action::Write(_) | Action::Abort) if is_last => false,
                (Safety::Opacity, _) => true,
                (_, Action::Read(_)) => !is_last,
                (_, Action::Abort) => false,
                _ => true,
            };
            if !counts {
                continue;
            }
            let Some(next) = self.automaton.step(state, symbol) else {
                continue;
            };
            word.push(statement);
            if self.is_least(word) {
                if is_last {
                    self.check_word(word);
                } else {
                    self.extend(word, next, wanted);
                }
            }
            word.pop();
        }
    }

    fn is_least(&self, word: &[Statement]) -> bool {
        self.renamings.iter().all(|renaming| {
            let renamed = word.iter().map(|&s| renaming.statement(s));
            word.iter().copied().le(renamed)
        })
    }

    /// `word` is in the language.
    fn check_word(&mut self, word: &[Statement]) {
        self.left -= 1;
        if !has_form(self.automaton, self.property, word) {
            self.witness = Some(word.to_vec());
        }
    }
}

impl<'w> Given<'w> {
    /// None if the condition does not speak of such a word.
    fn new(word: &'w [Statement], property: Safety) -> Option<Self> {
        let (&last, before) = word.split_last()?;
        let found = transactions(before);
        let is_unfinished = |x: &&Transaction| x.outcome == Outcome::Unfinished;
        let y = found
            .iter()
            .filter(is_unfinished)
            .find(|x| x.thread == last.thread)?
            .clone();
        if property != Safety::Opacity && found.iter().filter(is_unfinished).count() > 1 {
            return None;
        }
        let graph = ConflictGraph::of(before, property, Update::Deferred);
        let mut others = Vec::new();
        let mut index = Vec::new();
        for x in &graph.transactions {
            let other = if *x == y { None } else { Other::new(before, x) };
            index.push(other.is_some().then_some(others.len()));
            others.extend(other);
        }
        let order = (graph.edges.iter())
            .filter_map(|edge| index[edge.from].zip(index[edge.to]))
            .collect();
        Some(Given {
            before,
            last,
            y,
            others,
            order,
        })
    }

    /// Tries the other transactions in every order that is allowed; whether
    /// some form is in the language.
    fn serialize(&self, automaton: &Automaton, placed: &mut Vec<usize>) -> bool {
        if placed.len() == self.others.len() {
            return self.interleave(automaton, placed, &mut Vec::new());
        }
        for next in 0..self.others.len() {
            let ready = !placed.contains(&next)
                && (self.order.iter()).all(|(from, to)| *to != next || placed.contains(from));
            if ready {
                placed.push(next);
                let found = self.serialize(automaton, placed);
                placed.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Tries the statements of y in every allowed gap between them: gap g is
    /// before the transaction at position g of the order.
    fn interleave(&self, automaton: &Automaton, order: &[usize], gaps: &mut Vec<usize>) -> bool {
        let Given { before, y, .. } = self;
        let Some(&at) = y.statements.get(gaps.len()) else {
            return automaton.accepts(&self.form(order, gaps));
        };
        let mut low = 0;
        let mut high = order.len();
        for (&earlier, &gap) in y.statements.iter().zip(gaps.iter()) {
            if ordered(before[earlier].action, before[at].action) {
                low = low.max(gap);
            }
        }
        for (position, &x) in order.iter().enumerate() {
            let x = &self.others[x];
            if x.end.is_some_and(|end| end < y.first()) {
                low = low.max(position + 1);
            }
            if let Some(v) = y.global_read_at(before, at)
                && x.written.contains(&v)
            {
                if x.end.is_some_and(|end| at < end) {
                    high = high.min(position);
                } else {
                    low = low.max(position + 1);
                }
            }
        }
        for gap in low..=high {
            gaps.push(gap);
            let found = self.interleave(automaton, order, gaps);
            gaps.pop();
            if found {
                return true;
            }
        }
        false
    }

    fn form(&self, order: &[usize], gaps: &[usize]) -> Word {
        let mut form: Word = Vec::with_capacity(self.before.len() + 1);
        let own = |gap: usize| {
            (self.y.statements.iter().zip(gaps))
                .filter(move |(_, g)| **g == gap)
                .map(|(&at, _)| self.before[at])
        };
        for (position, &x) in order.iter().enumerate() {
            form.extend(own(position));
            form.extend(&self.others[x].statements);
        }
        form.extend(own(order.len()));
        form.push(self.last);
        form
    }
}

impl Other {
    /// None for one that has not committed and has no global read.
    fn new(word: &[Statement], x: &Transaction) -> Option<Other> {
        let all = x.statements.iter().copied();
        if x.outcome == Outcome::Committing {
            let statements: Word = all.map(|at| word[at]).collect();
            let written = statements.iter().filter_map(|s| match s.action {
                Action::Write(v) => Some(v),
                _ => None,
            });
            return Some(Other {
                end: Some(x.last()),
                written: written.collect(),
                statements,
            });
        }
        let mut statements: Word = all
            .filter(|&at| x.global_read_at(word, at).is_some())
            .map(|at| word[at])
            .collect();
        if statements.is_empty() {
            return None;
        }
        statements.push(Statement::new(Action::Commit, x.thread));
        Some(Other {
            end: (x.outcome == Outcome::Aborting).then(|| x.last()),
            statements,
            written: Vec::new(),
        })
    }
}

/// Whether one of two accesses of a transaction writes what the other reads.
fn ordered(first: Action, second: Action) -> bool {
    match (first, second) {
        (Action::Read(v), Action::Write(w)) | (Action::Write(v), Action::Read(w)) => v == w,
        _ => false,
    }
}

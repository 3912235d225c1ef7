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
//! the memory can go on. That is checked here, on every word up to a length, up
//! to renaming. The statements of y may change their own order, as the print
//! allows, as long as each read stays on its side of y's own writes.

use crate::automaton::Automaton;
use crate::conflict_graph::ConflictGraph;
use crate::layout::{Renaming, renamings};
use crate::monitor::Specification;
use crate::property::{Safety, Update};
use crate::word::{Action, Outcome, Statement, Transaction, Word, transactions};

/// What was found about P4.
#[derive(Clone, Debug)]
pub struct Monotonicity {
    /// A word none of whose more sequential forms is in the language.
    pub witness: Option<Word>,
    /// All words up to this length were looked at.
    pub length: usize,
}

/// Checks words of growing length until the budget of words is spent.
pub fn check(
    automaton: &Automaton,
    property: Safety,
    specification: &dyn Specification,
    max_length: usize,
    budget: usize,
) -> Monotonicity {
    let mut search = Search {
        automaton,
        property,
        specification,
        renamings: renamings(automaton.threads, automaton.variables),
        left: budget,
        witness: None,
    };
    let mut length = 0;
    while length < max_length {
        let initial = specification.initial();
        search.extend(&mut Vec::new(), 0, &initial, length + 1);
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

struct Search<'a> {
    automaton: &'a Automaton,
    property: Safety,
    specification: &'a dyn Specification,
    renamings: Vec<Renaming>,
    left: usize,
    witness: Option<Word>,
}

impl Search<'_> {
    /// Visits every word of exactly the wanted length that begins like this.
    fn extend(&mut self, word: &mut Word, state: u32, judged: &[u8], wanted: usize) {
        for (symbol, &statement) in self.automaton.statements.iter().enumerate() {
            if self.left == 0 || self.witness.is_some() {
                return;
            }
            if statement.action == Action::Abort {
                continue;
            }
            let Some(next) = self.automaton.step(state, symbol) else {
                continue;
            };
            word.push(statement);
            if self.is_least(word) {
                if word.len() == wanted {
                    self.left -= 1;
                    self.check_word(word);
                } else {
                    let mut after = judged.to_vec();
                    if self.specification.step(&mut after, statement) {
                        self.extend(word, next, &after, wanted);
                    }
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

    /// `word` is in the language, and all but its last statement has the
    /// property.
    fn check_word(&mut self, word: &[Statement]) {
        let Some((&last, before)) = word.split_last() else {
            return;
        };
        let found = transactions(before);
        let mut unfinished = found.iter().filter(|x| x.outcome == Outcome::Unfinished);
        let (Some(y), None) = (unfinished.next(), unfinished.next()) else {
            return;
        };
        if y.thread != last.thread {
            return;
        }
        let order_property = match self.property {
            Safety::Opacity => Safety::StrictSerializability,
            other => other,
        };
        let graph = ConflictGraph::of(before, order_property, Update::Deferred);
        if !self.serialize(before, last, y, &graph, &mut Vec::new()) {
            self.witness = Some(word.to_vec());
        }
    }

    /// Tries the committed transactions in every order that the graph allows;
    /// whether some form is in the language.
    fn serialize(
        &self,
        before: &[Statement],
        last: Statement,
        y: &Transaction,
        graph: &ConflictGraph,
        placed: &mut Vec<usize>,
    ) -> bool {
        if placed.len() == graph.transactions.len() {
            return self.interleave(before, last, y, graph, placed, &mut Vec::new());
        }
        for next in 0..graph.transactions.len() {
            let ready = !placed.contains(&next)
                && (graph.edges.iter()).all(|edge| edge.to != next || placed.contains(&edge.from));
            if ready {
                placed.push(next);
                let found = self.serialize(before, last, y, graph, placed);
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
    fn interleave(
        &self,
        before: &[Statement],
        last: Statement,
        y: &Transaction,
        graph: &ConflictGraph,
        order: &[usize],
        gaps: &mut Vec<usize>,
    ) -> bool {
        let Some(&at) = y.statements.get(gaps.len()) else {
            return self.has_form(before, last, y, graph, order, gaps);
        };
        let mut low = 0;
        let mut high = order.len();
        for (&earlier, &gap) in y.statements.iter().zip(gaps.iter()) {
            if ordered(before[earlier].action, before[at].action) {
                low = low.max(gap);
            }
        }
        for (position, &x) in order.iter().enumerate() {
            let x = &graph.transactions[x];
            if x.last() < y.first() {
                low = low.max(position + 1);
            }
            if let Some(v) = y.global_read_at(before, at)
                && x.first_write(before, v).is_some()
            {
                if at < x.last() {
                    high = high.min(position);
                } else {
                    low = low.max(position + 1);
                }
            }
        }
        for gap in low..=high {
            gaps.push(gap);
            let found = self.interleave(before, last, y, graph, order, gaps);
            gaps.pop();
            if found {
                return true;
            }
        }
        false
    }

    fn has_form(
        &self,
        before: &[Statement],
        last: Statement,
        y: &Transaction,
        graph: &ConflictGraph,
        order: &[usize],
        gaps: &[usize],
    ) -> bool {
        let mut image: Word = Vec::with_capacity(before.len() + 1);
        let own = |gap: usize| {
            (y.statements.iter().zip(gaps))
                .filter(move |(_, g)| **g == gap)
                .map(|(&at, _)| before[at])
        };
        for (position, &x) in order.iter().enumerate() {
            image.extend(own(position));
            image.extend(
                graph.transactions[x]
                    .statements
                    .iter()
                    .map(|&at| before[at]),
            );
        }
        image.extend(own(order.len()));
        image.push(last);
        self.automaton.accepts(&image)
    }
}

/// Whether one of two accesses of a transaction writes what the other reads.
fn ordered(first: Action, second: Action) -> bool {
    match (first, second) {
        (Action::Read(v), Action::Write(w)) | (Action::Write(v), Action::Read(w)) => v == w,
        _ => false,
    }
}

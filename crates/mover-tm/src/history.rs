//! A history in the form in which a serial order is searched for.
//!
//! [`crate::recorded`] reads histories and decides the levels by dependencies. Where values are not unique, who read
//! from whom is not known, and the classical question is asked directly: is there an order of
//! the transactions, in agreement with the order in time, in which every read returns what was
//! written last? For strict serializability committed transactions count, for opacity all. A
//! transaction whose commit was invoked and not answered may have taken effect or not.
//! [`crate::history_search`] looks for the order.

use crate::check::Verdict;
use crate::history_search;
use crate::property::Safety;

/// Variables and values are numbered as they occur.
pub type Variable = u32;
pub type ValueId = u32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Committed,
    Aborted,
    /// The commit was invoked but not answered.
    CommitPending,
    Unfinished,
}

#[derive(Clone, Debug)]
pub struct RecordedTransaction {
    pub thread: usize,
    /// The moments of its first and last event.
    pub first: usize,
    pub last: usize,
    pub end: End,
    /// What it read before writing it itself, one entry for each variable.
    pub reads: Vec<(Variable, ValueId)>,
    /// What it wrote, the last value for each variable.
    pub writes: Vec<(Variable, ValueId)>,
    /// A read that contradicts the transaction's own reads or writes.
    pub broken: Option<String>,
}

impl RecordedTransaction {
    pub fn is_finished(&self) -> bool {
        matches!(self.end, End::Committed | End::Aborted)
    }
}

/// A history; see [`crate::recorded::verdict::history_of`].
#[derive(Clone, Debug, Default)]
pub struct History {
    pub operations: usize,
    pub transactions: Vec<RecordedTransaction>,
    pub thread_names: Vec<String>,
    pub variable_names: Vec<String>,
    pub value_names: Vec<String>,
    /// The initial value of each variable.
    pub initial: Vec<ValueId>,
}

/// What was found about a history.
#[derive(Clone, Debug)]
pub struct HistoryReport {
    pub verdict: Verdict,
    pub explanation: String,
}

impl History {
    /// Decides a property; gives up after this many steps of the search.
    pub fn check(&self, property: Safety, max_steps: usize) -> HistoryReport {
        history_search::check(self, property, max_steps)
    }

    /// A transaction's name in explanations.
    pub fn name(&self, x: usize) -> String {
        format!("T{}", x + 1)
    }
}

//! Histories recorded from real systems, with values.
//!
//! A history is a file of JSON lines, in the order in which the events
//! happened: `{"thread": 1, "op": "read", "var": "x", "value": 5}`, and likewise
//! `begin`, `write`, `commit` and `abort`. An operation that takes time is two
//! lines, `"event": "invoke"` and `"event": "respond"`; without `event` it is
//! both at once. `{"op": "init", "var": "x", "value": 7}` gives an initial
//! value; otherwise a variable begins as 0, and `null` stands for the initial
//! value.
//!
//! Here values are known but the order of commits is not, so this is not the
//! paper's conflict-based definition but the classical one: is there an order of
//! the transactions, in agreement with the order in time, in which every read
//! returns what was written last? For strict serializability committed
//! transactions count, for opacity all. A transaction whose commit was invoked
//! and not answered may have taken effect or not. [`crate::history_search`]
//! looks for the order.

use std::collections::HashMap;

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, Span};
use serde_json::Value;

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
    /// Positions of its first and last event.
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

/// A parsed history.
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Invoke,
    Respond,
    Both,
}

#[derive(Default)]
struct Parser {
    history: History,
    threads: HashMap<String, usize>,
    variables: HashMap<String, Variable>,
    values: HashMap<String, ValueId>,
    /// The transaction in progress, by thread.
    open: Vec<Option<usize>>,
    /// The write that was invoked and not yet answered, by thread.
    invoked: Vec<Option<(Variable, ValueId)>>,
}

impl History {
    pub fn parse(text: &str, file: FileId) -> Result<History, Box<Diagnostic>> {
        let mut parser = Parser::default();
        let mut start = 0;
        for (position, line) in text.split('\n').enumerate() {
            let content = line.trim();
            if !content.is_empty() {
                let at = start + (line.len() - line.trim_start().len());
                let whole = Span::new(file, at, at + content.len());
                parser
                    .line(content, position)
                    .map_err(|(message, column)| {
                        let place = match column {
                            Some(column) => {
                                let begin = (at + column).min(at + content.len());
                                Span::new(file, begin, begin + 1)
                            }
                            None => whole,
                        };
                        Box::new(Diagnostic::coded("T030", message).at(place, ""))
                    })?;
            }
            start += line.len() + 1;
        }
        Ok(parser.history)
    }

    /// Decides a property; gives up after this many steps of the search.
    pub fn check(&self, property: Safety, max_steps: usize) -> HistoryReport {
        history_search::check(self, property, max_steps)
    }

    /// A transaction's name in explanations.
    pub fn name(&self, x: usize) -> String {
        let transaction = &self.transactions[x];
        let number = self.transactions[..=x]
            .iter()
            .filter(|other| other.thread == transaction.thread)
            .count();
        format!(
            "T{x} (transaction {number} of thread {}, lines {} to {})",
            self.thread_names[transaction.thread],
            transaction.first + 1,
            transaction.last + 1
        )
    }
}

fn intern(names: &mut Vec<String>, index: &mut HashMap<String, u32>, name: String) -> u32 {
    *index.entry(name).or_insert_with_key(|name| {
        names.push(name.clone());
        names.len() as u32 - 1
    })
}

type LineError = (String, Option<usize>);

impl Parser {
    fn value(&mut self, value: &Value) -> ValueId {
        intern(
            &mut self.history.value_names,
            &mut self.values,
            value.to_string(),
        )
    }

    fn variable(&mut self, value: &Value) -> Variable {
        let name = match value {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        let variable = intern(&mut self.history.variable_names, &mut self.variables, name);
        if variable as usize == self.history.initial.len() {
            let zero = self.value(&Value::from(0));
            self.history.initial.push(zero);
        }
        variable
    }

    fn thread(&mut self, value: &Value) -> usize {
        let name = match value {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        let next = self.threads.len();
        *self.threads.entry(name).or_insert_with_key(|name| {
            self.history.thread_names.push(name.clone());
            self.open.push(None);
            self.invoked.push(None);
            next
        })
    }

    fn line(&mut self, text: &str, position: usize) -> Result<(), LineError> {
        let object: Value = serde_json::from_str(text)
            .map_err(|error| (error.to_string(), Some(error.column().saturating_sub(1))))?;
        let Value::Object(fields) = &object else {
            return Err(("expected an object such as {\"thread\": 1, \"op\": \"read\", \"var\": \"x\", \"value\": 5}".to_string(), None));
        };
        let missing = |name: &str| (format!("the field `{name}` is missing"), None);
        let op = fields.get("op").and_then(Value::as_str);
        let op = op.ok_or_else(|| missing("op"))?;
        if op == "init" {
            let variable = fields.get("var").ok_or_else(|| missing("var"))?;
            let variable = self.variable(variable);
            let value = fields.get("value").ok_or_else(|| missing("value"))?;
            self.history.initial[variable as usize] = self.value(value);
            return Ok(());
        }
        let event = match fields.get("event").map(|event| event.as_str()) {
            None => Event::Both,
            Some(Some("invoke")) => Event::Invoke,
            Some(Some("respond")) => Event::Respond,
            Some(_) => return Err(("`event` is \"invoke\" or \"respond\"".to_string(), None)),
        };
        let thread = fields.get("thread").ok_or_else(|| missing("thread"))?;
        let thread = self.thread(thread);
        if event != Event::Respond {
            self.history.operations += 1;
        }
        if op == "begin" && event != Event::Respond && self.open[thread].is_some() {
            return Err((
                "this thread's transaction is still running".to_string(),
                None,
            ));
        }
        let x = self.transaction(thread, position);
        match op {
            "begin" => {}
            "read" | "write" => {
                let variable = fields.get("var").ok_or_else(|| missing("var"))?;
                let variable = self.variable(variable);
                let value = match fields.get("value") {
                    Some(Value::Null) => Some(self.history.initial[variable as usize]),
                    Some(value) => Some(self.value(value)),
                    None => None,
                };
                if op == "read" {
                    // The value of a read is known when it is answered.
                    if event != Event::Invoke {
                        let value = value.ok_or_else(|| missing("value"))?;
                        self.read(x, variable, value);
                    }
                } else {
                    self.write(x, thread, event, variable, value)
                        .ok_or_else(|| missing("value"))?;
                }
            }
            "commit" => {
                self.history.transactions[x].end = match event {
                    Event::Invoke => End::CommitPending,
                    Event::Respond | Event::Both => End::Committed,
                };
                if event != Event::Invoke {
                    self.open[thread] = None;
                }
            }
            "abort" => {
                if event != Event::Invoke {
                    self.history.transactions[x].end = End::Aborted;
                    self.open[thread] = None;
                }
            }
            _ => {
                return Err((
                    "`op` is one of begin, read, write, commit, abort and init".to_string(),
                    None,
                ));
            }
        }
        Ok(())
    }

    fn transaction(&mut self, thread: usize, position: usize) -> usize {
        let transactions = &mut self.history.transactions;
        let x = *self.open[thread].get_or_insert_with(|| {
            transactions.push(RecordedTransaction {
                thread,
                first: position,
                last: position,
                end: End::Unfinished,
                reads: Vec::new(),
                writes: Vec::new(),
                broken: None,
            });
            transactions.len() - 1
        });
        transactions[x].last = position;
        x
    }

    fn read(&mut self, x: usize, variable: Variable, value: ValueId) {
        let known = |accesses: &[(Variable, ValueId)]| {
            let found = accesses.iter().find(|(v, _)| *v == variable);
            found.map(|(_, value)| *value)
        };
        let transaction = &self.history.transactions[x];
        let expected = known(&transaction.writes).or_else(|| known(&transaction.reads));
        match expected {
            None => self.history.transactions[x].reads.push((variable, value)),
            Some(expected) if expected == value => {}
            Some(expected) => {
                let names = &self.history.value_names;
                let message = format!(
                    "read {} = {} where its own accesses say {}",
                    self.history.variable_names[variable as usize],
                    names[value as usize],
                    names[expected as usize]
                );
                self.history.transactions[x].broken.get_or_insert(message);
            }
        }
    }

    /// None if the value is nowhere to be found.
    fn write(
        &mut self,
        x: usize,
        thread: usize,
        event: Event,
        variable: Variable,
        value: Option<ValueId>,
    ) -> Option<()> {
        let invoked = self.invoked[thread].take();
        let value = value.or(invoked
            .filter(|(v, _)| *v == variable)
            .map(|(_, value)| value))?;
        if event == Event::Invoke {
            self.invoked[thread] = Some((variable, value));
            return Some(());
        }
        let writes = &mut self.history.transactions[x].writes;
        match writes.iter_mut().find(|(v, _)| *v == variable) {
            Some(entry) => entry.1 = value,
            None => writes.push((variable, value)),
        }
        Some(())
    }
}

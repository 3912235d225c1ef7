//! mover's own format: JSON lines, in the order in which the events happened.
//!
//! `{"thread": 1, "op": "read", "var": "x", "value": 5}`, and likewise `begin`, `write`, `append`,
//! `commit` and `abort`. An operation that takes time is two lines, `"event": "invoke"` and
//! `"event": "respond"`; without `event` it is both at once. `{"op": "init", "var": "x",
//! "value": 7}` gives an initial value; otherwise a variable begins as 0, and `null` stands for the
//! initial value. A list begins empty. A transaction whose commit was invoked and not answered may
//! have taken effect or not. `mover_history.h` writes this format.

use rustc_hash::FxHashMap;

use super::error::OperationError;
use super::syntax::Value;
use super::{Building, Operations};
use crate::recorded::{Key, Model, RawEffect, RawTransaction, Status};

#[derive(Default)]
pub struct Lines {
    open: FxHashMap<String, Open>,
}

#[derive(Default)]
struct Open {
    lines: (u32, u32),
    start: u32,
    commit_called: bool,
    operations: Vec<(Key, RawEffect)>,
    /// The write that was invoked and not yet answered.
    invoked: Option<(Key, Value)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Invoke,
    Respond,
    Both,
}

/// Why a line of mover's format is not understood.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    #[error("the field {0} is unknown; the fields are {fields}", fields = FIELDS.join(", "))]
    UnknownField(String),
    #[error("`event` is \"invoke\" or \"respond\"")]
    Event,
    #[error("this thread's transaction is still running")]
    Running,
    #[error("`op` is one of begin, read, write, append, commit, abort and init, not {0}")]
    Op(String),
}

const FIELDS: [&str; 6] = ["thread", "op", "var", "value", "event", "time"];

impl Operations for Lines {
    fn operation(&mut self, history: &mut Building, value: &Value) -> Result<(), OperationError> {
        history.recorded.aborted_reads_recorded = true;
        if let Value::Map(fields) = value
            && let Some((unknown, _)) = fields
                .iter()
                .find(|(key, _)| !key.name().is_some_and(|name| FIELDS.contains(&name)))
        {
            return Err(LinesError::UnknownField(unknown.to_string()).into());
        }
        let op = value.get("op").and_then(Value::name);
        let op = op.ok_or(OperationError::Missing("op"))?;
        if op == "init" {
            let key = value.get("var").ok_or(OperationError::Missing("var"))?;
            let key = history.key(key);
            let initial = value.get("value").ok_or(OperationError::Missing("value"))?;
            history.demand(Model::RwRegister, "an initial value")?;
            let initial = history.value(initial);
            history.recorded.initial[key as usize] = Some(initial);
            return Ok(());
        }
        let event = match value.get("event").map(Value::name) {
            None => Event::Both,
            Some(Some("invoke")) => Event::Invoke,
            Some(Some("respond")) => Event::Respond,
            Some(_) => return Err(LinesError::Event.into()),
        };
        let thread = value
            .get("thread")
            .ok_or(OperationError::Missing("thread"))?;
        let thread = Building::name_of(thread);
        if op == "begin" && event != Event::Respond && self.open.contains_key(&thread) {
            return Err(LinesError::Running.into());
        }
        let (line, moment) = (history.line, history.moment);
        let open = self.open.entry(thread.clone()).or_insert_with(|| Open {
            lines: (line, line),
            start: moment,
            ..Open::default()
        });
        open.lines.1 = line;
        match op {
            "begin" => {}
            "read" | "write" | "append" => {
                let key = value.get("var").ok_or(OperationError::Missing("var"))?;
                let key = history.key(key);
                if op != "append" {
                    // A register begins as 0 unless something else is said.
                    let zero = history.recorded.number(0);
                    history.recorded.initial[key as usize].get_or_insert(zero);
                }
                let content = value.get("value");
                if op == "read" {
                    // The value of a read is known when it is answered.
                    if event != Event::Invoke {
                        let content = content.ok_or(OperationError::Missing("value"))?;
                        history.model_of_read(content)?;
                        open.operations.push((key, history.read_effect(content)));
                    }
                } else {
                    open.write(history, op, event, key, content)?;
                }
            }
            "commit" if event == Event::Invoke => open.commit_called = true,
            "commit" => self.close(history, &thread, Status::Committed),
            "abort" if event == Event::Invoke => {}
            "abort" => self.close(history, &thread, Status::Aborted),
            other => return Err(LinesError::Op(other.into()).into()),
        }
        Ok(())
    }

    fn finish(&mut self, history: &mut Building) -> Result<(), OperationError> {
        let mut left: Vec<(u32, String)> = self
            .open
            .iter()
            .map(|(thread, open)| (open.start, thread.clone()))
            .collect();
        left.sort_unstable();
        for (_, thread) in left {
            let status = match self.open[&thread].commit_called {
                true => Status::Indeterminate,
                false => Status::Live,
            };
            self.close(history, &thread, status);
        }
        Ok(())
    }
}

impl Open {
    fn write(
        &mut self,
        history: &mut Building,
        op: &str,
        event: Event,
        key: Key,
        content: Option<&Value>,
    ) -> Result<(), OperationError> {
        let invoked = self.invoked.take().filter(|(k, _)| *k == key);
        let content = content.cloned().or(invoked.map(|(_, value)| value));
        let content = content.ok_or(OperationError::Missing("value"))?;
        if event == Event::Invoke {
            self.invoked = Some((key, content));
            return Ok(());
        }
        let (model, what) = match op {
            "append" => (Model::ListAppend, "an append"),
            _ => (Model::RwRegister, "a write"),
        };
        history.demand(model, what)?;
        let value = match content {
            Value::Nil => match history.recorded.initial[key as usize] {
                Some(initial) => initial,
                None => history.value(&Value::Nil),
            },
            content => history.value(&content),
        };
        self.operations.push((
            key,
            match model {
                Model::ListAppend => RawEffect::Append(value),
                Model::RwRegister => RawEffect::Write(value),
            },
        ));
        Ok(())
    }
}

impl Lines {
    fn close(&mut self, history: &mut Building, thread: &str, status: Status) {
        let Some(open) = self.open.remove(thread) else {
            return;
        };
        let process = history.recorded.process(thread);
        history.recorded.push(RawTransaction {
            process,
            lines: open.lines,
            start: Some(open.start),
            end: matches!(status, Status::Committed | Status::Aborted)
                .then_some(history.moment + 1),
            status,
            operations: open.operations,
        });
    }
}

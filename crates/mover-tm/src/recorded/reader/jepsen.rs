//! Histories of Jepsen, as Elle reads them.
//!
//! An operation is a map with `:type` (`:invoke`, `:ok`, `:fail` or `:info`), `:process` and `:value`;
//! `:index`, if there is one, must increase. Its value is a transaction, a list of `[:r k v]`, `[:w k v]` and `[:append k v]`.
//! Operations on a single register (`:f :read`, `:write`) or key (`:key`) are transactions of one operation.
//! `:ok` committed, `:fail` aborted; after `:info`, or without an answer, nobody knows, and what the
//! transaction read is not known either. An answer without a call has an unknown beginning.
//! Other fields say nothing about isolation and are ignored, and so are operations of
//! processes that are no numbers, such as `:nemesis`.

use rustc_hash::FxHashMap;

use super::error::OperationError;
use super::syntax::Value;
use super::{Building, Operations};
use crate::recorded::{Key, Model, RawEffect, RawTransaction, Status};

#[derive(Default)]
pub struct Jepsen {
    /// The operation under way: its line, moment and value, by process.
    open: FxHashMap<String, Called>,
    index: Option<i64>,
}

/// Why an operation of Jepsen is not understood.
#[derive(Debug, thiserror::Error)]
pub enum JepsenError {
    #[error("the index {0} does not increase")]
    Index(i64),
    #[error("process {process} calls while its operation of line {line} is not answered")]
    Unanswered { process: String, line: u32 },
    #[error("the operation of line {0} is not answered; concurrent operations need `process`")]
    NoProcess(u32),
    #[error("the type `{0}` is none of invoke, ok, fail and info")]
    Type(String),
    #[error("`value` must be a list of reads and writes such as [:r :x 1]")]
    NoTransaction,
    #[error("expected an operation such as [:r :x 1], found {0}")]
    NoOperation(String),
    #[error("an operation of a transaction is a name, a key and a value")]
    Incomplete,
    #[error(
        "operations `{0}` are not supported; transactions (:f :txn), read, write and append are"
    )]
    Function(String),
}

struct Called {
    line: u32,
    moment: u32,
    value: Value,
}

impl Operations for Jepsen {
    fn operation(&mut self, history: &mut Building, value: &Value) -> Result<(), OperationError> {
        history.recorded.aborted_reads_recorded = false;
        let kind = value
            .get("type")
            .and_then(Value::name)
            .ok_or(OperationError::Missing("type"))?;
        let process = match value.get("process") {
            Some(Value::Int(number)) => number.to_string(),
            // Without processes each operation has its own.
            None | Some(Value::Nil) => format!("of line {}", history.line),
            Some(_) => return Ok(()),
        };
        if let Some(Value::Int(index)) = value.get("index") {
            if self.index.is_some_and(|last| last >= *index) {
                return Err(JepsenError::Index(*index).into());
            }
            self.index = Some(*index);
        }
        let anonymous = !matches!(value.get("process"), Some(Value::Int(_)));
        match kind {
            "invoke" => {
                let called = Called {
                    line: history.line,
                    moment: history.moment,
                    value: value.clone(),
                };
                if anonymous {
                    return self.anonymous_call(called);
                }
                match self.open.insert(process.clone(), called) {
                    None => Ok(()),
                    Some(before) => Err(JepsenError::Unanswered {
                        process,
                        line: before.line,
                    }
                    .into()),
                }
            }
            "ok" | "fail" | "info" => {
                let called = if anonymous {
                    self.open.remove("")
                } else {
                    self.open.remove(&process)
                };
                let status = match kind {
                    "ok" => Status::Committed,
                    "fail" => Status::Aborted,
                    _ => Status::Indeterminate,
                };
                self.complete(history, &process, called, status, value)
            }
            other => Err(JepsenError::Type(other.into()).into()),
        }
    }

    fn finish(&mut self, history: &mut Building) -> Result<(), OperationError> {
        let mut left: Vec<(String, Called)> = self.open.drain().collect();
        left.sort_by_key(|(_, called)| called.moment);
        for (process, called) in left {
            let value = called.value.clone();
            let process = if process.is_empty() {
                format!("of line {}", called.line)
            } else {
                process
            };
            self.complete(
                history,
                &process,
                Some(called),
                Status::Indeterminate,
                &value,
            )?;
        }
        Ok(())
    }
}

impl Jepsen {
    /// Without processes a call is answered by the next operation.
    fn anonymous_call(&mut self, called: Called) -> Result<(), OperationError> {
        match self.open.insert(String::new(), called) {
            None => Ok(()),
            Some(before) => Err(JepsenError::NoProcess(before.line).into()),
        }
    }

    fn complete(
        &mut self,
        history: &mut Building,
        process: &str,
        called: Option<Called>,
        status: Status,
        value: &Value,
    ) -> Result<(), OperationError> {
        let mut operations = Vec::new();
        let mut failed = None;
        let mut each =
            |history: &mut Building, f: &str, key: &Value, result: &Value| match operation(
                history, f, key, result, status,
            ) {
                Ok(operation) => operations.push(operation),
                Err(error) => failed = Some(error),
            };
        let f = value.get("f").and_then(Value::name).unwrap_or("txn");
        let unanswered = called.as_ref().map(|called| &called.value);
        let content = match (value.get("value"), unanswered.and_then(|v| v.get("value"))) {
            (None | Some(Value::Nil), Some(asked)) if status != Status::Committed => Some(asked),
            (content, _) => content,
        };
        if matches!(
            f,
            "read" | "get" | "r" | "write" | "put" | "w" | "append" | "cas"
        ) {
            let nothing = Value::Nil;
            let key = value.get("key").unwrap_or(&nothing);
            each(history, f, key, content.unwrap_or(&nothing));
        } else if f.starts_with("txn") {
            let Some(Value::List(micro)) = content else {
                return Err(JepsenError::NoTransaction.into());
            };
            for part in micro {
                let Value::List(part) = part else {
                    return Err(JepsenError::NoOperation(part.to_string()).into());
                };
                let (Some(f), Some(key)) = (part.first().and_then(Value::name), part.get(1)) else {
                    return Err(JepsenError::Incomplete.into());
                };
                each(history, f, key, part.get(2).unwrap_or(&Value::Nil));
            }
        } else {
            return Err(JepsenError::Function(f.into()).into());
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let first = called.as_ref().map_or(history.line, |called| called.line);
        let process = history.recorded.process(process);
        history.recorded.push(RawTransaction {
            process,
            lines: (first, history.line),
            start: called.map(|called| called.moment),
            end: (status != Status::Indeterminate).then_some(history.moment + 1),
            status,
            operations,
        });
        Ok(())
    }
}

fn operation(
    history: &mut Building,
    f: &str,
    key: &Value,
    result: &Value,
    status: Status,
) -> Result<(Key, RawEffect), OperationError> {
    let id = history.key(key);
    match f {
        "r" | "read" | "get" => {
            let unknown = match status {
                Status::Committed => false,
                Status::Indeterminate => true,
                _ => *result == Value::Nil,
            };
            if unknown {
                return Ok((id, RawEffect::ReadUnknown));
            }
            history.model_of_read(result)?;
            Ok((id, history.read_effect(result)))
        }
        "w" | "write" | "put" => {
            history.demand(Model::RwRegister, "a write")?;
            Ok((id, RawEffect::Write(history.value(result))))
        }
        "append" => {
            history.demand(Model::ListAppend, "an append")?;
            Ok((id, RawEffect::Append(history.value(result))))
        }
        other => Err(OperationError::Unsupported {
            operation: other.into(),
            supported: "r, w and append",
        }),
    }
}

//! Histories in the form of Porcupine's operations.
//!
//! `{"ClientId": 0, "Input": {"op": "put", "key": "x", "value": "1"}, "Call": 3, "Output": {}, "Return": 9}`:
//! each operation is a transaction of its own, so strict serializability is linearizability. `Call` and
//! `Return` are times; an operation that has not returned (no `Return`, or `null`) may have taken effect.
//! `op` is get or read, put or write, append; Porcupine's numbers 0, 1 and 2 mean get, put and append. A
//! key begins as 0, or as the empty string. All times are needed before any can be ordered, so this reader
//! keeps two numbers for each operation more than the others.
//!
//! An append puts a text behind that of the key, and a get returns the whole text. Such a history is one
//! of lists: a text that was read is split into texts that were appended to the key, which must be
//! possible in one way only. What remains is an element that nobody appended. The texts that were read are
//! kept until the end of the file, because their parts may be appended by operations that come later in it.
//! Puts and appends in one history are refused: a list cannot be overwritten.

use super::error::OperationError;
use super::syntax::Value;
use super::{Building, Operations};
use crate::recorded::{Key, Model, RawEffect, RawTransaction, Status, ValueId};
use rustc_hash::FxHashMap;

#[derive(Default)]
pub struct Porcupine {
    /// Call and return of each operation.
    times: Vec<(i64, Option<i64>)>,
    /// Gets that returned a text.
    gets: Vec<Get>,
    /// What was appended to each key.
    appended: FxHashMap<Key, FxHashMap<String, ValueId>>,
}

/// Why an operation of Porcupine is not understood.
#[derive(Debug, thiserror::Error)]
pub enum PorcupineError {
    #[error("`{field}` must be a whole number, found {value}")]
    Time { field: &'static str, value: String },
    #[error("the operation returns before it is called")]
    Backwards,
    #[error("`Input` has no field `op`")]
    NoOp,
    #[error("`Input` has no `value`")]
    NoValue,
    #[error("an append is of a text, found {0}")]
    NoText(String),
    #[error("an append of the empty text cannot be seen in what is read")]
    EmptyText,
    #[error(
        "the text {0:?} consists of appended texts in more than one way; append texts with a mark at their ends"
    )]
    Ambiguous(String),
}

struct Get {
    process: u32,
    line: u32,
    times: (i64, Option<i64>),
    key: Key,
    text: String,
}

fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name))
}

fn time(value: &Value, field: &'static str) -> Result<i64, PorcupineError> {
    match value {
        Value::Int(time) => Ok(*time),
        other => Err(PorcupineError::Time {
            field,
            value: other.to_string(),
        }),
    }
}

impl Operations for Porcupine {
    fn operation(&mut self, history: &mut Building, value: &Value) -> Result<(), OperationError> {
        let call = field(value, &["Call", "call"]).ok_or(OperationError::Missing("Call"))?;
        let call = time(call, "Call")?;
        let answer = match field(value, &["Return", "return"]) {
            None | Some(Value::Nil) => None,
            Some(answer) => Some(time(answer, "Return")?),
        };
        if answer.is_some_and(|answer| answer < call) {
            return Err(PorcupineError::Backwards.into());
        }
        let client = field(value, &["ClientId", "clientId", "client_id", "client"]);
        let client = client.map_or("0".to_string(), Building::name_of);
        let input = field(value, &["Input", "input"]).ok_or(OperationError::Missing("Input"))?;
        let op = field(input, &["op", "Op"]).ok_or(PorcupineError::NoOp)?;
        let nothing = Value::Text(String::new());
        let key = field(input, &["key", "Key"]).unwrap_or(&nothing);
        let key = history.key(key);
        let op = match op {
            Value::Int(0) => "get".to_string(),
            Value::Int(1) => "put".to_string(),
            Value::Int(2) => "append".to_string(),
            other => Building::name_of(other).to_lowercase(),
        };
        let effect = match op.as_str() {
            "get" | "read" | "r" => {
                let output = field(value, &["Output", "output"]);
                let output = match output {
                    Some(map @ Value::Map(_)) => field(map, &["value", "Value"]),
                    other => other,
                };
                match (answer, output) {
                    (None, _) => RawEffect::ReadUnknown,
                    (Some(_), None | Some(Value::Nil)) => RawEffect::ReadInitial,
                    (Some(_), Some(Value::Text(text))) if text.is_empty() => RawEffect::ReadInitial,
                    (Some(_), Some(Value::Text(text))) => {
                        let process = history.recorded.process(&client);
                        self.gets.push(Get {
                            process,
                            line: history.line,
                            times: (call, answer),
                            key,
                            text: text.clone(),
                        });
                        return Ok(());
                    }
                    (Some(_), Some(value)) => {
                        self.initial(history, key, value);
                        history.model_of_read(value)?;
                        history.read_effect(value)
                    }
                }
            }
            "put" | "write" | "w" | "set" => {
                let value = field(input, &["value", "Value"]).ok_or(PorcupineError::NoValue)?;
                history.demand(Model::RwRegister, "a put")?;
                self.initial(history, key, value);
                RawEffect::Write(history.value(value))
            }
            "append" | "a" => {
                let value = field(input, &["value", "Value"]).ok_or(PorcupineError::NoValue)?;
                let Value::Text(text) = value else {
                    return Err(PorcupineError::NoText(value.to_string()).into());
                };
                if text.is_empty() {
                    return Err(PorcupineError::EmptyText.into());
                }
                history.demand(Model::ListAppend, "an append")?;
                let id = history.value(value);
                let known = self.appended.entry(key).or_default();
                known.insert(text.clone(), id);
                RawEffect::Append(id)
            }
            other => {
                return Err(OperationError::Unsupported {
                    operation: other.into(),
                    supported: "get, put and append",
                });
            }
        };
        let process = history.recorded.process(&client);
        self.times.push((call, answer));
        history.recorded.push(RawTransaction {
            process,
            lines: (history.line, history.line),
            start: None,
            end: None,
            status: match answer {
                Some(_) => Status::Committed,
                None => Status::Indeterminate,
            },
            operations: vec![(key, effect)],
        });
        Ok(())
    }

    fn finish(&mut self, history: &mut Building) -> Result<(), OperationError> {
        self.push_gets(history)?;
        // Times that are equal overlap: calls come first.
        let mut moments: Vec<(i64, bool, usize)> = Vec::new();
        for (x, &(call, answer)) in self.times.iter().enumerate() {
            moments.push((call, false, x));
            moments.extend(answer.map(|answer| (answer, true, x)));
        }
        moments.sort_unstable();
        for (moment, &(_, is_answer, x)) in moments.iter().enumerate() {
            let transaction = &mut history.recorded.transactions[x];
            let moment = moment as u32 + 1;
            if is_answer {
                transaction.end = Some(moment);
            } else {
                transaction.start = Some(moment);
            }
        }
        // A client runs one operation after the other, in the order of time.
        let recorded = &mut history.recorded;
        let mut order: Vec<usize> = (0..recorded.transactions.len()).collect();
        order.sort_by_key(|&x| recorded.transactions[x].start);
        recorded.transactions = order
            .into_iter()
            .map(|x| recorded.transactions[x].clone())
            .collect();
        Ok(())
    }
}

impl Porcupine {
    /// Adds the gets that returned a text, now that all appends are known.
    fn push_gets(&mut self, history: &mut Building) -> Result<(), OperationError> {
        let nothing = FxHashMap::default();
        for get in std::mem::take(&mut self.gets) {
            history.line = get.line;
            let at_line = |source: OperationError| OperationError::AtLine {
                line: get.line,
                source: Box::new(source),
            };
            let value = Value::Text(get.text);
            let effect = match (history.model, &value) {
                (Some(Model::ListAppend), Value::Text(text)) => {
                    let appended = self.appended.get(&get.key).unwrap_or(&nothing);
                    let (mut list, rest) =
                        take_apart(text, appended).map_err(|error| at_line(error.into()))?;
                    if !rest.is_empty() {
                        list.push(history.value(&Value::Text(rest)));
                    }
                    RawEffect::ReadList(list)
                }
                _ => {
                    history.model_of_read(&value).map_err(at_line)?;
                    history.read_effect(&value)
                }
            };
            self.times.push(get.times);
            history.recorded.push(RawTransaction {
                process: get.process,
                lines: (get.line, get.line),
                start: None,
                end: None,
                status: Status::Committed,
                operations: vec![(get.key, effect)],
            });
        }
        Ok(())
    }

    /// A register of numbers begins as 0.
    fn initial(&self, history: &mut Building, key: u32, value: &Value) {
        if matches!(value, Value::Int(_)) {
            let zero = history.recorded.number(0);
            history.recorded.initial[key as usize].get_or_insert(zero);
        }
    }
}

/// The appended texts that a text consists of, and what remains behind the longest part that
/// consists of such; an error if there are two ways.
fn take_apart(
    text: &str,
    appended: &FxHashMap<String, ValueId>,
) -> Result<(Vec<ValueId>, String), PorcupineError> {
    let mut lengths: Vec<usize> = appended.keys().map(String::len).collect();
    lengths.sort_unstable();
    lengths.dedup();
    // For each place that can be reached, the last part on the way there.
    let mut last: Vec<Option<(usize, ValueId)>> = vec![None; text.len() + 1];
    let mut ways = vec![0u8; text.len() + 1];
    ways[0] = 1;
    for at in 0..text.len() {
        if ways[at] == 0 {
            continue;
        }
        for &length in &lengths {
            let part = text.get(at..at + length);
            if let Some(&value) = part.and_then(|part| appended.get(part)) {
                ways[at + length] = (ways[at + length] + ways[at]).min(2);
                last[at + length] = Some((at, value));
            }
        }
    }
    let end = (0..=text.len())
        .rev()
        .find(|&at| ways[at] > 0)
        .unwrap_or_default();
    if ways[end] > 1 {
        return Err(PorcupineError::Ambiguous(text.into()));
    }
    let mut list = Vec::new();
    let mut at = end;
    while let Some((before, value)) = last[at] {
        list.push(value);
        at = before;
    }
    list.reverse();
    Ok((list, text[end..].to_string()))
}

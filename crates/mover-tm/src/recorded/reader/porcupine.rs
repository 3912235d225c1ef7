//! Histories in the form of Porcupine's operations.
//!
//! `{"ClientId": 0, "Input": {"op": "put", "key": "x", "value": "1"}, "Call": 3, "Output": {}, "Return": 9}`:
//! each operation is a transaction of its own, so strict serializability is linearizability. `Call` and
//! `Return` are times; an operation that has not returned (no `Return`, or `null`) may have taken effect.
//! `op` is get or read, put or write; Porcupine's numbers 0 and 1 mean get and put. A key
//! begins as 0, or as the empty string. All times are needed before any can be ordered, so this reader
//! keeps two numbers for each operation more than the others.

use super::syntax::Value;
use super::{Building, Operations};
use crate::recorded::{Model, RawEffect, RawTransaction, Status};

#[derive(Default)]
pub struct Porcupine {
    /// Call and return of each operation.
    times: Vec<(i64, Option<i64>)>,
}

fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name))
}

fn time(value: &Value, name: &str) -> Result<i64, String> {
    match value {
        Value::Int(time) => Ok(*time),
        other => Err(format!("`{name}` must be a whole number, found {other}")),
    }
}

impl Operations for Porcupine {
    fn operation(&mut self, history: &mut Building, value: &Value) -> Result<(), String> {
        let call = field(value, &["Call", "call"]).ok_or("the field `Call` is missing")?;
        let call = time(call, "Call")?;
        let answer = match field(value, &["Return", "return"]) {
            None | Some(Value::Nil) => None,
            Some(answer) => Some(time(answer, "Return")?),
        };
        if answer.is_some_and(|answer| answer < call) {
            return Err("the operation returns before it is called".into());
        }
        let client = field(value, &["ClientId", "clientId", "client_id", "client"]);
        let client = client.map_or("0".to_string(), Building::name_of);
        let input = field(value, &["Input", "input"]).ok_or("the field `Input` is missing")?;
        let op = field(input, &["op", "Op"]).ok_or("`Input` has no field `op`")?;
        let nothing = Value::Text(String::new());
        let key = field(input, &["key", "Key"]).unwrap_or(&nothing);
        let key = history.key(key);
        let op = match op {
            Value::Int(0) => "get".to_string(),
            Value::Int(1) => "put".to_string(),
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
                    (Some(_), Some(value)) => {
                        self.initial(history, key, value);
                        history.model_of_read(value)?;
                        history.read_effect(value)
                    }
                }
            }
            "put" | "write" | "w" | "set" => {
                let value = field(input, &["value", "Value"]).ok_or("`Input` has no `value`")?;
                history.demand(Model::RwRegister, "a put")?;
                self.initial(history, key, value);
                RawEffect::Write(history.value(value))
            }
            other => {
                return Err(format!(
                    "the operation `{other}` is not supported; get and put are"
                ));
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

    fn finish(&mut self, history: &mut Building) -> Result<(), String> {
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
    /// A register of numbers begins as 0.
    fn initial(&self, history: &mut Building, key: u32, value: &Value) {
        if matches!(value, Value::Int(_)) {
            let zero = history.recorded.number(0);
            history.recorded.initial[key as usize].get_or_insert(zero);
        }
    }
}

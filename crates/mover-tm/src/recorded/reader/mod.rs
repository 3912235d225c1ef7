//! Reads recorded histories.
//!
//! | format | an operation |
//! |---|---|
//! | `mover` | `{"thread": 1, "op": "read", "var": "x", "value": 5}`, JSON lines; see [`lines`] |
//! | `jepsen` | `{:type :ok, :process 0, :value [[:append :x 1] [:r :y [1 2]]]}` in EDN, or the same in JSON; see [`jepsen`] |
//! | `porcupine` | `{"ClientId": 0, "Input": {…}, "Call": 3, "Output": {…}, "Return": 9}`; see [`porcupine`] |
//!
//! The format is known by the fields of the first operation. Every message names the line.

pub mod error;
pub mod jepsen;
pub mod lines;
pub mod porcupine;
pub mod syntax;

use std::io::Read;

use super::{Key, Model, RawEffect, Recorded, ValueId};
use error::OperationError;
use syntax::{ReadError, Stream, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Mover,
    Jepsen,
    Porcupine,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Mover => "mover",
            Format::Jepsen => "jepsen",
            Format::Porcupine => "porcupine",
        }
    }

    fn of(first: &Value) -> Option<Format> {
        let has = |name: &str| first.get(name).is_some();
        if has("op") || has("thread") {
            Some(Format::Mover)
        } else if has("Call") || has("call") || has("Return") {
            Some(Format::Porcupine)
        } else if has("type") {
            Some(Format::Jepsen)
        } else {
            None
        }
    }
}

/// What the user says about a file; what is not said is found out.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    pub format: Option<Format>,
    pub model: Option<Model>,
}

/// What a reader of one format does.
trait Operations {
    fn operation(&mut self, history: &mut Building, value: &Value) -> Result<(), OperationError>;
    /// The file has come to its end.
    fn finish(&mut self, history: &mut Building) -> Result<(), OperationError>;
}

/// The history so far.
pub struct Building {
    pub recorded: Recorded,
    model: Option<Model>,
    /// Why the model is what it is.
    because: String,
    /// The line and the number of the current event.
    pub line: u32,
    pub moment: u32,
}

/// Reads a whole history.
pub fn read(input: impl Read, wanted: Wanted) -> Result<(Recorded, Format), ReadError> {
    let unreadable = |error: std::io::Error| ReadError {
        message: format!("cannot be read: {error}"),
        line: 1,
        column: 0,
        excerpt: String::new(),
    };
    let mut stream = Stream::new(input).map_err(unreadable)?;
    let mut history = Building {
        recorded: Recorded::default(),
        model: wanted.model,
        because: "--model says so".to_string(),
        line: 1,
        moment: 0,
    };
    let mut reader: Option<(Format, Box<dyn Operations>)> = None;
    while let Some(value) = stream.item()? {
        if !matches!(value, Value::Map(_)) {
            return Err(stream.error_at_value(format!(
                "expected an operation such as {{\"thread\": 1, \"op\": \"read\", \"var\": \"x\", \"value\": 5}}, found {value}"
            )));
        }
        history.line = stream.value_line as u32;
        // An event that begins and ends a transaction begins it first.
        history.moment += 2;
        if reader.is_none() {
            let Some(format) = wanted.format.or_else(|| Format::of(&value)) else {
                return Err(stream.error_at_value(
                    "this is no operation of a known format: mover has a field `op`, jepsen `type`, porcupine `Call`; --format says which it is",
                ));
            };
            let chosen: Box<dyn Operations> = match format {
                Format::Mover => Box::new(lines::Lines::default()),
                Format::Jepsen => Box::new(jepsen::Jepsen::default()),
                Format::Porcupine => Box::new(porcupine::Porcupine::default()),
            };
            reader = Some((format, chosen));
        }
        if let Some((_, reader)) = &mut reader {
            reader
                .operation(&mut history, &value)
                .map_err(|error| stream.error_at_value(error.to_string()))?;
        }
    }
    let Some((format, mut reader)) = reader else {
        return Err(stream.error("the file has no operation"));
    };
    reader
        .finish(&mut history)
        .map_err(|error| stream.error(error.to_string()))?;
    history.recorded.model = history.model;
    Ok((history.recorded, format))
}

impl Building {
    /// A register was written or a list appended to; both in one history is too much.
    pub fn demand(&mut self, model: Model, what: &'static str) -> Result<(), OperationError> {
        match self.model {
            Some(known) if known != model => Err(OperationError::OtherModel {
                what,
                model,
                known,
                because: self.because.clone(),
            }),
            Some(_) => Ok(()),
            None => {
                self.model = Some(model);
                self.because = format!("line {} has {what}", self.line);
                Ok(())
            }
        }
    }

    /// The name of a key or process.
    pub fn name_of(value: &Value) -> String {
        match value.name() {
            Some(name) => name.to_string(),
            None => value.to_string(),
        }
    }

    pub fn key(&mut self, value: &Value) -> Key {
        match value.name() {
            Some(name) => self.recorded.key(name),
            None => self.recorded.key(&value.to_string()),
        }
    }

    pub fn value(&mut self, value: &Value) -> ValueId {
        match value {
            Value::Int(number) => self.recorded.number(*number),
            other => self.recorded.value(&other.to_string()),
        }
    }

    /// What a read returned.
    pub fn read_effect(&mut self, value: &Value) -> RawEffect {
        match value {
            Value::Nil => RawEffect::ReadInitial,
            Value::List(values) if self.model != Some(Model::RwRegister) => {
                if values.is_empty() {
                    return RawEffect::ReadInitial;
                }
                RawEffect::ReadList(values.iter().map(|value| self.value(value)).collect())
            }
            other => RawEffect::Read(self.value(other)),
        }
    }

    /// A list that was read says what the model is, unless something said so before.
    pub fn model_of_read(&mut self, value: &Value) -> Result<(), OperationError> {
        match value {
            Value::Nil => Ok(()),
            Value::List(_) if self.model.is_none() => self.demand(Model::ListAppend, "a list"),
            Value::List(_) => Ok(()),
            other => match self.model {
                Some(Model::ListAppend) => Err(OperationError::NoList {
                    value: other.to_string(),
                    because: self.because.clone(),
                }),
                _ => self.demand(Model::RwRegister, "a read of a single value"),
            },
        }
    }
}

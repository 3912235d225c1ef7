//! Histories recorded from databases and transactional memories, with values.
//!
//! A *history* is a set of transactions: what each read and wrote, who ran it, between which
//! two moments, and how it ended. Nothing is known of the system's inside. A level holds if
//! **some** inside explains the history: which of the transactions with an unknown outcome took
//! effect, and in which order the versions of each key were installed, such that the dependency
//! graph of Adya (1999) has none of the cycles that the level forbids ([`levels`]).
//!
//! Two models of a key are known. A *register* holds the last value written. A *list* holds all
//! values appended, so one read tells the order of all versions before it (Kingsbury and Alvaro,
//! Elle, 2020). In both, a value is written to a key at most once in the good case; then reads
//! tell who wrote what was read, and for lists everything is decided in linear time.
//!
//! The way of the data: a reader ([`reader`]) turns a file into [`Recorded`] line by line, in
//! memory proportional to the number of operations and not to the size of the file: of a list
//! that was read only its length is kept, and the longest list of each key once. [`versions`] says who
//! wrote what was read and what is known of the order of versions. [`dependencies`] makes a graph
//! of it, [`cycles`] looks for cycles, [`resolve`] for an order of versions where reads do not
//! tell it, and [`verdict`] puts together an answer with its words ([`words`]). [`sessions`] decides
//! the four session guarantees. [`crate::history_search`] finds serial orders where values are not unique.

pub mod cycles;
pub mod dependencies;
pub mod levels;
pub mod reader;
pub mod resolve;
pub mod sessions;
pub mod verdict;
pub mod versions;
pub mod words;

use rustc_hash::FxHashMap;

/// Keys and values are numbered as they occur.
pub type Key = u32;
pub type ValueId = u32;

/// What a key holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    RwRegister,
    ListAppend,
}

impl Model {
    pub fn name(self) -> &'static str {
        match self {
            Model::RwRegister => "rw-register",
            Model::ListAppend => "list-append",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Committed,
    Aborted,
    /// Nobody knows whether it took effect.
    Indeterminate,
    /// It never asked for a commit, so it has not taken effect.
    Live,
}

/// What one operation did. A list that was read is known by its length, see [`Recorded::order`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Write(ValueId),
    /// A register's value.
    Read(ValueId),
    /// The first elements of the key's order, followed by this many of the transaction's own.
    ReadList {
        length: u32,
        own: u32,
    },
    /// A list that is no prefix of the key's order.
    ReadOther,
    /// The initial state.
    ReadInitial,
    /// A read whose result was not recorded.
    ReadUnknown,
}

#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub key: Key,
    pub effect: Effect,
}

#[derive(Clone, Debug)]
pub struct Transaction {
    pub process: u32,
    /// The lines of its first and last event, from 1.
    pub lines: (u32, u32),
    /// When it was called, if that was recorded, and when it was answered.
    pub start: Option<u32>,
    pub end: Option<u32>,
    pub status: Status,
    operations: (u32, u32),
}

/// Something that no choice of the system's inside can explain, found while reading.
#[derive(Clone, Debug)]
pub struct Misread {
    pub transaction: usize,
    pub key: Key,
    pub kind: MisreadKind,
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MisreadKind {
    /// Two lists of which neither begins with the other.
    IncompatibleOrder,
    /// An element twice in one list.
    DuplicateElement,
    /// The transaction's own writes were not read back.
    Internal,
    /// A transaction read what it wrote only later.
    FutureRead,
}

/// A history in memory.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub model: Option<Model>,
    pub transactions: Vec<Transaction>,
    pub operations: Vec<Operation>,
    pub key_names: Vec<String>,
    pub value_names: Vec<String>,
    pub process_names: Vec<String>,
    /// The initial value of each register: none if it has none that could be written.
    pub initial: Vec<Option<ValueId>>,
    /// The longest list that was read of each key.
    pub order: Vec<Vec<ValueId>>,
    pub misreads: Vec<Misread>,
    /// Whether the format tells what aborted transactions read.
    pub aborted_reads_recorded: bool,
    keys: FxHashMap<String, Key>,
    values: FxHashMap<String, ValueId>,
    numbers: FxHashMap<i64, ValueId>,
    processes: FxHashMap<String, u32>,
}

/// An operation as a reader meets it.
#[derive(Clone, Debug, PartialEq)]
pub enum RawEffect {
    Write(ValueId),
    Append(ValueId),
    Read(ValueId),
    ReadList(Vec<ValueId>),
    ReadInitial,
    ReadUnknown,
}

/// A transaction as a reader meets it.
#[derive(Clone, Debug)]
pub struct RawTransaction {
    pub process: u32,
    pub lines: (u32, u32),
    pub start: Option<u32>,
    pub end: Option<u32>,
    pub status: Status,
    pub operations: Vec<(Key, RawEffect)>,
}

impl Recorded {
    pub fn model(&self) -> Model {
        self.model.unwrap_or(Model::RwRegister)
    }

    pub fn operations_of(&self, transaction: usize) -> &[Operation] {
        let (first, end) = self.transactions[transaction].operations;
        &self.operations[first as usize..end as usize]
    }

    pub fn key(&mut self, name: &str) -> Key {
        if let Some(&key) = self.keys.get(name) {
            return key;
        }
        let key = self.key_names.len() as Key;
        self.key_names.push(name.to_string());
        self.keys.insert(name.to_string(), key);
        self.initial.push(None);
        self.order.push(Vec::new());
        key
    }

    pub fn value(&mut self, name: &str) -> ValueId {
        if let Some(&value) = self.values.get(name) {
            return value;
        }
        let value = self.value_names.len() as ValueId;
        self.value_names.push(name.to_string());
        self.values.insert(name.to_string(), value);
        value
    }

    /// Most values are numbers; they are found without their text.
    pub fn number(&mut self, number: i64) -> ValueId {
        if let Some(&value) = self.numbers.get(&number) {
            return value;
        }
        let value = self.value(&number.to_string());
        self.numbers.insert(number, value);
        value
    }

    pub fn process(&mut self, name: &str) -> u32 {
        if let Some(&process) = self.processes.get(name) {
            return process;
        }
        let process = self.process_names.len() as u32;
        self.process_names.push(name.to_string());
        self.processes.insert(name.to_string(), process);
        process
    }

    /// Adds a transaction and returns its number.
    pub fn push(&mut self, raw: RawTransaction) -> usize {
        let number = self.transactions.len();
        let first = self.operations.len() as u32;
        let mut own: Vec<(Key, ValueId)> = Vec::new();
        for (key, effect) in raw.operations {
            let effect = match effect {
                RawEffect::Write(value) => Effect::Write(value),
                RawEffect::Append(value) => {
                    own.push((key, value));
                    Effect::Write(value)
                }
                RawEffect::Read(value) => Effect::Read(value),
                RawEffect::ReadInitial => Effect::ReadInitial,
                RawEffect::ReadUnknown => Effect::ReadUnknown,
                RawEffect::ReadList(list) => self.list(number, key, list, &own),
            };
            self.operations.push(Operation { key, effect });
        }
        self.transactions.push(Transaction {
            process: raw.process,
            lines: raw.lines,
            start: raw.start,
            end: raw.end,
            status: raw.status,
            operations: (first, self.operations.len() as u32),
        });
        number
    }

    /// A list read by a transaction that had appended these.
    fn list(
        &mut self,
        transaction: usize,
        key: Key,
        list: Vec<ValueId>,
        appended: &[(Key, ValueId)],
    ) -> Effect {
        let own: Vec<ValueId> = appended
            .iter()
            .filter(|(k, _)| *k == key)
            .map(|(_, value)| *value)
            .collect();
        if !list.ends_with(&own) {
            let text = format!(
                "read {} = {}, which does not end in its own appends {}",
                self.key_names[key as usize],
                self.list_text(&list),
                self.list_text(&own)
            );
            self.misreads.push(Misread {
                transaction,
                key,
                kind: MisreadKind::Internal,
                text,
            });
            return Effect::ReadOther;
        }
        // What it appended itself may have been put on top of an old state; only the part that
        // it read from outside tells of the order.
        let seen = list.len() - own.len();
        let known = &self.order[key as usize];
        let common = known.len().min(seen);
        if known[..common] != list[..common] {
            let text = format!(
                "read {} = {}, and another read {}: neither begins with the other",
                self.key_names[key as usize],
                self.list_text(&list),
                self.list_text(known)
            );
            self.misreads.push(Misread {
                transaction,
                key,
                kind: MisreadKind::IncompatibleOrder,
                text,
            });
            return Effect::ReadOther;
        }
        if seen > common {
            let mut sorted = list[..seen].to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                let text = format!(
                    "read {} = {}, with an element twice",
                    self.key_names[key as usize],
                    self.list_text(&list)
                );
                self.misreads.push(Misread {
                    transaction,
                    key,
                    kind: MisreadKind::DuplicateElement,
                    text,
                });
                return Effect::ReadOther;
            }
            self.order[key as usize].extend_from_slice(&list[common..seen]);
        }
        Effect::ReadList {
            length: seen as u32,
            own: own.len() as u32,
        }
    }

    fn list_text(&self, list: &[ValueId]) -> String {
        const SHOWN: usize = 12;
        let names: Vec<&str> = list
            .iter()
            .rev()
            .take(SHOWN)
            .rev()
            .map(|&value| self.value_names[value as usize].as_str())
            .collect();
        let dots = if list.len() > SHOWN { "… " } else { "" };
        format!("[{dots}{}]", names.join(" "))
    }

    /// A transaction's name in words and lanes.
    pub fn name(&self, transaction: usize) -> String {
        format!("T{}", transaction + 1)
    }

    /// An operation as text.
    pub fn operation_text(&self, operation: &Operation) -> String {
        let key = &self.key_names[operation.key as usize];
        let value = |value: ValueId| &self.value_names[value as usize];
        match operation.effect {
            Effect::Write(v) if self.model() == Model::ListAppend => {
                format!("append {key} {}", value(v))
            }
            Effect::Write(v) => format!("write {key} {}", value(v)),
            Effect::Read(v) => format!("read {key} = {}", value(v)),
            Effect::ReadInitial if self.model() == Model::ListAppend => format!("read {key} = []"),
            Effect::ReadInitial => format!("read {key} = initial"),
            Effect::ReadList { length, own } => {
                let order = &self.order[operation.key as usize];
                let own = if own > 0 { " and its own" } else { "" };
                let seen = self.list_text(&order[..length as usize]);
                format!("read {key} = {seen}{own}")
            }
            Effect::ReadOther => format!("read {key} = another list"),
            Effect::ReadUnknown => format!("read {key} = not recorded"),
        }
    }

    /// What a transaction did, in one line.
    pub fn transaction_text(&self, transaction: usize) -> String {
        const SHOWN: usize = 12;
        let operations = self.operations_of(transaction);
        let mut texts: Vec<String> = operations
            .iter()
            .take(SHOWN)
            .map(|operation| self.operation_text(operation))
            .collect();
        if operations.len() > SHOWN {
            texts.push(format!("and {} more", operations.len() - SHOWN));
        }
        texts.join(", ")
    }
}

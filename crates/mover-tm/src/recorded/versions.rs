//! Who wrote what was read, and what reads tell of the order of versions.
//!
//! A *view* is a history as one level sees it: the transactions that count, the versions that
//! each read from outside itself, and for each key *chains* of versions. The versions of a chain
//! are known to follow each other immediately. The first chain of a key begins with the initial
//! state. How other chains follow each other is not known; [`super::resolve`] looks for it.
//!
//! - Lists: the first chain is the longest list that was read. What was appended and never read comes after
//!   it, a chain for each transaction.
//! - Registers: a transaction that reads a version and then writes the key installed the next
//!   version, at every level from snapshot isolation on: with a version between the two there is a
//!   cycle with one anti-dependency. A key that is only written after reading has one chain.
//!
//! A transaction of unknown outcome counts if one that counts read what it wrote. Leaving out the
//! others is no loss: without them there are fewer dependencies, and none is new.
//!
//! *Flaws* are what needs no cycle: reads of aborted, intermediate, own or unknown writes, lost updates,
//! and two different reads of one key.

use rustc_hash::{FxHashMap, FxHashSet};

use super::levels::Level;
use super::{Effect, Key, MisreadKind, Model, Recorded, Status, ValueId};

/// How a transaction takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Absent,
    /// Its reads count.
    Reader,
    /// Its reads and its writes count.
    Writer,
}

/// A read from outside the transaction: the version before `place` in a chain, and so the
/// initial state for place 0 of chain 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExternalRead {
    pub transaction: u32,
    pub key: Key,
    pub chain: u32,
    pub place: u32,
}

/// A version: the transaction that wrote it, and its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    pub writer: u32,
    pub value: ValueId,
}

/// What is wrong without a cycle.
#[derive(Clone, Debug)]
pub struct Flaw {
    /// Its name in the literature.
    pub name: &'static str,
    /// The weakest level that forbids it.
    pub level: Level,
    pub transactions: Vec<usize>,
    pub words: String,
}

/// A read that several writes explain: the transaction, the key and the writers, none for the
/// initial state.
#[derive(Clone, Debug)]
pub struct Ambiguity {
    pub transaction: u32,
    pub key: Key,
    pub value: ValueId,
    pub writers: Vec<Option<u32>>,
}

#[derive(Clone, Debug, Default)]
pub struct View {
    pub roles: Vec<Role>,
    pub reads: Vec<ExternalRead>,
    /// By key; the first chain begins with the initial state.
    pub chains: Vec<Vec<Vec<Version>>>,
    /// The transactions that begin a chain other than the first, with the key.
    pub begins: FxHashSet<(u32, Key)>,
    pub flaws: Vec<Flaw>,
    pub ambiguities: Vec<Ambiguity>,
    /// A value appended more than once: nothing can be told.
    pub duplicate_append: Option<(Key, ValueId, usize, usize)>,
}

/// Which transactions a view has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Committed ones, without deciding by reads about the others: for read uncommitted.
    CommittedOnly,
    /// Committed ones and those of unknown outcome whose writes were read.
    Effective,
    /// Also the reads of aborted and unfinished ones: for opacity.
    All,
}

#[derive(Clone, Copy)]
struct Write {
    transaction: u32,
    is_final: bool,
    /// The next write of the same value to the same key.
    more: Option<u32>,
}

/// All writes by key and value.
struct Writes {
    all: Vec<Write>,
    by_value: FxHashMap<(Key, ValueId), u32>,
}

impl Writes {
    fn of(recorded: &Recorded) -> Writes {
        let mut writes = Writes {
            all: Vec::new(),
            by_value: FxHashMap::default(),
        };
        // The last write of the current transaction to each key.
        let mut last: Vec<(u32, u32)> = vec![(u32::MAX, 0); recorded.key_names.len()];
        for x in 0..recorded.transactions.len() {
            for operation in recorded.operations_of(x) {
                let Effect::Write(value) = operation.effect else {
                    continue;
                };
                let id = writes.all.len() as u32;
                let (writer, previous) = last[operation.key as usize];
                if writer == x as u32 {
                    writes.all[previous as usize].is_final = false;
                }
                last[operation.key as usize] = (x as u32, id);
                let more = writes.by_value.insert((operation.key, value), id);
                writes.all.push(Write {
                    transaction: x as u32,
                    is_final: true,
                    more,
                });
            }
        }
        writes
    }

    fn of_value(&self, key: Key, value: ValueId) -> impl Iterator<Item = Write> + '_ {
        let mut next = self.by_value.get(&(key, value)).copied();
        std::iter::from_fn(move || {
            let write = self.all[next? as usize];
            next = write.more;
            Some(write)
        })
    }
}

/// Which writer each ambiguous read is said to have read from: by transaction, key and value.
pub type Choice = FxHashMap<(u32, Key, ValueId), Option<u32>>;

impl View {
    pub fn of(recorded: &Recorded, scope: Scope, choice: &Choice) -> View {
        let writes = Writes::of(recorded);
        let mut maker = Maker {
            recorded,
            writes: &writes,
            choice,
            scope,
            view: View::default(),
        };
        maker.view.roles = (0..recorded.transactions.len())
            .map(|x| maker.role_at_first(x))
            .collect();
        match recorded.model() {
            Model::ListAppend => maker.lists(),
            Model::RwRegister => maker.registers(),
        }
        maker.view
    }

    pub fn counts(&self, transaction: usize) -> bool {
        self.roles[transaction] != Role::Absent
    }

    /// The flaws that a level forbids.
    pub fn flaw_at(&self, level: Level) -> Option<&Flaw> {
        self.flaws.iter().find(|flaw| level.implies(flaw.level))
    }
}

struct Maker<'r> {
    recorded: &'r Recorded,
    writes: &'r Writes,
    choice: &'r Choice,
    scope: Scope,
    view: View,
}

/// What a read from outside a register saw.
enum Source {
    Initial,
    Writer(u32),
    Nothing,
}

impl Maker<'_> {
    fn role_at_first(&self, x: usize) -> Role {
        match self.recorded.transactions[x].status {
            Status::Committed => Role::Writer,
            _ if self.scope == Scope::All => Role::Reader,
            _ => Role::Absent,
        }
    }

    fn flaw(&mut self, name: &'static str, level: Level, transactions: &[usize], words: String) {
        self.view.flaws.push(Flaw {
            name,
            level,
            transactions: transactions.to_vec(),
            words,
        });
    }

    /// What was found while reading the file, for the transactions that count.
    fn misreads(&mut self) {
        for misread in &self.recorded.misreads {
            let x = misread.transaction;
            if self.view.roles[x] == Role::Absent {
                continue;
            }
            let (name, level) = match misread.kind {
                MisreadKind::IncompatibleOrder => ("incompatible-order", Level::ReadUncommitted),
                MisreadKind::DuplicateElement => ("duplicate-elements", Level::ReadUncommitted),
                MisreadKind::Internal => ("internal", Level::ReadUncommitted),
                MisreadKind::FutureRead => ("future-read", Level::ReadCommitted),
            };
            let words = format!("{} {}", self.recorded.name(x), misread.text);
            self.flaw(name, level, &[x], words);
        }
    }

    fn key_name(&self, key: Key) -> &str {
        &self.recorded.key_names[key as usize]
    }

    fn value_name(&self, value: ValueId) -> &str {
        &self.recorded.value_names[value as usize]
    }

    // ── Lists ────────────────────────────────────────────────────────────────────────────────

    fn lists(&mut self) {
        let recorded = self.recorded;
        for (&(key, value), &id) in &self.writes.by_value {
            let write = self.writes.all[id as usize];
            if let Some(other) = write.more {
                let pair = (
                    self.writes.all[other as usize].transaction,
                    write.transaction,
                );
                let found = (key, value, pair.0 as usize, pair.1 as usize);
                if self.view.duplicate_append.is_none_or(|known| found < known) {
                    self.view.duplicate_append = Some(found);
                }
            }
        }
        if self.view.duplicate_append.is_some() {
            return;
        }
        self.observed_lists();
        self.misreads();
        // The chains: first what was read, then what was not.
        let mut place_of: FxHashMap<(Key, ValueId), u32> = FxHashMap::default();
        for (key, order) in recorded.order.iter().enumerate() {
            let key = key as Key;
            let mut chain = Vec::with_capacity(order.len());
            for (place, &value) in order.iter().enumerate() {
                place_of.insert((key, value), place as u32);
                if let Some(write) = self.writes.of_value(key, value).next()
                    && self.view.roles[write.transaction as usize] == Role::Writer
                {
                    chain.push(Version {
                        writer: write.transaction,
                        value,
                    });
                }
            }
            self.view.chains.push(vec![chain]);
        }
        for x in 0..recorded.transactions.len() {
            if self.view.roles[x] != Role::Writer {
                continue;
            }
            for operation in recorded.operations_of(x) {
                let Effect::Write(value) = operation.effect else {
                    continue;
                };
                if place_of.contains_key(&(operation.key, value)) {
                    continue;
                }
                let version = Version {
                    writer: x as u32,
                    value,
                };
                let chains = &mut self.view.chains[operation.key as usize];
                let continues = chains.len() > 1
                    && chains
                        .last()
                        .and_then(|chain| chain.last())
                        .is_some_and(|last| last.writer == x as u32);
                match chains.last_mut() {
                    Some(chain) if continues => chain.push(version),
                    _ => chains.push(vec![version]),
                }
            }
        }
        self.join_single_chains();
        self.list_reads(&place_of);
    }

    /// Lets transactions of unknown outcome count whose elements were read by one that counts.
    fn observed_lists(&mut self) {
        if self.scope == Scope::CommittedOnly {
            return;
        }
        let recorded = self.recorded;
        let mut observed = vec![0usize; recorded.key_names.len()];
        let mut work: Vec<usize> = (0..recorded.transactions.len())
            .filter(|&x| self.view.roles[x] != Role::Absent)
            .collect();
        while let Some(x) = work.pop() {
            for operation in recorded.operations_of(x) {
                let Effect::ReadList { length, .. } = operation.effect else {
                    continue;
                };
                let seen = &mut observed[operation.key as usize];
                let order = &recorded.order[operation.key as usize];
                for &value in &order[(*seen).min(length as usize)..length as usize] {
                    for write in self.writes.of_value(operation.key, value) {
                        let y = write.transaction as usize;
                        let unknown = recorded.transactions[y].status == Status::Indeterminate;
                        if unknown && self.view.roles[y] != Role::Writer {
                            if self.view.roles[y] == Role::Absent {
                                work.push(y);
                            }
                            self.view.roles[y] = Role::Writer;
                        }
                    }
                }
                *seen = (*seen).max(length as usize);
            }
        }
    }

    fn list_reads(&mut self, place_of: &FxHashMap<(Key, ValueId), u32>) {
        let recorded = self.recorded;
        // For each key: the place in the order to the place in the chain, where elements of
        // transactions that do not count are left out; and the first such element.
        let mut bad: Vec<Option<(u32, ValueId)>> = vec![None; recorded.key_names.len()];
        let mut skipped: Vec<Vec<u32>> = vec![Vec::new(); recorded.key_names.len()];
        for (key, order) in recorded.order.iter().enumerate() {
            for (place, &value) in order.iter().enumerate() {
                let writer = self.writes.of_value(key as Key, value).next();
                let counts =
                    writer.is_some_and(|w| self.view.roles[w.transaction as usize] == Role::Writer);
                if !counts {
                    bad[key].get_or_insert((place as u32, value));
                    skipped[key].push(place as u32);
                }
            }
        }
        // Who read the end of the first chain of a key and then wrote what nobody read.
        let mut updated: Vec<Option<usize>> = vec![None; recorded.key_names.len()];
        for x in 0..recorded.transactions.len() {
            if self.view.roles[x] == Role::Absent {
                continue;
            }
            let operations = recorded.operations_of(x);
            for (at, operation) in operations.iter().enumerate() {
                let key = operation.key;
                let length = match operation.effect {
                    Effect::ReadList { length, .. } => length,
                    Effect::ReadInitial => 0,
                    _ => continue,
                };
                if matches!(operation.effect, Effect::ReadInitial)
                    && operations[..at]
                        .iter()
                        .any(|o| o.key == key && matches!(o.effect, Effect::Write(_)))
                {
                    let words = format!(
                        "{} read {} = [] after appending to it",
                        recorded.name(x),
                        self.key_name(key)
                    );
                    self.flaw("internal", Level::ReadUncommitted, &[x], words);
                    continue;
                }
                if let Some((place, value)) = bad[key as usize].filter(|(place, _)| *place < length)
                {
                    self.bad_element(x, key, place, value, length);
                }
                if length > 0 {
                    let last = recorded.order[key as usize][length as usize - 1];
                    self.last_element(x, key, last);
                }
                let own_later = operations[at..].iter().any(|o| {
                    o.key == key
                        && matches!(o.effect, Effect::Write(v)
                            if place_of.get(&(key, v)).is_some_and(|&p| p < length))
                });
                if own_later {
                    let words = format!(
                        "{} {}, which it appended only later",
                        recorded.name(x),
                        recorded.operation_text(operation)
                    );
                    self.flaw("future-read", Level::ReadCommitted, &[x], words);
                }
                let left_out = skipped[key as usize].partition_point(|&p| p < length) as u32;
                let read = ExternalRead {
                    transaction: x as u32,
                    key,
                    chain: 0,
                    place: length - left_out,
                };
                let at_the_end = self.view.chains[key as usize][0].len() as u32 == read.place;
                if at_the_end && self.view.begins.contains(&(x as u32, key)) {
                    match updated[key as usize] {
                        Some(other) if other != x => {
                            let words = self.lost_update(other, x, key);
                            self.flaw("lost-update", Level::SnapshotIsolation, &[other, x], words);
                            continue;
                        }
                        _ => updated[key as usize] = Some(x),
                    }
                }
                self.external(read);
            }
        }
    }

    fn lost_update(&self, a: usize, b: usize, key: Key) -> String {
        format!(
            "{a} and {b} both read the same version of {k} and then wrote {k}; one of the two writes is lost. \
             If {a} wrote first, then {a} before {b}, because {b} overwrote it; but {b} before {a}, because \
             {b} read {k} before {a} wrote it. The other way round it is the same",
            a = self.recorded.name(a),
            b = self.recorded.name(b),
            k = self.key_name(key)
        )
    }

    /// An element that no transaction that counts has appended.
    fn bad_element(&mut self, x: usize, key: Key, place: u32, value: ValueId, length: u32) {
        let recorded = self.recorded;
        let read = format!(
            "{} read {} with the element {}",
            recorded.name(x),
            self.key_name(key),
            self.value_name(value)
        );
        match self.writes.of_value(key, value).next() {
            Some(write) if write.transaction as usize == x => {}
            Some(write) => {
                let y = write.transaction as usize;
                let words = format!("{read}, which {} appended and aborted", recorded.name(y));
                self.flaw("G1a", Level::ReadCommitted, &[y, x], words);
                let after = &recorded.order[key as usize][place as usize + 1..length as usize];
                let on_top = after.iter().find_map(|&value| {
                    let writer = self.writes.of_value(key, value).next()?.transaction as usize;
                    (self.view.roles[writer] == Role::Writer).then_some((value, writer))
                });
                if let Some((later, z)) = on_top {
                    let words = format!(
                        "{} appended {} to {} on top of {}, which {} appended and aborted",
                        recorded.name(z),
                        self.value_name(later),
                        self.key_name(key),
                        self.value_name(value),
                        recorded.name(y)
                    );
                    self.flaw("dirty-update", Level::ReadCommitted, &[y, z, x], words);
                }
            }
            None => {
                let words = format!("{read}, which nobody appended");
                self.flaw("garbage-read", Level::ReadCommitted, &[x], words);
            }
        }
    }

    /// The last element of a list must be the last that its transaction appended.
    fn last_element(&mut self, x: usize, key: Key, last: ValueId) {
        let Some(write) = self.writes.of_value(key, last).next() else {
            return;
        };
        let y = write.transaction as usize;
        if !write.is_final && y != x {
            let words = format!(
                "{} read {} up to {}, but {} appended more to it",
                self.recorded.name(x),
                self.key_name(key),
                self.value_name(last),
                self.recorded.name(y)
            );
            self.flaw("G1b", Level::ReadCommitted, &[y, x], words);
        }
    }

    // ── Registers ────────────────────────────────────────────────────────────────────────────

    /// Who wrote what was read from outside.
    fn source(&mut self, x: usize, key: Key, value: ValueId, tell: bool) -> Source {
        let recorded = self.recorded;
        let is_initial = recorded.initial[key as usize] == Some(value);
        let mut candidates: Vec<Option<u32>> = Vec::new();
        let mut own = false;
        let mut intermediate = None;
        let mut aborted = None;
        for write in self.writes.of_value(key, value) {
            let y = write.transaction as usize;
            let status = recorded.transactions[y].status;
            if y == x {
                own = true;
            } else if !matches!(status, Status::Committed | Status::Indeterminate) {
                aborted = Some(y);
            } else if !write.is_final {
                intermediate = Some(y);
            } else {
                candidates.push(Some(write.transaction));
            }
        }
        if is_initial {
            candidates.push(None);
        }
        if candidates.len() > 1 {
            if let Some(chosen) = self.choice.get(&(x as u32, key, value)) {
                return chosen.map_or(Source::Initial, Source::Writer);
            }
            if tell {
                candidates.sort_unstable();
                self.view.ambiguities.push(Ambiguity {
                    transaction: x as u32,
                    key,
                    value,
                    writers: candidates,
                });
            }
            return Source::Nothing;
        }
        match candidates.first() {
            Some(Some(writer)) => return Source::Writer(*writer),
            Some(None) => return Source::Initial,
            None => {}
        }
        if !tell {
            return Source::Nothing;
        }
        let read = format!(
            "{} read {} = {}",
            recorded.name(x),
            self.key_name(key),
            self.value_name(value)
        );
        if let Some(y) = intermediate {
            let name = recorded.name(y);
            let words = format!("{read}, which {name} wrote and then overwrote itself");
            self.flaw("G1b", Level::ReadCommitted, &[y, x], words);
        } else if let Some(y) = aborted {
            let how = match recorded.transactions[y].status {
                Status::Live => "wrote and did not commit",
                _ => "wrote and aborted",
            };
            let words = format!("{read}, which {} {how}", recorded.name(y));
            self.flaw("G1a", Level::ReadCommitted, &[y, x], words);
        } else if own {
            let words = format!("{read}, which it wrote only later");
            self.flaw("future-read", Level::ReadCommitted, &[x], words);
        } else {
            let words = format!("{read}, which nobody wrote");
            self.flaw("garbage-read", Level::ReadCommitted, &[x], words);
        }
        Source::Nothing
    }

    /// The reads of a transaction from outside itself, with what its own writes contradict.
    fn register_reads(
        &mut self,
        x: usize,
        own: &mut [(u32, ValueId)],
        tell: bool,
    ) -> Vec<(Key, Source)> {
        let recorded = self.recorded;
        let mut found = Vec::new();
        for operation in recorded.operations_of(x) {
            let key = operation.key;
            let (writer, written) = own[key as usize];
            let value = match operation.effect {
                Effect::Write(value) => {
                    own[key as usize] = (x as u32, value);
                    continue;
                }
                Effect::Read(value) => Some(value),
                Effect::ReadInitial => None,
                _ => continue,
            };
            if writer == x as u32 {
                if value != Some(written) && tell {
                    let words = format!(
                        "{} {} after writing {} to it",
                        recorded.name(x),
                        recorded.operation_text(operation),
                        self.value_name(written)
                    );
                    self.flaw("internal", Level::ReadUncommitted, &[x], words);
                }
                continue;
            }
            let source = match value {
                None => Source::Initial,
                Some(value) => self.source(x, key, value, tell),
            };
            found.push((key, source));
        }
        own_reset(own, recorded, x);
        found
    }

    fn registers(&mut self) {
        let recorded = self.recorded;
        let keys = recorded.key_names.len();
        let mut own: Vec<(u32, ValueId)> = vec![(u32::MAX, 0); keys];
        if self.scope != Scope::CommittedOnly {
            let mut work: Vec<usize> = (0..recorded.transactions.len())
                .filter(|&x| self.view.roles[x] != Role::Absent)
                .collect();
            while let Some(x) = work.pop() {
                for (_, source) in self.register_reads(x, &mut own, false) {
                    let Source::Writer(y) = source else { continue };
                    let y = y as usize;
                    if recorded.transactions[y].status == Status::Indeterminate
                        && self.view.roles[y] != Role::Writer
                    {
                        if self.view.roles[y] == Role::Absent {
                            work.push(y);
                        }
                        self.view.roles[y] = Role::Writer;
                    }
                }
            }
        }
        self.misreads();
        // The final writes that count, numbered; and where each is.
        let mut versions: Vec<(Version, Key)> = Vec::new();
        let mut number: FxHashMap<(u32, Key), u32> = FxHashMap::default();
        for x in 0..recorded.transactions.len() {
            if self.view.roles[x] != Role::Writer {
                continue;
            }
            for operation in recorded.operations_of(x) {
                let Effect::Write(value) = operation.effect else {
                    continue;
                };
                let version = Version {
                    writer: x as u32,
                    value,
                };
                let id = *number.entry((x as u32, operation.key)).or_insert_with(|| {
                    versions.push((version, operation.key));
                    versions.len() as u32 - 1
                });
                versions[id as usize].0.value = value;
            }
        }
        const NONE: u32 = u32::MAX;
        let mut successor: Vec<u32> = vec![NONE; versions.len()];
        let mut first_of_key: Vec<u32> = vec![NONE; keys];
        let mut has_predecessor = vec![false; versions.len()];
        let mut reads: Vec<(u32, Key, u32)> = Vec::new();
        let mut stamp: Vec<(u32, u32)> = vec![(NONE, 0); keys];
        for x in 0..recorded.transactions.len() {
            if self.view.roles[x] == Role::Absent {
                continue;
            }
            for (key, source) in self.register_reads(x, &mut own, true) {
                let version = match source {
                    Source::Initial => NONE,
                    Source::Writer(y) => match number.get(&(y, key)) {
                        Some(&id) => id,
                        None => continue,
                    },
                    Source::Nothing => continue,
                };
                let (seen_by, before) = stamp[key as usize];
                if seen_by == x as u32 {
                    if before != version {
                        let words = format!(
                            "{} read {} twice with different results",
                            recorded.name(x),
                            self.key_name(key)
                        );
                        self.flaw("non-repeatable-read", Level::SnapshotIsolation, &[x], words);
                        reads.push((x as u32, key, version));
                    }
                    continue;
                }
                stamp[key as usize] = (x as u32, version);
                reads.push((x as u32, key, version));
                let Some(&mine) = number.get(&(x as u32, key)) else {
                    continue;
                };
                if self.view.roles[x] != Role::Writer || mine == version {
                    continue;
                }
                let next = match version {
                    NONE => &mut first_of_key[key as usize],
                    version => &mut successor[version as usize],
                };
                if *next == NONE {
                    *next = mine;
                    has_predecessor[mine as usize] = true;
                } else {
                    let other = versions[*next as usize].0.writer as usize;
                    let words = self.lost_update(other, x, key);
                    self.flaw("lost-update", Level::SnapshotIsolation, &[other, x], words);
                }
            }
        }
        let mut place: Vec<(u32, u32)> = vec![(NONE, 0); versions.len()];
        self.view.chains = vec![vec![Vec::new()]; keys];
        let mut walk = |view: &mut View, chain: u32, from: u32, key: Key| {
            let mut at = from;
            while at != NONE && place[at as usize].0 == NONE {
                let entries = &mut view.chains[key as usize][chain as usize];
                entries.push(versions[at as usize].0);
                place[at as usize] = (chain, entries.len() as u32);
                at = successor[at as usize];
            }
        };
        for (key, &first) in first_of_key.iter().enumerate() {
            walk(&mut self.view, 0, first, key as Key);
        }
        for id in 0..versions.len() as u32 {
            if !has_predecessor[id as usize] {
                let key = versions[id as usize].1;
                let chains = &mut self.view.chains[key as usize];
                chains.push(Vec::new());
                let chain = chains.len() as u32 - 1;
                walk(&mut self.view, chain, id, key);
            }
        }
        // What is left are versions in a cycle of reads; dependencies by reading show it.
        for id in 0..versions.len() as u32 {
            if place[id as usize].0 == NONE {
                let (version, key) = versions[id as usize];
                let chains = &mut self.view.chains[key as usize];
                chains.push(vec![version]);
                place[id as usize] = (chains.len() as u32 - 1, 1);
            }
        }
        for (transaction, key, version) in reads {
            let (chain, place) = match version {
                NONE => (0, 0),
                version => place[version as usize],
            };
            self.external(ExternalRead {
                transaction,
                key,
                chain,
                place,
            });
        }
        self.join_single_chains();
    }

    // ── Both ─────────────────────────────────────────────────────────────────────────────────

    fn external(&mut self, read: ExternalRead) {
        // Reading the same version again tells nothing new.
        let known = self.view.reads.iter().rev().take(8);
        if !known
            .take_while(|other| other.transaction == read.transaction)
            .any(|other| *other == read)
        {
            self.view.reads.push(read);
        }
    }

    /// A key with one chain beside the first: it follows the first.
    fn join_single_chains(&mut self) {
        let mut moved: Vec<Option<u32>> = vec![None; self.view.chains.len()];
        for (key, chains) in self.view.chains.iter().enumerate() {
            if chains.len() > 2 {
                let heads = chains[1..]
                    .iter()
                    .map(|chain| (chain[0].writer, key as Key));
                self.view.begins.extend(heads);
            }
        }
        for (key, chains) in self.view.chains.iter_mut().enumerate() {
            if let [first, _] = &chains[..] {
                moved[key] = Some(first.len() as u32);
                if let Some(second) = chains.pop() {
                    chains[0].extend(second);
                }
            }
        }
        for read in &mut self.view.reads {
            if let (1, Some(offset)) = (read.chain, moved[read.key as usize]) {
                read.chain = 0;
                read.place += offset;
            }
        }
    }
}

/// Forgets the own writes of a transaction.
fn own_reset(own: &mut [(u32, ValueId)], recorded: &Recorded, x: usize) {
    for operation in recorded.operations_of(x) {
        own[operation.key as usize].0 = u32::MAX;
    }
}

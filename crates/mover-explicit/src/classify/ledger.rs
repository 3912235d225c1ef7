//! Beliefs inferred during the search, and the blocks that depend on them.
//!
//! Beliefs only weaken: lock sets shrink, a single owner becomes several, a read-only cell
//! becomes written. So an object that has lost its protection never regains it. Ledgers of
//! several workers are joined by the same rule; a checkpoint contains the whole ledger.

use std::io;

use mover_ir::program::{SiteId, TemplateId, VariableId};
use mover_reduce::facts::access::Object;
use rustc_hash::FxHashMap;

use super::ObjectId;
use crate::checkpoint::{CheckpointError, Sink, Source, nonsense};
use crate::distributed::wire::{Corrupt, Decoder, Encoder};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Nobody,
    One(u16),
    Many,
}

/// What has been seen of an object.
#[derive(Clone, Debug)]
struct Sightings {
    /// Locks held at every access; all locks before the first.
    locks: Option<Vec<ObjectId>>,
    owner: Owner,
    written: bool,
}

impl Sightings {
    /// Nothing is left to believe.
    #[cfg(test)]
    const ALL: Sightings = Sightings {
        locks: Some(Vec::new()),
        owner: Owner::Many,
        written: true,
    };

    const NONE: Sightings = Sightings {
        locks: None,
        owner: Owner::Nobody,
        written: false,
    };

    fn is_protected(&self) -> bool {
        !matches!(&self.locks, Some(locks) if locks.is_empty())
            || self.owner != Owner::Many
            || !self.written
    }

    /// Whether a thread with these locks has exclusive access.
    fn is_exclusive_to(&self, thread: u16, held: &[ObjectId]) -> bool {
        match &self.locks {
            Some(locks) if locks.is_empty() => !self.written || self.owner == Owner::One(thread),
            Some(locks) => locks.iter().all(|lock| held.contains(lock)),
            None => true,
        }
    }
}

/// What is believed of objects, and which blocks rest on it.
///
/// A block that counted on an object being exclusive notes it. When the object
/// loses its protection, exactly the blocks that counted on it have to be run
/// again; the states that they found are real and stay.
pub struct Ledger {
    cells: usize,
    /// Cells first, then the other objects that have occurred.
    objects: Vec<Sightings>,
    numbers: FxHashMap<Key, ObjectId>,
    /// Objects that have lost their protection and whose blocks have not been notified.
    fallen: Vec<ObjectId>,
    /// The sets of objects that blocks counted on.
    sets: FxHashMap<Box<[ObjectId]>, usize>,
    /// For each set the blocks.
    relying: Vec<Vec<Block>>,
    /// Whether accesses still change the beliefs.
    is_frozen: bool,
    /// Whether a belief has changed since the other workers were notified.
    has_news: bool,
}

/// What a ledger believes, for other ledgers of the same search.
pub struct Beliefs {
    cells: Vec<Sightings>,
    others: Vec<(Key, Sightings)>,
}

/// A block by its state and thread; all threads if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Block {
    pub state: u32,
    pub thread: Option<u16>,
}

/// What is numbered when it is first met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    /// All of a channel.
    Channel(u64),
    SendingEnd(u64),
    ReceivingEnd(u64),
    Object(Object),
}

impl Ledger {
    pub(super) fn new(cells: u32) -> Self {
        Ledger {
            cells: cells as usize,
            #[cfg(test)]
            objects: match crate::persistent::is_any_left_out() {
                true => vec![Sightings::ALL; cells as usize],
                false => vec![Sightings::NONE; cells as usize],
            },
            #[cfg(not(test))]
            objects: vec![Sightings::NONE; cells as usize],
            numbers: FxHashMap::default(),
            fallen: Vec::new(),
            sets: FxHashMap::default(),
            relying: Vec::new(),
            is_frozen: false,
            has_news: false,
        }
    }

    /// What is believed now, if that has changed since the last call.
    pub fn changed_beliefs(&mut self) -> Option<Beliefs> {
        if !std::mem::take(&mut self.has_news) {
            return None;
        }
        let numbered = self.numbers.iter();
        let others = numbered.map(|(&key, &object)| (key, self.objects[object as usize].clone()));
        Some(Beliefs {
            cells: self.objects[..self.cells].to_vec(),
            others: others.collect(),
        })
    }

    /// Merges the observations of another ledger.
    pub fn hear(&mut self, beliefs: &Beliefs) {
        for (object, theirs) in beliefs.cells.iter().enumerate() {
            self.join(object as ObjectId, theirs);
        }
        for (key, theirs) in &beliefs.others {
            let object = self.number(*key);
            self.join(object, theirs);
        }
    }

    fn join(&mut self, object: ObjectId, theirs: &Sightings) {
        let seen = &mut self.objects[object as usize];
        let before = seen.is_protected();
        match (&mut seen.locks, &theirs.locks) {
            (_, None) => {}
            (None, Some(locks)) => seen.locks = Some(locks.clone()),
            (Some(mine), Some(locks)) => mine.retain(|lock| locks.contains(lock)),
        }
        seen.owner = match (seen.owner, theirs.owner) {
            (Owner::Nobody, other) | (other, Owner::Nobody) => other,
            (Owner::One(a), Owner::One(b)) if a == b => Owner::One(a),
            _ => Owner::Many,
        };
        seen.written |= theirs.written;
        if before && !seen.is_protected() {
            self.fallen.push(object);
        }
    }

    /// Freezes the current beliefs.
    pub fn freeze(&mut self) {
        self.is_frozen = true;
    }

    pub(super) fn number(&mut self, key: Key) -> ObjectId {
        let next = self.objects.len() as ObjectId;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.objects.push(Sightings::NONE);
        }
        number
    }

    /// Whether there is a reason left why some thread has the object to itself.
    pub(super) fn is_protected(&self, object: ObjectId) -> bool {
        self.objects[object as usize].is_protected()
    }

    /// Whether a thread with these locks has the object to itself.
    pub(super) fn is_exclusive_to(&self, object: ObjectId, thread: u16, held: &[ObjectId]) -> bool {
        self.objects[object as usize].is_exclusive_to(thread, held)
    }

    pub(super) fn see(
        &mut self,
        object: ObjectId,
        thread: u16,
        in_hand: &[ObjectId],
        writes: bool,
    ) {
        if self.is_frozen {
            return;
        }
        let seen = &mut self.objects[object as usize];
        if !seen.is_protected() {
            return;
        }
        match &mut seen.locks {
            None => {
                seen.locks = Some(in_hand.to_vec());
                self.has_news = true;
            }
            Some(locks) => {
                let count = locks.len();
                locks.retain(|lock| in_hand.contains(lock));
                self.has_news |= locks.len() < count;
            }
        }
        let owner = match seen.owner {
            Owner::Nobody => Owner::One(thread),
            Owner::One(owner) if owner == thread => Owner::One(thread),
            _ => Owner::Many,
        };
        self.has_news |= owner != seen.owner || writes && !seen.written;
        seen.owner = owner;
        seen.written |= writes;
        if !seen.is_protected() {
            self.fallen.push(object);
        }
    }

    /// Records the beliefs on which a block relied.
    pub fn rely(&mut self, block: Block, on: &[ObjectId]) {
        if on.is_empty() {
            return;
        }
        let set = match self.sets.get(on) {
            Some(&set) => set,
            None => {
                let set = self.relying.len();
                self.sets.insert(on.into(), set);
                self.relying.push(Vec::new());
                set
            }
        };
        self.relying[set].push(block);
    }

    /// The blocks that relied on beliefs refuted since the last call.
    pub fn take_invalid(&mut self) -> Vec<Block> {
        if self.fallen.is_empty() {
            return Vec::new();
        }
        let fallen = std::mem::take(&mut self.fallen);
        let mut invalid = Vec::new();
        for (on, &set) in &self.sets {
            if on.iter().any(|object| fallen.contains(object)) {
                invalid.append(&mut self.relying[set]);
            }
        }
        invalid.sort_unstable();
        invalid.dedup();
        invalid
    }

    /// Writes the beliefs and the blocks that rely on them, between two expansions.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        // Whatever joins the ledger has to be written, too.
        let Ledger {
            cells: _,
            objects,
            numbers,
            fallen,
            sets,
            relying,
            is_frozen: _,
            has_news,
        } = self;
        sink.number(objects.len() as u64)?;
        for seen in objects {
            let Sightings {
                locks,
                owner,
                written,
            } = seen;
            sink.flag(locks.is_some())?;
            sink.smalls(locks.as_deref().unwrap_or(&[]))?;
            sink.small(match owner {
                Owner::Nobody => 1 << 16,
                Owner::One(thread) => (*thread).into(),
                Owner::Many => 2 << 16,
            })?;
            sink.flag(*written)?;
        }
        // By number, so that the same search writes the same bytes.
        let mut numbered: Vec<(ObjectId, Key)> = numbers
            .iter()
            .map(|(&key, &object)| (object, key))
            .collect();
        numbered.sort_unstable_by_key(|&(object, _)| object);
        sink.number(numbered.len() as u64)?;
        for (object, key) in numbered {
            sink.small(object)?;
            let (kind, first, second) = key.to_numbers();
            sink.small(kind)?;
            sink.number(first)?;
            sink.small(second)?;
        }
        sink.smalls(fallen)?;
        let mut by_set: Vec<(usize, &[ObjectId])> =
            sets.iter().map(|(on, &set)| (set, &**on)).collect();
        by_set.sort_unstable_by_key(|&(set, _)| set);
        sink.number(by_set.len() as u64)?;
        for (set, on) in by_set {
            sink.smalls(on)?;
            save_blocks(&relying[set], sink)?;
        }
        sink.flag(*has_news)
    }

    /// Reads what was saved, of the same program.
    pub fn restore(&mut self, source: &mut Source, states: u32) -> Result<(), CheckpointError> {
        let count = source.number()?;
        self.objects.clear();
        for _ in 0..count {
            let (has_locks, locks) = (source.flag()?, source.smalls()?);
            let owner = match source.small()? {
                0x1_0000 => Owner::Nobody,
                0x2_0000 => Owner::Many,
                thread => Owner::One(thread as u16),
            };
            self.objects.push(Sightings {
                locks: has_locks.then_some(locks),
                owner,
                written: source.flag()?,
            });
        }
        let is_object = |object: ObjectId| u64::from(object) < count;
        let no_object = || nonsense("a belief is about nothing");
        if count < self.cells as u64 {
            return Err(no_object());
        }
        for _ in 0..source.number()? {
            let object = source.small()?;
            let numbers = (source.small()?, source.number()?, source.small()?);
            let key = Key::from_numbers(numbers).filter(|_| is_object(object));
            self.numbers.insert(key.ok_or_else(no_object)?, object);
        }
        self.fallen = source.smalls()?;
        for set in 0..source.number()? {
            let on = source.smalls()?;
            if !on.iter().all(|&object| is_object(object)) {
                return Err(no_object());
            }
            self.sets.insert(on.into(), set as usize);
            self.relying.push(restore_blocks(source, states)?);
        }
        self.has_news = source.flag()?;
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        let blocks: usize = self.relying.iter().map(Vec::capacity).sum();
        blocks * size_of::<Block>() + self.objects.capacity() * size_of::<Sightings>()
    }
}

impl Beliefs {
    pub fn write(&self, out: &mut Encoder) {
        out.number(self.cells.len() as u64);
        self.cells.iter().for_each(|seen| seen.write(out));
        out.number(self.others.len() as u64);
        for (key, seen) in &self.others {
            let (kind, first, second) = key.to_numbers();
            out.number(kind.into());
            out.number(first);
            out.number(second.into());
            seen.write(out);
        }
    }

    pub fn read(source: &mut Decoder) -> Result<Beliefs, Corrupt> {
        let cells = (0..source.count()?).map(|_| Sightings::read(source));
        let cells = cells.collect::<Result<_, Corrupt>>()?;
        let others = (0..source.count()?).map(|_| {
            let numbers = (source.small()?, source.number()?, source.small()?);
            let key = Key::from_numbers(numbers).ok_or(Corrupt)?;
            Ok((key, Sightings::read(source)?))
        });
        let others = others.collect::<Result<_, Corrupt>>()?;
        Ok(Beliefs { cells, others })
    }

    /// Whether they are about the cells of a ledger.
    pub fn fit(&self, ledger: &Ledger) -> bool {
        self.cells.len() == ledger.cells
    }
}

impl Sightings {
    fn write(&self, out: &mut Encoder) {
        // Locks are cells or predicates, whose numbers are the same in every process.
        match &self.locks {
            None => out.number(0),
            Some(locks) => {
                out.number(1);
                out.number(locks.len() as u64);
                locks.iter().for_each(|&lock| out.number(lock.into()));
            }
        }
        match self.owner {
            Owner::Nobody => out.number(0),
            Owner::Many => out.number(1),
            Owner::One(thread) => out.number(2 + u64::from(thread)),
        }
        out.number(self.written.into());
    }

    fn read(source: &mut Decoder) -> Result<Sightings, Corrupt> {
        let locks = match source.flag()? {
            false => None,
            true => {
                let locks = (0..source.count()?).map(|_| source.small());
                Some(locks.collect::<Result<_, Corrupt>>()?)
            }
        };
        let owner = match source.number()? {
            0 => Owner::Nobody,
            1 => Owner::Many,
            thread => Owner::One(u16::try_from(thread - 2).map_err(|_| Corrupt)?),
        };
        let written = source.flag()?;
        Ok(Sightings {
            locks,
            owner,
            written,
        })
    }
}

pub fn save_blocks(blocks: &[Block], sink: &mut Sink) -> io::Result<()> {
    sink.number(blocks.len() as u64)?;
    blocks.iter().try_for_each(|block| {
        sink.small(block.state)?;
        sink.small(block.thread.map_or(1 << 16, u32::from))
    })
}

/// Reads blocks of states that there are.
pub fn restore_blocks(source: &mut Source, states: u32) -> Result<Vec<Block>, CheckpointError> {
    let mut blocks = Vec::new();
    for _ in 0..source.number()? {
        let (state, thread) = (source.small()?, source.small()?);
        if state >= states {
            return Err(nonsense("a block begins nowhere"));
        }
        let thread = u16::try_from(thread).ok();
        blocks.push(Block { state, thread });
    }
    Ok(blocks)
}

impl Key {
    fn to_numbers(self) -> (u32, u64, u32) {
        match self {
            Key::Channel(channel) => (0, channel, 0),
            Key::SendingEnd(channel) => (1, channel, 0),
            Key::ReceivingEnd(channel) => (2, channel, 0),
            Key::Object(object) => match object {
                Object::Cell(variable, index) => (3, variable.0.into(), index),
                Object::Variable(variable) => (4, variable.0.into(), 0),
                Object::Channel(channel) => (5, channel.into(), 0),
                Object::AnyChannel => (6, 0, 0),
                Object::Threads => (7, 0, 0),
                Object::Inside(template) => (8, template.0.into(), 0),
                Object::Site(site) => (9, site.0.into(), 0),
                Object::Numbers => (10, 0, 0),
            },
        }
    }

    fn from_numbers((kind, first, second): (u32, u64, u32)) -> Option<Key> {
        let id = u32::try_from(first);
        Some(match kind {
            0 => Key::Channel(first),
            1 => Key::SendingEnd(first),
            2 => Key::ReceivingEnd(first),
            3 => Key::Object(Object::Cell(VariableId(id.ok()?), second)),
            4 => Key::Object(Object::Variable(VariableId(id.ok()?))),
            5 => Key::Object(Object::Channel(id.ok()?)),
            6 => Key::Object(Object::AnyChannel),
            7 => Key::Object(Object::Threads),
            8 => Key::Object(Object::Inside(TemplateId(id.ok()?))),
            9 => Key::Object(Object::Site(SiteId(id.ok()?))),
            10 => Key::Object(Object::Numbers),
            _ => return None,
        })
    }
}

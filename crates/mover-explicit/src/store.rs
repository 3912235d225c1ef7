//! The set of seen states, compressed.
//!
//! The lanes of a state take few values compared with the number of states: a thread has some
//! dozens of local states even where the product has millions. So each lane has a table of the
//! values that occurred in it, and a stored state is the tuple of the indices of its values in
//! these tables, each with just as many bits as its table currently needs. This is the idea of
//! SPIN's *collapse* compression and of LTSmin's tree tables, at the granularity of bits: one
//! look-up in the large table for each state, a few in small tables that stay in the
//! processor's cache, and only for lanes that a step changed.
//!
//! The cost of a stored state: its key (the packed indices, rounded up to 4 bytes), 4 bytes for
//! its parent, from which counterexamples are reconstructed, and 7 to 9 bytes in the index. The
//! index consists of buckets of one cache line, each with room for twelve states: a tag of 8
//! bits of the hash and a number of 32 bits for each; it grows by two fifths when it is four
//! fifths full. `mover bench spin` prints the total for real models.
//!
//! States are numbered in the order of discovery, so the queue of a breadth-first search is a
//! single number. The hash of a state is a sum over its lanes (multilinear hashing), so a step
//! updates it lane by lane, and it does not depend on the number of bits of each index: when a
//! table outgrows its bits, the keys are rewritten in place but the index is unchanged.
//!
//! Comparison is always on the whole key. A state is never taken as seen because of its hash
//! alone.

use std::io;

use mover_ir::expr::mask;

use crate::checkpoint::{CheckpointError, Sink, Source, nonsense};

/// A table of the values that one lane was seen with; value 0 is number 0.
struct LaneTable {
    values: Vec<u64>,
    /// Numbers plus one at the place given by the value's hash; 0 is free.
    index: Vec<u32>,
    /// What the lane's number is multiplied with in the hash of a state.
    factor: u64,
    /// Where the number lies in a key.
    word: u32,
    shift: u8,
    bits: u8,
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: every bit of the input reaches every bit of the output.
pub fn scramble(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl LaneTable {
    fn new(number: usize) -> Self {
        let mut table = LaneTable {
            values: Vec::new(),
            index: vec![0; 16],
            factor: scramble((number as u64 + 1).wrapping_mul(GOLDEN)) | 1,
            word: 0,
            shift: 0,
            bits: 0,
        };
        table.intern(0);
        table
    }

    #[inline]
    fn place(&self, value: u64) -> usize {
        (value.wrapping_mul(GOLDEN) >> (64 - self.index.len().trailing_zeros())) as usize
    }

    #[inline]
    fn intern(&mut self, value: u64) -> u32 {
        let mut place = self.place(value);
        loop {
            match self.index[place] {
                0 => break,
                entry if self.values[entry as usize - 1] == value => return entry - 1,
                _ => place = (place + 1) & (self.index.len() - 1),
            }
        }
        self.add(value, place)
    }

    #[cold]
    fn add(&mut self, value: u64, place: usize) -> u32 {
        self.values.push(value);
        let number = self.values.len() as u32;
        self.index[place] = number;
        if self.values.len() * 2 > self.index.len() {
            self.index = vec![0; self.index.len() * 2];
            for (number, &value) in self.values.iter().enumerate() {
                let mut place = self.place(value);
                while self.index[place] != 0 {
                    place = (place + 1) & (self.index.len() - 1);
                }
                self.index[place] = number as u32 + 1;
            }
        }
        number - 1
    }

    #[inline]
    fn has_room_for(&self, number: u32) -> bool {
        u64::from(number) >> self.bits == 0
    }

    #[inline]
    fn number_in(&self, key: &[u32]) -> u32 {
        if self.bits == 0 {
            return 0;
        }
        (key[self.word as usize] >> self.shift) & mask(self.bits) as u32
    }

    fn bytes(&self) -> usize {
        self.values.capacity() * 8 + self.index.len() * 4
    }
}

/// Bits of a key that move together when keys are rewritten.
struct BitMove {
    from_word: usize,
    from_shift: u8,
    to_word: usize,
    to_shift: u8,
    mask: u32,
}

/// How to rewrite keys; numbers that stay neighbours move in one go.
fn moves(old: &[(u32, u8, u8)], lanes: &[LaneTable]) -> Vec<BitMove> {
    let mut moves: Vec<BitMove> = Vec::new();
    for (&(word, shift, bits), table) in old.iter().zip(lanes) {
        if bits == 0 {
            continue;
        }
        if let Some(last) = moves.last_mut() {
            let width = last.mask.count_ones() as u8;
            let follows = last.from_word == word as usize
                && last.from_shift + width == shift
                && last.to_word == table.word as usize
                && last.to_shift + width == table.shift;
            if follows {
                last.mask = mask(width + bits) as u32;
                continue;
            }
        }
        moves.push(BitMove {
            from_word: word as usize,
            from_shift: shift,
            to_word: table.word as usize,
            to_shift: table.shift,
            mask: mask(bits) as u32,
        });
    }
    moves
}

const CHUNK_LOG2: u32 = 13;
const CHUNK: usize = 1 << CHUNK_LOG2;

/// States whose buckets are fetched at once when the index grows.
const REHASH_BATCH: usize = 32;

/// Numbers of states, and the parent of the initial state.
pub const NO_PARENT: u32 = u32::MAX;

/// Why a state could not be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreFull;

pub struct Store {
    lanes: Vec<LaneTable>,
    /// 32-bit words of a key.
    words: usize,
    /// Keys by number, in chunks so that growing does not copy them.
    keys: Vec<Vec<u32>>,
    parents: Vec<u32>,
    index: Vec<Bucket>,
    len: u32,
}

const BUCKET: usize = 12;

/// One cache line of the index.
#[repr(align(64))]
#[derive(Clone)]
struct Bucket {
    numbers: [u32; BUCKET],
    tags: [u8; BUCKET],
    len: u8,
}

impl Bucket {
    const EMPTY: Bucket = Bucket {
        numbers: [0; BUCKET],
        tags: [0; BUCKET],
        len: 0,
    };

    /// Adds a state unless the bucket is full.
    #[inline]
    fn push(&mut self, tag: u8, number: u32) -> bool {
        let len = self.len as usize;
        if len == BUCKET {
            return false;
        }
        self.tags[len] = tag;
        self.numbers[len] = number;
        self.len += 1;
        true
    }
}

/// What became of a state that was to be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inserted {
    pub number: u32,
    pub is_new: bool,
}

impl Store {
    pub fn new(lanes: usize) -> Self {
        Store {
            lanes: (0..lanes).map(LaneTable::new).collect(),
            words: 0,
            keys: Vec::new(),
            parents: Vec::new(),
            index: vec![Bucket::EMPTY; 64],
            len: 0,
        }
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Adds lanes that are 0 in all states so far.
    pub fn ensure_lanes(&mut self, lanes: usize) {
        for number in self.lanes.len()..lanes {
            self.lanes.push(LaneTable::new(number));
        }
    }

    /// Words of a key in the present layout.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of a lane's value, and whether keys have room for it.
    #[inline]
    pub fn intern(&mut self, lane: usize, value: u64) -> (u32, bool) {
        let table = &mut self.lanes[lane];
        let number = table.intern(value);
        (number, table.has_room_for(number))
    }

    /// Writes a number into a key that has room for it.
    #[inline]
    pub fn patch(&self, key: &mut [u32], lane: usize, number: u32) {
        let table = &self.lanes[lane];
        if table.bits > 0 {
            let bits = (mask(table.bits) as u32) << table.shift;
            let word = &mut key[table.word as usize];
            *word = *word & !bits | number << table.shift;
        }
    }

    /// How the hash of a state changes when a lane's number does.
    #[inline]
    pub fn hash_change(&self, lane: usize, old: u32, new: u32) -> u64 {
        let difference = u64::from(new).wrapping_sub(u64::from(old));
        self.lanes[lane].factor.wrapping_mul(difference)
    }

    /// Sets the width of every table and rewrites all keys.
    pub fn relayout(&mut self) {
        let old: Vec<(u32, u8, u8)> = self
            .lanes
            .iter()
            .map(|t| (t.word, t.shift, t.bits))
            .collect();
        let old_words = self.words;
        let roomy = self.len > 1 << 16;
        let (mut word, mut used) = (0u32, 0u8);
        for table in &mut self.lanes {
            let largest = table.values.len() as u64 - 1;
            let needed = (64 - largest.leading_zeros()) as u8;
            // Rewriting many keys is dear: then leave room for tables that are nearly full.
            let nearly_full = needed > 1 && largest > mask(needed) / 4 * 3;
            let bits = table
                .bits
                .max(needed + u8::from(roomy && nearly_full))
                .min(32);
            if used + bits > 32 {
                word += 1;
                used = 0;
            }
            (table.word, table.shift, table.bits) = (word, used, bits);
            used += bits;
        }
        self.words = word as usize + usize::from(used > 0);
        let moves = moves(&old, &self.lanes);
        let mut rewritten = vec![0u32; self.words];
        for (number, chunk) in self.keys.iter_mut().enumerate() {
            let count = (self.len as usize - number * CHUNK).min(CHUNK);
            let mut new = Vec::with_capacity(CHUNK * self.words);
            for position in 0..count {
                let key = &chunk[position * old_words..(position + 1) * old_words];
                rewritten.fill(0);
                for bits in &moves {
                    let taken = (key[bits.from_word] >> bits.from_shift) & bits.mask;
                    rewritten[bits.to_word] |= taken << bits.to_shift;
                }
                new.extend_from_slice(&rewritten);
            }
            *chunk = new;
        }
    }

    /// The key and the hash of a state given by its numbers.
    pub fn encode(&self, numbers: &[u32], key: &mut Vec<u32>) -> u64 {
        key.clear();
        key.resize(self.words, 0);
        let mut hash = 0u64;
        for (lane, &number) in numbers.iter().enumerate() {
            self.patch(key, lane, number);
            hash = hash.wrapping_add(self.hash_change(lane, 0, number));
        }
        hash
    }

    #[inline]
    fn key(&self, number: u32) -> &[u32] {
        let chunk = &self.keys[(number >> CHUNK_LOG2) as usize];
        let start = (number as usize & (CHUNK - 1)) * self.words;
        &chunk[start..start + self.words]
    }

    /// Fetches a state: the numbers of its lanes, its lanes and its key; returns its hash.
    pub fn load(
        &self,
        number: u32,
        numbers: &mut Vec<u32>,
        lanes: &mut Vec<u64>,
        key: &mut Vec<u32>,
    ) -> u64 {
        numbers.clear();
        lanes.clear();
        key.clear();
        key.extend_from_slice(self.key(number));
        let mut hash = 0u64;
        for table in &self.lanes {
            let number = table.number_in(key);
            numbers.push(number);
            lanes.push(table.values[number as usize]);
            hash = hash.wrapping_add(table.factor.wrapping_mul(number.into()));
        }
        hash
    }

    /// The bucket in which the search for a state begins.
    #[inline]
    fn start(&self, scrambled: u64) -> usize {
        ((u128::from(scrambled) * self.index.len() as u128) >> 64) as usize
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 == self.index.len() {
            0
        } else {
            bucket + 1
        }
    }

    /// Tells the processor that the bucket of this hash will be needed.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let bucket = &self.index[self.start(scramble(hash))];
            // SAFETY: the address is that of a live reference, and a prefetch changes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(bucket).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = hash;
    }

    /// Adds a state if it is new.
    pub fn insert(&mut self, key: &[u32], hash: u64, parent: u32) -> Result<Inserted, StoreFull> {
        let scrambled = scramble(hash);
        let tag = scrambled as u8;
        let mut place = self.start(scrambled);
        loop {
            let bucket = &self.index[place];
            for entry in 0..bucket.len as usize {
                let number = bucket.numbers[entry];
                if bucket.tags[entry] == tag && self.key(number) == key {
                    return Ok(Inserted {
                        number,
                        is_new: false,
                    });
                }
            }
            if (bucket.len as usize) < BUCKET {
                break;
            }
            place = self.after(place);
        }
        if self.len >= NO_PARENT - 1 {
            return Err(StoreFull);
        }
        let number = self.len;
        self.len += 1;
        self.index[place].push(tag, number);
        if number as usize & (CHUNK - 1) == 0 {
            self.keys.push(Vec::with_capacity(CHUNK * self.words));
        }
        if let Some(chunk) = self.keys.last_mut() {
            chunk.extend_from_slice(key);
        }
        self.parents.push(parent);
        if self.is_crowded(0) {
            self.grow_index();
        }
        Ok(Inserted {
            number,
            is_new: true,
        })
    }

    /// Whether the index, with some states more, is four fifths full.
    fn is_crowded(&self, more: usize) -> bool {
        (self.len as usize + more) * 5 > self.index.len() * BUCKET * 4
    }

    fn grow_index(&mut self) {
        self.index = vec![Bucket::EMPTY; self.index.len() / 5 * 7 + 7];
        let mut batch = Vec::with_capacity(REHASH_BATCH);
        let mut number = 0;
        while number < self.len {
            let end = self.len.min(number + REHASH_BATCH as u32);
            for number in number..end {
                let hash = self.hash_of(self.key(number));
                self.prefetch(hash);
                batch.push(scramble(hash));
            }
            for (number, scrambled) in (number..end).zip(batch.drain(..)) {
                let mut place = self.start(scrambled);
                while !self.index[place].push(scrambled as u8, number) {
                    place = self.after(place);
                }
            }
            number = end;
        }
    }

    fn hash_of(&self, key: &[u32]) -> u64 {
        self.lanes
            .iter()
            .filter(|table| table.bits > 0)
            .fold(0u64, |hash, table| {
                hash.wrapping_add(table.factor.wrapping_mul(table.number_in(key).into()))
            })
    }

    pub fn parent(&self, number: u32) -> Option<u32> {
        Some(self.parents[number as usize]).filter(|&parent| parent != NO_PARENT)
    }

    /// Writes everything but the index.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        sink.number(self.lanes.len() as u64)?;
        for table in &self.lanes {
            sink.numbers(&table.values)?;
            sink.small(table.word)?;
            sink.small(table.shift.into())?;
            sink.small(table.bits.into())?;
        }
        sink.number(self.words as u64)?;
        sink.smalls(&self.parents)?;
        for number in 0..self.len {
            let key = self.key(number);
            key.iter().try_for_each(|&word| sink.small(word))?;
        }
        Ok(())
    }

    /// Reads what was saved and makes the index again.
    pub fn restore(source: &mut Source) -> Result<Store, CheckpointError> {
        let mut store = Store::new(0);
        for number in 0..source.number()? {
            let mut table = LaneTable::new(number as usize);
            let values = source.numbers()?;
            for (position, &value) in values.iter().enumerate() {
                if table.intern(value) as usize != position {
                    return Err(nonsense("a lane has a value twice"));
                }
            }
            table.word = source.small()?;
            let (shift, bits) = (source.small()?, source.small()?);
            if shift > 32 || bits > 32 || shift + bits > 32 || shift == 32 && bits > 0 {
                return Err(nonsense("a lane lies outside of its word"));
            }
            (table.shift, table.bits) = (shift as u8, bits as u8);
            store.lanes.push(table);
        }
        store.words = source.number()? as usize;
        let is_inside = |table: &LaneTable| table.bits == 0 || (table.word as usize) < store.words;
        if !store.lanes.iter().all(is_inside) {
            return Err(nonsense("a lane lies outside of the key"));
        }
        let parents = source.smalls()?;
        let count = u32::try_from(parents.len()).map_err(|_| nonsense("too many states"))?;
        // As large as it would have become.
        while count as usize * 5 > store.index.len() * BUCKET * 4 {
            store.index = vec![Bucket::EMPTY; store.index.len() / 5 * 7 + 7];
        }
        let mut key = Vec::new();
        for (number, &parent) in (0..count).zip(&parents) {
            if parent != NO_PARENT && parent >= number {
                return Err(nonsense("a state comes before the one that leads to it"));
            }
            key.clear();
            for _ in 0..store.words {
                key.push(source.small()?);
            }
            let has_value =
                |table: &LaneTable| (table.number_in(&key) as usize) < table.values.len();
            if !store.lanes.iter().all(has_value) {
                return Err(nonsense("a state has a value that its lane does not have"));
            }
            let hash = store.hash_of(&key);
            match store.insert(&key, hash, parent) {
                Ok(inserted) if inserted.is_new => {}
                _ => return Err(nonsense("a state is there twice")),
            }
        }
        if store.len == 0 {
            return Err(nonsense("there is no state"));
        }
        Ok(store)
    }

    /// Memory taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.lanes.iter().map(LaneTable::bytes).sum::<usize>()
            + self.keys.len() * CHUNK * self.words * 4
            + self.parents.capacity() * 4
            + self.index.len() * size_of::<Bucket>()
    }

    /// Memory that adding states may take at the next growth of the index.
    pub fn next_growth(&self) -> usize {
        if self.is_crowded(CHUNK) {
            self.index.len() / 5 * 7 * size_of::<Bucket>()
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A stream of pseudo-random states with few values a lane, more and more lanes.
    #[test]
    fn agrees_with_a_hash_map() {
        let mut store = Store::new(3);
        let mut judge: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut random = 1u64;
        let mut next = |bound: u64| {
            random = scramble(random.wrapping_add(GOLDEN));
            random % bound
        };
        for round in 0..60_000u64 {
            let lanes = 3 + round as usize / 12_000;
            let mut state: Vec<u64> = (0..lanes).map(|_| next(3 + round / 6_000) << 40).collect();
            store.ensure_lanes(lanes);
            state.resize(store.lanes(), 0);
            let (numbers, rooms): (Vec<u32>, Vec<bool>) = state
                .iter()
                .enumerate()
                .map(|(lane, &value)| store.intern(lane, value))
                .unzip();
            if rooms.contains(&false) {
                store.relayout();
            }
            let mut key = Vec::new();
            let hash = store.encode(&numbers, &mut key);
            while state.last() == Some(&0) {
                state.pop();
            }
            let expected = judge.get(&state).copied();
            let found = store.insert(&key, hash, NO_PARENT).expect("there is room");
            assert_eq!(found.is_new, expected.is_none());
            assert_eq!(found.number, expected.unwrap_or(judge.len() as u32));
            judge.insert(state, found.number);
        }
        assert!(judge.len() > 10_000);
        let (mut numbers, mut lanes, mut key) = (Vec::new(), Vec::new(), Vec::new());
        for (state, &number) in &judge {
            let hash = store.load(number, &mut numbers, &mut lanes, &mut key);
            assert_eq!(store.encode(&numbers.clone(), &mut key), hash);
            let mut padded = state.clone();
            padded.resize(store.lanes(), 0);
            assert_eq!(lanes, padded);
        }
    }
}

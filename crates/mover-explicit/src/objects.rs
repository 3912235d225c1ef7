//! Dynamic objects, each represented by one number.
//!
//! The lanes of a state have fixed positions, but dynamic objects are created and freed and
//! have any size. So a state has one lane for each of them, with the number of the object's
//! content: its site, its size and its bytes, stored once in a table of all contents that have
//! occurred. This is the idea of SPIN's *collapse* compression, applied to objects instead of
//! processes. Equal contents have equal numbers, so two states are equal if and only if their
//! lanes are; a store through a pointer copies the object, changes the copy and looks up its
//! number; undoing a step writes back the old number. No other part of the search knows about
//! objects.
//!
//! The representation of an object does not depend on the widths of its cells: each word
//! contains eight bytes, so a load is one or two shifts.
//!
//! The table only grows, and several threads can read it and add to it: contents never move,
//! and additions take the lock of their shard.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hashbrown::HashTable;

use crate::checkpoint::{CheckpointError, Sink, Source, nonsense};
use crate::store::scramble;

/// Site and size in one word, then the bytes.
type Content = Box<[u64]>;

/// A part of the table, twice as large as the one before it.
type Chunk = OnceLock<Box<[OnceLock<Content>]>>;

const FIRST_CHUNK_LOG2: u32 = 6;
const CHUNKS: usize = (u32::BITS - FIRST_CHUNK_LOG2) as usize;
const SHARDS: usize = 16;

/// What one object holds.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    words: &'a [u64],
}

impl<'a> Object<'a> {
    pub fn site(self) -> u32 {
        (self.words[0] >> 32) as u32
    }

    /// In bytes.
    pub fn size(self) -> u64 {
        self.words[0] & u64::from(u32::MAX)
    }

    /// Up to eight bytes from an offset on; none unless all are within.
    #[inline]
    pub fn load(self, offset: u64, count: u64) -> Option<u64> {
        if offset.checked_add(count)? > self.size() {
            return None;
        }
        let (word, shift) = (1 + (offset / 8) as usize, offset % 8 * 8);
        let mut value = self.words[word] >> shift;
        if shift + count * 8 > 64 {
            value |= self.words[word + 1] << (64 - shift);
        }
        Some(value & (u64::MAX >> (64 - count * 8)))
    }

    pub fn words(self) -> &'a [u64] {
        self.words
    }
}

/// Fills the words of a new object, all of whose bytes are 0. The size fits 32 bits.
pub fn fresh(site: u32, size: u64, words: &mut Vec<u64>) {
    words.clear();
    words.push(u64::from(site) << 32 | size);
    words.resize(1 + size.div_ceil(8) as usize, 0);
}

/// Writes bytes that are within the object.
pub fn write(words: &mut [u64], offset: u64, count: u64, value: u64) {
    let (word, shift) = (1 + (offset / 8) as usize, offset % 8 * 8);
    let ones = u64::MAX >> (64 - count * 8);
    words[word] = words[word] & !(ones << shift) | value << shift;
    if shift + count * 8 > 64 {
        let above = 64 - shift;
        words[word + 1] = words[word + 1] & !(ones >> above) | value >> above;
    }
}

/// All contents, by number from 1.
pub struct Objects {
    shards: [Mutex<HashTable<u32>>; SHARDS],
    chunks: [Chunk; CHUNKS],
    len: AtomicU64,
    bytes: AtomicUsize,
}

impl Default for Objects {
    fn default() -> Self {
        Objects {
            shards: std::array::from_fn(|_| Mutex::new(HashTable::new())),
            chunks: std::array::from_fn(|_| OnceLock::new()),
            len: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl Objects {
    /// The chunk of a number and its place there.
    #[inline]
    fn place(number: u64) -> (usize, usize) {
        let shifted = number - 1 + (1 << FIRST_CHUNK_LOG2);
        let log2 = shifted.ilog2();
        (
            (log2 - FIRST_CHUNK_LOG2) as usize,
            (shifted - (1 << log2)) as usize,
        )
    }

    /// What a number stands for; none for 0.
    #[inline]
    pub fn get(&self, number: u64) -> Option<Object<'_>> {
        if number == 0 {
            return None;
        }
        let (chunk, position) = Objects::place(number);
        let words = self.chunks.get(chunk)?.get()?.get(position)?.get()?;
        Some(Object { words })
    }

    /// The number of a content; none if the table is full.
    pub fn intern(&self, words: &[u64]) -> Option<u64> {
        let hash = hash(words);
        let mut shard = self.lock(hash as usize % SHARDS);
        let is_same = |&number: &u32| self.get(number.into()).is_some_and(|o| o.words == words);
        if let Some(&number) = shard.find(hash, is_same) {
            return Some(number.into());
        }
        let number = 1 + self.len.fetch_add(1, Ordering::Relaxed);
        let (chunk, position) = Objects::place(number);
        let size = 1usize << (FIRST_CHUNK_LOG2 as usize + chunk);
        let chunk = self.chunks.get(chunk)?;
        let mut bytes = size_of_val(words) + 16;
        let chunk = chunk.get_or_init(|| {
            bytes += size * size_of::<OnceLock<Content>>();
            (0..size).map(|_| OnceLock::new()).collect()
        });
        chunk[position].get_or_init(|| words.into());
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        shard.insert_unique(hash, u32::try_from(number).ok()?, |&number| {
            self.get(number.into()).map_or(0, |o| self::hash(o.words))
        });
        Some(number)
    }

    /// Writes all contents in the order of their numbers.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        let count = self.len.load(Ordering::Relaxed);
        sink.number(count)?;
        (1..=count).try_for_each(|number| {
            let words = self.get(number).map_or(&[][..], |object| object.words);
            sink.numbers(words)
        })
    }

    /// Reads what was saved, into a table that has the first of the contents at most.
    pub(crate) fn restore(&self, source: &mut Source) -> Result<(), CheckpointError> {
        for number in 1..=source.number()? {
            let words = source.numbers()?;
            let size = words.first().map(|head| head & u64::from(u32::MAX));
            if size.is_none_or(|size| words.len() as u64 != 1 + size.div_ceil(8)) {
                return Err(nonsense("an object does not have its size"));
            }
            if self.intern(&words) != Some(number) {
                return Err(nonsense("the objects are not those of this program"));
            }
        }
        Ok(())
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, HashTable<u32>> {
        self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, &word| scramble(hash ^ word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_keep_their_numbers() {
        let objects = Objects::default();
        let content = |n: u64| vec![8, n * n];
        let numbers: Vec<u64> = (0..5_000)
            .map(|n| objects.intern(&content(n)).expect("there is room"))
            .collect();
        for (n, &number) in numbers.iter().enumerate() {
            assert_eq!(objects.intern(&content(n as u64)), Some(number));
            let found = objects.get(number).expect("it was added");
            assert_eq!(found.words(), content(n as u64));
        }
        assert!(objects.get(0).is_none());
        assert!(objects.get(numbers.len() as u64 + 1).is_none());
    }

    #[test]
    fn bytes_are_read_as_they_were_written() {
        for size in 1..20u64 {
            for count in [1, 2, 4, 8] {
                for offset in 0..=size {
                    let mut words = Vec::new();
                    fresh(3, size, &mut words);
                    let bytes: Vec<u8> = (0..size).map(|n| 0x81 + n as u8).collect();
                    for (at, &byte) in (0..).zip(&bytes) {
                        write(&mut words, at, 1, byte.into());
                    }
                    let there = |words: &[u64]| Object { words }.load(offset, count);
                    if offset + count > size {
                        assert_eq!(there(&words), None);
                        continue;
                    }
                    let part = &bytes[offset as usize..(offset + count) as usize];
                    let expected = part.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
                    assert_eq!(
                        there(&words),
                        Some(expected),
                        "{count} at {offset} of {size}"
                    );
                    let new = 0x0102_0304_0506_0708 & (u64::MAX >> (64 - count * 8));
                    write(&mut words, offset, count, new);
                    assert_eq!(there(&words), Some(new));
                    for at in (0..size).filter(|at| !(offset..offset + count).contains(at)) {
                        let kept = Object { words: &words }.load(at, 1);
                        assert_eq!(kept, Some(bytes[at as usize].into()));
                    }
                }
            }
        }
    }
}
